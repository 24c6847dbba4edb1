/* Public interface of PCLOR, the low-order-refined preconditioner. */
#pragma once
#include <petscksp.h>
#include <hopsmat.h>

/*MC
  PCLOR - "lor": preconditions a high-order operator by the low-order-refined matrix: the lowest-order finite element
  matrix on the mesh whose vertices are the Gauss-Lobatto-Legendre nodes, solved by any other `PC`.

  Options Database Keys:
+ -pc_lor_mat_type <aij|hypre>     - type of the low-order-refined matrix
. -pc_lor_upwind                   - first-order terms by one-sided differences
. -pc_lor_view_spectrum            - print Lanczos estimates of the extreme eigenvalues of the preconditioned operator
. -pc_lor_ignore <terms>           - list of terms of the form that the low-order matrix may leave out: convection, boundary
- -lor_pc_type, -lor_ksp_type ...  - the inner solver (default: one BoomerAMG V-cycle)

  Level: beginner

  Notes:
  Space and form come from a `MATPA` operator, from `PCLORSetSpace()`, or from the solver's `DMPLEX` with its `PetscFE` and `PetscDS`.

  Quadrature is at the corners of the sub-cells, which share the Gauss-Lobatto weight of their node.

  A field of several components, a form with first-order terms, or with derivatives in its boundary Jacobians, gets the matrix of its
  full tensors in blocks, in a numbering of its own: components that are essential at a node with others that are not are identity rows
  there. The near-null space is the operator's, or the rigid-body modes where there is a component for each direction.

.seealso: `PCLORSetSpace()`, `PCLORGetMat()`, `PCLORGetKSP()`, `MATPA`, `HopsSpace`
M*/
#define PCLOR "lor"

PETSC_EXTERN PetscErrorCode PCLORSetSpace(PC, HopsSpace);
PETSC_EXTERN PetscErrorCode PCLORGetSpace(PC, HopsSpace *);
PETSC_EXTERN PetscErrorCode PCLORSetCoefficients(PC, HopsCoefficient, HopsCoefficient);
PETSC_EXTERN PetscErrorCode PCLORSetMatType(PC, MatType);
PETSC_EXTERN PetscErrorCode PCLORGetMat(PC, Mat *);
PETSC_EXTERN PetscErrorCode PCLORGetKSP(PC, KSP *);
PETSC_EXTERN PetscErrorCode PCLORViewSpectrum(PC, PetscViewer);
