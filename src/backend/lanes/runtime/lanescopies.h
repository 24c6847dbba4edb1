/* Unknowns to which several threads of a host add (lanesshared.h): what is kept of them, for C and C++. */
#pragma once
#include <petscsys.h>

/* A bit of an index in lists of where to add: the unknown is another piece's, and the rest of the index is
   the number of its copy */
#define HOPS_LANES_MEET (1 << 30)

/* Of a launch; memory of the back end */
typedef struct {
  int  n, ncopies;
  int *unknown; /* [n] that have copies */
  int *start;   /* [n + 1] */
  int *copy;    /* [ncopies] those of unknown i from start[i] on, in the order of pieces */
  int *of;      /* [ncopies] the unknown of each copy */
} HopsLanesShared;

/* What a kernel needs; buffer[ncopies][components] is zero between launches, and of the vector's precision */
typedef struct {
  const int *of;
  void      *buffer;
} HopsLanesCopies;

EXTERN_C_BEGIN
PETSC_INTERN PetscErrorCode HopsLanesSharedFree(const struct _HopsBackendOps *, HopsLanesShared *);
EXTERN_C_END
