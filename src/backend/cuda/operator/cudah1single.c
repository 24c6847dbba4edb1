/* CUDA back end: copies of operators in single precision. */
#include <backend/cuda/runtime/cudaimpl.h>
#include <backend/cuda/patch/cudapatchpc.h>

typedef struct {
  struct _HopsOperator head;
  HopsCudaArgs         args; /* qdata and geom point to floats */
  PetscErrorCode (*launch)(const HopsCudaArgs *, const float *, const float *, float *, float *);
  PetscInt       ncells, ninterior;
  PetscBool      alone;
  void          *mem[2]; /* quadrature data or geometry, indices */
  double        *tables; /* the process's: B, C, weights, points */
  PetscLogDouble flops;
} * HopsSinglePA;

/* The parts are those of the operator in double precision */
static PetscErrorCode HopsSinglePAApply_CUDA(HopsOperator A, HopsPart part, const void *x, const void *xg, void *y, void *yg)
{
  HopsSinglePA s     = (HopsSinglePA)A;
  PetscInt     begin = 0, end = s->ncells;

  PetscFunctionBegin;
  if (s->alone) {
    if (part != HOPS_PART_SHARED) PetscFunctionReturn(PETSC_SUCCESS);
  } else if (part == HOPS_PART_INTERIOR_A) end = s->ninterior / 2;
  else if (part == HOPS_PART_INTERIOR_B) {
    begin = s->ninterior / 2;
    end   = s->ninterior;
  } else begin = s->ninterior;
  s->args.first = begin;
  s->args.n     = end - begin;
  PetscCall(HopsGetCUDAStream(&s->args.stream));
  if (s->args.n) PetscCall((*s->launch)(&s->args, (const float *)x, (const float *)xg, (float *)y, (float *)yg));
  if (s->ncells) PetscCall(PetscLogGpuFlops(s->flops / s->ncells * s->args.n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSinglePADestroy_CUDA(HopsOperator *A)
{
  HopsSinglePA s = (HopsSinglePA)*A;

  PetscFunctionBegin;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 2; i++) PetscCall((*HopsBackendCUDA.memory->Free)(&s->mem[i]));
  PetscCall(PetscFree(s->tables));
  PetscCall(PetscFree(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsOperatorOps HopsSinglePACUDA = {.Apply = HopsSinglePAApply_CUDA, .Destroy = HopsSinglePADestroy_CUDA};

/* The kernel's own data may go before their copy */
PetscErrorCode HopsSinglePACreate_CUDA(HopsOperator A, HopsOperator *single)
{
  HopsPAKernel        k = (HopsPAKernel)A;
  HopsSinglePA        s;
  HopsCudaArgs       *a;
  PetscInt            n;
  const HopsCudaArgs *from = k->args.geometry == HOPS_CUDA_AFFINE ? &k->few : &k->args;
  size_t              size, PQ = (size_t)from->P * from->Q, QQ = (size_t)from->Q * from->Q;
  const int           stored = from->geometry == HOPS_CUDA_STORED, padded = from->padded != from->restr;
  cudaStream_t        stream;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  s->head.ops  = &HopsSinglePACUDA;
  *single      = &s->head;
  s->args      = *from;
  a            = &s->args;
  s->ncells    = k->ncells;
  s->ninterior = k->ninterior;
  s->alone     = k->alone;
  s->flops     = k->head.info.flops;
#define HOPS_CUDA_SINGLE_FIND(q) \
  if (a->Q == q && a->P <= q) s->launch = HopsCudaSingleLaunch_##q;
  HOPS_CUDA_SINGLE_POINTS(HOPS_CUDA_SINGLE_FIND)
  PetscCheck(s->launch, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The device has operators in single precision with 2 to 10 quadrature points per direction, and no fewer than nodes, "
             "not with %d points for %d nodes: set -mat_pa_q_1d, or use -pc_hopsmg_precision double",
             a->Q, a->P);
  n = (PetscInt)(k->size[stored ? 1 : 6] / sizeof(double));
  PetscCall((*HopsBackendCUDA.memory->Malloc)(n * sizeof(float), &s->mem[0]));
  PetscCall((*HopsVectorCUDA.Convert)(PETSC_FLOAT, n, 1.0, (const double *)k->mem[stored ? 1 : 6], (float *)s->mem[0]));
  a->qdata = (const double *)(stored ? s->mem[0] : NULL);
  a->geom  = (const double *)(stored ? NULL : s->mem[0]);
  a->work  = NULL;
  PetscCall(HopsGetCUDAStream(&stream));
  size = padded ? k->size[7] : k->ncells * (size_t)HopsPower(a->P, a->dim) * sizeof(int);
  PetscCall((*HopsBackendCUDA.memory->Malloc)(size, &s->mem[1]));
  if (size) PetscCallCUDA(cudaMemcpyAsync(s->mem[1], from->padded, size, cudaMemcpyDeviceToDevice, stream));
  a->restr = a->padded = (const int *)s->mem[1];
  PetscCall(PetscMalloc1(PQ + QQ + 2 * (size_t)a->Q, &s->tables));
  PetscCall(PetscArraycpy(s->tables, a->hostB, PQ));
  PetscCall(PetscArraycpy(s->tables + PQ, a->hostC, QQ));
  PetscCall(PetscArraycpy(s->tables + PQ + QQ, a->hostw, a->Q));
  PetscCall(PetscArraycpy(s->tables + PQ + QQ + a->Q, a->hostz, a->Q));
  a->hostB = s->tables;
  a->hostC = s->tables + PQ;
  a->hostw = s->tables + PQ + QQ;
  a->hostz = a->hostw + a->Q;
  PetscFunctionReturn(PETSC_SUCCESS);
}
