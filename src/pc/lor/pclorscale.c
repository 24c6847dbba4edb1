/*
  The low-order-refined matrix L of coefficients that are not the operator's own, scaled by the operator's
  diagonal: D L^-1 D, where D^-2 is the diagonal of the operator A over that of the high-order operator with
  the coefficients of L. It is the identity where these are A's. Where A's coefficient is another one it makes
  up for what varies slowly, and for jumps by the size of the cells on both sides.
*/
#include <hops/private/hopslorblockimpl.h>
#include <petsc/private/pcimpl.h>

/* A vector of the operator, of the type that the back end takes */
static PetscErrorCode PCLORScaleCreateVec(PC_LOR *lor, Vec *v)
{
  PetscFunctionBegin;
  if (lor->block) PetscCall(VecDuplicate(lor->block->x, v));
  else if (lor->between) PetscCall(MatCreateVecs(lor->mat, v, NULL)); /* with a prolongation */
  else PetscCall(HopsSpaceCreateVec(lor->form->space, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the diagonal of the high-order operator whose form is that of the low-order-refined matrix */
static PetscErrorCode PCLORFormDiagonal(HopsForm form, Vec r)
{
  Mat     A;
  Mat_PA *pa;

  PetscFunctionBegin;
  PetscCall(MatCreatePA(form->space, &A));
  PetscCall(MatPAGetData(A, &pa));
  PetscCall(MatPASetTerm(A, pa, HopsFamilyDifferential(form->space->family), HopsFormDerivative(form)));
  PetscCall(MatPASetTerm(A, pa, HOPS_VALUE, HopsFormValue(form)));
  PetscCall(MatGetDiagonal(A, r));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the same of components, whose essential ones have rows of the identity */
static PetscErrorCode PCLORReferenceDiagonal(PC_LOR *lor, PetscInt nc, const HopsForm form[], Vec r)
{
  HopsCoefficient    last[2] = {NULL, NULL};
  Vec                d;
  const PetscScalar *da;
  PetscScalar       *ra;

  PetscFunctionBegin;
  if (!lor->block) {
    PetscCall(PCLORFormDiagonal(form[0], r));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsSpaceCreateVec(form[0]->space, &d));
  for (PetscInt c = 0; c < nc; ++c) {
    if (!c || HopsFormDerivative(form[c]) != last[0] || HopsFormValue(form[c]) != last[1]) PetscCall(PCLORFormDiagonal(form[c], d));
    last[0] = HopsFormDerivative(form[c]);
    last[1] = HopsFormValue(form[c]);
    PetscCall(VecGetArrayRead(d, &da));
    PetscCall(VecGetArray(r, &ra));
    for (PetscInt i = 0; i < form[c]->space->nT; ++i) ra[i * nc + c] = lor->block->nodes->isfree[i * nc + c] ? da[i] : 1.0;
    PetscCall(VecRestoreArray(r, &ra));
    PetscCall(VecRestoreArrayRead(d, &da));
  }
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* scale[i] = sqrt(scale[i] / d[i]), `why` where that is none */
static PetscErrorCode PCLORScaleEntries(Vec d, Vec scale, char why[])
{
  const PetscScalar *da;
  PetscScalar       *s;
  PetscInt           n, start;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(d, &n));
  PetscCall(VecGetOwnershipRange(d, &start, NULL));
  PetscCall(VecGetArrayRead(d, &da));
  PetscCall(VecGetArray(scale, &s));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscReal ratio = PetscRealPart(s[i] / da[i]);

    if (!(ratio > 0.0) || PetscIsInfReal(ratio))
      PetscCall(HopsRefuse(why, "its entry %" PetscInt_FMT " is %g where the form's is %g", start + i, (double)PetscRealPart(da[i]),
                           (double)PetscRealPart(s[i])));
    else s[i] = PetscSqrtReal(ratio);
  }
  PetscCall(VecRestoreArrayRead(d, &da));
  PetscCall(VecRestoreArray(scale, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The diagonal of Dirichlet rows is known by the products that looked at them. Rows of 1e8 in an operator
  beside rows of 1 in the matrix would hide the other residuals in the norms of a Krylov method.
*/
static PetscErrorCode PCLORScaleRows(PC_LOR *lor)
{
  const PetscInt n     = lor->dirichlet ? lor->ndirichlet : 0;
  PetscBool      other = PETSC_FALSE;
  PetscScalar   *s;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i)
    if (PetscRealPart(lor->dirichlet[i]) > 0.0 && PetscAbsScalar(lor->dirichlet[i] - 1.0) > 1e-8) other = PETSC_TRUE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &other, 1, HOPS_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)lor->form->space)));
  if (!other) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCLORScaleCreateVec(lor, &lor->scale));
  PetscCall(VecDuplicate(lor->scale, &lor->scaled));
  PetscCall(VecSet(lor->scale, 1.0));
  PetscCall(VecGetArray(lor->scale, &s));
  for (PetscInt i = 0; i < n; ++i)
    if (PetscRealPart(lor->dirichlet[i]) > 0.0) s[i] = 1.0 / PetscSqrtReal(PetscRealPart(lor->dirichlet[i]));
  PetscCall(VecRestoreArray(lor->scale, &s));
  lor->scaledrows = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORSetUpScale(PC pc, PC_LOR *lor, PetscInt nc, const HopsForm form[])
{
  char        why[HOPS_WHY_LENGTH] = "";
  PetscBool   has, bad;
  Mat         A = pc->pmat;
  Vec         d;
  PetscMPIInt any;

  PetscFunctionBegin;
  PetscCall(VecDestroy(&lor->scale));
  PetscCall(VecDestroy(&lor->scaled));
  lor->notscaled  = NULL;
  lor->scaledrows = PETSC_FALSE;
  if (lor->scaletype == PCLOR_SCALE_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  if (lor->transformation) {
    PetscCheck(lor->scaletype == PCLOR_SCALE_DEFAULT, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
               "-pc_lor_scale diagonal takes the diagonal of an operator of nodal values, and this one's unknowns are others "
               "(PCLORSetTransformation()): give the coefficients (PCLORSetCoefficients()) and use -pc_lor_scale none");
    if (lor->unknown) lor->notscaled = "the operator's unknowns are no nodal values";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (lor->scaletype == PCLOR_SCALE_DEFAULT && !lor->unknown) {
    PetscCall(PCLORScaleRows(lor));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatHasOperation(A, MATOP_GET_DIAGONAL, &has));
  if (!has) {
    A = pc->mat;
    PetscCall(MatHasOperation(A, MATOP_GET_DIAGONAL, &has));
  }
  PetscCheck(has || lor->scaletype == PCLOR_SCALE_DEFAULT, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_lor_scale diagonal takes the diagonal of the operator, which a matrix of type %s does not give: set "
             "MATOP_GET_DIAGONAL (MatShellSetOperation()), or give the coefficients (PCLORSetCoefficients()) and use "
             "-pc_lor_scale none",
             ((PetscObject)A)->type_name);
  if (!has) {
    lor->notscaled = "the operator gives no diagonal";
    PetscCall(PCLORScaleRows(lor));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCLORScaleCreateVec(lor, &d));
  PetscCall(VecDuplicate(d, &lor->scale));
  PetscCall(VecDuplicate(d, &lor->scaled));
  PetscCall(MatGetDiagonal(A, d));
  if (lor->between) {
    Vec nodal;

    PetscCall(HopsSpaceCreateVec(lor->form->space, &nodal));
    PetscCall(PCLORFormDiagonal(form[0], nodal));
    PetscCall(PCLORBetweenDiagonal(lor, nodal, lor->scale));
    PetscCall(VecDestroy(&nodal));
  } else PetscCall(PCLORReferenceDiagonal(lor, nc, form, lor->scale));
  PetscCall(PCLORScaleEntries(d, lor->scale, why));
  PetscCall(VecDestroy(&d));
  any = why[0] ? 1 : 0;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  bad = any ? PETSC_TRUE : PETSC_FALSE;
  if (!bad) PetscFunctionReturn(PETSC_SUCCESS);
  if (lor->scaletype == PCLOR_SCALE_DIAGONAL) {
    char text[HOPS_WHY_LENGTH] = "";

    if (why[0])
      PetscCall(PetscSNPrintf(text, sizeof(text),
                              "-pc_lor_scale diagonal: the diagonal of the operator cannot scale, as %s; use "
                              "-pc_lor_scale none",
                              why));
    PetscCall(HopsRaise(PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP, text));
  }
  lor->notscaled = "the operator's diagonal is not that of a positive form";
  PetscCall(VecDestroy(&lor->scale));
  PetscCall(VecDestroy(&lor->scaled));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *xs: what the inner solver gets. What the matrix takes to zero is no part of it, so all is symmetric */
PetscErrorCode PCLORScaleBegin(PC_LOR *lor, Vec x, Vec *xs)
{
  MatNullSpace nsp;

  PetscFunctionBegin;
  *xs = x;
  if (!lor->scale) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecPointwiseMult(lor->scaled, lor->scale, x));
  PetscCall(MatGetNullSpace(lor->mat, &nsp));
  if (nsp) PetscCall(MatNullSpaceRemove(nsp, lor->scaled));
  *xs = lor->scaled;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORScaleEnd(PC_LOR *lor, Vec y)
{
  PetscFunctionBegin;
  if (lor->scale) PetscCall(VecPointwiseMult(y, y, lor->scale)); /* the other way PETSc may lose a y in the host's memory */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORViewAttach(PC_LOR *lor, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (lor->nfound)
    PetscCall(
      PetscViewerASCIIPrintf(viewer, "essential unknowns: %" PetscInt_FMT " Dirichlet rows of the operator\n", lor->nfound));
  if (lor->lame[0] && lor->block) PetscCall(PetscViewerASCIIPrintf(viewer, "coefficients: each component's part of elasticity\n"));
  if (lor->unknown) PetscCall(PetscViewerASCIIPrintf(viewer, "coefficient of the diffusion: 1, as none is known\n"));
  if (lor->scale)
    PetscCall(PetscViewerASCIIPrintf(viewer, "scaled by the operator's diagonal%s\n", lor->scaledrows ? " in Dirichlet rows" : ""));
  if (lor->notscaled)
    PetscCall(PetscViewerASCIIPrintf(viewer, "not scaled%s: %s\n", lor->scaledrows ? " elsewhere" : "", lor->notscaled));
  PetscFunctionReturn(PETSC_SUCCESS);
}
