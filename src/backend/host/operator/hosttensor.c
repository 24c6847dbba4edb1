/* Host back end: forms with full tensors between fields of several components */
#include <backend/host/runtime/hostimpl.h>

/* Batches hold cells of one part each */
static PetscErrorCode TensorBatches(HopsSpace sp, HopsTensorKernel k)
{
  const PetscInt end[3] = {sp->ninterior / 2, sp->ninterior, sp->ncells};

  PetscFunctionBegin;
  k->nb = 0;
  for (int pass = 0; pass < 2; pass++) {
    PetscInt c = 0;

    k->nb = 0;
    for (int p = 0; p < 3; p++) {
      k->part[p] = k->nb;
      for (; c < end[p]; c = PetscMin(c + k->W, end[p])) {
        if (pass) k->first[k->nb] = c;
        k->nb++;
      }
    }
    k->part[3] = k->nb;
    if (!pass) PetscCall(PetscMalloc1(k->nb + 1, &k->first));
  }
  k->first[k->nb] = sp->ncells;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsTensorDestroy_Host(HopsTensorOperator *kernel)
{
  HopsTensorKernel k = (HopsTensorKernel)*kernel;

  PetscFunctionBegin;
  *kernel = NULL;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  for (int t = 0; t < 2; t++) {
    for (int i = 0; i < k->n[t]; i++) PetscCall(PetscFree(k->side[t][i].matmem));
    PetscCall(PetscFree(k->side[t]));
  }
  PetscCall(PetscFree(k->first));
  PetscCall(PetscFree(k->mem));
  PetscCall(PetscFree(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsTensorGetLayout_Host(HopsTensorOperator A, HopsTensorLayout *layout)
{
  HopsTensorKernel k = (HopsTensorKernel)A;

  PetscFunctionBegin;
  layout->W      = k->W;
  layout->nb     = k->nb;
  layout->first  = k->first;
  layout->points = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Flops of a component's contractions with and without derivatives, as Up() runs them; Down() adds as many */
static double SideFlops(int dim, int P, int Q, PetscBool gradient)
{
  const double lines = dim == 3 ? P * P + P * Q + Q * Q : P + Q;
  double       f     = lines * HopsHostEvenOddFlops(Q, P, 1);

  if (Q < P) return (gradient ? dim + 1 : 1) * f;
  if (gradient) f += dim * (HopsHostPower(Q, dim) / Q) * HopsHostEvenOddFlops(Q, Q, -1);
  return f;
}

static PetscLogDouble Flops(HopsTensorKernel k)
{
  double f = 0.0;

  for (int t = 0; t < 2; t++)
    for (int i = 0; i < k->n[t]; i++) {
      const HopsHostSide *s = &k->side[t][i];

      if (s->value || s->gradient) f += s->nc * SideFlops(k->dim, s->P, k->Q, s->gradient);
    }
  for (PetscInt b = 0; b < k->nblocks; b++) f += HopsTensorFlops(k->dim, &k->data[b]) * HopsHostPower(k->Q, k->dim);
  return f * (PetscLogDouble)k->first[k->nb];
}

/* Values or gradients of a side that no block touches are not computed */
static PetscErrorCode HopsTensorSetBlocks_Host(HopsTensorOperator A, PetscInt nblocks, const HopsTensorData data[])
{
  HopsTensorKernel k = (HopsTensorKernel)A;

  PetscFunctionBegin;
  k->nblocks = nblocks;
  k->data    = data;
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < k->n[t]; i++) k->side[t][i].value = k->side[t][i].gradient = PETSC_FALSE;
  for (PetscInt b = 0; b < nblocks; b++) {
    HopsHostSide *test = &k->side[0][data[b].test], *trial = &k->side[1][data[b].trial];

    for (PetscInt j = 0; j < data[b].npairs; j++) {
      const int kind = data[b].pair[j].kind;

      if (kind < 2) test->value = PETSC_TRUE;
      else test->gradient = PETSC_TRUE;
      if (kind % 2) trial->gradient = PETSC_TRUE;
      else trial->value = PETSC_TRUE;
    }
  }
  k->head.info.flops = Flops(k);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsTensorApply_Host(HopsTensorOperator A, HopsPart part, PetscBool transpose)
{
  HopsTensorKernel k = (HopsTensorKernel)A;
  const int        p = part == HOPS_PART_INTERIOR_A ? 0 : (part == HOPS_PART_INTERIOR_B ? 1 : 2);

  PetscFunctionBegin;
  k->ops->tensorapply(k, k->part[p], k->part[p + 1], transpose ? 1 : 0, k->nblocks, k->data);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsTensorDiagonal_Host(HopsTensorOperator A)
{
  HopsTensorKernel      k    = (HopsTensorKernel)A;
  const HopsTensorData *data = k->data;

  PetscFunctionBegin;
  for (PetscInt j = 0; j < k->nblocks; j++) {
    const HopsHostSide *s  = &k->side[0][data[j].test];
    const int           nn = HopsHostPower(s->P, k->dim);

    if (data[j].test != data[j].trial) continue;
    for (PetscInt b = 0; b < k->nb; b++) {
      k->ops->tensordiagonal(k, b, &data[j], k->e);
      for (PetscInt l = 0; l < k->first[b + 1] - k->first[b]; l++) {
        const int *r = s->restr + (size_t)(k->first[b] + l) * nn;

        for (int m = 0; m < nn; m++)
          for (int c = 0; c < s->nc; c++) s->l[(size_t)r[m] * s->nc + c] += k->e[(size_t)(c * nn + m) * k->W + l];
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsTensorOps HopsTensorHost = {.GetLayout = HopsTensorGetLayout_Host,
                                             .SetBlocks = HopsTensorSetBlocks_Host,
                                             .Apply     = HopsTensorApply_Host,
                                             .Diagonal  = HopsTensorDiagonal_Host,
                                             .Destroy   = HopsTensorDestroy_Host};

PetscErrorCode HopsTensorCreate_Host(HopsSpace sp, PetscInt Q, PetscInt W, PetscInt ntest, const HopsTensorSide test[],
                                     PetscInt ntrial, const HopsTensorSide trial[], HopsTensorOperator *A)
{
  HopsTensorKernel      k;
  const HopsTensorSide *given[2] = {test, trial};
  int                   slots[2] = {0, 0}, M = (int)Q, nm, nnodes;
  double               *p;

  PetscFunctionBegin;
  PetscCall(PetscNew(&k));
  PetscCall(HopsHostSelect(sp, &k->ops));
  k->W                     = k->ops->W;
  k->dim                   = (int)sp->dim;
  k->Q                     = (int)Q;
  k->n[0]                  = (int)ntest;
  k->n[1]                  = (int)ntrial;
  k->head.info.specialised = PETSC_TRUE;
  PetscCall(TensorBatches(sp, k));
  for (int t = 0; t < 2; t++) {
    PetscCall(PetscCalloc1(k->n[t], &k->side[t]));
    for (int i = 0; i < k->n[t]; i++) {
      HopsHostSide *s = &k->side[t][i];

      s->nc    = (int)given[t][i].nc;
      s->P     = (int)given[t][i].basis->P;
      s->restr = given[t][i].restr;
      s->l     = given[t][i].l;
      s->slot  = slots[t];
      s->node  = k->nnodes[t];
      PetscCheck(s->P <= HOPS_HOST_MAXLINE && Q <= HOPS_HOST_MAXLINE, PETSC_COMM_SELF, PETSC_ERR_SUP,
                 "The host back end takes at most %d nodes and points per direction, not P_1d = %d, Q_1d = %" PetscInt_FMT,
                 HOPS_HOST_MAXLINE, s->P, Q);
      PetscCall(HopsHostPackMatrices(given[t][i].basis, &s->mat, &s->matmem));
      if (!k->ops->tensorfind(k, s)) k->head.info.specialised = PETSC_FALSE;
      slots[t] += s->nc * (k->dim + 1);
      k->nnodes[t] += s->nc * HopsHostPower(s->P, k->dim);
      M = PetscMax(M, s->P);
    }
  }
  k->S   = HopsHostPower(k->Q, k->dim) | 1; /* odd: slots that are a power of two apart fall into one set of the cache */
  nm     = HopsHostPower(M, k->dim);
  nnodes = PetscMax(k->nnodes[0], k->nnodes[1]);
  PetscCall(
    HopsHostAlloc((size_t)k->W * (nnodes + (size_t)k->S * 2 * PetscMax(slots[0], slots[1]) + 6 * nm), PETSC_TRUE, &k->mem, &p));
  k->e = p;
  k->u = k->e + (size_t)k->W * nnodes;
  k->v = k->u + (size_t)k->W * k->S * PetscMax(slots[0], slots[1]);
  k->f = k->v + (size_t)k->W * k->S * PetscMax(slots[0], slots[1]);
  k->g = k->f + (size_t)k->W * nm;
  PetscCall(PetscSNPrintf(k->head.info.name, sizeof(k->head.info.name), "%s %stensors Q=%d", k->ops->isa,
                          k->head.info.specialised ? "" : "generic ", k->Q));
  k->head.ops = &HopsTensorHost;
  *A          = &k->head;
  PetscFunctionReturn(PETSC_SUCCESS);
}
