/* The flux of a function at points of a cell, inside and on its facets. */
#include <hops/private/hopsadaptimpl.h>

/* Ends and Gauss points g[Q]; halves: ends, middle, and those of the lower and the upper half */
static PetscErrorCode CreateRule(PetscInt P, const HopsBasis *gauss, PetscBool halves, HopsBasis *rule)
{
  const PetscInt Q = gauss->Q;
  PetscReal     *z;
  PetscInt       n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(2 * Q + 3, &z));
  z[n++] = -1.0;
  for (PetscInt q = 0; q < Q; ++q) z[n++] = halves ? 0.5 * (gauss->points[q] - 1.0) : gauss->points[q];
  if (halves) z[n++] = 0.0;
  for (PetscInt q = 0; q < Q && halves; ++q) z[n++] = 0.5 * (gauss->points[q] + 1.0);
  z[n++] = 1.0;
  PetscCall(HopsBasisCreateAtPoints(P, n, z, rule));
  rule->limit = PETSC_TRUE; /* a coefficient that jumps between cells is this cell's on its facets */
  PetscCall(PetscFree(z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFluxCreate(HopsForm form, const PetscReal x[], HopsFlux *fl)
{
  const HopsSpace sp  = form->space;
  const PetscInt  dim = sp->dim, P = sp->order + 1;
  const PetscReal middle = 0.0;
  HopsBasis       gauss;
  PetscInt        nq;

  PetscFunctionBegin;
  *fl = (HopsFlux){.sp = sp, .form = form, .kappa = HopsFormDerivative(form), .mass = HopsFormValue(form), .Q = P + 1};
  PetscCall(HopsBasisCreate(P, fl->Q, PETSC_FALSE, &gauss));
  for (int k = 0; k < 2; ++k) {
    PetscCall(CreateRule(P, &gauss, k ? PETSC_TRUE : PETSC_FALSE, &fl->rule[k]));
    PetscCall(HopsSpaceCreateGeometryBasis(sp, &fl->rule[k], &fl->geom[k]));
  }
  PetscCall(HopsSpaceGetMapKind(sp, &fl->kind));
  PetscCall(HopsBasisCreateAtPoints(sp->gorder + 1, 1, &middle, &fl->middle));
  if (sp->hanging) PetscCall(HopsHangingCreate(HOPS_H1, dim, sp->order, &fl->hang));
  nq = HopsPower(fl->rule[1].Q, dim);
  PetscCall(
    PetscMalloc6(fl->Q, &fl->weight, sp->nL - sp->nT, &fl->xg, sp->ne, &fl->u, nq, &fl->v, nq * dim, &fl->grad, 2 * nq, &fl->work));
  PetscCall(PetscMalloc5(nq * dim, &fl->x, nq * dim * dim, &fl->J, nq * dim * dim, &fl->Ji, nq, &fl->det, nq * dim, &fl->F));
  PetscCall(PetscArraycpy(fl->weight, gauss.weights, fl->Q));
  PetscCall(HopsSpaceGlobalToLocal(sp, 0, x, fl->xg));
  PetscCall(HopsBasisDestroy(&gauss));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFluxDestroy(HopsFlux *fl)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; ++k) {
    PetscCall(HopsBasisDestroy(&fl->rule[k]));
    PetscCall(HopsBasisDestroy(&fl->geom[k]));
    PetscCall(PetscFree(fl->values[k]));
  }
  PetscCall(HopsBasisDestroy(&fl->middle));
  PetscCall(HopsHangingDestroy(&fl->hang));
  PetscCall(PetscFree6(fl->weight, fl->xg, fl->u, fl->v, fl->grad, fl->work));
  PetscCall(PetscFree5(fl->x, fl->J, fl->Ji, fl->det, fl->F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void HopsMultiplyTensor(PetscInt dim, PetscInt nc, const PetscReal K[], const PetscReal g[], PetscReal F[])
{
  for (PetscInt i = 0; i < dim; ++i) F[i] = nc > dim ? 0.0 : K[nc == 1 ? 0 : i] * g[i];
  if (nc <= dim) return;
  for (PetscInt i = 0, t = 0; i < dim; ++i)
    for (PetscInt j = i; j < dim; ++j, ++t) {
      F[i] += K[t] * g[j];
      if (j > i) F[j] += K[t] * g[i];
    }
}

/* x, J, Ji and det at points of a cell; Jacobians of affine cells are those in the middle */
static PetscErrorCode Geometry(HopsFlux *fl, PetscInt c, PetscInt nq, const HopsBasis *geom)
{
  HopsSpace       sp  = fl->sp;
  const PetscInt  dim = sp->dim, n = dim * dim;
  const PetscBool affine = fl->kind == HOPS_MAP_AFFINE ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(HopsSpaceGetPoints(sp, geom, c, 1, fl->x, affine ? NULL : fl->J));
  if (affine) PetscCall(HopsSpaceGetPoints(sp, &fl->middle, c, 1, NULL, fl->J));
  for (PetscInt q = 0; q < nq; ++q) {
    if (affine && q) {
      fl->det[q] = fl->det[0];
      for (PetscInt i = 0; i < n; ++i) fl->Ji[q * n + i] = fl->Ji[i];
      continue;
    }
    fl->det[q] = HopsInverse(dim, fl->J + q * n, fl->Ji + q * n);
    if (!(fl->det[q] > 0.0)) PetscCall(HopsSpaceErrorCell(sp, c, fl->det[q]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsFluxCell(HopsFlux *fl, PetscInt c, const HopsBasis *rule, const HopsBasis *geom, const PetscReal x[])
{
  HopsSpace        sp  = fl->sp;
  const PetscInt   dim = sp->dim, P = rule->P, Q = rule->Q, nq = HopsPower(Q, dim);
  const PetscReal *M[3] = {rule->B, rule->B, rule->B};

  PetscFunctionBegin;
  HopsGatherCell(sp, c, &fl->hang, x, fl->xg, fl->u);
  PetscCall(HopsTensorApply(dim, Q, P, M, fl->u, fl->v, fl->work));
  for (PetscInt d = 0; d < dim; ++d) {
    M[d] = rule->D;
    PetscCall(HopsTensorApply(dim, Q, P, M, fl->u, fl->grad + d * nq, fl->work));
    M[d] = rule->B;
  }
  PetscCall(Geometry(fl, c, nq, geom));
  PetscCall(HopsCoefficientEvaluate(fl->kappa, sp, rule, c, 1, &fl->size[0], &fl->values[0], &fl->k));
  PetscCall(HopsCoefficientEvaluate(fl->mass, sp, rule, c, 1, &fl->size[1], &fl->values[1], &fl->m));
  for (PetscInt q = 0; q < nq; ++q) {
    const PetscReal *Ji   = fl->Ji + q * dim * dim;
    PetscReal        g[3] = {0.0};

    for (PetscInt j = 0; j < dim; ++j)
      for (PetscInt i = 0; i < dim; ++i) g[i] += Ji[j * dim + i] * fl->grad[j * nq + q];
    HopsMultiplyTensor(dim, fl->k.nc, fl->k.v + q * fl->k.pstride, g, fl->F + q * dim);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal HopsDiameter(PetscInt dim, PetscInt n, const PetscReal *const corner[])
{
  PetscReal most = 0.0;

  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt k = 0; k < i; ++k) {
      PetscReal s = 0.0;

      for (PetscInt d = 0; d < dim; ++d) s += PetscSqr(corner[i][d] - corner[k][d]);
      most = PetscMax(most, s);
    }
  return PetscSqrtReal(most);
}
