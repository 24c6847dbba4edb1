/* Regions of a PetscDS with their Jacobian functions, and auxiliary fields at points of cells. */
#include <hops/private/hopsdsimpl.h>
#include <petscfe.h>
#include <petsc/private/petscdsimpl.h> /* the keys of a weak form have no public interface */

PetscErrorCode HopsRegionGetBlock(DM dm, PetscInt s, PetscBool preconditioner, PetscInt i, PetscInt j, HopsRegion *r)
{
  PetscBool     has = PETSC_FALSE;
  PetscWeakForm wf;

  PetscFunctionBegin;
  PetscCall(HopsDMGetRegionLabel(dm, s, &r->label));
  PetscCall(HopsDMGetRegionDS(dm, s, &r->ds));
  r->value = r->label ? 1 : 0;
  PetscCall(PetscDSGetWeakForm(r->ds, &wf));
  if (preconditioner) PetscCall(PetscDSHasJacobianPreconditioner(r->ds, &has));
  if (has)
    PetscCall(PetscWeakFormGetJacobianPreconditioner(wf, r->label, r->value, i, j, 0, &r->n[0], &r->g[0], &r->n[1], &r->g[1],
                                                     &r->n[2], &r->g[2], &r->n[3], &r->g[3]));
  else
    PetscCall(PetscWeakFormGetJacobian(wf, r->label, r->value, i, j, 0, &r->n[0], &r->g[0], &r->n[1], &r->g[1], &r->n[2], &r->g[2],
                                       &r->n[3], &r->g[3]));
  PetscCall(PetscWeakFormGetDynamicJacobian(wf, r->label, r->value, i, j, 0, &r->nt[0], &r->gt[0], &r->nt[1], &r->gt[1], &r->nt[2],
                                            &r->gt[2], &r->nt[3], &r->gt[3]));
  for (PetscInt k = 0; k < 4 && has; ++k) r->nt[k] = 0; /* PETSc adds the time derivative to the Jacobian alone */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsRegionGet(DM dm, PetscInt s, PetscBool preconditioner, HopsRegion *r)
{
  PetscFunctionBegin;
  PetscCall(HopsRegionGetBlock(dm, s, preconditioner, 0, 0, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsRegionOfCell(DM dm, PetscInt cell, PetscInt *region)
{
  PetscInt nds;

  PetscFunctionBegin;
  *region = -1;
  PetscCall(DMGetNumDS(dm, &nds));
  for (PetscInt s = 0; s < nds; ++s) {
    DMLabel   label;
    PetscBool in = PETSC_TRUE;

    PetscCall(HopsDMGetRegionLabel(dm, s, &label));
    if (label) PetscCall(DMLabelStratumHasPoint(label, 1, cell, &in));
    if (!in) continue;
    PetscCheck(*region < 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "Cell %" PetscInt_FMT " lies in two regions with a PetscDS each, whose terms PETSc adds up: give each region one "
               "PetscDS and cells of its own (DMSetRegionNumDS())",
               cell);
    *region = s;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsAuxCreate(DM dm, DMLabel label, PetscInt value, PetscInt cell, PetscInt nq, const PetscReal xi[], HopsAux *aux)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(aux, sizeof(*aux)));
  PetscCall(DMGetAuxiliaryVec(dm, label, value, 0, &aux->v)); /* that of the region, else that of the mesh */
  if (!aux->v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetDM(aux->v, &aux->dm));
  PetscCall(HopsDMGetPlex(aux->dm, &aux->dm));
  PetscCheck(aux->dm, PETSC_COMM_SELF, PETSC_ERR_SUP, "An auxiliary vector is of a DM that is neither a DMPLEX nor a DMForest");
  PetscCall(DMGetEnclosureRelation(aux->dm, dm, &aux->enclosure));
  PetscCall(DMGetEnclosurePoint(aux->dm, dm, aux->enclosure, cell, &cell));
  PetscCall(HopsDMGetCellDS(aux->dm, cell, &aux->ds));
  PetscCall(PetscDSGetNumFields(aux->ds, &aux->nf));
  PetscCall(PetscDSGetTotalComponents(aux->ds, &aux->nc));
  PetscCall(PetscDSGetComponentOffsets(aux->ds, &aux->off));
  PetscCall(PetscDSGetComponentDerivativeOffsets(aux->ds, &aux->offx));
  PetscCall(PetscCalloc1(aux->nf, &aux->tab));
  for (PetscInt f = 0; f < aux->nf; ++f) {
    PetscObject  disc;
    PetscClassId id;

    PetscCall(PetscDSGetDiscretization(aux->ds, f, &disc));
    PetscCall(PetscObjectGetClassId(disc, &id));
    PetscCheck(id == PETSCFE_CLASSID, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "Auxiliary field %" PetscInt_FMT " is no PetscFE: project it to one (DMProjectField())", f);
    PetscCall(PetscFECreateTabulation((PetscFE)disc, 1, nq, xi, 1, &aux->tab[f]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsAuxDestroy(HopsAux *aux)
{
  PetscFunctionBegin;
  for (PetscInt f = 0; f < aux->nf; ++f) PetscCall(PetscTabulationDestroy(&aux->tab[f]));
  PetscCall(PetscFree(aux->tab));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsAuxEvaluate(const HopsAux *aux, DM dm, PetscInt cell, PetscInt dim, PetscInt nq, const PetscReal J[],
                               PetscScalar a[], PetscScalar ax[])
{
  PetscScalar *coef = NULL;
  PetscInt     n, b0 = 0;

  PetscFunctionBegin;
  PetscCall(DMGetEnclosurePoint(aux->dm, dm, aux->enclosure, cell, &cell));
  PetscCall(DMPlexVecGetClosure(aux->dm, NULL, aux->v, cell, &n, &coef));
  PetscCall(PetscArrayzero(a, nq * aux->nc));
  PetscCall(PetscArrayzero(ax, nq * aux->nc * dim));
  for (PetscInt f = 0; f < aux->nf; ++f) {
    const PetscTabulation t = aux->tab[f];

    PetscCheck(b0 + t->Nb <= n, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "The auxiliary closure of cell %" PetscInt_FMT " has %" PetscInt_FMT
               " values, fewer than its fields' basis functions",
               cell, n);
    for (PetscInt q = 0; q < nq; ++q) {
      const PetscReal *Jq = J + q * dim * dim;
      PetscReal        inv[9];

      HopsInverse(dim, Jq, inv);
      for (PetscInt b = 0; b < t->Nb; ++b)
        for (PetscInt c = 0; c < t->Nc; ++c) {
          a[q * aux->nc + aux->off[f] + c] += coef[b0 + b] * t->T[0][(q * t->Nb + b) * t->Nc + c];
          for (PetscInt d = 0; d < dim; ++d)
            for (PetscInt e = 0; e < dim; ++e)
              ax[q * aux->nc * dim + aux->offx[f] + c * dim + d] +=
                coef[b0 + b] * t->T[1][((q * t->Nb + b) * t->Nc + c) * dim + e] * inv[e * dim + d];
        }
    }
    b0 += t->Nb;
  }
  PetscCall(DMPlexVecRestoreClosure(aux->dm, NULL, aux->v, cell, &n, &coef));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the keys of one kind of functions; free them */
static PetscErrorCode HopsWeakFormKeys(PetscWeakForm wf, PetscWeakFormKind kind, PetscInt *n, PetscFormKey *keys[])
{
  PetscInt off = 0;

  PetscFunctionBegin;
  PetscCall(PetscHMapFormGetSize(wf->form[kind], n));
  PetscCall(PetscMalloc1(*n, keys));
  PetscCall(PetscHMapFormGetKeys(wf->form[kind], &off, *keys));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsRegionCheckKeys(PetscDS ds, DMLabel label)
{
  static const PetscWeakFormKind kinds[12] = {PETSC_WF_G0,  PETSC_WF_G1,  PETSC_WF_G2,  PETSC_WF_G3,  PETSC_WF_GP0, PETSC_WF_GP1,
                                              PETSC_WF_GP2, PETSC_WF_GP3, PETSC_WF_GT0, PETSC_WF_GT1, PETSC_WF_GT2, PETSC_WF_GT3};
  PetscWeakForm                  wf;

  PetscFunctionBegin;
  PetscCall(PetscDSGetWeakForm(ds, &wf));
  for (PetscInt k = 0; k < 12; ++k) {
    PetscFormKey *keys;
    PetscInt      n;

    PetscCall(HopsWeakFormKeys(wf, kinds[k], &n, &keys));
    for (PetscInt i = 0; i < n; ++i) {
      PetscCheck(!label || keys[i].label || keys[i].part, PETSC_COMM_SELF, PETSC_ERR_SUP,
                 "The PetscDS of a region has a Jacobian function without a label, which PETSc's assembly does not evaluate: set "
                 "it for the region's label and value 1 by PetscWeakFormSetIndexJacobian()");
      PetscCheck(keys[i].label == label && keys[i].value == (label ? 1 : 0) && !keys[i].part, PETSC_COMM_SELF, PETSC_ERR_SUP,
                 "The PetscDS has a Jacobian function for value %" PetscInt_FMT
                 " of a label (or for a part of the form), which neither PETSc's assembly nor hops sees: give the regions a "
                 "PetscDS of their own (DMSetRegionDS()), or the coefficients by PCLORSetCoefficients()",
                 keys[i].value);
    }
    PetscCall(PetscFree(keys));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define HOPS_RHS_PART 100 /* PETSc's part for the explicit side of a time step, PetscDSSetRHSResidual() */

PetscErrorCode HopsRegionSeesResidual(PetscDS ds, DMLabel label, PetscBool *all)
{
  static const PetscWeakFormKind kinds[2] = {PETSC_WF_F0, PETSC_WF_F1};
  PetscWeakForm                  wf;

  PetscFunctionBegin;
  *all = PETSC_TRUE;
  PetscCall(PetscDSGetWeakForm(ds, &wf));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscFormKey *keys;
    PetscInt      n;

    PetscCall(HopsWeakFormKeys(wf, kinds[k], &n, &keys));
    for (PetscInt i = 0; i < n; ++i)
      if (keys[i].part != HOPS_RHS_PART && (keys[i].label != label || keys[i].value != (label ? 1 : 0) || keys[i].part))
        *all = PETSC_FALSE;
    PetscCall(PetscFree(keys));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsBoundaryCheckKeys(PetscWeakForm wf, DMLabel label, PetscInt nv, const PetscInt values[])
{
  static const PetscWeakFormKind kinds[4] = {PETSC_WF_BDG0, PETSC_WF_BDG1, PETSC_WF_BDG2, PETSC_WF_BDG3};

  PetscFunctionBegin;
  for (PetscInt k = 0; k < 4; ++k) {
    PetscFormKey *keys;
    PetscInt      n;

    PetscCall(HopsWeakFormKeys(wf, kinds[k], &n, &keys));
    for (PetscInt i = 0; i < n; ++i) {
      PetscBool seen = PETSC_FALSE;

      for (PetscInt v = 0; v < nv; ++v)
        if (keys[i].label == label && keys[i].value == values[v] && !keys[i].part) seen = PETSC_TRUE;
      PetscCheck(seen, PETSC_COMM_SELF, PETSC_ERR_SUP,
                 "The PetscDS has a boundary Jacobian function for value %" PetscInt_FMT
                 " of a label (or for a part of the form) that belongs to no natural boundary condition, which neither PETSc's "
                 "assembly nor hops sees: add the condition by DMAddBoundary() and set the function in its weak form, or leave it "
                 "out of the preconditioner by -pc_lor_ignore boundary",
                 keys[i].value);
    }
    PetscCall(PetscFree(keys));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
