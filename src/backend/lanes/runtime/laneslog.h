/* Flops and times of kernels that several back ends launch. */
#pragma once
#include <hops/private/hopsimpl.h>

/* work on a device, or the process's */
static inline PetscErrorCode HopsLanesLogFlops(const HopsBackendOps *be, PetscLogDouble flops)
{
  return be->host ? PetscLogFlops(flops) : PetscLogGpuFlops(flops);
}

/* and the device's time */
static inline PetscErrorCode HopsLanesLogTimeBegin(const HopsBackendOps *be)
{
  return be->host ? PETSC_SUCCESS : PetscLogGpuTimeBegin();
}

static inline PetscErrorCode HopsLanesLogTimeEnd(const HopsBackendOps *be)
{
  return be->host ? PETSC_SUCCESS : PetscLogGpuTimeEnd();
}
