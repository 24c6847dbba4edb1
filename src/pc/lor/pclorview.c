/* What PCLOR says of itself. */
#include <hops/private/hopslorblockimpl.h>
#include <petsc/private/pcimpl.h>

PetscErrorCode PCLORViewConstraints(const HopsLOR *lor, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (!lor->space->hanging) PetscFunctionReturn(PETSC_SUCCESS);
  if (lor->constraintentries && lor->space->family == HOPS_H1)
    PetscCall(
      PetscViewerASCIIPrintf(viewer, "weights kept in rows of hanging nodes: %" PetscInt_FMT " largest\n", lor->constraintentries));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "weights kept in rows of hanging nodes: all\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Type, size of rows, and what the matrix is made of */
static PetscErrorCode PCLORViewMatrix(const PC_LOR *lor, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (lor->block) {
    const PetscInt n = lor->form->space->N * lor->block->nc;

    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "low-order-refined matrix: type %s, %.3g nonzeros per row, vertex quadrature, %s%" PetscInt_FMT
                                     "%s, terms%s%s%s%s%s\n",
                                     ((PetscObject)lor->mat)->type_name, n ? (double)(lor->block->lor.nnz / n) : 0.0,
                                     lor->block->couple ? "blocks of " : "", lor->block->nc,
                                     lor->block->couple ? "" : " components that do not couple", lor->block->has[0] ? " g0" : "",
                                     lor->block->has[1] ? " g1" : "", lor->block->has[2] ? " g2" : "",
                                     lor->block->has[3] ? " g3" : "", lor->upwind ? ", upwind" : ""));
    if (!lor->block->couple)
      PetscCall(PetscViewerASCIIPrintf(viewer, "kernel %s, drop tolerance: %g\n", lor->block->lor.kernel->kernel,
                                       (double)lor->block->lor.droptol));
    if (!lor->block->couple) PetscCall(PCLORViewConstraints(&lor->block->lor, viewer));
  } else {
    PetscCall(
      PetscViewerASCIIPrintf(viewer, "low-order-refined matrix: type %s, %.3g nonzeros per row, vertex quadrature, kernel %s\n",
                             ((PetscObject)lor->mat)->type_name,
                             lor->form->space->N ? (double)(lor->lor.nnz / lor->form->space->N) : 0.0, lor->lor.kernel->kernel));
    if (lor->form->space->family == HOPS_H1)
      PetscCall(PetscViewerASCIIPrintf(viewer, "drop tolerance: %g\n", (double)lor->lor.droptol));
    PetscCall(PCLORViewConstraints(&lor->lor, viewer));
    if (lor->filled)
      PetscCall(PetscViewerASCIIPrintf(viewer,
                                       "mass coefficient zero in %" PetscInt_FMT
                                       " cells, where this matrix has %g times the other coefficient\n",
                                       lor->nzero, (double)lor->zerofill));
  }
  if (lor->block && HopsFormHas(lor->block->form, HOPS_BOUNDARY)) {
    PetscBool has[4];

    HopsFormGetFunctions(lor->block->form, HOPS_BOUNDARY, has);
    PetscCall(PetscViewerASCIIPrintf(viewer, "boundary terms:%s%s%s%s\n", has[0] ? " g0" : "", has[1] ? " g1" : "",
                                     has[2] ? " g2" : "", has[3] ? " g3" : ""));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_LOR(PC pc, PetscViewer viewer)
{
  PC_LOR   *lor = (PC_LOR *)pc->data;
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsViewVersion(viewer));
  if (!lor->form->space) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  not set up yet\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "space and form from %s\n", HopsSourceNames[lor->source]));
  if (!lor->sub) PetscCall(HopsSpaceView(lor->form->space, viewer));
  PetscCall(PCLORBetweenView(lor, viewer));
  PetscCall(PCLORViewAttach(lor, viewer));
  if (lor->mat) {
    if (lor->sub) PetscCall(PCLORSumView(lor, viewer));
    else PetscCall(PCLORViewMatrix(lor, viewer));
    if (lor->nodalused > 0.0)
      PetscCall(PetscViewerASCIIPrintf(viewer, "relaxation weight of the nodal solvers: %g\n", (double)lor->nodalused));
    PetscCall(PCLORViewCycle(lor, viewer));
    PetscCall(PetscViewerASCIIPrintf(viewer, "inner solver:\n"));
    PetscCall(PetscViewerASCIIPushTab(viewer));
    if (lor->cycle && lor->gathered) {
      PetscViewer own;

      PetscCall(PetscViewerGetSubViewer(viewer, PETSC_COMM_SELF, &own));
      if (lor->first) PetscCall(PCView(lor->first, own));
      PetscCall(PetscViewerRestoreSubViewer(viewer, PETSC_COMM_SELF, &own));
    } else PetscCall(KSPView(lor->ksp, viewer));
    PetscCall(PetscViewerASCIIPopTab(viewer));
  }
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
