static char help[] =
  "PCLOR's inner solver. Its own V-cycle, which devices have, against hypre's on the same hierarchy: one application,\n\
  refills; on several ranks too; a singular problem is left to hypre. AMS and ADS likewise, and as solvers.\n\
  -what <boomeramg,solve,cycle: the last two with AMS and ADS> -orders <p,...: of these> -sides <essential ones: 2> -straight\n\
  -order <p> -weight <w: two levels smoothed by polynomials are compared with dense matrices, which hypre's cycle with this\n\
  weight gives> -own <false: hypre is to run all cycles, as where a rank has no unknowns>\n\n";

#include "lorcompare.h"
#include <hops/private/hopslorimpl.h>
#include <petsc/private/pcimpl.h>

/* y = M x on rank 0, with vectors of its own, against `parts` of all ranks */
static PetscErrorCode CompareOnFirst(PC first, Vec x, Vec parts, PetscBool product, PetscReal tol, PetscBool *agrees)
{
  VecScatter  scatter;
  Vec         x0, y0, u, v;
  PetscReal   n, e;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(VecScatterCreateToZero(x, &scatter, &x0));
  PetscCall(VecDuplicate(x0, &y0));
  PetscCall(VecScatterBegin(scatter, x, x0, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, x, x0, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterBegin(scatter, parts, y0, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, parts, y0, INSERT_VALUES, SCATTER_FORWARD));
  *agrees = PETSC_TRUE;
  if (!rank) {
    PetscCall(MatCreateVecs(first->pmat, &u, &v));
    PetscCall(VecCopy(x0, u));
    if (product) PetscCall(MatMult(first->pmat, u, v));
    else PetscCall(PCApply(first, u, v));
    PetscCall(VecCopy(v, x0));
    PetscCall(VecNorm(x0, NORM_2, &n));
    PetscCall(VecAXPY(y0, -1.0, x0));
    PetscCall(VecNorm(y0, NORM_2, &e));
    if (!(n > 0.0 && e <= tol * n)) *agrees = PETSC_FALSE;
    PetscCall(PetscInfo(first, "%s: difference %g of %g\n", product ? "product" : "cycle", (double)e, (double)n));
    PetscCall(VecDestroy(&u));
    PetscCall(VecDestroy(&v));
  }
  PetscCallMPI(MPI_Bcast(agrees, 1, MPIU_BOOL, 0, PETSC_COMM_WORLD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&x0));
  PetscCall(VecDestroy(&y0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is z' B x = x' B z, where y = B x? */
static PetscErrorCode IsSymmetric(PC pc, Vec x, Vec y, Vec z, PetscReal tol, PetscBool *symmetric)
{
  Vec         t;
  PetscScalar a, b;
  PetscReal   nx, nt;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(z, &t));
  PetscCall(PCApply(pc, z, t));
  PetscCall(VecDot(y, z, &a));
  PetscCall(VecDot(t, x, &b));
  PetscCall(VecNorm(x, NORM_2, &nx));
  PetscCall(VecNorm(t, NORM_2, &nt));
  PetscCall(PetscInfo(pc, "asymmetry %g\n", (double)(PetscAbsScalar(a - b) / (nx * nt))));
  *symmetric = PetscAbsScalar(a - b) <= tol * nx * nt ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(VecDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rank 0 has the matrix and runs the cycle: against its products of the whole matrix, and hypre's own cycle
   of its hierarchy */
static PetscErrorCode CompareGathered(PC pc, Mat A, const char what[])
{
  static const PCLORCycle  cycle[] = {PCLOR_CYCLE_DOUBLE, PCLOR_CYCLE_SINGLE};
  static const char *const name[]  = {"double", "single"};
  const PetscReal          tol[]   = {1e-12, 1e-5};
  PC_LOR                  *lor     = (PC_LOR *)pc->data;
  Vec                      x, y, z;
  PetscBool                agrees, symmetric;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecSetRandom(z, NULL));
  PetscCall(MatMult(lor->mat, x, y));
  PetscCall(CompareOnFirst(lor->first, x, y, PETSC_TRUE, 1e-13, &agrees));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: the first rank %s\n", what, agrees ? "has the matrix" : "HAS ANOTHER MATRIX"));
  for (PetscInt i = 0; i < 2; ++i) {
    PCLORCycle runs;
    PetscInt   spread;

    PetscCall(PCLORSetCycle(pc, cycle[i]));
    PetscCall(PCLORGetCycle(pc, &runs, &spread));
    if (runs != cycle[i] || spread || !lor->gathered)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s: the cycle is NOT the first rank's\n", what, name[i]));
    PetscCall(PCApply(pc, x, y));
    PetscCall(CompareOnFirst(lor->first, x, y, PETSC_FALSE, tol[i], &agrees));
    PetscCall(IsSymmetric(pc, x, y, z, tol[i], &symmetric));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s: %s, %s\n", what, name[i], agrees ? "agrees with hypre" : "DIFFERS from hypre",
                          symmetric ? "symmetric" : "NOT symmetric"));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one hierarchy, three cycles: relative differences of the two precisions from hypre's result, and from
   symmetry */
static PetscErrorCode Compare(PC pc, Mat A, const char what[], PetscBool own)
{
  static const PCLORCycle  cycle[] = {PCLOR_CYCLE_HYPRE, PCLOR_CYCLE_DOUBLE, PCLOR_CYCLE_SINGLE};
  static const char *const name[]  = {"hypre", "double", "single"};
  const PetscReal          tol[]   = {1e-12, 1e-12, 1e-5};
  Vec                      x, z, y, h;
  PetscRandom              r;
  PetscReal                n, e;
  PetscBool                symmetric;
  PetscMPIInt              size;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &z));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &h));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(PetscRandomSetInterval(r, -1.0, 1.0));
  PetscCall(VecSetRandom(x, r));
  PetscCall(VecSetRandom(z, r));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (PetscInt i = 0; i < 3; ++i) {
    PCLORCycle runs;
    PetscInt   spread;

    PetscCall(PCLORSetCycle(pc, cycle[i]));
    PetscCall(PCLORGetCycle(pc, &runs, &spread));
    if (runs != (own ? cycle[i] : PCLOR_CYCLE_HYPRE))
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s: the cycle is run by ANOTHER\n", what, name[i]));
    if ((spread > 0) != (runs != PCLOR_CYCLE_HYPRE && size > 1))
      PetscCall(
        PetscPrintf(PETSC_COMM_WORLD, "%s, %s: %" PetscInt_FMT " levels are spread over %d ranks\n", what, name[i], spread, size));
    PetscCall(PCApply(pc, x, y));
    if (!i) PetscCall(VecCopy(y, h));
    PetscCall(VecNorm(h, NORM_2, &n));
    PetscCall(IsSymmetric(pc, x, y, z, tol[i], &symmetric));
    PetscCall(VecAXPY(y, -1.0, h));
    PetscCall(VecNorm(y, NORM_2, &e));
    PetscCall(PetscInfo(pc, "%s, %s: difference %g\n", what, name[i], (double)(e / n)));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s: %s, %s\n", what, name[i],
                          e <= tol[i] * n ? "agrees with hypre" : "DIFFERS from hypre", symmetric ? "symmetric" : "NOT symmetric"));
  }
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the preconditioner, or without it the matrix B, as a dense matrix, column by column, with vectors of A; one
   rank */
static PetscErrorCode Columns(PC pc, Mat B, Mat A, PetscInt n, PetscScalar M[])
{
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  for (PetscInt j = 0; j < n; ++j) {
    const PetscScalar *a;

    PetscCall(VecZeroEntries(x));
    PetscCall(VecSetValue(x, j, 1.0, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(x));
    PetscCall(VecAssemblyEnd(x));
    if (pc) PetscCall(PCApply(pc, x, y));
    else PetscCall(MatMult(B, x, y));
    PetscCall(VecGetArrayRead(y, &a));
    PetscCall(PetscArraycpy(M + j * n, a, n));
    PetscCall(VecRestoreArrayRead(y, &a));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C = A B, column by column; B may be a vector */
static void Times(PetscInt n, PetscInt columns, const PetscScalar A[], const PetscScalar B[], PetscScalar C[])
{
  for (PetscInt j = 0; j < columns; ++j)
    for (PetscInt i = 0; i < n; ++i) {
      C[j * n + i] = 0.0;
      for (PetscInt k = 0; k < n; ++k) C[j * n + i] += A[k * n + i] * B[j * n + k];
    }
}

/* B = A^-1 B by elimination with partial pivoting; A is overwritten */
static PetscErrorCode Eliminate(PetscInt n, PetscScalar A[], PetscScalar B[])
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < n; ++k) {
    PetscInt p = k;

    for (PetscInt i = k + 1; i < n; ++i)
      if (PetscAbsScalar(A[k * n + i]) > PetscAbsScalar(A[k * n + p])) p = i;
    PetscCheck(PetscAbsScalar(A[k * n + p]) > 0.0, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT, "a singular matrix");
    for (PetscInt j = 0; j < 2 * n; ++j) {
      PetscScalar *c = j < n ? A + j * n : B + (j - n) * n, t = c[k];

      c[k] = c[p];
      c[p] = t;
    }
    for (PetscInt i = 0; i < n; ++i) {
      const PetscScalar f = A[k * n + i] / A[k * n + k];

      if (i == k) continue;
      for (PetscInt j = 0; j < n; ++j) {
        A[j * n + i] -= f * A[j * n + k];
        B[j * n + i] -= f * B[j * n + k];
      }
    }
  }
  for (PetscInt j = 0; j < n; ++j)
    for (PetscInt i = 0; i < n; ++i) B[j * n + i] /= A[i * n + i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* S = S (1 - w D A), D the inverse l1 norms of the rows of A */
static PetscErrorCode Smoothing(PetscInt n, PetscReal w, const PetscScalar A[], PetscScalar S[])
{
  PetscScalar *step, *product;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n * n, &step, n * n, &product));
  for (PetscInt i = 0; i < n; ++i) {
    PetscReal l1 = 0.0;

    for (PetscInt j = 0; j < n; ++j) l1 += PetscAbsScalar(A[j * n + i]);
    for (PetscInt j = 0; j < n; ++j) step[j * n + i] = (i == j ? 1.0 : 0.0) - w * A[j * n + i] / l1;
  }
  Times(n, n, S, step, product);
  PetscCall(PetscArraycpy(S, product, n * n));
  PetscCall(PetscFree2(step, product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Identity(PetscInt n, PetscScalar S[])
{
  for (PetscInt i = 0; i < n * n; ++i) S[i] = i % (n + 1) ? 0.0 : 1.0;
}

/*
  Two levels: hypre's cycle with Jacobi of weight w has the error S K S, S = 1 - w D A, so K is known from it,
  and the error with any polynomial is p(D A) K p(D A). For the Chebyshev polynomial of the fourth kind p is
  made of its values by the recurrence V_k = 2 t V_(k-1) - V_(k-2), which knows no zeros of it.
*/
static PetscErrorCode Polynomials(PC pc, Mat A, PetscReal w)
{
  Mat          lor;
  PetscInt     n;
  PetscScalar *a, *M, *E, *S, *K, *q, *t, *DA, *p[3];

  PetscFunctionBeginUser;
  PetscCall(PCLORGetMat(pc, &lor));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(PetscMalloc5(n * n, &a, n * n, &M, n * n, &E, n * n, &S, n * n, &K));
  PetscCall(PetscMalloc3(3 * n * n, &q, n * n, &t, n * n, &DA));
  for (PetscInt k = 0; k < 3; ++k) p[k] = q + k * n * n;
  PetscCall(Columns(NULL, lor, A, n, a));
  PetscCall(PCLORSetCycle(pc, PCLOR_CYCLE_HYPRE));
  PetscCall(Columns(pc, NULL, A, n, M));
  Times(n, n, M, a, E);
  for (PetscInt i = 0; i < n * n; ++i) E[i] = (i % (n + 1) ? 0.0 : 1.0) - E[i];
  Identity(n, S);
  PetscCall(Smoothing(n, w, a, S));
  PetscCall(PetscArraycpy(t, S, n * n));
  PetscCall(Eliminate(n, t, E)); /* K S */
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt j = 0; j < n; ++j) {
      K[i * n + j] = E[j * n + i];
      t[i * n + j] = S[j * n + i];
    }
  PetscCall(Eliminate(n, t, K)); /* the transpose of K */
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt j = 0; j < n; ++j) E[i * n + j] = K[j * n + i];
  PetscCall(PetscArraycpy(K, E, n * n));
  Identity(n, DA);
  PetscCall(Smoothing(n, w, a, DA));
  for (PetscInt i = 0; i < n * n; ++i) DA[i] = (i % (n + 1) ? 0.0 : 1.0) - DA[i]; /* weights are times hypre's */
  for (PetscInt degree = 1; degree <= 4; ++degree) {
    const PCLORCycle cycles[] = {PCLOR_CYCLE_DOUBLE, PCLOR_CYCLE_SINGLE};

    Identity(n, p[0]);
    for (PetscInt i = 0; i < n * n; ++i) p[1][i] = 3.0 * p[0][i] - 4.0 * DA[i]; /* V_1(1 - 2 x) = 1 + 2 (1 - 2 x) */
    for (PetscInt k = 2; k <= degree; ++k) {
      PetscScalar *next = p[0];

      Times(n, n, DA, p[1], t);
      for (PetscInt i = 0; i < n * n; ++i) p[2][i] = 2.0 * (p[1][i] - 2.0 * t[i]) - p[0][i];
      p[0] = p[1];
      p[1] = p[2];
      p[2] = next;
    }
    for (PetscInt i = 0; i < n * n; ++i) S[i] = p[1][i] / (2 * degree + 1);
    Times(n, n, S, K, t);
    Times(n, n, t, S, E);
    PetscCall(PCLORSetCycle(pc, PCLOR_CYCLE_DOUBLE));
    PetscCall(PCLORSetCycleSmoother(pc, PCLOR_SMOOTHER_CHEBYSHEV, degree));
    for (PetscInt c = 0; c < 2; ++c) {
      const PetscReal tol     = c ? 1e-5 : 1e-11;
      PetscReal       largest = 0.0, e = 0.0;

      PetscCall(PCLORSetCycle(pc, cycles[c]));
      PetscCall(Columns(pc, NULL, A, n, M));
      Times(n, n, M, a, t);
      for (PetscInt i = 0; i < n * n; ++i) {
        largest = PetscMax(largest, PetscAbsScalar(t[i]));
        e       = PetscMax(e, PetscAbsScalar((i % (n + 1) ? 0.0 : 1.0) - t[i] - E[i]));
      }
      PetscCall(PetscInfo(pc, "degree %" PetscInt_FMT ": difference %g of %g\n", degree, (double)e, (double)largest));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "degree %" PetscInt_FMT ", %s: %s\n", degree, c ? "single" : "double",
                            e <= tol * largest ? "the cycle of dense matrices" : "DIFFERS from dense matrices"));
    }
  }
  PetscCall(PetscFree5(a, M, E, S, K));
  PetscCall(PetscFree3(q, t, DA));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* CG on the matrix itself with its AMS or ADS, with a mass term or without. The right-hand side is A x.
   Twice: refilled */
static PetscErrorCode SolveLOR(DM dm, PetscInt family, PetscInt p, PetscBool zero)
{
  HopsSpace          sp;
  HopsCoefficient    one;
  const PetscScalar  unit = 1.0;
  Mat                A, L;
  KSP                ksp;
  PC                 pc;
  Vec                x, b, r;
  PetscInt           its[2];
  PetscReal          rnorm, bnorm;
  KSPConvergedReason reason[2];

  PetscFunctionBeginUser;
  PetscCall(CreateSpace(dm, family, p, PETSC_TRUE, &sp));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &unit, &one));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(SetTerms(A, family, one, zero ? NULL : one));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(x, &r));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(SetTerms(A, family, one, zero ? NULL : one));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetUp(pc));
    PetscCall(PCLORGetMat(pc, &L));
    PetscCall(KSPSetOperators(ksp, L, A)); /* the form is still A's */
    PetscCall(VecSetRandom(r, NULL));
    PetscCall(MatMult(L, r, b));
    PetscCall(VecNorm(b, NORM_2, &bnorm));
    PetscCall(VecSet(x, 0.0));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its[k]));
    PetscCall(KSPGetConvergedReason(ksp, &reason[k]));
    PetscCall(PCLORGetMat(pc, &L));
    PetscCall(MatMult(L, x, r));
    PetscCall(VecAXPY(r, -1.0, b));
    PetscCall(VecNorm(r, NORM_2, &rnorm));
  }
  PetscCall(PetscInfo(ksp, "%s order %" PetscInt_FMT " %s: %" PetscInt_FMT ", %" PetscInt_FMT " iterations, residual %g\n",
                      families[family], p, zero ? "without mass" : "with mass", its[0], its[1], (double)(rnorm / bnorm)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s order %" PetscInt_FMT "%s: %s, %s\n", families[family], p,
                        zero ? " without mass" : "",
                        reason[0] > 0 && reason[1] > 0 && PetscMax(its[0], its[1]) <= 60 ? "converged" : "SLOW",
                        rnorm <= 1e-8 * bnorm ? "solved" : "WRONG"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&one));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* AMS or ADS by kernels of hops in both precisions, against hypre's own on the same hierarchies */
static PetscErrorCode Cycle(DM dm, PetscInt family, PetscInt p, const char options[])
{
  const PCLORCycle  cycle[] = {PCLOR_CYCLE_HYPRE, PCLOR_CYCLE_DOUBLE, PCLOR_CYCLE_SINGLE};
  const PetscScalar unit    = 1.0;
  HopsSpace         sp;
  HopsCoefficient   one;
  Mat               A;
  PC                pc;
  Vec               x, y[3];
  PetscReal         norm, d[3];

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(CreateSpace(dm, family, p, PETSC_TRUE, &sp));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &unit, &one));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(SetTerms(A, family, one, one));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecSetRandom(x, NULL));
  for (PetscInt k = 0; k < 3; ++k) {
    PetscCall(VecDuplicate(x, &y[k]));
    PetscCall(PCLORSetCycle(pc, cycle[k]));
    PetscCall(PCApply(pc, x, y[k]));
  }
  PetscCall(VecNorm(y[0], NORM_2, &norm));
  for (PetscInt k = 1; k < 3; ++k) {
    PetscCall(VecAXPY(y[k], -1.0, y[0]));
    PetscCall(VecNorm(y[k], NORM_2, &d[k]));
    d[k] /= norm;
  }
  PetscCall(PetscInfo(pc, "%s order %" PetscInt_FMT " %s: %g, %g\n", families[family], p, options, (double)d[1], (double)d[2]));
  /* a cycle that was left to hypre shows in equal results */
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s order %" PetscInt_FMT " %s: %s, %s\n", families[family], p, options,
                        d[1] <= 1e-9 ? "double agrees" : "double DIFFERS",
                        d[2] > 1e-9 && d[2] <= 1e-3 ? "single agrees" : "single DIFFERS, or is hypre's"));
  for (PetscInt k = 0; k < 3; ++k) PetscCall(VecDestroy(&y[k]));
  PetscCall(VecDestroy(&x));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&one));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Families(PetscBool solve)
{
  static const char *const ams[] = {"-lor_pc_hypre_ams_cycle_type 11", "-lor_pc_hypre_ams_cycle_type 13",
                                    "-lor_pc_hypre_ams_cycle_type 14"};
  static const char *const ads[] = {"-lor_pc_hypre_ads_cycle_type 11", "-lor_pc_hypre_ads_cycle_type 13",
                                    "-lor_pc_hypre_ads_cycle_type 14"};
  DM                       dm;
  PetscInt                 dim, np       = 16, orders[16];
  PetscBool                set, straight = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-straight", &straight, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &np, &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -orders");
  PetscCall(FanMesh(PETSC_COMM_WORLD, straight ? PETSC_FALSE : PETSC_TRUE, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  for (PetscInt i = 0; i < np; ++i)
    for (PetscInt family = 1; family < 4; ++family) {
      for (PetscInt k = 0; k < (family < 3 ? 3 : 0) && !solve; ++k)
        PetscCall(Cycle(dm, family, orders[i], family == 2 && dim == 3 ? ads[k] : ams[k]));
      for (PetscInt k = 0; k < (family == 1 ? 2 : 1) && solve; ++k)
        PetscCall(SolveLOR(dm, family, orders[i], k ? PETSC_TRUE : PETSC_FALSE));
    }
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BoomerAMG(void)
{
  DM              dm;
  DMLabel         label;
  HopsSpace       sp;
  HopsCoefficient kappa, mass;
  PetscInt        one = 1, order = 3, dim;
  PetscScalar     c      = 0.3;
  PetscReal       weight = 0.0;
  PetscBool       own = PETSC_TRUE, gathered = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-own", &own, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-gathered", &gathered, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-weight", &weight, NULL));
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_TRUE, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, dim * (dim + 1) / 2, TestKappa, NULL, &kappa));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &c, &mass));
  for (PetscInt k = 0; k < 2; ++k) { /* Dirichlet on one side with a refill; Neumann */
    MatNullSpace nsp = NULL;
    Mat          A;
    PC           pc;

    PetscCall(HopsSpaceCreateH1(dm, order, label, k ? 0 : 1, &one, &sp));
    PetscCall(MatCreatePA(sp, &A));
    PetscCall(MatPASetDiffusion(A, kappa));
    if (k) PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &nsp));
    PetscCall(MatSetNullSpace(A, nsp));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCLOR));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCLORSetCycleSmoother(pc, PCLOR_SMOOTHER_JACOBI, PETSC_DECIDE)); /* as hypre smooths */
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PCSetUp(pc));
    if (weight > 0.0) {
      if (!k) PetscCall(Polynomials(pc, A, weight));
    } else if (gathered && !k) PetscCall(CompareGathered(pc, A, "Dirichlet"));
    else PetscCall(Compare(pc, A, k ? "singular" : "Dirichlet", k ? PETSC_FALSE : own));
    if (!k && weight == 0.0) {
      PetscCall(MatPASetMass(A, mass));
      PetscCall(PCSetOperators(pc, A, A));
      PetscCall(PCSetUp(pc));
      if (gathered) PetscCall(CompareGathered(pc, A, "refilled"));
      else PetscCall(Compare(pc, A, "refilled", own));
    }
    PetscCall(PCDestroy(&pc));
    PetscCall(MatNullSpaceDestroy(&nsp));
    PetscCall(MatDestroy(&A));
    PetscCall(HopsSpaceDestroy(&sp));
  }
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&mass));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool boomeramg, solve, cycle;
  char      what[64] = "boomeramg";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-what", what, sizeof(what), NULL));
  PetscCall(PetscStrcmp(what, "boomeramg", &boomeramg));
  PetscCall(PetscStrcmp(what, "solve", &solve));
  PetscCall(PetscStrcmp(what, "cycle", &cycle));
  PetscCheck(boomeramg || solve || cycle, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -what boomeramg, solve or cycle");
  PetscCall(boomeramg ? BoomerAMG() : Families(solve));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  # on the host hypre runs all cycles
  testset:
    requires: hypre host
    nsize: {{1 2}}

    test:
      suffix: host
      args: -dm_plex_dim 2 -dm_plex_box_faces 12,10 -order 4 -own 0
      output_file: output/cycle_cuda_2d.out

    test:
      suffix: host_solve
      args: -what solve -dm_plex_dim 2 -orders 1,3 -dm_plex_box_faces 8,6 -sides 4
      output_file: output/cycle_cuda_2d_solve_closed.out

    test:
      suffix: host_solve_3d
      args: -what solve -dm_plex_dim 3 -orders 2 -dm_plex_box_faces 4,3,3 -straight
      output_file: output/cycle_cuda_3d_solve_straight.out

  testset:
    requires: cuda hypre
    args: -hops_backend cuda -use_gpu_aware_mpi 0
    nsize: {{2 3}}
    output_file: output/cycle_cuda_gathered.out

    test:
      suffix: cuda_gathered_2d
      args: -gathered -dm_plex_dim 2 -dm_plex_box_faces 12,10 -order 4 -hops_halo {{shared staged}}

    test:
      suffix: cuda_gathered_3d
      args: -gathered -dm_plex_dim 3 -dm_plex_box_faces 5,4,4 -order 3

    test:
      suffix: cuda_gathered_empty
      args: -gathered -dm_plex_dim 2 -dm_plex_box_faces 2,1 -order 9

  testset:
    requires: cuda hypre
    args: -hops_backend cuda -use_gpu_aware_mpi 0 -pc_lor_cycle_gather 0

    test:
      suffix: cuda_2d
      args: -dm_plex_dim 2 -dm_plex_box_faces 12,10 -order 4

    test:
      suffix: cuda_3d
      args: -dm_plex_dim 3 -dm_plex_box_faces 5,4,4 -order 3

    test:
      suffix: cuda_2d_ranks
      nsize: {{2 3}}
      output_file: output/cycle_cuda_2d.out
      args: -dm_plex_dim 2 -dm_plex_box_faces 12,10 -order 4 -pc_lor_cycle_redundant {{0 400 100000}} \
            -hops_halo {{shared staged}}

    test:
      suffix: cuda_3d_ranks
      nsize: {{2 3}}
      output_file: output/cycle_cuda_3d.out
      args: -dm_plex_dim 3 -dm_plex_box_faces 5,4,4 -order 3 -pc_lor_cycle_redundant {{0 200 100000}}

    test:
      suffix: cuda_sweeps
      nsize: {{1 2}}
      output_file: output/cycle_cuda_2d.out
      args: -dm_plex_dim 2 -dm_plex_box_faces 12,10 -order 4 -pc_lor_cycle_redundant 100 -lor_pc_hypre_boomeramg_grid_sweeps_all {{2 3}}

    test:
      suffix: cuda_weight
      nsize: {{1 3}}
      output_file: output/cycle_cuda_2d.out
      args: -dm_plex_dim 2 -dm_plex_box_faces 12,10 -order 4 -pc_lor_cycle_redundant 100 -lor_pc_hypre_boomeramg_relax_weight_all 1.3333333333333333 -pc_lor_cycle_smoother jacobi

    test:
      suffix: cuda_polynomial
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -order 3 -weight 0.5 -lor_pc_hypre_boomeramg_max_levels 2 -lor_pc_hypre_boomeramg_relax_weight_all 0.5

    test:
      suffix: cuda_empty
      nsize: 3
      output_file: output/cycle_cuda_2d.out
      args: -dm_plex_dim 2 -dm_plex_box_faces 2,1 -order 9 -pc_lor_cycle_redundant {{0 100000}} -own 0

    test:
      suffix: cuda_memory
      nsize: {{1 2}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 6,5,4 -order 4 -hops_hypre_memory {{0.01 4}} -petsc_ci_portable_error_output -error_output_stdout
      filter: sed -n -e "s,[0-9][0-9.e+]* MB,some MB,g" -e "s,[0-9][0-9.e+]* are free,some are free," -e "s,.*\(hypre needs .*\),\1,p"

  testset:
    requires: cuda hypre
    args: -hops_backend cuda -dm_plex_dim 2 -dm_plex_box_faces 4,3 -use_gpu_aware_mpi 0 -pc_lor_cycle_gather 0

    test:
      suffix: cuda_2d_solve
      args: -what solve -orders 2,3 -dm_plex_box_faces 8,6

    test:
      suffix: cuda_2d_solve_ranks
      nsize: 2
      timeoutfactor: 3
      args: -what solve -orders 2 -dm_plex_box_faces 8,6

    test:
      suffix: cuda_2d_solve_closed
      args: -what solve -orders 1,3 -dm_plex_box_faces 8,6 -sides 4

    test:
      suffix: cuda_2d_auxiliary
      args: -what cycle -orders 4 -dm_plex_box_faces 12,10

    test:
      suffix: cuda_2d_auxiliary_ranks
      nsize: {{2 3}}
      output_file: output/cycle_cuda_2d_auxiliary.out
      args: -what cycle -orders 4 -dm_plex_box_faces 12,10 -pc_lor_cycle_redundant {{100 300 100000}} -hops_halo {{shared staged}}

  testset:
    requires: cuda hypre
    args: -hops_backend cuda -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -use_gpu_aware_mpi 0
    timeoutfactor: 3

    test:
      suffix: cuda_3d_solve
      args: -what solve -orders 2,3 -dm_plex_box_faces 4,3,3

    test:
      suffix: cuda_3d_solve_straight
      nsize: {{1 2}}
      args: -what solve -orders 2 -dm_plex_box_faces 4,3,3 -straight

    # where essential sides meet, edges and nodes have no free row
    test:
      suffix: cuda_3d_solve_closed
      nsize: {{1 2}}
      args: -what solve -orders 1,3 -dm_plex_box_faces 4,3,3 -sides 6

    test:
      suffix: cuda_3d_auxiliary
      args: -what cycle -orders 3 -dm_plex_box_faces 4,4,4

    test:
      suffix: cuda_3d_auxiliary_ranks
      nsize: {{2 3}}
      output_file: output/cycle_cuda_3d_auxiliary.out
      args: -what cycle -orders 3 -dm_plex_box_faces 4,4,4 -pc_lor_cycle_redundant {{50 200 100000}}

TEST*/
