/* The pointwise Jacobian of a vector-valued field, read off the functions of a PetscDS. */
#include <hops/private/hopsds.h>
#include <petscfe.h>

#define HOPS_MAX_COMPONENTS 6

PetscErrorCode HopsTensorFormDestroy(HopsTensorForm *form)
{
  PetscFunctionBegin;
  if (!*form) PetscFunctionReturn(PETSC_SUCCESS);
  if ((*form)->destroy) PetscCall((*(*form)->destroy)(*form));
  PetscCall(PetscFree(*form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Everything that a point function sees, but for the state */
typedef struct {
  PetscInt           dim, nc, naux, nconst, uOff[2], uOffx[2];
  const PetscInt    *aOff, *aOffx;
  const PetscScalar *a, *ax, *constants;
  const PetscReal   *x;
} HopsPoint;

static void HopsPointTensor(const HopsRegion *r, PetscInt kind, PetscInt n, const HopsPoint *p, const PetscScalar u[], const PetscScalar ut[], PetscScalar out[])
{
  for (PetscInt i = 0; i < n; ++i) out[i] = 0.0;
  for (PetscInt k = 0; k < r->n[kind]; ++k) (*r->g[kind][k])(p->dim, 1, p->naux, p->uOff, p->uOffx, u, ut, u + p->nc, p->aOff, p->aOffx, p->a, NULL, p->ax, 0.0, 0.0, p->x, p->nconst, p->constants, out);
}

/* The functions must not depend on the solution, which a preconditioner on a PetscDS alone does not see */
static PetscErrorCode HopsPointCheck(const HopsRegion *r, const PetscInt size[4], const HopsPoint *p, const PetscScalar zero[], PetscInt cell)
{
  PetscScalar probe[4 * HOPS_MAX_COMPONENTS], v[9 * HOPS_MAX_COMPONENTS * HOPS_MAX_COMPONENTS], w[9 * HOPS_MAX_COMPONENTS * HOPS_MAX_COMPONENTS];

  PetscFunctionBegin;
  for (PetscInt i = 0; i < p->nc * (p->dim + 1); ++i) probe[i] = 0.7310585786 / (1 + i) - 0.1 * (i % 3);
  for (PetscInt k = 0; k < 4; ++k) {
    PetscReal scale = 0.0;

    if (!r->n[k]) continue;
    HopsPointTensor(r, k, size[k], p, zero, zero, v);
    HopsPointTensor(r, k, size[k], p, probe, zero, w);
    for (PetscInt i = 0; i < size[k]; ++i) scale = PetscMax(scale, PetscAbsScalar(v[i]));
    for (PetscInt i = 0; i < size[k]; ++i) {
      PetscCheck(!PetscIsInfOrNanScalar(v[i]), PETSC_COMM_SELF, PETSC_ERR_FP, "The Jacobian function g%" PetscInt_FMT " of the PetscDS is not finite in cell %" PetscInt_FMT, k, cell);
      PetscCheck(PetscAbsScalar(v[i] - w[i]) <= 1e-12 * scale, PETSC_COMM_SELF, PETSC_ERR_SUP, "The Jacobian function g%" PetscInt_FMT " of the PetscDS depends on the solution (cell %" PetscInt_FMT "), which a preconditioner does not see: make the operator matrix-free by -dm_mat_type pa, which keeps the state", k, cell);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsTensorFormEvaluate_DS(HopsTensorForm form, HopsSpace sp, PetscInt first, PetscInt n, const HopsBasis *basis, const PetscReal x[], const PetscReal J[], PetscScalar *const g[4])
{
  DM             dm  = (DM)form->ctx;
  const PetscInt dim = sp->dim, nc = form->nc, nq = PetscPowInt(basis->Q, dim);
  const PetscInt size[4] = {nc * nc, nc * nc * dim, nc * nc * dim, nc * nc * dim * dim};
  HopsRegion     r;
  HopsAux        aux;
  PetscInt       region = -1;
  PetscReal     *xi;
  PetscScalar   *a = NULL, *ax = NULL, *state;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&aux, sizeof(aux)));
  PetscCall(PetscMalloc1(nq * dim, &xi));
  PetscCall(PetscCalloc1(nc * (dim + 1), &state));
  for (PetscInt q = 0; q < nq; ++q)
    for (PetscInt d = 0, k = q; d < dim; ++d, k /= basis->Q) xi[q * dim + d] = basis->points[k % basis->Q];
  for (PetscInt c = 0; c < n; ++c) {
    const PetscInt cell = sp->cell[first + c];
    HopsPoint      p    = {.dim = dim, .nc = nc, .uOff = {0, nc}, .uOffx = {0, nc * dim}};
    PetscInt       s;

    PetscCall(HopsRegionOfCell(dm, cell, &s));
    if (s < 0) {
      for (PetscInt k = 0; k < 4; ++k)
        if (form->has[k]) PetscCall(PetscArrayzero(g[k] + c * nq * size[k], nq * size[k]));
      continue;
    }
    if (s != region) {
      PetscCall(HopsAuxDestroy(&aux));
      PetscCall(PetscFree2(a, ax));
      PetscCall(HopsRegionGet(dm, s, &r));
      PetscCall(HopsAuxCreate(dm, r.label, r.value, cell, nq, xi, &aux));
      PetscCall(PetscMalloc2(nq * aux.nc, &a, nq * aux.nc * dim, &ax));
      region = s;
    }
    p.naux  = aux.nf;
    p.aOff  = aux.off;
    p.aOffx = aux.offx;
    PetscCall(PetscDSGetConstants(r.ds, &p.nconst, &p.constants));
    if (aux.v) PetscCall(HopsAuxEvaluate(&aux, dm, cell, dim, nq, J + c * nq * dim * dim, a, ax));
    for (PetscInt q = 0; q < nq; ++q) {
      p.a  = a + q * aux.nc;
      p.ax = ax + q * aux.nc * dim;
      p.x  = x + (c * nq + q) * dim;
      if (q == 0) PetscCall(HopsPointCheck(&r, size, &p, state, cell));
      for (PetscInt k = 0; k < 4; ++k)
        if (form->has[k]) HopsPointTensor(&r, k, size[k], &p, state, state, g[k] + (c * nq + q) * size[k]);
    }
  }
  PetscCall(PetscFree2(a, ax));
  PetscCall(PetscFree(xi));
  PetscCall(PetscFree(state));
  PetscCall(HopsAuxDestroy(&aux));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsTensorFormDestroy_DS(HopsTensorForm form)
{
  DM dm = (DM)form->ctx;

  PetscFunctionBegin;
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsTensorFormCreateDS(DM dm, PetscInt nc, PetscBool ignoreconvection, HopsTensorForm *out)
{
  HopsTensorForm form;
  PetscInt       nds;

  PetscFunctionBegin;
  PetscCheck(nc <= HOPS_MAX_COMPONENTS, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP, "A field of %" PetscInt_FMT " components: hops takes at most %d; split it with PCFIELDSPLIT", nc, HOPS_MAX_COMPONENTS);
  PetscCall(PetscNew(&form));
  form->nc       = nc;
  form->ctx      = dm;
  form->evaluate = HopsTensorFormEvaluate_DS;
  form->destroy  = HopsTensorFormDestroy_DS;
  PetscCall(PetscObjectReference((PetscObject)dm));
  PetscCall(DMGetNumDS(dm, &nds));
  for (PetscInt s = 0; s < nds; ++s) {
    HopsRegion r;

    PetscCall(HopsRegionGet(dm, s, &r));
    for (PetscInt k = 0; k < 4; ++k)
      if (r.n[k] && !(ignoreconvection && (k == 1 || k == 2))) form->has[k] = PETSC_TRUE;
  }
  *out = form;
  PetscFunctionReturn(PETSC_SUCCESS);
}
