/* Sets of patches of back ends that launch kernels for teams of lanes, sorted into launches. */
#include "lanespatch.h"

/* Patches of one launch have equal keys, which ascend by color, kind, size of a cube, and group. Where a
   lane's values are of several patches, bricks of different sizes have different keys, mostly */
#define KEY_SIZES  16
#define KEY_GROUPS 32

static PetscInt KeyOf(const HopsLanesPatchInput *in, PetscInt k, PetscBool bysize)
{
  const int *n = in->size[k], condensed = in->condensed && in->condensed[k], dense = in->dense && in->dense[k] >= 0;
  const int  cube = !condensed && !dense && n[0] == n[1] && (in->dim == 2 || n[0] == n[2]) && n[0] % 2 && n[0] < KEY_SIZES;
  int        kind = cube ? HOPS_LANES_PATCH_CUBE : HOPS_LANES_PATCH_BRICK, size = cube ? n[0] : 0;

  if (dense) kind = HOPS_LANES_PATCH_DENSE;
  if (condensed) kind = HOPS_LANES_PATCH_CONDENSED;
  if (kind == HOPS_LANES_PATCH_BRICK && bysize) size = (n[0] + 3 * n[1] + 9 * n[2]) % KEY_SIZES;
  return ((in->color[k] * HOPS_LANES_PATCH_NKINDS + kind) * KEY_SIZES + size) * KEY_GROUPS + (in->group ? in->group[k] : 0);
}

PetscLogDouble HopsLanesPatchFlops(const HopsLanesPatchKernels *kernels, const HopsLanesPatchInput *in, PetscInt k)
{
  const double   n     = in->start[k + 1] - in->start[k];
  const int     *size  = in->size[k];
  PetscLogDouble flops = 6.0 * n;
  PetscBool      half  = kernels->group > 1 && in->feven ? PETSC_TRUE : PETSC_FALSE; /* cubes by lanespatchgroup.h */

  if (in->dense && in->dense[k] >= 0)
    return in->condensed && in->condensed[k] ? HopsPatchCondensedFlops(in->modes, in->cond + in->dense[k]) : 2.0 * n * n;
  for (int a = 0; a < in->dim; ++a)
    half = half && size[a] == size[0] && size[a] % 2 && in->feven[in->factor[k][a]] ? PETSC_TRUE : PETSC_FALSE;
  for (int a = 0; a < in->dim; ++a) flops += half ? 2.0 * n * (size[a] + 2) : 4.0 * n * size[a];
  return flops;
}

/* The patches in order of their keys, and the launches, which know no more of their patches than what the key
   says */
static PetscErrorCode Launches(const HopsLanesPatchInput *in, HopsLanesPatchSet s)
{
  const PetscInt nkeys = PetscMax(1, in->ncolors) * HOPS_LANES_PATCH_NKINDS * KEY_SIZES * KEY_GROUPS;
  PetscInt      *first, *key;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(in->n, &key));
  PetscCall(PetscCalloc1(nkeys + 1, &first));
  for (PetscInt k = 0; k < in->n; ++k) {
    PetscCheck(in->color[k] >= 0 && in->color[k] < PetscMax(1, in->ncolors), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "Patch %" PetscInt_FMT " has the colour %d", k, in->color[k]);
    PetscCheck(!in->group || in->group[k] < KEY_GROUPS, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Patch %" PetscInt_FMT " is in group %d, of less than %d", k, in->group[k], KEY_GROUPS);
    key[k] = KeyOf(in, k, s->kernels->group > 1 ? PETSC_TRUE : PETSC_FALSE);
    ++first[key[k] + 1];
  }
  for (PetscInt i = 0; i < nkeys; ++i) s->nruns += first[i + 1] > 0;
  PetscCall(PetscMalloc1(s->nruns, &s->runs));
  PetscCall(PetscMalloc1(in->n, &s->order));
  s->nruns = 0;
  for (PetscInt i = 0; i < nkeys; ++i) {
    const int group = (int)(i % KEY_GROUPS), size = (int)(i / KEY_GROUPS % KEY_SIZES), c = (int)(i / (KEY_GROUPS * KEY_SIZES));

    if (first[i + 1])
      s->runs[s->nruns++] = (HopsLanesPatchRun){.color = c / HOPS_LANES_PATCH_NKINDS,
                                                .kind  = c % HOPS_LANES_PATCH_NKINDS,
                                                .size  = size,
                                                .group = group,
                                                .first = first[i],
                                                .n     = first[i + 1]};
    first[i + 1] += first[i];
  }
  for (PetscInt k = 0; k < in->n; ++k) s->order[first[key[k]]++] = k;
  PetscCall(PetscFree(first));
  PetscCall(PetscFree(key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* S with rows of an even length, lambda and what modes are, of each factor; at[] where they begin */
static PetscErrorCode Factors(const HopsLanesPatchInput *in, PetscInt at[], HopsLanesPatchSet s)
{
  PetscInt n = 0;
  double  *h;

  PetscFunctionBegin;
  for (PetscInt f = 0; f < in->nfactors; ++f) {
    const PetscInt m = in->fsize[f];

    at[f]      = n;
    s->nfactor = PetscMax(s->nfactor, (int)(m * ((m + 1) / 2 * 2 + 1)));
    n += (m * ((m + 1) / 2 * 2) + m + 1 + 3) / 4 * 4; /* 16 bytes in either precision */
  }
  PetscCheck(n < PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP, "The 1D factors have %" PetscInt_FMT " entries: use more ranks",
             n);
  PetscCall(PetscCalloc1(n, &h));
  for (PetscInt f = 0; f < in->nfactors; ++f) {
    const PetscInt   m = in->fsize[f], row = (m + 1) / 2 * 2;
    const PetscReal *S = in->values + in->foffset[f];

    for (PetscInt i = 0; i < m; ++i) {
      for (PetscInt j = 0; j < m; ++j) h[at[f] + i * row + j] = S[i * m + j];
      h[at[f] + m * row + i] = S[m * m + i];
    }
    h[at[f] + m * row + m] = in->feven && in->feven[f];
  }
  PetscCall(HopsLanesNumbersToBack(s->kernels->backend, n, in->single, h, &s->values));
  PetscCall(PetscFree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Copies where the back end works ---- */

PetscErrorCode HopsLanesToBack(const HopsBackendOps *be, size_t n, const void *h, void *d)
{
  PetscFunctionBegin;
  *(void **)d = NULL;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*be->memory->Malloc)(n, (void **)d));
  PetscCall((*be->memory->Copy)(NULL, *(void **)d, h, n, HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As floats if `single` */
PetscErrorCode HopsLanesNumbersToBack(const HopsBackendOps *be, size_t n, PetscBool single, const double h[], void *d)
{
  float *f;

  PetscFunctionBegin;
  if (single) {
    PetscCall(PetscMalloc1(n, &f));
    for (size_t i = 0; i < n; ++i) f[i] = (float)h[i];
    PetscCall(HopsLanesToBack(be, n * sizeof(float), f, d));
    PetscCall(PetscFree(f));
  } else PetscCall(HopsLanesToBack(be, n * sizeof(double), h, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLanesModesToBack(const HopsBackendOps *be, const HopsPatchModes *m, HopsPatchModes *dm)
{
  const size_t nv = sizeof(double) * HopsPatchModesValues(m), nt = sizeof(int) * HopsPatchModesTable(m);

  PetscFunctionBegin;
  *dm = *m;
  PetscCall(HopsLanesToBack(be, nv, m->values, &dm->values));
  PetscCall(HopsLanesToBack(be, nt, m->list, &dm->list));
  PetscCall(HopsLanesToBack(be, nt, m->where, &dm->where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLanesModesFree(const HopsBackendOps *be, HopsPatchModes *dm)
{
  PetscFunctionBegin;
  PetscCall((*be->memory->Free)((void **)&dm->values));
  PetscCall((*be->memory->Free)((void **)&dm->list));
  PetscCall((*be->memory->Free)((void **)&dm->where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Sets ---- */

/* What condensed patches need */
static PetscErrorCode Condensed(const HopsLanesPatchInput *in, HopsLanesPatchSet s)
{
  const HopsBackendOps *be = s->kernels->backend;

  PetscFunctionBegin;
  if (!in->ncond) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < in->ncond; ++k) s->nskeleton = PetscMax(s->nskeleton, in->cond[k].n);
  PetscCall(HopsLanesModesToBack(be, in->modes, &s->modes));
  PetscCall(HopsLanesToBack(be, in->ncond * sizeof(HopsPatchCondensed), in->cond, &s->cond));
  s->schur = in->schur;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLanesPatchSetCreate(const HopsLanesPatchKernels *kernels, const HopsLanesPatchInput *in, HopsLanesPatchSet *set)
{
  const HopsBackendOps *be = kernels->backend;
  HopsLanesPatchSet     s;
  HopsLanesPatchRecord *rec;
  PetscInt             *at, *tat;
  const PetscInt        nent = in->n ? in->start[in->n] : 0;

  PetscFunctionBegin;
  PetscCheck(nent < PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP, "The patches have %" PetscInt_FMT " entries: use more ranks",
             nent);
  PetscCall(PetscNew(&s));
  s->kernels = kernels;
  s->dim     = in->dim;
  s->single  = in->single;
  s->nP      = in->nP;
  s->apart   = in->ncolors > 1 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscMalloc3(in->n, &rec, in->nfactors, &at, in->nfactors, &tat));
  PetscCall(Launches(in, s));
  PetscCall(Factors(in, at, s));
  PetscCall(HopsLanesPackSet(kernels, in, tat, &s->packed, &s->bytes));
  PetscCall(Condensed(in, s));
  for (int r = 0; r < s->nruns; ++r) {
    HopsLanesPatchRun *run = s->runs + r;

    for (PetscInt i = run->first; i < run->first + run->n; ++i) {
      const PetscInt k = s->order[i], n = in->start[k + 1] - in->start[k];

      rec[i].start = (int)in->start[k];
      rec[i].dense = run->kind >= HOPS_LANES_PATCH_DENSE ? (size_t)in->dense[k] : 0;
      for (int a = 0; a < 3; ++a) {
        rec[i].size[a] = in->size[k][a];
        rec[i].f[a]    = run->kind >= HOPS_LANES_PATCH_DENSE || a >= in->dim ? 0 : (int)at[in->factor[k][a]];
        rec[i].t[a]    = run->kind == HOPS_LANES_PATCH_CUBE && s->packed ? (int)tat[in->factor[k][a]] : 0;
      }
      for (int a = 0; a < 5; ++a) rec[i].scale[a] = in->scale[k][a];
      run->entries = PetscMax(run->entries, (int)n);
      s->flops += HopsLanesPatchFlops(kernels, in, k);
    }
  }
  PetscCall(HopsLanesToBack(be, in->n * sizeof(*rec), rec, &s->patches));
  s->idx = in->didx;
  if (!s->idx) {
    PetscCall(HopsLanesToBack(be, nent * sizeof(int), in->idx, &s->ownidx));
    s->idx = s->ownidx;
  }
  if (in->dist && in->level) {
    PetscCall(HopsLanesToBack(be, nent, in->dist, &s->dist));
    PetscCall(HopsLanesToBack(be, in->nP * sizeof(int), in->level, &s->level));
  }
  s->inv = in->made;
  if (!s->inv) PetscCall(HopsLanesToBack(be, in->ninv * sizeof(double), in->inv, &s->inv));
  if (!s->apart && kernels->Mark) PetscCall((*kernels->Mark)(s, in->n, nent));
  s->bytes += in->n * sizeof(*rec) + 5.0 * nent + 8.0 * in->ninv;
  PetscCall(PetscFree3(rec, at, tat));
  *set = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLanesPatchSetApply(HopsLanesPatchSet s, int color, HopsPatchMode mode, PetscBool floats, const void *r, void *z)
{
  PetscFunctionBegin;
  PetscCheck(mode == HOPS_PATCH_PLAIN || s->level || !s->nruns, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The patches were given without distances");
  PetscCheck(!floats || s->single, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "Vectors in single precision need patches in single precision");
  for (int i = 0; i < s->nruns; ++i)
    if (color < 0 || s->runs[i].color == color)
      PetscCall((*s->kernels->Solve)(s, s->runs + i, color < 0 && !s->apart ? PETSC_TRUE : PETSC_FALSE, mode, floats, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLanesPatchSetDestroy(HopsLanesPatchSet *set)
{
  HopsLanesPatchSet    s = *set;
  const HopsMemoryOps *memory;

  PetscFunctionBegin;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  memory = s->kernels->backend->memory;
  PetscCall((*memory->Free)((void **)&s->patches));
  PetscCall((*memory->Free)((void **)&s->ownidx));
  PetscCall((*memory->Free)((void **)&s->to));
  PetscCall((*memory->Free)((void **)&s->meets));
  PetscCall((*memory->Free)(&s->buffer));
  for (int r = 0; r < s->nruns; ++r) PetscCall(HopsLanesSharedFree(s->kernels->backend, &s->runs[r].shared));
  PetscCall((*memory->Free)((void **)&s->level));
  PetscCall((*memory->Free)((void **)&s->dist));
  PetscCall((*memory->Free)((void **)&s->values));
  PetscCall((*memory->Free)((void **)&s->packed));
  PetscCall((*memory->Free)((void **)&s->inv));
  PetscCall((*memory->Free)((void **)&s->cond));
  PetscCall(HopsLanesModesFree(s->kernels->backend, &s->modes));
  PetscCall(PetscFree(s->runs));
  PetscCall(PetscFree(s->order));
  PetscCall(PetscFree(*set));
  PetscFunctionReturn(PETSC_SUCCESS);
}
