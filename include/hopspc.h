/* Public interface of PCLOR, the low-order-refined preconditioner. */
#pragma once
#include <petscksp.h>
#include <hopsmat.h>

/*MC
  PCLOR - "lor": preconditions a high-order operator by the low-order-refined matrix: the lowest-order finite element
  matrix on the mesh whose vertices are the Gauss-Lobatto-Legendre nodes, solved by any other `PC`.

  Options Database Keys:
+ -pc_lor_mat_type <aij|hypre|aijcusparse|...> - type of the low-order-refined matrix, see `PCLORSetMatType()`
. -pc_lor_drop_tol <tol>           - how large off-diagonal metric terms of a cell must be to be kept, see `PCLORSetDropTolerance()` (default 0.5)
. -pc_lor_zero_mass <s>            - H(curl), H(div): a mass coefficient for cells without one, in the low-order-refined matrix alone (default 0; 1e-3 for ADS and on devices)
. -pc_lor_cycle <single|double|hypre> - who runs the cycle of BoomerAMG, AMS or ADS on a device, see `PCLORSetCycle()`
. -pc_lor_cycle_smoother <chebyshev|jacobi> - the smoother of BoomerAMG's cycle where kernels of hops run it, see `PCLORSetCycleSmoother()`
. -pc_lor_cycle_degree <n>         - degree of its Chebyshev polynomial (default 1)
. -pc_lor_cycle_redundant <n>      - in BoomerAMG's on several ranks, levels of at most n unknowns are worked on by each rank (default 20000)
. -pc_lor_nodal_relax_weight <w>   - AMS and ADS on a device: weight of l1-Jacobi in the nodal solvers, between 0 and 2 (default 1.5)
. -pc_lor_upwind                   - first-order terms by one-sided differences
. -pc_lor_view_spectrum            - print Lanczos estimates of the extreme eigenvalues of the preconditioned operator
. -pc_lor_ignore <terms>           - list of terms of the form that the low-order matrix may leave out: convection, boundary
- -lor_pc_type, -lor_ksp_type ...  - the inner solver (default: one V-cycle of BoomerAMG, one cycle of AMS or ADS in H(curl) and H(div))

  Level: beginner

  Notes:
  Setters follow `PCSetType()`: on a `PC` without a type they raise an error, on one of another type they do nothing.

  Space and form come from a `MATPA` operator, from `PCLORSetSpace()`, or from the solver's `DMPLEX` with its `PetscFE` and `PetscDS`.

  A space without essential unknowns and a form without mass and Robin terms give a singular matrix. Where the operator is another
  one, has no null space attached and does not take constants to zero, `PCSetUp()` raises `PETSC_ERR_ARG_INCOMP`; likewise where
  the operator takes constants to zero and the space has essential unknowns in the vectors (`HopsSpaceCreateFromArrays()`).

  Quadrature is at the corners of the sub-cells, which share the Gauss-Lobatto weight of their node. For coefficients the nodes on a cell's faces move into it by a hundredth
  of a sub-cell, so that a function that jumps between cells has the cell's own value. Where PETSc assembles the operator with a rule that has points on the faces (`PetscFESetQuadrature()`), they stay.

  A field of several components, a form with first-order terms, or with derivatives in its boundary Jacobians, gets the matrix of its
  full tensors in blocks, in a numbering of its own: components that are essential at a node with others that are not are identity rows
  there. The near-null space is the operator's, or the rigid-body modes where there is a component for each direction.

  In H(curl) and H(div) a mass coefficient may be zero in some of the cells. With `-pc_lor_zero_mass` s > 0 the low-order-refined matrix has s mu / L^2 there, mu the mean of
  the derivative's coefficient in the cell, L the longest side of the mesh's bounding box; with s = 0 AMS is told which nodes lie inside that region, and ADS refuses it.

  Where hypre lacks memory of the device, `PCSetUp()` fails with `PETSC_ERR_MEM`; hypre alone would end the process. `-hops_hypre_memory <MB>` bounds what it may have in this process.

  On a device hypre multiplies matrices and vectors with its own kernel from then on, in the whole process, as after `HYPRE_SetSpMVUseVendor(0)`: the product of cuSPARSE 12.6 to 12.8.1 is wrong at random.

.seealso: `PCLORSetSpace()`, `PCLORGetMat()`, `PCLORGetKSP()`, `MATPA`, `HopsSpace`
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
PETSC_EXTERN PetscErrorCode PCLORSetMatType(PC, MatType);
PETSC_EXTERN PetscErrorCode PCLORSetDropTolerance(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCLORSetCycle(PC, PCLORCycle);
PETSC_EXTERN PetscErrorCode PCLORGetCycle(PC, PCLORCycle *, PetscInt *);
PETSC_EXTERN PetscErrorCode PCLORSetCycleSmoother(PC, PCLORSmoother, PetscInt);
PETSC_EXTERN PetscErrorCode PCLORGetMat(PC, Mat *);
PETSC_EXTERN PetscErrorCode PCLORGetKSP(PC, KSP *);
PETSC_EXTERN PetscErrorCode PCLORViewSpectrum(PC, PetscViewer);

/*MC
  PCHOPSMG - "hopsmg": geometric multigrid for a `MATPA` operator, as a `PCMG` that sets itself up: matrix-free on every level but, where it
  is small, the coarsest.

  Options Database Keys:
+ -pc_hopsmg_levels <n>              - number of levels at most (default: all there are)
. -pc_hopsmg_coarsen <h|p|ph|hp>     - by mesh, by order, by order and then by mesh, or the other way round
. -pc_hopsmg_orders <p,...>          - falling orders of the levels below the finest (default: halved, down to the least that has unknowns)
. -pc_hopsmg_coarse_mat <auto|aij|pa> - the coarsest operator is assembled, or not (default: assembled up to 5000 unknowns)
. -mg_levels_ksp_type, -mg_levels_pc_type ... - smoothers (default: Chebyshev and Jacobi)
. -mg_coarse_ksp_type, -mg_coarse_pc_type ... - coarse solver (default: LU of an assembled matrix, else `PCLOR`)
. -pc_hopsmg_precision <double|single> - precision of the cycle
. -pc_hopsmg_reverse <bool>            - patches after coarse corrections in the opposite order of colors (default: where Richardson iteration smooths with
                                       multiplicative patches whose direction was not set)
- -pc_mg_type, -pc_mg_cycle_type ...  - all options of `PCMG`, but -pc_mg_levels and -pc_mg_galerkin

  Level: beginner

  Notes:
  Setters follow `PCSetType()`: on a `PC` without a type they raise an error, on one of another type they do nothing.

  The meshes are those of `DMGetCoarseDM()` below the mesh of the operator's space, as -dm_refine_hierarchy makes them, or below the solver's DM; a
  coarse mesh that was made separately is given by `DMSetCoarseDM()`. Their cells need the children on their own ranks, so
  distribute first and refine then. See `HopsSpaceCreateCoarse()` for the coarse spaces.

  The operator is discretised anew on each level: a constant coefficient is the same, a function is evaluated on the coarse mesh,
  values by cell are averaged over the children, and values at quadrature points, or of a `PetscDS` at its current state, are
  taken at the coarse points from the fine cells; between two of them it is the mean of both. Robin terms take the mean of the coefficient over the fine faces.

  The diffusion must be positive: negative in a direction somewhere, or zero all over a cell without a positive reaction, it raises `PETSC_ERR_ARG_OUTOFRANGE`. A negative
  reaction is let through, since coarse levels correct what it makes indefinite where it is small; but patches that smooth refuse it (`PCPATCHFDSetCoefficients()`).

  All levels have the back end of the operator's space. On a device an assembled coarsest operator is factored and solved on the host, and single
  precision takes 2 to 10 quadrature points per direction.

  The object is a `PCMG`: after `PCSetUp()`, `PCMGGetSmoother()` and the like give access to all the levels.

.seealso: `PCHopsMGSetLevels()`, `PCHopsMGSetCoarsening()`, `PCHopsMGSetOrders()`, `PCHopsMGSetCoarseMatType()`, `PCHopsMGSetSinglePrecision()`, `PCHopsMGSetReverse()`, `PCHopsMGGetSpace()`, `MATHOPSINTERP`, `MATPA`, `PCLOR`
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

/*MC
  PCPATCHFD - "patchfd": smooths or preconditions a high-order operator by local solves on overlapping patches, each by fast
  diagonalisation.

  Options Database Keys:
+ -pc_patchfd_type <multiplicative|additive|restricted> - how the patches' corrections are put together, see `PCPATCHFDSetType()`
. -pc_patchfd_patch <vertex|element>                    - the patches, see `PCPATCHFDSetPatch()`
. -pc_patchfd_direction <symmetric|forward|backward>    - order of the colors of the multiplicative type
. -pc_patchfd_symmetric <bool>                          - the symmetric order, or the forward one
. -pc_patchfd_weight <bool>                             - additive: weights by the number of patches that contain an unknown (default: of
                                                          element patches only, since with weights vertex patches are not robust in the order)
. -pc_patchfd_omega <omega>                             - factor of the local corrections (default 1)
. -pc_patchfd_precision <double|single>                 - precision of the local solves
. -pc_patchfd_fuse <bool>                               - multiplicative: residuals of exact patches from the patches themselves (default true)
. -pc_patchfd_dense_max <n>                             - irregular vertices: largest patch whose matrix is inverted (default 600)
. -pc_patchfd_condense_max <n>                          - patches of cells of different factors: largest skeleton whose Schur complement is
                                                          inverted (default 1000, order 9 in 3D; 0: none are condensed)
. -pc_patchfd_condense_ratio <r>                        - they are condensed where the tensor product that stands for them is known to be worse
                                                          than this, in condition number (default 3)
. -pc_patchfd_dense_ratio <r>                           - patches are inverted too (up to that size) where the tensor product that stands for
                                                          them is known to be worse than this, in condition number (default 50)
- -pc_patchfd_damp <b>                                  - tensor products that may underestimate the operator by more than this factor are
                                                          scaled down (default 1.7)

  Level: beginner

  Notes:
  Setters follow `PCSetType()`: on a `PC` without a type they raise an error, on one of another type they do nothing.

  A vertex patch holds the (2p-1)^dim unknowns inside the star of 2^dim cells around a vertex. Its matrix is the tensor product of 1D
  matrices where the cells are axis-parallel boxes and the coefficients a product of functions of one coordinate, constant on each
  cell; a local solve is then exact, at the cost of a few applications of the operator to a cell. Elsewhere the tensor product nearest
  to the means of the metric over the cells stands for it. Patches at boundaries with natural conditions hold the boundary's unknowns.
  Where each cell's form is a tensor product (axis-parallel boxes, coefficients constant in each cell), but the patch's is not (coefficients that jump like a
  checkerboard), the interiors of the cells are eliminated by fast diagonalisation, and the Schur complement on the skeleton of
  (2p-1)^dim - 2^dim (p-1)^dim unknowns between them is inverted, so local solves are exact at any contrast; equal patches share the inverse.
  A vertex whose star is no tensor product (three or five quadrilaterals, ...) gets the inverse of its patch's matrix, and where that
  is too large the element patches of its cells. `-ksp_view` counts the patches of each kind.

  Space and form are found as `PCLOR` finds them: from a `MATPA` operator, from `PCPATCHFDSetSpace()`, or from the solver's `DMPLEX`. The
  form must be scalar, symmetric and positive.

  The default is the symmetric multiplicative sweep, which `KSPCG` may use. As a smoother of `PCMG`, `-pc_patchfd_direction forward` needs half the
  work of it. In `PCHOPSMG` the default is forward before and backward after coarse corrections, which is symmetric too (`PCHopsMGSetReverse()`). Multiplicative sweeps update the residual with the operator once for each color; on meshes of regular vertices there
  are 2^dim colors on any number of ranks, and the result does not depend on their number; elsewhere the colors of a few patches
  do. `PCApplyRichardson()` is a sweep on the current solution.

  A `MATPA` that was changed by `MatScale()` or `MatShift()` is refused: scale its coefficients instead.

  Where the space's back end is a device, sweeps and local solves run there, and set-up on the host; no patches are condensed there. Patches too large for the shared memory of a block are refused.

.seealso: `PCPATCHFDSetSpace()`, `PCPATCHFDSetCoefficients()`, `PCPATCHFDSetType()`, `PCPATCHFDSetPatch()`, `PCPATCHFDSetDirection()`,
          `PCPATCHFDSetOmega()`, `PCPATCHFDSetPrecision()`, `PCPATCHFDGetPatches()`, `PCLOR`, `MATPA`
M*/
#define PCPATCHFD "patchfd"

/*MC
  PCBOXMG - "boxmg": geometric multigrid with vertex patches for a uniform box (`MATHOPSBOX`), on a CUDA device.

  Options Database Keys:
+ -pc_boxmg_precision <double|single> - of the cycle, see `PCBoxMGSetPrecision()` (default double)
. -pc_boxmg_full <bool>               - a solve by `KSPRICHARDSON` from zero starts with nested iteration (default true)
. -pc_boxmg_ignore_guess <bool>       - a solve by `KSPRICHARDSON` starts from zero, whatever the vector of the solution holds (default false)
. -pc_boxmg_direction <forward|symmetric> - order of the colours after the coarse correction: as before it, or the other way round (default forward)
. -pc_boxmg_levels <n>                - levels at most
. -pc_boxmg_coarse_nodes <n>          - coarsen while there are more nodes inside in some direction (default 63, at most 127)
- -pc_boxmg_graph <bool>              - the levels below the finest one run as CUDA graphs, in a cycle and in the nested iteration (default true)

  Level: intermediate

  Notes:
  Setters follow `PCSetType()`: on a `PC` without a type they raise an error, on one of another type they do nothing.

  A level smooths by one multiplicative sweep over its vertex patches, each solved exactly, before and after the coarse correction. The coarsest
  box is solved exactly by fast diagonalisation of the whole of it.

  With `-ksp_type richardson` the solver is full multigrid: one pass of nested iteration, then V-cycles until the residual, in the
  2-norm and in double precision, is small enough (`-ksp_rtol`, relative to the right-hand side, `-ksp_atol`, `-ksp_max_it`); this needs no
  further vectors, and counts V-cycles on the finest level. A monitor of the `KSP` makes it an ordinary Richardson iteration by V-cycles.
  `KSPSolve()` sets x to zero first, which the solver has no need of; `-ksp_initial_guess_nonzero -pc_boxmg_ignore_guess` spares that pass. (Where
  `KSPRICHARDSON` iterates by itself, such as with monitors, it takes x as its guess then.)
  As a preconditioner it is one V-cycle; conjugate gradients need `-pc_boxmg_direction symmetric`.

  Essential values other than zero are taken from the right-hand side. Nested iteration starts from zero values, so they cost cycles.

  Reference:
. * - C. Cui, P. Grosse-Bley, G. Kanschat, R. Strzodka, An implementation of tensor product patch smoothers on GPU, algorithms 2.1 to 2.3

.seealso: `MATHOPSBOX`, `MatCreateHopsBox()`, `PCBoxMGSetPrecision()`, `PCBoxMGProfile()`, `PCHOPSMG`, `PCPATCHFD`
M*/
#define PCBOXMG "boxmg"

PETSC_EXTERN PetscErrorCode PCBoxMGSetPrecision(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCBoxMGProfile(PC, PetscBool, PetscInt *, PetscReal *[]);

/*E
  PCPATCHFDType - How `PCPATCHFD` puts the corrections of its patches together

  Values:
+ `PC_PATCHFD_MULTIPLICATIVE` - one color after the other, each with the residual that the earlier ones leave
. `PC_PATCHFD_ADDITIVE`       - all with the same residual; summed, with weights
- `PC_PATCHFD_RESTRICTED`     - all with the same residual; an unknown takes the correction of the patch whose centre is nearest

  Level: beginner

.seealso: `PCPATCHFD`, `PCPATCHFDSetType()`
E*/
typedef enum {
  PC_PATCHFD_MULTIPLICATIVE,
  PC_PATCHFD_ADDITIVE,
  PC_PATCHFD_RESTRICTED
} PCPATCHFDType;

/*E
  PCPATCHFDPatch - The patches of `PCPATCHFD`

  Values:
+ `PC_PATCHFD_VERTEX`  - the cells around a vertex
- `PC_PATCHFD_ELEMENT` - a cell and one layer of its neighbours' nodes, across faces

  Level: beginner

.seealso: `PCPATCHFD`, `PCPATCHFDSetPatch()`
E*/
typedef enum {
  PC_PATCHFD_VERTEX,
  PC_PATCHFD_ELEMENT
} PCPATCHFDPatch;

/*E
  PCPATCHFDDirection - Order of the colors of a multiplicative `PCPATCHFD`

  Values:
+ `PC_PATCHFD_SYMMETRIC` - forward, and back again
. `PC_PATCHFD_FORWARD`   - forward
- `PC_PATCHFD_BACKWARD`  - backward, the transpose of forward

  Level: beginner

.seealso: `PCPATCHFD`, `PCPATCHFDSetDirection()`
E*/
typedef enum {
  PC_PATCHFD_SYMMETRIC,
  PC_PATCHFD_FORWARD,
  PC_PATCHFD_BACKWARD
} PCPATCHFDDirection;

PETSC_EXTERN PetscErrorCode PCPATCHFDSetSpace(PC, HopsSpace);
PETSC_EXTERN PetscErrorCode PCPATCHFDGetSpace(PC, HopsSpace *);
PETSC_EXTERN PetscErrorCode PCPATCHFDSetCoefficients(PC, HopsCoefficient, HopsCoefficient);
PETSC_EXTERN PetscErrorCode PCPATCHFDSetType(PC, PCPATCHFDType);
PETSC_EXTERN PetscErrorCode PCPATCHFDSetPatch(PC, PCPATCHFDPatch);
PETSC_EXTERN PetscErrorCode PCPATCHFDSetDirection(PC, PCPATCHFDDirection);
PETSC_EXTERN PetscErrorCode PCPATCHFDSetOmega(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCPATCHFDSetPrecision(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCPATCHFDGetPatches(PC, PetscInt *, const PetscInt *[], const int *[], const int *[], PetscInt *);
