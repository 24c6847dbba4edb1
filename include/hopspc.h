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
. -pc_patchfd_dense_ratio <r>                           - patches are inverted too (up to that size) where the tensor product that stands for
                                                          them is known to be worse than this, in condition number (default 50)
- -pc_patchfd_damp <b>                                  - tensor products that may underestimate the operator by more than this factor are
                                                          scaled down (default 1.7)

  Level: beginner

  Notes:
  A vertex patch holds the (2p-1)^dim unknowns inside the star of 2^dim cells around a vertex. Its matrix is the tensor product of 1D
  matrices where the cells are axis-parallel boxes and the coefficients a product of functions of one coordinate, constant on each
  cell; a local solve is then exact, at the cost of a few applications of the operator to a cell. Elsewhere the tensor product nearest
  to the means of the metric over the cells stands for it. Patches at boundaries with natural conditions hold the boundary's unknowns.
  A vertex whose star is no tensor product (three or five quadrilaterals, ...) gets the inverse of its patch's matrix, and where that
  is too large the element patches of its cells. `-ksp_view` counts the patches of each kind.

  Space and form are found as `PCLOR` finds them: from a `MATPA` operator, from `PCPATCHFDSetSpace()`, or from the solver's `DMPLEX`. The
  form must be scalar, symmetric and positive.

  The default is the symmetric multiplicative sweep, which `KSPCG` may use. As a smoother of `PCMG`, `-pc_patchfd_direction forward` needs half the
  work of it. Multiplicative sweeps update the residual with the operator once for each color; on meshes of regular vertices there
  are 2^dim colors on any number of ranks, and the result does not depend on their number; elsewhere the colors of a few patches
  do. `PCApplyRichardson()` is a sweep on the current solution.

  The form of a `MATPA` that was changed by `MatScale()` or `MatShift()` is the unchanged one: scale its coefficients instead.

.seealso: `PCPATCHFDSetSpace()`, `PCPATCHFDSetCoefficients()`, `PCPATCHFDSetType()`, `PCPATCHFDSetPatch()`, `PCPATCHFDSetDirection()`,
          `PCPATCHFDSetOmega()`, `PCPATCHFDSetPrecision()`, `PCPATCHFDGetPatches()`, `PCLOR`, `MATPA`
M*/
#define PCPATCHFD "patchfd"

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
