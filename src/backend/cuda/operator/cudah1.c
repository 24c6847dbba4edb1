/* CUDA back end: operators. */
#include "cudaderham.h"
#include "cudah1.h"

PetscErrorCode HopsMapKind_CUDA(PetscInt n, PetscInt dim, PetscInt g, const PetscReal s[], const PetscReal X[], HopsMapKind *kind)
{
  void *memory;
  int  *flag, found = 0;

  PetscFunctionBegin;
  *kind = HOPS_MAP_AFFINE;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsMalloc_CUDA(g * sizeof(double) + sizeof(int), &memory));
  flag = (int *)((double *)memory + g);
  PetscCall(HopsCopy_CUDA(NULL, memory, s, g * sizeof(double), HOPS_COPY_IN));
  PetscCall(HopsCopy_CUDA(NULL, flag, &found, sizeof(int), HOPS_COPY_IN));
  PetscCall(HopsCudaMapKind(n, (int)dim, (int)g, (const double *)memory, X, flag));
  PetscCall(HopsCopy_CUDA(NULL, &found, flag, sizeof(int), HOPS_COPY_OUT));
  PetscCall(HopsFree_CUDA(&memory));
  *kind = (HopsMapKind)(HOPS_MAP_AFFINE + found);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsOperatorCreate_CUDA(HopsForm form, const HopsBasis *basis, HopsOperator *A)
{
  PetscFunctionBegin;
  if (form->space->family == HOPS_H1) PetscCall(HopsH1OperatorCreate(&HopsH1KernelsCUDA, form, basis, A));
  else PetscCall(HopsDerhamOperatorCreate(&HopsDerhamKernelsCUDA, form, basis, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
