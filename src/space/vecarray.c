/* Arrays of vectors where the back end of a space works. */
#include <hops/private/hopsimpl.h>

/* Does the space take any vector? Of those that are on a device PETSc makes copies */
static PetscBool TakesAny(HopsSpace sp)
{
  return sp->backend->host;
}

/*
  Host back end: any vector, PETSc copies it from a device. Device back end: a vector elsewhere is refused,
  since copies at every application would hide that the code runs on the wrong vectors.
*/
PetscErrorCode HopsVecGetArray(HopsSpace sp, Vec v, HopsVecAccess access, PetscScalar **a)
{
  const PetscScalar **ca = (const PetscScalar **)a;
  PetscMemType        type;

  PetscFunctionBegin;
  if (TakesAny(sp)) {
    if (access == HOPS_VEC_READ) PetscCall(VecGetArrayRead(v, ca));
    else if (access == HOPS_VEC_WRITE) PetscCall(VecGetArrayWrite(v, a));
    else PetscCall(VecGetArray(v, a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (access == HOPS_VEC_READ) PetscCall(VecGetArrayReadAndMemType(v, ca, &type));
  else if (access == HOPS_VEC_WRITE) PetscCall(VecGetArrayWriteAndMemType(v, a, &type));
  else PetscCall(VecGetArrayAndMemType(v, a, &type));
  PetscCheck(PetscMemTypeDevice(type), PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_WRONG,
             "A vector of type %s lies in the host's memory, and the space on the back end %s: make vectors by MatCreateVecs() or "
             "HopsSpaceCreateVec() (with a DM, -dm_vec_type %s), or use -hops_backend host",
             ((PetscObject)v)->type_name, sp->backend->name, HopsSpaceVecType(sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsVecRestoreArray(HopsSpace sp, Vec v, HopsVecAccess access, PetscScalar **a)
{
  const PetscScalar **ca = (const PetscScalar **)a;

  PetscFunctionBegin;
  if (TakesAny(sp)) {
    if (access == HOPS_VEC_READ) PetscCall(VecRestoreArrayRead(v, ca));
    else if (access == HOPS_VEC_WRITE) PetscCall(VecRestoreArrayWrite(v, a));
    else PetscCall(VecRestoreArray(v, a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (access == HOPS_VEC_READ) PetscCall(VecRestoreArrayReadAndMemType(v, ca));
  else if (access == HOPS_VEC_WRITE) PetscCall(VecRestoreArrayWriteAndMemType(v, a));
  else PetscCall(VecRestoreArrayAndMemType(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceHasVec(HopsSpace sp, Vec v, PetscBool *has)
{
  const PetscScalar *a;
  PetscMemType       type;

  PetscFunctionBegin;
  *has = PETSC_TRUE;
  if (!v || TakesAny(sp)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayReadAndMemType(v, &a, &type));
  *has = PetscMemTypeDevice(type) ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(VecRestoreArrayReadAndMemType(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
