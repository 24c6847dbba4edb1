/* Forms with full tensors between several fields, of back ends that launch kernels for teams of lanes: what
   such a back end brings, and what kernels of cells (lanestensorkernels.h) and of faces (lanestensorface.h)
   take. */
#pragma once
#include <hops/private/hopsimpl.h>
#include <stdbool.h>
#include "lanesoperator.h"
#include "lanesorders.h"

#define HOPS_TENSOR_SIDES      12           /* test or trial fields at most */
#define HOPS_TENSOR_LANES      256          /* of a team at most */
#define HOPS_TENSOR_FACE_LANES 128          /* of one on faces */
#define HOPS_TENSOR_SHARED     (200 * 1024) /* bytes of a team's own scratch at most */

/*
  Matrices of a P, as offsets into the tables: A[n][m], n of the N entries that go in, m of the M that come
  out, padded to a multiple of four. Up goes from nodes to points, down from points to nodes; the products,
  entry by entry, are for diagonals.
*/
typedef struct {
  int P, Bup, Bdown, Dup, Ddown, BB, BD, DD;
  int E; /* [2][P] derivatives of the basis functions at -1 and at 1 */
} HopsLanesTensorTable;

/* A field as test or as trial functions. Scratch of a team is [derivative][component][slot][point]: the
   values first */
typedef struct {
  HopsLanesTensorTable table;
  int                  nc, off, R; /* components; where its scratch begins; from a derivative to the next */
  bool                 value, gradient;
  const int           *restr;  /* [ncells][P^dim] */
  const int           *marked; /* what comes out: the same, where HOPS_LANES_MEET may be set, or NULL */
  HopsLanesCopies      copies; /* where marked nodes are added */
  double              *l;      /* [nl][nc] */
} HopsLanesTensorSide;

/* A pair of components, as the one sees it that it adds to */
typedef struct {
  const double *q; /* as HopsTensorLayout says */
  /* + 1 for a derivative of what goes in, + 2 of what comes out; value that goes in; from a derivative to the
     next */
  int kind, in, R;
  int entry, sa, sb; /* derivatives a (out), b (in) meet entry + a sa + b sb */
  int nentries;
} HopsLanesTensorOp;

/* A component that comes out: its value, from a derivative to the next, and its pairs op[first] .. op[end -
   1] */
typedef struct {
  int off, R, first, end;
} HopsLanesTensorOut;

typedef struct {
  int dim, Q, nq, W, S; /* slots of a batch, `group` cells each; values of an item (a component in a slot) */
  int nside[2], ncout;  /* sides in, out; components that come out */
  /* fewer points than nodes: derivatives at the points do not follow from values there */
  bool                      under;
  int                       C, CT;             /* tables: derivatives at the points from values there */
  int                       scratch, X, nwork; /* under: three more regions, X apart; values of scratch of a team */
  int                       ntables;           /* doubles of tables that go to scratch */
  PetscInt                  first, n;          /* batches */
  const PetscInt           *cell;              /* [batches + 1] first cells */
  const double             *tables;
  double                   *work; /* scratch of all teams, or NULL: their own */
  const HopsLanesTensorOut *out;  /* [ncout] */
  const HopsLanesTensorOp  *op;
  HopsLanesTensorSide       side[2][HOPS_TENSOR_SIDES]; /* in, out */
  /* kernels that know all sizes: [Q][Q] of P = Q, where there is one */
  double fixedB[HOPS_TENSOR_MOST_POINTS * HOPS_TENSOR_MOST_POINTS];
  double fixedA[HOPS_TENSOR_MOST_POINTS * (HOPS_TENSOR_MOST_POINTS - 1)]; /* [Q][Q-1] of P = Q - 1 */
  double fixedC[HOPS_TENSOR_MOST_POINTS * HOPS_TENSOR_MOST_POINTS];       /* [Q][Q] */
} HopsLanesTensorArgs;

/* The diagonal of a component with itself, by one pair of components */
typedef struct {
  int                  dim, Q, nq, W, S, kind, c, nc, entry, nentries, nwork;
  PetscInt             n;
  const PetscInt      *cell;
  const double        *tables, *q;
  double              *work, *l;
  const int           *restr;
  HopsLanesTensorTable table;
} HopsLanesTensorDiagonalArgs;

/* Terms on faces: derivatives along the normal come first, then those along the face */
typedef struct {
  /* scratch: traces, normal derivatives, of the first contraction */
  int                       dim, Q, nq, W, S, ncout, U, UN, T, nwork;
  PetscInt                  n;
  const int                *cell, *face;
  const double             *tables;
  double                   *work;
  const HopsLanesTensorOut *out;
  const HopsLanesTensorOp  *op;
  HopsLanesTensorSide       side[2]; /* in, out */
} HopsLanesTensorFaceArgs;

typedef struct {
  int                  dim, Q, nq, W, S, kind, c, nc, entry, nentries, nwork;
  PetscInt             n;
  const int           *cell, *face;
  const double        *tables, *q;
  double              *work, *l;
  const int           *restr;
  HopsLanesTensorTable table;
} HopsLanesTensorFaceDiagonalArgs;

/* Bytes of scratch of a team's own */
static inline size_t HopsLanesTensorBytes(const HopsLanesTensorArgs *a, bool fixed, int group)
{
  return a->work ? 0 : ((fixed ? 0 : a->ntables) + (size_t)a->nwork * group) * sizeof(double);
}

/* L-vectors of what comes out += the form on the batches of the arguments, by so many teams of so many lanes.
   With `busy` it only says how many teams keep the machine busy, 0: it has no kernel for these components */
typedef PetscErrorCode (*HopsLanesTensorLaunch)(const HopsLanesTensorArgs *, int lanes, int teams, int *busy);

typedef struct {
  const HopsBackendOps *backend;          /* whose memory it is */
  int                   group;            /* cells of a slot, whose data lie side by side */
  int                   lanes, facelanes; /* of a team at most: cells, faces */
  /* teams of a launch with so much scratch each; is it their own? */
  PetscErrorCode (*GetSizes)(size_t bytes, int *teams, PetscBool *own);
  /* bytes that teams of kernels which know all sizes can have, in whatever memory; NULL: their own alone */
  size_t (*MostScratch)(void);
  HopsLanesTensorLaunch fixed[HOPS_TENSOR_MOST_POINTS + 1]; /* that know all sizes, by points per direction; NULL: none */
  HopsLanesTensorLaunch generic;
  PetscErrorCode (*Diagonal)(const HopsLanesTensorDiagonalArgs *, int lanes, int teams);
  PetscErrorCode (*FacesApply)(const HopsLanesTensorFaceArgs *, int teams);
  PetscErrorCode (*FacesDiagonal)(const HopsLanesTensorFaceDiagonalArgs *, int teams);
  const HopsLanesMeetOps *meet;
} HopsLanesTensorKernels;

typedef struct _HopsLanesTensor *HopsLanesTensor;
struct _HopsLanesTensor {
  struct _HopsTensorOperator    head;
  const HopsLanesTensorKernels *kernels;
  HopsLanesTensorArgs           args[2]; /* as it stands, transposed */
  HopsLanesTensorLaunch         launch;
  int                           n[2], nt;
  HopsLanesTensorTable          table[2 * HOPS_TENSOR_SIDES]; /* [nt], of all P */
  PetscInt                      nb, part[4], *first;
  PetscInt                      nblocks;
  const HopsTensorData         *data;
  double                       *tables;
  PetscInt                     *cell;
  void                         *program[2][2]; /* the back end's: out, op of args[0], args[1] */
  /* of test and trial sides: indices and where pieces meet, one for all with the same nodes; buffers */
  int           *marked[2][HOPS_TENSOR_SIDES];
  HopsLanesMeets meets[2][HOPS_TENSOR_SIDES];
  void          *buffer[2][HOPS_TENSOR_SIDES];
  double        *work;
  int            teams[2], lanes; /* teams at most, lanes of one */
};

EXTERN_C_BEGIN
PETSC_INTERN PetscErrorCode HopsLanesTensorCreate(const HopsLanesTensorKernels *, HopsSpace, PetscInt Q, PetscInt W, PetscInt ntest,
                                                  const HopsTensorSide test[], PetscInt ntrial, const HopsTensorSide trial[],
                                                  HopsTensorOperator *);
PETSC_INTERN PetscErrorCode HopsLanesTensorFacesCreate(HopsTensorOperator, PetscInt n, const PetscInt cells[],
                                                       const PetscInt faces[], const HopsTensorData *, HopsTensorOperator *);
/* For each component that comes out the pairs that add to it; `item` values lie between the components of a
   side */
PETSC_INTERN PetscErrorCode HopsLanesTensorProgram(const HopsBackendOps *, PetscInt nblocks, const HopsTensorData[],
                                                   PetscBool transpose, int dim, int item, const HopsLanesTensorSide in[], int nout,
                                                   const HopsLanesTensorSide out[], void *program[2]);
EXTERN_C_END
