static char help[] = "Convergence of order p+1 in L2 on curved meshes, with Dirichlet lifting and a full tensor.\n\
  -order <p> -faces <n>\n\n";

#include "hopstest.h"

static PetscErrorCode U(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(2.0 * x[0] + 0.3) * PetscExpReal(0.5 * x[1]) * (dim > 2 ? PetscCosReal(x[2]) : 1.0);
  return PETSC_SUCCESS;
}

/* -div(K grad u) + u for the constant tensor K below */
static const PetscReal K[3][3] = {{1.0, 0.3, 0.2}, {0.3, 2.0, 0.4}, {0.2, 0.4, 3.0}};

static PetscErrorCode F(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  const PetscReal s = PetscSinReal(2.0 * x[0] + 0.3), c = PetscCosReal(2.0 * x[0] + 0.3), e = PetscExpReal(0.5 * x[1]);
  const PetscReal z[3] = {dim > 2 ? PetscCosReal(x[2]) : 1.0, dim > 2 ? -PetscSinReal(x[2]) : 0.0,
                          dim > 2 ? -PetscCosReal(x[2]) : 0.0};
  const PetscReal g[3][3] = {{s, 2.0 * c, -4.0 * s}, {e, 0.5 * e, 0.25 * e}, {z[0], z[1], z[2]}};

  f[0] = s * e * z[0];
  for (PetscInt i = 0; i < dim; ++i)
    for (PetscInt j = 0; j < dim; ++j) {
      PetscReal t = 1.0;

      for (PetscInt d = 0; d < 3; ++d) t *= g[d][(d == i) + (d == j)];
      f[0] -= K[i][j] * t;
    }
  return PETSC_SUCCESS;
}

static PetscErrorCode Solve(PetscInt dim, PetscInt p, PetscInt n, PetscReal *error)
{
  const PetscInt  values[6] = {1, 2, 3, 4, 5, 6};
  DM              dm;
  DMLabel         label;
  HopsSpace       sp;
  HopsCoefficient kappa, mass;
  PetscScalar     k[6], one = 1.0;
  Mat             A;
  Vec             x, b;

  PetscFunctionBeginUser;
  for (PetscInt i = 0, l = 0; i < dim; ++i)
    for (PetscInt j = i; j < dim; ++j) k[l++] = K[i][j];
  PetscCall(TestCube(dim, n, TestCurve, &dm));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(HopsSpaceCreateH1(dm, p, label, 2 * dim, values, &sp));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, dim * (dim + 1) / 2, k, &kappa));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &mass));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(MatPASetMass(A, mass));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(HopsSpaceSetEssentialFunction(sp, U, NULL));
  PetscCall(HopsSpaceComputeRHS(sp, F, NULL, b));
  PetscCall(MatPALiftEssential(A, b));
  PetscCall(TestSolve(A, b, x, KSP_NORM_PRECONDITIONED, 1e-13, 80, NULL));
  PetscCall(HopsSpaceComputeL2Error(sp, x, U, NULL, error));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&mass));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt dim = 2, n = 4, orders[8], np = 8;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-faces", &n, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &np, NULL));
  for (PetscInt i = 0; i < np; ++i) {
    PetscReal coarse, fine, rate;

    PetscCall(Solve(dim, orders[i], n, &coarse));
    PetscCall(Solve(dim, orders[i], 2 * n, &fine));
    rate = PetscLog2Real(coarse / fine);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ": %s\n", orders[i],
                          rate >= orders[i] + 0.8 ? "converges with p+1" : "TOO SLOW"));
    PetscCall(
      PetscInfo(NULL, "order %" PetscInt_FMT ": errors %g %g, rate %.2f\n", orders[i], (double)coarse, (double)fine, (double)rate));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: 2d
    nsize: {{1 2}}
    args: -dim 2 -faces 4 -orders 1,2,3,4,5,6 -dm_coord_petscspace_degree 3

  test:
    suffix: 3d
    nsize: 2
    args: -dim 3 -faces 2 -orders 1,2,3,4 -dm_coord_petscspace_degree 2

TEST*/
