/*
  Host back end: the low-order-refined matrix. Rows are counted and filled one by one, from the matrices of
  the cells that have the unknown. Values are added by cells, a batch of W at a time, at places that were
  found with the rows.
*/
#pragma once
#include <backend/host/runtime/hostimpl.h>
#include <hops/private/hopslorrowsimpl.h>

/* A row of a cell's matrix: its columns, less the row, and where the entries are in the cell's list */
typedef struct {
  int        n;
  const int *col, *slot;
} HopsHostLORRow;

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
  int            *begin, *entry, *cols;     /* while rows are made: entries of restr that have an unknown, ascending; columns */
};

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
  void (*values)(const struct _HopsLORKernel *, const struct _HopsLORVertexData *, double vals[]);
  void (*derhamvertex)(HopsLORKernel, HopsHostRun *, PetscBool mixed, double tol, double droptol, HopsLORVertexData);
  void (*formvalues)(const struct _HopsLORKernel *, const struct _HopsLORVertexData *, double vals[]);
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
