/*
  A real cycle of hypre for complex vectors: PCHYPRE where PETSc has complex scalars, and so no hypre. The
  matrix is real; the cycle is applied to the real part and to the imaginary part.
*/
#include "realhypreimpl.h"
#include <petsc/private/pcimpl.h>

/* ------------------------------------ matrices and vectors ------------------------------------ */

static PetscBool initialized = PETSC_FALSE;

static PetscErrorCode HopsHypreFinalize(void)
{
  PetscFunctionBegin;
  initialized = PETSC_FALSE;
  PetscCallExternal(HYPRE_Finalize, );
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsHypreInitialize(void)
{
  PetscFunctionBegin;
  if (initialized) PetscFunctionReturn(PETSC_SUCCESS);
  initialized = PETSC_TRUE;
#if HYPRE_RELEASE_NUMBER >= 22900
  PetscCallExternal(HYPRE_Initialize, );
#else
  PetscCallExternal(HYPRE_Init, );
#endif
  PetscCall(PetscRegisterFinalize(HopsHypreFinalize));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The real numbers of a matrix with complex scalars */
static PetscErrorCode MatToHypre(Mat A, HYPRE_IJMatrix *ij)
{
  PetscInt       rows[2], cols[2], N, most = 0;
  HYPRE_Int     *len;
  HYPRE_BigInt  *j;
  HYPRE_Complex *v;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCheck((PetscInt)(HYPRE_BigInt)N == N, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "%" PetscInt_FMT " rows are more than this hypre can number: take one with 64-bit integers (HYPRE_DIR)", N);
  PetscCall(MatGetOwnershipRange(A, &rows[0], &rows[1]));
  PetscCall(MatGetOwnershipRangeColumn(A, &cols[0], &cols[1]));
  PetscCallExternal(HYPRE_IJMatrixCreate, PetscObjectComm((PetscObject)A), rows[0], rows[1] - 1, cols[0], cols[1] - 1, ij);
  PetscCallExternal(HYPRE_IJMatrixSetObjectType, *ij, HYPRE_PARCSR);
  PetscCall(PetscMalloc1(rows[1] - rows[0], &len));
  for (PetscInt r = rows[0]; r < rows[1]; ++r) {
    PetscInt n;

    PetscCall(MatGetRow(A, r, &n, NULL, NULL));
    len[r - rows[0]] = n;
    most             = PetscMax(most, n);
    PetscCall(MatRestoreRow(A, r, &n, NULL, NULL));
  }
  PetscCallExternal(HYPRE_IJMatrixSetRowSizes, *ij, len);
  PetscCallExternal(HYPRE_IJMatrixInitialize, *ij);
  PetscCall(PetscMalloc2(most, &j, most, &v));
  for (PetscInt r = rows[0]; r < rows[1]; ++r) {
    const PetscInt    *cj;
    const PetscScalar *cv;
    PetscInt           n;
    HYPRE_Int          hn  = len[r - rows[0]];
    HYPRE_BigInt       row = r;

    PetscCall(MatGetRow(A, r, &n, &cj, &cv));
    for (PetscInt k = 0; k < n; ++k) {
      PetscCheck(PetscImaginaryPart(cv[k]) == 0.0, PETSC_COMM_SELF, PETSC_ERR_SUP,
                 "Entry %" PetscInt_FMT ",%" PetscInt_FMT
                 " has an imaginary part, and hypre solves real matrices: precondition by the real, positive part of the operator "
                 "(the second matrix of KSPSetOperators()), or use another solver (-pc_type gamg, lu)",
                 r, cj[k]);
      j[k] = cj[k];
      v[k] = PetscRealPart(cv[k]);
    }
    PetscCall(MatRestoreRow(A, r, &n, &cj, &cv));
    if (hn) PetscCallExternal(HYPRE_IJMatrixSetValues, *ij, 1, &hn, &row, j, v);
  }
  PetscCallExternal(HYPRE_IJMatrixAssemble, *ij);
  PetscCall(PetscFree2(j, v));
  PetscCall(PetscFree(len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecCreateHypre(MPI_Comm comm, PetscInt start, PetscInt n, HYPRE_IJVector *ij)
{
  PetscFunctionBegin;
  PetscCallExternal(HYPRE_IJVectorCreate, comm, start, start + n - 1, ij);
  PetscCallExternal(HYPRE_IJVectorSetObjectType, *ij, HYPRE_PARCSR);
  PetscCallExternal(HYPRE_IJVectorInitialize, *ij);
  PetscCallExternal(HYPRE_IJVectorAssemble, *ij);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The real part of a vector */
static PetscErrorCode VecToHypre(Vec v, HYPRE_IJVector *ij)
{
  const PetscScalar *a;
  PetscInt           start, end;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &start, &end));
  PetscCall(VecCreateHypre(PetscObjectComm((PetscObject)v), start, end - start, ij));
  PetscCall(VecGetArrayRead(v, &a));
  for (PetscInt i = start; i < end; ++i) {
    HYPRE_BigInt  row   = i;
    HYPRE_Complex value = PetscRealPart(a[i - start]);

    PetscCallExternal(HYPRE_IJVectorSetValues, *ij, 1, &row, &value);
  }
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscCallExternal(HYPRE_IJVectorAssemble, *ij);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Matrix(HYPRE_IJMatrix ij, HYPRE_ParCSRMatrix *A)
{
  PetscFunctionBegin;
  *A = NULL;
  if (ij) PetscCallExternal(HYPRE_IJMatrixGetObject, ij, (void **)A);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Vector(HYPRE_IJVector ij, HYPRE_ParVector *v)
{
  PetscFunctionBegin;
  *v = NULL;
  if (ij) PetscCallExternal(HYPRE_IJVectorGetObject, ij, (void **)v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- the PC ------------------------------------------- */

static PetscErrorCode DestroySolver(PC_HopsHypre *h)
{
  PetscFunctionBegin;
  if (h->solver && h->type == HOPS_HYPRE_BOOMERAMG) PetscCallExternal(HYPRE_BoomerAMGDestroy, h->solver);
  else if (h->solver && h->type == HOPS_HYPRE_AMS) PetscCallExternal(HYPRE_AMSDestroy, h->solver);
  else if (h->solver) PetscCallExternal(HYPRE_ADSDestroy, h->solver);
  h->solver = NULL;
  for (PetscInt k = 0; k < 8; ++k) {
    if (h->made[k]) PetscCallExternal(HYPRE_IJMatrixDestroy, h->made[k]);
    h->made[k] = NULL;
  }
  for (PetscInt k = 0; k < 4; ++k) {
    if (h->vector[k]) PetscCallExternal(HYPRE_IJVectorDestroy, h->vector[k]);
    h->vector[k] = NULL;
  }
  if (h->A) PetscCallExternal(HYPRE_IJMatrixDestroy, h->A);
  if (h->b) PetscCallExternal(HYPRE_IJVectorDestroy, h->b);
  if (h->x) PetscCallExternal(HYPRE_IJVectorDestroy, h->x);
  h->A = NULL;
  h->b = h->x = NULL;
  PetscCall(PetscFree2(h->rows, h->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gradient, curl, constants, interpolations, as far as they were given */
static PetscErrorCode SetAuxiliary(PC_HopsHypre *h)
{
  HYPRE_ParCSRMatrix m[8];
  HYPRE_ParVector    v[4];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < 8; ++k) {
    if (h->given[k]) PetscCall(MatToHypre(h->given[k], &h->made[k]));
    PetscCall(Matrix(h->made[k], &m[k]));
  }
  for (PetscInt k = 0; k < 4; ++k) {
    Vec from = k < 3 ? h->constants[k] : h->interior;

    if (from) PetscCall(VecToHypre(from, &h->vector[k]));
    PetscCall(Vector(h->vector[k], &v[k]));
  }
  if (h->type == HOPS_HYPRE_AMS) {
    PetscCallExternal(HYPRE_AMSSetDimension, h->solver, (HYPRE_Int)h->dim);
    PetscCallExternal(HYPRE_AMSSetDiscreteGradient, h->solver, m[HOPS_HYPRE_G]);
    if (v[0]) PetscCallExternal(HYPRE_AMSSetEdgeConstantVectors, h->solver, v[0], v[1], v[2]);
    if (m[HOPS_HYPRE_ND])
      PetscCallExternal(HYPRE_AMSSetInterpolations, h->solver, NULL, m[HOPS_HYPRE_ND], m[HOPS_HYPRE_ND + 1], m[HOPS_HYPRE_ND + 2]);
    if (h->nobeta) PetscCallExternal(HYPRE_AMSSetBetaPoissonMatrix, h->solver, NULL);
    if (v[3]) PetscCallExternal(HYPRE_AMSSetInteriorNodes, h->solver, v[3]);
  } else {
    PetscCallExternal(HYPRE_ADSSetDiscreteGradient, h->solver, m[HOPS_HYPRE_G]);
    PetscCallExternal(HYPRE_ADSSetDiscreteCurl, h->solver, m[HOPS_HYPRE_C]);
    PetscCallExternal(HYPRE_ADSSetInterpolations, h->solver, NULL, m[HOPS_HYPRE_RT], m[HOPS_HYPRE_RT + 1], m[HOPS_HYPRE_RT + 2],
                      NULL, m[HOPS_HYPRE_ND], m[HOPS_HYPRE_ND + 1], m[HOPS_HYPRE_ND + 2]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_HopsHypre(PC pc)
{
  PC_HopsHypre      *h = (PC_HopsHypre *)pc->data;
  HYPRE_ParCSRMatrix A;
  HYPRE_ParVector    b, x;
  PetscInt           end;

  PetscFunctionBegin;
  PetscCall(HopsHypreInitialize());
  PetscCall(DestroySolver(h));
  PetscCheck(h->type == HOPS_HYPRE_BOOMERAMG || h->given[HOPS_HYPRE_G], PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "hypre's %s with complex scalars is PCLOR's inner solver, which gives it the gradients (-pc_type lor): on its own use "
             "-pc_hypre_type boomeramg",
             HopsHypreTypes[h->type]);
  PetscCall(MatGetOwnershipRange(pc->pmat, &h->start, &end));
  h->n = end - h->start;
  PetscCall(PetscMalloc2(h->n, &h->rows, h->n, &h->work));
  for (PetscInt i = 0; i < h->n; ++i) h->rows[i] = h->start + i;
  PetscCall(MatToHypre(pc->pmat, &h->A));
  PetscCall(VecCreateHypre(PetscObjectComm((PetscObject)pc), h->start, h->n, &h->b));
  PetscCall(VecCreateHypre(PetscObjectComm((PetscObject)pc), h->start, h->n, &h->x));
  PetscCall(Matrix(h->A, &A));
  PetscCall(Vector(h->b, &b));
  PetscCall(Vector(h->x, &x));
  if (h->type == HOPS_HYPRE_BOOMERAMG) PetscCallExternal(HYPRE_BoomerAMGCreate, &h->solver);
  else if (h->type == HOPS_HYPRE_AMS) PetscCallExternal(HYPRE_AMSCreate, &h->solver);
  else PetscCallExternal(HYPRE_ADSCreate, &h->solver);
  PetscCall(HopsHypreOptionsApply(pc, h));
  if (h->type != HOPS_HYPRE_BOOMERAMG) PetscCall(SetAuxiliary(h));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  if (h->type == HOPS_HYPRE_BOOMERAMG) PetscCallExternal(HYPRE_BoomerAMGSetup, h->solver, A, b, x);
  else if (h->type == HOPS_HYPRE_AMS) PetscCallExternal(HYPRE_AMSSetup, h->solver, A, b, x);
  else PetscCallExternal(HYPRE_ADSSetup, h->solver, A, b, x);
  PetscCall(PetscFPTrapPop());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_HopsHypre(PC pc, Vec x, Vec y)
{
  PC_HopsHypre      *h = (PC_HopsHypre *)pc->data;
  const HYPRE_Int    n = (HYPRE_Int)h->n;
  HYPRE_ParCSRMatrix A;
  HYPRE_ParVector    hb, hx;
  const PetscScalar *xa;
  PetscScalar       *ya;

  PetscFunctionBegin;
  PetscCall(Matrix(h->A, &A));
  PetscCall(Vector(h->b, &hb));
  PetscCall(Vector(h->x, &hx));
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArrayWrite(y, &ya));
  for (PetscInt part = 0; part < HOPS_PARTS; ++part) {
    HYPRE_Int error;

    for (PetscInt i = 0; i < h->n; ++i) h->work[i] = HopsScalarPart(xa[i], part);
    PetscCallExternal(HYPRE_IJVectorSetValues, h->b, n, h->rows, h->work);
    PetscCallExternal(HYPRE_IJVectorAssemble, h->b);
    PetscCallExternal(HYPRE_ParVectorSetConstantValues, hx, 0.0);
    if (h->type == HOPS_HYPRE_BOOMERAMG) error = HYPRE_BoomerAMGSolve(h->solver, A, hb, hx);
    else if (h->type == HOPS_HYPRE_AMS) error = HYPRE_AMSSolve(h->solver, A, hb, hx);
    else error = HYPRE_ADSSolve(h->solver, A, hb, hx);
    if (error) PetscCallExternal(HYPRE_ClearAllErrors, );
    PetscCheck(!error || error == HYPRE_ERROR_CONV, PetscObjectComm((PetscObject)pc), PETSC_ERR_LIB,
               "hypre's %s failed with error %d", HopsHypreTypes[h->type], (int)error); /* few cycles need not converge */
    PetscCallExternal(HYPRE_IJVectorGetValues, h->x, n, h->rows, h->work);
    for (PetscInt i = 0; i < h->n; ++i) HopsScalarSetPart(&ya[i], part, h->work[i]);
  }
  PetscCall(VecRestoreArrayWrite(y, &ya));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_HopsHypre(PC pc)
{
  PC_HopsHypre *h = (PC_HopsHypre *)pc->data;

  PetscFunctionBegin;
  PetscCall(DestroySolver(h));
  for (PetscInt k = 0; k < 8; ++k) PetscCall(MatDestroy(&h->given[k]));
  for (PetscInt k = 0; k < 3; ++k) PetscCall(VecDestroy(&h->constants[k]));
  PetscCall(VecDestroy(&h->interior));
  h->nobeta = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_HopsHypre(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_HopsHypre(pc));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_HopsHypre(PC pc, PetscViewer viewer)
{
  PC_HopsHypre *h = (PC_HopsHypre *)pc->data;
  PetscBool     ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  hypre's %s, called by hops for the real part and for the imaginary part\n",
                                   HopsHypreTypes[h->type]));
  PetscCall(HopsHypreOptionsView(h, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_HopsHypre(PC pc)
{
  PC_HopsHypre *h;

  PetscFunctionBegin;
  PetscCall(PetscNew(&h));
  pc->data = (void *)h;
  h->dim   = 3;
  PetscCall(HopsHypreOptionsDefault(h));
  pc->ops->apply          = PCApply_HopsHypre;
  pc->ops->setup          = PCSetUp_HopsHypre;
  pc->ops->reset          = PCReset_HopsHypre;
  pc->ops->destroy        = PCDestroy_HopsHypre;
  pc->ops->setfromoptions = HopsHypreSetFromOptions;
  pc->ops->view           = PCView_HopsHypre;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------- what AMS and ADS need ------------------------------------- */

PetscErrorCode HopsHypreGetType(PC pc, const char **type)
{
  PetscFunctionBegin;
  *type = HopsHypreTypes[((PC_HopsHypre *)pc->data)->type];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Keep(PC pc, PetscInt k, Mat A)
{
  PC_HopsHypre *h = (PC_HopsHypre *)pc->data;

  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)A));
  PetscCall(MatDestroy(&h->given[k]));
  h->given[k] = A;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHypreSetDiscreteGradient(PC pc, Mat G)
{
  PetscFunctionBegin;
  PetscCall(Keep(pc, HOPS_HYPRE_G, G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHypreSetDiscreteCurl(PC pc, Mat C)
{
  PetscFunctionBegin;
  PetscCall(Keep(pc, HOPS_HYPRE_C, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHypreSetInterpolations(PC pc, PetscInt dim, Mat RTfull, Mat RT[], Mat NDfull, Mat ND[])
{
  PetscFunctionBegin;
  ((PC_HopsHypre *)pc->data)->dim = dim;
  for (PetscInt d = 0; d < dim; ++d) {
    if (RT) PetscCall(Keep(pc, HOPS_HYPRE_RT + d, RT[d]));
    if (ND) PetscCall(Keep(pc, HOPS_HYPRE_ND + d, ND[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHypreSetEdgeConstantVectors(PC pc, Vec x, Vec y, Vec z)
{
  PC_HopsHypre *h    = (PC_HopsHypre *)pc->data;
  Vec           v[3] = {x, y, z};

  PetscFunctionBegin;
  h->dim = z ? 3 : 2;
  for (PetscInt d = 0; d < 3; ++d) {
    PetscCall(PetscObjectReference((PetscObject)v[d]));
    PetscCall(VecDestroy(&h->constants[d]));
    h->constants[d] = v[d];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHypreSetBetaPoissonMatrix(PC pc, Mat none)
{
  PetscFunctionBegin;
  ((PC_HopsHypre *)pc->data)->nobeta = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHypreSetInteriorNodes(PC pc, Vec interior)
{
  PC_HopsHypre *h = (PC_HopsHypre *)pc->data;

  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)interior));
  PetscCall(VecDestroy(&h->interior));
  h->interior = interior;
  PetscFunctionReturn(PETSC_SUCCESS);
}
