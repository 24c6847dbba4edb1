/* CUDA back end: launches of full tensors by kernels that know all sizes. */
#pragma once
#include <backend/lanes/operator/lanestensor.h>

EXTERN_C_BEGIN
#define HOPS_CUDA_DECLARE(Q) \
  PETSC_INTERN PetscErrorCode HopsCudaTensorLaunch_##Q(const HopsLanesTensorArgs *, int lanes, int teams, int *busy);
HOPS_TENSOR_POINTS(HOPS_CUDA_DECLARE)
#undef HOPS_CUDA_DECLARE
EXTERN_C_END
