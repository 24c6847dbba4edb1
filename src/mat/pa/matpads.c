/* MATPA's form from the Jacobian point functions of a PetscDS. */
#include <hops/private/hopslorimpl.h>

/*@
  MatPASetFromDS - Sets the terms of an operator from the Jacobian functions g0 and g3 of a `DMPLEX`'s `PetscDS`.

  Collective

  Input Parameters:
+ A  - the operator, on the space of `dm` (`HopsSpaceCreateFromDM()`)
- dm - the mesh, with one scalar field and its `PetscDS`

  Level: intermediate

  Notes:
  The functions see constants and auxiliary fields; they must not depend on the solution. First-order terms (g1, g2), boundary
  Jacobians and nonsymmetric tensors raise `PETSC_ERR_SUP`. The quadrature is that of the `PetscFE`, unless set otherwise.

.seealso: `MATPA`, `HopsSpaceCreateFromDM()`, `MatPASetDiffusion()`
@*/
PetscErrorCode MatPASetFromDS(Mat A, DM dm)
{
  Mat_PA         *pa;
  HopsCoefficient diffusion, mass;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidHeaderSpecific(dm, DM_CLASSID, 2);
  PetscCall(MatPAGetData(A, &pa));
  PetscCall(HopsDSCheck(dm, PETSC_FALSE));
  PetscCall(HopsCoefficientCreateDS(dm, HOPS_DS_DIFFUSION, PETSC_FALSE, &diffusion));
  PetscCall(HopsCoefficientCreateDS(dm, HOPS_DS_MASS, PETSC_FALSE, &mass));
  pa->fromds = PETSC_TRUE;
  PetscCall(MatPASetDiffusion(A, diffusion));
  PetscCall(MatPASetMass(A, mass));
  PetscCall(HopsCoefficientDestroy(&diffusion));
  PetscCall(HopsCoefficientDestroy(&mass));
  PetscFunctionReturn(PETSC_SUCCESS);
}
