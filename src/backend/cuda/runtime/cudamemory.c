/* CUDA back end: memory of the device, and copies. */
#include <backend/cuda/runtime/cudaimpl.h>

PetscErrorCode HopsCudaCheckMemory(cudaError_t err, size_t n, const char what[], const char remedy[])
{
  PetscFunctionBegin;
  if (err == cudaErrorMemoryAllocation) {
    size_t available = 0, total = 0;

    (void)cudaGetLastError();
    PetscCallCUDA(cudaMemGetInfo(&available, &total));
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "The device has %g MB of memory free of %g, and %s needs %g more: %s", available / 1e6,
            total / 1e6, what, n / 1e6, remedy);
  }
  PetscCallCUDA(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsMalloc_CUDA(size_t n, void **p)
{
  PetscFunctionBegin;
  *p = NULL;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA)); /* which of several devices is this rank's is PETSc's choice */
  PetscCall(HopsCudaCheckMemory(cudaMalloc(p, n), n, HopsMaking(), HOPS_CUDA_REMEDY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFree_CUDA(void **p)
{
  PetscFunctionBegin;
  if (*p) PetscCallCUDA(cudaFree(*p));
  *p = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaPoolMalloc(size_t n, void **p)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  *p = NULL;
  if (n) {
    PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
    PetscCall(HopsGetCUDAStream(&stream));
    PetscCall(HopsCudaCheckMemory(cudaMallocAsync(p, n, stream), n, HopsMaking(), HOPS_CUDA_REMEDY));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaPoolFree(void **p)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  if (*p) {
    PetscCall(HopsGetCUDAStream(&stream));
    PetscCallCUDA(cudaFreeAsync(*p, stream));
  }
  *p = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A copy from pageable memory is staged before the call returns, so the source may change afterwards */
PetscErrorCode HopsCopy_CUDA(HopsQueue queue, void *dst, const void *src, size_t n, HopsCopyDirection direction)
{
  const enum cudaMemcpyKind kind = direction == HOPS_COPY_IN    ? cudaMemcpyHostToDevice
                                   : direction == HOPS_COPY_OUT ? cudaMemcpyDeviceToHost
                                                                : cudaMemcpyDeviceToDevice;
  cudaStream_t              stream;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsCudaQueueGetStream(queue, &stream));
  PetscCallCUDA(cudaMemcpyAsync(dst, src, n, kind, stream));
  if (direction == HOPS_COPY_OUT && !queue) PetscCallCUDA(cudaStreamSynchronize(stream));
  if (direction == HOPS_COPY_IN) PetscCall(PetscLogCpuToGpu(n));
  if (direction == HOPS_COPY_OUT) PetscCall(PetscLogGpuToCpu(n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets of patches and boxes are used by raw pointers, on any stream. So what cudaMemcpy() leaves under way of
   a copy from pageable memory is waited for */
PetscErrorCode HopsCudaToDevice(size_t n, const void *h, void *d)
{
  PetscFunctionBegin;
  PetscCall(HopsMalloc_CUDA(n, (void **)d));
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaMemcpy(*(void **)d, h, n, cudaMemcpyHostToDevice));
  PetscCallCUDA(cudaStreamSynchronize(cudaStreamLegacy));
  PetscCall(PetscLogCpuToGpu(n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaNumbersToDevice(size_t n, PetscBool single, const double h[], void *d)
{
  float *s;

  PetscFunctionBegin;
  if (!single) {
    PetscCall(HopsCudaToDevice(n * sizeof(double), h, d));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(n, &s));
  for (size_t i = 0; i < n; i++) s[i] = (float)h[i];
  PetscCall(HopsCudaToDevice(n * sizeof(float), s, d));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
