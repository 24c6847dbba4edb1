static char help[] =
  "Complex scalars: real operators act on real and imaginary parts, complex factors, PCLOR, fields, refused input.\n\
  -family <h1,hcurl,hdiv,l2> -order <p> -components <n: of a PetscFE, with full tensors> -refuse\n\n";

#include "hopsexpect.h"
#include <petscds.h>
#include <petscsnes.h>

#if defined(PETSC_USE_COMPLEX)

static PetscErrorCode Check(const char name[], Vec y, Vec z, PetscReal tol)
{
  PetscReal e, n;
  Vec       d;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(y, &d));
  PetscCall(VecWAXPY(d, -1.0, y, z));
  PetscCall(VecNorm(z, NORM_2, &n));
  PetscCall(VecNorm(d, NORM_2, &e));
  PetscCall(VecDestroy(&d));
  if (e <= tol * n && n > 0.0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: same\n", name));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: relative difference %g, norm %g\n", name, (double)(e / n), (double)n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* random real numbers, the same in each part of two vectors: w = x + i y */
static PetscErrorCode RandomParts(Vec w, Vec x, Vec y)
{
  PetscRandom r;

  PetscFunctionBeginUser;
  PetscCall(PetscRandomCreate(PetscObjectComm((PetscObject)w), &r));
  PetscCall(PetscRandomSetInterval(r, -1.0, 1.0));
  PetscCall(VecSetRandom(x, r));
  PetscCall(VecSetRandom(y, r));
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(VecRealPart(x));
  PetscCall(VecRealPart(y));
  PetscCall(VecWAXPY(w, PETSC_i, y, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v = x + i y, and what is left of x and y when f() was applied to them as real vectors */
static PetscErrorCode CheckLinear(const char name[], PetscErrorCode (*f)(void *, Vec, Vec), void *ctx, Vec like, PetscReal tol)
{
  Vec w, x, y, fw, fx, fy;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(like, &w));
  PetscCall(VecDuplicate(like, &x));
  PetscCall(VecDuplicate(like, &y));
  PetscCall(VecDuplicate(like, &fw));
  PetscCall(VecDuplicate(like, &fx));
  PetscCall(VecDuplicate(like, &fy));
  PetscCall(RandomParts(w, x, y));
  PetscCall((*f)(ctx, w, fw));
  PetscCall((*f)(ctx, x, fx));
  PetscCall((*f)(ctx, y, fy));
  PetscCall(VecCopy(fx, w));
  PetscCall(VecRealPart(w));
  PetscCall(Check(name, fx, w, 1e-15)); /* real vectors stay real */
  PetscCall(VecAXPY(fx, PETSC_i, fy));
  PetscCall(Check(name, fw, fx, tol));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&fw));
  PetscCall(VecDestroy(&fx));
  PetscCall(VecDestroy(&fy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Mult(void *A, Vec x, Vec y)
{
  return MatMult((Mat)A, x, y);
}

static PetscErrorCode Apply(void *pc, Vec x, Vec y)
{
  return PCApply((PC)pc, x, y);
}

/* products, transposed products and diagonal against those of B */
static PetscErrorCode CheckAssembled(const char name[], Mat A, Mat B)
{
  char        title[128];
  Vec         x, y, z;
  PetscRandom r;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(PetscRandomCreate(PetscObjectComm((PetscObject)A), &r));
  PetscCall(PetscRandomSetInterval(r, -1.0 - PETSC_i, 1.0 + PETSC_i));
  PetscCall(VecSetRandom(x, r));
  PetscCall(PetscRandomDestroy(&r));
  for (PetscInt k = 0; k < 4; ++k) {
    static const char *const what[] = {"product", "transposed product", "Hermitian product", "diagonal"};

    if (k == 0) PetscCall(MatMult(A, x, y));
    else if (k == 1) PetscCall(MatMultTranspose(A, x, y));
    else if (k == 2) PetscCall(MatMultHermitianTranspose(A, x, y));
    else PetscCall(MatGetDiagonal(A, y));
    if (k == 0) PetscCall(MatMult(B, x, z));
    else if (k == 1) PetscCall(MatMultTranspose(B, x, z));
    else if (k == 2) PetscCall(MatMultHermitianTranspose(B, x, z));
    else PetscCall(MatGetDiagonal(B, z));
    PetscCall(PetscSNPrintf(title, sizeof(title), "%s, %s", name, what[k]));
    PetscCall(Check(title, y, z, 1e-13));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------- operators and preconditioner ---------------------------------- */

/* On faces 3 */
static PetscErrorCode AddRobin(HopsSpace sp, DMLabel label, HopsCoefficient alpha, Mat A)
{
  PetscInt n, *cells, *faces;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetLabelFaces(sp, label, 3, &n, &cells, &faces));
  PetscCall(MatPAAddRobin(A, n, cells, faces, alpha));
  PetscCall(PetscFree(cells));
  PetscCall(PetscFree(faces));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A + (0.3 + 2 i) B, and a factor, a shift and a diagonal */
static PetscErrorCode CheckFactors(Mat A, Mat B)
{
  Mat C, D, aijB, aij[2];
  Vec d;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(B, MATAIJ, MAT_INITIAL_MATRIX, &aijB));
  for (PetscInt k = 0; k < 2; ++k) {
    if (k) PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &D));
    else PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &D));
    PetscCall(MatScale(D, 2.0 - PETSC_i));
    PetscCall(MatAXPY(D, 0.3 + 2.0 * PETSC_i, k ? aijB : B, SAME_NONZERO_PATTERN));
    PetscCall(MatShift(D, 0.1 * PETSC_i));
    PetscCall(MatCreateVecs(D, &d, NULL));
    PetscCall(VecSet(d, 1.0 - 0.5 * PETSC_i));
    PetscCall(MatDiagonalScale(D, d, NULL));
    PetscCall(VecDestroy(&d));
    aij[k] = D;
  }
  PetscCall(CheckAssembled("complex factors", aij[0], aij[1]));
  PetscCall(MatConvert(aij[0], MATAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(CheckAssembled("complex factors, converted", C, aij[1]));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&aijB));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(MatDestroy(&aij[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* linear in i; a complex right-hand side takes at most two more iterations than a real one */
static PetscErrorCode CheckPreconditioner(Mat A)
{
  KSP      ksp;
  PC       pc;
  Vec      x, b;
  PetscInt its[2];

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 80));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(CheckLinear("preconditioner", Apply, pc, x, 1e-13));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(VecSetRandom(b, NULL)); /* parts that are not multiples of each other */
    if (!k) PetscCall(VecRealPart(b));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its[k]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", its[1] <= its[0] + 2 ? "no more iterations" : "MORE ITERATIONS"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --------------------------------------------- fields --------------------------------------------- */

static PetscErrorCode Field(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) u[i] = PetscSinReal(1.0 + x[0] + i) + PETSC_i * PetscCosReal(x[1] - 0.4 * i * x[0]);
  return PETSC_SUCCESS;
}

/* the part *ctx of it, real */
static PetscErrorCode FieldPart(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  PetscCall(Field(dim, x, nc, u, NULL));
  for (PetscInt i = 0; i < nc; ++i) u[i] = *(PetscInt *)ctx ? PetscImaginaryPart(u[i]) : PetscRealPart(u[i]);
  return PETSC_SUCCESS;
}

static PetscErrorCode CheckFields(HopsSpace sp, Mat A)
{
  Vec          v[4][3]; /* see what[] below; both parts, and each of them */
  PetscReal    error[3], center[3] = {0.1, -0.2, 0.3};
  PetscScalar *e, u[3][3];
  PetscInt     n, zero = 0;
  HopsFamily   family;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetFamily(sp, &family));
  PetscCall(HopsSpaceGetNumCells(sp, &n));
  for (PetscInt k = 0; k < 3; ++k) {
    PetscInt p = k - 1;

    for (PetscInt i = 0; i < 4; ++i) PetscCall(HopsSpaceCreateVec(sp, &v[i][k]));
    PetscCall(HopsSpaceInterpolate(sp, k ? FieldPart : Field, &p, v[0][k]));
    PetscCall(HopsSpaceComputeRHS(sp, k ? FieldPart : Field, &p, v[1][k]));
    PetscCall(VecCopy(v[1][k], v[2][k]));
    PetscCall(HopsSpaceSetEssentialFunction(sp, k ? FieldPart : Field, &p));
    PetscCall(MatPALiftEssential(A, v[2][k]));
    PetscCall(PetscMalloc1(n * 1000, &e));
    PetscCall(HopsSpaceGlobalToElements(sp, v[0][k], e));
    PetscCall(HopsSpaceElementsToGlobal(sp, e, INSERT_VALUES, v[3][k]));
    PetscCall(PetscFree(e));
    if (n) PetscCall(HopsSpaceEvaluate(sp, v[0][k], 1, &zero, center, u[k]));
    else PetscCall(HopsSpaceEvaluate(sp, v[0][k], 0, NULL, NULL, u[k]));
    PetscCall(HopsSpaceComputeL2Error(sp, v[0][k], k ? FieldPart : Field, &p, &error[k]));
  }
  for (PetscInt i = 0; i < 4; ++i) {
    static const char *const what[] = {"interpolant", "right-hand side", "lifted right-hand side", "values of cells"};

    PetscCall(VecAXPY(v[i][1], PETSC_i, v[i][2]));
    PetscCall(Check(what[i], v[i][0], v[i][1], 1e-14));
    for (PetscInt k = 0; k < 3; ++k) {
      if (i == 3) PetscCall(VecDestroy(&v[0][k]));
      if (i) PetscCall(VecDestroy(&v[i][k]));
    }
  }
  for (PetscInt i = 0; n && i < (family == HOPS_HCURL || family == HOPS_HDIV ? 2 : 1); ++i)
    PetscCheck(PetscAbsScalar(u[0][i] - u[1][i] - PETSC_i * u[2][i]) <= 1e-14 * PetscAbsScalar(u[0][i]), PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "Other values at a point");
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "errors of interpolants: %s\n",
                        error[0] > 0.0 && error[0] < 0.01 &&
                            PetscAbsReal(PetscSqr(error[0]) - PetscSqr(error[1]) - PetscSqr(error[2])) < 1e-10 * PetscSqr(error[0])
                          ? "add up"
                          : "WRONG"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --------------------------------------- components, full tensors --------------------------------------- */

static void g3(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[],
               const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[],
               const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, PetscReal shift,
               const PetscReal x[], PetscInt numConstants, const PetscScalar constants[], PetscScalar g[])
{
  const PetscInt nc = uOff[1];

  for (PetscInt i = 0; i < nc; ++i)
    for (PetscInt j = 0; j < nc; ++j)
      for (PetscInt d = 0; d < dim; ++d)
        g[((i * nc + j) * dim + d) * dim + d] = (i == j ? 2.0 + x[0] : 0.3) * (numConstants ? constants[0] : 1.0);
}

static void f1(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[],
               const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[],
               const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, const PetscReal x[],
               PetscInt numConstants, const PetscScalar constants[], PetscScalar f[])
{
  for (PetscInt i = 0; i < uOff[1] * dim; ++i) f[i] = u_x[i];
}

static PetscErrorCode Zero(PetscInt dim, PetscReal time, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) u[i] = 0.0;
  return PETSC_SUCCESS;
}

static PetscErrorCode Discretise(DM dm, PetscInt nc, PetscInt order)
{
  PetscFE  fe;
  PetscDS  ds;
  DMLabel  label;
  PetscInt dim, values[6] = {1, 2, 3, 4, 5, 6};

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscFECreateLagrange(PETSC_COMM_SELF, dim, nc, PETSC_FALSE, order, PETSC_DETERMINE, &fe));
  PetscCall(DMAddField(dm, NULL, (PetscObject)fe));
  PetscCall(DMCreateDS(dm));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetResidual(ds, 0, NULL, f1));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, NULL, NULL, NULL, g3));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "wall", label, 2 * dim, values, 0, 0, NULL, (void (*)(void))Zero, NULL, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The Jacobian of a matrix type, as a SNES has it made, which the caller destroys after it */
static PetscErrorCode CreateJacobian(DM dm, MatType type, SNES *snes, Mat *J)
{
  Vec u;

  PetscFunctionBeginUser;
  PetscCall(DMSetMatType(dm, type));
  PetscCall(HopsDMPlexSetSNESLocalFEM(dm));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, snes));
  PetscCall(SNESSetDM(*snes, dm));
  PetscCall(DMCreateGlobalVector(dm, &u));
  PetscCall(VecSet(u, 0.0));
  PetscCall(DMCreateMatrix(dm, J));
  PetscCall(SNESSetSolution(*snes, u));
  PetscCall(SNESSetUp(*snes));
  PetscCall(SNESComputeJacobian(*snes, u, *J, *J));
  PetscCall(VecDestroy(&u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -dm_mat_type pa against PETSc's own assembly, and PCLOR on both */
static PetscErrorCode CheckComponents(DM dm, PetscInt nc, PetscInt order)
{
  Mat  J[2];
  SNES snes[2];

  PetscFunctionBeginUser;
  PetscCall(Discretise(dm, nc, order));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(CreateJacobian(dm, k ? MATAIJ : MATPA, &snes[k], &J[k]));
  PetscCall(CheckAssembled("components", J[0], J[1]));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(CheckPreconditioner(J[k]));
    PetscCall(MatDestroy(&J[k]));
    PetscCall(SNESDestroy(&snes[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --------------------------------------------- refused --------------------------------------------- */

static PetscErrorCode ComplexKappa(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar k[], void *ctx)
{
  k[0] = 1.0 + PETSC_i * x[0];
  return PETSC_SUCCESS;
}

static PetscErrorCode SetUp(Mat A, Mat P, const char type[], const char options[])
{
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, P));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, type));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckRefused(DM dm, PetscInt order)
{
  HopsSpace       sp;
  HopsCoefficient cf = NULL;
  PetscScalar     c  = 1.0 + PETSC_i;
  Mat             A, B, C;
  Vec             x;
  PetscDS         ds;
  SNES            snes;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateH1(dm, order, NULL, 0, NULL, &sp));
  EXPECT("constant", HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &c, &cf), "imaginary part|MatAXPY()");
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, ComplexKappa, NULL, &cf));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, cf));
  PetscCall(MatCreateVecs(A, &x, NULL));
  EXPECT("function", MatGetDiagonal(A, x), "imaginary part|MatAXPY()");
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&cf));
  c = 1.0;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &c, &cf));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, cf));
  PetscCall(MatPASetMass(A, cf));
  EXPECT("single precision", SetUp(A, A, PCHOPSMG, "-pc_hopsmg_precision single"), "complex scalars|-pc_hopsmg_precision double");
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(B, PETSC_i));
  EXPECT("a factor under PCLOR", SetUp(A, B, PCLOR, ""), "MatScale()|second matrix of KSPSetOperators()");
  PetscCall(MatConvert(B, MATAIJ, MAT_INITIAL_MATRIX, &C));
  #if defined(HOPS_HYPRE)
  EXPECT("a complex matrix under hypre", SetUp(C, C, PCHYPRE, ""), "imaginary part|second matrix of KSPSetOperators()");
  EXPECT("an option of hypre", SetUp(A, A, PCLOR, "-lor_pc_hypre_boomeramg_eu_level 2"), "-lor_pc_hypre_boomeramg_eu_level");
  PetscCall(PetscOptionsClearValue(NULL, "-lor_pc_hypre_boomeramg_eu_level"));
  #endif
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscCall(Discretise(dm, 1, order));
  PetscCall(DMGetDS(dm, &ds));
  c = PETSC_i;
  PetscCall(PetscDSSetConstants(ds, 1, &c));
  PetscCall(CreateJacobian(dm, MATPA, &snes, &A));
  PetscCall(VecDestroy(&x));
  PetscCall(MatCreateVecs(A, &x, NULL));
  EXPECT("a PetscDS", MatGetDiagonal(A, x), "imaginary part|MatAXPY()");
  PetscCall(SNESDestroy(&snes));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(HopsCoefficientDestroy(&cf));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt          order = 3, nc = 0, values[6] = {1, 2, 3, 4, 5, 6};
  HopsFamily        family  = HOPS_H1;
  PetscBool         refuse  = PETSC_FALSE;
  const char *const names[] = {"h1", "hcurl", "hdiv", "l2", "HopsFamily", "", NULL};
  DM                dm;
  DMLabel           label;
  HopsSpace         sp;
  HopsCoefficient   kappa, mass;
  Mat               A, B;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-components", &nc, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-refuse", &refuse, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-family", names, (PetscEnum *)&family, NULL));
  PetscCall(HopsInitialize());
  /* on curved faces PETSc takes the geometry of one point */
  PetscCall(TestMesh(PETSC_COMM_WORLD, nc ? PETSC_FALSE : PETSC_TRUE, &dm));
  if (refuse) PetscCall(CheckRefused(dm, order));
  else if (nc) PetscCall(CheckComponents(dm, nc, order));
  else {
    PetscCall(DMGetLabel(dm, "Face Sets", &label));
    if (family == HOPS_H1) PetscCall(HopsSpaceCreateH1(dm, order, label, 2, values, &sp));
    else if (family == HOPS_HCURL) PetscCall(HopsSpaceCreateHCurl(dm, order, label, 2, values, &sp));
    else if (family == HOPS_HDIV) PetscCall(HopsSpaceCreateHDiv(dm, order, label, 2, values, &sp));
    else PetscCall(HopsSpaceCreateL2(dm, order, &sp));
    PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestKappa, NULL, &kappa));
    PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, &mass));
    PetscCall(MatCreatePA(sp, &A));
    PetscCall(MatCreatePA(sp, &B));
    if (family == HOPS_H1) PetscCall(MatPASetDiffusion(A, kappa));
    else if (family == HOPS_HCURL) PetscCall(MatPASetCurlCurl(A, kappa));
    else if (family == HOPS_HDIV) PetscCall(MatPASetDivDiv(A, kappa));
    PetscCall(MatPASetMass(A, mass));
    PetscCall(MatPASetMass(B, kappa));
    if (family == HOPS_H1) PetscCall(AddRobin(sp, label, kappa, B));
    PetscCall(CheckFields(sp, A));
    {
      Mat aij;
      Vec x;

      PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
      PetscCall(CheckAssembled("operator", A, aij));
      PetscCall(MatCreateVecs(A, &x, NULL));
      PetscCall(CheckLinear("operator", Mult, A, x, 1e-15));
      PetscCall(VecDestroy(&x));
      PetscCall(MatDestroy(&aij));
    }
    PetscCall(CheckFactors(A, B));
    PetscCall(CheckPreconditioner(A));
    PetscCall(HopsCoefficientDestroy(&kappa));
    PetscCall(HopsCoefficientDestroy(&mass));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscCall(HopsSpaceDestroy(&sp));
  }
  PetscCall(DMDestroy(&dm));
  return PetscFinalize();
}

#else
int main(void)
{
  (void)help;
  return 0;
}
#endif

/*TEST

  build:
    requires: complex

  testset:
    nsize: {{1 3}}
    args: -family {{h1 hcurl hdiv l2}}
    test:
      suffix: 2d
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,4 -order 4
    test:
      suffix: 3d
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,3,2 -order 3

  test:
    suffix: patches
    nsize: {{1 3}}
    args: -dm_plex_dim 2 -dm_plex_box_faces 3,4 -order 4 -ksp_type gmres -pc_type patchfd
      -pc_patchfd_type {{multiplicative additive restricted}}
    output_file: output/complexscalars_2d.out

  test:
    suffix: components
    nsize: {{1 2}}
    args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,2,2 -order 2 -components {{1 2}}

  test:
    suffix: refused
    requires: hypre
    args: -dm_plex_dim 2 -dm_plex_box_faces 3,2 -order 2 -refuse -malloc_dump 0

TEST*/
