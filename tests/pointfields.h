/* Fields and a state that tests of point functions share */
#pragma once
#include "hopstest.h"
#include <petscdmplex.h>

static PetscErrorCode TestSmooth(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt c = 0; c < nc; ++c) u[c] = 0.3 + 0.2 * PetscSinReal(x[0] + 2.0 * x[1] + c + t);
  return PETSC_SUCCESS;
}

/* field f: Lagrange on tensor cells, with rules of Q Gauss points per direction in cells and on faces */
static PetscErrorCode TestAddField(DM dm, PetscInt f, PetscInt nc, PetscInt order, PetscInt Q)
{
  PetscFE         fe;
  PetscInt        dim;
  PetscQuadrature q;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscFECreateLagrange(PetscObjectComm((PetscObject)dm), dim, nc, PETSC_FALSE, order, PETSC_DETERMINE, &fe));
  for (PetscInt face = 0; face < 2; ++face) {
    PetscCall(PetscDTGaussTensorQuadrature(dim - face, 1, Q, -1.0, 1.0, &q));
    if (face) PetscCall(PetscFESetFaceQuadrature(fe, q));
    else PetscCall(PetscFESetQuadrature(fe, q));
    PetscCall(PetscQuadratureDestroy(&q));
  }
  PetscCall(DMSetField(dm, f, NULL, (PetscObject)fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a new local vector of at most 3 fields, each TestSmooth() at time t */
static PetscErrorCode TestProject(DM dm, PetscReal t, Vec *v)
{
  PetscErrorCode (*f[3])(PetscInt, PetscReal, const PetscReal[], PetscInt, PetscScalar *, void *) = {TestSmooth, TestSmooth,
                                                                                                     TestSmooth};

  PetscFunctionBeginUser;
  PetscCall(DMCreateLocalVector(dm, v));
  PetscCall(DMProjectFunctionLocal(dm, t, f, NULL, INSERT_ALL_VALUES, *v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
