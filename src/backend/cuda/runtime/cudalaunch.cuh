/* Launches of functors for teams of lanes, as backend/lanes asks for them (lanes.h). */
#pragma once
#include "cudaimpl.h"
#include "cudateam.cuh"
#include <type_traits>

#define HOPS_CUDA_SHARED (96 * 1024) /* bytes of shared memory of a block, two of which fit on a multiprocessor */
#define HOPS_CUDA_MOST   232448      /* the largest block's */

template <class F> __global__ void __launch_bounds__(F::lanes, HopsLanesBlocks<F>(0)) HopsCudaTeams(const F f)
{
  extern __shared__ double2 shared[];

  f(HopsCudaTeam<double>(), (double *)shared);
}

template <class real, class F> __global__ void __launch_bounds__(F::lanes *F::cells, F::blocks) HopsCudaParts(const F f)
{
  typedef HopsCudaTeam<real, F::lanes, F::cells> Team;
  extern __shared__ double2                      shared[];

  constexpr int numbers = F::template Numbers<Team>(), apart = HopsLanesApart<F, Team>(0);
  real *const   scratch = (real *)shared + threadIdx.y * (numbers + apart);

  if constexpr (apart) f(Team(), scratch, scratch + numbers);
  else f(Team(), scratch);
}

template <class F> __global__ void __launch_bounds__(128, HopsLanesBlocks<F>(0)) HopsCudaEach(size_t n, const F f)
{
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n) f(i);
}

/* The same for those with arrays that are indexed: they stay where arguments are */
template <class F>
__global__ void __launch_bounds__(F::lanes, HopsLanesBlocks<F>(0)) HopsCudaTeamsIndexed(const __grid_constant__ F f)
{
  extern __shared__ double2 shared[];

  f(HopsCudaTeam<double>(), (double *)shared);
}

struct HopsCudaBack {
  typedef HopsCudaTeam<double> Team;

  static const HopsBackendOps *Ops()
  {
    return &HopsBackendCUDA;
  }

  template <class F> static auto Kernel() -> void (*)(F)
  {
    if constexpr (HopsLanesIndexed<F>(0)) return HopsCudaTeamsIndexed<F>;
    else return HopsCudaTeams<F>;
  }

  template <class F> static PetscErrorCode Teams(const char[], int teams, size_t bytes, const F &f, int lanes = F::lanes)
  {
    const auto   kernel = Kernel<F>();
    cudaStream_t stream;

    PetscFunctionBegin;
    PetscCall(HopsGetCUDAStream(&stream));
    if (bytes > 48 * 1024) PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    kernel<<<teams, lanes, bytes, stream>>>(f);
    PetscCallCUDA(cudaGetLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  template <class F> static PetscErrorCode GetTeams(int lanes, size_t bytes, int *teams)
  {
    const auto kernel = Kernel<F>();
    int        device, nsm, n;

    PetscFunctionBegin;
    PetscCallCUDA(cudaGetDevice(&device));
    PetscCallCUDA(cudaDeviceGetAttribute(&nsm, cudaDevAttrMultiProcessorCount, device));
    if (bytes > 48 * 1024) PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    PetscCallCUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel, lanes, bytes));
    *teams = 4 * nsm * PetscMax(1, n);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  template <class real, class F> static PetscErrorCode Parts(const char[], int n, const F &f)
  {
    typedef HopsCudaTeam<real, F::lanes, F::cells> Team;
    constexpr size_t bytes = sizeof(real) * F::cells * (F::template Numbers<Team>() + HopsLanesApart<F, Team>(0));
    cudaStream_t     stream;

    PetscFunctionBegin;
    PetscCall(HopsGetCUDAStream(&stream));
    if (bytes > 48 * 1024)
      PetscCallCUDA(cudaFuncSetAttribute(HopsCudaParts<real, F>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    HopsCudaParts<real, F><<<(n + F::cells - 1) / F::cells, dim3(F::lanes, F::cells), bytes, stream>>>(f);
    PetscCallCUDA(cudaGetLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static size_t MostScratch()
  {
    return HOPS_CUDA_MOST;
  }

  template <class F> static PetscErrorCode Each(const char[], size_t n, const F &f)
  {
    cudaStream_t stream;

    PetscFunctionBegin;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsGetCUDAStream(&stream));
    HopsCudaEach<F><<<(unsigned int)((n + 127) / 128), 128, 0, stream>>>(n, f);
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

  static PetscErrorCode GetSizes(size_t bytes, int *teams, PetscBool *own, size_t most = HOPS_CUDA_SHARED)
  {
    int device, nsm, room;

    PetscFunctionBegin;
    PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
    PetscCallCUDA(cudaGetDevice(&device));
    PetscCallCUDA(cudaDeviceGetAttribute(&nsm, cudaDevAttrMultiProcessorCount, device));
    PetscCallCUDA(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    *own   = bytes <= PetscMin(most, (size_t)room) ? PETSC_TRUE : PETSC_FALSE;
    *teams = *own ? 16 * nsm : 2 * nsm;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode GetOwn(size_t *bytes)
  {
    int device, most;

    PetscFunctionBegin;
    PetscCallCUDA(cudaGetDevice(&device));
    PetscCallCUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    *bytes = (size_t)most;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
