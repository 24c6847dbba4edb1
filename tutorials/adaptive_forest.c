static char help[] = "An adaptive loop by hops on a DMForest: solve, estimate, mark, and again on the mesh of DMAdaptLabel().\n\
\n\
  The problems and options of adaptive.c. PETSc must have p4est. No solution is taken from mesh to mesh.\n\n";

#include "adaptive.h"
#include <petscdmforest.h>

/* 2^d roots but the last, whose boundary has the label "wall"; as a forest, refined uniformly */
static PetscErrorCode CreateForest(PetscInt dim, PetscInt start, DM *forest)
{
  const PetscInt nv = 1 << dim, n = dim == 2 ? 9 : 27;
  PetscInt       cells[7 * 8];
  PetscReal      vertices[27 * 3];
  DM             base;
  DMLabel        wall;
  PetscMPIInt    rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (PetscInt v = 0; v < n; ++v)
    for (PetscInt d = 0; d < dim; ++d) vertices[v * dim + d] = d == 0 ? v % 3 : (d == 1 ? v / 3 % 3 : v / 9);
  for (PetscInt c = 0; c < nv - 1; ++c)
    for (PetscInt i = 0; i < nv; ++i) {
      const PetscInt plex[8] = {0, 1, 3, 2, 4, 6, 7, 5}, turn[8] = {0, 2, 3, 1, 4, 5, 7, 6}; /* around each face */
      const PetscInt v = dim == 2 ? plex[i] : turn[i];

      cells[c * nv + i] = (c & 1) + (v & 1) + 3 * ((c >> 1 & 1) + (v >> 1 & 1)) + 9 * ((c >> 2) + (v >> 2));
    }
  PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_WORLD, dim, rank ? 0 : nv - 1, rank ? 0 : n, nv, PETSC_TRUE, cells, dim,
                                          vertices, &base));
  PetscCall(DMCreateLabel(base, "wall"));
  PetscCall(DMGetLabel(base, "wall", &wall));
  PetscCall(DMPlexMarkBoundaryFaces(base, 1, wall));
  PetscCall(DMPlexLabelComplete(base, wall));
  PetscCall(DMConvert(base, dim == 2 ? DMP4EST : DMP8EST, forest));
  PetscCall(DMDestroy(&base));
  PetscCall(DMForestSetInitialRefinement(*forest, start));
  PetscCall(DMSetUp(*forest));
  PetscFunctionReturn(0);
}

/* The estimate's cells are those of the DMPLEX that the forest becomes, in their order: so are the label's */
static PetscErrorCode Adapt(DM *forest, PetscInt ncells, const PetscInt marks[])
{
  DMLabel label;
  DM      next;

  PetscFunctionBeginUser;
  PetscCall(DMLabelCreate(PETSC_COMM_SELF, "adapt", &label));
  for (PetscInt c = 0; c < ncells; ++c)
    if (marks[c] != DM_ADAPT_KEEP) PetscCall(DMLabelSetValue(label, c, marks[c]));
  PetscCall(DMAdaptLabel(*forest, label, &next));
  PetscCall(DMForestSetAdaptivityForest(next, NULL)); /* or it keeps all before it */
  PetscCall(DMLabelDestroy(&label));
  PetscCall(DMDestroy(forest));
  *forest = next;
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const PetscInt one   = 1;
  Table          table = {0};
  Options        o;
  DM             forest;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ReadOptions(&o));
  PetscCall(CreateForest(o.dim, o.start, &forest));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "   cells  unknowns  iterations  energy error     estimate  effectivity\n"));
  for (PetscInt N = 0; N <= o.most && table.n < 100;) {
    HopsSpace space;
    DMLabel   wall;
    Vec       x, eta;
    PetscInt *marks, n;

    PetscCall(DMGetLabel(forest, "wall", &wall));
    PetscCall(HopsSpaceCreateH1(forest, o.order, wall, 1, &one, &space));
    PetscCall(HopsSpaceGetSizes(space, NULL, &N));
    if (!table.n || N <= o.most) {
      PetscCall(HopsSpaceSetEssentialFunction(space, o.u, NULL));
      PetscCall(HopsSpaceCreateVec(space, &x));
      PetscCall(HopsSpaceCreateCellVec(space, &eta));
      PetscCall(VecGetLocalSize(eta, &n));
      PetscCall(PetscMalloc1(n, &marks));
      PetscCall(SolveAndMark(&o, space, x, &table, marks));
      PetscCall(Adapt(&forest, n, marks));
      PetscCall(PetscFree(marks));
      PetscCall(VecDestroy(&eta));
      PetscCall(VecDestroy(&x));
    }
    PetscCall(HopsSpaceDestroy(&space));
  }
  PetscCall(PrintRate(&table, o.dim, o.order));
  PetscCall(DMDestroy(&forest));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: hypre real p4est
    filter: awk '/^Since/ {print} /^ / {print $1, ($3 < 30), $4, $6}'

    test:
      suffix: lshape
      nsize: {{1 3}}
      args: -order 3 -unknowns 1500

    test:
      suffix: fichera
      nsize: {{1 2}}
      args: -problem layer -dim 3 -order 2 -start 2 -unknowns 12000

TEST*/
