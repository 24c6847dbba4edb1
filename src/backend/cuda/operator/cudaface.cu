/* Terms on boundary faces: y += B^T D B x on a list of faces, any order. A block works on several faces at a
   time. */
#include <backend/cuda/runtime/cudacontract.cuh>
#include <backend/cuda/runtime/cudaimpl.h>

#define HOPS_CUDA_FACE_THREADS 128

struct Faces {
  struct _HopsOperator head;
  int                  fd, P, Q, nT, n, nb; /* nb: faces of a block */
  const int           *restr;
  double              *qdata, *B, *BB;
  size_t               shared;
  cudaStream_t         stream;
};

/* diagonal: B holds the squares of the basis, and the point values are the data themselves */
__global__ static void __launch_bounds__(HOPS_CUDA_FACE_THREADS)
  FaceApply(const Faces k, bool diagonal, const double *__restrict__ x, const double *__restrict__ xg, double *y, double *yg)
{
  extern __shared__ double shared[];
  const int fd = k.fd, P = k.P, Q = k.Q, nf = HopsCudaPower(P, fd), nq = HopsCudaPower(Q, fd), first = blockIdx.x * k.nb,
            nb = min(k.nb, k.n - first), nm = max(nf, nq);
  const double *B = diagonal ? k.BB : k.B;
  double       *e = shared, *f = e + k.nb * nm, *v = f + k.nb * nm; /* [face][node or point] */
  const int    *r = k.restr + (size_t)first * nf;

  if (!diagonal) {
    for (int i = threadIdx.x; i < nb * nf; i += blockDim.x) e[i] = r[i] < k.nT ? x[r[i]] : xg[r[i] - k.nT];
    __syncthreads();
    if (fd == 2) {
      Contract(Q, P, B, P, 1, nb * P, 1, e, f, false);
      Contract(Q, P, B, P, 1, nb, Q, f, v, false);
    } else Contract(Q, P, B, P, 1, nb, 1, e, v, false);
  }
  for (int i = threadIdx.x; i < nb * nq; i += blockDim.x) v[i] = (diagonal ? 1 : v[i]) * k.qdata[(size_t)first * nq + i];
  __syncthreads();
  if (fd == 2) {
    Contract(P, Q, B, 1, P, nb * Q, 1, v, f, false);
    Contract(P, Q, B, 1, P, nb, P, f, e, false);
  } else Contract(P, Q, B, 1, P, nb, 1, v, e, false);
  for (int i = threadIdx.x; i < nb * nf; i += blockDim.x) atomicAdd(r[i] < k.nT ? y + r[i] : yg + (r[i] - k.nT), e[i]);
}

static PetscErrorCode Launch(Faces *k, bool diagonal, const double x[], const double xg[], double y[], double yg[])
{
  PetscFunctionBegin;
  if (!k->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsGetCUDAStream(&k->stream));
  FaceApply<<<(k->n + k->nb - 1) / k->nb, HOPS_CUDA_FACE_THREADS, k->shared, k->stream>>>(*k, diagonal, x, xg, y, yg);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FacesApply(HopsOperator A, HopsPart part, const void *x, const void *xg, void *y, void *yg)
{
  PetscFunctionBegin;
  PetscCall(Launch((Faces *)A, false, (const double *)x, (const double *)xg, (double *)y, (double *)yg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FacesDiagonal(HopsOperator A, PetscScalar d[], PetscScalar dg[])
{
  PetscFunctionBegin;
  PetscCall(Launch((Faces *)A, true, NULL, NULL, d, dg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FacesDestroy(HopsOperator *A)
{
  const HopsBackendOps *be = &HopsBackendCUDA;
  Faces                *k  = (Faces *)*A;

  PetscFunctionBegin;
  *A = NULL;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*be->memory->Free)((void **)&k->restr));
  PetscCall((*be->memory->Free)((void **)&k->qdata));
  PetscCall((*be->memory->Free)((void **)&k->B));
  PetscCall(PetscFree(k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* SetUp, SetUpCells, Apply, Diagonal, CreateSingle, Destroy: C++17 has no designated initialisers */
static const HopsOperatorOps FacesCUDA = {NULL, NULL, FacesApply, FacesDiagonal, NULL, FacesDestroy};

PetscErrorCode HopsFacesCreate_CUDA(HopsSpace space, const HopsBasis *basis, PetscInt n, const int restr[],
                                    const PetscScalar qdata[], HopsOperator *A)
{
  const HopsBackendOps *be = &HopsBackendCUDA;
  Faces                *k;
  const size_t          PQ = (size_t)basis->P * basis->Q;
  double               *BB;

  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscNew(&k));
  k->head.ops = &FacesCUDA;
  *A          = &k->head;
  k->fd       = (int)space->dim - 1;
  k->P        = (int)basis->P;
  k->Q        = (int)basis->Q;
  k->nT       = (int)space->nT;
  k->n        = (int)n;
  {
    const size_t nf = HopsCudaPower(k->P, k->fd), nq = HopsCudaPower(k->Q, k->fd), nm = PetscMax(nf, nq);

    k->nb     = (int)PetscMax(1, HOPS_CUDA_FACE_THREADS / nm);
    k->shared = 3 * k->nb * nm * sizeof(double);
    PetscCall((*be->memory->Malloc)(n * nf * sizeof(int), (void **)&k->restr));
    PetscCall((*be->memory->Copy)(NULL, (void *)k->restr, restr, n * nf * sizeof(int), HOPS_COPY_IN));
    PetscCall((*be->memory->Malloc)(n * nq * sizeof(double), (void **)&k->qdata));
    PetscCall((*be->memory->Copy)(NULL, k->qdata, qdata, n * nq * sizeof(double), HOPS_COPY_IN));
  }
  PetscCall((*be->memory->Malloc)(2 * PQ * sizeof(double), (void **)&k->B));
  k->BB = k->B + PQ;
  PetscCall(PetscMalloc1(PQ, &BB));
  for (size_t i = 0; i < PQ; i++) BB[i] = basis->B[i] * basis->B[i];
  PetscCall((*be->memory->Copy)(NULL, k->B, basis->B, PQ * sizeof(double), HOPS_COPY_IN));
  PetscCall((*be->memory->Copy)(NULL, k->BB, BB, PQ * sizeof(double), HOPS_COPY_IN));
  PetscCall(PetscFree(BB));
  if (k->shared > 48 * 1024)
    PetscCallCUDA(cudaFuncSetAttribute(FaceApply, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)k->shared));
  PetscFunctionReturn(PETSC_SUCCESS);
}
