/* Kokkos back end: patches. */
#pragma once
#include <backend/lanes/patch/lanespatch.h>

EXTERN_C_BEGIN
PETSC_INTERN const HopsLanesPatchKernels HopsPatchKernelsKokkos;
PETSC_INTERN const HopsPatchSetUpOps     HopsPatchSetUpKokkos;
PETSC_INTERN PetscErrorCode HopsPatchSolve_Kokkos(HopsLanesPatchSet, const HopsLanesPatchRun *, PetscBool atomic, HopsPatchMode,
                                                  PetscBool floats, const void *r, void *z);
PETSC_INTERN PetscErrorCode HopsPatchSweep_Kokkos(HopsLanesPatchSet, const HopsLanesSweepData *, const HopsLanesPatchRun *,
                                                  PetscBool floats, const void *b, void *z);
EXTERN_C_END
