/* A matrix assembled on a device against the host's. */
#pragma once
#include "hopstest.h"

/* a host AIJ with the entries of L; PETSc has no direct way from a hypre matrix on a device */
static PetscErrorCode Plain(Mat L, Mat *B)
{
  PetscMPIInt size;
  Mat         T;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatConvert(L, MATAIJ, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatConvert(T, size > 1 ? MATMPIAIJ : MATSEQAIJ, MAT_INITIAL_MATRIX, B));
  PetscCall(MatDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* largest difference of entries relative to the largest row sum; pattern: the rows have the same columns */
static PetscErrorCode Compare(Mat H, Mat D, PetscReal *worst, PetscBool *pattern)
{
  Mat       B, C;
  PetscReal e, n;
  PetscInt  first, last;

  PetscFunctionBeginUser;
  PetscCall(Plain(D, &B));
  PetscCall(MatGetOwnershipRange(H, &first, &last));
  for (PetscInt i = first; i < last; ++i) {
    const PetscInt *hc, *dc;
    PetscInt        h, d;
    PetscBool       same = PETSC_FALSE;

    PetscCall(MatGetRow(H, i, &h, &hc, NULL));
    PetscCall(MatGetRow(B, i, &d, &dc, NULL));
    if (h == d) PetscCall(PetscArraycmp(hc, dc, h, &same)); /* both ascend */
    if (!same) *pattern = PETSC_FALSE;
    PetscCall(MatRestoreRow(H, i, &h, &hc, NULL));
    PetscCall(MatRestoreRow(B, i, &d, &dc, NULL));
  }
  PetscCall(MatDuplicate(H, MAT_COPY_VALUES, &C));
  PetscCall(MatNorm(C, NORM_INFINITY, &n));
  PetscCall(MatAXPY(C, -1.0, B, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(C, NORM_INFINITY, &e));
  *worst = e >= 0.0 ? PetscMax(*worst, e / n) : PETSC_MAX_REAL; /* not-a-number counts */
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}
