/* CUDA: launches of the set-up of patches (hopspatchkernel.h). Pointers are to the device's memory unless
   they are to structs; asynchronous. */
#pragma once
#include <petscsys.h>
#include <petscdevice_cuda.h>
#include <hops/private/hopspatchcondensed.h>

/* The weights of the points, and q[ncells][ncomp][nq], are the device's */
typedef struct {
  HopsPatchPoints points;
  int             ncomp;
  const double   *q;
} HopsCudaPatchData;

typedef struct {
  int             n, nmax; /* patches; unknowns of the largest */
  HopsPatchNodes  nodes;
  const PetscInt *start, *size, *cstart, *cells;
  const int      *cell, *list;
  const size_t   *offset;
  const double   *E;
  double         *inv;
  int            *bad; /* least patch whose matrix is not positive definite; untouched if there is none */
} HopsCudaPatchMatrices;

/* As HopsPatchLists; nmax: entries of the largest list that is sorted */
typedef struct {
  int                  n, nmax;
  HopsPatchNodes       nodes;
  const HopsPatchStar *star;
  const PetscInt      *start, *estart;
  const int           *given;
  int                 *idx, *eidx;
} HopsCudaPatchLists;

EXTERN_C_BEGIN
PETSC_INTERN PetscErrorCode HopsCudaPatchModels(const HopsCudaPatchData *, int n, HopsPatchCell models[], cudaStream_t);
/* T as for HopsPatchElementMatrix() */
PETSC_INTERN PetscErrorCode HopsCudaPatchElements(const HopsCudaPatchData *, int P, const double T[], int n, const PetscInt cells[],
                                                  double E[], cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaPatchFaults(const HopsPatchNodes *, int all, int n, const HopsPatchStar[],
                                                unsigned char faults[], cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaPatchMakeLists(const HopsCudaPatchLists *, cudaStream_t);
/* everything on the device; nmax: unknowns of the largest skeleton, bad as above */
PETSC_INTERN PetscErrorCode HopsCudaPatchCondense(const HopsPatchModes *, int n, int nmax, const HopsPatchCondensed cond[],
                                                  double schur[], int *bad, cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaPatchInvert(const HopsCudaPatchMatrices *, cudaStream_t);
EXTERN_C_END
