/* Tensors of a PetscDS at the points of cells, by its point functions where a back end works: evaluated
   once for a state, and handed over there, or copied to the process. */
#include <hops/private/hopspointcellsimpl.h>

/* A form at the points of a basis on a run of cells, and what evaluates it there */
typedef struct {
  HopsJacobian     form;
  HopsSpace        space;
  const HopsBasis *basis;
  PetscInt         first, n;
  HopsPointCells   cells;
  HopsPointKernel  kernel;
  HopsPointArgs    args;    /* of further launches; not set where there are no cells */
  PetscBool        pending; /* the tensors are on their way: HopsPointRunFinish() */
} HopsPointRun;

/* A cell by the host, all kinds of all blocks one after the other */
static PetscErrorCode HopsPointRunHost(void *ctx, PetscInt c, PetscReal values[])
{
  HopsPointRun  *r   = (HopsPointRun *)ctx;
  HopsFields     F   = r->form->fields;
  const PetscInt dim = F->dim, nq = HopsPower(r->basis->Q, dim);
  HopsBasis      geom;
  PetscReal     *x, *J;
  PetscReal *(*g)[4];

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(r->form->nblocks, &g));
  for (PetscInt b = 0; b < r->form->nblocks; ++b) {
    const HopsJacobianBlock *block = &r->form->blocks[b];

    for (PetscInt k = 0; k < 4; ++k) {
      if (!block->has[k]) continue;
      g[b][k] = values;
      values += nq * F->nc[block->test] * F->nc[block->trial] * HopsTensorEntries(dim, k);
    }
  }
  PetscCall(PetscMalloc2(nq * dim, &x, nq * dim * dim, &J));
  PetscCall(HopsSpaceCreateGeometryBasis(r->space, r->basis, &geom));
  PetscCall(HopsSpaceGetPoints(r->space, &geom, c, 1, x, J));
  PetscCall(HopsBasisDestroy(&geom));
  PetscCall(HopsJacobianEvaluateHost(r->form, r->space, c, 1, PETSC_TRUE, r->basis, x, J, g));
  PetscCall(PetscFree2(x, J));
  PetscCall(PetscFree(g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Launches of `n` threads, as many as fill a device */
static PetscErrorCode HopsPointRunLaunch(HopsPointRun *r, const char name[], size_t n)
{
  const PetscInt grid   = (PetscInt)PetscMin((n + 127) / 128, 16 * HOPS_POINT_BLOCKS);
  void          *args[] = {&r->args};

  PetscFunctionBegin;
  if (n) PetscCall((*r->cells->be->points->Launch)(r->kernel->module, name, grid, 128, args));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is what was evaluated last what is wanted? From now on it is */
static PetscErrorCode HopsPointIsLast(const HopsPointRun *r, PetscBool *same)
{
  const Vec      v[2] = {r->form->X, r->form->Xt};
  HopsPointLast *last = &r->cells->last,
                now   = {.kernel = r->kernel, .first = r->first, .n = r->n, .t = r->form->t, .shift = r->form->shift};

  PetscFunctionBegin;
  *same = PETSC_FALSE;
  if (last->kernel == now.kernel && last->first == now.first && last->n == now.n && last->t == now.t && last->shift == now.shift)
    *same = PETSC_TRUE;
  for (PetscInt i = 0; i < 2; ++i) {
    if (v[i]) PetscCall(PetscObjectGetId((PetscObject)v[i], &now.id[i]));
    if (v[i]) PetscCall(PetscObjectStateGet((PetscObject)v[i], &now.state[i]));
    if (last->id[i] != now.id[i] || last->state[i] != now.state[i]) *same = PETSC_FALSE;
  }
  *last = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the tensors of a target begin in cells->out[] */
static size_t HopsPointRunOffset(const HopsPointRun *r, PetscInt target)
{
  return (size_t)r->n * HopsPower(r->basis->Q, r->form->fields->dim) * HopsPointJobOffset(r->cells, &r->kernel->job, target);
}

static PetscErrorCode HopsPointRunTensors(HopsPointRun *r)
{
  HopsJacobian form = r->form;

  PetscFunctionBegin;
  PetscCall(HopsVecGetArrayRead(r->space, form->X, &r->args.x));
  if (form->Xt) PetscCall(HopsVecGetArrayRead(r->space, form->Xt, &r->args.xt));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(HopsPointLaunchCells(r->cells, r->kernel, "HopsPointTensors", &r->args));
  PetscCall(PetscLogGpuTimeEnd());
  if (form->Xt) PetscCall(HopsVecRestoreArrayRead(r->space, form->Xt, &r->args.xt));
  PetscCall(HopsVecRestoreArrayRead(r->space, form->X, &r->args.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* with the host's, when the kernels run for the first time */
static PetscErrorCode HopsPointRunCompare(HopsPointRun *r, PetscBool *ok)
{
  const PetscInt nt = 4 * r->form->nblocks;
  size_t        *run;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nt, &run));
  for (PetscInt i = 0; i < nt; ++i) run[i] = (HopsPointRunOffset(r, i + 1) - HopsPointRunOffset(r, i)) / r->n;
  PetscCall(HopsPointCompareCells(r->cells, r->kernel, r->first, r->n, nt, run, HopsPointRunHost, r, ok));
  PetscCall(PetscFree(run));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for the device, which the caller does all the same: were there bad cells? */
static PetscErrorCode HopsPointRunFinish(HopsPointRun *r, int flags[HOPS_POINT_FLAGS])
{
  PetscFunctionBegin;
  PetscCall(HopsPointEnd(r->cells, flags));
  if (r->pending) r->cells->last.kernel = r->kernel;
  r->pending = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* cells->out[block and kind][n][point][entries], which may be there already; done is false where the
   kernels are not what the host's are, which is looked at once */
static PetscErrorCode HopsPointRunEvaluate(HopsPointRun *r, PetscBool *done)
{
  HopsPointCells pc = r->cells;
  int            flags[HOPS_POINT_FLAGS];
  PetscBool      same;

  PetscFunctionBegin;
  if (!r->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPointBegin(pc, NULL, r->kernel, r->form->t, r->form->shift, &r->args));
  PetscCall(HopsPointIsLast(r, &same));
  if (!same) PetscCall(HopsPointReserve(pc, HopsPointRunOffset(r, 4 * r->form->nblocks), &pc->nout, &pc->out));
  r->args.out   = pc->out;
  r->args.first = (int)r->first;
  r->args.n     = (int)r->n;
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  pc->last.kernel = NULL; /* until it is there */
  PetscCall(HopsPointRunTensors(r));
  r->pending = PETSC_TRUE;
  if (r->kernel->checked) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPointRunFinish(r, flags));
  PetscCall(HopsPointRunCompare(r, done));
  if (!*done) pc->last.kernel = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPointRunEnd(HopsPointRun *r)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventEnd(HopsEvent.points, r->space, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The tensors are there, or done is false, and nothing is to be ended: no device has the functions. It
   does not do without a state, where the host also looks whether the functions depend on one */
static PetscErrorCode HopsPointRunBegin(HopsPointRun *r, HopsJacobian form, HopsSpace sp, PetscInt first, PetscInt n,
                                        const HopsBasis *basis, PetscBool *done)
{
  HopsPointCells pc = NULL;
  HopsPointJob   job;

  PetscFunctionBegin;
  if (form->nblocks && form->X && !basis->limit && sp->backend->points) PetscCall(HopsJacobianGetPoints(form, sp, &pc));
  *r    = (HopsPointRun){.form = form, .space = sp, .basis = basis, .first = first, .n = n, .cells = pc};
  *done = pc ? PETSC_TRUE : PETSC_FALSE;
  if (*done) PetscCall(HopsSpaceHasVec(sp, form->X, done));
  if (*done) PetscCall(HopsSpaceHasVec(sp, form->Xt, done));
  if (*done) PetscCall(HopsPointSetData(pc, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(HopsEvent.points, sp, 0, 0, 0));
  PetscCall(HopsPointJobCreateTensors(pc, form, &job));
  PetscCall(HopsPointKernelGet(pc, basis, &job, &r->kernel));
  *done = r->kernel->module ? PETSC_TRUE : PETSC_FALSE;
  if (*done) PetscCall(HopsPointRunEvaluate(r, done));
  if (!*done) PetscCall(HopsPointRunEnd(r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One kind of a block, as the kernels take it */
static void HopsPointRunSelect(HopsPointRun *r, PetscInt target)
{
  r->args.size =
    (int)(HopsPointJobOffset(r->cells, &r->kernel->job, target + 1) - HopsPointJobOffset(r->cells, &r->kernel->job, target));
  r->args.out = r->cells->out + HopsPointRunOffset(r, target);
}

PetscErrorCode HopsJacobianEvaluateDevice(HopsJacobian form, HopsSpace sp, PetscInt first, PetscInt n, const HopsBasis *basis,
                                          PetscReal *(*g)[4], PetscBool *done)
{
  const PetscInt nq = HopsPower(basis->Q, sp->dim);
  int            flags[HOPS_POINT_FLAGS];
  HopsPointRun   r;

  PetscFunctionBegin;
  PetscCall(HopsPointRunBegin(&r, form, sp, first, n, basis, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  if (r.pending) PetscCall(HopsPointRunFinish(&r, flags));
  for (PetscInt i = 0; n && i < 4 * form->nblocks; ++i) {
    PetscReal *to = g[i / 4][i % 4];

    HopsPointRunSelect(&r, i);
    if (to && r.args.size)
      PetscCall(
        (*sp->backend->memory->Copy)(NULL, to, r.args.out, (size_t)n * nq * r.args.size * sizeof(PetscReal), HOPS_COPY_OUT));
  }
  PetscCall(HopsPointRunEnd(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsJacobianEvaluateValues(HopsJacobian form, HopsSpace sp, PetscInt first, PetscInt n, const HopsBasis *basis,
                                          PetscInt kind, PetscInt component, HopsValuesWork *w, HopsValues *val, PetscBool *done)
{
  const PetscInt dim = sp->dim, nq = HopsPower(basis->Q, dim), nc = kind ? dim * (dim + 1) / 2 : 1;
  int            flags[HOPS_POINT_FLAGS];
  HopsPointRun   r;

  PetscFunctionBegin;
  PetscCall(HopsPointRunBegin(&r, form, sp, first, n, basis, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  *val = (HopsValues){.nc = nc, .cstride = nc, .memtype = sp->backend->memtype};
  if (n) {
    HopsPointRunSelect(&r, kind);
    r.args.own       = (int)(component * (form->nc + 1) * (kind ? dim * dim : 1));
    r.args.symmetric = form->nc == 1;
    r.args.tensor    = kind != 0;
    PetscCall(HopsPointRunLaunch(&r, "HopsPointLook", (size_t)n * 128));
    PetscCall(HopsPointRunFinish(&r, flags));
    PetscCheck(flags[3] == PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP, HOPS_DS_NONSYMMETRIC, sp->cell[flags[3]]);
    r.args.points = flags[2] ? (int)nq : 1;
    PetscCall(HopsValuesReserve(w, sp->backend, (size_t)n * r.args.points * nc));
    r.args.y = w->bv;
    PetscCall(HopsPointRunLaunch(&r, "HopsPointPack", (size_t)n * r.args.points));
    val->v       = w->bv;
    val->cstride = r.args.points * nc;
    val->pstride = r.args.points > 1 ? nc : 0;
  }
  PetscCall(HopsPointRunEnd(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pairs of components of the block of a target */
static PetscInt HopsPointRunPairs(const HopsPointRun *r, PetscInt target)
{
  const HopsJacobianBlock *b = &r->form->blocks[target / 4];

  return r->form->fields->nc[b->test] * r->form->fields->nc[b->trial];
}

/* found[target and pair], n of them, of the process */
static PetscErrorCode HopsPointRunMarks(HopsPointRun *r, PetscInt n, int found[])
{
  const HopsMemoryOps *memory = r->cells->be->memory;
  int                 *marks;

  PetscFunctionBegin;
  PetscCall((*memory->PoolMalloc)(n * sizeof(int), (void **)&marks));
  PetscCall((*memory->Copy)(NULL, marks, found, n * sizeof(int), HOPS_COPY_IN));
  r->args.marks = marks;
  for (PetscInt i = 0; i < 4 * r->form->nblocks; r->args.marks += HopsPointRunPairs(r, i++)) {
    HopsPointRunSelect(r, i);
    r->args.len = (int)HopsTensorEntries(r->space->dim, i % 4);
    PetscCall(HopsPointRunLaunch(r, "HopsPointMark", HopsPointRunOffset(r, i + 1) - HopsPointRunOffset(r, i)));
  }
  PetscCall((*memory->Copy)(NULL, found, marks, n * sizeof(int), HOPS_COPY_OUT));
  PetscCall((*memory->PoolFree)((void **)&marks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsJacobianEvaluateMarks(HopsJacobian form, HopsSpace sp, PetscInt first, PetscInt n, const HopsBasis *basis,
                                         unsigned char *(*marks)[4], PetscBool *grown, PetscBool *done)
{
  PetscInt     total = 0, at = 0;
  HopsPointRun r;
  int         *found, flags[HOPS_POINT_FLAGS];

  PetscFunctionBegin;
  PetscCall(HopsPointRunBegin(&r, form, sp, first, n, basis, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; n && i < 4 * form->nblocks; ++i) total += HopsPointRunPairs(&r, i);
  if (total) {
    PetscCall(PetscCalloc1(total, &found));
    PetscCall(HopsPointRunMarks(&r, total, found));
    if (r.pending) PetscCall(HopsPointRunFinish(&r, flags));
    for (PetscInt i = 0; i < 4 * form->nblocks; at += HopsPointRunPairs(&r, i++))
      for (PetscInt j = 0; marks[i / 4][i % 4] && j < HopsPointRunPairs(&r, i); ++j)
        if (found[at + j] && !marks[i / 4][i % 4][j]) marks[i / 4][i % 4][j] = 1, *grown = PETSC_TRUE;
    PetscCall(PetscFree(found));
  }
  PetscCall(HopsPointRunEnd(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Block b, to the target */
static PetscErrorCode HopsPointRunFill(HopsPointRun *r, const HopsTensorTarget *to, PetscInt b)
{
  const HopsMemoryOps  *memory = r->cells->be->memory;
  const HopsTensorData *d      = &to->block[b];
  HopsPointArgs        *a      = &r->args;
  int                  *pair;
  double               *weights;

  PetscFunctionBegin;
  if (!d->npairs) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*memory->PoolMalloc)(d->npairs * sizeof(HopsTensorPair), (void **)&pair));
  PetscCall((*memory->PoolMalloc)(r->basis->Q * sizeof(double), (void **)&weights));
  PetscCall((*memory->Copy)(NULL, pair, d->pair, d->npairs * sizeof(HopsTensorPair), HOPS_COPY_IN));
  PetscCall((*memory->Copy)(NULL, weights, r->basis->weights, r->basis->Q * sizeof(double), HOPS_COPY_IN));
  for (PetscInt i = 0; i < 4; ++i) {
    HopsPointRunSelect(r, 4 * b + i);
    a->kind[i]  = a->out;
    a->sizes[i] = a->size;
  }
  a->pair     = pair;
  a->weights  = weights;
  a->npairs   = (int)d->npairs;
  a->nentries = (int)d->nentries;
  a->ntrial   = (int)r->form->fields->nc[r->form->blocks[b].trial];
  a->place    = to->place;
  a->width    = (int)to->layout.W;
  a->bypoint  = to->layout.points;
  a->y        = (double *)d->q;
  PetscCall(HopsPointRunLaunch(r, "HopsPointFill", (size_t)r->n * HopsPower(r->basis->Q, r->space->dim)));
  PetscCall((*memory->PoolFree)((void **)&pair));
  PetscCall((*memory->PoolFree)((void **)&weights));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsJacobianEvaluateReference(HopsJacobian form, HopsSpace sp, PetscInt first, PetscInt n, const HopsBasis *basis,
                                             const HopsTensorTarget *to, PetscBool *done)
{
  int          flags[HOPS_POINT_FLAGS];
  HopsPointRun r;

  PetscFunctionBegin;
  PetscCall(HopsPointRunBegin(&r, form, sp, first, n, basis, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt b = 0; n && b < form->nblocks; ++b) PetscCall(HopsPointRunFill(&r, to, b));
  if (r.pending) PetscCall(HopsPointRunFinish(&r, flags)); /* else their cells were looked at when they were made */
  PetscCall(HopsPointRunEnd(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
