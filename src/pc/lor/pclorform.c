/* Where PCLOR and PCPATCHFD find their form: a MATPA operator, the user, or the DM of a DMPlex code. */
#include <hops/private/hopslorblockimpl.h>
#include <hops/private/hopspatensorimpl.h>
#include <petsc/private/pcimpl.h>

/* ---- What the user sets, of all types whose data begin with a PC_LOR ---- */

PetscErrorCode PCLORSetUserSpace(PC pc, HopsSpace space)
{
  PC_LOR *lor = (PC_LOR *)pc->data;

  PetscFunctionBegin;
  PetscCall(HopsSpaceReference(space));
  PetscCall(HopsSpaceDestroy(&lor->userspace));
  lor->userspace  = space;
  pc->setupcalled = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORSetUserCoefficients(PC pc, HopsCoefficient diffusion, HopsCoefficient mass)
{
  PC_LOR *lor = (PC_LOR *)pc->data;

  PetscFunctionBegin;
  if (diffusion) PetscCall(HopsCoefficientReference(diffusion));
  if (mass) PetscCall(HopsCoefficientReference(mass));
  PetscCall(HopsCoefficientDestroy(&lor->userdiffusion));
  PetscCall(HopsCoefficientDestroy(&lor->usermass));
  lor->userdiffusion = diffusion;
  lor->usermass      = mass;
  lor->assumed       = PETSC_FALSE;
  pc->setupcalled    = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORDestroyUser(PC_LOR *lor)
{
  PetscFunctionBegin;
  PetscCall(HopsSpaceDestroy(&lor->userspace));
  PetscCall(HopsCoefficientDestroy(&lor->userdiffusion));
  PetscCall(HopsCoefficientDestroy(&lor->usermass));
  for (PetscInt i = 0; i < 2; ++i) PetscCall(HopsCoefficientDestroy(&lor->lame[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The user's coefficients, in place of those of the cells of any other form */
static PetscErrorCode PCLORSetFormCoefficients(PC_LOR *lor)
{
  PetscFunctionBegin;
  PetscCall(HopsFormReset(lor->form));
  PetscCall(HopsFormSetCells(lor->form, HopsFamilyDifferential(lor->form->space->family), lor->userdiffusion));
  PetscCall(HopsFormSetCells(lor->form, HOPS_VALUE, lor->usermass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new space means a new pattern */
static PetscErrorCode PCLORSetFormSpace(PC_LOR *lor, HopsSpace sp)
{
  PetscFunctionBegin;
  if (sp == lor->form->space) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsFormSetSpace(lor->form, sp));
  PetscCall(DMDestroy(&lor->dm));
  lor->ondevice = PetscMemTypeHost(sp->backend->memtype) ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator whose form is taken, unless the user gives one. A multiple of it is as good, but for sweeps
   that take residuals */
static PetscErrorCode PCLORGetOperatorPA(PC pc, PC_LOR *lor, Mat_PA **pa)
{
  Mat candidates[2] = {pc->pmat, pc->mat};

  PetscFunctionBegin;
  *pa = NULL;
  for (PetscInt i = 0; i < 2 && !*pa; ++i) {
    PetscBool same;

    PetscCall(PetscObjectTypeCompare((PetscObject)candidates[i], MATPA, &same));
    if (!same) continue;
    PetscCall(MatPAGetData(candidates[i], pa));
    if (!lor->userdiffusion && !lor->usermass)
      PetscCall(MatPACheckForm(candidates[i], lor->scalar ? PETSC_FALSE : PETSC_TRUE, lor->name));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the DM of the preconditioner or else of its matrices */
static PetscErrorCode PCLORFindDM(PC pc, DM *dm)
{
  PetscFunctionBegin;
  PetscCall(PCGetDM(pc, dm));
  if (!*dm) PetscCall(MatGetDM(pc->pmat, dm));
  if (!*dm) PetscCall(MatGetDM(pc->mat, dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Several components or first-order terms: the matrix has tensors for entries */
static PetscErrorCode PCLORNeedsBlock(PC pc, PC_LOR *lor, DM dm, PetscBool *block)
{
  PetscObject  disc;
  PetscClassId id;
  PetscInt     nf, nc = 1;
  PetscBool    pre;
  HopsForm     form;

  PetscFunctionBegin;
  *block = PETSC_FALSE;
  PetscCall(DMGetNumFields(dm, &nf));
  if (nf != 1) PetscFunctionReturn(PETSC_SUCCESS); /* refused with the space */
  PetscCall(DMGetField(dm, 0, NULL, &disc));
  PetscCall(PetscObjectGetClassId(disc, &id));
  if (id == PETSCFE_CLASSID) PetscCall(PetscFEGetNumComponents((PetscFE)disc, &nc));
  *block = nc > 1 ? PETSC_TRUE : PETSC_FALSE;
  PetscCheck(nc == 1 || (!lor->userdiffusion && !lor->usermass), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "%sSetCoefficients() is for scalar fields; this one has %" PetscInt_FMT
             " components, whose form comes from the Jacobian functions of the PetscDS: leave the call out, or split the "
             "components by PCFIELDSPLIT",
             lor->name, nc);
  if (lor->userdiffusion || lor->usermass) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsDSUsesPreconditioner(dm, pc->mat == pc->pmat ? PETSC_TRUE : PETSC_FALSE, &pre));
  PetscCall(HopsFormListDS(dm, pre, !lor->ignoreconvection, !lor->ignoreboundary, &form));
  *block = HopsFormNeedsTensors(form);
  PetscCall(HopsFormDestroy(&form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do components couple in the matrix? Unless they are told to, they do not on a device, which has no matrix
   of blocks, nor where nodes hang: rows are long there */
static PetscErrorCode PCLORChooseCouple(PC pc, PC_LOR *lor, HopsForm form, HopsNodes nodes, PetscBool *couple)
{
  MPI_Comm        comm = PetscObjectComm((PetscObject)pc);
  const PetscBool host = nodes->space->backend->host;
  const char     *why  = NULL;
  PetscBool       has[4], bd[4];

  PetscFunctionBegin;
  HopsFormGetFunctions(form, HOPS_CELLS, has);
  HopsFormGetFunctions(form, HOPS_BOUNDARY, bd);
  if (has[1] || has[2]) why = "first-order terms (-pc_lor_ignore convection leaves them out)";
  else if (bd[1] || bd[2] || bd[3]) why = "boundary Jacobians with derivatives (-pc_lor_ignore boundary leaves them out)";
  *couple = nodes->nc == 1 || why || (host && !nodes->space->hanging) ? PETSC_TRUE : PETSC_FALSE;
  if (lor->coupleset && nodes->nc > 1) {
    *couple = lor->couple;
    PetscCheck(*couple || !why, comm, PETSC_ERR_SUP,
               "The low-order-refined matrix without couplings between components (-pc_lor_couple 0) does not take %s: use "
               "-pc_lor_couple 1",
               why);
  }
  if (*couple && !host)
    PetscCall(PetscInfo(pc, "the low-order-refined matrix is made on the host: %s%s\n", why ? "the form has " : "components couple",
                        why ? why : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the matrix that there is what would be made now? */
static PetscErrorCode PCLORKeepsBlock(PC pc, PC_LOR *lor, PetscBool *keeps)
{
  PetscBool couple;

  PetscFunctionBegin;
  PetscCall(PCLORChooseCouple(pc, lor, lor->block->form, lor->block->nodes, &couple));
  *keeps = couple == lor->block->couple &&
               lor->block->lor.constraintentries == PCLORConstraintEntries(lor, lor->block->nodes->space) &&
               (couple || lor->block->lor.droptol == lor->droptol)
             ? PETSC_TRUE
             : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix of the form, in place of any before */
static PetscErrorCode PCLORCreateBlock(PC pc, PC_LOR *lor, HopsForm form, HopsNodes nodes)
{
  PetscBool couple;

  PetscFunctionBegin;
  PetscCall(PCLORChooseCouple(pc, lor, form, nodes, &couple));
  PetscCall(
    HopsLORBlockCreate(nodes, form, lor->upwind, couple, lor->droptol, PCLORConstraintEntries(lor, nodes->space), &lor->block));
  PetscCall(KSPReset(lor->ksp));
  PetscCall(MatDestroy(&lor->mat));
  PetscCall(PCLORSetFormSpace(lor, nodes->space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLORGetFormBlock(PC pc, PC_LOR *lor, DM dm, PetscSection section)
{
  HopsForm  form;
  HopsNodes nodes;
  PetscBool pre, keeps = PETSC_FALSE;

  PetscFunctionBegin;
  if (lor->block && lor->dm == dm && lor->section == section) PetscCall(PCLORKeepsBlock(pc, lor, &keeps));
  if (keeps) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsDSCheck(dm));
  PetscCall(HopsDSUsesPreconditioner(dm, pc->mat == pc->pmat ? PETSC_TRUE : PETSC_FALSE, &pre));
  PetscCall(HopsFormCreateDS(dm, pre, !lor->ignoreconvection, !lor->ignoreboundary, &form));
  PetscCheck(HopsFormHas(form, HOPS_CELLS), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "The PetscDS has no Jacobian functions: there is nothing to precondition (PetscDSSetJacobian())");
  PetscCall(HopsNodesCreate(dm, &nodes));
  PetscCall(HopsLORBlockDestroy(&lor->block));
  PetscCall(PCLORCreateBlock(pc, lor, form, nodes));
  PetscCall(HopsNodesDestroy(&nodes));
  PetscCall(HopsFormDestroy(&form));
  PetscCall(PetscObjectReference((PetscObject)dm));
  PetscCall(DMDestroy(&lor->dm));
  PetscCall(PetscObjectReference((PetscObject)section));
  PetscCall(PetscSectionDestroy(&lor->section));
  lor->dm      = dm;
  lor->section = section;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The nodes and the form, with its state, of a matrix-free operator */
static PetscErrorCode PCLORGetFormTensor(PC pc, PC_LOR *lor, HopsPATensor tensor)
{
  HopsForm  form;
  PetscBool keeps = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCheck(tensor->nodes, PetscObjectComm((PetscObject)tensor->space), PETSC_ERR_SUP,
             "The operator has several fields (%" PetscInt_FMT
             " of them), or test and trial functions of different fields, where a low-order-refined matrix has one: use -pc_type "
             "fieldsplit, and -pc_type lor on the split of a field",
             tensor->n[0]);
  PetscCheck(tensor->jacobian->nblocks, PetscObjectComm((PetscObject)tensor->space), PETSC_ERR_ARG_WRONGSTATE,
             "The field has no Jacobian functions of its own (its block is zero): there is nothing to precondition; give one by "
             "PetscDSSetJacobianPreconditioner(), or use -pc_type none");
  if (lor->block && lor->block->nodes == tensor->nodes && lor->block->jacobian == tensor->jacobian)
    PetscCall(PCLORKeepsBlock(pc, lor, &keeps));
  if (keeps) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsLORBlockDestroy(&lor->block));
  PetscCall(HopsFormSelect(tensor->form, tensor->jacobian, !lor->ignoreconvection, !lor->ignoreboundary, &form));
  PetscCall(PCLORCreateBlock(pc, lor, form, tensor->nodes));
  PetscCall(HopsFormDestroy(&form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLORCheckScalar(PC pc, PC_LOR *lor, PetscBool block)
{
  PetscFunctionBegin;
  PetscCheck(!block || !lor->scalar, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "%s takes scalar forms of diffusion and reaction; this one has several components or first-order terms: use "
             "-pc_type " PCLOR ", or PCFIELDSPLIT to split components",
             lor->name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLORGetFormDM(PC pc, PC_LOR *lor, DM dm)
{
  PetscSection section;
  HopsForm     ds;
  PetscInt     nds;
  PetscBool    block, pre;

  PetscFunctionBegin;
  PetscCall(DMGetLocalSection(dm, &section));
  PetscCall(PCLORNeedsBlock(pc, lor, dm, &block));
  PetscCall(PCLORCheckScalar(pc, lor, block));
  if (block) {
    PetscCall(PCLORGetFormBlock(pc, lor, dm, section));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (lor->block) PetscCall(PetscSectionDestroy(&lor->section)); /* the space was that of the block's nodes */
  PetscCall(HopsLORBlockDestroy(&lor->block));
  if (lor->dm != dm || lor->section != section) {
    HopsSpace sp;

    PetscCall(HopsSpaceCreateFromDM(dm, &sp));
    PetscCall(PCLORSetFormSpace(lor, sp));
    PetscCall(HopsSpaceDestroy(&sp));
    PetscCall(PetscObjectReference((PetscObject)dm));
    PetscCall(DMDestroy(&lor->dm));
    PetscCall(PetscObjectReference((PetscObject)section));
    PetscCall(PetscSectionDestroy(&lor->section));
    lor->dm      = dm;
    lor->section = section;
  }
  if (lor->userdiffusion || lor->usermass) {
    PetscCall(PCLORSetFormCoefficients(lor));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DMGetNumDS(dm, &nds));
  PetscCheck(nds > 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "The DM has no PetscDS, so the form is unknown: set the Jacobian functions (PetscDSSetJacobian()), or the "
             "coefficients (%sSetCoefficients())",
             lor->name);
  PetscCall(HopsDSCheck(dm));
  PetscCall(HopsDSUsesPreconditioner(dm, pc->mat == pc->pmat ? PETSC_TRUE : PETSC_FALSE, &pre));
  PetscCall(HopsFormCreateDS(dm, pre, !lor->ignoreconvection, !lor->ignoreboundary, &ds));
  PetscCall(HopsFormSetScalar(ds, lor->form));
  PetscCall(HopsFormDestroy(&ds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does PETSc assemble the first field with a rule that has points on the faces of the cells? */
static PetscErrorCode PCLORFindPoints(DM dm, HopsLORPoints *points)
{
  PetscObject      disc;
  PetscClassId     id;
  PetscQuadrature  rule = NULL;
  const PetscReal *x;
  PetscInt         dim, n = 0;

  PetscFunctionBegin;
  PetscCall(DMGetField(dm, 0, NULL, &disc));
  PetscCall(PetscObjectGetClassId(disc, &id));
  if (id == PETSCFE_CLASSID) PetscCall(PetscFEGetQuadrature((PetscFE)disc, &rule));
  if (rule) PetscCall(PetscQuadratureGetData(rule, &dim, NULL, &n, &x, NULL));
  for (PetscInt i = 0; i < n * dim; ++i)
    if (1.0 - PetscAbsReal(x[i]) < PETSC_SQRT_MACHINE_EPSILON) *points = HOPS_LOR_NODES;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Likewise of a MATPA, which has hops' own rule or, where nobody chose one, the PetscFE's */
static HopsLORPoints PCLORGetPoints(const Mat_PA *pa)
{
  const HopsSpace sp = pa->form->space ? pa->form->space : (pa->tensor ? pa->tensor->space : NULL);

  if (pa->gll) return HOPS_LOR_LIMITS;
  if (!pa->fromds || !sp || !sp->rule[0].P || pa->q_1d || pa->gauss) return HOPS_LOR_INSIDE;
  return 1.0 - PetscAbsReal(sp->rule[0].points[0]) < PETSC_SQRT_MACHINE_EPSILON ? HOPS_LOR_NODES : HOPS_LOR_INSIDE;
}

/* A space that is there, with the form of the user or of the operator, or where none is known, in H1, the
   Laplacian's */
static PetscErrorCode PCLORGetFormSpace(PC pc, PC_LOR *lor, const Mat_PA *pa, HopsSpace sp)
{
  const PetscBool known = lor->userdiffusion || lor->usermass || (pa && pa->form->space) ? PETSC_TRUE : PETSC_FALSE;
  PetscInt        nc    = 1;

  PetscFunctionBegin;
  if (!lor->scalar && !PCLORIsBetween(lor)) PetscCall(PCLORCountComponents(pc, sp, &nc));
  if (nc > 1) {
    PetscCall(PCLORSetFormSpace(lor, sp));
    PetscCall(HopsFormReset(lor->form));
    PetscCall(PCLORGetFormComponents(pc, lor, sp, nc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsLORBlockDestroy(&lor->block));
  if (PCLORIsBetween(lor)) PetscCall(PCLORBetweenFind(pc, lor, sp, &sp));
  else PetscCall(PCLORFindEssential(pc, lor, pa, sp, &sp));
  PetscCall(PCLORSetFormSpace(lor, sp));
  if (lor->userdiffusion || lor->usermass) {
    PetscCall(PCLORSetFormCoefficients(lor));
    lor->unknown = lor->assumed && !lor->scalar && sp->family == HOPS_H1 ? PETSC_TRUE : PETSC_FALSE;
  } else if (!known && !lor->scalar && sp->family == HOPS_H1) {
    const PetscScalar one = 1.0;
    HopsCoefficient   cf;

    PetscCall(HopsFormReset(lor->form));
    PetscCall(HopsCoefficientCreateConstant(PetscObjectComm((PetscObject)pc), 1, &one, &cf));
    PetscCall(HopsFormSetCells(lor->form, HOPS_GRADIENT, cf));
    PetscCall(HopsCoefficientDestroy(&cf));
    lor->unknown = PETSC_TRUE;
  } else {
    PetscCheck(known, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
               "%s has a space but no form: call %sSetCoefficients(), or use a MATPA operator", lor->name, lor->name);
    PetscCall(HopsFormReset(lor->form));
    PetscCall(HopsFormCopy(pa->form, HOPS_CELLS, lor->form));
  }
  if (pa && pa->form->space == lor->form->space) PetscCall(HopsFormCopy(pa->form, HOPS_BOUNDARY, lor->form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORGetForm(PC pc, PC_LOR *lor)
{
  MPI_Comm  comm = PetscObjectComm((PetscObject)pc);
  Mat_PA   *pa;
  HopsSpace sp;
  DM        dm = NULL, plex = NULL;
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(PCLORGetOperatorPA(pc, lor, &pa));
  lor->points = pa ? PCLORGetPoints(pa) : HOPS_LOR_INSIDE;
  PetscCall(PCLORFindDM(pc, &dm));
  if (dm) PetscCall(HopsDMGetPlex(dm, &plex));
  lor->unknown = PETSC_FALSE;
  lor->nfound  = 0;
  PetscCall(PetscFree(lor->dirichlet));
  PetscCall(PCLORFindSpace(pc, lor, pa, &sp, &lor->source));
  PetscCheck(sp || !PCLORIsBetween(lor), comm, PETSC_ERR_ARG_WRONGSTATE,
             "PCLORSetProlongation() and PCLORSetTransformation() are for spaces that are given: MatSetHopsSpace(), "
             "DMSetHopsSpace() "
             "or PCLORSetSpace()");
  if (pa && pa->tensor && !lor->userspace) {
    PetscCall(PCLORCheckScalar(pc, lor, PETSC_TRUE));
    PetscCall(PCLORGetFormTensor(pc, lor, pa->tensor));
    lor->source = HOPS_SOURCE_MATPA;
  } else if (sp) {
    PetscCall(PCLORGetFormSpace(pc, lor, pa, sp));
  } else if (plex) {
    PetscCall(PCLORGetFormDM(pc, lor, plex));
    if (!pa) PetscCall(PCLORFindPoints(plex, &lor->points));
    lor->source = HOPS_SOURCE_DM;
  } else
    SETERRQ(comm, PETSC_ERR_ARG_WRONGSTATE,
            "%s finds no finite element space: give the solver a DMPlex or DMForest with a PetscFE (KSPSetDM(), SNESSetDM()), a "
            "MATPA "
            "operator, or a space by MatSetHopsSpace(), DMSetHopsSpace(), or %sSetSpace() after PCSetType()%s%s",
            lor->name, lor->name, dm ? "; the DM has type " : "", dm ? ((PetscObject)dm)->type_name : "");
  PetscCall(HopsSpaceSetVecTypeFromMat(lor->form->space, pc->pmat));
  PetscCall(MatGetLocalSize(pc->pmat, &n, NULL));
  {
    PetscBool ok =
      PCLORIsBetween(lor) || n == (lor->block ? lor->block->nodes->nfree : lor->form->space->nT) ? PETSC_TRUE : PETSC_FALSE;
    PetscInt N;

    PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &ok, 1, HOPS_MPI_BOOL, MPI_LAND, comm));
    PetscCall(MatGetSize(pc->pmat, &N, NULL));
    PetscCheck(ok, comm, PETSC_ERR_ARG_SIZ,
               "The matrix has %" PetscInt_FMT " rows, the finite element space %" PetscInt_FMT
               " unknowns (or their distributions differ): the solver's DM is not the one that made the matrix; call KSPSetDM() "
               "with the right one, or %sSetSpace()",
               N, lor->form->space->N, lor->name);
  }
  PetscCall(PCLORCheckElasticity(pc, lor));
  PetscCheck(lor->block || lor->form->n, comm, PETSC_ERR_ARG_WRONGSTATE,
             "The form has no diffusion and no mass term, so there is nothing to precondition: give the operator terms "
             "(MatPASetDiffusion(), MatPASetMass()), the PetscDS Jacobian functions (PetscDSSetJacobian()), or the preconditioner "
             "coefficients (%sSetCoefficients())",
             lor->name);
  PetscFunctionReturn(PETSC_SUCCESS);
}
