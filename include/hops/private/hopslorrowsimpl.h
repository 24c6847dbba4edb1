/* Operations of a back end that assembles the low-order-refined matrix on a device, where each row is written
   by its owner. */
#pragma once
#include <hops/private/hopsimpl.h>

/*
  Rows of a matrix: n rows from L index `first` (owned unknowns, or ghosts). Columns are free L indices, or
  others from nT + nG on for what only received entries know. Those below `split` are in block 0, the others
  in block 1; both are CSR. All pointers are to the device's memory.

  A row lists its diagonal entry first, then its columns as its cells, in ascending order, meet them: along
  the axes, then across faces, then those received; or all ascending, where `sorted`.
*/
typedef struct {
  PetscInt     first, n, split;
  PetscBool    sorted, coupled; /* coupled: some old mask is not zero */
  int         *i[2], *j[2];     /* i[0][n + 1]; i[1] is NULL where no column reaches `split` */
  PetscScalar *v[2];
  size_t       nnz[2];
  PetscInt     nslots;            /* rows with received entries */
  int         *slotrow, *xi, *xj; /* [nslots] such a row, less `first`; CSR of its received columns */
  int         *slot;              /* [n] slot of a row, or -1; NULL where nslots is 0 */
  int         *map;               /* column of block 1 by L index less `split`, once known */
  PetscInt     nmap;
  int          nblocks; /* of rows, the back end's own */
  PetscBool    placed;  /* places are those of the final pattern: the back end's own */
  PetscBool    anylong; /* set by CountRows(): some row has more columns than a row's table, or a thread's list */

  /* [nplace] or more: where what cells add to the rows goes, the back end's own; made with the lengths in H1,
     else when values are asked for */
  unsigned long long *place;
  int                 place0, nplace;
} HopsLORRows;

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

/*
  Masks are those of HopsLOROps.Couplings(), one for each cell: new ones belong to the vertex data, old
  ones to the pattern.
*/
struct _HopsRowsOps {
  /* memory that is cheap to take and to give back, in the order of the stream */
  PetscErrorCode (*Malloc)(size_t bytes, void **);
  PetscErrorCode (*Free)(void **);
  /* geometry factors and mass at the nodes of cells first..first+n-1 (first = 0 starts anew), and new masks;
     without `mixed` the off-diagonal factors are not kept; a cell where all are below droptol gets no mask.
     bad: a cell with a determinant that is not positive, or -1 */
  PetscErrorCode (*VertexData)(HopsLORAssembler, PetscInt first, PetscInt n, const HopsValues *kappa, const HopsValues *mass,
                               PetscBool mixed, PetscReal tol, PetscReal droptol, PetscInt *bad);
  PetscErrorCode (*FreeVertexData)(HopsLORAssembler);
  /* covered: the old masks hold the new ones; coupled: some new mask is not zero. adopt: the new ones become
     the old ones */
  PetscErrorCode (*CompareMasks)(HopsLORAssembler, PetscBool adopt, PetscBool *covered, PetscBool *coupled);
  /* in this order: row pointers and nnz; columns, with used[c - split] = 1 for those of block 1; values */
  PetscErrorCode (*CountRows)(HopsLORAssembler, HopsLORRows *);
  PetscErrorCode (*FillColumns)(HopsLORAssembler, HopsLORRows *, unsigned char used[]);
  PetscErrorCode (*MapColumns)(HopsLORAssembler, HopsLORRows *); /* block 1 by rows->map */
  PetscErrorCode (*FillValues)(HopsLORAssembler, HopsLORRows *);
  PetscErrorCode (*AddReceived)(HopsLORAssembler, HopsLORRows *, const PetscScalar x[]); /* x as xj */
  /* diagonal entries of the rows that lie among idx[n] (L indices, distinct): += x[i], or = 1 where x is
     NULL */
  PetscErrorCode (*SetDiagonal)(HopsLORAssembler, HopsLORRows *, PetscInt n, const PetscInt idx[], const PetscScalar x[]);
  /* rows of an incidence, columns ascending: row pointers and nnz; columns (used[] as in FillColumns()) and
     values. missing: unknowns that no cell sees, essential ones apart, whose rows are empty */
  PetscErrorCode (*IncidenceCount)(const HopsDeviceIncidence *, HopsLORRows *, PetscInt *missing);
  /* where all rows have n columns and none is in block 1: all at once, no counting; ok is false where that is
     not so after all */
  PetscErrorCode (*IncidenceFull)(const HopsDeviceIncidence *, HopsLORRows *, PetscBool *ok);
  PetscErrorCode (*IncidenceFill)(const HopsDeviceIncidence *, HopsLORRows *, unsigned char used[]);
  /* unit vectors in the space, v[d][nT]: integrals along edges or through faces of the lattice, whose faces
     are taken to be bilinear */
  PetscErrorCode (*UnitVectors)(HopsSpace, PetscScalar *v[3]);
  PetscErrorCode (*Wait)(HopsLORAssembler); /* for all streams: another library has its own */
};
