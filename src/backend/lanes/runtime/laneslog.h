/* Flops of kernels that several back ends launch. */
#pragma once
#include <hops/private/hopsimpl.h>

/* work on a device, or the process's */
static inline PetscErrorCode HopsLanesLogFlops(const HopsBackendOps *be, PetscLogDouble flops)
{
  return be->host ? PetscLogFlops(flops) : PetscLogGpuFlops(flops);
}
