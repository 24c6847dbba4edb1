static char help[] =
  "The low-order-refined matrix against a brute-force assembly of its sub-cells, and the life of PCLOR; or matrices of one back\n\
  end against those of another, entry by entry: types, refills, new patterns, repeatability; derivatives.\n\
  -dim <d> -order <p>\n\
  -backends <a,b> -what <matrix,derivative> -orders <p,...> -families <0: H1, 1,2,3: H(curl), H(div), L2> -straight\n\
  -sides <essential ones>\n\n";

#include "lorcompare.h"
#include "backend_apart.h"

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

static PetscErrorCode Assembly(void)
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
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateUnset(HopsSpace sp, PetscInt family, HopsCoefficient mu, HopsCoefficient beta, const char type[],
                                  Mat *A, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(sp, A));
  PetscCall(SetTerms(*A, family, mu, beta));
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetOptionsPrefix(*pc, "inner_"));
  PetscCall(PCSetType(*pc, PCLOR));
  if (type) PetscCall(PCLORSetMatType(*pc, type));
  PetscCall(PCSetOperators(*pc, *A, *A));
  PetscCall(PetscOptionsSetValue(NULL, "-inner_lor_pc_type", "none")); /* the matrix alone matters */
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a back end's matrix twice from nothing: the same bits */
static PetscErrorCode Repeat(HopsSpace sp, PetscInt family, HopsCoefficient mu, HopsCoefficient beta, const char type[],
                             PetscBool *same)
{
  Mat       A[2], L, B[2];
  PC        pc[2];
  PetscBool eq;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(CreateUnset(sp, family, mu, beta, type, &A[i], &pc[i]));
    PetscCall(PCSetUp(pc[i]));
    PetscCall(PCLORGetMat(pc[i], &L));
    PetscCall(Plain(L, &B[i]));
  }
  PetscCall(MatEqual(B[0], B[1], &eq));
  if (!eq) *same = PETSC_FALSE;
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(MatDestroy(&A[i]));
    PetscCall(MatDestroy(&B[i]));
    PetscCall(PCDestroy(&pc[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tensors by cell, of which different pairs of directions couple in cells beside each other, from `first` on;
   numbers where directions have none of their own */
static PetscErrorCode CellTensors(HopsSpace sp, PetscInt n, PetscInt ncells, PetscInt first, HopsCoefficient *c)
{
  const PetscInt nc = n == 1 ? 1 : n * (n + 1) / 2;
  PetscScalar   *values;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(nc * 2 * ncells + 1, &values)); /* cells of the overlap, if any, included */
  for (PetscInt i = 0; i < ncells; ++i)
    for (PetscInt a = 0, l = 0, pair = 0; a < n; ++a)
      for (PetscInt b = a; b < n; ++b, ++l) {
        if (a == b) values[nc * i + l] = 1.0 + 0.02 * ((i + a) % 7);
        else values[nc * i + l] = i < first ? 0.0 : 0.6 * (i >> pair++ & 1); /* more than is dropped */
      }
  PetscCall(HopsCoefficientCreateCell(sp, nc, values, c));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* both back ends: first matrices, where no directions couple in the first cells */
static PetscErrorCode Late(PetscInt family, HopsSpace space[], HopsCoefficient mu, HopsCoefficient beta, PetscReal *worst,
                           PetscBool *pattern)
{
  Mat A[2], L[2];
  PC  pc[2];

  PetscFunctionBeginUser;
  for (PetscInt b = 0; b < 2; ++b) {
    PetscCall(CreateUnset(space[b], family, mu, beta, MATAIJ, &A[b], &pc[b]));
    PetscCall(PCSetUp(pc[b]));
    PetscCall(PCLORGetMat(pc[b], &L[b]));
  }
  PetscCall(CompareMatrices(L[0], L[1], worst, pattern));
  for (PetscInt b = 0; b < 2; ++b) {
    PetscCall(PCDestroy(&pc[b]));
    PetscCall(MatDestroy(&A[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* both back ends: one term, tensors of some cells, then of all, diagonal ones, the other term, values by
   cell, in turn */
static PetscErrorCode Order(PetscInt dim, PetscInt family, HopsSpace space[], const char name[])
{
  const char *types[3];
  /* components where directions have their own */
  const PetscInt  nmu = family == 0 || (family == 1 && dim == 3) ? dim : 1, nbeta = family % 3 ? dim : 1;
  PetscReal       worst   = 0.0;
  PetscBool       pattern = PETSC_TRUE, same = PETSC_TRUE;
  PetscInt        p, nc, ntypes = 0;
  HopsCoefficient mu[3], beta[3], constant, cell, some, late;
  PetscScalar     c = 1.7, *values;

  PetscFunctionBeginUser;
  PetscCall(MatTypes(space[1], family ? PETSC_TRUE : PETSC_FALSE, types, &ntypes));
  PetscCall(HopsSpaceGetOrder(space[0], &p));
  PetscCall(HopsSpaceGetNumCells(space[0], &nc));
  PetscCall(PetscMalloc1(2 * nc + 1, &values)); /* cells of the overlap, if any, included */
  for (PetscInt i = 0; i < nc; ++i) values[i] = 1.0 + 0.1 * (i % 7);
  for (PetscInt k = 0; k < 3; ++k) { /* scalar, diagonal, full */
    const PetscInt n[2] = {nmu, nbeta};

    for (PetscInt t = 0; t < 2; ++t)
      PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, k == 0 ? 1 : (k == 1 || n[t] == 1 ? n[t] : n[t] * (n[t] + 1) / 2),
                                              t && !family ? TestMass : TestKappa, NULL, t ? &beta[k] : &mu[k]));
  }
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &c, &constant));
  PetscCall(HopsCoefficientCreateCell(space[0], 1, values, &cell));
  PetscCall(CellTensors(space[0], nmu, nc, 0, &some));
  PetscCall(CellTensors(space[0], PetscMax(nmu, nbeta), nc, 66, &late));
  if (family < 3) PetscCall(Late(family, space, nmu > 1 ? late : mu[0], nmu > 1 ? constant : late, &worst, &pattern));
  for (PetscInt t = 0; t < ntypes; ++t) {
    HopsCoefficient mus[]   = {mu[0], some, mu[2], mu[1], NULL, cell, constant};
    HopsCoefficient betas[] = {NULL, constant, beta[2], constant, beta[0], NULL, cell};
    Mat             A[2], L[2];
    PC              pc[2];

    if (family == 3)
      for (PetscInt k = 0; k < 7; ++k) {
        mus[k] = NULL;
        if (!betas[k]) betas[k] = beta[0];
      }
    PetscCall(CreateUnset(space[0], family, mus[0], betas[0], MATAIJ, &A[0], &pc[0]));
    PetscCall(CreateUnset(space[1], family, mus[0], betas[0], types[t], &A[1], &pc[1]));
    for (PetscInt k = 0; k < 7; ++k) {
      for (PetscInt b = 0; b < 2; ++b) {
        PetscCall(SetTerms(A[b], family, mus[k], betas[k]));
        PetscCall(PCSetOperators(pc[b], A[b], A[b]));
        PetscCall(PCSetUp(pc[b]));
        PetscCall(PCLORGetMat(pc[b], &L[b]));
      }
      PetscCall(CompareMatrices(L[0], L[1], &worst, &pattern));
      PetscCall(PetscInfo(L[1], "order %" PetscInt_FMT " type %" PetscInt_FMT " coefficients %" PetscInt_FMT ": %g\n", p, t, k,
                          (double)worst));
    }
    for (PetscInt b = 0; b < 2; ++b) {
      PetscCall(PCDestroy(&pc[b]));
      PetscCall(MatDestroy(&A[b]));
    }
    PetscCall(Repeat(space[1], family, mus[1], betas[1], types[t], &same));
    PetscCall(Repeat(space[1], family, mus[2], betas[2], types[t], &same));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &pattern, 1, HOPS_MPI_BOOL, MPI_LAND, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s order %" PetscInt_FMT "%s: %s, %s, %s\n", families[family], p, name,
                        worst <= 1e-12 ? "entries agree to 1e-12" : "entries DIFFER", pattern ? "same pattern" : "pattern DIFFERS",
                        same ? "repeatable" : "NOT repeatable"));
  for (PetscInt k = 0; k < 3; ++k) {
    PetscCall(HopsCoefficientDestroy(&mu[k]));
    PetscCall(HopsCoefficientDestroy(&beta[k]));
  }
  PetscCall(HopsCoefficientDestroy(&constant));
  PetscCall(HopsCoefficientDestroy(&cell));
  PetscCall(HopsCoefficientDestroy(&some));
  PetscCall(HopsCoefficientDestroy(&late));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* all derivatives of the dimension, of both matrix types, with essential boundaries of either space, both or
   none */
static PetscErrorCode Derivatives(const char *const backend[], DM dm, PetscInt dim, PetscInt p)
{
  static const PetscInt pairs[2][4][2] = {{{0, 1}, {0, 2}, {1, 3}, {2, 3}}, {{0, 1}, {1, 2}, {2, 3}, {2, 3}}};
  const char           *types[3];
  PetscReal             worst   = 0.0;
  PetscBool             pattern = PETSC_TRUE;
  PetscInt              ntypes  = 0;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < (dim == 2 ? 4 : 3); ++k)
    for (PetscInt e = 0; e < 4; ++e) {
      HopsSpace from[2], to[2];
      Mat       H, D;

      for (PetscInt b = 0; b < 2; ++b) {
        PetscCall(TestSetBackend(backend[b]));
        PetscCall(CreateSpace(dm, pairs[dim - 2][k][0], p, e & 1, &from[b]));
        PetscCall(CreateSpace(dm, pairs[dim - 2][k][1], p, e & 2, &to[b]));
      }
      PetscCall(HopsSpaceCreateDerivative(from[0], to[0], &H));
      PetscCall(MatTypes(to[1], PETSC_TRUE, types, &ntypes));
      for (PetscInt t = 0; t < ntypes; ++t) {
        if (types[t]) PetscCall(PetscOptionsSetValue(NULL, "-hops_derivative_mat_type", types[t]));
        PetscCall(HopsSpaceCreateDerivative(from[1], to[1], &D));
        PetscCall(CompareMatrices(H, D, &worst, &pattern));
        PetscCall(PetscInfo(D, "order %" PetscInt_FMT " pair %" PetscInt_FMT " essential %" PetscInt_FMT " type %s: %g %d\n", p, k,
                            e, types[t] ? types[t] : "default", (double)worst, pattern));
        PetscCall(MatDestroy(&D));
      }
      PetscCall(MatDestroy(&H));
      for (PetscInt b = 0; b < 2; ++b) {
        PetscCall(HopsSpaceDestroy(&from[b]));
        PetscCall(HopsSpaceDestroy(&to[b]));
      }
    }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &pattern, 1, HOPS_MPI_BOOL, MPI_LAND, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "derivatives of order %" PetscInt_FMT ": %s, %s\n", p,
                        worst == 0.0 ? "same entries" : "entries DIFFER", pattern ? "same pattern" : "pattern DIFFERS"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* identity rows, and an element map of the space's order */
static PetscErrorCode Arrays(const char *const backend[], PetscInt dim, PetscInt p, PetscBool straight)
{
  const PetscInt nbox[3] = {3, 2, 2};
  HopsSpace      space[2];
  PetscReal     *z;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(p + 1, &z));
  PetscCall(TestGLL(p + 1, z));
  for (PetscInt b = 0; b < 2; ++b) {
    PetscCall(TestSetBackend(backend[b]));
    PetscCall(TestBox(dim, nbox, p, 1.3, z, PETSC_TRUE, straight ? NULL : TestCurve, &space[b]));
  }
  PetscCall(Order(dim, 0, space, ", arrays"));
  for (PetscInt b = 0; b < 2; ++b) PetscCall(HopsSpaceDestroy(&space[b]));
  PetscCall(PetscFree(z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareBackends(const char *const backend[])
{
  DM          dm;
  const char *apart[2] = {backend[0], NULL}; /* rows of the topology are asked for there alone */
  PetscInt    dim, np = 16, orders[16], nfamilies = 4, numbers[4];
  PetscMPIInt size;
  PetscBool   set, derivative, matrix, given, straight = PETSC_FALSE;
  char        what[64] = "matrix";

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-straight", &straight, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-what", what, sizeof(what), NULL));
  PetscCall(PetscStrcmp(what, "matrix", &matrix));
  PetscCall(PetscStrcmp(what, "derivative", &derivative));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-families", numbers, &nfamilies, &given));
  if (!given) numbers[0] = 0, nfamilies = 1;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &np, &set));
  PetscCheck(set && (matrix || derivative), PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -orders, and -what matrix or derivative");
  PetscCall(ApartRegister());
  PetscCall(ApartUse(backend[1], &apart[1]));
  PetscCall(FanMesh(PETSC_COMM_WORLD, straight ? PETSC_FALSE : PETSC_TRUE, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  for (PetscInt i = 0; i < np; ++i) {
    if (derivative) PetscCall(Derivatives(apart, dm, dim, orders[i]));
    for (PetscInt f = 0; f < nfamilies && matrix; ++f) {
      HopsSpace space[2];

      for (PetscInt b = 0; b < 2; ++b) {
        PetscCall(TestSetBackend(backend[b]));
        PetscCall(CreateSpace(dm, numbers[f], orders[i], PETSC_TRUE, &space[b]));
      }
      PetscCall(Order(dim, numbers[f], space, ""));
      for (PetscInt b = 0; b < 2; ++b) PetscCall(HopsSpaceDestroy(&space[b]));
      if (size == 1 && !numbers[f]) PetscCall(Arrays(backend, dim, orders[i], straight));
    }
  }
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *backend[2];
  PetscBool   compare;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestGetBackends(backend, &compare));
  PetscCall(compare ? CompareBackends(backend) : Assembly());
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

  # one back end against another
  testset:
    requires: host
    args: -backends host,base -families 0,1,2,3

    test:
      suffix: backends_2d
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -orders 1,2,3,5 -dm_coord_petscspace_degree 3

    test:
      suffix: backends_2d_ranks
      nsize: {{2 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -orders 1,3 -dm_coord_petscspace_degree 3

    test:
      suffix: backends_3d
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -orders 1,2,3 -dm_coord_petscspace_degree 2

    test:
      suffix: backends_3d_ranks
      nsize: 2
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -orders 1,2 -dm_coord_petscspace_degree 2

    # several groups of cells a thread, whose pairs of directions differ
    test:
      suffix: backends_2d_straight
      args: -straight -dm_plex_dim 2 -dm_plex_box_faces 9,8 -orders 1,2,3

    test:
      suffix: backends_3d_straight
      args: -straight -dm_plex_dim 3 -dm_plex_box_faces 5,5,3 -orders 1,2,4

    test:
      suffix: backends_3d_straight_ranks
      nsize: 2
      args: -straight -dm_plex_dim 3 -dm_plex_box_faces 5,4,3 -orders 1,3

    test:
      suffix: backends_3d_fan
      args: -dm_plex_dim 3 -fan 40 -orders 1,2

    test:
      suffix: backends_derivative
      nsize: {{1 3}}
      args: -dm_plex_dim {{2 3}separate output} -dm_plex_box_faces 3,2,2 -what derivative -orders 1,2 -options_left 0

  testset:
    requires: cuda
    args: -backends host,cuda -dm_plex_dim 2 -dm_plex_box_faces 4,3 -orders 1,2,3,4,5,6,7,8,12 -use_gpu_aware_mpi 0

    test:
      suffix: cuda_2d
      args: -dm_coord_petscspace_degree 3

    test:
      suffix: cuda_2d_straight
      args: -straight

    test:
      suffix: cuda_2d_ranks
      nsize: {{2 3}}
      args: -dm_coord_petscspace_degree 3

  testset:
    requires: cuda
    args: -backends host,cuda -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -use_gpu_aware_mpi 0
    timeoutfactor: 3

    test:
      suffix: cuda_3d
      args: -dm_coord_petscspace_degree 2 -orders 1,2,3,4

    test:
      suffix: cuda_3d_straight
      args: -straight -orders 1,2,3,6

    test:
      suffix: cuda_3d_high
      args: -dm_coord_petscspace_degree 2 -dm_plex_box_faces 2,1,1 -orders 5,6,7,8,12

    test:
      suffix: cuda_3d_ranks
      nsize: {{2 3}}
      args: -dm_coord_petscspace_degree 2 -orders 1,2,3,4

    test:
      suffix: cuda_3d_ranks_high
      nsize: {{2 3}}
      args: -dm_coord_petscspace_degree 2 -dm_plex_box_faces 3,1,1 -orders 5,6,7,8,9

  # rows longer than the kernels' lists; spaces from arrays are compared on one rank
  testset:
    requires: cuda
    args: -backends host,cuda
    filter: grep -v arrays
    test:
      suffix: cuda_2d_fan
      nsize: {{1 2}}
      args: -dm_plex_dim 2 -fan 70 -orders 1,2,3 -use_gpu_aware_mpi 0

    test:
      suffix: cuda_3d_fan
      nsize: {{1 2}}
      args: -dm_plex_dim 3 -fan 40 -orders 1,2,3 -use_gpu_aware_mpi 0

  testset:
    requires: cuda
    args: -backends host,cuda -families 1,2,3 -dm_plex_dim 2 -dm_plex_box_faces 4,3 -use_gpu_aware_mpi 0

    test:
      suffix: cuda_forms_2d
      args: -dm_coord_petscspace_degree 3 -orders 1,2,3,4,5,6,7,8,12

    test:
      suffix: cuda_forms_2d_straight
      args: -straight -orders 1,2,3,5

    test:
      suffix: cuda_forms_2d_ranks
      nsize: {{2 3}}
      args: -dm_coord_petscspace_degree 3 -orders 1,2,3,4

    test:
      suffix: cuda_forms_2d_derivative
      nsize: {{1 2 3}}
      args: -what derivative -orders 1,2,5

  testset:
    requires: cuda
    args: -backends host,cuda -families 1,2,3 -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -use_gpu_aware_mpi 0
    timeoutfactor: 3

    test:
      suffix: cuda_forms_3d
      args: -dm_coord_petscspace_degree 2 -orders 1,2,3,4

    test:
      suffix: cuda_forms_3d_straight
      args: -straight -orders 1,2,3,6

    test:
      suffix: cuda_forms_3d_periodic
      args: -straight -dm_plex_box_bd periodic,none,none -orders 1,2

    test:
      suffix: cuda_forms_3d_high
      args: -dm_coord_petscspace_degree 2 -dm_plex_box_faces 2,1,1 -orders 5,6,7,8

    test:
      suffix: cuda_forms_3d_ranks
      nsize: {{2 3}}
      args: -dm_coord_petscspace_degree 2 -orders 1,2,3

    test:
      suffix: cuda_forms_3d_ranks_high
      nsize: {{2 3}}
      args: -dm_coord_petscspace_degree 2 -dm_plex_box_faces 3,1,1 -orders 4,6

    test:
      suffix: cuda_forms_3d_ranks_straight
      nsize: {{2 3}}
      args: -straight -orders 1,3

    test:
      suffix: cuda_forms_3d_derivative
      nsize: {{1 2 3}}
      args: -what derivative -orders 1,2,4

    # rows longer than the kernels' lists
    test:
      suffix: cuda_forms_3d_fan
      nsize: {{1 2}}
      args: -fan 30 -orders 1,2,3

TEST*/
