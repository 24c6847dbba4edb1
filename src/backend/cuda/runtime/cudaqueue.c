/* CUDA back end: a stream beside PETSc's own, and page-locked memory that it copies from and to. */
#include "cudaimpl.h"

struct _HopsQueue {
  cudaStream_t stream;
  cudaEvent_t  fork, join;
};

/*
  Page-locked memory takes milliseconds to get and to give back, and every space and transfer of several ranks has
  some. So blocks are cut from large pieces, in sizes that are powers of two, and wait for others of their size.
*/
#define HOPS_PINNED_PIECE ((size_t)8 << 20)
#define HOPS_PINNED_LEAST 8 /* 2^8 bytes */
#define HOPS_PINNED_SIZES 24
#define HOPS_PINNED_HEAD  64 /* before what is given out */

typedef union Pinned {
  struct {
    union Pinned *next;
    int           size; /* HOPS_PINNED_SIZES: a piece of its own */
  } x;
  char head[HOPS_PINNED_HEAD];
} Pinned;

static Pinned *PinnedFree[HOPS_PINNED_SIZES], *PinnedPieces;
static char   *PinnedPiece;
static size_t  PinnedLeft;

static PetscErrorCode PinnedFinalize(void)
{
  PetscFunctionBegin;
  while (PinnedPieces) {
    Pinned *p = PinnedPieces;

    PinnedPieces = p->x.next;
    PetscCallCUDA(cudaFreeHost(p));
  }
  PetscCall(PetscArrayzero(PinnedFree, HOPS_PINNED_SIZES));
  PinnedPiece = NULL;
  PinnedLeft  = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n bytes of a piece */
static PetscErrorCode PinnedCut(size_t n, Pinned **p)
{
  PetscFunctionBegin;
  if (PinnedLeft < n) {
    Pinned *piece;

    PetscCallCUDA(cudaMallocHost((void **)&piece, HOPS_PINNED_PIECE));
    PetscCall(PetscRegisterFinalize(PinnedFinalize));
    piece->x.next = PinnedPieces;
    PinnedPieces  = piece;
    PinnedPiece   = (char *)(piece + 1);
    PinnedLeft    = HOPS_PINNED_PIECE - sizeof(*piece);
  }
  *p = (Pinned *)PinnedPiece;
  PinnedPiece += n;
  PinnedLeft -= n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsMallocHost_CUDA(size_t n, void **p)
{
  Pinned *b;
  int     size = 0;

  PetscFunctionBegin;
  *p = NULL;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  n += sizeof(Pinned);
  while (size < HOPS_PINNED_SIZES && (size_t)1 << (HOPS_PINNED_LEAST + size) < n) size++;
  if (n > HOPS_PINNED_PIECE / 4) {
    size = HOPS_PINNED_SIZES;
    PetscCallCUDA(cudaMallocHost((void **)&b, n));
  } else if (PinnedFree[size]) {
    b                = PinnedFree[size];
    PinnedFree[size] = b->x.next;
  } else PetscCall(PinnedCut((size_t)1 << (HOPS_PINNED_LEAST + size), &b));
  b->x.size = size;
  *p        = b + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFreeHost_CUDA(void **p)
{
  PetscFunctionBegin;
  if (*p) {
    Pinned *b = (Pinned *)*p - 1;

    if (b->x.size == HOPS_PINNED_SIZES) PetscCallCUDA(cudaFreeHost(b));
    else {
      PetscCallCUDA(cudaDeviceSynchronize()); /* no copy to or from it is under way, as after cudaFreeHost() */
      b->x.next             = PinnedFree[b->x.size];
      PinnedFree[b->x.size] = b;
    }
  }
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
