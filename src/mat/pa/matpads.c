/* MATPA's form from the Jacobian point functions of a PetscDS. */
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopspatensorimpl.h>
#include <petsc/private/matimpl.h>

/* The terms of a scalar symmetric form of a PetscDS, on the operator's space */
static PetscErrorCode MatPATakeForm(Mat A, Mat_PA *pa, HopsTensorForm tensor)
{
  HopsForm form;

  PetscFunctionBegin;
  PetscCall(HopsFormSetTensor(tensor, pa->space, PETSC_FALSE, PETSC_FALSE, &form));
  pa->fromds = PETSC_TRUE;
  PetscCall(MatPASetDiffusion(A, form.diffusion));
  PetscCall(MatPASetMass(A, form.mass));
  PetscCall(HopsRobinDestroy(&pa->robin));
  pa->robin  = form.robin;
  form.robin = NULL;
  PetscCall(HopsFormReset(&form));
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
  Mat_PA        *pa;
  HopsTensorForm form;
  PetscBool      pre;

  PetscFunctionBegin;
  HopsValidHeader(A, MAT_CLASSID, 1);
  HopsValidHeader(dm, DM_CLASSID, 2);
  PetscCall(MatPAGetData(A, &pa));
  PetscCheck(pa->space && pa->space->dm, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The operator has no space on a DMPlex: MatCreatePA() on that of HopsSpaceCreateFromDM()");
  PetscCall(HopsDSCheck(dm));
  PetscCall(HopsDSUsesPreconditioner(dm, PETSC_TRUE, &pre));
  PetscCall(HopsTensorFormCreateDS(dm, pre, &form));
  PetscCall(MatPATakeForm(A, pa, form));
  PetscCall(HopsTensorFormDestroy(&form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coefficients and Robin terms of a scalar symmetric form; the operator keeps the form */
PetscErrorCode MatPASetForm(Mat A, HopsSpace sp, HopsTensorForm form)
{
  Mat_PA *pa;

  PetscFunctionBegin;
  PetscCall(MatPAGetData(A, &pa));
  if (pa->form != form) {
    PetscCall(HopsTensorFormDestroy(&pa->form));
    ++form->refct;
    pa->form = form;
  }
  PetscCall(MatPASetSpace(A, sp));
  PetscCall(MatPATakeForm(A, pa, form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Full tensors between all fields of the form */
static PetscErrorCode MatPACreateTensor(Mat A, Mat_PA *pa, DM dm)
{
  const PetscInt nf = pa->form->fields->nf;
  HopsNodes     *nodes;
  PetscInt      *fields, n;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(nf, &nodes, nf, &fields));
  for (PetscInt f = 0; f < nf; ++f) fields[f] = f;
  PetscCall(HopsNodesCreateFields(dm, nf, nodes));
  PetscCall(HopsPATensorCreate(pa->form, nf, fields, nodes, nf, fields, nodes, &pa->tensor));
  for (PetscInt f = 0; f < nf; ++f) PetscCall(HopsNodesDestroy(&nodes[f]));
  PetscCall(PetscFree2(nodes, fields));
  PetscCall(HopsPATensorSetVecType(pa->tensor, A));
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCheck(n == pa->tensor->size[0], PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The operator has %" PetscInt_FMT " local rows, the DM %" PetscInt_FMT " unknowns: make it by DMCreateMatrix()", n,
             pa->tensor->size[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first time: which operator the form needs. Scalar symmetric forms have the fast kernels */
static PetscErrorCode MatPACreateForm(Mat A, Mat_PA *pa, DM dm, PetscBool preconditioner)
{
  PetscBool tensors;

  PetscFunctionBegin;
  PetscCall(HopsDSCheck(dm));
  PetscCall(HopsDSNeedsTensors(dm, preconditioner, PETSC_FALSE, PETSC_FALSE, &tensors));
  PetscCall(HopsTensorFormCreateDS(dm, preconditioner, &pa->form));
  PetscCheck(pa->form->nblocks, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The PetscDS has no Jacobian functions (PetscDSSetJacobian())");
  pa->fromds = PETSC_TRUE;
  if (!tensors && !pa->general) {
    HopsSpace sp;

    PetscCall(HopsSpaceCreateFromDM(dm, &sp));
    PetscCall(MatPASetForm(A, sp, pa->form));
    PetscCall(HopsSpaceDestroy(&sp));
  } else PetscCall(MatPACreateTensor(A, pa, dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatPASetState(Mat A, DM dm, PetscBool preconditioner, Vec X, Vec Xt, PetscReal t, PetscReal shift)
{
  Mat_PA *pa;

  PetscFunctionBegin;
  PetscCall(MatPAGetData(A, &pa));
  if (!pa->form) PetscCall(MatPACreateForm(A, pa, dm, preconditioner));
  PetscCheck(pa->form->dm == dm && pa->form->preconditioner == preconditioner, PetscObjectComm((PetscObject)A),
             PETSC_ERR_ARG_WRONGSTATE,
             "The operator was made for another DM, or as the other one of Jacobian and preconditioning matrix: make one for each "
             "by DMCreateMatrix()");
  PetscCall(HopsTensorFormSetState(pa->form, X, Xt, t, shift));
  PetscCall(MatPAChanged(A, pa, PETSC_FALSE));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
