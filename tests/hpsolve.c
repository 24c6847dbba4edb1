static char help[] = "Solves in spaces whose cells have orders of their own, or that a code constrains.\n\
  -dim <d> -order <p> -finest <l> -part <s> -seed <n> -turn -map <n> -essential -empty <r> : as in hanging.c, p the highest order\n\
  -orders <random|same|layers> : of the cells; -least <q> : the lowest of them\n\
  -what solve     : a polynomial is found; iterations\n\
  -what spectrum  : eigenvalues of LOR^-1 A lie in the interval of the 1D pencils\n\
  -what constrained : a mesh's own constraints, given as a matrix\n\
  -what again     : a solver that is used again, with other coefficients and operators\n\
  -numbers        : prints what it compares\n\n";

#include "hpcase.h"

static PetscErrorCode Solve(HPCase *k)
{
  PetscInt    its, q = PetscMin(k->least, 2), N;
  PetscReal   error;
  HopsHPSpace hp;
  Mat         M;
  Vec         x, b, g, y;

  PetscFunctionBeginUser;
  PetscCall(HopsHPSpaceCreate(k->space, k->orders, &hp));
  PetscCall(HPLaplacian(hp, &M));
  PetscCall(HopsHPSpaceCreateVec(hp, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(x, &g));
  PetscCall(HopsSpaceCreateVec(k->space, &y));
  PetscCall(HopsHPSpaceInterpolate(hp, HPPoly, &q, g));
  PetscCall(HopsHPSpaceComputeRHS(hp, HPPolySource, &q, b));
  PetscCall(MatHopsPtAPLiftEssential(M, g, b));
  PetscCall(TestSolve(M, b, x, KSP_NORM_NATURAL, 1e-12, 200, &its));
  PetscCall(HopsHPSpaceProlong(hp, x, y));
  PetscCall(HopsSpaceComputeL2Error(k->space, y, HPPoly, &q, &error));
  PetscCall(HPSay("solution", error, 1e-9));
  PetscCall(HopsHPSpaceGetSizes(hp, NULL, &N));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " unknowns, iterations: %s\n", N, its < 35 ? "few" : "MANY"));
  if (k->numbers) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " iterations\n", its));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&g));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&M));
  PetscCall(HopsHPSpaceDestroy(&hp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Steep(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar k[], void *ctx)
{
  k[0] = PetscPowReal(10.0, 3.0 * x[0]);
  return PETSC_SUCCESS;
}

/* The same solver on the mesh's operator, and on the sum again; then a product's preconditioner without a
   solver, whose coefficients change */
static PetscErrorCode Switch(const HPCase *k, KSP ksp, Mat M)
{
  const PetscScalar two = 2.0;
  HopsCoefficient   kappa;
  Mat               A;
  const Mat        *parts;
  PC                pc;
  Vec               x, y;
  PetscReal         norm[2];
  PetscInt          n, its[2], N[2];

  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(k->space, &A));
  PetscCall(MatGetSize(A, &N[0], NULL));
  PetscCall(MatGetSize(M, &N[1], NULL));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &two, &kappa));
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(MatPASetMass(A, kappa));
  PetscCall(MatHopsPtAPGetMats(M, &n, &parts, NULL));
  for (PetscInt j = 0; j < n; ++j) PetscCall(MatPASetMass(parts[j], kappa));
  for (PetscInt i = 0; i < 2; ++i) {
    Mat B = i ? M : A;

    if (N[0] != N[1]) PetscCall(KSPReset(ksp)); /* of cells of one order the sizes are the same */
    PetscCall(KSPSetOperators(ksp, B, B));
    PetscCall(MatCreateVecs(B, &x, &y));
    PetscCall(VecSet(y, 1.0));
    PetscCall(KSPSolve(ksp, y, x));
    PetscCall(KSPGetIterationNumber(ksp, &its[i]));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "another kind of operator: %s, and back: %s\n", its[0] < 40 ? "few" : "MANY",
                        its[1] < 120 ? "few" : "MANY"));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, M, M));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(MatCreateVecs(M, &x, &y));
  PetscCall(VecSet(x, 1.0));
  for (PetscInt i = 0; i < 2; ++i) {
    for (PetscInt j = 0; i && j < n; ++j) PetscCall(MatPASetMass(parts[j], NULL));
    PetscCall(PCSetUp(pc));
    PetscCall(PCApply(pc, x, y));
    PetscCall(VecNorm(y, NORM_2, &norm[i]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "an application after new terms: %s\n",
                        PetscAbsReal(norm[0] - norm[1]) > 1e-6 * norm[0] ? "another" : "THE SAME"));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver that is used again: with other coefficients, which it has to notice; then on a problem that takes
   constants to zero, which nobody told it */
static PetscErrorCode Again(HPCase *k)
{
  HopsHPSpace     hp;
  HopsCoefficient steep;
  Mat             M;
  const Mat      *A;
  Vec             x, b;
  KSP             ksp;
  PC              pc;
  PetscInt        n, its[2];

  PetscFunctionBeginUser;
  PetscCall(HopsHPSpaceCreate(k->space, k->orders, &hp));
  PetscCall(HPLaplacian(hp, &M));
  PetscCall(MatHopsPtAPGetMats(M, &n, &A, NULL));
  PetscCall(HopsHPSpaceCreateVec(hp, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(M, x, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NATURAL));
  PetscCall(KSPSetOperators(ksp, M, M));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, Steep, NULL, &steep));
  for (PetscInt i = 0; i < 2; ++i) {
    for (PetscInt j = 0; i && j < n; ++j) PetscCall(MatPASetDiffusion(A[j], steep));
    PetscCall(MatMult(M, x, b));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its[i]));
  }
  if (k->numbers) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " and %" PetscInt_FMT " iterations\n", its[0], its[1]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations: %s, with other coefficients: %s\n", its[0] < 40 ? "few" : "MANY",
                        its[1] < 90 ? "few" : "MANY"));
  PetscCall(Switch(k, ksp, M));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(HopsCoefficientDestroy(&steep));
  PetscCall(MatDestroy(&M));
  PetscCall(HopsHPSpaceDestroy(&hp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if !defined(PETSC_USE_COMPLEX)
static PetscErrorCode Spectrum(HPCase *k)
{
  PetscReal   in[2] = {PETSC_MAX_REAL, 0.0}, b[2] = {0.0, 0.0}, *lambda;
  PetscInt    N, *keep, n = 0;
  HopsHPSpace hp;
  Mat         M;
  Vec         x, g;

  PetscFunctionBeginUser;
  PetscCall(HopsHPSpaceCreate(k->space, k->orders, &hp));
  PetscCall(HPLaplacian(hp, &M));
  PetscCall(HopsHPSpaceGetSizes(hp, NULL, &N));
  PetscCall(PetscMalloc2(N, &keep, N, &lambda));
  PetscCall(MatCreateVecs(M, &x, &g));
  PetscCall(VecSet(x, 1.0));
  PetscCall(VecZeroEntries(g));
  PetscCall(MatHopsPtAPLiftEssential(M, g, x)); /* 0 at essential unknowns */
  {
    const PetscScalar *a;

    PetscCall(VecGetArrayRead(x, &a));
    for (PetscInt i = 0; i < N; ++i)
      if (a[i] != 0.0) keep[n++] = i;
    PetscCall(VecRestoreArrayRead(x, &a));
  }
  for (PetscInt q = 1; q <= k->p; ++q) {
    PetscCall(HangPencil(q, b));
    in[0] = PetscMin(in[0], b[0] * PetscPowRealInt(q / (2.0 * q + 1.0), (int)k->dim - 1));
    in[1] = PetscMax(in[1], b[1]);
  }
  PetscCall(HangEigenvalues(M, 0, n, keep, lambda));
  if (k->numbers)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " unknowns, [%.4f, %.4f] in [%.4f, %.4f]\n", n, (double)lambda[0],
                          (double)lambda[n - 1], (double)in[0], (double)in[1]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "eigenvalues: %s\n",
                        lambda[0] >= in[0] * (1.0 - 1e-9) && lambda[n - 1] <= in[1] * (1.0 + 1e-9) ? "inside" : "OUTSIDE"));
  PetscCall(PetscFree2(keep, lambda));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&g));
  PetscCall(MatDestroy(&M));
  PetscCall(HopsHPSpaceDestroy(&hp));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* --------------------------------------- constraints of a code's own
   --------------------------------------- */

/* A square beside a column of n smaller ones: nodes of its right edge are those that the column's hang on.
   Places of the nodes of cell c, whose numbers are those of its own part of the mesh */
static PetscErrorCode Column(PetscInt p, PetscInt n, HopsSpace *space, PetscInt *N, PetscReal *x[])
{
  const PetscInt P = p + 1, np = P * P;
  PetscInt      *nodes;
  PetscReal     *coords, *z;

  PetscFunctionBeginUser;
  *N = np + P * (n * p + 1);
  PetscCall(PetscMalloc3((n + 1) * np, &nodes, (n + 1) * np * 2, &coords, P, &z));
  PetscCall(PetscMalloc1(2 * *N, x));
  PetscCall(TestGLL(P, z));
  for (PetscInt c = 0; c <= n; ++c)
    for (PetscInt i = 0; i < np; ++i) {
      const PetscReal h = c ? 1.0 / n : 1.0, a = 0.5 * h * (1.0 + z[i % P]), b = 0.5 * h * (1.0 + z[i / P]);
      const PetscInt  g = c ? np + i % P + P * ((c - 1) * p + i / P) : i;

      nodes[c * np + i]            = g;
      coords[(c * np + i) * 2]     = a + (c ? 1.0 : 0.0);
      coords[(c * np + i) * 2 + 1] = b + (c ? (c - 1) * h : 0.0);
      (*x)[2 * g]                  = coords[(c * np + i) * 2];
      (*x)[2 * g + 1]              = coords[(c * np + i) * 2 + 1];
    }
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_SELF, 2, p, n + 1, *N, nodes, coords, 0, NULL, space));
  PetscCall(PetscFree3(nodes, coords, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of the column's nodes on the common edge are values of the square's polynomial there; unknowns are the
   others, in their order */
static PetscErrorCode ColumnConstraints(PetscInt p, PetscInt N, const PetscReal x[], Mat *L, PetscInt *n, PetscInt *unknown[])
{
  const PetscInt np = (p + 1) * (p + 1);
  PetscReal     *z;
  PetscInt       k = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(p + 1, &z));
  PetscCall(PetscMalloc1(N, unknown));
  PetscCall(TestGLL(p + 1, z));
  for (PetscInt g = 0; g < N; ++g)
    if (g < np || x[2 * g] > 1.0 + 1e-9) (*unknown)[k++] = g;
  *n = k;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, N, k, p + 1, NULL, L));
  for (PetscInt i = 0; i < k; ++i) PetscCall(MatSetValue(*L, (*unknown)[i], i, 1.0, INSERT_VALUES));
  for (PetscInt g = np; g < N; ++g)
    for (PetscInt i = 0; i <= p && x[2 * g] <= 1.0 + 1e-9; ++i)
      PetscCall(MatSetValue(*L, g, p + i * (p + 1), HangLagrange(p + 1, z, i, 2.0 * x[2 * g + 1] - 1.0), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*L, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*L, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A polynomial is found on the column, whose cells are three and more levels smaller than the square */
static PetscErrorCode Constrained(const HPCase *k)
{
  PetscInt    N, n, its, q = PetscMin(k->p, 2), ness = 0, *unknown, *ess;
  PetscReal  *x, error;
  PetscScalar u;
  HopsSpace   space;
  Mat         A, L, M;
  Vec         b, full, g, y;

  const PetscScalar one = 1.0;
  HopsCoefficient   kappa;

  PetscFunctionBeginUser;
  PetscCall(Column(k->p, 9, &space, &N, &x));
  PetscCall(ColumnConstraints(k->p, N, x, &L, &n, &unknown));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &one, &kappa));
  PetscCall(MatCreatePA(space, &A));
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(MatCreateVecs(L, &g, &full));
  PetscCall(PetscMalloc1(n, &ess));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscReal *at = x + 2 * unknown[i];

    if (at[0] > 1e-9 && at[0] < 1.0 + 1.0 / 9 - 1e-9 && at[1] > 1e-9 && at[1] < 1.0 - 1e-9) continue;
    ess[ness++] = i;
    PetscCall(HPPoly(2, at, 1, &u, &q));
    PetscCall(VecSetValue(g, i, u, INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(g));
  PetscCall(VecAssemblyEnd(g));
  PetscCall(MatCreateHopsPtAP(PETSC_COMM_SELF, 1, &A, &L, ness, ess, &M));
  PetscCall(VecDuplicate(g, &b));
  PetscCall(VecDuplicate(g, &y));
  PetscCall(HopsSpaceComputeRHS(space, HPPolySource, &q, full));
  PetscCall(MatMultTranspose(L, full, b));
  PetscCall(MatHopsPtAPLiftEssential(M, g, b));
  PetscCall(TestSolve(M, b, y, KSP_NORM_NATURAL, 1e-12, 200, &its));
  PetscCall(MatMult(L, y, full));
  PetscCall(HopsSpaceComputeL2Error(space, full, HPPoly, &q, &error));
  PetscCall(HPSay("solution", error, 1e-9));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " unknowns, iterations: %s\n", n, its < 35 ? "few" : "MANY"));
  if (k->numbers) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " iterations\n", its));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&full));
  PetscCall(VecDestroy(&g));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&L));
  PetscCall(MatDestroy(&M));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsSpaceDestroy(&space));
  PetscCall(PetscFree(x));
  PetscCall(PetscFree(ess));
  PetscCall(PetscFree(unknown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const whats[] = {"solve", "spectrum", "constrained", "again"};
  PetscInt          what    = 0;
  HPCase            k;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-what", whats, 4, &what, NULL));
  PetscCall(HPCaseCreate(&k));
  if (what == 0) PetscCall(Solve(&k));
#if !defined(PETSC_USE_COMPLEX)
  if (what == 1) PetscCall(Spectrum(&k));
#endif
  if (what == 2) PetscCall(Constrained(&k));
  if (what == 3) PetscCall(Again(&k));
  PetscCall(HPCaseDestroy(&k));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: hypre
    args: -what solve -everywhere -turn

    test:
      suffix: 2d
      nsize: {{1 2 3 4}}
      args: -order 6 -finest 4 -orders {{random layers}separate output}

    test:
      suffix: 3d
      nsize: {{1 2 3}}
      args: -dim 3 -order 5 -least 2 -part 0.2

  testset:
    requires: real
    args: -what spectrum -everywhere -turn
    output_file: output/hpsolve_spectrum.out

    test:
      suffix: spectrum_2d
      args: -order {{2 5 8}} -finest 3

    test:
      suffix: spectrum_3d
      args: -dim 3 -order {{2 3}} -finest 1 -roots 2,2,1

  test:
    suffix: constrained
    requires: hypre
    args: -what constrained -order {{1 4}separate output}

  test:
    suffix: again
    requires: hypre
    nsize: {{1 3}}
    args: -what again -order 5 -finest 3 -turn -everywhere {{0 1}} -orders {{random same}}

TEST*/
