/* CUDA: launches of the set-up of patches (hopspatchkernel.h). Pointers are to the device's memory unless
   they are to structs; asynchronous. */
#pragma once
#include <petscsys.h>
#include <petscdevice_cuda.h>
#include <hops/private/hopspatchkernel.h>

/* The weights of the points, and q[ncells][ncomp][nq], are the device's */
typedef struct {
  HopsPatchPoints points;
  int             ncomp;
  const double   *q;
} HopsCudaPatchData;

typedef struct {
  int             n, nmax, nn; /* patches; unknowns of the largest; nodes of a cell */
  const PetscInt *start, *list, *cstart, *gid;
  const int      *cell;
  const size_t   *offset;
  const double   *E;
  double         *inv;
  int            *bad; /* least patch whose matrix is not positive definite; untouched if there is none */
} HopsCudaPatchMatrices;

EXTERN_C_BEGIN
PETSC_INTERN PetscErrorCode HopsCudaPatchModels(const HopsCudaPatchData *, int n, HopsPatchCell models[], cudaStream_t);
/* T as for HopsPatchElementMatrix() */
PETSC_INTERN PetscErrorCode HopsCudaPatchElements(const HopsCudaPatchData *, int P, const double T[], int n, const PetscInt cells[],
                                                  double E[], cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaPatchInvert(const HopsCudaPatchMatrices *, cudaStream_t);
EXTERN_C_END
