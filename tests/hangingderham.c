static char help[] = "H(curl) and H(div) on adaptive meshes: derivatives, spectra, AMS and ADS, convergence.\n\
  -dim <d> -order <p> -finest <l> -family <hcurl|hdiv> -empty <r>\n\
  -what derivatives : G, C and D on true unknowns beside those of cells by themselves; products; essential values\n\
  -what spectrum    : all eigenvalues of LOR^-1 A lie in the interval of the 1D pencils\n\
  -what solve       : iterations beside those on a uniform mesh, by AMS or ADS\n\
  -what rates       : errors on randomly refined meshes fall by the order\n\
  -what absent      : what is refused of AMS\n\
  -what cost        : times, by that of a product where each cell has unknowns of its own\n\
  -numbers          : prints what it compares\n\n";

#include "hangingcase.h"
#include "hopsexpect.h"
#include <petsctime.h>

static HopsFamily family  = HOPS_HCURL;
static PetscBool  numbers = PETSC_FALSE;
static PetscInt   empty   = -1;

/* The space with `essential`, which may be NULL, with its companions without */
static PetscErrorCode Space(HangMesh *m, HopsFamily f, PetscInt p, PetscBool (*essential)(PetscInt, const PetscReal[]),
                            HopsSpace *sp)
{
  HangArrays a;

  PetscFunctionBeginUser;
  PetscCall(HangFamilyCreate(m, f, p, NULL, essential, empty, &a));
  PetscCall(HangSpace(m, p, &a, sp));
  PetscCall(HangArraysDestroy(&a));
  if (f == HOPS_H1) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt g = HOPS_H1; g <= HOPS_HDIV; ++g) {
    HopsSpace other;

    if (g == (PetscInt)f || (g == HOPS_HDIV && m->dim == 2)) continue;
    PetscCall(HangFamilyCreate(m, (HopsFamily)g, p, NULL, NULL, empty, &a));
    PetscCall(HangSpace(m, p, &a, &other));
    PetscCall(HopsSpaceSetCompanion(*sp, other));
    PetscCall(HopsSpaceDestroy(&other));
    PetscCall(HangArraysDestroy(&a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Mesh(PetscInt dim, PetscInt finest, HangMesh *m)
{
  const PetscInt M[3] = {2, 2, 1};
  PetscInt       seed = 1;
  PetscReal      part = 0.3;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seed", &seed, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-part", &part, NULL));
  PetscCall(HangCreate(dim, M, PETSC_FALSE, finest, m));
  m->seed = (unsigned)seed;
  PetscCall(HangAdapt(m, 0, finest, part, NULL));
  PetscCall(HangList(m, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ derivatives ------------------------------------------ */

static PetscErrorCode Small(Mat A, const char what[])
{
  PetscReal e;

  PetscFunctionBeginUser;
  PetscCall(MatNorm(A, NORM_INFINITY, &e));
  if (numbers) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %g\n", what, (double)e));
  if (e <= 1e-13) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: holds\n", what));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: FAILS by %g\n", what, (double)e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Q_p with an essential boundary, and its gradient */
static PetscErrorCode Potential(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscInt  p = *(PetscInt *)ctx;
  const PetscReal a = x[0] / 3.0, b = x[1] / 3.0, c = dim > 2 ? x[2] / 3.0 : 1.0;

  u[0] = 1.0 + PetscPowRealInt(a, (int)p) * b - 2.0 * PetscPowRealInt(b, (int)p) * c + a * b * c;
  return PETSC_SUCCESS;
}

static PetscErrorCode Gradient(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscInt  p = *(PetscInt *)ctx;
  const PetscReal a = x[0] / 3.0, b = x[1] / 3.0, c = dim > 2 ? x[2] / 3.0 : 1.0;

  u[0] = (p * PetscPowRealInt(a, (int)p - 1) * b + b * c) / 3.0;
  u[1] = (PetscPowRealInt(a, (int)p) - 2.0 * p * PetscPowRealInt(b, (int)p - 1) * c + a * c) / 3.0;
  if (dim > 2) u[2] = (-2.0 * PetscPowRealInt(b, (int)p) + a * b) / 3.0;
  return PETSC_SUCCESS;
}

/* The gradient of a field, essential values with it, of a space whose essential unknowns are another one's */
static PetscErrorCode Differentiate(HangMesh *m, PetscInt p)
{
  HopsSpace edges, nodes;
  Vec       x, y;
  PetscReal e[2];

  PetscFunctionBeginUser;
  PetscCall(Space(m, HOPS_HCURL, p, HangEverywhere, &edges));
  PetscCall(HopsSpaceCreateCompanion(edges, HOPS_H1, PETSC_TRUE, &nodes));
  PetscCall(HopsSpaceCreateVec(nodes, &x));
  PetscCall(HopsSpaceCreateVec(edges, &y));
  PetscCall(HopsSpaceSetEssentialFunction(nodes, Potential, &p));
  PetscCall(HopsSpaceInterpolate(nodes, Potential, &p, x));
  PetscCall(HopsSpaceDifferentiate(nodes, x, edges, y));
  PetscCall(HopsSpaceComputeL2Error(edges, y, Gradient, &p, &e[0]));
  PetscCall(HopsSpaceSetEssentialFunction(edges, Gradient, &p));
  PetscCall(HopsSpaceInterpolate(edges, Gradient, &p, y));
  PetscCall(HopsSpaceComputeL2Error(edges, y, Gradient, &p, &e[1]));
  for (PetscInt i = 0; i < 2; ++i)
    if (e[i] > 1e-11) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ERROR %g\n", (double)e[i]));
    else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: exact\n", i ? "interpolation" : "gradient of a field"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(HopsSpaceDestroy(&nodes));
  PetscCall(HopsSpaceDestroy(&edges));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Derivatives(PetscInt dim, PetscInt p, PetscInt finest)
{
  const HangMutation right   = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};
  const HopsFamily   chain[] = {HOPS_H1, HOPS_HCURL, dim == 3 ? HOPS_HDIV : HOPS_L2, HOPS_L2};
  const char *const  names[] = {"gradient", "curl", "divergence"};
  HangMesh           m;
  HopsSpace          sp[4], broken[4];
  Mat                L[4], D[3];

  PetscFunctionBeginUser;
  PetscCall(Mesh(dim, finest, &m));
  for (PetscInt f = 0; f <= dim; ++f) {
    HangArrays a;
    PetscInt  *all;

    PetscCall(HangFamilyCreate(&m, chain[f], p, NULL, NULL, empty, &a));
    PetscCall(HangSpace(&m, p, &a, &sp[f]));
    PetscCall(HangBroken(&m, p, &a, &broken[f]));
    PetscCall(HangAllNodes(&m, &a, &all));
    PetscCall(HangConstraints(&m, p, &a, all, 0, PETSC_TRUE, right, &L[f]));
    PetscCall(PetscFree(all));
    PetscCall(HangArraysDestroy(&a));
  }
  for (PetscInt f = 0; f < dim; ++f) {
    Mat B, X, Y;

    PetscCall(HopsSpaceCreateDerivative(sp[f], sp[f + 1], &D[f]));
    PetscCall(HopsSpaceCreateDerivative(broken[f], broken[f + 1], &B));
    PetscCall(MatConvert(D[f], MATAIJ, MAT_INPLACE_MATRIX, &D[f])); /* of a device's type, which makes no products with these */
    PetscCall(MatConvert(B, MATAIJ, MAT_INPLACE_MATRIX, &B));
    PetscCall(MatMatMult(L[f + 1], D[f], MAT_INITIAL_MATRIX, PETSC_DEFAULT, &X));
    PetscCall(MatMatMult(B, L[f], MAT_INITIAL_MATRIX, PETSC_DEFAULT, &Y));
    PetscCall(MatAXPY(X, -1.0, Y, DIFFERENT_NONZERO_PATTERN));
    PetscCall(Small(X, names[f]));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&X));
    PetscCall(MatDestroy(&Y));
    if (!f) continue;
    PetscCall(MatMatMult(D[f], D[f - 1], MAT_INITIAL_MATRIX, PETSC_DEFAULT, &X));
    PetscCall(Small(X, "the product of two"));
    PetscCall(MatDestroy(&X));
  }
  PetscCall(Differentiate(&m, p));
  for (PetscInt f = 0; f <= dim; ++f) {
    PetscCall(MatDestroy(&L[f]));
    if (f < dim) PetscCall(MatDestroy(&D[f]));
    PetscCall(HopsSpaceDestroy(&sp[f]));
    PetscCall(HopsSpaceDestroy(&broken[f]));
  }
  PetscCall(HangDestroy(&m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- spectra ------------------------------------------- */

/* published to four digits: the largest eigenvalue of the edge functions' mass by 1/h */
static const PetscReal table[12] = {1., 1.3333, 1.5451, 1.6903, 1.7960, 1.8764, 1.9396, 1.9906, 2.0326, 2.0678, 2.0977, 2.1235};

static PetscErrorCode Operator(HopsSpace sp, Mat *A)
{
  const PetscScalar one = 1.0;
  HopsCoefficient   k;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &k));
  PetscCall(MatCreatePA(sp, A));
  if (family == HOPS_HCURL) PetscCall(MatPASetCurlCurl(*A, k));
  else PetscCall(MatPASetDivDiv(*A, k));
  PetscCall(MatPASetMass(*A, k));
  PetscCall(HopsCoefficientDestroy(&k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Spectrum(PetscInt dim, PetscInt p, PetscInt finest)
{
  const PetscReal m1 = p / (2.0 * p + 1.0), h1 = table[p - 1];
  PetscReal       lo, hi, *lambda;
  PetscInt       *keep, n = 0;
  HangMesh        m;
  HangArrays      arrays;
  HopsSpace       sp;
  Mat             A;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, "-lor_pc_type jacobi"));
  PetscCall(Mesh(dim, finest, &m));
  PetscCall(HangFamilyCreate(&m, family, p, NULL, HangEverywhere, -1, &arrays));
  PetscCall(HangSpace(&m, p, &arrays, &sp));
  PetscCall(HangFreeUnknowns(&arrays, &n, &keep, &lambda));
  PetscCall(Operator(sp, &A));
  PetscCall(HangEigenvalues(A, 0, n, keep, lambda));
  if (dim == 2) {
    lo = PetscMin(m1, 1.0 / h1);
    hi = h1;
  } else {
    lo = family == HOPS_HCURL ? PetscMin(m1 * m1, m1 / h1) : PetscMin(m1, 1.0 / h1);
    hi = family == HOPS_HCURL ? h1 : h1 * h1;
  }
  if (numbers)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " unknowns, [%.4f, %.4f] in [%.4f, %.4f]\n", n, (double)lambda[0],
                          (double)lambda[n - 1], (double)lo, (double)hi));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "spectrum: %s\n",
                        lambda[0] >= lo * 0.9999 && lambda[n - 1] <= hi * 1.0001 ? "inside" : "OUTSIDE"));
  PetscCall(PetscFree2(keep, lambda));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(HangArraysDestroy(&arrays));
  PetscCall(HangDestroy(&m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- solves ------------------------------------------- */

/* curl curl u, or - grad div u, is a multiple of it; ctx: its source */
static PetscErrorCode Wave(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt c = 0; c < nc; ++c)
    u[c] = family == HOPS_HCURL ? PetscSinReal(2.0 * x[(c + 1) % dim] + 0.3 * c) : PetscSinReal(2.0 * x[c] + 0.3 * c);
  if (ctx)
    for (PetscInt c = 0; c < nc; ++c) u[c] *= 5.0;
  return PETSC_SUCCESS;
}

static PetscErrorCode Solve(HopsSpace sp, PetscReal rtol, PetscInt *its, PetscReal *error)
{
  PetscInt source = 1;
  Mat      A;
  Vec      x, b;

  PetscFunctionBeginUser;
  PetscCall(Operator(sp, &A));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(HopsSpaceSetEssentialFunction(sp, Wave, NULL));
  PetscCall(HopsSpaceComputeRHS(sp, Wave, &source, b));
  PetscCall(MatPALiftEssential(A, b));
  PetscCall(TestSolve(A, b, x, KSP_NORM_NATURAL, rtol, 400, its));
  PetscCall(HopsSpaceComputeL2Error(sp, x, Wave, NULL, error));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Iterations(PetscInt dim, PetscInt p, PetscInt finest)
{
  const PetscInt M[3] = {2, 2, 2};
  PetscInt       its[2], N[2], n[2];
  PetscReal      error, bar = family == HOPS_HDIV && dim == 3 ? 1.25 : 1.15;

  PetscFunctionBeginUser;
  for (PetscInt uniform = 0; uniform < 2; ++uniform) {
    HangMesh  m;
    HopsSpace sp;

    PetscCall(HangCreate(dim, M, PETSC_TRUE, finest, &m));
    PetscCall(HangAdapt(&m, 0, m.finest, 0.0, uniform ? HangAll : HangLayer));
    PetscCall(HangList(&m, PETSC_TRUE));
    PetscCall(Space(&m, family, p, HangEverywhere, &sp));
    PetscCall(HopsSpaceGetSizes(sp, NULL, &N[uniform]));
    PetscCall(Solve(sp, 1e-10, &its[uniform], &error));
    n[uniform] = m.n;
    PetscCall(HopsSpaceDestroy(&sp));
    PetscCall(HangDestroy(&m));
  }
  if (numbers)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "order %" PetscInt_FMT ": %" PetscInt_FMT " cells, %" PetscInt_FMT " unknowns, %" PetscInt_FMT
                          " iterations; uniform %" PetscInt_FMT " cells, %" PetscInt_FMT " unknowns, %" PetscInt_FMT
                          " iterations\n",
                          p, n[0], N[0], its[0], n[1], N[1], its[1]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations: %s\n", its[0] <= PetscMax(bar * its[1], its[1] + 2) ? "few" : "TOO MANY"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Rates(PetscInt dim, PetscInt p)
{
  PetscReal error[2];

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 2; ++k) { /* the same mesh, then with all cells halved */
    PetscInt  its;
    HangMesh  m;
    HopsSpace sp;

    PetscCall(HangCreateHalved(dim, 1, 3, k, &m));
    PetscCall(Space(&m, family, p, HangEverywhere, &sp));
    PetscCall(Solve(sp, 1e-12, &its, &error[k]));
    PetscCall(HopsSpaceDestroy(&sp));
    PetscCall(HangDestroy(&m));
  }
  PetscCall(HangSayRate(error, p, "p", numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the least time of n products, or diagonals */
static PetscErrorCode Time(HopsSpace sp, PetscBool diagonal, PetscInt n, PetscLogDouble *best)
{
  Mat A;
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(Operator(sp, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  for (PetscInt i = 0; i < n; ++i) {
    PetscLogDouble t[2];

    PetscCall(PetscTime(&t[0]));
    if (diagonal) PetscCall(MatGetDiagonal(A, y));
    else PetscCall(MatMult(A, x, y));
    PetscCall(PetscTime(&t[1]));
    if (!i || t[1] - t[0] < *best) *best = t[1] - t[0];
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Cost(PetscInt dim, PetscInt p, PetscInt finest)
{
  const PetscInt M[3] = {2, 2, 2};
  PetscLogDouble t[3];
  HangMesh       m;
  HangArrays     a;
  HopsSpace      sp, broken;

  PetscFunctionBeginUser;
  PetscCall(HangCreate(dim, M, PETSC_TRUE, finest, &m));
  PetscCall(HangAdapt(&m, 0, finest, 0.0, HangLayer));
  PetscCall(HangList(&m, PETSC_FALSE));
  PetscCall(HangFamilyCreate(&m, family, p, NULL, NULL, -1, &a));
  PetscCall(HangSpace(&m, p, &a, &sp));
  PetscCall(HangBroken(&m, p, &a, &broken));
  PetscCall(Time(sp, PETSC_FALSE, 15, &t[0]));
  PetscCall(Time(sp, PETSC_TRUE, 3, &t[1]));
  PetscCall(Time(broken, PETSC_FALSE, 15, &t[2]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "product: %.2f, diagonal: %.1f products\n", t[0] / t[2], t[1] / t[0]));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(HopsSpaceDestroy(&broken));
  PetscCall(HangArraysDestroy(&a));
  PetscCall(HangDestroy(&m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Absent(PetscInt dim, PetscInt p, PetscInt finest)
{
  HangMesh   m;
  HangArrays a;
  HopsSpace  sp, plain;
  Mat        A, D;
  PC         pc;

  PetscFunctionBeginUser;
  PetscCall(Mesh(dim, finest, &m));
  PetscCall(Space(&m, HOPS_HCURL, p, HangEverywhere, &sp));
  PetscCall(Operator(sp, &A));
  PetscCall(PetscOptionsInsertString(NULL, "-lor_pc_hypre_ams_cycle_type 1"));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetFromOptions(pc));
  EXPECT("all components together", PCSetUp(pc), "-lor_pc_hypre_ams_cycle_type|11 to 14");
  /* on several ranks one alone may have the cells with masks */
  PetscCall(HangFamilyCreate(&m, HOPS_L2, p, NULL, NULL, -1, &a));
  PetscCall(
    HopsSpaceCreateFamilyFromArrays(PETSC_COMM_WORLD, HOPS_L2, dim, p, a.nc, a.owned, a.nodes, p, a.coords, 0, NULL, &plain));
  EXPECT("masks of one space alone", HopsSpaceCreateDerivative(sp, plain, &D), "with the same masks");
  EXPECT("a companion without masks", HopsSpaceSetCompanion(sp, plain), "with the same masks");
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt dim = 2, p = 2, finest = 2;
  char     what[32] = "derivatives", name[16] = "hcurl";

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HangSetBackend());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-finest", &finest, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-empty", &empty, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-numbers", &numbers, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-what", what, sizeof(what), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-family", name, sizeof(name), NULL));
  if (name[1] == 'd') family = HOPS_HDIV;
  if (what[0] == 'd') PetscCall(Derivatives(dim, p, finest));
  else if (what[0] == 'r') PetscCall(Rates(dim, p));
  else if (what[0] == 'a') PetscCall(Absent(dim, p, finest));
  else if (what[0] == 'c') PetscCall(Cost(dim, p, finest));
  else if (what[1] == 'p') PetscCall(Spectrum(dim, p, finest));
  else PetscCall(Iterations(dim, p, finest));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  test:
    suffix: derivatives_2d
    nsize: {{1 3}}
    args: -what derivatives -dim 2 -finest 3 -order {{1 2 4 8}}

  test:
    suffix: derivatives_3d
    nsize: {{1 2 4}}
    args: -what derivatives -dim 3 -finest 2 -order {{1 3}}

  test:
    suffix: derivatives_empty
    nsize: 3
    args: -what derivatives -dim 2 -finest 3 -order 2 -empty 1
    output_file: output/hangingderham_derivatives_2d.out

  test:
    suffix: spectrum
    args: -what spectrum -dim 2 -finest 2 -family {{hcurl hdiv}} -order {{1 2 3 5 6}}

  test:
    suffix: spectrum_3d
    args: -what spectrum -dim 3 -finest 1 -family {{hcurl hdiv}} -order {{1 2}}
    output_file: output/hangingderham_spectrum.out

  test:
    suffix: spectrum_long
    requires: long
    args: -what spectrum -dim 3 -finest 1 -family {{hcurl hdiv}} -order 3
    output_file: output/hangingderham_spectrum.out

  testset:
    requires: hypre
    output_file: output/hangingderham_solve.out

    test:
      suffix: ams_2d
      nsize: {{1 3}}
      args: -what solve -dim 2 -finest 4 -family {{hcurl hdiv}} -order {{1 2 4}}

    test:
      suffix: ams_3d
      nsize: {{1 4}}
      args: -what solve -dim 3 -finest 2 -family hcurl -order {{1 2}}

    test:
      suffix: ads_3d
      nsize: {{1 2}}
      args: -what solve -dim 3 -finest 2 -family hdiv -order {{1 2}}

    test:
      suffix: backends
      nsize: {{1 2}}
      args: -what solve -dim 3 -finest 2 -family {{hcurl hdiv}} -order 2 -backends host,base

    # some teams have rows to which no cell adds but by what hangs
    test:
      suffix: backends_long
      requires: long
      args: -what solve -dim 3 -finest 4 -family hcurl -order 2 -backends host,base

    test:
      suffix: solve_long
      requires: long
      nsize: {{1 2 4}}
      args: -what solve -dim 3 -finest 2 -family {{hcurl hdiv}} -order {{3 4}}

  test:
    suffix: absent
    requires: hypre
    nsize: {{1 3}}
    args: -what absent -dim 2 -finest 1 -malloc_dump 0

  test:
    suffix: rates
    requires: hypre
    nsize: {{1 3}}
    args: -what rates -dim 2 -family {{hcurl hdiv}} -order {{1 2 3}}

  test:
    suffix: rates_3d
    requires: hypre
    args: -what rates -dim 3 -family {{hcurl hdiv}} -order 1
    output_file: output/hangingderham_rates.out

TEST*/
