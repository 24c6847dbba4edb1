/* Meshes whose cells have curved coordinates of their own, as a mesh file gives them to a periodic mesh. */
#pragma once
#include <petscdmplex.h>
#include <petscfe.h>

/* The reference corner of each vertex of a cell in DMPlex's order, in 2D and 3D */
static const PetscInt plexcorner[2][8] = {{0, 1, 3, 2}, {0, 2, 3, 1, 4, 5, 7, 6}};

/* A cell's coordinates of order 2, in the order of the dual space: of its vertices x[2^dim][dim], bent */
static PetscErrorCode BendCell(PetscInt dim, PetscDualSpace dual, PetscInt nb, const PetscScalar x[], PetscScalar y[])
{
  PetscFunctionBeginUser;
  for (PetscInt b = 0; b < nb; ++b) {
    PetscQuadrature  q;
    const PetscReal *at, *w;
    PetscInt         nc, k = 0;

    PetscCall(PetscDualSpaceGetFunctional(dual, b, &q));
    PetscCall(PetscQuadratureGetData(q, NULL, &nc, NULL, &at, &w));
    while (w[k] == 0.0) ++k;
    y[b] = 0.0;
    for (PetscInt v = 0; v < 1 << dim; ++v) {
      PetscReal f = 1.0;

      for (PetscInt d = 0; d < dim; ++d) f *= 0.5 * (1.0 + ((plexcorner[dim - 2][v] >> d) & 1 ? at[d] : -at[d]));
      y[b] += f * x[v * dim + k];
    }
    y[b] += 0.02 * PetscSinReal(2.0 * PETSC_PI * y[b]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All cells of a straight mesh get coordinates of their own */
static inline PetscErrorCode Bend(DM dm)
{
  DM             cdm, own;
  PetscFE        fe;
  PetscSection   s;
  PetscDualSpace dual;
  Vec            points, cells;
  PetscScalar   *a;
  PetscInt       dim, start, end, nb;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscFECreateLagrange(PETSC_COMM_SELF, dim, dim, PETSC_FALSE, 2, PETSC_DETERMINE, &fe));
  PetscCall(PetscFEGetDimension(fe, &nb));
  PetscCall(PetscFEGetDualSpace(fe, &dual));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &start, &end));
  PetscCall(PetscSectionCreate(PETSC_COMM_SELF, &s));
  PetscCall(PetscSectionSetChart(s, start, end));
  for (PetscInt c = start; c < end; ++c) PetscCall(PetscSectionSetDof(s, c, nb));
  PetscCall(PetscSectionSetUp(s));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, nb * (end - start), &cells));
  PetscCall(VecGetArrayWrite(cells, &a));
  for (PetscInt c = start; c < end; ++c) {
    const PetscScalar *array;
    PetscScalar       *x = NULL;
    PetscBool          own;
    PetscInt           n;

    PetscCall(DMPlexGetCellCoordinates(dm, c, &own, &n, &array, &x));
    PetscCall(BendCell(dim, dual, nb, x, a + (c - start) * nb));
    PetscCall(DMPlexRestoreCellCoordinates(dm, c, &own, &n, &array, &x));
  }
  PetscCall(VecRestoreArrayWrite(cells, &a));
  PetscCall(DMClone(dm, &cdm));
  PetscCall(DMSetField(cdm, 0, NULL, (PetscObject)fe));
  PetscCall(DMCreateDS(cdm));
  PetscCall(DMClone(cdm, &own));
  PetscCall(DMSetField(own, 0, NULL, (PetscObject)fe));
  PetscCall(DMCreateDS(own));
  PetscCall(DMCreateLocalVector(cdm, &points));
  PetscCall(VecSet(points, 0.5));
  PetscCall(DMSetCoordinateDM(dm, cdm));
  PetscCall(DMSetCoordinatesLocal(dm, points));
  PetscCall(DMSetCellCoordinateDM(dm, own));
  PetscCall(DMSetCellCoordinateSection(dm, dim, s));
  PetscCall(DMSetCellCoordinatesLocal(dm, cells));
  PetscCall(DMDestroy(&cdm));
  PetscCall(DMDestroy(&own));
  PetscCall(VecDestroy(&points));
  PetscCall(VecDestroy(&cells));
  PetscCall(PetscSectionDestroy(&s));
  PetscCall(PetscFEDestroy(&fe));
  PetscFunctionReturn(PETSC_SUCCESS);
}
