static char help[] = "The low-order-refined matrix against a brute-force assembly of its sub-cells, and the life of PCLOR.\n\
  -dim <d> -order <p>\n\n";

#include "hopstest.h"

static PetscErrorCode CreateLOR(Mat A, PC *pc, Mat *L)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PetscObjectComm((PetscObject)A), pc));
  PetscCall(PCSetType(*pc, PCLOR));
  PetscCall(PCLORSetMatType(*pc, MATAIJ)); /* its rows are read */
  PetscCall(PCLORSetDropTolerance(*pc, 0.0));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCSetUp(*pc));
  PetscCall(PCLORGetMat(*pc, L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Jacobian of TestCurve (composed with the cell's affine map) by the interpolant of order p on its GLL nodes
   z */
static void Jacobian(PetscInt dim, PetscInt p, const PetscReal z[], const PetscReal X[], const PetscInt v[], PetscReal J[])
{
  for (PetscInt i = 0; i < dim; ++i)
    for (PetscInt a = 0; a < dim; ++a) {
      PetscReal s = 0.0;

      for (PetscInt k = 0; k <= p; ++k) { /* derivative of l_k at z[v_a] */
        PetscReal d    = 0.0;
        PetscInt  w[3] = {v[0], v[1], dim == 3 ? v[2] : 0};

        for (PetscInt m = 0; m <= p; ++m) {
          PetscReal t = 1.0;

          if (m == k) continue;
          for (PetscInt l = 0; l <= p; ++l)
            if (l != k && l != m) t *= (z[v[a]] - z[l]) / (z[k] - z[l]);
          d += t / (z[k] - z[m]);
        }
        w[a] = k;
        s += d * X[(w[0] + (p + 1) * (w[1] + (p + 1) * w[2])) * dim + i];
      }
      J[i * dim + a] = s;
    }
}

static PetscReal Invert(PetscInt n, const PetscReal A[], PetscReal B[])
{
  PetscReal M[3][6], det = 1.0;

  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt j = 0; j < n; ++j) {
      M[i][j]     = A[i * n + j];
      M[i][n + j] = (PetscReal)(i == j);
    }
  for (PetscInt k = 0; k < n; ++k) {
    const PetscReal pivot = M[k][k];

    det *= pivot;
    for (PetscInt j = 0; j < 2 * n; ++j) M[k][j] /= pivot;
    for (PetscInt i = 0; i < n; ++i) {
      const PetscReal f = M[i][k];

      for (PetscInt j = 0; j < 2 * n && i != k; ++j) M[i][j] -= f * M[k][j];
    }
  }
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt j = 0; j < n; ++j) B[i * n + j] = M[i][n + j];
  return det;
}

/*
  One cell's matrix, sub-cell by sub-cell: multilinear functions with quadrature at the sub-cell's corners,
  where the geometry is that of the cell's own map at that node, and the corners of all sub-cells around a
  node share its Gauss-Lobatto weight in proportion to their volumes. Coefficients are those at the points Y.
  D is dense, of (p+1)^dim rows.
*/
static PetscErrorCode BruteForce(PetscInt dim, PetscInt p, const PetscReal z[], const PetscReal X[], const PetscReal Y[],
                                 PetscScalar D[])
{
  const PetscInt n = p + 1, nc = 1 << dim, ns = PetscPowInt(p, dim), N = PetscPowInt(n, dim);

  PetscReal r[33], x[33];

  PetscFunctionBeginUser;
  if (p == 1) r[0] = r[1] = 1.0;
  else PetscCall(PetscDTGaussLobattoLegendreQuadrature(n, PETSCGAUSSLOBATTOLEGENDRE_VIA_NEWTON, x, r));
  for (PetscInt i = 0; i < n; ++i) r[i] /= 0.5 * ((i < p ? z[i + 1] : z[i]) - (i ? z[i - 1] : z[i]));
  PetscCall(PetscArrayzero(D, N * N));
  for (PetscInt s = 0; s < ns; ++s) {
    const PetscInt base[3] = {s % p, (s / p) % p, dim == 3 ? s / (p * p) : 0};
    PetscInt       node[8];
    PetscReal      w = 1.0;

    for (PetscInt d = 0; d < dim; ++d) w *= 0.5 * (z[base[d] + 1] - z[base[d]]);
    for (PetscInt c = 0; c < nc; ++c) node[c] = base[0] + (c & 1) + n * (base[1] + ((c >> 1) & 1) + n * (base[2] + (c >> 2)));
    for (PetscInt q = 0; q < nc; ++q) {
      const PetscInt v[3] = {base[0] + (q & 1), base[1] + ((q >> 1) & 1), base[2] + (q >> 2)};
      PetscReal      J[9], Ji[9], grad[8][3] = {{0}}, det;
      PetscScalar    k[6], m, K[3][3];

      Jacobian(dim, p, z, X, v, J);
      det = Invert(dim, J, Ji);
      PetscCall(TestKappa(dim, Y + node[q] * dim, dim * (dim + 1) / 2, k, NULL));
      PetscCall(TestMass(dim, Y + node[q] * dim, 1, &m, NULL));
      for (PetscInt i = 0, l = 0; i < dim; ++i)
        for (PetscInt j = i; j < dim; ++j, ++l) K[i][j] = K[j][i] = k[l];
      for (PetscInt c = 0; c < nc; ++c) /* gradients at corner q of the multilinear function of corner c */
        for (PetscInt d = 0; d < dim; ++d) {
          const PetscReal h = z[base[d] + 1] - z[base[d]];

          if (((c ^ q) & ~(1 << d)) != 0) continue;
          for (PetscInt i = 0; i < dim; ++i) grad[c][i] += ((c >> d) & 1 ? 1.0 : -1.0) / h * Ji[d * dim + i];
        }
      for (PetscInt a = 0; a < nc; ++a)
        for (PetscInt b = 0; b < nc; ++b) {
          PetscReal e = a == q && b == q ? m : 0.0, R = 1.0;

          for (PetscInt i = 0; i < dim; ++i)
            for (PetscInt j = 0; j < dim; ++j) e += grad[a][i] * K[i][j] * grad[b][j];
          for (PetscInt d = 0; d < dim; ++d) R *= r[v[d]];
          D[node[a] * N + node[b]] += R * w * det * e;
        }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Y: the map of the nodes X at the points z, the first and the last moved into the cell by a hundredth of a
   sub-cell */
static void Inside(PetscInt dim, PetscInt p, const PetscReal z[], const PetscReal X[], PetscReal Y[])
{
  const PetscInt n = p + 1, N = PetscPowInt(n, dim);

  for (PetscInt v = 0; v < N; ++v)
    for (PetscInt i = 0; i < dim; ++i) {
      Y[v * dim + i] = 0.0;
      for (PetscInt k = 0; k < N; ++k) {
        PetscReal l = X[k * dim + i];

        for (PetscInt d = 0, a = v, b = k; d < dim; ++d, a /= n, b /= n) {
          const PetscReal y = z[a % n] + (a % n == 0 ? 0.01 * (z[1] - z[0]) : 0.0) - (a % n == p ? 0.01 * (z[p] - z[p - 1]) : 0.0);

          for (PetscInt m = 0; m < n; ++m)
            if (m != b % n) l *= (y - z[m]) / (z[b % n] - z[m]);
        }
        Y[v * dim + i] += l;
      }
    }
}

static PetscErrorCode CompareDense(Mat L, PetscInt N, const PetscScalar D[])
{
  PetscInt    *all;
  PetscScalar *E;
  PetscReal    e = 0.0, s = 0.0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(N, &all, N * N, &E));
  for (PetscInt i = 0; i < N; ++i) all[i] = i;
  PetscCall(TestDense(L, N, all, E));
  for (PetscInt i = 0; i < N * N; ++i) {
    e = TestWorse(e, PetscAbsScalar(E[i] - D[i]));
    s = PetscMax(s, PetscAbsScalar(D[i]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "brute force: %s\n", e <= 1e-12 * s ? "agrees to 1e-12" : "DIFFERS"));
  PetscCall(PetscFree2(all, E));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowLength(Mat L, const char name[])
{
  PetscInt N, most = 0;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(L, &N, NULL));
  for (PetscInt i = 0; i < N; ++i) {
    PetscInt nz;

    PetscCall(MatGetRow(L, i, &nz, NULL, NULL));
    most = PetscMax(most, nz);
    PetscCall(MatRestoreRow(L, i, &nz, NULL, NULL));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: at most %" PetscInt_FMT " entries a row\n", name, most));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Rotate(PetscInt dim, PetscReal x[])
{
  const PetscReal a = x[0], b = x[1], c = 0.8, s = 0.6;

  x[0] = c * a - s * b;
  x[1] = s * a + c * b;
}

static void Tilt(PetscInt dim, PetscReal x[])
{
  x[0] += 0.3 * x[1];
}

/* the values after a change of coefficient are those of a new preconditioner, in the old pattern */
static PetscErrorCode Refill(HopsSpace sp, PetscInt dim)
{
  HopsCoefficient k1, k2, mass;
  Mat             A, B, L, M, diff, first;
  PC              pc, fresh;
  MatInfo         before, after;
  PetscReal       e, n;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_SELF, 1, TestKappa, NULL, &k1));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_SELF, dim, TestKappa, NULL, &k2));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_SELF, 1, TestMass, NULL, &mass));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, k1));
  PetscCall(CreateLOR(A, &pc, &L));
  first = L;
  PetscCall(MatGetInfo(L, MAT_LOCAL, &before));
  PetscCall(MatPASetDiffusion(A, k2));
  PetscCall(MatPASetMass(A, mass));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(PCLORGetMat(pc, &L));
  PetscCall(MatCreatePA(sp, &B));
  PetscCall(MatPASetDiffusion(B, k2));
  PetscCall(MatPASetMass(B, mass));
  PetscCall(CreateLOR(B, &fresh, &M));
  PetscCall(MatNorm(M, NORM_FROBENIUS, &n));
  PetscCall(MatDuplicate(L, MAT_COPY_VALUES, &diff));
  PetscCall(MatAXPY(diff, -1.0, M, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(diff, NORM_FROBENIUS, &e));
  PetscCall(MatGetInfo(L, MAT_LOCAL, &after));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "refilled values: %s, pattern %s\n", e <= 1e-14 * n ? "those of a new matrix" : "WRONG",
                        L == first && before.nz_used == after.nz_used ? "kept" : "REBUILT"));
  PetscCall(MatDestroy(&diff));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(PCDestroy(&pc));
  PetscCall(PCDestroy(&fresh));
  PetscCall(HopsCoefficientDestroy(&k1));
  PetscCall(HopsCoefficientDestroy(&k2));
  PetscCall(HopsCoefficientDestroy(&mass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt        dim = 2, p = 3, one[3] = {1, 1, 1}, cells[3] = {3, 2, 2}, N;
  PetscReal       z[65], *X, *Y;
  PetscScalar     unit = 1.0, *D;
  HopsSpace       sp;
  HopsCoefficient kappa, mass, constant;
  Mat             A, L;
  PC              pc;
  void (*maps[3])(PetscInt, PetscReal[]) = {NULL, Rotate, Tilt};
  static const char *const names[3]      = {"box", "rotated box", "sheared box"};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(TestGLL(p + 1, z));
  N = PetscPowInt(p + 1, dim);
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_SELF, dim * (dim + 1) / 2, TestKappa, NULL, &kappa));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_SELF, 1, TestMass, NULL, &mass));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &unit, &constant));
  /* one curved cell, full tensor */
  PetscCall(TestBox(dim, one, p, 1.0, z, PETSC_FALSE, TestCurve, &sp));
  PetscCall(PetscMalloc3(N * dim, &X, N * dim, &Y, N * N, &D));
  for (PetscInt i = 0; i < N; ++i) {
    for (PetscInt d = 0, k = i; d < dim; ++d, k /= p + 1) X[i * dim + d] = 0.5 * (z[k % (p + 1)] + 1.0);
    TestCurve(dim, X + i * dim);
  }
  Inside(dim, p, z, X, Y);
  for (PetscInt gll = 0; gll < 2; ++gll) { /* an operator that integrates at the nodes has its coefficients there */
    PetscCall(MatCreatePA(sp, &A));
    PetscCall(MatPASetDiffusion(A, kappa));
    PetscCall(MatPASetMass(A, mass));
    PetscCall(MatPASetQuadrature(A, 0, gll ? PETSC_TRUE : PETSC_FALSE));
    PetscCall(CreateLOR(A, &pc, &L));
    PetscCall(BruteForce(dim, p, z, X, gll ? X : Y, D));
    PetscCall(CompareDense(L, N, D));
    if (gll) PetscCall(RowLength(L, "curved cell"));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscFree3(X, Y, D));
  PetscCall(HopsSpaceDestroy(&sp));
  for (PetscInt m = 0; m < 3; ++m) { /* no structural zeros */
    PetscCall(TestBox(dim, cells, p, 1.3, z, PETSC_TRUE, maps[m], &sp));
    PetscCall(MatCreatePA(sp, &A));
    PetscCall(MatPASetDiffusion(A, constant));
    PetscCall(CreateLOR(A, &pc, &L));
    PetscCall(RowLength(L, names[m]));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
    if (!m) PetscCall(Refill(sp, dim));
    PetscCall(HopsSpaceDestroy(&sp));
  }
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&mass));
  PetscCall(HopsCoefficientDestroy(&constant));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    diff_args: -j
    test:
      suffix: 2d
      args: -dim 2 -order {{1 2 3 5 9}separate output}
    test:
      suffix: 3d
      args: -dim 3 -order {{1 2 4 6}separate output}
    test:
      suffix: 2d_base
      output_file: output/lor_2d_order-5.out
      requires: host
      args: -dim 2 -order 5 -hops_host_isa base
    test:
      suffix: 3d_base
      output_file: output/lor_3d_order-4.out
      requires: host
      args: -dim 3 -order 4 -hops_host_isa base
    test:
      suffix: 2d_avx2
      requires: host avx2
      output_file: output/lor_2d_order-5.out
      args: -dim 2 -order 5 -hops_host_isa avx2
    test:
      suffix: 3d_avx2
      requires: host avx2
      output_file: output/lor_3d_order-4.out
      args: -dim 3 -order 4 -hops_host_isa avx2
    test:
      suffix: 3d_avx512
      requires: host avx512f
      output_file: output/lor_3d_order-4.out
      args: -dim 3 -order 4 -hops_host_isa avx512

TEST*/
