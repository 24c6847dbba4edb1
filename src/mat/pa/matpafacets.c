/* MATPA's integrals over boundary facets with coefficients: quadrature data and kernels. */
#include <hops/private/hopsmatimpl.h>

/* What cells list, in the process's memory: their own entries if nodes of the facets hang */
static PetscErrorCode GetCells(HopsSpace sp, const HopsFacets in, int **own, const int **cells)
{
  const size_t size = (size_t)sp->ncells * sp->ne * sizeof(int);
  PetscBool    hang;
  HopsHung     hung;

  PetscFunctionBegin;
  *own = NULL;
  PetscCall(HopsSpaceBringMesh(sp));
  *cells = sp->restr;
  PetscCall(HopsFacetsHang(sp, in, &hang));
  if (!hang) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsSpaceGetHung(sp, &hung));
  PetscCall(PetscMalloc(size, own));
  PetscCall((*sp->backend->memory->Copy)(NULL, *own, hung->restr, size, HOPS_COPY_OUT));
  *cells = *own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator of the facets, on their unknowns and data */
static PetscErrorCode HopsPAFacetsCreateKernel(HopsSpace sp, const HopsBasis *basis, const HopsFacets in, HopsPAFacets *facets)
{
  const PetscInt nf = HopsPower(basis->P, sp->dim - 1), np = nf * basis->P;
  PetscInt      *node;
  int           *restr, *own;
  const int     *cells = NULL;

  PetscFunctionBegin;
  PetscCall(GetCells(sp, in, &own, &cells));
  PetscCall(PetscMalloc2(nf, &node, in->n * nf, &restr));
  for (PetscInt f = 0; f < in->n; ++f) {
    PetscCall(HopsFaceNodes(sp->dim, basis->P, in->faces[f], node));
    for (PetscInt i = 0; i < nf; ++i) restr[f * nf + i] = cells[(size_t)in->cells[f] * np + node[i]];
  }
  PetscCheck(sp->backend->FacesCreate, PetscObjectComm((PetscObject)sp), PETSC_ERR_SUP,
             "The back end %s has no terms on faces: use -hops_backend host", sp->backend->name);
  PetscCall((*sp->backend->FacesCreate)(sp, basis, in->n, restr, facets->qdata, &facets->kernel));
  PetscCall(PetscFree2(node, restr));
  PetscCall(PetscFree(own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Kernels of cells that know J have no entries for facets with hanging nodes */
PetscErrorCode MatPAFindFacetHung(Mat_PA *pa)
{
  HopsSpace           sp   = pa->form->space;
  PetscBool           hang = PETSC_FALSE;
  const HopsIntegral *in;

  PetscFunctionBegin;
  pa->facethung = NULL;
  for (PetscInt i = 0; !hang && sp->backend->hanging && (in = HopsFormNext(pa->form, HOPS_BOUNDARY, &i));)
    PetscCall(HopsFacetsHang(sp, in->facets, &hang));
  if (hang) PetscCall(HopsSpaceGetHung(sp, &pa->facethung));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatPAApplyFacets(Mat_PA *pa, const PetscReal x[], PetscReal xg[], PetscReal y[], PetscReal yg[])
{
  const HopsHung hung = pa->facethung;

  PetscFunctionBegin;
  for (int b = 0; hung && b < 2; b++) PetscCall((*hung->ops->Apply)(hung, PETSC_DOUBLE, 1, b ? PETSC_TRUE : PETSC_FALSE, x, xg));
  for (PetscInt i = 0; i < pa->nfacets; ++i)
    PetscCall((*pa->facets[i].kernel->ops->Apply)(pa->facets[i].kernel, HOPS_PART_SHARED, x, xg, y, yg));
  for (int b = 0; hung && b < 2; b++)
    PetscCall((*hung->ops->ApplyTranspose)(hung, PETSC_DOUBLE, 1, b ? PETSC_TRUE : PETSC_FALSE, yg, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatPADestroyFacets(Mat_PA *pa)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < pa->nfacets; ++i) {
    PetscCall(PetscFree(pa->facets[i].qdata));
    if (pa->facets[i].kernel) PetscCall((*pa->facets[i].kernel->ops->Destroy)(&pa->facets[i].kernel));
  }
  PetscCall(PetscFree(pa->facets));
  pa->nfacets = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatPASetUpFacets(Mat_PA *pa)
{
  HopsSpace           sp    = pa->form->space;
  const HopsBasis    *basis = &pa->facebasis;
  const PetscInt      nq    = HopsPower(basis->Q, sp->dim - 1);
  const HopsIntegral *in;

  PetscFunctionBegin;
  PetscCall(MatPADestroyFacets(pa));
  PetscCall(PetscCalloc1(pa->form->n, &pa->facets));
  for (PetscInt i = 0; (in = HopsFormNext(pa->form, HOPS_BOUNDARY, &i));) {
    const HopsFacets f = in->facets;
    PetscReal       *q;

    PetscCall(PetscMalloc1(f->n * nq, &q));
    pa->facets[pa->nfacets++].qdata = q;
    PetscCall(HopsFaceEvaluate(sp, basis, f->n, f->cells, f->faces, in->coefficient, q));
    for (PetscInt k = 0; k < f->n * nq; ++k)
      for (PetscInt d = 0, j = k % nq; d < sp->dim - 1; ++d, j /= basis->Q) q[k] *= basis->weights[j % basis->Q];
    PetscCall(HopsPAFacetsCreateKernel(sp, basis, f, &pa->facets[pa->nfacets - 1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
