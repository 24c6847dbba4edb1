static char help[] =
  "Hanging nodes against an independent constraint matrix, found by location of points: operator, diagonal, assembled and\n\
low-order-refined matrix, right-hand side, errors.\n\
  -dim <d> -order <p> -finest <l> -part <s> -seed <n> : refined at random\n\
  -turn      : each cell sees the mesh its own way\n\
  -map <n>   : 0 boxes, 1 multilinear, 2 quadratic\n\
  -essential : part of the boundary is essential; -robin : another part has Robin terms\n\
  -attached  : PCLOR finds the essential unknowns in a code's own matrix\n\
  -empty <r> : a rank without cells\n\
  -before <p>: first a low-order-refined matrix on part p of the cells refined, whose tables others share\n\
  -family <h1|hcurl|hdiv|l2>\n\
  -mutate <half|edge|transpose|sign> : the independent matrix is made wrong, which must be noticed\n\n";

#include "hangingmesh.h"

static HopsFamily   family = HOPS_H1;
static HangMutation mutation;
static PetscBool    mutated, mutatetranspose;
static PetscInt     nrobin = 0, *robin; /* facets with Robin terms, and one more: cells, then faces */

/* in Q_p for p >= 2, and after a linear map; of other families of a lower order in some directions */
static PetscErrorCode Poly(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscInt p = *(PetscInt *)ctx;

  if (family != HOPS_H1)
    for (PetscInt c = 0; c < nc; ++c) {
      PetscReal v = 1.0;

      for (PetscInt d = 0; d < dim; ++d) {
        const PetscBool open = family == HOPS_L2 || (family == HOPS_HCURL) == (c == d) ? PETSC_TRUE : PETSC_FALSE;

        v *= 0.5 + PetscPowRealInt((x[d] + 0.2 * c) / 3.0, (int)(open ? p - 1 : p));
      }
      u[c] = v + c;
    }
  if (family != HOPS_H1) return PETSC_SUCCESS;
  {
    const PetscReal a = x[0] / 3.0, b = x[1] / 3.0, c = dim > 2 ? x[2] / 3.0 : 0.0;

    u[0] = 1.0 + PetscPowReal(a, p) - 2.0 * a * PetscPowReal(b, p) + b * PetscPowReal(c, p);
  }
  return PETSC_SUCCESS;
}

static PetscErrorCode Smooth(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(2.0 * x[0]) + PetscExpReal(-x[1]) * (dim > 2 ? 1.0 + x[2] * x[2] : 1.0);
  for (PetscInt c = 1; c < nc; ++c) u[c] = PetscCosReal(x[c] + 2.0 * x[c - 1]) - c * x[0];
  return PETSC_SUCCESS;
}

/* ------------------------------------------- comparison ------------------------------------------- */

static PetscErrorCode Say(const char what[], PetscReal e, PetscReal tol)
{
  PetscFunctionBeginUser;
  if (e <= tol) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: the same\n", what));
  else if (mutated) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", what, e > 1e-3 ? "differs" : "DIFFERS BY LITTLE"));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: DIFFERS by %g\n", what, (double)e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest sum of a row */
static PetscErrorCode MatSumRows(Mat A, PetscReal *e)
{
  Vec one, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &one, &y));
  PetscCall(VecSet(one, 1.0));
  PetscCall(MatMult(A, one, y));
  PetscCall(VecNorm(y, NORM_INFINITY, e));
  PetscCall(VecDestroy(&one));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* largest difference of entries over the largest one; rows and columns of `ess` are the identity's in B */
static PetscErrorCode MatDiffer(Mat A, Mat hat, Mat L, IS ess, PetscBool rows, PetscReal *e)
{
  Mat       B, C, H;
  PetscReal n;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(hat, MATAIJ, MAT_INITIAL_MATRIX, &H)); /* of a device's type, which makes no products with L */
  PetscCall(MatPtAP(H, L, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &B));
  PetscCall(MatDestroy(&H));
  PetscCall(MatZeroRowsColumnsIS(B, ess, 1.0, NULL, NULL));
  PetscCall(MatNorm(B, NORM_INFINITY, &n));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatAXPY(C, -1.0, B, DIFFERENT_NONZERO_PATTERN));
  if (rows) PetscCall(MatSumRows(C, e));
  else PetscCall(MatNorm(C, NORM_INFINITY, e));
  *e = TestWorse(0.0, *e / n);
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* tensors where the form takes them */
static PetscErrorCode Coefficients(PetscInt dim, HopsCoefficient *k, HopsCoefficient *c)
{
  const PetscInt  full   = dim * (dim + 1) / 2;
  const PetscBool scalar = family == HOPS_H1 || family == HOPS_L2 ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, family == HOPS_H1 || (family == HOPS_HCURL && dim == 3) ? full : 1,
                                          TestKappa, NULL, k));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, scalar ? 1 : full, scalar ? TestMass : TestKappa, NULL, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Operator(HopsSpace sp, Mat *A)
{
  HopsCoefficient k, c;
  PetscInt        dim;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetDimension(sp, &dim));
  PetscCall(Coefficients(dim, &k, &c));
  PetscCall(MatCreatePA(sp, A));
  PetscCall(MatSetFromOptions(*A));
  if (family == HOPS_H1) PetscCall(MatPASetDiffusion(*A, k));
  else if (family == HOPS_HCURL) PetscCall(MatPASetCurlCurl(*A, k));
  else if (family == HOPS_HDIV) PetscCall(MatPASetDivDiv(*A, k));
  PetscCall(MatPASetMass(*A, c));
  if (nrobin) {
    HopsCoefficient one;
    PetscScalar     v = 2.5;

    PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &v, &one));
    PetscCall(MatPAAddRobin(*A, nrobin - 1, robin, robin + nrobin - 1, one));
    PetscCall(HopsCoefficientDestroy(&one));
  }
  PetscCall(HopsCoefficientDestroy(&k));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LORMatrix(Mat A, PetscInt entries, PC *pc, Mat *L)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetType(*pc, PCLOR));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCLORSetConstraintEntries(*pc, entries));
  PetscCall(PCSetUp(*pc));
  PetscCall(PCLORGetMat(*pc, L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = L^T Â L x, and the same with another matrix on the left where it is made wrong */
static PetscErrorCode CompareOperator(Mat A, Mat hat, Mat L, Mat wrong, IS ess)
{
  Vec         x, y, r, u, v;
  PetscReal   e;
  PetscScalar s[2];

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y)); /* where the space works */
  PetscCall(MatCreateVecs(hat, &u, &v));
  PetscCall(VecDuplicate(x, &r));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecISSet(x, ess, 0.0));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(L, x, u));
  PetscCall(MatMult(hat, u, v));
  PetscCall(MatMultTranspose(wrong ? wrong : L, v, r));
  PetscCall(VecISSet(r, ess, 0.0));
  PetscCall(TestVecDiffer(y, r, &e));
  PetscCall(Say("operator", e, 1e-13));
  PetscCall(VecSetRandom(r, NULL));
  PetscCall(MatMult(A, r, y));
  PetscCall(VecDot(y, x, &s[0]));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecDot(y, r, &s[1]));
  PetscCall(Say("symmetric", PetscAbsScalar(s[0] - s[1]) / PetscAbsScalar(s[1]), 1e-12));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareMatrices(Mat A, Mat hat, Mat L, IS ess)
{
  Mat       Aaij, hataij, B;
  Vec       d, f;
  PetscReal e;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &Aaij));
  PetscCall(MatConvert(hat, MATAIJ, MAT_INITIAL_MATRIX, &hataij));
  PetscCall(MatDiffer(Aaij, hataij, L, ess, PETSC_FALSE, &e));
  PetscCall(Say("assembled", e, 1e-13));
  PetscCall(MatPtAP(hataij, L, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &B));
  PetscCall(MatZeroRowsColumnsIS(B, ess, 1.0, NULL, NULL));
  PetscCall(MatCreateVecs(A, &d, NULL));
  PetscCall(VecDuplicate(d, &f));
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(MatGetDiagonal(B, f));
  PetscCall(VecPointwiseDivide(d, d, f));
  PetscCall(VecSet(f, 1.0));
  PetscCall(TestVecDiffer(d, f, &e));
  PetscCall(Say("diagonal", e, 1e-12));
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&f));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&Aaij));
  PetscCall(MatDestroy(&hataij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareLOR(const HangMesh *m, PetscInt p, const HangArrays *a, const PetscInt all[], Mat A, Mat hat, IS ess)
{
  const PetscInt entries[] = {0, 4, 2, 1};
  PC             pchat;
  Mat            Lhat;

  PetscFunctionBeginUser;
  PetscCall(LORMatrix(hat, 0, &pchat, &Lhat));
  for (PetscInt i = 0; i < (family == HOPS_H1 ? 4 : 1); ++i) {
    PC        pc;
    Mat       L, C;
    PetscReal e;
    char      name[64];

    PetscCall(LORMatrix(A, entries[i], &pc, &L));
    PetscCall(HangConstraints(m, p, a, all, entries[i], PETSC_TRUE, mutation, &C));
    /* Robin terms are lumped at the parents of hanging nodes */
    PetscCall(MatDiffer(L, Lhat, C, ess, nrobin && m->dim == 3 ? PETSC_TRUE : PETSC_FALSE, &e));
    PetscCall(PetscSNPrintf(name, sizeof(name), "low-order-refined, %" PetscInt_FMT " entries kept", entries[i]));
    PetscCall(Say(name, e, 1e-13));
    PetscCall(MatDestroy(&C));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(PCDestroy(&pchat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a code's own matrix, whose Dirichlet rows tell what is essential: the space does not */
static PetscErrorCode CompareAttached(const HangMesh *m, PetscInt p, const HangArrays *a, Mat A)
{
  HangArrays      free = *a;
  HopsCoefficient k, c;
  HopsSpace       sp;
  Mat             J, L[2];
  PC              pc[2];
  PetscReal       e, n;

  PetscFunctionBeginUser;
  free.ness = 0;
  PetscCall(HangSpace(m, p, &free, &sp));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &J));
  PetscCall(MatSetHopsSpace(J, sp));
  PetscCall(Coefficients(m->dim, &k, &c));
  PetscCall(LORMatrix(A, PETSC_DECIDE, &pc[0], &L[0]));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc[1]));
  PetscCall(PCSetOperators(pc[1], J, J));
  PetscCall(PCSetType(pc[1], PCLOR));
  PetscCall(PCLORSetCoefficients(pc[1], k, c));
  PetscCall(PCSetFromOptions(pc[1]));
  PetscCall(PCSetUp(pc[1]));
  PetscCall(PCLORGetMat(pc[1], &L[1]));
  PetscCall(MatNorm(L[0], NORM_INFINITY, &n));
  PetscCall(MatAXPY(L[0], -1.0, L[1], DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(L[0], NORM_INFINITY, &e));
  PetscCall(Say("a code's own matrix", e / n, 1e-13));
  for (PetscInt i = 0; i < 2; ++i) PetscCall(PCDestroy(&pc[i]));
  PetscCall(MatDestroy(&J));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(HopsCoefficientDestroy(&k));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* values at a point of each cell */
static PetscErrorCode CompareValues(HopsSpace sp, HopsSpace spb, Vec x, Vec u)
{
  PetscInt     n, dim, *cells, nc;
  PetscReal   *xi, e = 0.0, most;
  PetscScalar *v, *w;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetNumCells(sp, &n));
  PetscCall(HopsSpaceGetDimension(sp, &dim));
  nc = family == HOPS_HCURL || family == HOPS_HDIV ? dim : 1;
  PetscCall(PetscMalloc4(n, &cells, n * dim, &xi, n * nc, &v, n * nc, &w));
  for (PetscInt c = 0; c < n; ++c) {
    cells[c] = c;
    for (PetscInt d = 0; d < dim; ++d) xi[c * dim + d] = d == c % dim ? 1.0 : 0.3 - 0.4 * d; /* on a facet */
  }
  PetscCall(HopsSpaceEvaluate(sp, x, n, cells, xi, v));
  PetscCall(HopsSpaceEvaluate(spb, u, n, cells, xi, w));
  for (PetscInt c = 0; c < n * nc; ++c) e = TestWorse(e, PetscAbsScalar(v[c] - w[c]));
  PetscCallMPI(MPI_Allreduce(&e, &most, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(Say("values", most, 1e-12));
  PetscCall(PetscFree4(cells, xi, v, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* right-hand side, interpolation, errors, values at points */
static PetscErrorCode CompareFunctions(HopsSpace sp, HopsSpace spb, PetscInt p, Mat L, IS ess, PetscBool exact)
{
  Vec       b, x, r, u, v;
  PetscReal e, f;
  PetscInt  q = p > 1 ? p : 1;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(L, &x, &u));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(x, &r));
  PetscCall(VecDuplicate(u, &v));
  PetscCall(HopsSpaceComputeRHS(sp, Smooth, NULL, b));
  PetscCall(HopsSpaceComputeRHS(spb, Smooth, NULL, u));
  PetscCall(MatMultTranspose(L, u, r));
  PetscCall(VecISSet(r, ess, 0.0));
  PetscCall(TestVecDiffer(b, r, &e));
  PetscCall(Say("right-hand side", e, 1e-13));
  PetscCall(HopsSpaceSetEssentialFunction(sp, Smooth, NULL));
  PetscCall(HopsSpaceInterpolate(sp, Smooth, NULL, x));
  PetscCall(MatMult(L, x, u)); /* the same function, with every cell's own nodes */
  PetscCall(HopsSpaceComputeL2Error(sp, x, Smooth, NULL, &e));
  PetscCall(HopsSpaceComputeL2Error(spb, u, Smooth, NULL, &f));
  PetscCall(Say("error", PetscAbsReal(e - f) / f, 1e-5)); /* it may be as small as rounding errors let it be */
  PetscCall(CompareValues(sp, spb, x, u));
  if (exact) {
    PetscCall(HopsSpaceSetEssentialFunction(sp, Poly, &q));
    PetscCall(HopsSpaceInterpolate(sp, Poly, &q, x));
    PetscCall(HopsSpaceComputeL2Error(sp, x, Poly, &q, &e));
    PetscCall(Say("polynomials", e, 1e-12));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the facets on the upper boundary in the first direction */
static PetscErrorCode Facets(const HangMesh *m, const HangArrays *a)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(2 * a->nc, &robin));
  nrobin = 1;
  for (PetscInt pass = 0, n = 0; pass < 2; ++pass, n = 0) {
    for (PetscInt c = 0; c < a->nc; ++c) {
      const HangCell *x    = m->cell + a->first + c;
      const PetscInt  b[3] = {x->a[0] + 1, x->a[1], x->a[2]};

      if (HangIndex(m, x->level, b) >= 0) continue;
      for (PetscInt d = 0; d < m->dim && pass; ++d)
        if (!x->perm[d]) {
          robin[n]              = c;
          robin[nrobin - 1 + n] = 2 * d + (x->flip[d] ? 0 : 1);
        }
      ++n;
    }
    if (!pass) nrobin = 1 + n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* essential unknowns by their owners, as PETSc wants them */
static PetscErrorCode Owned(HopsSpace sp, const HangArrays *a, IS *ess)
{
  Vec                v;
  const PetscScalar *x;
  PetscInt           n = 0, first, *list;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateVec(sp, &v));
  for (PetscInt i = 0; i < a->ness; ++i) PetscCall(VecSetValue(v, a->ess[i], 1.0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(v));
  PetscCall(VecAssemblyEnd(v));
  PetscCall(VecGetOwnershipRange(v, &first, NULL));
  PetscCall(PetscMalloc1(a->owned, &list));
  PetscCall(VecGetArrayRead(v, &x));
  for (PetscInt i = 0; i < a->owned; ++i)
    if (PetscRealPart(x[i]) > 0.5) list[n++] = first + i;
  PetscCall(VecRestoreArrayRead(v, &x));
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, n, list, PETSC_COPY_VALUES, ess));
  PetscCall(PetscFree(list));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of the same kind on another mesh, which has fewer kinds of cells, or other ones */
static PetscErrorCode Before(PetscInt p, PetscReal part)
{
  PetscInt   dim = 2, roots[3] = {2, 2, 1};
  HangMesh   m;
  HangArrays a;
  HopsSpace  sp;
  Mat        A, L;
  PC         pc;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(HangCreate(dim, roots, PETSC_FALSE, 2, &m));
  PetscCall(HangAdapt(&m, 0, 2, part, NULL));
  PetscCall(HangList(&m, PETSC_FALSE));
  PetscCall(HangFamilyCreate(&m, family, p, NULL, NULL, -1, &a));
  PetscCall(HangSpace(&m, p, &a, &sp));
  PetscCall(Operator(sp, &A));
  PetscCall(LORMatrix(A, 4, &pc, &L));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(HangArraysDestroy(&a));
  PetscCall(HangDestroy(&m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt   p = 2, map = 0, empty = -1;
  PetscReal  part      = 0.0;
  PetscBool  essential = PETSC_FALSE, robins, attached;
  HangMesh   m;
  HangArrays a;
  PetscInt  *all;
  HopsSpace  sp, spb;
  Mat        A, hat, L, wrong = NULL;
  IS         ess;
  char       mutate[32] = "", name[16] = "h1";
  void (*maps[])(PetscInt, PetscReal[]) = {NULL, HangBilinear, HangQuadratic};

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HangSetBackend());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-map", &map, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-empty", &empty, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-essential", &essential, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mutate", mutate, sizeof(mutate), NULL));
  mutated         = mutate[0] ? PETSC_TRUE : PETSC_FALSE;
  mutation.half   = mutate[0] == 'h' ? PETSC_TRUE : PETSC_FALSE;
  mutation.edge   = mutate[0] == 'e' ? PETSC_TRUE : PETSC_FALSE;
  mutation.sign   = mutate[0] == 's' ? PETSC_TRUE : PETSC_FALSE;
  mutatetranspose = mutate[0] == 't' ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-family", name, sizeof(name), NULL));
  family = name[0] == 'l' ? HOPS_L2 : (name[1] == 'c' ? HOPS_HCURL : (name[1] == 'd' ? HOPS_HDIV : HOPS_H1));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-before", &part, NULL));
  if (part > 0.0) PetscCall(Before(p, part));
  PetscCall(HangCreateFromOptions(&m));
  PetscCall(HangFamilyCreate(&m, family, p, maps[map], essential ? HangWall : NULL, empty, &a));
  PetscCall(HangSpace(&m, p, &a, &sp));
  PetscCall(HopsSpaceView(sp, NULL));
  PetscCall(HangAllNodes(&m, &a, &all));
  PetscCall(HangBroken(&m, p, &a, &spb));
  PetscCall(HangConstraints(&m, p, &a, all, 0, PETSC_TRUE, mutation, &L));
  if (mutatetranspose) PetscCall(HangConstraints(&m, p, &a, all, 0, PETSC_FALSE, mutation, &wrong));
  PetscCall(Owned(sp, &a, &ess));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-robin", &robins));
  if (robins) PetscCall(Facets(&m, &a));
  PetscCall(Operator(sp, &A));
  PetscCall(Operator(spb, &hat));
  PetscCall(CompareOperator(A, hat, L, wrong, ess));
  PetscCall(CompareMatrices(A, hat, L, ess));
  PetscCall(CompareLOR(&m, p, &a, all, A, hat, ess));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-attached", &attached));
  if (attached) PetscCall(CompareAttached(&m, p, &a, A));
  PetscCall(CompareFunctions(sp, spb, p, L, ess, map == 0));
  PetscCall(ISDestroy(&ess));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&hat));
  PetscCall(MatDestroy(&L));
  PetscCall(MatDestroy(&wrong));
  PetscCall(PetscFree(all));
  PetscCall(PetscFree(robin));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(HopsSpaceDestroy(&spb));
  PetscCall(HangArraysDestroy(&a));
  PetscCall(HangDestroy(&m));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -lor_pc_type jacobi -turn
    filter: grep -v "space of order\|cells with"
    output_file: output/hanging.out

    test:
      suffix: 2d
      args: -dim 2 -finest 3 -order {{1 2 3 4 5 6 7 8}}

    test:
      suffix: 2d_ranks
      nsize: {{2 3 4}}
      args: -dim 2 -finest 3 -order {{1 3}} -essential -seed 5

    test:
      suffix: 2d_robin
      nsize: {{1 3}}
      args: -dim 2 -finest 3 -order {{1 4}} -robin

    test:
      suffix: 3d_robin
      nsize: {{1 3}}
      args: -dim 3 -roots 2,2,1 -finest 2 -order {{1 2 4}} -part 0.3 -robin -seed 4

    test:
      suffix: 2d_empty
      nsize: {{2 3}}
      args: -dim 2 -finest 3 -order 2 -essential -seed 3 -empty 0

    test:
      suffix: 3d
      args: -dim 3 -roots 2,1,1 -finest 2 -order {{1 2 3 4}} -part 0.3

    test:
      suffix: 3d_corner
      args: -dim 3 -roots 2,2,2 -corner -finest 2 -order 2 -part 0.2 -essential

    test:
      suffix: 3d_ranks
      nsize: {{2 3 4}}
      args: -dim 3 -roots 2,2,1 -finest 2 -order {{1 2}} -part 0.3 -essential -seed 4

    test:
      suffix: 3d_long
      requires: long
      args: -dim 3 -roots 2,1,1 -finest 2 -order {{5 6}} -part 0.2

    # batches of two cells, most of which have one mask
    test:
      suffix: base
      args: -dim 3 -roots 2,2,1 -finest 2 -part 0.3 -order {{1 2 3}} -backends host,base

    test:
      suffix: base_2d
      args: -dim 2 -finest 3 -order {{1 4 7}} -backends host,base

    test:
      suffix: backends_ranks
      nsize: {{2 3}}
      args: -dim 3 -roots 2,2,1 -finest 2 -order 2 -part 0.3 -essential -seed 4 -backends host,base

    # tables of kinds of cells that grow, and some that are there
    test:
      suffix: backends_before
      nsize: {{1 2}}
      args: -dim 3 -roots 2,2,1 -finest 2 -order {{2 3}} -part 0.3 -seed 4 -before {{0.1 0.6}} -backends host,base

    test:
      suffix: backends_robin
      nsize: 3
      args: -dim {{2 3}} -finest 2 -order 3 -robin -empty 0 -backends host,base

  testset:
    args: -lor_pc_type jacobi -turn
    filter: grep -v "space of order\|cells with"
    output_file: output/hanging_mapped.out

    test:
      suffix: 2d_mapped
      args: -dim 2 -finest 3 -order {{2 4}} -map {{1 2}} -essential

    test:
      suffix: 3d_mapped
      nsize: {{1 3}}
      args: -dim 3 -roots 2,1,1 -finest 2 -order 2 -map {{1 2}} -essential -part 0.3 -pc_lor_drop_tol 0

    test:
      suffix: backends_mapped
      args: -dim 3 -roots 2,1,1 -finest 2 -order 3 -map 2 -essential -part 0.3 -pc_lor_drop_tol 0 -backends host,base

  test:
    suffix: attached
    nsize: {{1 3}}
    args: -lor_pc_type jacobi -turn -dim {{2 3}} -roots 2,2,1 -finest 2 -order 3 -essential -attached
    filter: grep "own matrix"

  testset:
    args: -lor_pc_type jacobi -turn
    filter: grep -v "space of order\|cells with"
    output_file: output/hanging_families.out

    test:
      suffix: families_2d
      args: -dim 2 -finest 3 -family {{hcurl hdiv}} -order {{1 2 3 5 8}}

    test:
      suffix: families_2d_ranks
      nsize: {{2 3 4}}
      args: -dim 2 -finest 3 -family {{hcurl hdiv}} -order {{1 3}} -essential -seed 5

    test:
      suffix: families_3d
      args: -dim 3 -roots 2,1,1 -finest 2 -family {{hcurl hdiv}} -order {{1 2 3}} -part 0.3 -essential

    test:
      suffix: families_3d_ranks
      nsize: {{2 4}}
      args: -dim 3 -roots 2,2,1 -finest 2 -family {{hcurl hdiv}} -order {{1 2}} -part 0.3 -essential -seed 4

    test:
      suffix: families_empty
      nsize: 3
      args: -dim 2 -finest 3 -order 2 -family {{hcurl hdiv l2}} -essential -seed 3 -empty 0

    test:
      suffix: families_base
      args: -dim 3 -roots 2,1,1 -finest 2 -part 0.3 -order 2 -family {{hcurl hdiv}} -backends host,base

    test:
      suffix: backends_families
      nsize: {{1 3}}
      args: -dim 2 -finest 3 -order 3 -family {{hcurl hdiv l2}} -essential -seed 3 -backends host,base

    test:
      suffix: backends_families_before
      args: -dim 2 -finest 3 -order 2 -family {{hcurl hdiv}} -seed 3 -before 0.1 -backends host,base

    test:
      suffix: backends_families_3d
      nsize: 2
      args: -dim 3 -roots 2,2,1 -finest 2 -order 3 -family {{hcurl hdiv}} -part 0.3 -essential -seed 4 -backends host,base

    test:
      suffix: families_long
      requires: long
      args: -dim 3 -roots 2,1,1 -finest 2 -family {{hcurl hdiv}} -order 4 -part 0.2

  test:
    suffix: families_mapped
    nsize: {{1 3}}
    args: -lor_pc_type jacobi -turn -dim {{2 3}} -roots 2,1,1 -finest 2 -family {{hcurl hdiv}} -order 2 \
      -map {{1 2}} -essential -part 0.3
    filter: grep -v "space of order\|cells with"

  testset:
    args: -lor_pc_type jacobi -turn -dim 3 -roots 2,1,1 -finest 2 -order 2
    filter: grep "^operator\|^assembled\|kept"
    output_file: output/hanging_families_mutate.out

    test:
      suffix: families_mutate
      args: -family {{hcurl hdiv}} -mutate {{half sign}}

    test:
      suffix: families_mutate_edge
      args: -family hcurl -mutate edge

  testset:
    args: -lor_pc_type jacobi -turn -dim 3 -roots 2,1,1 -finest 2 -order 2
    filter: grep "^operator\|^assembled\|kept"

    test:
      suffix: mutate_half
      args: -mutate half

    test:
      suffix: mutate_edge
      args: -mutate edge

    test:
      suffix: mutate_transpose
      args: -mutate transpose

TEST*/
