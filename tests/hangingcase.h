/* What tests of solves on adaptive meshes share: meshes with a layer near a re-entrant corner, meshes for
   rates, dense spectra. */
#pragma once
#include "hangingmesh.h"
#include "hopstest.h"

static inline PetscReal HangRadius(PetscInt dim, const PetscReal x[])
{
  PetscReal s = 0.0;

  for (PetscInt d = 0; d < dim; ++d) s += PetscSqr(x[d] - 1.0);
  return PetscSqrtReal(s);
}

static inline PetscBool HangLayer(PetscInt dim, const PetscReal x[], PetscReal h)
{
  return PetscAbsReal(HangRadius(dim, x) - 0.725) < 0.5 * h * PetscSqrtReal((PetscReal)dim) ? PETSC_TRUE : PETSC_FALSE;
}

/* -laplace u = f: u is a layer around that radius */
static inline PetscErrorCode HangLayerSolution(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = atan(20.0 * (HangRadius(dim, x) - 0.725));
  return PETSC_SUCCESS;
}

static inline PetscErrorCode HangLayerSource(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  const PetscReal r = PetscMax(HangRadius(dim, x), 1e-10), s = 20.0 * (r - 0.725), q = 1.0 + s * s;

  f[0] = 800.0 * s / (q * q) - (dim - 1) / r * 20.0 / q;
  return PETSC_SUCCESS;
}

static inline PetscBool HangAll(PetscInt dim, const PetscReal x[], PetscReal h)
{
  return PETSC_TRUE;
}

static inline PetscBool HangEverywhere(PetscInt dim, const PetscReal x[])
{
  return PETSC_TRUE;
}

/* A coefficient that is constant on each root: 50 on every other one, or the PetscReal behind ctx */
static inline PetscErrorCode HangParity(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  PetscInt sum = 0;

  for (PetscInt d = 0; d < dim; ++d) sum += (PetscInt)PetscFloorReal(x[d]);
  u[0] = sum % 2 ? (ctx ? *(PetscReal *)ctx : 50.0) : 1.0;
  return PETSC_SUCCESS;
}

/* A randomly refined box whose cells were halved so many times; M[2] cells in the third direction */
static inline PetscErrorCode HangCreateHalved(PetscInt dim, PetscInt third, PetscInt finest, PetscInt halved, HangMesh *m)
{
  const PetscInt M[3] = {2, 2, third};

  PetscFunctionBeginUser;
  PetscCall(HangCreate(dim, M, PETSC_FALSE, finest, m));
  PetscCall(HangAdapt(m, 0, 2, 0.3, NULL));
  PetscCall(HangBalance(m));
  for (PetscInt l = 0; l < halved; ++l) PetscCall(HangHalve(m));
  PetscCall(HangList(m, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of errors on a mesh and on the halved one: does the rate reach the order, which `name` calls? */
static inline PetscErrorCode HangSayRate(const PetscReal error[2], PetscReal order, const char name[], PetscBool numbers)
{
  PetscFunctionBeginUser;
  if (numbers) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "errors %g %g\n", (double)error[0], (double)error[1]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "rate: %s\n", PetscLog2Real(error[0] / error[1]) > order - 0.2 ? name : "LOW"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* keep[n]: the unknowns that are not essential; lambda[n]: room for as many eigenvalues. By PetscFree2() */
static inline PetscErrorCode HangFreeUnknowns(const HangArrays *a, PetscInt *n, PetscInt **keep, PetscReal **lambda)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(a->N, keep, a->N, lambda));
  *n = 0;
  for (PetscInt g = 0, e = 0; g < a->N; ++g) {
    if (e < a->ness && a->ess[e] == g) ++e;
    else (*keep)[(*n)++] = g;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline void HangLagrangeDerivatives(PetscInt n, const PetscReal z[], PetscReal x, PetscReal dl[])
{
  for (PetscInt j = 0; j < n; ++j) {
    dl[j] = 0.0;
    for (PetscInt k = 0; k < n; ++k) {
      PetscReal t = 1.0;

      if (k == j) continue;
      for (PetscInt m = 0; m < n; ++m)
        if (m != j && m != k) t *= (x - z[m]) / (z[j] - z[m]);
      dl[j] += t / (z[j] - z[k]);
    }
  }
}

/* smallest and largest eigenvalue of the stiffness of an interval by that of its sub-edges, of width h, each
   with the mean of Gauss-Lobatto weight by lumped width at its ends */
static inline PetscErrorCode HangPencil(PetscInt p, PetscReal b[2])
{
  const PetscInt n = p + 1;
  PetscReal     *K, *L, *x, *w, *dl, *lambda, z[16] = {-1.0, 1.0}, r[16] = {1.0, 1.0};

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc2(p * p, &K, p * p, &L));
  PetscCall(PetscMalloc4(n, &x, n, &w, n, &dl, n, &lambda));
  if (p > 1) PetscCall(PetscDTGaussLobattoLegendreQuadrature(n, PETSCGAUSSLOBATTOLEGENDRE_VIA_NEWTON, z, r));
  PetscCall(PetscDTGaussQuadrature(n, -1.0, 1.0, x, w));
  for (PetscInt k = 0; k < n; ++k) {
    HangLagrangeDerivatives(n, z, x[k], dl);
    for (PetscInt i = 1; i < n; ++i)
      for (PetscInt j = 1; j < n; ++j) K[(i - 1) * p + j - 1] += w[k] * dl[i] * dl[j];
  }
  for (PetscInt i = 0; i < n; ++i) r[i] /= 0.5 * ((i < p ? z[i + 1] : z[i]) - (i ? z[i - 1] : z[i]));
  for (PetscInt i = 0; i < p; ++i) {
    const PetscReal k = 0.5 * (r[i] + r[i + 1]) / (z[i + 1] - z[i]);

    L[i * p + i] += k;
    if (i) {
      L[(i - 1) * p + i - 1] += k;
      L[i * p + i - 1] = L[(i - 1) * p + i] = -k;
    }
  }
  PetscCall(TestEigenvalues(p, K, L, lambda));
  b[0] = lambda[0];
  b[1] = lambda[p - 1];
  PetscCall(PetscFree2(K, L));
  PetscCall(PetscFree4(x, w, dl, lambda));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* all eigenvalues of LOR^-1 A on the unknowns keep[n]; `entries` are those of PCLORSetConstraintEntries(), or
   PETSC_DECIDE for what options say, or the default */
static inline PetscErrorCode HangEigenvalues(Mat A, PetscInt entries, PetscInt n, const PetscInt keep[], PetscReal lambda[])
{
  Mat          B, L;
  PC           pc;
  PetscScalar *a, *b;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetFromOptions(pc));
  if (entries >= 0) PetscCall(PCLORSetConstraintEntries(pc, entries));
  PetscCall(PCSetUp(pc));
  PetscCall(PCLORGetMat(pc, &L));
  PetscCall(MatConvert(L, MATAIJ, MAT_INITIAL_MATRIX, &L)); /* of a device's type, which has no rows at hand */
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(PetscMalloc2(n * n, &a, n * n, &b));
  PetscCall(TestDense(B, n, keep, a));
  PetscCall(TestDense(L, n, keep, b));
  PetscCall(TestEigenvalues(n, a, b, lambda));
  PetscCall(PetscFree2(a, b));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&L));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A Robin term on the boundary where the first direction begins, or ends; in 3D its facets may hang */
static inline PetscErrorCode HangAddRobin(const HangMesh *m, const HangArrays *a, PetscBool upper, Mat A, HopsCoefficient c)
{
  PetscInt n = 0, *cells, *faces;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(a->nc, &cells, a->nc, &faces));
  for (PetscInt k = 0; k < a->nc; ++k) {
    const HangCell *x = m->cell + a->first + k;

    if (x->a[0] != (upper ? (m->M[0] << x->level) - 1 : 0)) continue;
    cells[n] = k;
    for (PetscInt d = 0; d < m->dim; ++d)
      if (x->perm[d] == 0) faces[n] = 2 * d + (upper ? !x->flip[d] : x->flip[d]);
    ++n;
  }
  PetscCall(MatPAAddRobin(A, n, cells, faces, c));
  PetscCall(PetscFree2(cells, faces));
  PetscFunctionReturn(PETSC_SUCCESS);
}
