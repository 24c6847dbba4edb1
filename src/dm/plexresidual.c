/* The residual of a PetscDS by sum factorisation: f0 and f1 at the PetscFE's quadrature points; boundary residuals are PETSc's own. */
#include <hops/private/hopsdm.h>
#include <hops/private/hopsplex.h>

typedef void (*HopsPointFun)(PetscInt, PetscInt, PetscInt, const PetscInt[], const PetscInt[], const PetscScalar[], const PetscScalar[], const PetscScalar[], const PetscInt[], const PetscInt[], const PetscScalar[], const PetscScalar[], const PetscScalar[], PetscReal, const PetscReal[], PetscInt, const PetscScalar[], PetscScalar[]);

PetscErrorCode HopsPlexResidualReset(HopsPlex *plex)
{
  PetscFunctionBegin;
  if (plex->nodes) {
    PetscCall(HopsBasisDestroy(&plex->basis));
    PetscCall(PetscFree2(plex->Bt, plex->Dt));
  }
  PetscCall(HopsNodesDestroy(&plex->nodes));
  PetscCall(PetscFree(plex->node));
  PetscCall(PetscSectionDestroy(&plex->section));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One continuous Lagrange field with a tensor-product Gauss rule, without overlap: else the residual is left to PETSc */
static PetscErrorCode HopsPlexResidualSetUp(DM dm, HopsPlex *plex, PetscBool *can)
{
  PetscSection section;
  PetscObject  disc;
  PetscClassId id;
  PetscInt     nf, nds, order, nc, dim;

  PetscFunctionBegin;
  PetscCall(DMGetLocalSection(dm, &section));
  *can = PETSC_TRUE;
  if (plex->nodes && plex->section == section) PetscFunctionReturn(PETSC_SUCCESS);
  *can = PETSC_FALSE;
  PetscCall(DMGetNumFields(dm, &nf));
  if (nf != 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetNumDS(dm, &nds));
  for (PetscInt s = 0; s < nds; ++s) {
    PetscDS   ds;
    DMLabel   label;
    PetscBool all;
    PetscInt  nb;

    PetscCall(HopsDMGetRegionDS(dm, s, &ds));
    PetscCall(HopsDMGetRegionLabel(dm, s, &label));
    PetscCall(HopsRegionSeesResidual(ds, label, &all));
    if (!all) PetscFunctionReturn(PETSC_SUCCESS);
    if (nds == 1) continue;
    PetscCall(PetscDSGetNumBoundary(ds, &nb)); /* PETSc adds boundary residuals up once a region */
    for (PetscInt b = 0; b < nb; ++b) {
      DMBoundaryConditionType type;

      PetscCall(PetscDSGetBoundary(ds, b, NULL, &type, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
      if (!(type & DM_BC_ESSENTIAL)) PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(DMGetField(dm, 0, NULL, &disc));
  PetscCall(PetscObjectGetClassId(disc, &id));
  if (id != PETSCFE_CLASSID) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPlexResidualReset(plex));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(HopsPlexGetFENodes((PetscFE)disc, dim, &order, &nc, &plex->node));
  PetscCall(HopsNodesCreate(dm, &plex->nodes));
  if (!plex->nodes->space->q_1d) {
    PetscCall(HopsNodesDestroy(&plex->nodes));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscObjectReference((PetscObject)section));
  plex->section = section;
  PetscCall(HopsBasisCreate(order + 1, plex->nodes->space->q_1d, PETSC_FALSE, &plex->basis));
  PetscCall(PetscMalloc2(plex->basis.P * plex->basis.Q, &plex->Bt, plex->basis.P * plex->basis.Q, &plex->Dt));
  for (PetscInt q = 0; q < plex->basis.Q; ++q)
    for (PetscInt i = 0; i < plex->basis.P; ++i) {
      plex->Bt[i * plex->basis.Q + q] = plex->basis.B[q * plex->basis.P + i];
      plex->Dt[i * plex->basis.Q + q] = plex->basis.D[q * plex->basis.P + i];
    }
  *can = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPlexBoundaryResidual(DM dm, PetscReal t, Vec X, Vec Xt, Vec F)
{
  PetscDS  ds;
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSGetNumBoundary(ds, &n));
  for (PetscInt b = 0; b < n; ++b) {
    PetscWeakForm           wf;
    DMBoundaryConditionType type;
    PetscFormKey            key = {NULL, 0, 0, 0};
    const PetscInt         *values;
    PetscInt                nv;
    PetscBool               has;

    PetscCall(PetscDSGetBoundary(ds, b, &wf, &type, NULL, &key.label, &nv, &values, &key.field, NULL, NULL, NULL, NULL, NULL));
    if (type & DM_BC_ESSENTIAL) continue;
    for (PetscInt v = 0; v < nv; ++v) {
      key.value = values[v];
      PetscCall(DMLabelHasValue(key.label, key.value, &has));
      if (has) PetscCall(HopsDMPlexBdResidual(dm, t, wf, key, X, Xt, F));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexResidual(DM dm, HopsPlex *plex, PetscReal t, Vec X, Vec Xt, Vec F, PetscBool *done)
{
  HopsSpace          sp;
  HopsBasis          geom;
  HopsAux            aux;
  PetscInt           dim, nc, nq, np, nm, region = -1, nf[2] = {0, 0}, nconst = 0, Q;
  HopsPointFun      *f[2]  = {NULL, NULL};
  const HopsBasis   *basis = &plex->basis;
  PetscReal         *xi, *x, *J, *work, *v, *sum;
  PetscScalar       *a = NULL, *ax = NULL, *u, *ux, *ut, *p0, *p1, *elem;
  const PetscScalar *constants = NULL;
  PetscSection       section;

  PetscFunctionBegin;
  PetscCall(HopsPlexResidualSetUp(dm, plex, done));
  if (!*done) {
    PetscCall(PetscInfo(dm, "residual left to PETSc: the DM has no single Lagrange field with a tensor-product rule, or residual functions under keys that PETSc does not evaluate, or boundary conditions on several regions\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(HopsEvent.residual, dm, X, F, 0));
  sp  = plex->nodes->space;
  dim = sp->dim;
  nc  = plex->nodes->nc;
  Q   = basis->Q;
  nq  = PetscPowInt(Q, dim);
  np  = PetscPowInt(basis->P, dim);
  nm  = PetscMax(np, nq);
  PetscCall(DMGetLocalSection(dm, &section));
  PetscCall(PetscMemzero(&aux, sizeof(aux)));
  PetscCall(PetscMalloc6(nq * dim, &xi, nq * dim, &x, nq * dim * dim, &J, HopsFieldWork(dim, basis), &work, nc * (dim + 1) * nq, &v, nm, &sum));
  PetscCall(PetscCalloc6(nq * nc, &u, nq * nc * dim, &ux, nq * nc, &ut, nc, &p0, nc * dim, &p1, np * nc, &elem));
  for (PetscInt q = 0; q < nq; ++q)
    for (PetscInt d = 0, k = q; d < dim; ++d, k /= Q) xi[q * dim + d] = basis->points[k % Q];
  PetscCall(HopsSpaceCreateGeometryBasis(sp, basis, &geom));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    const PetscInt cell = sp->cell[c], uOff[2] = {0, nc}, uOffx[2] = {0, nc * dim};
    PetscInt       s;

    PetscCall(HopsRegionOfCell(dm, cell, &s));
    if (s < 0) continue;
    PetscCall(HopsSpaceGetPoints(sp, &geom, c, 1, x, J));
    if (s != region) {
      HopsRegion    r;
      PetscWeakForm wf;

      PetscCall(HopsAuxDestroy(&aux));
      PetscCall(PetscFree2(a, ax));
      PetscCall(HopsRegionGet(dm, s, PETSC_FALSE, &r));
      PetscCall(PetscDSGetWeakForm(r.ds, &wf));
      PetscCall(PetscWeakFormGetResidual(wf, r.label, r.value, 0, 0, &nf[0], &f[0], &nf[1], &f[1]));
      PetscCall(PetscDSGetConstants(r.ds, &nconst, &constants));
      PetscCall(HopsAuxCreate(dm, r.label, r.value, cell, nq, xi, &aux));
      PetscCall(PetscMalloc2(nq * aux.nc, &a, nq * aux.nc * dim, &ax));
      region = s;
    }
    if (aux.v) PetscCall(HopsAuxEvaluate(&aux, dm, cell, dim, nq, J, a, ax));
    PetscCall(HopsFieldEvaluate(dm, X, cell, dim, nc, plex->node, basis, J, u, ux, work));
    if (Xt) PetscCall(HopsFieldEvaluate(dm, Xt, cell, dim, nc, plex->node, basis, J, ut, NULL, work));
    for (PetscInt q = 0; q < nq; ++q) { /* v[component][value, derivatives][point] */
      PetscReal Ji[9], det, w = 1.0;

      det = HopsInverse(dim, J + q * dim * dim, Ji);
      if (!(det > 0.0)) PetscCall(HopsSpaceErrorCell(sp, c, det));
      for (PetscInt d = 0, k = q; d < dim; ++d, k /= Q) w *= basis->weights[k % Q];
      w *= det;
      PetscCall(PetscArrayzero(p0, nc));
      PetscCall(PetscArrayzero(p1, nc * dim));
      for (PetscInt k = 0; k < 2; ++k)
        for (PetscInt i = 0; i < nf[k]; ++i) (*f[k][i])(dim, 1, aux.nf, uOff, uOffx, u + q * nc, ut + q * nc, ux + q * nc * dim, aux.off, aux.offx, a + q * aux.nc, NULL, ax + q * aux.nc * dim, t, x + q * dim, nconst, constants, k ? p1 : p0);
      for (PetscInt g = 0; g < nc; ++g) {
        PetscReal *vg = v + g * (dim + 1) * nq;

        vg[q] = w * PetscRealPart(p0[g]);
        for (PetscInt b = 0; b < dim; ++b) {
          PetscReal y = 0.0;

          for (PetscInt d = 0; d < dim; ++d) y += Ji[b * dim + d] * PetscRealPart(p1[g * dim + d]);
          vg[(b + 1) * nq + q] = w * y;
        }
      }
    }
    PetscCall(PetscArrayzero(elem, np * nc));
    for (PetscInt g = 0; g < nc; ++g)
      for (PetscInt k = 0; k <= dim; ++k) {
        const PetscReal *M[3];

        for (PetscInt d = 0; d < dim; ++d) M[d] = d == k - 1 ? plex->Dt : plex->Bt;
        PetscCall(HopsTensorApply(dim, basis->P, Q, M, v + (g * (dim + 1) + k) * nq, sum, work));
        for (PetscInt i = 0; i < np; ++i) elem[i * nc + g] += sum[plex->node[i]];
      }
    PetscCall(DMPlexVecSetClosure(dm, section, F, cell, elem, ADD_ALL_VALUES));
  }
  PetscCall(HopsBasisDestroy(&geom));
  PetscCall(HopsAuxDestroy(&aux));
  PetscCall(PetscFree2(a, ax));
  PetscCall(PetscFree6(xi, x, J, work, v, sum));
  PetscCall(PetscFree6(u, ux, ut, p0, p1, elem));
  PetscCall(HopsPlexBoundaryResidual(dm, t, X, Xt, F));
  PetscCall(PetscLogEventEnd(HopsEvent.residual, dm, X, F, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
