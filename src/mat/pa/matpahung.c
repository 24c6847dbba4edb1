/* The diagonal of MATPA on back ends whose kernels do not know hanging nodes. */
#include <hops/private/hopsmatimpl.h>

/*
  A cell's own entries where nodes hang give its listed ones e_i^T J^T A J e_i, i one of them: products with
  unit vectors of all cells at a time, as cells do not share these entries
*/
PetscErrorCode MatPADiagonalHung(Mat_PA *pa, PetscReal d[], PetscReal dg[])
{
  HopsSpace             sp   = pa->form->space;
  HopsHung              hung = sp->hung;
  const HopsBackendOps *be   = sp->backend;
  const PetscInt        ng   = HopsSpaceNumOthers(sp);
  PetscReal            *x, *y, *xg, *yg;

  PetscFunctionBegin;
  if (!hung) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, hung->n, dg + sp->nL - sp->nT));
  if (!pa->kernel) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*be->memory->PoolMalloc)(sp->nT * sizeof(PetscReal), (void **)&x));
  PetscCall((*be->memory->PoolMalloc)(sp->nT * sizeof(PetscReal), (void **)&y));
  PetscCall((*be->memory->PoolMalloc)(ng * sizeof(PetscReal), (void **)&xg));
  PetscCall((*be->memory->PoolMalloc)(ng * sizeof(PetscReal), (void **)&yg));
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, sp->nT, x));
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, sp->nT, y));
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, ng, xg));
  for (PetscInt i = 0; i < hung->most; ++i) {
    PetscCall((*be->vector->Zero)(PETSC_DOUBLE, ng, yg));
    PetscCall((*hung->ops->ApplyUnit)(hung, 1, 0, i, xg));
    PetscCall((*pa->kernel->ops->Apply)(pa->kernel, HOPS_PART_INTERIOR_A, x, xg, y, yg));
    PetscCall((*pa->kernel->ops->Apply)(pa->kernel, HOPS_PART_INTERIOR_B, x, xg, y, yg));
    PetscCall((*pa->kernel->ops->Apply)(pa->kernel, HOPS_PART_SHARED, x, xg, y, yg));
    PetscCall((*hung->ops->AddUnit)(hung, 1, 0, i, yg, d, dg));
  }
  PetscCall((*be->memory->PoolFree)((void **)&x));
  PetscCall((*be->memory->PoolFree)((void **)&y));
  PetscCall((*be->memory->PoolFree)((void **)&xg));
  PetscCall((*be->memory->PoolFree)((void **)&yg));
  PetscFunctionReturn(PETSC_SUCCESS);
}
