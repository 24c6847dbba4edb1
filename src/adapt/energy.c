/* The energy norm of the difference to a given function. */
#include <hops/private/hopsadaptimpl.h>

/* The square of the error in the cell at hand, by Gauss points */
static PetscErrorCode CellError(HopsFlux *fl, const HopsBasis *gauss, HopsPointFunction u, HopsPointFunction grad, void *ctx,
                                PetscReal *error2)
{
  const PetscInt dim = fl->sp->dim, Q = gauss->Q;

  PetscFunctionBegin;
  *error2 = 0.0;
  for (PetscInt q = 0; q < HopsPower(Q, dim); ++q) {
    const PetscReal *Ji = fl->Ji + q * dim * dim;
    PetscScalar      g[3], v = 0.0;
    PetscReal        e[3], Ke[3], sum = 0.0;

    PetscCall((*grad)(dim, fl->x + q * dim, dim, g, ctx));
    for (PetscInt i = 0; i < dim; ++i) {
      e[i] = -PetscRealPart(g[i]);
      for (PetscInt j = 0; j < dim; ++j) e[i] += Ji[j * dim + i] * fl->grad[j * HopsPower(Q, dim) + q];
    }
    HopsMultiplyTensor(dim, fl->k.nc, fl->k.v + q * fl->k.pstride, e, Ke);
    for (PetscInt i = 0; i < dim; ++i) sum += e[i] * Ke[i];
    if (fl->m.nc) {
      PetscCall((*u)(dim, fl->x + q * dim, 1, &v, ctx));
      sum += fl->m.v[q * fl->m.pstride] * PetscSqr(fl->v[q] - PetscRealPart(v));
    }
    *error2 +=
      sum * fl->det[q] * gauss->weights[q % Q] * gauss->weights[q / Q % Q] * (dim == 3 ? gauss->weights[q / (Q * Q)] : 1.0);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  HopsSpaceComputeEnergyError - Computes the energy norm of the difference between a finite element function
  and a given one, for problems of diffusion and reaction.

  Collective

  Input Parameters:
+ space - an H1 space
. A     - the `MATPA` of the problem on this space, as for `HopsSpaceEstimateError()`; the norm has no Robin
          terms
. x     - the vector of the finite element function
. u     - the function to compare with, one component; `NULL` where there is no `MatPASetMass()`
. grad  - its gradient, dim components
- ctx   - the context of both, or `NULL`

  Output Parameters:
+ cells - the errors of the cells, a vector of `HopsSpaceCreateCellVec()`, or `NULL`
- error - the norm: the square root of the integral of kappa grad(u - x) . grad(u - x) + m (u - x)^2, by
  order + 4 Gauss points per direction

  Level: intermediate

  Note:
  Refused are other families, several components, first-order terms, operators that are not of type `MATPA` or
  have no diffusion, and `NULL` for `u` where there is a mass.

.seealso: `HopsSpaceEstimateError()`, `HopsSpaceComputeL2Error()`
@*/
PetscErrorCode HopsSpaceComputeEnergyError(HopsSpace space, Mat A, Vec x, HopsPointFunction u, HopsPointFunction grad, void *ctx,
                                           Vec cells, PetscReal *error)
{
  const PetscReal *a;
  PetscScalar     *out = NULL;
  PetscReal        sum = 0.0;
  HopsBasis        gauss, geom;
  HopsForm         form = NULL;
  HopsFlux         fl;

  PetscFunctionBegin;
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 1);
  HopsValidHeader(A, MAT_CLASSID, 2);
  HopsValidHeader(x, VEC_CLASSID, 3);
  HopsValidPointer(grad, 5);
  HopsValidPointer(error, 8);
  PetscCall(HopsSpaceCheckVec(space, x, "of the finite element function"));
  PetscCall(HopsGetEnergy(space, A, "HopsSpaceComputeEnergyError()", &form));
  if (HopsFormValue(form)) HopsValidPointer(u, 4);
  if (cells) {
    HopsValidHeader(cells, VEC_CLASSID, 7);
    PetscCall(HopsSpaceCheckCellVec(space, cells));
    PetscCall(VecSet(cells, 0.0));
    PetscCall(VecGetArray(cells, &out));
  }
  PetscCall(HopsSpaceBringMesh(space));
  PetscCall(HopsBasisCreate(space->order + 1, space->order + 4, PETSC_FALSE, &gauss));
  PetscCall(HopsSpaceCreateGeometryBasis(space, &gauss, &geom));
  PetscCall(HopsHostVecGetPartRead(x, 0, &a));
  PetscCall(HopsFluxCreate(form, a, &fl));
  for (PetscInt c = 0; c < space->ncells; ++c) {
    PetscReal e;

    PetscCall(HopsFluxCell(&fl, c, &gauss, &geom, a));
    PetscCall(CellError(&fl, &gauss, u, grad, ctx, &e));
    sum += e;
    if (out) out[space->cell[c] - space->cstart] = PetscSqrtReal(e);
  }
  PetscCall(HopsFluxDestroy(&fl));
  PetscCall(HopsHostVecRestorePartRead(x, 0, &a));
  PetscCall(HopsBasisDestroy(&gauss));
  PetscCall(HopsBasisDestroy(&geom));
  if (cells) PetscCall(VecRestoreArray(cells, &out));
  PetscCall(MPIU_Allreduce(&sum, error, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)space)));
  *error = PetscSqrtReal(*error);
  PetscFunctionReturn(PETSC_SUCCESS);
}
