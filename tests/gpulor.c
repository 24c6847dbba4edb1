static char help[] =
  "The low-order-refined matrix assembled on a device against the host's, entry by entry: types, refills, new patterns,\n\
  repeatability.\n\
  -orders <p,...>\n\n";

#include "gpucompare.h"

static PetscErrorCode CreateLOR(HopsSpace sp, HopsCoefficient kappa, HopsCoefficient mass, const char type[], Mat *A, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(sp, A));
  PetscCall(MatPASetDiffusion(*A, kappa));
  PetscCall(MatPASetMass(*A, mass));
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetOptionsPrefix(*pc, "inner_"));
  PetscCall(PCSetType(*pc, PCLOR));
  if (type) PetscCall(PCLORSetMatType(*pc, type));
  PetscCall(PCSetOperators(*pc, *A, *A));
  PetscCall(PetscOptionsSetValue(NULL, "-inner_lor_pc_type", "none")); /* the matrix alone matters */
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* new coefficients, as the same code of a user sets them */
static PetscErrorCode Refill(Mat A, PC pc, HopsCoefficient kappa, HopsCoefficient mass, Mat *L)
{
  PetscFunctionBeginUser;
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(MatPASetMass(A, mass));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(PCLORGetMat(pc, L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the device's matrix twice from nothing: the same bits */
static PetscErrorCode Repeat(HopsSpace sp, HopsCoefficient kappa, HopsCoefficient mass, const char type[], PetscBool *same)
{
  Mat       A[2], L, B[2];
  PC        pc[2];
  PetscBool eq;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(CreateLOR(sp, kappa, mass, type, &A[i], &pc[i]));
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

/* space[0] on the host, space[1] on the device: a tensor, then new values, then a scalar in the old pattern,
   mass alone, and the tensor again */
static PetscErrorCode Order(PetscInt dim, HopsSpace space[], const char name[])
{
  static const char *const types[] = {NULL, MATAIJ, MATAIJCUSPARSE};
  PetscReal                worst   = 0.0;
  PetscBool                pattern = PETSC_TRUE, same = PETSC_TRUE;
  PetscInt                 p, nc;
  HopsCoefficient          tensor, diagonal, scalar, constant, cell, mass;
  PetscScalar              c = 1.7, *values;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetOrder(space[0], &p));
  PetscCall(HopsSpaceGetNumCells(space[0], &nc));
  PetscCall(PetscMalloc1(2 * nc + 1, &values)); /* cells of the overlap, if any, included */
  for (PetscInt i = 0; i < nc; ++i) values[i] = 1.0 + 0.1 * (i % 7);
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, dim * (dim + 1) / 2, TestKappa, NULL, &tensor));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, dim, TestKappa, NULL, &diagonal));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestKappa, NULL, &scalar));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, &mass));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &c, &constant));
  PetscCall(HopsCoefficientCreateCell(space[0], 1, values, &cell));
  for (PetscInt t = 0; t < 3; ++t) {
    const HopsCoefficient kappas[] = {scalar, tensor, diagonal, NULL, cell, constant},
                          masses[] = {NULL, mass, constant, mass, NULL, cell};
    Mat A[2], L[2];
    PC  pc[2];

    PetscCall(CreateLOR(space[0], kappas[0], masses[0], MATAIJ, &A[0], &pc[0]));
    PetscCall(CreateLOR(space[1], kappas[0], masses[0], types[t], &A[1], &pc[1]));
    for (PetscInt k = 0; k < 6; ++k) {
      for (PetscInt b = 0; b < 2; ++b) PetscCall(Refill(A[b], pc[b], kappas[k], masses[k], &L[b]));
      PetscCall(Compare(L[0], L[1], &worst, &pattern));
      PetscCall(PetscInfo(L[1], "order %" PetscInt_FMT " type %" PetscInt_FMT " coefficients %" PetscInt_FMT ": %g\n", p, t, k,
                          (double)worst));
    }
    for (PetscInt b = 0; b < 2; ++b) {
      PetscCall(PCDestroy(&pc[b]));
      PetscCall(MatDestroy(&A[b]));
    }
    PetscCall(Repeat(space[1], tensor, mass, types[t], &same));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &pattern, 1, HOPS_MPI_BOOL, MPI_LAND, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT "%s: %s, %s, %s\n", p, name,
                        worst <= 1e-12 ? "entries agree to 1e-12" : "entries DIFFER", pattern ? "same pattern" : "pattern DIFFERS",
                        same ? "repeatable" : "NOT repeatable"));
  PetscCall(HopsCoefficientDestroy(&tensor));
  PetscCall(HopsCoefficientDestroy(&diagonal));
  PetscCall(HopsCoefficientDestroy(&scalar));
  PetscCall(HopsCoefficientDestroy(&constant));
  PetscCall(HopsCoefficientDestroy(&cell));
  PetscCall(HopsCoefficientDestroy(&mass));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const backend[] = {"host", "cuda"};
  DM                       dm;
  DMLabel                  label;
  PetscInt                 dim, np = 16, orders[16], one = 1, nbox[3] = {3, 2, 2};
  PetscMPIInt              size;
  PetscBool                set, straight = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-straight", &straight, NULL));
  PetscCall(FanMesh(PETSC_COMM_WORLD, straight ? PETSC_FALSE : PETSC_TRUE, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &np, &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -orders");
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  for (PetscInt i = 0; i < np; ++i) {
    HopsSpace space[2];

    for (PetscInt b = 0; b < 2; ++b) {
      PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", backend[b]));
      PetscCall(HopsSpaceCreateH1(dm, orders[i], label, 1, &one, &space[b]));
    }
    PetscCall(Order(dim, space, ""));
    for (PetscInt b = 0; b < 2; ++b) PetscCall(HopsSpaceDestroy(&space[b]));
    if (size == 1) { /* identity rows, and an element map of the space's order */
      PetscReal *z;

      PetscCall(PetscMalloc1(orders[i] + 1, &z));
      PetscCall(TestGLL(orders[i] + 1, z));
      for (PetscInt b = 0; b < 2; ++b) {
        PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", backend[b]));
        PetscCall(TestBox(dim, nbox, orders[i], 1.3, z, PETSC_TRUE, straight ? NULL : TestCurve, &space[b]));
      }
      PetscCall(Order(dim, space, ", arrays"));
      for (PetscInt b = 0; b < 2; ++b) PetscCall(HopsSpaceDestroy(&space[b]));
      PetscCall(PetscFree(z));
    }
  }
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: cuda

  testset:
    args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -orders 1,2,3,4,5,6,7,8,12 -use_gpu_aware_mpi 0

    test:
      suffix: 2d
      args: -dm_coord_petscspace_degree 3

    test:
      suffix: 2d_straight
      args: -straight

    test:
      suffix: 2d_ranks
      nsize: {{2 3}}
      args: -dm_coord_petscspace_degree 3

  testset:
    args: -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -use_gpu_aware_mpi 0
    timeoutfactor: 3

    test:
      suffix: 3d
      args: -dm_coord_petscspace_degree 2 -orders 1,2,3,4

    test:
      suffix: 3d_straight
      args: -straight -orders 1,2,3,6

    test:
      suffix: 3d_high
      args: -dm_coord_petscspace_degree 2 -dm_plex_box_faces 2,1,1 -orders 5,6,7,8,12

    test:
      suffix: 3d_ranks
      nsize: {{2 3}}
      args: -dm_coord_petscspace_degree 2 -orders 1,2,3,4

    test:
      suffix: 3d_ranks_high
      nsize: {{2 3}}
      args: -dm_coord_petscspace_degree 2 -dm_plex_box_faces 3,1,1 -orders 5,6,7,8,9

  # rows longer than the kernels' lists; spaces from arrays are compared on one rank
  testset:
    filter: grep -v arrays
    test:
      suffix: 2d_fan
      nsize: {{1 2}}
      args: -dm_plex_dim 2 -fan 70 -orders 1,2,3 -use_gpu_aware_mpi 0

    test:
      suffix: 3d_fan
      nsize: {{1 2}}
      args: -dm_plex_dim 3 -fan 40 -orders 1,2,3 -use_gpu_aware_mpi 0

TEST*/
