/* Arguments of the launches of forms on H(curl), H(div) and L2, apart from the rest so that a change of the
   space recompiles no kernel. */
#pragma once
#include <hops/private/petscshim.h>
#include <petscdevice_cuda.h>

enum {
  HOPS_CUDA_HCURL,
  HOPS_CUDA_HDIV,
  HOPS_CUDA_L2
};

/* Pointers into the device's memory but for those named host... */
typedef struct {
  int           dim, P, Q, family, nT;
  int           nd, nm;            /* values at a point: of the derivative's term, of the field's; 0 where the term is absent */
  PetscInt      first, n;          /* cells */
  const int    *restr;             /* [ncells][ne] L-vector indices l, -1-l with the opposite sign */
  const double *qdata;             /* [ncells][nd + nm][Q^dim], upper triangles by rows */
  const double *B, *E;             /* [Q][P] Lagrange polynomials, [Q][P-1] edge functions */
  const double *BB, *EE, *DD, *BD; /* [Q][P], [Q][P-1], [Q][P], [Q][P] products by entries: the diagonal */
  const double *hostB, *hostE;     /* copies: kernel arguments, which the constant cache holds */
  double       *work;              /* generic kernels: scratch of a block where shared memory does not hold it, else NULL */
  size_t        nwork;             /* generic kernels: doubles of scratch of a block */
  int           nblocks;           /* generic kernels */
  cudaStream_t  stream;
} HopsCudaDerhamArgs;

/* Nodes per direction P_1d with fused kernels in 2D and 3D, for Q_1d = P_1d and P_1d + 1 points (one file
   cudaderham_P.cu each) */
#define HOPS_CUDA_FORM_NODES(X) \
  X(2) \
  X(3) \
  X(4) \
  X(5) \
  X(6) \
  X(7) \
  X(8) \
  X(9)

EXTERN_C_BEGIN
/* y += A x on the cells of the arguments */
#define HOPS_CUDA_FORM_DECLARE(P) \
  PETSC_INTERN PetscErrorCode HopsCudaDerhamLaunch_##P(const HopsCudaDerhamArgs *, const double x[], const double xg[], \
                                                       double y[], double yg[]);
HOPS_CUDA_FORM_NODES(HOPS_CUDA_FORM_DECLARE)
EXTERN_C_END
