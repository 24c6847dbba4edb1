/*
  Host back end: operator data and the table of kernels compiled once per instruction set.

  Cells go in batches of W (the lanes of a SIMD vector). A field on a batch is an array of W-vectors, [node][W], so all the
  lanes run the same tensor contractions and no lane ever needs another. Batches never mix interior and shared cells; the
  last batch of each class is padded with copies of a valid cell that has zero quadrature data.
*/
#pragma once
#include <hops/private/hopsimpl.h>

#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
  #error "The host back end of hops needs real, double precision scalars"
#endif

#define HOPS_HOST_MAXLINE 64 /* largest P_1d, Q_1d: size of the line buffers of the generic kernels */
#define HOPS_HOST_ALIGN   64

typedef struct _HopsHostKernels HopsHostKernels;

/*
  Even-odd matrix of an M x N matrix A with A[M-1-m][N-1-n] = s A[m][n], s = +1 or -1: row m < (M+1)/2 holds
  (A[m][n] + A[m][N-1-n])/2 for n < (N+1)/2 (A[m][n] itself for the middle column), then (A[m][n] - A[m][N-1-n])/2 for
  n < N/2. B, BB and DD have s = +1; C, D and BD have s = -1.
*/
typedef struct {
  const double *B, *BT;       /* Q x P interpolation to the points, and its transpose */
  const double *C, *CT;       /* Q x Q derivative at the points, and its transpose */
  const double *D, *DT;       /* Q x P derivative at the points (Q < P only) */
  const double *BB, *DD, *BD; /* P x Q entrywise products B_qi B_qi, D_qi D_qi, B_qi D_qi: the diagonal */
} HopsHostMatrices;

/* Map of a run of cells to geometry: tabulation of the element map and where the run's coordinates are. */
typedef struct {
  int              dim, Pg, M; /* nodes of the map, points per direction */
  const PetscReal *B, *D;      /* [M][Pg] */
  const PetscReal *X;          /* [ncells][dim][Pg^dim] */
  double          *work;       /* HopsHostGeometryWork() vectors */
} HopsHostGeometry;

struct _HopsPAKernel {
  const HopsHostKernels *ops;
  const int             *restr; /* [ncells][P^dim], of the space */
  int                    dim, P, Q, W;
  int                    ncomp; /* values per point: diffusion dim(dim+1)/2, then mass 1 */
  int                    nT;
  PetscBool              diffusion, mass, collocated, specialised;
  PetscInt               ncells, ninterior;
  PetscInt               nb, nbi;       /* batches: all, interior (first) */
  int                   *idx;           /* [nb][P^dim][W] L-vector indices */
  double                *qdata;         /* [nb][Q^dim][ncomp][W] */
  double                *weights;       /* [Q] */
  double                *e, *u, *g, *f; /* scratch vectors: E-vector and partial sums; points; derivative; plane */
  HopsHostMatrices       mat;
  double                *matmem;
  HopsBasis              geom;
  HopsHostGeometry       map;
  void (*cell)(const struct _HopsPAKernel *, const double *qdata);
  void          *mem[4]; /* unaligned base pointers */
  PetscLogDouble bytes, flops;
  char           name[48];
};

struct _HopsLORKernel {
  const HopsHostKernels *ops;
  int                    dim, P, W;
  PetscInt               ncells;
  double                *h, *m; /* [P-1] sub-cell widths; [P] lumped 1D mass */
  double                *G;     /* scratch vectors [dim(dim+1)/2 + 1][P^dim]: geometry factors, then mass */
  HopsBasis              geom;
  HopsHostGeometry       map;
  const unsigned char   *mask;  /* [ncells] caller's */
  const PetscInt        *start; /* [ncells] caller's */
  const int             *pos;   /* caller's */
  void                  *mem[2];
  PetscLogDouble         bytes;
  char                   name[48];
};

/* Patches of one shape, one to a lane; lanes to spare have all their entries at the end of the P-vector */
typedef struct {
  int                  size[3], kind; /* HopsHostPatchKind */
  const unsigned char *dist;
  size_t               idx;       /* of [entries][lanes] in the kernel's idx */
  size_t               scale;     /* of [5][lanes] in the kernel's reals */
  size_t               matrix[3]; /* of a direction's factor there: S^T, S, lambda, each of scalars or of [..][lanes]; symmetric: even and odd halves */
  int                  esize[3];  /* nodes per direction of the patches' cells, for fused sweeps; or zeros */
  size_t               eidx;      /* of [nodes][lanes] in the kernel's idx */
  void (*solve)(const struct _HopsPatchKernel *, const void *batch, HopsPatchMode, const double r[], double z[]);
  void (*sweep)(const struct _HopsPatchKernel *, const void *batch, const double b[], double z[]);
} HopsHostPatchBatch;

typedef enum {
  HOPS_HOST_PATCH_SYMMETRIC, /* the lanes share factors whose modes are even or odd */
  HOPS_HOST_PATCH_SHARED,    /* the lanes share factors */
  HOPS_HOST_PATCH_VARYING    /* factors by lane */
} HopsHostPatchKind;

struct _HopsPatchKernel {
  const HopsHostKernels *ops;
  HopsPatches            patches;
  int                    dim, lanes;
  PetscBool              single;
  PetscInt               ncolors, nbatch, *bstart; /* [ncolors+1] batches of a colour */
  HopsHostPatchBatch    *batch;
  PetscInt               ndense, *dstart, *dense; /* dense patches, by colour */
  double                *dwork;                   /* [2][largest dense patch] */
  int                   *idx;
  void                  *reals; /* of the chosen precision */
  const int             *level; /* [nP] */
  double                *e;     /* scratch: vectors of the largest batch */
  void                  *mem[3];
  PetscInt               nspecialised, nshared;          /* batches */
  PetscLogDouble         bytes, flops, *cflops, *sflops; /* [ncolors] */
  char                   name[96];
};

/* A run of cells and its coefficients; kappa->nc or mass->nc is 0 where the term is absent. */
typedef struct {
  PetscInt          first, n;
  const HopsValues *kappa, *mass;
  PetscInt          bad; /* out: cell with det J not > 0, or -1 */
  PetscReal         det; /* out: its determinant */
} HopsHostRun;

struct _HopsHostKernels {
  const char *isa;
  int         W;
  PetscBool (*supported)(void);
  PetscBool (*find)(struct _HopsPAKernel *); /* sets `cell`; PETSC_TRUE if specialised */
  void (*apply)(const struct _HopsPAKernel *, PetscInt b0, PetscInt b1, const double x[], const double xg[], double y[], double yg[]);
  void (*diagonal)(const struct _HopsPAKernel *, double d[], double dg[]);
  void (*setup)(struct _HopsPAKernel *, HopsHostRun *);
  void (*lorcouplings)(struct _HopsLORKernel *, HopsHostRun *, double tol, unsigned char mask[]);
  void (*lorfill)(struct _HopsLORKernel *, HopsHostRun *, double vals[]);
  PetscBool (*patchfind)(int dim, PetscBool single, HopsHostPatchBatch *); /* sets `solve`; PETSC_TRUE if specialised */
};

PETSC_INTERN const HopsHostKernels HopsHostKernelsBase;
#if defined(__x86_64__)
PETSC_INTERN const HopsHostKernels HopsHostKernelsAVX2;
PETSC_INTERN const HopsHostKernels HopsHostKernelsAVX512;
#endif

PETSC_INTERN PetscErrorCode HopsHostSelect(HopsSpace, const HopsHostKernels **);
PETSC_INTERN PetscErrorCode HopsHostAlloc(size_t ndoubles, PetscBool zero, void **base, double **aligned);
PETSC_INTERN PetscErrorCode HopsHostGeometrySetUp(HopsSpace, const HopsBasis *, int W, HopsBasis *geom, HopsHostGeometry *, void **base);

PETSC_INTERN PetscErrorCode HopsPACreate_Host(HopsSpace, const HopsBasis *, PetscBool, PetscBool, HopsPAKernel *);
PETSC_INTERN PetscErrorCode HopsPADestroy_Host(HopsPAKernel *);
PETSC_INTERN PetscErrorCode HopsLORCreate_Host(HopsSpace, const HopsBasis *, HopsLORKernel *);
PETSC_INTERN PetscErrorCode HopsLORCouplings_Host(HopsLORKernel, PetscInt, PetscInt, const HopsValues *, PetscReal, unsigned char[], PetscInt *, PetscReal *);
PETSC_INTERN PetscErrorCode HopsLORSetPositions_Host(HopsLORKernel, const unsigned char[], const PetscInt[], const int[]);
PETSC_INTERN PetscErrorCode HopsLORFill_Host(HopsLORKernel, PetscInt, PetscInt, const HopsValues *, const HopsValues *, PetscScalar[], PetscInt *, PetscReal *);
PETSC_INTERN PetscErrorCode HopsLORGetInfo_Host(HopsLORKernel, const char **, PetscLogDouble *);
PETSC_INTERN PetscErrorCode HopsLORDestroy_Host(HopsLORKernel *);
PETSC_INTERN PetscErrorCode HopsPatchCreate_Host(HopsPatches, PetscBool, HopsPatchKernel *);
PETSC_INTERN PetscErrorCode HopsPatchApply_Host(HopsPatchKernel, PetscInt, HopsPatchMode, const PetscScalar[], PetscScalar[]);
PETSC_INTERN PetscErrorCode HopsPatchGetInfo_Host(HopsPatchKernel, const char **, PetscLogDouble *, PetscLogDouble *);
PETSC_INTERN PetscErrorCode HopsPatchDestroy_Host(HopsPatchKernel *);
PETSC_INTERN PetscErrorCode HopsPatchSweep_Host(HopsPatchKernel, PetscInt, const PetscScalar[], PetscScalar[]);
