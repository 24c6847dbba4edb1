/* Nested spaces: how the cells of a refined mesh lie in those of the coarse one, and what is built on
   that. */
#pragma once
#include <hops/private/hopsmatimpl.h>
#include <hops/private/hopsinterpimpl.h>

/*
  A fine space and a coarse one: on the same mesh (lower order), on the mesh of which the fine one is the
  uniform refinement, or on one of which some cells were refined and others kept (HopsSpaceSetCoarse()). Along
  direction d of the coarse cell the child fills the lower or the upper half, and runs along one of its own
  directions, forwards or backwards. Node picture of the macro cell that the children of a coarse cell form
  (2D, fine order 2): its nodes are numbered in the coarse cell's directions, x fastest, those between
  children once.

     20--21--22--23--24
     |       |       |
     15  16  17  18  19       2 order + 1 nodes per direction; on the same mesh the macro cell is the cell
     itself
     |       |       |
     10--11--12--13--14
     |       |       |
      5   6   7   8   9
     |       |       |
      0---1---2---3---4
*/
typedef struct {
  PetscInt       dim, ncoarse, nfine;
  PetscBool      same;   /* the same mesh */
  PetscInt       nhalf;  /* children per direction: 1 or 2 */
  PetscInt      *parent; /* [nfine] coarse cell; -1: another rank's */
  unsigned char *half;   /* [nfine] bit d: the upper half in the coarse cell's direction d */
  unsigned char *axis;   /* [nfine][dim] the child's direction along the coarse direction d; plus 4 where it runs backwards */
  PetscInt      *child;  /* [ncoarse][nhalf^dim] fine cell of each half; not where `given` */
  PetscBool      given;  /* some cells were refined and others kept, and the next two are there */
  PetscBool     *kept;   /* [nfine] is it the coarse cell itself? */
  PetscInt      *number; /* [nfine] the coarse cell among those of all ranks */
  PetscBool      apart;  /* some rank has cells whose parents are others' */
} HopsNested;

/* children per direction of the coarse cell in which fine cell f lies */
static inline PetscInt HopsNestedHalves(const HopsNested *n, PetscInt f)
{
  return n->given && n->kept[f] ? 1 : n->nhalf;
}

/*
  Values that fine cells make for their parents: for fine cell f they go to place[f] of n, which are this
  rank's cells of the coarse space in the caller's order, or, where some rank's parents are elsewhere, the
  distinct parents. HopsToParentsSum() gives of v[n][nc] the sums on the coarse cells, in the caller's order,
  in place of v. Collective
*/
typedef struct {
  PetscInt  n, *place;
  PetscSF   sf; /* NULL: parents are here */
  HopsSpace coarse;
} HopsToParents;
PETSC_INTERN PetscErrorCode HopsToParentsCreate(const HopsNested *, HopsSpace coarse, HopsToParents *);
PETSC_INTERN PetscErrorCode HopsToParentsSum(const HopsToParents *, PetscInt nc, PetscScalar *v[]);
PETSC_INTERN PetscErrorCode HopsToParentsDestroy(HopsToParents *);

/* refuses meshes that are not nested and, where nobody told how cells lie, children on other ranks than
   their parents; collective */
PETSC_INTERN PetscErrorCode HopsNestedCreate(HopsSpace coarse, HopsSpace fine, HopsNested *);
PETSC_INTERN PetscErrorCode HopsNestedDestroy(HopsNested *);
/* the coarse point of each vertex of the refined mesh, given the coarse mesh's cells; ok is false where it is
   no uniform refinement; collective */
PETSC_INTERN PetscErrorCode HopsNestedVertices(DM coarse, HopsPlexCells, HopsSpace fine, PetscInt *vStart, PetscInt *vEnd,
                                               PetscInt *source[], PetscBool *ok);
/* are these the same mesh (clones)? */
PETSC_INTERN PetscErrorCode HopsPlexSameMesh(DM, DM, PetscBool *);

/* For node i of child f its place in the macro cell */
static inline PetscInt HopsNestedNode(const HopsNested *n, PetscInt order, PetscInt f, const PetscInt ijk[])
{
  return HopsMacroNode(n->dim, n->nhalf, order, n->half[f], n->axis + f * n->dim, ijk);
}

/* the half of a macro cell's direction in which the point x of [-1,1] lies, and where; 0 belongs to the lower
   half */
static inline PetscInt HopsNestedHalf(PetscInt nhalf, PetscReal x, PetscReal *y)
{
  const PetscInt h = nhalf == 2 && x > 0.0 ? 1 : 0;

  *y = nhalf == 2 ? (h ? 2.0 * x - 1.0 : 2.0 * x + 1.0) : x;
  return h;
}

/* The space whose mesh a space of lower order has, cell by cell */
static inline HopsSpace HopsSpaceMesh(HopsSpace sp)
{
  return sp->mesh ? sp->mesh : sp;
}

/* src/space/hierarchy/relation.c: how cells of a mesh came about from those of another one, as the notes of
   HopsSpaceTransfer() have it: rows of three numbers, a cell, one among those of all ranks, and the child */
#define HOPS_RELATION 3
/* numbers in their ranges, and each cell of sp made once, of all parts; collective */
PETSC_INTERN PetscErrorCode HopsRelationsCheck(HopsSpace old, HopsSpace sp, PetscInt n, const PetscInt relations[]);
/* which child: bits of the space's directions */
PETSC_INTERN PetscInt HopsRelationChild(HopsSpace, PetscInt child);
/* corners of a cell, corner[2^dim][dim]; do those of a child, or of the same cell, lie so in a coarse one? */
PETSC_INTERN PetscErrorCode HopsSpaceGetCorners(HopsSpace, PetscInt c, PetscReal corner[]);
PETSC_INTERN PetscBool HopsRelationFits(PetscInt dim, PetscInt child, PetscInt k, const PetscReal fine[], const PetscReal coarse[]);
/* leaves are n cells among those of all ranks, roots a rank's cells in its caller's order; collective */
PETSC_INTERN PetscErrorCode HopsSpaceCreateCellSF(HopsSpace, PetscInt n, const PetscInt cells[], PetscInt *first, PetscSF *);

/* src/space/hierarchy/cellview.c: the same unknowns on other cells, n of those of all ranks; cell[c] is a
   place in the list. Collective */
PETSC_INTERN PetscErrorCode HopsSpaceCreateCellView(HopsSpace, PetscInt n, const PetscInt cells[], HopsSpace *view);

/* src/space/arrays/lowerorder.c: a space from arrays, at a lower order; collective */
PETSC_INTERN PetscErrorCode HopsSpaceCreateLowerOrder(HopsSpace fine, PetscInt order, HopsSpace *lower);
/* the entry of cell c of the fine space that gives node j of the lattice of order q its number: the same
   entry of the L-vector, whatever cell sees it */
PETSC_INTERN PetscInt HopsSpaceLowerNode(HopsSpace fine, PetscInt q, PetscInt c, PetscInt j);
/* number[nL]: 0 where this rank's cells have such an entry, else -1. Then those that any rank has have global
   numbers, n of this rank's; collective */
PETSC_INTERN PetscErrorCode HopsSpaceNumberMarked(HopsSpace fine, PetscInt number[], PetscInt *n);
/* the same of n of this rank's cells, those with place[c] >= 0, which are the new space's cells in the
   caller's order; without essential unknowns, or with the fine one's. number[nL] of entries that are its
   nodes, else -1. What unknowns are of parents' alone has no place then: nothing is to be interpolated
   there */
PETSC_INTERN PetscErrorCode HopsSpaceCreateLowerPart(HopsSpace fine, PetscInt order, PetscInt n, const PetscInt place[],
                                                     PetscBool essential, PetscInt number[], HopsSpace *lower);

/* src/space/hierarchy/coarsespace.c: a space of lower order, or on a coarser mesh, that takes essential
   boundary and element maps from the fine one */
PETSC_INTERN PetscErrorCode HopsCoefficientCoarsen(HopsCoefficient, const HopsNested *, HopsSpace coarse, HopsSpace fine,
                                                   PetscInt q_1d, HopsCoefficient *);

/* src/space/hierarchy/coarseforest.c: the space below one on the mesh of a DMForest, told to that one; NULL
   where no cells can be joined. And the forest of a space so made, or NULL. Collective */
PETSC_INTERN PetscErrorCode HopsSpaceCreateCoarseForest(HopsSpace fine, DM forest, HopsSpace *coarse);
PETSC_INTERN PetscErrorCode HopsSpaceGetForest(HopsSpace, DM *);

/* adds to the operator A on the coarse space the boundary's integrals of the fine form, whose quadrature rule
   is `basis` */
PETSC_INTERN PetscErrorCode HopsFormCoarsenBoundary(HopsForm, const HopsNested *, HopsSpace coarse, HopsSpace fine,
                                                    const HopsBasis *basis, Mat A);

PETSC_INTERN PetscErrorCode MatCreate_HopsInterp(Mat);
/* nested: how `to` lies in the coarser `from`, where that is known, or NULL */
PETSC_INTERN PetscErrorCode MatCreateHopsInterp_Private(HopsSpace from, HopsSpace to, const HopsNested *nested, Mat *);
/* src/mat/interp/interpmap.c: a copy that works on floats, which the matrix outlives. y = P x, x = P^T y, or
   += */
typedef struct _HopsInterpMap *HopsInterpMap;
PETSC_INTERN PetscErrorCode    MatHopsInterpCreateSingle(Mat, HopsInterpMap *);
PETSC_INTERN PetscErrorCode    HopsInterpMapApply(HopsInterpMap, const void *x, PetscBool add, void *y);
PETSC_INTERN PetscErrorCode    HopsInterpMapApplyTranspose(HopsInterpMap, const void *y, PetscBool add, void *x);
PETSC_INTERN PetscBool         HopsInterpMapCanRecord(HopsInterpMap); /* see HopsMemoryOps */
PETSC_INTERN PetscErrorCode    HopsInterpMapDestroy(HopsInterpMap *);
PETSC_INTERN PetscErrorCode    PCCreate_HopsMG(PC);
