/* The patches of a HopsSpace on back ends that launch kernels for teams of lanes. */
#include <backend/lanes/runtime/laneslog.h>
#include "lanespatch.h"

typedef struct _HopsLanesPatches *HopsLanesPatches;
struct _HopsLanesPatches {
  struct _HopsPatchSmoother    head;
  const HopsLanesPatchKernels *kernels;
  HopsLanesPatchSet            set;
  PetscInt                     ncolors;
  PetscBool                    fuse;
  HopsLanesSweepData           sweep;
  HopsLanesSweepRecord        *records; /* device, as are the next two */
  void                        *values, *work;
  double                      *packed;
  PetscLogDouble              *cflops, *sflops;                      /* [ncolors] of local solves, of fused sweeps */
  PetscLogDouble               classflops[HOPS_LANES_SWEEP_CLASSES]; /* of a patch */
};

/* S^T M and S^T A on all nodes, and the functions of the two ends, of each factor (lanespatch.h); at[] where
   they begin, tat[] what tensor cores need */
static PetscErrorCode SweepFactors(HopsLanesPatches k, HopsPatches pt, PetscInt at[], PetscInt tat[])
{
  PetscInt64 n = 0;
  double    *h;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < pt->nfactors; ++i) {
    const PetscInt m = pt->factors[i].n, N = pt->factors[i].N;

    at[i] = (PetscInt)n;
    n += (m * ((m + 1) / 2 * 2) + m + 2 * m * N + 4 * m + 3) / 4 * 4;
    k->sweep.nfactor = PetscMax(k->sweep.nfactor, (int)(m * ((m + 1) / 2 * 2 + 1 + 2 * N)));
  }
  PetscCheck(n < PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The 1D factors have %" PetscInt64_FMT " entries: use more ranks", n);
  PetscCall(PetscCalloc1(n, &h));
  for (PetscInt i = 0; i < pt->nfactors; ++i) {
    const PetscInt   m = pt->factors[i].n, N = pt->factors[i].N, R = (m + 1) / 2 * 2;
    const PetscReal *S = pt->values + pt->factors[i].offset, *lambda = S + m * m, *A = lambda + m, *M = A + m * N;
    double          *hS = h + at[i], *hl = hS + m * R, *T = hl + m, *Ta = T + m * N, *alpha = Ta + m * N, *E = alpha + 2 * m;

    for (PetscInt r = 0; r < m; ++r) {
      for (PetscInt c = 0; c < m; ++c) hS[r * R + c] = S[r * m + c];
      hl[r] = lambda[r];
    }
    for (PetscInt r = 0; r < m; ++r)
      for (PetscInt c = 0; c < N; ++c)
        for (PetscInt j = 0; j < m; ++j) {
          T[r * N + c] += S[j * m + r] * M[j * N + c];
          Ta[r * N + c] += S[j * m + r] * A[j * N + c];
        }
    for (PetscInt e = 0; e < 2; ++e) {
      const PetscInt c = e ? N - 1 : 0;

      for (PetscInt r = 0; r < m; ++r) {
        alpha[e * m + r] = Ta[r * N + c] - lambda[r] * T[r * N + c];
        for (PetscInt j = 0; j < m; ++j) E[e * m + r] -= S[r * m + j] * T[j * N + c];
      }
    }
  }
  PetscCall(HopsLanesNumbersToBack(k->kernels->backend, n, k->set->single, h, &k->values));
  k->head.info.bytes += (double)n * (k->set->single ? sizeof(float) : sizeof(double));
  if (k->set->packed) PetscCall(HopsLanesPackSweep(k->kernels, pt, h, at, tat, &k->packed, &k->head.info.bytes));
  PetscCall(PetscFree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool Close(PetscReal a, PetscReal b)
{
  return PetscAbsReal(a - b) <= 1e-12 * PetscMax(PetscAbsReal(a), PetscAbsReal(b)) ? PETSC_TRUE : PETSC_FALSE;
}

/* Groups of patches, and what those of a class share */
static PetscErrorCode SetUpGroups(HopsLanesPatches k, HopsPatches pt, PetscBool single, unsigned char group[])
{
  const int dim = (int)pt->space->dim;
  PetscInt  first[HOPS_LANES_SWEEP_CLASSES]; /* a patch of each class */
  PetscInt  count    = 0;
  int       nclasses = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < pt->n; ++i) {
    const int *n = pt->size[i], *f = pt->factor[i];
    int        c = 0;

    group[i] = 1;
    for (int a = 0; a < dim; ++a)
      if (pt->esize[i][a] != n[a] + 2) group[i] = 0;
    if (!k->kernels->ClassCreate) continue;
    if (!group[i] || !pt->fused[pt->color[i]] || pt->estart[i] == pt->estart[i + 1]) continue;
    if (dim < 3 || n[0] != n[1] || n[0] != n[2] || n[0] % 2 == 0 || n[0] < 3 || n[0] > 15 || f[0] != f[1] || f[0] != f[2] ||
        !pt->factors[f[0]].symmetric || !Close(pt->scale[i][4] * pt->scale[i][5], 1.0))
      continue;
    for (; c < nclasses; ++c) {
      const PetscReal *s = pt->scale[i], *t = pt->scale[first[c]];

      if (pt->factor[first[c]][0] == f[0] && Close(s[0], t[0]) && Close(s[1], t[1]) && Close(s[2], t[2]) && Close(s[3], t[3]) &&
          Close(s[5], t[5]))
        break;
    }
    if (c == HOPS_LANES_SWEEP_CLASSES) continue;
    if (c == nclasses) first[nclasses++] = i;
    group[i] = (unsigned char)(2 + c);
    ++count;
  }
  PetscCall(PetscInfo(NULL, "%" PetscInt_FMT " of %" PetscInt_FMT " patches have one of %d sets of factors and coefficients\n",
                      count, pt->n, nclasses));
  for (int c = 0; c < nclasses; ++c) {
    const PetscInt         m = pt->size[first[c]][0], N = m + 2;
    const HopsPatchFactor *f = pt->factors + pt->factor[first[c]][0];
    const PetscReal       *A = pt->values + f->offset + m * m + m, *s = pt->scale[first[c]];
    PetscReal             *h, d[3];

    for (int a = 0; a < 3; ++a) d[a] = s[a] * s[5];
    PetscCall(PetscCalloc1(2 * N * N, &h)); /* the ends have no rows */
    PetscCall(PetscArraycpy(h + N, A, m * N));
    PetscCall(PetscArraycpy(h + N * N + N, A + m * N, m * N));
    PetscCall(
      (*k->kernels->ClassCreate)((m + 1) / 2, h, h + N * N, d, s[3] * s[5], single, &k->sweep.classes[c], &k->classflops[c]));
    PetscCall(PetscFree(h));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of scratch of a plain sweep of a patch */
static size_t SweepBytes(int dim, const int n[3], const int N[3], PetscBool single)
{
  const size_t N2 = dim == 3 ? N[2] : 1, n2 = dim == 3 ? n[2] : 1;

  return ((size_t)N[0] * N[1] * N2 + 2 * (size_t)n[0] * N[1] * N2 + 2 * (size_t)n[0] * n[1] * N2 +
          (dim == 3 ? (size_t)n[0] * n[1] * n2 : 0)) *
         (single ? sizeof(float) : sizeof(double));
}

/* What fused sweeps need, if there are any; plain sweeps of large patches get scratch in the back end's
   memory */
static PetscErrorCode SetUpSweeps(HopsLanesPatches k, HopsPatches pt, const unsigned char group[])
{
  const int             dim = (int)pt->space->dim;
  HopsLanesSweepRecord *rec;
  PetscInt             *at, *tat, next = pt->n ? pt->estart[pt->n] : 0;

  PetscFunctionBegin;
  PetscCheck(next < PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The cells of the patches have %" PetscInt_FMT " entries: use more ranks, or -pc_patchfd_fuse 0", next);
  if (!next) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc3(pt->n, &rec, pt->nfactors, &at, pt->nfactors, &tat));
  PetscCall(SweepFactors(k, pt, at, tat));
  for (PetscInt i = 0; i < pt->n; ++i) {
    const PetscInt j = k->set->order[i];

    if (pt->estart[j] == pt->estart[j + 1]) continue;
    rec[i].estart = (int)pt->estart[j];
    for (int a = 0; a < dim; ++a) {
      rec[i].f[a] = (int)at[pt->factor[j][a]];
      rec[i].t[a] = (int)tat[pt->factor[j][a]];
    }
    for (int a = 0; a < 3; ++a) rec[i].esize[a] = pt->esize[j][a];
    rec[i].s5    = pt->scale[j][5];
    rec[i].omega = pt->scale[j][4] * pt->scale[j][5];
    if (PetscAbsReal(rec[i].omega - 1.0) < 1e-13) rec[i].omega = 1.0;
    if (!pt->fused[pt->color[j]]) continue;
    if (group[j] > 1) {
      k->sflops[pt->color[j]] += k->classflops[group[j] - 2];
      continue;
    }
    k->sweep.nwork = PetscMax(k->sweep.nwork, SweepBytes(dim, pt->size[j], pt->esize[j], k->set->single));
    for (int a = 0; a < dim; ++a) { /* products of the window, and of the faces */
      const double n = pt->size[j][a], N = pt->esize[j][a], m = pt->start[j + 1] - pt->start[j];

      k->sflops[pt->color[j]] += 4.0 * m * n + 2.0 * m * 2 * 2 + 4.0 * N * N * n + 4.0 * N * n * n;
    }
    k->sflops[pt->color[j]] += 14.0 * (pt->start[j + 1] - pt->start[j]);
  }
  k->sweep.nwork *= k->kernels->group;
  if (k->kernels->group > 1) /* copies of factors */
    k->sweep.nwork += (size_t)3 * k->kernels->group * k->sweep.nfactor * (k->set->single ? sizeof(float) : sizeof(double));
  k->sweep.nwork = HOPS_LANES_PATCH_BYTES(k->sweep.nwork);
  if (k->sweep.nwork > (*k->kernels->MostScratch)()) {
    PetscCall((*k->kernels->SweepTeams)(&k->sweep.nteams));
    PetscCall((*k->kernels->backend->memory->Malloc)(k->sweep.nwork * k->sweep.nteams, &k->work));
  }
  PetscCall(HopsLanesToBack(k->kernels->backend, pt->n * sizeof(*rec), rec, &k->records));
  k->head.info.bytes += pt->n * sizeof(*rec) + next * sizeof(int);
  k->sweep.patches = k->records;
  k->sweep.eidx    = pt->eidx;
  k->sweep.values  = k->values;
  k->sweep.packed  = k->packed;
  k->sweep.work    = k->work;
  PetscCall(PetscFree3(rec, at, tat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LogFlops(HopsLanesPatches k, PetscInt color, const PetscLogDouble flops[])
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < k->ncolors; ++c)
    if (color < 0 || c == color) PetscCall(HopsLanesLogFlops(k->kernels->backend, flops[c]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Apply(HopsPatchSmoother smoother, PetscDataType type, PetscInt color, HopsPatchMode mode, const void *r,
                            void *z)
{
  HopsLanesPatches k = (HopsLanesPatches)smoother;

  PetscFunctionBegin;
  PetscCall(HopsLanesLogTimeBegin(k->kernels->backend));
  PetscCall(HopsLanesPatchSetApply(k->set, (int)color, mode, type == PETSC_FLOAT ? PETSC_TRUE : PETSC_FALSE, r, z));
  PetscCall(HopsLanesLogTimeEnd(k->kernels->backend));
  PetscCall(LogFlops(k, color, k->cflops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sweep(HopsPatchSmoother smoother, PetscDataType type, PetscInt color, const void *b, void *z)
{
  HopsLanesPatches k      = (HopsLanesPatches)smoother;
  const PetscBool  floats = type == PETSC_FLOAT ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCheck(!floats || k->set->single, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "Vectors in single precision need patches in single precision");
  PetscCall(HopsLanesLogTimeBegin(k->kernels->backend));
  for (int i = 0; i < k->set->nruns; ++i)
    if (k->set->runs[i].color == color) PetscCall((*k->kernels->Sweep)(k->set, &k->sweep, k->set->runs + i, floats, b, z));
  PetscCall(HopsLanesLogTimeEnd(k->kernels->backend));
  PetscCall(LogFlops(k, color, k->sflops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(HopsPatchSmoother *kernel)
{
  HopsLanesPatches k = (HopsLanesPatches)*kernel;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  for (int c = 0; c < HOPS_LANES_SWEEP_CLASSES; ++c)
    if (k->sweep.classes[c]) PetscCall((*k->kernels->ClassDestroy)(&k->sweep.classes[c]));
  PetscCall(HopsLanesPatchSetDestroy(&k->set));
  PetscCall((*k->kernels->backend->memory->Free)((void **)&k->records));
  PetscCall((*k->kernels->backend->memory->Free)(&k->values));
  PetscCall((*k->kernels->backend->memory->Free)((void **)&k->packed));
  PetscCall((*k->kernels->backend->memory->Free)(&k->work));
  PetscCall(PetscFree2(k->cflops, k->sflops));
  PetscCall(PetscFree(*kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsPatchOps HopsLanesPatchOps = {Apply, Sweep, Destroy};

/* Does a patch fit into a team's scratch? */
static PetscErrorCode CheckSize(HopsPatches pt, PetscInt i, PetscBool single, size_t most, int group)
{
  const PetscInt n    = pt->start[i + 1] - pt->start[i];
  PetscBool      odd  = pt->size[i][0] % 2 ? PETSC_TRUE : PETSC_FALSE;
  size_t         need = 2 * n * (single ? sizeof(float) : sizeof(double));

  PetscFunctionBegin;
  for (int a = 0; a < pt->space->dim; ++a) odd = odd && pt->size[i][a] == pt->size[i][0] ? PETSC_TRUE : PETSC_FALSE;
  if (pt->solver[i] == HOPS_PATCH_DENSE) need = n * sizeof(double);
  else if (pt->solver[i] == HOPS_PATCH_CONDENSED) need = HOPS_LANES_CONDENSED_BYTES(n, pt->cond[pt->dense[i]].n);
  else if (odd && pt->size[i][0] <= 15) need = 0;
  else if (group > 1) need *= 2; /* copies of factors */
  PetscCheck(need * group <= most, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A patch of %" PetscInt_FMT " unknowns is too large for the device: lower the order, choose -pc_patchfd_patch "
             "element%s or -pc_patchfd_precision single, or use -hops_backend host",
             n, pt->solver[i] == HOPS_PATCH_CONDENSED ? ", -pc_patchfd_condense_max 0" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the kernel is, and for how many of its patches there are kernels for the size */
static PetscErrorCode SetName(HopsLanesPatches k, PetscBool single)
{
  int ncubes = 0, ntensor = 0, nkernels = 0;

  PetscFunctionBegin;
  for (int i = 0; i < k->set->nruns; ++i) {
    nkernels += (int)k->set->runs[i].n;
    if (k->set->runs[i].kind != HOPS_LANES_PATCH_CUBE) continue;
    ncubes += (int)k->set->runs[i].n;
    if (k->set->packed && HopsLanesOnTensor(k->set->runs[i].size)) ntensor += (int)k->set->runs[i].n;
  }
  PetscCall(PetscSNPrintf(k->head.info.name, sizeof(k->head.info.name), "%s %s, %d%% of patches specialised",
                          k->kernels->backend->name, single ? "single" : "double",
                          nkernels ? (int)(100.0 * ncubes / nkernels) : 0));
  if (ntensor) {
    const size_t used = strlen(k->head.info.name);

    PetscCall(PetscSNPrintf(k->head.info.name + used, sizeof(k->head.info.name) - used, ", %d%% applied on tensor cores",
                            (int)(100.0 * ntensor / nkernels)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLanesPatchCreate(const HopsLanesPatchKernels *kernels, HopsPatches pt, PetscDataType type,
                                    HopsPatchSmoother *smoother)
{
  const PetscBool     single = type == PETSC_FLOAT ? PETSC_TRUE : PETSC_FALSE;
  const int           dim    = (int)pt->space->dim;
  HopsLanesPatchInput in     = {.dim      = dim,
                                .single   = single,
                                .n        = pt->n,
                                .ncolors  = PetscMax(1, pt->ncolors),
                                .nP       = pt->nP,
                                .nfactors = pt->nfactors,
                                .ninv     = pt->ninv};
  HopsLanesPatches    k;
  PetscReal(*scale)[5];
  int           *fsize;
  PetscInt      *foffset;
  unsigned char *group, *condensed, *feven;

  PetscFunctionBegin;
  PetscCall(PetscNew(&k));
  k->head.ops = &HopsLanesPatchOps;
  k->kernels  = kernels;
  *smoother   = &k->head;
  k->ncolors  = in.ncolors;
  k->fuse     = pt->fuse;
  PetscCall(PetscCalloc2(k->ncolors, &k->cflops, k->ncolors, &k->sflops));
  PetscCall(PetscMalloc6(pt->n, &scale, pt->nfactors, &fsize, pt->nfactors, &foffset, pt->n, &group, pt->n, &condensed,
                         pt->nfactors, &feven));
  for (PetscInt i = 0; i < pt->nfactors; ++i) {
    fsize[i]   = (int)pt->factors[i].n;
    foffset[i] = pt->factors[i].offset;
    feven[i]   = pt->factors[i].symmetric ? 1 : 0;
  }
  for (PetscInt i = 0; i < pt->n; ++i) {
    PetscCall(CheckSize(pt, i, single, (*kernels->MostScratch)(), kernels->group));
    condensed[i] = pt->solver[i] == HOPS_PATCH_CONDENSED;
    for (int a = 0; a < 5; ++a) scale[i][a] = pt->scale[i][a];
  }
  in.start     = pt->start;
  in.didx      = pt->idx;
  in.dist      = pt->dist;
  in.level     = pt->level;
  in.size      = (const int(*)[3])pt->size;
  in.factor    = (const int(*)[3])pt->factor;
  in.scale     = (const PetscReal(*)[5])scale;
  in.color     = pt->color;
  in.dense     = pt->dense;
  in.condensed = condensed;
  in.ncond     = pt->ncond;
  in.cond      = pt->cond;
  in.modes     = &pt->modes;
  in.schur     = pt->schur;
  in.made      = pt->inv;
  in.fsize     = fsize;
  in.foffset   = foffset;
  in.feven     = feven;
  in.values    = pt->values;
  in.group     = pt->fuse ? group : NULL;
  for (PetscInt i = 0; i < pt->n; ++i) k->cflops[pt->color[i]] += HopsLanesPatchFlops(kernels, &in, i);
  if (pt->fuse) PetscCall(SetUpGroups(k, pt, single, group));
  if (!kernels->backend->host && !kernels->ClassCreate)
    PetscCall(PetscInfo(pt->space, "Patches: the back end %s has no kernels on tensor cores, nor for cubes that share all\n",
                        kernels->backend->name));
  PetscCall(HopsLanesPatchSetCreate(kernels, &in, &k->set));
  k->head.info.bytes = k->set->bytes;
  k->head.info.flops = k->set->flops;
  pt->inv            = NULL; /* the set's */
  if (pt->fuse) PetscCall(SetUpSweeps(k, pt, group));
  PetscCall(SetName(k, single));
  PetscCall(PetscFree6(scale, fsize, foffset, group, condensed, feven));
  PetscFunctionReturn(PETSC_SUCCESS);
}
