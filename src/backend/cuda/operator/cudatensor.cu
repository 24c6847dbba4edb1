/* CUDA back end: forms with full tensors (lanestensorkernels.h). */
#include <backend/cuda/runtime/cudalaunch.cuh>
#include <backend/lanes/operator/lanestensorkernels.h>
#include "cudatensor.h"

static HopsLanesTensorKernels Kernels()
{
  HopsLanesTensorKernels k = HopsTensorLaunches<HopsCudaBack>::Table();

#define ENTRY(Q) k.fixed[Q] = HopsCudaTensorLaunch_##Q;
  HOPS_TENSOR_POINTS(ENTRY)
  return k;
}

static const HopsLanesTensorKernels TensorKernels = Kernels();

PetscErrorCode HopsTensorCreate_CUDA(HopsSpace sp, PetscInt Q, PetscInt W, PetscInt ntest, const HopsTensorSide test[],
                                     PetscInt ntrial, const HopsTensorSide trial[], HopsTensorOperator *A)
{
  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(HopsLanesTensorCreate(&TensorKernels, sp, Q, W, ntest, test, ntrial, trial, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
