/* Data shared by the parts of hops: the space, 1D bases, coefficients, and the table of operations of a back end. */
#pragma once
#include <hops.h>
#include <petsc/private/petscimpl.h>
#include <petscsf.h>
#include <hops/private/petscshim.h>

/*
  One-dimensional basis: the P Lagrange polynomials on Gauss-Lobatto-Legendre (GLL) nodes of [-1,1], tabulated at Q points.
*/
typedef struct {
  PetscInt   P, Q;
  PetscReal *nodes;      /* [P] GLL nodes, ascending */
  PetscReal *points;     /* [Q] points, ascending */
  PetscReal *weights;    /* [Q] quadrature weights (zeros where the points are no quadrature rule) */
  PetscReal *B;          /* [Q][P] B[q*P+i] = l_i(points[q]) */
  PetscReal *D;          /* [Q][P] D[q*P+i] = l_i'(points[q]) */
  PetscReal *C;          /* [Q][Q] derivatives at the points of the Lagrange basis on the points; D = C B if Q >= P */
  PetscBool  collocated; /* the points are the nodes */
} HopsBasis;

/* r with r^dim = n, rounded to an integer: the points per direction of a tensor-product set */
static inline PetscInt HopsRoot(PetscInt n, PetscInt dim)
{
  return (PetscInt)PetscFloorReal(PetscPowReal((PetscReal)n, 1.0 / dim) + 0.5);
}

/* inverse of a dim-by-dim matrix, row-major; returns the determinant */
static inline PetscReal HopsInverse(PetscInt dim, const PetscReal J[], PetscReal Ji[])
{
  PetscReal det;

  if (dim == 2) {
    det   = J[0] * J[3] - J[1] * J[2];
    Ji[0] = J[3] / det;
    Ji[1] = -J[1] / det;
    Ji[2] = -J[2] / det;
    Ji[3] = J[0] / det;
  } else {
    for (PetscInt i = 0; i < 3; ++i)
      for (PetscInt j = 0; j < 3; ++j) {
        const PetscInt a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;

        Ji[i * 3 + j] = J[a * 3 + c] * J[b * 3 + d] - J[a * 3 + d] * J[b * 3 + c];
      }
    det = J[0] * Ji[0] + J[1] * Ji[3] + J[2] * Ji[6];
    for (PetscInt i = 0; i < 9; ++i) Ji[i] /= det;
  }
  return det;
}

PETSC_INTERN PetscErrorCode HopsBasisCreate(PetscInt P, PetscInt Q, PetscBool gll, HopsBasis *);
PETSC_INTERN PetscErrorCode HopsBasisCreateAtPoints(PetscInt P, PetscInt Q, const PetscReal points[], HopsBasis *);
PETSC_INTERN PetscErrorCode HopsBasisDestroy(HopsBasis *);
PETSC_INTERN PetscErrorCode HopsGLL(PetscInt n, PetscReal x[], PetscReal w[]);

/*
  Values of a coefficient at the points of a run of cells: component k at point q of cell c of the run is
  v[c*cstride + q*pstride + k]; strides are 0 where the value does not vary. nc is 0 where the term is absent (v is NULL).
*/
typedef struct {
  PetscInt           nc, cstride, pstride;
  const PetscScalar *v;
} HopsValues;

typedef struct _HopsBackendOps HopsBackendOps;

/* What the element maps of a space are, from the narrowest kind (HopsSpaceGetMapKind()) */
typedef enum {
  HOPS_MAP_UNKNOWN,
  HOPS_MAP_AFFINE,
  HOPS_MAP_MULTILINEAR, /* bi- or trilinear */
  HOPS_MAP_CURVED
} HopsMapKind;

/*
  HopsSpace. Cells are reordered: the first `ninterior` touch owned, unconstrained unknowns only, so they need no
  communication. L-vector entries: [0,nT) owned (T-vector), [nT,nT+nG) ghosts, [nT+nG,nL) constrained.

  Node picture (order 2, 2D), E-vector entries of a cell and reference coordinates (xi,eta) in [-1,1]^2:

     6---7---8      eta
     |   |   |       ^
     3---4---5       |
     |   |   |       +--> xi
     0---1---2
*/
struct _p_HopsSpace {
  PETSCHEADER(int);
  PetscInt              dim, order;
  PetscInt              ncells, ninterior;
  PetscInt              nT, nG, nC, nL;     /* owned, ghost and constrained unknowns, and their sum */
  PetscInt              rstart, N;          /* first owned global index; global size */
  int                  *restr;              /* [ncells][(order+1)^dim] L-vector index of each E-vector entry, x fastest */
  PetscInt              cstart, ncaller;    /* the caller's cells are numbered cstart..cstart+ncaller-1 */
  PetscInt             *cell;               /* [ncells] the caller's number of the cell (DMPlex point, or array index) */
  PetscInt              gorder;             /* order of the element maps */
  PetscReal            *X;                  /* [ncells][dim][(gorder+1)^dim] coordinates at the GLL nodes of order gorder, x fastest */
  HopsMapKind           mapkind;            /* what these maps are, once it was asked for */
  PetscInt             *ghost;              /* [nG] global index of the ghosts */
  PetscSF               halo;               /* roots: shared[]; leaves: ghosts */
  PetscScalar          *hbuf;               /* [nshared] roots of the halo exchange */
  PetscInt              nshared, *shared;   /* owned unknowns (T-vector index) that other ranks hold as ghosts */
  PetscInt              ness, *essT, *essC; /* essential unknowns kept in the T-vector: T index and L index of its constrained twin */
  PetscScalar          *cvals;              /* [nC] essential values (zero until set) */
  DM                    dm;                 /* NULL for raw arrays */
  PetscInt              q_1d;               /* quadrature points per direction of the PetscFE behind the space, or 0 */
  const HopsBackendOps *backend;
  PetscBool             backendset; /* by -hops_backend */
  PetscBool             onbackend;  /* the next two are set (HopsSpaceSetUpBackend()) */
  PetscInt             *bessT;      /* essT[] where the back end works */
  struct _HopsHalo     *bhalo;      /* the halo exchange of a device */
};

/* Kinds of coefficient are told apart by `evaluate` alone: out[(c*npts + q)*nc + k], c < n. */
struct _p_HopsCoefficient {
  PETSCHEADER(int);
  PetscInt          nc;
  const char       *kind;    /* "constant", "cell", ... */
  PetscScalar      *values;  /* constant: [nc]; cell: [ncells][nc]; quadrature: [ncells][q_1d^dim][nc] */
  PetscInt          q_1d;    /* quadrature: points per direction */
  PetscInt          nvcells; /* cell, quadrature: number of cells of `values` */
  PetscBool         needsx;  /* evaluate() wants the physical points */
  HopsPointFunction func;
  void             *ctx;
  PetscErrorCode (*destroyctx)(void *);
  /* at the tensor-product points x[q][dim] of one face, with outward unit normals; NULL where `func` or `values` serve */
  PetscErrorCode (*evaluateface)(HopsCoefficient, HopsSpace, PetscInt cell, PetscInt face, const HopsBasis *, const PetscReal x[], const PetscReal normal[], PetscScalar out[]);
  PetscErrorCode (*evaluate)(HopsCoefficient, HopsSpace, PetscInt first, PetscInt n, const HopsBasis *, const PetscReal x[], PetscScalar out[]);
};

PETSC_INTERN PetscErrorCode HopsCoefficientCreate_Private(MPI_Comm, PetscInt nc, const char kind[], HopsCoefficient *);

/*
  Evaluate a coefficient at the tensor-product points of `basis` on cells first..first+n-1. `work` is grown as needed and is
  owned by the caller (PetscFree). NaN and infinity are errors that name the cell.
*/
PETSC_INTERN PetscErrorCode HopsCoefficientEvaluate(HopsCoefficient, HopsSpace, const HopsBasis *, PetscInt first, PetscInt n, size_t *worksize, PetscScalar **work, HopsValues *);

/* Physical points x[c][q][dim] and, where J is not NULL, Jacobians J[c][q][i*dim+j] = dx_i/dxi_j on a run of cells. */
PETSC_INTERN PetscErrorCode HopsSpaceGetPoints(HopsSpace, const HopsBasis *geom, PetscInt first, PetscInt n, PetscReal x[], PetscReal J[]);
/* The element map's basis (order gorder) tabulated at the points of `basis`. */
PETSC_INTERN PetscErrorCode HopsSpaceCreateGeometryBasis(HopsSpace, const HopsBasis *basis, HopsBasis *geom);
/*
  Number the unknowns of a space whose cells, sizes and maps are set. elist[c][i], c < ncells, i < (order+1)^dim, holds keys in
  [0,nkeys); gidx[key] is the global index, or -1 where the unknown is absent from the T-vector; ess[key] (may be NULL) marks
  unknowns kept in the T-vector as identity rows. Reorders the cells: interior ones first. Collective.
*/
PETSC_INTERN PetscErrorCode HopsSpaceCreate_Private(MPI_Comm, PetscInt dim, PetscInt order, HopsSpace *);
PETSC_INTERN PetscErrorCode HopsSpaceSetUpNumbering(HopsSpace, PetscInt nkeys, const PetscInt gidx[], const PetscBool ess[], const PetscInt elist[]);
PETSC_INTERN PetscErrorCode HopsTensorApply(PetscInt dim, PetscInt m, PetscInt n, const PetscReal *const M[], const PetscReal in[], PetscReal out[], PetscReal work[]);
/* xg[nL-nT] = ghosts (communicated) and constrained entries (cvals, or zero) for the owned entries x[nT]; collective */
PETSC_INTERN PetscErrorCode HopsSpaceGlobalToLocal(HopsSpace, const PetscScalar x[], PetscScalar xg[]);
/* the halo exchange in two halves: begin packs and sends, end delivers; in between the caller works on interior cells */
PETSC_INTERN PetscErrorCode HopsSpaceHaloBegin(HopsSpace, const PetscScalar x[], PetscScalar xg[]);
PETSC_INTERN PetscErrorCode HopsSpaceHaloEnd(HopsSpace, const PetscScalar x[], PetscScalar xg[]);
PETSC_INTERN PetscErrorCode HopsSpaceHaloAddBegin(HopsSpace, const PetscScalar yg[]);
PETSC_INTERN PetscErrorCode HopsSpaceHaloAddEnd(HopsSpace, const PetscScalar yg[], PetscScalar y[]);
/* the same on pointers of the space's back end, which HopsSpaceSetUpBackend() prepares */
PETSC_INTERN PetscErrorCode HopsSpaceSetUpBackend(HopsSpace);
PETSC_INTERN PetscErrorCode HopsSpaceResetBackend(HopsSpace);
PETSC_INTERN PetscErrorCode HopsSpaceBackendHaloBegin(HopsSpace, const PetscScalar x[], PetscScalar xg[]);
PETSC_INTERN PetscErrorCode HopsSpaceBackendHaloEnd(HopsSpace, const PetscScalar x[], PetscScalar xg[]);
PETSC_INTERN PetscErrorCode HopsSpaceBackendHaloAddBegin(HopsSpace, const PetscScalar yg[]);
PETSC_INTERN PetscErrorCode HopsSpaceBackendHaloAddEnd(HopsSpace, const PetscScalar yg[], PetscScalar y[]);
/* the same for nc values an unknown, on a device (spacehalo.c) */
typedef struct _HopsHalo   *HopsHalo;
PETSC_INTERN PetscErrorCode HopsHaloCreate(HopsSpace, PetscInt nc, HopsHalo *);
PETSC_INTERN PetscErrorCode HopsHaloDestroy(HopsHalo *);
PETSC_INTERN PetscErrorCode HopsHaloBegin(HopsHalo, const PetscScalar x[], PetscScalar xg[]);
PETSC_INTERN PetscErrorCode HopsHaloEnd(HopsHalo, PetscScalar xg[]);
PETSC_INTERN PetscErrorCode HopsHaloAddBegin(HopsHalo, const PetscScalar yg[]);
PETSC_INTERN PetscErrorCode HopsHaloAddEnd(HopsHalo, const PetscScalar yg[], PetscScalar y[]);
PETSC_INTERN PetscErrorCode HopsSpaceErrorCell(HopsSpace, PetscInt c, PetscReal det);

/*
  Operations of a back end, on raw pointers. Cell ranges are [first, first+n). An operation that finds a non-positive (or
  NaN) Jacobian determinant returns the cell in `bad` (else -1) and the determinant in `det`.
*/
typedef struct _HopsPAKernel     *HopsPAKernel;     /* operator data of a back end */
typedef struct _HopsLORKernel    *HopsLORKernel;    /* LOR data of a back end */
typedef struct _HopsQueue        *HopsQueue;        /* copies beside a device's other work */
typedef struct _HopsFaceKernel   *HopsFaceKernel;   /* terms on faces, on a device */
typedef struct _HopsTensorKernel *HopsTensorKernel; /* full tensors, on a device */
typedef enum {
  HOPS_PART_INTERIOR_A, /* first half of the interior cells */
  HOPS_PART_INTERIOR_B, /* second half of the interior cells */
  HOPS_PART_SHARED      /* cells that touch ghosts or constrained unknowns */
} HopsPart;

PETSC_INTERN PetscErrorCode HopsSpaceGetMapKind(HopsSpace, HopsMapKind *); /* collective */
/* x[2^dim]: one coordinate of a cell's corners, of its values X[n^dim] at the nodes of the element map */
static inline void HopsCellCorners(PetscInt dim, PetscInt n, const PetscReal X[], PetscReal x[])
{
  for (PetscInt k = 0; k < 1 << dim; ++k) x[k] = X[(n - 1) * ((k & 1) + n * ((k >> 1 & 1) + n * (k >> 2 & 1)))];
}

struct _HopsBackendOps {
  const char  *name;
  VecType      vectype;   /* the vectors of a space on the back end */
  PetscMemType memtype;   /* of its memory */
  PetscBool    host;      /* the back end reads and writes the process's own memory */
  PetscInt     runpoints; /* set-up takes coefficients at about so many points at a time, and 64 cells at least */
  /* --- memory where the back end works; n counts bytes in the first three, entries in the rest --- */
  PetscErrorCode (*Malloc)(size_t n, void **);
  PetscErrorCode (*Free)(void **);
  PetscErrorCode (*Copy)(void *dst, const void *src, size_t n, PetscBool in);                              /* in: from the process's memory; else to it, complete on return */
  PetscErrorCode (*Zero)(PetscInt n, PetscScalar y[]);                                                     /* y[i] = 0 */
  PetscErrorCode (*Pack)(PetscInt n, const PetscInt idx[], const PetscScalar x[], PetscScalar buf[]);      /* buf[i] = x[idx[i]], 0 where idx[i] < 0 */
  PetscErrorCode (*UnpackAdd)(PetscInt n, const PetscInt idx[], const PetscScalar buf[], PetscScalar y[]); /* y[idx[i]] += buf[i] where idx[i] >= 0, idx distinct */
  PetscErrorCode (*SetEntries)(PetscInt n, const PetscInt idx[], const PetscScalar x[], PetscScalar y[]);  /* y[idx[i]] = x[idx[i]], or 1 where x is NULL */
  /* --- devices only: copies and packing on a queue beside the back end's other work, from and to memory that MallocHost() gives --- */
  PetscErrorCode (*MallocHost)(size_t n, void **);
  PetscErrorCode (*FreeHost)(void **);
  PetscErrorCode (*QueueCreate)(HopsQueue *);
  PetscErrorCode (*QueueDestroy)(HopsQueue *);
  PetscErrorCode (*QueueFork)(HopsQueue);   /* what follows on the queue waits for the work so far outside it */
  PetscErrorCode (*QueueJoin)(HopsQueue);   /* what follows outside waits for the queue's work so far */
  PetscErrorCode (*QueueFinish)(HopsQueue); /* the process waits for the queue's work so far */
  PetscErrorCode (*QueueCopy)(HopsQueue, void *dst, const void *src, size_t n, PetscBool in);
  PetscErrorCode (*QueuePack)(HopsQueue, PetscInt n, const PetscInt idx[], const PetscScalar x[], PetscScalar buf[]);
  /* --- devices only: B^T D B on n faces of dimension fd: restr[n][P^fd] L-vector indices, qdata[n][Q^fd] (both the process's); diagonal: its
     diagonal is added, x unused --- */
  PetscErrorCode (*FaceCreate)(PetscInt fd, const HopsBasis *, PetscInt nT, PetscInt n, const int restr[], const PetscScalar qdata[], HopsFaceKernel *);
  PetscErrorCode (*FaceApply)(HopsFaceKernel, PetscBool diagonal, const PetscScalar x[], const PetscScalar xg[], PetscScalar y[], PetscScalar yg[]);
  PetscErrorCode (*FaceDestroy)(HopsFaceKernel *);
  /* --- devices only: full tensors of one field of nc components (patensor.c says which): q[k] is [ncells][entries][points] in the
     process's memory, or NULL; xl, yl are L-vectors [nL][nc] --- */
  PetscErrorCode (*TensorCreate)(HopsSpace, const HopsBasis *, PetscInt nc, HopsTensorKernel *);
  PetscErrorCode (*TensorSetUp)(HopsTensorKernel, const PetscScalar *const q[4]);
  PetscErrorCode (*TensorApply)(HopsTensorKernel, PetscBool transpose, PetscInt first, PetscInt n, const PetscScalar xl[], PetscScalar yl[]); /* yl += */
  PetscErrorCode (*TensorDiagonal)(HopsTensorKernel, PetscScalar yl[]);                                                                       /* yl += */
  PetscErrorCode (*TensorDestroy)(HopsTensorKernel *);
  /* --- partial assembly ---
     Quadrature data per point: diffusion w detJ J^-1 kappa J^-T (symmetric, 3 or 6 values), mass w detJ c (1 value). */
  PetscErrorCode (*PACreate)(HopsSpace, const HopsBasis *, PetscBool diffusion, PetscBool mass, HopsPAKernel *);
  /* fill the quadrature data of cells first..first+n-1 (in any order of runs; each run within one HopsPart class) */
  PetscErrorCode (*PASetUp)(HopsPAKernel, PetscInt first, PetscInt n, const HopsValues *kappa, const HopsValues *mass, PetscInt *bad, PetscReal *det);
  /* instead: kernels that recompute the geometry of affine or multilinear cells from corners[n][dim][2^dim] (x fastest), with
     coefficients that are constant in a cell (pstride 0). NULL where the back end has none; needs a specialised kernel (PAGetInfo) */
  PetscErrorCode (*PASetUpCells)(HopsPAKernel, HopsMapKind, PetscInt first, PetscInt n, const PetscReal corners[], const HopsValues *kappa, const HopsValues *mass, PetscInt *bad, PetscReal *det);
  /* y += A x on a part; x,y are T-vectors [nT], xg,yg hold L-vector entries [nT,nL) (ghosts, constrained) */
  PetscErrorCode (*PAApply)(HopsPAKernel, HopsPart, const PetscScalar x[], const PetscScalar xg[], PetscScalar y[], PetscScalar yg[]);
  /* d += diag(A) on all cells */
  PetscErrorCode (*PADiagonal)(HopsPAKernel, PetscScalar d[], PetscScalar dg[]);
  /* name of the kernel that runs ("avx512 P=7 Q=8", "avx512 generic"), whether it is specialised, bytes held, flops of a full apply */
  PetscErrorCode (*PAGetInfo)(HopsPAKernel, const char **kernel, PetscBool *specialised, PetscLogDouble *bytes, PetscLogDouble *flops);
  PetscErrorCode (*PADestroy)(HopsPAKernel *);
  /* --- low-order-refined matrix, vertex quadrature at the GLL nodes ---
     Couplings: for each cell a mask of the direction pairs whose off-diagonal geometry factor is not negligible:
     bit 0 xy, bit 1 xz, bit 2 yz; negligible is |G_ab| <= tol sqrt(G_aa G_bb) at every node.
     Entries of a node v = (i,j,k), in this order (see HopsLOREntry): the diagonal; for each direction a the pair
     (v,v+e_a), (v+e_a,v); for each coupled pair ab the anti-diagonal (v+e_a,v+e_b), (v+e_b,v+e_a) and the main diagonal
     (v,v+e_a+e_b), (v+e_a+e_b,v). */
  PetscErrorCode (*LORCreate)(HopsSpace, const HopsBasis *gll, HopsLORKernel *);
  PetscErrorCode (*LORCouplings)(HopsLORKernel, PetscInt first, PetscInt n, const HopsValues *kappa, PetscReal tol, unsigned char mask[], PetscInt *bad, PetscReal *det);
  /* hand over positions: pos[c] points to [(order+1)^dim][nentries(mask[c])] positions in the value array (trash included) */
  PetscErrorCode (*LORSetPositions)(HopsLORKernel, const unsigned char mask[], const PetscInt start[], const int pos[]);
  /* vals[pos] += element matrices of cells first..first+n-1; kappa or mass absent where nc = 0 */
  PetscErrorCode (*LORFill)(HopsLORKernel, PetscInt first, PetscInt n, const HopsValues *kappa, const HopsValues *mass, PetscScalar vals[], PetscInt *bad, PetscReal *det);
  PetscErrorCode (*LORGetInfo)(HopsLORKernel, const char **kernel, PetscLogDouble *bytes);
  PetscErrorCode (*LORDestroy)(HopsLORKernel *);
};

PETSC_INTERN PetscErrorCode       HopsBackendGet(const char name[], const HopsBackendOps **);
PETSC_INTERN PetscErrorCode       HopsSpaceSetBackendFromDM(HopsSpace, DM); /* that of the DM's vectors, unless -hops_backend chose */
PETSC_INTERN const HopsBackendOps HopsBackendHost;
#if defined(PETSC_HAVE_CUDA)
PETSC_INTERN const HopsBackendOps HopsBackendCUDA;
#endif

/* Classes and log events */
typedef struct {
  PetscLogEvent space, pasetup, pamult, padiag, paassemble, lorsymbolic, lornumeric, lorcoef, lorsolver, residual;
} HopsEvents;
PETSC_INTERN HopsEvents     HopsEvent;
PETSC_INTERN PetscErrorCode MatCreate_PA(Mat);
PETSC_INTERN PetscErrorCode PCCreate_LOR(PC);
