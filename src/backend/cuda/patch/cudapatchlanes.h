/* CUDA: launches of patches by lists (lanespatch.h), and what is faster by warps: tensor cores, and cubes of
   one class. */
#pragma once
#include <backend/lanes/patch/lanespatch.h>

EXTERN_C_BEGIN
PETSC_INTERN const HopsLanesPatchKernels HopsPatchKernelsCUDA;
PETSC_INTERN const HopsPatchSetUpOps     HopsPatchSetUpCUDA;
PETSC_INTERN PetscErrorCode HopsPatchSolve_CUDA(HopsLanesPatchSet, const HopsLanesPatchRun *, PetscBool atomic, HopsPatchMode,
                                                PetscBool floats, const void *r, void *z);
PETSC_INTERN PetscErrorCode HopsPatchSweep_CUDA(HopsLanesPatchSet, const HopsLanesSweepData *, const HopsLanesPatchRun *,
                                                PetscBool floats, const void *b, void *z);
/* For benchmarks and tests: 0 no tensor cores; else (default -1) wherever there is a kernel, which is where
   they are faster */
PETSC_INTERN int            HopsCudaPatchTensor;
PETSC_INTERN PetscErrorCode HopsCudaPatchHasTensor(PetscBool *has); /* has the device double-precision tensor cores? */
EXTERN_C_END
