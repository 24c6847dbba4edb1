/* The residual of a PetscDS by sum factorisation: f0 and f1 of all fields at the PetscFE's points. Boundary
   residuals are PETSc's own, unless a device has them. */
#include <hops/private/hopsdmimpl.h>
#include <hops/private/hopspleximpl.h>

PetscErrorCode HopsPlexResidualReset(HopsPlex *plex)
{
  PetscFunctionBegin;
  PetscCall(HopsPlexFacesDestroy(&plex->faces)); /* before the cells */
  PetscCall(HopsPointCellsDestroy(&plex->points));
  plex->sought = PETSC_FALSE;
  for (PetscInt k = 0; k < 2; ++k) PetscCall(HopsPlexBoundaryDestroy(&plex->boundary[k]));
  if (plex->fields) {
    PetscCall(HopsBasisDestroy(&plex->rule));
    for (PetscInt f = 0; f < plex->fields->nf; ++f) {
      PetscCall(PetscFree(plex->Bt[f]));
      PetscCall(PetscFree(plex->Dt[f]));
    }
    PetscCall(PetscFree2(plex->Bt, plex->Dt));
    PetscCall(PetscFree(plex->Ct));
    PetscCall(HopsFieldPointsDestroy(&plex->at));
    PetscCall(HopsFieldsDestroy(&plex->fields));
  }
  PetscCall(HopsSpaceDestroy(&plex->space));
  PetscCall(PetscSectionDestroy(&plex->section));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The fields' common tensor-product rule, if there is one, with some basis */
static PetscErrorCode HopsPlexGetRule(DM dm, PetscInt dim, PetscBool *found, HopsBasis *rule)
{
  PetscInt        nf;
  PetscObject     disc;
  PetscQuadrature quad;

  PetscFunctionBegin;
  PetscCall(DMGetNumFields(dm, &nf));
  *found = PETSC_TRUE;
  for (PetscInt f = 1; f < nf && *found; ++f) PetscCall(HopsFieldsSameQuadrature(dm, f, found));
  PetscCall(DMGetField(dm, 0, NULL, &disc));
  PetscCall(PetscFEGetQuadrature((PetscFE)disc, &quad));
  if (*found) PetscCall(HopsBasisCreateQuadrature(2, dim, quad, found, rule));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc leaves out fields that a time step treats explicitly, and gives functions second derivatives where
   they are asked for */
static PetscErrorCode HopsPlexPlainFields(PetscDS ds, PetscBool *plain)
{
  PetscInt  nf;
  PetscBool hessians;

  PetscFunctionBegin;
  PetscCall(HopsDSHasHessians(ds, &hessians));
  *plain = hessians ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(PetscDSGetNumFields(ds, &nf));
  for (PetscInt f = 0; f < nf && *plain; ++f) PetscCall(PetscDSGetImplicit(ds, f, plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the residual that of the functions under the regions' keys, and its boundary terms those of one
   region? */
static PetscErrorCode HopsPlexSeesResidual(DM dm, PetscBool *all)
{
  PetscInt nds;

  PetscFunctionBegin;
  *all = PETSC_TRUE;
  PetscCall(DMGetNumDS(dm, &nds));
  for (PetscInt s = 0; s < nds && *all; ++s) {
    PetscDS   ds;
    DMLabel   label;
    PetscInt  nb;
    PetscBool plain;

    PetscCall(HopsDMGetRegionDS(dm, s, &ds));
    PetscCall(HopsDMGetRegionLabel(dm, s, &label));
    PetscCall(HopsRegionSeesResidual(ds, label, all));
    PetscCall(HopsPlexPlainFields(ds, &plain));
    if (!plain) *all = PETSC_FALSE;
    if (nds == 1) continue;
    PetscCall(PetscDSGetNumBoundary(ds, &nb)); /* PETSc adds boundary residuals up once a region */
    for (PetscInt b = 0; b < nb; ++b) {
      DMBoundaryConditionType type;

      PetscCall(PetscDSGetBoundary(ds, b, NULL, &type, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
      if (!(type & DM_BC_ESSENTIAL)) *all = PETSC_FALSE;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc makes the traces of elements and of coordinates on faces when a rank first meets one, as objects of
   all ranks, so that ranks with boundary faces would count messages differently from others. Its projections
   make them on all ranks first, and hops projects in their place. Collective */
static PetscErrorCode HopsPlexSetTraces(DM dm)
{
  PetscInt fStart, fEnd, nf;
  DMField  coordinates;
  IS       faces;

  PetscFunctionBegin;
  PetscCall(DMGetNumFields(dm, &nf));
  for (PetscInt f = 0; f < nf; ++f) {
    PetscObject disc;
    PetscFE     trace;

    PetscCall(DMGetField(dm, f, NULL, &disc));
    PetscCall(PetscFEGetHeightSubspace((PetscFE)disc, 1, &trace));
  }
  PetscCall(DMGetCoordinateField(dm, &coordinates));
  PetscCall(DMPlexGetHeightStratum(dm, 1, &fStart, &fEnd));
  if (fEnd == fStart) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 1, fStart, 1, &faces));
  PetscCall(DMFieldGetDegree(coordinates, faces, NULL, NULL));
  PetscCall(ISDestroy(&faces));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Continuous Lagrange fields with one tensor-product rule: else the residual is left to PETSc */
PetscErrorCode HopsPlexResidualSetUp(DM dm, HopsPlex *plex, PetscBool *can)
{
  PetscSection section;
  PetscInt     dim, Q, order = 1;
  HopsBasis    rule;
  PetscBool    anchors, moved;
  char         why[512];

  PetscFunctionBegin;
  PetscCall(DMGetLocalSection(dm, &section));
  *can = HOPS_PARTS == 1 ? PETSC_TRUE : PETSC_FALSE; /* fields are interpolated as real numbers */
  if (!*can) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPlexCoordinatesChanged(dm, &plex->coordinates, &moved));
  if (plex->fields && plex->section == section && !moved) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(HopsFieldsCheck(dm, can, why, sizeof(why)));
  PetscCall(HopsDMHasAnchors(dm, &anchors));
  if (anchors) *can = PETSC_FALSE;
  if (*can) PetscCall(HopsPlexSeesResidual(dm, can));
  if (*can) PetscCall(HopsPlexGetRule(dm, dim, can, &rule));
  if (!*can) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsDMCheckClosures(dm));
  PetscCall(HopsPlexSetTraces(dm));
  PetscCall(HopsPlexResidualReset(plex));
  PetscCall(HopsFieldsCreate(dm, &plex->fields));
  PetscCall(PetscMalloc2(plex->fields->nf, &plex->Bt, plex->fields->nf, &plex->Dt));
  plex->rule = rule;
  Q          = rule.Q;
  PetscCall(HopsFieldPointsCreate(plex->fields, &plex->rule, &plex->at));
  for (PetscInt f = 0; f < plex->fields->nf; ++f) {
    const HopsBasis *b = &plex->at.basis[f];

    order = PetscMax(order, b->P - 1);
    PetscCall(PetscMalloc1(b->P * Q, &plex->Bt[f]));
    PetscCall(PetscMalloc1(b->P * Q, &plex->Dt[f]));
    for (PetscInt q = 0; q < Q; ++q)
      for (PetscInt i = 0; i < b->P; ++i) {
        plex->Bt[f][i * Q + q] = b->B[q * b->P + i];
        plex->Dt[f][i * Q + q] = b->D[q * b->P + i];
      }
  }
  PetscCall(PetscMalloc1(Q * Q, &plex->Ct));
  for (PetscInt q = 0; q < Q; ++q)
    for (PetscInt r = 0; r < Q; ++r) plex->Ct[r * Q + q] = plex->rule.C[q * Q + r];
  PetscCall(HopsSpaceCreate_Private(PetscObjectComm((PetscObject)dm), dim, order, &plex->space));
  PetscCall(HopsSpaceSetCells(plex->space, dm, NULL));
  PetscCall(HopsPlexGetGeometry(dm, plex->space));
  PetscCall(HopsSpaceSetBackendFromDM(plex->space, dm));
  PetscCall(PetscObjectReference((PetscObject)section));
  plex->section = section;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The faces of a boundary condition whose cells are this rank's: PETSc integrates over those of the overlap
   too */
static PetscErrorCode HopsPlexOwnFaces(DM dm, HopsSpace sp, DMLabel label, PetscInt value, DMLabel *own)
{
  PetscBool      *mine;
  PetscInt        fStart, fEnd, n;
  const PetscInt *points;
  IS              is;

  PetscFunctionBegin;
  PetscCall(DMLabelCreate(PETSC_COMM_SELF, "own faces", own));
  PetscCall(DMLabelGetStratumIS(label, value, &is));
  if (!is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1(sp->ncaller, &mine));
  for (PetscInt c = 0; c < sp->ncells; ++c) mine[sp->cell[c] - sp->cstart] = PETSC_TRUE;
  PetscCall(DMPlexGetHeightStratum(dm, 1, &fStart, &fEnd));
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetIndices(is, &points));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt *support;

    if (points[i] < fStart || points[i] >= fEnd) continue;
    PetscCall(DMPlexGetSupport(dm, points[i], &support));
    if (mine[support[0] - sp->cstart]) PetscCall(DMLabelSetValue(*own, points[i], value));
  }
  PetscCall(ISRestoreIndices(is, &points));
  PetscCall(ISDestroy(&is));
  PetscCall(PetscFree(mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's boundary residual over these faces: functions and auxiliary fields are known by the label, so those
   faces' label gets the same */
static PetscErrorCode HopsPlexOwnBoundaryResidual(DM dm, HopsPlex *plex, PetscReal t, PetscWeakForm wf, PetscFormKey key, Vec X,
                                                  Vec Xt, Vec F)
{
  PetscFormKey    own = key;
  PetscWeakForm   ownwf;
  PetscInt        n0, n1;
  HopsBdPointFun *f0, *f1;
  Vec             aux, mesh;

  PetscFunctionBegin;
  PetscCall(HopsPlexOwnFaces(dm, plex->space, key.label, key.value, &own.label));
  PetscCall(PetscWeakFormGetBdResidual(wf, key.label, key.value, key.field, key.part, &n0, &f0, &n1, &f1));
  PetscCall(PetscWeakFormCreate(PETSC_COMM_SELF, &ownwf));
  PetscCall(PetscWeakFormSetNumFields(ownwf, plex->fields->nf));
  PetscCall(PetscWeakFormSetBdResidual(ownwf, own.label, own.value, own.field, own.part, n0, f0, n1, f1));
  PetscCall(DMGetAuxiliaryVec(dm, key.label, key.value, key.part, &aux));
  PetscCall(DMGetAuxiliaryVec(dm, own.label, own.value, own.part, &mesh));
  if (aux != mesh) PetscCall(DMSetAuxiliaryVec(dm, own.label, own.value, own.part, aux));
  PetscCall(HopsDMPlexBdResidual(dm, t, ownwf, own, X, Xt, F));
  if (aux != mesh) PetscCall(DMSetAuxiliaryVec(dm, own.label, own.value, own.part, NULL));
  PetscCall(PetscWeakFormDestroy(&ownwf));
  PetscCall(DMLabelDestroy(&own.label));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexTermResidual(DM dm, HopsPlex *plex, PetscReal t, PetscWeakForm wf, PetscFormKey key, Vec X, Vec Xt, Vec F)
{
  PetscBool has;

  PetscFunctionBegin;
  PetscCall(DMLabelHasValue(key.label, key.value, &has));
  if (has && plex->overlap) PetscCall(HopsPlexOwnBoundaryResidual(dm, plex, t, wf, key, X, Xt, F));
  else if (has) PetscCall(HopsDMPlexBdResidual(dm, t, wf, key, X, Xt, F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPlexBoundaryResidual(DM dm, HopsPlex *plex, PetscReal t, Vec X, Vec Xt, Vec F)
{
  PetscDS  ds;
  PetscInt n;
  DMField  coordinates;

  PetscFunctionBegin;
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSGetNumBoundary(ds, &n));
  if (n) PetscCall(DMGetCoordinateField(dm, &coordinates)); /* PETSc makes it together, and not all ranks have faces */
  for (PetscInt b = 0; b < n; ++b) {
    PetscWeakForm           wf;
    DMBoundaryConditionType type;
    PetscFormKey            key = {NULL, 0, 0, 0};
    const PetscInt         *values;
    PetscInt                nv;

    PetscCall(PetscDSGetBoundary(ds, b, &wf, &type, NULL, &key.label, &nv, &values, &key.field, NULL, NULL, NULL, NULL, NULL));
    if (type & DM_BC_ESSENTIAL) continue;
    for (PetscInt v = 0; v < nv; ++v) {
      key.value = values[v];
      PetscCall(HopsPlexTermResidual(dm, plex, t, wf, key, X, Xt, F));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the point functions of a region see */
typedef struct {
  PetscInt           region, nconst;
  PetscInt          *n[2]; /* [nf] functions f0 and f1 of each field */
  HopsPointFun     **f[2];
  const PetscScalar *constants;
  HopsAux            aux;
  PetscScalar       *a, *ax;
} HopsResidualRegion;

static PetscErrorCode HopsResidualRegionSet(DM dm, const HopsPlex *plex, PetscInt s, PetscInt cell, const PetscReal xi[],
                                            HopsResidualRegion *rr)
{
  HopsRegion    r;
  PetscWeakForm wf;

  PetscFunctionBegin;
  PetscCall(HopsAuxDestroy(&rr->aux));
  PetscCall(PetscFree2(rr->a, rr->ax));
  PetscCall(HopsRegionGet(dm, s, PETSC_FALSE, &r));
  PetscCall(PetscDSGetWeakForm(r.ds, &wf));
  for (PetscInt f = 0; f < plex->fields->nf; ++f)
    PetscCall(PetscWeakFormGetResidual(wf, r.label, r.value, f, 0, &rr->n[0][f], &rr->f[0][f], &rr->n[1][f], &rr->f[1][f]));
  PetscCall(PetscDSGetConstants(r.ds, &rr->nconst, &rr->constants));
  PetscCall(HopsAuxCreate(dm, r.label, r.value, cell, plex->at.nq, xi, &rr->aux));
  PetscCall(PetscMalloc2(plex->at.nq * rr->aux.nc, &rr->a, plex->at.nq * rr->aux.nc * plex->fields->dim, &rr->ax));
  rr->region = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scratch of a cell: geometry, state, and v[component of all fields][value, derivatives][point], what the
   test functions meet */
typedef struct {
  PetscReal   *xi, *x, *J, *Ji, *v, *sum;
  PetscScalar *u, *ux, *ut, *p0, *p1, *elem;
} HopsResidualWork;

static PetscErrorCode HopsResidualPoints(const HopsPlex *plex, const HopsResidualRegion *rr, PetscInt c, PetscReal t,
                                         HopsResidualWork *w)
{
  HopsFields     F   = plex->fields;
  const PetscInt dim = F->dim, nq = plex->at.nq, nu = F->off[F->nf];

  PetscFunctionBegin;
  for (PetscInt q = 0; q < nq; ++q) {
    const PetscReal *Ji  = w->Ji + q * dim * dim;
    PetscReal        det = HopsInverse(dim, w->J + q * dim * dim, w->Ji + q * dim * dim), weight = 1.0;

    if (!(det > 0.0)) PetscCall(HopsSpaceErrorCell(plex->space, c, det));
    for (PetscInt d = 0, k = q; d < dim; ++d, k /= plex->rule.Q) weight *= plex->rule.weights[k % plex->rule.Q];
    weight *= det;
    PetscCall(PetscArrayzero(w->p0, nu));
    PetscCall(PetscArrayzero(w->p1, nu * dim));
    for (PetscInt f = 0; f < F->nf; ++f)
      for (PetscInt k = 0; k < 2; ++k)
        for (PetscInt i = 0; i < rr->n[k][f]; ++i)
          (*rr->f[k][f][i])(dim, F->nf, rr->aux.nf, F->off, F->offx, w->u + q * nu, w->ut + q * nu, w->ux + q * nu * dim,
                            rr->aux.off, rr->aux.offx, rr->a + q * rr->aux.nc, NULL, rr->ax + q * rr->aux.nc * dim, t,
                            w->x + q * dim, rr->nconst, rr->constants, k ? w->p1 + F->offx[f] : w->p0 + F->off[f]);
    for (PetscInt g = 0; g < nu; ++g) {
      PetscReal *vg = w->v + g * (dim + 1) * nq;

      vg[q] = weight * PetscRealPart(w->p0[g]);
      for (PetscInt b = 0; b < dim; ++b) {
        PetscReal y = 0.0;

        for (PetscInt d = 0; d < dim; ++d) y += Ji[b * dim + d] * PetscRealPart(w->p1[g * dim + d]);
        vg[(b + 1) * nq + q] = weight * y;
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  sum = the test functions of component g against what they meet. Where the rule has a field's points per
  direction the derivatives are taken at the points, so the tabulation is applied once.
*/
static PetscErrorCode HopsResidualIntegrateComponent(const HopsPlex *plex, PetscInt f, PetscInt g, PetscBool has0, PetscBool has1,
                                                     HopsResidualWork *w)
{
  HopsFields       F   = plex->fields;
  const PetscInt   dim = F->dim, nq = plex->at.nq, P = F->P[f], Q = plex->rule.Q, np = HopsPower(P, dim), nm = PetscMax(np, nq);
  const PetscReal *v    = w->v + (F->off[f] + g) * (dim + 1) * nq, *M[3];
  PetscReal       *work = plex->at.work, *s = work + 2 * nm, *t = work + 3 * nm;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < dim; ++d) M[d] = plex->Bt[f];
  if (Q >= P) {
    for (PetscInt q = 0; q < nq; ++q) s[q] = has0 ? v[q] : 0.0;
    for (PetscInt d = 0; has1 && d < dim; ++d) {
      HopsTensorApplyDirection(dim, d, Q, plex->Ct, v + (d + 1) * nq, t);
      for (PetscInt q = 0; q < nq; ++q) s[q] += t[q];
    }
    PetscCall(HopsTensorApply(dim, P, Q, M, s, w->sum, work));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt i = 0; i < np; ++i) w->sum[i] = 0.0;
  for (PetscInt k = has0 ? 0 : 1; k <= (has1 ? dim : 0); ++k) {
    if (k) M[k - 1] = plex->Dt[f];
    PetscCall(HopsTensorApply(dim, P, Q, M, v + k * nq, s, work));
    if (k) M[k - 1] = plex->Bt[f];
    for (PetscInt i = 0; i < np; ++i) w->sum[i] += s[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* elem: the cell's closure, field after field */
static PetscErrorCode HopsResidualIntegrate(const HopsPlex *plex, const HopsResidualRegion *rr, HopsResidualWork *w)
{
  HopsFields   F    = plex->fields;
  PetscScalar *elem = w->elem;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(elem, F->nclosure));
  for (PetscInt f = 0; f < F->nf; ++f) {
    const PetscInt  np = HopsPower(F->P[f], F->dim), nc = F->nc[f];
    const PetscBool has0 = rr->n[0][f] ? PETSC_TRUE : PETSC_FALSE, has1 = rr->n[1][f] ? PETSC_TRUE : PETSC_FALSE;

    for (PetscInt g = 0; g < nc && (has0 || has1); ++g) {
      PetscCall(HopsResidualIntegrateComponent(plex, f, g, has0, has1, w));
      for (PetscInt i = 0; i < np; ++i) elem[i * nc + g] = w->sum[F->node[f][i]];
    }
    elem += np * nc;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsResidualWorkCreate(const HopsPlex *plex, HopsResidualRegion *rr, HopsResidualWork *w)
{
  HopsFields     F   = plex->fields;
  const PetscInt dim = F->dim, nq = plex->at.nq, nu = F->off[F->nf], Q = plex->rule.Q;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(rr, sizeof(*rr)));
  rr->region = -1;
  PetscCall(PetscCalloc4(F->nf, &rr->n[0], F->nf, &rr->n[1], F->nf, &rr->f[0], F->nf, &rr->f[1]));
  PetscCall(PetscMalloc6(nq * dim, &w->xi, nq * dim, &w->x, nq * dim * dim, &w->J, nq * dim * dim, &w->Ji, nu * (dim + 1) * nq,
                         &w->v, PetscMax(nq, HopsPower(plex->space->order + 1, dim)), &w->sum));
  PetscCall(
    PetscCalloc6(nq * nu, &w->u, nq * nu * dim, &w->ux, nq * nu, &w->ut, nu, &w->p0, nu * dim, &w->p1, F->nclosure, &w->elem));
  for (PetscInt q = 0; q < nq; ++q)
    for (PetscInt d = 0, k = q; d < dim; ++d, k /= Q) w->xi[q * dim + d] = plex->rule.points[k % Q];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsResidualWorkDestroy(HopsResidualRegion *rr, HopsResidualWork *w)
{
  PetscFunctionBegin;
  PetscCall(HopsAuxDestroy(&rr->aux));
  PetscCall(PetscFree2(rr->a, rr->ax));
  PetscCall(PetscFree4(rr->n[0], rr->n[1], rr->f[0], rr->f[1]));
  PetscCall(PetscFree6(w->xi, w->x, w->J, w->Ji, w->v, w->sum));
  PetscCall(PetscFree6(w->u, w->ux, w->ut, w->p0, w->p1, w->elem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells one after the other on the host, with what they need */
typedef struct {
  DM                 dm;
  HopsPlex          *plex;
  PetscReal          t;
  Vec                X, Xt;
  HopsBasis          geom;
  HopsResidualRegion rr;
  HopsResidualWork   w;
} HopsResidualCells;

/* w.elem; zero where PETSc adds nothing */
static PetscErrorCode HopsResidualCell(HopsResidualCells *r, PetscInt c)
{
  HopsPlex      *plex = r->plex;
  const PetscInt cell = plex->space->cell[c], dim = plex->space->dim;
  PetscInt       s;

  PetscFunctionBegin;
  PetscCall(HopsRegionOfCell(r->dm, cell, &s));
  if (s < 0) {
    PetscCall(PetscArrayzero(r->w.elem, plex->fields->nclosure));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsSpaceGetPoints(plex->space, &r->geom, c, 1, r->w.x, r->w.J));
  for (PetscInt q = 0; q < plex->at.nq; ++q) HopsInverse(dim, r->w.J + q * dim * dim, r->w.Ji + q * dim * dim);
  if (s != r->rr.region) PetscCall(HopsResidualRegionSet(r->dm, plex, s, cell, r->w.xi, &r->rr));
  if (r->rr.aux.v) PetscCall(HopsAuxEvaluate(&r->rr.aux, r->dm, cell, dim, plex->at.nq, r->w.J, r->rr.a, r->rr.ax));
  PetscCall(HopsFieldPointsEvaluate(&plex->at, r->dm, r->X, cell, r->w.Ji, r->w.u, r->w.ux));
  if (r->Xt) PetscCall(HopsFieldPointsEvaluate(&plex->at, r->dm, r->Xt, cell, r->w.Ji, r->w.ut, NULL));
  PetscCall(HopsResidualPoints(plex, &r->rr, c, r->t, &r->w));
  PetscCall(HopsResidualIntegrate(plex, &r->rr, &r->w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same as values[field][component][node], for HopsPointCellsResidual() */
static PetscErrorCode HopsResidualCellValues(void *ctx, PetscInt c, PetscReal values[])
{
  HopsResidualCells *r    = (HopsResidualCells *)ctx;
  HopsFields         F    = r->plex->fields;
  const PetscScalar *elem = r->w.elem;

  PetscFunctionBegin;
  r->plex->at.single = PETSC_TRUE;
  PetscCall(HopsResidualCell(r, c));
  r->plex->at.single = PETSC_FALSE;
  for (PetscInt f = 0; f < F->nf; ++f) {
    const PetscInt np = HopsPower(F->P[f], F->dim), nc = F->nc[f];

    for (PetscInt i = 0; i < np; ++i)
      for (PetscInt g = 0; g < nc; ++g) values[g * np + F->node[f][i]] = PetscRealPart(elem[i * nc + g]);
    values += np * nc;
    elem += np * nc;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexResidual(DM dm, HopsPlex *plex, PetscReal t, Vec X, Vec Xt, Vec F, PetscBool *done)
{
  HopsResidualCells r      = {.dm = dm, .plex = plex, .t = t, .X = X, .Xt = Xt};
  PetscBool         device = PETSC_FALSE;
  HopsPointJob      job;
  PetscSection      section;

  PetscFunctionBegin;
  PetscCall(HopsPlexResidualSetUp(dm, plex, done));
  if (!*done) {
    PetscCall(
      PetscInfo(dm, "residual left to PETSc: scalars are complex, or the DM has other fields than continuous Lagrange ones with "
                    "one tensor-product rule, "
                    "or residual functions under keys that PETSc does not evaluate, or boundary conditions on several regions\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(HopsEvent.residual, dm, X, F, 0));
  if (!plex->sought) PetscCall(HopsPointCellsCreate(dm, plex->fields, plex->space, &plex->points));
  plex->sought = PETSC_TRUE;
  PetscCall(DMGetLocalSection(dm, &section));
  PetscCall(HopsResidualWorkCreate(plex, &r.rr, &r.w));
  PetscCall(HopsSpaceCreateGeometryBasis(plex->space, &plex->rule, &r.geom));
  if (plex->points) PetscCall(HopsPointJobCreateResidual(plex->points, &job));
  if (plex->points)
    PetscCall(HopsPointCellsResidual(plex->points, NULL, &job, &plex->rule, t, X, Xt, F, HopsResidualCellValues, &r, &device));
  for (PetscInt c = 0; c < plex->space->ncells && !device; ++c) {
    PetscCall(HopsResidualCell(&r, c));
    PetscCall(DMPlexVecSetClosure(dm, section, F, plex->space->cell[c], r.w.elem, ADD_ALL_VALUES));
  }
  PetscCall(HopsBasisDestroy(&r.geom));
  PetscCall(HopsResidualWorkDestroy(&r.rr, &r.w));
  if (device) PetscCall(HopsPlexFacesResidual(dm, plex, t, X, Xt, F, &device));
  if (!device) PetscCall(HopsPlexBoundaryResidual(dm, plex, t, X, Xt, F));
  PetscCall(PetscLogEventEnd(HopsEvent.residual, dm, X, F, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
