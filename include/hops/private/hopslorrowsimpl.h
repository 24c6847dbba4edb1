/* Matrices whose rows a back end writes in its memory, each by its owner: low-order-refined ones, and those
   of the lattice's topology. */
#pragma once
#include <hops/private/hopsimpl.h>

/*
  Rows of a matrix: n rows from L index `first` (owned unknowns, or ghosts). Columns are free L indices, or
  others from nT + nG on for what only received entries know. Those below `split` are in block 0, the others
  in block 1; both are CSR. All pointers are to the back end's memory.

  A row's columns ascend where `sorted`, as they always do on the host. Else a row lists its diagonal entry
  first, then its columns as its cells, in ascending order, meet them: along the axes, then across faces, then
  those received.

  Where the memory is the process's the values of all rows of a matrix are one array: one entry that stands
  for nowhere, those of ghosts' rows, block 0, block 1.
*/
typedef struct {
  PetscInt   first, n, split;
  PetscBool  sorted, coupled; /* coupled: some old mask is not zero */
  int       *i[2], *j[2];     /* i[0][n + 1]; i[1] is NULL where no column reaches `split` */
  PetscReal *v[2];
  size_t     before; /* entries of that array before v[0] */
  size_t     nnz[2];
  PetscInt   nslots;            /* rows with received entries */
  int       *slotrow, *xi, *xj; /* [nslots] such a row, less `first`; CSR of its received columns */
  int       *slot;              /* [n] slot of a row, or -1; NULL where nslots is 0 */
  int       *map;               /* column of block 1 by L index less `split`, once known */
  PetscInt   nmap;

  /* The host's, once the pattern is there: cell c adds to entries cellplace[cellstart[c]] and on of the array
     (see hostlorimpl.h), and what is received goes to received[] */
  const int *cellstart, *cellplace, *received;

  /* A device's own */
  int       nblocks; /* of rows */
  PetscBool placed;  /* places are those of the final pattern */
  PetscBool nonzero; /* FillValues() has seen that diagonal entries are not zero before others add to them */
  PetscBool anylong; /* set by CountRows(): some row has more columns than a row's table, or a thread's list */
  /* [nplace] or more: where what cells add to the rows goes; made with the lengths in H1, else when values
     are asked for */
  unsigned long long *place;
  int                 place0, nplace, nlong;
  int                *longrow; /* [nlong] rows without, in H1 */
} HopsLORRows;

/* ----------------------------------- low-order-refined matrices ----------------------------------- */

/*
  Vertex quadrature at the GLL nodes: the corners of sub-cells around a node share its GLL weight in
  proportion to their volumes. Vertex data are geometry factors, coefficients in them, and masses at the
  nodes of all cells, and for each cell a mask of the direction pairs whose off-diagonal factor is not
  negligible: bit 0 xy, bit 1 xz, bit 2 yz; negligible is |G_ab| <= tol sqrt(G_aa G_bb) at every node. The
  pattern has masks of its own, the old ones.
*/
typedef struct _HopsLORVertexData *HopsLORVertexData; /* the back end's */
typedef struct {
  /* of cells first..first+n-1; first = 0 begins anew. A term is absent where nc = 0. Without `mixed` the
     off-diagonal factors are not kept; in H1 a cell where all are below droptol gets no mask. bad: a cell
     with a determinant that is not positive, or -1 */
  PetscErrorCode (*VertexData)(HopsLORAssembler, PetscInt first, PetscInt n, const HopsValues *derivative, const HopsValues *field,
                               PetscBool mixed, PetscReal tol, PetscReal droptol, HopsLORVertexData *, PetscInt *bad);
  PetscErrorCode (*VertexDestroy)(HopsLORAssembler, HopsLORVertexData *);
  /* covered: the pattern's masks, and its terms, hold the data's; coupled: some mask of the data is not zero.
     adopt: those of the data become the pattern's. Without data, on the host: all pairs */
  PetscErrorCode (*CompareMasks)(HopsLORAssembler, HopsLORVertexData, PetscBool adopt, PetscBool *covered, PetscBool *coupled);
  /* of a cell, the first data's mask gets the bits of the second's: of forms that share a pattern (H1) */
  PetscErrorCode (*MergeMasks)(HopsLORAssembler, HopsLORVertexData, HopsLORVertexData);
  /* in this order, ghosts' rows first: row pointers and nnz; columns, with used[c - split] = 1 for those of
     block 1; that block by rows->map, where there is one; values of both rows, from data that fit */
  PetscErrorCode (*CountRows)(HopsLORAssembler, HopsLORRows *);
  PetscErrorCode (*FillColumns)(HopsLORAssembler, HopsLORRows *, unsigned char used[]);
  PetscErrorCode (*MapColumns)(HopsLORAssembler, HopsLORRows *);
  PetscErrorCode (*FillValues)(HopsLORAssembler, HopsLORVertexData, HopsLORRows *, HopsLORRows *ghosts);
  PetscErrorCode (*AddReceived)(HopsLORAssembler, HopsLORRows *, const PetscReal x[]); /* x as xj */
  /* diagonal entries of the rows that lie among idx[n] (L indices, distinct): += x[i], or = 1 where x is
     NULL */
  PetscErrorCode (*SetDiagonal)(HopsLORAssembler, HopsLORRows *, PetscInt n, const PetscInt idx[], const PetscReal x[]);
  /* is a diagonal entry zero? Of rows whose columns of block 0 are rows, wide ones too */
  PetscErrorCode (*FindZero)(HopsLORAssembler, const HopsLORRows *, PetscBool *zero);
  /* nc components that do not couple, on the same pattern: entry (r, j) of component c is entry (r nc + c, j
     nc + c) of the wide rows, whose memory is there. The pattern, with columns of block 1 as mapped; and the
     values of a component, with fixed[block][column] a bit for each component whose row and column are the
     identity's; block 0's columns are the rows. fixed[block] may be NULL */
  PetscErrorCode (*WidenRows)(HopsLORAssembler, const HopsLORRows *, PetscInt nc, HopsLORRows *wide);
  PetscErrorCode (*WidenValues)(HopsLORAssembler, const HopsLORRows *, PetscInt nc, PetscInt c, unsigned char *const fixed[2],
                                HopsLORRows *wide);
  PetscErrorCode (*Destroy)(HopsLORAssembler *);
} HopsLOROps;
struct _HopsLORAssembler {
  const HopsLOROps *ops;
  const char       *kernel;            /* name of what runs */
  PetscInt          constraintentries; /* of a hanging node's row; 0: all. Set before there is a pattern */
  PetscBool         guess;             /* off-diagonal factors cost memory where there are none, too */
};

/* The n entries of a cell's matrix between nodes that do not hang, in the order of its cellplace[]: nodes of
   the row and of the column, values. All zero at first; PetscFree4() of v, row, col, work */
typedef struct {
  int        n, *row, *col;
  PetscReal *v, *work;
} HopsLORCondensed;

/* src/backend/host/lor/hostlorhang.c, of the host's in H1: that matrix of a cell with hanging nodes, from A
   by the stencils of its nodes, of n numbers an entry; no entries where no node hangs */
PETSC_INTERN PetscErrorCode HopsHostLORCondense(HopsLORAssembler, PetscInt cell, PetscInt n, const PetscReal A[],
                                                HopsLORCondensed *);

/* --------------------------------- matrices of the lattice's topology --------------------------------- */

/*
  A matrix of the lattice's topology: row l is that of entry i of any cell of `to` that sees unknown l, in
  which n columns at most are entries of the cell in `from`. Values are the signs of table, turned where one
  of the spaces turns the unknown; or scale[l] / n in all columns.
*/
typedef struct {
  HopsSpace to, from;
  /* [ncells] cells of `to` in the order of `from`, or NULL where they are the same; on the device, as the
     next two */
  const int    *cell;
  const int    *table;  /* [to->ne][n] 2 * entry of `from` + 1 where it is subtracted, or -1 */
  int           n;      /* at most 6 */
  const double *scale;  /* [nT] or NULL */
  PetscInt      nextra; /* explicit zeros in these columns, own ones that no row has: one for each, spread over the rows */
  const int    *extra;  /* [nextra], on the device */
  PetscInt      ness;   /* rows without entries: essential unknowns of `to` that its vectors keep */
  const int    *ess;    /* [ness], on the device */
} HopsDeviceIncidence;

struct _HopsRowsOps {
  /* rows of an incidence, columns ascending: row pointers and nnz; columns (used[] as in FillColumns()) and
     values. missing: unknowns that no cell sees, essential ones apart, whose rows are empty */
  PetscErrorCode (*IncidenceCount)(const HopsDeviceIncidence *, HopsLORRows *, PetscInt *missing);
  /* where all rows have n columns and none is in block 1: all at once, no counting; ok is false where that is
     not so after all */
  PetscErrorCode (*IncidenceFull)(const HopsDeviceIncidence *, HopsLORRows *, PetscBool *ok);
  PetscErrorCode (*IncidenceFill)(const HopsDeviceIncidence *, HopsLORRows *, unsigned char used[]);
  PetscErrorCode (*MapColumns)(HopsLORRows *); /* block 1 by rows->map */
  /* unit vectors in the space, v[d][nT]: integrals along edges or through faces of the lattice, whose faces
     are taken to be bilinear */
  PetscErrorCode (*UnitVectors)(HopsSpace, PetscReal *v[3]);
};
