static char help[] = "A diffusion coefficient that is not positive is warned of, and a negative mass; a coefficient that vanishes "
                     "at a point, or a mass of zero, is not.\n\n";

#include "hopstest.h"

static PetscErrorCode Distance(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar k[], void *ctx)
{
  k[0] = x[0] + x[1] - *(PetscReal *)ctx;
  return PETSC_SUCCESS;
}

int main(int argc, char **argv)
{
  DM              dm;
  HopsSpace       sp;
  HopsCoefficient kappa, beta;
  Mat             A;
  PC              pc;
  PetscReal       shift = 0.0, mass = 0.0;
  PetscScalar     value;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-shift", &shift, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-mass", &mass, NULL));
  value = mass;
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_FALSE, &dm));
  PetscCall(HopsSpaceCreateH1(dm, 2, NULL, 0, NULL, &sp));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, Distance, &shift, &kappa));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &value, &beta));
  PetscCall(MatPASetMass(A, beta));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "set up\n"));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&beta));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -lor_pc_type jacobi
    test:
      suffix: zero
    test:
      suffix: negative
      args: -shift 0.5
    test:
      suffix: mass
      args: -mass -1

TEST*/
