/* Host back end: data of a tensor-product map between nested spaces */
#include <backend/host/runtime/hostimpl.h>
#include <hops/private/hopsinterpimpl.h>

/* ------------------------------------------- lists ------------------------------------------- */

/* L-vector indices on the macro cells; macro[ncoarse][(nhalf pf + 1)^dim] */
static void HopsInterpMacros(const HopsInterpData *d, int macro[])
{
  const PetscInt P = d->pf + 1, Pz = d->dim == 3 ? P : 1, nm = HopsPower(HopsInterpMacroNodes(d), d->dim);
  const int     *from = d->frestr;

  if (d->partial) /* some have no children here */
    for (size_t i = 0; i < (size_t)d->ncoarse * nm; ++i) macro[i] = INT_MAX;
  for (PetscInt f = 0; f < d->nfine; ++f) {
    const unsigned char *axis      = d->axis + f * d->dim;
    PetscInt             corner[3] = {0, 0, 0}, first, step[3] = {0, 0, 0}; /* HopsMacroNode() is linear in i */

    first = HopsMacroNode(d->dim, d->nhalf, d->pf, d->half[f], axis, corner);
    for (PetscInt k = 0; k < d->dim; ++k) {
      corner[k] = 1;
      step[k]   = HopsMacroNode(d->dim, d->nhalf, d->pf, d->half[f], axis, corner) - first;
      corner[k] = 0;
    }
    for (PetscInt z = 0; z < Pz; ++z)
      for (PetscInt y = 0; y < P; ++y) {
        int *to = macro + (size_t)d->parent[f] * nm + first + y * step[1] + z * step[2];

        for (PetscInt x = 0; x < P; ++x) to[x * step[0]] = *from++;
      }
  }
}

/* Macro cells whose sources are all owned come first; hang[] are their masks, or NULL */
static PetscErrorCode HopsInterpOrder(HopsSpace from, PetscInt nmacro, PetscInt ns, PetscInt nt, int **source, int **target,
                                      unsigned short hang[], PetscInt *ninterior)
{
  int            *s, *t;
  unsigned short *h;
  PetscInt        n = 0;

  PetscFunctionBegin;
  *ninterior = nmacro;
  if (from->nL == from->nT) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(nmacro * ns, &s));
  PetscCall(PetscMalloc1(nmacro * nt, &t));
  PetscCall(PetscMalloc1(nmacro, &h));
  for (PetscInt pass = 0; pass < 2; ++pass) {
    for (PetscInt c = 0; c < nmacro; ++c) {
      PetscBool interior = PETSC_TRUE;

      for (PetscInt i = 0; i < ns && interior; ++i)
        if ((*source)[c * ns + i] >= from->nT) interior = PETSC_FALSE;
      if (interior != (pass == 0 ? PETSC_TRUE : PETSC_FALSE)) continue;
      PetscCall(PetscArraycpy(s + n * ns, *source + c * ns, ns));
      PetscCall(PetscArraycpy(t + n * nt, *target + c * nt, nt));
      if (hang) h[n] = hang[c];
      ++n;
    }
    if (!pass) *ninterior = n;
  }
  if (hang) PetscCall(PetscArraycpy(hang, h, nmacro));
  PetscCall(PetscFree(h));
  PetscCall(PetscFree(*source));
  PetscCall(PetscFree(*target));
  *source = s;
  *target = t;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each owned unknown of `to` is the target of the first macro cell that meets it; the others, and what is not
   owned, become -1. Where this is not the only map some may have none */
static PetscErrorCode HopsInterpWriters(HopsSpace to, PetscBool partial, PetscInt n, int target[])
{
  unsigned char *written;
  PetscInt       count = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(to->nT, &written));
  for (PetscInt i = 0; i < n; ++i) {
    const int t = target[i];

    if (t >= to->nT || written[t]) target[i] = -1;
    else {
      written[t] = 1;
      ++count;
    }
  }
  PetscCall(PetscFree(written));
  PetscCheck(partial || count == to->nT, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%" PetscInt_FMT
             " unknowns are owned by a rank none of whose cells touch them: let the owner of a point have one of its cells",
             to->nT - count);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* source[ncoarse][ns]: L-vector indices; target[ncoarse][nt]: T-vector ones, or -1; hang[ncoarse], or NULL */
static PetscErrorCode HopsInterpLists(HopsSpace from, HopsSpace to, const HopsInterpData *d, PetscInt ns, PetscInt nt, int **source,
                                      int **target, unsigned short **hang, PetscInt *ninterior)
{
  int *coarse, *macro;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(d->ncoarse * (d->prolong ? ns : nt), &coarse));
  PetscCall(PetscMalloc1(d->ncoarse * (d->prolong ? nt : ns), &macro));
  PetscCall(PetscArraycpy(coarse, d->crestr, d->ncoarse * (d->prolong ? ns : nt)));
  HopsInterpMacros(d, macro);
  *source = d->prolong ? coarse : macro;
  *target = d->prolong ? macro : coarse;
  *hang   = NULL;
  if (d->hang) {
    PetscCall(PetscMalloc1(d->ncoarse, hang));
    PetscCall(PetscArraycpy(*hang, d->hang, d->ncoarse));
  }
  PetscCall(HopsInterpOrder(from, d->ncoarse, ns, nt, source, target, *hang, ninterior));
  PetscCall(HopsInterpWriters(to, d->partial, d->ncoarse * nt, *target));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- kernel ------------------------------------------- */

/* Batches of W macro cells; lanes beyond the last one of a class repeat its sources and have no targets */
static void FillBatches(HopsInterpKernel k, PetscInt nmacro, PetscInt ninterior, const int source[], const int target[])
{
  const int W = k->W;

  for (PetscInt b = 0; b < k->nb; b++) {
    const PetscInt first = b < k->nbi ? b * W : ninterior + (b - k->nbi) * W, last = (b < k->nbi ? ninterior : nmacro) - 1;

    for (int l = 0; l < W; l++) {
      const PetscInt c = PetscMin(first + l, last);

      for (int i = 0; i < k->ns; i++) k->source[((size_t)b * k->ns + i) * W + l] = source[(size_t)c * k->ns + i];
      for (int i = 0; i < k->nt; i++)
        k->target[((size_t)b * k->nt + i) * W + l] = first + l <= last ? target[(size_t)c * k->nt + i] : -1;
    }
  }
}

static PetscErrorCode HopsInterpApply_Host(HopsInterpolation P, PetscBool interior, const void *x, const void *xg, void *y,
                                           PetscBool add)
{
  HopsInterpKernel k = (HopsInterpKernel)P;

  PetscFunctionBegin;
  k->ops->interp(k, interior ? 0 : k->nbi, interior ? k->nbi : k->nb, x, xg, y, add);
  PetscCall(PetscLogFlops(k->flops[interior ? 0 : 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsInterpApplyTranspose_Host(HopsInterpolation P, PetscBool interior, const void *y, void *x, void *xg)
{
  HopsInterpKernel k = (HopsInterpKernel)P;

  PetscFunctionBegin;
  k->ops->interptranspose(k, interior ? 0 : k->nbi, interior ? k->nbi : k->nb, y, x, xg);
  PetscCall(PetscLogFlops(k->flops[interior ? 0 : 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsInterpDestroy_Host(HopsInterpolation *kernel)
{
  HopsInterpKernel k = (HopsInterpKernel)*kernel;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsHostHangDestroy(&k->hang));
  for (int i = 0; i < 3; i++) PetscCall(PetscFree(k->mem[i]));
  PetscCall(PetscFree(k->matmem));
  PetscCall(PetscFree(*kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsInterpOps HopsInterpHost = {HopsInterpApply_Host, HopsInterpApplyTranspose_Host, HopsSingleInterpCreate_Host,
                                             HopsInterpDestroy_Host};

PetscErrorCode HopsInterpCreate_Host(HopsSpace from, HopsSpace to, const HopsInterpData *d, HopsInterpolation *P)
{
  const PetscInt nmacro = d->ncoarse, N = d->prolong ? HopsInterpCoarseNodes(d) : HopsInterpMacroNodes(d),
                 M = d->prolong ? HopsInterpMacroNodes(d) : HopsInterpCoarseNodes(d);
  HopsInterpKernel k;
  const size_t     mx        = (size_t)HopsPower(PetscMax(M, N), from->dim);
  PetscInt         ninterior = 0;
  int             *source = NULL, *target = NULL;
  unsigned short  *hang = NULL;
  double          *p;

  PetscFunctionBegin;
  PetscCheck(M <= HOPS_HOST_MAXLINE && N <= HOPS_HOST_MAXLINE, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The host back end maps at most %d nodes per direction of a macro cell, not %" PetscInt_FMT " to %" PetscInt_FMT
             ": use a lower order",
             HOPS_HOST_MAXLINE, N, M);
  PetscCall(HopsInterpLists(from, to, d, HopsPower(N, d->dim), HopsPower(M, d->dim), &source, &target, &hang, &ninterior));
  PetscCall(PetscNew(&k));
  PetscCall(HopsHostSelect(from, &k->ops));
  k->W    = k->ops->W;
  k->dim  = (int)from->dim;
  k->M    = (int)M;
  k->N    = (int)N;
  k->ns   = (int)HopsPower(N, from->dim);
  k->nt   = (int)HopsPower(M, from->dim);
  k->nT   = (int)from->nT;
  k->nbi  = (ninterior + k->W - 1) / k->W;
  k->nb   = k->nbi + (nmacro - ninterior + k->W - 1) / k->W;
  k->nmat = (int)((M + 1) / 2 * N + (N + 1) / 2 * M);
  PetscCall(PetscMalloc1(k->nmat, &k->matmem));
  p = k->matmem;
  HopsHostEvenOddPack(k->M, k->N, d->A, k->N, 1, &p, &k->A);
  HopsHostEvenOddPack(k->N, k->M, d->A, 1, k->N, &p, &k->AT);
  PetscCall(HopsHostAlloc(((size_t)k->nb * k->ns * k->W + 1) / 2, PETSC_FALSE, &k->mem[0], &p));
  k->source = (int *)p;
  PetscCall(HopsHostAlloc(((size_t)k->nb * k->nt * k->W + 1) / 2, PETSC_FALSE, &k->mem[1], &p));
  k->target = (int *)p;
  PetscCall(HopsHostAlloc(4 * mx * k->W, PETSC_TRUE, &k->mem[2], &k->e));
  k->f         = k->e + mx * k->W;
  k->g         = k->f + mx * k->W;
  k->out       = k->g + mx * k->W;
  k->nmacro    = nmacro;
  k->ninterior = ninterior;
  FillBatches(k, nmacro, ninterior, source, target);
  if (hang) PetscCall(HopsHostHangCreate(from, nmacro, ninterior, hang, k->W, &k->hang));
  PetscCall(PetscFree(hang));
  PetscCall(PetscFree(source));
  PetscCall(PetscFree(target));
  {
    const double d2 = k->dim == 3 ? (double)N * N * M + (double)N * M * M + (double)M * M * M : (double)N * M + (double)M * M;

    k->flops[0] = 1.0 * (double)N * d2 * (double)ninterior; /* even-odd: half of 2 N for each value */
    k->flops[1] = 1.0 * (double)N * d2 * (double)(nmacro - ninterior);
  }
  k->head.ops = &HopsInterpHost;
  *P          = &k->head;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsInterpGetRaw_Host(HopsInterpKernel k, HopsHostRaw *raw)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(raw, sizeof(*raw)));
  raw->isa       = k->ops->isa;
  raw->dim       = k->dim;
  raw->P         = k->N;
  raw->Q         = k->M;
  raw->W         = k->W;
  raw->nT        = k->nT;
  raw->n         = k->nmacro;
  raw->ninterior = k->ninterior;
  raw->source    = k->source;
  raw->target    = k->target;
  raw->matmem    = k->matmem;
  raw->nmat      = k->nmat;
  raw->offset[0] = k->A - k->matmem;
  raw->offset[1] = k->AT - k->matmem;
  raw->flops[0]  = k->flops[0];
  raw->flops[1]  = k->flops[1];
  raw->hang      = k->hang.mask;
  raw->J         = k->hang.J[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}
