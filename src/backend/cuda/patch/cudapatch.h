/*
  CUDA: sweeps of the multiplicative vertex-patch smoother on a uniform box, by raw pointers.

  The form is sum_a d[a] A_a x (M_b, b != a) + m M x M (x M) with the 1D stiffness A and mass M of the
  reference cell; nodes are numbered lexicographically, the boundary included, whose values are kept. Colour c
  in 0 .. 2^dim - 1 takes the patches whose first cell has the parities of the bits of c, the last direction's
  being bit 0; a patch's correction solves its local problem exactly, so that a colour sets what is inside its
  patches from b there and from x on their surfaces.
*/
#pragma once
#include <petscsys.h>
#include <petscdevice_cuda.h>

/* Highest order of the kernels, one file cudapatch_P.cu each */
#define HOPS_CUDA_PATCH_ORDERS(X) \
  X(1) \
  X(2) \
  X(3) \
  X(4) \
  X(5) \
  X(6) \
  X(7) \
  X(8)

/* Cubes of a colour, by lists on the device: of patch i, [n^3] unknowns from idx[start[i * stride]] on and
   the [N^3] nodes of its cells from eidx[estart[i * estride]] on, x fastest */
typedef struct {
  const int  *start, *estart, *idx, *eidx;
  int         stride, estride, n, none; /* none: the index of what does not exist */
  PetscBool   single;                   /* b and x are float; the arithmetic is the HopsCudaPatch's */
  const void *b;
  void       *x;
} HopsCudaPatchList;

typedef struct _HopsCudaPatch *HopsCudaPatch;
struct _HopsCudaPatch {
  int        dim, p, ncells[3];
  PetscBool  single; /* x and b are float */
  PetscInt64 sy, sz; /* nodes from a row to the next, from a plane to the next */
  double     d[3], m;
  double    *S, *Inv, *lambda, *mu, *c, *E; /* host; [n][n] node by mode, [n][n] mode by node, [n]: see cudapatchtable.cuh */
  double     A[9], M[9];                    /* order 1: the matrices of two cells */
  void      *Dinv, *cyz;                    /* device */
  int        row;                           /* patches in x that share faces */
  PetscBool  walks;                         /* two colours that differ in z can be one launch, */
  int        each;                          /* in parts of so many patches of the first one; 0: by the number of blocks */
  /* of a sweep (lists: of a patch): done; moved at least by a launch for each colour */
  PetscLogDouble flops, bytes;
  PetscErrorCode (*launchlist)(HopsCudaPatch, const HopsCudaPatchList *, cudaStream_t);
  /* x = 0 on the planes between cells across y and z */
  PetscErrorCode (*zero)(HopsCudaPatch, void *x, cudaStream_t);
  /* pair: with color ^ 1 after it; zero: x is, on faces across x, whatever stands there; of patches [0] <= i
     < [1], [2] <= j < [3] the inside of cells is not wanted */
  PetscErrorCode (*launch)(HopsCudaPatch, int color, PetscBool pair, PetscBool zero, const int inner[4], const void *b, void *x,
                           cudaStream_t);
};

EXTERN_C_BEGIN
/* A1, M1: [p+1][p+1] of the reference cell [0,1] for the Gauss-Lobatto-Legendre nodes; sy and sz 0: rows and
   planes lie close */
PETSC_INTERN PetscErrorCode HopsCudaPatchCreate(PetscInt dim, PetscInt p, const PetscReal A1[], const PetscReal M1[],
                                                const PetscReal d[], PetscReal m, const PetscInt ncells[], PetscInt64 sy,
                                                PetscInt64 sz, PetscBool single, HopsCudaPatch *);
/* for lists in 3D, order 2 on: A, M: [2p+1][2p+1] of the two cells of a patch, rows inside, which are
   unchanged when mirrored */
PETSC_INTERN PetscErrorCode HopsCudaPatchCreateList(PetscInt p, const PetscReal A[], const PetscReal M[], const PetscReal d[],
                                                    PetscReal m, PetscBool single, HopsCudaPatch *);
PETSC_INTERN PetscErrorCode HopsCudaPatchSweepList(HopsCudaPatch, const HopsCudaPatchList *, cudaStream_t);
/* x after colours first..last-1, in descending order where `reverse`; `zero`: x counts as zero, but for the
   boundary, where it must be; asynchronous */
PETSC_INTERN PetscErrorCode HopsCudaPatchSweep(HopsCudaPatch, int first, int last, PetscBool reverse, PetscBool zero, const void *b,
                                               void *x, cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaPatchDestroy(HopsCudaPatch *);

#define HOPS_CUDA_PATCH_DECLARE(P) \
  PETSC_INTERN int       HopsCudaPatchRow_##P(PetscBool single); /* patches in x that share faces, in 3D */ \
  PETSC_INTERN PetscBool HopsCudaPatchWalks_##P(PetscBool single); \
  PETSC_INTERN PetscBool HopsCudaPatchAgrees_##P( \
    HopsCudaPatch); /* its factors are those that walks of single precision take for granted */ \
  PETSC_INTERN PetscErrorCode HopsCudaPatchZero_##P(HopsCudaPatch, void *x, cudaStream_t); \
  PETSC_INTERN PetscErrorCode HopsCudaPatchLaunch_##P(HopsCudaPatch, int color, PetscBool pair, PetscBool zero, \
                                                      const int inner[4], const void *b, void *x, cudaStream_t); \
  PETSC_INTERN PetscErrorCode HopsCudaPatchLaunchList_##P(HopsCudaPatch, const HopsCudaPatchList *, cudaStream_t);
HOPS_CUDA_PATCH_ORDERS(HOPS_CUDA_PATCH_DECLARE)
EXTERN_C_END
