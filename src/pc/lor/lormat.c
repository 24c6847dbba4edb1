/* The low-order-refined matrix: life cycle, couplings and numeric phase. */
#include <hops/private/hopslorimpl.h>

PetscErrorCode HopsLORCreate(HopsSpace sp, HopsLOR *lor)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(lor, sizeof(*lor)));
  PetscCall(HopsSpaceReference(sp));
  lor->space = sp;
  PetscCall(HopsBasisCreate(sp->order + 1, sp->order + 1, PETSC_TRUE, &lor->gll));
  PetscCall(HopsBasisCreateInside(&lor->gll, HOPS_BASIS_INSET, &lor->inner));
  PetscCall(PetscCalloc1(sp->ncells, &lor->mask));
  PetscCall(PetscCalloc1(sp->ncells, &lor->start));
  PetscCheck(sp->backend->LORCreate, PetscObjectComm((PetscObject)sp), PETSC_ERR_SUP,
             "The back end %s has no low-order-refined matrices: use -hops_backend host", sp->backend->name);
  if (sp->family == HOPS_H1 || sp->backend->rows)
    PetscCall((*sp->backend->LORCreate)(sp, &lor->gll, PETSC_TRUE, PETSC_TRUE, &lor->kernel));
  else PetscCall(PetscCalloc1(8, &lor->element)); /* the kernel comes with the form's terms */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORSetPoints(HopsLOR *lor, HopsLORPoints points)
{
  PetscFunctionBegin;
  PetscCall(HopsBasisDestroy(&lor->inner));
  if (points == HOPS_LOR_INSIDE) PetscCall(HopsBasisCreateInside(&lor->gll, HOPS_BASIS_INSET, &lor->inner));
  else PetscCall(HopsBasisCreate(lor->gll.P, lor->gll.Q, PETSC_TRUE, &lor->inner));
  lor->inner.limit = points == HOPS_LOR_LIMITS ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORDestroyPattern(HopsLOR *lor)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&lor->mat));
  PetscCall(HopsLORExchangeDestroy(&lor->exchange));
  PetscCall(PetscFree(lor->pos));
  PetscCall(PetscFree(lor->diag));
  PetscCall(PetscFree(lor->rpos));
  PetscCall(PetscFree(lor->rvals));
  PetscCall(HopsLORDeviceDestroyPattern(lor));
  lor->vals = NULL; /* the Mat's */
  lor->di = lor->dj = lor->oi = lor->oj = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORDestroy(HopsLOR *lor)
{
  PetscFunctionBegin;
  if (!lor->space) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsLORDestroyPattern(lor));
  PetscCall(HopsLORDeviceDestroy(lor));
  PetscCall(HopsLORLumpReset(lor));
  PetscCall(PetscFree(lor->element));
  PetscCall(PetscFree(lor->mask));
  PetscCall(PetscFree(lor->start));
  PetscCall(HopsBasisDestroy(&lor->gll));
  PetscCall(HopsBasisDestroy(&lor->inner));
  PetscCall(HopsSpaceDestroy(&lor->space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Couplings of a run of cells, but for rounding errors. Where the off-diagonal factors of a cell are all below
  droptol the cell keeps none of them: what is left is the diagonal of a positive definite tensor at each
  node, so the matrix stays definite, and the tensor lies between 1 - (dim - 1) droptol and 1 + (dim - 1)
  droptol times it. Dropping single pairs could leave an indefinite one.
*/
static PetscErrorCode HopsLORRunCouplings(HopsLOR *lor, PetscInt c, PetscInt n, const HopsValues *kappa, unsigned char mask[])
{
  const HopsValues none = {0, 0, 0, NULL};
  HopsSpace        sp   = lor->space;
  unsigned char    large[HOPS_LOR_CHUNK];
  PetscInt         bad;
  PetscReal        det;

  PetscFunctionBegin;
  PetscCall((*lor->kernel->ops->Couplings)(lor->kernel, c, n, kappa, &none, HOPS_LOR_TOL, mask, &bad, &det));
  if (bad >= 0) PetscCall(HopsSpaceErrorCell(sp, bad, det));
  if (lor->droptol <= HOPS_LOR_TOL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscArrayzero(large, n));
  PetscCall((*lor->kernel->ops->Couplings)(lor->kernel, c, n, kappa, &none, lor->droptol, large, &bad, &det));
  for (PetscInt i = 0; i < n; ++i)
    if (!large[i]) mask[i] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORCheckCouplings(HopsLOR *lor, HopsForm form, PetscBool *fits)
{
  HopsSpace      sp   = lor->space;
  size_t         size = 0;
  PetscScalar   *work = NULL;
  unsigned char *mask;
  PetscBool      ok = lor->mat ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(sp->ncells, &mask));
  if (lor->element) PetscCall(HopsLORLumpCouplings(lor, form, mask, &ok));
  for (PetscInt c = 0; c < sp->ncells && HopsFormDerivative(form) && !lor->element; c += HOPS_LOR_CHUNK) {
    const PetscInt n = PetscMin(HOPS_LOR_CHUNK, sp->ncells - c);
    HopsValues     k;

    PetscCall(HopsCoefficientEvaluate(HopsFormDerivative(form), sp, &lor->inner, c, n, &size, &work, &k));
    PetscCall(HopsLORRunCouplings(lor, c, n, &k, mask + c));
  }
  PetscCall(PetscFree(work));
  for (PetscInt c = 0; c < sp->ncells; ++c)
    if (mask[c] & ~lor->mask[c]) ok = PETSC_FALSE;
  PetscCall(MPIU_Allreduce(&ok, fits, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)sp)));
  if (!*fits) {
    PetscCall(PetscArraycpy(lor->mask, mask, sp->ncells));
    PetscCall(HopsLORDestroyPattern(lor));
  }
  PetscCall(PetscFree(mask));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The form is meant to be definite: say so when a coefficient is negative (beyond rounding error), or zero all
  over a cell, where a mass may be. A zero at single points, such as x at x = 0, does no harm.
*/
PetscErrorCode HopsLORCheckSign(const HopsValues *k, PetscInt dim, PetscInt n, PetscInt nq, PetscBool mass, PetscBool *negative)
{
  static const PetscInt diag2[2] = {0, 2}, diag3[3] = {0, 3, 5};
  const PetscInt        nd = k->nc <= dim ? k->nc : dim;

  PetscFunctionBegin;
  if (!k->nc) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt c = 0; c < (k->cstride ? n : 1); ++c) {
    PetscReal lo = PETSC_MAX_REAL, hi = PETSC_MIN_REAL;

    for (PetscInt q = 0; q < (k->pstride ? nq : 1); ++q)
      for (PetscInt d = 0; d < nd; ++d) {
        const PetscReal v =
          PetscRealPart(k->v[c * k->cstride + q * k->pstride + (k->nc <= dim ? d : (dim == 2 ? diag2[d] : diag3[d]))]);

        lo = PetscMin(lo, v);
        hi = PetscMax(hi, v);
      }
    if ((hi <= 0.0 && (!mass || lo < 0.0)) || lo < -1e-12 * hi) *negative = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Robin terms enter as masses at the nodes of the faces, with Gauss-Lobatto weights */
static PetscErrorCode HopsLORAddFacets(HopsLOR *lor, const HopsFacets r, HopsCoefficient alpha)
{
  HopsSpace      sp = lor->space;
  const PetscInt P = sp->order + 1, nf = HopsPower(P, sp->dim - 1), np = HopsPower(P, sp->dim);
  PetscScalar   *a;
  PetscInt      *node;
  PetscReal     *m = lor->gll.weights;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(r->n * nf, &a, nf, &node));
  PetscCall(HopsFaceEvaluate(sp, &lor->inner, r->n, r->cells, r->faces, alpha, a));
  for (PetscInt f = 0; f < r->n; ++f) {
    PetscCall(HopsFaceNodes(sp->dim, P, r->faces[f], node));
    for (PetscInt i = 0; i < nf; ++i)
      lor->vals[lor->diag[sp->restr[r->cells[f] * np + node[i]]]] += a[f * nf + i] * m[i % P] * (sp->dim == 3 ? m[i / P] : 1.0);
  }
  PetscCall(PetscFree2(a, node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values were written into the matrix's arrays */
PetscErrorCode HopsLORChangedAIJ(Mat mat)
{
  Mat         d = mat, o = NULL;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)mat), &size));
  if (size > 1) PetscCall(MatMPIAIJGetSeqAIJ(mat, &d, &o, NULL));
  PetscCall(MatAssemblyBegin(d, MAT_FINAL_ASSEMBLY)); /* drops what the block cached of its old values */
  PetscCall(MatAssemblyEnd(d, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscObjectStateIncrease((PetscObject)d));
  if (o) PetscCall(PetscObjectStateIncrease((PetscObject)o));
  if (size > 1) PetscCall(PetscObjectStateIncrease((PetscObject)mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* AMS and ADS refuse a negative mass (pcloraux.c) */
PetscErrorCode HopsLORWarn(HopsLOR *lor)
{
  MPI_Comm                 comm     = PetscObjectComm((PetscObject)lor->space);
  static const char *const terms[4] = {"diffusion", "curl-curl", "div-div", "derivative's"};
  PetscMPIInt              rank;

  PetscFunctionBegin;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, lor->negative, 2, HOPS_MPI_BOOL, MPI_LOR, comm));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank) PetscFunctionReturn(PETSC_SUCCESS);
  if (lor->negative[0])
    PetscCall((*PetscErrorPrintf)("Warning: the %s coefficient is not positive everywhere; the low-order-refined matrix may be "
                                  "indefinite, use a Krylov method that allows it\n",
                                  terms[lor->space->family]));
  if (lor->negative[1])
    PetscCall((*PetscErrorPrintf)("Warning: the mass coefficient is negative somewhere; the low-order-refined matrix may be "
                                  "indefinite, use a Krylov method that allows it\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where a form vanishes around an unknown, its row is zero, and inner solvers fail with errors of their
   own */
static PetscErrorCode HopsLORCheckZero(HopsLOR *lor)
{
  HopsSpace      sp    = lor->space;
  MPI_Comm       comm  = PetscObjectComm((PetscObject)sp);
  const PetscInt trash = lor->nd + lor->no + lor->ng; /* the place of unknowns that no cell of this rank has */
  PetscInt       n     = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < sp->nT; ++i) n += lor->diag[i] < trash && lor->vals[lor->diag[i]] == 0.0;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &n, 1, MPIU_INT, MPI_SUM, comm));
  PetscCheck(!n, comm, PETSC_ERR_ARG_WRONGSTATE,
             "The form is zero in all cells around %" PetscInt_FMT " of %" PetscInt_FMT
             " unknowns, so the low-order-refined matrix is singular: give it a positive coefficient there (a small mass term will "
             "do), make the unknowns essential, or use -pc_type none",
             n, sp->N);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORNumeric(HopsLOR *lor, HopsForm form)
{
  HopsSpace           sp = lor->space;
  const PetscInt      nq = HopsPower(sp->order + 1, sp->dim);
  const HopsIntegral *in;
  size_t              ks = 0, ms = 0;
  PetscScalar        *kw = NULL, *mw = NULL;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsEvent.lornumeric, lor->mat, 0, 0, 0));
  lor->negative[0] = lor->negative[1] = PETSC_FALSE;
  PetscCall(PetscArrayzero(lor->vals, lor->nd + lor->no + lor->ng + 1));
  for (PetscInt c = 0, end; c < sp->ncells; c = end) {
    HopsValues k, m;
    PetscInt   bad;
    PetscReal  det;

    end = PetscMin(c + HOPS_LOR_CHUNK, c < sp->ninterior ? sp->ninterior : sp->ncells);
    PetscCall(HopsCoefficientEvaluate(HopsFormDerivative(form), sp, &lor->inner, c, end - c, &ks, &kw, &k));
    PetscCall(HopsCoefficientEvaluate(HopsFormValue(form), sp, &lor->inner, c, end - c, &ms, &mw, &m));
    PetscCall(HopsLORCheckSign(&k, sp->dim, end - c, nq, PETSC_FALSE, &lor->negative[0]));
    PetscCall(HopsLORCheckSign(&m, sp->dim, end - c, nq, PETSC_TRUE, &lor->negative[1]));
    PetscCall((*lor->kernel->ops->Fill)(lor->kernel, c, end - c, &k, &m, lor->vals, &bad, &det));
    if (bad >= 0) PetscCall(HopsSpaceErrorCell(sp, bad, det));
  }
  PetscCall(PetscFree(kw));
  PetscCall(PetscFree(mw));
  for (PetscInt i = 0; (in = HopsFormNext(form, HOPS_BOUNDARY, &i));) PetscCall(HopsLORAddFacets(lor, in->facets, in->coefficient));
  PetscCall(HopsLORExchangeEntries(lor->exchange, MPIU_SCALAR, sizeof(PetscScalar), lor->vals + lor->nd + lor->no, lor->rvals));
  for (PetscInt k = 0; k < lor->nr; ++k) lor->vals[lor->rpos[k]] += lor->rvals[k];
  for (PetscInt e = 0; e < sp->ness; ++e) lor->vals[lor->diag[sp->essT[e]]] = 1.0;
  PetscCall(HopsLORChangedAIJ(lor->mat));
  PetscCall(PetscLogEventEnd(HopsEvent.lornumeric, lor->mat, 0, 0, 0));
  PetscCall(HopsLORCheckZero(lor));
  PetscCall(HopsLORWarn(lor));
  PetscFunctionReturn(PETSC_SUCCESS);
}
