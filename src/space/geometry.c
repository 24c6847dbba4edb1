/* Element maps: physical points and Jacobians at tensor-product points, by sum factorisation, one cell at a
   time. */
#include <hops/private/hopsimpl.h>

PetscErrorCode HopsSpaceGetPoints(HopsSpace sp, const HopsBasis *geom, PetscInt first, PetscInt n, PetscReal x[], PetscReal J[])
{
  const PetscInt dim = sp->dim, P = geom->P, Q = geom->Q;
  const PetscInt np = HopsPower(P, dim), nq = HopsPower(Q, dim);
  PetscReal     *work, *t;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringCoordinates(sp));
  PetscCall(PetscMalloc2(2 * HopsPower(PetscMax(P, Q), dim), &work, nq, &t));
  for (PetscInt c = 0; c < n; ++c)
    for (PetscInt d = 0; d < dim; ++d) {
      const PetscReal *X = sp->X + ((first + c) * dim + d) * np;
      const PetscReal *M[3];

      if (x) {
        for (PetscInt e = 0; e < dim; ++e) M[e] = geom->B;
        PetscCall(HopsTensorApply(dim, Q, P, M, X, t, work));
        for (PetscInt q = 0; q < nq; ++q) x[(c * nq + q) * dim + d] = t[q];
      }
      for (PetscInt j = 0; J && j < dim; ++j) {
        for (PetscInt e = 0; e < dim; ++e) M[e] = e == j ? geom->D : geom->B;
        PetscCall(HopsTensorApply(dim, Q, P, M, X, t, work));
        for (PetscInt q = 0; q < nq; ++q) J[((c * nq + q) * dim + d) * dim + j] = t[q];
      }
    }
  PetscCall(PetscFree2(work, t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The error for a cell whose map is not orientation preserving */
PetscErrorCode HopsSpaceErrorCell(HopsSpace sp, PetscInt c, PetscReal det)
{
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
          "The map of cell %" PetscInt_FMT
          " has Jacobian determinant %g at one of its points: the cell is inverted, degenerate or has invalid coordinates; repair "
          "the mesh (for Gmsh meshes, optimise the high-order elements; a periodic direction of a DMPlex needs three cells)",
          sp->cell[c], (double)det);
}

/* Room for the values of `n` cells at nq points */
static PetscErrorCode HopsWork(size_t need, size_t *size, PetscScalar **work)
{
  PetscFunctionBegin;
  if (*size < need) {
    PetscCall(PetscFree(*work));
    PetscCall(PetscMalloc1(need, work));
    *size = need;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* values at the points of basis, w[n][Q^dim][nc] */
static PetscErrorCode HopsCoefficientEvaluatePoints(HopsCoefficient cf, HopsSpace sp, const HopsBasis *basis, PetscInt first,
                                                    PetscInt n, PetscScalar w[])
{
  const PetscInt nq = HopsPower(basis->Q, sp->dim);
  PetscReal     *x;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n * nq * sp->dim, &x));
  if (cf->needsx) {
    HopsBasis geom;

    PetscCall(HopsSpaceCreateGeometryBasis(sp, basis, &geom));
    PetscCall(HopsSpaceGetPoints(sp, &geom, first, n, x, NULL));
    PetscCall(HopsBasisDestroy(&geom));
  }
  PetscCall((*cf->evaluate)(cf, sp, first, n, basis, x, w));
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the same where values at points on faces are limits from inside of the cell */
static PetscErrorCode HopsCoefficientEvaluateLimit(HopsCoefficient cf, HopsSpace sp, const HopsBasis *basis, PetscInt first,
                                                   PetscInt n, PetscScalar w[])
{
  PetscScalar *v;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)n * HopsPower(basis->Q, sp->dim) * cf->nc, &v));
  for (PetscInt k = 0; k < HOPS_LIMIT_POINTS; ++k) {
    HopsBasis at;

    PetscCall(HopsBasisCreateLimit(basis, k, &at));
    PetscCall(HopsCoefficientEvaluatePoints(cf, sp, &at, first, n, v));
    PetscCall(HopsBasisAddLimit(basis, k, sp->dim, n, cf->nc, v, w));
    PetscCall(HopsBasisDestroy(&at));
  }
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCoefficientEvaluate(HopsCoefficient cf, HopsSpace sp, const HopsBasis *basis, PetscInt first, PetscInt n,
                                       size_t *size, PetscScalar **work, HopsValues *val)
{
  const PetscInt nq = HopsPower(basis->Q, sp->dim);

  PetscFunctionBegin;
  val->nc      = cf ? cf->nc : 0;
  val->cstride = val->pstride = 0;
  val->v                      = NULL;
  if (!cf) PetscFunctionReturn(PETSC_SUCCESS);
  if (cf->values && !cf->nvcells) { /* constant */
    val->v = cf->values;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!cf->evaluate) { /* one value a cell */
    PetscCheck(cf->nvcells == sp->ncaller, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
               "The cell coefficient has %" PetscInt_FMT " cells, the space %" PetscInt_FMT, cf->nvcells, sp->ncaller);
    PetscCall(HopsWork((size_t)n * cf->nc, size, work));
    for (PetscInt c = 0; c < n; ++c)
      for (PetscInt k = 0; k < cf->nc; ++k) {
        (*work)[c * cf->nc + k] = cf->values[(sp->cell[first + c] - sp->cstart) * cf->nc + k];
        PetscCheck(!PetscIsInfOrNanScalar((*work)[c * cf->nc + k]), PETSC_COMM_SELF, PETSC_ERR_FP,
                   "The %s coefficient is infinite or not-a-number in cell %" PetscInt_FMT
                   ": check the function or the array behind it",
                   cf->kind, sp->cell[first + c]);
      }
    val->v       = *work;
    val->cstride = cf->nc;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsWork((size_t)n * nq * cf->nc, size, work));
  val->v       = *work;
  val->cstride = cf->nc;
  if (cf->evaluatecells && !basis->limit) {
    PetscBool done;

    PetscCall((*cf->evaluatecells)(cf, sp, first, n, basis, *work, &done));
    if (done) PetscFunctionReturn(PETSC_SUCCESS);
  }
  {
    PetscScalar *w = *work;

    if (basis->limit) PetscCall(HopsCoefficientEvaluateLimit(cf, sp, basis, first, n, w));
    else PetscCall(HopsCoefficientEvaluatePoints(cf, sp, basis, first, n, w));
    for (PetscInt c = 0; c < n; ++c)
      for (PetscInt i = 0; i < nq * cf->nc; ++i)
        PetscCheck(!PetscIsInfOrNanScalar(w[c * nq * cf->nc + i]), PETSC_COMM_SELF, PETSC_ERR_FP,
                   "The %s coefficient is infinite or not-a-number in cell %" PetscInt_FMT
                   ": check the function or the array behind it",
                   cf->kind, sp->cell[first + c]);
  }
  val->cstride = nq * cf->nc;
  val->pstride = cf->nc;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is K + shift I positive definite? By the pivots of Gaussian elimination */
static PetscBool IsPositive(PetscInt dim, PetscInt nc, const PetscScalar k[], PetscReal shift)
{
  PetscReal K[9] = {0.0};

  if (nc <= dim) {
    for (PetscInt i = 0; i < nc; ++i)
      if (!(PetscRealPart(k[i]) + shift > 0.0)) return PETSC_FALSE;
    return PETSC_TRUE;
  }
  for (PetscInt i = 0, t = 0; i < dim; ++i)
    for (PetscInt j = i; j < dim; ++j, ++t) K[i * dim + j] = K[j * dim + i] = PetscRealPart(k[t]) + (i == j ? shift : 0.0);
  for (PetscInt p = 0; p < dim; ++p) {
    if (!(K[p * dim + p] > 0.0)) return PETSC_FALSE;
    for (PetscInt i = p + 1; i < dim; ++i)
      for (PetscInt j = p + 1; j < dim; ++j) K[i * dim + j] -= K[i * dim + p] * K[p * dim + j] / K[p * dim + p];
  }
  return PETSC_TRUE;
}

/* Negative in a direction somewhere (beyond rounding error), or zero all over a cell without a positive mass;
   a zero at single points does no harm */
PetscInt HopsValuesCountIndefinite(PetscInt dim, PetscInt n, PetscInt nq, const HopsValues *k, const HopsValues *m)
{
  const PetscBool same  = !k->cstride && (!m->nc || !m->cstride) ? PETSC_TRUE : PETSC_FALSE; /* all cells are as the first */
  PetscInt        count = 0;

  if (!k->nc || !n) return 0;
  for (PetscInt c = 0; c < (same ? 1 : n); ++c) {
    const PetscInt kq = k->pstride ? nq : 1, mq = m->pstride ? nq : 1;
    PetscReal      size     = 0.0;
    PetscBool      positive = PETSC_FALSE;

    for (PetscInt q = 0; q < kq; ++q)
      for (PetscInt i = 0; i < k->nc; ++i) size = PetscMax(size, PetscAbsScalar(k->v[c * k->cstride + q * k->pstride + i]));
    if (size > 0.0) {
      positive = PETSC_TRUE;
      for (PetscInt q = 0; q < kq && positive; ++q)
        positive = IsPositive(dim, k->nc, k->v + c * k->cstride + q * k->pstride, 1e-12 * size);
    } else
      for (PetscInt q = 0; m->nc && q < mq && !positive; ++q)
        positive = PetscRealPart(m->v[c * m->cstride + q * m->pstride]) > 0.0 ? PETSC_TRUE : PETSC_FALSE;
    if (!positive) ++count;
  }
  return same ? n * count : count;
}
