/* CUDA: models of cells, element matrices, lists and inverses of patches. */
#include "cudapatchmatrix.h"
#include "cudapatchset.h"

#define SHARED_MAX 232448 /* bytes of shared memory of a block */

/* ---- Models: a warp for each cell ---- */

#define MODEL_WARPS 4

__device__ static double WarpSum(double x)
{
  for (int o = 16; o; o /= 2) x += __shfl_xor_sync(0xffffffffu, x, o);
  return x;
}

__device__ static double WarpMax(double x)
{
  for (int o = 16; o; o /= 2) x = fmax(x, __shfl_xor_sync(0xffffffffu, x, o));
  return x;
}

__global__ static void __launch_bounds__(32 * MODEL_WARPS) Models(const HopsCudaPatchData a, int n, HopsPatchCell *models)
{
  const int     c      = blockIdx.x * MODEL_WARPS + threadIdx.y;
  const double *q      = a.q + (size_t)c * a.ncomp * a.points.nq;
  double        sum[5] = {0, 0, 0, 0, 0};
  HopsPatchCell cell;

  if (c >= n) return;
  HopsPatchModelSums(&a.points, q, threadIdx.x, 32, sum);
  for (int k = 0; k < 5; k++) sum[k] = WarpSum(sum[k]);
  HopsPatchModelMeans(&a.points, sum, &cell);
  HopsPatchModelExtremes(&a.points, q, threadIdx.x, 32, &cell);
  cell.lo  = -WarpMax(-cell.lo);
  cell.hi  = WarpMax(cell.hi);
  cell.mlo = -WarpMax(-cell.mlo);
  cell.mhi = WarpMax(cell.mhi);
  if (threadIdx.x == 0) models[c] = cell;
}

PetscErrorCode HopsCudaPatchModels(const HopsCudaPatchData *a, int n, HopsPatchCell models[], cudaStream_t stream)
{
  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  Models<<<(n + MODEL_WARPS - 1) / MODEL_WARPS, dim3(32, MODEL_WARPS), 0, stream>>>(*a, n, models);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Element matrices: a block for each cell ---- */

#define ELEMENT_THREADS 128

__global__ static void __launch_bounds__(ELEMENT_THREADS)
  Elements(const HopsCudaPatchData a, int P, const double *T, const PetscInt *cells, int chunk, size_t n2, double *E)
{
  extern __shared__ __align__(16) double work[];

  HopsPatchElementMatrix(&a.points, P, a.q + (size_t)cells[blockIdx.x] * a.ncomp * a.points.nq, T, chunk, work, E + blockIdx.x * n2,
                         threadIdx.x, ELEMENT_THREADS);
}

PetscErrorCode HopsCudaPatchElements(const HopsCudaPatchData *a, int P, const double T[], int n, const PetscInt cells[], double E[],
                                     cudaStream_t stream)
{
  const int    pair  = HopsPatchElementScratch(a->points.dim, P, a->points.Q);
  const int    chunk = (int)PetscMax(1, PetscMin(P * P, 6144 / pair)); /* pairs in x at a time, in 48 kB */
  const size_t bytes = sizeof(double) * pair * chunk, nn = (size_t)P * P * (a->points.dim == 3 ? P : 1);

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(bytes <= SHARED_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "Dense patches of order %d with %d quadrature points in a direction do not fit on the device: use "
             "-pc_patchfd_dense_max 0, or -hops_backend host",
             P - 1, a->points.Q);
  PetscCallCUDA(cudaFuncSetAttribute(Elements, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  Elements<<<n, ELEMENT_THREADS, bytes, stream>>>(*a, P, T, cells, chunk, nn * nn, E);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Lists: a block for each patch; a warp for what may be wrong with a star ---- */

#define FAULT_WARPS  4
#define LIST_THREADS 64

__global__ static void __launch_bounds__(32 * FAULT_WARPS)
  Faults(const HopsPatchNodes m, int all, int n, const HopsPatchStar *star, unsigned char *faults)
{
  const int k     = blockIdx.x * FAULT_WARPS + threadIdx.y;
  int       wrong = 0;

  if (k >= n) return;
  if (star[k].side[0]) wrong = HopsPatchStarFaults(&m, star + k, all, threadIdx.x, 32);
  for (int o = 16; o; o /= 2) wrong |= __shfl_xor_sync(0xffffffffu, wrong, o);
  if (threadIdx.x == 0) faults[k] = (unsigned char)wrong;
}

PetscErrorCode HopsCudaPatchFaults(const HopsPatchNodes *m, int all, int n, const HopsPatchStar star[], unsigned char faults[],
                                   cudaStream_t stream)
{
  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  Faults<<<(n + FAULT_WARPS - 1) / FAULT_WARPS, dim3(32, FAULT_WARPS), 0, stream>>>(*m, all, n, star, faults);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

__global__ static void __launch_bounds__(LIST_THREADS) Lists(const HopsCudaPatchLists l)
{
  extern __shared__ __align__(16) int sorting[];
  const int                           k = blockIdx.x, n = (int)(l.start[k + 1] - l.start[k]);
  const HopsPatchStar                *s  = l.star + k;
  int                                *to = l.idx + l.start[k];

  if (!s->side[0])
    for (int i = threadIdx.x; i < n; i += LIST_THREADS) to[i] = l.given[s->cell[0] + i];
  else if (s->sorted) {
    HopsPatchStarList(&l.nodes, s, 0, sorting, NULL, threadIdx.x, LIST_THREADS);
    __syncthreads();
    HopsPatchListSort(n, sorting, NULL, to, NULL, threadIdx.x, LIST_THREADS);
  } else HopsPatchStarList(&l.nodes, s, 0, to, NULL, threadIdx.x, LIST_THREADS);
  if (l.estart[k] < l.estart[k + 1]) HopsPatchStarList(&l.nodes, s, 1, l.eidx + l.estart[k], NULL, threadIdx.x, LIST_THREADS);
}

PetscErrorCode HopsCudaPatchMakeLists(const HopsCudaPatchLists *l, cudaStream_t stream)
{
  const size_t bytes = HOPS_CUDA_SHARED(l->nmax * sizeof(int));

  PetscFunctionBegin;
  if (!l->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(bytes <= SHARED_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A dense patch of %d unknowns is too large for the device: lower -pc_patchfd_dense_max, or use -hops_backend host",
             l->nmax);
  PetscCallCUDA(cudaFuncSetAttribute(Lists, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  Lists<<<l->n, LIST_THREADS, bytes, stream>>>(*l);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Inverses: a block for each patch; its matrix in global, panels in shared memory ---- */

#define INVERT_THREADS 256

__global__ static void __launch_bounds__(INVERT_THREADS) Invert(const HopsCudaPatchMatrices m, int b)
{
  extern __shared__ __align__(16) double work[];
  const int                              k = blockIdx.x, n = (int)m.size[k];
  double                                *A   = m.inv + m.offset[k];
  int                                   *row = (int *)(work + HopsPatchInvertScratch(m.nmax, b));

  HopsPatchAssemble(&m.nodes, n, m.list + m.start[k], (int)(m.cstart[k + 1] - m.cstart[k]), m.cell + m.cstart[k], m.cells, m.E, row,
                    A, threadIdx.x, INVERT_THREADS);
  if (!HopsPatchInvert(n, b, A, work, threadIdx.x, INVERT_THREADS) && threadIdx.x == 0) atomicMin(m.bad, k);
}

/* Pivots at a time of matrices of n unknowns, beside `more` bytes of shared memory, and the bytes of both */
static PetscErrorCode InvertBlock(int n, size_t more, const char option[], int *b, size_t *bytes)
{
  PetscFunctionBegin;
  for (*b = 16; *b > 1 && sizeof(double) * HopsPatchInvertScratch(n, *b) + more > SHARED_MAX;) *b /= 2;
  *bytes = HOPS_CUDA_SHARED(sizeof(double) * HopsPatchInvertScratch(n, *b) + more);
  PetscCheck(*bytes <= SHARED_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A patch of %d unknowns is too large to be inverted on the device: lower %s, or use -hops_backend host", n, option);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaPatchInvert(const HopsCudaPatchMatrices *m, cudaStream_t stream)
{
  int    b;
  size_t bytes;

  PetscFunctionBegin;
  if (!m->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(InvertBlock(m->nmax, sizeof(int) * m->nodes.nn, "-pc_patchfd_dense_max", &b, &bytes));
  PetscCallCUDA(cudaFuncSetAttribute(Invert, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  Invert<<<m->n, INVERT_THREADS, bytes, stream>>>(*m, b);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Condensed patches: a block for each ---- */

__global__ static void __launch_bounds__(INVERT_THREADS)
  Condense(const HopsPatchModes m, const HopsPatchCondensed *cond, double *schur, int b, int *bad)
{
  extern __shared__ __align__(16) double work[];
  const HopsPatchCondensed              &c = cond[blockIdx.x];

  HopsPatchSchur(&m, &c, schur + c.offset, threadIdx.x, INVERT_THREADS);
  if (!HopsPatchInvert(c.n, b, schur + c.offset, work, threadIdx.x, INVERT_THREADS) && threadIdx.x == 0)
    atomicMin(bad, (int)blockIdx.x);
}

PetscErrorCode HopsCudaPatchCondense(const HopsPatchModes *m, int n, int nmax, const HopsPatchCondensed cond[], double schur[],
                                     int *bad, cudaStream_t stream)
{
  int    b;
  size_t bytes;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(InvertBlock(nmax, 0, "-pc_patchfd_condense_max", &b, &bytes));
  PetscCallCUDA(cudaFuncSetAttribute(Condense, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  Condense<<<n, INVERT_THREADS, bytes, stream>>>(*m, cond, schur, b, bad);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
