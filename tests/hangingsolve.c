static char help[] = "Solves on adaptive meshes: a layer near a re-entrant corner, polynomials that are solutions, spectra.\n\
  -dim <d> -order <p> -finest <l>\n\
  -what layer    : u = arctan(20 (r - 0.725)), refined along r = 0.725; iterations of CG to 1e-12; -uniform\n\
  -what patch    : a polynomial of order 1 or 2 is the solution, on random meshes\n\
  -what spectrum : all eigenvalues of LOR^-1 A lie in the interval of the 1D pencils\n\
  -what rates    : errors on randomly refined meshes fall by order p + 1; -wavy: of which each cell is mapped by itself\n\
  -what components : matrices of components that do not couple are those of a scalar field, with all weights and with four\n\
  -numbers       : prints what it compares\n\n";

#include "hangingcase.h"
#include "hopstest.h"

static PetscBool numbers = PETSC_FALSE;

/* order 1 or 2; ctx: the order, negative for its source */
static PetscErrorCode Poly(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscInt p = *(PetscInt *)ctx;

  if (p < 0) u[0] = p == -1 ? 0.0 : -2.0 + 3.0 * 2.0;
  else
    u[0] = 1.0 - 2.0 * x[0] + 3.0 * x[1] + (dim > 2 ? x[2] : 0.0) + (p > 1 ? x[0] * x[0] - 3.0 * x[1] * x[1] + x[0] * x[1] : 0.0);
  return PETSC_SUCCESS;
}

static PetscErrorCode Wave(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(2.0 * x[0] + 0.3) * PetscCosReal(1.5 * x[1]);
  if (ctx) u[0] *= 4.0 + 2.25; /* -Laplace u */
  return PETSC_SUCCESS;
}

static void Bend(PetscInt dim, PetscReal x[])
{
  const PetscReal a = x[0], b = x[1];

  x[0] = a + 0.08 * a * b;
  x[1] = b - 0.06 * a * b + 0.04 * a;
}

typedef PetscErrorCode (*Function)(PetscInt, const PetscReal[], PetscInt, PetscScalar[], void *);

/* -Laplace u = f, u given all around */
static PetscErrorCode Solve(HopsSpace sp, Function u, void *uctx, Function f, void *fctx, PetscInt *its, PetscReal *error)
{
  const PetscScalar one = 1.0;
  HopsCoefficient   k;
  Mat               A;
  Vec               x, b;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &k));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, k));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(HopsSpaceSetEssentialFunction(sp, u, uctx));
  PetscCall(HopsSpaceComputeRHS(sp, f, fctx, b));
  PetscCall(MatPALiftEssential(A, b));
  PetscCall(TestSolve(A, b, x, KSP_NORM_NATURAL, 1e-12, 200, its));
  PetscCall(HopsSpaceComputeL2Error(sp, x, u, uctx, error));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Space(HangMesh *m, PetscInt p, void (*map)(PetscInt, PetscReal[]), HopsSpace *sp)
{
  HangArrays a;

  PetscFunctionBeginUser;
  PetscCall(HangArraysCreate(m, p, map, HangEverywhere, -1, &a));
  PetscCall(HangSpace(m, p, &a, sp));
  PetscCall(HangArraysDestroy(&a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveLayer(PetscInt dim, PetscInt p, PetscInt finest)
{
  const PetscInt M[3] = {2, 2, 2};
  HangMesh       m;
  HopsSpace      sp;
  PetscInt       its, most = 33;
  PetscBool      uniform = PETSC_FALSE;
  PetscReal      error;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-most", &most, NULL));
  PetscCall(HangCreate(dim, M, PETSC_TRUE, finest, &m));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-uniform", &uniform, NULL));
  PetscCall(HangAdapt(&m, 0, finest, 0.0, uniform ? HangAll : HangLayer));
  PetscCall(HangList(&m, PETSC_FALSE));
  PetscCall(Space(&m, p, NULL, &sp));
  if (numbers) PetscCall(HopsSpaceView(sp, NULL));
  PetscCall(Solve(sp, HangLayerSolution, NULL, HangLayerSource, NULL, &its, &error));
  if (numbers)
    PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ", iterations %" PetscInt_FMT ", error %g\n", p, its, (double)error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations: %s\n", its <= most ? "few" : "TOO MANY"));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(HangDestroy(&m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* quadratic ones on boxes, linear ones on bilinear cells */
static PetscErrorCode Patch(PetscInt dim, PetscInt p, PetscInt finest)
{
  const PetscInt M[3] = {2, 2, 1};
  PetscInt       its;
  PetscReal      error;

  PetscFunctionBeginUser;
  for (PetscInt bent = 0; bent < 2; ++bent) {
    PetscInt  u = bent ? 1 : PetscMin(p, 2), f = -u;
    HangMesh  m;
    HopsSpace sp;

    PetscCall(HangCreate(dim, M, PETSC_FALSE, finest, &m));
    PetscCall(HangAdapt(&m, 0, finest, 0.3, NULL));
    PetscCall(HangList(&m, PETSC_TRUE));
    PetscCall(Space(&m, p, bent ? Bend : NULL, &sp));
    PetscCall(Solve(sp, Poly, &u, Poly, &f, &its, &error));
    if (error > 1e-10) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ERROR %g\n", (double)error));
    else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: exact\n", bent ? "bilinear cells" : "boxes"));
    PetscCall(HopsSpaceDestroy(&sp));
    PetscCall(HangDestroy(&m));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* No polynomial: nodes that hang are not where their parents' put them */
static void Wavy(PetscInt dim, PetscReal x[])
{
  const PetscReal a = x[0], b = x[1], c = dim > 2 ? x[2] : 0.0;

  x[0] = a + 0.05 * PetscSinReal(1.3 * b + 0.7 * c);
  x[1] = b + 0.04 * PetscSinReal(1.1 * a);
  if (dim > 2) x[2] = c + 0.03 * PetscSinReal(a + b);
}

static PetscErrorCode Rates(PetscInt dim, PetscInt p)
{
  PetscReal error[2];
  PetscBool wavy = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-wavy", &wavy, NULL));
  for (PetscInt k = 0; k < 2; ++k) { /* the same mesh, then with all cells halved */
    PetscInt  its;
    HangMesh  m;
    HopsSpace sp;

    PetscCall(HangCreateHalved(dim, 2, dim == 2 ? 4 : 3, k + (dim == 2 ? 1 : 0), &m));
    PetscCall(Space(&m, p, wavy ? Wavy : NULL, &sp));
    PetscCall(Solve(sp, Wave, NULL, Wave, &its, &its, &error[k]));
    PetscCall(HopsSpaceDestroy(&sp));
    PetscCall(HangDestroy(&m));
  }
  PetscCall(HangSayRate(error, p + 1, "p + 1", numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- spectra ------------------------------------------- */

static PetscErrorCode Extreme(HopsSpace sp, PetscInt entries, PetscInt nfree, const PetscInt keep[], PetscReal lambda[])
{
  const PetscScalar one = 1.0;
  HopsCoefficient   k;
  Mat               A;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &k));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, k));
  PetscCall(HangEigenvalues(A, entries, nfree, keep, lambda));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Spectrum(PetscInt dim, PetscInt p, PetscInt finest)
{
  const PetscInt  M[3] = {2, 2, 1};
  HangMesh        m;
  HangArrays      a;
  HopsSpace       sp;
  PetscReal       b[2] = {0.0, 0.0}, *lambda, kappa[2];
  const PetscReal most = p < 3 ? 1.1 : dim == 2 ? (p < 5 ? 1.2 : 1.3) : (p < 5 ? 1.35 : 1.45);
  PetscInt       *keep, n = 0, seed = 1;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seed", &seed, NULL));
  PetscCall(HangCreate(dim, M, PETSC_FALSE, finest, &m));
  m.seed = (unsigned)seed;
  PetscCall(HangAdapt(&m, 0, finest, 0.2, NULL));
  PetscCall(HangList(&m, PETSC_TRUE));
  PetscCall(HangArraysCreate(&m, p, NULL, HangEverywhere, -1, &a));
  PetscCall(HangSpace(&m, p, &a, &sp));
  PetscCall(HangFreeUnknowns(&a, &n, &keep, &lambda));
  PetscCall(HangPencil(p, b));
  b[0] *= PetscPowRealInt(p / (2.0 * p + 1.0), dim - 1);
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(Extreme(sp, i ? PETSC_DECIDE : 0, n, keep, lambda)); /* all, and the default */
    kappa[i] = lambda[n - 1] / lambda[0];
    if (numbers)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " unknowns, [%.4f, %.4f] in [%.4f, %.4f]\n", n, (double)lambda[0],
                            (double)lambda[n - 1], (double)b[0], (double)b[1]));
    if (!i)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "all weights: %s\n",
                            lambda[0] >= b[0] * (1.0 - 1e-9) && lambda[n - 1] <= b[1] * (1.0 + 1e-9) ? "inside" : "OUTSIDE"));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the largest weights: %s\n", kappa[1] <= most * kappa[0] ? "about as good" : "WORSE"));
  PetscCall(PetscFree2(keep, lambda));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(HangArraysDestroy(&a));
  PetscCall(HangDestroy(&m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A of each component */
static PetscErrorCode ApplyComponents(Mat S, Vec x, Vec y)
{
  Mat A;
  Vec u, v;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatCreateVecs(A, &u, &v));
  for (PetscInt c = 0; c < 2; ++c) {
    PetscCall(VecStrideGather(x, c, u, INSERT_VALUES));
    PetscCall(MatMult(A, u, v));
    PetscCall(VecStrideScatter(v, c, y, INSERT_VALUES));
  }
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one PC for all numbers of weights, against a new one of a scalar field for each */
static PetscErrorCode Components(PetscInt dim, PetscInt p, PetscInt finest)
{
  const PetscInt    M[3] = {2, 2, 1};
  const PetscScalar one  = 1.0;
  HopsCoefficient   unit;
  HangMesh          m;
  HangArrays        a;
  HopsSpace         sp;
  Mat               A, S, L;
  PC                pc;
  PetscInt          n, start, end, nz[2];

  PetscFunctionBeginUser;
  PetscCall(HangCreate(dim, M, PETSC_FALSE, finest, &m));
  PetscCall(HangAdapt(&m, 0, finest, 0.2, NULL));
  PetscCall(HangList(&m, PETSC_TRUE));
  PetscCall(HangArraysCreate(&m, p, NULL, NULL, -1, &a));
  PetscCall(HangSpace(&m, p, &a, &sp));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &unit));
  PetscCall(MatPASetDiffusion(A, unit));
  PetscCall(MatPASetMass(A, unit));
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, 2 * n, 2 * n, PETSC_DETERMINE, PETSC_DETERMINE, A, &S));
  PetscCall(MatShellSetOperation(S, MATOP_MULT, (HopsVoidFn)ApplyComponents));
  PetscCall(MatSetBlockSize(S, 2));
  PetscCall(MatSetHopsSpace(S, sp));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, S, S));
  PetscCall(PCLORSetCoefficients(pc, unit, unit));
  for (PetscInt k = 0; k < 2; ++k) {
    PC        scalar;
    Mat       B, C;
    IS        is;
    MatInfo   info;
    PetscReal norm, all;

    PetscCall(PCLORSetConstraintEntries(pc, k ? 0 : 4));
    PetscCall(PCSetUp(pc));
    PetscCall(PCLORGetMat(pc, &L));
    PetscCall(MatConvert(L, MATAIJ, MAT_INITIAL_MATRIX, &L));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &scalar));
    PetscCall(PCSetType(scalar, PCLOR));
    PetscCall(PCSetOperators(scalar, A, A));
    PetscCall(PCLORSetConstraintEntries(scalar, k ? 0 : 4));
    PetscCall(PCSetUp(scalar));
    PetscCall(PCLORGetMat(scalar, &B));
    PetscCall(MatConvert(B, MATAIJ, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatGetOwnershipRange(B, &start, &end));
    PetscCall(ISCreateStride(PETSC_COMM_WORLD, end - start, 2 * start + 1, 2, &is));
    PetscCall(MatCreateSubMatrix(L, is, is, MAT_INITIAL_MATRIX, &C));
    PetscCall(MatGetInfo(B, MAT_GLOBAL_SUM, &info));
    nz[k] = (PetscInt)info.nz_used;
    PetscCall(MatNorm(B, NORM_FROBENIUS, &all));
    PetscCall(MatAXPY(C, -1.0, B, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatNorm(C, NORM_FROBENIUS, &norm));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s weights: %s\n", k ? "all" : "four",
                          norm <= 1e-12 * all ? "the matrix of a scalar field" : "ANOTHER MATRIX"));
    PetscCall(ISDestroy(&is));
    PetscCall(MatDestroy(&C));
    PetscCall(MatDestroy(&L));
    PetscCall(MatDestroy(&B));
    PetscCall(PCDestroy(&scalar));
  }
  PetscCall(HopsCoefficientDestroy(&unit));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "four weights have %s entries\n", nz[0] < nz[1] ? "fewer" : "AS MANY"));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&S));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(HangArraysDestroy(&a));
  PetscCall(HangDestroy(&m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt dim = 2, p = 2, finest = 3;
  char     what[32] = "patch";

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HangSetBackend());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-finest", &finest, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-numbers", &numbers, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-what", what, sizeof(what), NULL));
  if (what[0] == 'l') PetscCall(SolveLayer(dim, p, finest));
  else if (what[0] == 'p') PetscCall(Patch(dim, p, finest));
  else if (what[0] == 'c') PetscCall(Components(dim, p, finest));
  else if (what[0] == 'r') PetscCall(Rates(dim, p));
  else PetscCall(Spectrum(dim, p, finest));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  test:
    suffix: patch_2d
    nsize: {{1 3}}
    args: -what patch -dim 2 -order {{1 2 3 5 8}}
    output_file: output/hangingsolve_patch.out

  test:
    suffix: patch_3d
    nsize: {{1 2 4}}
    args: -what patch -dim 3 -finest 2 -order {{1 2 3}}
    output_file: output/hangingsolve_patch.out

  test:
    suffix: backends
    nsize: {{1 3}}
    args: -what patch -dim 3 -finest 2 -order 3 -backends host,base
    output_file: output/hangingsolve_patch.out

  test:
    suffix: backends_spectrum
    args: -what spectrum -dim 3 -finest 1 -order 2 -backends host,base
    output_file: output/hangingsolve_spectrum.out

  test:
    suffix: backends_layer
    nsize: {{1 3}}
    requires: hypre
    args: -what layer -dim 3 -finest 2 -order 3 -backends host,base
    output_file: output/hangingsolve_layer.out

  test:
    suffix: components
    nsize: {{1 3}}
    args: -what components -finest 2 -dim {{2 3}} -order 4
    output_file: output/hangingsolve_components.out

  test:
    suffix: spectrum_2d
    args: -what spectrum -dim 2 -finest 2 -order {{1 2 3 4 5 6 7 8}}
    output_file: output/hangingsolve_spectrum.out

  test:
    suffix: spectrum_3d
    args: -what spectrum -dim 3 -finest 1 -order {{1 2 3 4}}
    output_file: output/hangingsolve_spectrum.out

  test:
    suffix: spectrum_3d_fine
    args: -what spectrum -dim 3 -finest 2 -order {{1 2}}
    output_file: output/hangingsolve_spectrum.out

  test:
    suffix: spectrum_long
    requires: long
    args: -what spectrum -dim 3 -finest 1 -order 5
    output_file: output/hangingsolve_spectrum.out

  test:
    suffix: rates
    args: -what rates -dim 2 -order {{1 2 4}}
    output_file: output/hangingsolve_rates.out

  test:
    suffix: rates_wavy
    nsize: {{1 3}}
    args: -what rates -dim 2 -order {{2 4}} -wavy -hops_repair_geometry
    output_file: output/hangingsolve_rates.out

  test:
    suffix: rates_wavy_3d
    args: -what rates -dim 3 -order 2 -wavy -hops_repair_geometry
    output_file: output/hangingsolve_rates.out

  test:
    suffix: rates_3d
    args: -what rates -dim 3 -order 2
    output_file: output/hangingsolve_rates.out

  test:
    suffix: layer
    nsize: {{1 2 4}}
    requires: hypre
    args: -what layer -dim 3 -finest 2 -order {{2 4}} -pc_lor_constraint_entries {{-1 0 4}}
    output_file: output/hangingsolve_layer.out

TEST*/
