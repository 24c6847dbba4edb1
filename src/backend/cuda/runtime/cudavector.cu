/* CUDA back end: vectors of doubles and of floats. */
#include "cudaimpl.h"
#include "cudateam.cuh"
#include <cub/block/block_reduce.cuh>

static unsigned int Blocks(PetscInt n)
{
  return (unsigned int)((n + 255) / 256);
}

template <class T> __global__ static void Combine(PetscInt n, T a, const T *x, T b, const T *y, T *w)
{
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n) w[i] = b == 0 ? a * x[i] : a * x[i] + b * y[i];
}

template <class T> __global__ static void Times(PetscInt n, const T *x, const T *y, T *w)
{
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n) w[i] = x[i] * y[i];
}

template <class S, class T> __global__ static void Convert(PetscInt n, double s, const S *__restrict__ x, T *__restrict__ y)
{
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n) y[i] = (T)(s * (double)x[i]);
}

__global__ static void Step(PetscInt n, float a, float b, const float *__restrict__ dinv, const float *__restrict__ r,
                            float *__restrict__ d, float *__restrict__ x)
{
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n) {
    const float e = b * (dinv ? dinv[i] : 1.0f) * r[i], f = a == 0 ? e : a * d[i] + e;

    d[i] = f;
    if (x) x[i] += f;
  }
}

#define DOT_BLOCKS 1024 /* at most: their sums are added by the process, in their order */

__global__ static void __launch_bounds__(256)
  Dot(PetscInt n, const float *__restrict__ w, const float *__restrict__ x, const float *__restrict__ y, double *__restrict__ sum)
{
  typedef cub::BlockReduce<double, 256>   Reduce;
  __shared__ typename Reduce::TempStorage temp;
  double                                  s = 0;

  for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < (size_t)n; i += (size_t)gridDim.x * 256)
    s += (w ? (double)w[i] : 1.0) * x[i] * y[i];
  s = Reduce(temp).Sum(s);
  if (!threadIdx.x) sum[blockIdx.x] = s;
}

template <class T>
__global__ static void Pack(PetscInt n, const PetscInt *__restrict__ idx, const T *__restrict__ x, T *__restrict__ buf)
{
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n) buf[i] = idx[i] < 0 ? 0 : x[idx[i]];
}

template <class T>
__global__ static void UnpackAdd(PetscInt n, const PetscInt *__restrict__ idx, const T *__restrict__ buf, T *__restrict__ y)
{
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n && idx[i] >= 0) y[idx[i]] += buf[i];
}

__global__ static void SetEntries(PetscInt n, const PetscInt *idx, const double *x, double *y)
{
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n) y[idx[i]] = x ? x[idx[i]] : 1;
}

/* launches a kernel on n entries with the pointers of the type */
#define LAUNCH(type, stream, kernel, ...) \
  do { \
    if (n) { \
      if ((type) == PETSC_FLOAT) { \
        typedef float T; \
        kernel<T><<<Blocks(n), 256, 0, stream>>>(n, __VA_ARGS__); \
      } else { \
        typedef double T; \
        kernel<T><<<Blocks(n), 256, 0, stream>>>(n, __VA_ARGS__); \
      } \
      PetscCallCUDA(cudaGetLastError()); \
    } \
  } while (0)

static size_t Size(PetscDataType type)
{
  return type == PETSC_FLOAT ? sizeof(float) : sizeof(double);
}

static PetscErrorCode VectorZero(PetscDataType type, PetscInt n, void *y)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  if (n) PetscCallCUDA(cudaMemsetAsync(y, 0, n * Size(type), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VectorPack(HopsQueue queue, PetscDataType type, PetscInt n, const PetscInt idx[], const void *x, void *buf)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsCudaQueueGetStream(queue, &stream));
  LAUNCH(type, stream, Pack, idx, (const T *)x, (T *)buf);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VectorUnpackAdd(PetscDataType type, PetscInt n, const PetscInt idx[], const void *buf, void *y)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  LAUNCH(type, stream, UnpackAdd, idx, (const T *)buf, (T *)y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VectorSetEntries(PetscInt n, const PetscInt idx[], const PetscReal x[], PetscReal y[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  if (n) SetEntries<<<Blocks(n), 256, 0, stream>>>(n, idx, x, y);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VectorCombine(PetscDataType type, PetscInt n, PetscReal a, const void *x, PetscReal b, const void *y, void *w)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  if (a == 1 && b == 0) {
    if (n) PetscCallCUDA(cudaMemcpyAsync(w, x, n * Size(type), cudaMemcpyDeviceToDevice, stream));
  } else LAUNCH(type, stream, Combine, (T)a, (const T *)x, (T)b, (const T *)y, (T *)w);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VectorTimes(PetscDataType type, PetscInt n, const void *x, const void *y, void *w)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  LAUNCH(type, stream, Times, (const T *)x, (const T *)y, (T *)w);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VectorConvert(PetscDataType to, PetscInt n, PetscReal s, const void *x, void *y)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  if (n && to == PETSC_FLOAT) Convert<<<Blocks(n), 256, 0, stream>>>(n, s, (const double *)x, (float *)y);
  else if (n) Convert<<<Blocks(n), 256, 0, stream>>>(n, s, (const float *)x, (double *)y);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VectorStep(PetscInt n, float a, float b, const float dinv[], const float r[], float d[], float x[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  if (n) Step<<<Blocks(n), 256, 0, stream>>>(n, a, b, dinv, r, d, x);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VectorDot(PetscInt n, const float w[], const float x[], const float y[], PetscReal *dot)
{
  const unsigned int nblocks = Blocks(n) < DOT_BLOCKS ? Blocks(n) : DOT_BLOCKS;
  double            *device, sum[DOT_BLOCKS];
  cudaStream_t       stream;

  PetscFunctionBegin;
  *dot = 0;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCall(HopsCudaPoolMalloc(nblocks * sizeof(double), (void **)&device));
  Dot<<<nblocks, 256, 0, stream>>>(n, w, x, y, device);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(HopsCopy_CUDA(NULL, sum, device, nblocks * sizeof(double), HOPS_COPY_OUT));
  PetscCall(HopsCudaPoolFree((void **)&device));
  for (unsigned int k = 0; k < nblocks; k++) *dot += sum[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

const HopsVectorOps HopsVectorCUDA = {VectorZero,  VectorPack,    VectorUnpackAdd, VectorSetEntries, VectorCombine,
                                      VectorTimes, VectorConvert, VectorStep,      VectorDot};
