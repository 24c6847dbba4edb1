/* Public interface of HopsSpace and HopsCoefficient: the finite element space, its mesh and coefficients. */
#pragma once
#include <petscdmplex.h>

/*S
  HopsSpace - a high-order H1 space on quadrilaterals or hexahedra: numbering, mesh geometry and boundary conditions.

  Level: beginner

  Notes:
  A `HopsSpace` knows the degrees of freedom (Lagrange nodes at the Gauss-Lobatto-Legendre points) and the element maps;
  it knows none of its consumers, the `MATPA` operator and the `PCLOR` preconditioner. Its vectors are
  the T-vector (global PETSc `Vec`), the L-vector (rank-local: owned, then ghost, then constrained entries) and the
  E-vector (element by element, x fastest).

.seealso: `HopsSpaceCreateFromDM()`, `HopsSpaceCreateH1()`, `HopsSpaceCreateFromArrays()`, `MATPA`, `PCLOR`
S*/
typedef struct _p_HopsSpace *HopsSpace;

/*S
  HopsCoefficient - a scalar, diagonal or full symmetric tensor field: constant, per cell, function of x, at quadrature
  points, or taken from the pointwise functions of a `PetscDS`.

  Level: beginner

  Note:
  The number of components is 1 (scalar), dim (diagonal) or dim(dim+1)/2 (symmetric tensor, rows of the upper triangle:
  xx, xy, yy in 2D; xx, xy, xz, yy, yz, zz in 3D).

.seealso: `HopsCoefficientCreateConstant()`, `HopsCoefficientCreateCell()`, `HopsCoefficientCreateFunction()`,
          `HopsCoefficientCreateQuadrature()`, `MatPASetDiffusion()`, `MatPASetMass()`
S*/
typedef struct _p_HopsCoefficient *HopsCoefficient;

/*S
  HopsPointFunction - a field as a function of position: `x` has `dim` entries, `u` has `nc` entries to fill.

  Level: beginner

.seealso: `HopsCoefficientCreateFunction()`, `HopsSpaceInterpolate()`
S*/
typedef PetscErrorCode (*HopsPointFunction)(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx);

PETSC_EXTERN PetscClassId HOPS_SPACE_CLASSID;
PETSC_EXTERN PetscClassId HOPS_COEFFICIENT_CLASSID;

PETSC_EXTERN PetscErrorCode HopsSpaceCreateFromDM(DM, HopsSpace *);
PETSC_EXTERN PetscErrorCode HopsSpaceCreateH1(DM, PetscInt, DMLabel, PetscInt, const PetscInt[], HopsSpace *);
PETSC_EXTERN PetscErrorCode HopsSpaceCreateFromArrays(MPI_Comm, PetscInt, PetscInt, PetscInt, PetscInt, const PetscInt[], const PetscReal[], PetscInt, const PetscInt[], HopsSpace *);
PETSC_EXTERN PetscErrorCode HopsSpaceCreateCoarse(HopsSpace, DM, PetscInt, HopsSpace *);
PETSC_EXTERN PetscErrorCode HopsSpaceReference(HopsSpace);
PETSC_EXTERN PetscErrorCode HopsSpaceDestroy(HopsSpace *);
PETSC_EXTERN PetscErrorCode HopsSpaceView(HopsSpace, PetscViewer);
PETSC_EXTERN PetscErrorCode HopsSpaceGetDimension(HopsSpace, PetscInt *);
PETSC_EXTERN PetscErrorCode HopsSpaceGetOrder(HopsSpace, PetscInt *);
PETSC_EXTERN PetscErrorCode HopsSpaceGetNumCells(HopsSpace, PetscInt *);
PETSC_EXTERN PetscErrorCode HopsSpaceGetSizes(HopsSpace, PetscInt *, PetscInt *);
PETSC_EXTERN PetscErrorCode HopsSpaceGetDM(HopsSpace, DM *);
PETSC_EXTERN PetscErrorCode HopsSpaceCreateVec(HopsSpace, Vec *);
PETSC_EXTERN PetscErrorCode HopsSpaceInterpolate(HopsSpace, HopsPointFunction, void *, Vec);
PETSC_EXTERN PetscErrorCode HopsSpaceSetEssentialFunction(HopsSpace, HopsPointFunction, void *);
PETSC_EXTERN PetscErrorCode HopsSpaceComputeRHS(HopsSpace, HopsPointFunction, void *, Vec);
PETSC_EXTERN PetscErrorCode HopsSpaceComputeL2Error(HopsSpace, Vec, HopsPointFunction, void *, PetscReal *);
PETSC_EXTERN PetscErrorCode HopsSpaceGetLabelFaces(HopsSpace, DMLabel, PetscInt, PetscInt *, PetscInt *[], PetscInt *[]);
PETSC_EXTERN PetscErrorCode HopsSpaceViewVTU(HopsSpace, Vec, const char[], const char[]);

PETSC_EXTERN PetscErrorCode HopsCoefficientCreateConstant(MPI_Comm, PetscInt, const PetscScalar[], HopsCoefficient *);
PETSC_EXTERN PetscErrorCode HopsCoefficientCreateCell(HopsSpace, PetscInt, const PetscScalar[], HopsCoefficient *);
PETSC_EXTERN PetscErrorCode HopsCoefficientCreateFunction(MPI_Comm, PetscInt, HopsPointFunction, void *, HopsCoefficient *);
PETSC_EXTERN PetscErrorCode HopsCoefficientCreateQuadrature(HopsSpace, PetscInt, PetscInt, const PetscScalar[], HopsCoefficient *);
PETSC_EXTERN PetscErrorCode HopsCoefficientReference(HopsCoefficient);
PETSC_EXTERN PetscErrorCode HopsCoefficientDestroy(HopsCoefficient *);
PETSC_EXTERN PetscErrorCode HopsCoefficientView(HopsCoefficient, PetscViewer);
