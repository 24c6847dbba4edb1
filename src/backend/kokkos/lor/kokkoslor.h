/* Kokkos back end: low-order-refined matrices, and matrices of the lattice's topology. */
#pragma once
#include <backend/lanes/lor/laneslor.h>

EXTERN_C_BEGIN
PETSC_INTERN PetscErrorCode        HopsLORCreate_Kokkos(HopsSpace, const HopsBasis *, HopsLORAssembler *);
PETSC_INTERN const HopsRowsOps     HopsRowsKokkos;
PETSC_INTERN const HopsLumpKernels HopsLumpKernelsKokkos; /* kokkoslump.cpp */
EXTERN_C_END

/* What the launches of a file put in the table: kokkoslorvertex.cpp, and so on */
void HopsKokkosLORVertex(HopsLanesLORKernels *);
void HopsKokkosLORPattern(HopsLanesLORKernels *);
void HopsKokkosLORValues(HopsLanesLORKernels *);
