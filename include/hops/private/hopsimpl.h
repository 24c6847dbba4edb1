/* Data shared by the parts of hops: the space, coefficients, classes and events. */
#pragma once
#include <hops/private/hopsbackendimpl.h>

/*
  P: the entries [nT,nL) of an L-vector from a T-vector, constraints times halo. xg and yg are these entries:
  ghosts, then constrained ones, which without rows of constraints are left alone. With nc components an entry
  is nc scalars.
*/
typedef struct {
  PetscMPIInt  n;
  PetscMPIInt *rank;  /* [n]; of a graph's halo they ascend */
  PetscInt    *start; /* [n+1] */
  PetscInt    *entry; /* [start[n]] those of rank[k] from start[k] on */
} HopsNeighbors;
typedef struct {
  PetscInt      nshared; /* owned entries that other ranks hold as ghosts, ascending */
  PetscInt     *shared;
  HopsNeighbors owners;  /* entry: ghosts, in the order in which their owner knows them, */
  PetscInt     *place;   /* and where they are among the owner's shared entries */
  HopsNeighbors holders; /* entry: places in shared[] of what each of them holds */
  PetscSF       sf;      /* roots: shared[]; leaves: the ghosts in order. It is set up when it is first used */
} HopsHalo;
typedef enum {
  HOPS_HALO_STAGED, /* page-locked memory and messages */
  HOPS_HALO_SHARED, /* memory that the ranks of a host share */
  HOPS_HALO_DIRECT  /* PetscSF on the back end's memory */
} HopsHaloMode;     /* -hops_halo */
typedef struct {
  PetscInt   n;     /* rows: ghost or constrained entries as combinations of others */
  PetscInt  *row;   /* [n] L-vector index, nT and above */
  PetscInt  *start; /* [n+1] */
  PetscInt  *col;   /* L-vector indices: owned entries, and ghosts that are no rows */
  PetscReal *value;
} HopsConstraints;
typedef struct _HopsProlong     *HopsProlong;
typedef struct _n_HopsPlexCells *HopsPlexCells;

typedef struct _HopsPointFunction *HopsPointFunctionList; /* src/point/pointfunction.c */
typedef struct {
  void  *ctx;
  size_t size;
} HopsDeviceContext;

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
  int *restr;
  /* are there cells with hanging nodes, on any rank? Then hang[ncells] are their masks (hopshanging.h), and
     restr has the parents' nodes there. Unknowns that cells of this rank see in such places alone are the
     L-vector indices absent[nabsent], at xabsent[nabsent][dim] */
  PetscBool       hanging;
  unsigned short *hang;
  PetscBool       repair; /* maps of cells are changed where hanging nodes leave gaps: -hops_repair_geometry */
  PetscInt        nabsent, *absent;
  PetscReal      *xabsent;
  PetscInt        cstart, ncaller; /* the caller's cells are numbered cstart..cstart+ncaller-1 */
  PetscInt       *cell;            /* [ncells] the caller's number of the cell (DMPlex point, or array index) */
  PetscInt        gorder;          /* order of the element maps */
  /* [ncells][dim][(gorder+1)^dim] coordinates at the GLL nodes of order gorder, x fastest */
  PetscReal  *X;
  HopsMapKind mapkind; /* what these maps are, once it was asked for */
  PetscInt   *ghost;   /* [nG] global index of the ghosts */
  HopsHalo    halo;    /* which owned unknowns are ghosts elsewhere */
  HopsProlong hostP;   /* on the host's pointers, and (P) on the back end's */
  /* essential unknowns kept in the T-vector: T index and L index of its constrained twin */
  PetscInt   ness, *essT, *essC;
  PetscReal *cvals; /* [HOPS_PARTS][nC] essential values (zero until set) */
  /* [nC] global index of constrained entries, where T-vectors keep them (spaces from arrays), else NULL */
  PetscInt *cglobal;
  /* How the caller of a space from arrays lists a cell: [ne] the place of its i-th node in the lattice,
     NULL for the same; whether its first two directions are exchanged there, as the caller's lattices are
     left-handed */
  PetscInt     *place;
  PetscBool     turned;
  PetscSF       elementsf; /* roots: owned entries; leaves: all others (elements.c), from its first use on */
  DM            dm;        /* NULL for raw arrays */
  HopsPlexCells cells;     /* of the DM, with their closures */
  DMLabel       label;     /* of the essential boundary, or NULL; the next two are its values */
  PetscInt      nv, *values;
  PetscInt      nfixed, *fixed; /* essential points, where the numbering is hops' own, else NULL */
  PetscBool     hassection;     /* the DM has the section of that numbering (HopsSpaceGetDM()) */
  HopsSpace     companion[4];   /* of a space from arrays, by family: those that the user gave */
  PetscInt      nquad[2];       /* points of the quadratures of the PetscFE behind the space, in a cell and on a face, or 0 */
  /* the space's basis at these points where they are a tensor-product rule that hops takes, else its P is
     0 */
  HopsBasis             rule[2];
  const HopsBackendOps *backend;
  PetscBool             backendset; /* by -hops_backend */
  PetscBool             onbackend;  /* the next two are set (HopsSpaceSetUpBackend()) */
  PetscInt             *bessT;      /* essT[] where the back end works */
  HopsProlong           P;          /* the host's, or one of its own; set like bessT */
  HopsHaloMode          halomode;   /* -hops_halo, once it was read, and whether it was given */
  PetscBool             haloasked, halogiven;
  HopsHung              hung;   /* NULL where kernels know hanging nodes, or there are none */
  int                  *brestr; /* restr[] and X[] there, from HopsSpaceGetBackendMesh() on */
  PetscReal            *bX;
  HopsPointFunctionList compiled;  /* functions of position on back ends */
  PetscInt              ncontexts; /* those of their contexts that a device may have */
  HopsDeviceContext    *context;
  PetscBool             kokkosvecs; /* vectors are PETSc's of Kokkos, in the back end's memory: as the DM's are */
  HopsHung              tensorhung; /* of full tensors and facets, whose kernels do not know hanging nodes where others do */
  HopsSpace             mesh;       /* of a lower order: the space whose cells, by their numbers, it has; else NULL */
  /* HopsSpaceSetCoarse(): the space below, and of each of the caller's cells [ncaller] the cell in which it
     lies, among those of all ranks, and which child of it it is; -1: the same */
  HopsSpace coarse;
  PetscInt *coarsecell, *coarsechild;
};

/* Entries of an L-vector of the back end that are not owned: ghosts, constrained ones, and what cells have of
   their own where nodes hang */
static inline PetscInt HopsSpaceNumOthers(HopsSpace sp)
{
  return sp->nL - sp->nT + (sp->hung ? sp->hung->n : 0);
}

/* Memory of values, the process's and a back end's, which grows as needed; zero it before, and free it
   after */
typedef struct {
  size_t                size, bsize;
  PetscReal            *v, *bv;
  const HopsBackendOps *backend;
} HopsValuesWork;

/*
  Kinds of coefficient are told apart by `evaluate`, out[(c*npts + q)*nc + k], c < n; without it by
  HopsCoefficientIsConstant(): else there is one value a cell.
*/
struct _p_HopsCoefficient {
  PETSCHEADER(int);
  PetscInt          nc;
  const char       *kind;    /* "constant", "cell", ... */
  PetscReal        *values;  /* constant: [nc]; cell: [ncells][nc]; quadrature, nodal: [ncells][q_1d^dim][nc] */
  PetscInt          q_1d;    /* quadrature: points per direction; nodal: order + 1 */
  PetscInt          nvcells; /* cell, quadrature, nodal: number of cells of `values` */
  PetscBool         needsx;  /* evaluate() wants the physical points */
  HopsPointFunction func;
  void             *ctx;
  size_t            ctxsize; /* bytes that may be copied to a device */
  PetscErrorCode (*destroyctx)(void *);
  HopsPointFunctionList compiled; /* `func` on back ends: src/point/pointfunction.c */
  /* at the tensor-product points x[q][dim] of one face, with outward unit normals and Jacobians; NULL where
     `func` or `values` serve */
  PetscErrorCode (*evaluateface)(HopsCoefficient, HopsSpace, PetscInt cell, PetscInt face, const HopsBasis *, const PetscReal x[],
                                 const PetscReal normal[], const PetscReal J[], PetscReal out[]);
  PetscErrorCode (*evaluate)(HopsCoefficient, HopsSpace, PetscInt first, PetscInt n, const HopsBasis *, const PetscReal x[],
                             PetscReal out[]);
  /* may be NULL: checked values where the space's back end works, one a cell where they do not vary inside of
     any; or not done: only evaluate() can tell */
  PetscErrorCode (*evaluateon)(HopsCoefficient, HopsSpace, PetscInt first, PetscInt n, const HopsBasis *, HopsValuesWork *,
                               HopsValues *, PetscBool *done);
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
                                                    size_t *worksize, PetscReal **work, HopsValues *);
/* The same for a reader on a back end: values that are made in its memory stay there, and others are the
   process's */
PETSC_INTERN PetscErrorCode HopsCoefficientEvaluateOn(HopsCoefficient, HopsSpace, const HopsBackendOps *, const HopsBasis *,
                                                      PetscInt first, PetscInt n, HopsValuesWork *, HopsValues *);
/* n of the back end's numbers in w->bv */
PETSC_INTERN PetscErrorCode HopsValuesReserve(HopsValuesWork *w, const HopsBackendOps *, size_t n);
/* values of n cells that lie in w->bv become the process's, in w->v */
PETSC_INTERN PetscErrorCode HopsValuesBring(HopsValuesWork *w, PetscInt n, HopsValues *);
PETSC_INTERN PetscErrorCode HopsValuesWorkFree(HopsValuesWork *);

/* How many of n cells, of nq points each, a test finds, where the values lie; k is the derivative's
   coefficient or, of a test of one alone, any; m that of the field, or NULL */
PETSC_INTERN PetscErrorCode HopsValuesCount(const HopsBackendOps *, HopsValuesTest, PetscInt dim, PetscInt n, PetscInt nq,
                                            const HopsValues *k, const HopsValues *m, PetscInt *count);

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
PETSC_INTERN PetscErrorCode HopsSpaceSetSection(HopsSpace);        /* hops' own numbering as the local section of its DM */
PETSC_INTERN PetscErrorCode HopsPlexCellsDestroy(HopsPlexCells *); /* drops a reference */
/* errors where the cells' unknowns or coordinates are too many for a PetscInt */
PETSC_INTERN PetscErrorCode HopsSpaceCheckCounts(HopsSpace);
/* with ghost[nG], and nC constrained entries, of a space whose cells are in their order; collective */
PETSC_INTERN PetscErrorCode HopsSpaceSetUpEntries(HopsSpace);
PETSC_INTERN PetscErrorCode HopsSpaceSetUpNumbering(HopsSpace, PetscInt nkeys, const PetscInt gidx[], const unsigned char ess[],
                                                    const int elist[]);
/* src/space/arrays/arrayessential.c: a space from arrays with essential unknowns, ess[nT]; collective */
PETSC_INTERN PetscErrorCode HopsSpaceCreateEssential_Private(HopsSpace, const PetscBool ess[], HopsSpace *);
/* src/space/halo.c: that of a graph whose roots are all owned entries and whose leaves are the ghosts, which
   need not be set up */
PETSC_INTERN PetscErrorCode HopsHaloCreate(PetscSF, HopsHalo *);
/* the rest of a halo that has its owners, and holders with the nT owned entries that they hold as entry[] */
PETSC_INTERN PetscErrorCode HopsHaloFinish(MPI_Comm, PetscMPIInt tag, PetscInt nT, HopsHalo *);
PETSC_INTERN PetscErrorCode HopsHaloDestroy(HopsHalo *);
/* n neighbours with room for start[n] entries */
PETSC_INTERN PetscErrorCode HopsNeighborsCreate(PetscMPIInt n, const PetscMPIInt rank[], const PetscInt count[], HopsNeighbors *);
/* of items that are to go to ranks: entry[] are the items, by their ranks in their order */
PETSC_INTERN PetscErrorCode HopsNeighborsCreateByRank(MPI_Comm, PetscInt n, const PetscInt to[], HopsNeighbors *);
/* the ranks that have this one as a neighbour, ascending, with room for as many entries as they have for it;
   collective */
PETSC_INTERN PetscErrorCode HopsNeighborsCreateOpposite(MPI_Comm, const HopsNeighbors *, HopsNeighbors *opposite);
PETSC_INTERN PetscErrorCode HopsNeighborsDestroy(HopsNeighbors *);
/* a message to each of some neighbours, from each of others: out[tostart[k]..], in[fromstart[k]..] in units
   of `size` bytes */
PETSC_INTERN PetscErrorCode HopsNeighborsSend(MPI_Comm, PetscMPIInt tag, const HopsNeighbors *to, const PetscInt tostart[],
                                              const HopsNeighbors *from, const PetscInt fromstart[], MPI_Datatype, size_t size,
                                              const void *out, void *in);
/* on pointers of a back end; entries are PETSC_DOUBLE (PetscReal) or PETSC_FLOAT, and these of one
   component; constraints may be NULL */
PETSC_INTERN PetscErrorCode HopsProlongCreate(HopsSpace, const HopsBackendOps *, const HopsHalo *, PetscInt nc, PetscDataType,
                                              const HopsConstraints *, HopsProlong *);
PETSC_INTERN PetscErrorCode HopsProlongDestroy(HopsProlong *);
/* may its exchanges be recorded, see HopsMemoryOps? */
PETSC_INTERN PetscBool HopsProlongCanRecord(HopsProlong);
/* it makes these entries of cells after the ghosts, for which xg and yg have room */
PETSC_INTERN void HopsProlongSetHung(HopsProlong, HopsHung);
/* xg = P x. Begin packs and sends, End delivers; in between the caller works on interior cells */
PETSC_INTERN PetscErrorCode HopsProlongBegin(HopsProlong, const void *x, void *xg);
PETSC_INTERN PetscErrorCode HopsProlongEnd(HopsProlong, const void *x, void *xg);
/* y += P^T yg; with constraints yg changes */
PETSC_INTERN PetscErrorCode HopsProlongTransposeBegin(HopsProlong, void *yg, void *y);
PETSC_INTERN PetscErrorCode HopsProlongTransposeEnd(HopsProlong, void *yg, void *y);
/* on the host: ghosts, and constrained entries (cvals, or zero), for the owned entries x[nT]; collective */
PETSC_INTERN PetscErrorCode HopsSpaceGlobalToLocal(HopsSpace, PetscInt part, const PetscReal x[], PetscReal xg[]);
/* what a back end needs of a space, sp->P with it */
PETSC_INTERN PetscErrorCode HopsSpaceSetUpBackend(HopsSpace);
PETSC_INTERN PetscErrorCode HopsSpaceResetBackend(HopsSpace);
/* src/space/prolong.c: of full tensors and facets, NULL where no nodes hang; the space's own */
PETSC_INTERN PetscErrorCode HopsSpaceGetHung(HopsSpace, HopsHung *);
PETSC_INTERN PetscErrorCode HopsSpaceAddEssential(HopsSpace, PetscDataType, const void *x, void *buf, void *y);
PETSC_INTERN PetscErrorCode HopsSpaceGetBackendMesh(HopsSpace, const int **restr, const PetscReal **X);
/* the same for kernels that get xg and yg with HopsSpaceNumOthers() entries */
PETSC_INTERN PetscErrorCode HopsSpaceGetBackendCells(HopsSpace, const int **restr, const PetscReal **X);
/* restr[] and X[] are in the process's memory; to be called before they are read there, since a back end that
   set up the space may be the only one to have them */
PETSC_INTERN PetscErrorCode HopsSpaceBringMesh(HopsSpace);
PETSC_INTERN size_t         HopsSpaceGetDeviceContext(HopsSpace, const void *ctx); /* 0: it stays in the process's memory */
PETSC_INTERN PetscErrorCode HopsSpaceBringCoordinates(HopsSpace);                  /* X[] alone */
/* the same as BringMesh(), and the back end has them no longer: they are to change */
PETSC_INTERN PetscErrorCode HopsSpaceTakeMesh(HopsSpace);
/* the coordinates become the process's X[], which is new */
PETSC_INTERN PetscErrorCode HopsSpaceReplaceCoordinates(HopsSpace, PetscInt gorder, PetscReal X[]);
/* the other space's back end and vectors, before anything but the mesh is on the space's back end */
PETSC_INTERN PetscErrorCode HopsSpaceSetBackend(HopsSpace, HopsSpace);
PETSC_INTERN VecType        HopsSpaceVecType(HopsSpace);
/* set to zero, and without memory where it is not used; and those that a Mat is to be multiplied with */
PETSC_INTERN PetscErrorCode HopsVecCreate(MPI_Comm, PetscInt bs, PetscInt n, PetscInt N, VecType, Vec *);
PETSC_INTERN PetscErrorCode HopsMatCreateVecs(Mat, Vec *right, Vec *left);
PETSC_INTERN PetscErrorCode HopsSpaceErrorCell(HopsSpace, PetscInt c, PetscReal det);
/* refuses the quadrature of a cell (k = 0) or of its faces (1) that is none */
PETSC_INTERN PetscErrorCode HopsSpaceCheckRule(HopsSpace, PetscInt k);
PETSC_INTERN PetscErrorCode HopsSpaceGetMapKind(HopsSpace, HopsMapKind *); /* collective */

/* that of the DM's vectors, unless -hops_backend chose */
PETSC_INTERN PetscErrorCode HopsSpaceSetBackendFromDM(HopsSpace, DM);
/* vectors of Kokkos go with no others: those of a space from arrays become so where the operator's are */
PETSC_INTERN PetscErrorCode HopsSpaceSetVecTypeFromMat(HopsSpace, Mat);
/* src/space/vecarray.c: the array of a T-vector where the back end works; a device refuses a vector of the
   host */
typedef enum {
  HOPS_VEC_READ,
  HOPS_VEC_WRITE,
  HOPS_VEC_READ_WRITE
} HopsVecAccess;
PETSC_INTERN PetscErrorCode HopsVecGetArray(HopsSpace, Vec, HopsVecAccess, PetscReal **); /* refuses complex scalars */
PETSC_INTERN PetscErrorCode HopsVecRestoreArray(HopsSpace, Vec, HopsVecAccess, PetscReal **);
/* the same of one part; real scalars have one, the array itself, complex ones two, which are copies */
#if defined(PETSC_USE_COMPLEX)
PETSC_INTERN PetscErrorCode HopsVecGetPart(HopsSpace, Vec, PetscInt part, HopsVecAccess, PetscReal **);
PETSC_INTERN PetscErrorCode HopsVecRestorePart(HopsSpace, Vec, PetscInt part, HopsVecAccess, PetscReal **);
#else
  #define HopsVecGetPart(sp, v, part, access, a)     HopsVecGetArray(sp, v, access, a)
  #define HopsVecRestorePart(sp, v, part, access, a) HopsVecRestoreArray(sp, v, access, a)
#endif
#define HopsVecGetPartRead(sp, v, part, a)     HopsVecGetPart(sp, v, part, HOPS_VEC_READ, (PetscReal **)(a))
#define HopsVecRestorePartRead(sp, v, part, a) HopsVecRestorePart(sp, v, part, HOPS_VEC_READ, (PetscReal **)(a))
/* the same of any vector in the process's memory */
PETSC_INTERN PetscErrorCode HopsHostVecGetPart(Vec, PetscInt part, HopsVecAccess, PetscReal **);
PETSC_INTERN PetscErrorCode HopsHostVecRestorePart(Vec, PetscInt part, HopsVecAccess, PetscReal **);
#define HopsHostVecGetPartRead(v, part, a)     HopsHostVecGetPart(v, part, HOPS_VEC_READ, (PetscReal **)(a))
#define HopsHostVecRestorePartRead(v, part, a) HopsHostVecRestorePart(v, part, HOPS_VEC_READ, (PetscReal **)(a))
/* real[n] of what must be real, to rounding; `what` begins the error */
PETSC_INTERN PetscErrorCode HopsTakeReal(PetscInt n, const PetscScalar v[], PetscReal real[], const char what[]);
/* MatSetValues() of real values */
#if defined(PETSC_USE_COMPLEX)
PETSC_INTERN PetscErrorCode HopsMatSetReal(Mat, PetscInt m, const PetscInt[], PetscInt n, const PetscInt[], const PetscReal[],
                                           InsertMode);
#else
  #define HopsMatSetReal MatSetValues
#endif

/* A part of a user's function. Its values of one part come from HopsPartFunction(), called with
   HopsPartContext(): of real scalars these are the user's own */
typedef PetscErrorCode (*HopsRealFunction)(PetscInt dim, const PetscReal x[], PetscInt nc, PetscReal u[], void *ctx);
typedef struct {
  HopsPointFunction f;
  void             *ctx;
  PetscInt          part;
} HopsFunctionPart;
#if defined(PETSC_USE_COMPLEX)
PETSC_INTERN PetscErrorCode HopsEvaluatePart(PetscInt, const PetscReal[], PetscInt, PetscReal[], void *);
PETSC_INTERN PetscErrorCode HopsEvaluateReal(HopsPointFunction, PetscInt, const PetscReal[], PetscInt, PetscReal[], void *);
  #define HopsPartFunction(p) HopsEvaluatePart
  #define HopsPartContext(p)  ((void *)&(p))
#else
  #define HopsPartFunction(p)                       ((p).f)
  #define HopsPartContext(p)                        ((p).ctx)
  #define HopsEvaluateReal(f, dim, x, nc, out, ctx) ((*(f))(dim, x, nc, out, ctx)) /* of a coefficient, which is real */
#endif
/* does the vector lie where the back end works? NULL does */
PETSC_INTERN PetscErrorCode HopsSpaceHasVec(HopsSpace, Vec, PetscBool *);
/* src/space/elements.c: the entry that a T-vector would have as entry l of an L-vector, or -1: it has none */
PETSC_INTERN PetscInt HopsSpaceGlobalIndex(HopsSpace, PetscInt l);
/* who has the entries of the L-vector from nT on, as far as T-vectors have them: roots are the owned ones */
PETSC_INTERN PetscErrorCode HopsSpaceGetElementSF(HopsSpace, PetscSF *);
#define HopsVecGetArrayRead(sp, v, a)     HopsVecGetArray(sp, v, HOPS_VEC_READ, (PetscReal **)(a))
#define HopsVecRestoreArrayRead(sp, v, a) HopsVecRestoreArray(sp, v, HOPS_VEC_READ, (PetscReal **)(a))
/* T-vector in the back end's memory, which stays the caller's */
PETSC_INTERN PetscErrorCode HopsSpaceCreateVecWithArray(HopsSpace, const PetscReal a[], Vec *);

/* the error of what does not know hanging nodes; `remedy` ends the sentence */
PETSC_INTERN PetscErrorCode HopsSpaceCheckConforming(HopsSpace, const char what[], const char remedy[]);

PETSC_INTERN PetscErrorCode HopsViewVersion(PetscViewer);
/* Refuses a setter of a PC that has no type yet, which would be forgotten; a PC of another type, which the
   user chose, ignores it */
PETSC_INTERN PetscErrorCode HopsPCCheckSetter(PC, const char setter[], PCType);

/* Classes and log events */
typedef struct {
  PetscLogEvent space, delegated, pasetup, pamult, padiag, paassemble, lorsymbolic, lornumeric, lorcoef, lorauxiliary, lorsolver,
    residual, essential, interp, mgsetup, patchsetup, patchsolve, boxmult, boxsetup, boxcycle, points, estimate, transfer;
} HopsEvents;
PETSC_INTERN HopsEvents     HopsEvent;
PETSC_INTERN PetscErrorCode MatCreate_PA(Mat);
PETSC_INTERN PetscErrorCode PCCreate_LOR(PC);
PETSC_INTERN PetscErrorCode PCCreate_PATCHFD(PC);
