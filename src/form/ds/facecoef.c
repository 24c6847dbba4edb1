/* Boundary Jacobians of a PetscDS by the kernels of a device, and as coefficients where a scalar field has g0
   alone. */
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopsfaceimpl.h>

/* ------------------------------------------ on a device ------------------------------------------ */

/* the faces of all terms, sought once */
static PetscErrorCode HopsFaceFormSeek(HopsFaceForm ff)
{
  HopsPointCells pc = NULL;
  PetscInt       n  = 0, *size, **cells, **faces;

  PetscFunctionBegin;
  if (ff->sought) PetscFunctionReturn(PETSC_SUCCESS);
  ff->sought = PETSC_TRUE;
  if (ff->space->backend->points) PetscCall(HopsJacobianGetPoints(ff->jacobian, ff->space, &pc));
  if (!pc) PetscFunctionReturn(PETSC_SUCCESS);
  for (HopsFaceTerm t = ff->terms; t; t = t->next) ++n;
  PetscCall(PetscMalloc3(n, &size, n, &cells, n, &faces));
  n = 0;
  for (HopsFaceTerm t = ff->terms; t; t = t->next) {
    size[n]    = t->n;
    cells[n]   = t->cells;
    faces[n++] = t->faces;
  }
  PetscCall(HopsPointFacesCreate(pc, n, size, cells, faces, &ff->points));
  PetscCall(PetscFree3(size, cells, faces));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do all conditions see the auxiliary fields of the cells? */
static PetscErrorCode HopsFaceFormCheckAux(HopsFaceForm ff, PetscBool *ok)
{
  DM         dm = ff->jacobian->dm;
  HopsRegion r;
  Vec        mesh, v;

  PetscFunctionBegin;
  PetscCall(HopsRegionGet(dm, 0, PETSC_FALSE, &r));
  PetscCall(DMGetAuxiliaryVec(dm, r.label, r.value, 0, &mesh));
  *ok = PETSC_TRUE;
  for (HopsFaceTerm t = ff->terms; t; t = t->next) {
    PetscCall(DMGetAuxiliaryVec(dm, t->label, t->auxvalue, 0, &v));
    if (v != mesh) *ok = PETSC_FALSE;
  }
  if (!*ok) PetscCall(PetscInfo(dm, "boundary Jacobians on the host: a condition has auxiliary fields of its own\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the block of a term */
static PetscInt HopsFaceTermBlock(const HopsPointJob *job, HopsFaceTerm t)
{
  PetscInt b = 0;

  while (b < job->nblocks && (job->block[b].test != t->test || job->block[b].trial != t->trial)) ++b;
  return b;
}

/* the calls of all terms */
static PetscErrorCode HopsFaceFormJob(HopsFaceForm ff, HopsPointJob *job)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(job, sizeof(*job)));
  job->faces = PETSC_TRUE;
  for (HopsFaceTerm t = ff->terms; t; t = t->next) ++job->nregions;
  PetscCall(PetscCalloc1(job->nregions, &job->block));
  for (HopsFaceTerm t = ff->terms; t; t = t->next) {
    const PetscInt b = HopsFaceTermBlock(job, t);

    if (b == job->nblocks) job->block[job->nblocks++] = (HopsJacobianBlock){.test = t->test, .trial = t->trial};
    for (PetscInt k = 0; k < 4; ++k)
      if (t->nf[k]) job->block[b].has[k] = PETSC_TRUE;
  }
  job->nregions = 0;
  for (HopsFaceTerm t = ff->terms; t; t = t->next, ++job->nregions)
    for (PetscInt k = 0; k < 4; ++k)
      PetscCall(
        HopsPointJobAdd(job, job->nregions, 4 * HopsFaceTermBlock(job, t) + k, PETSC_FALSE, t->nf[k], (HopsVoidFn *)t->f[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  HopsFaceForm     form;
  const HopsBasis *rule;
} HopsFaceRun;

/* A face by the host, all kinds of all blocks one after the other */
static PetscErrorCode HopsFaceRunHost(void *ctx, PetscInt i, PetscReal values[])
{
  const HopsFaceRun   *r   = (const HopsFaceRun *)ctx;
  HopsFaceForm         ff  = r->form;
  HopsFields           F   = ff->jacobian->fields;
  const HopsPointFaces pf  = ff->points;
  const PetscInt       dim = F->dim, nq = HopsPower(r->rule->Q, dim - 1), cell = pf->hostcell[i], face = pf->hostface[i];
  HopsFaceBasis       *fb, geom;
  HopsPointJob         job;
  HopsFaceTerm         t = ff->terms;
  PetscReal           *x, *normal, *J, *ds;
  PetscReal           *g[4];

  PetscFunctionBegin;
  for (PetscInt k = 0; i >= pf->first[k + 1]; ++k) t = t->next;
  PetscCall(HopsFaceFormJob(ff, &job));
  for (PetscInt b = 0; b < job.nblocks; ++b)
    for (PetscInt k = 0; k < 4; ++k) {
      const PetscInt n = nq * F->nc[job.block[b].test] * F->nc[job.block[b].trial] * HopsTensorEntries(dim, k);

      if (b == HopsFaceTermBlock(&job, t)) g[k] = t->nf[k] ? values : NULL;
      if (!job.block[b].has[k]) continue;
      PetscCall(PetscArrayzero(values, n));
      values += n;
    }
  PetscCall(HopsPointJobDestroy(&job));
  PetscCall(PetscMalloc4(nq * dim, &x, nq * dim, &normal, nq * dim * dim, &J, nq, &ds));
  PetscCall(HopsFaceBasesCreate(F, r->rule, &fb));
  PetscCall(HopsFaceBasisCreate(dim, ff->space->gorder + 1, r->rule, &geom));
  PetscCall(HopsFaceGeometry(ff->space, &geom, cell, face, x, normal, J, ds));
  PetscCall(HopsFaceTermEvaluate(ff->jacobian, t, ff->space, cell, face, PETSC_TRUE, fb, x, normal, J, g));
  PetscCall(HopsFaceBasisDestroy(&geom));
  PetscCall(HopsFaceBasesDestroy(F, &fb));
  PetscCall(PetscFree4(x, normal, J, ds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFaceTermEvaluateDevice(HopsFaceForm ff, HopsFaceTerm term, const HopsBasis *rule, PetscReal *const g[4],
                                          PetscBool *done)
{
  HopsFaceRun  r     = {ff, rule};
  PetscInt     index = 0;
  PetscReal  **target;
  HopsPointJob job;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(HopsFaceFormSeek(ff));
  if (ff->points) PetscCall(HopsFaceFormCheckAux(ff, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  for (HopsFaceTerm t = ff->terms; t != term; t = t->next) ++index;
  PetscCall(HopsFaceFormJob(ff, &job));
  PetscCall(PetscCalloc1(4 * job.nblocks, &target));
  for (PetscInt k = 0; k < 4; ++k) target[4 * HopsFaceTermBlock(&job, term) + k] = g[k];
  PetscCall(HopsPointFacesTensors(ff->points, index, &job, rule, ff->jacobian, HopsFaceRunHost, &r, target, done));
  PetscCall(PetscFree(target));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -------------------------------------- as coefficients -------------------------------------- */

/* A reader asks for one face after the other, so a device evaluates all of them when it asks for the first */
typedef struct {
  HopsFaceForm form; /* of one term */
  PetscInt     component, at;
  HopsBasis    basis; /* of the values that are there, [n][q][nc][nc]; P is 0 where there are none */
  PetscReal   *values;
  /* their state */
  PetscObjectId    id;
  PetscObjectState state;
  PetscReal        t, shift;
} HopsFaceContext;

static PetscErrorCode HopsFaceContextReset(HopsFaceContext *ctx)
{
  PetscFunctionBegin;
  ctx->at = 0;
  PetscCall(PetscFree(ctx->values));
  if (ctx->basis.P) PetscCall(HopsBasisDestroy(&ctx->basis));
  ctx->basis.P = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the form's state that of the values? It becomes that */
static PetscErrorCode HopsFaceContextSame(HopsFaceContext *ctx, PetscBool *same)
{
  HopsJacobian     jac = ctx->form->jacobian;
  PetscObjectId    id;
  PetscObjectState state;

  PetscFunctionBegin;
  *same = PETSC_FALSE;
  if (!jac->X) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetId((PetscObject)jac->X, &id));
  PetscCall(PetscObjectStateGet((PetscObject)jac->X, &state));
  *same      = id == ctx->id && state == ctx->state && jac->t == ctx->t && jac->shift == ctx->shift ? PETSC_TRUE : PETSC_FALSE;
  ctx->id    = id;
  ctx->state = state;
  ctx->t     = jac->t;
  ctx->shift = jac->shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of a face, g[q][nc][nc] in the context's memory, or NULL */
static PetscErrorCode HopsFaceContextGet(HopsFaceContext *ctx, HopsSpace sp, PetscInt c, PetscInt face, const HopsBasis *basis,
                                         const PetscReal **g)
{
  HopsFaceTerm   t  = ctx->form->terms;
  const PetscInt nc = ctx->form->jacobian->nc, n = HopsPower(basis->Q, sp->dim - 1) * nc * nc;
  PetscBool      done, same;

  PetscFunctionBegin;
  *g = NULL;
  if (sp != ctx->form->space || !sp->backend->points || !t->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsFaceContextSame(ctx, &same));
  if (!same) PetscCall(HopsFaceContextReset(ctx));
  if (c == t->cells[0] && face == t->faces[0]) {
    PetscReal *all[4] = {NULL, NULL, NULL, NULL};

    PetscCall(HopsFaceContextReset(ctx));
    PetscCall(PetscMalloc1((size_t)t->n * n, &ctx->values));
    all[0] = ctx->values;
    PetscCall(HopsFaceTermEvaluateDevice(ctx->form, t, basis, all, &done));
    if (done) PetscCall(HopsBasisCreateLike(2, basis, &ctx->basis));
  }
  if (!ctx->basis.P || ctx->at >= t->n || c != t->cells[ctx->at] || face != t->faces[ctx->at] ||
      !HopsBasisSameRule(basis, &ctx->basis))
    PetscFunctionReturn(PETSC_SUCCESS);
  *g = ctx->values + (size_t)ctx->at++ * n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsFaceEvaluate_DS(HopsCoefficient cf, HopsSpace sp, PetscInt c, PetscInt face, const HopsBasis *basis,
                                          const PetscReal x[], const PetscReal normal[], const PetscReal J[], PetscReal out[])
{
  HopsFaceContext *ctx = (HopsFaceContext *)cf->ctx;
  HopsJacobian     jac = ctx->form->jacobian;
  HopsFields       F   = jac->fields;
  const PetscInt   nc = jac->nc, nq = HopsPower(basis->Q, sp->dim - 1);
  PetscReal       *g[4] = {NULL, NULL, NULL, NULL};
  const PetscReal *v;
  HopsFaceBasis   *fb;

  PetscFunctionBegin;
  PetscCall(HopsFaceContextGet(ctx, sp, c, face, basis, &v));
  if (!v) {
    PetscCall(PetscMalloc1(nq * nc * nc, &g[0]));
    PetscCall(HopsFaceBasesCreate(F, basis, &fb));
    PetscCall(HopsFaceTermEvaluate(jac, ctx->form->terms, sp, c, face, PETSC_FALSE, fb, x, normal, J, g));
    PetscCall(HopsFaceBasesDestroy(F, &fb));
    v = g[0];
  }
  for (PetscInt q = 0; q < nq; ++q) out[q] = v[q * nc * nc + ctx->component * (nc + 1)];
  PetscCall(PetscFree(g[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFaceContextDestroy(void *p)
{
  HopsFaceContext *ctx = (HopsFaceContext *)p;

  PetscFunctionBegin;
  PetscCall(HopsFaceContextReset(ctx));
  PetscCall(HopsFaceFormDestroy(&ctx->form));
  PetscCall(PetscFree(ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFormAddBoundaryDS(HopsForm form, HopsJacobian jac, PetscInt component)
{
  MPI_Comm     comm = PetscObjectComm((PetscObject)jac->dm);
  HopsFaceForm ff;

  PetscFunctionBegin;
  PetscCall(HopsFaceFormCreate(jac, form->space, 1, &jac->field, 1, &jac->field, &ff));
  if (!ff) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!ff->has[1] && !ff->has[2] && !ff->has[3], comm, PETSC_ERR_SUP,
             "The PetscDS has boundary Jacobians with derivatives (g1, g2 or g3), which are no Robin terms: use -dm_mat_type pa, "
             "which takes all of them, or -pc_lor_ignore boundary");
  while (ff->terms) {
    HopsFaceTerm     t = ff->terms;
    HopsCoefficient  alpha;
    HopsFaceContext *ctx;

    PetscCall(PetscNew(&ctx));
    PetscCall(PetscNew(&ctx->form));
    ++jac->refct;
    ctx->form->jacobian = jac;
    ctx->form->space    = form->space;
    ctx->form->has[0]   = PETSC_TRUE;
    ctx->form->terms    = t; /* which is its own from here on */
    ff->terms           = t->next;
    t->next             = NULL;
    ctx->component      = component;
    PetscCall(HopsCoefficientCreate_Private(comm, 1, "PetscDS", &alpha));
    alpha->ctx          = ctx;
    alpha->destroyctx   = HopsFaceContextDestroy;
    alpha->evaluateface = HopsFaceEvaluate_DS;
    PetscCall(HopsFormAddBoundary(form, t->n, t->cells, t->faces, alpha));
    PetscCall(HopsCoefficientDestroy(&alpha));
  }
  PetscCall(HopsFaceFormDestroy(&ff));
  PetscFunctionReturn(PETSC_SUCCESS);
}
