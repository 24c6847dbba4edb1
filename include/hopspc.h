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

  A field of several components, or a form with first-order terms, gets the matrix of its full tensors in blocks, in a numbering of its
  own: components that are essential at a node with others that are not are identity rows there. The near-null space is the operator's,
  or the rigid-body modes where there is a component for each direction.

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

/*MC
  PCHOPSMG - "hopsmg": geometric multigrid for a `MATPA` operator, as a `PCMG` that sets itself up: matrix-free on every level but, where it
  is small, the coarsest.

  Options Database Keys:
+ -pc_hopsmg_levels <n>              - number of levels at most (default: all there are)
. -pc_hopsmg_coarsen <h|p|ph|hp>     - by mesh, by order, by order and then by mesh, or the other way round
. -pc_hopsmg_orders <p,...>          - falling orders of the levels below the finest (default: halved down to 1)
. -pc_hopsmg_coarse_mat <auto|aij|pa> - the coarsest operator is assembled, or not (default: assembled up to 5000 unknowns)
. -mg_levels_ksp_type, -mg_levels_pc_type ... - smoothers (default: Chebyshev and Jacobi)
. -mg_coarse_ksp_type, -mg_coarse_pc_type ... - coarse solver (default: LU of an assembled matrix, else `PCLOR`)
. -pc_hopsmg_precision <double|single> - precision of the cycle
- -pc_mg_type, -pc_mg_cycle_type ...  - all options of `PCMG`, but -pc_mg_levels and -pc_mg_galerkin

  Level: beginner

  Notes:
  The meshes are those of `DMGetCoarseDM()` below the mesh of the operator's space, as -dm_refine_hierarchy makes them, or below the solver's DM; a
  coarse mesh that was made separately is given by `DMSetCoarseDM()`. Their cells need the children on their own ranks, so
  distribute first and refine then. See `HopsSpaceCreateCoarse()` for the coarse spaces.

  The operator is discretised anew on each level: a constant coefficient is the same, a function is evaluated on the coarse mesh,
  values by cell are averaged over the children, and values at quadrature points, or of a `PetscDS` at its current state, are
  taken at the coarse points from the fine cells. Robin terms take the mean of the coefficient over the fine faces.

  The object is a `PCMG`: after `PCSetUp()`, `PCMGGetSmoother()` and the like give access to all the levels.

.seealso: `PCHopsMGSetLevels()`, `PCHopsMGSetCoarsening()`, `PCHopsMGSetOrders()`, `PCHopsMGSetCoarseMatType()`, `PCHopsMGSetSinglePrecision()`, `PCHopsMGGetSpace()`, `MATHOPSINTERP`, `MATPA`, `PCLOR`
M*/
#define PCHOPSMG "hopsmg"

/*E
  PCHopsMGCoarsenType - what makes the next coarser level of `PCHOPSMG`

  Values:
+ `PC_HOPSMG_H`  - the next coarser mesh, at the same order
. `PC_HOPSMG_P`  - the next lower order, on the same mesh
. `PC_HOPSMG_PH` - lower orders down to the last one, then coarser meshes
- `PC_HOPSMG_HP` - coarser meshes down to the last one, then lower orders

  Level: intermediate

.seealso: `PCHOPSMG`, `PCHopsMGSetCoarsening()`
E*/
typedef enum {
  PC_HOPSMG_H,
  PC_HOPSMG_P,
  PC_HOPSMG_PH,
  PC_HOPSMG_HP
} PCHopsMGCoarsenType;
PETSC_EXTERN const char *const PCHopsMGCoarsenTypes[];

PETSC_EXTERN PetscErrorCode PCHopsMGSetLevels(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCHopsMGSetCoarsening(PC, PCHopsMGCoarsenType);
PETSC_EXTERN PetscErrorCode PCHopsMGSetOrders(PC, PetscInt, const PetscInt[]);
PETSC_EXTERN PetscErrorCode PCHopsMGSetCoarseMatType(PC, MatType);
PETSC_EXTERN PetscErrorCode PCHopsMGSetSinglePrecision(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCHopsMGGetSpace(PC, PetscInt, HopsSpace *);
