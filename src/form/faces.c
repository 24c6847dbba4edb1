/* Coefficients on lists of boundary faces. */
#include <hops/private/hopsfaceimpl.h>
#include <hops/private/hopshanging.h>

/* Do nodes of any facet hang? */
PetscErrorCode HopsFacetsHang(HopsSpace sp, const HopsFacets r, PetscBool *hang)
{
  const PetscInt P = sp->order + 1, nf = HopsPower(P, sp->dim - 1);
  HopsHanging    h;
  PetscInt      *node;

  PetscFunctionBegin;
  *hang = PETSC_FALSE;
  if (!sp->hanging) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsHangingCreate(sp->family, sp->dim, sp->order, &h));
  PetscCall(PetscMalloc1(nf, &node));
  for (PetscInt f = 0; f < r->n && !*hang; ++f) {
    PetscCall(HopsFaceNodes(sp->dim, P, r->faces[f], node));
    for (PetscInt i = 0; i < nf; ++i)
      if (!HopsHangingIsOwn(&h, sp->hang[r->cells[f]], (int)node[i])) *hang = PETSC_TRUE;
  }
  PetscCall(PetscFree(node));
  PetscCall(HopsHangingDestroy(&h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsFaceCoefficient(HopsCoefficient alpha, HopsSpace sp, PetscInt cell, PetscInt nq, const PetscReal x[],
                                          PetscReal out[])
{
  PetscFunctionBegin;
  PetscCheck(alpha->nc == 1, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "A Robin coefficient is a scalar, not of %" PetscInt_FMT " components: create it with nc = 1", alpha->nc);
  PetscCheck(alpha->evaluateface || !alpha->evaluate || alpha->func || (alpha->nvcells && !alpha->q_1d), PETSC_COMM_SELF,
             PETSC_ERR_SUP, "A %s coefficient has no values on boundary faces: give a constant, one value per cell, or a function",
             alpha->kind);
  for (PetscInt q = 0; q < nq; ++q) {
    if (alpha->evaluateface) {
      /* done by the caller, who knows the face */
    } else if (alpha->func) PetscCall(HopsEvaluateReal(alpha->func, sp->dim, x + q * sp->dim, 1, out + q, alpha->ctx));
    else out[q] = alpha->nvcells ? alpha->values[sp->cell[cell] - sp->cstart] : alpha->values[0];
    PetscCheck(!PetscIsInfOrNanScalar(out[q]), PETSC_COMM_SELF, PETSC_ERR_FP,
               "The Robin coefficient is infinite or not-a-number on a face of cell %" PetscInt_FMT
               ": check the function or the array behind it",
               sp->cell[cell]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsFaceEvaluatePoints(HopsSpace sp, const HopsBasis *basis, PetscInt n, const PetscInt cells[],
                                             const PetscInt faces[], HopsCoefficient alpha, PetscReal out[])
{
  const PetscInt dim = sp->dim, nq = HopsPower(basis->Q, dim - 1);
  HopsFaceBasis  geom;
  PetscReal     *x, *normal, *J, *ds;

  PetscFunctionBegin;
  PetscCall(HopsFaceBasisCreate(dim, sp->gorder + 1, basis, &geom));
  PetscCall(PetscMalloc4(nq * dim, &x, nq * dim, &normal, nq * dim * dim, &J, nq, &ds));
  for (PetscInt f = 0; f < n; ++f) {
    PetscCheck(cells[f] >= 0 && cells[f] < sp->ncells && faces[f] >= 0 && faces[f] < 2 * dim, PETSC_COMM_SELF,
               PETSC_ERR_ARG_OUTOFRANGE, "There is no face %" PetscInt_FMT " of cell %" PetscInt_FMT, faces[f], cells[f]);
    PetscCall(HopsFaceGeometry(sp, &geom, cells[f], faces[f], x, normal, J, ds));
    if (alpha->evaluateface) PetscCall((*alpha->evaluateface)(alpha, sp, cells[f], faces[f], basis, x, normal, J, out + f * nq));
    PetscCall(HopsFaceCoefficient(alpha, sp, cells[f], nq, x, out + f * nq));
    for (PetscInt q = 0; q < nq; ++q) out[f * nq + q] *= ds[q];
  }
  PetscCall(PetscFree4(x, normal, J, ds));
  PetscCall(HopsFaceBasisDestroy(&geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFaceEvaluate(HopsSpace sp, const HopsBasis *basis, PetscInt n, const PetscInt cells[], const PetscInt faces[],
                                HopsCoefficient alpha, PetscReal out[])
{
  PetscReal *v;

  PetscFunctionBegin;
  if (!basis->limit) {
    PetscCall(HopsFaceEvaluatePoints(sp, basis, n, cells, faces, alpha, out));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(n * HopsPower(basis->Q, sp->dim - 1), &v));
  for (PetscInt k = 0; k < HOPS_LIMIT_POINTS; ++k) { /* of the coefficient where faces meet; the geometry is smooth */
    HopsBasis at;

    PetscCall(HopsBasisCreateLimit(basis, k, &at));
    PetscCall(HopsFaceEvaluatePoints(sp, &at, n, cells, faces, alpha, v));
    PetscCall(HopsBasisAddLimit(basis, k, sp->dim - 1, n, 1, v, out));
    PetscCall(HopsBasisDestroy(&at));
  }
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
