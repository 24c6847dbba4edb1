/* Coefficients on the next coarser level of a multigrid hierarchy. */
#include <hops/private/hopsmg.h>

/* The mean over the children */
static PetscErrorCode HopsCoarsenCell(HopsCoefficient cf, const HopsNested *n, HopsSpace coarse, HopsSpace fine, HopsCoefficient *out)
{
  const PetscInt nc = cf->nc, nchild = PetscPowInt(n->nhalf, n->dim);
  PetscScalar   *v;

  PetscFunctionBegin;
  PetscCheck(cf->nvcells == fine->ncaller, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "The cell coefficient has %" PetscInt_FMT " cells, the space %" PetscInt_FMT, cf->nvcells, fine->ncaller);
  PetscCall(PetscCalloc1(coarse->ncaller * nc, &v));
  for (PetscInt f = 0; f < n->nfine; ++f)
    for (PetscInt k = 0; k < nc; ++k) v[(coarse->cell[n->parent[f]] - coarse->cstart) * nc + k] += cf->values[(fine->cell[f] - fine->cstart) * nc + k] / nchild;
  PetscCall(HopsCoefficientCreateCell(coarse, nc, v, out));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The points of a coarse rule as the children see them: point q is in half h[q], at pts[at[q]] there. pts is symmetric about 0, so a
  child that runs backwards finds it at pts[npts - 1 - at[q]].
*/
static PetscErrorCode HopsChildPoints(const HopsNested *n, const HopsBasis *rule, PetscInt h[], PetscInt at[], PetscInt *npts, PetscReal pts[])
{
  PetscReal *y;
  PetscInt   m = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(rule->Q, &y));
  for (PetscInt q = 0; q < rule->Q; ++q) {
    h[q]     = HopsNestedHalf(n, rule->points[q], &y[q]);
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

/* The values of the children at the coarse rule's points, a run of fine cells at a time */
static PetscErrorCode HopsCoarsenSample(HopsCoefficient cf, const HopsNested *n, HopsSpace coarse, HopsSpace fine, PetscInt q_1d, HopsCoefficient *out)
{
  const PetscInt dim = n->dim, nq = PetscPowInt(q_1d, dim), nc = cf->nc;
  PetscInt      *h, *at, npts                                  = 0;
  PetscReal     *pts;
  HopsBasis      rule, basis;
  PetscScalar   *v, *work = NULL;
  size_t         size = 0;

  PetscFunctionBegin;
  PetscCall(HopsBasisCreate(2, q_1d, PETSC_FALSE, &rule));
  PetscCall(PetscMalloc3(q_1d, &h, q_1d, &at, 2 * q_1d, &pts));
  PetscCall(HopsChildPoints(n, &rule, h, at, &npts, pts));
  PetscCall(HopsBasisCreateAtPoints(fine->order + 1, npts, pts, &basis));
  PetscCall(PetscCalloc1(coarse->ncaller * nq * nc, &v));
  for (PetscInt first = 0; first < n->nfine; first += 64) {
    const PetscInt run = PetscMin(64, n->nfine - first);
    HopsValues     val;

    PetscCall(HopsCoefficientEvaluate(cf, fine, &basis, first, run, &size, &work, &val));
    for (PetscInt f = first; f < first + run; ++f)
      for (PetscInt q = 0; q < nq; ++q) {
        const PetscInt ijk[3] = {q % q_1d, (q / q_1d) % q_1d, q / (q_1d * q_1d)};
        PetscInt       i[3] = {0, 0, 0}, half = 0;

        for (PetscInt d = 0; d < dim; ++d) {
          const PetscInt a = n->axis[f * dim + d];

          half |= h[ijk[d]] << d;
          i[a & 3] = a & 4 ? npts - 1 - at[ijk[d]] : at[ijk[d]];
        }
        if (half != n->half[f]) continue;
        PetscCall(PetscArraycpy(v + ((coarse->cell[n->parent[f]] - coarse->cstart) * nq + q) * nc, val.v + (f - first) * val.cstride + (i[0] + npts * (i[1] + npts * i[2])) * val.pstride, nc));
      }
  }
  PetscCall(HopsCoefficientCreateQuadrature(coarse, nc, q_1d, v, out));
  PetscCall(PetscFree(v));
  PetscCall(PetscFree(work));
  PetscCall(PetscFree3(h, at, pts));
  PetscCall(HopsBasisDestroy(&rule));
  PetscCall(HopsBasisDestroy(&basis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Constants and functions serve every level, given values every order on the same mesh. On a coarser mesh, values by cell are averaged,
  and values at quadrature points are taken from the children at the coarse points; so are those of a PetscDS at its state, once.
*/
PetscErrorCode HopsCoefficientCoarsen(HopsCoefficient cf, const HopsNested *n, HopsSpace coarse, HopsSpace fine, PetscInt q_1d, HopsCoefficient *out)
{
  PetscFunctionBegin;
  *out = NULL;
  if (!cf) PetscFunctionReturn(PETSC_SUCCESS);
  if (cf->func || HopsCoefficientIsConstant(cf) || (n->same && (HopsCoefficientIsCell(cf) || cf->q_1d))) {
    PetscCall(HopsCoefficientReference(cf));
    *out = cf;
  } else if (HopsCoefficientIsCell(cf)) PetscCall(HopsCoarsenCell(cf, n, coarse, fine, out));
  else PetscCall(HopsCoarsenSample(cf, n, coarse, fine, q_1d, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}
