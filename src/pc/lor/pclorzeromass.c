/*
  A mass coefficient that is zero in some of the cells: gradients of nodal fields inside them are in the
  kernel of the operator. AMS can be told where that is (pcloraux.c), and then adds 1e-10 of the largest entry
  on these gradients, whose solver is a multigrid method for a bilaplacian of that size, and projects them out
  of every fifth residual. The other way is here: the low-order-refined matrix, and it alone, gets

    s mu / L^2

  for a mass coefficient in those cells, mu the mean of the derivative's coefficient in the cell, L the
  longest side of the mesh's bounding box. On fields orthogonal to the kernel the derivative's term is at
  least about 10 mu / L^2, so that a small s changes nothing, and on the kernel, where the residual is
  rounding errors, the preconditioner is bounded by 1/s in place of 1e10.
*/
#include <hops/private/hopslorimpl.h>

/* zero[ncells]: the mass coefficient vanishes at all nodes of the cell; n: their number on all ranks */
PetscErrorCode PCLORFindZeroMass(PC_LOR *lor, PetscBool zero[], PetscInt *n)
{
  HopsSpace      sp   = lor->form->space;
  const PetscInt nq   = HopsPower(sp->order + 1, sp->dim);
  size_t         size = 0;
  PetscReal     *work = NULL;

  PetscFunctionBegin;
  *n = 0;
  for (PetscInt first = 0, end; first < sp->ncells; first = end) {
    HopsValues beta;

    end = PetscMin(first + HOPS_LOR_CHUNK, sp->ncells);
    PetscCall(HopsCoefficientEvaluate(HopsFormValue(lor->form), sp, &lor->lor.inner, first, end - first, &size, &work, &beta));
    if (!beta.cstride) end = sp->ncells; /* a constant */
    for (PetscInt c = first; c < end; ++c) {
      const PetscReal *v = beta.v + (c - first) * beta.cstride;

      zero[c] = PETSC_TRUE;
      for (PetscInt q = 0; q < (beta.pstride ? nq : 1) && zero[c]; ++q)
        for (PetscInt k = 0; k < beta.nc; ++k)
          if (v[q * beta.pstride + k] != 0.0) zero[c] = PETSC_FALSE;
      *n += zero[c];
    }
  }
  PetscCall(PetscFree(work));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, n, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)sp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  HopsCoefficient mass;
  HopsSpace       space; /* not a reference: the preconditioner that uses this has one */
  PetscReal      *fill;  /* [ncells] what is added to the diagonal */
} HopsFill;

static PetscErrorCode HopsFillDestroy(void *ctx)
{
  HopsFill *f = (HopsFill *)ctx;

  PetscFunctionBegin;
  PetscCall(HopsCoefficientDestroy(&f->mass));
  PetscCall(PetscFree(f->fill));
  PetscCall(PetscFree(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* place of the diagonal entry i in a coefficient of nc components: scalar, diagonal, or upper triangle by
   rows */
static PetscInt HopsDiagonal(PetscInt dim, PetscInt nc, PetscInt i)
{
  return nc <= dim ? i : i * dim - i * (i - 1) / 2;
}

static PetscErrorCode HopsFillEvaluate(HopsCoefficient cf, HopsSpace sp, PetscInt first, PetscInt n, const HopsBasis *basis,
                                       const PetscReal x[], PetscReal out[])
{
  HopsFill      *f  = (HopsFill *)cf->ctx;
  const PetscInt nq = HopsPower(basis->Q, sp->dim), nc = cf->nc;
  size_t         size = 0;
  PetscReal     *work = NULL;
  HopsValues     v;

  PetscFunctionBegin;
  PetscCheck(sp == f->space, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A filled coefficient belongs to the space it was made for");
  PetscCall(HopsCoefficientEvaluate(f->mass, sp, basis, first, n, &size, &work, &v));
  for (PetscInt c = 0; c < n; ++c)
    for (PetscInt q = 0; q < nq; ++q) {
      PetscReal *o = out + (c * nq + q) * nc;

      for (PetscInt k = 0; k < nc; ++k) o[k] = v.v[c * v.cstride + q * v.pstride + k];
      for (PetscInt i = 0; i < (nc == 1 ? 1 : sp->dim); ++i) o[HopsDiagonal(sp->dim, nc, i)] += f->fill[first + c];
    }
  PetscCall(PetscFree(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The longest side of the box around all cells */
static PetscErrorCode HopsSpaceGetLength(HopsSpace sp, PetscReal *length)
{
  const PetscInt np = HopsPower(sp->gorder + 1, sp->dim);
  PetscReal      box[6];

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(sp));
  for (PetscInt i = 0; i < 6; ++i) box[i] = PETSC_MIN_REAL;
  for (PetscInt c = 0; c < sp->ncells; ++c)
    for (PetscInt d = 0; d < sp->dim; ++d)
      for (PetscInt i = 0; i < np; ++i) {
        const PetscReal x = sp->X[(c * sp->dim + d) * np + i];

        box[2 * d]     = PetscMax(box[2 * d], x);
        box[2 * d + 1] = PetscMax(box[2 * d + 1], -x);
      }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, box, 6, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)sp)));
  *length = 0.0;
  for (PetscInt d = 0; d < sp->dim; ++d) *length = PetscMax(*length, box[2 * d] + box[2 * d + 1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* fill[ncells]: scale times the mean of the derivative's coefficient where zero[], else 0 */
static PetscErrorCode PCLORGetFill(PC_LOR *lor, PetscReal scale, const PetscBool zero[], PetscReal fill[])
{
  HopsSpace      sp   = lor->form->space;
  const PetscInt nq   = HopsPower(sp->order + 1, sp->dim);
  size_t         size = 0;
  PetscReal     *work = NULL;

  PetscFunctionBegin;
  for (PetscInt first = 0; first < sp->ncells; first += HOPS_LOR_CHUNK) {
    const PetscInt chunk = PetscMin(HOPS_LOR_CHUNK, sp->ncells - first);
    PetscInt       some  = 0;
    HopsValues     mu;

    for (PetscInt c = first; c < first + chunk; ++c) {
      fill[c] = 0.0;
      some += zero[c];
    }
    if (!some) continue;
    PetscCall(HopsCoefficientEvaluate(HopsFormDerivative(lor->form), sp, &lor->lor.inner, first, chunk, &size, &work, &mu));
    for (PetscInt c = first; c < first + chunk; ++c) {
      PetscInt n = 0;

      if (!zero[c]) continue;
      for (PetscInt q = 0; q < (mu.pstride ? nq : 1); ++q)
        for (PetscInt i = 0; i < (mu.nc == 1 ? 1 : sp->dim); ++i, ++n)
          fill[c] += mu.v[(c - first) * mu.cstride + q * mu.pstride + HopsDiagonal(sp->dim, mu.nc, i)];
      fill[c] *= scale / n;
      PetscCheck(PetscRealPart(fill[c]) > 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
                 "In cell %" PetscInt_FMT " the mass coefficient is zero and the other one not positive, so the form is singular "
                 "there: give one of them a positive value",
                 sp->cell[c]);
    }
  }
  PetscCall(PetscFree(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The form's mass with the fill, where one is asked for and the coefficient vanishes in some of the cells. By
  default it is for ADS, and for AMS on a device, where hypre alone runs cycles with interior nodes. A
  coefficient that vanishes everywhere is AMS's own case
*/
PetscErrorCode PCLORFillZeroMass(PC pc, PC_LOR *lor)
{
  HopsSpace       sp  = lor->form->space;
  const PetscBool ads = sp->family == HOPS_HDIV && sp->dim == 3 ? PETSC_TRUE : PETSC_FALSE;
  const PetscReal s =
    lor->zeromass >= 0.0 ? lor->zeromass : (ads || (HOPS_HAVE_HYPRE_DEVICE && lor->ondevice) ? HOPS_LOR_ZERO_MASS : 0.0);
  HopsCoefficient cf;
  HopsFill       *f;
  PetscInt        ncells;
  PetscReal       length = 1.0;
  PetscBool      *zero;

  PetscFunctionBegin;
  lor->nzero    = 0;
  lor->zerofill = 0.0;
  lor->filled   = PETSC_FALSE;
  if ((sp->family != HOPS_HCURL && sp->family != HOPS_HDIV) || !HopsFormValue(lor->form) || !HopsFormDerivative(lor->form) ||
      (s == 0.0 && !ads))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(sp->ncells, &zero));
  PetscCall(PCLORFindZeroMass(lor, zero, &lor->nzero));
  if (lor->nzero) PetscCall(HopsSpaceGetLength(sp, &length));
  lor->zerofill = s / (length * length);
  PetscCheck(s > 0.0 || !lor->nzero, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The mass coefficient is zero in %" PetscInt_FMT
             " cells, where the low-order-refined matrix of H(div) is singular: use -pc_lor_zero_mass %g, not 0",
             lor->nzero, HOPS_LOR_ZERO_MASS);
  PetscCall(MPIU_Allreduce(&sp->ncells, &ncells, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)sp)));
  if (lor->nzero && (ads || lor->nzero < ncells)) {
    PetscCall(PetscInfo(pc,
                        "the mass coefficient is zero in %" PetscInt_FMT
                        " cells: in the low-order-refined matrix it is %g of the other one there\n",
                        lor->nzero, (double)lor->zerofill));
    PetscCall(PetscNew(&f));
    PetscCall(PetscMalloc1(sp->ncells, &f->fill));
    PetscCall(PCLORGetFill(lor, lor->zerofill, zero, f->fill));
    PetscCall(HopsCoefficientCreate_Private(PetscObjectComm((PetscObject)sp), HopsFormValue(lor->form)->nc, "filled", &cf));
    f->mass = HopsFormValue(lor->form);
    PetscCall(HopsCoefficientReference(f->mass));
    f->space       = sp;
    cf->ctx        = f;
    cf->destroyctx = HopsFillDestroy;
    if (f->mass->evaluate) cf->evaluate = HopsFillEvaluate;
    else { /* one value a cell, in the caller's order */ cf->nvcells = sp->ncaller;
      PetscCall(PetscCalloc1(sp->ncaller * cf->nc, &cf->values));
      for (PetscInt c = 0; c < sp->ncells; ++c) {
        PetscReal *v = cf->values + (sp->cell[c] - sp->cstart) * cf->nc;

        for (PetscInt k = 0; k < cf->nc; ++k)
          v[k] = f->mass->values[(f->mass->nvcells ? sp->cell[c] - sp->cstart : 0) * cf->nc + k];
        for (PetscInt i = 0; i < (cf->nc == 1 ? 1 : sp->dim); ++i) v[HopsDiagonal(sp->dim, cf->nc, i)] += f->fill[c];
      }
    }
    PetscCall(HopsFormSetCells(lor->form, HOPS_VALUE, cf));
    PetscCall(HopsCoefficientDestroy(&cf));
    lor->filled = PETSC_TRUE;
  }
  PetscCall(PetscFree(zero));
  PetscFunctionReturn(PETSC_SUCCESS);
}
