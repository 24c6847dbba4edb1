static char help[] = "Elasticity of a code that hops knows the mesh of by arrays: -pc_type lor, of several components.\n\
  -dim <d> -order <p> -cells <n,n,n> : a box\n\
  -fix <all|side|slide>              : Dirichlet rows: of the boundary, of one side, of two sides component by component\n\
  -nu <nu>                           : Poisson's ratio\n\
  -shell                             : a shell in place of the assembled matrix\n\
  -elastic <cell|nodal|function>     : Lame's coefficients are told in this way\n\
  -compare                           : each component's low-order-refined matrix is that of a scalar field\n\
  -dropped                           : sheared cells, whose off-diagonal terms one component keeps, others drop\n\
  -errors                            : what is refused\n\n";

#include "boxarrays.h"
#include "hopsexpect.h"
#include <hops/private/petscshim.h>
#include <petsc/private/petscimpl.h>

/* 1D matrices of the reference interval: mass, stiffness, and int l_i l_j', by p + 2 Gauss points */
typedef struct {
  PetscReal M[9 * 9], K[9 * 9], C[9 * 9];
} Line;

static PetscErrorCode LineCreate(PetscInt P, const PetscReal z[], Line *l)
{
  const PetscInt q = P + 1;
  PetscReal      x[10], w[10];

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(l, sizeof(*l)));
  PetscCall(PetscDTGaussQuadrature(q, -1.0, 1.0, x, w));
  for (PetscInt k = 0; k < q; ++k) {
    PetscReal v[9], d[9];

    for (PetscInt i = 0; i < P; ++i) {
      v[i] = 1.0;
      d[i] = 0.0;
      for (PetscInt j = 0; j < P; ++j) {
        PetscReal t = 1.0;

        if (j == i) continue;
        v[i] *= (x[k] - z[j]) / (z[i] - z[j]);
        for (PetscInt m = 0; m < P; ++m)
          if (m != i) t *= m == j ? 1.0 / (z[i] - z[j]) : (x[k] - z[m]) / (z[i] - z[m]);
        d[i] += t;
      }
    }
    for (PetscInt i = 0; i < P; ++i)
      for (PetscInt j = 0; j < P; ++j) {
        l->M[i * P + j] += w[k] * v[i] * v[j];
        l->K[i * P + j] += w[k] * d[i] * d[j];
        l->C[i * P + j] += w[k] * v[i] * d[j];
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* int d_e phi_i d_f phi_j on a box with sides h */
static PetscReal Entry(const Line *l, PetscInt dim, PetscInt P, const PetscReal h[], PetscInt i, PetscInt j, PetscInt e, PetscInt f)
{
  PetscReal v = 1.0;

  for (PetscInt d = 0; d < dim; ++d, i /= P, j /= P) {
    const PetscInt a = i % P, b = j % P;

    if (d == e && d == f) v *= l->K[a * P + b] * 2.0 / h[d];
    else if (d == e) v *= l->C[b * P + a];
    else if (d == f) v *= l->C[a * P + b];
    else v *= l->M[a * P + b] * h[d] / 2.0;
  }
  return v;
}

typedef enum {
  FIX_ALL,
  FIX_SIDE,
  FIX_SLIDE
} Fix;

/* is component c fixed at node g of the box? */
static PetscBool Fixed(const Box *b, Fix fix, PetscInt g, PetscInt c)
{
  PetscBool wall = PETSC_FALSE;

  for (PetscInt d = 0; d < b->dim; ++d, g /= b->N[d - 1]) {
    const PetscBool lower = g % b->N[d] == 0 ? PETSC_TRUE : PETSC_FALSE;

    if (fix == FIX_ALL) wall = lower || g % b->N[d] == b->N[d] - 1 || wall ? PETSC_TRUE : PETSC_FALSE;
    if (fix == FIX_SIDE && d == 0 && lower) wall = PETSC_TRUE;
    if (fix == FIX_SLIDE && lower && (d == c || (d == 0 && c == 1))) wall = PETSC_TRUE;
  }
  return wall;
}

static PetscErrorCode Assemble(const Box *b, const BoxArrays *a, Fix fix, PetscReal nu, Mat *A)
{
  const PetscInt  dim = b->dim, P = b->p + 1, np = a->np;
  const PetscReal lambda = nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), mu = 0.5 / (1.0 + nu);
  PetscReal       h[3] = {0.0, 0.0, 0.0}, x[3];
  PetscScalar    *K;
  PetscInt       *number, *owned, *rows, n = 0;
  PetscMPIInt     rank, size;
  Line            l;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(LineCreate(P, b->z, &l));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, a->owned * dim, a->owned * dim, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(*A, dim));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(PetscMalloc1(np * dim * np * dim, &K));
  for (PetscInt d = 0; d < dim; ++d) h[d] = 1.0 / b->cells[d];
  for (PetscInt i = 0; i < np; ++i)
    for (PetscInt j = 0; j < np; ++j) {
      PetscReal laplace = 0.0;

      for (PetscInt d = 0; d < dim; ++d) laplace += Entry(&l, dim, P, h, i, j, d, d);
      for (PetscInt c = 0; c < dim; ++c)
        for (PetscInt e = 0; e < dim; ++e)
          K[(i * dim + c) * np * dim + j * dim + e] =
            lambda * Entry(&l, dim, P, h, i, j, c, e) + mu * Entry(&l, dim, P, h, i, j, e, c) + (c == e ? mu * laplace : 0.0);
    }
  for (PetscInt c = 0; c < a->nc; ++c)
    PetscCall(MatSetValuesBlocked(*A, np, a->nodes + c * np, np, a->nodes + c * np, K, ADD_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(K));
  PetscCall(PetscMalloc3(b->ntot, &number, size, &owned, b->ntot * dim, &rows));
  PetscCall(BoxNumber(b, size, PETSC_FALSE, number, owned));
  for (PetscInt c = 0; c < b->nc; ++c)
    for (PetscInt i = 0; i < np; ++i) {
      const PetscInt g = BoxNode(b, c, i, x);

      for (PetscInt k = 0; k < dim && number[g] >= 0; ++k)
        if (Fixed(b, fix, g, k) && number[g] % size == rank) rows[n++] = number[g] * dim + k;
      number[g] = -1 - number[g] < 0 ? -1 - number[g] : number[g]; /* once */
    }
  PetscCall(MatZeroRowsColumns(*A, n, rows, 1.0, NULL, NULL));
  PetscCall(PetscFree3(number, owned, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellMult(Mat S, Vec x, Vec y)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the code's solver, which options make, finds what the matrix was multiplied with */
static PetscErrorCode Solve(Mat A, PetscInt most)
{
  Vec         x, y, b;
  PetscRandom r;
  PetscReal   error, norm;
  PetscInt    its;
  KSP         ksp;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(VecSetRandom(x, r));
  PetscCall(MatMult(A, x, b));
  for (PetscInt k = 0; k < 2; ++k) { /* once more, with the matrix that there is */
    PetscCall(PetscObjectStateIncrease((PetscObject)A));
    PetscCall(KSPSolve(ksp, b, y));
  }
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(VecAXPY(y, -1.0, x));
  PetscCall(VecNorm(y, NORM_2, &error));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, solution %s\n", its > 2 && its <= most ? "iterations as expected" : "ITERATIONS",
                        error < 1e-7 * norm ? "right" : "WRONG"));
  if (its <= 2 || its > most) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " iterations\n", its));
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NewPC(Mat A, HopsSpace sp, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetType(*pc, PCLOR));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(MatSetHopsSpace(A, sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Constant(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar k[], void *ctx)
{
  k[0] = *(PetscReal *)ctx;
  return PETSC_SUCCESS;
}

/* constants, told as what may vary, make the same matrix as those of -pc_lor_elasticity */
static PetscErrorCode Elastic(const BoxArrays *a, PetscReal nu, const char how[], Mat A, HopsSpace sp)
{
  PetscReal       lame[2] = {nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), 0.5 / (1.0 + nu)}, norm, all;
  HopsCoefficient cf[2];
  PetscBool       cell, nodal;
  PC              pc[2];
  Mat             L[2], D;
  char            option[128];

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(how, "cell", &cell));
  PetscCall(PetscStrcmp(how, "nodal", &nodal));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscScalar *v;

    PetscCall(PetscMalloc1(a->nc * a->np, &v));
    for (PetscInt i = 0; i < a->nc * a->np; ++i) v[i] = lame[k];
    if (cell) PetscCall(HopsCoefficientCreateCell(sp, 1, v, &cf[k]));
    else if (nodal) PetscCall(HopsCoefficientCreateNodal(sp, 1, v, &cf[k]));
    else PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, Constant, &lame[k], &cf[k]));
    PetscCall(PetscFree(v));
  }
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(NewPC(A, sp, &pc[k]));
    PetscCall(PetscSNPrintf(option, sizeof(option), "-pc_lor_elasticity %.16g,%.16g", (double)lame[0], (double)lame[1]));
    if (k) {
      PetscCall(PetscOptionsInsertString(NULL, option));
      PetscCall(PCSetFromOptions(pc[k]));
      PetscCall(PetscOptionsClearValue(NULL, "-pc_lor_elasticity"));
    } else PetscCall(PCLORSetElasticity(pc[k], cf[0], cf[1]));
    PetscCall(PCSetUp(pc[k]));
    PetscCall(PCLORGetMat(pc[k], &L[k]));
  }
  PetscCall(MatNorm(L[1], NORM_FROBENIUS, &all));
  PetscCall(MatDuplicate(L[0], MAT_COPY_VALUES, &D));
  PetscCall(MatAXPY(D, -1.0, L[1], SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(D, NORM_FROBENIUS, &norm));
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD, "told by coefficients and by constants: %s\n", norm <= 1e-13 * all ? "the same" : "DIFFERENT"));
  PetscCall(MatDestroy(&D));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(PCDestroy(&pc[k]));
    PetscCall(HopsCoefficientDestroy(&cf[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Elasticity on sheared cells: the tensor of one component keeps its off-diagonal terms, those of others
   would drop theirs. A cell of several components keeps all of them, so the matrix is that without a
   tolerance */
static PetscErrorCode Dropped(const Box *b, const BoxArrays *a, Mat A)
{
  const PetscReal shear = 0.5;
  PetscReal      *x, norm, all;
  HopsSpace       sp;
  Mat             L[2], D;
  PC              pc[2];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(a->nc * a->np * b->dim, &x));
  for (PetscInt i = 0; i < a->nc * a->np; ++i)
    for (PetscInt d = 0; d < b->dim; ++d)
      x[i * b->dim + d] = a->coords[i * b->dim + d] + (d + 1 < b->dim ? shear * a->coords[i * b->dim + d + 1] : 0.0);
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, b->dim, b->p, a->nc, a->owned, a->nodes, x, 0, NULL, &sp));
  PetscCall(PetscFree(x));
  PetscCall(PetscOptionsInsertString(NULL, "-pc_lor_elasticity 1.5,1"));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(NewPC(A, sp, &pc[k]));
    PetscCall(PCLORSetDropTolerance(pc[k], k ? 0.5 : 0.0));
    PetscCall(PCSetFromOptions(pc[k]));
    PetscCall(PCSetUp(pc[k]));
    PetscCall(PCLORGetMat(pc[k], &L[k]));
  }
  PetscCall(MatNorm(L[0], NORM_FROBENIUS, &all));
  PetscCall(MatDuplicate(L[1], MAT_COPY_VALUES, &D));
  PetscCall(MatAXPY(D, -1.0, L[0], DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(D, NORM_FROBENIUS, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "terms that one component keeps: %s\n", norm <= 1e-12 * all ? "kept" : "OTHERS"));
  PetscCall(MatDestroy(&D));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(PCDestroy(&pc[k]));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the rows of a component against the matrix of a scalar field with the same essential unknowns */
static PetscErrorCode Compare(const Box *b, const BoxArrays *a, Fix fix, Mat A, HopsSpace sp)
{
  PetscReal worst = 0.0;
  Mat       L;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(NewPC(A, sp, &pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PCLORGetMat(pc, &L));
  for (PetscInt c = 0; c < b->dim; ++c) {
    const PetscScalar one = 1.0;
    PetscInt         *number, *owned, *ess, ness = 0, start, end;
    PetscMPIInt       size, rank;
    PetscReal         norm, all;
    HopsCoefficient   cf;
    HopsSpace         scalar;
    Mat               PA, S, B;
    PC                other;
    IS                is;

    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
    PetscCall(PetscMalloc3(b->ntot, &number, size, &owned, b->ntot, &ess));
    PetscCall(BoxNumber(b, size, PETSC_FALSE, number, owned));
    for (PetscInt g = 0; g < b->ntot; ++g)
      if (Fixed(b, fix, g, c)) ess[ness++] = number[g];
    PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, b->dim, b->p, a->nc, a->owned, a->nodes, a->coords, ness, ess, &scalar));
    PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &cf));
    PetscCall(MatCreatePA(scalar, &PA));
    PetscCall(MatPASetDiffusion(PA, cf));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &other));
    PetscCall(PCSetType(other, PCLOR));
    PetscCall(PCSetOperators(other, PA, PA));
    PetscCall(PCSetUp(other));
    PetscCall(PCLORGetMat(other, &S));
    PetscCall(MatGetOwnershipRange(S, &start, &end));
    PetscCall(ISCreateStride(PETSC_COMM_WORLD, end - start, start * b->dim + c, b->dim, &is));
    PetscCall(MatCreateSubMatrix(L, is, is, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatNorm(S, NORM_FROBENIUS, &all));
    PetscCall(MatAXPY(B, -1.0, S, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatNorm(B, NORM_FROBENIUS, &norm));
    worst = TestWorse(worst, norm / all);
    PetscCall(ISDestroy(&is));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&PA));
    PetscCall(PCDestroy(&other));
    PetscCall(HopsCoefficientDestroy(&cf));
    PetscCall(HopsSpaceDestroy(&scalar));
    PetscCall(PetscFree3(number, owned, ess));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "matrices of components: %s\n", worst < 1e-12 ? "those of scalar fields" : "OTHERS"));
  if (worst >= 1e-12) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%g\n", (double)worst));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* coefficients with which no form is positive: constants, and in one cell of all */
static PetscErrorCode NegativeErrors(Mat A, HopsSpace sp, PetscInt nc)
{
  const PetscScalar lame[3][2] = {{-5.0, 1.0}, {-1.5, 1.0}, {1.0, 0.0}}, one = 1.0;
  HopsCoefficient   cf[2];
  PetscScalar      *v;
  PetscMPIInt       rank;
  PC                pc;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(NewPC(A, sp, &pc));
  for (PetscInt i = 0; i < 3; ++i) {
    for (PetscInt k = 0; k < 2; ++k) PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &lame[i][k], &cf[k]));
    PetscCall(PCLORSetElasticity(pc, cf[0], cf[1]));
    EXPECT("constants of no elasticity", PCSetUp(pc), "negative somewhere|mu positive");
    for (PetscInt k = 0; k < 2; ++k) PetscCall(HopsCoefficientDestroy(&cf[k]));
  }
  PetscCall(PetscMalloc1(nc, &v));
  for (PetscInt c = 0; c < nc; ++c) v[c] = c || rank ? 1.0 : -1.5;
  PetscCall(HopsCoefficientCreateCell(sp, 1, v, &cf[0]));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &cf[1]));
  PetscCall(PCLORSetElasticity(pc, cf[0], cf[1]));
  EXPECT("a cell of no elasticity", PCSetUp(pc), "negative somewhere|mu positive");
  PetscCall(PCLORSetElasticity(pc, NULL, NULL));
  PetscCall(PCLORSetCoefficients(pc, cf[0], NULL));
  EXPECT("a cell of negative diffusion", PCSetUp(pc), "diffusion coefficient that was told|negative somewhere");
  PetscCall(PCLORSetCoefficients(pc, cf[1], NULL));
  PetscCall(PCSetUp(pc));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Errors(const Box *b, const BoxArrays *a, Mat A, HopsSpace sp)
{
  HopsSpace listed;
  PetscInt  n, all[2] = {0, 1};
  Mat       B, S;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(NegativeErrors(A, sp, a->nc));
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, b->dim, b->p, a->nc, a->owned, a->nodes, a->coords, 1, all, &listed));
  PetscCall(NewPC(A, listed, &pc));
  EXPECT("a list", PCSetUp(pc), "list of essential unknowns|without a list");
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(NewPC(B, sp, &pc));
  PetscCall(PetscOptionsInsertString(NULL, "-pc_lor_couple 1"));
  PetscCall(PCSetFromOptions(pc));
  EXPECT("couplings", PCSetUp(pc), "-pc_lor_couple|leave the option out");
  PetscCall(PetscOptionsClearValue(NULL, "-pc_lor_couple"));
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, n, n, PETSC_DETERMINE, PETSC_DETERMINE, A, &S));
  PetscCall(MatShellSetOperation(S, MATOP_MULT, (HopsVoidFn)ShellMult));
  PetscCall(NewPC(S, sp, &pc));
  PetscCall(PetscOptionsInsertString(NULL, "-pc_lor_elasticity 1"));
  EXPECT("one of Lame's coefficients", PCSetFromOptions(pc), "-pc_lor_elasticity takes lambda,mu");
  PetscCall(PetscOptionsClearValue(NULL, "-pc_lor_elasticity"));
  EXPECT("no block size", PCSetUp(pc), "MatSetBlockSize(A, 2)|PCFIELDSPLIT");
  PetscCall(MatDestroy(&B));
  PetscCall(Assemble(b, a, FIX_SIDE, 0.3, &B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &B));
  PetscCall(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatShift(B, 1.0)); /* the identity: diagonal, so that no row is a Dirichlet row */
  PetscCall(NewPC(B, sp, &pc));
  PetscCall(PetscOptionsInsertString(NULL, "-pc_lor_elasticity 1,1 -pc_lor_diffusion 2"));
  PetscCall(PCSetFromOptions(pc));
  EXPECT("elasticity and a diffusion", PCSetUp(pc), "contradict each other");
  PetscCall(PetscOptionsClearValue(NULL, "-pc_lor_elasticity"));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_lor_diffusion"));
  PetscCall(NewPC(B, sp, &pc));
  EXPECT("mass alone", PCSetUp(pc), "low-order-refined matrix is singular|-pc_lor_mass");
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const fixes[] = {"all", "side", "slide"};
  Box               box     = {.dim = 2, .p = 4, .cells = {4, 3, 2}, .straight = PETSC_TRUE};
  PetscInt          nn = 3, most = 60, fix = FIX_ALL, n;
  PetscReal         nu    = 0.3;
  PetscBool         shell = PETSC_FALSE, compare = PETSC_FALSE, errors = PETSC_FALSE, dropped = PETSC_FALSE, told;
  char              elastic[16];
  BoxArrays         a;
  HopsSpace         sp;
  Mat               A, S;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &box.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &box.p, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-most", &most, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-cells", box.cells, &nn, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-fix", fixes, 3, &fix, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-nu", &nu, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-shell", &shell, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-compare", &compare, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-errors", &errors, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-dropped", &dropped, NULL));
  PetscCall(BoxSetUp(&box));
  PetscCall(BoxArraysCreate(&box, PETSC_FALSE, PETSC_FALSE, &a));
  PetscCall(Assemble(&box, &a, (Fix)fix, nu, &A));
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, box.dim, box.p, a.nc, a.owned, a.nodes, a.coords, 0, NULL, &sp));
  PetscCall(MatSetHopsSpace(A, sp));
  if (errors) {
    PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump")); /* what a raised error left half made is not freed */
    PetscCall(Errors(&box, &a, A, sp));
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(PetscOptionsGetString(NULL, NULL, "-elastic", elastic, sizeof(elastic), &told));
  if (told) PetscCall(Elastic(&a, nu, elastic, A, sp));
  else if (dropped) PetscCall(Dropped(&box, &a, A));
  else if (compare) PetscCall(Compare(&box, &a, (Fix)fix, A, sp));
  else if (shell) {
    PetscCall(MatGetLocalSize(A, &n, NULL));
    PetscCall(MatCreateShell(PETSC_COMM_WORLD, n, n, PETSC_DETERMINE, PETSC_DETERMINE, A, &S));
    PetscCall(MatShellSetOperation(S, MATOP_MULT, (HopsVoidFn)ShellMult));
    PetscCall(MatSetBlockSize(S, box.dim));
    PetscCall(MatSetHopsSpace(S, sp));
    PetscCall(Solve(S, most));
    PetscCall(MatDestroy(&S));
  } else PetscCall(Solve(A, most));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(MatDestroy(&A));
  PetscCall(BoxArraysDestroy(&a));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -ksp_type cg -pc_type lor
    output_file: output/attach_1.out
    test:
      suffix: 2d
      args: -fix {{all side slide}}
      nsize: {{1 3}}
    test:
      suffix: 3d
      args: -dim 3 -order 3 -cells 2,2,2 -fix {{all slide}}
      nsize: {{1 2}}
    test:
      suffix: told
      args: -fix {{all side slide}} -pc_lor_elasticity 1.5,1 -pc_lor_scale diagonal -most 34
      nsize: {{1 2}}
    test:
      suffix: shell
      args: -shell -fix side
      nsize: {{1 2}}
    test:
      suffix: empty
      args: -cells 2,1
      nsize: 4

  # of matrices of type hypre PETSc takes no norms
  testset:
    requires: host
    args: -compare
    test:
      suffix: compare
      args: -fix {{all slide}}
      nsize: {{1 4}}
      output_file: output/components_compare.out
    test:
      suffix: compare_3d
      args: -dim 3 -order 2 -cells 2,2,2 -fix slide
      nsize: {{1 2}}
      output_file: output/components_compare.out

  test:
    suffix: elastic
    requires: host
    args: -elastic {{cell nodal function}} -fix side
    nsize: {{1 3}}
    output_file: output/components_elastic.out

  test:
    suffix: dropped
    requires: host
    args: -dropped -order 4 -cells {{3,3 5,4}}
    nsize: {{1 2}}

  test:
    suffix: dropped_3d
    requires: host
    args: -dropped -dim 3 -order 2 -cells 2,2,2
    output_file: output/components_dropped.out

  test:
    suffix: view
    requires: host
    args: -ksp_type cg -pc_type lor -ksp_view
    filter: grep -E "essential unknowns|coefficient|not scaled|scaled by|solution|components" | sed "s/seqaij/aij/; s/mpiaij/aij/"
    nsize: {{1 2}}

  test:
    suffix: view_elastic
    args: -ksp_type cg -pc_type lor -pc_lor_elasticity 1.5,1 -pc_lor_scale diagonal -ksp_view
    filter: grep -E "essential unknowns|coefficient|not scaled|scaled by|solution"

  test:
    suffix: errors
    args: -errors -malloc_dump 0
    nsize: {{1 2}}

TEST*/
