/* CUDA back end: what coefficients' values on the device say of a form. A warp takes a cell. */
#include <backend/cuda/lor/cudalor.h>
#include <backend/cuda/runtime/cudaimpl.h>

static const int      HOPS_VALUES_THREADS = 128, HOPS_WARP = 32;
static const unsigned HOPS_ALL_LANES = 0xffffffffu;

__device__ static double WarpMax(double x)
{
  for (int d = HOPS_WARP / 2; d; d /= 2) {
    const double y = __shfl_xor_sync(HOPS_ALL_LANES, x, d);

    x = y > x ? y : x;
  }
  return x;
}

/* HopsCellIsIndefinite(), of which each lane has some points */
__device__ static int CellIsIndefinite(int dim, int lane, int kq, int mq, const HopsValues &k, const double *kv,
                                       const HopsValues &m, const double *mv)
{
  double size = 0;
  int    good = 1;

  for (int q = lane; q < kq; q += HOPS_WARP) size = HopsPointSize((int)k.nc, kv + (size_t)q * k.pstride, size);
  size = WarpMax(size);
  if (size > 0) {
    for (int q = lane; q < kq && good; q += HOPS_WARP)
      good = HopsPointIsPositive(dim, (int)k.nc, kv + (size_t)q * k.pstride, 1e-12 * size);
    return !__all_sync(HOPS_ALL_LANES, good);
  }
  good = 0;
  for (int q = lane; m.nc && q < mq && !good; q += HOPS_WARP) good = mv[(size_t)q * m.pstride] > 0;
  return !__any_sync(HOPS_ALL_LANES, good);
}

__global__ static void CountCells(HopsValuesTest test, int dim, PetscInt n, int nq, const HopsValues k, const HopsValues m,
                                  int *count)
{
  const PetscInt c    = (PetscInt)(((size_t)blockIdx.x * blockDim.x + threadIdx.x) / HOPS_WARP);
  const int      lane = threadIdx.x % HOPS_WARP, kq = k.pstride ? nq : 1, mq = m.pstride ? nq : 1;
  int            found;

  if (c >= n) return; /* a whole warp */
  const double *kv = k.v + (size_t)c * k.cstride, *mv = m.nc ? m.v + (size_t)c * m.cstride : NULL;
  if (test == HOPS_INDEFINITE) found = CellIsIndefinite(dim, lane, kq, mq, k, kv, m, mv);
  else {
    double lo = PETSC_MAX_REAL, hi = PETSC_MIN_REAL;

    for (int q = lane; q < kq; q += HOPS_WARP) HopsPointRange(dim, (int)k.nc, kv + (size_t)q * k.pstride, &lo, &hi);
    found = HopsCellIsNegative(test, -WarpMax(-lo), WarpMax(hi));
  }
  if (found && !lane) atomicAdd(count, 1);
}

/* v, if it is on the device, or a copy there, whose memory is the caller's */
static PetscErrorCode ToDevice(PetscInt n, PetscInt nq, const HopsValues *v, HopsValues *out, void **copy)
{
  const size_t size =
    (v->cstride ? (size_t)n * v->cstride : (v->pstride ? (size_t)nq * v->pstride : (size_t)v->nc)) * sizeof(double);

  PetscFunctionBegin;
  *out  = *v;
  *copy = NULL;
  if (!v->nc || !PetscMemTypeHost(v->memtype)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsCudaPoolMalloc(size, copy));
  PetscCall(HopsCopy_CUDA(NULL, *copy, v->v, size, HOPS_COPY_IN));
  out->v = (const double *)*copy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCountCells_CUDA(HopsValuesTest test, PetscInt dim, PetscInt n, PetscInt nq, const HopsValues *k,
                                   const HopsValues *m, PetscInt *count)
{
  const HopsValues none   = {.nc = 0};
  const size_t     blocks = ((size_t)n * HOPS_WARP + HOPS_VALUES_THREADS - 1) / HOPS_VALUES_THREADS;
  HopsValues       on[2];
  void            *copy[2];
  int             *sum, found = 0;
  cudaStream_t     stream;

  PetscFunctionBegin;
  *count = 0;
  if (!n || !k->nc) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsCudaQueueGetStream(NULL, &stream));
  PetscCall(ToDevice(n, nq, k, &on[0], &copy[0]));
  PetscCall(ToDevice(n, nq, m ? m : &none, &on[1], &copy[1]));
  PetscCall(HopsCudaPoolMalloc(sizeof(int), (void **)&sum));
  PetscCallCUDA(cudaMemsetAsync(sum, 0, sizeof(int), stream));
  CountCells<<<(unsigned)blocks, HOPS_VALUES_THREADS, 0, stream>>>(test, (int)dim, n, (int)nq, on[0], on[1], sum);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCopy_CUDA(NULL, &found, sum, sizeof(int), HOPS_COPY_OUT));
  PetscCall(HopsCudaPoolFree((void **)&sum));
  for (int i = 0; i < 2; i++) PetscCall(HopsCudaPoolFree(&copy[i]));
  *count = found;
  PetscFunctionReturn(PETSC_SUCCESS);
}
