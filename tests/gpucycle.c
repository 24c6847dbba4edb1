static char help[] = "PCLOR's own V-cycle on a device against hypre's on the same hierarchy: one application, refills; on several ranks too; a singular problem is left to hypre.\n\
  -order <p> -own <false: hypre is to run all cycles, as where a rank has no unknowns>\n\n";

#include "hopstest.h"

/* one hierarchy, three cycles: relative differences of the two precisions from hypre's result, and from symmetry */
static PetscErrorCode Compare(PC pc, Mat A, const char what[], PetscBool own)
{
  static const PCLORCycle  cycle[] = {PCLOR_CYCLE_HYPRE, PCLOR_CYCLE_DOUBLE, PCLOR_CYCLE_SINGLE};
  static const char *const name[]  = {"hypre", "double", "single"};
  const PetscReal          tol[]   = {1e-12, 1e-12, 1e-5};
  Vec                      x, z, y, t, h;
  PetscRandom              r;
  PetscReal                n, e, nx, nt;
  PetscMPIInt              size;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &z));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &t));
  PetscCall(VecDuplicate(x, &h));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(PetscRandomSetInterval(r, -1.0, 1.0));
  PetscCall(VecSetRandom(x, r));
  PetscCall(VecSetRandom(z, r));
  PetscCall(VecNorm(x, NORM_2, &nx));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (PetscInt i = 0; i < 3; ++i) {
    PetscScalar a, b;
    PCLORCycle  runs;
    PetscInt    spread;

    PetscCall(PCLORSetCycle(pc, cycle[i]));
    PetscCall(PCLORGetCycle(pc, &runs, &spread));
    if (runs != (own ? cycle[i] : PCLOR_CYCLE_HYPRE)) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s: the cycle is run by ANOTHER\n", what, name[i]));
    if ((spread > 0) != (runs != PCLOR_CYCLE_HYPRE && size > 1)) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s: %" PetscInt_FMT " levels are spread over %d ranks\n", what, name[i], spread, size));
    PetscCall(PCApply(pc, x, y));
    if (!i) PetscCall(VecCopy(y, h));
    PetscCall(VecNorm(h, NORM_2, &n));
    PetscCall(PCApply(pc, z, t));
    PetscCall(VecNorm(t, NORM_2, &nt));
    PetscCall(VecDot(y, z, &a));
    PetscCall(VecDot(t, x, &b));
    PetscCall(VecAXPY(y, -1.0, h));
    PetscCall(VecNorm(y, NORM_2, &e));
    PetscCall(PetscInfo(pc, "%s, %s: difference %g, asymmetry %g\n", what, name[i], (double)(e / n), (double)(PetscAbsScalar(a - b) / (nx * nt))));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s: %s, %s\n", what, name[i], e <= tol[i] * n ? "agrees with hypre" : "DIFFERS from hypre", PetscAbsScalar(a - b) <= tol[i] * nx * nt ? "symmetric" : "NOT symmetric"));
  }
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&t));
  PetscCall(VecDestroy(&h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM              dm;
  DMLabel         label;
  HopsSpace       sp;
  HopsCoefficient kappa, mass;
  PetscInt        one = 1, order = 3, dim;
  PetscScalar     c   = 0.3;
  PetscBool       own = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-own", &own, NULL));
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_TRUE, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, dim * (dim + 1) / 2, TestKappa, NULL, &kappa));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &c, &mass));
  for (PetscInt k = 0; k < 2; ++k) { /* Dirichlet on one side with a refill; Neumann */
    MatNullSpace nsp = NULL;
    Mat          A;
    PC           pc;

    PetscCall(HopsSpaceCreateH1(dm, order, label, k ? 0 : 1, &one, &sp));
    PetscCall(MatCreatePA(sp, &A));
    PetscCall(MatPASetDiffusion(A, kappa));
    if (k) PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &nsp));
    PetscCall(MatSetNullSpace(A, nsp));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCLOR));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PCSetUp(pc));
    PetscCall(Compare(pc, A, k ? "singular" : "Dirichlet", k ? PETSC_FALSE : own));
    if (!k) {
      PetscCall(MatPASetMass(A, mass));
      PetscCall(PCSetOperators(pc, A, A));
      PetscCall(PCSetUp(pc));
      PetscCall(Compare(pc, A, "refilled", own));
    }
    PetscCall(PCDestroy(&pc));
    PetscCall(MatNullSpaceDestroy(&nsp));
    PetscCall(MatDestroy(&A));
    PetscCall(HopsSpaceDestroy(&sp));
  }
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&mass));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: cuda hypre

  testset:
    args: -hops_backend cuda -use_gpu_aware_mpi 0

    test:
      suffix: 2d
      args: -dm_plex_dim 2 -dm_plex_box_faces 12,10 -order 4

    test:
      suffix: 3d
      args: -dm_plex_dim 3 -dm_plex_box_faces 5,4,4 -order 3

    test:
      suffix: 2d_ranks
      nsize: {{2 3}}
      output_file: output/gpucycle_2d.out
      args: -dm_plex_dim 2 -dm_plex_box_faces 12,10 -order 4 -pc_lor_cycle_redundant {{0 400 100000}}

    test:
      suffix: 3d_ranks
      nsize: {{2 3}}
      output_file: output/gpucycle_3d.out
      args: -dm_plex_dim 3 -dm_plex_box_faces 5,4,4 -order 3 -pc_lor_cycle_redundant {{0 200 100000}}

    test:
      suffix: empty
      nsize: 3
      output_file: output/gpucycle_2d.out
      args: -dm_plex_dim 2 -dm_plex_box_faces 2,1 -order 9 -pc_lor_cycle_redundant {{0 100000}} -own 0

    test:
      suffix: memory
      nsize: {{1 2}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 6,5,4 -order 4 -hops_hypre_memory {{0.01 4}} -petsc_ci_portable_error_output -error_output_stdout
      filter: sed -n -e "s,[0-9][0-9.e+]* MB,some MB,g" -e "s,[0-9][0-9.e+]* are free,some are free," -e "s,.*\(hypre needs .*\),\1,p"

TEST*/
