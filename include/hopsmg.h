/* Public interface of PCHOPSMG, geometric multigrid. */
#pragma once
#include <petscksp.h>
#include <hopsmat.h>

/*MC
  PCHOPSMG - "hopsmg": geometric multigrid for a `MATPA` operator, as a `PCMG` that sets itself up:
  matrix-free on every level but, where it is small, the coarsest.

  Options Database Keys:
+ -pc_hopsmg_levels <n>              - number of levels at most (default: all there are)
. -pc_hopsmg_coarsen <h|p|ph|hp>     - by mesh, by order, by order and then by mesh, or the other way round
. -pc_hopsmg_orders <p,...>          - falling orders of the levels below the finest (default: halved, down to
  the least that
                                       has unknowns)
. -pc_hopsmg_coarse_mat <auto|aij|pa> - the coarsest operator is assembled, or not (default: assembled up to
  5000 unknowns, on a device 1000)
. -mg_levels_ksp_type, -mg_levels_pc_type ... - smoothers (default: Chebyshev and Jacobi)
. -mg_coarse_ksp_type, -mg_coarse_pc_type ... - coarse solver (default: LU of an assembled matrix, else
  `PCLOR`)
. -pc_hopsmg_precision <double|single> - precision of the cycle
. -pc_hopsmg_graph <bool>              - parts of a cycle in single precision run as CUDA graphs (on)
. -pc_hopsmg_reverse <bool>            - patches after coarse corrections in the opposite order of colors
  (default: where
                                         Richardson iteration smooths with multiplicative patches whose
                                         direction was not set)
- -pc_mg_type, -pc_mg_cycle_type ...  - all options of `PCMG`, but -pc_mg_levels and -pc_mg_galerkin

  Level: beginner

  Notes:
  Setters follow `PCSetType()`: on a `PC` without a type they raise an error, on one of another type they do
  nothing.

  The meshes are those of `DMGetCoarseDM()` below the mesh of the operator's space, as -dm_refine_hierarchy
  makes them, or below the solver's DM; a coarse mesh that was made separately is given by `DMSetCoarseDM()`.
  Their cells need the children on their own ranks, so distribute first and refine then. See
  `HopsSpaceCreateCoarse()` for the coarse spaces.

  On adaptive meshes, with hanging nodes or without, and on meshes that were given as arrays, the levels are
  the spaces that `HopsSpaceSetCoarse()` told. Lower orders need no telling. Cells may be on other ranks than
  their parents then. Where the solver's DM, or the matrix's, is a `DMFOREST` on whose mesh the space is,
  coarser forests are made: families of cells become parents, as far as the forest's balance allows. The
  space keeps the one below it, as if it had been told.

  The operator is discretised anew on each level: a constant coefficient is the same, a function is evaluated
  on the coarse mesh, values by cell are averaged over the children, and values at quadrature points, or of a
  `PetscDS` at its current state, are taken at the coarse points from the fine cells; between two of them it
  is the mean of both. Robin terms take the mean of the coefficient over the fine faces.

  The diffusion must be positive: negative in a direction somewhere, or zero all over a cell without a
  positive reaction, it raises `PETSC_ERR_ARG_OUTOFRANGE`. A negative reaction is let through, since coarse
  levels correct what it makes indefinite where it is small; but patches that smooth refuse it
  (`PCPATCHFDSetCoefficients()`).

  All levels have the back end of the operator's space. On a device an assembled coarsest operator is factored
  and solved on the host, and single precision takes 2 to 10 quadrature points per direction.

  The object is a `PCMG`: after `PCSetUp()`, `PCMGGetSmoother()` and the like give access to all the levels.

.seealso: `PCHopsMGSetLevels()`, `PCHopsMGSetCoarsening()`, `PCHopsMGSetOrders()`,
`PCHopsMGSetCoarseMatType()`, `PCHopsMGSetSinglePrecision()`, `PCHopsMGSetReverse()`, `PCHopsMGGetSpace()`,
          `HopsSpaceSetCoarse()`, `MATHOPSINTERP`, `MATPA`, `PCLOR`
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
PETSC_EXTERN PetscErrorCode PCHopsMGSetReverse(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCHopsMGGetSpace(PC, PetscInt, HopsSpace *);
