/* Spaces and forms of all families by number, and matrices that back ends assembled against each other. */
#pragma once
#include "backends.h"

static const char *const families[] = {"H1", "ND", "RT", "L2"};

static inline PetscErrorCode CreateSpace(DM dm, PetscInt family, PetscInt p, PetscBool essential, HopsSpace *sp)
{
  const PetscInt values[] = {1, 2, 3, 4, 5, 6};
  PetscInt       sides    = family ? 2 : 1;
  DMLabel        label    = NULL;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sides", &sides, NULL));
  if (essential) PetscCall(DMGetLabel(dm, "Face Sets", &label));
  if (family == 0) PetscCall(HopsSpaceCreateH1(dm, p, label, sides, values, sp));
  if (family == 1) PetscCall(HopsSpaceCreateHCurl(dm, p, label, sides, values, sp));
  if (family == 2) PetscCall(HopsSpaceCreateHDiv(dm, p, label, sides, values, sp));
  if (family == 3) PetscCall(HopsSpaceCreateL2(dm, p, sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* diffusion or the derivative's term, and mass */
static inline PetscErrorCode SetTerms(Mat A, PetscInt family, HopsCoefficient mu, HopsCoefficient beta)
{
  PetscFunctionBeginUser;
  if (family == 0) PetscCall(MatPASetDiffusion(A, mu));
  if (family == 1) PetscCall(MatPASetCurlCurl(A, mu));
  if (family == 2) PetscCall(MatPASetDivDiv(A, mu));
  PetscCall(MatPASetMass(A, beta));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  -fan <n>: n quadrilaterals that meet in a point, or hexahedra that meet in an edge, essential around; the
  rows there are longer than any of a box. Else the mesh that the options describe
*/
static inline PetscErrorCode FanMesh(MPI_Comm comm, PetscBool curved, DM *dm)
{
  PetscInt    n = 0, dim = 2, m, *cells, ncells = 0;
  PetscReal  *x;
  DMLabel     label;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-fan", &n, NULL));
  if (!n) {
    PetscCall(TestMesh(comm, curved, dm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dm_plex_dim", &dim, NULL));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  m = 2 * n + 1; /* vertices of a layer: the centre, then a ring */
  PetscCall(PetscMalloc2(8 * n, &cells, 6 * m, &x));
  for (PetscInt l = 0; l < 2; ++l)
    for (PetscInt i = 0; i < m; ++i) {
      const PetscReal r = i ? 1.0 + 0.2 * (i % 2 ? 0.0 : 1.0) : 0.0, a = PETSC_PI * (i - 1) / n;

      x[(l * m + i) * dim]     = r * PetscCosReal(a);
      x[(l * m + i) * dim + 1] = r * PetscSinReal(a);
      if (dim == 3) x[(l * m + i) * dim + 2] = l * (1.0 + 0.1 * r * PetscCosReal(a)); /* the lid is slanted: no cell is a box */
    }
  for (PetscInt c = 0; c < (rank ? 0 : n); ++c) {
    const PetscInt q[4] = {0, 2 * c + 1, 2 * c + 2, c + 1 < n ? 2 * c + 3 : 1};

    for (PetscInt i = 0; i < 4; ++i) {
      /* a DMPlex has the lower side of a hexahedron the other way round */
      cells[c * 4 * (dim - 1) + i] = q[dim == 3 ? (4 - i) % 4 : i];
      if (dim == 3) cells[c * 8 + 4 + i] = m + q[i];
    }
    ++ncells;
  }
  PetscCall(
    DMPlexCreateFromCellListPetsc(comm, dim, ncells, rank ? 0 : m * (dim - 1), 4 * (dim - 1), PETSC_TRUE, cells, dim, x, dm));
  PetscCall(PetscFree2(cells, x));
  PetscCall(TestDistribute(dm, 0));
  PetscCall(DMCreateLabel(*dm, "Face Sets"));
  PetscCall(DMGetLabel(*dm, "Face Sets", &label));
  PetscCall(DMPlexMarkBoundaryFaces(*dm, 1, label));
  if (dim == 3) { /* lids are free, or at order 1 nothing would be */
    PetscInt  fStart, fEnd;
    PetscReal y[3];

    PetscCall(DMPlexGetHeightStratum(*dm, 1, &fStart, &fEnd));
    for (PetscInt f = fStart; f < fEnd; ++f) {
      PetscInt value;

      PetscCall(DMLabelGetValue(label, f, &value));
      if (value != 1) continue;
      PetscCall(DMPlexComputeCellGeometryFVM(*dm, f, NULL, y, NULL));
      if (y[0] * y[0] + y[1] * y[1] < 0.64) PetscCall(DMLabelClearValue(label, f, 1));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a host AIJ with the entries of L; PETSc has no direct way from a hypre matrix on a device */
static inline PetscErrorCode Plain(Mat L, Mat *B)
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
static inline PetscErrorCode CompareMatrices(Mat H, Mat D, PetscReal *worst, PetscBool *pattern)
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

/* types that a back end assembles; types[0] NULL: the default of PCLOR */
static inline PetscErrorCode MatTypes(HopsSpace sp, PetscBool hypre, const char *types[3], PetscInt *n)
{
  PetscBool cuda;

  PetscFunctionBeginUser;
  types[0] = NULL;
#if defined(PETSC_HAVE_HYPRE)
  if (hypre) types[0] = MATHYPRE;
#endif
  types[1] = MATAIJ;
  types[2] = MATAIJCUSPARSE;
  PetscCall(PetscStrcmp(sp->backend->vectype, "cuda", &cuda));
  *n = cuda ? 3 : 2;
  PetscFunctionReturn(PETSC_SUCCESS);
}
