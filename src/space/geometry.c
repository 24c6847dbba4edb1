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
static PetscErrorCode HopsWork(size_t need, size_t *size, PetscReal **work)
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
                                                    PetscInt n, PetscReal w[])
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
                                                   PetscInt n, PetscReal w[])
{
  PetscReal *v;

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

/* one value a cell */
static PetscErrorCode HopsCoefficientEvaluateCells(HopsCoefficient cf, HopsSpace sp, PetscInt first, PetscInt n, PetscReal w[])
{
  PetscFunctionBegin;
  PetscCheck(cf->nvcells == sp->ncaller, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The cell coefficient has %" PetscInt_FMT " cells, the space %" PetscInt_FMT, cf->nvcells, sp->ncaller);
  for (PetscInt c = 0; c < n; ++c)
    for (PetscInt k = 0; k < cf->nc; ++k) w[c * cf->nc + k] = cf->values[(sp->cell[first + c] - sp->cstart) * cf->nc + k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* in the process's memory, by what works there */
static PetscErrorCode HopsCoefficientEvaluateProcess(HopsCoefficient cf, HopsSpace sp, const HopsBasis *basis, PetscInt first,
                                                     PetscInt n, size_t *size, PetscReal **work, HopsValues *val)
{
  const PetscInt np = cf && cf->evaluate ? HopsPower(basis->Q, sp->dim) : 1;

  PetscFunctionBegin;
  *val = (HopsValues){.nc = cf ? cf->nc : 0, .memtype = PETSC_MEMTYPE_HOST};
  if (cf && HopsCoefficientIsConstant(cf)) val->v = cf->values;
  if (!cf || val->v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsWork((size_t)n * np * cf->nc, size, work));
  if (!cf->evaluate) PetscCall(HopsCoefficientEvaluateCells(cf, sp, first, n, *work));
  else if (basis->limit) PetscCall(HopsCoefficientEvaluateLimit(cf, sp, basis, first, n, *work));
  else PetscCall(HopsCoefficientEvaluatePoints(cf, sp, basis, first, n, *work));
  for (PetscInt c = 0; c < n; ++c)
    for (PetscInt i = 0; i < np * cf->nc; ++i)
      PetscCheck(!PetscIsInfOrNanScalar((*work)[c * np * cf->nc + i]), PETSC_COMM_SELF, PETSC_ERR_FP,
                 "The %s coefficient is infinite or not-a-number in cell %" PetscInt_FMT
                 ": check the function or the array behind it",
                 cf->kind, sp->cell[first + c]);
  val->v       = *work;
  val->cstride = np * cf->nc;
  val->pstride = cf->evaluate ? cf->nc : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* where the space's back end works, if it can be done there */
static PetscErrorCode HopsCoefficientEvaluateBackend(HopsCoefficient cf, HopsSpace sp, const HopsBasis *basis, PetscInt first,
                                                     PetscInt n, HopsValuesWork *w, HopsValues *val, PetscBool *done)
{
  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (cf && cf->evaluateon && !basis->limit) PetscCall((*cf->evaluateon)(cf, sp, first, n, basis, w, val, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCoefficientEvaluateOn(HopsCoefficient cf, HopsSpace sp, const HopsBackendOps *be, const HopsBasis *basis,
                                         PetscInt first, PetscInt n, HopsValuesWork *w, HopsValues *val)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(HopsCoefficientEvaluateBackend(cf, sp, basis, first, n, w, val, &done));
  if (done && be != sp->backend) PetscCall(HopsValuesBring(w, n, val));
  if (!done) PetscCall(HopsCoefficientEvaluateProcess(cf, sp, basis, first, n, &w->size, &w->v, val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCoefficientEvaluate(HopsCoefficient cf, HopsSpace sp, const HopsBasis *basis, PetscInt first, PetscInt n,
                                       size_t *size, PetscReal **work, HopsValues *val)
{
  HopsValuesWork w = {.size = *size, .v = *work};
  PetscBool      done;

  PetscFunctionBegin;
  PetscCall(HopsCoefficientEvaluateBackend(cf, sp, basis, first, n, &w, val, &done));
  if (done) PetscCall(HopsValuesBring(&w, n, val));
  *size = w.size;
  *work = w.v;
  w.v   = NULL;
  PetscCall(HopsValuesWorkFree(&w));
  if (!done) PetscCall(HopsCoefficientEvaluateProcess(cf, sp, basis, first, n, size, work, val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------- values where they lie ----------------------------------- */

PetscErrorCode HopsValuesReserve(HopsValuesWork *w, const HopsBackendOps *be, size_t n)
{
  PetscFunctionBegin;
  if (n <= w->bsize) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*be->memory->PoolFree)((void **)&w->bv));
  PetscCall((*be->memory->PoolMalloc)(n * sizeof(PetscReal), (void **)&w->bv));
  w->backend = be;
  w->bsize   = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsValuesBring(HopsValuesWork *w, PetscInt n, HopsValues *val)
{
  const size_t size = (size_t)n * val->cstride;

  PetscFunctionBegin;
  PetscCall(HopsWork(size, &w->size, &w->v));
  if (size) PetscCall((*w->backend->memory->Copy)(NULL, w->v, val->v, size * sizeof(PetscReal), HOPS_COPY_OUT));
  val->v       = w->v;
  val->memtype = PETSC_MEMTYPE_HOST;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsValuesWorkFree(HopsValuesWork *w)
{
  PetscFunctionBegin;
  if (w->backend) PetscCall((*w->backend->memory->PoolFree)((void **)&w->bv));
  PetscCall(PetscFree(w->v));
  PetscCall(PetscMemzero(w, sizeof(*w)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int HopsCellIsIndefinite(PetscInt dim, PetscInt nq, const HopsValues *k, const PetscReal kv[], const HopsValues *m,
                                const PetscReal mv[])
{
  PetscReal size = 0.0;

  for (PetscInt q = 0; q < (k->pstride ? nq : 1); ++q) size = HopsPointSize(k->nc, kv + q * k->pstride, size);
  if (size > 0.0) {
    for (PetscInt q = 0; q < (k->pstride ? nq : 1); ++q)
      if (!HopsPointIsPositive(dim, k->nc, kv + q * k->pstride, 1e-12 * size)) return 1;
    return 0;
  }
  for (PetscInt q = 0; m && m->nc && q < (m->pstride ? nq : 1); ++q)
    if (PetscRealPart(mv[q * m->pstride]) > 0.0) return 0;
  return 1;
}

PetscErrorCode HopsValuesCount(const HopsBackendOps *be, HopsValuesTest test, PetscInt dim, PetscInt n, PetscInt nq,
                               const HopsValues *k, const HopsValues *m, PetscInt *count)
{
  const PetscBool same = !k->cstride && (!m || !m->nc || !m->cstride) ? PETSC_TRUE : PETSC_FALSE; /* all cells are as the first */

  PetscFunctionBegin;
  *count = 0;
  if (!k->nc || !n) PetscFunctionReturn(PETSC_SUCCESS);
  if (!PetscMemTypeHost(k->memtype) || (m && m->nc && !PetscMemTypeHost(m->memtype))) {
    PetscCall((*be->CountCells)(test, dim, n, nq, k, m, count));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt c = 0; c < (same ? 1 : n); ++c) {
    const PetscReal *kv = k->v + c * k->cstride;
    PetscReal        lo = PETSC_MAX_REAL, hi = PETSC_MIN_REAL;

    if (test == HOPS_INDEFINITE) *count += HopsCellIsIndefinite(dim, nq, k, kv, m, m && m->nc ? m->v + c * m->cstride : NULL);
    else {
      for (PetscInt q = 0; q < (k->pstride ? nq : 1); ++q) HopsPointRange(dim, k->nc, kv + q * k->pstride, &lo, &hi);
      *count += HopsCellIsNegative(test, lo, hi);
    }
  }
  if (same) *count *= n;
  PetscFunctionReturn(PETSC_SUCCESS);
}
