/* Patches of a space and their local solvers: what subspace-correction preconditioners are made of, on any
   back end. */
#pragma once
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopspatchcondensed.h>
#include <hops/private/hopshangteam.h>
#include <hops/private/hopspatchstar.h>

/* Cells of this rank (in the space's order), then the cells of other ranks that its patches need */
typedef struct {
  HopsSpace        space;
  HopsForm         form;
  const HopsBasis *basis;
  PetscInt         n, nown, nn, nv; /* all cells, own cells; (order+1)^dim, 2^dim */
  PetscInt        *gid;             /* [n][nn] global index of each E-vector entry, -1 where constrained: HopsPatchCellsIndex() */
  PetscInt        *vid;             /* [n][nv] corner: its global index, or -2 - (L index on the cell's rank) where constrained */
  PetscReal       *x;               /* [n][nv][dim] coordinates of the corners, on several ranks or hanging cells; else NULL */
  PetscInt         corner[8];       /* nodes of a cell's corners */
  HopsPatchCell   *data;            /* [n] */
  PetscInt        *home;            /* [n][2] rank of the cell and its number there, like x */
  /* where nodes hang (of any rank): [n] masks of cells; [n][nv] vid[], or HOPS_PATCH_HANGS */
  unsigned short *hang;
  PetscInt       *own;
  HopsHanging     hanging;
  /* numbers of vertices among nvertex of them, in the order in which cells meet them: [nL] of cells'
     corners, from 1 on, else 0; [n][nv] of corners, from 0 on, of other ranks' cells -1 but where an own
     vertex is free */
  int     *vertex, *number;
  PetscInt nvertex;
  /* back ends that set patches up: own cells by their quadrature data, NULL until they are wanted */
  HopsOperator  op;
  HopsPatchMaps maps; /* where the back end works */
  /*
    The nodes as entries: of the process (HopsPatchCellsBring() brings those of own cells), and where the back
    end works. Numbers are L indices, then, from nL on, those of `nfar` unknowns of other ranks, and one for
    constrained nodes of other ranks' cells. Before patches are numbered entries behind nT are those of far[],
    afterwards those of the patches' ghosts.
  */
  HopsPatchNodes nodes, bnodes;
  PetscInt       nodesof;    /* cells that the nodes are of, -1: there are none yet */
  PetscInt       nfar, *far; /* global indices of other ranks' unknowns in the cells, which ascend */
  int           *map, *other, *bmap, *bother;
  unsigned char *blacks;
} HopsPatchCells;

static inline HopsPatchCorners HopsPatchCellsCorners(const HopsPatchCells *pc)
{
  HopsPatchCorners m = {(int)pc->space->dim, (int)pc->nv, (int)pc->nown, pc->space->hanging ? pc->own : pc->vid, pc->home, pc->x};

  return m;
}

/* Cells list[start[v]..start[v+1]) around n vertices, nv (cell) + corner, and what stars are made of; arrays
   are the process's but those of `nodes` */
typedef struct {
  PetscInt             n, ncells;
  const PetscInt      *start, *list;
  HopsPatchNodes       nodes;
  HopsPatchCorners     corners;
  const HopsPatchCell *data;
  PetscBool            derivative, all; /* has the form one? are faults on outer faces looked for? */
} HopsPatchVertices;

/* Lists of patches: entries start[k].. of idx[], and estart[k].. of eidx[], all nodes, where they have any */
typedef struct {
  PetscInt             n;
  HopsPatchNodes       nodes; /* with the back end's arrays; everything else in the process's memory */
  const HopsPatchStar *star;
  const PetscInt      *start, *estart;
  const int           *given; /* [ngiven] lists of the patches without a star */
  PetscInt             ngiven;
} HopsPatchLists;

/* Patches whose matrices are sums of element matrices E[ncells][nn][nn], of the cells cells[ncells]. Patch k
   takes the entries of its unknowns list[start[k]..start[k]+size[k]), which ascend, from the element matrices
   cell[cstart[k]..cstart[k+1]), and its inverse, row after row, begins at offset[k] of inv */
typedef struct {
  PetscInt         n, ncells, nn;
  const PetscInt  *start, *size, *cstart, *cells;
  const int       *cell;
  const size_t    *offset;
  HopsPatchNodes   nodes; /* with arrays in the back end's memory, as are the next two; everything else in the process's */
  const int       *list;
  const PetscReal *E;
} HopsPatchMatrices;

/* What set-up computes, on the host (the functions without `Models`, `Elements`, `Lists` and `Condense`) or
   on a back end: the kernels of hopspatchkernel.h, hopshangteam.h and hopspatchstar.h */
struct _HopsPatchSetUpOps {
  /* of all cells of the space of an operator in H1 whose quadrature data are stored; models are the
     process's */
  PetscErrorCode (*Models)(HopsOperator, HopsPatchCell models[]);
  /* E[n][P^dim][P^dim] of the cells' integrals, cells[n] the process's; the operator has the basis */
  PetscErrorCode (*Elements)(HopsOperator, const HopsBasis *, PetscInt n, const PetscInt cells[], PetscReal E[]);
  /* E[at[k]] becomes J^T E J, of n cells with these masks of hanging nodes; at[] and mask[] the process's */
  PetscErrorCode (*Hang)(const HopsHanging *, PetscInt n, const PetscInt at[], const unsigned short mask[], PetscReal E[]);
  /* number[n][2^dim] of the nodes corner[] of own cells, both the process's */
  PetscErrorCode (*Corners)(const HopsPatchNodes *, const PetscInt corner[], PetscInt n, int number[]);
  /* lacks[n], the back end's: 1 where a cell has a node whose number is `last` or more; `other`, behind own
     cells */
  PetscErrorCode (*Lacks)(const HopsPatchNodes *, int last, int other, PetscInt n, unsigned char lacks[]);
  /* of each vertex, the process's: the star, what is wrong with it (HOPS_PATCH_LACKS, HOPS_PATCH_DIFFERS),
     and its fit, where it has sides */
  PetscErrorCode (*Stars)(const HopsPatchVertices *, HopsPatchStar[], unsigned char faults[], HopsPatchFit[]);
  /* covered[n] of own cells, bits of corners whose vertex has a patch, becomes: has the cell a node that none
     has? The process's */
  PetscErrorCode (*Uncovered)(const HopsPatchNodes *, int last, PetscInt n, unsigned char covered[]);
  /* extent[n][3] of own cells; and x[n][nv][dim] of the corners of cells[n]. The process's */
  PetscErrorCode (*Extents)(const HopsPatchMaps *, PetscInt n, PetscReal extent[]);
  PetscErrorCode (*Positions)(const HopsPatchMaps *, PetscInt n, const PetscInt cells[], PetscReal x[]);
  /* idx[] and eidx[] in the back end's memory */
  PetscErrorCode (*Lists)(const HopsPatchLists *, int idx[], int eidx[]);
  /* inverses of the Schur complements of condensed patches: schur[] is the back end's, everything else the
     process's; *bad as below */
  PetscErrorCode (*Condense)(const HopsPatchModes *, PetscInt n, const HopsPatchCondensed[], PetscReal schur[], PetscInt *bad);
  /* t = A w of the patches' matrices; vectors, the process's, one behind the other */
  PetscErrorCode (*Products)(const HopsPatchMatrices *, const PetscReal w[], PetscReal t[]);
  /* inverses of the patches' matrices; *bad is a patch whose matrix is not positive definite, else -1 */
  PetscErrorCode (*Invert)(const HopsPatchMatrices *, PetscReal inv[], PetscInt *bad);
};

/*
  Factors of a 1D pencil, S^T M S = 1, S^T A S = diag(lambda), on consecutive nodes first..last of a row of up
  to three cells. The first cell's weights are 1; robin adds to the first and last node of the stiffness.
*/
typedef struct {
  PetscInt  ncells, first, last; /* nodes of cell k: k p .. (k+1) p */
  PetscReal a[3], m[3], robin[2];
} HopsPatchLine;

typedef struct {
  PetscInt   n;      /* nodes of the window */
  PetscInt   N;      /* nodes of the line */
  PetscInt   offset; /* in the table's values, of S[n][n] (node by mode), lambda[n], and the rows A[n][N], M[n][N] of the window */
  PetscBool  symmetric;
  PetscInt64 key[10];
} HopsPatchFactor;

typedef enum {
  HOPS_PATCH_EXACT,     /* tensor product equal to the operator's matrix on the patch */
  HOPS_PATCH_SURROGATE, /* tensor product near it */
  HOPS_PATCH_DENSE,     /* inverse of the operator's matrix on the patch */
  HOPS_PATCH_CONDENSED, /* the same by elimination of the cells' interiors, in their modes */
  HOPS_PATCH_NSOLVERS
} HopsPatchSolver;

/*
  A set of patches. Unknowns are numbered by a P-vector: [0,nT) owned by this rank, [nT,nT+nG) owned
  elsewhere, and one entry nP-1 for what a tensor-product patch includes but the space constrains or lacks
  (read as zero, written in vain).

  Node picture of the vertex patch of order 2 in 2D, + the unknowns (x fastest), o those that the patch leaves
  alone:

     o   o   o   o   o
     o   +   +   +   o
     o   +  (v)  +   o
     o   +   +   +   o
     o   o   o   o   o
*/
struct _HopsPatches {
  HopsSpace      space;
  PetscReal     *A1, *M1; /* [P][P] stiffness and mass of the reference cell by the operator's rule */
  PetscInt       n, nmax; /* patches */
  PetscInt      *start;   /* [n+1] first entry of each patch */
  PetscInt       nent;    /* entries */
  HopsPatchStar *star;    /* [n] the cells that a patch's list is made of; without: cell[0] is where it begins in the next two */
  /* until the lists are made: global indices, -1 where there is no unknown, and distances */
  PetscInt       ngiven, gmax, *gid;
  unsigned char *gdist;
  int           *idx;  /* entries: P index; where the back end works */
  int           *hidx; /* the same in the process's memory, where it was asked for: HopsPatchesBringLists() */
  unsigned char *dist; /* levels: entries: L1 distance in nodes from the patch's centre, else NULL */
  int (*size)[3];      /* [n] entries per direction; {number, 1, 1} of a dense patch */
  int (*factor)[3];    /* [n] 1D factors */
  /* [n] local inverse = scale[4] S (sum_a scale[a] lambda_a + scale[3])^-1 S^T, of the tensor products times
     scale[5] */
  PetscReal (*scale)[6];
  /* [n] bounds of the spectrum of (local solver) (operator's matrix) before damping, from pointwise data */
  PetscReal (*bound)[2];
  unsigned char *solver;  /* [n] HopsPatchSolver */
  unsigned char *element; /* [n] 1 of an element patch */
  PetscInt      *center;  /* [n] global index of the vertex; cell of an element patch */
  int           *color;   /* [n] */
  PetscInt      *dense;   /* [n] offset of the inverse in inv, of a dense patch; number in cond, of a condensed one */
  PetscReal     *inv;     /* row after row; the back end's where it inverts, and the smoother's once there is one */
  PetscInt       ninv, ncolors;
  /* condensed patches; see src/patch/patchcondensed.c */
  PetscInt            ncond, cmax;
  size_t              nschur;
  HopsPatchCondensed *cond;
  PetscReal          *schur;                /* where the back end works */
  int                 cfactor;              /* modes of a cell's interior, as a 1D factor */
  HopsPatchModes      modes;                /* the same with what belongs to the function of the vertex; arrays are the next ones */
  PetscReal          *alpha, *mu, *mvalues; /* [p-1], [p-1] */
  int                *mlist, *mwhere;
  PetscInt            nfactors, fmax, nvalues, vmax, *hash, nhash;
  HopsPatchFactor    *factors;
  PetscReal          *values;
  /* cells with unknowns of a patch: of dense ones, and of all where colours are wanted */
  PetscInt *touchstart, *touch, ntouch, tmax;
  /* [n+1], entries: all nodes of the cells of an exact vertex patch, where sweeps are fused; else none.
     eidx[] is where the back end works, until the smoother has its own */
  PetscInt *estart, next;
  int      *eidx;
  int (*esize)[3];                       /* [n] such nodes per direction */
  unsigned char *fused;                  /* [ncolors] all patches of a color are exact, on all ranks */
  PetscBool      fuse, levels, singular; /* singular: a factor's mass matrix is */
  PetscInt       nT, nG, nP;
  PetscInt      *ghost;  /* [nG] global indices */
  PetscSF        halo;   /* roots: owned entries; leaves: [nG] */
  int           *mult;   /* [nP] patches of all ranks that contain an unknown; from HopsPatchesCount() on */
  int           *level;  /* levels: [nP] least distance of an unknown from a patch's centre, else NULL */
  int           *nlevel; /* the same: [nP] patches at that distance */
};

typedef struct {
  PetscBool element;       /* element patches in place of vertex patches */
  PetscBool colors;        /* multiplicative: colours are wanted */
  PetscBool fuse;          /* and the data of fused sweeps */
  PetscBool levels;        /* and what restricted variants need */
  PetscInt  densemax;      /* largest dense patch */
  PetscInt  densecells;    /* cells whose matrices are made at a time for dense patches; 0: half a gigabyte */
  PetscInt  condensemax;   /* largest skeleton of a condensed patch, 0: none are made */
  PetscReal condenseratio; /* surrogates whose bounds are further apart become condensed where they can */
  PetscReal denseratio;    /* and else dense where they fit */
  PetscReal damp;          /* surrogates are scaled down so that the upper bound of their spectrum is at most this */
} HopsPatchOptions;

/* Parts of the set-up in -log_view */
typedef struct {
  PetscLogEvent model, star, invert, number, color, kernel;
} HopsPatchEvents;
PETSC_INTERN HopsPatchEvents HopsPatchEvent;
PETSC_INTERN PetscErrorCode  HopsPatchRegisterEvents(void);

/* src/patch/patchcells.c */
PETSC_INTERN PetscErrorCode HopsPatchCellsCreate(HopsForm, const HopsBasis *, HopsPatchCells *);
PETSC_INTERN PetscErrorCode HopsPatchCellsDestroy(HopsPatchCells *);
/* gid[], which one rank needs for patches without a star alone */
PETSC_INTERN PetscErrorCode HopsPatchCellsIndex(HopsPatchCells *);
/* nodes.own */
PETSC_INTERN PetscErrorCode HopsPatchCellsBring(HopsPatchCells *);
/* ghost cells: those around owned vertices, or (all) those around any node of an own cell; collective */
PETSC_INTERN PetscErrorCode HopsPatchCellsGrow(HopsPatchCells *, PetscBool all);
/* sends n records of ni integers and nr reals to ranks to[n]; what arrives is the caller's to free, in order
   of rank */
PETSC_INTERN PetscErrorCode HopsPatchExchange(MPI_Comm, PetscInt n, const PetscInt to[], PetscInt ni, const PetscInt is[],
                                              PetscInt nr, const PetscReal rs[], PetscInt *nfrom, PetscInt *from[], PetscInt *ir[],
                                              PetscReal *rr[]);

/* src/patch/patchcorners.c: the back end's functions, or the host's */
PETSC_INTERN const HopsPatchSetUpOps  HopsPatchSetUpHost;
PETSC_INTERN const HopsPatchSetUpOps *HopsPatchSetUpOf(HopsSpace);

/* src/patch/patchmodel.c */
PETSC_INTERN PetscErrorCode HopsPatchCellsModel(HopsPatchCells *);
PETSC_INTERN PetscErrorCode HopsPatchCellsOperator(const HopsPatchCells *, const HopsBasis *, HopsOperator *);

/* src/patch/patch.c */
PETSC_INTERN PetscErrorCode HopsPatchesCreate(HopsForm, const HopsBasis *, const HopsPatchOptions *, HopsPatches *);
PETSC_INTERN PetscErrorCode HopsPatchesDestroy(HopsPatches *);
/* of P-vectors, on the back end */
PETSC_INTERN PetscErrorCode HopsPatchesCreateProlong(HopsPatches, PetscDataType, HopsProlong *);
/* room for so many patches, and the cells that they touch */
PETSC_INTERN PetscErrorCode HopsPatchesReserve(HopsPatches, PetscInt n, PetscInt ntouch);
/* appends a patch of `n` entries, of a star or (star NULL) with a list, and with zeros for the rest */
PETSC_INTERN PetscErrorCode HopsPatchesAppend(HopsPatches, PetscInt n, const HopsPatchStar *star, const PetscInt gid[],
                                              const unsigned char dist[], PetscInt ntouch, const PetscInt touch[]);

/* src/patch/patchlist.c: numbers of the nodes of cells, before patches are numbered */
PETSC_INTERN PetscErrorCode HopsPatchCellsNodes(HopsPatchCells *);
/* numbers of the patches' unknowns, and their lists; collective */
PETSC_INTERN PetscErrorCode HopsPatchesNumber(HopsPatches, HopsPatchCells *);
PETSC_INTERN PetscErrorCode HopsPatchesBringLists(HopsPatches, const int *idx[]);
PETSC_INTERN PetscErrorCode HopsPatchesCount(HopsPatches); /* mult[]; collective */

/* src/patch/patchfactor.c */
PETSC_INTERN PetscErrorCode HopsPatchFactorGet(HopsPatches, const HopsPatchLine *, int *factor);
PETSC_INTERN PetscErrorCode HopsPatchFactorsCheck(HopsPatches); /* is one singular on any rank? Then an error; collective */
/*
  A tensor-product patch whose entries with gid < 0 the space lacks: on the others, the inverse of the product
  on all entries times the product has eigenvalues of 1 and more; the greatest of them
*/
PETSC_INTERN PetscErrorCode HopsPatchRestrictedBound(HopsPatches, const HopsPatchLine line[], const int factor[],
                                                     const PetscReal scale[], const PetscInt gid[], PetscReal *lambda);
/* equal integers for numbers that differ by rounding errors, nearly always */
PETSC_INTERN PetscInt64 HopsPatchBits(PetscReal);

/* src/patch/patchdense.c: inverts the operator's matrix on dense patches; collective */
PETSC_INTERN PetscErrorCode HopsPatchesInvert(HopsPatches, HopsPatchCells *, const HopsPatchOptions *);

/* src/patch/patchinvert.c: patches with equal matrices share an inverse */
typedef struct _HopsPatchInverses *HopsPatchInverses;
/* of none yet; they take the room that inv[ninv] has, and more where it is too small */
PETSC_INTERN PetscErrorCode HopsPatchInversesCreate(HopsPatches, HopsPatchInverses *);
PETSC_INTERN PetscErrorCode HopsPatchInversesDestroy(HopsPatches, HopsPatchInverses *); /* of NULL, too */
/* cell[n], places in cells[], in an order that translation does not change */
PETSC_INTERN PetscErrorCode HopsPatchCellsArrange(const HopsPatchCells *, const PetscInt cells[], PetscInt n, int cell[]);
/* gives dense[m->n] the places of their inverses; fresh[nfresh]: those that are to be inverted, there being
   none yet. The others' unknowns get another order */
PETSC_INTERN PetscErrorCode HopsPatchInversesFind(HopsPatches, const HopsPatchCells *, const HopsPatchMatrices *m,
                                                  const PetscInt dense[], HopsPatchInverses, PetscInt *nfresh, PetscInt fresh[],
                                                  char why[]);
PETSC_INTERN PetscErrorCode HopsPatchInversesRefuse(char why[]); /* those of a rank are too large */
PETSC_INTERN PetscErrorCode HopsPatchesProductsHost(const HopsPatchMatrices *, const PetscReal w[], PetscReal t[]);
PETSC_INTERN PetscErrorCode HopsPatchesInvertHost(const HopsPatchMatrices *, PetscReal inv[], PetscInt *bad);

/* src/patch/patchvertex.c: vertex patches; cells that must get element patches are marked in want[n] */
PETSC_INTERN PetscErrorCode HopsPatchesAddVertices(HopsPatches, HopsPatchCells *, const HopsPatchOptions *, PetscBool want[]);
/* src/basis/lattice.c: skeleton of a tensor patch of so many cells along the axes; list[] may be NULL */
PETSC_INTERN PetscErrorCode HopsPatchSkeleton(PetscInt dim, PetscInt p, const int side[3], PetscInt *n, int list[]);
/* makes the last patch a condensed one: d[pos][axis] as above, up to a factor */
PETSC_INTERN PetscErrorCode HopsPatchesAddCondensed(HopsPatches, const int side[3], PetscReal d[8][4]);
/* entries of modes.values[], and of modes.list[] and where[] */
#define HopsPatchModesValues(m) ((m)->n * ((m)->n + 3))
#define HopsPatchModesTable(m)  (8 * (m)->nodes)
/* finds equal ones, and inverts */
PETSC_INTERN PetscErrorCode HopsPatchesCondense(HopsPatches);
/* src/patch/patchhanging.c: does the corner of a cell, nv (cell) + corner, not hang? */
PETSC_INTERN PetscBool HopsPatchCornerIsOwn(const HopsPatchCells *, PetscInt k);
/* has the own cell a node that is in no patch of a vertex? has[nvertex] of the vertices: is there one? */
PETSC_INTERN PetscBool HopsPatchHangingUncovered(const HopsPatchCells *, PetscInt c, const int has[]);
/* appends the patch of all that a cell lists, or says why not */
PETSC_INTERN PetscErrorCode HopsPatchesAddCell(HopsPatches, const HopsPatchCells *, const HopsPatchOptions *, PetscInt c,
                                               char why[]);
/* src/patch/patchelement.c: patches of the marked own cells; needs all neighbours */
PETSC_INTERN PetscErrorCode HopsPatchesAddElements(HopsPatches, HopsPatchCells *, const HopsPatchOptions *, const PetscBool want[]);
/* src/patch/patchcolor.c; collective */
PETSC_INTERN PetscErrorCode HopsPatchesColor(HopsPatches, const HopsPatchCells *);
