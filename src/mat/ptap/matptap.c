/* MATHOPSPTAP: the sum of P^T A P over operators on spaces. */
#include <hops/private/hopsptapimpl.h>
#include <petsc/private/matimpl.h>

typedef struct {
  PetscInt n, ness, *ess; /* ess[ness]: global numbers of this rank's */
  PetscInt N;             /* essential ones of all ranks */
  Mat     *A, *P;         /* [n] */
  Vec     *x, *y;         /* [n] vectors of the operators */
  Vec      free, t;       /* 0 at essential unknowns and 1 elsewhere, or NULL; work */
} Mat_HopsPtAP;

static PetscErrorCode MatHopsPtAPGetData(Mat M, Mat_HopsPtAP **m)
{
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)M, MATHOPSPTAP, &same));
  PetscCheck(same, PetscObjectComm((PetscObject)M), PETSC_ERR_ARG_WRONG,
             "The Mat has type %s where " MATHOPSPTAP " is needed (MatCreateHopsPtAP())",
             ((PetscObject)M)->type_name ? ((PetscObject)M)->type_name : "(unset)");
  *m = (Mat_HopsPtAP *)M->data;
  PetscCheck((*m)->n, PetscObjectComm((PetscObject)M), PETSC_ERR_ARG_WRONGSTATE,
             "The " MATHOPSPTAP " has no operators: make it by MatCreateHopsPtAP() or HopsHPSpaceCreateMat()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPtAPRefuse(Mat M, const char what[])
{
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)M, MATHOPSPTAP, &same));
  PetscCheck(!same, PetscObjectComm((PetscObject)M), PETSC_ERR_SUP,
             "%s takes operators on one space, and this one is a " MATHOPSPTAP ", a sum over several: use PCLOR (-pc_type lor)",
             what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- action ------------------------------------------- */

/* y = the sum, of x as it is */
static PetscErrorCode Apply(Mat M, PetscBool transpose, Vec x, Vec y)
{
  Mat_HopsPtAP *m = NULL;

  PetscFunctionBegin;
  PetscCall(MatHopsPtAPGetData(M, &m));
  for (PetscInt i = 0; i < m->n; ++i) {
    PetscCall(MatMult(m->P[i], x, m->x[i]));
    if (transpose) PetscCall(MatMultTranspose(m->A[i], m->x[i], m->y[i]));
    else PetscCall(MatMult(m->A[i], m->x[i], m->y[i]));
    if (i) PetscCall(MatMultTransposeAdd(m->P[i], m->y[i], y, y));
    else PetscCall(MatMultTranspose(m->P[i], m->y[i], y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultBy(Mat M, PetscBool transpose, Vec x, Vec y)
{
  Mat_HopsPtAP *m = (Mat_HopsPtAP *)M->data;

  PetscFunctionBegin;
  if (!m->free) PetscCall(Apply(M, transpose, x, y));
  else {
    PetscCall(VecPointwiseMult(m->t, x, m->free));
    PetscCall(Apply(M, transpose, m->t, y));
    PetscCall(VecPointwiseMult(y, y, m->free));
    PetscCall(VecAYPX(m->t, -1.0, x)); /* x at essential unknowns, and 0 elsewhere */
    PetscCall(VecAXPY(y, 1.0, m->t));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_HopsPtAP(Mat M, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MultBy(M, PETSC_FALSE, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_HopsPtAP(Mat M, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MultBy(M, PETSC_TRUE, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = y + M x, or with the transpose */
static PetscErrorCode MultAddBy(Mat M, PetscBool transpose, Vec x, Vec y, Vec z)
{
  Vec t;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(z, &t));
  PetscCall(MultBy(M, transpose, x, t));
  if (z != y) PetscCall(VecCopy(y, z));
  PetscCall(VecAXPY(z, 1.0, t));
  PetscCall(VecDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultAdd_HopsPtAP(Mat M, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(MultAddBy(M, PETSC_FALSE, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTransposeAdd_HopsPtAP(Mat M, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(MultAddBy(M, PETSC_TRUE, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatHopsPtAPLiftEssential - Moves essential values to the right-hand side: b = b - M g, and b = g in the rows
  of essential unknowns.

  Collective

  Input Parameters:
+ M - the operator
. g - a vector with the essential values, whose other entries are not read
- b - the right-hand side, changed in place

  Level: intermediate

.seealso: `MATHOPSPTAP`, `HopsHPSpaceInterpolate()`, `HopsHPSpaceComputeRHS()`
@*/
PetscErrorCode MatHopsPtAPLiftEssential(Mat M, Vec g, Vec b)
{
  Mat_HopsPtAP *m = NULL;
  Vec           e;

  PetscFunctionBegin;
  HopsValidHeader(M, MAT_CLASSID, 1);
  HopsValidHeader(g, VEC_CLASSID, 2);
  HopsValidHeader(b, VEC_CLASSID, 3);
  PetscCall(MatHopsPtAPGetData(M, &m));
  if (!m->free) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(b, &e));
  PetscCall(VecSet(e, 0.0));
  for (PetscInt i = 0; i < m->ness; ++i) {
    PetscScalar v;

    PetscCall(VecGetValues(g, 1, m->ess + i, &v));
    PetscCall(VecSetValues(e, 1, m->ess + i, &v, INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(e));
  PetscCall(VecAssemblyEnd(e));
  PetscCall(Apply(M, PETSC_FALSE, e, m->t));
  PetscCall(VecAXPY(b, -1.0, m->t));
  PetscCall(VecPointwiseMult(b, b, m->free));
  PetscCall(VecAXPY(b, 1.0, e));
  PetscCall(VecDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ assembly ------------------------------------------ */

PetscErrorCode HopsPtAPSum(Mat M, const Mat L[], Mat *sum)
{
  Mat_HopsPtAP *m = (Mat_HopsPtAP *)M->data;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < m->n; ++i) {
    Mat       P = m->P[i], S;
    PetscBool host;

    PetscCall(PetscObjectTypeCompareAny((PetscObject)P, &host, MATSEQAIJ, MATMPIAIJ, ""));
    if (host) PetscCall(PetscObjectReference((PetscObject)P));
    else PetscCall(MatConvert(m->P[i], MATAIJ, MAT_INITIAL_MATRIX, &P));
    PetscCall(MatPtAP(L[i], P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, i ? &S : sum));
    if (i) {
      PetscCall(MatAXPY(*sum, 1.0, S, DIFFERENT_NONZERO_PATTERN));
      PetscCall(MatDestroy(&S));
    }
    PetscCall(MatDestroy(&P));
  }
  if (m->N) PetscCall(MatZeroRowsColumns(*sum, m->ness, m->ess, 1.0, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatConvert_HopsPtAP_AIJ(Mat M, MatType type, MatReuse reuse, Mat *B)
{
  Mat_HopsPtAP *m = (Mat_HopsPtAP *)M->data;
  Mat          *L, sum;

  PetscFunctionBegin;
  PetscCheck(reuse != MAT_INPLACE_MATRIX, PetscObjectComm((PetscObject)M), PETSC_ERR_SUP,
             "A " MATHOPSPTAP " is not converted in place: use MAT_INITIAL_MATRIX");
  PetscCall(PetscCalloc1(m->n, &L));
  for (PetscInt i = 0; i < m->n; ++i) PetscCall(MatConvert(m->A[i], MATAIJ, MAT_INITIAL_MATRIX, &L[i]));
  PetscCall(HopsPtAPSum(M, L, &sum));
  for (PetscInt i = 0; i < m->n; ++i) PetscCall(MatDestroy(&L[i]));
  PetscCall(PetscFree(L));
  if (reuse == MAT_REUSE_MATRIX) PetscCall(MatHeaderReplace(*B, &sum));
  else *B = sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------------- life cycle ----------------------------------------- */

static PetscErrorCode MatView_HopsPtAP(Mat M, PetscViewer viewer)
{
  Mat_HopsPtAP *m = (Mat_HopsPtAP *)M->data;
  PetscBool     ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "essential unknowns: %" PetscInt_FMT "\n", m->N));
  PetscCall(PetscViewerASCIIPrintf(viewer, "sum of P^T A P over %" PetscInt_FMT " operators:\n", m->n));
  for (PetscInt i = 0; i < m->n; ++i) PetscCall(MatView(m->A[i], viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_HopsPtAP(Mat M)
{
  Mat_HopsPtAP *m = (Mat_HopsPtAP *)M->data;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < m->n; ++i) {
    PetscCall(MatDestroy(&m->A[i]));
    PetscCall(MatDestroy(&m->P[i]));
    PetscCall(VecDestroy(&m->x[i]));
    PetscCall(VecDestroy(&m->y[i]));
  }
  PetscCall(PetscFree4(m->A, m->P, m->x, m->y));
  PetscCall(PetscFree(m->ess));
  PetscCall(VecDestroy(&m->free));
  PetscCall(VecDestroy(&m->t));
  PetscCall(PetscFree(M->data));
  PetscCall(PetscObjectComposeFunction((PetscObject)M, "MatConvert_" MATHOPSPTAP "_aij_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)M, "MatConvert_" MATHOPSPTAP "_seqaij_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)M, "MatConvert_" MATHOPSPTAP "_mpiaij_C", NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_HopsPtAP(Mat M)
{
  Mat_HopsPtAP *m;

  PetscFunctionBegin;
  PetscCall(PetscNew(&m));
  M->data                  = m;
  M->ops->mult             = MatMult_HopsPtAP;
  M->ops->multadd          = MatMultAdd_HopsPtAP;
  M->ops->multtransposeadd = MatMultTransposeAdd_HopsPtAP;
  M->ops->multtranspose    = MatMultTranspose_HopsPtAP;
  M->ops->getvecs          = HopsMatCreateVecs;
  M->ops->view             = MatView_HopsPtAP;
  M->ops->destroy          = MatDestroy_HopsPtAP;
  PetscCall(HopsMatRefuseRows(M));
  PetscCall(PetscObjectComposeFunction((PetscObject)M, "MatConvert_" MATHOPSPTAP "_aij_C", MatConvert_HopsPtAP_AIJ));
  PetscCall(PetscObjectComposeFunction((PetscObject)M, "MatConvert_" MATHOPSPTAP "_seqaij_C", MatConvert_HopsPtAP_AIJ));
  PetscCall(PetscObjectComposeFunction((PetscObject)M, "MatConvert_" MATHOPSPTAP "_mpiaij_C", MatConvert_HopsPtAP_AIJ));
  PetscCall(PetscObjectChangeTypeName((PetscObject)M, MATHOPSPTAP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes of all operators, and numbers of essential unknowns */
static PetscErrorCode CheckArguments(MPI_Comm comm, PetscInt n, const Mat A[], const Mat P[], PetscInt ness, const PetscInt ess[],
                                     PetscInt cols[])
{
  char     why[HOPS_WHY_LENGTH] = "";
  PetscInt a[4], p[4], start, end;

  PetscFunctionBegin;
  PetscCheck(n >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "There are %" PetscInt_FMT " operators: give one or more", n);
  for (PetscInt i = 0; i < n; ++i) {
    HopsValidHeader(A[i], MAT_CLASSID, 3);
    HopsValidHeader(P[i], MAT_CLASSID, 4);
    PetscCall(MatGetLocalSize(A[i], &a[0], &a[1]));
    PetscCall(MatGetLocalSize(P[i], &p[0], &p[1]));
    PetscCall(MatGetSize(P[i], &p[2], &p[3]));
    if (!i) {
      cols[0] = p[1];
      cols[1] = p[3];
    }
    if (a[0] != a[1] || a[0] != p[0] || p[1] != cols[0])
      PetscCall(HopsRefuse(why,
                           "Operator %" PetscInt_FMT " is %" PetscInt_FMT " by %" PetscInt_FMT
                           " on a rank, and its P %" PetscInt_FMT " by %" PetscInt_FMT
                           ": P has a row for each unknown of the operator, which is square, and all have the "
                           "same columns",
                           i, a[0], a[1], p[0], p[1]));
  }
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_SIZ, why));
  PetscCall(MatGetOwnershipRangeColumn(P[0], &start, &end));
  for (PetscInt k = 0; k < ness; ++k)
    if (ess[k] < start || ess[k] >= end)
      PetscCall(HopsRefuse(why,
                           "Essential unknown %" PetscInt_FMT " is not in [%" PetscInt_FMT ",%" PetscInt_FMT
                           "): give each rank the global numbers of those that it owns",
                           ess[k], start, end));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_OUTOFRANGE, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatCreateHopsPtAP - Creates the sum of P^T A P over operators on spaces, as an operator whose unknowns the
  spaces' follow from.

  Collective

  Input Parameters:
+ comm - the communicator
. n    - how many operators, 1 or more
. A    - [n] the operators, of type `MATPA` for `PCLOR`
. P    - [n] matrices from the unknowns of the sum to those of each operator
. ness - how many essential unknowns this rank owns
- ess  - [ness] their global numbers

  Output Parameter:
. M - the operator, of type `MATHOPSPTAP`

  Level: intermediate

  Notes:
  All are kept. The terms of the operators may be set, and may change, afterwards.

  With n = 1 this serves constraints of a code's own: on the space all cells have nodes of their own where
  they are constrained, P has rows of weights there, and rows of the identity elsewhere. So meshes work on
  which neighbours differ by any number of levels.

.seealso: `MATHOPSPTAP`, `HopsHPSpaceCreateMat()`, `MatHopsPtAPGetMats()`, `PCLORSetProlongation()`
@*/
PetscErrorCode MatCreateHopsPtAP(MPI_Comm comm, PetscInt n, const Mat A[], const Mat P[], PetscInt ness, const PetscInt ess[],
                                 Mat *M)
{
  Mat_HopsPtAP *m;
  PetscInt      cols[2] = {0, 0};
  VecType       type;

  PetscFunctionBegin;
  HopsValidPointer(A, 3);
  HopsValidPointer(P, 4);
  HopsValidArray(ness, ess, 6);
  HopsValidPointer(M, 7);
  PetscCall(HopsInitialize());
  PetscCall(CheckArguments(comm, n, A, P, ness, ess, cols));
  PetscCall(MatCreate(comm, M));
  PetscCall(MatSetSizes(*M, cols[0], cols[0], cols[1], cols[1]));
  PetscCall(MatSetType(*M, MATHOPSPTAP));
  PetscCall(MatGetVecType(P[0], &type));
  PetscCall(MatSetVecType(*M, type));
  m = (Mat_HopsPtAP *)(*M)->data;
  PetscCall(PetscCalloc4(n, &m->A, n, &m->P, n, &m->x, n, &m->y));
  m->n = n;
  for (PetscInt i = 0; i < n; ++i) {
    m->A[i] = A[i];
    m->P[i] = P[i];
    PetscCall(PetscObjectReference((PetscObject)A[i]));
    PetscCall(PetscObjectReference((PetscObject)P[i]));
    PetscCall(MatCreateVecs(A[i], &m->x[i], &m->y[i]));
  }
  m->ness = ness;
  PetscCall(PetscMalloc1(ness, &m->ess));
  PetscCall(PetscArraycpy(m->ess, ess, ness));
  PetscCall(MPIU_Allreduce(&m->ness, &m->N, 1, MPIU_INT, MPI_SUM, comm));
  PetscCall(PetscLayoutSetUp((*M)->rmap));
  PetscCall(PetscLayoutSetUp((*M)->cmap));
  if (m->N) {
    PetscCall(MatCreateVecs(P[0], &m->free, NULL));
    PetscCall(VecDuplicate(m->free, &m->t));
    PetscCall(VecSet(m->free, 1.0));
    for (PetscInt k = 0; k < ness; ++k) PetscCall(VecSetValue(m->free, ess[k], 0.0, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(m->free));
    PetscCall(VecAssemblyEnd(m->free));
  }
  (*M)->preallocated = PETSC_TRUE;
  PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatHopsPtAPGetMats - Gets the operators of a sum of P^T A P, and the matrices P.

  Not Collective

  Input Parameter:
. M - the operator

  Output Parameters:
+ n - how many
. A - [n] the operators, or `NULL`
- P - [n] the matrices, or `NULL`

  Level: intermediate

  Note:
  An operator of `HopsHPSpaceCreateMat()` has one `MATPA` for the cells of each order, ascending: set the
  terms of each (`MatPASetDiffusion()`, `MatPASetMass()`). Both arrays are the operator's.

.seealso: `MATHOPSPTAP`, `MatCreateHopsPtAP()`, `HopsHPSpaceCreateMat()`, `HopsHPSpaceGetParts()`
@*/
PetscErrorCode MatHopsPtAPGetMats(Mat M, PetscInt *n, const Mat *A[], const Mat *P[])
{
  Mat_HopsPtAP *m = NULL;

  PetscFunctionBegin;
  HopsValidHeader(M, MAT_CLASSID, 1);
  PetscCall(MatHopsPtAPGetData(M, &m));
  if (n) *n = m->n;
  if (A) *A = m->A;
  if (P) *P = m->P;
  PetscFunctionReturn(PETSC_SUCCESS);
}
