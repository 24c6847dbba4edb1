/*
  What MatScale(), MatShift(), MatDiagonalScale(), MatDiagonalSet(), MatZeroRows(), MatZeroRowsColumns() and
  MatAXPY() make of an operator: all of them lead from one

    A = sum_k s_k L_k X_k R_k + D,  X_0 the form, L_k, R_k and D diagonal,

  to another. MATPA keeps that sum itself, where MATSHELL would hide it, so that conversions, diagonals and
  copies, and what is built on the form, see it.
*/
#include <hops/private/hopspatensorimpl.h>
#include <petsc/private/matimpl.h>

/* s L X R; l and r are NULL for the identity, X for the form */
typedef struct {
  PetscScalar      s;
  Vec              l, r;
  Mat              X;
  PetscObjectState state; /* of X when it was added: its values are not copied */
} HopsPATerm;

struct _HopsPASum {
  PetscInt    n;
  HopsPATerm *term;  /* [n] */
  PetscScalar shift; /* D = shift + d */
  Vec         d;
  Vec         work[2], add[2]; /* right and left vectors: arguments, and products with X_k for k > 0 */
};

/* ------------------------------------------ the sum ------------------------------------------ */

static PetscErrorCode HopsPATermClear(HopsPATerm *t)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&t->l));
  PetscCall(VecDestroy(&t->r));
  PetscCall(MatDestroy(&t->X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatPASumDestroy(Mat_PA *pa)
{
  struct _HopsPASum *sum = pa->sum;

  PetscFunctionBegin;
  if (!sum) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < sum->n; ++k) PetscCall(HopsPATermClear(&sum->term[k]));
  PetscCall(PetscFree(sum->term));
  PetscCall(VecDestroy(&sum->d));
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(VecDestroy(&sum->work[i]));
    PetscCall(VecDestroy(&sum->add[i]));
  }
  PetscCall(PetscFree(pa->sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum, to be changed; symmetric: so that a symmetric operator stays symmetric */
static PetscErrorCode MatPAGetSum(Mat A, PetscBool symmetric, struct _HopsPASum **sum)
{
  Mat_PA *pa;

  PetscFunctionBegin;
  PetscCall(MatPAGetData(A, &pa));
  if (!pa->sum) {
    PetscCall(PetscNew(&pa->sum));
    PetscCall(PetscNew(&pa->sum->term));
    pa->sum->n         = 1;
    pa->sum->term[0].s = 1.0;
  }
  if (!symmetric) A->symmetric = PETSC_BOOL3_UNKNOWN;
  if (!symmetric || HOPS_PARTS > 1) A->hermitian = PETSC_BOOL3_UNKNOWN; /* factors may be complex */
  A->spd = PETSC_BOOL3_UNKNOWN;
  *sum   = pa->sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Back to the form, where what was done has been undone, as TS does with shifts */
static PetscErrorCode MatPASimplify(Mat A)
{
  Mat_PA *pa;

  PetscFunctionBegin;
  PetscCall(MatPAGetData(A, &pa));
  if (pa->sum && pa->sum->n == 1 && pa->sum->term[0].s == 1.0 && !pa->sum->term[0].l && !pa->sum->term[0].r &&
      pa->sum->shift == 0.0 && !pa->sum->d)
    PetscCall(MatPASumDestroy(pa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *v = *v w, NULL for 1; in the memory of the operator's own vectors */
static PetscErrorCode HopsVecMultiply(Mat A, PetscBool left, Vec w, Vec *v)
{
  PetscFunctionBegin;
  if (!w) PetscFunctionReturn(PETSC_SUCCESS);
  if (*v) PetscCall(VecPointwiseMult(*v, *v, w));
  else {
    PetscCall(MatCreateVecs(A, left ? NULL : v, left ? v : NULL));
    PetscCall(VecCopy(w, *v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsVecCopy(Vec from, Vec *to)
{
  PetscFunctionBegin;
  *to = NULL;
  if (!from) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(from, to));
  PetscCall(VecCopy(from, *to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatPACheckSquare(Mat A)
{
  PetscBool congruent;

  PetscFunctionBegin;
  PetscCall(MatHasCongruentLayouts(A, &congruent));
  PetscCheck(congruent, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "The operator's rows and columns have different layouts, so its diagonal is not changed: assemble it (MatConvert() to "
             "aij)");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* d as a vector, from shift + d */
static PetscErrorCode HopsPASumSpreadShift(Mat A, struct _HopsPASum *sum)
{
  PetscFunctionBegin;
  if (!sum->d) {
    PetscCall(MatCreateVecs(A, NULL, &sum->d));
    PetscCall(VecSet(sum->d, sum->shift));
  } else PetscCall(VecShift(sum->d, sum->shift));
  sum->shift = 0.0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPATermCheck(Mat A, const HopsPATerm *t)
{
  PetscObjectState state;

  PetscFunctionBegin;
  if (!t->X) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectStateGet((PetscObject)t->X, &state));
  PetscCheck(state == t->state, PetscObjectComm((PetscObject)A), PETSC_ERR_ORDER,
             "A matrix X that MatAXPY(Y,a,X,) added to an operator of type " MATPA
             " was changed since, and Y has no copy of its values: give MatAXPY() a duplicate of X (MatDuplicate())");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- action ------------------------------------------- */

/* y = A x, or A^T x, with form() the action of the form */
PetscErrorCode MatPASumMult(Mat A, struct _HopsPASum *sum, PetscBool transpose, PetscErrorCode (*form)(Mat, PetscBool, Vec, Vec),
                            Vec x, Vec y)
{
  const PetscInt from = transpose ? 1 : 0, to = 1 - from;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < 2; ++i)
    if (!sum->work[i]) {
      PetscCall(MatCreateVecs(A, i ? NULL : &sum->work[i], i ? &sum->work[i] : NULL));
      PetscCall(VecDuplicate(sum->work[i], &sum->add[i]));
    }
  for (PetscInt k = 0; k < sum->n; ++k) {
    HopsPATerm *t   = &sum->term[k];
    Vec         pre = transpose ? t->l : t->r, post = transpose ? t->r : t->l, in = x, out = k ? sum->add[to] : y;

    PetscCall(HopsPATermCheck(A, t));
    if (t->s == 0.0) {
      if (!k) PetscCall(VecSet(y, 0.0));
      continue;
    }
    if (pre) {
      in = sum->work[from];
      PetscCall(VecPointwiseMult(in, x, pre));
    }
    if (!t->X) PetscCall((*form)(A, transpose, in, out));
    else if (transpose) PetscCall(MatMultTranspose(t->X, in, out));
    else PetscCall(MatMult(t->X, in, out));
    if (post) PetscCall(VecPointwiseMult(out, out, post));
    if (k) PetscCall(VecAXPY(y, t->s, out));
    else if (t->s != 1.0) PetscCall(VecScale(y, t->s));
  }
  if (sum->shift != 0.0) PetscCall(VecAXPY(y, sum->shift, x));
  if (sum->d) {
    PetscCall(VecPointwiseMult(sum->work[to], x, sum->d));
    PetscCall(VecAXPY(y, 1.0, sum->work[to]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On entry d is the diagonal of the form */
PetscErrorCode MatPASumDiagonal(Mat A, struct _HopsPASum *sum, Vec d)
{
  Vec t = NULL;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < sum->n; ++k) {
    HopsPATerm *term = &sum->term[k];
    Vec         v    = d;

    PetscCall(HopsPATermCheck(A, term));
    if (k) {
      if (!t) PetscCall(VecDuplicate(d, &t));
      v = t;
      PetscCall(MatGetDiagonal(term->X, v));
    }
    if (term->l) PetscCall(VecPointwiseMult(v, v, term->l));
    if (term->r) PetscCall(VecPointwiseMult(v, v, term->r));
    if (k) PetscCall(VecAXPY(d, term->s, v));
    else PetscCall(VecScale(d, term->s));
  }
  PetscCall(VecDestroy(&t));
  if (sum->shift != 0.0) PetscCall(VecShift(d, sum->shift));
  if (sum->d) PetscCall(VecAXPY(d, 1.0, sum->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On entry B is the form, assembled */
PetscErrorCode MatPASumAssemble(Mat A, struct _HopsPASum *sum, Mat B)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < sum->n; ++k) {
    HopsPATerm *t = &sum->term[k];
    Mat         X = B;

    PetscCall(HopsPATermCheck(A, t));
    if (k) PetscCall(MatConvert(t->X, MATAIJ, MAT_INITIAL_MATRIX, &X));
    if (t->l || t->r) PetscCall(MatDiagonalScale(X, t->l, t->r));
    if (!k) {
      PetscCall(MatScale(X, t->s));
      continue;
    }
    PetscCall(MatAXPY(B, t->s, X, UNKNOWN_NONZERO_PATTERN));
    PetscCall(MatDestroy(&X));
  }
  if (sum->shift == 0.0 && !sum->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
    MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE)); /* a form without a block on the diagonal has no entries there */
  if (sum->shift != 0.0) PetscCall(MatShift(B, sum->shift));
  if (sum->d) PetscCall(MatDiagonalSet(B, sum->d, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------------- operations ----------------------------------------- */

static PetscErrorCode MatScale_PA(Mat A, PetscScalar a)
{
  struct _HopsPASum *sum = NULL;

  PetscFunctionBegin;
  PetscCall(MatPAGetSum(A, PETSC_TRUE, &sum));
  for (PetscInt k = 0; k < sum->n; ++k) sum->term[k].s *= a;
  sum->shift *= a;
  if (sum->d) PetscCall(VecScale(sum->d, a));
  PetscCall(MatPASimplify(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShift_PA(Mat A, PetscScalar a)
{
  struct _HopsPASum *sum = NULL;

  PetscFunctionBegin;
  PetscCall(MatPACheckSquare(A));
  PetscCall(MatPAGetSum(A, PETSC_TRUE, &sum));
  sum->shift += a;
  PetscCall(MatPASimplify(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDiagonalScale_PA(Mat A, Vec l, Vec r)
{
  struct _HopsPASum *sum = NULL;

  PetscFunctionBegin;
  PetscCall(MatPAGetSum(A, l == r ? PETSC_TRUE : PETSC_FALSE, &sum));
  for (PetscInt k = 0; k < sum->n; ++k) {
    PetscCall(HopsVecMultiply(A, PETSC_TRUE, l, &sum->term[k].l));
    PetscCall(HopsVecMultiply(A, PETSC_FALSE, r, &sum->term[k].r));
  }
  if (sum->d || sum->shift != 0.0) {
    PetscCall(HopsPASumSpreadShift(A, sum));
    PetscCall(HopsVecMultiply(A, PETSC_TRUE, l, &sum->d));
    PetscCall(HopsVecMultiply(A, PETSC_TRUE, r, &sum->d));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDiagonalSet_PA(Mat A, Vec d, InsertMode mode)
{
  struct _HopsPASum *sum = NULL;
  Vec                old = NULL;

  PetscFunctionBegin;
  PetscCall(MatPACheckSquare(A));
  if (mode == INSERT_VALUES) {
    PetscCall(MatCreateVecs(A, NULL, &old));
    PetscCall(MatGetDiagonal(A, old));
  }
  PetscCall(MatPAGetSum(A, PETSC_TRUE, &sum));
  PetscCall(HopsPASumSpreadShift(A, sum));
  PetscCall(VecAXPY(sum->d, 1.0, d));
  if (old) PetscCall(VecAXPY(sum->d, -1.0, old));
  PetscCall(VecDestroy(&old));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* keep: 0 in the given rows, which may be other ranks', and 1 elsewhere; gone = 1 - keep */
static PetscErrorCode MatPACreateMasks(Mat A, PetscInt n, const PetscInt rows[], Vec *keep, Vec *gone)
{
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, NULL, gone));
  PetscCall(VecSetOption(*gone, VEC_IGNORE_NEGATIVE_INDICES, PETSC_TRUE));
  PetscCall(VecSet(*gone, 0.0));
  for (PetscInt i = 0; i < n; ++i) PetscCall(VecSetValue(*gone, rows[i], 1.0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(*gone));
  PetscCall(VecAssemblyEnd(*gone));
  PetscCall(VecDuplicate(*gone, keep));
  PetscCall(VecCopy(*gone, *keep));
  PetscCall(VecScale(*keep, -1.0));
  PetscCall(VecShift(*keep, 1.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns as well: their products with x go to the right-hand side */
static PetscErrorCode MatPAZeroRows(Mat A, PetscInt n, const PetscInt rows[], PetscScalar diag, Vec x, Vec b, PetscBool columns)
{
  struct _HopsPASum *sum = NULL;
  Vec                keep, gone, xz, t;

  PetscFunctionBegin;
  PetscCall(MatPACheckSquare(A));
  PetscCall(MatPACreateMasks(A, n, rows, &keep, &gone));
  if (x && b) {
    PetscCall(VecDuplicate(gone, &xz));
    PetscCall(VecDuplicate(gone, &t));
    PetscCall(VecPointwiseMult(xz, x, gone));
    if (columns) {
      PetscCall(MatMult(A, xz, t));
      PetscCall(VecAXPY(b, -1.0, t));
    }
    PetscCall(VecPointwiseMult(b, b, keep));
    PetscCall(VecAXPY(b, diag, xz));
    PetscCall(VecDestroy(&xz));
    PetscCall(VecDestroy(&t));
  }
  PetscCall(MatPAGetSum(A, columns, &sum));
  for (PetscInt k = 0; k < sum->n; ++k) {
    PetscCall(HopsVecMultiply(A, PETSC_TRUE, keep, &sum->term[k].l));
    if (columns) PetscCall(HopsVecMultiply(A, PETSC_FALSE, keep, &sum->term[k].r));
  }
  PetscCall(HopsPASumSpreadShift(A, sum));
  PetscCall(VecPointwiseMult(sum->d, sum->d, keep));
  PetscCall(VecAXPY(sum->d, diag, gone));
  PetscCall(VecDestroy(&keep));
  PetscCall(VecDestroy(&gone));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatZeroRows_PA(Mat A, PetscInt n, const PetscInt rows[], PetscScalar diag, Vec x, Vec b)
{
  PetscFunctionBegin;
  PetscCall(MatPAZeroRows(A, n, rows, diag, x, b, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatZeroRowsColumns_PA(Mat A, PetscInt n, const PetscInt rows[], PetscScalar diag, Vec x, Vec b)
{
  PetscFunctionBegin;
  PetscCall(MatPAZeroRows(A, n, rows, diag, x, b, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator is zero until its form is set anew, or the Jacobian evaluated */
static PetscErrorCode MatZeroEntries_PA(Mat A)
{
  struct _HopsPASum *sum = NULL;
  Mat_PA            *pa;

  PetscFunctionBegin;
  PetscCall(MatPAGetData(A, &pa));
  PetscCall(MatPASumDestroy(pa));
  PetscCall(MatPAGetSum(A, PETSC_TRUE, &sum));
  sum->term[0].s = 0.0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAXPY_PA(Mat Y, PetscScalar a, Mat X, MatStructure str)
{
  struct _HopsPASum *sum = NULL;
  HopsPATerm        *term;
  PetscObjectState   state;
  PetscBool          same = PETSC_FALSE;

  PetscFunctionBegin;
  if (X == Y) {
    PetscCall(MatScale_PA(Y, 1.0 + a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscObjectStateGet((PetscObject)X, &state));
  PetscCall(MatPAGetSum(Y, PETSC_FALSE, &sum));
  for (PetscInt k = 1; k < sum->n && !same; ++k) {
    term = &sum->term[k];
    same = term->X == X && term->state == state && !term->l && !term->r ? PETSC_TRUE : PETSC_FALSE;
    if (same) term->s += a;
  }
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscRealloc((sum->n + 1) * sizeof(*term), &sum->term));
  term = &sum->term[sum->n++];
  PetscCall(PetscMemzero(term, sizeof(*term)));
  PetscCall(PetscObjectReference((PetscObject)X));
  term->s     = a;
  term->X     = X;
  term->state = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatPASumCopy(Mat A, Mat B)
{
  Mat_PA            *pa, *pb;
  struct _HopsPASum *sum = NULL;

  PetscFunctionBegin;
  PetscCall(MatPAGetData(A, &pa));
  PetscCall(MatPAGetData(B, &pb));
  PetscCall(MatPASumDestroy(pb));
  if (!pa->sum) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatPAGetSum(B, A->symmetric == PETSC_BOOL3_TRUE ? PETSC_TRUE : PETSC_FALSE, &sum));
  PetscCall(PetscFree(sum->term));
  PetscCall(PetscCalloc1(pa->sum->n, &sum->term));
  sum->n     = pa->sum->n;
  sum->shift = pa->sum->shift;
  PetscCall(HopsVecCopy(pa->sum->d, &sum->d));
  for (PetscInt k = 0; k < sum->n; ++k) {
    HopsPATerm *from = &pa->sum->term[k], *to = &sum->term[k];

    PetscCall(PetscObjectReference((PetscObject)from->X));
    *to = *from;
    PetscCall(HopsVecCopy(from->l, &to->l));
    PetscCall(HopsVecCopy(from->r, &to->r));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatPASetAlgebra(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatShellSetManageScalingShifts(A));
  PetscCall(MatShellSetOperation(A, MATOP_SCALE, (HopsVoidFn)MatScale_PA));
  PetscCall(MatShellSetOperation(A, MATOP_SHIFT, (HopsVoidFn)MatShift_PA));
  PetscCall(MatShellSetOperation(A, MATOP_DIAGONAL_SCALE, (HopsVoidFn)MatDiagonalScale_PA));
  PetscCall(MatShellSetOperation(A, MATOP_DIAGONAL_SET, (HopsVoidFn)MatDiagonalSet_PA));
  PetscCall(MatShellSetOperation(A, MATOP_ZERO_ROWS, (HopsVoidFn)MatZeroRows_PA));
  PetscCall(MatShellSetOperation(A, MATOP_ZERO_ROWS_COLUMNS, (HopsVoidFn)MatZeroRowsColumns_PA));
  PetscCall(MatShellSetOperation(A, MATOP_AXPY, (HopsVoidFn)MatAXPY_PA));
  PetscCall(MatShellSetOperation(A, MATOP_ZERO_ENTRIES, (HopsVoidFn)MatZeroEntries_PA));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------- users of the form ------------------------------------- */

PetscErrorCode MatPACheckForm(Mat A, PetscBool scalable, const char what[])
{
  Mat_PA            *pa;
  struct _HopsPASum *sum = NULL;

  PetscFunctionBegin;
  PetscCall(MatPAGetData(A, &pa));
  sum = pa->sum;
  if (!sum) PetscFunctionReturn(PETSC_SUCCESS);
  if (scalable && sum->n == 1 && PetscRealPart(sum->term[0].s) > 0.0 && PetscImaginaryPart(sum->term[0].s) == 0.0 &&
      !sum->term[0].l && !sum->term[0].r && !sum->d && sum->shift == 0.0) {
    PetscCall(
      PetscInfo(A, "%s is built on the form without the factor %g of MatScale()\n", what, (double)PetscRealPart(sum->term[0].s)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
          "%s is built on the form of an operator of type " MATPA
          ", and this one was changed since its form was set (MatScale(), MatShift(), MatDiagonalScale(), MatDiagonalSet(), "
          "MatZeroRows(), MatZeroEntries(), MatAXPY()): change its coefficients instead (MatPASetMass(), say), or take a copy of "
          "before the change (MatDuplicate(); for a preconditioner, as the second matrix of KSPSetOperators()), or assemble it "
          "(MatConvert() to aij)",
          what);
}

PetscErrorCode MatPASumView(Mat_PA *pa, PetscViewer viewer)
{
  struct _HopsPASum *sum = pa->sum;

  PetscFunctionBegin;
  if (!sum) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "changed: form times %g", (double)PetscRealPart(sum->term[0].s)));
  if (HOPS_PARTS > 1) PetscCall(PetscViewerASCIIPrintf(viewer, "%+gi", (double)PetscImaginaryPart(sum->term[0].s)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "%s%s%s", sum->term[0].l ? ", rows scaled" : "",
                                   sum->term[0].r ? ", columns scaled" : "",
                                   sum->d || sum->shift != 0.0 ? ", diagonal added" : ""));
  if (sum->n > 1) PetscCall(PetscViewerASCIIPrintf(viewer, ", %" PetscInt_FMT " matrices added", sum->n - 1));
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
