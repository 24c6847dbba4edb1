/* Data of the V-cycle. T is double or float, for matrices and vectors alike; indices and row pointers are hypre's. */
#pragma once
#include <hops/private/hopsimpl.h>
#include <hops/private/hopscycle.h>
#include <petscdevice_cuda.h>
#include <stdbool.h>

typedef struct {
  int        m, n; /* rows, columns */
  size_t     nnz;
  const int *i, *j;
  void      *v;   /* T; for double hypre's own */
  bool       own; /* v is a copy */
} HopsCycleMatrix;

typedef struct {
  HopsCycleMatrix A, P, R; /* R = P^T; none on the coarsest level */
  void           *d;       /* weight over l1 norm of the rows */
  void           *f, *u, *w;
} HopsCycleLevel;

struct _HopsCycle {
  bool            single, direct; /* direct: the coarsest level has an inverse, else it is smoothed once */
  int             nlevels;
  HopsCycleLevel *level;
  void           *inverse; /* [n][n] of the coarsest level */
  void          **transposed;
  cudaGraphExec_t graph; /* all between the first smoothing and the last one */
  PetscReal       complexity;
  PetscLogDouble  flops;
};

EXTERN_C_BEGIN
PETSC_INTERN PetscErrorCode HopsCycleConvert(size_t n, const double x[], double scale, bool reciprocal, bool single, void *y, cudaStream_t); /* y = scale x or scale / x */
PETSC_INTERN PetscErrorCode HopsCycleCapture(HopsCycle);
PETSC_INTERN PetscErrorCode HopsCycleRun(HopsCycle, const double x[], double y[], cudaStream_t);
EXTERN_C_END
