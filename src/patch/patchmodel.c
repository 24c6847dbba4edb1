/* The separable model of the form on each cell: means of metric and reaction, and how far the points are from
   them. */
#include <hops/private/hopspatchimpl.h>
#include <hops/private/hopsmatimpl.h>

/* What no patch can have */
static PetscErrorCode CheckModels(const HopsPatchCells *pc, char why[])
{
  const PetscBool      deriv = HopsFormDerivative(pc->form) ? PETSC_TRUE : PETSC_FALSE;
  const HopsPatchCell *d = pc->data, *const end = d + pc->nown;
  PetscInt cell;

  PetscFunctionBegin;
  while (d < end && !(d->mlo < 0.0) && (deriv ? d->lo > 0.0 : d->m > 0.0)) ++d;
  if (d == end) PetscFunctionReturn(PETSC_SUCCESS);
  cell = pc->space->cell[d - pc->data];
  if (d->mlo < 0.0)
    PetscCall(HopsRefuse(why,
                         "The reaction coefficient is negative in cell %" PetscInt_FMT
                         ": patch smoothers need a form that is positive on every patch; precondition the form without that term "
                         "(PCPATCHFDSetCoefficients())",
                         cell));
  else if (deriv)
    PetscCall(HopsRefuse(why,
                         "The diffusion coefficient is zero, negative or indefinite in cell %" PetscInt_FMT
                         ": patch smoothers need a form that is positive on every patch; use another PC (-pc_type lor), or give "
                         "positive coefficients (PCPATCHFDSetCoefficients())",
                         cell));
  else
    PetscCall(HopsRefuse(why,
                         "The form is zero on cell %" PetscInt_FMT
                         ": patch smoothers need a form that is positive on every patch; give positive coefficients",
                         cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------- on the host ----------------------------------- */

/* The quadrature data of cell c of a run, as operators have them: q[comp][nq] */
static PetscErrorCode CellPoints(const HopsPatchCells *pc, PetscInt cell, const HopsPatchPoints *pts, const HopsValues *k,
                                 const HopsValues *m, PetscInt c, const PetscReal J[], PetscReal q[])
{
  const PetscInt dim = pts->dim, nq = pts->nq, nm = HopsPatchMetricSize(pts);

  PetscFunctionBegin;
  for (PetscInt i = 0; i < nq; ++i) {
    const PetscReal *kappa = k->nc ? k->v + c * k->cstride + i * k->pstride : NULL;
    const PetscReal  w     = HopsPatchWeight(pts, (int)i);
    PetscReal        Ji[9], KJ[9], det = HopsInverse(dim, J + (c * nq + i) * dim * dim, Ji);

    if (!(det > 0)) PetscCall(HopsSpaceErrorCell(pc->space, cell, det));
    for (PetscInt a = 0; a < dim && k->nc; ++a) /* rows of J^-1 kappa */
      for (PetscInt j = 0; j < dim; ++j) {
        PetscReal s = 0.0;

        if (k->nc == 1) s = Ji[a * dim + j] * kappa[0];
        else if (k->nc == dim) s = Ji[a * dim + j] * kappa[j];
        else
          for (PetscInt l = 0; l < dim; ++l) {
            const PetscInt r = PetscMin(l, j), t = PetscMax(l, j);

            s += Ji[a * dim + l] * kappa[r * dim - r * (r - 1) / 2 + t - r];
          }
        KJ[a * dim + j] = s;
      }
    for (PetscInt a = 0, t = 0; a < dim && k->nc; ++a)
      for (PetscInt b = a; b < dim; ++b, ++t) {
        PetscReal s = 0.0;

        for (PetscInt j = 0; j < dim; ++j) s += KJ[a * dim + j] * Ji[b * dim + j];
        q[t * nq + i] = w * det * s;
      }
    if (m->nc) q[nm * nq + i] = w * det * m->v[c * m->cstride + i * m->pstride];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the map of a cell affine? Then its Jacobian is that at any point */
static PetscBool CellIsAffine(HopsSpace sp, const PetscReal gll[], PetscInt c)
{
  const PetscInt dim = sp->dim, n = sp->gorder + 1, nx = HopsPower(n, dim), stride[3] = {n - 1, n * (n - 1), n * n * (n - 1)};

  for (PetscInt i = 0; i < dim; ++i) {
    const PetscReal *X    = sp->X + (c * dim + i) * nx;
    PetscReal        size = 0.0;

    for (PetscInt d = 0; d < dim; ++d) size += PetscAbsReal(X[stride[d]] - X[0]);
    for (PetscInt k = 0; k < nx; ++k) {
      PetscReal x = X[0];

      for (PetscInt d = 0, r = k; d < dim; ++d, r /= n) x += 0.5 * (gll[r % n] + 1.0) * (X[stride[d]] - X[0]);
      if (PetscAbsReal(x - X[k]) > 1e-13 * (size + PetscAbsReal(X[0]))) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

static PetscBool IsCellwise(HopsCoefficient c)
{
  return !c || (c->values && !c->q_1d) ? PETSC_TRUE : PETSC_FALSE;
}

static HopsPatchPoints Points(const HopsPatchCells *pc, const HopsBasis *b)
{
  HopsPatchPoints p = {.dim        = (int)pc->space->dim,
                       .Q          = (int)b->Q,
                       .nq         = (int)HopsPower(b->Q, pc->space->dim),
                       .derivative = HopsFormDerivative(pc->form) ? 1 : 0,
                       .mass       = HopsFormValue(pc->form) ? 1 : 0,
                       .w          = b->weights};

  return p;
}

/* Runs of cells that are affine with coefficients constant on each take one point, others those of the
   operator's rule */
static PetscErrorCode HostModels(HopsPatchCells *pc, const HopsBasis *one, PetscBool cellwise, PetscBool affine)
{
  HopsSpace       sp       = pc->space;
  const PetscInt  dim      = sp->dim;
  HopsBasis       basis[2] = {*pc->basis, *one}, geom[2];
  HopsPatchPoints pts[2];
  size_t          ks = 0, ms = 0;
  PetscReal      *kw = NULL, *mw = NULL;
  PetscReal      *J[2], *q, *gll, *w;
  PetscInt        chunk[2];

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(sp->gorder + 1, &gll, sp->gorder + 1, &w));
  PetscCall(HopsGLL(sp->gorder + 1, gll, w));
  for (PetscInt b = 0; b < 2; ++b) {
    pts[b]   = Points(pc, &basis[b]);
    chunk[b] = PetscMax(1, 65536 / pts[b].nq);
    PetscCall(HopsSpaceCreateGeometryBasis(sp, &basis[b], &geom[b]));
    PetscCall(PetscMalloc1(chunk[b] * pts[b].nq * dim * dim, &J[b]));
  }
  PetscCall(PetscMalloc1(7 * pts[0].nq, &q));
  for (PetscInt first = 0, n; first < sp->ncells; first += n) {
    const PetscInt b = cellwise && (affine || CellIsAffine(sp, gll, first)) ? 1 : 0;
    HopsValues     k, m;

    for (n = 1; n < chunk[b] && first + n < sp->ncells; ++n)
      if ((cellwise && (affine || CellIsAffine(sp, gll, first + n)) ? 1 : 0) != b) break;
    PetscCall(HopsSpaceGetPoints(sp, &geom[b], first, n, NULL, J[b]));
    PetscCall(HopsCoefficientEvaluate(HopsFormDerivative(pc->form), sp, &basis[b], first, n, &ks, &kw, &k));
    PetscCall(HopsCoefficientEvaluate(HopsFormValue(pc->form), sp, &basis[b], first, n, &ms, &mw, &m));
    for (PetscInt c = 0; c < n; ++c) {
      PetscReal sum[5] = {0.0};

      PetscCall(CellPoints(pc, first + c, &pts[b], &k, &m, c, J[b], q));
      HopsPatchModelSums(&pts[b], q, 0, 1, sum);
      HopsPatchModelMeans(&pts[b], sum, pc->data + first + c);
      HopsPatchModelExtremes(&pts[b], q, 0, 1, pc->data + first + c);
    }
  }
  PetscCall(PetscFree(q));
  PetscCall(PetscFree2(gll, w));
  for (PetscInt b = 0; b < 2; ++b) {
    PetscCall(PetscFree(J[b]));
    PetscCall(HopsBasisDestroy(&geom[b]));
  }
  PetscCall(PetscFree(kw));
  PetscCall(PetscFree(mw));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Robin terms: face means, by the operator's quadrature on the face */
static PetscErrorCode CellRobin(HopsPatchCells *pc, char why[])
{
  HopsSpace           sp = pc->space;
  const PetscInt      fd = sp->dim - 1, Q = pc->basis->Q, nq = HopsPower(Q, fd);
  const HopsIntegral *in;

  PetscFunctionBegin;
  for (PetscInt i = 0; (in = HopsFormNext(pc->form, HOPS_BOUNDARY, &i));) {
    const HopsFacets r = in->facets;
    PetscReal       *a;

    PetscCall(PetscMalloc1(r->n * nq, &a));
    PetscCall(HopsFaceEvaluate(sp, pc->basis, r->n, r->cells, r->faces, in->coefficient, a));
    for (PetscInt f = 0; f < r->n; ++f) {
      PetscReal s = 0.0, total = 0.0;

      for (PetscInt q = 0; q < nq; ++q) {
        PetscReal w = 1.0;

        for (PetscInt e = 0, qq = q; e < fd; ++e, qq /= Q) w *= pc->basis->weights[qq % Q];
        total += w;
        s += w * a[f * nq + q];
        if (!(a[f * nq + q] >= 0.0))
          PetscCall(HopsRefuse(why,
                               "The Robin coefficient is negative on a face of cell %" PetscInt_FMT
                               ": patch smoothers need a form that is positive on every patch; use another PC (-pc_type lor)",
                               sp->cell[r->cells[f]]));
      }
      pc->data[r->cells[f]].robin[r->faces[f]] += s / total;
    }
    PetscCall(PetscFree(a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --------------------------------- on the back end --------------------------------- */

/* An operator of the form whose quadrature data are stored */
PetscErrorCode HopsPatchCellsOperator(const HopsPatchCells *pc, const HopsBasis *basis, HopsOperator *A)
{
  HopsSpace      sp    = pc->space;
  const PetscInt chunk = PetscMax(64, sp->backend->runpoints / HopsPower(basis->Q, sp->dim));
  HopsValuesWork w[2]  = {{0}, {0}};

  PetscFunctionBegin;
  PetscCall((*sp->backend->OperatorCreate)(pc->form, basis, A));
  for (PetscInt c = 0, n; c < sp->ncells; c += n) {
    HopsValues k, m;
    PetscInt   bad;
    PetscReal  det;

    n = PetscMin(chunk, (c < sp->ninterior ? sp->ninterior : sp->ncells) - c); /* a run is within one part */
    PetscCall(HopsCoefficientEvaluateOn(HopsFormDerivative(pc->form), sp, sp->backend, basis, c, n, &w[0], &k));
    PetscCall(HopsCoefficientEvaluateOn(HopsFormValue(pc->form), sp, sp->backend, basis, c, n, &w[1], &m));
    PetscCall((*(*A)->ops->SetUp)(*A, c, n, &k, &m, &bad, &det));
    if (bad >= 0) PetscCall(HopsSpaceErrorCell(sp, bad, det));
  }
  for (PetscInt i = 0; i < 2; ++i) PetscCall(HopsValuesWorkFree(&w[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Models of this rank's cells. On the back end, where it can: there the operator's data serve element
   matrices too, if they are those of its own rule */
PetscErrorCode HopsPatchCellsModel(HopsPatchCells *pc)
{
  HopsSpace       sp = pc->space;
  const PetscBool cellwise =
    IsCellwise(HopsFormDerivative(pc->form)) && IsCellwise(HopsFormValue(pc->form)) ? PETSC_TRUE : PETSC_FALSE;
  char        why[HOPS_WHY_LENGTH] = "";
  HopsMapKind kind;
  HopsBasis   one;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsPatchEvent.model, 0, 0, 0, 0));
  PetscCall(HopsSpaceGetMapKind(sp, &kind));
  PetscCall(HopsBasisCreate(sp->order + 1, 1, PETSC_FALSE, &one));
  if (!sp->backend->patches) PetscCall(HostModels(pc, &one, cellwise, kind == HOPS_MAP_AFFINE ? PETSC_TRUE : PETSC_FALSE));
  else {
    const PetscBool few = cellwise && kind == HOPS_MAP_AFFINE ? PETSC_TRUE : PETSC_FALSE;
    HopsOperator    A;

    PetscCall(HopsPatchCellsOperator(pc, few ? &one : pc->basis, &A));
    PetscCall((*sp->backend->patches->Models)(A, pc->data));
    if (few) PetscCall((*A->ops->Destroy)(&A));
    else pc->op = A;
  }
  PetscCall(HopsBasisDestroy(&one));
  PetscCall(CheckModels(pc, why));
  PetscCall(CellRobin(pc, why));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)sp), PETSC_ERR_ARG_OUTOFRANGE, why));
  PetscCall(PetscLogEventEnd(HopsPatchEvent.model, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
