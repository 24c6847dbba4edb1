static char help[] =
  "Operators on H(curl), H(div) and L2: matrix-free action, diagonal and right-hand side against slow assembly; or one back\n\
  end against another: action, diagonal, lifting, refills.\n\
  -family <HCURL,HDIV,L2> -order <p> -q <points> -gll\n\
  -backends <a,b> -orders <p,...>\n\
  -rules <n> : of order + 1, order + 2, order + 3, order Gauss points per direction and the collocated rule, the first n\n\
               (default 5)\n\n";

#include "backends.h"

static PetscErrorCode U(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) u[i] = PetscSinReal(1.0 + i + x[i % dim] - 2.0 * x[(i + 1) % dim]) + x[(i + 1) % dim];
  return PETSC_SUCCESS;
}

static const char *const Names[] = {"H(curl)", "H(div)", "L2"};

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

/* || (A - B) x || / || B x || for random x, and the same for the diagonal */
static PetscErrorCode Compare(HopsSpace sp, const char name[], HopsCoefficient mu, HopsCoefficient beta, PetscInt q, PetscBool gll)
{
  Mat         A, B, D;
  Vec         x, y, z;
  PetscRandom r;
  PetscReal   a, b, c, d;
  HopsFamily  family;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetFamily(sp, &family));
  PetscCall(Terms(sp, family, q, gll, mu, beta, &A));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(VecSetRandom(x, r));
  PetscCall(MatMult(B, x, z));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecAXPY(y, -1.0, z));
  PetscCall(VecNorm(y, NORM_2, &a));
  PetscCall(VecNorm(z, NORM_2, &b));
  PetscCall(MatGetDiagonal(A, y));
  PetscCall(MatGetDiagonal(B, z));
  PetscCall(VecAXPY(y, -1.0, z));
  PetscCall(VecNorm(y, NORM_2, &c));
  PetscCall(VecNorm(z, NORM_2, &d));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: action %s, diagonal %s\n", name, a <= 1e-12 * b ? "agrees" : "DIFFERS",
                        c <= 1e-12 * d ? "agrees" : "DIFFERS"));
  if (!(a <= 1e-12 * b && c <= 1e-12 * d)) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %g, %g\n", (double)(a / b), (double)(c / d)));
  /* the same numbers, which a device adds up in any order */
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &D));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(D, x, z));
  PetscCall(VecAXPY(y, -1.0, z));
  PetscCall(VecNorm(y, NORM_2, &a));
  if (a > 1e-14 * b) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: a duplicate DIFFERS\n", name));
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the mass matrix times the interpolant of a field in the space is the right-hand side of the field: here of
   any, to a few digits */
static PetscErrorCode RightHandSide(HopsSpace sp, PetscInt p)
{
  Mat             A;
  Vec             x, y, z;
  PetscReal       a, b;
  PetscScalar     one = 1.0;
  HopsCoefficient beta;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &beta));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetMass(A, beta));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(HopsSpaceInterpolate(sp, U, NULL, x));
  PetscCall(HopsSpaceSetEssentialFunction(sp, U, NULL));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecSet(z, 0.0));
  PetscCall(MatPALiftEssential(A, z));
  PetscCall(VecAXPY(y, -1.0, z)); /* the essential values' part */
  PetscCall(HopsSpaceComputeRHS(sp, U, NULL, z));
  PetscCall(VecAXPY(y, -1.0, z));
  PetscCall(VecNorm(y, NORM_2, &a));
  PetscCall(VecNorm(z, NORM_2, &b));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "right-hand side: %s\n", a < 3.0 * PetscPowReal(0.3, p) * b ? "agrees" : "DIFFERS"));
  PetscCall(PetscInfo(NULL, "right-hand side: %g\n", (double)(a / b)));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&beta));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Assembly(DM dm)
{
  PetscInt        p = 2, q = 0, dim, value = 1, cStart, cEnd;
  PetscBool       gll    = PETSC_FALSE;
  HopsFamily      family = HOPS_HCURL;
  PetscScalar    *cell;
  DMLabel         label;
  HopsSpace       sp;
  HopsCoefficient scalar, diagonal, tensor, bycell;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-family",
                                (const char *const[]){"H1", "HCURL", "HDIV", "L2", "HopsFamily", "HOPS_", NULL},
                                (PetscEnum *)&family, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-q", &q, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-gll", &gll, NULL));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  if (family == HOPS_HCURL) PetscCall(HopsSpaceCreateHCurl(dm, p, label, 1, &value, &sp));
  else if (family == HOPS_HDIV) PetscCall(HopsSpaceCreateHDiv(dm, p, label, 1, &value, &sp));
  else PetscCall(HopsSpaceCreateL2(dm, p, &sp));
  PetscCall(HopsSpaceView(sp, NULL));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestKappa, NULL, &scalar));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, dim, TestKappa, NULL, &diagonal));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, dim * (dim + 1) / 2, TestKappa, NULL, &tensor));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  PetscCall(PetscMalloc1(cEnd - cStart, &cell));
  for (PetscInt c = cStart; c < cEnd; ++c) cell[c - cStart] = 1.0 + (c - cStart) % 3;
  PetscCall(HopsCoefficientCreateCell(sp, 1, cell, &bycell));
  PetscCall(PetscFree(cell));
  PetscCall(Compare(sp, "mass, scalar", NULL, scalar, q, gll));
  if (family != HOPS_L2) {
    PetscCall(Compare(sp, "mass, diagonal", NULL, diagonal, q, gll));
    PetscCall(Compare(sp, "mass, tensor", NULL, tensor, q, gll));
    PetscCall(Compare(sp, "derivative, scalar", scalar, NULL, q, gll));
    PetscCall(Compare(sp, "both, by cell", bycell, bycell, q, gll));
    PetscCall(Compare(sp, "both, tensor", family == HOPS_HCURL && dim == 3 ? tensor : scalar, tensor, q, gll));
    if (family == HOPS_HCURL && dim == 3) PetscCall(Compare(sp, "both, diagonal", diagonal, diagonal, q, gll));
  }
  PetscCall(RightHandSide(sp, p));
  PetscCall(HopsCoefficientDestroy(&scalar));
  PetscCall(HopsCoefficientDestroy(&diagonal));
  PetscCall(HopsCoefficientDestroy(&tensor));
  PetscCall(HopsCoefficientDestroy(&bycell));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one space: all rules and terms, on both back ends */
static PetscErrorCode CompareOrder(PetscInt dim, HopsSpace space[], HopsFamily family, PetscInt p, PetscInt nrules)
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
      PetscCall(CompareOperators(A[0], A[1], &worst));
      for (PetscInt i = 0; i < 2; ++i) PetscCall(MatPASetMass(A[i], one)); /* new values, and for t = 3 a new layout */
      PetscCall(CompareOperators(A[0], A[1], &worst));
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
    PetscPrintf(PETSC_COMM_WORLD, "%s, order %" PetscInt_FMT ": the back ends agree to 1e-12\n", Names[family - HOPS_HCURL], p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareBackends(const char *const backend[], DM dm)
{
  DMLabel   label;
  PetscInt  dim, np = 16, orders[16], nrules = 5, one = 1;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-rules", &nrules, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &np, &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -orders");
  for (PetscInt i = 0; i < np; ++i)
    for (HopsFamily f = HOPS_HCURL; f <= HOPS_L2; ++f) {
      HopsSpace space[2];

      for (PetscInt b = 0; b < 2; ++b) {
        PetscCall(TestSetBackend(backend[b]));
        if (f == HOPS_HCURL) PetscCall(HopsSpaceCreateHCurl(dm, orders[i], label, 1, &one, &space[b]));
        else if (f == HOPS_HDIV) PetscCall(HopsSpaceCreateHDiv(dm, orders[i], label, 1, &one, &space[b]));
        else PetscCall(HopsSpaceCreateL2(dm, orders[i], &space[b]));
        PetscCall(HopsSpaceSetEssentialFunction(space[b], U, NULL));
      }
      PetscCall(CompareOrder(dim, space, f, orders[i], nrules));
      for (PetscInt b = 0; b < 2; ++b) PetscCall(HopsSpaceDestroy(&space[b]));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *backend[2];
  DM          dm;
  PetscBool   compare;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(TestGetBackends(backend, &compare));
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_TRUE, &dm));
  PetscCall(compare ? CompareBackends(backend, dm) : Assembly(dm));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    filter: sed -e 's,back end [a-z]*,back end host,'
    args: -dm_plex_dim 2 -dm_plex_box_faces 4,5 -family {{HCURL HDIV L2}separate output}
    test:
      suffix: 2d
      nsize: {{1 3}}
      args: -order {{1 2 4}separate output}
    test:
      suffix: 2d_other
      args: -order 3 -hops_host_isa base -q {{3 7}separate output} -dm_coord_space 0
    test:
      suffix: 2d_generic
      args: -order {{9}separate output} -dm_coord_petscspace_degree 3
    test:
      suffix: 2d_generic
      requires: long
      args: -order {{11}separate output} -dm_coord_petscspace_degree 3
    test:
      suffix: 2d_gll
      args: -order 3 -gll

  testset:
    filter: sed -e 's,back end [a-z]*,back end host,'
    args: -dm_plex_dim 3 -family {{HCURL HDIV L2}separate output}
    test:
      suffix: 3d
      nsize: {{1 3}}
      args: -dm_plex_box_faces 3,3,3 -order {{1 2 3}separate output}
    test:
      suffix: 3d_high
      args: -dm_plex_box_faces 1,1,1 -order {{4 5}separate output} -dm_coord_petscspace_degree 2
    test:
      suffix: 3d_avx2
      requires: avx2
      args: -dm_plex_box_faces 3,3,3 -order 2 -q 3 -hops_host_isa avx2
    test:
      suffix: 3d_gll
      args: -dm_plex_box_faces 3,2,1 -order 2 -gll

  # one back end against another
  test:
    suffix: backends_2d
    requires: host
    nsize: {{1 3}}
    args: -backends host,base -orders 1,2,3,5 -dm_plex_dim 2 -dm_plex_box_faces 4,3 -dm_coord_petscspace_degree 3

  test:
    suffix: backends_3d
    requires: host
    nsize: {{1 2 3}}
    args: -backends host,base -orders 1,2,3 -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -dm_coord_petscspace_degree 2

  testset:
    requires: cuda
    args: -backends host,cuda -dm_plex_dim 2 -dm_plex_box_faces 4,3 -dm_coord_petscspace_degree 3 -use_gpu_aware_mpi 0

    test:
      suffix: cuda_2d
      args: -orders 1,2,3,4,5,6,7,8,10,12

    test:
      suffix: cuda_2d_ranks
      nsize: {{2 3}}
      args: -orders 1,2,3,4,5

  testset:
    requires: cuda
    args: -backends host,cuda -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -dm_coord_petscspace_degree 2 -use_gpu_aware_mpi 0
    timeoutfactor: 3

    test:
      suffix: cuda_3d_low
      args: -orders 1,2,3,4

    test:
      suffix: cuda_3d_high
      args: -dm_plex_box_faces 2,1,1 -orders 5,6,7,8

    test:
      suffix: cuda_3d_generic
      args: -dm_plex_box_faces 2,1,1 -orders 10,12 -rules 2

    test:
      suffix: cuda_3d_ranks
      nsize: {{2 3}}
      args: -orders 1,2,3

    test:
      suffix: cuda_3d_ranks_direct
      nsize: 2
      args: -orders 2 -hops_halo direct

TEST*/
