/* What operators of back ends that launch kernels for teams of lanes share: the cells of a part, and what
   their set-ups do around a kernel. */
#pragma once
#include <hops/private/hopsimpl.h>
#include <backend/lanes/runtime/laneslog.h>
#include "lanesargs.h"

/* The determinant of a cell that is not positive, to HopsSetUpArgs' det */
typedef PetscErrorCode (*HopsLanesFindBad)(const HopsSetUpArgs *, PetscInt cell);

/* Indices of `each` nodes of a cell in which those get HOPS_LANES_MEET that cells of several pieces have. The
   parts of an operator are launches of their own. restr[ncells][percell] has the unknowns, of nl */
typedef struct {
  PetscInt        first[3], n[3], nl; /* cells; batches, where these have cells of their own */
  int             percell, each;
  bool            padded; /* an index of -1 is none */
  const int      *restr;
  const PetscInt *cell; /* [batches + 1] first cells, or NULL: groups of lanes are batches */
} HopsLanesMeet;

/* in place; needed: are there several pieces? Without indices, that alone */
typedef PetscErrorCode (*HopsLanesMark)(const HopsLanesMeet *, int restr[], PetscBool *needed);

/* Of an operator, in the back end's memory but for the struct */
typedef struct {
  const double *X;    /* the space's coordinates */
  void         *flag; /* determinant and cell of HopsSetUpArgs */
  void         *mem[2];
  size_t        size[2]; /* of mem: copies of coefficients */
} HopsLanesSetUp;

EXTERN_C_BEGIN
/* The cells of a part. Where no other rank is, nothing needs overlap: the last part has them all */
PETSC_INTERN void HopsLanesPart(HopsPart, PetscBool alone, PetscInt ninterior, PetscInt ncells, PetscInt *first, PetscInt *n);
/* sp's element map, and Q points */
PETSC_INTERN PetscErrorCode HopsLanesSetUpCreate(const HopsBackendOps *, HopsSpace, PetscInt Q, HopsSetUpArgs *, HopsLanesSetUp *);
/* Cells and coefficients of a run, in the back end's memory; NULL: no such term */
PETSC_INTERN PetscErrorCode HopsLanesSetUpBegin(const HopsBackendOps *, HopsLanesSetUp *, PetscInt first, PetscInt n,
                                                const HopsValues *kappa, const HopsValues *mass, HopsSetUpArgs *);
/* Waits for the device: was there a bad cell? The copies of coefficients go after the last run */
PETSC_INTERN PetscErrorCode HopsLanesSetUpEnd(const HopsBackendOps *, HopsLanesSetUp *, HopsLanesFindBad, PetscInt ncells,
                                              const HopsSetUpArgs *, PetscInt *bad, PetscReal *det);
PETSC_INTERN PetscErrorCode HopsLanesSetUpDestroy(const HopsBackendOps *, HopsLanesSetUp *);
/* *indices of `each` nodes of the space's cells, with such marks where a back end has them: in *mem, which is
   the back end's, and is allocated if it is NULL. marked: what has no mark is one thread's */
PETSC_INTERN PetscErrorCode HopsLanesMarkIndices(const HopsBackendOps *, HopsLanesMark, HopsSpace, PetscBool alone, int each,
                                                 const int **indices, void **mem, PetscBool *marked);
/* Cells of whole groups */
PETSC_INTERN size_t HopsLanesGroups(int group, PetscInt ncells);
/* Lanes of the last group that have no cell compute as the last cell does, with n numbers of a cell: on a
   host, where groups are */
PETSC_INTERN void HopsLanesFillGroup(int group, PetscInt ncells, double *data, size_t n);
EXTERN_C_END
