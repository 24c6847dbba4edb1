/* CUDA back end: operators. */
#include "cudaderham.h"
#include "cudah1.h"

PetscErrorCode HopsOperatorCreate_CUDA(HopsForm form, const HopsBasis *basis, HopsOperator *A)
{
  HopsSpace       space      = form->space;
  const PetscBool derivative = HopsFormDerivative(form) ? PETSC_TRUE : PETSC_FALSE,
                  field      = HopsFormValue(form) ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  if (space->family == HOPS_H1) PetscCall(HopsH1OperatorCreate(&HopsH1KernelsCUDA, form, basis, A));
  else PetscCall(HopsDerhamCreate_CUDA(space, basis, derivative, field, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
