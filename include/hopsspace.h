/* Public interface of HopsSpace and HopsCoefficient: the finite element space, its mesh and coefficients. */
#pragma once
#include <petscdmplex.h>

/*S
  HopsSpace - a high-order space on quadrilaterals or hexahedra, of one of the families H1, H(curl), H(div)
  and L2: numbering, mesh geometry and boundary conditions.

  Options Database Keys:
+ -hops_backend <host|cuda>           - where its operators live and run (default: in H1 where the vectors of
  the `DMPLEX` are, else the host)
. -hops_halo <direct|shared|staged>   - on a device, ghosts by `PetscSF` on its memory, through memory which
  ranks of a host share, or through page-locked memory and messages (default: direct with -use_gpu_aware_mpi,
  else shared where all ranks are on one host, else staged)
- -hops_host_isa <base|avx2|avx512> - on the host, the instruction set of the kernels (default: the best of
  the machine)

  Level: beginner

  Notes:
  A `HopsSpace` knows the degrees of freedom (see `HopsFamily`) and the element maps;
  it knows none of its consumers, the `MATPA` operator and the `PCLOR` preconditioner. Its vectors are
  the T-vector (global PETSc `Vec`), the L-vector (rank-local: owned, then ghost, then constrained entries)
  and the E-vector (element by element, x fastest).

.seealso: `HopsSpaceCreateFromDM()`, `HopsSpaceCreateH1()`, `HopsSpaceCreateHCurl()`, `HopsSpaceCreateHDiv()`,
`HopsSpaceCreateL2()`,
          `HopsSpaceCreateFromNodes()`, `HopsSpaceCreateFromArrays()`, `HopsSpaceCreateFamilyFromArrays()`,
          `HopsFamily`, `MATPA`, `PCLOR`
S*/
typedef struct _p_HopsSpace *HopsSpace;

/*E
  HopsFamily - the family of a `HopsSpace`, one of the four spaces of the de Rham complex.

  Values:
+ `HOPS_H1`    - scalar, continuous; the unknowns are values at the Gauss-Lobatto-Legendre points
. `HOPS_HCURL` - vectors with continuous tangential components (Nedelec); line integrals between neighbouring
  points
. `HOPS_HDIV`  - vectors with continuous normal components (Raviart-Thomas); fluxes through the faces (in 2D,
  the edges) between points
- `HOPS_L2`    - scalar, discontinuous; integrals over the boxes between points

  Level: beginner

  Notes:
  The basis functions of order p are products of Lagrange polynomials of degree p on the
  Gauss-Lobatto-Legendre points and of edge functions of degree p-1, whose integrals between neighbouring
  points are 0 or 1 (interpolation and histopolation). So order 1 is the lowest-order Nedelec or
  Raviart-Thomas element, and gradient, curl and divergence are matrices of entries 1 and -1, the same for the
  high-order spaces and for the lowest-order ones on the refined mesh.

  In 2D, H(div) is H(curl) turned by a right angle: the flux through an edge is counted to the right of its
  direction.

.seealso: `HopsSpace`, `HopsSpaceGetFamily()`, `HopsSpaceCreateDerivative()`
E*/
typedef enum {
  HOPS_H1,
  HOPS_HCURL,
  HOPS_HDIV,
  HOPS_L2
} HopsFamily;
PETSC_EXTERN const char *const HopsFamilies[];

/*S
  HopsCoefficient - a scalar, diagonal or full symmetric tensor field: constant, per cell, function of x, at
  quadrature points, at nodes, or taken from the pointwise functions of a `PetscDS`.

  Level: beginner

  Note:
  The number of components is 1 (scalar), dim (diagonal) or dim(dim+1)/2 (symmetric tensor, rows of the upper
  triangle: xx, xy, yy in 2D; xx, xy, xz, yy, yz, zz in 3D). With complex scalars the values are real: an
  imaginary part is refused by `PETSC_ERR_SUP`; see docs/guide/complex.md.

.seealso: `HopsCoefficientCreateConstant()`, `HopsCoefficientCreateCell()`, `HopsCoefficientCreateFunction()`,
          `HopsCoefficientCreateQuadrature()`, `HopsCoefficientCreateNodal()`, `MatPASetDiffusion()`,
          `MatPASetMass()`
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
PETSC_EXTERN PetscErrorCode HopsSpaceCreateHCurl(DM, PetscInt, DMLabel, PetscInt, const PetscInt[], HopsSpace *);
PETSC_EXTERN PetscErrorCode HopsSpaceCreateHDiv(DM, PetscInt, DMLabel, PetscInt, const PetscInt[], HopsSpace *);
PETSC_EXTERN PetscErrorCode HopsSpaceCreateL2(DM, PetscInt, HopsSpace *);
PETSC_EXTERN PetscErrorCode HopsSpaceCreateCompanion(HopsSpace, HopsFamily, PetscBool, HopsSpace *);
PETSC_EXTERN PetscErrorCode HopsSpaceGetFamily(HopsSpace, HopsFamily *);
PETSC_EXTERN PetscErrorCode HopsSpaceCreateDerivative(HopsSpace, HopsSpace, Mat *);
PETSC_EXTERN PetscErrorCode HopsSpaceDifferentiate(HopsSpace, Vec, HopsSpace, Vec);
PETSC_EXTERN PetscErrorCode HopsSpaceEvaluate(HopsSpace, Vec, PetscInt, const PetscInt[], const PetscReal[], PetscScalar[]);
PETSC_EXTERN PetscErrorCode HopsSpaceCreateFromArrays(MPI_Comm, PetscInt, PetscInt, PetscInt, PetscInt, const PetscInt[],
                                                      const PetscReal[], PetscInt, const PetscInt[], HopsSpace *);
PETSC_EXTERN PetscErrorCode HopsSpaceCreateFamilyFromArrays(MPI_Comm, HopsFamily, PetscInt, PetscInt, PetscInt, PetscInt,
                                                            const PetscInt[], PetscInt, const PetscReal[], PetscInt,
                                                            const PetscInt[], HopsSpace *);
PETSC_EXTERN PetscErrorCode HopsSpaceCreateFromNodes(MPI_Comm, PetscInt, PetscInt, PetscInt, PetscInt, const PetscInt64[],
                                                     const PetscInt[], const PetscReal[], PetscInt, const PetscInt64[],
                                                     HopsSpace *);
PETSC_EXTERN PetscErrorCode HopsGetNodeOrder(PetscInt, PetscInt, const char[], PetscInt[]);
PETSC_EXTERN PetscErrorCode HopsGetNodeOrderFromPoints(PetscInt, PetscInt, const PetscReal[], PetscInt[]);
PETSC_EXTERN PetscErrorCode HopsSpaceGetNodeNumbers(HopsSpace, PetscInt[]);
PETSC_EXTERN PetscErrorCode HopsSpaceGlobalToElements(HopsSpace, Vec, PetscScalar[]);
PETSC_EXTERN PetscErrorCode HopsSpaceElementsToGlobal(HopsSpace, const PetscScalar[], InsertMode, Vec);
PETSC_EXTERN PetscErrorCode HopsSpaceCreateAdaptiveFromArrays(MPI_Comm, HopsFamily, PetscInt, PetscInt, PetscInt, PetscInt,
                                                              const PetscInt[], const unsigned short[], PetscInt, const PetscReal[],
                                                              PetscInt, const PetscInt[], HopsSpace *);
PETSC_EXTERN PetscErrorCode HopsSpaceSetCompanion(HopsSpace, HopsSpace);
PETSC_EXTERN PetscErrorCode MatSetHopsSpace(Mat, HopsSpace);
PETSC_EXTERN PetscErrorCode MatGetHopsSpace(Mat, HopsSpace *);
PETSC_EXTERN PetscErrorCode DMSetHopsSpace(DM, HopsSpace);
PETSC_EXTERN PetscErrorCode DMGetHopsSpace(DM, HopsSpace *);
PETSC_EXTERN PetscErrorCode HopsSpaceCreateCoarse(HopsSpace, DM, PetscInt, HopsSpace *);
PETSC_EXTERN PetscErrorCode HopsSpaceSetCoarse(HopsSpace, HopsSpace, PetscInt, const PetscInt[]);
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
PETSC_EXTERN PetscErrorCode HopsSpaceCreateCellVec(HopsSpace, Vec *);
PETSC_EXTERN PetscErrorCode HopsSpaceViewVTUCells(HopsSpace, Vec, const char[], Vec, const char[], const char[]);

PETSC_EXTERN PetscErrorCode HopsCoefficientCreateConstant(MPI_Comm, PetscInt, const PetscScalar[], HopsCoefficient *);
PETSC_EXTERN PetscErrorCode HopsCoefficientCreateCell(HopsSpace, PetscInt, const PetscScalar[], HopsCoefficient *);
PETSC_EXTERN PetscErrorCode HopsCoefficientCreateFunction(MPI_Comm, PetscInt, HopsPointFunction, void *, HopsCoefficient *);
PETSC_EXTERN PetscErrorCode HopsCoefficientSetDeviceSource(HopsCoefficient, const char[], const char[]);
PETSC_EXTERN PetscErrorCode HopsCoefficientSetDeviceContext(HopsCoefficient, size_t);
PETSC_EXTERN PetscErrorCode HopsSpaceSetDeviceSource(HopsSpace, const char[], const char[]);
PETSC_EXTERN PetscErrorCode HopsSpaceSetDeviceContext(HopsSpace, void *, size_t);
PETSC_EXTERN PetscErrorCode HopsCoefficientCreateQuadrature(HopsSpace, PetscInt, PetscInt, const PetscScalar[], HopsCoefficient *);
PETSC_EXTERN PetscErrorCode HopsCoefficientCreateNodal(HopsSpace, PetscInt, const PetscScalar[], HopsCoefficient *);
PETSC_EXTERN PetscErrorCode HopsCoefficientReference(HopsCoefficient);
PETSC_EXTERN PetscErrorCode HopsCoefficientDestroy(HopsCoefficient *);
PETSC_EXTERN PetscErrorCode HopsCoefficientView(HopsCoefficient, PetscViewer);
