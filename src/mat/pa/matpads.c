/* MATPA's form from the Jacobian point functions of a PetscDS. */
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopspatensorimpl.h>
#include <petsc/private/matimpl.h>

/* The terms of a scalar symmetric form of a PetscDS, on the operator's space */
static PetscErrorCode MatPATakeForm(Mat A, Mat_PA *pa, HopsForm ds)
{
  const PetscBool d = HopsFormDerivative(pa->form) ? PETSC_TRUE : PETSC_FALSE,
                  m = HopsFormValue(pa->form) ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(HopsFormSetScalar(ds, pa->form));
  pa->fromds = PETSC_TRUE;
  PetscCall(MatPAChanged(A, pa, d == !HopsFormDerivative(pa->form) || m == !HopsFormValue(pa->form) ? PETSC_TRUE : PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatPASetFromDS - Sets the terms of an operator from the Jacobian functions g0 and g3 of a `DMPLEX`'s
  `PetscDS`.

  Collective

  Input Parameters:
+ A  - the operator, on the space of `dm` (`HopsSpaceCreateFromDM()`)
- dm - the mesh, with one scalar field and its `PetscDS`

  Level: intermediate

  Notes:
  The functions see constants and auxiliary fields; they must not depend on the solution. A boundary Jacobian
  g0 is a Robin term. First-order terms (g1, g2), boundary Jacobians with derivatives (g1, g2, g3) and
  nonsymmetric tensors raise `PETSC_ERR_SUP`. The quadrature is that of the `PetscFE`, unless set otherwise.

.seealso: `MATPA`, `HopsSpaceCreateFromDM()`, `MatPASetDiffusion()`
@*/
PetscErrorCode MatPASetFromDS(Mat A, DM dm)
{
  Mat_PA   *pa;
  HopsForm  form;
  PetscInt  dim;
  PetscBool pre;

  PetscFunctionBegin;
  HopsValidHeader(A, MAT_CLASSID, 1);
  HopsValidHeader(dm, DM_CLASSID, 2);
  PetscCall(MatPAGetData(A, &pa));
  PetscCheck(pa->form->space && pa->form->space->dm, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The operator has no space on a DMPlex: MatCreatePA() on that of HopsSpaceCreateFromDM()");
  PetscCall(HopsCheckPlex(dm, &dm, &dim));
  PetscCall(HopsDSCheck(dm));
  PetscCall(HopsDSUsesPreconditioner(dm, PETSC_TRUE, &pre));
  PetscCall(HopsFormCreateDS(dm, pre, PETSC_TRUE, PETSC_TRUE, &form));
  PetscCall(MatPATakeForm(A, pa, form));
  PetscCall(HopsFormDestroy(&form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coefficients of a scalar symmetric form of a PetscDS, whose Jacobian the operator keeps */
PetscErrorCode MatPASetForm(Mat A, HopsSpace sp, HopsForm ds)
{
  Mat_PA *pa;

  PetscFunctionBegin;
  PetscCall(MatPAGetData(A, &pa));
  PetscCall(MatPASetSpace(A, sp));
  PetscCall(MatPATakeForm(A, pa, ds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Full tensors between all fields of the form */
static PetscErrorCode MatPACreateTensor(Mat A, Mat_PA *pa, DM dm)
{
  const PetscInt nf = pa->form->nf;
  HopsNodes     *nodes;
  PetscInt      *fields, n;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(nf, &nodes, nf, &fields));
  for (PetscInt f = 0; f < nf; ++f) fields[f] = f;
  PetscCall(HopsNodesCreateFields(dm, nf, nodes));
  PetscCall(HopsPATensorCreate(pa->form, nf, fields, nodes, nf, fields, nodes, &pa->tensor));
  for (PetscInt f = 0; f < nf; ++f) PetscCall(HopsNodesDestroy(&nodes[f]));
  PetscCall(PetscFree2(nodes, fields));
  PetscCall(MatShellSetVecType(A, HopsSpaceVecType(pa->tensor->space)));
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCheck(n == pa->tensor->size[0], PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The operator has %" PetscInt_FMT " local rows, the DM %" PetscInt_FMT " unknowns: make it by DMCreateMatrix()", n,
             pa->tensor->size[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first time: which operator the form needs. Scalar symmetric forms have the fast kernels */
static PetscErrorCode MatPACreateForm(Mat A, Mat_PA *pa, DM dm, PetscBool preconditioner)
{
  HopsForm ds;

  PetscFunctionBegin;
  PetscCall(HopsDSCheck(dm));
  PetscCall(HopsFormCreateDS(dm, preconditioner, PETSC_TRUE, PETSC_TRUE, &ds));
  PetscCheck(HopsFormHas(ds, HOPS_CELLS), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The PetscDS has no Jacobian functions (PetscDSSetJacobian())");
  pa->fromds = PETSC_TRUE;
  if (!HopsFormNeedsTensors(ds) && !pa->general) {
    HopsSpace sp;

    PetscCall(HopsSpaceCreateFromDM(dm, &sp));
    PetscCall(MatPASetForm(A, sp, ds));
    PetscCall(HopsSpaceDestroy(&sp));
    PetscCall(HopsFormDestroy(&ds));
  } else {
    PetscCall(HopsFormDestroy(&pa->form));
    pa->form = ds;
    PetscCall(MatPACreateTensor(A, pa, dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatPASetState(Mat A, DM dm, PetscBool preconditioner, Vec X, Vec Xt, PetscReal t, PetscReal shift)
{
  Mat_PA   *pa;
  PetscInt  dim;
  PetscBool changed;

  PetscFunctionBegin;
  PetscCall(HopsCheckPlex(dm, &dm, &dim));
  PetscCall(MatPAGetData(A, &pa));
  if (!pa->form->jacobian) PetscCall(MatPACreateForm(A, pa, dm, preconditioner));
  PetscCheck(pa->form->jacobian->dm == dm && pa->form->jacobian->preconditioner == preconditioner, PetscObjectComm((PetscObject)A),
             PETSC_ERR_ARG_WRONGSTATE,
             "The operator was made for another DM, or as the other one of Jacobian and preconditioning matrix: make one for each "
             "by DMCreateMatrix()");
  PetscCall(HopsJacobianSetState(pa->form->jacobian, X, Xt, t, shift, &changed));
  if (!changed) PetscCall(PetscInfo(A, "the form is that of the state before: nothing is evaluated again\n"));
  if (!changed && !pa->sum) PetscFunctionReturn(PETSC_SUCCESS);
  if (changed) PetscCall(MatPAChanged(A, pa, PETSC_FALSE));
  else { /* MatZeroEntries(), say, changed the matrix */ PetscCall(MatPASumDestroy(pa));
    PetscCall(PetscObjectStateIncrease((PetscObject)A));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
