/* Vectors in the device's memory: linear combinations, products by entries, and what a cycle in single
   precision does beside its kernels. */
#include "cudaimpl.h"
#include <backend/cuda/patch/cudapatchpc.h>

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
    x[i] += f;
  }
}

__global__ static void PackSingle(PetscInt n, const PetscInt *__restrict__ idx, const float *__restrict__ x,
                                  float *__restrict__ buf)
{
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n) buf[i] = x[idx[i]];
}

__global__ static void UnpackAddSingle(PetscInt n, const PetscInt *__restrict__ idx, const float *__restrict__ buf,
                                       float *__restrict__ y)
{
  const PetscInt i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n) y[idx[i]] += buf[i];
}

template <class T> static PetscErrorCode RunCombine(PetscInt n, T a, const T x[], T b, const T y[], T w[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsGetCUDAStream(&stream));
  if (a == 1 && b == 0) PetscCallCUDA(cudaMemcpyAsync(w, x, n * sizeof(T), cudaMemcpyDeviceToDevice, stream));
  else {
    Combine<T><<<Blocks(n), 256, 0, stream>>>(n, a, x, b, y, w);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> static PetscErrorCode RunTimes(PetscInt n, const T x[], const T y[], T w[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  if (n) Times<T><<<Blocks(n), 256, 0, stream>>>(n, x, y, w);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class S, class T> static PetscErrorCode RunConvert(PetscInt n, double s, const S x[], T y[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  if (n) Convert<S, T><<<Blocks(n), 256, 0, stream>>>(n, s, x, y);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCombine_CUDA(PetscInt n, PetscScalar a, const PetscScalar x[], PetscScalar b, const PetscScalar y[],
                                PetscScalar w[])
{
  PetscFunctionBegin;
  PetscCall(RunCombine(n, a, x, b, y, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsTimes_CUDA(PetscInt n, const PetscScalar x[], const PetscScalar y[], PetscScalar w[])
{
  PetscFunctionBegin;
  PetscCall(RunTimes(n, x, y, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleZero(PetscInt n, float y[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  if (n) PetscCallCUDA(cudaMemsetAsync(y, 0, n * sizeof(float), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleDemote(PetscInt n, PetscReal s, const PetscScalar x[], float y[])
{
  PetscFunctionBegin;
  PetscCall(RunConvert(n, s, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SinglePromote(PetscInt n, PetscReal s, const float x[], PetscScalar y[])
{
  PetscFunctionBegin;
  PetscCall(RunConvert(n, s, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleCombine(PetscInt n, float a, const float x[], float b, const float y[], float w[])
{
  PetscFunctionBegin;
  PetscCall(RunCombine(n, a, x, b, y, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleTimes(PetscInt n, const float x[], const float y[], float w[])
{
  PetscFunctionBegin;
  PetscCall(RunTimes(n, x, y, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleStep(PetscInt n, float a, float b, const float dinv[], const float r[], float d[], float x[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  if (n) Step<<<Blocks(n), 256, 0, stream>>>(n, a, b, dinv, r, d, x);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SinglePack(HopsQueue queue, PetscInt n, const PetscInt idx[], const float x[], float buf[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  if (queue) PetscCall(HopsCudaQueueGetStream(queue, &stream));
  else PetscCall(HopsGetCUDAStream(&stream));
  if (n) PackSingle<<<Blocks(n), 256, 0, stream>>>(n, idx, x, buf);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleUnpackAdd(PetscInt n, const PetscInt idx[], const float buf[], float y[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  if (n) UnpackAddSingle<<<Blocks(n), 256, 0, stream>>>(n, idx, buf, y);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

const HopsSingleOps HopsSingleCUDA = {SingleZero,
                                      SingleDemote,
                                      SinglePromote,
                                      SingleCombine,
                                      SingleTimes,
                                      SingleStep,
                                      SinglePack,
                                      SingleUnpackAdd,
                                      HopsPatchApplySingle_CUDA,
                                      HopsPatchSweepSingle_CUDA};
