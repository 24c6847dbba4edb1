/* CUDA: launches of patches by lists (lanespatch.h), of which cubes of one class are faster by warps. */
#pragma once
#include <backend/lanes/patch/lanespatch.h>

EXTERN_C_BEGIN
PETSC_INTERN const HopsLanesPatchKernels HopsPatchKernelsCUDA;
PETSC_INTERN const HopsPatchSetUpOps     HopsPatchSetUpCUDA;
PETSC_INTERN PetscErrorCode HopsPatchSolve_CUDA(HopsLanesPatchSet, const HopsLanesPatchRun *, PetscBool atomic, HopsPatchMode,
                                                PetscBool floats, const void *r, void *z);
PETSC_INTERN PetscErrorCode HopsPatchSweep_CUDA(HopsLanesPatchSet, const HopsLanesSweepData *, const HopsLanesPatchRun *,
                                                PetscBool floats, const void *b, void *z);
EXTERN_C_END
