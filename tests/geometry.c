static char help[] =
  "Geometry of affine and of multilinear cells, stored and recomputed, on one back end against another; what cannot be\n\
  recomputed.\n\
  -orders <p,...> -affine -backends <a,b: b recomputes unless -recompute 0>, else the views of one\n\n";

#include "backends.h"

/* parallelepipeds */
static void Shear(PetscInt dim, PetscReal x[])
{
  const PetscReal a = x[0], b = x[1], c = dim > 2 ? x[2] : 0.0;

  x[0] = 1.1 * a + 0.3 * b - 0.2 * c;
  x[1] = 0.9 * b + 0.1 * a;
  if (dim > 2) x[2] = 1.2 * c + 0.2 * a - 0.1 * b;
}

/* constant on each cell */
static PetscErrorCode CellValues(HopsSpace sp, PetscInt nc, HopsCoefficient *cf)
{
  PetscInt     n, dim;
  PetscScalar *v;
  PetscReal    x[3] = {0.1, 0.4, 0.2};

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetNumCells(sp, &n));
  PetscCall(HopsSpaceGetDimension(sp, &dim));
  PetscCall(PetscMalloc1(n * nc, &v));
  for (PetscInt c = 0; c < n; ++c) {
    x[0] = 0.3 * c;
    PetscCall(TestKappa(dim, x, nc, v + c * nc, NULL));
  }
  PetscCall(HopsCoefficientCreateCell(sp, nc, v, cf));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Constant(PetscInt dim, PetscInt nc, HopsCoefficient *cf)
{
  const PetscReal x[3] = {0.3, 0.2, 0.1};
  PetscScalar     v[6];

  PetscFunctionBeginUser;
  PetscCall(TestKappa(dim, x, nc, v, NULL));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, nc, v, cf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Order(PetscInt dim, HopsSpace space[], PetscInt p, PetscBool recompute)
{
  PetscReal worst = 0.0;

  PetscFunctionBeginUser;
  for (PetscInt q = p + 1; q <= p + 4; ++q) /* p + 4: the collocated rule */
    for (PetscInt t = 0; t < 8; ++t) {      /* scalar, diagonal and full tensors, constant or by cell, some with mass; mass alone */
      const PetscBool gll   = q == p + 4 ? PETSC_TRUE : PETSC_FALSE;
      const PetscInt  nc[3] = {1, dim, dim * (dim + 1) / 2};
      Mat             A[2];

      for (PetscInt i = 0; i < 2; ++i) {
        HopsCoefficient kappa = NULL, mass = NULL;

        if (t < 6) PetscCall(t % 2 ? CellValues(space[i], nc[t / 2], &kappa) : Constant(dim, nc[t / 2], &kappa));
        if (t % 3 == 0 || t > 5) PetscCall(t == 6 ? CellValues(space[i], 1, &mass) : Constant(dim, 1, &mass));
        PetscCall(Operator(space[i], q, gll, kappa, mass, &A[i]));
        PetscCall(HopsCoefficientDestroy(&kappa));
        PetscCall(HopsCoefficientDestroy(&mass));
      }
      if (recompute) {
        PetscCall(MatPASetGeometryType(A[1], MATPA_GEOMETRY_RECOMPUTE)); /* an error where it is not done */
        PetscCall(CompareOperators(A[0], A[1], &worst));
      }
      PetscCall(MatPASetGeometryType(A[1], MATPA_GEOMETRY_STORED));
      PetscCall(CompareOperators(A[0], A[1], &worst));
      for (PetscInt i = 0; i < 2; ++i) PetscCall(MatDestroy(&A[i]));
      if (worst > 1e-12) {
        PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                              "order %" PetscInt_FMT ", Q %" PetscInt_FMT "%s, terms %" PetscInt_FMT ": differs\n", p, q,
                              gll ? " (GLL)" : "", t));
        PetscFunctionReturn(PETSC_SUCCESS);
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

/* Varying coefficients, and more points than kernels have: the view says what is done */
static PetscErrorCode Views(HopsSpace sp, PetscInt p)
{
  HopsCoefficient c[2];

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, &c[0]));
  PetscCall(Constant(2, 1, &c[1]));
  for (PetscInt i = 0; i < 3; ++i) {
    Mat A;
    Vec x, y;

    PetscCall(Operator(sp, i == 2 ? p + 20 : p + 1, PETSC_FALSE, c[i > 0], NULL, &A));
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecSet(x, 1.0));
    PetscCall(MatMult(A, x, y));
    PetscCall(MatView(A, PETSC_VIEWER_STDOUT_WORLD));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(HopsCoefficientDestroy(&c[0]));
  PetscCall(HopsCoefficientDestroy(&c[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *backend[2];
  DM          dm;
  DMLabel     label;
  PetscInt    dim, np = 16, orders[16], one = 1;
  PetscBool   set, compare, affine = PETSC_FALSE, recompute = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestGetBackends(backend, &compare));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-affine", &affine, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-recompute", &recompute, NULL));
  PetscCall(TestMeshMapped(PETSC_COMM_WORLD, affine ? Shear : TestCurve, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &np, &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -orders");
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  for (PetscInt i = 0; i < np; ++i) {
    HopsSpace space[2];

    for (PetscInt b = 0; b < 2; ++b) {
      if (compare) PetscCall(TestSetBackend(backend[b])); /* else that of the options */
      PetscCall(HopsSpaceCreateH1(dm, orders[i], label, 1, &one, &space[b]));
      PetscCall(HopsSpaceSetEssentialFunction(space[b], Value, NULL));
    }
    PetscCall(compare ? Order(dim, space, orders[i], recompute) : Views(space[1], orders[i]));
    for (PetscInt b = 0; b < 2; ++b) PetscCall(HopsSpaceDestroy(&space[b]));
  }
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: host
    args: -affine {{0 1}} -backends host,{{toy base}} -recompute 0

    test:
      suffix: backends_2d
      nsize: {{1 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -orders 1,2,3,4

    test:
      suffix: backends_3d
      nsize: {{1 2}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -orders 1,2

  testset:
    requires: cuda
    args: -backends host,cuda -use_gpu_aware_mpi 0 -affine {{0 1}}

    test:
      suffix: cuda_2d
      nsize: {{1 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -orders 1,2,3,4,5,6,7,8,9,12,14
      output_file: output/geometry_cuda_2d.out

    test:
      suffix: cuda_3d
      nsize: {{1 2 3}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -orders 1,2,3,4,5
      output_file: output/geometry_cuda_3d.out

    test:
      suffix: cuda_3d_high
      nsize: {{1 2 3}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,1,1 -orders 6,7,8,9,13
      output_file: output/geometry_cuda_3d_high.out

  test:
    requires: cuda
    suffix: cuda_views
    args: -use_gpu_aware_mpi 0 -dm_plex_dim 2 -orders 3 -affine -dm_vec_type cuda
    filter: grep -oE "back end .*|kernel: .*|geometry recomputed.*|quadrature data stored.*"

  test:
    requires: cuda
    suffix: cuda_curved
    args: -backends host,cuda -use_gpu_aware_mpi 0 -dm_plex_dim 2 -dm_coord_petscspace_degree 3 -orders 2 -petsc_ci_portable_error_output -error_output_stdout
    filter: grep -o "mat_pa_geometry recompute cannot .*"

TEST*/
