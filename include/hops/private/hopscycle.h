/* The V-cycle of a BoomerAMG hierarchy on a device, by kernels of our own (src/pc/lor/cuda). */
#pragma once
#include <hopspc.h>

typedef struct _HopsCycle *HopsCycle;

/* from a PCHYPRE that is set up; *cycle is NULL where the cycle is not one that can be taken over, and *why says so */
PETSC_INTERN PetscErrorCode HopsCycleCreate(PC, PCLORCycle, HopsCycle *cycle, const char **why);
PETSC_INTERN PetscErrorCode HopsCycleApply(HopsCycle, Vec x, Vec y);
PETSC_INTERN PetscErrorCode HopsCycleDestroy(HopsCycle *);
PETSC_INTERN PetscErrorCode HopsCycleGetInfo(HopsCycle, PetscInt *levels, PetscReal *complexity);
