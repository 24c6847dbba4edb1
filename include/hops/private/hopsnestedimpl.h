/* Nested spaces: how the cells of a refined mesh lie in those of the coarse one, and what is built on
   that. */
#pragma once
#include <hops/private/hopsmatimpl.h>
#include <hops/private/hopsinterpimpl.h>

/*
  A fine space and a coarse one, either on the same mesh (lower order) or on the mesh of which the fine one is
  the uniform refinement. Along direction d of the coarse cell the child fills the lower or the upper half,
  and runs along one of its own directions, forwards or backwards. Node picture of the macro cell that the
  children of a coarse cell form (2D, fine order 2): its nodes are numbered in the coarse cell's directions, x
  fastest, those between children once.

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
  PetscInt      *parent; /* [nfine] coarse cell */
  unsigned char *half;   /* [nfine] bit d: the upper half in the coarse cell's direction d */
  unsigned char *axis;   /* [nfine][dim] the child's direction along the coarse direction d; plus 4 where it runs backwards */
  PetscInt      *child;  /* [ncoarse][nhalf^dim] fine cell of each half */
} HopsNested;

/* refuses meshes that are not nested, and children on other ranks than their parents; collective */
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
static inline PetscInt HopsNestedHalf(const HopsNested *n, PetscReal x, PetscReal *y)
{
  const PetscInt h = n->nhalf == 2 && x > 0.0 ? 1 : 0;

  *y = n->nhalf == 2 ? (h ? 2.0 * x - 1.0 : 2.0 * x + 1.0) : x;
  return h;
}

/* src/space/hierarchy/coarsespace.c: a space of lower order, or on a coarser mesh, that takes essential
   boundary and element maps from the fine one */
PETSC_INTERN PetscErrorCode HopsCoefficientCoarsen(HopsCoefficient, const HopsNested *, HopsSpace coarse, HopsSpace fine,
                                                   PetscInt q_1d, HopsCoefficient *);

/* adds to the operator A on the coarse space the boundary's integrals of the fine form, whose quadrature rule
   is `basis` */
PETSC_INTERN PetscErrorCode HopsFormCoarsenBoundary(HopsForm, const HopsNested *, HopsSpace coarse, HopsSpace fine,
                                                    const HopsBasis *basis, Mat A);

PETSC_INTERN PetscErrorCode MatCreate_HopsInterp(Mat);
PETSC_INTERN PetscErrorCode MatHopsInterpGetKernel(Mat, HopsInterpolation *); /* borrowed */
PETSC_INTERN PetscErrorCode PCCreate_HopsMG(PC);
