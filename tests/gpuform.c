static char help[] =
  "Forms on H(curl), H(div) and L2 on a device against the same on the host: action, diagonal, lifting, refills.\n\
  -orders <p,...> : orders of the spaces\n\
  -rules <n>      : of order + 1, order + 2, order + 3, order Gauss points per direction and the collocated rule, the first n\n\
                    (default 5)\n\n";

#include "gputest.h"

static const char *const Names[] = {"H(curl)", "H(div)", "L2"};

static PetscErrorCode U(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) u[i] = PetscSinReal(1.0 + i + x[i % dim] - 2.0 * x[(i + 1) % dim]) + x[(i + 1) % dim];
  return PETSC_SUCCESS;
}

static PetscErrorCode Terms(HopsSpace sp, HopsFamily family, PetscInt q, PetscBool gll, HopsCoefficient mu, HopsCoefficient beta,
                            Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(sp, A));
  PetscCall(MatPASetQuadrature(*A, gll ? 0 : q, gll));
  if (mu) PetscCall(family == HOPS_HCURL ? MatPASetCurlCurl(*A, mu) : MatPASetDivDiv(*A, mu));
  if (beta) PetscCall(MatPASetMass(*A, beta));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one space: all rules and terms; space[0] on the host, space[1] on the device */
static PetscErrorCode Order(PetscInt dim, HopsSpace space[], HopsFamily family, PetscInt p, PetscInt nrules)
{
  const PetscInt rules[] = {p + 1, p + 2, p + 3, PetscMax(1, p), 0}; /* 0: collocated */
  PetscReal      worst   = 0.0;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < nrules; ++k) {
    /* scalars; tensors; diagonal tensors; the derivative's term alone; the field's alone */
    for (PetscInt t = 0; t < (family == HOPS_L2 ? 1 : 5); ++t) {
      const PetscInt nc  = family == HOPS_L2 || t == 0 ? 1 : (t == 2 ? dim : dim * (dim + 1) / 2),
                     nd  = family == HOPS_HCURL && dim == 3 ? nc : 1;
      HopsCoefficient mu = NULL, beta = NULL, one;
      PetscScalar     c = 1.7;
      Mat             A[2];

      if (family != HOPS_L2 && t != 4) PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, nd, TestKappa, NULL, &mu));
      if (t != 3) PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, nc, nc == 1 ? TestMass : TestKappa, NULL, &beta));
      PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &c, &one));
      for (PetscInt i = 0; i < 2; ++i)
        PetscCall(Terms(space[i], family, rules[k], rules[k] ? PETSC_FALSE : PETSC_TRUE, mu, beta, &A[i]));
      PetscCall(Compare(A[0], A[1], &worst));
      for (PetscInt i = 0; i < 2; ++i) PetscCall(MatPASetMass(A[i], one)); /* new values, and for t = 3 a new layout */
      PetscCall(Compare(A[0], A[1], &worst));
      for (PetscInt i = 0; i < 2; ++i) PetscCall(MatDestroy(&A[i]));
      PetscCall(HopsCoefficientDestroy(&mu));
      PetscCall(HopsCoefficientDestroy(&beta));
      PetscCall(HopsCoefficientDestroy(&one));
      if (worst > 1e-12) {
        PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                              "%s, order %" PetscInt_FMT ", %" PetscInt_FMT " points, terms %" PetscInt_FMT ": differs\n",
                              Names[family - HOPS_HCURL], p, rules[k], t));
        PetscFunctionReturn(PETSC_SUCCESS);
      }
    }
  }
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD, "%s, order %" PetscInt_FMT ": device and host agree to 1e-12\n", Names[family - HOPS_HCURL], p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const backend[] = {"host", "cuda"};
  DM                       dm;
  DMLabel                  label;
  PetscInt                 dim, np = 16, orders[16], nrules = 5, one = 1;
  PetscBool                set;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_TRUE, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-rules", &nrules, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &np, &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -orders");
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  for (PetscInt i = 0; i < np; ++i)
    for (HopsFamily f = HOPS_HCURL; f <= HOPS_L2; ++f) {
      HopsSpace space[2];

      for (PetscInt b = 0; b < 2; ++b) {
        PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", backend[b]));
        if (f == HOPS_HCURL) PetscCall(HopsSpaceCreateHCurl(dm, orders[i], label, 1, &one, &space[b]));
        else if (f == HOPS_HDIV) PetscCall(HopsSpaceCreateHDiv(dm, orders[i], label, 1, &one, &space[b]));
        else PetscCall(HopsSpaceCreateL2(dm, orders[i], &space[b]));
        PetscCall(HopsSpaceSetEssentialFunction(space[b], U, NULL));
      }
      PetscCall(Order(dim, space, f, orders[i], nrules));
      for (PetscInt b = 0; b < 2; ++b) PetscCall(HopsSpaceDestroy(&space[b]));
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
      args: -orders 1,2,3,4,5,6,7,8,10,12

    test:
      suffix: 2d_ranks
      nsize: {{2 3}}
      args: -orders 1,2,3,4,5

  testset:
    args: -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -dm_coord_petscspace_degree 2 -use_gpu_aware_mpi 0
    timeoutfactor: 3

    test:
      suffix: 3d_low
      args: -orders 1,2,3,4

    test:
      suffix: 3d_high
      args: -dm_plex_box_faces 2,1,1 -orders 5,6,7,8

    test:
      suffix: 3d_generic
      args: -dm_plex_box_faces 2,1,1 -orders 10,12 -rules 2

    test:
      suffix: 3d_ranks
      nsize: {{2 3}}
      args: -orders 1,2,3

    test:
      suffix: 3d_ranks_direct
      nsize: 2
      args: -orders 2 -hops_halo_direct

TEST*/
