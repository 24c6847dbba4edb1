static char help[] =
  "hypre's products after PCLOR was set up: solves with BoomerAMG on ranks with 32 rows, where cuSPARSE's products of\n\
  CUDA 13.0 are wrong at random.\n\
  -repeat <solves: 20> -rows <of the last rank: 32> -lor <bool: PCLOR is set up before>\n\n";

#include "hopstest.h"

/* -u'' + mass u = 1 with natural ends: u = 1 / mass. One row on each rank but the last */
static PetscErrorCode CreateMatrix(PetscInt rows, PetscReal mass, Mat *A)
{
  PetscMPIInt size, rank;
  PetscInt    start, end, N;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  N = size - 1 + rows;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, rank == size - 1 ? rows : 1, rank == size - 1 ? rows : 1, N, N, 3, NULL, 2, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    if (i) PetscCall(MatSetValue(*A, i, i - 1, -1.0, INSERT_VALUES));
    if (i < N - 1) PetscCall(MatSetValue(*A, i, i + 1, -1.0, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, i, mass + (i ? 1.0 : 0.0) + (i < N - 1 ? 1.0 : 0.0), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpLOR(void)
{
  HopsCoefficient   one;
  const PetscScalar c = 1.0;
  HopsSpace         sp;
  DM                dm;
  Mat               A;
  PC                pc;

  PetscFunctionBeginUser;
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_FALSE, &dm));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &c, &one));
  PetscCall(HopsSpaceCreateH1(dm, 2, NULL, 0, NULL, &sp));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, one));
  PetscCall(MatPASetMass(A, one));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(HopsCoefficientDestroy(&one));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscReal mass   = 1e-6;
  PetscInt        repeat = 20, rows = 32, bad = 0;
  PetscBool       lor = PETSC_TRUE;
  Mat             A, H;
  Vec             b, x;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &repeat, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-rows", &rows, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-lor", &lor, NULL));
  if (lor) PetscCall(SetUpLOR());
  PetscCall(CreateMatrix(rows, mass, &A));
  PetscCall(MatConvert(A, MATHYPRE, MAT_INITIAL_MATRIX, &H));
  PetscCall(MatCreateVecs(H, &x, &b));
  PetscCall(VecSet(b, 1.0));
  for (PetscInt i = 0; i < repeat; ++i) {
    KSPConvergedReason reason;
    PetscReal          least, most;
    KSP                ksp;
    PC                 pc;

    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOptionsPrefix(ksp, "line_"));
    PetscCall(KSPSetOperators(ksp, H, H));
    PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 60)); /* 17 to 19 iterations */
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCHYPRE));
    PetscCall(PCHYPRESetType(pc, "boomeramg"));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(VecScale(x, mass));
    PetscCall(VecMin(x, NULL, &least));
    PetscCall(VecMax(x, NULL, &most));
    if (reason <= 0 || !(least > 0.9999 && most < 1.0001)) {
      if (!bad)
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solve %" PetscInt_FMT ": %s, solution between %g and %g\n", i,
                              KSPConvergedReasons[reason], (double)least, (double)most));
      ++bad;
    }
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " solves, %" PetscInt_FMT " wrong\n", repeat, bad));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&H));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    requires: hypre host real
    suffix: host
    nsize: 3
    args: -dm_plex_dim 2 -dm_plex_box_faces 3,3 -line_pc_hypre_boomeramg_coarsen_type PMIS -line_pc_hypre_boomeramg_interp_type ext+i -line_pc_hypre_boomeramg_P_max 4 -line_pc_hypre_boomeramg_relax_type_all l1scaled-Jacobi -line_pc_hypre_boomeramg_relax_type_coarse l1scaled-Jacobi -line_pc_hypre_boomeramg_no_CF 1

  test:
    requires: cuda hypre
    suffix: cuda
    nsize: 3
    args: -hops_backend cuda -use_gpu_aware_mpi 0 -dm_plex_dim 2 -dm_plex_box_faces 3,3 -line_pc_hypre_boomeramg_coarsen_type PMIS -line_pc_hypre_boomeramg_interp_type ext+i -line_pc_hypre_boomeramg_P_max 4 -line_pc_hypre_boomeramg_relax_type_all l1scaled-Jacobi -line_pc_hypre_boomeramg_relax_type_coarse l1scaled-Jacobi -line_pc_hypre_boomeramg_no_CF 1

TEST*/
