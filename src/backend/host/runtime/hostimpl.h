/*
  Host back end: operator data and the table of kernels compiled once per instruction set.

  Cells go in batches of W (the lanes of a SIMD vector). A field on a batch is an array of W-vectors,
  [node][W], so all the lanes run the same tensor contractions and no lane ever needs another. Batches never
  mix interior and shared cells; the last batch of each class is padded with copies of a valid cell that has
  zero quadrature data.
*/
#pragma once
#include <hops/private/hopshanging.h>
#include <backend/host/runtime/hostthreads.h>

#define HOPS_HOST_MAXLINE 64 /* largest P_1d, Q_1d: size of the line buffers of the generic kernels */
#define HOPS_HOST_ALIGN   64

typedef struct _HopsHostKernels HopsHostKernels;

/* n doubles, with what puts the next ones on a boundary, in another cache line */
static inline size_t HopsHostAligned(size_t n)
{
  return (n + HOPS_HOST_ALIGN / sizeof(double) - 1) / (HOPS_HOST_ALIGN / sizeof(double)) * (HOPS_HOST_ALIGN / sizeof(double));
}

/* n^d in two or three dimensions, without a loop */
static inline int HopsHostPower(int n, int d)
{
  return d == 3 ? n * n * n : n * n;
}

/* what the objects of hopsbackendimpl.h are on the host */
typedef struct _HopsPAKernel     *HopsPAKernel;
typedef struct _HopsDerhamKernel *HopsDerhamKernel;
typedef struct _HopsTensorKernel *HopsTensorKernel;
typedef struct _HopsInterpKernel *HopsInterpKernel;
typedef struct _HopsPatchKernel  *HopsPatchKernel;

/* The scalars of kernels and of their data: float in the files that begin with HOPS_HOST_SINGLE, which share
   no data with the others */
#if defined(HOPS_HOST_SINGLE)
typedef float HopsHostReal;
#else
typedef double HopsHostReal;
#endif

/*
  Even-odd matrix of an M x N matrix A with A[M-1-m][N-1-n] = s A[m][n], s = +1 or -1: row m < (M+1)/2 holds
  (A[m][n] + A[m][N-1-n])/2 for n < (N+1)/2 (A[m][n] itself for the middle column), then (A[m][n] -
  A[m][N-1-n])/2 for n < N/2. B, BB and DD have s = +1; C, D and BD have s = -1.
*/
typedef struct {
  const HopsHostReal *B, *BT;       /* Q x P interpolation to the points, and its transpose */
  const HopsHostReal *C, *CT;       /* Q x Q derivative at the points, and its transpose */
  const HopsHostReal *D, *DT;       /* Q x P derivative at the points (Q < P only) */
  const HopsHostReal *BB, *DD, *BD; /* P x Q entrywise products B_qi B_qi, D_qi D_qi, B_qi D_qi: the diagonal */
} HopsHostMatrices;

/* Map of a run of cells to geometry: tabulation of the element map and where the run's coordinates are. */
typedef struct {
  int              dim, Pg, M; /* nodes of the map, points per direction */
  const PetscReal *B, *D;      /* [M][Pg] */
  const PetscReal *X;          /* [ncells][dim][Pg^dim] */
  double          *work;       /* scratch of the first thread, nwork doubles for each */
  size_t           nwork;
} HopsHostGeometry;

/* Pieces of an operator's batches, a thread each: numbers of scratch between theirs; where they meet, by
   HopsPart, and in the part at work */
typedef struct {
  int                    T;
  size_t                 scratch;
  HopsHostMeeting       *part[3];
  const HopsHostMeeting *meets;
} HopsHostPieces;

/* Of a space with hanging nodes, else zeros: masks of the lanes [nb][W]; has a batch none, one, several?
   [nb]; components as in hopshanging.h; J and its transpose, of nodes and of integrals */
typedef struct {
  unsigned short *mask;
  unsigned char  *some;
  int             dim, P, nc, ne, off[3];
  HopsHangingBox  box[3];
  HopsHostReal   *J[2];
} HopsHostHang;

/* some[] of a batch */
static inline unsigned char HopsHostHangSome(int W, const unsigned short mask[])
{
  for (int l = 1; l < W; l++)
    if (mask[l] != mask[0]) return 2;
  return mask[0] ? 1 : 0;
}

struct _HopsPAKernel {
  struct _HopsOperator   head;
  const HopsHostKernels *ops;
  const int             *restr; /* [ncells][P^dim], of the space */
  int                    dim, P, Q, W;
  int                    ncomp; /* values per point: diffusion dim(dim+1)/2, then mass 1 */
  int                    nT;
  PetscBool              diffusion, mass, collocated;
  PetscInt               ncells, ninterior;
  PetscInt               nb, nbi;       /* batches: all, interior (first) */
  int                   *idx;           /* [nb][P^dim][W] L-vector indices */
  HopsHostReal          *qdata;         /* [nb][Q^dim][ncomp][W] */
  double                *weights;       /* [Q] */
  HopsHostReal          *e, *u, *g, *f; /* scratch vectors: E-vector and partial sums; points; derivative; plane */
  HopsHostPieces         pieces;
  HopsHostMatrices       mat;
  HopsHostReal          *matmem;
  HopsBasis              geom;
  HopsHostGeometry       map;
  void (*cell)(const struct _HopsPAKernel *, const HopsHostReal *qdata);
  void         *mem[4]; /* unaligned base pointers */
  HopsHostHang  hang;
  HopsHostReal *hung; /* scratch vectors of hanging nodes, twice a cell's */
  /* for the diagonal: [3] J of the lower half, of the upper one, none; [3] products B B, B D, D D of what
     the basis becomes by it; [P][Q] */
  double *square;
};

/* A field on one side of a form with full tensors */
typedef struct {
  /* first slot and first E-vector entry of the side, in units of arrays of points and of nodes */
  int              nc, P, slot, node;
  const int       *restr;
  double          *l;
  HopsHostMatrices mat;
  double          *matmem;
  PetscBool        value, gradient; /* what the blocks at work need; see TensorNeeds() */
  void (*up)(const struct _HopsTensorKernel *, const HopsHostMatrices *, int P, const double *e, double *u, PetscBool gradient);
  void (*down)(const struct _HopsTensorKernel *, const HopsHostMatrices *, int P, double *u, double *e, PetscBool gradient);
} HopsHostSide;

/* u, v: [slot][point][W] with slots S points apart: of each component its value, then its reference
   derivatives */
struct _HopsTensorKernel {
  struct _HopsTensorOperator head;
  const HopsHostKernels     *ops;
  int                        dim, Q, W, S, n[2], nnodes[2]; /* sides and E-vector entries of test, trial functions */
  HopsHostSide              *side[2];
  PetscInt                   nb, part[4], *first; /* batches; the parts' first batches; [nb + 1] first cells */
  double                    *e, *u, *v, *f, *g;
  void                      *mem;
  PetscInt                   nblocks;
  const HopsTensorData      *data;
};

struct _HopsInterpKernel {
  struct _HopsInterpolation head;
  const HopsHostKernels    *ops;
  int                       dim, M, N, W; /* N source nodes per direction, M target nodes */
  int                       ns, nt, nT;   /* N^dim, M^dim; owned unknowns of the source */
  PetscInt                  nmacro, ninterior;
  PetscInt                  nb, nbi; /* batches: all, interior (first) */
  int                       nmat;    /* entries of matmem */
  int                      *source;  /* [nb][ns][W] L-vector indices */
  int                      *target;  /* [nb][nt][W] T-vector indices, or -1 */
  const HopsHostReal       *A, *AT;  /* even-odd, see HopsHostMatrices */
  HopsHostReal             *matmem;
  HopsHostReal             *e, *f, *g, *out; /* scratch vectors: source values, partial contractions, target values */
  HopsHostHang              hang;            /* of sources */
  void                     *mem[3];
  PetscLogDouble            flops[2]; /* of interior and shared macro cells */
};

/* Operator on H(curl), H(div) or L2: E-vectors by components, see HopsLayout */
struct _HopsDerhamKernel {
  struct _HopsOperator   head;
  const HopsHostKernels *ops;
  HopsFamily             family, dfamily; /* of the field and of its derivative */
  int                    dim, P, Q, W;
  int                    nd, nm; /* values per point: of the derivative's term, of the field's; 0 where the term is absent */
  int                    nT;
  HopsLayout             layout, dlayout;
  PetscInt               ncells, ninterior, nb, nbi; /* as in H1 */
  int                   *idx;                        /* [nb][ne][W] entries of restr */
  double                *qdata;                      /* [nb]([Q^dim][nd][W], [Q^dim][nm][W]) */
  double                *weights;                    /* [Q] */
  /* scratch vectors: E-vectors of u, du and the result; [3][Q^dim] points; partial sums */
  double          *e, *w, *y, *v, *f, *g;
  HopsHostPieces   pieces;
  const double    *M[4]; /* even-odd matrices: B, E, B^T, E^T */
  double          *matmem;
  const double    *S[4]; /* P x Q products for the diagonal: B B, E E, B' B', B B' */
  HopsBasis        geom;
  HopsHostGeometry map;
  void (*contract[4])(int M, int N, const double *A, int outer, int inner, const double *in, double *out); /* by M[] */
  void          *mem[4];
  HopsHostHang   hang;
  double        *hung; /* as in H1 */
  PetscLogDouble bytes, flops;
  char           name[64];
};

/* Patches of one shape, one to a lane; lanes to spare have all their entries at the end of the P-vector */
typedef struct {
  int                  size[3], kind; /* HopsHostPatchKind */
  const unsigned char *dist;
  size_t               idx;   /* of [entries][lanes] in the kernel's idx */
  size_t               scale; /* of [5][lanes] in the kernel's reals */
  /* of a direction's factor there: S^T, S, lambda, each of scalars or of [..][lanes]; symmetric: even and odd
     halves */
  size_t matrix[3];
  int    esize[3]; /* nodes per direction of the patches' cells, for fused sweeps; or zeros */
  size_t eidx;     /* of [nodes][lanes] in the kernel's idx */
  void (*solve)(const struct _HopsPatchKernel *, const void *batch, HopsPatchMode, const double r[], double z[]);
  void (*sweep)(const struct _HopsPatchKernel *, const void *batch, const double b[], double z[]);
  /* of kernels in single precision */
  void (*solvesingle)(const struct _HopsPatchKernel *, const void *batch, HopsPatchMode, const float r[], float z[]);
  void (*sweepsingle)(const struct _HopsPatchKernel *, const void *batch, const float b[], float z[]);
} HopsHostPatchBatch;

typedef enum {
  HOPS_HOST_PATCH_SYMMETRIC, /* the lanes share factors whose modes are even or odd */
  HOPS_HOST_PATCH_SHARED,    /* the lanes share factors */
  HOPS_HOST_PATCH_VARYING    /* factors by lane */
} HopsHostPatchKind;

/* Condensed patches of one shape, one to a lane: a cell's modes, and what they are coupled by; see
   src/patch/patchcondensed.c */
typedef struct {
  int           dim, n, symmetric; /* modes of a cell's interior in a direction, by parity */
  const double *to, *back;         /* from nodes to modes and back: the matrix, or its even and odd halves */
  const double *lambda, *alpha, *mu;
} HopsHostModes;

typedef struct {
  int           side[3], size[3], nskel, count;
  const int    *skel; /* [nskel] */
  PetscInt     *patch;
  const double *inverse; /* of all lanes, or NULL */
  double       *factor;  /* [8][4][W] */
} HopsHostCondensed;

typedef struct _HopsHostCondensedKernel *HopsHostCondensedKernel;

struct _HopsPatchKernel {
  struct _HopsPatchSmoother head;
  const HopsHostKernels    *ops;
  HopsPatches               patches;
  int                       dim, lanes;
  PetscBool                 single;
  PetscInt                  ncolors, nbatch, *bstart; /* [ncolors+1] batches of a colour */
  HopsHostPatchBatch       *batch;
  PetscInt                  ndense, *dstart, *dense; /* dense patches, by colour */
  double                   *dwork;                   /* [2][largest dense patch] */
  HopsHostCondensedKernel   condensed;               /* or NULL */
  int                      *idx;
  void                     *reals; /* of the chosen precision */
  const int                *level; /* [nP] */
  double                   *e;     /* scratch: vectors of the largest batch */
  void                     *mem[3];
  PetscInt                  nspecialised, nshared; /* batches */
  PetscLogDouble           *cflops, *sflops;       /* [ncolors] */
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
  void (*apply)(const struct _HopsPAKernel *, PetscInt b0, PetscInt b1, const double x[], const double xg[], double y[],
                double yg[]);
  void (*diagonal)(const struct _HopsPAKernel *, PetscInt b0, PetscInt b1, double d[], double dg[]);
  void (*setup)(struct _HopsPAKernel *, HopsHostRun *);
  const struct _HopsHostLORKernels *lor;                                     /* hostlorimpl.h */
  PetscBool (*tensorfind)(const struct _HopsTensorKernel *, HopsHostSide *); /* sets `up` and `down`; PETSC_TRUE if specialised */
  void (*tensorapply)(const struct _HopsTensorKernel *, PetscInt b0, PetscInt b1, int transpose, PetscInt nblocks,
                      const HopsTensorData[]);
  void (*tensordiagonal)(const struct _HopsTensorKernel *, PetscInt b, const HopsTensorData *, double e[]);
  void (*interp)(const struct _HopsInterpKernel *, PetscInt b0, PetscInt b1, const double x[], const double xg[], double y[],
                 PetscBool add);
  void (*interptranspose)(const struct _HopsInterpKernel *, PetscInt b0, PetscInt b1, const double y[], double x[], double xg[]);
  PetscBool (*formfind)(struct _HopsDerhamKernel *);
  void (*formapply)(const struct _HopsDerhamKernel *, PetscInt b0, PetscInt b1, const double x[], const double xg[], double y[],
                    double yg[]);
  void (*formdiagonal)(const struct _HopsDerhamKernel *, PetscInt b0, PetscInt b1, double d[], double dg[]);
  void (*formsetup)(struct _HopsDerhamKernel *, HopsHostRun *);
  /* condensed patches x[node][W]: the skeleton's right-hand side b[nskel][W], with 1/D of the interiors in
     e[node][W]; y = A b, symmetric; and back */
  void (*condense)(const HopsHostModes *, const HopsHostCondensed *, double x[], double e[], double b[]);
  void (*skeleton)(int n, const double A[], const double b[], double y[]);
  void (*expand)(const HopsHostModes *, const HopsHostCondensed *, double x[], const double e[], const double y[]);
  PetscBool (*patchfind)(int dim, PetscBool single, HopsHostPatchBatch *); /* sets `solve`; PETSC_TRUE if specialised */
};

/* The kernels in single precision, by the names of the instruction sets */
typedef struct {
  const char *isa;
  int         W;
  PetscBool (*find)(struct _HopsPAKernel *);
  void (*apply)(const struct _HopsPAKernel *, PetscInt b0, PetscInt b1, const float x[], const float xg[], float y[], float yg[]);
  void (*interp)(const struct _HopsInterpKernel *, PetscInt b0, PetscInt b1, const float x[], const float xg[], float y[],
                 PetscBool add);
  void (*interptranspose)(const struct _HopsInterpKernel *, PetscInt b0, PetscInt b1, const float y[], float x[], float xg[]);
} HopsHostSingleKernels;

PETSC_INTERN const HopsHostSingleKernels HopsHostSingleBase;
#if defined(__x86_64__)
PETSC_INTERN const HopsHostSingleKernels HopsHostSingleAVX2;
PETSC_INTERN const HopsHostSingleKernels HopsHostSingleAVX512;
#endif

/* What a copy in single precision is made from: data of double precision, laid out in batches of W cells */
typedef struct {
  const char   *isa;
  int           dim, P, Q, W, ncomp, nT; /* of a map: P source and Q target nodes per direction */
  PetscBool     diffusion, mass, collocated;
  PetscInt      n, ninterior; /* cells, or macro cells */
  const int    *restr;        /* [n][P^dim]; of a map: source and target by batch instead */
  const int    *source, *target;
  const double *qdata, *matmem;
  /* entries of matmem; where the matrices begin in the order of HopsHostMatrices (A, AT of a map), or -1 */
  PetscInt       nmat, offset[9];
  PetscLogDouble flops[2];
  /* of HopsHostHang, in H1; NULL where no nodes hang */
  const unsigned short *hang;
  const double         *J;
} HopsHostRaw;

PETSC_INTERN PetscErrorCode HopsPAGetRaw_Host(HopsPAKernel, HopsHostRaw *);
PETSC_INTERN PetscErrorCode HopsInterpGetRaw_Host(HopsInterpKernel, HopsHostRaw *);

/* Those of low-order-refined matrices, in files of their own */
PETSC_INTERN const struct _HopsHostLORKernels HopsHostKernelsBaseLOR, HopsHostKernelsAVX2LOR, HopsHostKernelsAVX512LOR;
PETSC_INTERN const HopsHostKernels            HopsHostKernelsBase;
#if defined(__x86_64__)
PETSC_INTERN const HopsHostKernels HopsHostKernelsAVX2;
PETSC_INTERN const HopsHostKernels HopsHostKernelsAVX512;
#endif

/* src/backend/host/patch/hostcondensed.c */
PETSC_INTERN PetscErrorCode HopsHostCondensedCreate(HopsPatches, const HopsHostKernels *, PetscLogDouble cflops[],
                                                    PetscLogDouble *bytes, HopsHostCondensedKernel *);
PETSC_INTERN PetscErrorCode HopsHostCondensedApply(HopsHostCondensedKernel, PetscInt c0, PetscInt c1, HopsPatchMode,
                                                   PetscBool single, const void *r, void *z);
PETSC_INTERN PetscErrorCode HopsHostCondensedDestroy(HopsHostCondensedKernel *);
PETSC_INTERN PetscErrorCode HopsHostSelect(HopsSpace, const HopsHostKernels **);
PETSC_INTERN PetscErrorCode HopsHostAlloc(size_t ndoubles, PetscBool zero, void **base, double **aligned);
PETSC_INTERN void HopsHostRunPiece(const HopsHostRun *, PetscInt begin, int W, int t, int T, HopsHostRun *, HopsValues[2]);
PETSC_INTERN void HopsHostRunBad(const HopsHostRun *piece, HopsHostRun *);
PETSC_INTERN PetscErrorCode HopsHostNameThreads(size_t, char name[]);
PETSC_INTERN PetscErrorCode HopsHostPiecesCreate(HopsSpace, const PetscInt end[4], int n, const int idx[], HopsHostPieces *);
PETSC_INTERN PetscErrorCode HopsHostPiecesDestroy(HopsHostPieces *);
PETSC_INTERN void           HopsHostZeroLanes(PetscInt nbi, PetscInt nb, size_t n, double data[]);
PETSC_INTERN PetscErrorCode HopsHostGeometrySetUp(HopsSpace, const HopsBasis *, int W, HopsBasis *geom, HopsHostGeometry *,
                                                  void **base);

/* the masks of batches of W cells, of n cells, the first of them interior, and the matrices */
PETSC_INTERN PetscErrorCode HopsHostHangCreate(HopsSpace, PetscInt n, PetscInt ninterior, const unsigned short masks[], int W,
                                               HopsHostHang *);
PETSC_INTERN PetscErrorCode HopsHostHangDestroy(HopsHostHang *);
PETSC_INTERN void           HopsHostEvenOddPack(int M, int N, const double a[], int sm, int sn, double **p, const double **out);

/* all 1D matrices of a basis, in one allocation */
PETSC_INTERN PetscErrorCode HopsHostPackMatrices(const HopsBasis *, HopsHostMatrices *, double **mem);
PETSC_INTERN double         HopsHostEvenOddFlops(int M, int N, int sym);

/* what HopsBackendHost has, and constructors of copies */
PETSC_INTERN const HopsMemoryOps HopsMemoryHost;
PETSC_INTERN const HopsVectorOps HopsVectorHost;
PETSC_INTERN PetscErrorCode      HopsOperatorCreate_Host(HopsForm, const HopsBasis *, HopsOperator *);
PETSC_INTERN PetscErrorCode      HopsDerhamCreate_Host(HopsSpace, const HopsBasis *, PetscBool, PetscBool, HopsOperator *);
PETSC_INTERN PetscErrorCode      HopsSinglePACreate_Host(HopsOperator, HopsOperator *);
PETSC_INTERN PetscErrorCode      HopsFacesCreate_Host(HopsSpace, const HopsBasis *, PetscInt, const int[], const PetscReal[],
                                                      HopsOperator *);
PETSC_INTERN PetscErrorCode      HopsHungCreate_Host(HopsSpace, HopsHung *);
PETSC_INTERN PetscErrorCode      HopsTensorCreate_Host(HopsSpace, PetscInt, PetscInt, PetscInt, const HopsTensorSide[], PetscInt,
                                                       const HopsTensorSide[], HopsTensorOperator *);
PETSC_INTERN PetscErrorCode      HopsLORCreate_Host(HopsSpace, const HopsBasis *, HopsLORAssembler *);
PETSC_INTERN PetscErrorCode      HopsInterpCreate_Host(HopsSpace, HopsSpace, const HopsInterpData *, HopsInterpolation *);
PETSC_INTERN PetscErrorCode      HopsSingleInterpCreate_Host(HopsInterpolation, HopsInterpolation *);
PETSC_INTERN PetscErrorCode      HopsPatchCreate_Host(HopsPatches, PetscDataType, HopsPatchSmoother *);
