/* The diagonal of operators with full tensors where nodes hang. */
#include <hops/private/hopspatensorimpl.h>

/* y = A x, between the sides' L-vectors */
static PetscErrorCode Apply(HopsPATensor t)
{
  const HopsVectorOps *vector = t->space->backend->vector;
  const HopsPart       part[] = {HOPS_PART_INTERIOR_A, HOPS_PART_INTERIOR_B, HOPS_PART_SHARED};

  PetscFunctionBegin;
  for (PetscInt i = 0; i < t->n[HOPS_TEST]; ++i) {
    const HopsPASide *s = &t->side[HOPS_TEST][i];

    PetscCall((*vector->Zero)(PETSC_DOUBLE, s->nl * s->nodes->nc, s->l));
  }
  for (int p = 0; p < 3; p++) PetscCall((*t->kernel->ops->Apply)(t->kernel, part[p], PETSC_FALSE));
  PetscCall(HopsPATensorApplyFaces(t, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds to the diagonal d[nL][nc] of field i what its cells' own entries bring */
static PetscErrorCode AddField(HopsPATensor t, PetscInt i, PetscReal d[])
{
  const HopsVectorOps *vector = t->space->backend->vector;
  HopsPASide          *out = &t->side[HOPS_TEST][i], *in = &t->side[HOPS_TRIAL][i];
  const HopsHung       hung = out->hung;
  const PetscInt       nc   = out->nodes->nc;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < t->n[HOPS_TRIAL]; ++k) {
    const HopsPASide *s = &t->side[HOPS_TRIAL][k];

    PetscCall((*vector->Zero)(PETSC_DOUBLE, s->nl * s->nodes->nc, s->l));
  }
  for (PetscInt c = 0; c < nc; ++c)
    for (PetscInt e = 0; e < hung->most; ++e) {
      PetscCall((*vector->Zero)(PETSC_DOUBLE, in->nl * nc, in->l));
      PetscCall((*hung->ops->ApplyUnit)(hung, nc, c, e, HopsPASideGhosts(in)));
      PetscCall(Apply(t));
      PetscCall((*hung->ops->AddUnit)(hung, nc, c, e, HopsPASideGhosts(out), d, d + (size_t)out->nodes->space->nT * nc));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  A cell's own entries where nodes hang give its listed ones e^T J^T A J e, e one of them in one component:
  products with unit vectors of all cells at a time, as cells do not share these entries
*/
PetscErrorCode HopsPATensorDiagonalHung(HopsPATensor t)
{
  const HopsBackendOps *be = t->space->backend;
  PetscReal           **d;

  PetscFunctionBegin;
  if (!t->space->hanging) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(t->n[HOPS_TEST], &d));
  for (int pass = 0; pass < 2; pass++)
    for (PetscInt i = 0; i < t->n[HOPS_TEST]; ++i) {
      const HopsPASide *s = &t->side[HOPS_TEST][i];
      const PetscInt    n = s->nodes->space->nL * s->nodes->nc;

      if (!pass) {
        PetscCall((*be->memory->PoolMalloc)(n * sizeof(PetscReal), (void **)&d[i]));
        PetscCall((*be->memory->Copy)(NULL, d[i], s->l, n * sizeof(PetscReal), HOPS_COPY_WITHIN));
      } else PetscCall(AddField(t, i, d[i]));
    }
  for (PetscInt i = 0; i < t->n[HOPS_TEST]; ++i) {
    const HopsPASide *s = &t->side[HOPS_TEST][i];
    const PetscInt    n = s->nodes->space->nL * s->nodes->nc;

    PetscCall((*be->vector->Zero)(PETSC_DOUBLE, s->nl * s->nodes->nc, s->l));
    PetscCall((*be->memory->Copy)(NULL, s->l, d[i], n * sizeof(PetscReal), HOPS_COPY_WITHIN));
    PetscCall((*be->memory->PoolFree)((void **)&d[i]));
  }
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}
