/* CUDA back end: operators. */
#include "cudaderham.h"
#include "cudah1.h"

PetscErrorCode HopsOperatorCreate_CUDA(HopsForm form, const HopsBasis *basis, HopsOperator *A)
{
  PetscFunctionBegin;
  if (form->space->family == HOPS_H1) PetscCall(HopsH1OperatorCreate(&HopsH1KernelsCUDA, form, basis, A));
  else PetscCall(HopsDerhamOperatorCreate(&HopsDerhamKernelsCUDA, form, basis, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
