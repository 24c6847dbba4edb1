/* Host back end: data of a tensor-product map between nested spaces */
#include <backend/host/runtime/hostimpl.h>

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
  for (int i = 0; i < 3; i++) PetscCall(PetscFree(k->mem[i]));
  PetscCall(PetscFree(k->matmem));
  PetscCall(PetscFree(*kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsInterpOps HopsInterpHost = {HopsInterpApply_Host, HopsInterpApplyTranspose_Host, HopsSingleInterpCreate_Host,
                                             HopsInterpDestroy_Host};

PetscErrorCode HopsInterpCreate_Host(HopsSpace from, PetscInt nmacro, PetscInt ninterior, PetscInt N, const int source[],
                                     PetscInt M, const int target[], const PetscReal A[], HopsInterpolation *P)
{
  HopsInterpKernel k;
  const size_t     mx = (size_t)HopsPower(PetscMax(M, N), from->dim);
  double          *p;

  PetscFunctionBegin;
  PetscCheck(M <= HOPS_HOST_MAXLINE && N <= HOPS_HOST_MAXLINE, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The host back end maps at most %d nodes per direction of a macro cell, not %" PetscInt_FMT " to %" PetscInt_FMT
             ": use a lower order",
             HOPS_HOST_MAXLINE, N, M);
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
  HopsHostEvenOddPack(k->M, k->N, A, k->N, 1, &p, &k->A);
  HopsHostEvenOddPack(k->N, k->M, A, 1, k->N, &p, &k->AT);
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
  PetscFunctionReturn(PETSC_SUCCESS);
}
