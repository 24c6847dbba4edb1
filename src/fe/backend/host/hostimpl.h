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
  double                *h, *m, *r; /* [P-1] sub-cell widths; [P] lumped 1D mass; [P] GLL weights by lumped mass */
  double                *G;         /* scratch vectors [dim(dim+1)/2 + 1][P^dim]: geometry factors, then mass */
  HopsBasis              geom;
  HopsHostGeometry       map;
  const unsigned char   *mask;  /* [ncells] caller's */
  const PetscInt        *start; /* [ncells] caller's */
  const int             *pos;   /* caller's */
  void                  *mem[2];
  PetscLogDouble         bytes;
  char                   name[48];
};

/* A field on one side of a form with full tensors */
typedef struct {
  int              nc, P, slot, node; /* first slot and first E-vector entry of the side, in units of arrays of points and of nodes */
  const int       *restr;
  double          *l;
  HopsHostMatrices mat;
  double          *matmem;
  PetscBool        value, gradient; /* what the blocks at work need; see TensorNeeds() */
  void (*up)(const struct _HopsTensorKernel *, const HopsHostMatrices *, int P, const double *e, double *u, PetscBool gradient);
  void (*down)(const struct _HopsTensorKernel *, const HopsHostMatrices *, int P, double *u, double *e, PetscBool gradient);
} HopsHostSide;

/* u, v: [slot][point][W] with slots S points apart: of each component its value, then its reference derivatives */
struct _HopsTensorKernel {
  const HopsHostKernels *ops;
  int                    dim, Q, W, S, n[2], nnodes[2]; /* sides and E-vector entries of test, trial functions */
  HopsHostSide          *side[2];
  PetscInt               nb, part[4], *first; /* batches; the parts' first batches; [nb + 1] first cells */
  double                *e, *u, *v, *f, *g;
  void                  *mem;
  PetscBool              specialised;
  char                   name[48];
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
  PetscBool (*tensorfind)(const struct _HopsTensorKernel *, HopsHostSide *); /* sets `up` and `down`; PETSC_TRUE if specialised */
  void (*tensorapply)(const struct _HopsTensorKernel *, PetscInt b0, PetscInt b1, int transpose, PetscInt nblocks, const HopsTensorData[]);
  void (*tensordiagonal)(const struct _HopsTensorKernel *, PetscInt b, const HopsTensorData *, double e[]);
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
/* all 1D matrices of a basis, in one allocation */
PETSC_INTERN PetscErrorCode HopsHostPackMatrices(const HopsBasis *, HopsHostMatrices *, double **mem);
PETSC_INTERN double         HopsHostEvenOddFlops(int M, int N, int sym);

PETSC_INTERN PetscErrorCode HopsTensorCreate_Host(HopsSpace, PetscInt, PetscInt, const HopsTensorSide[], PetscInt, const HopsTensorSide[], HopsTensorKernel *);
PETSC_INTERN PetscErrorCode HopsTensorGetLayout_Host(HopsTensorKernel, PetscInt *, PetscInt *, const PetscInt **);
PETSC_INTERN PetscErrorCode HopsTensorApply_Host(HopsTensorKernel, HopsPart, PetscBool, PetscInt, const HopsTensorData[]);
PETSC_INTERN PetscErrorCode HopsTensorDiagonal_Host(HopsTensorKernel, PetscInt, const HopsTensorData[]);
PETSC_INTERN PetscErrorCode HopsTensorGetInfo_Host(HopsTensorKernel, PetscInt, const HopsTensorData[], const char **, PetscBool *, PetscLogDouble *);
PETSC_INTERN PetscErrorCode HopsTensorDestroy_Host(HopsTensorKernel *);
PETSC_INTERN PetscErrorCode HopsLORCreate_Host(HopsSpace, const HopsBasis *, HopsLORKernel *);
PETSC_INTERN PetscErrorCode HopsLORCouplings_Host(HopsLORKernel, PetscInt, PetscInt, const HopsValues *, PetscReal, unsigned char[], PetscInt *, PetscReal *);
PETSC_INTERN PetscErrorCode HopsLORSetPositions_Host(HopsLORKernel, const unsigned char[], const PetscInt[], const int[]);
PETSC_INTERN PetscErrorCode HopsLORFill_Host(HopsLORKernel, PetscInt, PetscInt, const HopsValues *, const HopsValues *, PetscScalar[], PetscInt *, PetscReal *);
PETSC_INTERN PetscErrorCode HopsLORGetInfo_Host(HopsLORKernel, const char **, PetscLogDouble *);
PETSC_INTERN PetscErrorCode HopsLORDestroy_Host(HopsLORKernel *);
