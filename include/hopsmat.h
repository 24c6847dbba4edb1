/* Public interface of MATPA, the matrix-free partial-assembly operator. */
#pragma once
#include <petscmat.h>
#include <hopsspace.h>

/*MC
  MATPA - "pa": the matrix-free operator of a diffusion-reaction form on a `HopsSpace`, by partial assembly: only the
  quadrature data are stored, and the action is evaluated by sum factorisation.

  Options Database Keys:
+ -mat_pa_q_1d <n>      - quadrature points per direction (default order + 2)
. -mat_pa_quadrature <gauss|gll> - Gauss points, or the collocated Gauss-Lobatto-Legendre nodes (then n is order + 1)
- -hops_backend <host>  - where the operator lives and runs

  Level: beginner

.seealso: `MatCreatePA()`, `MatPASetDiffusion()`, `MatPASetMass()`, `MatPAAddRobin()`, `PCLOR`, `HopsSpace`
M*/
#define MATPA "pa"

PETSC_EXTERN PetscErrorCode MatCreatePA(HopsSpace, Mat *);
PETSC_EXTERN PetscErrorCode MatPASetSpace(Mat, HopsSpace);
PETSC_EXTERN PetscErrorCode MatPAGetSpace(Mat, HopsSpace *);
PETSC_EXTERN PetscErrorCode MatPASetDiffusion(Mat, HopsCoefficient);
PETSC_EXTERN PetscErrorCode MatPASetMass(Mat, HopsCoefficient);
PETSC_EXTERN PetscErrorCode MatPAAddRobin(Mat, PetscInt, const PetscInt[], const PetscInt[], HopsCoefficient);
PETSC_EXTERN PetscErrorCode MatPASetFromDS(Mat, DM);
PETSC_EXTERN PetscErrorCode MatPASetQuadrature(Mat, PetscInt, PetscBool);
PETSC_EXTERN PetscErrorCode MatPALiftEssential(Mat, Vec);
