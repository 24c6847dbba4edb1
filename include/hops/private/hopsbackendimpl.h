/*
  What a back end can do: tables of functions on raw pointers, one table for each capability. A back end may
  lack a capability (NULL: the caller refuses it by name), or have another back end's for it, whose memory it
  shares.

  Kernels are objects. The back end creates one, and what it can do is in the table that the object begins
  with, so that kernels of several kinds, precisions or back ends are called alike.

  Pointers are to memory where the back end works unless a comment says "the process's". Cell ranges are
  [first, first+n). Entries are PETSC_DOUBLE (PetscReal) or PETSC_FLOAT, by a PetscDataType of the call or
  of the object. A function that finds a non-positive (or NaN) Jacobian determinant returns the cell in `bad`
  (else -1) and the determinant in `det`.
*/
#pragma once
#include <hops/private/hopsbasisimpl.h>
#include <hops/private/hopsvalues.h>

typedef struct _HopsBackendOps HopsBackendOps;
typedef struct _HopsForm      *HopsForm;      /* hopsformimpl.h */
typedef struct _HopsMeshOps    HopsMeshOps;   /* hopsmeshimpl.h */
typedef struct _HopsArraysOps  HopsArraysOps; /* hopsarraysimpl.h */

/* ------------------------------------ memory and order of work ------------------------------------ */

typedef struct _HopsQueue  *HopsQueue;  /* work beside the back end's other work */
typedef struct _HopsRecord *HopsRecord; /* work to be done again and again */
typedef enum {
  HOPS_COPY_IN,    /* from the process's memory, which may change when the call returns if there is no queue */
  HOPS_COPY_OUT,   /* to the process's memory: complete on return if there is no queue */
  HOPS_COPY_WITHIN /* in the order of the back end's work */
} HopsCopyDirection;

/* Sizes are bytes. The process's memory that a queue copies from and to comes from MallocHost(). */
typedef struct {
  PetscErrorCode (*Malloc)(size_t n, void **);
  PetscErrorCode (*Free)(void **);
  /* memory that is cheap to take and to give back, in the order of the back end's work */
  PetscErrorCode (*PoolMalloc)(size_t n, void **);
  PetscErrorCode (*PoolFree)(void **);
  PetscErrorCode (*MallocHost)(size_t n, void **);
  PetscErrorCode (*FreeHost)(void **);
  PetscErrorCode (*Copy)(HopsQueue, void *dst, const void *src, size_t n, HopsCopyDirection); /* the queue may be NULL */
  PetscErrorCode (*QueueCreate)(HopsQueue *);
  PetscErrorCode (*QueueDestroy)(HopsQueue *);
  PetscErrorCode (*QueueFork)(HopsQueue);   /* what follows on the queue waits for the work so far outside it */
  PetscErrorCode (*QueueJoin)(HopsQueue);   /* what follows outside waits for the queue's work so far */
  PetscErrorCode (*QueueFinish)(HopsQueue); /* the process waits for the queue's work so far; NULL: for all work */
  /* What ranks of a host need to reach one another. All four are NULL where a back end does not know how. *p
     is where it sees n bytes of the process's memory, NULL if its device cannot have them */
  PetscErrorCode (*Share)(void *host, size_t n, void **p);
  PetscErrorCode (*Unshare)(void *host);
  /* *flag = value once others see the queue's work so far; what follows on the queue waits until *flag is
     value */
  PetscErrorCode (*QueueSignal)(HopsQueue, uint32_t *flag, uint32_t value);
  PetscErrorCode (*QueueAwait)(HopsQueue, uint32_t *flag, uint32_t value);
  /* All four are NULL where a back end cannot record. Its work between RecordBegin() and RecordEnd() is not
     done but recorded, for RecordRun() to do with the same arguments. It may not take memory, and nothing may
     wait for it */
  PetscErrorCode (*RecordBegin)(void);
  PetscErrorCode (*RecordEnd)(HopsRecord *);
  PetscErrorCode (*RecordRun)(HopsRecord);
  PetscErrorCode (*RecordDestroy)(HopsRecord *);
} HopsMemoryOps;

typedef struct {
  PetscErrorCode (*Zero)(PetscDataType, PetscInt n, void *y); /* y[i] = 0 */
  /* buf[i] = x[idx[i]], 0 where idx[i] < 0; the queue may be NULL */
  PetscErrorCode (*Pack)(HopsQueue, PetscDataType, PetscInt n, const PetscInt idx[], const void *x, void *buf);
  /* y[idx[i]] += buf[i] where idx[i] >= 0, idx distinct */
  PetscErrorCode (*UnpackAdd)(PetscDataType, PetscInt n, const PetscInt idx[], const void *buf, void *y);
  /* y[idx[i]] = x[idx[i]], or 1 where x is NULL */
  PetscErrorCode (*SetEntries)(PetscInt n, const PetscInt idx[], const PetscReal x[], PetscReal y[]);
  /* w = a x + b y; y is not read where b is 0; w may be x or y */
  PetscErrorCode (*Combine)(PetscDataType, PetscInt n, PetscReal a, const void *x, PetscReal b, const void *y, void *w);
  PetscErrorCode (*Times)(PetscDataType, PetscInt n, const void *x, const void *y, void *w); /* w[i] = x[i] y[i] */
  /* y = s x, y of the first type and x of the other one */
  PetscErrorCode (*Convert)(PetscDataType to, PetscInt n, PetscReal s, const void *x, void *y);
  /* d = a d + b dinv r, x += d; d is not read where a is 0; dinv may be NULL: 1; so may x; floats */
  PetscErrorCode (*Step)(PetscInt n, float a, float b, const float dinv[], const float r[], float d[], float x[]);
  /* sum of w[i] x[i] y[i], added in doubles; w may be NULL: 1; floats */
  PetscErrorCode (*Dot)(PetscInt n, const float w[], const float x[], const float y[], PetscReal *dot);
} HopsVectorOps;

/* What a constructor says of the kernel that it chose */
typedef struct {
  char           name[96];    /* "avx512 P=7 Q=8", "avx512 generic P=7 Q=13" */
  PetscBool      specialised; /* it knows the order, or all sizes */
  PetscLogDouble bytes;       /* held */
  PetscLogDouble flops;       /* of a full apply; of patches, of a sweep */
} HopsKernelInfo;

/* ------------------------------------------- operators ------------------------------------------- */

typedef enum {
  HOPS_PART_INTERIOR_A, /* first half of the interior cells */
  HOPS_PART_INTERIOR_B, /* second half of the interior cells */
  HOPS_PART_SHARED      /* cells that touch ghosts or constrained unknowns */
} HopsPart;

/*
  B^T D B. In H1 the form is int kappa grad u grad v + int mass u v, elsewhere int mu du dv + int beta u v, d
  the curl or the divergence. Quadrature data per point, J = dx/dxi: in H1 of the derivative w detJ J^-1 kappa
  J^-T (symmetric, 3 or 6 values), of the field w detJ mass (1 value); of u in H(curl) w detJ J^-1 beta J^-T,
  in H(div) (w/detJ) J^T beta J (symmetric), in L2 (w/detJ) beta (1 value), and of du likewise, in its own
  space.
*/
typedef struct _HopsOperator *HopsOperator;
typedef struct {
  /* fill the quadrature data of cells first..first+n-1 (in any order of runs; each run within one part's
     class, interior or shared) */
  PetscErrorCode (*SetUp)(HopsOperator, PetscInt first, PetscInt n, const HopsValues *derivative, const HopsValues *field,
                          PetscInt *bad, PetscReal *det);
  /* instead: kernels that recompute the geometry of affine or multilinear cells from their corners, with
     coefficients that are constant in a cell (pstride 0), for all cells. NULL where there are none; needs a
     specialised kernel */
  PetscErrorCode (*SetUpCells)(HopsOperator, HopsMapKind, const HopsValues *derivative, const HopsValues *field, PetscInt *bad,
                               PetscReal *det);
  /* y += A x on a part; x, y are T-vectors [nT], xg, yg hold L-vector entries [nT,nL) (ghosts, constrained)
     */
  PetscErrorCode (*Apply)(HopsOperator, HopsPart, const void *x, const void *xg, void *y, void *yg);
  /* d += diag(A) on all cells */
  PetscErrorCode (*Diagonal)(HopsOperator, PetscReal d[], PetscReal dg[]);
  /* a copy that works on floats: Apply() and Destroy() alone. NULL where there is none */
  PetscErrorCode (*CreateSingle)(HopsOperator, HopsOperator *);
  PetscErrorCode (*Destroy)(HopsOperator *);
} HopsOperatorOps;
struct _HopsOperator {
  const HopsOperatorOps *ops;
  HopsKernelInfo         info; /* flops: since the last set-up */
};

/*
  Hanging nodes for kernels that do not know them. The entries of a cell that lie on lines of hanging nodes
  (hopshanging.h) are entries of its own, behind those of the L-vector: xg and yg have room for n more. P,
  which takes a T-vector to its ghosts, then makes them, J x, and P^T takes what kernels added to them, J^T y.
  Vectors have nc components for each entry.
*/
typedef struct _HopsHung *HopsHung;
typedef struct {
  /* those of interior cells, or of all others: xg = J (x, xg); of floats where there are operators of floats
     that do not know hanging nodes */
  PetscErrorCode (*Apply)(HopsHung, PetscDataType, PetscInt nc, PetscBool interior, const void *x, void *xg);
  /* (y, yg) += J^T yg */
  PetscErrorCode (*ApplyTranspose)(HopsHung, PetscDataType, PetscInt nc, PetscBool interior, void *yg, void *y);
  /* for a diagonal, of each cell's entry i < most and component c: xg = J e_i; and (d, dg) += e_i^T J^T yg */
  PetscErrorCode (*ApplyUnit)(HopsHung, PetscInt nc, PetscInt c, PetscInt i, PetscReal xg[]);
  PetscErrorCode (*AddUnit)(HopsHung, PetscInt nc, PetscInt c, PetscInt i, const PetscReal yg[], PetscReal d[], PetscReal dg[]);
  PetscErrorCode (*Destroy)(HopsHung *);
} HopsHungOps;
struct _HopsHung {
  const HopsHungOps *ops;
  PetscInt           n, most; /* of this rank; of a cell */
  int               *restr;   /* [ncells][ne] the element restriction with these entries */
};

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
  PetscInt         nl;    /* nodes of the L-vector, with cells' own where nodes hang */
  const int       *restr; /* [ncells][P^dim] */
  PetscReal       *l;     /* [nl][nc] */
} HopsTensorSide;

/* Pairs of one kind in one block whose tensors are equal may have the same entries. The other pairs have
   theirs one after the other */
typedef struct {
  int kind, test, trial;
  int entry; /* the first at a point: the next one, or that of a pair before */
} HopsTensorPair;

typedef struct {
  PetscInt              test, trial;      /* sides */
  PetscInt              npairs, nentries; /* of all pairs, at a point */
  const HopsTensorPair *pair;             /* [npairs], the process's */
  const PetscReal      *q;                /* as GetLayout() says */
} HopsTensorData;

/* Batch b holds cells first[b] .. first[b+1] - 1 in its lanes, of which it has W; no batch has cells of two
   parts */
typedef struct {
  PetscInt        W, nb;
  const PetscInt *first;  /* [nb + 1], the process's */
  PetscBool       points; /* tensors are [batch][entry][lane][point], else [batch][point][entry][lane] */
} HopsTensorLayout;

static inline PetscInt HopsTensorEntries(PetscInt dim, PetscInt kind)
{
  return kind == 0 ? 1 : (kind == 3 ? dim * dim : dim);
}

/* of a product with the tensors at a point */
static inline PetscLogDouble HopsTensorFlops(PetscInt dim, const HopsTensorData *d)
{
  PetscLogDouble f = 0.0;

  for (PetscInt j = 0; j < d->npairs; ++j) f += 2.0 * HopsTensorEntries(dim, d->pair[j].kind);
  return f;
}

typedef struct _HopsTensorOperator *HopsTensorOperator;
typedef struct {
  PetscErrorCode (*GetLayout)(HopsTensorOperator, HopsTensorLayout *);
  /* the blocks, which the caller keeps; again where a block has new pairs or other memory */
  PetscErrorCode (*SetBlocks)(HopsTensorOperator, PetscInt nblocks, const HopsTensorData[]);
  /* devices only: the same on n faces (HopsFaceBasis numbers them) of cells. The block's q is
     [face][entry][point] in the process's memory, with the derivative along the normal before those along the
     face; the bases of the kernel have the faces' points. Apply(), which knows no parts, Diagonal() and
     Destroy() alone */
  PetscErrorCode (*CreateFaces)(HopsTensorOperator, PetscInt n, const PetscInt cells[], const PetscInt faces[],
                                const HopsTensorData *, HopsTensorOperator *);
  /* L-vectors of the test side += the form on those of the trial side, on a part of the cells; transposed,
     the sides change places */
  PetscErrorCode (*Apply)(HopsTensorOperator, HopsPart, PetscBool transpose);
  /* L-vectors of the test side += the diagonal of blocks with test == trial */
  PetscErrorCode (*Diagonal)(HopsTensorOperator);
  PetscErrorCode (*Destroy)(HopsTensorOperator *);
} HopsTensorOps;
struct _HopsTensorOperator {
  const HopsTensorOps *ops;
  HopsKernelInfo       info; /* flops: of the last blocks */
};

/* -------------------------- tensor-product maps between nested spaces -------------------------- */

typedef struct _HopsInterpData     HopsInterpData; /* hopsinterpimpl.h */
typedef struct _HopsInterpolation *HopsInterpolation;
typedef struct {
  /* y[target] = (add: +=) (A x A x A) x[source] on interior or on the other macro cells */
  PetscErrorCode (*Apply)(HopsInterpolation, PetscBool interior, const void *x, const void *xg, void *y, PetscBool add);
  /* x[source] += (A x A x A)^T y[target] */
  PetscErrorCode (*ApplyTranspose)(HopsInterpolation, PetscBool interior, const void *y, void *x, void *xg);
  /* a copy that works on floats, which the map outlives. NULL where there is none */
  PetscErrorCode (*CreateSingle)(HopsInterpolation, HopsInterpolation *);
  PetscErrorCode (*Destroy)(HopsInterpolation *);
} HopsInterpOps;
struct _HopsInterpolation {
  const HopsInterpOps *ops;
};

/* ----------------------------------- low-order-refined matrices ----------------------------------- */

typedef struct _HopsLORAssembler *HopsLORAssembler; /* hopslorrowsimpl.h */
typedef struct _HopsRowsOps       HopsRowsOps;      /* the same */

/* -------------------------------------------- patches -------------------------------------------- */

typedef struct _HopsPatches       *HopsPatches;       /* patches of a space (hopspatchimpl.h) */
typedef struct _HopsPatchSmoother *HopsPatchSmoother; /* their data on a back end */
typedef struct _HopsPatchSetUpOps  HopsPatchSetUpOps; /* hopspatchimpl.h: their set-up on a back end */
typedef enum {
  HOPS_PATCH_PLAIN,
  HOPS_PATCH_RESTRICT_OUT, /* corrections are kept where no other patch's centre is nearer */
  HOPS_PATCH_RESTRICT_IN   /* its transpose */
} HopsPatchMode;
typedef struct {
  /* z += sum over the patches of a colour (all of them where it is negative) of R^T (local inverse) R r on
     P-vectors, of floats only where the solver's data are */
  PetscErrorCode (*Apply)(HopsPatchSmoother, PetscDataType, PetscInt color, HopsPatchMode, const void *r, void *z);
  /* fused sweep of a color whose patches are exact: z += R^T (local inverse) R (b - A z) */
  PetscErrorCode (*Sweep)(HopsPatchSmoother, PetscDataType, PetscInt color, const void *b, void *z);
  PetscErrorCode (*Destroy)(HopsPatchSmoother *);
} HopsPatchOps;
struct _HopsPatchSmoother {
  const HopsPatchOps *ops;
  HopsKernelInfo      info;
};

/* ----------------------------------- code compiled at run time ----------------------------------- */

typedef struct _HopsPointCode   *HopsPointCode; /* point functions of a code (hopspointimpl.h) */
typedef struct _HopsPointModule *HopsPointModule;
typedef struct {
  /* kernels[] is text that calls the functions; fma: may multiplications and additions be fused? Where it
     cannot be done the module is NULL, and why[len] says why */
  PetscErrorCode (*Create)(HopsPointCode, const char kernels[], PetscBool fma, HopsPointModule *, char why[], size_t len);
  /* what the functions read of the process's variables becomes as it is now; was it another before? */
  PetscErrorCode (*Refresh)(HopsPointModule, PetscBool *changed);
  PetscErrorCode (*Launch)(HopsPointModule, const char kernel[], PetscInt grid, PetscInt block, void *args[]);
  PetscErrorCode (*Destroy)(HopsPointModule *);
} HopsPointOps;

/* ------------------------------------------ the back end ------------------------------------------ */

/* What it is, its memory and vectors, and one constructor for each kind of kernel: NULL where it has none */
struct _HopsBackendOps {
  const char          *name;
  VecType              vectype;   /* the vectors of a space on the back end */
  PetscMemType         memtype;   /* of its memory */
  PetscBool            host;      /* the back end reads and writes the process's own memory */
  PetscBool            condenses; /* PatchCreate() takes condensed patches */
  PetscBool            hanging;   /* scalar operators and low-order-refined matrices know hanging nodes without HungCreate() */
  PetscBool            spare;     /* patches write to the entry of a P-vector that stands for what is not there */
  PetscInt             runpoints; /* set-up takes coefficients at about so many points at a time, and 64 cells at least */
  const HopsMemoryOps *memory;
  const HopsVectorOps *vector;
  const HopsRowsOps   *rows; /* matrices of the lattice's topology, in a device's memory */

  /* the cells' integrals of a form on a space, with coefficients */
  PetscErrorCode (*OperatorCreate)(HopsForm, const HopsBasis *, HopsOperator *);
  /* H1, on n faces: node[n][P^(dim-1)] L-vector indices, qdata[n][Q^(dim-1)], both the process's. Apply(),
     which takes all faces at once whatever the part, Diagonal() and Destroy() alone */
  PetscErrorCode (*FacesCreate)(HopsSpace, const HopsBasis *, PetscInt n, const int node[], const PetscReal qdata[],
                                HopsOperator *);
  /* of a space with hanging nodes; where `hanging` is set, for full tensors and facets alone, in H1 */
  PetscErrorCode (*HungCreate)(HopsSpace, HopsHung *);
  /* cells of the space; the sides are copied, what they point to is not. W is 0, or the lanes of another
     kernel for the same cells and points, with these fields and perhaps more, whose tensors are to be shared
     */
  PetscErrorCode (*TensorCreate)(HopsSpace, PetscInt Q, PetscInt W, PetscInt ntest, const HopsTensorSide test[], PetscInt ntrial,
                                 const HopsTensorSide trial[], HopsTensorOperator *);
  /* the low-order-refined matrix on these vertices */
  PetscErrorCode (*LORCreate)(HopsSpace, const HopsBasis *gll, HopsLORAssembler *);
  /* from one space to another. Each target is written by one macro cell; those whose sources are all owned
     are the interior ones. The matrix A[M][N], A[M-1-m][N-1-n] = A[m][n], acts in every direction */
  PetscErrorCode (*InterpCreate)(HopsSpace from, HopsSpace to, const HopsInterpData *, HopsInterpolation *);
  /* with data of this type */
  PetscErrorCode (*PatchCreate)(HopsPatches, PetscDataType, HopsPatchSmoother *);
  /* the widest kind of map of n cells, X[n][dim][g^dim] in the back end's memory, nodes s[g] in [0,1] in the
     process's; NULL: the caller looks itself */
  PetscErrorCode (*MapKind)(PetscInt n, PetscInt dim, PetscInt g, const PetscReal s[], const PetscReal X[], HopsMapKind *);
  /* how many of n cells, of nq points each, a test finds (HopsValuesCount()); each of k and m, which may
     be NULL, lies where it says. NULL where no values are made but in the process's memory */
  PetscErrorCode (*CountCells)(HopsValuesTest, PetscInt dim, PetscInt n, PetscInt nq, const HopsValues *k, const HopsValues *m,
                               PetscInt *count);
  const HopsPointOps      *points;  /* point functions of a code are compiled for the back end */
  const HopsPatchSetUpOps *patches; /* NULL: the process computes what patches begin with */
  const HopsMeshOps       *mesh;    /* set-up of spaces; NULL: the host sets up, and the result is copied */
  const HopsArraysOps     *arrays;  /* the same from arrays */
};

/* What is being made from here on, in words for a message that memory lacks; returns what was before */
PETSC_INTERN const char *HopsMake(const char what[]);
PETSC_INTERN const char *HopsMaking(void);
/* by name (-hops_backend); and one more, which stays the caller's and must outlive its spaces */
PETSC_INTERN PetscErrorCode       HopsBackendGet(const char name[], const HopsBackendOps **);
PETSC_INTERN PetscErrorCode       HopsBackendRegister(const HopsBackendOps *);
PETSC_INTERN PetscErrorCode       HopsBackendOfMemory(PetscMemType, const HopsBackendOps **); /* that works there, or NULL */
PETSC_INTERN const HopsBackendOps HopsBackendHost;
/* src/backend/host/runtime/hostmemory.c: memory of n bytes of the process that is to be filled in bulk; from
   now on large blocks that are freed wait for others of their size */
PETSC_INTERN void           HopsHostAdvise(const void *, size_t n);
PETSC_INTERN PetscErrorCode HopsHostPoolBegin(void);
#if defined(PETSC_HAVE_CUDA)
PETSC_INTERN const HopsBackendOps HopsBackendCUDA;
PETSC_INTERN PetscBool            HopsCudaPresent(void); /* this machine has a device and its driver */
#endif
#if defined(HOPS_HAVE_KOKKOS)
PETSC_INTERN const HopsBackendOps HopsBackendKokkos;
#endif
