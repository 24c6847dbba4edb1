/* The operator of a space whose cells have orders of their own. */
#include <hops/private/hopshpimpl.h>
#include <hops/private/hopsptapimpl.h>

/*@
  HopsHPSpaceCreateMat - Creates the operator of a `HopsHPSpace`, whose terms are to be set.

  Collective

  Input Parameter:
. hp - the space

  Output Parameter:
. M - the operator, of type `MATHOPSPTAP`: the sum over the orders of the cells, with a `MATPA` for each

  Level: intermediate

  Example Usage:
.vb
  HopsHPSpaceCreateMat(hp, &M);
  MatHopsPtAPGetMats(M, &n, &A, NULL);
  for (i = 0; i < n; i++) MatPASetDiffusion(A[i], kappa);
.ve

  Note:
  Coefficients are constants or functions. Values for each cell are those of the cells of that order
  (`HopsHPSpaceGetParts()`).

.seealso: `HopsHPSpace`, `MATHOPSPTAP`, `MatHopsPtAPGetMats()`, `MatHopsPtAPLiftEssential()`
@*/
PetscErrorCode HopsHPSpaceCreateMat(HopsHPSpace hp, Mat *M)
{
  Mat *A;

  PetscFunctionBegin;
  HopsValidHeader(hp, HOPS_HPSPACE_CLASSID, 1);
  HopsValidPointer(M, 2);
  PetscCall(PetscMalloc1(hp->nparts, &A));
  for (PetscInt i = 0; i < hp->nparts; ++i) PetscCall(MatCreatePA(hp->part[i], &A[i]));
  PetscCall(MatCreateHopsPtAP(PetscObjectComm((PetscObject)hp), hp->nparts, A, hp->P, hp->ness, hp->ess, M));
  for (PetscInt i = 0; i < hp->nparts; ++i) PetscCall(MatDestroy(&A[i]));
  PetscCall(PetscFree(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
