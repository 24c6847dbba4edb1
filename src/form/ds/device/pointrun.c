/* Kernels for the point functions of a PetscDS: compiling, tables, and launches. */
#include <hops/private/hopspointcellsimpl.h>

/* Of the largest value, between kernels and the host: integrals over a cell sum thousands of terms, which
   cancel where the state is near a solution. 1.2e-12 was seen at order 6 */
#define HOPS_POINT_TOL 1e-11

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
  pc->last.kernel = NULL;
  while (pc->kernels) {
    HopsPointKernel next = pc->kernels->next;

    PetscCall(HopsPointKernelDestroy(pc, &pc->kernels));
    pc->kernels = next;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointReserve(HopsPointCells pc, size_t n, size_t *have, double **p)
{
  PetscFunctionBegin;
  if (n > *have) {
    PetscCall((*pc->be->memory->Free)((void **)p));
    PetscCall((*pc->be->memory->Malloc)(n * sizeof(double), (void **)p));
    *have = n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values and derivatives of the basis at the ends of [-1, 1]: all of them, or the derivatives alone */
static PetscErrorCode HopsPointKernelEnds(PetscInt P, PetscBool values, double **t)
{
  const PetscReal ends[2] = {-1.0, 1.0};
  HopsBasis       end;

  PetscFunctionBegin;
  PetscCall(HopsBasisCreateAtPoints(P, 2, ends, &end));
  if (values) PetscCall(PetscArraycpy(*t, end.B, 2 * P));
  if (values) *t += 2 * P;
  PetscCall(PetscArraycpy(*t, end.D, 2 * P));
  *t += 2 * P;
  PetscCall(HopsBasisDestroy(&end));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the order that pointtext.c and pointkernel.cuh read: the map's B and D, weights, C, then B and D of
   each field; for faces, the map's B and D at the ends, and each field's D there */
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
  n = 2 * Q * geom.P + Q + Q * Q + 2 * Q * np + (k->job.faces ? 4 * geom.P + 2 * np : 0);
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
  if (k->job.faces) PetscCall(HopsPointKernelEnds(geom.P, PETSC_TRUE, &t));
  for (PetscInt f = 0; f < F->nf && k->job.faces; ++f) PetscCall(HopsPointKernelEnds(F->P[f], PETSC_FALSE, &t));
  PetscCall((*pc->be->memory->Malloc)(n * sizeof(double), (void **)&k->tables));
  PetscCall((*pc->be->memory->Copy)(NULL, k->tables, h, n * sizeof(double), HOPS_COPY_IN));
  PetscCall(PetscFree(h));
  PetscCall(HopsBasisDestroy(&geom));
  PetscCall(HopsFieldPointsDestroy(&at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The tabulations of the auxiliary fields, one after the other: values, then derivatives; of each face */
static PetscErrorCode HopsPointKernelSetAux(HopsPointCells pc, HopsPointKernel k)
{
  const PetscInt dim = pc->fields->dim, nq = HopsPower(k->Q, k->job.faces ? dim - 1 : dim), nfaces = k->job.faces ? 2 * dim : 1;
  size_t         n = 0;
  PetscReal     *xi, *h;

  PetscFunctionBegin;
  if (!pc->aux.nf) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(nfaces * nq * dim, &xi));
  for (PetscInt face = 0; face < nfaces && k->job.faces; ++face) HopsFacePoints(dim, k->Q, k->points, face, xi + face * nq * dim);
  for (PetscInt q = 0; q < nq && !k->job.faces; ++q)
    for (PetscInt d = 0, i = q; d < dim; ++d, i /= k->Q) xi[q * dim + d] = k->points[i % k->Q];
  for (PetscInt pass = 0; pass < 2; ++pass) {
    if (pass) PetscCall(PetscMalloc1(n, &h));
    n = 0;
    for (PetscInt i = 0; i < pc->aux.nf * nfaces; ++i) {
      PetscObject     disc;
      PetscTabulation T;
      size_t          size;

      PetscCall(PetscDSGetDiscretization(pc->aux.ds, i / nfaces, &disc));
      PetscCall(PetscFECreateTabulation((PetscFE)disc, 1, nq, xi + i % nfaces * nq * dim, 1, &T));
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
  HopsVoidFn     *fn;
  PetscInt        n = 0;
  char            files[PETSC_MAX_PATH_LEN], why[1024] = "", *text;
  PetscBool       set;
  HopsPointOrigin from;
  HopsPointGiven *given;

  PetscFunctionBegin;
  PetscCall(HopsDMGetOrigin(pc->dm, files, &given, &from, &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(k->job.ncalls, &fn));
  for (PetscInt i = 0; i < k->job.ncalls; ++i) {
    PetscInt j = 0;

    while (j < n && fn[j] != k->job.call[i].f) ++j;
    if (j == n) fn[n++] = k->job.call[i].f;
  }
  PetscCall(HopsPointCodeCreateFrom(&from, n, fn, &k->code, why, sizeof(why)));
  PetscCall(PetscFree(given));
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
  if (a->ncalls != b->ncalls || a->nblocks != b->nblocks || a->faces != b->faces || a->nregions != b->nregions) return PETSC_FALSE;
  for (PetscInt i = 0; i < a->ncalls; ++i)
    if (a->call[i].region != b->call[i].region || a->call[i].target != b->call[i].target ||
        a->call[i].dynamic != b->call[i].dynamic || a->call[i].f != b->call[i].f)
      return PETSC_FALSE;
  for (PetscInt i = 0; i < a->nblocks; ++i)
    if (a->block[i].test != b->block[i].test || a->block[i].trial != b->block[i].trial ||
        memcmp(a->block[i].has, b->block[i].has, sizeof(a->block[i].has)))
      return PETSC_FALSE;
  return PETSC_TRUE;
}

PetscErrorCode HopsPointKernelGet(HopsPointCells pc, const HopsBasis *rule, HopsPointJob *job, HopsPointKernel *out)
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
  if (!pc->hostconst || !same) pc->last.kernel = NULL;
  if (!pc->hostconst || !same) PetscCall((*pc->be->memory->Copy)(NULL, pc->constants, all, n * sizeof(double), HOPS_COPY_IN));
  PetscCall(PetscFree(pc->hostconst));
  pc->hostconst = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of the auxiliary fields, where they changed. Another DM's fields are not what the maps are
   for: ok is false */
static PetscErrorCode HopsPointSetAux(HopsPointCells pc, PetscBool *ok)
{
  const PetscReal *a;
  HopsRegion       r;
  Vec              v;
  DM               dm = NULL;
  PetscObjectId    id;
  PetscObjectState state;
  PetscInt         n;

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
  PetscCall(HopsHostVecGetPartRead(v, 0, &a));
  PetscCall((*pc->be->memory->Copy)(NULL, pc->auxvalues, a, n * sizeof(double), HOPS_COPY_IN));
  PetscCall(HopsHostVecRestorePartRead(v, 0, &a));
  pc->auxid       = id;
  pc->auxstate    = state;
  pc->last.kernel = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointSetData(HopsPointCells pc, PetscBool *ok)
{
  PetscFunctionBegin;
  PetscCall(HopsPointSetAux(pc, ok));
  if (*ok) PetscCall(HopsPointSetConstants(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointBegin(HopsPointCells pc, HopsPointFaces faces, HopsPointKernel k, PetscReal t, PetscReal shift,
                              HopsPointArgs *a)
{
  const int        none[HOPS_POINT_FLAGS] = {PETSC_MPI_INT_MAX, PETSC_MPI_INT_MAX, 0, PETSC_MPI_INT_MAX};
  PetscBool        changed;
  const int       *restr;
  const PetscReal *X;

  PetscFunctionBegin;
  PetscCall(HopsSpaceGetBackendMesh(pc->space, &restr, &X));
  PetscCall((*pc->be->points->Refresh)(k->module, &changed));
  if (changed) pc->last.kernel = NULL;
  PetscCall((*pc->be->memory->Copy)(NULL, pc->flags, none, sizeof(none), HOPS_COPY_IN));
  if (!k->shared) PetscCall(HopsPointReserve(pc, HOPS_POINT_BLOCKS * k->nwork, &pc->nscratch, &pc->scratch));
  *a = (HopsPointArgs){.aux       = pc->auxvalues,
                       .nodes     = X,
                       .tables    = k->tables,
                       .auxtables = k->auxtables,
                       .constants = pc->constants,
                       .row       = pc->row,
                       .restr     = pc->map->restr,
                       .auxrestr  = pc->auxrestr,
                       .region    = pc->region,
                       .start     = faces ? faces->start : pc->start,
                       .entry     = faces ? faces->entry : pc->entry,
                       .cell      = faces ? faces->cell : NULL,
                       .face      = faces ? faces->face : NULL,
                       .term      = faces ? faces->term : NULL,
                       .mirror    = faces ? faces->mirror : NULL,
                       .scratch   = pc->scratch,
                       .flags     = pc->flags,
                       .t         = t,
                       .shift     = shift};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointLaunchCells(HopsPointCells pc, HopsPointKernel k, const char name[], HopsPointArgs *a)
{
  const PetscInt nq     = HopsPower(k->Q, pc->fields->dim - (k->job.faces ? 1 : 0));
  void          *args[] = {a};

  PetscFunctionBegin;
  if (!a->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
    (*pc->be->points->Launch)(k->module, name, k->shared ? a->n : PetscMin(a->n, HOPS_POINT_BLOCKS), nq > 64 ? 128 : 64, args));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointEnd(HopsPointCells pc, int flags[HOPS_POINT_FLAGS])
{
  PetscFunctionBegin;
  PetscCall((*pc->be->memory->Copy)(NULL, flags, pc->flags, HOPS_POINT_FLAGS * sizeof(int), HOPS_COPY_OUT));
  if (flags[0] != PETSC_MPI_INT_MAX) PetscCall(HopsSpaceErrorCell(pc->space, flags[0], 0.0));
  PetscCheck(flags[1] == PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_FP,
             "A Jacobian function of the PetscDS is infinite or not-a-number in cell %" PetscInt_FMT
             ": check the functions and the fields behind them",
             pc->space->cell[flags[1]]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* When kernels run for the first time: some of the cells or faces first .. first + n - 1, size values each in
   pc->out of runs of `run` values that lie `stride` apart, against the host's. Where they differ the
   kernels are given up */
PetscErrorCode HopsPointCompareCells(HopsPointCells pc, HopsPointKernel k, PetscInt first, PetscInt n, PetscInt nruns,
                                     const size_t run[], HopsPointHost host, void *ctx, PetscBool *ok)
{
  size_t     size = 0, off = 0;
  PetscReal  scale = 0.0, error = 0.0;
  PetscReal *a, *b;
  char       why[256];

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
      scale = PetscMax(scale, PetscAbsReal(b[i]));
      if (!(PetscAbsReal(a[i] - b[i]) <= error)) error = PetscAbsReal(a[i] - b[i]); /* not-a-number, too */
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

PetscErrorCode HopsPointCellsResidual(HopsPointCells pc, HopsPointFaces faces, HopsPointJob *job, const HopsBasis *rule,
                                      PetscReal t, Vec X, Vec Xt, Vec F, HopsPointHost host, void *ctx, PetscBool *done)
{
  HopsSpace       sp = pc->space;
  const PetscInt  n  = faces ? faces->n : sp->ncells;
  HopsPointKernel k  = NULL;
  HopsPointArgs   a;
  int             flags[HOPS_POINT_FLAGS];
  void           *args[] = {&a};
  const size_t    ne     = pc->fields->nclosure;

  PetscFunctionBegin;
  *done = PETSC_TRUE;
  PetscCall(HopsSpaceHasVec(pc->space, X, done));
  if (*done) PetscCall(HopsSpaceHasVec(pc->space, Xt, done));
  if (*done) PetscCall(HopsSpaceHasVec(pc->space, F, done));
  if (*done) PetscCall(HopsPointSetData(pc, done));
  if (*done) PetscCall(HopsPointKernelGet(pc, rule, job, &k));
  else PetscCall(HopsPointJobDestroy(job));
  if (*done) *done = k->module ? PETSC_TRUE : PETSC_FALSE;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(HopsEvent.points, pc->dm, X, F, 0));
  pc->last.kernel = NULL; /* it has the tensors' memory */
  PetscCall(HopsPointCellsTranspose(pc, faces));
  PetscCall(HopsPointReserve(pc, (size_t)n * pc->fields->nclosure, &pc->nout, &pc->out));
  PetscCall(HopsPointBegin(pc, faces, k, t, 0.0, &a));
  a.out = pc->out;
  a.n   = (int)n;
  PetscCall(HopsVecGetArrayRead(sp, X, &a.x));
  if (Xt) PetscCall(HopsVecGetArrayRead(sp, Xt, &a.xt));
  PetscCall(HopsVecGetArray(sp, F, HOPS_VEC_READ_WRITE, &a.y));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(HopsPointLaunchCells(pc, k, "HopsPointResidual", &a));
  if (host) PetscCall(HopsPointCompareCells(pc, k, 0, n, 1, &ne, host, ctx, done));
  a.n = (int)pc->nlocal;
  if (*done && n) PetscCall((*pc->be->points->Launch)(k->module, "HopsPointAdd", (a.n + 255) / 256, 256, args));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(HopsVecRestoreArray(sp, F, HOPS_VEC_READ_WRITE, &a.y));
  if (Xt) PetscCall(HopsVecRestoreArrayRead(sp, Xt, &a.xt));
  PetscCall(HopsVecRestoreArrayRead(sp, X, &a.x));
  PetscCall(HopsPointEnd(pc, flags));
  PetscCall(PetscLogEventEnd(HopsEvent.points, pc->dm, X, F, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
