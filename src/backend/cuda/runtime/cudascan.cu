/* CUDA back end: sums before each of n counts, and their total. */
#include "cudaimpl.h"
#include <cub/device/device_scan.cuh>

PetscErrorCode HopsCudaScan(size_t n, int x[])
{
  cudaStream_t stream;
  size_t       size = 0;
  void        *work = NULL;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCallCUDA(cub::DeviceScan::ExclusiveSum(NULL, size, x, x, (int)(n + 1), stream));
  PetscCall(HopsCudaPoolMalloc(size, &work));
  PetscCallCUDA(cub::DeviceScan::ExclusiveSum(work, size, x, x, (int)(n + 1), stream));
  PetscCall(HopsCudaPoolFree(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}
