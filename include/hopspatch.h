/* Public interface of PCPATCHFD, the patch smoother. */
#pragma once
#include <petscksp.h>
#include <hopsmat.h>

/*MC
  PCPATCHFD - "patchfd": smooths or preconditions a high-order operator by local solves on overlapping
  patches, each by fast diagonalisation.

  Options Database Keys:
+ -pc_patchfd_type <multiplicative|additive|restricted> - how the patches' corrections are put together, see
  `PCPATCHFDSetType()`
. -pc_patchfd_patch <vertex|element>                    - the patches, see `PCPATCHFDSetPatch()`
. -pc_patchfd_direction <symmetric|forward|backward>    - order of the colors of the multiplicative type
. -pc_patchfd_symmetric <bool>                          - deprecated: the symmetric order, or the forward one
. -pc_patchfd_weight <bool>                             - additive: weights by the number of patches that
  contain an unknown
                                                          (default: of element patches only, since with
                                                          weights vertex patches are not robust in the order)
. -pc_patchfd_omega <omega>                             - factor of the local corrections (default 1)
. -pc_patchfd_precision <double|single>                 - precision of the local solves
. -pc_patchfd_fuse <bool>                               - multiplicative: residuals of exact patches from the
  patches themselves
                                                          (default true)
. -pc_patchfd_dense_max <n>                             - irregular vertices: largest patch whose matrix is
  inverted (default 600)
. -pc_patchfd_dense_cells <n>                           - cells whose matrices are made at a time for patches
  that are inverted
                                                          (default 0: as many as half a gigabyte holds)
. -pc_patchfd_condense_max <n>                          - patches of cells of different factors: largest
  skeleton whose Schur
                                                          complement is inverted (default 1000, order 9 in 3D;
                                                          0: none are condensed)
. -pc_patchfd_condense_ratio <r>                        - they are condensed where the tensor product that
  stands for them is
                                                          known to be worse than this, in condition number
                                                          (default 3)
. -pc_patchfd_dense_ratio <r>                           - patches are inverted too (up to that size) where the
  tensor product
                                                          that stands for them is known to be worse than this,
                                                          in condition number (default 50)
- -pc_patchfd_damp <b>                                  - tensor products that may underestimate the operator
  by more than this
                                                          factor are scaled down (default 1.7)

  Level: beginner

  Notes:
  Setters follow `PCSetType()`: on a `PC` without a type they raise an error, on one of another type they do
  nothing.

  A vertex patch holds the (2p-1)^dim unknowns inside the star of 2^dim cells around a vertex. Its matrix is
  the tensor product of 1D matrices where the cells are axis-parallel boxes and the coefficients a product of
  functions of one coordinate, constant on each cell; a local solve is then exact, at the cost of a few
  applications of the operator to a cell. Elsewhere the tensor product nearest to the means of the metric over
  the cells stands for it. Patches at boundaries with natural conditions hold the boundary's unknowns. Where
  each cell's form is a tensor product (axis-parallel boxes, coefficients constant in each cell), but the
  patch's is not (coefficients that jump like a checkerboard), the interiors of the cells are eliminated by
  fast diagonalisation, and the Schur complement on the skeleton of (2p-1)^dim - 2^dim (p-1)^dim unknowns
  between them is inverted, so local solves are exact at any contrast; equal patches share the inverse. A
  vertex whose star is no tensor product (three or five quadrilaterals, ...) gets the inverse of its patch's
  matrix, and where that is too large the element patches of its cells. `-ksp_view` counts the patches of each
  kind.

  Space and form are found as `PCLOR` finds them: from a `MATPA` operator, from `PCPATCHFDSetSpace()`, or from
  the solver's `DMPLEX`. The form must be scalar, symmetric and positive.

  The default is the symmetric multiplicative sweep, which `KSPCG` may use. As a smoother of `PCMG`,
  `-pc_patchfd_direction forward` needs half the work of it. In `PCHOPSMG` the default is forward before and
  backward after coarse corrections, which is symmetric too (`PCHopsMGSetReverse()`). Multiplicative sweeps
  update the residual with the operator once for each color; on meshes of regular vertices there are 2^dim
  colors on any number of ranks, and the result does not depend on their number; elsewhere the colors of a few
  patches do. `PCApplyRichardson()` is a sweep on the current solution.

  A `MATPA` that was changed by `MatScale()` or `MatShift()` is refused: scale its coefficients instead.

  Where the space's back end is a device, sweeps and local solves run there, and set-up on the host; no
  patches are condensed there. Patches too large for the shared memory of a block are refused.

.seealso: `PCPATCHFDSetSpace()`, `PCPATCHFDSetCoefficients()`, `PCPATCHFDSetType()`, `PCPATCHFDSetPatch()`,
          `PCPATCHFDSetDirection()`, `PCPATCHFDSetOmega()`, `PCPATCHFDSetPrecision()`,
          `PCPATCHFDGetPatches()`, `PCLOR`, `MATPA`
M*/
#define PCPATCHFD "patchfd"

/*E
  PCPATCHFDType - How `PCPATCHFD` puts the corrections of its patches together

  Values:
+ `PC_PATCHFD_MULTIPLICATIVE` - one color after the other, each with the residual that the earlier ones leave
. `PC_PATCHFD_ADDITIVE`       - all with the same residual; summed, with weights
- `PC_PATCHFD_RESTRICTED`     - all with the same residual; an unknown takes the correction of the patch whose
  centre is nearest

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
