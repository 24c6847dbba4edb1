static char help[] = "PETSc is started, used with hops and finalized, twice in one process.\n\n";

#include "hopstest.h"

/* iterations of CG with PCLOR on a small problem */
static PetscErrorCode Solve(PetscInt *its)
{
  const PetscInt    values[4] = {1, 2, 3, 4};
  const PetscScalar one       = 1.0;
  DM                dm;
  DMLabel           label;
  HopsSpace         sp;
  HopsCoefficient   kappa;
  Mat               A;
  Vec               x, b;
  KSP               ksp;
  PC                pc;

  PetscFunctionBeginUser;
  PetscCall(HopsInitialize());
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_FALSE, &dm));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(HopsSpaceCreateH1(dm, 4, label, 4, values, &sp));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &kappa));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(HopsSpaceComputeRHS(sp, TestMass, NULL, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt its[2] = {0, 0};

  if (MPI_Init(&argc, &argv)) return 1; /* so that PetscFinalize() leaves MPI running */
  for (PetscInt k = 0; k < 2; ++k) {    /* hypre's coarsening draws random numbers, so iterations may differ a little */
    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &argv, NULL, help));
    PetscCall(Solve(&its[k]));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "run %" PetscInt_FMT ": %s\n", k + 1,
                          its[k] > 2 && PetscAbsInt(its[k] - its[0]) <= 2 ? "solved" : "DIFFERS"));
    PetscCall(PetscFinalize());
  }
  MPI_Finalize();
  return 0;
}

/*TEST

  test:
    args: -dm_plex_dim 2 -dm_plex_box_faces 3,3
    nsize: {{1 2}}

  test:
    suffix: plugin
    args: -dm_plex_dim 2 -dm_plex_box_faces 3,3 -dll_append ${HOPS_LIB}
    output_file: output/reinit_1.out

TEST*/
