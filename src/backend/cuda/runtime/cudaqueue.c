/* CUDA back end: a stream beside PETSc's own, page-locked memory that it copies from and to, and memory that
   devices of several processes share. */
#include "cudaimpl.h"
#include <cuda.h>

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

/* ------------------------------------- work to repeat ------------------------------------- */

static cudaStream_t recording; /* what the back end does goes to this stream, while it is captured */

struct _HopsRecord {
  cudaGraphExec_t graph;
};

PetscErrorCode HopsGetCUDAStream(cudaStream_t *stream)
{
  PetscFunctionBegin;
  if (recording) *stream = recording;
  else PetscCall(HopsPetscCUDAStream(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's own stream is often the default one, which cannot be captured */
PetscErrorCode HopsRecordBegin_CUDA(void)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCheck(!recording, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Something is being recorded already");
  PetscCallCUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  PetscCallCUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  recording = stream;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsRecordEnd_CUDA(HopsRecord *record)
{
  const cudaStream_t stream = recording;
  cudaGraph_t        graph  = NULL;
  cudaGraphExec_t    exec;
  cudaError_t        err;

  PetscFunctionBegin;
  recording = NULL;
  err       = cudaStreamEndCapture(stream, &graph);
  PetscCallCUDA(cudaStreamDestroy(stream));
  if (err == cudaSuccess) err = cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagUseNodePriority); /* the queues' own */
  if (graph) PetscCallCUDA(cudaGraphDestroy(graph));
  PetscCallCUDA(err);
  PetscCall(PetscNew(record));
  (*record)->graph = exec;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsRecordRun_CUDA(HopsRecord record)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(HopsGetCUDAStream(&stream));
  PetscCallCUDA(cudaGraphLaunch(record->graph, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsRecordDestroy_CUDA(HopsRecord *record)
{
  PetscFunctionBegin;
  if (*record) PetscCallCUDA(cudaGraphExecDestroy((*record)->graph));
  PetscCall(PetscFree(*record));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------ memory that processes share ------------------------------ */

static struct {
  CUresult (*Write)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
  CUresult (*Wait)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
} flags; /* functions of the driver by which streams write and await flags */

/* Can a stream await a flag there, and a graph? A driver may have the functions and refuse them */
static PetscBool TryFlags(void *p)
{
  const CUdeviceptr flag = (CUdeviceptr)(uintptr_t)p;
  cudaStream_t      stream;
  cudaGraph_t       graph = NULL;
  cudaGraphExec_t   exec  = NULL;
  PetscBool         good  = PETSC_FALSE;

  if (!flags.Write || !flags.Wait || cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return PETSC_FALSE;
  if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess) {
    if ((*flags.Write)(stream, flag, 1, CU_STREAM_WRITE_VALUE_DEFAULT) == CUDA_SUCCESS &&
        (*flags.Wait)(stream, flag, 1, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS)
      good = PETSC_TRUE;
    if (cudaStreamEndCapture(stream, &graph) != cudaSuccess) good = PETSC_FALSE;
  }
  if (good && (cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess || cudaGraphLaunch(exec, stream) != cudaSuccess ||
               cudaStreamSynchronize(stream) != cudaSuccess))
    good = PETSC_FALSE;
  if (exec) (void)cudaGraphExecDestroy(exec);
  if (graph) (void)cudaGraphDestroy(graph);
  (void)cudaStreamDestroy(stream);
  return good;
}

PetscErrorCode HopsShare_CUDA(void *host, size_t n, void **p)
{
  PetscFunctionBegin;
  *p = NULL;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA)); /* which of several devices is this rank's is PETSc's choice */
  *(void **)&flags.Write = HopsCudaDriver("cuStreamWriteValue32_v2");
  *(void **)&flags.Wait  = HopsCudaDriver("cuStreamWaitValue32_v2");
  if (cudaHostRegister(host, n, cudaHostRegisterMapped | cudaHostRegisterPortable) == cudaSuccess) {
    if (cudaHostGetDevicePointer(p, host, 0) != cudaSuccess || !TryFlags(*p)) {
      *p = NULL;
      (void)cudaHostUnregister(host);
    }
  }
  if (!*p) {
    (void)cudaGetLastError();
    PetscCall(PetscInfo(NULL, "the device does not take memory that ranks share\n"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsUnshare_CUDA(void *host)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaHostUnregister(host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsQueueSignal_CUDA(HopsQueue q, uint32_t *flag, uint32_t value)
{
  const CUresult err = (*flags.Write)(q->stream, (CUdeviceptr)(uintptr_t)flag, value, CU_STREAM_WRITE_VALUE_DEFAULT);

  PetscFunctionBegin;
  PetscCheck(err == CUDA_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "cuStreamWriteValue32() returned %d", (int)err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsQueueAwait_CUDA(HopsQueue q, uint32_t *flag, uint32_t value)
{
  const CUresult err = (*flags.Wait)(q->stream, (CUdeviceptr)(uintptr_t)flag, value, CU_STREAM_WAIT_VALUE_EQ);

  PetscFunctionBegin;
  PetscCheck(err == CUDA_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "cuStreamWaitValue32() returned %d", (int)err);
  PetscFunctionReturn(PETSC_SUCCESS);
}
