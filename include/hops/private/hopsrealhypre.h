/*
  hypre for a PETSc that has none because its scalars are complex: a PC of the name and with the options of
  PETSc's own, which applies a real cycle to the real part and to the imaginary part. Where PETSc has hypre,
  nothing of this is there, and the names below are PETSc's functions.
*/
#pragma once
#include <hops/private/petscshim.h>
#include <petscksp.h>

#if defined(HOPS_HYPRE)
  #define PCHYPREGetType                HopsHypreGetType
  #define PCHYPRESetDiscreteGradient    HopsHypreSetDiscreteGradient
  #define PCHYPRESetDiscreteCurl        HopsHypreSetDiscreteCurl
  #define PCHYPRESetInterpolations      HopsHypreSetInterpolations
  #define PCHYPRESetEdgeConstantVectors HopsHypreSetEdgeConstantVectors
  #define PCHYPRESetBetaPoissonMatrix   HopsHypreSetBetaPoissonMatrix
  #define PCHYPREAMSSetInteriorNodes    HopsHypreSetInteriorNodes
PETSC_INTERN PetscErrorCode PCCreate_HopsHypre(PC);
/* src/hypre/real/realhypre.c: as PETSc's functions. Matrices and vectors are kept, and must be real */
PETSC_INTERN PetscErrorCode HopsHypreGetType(PC, const char **);
PETSC_INTERN PetscErrorCode HopsHypreSetDiscreteGradient(PC, Mat);
PETSC_INTERN PetscErrorCode HopsHypreSetDiscreteCurl(PC, Mat);
PETSC_INTERN PetscErrorCode HopsHypreSetInterpolations(PC, PetscInt dim, Mat RTfull, Mat RT[], Mat NDfull, Mat ND[]);
PETSC_INTERN PetscErrorCode HopsHypreSetEdgeConstantVectors(PC, Vec, Vec, Vec);
PETSC_INTERN PetscErrorCode HopsHypreSetBetaPoissonMatrix(PC, Mat none);
PETSC_INTERN PetscErrorCode HopsHypreSetInteriorNodes(PC, Vec);
#endif
#if defined(PETSC_HAVE_HYPRE) || defined(HOPS_HYPRE)
  #define HOPS_HAVE_HYPRE 1
#else
  #define HOPS_HAVE_HYPRE 0
#endif
