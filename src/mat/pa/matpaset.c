/* MATPA's public setters: space, terms of the form, quadrature. */
#include <hops/private/hopsmatimpl.h>
#include <hops/private/hopsderhamimpl.h>
#include <petsc/private/matimpl.h>

/*@
  MatCreatePA - Creates the matrix-free partial-assembly operator on a space; its terms are set afterwards.

  Collective

  Input Parameter:
. space - the space

  Output Parameter:
. A - the operator, of type `MATPA`

  Level: beginner

.seealso: `MATPA`, `MatPASetDiffusion()`, `MatPASetMass()`, `MatPAAddRobin()`, `MatPASetFromDS()`
@*/
PetscErrorCode MatCreatePA(HopsSpace space, Mat *A)
{
  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidPointer(A, 2);
  PetscCall(MatCreate(PetscObjectComm((PetscObject)space), A));
  PetscCall(MatSetSizes(*A, space->nT, space->nT, space->N, space->N));
  PetscCall(MatSetType(*A, MATPA));
  PetscCall(MatPASetSpace(*A, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatPASetSpace - Sets the space of an operator created by `MatSetType()`; its sizes must agree.

  Collective

  Input Parameters:
+ A     - the operator
- space - the space

  Level: intermediate

  Note:
  Another space may come in place of one before: the terms stay. Robin terms, whose cells are those of the
  space before, are an error then.

.seealso: `MATPA`, `MatCreatePA()`
@*/
PetscErrorCode MatPASetSpace(Mat A, HopsSpace space)
{
  Mat_PA *pa;

  PetscFunctionBegin;
  HopsValidHeader(A, MAT_CLASSID, 1);
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 2);
  PetscCall(MatPAGetData(A, &pa));
  if (A->rmap->n < 0 && A->rmap->N < 0) PetscCall(MatSetSizes(A, space->nT, space->nT, space->N, space->N));
  PetscCall(MatSetUp(A));
  PetscCheck(A->rmap->n == space->nT && A->cmap->n == space->nT, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The operator has %" PetscInt_FMT " local rows, the space %" PetscInt_FMT
             " unknowns: create the Mat with the space's sizes (HopsSpaceGetSizes())",
             A->rmap->n, space->nT);
  PetscCheck(pa->form->space == space || !HopsFormHas(pa->form, HOPS_BOUNDARY), PetscObjectComm((PetscObject)A),
             PETSC_ERR_ARG_WRONGSTATE,
             "The operator has Robin terms on cells of the space that it had before: make another operator (MatCreatePA())");
  PetscCall(MatPAReset(pa));
  PetscCall(MatPASumDestroy(pa));
  PetscCall(MatPAFreeWork(pa));
  PetscCall(HopsFormSetSpace(pa->form, space));
  PetscCall(MatShellSetVecType(A, HopsSpaceVecType(space)));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatPAGetSpace - Gets the space of an operator.

  Not Collective

  Input Parameter:
. A - the operator

  Output Parameter:
. space - the space (borrowed)

  Level: intermediate

.seealso: `MATPA`, `MatPASetSpace()`
@*/
PetscErrorCode MatPAGetSpace(Mat A, HopsSpace *space)
{
  Mat_PA *pa;

  PetscFunctionBegin;
  HopsValidHeader(A, MAT_CLASSID, 1);
  HopsValidPointer(space, 2);
  PetscCall(MatPAGetData(A, &pa));
  *space = pa->form->space;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatPASetTerm(Mat A, Mat_PA *pa, HopsDifferential d, HopsCoefficient cf)
{
  const PetscBool layout = !cf != !HopsFormGetCells(pa->form, d) ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(HopsFormSetCells(pa->form, d, cf));
  PetscCall(MatPAChanged(A, pa, layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatPASetDiffusion - Sets the coefficient K of the diffusion term, int (K grad u) . grad v.

  Logically Collective

  Input Parameters:
+ A  - the operator
- cf - the coefficient: scalar, diagonal or symmetric tensor; `NULL` for no such term

  Level: beginner

  Note:
  May be called again: the quadrature data, and the low-order-refined matrix of `PCLOR`, are refilled at their
  next use; the space and the matrix's pattern are kept. If the data behind the same coefficient changed, call
  it with the same coefficient.

.seealso: `MATPA`, `HopsCoefficient`, `MatPASetMass()`, `MatPAAddRobin()`
@*/
PetscErrorCode MatPASetDiffusion(Mat A, HopsCoefficient cf)
{
  Mat_PA *pa;

  PetscFunctionBegin;
  HopsValidHeader(A, MAT_CLASSID, 1);
  if (cf) HopsValidHeader(cf, HOPS_COEFFICIENT_CLASSID, 2);
  PetscCall(MatPAGetData(A, &pa));
  if (cf && pa->form->space) {
    const PetscInt d = pa->form->space->dim;

    PetscCheck(pa->form->space->family == HOPS_H1, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
               "A diffusion term belongs to H1, and the space is %s: call MatPASetCurlCurl() for H(curl), MatPASetDivDiv() for "
               "H(div)",
               HopsFamilies[pa->form->space->family]);
    PetscCheck(cf->nc == 1 || cf->nc == d || cf->nc == d * (d + 1) / 2, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
               "A diffusion coefficient in %" PetscInt_FMT "D has 1, %" PetscInt_FMT " or %" PetscInt_FMT
               " components, not %" PetscInt_FMT,
               d, d, d * (d + 1) / 2, cf->nc);
  }
  PetscCall(MatPASetTerm(A, pa, HOPS_GRADIENT, cf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatPACheckTensor(Mat A, PetscInt d, const char term[], HopsCoefficient cf)
{
  PetscFunctionBegin;
  PetscCheck(!cf || cf->nc == 1 || cf->nc == d || cf->nc == d * (d + 1) / 2, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
             "A %s coefficient in %" PetscInt_FMT "D has 1, %" PetscInt_FMT " or %" PetscInt_FMT " components, not %" PetscInt_FMT,
             term, d, d, d * (d + 1) / 2, cf->nc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatPASetCurlCurl - Sets the coefficient mu of the curl-curl term of an operator on H(curl), int (mu curl u)
  . curl v.

  Logically Collective

  Input Parameters:
+ A  - the operator
- cf - the coefficient: scalar, or in 3D also diagonal or a symmetric tensor; `NULL` for no such term

  Level: beginner

  Note:
  May be called again, as `MatPASetDiffusion()`.

.seealso: `MATPA`, `HopsSpaceCreateHCurl()`, `HopsCoefficient`, `MatPASetMass()`, `MatPASetDivDiv()`
@*/
PetscErrorCode MatPASetCurlCurl(Mat A, HopsCoefficient cf)
{
  Mat_PA *pa;

  PetscFunctionBegin;
  HopsValidHeader(A, MAT_CLASSID, 1);
  if (cf) HopsValidHeader(cf, HOPS_COEFFICIENT_CLASSID, 2);
  PetscCall(MatPAGetData(A, &pa));
  PetscCheck(pa->form->space && pa->form->space->family == HOPS_HCURL, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
             "A curl-curl term belongs to H(curl), and the space is %s: make it by HopsSpaceCreateHCurl()",
             pa->form->space ? HopsFamilies[pa->form->space->family] : "not set");
  if (pa->form->space->dim == 3) PetscCall(MatPACheckTensor(A, 3, "curl-curl", cf));
  else
    PetscCheck(!cf || cf->nc == 1, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
               "The curl in 2D is a scalar, and so is its coefficient, not of %" PetscInt_FMT " components", cf->nc);
  PetscCall(MatPASetTerm(A, pa, HOPS_CURL, cf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatPASetDivDiv - Sets the coefficient mu of the div-div term of an operator on H(div), int mu div u div v.

  Logically Collective

  Input Parameters:
+ A  - the operator
- cf - the scalar coefficient, `NULL` for no such term

  Level: beginner

  Note:
  May be called again, as `MatPASetDiffusion()`.

.seealso: `MATPA`, `HopsSpaceCreateHDiv()`, `HopsCoefficient`, `MatPASetMass()`, `MatPASetCurlCurl()`
@*/
PetscErrorCode MatPASetDivDiv(Mat A, HopsCoefficient cf)
{
  Mat_PA *pa;

  PetscFunctionBegin;
  HopsValidHeader(A, MAT_CLASSID, 1);
  if (cf) HopsValidHeader(cf, HOPS_COEFFICIENT_CLASSID, 2);
  PetscCall(MatPAGetData(A, &pa));
  PetscCheck(pa->form->space && pa->form->space->family == HOPS_HDIV, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
             "A div-div term belongs to H(div), and the space is %s: make it by HopsSpaceCreateHDiv()",
             pa->form->space ? HopsFamilies[pa->form->space->family] : "not set");
  PetscCheck(!cf || cf->nc == 1, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
             "The coefficient of a divergence is a scalar, not of %" PetscInt_FMT " components", cf->nc);
  PetscCall(MatPASetTerm(A, pa, HOPS_DIVERGENCE, cf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatPASetMass - Sets the coefficient c of the reaction (mass) term, int (c u) . v.

  Logically Collective

  Input Parameters:
+ A  - the operator
- cf - the coefficient, `NULL` for no such term: a scalar; in H(curl) and H(div) also diagonal, or a symmetric
  tensor

  Level: beginner

.seealso: `MATPA`, `HopsCoefficient`, `MatPASetDiffusion()`, `MatPASetCurlCurl()`, `MatPASetDivDiv()`
@*/
PetscErrorCode MatPASetMass(Mat A, HopsCoefficient cf)
{
  Mat_PA *pa;

  PetscFunctionBegin;
  HopsValidHeader(A, MAT_CLASSID, 1);
  if (cf) HopsValidHeader(cf, HOPS_COEFFICIENT_CLASSID, 2);
  PetscCall(MatPAGetData(A, &pa));
  if (pa->form->space && (pa->form->space->family == HOPS_HCURL || pa->form->space->family == HOPS_HDIV))
    PetscCall(MatPACheckTensor(A, pa->form->space->dim, "mass", cf));
  else
    PetscCheck(!cf || cf->nc == 1, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
               "A mass coefficient is a scalar, not of %" PetscInt_FMT " components", cf->nc);
  PetscCall(MatPASetTerm(A, pa, HOPS_VALUE, cf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatPASetConstants - Sets both terms of an operator inside of the cells to constants: that of the derivative
  of its space, and the mass.

  Collective

  Input Parameters:
+ A          - the operator
. derivative - of the diffusion in H1, the curl-curl term in H(curl), the div-div term in H(div), or 0 for
  no such term
- value      - of the mass, or 0 for no such term

  Level: beginner

  Note:
  What `MatPASetDiffusion()`, `MatPASetCurlCurl()` or `MatPASetDivDiv()`, and `MatPASetMass()` do with
  `HopsCoefficientCreateConstant()`. Mass matrices are `MatPASetConstants(M, 0.0, 1.0)`. L2 has no derivative.

.seealso: `MATPA`, `MatCreatePA()`, `MatPASetDiffusion()`, `MatPASetCurlCurl()`, `MatPASetDivDiv()`,
`MatPASetMass()`
@*/
PetscErrorCode MatPASetConstants(Mat A, PetscScalar derivative, PetscScalar value)
{
  Mat_PA         *pa;
  HopsSpace       sp;
  HopsCoefficient cf[2] = {NULL, NULL};

  PetscFunctionBegin;
  HopsValidHeader(A, MAT_CLASSID, 1);
  PetscCall(MatPAGetData(A, &pa));
  sp = pa->form->space;
  PetscCheck(sp, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The operator has no space: call MatPASetSpace(), or make it by MatCreatePA()");
  PetscCheck(sp->family != HOPS_L2 || derivative == 0.0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
             "L2 has no derivative: give MatPASetConstants() 0, and the mass");
  if (derivative != 0.0) PetscCall(HopsCoefficientCreateConstant(PetscObjectComm((PetscObject)A), 1, &derivative, &cf[0]));
  if (value != 0.0) PetscCall(HopsCoefficientCreateConstant(PetscObjectComm((PetscObject)A), 1, &value, &cf[1]));
  if (sp->family == HOPS_H1) PetscCall(MatPASetDiffusion(A, cf[0]));
  if (sp->family == HOPS_HCURL) PetscCall(MatPASetCurlCurl(A, cf[0]));
  if (sp->family == HOPS_HDIV) PetscCall(MatPASetDivDiv(A, cf[0]));
  PetscCall(MatPASetMass(A, cf[1]));
  for (PetscInt i = 0; i < 2; ++i)
    if (cf[i]) PetscCall(HopsCoefficientDestroy(&cf[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatPAAddRobin - Adds a Robin term, the integral of alpha u v over a list of boundary faces.

  Collective

  Input Parameters:
+ A     - the operator
. n     - number of faces on this rank (may be 0)
. cells - [n] the face's cell: its DMPlex point, or its index in the arrays that made the space
. faces - [n] face of the reference cell: 2d for the lower, 2d + 1 for the upper face in direction d
- alpha - the scalar coefficient: constant, per cell, or a function

  Level: beginner

  Note:
  For a space on a `DMPLEX`, `HopsSpaceGetLabelFaces()` gives the list.

.seealso: `MATPA`, `HopsSpaceGetLabelFaces()`, `HopsCoefficient`
@*/
PetscErrorCode MatPAAddRobin(Mat A, PetscInt n, const PetscInt cells[], const PetscInt faces[], HopsCoefficient alpha)
{
  Mat_PA   *pa;
  HopsSpace sp;
  PetscInt *where, *own, *face;

  PetscFunctionBegin;
  HopsValidHeader(A, MAT_CLASSID, 1);
  HopsValidArray(n, cells, 3);
  HopsValidArray(n, faces, 4);
  HopsValidHeader(alpha, HOPS_COEFFICIENT_CLASSID, 5);
  PetscCall(MatPAGetData(A, &pa));
  PetscCheck(pa->form->space, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "Set the operator's space first: MatPASetSpace()");
  PetscCall(HopsSpaceCheckH1(pa->form->space, "MatPAAddRobin()"));
  PetscCheck(alpha->nc == 1, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
             "A Robin coefficient is a scalar, not of %" PetscInt_FMT " components", alpha->nc);
  sp = pa->form->space;
  PetscCall(PetscMalloc3(sp->ncaller, &where, n, &own, n, &face));
  for (PetscInt c = 0; c < sp->ncaller; ++c) where[c] = -1;
  for (PetscInt c = 0; c < sp->ncells; ++c) where[sp->cell[c] - sp->cstart] = c;
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt c = cells[i] - sp->cstart;

    PetscCheck(c >= 0 && c < sp->ncaller && where[c] >= 0 && faces[i] >= 0 && faces[i] < 2 * sp->dim, PETSC_COMM_SELF,
               PETSC_ERR_ARG_OUTOFRANGE, "There is no face %" PetscInt_FMT " of a cell %" PetscInt_FMT " on this rank", faces[i],
               cells[i]);
    own[i]  = where[c];
    face[i] = sp->turned && faces[i] < 4 ? (faces[i] + 2) % 4 : faces[i];
  }
  PetscCall(HopsFormAddBoundary(pa->form, n, own, face, alpha));
  PetscCall(PetscFree3(where, own, face));
  PetscCall(MatPAChanged(A, pa, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatPASetQuadrature - Sets the quadrature rule of an operator.

  Logically Collective

  Input Parameters:
+ A    - the operator
. q_1d - points per direction, at most 256, and 64 on the host; 0 for the default: order + 2 Gauss points, or
  the
         `PetscFE`'s own rules of cells and faces where the form is a `PetscDS`'s
- gll  - use the Gauss-Lobatto-Legendre nodes themselves; `q_1d` is then 0 or order + 1. On faces of cells
  coefficients are limits from inside of the cell

  Options Database Keys:
+ -mat_pa_q_1d <n>               - points per direction
- -mat_pa_quadrature <gauss|gll> - the rule

  Level: intermediate

  Note:
  A rule that the user sets overrides the quadrature of a `PetscFE`, of which the operator takes any symmetric
  tensor-product rule; others raise `PETSC_ERR_SUP`.

.seealso: `MATPA`
@*/
PetscErrorCode MatPASetQuadrature(Mat A, PetscInt q_1d, PetscBool gll)
{
  Mat_PA *pa;

  PetscFunctionBegin;
  HopsValidHeader(A, MAT_CLASSID, 1);
  PetscCall(MatPAGetData(A, &pa));
  PetscCheck(q_1d >= 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "The number of quadrature points must not be negative, but is %" PetscInt_FMT, q_1d);
  PetscCheck(q_1d <= HOPS_MAX_Q_1D, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "There are at most %d quadrature points per direction, not %" PetscInt_FMT, HOPS_MAX_Q_1D, q_1d);
  pa->q_1d  = q_1d;
  pa->gll   = gll;
  pa->gauss = PETSC_FALSE;
  PetscCall(MatPAReset(pa));
  PetscCall(MatPAChanged(A, pa, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
