static char help[] = "Spaces whose cells have orders of their own, on adaptive meshes.\n\
  -dim <d> -order <p> -finest <l> -part <s> -seed <n> -turn -map <n> -essential -empty <r> : as in hanging.c, p the highest order\n\
  -orders <random|same|layers> : of the cells; -least <q> : the lowest of them\n\
  -what functions : functions are those of the mesh's space that have the order of each cell there, all of them with -count\n\
  -what operator  : products, the assembled matrix and right-hand sides against those of the mesh's space\n\
  -what solve     : a polynomial is found; iterations\n\
  -what spectrum  : eigenvalues of LOR^-1 A lie in the interval of the 1D pencils\n\
  -what constrained : a mesh's own constraints, given as a matrix\n\
  -what again     : a solver that is used again, with other coefficients\n\
  -what refused   : what raises an error that names the remedy\n\
  -numbers        : prints what it compares\n\n";

#include "hangingcase.h"
#include "hopsexpect.h"

typedef struct {
  PetscInt   dim, p, least, N;
  PetscBool  numbers;
  PetscInt  *orders;
  HangMesh   mesh;
  HangArrays a;
  HopsSpace  space;
} Case;

static void Map(PetscInt dim, PetscReal x[])
{
  const PetscReal a = x[0], b = x[1];

  x[0] = a + 0.05 * a * b;
  x[1] = b - 0.06 * a * b + 0.04 * a;
  if (dim > 2) x[2] += 0.03 * a * x[2];
}

static PetscBool Left(PetscInt dim, const PetscReal x[])
{
  return x[0] < 1e-6 || x[1] > 1.0 + 1e-6 ? PETSC_TRUE : PETSC_FALSE;
}

/* of order q in each direction */
static PetscErrorCode Poly(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscInt q = *(PetscInt *)ctx;

  u[0] = 1.0 - 2.0 * x[0] + 3.0 * x[1] + (dim > 2 ? x[2] : 0.0) + (q > 1 ? x[0] * x[0] - 3.0 * x[1] * x[1] + x[0] * x[1] : 0.0);
  return PETSC_SUCCESS;
}

static PetscErrorCode PolySource(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  f[0] = *(PetscInt *)ctx > 1 ? 4.0 : 0.0;
  return PETSC_SUCCESS;
}

static PetscErrorCode Say(const char what[], PetscReal e, PetscReal tol)
{
  PetscFunctionBeginUser;
  if (e <= tol) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: the same\n", what));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: DIFFERS by %g\n", what, (double)e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Differ(Vec x, Vec y, PetscReal *e)
{
  Vec       d;
  PetscReal n;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &d));
  PetscCall(VecWAXPY(d, -1.0, x, y));
  PetscCall(VecNorm(d, NORM_INFINITY, e));
  PetscCall(VecNorm(y, NORM_INFINITY, &n));
  *e = TestWorse(0.0, *e / n);
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- the case ------------------------------------------- */

static PetscErrorCode CaseCreate(Case *k)
{
  const char *const kinds[]  = {"random", "same", "layers"};
  PetscInt          roots[3] = {2, 2, 1}, n = 3, finest = 2, seed = 1, empty = -1, kind = 0, map = 0;
  PetscReal         part = 0.3;
  PetscBool         turn = PETSC_FALSE, essential = PETSC_FALSE, everywhere = PETSC_FALSE;

  PetscFunctionBeginUser;
  *k = (Case){.dim = 2, .p = 4, .least = 1};
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Orders of cells", NULL);
  PetscCall(PetscOptionsInt("-dim", "Dimension", NULL, k->dim, &k->dim, NULL));
  PetscCall(PetscOptionsInt("-order", "Highest order", NULL, k->p, &k->p, NULL));
  PetscCall(PetscOptionsInt("-least", "Lowest order", NULL, k->least, &k->least, NULL));
  PetscCall(PetscOptionsIntArray("-roots", "Cells of the coarsest mesh", NULL, roots, &n, NULL));
  PetscCall(PetscOptionsInt("-finest", "Levels", NULL, finest, &finest, NULL));
  PetscCall(PetscOptionsInt("-seed", "Of random meshes", NULL, seed, &seed, NULL));
  PetscCall(PetscOptionsReal("-part", "Of cells that are refined", NULL, part, &part, NULL));
  PetscCall(PetscOptionsInt("-empty", "A rank without cells", NULL, empty, &empty, NULL));
  PetscCall(PetscOptionsInt("-map", "0 boxes, 1 curved", NULL, map, &map, NULL));
  PetscCall(PetscOptionsBool("-turn", "Cells see the mesh their own way", NULL, turn, &turn, NULL));
  PetscCall(PetscOptionsBool("-essential", "Part of the boundary", NULL, essential, &essential, NULL));
  PetscCall(PetscOptionsBool("-everywhere", "All of the boundary", NULL, everywhere, &everywhere, NULL));
  PetscCall(PetscOptionsBool("-numbers", "Prints them", NULL, k->numbers, &k->numbers, NULL));
  PetscCall(PetscOptionsEList("-orders", "Of the cells", NULL, kinds, 3, kinds[kind], &kind, NULL));
  PetscOptionsEnd();
  PetscCall(HangCreate(k->dim, roots, PETSC_FALSE, finest, &k->mesh));
  k->mesh.seed = (unsigned)seed;
  PetscCall(HangAdapt(&k->mesh, 0, finest, part, NULL));
  PetscCall(HangList(&k->mesh, turn));
  PetscCall(
    HangArraysCreate(&k->mesh, k->p, map ? Map : NULL, everywhere ? HangEverywhere : (essential ? Left : NULL), empty, &k->a));
  PetscCall(HangSpace(&k->mesh, k->p, &k->a, &k->space));
  PetscCall(PetscMalloc1(k->a.nc, &k->orders));
  for (PetscInt c = 0, i = 0; c < k->mesh.n; ++c) { /* those of all cells, whatever the ranks */
    const PetscInt random = k->least + (PetscInt)(HangRandom(&k->mesh) * (k->p - k->least + 1)),
                   layer  = k->p - k->mesh.cell[c].level;
    const PetscInt q      = kind == 0 ? random : (kind == 1 ? k->p : PetscMax(layer, k->least));

    if (c >= k->a.first && c < k->a.first + k->a.nc) k->orders[i++] = PetscMin(q, k->p);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CaseDestroy(Case *k)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(k->orders));
  PetscCall(HopsSpaceDestroy(&k->space));
  PetscCall(HangArraysDestroy(&k->a));
  PetscCall(HangDestroy(&k->mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
static PetscErrorCode Values(const Case *k, Vec y, PetscScalar e[])
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
static PetscErrorCode Remainder(const Case *k, PetscInt q, const PetscScalar e[], PetscScalar d[])
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
static PetscErrorCode Count(const Case *k, PetscInt *n)
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

static PetscErrorCode Functions(Case *k)
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
  PetscCall(Differ(z, y, &e));
  PetscCall(Say("as a matrix", e, 1e-12));
  PetscCall(PetscMalloc2(k->a.nc * np, &v, np, &d));
  PetscCall(Values(k, y, v));
  for (PetscInt c = 0; c < k->a.nc; ++c) {
    PetscCall(Remainder(k, k->orders[c], v + c * np, d));
    for (PetscInt i = 0; i < np; ++i) worst = TestWorse(worst, PetscAbsScalar(d[i]));
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &worst, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(Say("orders in cells", worst, 1e-11));
  PetscCall(VecNorm(y, NORM_2, &length));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a random function is %s\n", length > 0.1 ? "one" : "ZERO"));
  PetscCall(HopsHPSpaceInterpolate(hp, Poly, &q, x));
  PetscCall(HopsHPSpaceProlong(hp, x, y));
  PetscCall(HopsSpaceInterpolate(k->space, Poly, &q, z));
  PetscCall(Differ(y, z, &e));
  PetscCall(Say("polynomials", e, 1e-12));
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
static PetscErrorCode SetTerms(const Case *k, PetscInt n, const Mat A[])
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
static PetscErrorCode Compare(const Case *k, HopsHPSpace hp, Mat M, Mat A)
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
  PetscCall(Differ(y, z, &e));
  PetscCall(Say("assembled", e, 1e-12));
  PetscCall(MatMultTranspose(M, x, z));
  PetscCall(Differ(y, z, &e));
  PetscCall(Say("transposed", e, 1e-12));
  PetscCall(HopsHPSpaceComputeRHS(hp, Poly, &q, y));
  PetscCall(HopsSpaceComputeRHS(k->space, Poly, &q, t));
  PetscCall(MatMultTranspose(P, t, z));
  PetscCall(VecZeroEntries(g));
  PetscCall(MatHopsPtAPLiftEssential(M, g, y));
  PetscCall(MatHopsPtAPLiftEssential(M, g, z));
  PetscCall(Differ(y, z, &e));
  PetscCall(Say("right-hand side", e, 1e-12));
  /* what is lifted, with zero values, keeps the free part */
  PetscCall(VecZeroEntries(g));
  PetscCall(VecCopy(x, z));
  PetscCall(MatHopsPtAPLiftEssential(M, g, z));
  PetscCall(MatMult(M, z, y));
  PetscCall(MatMult(P, z, t));
  PetscCall(MatMult(A, t, s)); /* essential entries of t are zero */
  PetscCall(MatMultTranspose(P, s, z));
  PetscCall(MatHopsPtAPLiftEssential(M, g, z));
  PetscCall(Differ(y, z, &e));
  PetscCall(Say("product", e, 1e-12));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&t));
  PetscCall(VecDestroy(&s));
  PetscCall(VecDestroy(&g));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Operator(Case *k)
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

/* ----------------------------------------- solves, spectra ----------------------------------------- */

static PetscErrorCode Laplacian(HopsHPSpace hp, Mat *M)
{
  const PetscScalar one = 1.0;
  HopsCoefficient   kappa;
  const Mat        *A;
  PetscInt          n;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &kappa));
  PetscCall(HopsHPSpaceCreateMat(hp, M));
  PetscCall(MatHopsPtAPGetMats(*M, &n, &A, NULL));
  for (PetscInt i = 0; i < n; ++i) PetscCall(MatPASetDiffusion(A[i], kappa));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Case *k)
{
  PetscInt    its, q = PetscMin(k->least, 2), N;
  PetscReal   error;
  HopsHPSpace hp;
  Mat         M;
  Vec         x, b, g, y;

  PetscFunctionBeginUser;
  PetscCall(HopsHPSpaceCreate(k->space, k->orders, &hp));
  PetscCall(Laplacian(hp, &M));
  PetscCall(HopsHPSpaceCreateVec(hp, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(x, &g));
  PetscCall(HopsSpaceCreateVec(k->space, &y));
  PetscCall(HopsHPSpaceInterpolate(hp, Poly, &q, g));
  PetscCall(HopsHPSpaceComputeRHS(hp, PolySource, &q, b));
  PetscCall(MatHopsPtAPLiftEssential(M, g, b));
  PetscCall(TestSolve(M, b, x, KSP_NORM_NATURAL, 1e-12, 200, &its));
  PetscCall(HopsHPSpaceProlong(hp, x, y));
  PetscCall(HopsSpaceComputeL2Error(k->space, y, Poly, &q, &error));
  PetscCall(Say("solution", error, 1e-9));
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
static PetscErrorCode Switch(const Case *k, KSP ksp, Mat M)
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
static PetscErrorCode Again(Case *k)
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
  PetscCall(Laplacian(hp, &M));
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
static PetscErrorCode Spectrum(Case *k)
{
  PetscReal   in[2] = {PETSC_MAX_REAL, 0.0}, b[2] = {0.0, 0.0}, *lambda;
  PetscInt    N, *keep, n = 0;
  HopsHPSpace hp;
  Mat         M;
  Vec         x, g;

  PetscFunctionBeginUser;
  PetscCall(HopsHPSpaceCreate(k->space, k->orders, &hp));
  PetscCall(Laplacian(hp, &M));
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
static PetscErrorCode Constrained(const Case *k)
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
    PetscCall(Poly(2, at, 1, &u, &q));
    PetscCall(VecSetValue(g, i, u, INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(g));
  PetscCall(VecAssemblyEnd(g));
  PetscCall(MatCreateHopsPtAP(PETSC_COMM_SELF, 1, &A, &L, ness, ess, &M));
  PetscCall(VecDuplicate(g, &b));
  PetscCall(VecDuplicate(g, &y));
  PetscCall(HopsSpaceComputeRHS(space, PolySource, &q, full));
  PetscCall(MatMultTranspose(L, full, b));
  PetscCall(MatHopsPtAPLiftEssential(M, g, b));
  PetscCall(TestSolve(M, b, y, KSP_NORM_NATURAL, 1e-12, 200, &its));
  PetscCall(MatMult(L, y, full));
  PetscCall(HopsSpaceComputeL2Error(space, full, Poly, &q, &error));
  PetscCall(Say("solution", error, 1e-9));
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

/* -------------------------------------------- what is refused
   -------------------------------------------- */

static PetscErrorCode RefusedSpaces(Case *k)
{
  const PetscInt was = k->orders[0];
  HopsHPSpace    hp;
  HopsSpace      other;
  DM             dm;

  PetscFunctionBeginUser;
  EXPECT("no orders", HopsHPSpaceCreate(k->space, NULL, &hp), "NULL");
  k->orders[0] = 0;
  EXPECT("an order of 0", HopsHPSpaceCreate(k->space, k->orders, &hp), "cell 0|at least 1");
  k->orders[0] = k->p + 1;
  EXPECT("an order above the mesh's", HopsHPSpaceCreate(k->space, k->orders, &hp), "cell 0|at most");
  k->orders[0] = was;
  PetscCall(TestMesh(PETSC_COMM_SELF, PETSC_FALSE, &dm));
  PetscCall(HopsSpaceCreateH1(dm, k->p, NULL, 0, NULL, &other));
  EXPECT("a DMPlex", HopsHPSpaceCreate(other, k->orders, &hp), "HopsSpaceCreateAdaptiveFromArrays");
  PetscCall(HopsSpaceDestroy(&other));
  PetscCall(HopsSpaceCreateL2(dm, k->p, &other));
  EXPECT("L2", HopsHPSpaceCreate(other, k->orders, &hp), "H1");
  PetscCall(HopsSpaceDestroy(&other));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One cell of order 3 whose lower edge is essential in part */
static PetscErrorCode RefusedEdges(void)
{
  const PetscInt some[3][2] = {{1, 1}, {1, 2}, {2, 2}};
  PetscInt       nodes[16], order;
  PetscReal      coords[32], z[4];
  HopsSpace      space;
  HopsHPSpace    hp;

  PetscFunctionBeginUser;
  PetscCall(TestGLL(4, z));
  for (PetscInt i = 0; i < 16; ++i) {
    nodes[i]          = i;
    coords[2 * i]     = z[i % 4];
    coords[2 * i + 1] = z[i / 4];
  }
  for (PetscInt k = 0; k < 3; ++k)
    for (order = 1; order < 4; ++order) {
      PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_SELF, 2, 3, 1, 16, nodes, coords, 2, some[k], &space));
      EXPECT("half an edge", HopsHPSpaceCreate(space, &order, &hp), "Cell 0|whole edges");
      PetscCall(HopsSpaceDestroy(&space));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RefusedSums(Case *k)
{
  HopsHPSpace     hp;
  Mat             M, S;
  const Mat      *A, *P;
  PetscInt        n, bad = -1, *marks, *orders;
  PC              pc;
  Vec             x, y;
  HopsCoefficient kappa;

  const PetscScalar one = 1.0;

  PetscFunctionBeginUser;
  PetscCall(HopsHPSpaceCreate(k->space, k->orders, &hp));
  PetscCall(Laplacian(hp, &M));
  PetscCall(MatHopsPtAPGetMats(M, &n, &A, &P));
  EXPECT("no operators", MatCreateHopsPtAP(PETSC_COMM_SELF, 0, A, P, 0, NULL, &S), "one or more");
  EXPECT("another part's P", MatCreateHopsPtAP(PETSC_COMM_SELF, 1, A, P + 1, 0, NULL, &S), "a row for each unknown");
  EXPECT("an essential unknown below 0", MatCreateHopsPtAP(PETSC_COMM_SELF, n, A, P, 1, &bad, &S), "unknown -1|owns");
  PetscCall(HopsHPSpaceCreateVec(hp, &x));
  EXPECT("a diagonal", MatGetDiagonal(M, x), "diagonal");
  EXPECT("entries", MatSetValue(M, 0, 0, 1.0, INSERT_VALUES), "");
  PetscCall(HopsSpaceCreateVec(k->space, &y));
  EXPECT("a vector of the mesh's space", HopsHPSpaceInterpolate(hp, Poly, &n, y), "HopsHPSpaceCreateVec");
  PetscCall(VecDestroy(&y));
  PetscCall(HopsSpaceCreateCellVec(k->space, &y));
  PetscCall(MatCreatePA(k->space, &S));
  EXPECT("averages of fluxes", HopsHPSpaceEstimateError(hp, S, x, HOPS_ESTIMATE_ZZ, NULL, NULL, NULL, y), "HOPS_ESTIMATE_KELLY");
  PetscCall(MatDestroy(&S));
  PetscCall(VecDestroy(&y));
  PetscCall(MatCreate(PETSC_COMM_SELF, &S));
  PetscCall(MatSetSizes(S, 3, 3, 3, 3));
  PetscCall(MatSetType(S, MATHOPSPTAP));
  EXPECT("a sum of none", MatHopsPtAPGetMats(S, &n, NULL, NULL), "MatCreateHopsPtAP");
  PetscCall(MatDestroy(&S));
  PetscCall(PetscMalloc2(k->a.nc, &marks, k->a.nc, &orders));
  EXPECT("a highest order of 0", HopsHPSpaceMark(hp, x, PETSC_DEFAULT, 0, marks, orders), "from 1 to 64");
  EXPECT("a negative decay", HopsHPSpaceMark(hp, x, -1.0, 4, marks, orders), "positive");
  PetscCall(PetscFree2(marks, orders));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &one, &kappa));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, M, M));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCLORSetCoefficients(pc, kappa, NULL));
  EXPECT("coefficients", PCSetUp(pc), "leave out PCLORSetSpace|PCLORSetCoefficients");
  PetscCall(PCDestroy(&pc));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, M, M));
  PetscCall(PCSetType(pc, PCPATCHFD));
  EXPECT("patches", PCSetUp(pc), "PCLOR|pc_type lor");
  PetscCall(PCDestroy(&pc));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, M, M));
  PetscCall(PCSetType(pc, PCHOPSMG));
  EXPECT("multigrid", PCSetUp(pc), "PCLOR|pc_type lor");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatScale(A[0], 2.0));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, M, M));
  PetscCall(PCSetType(pc, PCLOR));
  EXPECT("a scaled operator", PCSetUp(pc), "hopsptap|MatScale");
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&M));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsHPSpaceDestroy(&hp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const whats[] = {"functions", "operator", "solve", "spectrum", "constrained", "refused", "again"};
  PetscInt          what    = 0;
  Case              k;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-what", whats, 7, &what, NULL));
  PetscCall(CaseCreate(&k));
  if (what == 0) PetscCall(Functions(&k));
  else if (what == 1) PetscCall(Operator(&k));
  else if (what == 2) PetscCall(Solve(&k));
#if !defined(PETSC_USE_COMPLEX)
  else if (what == 3) PetscCall(Spectrum(&k));
#endif
  else if (what == 4) PetscCall(Constrained(&k));
  else if (what == 6) PetscCall(Again(&k));
  else if (what == 5) {
    PetscCall(RefusedSpaces(&k));
    PetscCall(RefusedEdges());
    PetscCall(RefusedSums(&k));
  }
  PetscCall(CaseDestroy(&k));
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

  testset:
    requires: hypre
    args: -what solve -everywhere -turn

    test:
      suffix: solve_2d
      nsize: {{1 2 3 4}}
      args: -order 6 -finest 4 -orders {{random layers}separate output}

    test:
      suffix: solve_3d
      nsize: {{1 2 3}}
      args: -dim 3 -order 5 -least 2 -part 0.2

  testset:
    requires: real
    args: -what spectrum -everywhere -turn
    output_file: output/hp_spectrum.out

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

  test:
    suffix: refused
    args: -what refused -order 3

TEST*/
