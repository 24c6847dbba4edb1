/* HopsSpaceEstimateError(): what is estimated, and of which operators. */
#include <hops/private/hopsadaptimpl.h>

const char *const HopsEstimateTypes[] = {"kelly", "zz", "residual", "HopsEstimateType", "HOPS_ESTIMATE_", NULL};

PetscErrorCode HopsGetEnergy(HopsSpace sp, Mat A, const char what[], HopsForm *form)
{
  MPI_Comm  comm = PetscObjectComm((PetscObject)sp);
  PetscBool is;
  Mat_PA   *pa;

  PetscFunctionBegin;
  PetscCheck(HOPS_PARTS == 1, PetscObjectComm((PetscObject)sp), PETSC_ERR_SUP,
             "%s needs real scalars, which this PETSc has not: use one that has (Debian: libpetsc-real-dev)", what);
  PetscCheck(sp->family == HOPS_H1, comm, PETSC_ERR_SUP,
             "%s is for H1, and the space is in %s: give an indicator of your own to HopsSpaceMark()", what,
             HopsFamilies[sp->family]);
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATPA, &is));
  PetscCheck(is, comm, PETSC_ERR_ARG_WRONG,
             "The operator is of type %s, and %s takes the coefficients of one of type " MATPA
             ": give MatCreatePA() with MatPASetDiffusion() of this problem, which need not be the solver's matrix",
             ((PetscObject)A)->type_name, what);
  PetscCall(MatPACheckForm(A, PETSC_FALSE, what));
  PetscCall(MatPAGetData(A, &pa));
  PetscCheck(!pa->tensor && !HopsFormNeedsTensors(pa->form), comm, PETSC_ERR_SUP,
             "%s is for scalar forms of diffusion and reaction, and the operator has several components or first-order terms: give "
             "an indicator of your own to HopsSpaceMark()",
             what);
  PetscCheck(pa->form->space == sp, comm, PETSC_ERR_ARG_INCOMP,
             "The operator is on another space: take that of MatPAGetSpace(), or give MatCreatePA() of this one");
  *form = pa->form;
  PetscCheck(HopsFormDerivative(*form), comm, PETSC_ERR_ARG_WRONGSTATE,
             "The operator has no diffusion: call MatPASetDiffusion() first");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsEstimateError_Private(HopsSpace space, const PetscInt order[], Mat A, Vec x, HopsEstimateType type,
                                         HopsPointFunction f, HopsPointFunction flux, void *ctx, Vec eta)
{
  HopsForm         form = NULL;
  HopsSpace        nodes;
  HopsFlux         fl;
  HopsFacetSides   sides;
  PetscInt        *where;
  const PetscReal *a;
  PetscScalar     *out;
  PetscReal       *eta2;
  char             why[HOPS_WHY_LENGTH] = "";

  PetscFunctionBegin;
  PetscCall(HopsSpaceCheckVec(space, x, "of the solution"));
  PetscCall(HopsSpaceCheckCellVec(space, eta));
  PetscCall(HopsGetEnergy(space, A, "HopsSpaceEstimateError()", &form));
  PetscCall(PetscLogEventBegin(HopsEvent.estimate, space, x, 0, 0));
  PetscCall(HopsSpaceGetAllNodes(space, &nodes, &where));
  PetscCall(PetscCalloc1(space->ncells, &eta2));
  PetscCall(HopsHostVecGetPartRead(x, 0, &a));
  PetscCall(HopsFluxCreate(form, a, &fl));
  fl.order = order;
  if (type == HOPS_ESTIMATE_ZZ) PetscCall(HopsEstimateRecovered(space, &fl, nodes, where, a, eta2, why));
  else {
    PetscCall(HopsFacetSidesCreate(space, nodes, where, &sides));
    PetscCall(
      HopsEstimateJumps(space, &fl, &sides, a, type == HOPS_ESTIMATE_RESIDUAL ? PETSC_TRUE : PETSC_FALSE, f, flux, ctx, eta2));
    PetscCall(HopsFacetSidesDestroy(&sides));
  }
  PetscCall(HopsFluxDestroy(&fl));
  PetscCall(HopsHostVecRestorePartRead(x, 0, &a));
  PetscCall(VecSet(eta, 0.0)); /* cells of an overlap are no cells of the space */
  PetscCall(VecGetArray(eta, &out));
  for (PetscInt c = 0; c < space->ncells; ++c) out[space->cell[c] - space->cstart] = PetscSqrtReal(eta2[c]);
  PetscCall(VecRestoreArray(eta, &out));
  PetscCall(PetscFree(eta2));
  PetscCall(PetscFree(where));
  PetscCall(HopsSpaceDestroy(&nodes));
  PetscCall(PetscLogEventEnd(HopsEvent.estimate, space, x, 0, 0));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)space), PETSC_ERR_ARG_OUTOFRANGE, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsSpaceEstimateError - Estimates the error of a solution of a problem of diffusion and reaction in the
  energy norm, cell by cell, on meshes with and without hanging nodes.

  Collective

  Input Parameters:
+ space - an H1 space
. A     - the `MATPA` of the problem on this space, with `MatPASetDiffusion()` and, where there are such,
  `MatPASetMass()` and `MatPAAddRobin()`
. x     - the solution, a vector of the space; essential values are the space's
. type  - the estimate
. f     - the right-hand side as a function of position, one component; `NULL` for zero. Only
  `HOPS_ESTIMATE_RESIDUAL` uses it
. flux  - kappa grad u . n on those parts of the boundary that are not essential, and kappa grad u . n + alpha
  u where there are Robin terms, one component; `NULL` for zero. `HOPS_ESTIMATE_ZZ` does not use it
- ctx   - the context of both functions, or `NULL`

  Output Parameter:
. eta - the estimates eta_K of the cells, a vector of `HopsSpaceCreateCellVec()`; its norm is the estimate of
  the whole error

  Level: intermediate

  Notes:
  The problem is -div(kappa grad u) + m u = f. With p the order, h_F the largest distance of two corners of
  a facet, h_K that of two corners of the cell, and [ ] the jump, the squares of the estimates are

.vb
  kelly     sum over facets F of K  h_F/(2p) int_F [kappa du/dn]^2
  zz        int_K (s - kappa grad u) . kappa^-1 (s - kappa grad u)
  residual  h_K^2/p^2 int_K (f + div(kappa grad u) - m u)^2  +  kelly
.ve

  where s is the average of the flux at the nodes, by the lumped mass. Kelly's and the residual's estimate
  have the unit of a flux squared: where kappa is far from 1, compare them with the energy after a division.
  Averages of `zz` smooth over interfaces where kappa jumps, and so find an error there.

  Where a facet hangs, jumps are taken on the parts of the coarser cell's facet, with their h_F. Facets of the
  boundary all of whose nodes are essential have none; on others the jump is that to the given flux, with
  alpha u added to the solution's on facets with Robin terms.
  Cells may be curved; then the divergence, and with it the residual, is that of a polynomial through the flux
  at order + 4 points per direction.

  Cells of other ranks behind a facet are found by node numbers, also where facets hang. On a `DMPLEX` this
  numbers all nodes anew, at the price of a space. Estimates are computed by the process: a space on a device
  copies mesh and vector.

  Refused are other families, several components, first-order terms, and periodic meshes of one or two cells.

  References:
+ * - D. Kelly, J. Gago, O. Zienkiewicz and I. Babuska, A posteriori error analysis and adaptive processes in
  the finite element method, part I, International Journal for Numerical Methods in Engineering 19, 1983
. * - O. Zienkiewicz and J. Zhu, A simple error estimator and adaptive procedure for practical engineering
  analysis, International Journal for Numerical Methods in Engineering 24, 1987
- * - J. Melenk and B. Wohlmuth, On residual-based a posteriori error estimation in hp-FEM, Advances in
  Computational Mathematics 15, 2001: the powers of h and p

.seealso: `HopsEstimateType`, `HopsSpaceMark()`, `HopsSpaceTransfer()`, `HopsSpaceCreateAdaptiveFromArrays()`
@*/
PetscErrorCode HopsSpaceEstimateError(HopsSpace space, Mat A, Vec x, HopsEstimateType type, HopsPointFunction f,
                                      HopsPointFunction flux, void *ctx, Vec eta)
{
  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidHeader(A, MAT_CLASSID, 2);
  HopsValidHeader(x, VEC_CLASSID, 3);
  HopsValidEnum(type, HOPS_ESTIMATE_RESIDUAL, 4);
  HopsValidHeader(eta, VEC_CLASSID, 8);
  PetscCall(HopsEstimateError_Private(space, NULL, A, x, type, f, flux, ctx, eta));
  PetscFunctionReturn(PETSC_SUCCESS);
}
