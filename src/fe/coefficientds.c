/* Coefficients read off the pointwise Jacobian functions g0 and g3 of a DMPlex code's PetscDS, at any points of the cells. */
#include <hops/private/hopslorimpl.h>
#include <petscds.h>
#include <petscfe.h>
#include <petsc/private/petscdsimpl.h> /* the keys of a weak form have no public interface */

typedef struct {
  DM         dm;
  HopsDSTerm term;
  PetscBool  ignoreconvection;
} HopsDSContext;

/* Auxiliary fields at the points of a basis: values and physical gradients of all components, in the order of the aux DS */
typedef struct {
  DM               dm;
  Vec              v;
  PetscDS          ds;
  DMEnclosureType  enclosure;
  PetscInt         nf, nc, *off, *offx;
  PetscTabulation *tab;
} HopsAux;

/* The Jacobian functions that PETSc's assembly evaluates on a region: those of the key (label, 1), or of no label for the whole mesh */
typedef struct {
  DMLabel       label;
  PetscInt      value;
  PetscDS       ds;
  PetscInt      n[4];
  HopsPointJac *g[4]; /* functions of one kind add up */
} HopsRegion;

static PetscErrorCode HopsRegionGet(DM dm, PetscInt s, HopsRegion *r)
{
  PetscBool     has;
  PetscWeakForm wf;

  PetscFunctionBegin;
  PetscCall(HopsDMGetRegionLabel(dm, s, &r->label));
  PetscCall(HopsDMGetRegionDS(dm, s, &r->ds));
  r->value = r->label ? 1 : 0;
  PetscCall(PetscDSGetWeakForm(r->ds, &wf));
  PetscCall(PetscDSHasJacobianPreconditioner(r->ds, &has)); /* PETSc then fills the preconditioning matrix with it */
  if (has) PetscCall(PetscWeakFormGetJacobianPreconditioner(wf, r->label, r->value, 0, 0, 0, &r->n[0], &r->g[0], &r->n[1], &r->g[1], &r->n[2], &r->g[2], &r->n[3], &r->g[3]));
  else PetscCall(PetscWeakFormGetJacobian(wf, r->label, r->value, 0, 0, 0, &r->n[0], &r->g[0], &r->n[1], &r->g[1], &r->n[2], &r->g[2], &r->n[3], &r->g[3]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The region of a cell, or -1: PETSc then adds nothing there */
static PetscErrorCode HopsRegionOfCell(DM dm, PetscInt cell, PetscInt *region)
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
    PetscCheck(*region < 0, PETSC_COMM_SELF, PETSC_ERR_SUP, "Cell %" PetscInt_FMT " lies in two regions with a PetscDS each, whose terms PETSc adds up: give each region one PetscDS and cells of its own (DMSetRegionNumDS())", cell);
    *region = s;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsAuxCreate(DM dm, DMLabel label, PetscInt value, PetscInt cell, PetscInt nq, const PetscReal xi[], HopsAux *aux)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(aux, sizeof(*aux)));
  PetscCall(DMGetAuxiliaryVec(dm, label, value, 0, &aux->v)); /* that of the region, else that of the mesh */
  if (!aux->v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetDM(aux->v, &aux->dm));
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
    PetscCheck(id == PETSCFE_CLASSID, PETSC_COMM_SELF, PETSC_ERR_SUP, "Auxiliary field %" PetscInt_FMT " is no PetscFE", f);
    PetscCall(PetscFECreateTabulation((PetscFE)disc, 1, nq, xi, 1, &aux->tab[f]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsAuxDestroy(HopsAux *aux)
{
  PetscFunctionBegin;
  for (PetscInt f = 0; f < aux->nf; ++f) PetscCall(PetscTabulationDestroy(&aux->tab[f]));
  PetscCall(PetscFree(aux->tab));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a[q][nc], ax[q][nc*dim] on one cell; J[q][dim*dim] are the Jacobians there */
static PetscErrorCode HopsAuxEvaluate(const HopsAux *aux, DM dm, PetscInt cell, PetscInt dim, PetscInt nq, const PetscReal J[], PetscScalar a[], PetscScalar ax[])
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

    PetscCheck(b0 + t->Nb <= n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The auxiliary closure of cell %" PetscInt_FMT " has %" PetscInt_FMT " values, fewer than its fields' basis functions", cell, n);
    for (PetscInt q = 0; q < nq; ++q) {
      const PetscReal *Jq = J + q * dim * dim;
      PetscReal        inv[9];

      HopsInverse(dim, Jq, inv);
      for (PetscInt b = 0; b < t->Nb; ++b)
        for (PetscInt c = 0; c < t->Nc; ++c) {
          a[q * aux->nc + aux->off[f] + c] += coef[b0 + b] * t->T[0][(q * t->Nb + b) * t->Nc + c];
          for (PetscInt d = 0; d < dim; ++d)
            for (PetscInt e = 0; e < dim; ++e) ax[q * aux->nc * dim + aux->offx[f] + c * dim + d] += coef[b0 + b] * t->T[1][((q * t->Nb + b) * t->Nc + c) * dim + e] * inv[e * dim + d];
        }
    }
    b0 += t->Nb;
  }
  PetscCall(DMPlexVecRestoreClosure(aux->dm, NULL, aux->v, cell, &n, &coef));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

/* Jacobian functions under other keys than the region's are not part of what PETSc's assembly evaluates: refuse them */
static PetscErrorCode HopsDSCheckKeys(PetscDS ds, DMLabel label)
{
  static const PetscWeakFormKind kinds[8] = {PETSC_WF_G0, PETSC_WF_G1, PETSC_WF_G2, PETSC_WF_G3, PETSC_WF_GP0, PETSC_WF_GP1, PETSC_WF_GP2, PETSC_WF_GP3};
  PetscWeakForm                  wf;

  PetscFunctionBegin;
  PetscCall(PetscDSGetWeakForm(ds, &wf));
  for (PetscInt k = 0; k < 8; ++k) {
    PetscFormKey *keys;
    PetscInt      n, off = 0;

    PetscCall(PetscHMapFormGetSize(wf->form[kinds[k]], &n));
    PetscCall(PetscMalloc1(n, &keys));
    PetscCall(PetscHMapFormGetKeys(wf->form[kinds[k]], &off, keys));
    for (PetscInt i = 0; i < n; ++i) {
      PetscCheck(!label || keys[i].label || keys[i].part, PETSC_COMM_SELF, PETSC_ERR_SUP, "The PetscDS of a region has a Jacobian function without a label, which PETSc's assembly does not evaluate: set it for the region's label and value 1 by PetscWeakFormSetIndexJacobian()");
      PetscCheck(keys[i].label == label && keys[i].value == (label ? 1 : 0) && !keys[i].part, PETSC_COMM_SELF, PETSC_ERR_SUP, "The PetscDS has a Jacobian function for value %" PetscInt_FMT " of a label (or for a part of the form), which hops does not see: give the regions a PetscDS of their own (DMSetRegionDS()), or the coefficients by PCLORSetCoefficients()", keys[i].value);
    }
    PetscCall(PetscFree(keys));
  }
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
    PetscCall(HopsDSCheckKeys(ds, region));
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
