static char help[] =
  "MATPA on a device against MATPA on the host: action, identity rows, diagonal, lifting, refills; refused input.\n\
  -dim <d> -orders <p,...> -cells <n,n,n: of the box made from arrays> -refuse -device_vectors\n\n";

#include "gputest.h"

/* one order: all rules and terms; space[0] on the host, space[1] on the device */
static PetscErrorCode Order(DM dm, PetscInt dim, HopsSpace space[], PetscInt p)
{
  PetscReal worst = 0.0;

  PetscFunctionBeginUser;
  for (PetscInt q = PetscMax(1, p); q <= p + 4; ++q) { /* p: fewer points than nodes; p + 4: the collocated rule */
    const PetscBool gll = q == p + 4 ? PETSC_TRUE : PETSC_FALSE;

    /* tensor, diagonal tensor, scalar with mass; tensor alone; mass alone; tensor, mass and faces */
    for (PetscInt t = 0; t < 6; ++t) {
      const PetscInt  nc    = t == 1 ? dim : (t == 2 ? 1 : dim * (dim + 1) / 2);
      HopsCoefficient kappa = NULL, mass = NULL, one;
      PetscScalar     c = 1.7;
      Mat             A[2];

      if (t != 4) PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, nc, TestKappa, NULL, &kappa));
      if (t != 3) PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, &mass));
      PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &c, &one));
      for (PetscInt i = 0; i < 2; ++i) {
        PetscCall(Operator(space[i], q, gll, kappa, mass, &A[i]));
        if (t == 5) PetscCall(AddFaces(dm, space[i], A[i], mass));
      }
      PetscCall(Compare(A[0], A[1], &worst));
      for (PetscInt i = 0; i < 2; ++i) PetscCall(MatPASetMass(A[i], one)); /* new values, and for t = 3 a new layout */
      PetscCall(Compare(A[0], A[1], &worst));
      for (PetscInt i = 0; i < 2; ++i) PetscCall(MatDestroy(&A[i]));
      PetscCall(HopsCoefficientDestroy(&kappa));
      PetscCall(HopsCoefficientDestroy(&mass));
      PetscCall(HopsCoefficientDestroy(&one));
      if (worst > 1e-12) {
        PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                              "order %" PetscInt_FMT ", Q %" PetscInt_FMT "%s, terms %" PetscInt_FMT ": differs\n", p, q,
                              gll ? " (GLL)" : "", t));
        PetscFunctionReturn(PETSC_SUCCESS);
      }
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ": device and host agree to 1e-12\n", p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Value(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar *u, void *ctx)
{
  *u = 1.0 + x[0] - 0.5 * x[1];
  return PETSC_SUCCESS;
}

/* Vectors of the device on the host's operator: PETSc hands their arrays to and fro */
static PetscErrorCode DeviceVectors(HopsSpace sp, PetscInt order)
{
  HopsCoefficient c;
  PetscScalar     one = 1.0, *a;
  PetscInt        n, N;
  PetscReal       norm, diff;
  PetscBool       device;
  Mat             A;
  Vec             x, y, z, dx, dy;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &c));
  PetscCall(Operator(sp, order + 1, PETSC_FALSE, c, NULL, &A));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetSize(x, &N));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &dx));
  PetscCall(VecSetSizes(dx, n, N));
  PetscCall(VecSetType(dx, "cuda"));
  PetscCall(VecDuplicate(dx, &dy));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecGetArrayWrite(dx, &a));
  {
    const PetscScalar *h;

    PetscCall(VecGetArrayRead(x, &h));
    PetscCall(PetscArraycpy(a, h, n));
    PetscCall(VecRestoreArrayRead(x, &h));
  }
  PetscCall(VecRestoreArrayWrite(dx, &a));
  PetscCall(VecScale(dx, 2.0)); /* on the device */
  PetscCall(MatMult(A, dx, dy));
  PetscCall(VecScale(dy, 0.5));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)dy, &device, "seqcuda", "mpicuda", ""));
  PetscCall(VecGetArray(z, &a));
  {
    const PetscScalar *h;

    PetscCall(VecGetArrayRead(dy, &h));
    PetscCall(PetscArraycpy(a, h, n));
    PetscCall(VecRestoreArrayRead(dy, &h));
  }
  PetscCall(VecRestoreArray(z, &a));
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(VecAXPY(z, -1.0, y));
  PetscCall(VecNorm(z, NORM_2, &diff));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ": vectors of the device on the host's operator: %s\n", order,
                        device && norm > 0.0 && diff <= 1e-14 * norm ? "as the host's" : "WRONG"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&dx));
  PetscCall(VecDestroy(&dy));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const backend[] = {"host", "cuda"};
  DM                       dm;
  DMLabel                  label;
  PetscInt                 dim, np = 16, orders[16], one = 1, three = 3, nbox[3] = {3, 2, 2};
  PetscMPIInt              size;
  PetscBool                set, refuse = PETSC_FALSE, vectors = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_TRUE, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-refuse", &refuse, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-device_vectors", &vectors, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &np, &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -orders");
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-cells", nbox, &three, NULL));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  for (PetscInt i = 0; i < np; ++i) {
    HopsSpace space[2];

    for (PetscInt b = 0; b < 2; ++b) {
      PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", backend[b]));
      PetscCall(HopsSpaceCreateH1(dm, orders[i], label, 1, &one, &space[b]));
      PetscCall(HopsSpaceSetEssentialFunction(space[b], Value, NULL));
    }
    if (refuse) { /* host vectors on the device's operator */
      HopsCoefficient c;
      PetscScalar     v = 1.0;
      Mat             A;
      Vec             x, y;

      PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &v, &c));
      PetscCall(Operator(space[1], orders[i] + 1, PETSC_FALSE, c, NULL, &A));
      PetscCall(HopsSpaceCreateVec(space[0], &x));
      PetscCall(VecDuplicate(x, &y));
      PetscCall(MatMult(A, x, y));
    }
    if (vectors) PetscCall(DeviceVectors(space[0], orders[i]));
    else PetscCall(Order(dm, dim, space, orders[i]));
    for (PetscInt b = 0; b < 2; ++b) PetscCall(HopsSpaceDestroy(&space[b]));
    if (size == 1 && !vectors) { /* identity rows: a space from arrays */
      PetscReal *z;

      PetscCall(PetscMalloc1(orders[i] + 1, &z));
      PetscCall(TestGLL(orders[i] + 1, z));
      for (PetscInt b = 0; b < 2; ++b) {
        PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", backend[b]));
        PetscCall(TestBox(dim, nbox, orders[i], 1.3, z, PETSC_TRUE, TestCurve, &space[b]));
        PetscCall(HopsSpaceSetEssentialFunction(space[b], Value, NULL));
      }
      PetscCall(Order(NULL, dim, space, orders[i]));
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
    args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -dm_coord_petscspace_degree 3 -use_gpu_aware_mpi 0

    test:
      suffix: 2d
      args: -orders 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16

    test:
      suffix: 2d_ranks
      nsize: {{2 3}}
      args: -orders 1,2,3,4,5,6,7,8,9

  testset:
    args: -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -dm_coord_petscspace_degree 2 -use_gpu_aware_mpi 0
    timeoutfactor: 3

    test:
      suffix: 3d_low
      args: -orders 1,2,3,4

    test:
      suffix: 3d_high
      args: -dm_plex_box_faces 2,2,1 -orders 5,6,7,8

    test:
      suffix: 3d_highest
      args: -dm_plex_box_faces 2,1,1 -orders 9,10,11,12

    test:
      suffix: 3d_most_points
      args: -dm_plex_box_faces 2,1,1 -orders 13,14,15,16

    test:
      suffix: 3d_beyond
      args: -dm_plex_box_faces 2,1,1 -orders 18

    test:
      suffix: 3d_ranks
      nsize: {{2 3}}
      args: -orders 1,2,3 -hops_halo_direct {{0 1}}
      output_file: output/gpupa_3d_ranks.out

    test:
      suffix: 3d_ranks_high
      nsize: {{2 3}}
      args: -dm_plex_box_faces 3,1,1 -orders 4,5,6,7,8,9

    test:
      suffix: 3d_device_vectors
      nsize: {{1 2}}
      args: -orders 1,3 -device_vectors

  test:
    suffix: refuse
    args: -dm_plex_dim 2 -orders 2 -refuse -use_gpu_aware_mpi 0 -petsc_ci_portable_error_output -error_output_stdout
    filter: grep -o "A vector of type .*"

TEST*/
