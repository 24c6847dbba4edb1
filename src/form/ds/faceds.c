/* Boundary Jacobians of a PetscDS: g0, g1, g2, g3 of its natural boundary conditions at points of faces, with
   full tensors. */
#include <hops/private/hopsfaceimpl.h>

/* ------------------------------------ what the PetscDS has ------------------------------------ */

/* the functions of value v of boundary condition b; label is NULL where the condition is an essential one */
static PetscErrorCode HopsFaceTermGet(DM dm, PetscInt b, PetscInt v, PetscInt trial, HopsFaceTerm t, PetscInt *nv)
{
  PetscWeakForm           wf;
  DMBoundaryConditionType type;
  const PetscInt         *values;
  PetscInt                nds;
  PetscBool               has, pre;

  PetscFunctionBegin;
  PetscCall(DMGetDS(dm, &t->ds));
  PetscCall(PetscDSGetBoundary(t->ds, b, &wf, &type, NULL, &t->label, nv, &values, &t->test, NULL, NULL, NULL, NULL, NULL));
  if (type & DM_BC_ESSENTIAL) {
    *nv = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscWeakFormHasBdJacobian(wf, &has));
  PetscCall(PetscWeakFormHasBdJacobianPreconditioner(wf, &pre));
  PetscCheck(!pre, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "The PetscDS has a boundary Jacobian for the preconditioning matrix alone, which hops does not take: leave it out by "
             "-pc_lor_ignore boundary");
  PetscCall(HopsBoundaryCheckKeys(wf, t->label, *nv, values));
  PetscCall(DMGetNumDS(dm, &nds));
  PetscCheck(!has || nds == 1, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "The DM has a boundary Jacobian beside a PetscDS for each of %" PetscInt_FMT
             " regions, for which PETSc's assembly adds it up once a region: use one PetscDS, with coefficients that tell the "
             "regions apart, or -pc_lor_ignore boundary",
             nds);
  if (!*nv || v >= *nv) PetscFunctionReturn(PETSC_SUCCESS);
  t->trial    = trial;
  t->value    = values[v];
  t->auxvalue = values[0];
  PetscCall(PetscWeakFormGetBdJacobian(wf, t->label, t->value, t->test, trial, 0, &t->nf[0], &t->f[0], &t->nf[1], &t->f[1],
                                       &t->nf[2], &t->f[2], &t->nf[3], &t->f[3]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef PetscErrorCode (*HopsFaceTermVisit)(void *, const struct _HopsFaceTerm *);

/* All pairs of a value of a natural condition and a trial field */
static PetscErrorCode HopsFaceTermsVisit(DM dm, HopsFaceTermVisit visit, void *ctx)
{
  PetscDS       ds;
  PetscWeakForm wf;
  PetscInt      nb, nf;

  PetscFunctionBegin;
  PetscCall(DMGetNumFields(dm, &nf));
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSGetWeakForm(ds, &wf));
  PetscCall(HopsBoundaryCheckKeys(wf, NULL, 0, NULL)); /* each condition has a weak form of its own */
  PetscCall(PetscDSGetNumBoundary(ds, &nb));
  for (PetscInt b = 0; b < nb; ++b) {
    struct _HopsFaceTerm t;
    PetscInt             nv = 1;

    for (PetscInt v = 0; v < nv; ++v)
      for (PetscInt j = 0; j < nf; ++j) {
        PetscCall(PetscMemzero(&t, sizeof(t)));
        PetscCall(HopsFaceTermGet(dm, b, v, j, &t, &nv));
        PetscCall((*visit)(ctx, &t));
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsFaceTermHas(void *ctx, const struct _HopsFaceTerm *t)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < 4; ++k)
    if (t->nf[k]) ((PetscBool *)ctx)[k] = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFaceFormQuery(DM dm, PetscBool has[4])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < 4; ++k) has[k] = PETSC_FALSE;
  PetscCall(HopsFaceTermsVisit(dm, HopsFaceTermHas, has));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  HopsFields    fields;
  HopsSubjects *list;
} HopsFaceCollection;

static PetscErrorCode HopsFaceTermCollect(void *ctx, const struct _HopsFaceTerm *t)
{
  const HopsFaceCollection *c = (const HopsFaceCollection *)ctx;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < 4; ++k)
    PetscCall(HopsSubjectsAdd(c->list, t->nf[k], (HopsVoidFn *)t->f[k], HOPS_POINT_BOUNDARY_JACOBIAN,
                              c->fields->nc[t->test] * c->fields->nc[t->trial] * HopsTensorEntries(c->fields->dim, k)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFaceFormCollect(DM dm, HopsFields fields, HopsSubjects *list)
{
  HopsFaceCollection c = {fields, list};

  PetscFunctionBegin;
  PetscCall(HopsFaceTermsVisit(dm, HopsFaceTermCollect, &c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc integrates over any face with the label, on the side of its first cell: hops over those of the
   boundary alone */
static PetscErrorCode HopsFaceTermCheckFaces(DM dm, HopsFaceTerm t)
{
  IS              is;
  PetscSF         sf;
  PetscInt        dim, n, nleaves;
  const PetscInt *pts, *leaves;

  PetscFunctionBegin;
  PetscCall(DMLabelGetStratumIS(t->label, t->value, &is));
  if (!is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetPointSF(dm, &sf));
  PetscCall(PetscSFGetGraph(sf, NULL, &nleaves, &leaves, NULL));
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetIndices(is, &pts));
  for (PetscInt i = 0; i < n; ++i) {
    PetscInt        depth, ns, at[2] = {pts[i], -1}, where[2] = {-1, -1}; /* the face and its cell among the leaves */
    const PetscInt *support;

    PetscCall(DMPlexGetPointDepth(dm, pts[i], &depth));
    if (depth != dim - 1) continue;
    PetscCall(DMPlexGetSupportSize(dm, pts[i], &ns));
    PetscCall(DMPlexGetSupport(dm, pts[i], &support));
    at[1] = ns ? support[0] : -1;
    for (PetscInt k = 0; k < 2 && nleaves > 0; ++k) {
      if (leaves) PetscCall(PetscFindInt(at[k], nleaves, leaves, &where[k]));
      else where[k] = at[k] < nleaves ? at[k] : -1;
    }
    if (where[1] >= 0) continue; /* of the overlap */
    PetscCheck(ns == 1 && where[0] < 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "Face %" PetscInt_FMT ", which value %" PetscInt_FMT
               " of a boundary condition's label marks, lies inside the domain, and hops takes boundary Jacobians on the boundary "
               "alone: mark boundary faces only, or leave out -dm_mat_type pa and use -pc_lor_ignore boundary",
               pts[i], t->value);
  }
  PetscCall(ISRestoreIndices(is, &pts));
  PetscCall(ISDestroy(&is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsFaceFormAdd(HopsFaceForm ff, const struct _HopsFaceTerm *t, const PetscInt where[], HopsFaceTerm **end)
{
  HopsSpace    sp = ff->space;
  HopsFaceTerm term;

  PetscFunctionBegin;
  PetscCall(PetscNew(&term));
  *term = *t;
  PetscCall(HopsFaceTermCheckFaces(ff->jacobian->dm, term));
  PetscCall(HopsSpaceGetLabelFaces(sp, term->label, term->value, &term->n, &term->cells, &term->faces));
  for (PetscInt i = 0; i < term->n; ++i) term->cells[i] = where[term->cells[i] - sp->cstart];
  for (PetscInt k = 0; k < 4; ++k)
    if (term->nf[k]) ff->has[k] = PETSC_TRUE;
  **end = term;
  *end  = &term->next;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool HopsIsIn(PetscInt n, const PetscInt list[], PetscInt i)
{
  for (PetscInt k = 0; k < n; ++k)
    if (list[k] == i) return PETSC_TRUE;
  return PETSC_FALSE;
}

PetscErrorCode HopsFaceFormCreate(HopsJacobian jac, HopsSpace sp, PetscInt ntest, const PetscInt test[], PetscInt ntrial,
                                  const PetscInt trial[], HopsFaceForm *out)
{
  HopsFaceForm  ff;
  HopsFaceTerm *end;
  PetscInt      nb, *where;
  PetscDS       ds;
  PetscBool     has[4];

  PetscFunctionBegin;
  *out = NULL;
  PetscCall(HopsFaceFormQuery(jac->dm, has));
  if (!has[0] && !has[1] && !has[2] && !has[3]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&ff));
  ++jac->refct;
  ff->jacobian = jac;
  ff->space    = sp;
  PetscCall(PetscMalloc1(sp->ncaller, &where));
  for (PetscInt c = 0; c < sp->ncells; ++c) where[sp->cell[c] - sp->cstart] = c;
  end = &ff->terms;
  PetscCall(DMGetDS(jac->dm, &ds));
  PetscCall(PetscDSGetNumBoundary(ds, &nb));
  for (PetscInt b = 0; b < nb; ++b) {
    PetscInt nv = 1;

    for (PetscInt v = 0; v < nv; ++v)
      for (PetscInt j = 0; j < ntrial; ++j) {
        struct _HopsFaceTerm t;

        PetscCall(PetscMemzero(&t, sizeof(t)));
        PetscCall(HopsFaceTermGet(jac->dm, b, v, trial[j], &t, &nv));
        if (!HopsIsIn(ntest, test, t.test) || (!t.nf[0] && !t.nf[1] && !t.nf[2] && !t.nf[3])) continue;
        PetscCall(HopsFaceFormAdd(ff, &t, where, &end));
      }
  }
  PetscCall(PetscFree(where));
  if (!ff->terms) PetscCall(HopsFaceFormDestroy(&ff));
  *out = ff;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsFaceTermDestroy(HopsFaceTerm *term)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < 4; ++k) PetscCall(PetscFree((*term)->q[k]));
  PetscCall(PetscFree((*term)->cells));
  PetscCall(PetscFree((*term)->faces));
  PetscCall(PetscFree(*term));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFaceFormResetRule(HopsFaceForm ff)
{
  PetscFunctionBegin;
  if (ff->basis) PetscCall(HopsFaceBasesDestroy(ff->jacobian->fields, &ff->basis));
  for (PetscInt i = 0; ff->rule && i < ff->jacobian->fields->nf; ++i) PetscCall(HopsBasisDestroy(&ff->rule[i]));
  PetscCall(PetscFree(ff->rule));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFaceFormDestroy(HopsFaceForm *form)
{
  HopsFaceForm ff = *form;

  PetscFunctionBegin;
  *form = NULL;
  if (!ff) PetscFunctionReturn(PETSC_SUCCESS);
  while (ff->terms) {
    HopsFaceTerm t = ff->terms;

    ff->terms = t->next;
    PetscCall(HopsFaceTermDestroy(&t));
  }
  PetscCall(HopsFaceFormResetRule(ff));
  PetscCall(HopsPointFacesDestroy(&ff->points)); /* before its cells, which the Jacobian has */
  PetscCall(HopsJacobianDestroy(&ff->jacobian));
  PetscCall(PetscFree(ff));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------------- evaluation ----------------------------------------- */

/* u[q][..], ux[q][..][dim] (physical) of all fields of a local vector at the points of a face */
static PetscErrorCode HopsFaceState(DM dm, HopsFields F, Vec v, PetscBool single, PetscInt cell, PetscInt face,
                                    const HopsFaceBasis fb[], const PetscReal J[], PetscScalar u[], PetscScalar ux[])
{
  const PetscInt dim = F->dim, nq = HopsPower(fb[0].Q, dim - 1), nu = F->off[F->nf];
  PetscScalar   *closure, *e0;
  PetscReal     *w;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2((dim + 1) * nq, &w, F->nclosure, &closure));
  PetscCall(HopsFieldsGetClosure(F, dm, v, cell, single, closure));
  e0 = closure;
  for (PetscInt f = 0; f < F->nf; ++f) {
    const PetscInt nc = F->nc[f], np = HopsPower(F->P[f], dim);
    PetscReal     *e;

    PetscCall(PetscMalloc1(np, &e));
    for (PetscInt cp = 0; cp < nc * HOPS_PARTS; ++cp) {
      const PetscInt c = cp / HOPS_PARTS, part = cp % HOPS_PARTS, k = F->off[f] + c;

      for (PetscInt i = 0; i < np; ++i) e[F->node[f][i]] = HopsScalarPart(e0[i * nc + c], part);
      PetscCall(HopsFaceInterpolate(&fb[f], face, PETSC_TRUE, e, w));
      for (PetscInt q = 0; q < nq; ++q) {
        PetscReal Ji[9];

        HopsInverse(dim, J + q * dim * dim, Ji);
        HopsScalarSetPart(&u[q * nu + k], part, w[q]);
        for (PetscInt d = 0; d < dim; ++d) {
          PetscReal sum = 0.0;

          for (PetscInt i = 0; i < dim; ++i) sum += w[(1 + i) * nq + q] * Ji[i * dim + d];
          HopsScalarSetPart(&ux[(q * nu + k) * dim + d], part, sum);
        }
      }
    }
    PetscCall(PetscFree(e));
    e0 += nc * np;
  }
  PetscCall(PetscFree2(w, closure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what a boundary function sees at one point */
typedef struct {
  HopsFields         fields;
  PetscInt           naux, nconst;
  PetscReal          t, shift;
  const PetscInt    *aOff, *aOffx;
  const PetscScalar *u, *ut, *ux, *a, *ax, *constants;
  const PetscReal   *x, *normal;
} HopsFacePoint;

static void HopsFacePointTensor(HopsFaceTerm r, PetscInt k, PetscInt n, const HopsFacePoint *p, PetscScalar out[])
{
  HopsFields F = p->fields;

  for (PetscInt i = 0; i < n; ++i) out[i] = 0.0;
  for (PetscInt i = 0; i < r->nf[k]; ++i)
    (*r->f[k][i])(F->dim, F->nf, p->naux, F->off, F->offx, p->u, p->ut, p->ux, p->aOff, p->aOffx, p->a, NULL, p->ax, p->t, p->shift,
                  p->x, p->normal, p->nconst, p->constants, out);
}

/* Without a state the functions must not depend on it */
static PetscErrorCode HopsFacePointCheck(HopsFaceTerm r, PetscInt k, PetscInt n, const HopsFacePoint *point, const PetscScalar v[],
                                         PetscInt cell)
{
  HopsFacePoint  p     = *point;
  const PetscInt nu    = p.fields->off[p.fields->nf];
  PetscReal      scale = 0.0;
  PetscScalar   *probe, *w;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(nu * (p.fields->dim + 1), &probe, n, &w));
  for (PetscInt i = 0; i < nu * (p.fields->dim + 1); ++i) probe[i] = 0.7310585786 / (1 + i) - 0.1 * (i % 3);
  p.u     = probe;
  p.ux    = probe + nu;
  p.shift = 0.5772156649; /* of an implicit time step: not seen either */
  HopsFacePointTensor(r, k, n, &p, w);
  for (PetscInt i = 0; i < n; ++i) scale = PetscMax(scale, PetscAbsScalar(v[i]));
  for (PetscInt i = 0; i < n; ++i)
    PetscCheck(PetscAbsScalar(v[i] - w[i]) <= 1e-12 * scale || PetscIsInfOrNanScalar(w[i]), PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The boundary Jacobian g%" PetscInt_FMT
               " of the PetscDS depends on the solution, or on the shift of a time step (cell %" PetscInt_FMT
               "), which a preconditioner does not see: make the operator matrix-free by -dm_mat_type pa, which keeps the state, "
               "or leave it out by -pc_lor_ignore boundary",
               k, cell);
  PetscCall(PetscFree2(probe, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void HopsFacePoints(PetscInt dim, PetscInt Q, const PetscReal points[], PetscInt face, PetscReal xi[])
{
  const PetscInt nq = HopsPower(Q, dim - 1);

  for (PetscInt q = 0; q < nq; ++q)
    for (PetscInt d = 0, k = q; d < dim; ++d) {
      if (d == face / 2) xi[q * dim + d] = face % 2 ? 1.0 : -1.0;
      else {
        xi[q * dim + d] = points[k % Q];
        k /= Q;
      }
    }
}

PetscErrorCode HopsFaceValuesCreate(DM dm, HopsFields F, Vec X, Vec Xt, PetscBool single, DMLabel label, PetscInt auxvalue,
                                    PetscInt cell, PetscInt face, const HopsFaceBasis fb[], const PetscReal J[], HopsFaceValues *v)
{
  const PetscInt dim = F->dim, nu = F->off[F->nf], nq = HopsPower(fb[0].Q, dim - 1);
  PetscReal     *xi;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nq * dim, &xi));
  HopsFacePoints(dim, fb[0].Q, fb[0].points, face, xi);
  PetscCall(HopsAuxCreate(dm, label, auxvalue, cell, nq, xi, &v->aux));
  PetscCall(PetscFree(xi));
  PetscCall(PetscCalloc6(nq * nu, &v->u, nq * nu * dim, &v->ux, nq * nu, &v->ut, nq * nu * dim, &v->utx, nq * v->aux.nc, &v->a,
                         nq * v->aux.nc * dim, &v->ax));
  if (v->aux.v) PetscCall(HopsAuxEvaluate(&v->aux, dm, cell, dim, nq, J, v->a, v->ax));
  if (X) PetscCall(HopsFaceState(dm, F, X, single, cell, face, fb, J, v->u, v->ux));
  if (Xt) PetscCall(HopsFaceState(dm, F, Xt, single, cell, face, fb, J, v->ut, v->utx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFaceValuesDestroy(HopsFaceValues *v)
{
  PetscFunctionBegin;
  PetscCall(PetscFree6(v->u, v->ux, v->ut, v->utx, v->a, v->ax));
  PetscCall(HopsAuxDestroy(&v->aux));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFaceTermEvaluate(HopsJacobian jac, HopsFaceTerm r, HopsSpace sp, PetscInt c, PetscInt face, PetscBool single,
                                    const HopsFaceBasis fb[], const PetscReal x[], const PetscReal normal[], const PetscReal J[],
                                    PetscReal *const g[4])
{
  HopsFields     F   = jac->fields;
  const PetscInt dim = F->dim, nu = F->off[F->nf], ncc = F->nc[r->test] * F->nc[r->trial], nq = HopsPower(fb[0].Q, dim - 1),
                 cell    = sp->cell[c];
  const PetscInt size[4] = {ncc, ncc * dim, ncc * dim, ncc * dim * dim};
  HopsFacePoint  p       = {.fields = F, .t = jac->t, .shift = jac->shift};
  HopsFaceValues v;
  PetscScalar    buffer[HOPS_PARTS > 1 ? 9 * HOPS_MAX_COMPONENTS * HOPS_MAX_COMPONENTS : 1];

  PetscFunctionBegin;
  PetscCall(HopsFaceValuesCreate(jac->dm, F, jac->X, jac->Xt, single, r->label, r->auxvalue, cell, face, fb, J, &v));
  PetscCall(PetscDSGetConstants(r->ds, &p.nconst, &p.constants));
  p.naux  = v.aux.nf;
  p.aOff  = v.aux.off;
  p.aOffx = v.aux.offx;
  for (PetscInt q = 0; q < nq; ++q) {
    p.u      = v.u + q * nu;
    p.ut     = v.ut + q * nu;
    p.ux     = v.ux + q * nu * dim;
    p.a      = v.a + q * v.aux.nc;
    p.ax     = v.ax + q * v.aux.nc * dim;
    p.x      = x + q * dim;
    p.normal = normal + q * dim;
    for (PetscInt k = 0; k < 4; ++k) {
      PetscScalar *out = HOPS_PARTS > 1 || !g[k] ? buffer : (PetscScalar *)(g[k] + q * size[k]);

      if (!g[k]) continue;
      HopsFacePointTensor(r, k, size[k], &p, out);
      if (!jac->X && r->nf[k]) PetscCall(HopsFacePointCheck(r, k, size[k], &p, out, cell));
      for (PetscInt i = 0; i < size[k]; ++i)
        PetscCheck(!PetscIsInfOrNanScalar(out[i]), PETSC_COMM_SELF, PETSC_ERR_FP,
                   "The boundary Jacobian g%" PetscInt_FMT " of the PetscDS is infinite or not-a-number in cell %" PetscInt_FMT
                   ": check the function and the fields behind it",
                   k, cell);
      if (HOPS_PARTS > 1) PetscCall(HopsTakeReal(size[k], out, g[k] + q * size[k], "A boundary Jacobian of the PetscDS"));
    }
  }
  PetscCall(HopsFaceValuesDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
