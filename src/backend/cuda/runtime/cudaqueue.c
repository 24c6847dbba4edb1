/* CUDA back end: a stream beside PETSc's own, and page-locked memory that it copies from and to. */
#include "cudaimpl.h"

struct _HopsQueue {
  cudaStream_t stream;
  cudaEvent_t  fork, join;
};

PetscErrorCode HopsMallocHost_CUDA(size_t n, void **p)
{
  PetscFunctionBegin;
  *p = NULL;
  if (n) PetscCallCUDA(cudaMallocHost(p, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFreeHost_CUDA(void **p)
{
  PetscFunctionBegin;
  if (*p) PetscCallCUDA(cudaFreeHost(*p));
  *p = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsQueueCreate_CUDA(HopsQueue *queue)
{
  HopsQueue q;
  int       least, greatest;

  PetscFunctionBegin;
  PetscCall(PetscNew(&q));
  *queue = q;
  PetscCallCUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  /* packing goes before the cells' blocks that wait */
  PetscCallCUDA(cudaStreamCreateWithPriority(&q->stream, cudaStreamNonBlocking, greatest));
  PetscCallCUDA(cudaEventCreateWithFlags(&q->fork, cudaEventDisableTiming));
  PetscCallCUDA(cudaEventCreateWithFlags(&q->join, cudaEventDisableTiming));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsQueueDestroy_CUDA(HopsQueue *queue)
{
  HopsQueue q = *queue;

  PetscFunctionBegin;
  *queue = NULL;
  if (!q) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaStreamSynchronize(q->stream));
  PetscCallCUDA(cudaEventDestroy(q->fork));
  PetscCallCUDA(cudaEventDestroy(q->join));
  PetscCallCUDA(cudaStreamDestroy(q->stream));
  PetscCall(PetscFree(q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsQueueFork_CUDA(HopsQueue q)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCallCUDA(cudaEventRecord(q->fork, stream));
  PetscCallCUDA(cudaStreamWaitEvent(q->stream, q->fork, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsQueueJoin_CUDA(HopsQueue q)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCallCUDA(cudaEventRecord(q->join, q->stream));
  PetscCallCUDA(cudaStreamWaitEvent(stream, q->join, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsQueueFinish_CUDA(HopsQueue q)
{
  PetscFunctionBegin;
  if (q) PetscCallCUDA(cudaStreamSynchronize(q->stream));
  else PetscCallCUDA(cudaDeviceSynchronize());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaQueueGetStream(HopsQueue q, cudaStream_t *stream)
{
  PetscFunctionBegin;
  if (q) *stream = q->stream;
  else PetscCall(HopsGetCUDAStream(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
