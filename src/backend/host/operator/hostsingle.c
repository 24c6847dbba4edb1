/* Host back end: copies of operators and of maps in single precision, which the kernels of hostsingle_*.c
   work on */
#define HOPS_HOST_SINGLE
#include <backend/host/runtime/hostimpl.h>

typedef struct {
  struct _HopsOperator         head;
  const HopsHostSingleKernels *ops;
  struct _HopsPAKernel         k;
} * HopsSinglePA;

typedef struct {
  struct _HopsInterpolation    head;
  const HopsHostSingleKernels *ops;
  struct _HopsInterpKernel     k;
} * HopsSingleInterp;

/* The instruction set of the kernel that is copied */
static PetscErrorCode SingleSelect(const char isa[], const HopsHostSingleKernels **ops)
{
  const HopsHostSingleKernels *all[] = {
#if defined(__x86_64__)
    &HopsHostSingleAVX512,
    &HopsHostSingleAVX2,
#endif
    &HopsHostSingleBase
  };

  PetscFunctionBegin;
  *ops = NULL;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(all) && !*ops; i++) {
    PetscBool same;

    PetscCall(PetscStrcmp(isa, all[i]->isa, &same));
    if (same) *ops = all[i];
  }
  PetscCheck(*ops, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No kernels in single precision for %s", isa);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleAlloc(size_t nfloats, void **base, float **aligned)
{
  double *p;

  PetscFunctionBegin;
  PetscCall(HopsHostAlloc((nfloats + 1) / 2, PETSC_TRUE, base, &p));
  *aligned = (float *)p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleMatrices(const HopsHostRaw *raw, float **mem)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(raw->nmat, mem));
  for (PetscInt i = 0; i < raw->nmat; i++) (*mem)[i] = (float)raw->matmem[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Batches of W cells, padded by copies of the last cell of a class: the cell in lane l of batch b */
static PetscInt BatchCell(PetscInt n, PetscInt ninterior, PetscInt nbi, int W, PetscInt b, int l, PetscBool *real)
{
  const PetscInt first = b < nbi ? b * W : ninterior + (b - nbi) * W, last = (b < nbi ? ninterior : n) - 1;

  *real = first + l <= last ? PETSC_TRUE : PETSC_FALSE;
  return PetscMin(first + l, last);
}

/* Where the data of a cell are in batches of W */
static void CellBatch(PetscInt ninterior, int W, PetscInt c, PetscInt *b, int *l)
{
  const PetscInt nbi = (ninterior + W - 1) / W, i = c < ninterior ? c : c - ninterior;

  *b = (c < ninterior ? 0 : nbi) + i / W;
  *l = (int)(i % W);
}

/* Hanging nodes of batches of W cells, from those of the kernel that is copied */
static PetscErrorCode SingleHang(const HopsHostRaw *raw, PetscInt nbi, PetscInt nb, int W, HopsHostHang *h)
{
  const int P = raw->P, P2 = P * P;

  PetscFunctionBegin;
  if (!raw->hang) PetscFunctionReturn(PETSC_SUCCESS);
  *h = (HopsHostHang){.dim = raw->dim, .P = P, .nc = 1, .ne = raw->dim == 3 ? P * P2 : P2};
  for (int d = 0; d < 3; d++) h->box[0].n[d] = d < raw->dim ? P : 1;
  PetscCall(PetscMalloc1(2 * P2, &h->J[0]));
  for (int i = 0; i < 2 * P2; i++) h->J[0][i] = (float)raw->J[i];
  PetscCall(PetscMalloc2(nb * W, &h->mask, nb, &h->some));
  for (PetscInt b = 0; b < nb; b++) {
    for (int l = 0; l < W; l++) {
      PetscBool real;
      PetscInt  db;
      int       dl;

      CellBatch(raw->ninterior, raw->W, BatchCell(raw->n, raw->ninterior, nbi, W, b, l, &real), &db, &dl);
      h->mask[b * W + l] = raw->hang[db * raw->W + dl];
    }
    h->some[b] = HopsHostHangSome(W, h->mask + b * W);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSinglePAApply_Host(HopsOperator A, HopsPart part, const void *x, const void *xg, void *y, void *yg)
{
  HopsSinglePA   s     = (HopsSinglePA)A;
  const PetscInt end[] = {0, s->k.nbi / 2, s->k.nbi, s->k.nb};

  PetscFunctionBegin;
  s->ops->apply(&s->k, end[part], end[part + 1], x, xg, y, yg);
  if (s->k.nb) PetscCall(PetscLogFlops(s->k.head.info.flops / s->k.nb * (end[part + 1] - end[part])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSinglePADestroy_Host(HopsOperator *A)
{
  HopsSinglePA s = (HopsSinglePA)*A;

  PetscFunctionBegin;
  *A = NULL;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 3; i++) PetscCall(PetscFree(s->k.mem[i]));
  PetscCall(PetscFree(s->k.matmem));
  PetscCall(HopsHostHangDestroy(&s->k.hang));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsOperatorOps HopsSinglePAHost = {.Apply = HopsSinglePAApply_Host, .Destroy = HopsSinglePADestroy_Host};

PetscErrorCode HopsSinglePACreate_Host(HopsOperator A, HopsOperator *single)
{
  HopsHostRaw           raw;
  HopsSinglePA          s;
  struct _HopsPAKernel *k;
  size_t                nn, nq, nm;
  float                *p = NULL;

  PetscFunctionBegin;
  PetscCall(HopsPAGetRaw_Host((HopsPAKernel)A, &raw));
  PetscCall(PetscNew(&s));
  PetscCall(SingleSelect(raw.isa, &s->ops));
  k                  = &s->k;
  k->W               = s->ops->W;
  k->dim             = raw.dim;
  k->P               = raw.P;
  k->Q               = raw.Q;
  k->ncomp           = raw.ncomp;
  k->nT              = raw.nT;
  k->diffusion       = raw.diffusion;
  k->mass            = raw.mass;
  k->collocated      = raw.collocated;
  k->ncells          = raw.n;
  k->ninterior       = raw.ninterior;
  k->head.info.flops = raw.flops[0];
  k->nbi             = (raw.ninterior + k->W - 1) / k->W;
  k->nb              = k->nbi + (raw.n - raw.ninterior + k->W - 1) / k->W;
  nn                 = (size_t)HopsPower(k->P, k->dim);
  nq                 = (size_t)HopsPower(k->Q, k->dim);
  nm                 = (size_t)HopsPower(PetscMax(k->P, k->Q), k->dim) + PetscMax(k->P, k->Q);
  PetscCall(SingleMatrices(&raw, &k->matmem));
  {
    const float **m[9] = {&k->mat.B, &k->mat.BT, &k->mat.C, &k->mat.CT, &k->mat.D, &k->mat.DT, &k->mat.BB, &k->mat.DD, &k->mat.BD};

    for (int i = 0; i < 9; i++) *m[i] = raw.offset[i] < 0 ? NULL : k->matmem + raw.offset[i];
  }
  PetscCall(SingleAlloc(k->nb * nn * k->W, &k->mem[0], &p));
  k->idx = (int *)p;
  PetscCall(SingleAlloc(k->nb * nq * k->ncomp * k->W, &k->mem[1], &k->qdata));
  PetscCall(SingleAlloc((5 + k->dim) * nm * k->W, &k->mem[2], &k->e));
  k->u = k->e + nm * k->W;
  k->f = k->u + nm * k->W;
  k->g = k->f + nm * k->W;
  for (PetscInt b = 0; b < k->nb; b++)
    for (int l = 0; l < k->W; l++) {
      PetscBool      real;
      PetscInt       db;
      int            dl;
      const PetscInt c = BatchCell(k->ncells, k->ninterior, k->nbi, k->W, b, l, &real);

      CellBatch(k->ninterior, raw.W, c, &db, &dl);
      for (size_t i = 0; i < nn; i++) k->idx[(b * nn + i) * k->W + l] = raw.restr[c * nn + i];
      for (size_t q = 0; q < nq * k->ncomp && real; q++)
        k->qdata[(b * nq * k->ncomp + q) * k->W + l] = (float)raw.qdata[(db * nq * k->ncomp + q) * raw.W + dl];
    }
  PetscCall(SingleHang(&raw, k->nbi, k->nb, k->W, &k->hang));
  (void)s->ops->find(k);
  s->head.ops = &HopsSinglePAHost;
  *single     = &s->head;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSingleInterpApply_Host(HopsInterpolation P, PetscBool interior, const void *x, const void *xg, void *y,
                                                 PetscBool add)
{
  HopsSingleInterp s = (HopsSingleInterp)P;

  PetscFunctionBegin;
  s->ops->interp(&s->k, interior ? 0 : s->k.nbi, interior ? s->k.nbi : s->k.nb, x, xg, y, add);
  PetscCall(PetscLogFlops(s->k.flops[interior ? 0 : 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSingleInterpApplyTranspose_Host(HopsInterpolation P, PetscBool interior, const void *y, void *x, void *xg)
{
  HopsSingleInterp s = (HopsSingleInterp)P;

  PetscFunctionBegin;
  s->ops->interptranspose(&s->k, interior ? 0 : s->k.nbi, interior ? s->k.nbi : s->k.nb, y, x, xg);
  PetscCall(PetscLogFlops(s->k.flops[interior ? 0 : 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSingleInterpDestroy_Host(HopsInterpolation *P)
{
  HopsSingleInterp s = (HopsSingleInterp)*P;

  PetscFunctionBegin;
  *P = NULL;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 3; i++) PetscCall(PetscFree(s->k.mem[i]));
  PetscCall(PetscFree(s->k.matmem));
  PetscCall(HopsHostHangDestroy(&s->k.hang));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsInterpOps HopsSingleInterpHost = {.Apply          = HopsSingleInterpApply_Host,
                                                   .ApplyTranspose = HopsSingleInterpApplyTranspose_Host,
                                                   .Destroy        = HopsSingleInterpDestroy_Host};

PetscErrorCode HopsSingleInterpCreate_Host(HopsInterpolation P, HopsInterpolation *single)
{
  HopsHostRaw               raw;
  HopsSingleInterp          s;
  struct _HopsInterpKernel *k;
  size_t                    mx;
  float                    *p = NULL;

  PetscFunctionBegin;
  PetscCall(HopsInterpGetRaw_Host((HopsInterpKernel)P, &raw));
  PetscCall(PetscNew(&s));
  PetscCall(SingleSelect(raw.isa, &s->ops));
  k      = &s->k;
  k->W   = s->ops->W;
  k->dim = raw.dim;
  k->N   = raw.P;
  k->M   = raw.Q;
  k->nT  = raw.nT;
  k->ns  = (int)HopsPower(k->N, k->dim);
  k->nt  = (int)HopsPower(k->M, k->dim);
  k->nbi = (raw.ninterior + k->W - 1) / k->W;
  k->nb  = k->nbi + (raw.n - raw.ninterior + k->W - 1) / k->W;
  mx     = (size_t)HopsPower(PetscMax(k->M, k->N), k->dim);
  PetscCall(SingleMatrices(&raw, &k->matmem));
  k->A  = k->matmem + raw.offset[0];
  k->AT = k->matmem + raw.offset[1];
  PetscCall(SingleAlloc((size_t)k->nb * k->ns * k->W, &k->mem[0], &p));
  k->source = (int *)p;
  PetscCall(SingleAlloc((size_t)k->nb * k->nt * k->W, &k->mem[1], &p));
  k->target = (int *)p;
  PetscCall(SingleAlloc(4 * mx * k->W, &k->mem[2], &k->e));
  k->f   = k->e + mx * k->W;
  k->g   = k->f + mx * k->W;
  k->out = k->g + mx * k->W;
  for (PetscInt b = 0; b < k->nb; b++)
    for (int l = 0; l < k->W; l++) {
      PetscBool      real;
      PetscInt       db;
      int            dl;
      const PetscInt c = BatchCell(raw.n, raw.ninterior, k->nbi, k->W, b, l, &real);

      CellBatch(raw.ninterior, raw.W, c, &db, &dl);
      for (int i = 0; i < k->ns; i++)
        k->source[((size_t)b * k->ns + i) * k->W + l] = raw.source[((size_t)db * k->ns + i) * raw.W + dl];
      for (int i = 0; i < k->nt; i++)
        k->target[((size_t)b * k->nt + i) * k->W + l] = real ? raw.target[((size_t)db * k->nt + i) * raw.W + dl] : -1;
    }
  PetscCall(SingleHang(&raw, k->nbi, k->nb, k->W, &k->hang));
  k->flops[0] = raw.flops[0];
  k->flops[1] = raw.flops[1];
  s->head.ops = &HopsSingleInterpHost;
  *single     = &s->head;
  PetscFunctionReturn(PETSC_SUCCESS);
}
