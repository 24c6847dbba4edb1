/*
  Host back end: the low-order-refined matrix. Rows are counted and filled one by one, from the matrices of
  the cells that have the unknown. Values are added by cells, a batch of W at a time, at places that were
  found with the rows.
*/
#pragma once
#include <backend/host/runtime/hostimpl.h>
#include <hops/private/hopslorrowsimpl.h>

#define HOPS_LOR_LANES   8 /* members of a row that are ranked at a time */
#define HOPS_LOR_PAD     4
#define HOPS_LOR_GUESSES 10                  /* two to this power */
#define HOPS_LOR_HASH    0x9E3779B97F4A7C15u /* by 2^64 the golden section: upper bits of the product are a hash */

/* A row of a cell's matrix: its columns, less the row, and where the entries are in the cell's list. Both
   lists are as long as a multiple of HOPS_LOR_PAD, filled up with their first entry. Rows with one `id`, less
   than 256 in H1 and than 65536 elsewhere (0: none is left), have one list, for slots from `base` on. In H1
   `place` is that of the node in the cell, by lines: the first two nodes, an inner one, the last two */
typedef struct {
  int  n, base, id, place;
  int *col, *slot;
} HopsHostLORRow;

static inline int HopsHostLORPadded(int n)
{
  return (n + HOPS_LOR_PAD - 1) / HOPS_LOR_PAD * HOPS_LOR_PAD;
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
  int             *start, *col; /* of a cell with hanging nodes: A J by rows, */
  unsigned char   *same;        /* and which rows are those of A, in the same order */
} HopsHostLORCell;

/*
  Hanging nodes of a mask: J by rows, `most` entries kept in each, and by columns. A cell that has some has
  the matrix J^T A J, whose entries are listed by rows, as in families other than H1; A J has n entries,
  those of row v in the columns col[start[v]] and on.
*/
typedef struct {
  unsigned short mask;
  int           *start, *col, *tstart, *tcol;
  double        *w, *tw;
} HopsHostLORHang;

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
  PetscBool        terms[2], built; /* terms of the form that the cells' matrices are for */
  unsigned short  *mask;            /* [ncells] which of cell[]: the mask, and 8 times the number of the hanging mask */
  int              nkinds;
  HopsHostLORCell *cell;  /* [nkinds] */
  int              nhang; /* masks of hanging nodes, the first of which is 0: none */
  HopsHostLORHang *hang;  /* [nhang] */
  /* scratch of cells with hanging nodes, of a thread nhung doubles: entries of W cells before J, nstencil
     each, a row, and A J; identity[W nstencil] are the places of the first */
  double *hung;
  size_t  nhung, nstencil;
  int    *identity;
  int    *start, *place, *received; /* received: of entries from other ranks */
  /* While rows are made: entries of restr that have an unknown, ascending, and the most of them; 1 / ne;
     columns */
  int   *begin, *entry, *cols, mostcells;
  double perentry;

  /* Threads: how many; where those meet that add to places from `limit` on, to sums[place - limit] */
  int     T, limit, nmeet, *meet;
  double *sums;
  size_t  scratch; /* doubles of G between theirs */
};

/* What a row may look like: the ids of its cells' rows, which are its shape, and from a row of this shape its
   n columns (0: none was seen yet), each by a cell and a column of its list. Of the entries, HOPS_LOR_PAD in
   a row are of one cell, by its number: column and slot in its list, and which of the n it is */
typedef struct {
  uint64_t  shape;
  int       n, groups, *cell, *from, *group, *entry; /* entry: [groups][3][HOPS_LOR_PAD] */
  PetscBool shared;                                  /* some entries are of one column */
} HopsHostLORGuess;

/* A column that rows had, by its hash: who was the m-th member of all rows so far */
typedef struct {
  int          x;
  unsigned int m;
} HopsHostLORMet;

/* A walk over rows r0 to r1, now at r, with its scratch: the row's cells; its n members, the columns as they
   come; of the cells' entries the member, and -1 where the sign turns; where a member's entries go */
typedef struct {
  HopsLORKernel          k;
  HopsLORRows           *rows;
  const unsigned char   *essential; /* [nT] which rows are essential unknowns', or NULL */
  PetscInt               r0, r1, r;
  int                    nfree, most, nowhere;           /* columns that are not constrained; most columns of a cell's row */
  const int            **R;                              /* of the row's cells: the entry of restr, */
  int                  **place;                          /* where the slots of the cell's row begin, */
  const HopsHostLORRow **row;                            /* and that row */
  int                    n, *member, *at, *turn, *value; /* value[nowhere] is 0 */
  HopsHostLORMet        *met;                            /* [2^(64 - shift)] */
  unsigned int           shift, count;                   /* members of rows so far */
  HopsHostLORGuess      *guess;                          /* by a hash of the shape */
  int                   *cols;
  size_t                 room, nnz[2], before[2]; /* before: columns of the walks over rows before r0 */
  int                   *ints;                    /* memory of the above */
  const int            **lists;
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
  void (*rowbegin)(HopsHostLORWalk *, PetscInt r);
  void (*rowend)(HopsHostLORWalk *, PetscInt r);
};

/* hostlorhang.c: of cells with hanging nodes: masks by cell; J, once it is known how many entries a row
   keeps; the matrix of a kind of cells, from the one without hanging nodes; scratch; what cell c, with s[]
   before J, adds */
PETSC_INTERN PetscErrorCode HopsHostLORHangSetUp(HopsLORKernel);
PETSC_INTERN PetscErrorCode HopsHostLORHangRows(HopsLORKernel);
PETSC_INTERN PetscErrorCode HopsHostLORHangCell(HopsLORKernel, HopsHostLORHang *, const HopsHostLORCell *, HopsHostLORCell *);
PETSC_INTERN PetscErrorCode HopsHostLORHangScratch(HopsLORKernel);
PETSC_INTERN void           HopsHostLORHangAdd(const struct _HopsLORKernel *, PetscInt c, const double s[], double vals[]);
PETSC_INTERN PetscErrorCode HopsHostLORHangDestroy(HopsLORKernel);
/* hostlorcell.c: memory for the lists of rows of n[] entries; one more entry of a row */
PETSC_INTERN PetscErrorCode HopsHostLORCreateLists(PetscInt nrows, const int n[], HopsHostLORCell *, HopsHostLORRow[]);
PETSC_INTERN void           HopsHostLORAddEntry(HopsHostLORRow *, int col, int slot);
/* hostlorcell.c: the matrices of the cells whose masks occur, for the terms of the form */
PETSC_INTERN PetscErrorCode HopsHostLORCellsCreate(HopsLORKernel);
PETSC_INTERN PetscErrorCode HopsHostLORCellsDestroy(HopsLORKernel);
/* hostlorrows.c */
PETSC_INTERN PetscErrorCode HopsHostLORCountRows(HopsLORAssembler, HopsLORRows *);
PETSC_INTERN PetscErrorCode HopsHostLORFillColumns(HopsLORAssembler, HopsLORRows *, unsigned char used[]);
PETSC_INTERN PetscErrorCode HopsHostLORMapColumns(HopsLORAssembler, HopsLORRows *);
PETSC_INTERN PetscErrorCode HopsHostLORAddReceived(HopsLORAssembler, HopsLORRows *, const PetscReal x[]);
PETSC_INTERN PetscErrorCode HopsHostLORSetDiagonal(HopsLORAssembler, HopsLORRows *, PetscInt n, const PetscInt idx[],
                                                   const PetscReal x[]);
PETSC_INTERN PetscErrorCode HopsHostLORFindZero(HopsLORAssembler, const HopsLORRows *, PetscBool *zero);
PETSC_INTERN PetscErrorCode HopsHostLORRowsReset(HopsLORKernel); /* places */
PETSC_INTERN PetscErrorCode HopsHostLORCheckEntries(PetscInt64);
/* hostlorthreads.c */
PETSC_INTERN PetscErrorCode HopsHostLORMeet(HopsLORKernel, int limit);
PETSC_INTERN void           HopsHostLORMeetAdd(HopsLORKernel, double vals[]);

/* Entries of a cell of this kind: in H1 stencils have so many at each node */
static inline int HopsHostLOREntries(const struct _HopsLORKernel *k, int kind)
{
  return k->family == HOPS_H1 && kind < 8 ? k->cell[kind].n * k->nn : k->cell[kind].n;
}

/* Does a batch have cells with hanging nodes? */
static inline PetscBool HopsHostLORHangs(const struct _HopsLORKernel *k, PetscInt batch)
{
  for (PetscInt c = batch * k->W; c < PetscMin(k->space->ncells, (batch + 1) * k->W); c++)
    if (k->mask[c] >= 8) return PETSC_TRUE;
  return PETSC_FALSE;
}

/* Where a value of a cell is added */
static inline double *HopsHostLORTarget(const struct _HopsLORKernel *k, double vals[], int place)
{
#if defined(HOPS_OPENMP)
  if (place >= k->limit) return k->sums + (place - k->limit);
#endif
  return vals + place;
}
