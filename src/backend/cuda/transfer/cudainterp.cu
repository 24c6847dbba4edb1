/*
  Maps between nested spaces (MATHOPSINTERP), in both precisions: a block applies the 1D matrix in each
  direction to a few macro cells in shared memory. The transpose writes the sources' values of each macro cell
  to memory of its own, and each unknown sums its own in a fixed order: no atomics, and the same result bit by
  bit.
*/
#include <backend/cuda/runtime/cudaimpl.h>
#include <backend/cuda/patch/cudapatchpc.h>

#define HOPS_CUDA_INTERP_THREADS 128
#define HOPS_CUDA_INTERP_SHARED  (96 * 1024)

/* Sums of the transpose: row i is the unknown row[i] of the L-vector, and gets the entries pos[start[i]] ..
   pos[start[i+1]-1] */
typedef struct {
  int n, *row, *start, *pos; /* device */
} InterpRows;

typedef struct _HopsInterpKernel *HopsInterpKernel;
struct _HopsInterpKernel {
  struct _HopsInterpolation head;
  int                       dim, M, N, ns, nt, nT, nb; /* nb: macro cells of a block */
  PetscInt                  nmacro, ninterior;
  const int                *source, *target; /* device: [nmacro][N^dim], [nmacro][M^dim] */
  double                   *A;               /* device: [M][N] */
  double                   *hostA;
  InterpRows                rows[2]; /* of the interior macro cells, of the others */
  void                     *e;       /* [nmacro][N^dim] values of the transpose; as large as double precision needs */
  void                     *work;    /* scratch of blocks where shared memory does not hold it */
  size_t                    nwork;   /* numbers of a block */
  int                       nblocks;
  PetscLogDouble            flops[2];
};

typedef struct {
  struct _HopsInterpolation head;
  HopsInterpKernel          k; /* borrowed */
  float                    *A;
} * HopsSingleInterp;

template <class T> struct InterpArgs {
  int dim, M, N, nT, nb, n; /* n: macro cells */
  const int *__restrict__ source, *__restrict__ target;
  const T *__restrict__ A;
  T     *work;
  size_t nwork;
};

__host__ __device__ static inline int Pow(int n, int d)
{
  return d == 3 ? n * n * n : n * n;
}

/* out[o][m][i] = sum_c A[m][c] in[o][c][i] (transposed: A[c][m]); the last product of a map goes to its
   targets instead */
template <class T> __device__ __forceinline__ T Entry(const T *A, int m, int c, bool transposed, int r, const T *in, int inner)
{
  T v = 0;

  for (int j = 0; j < c; j++) v += A[transposed ? j * m + r : r * c + j] * in[j * inner];
  return v;
}

template <class T> __device__ void Direction(const T *A, int m, int c, bool transposed, int outer, int inner, const T *in, T *out)
{
  const int total = outer * m * inner;

  for (int e = threadIdx.x; e < total; e += blockDim.x) {
    const int i = e % inner, r = e / inner % m, o = e / (inner * m);

    out[e] = Entry(A, m, c, transposed, r, in + o * c * inner + i, inner);
  }
  __syncthreads();
}

/* y[target] = or += (A x A x A) x[source]: nb macro cells in a block */
template <class T>
__global__ void __launch_bounds__(HOPS_CUDA_INTERP_THREADS)
  InterpApply(const InterpArgs<T> a, const T *__restrict__ x, const T *__restrict__ xg, T *y, bool add)
{
  extern __shared__ __align__(16) unsigned char raw[];
  /* values across the last direction */
  const int dim = a.dim, M = a.M, N = a.N, ns = Pow(N, dim), nt = Pow(M, dim), last = dim == 3 ? M * M : M;
  T        *A = (T *)raw, *w = a.work ? a.work + blockIdx.x * a.nwork : A + (M * N + 3) / 4 * 4, *u = w,
    *v = u + (size_t)a.nb * (dim == 3 ? max(ns, N * M * M) : ns);

  for (int i = threadIdx.x; i < M * N; i += blockDim.x) A[i] = a.A[i];
  __syncthreads();
  for (int first = blockIdx.x * a.nb; first < a.n; first += gridDim.x * a.nb) {
    const int  cells = min(a.nb, a.n - first);
    const int *src = a.source + (size_t)first * ns, *dst = a.target + (size_t)first * nt;
    const T   *in;

    for (int i = threadIdx.x; i < cells * ns; i += blockDim.x) u[i] = src[i] < a.nT ? x[src[i]] : xg[src[i] - a.nT];
    __syncthreads();
    Direction(A, M, N, false, cells * (dim == 3 ? N * N : N), 1, u, v);
    if (dim == 3) Direction(A, M, N, false, cells * N, M, v, u);
    in = dim == 3 ? u : v;
    for (int e = threadIdx.x; e < cells * nt; e += blockDim.x) {
      const int to = dst[e];

      if (to >= 0) {
        const int i = e % last, r = e / last % M, o = e / nt;
        const T   s = Entry(A, M, N, false, r, in + (o * N) * last + i, last);

        if (add) y[to] += s;
        else y[to] = s;
      }
    }
    __syncthreads();
  }
}

/* e = (A x A x A)^T y[target] */
template <class T>
__global__ void __launch_bounds__(HOPS_CUDA_INTERP_THREADS)
  InterpTranspose(const InterpArgs<T> a, const T *__restrict__ y, T *__restrict__ out)
{
  extern __shared__ __align__(16) unsigned char raw[];
  const int dim = a.dim, M = a.M, N = a.N, ns = Pow(N, dim), nt = Pow(M, dim), last = dim == 3 ? M * M : M;
  T        *A = (T *)raw, *w = a.work ? a.work + blockIdx.x * a.nwork : A + (M * N + 3) / 4 * 4, *u = w,
    *v = u + (size_t)a.nb * (dim == 3 ? max(ns, N * M * M) : ns);

  for (int i = threadIdx.x; i < M * N; i += blockDim.x) A[i] = a.A[i];
  __syncthreads();
  for (int first = blockIdx.x * a.nb; first < a.n; first += gridDim.x * a.nb) {
    const int  cells = min(a.nb, a.n - first);
    const int *dst   = a.target + (size_t)first * nt;
    T         *to    = out + (size_t)first * ns;

    /* the last direction first, from memory: each value is read by N threads */
    for (int e = threadIdx.x; e < cells * N * last; e += blockDim.x) {
      const int  i = e % last, r = e / last % N, o = e / (last * N);
      const int *d = dst + (size_t)o * nt + i;
      T          s = 0;

      for (int j = 0; j < M; j++) {
        const int k = d[j * last];

        if (k >= 0) s += A[j * N + r] * y[k];
      }
      (dim == 3 ? u : v)[e] = s;
    }
    __syncthreads();
    if (dim == 3) Direction(A, N, M, true, cells * N, M, u, v);
    for (int e = threadIdx.x; e < cells * ns; e += blockDim.x) to[e] = Entry(A, N, M, true, e % N, v + (e / N) * M, 1);
    __syncthreads();
  }
}

/* x[row] += the row's entries */
template <class T>
__global__ void SumRows(int n, const int *__restrict__ row, const int *__restrict__ start, const int *__restrict__ pos,
                        const T *__restrict__ e, int nT, T *x, T *xg)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  T         s = 0;

  if (i >= n) return;
  for (int j = start[i]; j < start[i + 1]; j++) s += e[pos[j]];
  if (row[i] < nT) x[row[i]] += s;
  else xg[row[i] - nT] += s;
}

/* Entries of each unknown among the sources of macro cells first..last-1, in ascending order */
static PetscErrorCode CreateRows(HopsInterpKernel k, PetscInt nL, const int source[], PetscInt first, PetscInt last,
                                 InterpRows *rows)
{
  const PetscInt begin = first * k->ns, end = last * k->ns;
  int           *count, *row, *start, *pos, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(nL + 1, &count));
  for (PetscInt i = begin; i < end; ++i) ++count[source[i]];
  for (PetscInt l = 0; l < nL; ++l) n += count[l] > 0;
  PetscCall(PetscMalloc3(n, &row, n + 1, &start, end - begin, &pos));
  n        = 0;
  start[0] = 0;
  for (PetscInt l = 0; l < nL; ++l)
    if (count[l]) {
      row[n]       = (int)l;
      start[n + 1] = start[n] + count[l];
      count[l]     = start[n++];
    }
  for (PetscInt i = begin; i < end; ++i) pos[count[source[i]]++] = (int)i;
  rows->n = n;
  PetscCall(HopsCudaToDevice(n * sizeof(int), row, &rows->row));
  PetscCall(HopsCudaToDevice((n + 1) * sizeof(int), start, &rows->start));
  PetscCall(HopsCudaToDevice((end - begin) * sizeof(int), pos, &rows->pos));
  PetscCall(PetscFree3(row, start, pos));
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
static PetscErrorCode Launch(HopsInterpKernel k, const T *A, PetscBool interior, const T *x, const T *xg, T *y, T *yg,
                             PetscBool transpose, PetscBool add)
{
  const PetscInt   first = interior ? 0 : k->ninterior, n = (interior ? k->ninterior : k->nmacro) - first;
  InterpArgs<T>    a = {k->dim, k->M,         k->N,    k->nT, k->nb, (int)n, k->source + first * k->ns, k->target + first * k->nt,
                        A,      (T *)k->work, k->nwork};
  const InterpRows r = k->rows[interior ? 0 : 1];
  int              blocks = (int)((n + k->nb - 1) / k->nb);
  size_t           shared = ((size_t)(k->M * k->N + 3) / 4 * 4 + (k->work ? 0 : k->nwork)) * sizeof(T);
  cudaStream_t     stream;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsGetCUDAStream(&stream));
  if (k->work) blocks = PetscMin(blocks, k->nblocks);
  if (!transpose) {
    if (shared > 48 * 1024)
      PetscCallCUDA(cudaFuncSetAttribute(InterpApply<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    InterpApply<T><<<blocks, HOPS_CUDA_INTERP_THREADS, shared, stream>>>(a, x, xg, y, add == PETSC_TRUE);
  } else {
    if (shared > 48 * 1024)
      PetscCallCUDA(cudaFuncSetAttribute(InterpTranspose<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    InterpTranspose<T><<<blocks, HOPS_CUDA_INTERP_THREADS, shared, stream>>>(a, x, (T *)k->e + first * k->ns);
    PetscCallCUDA(cudaGetLastError());
    SumRows<T><<<(r.n + 255) / 256, 256, 0, stream>>>(r.n, r.row, r.start, r.pos, (const T *)k->e, k->nT, y, yg);
  }
  PetscCallCUDA(cudaGetLastError());
  PetscCall(PetscLogGpuFlops(k->flops[interior ? 0 : 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsInterpApply_CUDA(HopsInterpolation P, PetscBool interior, const void *x, const void *xg, void *y,
                                           PetscBool add)
{
  HopsInterpKernel k = (HopsInterpKernel)P;

  PetscFunctionBegin;
  PetscCall(Launch<double>(k, k->A, interior, (const double *)x, (const double *)xg, (double *)y, NULL, PETSC_FALSE, add));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsInterpApplyTranspose_CUDA(HopsInterpolation P, PetscBool interior, const void *y, void *x, void *xg)
{
  HopsInterpKernel k = (HopsInterpKernel)P;

  PetscFunctionBegin;
  PetscCall(Launch<double>(k, k->A, interior, (const double *)y, NULL, (double *)x, (double *)xg, PETSC_TRUE, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsInterpDestroy_CUDA(HopsInterpolation *P)
{
  HopsInterpKernel k = (HopsInterpKernel)*P;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*HopsBackendCUDA.memory->Free)((void **)&k->source));
  PetscCall((*HopsBackendCUDA.memory->Free)((void **)&k->target));
  PetscCall((*HopsBackendCUDA.memory->Free)((void **)&k->A));
  PetscCall((*HopsBackendCUDA.memory->Free)(&k->e));
  PetscCall((*HopsBackendCUDA.memory->Free)(&k->work));
  for (int i = 0; i < 2; ++i) {
    PetscCall((*HopsBackendCUDA.memory->Free)((void **)&k->rows[i].row));
    PetscCall((*HopsBackendCUDA.memory->Free)((void **)&k->rows[i].start));
    PetscCall((*HopsBackendCUDA.memory->Free)((void **)&k->rows[i].pos));
  }
  PetscCall(PetscFree(k->hostA));
  PetscCall(PetscFree(*P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleApply(HopsInterpolation P, PetscBool interior, const void *x, const void *xg, void *y, PetscBool add)
{
  HopsSingleInterp s = (HopsSingleInterp)P;

  PetscFunctionBegin;
  PetscCall(Launch<float>(s->k, s->A, interior, (const float *)x, (const float *)xg, (float *)y, NULL, PETSC_FALSE, add));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleApplyTranspose(HopsInterpolation P, PetscBool interior, const void *y, void *x, void *xg)
{
  HopsSingleInterp s = (HopsSingleInterp)P;

  PetscFunctionBegin;
  PetscCall(Launch<float>(s->k, s->A, interior, (const float *)y, NULL, (float *)x, (float *)xg, PETSC_TRUE, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleDestroy(HopsInterpolation *P)
{
  HopsSingleInterp s = (HopsSingleInterp)*P;

  PetscFunctionBegin;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*HopsBackendCUDA.memory->Free)((void **)&s->A));
  PetscCall(PetscFree(*P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsInterpOps SingleCUDA = {SingleApply, SingleApplyTranspose, NULL, SingleDestroy};

/* The index lists are the map's own, which outlives its copy */
static PetscErrorCode CreateSingle(HopsInterpolation P, HopsInterpolation *single)
{
  HopsInterpKernel k = (HopsInterpKernel)P;
  const PetscInt   n = k->M * k->N;
  HopsSingleInterp s;
  float           *A;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  s->head.ops = &SingleCUDA;
  s->k        = k;
  *single     = &s->head;
  PetscCall(PetscMalloc1(n, &A));
  for (PetscInt i = 0; i < n; ++i) A[i] = (float)k->hostA[i];
  PetscCall(HopsCudaToDevice(n * sizeof(float), A, &s->A));
  PetscCall(PetscFree(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const HopsInterpOps HopsInterpCUDA = {HopsInterpApply_CUDA, HopsInterpApplyTranspose_CUDA, CreateSingle,
                                             HopsInterpDestroy_CUDA};

PetscErrorCode HopsInterpCreate_CUDA(HopsSpace from, PetscInt nmacro, PetscInt ninterior, PetscInt N, const int source[],
                                     PetscInt M, const int target[], const PetscReal A[], HopsInterpolation *P)
{
  HopsInterpKernel k;
  size_t           size;
  int              device, nsm;

  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscNew(&k));
  k->head.ops  = &HopsInterpCUDA;
  *P           = &k->head;
  k->dim       = (int)from->dim;
  k->M         = (int)M;
  k->N         = (int)N;
  k->ns        = Pow(k->N, k->dim);
  k->nt        = Pow(k->M, k->dim);
  k->nT        = (int)from->nT;
  k->nmacro    = nmacro;
  k->ninterior = ninterior;
  PetscCheck(nmacro * k->ns < PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "More than 2^31 nodes of macro cells on one rank: use more ranks");
  PetscCall(HopsCudaToDevice(nmacro * k->ns * sizeof(int), source, &k->source));
  PetscCall(HopsCudaToDevice(nmacro * k->nt * sizeof(int), target, &k->target));
  PetscCall(HopsCudaToDevice(M * N * sizeof(double), A, &k->A));
  PetscCall(PetscMalloc1(M * N, &k->hostA));
  PetscCall(PetscArraycpy(k->hostA, A, M * N));
  PetscCall(CreateRows(k, from->nL, source, 0, ninterior, &k->rows[0]));
  PetscCall(CreateRows(k, from->nL, source, ninterior, nmacro, &k->rows[1]));
  PetscCall((*HopsBackendCUDA.memory->Malloc)(nmacro * k->ns * sizeof(double), &k->e));
  /* u: N M^2 (the sources, at first), v: N^2 M; in 2D N^2 and N M */
  size  = k->dim == 3 ? PetscMax((size_t)k->ns, (size_t)N * M * M) + (size_t)PetscMax(N, M) * N * M : (size_t)k->ns + (size_t)N * M;
  k->nb = (int)PetscMax(1, PetscMin(64, 2 * HOPS_CUDA_INTERP_THREADS / k->nt));
  k->nwork = k->nb * size;
  if ((k->nwork + M * N + 4) * sizeof(double) > HOPS_CUDA_INTERP_SHARED) {
    PetscCallCUDA(cudaGetDevice(&device));
    PetscCallCUDA(cudaDeviceGetAttribute(&nsm, cudaDevAttrMultiProcessorCount, device));
    k->nblocks = 8 * nsm;
    PetscCall((*HopsBackendCUDA.memory->Malloc)(k->nwork * k->nblocks * sizeof(double), &k->work));
  }
  {
    const double n = (double)N, m = (double)M, d = k->dim == 3 ? n * n * m + n * m * m + m * m * m : n * m + m * m;

    k->flops[0] = 2 * n * d * ninterior;
    k->flops[1] = 2 * n * d * (nmacro - ninterior);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
