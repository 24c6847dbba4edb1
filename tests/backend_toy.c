static char help[] =
  "A back end with an H1 operator of its own, the host's for the rest, against the host's: products, diagonals, a solve.\n\n";

#include "backend_toy.h"

static PetscErrorCode Solve(DM dm, const char backend[], Vec x[2], PetscInt *its)
{
  const PetscInt    one = 1;
  const PetscScalar two = 2.0;
  HopsCoefficient   kappa;
  HopsSpace         sp;
  DMLabel           label;
  Mat               A;
  KSP               ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", backend));
  PetscCall(DMGetLabel(dm, "marker", &label));
  PetscCall(HopsSpaceCreateH1(dm, 3, label, 1, &one, &sp));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &two, &kappa));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(MatPASetMass(A, kappa));
  PetscCall(MatCreateVecs(A, &x[0], &x[1]));
  PetscCall(MatGetDiagonal(A, x[0]));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, x[0], x[1]));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM       dm;
  Vec      x[2][2];
  PetscInt its[2];

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ToyRegister());
  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  PetscCall(DMSetType(dm, DMPLEX));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(Solve(dm, "host", x[0], &its[0]));
  PetscCall(Solve(dm, "toy", x[1], &its[1]));
  for (PetscInt i = 0; i < 2; ++i) {
    PetscReal norm, error;

    PetscCall(VecNorm(x[0][i], NORM_INFINITY, &norm));
    PetscCall(VecAXPY(x[1][i], -1.0, x[0][i]));
    PetscCall(VecNorm(x[1][i], NORM_INFINITY, &error));
    PetscCheck(norm > 0.0 && error <= 1e-8 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The toy's %s is off by %g of %g",
               i ? "solution" : "diagonal", (double)error, (double)norm);
    PetscCall(VecDestroy(&x[0][i]));
    PetscCall(VecDestroy(&x[1][i]));
  }
  PetscCheck(its[0] == its[1] && its[0] > 3, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " and %" PetscInt_FMT " iterations",
             its[0], its[1]);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "The toy back end agrees with the host's\n"));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    requires: host
    nsize: {{1 2 3}}
    args: -dm_plex_simplex 0 -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,2,2 -pc_type lor -ksp_type cg -ksp_rtol 1e-10

TEST*/
