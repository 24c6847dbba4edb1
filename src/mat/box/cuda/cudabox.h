/*
  CUDA: operator, transfers and exact solver of a uniform box, and the multigrid method that they make with
  the sweeps of cudapatch.h, by raw pointers. Nothing is stored for a cell, and there are no lists of indices.

  The form is that of cudapatch.h, sum_a d[a] A_a x (M_b, b != a) + m M x M (x M) with the 1D stiffness A and
  mass M of the reference cell; nodes are numbered lexicographically, the boundary included. Values on the
  boundary are read where x has some, residuals are zero there. Vectors of coarse levels vanish there.
*/
#pragma once
#include <backend/cuda/patch/cudapatch.h>
#include <hops/private/hopsboximpl.h>

typedef struct _HopsCudaBox *HopsCudaBox;

typedef struct {
  /* r = scale (b - A x), b or r may be NULL; rsingle: r is float where x is double; partial: [blocks] sums of
     squares of b - A x, or NULL */
  PetscErrorCode (*Residual)(HopsCudaBox, const void *b, const void *x, PetscBool rsingle, double scale, void *r, double *partial,
                             cudaStream_t);
  /* b - A x, restricted in the last direction: [p ncells/2 + 1] planes (2D: rows) of the fine box, the last
     one not written; not in single precision in 3D */
  PetscErrorCode (*ResidualRestrict)(HopsCudaBox, const void *b, const void *x, void *out, cudaStream_t);
  /* x = the function xc on the box of half as many cells, + s times *ds, on the device (NULL: 1), times add,
     which may be x, or NULL; addsingle: add is float where x is double */
  PetscErrorCode (*Prolong)(HopsCudaBox fine, const void *xc, PetscBool addsingle, double s, const double *ds, const void *add,
                            void *x, cudaStream_t);
  /* transposed interpolation in direction dir, after those above it */
  PetscErrorCode (*Restrict)(HopsCudaBox fine, int dir, const void *in, void *out, cudaStream_t);
  int (*Blocks)(HopsCudaBox); /* of Residual() */
  /* r = *scale (b - A P xc) in single precision, for doubles xc on the box of half as many cells, without
     boundary; scale on the device; partial as above */
  PetscErrorCode (*ResidualProlonged)(HopsCudaBox fine, const void *b, const void *xc, const double *scale, void *r,
                                      double *partial, cudaStream_t);
  int (*ProlongedBlocks)(HopsCudaBox fine);
  /* in 3D, b - A x restricted in all directions in single precision, or b in double (x NULL), and then
     partial: [blocks] sums of squares of b, or NULL; CoarseSums: bytes of `sums` */
  PetscErrorCode (*Coarse)(HopsCudaBox fine, const void *b, const void *x, void *sums, void *out, double *partial, cudaStream_t);
  size_t (*CoarseSums)(HopsCudaBox fine, int *blocks);
} HopsCudaBoxKernels;

struct _HopsCudaBox {
  int                       dim, p, ncells[3], nodes[3]; /* 1 beyond dim */
  PetscBool                 single;
  PetscInt64                sy, sz, n; /* nodes of a row, of a plane, of the box */
  double                    d[3], m, A1[81], M1[81], J[144];
  int                       multiprocessors, shared; /* shared: bytes of shared memory that a block may have */
  HopsCudaPatch             patch;                   /* NULL where there is no inner vertex */
  const HopsCudaBoxKernels *k;
};

/* exact solver of a small box by fast diagonalisation of the whole of it */
typedef struct {
  HopsCudaBox box;
  int         n[3]; /* nodes inside */
  void       *S[3]; /* device [n][n] node by mode */
  void       *lambda[3];
  void       *w[2];
} HopsCudaBoxDirect;

EXTERN_C_BEGIN
/* A1, M1: [p+1][p+1] of the reference cell; J: [2p+1][p+1] values of its functions at the nodes of its two
   halves */
PETSC_INTERN PetscErrorCode HopsCudaBoxCreate(PetscInt dim, PetscInt p, const PetscReal A1[], const PetscReal M1[],
                                              const PetscReal J[], const PetscReal d[], PetscReal m, const PetscInt ncells[],
                                              PetscBool single, HopsCudaBox *);
PETSC_INTERN PetscErrorCode HopsCudaBoxDestroy(HopsCudaBox *);
PETSC_INTERN PetscErrorCode HopsCudaBoxDirectCreate(HopsCudaBox, HopsCudaBoxDirect *);
PETSC_INTERN PetscErrorCode HopsCudaBoxDirectSolve(const HopsCudaBoxDirect *, const void *b, void *x, cudaStream_t); /* inside */
PETSC_INTERN PetscErrorCode HopsCudaBoxDirectDestroy(HopsCudaBoxDirect *);

/* vectors of doubles and floats */
/* x += s e */
PETSC_INTERN PetscErrorCode HopsCudaBoxAdd(PetscInt64 n, PetscBool single, double s, const void *e, double *x, cudaStream_t);
/* y = s x */
PETSC_INTERN PetscErrorCode HopsCudaBoxConvert(PetscInt64 n, PetscBool xsingle, const void *x, double s, PetscBool ysingle, void *y,
                                               cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaBoxSquares(PetscInt64 n, PetscBool single, const void *x, int blocks, double *partial,
                                               cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaBoxSum(int n, const double *partial, double *sum, cudaStream_t);
/* scale[0] = 1 / sqrt(*sum), or 1 unless that is positive; scale[1] = 1 / scale[0] */
PETSC_INTERN PetscErrorCode HopsCudaBoxScale(const double *sum, double *scale, cudaStream_t);
/* on the boundary: y = s x (x NULL: 0) */
PETSC_INTERN PetscErrorCode HopsCudaBoxBoundary(HopsCudaBox, double s, const double *x, double *y, cudaStream_t);
/* *any, on the device, says whether x has a number other than zero on the boundary */
PETSC_INTERN PetscErrorCode HopsCudaBoxBoundaryNonzero(HopsCudaBox, const double *x, int *any, cudaStream_t);
/* contraction of a box of n[0] n[1] n[2] numbers in direction dir with S or its transpose, from and to
   numbers that lie si and so apart; lambda: divided by the sum of d lambda and m then */
PETSC_INTERN PetscErrorCode HopsCudaBoxContract(PetscBool single, const int n[], int dir, PetscBool transpose, const void *S,
                                                const PetscInt64 si[], const void *in, const PetscInt64 so[], void *out,
                                                const HopsCudaBoxDirect *lambda, cudaStream_t);

#define HOPS_CUDA_BOX_DECLARE(P) extern const HopsCudaBoxKernels HopsCudaBoxKernels_##P;
HOPS_CUDA_PATCH_ORDERS(HOPS_CUDA_BOX_DECLARE)
EXTERN_C_END
