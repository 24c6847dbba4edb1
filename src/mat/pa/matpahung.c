/* The diagonal of MATPA where kernels of cells, or of facets, do not know hanging nodes. */
#include <hops/private/hopsmatimpl.h>

PetscInt MatPANumOthers(const Mat_PA *pa)
{
  return HopsSpaceNumOthers(pa->form->space) + (pa->facethung ? pa->facethung->n : 0);
}

/*
  A cell's own entries where nodes hang give its listed ones e_i^T J^T A J e_i, i one of them: products with
  unit vectors of all cells at a time, as cells do not share these entries. Where the cells' kernel has done
  so itself, A is that of the facets
*/
PetscErrorCode MatPADiagonalHung(Mat_PA *pa, PetscReal d[], PetscReal dg[])
{
  HopsSpace             sp     = pa->form->space;
  HopsOperator          kernel = sp->hung ? pa->kernel : NULL;
  HopsHung              hung   = sp->hung ? sp->hung : pa->facethung;
  const HopsBackendOps *be     = sp->backend;
  const PetscInt        ng     = MatPANumOthers(pa);
  PetscReal            *x, *y, *xg, *yg;

  PetscFunctionBegin;
  if (!hung) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, hung->n, dg + sp->nL - sp->nT));
  if (!kernel && !pa->nfacets) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*be->memory->PoolMalloc)(sp->nT * sizeof(PetscReal), (void **)&x));
  PetscCall((*be->memory->PoolMalloc)(sp->nT * sizeof(PetscReal), (void **)&y));
  PetscCall((*be->memory->PoolMalloc)(ng * sizeof(PetscReal), (void **)&xg));
  PetscCall((*be->memory->PoolMalloc)(ng * sizeof(PetscReal), (void **)&yg));
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, sp->nT, x));
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, sp->nT, y));
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, ng, xg));
  for (PetscInt i = 0; i < hung->most; ++i) {
    const HopsPart part[] = {HOPS_PART_INTERIOR_A, HOPS_PART_INTERIOR_B, HOPS_PART_SHARED};

    PetscCall((*be->vector->Zero)(PETSC_DOUBLE, ng, yg));
    PetscCall((*hung->ops->ApplyUnit)(hung, 1, 0, i, xg));
    for (int p = 0; kernel && p < 3; p++) PetscCall((*kernel->ops->Apply)(kernel, part[p], x, xg, y, yg));
    for (PetscInt k = 0; k < pa->nfacets; ++k)
      PetscCall((*pa->facets[k].kernel->ops->Apply)(pa->facets[k].kernel, HOPS_PART_SHARED, x, xg, y, yg));
    PetscCall((*hung->ops->AddUnit)(hung, 1, 0, i, yg, d, dg));
  }
  PetscCall((*be->memory->PoolFree)((void **)&x));
  PetscCall((*be->memory->PoolFree)((void **)&y));
  PetscCall((*be->memory->PoolFree)((void **)&xg));
  PetscCall((*be->memory->PoolFree)((void **)&yg));
  PetscFunctionReturn(PETSC_SUCCESS);
}
