/* Data shared by the parts of hops: the space, 1D bases, coefficients, and the table of operations of a back
   end. */
#pragma once
#include <hops.h>
#include <petsc/private/petscimpl.h>
#include <petscsf.h>
#include <hops/private/petscshim.h>
#include <hops/private/hopscheck.h>

/*
  One-dimensional basis: the P Lagrange polynomials on Gauss-Lobatto-Legendre (GLL) nodes of [-1,1], tabulated
  at Q points.
*/
typedef enum {
  HOPS_RULE_NONE, /* points that are no quadrature rule */
  HOPS_RULE_GAUSS,
  HOPS_RULE_GLL,
  HOPS_RULE_OTHER /* any other one, symmetric about 0 */
} HopsRuleType;
typedef struct {
  PetscInt   P, Q;
  PetscReal *nodes;   /* [P] GLL nodes, ascending */
  PetscReal *points;  /* [Q] points, ascending */
  PetscReal *weights; /* [Q] quadrature weights (zeros where the points are no quadrature rule) */
  PetscReal *B;       /* [Q][P] B[q*P+i] = l_i(points[q]) */
  PetscReal *D;       /* [Q][P] D[q*P+i] = l_i'(points[q]) */
  /* [Q][P-1] E[q*(P-1)+j] = e_j(points[q]), the edge functions: integral over (node k, node k+1) is 1 if j =
     k, else 0 */
  PetscReal   *E;
  PetscReal   *C;          /* [Q][Q] derivatives at the points of the Lagrange basis on the points; D = C B if Q >= P */
  PetscBool    collocated; /* the points are the nodes */
  HopsRuleType rule;
  /* at points on the faces of a cell coefficients are their limits from inside (hops' own Gauss-Lobatto
     rule) */
  PetscBool limit;
} HopsBasis;

/* r with r^dim = n, rounded to an integer: the points per direction of a tensor-product set */
static inline PetscInt HopsRoot(PetscInt n, PetscInt dim)
{
  return (PetscInt)PetscFloorReal(PetscPowReal((PetscReal)n, 1.0 / dim) + 0.5);
}

/* n^d. HopsPower() squares once more than it must, and overflows where this does not. */
static inline PetscInt HopsPower(PetscInt n, PetscInt d)
{
  PetscInt power = 1;

  while (d-- > 0) power *= n;
  return power;
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

PETSC_INTERN void           HopsSymmetrize(PetscInt n, PetscReal x[], PetscReal w[]);
PETSC_INTERN PetscErrorCode HopsBasisCreate(PetscInt P, PetscInt Q, PetscBool gll, HopsBasis *);
PETSC_INTERN PetscErrorCode HopsBasisCreateAtPoints(PetscInt P, PetscInt Q, const PetscReal points[], HopsBasis *);
/*
  The same points, but for those at the ends of [-1,1], which move in by a fraction of the distance to the
  next ones. A function that jumps between cells has two values at the ends, and only inside of a cell is it
  known which of them is the cell's: preconditioners evaluate coefficients at HOPS_BASIS_INSET; an operator,
  whose smooth coefficients must not move, takes the limit (HopsBasis.limit).
*/
#define HOPS_BASIS_INSET 0.01
PETSC_INTERN PetscErrorCode HopsBasisCreateInside(const HopsBasis *, PetscReal inset, HopsBasis *);
/* The limit is extrapolated from HOPS_LIMIT_POINTS insets: adds the values v[n][Q^dim][size] at the k-th one
   to out, in the order of k */
#define HOPS_LIMIT_POINTS 3
PETSC_INTERN PetscErrorCode HopsBasisCreateLimit(const HopsBasis *, PetscInt k, HopsBasis *);
PETSC_INTERN PetscErrorCode HopsBasisAddLimit(const HopsBasis *, PetscInt k, PetscInt dim, PetscInt n, PetscInt size,
                                              const PetscScalar v[], PetscScalar out[]);
/* that of P nodes at the rule of another basis */
PETSC_INTERN PetscErrorCode HopsBasisCreateLike(PetscInt P, const HopsBasis *rule, HopsBasis *);
PETSC_INTERN PetscBool      HopsBasisSameRule(const HopsBasis *, const HopsBasis *);
PETSC_INTERN const char    *HopsBasisRuleName(const HopsBasis *);
/* src/basis/rule.c: that of P nodes at a quadrature in dim dimensions, if this is a tensor-product rule that
   hops takes */
PETSC_INTERN PetscErrorCode HopsBasisCreateQuadrature(PetscInt P, PetscInt dim, PetscQuadrature, PetscBool *found, HopsBasis *);
/* refuses the quadrature of a cell (k = 0) or of its faces (1) that is none */
PETSC_INTERN PetscErrorCode HopsSpaceCheckRule(HopsSpace, PetscInt k);
PETSC_INTERN PetscErrorCode HopsBasisDestroy(HopsBasis *);
PETSC_INTERN PetscErrorCode HopsGLL(PetscInt n, PetscReal x[], PetscReal w[]);

/*
  Values of a coefficient at the points of a run of cells: component k at point q of cell c of the run is
  v[c*cstride + q*pstride + k]; strides are 0 where the value does not vary. nc is 0 where the term is absent
  (v is NULL).
*/
typedef struct {
  PetscInt           nc, cstride, pstride;
  const PetscScalar *v;
} HopsValues;

typedef struct _HopsBackendOps   HopsBackendOps;
typedef struct _HopsLORDeviceOps HopsLORDeviceOps;
typedef struct _HopsBoxOps       HopsBoxOps;
typedef struct _HopsBoxKernel   *HopsBoxKernel;
typedef struct _HopsBoxMG       *HopsBoxMG;

/* What the element maps of a space are, from the narrowest kind (HopsSpaceGetMapKind()) */
typedef enum {
  HOPS_MAP_UNKNOWN,
  HOPS_MAP_AFFINE,
  HOPS_MAP_MULTILINEAR, /* bi- or trilinear */
  HOPS_MAP_CURVED
} HopsMapKind;

/*
  P: the entries [nT,nL) of an L-vector from a T-vector, constraints times halo. xg and yg are these entries:
  ghosts, then constrained ones, which without rows of constraints are left alone. With nc components an entry
  is nc scalars.
*/
typedef struct {
  PetscSF   sf;      /* roots: shared[]; leaves: the ghosts in order */
  PetscInt  nshared; /* owned entries that other ranks hold as ghosts, ascending */
  PetscInt *shared;
} HopsHalo;
typedef struct {
  PetscInt   n;     /* rows: ghost or constrained entries as combinations of others */
  PetscInt  *row;   /* [n] L-vector index, nT and above */
  PetscInt  *start; /* [n+1] */
  PetscInt  *col;   /* L-vector indices: owned entries, and ghosts that are no rows */
  PetscReal *value;
} HopsConstraints;
typedef struct _HopsProlong *HopsProlong;

/*
  HopsSpace. Cells are reordered: the first `ninterior` touch owned, unconstrained unknowns only, so they need
  no communication. L-vector entries: [0,nT) owned (T-vector), [nT,nT+nG) ghosts, [nT+nG,nL) constrained.

  Node picture (order 2, 2D), E-vector entries of a cell and reference coordinates (xi,eta) in [-1,1]^2:

     6---7---8      eta
     |   |   |       ^
     3---4---5       |
     |   |   |       +--> xi
     0---1---2
*/
struct _p_HopsSpace {
  PETSCHEADER(int);
  HopsFamily family;
  PetscInt   dim, order;
  PetscInt   ne; /* entries of a cell's E-vector: (order+1)^dim for H1, see HopsLayout for the others */
  PetscInt   ncells, ninterior;
  PetscInt   nT, nG, nC, nL; /* owned, ghost and constrained unknowns, and their sum */
  PetscInt   rstart, N;      /* first owned global index; global size */
  /* [ncells][ne] L-vector index l of each E-vector entry, x fastest; -1-l where the cell sees it with the
     opposite sign (never in H1) */
  int      *restr;
  PetscInt  cstart, ncaller; /* the caller's cells are numbered cstart..cstart+ncaller-1 */
  PetscInt *cell;            /* [ncells] the caller's number of the cell (DMPlex point, or array index) */
  PetscInt  gorder;          /* order of the element maps */
  /* [ncells][dim][(gorder+1)^dim] coordinates at the GLL nodes of order gorder, x fastest */
  PetscReal  *X;
  HopsMapKind mapkind; /* what these maps are, once it was asked for */
  PetscInt   *ghost;   /* [nG] global index of the ghosts */
  HopsHalo    halo;    /* which owned unknowns are ghosts elsewhere */
  HopsProlong hostP;   /* on the host's pointers, and (P) on the back end's */
  /* essential unknowns kept in the T-vector: T index and L index of its constrained twin */
  PetscInt     ness, *essT, *essC;
  PetscScalar *cvals; /* [nC] essential values (zero until set) */
  DM           dm;    /* NULL for raw arrays */
  DMLabel      label; /* of the essential boundary, or NULL; the next two are its values */
  PetscInt     nv, *values;
  HopsSpace    companion[4]; /* of a space from arrays, by family: those that the user gave */
  PetscInt     nquad[2];     /* points of the quadratures of the PetscFE behind the space, in a cell and on a face, or 0 */
  /* the space's basis at these points where they are a tensor-product rule that hops takes, else its P is
     0 */
  HopsBasis             rule[2];
  const HopsBackendOps *backend;
  PetscBool             backendset;                /* by -hops_backend */
  PetscBool             onbackend;                 /* the next two are set (HopsSpaceSetUpBackend()) */
  PetscInt             *bessT;                     /* essT[] where the back end works */
  HopsProlong           P;                         /* the host's, or one of its own; set like bessT */
  PetscBool             halodirect, halodirectset; /* -hops_halo_direct, once it was read */
  int                  *brestr;                    /* restr[] and X[] there, from HopsSpaceGetBackendMesh() on */
  PetscReal            *bX;
};

/*
  Kinds of coefficient are told apart by `evaluate`, out[(c*npts + q)*nc + k], c < n; without it by
  HopsCoefficientIsConstant(): else there is one value a cell.
*/
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
  /* at the tensor-product points x[q][dim] of one face, with outward unit normals and Jacobians; NULL where
     `func` or `values` serve */
  PetscErrorCode (*evaluateface)(HopsCoefficient, HopsSpace, PetscInt cell, PetscInt face, const HopsBasis *, const PetscReal x[],
                                 const PetscReal normal[], const PetscReal J[], PetscScalar out[]);
  PetscErrorCode (*evaluate)(HopsCoefficient, HopsSpace, PetscInt first, PetscInt n, const HopsBasis *, const PetscReal x[],
                             PetscScalar out[]);
};

PETSC_INTERN PetscErrorCode HopsCoefficientCreate_Private(MPI_Comm, PetscInt nc, const char kind[], HopsCoefficient *);

/*
  What kind it is, the same on all ranks: `values` of a rank without cells are NULL unless they are a
  constant's, and `nvcells` is 0 there.
*/
static inline PetscBool HopsCoefficientIsConstant(HopsCoefficient cf)
{
  return cf->values && !cf->nvcells && !cf->evaluate ? PETSC_TRUE : PETSC_FALSE;
}

static inline PetscBool HopsCoefficientIsCell(HopsCoefficient cf)
{
  return !cf->evaluate && !cf->evaluateface && !HopsCoefficientIsConstant(cf) ? PETSC_TRUE : PETSC_FALSE;
}

/*
  Evaluate a coefficient at the tensor-product points of `basis` on cells first..first+n-1. `work` is grown as
  needed and is owned by the caller (PetscFree). NaN and infinity are errors that name the cell.
*/
PETSC_INTERN PetscErrorCode HopsCoefficientEvaluate(HopsCoefficient, HopsSpace, const HopsBasis *, PetscInt first, PetscInt n,
                                                    size_t *worksize, PetscScalar **work, HopsValues *);

/* How many of n cells, of nq points each, have a diffusion with which no form is positive */
PETSC_INTERN PetscInt HopsValuesCountIndefinite(PetscInt dim, PetscInt n, PetscInt nq, const HopsValues *diffusion,
                                                const HopsValues *mass);

/* Physical points x[c][q][dim] and, where J is not NULL, Jacobians J[c][q][i*dim+j] = dx_i/dxi_j on a run of
   cells. */
PETSC_INTERN PetscErrorCode HopsSpaceGetPoints(HopsSpace, const HopsBasis *geom, PetscInt first, PetscInt n, PetscReal x[],
                                               PetscReal J[]);
/* The element map's basis (order gorder) tabulated at the points of `basis`. */
PETSC_INTERN PetscErrorCode HopsSpaceCreateGeometryBasis(HopsSpace, const HopsBasis *basis, HopsBasis *geom);
/*
  Number the unknowns of a space whose cells, sizes and maps are set. elist[c][i], c < ncells, i < ne, holds
  keys in [0,nkeys), or -1-key where the cell sees the unknown with the opposite sign; gidx[key] is the global
  index, or -1 where the unknown is absent from the T-vector; ess[key] (may be NULL) marks unknowns kept in
  the T-vector as identity rows. Reorders the cells: interior ones first. Collective.
*/
PETSC_INTERN PetscErrorCode HopsSpaceCreate_Private(MPI_Comm, PetscInt dim, PetscInt order, HopsSpace *); /* an H1 space */
/* errors where the cells' unknowns or coordinates are too many for a PetscInt */
PETSC_INTERN PetscErrorCode HopsSpaceCheckCounts(HopsSpace);
PETSC_INTERN PetscErrorCode HopsSpaceSetUpNumbering(HopsSpace, PetscInt nkeys, const PetscInt gidx[], const PetscBool ess[],
                                                    const PetscInt elist[]);
PETSC_INTERN PetscErrorCode HopsTensorApply(PetscInt dim, PetscInt m, PetscInt n, const PetscReal *const M[], const PetscReal in[],
                                            PetscReal out[], PetscReal work[]);
PETSC_INTERN void HopsTensorApplyDirection(PetscInt dim, PetscInt d, PetscInt n, const PetscReal M[], const PetscReal in[],
                                           PetscReal out[]);
/* that of a graph whose roots are all owned entries and whose leaves are the ghosts */
PETSC_INTERN PetscErrorCode HopsHaloCreate(PetscSF, HopsHalo *);
PETSC_INTERN PetscErrorCode HopsHaloDestroy(HopsHalo *);
/* on pointers of a back end; entries are PETSC_DOUBLE (PetscScalar) or PETSC_FLOAT, and these of one
   component; constraints may be NULL */
PETSC_INTERN PetscErrorCode HopsProlongCreate(HopsSpace, const HopsBackendOps *, const HopsHalo *, PetscInt nc, PetscDataType,
                                              const HopsConstraints *, HopsProlong *);
PETSC_INTERN PetscErrorCode HopsProlongDestroy(HopsProlong *);
/* xg = P x. Begin packs and sends, End delivers; in between the caller works on interior cells */
PETSC_INTERN PetscErrorCode HopsProlongBegin(HopsProlong, const void *x, void *xg);
PETSC_INTERN PetscErrorCode HopsProlongEnd(HopsProlong, const void *x, void *xg);
/* y += P^T yg; with constraints yg changes */
PETSC_INTERN PetscErrorCode HopsProlongTransposeBegin(HopsProlong, void *yg, void *y);
PETSC_INTERN PetscErrorCode HopsProlongTransposeEnd(HopsProlong, const void *yg, void *y);
/* on the host: ghosts, and constrained entries (cvals, or zero), for the owned entries x[nT]; collective */
PETSC_INTERN PetscErrorCode HopsSpaceGlobalToLocal(HopsSpace, const PetscScalar x[], PetscScalar xg[]);
/* what a back end needs of a space, sp->P with it */
PETSC_INTERN PetscErrorCode HopsSpaceSetUpBackend(HopsSpace);
PETSC_INTERN PetscErrorCode HopsSpaceResetBackend(HopsSpace);
PETSC_INTERN PetscErrorCode HopsSpaceGetBackendMesh(HopsSpace, const int **restr, const PetscReal **X);
PETSC_INTERN PetscErrorCode HopsSpaceErrorCell(HopsSpace, PetscInt c, PetscReal det);

/*
  Operations of a back end, on raw pointers. Cell ranges are [first, first+n). An operation that finds a
  non-positive (or NaN) Jacobian determinant returns the cell in `bad` (else -1) and the determinant in `det`.
*/
typedef struct _HopsPAKernel  *HopsPAKernel;  /* operator data of a back end */
typedef struct _HopsLORKernel *HopsLORKernel; /* LOR data of a back end */

/*
  Forms with full tensors. A side is a field as test or as trial functions, with an L-vector of nc components
  a node; all fields have the same cells and are evaluated at the same points. A pair of components (test,
  trial) of a block has tensors of one kind:

    kind 0   v_test      += q       u_trial         1 entry
    kind 1   v_test      += q_b   d_b u_trial       dim entries
    kind 2   w_test,a    += q_a     u_trial         dim entries
    kind 3   w_test,a    += q_ab  d_b u_trial       dim^2 entries, [a][b]

  where v meets the values and w_a the reference derivatives of the test functions.
*/
typedef struct {
  PetscInt         nc;
  const HopsBasis *basis;
  const int       *restr; /* [ncells][P^dim]; this and l are where the back end works */
  PetscScalar     *l;     /* [nL][nc] */
} HopsTensorSide;

typedef struct {
  int kind, test, trial;
} HopsTensorPair;

typedef struct {
  PetscInt              test, trial;      /* sides */
  PetscInt              npairs, nentries; /* entries at a point of all pairs */
  const HopsTensorPair *pair;             /* [npairs] */
  const PetscScalar    *q;                /* as TensorGetLayout() says */
} HopsTensorData;

/* Batch b holds cells first[b] .. first[b+1] - 1 in its lanes, of which it has W; no batch has cells of two
   parts */
typedef struct {
  PetscInt        W, nb;
  const PetscInt *first;  /* [nb + 1] */
  PetscBool       points; /* tensors are [batch][entry][lane][point], else [batch][point][entry][lane] */
} HopsTensorLayout;

typedef struct _HopsTensorKernel *HopsTensorKernel;
typedef struct _HopsTensorFaces  *HopsTensorFaces; /* its tensors on faces, on a device */

static inline PetscInt HopsTensorEntries(PetscInt dim, PetscInt kind)
{
  return kind == 0 ? 1 : (kind == 3 ? dim * dim : dim);
}

typedef struct _HopsInterpKernel *HopsInterpKernel; /* a map between nested spaces */
typedef struct _HopsFormKernel   *HopsFormKernel;   /* operator data on H(curl), H(div) or L2 */
typedef struct _HopsLumpKernel   *HopsLumpKernel;   /* LOR data there */
typedef struct _HopsQueue        *HopsQueue;        /* copies beside a device's other work */
typedef struct _HopsFaceKernel   *HopsFaceKernel;   /* terms on faces, on a device */
typedef struct _HopsSinglePA     *HopsSinglePA;
typedef struct _HopsSingleInterp *HopsSingleInterp;
typedef enum {
  HOPS_PART_INTERIOR_A, /* first half of the interior cells */
  HOPS_PART_INTERIOR_B, /* second half of the interior cells */
  HOPS_PART_SHARED      /* cells that touch ghosts or constrained unknowns */
} HopsPart;

/*
  A cell's low-order-refined matrix for one mask of coupled direction pairs (bit 0 xy, 1 xz, 2 yz). `value`
  indexes the values at the nodes: [node][nd] of the derivative's tensor, then [node][nm] of the field's
  (upper triangles by rows).
*/
typedef struct {
  PetscInt  entry, value;
  PetscReal a;
} HopsLumpTerm;
typedef struct {
  PetscInt      n, *row, *col; /* [n] entries: E-vector rows and columns */
  PetscInt      nterms;
  HopsLumpTerm *term; /* [nterms] */
} HopsLumpPattern;

/* src/basis/basis.c: the factor of the derivative's term of a low-order-refined matrix */
PETSC_INTERN PetscErrorCode HopsLumpEdgeMass(PetscInt P, PetscReal *h1);
PETSC_INTERN PetscErrorCode HopsSpaceGetMapKind(HopsSpace, HopsMapKind *); /* collective */

typedef struct _HopsPatches     *HopsPatches;     /* patches of a space */
typedef struct _HopsPatchKernel *HopsPatchKernel; /* their data on a back end */
typedef enum {
  HOPS_PATCH_PLAIN,
  HOPS_PATCH_RESTRICT_OUT, /* corrections are kept where no other patch's centre is nearer */
  HOPS_PATCH_RESTRICT_IN   /* its transpose */
} HopsPatchMode;

/* What a cycle in single precision does beside its operators and maps: vectors, the halo, patches (a back end
   may lack it) */
typedef struct {
  PetscErrorCode (*Zero)(PetscInt n, float y[]);                                        /* y[i] = 0 */
  PetscErrorCode (*Demote)(PetscInt n, PetscReal s, const PetscScalar x[], float y[]);  /* y = s x */
  PetscErrorCode (*Promote)(PetscInt n, PetscReal s, const float x[], PetscScalar y[]); /* y = s x */
  /* as HopsBackendOps has it */
  PetscErrorCode (*Combine)(PetscInt n, float a, const float x[], float b, const float y[], float w[]);
  /* w[i] = x[i] y[i] */
  PetscErrorCode (*Times)(PetscInt n, const float x[], const float y[], float w[]);
  /* d = a d + b dinv r, x += d; d is not read where a is 0; dinv may be NULL: 1 */
  PetscErrorCode (*Step)(PetscInt n, float a, float b, const float dinv[], const float r[], float d[], float x[]);
  /* buf[i] = x[idx[i]]; on the queue, or beside the rest where it is NULL */
  PetscErrorCode (*Pack)(HopsQueue, PetscInt n, const PetscInt idx[], const float x[], float buf[]);
  /* y[idx[i]] += buf[i], idx distinct */
  PetscErrorCode (*UnpackAdd)(PetscInt n, const PetscInt idx[], const float buf[], float y[]);
  /* PatchApply() and PatchSweep() of kernels in single precision */
  PetscErrorCode (*PatchApply)(HopsPatchKernel, PetscInt color, HopsPatchMode, const float r[], float z[]);
  PetscErrorCode (*PatchSweep)(HopsPatchKernel, PetscInt color, const float b[], float z[]);
} HopsSingleOps;

struct _HopsBackendOps {
  const char  *name;
  VecType      vectype;   /* the vectors of a space on the back end */
  PetscMemType memtype;   /* of its memory */
  PetscBool    host;      /* the back end reads and writes the process's own memory */
  PetscInt     runpoints; /* set-up takes coefficients at about so many points at a time, and 64 cells at least */
  /* --- memory where the back end works; n counts bytes in the first three, entries in the rest --- */
  PetscErrorCode (*Malloc)(size_t n, void **);
  PetscErrorCode (*Free)(void **);
  /* in: from the process's memory; else to it, complete on return */
  PetscErrorCode (*Copy)(void *dst, const void *src, size_t n, PetscBool in);
  /* y[i] = 0 */
  PetscErrorCode (*Zero)(PetscInt n, PetscScalar y[]);
  /* buf[i] = x[idx[i]], 0 where idx[i] < 0 */
  PetscErrorCode (*Pack)(PetscInt n, const PetscInt idx[], const PetscScalar x[], PetscScalar buf[]);
  /* y[idx[i]] += buf[i] where idx[i] >= 0, idx distinct */
  PetscErrorCode (*UnpackAdd)(PetscInt n, const PetscInt idx[], const PetscScalar buf[], PetscScalar y[]);
  /* y[idx[i]] = x[idx[i]], or 1 where x is NULL */
  PetscErrorCode (*SetEntries)(PetscInt n, const PetscInt idx[], const PetscScalar x[], PetscScalar y[]);
  /* w = a x + b y; y is not read where b is 0; w may be x or y */
  PetscErrorCode (*Combine)(PetscInt n, PetscScalar a, const PetscScalar x[], PetscScalar b, const PetscScalar y[],
                            PetscScalar w[]);
  /* w[i] = x[i] y[i] */
  PetscErrorCode (*Times)(PetscInt n, const PetscScalar x[], const PetscScalar y[], PetscScalar w[]);
  /* --- devices only: copies and packing on a queue beside the back end's other work, from and to memory that
     MallocHost() gives --- */
  PetscErrorCode (*MallocHost)(size_t n, void **);
  PetscErrorCode (*FreeHost)(void **);
  PetscErrorCode (*QueueCreate)(HopsQueue *);
  PetscErrorCode (*QueueDestroy)(HopsQueue *);
  PetscErrorCode (*QueueFork)(HopsQueue);   /* what follows on the queue waits for the work so far outside it */
  PetscErrorCode (*QueueJoin)(HopsQueue);   /* what follows outside waits for the queue's work so far */
  PetscErrorCode (*QueueFinish)(HopsQueue); /* the process waits for the queue's work so far */
  PetscErrorCode (*QueueCopy)(HopsQueue, void *dst, const void *src, size_t n, PetscBool in);
  PetscErrorCode (*QueuePack)(HopsQueue, PetscInt n, const PetscInt idx[], const PetscScalar x[], PetscScalar buf[]);
  /* --- devices only: B^T D B on n faces of dimension fd: restr[n][P^fd] L-vector indices, qdata[n][Q^fd]
     (both the process's); diagonal: its diagonal is added, x unused --- */
  PetscErrorCode (*FaceCreate)(PetscInt fd, const HopsBasis *, PetscInt nT, PetscInt n, const int restr[],
                               const PetscScalar qdata[], HopsFaceKernel *);
  PetscErrorCode (*FaceApply)(HopsFaceKernel, PetscBool diagonal, const PetscScalar x[], const PetscScalar xg[], PetscScalar y[],
                              PetscScalar yg[]);
  PetscErrorCode (*FaceDestroy)(HopsFaceKernel *);
  /* --- partial assembly ---
     Quadrature data per point: diffusion w detJ J^-1 kappa J^-T (symmetric, 3 or 6 values), mass w detJ c (1
     value). */
  PetscErrorCode (*PACreate)(HopsSpace, const HopsBasis *, PetscBool diffusion, PetscBool mass, HopsPAKernel *);
  /* fill the quadrature data of cells first..first+n-1 (in any order of runs; each run within one HopsPart
     class) */
  PetscErrorCode (*PASetUp)(HopsPAKernel, PetscInt first, PetscInt n, const HopsValues *kappa, const HopsValues *mass,
                            PetscInt *bad, PetscReal *det);
  /* instead: kernels that recompute the geometry of affine or multilinear cells from their corners, with
     coefficients that are constant in a cell (pstride 0), for all cells. NULL where the back end has none;
     needs a specialised kernel (PAGetInfo) */
  PetscErrorCode (*PASetUpCells)(HopsPAKernel, HopsMapKind, const HopsValues *kappa, const HopsValues *mass, PetscInt *bad,
                                 PetscReal *det);
  /* the widest kind of map of n cells, X[n][dim][g^dim] in the back end's memory, nodes s[g] in [0,1] in the
     process's; NULL: the caller looks itself */
  PetscErrorCode (*MapKind)(PetscInt n, PetscInt dim, PetscInt g, const PetscReal s[], const PetscReal X[], HopsMapKind *);
  /* y += A x on a part; x,y are T-vectors [nT], xg,yg hold L-vector entries [nT,nL) (ghosts, constrained) */
  PetscErrorCode (*PAApply)(HopsPAKernel, HopsPart, const PetscScalar x[], const PetscScalar xg[], PetscScalar y[],
                            PetscScalar yg[]);
  /* d += diag(A) on all cells */
  PetscErrorCode (*PADiagonal)(HopsPAKernel, PetscScalar d[], PetscScalar dg[]);
  /* name of the kernel that runs ("avx512 P=7 Q=8", "avx512 generic"), whether it is specialised, bytes held,
     flops of a full apply */
  PetscErrorCode (*PAGetInfo)(HopsPAKernel, const char **kernel, PetscBool *specialised, PetscLogDouble *bytes,
                              PetscLogDouble *flops);
  PetscErrorCode (*PADestroy)(HopsPAKernel *);
  /* --- low-order-refined matrix, vertex quadrature at the GLL nodes: the corners of sub-cells around a node
     share its GLL weight in proportion to their volumes --- Couplings: for each cell a mask of the direction
     pairs whose off-diagonal geometry factor is not negligible: bit 0 xy, bit 1 xz, bit 2 yz; negligible is
     |G_ab| <= tol sqrt(G_aa G_bb) at every node. Entries of a node v = (i,j,k), in this order (see
     HopsLOREntry): the diagonal; for each direction a the pair (v,v+e_a), (v+e_a,v); for each coupled pair ab
     the anti-diagonal (v+e_a,v+e_b), (v+e_b,v+e_a) and the main diagonal (v,v+e_a+e_b), (v+e_a+e_b,v). */
  PetscErrorCode (*LORCreate)(HopsSpace, const HopsBasis *gll, HopsLORKernel *);
  PetscErrorCode (*LORCouplings)(HopsLORKernel, PetscInt first, PetscInt n, const HopsValues *kappa, PetscReal tol,
                                 unsigned char mask[], PetscInt *bad, PetscReal *det);
  /* hand over positions: pos[c] points to [(order+1)^dim][nentries(mask[c])] positions in the value array
     (trash included) */
  PetscErrorCode (*LORSetPositions)(HopsLORKernel, const unsigned char mask[], const PetscInt start[], const int pos[]);
  /* vals[pos] += element matrices of cells first..first+n-1; kappa or mass absent where nc = 0 */
  PetscErrorCode (*LORFill)(HopsLORKernel, PetscInt first, PetscInt n, const HopsValues *kappa, const HopsValues *mass,
                            PetscScalar vals[], PetscInt *bad, PetscReal *det);
  PetscErrorCode (*LORGetInfo)(HopsLORKernel, const char **kernel, PetscLogDouble *bytes);
  PetscErrorCode (*LORDestroy)(HopsLORKernel *);
  /* --- forms with full tensors; NULL on a back end that has none --- */
  /* cells of the space; the sides are copied, what they point to is not. W is 0, or the lanes of another
     kernel for the same cells and points, with these fields and perhaps more, whose tensors are to be shared
     */
  PetscErrorCode (*TensorCreate)(HopsSpace, PetscInt Q, PetscInt W, PetscInt ntest, const HopsTensorSide test[], PetscInt ntrial,
                                 const HopsTensorSide trial[], HopsTensorKernel *);
  PetscErrorCode (*TensorGetLayout)(HopsTensorKernel, HopsTensorLayout *);
  /* the blocks, which the caller keeps, with tensors where the back end works; again where a block has new
     pairs or other memory */
  PetscErrorCode (*TensorSetBlocks)(HopsTensorKernel, PetscInt nblocks, const HopsTensorData[]);
  /* L-vectors of the test side += the form on those of the trial side, on a part of the cells; transposed,
     the sides change places */
  PetscErrorCode (*TensorApply)(HopsTensorKernel, HopsPart, PetscBool transpose);
  /* L-vectors of the test side += the diagonal of blocks with test == trial */
  PetscErrorCode (*TensorDiagonal)(HopsTensorKernel);
  PetscErrorCode (*TensorGetInfo)(HopsTensorKernel, const char **kernel, PetscBool *specialised, PetscLogDouble *flops);
  PetscErrorCode (*TensorDestroy)(HopsTensorKernel *);
  /* devices only: the same on n faces (HopsFaceBasis numbers them) of cells. The block's q is
     [face][entry][point] in the process's memory, with the derivative along the normal before those along the
     face; the bases of the kernel have the faces' points */
  PetscErrorCode (*TensorFacesCreate)(HopsTensorKernel, PetscInt n, const PetscInt cells[], const PetscInt faces[],
                                      const HopsTensorData *, HopsTensorFaces *);
  PetscErrorCode (*TensorFacesApply)(HopsTensorFaces, PetscBool transpose);
  PetscErrorCode (*TensorFacesDiagonal)(HopsTensorFaces);
  PetscErrorCode (*TensorFacesDestroy)(HopsTensorFaces *);
  /* --- tensor-product maps between nested spaces (may be absent) ---
     nmacro macro cells, interior ones (sources owned) first: source[c][N^dim] L-vector indices of the space
     `from`, target[c][M^dim] T-vector indices of the other space or -1, each index once; the matrix A[M][N],
     A[M-1-m][N-1-n] = A[m][n], acts in every direction */
  PetscErrorCode (*InterpCreate)(HopsSpace from, PetscInt nmacro, PetscInt ninterior, PetscInt N, const int source[], PetscInt M,
                                 const int target[], const PetscReal A[], HopsInterpKernel *);
  /* y[target] = (add: +=) (A x A x A) x[source] on interior or on the other macro cells */
  PetscErrorCode (*InterpApply)(HopsInterpKernel, PetscBool interior, const PetscScalar x[], const PetscScalar xg[],
                                PetscScalar y[], PetscBool add);
  /* x[source] += (A x A x A)^T y[target] */
  PetscErrorCode (*InterpApplyTranspose)(HopsInterpKernel, PetscBool interior, const PetscScalar y[], PetscScalar x[],
                                         PetscScalar xg[]);
  PetscErrorCode (*InterpDestroy)(HopsInterpKernel *);
  /* --- H(curl), H(div), L2: int mu du dv + int beta u v, d the curl or the divergence; NULL where a back end
     has them not --- Quadrature data per point, J = dx/dxi: of u in H(curl) w detJ J^-1 beta J^-T, in H(div)
     (w/detJ) J^T beta J (symmetric, 3 or 6 values), in L2 (w/detJ) beta (1 value); of du likewise, in its own
     space. */
  PetscErrorCode (*FormCreate)(HopsSpace, const HopsBasis *, PetscBool deriv, PetscBool mass, HopsFormKernel *);
  PetscErrorCode (*FormSetUp)(HopsFormKernel, PetscInt first, PetscInt n, const HopsValues *mu, const HopsValues *beta,
                              PetscInt *bad, PetscReal *det);
  PetscErrorCode (*FormApply)(HopsFormKernel, HopsPart, const PetscScalar x[], const PetscScalar xg[], PetscScalar y[],
                              PetscScalar yg[]);
  PetscErrorCode (*FormDiagonal)(HopsFormKernel, PetscScalar d[], PetscScalar dg[]);
  PetscErrorCode (*FormGetInfo)(HopsFormKernel, const char **kernel, PetscBool *specialised, PetscLogDouble *bytes,
                                PetscLogDouble *flops);
  PetscErrorCode (*FormDestroy)(HopsFormKernel *);
  /* LOR with vertex quadrature: values of the same tensors (weight 1) at the GLL nodes, and a list of terms
     of the cell's matrix: loc[term.entry] += term.a * value[term.value], see HopsLumpPattern; vals[pos[e]] +=
     loc[e], or vals[-1 - pos[e]] -= loc[e] */
  PetscErrorCode (*LumpCreate)(HopsSpace, const HopsBasis *gll, PetscBool deriv, PetscBool mass, HopsLumpKernel *);
  PetscErrorCode (*LumpCouplings)(HopsLumpKernel, PetscInt first, PetscInt n, const HopsValues *mu, const HopsValues *beta,
                                  PetscReal tol, unsigned char mask[], PetscInt *bad, PetscReal *det);
  PetscErrorCode (*LumpSetPositions)(HopsLumpKernel, const HopsLumpPattern pattern[8], const unsigned char mask[],
                                     const PetscInt start[], const int pos[]);
  PetscErrorCode (*LumpFill)(HopsLumpKernel, PetscInt first, PetscInt n, const HopsValues *mu, const HopsValues *beta,
                             PetscScalar vals[], PetscInt *bad, PetscReal *det);
  PetscErrorCode (*LumpGetInfo)(HopsLumpKernel, const char **kernel, PetscLogDouble *bytes);
  PetscErrorCode (*LumpDestroy)(HopsLumpKernel *);
  const HopsLORDeviceOps *lordevice; /* in place of LORCouplings() to LORFill(): rows are assembled where the back end works */
  const HopsBoxOps       *box;       /* uniform boxes; NULL where the back end has none */
  /* --- patches (hopspatchimpl.h); NULL where the back end has none ---
     z += sum over the patches of a colour (all of them where it is negative) of R^T (local inverse) R r on
     P-vectors */
  PetscErrorCode (*PatchCreate)(HopsPatches, PetscBool single, HopsPatchKernel *);
  PetscErrorCode (*PatchApply)(HopsPatchKernel, PetscInt color, HopsPatchMode, const PetscScalar r[], PetscScalar z[]);
  /* fused sweep of a color whose patches are exact: z += R^T (local inverse) R (b - A z) */
  PetscErrorCode (*PatchSweep)(HopsPatchKernel, PetscInt color, const PetscScalar b[], PetscScalar z[]);
  PetscErrorCode (*PatchGetInfo)(HopsPatchKernel, const char **kernel, PetscLogDouble *bytes, PetscLogDouble *flops);
  PetscErrorCode (*PatchDestroy)(HopsPatchKernel *);
  /* --- copies in single precision of an operator and of a map, on raw arrays (may be absent) --- */
  PetscErrorCode (*SinglePACreate)(HopsPAKernel, HopsSinglePA *);
  PetscErrorCode (*SinglePAApply)(HopsSinglePA, HopsPart, const float x[], const float xg[], float y[], float yg[]);
  PetscErrorCode (*SinglePADestroy)(HopsSinglePA *);
  PetscErrorCode (*SingleInterpCreate)(HopsInterpKernel, HopsSingleInterp *);
  PetscErrorCode (*SingleInterpApply)(HopsSingleInterp, PetscBool interior, const float x[], const float xg[], float y[],
                                      PetscBool add);
  PetscErrorCode (*SingleInterpApplyTranspose)(HopsSingleInterp, PetscBool interior, const float y[], float x[], float xg[]);
  PetscErrorCode (*SingleInterpDestroy)(HopsSingleInterp *);
  const HopsSingleOps *single;
};

PETSC_INTERN PetscErrorCode HopsBackendGet(const char name[], const HopsBackendOps **);
/* that of the DM's vectors, unless -hops_backend chose */
PETSC_INTERN PetscErrorCode HopsSpaceSetBackendFromDM(HopsSpace, DM);
/* T-vector in the back end's memory, which stays the caller's */
PETSC_INTERN PetscErrorCode       HopsSpaceCreateVecWithArray(HopsSpace, const PetscScalar a[], Vec *);
PETSC_INTERN const HopsBackendOps HopsBackendHost;
#if defined(PETSC_HAVE_CUDA)
PETSC_INTERN const HopsBackendOps HopsBackendCUDA;
PETSC_INTERN PetscBool            HopsCudaPresent(void); /* this machine has a device and its driver */
#endif

PETSC_INTERN PetscErrorCode HopsViewVersion(PetscViewer);
/* Refuses a setter of a PC that has no type yet, which would be forgotten; a PC of another type, which the
   user chose, ignores it */
PETSC_INTERN PetscErrorCode HopsPCCheckSetter(PC, const char setter[], PCType);

/* Classes and log events */
typedef struct {
  PetscLogEvent space, pasetup, pamult, padiag, paassemble, lorsymbolic, lornumeric, lorcoef, lorauxiliary, lorsolver, residual,
    interp, mgsetup, patchsetup, patchsolve, boxmult, boxsetup, boxcycle;
} HopsEvents;
PETSC_INTERN HopsEvents     HopsEvent;
PETSC_INTERN PetscErrorCode MatCreate_PA(Mat);
PETSC_INTERN PetscErrorCode PCCreate_LOR(PC);
PETSC_INTERN PetscErrorCode PCCreate_PATCHFD(PC);
