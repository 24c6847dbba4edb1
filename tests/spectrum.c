static char help[] = "All eigenvalues of LOR^-1 A lie in the intervals that the 1D pencils give, at every order.\n\
  -dim <d> -order <p> -cells <n,n,n> -wrong (equispaced sub-cells, which must escape)\n\n";

#include "hopstest.h"

/* to four digits: smallest eigenvalue p/(2p+1) of mass by Gauss-Lobatto weights, whose largest is 1, and both
   of stiffness by that of the sub-edges */
static const PetscReal table[12][3] = {{.3333, 1.0000, 1.0000}, {.4000, 1.0000, 1.3333}, {.4286, 0.9682, 1.5794},
                                       {.4444, 0.9662, 1.7155}, {.4545, 0.9722, 1.8082}, {.4615, 0.9777, 1.8789},
                                       {.4667, 0.9820, 1.9360}, {.4706, 0.9853, 1.9835}, {.4737, 0.9878, 2.0238},
                                       {.4762, 0.9897, 2.0583}, {.4783, 0.9912, 2.0881}, {.4800, 0.9924, 2.1141}};

/* Lagrange basis on z and its derivative at x, by the product formula */
static void Lagrange(PetscInt n, const PetscReal z[], PetscReal x, PetscReal l[], PetscReal dl[])
{
  for (PetscInt j = 0; j < n; ++j) {
    l[j]  = 1.0;
    dl[j] = 0.0;
    for (PetscInt k = 0; k < n; ++k) {
      PetscReal t = 1.0;

      if (k == j) continue;
      l[j] *= (x - z[k]) / (z[j] - z[k]);
      for (PetscInt m = 0; m < n; ++m)
        if (m != j && m != k) t *= (x - z[m]) / (z[j] - z[m]);
      dl[j] += t / (z[j] - z[k]);
    }
  }
}

/*
  m0, k0, k1 from the 1D matrices themselves. A sub-edge of width h has the mean of r = weight by lumped width
  at its ends; fixing one end takes the constants out of the stiffness pencil.
*/
static PetscErrorCode Bounds(PetscInt p, const PetscReal z[], PetscReal b[3])
{
  const PetscInt n = p + 1, q = p + 2;
  PetscReal     *M, *K, *Ml, *Kl, *x, *w, *l, *dl, *lambda, gll[13] = {0}, r[13] = {1.0, 1.0};

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc4(n * n, &M, n * n, &K, n * n, &Ml, n * n, &Kl));
  PetscCall(PetscMalloc5(q, &x, q, &w, n, &l, n, &dl, n, &lambda));
  PetscCall(PetscDTGaussQuadrature(q, -1.0, 1.0, x, w));
  for (PetscInt k = 0; k < q; ++k) {
    Lagrange(n, z, x[k], l, dl);
    for (PetscInt i = 0; i < n; ++i)
      for (PetscInt j = 0; j < n; ++j) {
        M[i * n + j] += w[k] * l[i] * l[j];
        if (i && j) K[(i - 1) * p + j - 1] += w[k] * dl[i] * dl[j];
      }
  }
  if (p > 1) PetscCall(PetscDTGaussLobattoLegendreQuadrature(n, PETSCGAUSSLOBATTOLEGENDRE_VIA_NEWTON, gll, r));
  for (PetscInt i = 0; i < n; ++i) {
    Ml[i * n + i] = r[i];
    r[i] /= 0.5 * ((i < p ? z[i + 1] : z[i]) - (i ? z[i - 1] : z[i]));
  }
  for (PetscInt i = 0; i < p; ++i) {
    const PetscReal k = 0.5 * (r[i] + r[i + 1]) / (z[i + 1] - z[i]);

    Kl[i * p + i] += k;
    if (i) {
      Kl[(i - 1) * p + i - 1] += k;
      Kl[i * p + i - 1] = Kl[(i - 1) * p + i] = -k;
    }
  }
  PetscCall(TestEigenvalues(n, M, Ml, lambda));
  b[0] = lambda[0];
  PetscCheck(PetscAbsReal(lambda[n - 1] - 1.0) < 1e-10, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The Gauss-Lobatto rule is not exact for the lower orders");
  PetscCall(TestEigenvalues(p, K, Kl, lambda));
  b[1] = lambda[0];
  b[2] = lambda[p - 1];
  PetscCall(PetscFree4(M, K, Ml, Kl));
  PetscCall(PetscFree5(x, w, l, dl, lambda));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* extreme eigenvalues of the pencil (A, LOR) on the unknowns that are not essential; both terms' coefficients
   may be NULL */
static PetscErrorCode Extreme(HopsSpace sp, HopsSpace lorspace, HopsCoefficient kappa, HopsCoefficient mass, PetscInt q,
                              PetscReal *lo, PetscReal *hi)
{
  Mat          A, B, L, P;
  PC           pc;
  PetscInt     n = 0, N, *keep;
  PetscScalar *a, *b;
  PetscReal   *lambda;

  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetQuadrature(A, q, PETSC_FALSE));
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(MatPASetMass(A, mass));
  PetscCall(MatCreatePA(lorspace, &P));
  PetscCall(MatPASetDiffusion(P, kappa));
  PetscCall(MatPASetMass(P, mass));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCLORSetMatType(pc, MATAIJ)); /* its rows are read */
  PetscCall(PCSetOperators(pc, P, P));
  PetscCall(PCSetUp(pc));
  PetscCall(PCLORGetMat(pc, &L));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatGetSize(B, &N, NULL));
  PetscCall(PetscMalloc1(N, &keep));
  for (PetscInt i = 0; i < N; ++i) {
    PetscInt           nz, off = 0;
    const PetscInt    *cols;
    const PetscScalar *vals;

    PetscCall(MatGetRow(B, i, &nz, &cols, &vals));
    for (PetscInt k = 0; k < nz; ++k) off += cols[k] != i && vals[k] != 0.0;
    PetscCall(MatRestoreRow(B, i, &nz, &cols, &vals));
    if (off) keep[n++] = i; /* identity rows are the essential unknowns */
  }
  PetscCheck(n > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No unknowns are left");
  PetscCall(PetscMalloc3(n * n, &a, n * n, &b, n, &lambda));
  PetscCall(TestDense(B, n, keep, a));
  PetscCall(TestDense(L, n, keep, b));
  PetscCall(TestEigenvalues(n, a, b, lambda));
  *lo = lambda[0];
  *hi = lambda[n - 1];
  PetscCall(PetscFree3(a, b, lambda));
  PetscCall(PetscFree(keep));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&P));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Report(const char name[], PetscReal lo, PetscReal hi, PetscReal a, PetscReal b)
{
  const PetscBool inside = (lo >= a * (1.0 - 1e-9) && hi <= b * (1.0 + 1e-9)) ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s\n", name, inside ? "inside" : "OUTSIDE"));
  if (!inside)
    PetscCall(PetscInfo(NULL, "eigenvalues [%g, %g], interval [%g, %g]\n", (double)lo, (double)hi, (double)a, (double)b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt        dim = 2, p = 2, n[3] = {3, 2, 2}, nn = 3;
  PetscBool       wrong = PETSC_FALSE;
  PetscReal       z[65], equi[65], b[3], lo, hi;
  PetscScalar     one = 1.0, diag[3] = {1.0, 10.0, 0.2};
  HopsSpace       sp, free, lorspace;
  HopsCoefficient scalar, diagonal;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-cells", n, &nn, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-wrong", &wrong, NULL));
  PetscCall(TestGLL(p + 1, z));
  /* exactly equispaced ones are refused */
  for (PetscInt i = 0; i <= p; ++i) equi[i] = -1.0 + 2.0 * i / p + (i && i < p ? 0.03 : 0.0);
  PetscCall(Bounds(p, z, b));
  for (PetscInt k = 0; k < 3; ++k)
    PetscCheck(PetscAbsReal(b[k] - table[p - 1][k]) < 6e-5, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "1D bound %" PetscInt_FMT " is %g, not %g", k, (double)b[k], (double)table[p - 1][k]);
  PetscCall(TestBox(dim, n, p, 1.7, z, PETSC_TRUE, NULL, &sp));
  PetscCall(TestBox(dim, n, p, 1.7, z, PETSC_FALSE, NULL, &free));
  PetscCall(TestBox(dim, n, p, 1.7, wrong ? equi : z, PETSC_TRUE, NULL, &lorspace));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &one, &scalar));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, dim, diag, &diagonal));
  for (PetscInt q = p + 1; q <= p + 2; ++q) {
    const PetscReal d0 = b[1] * PetscPowRealInt(b[0], dim - 1), d1 = b[2];

    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT "D order %" PetscInt_FMT " Q = p+%" PetscInt_FMT "\n", dim, p, q - p));
    PetscCall(Extreme(sp, lorspace, scalar, NULL, q, &lo, &hi));
    PetscCall(Report("  diffusion, scalar", lo, hi, d0, d1));
    if (wrong) break;
    PetscCall(Extreme(sp, lorspace, diagonal, NULL, q, &lo, &hi));
    PetscCall(Report("  diffusion, diagonal", lo, hi, d0, d1));
    if (q == p + 2 && dim == 3 && p > 8) break;
    PetscCall(Extreme(free, free, NULL, scalar, q, &lo, &hi));
    PetscCall(Report("  mass", lo, hi, PetscPowRealInt(b[0], dim), 1.0));
  }
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(HopsSpaceDestroy(&free));
  PetscCall(HopsSpaceDestroy(&lorspace));
  PetscCall(HopsCoefficientDestroy(&scalar));
  PetscCall(HopsCoefficientDestroy(&diagonal));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  testset:
    args: -dim 2 -cells 3,2 -order {{1 2 3 4 5 6 7 8 9 10 11 12}separate output}

    test:
      suffix: 2d

  testset:
    args: -dim 3
    output_file: output/spectrum_3d.out
    filter: sed -E 's/order [0-9]+/order p/'

    test:
      suffix: 3d_1
      args: -order 1 -cells 4,3,3
    test:
      suffix: 3d_2
      args: -order 2 -cells 3,2,2
    test:
      suffix: 3d_3
      args: -order 3 -cells 2,2,2
    test:
      suffix: 3d_4
      args: -order 4 -cells 2,2,1
    test:
      suffix: 3d_5
      args: -order 5 -cells 2,1,1
    test:
      suffix: 3d_6
      args: -order 6 -cells 2,1,1
    test:
      suffix: 3d_7
      args: -order 7 -cells 2,1,1
    test:
      suffix: 3d_8
      args: -order 8 -cells 1,1,1

  testset:
    args: -dim 3 -cells 1,1,1
    timeoutfactor: 6

    test:
      suffix: 3d
      args: -order {{9}separate output}
    test:
      suffix: 3d
      comments: a product for each column, which a device takes minutes to launch and to wait for
      requires: host long
      args: -order {{10 11 12}separate output}

  test:
    suffix: wrong
    args: -dim 2 -order 8 -wrong

TEST*/
