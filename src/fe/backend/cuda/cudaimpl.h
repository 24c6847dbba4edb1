/* CUDA back end: data of an operator, and launches of kernels. No function here waits for the device unless it says so. */
#pragma once
#include <stdbool.h>
#include <hops/private/hopsimpl.h>
#include "cudaorders.h"
#include <petscdevice_cuda.h>

/* What a launch of an operator needs; pointers into the device's memory but for `hostB` and `hostC` */
typedef struct {
  int           dim, P, Q, nT;
  bool          diffusion, mass;
  PetscInt      first, n;      /* cells */
  const int    *restr;         /* [ncells][P^dim] L-vector indices */
  const double *qdata;         /* [ncells][ncomp][Q^dim]: diffusion dim(dim+1)/2 (upper triangle by rows), then mass */
  const double *B, *D, *C;     /* [Q][P], [Q][P], [Q][Q] as in HopsBasis */
  const double *BB, *DD, *BD;  /* [Q][P] products by entries: the diagonal */
  const double *hostB, *hostC; /* copies of B and C: kernel arguments, which the constant cache holds */
  double       *work;          /* generic kernels: scratch of a block where shared memory does not hold it, else NULL */
  size_t        nwork;         /* generic kernels: doubles of scratch of a block */
  int           nblocks;       /* generic kernels */
  cudaStream_t  stream;
} HopsCudaArgs;

/* Set-up of a run of cells: X[n][dim][Pg^dim], coefficient values with the strides of HopsValues */
typedef struct {
  int           dim, Pg, Q, ncomp, knc, mnc;
  PetscInt      first, n, kcstride, kpstride, mcstride, mpstride;
  const double *X, *B, *D, *w, *kappa, *mass; /* B, D: [Q][Pg], the element map's basis at the points */
  double       *qdata;
  int          *bad; /* least cell of the run with a determinant that is not positive; untouched if there is none */
  double       *det; /* that determinant, by HopsCudaFindBad() */
  cudaStream_t  stream;
} HopsCudaSetUp;

struct _HopsPAKernel {
  HopsCudaArgs  args;
  HopsCudaSetUp setup;
  PetscErrorCode (*launch)(const HopsCudaArgs *, const double *, const double *, double *, double *);
  PetscInt       ncells, ninterior;
  PetscBool      alone, specialised; /* alone: no other rank, so that the parts need not be kept apart */
  const double  *X;                  /* the space's coordinates, on the device */
  double        *tables, *hosttables;
  void          *mem[6]; /* device: qdata, work (1, 2); and of a set-up: kappa, mass (4, 5) */
  size_t         size[6];
  void          *flag; /* device: determinant and cell of HopsCudaSetUp */
  HopsBasis      geom;
  PetscLogDouble bytes, flops;
  char           name[48];
};

EXTERN_C_BEGIN
PETSC_INTERN PetscErrorCode HopsCopy_CUDA(void *dst, const void *src, size_t n, PetscBool in); /* of HopsBackendOps */
/* y += A x on the cells of the arguments; one function for each P of cudaorders.h (HopsCudaPALaunch_P), and the generic one */
#define HOPS_CUDA_PA_DECLARE(P) PETSC_INTERN PetscErrorCode HopsCudaPALaunch_##P(const HopsCudaArgs *, const double x[], const double xg[], double y[], double yg[]);
HOPS_CUDA_ORDERS(HOPS_CUDA_PA_DECLARE)
PETSC_INTERN PetscErrorCode HopsCudaPALaunchGeneric(const HopsCudaArgs *, const double x[], const double xg[], double y[], double yg[]);
PETSC_INTERN PetscErrorCode HopsCudaPADiagonal(const HopsCudaArgs *, double d[], double dg[]);
/* doubles of scratch of a block, blocks of a launch, and whether the scratch lies in shared memory */
PETSC_INTERN PetscErrorCode HopsCudaGenericSetUp(int dim, int P, int Q, size_t *nwork, int *nblocks, PetscBool *shared);
PETSC_INTERN PetscErrorCode HopsCudaPASetUp(const HopsCudaSetUp *);
PETSC_INTERN PetscErrorCode HopsCudaFindBad(const HopsCudaSetUp *, PetscInt cell);

PETSC_INTERN PetscErrorCode HopsCudaPack(PetscInt n, const PetscInt idx[], const PetscScalar x[], PetscScalar buf[], cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaUnpackAdd(PetscInt n, const PetscInt idx[], const PetscScalar buf[], PetscScalar y[], cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaSetEntries(PetscInt n, const PetscInt idx[], const PetscScalar x[], PetscScalar y[], cudaStream_t);
EXTERN_C_END
