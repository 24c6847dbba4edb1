/* Kernels for the point functions of a PetscDS: compiling, tables, and launches. */
#include <hops/private/hopspointcellsimpl.h>

/* Of the largest value, between kernels and the host: integrals over a cell sum thousands of terms, which
   cancel where the state is near a solution. 1.2e-12 was seen at order 6 */
#define HOPS_POINT_TOL    1e-11
#define HOPS_POINT_BLOCKS 1024 /* of a launch whose blocks have their work in global memory */

struct _HopsPointKernel {
  HopsPointJob    job;
  PetscInt        Q;
  PetscReal      *points; /* [Q] */
  HopsPointCode   code;   /* NULL: it cannot be done, and -info said why */
  HopsPointModule module;
  double         *tables, *auxtables; /* on the back end */
  PetscBool       shared, checked;
  size_t          nwork;
  HopsPointKernel next;
};

static PetscErrorCode HopsPointKernelDestroy(HopsPointCells pc, HopsPointKernel *kernel)
{
  HopsPointKernel k = *kernel;

  PetscFunctionBegin;
  PetscCall(HopsPointJobDestroy(&k->job));
  PetscCall(PetscFree(k->points));
  if (k->module) PetscCall((*pc->be->points->Destroy)(&k->module));
  PetscCall(HopsPointCodeDestroy(&k->code));
  PetscCall((*pc->be->memory->Free)((void **)&k->tables));
  PetscCall((*pc->be->memory->Free)((void **)&k->auxtables));
  PetscCall(PetscFree(*kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointKernelDestroyAll(HopsPointCells pc)
{
  PetscFunctionBegin;
  while (pc->kernels) {
    HopsPointKernel next = pc->kernels->next;

    PetscCall(HopsPointKernelDestroy(pc, &pc->kernels));
    pc->kernels = next;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* At least n doubles on the back end */
static PetscErrorCode HopsPointReserve(HopsPointCells pc, size_t n, size_t *have, double **p)
{
  PetscFunctionBegin;
  if (n > *have) {
    PetscCall((*pc->be->memory->Free)((void **)p));
    PetscCall((*pc->be->memory->Malloc)(n * sizeof(double), (void **)p));
    *have = n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the order that pointtext.c and pointkernel.cuh read: the map's B and D, weights, C, then B and D of
   each field */
static PetscErrorCode HopsPointKernelSetTables(HopsPointCells pc, HopsPointKernel k, const HopsBasis *rule)
{
  HopsFields      F = pc->fields;
  const PetscInt  Q = rule->Q;
  HopsBasis       geom;
  HopsFieldPoints at;
  PetscInt        n, np = 0;
  double         *h, *t;

  PetscFunctionBegin;
  PetscCall(HopsSpaceCreateGeometryBasis(pc->space, rule, &geom));
  PetscCall(HopsFieldPointsCreate(F, rule, &at));
  for (PetscInt f = 0; f < F->nf; ++f) np += F->P[f];
  n = 2 * Q * geom.P + Q + Q * Q + 2 * Q * np;
  PetscCall(PetscCalloc1(n, &h));
  t = h;
  PetscCall(PetscArraycpy(t, geom.B, Q * geom.P));
  t += Q * geom.P;
  PetscCall(PetscArraycpy(t, geom.D, Q * geom.P));
  t += Q * geom.P;
  for (PetscInt q = 0; q < Q; ++q) *t++ = k->job.nblocks ? 1.0 : rule->weights[q]; /* tensors have points without weights, too */
  PetscCall(PetscArraycpy(t, at.basis[0].C, at.basis[0].C ? Q * Q : 0));
  t += Q * Q;
  for (PetscInt f = 0; f < F->nf; ++f) {
    PetscCall(PetscArraycpy(t, at.basis[f].B, Q * F->P[f]));
    t += Q * F->P[f];
    PetscCall(PetscArraycpy(t, at.basis[f].D, Q * F->P[f]));
    t += Q * F->P[f];
  }
  PetscCall((*pc->be->memory->Malloc)(n * sizeof(double), (void **)&k->tables));
  PetscCall((*pc->be->memory->Copy)(NULL, k->tables, h, n * sizeof(double), HOPS_COPY_IN));
  PetscCall(PetscFree(h));
  PetscCall(HopsBasisDestroy(&geom));
  PetscCall(HopsFieldPointsDestroy(&at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The tabulations of the auxiliary fields, one after the other: values, then derivatives */
static PetscErrorCode HopsPointKernelSetAux(HopsPointCells pc, HopsPointKernel k)
{
  const PetscInt dim = pc->fields->dim, nq = HopsPower(k->Q, dim);
  size_t         n = 0;
  PetscReal     *xi, *h;

  PetscFunctionBegin;
  if (!pc->aux.nf) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(nq * dim, &xi));
  for (PetscInt q = 0; q < nq; ++q)
    for (PetscInt d = 0, i = q; d < dim; ++d, i /= k->Q) xi[q * dim + d] = k->points[i % k->Q];
  for (PetscInt pass = 0; pass < 2; ++pass) {
    if (pass) PetscCall(PetscMalloc1(n, &h));
    n = 0;
    for (PetscInt f = 0; f < pc->aux.nf; ++f) {
      PetscObject     disc;
      PetscTabulation T;
      size_t          size;

      PetscCall(PetscDSGetDiscretization(pc->aux.ds, f, &disc));
      PetscCall(PetscFECreateTabulation((PetscFE)disc, 1, nq, xi, 1, &T));
      size = (size_t)nq * T->Nb * T->Nc;
      if (pass) {
        PetscCall(PetscArraycpy(h + n, T->T[0], size));
        PetscCall(PetscArraycpy(h + n + size, T->T[1], size * dim));
      }
      n += size * (dim + 1);
      PetscCall(PetscTabulationDestroy(&T));
    }
  }
  PetscCall((*pc->be->memory->Malloc)(n * sizeof(double), (void **)&k->auxtables));
  PetscCall((*pc->be->memory->Copy)(NULL, k->auxtables, h, n * sizeof(double), HOPS_COPY_IN));
  PetscCall(PetscFree(h));
  PetscCall(PetscFree(xi));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Once for each reason: what was asked for does not happen, so that a run is slower than it could be */
static PetscErrorCode HopsPointRefuse(HopsPointCells pc, const char why[])
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc->dm), &rank));
  if (!rank) PetscCall((*PetscErrorPrintf)("Warning: -hops_pointwise_source: point functions stay on the host: %s\n", why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPointKernelCompile(HopsPointCells pc, HopsPointKernel k)
{
  HopsVoidFn *fn;
  PetscInt    n = 0;
  char        files[PETSC_MAX_PATH_LEN], why[1024] = "", *text;
  PetscBool   set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(((PetscObject)pc->dm)->options, ((PetscObject)pc->dm)->prefix, "-hops_pointwise_source", files,
                                  sizeof(files), &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(k->job.ncalls, &fn));
  for (PetscInt i = 0; i < k->job.ncalls; ++i) {
    PetscInt j = 0;

    while (j < n && fn[j] != k->job.call[i].f) ++j;
    if (j == n) fn[n++] = k->job.call[i].f;
  }
  PetscCall(HopsPointCodeCreate(files, n, fn, &k->code, why, sizeof(why)));
  PetscCall(PetscFree(fn));
  if (k->code) {
    PetscCall(HopsPointJobCreateText(pc, &k->job, k->code, k->Q, &text, &k->shared, &k->nwork));
    PetscCall((*pc->be->points->Create)(k->code, text, PETSC_TRUE, &k->module, why, sizeof(why)));
    PetscCall(PetscFree(text));
  }
  if (!k->module) PetscCall(HopsPointRefuse(pc, why));
  else
    PetscCall(
      PetscInfo(pc->dm, "%" PetscInt_FMT " point functions of the PetscDS compiled for the back end %s\n", n, pc->be->name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool HopsPointJobSame(const HopsPointJob *a, const HopsPointJob *b)
{
  if (a->ncalls != b->ncalls || a->nblocks != b->nblocks) return PETSC_FALSE;
  for (PetscInt i = 0; i < a->ncalls; ++i)
    if (a->call[i].region != b->call[i].region || a->call[i].target != b->call[i].target ||
        a->call[i].dynamic != b->call[i].dynamic || a->call[i].f != b->call[i].f)
      return PETSC_FALSE;
  for (PetscInt i = 0; i < a->nblocks; ++i)
    if (a->block[i].test != b->block[i].test || a->block[i].trial != b->block[i].trial) return PETSC_FALSE;
  return PETSC_TRUE;
}

/* The kernels of a job, which are this function's, at the points of a basis; made where there are none */
static PetscErrorCode HopsPointKernelGet(HopsPointCells pc, const HopsBasis *rule, HopsPointJob *job, HopsPointKernel *out)
{
  HopsPointKernel k    = pc->kernels;
  PetscBool       same = PETSC_FALSE;

  PetscFunctionBegin;
  for (; k; k = k->next) {
    same = PETSC_FALSE;
    if (k->Q == rule->Q) PetscCall(PetscArraycmp(k->points, rule->points, rule->Q, &same));
    if (same && HopsPointJobSame(&k->job, job)) break;
  }
  *out = k;
  if (k) {
    PetscCall(HopsPointJobDestroy(job));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&k));
  k->job = *job;
  k->Q   = rule->Q;
  PetscCall(PetscMalloc1(k->Q, &k->points));
  PetscCall(PetscArraycpy(k->points, rule->points, k->Q));
  k->next     = pc->kernels;
  pc->kernels = k;
  PetscCall(HopsPointKernelCompile(pc, k));
  if (k->module) {
    PetscCall(HopsPointKernelSetTables(pc, k, rule));
    PetscCall(HopsPointKernelSetAux(pc, k));
  }
  *out = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The constants of all regions, one after the other. Their numbers are in the kernels' text */
static PetscErrorCode HopsPointSetConstants(HopsPointCells pc)
{
  PetscInt     nds, n = 0, *off;
  PetscScalar *all;
  PetscBool    same = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(DMGetNumDS(pc->dm, &nds));
  PetscCall(PetscMalloc1(nds + 1, &off));
  for (PetscInt s = 0; s <= nds; ++s) {
    PetscDS            ds;
    const PetscScalar *c;
    PetscInt           m = 0;

    off[s] = n;
    if (s == nds) break;
    PetscCall(HopsDMGetRegionDS(pc->dm, s, &ds));
    PetscCall(PetscDSGetConstants(ds, &m, &c));
    n += m;
  }
  if (pc->constoff) PetscCall(PetscArraycmp(off, pc->constoff, nds + 1, &same));
  if (!same) {
    PetscCall(HopsPointKernelDestroyAll(pc));
    PetscCall(PetscFree(pc->constoff));
    PetscCall(PetscFree(pc->hostconst));
    PetscCall((*pc->be->memory->Free)((void **)&pc->constants));
    PetscCall((*pc->be->memory->Malloc)(n * sizeof(double), (void **)&pc->constants));
    pc->constoff = off;
  } else PetscCall(PetscFree(off));
  PetscCall(PetscMalloc1(n, &all));
  for (PetscInt s = 0; s < nds; ++s) {
    PetscDS            ds;
    const PetscScalar *c;
    PetscInt           m;

    PetscCall(HopsDMGetRegionDS(pc->dm, s, &ds));
    PetscCall(PetscDSGetConstants(ds, &m, &c));
    PetscCall(PetscArraycpy(all + pc->constoff[s], c, m));
  }
  if (pc->hostconst) PetscCall(PetscArraycmp(all, pc->hostconst, n, &same));
  if (!pc->hostconst || !same) PetscCall((*pc->be->memory->Copy)(NULL, pc->constants, all, n * sizeof(double), HOPS_COPY_IN));
  PetscCall(PetscFree(pc->hostconst));
  pc->hostconst = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of the auxiliary fields, where they changed. Another DM's fields are not what the maps are
   for: ok is false */
static PetscErrorCode HopsPointSetAux(HopsPointCells pc, PetscBool *ok)
{
  const PetscScalar *a;
  HopsRegion         r;
  Vec                v;
  DM                 dm = NULL;
  PetscObjectId      id;
  PetscObjectState   state;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(HopsRegionGet(pc->dm, 0, PETSC_FALSE, &r));
  PetscCall(DMGetAuxiliaryVec(pc->dm, r.label, r.value, 0, &v));
  if (v) PetscCall(VecGetDM(v, &dm));
  if (dm != (pc->aux.v ? pc->aux.dm : NULL)) *ok = PETSC_FALSE;
  if (!v || !*ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetId((PetscObject)v, &id));
  PetscCall(PetscObjectStateGet((PetscObject)v, &state));
  if (pc->auxvalues && id == pc->auxid && state == pc->auxstate) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(v, &n));
  if (!pc->auxvalues) PetscCall((*pc->be->memory->Malloc)(n * sizeof(double), (void **)&pc->auxvalues));
  PetscCall(VecGetArrayRead(v, &a));
  PetscCall((*pc->be->memory->Copy)(NULL, pc->auxvalues, a, n * sizeof(double), HOPS_COPY_IN));
  PetscCall(VecRestoreArrayRead(v, &a));
  pc->auxid    = id;
  pc->auxstate = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What all launches take; ok is false where the kernels cannot have it */
static PetscErrorCode HopsPointBegin(HopsPointCells pc, HopsPointKernel k, PetscReal t, PetscReal shift, HopsPointArgs *a)
{
  const int        none[3] = {PETSC_MPI_INT_MAX, PETSC_MPI_INT_MAX, 0};
  const int       *restr;
  const PetscReal *nodes;

  PetscFunctionBegin;
  PetscCall(HopsSpaceGetBackendMesh(pc->space, &restr, &nodes));
  PetscCall((*pc->be->points->Refresh)(k->module));
  PetscCall((*pc->be->memory->Copy)(NULL, pc->flags, none, sizeof(none), HOPS_COPY_IN));
  if (!k->shared) PetscCall(HopsPointReserve(pc, HOPS_POINT_BLOCKS * k->nwork, &pc->nscratch, &pc->scratch));
  *a = (HopsPointArgs){.aux       = pc->auxvalues,
                       .nodes     = nodes,
                       .tables    = k->tables,
                       .auxtables = k->auxtables,
                       .constants = pc->constants,
                       .row       = pc->row,
                       .restr     = pc->map->restr,
                       .auxrestr  = pc->auxrestr,
                       .region    = pc->region,
                       .start     = pc->start,
                       .entry     = pc->entry,
                       .scratch   = pc->scratch,
                       .flags     = pc->flags,
                       .t         = t,
                       .shift     = shift};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPointLaunchCells(HopsPointCells pc, HopsPointKernel k, const char name[], HopsPointArgs *a)
{
  const PetscInt nq     = HopsPower(k->Q, pc->fields->dim);
  void          *args[] = {a};

  PetscFunctionBegin;
  if (!a->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
    (*pc->be->points->Launch)(k->module, name, k->shared ? a->n : PetscMin(a->n, HOPS_POINT_BLOCKS), nq > 64 ? 128 : 64, args));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for the device: was there a bad cell? */
static PetscErrorCode HopsPointEnd(HopsPointCells pc, int flags[3])
{
  PetscFunctionBegin;
  PetscCall((*pc->be->memory->Copy)(NULL, flags, pc->flags, 3 * sizeof(int), HOPS_COPY_OUT));
  if (flags[0] != PETSC_MPI_INT_MAX) PetscCall(HopsSpaceErrorCell(pc->space, flags[0], 0.0));
  PetscCheck(flags[1] == PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_FP,
             "A Jacobian function of the PetscDS is infinite or not-a-number in cell %" PetscInt_FMT
             ": check the functions and the fields behind them",
             pc->space->cell[flags[1]]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* When kernels run for the first time: a few of the cells first .. first + n - 1, size values each in
   pc->out of runs of `run` values that lie `stride` apart, against the host's. Where they differ the
   kernels are given up */
static PetscErrorCode HopsPointCompareCells(HopsPointCells pc, HopsPointKernel k, PetscInt first, PetscInt n, PetscInt nruns,
                                            const size_t run[], HopsPointHost host, void *ctx, PetscBool *ok)
{
  size_t       size = 0, off = 0;
  PetscReal    scale = 0.0, error = 0.0;
  PetscScalar *a, *b;
  char         why[256];

  PetscFunctionBegin;
  *ok = PETSC_TRUE;
  if (k->checked || !n) PetscFunctionReturn(PETSC_SUCCESS);
  k->checked = PETSC_TRUE;
  for (PetscInt i = 0; i < nruns; ++i) size += run[i];
  PetscCall(PetscMalloc2(size, &a, size, &b));
  for (PetscInt j = 0; j < PetscMin(n, 3); ++j) {
    const PetscInt c = j == 0 ? 0 : (j == 1 ? n - 1 : n / 2);

    off = 0;
    for (PetscInt i = 0; i < nruns; off += run[i++])
      PetscCall((*pc->be->memory->Copy)(NULL, a + off, pc->out + off * n + c * run[i], run[i] * sizeof(double), HOPS_COPY_OUT));
    PetscCall((*host)(ctx, first + c, b));
    for (size_t i = 0; i < size; ++i) {
      if (PetscIsInfOrNanScalar(a[i]) && PetscIsInfOrNanScalar(b[i])) continue;
      scale = PetscMax(scale, PetscAbsScalar(b[i]));
      if (!(PetscAbsScalar(a[i] - b[i]) <= error)) error = PetscAbsScalar(a[i] - b[i]); /* not-a-number, too */
    }
  }
  PetscCall(PetscFree2(a, b));
  if (error <= HOPS_POINT_TOL * scale) PetscFunctionReturn(PETSC_SUCCESS);
  *ok = PETSC_FALSE;
  PetscCall(PetscSNPrintf(why, sizeof(why), "compiled, they differ from those that run by %g of %g", (double)error, (double)scale));
  PetscCall(HopsPointRefuse(pc, why));
  PetscCall((*pc->be->points->Destroy)(&k->module));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointCellsResidual(HopsPointCells pc, const HopsBasis *rule, PetscReal t, Vec X, Vec Xt, Vec F,
                                      HopsPointHost host, void *ctx, PetscBool *done)
{
  HopsSpace       sp = pc->space;
  HopsPointJob    job;
  HopsPointKernel k = NULL;
  HopsPointArgs   a;
  int             flags[3];
  void           *args[] = {&a};
  const size_t    ne     = pc->fields->nclosure;

  PetscFunctionBegin;
  *done = PETSC_TRUE;
  PetscCall(HopsSpaceHasVec(pc->space, X, done));
  if (*done) PetscCall(HopsSpaceHasVec(pc->space, Xt, done));
  if (*done) PetscCall(HopsSpaceHasVec(pc->space, F, done));
  if (*done) PetscCall(HopsPointSetAux(pc, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPointSetConstants(pc));
  PetscCall(HopsPointJobCreateResidual(pc, &job));
  PetscCall(HopsPointKernelGet(pc, rule, &job, &k));
  *done = k->module ? PETSC_TRUE : PETSC_FALSE;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(HopsEvent.points, pc->dm, X, F, 0));
  PetscCall(HopsPointCellsTranspose(pc));
  PetscCall(HopsPointReserve(pc, (size_t)sp->ncells * pc->fields->nclosure, &pc->nout, &pc->out));
  PetscCall(HopsPointBegin(pc, k, t, 0.0, &a));
  a.out = pc->out;
  a.n   = (int)sp->ncells;
  PetscCall(HopsVecGetArrayRead(sp, X, &a.x));
  if (Xt) PetscCall(HopsVecGetArrayRead(sp, Xt, &a.xt));
  PetscCall(HopsVecGetArray(sp, F, HOPS_VEC_READ_WRITE, &a.y));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(HopsPointLaunchCells(pc, k, "HopsPointResidual", &a));
  PetscCall(HopsPointCompareCells(pc, k, 0, sp->ncells, 1, &ne, host, ctx, done));
  a.n = (int)pc->nlocal;
  if (*done && sp->ncells) PetscCall((*pc->be->points->Launch)(k->module, "HopsPointAdd", (a.n + 255) / 256, 256, args));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(HopsVecRestoreArray(sp, F, HOPS_VEC_READ_WRITE, &a.y));
  if (Xt) PetscCall(HopsVecRestoreArrayRead(sp, Xt, &a.xt));
  PetscCall(HopsVecRestoreArrayRead(sp, X, &a.x));
  PetscCall(HopsPointEnd(pc, flags));
  PetscCall(PetscLogEventEnd(HopsEvent.points, pc->dm, X, F, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the tensors of a launch that are wanted; varies: one of them does inside of a cell */
static PetscErrorCode HopsPointGetTensors(HopsPointCells pc, HopsPointKernel k, PetscInt n, PetscBool cells, HopsPointArgs *a,
                                          PetscScalar *(*g)[4], PetscBool *varies)
{
  const PetscInt nq     = HopsPower(k->Q, pc->fields->dim);
  void          *args[] = {a};

  PetscFunctionBegin;
  for (PetscInt i = 0; i < 4 * k->job.nblocks && !*varies; ++i) {
    const PetscInt off = HopsPointJobOffset(pc, &k->job, i), size = HopsPointJobOffset(pc, &k->job, i + 1) - off;
    const double  *from = pc->out + (size_t)n * nq * off;
    PetscScalar   *to   = g[i / 4][i % 4];
    int            flags[3];

    if (!to || !size) continue;
    if (cells) {
      a->out  = (double *)from;
      a->size = (int)size;
      a->y    = pc->out + (size_t)n * nq * HopsPointJobOffset(pc, &k->job, 4 * k->job.nblocks);
      PetscCall((*pc->be->points->Launch)(k->module, "HopsPointCells", PetscMin(n, 16 * HOPS_POINT_BLOCKS), 128, args));
      PetscCall(HopsPointEnd(pc, flags));
      *varies = flags[2] ? PETSC_TRUE : PETSC_FALSE;
      from    = a->y;
    }
    if (!*varies)
      PetscCall((*pc->be->memory->Copy)(NULL, to, from, (size_t)n * (cells ? 1 : nq) * size * sizeof(double), HOPS_COPY_OUT));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointCellsTensors(HopsPointCells pc, HopsJacobian form, const HopsBasis *basis, PetscInt first, PetscInt n,
                                     PetscBool cells, HopsPointHost host, void *ctx, PetscScalar *(*g)[4], PetscBool *done)
{
  const PetscInt  nq     = HopsPower(basis->Q, pc->fields->dim);
  PetscBool       varies = PETSC_FALSE;
  PetscInt        most   = 0, total;
  size_t         *run;
  HopsPointJob    job;
  HopsPointKernel k = NULL;
  HopsPointArgs   a;
  int             flags[3];

  PetscFunctionBegin;
  *done = PETSC_TRUE;
  PetscCall(HopsSpaceHasVec(pc->space, form->X, done));
  if (*done) PetscCall(HopsSpaceHasVec(pc->space, form->Xt, done));
  if (*done) PetscCall(HopsPointSetAux(pc, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPointSetConstants(pc));
  PetscCall(HopsPointJobCreateTensors(pc, form, &job));
  PetscCall(HopsPointKernelGet(pc, basis, &job, &k));
  *done = k->module ? PETSC_TRUE : PETSC_FALSE;
  if (!*done || !n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(HopsEvent.points, pc->dm, form->X, 0, 0));
  total = HopsPointJobOffset(pc, &k->job, 4 * k->job.nblocks);
  PetscCall(PetscMalloc1(4 * k->job.nblocks, &run));
  for (PetscInt i = 0; i < 4 * k->job.nblocks; ++i) {
    const PetscInt size = HopsPointJobOffset(pc, &k->job, i + 1) - HopsPointJobOffset(pc, &k->job, i);

    run[i] = (size_t)nq * size;
    most   = PetscMax(most, size);
  }
  PetscCall(HopsPointReserve(pc, (size_t)n * (nq * total + most), &pc->nout, &pc->out));
  PetscCall(HopsPointBegin(pc, k, form->t, form->shift, &a));
  a.out   = pc->out;
  a.first = (int)first;
  a.n     = (int)n;
  PetscCall(HopsVecGetArrayRead(pc->space, form->X, &a.x));
  if (form->Xt) PetscCall(HopsVecGetArrayRead(pc->space, form->Xt, &a.xt));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(HopsPointLaunchCells(pc, k, "HopsPointTensors", &a));
  PetscCall(PetscLogGpuTimeEnd());
  if (form->Xt) PetscCall(HopsVecRestoreArrayRead(pc->space, form->Xt, &a.xt));
  PetscCall(HopsVecRestoreArrayRead(pc->space, form->X, &a.x));
  PetscCall(HopsPointEnd(pc, flags));
  PetscCall(HopsPointCompareCells(pc, k, first, n, 4 * k->job.nblocks, run, host, ctx, done));
  PetscCall(PetscFree(run));
  if (*done) PetscCall(HopsPointGetTensors(pc, k, n, cells, &a, g, &varies));
  if (varies) *done = PETSC_FALSE;
  PetscCall(PetscLogEventEnd(HopsEvent.points, pc->dm, form->X, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
