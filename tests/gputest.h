/* What the tests of the CUDA back end share: an operator on the device against the same on the host. */
#pragma once
#include "hopstest.h"

/* relative difference of h and d, which is on the device */
static inline PetscErrorCode Differ(Vec h, Vec d, PetscReal *e)
{
  Vec       t;
  PetscReal n;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(h, &t));
  PetscCall(VecCopy(d, t));
  PetscCall(VecNorm(h, NORM_2, &n));
  PetscCall(VecAXPY(t, -1.0, h));
  PetscCall(VecNorm(t, NORM_2, e));
  *e /= n;
  PetscCall(VecDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the worst so far, without end if above 1e-12 */
static inline PetscErrorCode Difference(Vec h, Vec d, PetscReal *worst)
{
  PetscReal e;

  PetscFunctionBeginUser;
  PetscCall(Differ(h, d, &e));
  *worst = e <= 1e-12 ? PetscMax(*worst, e) : PETSC_MAX_REAL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A on the host, B on the device */
static inline PetscErrorCode Compare(Mat A, Mat B, PetscReal *worst)
{
  Vec         x, y, b, dx, dy, db;
  PetscRandom r;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(MatCreateVecs(B, &dx, &dy));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(PetscRandomSetInterval(r, -1.0, 1.0));
  PetscCall(VecSetRandom(x, r));
  PetscCall(VecCopy(x, dx));
  for (PetscInt k = 0; k < 2; ++k) { /* twice: nothing is left over from the first application */
    PetscCall(MatMult(A, x, y));
    PetscCall(MatMult(B, dx, dy));
    PetscCall(Difference(y, dy, worst));
  }
  PetscCall(MatGetDiagonal(A, y));
  PetscCall(MatGetDiagonal(B, dy));
  PetscCall(Difference(y, dy, worst));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(dx, &db));
  PetscCall(VecCopy(x, b));
  PetscCall(VecCopy(dx, db));
  PetscCall(MatPALiftEssential(A, b));
  PetscCall(MatPALiftEssential(B, db));
  PetscCall(Difference(b, db, worst));
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&dx));
  PetscCall(VecDestroy(&dy));
  PetscCall(VecDestroy(&db));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode Operator(HopsSpace sp, PetscInt q, PetscBool gll, HopsCoefficient kappa, HopsCoefficient mass, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(sp, A));
  PetscCall(MatPASetQuadrature(*A, gll ? 0 : q, gll));
  if (kappa) PetscCall(MatPASetDiffusion(*A, kappa));
  if (mass) PetscCall(MatPASetMass(*A, mass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* alpha u v on one face of each cell, inside the mesh too */
static inline PetscErrorCode AddFaces(DM dm, HopsSpace sp, Mat A, HopsCoefficient alpha)
{
  PetscInt n, start = 0, dim, *cells, *faces;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetNumCells(sp, &n));
  PetscCall(HopsSpaceGetDimension(sp, &dim));
  if (dm) PetscCall(DMPlexGetHeightStratum(dm, 0, &start, NULL));
  PetscCall(PetscMalloc2(n, &cells, n, &faces));
  for (PetscInt i = 0; i < n; ++i) {
    cells[i] = start + i;
    faces[i] = i % (2 * dim);
  }
  PetscCall(MatPAAddRobin(A, n, cells, faces, alpha));
  PetscCall(PetscFree2(cells, faces));
  PetscFunctionReturn(PETSC_SUCCESS);
}
