/* Coefficients read off the pointwise Jacobian functions g0 and g3 of a DMPlex code's PetscDS, at any points of the cells. */
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopsds.h>

typedef struct {
  DM         dm;
  HopsDSTerm term;
  PetscBool  ignoreconvection;
} HopsDSContext;

/* One point function at one point, for a given state */
typedef struct {
  PetscInt           dim, naux, nconst;
  const PetscInt    *aOff, *aOffx;
  const PetscScalar *a, *ax, *constants;
  const PetscReal   *x;
} HopsPoint;

static void HopsPointEvaluate(const HopsRegion *r, PetscInt kind, const HopsPoint *p, const PetscScalar u[], PetscScalar out[9])
{
  static const PetscInt    uOff[2]  = {0, 1};
  const PetscInt           uOffx[2] = {0, p->dim};
  static const PetscScalar zero[3]  = {0., 0., 0.};

  for (PetscInt i = 0; i < 9; ++i) out[i] = 0.0;
  for (PetscInt k = 0; k < r->n[kind]; ++k) (*r->g[kind][k])(p->dim, 1, p->naux, uOff, uOffx, u, zero, u + 1, p->aOff, p->aOffx, p->a, NULL, p->ax, 0.0, 0.0, p->x, p->nconst, p->constants, out);
}

/* Refuses what a low-order-refined matrix of a diffusion-reaction form would drop, and a Jacobian that needs the solution */
static PetscErrorCode HopsDSCheckPoint(const HopsRegion *r, const HopsPoint *p, PetscBool ignoreconvection, PetscInt cell)
{
  static const PetscScalar zero[4] = {0., 0., 0., 0.}, probe[4] = {0.7310585786, 0.3141592653, -0.5772156649, 0.2718281828};
  PetscScalar              v[9], w[9];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < 4; ++k) {
    PetscReal size = 0.0;

    if (!r->n[k] || ((k == 1 || k == 2) && ignoreconvection)) continue;
    HopsPointEvaluate(r, k, p, zero, v);
    HopsPointEvaluate(r, k, p, probe, w);
    for (PetscInt i = 0; i < 9; ++i) size = PetscMax(size, PetscAbsScalar(v[i]));
    if (k == 1 || k == 2)
      for (PetscInt i = 0; i < p->dim; ++i) PetscCheck(v[i] == 0.0 && w[i] == 0.0, PETSC_COMM_SELF, PETSC_ERR_SUP, "The form has a first-order term (g%" PetscInt_FMT " of its PetscDS), which the low-order-refined matrix does not hold; to precondition with its symmetric part use -pc_lor_ignore convection", k);
    for (PetscInt i = 0; i < 9; ++i) PetscCheck(PetscAbsScalar(v[i] - w[i]) <= 1e-12 * size || (PetscIsInfOrNanScalar(v[i]) || PetscIsInfOrNanScalar(w[i])), PETSC_COMM_SELF, PETSC_ERR_SUP, "The Jacobian function g%" PetscInt_FMT " of the PetscDS depends on the solution (cell %" PetscInt_FMT "), which a preconditioner does not see; give the coefficients at the current state by PCLORSetCoefficients()", k, cell);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsCoefficientEvaluate_DS(HopsCoefficient cf, HopsSpace sp, PetscInt first, PetscInt n, const HopsBasis *basis, const PetscReal x[], PetscScalar out[])
{
  HopsDSContext           *ctx = (HopsDSContext *)cf->ctx;
  const PetscInt           dim = sp->dim, nq = PetscPowInt(basis->Q, dim);
  static const PetscScalar state[4] = {0., 0., 0., 0.};
  HopsRegion               r;
  HopsAux                  aux;
  HopsBasis                geom;
  PetscInt                 region = -1;
  PetscReal               *xi, *J;
  PetscScalar             *a = NULL, *ax = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&aux, sizeof(aux)));
  PetscCall(PetscMalloc2(nq * dim, &xi, nq * dim * dim, &J));
  for (PetscInt q = 0; q < nq; ++q)
    for (PetscInt d = 0, k = q; d < dim; ++d, k /= basis->Q) xi[q * dim + d] = basis->points[k % basis->Q];
  PetscCall(HopsSpaceCreateGeometryBasis(sp, basis, &geom));
  for (PetscInt c = 0; c < n; ++c) {
    const PetscInt cell = sp->cell[first + c];
    PetscInt       s;
    HopsPoint      p = {.dim = dim};

    PetscCall(HopsRegionOfCell(ctx->dm, cell, &s));
    if (s < 0) {
      PetscCall(PetscArrayzero(out + c * nq * cf->nc, nq * cf->nc));
      continue;
    }
    if (s != region) {
      PetscCall(HopsAuxDestroy(&aux));
      PetscCall(PetscFree2(a, ax));
      PetscCall(HopsRegionGet(ctx->dm, s, &r));
      PetscCall(HopsAuxCreate(ctx->dm, r.label, r.value, cell, nq, xi, &aux));
      PetscCall(PetscMalloc2(nq * aux.nc, &a, nq * aux.nc * dim, &ax));
      region = s;
    }
    p.naux  = aux.nf;
    p.aOff  = aux.off;
    p.aOffx = aux.offx;
    PetscCall(PetscDSGetConstants(r.ds, &p.nconst, &p.constants));
    if (aux.v) {
      PetscCall(HopsSpaceGetPoints(sp, &geom, first + c, 1, NULL, J));
      PetscCall(HopsAuxEvaluate(&aux, ctx->dm, cell, dim, nq, J, a, ax));
    }
    for (PetscInt q = 0; q < nq; ++q) {
      PetscScalar  v[9];
      PetscScalar *o = out + (c * nq + q) * cf->nc;

      p.a  = a + q * aux.nc;
      p.ax = ax + q * aux.nc * dim;
      p.x  = x + (c * nq + q) * dim;
      if (q == 0 && ctx->term == HOPS_DS_DIFFUSION) PetscCall(HopsDSCheckPoint(&r, &p, ctx->ignoreconvection, cell));
      HopsPointEvaluate(&r, ctx->term == HOPS_DS_MASS ? 0 : 3, &p, state, v);
      if (ctx->term == HOPS_DS_MASS) {
        o[0] = v[0];
        continue;
      }
      for (PetscInt i = 0, k = 0; i < dim; ++i)
        for (PetscInt j = i; j < dim; ++j) {
          PetscCheck(!(PetscAbsScalar(v[i * dim + j] - v[j * dim + i]) > 1e-10 * (PetscAbsScalar(v[i * dim + i]) + PetscAbsScalar(v[j * dim + j]))), PETSC_COMM_SELF, PETSC_ERR_SUP, "The diffusion tensor of the PetscDS is not symmetric in cell %" PetscInt_FMT ": hops works on symmetric ones", cell);
          o[k++] = v[i * dim + j];
        }
    }
  }
  PetscCall(PetscFree2(a, ax));
  PetscCall(HopsBasisDestroy(&geom));
  PetscCall(HopsAuxDestroy(&aux));
  PetscCall(PetscFree2(xi, J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsDSContextDestroy(void *ctx)
{
  PetscFunctionBegin;
  PetscCall(DMDestroy(&((HopsDSContext *)ctx)->dm));
  PetscCall(PetscFree(ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCoefficientCreateDS(DM dm, HopsDSTerm term, PetscBool ignoreconvection, HopsCoefficient *cf)
{
  PetscInt       nds, dim;
  PetscBool      has = PETSC_FALSE;
  HopsDSContext *ctx;

  PetscFunctionBegin;
  *cf = NULL;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetNumDS(dm, &nds));
  for (PetscInt s = 0; s < nds; ++s) {
    HopsRegion r;

    PetscCall(HopsRegionGet(dm, s, &r));
    if (r.n[term == HOPS_DS_MASS ? 0 : 3]) has = PETSC_TRUE;
  }
  if (!has) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsCoefficientCreate_Private(PetscObjectComm((PetscObject)dm), term == HOPS_DS_MASS ? 1 : dim * (dim + 1) / 2, "PetscDS", cf));
  PetscCall(PetscNew(&ctx));
  PetscCall(PetscObjectReference((PetscObject)dm));
  ctx->dm               = dm;
  ctx->term             = term;
  ctx->ignoreconvection = ignoreconvection;
  (*cf)->ctx            = ctx;
  (*cf)->destroyctx     = HopsDSContextDestroy;
  (*cf)->needsx         = PETSC_TRUE;
  (*cf)->evaluate       = HopsCoefficientEvaluate_DS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Boundary Jacobians of the DS are not in the low-order-refined matrix */
PetscErrorCode HopsDSCheck(DM dm, PetscBool ignoreboundary)
{
  PetscInt nds;

  PetscFunctionBegin;
  PetscCall(DMGetNumDS(dm, &nds));
  for (PetscInt s = 0; s < nds; ++s) {
    PetscDS   ds;
    DMLabel   region;
    PetscInt  nb;
    PetscBool has;

    PetscCall(HopsDMGetRegionLabel(dm, s, &region));
    PetscCheck(nds == 1 || region, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP, "The DM has a PetscDS for the whole mesh beside those of regions, whose terms PETSc adds up where they overlap: give each region one PetscDS and its own label (DMSetRegionNumDS())");
    PetscCall(HopsDMGetRegionDS(dm, s, &ds));
    PetscCall(HopsRegionCheckKeys(ds, region));
    if (ignoreboundary) continue;
    PetscCall(PetscDSHasBdJacobian(ds, &has));
    PetscCall(PetscDSGetNumBoundary(ds, &nb));
    for (PetscInt b = 0; b < nb && !has; ++b) { /* each boundary has a weak form of its own */
      PetscWeakForm wf;

      PetscCall(PetscDSGetBoundary(ds, b, &wf, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
      PetscCall(PetscWeakFormHasBdJacobian(wf, &has));
      if (!has) PetscCall(PetscWeakFormHasBdJacobianPreconditioner(wf, &has));
    }
    PetscCheck(!has, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP, "The PetscDS has a boundary Jacobian (a Robin term), which the low-order-refined matrix does not take from it; leave it out of the preconditioner by -pc_lor_ignore boundary, or use MATPA with MatPAAddRobin()");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
