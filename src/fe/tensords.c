/* The pointwise Jacobian of a field of any number of components, at the current state, read off the functions of a PetscDS. */
#include <hops/private/hopsds.h>
#include <hops/private/hopsplex.h>

#define HOPS_MAX_COMPONENTS 6

PetscErrorCode HopsTensorFormCreateDS(DM dm, PetscBool preconditioner, HopsTensorForm *out)
{
  HopsTensorForm form;
  PetscInt       nds, nf, dim, order;
  PetscObject    disc;
  PetscClassId   id;

  PetscFunctionBegin;
  PetscCall(DMGetNumFields(dm, &nf));
  PetscCheck(nf == 1, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP, "The DM has %" PetscInt_FMT " fields, of which hops takes one at a time: leave out -dm_mat_type pa, and set PCLOR on the splits of PCFIELDSPLIT", nf);
  PetscCall(DMGetField(dm, 0, NULL, &disc));
  PetscCall(PetscObjectGetClassId(disc, &id));
  PetscCheck(id == PETSCFE_CLASSID, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP, "The DM's field is not a PetscFE: hops needs a continuous Lagrange PetscFE on it");
  PetscCall(DMGetNumDS(dm, &nds));
  PetscCheck(nds > 0, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE, "The DM has no PetscDS, so the form is unknown: set the Jacobian functions (PetscDSSetJacobian()), or the coefficients (PCLORSetCoefficients())");
  PetscCall(PetscNew(&form));
  form->refct          = 1;
  form->dm             = dm;
  form->preconditioner = preconditioner;
  PetscCall(PetscObjectReference((PetscObject)dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(HopsPlexGetFENodes((PetscFE)disc, dim, &order, &form->nc, &form->node));
  PetscCheck(form->nc <= HOPS_MAX_COMPONENTS, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP, "A field of %" PetscInt_FMT " components: hops takes at most %d; split it with PCFIELDSPLIT", form->nc, HOPS_MAX_COMPONENTS);
  for (PetscInt s = 0; s < nds; ++s) {
    HopsRegion r;

    PetscCall(HopsRegionGet(dm, s, preconditioner, &r));
    for (PetscInt k = 0; k < 4; ++k)
      if (r.n[k] || r.nt[k]) form->has[k] = PETSC_TRUE;
  }
  *out = form;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsDSUsesPreconditioner(DM dm, PetscBool same, PetscBool *uses)
{
  PetscDS   ds;
  PetscInt  nds;
  PetscBool has = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(DMGetNumDS(dm, &nds));
  if (nds) {
    PetscCall(HopsDMGetRegionDS(dm, 0, &ds));
    PetscCall(PetscDSHasJacobian(ds, &has));
  }
  *uses = same && has ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsTensorFormDuplicate(HopsTensorForm form, HopsTensorForm *out)
{
  PetscFunctionBegin;
  PetscCall(HopsTensorFormCreateDS(form->dm, form->preconditioner, out));
  if (form->X) PetscCall(HopsTensorFormSetState(*out, form->X, form->Xt, form->t, form->shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsTensorFormDestroy(HopsTensorForm *out)
{
  HopsTensorForm form = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!form || --form->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDestroy(&form->X));
  PetscCall(VecDestroy(&form->Xt));
  PetscCall(DMDestroy(&form->dm));
  PetscCall(PetscFree(form->node));
  PetscCall(PetscFree(form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsTensorFormSetState(HopsTensorForm form, Vec X, Vec Xt, PetscReal t, PetscReal shift)
{
  PetscFunctionBegin;
  if (!form->X) PetscCall(VecDuplicate(X, &form->X));
  PetscCall(VecCopy(X, form->X));
  if (Xt) {
    if (!form->Xt) PetscCall(VecDuplicate(Xt, &form->Xt));
    PetscCall(VecCopy(Xt, form->Xt));
  } else PetscCall(VecDestroy(&form->Xt));
  form->t     = t;
  form->shift = shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Everything that a point function sees */
typedef struct {
  PetscInt           dim, nc, naux, nconst, uOff[2], uOffx[2];
  PetscReal          t, shift;
  const PetscInt    *aOff, *aOffx;
  const PetscScalar *u, *ut, *ux, *a, *ax, *constants;
  const PetscReal   *x;
} HopsPoint;

static void HopsPointTensor(const HopsRegion *r, PetscInt kind, PetscInt n, const HopsPoint *p, PetscScalar out[])
{
  for (PetscInt i = 0; i < n; ++i) out[i] = 0.0;
  for (PetscInt k = 0; k < r->n[kind]; ++k) (*r->g[kind][k])(p->dim, 1, p->naux, p->uOff, p->uOffx, p->u, p->ut, p->ux, p->aOff, p->aOffx, p->a, NULL, p->ax, p->t, p->shift, p->x, p->nconst, p->constants, out);
  if (r->nt[kind] && p->shift != 0.0) {
    PetscScalar v[9 * HOPS_MAX_COMPONENTS * HOPS_MAX_COMPONENTS];

    for (PetscInt i = 0; i < n; ++i) v[i] = 0.0;
    for (PetscInt k = 0; k < r->nt[kind]; ++k) (*r->gt[kind][k])(p->dim, 1, p->naux, p->uOff, p->uOffx, p->u, p->ut, p->ux, p->aOff, p->aOffx, p->a, NULL, p->ax, p->t, p->shift, p->x, p->nconst, p->constants, v);
    for (PetscInt i = 0; i < n; ++i) out[i] += p->shift * v[i];
  }
}

/* Without a state the functions must not depend on it */
static PetscErrorCode HopsPointCheck(const HopsRegion *r, const PetscInt size[4], const HopsPoint *point, PetscInt cell)
{
  PetscScalar probe[4 * HOPS_MAX_COMPONENTS], v[9 * HOPS_MAX_COMPONENTS * HOPS_MAX_COMPONENTS], w[9 * HOPS_MAX_COMPONENTS * HOPS_MAX_COMPONENTS];
  HopsPoint   p = *point;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < p.nc * (p.dim + 1); ++i) probe[i] = 0.7310585786 / (1 + i) - 0.1 * (i % 3);
  p.u     = probe;
  p.ux    = probe + p.nc;
  p.shift = 0.5772156649; /* of an implicit time step: not seen either */
  for (PetscInt k = 0; k < 4; ++k) {
    PetscReal scale = 0.0;

    if (!r->n[k] && !r->nt[k]) continue;
    HopsPointTensor(r, k, size[k], point, v);
    HopsPointTensor(r, k, size[k], &p, w);
    for (PetscInt i = 0; i < size[k]; ++i) scale = PetscMax(scale, PetscAbsScalar(v[i]));
    for (PetscInt i = 0; i < size[k]; ++i)
      PetscCheck(PetscAbsScalar(v[i] - w[i]) <= 1e-12 * scale || (PetscIsInfOrNanScalar(v[i]) || PetscIsInfOrNanScalar(w[i])), PETSC_COMM_SELF, PETSC_ERR_SUP, "The Jacobian function g%" PetscInt_FMT " of the PetscDS depends on the solution, or on the shift of a time step (cell %" PetscInt_FMT "), which a preconditioner does not see: make the operator matrix-free by -dm_mat_type pa, which keeps the state, or give the coefficients of a scalar form at the current state by PCLORSetCoefficients()", k, cell);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsTensorFormEvaluate(HopsTensorForm form, HopsSpace sp, PetscInt first, PetscInt n, const HopsBasis *basis, const PetscReal x[], const PetscReal J[], PetscScalar *const g[4])
{
  DM             dm  = form->dm;
  const PetscInt dim = sp->dim, nc = form->nc, nq = PetscPowInt(basis->Q, dim);
  const PetscInt size[4] = {nc * nc, nc * nc * dim, nc * nc * dim, nc * nc * dim * dim};
  HopsRegion     r;
  HopsAux        aux;
  PetscInt       region = -1;
  PetscReal     *xi, *work;
  PetscScalar   *a = NULL, *ax = NULL, *u, *ux, *ut;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&aux, sizeof(aux)));
  PetscCall(PetscMalloc2(nq * dim, &xi, HopsFieldWork(dim, basis), &work));
  PetscCall(PetscCalloc3(nq * nc, &u, nq * nc * dim, &ux, nq * nc, &ut));
  for (PetscInt q = 0; q < nq; ++q)
    for (PetscInt d = 0, k = q; d < dim; ++d, k /= basis->Q) xi[q * dim + d] = basis->points[k % basis->Q];
  for (PetscInt c = 0; c < n; ++c) {
    const PetscInt cell = sp->cell[first + c];
    HopsPoint      p    = {.dim = dim, .nc = nc, .uOff = {0, nc}, .uOffx = {0, nc * dim}, .t = form->t, .shift = form->shift};
    PetscInt       s;

    PetscCall(HopsRegionOfCell(dm, cell, &s));
    if (s < 0) {
      for (PetscInt k = 0; k < 4; ++k)
        if (g[k]) PetscCall(PetscArrayzero(g[k] + c * nq * size[k], nq * size[k]));
      continue;
    }
    if (s != region) {
      PetscCall(HopsAuxDestroy(&aux));
      PetscCall(PetscFree2(a, ax));
      PetscCall(HopsRegionGet(dm, s, form->preconditioner, &r));
      PetscCall(HopsAuxCreate(dm, r.label, r.value, cell, nq, xi, &aux));
      PetscCall(PetscMalloc2(nq * aux.nc, &a, nq * aux.nc * dim, &ax));
      region = s;
    }
    p.naux  = aux.nf;
    p.aOff  = aux.off;
    p.aOffx = aux.offx;
    PetscCall(PetscDSGetConstants(r.ds, &p.nconst, &p.constants));
    if (aux.v) PetscCall(HopsAuxEvaluate(&aux, dm, cell, dim, nq, J + c * nq * dim * dim, a, ax));
    if (form->X) PetscCall(HopsFieldEvaluate(dm, form->X, cell, dim, nc, form->node, basis, J + c * nq * dim * dim, u, ux, work));
    if (form->Xt) PetscCall(HopsFieldEvaluate(dm, form->Xt, cell, dim, nc, form->node, basis, J + c * nq * dim * dim, ut, NULL, work));
    for (PetscInt q = 0; q < nq; ++q) {
      p.u  = u + q * nc;
      p.ut = ut + q * nc;
      p.ux = ux + q * nc * dim;
      p.a  = a + q * aux.nc;
      p.ax = ax + q * aux.nc * dim;
      p.x  = x + (c * nq + q) * dim;
      if (q == 0 && !form->X) PetscCall(HopsPointCheck(&r, size, &p, cell));
      for (PetscInt k = 0; k < 4; ++k)
        if (g[k]) HopsPointTensor(&r, k, size[k], &p, g[k] + (c * nq + q) * size[k]);
    }
    for (PetscInt k = 0; k < 4; ++k)
      for (PetscInt i = 0; g[k] && i < nq * size[k]; ++i) PetscCheck(!PetscIsInfOrNanScalar(g[k][c * nq * size[k] + i]), PETSC_COMM_SELF, PETSC_ERR_FP, "The Jacobian function g%" PetscInt_FMT " of the PetscDS is infinite or not-a-number in cell %" PetscInt_FMT ": check the function and the fields behind it", k, cell);
  }
  PetscCall(PetscFree2(a, ax));
  PetscCall(PetscFree2(xi, work));
  PetscCall(PetscFree3(u, ux, ut));
  PetscCall(HopsAuxDestroy(&aux));
  PetscFunctionReturn(PETSC_SUCCESS);
}
