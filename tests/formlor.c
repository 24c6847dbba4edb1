static char help[] = "Low-order-refined matrices of H(curl) and H(div): entries, nonzeros, refills, inner solvers, errors.\n\
  -family <HCURL,HDIV> -dim <d> -order <p> -what <first,refined,solve,zero,l2,errors>\n\n";

#include "hopsexpect.h"

static HopsFamily family = HOPS_HCURL;
static PetscInt   cells = 2, order = 2;
static PetscReal  gll[65], weight[65], edgemass;

/* largest eigenvalue of the mass of the edge functions of order p against 1/h, by Lagrange polynomials and
   the power method */
static PetscErrorCode EdgeMass(PetscInt p, PetscReal *lambda)
{
  PetscReal *x, *w, *E, *u, *v, norm = 0.0;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc5(p, &x, p, &w, p * p, &E, p, &u, p, &v));
  PetscCall(PetscDTGaussQuadrature(p, -1.0, 1.0, x, w));
  for (PetscInt q = 0; q < p; ++q) { /* E_j = -(l_0' + ... + l_j'), scaled by sqrt(h_j w_q) */
    PetscReal sum = 0.0;

    for (PetscInt j = 0; j < p; ++j) {
      for (PetscInt m = 0; m <= p; ++m) {
        PetscReal t = 1.0;

        if (m == j) continue;
        for (PetscInt k = 0; k <= p; ++k)
          if (k != j) t *= (k == m ? 1.0 : x[q] - gll[k]) / (gll[j] - gll[k]);
        sum -= t;
      }
      E[q * p + j] = sum * PetscSqrtReal(w[q] * (gll[j + 1] - gll[j]));
    }
  }
  for (PetscInt j = 0; j < p; ++j) u[j] = 1.0 + 0.1 * j * j;
  for (PetscInt it = 0; it < 2000; ++it) {
    PetscCall(PetscArrayzero(v, p));
    for (PetscInt q = 0; q < p; ++q) {
      PetscReal s = 0.0;

      for (PetscInt j = 0; j < p; ++j) s += E[q * p + j] * u[j];
      for (PetscInt j = 0; j < p; ++j) v[j] += E[q * p + j] * s;
    }
    norm = 0.0;
    for (PetscInt j = 0; j < p; ++j) norm += v[j] * v[j];
    norm = PetscSqrtReal(norm);
    for (PetscInt j = 0; j < p; ++j) u[j] = v[j] / norm;
  }
  *lambda = norm;
  PetscCall(PetscFree5(x, w, E, u, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* polynomials, so that the integrals over sub-cells are exact */
static PetscErrorCode U(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) u[i] = 1.0 + i + x[(i + 1) % dim] - 2.0 * x[i] * x[(i + 2) % dim];
  return PETSC_SUCCESS;
}

static PetscErrorCode V(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) u[i] = 0.5 - i + x[i] * x[i] - x[(i + 1) % dim];
  return PETSC_SUCCESS;
}

/* uniform points of a mesh of cells * order boxes to the Gauss-Lobatto points of a mesh of `cells` */
static void Refined(PetscInt dim, PetscReal x[])
{
  for (PetscInt d = 0; d < dim; ++d) {
    const PetscInt k = (PetscInt)(x[d] * cells * order + 0.5), c = PetscMin(k / order, cells - 1);

    x[d] = (c + 0.5 * (gll[k - c * order] + 1.0)) / cells;
  }
}

/*
  The tensor that makes the matrix of order 1 on the refined mesh that of order p: TestKappa with T_ab times
  sqrt(f_a f_b), f_a the ratios of Gauss-Lobatto weights to lengths in the directions in which component a
  does not extend; the derivative's times the edge mass too
*/
typedef struct {
  HopsFamily family;
  PetscInt   nc;
  PetscReal  factor;
} Weighting;

static PetscErrorCode Weighted(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar k[], void *ctx)
{
  const Weighting *wt = (Weighting *)ctx;
  PetscReal        r[3], f[3] = {1.0, 1.0, 1.0};
  PetscScalar      t[6];

  for (PetscInt d = 0; d < dim; ++d) {
    const PetscReal y = 2.0 * (x[d] * cells - PetscFloorReal(x[d] * cells + 1e-9)) - 1.0;
    PetscInt        i = 0;

    while (i < order && PetscAbsReal(gll[i + 1] - y) < PetscAbsReal(gll[i] - y)) ++i; /* the node beside which hops looks */
    r[d] = 2.0 * weight[i] / (gll[PetscMin(i + 1, order)] - gll[PetscMax(i - 1, 0)]);
  }
  for (PetscInt a = 0; a < dim; ++a)
    for (PetscInt d = 0; d < dim; ++d)
      if ((wt->family == HOPS_HCURL && d != a) || (wt->family == HOPS_HDIV && d == a)) f[a] *= r[d];
  PetscCall(TestKappa(dim, x, wt->nc, t, NULL));
  for (PetscInt a = 0, n = 0; a < dim; ++a)
    for (PetscInt b = a; b < dim; ++b, ++n) {
      const PetscReal s = wt->factor * PetscSqrtReal(f[a] * f[b]);

      if (nc == 1 && !n) k[0] = s * t[0];
      else if (nc == dim && a == b) k[a] = s * t[0];
      else if (nc > dim) k[n] = s * t[n];
    }
  return PETSC_SUCCESS;
}

static PetscErrorCode CreateSpace(DM dm, PetscInt p, PetscBool essential, HopsSpace *sp)
{
  const PetscInt values[2] = {1, 2};
  DMLabel        label     = NULL;

  PetscFunctionBeginUser;
  if (essential) PetscCall(DMGetLabel(dm, "Face Sets", &label));
  if (family == HOPS_HCURL) PetscCall(HopsSpaceCreateHCurl(dm, p, label, 2, values, sp));
  else PetscCall(HopsSpaceCreateHDiv(dm, p, label, 2, values, sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateForm(HopsSpace sp, HopsCoefficient mu, HopsCoefficient beta, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(sp, A));
  PetscCall(family == HOPS_HCURL ? MatPASetCurlCurl(*A, mu) : MatPASetDivDiv(*A, mu));
  PetscCall(MatPASetMass(*A, beta));
  PetscCall(HopsCoefficientDestroy(&mu));
  PetscCall(HopsCoefficientDestroy(&beta));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateOperator(HopsSpace sp, HopsPointFunction f, PetscInt nmu, PetscInt nbeta, Mat *A)
{
  HopsCoefficient mu, beta;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, nmu, f, NULL, &mu));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, nbeta, f, NULL, &beta));
  PetscCall(CreateForm(sp, mu, beta, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLOR(Mat A, PC *pc, Mat *L)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetType(*pc, PCLOR));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCSetUp(*pc));
  PetscCall(PCLORGetMat(*pc, L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* order 1: the LOR matrix is the operator itself by vertex (Gauss-Lobatto) quadrature, assembled slowly */
static PetscErrorCode First(PetscInt dim)
{
  DM        dm;
  HopsSpace sp;
  Mat       A, B, L;
  PC        pc;
  PetscReal a, b;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, "-lor_pc_type jacobi"));
  PetscCall(TestCube(dim, 3, TestCurve, &dm));
  PetscCall(CreateSpace(dm, 1, PETSC_TRUE, &sp));
  PetscCall(CreateOperator(sp, TestKappa, family == HOPS_HCURL && dim == 3 ? 6 : 1, dim * (dim + 1) / 2, &A));
  PetscCall(MatPASetQuadrature(A, 0, PETSC_TRUE));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(CreateLOR(A, &pc, &L));
  PetscCall(MatNorm(B, NORM_FROBENIUS, &b));
  PetscCall(MatAXPY(B, -1.0, L, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(B, NORM_FROBENIUS, &a));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "lowest order: LOR matrix %s\n", a < 1e-13 * b ? "agrees" : "DIFFERS"));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v.Lu, u.Lu and the trace of order p, against those of order 1 on the refined mesh with weighted
   coefficients, and nonzeros of the longest row */
static PetscErrorCode Numbers(PetscInt dim, PetscBool refined, PetscBool tensor, PetscScalar out[3], PetscInt *longest)
{
  DM        dm;
  HopsSpace sp;
  Mat       A, L;
  PC        pc;
  Vec       u, v, w;
  PetscInt  rs, re;
  Weighting wmu, wbeta; /* which the coefficients read as long as they live */

  PetscFunctionBeginUser;
  PetscCall(TestCube(dim, refined ? cells * order : cells, refined ? Refined : NULL, &dm));
  PetscCall(CreateSpace(dm, refined ? 1 : order, PETSC_TRUE, &sp));
  if (refined) {
    const HopsFamily dfamily = family == HOPS_HCURL && dim == 3 ? HOPS_HDIV : HOPS_L2;
    HopsCoefficient  mu, beta;

    wmu   = (Weighting){dfamily, tensor && dfamily == HOPS_HDIV ? 6 : 1, edgemass};
    wbeta = (Weighting){family, tensor ? dim * (dim + 1) / 2 : 1, 1.0};
    PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, dfamily == HOPS_L2 ? 1 : PetscMax(dim, wmu.nc), Weighted, &wmu, &mu));
    PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, PetscMax(dim, wbeta.nc), Weighted, &wbeta, &beta));
    PetscCall(CreateForm(sp, mu, beta, &A));
  } else
    PetscCall(
      CreateOperator(sp, TestKappa, tensor && family == HOPS_HCURL && dim == 3 ? 6 : 1, tensor ? dim * (dim + 1) / 2 : 1, &A));
  PetscCall(MatPASetQuadrature(A, 0, PETSC_TRUE)); /* so that the weighted coefficients are asked for at the nodes */
  PetscCall(CreateLOR(A, &pc, &L));
  PetscCall(HopsSpaceCreateVec(sp, &u));
  PetscCall(VecDuplicate(u, &v));
  PetscCall(VecDuplicate(u, &w));
  PetscCall(HopsSpaceInterpolate(sp, U, NULL, u));
  PetscCall(HopsSpaceInterpolate(sp, V, NULL, v));
  PetscCall(MatMult(L, u, w));
  PetscCall(VecDot(w, v, &out[0]));
  PetscCall(VecDot(w, u, &out[1]));
  PetscCall(MatGetDiagonal(L, w));
  PetscCall(VecSum(w, &out[2]));
  *longest = 0;
  PetscCall(MatGetOwnershipRange(L, &rs, &re));
  for (PetscInt i = rs; i < re; ++i) {
    PetscInt n;

    PetscCall(MatGetRow(L, i, &n, NULL, NULL));
    *longest = PetscMax(*longest, n);
    PetscCall(MatRestoreRow(L, i, &n, NULL, NULL));
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, longest, 1, MPIU_INT, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(PetscInt dim)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, "-lor_pc_type jacobi"));
  PetscCall(TestGLL(order + 1, gll));
  for (PetscInt i = 0; i <= order; ++i) { /* weights 2 / (p (p+1) L_p(x)^2) */
    PetscReal a = 1.0, b = gll[i];

    for (PetscInt k = 2; k <= order; ++k) {
      const PetscReal c = ((2 * k - 1) * gll[i] * b - (k - 1) * a) / k;

      a = b;
      b = c;
    }
    weight[i] = 2.0 / (order * (order + 1) * b * b);
  }
  PetscCall(EdgeMass(order, &edgemass));
  for (PetscInt tensor = 0; tensor < 2; ++tensor) {
    PetscScalar a[3], b[3];
    PetscInt    na, nb;
    PetscBool   same = PETSC_TRUE;

    PetscCall(Numbers(dim, PETSC_FALSE, tensor ? PETSC_TRUE : PETSC_FALSE, a, &na));
    PetscCall(Numbers(dim, PETSC_TRUE, tensor ? PETSC_TRUE : PETSC_FALSE, b, &nb));
    for (PetscInt i = 0; i < 3; ++i)
      if (!(PetscAbsScalar(a[i] - b[i]) <= 1e-11 * PetscAbsScalar(b[i]))) same = PETSC_FALSE;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "%s coefficients: %s order 1 on the refined mesh with weighted coefficients, at most %" PetscInt_FMT
                          " and %" PetscInt_FMT " nonzeros a row\n",
                          tensor ? "tensor" : "scalar", same ? "as" : "DIFFERS FROM", na, nb));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* CG with the low-order-refined preconditioner */
static PetscErrorCode CreateSolver(Mat A, PetscReal rtol, PetscInt maxits, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetTolerances(*ksp, rtol, PETSC_DEFAULT, PETSC_DEFAULT, maxits));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* L2: the low-order-refined matrix is diagonal, and Jacobi its solver */
static PetscErrorCode Diagonal(PetscInt dim)
{
  DM                 dm;
  HopsSpace          sp;
  Mat                A;
  Vec                x, b;
  KSP                ksp;
  HopsCoefficient    cf;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(TestCube(dim, 3, TestCurve, &dm));
  PetscCall(HopsSpaceCreateL2(dm, order, &sp));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, &cf));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetMass(A, cf));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(CreateSolver(A, 1e-10, 60, &ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "L2: %s\n", reason > 0 ? "converged" : "NOT CONVERGED"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&cf));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations of CG from one right-hand side to the next, with other coefficients; the second as many as from
   a fresh solver */
static PetscErrorCode Solve(PetscInt dim)
{
  DM              dm;
  HopsSpace       sp;
  Mat             A;
  Vec             x, b, r;
  KSP             ksp, fresh;
  PetscInt        its[3];
  PetscScalar     scale = 1000.0;
  HopsCoefficient cf;
  PetscReal       a, c;

  PetscFunctionBeginUser;
  PetscCall(TestCube(dim, 3, TestCurve, &dm));
  PetscCall(CreateSpace(dm, order, PETSC_TRUE, &sp));
  PetscCall(CreateOperator(sp, TestKappa, 1, dim * (dim + 1) / 2, &A));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(x, &r));
  PetscCall(HopsSpaceComputeRHS(sp, U, NULL, b));
  PetscCall(CreateSolver(A, 1e-10, 400, &ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its[0]));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &scale, &cf));
  PetscCall(MatPASetMass(A, cf)); /* far from the first: with the auxiliary matrices of that one it would be slow */
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its[1]));
  PetscCall(CreateSolver(A, 1e-10, 400, &fresh));
  PetscCall(KSPSolve(fresh, b, x));
  PetscCall(KSPGetIterationNumber(fresh, &its[2]));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, &a));
  PetscCall(VecNorm(b, NORM_2, &c));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solved: %s, after a refill %s\n", a < 1e-7 * c ? "yes" : "NO",
                        its[1] <= its[2] + its[2] / 10 ? "as fast as fresh" : "NOT as fast as fresh"));
  PetscCall(PetscInfo(NULL, "iterations %" PetscInt_FMT " %" PetscInt_FMT " %" PetscInt_FMT "\n", its[0], its[1], its[2]));
  PetscCall(HopsCoefficientDestroy(&cf));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(KSPDestroy(&fresh));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* beta is zero where x < 1/2, in whole cells: gradients there are in the kernel, and b = A y has none */
static PetscErrorCode Half(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar c[], void *ctx)
{
  c[0] = x[0] < 0.5 + *(PetscReal *)ctx ? 0.0 : 1.0;
  return PETSC_SUCCESS;
}

static PetscErrorCode Zero(PetscInt dim)
{
  DM              dm;
  HopsSpace       sp;
  Mat             A;
  Vec             x, b, r;
  KSP             ksp;
  PetscInt        its, cStart, cEnd;
  PetscScalar     one = 1.0, *values;
  PetscReal       a, c, shift = 0.0;
  HopsCoefficient mu, beta;

  PetscFunctionBeginUser;
  PetscCall(TestCube(dim, 4, NULL, &dm));
  PetscCall(CreateSpace(dm, order, PETSC_TRUE, &sp));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  PetscCall(PetscMalloc1(cEnd - cStart, &values));
  for (PetscInt i = cStart; i < cEnd; ++i) {
    PetscReal centroid[3];

    PetscCall(DMPlexComputeCellGeometryFVM(dm, i, NULL, centroid, NULL));
    PetscCall(Half(dim, centroid, 1, &values[i - cStart], &shift));
  }
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &mu));
  PetscCall(HopsCoefficientCreateCell(sp, 1, values, &beta));
  PetscCall(PetscFree(values));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetCurlCurl(A, mu));
  PetscCall(MatPASetMass(A, beta));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(x, &r));
  PetscCall(HopsSpaceInterpolate(sp, U, NULL, r));
  PetscCall(MatMult(A, r, b));
  PetscCall(CreateSolver(A, 1e-8, 100, &ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, &a));
  PetscCall(VecNorm(b, NORM_2, &c));
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD, "zero mass in half of the cells: %s\n", a < 1e-5 * c && its < 60 ? "solved" : "NOT SOLVED"));
  PetscCall(PetscInfo(NULL, "iterations %" PetscInt_FMT ", residual %g\n", its, (double)(a / c)));
  PetscCall(HopsCoefficientDestroy(&mu));
  PetscCall(HopsCoefficientDestroy(&beta));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpPC(Mat A, const char options[])
{
  Mat L;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(CreateLOR(A, &pc, &L));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp(HopsSpace sp, const char options[])
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(CreateOperator(sp, TestKappa, 1, 1, &A));
  PetscCall(SetUpPC(A, options));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Errors(void)
{
  const PetscInt  cell = 0, face = 0, values[6] = {1, 2, 3, 4, 5, 6};
  PetscScalar     one = 1.0, two[2] = {1.0, 2.0};
  DM              dm;
  DMLabel         label;
  HopsSpace       h1, curl, div, l2, other, full;
  HopsCoefficient scalar, pair;
  Mat             A, D;

  PetscFunctionBeginUser;
  PetscCall(TestCube(3, 2, NULL, &dm));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(HopsSpaceCreateH1(dm, 2, NULL, 0, NULL, &h1));
  PetscCall(HopsSpaceCreateHCurl(dm, 2, NULL, 0, NULL, &curl));
  PetscCall(HopsSpaceCreateHDiv(dm, 2, NULL, 0, NULL, &div));
  PetscCall(HopsSpaceCreateL2(dm, 2, &l2));
  PetscCall(HopsSpaceCreateHDiv(dm, 3, NULL, 0, NULL, &other));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &one, &scalar));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 2, two, &pair));
  EXPECT("order 0", HopsSpaceCreateHCurl(dm, 0, NULL, 0, NULL, &full), "at least 1");
  EXPECT("derivative into the wrong space", HopsSpaceCreateDerivative(h1, div, &D), "H(curl) a curl in H(div)");
  EXPECT("derivative between orders", HopsSpaceCreateDerivative(curl, other, &D), "same order");
  PetscCall(MatCreatePA(curl, &A));
  EXPECT("diffusion on H(curl)", MatPASetDiffusion(A, scalar), "MatPASetCurlCurl()");
  EXPECT("div-div on H(curl)", MatPASetDivDiv(A, scalar), "HopsSpaceCreateHDiv()");
  EXPECT("components of a mass", MatPASetMass(A, pair), "components");
  EXPECT("Robin terms", MatPAAddRobin(A, 1, &cell, &face, scalar), "H1");
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreatePA(div, &A));
  EXPECT("curl-curl on H(div)", MatPASetCurlCurl(A, scalar), "HopsSpaceCreateHCurl()");
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreatePA(l2, &A));
  EXPECT("diffusion on L2", MatPASetDiffusion(A, scalar), "belongs to H1");
  PetscCall(MatDestroy(&A));
  family = HOPS_HDIV;
  EXPECT("AMS on H(div)", SetUp(div, "-lor_pc_hypre_type ams"), "-lor_pc_hypre_type ads");
  family = HOPS_HCURL;
  EXPECT("ADS on H(curl)", SetUp(curl, "-lor_pc_hypre_type ads"), "-lor_pc_hypre_type ams");
  PetscCall(MatCreatePA(div, &A));
  PetscCall(MatPASetDivDiv(A, scalar));
  EXPECT("ADS without a mass term", SetUpPC(A, "-lor_pc_hypre_type ads"), "ADS needs a mass term|MatPASetMass()");
  PetscCall(MatDestroy(&A));
  for (PetscInt k = 0; k < 2; ++k) { /* a constant, and values by cell with a negative one */
    const PetscScalar negative = -1.0;
    HopsCoefficient   cells;
    PetscScalar       v[8];

    for (PetscInt c = 0; c < 8; ++c) v[c] = c == 5 ? -1e-3 : 1.0;
    if (k) PetscCall(HopsCoefficientCreateCell(curl, 1, v, &cells));
    else PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &negative, &cells));
    PetscCall(MatCreatePA(k ? curl : div, &A));
    if (k) PetscCall(MatPASetCurlCurl(A, scalar));
    else PetscCall(MatPASetDivDiv(A, scalar));
    PetscCall(MatPASetMass(A, cells));
    EXPECT(k ? "AMS with a negative mass in a cell" : "ADS with a negative mass",
           SetUpPC(A, k ? "-lor_pc_hypre_type ams" : "-lor_pc_hypre_type ads"), "negative somewhere|-lor_pc_type lu");
    PetscCall(MatDestroy(&A));
    PetscCall(HopsCoefficientDestroy(&cells));
  }
  EXPECT("dropping on H(curl)", SetUp(curl, "-pc_lor_drop_tol 0.3"), "keeps all its entries|-pc_lor_drop_tol");
  PetscCall(PetscOptionsClearValue(NULL, "-pc_lor_drop_tol"));
  EXPECT("relaxation weight out of range", SetUp(curl, "-pc_lor_nodal_relax_weight 2"), "between 0 and 2");
  EXPECT("relaxation weight without AMS", SetUp(curl, "-lor_pc_type jacobi -pc_lor_nodal_relax_weight 1.5"),
         "for AMS and ADS on a device|leave it out");
  PetscCall(PetscOptionsClearValue(NULL, "-pc_lor_nodal_relax_weight"));
  PetscCall(PetscOptionsClearValue(NULL, "-lor_pc_type"));
  PetscCall(HopsSpaceCreateHCurl(dm, 1, label, 6, values, &full));
  PetscCall(SetUp(full, "-lor_pc_hypre_type ams"));
  PetscCall(HopsSpaceDestroy(&full));
  PetscCall(HopsSpaceDestroy(&h1));
  PetscCall(HopsSpaceDestroy(&curl));
  PetscCall(HopsSpaceDestroy(&div));
  PetscCall(HopsSpaceDestroy(&l2));
  PetscCall(HopsSpaceDestroy(&other));
  PetscCall(HopsCoefficientDestroy(&scalar));
  PetscCall(HopsCoefficientDestroy(&pair));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt dim      = 3;
  char     what[16] = "first";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-family",
                                (const char *const[]){"H1", "HCURL", "HDIV", "L2", "HopsFamily", "HOPS_", NULL},
                                (PetscEnum *)&family, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cells", &cells, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-what", what, sizeof(what), NULL));
  if (what[0] == 'f') PetscCall(First(dim));
  else if (what[0] == 'r') PetscCall(Compare(dim));
  else if (what[0] == 's') PetscCall(Solve(dim));
  else if (what[0] == 'z') PetscCall(Zero(dim));
  else if (what[0] == 'l') PetscCall(Diagonal(dim));
  else {
    PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump"));
    PetscCall(Errors());
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -family {{HCURL HDIV}separate output}
    test:
      suffix: first
      nsize: {{1 3}}
      args: -what first -dim {{2 3}}
    test:
      suffix: refined_2d
      nsize: {{1 3}}
      args: -what refined -dim 2 -cells 3 -order {{1 2 5}}
    test:
      suffix: refined_3d
      nsize: {{1 2}}
      args: -what refined -dim 3 -cells 2 -order {{2 3}}
    test:
      suffix: solve
      nsize: {{1 2}}
      args: -what solve -dim {{2 3}} -order 3
    test:
      suffix: hypre
      requires: hypre real
      args: -what solve -pc_lor_mat_type hypre
    test:
      suffix: others
      args: -what solve -lor_pc_type {{lu bjacobi gamg}} -lor_pc_gamg_reuse_interpolation 0 -options_left 0
    test:
      suffix: boomeramg
      requires: hypre
      args: -what solve -lor_pc_hypre_type boomeramg

  test:
    suffix: l2
    nsize: {{1 2}}
    args: -what l2 -dim {{2 3}} -order 3 -ksp_view
    filter: grep -o -e "type: jacobi" -e "L2: converged"

  test:
    suffix: zero
    requires: hypre
    nsize: {{1 2}}
    args: -what zero -dim {{2 3}} -order 3

  test:
    suffix: errors
    requires: hypre
    args: -what errors -malloc_dump 0

TEST*/
