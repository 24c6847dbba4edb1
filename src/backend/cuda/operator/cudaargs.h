/* Arguments of the operator's launches, apart from the rest so that a change of the space recompiles no
   kernel. */
#pragma once
#include <stdbool.h>
#include <hops/private/petscshim.h>
#include <petscdevice_cuda.h>
#include <backend/cuda/runtime/cudageom.h>
#include "cudaorders.h"

/* What a launch of an operator needs; pointers into the device's memory but for those named host... */
typedef struct {
  int        dim, P, Q, nT;
  bool       diffusion, mass;
  PetscInt   first, n; /* cells */
  const int *restr;    /* [ncells][P^dim] L-vector indices */
  const int *padded;   /* the same with the nodes of the fused kernel, -1 for those beyond the basis */
  /* [ncells][ncomp][Q^dim]: diffusion dim(dim+1)/2 (upper triangle by rows), then mass */
  const double *qdata;
  const double *B, *D, *C;                     /* [Q][P], [Q][P], [Q][Q] as in HopsBasis */
  const double *BB, *DD, *BD;                  /* [Q][P] products by entries: the diagonal */
  const double *w, *z;                         /* [Q] weights; points of [0,1] */
  const double *hostB, *hostC, *hostw, *hostz; /* copies: kernel arguments, which the constant cache holds */
  /* HOPS_CUDA_STORED, or recomputed from geom: HOPS_CUDA_AFFINE, HOPS_CUDA_MULTILINEAR */
  int           geometry;
  bool          scalar; /* recomputed: the tensors of all cells are multiples of the identity */
  const double *geom;   /* [ncells][HopsCudaGeomSize()] */
  /* generic kernels: scratch of a block where shared memory does not hold it, else NULL */
  double      *work;
  size_t       nwork;   /* generic kernels: doubles of scratch of a block */
  int          nblocks; /* generic kernels */
  cudaStream_t stream;
} HopsCudaArgs;

EXTERN_C_BEGIN
/* y += A x on the cells of the arguments; one function for each Q of cudaorders.h (HopsCudaPALaunch_Q), and
   the generic one */
#define HOPS_CUDA_PA_DECLARE(Q) \
  PETSC_INTERN PetscErrorCode HopsCudaPALaunch_##Q(const HopsCudaArgs *, const double x[], const double xg[], double y[], \
                                                   double yg[]);
HOPS_CUDA_POINTS(HOPS_CUDA_PA_DECLARE)
/* in single precision, HopsCudaSingleLaunch_Q */
#define HOPS_CUDA_SINGLE_DECLARE(Q) \
  PETSC_INTERN PetscErrorCode HopsCudaSingleLaunch_##Q(const HopsCudaArgs *, const float x[], const float xg[], float y[], \
                                                       float yg[]);
HOPS_CUDA_SINGLE_POINTS(HOPS_CUDA_SINGLE_DECLARE)
EXTERN_C_END
