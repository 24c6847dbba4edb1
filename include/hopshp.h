/* Public interface of HopsHPSpace, spaces whose cells have orders of their own, and of MATHOPSPTAP, operators
   of such and other constrained spaces. */
#pragma once
#include <hopsadapt.h>

/*S
  HopsHPSpace - an H1 space whose cells have orders of their own, with or without hanging nodes.

  Level: intermediate

.seealso: `HopsHPSpaceCreate()`, `HopsHPSpaceCreateMat()`, `HopsHPSpaceInterpolate()`, `HopsHPSpaceProlong()`,
`HopsHPSpaceMark()`, `HopsSpace`
S*/
typedef struct _p_HopsHPSpace *HopsHPSpace;

PETSC_EXTERN PetscClassId HOPS_HPSPACE_CLASSID;

PETSC_EXTERN PetscErrorCode HopsHPSpaceCreate(HopsSpace, const PetscInt[], HopsHPSpace *);
PETSC_EXTERN PetscErrorCode HopsHPSpaceReference(HopsHPSpace);
PETSC_EXTERN PetscErrorCode HopsHPSpaceDestroy(HopsHPSpace *);
PETSC_EXTERN PetscErrorCode HopsHPSpaceView(HopsHPSpace, PetscViewer);
PETSC_EXTERN PetscErrorCode HopsHPSpaceGetSizes(HopsHPSpace, PetscInt *, PetscInt *);
PETSC_EXTERN PetscErrorCode HopsHPSpaceGetParts(HopsHPSpace, PetscInt *, const HopsSpace *[], const PetscInt *[],
                                                const PetscInt *const *[]);
PETSC_EXTERN PetscErrorCode HopsHPSpaceGetProlongation(HopsHPSpace, Mat *);
PETSC_EXTERN PetscErrorCode HopsHPSpaceCreateVec(HopsHPSpace, Vec *);
PETSC_EXTERN PetscErrorCode HopsHPSpaceInterpolate(HopsHPSpace, HopsPointFunction, void *, Vec);
PETSC_EXTERN PetscErrorCode HopsHPSpaceComputeRHS(HopsHPSpace, HopsPointFunction, void *, Vec);
PETSC_EXTERN PetscErrorCode HopsHPSpaceProlong(HopsHPSpace, Vec, Vec);
PETSC_EXTERN PetscErrorCode HopsHPSpaceEstimateError(HopsHPSpace, Mat, Vec, HopsEstimateType, HopsPointFunction, HopsPointFunction,
                                                     void *, Vec);
PETSC_EXTERN PetscErrorCode HopsHPSpaceMark(HopsHPSpace, Vec, PetscReal, PetscInt, PetscInt[], PetscInt[]);

/*MC
  MATHOPSPTAP - "hopsptap": the sum of P^T A P over operators A on spaces, with matrices P from its unknowns
  to theirs.

  Level: intermediate

  Notes:
  So operators are on spaces whose unknowns are constrained: on cells of several orders
  (`HopsHPSpaceCreateMat()`), and by constraints of a code's own, as of cells that differ by more than one
  level of refinement (`MatCreateHopsPtAP()`). Rows and columns of essential unknowns are those of the
  identity.

  `PCLOR` preconditions it by the sum of P^T L P, L the low-order-refined matrices of the operators: with the
  same bounds, since what holds for all functions holds for those of a subspace. Its other options and its
  inner solver are those of any operator.

  `MatConvert()` to `MATAIJ` assembles it. It has no diagonal, and is not scaled, shifted or copied: change
  the operators' coefficients. `PCLOR` notices that these were set anew; `MatAssemblyBegin()` and
  `MatAssemblyEnd()` of the sum tell everybody else.

.seealso: `MatCreateHopsPtAP()`, `HopsHPSpaceCreateMat()`, `MatHopsPtAPGetMats()`,
`MatHopsPtAPLiftEssential()`, `MATPA`, `PCLOR`
M*/
#define MATHOPSPTAP "hopsptap"

PETSC_EXTERN PetscErrorCode MatCreateHopsPtAP(MPI_Comm, PetscInt, const Mat[], const Mat[], PetscInt, const PetscInt[], Mat *);
PETSC_EXTERN PetscErrorCode MatHopsPtAPGetMats(Mat, PetscInt *, const Mat *[], const Mat *[]);
PETSC_EXTERN PetscErrorCode MatHopsPtAPLiftEssential(Mat, Vec, Vec);
PETSC_EXTERN PetscErrorCode HopsHPSpaceCreateMat(HopsHPSpace, Mat *);
