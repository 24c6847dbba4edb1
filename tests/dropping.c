static char help[] = "Dropping of off-diagonal metric terms from the low-order-refined matrix (PCLORSetDropTolerance()).\n\
  -dim <d> -order <p>\n\n";

#include "hopstest.h"

static const PetscReal shear = 0.6;

static void Shear(PetscInt dim, PetscReal x[])
{
  x[0] += shear * x[1];
}

/* cells of the first layer stay rectangles, those of the second are sheared */
static void ShearHalf(PetscInt dim, PetscReal x[])
{
  x[0] += shear * PetscMax(x[1] - 1.0, 0.0);
}

static PetscErrorCode CreateLOR(HopsSpace sp, HopsCoefficient kappa, HopsCoefficient mass, PetscReal tol, PC *pc, Mat *L)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(MatPASetMass(A, mass));
  PetscCall(PCCreate(PETSC_COMM_SELF, pc));
  PetscCall(PCSetType(*pc, PCLOR));
  PetscCall(PCLORSetMatType(*pc, MATAIJ)); /* its rows are read */
  if (tol >= 0.0) PetscCall(PCLORSetDropTolerance(*pc, tol));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCSetUp(*pc));
  PetscCall(PCLORGetMat(*pc, L));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* L(0) x = lambda L(1) x with L(1) positive definite and lambda in the interval of the metric's eigenvalues;
   equal row sums */
static PetscErrorCode Compare(PetscInt dim, PetscInt p, Mat L0, Mat L1, PetscReal rho)
{
  PetscInt     N, *all;
  PetscScalar *D0, *D1, *sum;
  PetscReal   *lambda, e = 0.0;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(L0, &N, NULL));
  PetscCall(PetscMalloc5(N, &all, N * N, &D0, N * N, &D1, N, &lambda, N, &sum));
  for (PetscInt i = 0; i < N; ++i) all[i] = i;
  PetscCall(TestDense(L0, N, all, D0));
  PetscCall(TestDense(L1, N, all, D1));
  for (PetscInt i = 0; i < N; ++i) {
    sum[i] = 0.0;
    for (PetscInt j = 0; j < N; ++j) {
      sum[i] += D0[i * N + j] - D1[i * N + j];
      e = TestWorse(e, PetscAbsScalar(D1[i * N + j] - D1[j * N + i]));
    }
    e = TestWorse(e, PetscAbsScalar(sum[i]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "symmetric, row sums kept: %s\n", e <= 1e-12 * PetscAbsScalar(D0[0]) ? "yes" : "NO"));
  PetscCall(TestEigenvalues(N, D0, D1, lambda));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "eigenvalues within 1 +- rho: %s, near its ends: %s\n",
                        lambda[0] >= 1.0 - rho - 1e-10 && lambda[N - 1] <= 1.0 + rho + 1e-10 ? "yes" : "NO",
                        lambda[0] < 1.0 - 0.3 * rho && lambda[N - 1] > 1.0 + 0.3 * rho ? "yes" : "NO"));
  PetscCall(PetscFree5(all, D0, D1, lambda, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Print(Mat L, const char name[])
{
  PetscInt N, least = PETSC_INT_MAX, most = 0;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(L, &N, NULL));
  for (PetscInt i = 0; i < N; ++i) {
    PetscInt nz;

    PetscCall(MatGetRow(L, i, &nz, NULL, NULL));
    least = PetscMin(least, nz);
    most  = PetscMax(most, nz);
    PetscCall(MatRestoreRow(L, i, &nz, NULL, NULL));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %" PetscInt_FMT " to %" PetscInt_FMT " entries a row\n", name, least, most));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt        dim = 2, p = 3, cells[3] = {2, 2, 1};
  PetscReal       z[65], rho = shear / PetscSqrtReal(1.0 + shear * shear); /* |G_xy| / sqrt(G_xx G_yy) of the sheared cells */
  PetscScalar     unit = 1.0, small = 0.01;
  HopsSpace       sp;
  HopsCoefficient kappa, mass;
  Mat             L, L0, L1;
  PC              pc, pc0, pc1;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(TestGLL(p + 1, z));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &unit, &kappa));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &small, &mass));
  PetscCall(TestBox(dim, cells, p, 1.0, z, PETSC_FALSE, Shear, &sp));
  PetscCall(CreateLOR(sp, kappa, mass, 0.0, &pc0, &L0));
  PetscCall(Print(L0, "sheared, tolerance 0"));
  PetscCall(CreateLOR(sp, kappa, mass, 0.99 * rho, &pc, &L));
  PetscCall(Print(L, "sheared, tolerance below rho"));
  PetscCall(PCLORSetDropTolerance(pc, 1.01 * rho)); /* and set up anew */
  PetscCall(PCSetUp(pc));
  PetscCall(PCLORGetMat(pc, &L));
  PetscCall(Print(L, "sheared, tolerance above rho"));
  PetscCall(PCDestroy(&pc));
  PetscCall(CreateLOR(sp, kappa, mass, 1.0, &pc1, &L1));
  PetscCall(Compare(dim, p, L0, L1, rho));
  PetscCall(PCDestroy(&pc0));
  PetscCall(PCDestroy(&pc1));
  PetscCall(HopsSpaceDestroy(&sp));
  /* rho is 0.5145: the default keeps it */
  PetscCall(TestBox(dim, cells, p, 1.0, z, PETSC_FALSE, ShearHalf, &sp));
  PetscCall(CreateLOR(sp, kappa, mass, -1.0, &pc, &L));
  PetscCall(Print(L, "half sheared, default"));
  PetscCall(PCDestroy(&pc));
  PetscCall(CreateLOR(sp, kappa, mass, 1.0, &pc, &L));
  PetscCall(Print(L, "half sheared, tolerance 1"));
  PetscCall(PCDestroy(&pc));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&mass));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  test:
    suffix: 2d
    args: -dim 2 -order {{1 3 6}separate output}
  test:
    suffix: 3d
    args: -dim 3 -order {{2 4}separate output}
  test:
    suffix: refused
    args: -pc_lor_drop_tol 1.5 -petsc_ci_portable_error_output
    filter: grep -o "The drop tolerance is 1.5, but must lie between 0"

TEST*/
