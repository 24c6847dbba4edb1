/* Public interface of MATPA, the matrix-free partial-assembly operator. */
#pragma once
#include <petscmat.h>
#include <hopsspace.h>

/*MC
  MATPA - "pa": the matrix-free operator of a form on a `HopsSpace`, by partial assembly: only the quadrature
  data are stored, and the action is evaluated by sum factorisation.

  Options Database Keys:
+ -mat_pa_q_1d <n>      - quadrature points per direction (default order + 2, or the `PetscFE`'s own rule)
. -mat_pa_quadrature <gauss|gll> - Gauss points, or the collocated Gauss-Lobatto-Legendre nodes (then n is
  order + 1)
. -mat_pa_geometry <auto|stored|recompute> - recompute affine and multilinear geometry, see
  `MatPASetGeometryType()`
. -mat_pa_general       - full tensors for every form of a `PetscDS`, scalar symmetric ones included
. -dm_mat_type pa       - (of a `DMPLEX`) `DMCreateMatrix()` makes such an operator, whose form is the
  `PetscDS`'s Jacobian at the current state
. -hops_residual        - (of a `DMPLEX`) the residual of the `PetscDS` by sum factorisation
. -hops_linear <yes|no|auto> - (of a `DMPLEX`) a linear form keeps its Jacobian from solve to solve; auto, the
  default with -hops_residual, finds out
. -hops_residual_check  - (of a `DMPLEX`) with -hops_linear yes, a full residual at the end of each solve of a
  `SNES`
- -hops_backend <host|cuda> - where the operator lives and runs

  Level: beginner

  Notes:
  Made by `MatCreatePA()`, its form is diffusion and reaction with given coefficients, on H(curl) curl-curl
  and mass, on H(div) div-div and mass. Made by a `DMPLEX` code's options, without any change to the code, its
  form is that of the point functions g0, g1, g2 and g3 of the `PetscDS`, with any number of fields and
  components, evaluated whenever the code's `SNES` or `TS` asks for the Jacobian; see
  docs/guide/existing-codes.md.

  An operator takes no entries: `MatSetValues()` raises `PETSC_ERR_SUP`, and so does `MatGetRow()`;
  `MatConvert()` to `MATAIJ` assembles a matrix that has rows.

  `MatScale()`, `MatShift()`, `MatDiagonalScale()`, `MatDiagonalSet()`, `MatZeroRows()`,
  `MatZeroRowsColumns()`, `MatZeroEntries()` and `MatAXPY()` change the operator as they change an assembled
  matrix, also in conversions and copies, until its form is set anew (`MatPASetDiffusion()` and the like, or
  the next evaluation of the Jacobian). `MatAXPY()` keeps a reference to the matrix that it adds, which must
  not change. What reads the form (`PCLOR`, `PCPATCHFD`, `PCHOPSMG`, `MatPALiftEssential()`, blocks of fields)
  refuses a changed operator by `PETSC_ERR_SUP`; `PCLOR` takes a positive multiple for the form itself.

  With complex scalars the form is real and acts on real and imaginary part; the factors of `MatScale()`,
  `MatAXPY()` and the like may be complex, which makes a complex operator of two real forms; see
  docs/guide/complex.md.

.seealso: `MatCreatePA()`, `MatPASetDiffusion()`, `MatPASetCurlCurl()`, `MatPASetDivDiv()`, `MatPASetMass()`,
`MatPAAddRobin()`, `PCLOR`, `HopsSpace`
M*/
#define MATPA "pa"

/*MC
  MATHOPSINTERP - "hopsinterp": evaluates the functions of one space at the nodes of another, nested one, by
  sum factorisation.

  Level: intermediate

  Notes:
  From the coarse space to the fine one, `MatMult()` is the prolongation of a multigrid method and
  `MatMultTranspose()` its restriction. From the fine space to the coarse one, `MatMult()` restricts a state:
  it takes the function's values at the coarse nodes, which is an injection where the nodes coincide.
  Essential values count as zero.

  Nothing is stored but indices and one small matrix. Each unknown of the result is written once.

.seealso: `MatCreateHopsInterp()`, `HopsSpaceCreateCoarse()`, `PCHOPSMG`, `MATPA`
M*/
#define MATHOPSINTERP "hopsinterp"

PETSC_EXTERN PetscErrorCode MatCreateHopsInterp(HopsSpace, HopsSpace, Mat *);

/*E
  MatPAGeometryType - Whether `MATPA` stores the geometry of its cells at the quadrature points

  Values:
+ `MATPA_GEOMETRY_AUTO`      - recomputed where that can be done and is faster, else stored
. `MATPA_GEOMETRY_STORED`    - stored
- `MATPA_GEOMETRY_RECOMPUTE` - recomputed at every application, an error where that cannot be done

  Level: intermediate

.seealso: `MATPA`, `MatPASetGeometryType()`
E*/
typedef enum {
  MATPA_GEOMETRY_AUTO,
  MATPA_GEOMETRY_STORED,
  MATPA_GEOMETRY_RECOMPUTE
} MatPAGeometryType;
PETSC_EXTERN const char *const MatPAGeometryTypes[];

PETSC_EXTERN PetscErrorCode MatCreatePA(HopsSpace, Mat *);
PETSC_EXTERN PetscErrorCode MatPASetSpace(Mat, HopsSpace);
PETSC_EXTERN PetscErrorCode MatPAGetSpace(Mat, HopsSpace *);
PETSC_EXTERN PetscErrorCode MatPASetDiffusion(Mat, HopsCoefficient);
PETSC_EXTERN PetscErrorCode MatPASetCurlCurl(Mat, HopsCoefficient);
PETSC_EXTERN PetscErrorCode MatPASetDivDiv(Mat, HopsCoefficient);
PETSC_EXTERN PetscErrorCode MatPASetMass(Mat, HopsCoefficient);
PETSC_EXTERN PetscErrorCode MatPASetConstants(Mat, PetscScalar, PetscScalar);
PETSC_EXTERN PetscErrorCode MatPAAddRobin(Mat, PetscInt, const PetscInt[], const PetscInt[], HopsCoefficient);
PETSC_EXTERN PetscErrorCode MatPASetFromDS(Mat, DM);
PETSC_EXTERN PetscErrorCode HopsDSSetDeviceSource(PetscDS, const char[], const char[]);
PETSC_EXTERN PetscErrorCode MatPASetQuadrature(Mat, PetscInt, PetscBool);
PETSC_EXTERN PetscErrorCode MatPASetGeometryType(Mat, MatPAGeometryType);
PETSC_EXTERN PetscErrorCode MatPALiftEssential(Mat, Vec);
