/* Arrays of vectors where the back end of a space works. */
#include <hops/private/hopsimpl.h>

/* Does the space take any vector? Of those that are on a device PETSc makes copies */
static PetscBool TakesAny(HopsSpace sp)
{
  return sp->backend->host;
}

/* ------------------------------------ parts of complex scalars ------------------------------------ */

#if defined(PETSC_USE_COMPLEX)
/* What is not written keeps its value, as in an array of real scalars */
PetscErrorCode HopsHostVecGetPart(Vec v, PetscInt part, HopsVecAccess access, PetscReal **a)
{
  const PetscScalar *x;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(PetscMalloc1(n, a));
  PetscCall(VecGetArrayRead(v, &x));
  for (PetscInt i = 0; i < n; ++i) (*a)[i] = HopsScalarPart(x[i], part);
  PetscCall(VecRestoreArrayRead(v, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostVecRestorePart(Vec v, PetscInt part, HopsVecAccess access, PetscReal **a)
{
  PetscScalar *x;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  if (access != HOPS_VEC_READ) { /* the other part stays */
    PetscCall(VecGetArray(v, &x));
    for (PetscInt i = 0; i < n; ++i) HopsScalarSetPart(&x[i], part, (*a)[i]);
    PetscCall(VecRestoreArray(v, &x));
  }
  PetscCall(PetscFree(*a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those who write a T-vector here write all of it */
PetscErrorCode HopsVecGetPart(HopsSpace sp, Vec v, PetscInt part, HopsVecAccess access, PetscReal **a)
{
  PetscInt n;

  PetscFunctionBegin;
  if (access == HOPS_VEC_WRITE) {
    PetscCall(VecGetLocalSize(v, &n));
    PetscCall(PetscMalloc1(n, a));
  } else PetscCall(HopsHostVecGetPart(v, part, access, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsVecRestorePart(HopsSpace sp, Vec v, PetscInt part, HopsVecAccess access, PetscReal **a)
{
  return HopsHostVecRestorePart(v, part, access, a);
}

PetscErrorCode HopsMatSetReal(Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], const PetscReal v[],
                              InsertMode mode)
{
  PetscScalar *w;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m * n, &w));
  for (PetscInt k = 0; k < m * n; ++k) w[k] = v[k];
  PetscCall(MatSetValues(A, m, i, n, j, w, mode));
  PetscCall(PetscFree(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsEvaluatePart(PetscInt dim, const PetscReal x[], PetscInt nc, PetscReal u[], void *ctx)
{
  HopsFunctionPart *p = (HopsFunctionPart *)ctx;
  PetscScalar       v[6];

  PetscFunctionBegin;
  PetscCall((*p->f)(dim, x, nc, v, p->ctx));
  for (PetscInt i = 0; i < nc; ++i) u[i] = HopsScalarPart(v[i], p->part);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsEvaluateReal(HopsPointFunction f, PetscInt dim, const PetscReal x[], PetscInt nc, PetscReal out[], void *ctx)
{
  PetscScalar v[6];

  PetscFunctionBegin;
  PetscCall((*f)(dim, x, nc, v, ctx));
  PetscCall(HopsTakeReal(nc, v, out, "A coefficient"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsVecGetArray(HopsSpace sp, Vec v, HopsVecAccess access, PetscReal **a)
{
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm((PetscObject)v), PETSC_ERR_SUP,
          "This part of hops works on real scalars alone, and this PETSc has complex ones: see docs/guide/complex.md");
}

PetscErrorCode HopsVecRestoreArray(HopsSpace sp, Vec v, HopsVecAccess access, PetscReal **a)
{
  return PETSC_SUCCESS;
}

#else

PetscErrorCode HopsHostVecGetPart(Vec v, PetscInt part, HopsVecAccess access, PetscReal **a)
{
  PetscFunctionBegin;
  if (access == HOPS_VEC_READ) PetscCall(VecGetArrayRead(v, (const PetscReal **)a));
  else if (access == HOPS_VEC_WRITE) PetscCall(VecGetArrayWrite(v, a));
  else PetscCall(VecGetArray(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostVecRestorePart(Vec v, PetscInt part, HopsVecAccess access, PetscReal **a)
{
  PetscFunctionBegin;
  if (access == HOPS_VEC_READ) PetscCall(VecRestoreArrayRead(v, (const PetscReal **)a));
  else if (access == HOPS_VEC_WRITE) PetscCall(VecRestoreArrayWrite(v, a));
  else PetscCall(VecRestoreArray(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Host back end: any vector, PETSc copies it from a device. Device back end: a vector elsewhere is refused,
  since copies at every application would hide that the code runs on the wrong vectors.
*/
PetscErrorCode HopsVecGetArray(HopsSpace sp, Vec v, HopsVecAccess access, PetscReal **a)
{
  const PetscReal **ca = (const PetscReal **)a;
  PetscMemType      type;

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

PetscErrorCode HopsVecRestoreArray(HopsSpace sp, Vec v, HopsVecAccess access, PetscReal **a)
{
  const PetscReal **ca = (const PetscReal **)a;

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

#endif

PetscErrorCode HopsTakeReal(PetscInt n, const PetscScalar v[], PetscReal real[], const char what[])
{
  PetscFunctionBegin;
#if !defined(PETSC_USE_COMPLEX)
  PetscCall(PetscArraycpy(real, v, n));
  PetscFunctionReturn(PETSC_SUCCESS);
#endif
  for (PetscInt i = 0; i < n; ++i) {
    const PetscReal imaginary = PetscAbsReal(PetscImaginaryPart(v[i]));

    PetscCheck(imaginary == 0.0 || imaginary <= 1e-12 * PetscAbsScalar(v[i]), PETSC_COMM_SELF, PETSC_ERR_SUP,
               "%s has an imaginary part (%g + %g i), and forms are real: make an operator of the real part and one of the "
               "imaginary "
               "part, and add the second times i (MatAXPY()); precondition by a real, positive one (docs/guide/complex.md)",
               what, (double)PetscRealPart(v[i]), (double)PetscImaginaryPart(v[i]));
    real[i] = PetscRealPart(v[i]);
  }
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
