/* The V-cycle of a BoomerAMG hierarchy on a device, by kernels of our own (src/pc/lor/cuda). */
#pragma once
#include <petscpc.h>

typedef enum {
  HOPS_CYCLE_HYPRE, /* hypre's own solve */
  HOPS_CYCLE_DOUBLE,
  HOPS_CYCLE_SINGLE
} HopsCyclePrecision;

typedef struct _HopsCycle *HopsCycle;

/* from a PCHYPRE that is set up; *cycle is NULL where the cycle is not one that can be taken over, and *why says so */
PETSC_INTERN PetscErrorCode HopsCycleCreate(PC, HopsCyclePrecision, HopsCycle *cycle, const char **why);
PETSC_INTERN PetscErrorCode HopsCycleApply(HopsCycle, Vec x, Vec y);
PETSC_INTERN PetscErrorCode HopsCycleDestroy(HopsCycle *);
PETSC_INTERN PetscErrorCode HopsCycleGetInfo(HopsCycle, PetscInt *levels, PetscReal *complexity);
