/* Data of the V-cycle. T is double or float, for matrices and vectors alike; indices and row pointers are
   hypre's. */
#pragma once
#include <hops/private/hopsimpl.h>
#include <hops/private/hopscycleimpl.h>
#include <backend/cuda/runtime/cudaimpl.h>
#include <petscdevice_cuda.h>
#include <stdbool.h>

#define HOPS_CYCLE_DENSE 256 /* largest coarsest level with an inverse */
#define HOPS_CYCLE_STEPS 16  /* most smoothing steps before, and after, a coarse correction */

typedef struct {
  int        m, n; /* rows, columns */
  size_t     nnz;
  const int *i, *j;
  void      *v;             /* T; for double hypre's own */
  bool       own, ownplace; /* v is a copy; so are i and j */
} HopsCycleMatrix;

typedef struct {
  HopsCycleMatrix A, P, R; /* R = P^T; none on the coarsest level */
  void           *d;       /* weight of the first smoothing step over l1 norm of the rows */
  void           *f, *u, *w;
} HopsCycleLevel;

/* Entries of a matrix in columns of other ranks, whose values are the ghosts; rows: those that have such
   entries */
typedef struct {
  HopsCycleMatrix M;
  int             nrows, *rows;
} HopsCycleGhosted;

/*
  A level that is spread over the ranks: beside the entries of its matrices within the rank, those with other
  ranks. Of the last such level P leads from the whole coarser vector, which every rank has. A space of AMS or
  ADS has only what leads to it and back.
*/
typedef struct {
  HopsCycleLevel   own;
  HopsCycleGhosted A, P;
  HopsCycleMatrix  R;      /* transpose of P's: its rows are the ghosts */
  HopsProlong      ua, cp; /* ghosts of this level's vectors in A, of the coarser one's in P */
  void            *g;      /* either */
  void            *transposed[2];
} HopsCycleSpreadLevel;

typedef struct {
  int                   n;      /* levels; none where rank 0 has all of the hierarchy */
  int                   levels; /* of that */
  void                 *mine;   /* device: this rank's rows of its right-hand side and solution */
  HopsCycleSpreadLevel *level;
  HopsCycleSpreadLevel *space;          /* of AMS and ADS: there is one level then, which has no P, and none that every rank has */
  int                   N, begin;       /* rows of the first level that every rank has; where this rank's begin */
  PetscMPIInt          *count, *first;  /* rows of all ranks, and where they begin */
  int                   nghost, *ghost; /* device: rows of others that the last spread level takes */
  HopsProlong           gather;         /* to all rows from each rank's, in memory that ranks share; or NULL, then messages: */
  void                 *part, *whole;   /* page-locked, this rank's rows of the right-hand side or solution, and all */
  HopsRecord            record;         /* all between the first smoothing and the last one, or NULL */
  MPI_Comm              comm;
  const HopsBackendOps *be; /* who made the page-locked memory, and g */
} HopsCycleSpread;

/*
  A V-cycle, or the cycle of AMS or ADS: one level, with corrections from nodal spaces (and the curl's, by
  AMS) in the order of `program` between two smoothings. There, a digit k stands for u += P_k V_k(R_k (f - A
  u)), an opening parenthesis for the residual, which those behind a plus sign share: their cycles are
  branches of the graph, and what they give is added in order at the closing one.
*/
#define HOPS_CYCLE_SPACES 5
struct _HopsCycle {
  const char      *program; /* NULL for a V-cycle */
  HopsCycle        sub[HOPS_CYCLE_SPACES];
  HopsCycleMatrix  P[HOPS_CYCLE_SPACES], R[HOPS_CYCLE_SPACES];
  void            *spacetransposed[HOPS_CYCLE_SPACES];
  bool             single, direct;         /* direct: the coarsest level has an inverse, else it is smoothed once */
  double           drop;                   /* of its matrices, see cycledrop.cu */
  int              nsteps;                 /* of smoothing, before and after each coarse correction */
  double           step[HOPS_CYCLE_STEPS]; /* their weights over that of the first */
  int              nlevels;
  HopsCycleLevel  *level;
  void            *inverse;                   /* [n][n] of the coarsest level */
  void           **transposed, **gathered;    /* hypre's matrices: R; A and P of all ranks' rows */
  HopsCycleSpread *spread;                    /* finer levels, on several ranks; those of `level` are worked on by each */
  cudaStream_t     branch[HOPS_CYCLE_SPACES]; /* where cycles of a sum are captured */
  cudaEvent_t      fork, joined[HOPS_CYCLE_SPACES];
  HopsRecord       graph;               /* all of `level` between the first smoothing and the last one, or NULL */
  PetscReal        entries, complexity; /* of the finest matrix, on all ranks; those of all levels over these */
  PetscLogDouble   flops;
};

/* The level that a cycle begins with */
static inline HopsCycleLevel *HopsCycleFinest(const HopsCycle c)
{
  return c->spread ? &c->spread->level[0].own : c->level;
}

/*
  hypre's choice where the coarsest matrix may be singular: a sweep of Gauss-Seidel forward, and one backward,
  within the rows of each rank, with the l1 norms of the rows as diagonals
*/
typedef struct {
  double             weight, scale; /* of the sweep; what the level's d are over the l1 norms */
  int                nranks;
  const PetscMPIInt *first; /* where the rows of each begin */
} HopsCycleSweep;

static inline size_t HopsCycleSize(const HopsCycle c)
{
  return c->single ? sizeof(float) : sizeof(double);
}

EXTERN_C_BEGIN
PETSC_INTERN PetscErrorCode HopsCycleMalloc(size_t n, void **); /* of the pool that hypre uses too */
PETSC_INTERN PetscErrorCode HopsCycleFree(void **);
PETSC_INTERN PetscErrorCode HopsCycleFreeMatrix(HopsCycleMatrix *);
PETSC_INTERN PetscErrorCode HopsCycleDrop(HopsCycleMatrix *, double drop, cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCycleSetMatrix(HopsCycle, void *csr, double drop, HopsCycleMatrix *, cudaStream_t);
/* cycles of hypre's BoomerAMG, AMS and ADS, without their graphs; NULL where *why says why not */
PETSC_INTERN PetscErrorCode HopsCycleCreateHierarchy(void *amg, PetscInt degree, bool single, double drop, HopsCycle *,
                                                     const char **why);
PETSC_INTERN PetscErrorCode HopsCycleCreateAMS(void *ams, HopsSpace, const HopsCycleSettings *, double drop, HopsCycle *,
                                               const char **why);
PETSC_INTERN PetscErrorCode HopsCycleCreateADS(void *ads, HopsSpace, const HopsCycleSettings *, const HopsCycleAuxiliary *,
                                               HopsCycle *, const char **why);
/* a hierarchy on several ranks, whose levels of at most set->redundant rows each rank has for its own;
   collective */
PETSC_INTERN PetscErrorCode HopsCycleCreateSpread(void *amg, HopsSpace, const HopsCycleSettings *set, double drop, HopsCycle *,
                                                  const char **why);
/* a hierarchy of the rows of all ranks, which is rank 0's (NULL elsewhere); collective */
PETSC_INTERN PetscErrorCode HopsCycleCreateGathered(void *amg, HopsSpace, PetscInt n, const HopsCycleSettings *, HopsCycle *,
                                                    const char **why);
/* on several ranks, of a cycle with a program: its matrix, whose own part is set; what leads to space k */
PETSC_INTERN PetscErrorCode HopsCycleSetSpreadMatrix(HopsCycle, HopsSpace, void *A);
PETSC_INTERN PetscErrorCode HopsCycleSetSpreadSpace(HopsCycle, HopsSpace, int k, void *P);
/* *why is one rank's reason, perhaps; all ranks learn whether any has one */
PETSC_INTERN PetscErrorCode HopsCycleAgree(MPI_Comm, const char **why);
PETSC_INTERN PetscErrorCode HopsCycleDestroySpread(HopsCycleSpread **);
/* where all exchanges can be recorded, the whole cycle is; *done says so */
PETSC_INTERN PetscErrorCode HopsCycleRecordSpread(HopsCycle, PetscBool *done);
PETSC_INTERN PetscErrorCode HopsCycleRunSpread(HopsCycle, const double x[], double y[], cudaStream_t);
/* the cycle of `level` between the first smoothing and the last one, kernel by kernel */
PETSC_INTERN PetscErrorCode HopsCycleRunMiddle(HopsCycle, cudaStream_t);
/* the rows that have entries */
PETSC_INTERN PetscErrorCode HopsCycleListRows(int m, const int i[], int *nrows, int **rows, cudaStream_t);
/* what the cycle takes for granted; NULL if all is so */
PETSC_INTERN const char    *HopsCycleRefuse(void *amg);
PETSC_INTERN PetscErrorCode HopsCycleFreeLevel(HopsCycleLevel *);
/* level l of matrices on the device; P and R are NULL on the coarsest level, l1 where there are no norms */
PETSC_INTERN PetscErrorCode HopsCycleSetLevel(HopsCycle, HopsCycleLevel *, void *A, void *P, void *R, const double l1[],
                                              double weight, cudaStream_t);
/* the smoothing steps: `degree` of a Chebyshev polynomial, or 0 for Jacobi's, as many times as hypre sweeps;
   returns the weight of the first */
PETSC_INTERN double HopsCycleSetSteps(HopsCycle, void *amg, PetscInt degree);
/* sweep is NULL for the inverse */
PETSC_INTERN PetscErrorCode HopsCycleSetCoarsest(HopsCycle, void *A, const HopsCycleSweep *sweep, cudaStream_t, PetscBool *ok);
/* y = scale x or scale / x */
PETSC_INTERN PetscErrorCode HopsCycleConvert(size_t n, const double x[], double scale, bool reciprocal, bool single, void *y,
                                             cudaStream_t);
PETSC_INTERN PetscErrorCode HopsCycleCapture(HopsCycle);
PETSC_INTERN PetscErrorCode HopsCycleRun(HopsCycle, const double x[], double y[], cudaStream_t);
EXTERN_C_END
