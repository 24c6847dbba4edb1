/* Public interface of PCLOR, the low-order-refined preconditioner. */
#pragma once
#include <petscksp.h>
#include <hopsmat.h>

/*MC
  PCLOR - "lor": preconditions a high-order operator by the low-order-refined matrix: the lowest-order finite
  element matrix on the mesh whose vertices are the Gauss-Lobatto-Legendre nodes, solved by any other `PC`.

  Options Database Keys:
+ -pc_lor_mat_type <aij|hypre|aijcusparse|...> - type of the low-order-refined matrix, see `PCLORSetMatType()`
. -pc_lor_drop_tol <tol>           - how large off-diagonal metric terms of a cell must be to be kept, see
                                     `PCLORSetDropTolerance()` (default 0.5)
. -pc_lor_constraint_entries <n>   - weights that the row of a hanging node keeps, 0 for all, see
                                     `PCLORSetConstraintEntries()` (default 4; 3D: 2 below order 3, 1 below 7)
. -pc_lor_couple <bool>            - of several components: keep the couplings between them, see
                                     `PCLORSetCouple()` (default true on the host, false on a device)
. -pc_lor_zero_mass <s>            - H(curl), H(div): a mass coefficient for cells without one, in the
  low-order-refined matrix
                                     alone (default 0; 1e-3 for ADS and on devices)
. -pc_lor_cycle <single|double|hypre> - who runs the cycle of BoomerAMG, AMS or ADS on a device, see
  `PCLORSetCycle()`
. -pc_lor_cycle_smoother <chebyshev|jacobi> - the smoother of BoomerAMG's cycle where kernels of hops run it,
  see
                                              `PCLORSetCycleSmoother()`
. -pc_lor_cycle_degree <n>         - degree of its Chebyshev polynomial (default 1)
. -pc_lor_cycle_redundant <n>      - in these cycles on several ranks, levels of at most n unknowns are worked
  on by each rank
                                     (default 60000)
. -pc_lor_nodal_relax_weight <w>   - AMS and ADS on a device: weight of l1-Jacobi in the nodal solvers,
  between 0 and 2 (default
                                     1.5)
. -pc_lor_upwind                   - first-order terms by one-sided differences
. -pc_lor_diffusion <k>            - the form has this constant for its diffusion (curl-curl, div-div) term,
                                     in
                                     place of what is known of it (default 1 where the next is given)
. -pc_lor_mass <c>                 - and this one for its mass term (default 0 where the one before is given)
. -pc_lor_elasticity <lambda,mu>  - Lame's coefficients of an operator with a component for each
direction, see `PCLORSetElasticity()`
. -pc_lor_scale <none|diagonal>    - scale the low-order-refined matrix by the operator's diagonal (default
                                     where no diffusion is known)
. -pc_lor_view_spectrum            - print Lanczos estimates of the extreme eigenvalues of the preconditioned
  operator
. -pc_lor_ignore <terms>           - list of terms of the form that the low-order matrix may leave out:
  convection, boundary
- -lor_pc_type, -lor_ksp_type ...  - the inner solver (default: one V-cycle of BoomerAMG, one cycle of AMS or
  ADS in H(curl) and
                                     H(div))

  Level: beginner

  Notes:
  Setters follow `PCSetType()`: on a `PC` without a type they raise an error, on one of another type they do
  nothing.

  The space is that of `PCLORSetSpace()`, of a `MATPA` operator, of any other operator by `MatSetHopsSpace()`,
  of the solver's `DM` by `DMSetHopsSpace()`, or made from a `DMPLEX` with its `PetscFE`: the first of these
  that there is. The form is that of `PCLORSetCoefficients()`, of the `MATPA`, or of the `PetscDS`. `PCView()`
  says where they came from.

  Nothing but an H1 space need be known. Where nobody tells a form, the matrix L is that of the Laplacian, and
  the
  preconditioner D L^{-1} D, with D^{-2} the diagonal of the operator over that of the high-order Laplacian
  (`-pc_lor_scale`). An operator that does not give its diagonal, or one that is not positive, is not scaled.
  With H(curl), H(div) and L2 a form must be told, as with `PCPATCHFD`.

  Where a space from arrays was given no essential unknowns, they are the Dirichlet rows of the operator,
  those with a diagonal entry alone. Two products with random vectors find them in each `PCSetUp()`: a row
  that couples to others passes for one with a probability of 1e-12. Where the space has a list, it must have
  all of them, and no row that couples to others: else `PETSC_ERR_ARG_INCOMP`. Where their diagonal is not 1,
  and the whole is not scaled, these rows are scaled by it, unless `-pc_lor_scale none`. Nothing is looked
  for where the operator has a null space attached. A `MATMFFD`, whose products have the errors of finite
  differences, needs a list, a null space or a mass coefficient.

  An operator with a block of up to 6 entries for each unknown of an H1 space (`MatSetBlockSize()`), as
  elasticity of a code whose mesh is known by arrays, gets the matrix of each component by itself, with
  that component's Dirichlet rows. They are those of elasticity (`PCLORSetElasticity()`), or all have the
  coefficients of `PCLORSetCoefficients()`, or 1 and the scale by the diagonal.

  An operator that is a sum over operators on several spaces (`MATHOPSPTAP`), as that of cells with orders of
  their own, gets the sum of P^T L P over their matrices L.

  Where the operator's unknowns are others than the space's, `PCLORSetProlongation()` tells of constraints
  (hanging nodes), `PCLORSetTransformation()` of another basis.

  A space without essential unknowns and a form without mass and Robin terms give a singular matrix. Where the
  operator is another one, has no null space attached and does not take constants to zero, `PCSetUp()` raises
  `PETSC_ERR_ARG_INCOMP`; likewise where the operator takes constants to zero and the space has essential
  unknowns in the vectors (`HopsSpaceCreateFromArrays()`).

  Quadrature is at the corners of the sub-cells, which share the Gauss-Lobatto weight of their node. For
  coefficients the nodes on a cell's faces move into it by a hundredth of a sub-cell, so that a function that
  jumps between cells has the cell's own value. Where PETSc assembles the operator with a rule that has points
  on the faces (`PetscFESetQuadrature()`), they stay.

  A field of several components, a form with first-order terms, or with derivatives in its boundary Jacobians,
  gets the matrix of its full tensors in blocks, in a numbering of its own: components that are essential at a
  node with others that are not are identity rows there. The near-null space is the operator's, or the
  rigid-body modes where there is a component for each direction.

  In H(curl) and H(div) a mass coefficient may be zero in some of the cells. With `-pc_lor_zero_mass` s > 0
  the low-order-refined matrix has s mu / L^2 there, mu the mean of the derivative's coefficient in the cell,
  L the longest side of the mesh's bounding box; with s = 0 AMS is told which nodes lie inside that region,
  and ADS refuses it.

  Where hypre lacks memory of the device, `PCSetUp()` fails with `PETSC_ERR_MEM`; hypre alone would end the
  process. `-hops_hypre_memory <MB>` bounds what it may have in this process.

  On a device hypre multiplies matrices and vectors with its own kernel from then on, in the whole process, as
  after `HYPRE_SetSpMVUseVendor(0)`: the product of cuSPARSE 12.6 to 12.8.1 is wrong at random.

.seealso: `PCLORSetSpace()`, `MatSetHopsSpace()`, `DMSetHopsSpace()`, `PCLORGetMat()`, `PCLORGetKSP()`,
`MATPA`, `HopsSpace`
M*/
#define PCLOR "lor"

/*E
  PCLORCycle - Who runs the cycle of BoomerAMG, AMS or ADS on a device, and in which precision

  Values:
+ `PCLOR_CYCLE_HYPRE`  - hypre
. `PCLOR_CYCLE_DOUBLE` - kernels of hops on hypre's hierarchy, in double precision
- `PCLOR_CYCLE_SINGLE` - the same in single precision

  Level: intermediate

.seealso: `PCLOR`, `PCLORSetCycle()`
E*/
typedef enum {
  PCLOR_CYCLE_HYPRE,
  PCLOR_CYCLE_DOUBLE,
  PCLOR_CYCLE_SINGLE
} PCLORCycle;

/*E
  PCLORSmoother - The smoother of BoomerAMG's cycle where kernels of hops run it

  Values:
+ `PCLOR_SMOOTHER_JACOBI`    - l1-scaled Jacobi, with hypre's relaxation weight
- `PCLOR_SMOOTHER_CHEBYSHEV` - a Chebyshev polynomial of the fourth kind of it

  Level: intermediate

.seealso: `PCLOR`, `PCLORSetCycleSmoother()`
E*/
typedef enum {
  PCLOR_SMOOTHER_JACOBI,
  PCLOR_SMOOTHER_CHEBYSHEV
} PCLORSmoother;

PETSC_EXTERN PetscErrorCode PCLORSetSpace(PC, HopsSpace);
PETSC_EXTERN PetscErrorCode PCLORGetSpace(PC, HopsSpace *);
PETSC_EXTERN PetscErrorCode PCLORSetCoefficients(PC, HopsCoefficient, HopsCoefficient);
PETSC_EXTERN PetscErrorCode PCLORSetElasticity(PC, HopsCoefficient, HopsCoefficient);
PETSC_EXTERN PetscErrorCode PCLORSetProlongation(PC, Mat);
PETSC_EXTERN PetscErrorCode PCLORSetTransformation(PC, Mat);
PETSC_EXTERN PetscErrorCode PCLORSetMatType(PC, MatType);
PETSC_EXTERN PetscErrorCode PCLORSetDropTolerance(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCLORSetConstraintEntries(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCLORSetCouple(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCLORSetCycle(PC, PCLORCycle);
PETSC_EXTERN PetscErrorCode PCLORGetCycle(PC, PCLORCycle *, PetscInt *);
PETSC_EXTERN PetscErrorCode PCLORSetCycleSmoother(PC, PCLORSmoother, PetscInt);
PETSC_EXTERN PetscErrorCode PCLORGetMat(PC, Mat *);
PETSC_EXTERN PetscErrorCode PCLORGetKSP(PC, KSP *);
PETSC_EXTERN PetscErrorCode PCLORViewSpectrum(PC, PetscViewer);
