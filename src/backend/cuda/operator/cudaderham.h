/* CUDA back end: launches of forms on H(curl), H(div) and L2. */
#pragma once
#include <backend/lanes/operator/lanesderhamimpl.h>

EXTERN_C_BEGIN
#define HOPS_CUDA_DECLARE(P) \
  PETSC_INTERN PetscErrorCode HopsCudaDerhamLaunch_##P(const HopsDerhamArgs *, const double x[], const double xg[], double y[], \
                                                       double yg[]);
HOPS_DERHAM_NODES(HOPS_CUDA_DECLARE)
#undef HOPS_CUDA_DECLARE
PETSC_INTERN const HopsDerhamKernels HopsDerhamKernelsCUDA;
EXTERN_C_END
