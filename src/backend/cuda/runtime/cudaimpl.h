/* CUDA back end: data of an operator, and launches of kernels. No function here waits for the device unless
   it says so. */
#pragma once
#include <hops/private/hopsimpl.h>
#include <backend/lanes/operator/lanesargs.h>
#include <petscdevice_cuda.h>

EXTERN_C_BEGIN
/* Memory: cudamemory.c */
#define HOPS_CUDA_REMEDY "use more devices, or -hops_backend host"
/* Raises err, and names the remedy if n more bytes for `what` are not to be had */
PETSC_INTERN PetscErrorCode HopsCudaCheckMemory(cudaError_t err, size_t n, const char what[], const char remedy[]);
PETSC_INTERN PetscErrorCode HopsMalloc_CUDA(size_t n, void **);
PETSC_INTERN PetscErrorCode HopsFree_CUDA(void **);
PETSC_INTERN PetscErrorCode HopsCudaPoolMalloc(size_t, void **);
PETSC_INTERN PetscErrorCode HopsCudaPoolFree(void **);
PETSC_INTERN PetscErrorCode HopsCopy_CUDA(HopsQueue, void *dst, const void *src, size_t n, HopsCopyDirection);
/* *d, a pointer to anything, is a copy of n bytes of h in new memory, NULL if n is 0. Waits for the device */
PETSC_INTERN PetscErrorCode HopsCudaToDevice(size_t n, const void *h, void *d);
/* The same for n numbers, as floats if `single` */
PETSC_INTERN PetscErrorCode HopsCudaNumbersToDevice(size_t n, PetscBool single, const double h[], void *d);

/* A function of CUDA's driver, which libhops.so does not link; NULL where there is none. cudamodule.c */
PETSC_INTERN void *HopsCudaDriver(const char name[]);

/* See Scan in lanes.h */
PETSC_INTERN PetscErrorCode HopsCudaScan(size_t n, int x[]);

/* what HopsBackendCUDA has, constructors of copies, and functions that tables of other files name */
PETSC_INTERN PetscErrorCode      HopsMalloc_CUDA(size_t n, void **);
PETSC_INTERN PetscErrorCode      HopsFree_CUDA(void **);
PETSC_INTERN PetscErrorCode      HopsMallocHost_CUDA(size_t n, void **);
PETSC_INTERN PetscErrorCode      HopsFreeHost_CUDA(void **);
PETSC_INTERN PetscErrorCode      HopsQueueCreate_CUDA(HopsQueue *);
PETSC_INTERN PetscErrorCode      HopsQueueDestroy_CUDA(HopsQueue *);
PETSC_INTERN PetscErrorCode      HopsQueueFork_CUDA(HopsQueue);
PETSC_INTERN PetscErrorCode      HopsQueueJoin_CUDA(HopsQueue);
PETSC_INTERN PetscErrorCode      HopsQueueFinish_CUDA(HopsQueue);
PETSC_INTERN PetscErrorCode      HopsShare_CUDA(void *, size_t, void **);
PETSC_INTERN PetscErrorCode      HopsUnshare_CUDA(void *);
PETSC_INTERN PetscErrorCode      HopsQueueSignal_CUDA(HopsQueue, uint32_t *, uint32_t);
PETSC_INTERN PetscErrorCode      HopsQueueAwait_CUDA(HopsQueue, uint32_t *, uint32_t);
PETSC_INTERN PetscErrorCode      HopsCudaQueueGetStream(HopsQueue, cudaStream_t *); /* PETSc's own where there is no queue */
PETSC_INTERN PetscErrorCode      HopsRecordBegin_CUDA(void);
PETSC_INTERN PetscErrorCode      HopsRecordEnd_CUDA(HopsRecord *);
PETSC_INTERN PetscErrorCode      HopsRecordRun_CUDA(HopsRecord);
PETSC_INTERN PetscErrorCode      HopsRecordDestroy_CUDA(HopsRecord *);
PETSC_INTERN const HopsVectorOps HopsVectorCUDA;
PETSC_INTERN const HopsPointOps  HopsPointCUDA;
PETSC_INTERN const HopsMeshOps   HopsMeshCUDA;
PETSC_INTERN const HopsArraysOps HopsArraysCUDA;
PETSC_INTERN PetscErrorCode      HopsMapKind_CUDA(PetscInt n, PetscInt dim, PetscInt g, const PetscReal s[], const PetscReal X[],
                                                  HopsMapKind *);
PETSC_INTERN PetscErrorCode      HopsCountCells_CUDA(HopsValuesTest, PetscInt dim, PetscInt n, PetscInt nq, const HopsValues *,
                                                     const HopsValues *, PetscInt *count);
PETSC_INTERN PetscErrorCode      HopsOperatorCreate_CUDA(HopsForm, const HopsBasis *, HopsOperator *);
PETSC_INTERN PetscErrorCode      HopsFacesCreate_CUDA(HopsSpace, const HopsBasis *, PetscInt n, const int node[],
                                                      const PetscReal qdata[], HopsOperator *);
PETSC_INTERN PetscErrorCode HopsTensorCreate_CUDA(HopsSpace, PetscInt Q, PetscInt W, PetscInt ntest, const HopsTensorSide test[],
                                                  PetscInt ntrial, const HopsTensorSide trial[], HopsTensorOperator *);
PETSC_INTERN PetscErrorCode HopsHungCreate_CUDA(HopsSpace, HopsHung *);
PETSC_INTERN PetscErrorCode HopsInterpCreate_CUDA(HopsSpace, HopsSpace, const HopsInterpData *, HopsInterpolation *);
PETSC_INTERN PetscErrorCode HopsPatchCreate_CUDA(HopsPatches, PetscDataType, HopsPatchSmoother *);
EXTERN_C_END
