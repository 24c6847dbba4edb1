/*
  Local solves of any set of patches, by raw pointers, of back ends that launch kernels for teams of lanes. A
  patch is a list of unknowns with a
  tensor-product inverse
    scale[4] (S x S x S) (sum_a scale[a] lambda_a + scale[3])^{-1} (S x S x S)^T,
  whose 1D factors many patches may share, or with a dense one. Vectors have nP entries, of which the last
  stands for what a patch includes but the problem lacks: it is read as zero and never written.
*/
#pragma once
#include <hops/private/hopspatchimpl.h>
#include <backend/lanes/runtime/lanescopies.h>
#include "lanespatchargs.h"

/* Everything in the process's memory; copied */
typedef struct {
  int                  dim;
  PetscBool            single; /* 1D factors and arithmetic in single precision */
  PetscInt             n, ncolors, nP, nfactors, ninv;
  const PetscInt      *start;  /* [n+1] first entry of each patch */
  const int           *idx;    /* entries, x fastest; no unknown twice in a patch; or */
  int                 *didx;   /* the same in the back end's memory, which the caller keeps as long as the set */
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
  double                   *schur; /* of cond, in the back end's memory; the caller keeps it as long as the set */
  const PetscReal          *inv;
  PetscReal                *made;    /* or the inverses in the back end's memory, which become the set's */
  const int                *fsize;   /* [nfactors] */
  const unsigned char      *feven;   /* [nfactors] are modes even, which come first, or odd? NULL: none are */
  const PetscInt           *foffset; /* [nfactors] of S[n][n] (node by mode), then lambda[n], in values */
  const PetscReal          *values;
  const unsigned char      *group; /* [n] patches of different groups go into different launches; NULL: there is one */
} HopsLanesPatchInput;

/* A patch where the back end works */
typedef struct {
  int    start, size[3];
  int    f[3]; /* of S with rows of an even length, lambda, and 1 where modes are even or odd */
  int    t[3]; /* of S^T and S as HopsLanesPackSet() has them */
  double scale[5];
  size_t dense; /* where the inverse begins; a condensed patch's number */
} HopsLanesPatchRecord;

enum {
  HOPS_LANES_PATCH_CUBE, /* equal odd sizes: a kernel for the size */
  HOPS_LANES_PATCH_BRICK,
  HOPS_LANES_PATCH_DENSE,
  HOPS_LANES_PATCH_CONDENSED,
  HOPS_LANES_PATCH_NKINDS
};

/* A launch: patches of one colour, class and size lie one behind the other */
typedef struct {
  int             color, kind, size, group, entries; /* size: of cubes; entries: of the largest patch */
  PetscInt        first, n;
  HopsLanesShared shared;
} HopsLanesPatchRun;

typedef struct _HopsLanesPatchKernels HopsLanesPatchKernels; /* lanespatch.h */

typedef struct _HopsLanesPatchSet *HopsLanesPatchSet;
struct _HopsLanesPatchSet {
  const HopsLanesPatchKernels *kernels;
  int                          dim;
  PetscBool                    single, apart; /* apart: launches are of patches that share no unknown */
  PetscInt                     nP;
  int                          nruns;
  HopsLanesPatchRun           *runs;
  PetscInt                    *order;                /* [n] the caller's number of each patch */
  HopsLanesPatchRecord        *patches;              /* the rest: the back end's */
  int                         *idx, *level, *ownidx; /* ownidx: idx, where it is the set's */
  /* where patches of launches add that share unknowns, on a host (lanespatchmeet.h): l: to entry l of the
     vector, -1 - i: to copy i in the buffer, which is zero between launches. NULL: to the vector alone */
  int                *to;
  unsigned char      *meets; /* with `to`: patches that add to the buffer, too */
  void               *buffer;
  unsigned char      *dist;
  void               *values;
  double             *packed; /* S^T and S of each factor for tensor cores, or NULL */
  double             *inv;
  HopsPatchCondensed *cond; /* the inverses of condensed patches are `schur`, which is the caller's */
  double             *schur;
  HopsPatchModes      modes;
  int                 nfactor;      /* numbers of the largest factor */
  int                 nskeleton;    /* unknowns of the largest skeleton */
  PetscLogDouble      flops, bytes; /* of all patches */
};

/* Bytes of scratch that are a team's own on the devices that were measured */
#define HOPS_LANES_PATCH_OWN 232448

/* Bytes of a team's scratch that hold n: a compiler may read the end of a row by 16, whatever is left */
#define HOPS_LANES_PATCH_BYTES(n) (((size_t)(n) + 15) / 16 * 16)

/* and those of the solve of a condensed patch */
#define HOPS_LANES_CONDENSED_BYTES(entries, skeleton) HOPS_LANES_PATCH_BYTES((2 * (size_t)(entries) + (skeleton)) * sizeof(double))

EXTERN_C_BEGIN
PETSC_INTERN PetscLogDouble HopsLanesPatchFlops(const HopsLanesPatchKernels *, const HopsLanesPatchInput *, PetscInt patch);
PETSC_INTERN PetscErrorCode HopsLanesPatchSetCreate(const HopsLanesPatchKernels *, const HopsLanesPatchInput *,
                                                    HopsLanesPatchSet *);
/* z += corrections of the patches of a colour (all of them where it is negative) for the residual r; of
   floats, where the set is in single precision, or doubles; asynchronous */
PETSC_INTERN PetscErrorCode HopsLanesPatchSetApply(HopsLanesPatchSet, int color, HopsPatchMode, PetscBool floats, const void *r,
                                                   void *z);
PETSC_INTERN PetscErrorCode HopsLanesPatchSetDestroy(HopsLanesPatchSet *);
/* arrays where the back end works, for what lies in the process's memory; *d is a pointer to anything */
PETSC_INTERN PetscErrorCode HopsLanesToBack(const HopsBackendOps *, size_t n, const void *h, void *d);
PETSC_INTERN PetscErrorCode HopsLanesNumbersToBack(const HopsBackendOps *, size_t n, PetscBool single, const double h[], void *d);
PETSC_INTERN PetscErrorCode HopsLanesModesToBack(const HopsBackendOps *, const HopsPatchModes *, HopsPatchModes *);
PETSC_INTERN PetscErrorCode HopsLanesModesFree(const HopsBackendOps *, HopsPatchModes *);
EXTERN_C_END
