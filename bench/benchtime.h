/* Seconds for programs that measure. */
#pragma once
#include <petscsys.h>
#include <petscdevice.h>
#include <petsctime.h>
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

/* when what runs on a device has finished, on all ranks */
static inline double BenchNow(void)
{
  PetscLogDouble t;

#if defined(PETSC_HAVE_CUDA)
  if (PetscDeviceInitialized(PETSC_DEVICE_CUDA)) (void)cudaDeviceSynchronize();
#endif
  (void)MPI_Barrier(PETSC_COMM_WORLD);
  (void)PetscTime(&t);
  return t;
}

/* of an event in the present stage */
static inline PetscErrorCode BenchEventTime(const char name[], double *t)
{
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId(name, &event));
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
  *t = info.time;
  PetscFunctionReturn(PETSC_SUCCESS);
}
