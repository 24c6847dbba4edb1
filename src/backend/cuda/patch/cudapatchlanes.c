/* CUDA back end: the table of the kernels of patches by lists. */
#include <backend/cuda/runtime/cudaimpl.h>
#include "cudapatch.h"
#include "cudapatchlanes.h"

static PetscErrorCode HasTensor(PetscBool *has)
{
  int device, major;

  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  *has = major == 9 ? PETSC_TRUE : PETSC_FALSE; /* others have other shapes or rates, which were not tried */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ClassCreate(PetscInt p, const PetscReal A[], const PetscReal M[], const PetscReal d[], PetscReal m,
                                  PetscBool single, void **data, PetscLogDouble *flops)
{
  HopsCudaPatch k;

  PetscFunctionBegin;
  PetscCall(HopsCudaPatchCreateList(p, A, M, d, m, single, &k));
  *flops = k->flops;
  *data  = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ClassDestroy(void **data)
{
  HopsCudaPatch k = (HopsCudaPatch)*data;

  PetscFunctionBegin;
  PetscCall(HopsCudaPatchDestroy(&k));
  *data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SweepTeams(int *n)
{
  int device;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(n, cudaDevAttrMultiProcessorCount, device));
  *n *= 4;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static size_t MostScratch(void)
{
  return HOPS_LANES_PATCH_OWN;
}

const HopsLanesPatchKernels HopsPatchKernelsCUDA = {.backend      = &HopsBackendCUDA,
                                                    .MostScratch  = MostScratch,
                                                    .group        = 1,
                                                    .Solve        = HopsPatchSolve_CUDA,
                                                    .Sweep        = HopsPatchSweep_CUDA,
                                                    .SweepTeams   = SweepTeams,
                                                    .HasTensor    = HasTensor,
                                                    .ClassCreate  = ClassCreate,
                                                    .ClassDestroy = ClassDestroy};

PetscErrorCode HopsPatchCreate_CUDA(HopsPatches patches, PetscDataType type, HopsPatchSmoother *S)
{
  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(HopsLanesPatchCreate(&HopsPatchKernelsCUDA, patches, type, S));
  PetscFunctionReturn(PETSC_SUCCESS);
}
