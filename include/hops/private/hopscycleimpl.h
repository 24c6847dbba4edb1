/* The V-cycle of a BoomerAMG hierarchy, and the cycles of AMS and ADS, on a device, by kernels of our own
   (src/hypre/cycle). */
#pragma once
#include <hopslor.h>

typedef struct _HopsCycle *HopsCycle;

#define HOPS_CYCLE_DEGREE 4 /* highest degree of a Chebyshev polynomial that smooths */

/* What ADS was given, by which its data are recognised; all MATHYPRE */
typedef struct {
  Mat A, G, C, nd[3], rt[3];
} HopsCycleAuxiliary;

typedef struct {
  PCLORCycle type;
  PetscInt   degree;    /* of the Chebyshev polynomial that smooths in BoomerAMG's cycle; 0: Jacobi */
  PetscInt   redundant; /* on several ranks levels of at most so many unknowns are worked on by each rank */
} HopsCycleSettings;

/*
  From a PCHYPRE that is set up, of a matrix on the space; *cycle is NULL where the cycle is not one that can
  be taken over, and *why says so. Collective.
*/
PETSC_INTERN PetscErrorCode HopsCycleCreate(PC, HopsSpace, const HopsCycleSettings *, const HopsCycleAuxiliary *, HopsCycle *cycle,
                                            const char **why);
/*
  The same of BoomerAMG on rank 0, which has the rows of all ranks (src/hypre/matrix/hypregather.c) and runs
  the cycle for them; pc is NULL on the others. n: rows of this rank, which need not be the space's
*/
PETSC_INTERN PetscErrorCode HopsCycleCreateOnFirst(PC, HopsSpace, PetscInt n, const HopsCycleSettings *, HopsCycle *,
                                                   const char **why);
PETSC_INTERN PetscErrorCode HopsCycleApply(HopsCycle, Vec x, Vec y);
PETSC_INTERN PetscErrorCode HopsCycleDestroy(HopsCycle *);
PETSC_INTERN PetscErrorCode HopsCycleGetInfo(HopsCycle, PetscInt *levels, PetscInt *spread, PetscReal *complexity);
/* of AMS and ADS */
PETSC_INTERN PetscErrorCode HopsCycleSetNodalWeight(PC, const HopsCycleAuxiliary *, PetscReal, PetscBool *done);
