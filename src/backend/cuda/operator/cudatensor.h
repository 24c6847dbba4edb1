/* CUDA back end: forms with full tensors between several fields; what kernels of cells (cudatensor.cu) and of
   faces (cudatensorface.cu) share. */
#pragma once
#include <backend/cuda/runtime/cudaimpl.h>

#define HOPS_CUDA_TENSOR_SIDES   12           /* test or trial fields at most */
#define HOPS_CUDA_TENSOR_FIXED   8            /* points for which kernels know all sizes, at most */
#define HOPS_CUDA_TENSOR_THREADS 256          /* of a block at most */
#define HOPS_CUDA_TENSOR_SHARED  (200 * 1024) /* bytes of a block at most */

/*
  Matrices of a P, as offsets into the tables: A[n][m], n of the N entries that go in, m of the M that come
  out, padded to a multiple of four. Up goes from nodes to points, down from points to nodes; the products,
  entry by entry, are for diagonals.
*/
typedef struct {
  int P, Bup, Bdown, Dup, Ddown, BB, BD, DD;
  int E; /* [2][P] derivatives of the basis functions at -1 and at 1 */
} HopsCudaTensorTable;

/* A field as test or as trial functions. Scratch of a block is [derivative][component][lane][point]: the
   values first */
typedef struct {
  HopsCudaTensorTable table;
  int                 nc, off, R; /* components; where its scratch begins; from a derivative to the next */
  bool                value, gradient;
  const int          *restr; /* [ncells][P^dim] */
  double             *l;     /* [nL][nc] */
} HopsCudaTensorSide;

/* A pair of components, as the one sees it that it adds to */
typedef struct {
  const double *q; /* [batch][nentries][lane][point] */
  /* + 1 for a derivative of what goes in, + 2 of what comes out; value that goes in; from a derivative to the
     next */
  int kind, in, R;
  int entry, sa, sb; /* derivatives a (out), b (in) meet entry + a sa + b sb */
  int nentries;
} HopsCudaTensorOp;

/* A component that comes out: its value, from a derivative to the next, and its pairs op[first] .. op[end -
   1] */
typedef struct {
  int off, R, first, end;
} HopsCudaTensorOut;

typedef struct {
  int dim, Q, nq, W, S; /* lanes of a batch; doubles of an item (a component in a lane) */
  int nside[2], ncout;  /* sides in, out; components that come out */
  /* fewer points than nodes: derivatives at the points do not follow from values there */
  bool                     under;
  int                      C, CT;             /* tables: derivatives at the points from values there */
  int                      scratch, X, nwork; /* under: three more regions, X apart; doubles of scratch of a block */
  int                      ntables;           /* doubles of tables that go to shared memory */
  PetscInt                 first, n;          /* batches */
  const PetscInt          *cell;              /* [batches + 1] first cells */
  const double            *tables;
  double                  *work; /* scratch of all blocks, or NULL: shared memory */
  const HopsCudaTensorOut *out;  /* [ncout] */
  const HopsCudaTensorOp  *op;
  HopsCudaTensorSide       side[2][HOPS_CUDA_TENSOR_SIDES]; /* in, out */
  /* kernels that know all sizes: [Q][Q] of P = Q, where there is one */
  double fixedB[HOPS_CUDA_TENSOR_FIXED * HOPS_CUDA_TENSOR_FIXED];
  double fixedA[HOPS_CUDA_TENSOR_FIXED * (HOPS_CUDA_TENSOR_FIXED - 1)]; /* [Q][Q-1] of P = Q - 1 */
  double fixedC[HOPS_CUDA_TENSOR_FIXED * HOPS_CUDA_TENSOR_FIXED];       /* [Q][Q] */
} HopsCudaTensorArgs;

typedef void (*HopsCudaTensorFunction)(const HopsCudaTensorArgs);

/* The diagonal of a component with itself, by one pair of components */
typedef struct {
  int                 dim, Q, nq, W, S, kind, c, nc, entry, nentries, nwork;
  PetscInt            n;
  const PetscInt     *cell;
  const double       *tables, *q;
  double             *work, *l;
  const int          *restr;
  HopsCudaTensorTable table;
} HopsCudaTensorDiagonalArgs;

typedef struct _HopsTensorKernel *HopsTensorKernel;
struct _HopsTensorKernel {
  struct _HopsTensorOperator head;
  HopsCudaTensorArgs         args[2]; /* as it stands, transposed */
  int                        n[2], nt;
  HopsCudaTensorTable        table[2 * HOPS_CUDA_TENSOR_SIDES]; /* [nt], of all P */
  PetscInt                   nb, part[4], *first;
  PetscInt                   nblocks;
  const HopsTensorData      *data;
  double                    *tables;
  PetscInt                  *cell;
  void                      *program[2][2]; /* device: out, op of args[0], args[1] */
  double                    *work;
  int                        grid[2], threads; /* blocks at most, threads of a block */
};

/* Terms on faces: derivatives along the normal come first, then those along the face */
typedef struct {
  /* scratch: traces, normal derivatives, of the first contraction */
  int                      dim, Q, nq, W, S, ncout, U, UN, T, nwork;
  PetscInt                 n;
  const int               *cell, *face;
  const double            *tables;
  double                  *work;
  const HopsCudaTensorOut *out;
  const HopsCudaTensorOp  *op;
  HopsCudaTensorSide       side[2]; /* in, out */
} HopsCudaTensorFaceArgs;

typedef struct {
  int                 dim, Q, nq, W, S, kind, c, nc, entry, nentries, nwork;
  PetscInt            n;
  const int          *cell, *face;
  const double       *tables, *q;
  double             *work, *l;
  const int          *restr;
  HopsCudaTensorTable table;
} HopsCudaTensorFaceDiagonalArgs;

typedef struct _HopsTensorFaces *HopsTensorFaces;
struct _HopsTensorFaces {
  struct _HopsTensorOperator head;
  HopsCudaTensorFaceArgs     args[2];
  HopsTensorData             data; /* q where the device works, [batch][entry][lane][point] */
  int                       *cell, *face;
  void                      *program[2][2];
  double                    *work;
  int                        grid, threads;
};

EXTERN_C_BEGIN
/* kernels that know all sizes (cudatensorfixed.cuh): for a dimension and components that come out, or NULL */
#define HOPS_CUDA_TENSOR_POINTS(X)  X(2) X(3) X(4) X(5) X(6) X(7) X(8)
#define HOPS_CUDA_TENSOR_DECLARE(Q) PETSC_INTERN HopsCudaTensorFunction HopsCudaTensorFind_##Q(int dim, int ncout);
HOPS_CUDA_TENSOR_POINTS(HOPS_CUDA_TENSOR_DECLARE)
/* blocks of a launch and their scratch, where shared memory does not hold it */
PETSC_INTERN PetscErrorCode HopsCudaTensorLaunchSize(HopsTensorKernel);
PETSC_INTERN PetscErrorCode HopsCudaTensorProgram(PetscInt nblocks, const HopsTensorData[], PetscBool transpose, int dim, int item,
                                                  const HopsCudaTensorSide in[], int nout, const HopsCudaTensorSide out[],
                                                  void *program[2]);
EXTERN_C_END
