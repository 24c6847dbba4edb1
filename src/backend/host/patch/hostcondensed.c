/* Host back end: condensed patches, those of equal cells side by side. In double precision, whatever that of
   the vectors is. */
#include <backend/host/runtime/hostimpl.h>
#include <hops/private/hopspatchimpl.h>
#include <hops/private/hopsblas.h>

struct _HopsHostCondensedKernel {
  const HopsHostKernels *ops;
  HopsPatches            patches;
  HopsHostModes          modes;
  double                *values;          /* of the modes */
  PetscInt               nbatch, *bstart; /* [ncolors+1] batches of a colour */
  HopsHostCondensed     *batch;
  PetscInt              *patch;                  /* [..] of all batches */
  double                *x, *e, *b, *y, *factor; /* scratch: vectors of nodes, nodes, skeleton, skeleton; factors of all batches */
  void                  *mem[2];
};

/* Patches in the order of their batches */
typedef struct {
  int      color, sides;
  PetscInt cond, patch;
} Entry;

static int EntryCompare(const void *a, const void *b)
{
  const Entry *x = (const Entry *)a, *y = (const Entry *)b;

  if (x->color != y->color) return x->color - y->color;
  if (x->sides != y->sides) return x->sides - y->sides;
  if (x->cond != y->cond) return x->cond < y->cond ? -1 : 1;
  return x->patch < y->patch ? -1 : 1;
}

/* Two or more equal patches make a batch, others are put together, with the inverses of each */
static PetscErrorCode Batches(HopsHostCondensedKernel k, PetscInt n, const Entry order[])
{
  HopsPatches    pt   = k->patches;
  const int      W    = k->ops->W;
  const PetscInt p    = pt->space->order;
  PetscInt       done = 0, *rest, nrest;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &rest));
  for (PetscInt s = 0, e; s < n; s = e) {
    PetscInt i = s, j;

    for (e = s; e < n && order[e].color == order[s].color && order[e].sides == order[s].sides; ++e) {}
    nrest = 0;
    while (i < e || nrest) {
      HopsHostCondensed *b = k->batch + k->nbatch;

      b->patch = k->patch + done;
      if (i < e) {
        for (j = i; j < e && order[j].cond == order[i].cond; ++j) {}
        if (j == i + 1) {
          rest[nrest++] = i++;
          continue;
        }
        b->inverse = pt->schur + pt->cond[order[i].cond].offset;
        for (; i < j && b->count < W; ++i) b->patch[b->count++] = order[i].patch;
        if (b->count == 1) b->inverse = NULL;
      } else
        while (nrest && b->count < W) b->patch[b->count++] = order[rest[--nrest]].patch;
      done += b->count;
      {
        const HopsPatchCondensed *c = pt->cond + pt->dense[b->patch[0]];

        b->nskel = (int)c->n;
        for (int a = 0; a < 3; ++a) {
          b->side[a] = c->side[a];
          b->size[a] = a >= pt->space->dim ? 1 : (int)(c->side[a] * (p - 1) + 1);
        }
      }
      b->skel                       = pt->modes.list + order[s].sides * pt->modes.nodes;
      k->bstart[order[s].color + 1] = ++k->nbatch;
    }
  }
  PetscCall(PetscFree(rest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cells' factors, lane by lane */
static PetscErrorCode SetUpFactors(HopsHostCondensedKernel k)
{
  const HopsPatches pt = k->patches;
  const int         W  = k->ops->W;

  PetscFunctionBegin;
  PetscCall(HopsHostAlloc((size_t)32 * W * k->nbatch, PETSC_FALSE, &k->mem[0], &k->factor));
  for (PetscInt i = 0; i < k->nbatch; ++i) {
    HopsHostCondensed *b = k->batch + i;

    b->factor = k->factor + (size_t)32 * W * i;
    for (int l = 0; l < W; ++l) {
      const HopsPatchCondensed *c = pt->cond + pt->dense[b->patch[PetscMin(l, b->count - 1)]];

      for (int f = 0; f < 32; ++f) b->factor[f * W + l] = c->d[f / 4][f % 4];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The modes as the kernels want them: rows for S^T, then for S */
static PetscErrorCode SetUpModes(HopsHostCondensedKernel k)
{
  HopsPatches            pt = k->patches;
  const HopsPatchFactor *f  = pt->factors + pt->cfactor;
  const PetscReal       *S  = pt->values + f->offset;
  const int              n = (int)f->n, Ne = (n + 1) / 2;
  double                *v;

  PetscFunctionBegin;
  PetscCheck(n <= HOPS_HOST_MAXLINE, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The host back end takes condensed patches up to order %d: lower the order, or use -pc_patchfd_condense_max 0",
             HOPS_HOST_MAXLINE + 1);
  PetscCall(PetscMalloc1(2 * n * n + 3 * n, &k->values));
  v        = k->values;
  k->modes = (HopsHostModes){.dim = (int)pt->space->dim, .n = n, .symmetric = f->symmetric};
  for (int t = 0; t < 2; ++t) {
    *(t ? &k->modes.back : &k->modes.to) = v;
    for (int part = 0; part < (f->symmetric ? 2 : 1); ++part) {
      const int m = !f->symmetric ? n : (part ? n / 2 : Ne), first = part ? Ne : 0;

      for (int r = 0; r < m; ++r)
        for (int c = 0; c < m; ++c) *v++ = t ? S[r * n + first + c] : S[c * n + first + r];
    }
  }
  k->modes.lambda = v;
  k->modes.alpha  = v + n;
  k->modes.mu     = v + 2 * n;
  PetscCall(PetscArraycpy(v, S + n * n, n));
  PetscCall(PetscArraycpy(v + n, pt->alpha, n));
  PetscCall(PetscArraycpy(v + 2 * n, pt->mu, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostCondensedCreate(HopsPatches pt, const HopsHostKernels *ops, PetscLogDouble cflops[], PetscLogDouble *bytes,
                                       HopsHostCondensedKernel *kernel)
{
  const PetscInt dim = pt->space->dim, p = pt->space->order, ncolors = PetscMax(1, pt->ncolors), nodes = HopsPower(2 * p - 1, dim);
  const int      W = ops->W;
  HopsHostCondensedKernel k;
  Entry                  *order;
  PetscInt                n = 0;

  PetscFunctionBegin;
  *kernel = NULL;
  if (!pt->ncond) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&k));
  k->ops     = ops;
  k->patches = pt;
  PetscCall(SetUpModes(k));
  PetscCall(PetscMalloc1(pt->n, &order));
  for (PetscInt i = 0; i < pt->n; ++i) {
    const double              total = (double)(pt->start[i + 1] - pt->start[i]);
    double                    cells = 1.0;
    const HopsPatchCondensed *c;

    if (pt->solver[i] != HOPS_PATCH_CONDENSED) continue;
    c          = pt->cond + pt->dense[i];
    order[n++] = (Entry){pt->color[i], HopsPatchShape(c), pt->dense[i], i};
    for (PetscInt a = 0; a < dim; ++a) {
      cells *= c->side[a];
      cflops[pt->color[i]] +=
        2 * (total / pt->size[i][a]) * c->side[a] * (p - 1) * ((k->modes.symmetric ? 1.0 : 2.0) * (p - 1) + 2);
    }
    cflops[pt->color[i]] += cells * HopsPower(p - 1, dim) * (6.0 * dim + 4) + 2.0 * c->n * c->n;
  }
  if (n) qsort(order, n, sizeof(Entry), EntryCompare);
  PetscCall(PetscCalloc1(n, &k->batch));
  PetscCall(PetscMalloc1(n, &k->patch));
  PetscCall(PetscCalloc1(ncolors + 1, &k->bstart));
  PetscCall(HopsHostAlloc((size_t)4 * W * nodes, PETSC_TRUE, &k->mem[1], &k->x)); /* lanes without a patch multiply what is there */
  k->e = k->x + W * nodes;
  k->b = k->e + W * nodes;
  k->y = k->b + W * nodes;
  PetscCall(Batches(k, n, order));
  PetscCall(PetscRealloc(k->nbatch * sizeof(*k->batch), &k->batch));
  PetscCall(SetUpFactors(k));
  for (PetscInt c = 0; c < ncolors; ++c) k->bstart[c + 1] = PetscMax(k->bstart[c + 1], k->bstart[c]);
  *bytes += pt->nschur * sizeof(PetscReal) + (double)k->nbatch * 32 * W * sizeof(double);
  PetscCall(PetscFree(order));
  *kernel = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z += corrections; r and z are arrays of floats if `single` */
PetscErrorCode HopsHostCondensedApply(HopsHostCondensedKernel k, PetscInt c0, PetscInt c1, HopsPatchMode mode, PetscBool single,
                                      const void *r, void *z)
{
  HopsPatches pt = k ? k->patches : NULL;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = k->bstart[c0]; i < k->bstart[c1]; ++i) {
    const HopsHostCondensed *b = k->batch + i;
    const int                W = k->ops->W, n = b->size[0] * b->size[1] * b->size[2];

    for (int l = 0; l < W; ++l) {
      const PetscInt       at   = l < b->count ? pt->start[b->patch[l]] : 0;
      const int           *idx  = pt->idx + at;
      const unsigned char *dist = pt->dist ? pt->dist + at : NULL;

      if (l >= b->count || (mode == HOPS_PATCH_RESTRICT_IN)) {
        for (int j = 0; j < n; ++j) k->x[j * W + l] = 0.0;
        if (l >= b->count) continue;
        for (int j = 0; j < n; ++j)
          if (pt->level[idx[j]] == dist[j])
            k->x[j * W + l] = single ? (double)((const float *)r)[idx[j]] : ((const double *)r)[idx[j]];
      } else if (single) {
        for (int j = 0; j < n; ++j) k->x[j * W + l] = ((const float *)r)[idx[j]];
      } else
        for (int j = 0; j < n; ++j) k->x[j * W + l] = ((const double *)r)[idx[j]];
    }
    (*k->ops->condense)(&k->modes, b, k->x, k->e, k->b);
    if (b->inverse) (*k->ops->skeleton)(b->nskel, b->inverse, k->b, k->y);
    else
      for (int l = 0; l < b->count; ++l) {
        const PetscReal one = 1.0, zero = 0.0;
        PetscBLASInt    bn, inc         = W;

        PetscCall(PetscBLASIntCast(b->nskel, &bn));
        PetscCallBLAS("BLASgemv", HopsBLASgemv("T", &bn, &bn, &one, pt->schur + pt->cond[pt->dense[b->patch[l]]].offset, &bn,
                                               k->b + l, &inc, &zero, k->y + l, &inc));
      }
    (*k->ops->expand)(&k->modes, b, k->x, k->e, k->y);
    for (int l = 0; l < b->count; ++l) {
      const PetscInt       at    = pt->start[b->patch[l]];
      const double         scale = pt->scale[b->patch[l]][4];
      const int           *idx   = pt->idx + at;
      const unsigned char *dist  = pt->dist ? pt->dist + at : NULL;

      for (int j = 0; j < n; ++j) {
        if (mode == HOPS_PATCH_RESTRICT_OUT && pt->level[idx[j]] != dist[j]) continue;
        if (single) ((float *)z)[idx[j]] += (float)(scale * k->x[j * W + l]);
        else ((double *)z)[idx[j]] += scale * k->x[j * W + l];
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostCondensedDestroy(HopsHostCondensedKernel *kernel)
{
  HopsHostCondensedKernel k = *kernel;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 2; ++i) PetscCall(PetscFree(k->mem[i]));
  PetscCall(PetscFree(k->values));
  PetscCall(PetscFree(k->batch));
  PetscCall(PetscFree(k->patch));
  PetscCall(PetscFree(k->bstart));
  PetscCall(PetscFree(*kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}
