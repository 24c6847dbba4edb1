/* Public interface of adaptivity: estimates of the error, marks, and transfers between meshes. */
#pragma once
#include <hopsmat.h>

/*E
  HopsEstimateType - an estimate of the error of a solution in the energy norm, cell by cell.

  Values:
+ `HOPS_ESTIMATE_KELLY`    - jumps of the normal flux between cells
. `HOPS_ESTIMATE_ZZ`       - distance of the flux to a continuous one, its average at the nodes (Zienkiewicz
  and Zhu)
- `HOPS_ESTIMATE_RESIDUAL` - the residual inside of the cells, and the jumps

  Level: intermediate

.seealso: `HopsSpaceEstimateError()`, `HopsSpaceMark()`
E*/
typedef enum {
  HOPS_ESTIMATE_KELLY,
  HOPS_ESTIMATE_ZZ,
  HOPS_ESTIMATE_RESIDUAL
} HopsEstimateType;
PETSC_EXTERN const char *const HopsEstimateTypes[];

/*E
  HopsTransferType - how a function on cells that were coarsened comes to the new cell.

  Values:
+ `HOPS_TRANSFER_NODAL` - by its values at the nodes of the new cell
- `HOPS_TRANSFER_L2`    - by the L2 projection in the new cell

  Level: intermediate

.seealso: `HopsSpaceTransfer()`
E*/
typedef enum {
  HOPS_TRANSFER_NODAL,
  HOPS_TRANSFER_L2
} HopsTransferType;
PETSC_EXTERN const char *const HopsTransferTypes[];

PETSC_EXTERN PetscErrorCode HopsSpaceEstimateError(HopsSpace, Mat, Vec, HopsEstimateType, HopsPointFunction, HopsPointFunction,
                                                   void *, Vec);
PETSC_EXTERN PetscErrorCode HopsSpaceComputeEnergyError(HopsSpace, Mat, Vec, HopsPointFunction, HopsPointFunction, void *, Vec,
                                                        PetscReal *);
PETSC_EXTERN PetscErrorCode HopsSpaceMark(HopsSpace, Vec, PetscReal, PetscReal, PetscInt[]);
PETSC_EXTERN PetscErrorCode HopsSpaceTransfer(HopsSpace, Vec, HopsSpace, HopsTransferType, PetscInt, const PetscInt[], Vec);
