/* CUDA: sets of patches, sorted into launches. */
#include <backend/cuda/runtime/cudaimpl.h>
#include "cudapatchset.h"
#include "cudapatchpack.h"

int HopsCudaPatchTensor = -1;

/* Patches of one launch have equal keys, which ascend by color, kind, size of a cube, and group */
#define KEY_SIZES  16
#define KEY_GROUPS 32

static PetscInt KeyOf(const HopsCudaPatchInput *in, PetscInt k)
{
  const int *n = in->size[k], condensed = in->condensed && in->condensed[k], dense = in->dense && in->dense[k] >= 0;
  const int  cube = !condensed && !dense && n[0] == n[1] && (in->dim == 2 || n[0] == n[2]) && n[0] % 2 && n[0] < KEY_SIZES;
  const int  kind =
    condensed ? HOPS_CUDA_PATCH_CONDENSED : (dense ? HOPS_CUDA_PATCH_DENSE : (cube ? HOPS_CUDA_PATCH_CUBE : HOPS_CUDA_PATCH_BRICK));

  return ((in->color[k] * HOPS_CUDA_PATCH_NCLASSES + kind) * KEY_SIZES + (cube ? n[0] : 0)) * KEY_GROUPS +
         (in->group ? in->group[k] : 0);
}

/* The patches in order of their keys, and the launches, which know no more of their patches than what the key
   says */
static PetscErrorCode Launches(const HopsCudaPatchInput *in, HopsCudaPatchSet s)
{
  const PetscInt nkeys = PetscMax(1, in->ncolors) * HOPS_CUDA_PATCH_NCLASSES * KEY_SIZES * KEY_GROUPS;
  PetscInt      *first, *key;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(in->n, &key));
  PetscCall(PetscCalloc1(nkeys + 1, &first));
  for (PetscInt k = 0; k < in->n; ++k) {
    PetscCheck(in->color[k] >= 0 && in->color[k] < PetscMax(1, in->ncolors), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "Patch %" PetscInt_FMT " has the colour %d", k, in->color[k]);
    PetscCheck(!in->group || in->group[k] < KEY_GROUPS, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Patch %" PetscInt_FMT " is in group %d, of less than %d", k, in->group[k], KEY_GROUPS);
    key[k] = KeyOf(in, k);
    ++first[key[k] + 1];
  }
  for (PetscInt i = 0; i < nkeys; ++i) s->nruns += first[i + 1] > 0;
  PetscCall(PetscMalloc1(s->nruns, &s->runs));
  PetscCall(PetscMalloc1(in->n, &s->order));
  s->nruns = 0;
  for (PetscInt i = 0; i < nkeys; ++i) {
    const int group = (int)(i % KEY_GROUPS), size = (int)(i / KEY_GROUPS % KEY_SIZES), c = (int)(i / (KEY_GROUPS * KEY_SIZES));

    if (first[i + 1])
      s->runs[s->nruns++] =
        (HopsCudaPatchRun){c / HOPS_CUDA_PATCH_NCLASSES, c % HOPS_CUDA_PATCH_NCLASSES, size, group, 0, first[i], first[i + 1]};
    first[i + 1] += first[i];
  }
  for (PetscInt k = 0; k < in->n; ++k) s->order[first[key[k]]++] = k;
  PetscCall(PetscFree(first));
  PetscCall(PetscFree(key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* S with rows of an even length and lambda, of each factor; at[] where they begin */
static PetscErrorCode Factors(const HopsCudaPatchInput *in, PetscInt at[], void **values)
{
  PetscInt n = 0;
  double  *h;

  PetscFunctionBegin;
  for (PetscInt f = 0; f < in->nfactors; ++f) {
    const PetscInt m = in->fsize[f];

    at[f] = n;
    n += (m * ((m + 1) / 2 * 2) + m + 3) / 4 * 4; /* 16 bytes in either precision */
  }
  PetscCheck(n < PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The 1D factors have %" PetscInt_FMT " entries: use more devices", n);
  PetscCall(PetscCalloc1(n, &h));
  for (PetscInt f = 0; f < in->nfactors; ++f) {
    const PetscInt   m = in->fsize[f], row = (m + 1) / 2 * 2;
    const PetscReal *S = in->values + in->foffset[f];

    for (PetscInt i = 0; i < m; ++i) {
      for (PetscInt j = 0; j < m; ++j) h[at[f] + i * row + j] = S[i * m + j];
      h[at[f] + m * row + i] = S[m * m + i];
    }
  }
  PetscCall(HopsCudaNumbersToDevice(n, in->single, h, values));
  PetscCall(PetscFree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaPatchHasTensor(PetscBool *has)
{
  int device, major;

  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  *has = major == 9 ? PETSC_TRUE : PETSC_FALSE; /* others have other shapes or rates, which were not tried */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* S^T and S of each factor for tensor cores, of the sizes that have such kernels; at[] where they begin */
static PetscErrorCode Packed(const HopsCudaPatchInput *in, PetscInt at[], double **packed, PetscLogDouble *bytes)
{
  PetscInt64 n = 0;
  double    *h;
  PetscBool  has;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(at, in->nfactors));
  PetscCall(HopsCudaPatchHasTensor(&has));
  if (!has || in->dim != 3 || in->single) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt f = 0; f < in->nfactors; ++f) {
    at[f] = (PetscInt)n;
    if (HOPS_CUDA_TENSOR_HAS(in->fsize[f])) n += 2 * HOPS_CUDA_TENSOR_SIZE(in->fsize[f], in->fsize[f]);
  }
  PetscCheck(n < PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The 1D factors have %" PetscInt64_FMT " entries: use more devices", n);
  PetscCall(PetscMalloc1(n, &h));
  for (PetscInt f = 0; f < in->nfactors; ++f) {
    const int        m = in->fsize[f];
    const PetscReal *S = in->values + in->foffset[f];

    if (!HOPS_CUDA_TENSOR_HAS(m)) continue;
    HopsCudaTensorPack(m, m, S, m, 1, h + at[f]);
    HopsCudaTensorPack(m, m, S, 1, m, h + at[f] + HOPS_CUDA_TENSOR_SIZE(m, m));
  }
  PetscCall(HopsCudaToDevice(n * sizeof(double), h, packed));
  *bytes += (double)n * sizeof(double);
  PetscCall(PetscFree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What condensed patches need */
static PetscErrorCode Condensed(const HopsCudaPatchInput *in, HopsCudaPatchSet s)
{
  const HopsPatchModes *m = in->modes;

  PetscFunctionBegin;
  if (!in->ncond) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < in->ncond; ++k) s->nskeleton = PetscMax(s->nskeleton, in->cond[k].n);
  PetscCall(HopsCudaModesToDevice(m, &s->modes));
  PetscCall(HopsCudaToDevice(in->ncond * sizeof(HopsPatchCondensed), in->cond, &s->cond));
  s->schur = in->schur;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaModesToDevice(const HopsPatchModes *m, HopsPatchModes *dm)
{
  const size_t nv = sizeof(double) * m->n * (m->n + 3), nt = sizeof(int) * 8 * m->nodes;

  PetscFunctionBegin;
  *dm = *m;
  PetscCall(HopsCudaToDevice(nv, m->values, &dm->values));
  PetscCall(HopsCudaToDevice(nt, m->list, &dm->list));
  PetscCall(HopsCudaToDevice(nt, m->where, &dm->where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaModesFree(HopsPatchModes *dm)
{
  PetscFunctionBegin;
  PetscCall(HopsFree_CUDA((void **)&dm->values));
  PetscCall(HopsFree_CUDA((void **)&dm->list));
  PetscCall(HopsFree_CUDA((void **)&dm->where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaPatchSetCreate(const HopsCudaPatchInput *in, HopsCudaPatchSet *set)
{
  HopsCudaPatchSet     s;
  HopsCudaPatchRecord *rec;
  PetscInt            *at, *tat;
  const PetscInt       nent = in->n ? in->start[in->n] : 0;

  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCheck(nent < PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The patches have %" PetscInt_FMT " entries: use more devices", nent);
  PetscCall(PetscNew(&s));
  s->dim    = in->dim;
  s->single = in->single;
  s->nP     = in->nP;
  PetscCall(PetscMalloc3(in->n, &rec, in->nfactors, &at, in->nfactors, &tat));
  PetscCall(Launches(in, s));
  PetscCall(Factors(in, at, &s->values));
  PetscCall(Packed(in, tat, &s->packed, &s->bytes));
  PetscCall(Condensed(in, s));
  for (int r = 0; r < s->nruns; ++r) {
    HopsCudaPatchRun *run = s->runs + r;

    for (PetscInt i = run->first; i < run->first + run->n; ++i) {
      const PetscInt k = s->order[i], n = in->start[k + 1] - in->start[k];

      rec[i].start = (int)in->start[k];
      rec[i].dense = run->kind >= HOPS_CUDA_PATCH_DENSE ? (size_t)in->dense[k] : 0;
      for (int a = 0; a < 3; ++a) {
        rec[i].size[a] = in->size[k][a];
        rec[i].f[a]    = run->kind >= HOPS_CUDA_PATCH_DENSE || a >= in->dim ? 0 : (int)at[in->factor[k][a]];
        rec[i].t[a]    = run->kind == HOPS_CUDA_PATCH_CUBE && s->packed ? (int)tat[in->factor[k][a]] : 0;
      }
      for (int a = 0; a < 5; ++a) rec[i].scale[a] = in->scale[k][a];
      run->entries = PetscMax(run->entries, (int)n);
      if (run->kind == HOPS_CUDA_PATCH_DENSE) s->flops += 2.0 * n * n;
      else if (run->kind == HOPS_CUDA_PATCH_CONDENSED) s->flops += HopsPatchCondensedFlops(in->modes, in->cond + in->dense[k]);
      else {
        for (int a = 0; a < in->dim; ++a) s->flops += 4.0 * n * in->size[k][a];
        s->flops += 6.0 * n;
      }
    }
  }
  PetscCall(HopsCudaToDevice(in->n * sizeof(*rec), rec, &s->patches));
  s->idx = in->didx;
  if (!s->idx) {
    PetscCall(HopsCudaToDevice(nent * sizeof(int), in->idx, &s->ownidx));
    s->idx = s->ownidx;
  }
  if (in->dist && in->level) {
    PetscCall(HopsCudaToDevice(nent, in->dist, &s->dist));
    PetscCall(HopsCudaToDevice(in->nP * sizeof(int), in->level, &s->level));
  }
  s->inv = in->made;
  if (!s->inv) PetscCall(HopsCudaToDevice(in->ninv * sizeof(double), in->inv, &s->inv));
  s->bytes += in->n * sizeof(*rec) + 5.0 * nent + 8.0 * in->ninv;
  PetscCall(PetscFree3(rec, at, tat));
  *set = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaPatchSetApply(HopsCudaPatchSet s, int color, HopsCudaPatchMode mode, const double r[], double z[],
                                     cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCheck(mode == HOPS_CUDA_PATCH_PLAIN || s->level || !s->nruns, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The patches were given without distances");
  for (int i = 0; i < s->nruns; ++i)
    if (color < 0 || s->runs[i].color == color)
      PetscCall(HopsCudaPatchSetLaunch(s, s->runs + i, color < 0 ? PETSC_TRUE : PETSC_FALSE, mode, r, z, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaPatchSetDestroy(HopsCudaPatchSet *set)
{
  HopsCudaPatchSet s = *set;

  PetscFunctionBegin;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaFree(s->patches));
  PetscCallCUDA(cudaFree(s->ownidx));
  PetscCallCUDA(cudaFree(s->level));
  PetscCallCUDA(cudaFree(s->dist));
  PetscCallCUDA(cudaFree(s->values));
  PetscCallCUDA(cudaFree(s->packed));
  PetscCallCUDA(cudaFree(s->inv));
  PetscCallCUDA(cudaFree(s->cond));
  PetscCall(HopsCudaModesFree(&s->modes));
  PetscCall(PetscFree(s->runs));
  PetscCall(PetscFree(s->order));
  PetscCall(PetscFree(*set));
  PetscFunctionReturn(PETSC_SUCCESS);
}
