/* Host back end: patches in batches of as many as a vector has lanes, and dense patches by BLAS. */
#include <backend/host/runtime/hostimpl.h>
#include <hops/private/hopspatchimpl.h>
#include <hops/private/hopsblas.h>

/* Patches in the order of their batches */
typedef struct {
  int      color, shape, f[3];
  PetscInt patch;
} Entry;

static int EntryCompare(const void *a, const void *b)
{
  const Entry *x = (const Entry *)a, *y = (const Entry *)b;

  if (x->color != y->color) return x->color - y->color;
  if (x->shape != y->shape) return x->shape - y->shape;
  for (int d = 0; d < 3; d++)
    if (x->f[d] != y->f[d]) return x->f[d] < y->f[d] ? -1 : 1;
  return x->patch < y->patch ? -1 : 1;
}

/* Shape of a patch: its sizes, and distances of its entries, if there are any; dist[] of the first of each
   shape serves all */
static PetscErrorCode FindShape(HopsPatches pt, PetscInt k, PetscInt *nshapes, PetscInt shapes[], int *shape)
{
  const PetscInt n = pt->start[k + 1] - pt->start[k];

  PetscFunctionBegin;
  for (*shape = 0; *shape < *nshapes; ++*shape) {
    const PetscInt j    = shapes[*shape];
    PetscBool      same = PETSC_TRUE;

    if (pt->size[j][0] != pt->size[k][0] || pt->size[j][1] != pt->size[k][1] || pt->size[j][2] != pt->size[k][2]) continue;
    if (pt->esize[j][0] != pt->esize[k][0] || pt->esize[j][1] != pt->esize[k][1] || pt->esize[j][2] != pt->esize[k][2]) continue;
    if (pt->dist) PetscCall(PetscArraycmp(pt->dist + pt->start[j], pt->dist + pt->start[k], n, &same));
    if (same) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(*nshapes < 1024, PETSC_COMM_SELF, PETSC_ERR_PLIB, "More than 1024 shapes of patches");
  shapes[(*nshapes)++] = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void SetReal(HopsPatchKernel k, size_t i, double v)
{
  if (k->single) ((float *)k->reals)[i] = (float)v;
  else ((double *)k->reals)[i] = v;
}

static size_t Half(int n, int N)
{
  return (size_t)((n + 1) / 2) * ((N + 1) / 2) + (size_t)(n / 2) * (N / 2);
}

/* S^T, S, lambda, and for fused sweeps A and M on all N nodes */
static size_t FactorSize(int kind, int n, int N, int lanes)
{
  if (kind == HOPS_HOST_PATCH_SYMMETRIC) return 2 * Half(n, n) + n + 2 * Half(n, N);
  return ((size_t)2 * n * n + n + 2 * n * N) * (kind == HOPS_HOST_PATCH_VARYING ? lanes : 1);
}

/* S^T, S and lambda of a factor at reals[at + .. * stride] */
static void FillFactor(HopsPatchKernel k, int factor, int kind, size_t at, int stride)
{
  const HopsPatchFactor *f = k->patches->factors + factor;
  const double          *S = k->patches->values + f->offset;
  const int              n = (int)f->n, Ne = (n + 1) / 2, No = n / 2;

  for (int t = 0; t < 2; t++) { /* t = 0: rows are modes */
    if (kind == HOPS_HOST_PATCH_SYMMETRIC) {
      for (int r = 0; r < Ne; r++)
        for (int c = 0; c < Ne; c++) SetReal(k, at++, t ? S[r * n + c] : S[c * n + r]);
      for (int r = 0; r < No; r++)
        for (int c = 0; c < No; c++) SetReal(k, at++, t ? S[r * n + Ne + c] : S[c * n + Ne + r]);
    } else {
      for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++, at += stride) SetReal(k, at, t ? S[r * n + c] : S[c * n + r]);
    }
  }
  for (int i = 0; i < n; i++, at += stride) SetReal(k, at, S[n * n + i]);
  for (int t = 0; t < 2 && k->patches->fuse; t++) { /* A, then M */
    const int     N = (int)f->N, Nh = (N + 1) / 2;
    const double *A = S + n * n + n + t * n * N;

    if (kind == HOPS_HOST_PATCH_SYMMETRIC) {
      for (int i = 0; i < Ne; i++)
        for (int j = 0; j < Nh; j++) SetReal(k, at++, j == N - 1 - j ? A[i * N + j] : 0.5 * (A[i * N + j] + A[i * N + N - 1 - j]));
      for (int i = 0; i < No; i++)
        for (int j = 0; j < N / 2; j++) SetReal(k, at++, 0.5 * (A[i * N + j] - A[i * N + N - 1 - j]));
    } else
      for (int i = 0; i < n * N; i++, at += stride) SetReal(k, at, A[i]);
  }
}

/* Flops of a batch's patch: contractions, reciprocals, and the sum into z */
static double PatchFlops(int dim, const int size[3], int kind)
{
  const double total = (double)size[0] * size[1] * (dim == 3 ? size[2] : 1);
  double       f     = total * (dim == 3 ? 8 : 6);

  for (int d = 0; d < dim; d++) {
    const int    n = size[d], Ne = (n + 1) / 2, No = n / 2;
    const double line =
      kind == HOPS_HOST_PATCH_SYMMETRIC ? 2.0 * No + Ne * (2.0 * Ne - 1) + No * (2.0 * No - 1) : n * (2.0 * n - 1);

    f += 2 * (total / n) * line;
  }
  return f;
}

/* Flops of a fused sweep's residual */
static double ResidualFlops(int dim, const int n[3], const int N[3], int kind)
{
  const double nz = dim == 3 ? N[2] : 1, np = (double)n[0] * n[1];
  double       row[3] = {0.0, 0.0, 0.0};

  for (int d = 0; d < dim; d++)
    row[d] = kind == HOPS_HOST_PATCH_SYMMETRIC ? 2.0 * (N[d] / 2) + 2.0 * Half(n[d], N[d]) : n[d] * (2.0 * N[d] - 1);
  return nz * (2 * N[1] * row[0] + 3 * n[0] * row[1] + 5 * np) + (dim == 3 ? 2 * np * row[2] + 4 * np * n[2] : 2 * np);
}

/* A pass over the patches, in the order of their batches: what is stored so far, or will be */
typedef struct {
  HopsPatchKernel k;
  const Entry    *order;
  size_t          nidx, nreal;    /* indices and reals */
  size_t (*factorat)[2];          /* [nfactors] where a shared factor is, 0 if nowhere: full, symmetric */
  PetscInt begin, end, next, run; /* entries of one color and shape; the next one, and the end of its run of equal factors */
  PetscInt nrest, *rest;          /* entries of this shape whose runs are short */
} Pass;

/* Patches of the next batch: as many of a run as there are lanes, or, after all runs, what was too short */
static int NextPatches(Pass *p, PetscInt list[], int *kind)
{
  HopsPatches  pt    = p->k->patches;
  const Entry *order = p->order;
  const int    L     = p->k->lanes;
  int          m     = 0;

  *kind = HOPS_HOST_PATCH_SHARED;
  while (p->next < p->end) {
    const int *f = order[p->next].f;

    for (p->run = PetscMax(p->next, p->run);
         p->run < p->end && order[p->run].f[0] == f[0] && order[p->run].f[1] == f[1] && order[p->run].f[2] == f[2]; ++p->run) {}
    if (p->run - p->next < L && !(p->next == p->begin && p->run == p->end)) {
      while (p->next < p->run) p->rest[p->nrest++] = p->next++;
      continue;
    }
    while (m < L && p->next < p->run) list[m++] = order[p->next++].patch;
    *kind = HOPS_HOST_PATCH_SYMMETRIC;
    for (int d = 0; d < p->k->dim; ++d)
      if (!pt->factors[pt->factor[list[0]][d]].symmetric) *kind = HOPS_HOST_PATCH_SHARED;
    return m;
  }
  while (m < L && p->nrest) list[m++] = order[p->rest[--p->nrest]].patch;
  for (int l = 1; l < m; ++l)
    for (int d = 0; d < p->k->dim; ++d)
      if (pt->factor[list[l]][d] != pt->factor[list[0]][d]) *kind = HOPS_HOST_PATCH_VARYING;
  return m;
}

/* Indices and scales of m patches, lane by lane; lanes without a patch repeat the last one's scales, and read
   and write nothing */
static void StoreEntries(Pass *p, const PetscInt list[], int m, int kind, HopsHostPatchBatch *b)
{
  HopsPatchKernel k  = p->k;
  HopsPatches     pt = k->patches;
  const int       L = k->lanes, color = p->order[p->begin].color;
  const int      *size = pt->size[list[0]], *es = pt->esize[list[0]];
  const int       total = size[0] * size[1] * size[2], etotal = es[0] * es[1] * es[2];

  if (b) {
    b->kind  = kind;
    b->idx   = p->nidx;
    b->eidx  = p->nidx + (size_t)total * L;
    b->scale = p->nreal;
    for (int d = 0; d < 3; ++d) {
      b->size[d]  = size[d];
      b->esize[d] = es[d];
    }
    for (int i = 0; i < total; ++i)
      for (int l = 0; l < L; ++l) k->idx[b->idx + (size_t)i * L + l] = l < m ? pt->idx[pt->start[list[l]] + i] : (int)(pt->nP - 1);
    for (int i = 0; i < etotal; ++i)
      for (int l = 0; l < L; ++l)
        k->idx[b->eidx + (size_t)i * L + l] = l < m ? pt->eidx[pt->estart[list[l]] + i] : (int)(pt->nP - 1);
    for (int a = 0; a < 6; ++a)
      for (int l = 0; l < L; ++l) SetReal(k, b->scale + (size_t)a * L + l, pt->scale[list[PetscMin(l, m - 1)]][a]);
    k->cflops[color] += m * PatchFlops(k->dim, size, kind);
    if (etotal) k->sflops[color] += m * ResidualFlops(k->dim, size, es, kind);
    k->nshared += kind != HOPS_HOST_PATCH_VARYING;
  }
  p->nidx += (size_t)(total + etotal) * L;
  p->nreal += 6 * L;
}

/* Factors of m patches: lane by lane where they differ, else once for all batches that have them */
static void StoreFactors(Pass *p, const PetscInt list[], int m, int kind, HopsHostPatchBatch *b)
{
  HopsPatchKernel k  = p->k;
  HopsPatches     pt = k->patches;
  const int       L  = k->lanes;

  for (int d = 0; d < k->dim; ++d) {
    const int    f = pt->factor[list[0]][d], n = pt->size[list[0]][d];
    const size_t size = (FactorSize(kind, n, pt->fuse ? (int)pt->factors[f].N : 0, L) + L - 1) / L * L;

    if (kind == HOPS_HOST_PATCH_VARYING) {
      if (b) {
        b->matrix[d] = p->nreal;
        for (int l = 0; l < L; ++l) FillFactor(k, pt->factor[list[PetscMin(l, m - 1)]][d], kind, p->nreal + l, L);
      }
      p->nreal += size;
    } else {
      size_t *at = &p->factorat[f][kind == HOPS_HOST_PATCH_SYMMETRIC];

      if (!*at) {
        *at = p->nreal;
        if (b) FillFactor(k, f, kind, p->nreal, 1);
        p->nreal += size;
      }
      if (b) b->matrix[d] = *at;
    }
  }
}

/*
  Runs of patches that share their factors fill batches of scalars; what is left of a shape goes into batches
  with factors by lane. The first pass counts, the second fills.
*/
static PetscErrorCode Batches(Pass *p, PetscInt n, const PetscInt shapes[], PetscBool fill)
{
  HopsPatchKernel k     = p->k;
  HopsPatches     pt    = k->patches;
  const Entry    *order = p->order;
  PetscInt        list[16], nb = 0;
  int             m, kind;

  PetscFunctionBegin;
  p->nidx = p->nreal = 0;
  PetscCall(PetscMalloc1(n, &p->rest));
  for (PetscInt i = 0; i < pt->nfactors; ++i) p->factorat[i][0] = p->factorat[i][1] = 0;
  for (p->begin = 0; p->begin < n; p->begin = p->end) {
    const Entry *first = order + p->begin;

    for (p->end = p->begin; p->end < n && order[p->end].color == first->color && order[p->end].shape == first->shape; ++p->end) {}
    p->next = p->run = p->begin;
    p->nrest         = 0;
    while ((m = NextPatches(p, list, &kind))) {
      HopsHostPatchBatch *b = fill ? k->batch + nb : NULL;

      StoreEntries(p, list, m, kind, b);
      StoreFactors(p, list, m, kind, b);
      ++nb;
      if (!fill) continue;
      b->dist                     = pt->dist ? pt->dist + pt->start[shapes[first->shape]] : NULL;
      k->bstart[first->color + 1] = nb;
      k->nspecialised += k->ops->patchfind(k->dim, k->single, b);
    }
  }
  k->nbatch = nb;
  PetscCall(PetscFree(p->rest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Dense inverses stay in double precision */
static PetscErrorCode ApplyDense(HopsPatchKernel k, PetscBool floats, PetscInt begin, PetscInt end, HopsPatchMode mode,
                                 const void *r, void *z)
{
  HopsPatches   pt = k->patches;
  const float  *rf = (const float *)r;
  const double *rd = (const double *)r;

  PetscFunctionBegin;
  for (PetscInt d = begin; d < end; ++d) {
    const PetscInt       j = k->dense[d], n = pt->start[j + 1] - pt->start[j];
    const int           *idx  = pt->idx + pt->start[j];
    const unsigned char *dist = pt->dist ? pt->dist + pt->start[j] : NULL;
    double              *x = k->dwork, *y = x + n;
    const PetscReal      alpha = 1.0, beta = 0.0;
    PetscBLASInt         bn, one           = 1;

    PetscCall(PetscBLASIntCast(n, &bn));
    for (PetscInt i = 0; i < n; ++i)
      x[i] = mode == HOPS_PATCH_RESTRICT_IN && k->level[idx[i]] != dist[i] ? 0.0 : (floats ? rf[idx[i]] : rd[idx[i]]);
    PetscCallBLAS("BLASgemv", HopsBLASgemv("T", &bn, &bn, &alpha, pt->inv + pt->dense[j], &bn, x, &one, &beta, y, &one));
    for (PetscInt i = 0; i < n; ++i) {
      if (mode == HOPS_PATCH_RESTRICT_OUT && k->level[idx[i]] != dist[i]) continue;
      if (floats) ((float *)z)[idx[i]] += (float)y[i];
      else ((double *)z)[idx[i]] += y[i];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckType(HopsPatchKernel k, PetscDataType type, PetscBool *floats)
{
  PetscFunctionBegin;
  *floats = type == PETSC_FLOAT ? PETSC_TRUE : PETSC_FALSE;
  PetscCheck(k->single || !*floats, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "Vectors in single precision need patches in single precision");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPatchApply_Host(HopsPatchSmoother smoother, PetscDataType type, PetscInt color, HopsPatchMode mode,
                                          const void *r, void *z)
{
  HopsPatchKernel k  = (HopsPatchKernel)smoother;
  const PetscInt  c0 = color < 0 ? 0 : color, c1 = color < 0 ? k->ncolors : color + 1;
  PetscBool       floats;

  PetscFunctionBegin;
  PetscCall(CheckType(k, type, &floats));
  for (PetscInt b = k->bstart[c0]; b < k->bstart[c1]; ++b) {
    if (floats) k->batch[b].solvesingle(k, k->batch + b, mode, (const float *)r, (float *)z);
    else k->batch[b].solve(k, k->batch + b, mode, (const double *)r, (double *)z);
  }
  PetscCall(ApplyDense(k, floats, k->dstart[c0], k->dstart[c1], mode, r, z));
  PetscCall(HopsHostCondensedApply(k->condensed, c0, c1, mode, floats, r, z));
  for (PetscInt c = c0; c < c1; ++c) PetscCall(PetscLogFlops(k->cflops[c]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPatchSweep_Host(HopsPatchSmoother smoother, PetscDataType type, PetscInt color, const void *b, void *z)
{
  HopsPatchKernel k = (HopsPatchKernel)smoother;
  PetscBool       floats;

  PetscFunctionBegin;
  PetscCall(CheckType(k, type, &floats));
  if (floats) ((float *)z)[k->patches->nP - 1] = 0.0f; /* what is not there is written, too */
  else ((double *)z)[k->patches->nP - 1] = 0.0;
  for (PetscInt i = k->bstart[color]; i < k->bstart[color + 1]; ++i) {
    if (floats) k->batch[i].sweepsingle(k, k->batch + i, (const float *)b, (float *)z);
    else k->batch[i].sweep(k, k->batch + i, (const double *)b, (double *)z);
  }
  PetscCall(PetscLogFlops(k->cflops[color] + k->sflops[color]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPatchDestroy_Host(HopsPatchSmoother *kernel)
{
  HopsPatchKernel k = (HopsPatchKernel)*kernel;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 3; i++) PetscCall(PetscFree(k->mem[i]));
  PetscCall(PetscFree4(k->bstart, k->dstart, k->cflops, k->sflops));
  PetscCall(PetscFree(k->dense));
  PetscCall(PetscFree(k->dwork));
  PetscCall(HopsHostCondensedDestroy(&k->condensed));
  PetscCall(PetscFree(k->batch));
  PetscCall(PetscFree(*kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsPatchOps HopsPatchHost = {HopsPatchApply_Host, HopsPatchSweep_Host, HopsPatchDestroy_Host};

PetscErrorCode HopsPatchCreate_Host(HopsPatches pt, PetscDataType type, HopsPatchSmoother *smoother)
{
  const PetscBool single = type == PETSC_FLOAT ? PETSC_TRUE : PETSC_FALSE;
  HopsPatchKernel k;
  Entry          *order;
  PetscInt        n = 0, nshapes = 0, shapes[1024], dmax = 0, emax = 1;
  Pass            pass;
  double         *p;

  PetscFunctionBegin;
  PetscCall(PetscNew(&k));
  PetscCall(HopsHostSelect(pt->space, &k->ops));
  k->patches = pt;
  k->dim     = (int)pt->space->dim;
  k->single  = single;
  k->lanes   = k->ops->W * (single ? 2 : 1);
  k->ncolors = PetscMax(1, pt->ncolors);
  k->level   = pt->level;
  PetscCall(PetscCalloc4(k->ncolors + 1, &k->bstart, k->ncolors + 1, &k->dstart, k->ncolors, &k->cflops, k->ncolors, &k->sflops));
  PetscCall(PetscMalloc2(pt->n, &order, pt->nfactors, &pass.factorat));
  PetscCall(PetscMalloc1(pt->n, &k->dense));
  for (PetscInt i = 0; i < pt->n; ++i) {
    if (pt->solver[i] == HOPS_PATCH_DENSE) {
      dmax = PetscMax(dmax, pt->start[i + 1] - pt->start[i]);
      continue;
    }
    if (pt->solver[i] == HOPS_PATCH_CONDENSED) continue;
    for (int d = 0; d < 3; ++d)
      PetscCheck(pt->size[i][d] <= HOPS_HOST_MAXLINE, PETSC_COMM_SELF, PETSC_ERR_SUP,
                 "The host back end takes patches of at most %d unknowns per direction, not %d: lower the order", HOPS_HOST_MAXLINE,
                 pt->size[i][d]);
    order[n].color = pt->color[i];
    order[n].patch = i;
    for (int d = 0; d < 3; ++d) order[n].f[d] = pt->factor[i][d];
    PetscCall(FindShape(pt, i, &nshapes, shapes, &order[n++].shape));
    {
      const PetscInt a = pt->size[i][0] + 2, b = pt->size[i][1] + 2, c = pt->size[i][2] + 2;

      emax = PetscMax(emax, (pt->start[i + 1] - pt->start[i]) + (pt->fuse ? 6 * a * b + 2 * a * b * c : 0));
    }
  }
  if (n) qsort(order, n, sizeof(Entry), EntryCompare);
  for (PetscInt c = 0; c < k->ncolors; ++c) {
    for (PetscInt i = 0; i < pt->n; ++i)
      if (pt->solver[i] == HOPS_PATCH_DENSE && pt->color[i] == c) {
        k->dense[k->ndense++] = i;
        k->cflops[c] += 2.0 * PetscSqr((double)(pt->start[i + 1] - pt->start[i]));
      }
    k->dstart[c + 1] = k->ndense;
  }
  PetscCall(PetscMalloc1(2 * dmax, &k->dwork));
  pass.k     = k;
  pass.order = order;
  PetscCall(Batches(&pass, n, shapes, PETSC_FALSE));
  PetscCall(PetscCalloc1(k->nbatch, &k->batch));
  PetscCall(HopsHostAlloc((pass.nidx + 1) / 2, PETSC_FALSE, &k->mem[0], &p));
  k->idx = (int *)p;
  PetscCall(HopsHostAlloc(single ? (pass.nreal + 1) / 2 : pass.nreal, PETSC_FALSE, &k->mem[1], &p));
  k->reals = p;
  PetscCall(HopsHostAlloc((size_t)emax * k->ops->W, PETSC_FALSE, &k->mem[2], &k->e));
  PetscCall(Batches(&pass, n, shapes, PETSC_TRUE));
  PetscCall((*pt->space->backend->memory->Free)((void **)&pt->eidx)); /* batches have them */
  PetscCall(HopsHostCondensedCreate(pt, k->ops, k->cflops, &k->head.info.bytes, &k->condensed));
  for (PetscInt c = 0; c < k->ncolors; ++c) {
    k->bstart[c + 1] = PetscMax(k->bstart[c + 1], k->bstart[c]);
    k->head.info.flops += k->cflops[c];
  }
  PetscCall(PetscFree2(order, pass.factorat));
  k->head.info.bytes +=
    pass.nidx * sizeof(int) + pass.nreal * (single ? sizeof(float) : sizeof(double)) + pt->ninv * sizeof(PetscReal);
  PetscCall(PetscSNPrintf(k->head.info.name, sizeof(k->head.info.name), "%s %s, %d%% of batches specialised, %d%% share factors",
                          k->ops->isa, single ? "single" : "double", k->nbatch ? (int)(100 * k->nspecialised / k->nbatch) : 0,
                          k->nbatch ? (int)(100 * k->nshared / k->nbatch) : 0));
  k->head.ops = &HopsPatchHost;
  *smoother   = &k->head;
  PetscFunctionReturn(PETSC_SUCCESS);
}
