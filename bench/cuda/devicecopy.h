/* The copy bandwidth of a device, by which benchmark programs measure. */
#pragma once
#include <petscdevice_cuda.h>

/* bytes read and written per second by a copy of 1 GB within the device's memory */
static inline PetscErrorCode DeviceCopy(PetscReal *bandwidth)
{
  const size_t n = (size_t)1 << 30;
  cudaEvent_t  begin, end;
  float        ms, best = 1e9;
  void        *x, *y;

  PetscFunctionBeginUser;
  PetscCallCUDA(cudaMalloc(&x, n));
  PetscCallCUDA(cudaMalloc(&y, n));
  PetscCallCUDA(cudaMemset(x, 1, n));
  PetscCallCUDA(cudaEventCreate(&begin));
  PetscCallCUDA(cudaEventCreate(&end));
  for (PetscInt i = 0; i < 10; ++i) {
    PetscCallCUDA(cudaEventRecord(begin, 0));
    PetscCallCUDA(cudaMemcpyAsync(y, x, n, cudaMemcpyDeviceToDevice, 0));
    PetscCallCUDA(cudaEventRecord(end, 0));
    PetscCallCUDA(cudaEventSynchronize(end));
    PetscCallCUDA(cudaEventElapsedTime(&ms, begin, end));
    best = PetscMin(best, ms);
  }
  *bandwidth = 2e3 * (PetscReal)n / best;
  PetscCallCUDA(cudaEventDestroy(begin));
  PetscCallCUDA(cudaEventDestroy(end));
  PetscCallCUDA(cudaFree(x));
  PetscCallCUDA(cudaFree(y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
