/*
  Host back end: the low-order-refined matrix. Rows are counted and filled one by one, from the matrices of
  the cells that have the unknown. Values are added by cells, a batch of W at a time, at places that were
  found with the rows.
*/
#pragma once
#include <backend/host/runtime/hostimpl.h>
#include <hops/private/hopslorrowsimpl.h>

#define HOPS_LOR_LANES 8 /* entries of a cell's row that are looked at at a time */

/* A row of a cell's matrix: its columns, less the row, and where the entries are in the cell's list. Both
   lists are as long as a multiple of the lanes, filled up with their first entry */
typedef struct {
  int  n, place; /* place: rows of one place have one list, in H1 by the node's place in the cell */
  int *col, *slot;
} HopsHostLORRow;

static inline int HopsHostLORPadded(int n)
{
  return (n + HOPS_LOR_LANES - 1) / HOPS_LOR_LANES * HOPS_LOR_LANES;
}

/* loc[entry] += a * value */
typedef struct {
  int       entry, value;
  PetscReal a;
} HopsHostLORTerm;

/*
  A cell's matrix for one mask. In H1 its list has (order+1)^dim times n entries. Those of a node v = (i,j,k)
  are the diagonal; for each direction a the pair (v,v+e_a), (v+e_a,v); for each coupled pair ab the
  anti-diagonal (v+e_a,v+e_b), (v+e_b,v+e_a) and the main diagonal (v,v+e_a+e_b), (v+e_a+e_b,v), as listed.
  Slots are those of the row's node and on. Elsewhere there are n entries, by rows, and the terms that they
  are made of, by entries; values are those at the nodes, [node][nd] of the derivative's tensor, then
  [node][nm] of the field's.
*/
typedef struct {
  int              n, nterms, most; /* most: of the columns of a row */
  HopsHostLORRow  *row;             /* [ne], NULL before the mask occurs */
  int             *lists;
  HopsHostLORTerm *term;
} HopsHostLORCell;

typedef struct _HopsLORKernel *HopsLORKernel;
struct _HopsLORKernel {
  struct _HopsLORAssembler head;
  const HopsHostKernels   *ops;
  HopsSpace                space; /* not a reference: the matrix has one */
  const HopsBasis         *gll;   /* the same */
  HopsFamily               family, dfamily;
  int                      dim, P, W, nn;
  double                  *h, *m, *r; /* [P-1] sub-cell widths; [P] lumped 1D mass; [P] GLL weights by lumped mass */
  double                  *G;         /* scratch vectors: in H1 the factors and masses of a batch, elsewhere entries */
  size_t                   nG;        /* of these */
  HopsBasis                geom;
  HopsHostGeometry         map;
  void                    *mem[2];
  char                     name[64];

  /* The pattern. Values of a cell's entries go to place[start[c]] and on, 0 standing for nowhere; where the
     sign turns, to -1 - place */
  PetscBool       terms[2], built; /* terms of the form that the cells' matrices are for */
  unsigned char  *mask;            /* [ncells] */
  HopsHostLORCell cell[8];
  int            *start, *place, *received; /* received: of entries from other ranks */
  /* While rows are made: entries of restr that have an unknown, ascending, the most of them, and whether
     two are of one cell; 1 / ne; columns */
  int      *begin, *entry, *cols, mostcells;
  PetscBool twice;
  double    perentry;

  /* Threads: how many; where those meet that add to places from `limit` on, to sums[place - limit] */
  int     T, limit, nmeet, *meet;
  double *sums;
  size_t  scratch; /* doubles of G between theirs */
};

/* A cell of a row: entry e of restr, node or entity v of the cell, its row and where its slots begin */
typedef struct {
  int                    e, v, base, step; /* step: from the row before */
  const HopsHostLORCell *cell;
  const HopsHostLORRow  *row;
} HopsHostLORRowCell;

/* A row: its columns as they come, which are its members, and of the cells' entries the member, and -1
   where the sign turns. Members behind those of the first cell are at entry `from` of the row of cell
   `fromcell` */
typedef struct {
  int                 n, ncells, *member, *at, *turn;
  HopsHostLORRowCell *cell; /* [ncells] */
  int                 prepared, *from, *fromcell;
} HopsHostLORMembers;

/* A walk over rows r0 to r1 */
typedef struct {
  HopsLORKernel        k;
  HopsLORRows         *rows;
  const unsigned char *essential; /* [nT] which rows are essential unknowns', or NULL */
  PetscInt             r0, r1;
  int                  nfree, most, nowhere; /* columns that are not constrained; most columns of a cell's row */
  HopsHostLORMembers   last[27];             /* the last row by the place of its node in its first cell */
  int                 *value;                /* where a member's entries go; value[nowhere] is 0 */
  int                 *cols;
  size_t               room, nnz[2], before[2]; /* before: columns of the walks over rows before r0 */
  void                *mem[2];
} HopsHostLORWalk;

/*
  Values at the nodes of a batch of W cells begin at v + offset[batch]. In H1: for each direction a the edges
  (v,v+e_a) of the matrix, for the pairs of `pairs` q_ab = R G_ab m_c / 4, then the masses, each at all nodes;
  a term has no values where it is not there.
*/
struct _HopsLORVertexData {
  int            nd, nm;       /* values of a node for the derivative's term, for the field's */
  size_t         size;         /* in use, in doubles */
  size_t        *offset;       /* [batches] */
  unsigned char *pairs, *mask; /* [batches] in H1; [ncells] coupled direction pairs */
  double        *v;
  void          *mem;
};

/* Of one instruction set, for H1 and for the other families: the run's vertex data, with pairs of directions
   where `mixed`, and masks; vals[place] += the values of all cells */
struct _HopsHostLORKernels {
  void (*vertex)(HopsLORKernel, HopsHostRun *, PetscBool mixed, double tol, double droptol, HopsLORVertexData);
  void (*values)(const struct _HopsLORKernel *, const struct _HopsLORVertexData *, PetscInt c0, PetscInt c1, double vals[]);
  void (*derhamvertex)(HopsLORKernel, HopsHostRun *, PetscBool mixed, double tol, double droptol, HopsLORVertexData);
  void (*formvalues)(const struct _HopsLORKernel *, const struct _HopsLORVertexData *, PetscInt c0, PetscInt c1, double vals[]);
  PetscBool (*rows)(HopsHostLORWalk *); /* hostlorrows.h */
  HopsHostLORMembers *(*rowbegin)(HopsHostLORWalk *, PetscInt r);
  void (*rowend)(HopsHostLORWalk *, PetscInt r, HopsHostLORMembers *);
};

/* hostlorcell.c: the matrices of the cells whose masks occur, for the terms of the form */
PETSC_INTERN PetscErrorCode HopsHostLORCellsCreate(HopsLORKernel);
PETSC_INTERN PetscErrorCode HopsHostLORCellsDestroy(HopsLORKernel);
/* hostlorrows.c */
PETSC_INTERN PetscErrorCode HopsHostLORCountRows(HopsLORAssembler, HopsLORRows *);
PETSC_INTERN PetscErrorCode HopsHostLORFillColumns(HopsLORAssembler, HopsLORRows *, unsigned char used[]);
PETSC_INTERN PetscErrorCode HopsHostLORMapColumns(HopsLORAssembler, HopsLORRows *);
PETSC_INTERN PetscErrorCode HopsHostLORAddReceived(HopsLORAssembler, HopsLORRows *, const PetscScalar x[]);
PETSC_INTERN PetscErrorCode HopsHostLORSetDiagonal(HopsLORAssembler, HopsLORRows *, PetscInt n, const PetscInt idx[],
                                                   const PetscScalar x[]);
PETSC_INTERN PetscErrorCode HopsHostLORRowsReset(HopsLORKernel); /* places */
PETSC_INTERN PetscErrorCode HopsHostLORCheckEntries(PetscInt64);
/* hostlorthreads.c */
PETSC_INTERN PetscErrorCode HopsHostLORMeet(HopsLORKernel, int limit);
PETSC_INTERN void           HopsHostLORMeetAdd(HopsLORKernel, double vals[]);

/* Where a value of a cell is added */
static inline double *HopsHostLORTarget(const struct _HopsLORKernel *k, double vals[], int place)
{
#if defined(HOPS_OPENMP)
  if (place >= k->limit) return k->sums + (place - k->limit);
#endif
  return vals + place;
}
