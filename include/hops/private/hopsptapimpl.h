/* Sums of P^T A P. */
#pragma once
#include <hops/private/hopsmatimpl.h>
#include <hopshp.h>

/* sum of P^T L P over assembled L[n], one for each of the operators, with the essential rows and columns of
   the identity; MATAIJ in the process's memory */
PETSC_INTERN PetscErrorCode HopsPtAPSum(Mat, const Mat L[], Mat *sum);
/* the error of what takes no such sum */
PETSC_INTERN PetscErrorCode HopsPtAPRefuse(Mat, const char what[]);
PETSC_INTERN PetscErrorCode MatCreate_HopsPtAP(Mat);
