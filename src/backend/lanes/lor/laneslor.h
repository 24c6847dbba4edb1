/* Low-order-refined matrices of back ends that launch kernels for teams of lanes: what such a back end
   brings, and a matrix's data. */
#pragma once
#include <hops/private/hopsimpl.h>
#include <hops/private/hopslorrowsimpl.h>
#include <hops/private/hopsderhamimpl.h>
#include <stdbool.h>

#define HOPS_LOR_NOWHERE   INT_MAX
#define HOPS_LANES_LOR_MAX 63 /* columns of a row whose places are kept, in H1; values of longer ones are looked up */

/* words of the places of a cell in a row, six bits for each of its neighbours */
#define HOPS_LANES_LOR_WORDS(dim, coupled) ((dim) == 3 && (coupled) ? 2 : 1)

/*
  Rows of cells with hanging nodes, J^T A J of a cell's matrix A. Where J changes nothing, neither in an
  entry's row nor in its columns, the row is found like any other. What a cell adds to the others' rows is put
  down in a list of its own, and the rows collect it. Which entries, columns and weights these are is the same
  for all cells of a kind: of a mask of hanging nodes and one of coupled directions. NULL if there are none.
*/
typedef struct {
  const int            *begin, *entry; /* as in the mesh: the entries whose rows J changes, where the mesh has the others */
  const int            *kind, *first;  /* [ncells] a cell's kind, or -1; where its list begins */
  const int            *row, *col;     /* [kinds][ne + 1] where a row's columns begin; columns, entries of the cell, ascending */
  const int            *slot;          /* where the number of each of these is in the cell's list */
  const unsigned short *of;            /* the entry in whose row it is */
  /* columns of a row that no entry before entry[q] has: extracol[extra[q]] to extracol[extra[q + 1] - 1];
     in H1 those that the row's cells have without J are left out, too */
  const int *extra, *extracol;
} HopsLORHung;

/* Numbers of all lists, as far as rows are free, in the order of rows and of their entries q, whose ones
   begin at first[q]: at[2 i] and at[2 i + 1] are L indices of row and column with their signs, source[i]
   where the number is in the lists. In H1, where there are no signs, the column is -1 - its index if the
   row or the column is inside a cell: no other cell has both */
typedef struct {
  int n, *first, *at, *source;
} HopsLORHungNumbers;

/* Where numbers of lists go in rows, once for a pattern: the k-th of n places takes those of from[begin[k]]
   to from[begin[k + 1] - 1], -1 - its index where it is its negative */
typedef struct {
  int  n;
  int *to; /* [n] index of block 0, or -1 - that of block 1 */
  int *begin, *from;
} HopsLORHungTo;

#define HOPS_LOR_HUNG_SLICE 32 /* numbers of a list whose products lie side by side */
#define HOPS_LOR_HUNG_CELLS 8  /* of a kind, that a team works on together */

/* Numbers of lists as sums of entries of A times weights, where these are few. Of A there are the rows of the
   entries in list[], `star` numbers each. Numbers of a list are in the order of how many products they have.
   So those of a slice have about as many, and get others with a weight of zero. Product j of number i of a
   slice is at j * HOPS_LOR_HUNG_SLICE + i from the slice's beginning on */
typedef struct {
  int                   star;
  const int            *slice, *begin; /* [kinds + 1] a kind's first slice; [slices + 1] where its products begin */
  const unsigned short *at;            /* which entry of A; NULL where lists come by T */
  const double         *weight;
} HopsLORHungSums;

/* What a kernel that computes the lists needs besides. T = A J has rows tcol[trow[v]] and on of the entries v
   in list[], ascending; `place` says where each product of a column of A and a weight of J goes in it */
typedef struct {
  int                   n, most;      /* groups of cells; places of T of a team, or entries of A */
  int                   ncells;       /* of all groups */
  const int            *group, *cell; /* [n + 1] the cells of each, which are of one kind */
  const int            *nlist, *list; /* [kinds + 1] where a kind's entries v begin */
  HopsLORHungSums       sums;
  const int            *trow, *tcol;  /* [kinds][ne + 1] */
  const int            *prow;         /* [kinds][ne] where the places of row v begin */
  const unsigned short *place;        /* from the beginning of row v of T on */
  const int            *jrow, *jtrow; /* [kinds][ne + 1] rows of J, and of its transpose */
  const int            *jtcol;
  const double         *j, *jt;
  /* or the sum that a column of `col` is: products pt[prod[i]] and on, 65536 times a weight of jt, from the
     kind's first one on, plus a place of T; NULL where these would be too many */
  const int          *prod;
  const unsigned int *pt;
  double             *values, *work; /* the lists; [teams][most], where a team's own memory does not hold a T */
  int                 teams;
} HopsLORHungWork;

/* What kernels need of the mesh; node v of cell c is entry e = c * nn + v of restr */
typedef struct {
  int        ncells, dim, P, nn, nfree; /* nn = P^dim */
  const int *restr;                     /* [ncells][nn] L indices; constrained from nfree on */
  /* entries of an unknown, ascending: entry[begin[l]..begin[l+1]); of constrained ones in H1 alone */
  const int           *begin, *entry;
  const unsigned char *mask; /* [ncells] coupled direction pairs of the pattern */
  /* [ncells] which of its faces and edges a cell has before others, see laneslorplace.h; NULL where
     that does not say which columns cells share */
  const unsigned int *own;
  HopsLORHung         hung;
  const double       *hinv;     /* [P-1] inverse widths of the sub-cells on [-1,1] */
  const int          *ijk;      /* [nn] place of a node: i + 256 j + 65536 k */
  double              perentry; /* 1 / nn */
  /* some cell has an unknown twice, as in a periodic mesh with one cell in a direction, or some unknown
     inside a cell is another one's too */
  bool twice;
} HopsLanesLORMesh;

/*
  Vertex data of H1, four numbers a node that a thread reads at once, zero where a term is not there;
  v[ncells][nn][4] and pairs[ncells][nn][4], or on a host [groups][nn][4][cells of a group]:
    S_a = R G_aa m_b m_c / 2 for each direction a (m: lumped 1D mass, G = detJ J^-1 kappa J^-T; no m_c in 2D),
    v[0..dim-1], q_ab = R G_ab m_c / 4 for the pairs xy, xz, yz, where `mixed`: pairs[0..2] in 3D, v[2] in 2D,
    mass R m_x m_y m_z detJ c, v[3],
  where R puts the Gauss-Lobatto weight of the node in place of its share of the sub-cells' volumes, as on the
  host.

  Of other families [ncells][ncomp][nn], or [groups][ncomp][nn][cells of a group]: the diagonal entries of the
  derivative's tensor, of the field's, then their off-diagonal ones.
*/
typedef struct {
  bool          mixed;
  int           ncomp; /* numbers a node */
  const double *v, *pairs;
} HopsLanesLORData;

/*
  Of other families: w times the sum of a component of the vertex data over the nodes base, base + 1, ...
  along the directions of `open` (bits). For an entity's own entry w is the product over the directions of
  1/(2h) where the entity extends, of the node's Gauss-Lobatto weight where it does not.
*/
typedef struct {
  int    base, open; /* base: component * nn + node */
  double w;
} HopsLumpNumber;

/* A run of cells: coordinates X[n][dim][Pg^dim], coefficient values with the strides of HopsValues */
typedef struct {
  int dim, P, Pg, nn, knc, mnc, ncomp;
  /* lump: tensors of other families than H1 in place of the factors, in family[0] (derivative) and
     family[1] */
  bool       mixed, lump;
  HopsFamily family[2];
  /* A host makes numbers[groups][nnumbers][cells of a group] of them at once, and keeps them in `out` for a
     group */
  int                   nnumbers;
  const HopsLumpNumber *number;
  double               *numbers;
  PetscInt              first, n, kcstride, kpstride, mcstride, mpstride;
  /* B, D: [P][Pg] the element map at the nodes; C: [P][P] derivatives at the nodes; m, r: [P] lumped 1D mass,
     Gauss-Lobatto weight over it */
  const double  *X, *B, *D, *C, *m, *r;
  const double  *kappa, *mass;
  const int     *ijk;                    /* of HopsLanesLORMesh */
  double         perentry, tol, droptol; /* droptol >= tol: a cell whose off-diagonal factors all lie below it has none */
  double        *out, *pairs;
  unsigned char *mask; /* set by any thread that finds a coupling */
  int           *bad;  /* least cell with a determinant that is not positive */
} HopsLanesLORRun;

/* What a form brings: of other families the numbers that the data make up, too */
struct _HopsLORVertexData {
  HopsLanesLORData v;
  size_t           size, numbersize; /* bytes */
  unsigned char   *mask;
  void            *numbers;
};

typedef struct _HopsLanesLOR *HopsLanesLOR;

typedef struct _HopsLumpKernels HopsLumpKernels; /* laneslump.h */

/* No function waits for a device, or is called for no cells or no rows */
typedef struct {
  const HopsBackendOps *backend; /* whose memory it is */
  int                   group;   /* cells whose vertex data lie side by side, number by number: a team's */
  PetscErrorCode (*Set)(void *p, int byte, size_t n);
  PetscErrorCode (*Scan)(size_t n, int x[]); /* as in lanes.h */
  /* laneslorvertex.h */
  PetscErrorCode (*VertexData)(const HopsLanesLORRun *);
  /* result[0]: some new mask has a bit that the old one lacks; result[1]: some new mask is not zero; both are
     zero before */
  PetscErrorCode (*Compare)(PetscInt n, const unsigned char newmask[], const unsigned char mask[], int result[2]);
  PetscErrorCode (*Merge)(PetscInt n, const unsigned char more[], unsigned char mask[]); /* mask[c] |= more[c] */
  /* laneslorrows.h. begin[nkeys + 1], entry[n]: where key[n], or -1 - key where it is negative, is k < nkeys,
     each list ascending. Then *twice = 1 where mesh.twice should be true, of nl unknowns of which a cell has
     percell, at its nodes or not */
  PetscErrorCode (*Transpose)(size_t n, const int key[], int nkeys, int begin[], int entry[]);
  PetscErrorCode (*FindTwice)(const HopsLanesLORMesh *, int nl, int percell, PetscBool nodes, int *twice);
  PetscErrorCode (*Slots)(const HopsLORRows *);
  PetscErrorCode (*Map)(const HopsLORRows *);
  PetscErrorCode (*Received)(const HopsLORRows *, const double x[]);
  PetscErrorCode (*Diagonal)(const HopsLORRows *, PetscInt n, const PetscInt idx[], const double x[]);
  PetscErrorCode (*FindZero)(const HopsLORRows *, int *zero); /* 1 where a diagonal entry of block 0 is zero */
  /* m->own, and whether it is to no use; then lengths, and columns and places, of rows in one block that
     receive nothing. NULL where a back end has none: the next ones serve all rows */
  PetscErrorCode (*Owners)(const HopsLanesLORMesh *, PetscInt ncells, unsigned int own[], int *irregular);
  PetscErrorCode (*CountOnce)(const HopsLanesLORMesh *, const HopsLORRows *, int *anylong);
  PetscErrorCode (*FillOnce)(const HopsLanesLORMesh *, const HopsLORRows *);
  /* laneslorpattern.h. Lengths, and places in rows->place: those of the rows that are not long ones are final
     where rows are neither sorted nor in two blocks. A long row gets minus a bound, and *work, zero before,
     adds up what these need of the buffer that CountLong() takes; it is zero again then */
  PetscErrorCode (*Count)(const HopsLanesLORMesh *, const HopsLORRows *, unsigned long long *work);
  PetscErrorCode (*CountLong)(const HopsLanesLORMesh *, const HopsLORRows *, int *buffer, unsigned long long *work);
  PetscErrorCode (*Columns)(const HopsLanesLORMesh *, const HopsLORRows *, unsigned char used[]);
  /* laneslorvalues.h: bytes of places, after the entries of restr that rows have are counted, which it may
     change; places in rows of the final pattern, looked up there if need be; which rows have none, in sum[n +
     1], where list is NULL, then by their sums the list; values. On a host *zero, 0 before, becomes 1 where a
     diagonal entry may be zero */
  size_t (*PlaceSize)(const HopsLanesLORMesh *, HopsLORRows *);
  PetscErrorCode (*Places)(const HopsLanesLORMesh *, const HopsLORRows *);
  PetscErrorCode (*LongRows)(const HopsLORRows *, int sum[], int list[]);
  PetscErrorCode (*Values)(const HopsLanesLORMesh *, const HopsLanesLORData *, const HopsLORRows *, int *zero);
  /* laneslorwide.h: rows of nc components; values of component c */
  PetscErrorCode (*WidenRows)(const HopsLORRows *, int nc, const HopsLORRows *wide);
  PetscErrorCode (*WidenValues)(const HopsLORRows *, int nc, int c, const unsigned char fixed0[], const unsigned char fixed1[],
                                const HopsLORRows *wide);
  /* laneslorhung.h: keys of the two transposed lists, n = nkeys where there is none; which entries of a kind
     J changes is changed[kinds][ne]. What cells' lists add to rows */
  PetscErrorCode (*HungKeys)(size_t ne, int percell, const int kind[], const unsigned char changed[], const int restr[], int nkeys,
                             int keys[], int hungkeys[]);
  PetscErrorCode (*HungRows)(const HopsLORHungTo *, const double values[], const HopsLORRows *);
  /* count[8 * hang[c] + pairs[c]] of cells c with hanging nodes, zero before; then their kinds, how many
     numbers their lists have, and the cells of each kind from next[kind] on, in any order */
  PetscErrorCode (*HungCount)(PetscInt ncells, const unsigned short hang[], const unsigned char pairs[], int count[]);
  PetscErrorCode (*HungKinds)(PetscInt ncells, const unsigned short hang[], const unsigned char pairs[], const int number[],
                              const int nvalues[], int kind[], int first[], int next[], int cell[]);
  /* of n entries of nhung cells; inside: say what is met once. extra and extracol; cells: columns that rows
     have from cells are left out, with those of couplings where `coupled` */
  PetscErrorCode (*HungNumbers)(const HopsLanesLORMesh *, int percell, bool inside, size_t n, int nhung, const int cell[],
                                HopsLORHungNumbers *);
  PetscErrorCode (*HungColumns)(const HopsLanesLORMesh *, bool cells, bool coupled, size_t n, const HopsLORHungNumbers *,
                                HopsLORHung *);
  /* where numbers go: how many entries each row has that lists add to, where rows' ones begin at offset[r],
     and the arrays of HopsLORHungTo, with signs where columns have some */
  PetscErrorCode (*HungLengths)(const HopsLORHung *, const HopsLORRows *, int length[]);
  PetscErrorCode (*HungPlaces)(const HopsLORHungNumbers *, bool signs, int nfree, const HopsLORRows *, const int offset[],
                               const HopsLORHungTo *);
  /* the lists, by work->teams; how many of these there should be where lists come by T, and whether their own
     memory holds so many bytes, without work->work */
  PetscErrorCode (*HungTeams)(const HopsLanesLORMesh *, bool mixed, size_t bytes, int *teams, PetscBool *own);
  PetscErrorCode (*HungLists)(const HopsLanesLORMesh *, const HopsLanesLORData *, bool mixed, const HopsLORHungWork *);
  const HopsLumpKernels *lump; /* of families other than H1 */
} HopsLanesLORKernels;

struct _HopsLanesLOR {
  struct _HopsLORAssembler   head;
  const HopsLanesLORKernels *kernels;
  HopsSpace                  space; /* not a reference: the matrix has one */
  struct _HopsLump          *lump;  /* of families other than H1 */
  int                        P, Pg, nn;
  HopsBasis                  geom;
  double                    *gll; /* [P][P] derivatives at the nodes, then nodes and weights [P] (the process's) */
  double                    *tables;
  int                       *ijk;
  HopsLanesLORMesh           mesh;
  int                       *begin, *entry, *bad; /* bad[4]: small results of kernels */
  unsigned char             *mask;
  unsigned int              *own;
  PetscBool                  owned; /* own is that of the mask */
  struct _HopsLanesLORHang  *hang;  /* of spaces with hanging nodes */
  void                      *coef[2];
  size_t                     coefsize[2];
  char                       name[48];
};

EXTERN_C_BEGIN
PETSC_INTERN PetscErrorCode HopsLanesLORCreate(const HopsLanesLORKernels *, HopsSpace, const HopsBasis *, HopsLORAssembler *);
/* What long rows need (work[0] entries, set to zero here), NULL where there are none; sets rows->anylong.
   Waits for a device */
PETSC_INTERN PetscErrorCode HopsLanesLORBuffer(const HopsLanesLORKernels *, HopsLORRows *, unsigned long long *work, int **buffer);
/* laneslorhung.c: of spaces with hanging nodes; what depends on the pattern's masks, which goes when these
   change; lists and rows of values */
PETSC_INTERN PetscErrorCode HopsLORHangCreate(HopsLanesLOR);
PETSC_INTERN PetscErrorCode HopsLORHangDestroy(HopsLanesLOR);
PETSC_INTERN PetscErrorCode HopsLORHangSetUp(HopsLanesLOR, const HopsLORRows *); /* whose pattern is new */
PETSC_INTERN PetscErrorCode HopsLORHangReset(HopsLanesLOR);
PETSC_INTERN PetscErrorCode HopsLORHangLists(HopsLanesLOR, HopsLORVertexData, PetscBool coupled);
PETSC_INTERN PetscErrorCode HopsLORHangRows(HopsLanesLOR, HopsLORRows *);
PETSC_INTERN PetscErrorCode HopsLORHangDone(HopsLanesLOR); /* all rows have values */
EXTERN_C_END
