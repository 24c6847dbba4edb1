/*
  The low-order-refined matrix of a sum of P^T A P: the sum of P^T L P.

  Each A, a MATPA, has a PCLOR of its own, which makes L and whose inner solver does nothing.
*/
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopsptapimpl.h>
#include <petsc/private/pcimpl.h>

PetscErrorCode PCLORIsSum(PC pc, PetscBool *sum)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->pmat, MATHOPSPTAP, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORSumReset(PC_LOR *lor)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < lor->nsub; ++i) PetscCall(PCDestroy(&lor->sub[i]));
  PetscCall(PetscFree2(lor->sub, lor->substate));
  lor->nsub = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is told of a space or a form is the operators' own here */
static PetscErrorCode Check(PC pc, const PC_LOR *lor, PetscInt n, const Mat A[])
{
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCheck(!lor->userspace && !lor->userdiffusion && !lor->usermass && !lor->lame[0], comm, PETSC_ERR_SUP,
             "The operator is a " MATHOPSPTAP ", whose operators have the spaces and the coefficients: leave out PCLORSetSpace(), "
             "PCLORSetCoefficients(), PCLORSetElasticity() and -pc_lor_diffusion, -pc_lor_mass, -pc_lor_elasticity");
  PetscCheck(!lor->prolongation && !lor->transformation, comm, PETSC_ERR_SUP,
             "The operator is a " MATHOPSPTAP ", which has the matrices P: leave out PCLORSetProlongation() and "
             "PCLORSetTransformation()");
  PetscCheck(lor->scaletype != PCLOR_SCALE_DIAGONAL, comm, PETSC_ERR_SUP,
             "A " MATHOPSPTAP " has no diagonal to scale by: leave out -pc_lor_scale diagonal");
  for (PetscInt i = 0; i < n; ++i) {
    PetscBool same;

    PetscCall(PetscObjectTypeCompare((PetscObject)A[i], MATPA, &same));
    PetscCheck(same, comm, PETSC_ERR_SUP,
               "Operator %" PetscInt_FMT " of the " MATHOPSPTAP " has type %s: a low-order-refined matrix is made of operators of "
               "type " MATPA,
               i, ((PetscObject)A[i])->type_name);
    PetscCall(MatPACheckForm(A[i], PETSC_FALSE, "The PCLOR of a " MATHOPSPTAP)); /* a factor of one operator matters here */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What was chosen for this PCLOR, but for its solver; entries are the process's */
static PetscErrorCode Choose(const PC_LOR *lor, PC sub)
{
  PC_LOR *s = (PC_LOR *)sub->data;

  PetscFunctionBegin;
  s->droptol           = lor->droptol;
  s->dropset           = lor->dropset;
  s->constraintentries = lor->constraintentries;
  s->couple            = lor->couple;
  s->coupleset         = lor->coupleset;
  s->upwind            = lor->upwind;
  s->ignoreconvection  = lor->ignoreconvection;
  s->ignoreboundary    = lor->ignoreboundary;
  s->scaletype         = PCLOR_SCALE_NONE;
  s->cycletype         = PCLOR_CYCLE_HYPRE;
  s->innerset          = PETSC_TRUE;
  s->summand           = PETSC_TRUE;
  s->mattypeset        = PETSC_TRUE;
  PetscCall(PetscStrncpy(s->mattype, MATAIJ, sizeof(s->mattype)));
  sub->setupcalled = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(PC pc, PC *sub)
{
  PC inner;

  PetscFunctionBegin;
  PetscCall(PCCreate(PetscObjectComm((PetscObject)pc), sub));
  PetscCall(PCSetType(*sub, PCLOR));
  PetscCall(KSPGetPC(((PC_LOR *)(*sub)->data)->ksp, &inner));
  PetscCall(PCSetType(inner, PCNONE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpPart(PC pc, PC_LOR *lor, PetscInt i, Mat A, Mat *L)
{
  PC_LOR *s;

  PetscFunctionBegin;
  if (!lor->sub[i]) PetscCall(Create(pc, &lor->sub[i]));
  PetscCall(Choose(lor, lor->sub[i]));
  PetscCall(PCSetOperators(lor->sub[i], A, A));
  PetscCall(PCSetUp(lor->sub[i]));
  PetscCall(PCLORGetMat(lor->sub[i], L));
  s = (PC_LOR *)lor->sub[i]->data;
  PetscCheck(!s->block && s->form->space->family == HOPS_H1, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The operators of a " MATHOPSPTAP " are those of forms in H1 with coefficients (MatPASetDiffusion(), MatPASetMass()); "
             "this one is in another family, or has several components or first-order terms");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORSumSetUp(PC pc, PC_LOR *lor, Mat *sum)
{
  const Mat *A;
  PetscInt   n;
  Mat       *L;
  HopsSpace  sp;

  PetscFunctionBegin;
  PetscCall(MatHopsPtAPGetMats(pc->pmat, &n, &A, NULL));
  PetscCall(Check(pc, lor, n, A));
  if (n != lor->nsub) PetscCall(PCLORSumReset(lor));
  if (!lor->sub) {
    PetscCall(PetscCalloc2(n, &lor->sub, n, &lor->substate));
    lor->nsub = n;
  }
  PetscCall(PetscMalloc1(n, &L));
  for (PetscInt i = 0; i < n; ++i) {
    PetscCall(SetUpPart(pc, lor, i, A[i], &L[i]));
    PetscCall(PetscObjectStateGet((PetscObject)A[i], &lor->substate[i]));
  }
  /* the inner solver is chosen by the last, which has the highest order */
  sp = ((PC_LOR *)lor->sub[n - 1]->data)->form->space;
  PetscCall(HopsFormSetSpace(lor->form, sp));
  lor->ondevice = PetscMemTypeHost(sp->backend->memtype) ? PETSC_FALSE : PETSC_TRUE;
  lor->source   = HOPS_SOURCE_MATPA;
  PetscCall(HopsPtAPSum(pc->pmat, L, sum));
  PetscCall(PetscFree(L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Terms of the operators that were set anew do not change the state of the sum, which is what a solver looks
   at */
PetscErrorCode PCLORSumRenew(PC pc, PC_LOR *lor)
{
  PetscBool  changed = PETSC_FALSE, same;
  const Mat *A;
  PetscInt   n;

  PetscFunctionBegin;
  if (!lor->nsub || pc->reusepreconditioner) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCLORIsSum(pc, &same));
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHopsPtAPGetMats(pc->pmat, &n, &A, NULL));
  for (PetscInt i = 0; i < n && n == lor->nsub; ++i) {
    PetscObjectState state;

    PetscCall(PetscObjectStateGet((PetscObject)A[i], &state));
    if (state != lor->substate[i]) changed = PETSC_TRUE;
  }
  if (changed) PetscCall((*pc->ops->setup)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool PCLORSumHasValues(const PC_LOR *lor)
{
  for (PetscInt i = 0; i < lor->nsub; ++i) {
    HopsForm form = ((PC_LOR *)lor->sub[i]->data)->form;

    if (HopsFormValue(form) || HopsFormHas(form, HOPS_BOUNDARY)) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

PetscErrorCode PCLORSumView(const PC_LOR *lor, PetscViewer viewer)
{
  MatInfo  info;
  PetscInt N;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(lor->mat, MAT_GLOBAL_SUM, &info));
  PetscCall(MatGetSize(lor->mat, &N, NULL));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "low-order-refined matrix: type %s, %.3g nonzeros per row, sum of P^T L P over the L of\n",
                                   ((PetscObject)lor->mat)->type_name, N ? (double)(info.nz_used / N) : 0.0));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  for (PetscInt i = 0; i < lor->nsub; ++i) {
    const PC_LOR *s = (PC_LOR *)lor->sub[i]->data;

    PetscCall(HopsSpaceView(s->form->space, viewer));
    PetscCall(PetscViewerASCIIPrintf(viewer, "%.3g nonzeros per row\n",
                                     s->form->space->N ? (double)(s->lor.nnz / s->form->space->N) : 0.0));
    PetscCall(PCLORViewConstraints(&s->lor, viewer));
  }
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "drop tolerance: %g\n", (double)lor->droptol));
  PetscFunctionReturn(PETSC_SUCCESS);
}
