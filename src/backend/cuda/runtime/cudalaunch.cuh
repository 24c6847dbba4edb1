/* Launches of functors for teams of lanes, as backend/lanes asks for them (lanes.h). */
#pragma once
#include "cudaimpl.h"
#include "cudateam.cuh"

#define HOPS_CUDA_SHARED (96 * 1024) /* bytes of shared memory of a block, two of which fit on a multiprocessor */

template <class F> __global__ void __launch_bounds__(F::lanes) HopsCudaTeams(const F f)
{
  extern __shared__ double2 shared[];

  f(HopsCudaTeam<double>(), (double *)shared);
}

template <class F> __global__ void __launch_bounds__(128) HopsCudaEach(size_t n, const F f)
{
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n) f(i);
}

/* The same for functors with `blocks` */
template <class F> __global__ void __launch_bounds__(F::lanes, F::blocks) HopsCudaTeamsBound(const F f)
{
  extern __shared__ double2 shared[];

  f(HopsCudaTeam<double>(), (double *)shared);
}

template <class F> __global__ void __launch_bounds__(128, F::blocks) HopsCudaEachBound(size_t n, const F f)
{
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n) f(i);
}

struct HopsCudaBack {
  typedef HopsCudaTeam<double> Team;

  static const HopsBackendOps *Ops()
  {
    return &HopsBackendCUDA;
  }

  template <class F> static PetscErrorCode Teams(const char[], int teams, size_t bytes, const F &f)
  {
    cudaStream_t stream;
    void (*kernel)(F);

    PetscFunctionBegin;
    PetscCall(HopsGetCUDAStream(&stream));
    if constexpr (HopsLanesBlocks<F>(0) > 0) kernel = HopsCudaTeamsBound<F>;
    else kernel = HopsCudaTeams<F>;
    if (bytes > 48 * 1024) PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    kernel<<<teams, F::lanes, bytes, stream>>>(f);
    PetscCallCUDA(cudaGetLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  template <class F> static PetscErrorCode Each(const char[], size_t n, const F &f)
  {
    cudaStream_t stream;

    PetscFunctionBegin;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsGetCUDAStream(&stream));
    if constexpr (HopsLanesBlocks<F>(0) > 0) HopsCudaEachBound<F><<<(unsigned int)((n + 127) / 128), 128, 0, stream>>>(n, f);
    else HopsCudaEach<F><<<(unsigned int)((n + 127) / 128), 128, 0, stream>>>(n, f);
    PetscCallCUDA(cudaGetLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Set(void *p, int byte, size_t n)
  {
    cudaStream_t stream;

    PetscFunctionBegin;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsGetCUDAStream(&stream));
    PetscCallCUDA(cudaMemsetAsync(p, byte, n, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Scan(size_t n, int x[])
  {
    return HopsCudaScan(n, x);
  }

  static PetscErrorCode GetSizes(size_t bytes, int *teams, PetscBool *own)
  {
    int device, nsm;

    PetscFunctionBegin;
    PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
    PetscCallCUDA(cudaGetDevice(&device));
    PetscCallCUDA(cudaDeviceGetAttribute(&nsm, cudaDevAttrMultiProcessorCount, device));
    *own   = bytes <= HOPS_CUDA_SHARED ? PETSC_TRUE : PETSC_FALSE;
    *teams = *own ? 16 * nsm : 2 * nsm;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode GetMost(size_t *bytes)
  {
    int device, most;

    PetscFunctionBegin;
    PetscCallCUDA(cudaGetDevice(&device));
    PetscCallCUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    *bytes = (size_t)most;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
