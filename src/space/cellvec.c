/* Vectors with an entry for each cell of a space. */
#include <hops/private/hopsimpl.h>

/*@
  HopsSpaceCreateCellVec - Creates a vector with an entry for each cell, as `HopsSpaceEstimateError()` fills
  one.

  Collective

  Input Parameter:
. space - the space

  Output Parameter:
. v - the vector, whose local entries are this rank's cells in the caller's order: that of the arrays that the
  space was made from, on a `DMPLEX` that of its points of height 0

  Level: intermediate

.seealso: `HopsSpaceEstimateError()`, `HopsSpaceMark()`
@*/
PetscErrorCode HopsSpaceCreateCellVec(HopsSpace space, Vec *v)
{
  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidPointer(v, 2);
  PetscCall(VecCreate(PetscObjectComm((PetscObject)space), v));
  PetscCall(VecSetSizes(*v, space->ncaller, PETSC_DECIDE));
  PetscCall(VecSetType(*v, VECSTANDARD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceCheckCellVec(HopsSpace sp, Vec v)
{
  char     why[HOPS_WHY_LENGTH] = "";
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  if (n != sp->ncaller)
    PetscCall(HopsRefuse(why,
                         "The vector of the estimates has %" PetscInt_FMT " entries on a rank with %" PetscInt_FMT
                         " cells: make it by HopsSpaceCreateCellVec()",
                         n, sp->ncaller));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)sp), PETSC_ERR_ARG_SIZ, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}
