static char help[] =
  "Operators whose unknowns are others than the space's: hanging nodes by a prolongation, hierarchical bases by a transformation.\n\
  -order <p> -n <n>  : n^2 coarse cells beside (2n)^2 fine ones, or n^2 cells\n\
  -hierarchical      : a basis of vertices and bubbles in place of hanging nodes\n\
  -list              : with that, a space with a list of essential unknowns\n\
  -true              : the operator has no unknowns for constrained nodes\n\
  -kappa <0|1>       : 10^(2x) in place of a smooth coefficient\n\
  -tell              : the coefficient\n\
  -compare           : the matrix against the product by PETSc\n\
  -errors            : what is refused\n\n";

#include "boxarrays.h"
#include "hopsexpect.h"

static PetscErrorCode Power(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar k[], void *ctx)
{
  k[0] = PetscPowReal(10.0, 2.0 * x[0]);
  return PETSC_SUCCESS;
}

/* l[i] = i-th Lagrange polynomial on z[P] at x */
static void Lagrange(PetscInt P, const PetscReal z[], PetscReal x, PetscReal l[])
{
  for (PetscInt i = 0; i < P; ++i) {
    l[i] = 1.0;
    for (PetscInt j = 0; j < P; ++j)
      if (j != i) l[i] *= (x - z[j]) / (z[i] - z[j]);
  }
}

static PetscErrorCode NewMatrix(PetscInt m, PetscInt n, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, m, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the form's matrix on a space without essential unknowns */
static PetscErrorCode FormMatrix(HopsSpace sp, HopsCoefficient kappa, Mat *PA, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(sp, PA));
  PetscCall(MatPASetDiffusion(*PA, kappa));
  PetscCall(MatConvert(*PA, MATAIJ, MAT_INITIAL_MATRIX, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P^T A P, with rows of the identity where mark is not zero */
static PetscErrorCode Product(Mat A, Mat P, Vec mark, Mat *B)
{
  Mat Q;
  Vec keep;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(P, MAT_COPY_VALUES, &Q));
  PetscCall(VecDuplicate(mark, &keep));
  PetscCall(VecSet(keep, 1.0));
  PetscCall(VecAXPY(keep, -1.0, mark));
  PetscCall(MatDiagonalScale(Q, NULL, keep));
  PetscCall(MatPtAP(A, Q, MAT_INITIAL_MATRIX, PETSC_DEFAULT, B));
  PetscCall(MatSetOption(*B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatDiagonalSet(*B, mark, ADD_VALUES));
  PetscCall(VecDestroy(&keep));
  PetscCall(MatDestroy(&Q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------------- hanging nodes ---------------------------------------- */

typedef struct {
  PetscInt  p, n, N[2], ntot; /* nodes of a side of the coarse and of the fine half; of both */
  PetscReal z[65];
  HopsSpace sp;
  PetscInt *number, *column; /* [ntot] row and column of P, -1: constrained */
  PetscInt  ncolumns;        /* of this rank */
} Hanging;

static PetscErrorCode HangingSpace(Hanging *h)
{
  const PetscInt P = h->p + 1, np = P * P, nc[2] = {h->n * h->n, 4 * h->n * h->n};
  PetscInt64    *ids;
  PetscInt      *numbers, cells = 0;
  PetscReal     *x;
  PetscMPIInt    rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  h->ntot = 0;
  for (PetscInt f = 0; f < 2; ++f) {
    h->N[f] = (f + 1) * h->n * h->p + 1;
    h->ntot += h->N[f] * h->N[f];
  }
  PetscCall(TestGLL(P, h->z));
  PetscCall(PetscMalloc3((nc[0] + nc[1]) * np, &ids, (nc[0] + nc[1]) * np, &numbers, (nc[0] + nc[1]) * np * 2, &x));
  for (PetscInt c = 0; c < nc[0] + nc[1]; ++c) {
    const PetscInt f = c < nc[0] ? 0 : 1, m = (f + 1) * h->n, k = f ? c - nc[0] : c;

    if (c * size / (nc[0] + nc[1]) != rank) continue;
    for (PetscInt i = 0; i < np; ++i) {
      const PetscInt ix = k % m * h->p + i % P, iy = k / m * h->p + i / P;

      ids[cells * np + i]         = (f ? h->N[0] * h->N[0] : 0) + iy * h->N[f] + ix;
      x[(cells * np + i) * 2]     = f + (k % m + 0.5 * (h->z[i % P] + 1.0)) / m;
      x[(cells * np + i) * 2 + 1] = (k / m + 0.5 * (h->z[i / P] + 1.0)) / m;
    }
    ++cells;
  }
  PetscCall(HopsSpaceCreateFromNodes(PETSC_COMM_WORLD, 2, h->p, cells, PETSC_DECIDE, ids, NULL, x, 0, NULL, &h->sp));
  PetscCall(HopsSpaceGetNodeNumbers(h->sp, numbers));
  PetscCall(PetscMalloc2(h->ntot, &h->number, h->ntot, &h->column));
  for (PetscInt g = 0; g < h->ntot; ++g) h->number[g] = -1;
  for (PetscInt i = 0; i < cells * np; ++i) h->number[ids[i]] = numbers[i];
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, h->number, h->ntot, MPIU_INT, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(PetscFree3(ids, numbers, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool IsConstrained(const Hanging *h, PetscInt g)
{
  return g >= h->N[0] * h->N[0] && (g - h->N[0] * h->N[0]) % h->N[1] == 0 ? PETSC_TRUE : PETSC_FALSE;
}

static PetscBool IsWall(const Hanging *h, PetscInt g)
{
  const PetscInt f = g < h->N[0] * h->N[0] ? 0 : 1, k = f ? g - h->N[0] * h->N[0] : g, ix = k % h->N[f], iy = k / h->N[f];

  return iy == 0 || iy == h->N[f] - 1 || (f ? ix == h->N[f] - 1 : ix == 0) ? PETSC_TRUE : PETSC_FALSE;
}

/* the columns are the space's unknowns, or those that are not constrained */
static PetscErrorCode HangingColumns(Hanging *h, PetscBool only)
{
  PetscInt   n, N, start = 0, *at;
  PetscBool *free;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetSizes(h->sp, &n, &N));
  PetscCall(PetscMalloc2(N, &free, N + 1, &at));
  for (PetscInt g = 0; g < h->ntot; ++g) free[h->number[g]] = !only || !IsConstrained(h, g) ? PETSC_TRUE : PETSC_FALSE;
  at[0] = 0;
  for (PetscInt i = 0; i < N; ++i) at[i + 1] = at[i] + (free[i] ? 1 : 0);
  for (PetscInt g = 0; g < h->ntot; ++g) h->column[g] = free[h->number[g]] ? at[h->number[g]] : -1;
  PetscCallMPI(MPI_Exscan(&n, &start, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  h->ncolumns = at[start + n] - at[start];
  PetscCall(PetscFree2(free, at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P, and which unknowns of the operator have Dirichlet rows */
static PetscErrorCode HangingProlongation(const Hanging *h, Mat *P, Vec *mark)
{
  PetscInt n, start, end;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetSizes(h->sp, &n, NULL));
  PetscCall(NewMatrix(n, h->ncolumns, P));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, h->ncolumns, PETSC_DETERMINE, mark));
  PetscCall(MatGetOwnershipRange(*P, &start, &end));
  for (PetscInt g = 0; g < h->ntot; ++g) {
    const PetscInt row = h->number[g];

    if (row < start || row >= end) continue;
    if (!IsConstrained(h, g)) {
      PetscCall(MatSetValue(*P, row, h->column[g], 1.0, INSERT_VALUES));
      if (IsWall(h, g)) PetscCall(VecSetValue(*mark, h->column[g], 1.0, INSERT_VALUES));
    } else {
      const PetscInt  iy = (g - h->N[0] * h->N[0]) / h->N[1], fine = PetscMin(iy / h->p, 2 * h->n - 1);
      const PetscReal y = (fine % 2) - 0.5 + 0.5 * h->z[iy - fine * h->p];
      PetscReal       l[65];

      Lagrange(h->p + 1, h->z, y, l);
      for (PetscInt i = 0; i <= h->p; ++i)
        if (PetscAbsReal(l[i]) > 1e-13)
          PetscCall(MatSetValue(*P, row, h->column[(fine / 2 * h->p + i) * h->N[0] + h->N[0] - 1], l[i], INSERT_VALUES));
      if (h->column[g] >= 0) PetscCall(VecSetValue(*mark, h->column[g], 1.0, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(VecAssemblyBegin(*mark));
  PetscCall(VecAssemblyEnd(*mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------------- other bases ---------------------------------------- */

/* one cell: V[P][P], nodal values of hats and of differences of Legendre polynomials; S, its inverse */
static void CellBasis(PetscInt P, const PetscReal z[], PetscReal V[], PetscReal S[])
{
  PetscReal W[81] = {0.0};

  for (PetscInt i = 0; i < P; ++i) {
    PetscReal L[9] = {1.0, z[i]};

    for (PetscInt k = 2; k < P; ++k) L[k] = ((2 * k - 1) * z[i] * L[k - 1] - (k - 1) * L[k - 2]) / k;
    for (PetscInt k = 1; k < P - 1; ++k) V[i * P + k] = L[k + 1] - L[k - 1];
    V[i * P]         = 0.5 * (1.0 - z[i]);
    V[i * P + P - 1] = 0.5 * (1.0 + z[i]);
    for (PetscInt k = 0; k < P; ++k) {
      W[i * P + k] = V[i * P + k];
      S[i * P + k] = i == k ? 1.0 : 0.0;
    }
  }
  for (PetscInt c = 0; c < P; ++c) { /* Gauss and Jordan, with pivots */
    PetscInt pivot = c;

    for (PetscInt r = c; r < P; ++r)
      if (PetscAbsReal(W[r * P + c]) > PetscAbsReal(W[pivot * P + c])) pivot = r;
    for (PetscInt k = 0; k < P; ++k) {
      PetscReal t;

      t = W[c * P + k], W[c * P + k] = W[pivot * P + k], W[pivot * P + k] = t;
      t = S[c * P + k], S[c * P + k] = S[pivot * P + k], S[pivot * P + k] = t;
    }
    for (PetscInt r = 0; r < P; ++r) {
      const PetscReal f = r == c ? 0.0 : W[r * P + c] / W[c * P + c];

      for (PetscInt k = 0; k < P; ++k) {
        W[r * P + k] -= f * W[c * P + k];
        S[r * P + k] -= f * S[c * P + k];
      }
    }
  }
  for (PetscInt r = 0; r < P; ++r)
    for (PetscInt k = 0; k < P; ++k) S[r * P + k] /= W[r * P + r];
}

/* the matrix of tensor products of a cell's matrix M on the box: entries of common nodes are the same in
   all cells */
static PetscErrorCode BoxMatrix(const Box *b, const BoxArrays *a, const PetscReal M[], Mat *A)
{
  const PetscInt P = b->p + 1;

  PetscFunctionBeginUser;
  PetscCall(NewMatrix(a->owned, a->owned, A));
  for (PetscInt c = 0; c < a->nc; ++c)
    for (PetscInt i = 0; i < a->np; ++i)
      for (PetscInt j = 0; j < a->np; ++j) {
        const PetscReal v = M[i % P * P + j % P] * M[i / P * P + j / P];

        if (PetscAbsReal(v) > 1e-13) PetscCall(MatSetValue(*A, a->nodes[c * a->np + i], a->nodes[c * a->np + j], v, INSERT_VALUES));
      }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a space on n^2 cells, and one with a list of essential unknowns, less the last `fewer` of each rank; P
   takes vertices and bubbles to nodes, Q back */
static PetscErrorCode Hierarchical(PetscInt p, PetscInt n, PetscInt fewer, HopsSpace *sp, HopsSpace *listed, Mat *P, Mat *Q,
                                   Vec *mark)
{
  Box       box = {.dim = 2, .p = p, .cells = {n, n, 1}};
  BoxArrays a;
  PetscReal V[81], S[81];

  PetscFunctionBeginUser;
  PetscCall(BoxSetUp(&box));
  PetscCall(BoxArraysCreate(&box, PETSC_FALSE, PETSC_TRUE, &a));
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, 2, p, a.nc, a.owned, a.nodes, a.coords, 0, NULL, sp));
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, 2, p, a.nc, a.owned, a.nodes, a.coords, PetscMax(a.ness - fewer, 0), a.ess,
                                      listed));
  CellBasis(p + 1, box.z, V, S);
  PetscCall(BoxMatrix(&box, &a, V, P));
  PetscCall(BoxMatrix(&box, &a, S, Q));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, a.owned, PETSC_DETERMINE, mark));
  for (PetscInt i = 0; i < a.ness; ++i) PetscCall(VecSetValue(*mark, a.ess[i], 1.0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(*mark));
  PetscCall(VecAssemblyEnd(*mark));
  PetscCall(BoxArraysDestroy(&a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- solves ------------------------------------------- */

static PetscErrorCode Solve(Mat A, KSP ksp, PetscInt most)
{
  Vec         x, y, b;
  PetscRandom r;
  PetscReal   error, norm;
  PetscInt    its;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(VecSetRandom(x, r));
  PetscCall(MatMult(A, x, b));
  for (PetscInt k = 0; k < 2; ++k) { /* and once more, set up anew */
    PetscCall(MatScale(A, k ? 2.0 : 1.0));
    PetscCall(VecScale(b, k ? 2.0 : 1.0));
    PetscCall(KSPSolve(ksp, b, y));
  }
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(VecAXPY(y, -1.0, x));
  PetscCall(VecNorm(y, NORM_2, &error));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, solution %s\n", its > 2 && its <= most ? "iterations as expected" : "ITERATIONS",
                        error < 1e-7 * norm ? "right" : "WRONG"));
  if (its <= 2 || its > most) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " iterations\n", its));
  if (error >= 1e-7 * norm) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "error %g\n", (double)(error / norm)));
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the preconditioner's matrix, and that which PETSc makes of the space's own */
static PetscErrorCode Compare(Mat PA, Mat P, Vec mark, PC pc)
{
  Mat       L, M, B;
  PC        slow;
  PetscReal norm, diff;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, &slow));
  PetscCall(PCSetOptionsPrefix(slow, "slow_"));
  PetscCall(PCSetType(slow, PCLOR));
  PetscCall(PCSetOperators(slow, PA, PA));
  PetscCall(PCSetUp(slow));
  PetscCall(PCLORGetMat(slow, &L));
  PetscCall(Product(L, P, mark, &B));
  PetscCall(PCSetUp(pc));
  PetscCall(PCLORGetMat(pc, &M));
  PetscCall(MatNorm(B, NORM_FROBENIUS, &norm));
  PetscCall(MatAXPY(B, -1.0, M, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(B, NORM_FROBENIUS, &diff));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "matrices: %s\n", diff <= 1e-13 * norm ? "the same" : "DIFFERENT"));
  PetscCall(MatDestroy(&B));
  PetscCall(PCDestroy(&slow));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a transformation that leaves unknowns out, and a list that is not the operator's */
static PetscErrorCode TransformationErrors(void)
{
  Mat             PA, A, B, P, Q;
  Vec             mark, zero;
  HopsSpace       sp, listed;
  HopsCoefficient kappa;
  PC              pc;

  PetscFunctionBeginUser;
  PetscCall(Hierarchical(4, 3, 1, &sp, &listed, &P, &Q, &mark));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestKappa, NULL, &kappa));
  PetscCall(FormMatrix(sp, kappa, &PA, &A));
  PetscCall(Product(A, P, mark, &B));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, B, B));
  PetscCall(PCLORSetSpace(pc, listed));
  PetscCall(PCLORSetTransformation(pc, Q));
  EXPECT("a list that is too short", PCSetUp(pc), "is not in the space's list|to an unknown with a Dirichlet row");
  PetscCall(PCLORSetSpace(pc, sp));
  PetscCall(MatCreateVecs(Q, NULL, &zero));
  PetscCall(VecSet(zero, 1.0));
  for (PetscInt i = 0; i < 13 * 13; i += 7) PetscCall(VecSetValue(zero, i, 0.0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(zero));
  PetscCall(VecAssemblyEnd(zero));
  PetscCall(MatDiagonalScale(Q, zero, NULL));
  EXPECT("rows of zeros", PCSetUp(pc), "takes no free node to unknown");
  PetscCall(MatZeroEntries(Q));
  PetscCall(PCLORSetTransformation(pc, Q));
  EXPECT("all zero", PCSetUp(pc), "takes no free node to unknown");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Errors(Mat A, HopsSpace sp, Mat P, Mat PA)
{
  Mat B, Q;
  PC  pc;
  Vec zero;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCLORSetProlongation(pc, P));
  EXPECT("no space", PCSetUp(pc), "are for spaces that are given|MatSetHopsSpace()");
  PetscCall(MatSetHopsSpace(A, sp));
  PetscCall(PCLORSetTransformation(pc, P));
  EXPECT("both", PCSetUp(pc), "at once are not supported");
  PetscCall(PCLORSetTransformation(pc, NULL));
  PetscCall(PCLORSetProlongation(pc, PA));
  EXPECT("a shell", PCSetUp(pc), "convert it to MATAIJ");
  PetscCall(NewMatrix(3, 3, &Q));
  PetscCall(MatAssemblyBegin(Q, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(Q, MAT_FINAL_ASSEMBLY));
  PetscCall(PCLORSetProlongation(pc, Q));
  EXPECT("another size", PCSetUp(pc), "must have a row for each unknown of the space");
  PetscCall(MatDuplicate(P, MAT_COPY_VALUES, &Q));
  PetscCall(MatCreateVecs(Q, &zero, NULL));
  PetscCall(VecSet(zero, 1.0));
  for (PetscInt i = 0; i < 40; ++i) PetscCall(VecSetValue(zero, i, 0.0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(zero));
  PetscCall(VecAssemblyEnd(zero));
  PetscCall(MatDiagonalScale(Q, NULL, zero));
  PetscCall(PCLORSetProlongation(pc, Q));
  EXPECT("an unknown that is not used", PCSetUp(pc), "is used by no row of the prolongation");
  PetscCall(PCLORSetProlongation(pc, P));
  PetscCall(MatConvert(PA, MATAIJ, MAT_INITIAL_MATRIX, &Q));
  PetscCall(MatPtAP(Q, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &B));
  PetscCall(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatShift(B, 1e-2));
  PetscCall(MatSetHopsSpace(B, sp));
  PetscCall(PCSetOperators(pc, B, B));
  EXPECT("no Dirichlet rows", PCSetUp(pc), "is singular|-pc_lor_mass");
  PetscCall(PCLORSetProlongation(pc, NULL));
  PetscCall(PCLORSetTransformation(pc, P));
  PetscCall(TransformationErrors());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Hanging   h            = {.p = 4, .n = 3};
  PetscInt  most         = 30;
  PetscBool list         = PETSC_FALSE;
  PetscBool hierarchical = PETSC_FALSE, only = PETSC_FALSE, power = PETSC_FALSE, tell = PETSC_FALSE, compare = PETSC_FALSE,
            errors = PETSC_FALSE;
  HopsCoefficient kappa;
  HopsSpace       sp, listed = NULL;
  Mat             PA, A, P, Q = NULL, B;
  Vec             mark;
  KSP             ksp;
  PC              pc;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &h.p, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &h.n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-most", &most, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-hierarchical", &hierarchical, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-list", &list, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-true", &only, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-kappa", &power, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-tell", &tell, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-compare", &compare, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-errors", &errors, NULL));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, power ? Power : TestKappa, NULL, &kappa));
  if (hierarchical) PetscCall(Hierarchical(h.p, h.n, 0, &sp, &listed, &P, &Q, &mark));
  else {
    PetscCall(HangingSpace(&h));
    PetscCall(HangingColumns(&h, only));
    PetscCall(HangingProlongation(&h, &P, &mark));
    PetscCall(PetscFree2(h.number, h.column));
    sp = h.sp;
  }
  PetscCall(FormMatrix(sp, kappa, &PA, &A));
  PetscCall(Product(A, P, mark, &B));
  if (errors) {
    PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump")); /* what a raised error left half made is not freed */
    PetscCall(Errors(B, sp, P, PA));
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(MatSetHopsSpace(B, list ? listed : sp));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(KSPSetFromOptions(ksp));
  if (hierarchical) PetscCall(PCLORSetTransformation(pc, Q));
  else PetscCall(PCLORSetProlongation(pc, P));
  if (tell) PetscCall(PCLORSetCoefficients(pc, kappa, NULL));
  if (compare) PetscCall(Compare(PA, P, mark, pc));
  PetscCall(Solve(B, ksp, most));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&P));
  PetscCall(MatDestroy(&Q));
  PetscCall(MatDestroy(&PA));
  PetscCall(VecDestroy(&mark));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(HopsSpaceDestroy(&listed));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  # prolongations and transformations are the host's
  testset:
    requires: host
    args: -ksp_type cg
    output_file: output/attach_1.out
    test:
      suffix: hanging
      args: -true {{0 1}} -order {{2 5}}
      nsize: {{1 3}}
    test:
      suffix: hanging_power
      args: -kappa 1 -tell {{0 1}}
      nsize: {{1 2}}
    test:
      suffix: hierarchical
      args: -hierarchical -order {{2 6}} -list {{0 1}}
      nsize: {{1 3}}
    test:
      suffix: hierarchical_power
      args: -hierarchical -kappa 1 -tell
      nsize: {{1 2}}
    test:
      suffix: empty
      args: -n 1 -order 3
      nsize: 4
    test:
      suffix: hierarchical_empty
      args: -hierarchical -n 2 -order 4
      nsize: 7

  test:
    suffix: compare
    requires: host
    args: -compare -tell -slow_lor_pc_type jacobi -ksp_type cg -true {{0 1}}
    nsize: {{1 4}}
    output_file: output/between_compare.out

  test:
    suffix: view
    requires: host
    args: -hierarchical {{0 1}separate output} -ksp_type cg -ksp_view
    filter: grep -E "essential unknowns|coefficient|not scaled|scaled by|solution|unknowns of the operator"

  test:
    suffix: errors
    requires: host
    args: -errors -malloc_dump 0
    nsize: {{1 2}}

TEST*/
