static char help[] = "All eigenvalues of LOR^-1 A lie in the intervals that the 1D pencils give, for H(curl) and H(div) at every order.\n\
  -dim <d> -order <p> -cells <n,n,n> -nodal (edge functions replaced by Lagrange polynomials at Gauss points, which must escape)\n\n";

#include "hopstest.h"

/* published to four digits: largest eigenvalue of the edge functions' mass by 1/h; the mass by Gauss-Lobatto weights has p/(2p+1) and 1 */
static const PetscReal table[12] = {1., 1.3333, 1.5451, 1.6903, 1.7960, 1.8764, 1.9396, 1.9906, 2.0326, 2.0678, 2.0977, 2.1235};

/* boxes of unequal sides */
static void Grade(PetscInt dim, PetscReal x[])
{
  x[0] = x[0] + 0.7 * x[0] * x[0];
  x[1] = 0.6 * x[1] + 0.2 * x[1] * x[1];
  if (dim > 2) x[2] = 1.1 * x[2] + 0.4 * x[2] * x[2] * x[2];
}

static PetscErrorCode Operators(HopsSpace sp, HopsCoefficient mu, HopsCoefficient beta, Mat *A, PC *pc, Mat *L)
{
  HopsFamily family;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetFamily(sp, &family));
  PetscCall(MatCreatePA(sp, A));
  if (mu) PetscCall(family == HOPS_HCURL ? MatPASetCurlCurl(*A, mu) : MatPASetDivDiv(*A, mu));
  if (beta) PetscCall(MatPASetMass(*A, beta));
  PetscCall(PCCreate(PETSC_COMM_SELF, pc));
  PetscCall(PCSetType(*pc, PCLOR));
  PetscCall(PCSetOperators(*pc, *A, *A));
  PetscCall(PetscOptionsInsertString(NULL, "-lor_pc_type jacobi"));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCSetUp(*pc));
  PetscCall(PCLORGetMat(*pc, L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Eigen(PetscInt n, PetscScalar M[], PetscReal lambda[])
{
  PetscBLASInt bn, lwork, info;
  PetscScalar *work;

  PetscFunctionBeginUser;
  PetscCall(PetscBLASIntCast(n, &bn));
  PetscCall(PetscBLASIntCast(34 * n, &lwork));
  PetscCall(PetscMalloc1(lwork, &work));
  PetscCallBLAS("LAPACKsyev", LAPACKsyev_("V", "U", &bn, M, &bn, lambda, work, &lwork, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK syev failed: %d", (int)info);
  PetscCall(PetscFree(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Extreme eigenvalues of the pencil (A, L) off L's kernel, which must be A's; T (may be NULL) is a change of basis, A <- T^T A T */
static PetscErrorCode Dense(Mat A, Mat L, const PetscScalar T[], PetscReal *lo, PetscReal *hi, PetscReal *kernel)
{
  Mat          B;
  PetscInt     n, m = 0, *keep;
  PetscBLASInt bn, bm;
  PetscScalar *a, *b, *t, *s, one = 1.0, zero = 0.0;
  PetscReal   *lambda, amax = 0.0;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatGetSize(B, &n, NULL));
  PetscCall(PetscMalloc6(n, &keep, n * n, &a, n * n, &b, n * n, &t, n * n, &s, n, &lambda));
  for (PetscInt i = 0; i < n; ++i) keep[i] = i;
  PetscCall(TestDense(B, n, keep, a));
  PetscCall(TestDense(L, n, keep, b));
  PetscCall(PetscBLASIntCast(n, &bn));
  if (T) { /* T row-major, so T^T to BLAS */
    PetscCallBLAS("BLASgemm", BLASgemm_("N", "T", &bn, &bn, &bn, &one, a, &bn, T, &bn, &zero, t, &bn));
    PetscCallBLAS("BLASgemm", BLASgemm_("N", "N", &bn, &bn, &bn, &one, T, &bn, t, &bn, &zero, a, &bn));
  }
  for (PetscInt i = 0; i < n * n; ++i) amax = PetscMax(amax, PetscAbsScalar(a[i]));
  PetscCall(Eigen(n, b, lambda));
  *kernel = 0.0;
  while (m < n && lambda[m] < 1e-11 * lambda[n - 1]) ++m;
  PetscCallBLAS("BLASgemm", BLASgemm_("N", "N", &bn, &bn, &bn, &one, a, &bn, b, &bn, &zero, t, &bn));
  for (PetscInt i = 0; i < m * n; ++i) *kernel = TestWorse(*kernel, PetscAbsScalar(t[i]) / amax);
  for (PetscInt k = m; k < n; ++k)
    for (PetscInt i = 0; i < n; ++i) {
      b[k * n + i] /= PetscSqrtReal(lambda[k]);
      t[k * n + i] /= PetscSqrtReal(lambda[k]);
    }
  PetscCall(PetscBLASIntCast(n - m, &bm));
  PetscCallBLAS("BLASgemm", BLASgemm_("T", "N", &bm, &bm, &bn, &one, b + m * n, &bn, t + m * n, &bn, &zero, s, &bm));
  PetscCall(Eigen(n - m, s, lambda));
  *lo = lambda[0];
  *hi = lambda[n - m - 1];
  PetscCall(PetscFree6(keep, a, b, t, s, lambda));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same by the Lanczos process inside CG, preconditioned with the factored LOR matrix */
static PetscErrorCode Lanczos(Mat A, Mat L, PetscReal *lo, PetscReal *hi)
{
  KSP         ksp;
  PC          pc;
  Vec         x, b;
  PetscRandom r;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NATURAL));
  PetscCall(KSPSetTolerances(ksp, 1e-14, PETSC_DEFAULT, PETSC_DEFAULT, 300));
  PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  PetscCall(KSPSetOperators(ksp, A, L));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCCHOLESKY));
  PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGND));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &r));
  PetscCall(VecSetRandom(b, r));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPComputeExtremeSingularValues(ksp, hi, lo));
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Test(const char name[], HopsSpace sp, HopsCoefficient mu, HopsCoefficient beta, const PetscScalar T[], PetscReal a, PetscReal b)
{
  Mat       A, L;
  PC        pc;
  PetscInt  n;
  PetscReal lo, hi, kernel = 0.0;
  PetscBool inside;

  PetscFunctionBeginUser;
  PetscCall(Operators(sp, mu, beta, &A, &pc, &L));
  PetscCall(MatGetSize(A, &n, NULL));
  if (n <= 600) PetscCall(Dense(A, L, T, &lo, &hi, &kernel));
  else PetscCall(Lanczos(A, L, &lo, &hi));
  inside = lo >= a * (1.0 - 3e-4) && hi <= b * (1.0 + 3e-4) ? PETSC_TRUE : PETSC_FALSE; /* four digits, their squares and cubes */
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %s: %s%s\n", name, inside ? "inside" : "OUTSIDE", kernel < 1e-11 ? "" : ", kernels DIFFER"));
  PetscCall(PetscInfo(NULL, "%s: eigenvalues [%g, %g], interval [%g, %g], %" PetscInt_FMT " unknowns\n", name, (double)lo, (double)hi, (double)a, (double)b, n));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  On one cell: unknown i of a Nedelec space from Lagrange polynomials at Gauss points in place of the edge functions, over their
  integrals so that lowest order and scaling are the same. The space's unknowns are line integrals, its own basis the identity.
*/
static PetscErrorCode NodalBasis(PetscInt dim, PetscInt p, PetscInt n, HopsSpace sp, PetscScalar T[])
{
  PetscReal   *x, *w, *z, *t, *gx, *gw;
  PetscScalar *e;
  Vec          u;
  PetscInt    *unknown, cell;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc6(p, &x, p, &w, p + 1, &z, p * p, &t, p, &gx, p, &gw));
  PetscCall(PetscDTGaussQuadrature(p, -1.0, 1.0, x, w));
  PetscCall(TestGLL(p + 1, z));
  for (PetscInt i = 0; i < p; ++i)
    for (PetscInt j = 0; j < p; ++j) { /* int over (z_i, z_{i+1}) of l_j / w_j */
      t[i * p + j] = 0.0;
      for (PetscInt q = 0; q < p; ++q) {
        const PetscReal y = 0.5 * (z[i] + z[i + 1]) + 0.5 * (z[i + 1] - z[i]) * x[q];
        PetscReal       l = 1.0;

        for (PetscInt k = 0; k < p; ++k)
          if (k != j) l *= (y - x[k]) / (x[j] - x[k]);
        t[i * p + j] += 0.5 * (z[i + 1] - z[i]) * w[q] * l / w[j];
      }
    }
  /* lines of p unknowns that follow each other along an edge direction: found by the field of each unknown at the middle of the sub-edges */
  PetscCall(PetscArrayzero(T, n * n));
  PetscCall(PetscMalloc2(n, &unknown, 3, &e));
  PetscCall(HopsSpaceCreateVec(sp, &u));
  cell = 0;
  for (PetscInt c = 0; c < dim; ++c) {
    PetscInt lines = 1;

    for (PetscInt d = 0; d < dim - 1; ++d) lines *= p + 1;
    for (PetscInt l = 0; l < lines; ++l) {
      PetscInt  at[3] = {0, 0, 0}, *line = unknown;
      PetscReal xi[3];

      for (PetscInt d = 0, k = l; d < dim; ++d) {
        if (d == c) continue;
        at[d] = k % (p + 1);
        k /= p + 1;
      }
      for (PetscInt i = 0; i < p; ++i) {
        PetscInt found = -1;

        for (PetscInt d = 0; d < dim; ++d) xi[d] = d == c ? 0.5 * (z[i] + z[i + 1]) : z[at[d]];
        for (PetscInt k = 0; k < n && found < 0; ++k) { /* sum of the unknown's component at the middles of all others is less than at its own */
          PetscScalar best = 0.0, sum = 0.0;

          PetscCall(VecSet(u, 0.0));
          PetscCall(VecSetValue(u, k, 1.0, INSERT_VALUES));
          PetscCall(VecAssemblyBegin(u));
          PetscCall(VecAssemblyEnd(u));
          PetscCall(HopsSpaceEvaluate(sp, u, 1, &cell, xi, e));
          best = PetscAbsScalar(e[c]);
          if (best < 1e-8) continue;
          for (PetscInt m = 0; m < p; ++m) {
            PetscReal y[3] = {xi[0], xi[1], xi[2]};

            y[c] = 0.5 * (z[m] + z[m + 1]);
            PetscCall(HopsSpaceEvaluate(sp, u, 1, &cell, y, e));
            sum = PetscMax(sum, PetscAbsScalar(e[c]));
          }
          if (best == sum) found = k;
        }
        PetscCheck(found >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No unknown found");
        line[i] = found;
      }
      for (PetscInt i = 0; i < p; ++i)
        for (PetscInt j = 0; j < p; ++j) T[line[i] * n + line[j]] = t[i * p + j];
    }
  }
  PetscCall(VecDestroy(&u));
  PetscCall(PetscFree2(unknown, e));
  PetscCall(PetscFree6(x, w, z, t, gx, gw));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt        dim = 2, p = 2, n[3] = {2, 2, 2}, nn = 3, values[6] = {1, 2, 3, 4, 5, 6};
  PetscBool       nodal = PETSC_FALSE, essential = PETSC_TRUE;
  PetscReal       m, h;
  PetscScalar     one = 1.0, diag[3] = {1.0, 10.0, 0.2};
  char            text[128];
  DM              dm;
  DMLabel         label;
  HopsSpace       curl, div;
  HopsCoefficient scalar, diagonal;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-cells", n, &nn, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-nodal", &nodal, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-essential", &essential, NULL));
  m = p / (2.0 * p + 1.0);
  h = table[p - 1]; /* by which the low-order-refined derivative is scaled */
  PetscCall(PetscSNPrintf(text, sizeof(text), "-dm_plex_dim %" PetscInt_FMT " -dm_plex_box_faces %" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT, dim, n[0], n[1], n[2]));
  PetscCall(PetscOptionsInsertString(NULL, text));
  PetscCall(TestMeshMapped(PETSC_COMM_SELF, Grade, &dm));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(HopsSpaceCreateHCurl(dm, p, essential && !nodal ? label : NULL, 6, values, &curl));
  PetscCall(HopsSpaceCreateHDiv(dm, p, essential && !nodal ? label : NULL, 6, values, &div));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &one, &scalar));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, dim, diag, &diagonal));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT "D order %" PetscInt_FMT "\n", dim, p));
  if (nodal) {
    PetscInt     N;
    PetscScalar *T;

    PetscCall(HopsSpaceGetSizes(curl, NULL, &N));
    PetscCall(PetscMalloc1(N * N, &T));
    PetscCall(NodalBasis(dim, p, N, curl, T));
    PetscCall(Test("curl-curl and mass with edge functions", curl, scalar, scalar, NULL, PetscMin(1.0 / h, dim == 2 ? m : m * m), h));
    PetscCall(Test("curl-curl and mass with a nodal basis", curl, scalar, scalar, T, PetscMin(1.0 / h, dim == 2 ? m : m * m), h));
    PetscCall(PetscFree(T));
  } else if (dim == 2) {
    PetscCall(Test("H(curl) mass", curl, NULL, scalar, NULL, m, h));
    PetscCall(Test("H(curl) mass, diagonal", curl, NULL, diagonal, NULL, m, h));
    PetscCall(Test("H(div) mass", div, NULL, scalar, NULL, m, h));
    PetscCall(Test("H(div) mass, diagonal", div, NULL, diagonal, NULL, m, h));
    PetscCall(Test("curl-curl", curl, scalar, NULL, NULL, 1.0 / h, h));
    PetscCall(Test("div-div", div, scalar, NULL, NULL, 1.0 / h, h));
    PetscCall(Test("curl-curl and mass", curl, scalar, scalar, NULL, PetscMin(m, 1.0 / h), h));
  } else {
    PetscInt N;

    PetscCall(Test("H(curl) mass", curl, NULL, scalar, NULL, m * m, h));
    PetscCall(Test("H(curl) mass, diagonal", curl, NULL, diagonal, NULL, m * m, h));
    PetscCall(Test("H(div) mass", div, NULL, scalar, NULL, m, h * h));
    PetscCall(Test("H(div) mass, diagonal", div, NULL, diagonal, NULL, m, h * h));
    PetscCall(HopsSpaceGetSizes(div, NULL, &N));
    if (N <= 600) { /* singular: dense */
      PetscCall(Test("curl-curl", curl, scalar, NULL, NULL, m / h, h));
      PetscCall(Test("curl-curl, diagonal", curl, diagonal, NULL, NULL, m / h, h));
      PetscCall(Test("div-div", div, scalar, NULL, NULL, 1.0 / h, h * h));
    }
    PetscCall(Test("curl-curl and mass", curl, scalar, scalar, NULL, PetscMin(m * m, m / h), h));
    PetscCall(Test("div-div and mass", div, scalar, scalar, NULL, PetscMin(m, 1.0 / h), h * h));
  }
  PetscCall(HopsSpaceDestroy(&curl));
  PetscCall(HopsSpaceDestroy(&div));
  PetscCall(HopsCoefficientDestroy(&scalar));
  PetscCall(HopsCoefficientDestroy(&diagonal));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: 2d
    args: -dim 2 -cells 2,2 -order {{1 2 3 4 5 6 7 8}separate output}
  test:
    suffix: 2d_high
    args: -dim 2 -cells 2,1 -essential 0 -order {{9 10 11 12}separate output}
  test:
    suffix: 3d_1
    args: -dim 3 -cells 3,3,3 -order 1
  test:
    suffix: 3d_2
    args: -dim 3 -cells 3,2,2 -order 2
  test:
    suffix: 3d
    args: -dim 3 -cells 1,1,2 -order {{3 4}separate output}
  test:
    suffix: 3d_high
    args: -dim 3 -cells 1,1,1 -order {{5 6 7 8}separate output}
  test:
    suffix: 3d_highest
    timeoutfactor: 4
    args: -dim 3 -cells 1,1,1 -order {{9 10 11 12}separate output}
  test:
    suffix: nodal
    args: -dim {{2 3}separate output} -cells 1,1,1 -order 4 -nodal

TEST*/
