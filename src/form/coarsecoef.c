/* Coefficients on the next coarser level of a multigrid hierarchy. */
#include <hops/private/hopsnestedimpl.h>
#include <hops/private/hopsbackendimpl.h>

/* The mean over the children */
static PetscErrorCode HopsCoarsenCell(HopsCoefficient cf, const HopsNested *n, HopsSpace coarse, HopsSpace fine,
                                      HopsCoefficient *out)
{
  const PetscInt nc = cf->nc;
  PetscScalar   *v;
  HopsToParents  to;

  PetscFunctionBegin;
  PetscCheck(cf->nvcells == fine->ncaller, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The cell coefficient has %" PetscInt_FMT " cells, the space %" PetscInt_FMT, cf->nvcells, fine->ncaller);
  PetscCall(HopsToParentsCreate(n, coarse, &to));
  PetscCall(PetscCalloc1(to.n * nc, &v));
  for (PetscInt f = 0; f < n->nfine; ++f)
    for (PetscInt k = 0; k < nc; ++k)
      v[to.place[f] * nc + k] += cf->values[(fine->cell[f] - fine->cstart) * nc + k] / HopsPower(HopsNestedHalves(n, f), n->dim);
  PetscCall(HopsToParentsSum(&to, nc, &v));
  PetscCall(HopsToParentsDestroy(&to));
  PetscCall(HopsCoefficientCreateCell(coarse, nc, v, out));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Functions on a coarse mesh. In the middle of a coarse cell, where a rule of odd length has a point,
   children meet: there it is the mean of the values on their sides. ---- */

#define HOPS_FINER "HopsFinerCoefficient" /* the function on the finest mesh, which has what is compiled of it */

/* The points of a rule, point `mid` twice, once for each side; mid is Q where none is in the middle */
static PetscErrorCode HopsSidesCreate(const HopsBasis *basis, PetscInt *mid, HopsBasis *sides)
{
  const PetscInt Q = basis->Q;
  PetscReal     *pts;

  PetscFunctionBegin;
  *mid = Q % 2 && PetscAbsReal(basis->points[Q / 2]) < PETSC_SQRT_MACHINE_EPSILON ? Q / 2 : Q;
  PetscCall(PetscMalloc1(Q + 1, &pts));
  for (PetscInt s = 0; s < Q + 1; ++s) pts[s] = basis->points[PetscMin(Q - 1, s <= *mid ? s : s - 1)];
  if (*mid < Q) {
    pts[*mid + 1] = HOPS_BASIS_INSET * (Q > 1 ? basis->points[*mid + 1] : 1.0);
    pts[*mid]     = -pts[*mid + 1];
  }
  PetscCall(HopsBasisCreateAtPoints(basis->P, *mid < Q ? Q + 1 : Q, pts, sides));
  PetscCall(PetscFree(pts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* out[n][Q^dim][nc]: the means of v[n][S^dim][nc] over the sides */
static void HopsSidesMean(PetscInt dim, PetscInt Q, PetscInt mid, PetscInt n, PetscInt nc, const PetscReal v[], PetscReal out[])
{
  const PetscInt S = mid < Q ? Q + 1 : Q, nq = HopsPower(Q, dim), ns = HopsPower(S, dim);

  for (PetscInt i = 0; i < n * nq; ++i) {
    PetscInt stride = 1, at = i / nq * ns, step[3], m = 0;

    for (PetscInt d = 0, q = i % nq; d < dim; ++d, q /= Q, stride *= S) {
      at += stride * (q % Q <= mid ? q % Q : q % Q + 1);
      if (q % Q == mid) step[m++] = stride;
    }
    for (PetscInt k = 0; k < nc; ++k) out[i * nc + k] = 0.0;
    for (PetscInt side = 0; side < 1 << m; ++side) {
      PetscInt s = at;

      for (PetscInt d = 0; d < m; ++d) s += (side >> d) & 1 ? step[d] : 0;
      for (PetscInt k = 0; k < nc; ++k) out[i * nc + k] += v[s * nc + k] / (1 << m);
    }
  }
}

static PetscErrorCode HopsCoefficientEvaluate_Sides(HopsCoefficient cf, HopsSpace sp, PetscInt first, PetscInt n,
                                                    const HopsBasis *basis, const PetscReal x[], PetscReal out[])
{
  const PetscInt dim = sp->dim, nc = cf->nc;
  PetscInt       mid, ns;
  PetscReal     *y;
  PetscReal     *v;
  HopsBasis      sides, geom;

  PetscFunctionBegin;
  PetscCall(HopsSidesCreate(basis, &mid, &sides));
  ns = HopsPower(sides.Q, dim);
  PetscCall(PetscMalloc2(n * ns * dim, &y, n * ns * nc, &v));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &sides, &geom));
  PetscCall(HopsSpaceGetPoints(sp, &geom, first, n, y, NULL));
  for (PetscInt s = 0; s < n * ns; ++s) PetscCall(HopsEvaluateReal(cf->func, dim, y + s * dim, nc, v + s * nc, cf->ctx));
  HopsSidesMean(dim, basis->Q, mid, n, nc, v, out);
  PetscCall(HopsBasisDestroy(&sides));
  PetscCall(HopsBasisDestroy(&geom));
  PetscCall(PetscFree2(y, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same where the function on the finest mesh is compiled for the space's back end; the process takes the
   means, if there are any to take */
static PetscErrorCode HopsCoefficientEvaluateOn_Sides(HopsCoefficient cf, HopsSpace sp, PetscInt first, PetscInt n,
                                                      const HopsBasis *basis, HopsValuesWork *w, HopsValues *val, PetscBool *done)
{
  const HopsBackendOps *be   = sp->backend;
  const size_t          size = (size_t)n * HopsPower(basis->Q, sp->dim) * cf->nc;
  HopsCoefficient       finer;
  HopsBasis             sides;
  PetscInt              mid;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)cf, HOPS_FINER, (PetscObject *)&finer));
  PetscCall(HopsSidesCreate(basis, &mid, &sides));
  PetscCall((*finer->evaluateon)(finer, sp, first, n, &sides, w, val, done));
  PetscCall(HopsBasisDestroy(&sides));
  if (*done && mid < basis->Q && val->pstride) {
    PetscReal *mean;

    PetscCall(HopsValuesBring(w, n, val));
    PetscCall(PetscMalloc1(size, &mean));
    HopsSidesMean(sp->dim, basis->Q, mid, n, cf->nc, val->v, mean);
    PetscCall((*be->memory->Copy)(NULL, w->bv, mean, size * sizeof(*mean), HOPS_COPY_IN));
    PetscCall(PetscFree(mean));
    val->v       = w->bv;
    val->cstride = HopsPower(basis->Q, sp->dim) * cf->nc;
    val->memtype = be->memtype;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsCoarsenFunction(HopsCoefficient cf, HopsCoefficient *out)
{
  PetscFunctionBegin;
  PetscCall(HopsCoefficientCreateFunction(PetscObjectComm((PetscObject)cf), cf->nc, cf->func, cf->ctx, out));
  PetscCall(PetscObjectCompose((PetscObject)*out, HOPS_FINER, (PetscObject)cf));
  (*out)->needsx     = PETSC_FALSE;
  (*out)->evaluate   = HopsCoefficientEvaluate_Sides;
  (*out)->evaluateon = HopsCoefficientEvaluateOn_Sides;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The points of a coarse rule as the children see them: point q is in half h[q], at pts[at[q]] there. pts is
  symmetric about 0, so a child that runs backwards finds it at pts[npts - 1 - at[q]]. A point between two
  halves has h[q] = -1 and lies inside of the lower one, at pts[at[q]], and inside of the upper one, at
  pts[npts - 1 - at[q]].
*/
static PetscErrorCode HopsChildPoints(PetscInt nhalf, const HopsBasis *rule, PetscInt h[], PetscInt at[], PetscInt *npts,
                                      PetscReal pts[])
{
  PetscReal *y;
  PetscInt   m = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(rule->Q, &y));
  for (PetscInt q = 0; q < rule->Q; ++q) {
    h[q] = HopsNestedHalf(nhalf, rule->points[q], &y[q]);
    if (1.0 - PetscAbsReal(y[q]) < PETSC_SQRT_MACHINE_EPSILON) {
      y[q] = 1.0 - HOPS_BASIS_INSET;
      h[q] = -1;
    }
    pts[m++] = y[q];
    pts[m++] = -y[q];
  }
  PetscCall(PetscSortReal(m, pts));
  *npts = 0;
  for (PetscInt i = 0; i < m; ++i)
    if (!*npts || pts[i] - pts[*npts - 1] > 1e-10) pts[(*npts)++] = pts[i];
  for (PetscInt q = 0; q < rule->Q; ++q) {
    at[q] = 0;
    for (PetscInt i = 1; i < *npts; ++i)
      if (PetscAbsReal(pts[i] - y[q]) < PetscAbsReal(pts[at[q]] - y[q])) at[q] = i;
  }
  PetscCall(PetscFree(y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v: the values of those fine cells that are children, nhalf a direction, at the coarse rule's points, a run
   of cells at a time; place[] says where those of a cell's parent are */
static PetscErrorCode HopsSampleChildren(HopsCoefficient cf, const HopsNested *n, PetscInt nhalf, const PetscInt place[],
                                         HopsSpace fine, PetscInt q_1d, PetscScalar v[])
{
  const PetscInt dim = n->dim, nq = HopsPower(q_1d, dim), nc = cf->nc;
  PetscInt      *h, *at, npts                                = 0;
  PetscReal     *pts;
  HopsBasis      rule, basis;
  PetscReal     *work = NULL;
  size_t         size = 0;

  PetscFunctionBegin;
  PetscCall(HopsBasisCreate(2, q_1d, PETSC_FALSE, &rule));
  PetscCall(PetscMalloc3(q_1d, &h, q_1d, &at, 2 * q_1d, &pts));
  PetscCall(HopsChildPoints(nhalf, &rule, h, at, &npts, pts));
  PetscCall(HopsBasisCreateAtPoints(fine->order + 1, npts, pts, &basis));
  for (PetscInt first = 0; first < n->nfine; first += 64) {
    const PetscInt run = PetscMin(64, n->nfine - first);
    HopsValues     val;

    PetscCall(HopsCoefficientEvaluate(cf, fine, &basis, first, run, &size, &work, &val));
    for (PetscInt f = first; f < first + run; ++f)
      for (PetscInt q = 0; q < nq; ++q) {
        const PetscInt ijk[3] = {q % q_1d, (q / q_1d) % q_1d, q / (q_1d * q_1d)};
        PetscInt       i[3] = {0, 0, 0}, half = 0, nsides = 1;

        for (PetscInt d = 0; d < dim; ++d) {
          const PetscInt a = n->axis[f * dim + d], mine = (n->half[f] >> d) & 1, between = h[ijk[d]] < 0;
          const PetscInt k = between && mine ? npts - 1 - at[ijk[d]] : at[ijk[d]];

          half |= (between ? mine : h[ijk[d]]) << d;
          i[a & 3] = a & 4 ? npts - 1 - k : k;
          if (between) nsides *= 2;
        }
        if (half != n->half[f] || HopsNestedHalves(n, f) != nhalf) continue;
        {
          const PetscReal *from = val.v + (f - first) * val.cstride + (i[0] + npts * (i[1] + npts * i[2])) * val.pstride;
          PetscScalar     *to   = v + (place[f] * nq + q) * nc;

          for (PetscInt k = 0; k < nc; ++k) to[k] += from[k] / nsides;
        }
      }
  }
  PetscCall(PetscFree(work));
  PetscCall(PetscFree3(h, at, pts));
  PetscCall(HopsBasisDestroy(&rule));
  PetscCall(HopsBasisDestroy(&basis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v[n][q_1d^dim][nc], x fastest, as the caller of a turned space counts directions */
static PetscErrorCode HopsTurnSamples(HopsSpace sp, PetscInt n, PetscInt q_1d, PetscInt nc, PetscScalar v[])
{
  const PetscInt nq = HopsPower(q_1d, sp->dim);

  PetscFunctionBegin;
  if (!sp->turned) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < n * nq; ++i) {
    const PetscInt q = i % nq, a = q % q_1d, b = q / q_1d % q_1d, j = i + (a - b) * (q_1d - 1);

    for (PetscInt k = 0; a < b && k < nc; ++k) {
      const PetscScalar t = v[i * nc + k];

      v[i * nc + k] = v[j * nc + k];
      v[j * nc + k] = t;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where cells were refined and others kept, of both */
static PetscErrorCode HopsCoarsenSample(HopsCoefficient cf, const HopsNested *n, HopsSpace coarse, HopsSpace fine, PetscInt q_1d,
                                        HopsCoefficient *out)
{
  const PetscInt size = HopsPower(q_1d, n->dim) * cf->nc;
  PetscScalar   *v;
  HopsToParents  to;

  PetscFunctionBegin;
  PetscCall(HopsToParentsCreate(n, coarse, &to));
  PetscCall(HopsCheckInt("values at the points of coarse cells", (PetscInt64)PetscMax(to.n, coarse->ncaller) * size));
  PetscCall(PetscCalloc1(to.n * size, &v));
  PetscCall(HopsSampleChildren(cf, n, n->nhalf, to.place, fine, q_1d, v));
  if (n->given) PetscCall(HopsSampleChildren(cf, n, 1, to.place, fine, q_1d, v));
  PetscCall(HopsToParentsSum(&to, size, &v));
  PetscCall(HopsToParentsDestroy(&to));
  PetscCall(HopsTurnSamples(coarse, coarse->ncaller, q_1d, cf->nc, v));
  PetscCall(HopsCoefficientCreateQuadrature(coarse, cf->nc, q_1d, v, out));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Constants serve every level, functions and given values every order on the same mesh. On a coarser mesh
  functions are evaluated on both sides where children meet, values by cell are averaged, and values at
  quadrature points are taken from the children at the coarse points; so are those of a PetscDS at its state,
  once.
*/
PetscErrorCode HopsCoefficientCoarsen(HopsCoefficient cf, const HopsNested *n, HopsSpace coarse, HopsSpace fine, PetscInt q_1d,
                                      HopsCoefficient *out)
{
  PetscFunctionBegin;
  *out = NULL;
  if (!cf) PetscFunctionReturn(PETSC_SUCCESS);
  if (cf->evaluate == HopsCoefficientEvaluate_Sides || HopsCoefficientIsConstant(cf) ||
      (n->same && (cf->func || HopsCoefficientIsCell(cf) || cf->q_1d))) {
    PetscCall(HopsCoefficientReference(cf));
    *out = cf;
  } else if (cf->func) PetscCall(HopsCoarsenFunction(cf, out));
  else if (HopsCoefficientIsCell(cf)) PetscCall(HopsCoarsenCell(cf, n, coarse, fine, out));
  else PetscCall(HopsCoarsenSample(cf, n, coarse, fine, q_1d, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}
