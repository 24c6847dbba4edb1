/* The pointwise Jacobian of fields of any number of components, at the current state, read off the functions
   of a PetscDS. */
#include <hops/private/hopspointcellsimpl.h>
#include <hops/private/hopspleximpl.h>

/* The functions of a pair of fields in any region */
static PetscErrorCode HopsJacobianFindBlock(DM dm, PetscInt nds, PetscBool preconditioner, PetscInt i, PetscInt j,
                                            HopsJacobianBlock *block, PetscBool *any)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(block, sizeof(*block)));
  block->test  = i;
  block->trial = j;
  *any         = PETSC_FALSE;
  for (PetscInt s = 0; s < nds; ++s) {
    HopsRegion r;

    PetscCall(HopsRegionGetBlock(dm, s, preconditioner, i, j, &r));
    for (PetscInt k = 0; k < 4; ++k)
      if (r.n[k] || r.nt[k]) block->has[k] = *any = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What follows from the blocks */
static PetscErrorCode HopsJacobianSetBlocks(HopsJacobian jac)
{
  const PetscInt f = jac->nblocks ? jac->blocks[0].test : 0;

  PetscFunctionBegin;
  jac->field = f;
  jac->nc    = jac->fields->nc[f];
  for (PetscInt b = 0; b < jac->nblocks; ++b)
    if (jac->blocks[b].test != f || jac->blocks[b].trial != f) jac->nc = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsJacobianCreate(DM dm, PetscBool preconditioner, HopsJacobian *out)
{
  HopsJacobian jac;
  PetscInt     nds;
  PetscBool    moved;

  PetscFunctionBegin;
  PetscCall(DMGetNumDS(dm, &nds));
  PetscCheck(nds > 0, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE,
             "The DM has no PetscDS, so the form is unknown: set the Jacobian functions (PetscDSSetJacobian()), or the "
             "coefficients (PCLORSetCoefficients())");
  PetscCall(PetscNew(&jac));
  jac->refct          = 1;
  jac->dm             = dm;
  jac->preconditioner = preconditioner;
  PetscCall(PetscObjectReference((PetscObject)dm));
  PetscCall(HopsFieldsCreate(dm, &jac->fields));
  PetscCall(PetscMalloc1(jac->fields->nf * jac->fields->nf, &jac->blocks));
  for (PetscInt i = 0; i < jac->fields->nf; ++i) {
    PetscCheck(jac->fields->nc[i] <= HOPS_MAX_COMPONENTS, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
               "A field of %" PetscInt_FMT " components: hops takes at most %d; split it with PCFIELDSPLIT", jac->fields->nc[i],
               HOPS_MAX_COMPONENTS);
    for (PetscInt j = 0; j < jac->fields->nf; ++j) {
      PetscBool any;

      PetscCall(HopsJacobianFindBlock(dm, nds, preconditioner, i, j, &jac->blocks[jac->nblocks], &any));
      if (any) ++jac->nblocks;
    }
  }
  PetscCall(HopsJacobianSetBlocks(jac));
  PetscCall(HopsPlexCoordinatesChanged(dm, &jac->coordinates, &moved));
  *out = jac;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool HopsJacobianHasBlock(HopsJacobian jac, PetscInt test, PetscInt trial)
{
  for (PetscInt b = 0; b < jac->nblocks; ++b)
    if (jac->blocks[b].test == test && jac->blocks[b].trial == trial) return PETSC_TRUE;
  return PETSC_FALSE;
}

PetscErrorCode HopsJacobianShareState(HopsJacobian from, HopsJacobian to)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)from->X));
  PetscCall(PetscObjectReference((PetscObject)from->Xt));
  PetscCall(VecDestroy(&to->X));
  PetscCall(VecDestroy(&to->Xt));
  to->X     = from->X;
  to->Xt    = from->Xt;
  to->t     = from->t;
  to->shift = from->shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsJacobianCreateSub(HopsJacobian jac, PetscInt n, const PetscInt blocks[], HopsJacobian *out)
{
  HopsJacobian sub;

  PetscFunctionBegin;
  PetscCall(PetscNew(&sub));
  sub->refct          = 1;
  sub->dm             = jac->dm;
  sub->preconditioner = jac->preconditioner;
  sub->coordinates    = jac->coordinates;
  sub->fields         = jac->fields;
  sub->nblocks        = n;
  ++jac->fields->refct;
  PetscCall(PetscObjectReference((PetscObject)jac->dm));
  PetscCall(HopsJacobianShareState(jac, sub));
  PetscCall(PetscMalloc1(n, &sub->blocks));
  for (PetscInt b = 0; b < n; ++b) sub->blocks[b] = jac->blocks[blocks[b]];
  PetscCall(HopsJacobianSetBlocks(sub));
  *out = sub;
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

PetscErrorCode HopsJacobianDuplicate(HopsJacobian jac, HopsJacobian *out)
{
  PetscInt *all;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(jac->nblocks, &all));
  for (PetscInt b = 0; b < jac->nblocks; ++b) all[b] = b;
  PetscCall(HopsJacobianCreateSub(jac, jac->nblocks, all, out));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsJacobianDestroy(HopsJacobian *out)
{
  HopsJacobian jac = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!jac || --jac->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPointCellsDestroy(&jac->points));
  PetscCall(HopsReadsDestroy(&jac->reads));
  PetscCall(VecDestroy(&jac->X));
  PetscCall(VecDestroy(&jac->Xt));
  PetscCall(HopsFieldsDestroy(&jac->fields));
  PetscCall(DMDestroy(&jac->dm));
  PetscCall(PetscFree(jac->blocks));
  PetscCall(PetscFree(jac));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A copy of v: in `mine`, unless another form shares it. changed: if this is not NULL, did it have others? It
   is found out where the vectors are */
static PetscErrorCode HopsStateCopy(Vec v, Vec *mine, PetscBool *changed)
{
  PetscInt  n     = 0;
  PetscReal other = 1.0;
  Vec       old   = *mine;

  PetscFunctionBegin;
  if (old) PetscCall(PetscObjectGetReference((PetscObject)old, &n));
  if (n != 1) PetscCall(VecDuplicate(v, mine));
  if (changed && old) {
    if (n == 1) PetscCall(VecAYPX(*mine, -1.0, v));
    else PetscCall(VecWAXPY(*mine, -1.0, old, v));
    PetscCall(VecNorm(*mine, NORM_INFINITY, &other));
  }
  if (changed && other != 0.0) *changed = PETSC_TRUE; /* not-a-number, too */
  PetscCall(VecCopy(v, *mine));
  if (n != 1) PetscCall(VecDestroy(&old));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One of the vectors of a state */
static PetscErrorCode HopsStateSet(Vec v, PetscBool known, PetscBool read, Vec *mine, PetscBool *changed)
{
  PetscFunctionBegin;
  if (v && *mine && known && !read) PetscFunctionReturn(PETSC_SUCCESS);
  if (!v != !*mine) *changed = PETSC_TRUE;
  if (v) PetscCall(HopsStateCopy(v, mine, known ? changed : NULL));
  else PetscCall(VecDestroy(mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsJacobianSetState(HopsJacobian jac, Vec X, Vec Xt, PetscReal t, PetscReal shift, PetscBool *changed)
{
  PetscBool moved, known;
  unsigned  reads;

  PetscFunctionBegin;
  PetscCall(HopsPlexCoordinatesChanged(jac->dm, &jac->coordinates, &moved));
  PetscCheck(!moved, PetscObjectComm((PetscObject)jac->dm), PETSC_ERR_ARG_WRONGSTATE,
             "The coordinates of the mesh have changed since its operator or preconditioner was made, which holds the old ones: "
             "make new "
             "ones (SNESReset(), TSReset(), or DMCreateMatrix())");
  PetscCall(HopsReadsChanged(jac, &jac->reads, &known, &reads, changed));
  PetscCall(HopsStateSet(X, known, reads & (HOPS_READS_U | HOPS_READS_UX) ? PETSC_TRUE : PETSC_FALSE, &jac->X, changed));
  PetscCall(HopsStateSet(Xt, known, reads & HOPS_READS_UT ? PETSC_TRUE : PETSC_FALSE, &jac->Xt, changed));
  if ((reads & HOPS_READS_T && t != jac->t) || (reads & HOPS_READS_SHIFT && shift != jac->shift)) *changed = PETSC_TRUE;
  jac->t     = t;
  jac->shift = shift;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, changed, 1, HOPS_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)jac->dm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Everything that a point function sees */
typedef struct {
  HopsFields         fields;
  PetscInt           naux, nconst;
  PetscReal          t, shift;
  const PetscInt    *aOff, *aOffx;
  const PetscScalar *u, *ut, *ux, *a, *ax, *constants;
  const PetscReal   *x;
} HopsPoint;

static void HopsPointCall(PetscInt n, HopsPointJac g[], const HopsPoint *p, PetscScalar out[])
{
  for (PetscInt k = 0; k < n; ++k)
    (*g[k])(p->fields->dim, p->fields->nf, p->naux, p->fields->off, p->fields->offx, p->u, p->ut, p->ux, p->aOff, p->aOffx, p->a,
            NULL, p->ax, p->t, p->shift, p->x, p->nconst, p->constants, out);
}

static void HopsPointTensor(const HopsRegion *r, PetscInt kind, PetscInt n, const HopsPoint *p, PetscScalar out[])
{
  for (PetscInt i = 0; i < n; ++i) out[i] = 0.0;
  HopsPointCall(r->n[kind], r->g[kind], p, out);
  if (r->nt[kind] && p->shift != 0.0) {
    PetscScalar v[9 * HOPS_MAX_COMPONENTS * HOPS_MAX_COMPONENTS];

    for (PetscInt i = 0; i < n; ++i) v[i] = 0.0;
    HopsPointCall(r->nt[kind], r->gt[kind], p, v);
    for (PetscInt i = 0; i < n; ++i) out[i] += p->shift * v[i];
  }
}

/* Without a state the functions must not depend on it */
static PetscErrorCode HopsPointCheck(const HopsRegion *r, const PetscInt size[4], const HopsPoint *point, PetscInt cell)
{
  const PetscInt nu = point->fields->off[point->fields->nf], n = nu * (point->fields->dim + 1);
  PetscScalar   *probe, v[9 * HOPS_MAX_COMPONENTS * HOPS_MAX_COMPONENTS], w[9 * HOPS_MAX_COMPONENTS * HOPS_MAX_COMPONENTS];
  HopsPoint      p = *point;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &probe));
  for (PetscInt i = 0; i < n; ++i) probe[i] = 0.7310585786 / (1 + i) - 0.1 * (i % 3);
  p.u     = probe;
  p.ux    = probe + nu;
  p.shift = 0.5772156649; /* of an implicit time step: not seen either */
  for (PetscInt k = 0; k < 4; ++k) {
    PetscReal scale = 0.0;

    if (!r->n[k] && !r->nt[k]) continue;
    HopsPointTensor(r, k, size[k], point, v);
    HopsPointTensor(r, k, size[k], &p, w);
    for (PetscInt i = 0; i < size[k]; ++i) scale = PetscMax(scale, PetscAbsScalar(v[i]));
    for (PetscInt i = 0; i < size[k]; ++i)
      PetscCheck(PetscAbsScalar(v[i] - w[i]) <= 1e-12 * scale || (PetscIsInfOrNanScalar(v[i]) || PetscIsInfOrNanScalar(w[i])),
                 PETSC_COMM_SELF, PETSC_ERR_SUP,
                 "The Jacobian function g%" PetscInt_FMT
                 " of the PetscDS depends on the solution, or on the shift of a time step (cell %" PetscInt_FMT
                 "), which a preconditioner does not see: make the operator matrix-free by -dm_mat_type pa, which keeps the state, "
                 "or give the coefficients of a scalar form at the current state by PCLORSetCoefficients()",
                 k, cell);
  }
  PetscCall(PetscFree(probe));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes of the tensors of a block */
static void HopsTensorSizes(HopsFields fields, const HopsJacobianBlock *b, PetscInt size[4])
{
  const PetscInt n = fields->nc[b->test] * fields->nc[b->trial];

  size[0] = n;
  size[1] = size[2] = n * fields->dim;
  size[3]           = n * fields->dim * fields->dim;
}

/* What is needed at the points of the cells of one region */
typedef struct {
  PetscInt     region;
  HopsRegion  *r; /* [nblocks] */
  HopsAux      aux;
  PetscScalar *a, *ax;
} HopsRegionPoints;

static PetscErrorCode HopsRegionPointsSet(HopsJacobian jac, PetscInt s, PetscInt cell, PetscInt nq, const PetscReal xi[],
                                          HopsRegionPoints *rp)
{
  PetscFunctionBegin;
  PetscCall(HopsAuxDestroy(&rp->aux));
  PetscCall(PetscFree2(rp->a, rp->ax));
  for (PetscInt b = 0; b < jac->nblocks; ++b)
    PetscCall(HopsRegionGetBlock(jac->dm, s, jac->preconditioner, jac->blocks[b].test, jac->blocks[b].trial, &rp->r[b]));
  PetscCall(HopsAuxCreate(jac->dm, rp->r[0].label, rp->r[0].value, cell, nq, xi, &rp->aux));
  PetscCall(PetscMalloc2(nq * rp->aux.nc, &rp->a, nq * rp->aux.nc * jac->fields->dim, &rp->ax));
  rp->region = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One cell whose fields are at hand */
static PetscErrorCode HopsJacobianEvaluateCell(HopsJacobian jac, const HopsRegionPoints *rp, PetscInt cell, PetscInt nq,
                                               HopsPoint *p, const PetscReal x[], PetscInt c, PetscReal *(*g)[4])
{
  const PetscInt     dim = jac->fields->dim, nu = jac->fields->off[jac->fields->nf];
  const PetscScalar *u = p->u, *ut = p->ut, *ux = p->ux;
  PetscScalar        buffer[HOPS_PARTS > 1 ? 9 * HOPS_MAX_COMPONENTS * HOPS_MAX_COMPONENTS : 1];

  PetscFunctionBegin;
  for (PetscInt q = 0; q < nq; ++q) {
    p->u  = u + q * nu;
    p->ut = ut + q * nu;
    p->ux = ux + q * nu * dim;
    p->a  = rp->a + q * rp->aux.nc;
    p->ax = rp->ax + q * rp->aux.nc * dim;
    p->x  = x + q * dim;
    for (PetscInt b = 0; b < jac->nblocks; ++b) {
      PetscInt size[4];

      HopsTensorSizes(jac->fields, &jac->blocks[b], size);
      if (q == 0 && !jac->X) PetscCall(HopsPointCheck(&rp->r[b], size, p, cell));
      for (PetscInt k = 0; k < 4; ++k) {
        PetscReal   *to  = g[b][k] ? g[b][k] + (c * nq + q) * size[k] : NULL;
        PetscScalar *out = HOPS_PARTS > 1 ? buffer : (PetscScalar *)to;

        if (to) HopsPointTensor(&rp->r[b], k, size[k], p, out);
        for (PetscInt i = 0; to && i < size[k]; ++i)
          PetscCheck(!PetscIsInfOrNanScalar(out[i]), PETSC_COMM_SELF, PETSC_ERR_FP,
                     "The Jacobian function g%" PetscInt_FMT " of the PetscDS is infinite or not-a-number in cell %" PetscInt_FMT
                     ": check the function and the fields behind it",
                     k, cell);
        if (to && HOPS_PARTS > 1) PetscCall(HopsTakeReal(size[k], out, to, "A Jacobian function of the PetscDS"));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsJacobianEvaluateHost(HopsJacobian jac, HopsSpace sp, PetscInt first, PetscInt n, PetscBool single,
                                        const HopsBasis *basis, const PetscReal x[], const PetscReal J[], PetscReal *(*g)[4])
{
  DM               dm  = jac->dm;
  const PetscInt   dim = sp->dim, nu = jac->fields->off[jac->fields->nf], nq = HopsPower(basis->Q, dim);
  HopsFieldPoints  at;
  HopsRegionPoints rp = {.region = -1};
  PetscReal       *xi, *Ji;
  PetscScalar     *u, *ux, *ut;

  PetscFunctionBegin;
  if (!jac->nblocks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsFieldPointsCreate(jac->fields, basis, &at));
  at.single = single;
  PetscCall(PetscMalloc3(nq * dim, &xi, nq * dim * dim, &Ji, jac->nblocks, &rp.r));
  PetscCall(PetscCalloc3(nq * nu, &u, nq * nu * dim, &ux, nq * nu, &ut));
  for (PetscInt q = 0; q < nq; ++q)
    for (PetscInt d = 0, k = q; d < dim; ++d, k /= basis->Q) xi[q * dim + d] = basis->points[k % basis->Q];
  for (PetscInt c = 0; c < n; ++c) {
    const PetscInt   cell = sp->cell[first + c];
    const PetscReal *Jc   = J + c * nq * dim * dim;
    HopsPoint        p    = {.fields = jac->fields, .t = jac->t, .shift = jac->shift, .u = u, .ut = ut, .ux = ux};
    PetscInt         s;

    PetscCall(HopsRegionOfCell(dm, cell, &s));
    for (PetscInt b = 0; b < jac->nblocks && s < 0; ++b) { /* PETSc adds nothing there */
      PetscInt size[4];

      HopsTensorSizes(jac->fields, &jac->blocks[b], size);
      for (PetscInt k = 0; k < 4; ++k)
        if (g[b][k]) PetscCall(PetscArrayzero(g[b][k] + c * nq * size[k], nq * size[k]));
    }
    if (s < 0) continue;
    if (s != rp.region) PetscCall(HopsRegionPointsSet(jac, s, cell, nq, xi, &rp));
    p.naux  = rp.aux.nf;
    p.aOff  = rp.aux.off;
    p.aOffx = rp.aux.offx;
    PetscCall(PetscDSGetConstants(rp.r[0].ds, &p.nconst, &p.constants));
    for (PetscInt q = 0; q < nq; ++q) HopsInverse(dim, Jc + q * dim * dim, Ji + q * dim * dim);
    if (rp.aux.v) PetscCall(HopsAuxEvaluate(&rp.aux, dm, cell, dim, nq, Jc, rp.a, rp.ax));
    if (jac->X) PetscCall(HopsFieldPointsEvaluate(&at, dm, jac->X, cell, Ji, u, ux));
    if (jac->Xt) PetscCall(HopsFieldPointsEvaluate(&at, dm, jac->Xt, cell, Ji, ut, NULL));
    PetscCall(HopsJacobianEvaluateCell(jac, &rp, cell, nq, &p, x + c * nq * dim, c, g));
  }
  PetscCall(HopsAuxDestroy(&rp.aux));
  PetscCall(PetscFree2(rp.a, rp.ax));
  PetscCall(PetscFree3(xi, Ji, rp.r));
  PetscCall(PetscFree3(u, ux, ut));
  PetscCall(HopsFieldPointsDestroy(&at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsJacobianEvaluatePoints(HopsJacobian jac, HopsSpace sp, PetscInt first, PetscInt n, const HopsBasis *basis,
                                                 const PetscReal x[], const PetscReal J[], PetscReal *(*g)[4])
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(HopsJacobianEvaluateDevice(jac, sp, first, n, basis, g, &done));
  if (!done) PetscCall(HopsJacobianEvaluateHost(jac, sp, first, n, PETSC_FALSE, basis, x, J, g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsJacobianEvaluateBlocks(HopsJacobian jac, HopsSpace sp, PetscInt first, PetscInt n, const HopsBasis *basis,
                                          const PetscReal x[], const PetscReal J[], PetscReal *(*g)[4])
{
  const PetscInt dim = sp->dim, nq = HopsPower(basis->Q, dim);
  PetscReal *(*v)[4];
  PetscReal *y, *K;

  PetscFunctionBegin;
  if (!basis->limit) {
    PetscCall(HopsJacobianEvaluatePoints(jac, sp, first, n, basis, x, J, g));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscCalloc1(jac->nblocks, &v));
  PetscCall(PetscMalloc2(n * nq * dim, &y, n * nq * dim * dim, &K));
  for (PetscInt l = 0; l < HOPS_LIMIT_POINTS; ++l) {
    HopsBasis at, geom;

    PetscCall(HopsBasisCreateLimit(basis, l, &at));
    PetscCall(HopsSpaceCreateGeometryBasis(sp, &at, &geom));
    PetscCall(HopsSpaceGetPoints(sp, &geom, first, n, y, K));
    for (PetscInt b = 0; b < jac->nblocks; ++b) {
      PetscInt size[4];

      HopsTensorSizes(jac->fields, &jac->blocks[b], size);
      for (PetscInt k = 0; k < 4; ++k)
        if (g[b][k] && !l) PetscCall(PetscMalloc1((size_t)n * nq * size[k], &v[b][k]));
    }
    PetscCall(HopsJacobianEvaluatePoints(jac, sp, first, n, &at, y, K, v));
    for (PetscInt b = 0; b < jac->nblocks; ++b) {
      PetscInt size[4];

      HopsTensorSizes(jac->fields, &jac->blocks[b], size);
      for (PetscInt k = 0; k < 4; ++k)
        if (g[b][k]) PetscCall(HopsBasisAddLimit(basis, l, dim, n, size[k], v[b][k], g[b][k]));
    }
    PetscCall(HopsBasisDestroy(&at));
    PetscCall(HopsBasisDestroy(&geom));
  }
  for (PetscInt b = 0; b < jac->nblocks; ++b)
    for (PetscInt k = 0; k < 4; ++k) PetscCall(PetscFree(v[b][k]));
  PetscCall(PetscFree(v));
  PetscCall(PetscFree2(y, K));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsJacobianEvaluate(HopsJacobian jac, HopsSpace sp, PetscInt first, PetscInt n, const HopsBasis *basis,
                                    const PetscReal x[], const PetscReal J[], PetscReal *const g[4])
{
  PetscReal *block[1][4] = {{g[0], g[1], g[2], g[3]}};

  PetscFunctionBegin;
  PetscCheck(jac->nblocks <= 1, PetscObjectComm((PetscObject)jac->dm), PETSC_ERR_PLIB,
             "A form of %" PetscInt_FMT " blocks where one is wanted", jac->nblocks);
  PetscCall(HopsJacobianEvaluateBlocks(jac, sp, first, n, basis, x, J, block));
  PetscFunctionReturn(PETSC_SUCCESS);
}
