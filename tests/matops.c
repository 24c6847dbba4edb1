static char help[] = "Operators of hops as PETSc matrices: what MatScale() and the like make of them against the assembled matrix, "
                     "and operations that they do not have.\n\n";

#define PETSC_SILENCE_DEPRECATION_WARNINGS_3_20_0 /* MatChop() */
#include "hopsexpect.h"
#include <petscds.h>
#include <petscfe.h>
#include <petscsnes.h>

/* relative difference of two vectors; b may be zero */
static PetscErrorCode Differ(Vec a, Vec b, const char what[], const char operation[])
{
  PetscReal n, e;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(b, NORM_2, &n));
  PetscCall(VecAXPY(a, -1.0, b));
  PetscCall(VecNorm(a, NORM_2, &e));
  if (!(e <= 1e-12 * n) && e != 0.0)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s: relative difference %g\n", what, operation, (double)(e / n)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define BOTH(name, first, second) \
  do { \
    PetscCall(first); \
    PetscCall(second); \
    PetscCall(Differ(y, z, what, name)); \
  } while (0)

static PetscErrorCode Conversions(Mat A, Mat R, Vec x, Vec y, Vec z, const char what[])
{
  const MatType types[2] = {MATAIJ, MATDENSE};
  Mat           B;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(MatConvert(A, types[i], MAT_INITIAL_MATRIX, &B));
    BOTH("MatConvert()", MatMult(B, x, y), MatMult(R, x, z));
    PetscCall(MatConvert(A, types[i], MAT_REUSE_MATRIX, &B));
    BOTH("MatConvert(,MAT_REUSE_MATRIX,)", MatMult(B, x, y), MatMult(R, x, z));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* products, diagonals and conversions of A against those of the assembled R */
static PetscErrorCode Compare(Mat A, Mat R, const char what[])
{
  Vec         x, y, z, w;
  PetscRandom r;
  Mat         B;
  IS          is;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(R, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecDuplicate(y, &w));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(VecSetRandom(x, r));
  PetscCall(VecSetRandom(w, r));
  BOTH("MatMult()", MatMult(A, x, y), MatMult(R, x, z));
  BOTH("MatMultTranspose()", MatMultTranspose(A, x, y), MatMultTranspose(R, x, z));
  BOTH("MatMultAdd()", MatMultAdd(A, x, w, y), MatMultAdd(R, x, w, z));
  BOTH("MatMultTransposeAdd()", MatMultTransposeAdd(A, x, w, y), MatMultTransposeAdd(R, x, w, z));
  BOTH("MatGetDiagonal()", MatGetDiagonal(A, y), MatGetDiagonal(R, z));
  PetscCall(Conversions(A, R, x, y, z, what));
  PetscCall(MatDuplicate(R, MAT_DO_NOT_COPY_VALUES, &B));
  PetscCall(MatCopy(A, B, SAME_NONZERO_PATTERN));
  BOTH("MatCopy() to aij", MatMult(B, x, y), MatMult(R, x, z));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  BOTH("MatDuplicate()", MatMult(B, x, y), MatMult(R, x, z));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &B));
  PetscCall(MatAXPY(B, 1.0, A, SAME_NONZERO_PATTERN));
  BOTH("MatDuplicate() without values and MatAXPY()", MatMult(B, x, y), MatMult(R, x, z));
  PetscCall(MatCopy(A, B, SAME_NONZERO_PATTERN));
  BOTH("MatCopy()", MatMult(B, x, y), MatMult(R, x, z));
  PetscCall(MatDestroy(&B));
  PetscCall(MatGetOwnershipIS(A, &is, NULL));
  PetscCall(MatCreateSubMatrix(A, is, is, MAT_INITIAL_MATRIX, &B));
  BOTH("MatCreateSubMatrix()", MatMult(B, x, y), MatMult(R, x, z));
  PetscCall(ISDestroy(&is));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const changes[] = {"nothing",
                                      "MatScale()",
                                      "MatShift()",
                                      "MatDiagonalScale()",
                                      "MatDiagonalScale(,NULL,)",
                                      "MatDiagonalSet(,ADD_VALUES)",
                                      "MatDiagonalSet(,INSERT_VALUES)",
                                      "MatZeroRows()",
                                      "MatZeroRowsColumns()",
                                      "MatZeroEntries()",
                                      "MatAXPY()"};

#define NCHANGES ((PetscInt)PETSC_STATIC_ARRAY_LENGTH(changes))

/* the change k, with vectors u, v, a matrix X and right-hand side b */
static PetscErrorCode Change(PetscInt k, Mat A, Vec u, Vec v, Mat X, Vec b)
{
  const PetscInt rows[3] = {3, 7, 1};
  PetscMPIInt    rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (k == 1) PetscCall(MatScale(A, 2.0));
  if (k == 2) PetscCall(MatShift(A, 3.0));
  if (k == 3) PetscCall(MatDiagonalScale(A, u, v));
  if (k == 4) PetscCall(MatDiagonalScale(A, NULL, v));
  if (k == 5) PetscCall(MatDiagonalSet(A, u, ADD_VALUES));
  if (k == 6) PetscCall(MatDiagonalSet(A, v, INSERT_VALUES));
  if (k == 7) PetscCall(MatZeroRows(A, rank ? 0 : 3, rows, 1.5, u, b)); /* other ranks' too */
  if (k == 8) PetscCall(MatZeroRowsColumns(A, rank ? 0 : 3, rows, 0.5, u, b));
  if (k == 9) PetscCall(MatZeroEntries(A));
  if (k == 10) PetscCall(MatAXPY(A, -0.5, X, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* every change after every other one, on an operator and on its assembled matrix */
static PetscErrorCode Algebra(Mat A, const char name[])
{
  Mat         F, X;
  Vec         u, v, b, c;
  PetscRandom r;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &F));
  PetscCall(MatSetOption(F, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  PetscCall(MatDuplicate(F, MAT_COPY_VALUES, &X));
  PetscCall(MatShift(X, 0.3));
  PetscCall(MatCreateVecs(F, &u, &v));
  PetscCall(VecDuplicate(v, &b));
  PetscCall(VecDuplicate(v, &c));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(PetscRandomSetInterval(r, 1.0, 2.0));
  PetscCall(VecSetRandom(u, r));
  PetscCall(VecSetRandom(v, r));
  for (PetscInt i = 0; i < NCHANGES; ++i)
    for (PetscInt j = i ? 1 : 0; j < NCHANGES; ++j) {
      const PetscInt list[3] = {i, j, i}; /* the first once more */
      Mat            B, R;
      char           what[160];

      PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
      PetscCall(MatDuplicate(F, MAT_COPY_VALUES, &R));
      PetscCall(MatSetOption(R, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
      PetscCall(VecSet(b, 1.0));
      PetscCall(VecSet(c, 1.0));
      for (PetscInt k = 0; k < 3; ++k) {
        PetscCall(Change(list[k], B, u, v, X, b));
        PetscCall(Change(list[k], R, u, v, X, c));
      }
      PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %s, %s", name, changes[i], changes[j]));
      PetscCall(Differ(b, c, what, "right-hand side"));
      PetscCall(Compare(B, R, what));
      PetscCall(MatDestroy(&B));
      PetscCall(MatDestroy(&R));
    }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " pairs of changes done\n", name,
                        (NCHANGES - 1) * (NCHANGES - 1) + NCHANGES));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&X));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&c));
  PetscCall(PetscRandomDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* every solver that reads rows, blocks or graphs of its matrix says so or works: none may crash; the number
   of refusals shows that they were reached */
static PetscErrorCode Preconditioners(Mat A, const char name[])
{
  static const char *const types[] = {PCJACOBI,    PCBJACOBI,   PCASM,      PCGASM,      PCSOR,          PCILU,
                                      PCICC,       PCLU,        PCCHOLESKY, PCKACZMARZ,  PCREDISTRIBUTE, PCREDUNDANT,
                                      PCTELESCOPE, PCGAMG,      PCHYPRE,    PCPBJACOBI,  PCVPBJACOBI,    PCMAT,
                                      PCSVD,       PCEISENSTAT, PCCP,       PCDEFLATION, PCBDDC};
  PetscInt                 works = 0, refused = 0;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(types); ++i) {
    PC             pc;
    Vec            b, x; /* of its own: an error inside of PCApply() leaves them locked */
    PetscErrorCode ierr;

    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(PetscPushErrorHandler(Catch, NULL));
    ierr = PCCreate(PETSC_COMM_WORLD, &pc);
    if (!ierr) ierr = PCSetType(pc, types[i]);
    if (!ierr) ierr = PCSetOperators(pc, A, A);
    if (!ierr) ierr = PCSetFromOptions(pc);
    if (!ierr) ierr = PCSetUp(pc);
    if (!ierr) ierr = VecSet(b, 1.0);
    if (!ierr) ierr = PCApply(pc, b, x);
    PetscCall(PetscPopErrorHandler());
    if (ierr) ++refused;
    else ++works;
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
  }
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD, "%s: preconditioners %s\n", name, works > 1 && refused > 8 ? "work or refuse" : "NOT REACHED"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* operations on entries that matrix-free operators do not have: A of hops, F its assembled matrix */
static PetscErrorCode Refused(Mat A, Mat F, const char name[])
{
  PetscInt           n, start;
  const PetscInt    *cols;
  const PetscScalar *vals;
  Vec                d;
  Mat                B = NULL, C;
  PetscBool          has;

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "-- %s\n", name));
  PetscCall(MatGetOwnershipRange(A, &start, NULL));
  PetscCall(MatCreateVecs(F, NULL, &d));
  PetscCall(MatHasOperation(A, MATOP_GET_ROW, &has));
  PetscCheck(!has, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "MatHasOperation() finds a MatGetRow() that refuses");
  EXPECT("MatGetRow()", MatGetRow(A, start, &n, &cols, &vals), "MatConvert(A, MATAIJ|assembles");
  EXPECT("MatAXPY() to aij", MatAXPY(F, 1.0, A, DIFFERENT_NONZERO_PATTERN), "MatConvert(A, MATAIJ|assembles");
  EXPECT("MatGetColumnVector()", MatGetColumnVector(A, d, 0), "MatConvert(A, MATAIJ|assembles");
  EXPECT("MatChop()", MatChop(A, 1e-3), "MatConvert(A, MATAIJ|assembles");
  EXPECT("MatGetRowMaxAbs()", MatGetRowMaxAbs(A, d, NULL), "");
  EXPECT("MatTranspose()", MatTranspose(A, MAT_INITIAL_MATRIX, &B), "");
  EXPECT("MatPtAP()", MatPtAP(F, A, MAT_INITIAL_MATRIX, 1.0, &B), "");
  EXPECT("MatMatMult()", MatMatMult(A, F, MAT_INITIAL_MATRIX, 1.0, &B), "");
  EXPECT("MatGetFactor()", MatGetFactor(A, MATSOLVERPETSC, MAT_FACTOR_LU, &C) || MatLUFactorSymbolic(C, A, NULL, NULL, NULL), "");
  EXPECT("MatCreateSubMatrices()", MatCreateSubMatrices(A, 0, NULL, NULL, MAT_INITIAL_MATRIX, NULL), "");
  EXPECT("MatSetValue()", MatSetValue(A, start, start, 1.0, ADD_VALUES),
         ""); /* last: PETSc now takes the matrix for one that is being assembled */
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Two(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = 1.0 + x[0];
  return PETSC_SUCCESS;
}

/* operators of a space; family: 0 H1, 1 H(curl) */
static PetscErrorCode Create(DM dm, PetscInt order, PetscInt family, HopsSpace *sp, Mat *A)
{
  HopsCoefficient c;
  DMLabel         label;
  PetscInt        one = 1;

  PetscFunctionBeginUser;
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, Two, NULL, &c));
  if (family) PetscCall(HopsSpaceCreateHCurl(dm, order, label, 1, &one, sp));
  else PetscCall(HopsSpaceCreateH1(dm, order, label, 1, &one, sp));
  PetscCall(MatCreatePA(*sp, A));
  if (family) PetscCall(MatPASetCurlCurl(*A, c));
  else PetscCall(MatPASetDiffusion(*A, c));
  PetscCall(MatPASetMass(*A, c));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void G0(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[],
               const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[],
               const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, PetscReal shift,
               const PetscReal x[], PetscInt nconst, const PetscScalar consts[], PetscScalar g[])
{
  for (PetscInt i = 0; i < 4; ++i) g[i] = 1.0 + i + u[0]; /* nonsymmetric, and depends on the state */
}

static void G3(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[],
               const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[],
               const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, PetscReal shift,
               const PetscReal x[], PetscInt nconst, const PetscScalar consts[], PetscScalar g[])
{
  for (PetscInt c = 0; c < 2; ++c)
    for (PetscInt d = 0; d < 2; ++d) g[((c * 2 + c) * 2 + d) * 2 + d] = 1.0 + x[d];
}

/* the Jacobian of a PetscDS of two components, which the next evaluation makes anew */
static PetscErrorCode Jacobian(DM mesh)
{
  DM      dm;
  PetscFE fe;
  PetscDS ds;
  SNES    snes;
  Vec     x;
  Mat     A, F;

  PetscFunctionBeginUser;
  PetscCall(DMClone(mesh, &dm));
  PetscCall(PetscFECreateLagrange(PETSC_COMM_SELF, 2, 2, PETSC_FALSE, 2, PETSC_DETERMINE, &fe));
  PetscCall(DMAddField(dm, NULL, (PetscObject)fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMCreateDS(dm));
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, G0, NULL, NULL, G3));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, dm));
  PetscCall(HopsDMPlexSetSNESLocalFEM(dm));
  PetscCall(DMSetMatType(dm, MATPA));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(VecSet(x, 0.5));
  PetscCall(SNESSetUp(snes));
  PetscCall(SNESComputeJacobian(snes, x, A, A));
  PetscCall(Algebra(A, "PetscDS"));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &F));
  PetscCall(MatShift(A, 2.0));
  PetscCall(MatZeroEntries(A));
  PetscCall(SNESComputeJacobian(snes, x, A, A));
  PetscCall(Compare(A, F, "a Jacobian evaluated anew"));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(SNESDestroy(&snes));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a new term, MatCopy() and preconditioners of a changed operator */
static PetscErrorCode Changed(DM dm)
{
  HopsSpace       sp, other;
  HopsCoefficient c;
  PetscScalar     two = 2.0;
  Mat             A, B, D, P;
  Vec             x, b;
  PC              pc;

  PetscFunctionBeginUser;
  PetscCall(Create(dm, 3, 0, &sp, &A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &P));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(x, 1.0));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &two, &c));
  PetscCall(MatShift(A, 1.0));
  EXPECT("MatPALiftEssential() after MatShift()", MatPALiftEssential(A, b), "MatShift()|MatDuplicate()");
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, PCLOR));
  EXPECT("PCLOR after MatShift()", PCSetUp(pc), "PCLOR is built on the form|MatPASetMass()|MatDuplicate()");
  PetscCall(PCSetType(pc, PCPATCHFD));
  EXPECT("PCPATCHFD after MatShift()", PCSetUp(pc), "PCPATCHFD is built on the form|MatPASetMass()");
  PetscCall(PCSetType(pc, PCHOPSMG));
  EXPECT("PCHOPSMG after MatShift()", PCSetUp(pc), "PCHOPSMG is built on the form|MatPASetMass()");
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, A, P));
  PetscCall(PCSetUp(pc)); /* the plain form preconditions the shifted one */
  PetscCall(MatShift(A, -1.0));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc)); /* undone */
  PetscCall(MatScale(A, 2.0));
  PetscCall(PCSetUp(pc)); /* as good as that of the form */
  PetscCall(PCSetType(pc, PCPATCHFD));
  EXPECT("PCPATCHFD after MatScale()", PCSetUp(pc), "PCPATCHFD is built on the form");
  PetscCall(MatScale(A, -1.0));
  PetscCall(PCSetType(pc, PCLOR));
  EXPECT("PCLOR after MatScale(,-1)", PCSetUp(pc), "PCLOR is built on the form");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatPASetMass(A, c));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatPASetMass(P, c));
  PetscCall(Compare(P, B, "a new term after changes"));
  PetscCall(MatDestroy(&B));
  EXPECT("MatConvert() to pa",
         MatConvert(D = P, MATPA, MAT_INITIAL_MATRIX, &B) || MatConvert(B, MATAIJ, MAT_INITIAL_MATRIX, &D) ||
           MatConvert(D, MATPA, MAT_INITIAL_MATRIX, &B),
         "has no form|MatCreatePA()");
  PetscCall(Create(dm, 3, 0, &other, &D));
  EXPECT("MatCopy() to another space", MatCopy(A, D, SAME_NONZERO_PATTERN), "MatDuplicate()");
  PetscCall(MatDestroy(&D));
  PetscCall(MatCreatePA(sp, &D));
  PetscCall(MatPASetDiffusion(D, c));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatCopy(A, D, SAME_NONZERO_PATTERN));
  PetscCall(Compare(D, B, "MatCopy() to an operator with another form"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM        dm;
  HopsSpace sp, coarse;
  Mat       A, F, P;
  IS        is;
  Vec       x, y, z;
  PetscBool refused = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-refused", &refused, NULL));
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_TRUE, &dm));
  if (!refused) {
    for (PetscInt family = 0; family < 2; ++family) {
      PetscCall(Create(dm, 2, family, &sp, &A));
      PetscCall(Algebra(A, family ? "H(curl)" : "H1"));
      PetscCall(MatDestroy(&A));
      PetscCall(HopsSpaceDestroy(&sp));
    }
    PetscCall(Jacobian(dm));
  } else {
    PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump")); /* what a raised error left half made is not freed */
    PetscCall(Changed(dm));
    PetscCall(Create(dm, 2, 0, &sp, &A));
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &F));
    PetscCall(Preconditioners(A, "MATPA"));
    PetscCall(Refused(A, F, "MATPA"));
    PetscCall(Create(dm, 2, 0, &sp, &A));
    PetscCall(MatGetOwnershipIS(A, &is, NULL));
    PetscCall(MatCreateSubMatrix(A, is, is, MAT_INITIAL_MATRIX, &P));
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &F));
    PetscCall(Refused(P, F, "submatrix"));
    PetscCall(Create(dm, 2, 0, &coarse, &F));
    PetscCall(MatCreateHopsInterp(coarse, sp, &P));
    PetscCall(MatConvert(P, MATAIJ, MAT_INITIAL_MATRIX, &F));
    PetscCall(MatCreateVecs(P, &x, &y));
    PetscCall(VecDuplicate(y, &z));
    PetscCall(VecSetRandom(x, NULL));
    PetscCall(Conversions(P, F, x, y, z, "MATHOPSINTERP"));
    PetscCall(Refused(P, F, "MATHOPSINTERP"));
  }
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: host
    args: -dm_plex_dim 2 -dm_plex_box_faces 2,2

    test:
      suffix: algebra
      nsize: {{1 3}}

    test:
      suffix: refused
      nsize: {{1 2}}
      args: -refused -malloc_dump 0

TEST*/
