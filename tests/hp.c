static char help[] = "Spaces whose cells have orders of their own, on adaptive meshes: functions and operators.\n\
  -dim <d> -order <p> -finest <l> -part <s> -seed <n> -turn -map <n> -essential -empty <r> : as in hanging.c, p the highest order\n\
  -orders <random|same|layers> : of the cells; -least <q> : the lowest of them\n\
  -what functions : functions are those of the mesh's space that have the order of each cell there, all of them with -count\n\
  -what operator  : products, the assembled matrix and right-hand sides against those of the mesh's space\n\
  -numbers        : prints what it compares\n\n";

#include "hpcase.h"

/* M[m + 1][n + 1]: values at the nodes of order m of Lagrange functions on those of order n */
static PetscErrorCode Between(PetscInt m, PetscInt n, PetscReal M[])
{
  PetscReal *x, *z;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(m + 1, &x, n + 1, &z));
  PetscCall(TestGLL(m + 1, x));
  PetscCall(TestGLL(n + 1, z));
  for (PetscInt i = 0; i <= m; ++i)
    for (PetscInt j = 0; j <= n; ++j) M[i * (n + 1) + j] = HangLagrange(n + 1, z, j, x[i]);
  PetscCall(PetscFree2(x, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values e[cells][np] of a function of the mesh's space, at the nodes of the highest order */
static PetscErrorCode Values(const HPCase *k, Vec y, PetscScalar e[])
{
  const PetscInt P = k->p + 1, np = PetscPowInt(P, k->dim);
  PetscInt      *cells;
  PetscReal     *z, *xi;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(P, &z, k->a.nc * np, &cells, k->a.nc * np * k->dim, &xi));
  PetscCall(TestGLL(P, z));
  for (PetscInt c = 0, i = 0; c < k->a.nc; ++c)
    for (PetscInt j = 0; j < np; ++j, ++i) {
      cells[i] = c;
      for (PetscInt d = 0, m = j; d < k->dim; ++d, m /= P) xi[i * k->dim + d] = z[m % P];
    }
  PetscCall(HopsSpaceEvaluate(k->space, y, k->a.nc * np, cells, xi, e));
  PetscCall(PetscFree3(z, cells, xi));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* d[np] = e less what a polynomial of order q that agrees at its nodes is */
static PetscErrorCode Remainder(const HPCase *k, PetscInt q, const PetscScalar e[], PetscScalar d[])
{
  const PetscInt P = k->p + 1, np = PetscPowInt(P, k->dim);
  PetscReal     *down, *up, *both;
  PetscScalar   *t;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc4((q + 1) * P, &down, (q + 1) * P, &up, P * P, &both, np, &t));
  PetscCall(Between(q, k->p, down));
  PetscCall(Between(k->p, q, up));
  for (PetscInt i = 0; i < P; ++i)
    for (PetscInt j = 0; j < P; ++j) {
      both[i * P + j] = 0.0;
      for (PetscInt m = 0; m <= q; ++m) both[i * P + j] += up[i * (q + 1) + m] * down[m * P + j];
    }
  PetscCall(PetscArraycpy(d, e, np));
  for (PetscInt a = 0, st = 1; a < k->dim; ++a, st *= P) {
    for (PetscInt i = 0; i < np; ++i) {
      t[i] = 0.0;
      for (PetscInt j = 0; j < P; ++j) t[i] += both[i / st % P * P + j] * d[i + (j - i / st % P) * st];
    }
    PetscCall(PetscArraycpy(d, t, np));
  }
  for (PetscInt i = 0; i < np; ++i) d[i] = e[i] - d[i];
  PetscCall(PetscFree4(down, up, both, t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ functions ------------------------------------------ */

#if !defined(PETSC_USE_COMPLEX)
/* How many functions of the mesh's space have the order of each cell there: the dimension of a null space */
static PetscErrorCode Count(const HPCase *k, PetscInt *n)
{
  const PetscInt np = PetscPowInt(k->p + 1, k->dim), m = k->a.nc * np, N = k->a.N;
  PetscScalar   *C, *e, *work;
  PetscReal     *s;
  PetscBLASInt   bm, bn, one = 1, lwork, info;
  Vec            y;

  PetscFunctionBeginUser;
  PetscCall(PetscBLASIntCast(m, &bm));
  PetscCall(PetscBLASIntCast(N, &bn));
  PetscCall(PetscBLASIntCast(5 * (m + N), &lwork));
  PetscCall(PetscMalloc4(m * N, &C, m, &e, N, &s, lwork, &work));
  PetscCall(HopsSpaceCreateVec(k->space, &y));
  for (PetscInt j = 0; j < N; ++j) {
    PetscCall(VecZeroEntries(y));
    PetscCall(VecSetValue(y, j, 1.0, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(y));
    PetscCall(VecAssemblyEnd(y));
    PetscCall(Values(k, y, e));
    for (PetscInt c = 0; c < k->a.nc; ++c) PetscCall(Remainder(k, k->orders[c], e + c * np, C + j * m + c * np));
  }
  PetscCallBLAS("LAPACKgesvd", LAPACKgesvd_("N", "N", &bm, &bn, C, &bm, s, NULL, &one, NULL, &one, work, &lwork, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK gesvd failed: %d", (int)info);
  *n = 0;
  for (PetscInt i = 0; i < N; ++i) *n += s[i] < 1e-10 * PetscMax(s[0], 1.0);
  PetscCall(VecDestroy(&y));
  PetscCall(PetscFree4(C, e, s, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static PetscErrorCode Functions(HPCase *k)
{
  const PetscInt np = PetscPowInt(k->p + 1, k->dim);
  PetscInt       N, q = k->least;
  PetscReal      worst = 0.0, e, length = 0.0;
  PetscScalar   *v, *d;
  PetscBool      count = PETSC_FALSE;
  HopsHPSpace    hp;
  Mat            P;
  Vec            x, y, z;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-count", &count, NULL));
  PetscCall(HopsHPSpaceCreate(k->space, k->orders, &hp));
  PetscCall(HopsHPSpaceGetSizes(hp, NULL, &N));
  PetscCall(HopsHPSpaceCreateVec(hp, &x));
  PetscCall(HopsSpaceCreateVec(k->space, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(HopsHPSpaceProlong(hp, x, y));
  PetscCall(HopsHPSpaceGetProlongation(hp, &P));
  PetscCall(MatMult(P, x, z));
  PetscCall(TestVecDiffer(z, y, &e));
  PetscCall(HPSay("as a matrix", e, 1e-12));
  PetscCall(PetscMalloc2(k->a.nc * np, &v, np, &d));
  PetscCall(Values(k, y, v));
  for (PetscInt c = 0; c < k->a.nc; ++c) {
    PetscCall(Remainder(k, k->orders[c], v + c * np, d));
    for (PetscInt i = 0; i < np; ++i) worst = TestWorse(worst, PetscAbsScalar(d[i]));
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &worst, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(HPSay("orders in cells", worst, 1e-11));
  PetscCall(VecNorm(y, NORM_2, &length));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a random function is %s\n", length > 0.1 ? "one" : "ZERO"));
  PetscCall(HopsHPSpaceInterpolate(hp, HPPoly, &q, x));
  PetscCall(HopsHPSpaceProlong(hp, x, y));
  PetscCall(HopsSpaceInterpolate(k->space, HPPoly, &q, z));
  PetscCall(TestVecDiffer(y, z, &e));
  PetscCall(HPSay("polynomials", e, 1e-12));
#if !defined(PETSC_USE_COMPLEX)
  if (count) {
    PetscInt n = 0;

    PetscCall(Count(k, &n));
    if (k->numbers) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " of %" PetscInt_FMT "\n", n, k->a.N));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "all such functions: %s\n", n == N ? "yes" : "NO"));
  }
#endif
  if (k->numbers) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " unknowns\n", N));
  PetscCall(PetscFree2(v, d));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(HopsHPSpaceDestroy(&hp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- operator ------------------------------------------- */

/* With one rule for all orders, so that the integrals are those of the mesh's space, to rounding */
static PetscErrorCode SetTerms(const HPCase *k, PetscInt n, const Mat A[])
{
  HopsCoefficient kappa, mass;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, k->dim * (k->dim + 1) / 2, TestKappa, NULL, &kappa));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, &mass));
  for (PetscInt i = 0; i < n; ++i) {
    PetscCall(MatPASetQuadrature(A[i], k->p + 2, PETSC_FALSE));
    PetscCall(MatPASetDiffusion(A[i], kappa));
    PetscCall(MatPASetMass(A[i], mass));
  }
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&mass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the vector of ones at free unknowns of the sum, and zeros at essential ones: of what M makes of a random
   vector */
static PetscErrorCode Compare(const HPCase *k, HopsHPSpace hp, Mat M, Mat A)
{
  Mat       P, B;
  Vec       x, y, z, t, s, g;
  PetscReal e;
  PetscInt  q = 2;

  PetscFunctionBeginUser;
  PetscCall(HopsHPSpaceGetProlongation(hp, &P));
  PetscCall(MatCreateVecs(P, &x, &t));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecDuplicate(x, &g));
  PetscCall(VecDuplicate(t, &s));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatConvert(M, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatMult(M, x, y));
  PetscCall(MatMult(B, x, z));
  PetscCall(TestVecDiffer(y, z, &e));
  PetscCall(HPSay("assembled", e, 1e-12));
  PetscCall(MatMultTranspose(M, x, z));
  PetscCall(TestVecDiffer(y, z, &e));
  PetscCall(HPSay("transposed", e, 1e-12));
  PetscCall(HopsHPSpaceComputeRHS(hp, HPPoly, &q, y));
  PetscCall(HopsSpaceComputeRHS(k->space, HPPoly, &q, t));
  PetscCall(MatMultTranspose(P, t, z));
  PetscCall(VecZeroEntries(g));
  PetscCall(MatHopsPtAPLiftEssential(M, g, y));
  PetscCall(MatHopsPtAPLiftEssential(M, g, z));
  PetscCall(TestVecDiffer(y, z, &e));
  PetscCall(HPSay("right-hand side", e, 1e-12));
  /* what is lifted, with zero values, keeps the free part */
  PetscCall(VecZeroEntries(g));
  PetscCall(VecCopy(x, z));
  PetscCall(MatHopsPtAPLiftEssential(M, g, z));
  PetscCall(MatMult(M, z, y));
  PetscCall(MatMult(P, z, t));
  PetscCall(MatMult(A, t, s)); /* essential entries of t are zero */
  PetscCall(MatMultTranspose(P, s, z));
  PetscCall(MatHopsPtAPLiftEssential(M, g, z));
  PetscCall(TestVecDiffer(y, z, &e));
  PetscCall(HPSay("product", e, 1e-12));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&t));
  PetscCall(VecDestroy(&s));
  PetscCall(VecDestroy(&g));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Operator(HPCase *k)
{
  HopsHPSpace hp;
  Mat         M, A;
  const Mat  *parts;
  PetscInt    n;

  PetscFunctionBeginUser;
  PetscCall(HopsHPSpaceCreate(k->space, k->orders, &hp));
  PetscCall(HopsHPSpaceCreateMat(hp, &M));
  PetscCall(MatHopsPtAPGetMats(M, &n, &parts, NULL));
  PetscCall(SetTerms(k, n, parts));
  PetscCall(MatCreatePA(k->space, &A));
  PetscCall(SetTerms(k, 1, &A));
  PetscCall(Compare(k, hp, M, A));
  PetscCall(MatDestroy(&M));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsHPSpaceDestroy(&hp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const whats[] = {"functions", "operator"};
  PetscInt          what    = 0;
  HPCase            k;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-what", whats, 2, &what, NULL));
  PetscCall(HPCaseCreate(&k));
  if (what == 0) PetscCall(Functions(&k));
  if (what == 1) PetscCall(Operator(&k));
  PetscCall(HPCaseDestroy(&k));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    output_file: output/hp_functions.out

    test:
      suffix: functions_2d
      args: -turn -order {{2 3 4 7}} -seed {{1 2}}

    test:
      suffix: functions_2d_ranks
      nsize: {{2 3 4}}
      args: -turn -order {{4 5}} -map 1 -essential

    test:
      suffix: functions_empty
      nsize: 3
      args: -turn -dim {{2 3}} -order 3 -empty {{0 1}} -essential

    test:
      suffix: functions_3d
      nsize: {{1 3}}
      args: -dim 3 -turn -order {{2 3 4}} -part 0.2

    # cells without hanging nodes, and of one order
    test:
      suffix: functions_plain
      nsize: {{1 2}}
      args: -dim {{2 3}} -finest 0 -order 4 -orders {{random same}}

  testset:
    requires: real
    args: -count
    output_file: output/hp_count.out

    test:
      suffix: count_2d
      args: -turn -order {{1 2 3 4}} -seed {{1 3}}

    test:
      suffix: count_3d
      args: -dim 3 -turn -order 2 -roots 2,1,1 -finest 1 -seed {{1 2}}

    test:
      suffix: count_3d_long
      requires: long
      args: -dim 3 -turn -order 3 -roots 2,1,1 -finest 1

  testset:
    args: -what operator -turn
    output_file: output/hp_operator.out

    test:
      suffix: operator_2d
      nsize: {{1 3}}
      args: -order {{2 4 6}} -essential -map {{0 1}}

    test:
      suffix: operator_3d
      nsize: {{1 2 4}}
      args: -dim 3 -order 3 -part 0.2 -essential -map 1

    test:
      suffix: operator_empty
      nsize: 3
      args: -dim {{2 3}} -order 2 -empty 0

TEST*/
