/* Spaces from arrays: do all cells that have an unknown say the same of it? */
#include <hops/private/hopsarraysimpl.h>

/* value[n] of the unknowns that ranks share becomes what the ranks' values add up to, or are at most: those
   of owned ones first, then those of others */
static PetscErrorCode Exchange(const HopsHalo *h, MPI_Datatype type, MPI_Op op, size_t size, void *value)
{
  char *foreign = (char *)value + (size_t)h->nshared * size;

  PetscFunctionBegin;
  PetscCall(PetscSFReduceBegin(h->sf, type, foreign, value, op));
  PetscCall(PetscSFReduceEnd(h->sf, type, foreign, value, op));
  PetscCall(PetscSFBcastBegin(h->sf, type, value, foreign, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(h->sf, type, value, foreign, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each rank is told the largest of each number, which all must have given */
static PetscErrorCode CompareValues(const HopsArrays *m, const HopsHalo *h, PetscInt n, const HopsArraysValue own[],
                                    PetscBool *good)
{
  PetscReal  *most, *number;
  PetscInt   *count;
  PetscInt64 *part;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(7 * n, &most, n, &number, n, &count, n, &part));
  for (PetscInt k = 0; k < 7; ++k) {
    for (PetscInt i = 0; i < n; ++i) number[i] = own[i].count ? own[i].v[k] : PETSC_MIN_REAL;
    PetscCall(Exchange(h, MPIU_REAL, MPIU_MAX, sizeof(PetscReal), number));
    for (PetscInt i = 0; i < n; ++i) most[7 * i + k] = number[i];
  }
  for (PetscInt i = 0; i < n; ++i) {
    count[i] = own[i].count;
    part[i]  = own[i].part;
  }
  PetscCall(Exchange(h, MPIU_INT, MPI_SUM, sizeof(PetscInt), count));
  PetscCall(Exchange(h, MPIU_INT64, MPI_MAX, sizeof(PetscInt64), part));
  for (PetscInt i = 0; i < n; ++i) {
    if (!own[i].count) continue;
    if (!HopsArraysSame(m->family == HOPS_H1 ? HOPS_ARRAYS_SAME : HOPS_ARRAYS_TOL, own[i].v, most + 7 * i, own[i].size,
                        own[i].cellsize))
      *good = PETSC_FALSE;
    if (own[i].v[6] <= 1.0 && count[i] > 1 + (PetscInt)own[i].v[6]) *good = PETSC_FALSE;
    if (part[i] != own[i].part) *good = PETSC_FALSE;
  }
  PetscCall(PetscFree4(most, number, count, part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What this rank's cells say, against what those of other ranks do */
static PetscErrorCode AgreeWithOthers(HopsArraysWork *a, PetscBool *good)
{
  HopsHalo         h;
  HopsArraysValue *value;
  PetscInt         n;
  int             *list;

  PetscFunctionBegin;
  PetscCall(HopsHaloCreate(a->sf, &h));
  n = h.nshared + a->m.nF;
  PetscCall(PetscMalloc2(n, &list, n, &value));
  for (PetscInt i = 0; i < h.nshared; ++i) list[i] = (int)h.shared[i];
  for (PetscInt i = 0; i < a->m.nF; ++i) list[h.nshared + i] = a->m.nT + (int)i;
  PetscCall((*a->at->arrays->Values)(&a->m, n, list, value));
  PetscCall(CompareValues(&a->m, &h, n, value, good));
  PetscCall(PetscFree2(list, value));
  PetscCall(HopsHaloDestroy(&h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsArraysDescribing(HopsArraysWork *a)
{
  const HopsMemoryOps *memory = a->at->memory;
  HopsArrays          *m      = &a->m;
  HopsBasis            gll, geom;
  PetscReal           *x = NULL, *size;
  HopsArraysEntry     *entry;

  PetscFunctionBegin;
  PetscCall(HopsBasisCreate(m->P, m->P, PETSC_TRUE, &gll));
  PetscCall(HopsSpaceCreateGeometryBasis(a->sp, &gll, &geom));
  PetscCall((*memory->PoolMalloc)(m->ncells * sizeof(PetscReal), (void **)&size));
  PetscCall((*memory->PoolMalloc)(m->ne * sizeof(*entry), (void **)&entry));
  PetscCall((*memory->Copy)(NULL, entry, a->entry, m->ne * sizeof(*entry), HOPS_COPY_IN));
  if (a->sp->gorder != a->sp->order)
    PetscCall((*memory->PoolMalloc)((size_t)m->ncells * m->dim * m->np * sizeof(PetscReal), (void **)&x));
  PetscCall((*a->at->arrays->Lattices)(m, a->sp->gorder + 1, geom.B, a->X, x, size));
  m->entry = entry;
  m->x     = x ? x : a->X;
  m->size  = size;
  PetscCall(HopsBasisDestroy(&gll));
  PetscCall(HopsBasisDestroy(&geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsArraysDescribed(HopsArraysWork *a)
{
  const HopsMemoryOps *memory = a->at->memory;
  HopsArrays          *m      = &a->m;

  PetscFunctionBegin;
  if (m->x != a->X) PetscCall((*memory->PoolFree)((void **)&m->x));
  PetscCall((*memory->PoolFree)((void **)&m->size));
  PetscCall((*memory->PoolFree)((void **)&m->entry));
  m->x = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsArraysAgree(HopsArraysWork *a, PetscBool *good)
{
  PetscFunctionBegin;
  PetscCall(HopsArraysDescribing(a));
  PetscCall((*a->at->arrays->Agree)(&a->m, good));
  if (a->sf) PetscCall(AgreeWithOthers(a, good));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, good, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)a->sp)));
  PetscCall(HopsArraysDescribed(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
