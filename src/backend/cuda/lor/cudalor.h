/* CUDA back end: low-order-refined matrices, and matrices of the lattice's topology. */
#pragma once
#include <backend/cuda/runtime/cudaimpl.h>
#include <backend/lanes/lor/laneslor.h>

EXTERN_C_BEGIN
PETSC_INTERN PetscErrorCode    HopsLORCreate_CUDA(HopsSpace, const HopsBasis *, HopsLORAssembler *);
PETSC_INTERN const HopsRowsOps HopsRowsCUDA;

/* What the launches of a file put in the table: cudalorvertex.cu, and so on */
PETSC_INTERN void                  HopsCudaLORVertex(HopsLanesLORKernels *);
PETSC_INTERN void                  HopsCudaLORPattern(HopsLanesLORKernels *);
PETSC_INTERN void                  HopsCudaLOROnce(HopsLanesLORKernels *);
PETSC_INTERN void                  HopsCudaLORValues(HopsLanesLORKernels *);
PETSC_INTERN const HopsLumpKernels HopsLumpKernelsCUDA; /* cudalump.cu */
EXTERN_C_END
