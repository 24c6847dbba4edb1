static char help[] =
  "MATPA against its slow, independent assembly: action, diagonal, shell operations, coefficient updates; or one back end\n\
  against another: action, identity rows, diagonal, lifting, refills, refused input.\n\
  -orders <p,...>\n\
  -backends <a,b> -cells <n,n,n: of the box made from arrays> -refuse -device_vectors\n\n";

#include "backends.h"

static PetscReal worst = 0.0;

/* relative difference of A x and B x for a random x, and of the diagonals */
static PetscErrorCode Compare(Mat A, Mat B, const char name[])
{
  Vec         x, y, z, d;
  PetscReal   e, n;
  PetscRandom r;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecDuplicate(y, &d));
  PetscCall(PetscRandomCreate(PetscObjectComm((PetscObject)A), &r));
  PetscCall(PetscRandomSetInterval(r, -1.0, 1.0));
  PetscCall(VecSetRandom(x, r));
  for (PetscInt k = 0; k < 4; ++k) {
    if (k == 0) { /* action */
      PetscCall(MatMult(A, x, y));
      PetscCall(MatMult(B, x, z));
    } else if (k == 1) { /* transpose */
      PetscCall(MatMultTranspose(A, x, y));
      PetscCall(MatMultTranspose(B, x, z));
    } else if (k == 2) { /* added to another vector */
      PetscCall(VecSetRandom(d, r));
      PetscCall(MatMultAdd(A, x, d, y));
      PetscCall(MatMultAdd(B, x, d, z));
    } else {
      PetscCall(MatGetDiagonal(A, y));
      PetscCall(MatGetDiagonal(B, z));
    }
    PetscCall(VecNorm(z, NORM_2, &n));
    PetscCall(VecAXPY(y, -1.0, z));
    PetscCall(VecNorm(y, NORM_2, &e));
    worst = TestWorse(worst, e / n);
    if (!(e <= 1e-13 * n))
      PetscCall(
        PetscPrintf(PETSC_COMM_WORLD, "%s, operation %" PetscInt_FMT ": relative difference %g\n", name, k, (double)(e / n)));
  }
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(Mat A, const char name[])
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(Compare(A, B, name));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the coefficient as a function, per cell, or at Gauss points, with nc components */
static PetscErrorCode Coefficient(HopsSpace sp, PetscInt kind, PetscInt nc, PetscInt q, HopsCoefficient *cf)
{
  PetscInt     dim, n, np;
  PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetDimension(sp, &dim));
  PetscCall(HopsSpaceGetNumCells(sp, &n));
  if (kind == 0) PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, nc, TestKappa, NULL, cf));
  else {
    np = kind == 1 ? 1 : PetscPowInt(q, dim);
    if (kind == 3) n = np = 1;
    PetscCall(PetscMalloc1(n * np * nc, &v));
    for (PetscInt i = 0; i < n * np; ++i) {
      const PetscReal x[3] = {0.37 * i, 0.11 * i * i, 0.05 * i};

      PetscCall(TestKappa(dim, x, nc, v + i * nc, NULL));
    }
    if (kind == 1) PetscCall(HopsCoefficientCreateCell(sp, nc, v, cf));
    else if (kind == 2) PetscCall(HopsCoefficientCreateQuadrature(sp, nc, q, v, cf));
    else PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, nc, v, cf));
    PetscCall(PetscFree(v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddRobin(DM dm, HopsSpace sp, Mat A)
{
  HopsCoefficient alpha;
  DMLabel         label;
  PetscInt        n, total, *cells, *faces;

  PetscFunctionBeginUser;
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, &alpha));
  for (PetscInt v = 2; v <= 4; v += 2) {
    PetscCall(HopsSpaceGetLabelFaces(sp, label, v, &n, &cells, &faces));
    PetscCall(MPIU_Allreduce(&n, &total, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    PetscCheck(total > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "No faces with value %" PetscInt_FMT, v);
    PetscCall(MatPAAddRobin(A, n, cells, faces, alpha));
    PetscCall(PetscFree(cells));
    PetscCall(PetscFree(faces));
  }
  PetscCall(HopsCoefficientDestroy(&alpha));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* shifts and scalings of the shell, duplicates, and new coefficients in place */
static PetscErrorCode ShellOperations(Mat A, HopsSpace sp, PetscInt dim)
{
  Mat             B, C, D;
  HopsCoefficient other;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
  PetscCall(MatScale(C, 2.5));
  PetscCall(MatShift(C, 0.7));
  PetscCall(MatScale(B, 2.5));
  PetscCall(MatShift(B, 0.7));
  PetscCall(Compare(C, B, "scaled and shifted duplicate"));
  PetscCall(MatDuplicate(C, MAT_COPY_VALUES, &D));
  PetscCall(Compare(D, B, "duplicate of it"));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscCall(Coefficient(sp, 0, 1, 0, &other));
  PetscCall(MatPASetDiffusion(A, other));
  PetscCall(MatPASetMass(A, NULL));
  PetscCall(Check(A, "new diffusion, no mass"));
  PetscCall(MatPASetMass(A, other));
  PetscCall(MatPASetDiffusion(A, NULL));
  PetscCall(Check(A, "mass only"));
  PetscCall(HopsCoefficientDestroy(&other));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one order against PETSc's assembly: all kinds of coefficient, rules and terms */
static PetscErrorCode Assembly(DM dm, PetscInt p)
{
  static const char *const kinds[] = {"function", "cell", "quadrature", "constant"};
  const PetscInt           one     = 1;
  DMLabel                  label;
  HopsSpace                sp;
  PetscInt                 dim;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(HopsSpaceCreateH1(dm, p, label, 1, &one, &sp));
  worst = 0.0;
  for (PetscInt q = p + 1; q <= p + 4; ++q) { /* p + 4 stands for the collocated rule */
    const PetscInt  nk  = p > 6 ? 1 : 4;
    const PetscBool gll = q == p + 4 ? PETSC_TRUE : PETSC_FALSE;

    for (PetscInt kind = 0; kind < nk; ++kind)
      for (PetscInt t = 0; t < 3; ++t) {
        const PetscInt  nc = t == 0 ? 1 : (t == 1 ? dim : dim * (dim + 1) / 2);
        HopsCoefficient kappa, mass;
        Mat             A;
        char            name[128];

        if (p > 6 && t != 2) continue;
        PetscCall(Coefficient(sp, kind, nc, q, &kappa));
        PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, &mass));
        PetscCall(MatCreatePA(sp, &A));
        PetscCall(MatPASetQuadrature(A, gll ? 0 : q, gll));
        PetscCall(MatPASetDiffusion(A, kappa));
        if (t != 1) PetscCall(MatPASetMass(A, mass));
        if (t == 2) PetscCall(AddRobin(dm, sp, A));
        PetscCall(PetscSNPrintf(name, sizeof(name),
                                "order %" PetscInt_FMT " Q %" PetscInt_FMT "%s %s coefficient of %" PetscInt_FMT " components", p,
                                gll ? p + 1 : q, gll ? " (GLL)" : "", kinds[kind], nc));
        PetscCall(Check(A, name));
        if (t == 2 && kind == 0 && q == p + 2) PetscCall(ShellOperations(A, sp, dim));
        PetscCall(MatDestroy(&A));
        PetscCall(HopsCoefficientDestroy(&kappa));
        PetscCall(HopsCoefficientDestroy(&mass));
      }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ": %s\n", p, worst <= 1e-13 ? "agrees to 1e-13" : "DIFFERS"));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one order: all rules and terms; on both spaces */
static PetscErrorCode CompareOrder(DM dm, PetscInt dim, HopsSpace space[], PetscInt p)
{
  PetscReal e = 0.0;

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
      PetscCall(CompareOperators(A[0], A[1], &e));
      for (PetscInt i = 0; i < 2; ++i) PetscCall(MatPASetMass(A[i], one)); /* new values, and for t = 3 a new layout */
      PetscCall(CompareOperators(A[0], A[1], &e));
      for (PetscInt i = 0; i < 2; ++i) PetscCall(MatDestroy(&A[i]));
      PetscCall(HopsCoefficientDestroy(&kappa));
      PetscCall(HopsCoefficientDestroy(&mass));
      PetscCall(HopsCoefficientDestroy(&one));
      if (e > 1e-12) {
        PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                              "order %" PetscInt_FMT ", Q %" PetscInt_FMT "%s, terms %" PetscInt_FMT ": differs\n", p, q,
                              gll ? " (GLL)" : "", t));
        PetscFunctionReturn(PETSC_SUCCESS);
      }
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ": the back ends agree to 1e-12\n", p));
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

/* vectors of the first space on the operator of the second: an error */
static PetscErrorCode Refuse(HopsSpace space[], PetscInt order)
{
  HopsCoefficient c;
  PetscScalar     v = 1.0;
  Mat             A;
  Vec             x, y;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &v, &c));
  PetscCall(Operator(space[1], order + 1, PETSC_FALSE, c, NULL, &A));
  PetscCall(HopsSpaceCreateVec(space[0], &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareBackends(const char *const backend[], DM dm, PetscInt np, const PetscInt orders[])
{
  DMLabel     label;
  PetscInt    dim, one = 1, three = 3, nbox[3] = {3, 2, 2};
  PetscMPIInt size;
  PetscBool   refuse = PETSC_FALSE, vectors = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-refuse", &refuse, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-device_vectors", &vectors, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-cells", nbox, &three, NULL));
  for (PetscInt i = 0; i < np; ++i) {
    HopsSpace space[2];

    for (PetscInt b = 0; b < 2; ++b) {
      PetscCall(TestSetBackend(backend[b]));
      PetscCall(HopsSpaceCreateH1(dm, orders[i], label, 1, &one, &space[b]));
      PetscCall(HopsSpaceSetEssentialFunction(space[b], Value, NULL));
    }
    if (refuse) PetscCall(Refuse(space, orders[i]));
    if (vectors) PetscCall(DeviceVectors(space[0], orders[i]));
    else PetscCall(CompareOrder(dm, dim, space, orders[i]));
    for (PetscInt b = 0; b < 2; ++b) PetscCall(HopsSpaceDestroy(&space[b]));
    if (size == 1 && !vectors) { /* identity rows: a space from arrays */
      PetscReal *z;

      PetscCall(PetscMalloc1(orders[i] + 1, &z));
      PetscCall(TestGLL(orders[i] + 1, z));
      for (PetscInt b = 0; b < 2; ++b) {
        PetscCall(TestSetBackend(backend[b]));
        PetscCall(TestBox(dim, nbox, orders[i], 1.3, z, PETSC_TRUE, TestCurve, &space[b]));
        PetscCall(HopsSpaceSetEssentialFunction(space[b], Value, NULL));
      }
      PetscCall(CompareOrder(NULL, dim, space, orders[i]));
      for (PetscInt b = 0; b < 2; ++b) PetscCall(HopsSpaceDestroy(&space[b]));
      PetscCall(PetscFree(z));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *backend[2];
  DM          dm;
  PetscInt    np = 16, orders[16];
  PetscBool   set, compare;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestGetBackends(backend, &compare));
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_TRUE, &dm));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &np, &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -orders");
  if (compare) PetscCall(CompareBackends(backend, dm, np, orders));
  else
    for (PetscInt i = 0; i < np; ++i) PetscCall(Assembly(dm, orders[i]));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -dm_coord_petscspace_degree 3 -orders 1,2,3,4,5,6,7,8,9,10,12

    test:
      suffix: 2d
      nsize: {{1 3}}

    test:
      suffix: 2d_base
      requires: host
      args: -hops_host_isa base
      output_file: output/matpa_2d.out

    test:
      suffix: 2d_avx2
      requires: host avx2
      args: -hops_host_isa avx2
      output_file: output/matpa_2d.out

    test:
      suffix: 2d_avx512
      requires: host avx512f
      args: -hops_host_isa avx512
      output_file: output/matpa_2d.out

  testset:
    args: -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -dm_coord_petscspace_degree 2
    timeoutfactor: 3

    test:
      suffix: 3d_low
      args: -orders 1,2,3
      nsize: {{1 4}}

    test:
      suffix: 3d_low_base
      requires: host
      args: -orders 1,2,3 -hops_host_isa base
      output_file: output/matpa_3d_low.out

    test:
      suffix: 3d_low_avx2
      requires: host avx2
      args: -orders 1,2,3 -hops_host_isa avx2
      output_file: output/matpa_3d_low.out

    test:
      suffix: 3d_low_avx512
      requires: host avx512f
      args: -orders 1,2,3 -hops_host_isa avx512
      output_file: output/matpa_3d_low.out

    test:
      suffix: 3d_mid
      args: -dm_plex_box_faces 2,1,1 -orders 4,5

    test:
      suffix: 3d_high
      args: -dm_plex_box_faces 1,1,1 -orders {{6 7 8}separate output}
    test:
      suffix: 3d_high
      requires: long
      args: -dm_plex_box_faces 1,1,1 -orders {{9 10}separate output}

  # one back end against another
  testset:
    requires: host
    args: -backends host,{{toy base}} -dm_plex_dim 2 -dm_plex_box_faces 4,3 -dm_coord_petscspace_degree 3

    test:
      suffix: backends_2d
      args: -orders 1,2,3,4,5

    test:
      suffix: backends_2d_ranks
      nsize: {{2 3}}
      args: -orders 1,2,5

  testset:
    requires: host
    args: -backends host,{{toy base}} -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -dm_coord_petscspace_degree 2

    test:
      suffix: backends_3d
      args: -orders 1,2 -cells 2,1,1

    test:
      suffix: backends_3d_ranks
      nsize: {{2 3}}
      args: -orders 1,2 -options_left 0 -hops_halo {{staged shared direct}}

  testset:
    requires: cuda
    args: -backends host,cuda -dm_plex_dim 2 -dm_plex_box_faces 4,3 -dm_coord_petscspace_degree 3 -use_gpu_aware_mpi 0

    test:
      suffix: cuda_2d
      args: -orders 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16

    test:
      suffix: cuda_2d_ranks
      nsize: {{2 3}}
      args: -orders 1,2,3,4,5,6,7,8,9

  testset:
    requires: cuda
    args: -backends host,cuda -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -dm_coord_petscspace_degree 2 -use_gpu_aware_mpi 0
    timeoutfactor: 3

    test:
      suffix: cuda_3d_low
      args: -orders 1,2,3,4

    test:
      suffix: cuda_3d_high
      args: -dm_plex_box_faces 2,2,1 -orders 5,6,7,8

    test:
      suffix: cuda_3d_highest
      args: -dm_plex_box_faces 2,1,1 -orders 9,10,11,12

    test:
      suffix: cuda_3d_most_points
      args: -dm_plex_box_faces 2,1,1 -orders 13,14,15,16

    test:
      suffix: cuda_3d_beyond
      args: -dm_plex_box_faces 2,1,1 -orders 18

    test:
      suffix: cuda_3d_ranks
      nsize: {{2 3}}
      args: -orders 1,2,3 -hops_halo {{staged shared direct}}
      output_file: output/matpa_cuda_3d_ranks.out

    test:
      suffix: cuda_3d_ranks_high
      nsize: {{2 3}}
      args: -dm_plex_box_faces 3,1,1 -orders 4,5,6,7,8,9

    test:
      suffix: cuda_3d_device_vectors
      requires: device
      nsize: {{1 2}}
      args: -orders 1,3 -device_vectors

  test:
    requires: cuda device
    suffix: cuda_refuse
    args: -backends host,cuda -dm_plex_dim 2 -orders 2 -refuse -use_gpu_aware_mpi 0 -petsc_ci_portable_error_output -error_output_stdout
    filter: grep -o "A vector of type .*" | sed "s/end [a-z]*:/end NAME:/"

TEST*/
