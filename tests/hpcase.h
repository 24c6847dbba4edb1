/* What tests of spaces whose cells have orders of their own share: meshes and orders by options, polynomials,
   the Laplacian. */
#pragma once
#include "hangingcase.h"

typedef struct {
  PetscInt   dim, p, least, N;
  PetscBool  numbers;
  PetscInt  *orders;
  HangMesh   mesh;
  HangArrays a;
  HopsSpace  space;
} HPCase;

static inline void HPMap(PetscInt dim, PetscReal x[])
{
  const PetscReal a = x[0], b = x[1];

  x[0] = a + 0.05 * a * b;
  x[1] = b - 0.06 * a * b + 0.04 * a;
  if (dim > 2) x[2] += 0.03 * a * x[2];
}

static inline PetscBool HPLeft(PetscInt dim, const PetscReal x[])
{
  return x[0] < 1e-6 || x[1] > 1.0 + 1e-6 ? PETSC_TRUE : PETSC_FALSE;
}

/* of order q in each direction */
static inline PetscErrorCode HPPoly(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscInt q = *(PetscInt *)ctx;

  u[0] = 1.0 - 2.0 * x[0] + 3.0 * x[1] + (dim > 2 ? x[2] : 0.0) + (q > 1 ? x[0] * x[0] - 3.0 * x[1] * x[1] + x[0] * x[1] : 0.0);
  return PETSC_SUCCESS;
}

static inline PetscErrorCode HPPolySource(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  f[0] = *(PetscInt *)ctx > 1 ? 4.0 : 0.0;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode HPSay(const char what[], PetscReal e, PetscReal tol)
{
  PetscFunctionBeginUser;
  if (e <= tol) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: the same\n", what));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: DIFFERS by %g\n", what, (double)e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- the case ------------------------------------------- */

static inline PetscErrorCode HPCaseCreate(HPCase *k)
{
  const char *const kinds[]  = {"random", "same", "layers"};
  PetscInt          roots[3] = {2, 2, 1}, n = 3, finest = 2, seed = 1, empty = -1, kind = 0, map = 0;
  PetscReal         part = 0.3;
  PetscBool         turn = PETSC_FALSE, essential = PETSC_FALSE, everywhere = PETSC_FALSE;

  PetscFunctionBeginUser;
  *k = (HPCase){.dim = 2, .p = 4, .least = 1};
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Orders of cells", NULL);
  PetscCall(PetscOptionsInt("-dim", "Dimension", NULL, k->dim, &k->dim, NULL));
  PetscCall(PetscOptionsInt("-order", "Highest order", NULL, k->p, &k->p, NULL));
  PetscCall(PetscOptionsInt("-least", "Lowest order", NULL, k->least, &k->least, NULL));
  PetscCall(PetscOptionsIntArray("-roots", "Cells of the coarsest mesh", NULL, roots, &n, NULL));
  PetscCall(PetscOptionsInt("-finest", "Levels", NULL, finest, &finest, NULL));
  PetscCall(PetscOptionsInt("-seed", "Of random meshes", NULL, seed, &seed, NULL));
  PetscCall(PetscOptionsReal("-part", "Of cells that are refined", NULL, part, &part, NULL));
  PetscCall(PetscOptionsInt("-empty", "A rank without cells", NULL, empty, &empty, NULL));
  PetscCall(PetscOptionsInt("-map", "0 boxes, 1 curved", NULL, map, &map, NULL));
  PetscCall(PetscOptionsBool("-turn", "Cells see the mesh their own way", NULL, turn, &turn, NULL));
  PetscCall(PetscOptionsBool("-essential", "Part of the boundary", NULL, essential, &essential, NULL));
  PetscCall(PetscOptionsBool("-everywhere", "All of the boundary", NULL, everywhere, &everywhere, NULL));
  PetscCall(PetscOptionsBool("-numbers", "Prints them", NULL, k->numbers, &k->numbers, NULL));
  PetscCall(PetscOptionsEList("-orders", "Of the cells", NULL, kinds, 3, kinds[kind], &kind, NULL));
  PetscOptionsEnd();
  PetscCall(HangCreate(k->dim, roots, PETSC_FALSE, finest, &k->mesh));
  k->mesh.seed = (unsigned)seed;
  PetscCall(HangAdapt(&k->mesh, 0, finest, part, NULL));
  PetscCall(HangList(&k->mesh, turn));
  PetscCall(
    HangArraysCreate(&k->mesh, k->p, map ? HPMap : NULL, everywhere ? HangEverywhere : (essential ? HPLeft : NULL), empty, &k->a));
  PetscCall(HangSpace(&k->mesh, k->p, &k->a, &k->space));
  PetscCall(PetscMalloc1(k->a.nc, &k->orders));
  for (PetscInt c = 0, i = 0; c < k->mesh.n; ++c) { /* those of all cells, whatever the ranks */
    const PetscInt random = k->least + (PetscInt)(HangRandom(&k->mesh) * (k->p - k->least + 1)),
                   layer  = k->p - k->mesh.cell[c].level;
    const PetscInt q      = kind == 0 ? random : (kind == 1 ? k->p : PetscMax(layer, k->least));

    if (c >= k->a.first && c < k->a.first + k->a.nc) k->orders[i++] = PetscMin(q, k->p);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode HPCaseDestroy(HPCase *k)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(k->orders));
  PetscCall(HopsSpaceDestroy(&k->space));
  PetscCall(HangArraysDestroy(&k->a));
  PetscCall(HangDestroy(&k->mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode HPLaplacian(HopsHPSpace hp, Mat *M)
{
  const PetscScalar one = 1.0;
  HopsCoefficient   kappa;
  const Mat        *A;
  PetscInt          n;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &kappa));
  PetscCall(HopsHPSpaceCreateMat(hp, M));
  PetscCall(MatHopsPtAPGetMats(*M, &n, &A, NULL));
  for (PetscInt i = 0; i < n; ++i) PetscCall(MatPASetDiffusion(A[i], kappa));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscFunctionReturn(PETSC_SUCCESS);
}
