/* CUDA back end: forms with full tensors, what is prepared for their kernels (cudatensor.cu). */
#include "cudatensor.h"

static int Pad(int n)
{
  return (n + 3) / 4 * 4;
}

/* ---- One-dimensional matrices ---- */

/* to[n][m] = A[m * sm + n * sn] times B likewise, which may be NULL */
static int TablePut(double *tables, int at, int M, int N, int sm, int sn, const PetscReal A[], const PetscReal B[])
{
  for (int n = 0; tables && n < N; n++)
    for (int m = 0; m < Pad(M); m++)
      tables[at + n * Pad(M) + m] = m < M ? A[m * sm + n * sn] * (B ? B[m * sm + n * sn] : 1.0) : 0.0;
  return at + N * Pad(M);
}

/* Lays the tables out, and fills them where there is room; those that the kernel of cells keeps in shared
   memory come first */
static PetscErrorCode Tables(HopsTensorKernel k, PetscInt Q, const HopsBasis *const bases[], double *tables, int *size)
{
  const PetscReal ends[2] = {-1.0, 1.0};
  int             at      = 0;

  PetscFunctionBegin;
  for (int i = 0; i < k->nt; i++) {
    const HopsBasis     *b = bases[i];
    HopsCudaTensorTable *t = &k->table[i];
    const int            P = t->P;

    t->Bup   = at;
    t->Bdown = at = TablePut(tables, at, Q, P, P, 1, b->B, NULL);
    at            = TablePut(tables, at, P, Q, 1, P, b->B, NULL);
    if (k->args[0].under) {
      t->Dup   = at;
      t->Ddown = at = TablePut(tables, at, Q, P, P, 1, b->D, NULL);
      at            = TablePut(tables, at, P, Q, 1, P, b->D, NULL);
    }
  }
  if (!k->args[0].under) {
    k->args[0].C  = at;
    k->args[0].CT = at = TablePut(tables, at, Q, Q, Q, 1, bases[0]->C, NULL);
    at                 = TablePut(tables, at, Q, Q, 1, Q, bases[0]->C, NULL);
  }
  k->args[0].ntables = at;
  for (int i = 0; i < k->nt; i++) {
    const HopsBasis     *b = bases[i];
    HopsCudaTensorTable *t = &k->table[i];
    const int            P = t->P;
    HopsBasis            end;

    if (!k->args[0].under) {
      t->Dup   = at;
      t->Ddown = at = TablePut(tables, at, Q, P, P, 1, b->D, NULL);
      at            = TablePut(tables, at, P, Q, 1, P, b->D, NULL);
    }
    t->BB = at;
    t->BD = at = TablePut(tables, at, P, Q, 1, P, b->B, b->B);
    t->DD = at = TablePut(tables, at, P, Q, 1, P, b->B, b->D);
    t->E = at = TablePut(tables, at, P, Q, 1, P, b->D, b->D);
    PetscCall(HopsBasisCreateAtPoints(P, 2, ends, &end));
    for (int j = 0; tables && j < 2 * P; j++) tables[at + j] = end.D[j];
    PetscCall(HopsBasisDestroy(&end));
    at += Pad(2 * P);
  }
  *size = at;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TensorTables(HopsTensorKernel k, PetscInt Q, const HopsBasis *const bases[])
{
  const HopsBackendOps *be = &HopsBackendCUDA;
  double               *tables;
  int                   size = 0;

  PetscFunctionBegin;
  PetscCall(Tables(k, Q, bases, NULL, &size));
  PetscCall(PetscMalloc1(size, &tables));
  PetscCall(Tables(k, Q, bases, tables, &size));
  PetscCall((*be->memory->Malloc)(size * sizeof(double), (void **)&k->tables));
  PetscCall((*be->memory->Copy)(NULL, k->tables, tables, size * sizeof(double), HOPS_COPY_IN));
  PetscCall(PetscFree(tables));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Kernel ---- */

/* Batches hold cells of one part each */
static PetscErrorCode TensorBatches(HopsSpace sp, HopsTensorKernel k)
{
  const HopsBackendOps *be     = &HopsBackendCUDA;
  const PetscInt        end[3] = {sp->ninterior / 2, sp->ninterior, sp->ncells}, W = k->args[0].W;
  PetscInt              c = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(sp->ncells / W + 4, &k->first));
  k->nb = 0;
  for (int p = 0; p < 3; p++) {
    k->part[p] = k->nb;
    for (; c < end[p]; c = PetscMin(c + W, end[p])) k->first[k->nb++] = c;
  }
  k->part[3]      = k->nb;
  k->first[k->nb] = sp->ncells;
  PetscCall((*be->memory->Malloc)((k->nb + 1) * sizeof(PetscInt), (void **)&k->cell));
  PetscCall((*be->memory->Copy)(NULL, k->cell, k->first, (k->nb + 1) * sizeof(PetscInt), HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scratch of a block with W lanes; what goes in and what comes out share it where the kernel keeps a point's
   results in registers */
static int TensorScratch(HopsTensorKernel k, int W)
{
  const int row  = k->args[0].dim + 1;
  int       most = 0, n[2] = {0, 0};

  for (int t = 0; t < 2; t++)
    for (int i = 0; i < k->n[t]; i++) {
      n[t] += k->args[0].side[1 - t][i].nc;
      most = PetscMax(most, k->args[0].side[1 - t][i].nc);
    }
  for (int t = 0; t < 2; t++) {
    HopsCudaTensorArgs *a    = &k->args[t];
    const int           item = W * a->S, ni = n[1 - t], no = n[t]; /* args[0] has trial functions in, test functions out */
    int                 off[2];

    a->W       = W;
    a->ncout   = no;
    off[0]     = 0;
    off[1]     = no <= 4 ? 0 : ni * row * item;
    a->scratch = PetscMax(ni * row * item, off[1] + no * row * item);
    a->X       = most * item;
    a->nwork   = a->scratch + (a->under ? 3 * a->X : 0);
    for (int s = 0; s < 2; s++)
      for (int i = 0; i < a->nside[s]; i++) {
        a->side[s][i].off = off[s];
        a->side[s][i].R   = a->side[s][i].nc * item;
        off[s] += row * a->side[s][i].R;
      }
  }
  return PetscMax(k->args[0].nwork, k->args[1].nwork);
}

static PetscErrorCode HopsTensorDestroy_CUDA(HopsTensorOperator *kernel)
{
  const HopsBackendOps *be = &HopsBackendCUDA;
  HopsTensorKernel      k  = (HopsTensorKernel)*kernel;

  PetscFunctionBegin;
  *kernel = NULL;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 4; i++) PetscCall((*be->memory->Free)(&k->program[i / 2][i % 2]));
  PetscCall((*be->memory->Free)((void **)&k->tables));
  PetscCall((*be->memory->Free)((void **)&k->cell));
  PetscCall((*be->memory->Free)((void **)&k->work));
  PetscCall(PetscFree(k->first));
  PetscCall(PetscFree(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsTensorGetLayout_CUDA(HopsTensorOperator A, HopsTensorLayout *layout)
{
  HopsTensorKernel k = (HopsTensorKernel)A;

  PetscFunctionBegin;
  layout->W      = k->args[0].W;
  layout->nb     = k->nb;
  layout->first  = k->first;
  layout->points = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Pairs of components ---- */

/* For each component that comes out the pairs that add to it; `item` doubles lie between the components of a
   side */
PetscErrorCode HopsCudaTensorProgram(PetscInt nblocks, const HopsTensorData data[], PetscBool transpose, int dim, int item,
                                     const HopsCudaTensorSide in[], int nout, const HopsCudaTensorSide out[], void *program[2])
{
  const HopsBackendOps *be = &HopsBackendCUDA;
  HopsCudaTensorOut    *o;
  HopsCudaTensorOp     *op;
  int                   nc = 0, npairs = 0, c = 0, n = 0;

  PetscFunctionBegin;
  for (int i = 0; i < nout; i++) nc += out[i].nc;
  for (PetscInt b = 0; b < nblocks; b++) npairs += (int)data[b].npairs;
  PetscCall(PetscMalloc1(nc, &o));
  PetscCall(PetscCalloc1(npairs, &op));
  for (int i = 0; i < nout; i++)
    for (int g = 0; g < out[i].nc; g++, c++) {
      o[c].off   = out[i].off + g * item;
      o[c].R     = out[i].R;
      o[c].first = n;
      for (PetscInt b = 0; b < nblocks; b++) {
        const HopsCudaTensorSide *from  = &in[transpose ? data[b].test : data[b].trial];
        int                       entry = 0;

        for (PetscInt j = 0; j < data[b].npairs; j++) {
          const HopsTensorPair p = data[b].pair[j];

          if ((transpose ? data[b].trial : data[b].test) == i && (transpose ? p.trial : p.test) == g) {
            op[n].q        = data[b].q;
            op[n].kind     = !transpose || p.kind == 0 || p.kind == 3 ? p.kind : 3 - p.kind;
            op[n].in       = from->off + (transpose ? p.test : p.trial) * item;
            op[n].R        = from->R;
            op[n].entry    = entry;
            op[n].sa       = p.kind == 3 && !transpose ? dim : 1;
            op[n].sb       = p.kind == 3 && transpose ? dim : 1;
            op[n].nentries = (int)data[b].nentries;
            n++;
          }
          entry += (int)HopsTensorEntries(dim, p.kind);
        }
      }
      o[c].end = n;
    }
  PetscCall((*be->memory->Free)(&program[0]));
  PetscCall((*be->memory->Free)(&program[1]));
  PetscCall((*be->memory->Malloc)(nc * sizeof(*o), &program[0]));
  PetscCall((*be->memory->Malloc)(npairs * sizeof(*op), &program[1]));
  PetscCall((*be->memory->Copy)(NULL, program[0], o, nc * sizeof(*o), HOPS_COPY_IN));
  PetscCall((*be->memory->Copy)(NULL, program[1], op, npairs * sizeof(*op), HOPS_COPY_IN));
  PetscCall(PetscFree(o));
  PetscCall(PetscFree(op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplications and additions of a component's contractions from nodes to points; those back take as
   many */
static double SideFlops(const HopsCudaTensorArgs *a, const HopsCudaTensorSide *s)
{
  const double P = s->table.P, Q = a->Q, one = 2 * P * Q * (a->dim == 3 ? P * P + P * Q + Q * Q : P + Q);

  if (a->under) return (s->gradient ? a->dim + 1 : 1) * one;
  return one + (s->gradient ? 2 * a->dim * Q * a->nq : 0);
}

static PetscLogDouble Flops(HopsTensorKernel k)
{
  const HopsCudaTensorArgs *a = &k->args[0];
  double                    f = 0.0;

  for (int s = 0; s < 2; s++)
    for (int i = 0; i < a->nside[s]; i++)
      if (a->side[s][i].value || a->side[s][i].gradient) f += a->side[s][i].nc * SideFlops(a, &a->side[s][i]);
  for (PetscInt b = 0; b < k->nblocks; b++) f += 2.0 * k->data[b].nentries * a->nq;
  return f * (PetscLogDouble)k->first[k->nb];
}

static PetscErrorCode HopsTensorSetBlocks_CUDA(HopsTensorOperator A, PetscInt nblocks, const HopsTensorData data[])
{
  HopsTensorKernel k = (HopsTensorKernel)A;

  PetscFunctionBegin;
  k->nblocks = nblocks;
  k->data    = data;
  for (int t = 0; t < 2; t++) {
    HopsCudaTensorArgs *a = &k->args[t];

    for (int s = 0; s < 2; s++)
      for (int i = 0; i < a->nside[s]; i++) a->side[s][i].value = a->side[s][i].gradient = false;
    for (PetscInt b = 0; b < nblocks; b++) {
      HopsCudaTensorSide *in = &a->side[0][t ? data[b].test : data[b].trial], *out = &a->side[1][t ? data[b].trial : data[b].test];

      for (PetscInt j = 0; j < data[b].npairs; j++) {
        const int  kind  = data[b].pair[j].kind;
        const bool trial = kind & 1, test = kind & 2;

        if (t ? test : trial) in->gradient = true;
        else in->value = true;
        if (t ? trial : test) out->gradient = true;
        else out->value = true;
      }
    }
    PetscCall(HopsCudaTensorProgram(nblocks, data, t ? PETSC_TRUE : PETSC_FALSE, a->dim, a->W * a->S, a->side[0], a->nside[1],
                                    a->side[1], k->program[t]));
    a->out = (const HopsCudaTensorOut *)k->program[t][0];
    a->op  = (const HopsCudaTensorOp *)k->program[t][1];
  }
  k->head.info.flops = Flops(k);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsTensorOps HopsTensorCUDA = {.GetLayout   = HopsTensorGetLayout_CUDA,
                                             .SetBlocks   = HopsTensorSetBlocks_CUDA,
                                             .CreateFaces = HopsTensorFacesCreate_CUDA,
                                             .Apply       = HopsTensorApply_CUDA,
                                             .Diagonal    = HopsTensorDiagonal_CUDA,
                                             .Destroy     = HopsTensorDestroy_CUDA};

PetscErrorCode HopsTensorCreate_CUDA(HopsSpace sp, PetscInt Q, PetscInt W, PetscInt ntest, const HopsTensorSide test[],
                                     PetscInt ntrial, const HopsTensorSide trial[], HopsTensorOperator *A)
{
  const HopsTensorSide *given[2] = {test, trial};
  const HopsBasis      *bases[2 * HOPS_CUDA_TENSOR_SIDES];
  HopsTensorKernel      k;
  HopsCudaTensorArgs   *a;
  int                   M = (int)Q, total;

  PetscFunctionBegin;
  PetscCheck(ntest <= HOPS_CUDA_TENSOR_SIDES && ntrial <= HOPS_CUDA_TENSOR_SIDES, PetscObjectComm((PetscObject)sp), PETSC_ERR_SUP,
             "The back end cuda takes forms of at most %d fields, not %" PetscInt_FMT ": use -hops_backend host",
             HOPS_CUDA_TENSOR_SIDES, PetscMax(ntest, ntrial));
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscNew(&k));
  k->head.ops = &HopsTensorCUDA;
  *A          = &k->head;
  a           = &k->args[0];
  a->dim      = (int)sp->dim;
  a->Q        = (int)Q;
  a->nq       = (int)HopsPower(a->Q, a->dim);
  k->n[0] = (int)ntest, k->n[1] = (int)ntrial;
  for (int t = 0; t < 2; t++) {
    a->nside[1 - t] = k->n[t];
    for (int i = 0; i < k->n[t]; i++) {
      HopsCudaTensorSide *s = &a->side[1 - t][i];
      const int           P = (int)given[t][i].basis->P;
      int                 j = 0;

      s->nc    = (int)given[t][i].nc;
      s->restr = given[t][i].restr;
      s->l     = given[t][i].l;
      while (j < k->nt && k->table[j].P != P) j++;
      if (j == k->nt) {
        k->table[k->nt].P = P;
        bases[k->nt++]    = given[t][i].basis;
      }
      if (Q < P) a->under = true;
      M = PetscMax(M, P);
    }
  }
  /* until HopsCudaTensorLaunchSize() finds no such kernel */
  k->head.info.specialised = Q <= HOPS_CUDA_TENSOR_FIXED && !a->under ? PETSC_TRUE : PETSC_FALSE;
  for (int i = 0; i < k->nt; i++) {
    const size_t PQ = (size_t)k->table[i].P * Q;

    if (k->table[i].P < Q - 1) k->head.info.specialised = PETSC_FALSE;
    if (k->head.info.specialised) PetscCall(PetscArraycpy(k->table[i].P == Q ? a->fixedB : a->fixedA, bases[i]->B, PQ));
  }
  if (k->head.info.specialised) PetscCall(PetscArraycpy(a->fixedC, bases[0]->C, Q * Q));
  a->S = (int)HopsPower(M, a->dim) / M * (M | 1); /* lines an odd number of doubles apart: no bank conflicts */
  PetscCall(TensorTables(k, Q, bases));
  a->tables = k->tables;
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < k->n[t]; i++) {
      int j = 0;

      while (k->table[j].P != given[t][i].basis->P) j++;
      a->side[1 - t][i].table = k->table[j];
    }
  k->args[1] = k->args[0];
  for (int s = 0; s < 2; s++) {
    k->args[1].nside[s] = a->nside[1 - s];
    PetscCall(PetscMemcpy(k->args[1].side[s], a->side[1 - s], sizeof(a->side[s])));
  }
  /* as many cells at a time as occupy the threads, while several blocks still share a multiprocessor */
  if (!W) {
    W = PetscMax(1, HOPS_CUDA_TENSOR_THREADS / a->nq);
    while (W > 1 && (size_t)TensorScratch(k, (int)W) * sizeof(double) > 48 * 1024) W--;
  }
  (void)TensorScratch(k, (int)W);
  total      = (int)W * a->nq;
  k->threads = HOPS_CUDA_TENSOR_THREADS;
  for (int n = HOPS_CUDA_TENSOR_THREADS; n >= 128; n -= 32)
    if ((total + n - 1) / n * n < (total + k->threads - 1) / k->threads * k->threads) k->threads = n;
  PetscCall(TensorBatches(sp, k));
  k->args[0].cell = k->args[1].cell = k->cell;
  PetscCall(HopsCudaTensorLaunchSize(k));
  PetscCall(PetscSNPrintf(k->head.info.name, sizeof(k->head.info.name), "cuda tensors Q=%d%s", a->Q,
                          a->work ? ", scratch in the device's memory" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}
