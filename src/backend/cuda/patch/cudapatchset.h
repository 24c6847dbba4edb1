/*
  CUDA: local solves of any set of patches, by raw pointers. A patch is a list of unknowns with a
  tensor-product inverse
    scale[4] (S x S x S) (sum_a scale[a] lambda_a + scale[3])^{-1} (S x S x S)^T,
  whose 1D factors many patches may share, or with a dense one. Vectors have nP entries, of which the last
  stands for what a patch includes but the problem lacks: it is read as zero and never written.
*/
#pragma once
#include <petscsys.h>
#include <petscdevice_cuda.h>
#include <hops/private/hopspatchcondensed.h>

typedef enum {
  HOPS_CUDA_PATCH_PLAIN,
  HOPS_CUDA_PATCH_RESTRICT_OUT, /* corrections are kept where the entry's distance is the least of all patches' */
  HOPS_CUDA_PATCH_RESTRICT_IN   /* its transpose */
} HopsCudaPatchMode;

/* Everything in the process's memory; copied */
typedef struct {
  int                  dim;
  PetscBool            single; /* 1D factors and arithmetic in single precision */
  PetscInt             n, ncolors, nP, nfactors, ninv;
  const PetscInt      *start;  /* [n+1] first entry of each patch */
  const int           *idx;    /* entries, x fastest; no unknown twice in a patch; or */
  int                 *didx;   /* the same in the device's memory, which the caller keeps as long as the set */
  const unsigned char *dist;   /* entries, for the restricted modes; may be NULL */
  const int           *level;  /* [nP] least distance; may be NULL */
  const int (*size)[3];        /* [n] entries per direction */
  const int (*factor)[3];      /* [n] */
  const PetscReal (*scale)[5]; /* [n] */
  const int *color;            /* [n]; patches of a colour share no unknown */
  /* [n] first entry of the inverse (row after row) in inv, or -1; of a condensed patch its number in cond;
     NULL: none has one */
  const PetscInt           *dense;
  const unsigned char      *condensed; /* [n] is it condensed? NULL: none is */
  PetscInt                  ncond;
  const HopsPatchCondensed *cond;  /* [ncond] */
  const HopsPatchModes     *modes; /* with arrays in the process's memory */
  double                   *schur; /* of cond, in the device's memory; the caller keeps it as long as the set */
  const PetscReal          *inv;
  PetscReal                *made;    /* or the inverses in the device's memory, which become the set's */
  const int                *fsize;   /* [nfactors] */
  const PetscInt           *foffset; /* [nfactors] of S[n][n] (node by mode), then lambda[n], in values */
  const PetscReal          *values;
  const unsigned char      *group; /* [n] patches of different groups go into different launches; NULL: there is one */
} HopsCudaPatchInput;

/* A patch on the device */
typedef struct {
  int    start, size[3], f[3]; /* f: of S with rows of an even length, then lambda */
  int    t[3];                 /* of S^T and S for tensor cores */
  double scale[5];
  size_t dense; /* where the inverse begins; a condensed patch's number */
} HopsCudaPatchRecord;

enum {
  HOPS_CUDA_PATCH_CUBE, /* equal odd sizes: a kernel for the size */
  HOPS_CUDA_PATCH_BRICK,
  HOPS_CUDA_PATCH_DENSE,
  HOPS_CUDA_PATCH_CONDENSED,
  HOPS_CUDA_PATCH_NCLASSES
};

/* A launch: patches of one colour, class and size lie one behind the other */
typedef struct {
  int      color, kind, size, group, entries; /* size: of cubes; entries: of the largest patch */
  PetscInt first, n;
} HopsCudaPatchRun;

typedef struct _HopsCudaPatchSet *HopsCudaPatchSet;
struct _HopsCudaPatchSet {
  int                  dim;
  PetscBool            single;
  PetscInt             nP;
  int                  nruns;
  HopsCudaPatchRun    *runs;
  PetscInt            *order;                /* [n] the caller's number of each patch */
  HopsCudaPatchRecord *patches;              /* the rest: device */
  int                 *idx, *level, *ownidx; /* ownidx: idx, where it is the set's */
  unsigned char       *dist;
  void                *values;
  double              *packed; /* S^T and S of each factor for tensor cores; NULL: the device or the precision has none */
  double              *inv;
  HopsPatchCondensed  *cond; /* the inverses of condensed patches are `schur`, which is the caller's */
  double              *schur;
  HopsPatchModes       modes;
  int                  nskeleton;    /* unknowns of the largest skeleton */
  PetscLogDouble       flops, bytes; /* of all patches */
};

/* Bytes of shared memory that hold n: the compiler reads the end of a row by 16, whatever is left of it */
#define HOPS_CUDA_SHARED(n) (((size_t)(n) + 15) / 16 * 16)

/* and those of the solve of a condensed patch */
#define HOPS_CUDA_CONDENSED_SHARED(entries, skeleton) HOPS_CUDA_SHARED((2 * (size_t)(entries) + (skeleton)) * sizeof(double))

EXTERN_C_BEGIN
/* For benchmarks and tests: 0 no tensor cores; else (default -1) wherever there is a kernel, which is where
   they are faster */
PETSC_INTERN int            HopsCudaPatchTensor;
PETSC_INTERN PetscErrorCode HopsCudaPatchHasTensor(PetscBool *has); /* has the device double-precision tensor cores? */
PETSC_INTERN PetscErrorCode HopsCudaPatchSetCreate(const HopsCudaPatchInput *, HopsCudaPatchSet *);
/* z += corrections of the patches of a colour (all of them where it is negative) for the residual r;
   asynchronous */
PETSC_INTERN PetscErrorCode HopsCudaPatchSetApply(HopsCudaPatchSet, int color, HopsCudaPatchMode, const double r[], double z[],
                                                  cudaStream_t);
/* arrays on the device, for what lies in the process's memory */
PETSC_INTERN PetscErrorCode HopsCudaModesToDevice(const HopsPatchModes *, HopsPatchModes *);
PETSC_INTERN PetscErrorCode HopsCudaModesFree(HopsPatchModes *);
PETSC_INTERN PetscErrorCode HopsCudaPatchSetDestroy(HopsCudaPatchSet *);
PETSC_INTERN PetscErrorCode HopsCudaPatchSetLaunch(HopsCudaPatchSet, const HopsCudaPatchRun *, PetscBool atomic, HopsCudaPatchMode,
                                                   const double r[], double z[], cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCudaPatchSetLaunchSingle(HopsCudaPatchSet, const HopsCudaPatchRun *, PetscBool atomic,
                                                         HopsCudaPatchMode, const float r[], float z[], cudaStream_t);
EXTERN_C_END
