/* CUDA back end: memory, and what it has. */
#include "cudaimpl.h"
#include <backend/cuda/lor/cudalor.h>
#include <backend/cuda/patch/cudapatchlanes.h>
#include <hops/private/hopsmeshimpl.h>

PetscBool HopsCudaPresent(void)
{
  int n = 0;

  return cudaGetDeviceCount(&n) == cudaSuccess && n ? PETSC_TRUE : PETSC_FALSE;
}

static const HopsMemoryOps HopsMemoryCUDA = {.Malloc        = HopsMalloc_CUDA,
                                             .Free          = HopsFree_CUDA,
                                             .PoolMalloc    = HopsCudaPoolMalloc,
                                             .PoolFree      = HopsCudaPoolFree,
                                             .MallocHost    = HopsMallocHost_CUDA,
                                             .FreeHost      = HopsFreeHost_CUDA,
                                             .Copy          = HopsCopy_CUDA,
                                             .QueueCreate   = HopsQueueCreate_CUDA,
                                             .QueueDestroy  = HopsQueueDestroy_CUDA,
                                             .QueueFork     = HopsQueueFork_CUDA,
                                             .QueueJoin     = HopsQueueJoin_CUDA,
                                             .QueueFinish   = HopsQueueFinish_CUDA,
                                             .Share         = HopsShare_CUDA,
                                             .Unshare       = HopsUnshare_CUDA,
                                             .QueueSignal   = HopsQueueSignal_CUDA,
                                             .QueueAwait    = HopsQueueAwait_CUDA,
                                             .RecordBegin   = HopsRecordBegin_CUDA,
                                             .RecordEnd     = HopsRecordEnd_CUDA,
                                             .RecordRun     = HopsRecordRun_CUDA,
                                             .RecordDestroy = HopsRecordDestroy_CUDA};

const HopsBackendOps HopsBackendCUDA = {
  .name           = "cuda",
  .vectype        = VECCUDA,
  .memtype        = PETSC_MEMTYPE_CUDA,
  .host           = PETSC_FALSE,
  .condenses      = PETSC_TRUE,
  .runpoints      = 1 << 21,
  .memory         = &HopsMemoryCUDA,
  .vector         = &HopsVectorCUDA,
  .rows           = &HopsRowsCUDA,
  .OperatorCreate = HopsOperatorCreate_CUDA,
  .FacesCreate    = HopsFacesCreate_CUDA,
  .HungCreate     = HopsHungCreate_CUDA,
  .TensorCreate   = HopsTensorCreate_CUDA,
  .LORCreate      = HopsLORCreate_CUDA,
  .InterpCreate   = HopsInterpCreate_CUDA,
  .PatchCreate    = HopsPatchCreate_CUDA,
  .MapKind        = HopsMapKind_CUDA,
  .CountCells     = HopsCountCells_CUDA,
  .points         = &HopsPointCUDA,
  .patches        = &HopsPatchSetUpCUDA,
  .mesh           = &HopsMeshCUDA,
  .arrays         = &HopsArraysCUDA,
};
