/* Spaces from arrays in a back end's memory: checks and numbers by its passes. */
#include <hops/private/hopsarraysimpl.h>

/* Is nothing wrong? What is not plain is left to the process */
static PetscErrorCode IsPlain(HopsArraysWork *a, PetscBool *plain)
{
  HopsSpace      sp = a->sp;
  const PetscInt P  = sp->gorder + 1;
  PetscInt       n[2];
  PetscInt64     sum[4];
  HopsBasis      gll;

  PetscFunctionBegin;
  PetscCall(HopsBasisCreate(P, P, PETSC_TRUE, &gll));
  PetscCall((*a->at->arrays->Maps)(sp->ncells, sp->dim, P, gll.D, a->X, n));
  PetscCall(HopsBasisDestroy(&gll));
  sum[0] = a->nuntouched;
  sum[1] = n[0];
  sum[2] = n[1];
  sum[3] = sp->ncells;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, sum, 4, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)sp)));
  *plain = !sum[0] && !sum[1] && 2 * sum[2] <= sum[3] ? PETSC_TRUE : PETSC_FALSE;
  if (*plain) PetscCall(HopsArraysAgree(a, plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *to, a pointer to anything, is a copy of n bytes of a back end's memory */
static PetscErrorCode Bring(const HopsBackendOps *be, const void *from, size_t n, void *to)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc(n, (void **)to));
  if (n) PetscCall((*be->memory->Copy)(NULL, *(void **)to, from, n, HOPS_COPY_OUT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The process looks at all of the cells. They may be turned */
static PetscErrorCode CheckByProcess(HopsArraysWork *a)
{
  HopsSpace            sp     = a->sp;
  const HopsMemoryOps *memory = a->at->memory;
  const size_t         nel    = (size_t)sp->ncells * sp->ne * sizeof(int);
  const size_t         nx     = (size_t)sp->ncells * sp->dim * HopsPower(sp->gorder + 1, sp->dim) * sizeof(PetscReal);
  const PetscInt       nkeys  = a->m.nT + a->m.nF;
  HopsArraysWork       own    = *a;
  PetscInt            *gidx;

  PetscFunctionBegin;
  own.at        = &HopsBackendHost;
  own.process   = PETSC_TRUE;
  own.m.foreign = a->foreign;
  PetscCall(Bring(a->at, a->m.key, nel, &own.m.key));
  PetscCall(Bring(a->at, a->m.touch, nkeys * sizeof(int), &own.m.touch));
  PetscCall(Bring(a->at, a->m.count, nkeys * sizeof(int), &own.m.count));
  PetscCall(Bring(a->at, a->X, nx, &own.X));
  PetscCall(PetscMalloc1(nkeys, &gidx));
  for (PetscInt k = 0; k < nkeys; ++k) gidx[k] = HopsArraysGlobal(&own.m, (int)k);
  sp->X = own.X;
  PetscCall(HopsArraysCheck(&own, gidx));
  sp->X = NULL;
  if (sp->turned) {
    PetscCall((*memory->Copy)(NULL, a->m.key, own.m.key, nel, HOPS_COPY_IN));
    PetscCall((*memory->Copy)(NULL, a->X, own.X, nx, HOPS_COPY_IN));
    PetscCall((*a->at->arrays->Touch)(&a->m, &a->nuntouched));
  }
  PetscCall(PetscFree(gidx));
  PetscCall(PetscFree(own.m.key));
  PetscCall(PetscFree(own.m.touch));
  PetscCall(PetscFree(own.m.count));
  PetscCall(PetscFree(own.X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* list[n]: keys of essential unknowns; foreign[nF]: L-vector indices of others' unknowns, with ghost[] */
static PetscErrorCode Lists(HopsArraysWork *a, const unsigned char mark[], PetscInt *n, int *list[], int *foreign[])
{
  HopsSpace      sp    = a->sp;
  const PetscInt nkeys = a->m.nT + a->m.nF;

  PetscFunctionBegin;
  *n = 0;
  for (PetscInt k = 0; k < nkeys; ++k) *n += mark[k];
  PetscCall(PetscMalloc1(*n, list));
  PetscCall(PetscMalloc1(a->m.nF, foreign));
  PetscCall(PetscMalloc1(a->m.nF, &sp->ghost));
  *n     = 0;
  sp->nG = 0;
  for (PetscInt k = 0; k < nkeys; ++k)
    if (mark[k]) (*list)[(*n)++] = (int)k;
  for (PetscInt i = 0; i < a->m.nF; ++i) {
    (*foreign)[i] = -1;
    if (mark[a->m.nT + i]) continue;
    (*foreign)[i]       = a->m.nT + (int)sp->nG;
    sp->ghost[sp->nG++] = a->foreign[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Constrained entries number[n] of the keys list[n]: those of this rank's unknowns have a twin in the
   T-vector */
static PetscErrorCode Constrained(HopsArraysWork *a, PetscInt n, const int list[], const int number[])
{
  HopsSpace sp = a->sp;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(sp->nC, &sp->cglobal));
  sp->ness = 0;
  while (sp->ness < n && list[sp->ness] < a->m.nT) ++sp->ness;
  PetscCall(PetscMalloc2(sp->ness, &sp->essT, sp->ness, &sp->essC));
  for (PetscInt i = 0; i < n; ++i) {
    sp->cglobal[number[i] - sp->nT - sp->nG] = list[i] < a->m.nT ? a->m.rstart + list[i] : a->foreign[list[i] - a->m.nT];
    if (i >= sp->ness) continue;
    sp->essT[i] = list[i];
    sp->essC[i] = number[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The order of the cells, restr[] and X[] */
static PetscErrorCode Restrict(HopsArraysWork *a, const int number[])
{
  HopsSpace            sp     = a->sp;
  const HopsMemoryOps *memory = a->at->memory;
  const PetscInt       nx     = sp->dim * HopsPower(sp->gorder + 1, sp->dim);
  PetscReal           *Y      = NULL;
  int                 *perm;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(sp->ncells, &sp->cell));
  PetscCall(PetscMalloc1(sp->ncells, &perm));
  PetscCall((*a->at->arrays->Order)(&a->m, number, perm, &sp->ninterior));
  for (PetscInt c = 0; c < sp->ncells; ++c) sp->cell[c] = perm[c];
  PetscCall((*memory->Malloc)((size_t)sp->ncells * sp->ne * sizeof(int), (void **)&sp->brestr));
  if (sp->ninterior < sp->ncells) PetscCall((*memory->Malloc)((size_t)sp->ncells * nx * sizeof(PetscReal), (void **)&Y));
  PetscCall((*a->at->arrays->Restrict)(&a->m, number, perm, sp->brestr, nx, a->X, Y));
  if (Y) PetscCall((*memory->Free)((void **)&a->X));
  sp->bX = Y ? Y : a->X;
  PetscCall(PetscFree(perm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsArraysNumber_Apart(HopsArraysWork *a, const unsigned char mark[], PetscBool check)
{
  HopsSpace            sp     = a->sp;
  const HopsMemoryOps *memory = a->at->memory;
  PetscBool            plain  = PETSC_TRUE;
  PetscInt             n;
  int                 *list, *foreign, *number, *constrained;

  PetscFunctionBegin;
  if (check) PetscCall(IsPlain(a, &plain));
  if (!plain) PetscCall(CheckByProcess(a));
  PetscCall(Lists(a, mark, &n, &list, &foreign));
  PetscCall(HopsCheckInt("unknowns", (PetscInt64)sp->nT + sp->nG + n));
  PetscCall((*memory->PoolMalloc)(((size_t)a->m.nT + a->m.nF) * sizeof(int), (void **)&number));
  PetscCall((*a->at->arrays->Number)(&a->m, n, list, foreign, (int)(sp->nT + sp->nG), number, &sp->nC));
  PetscCall(Restrict(a, number));
  PetscCall(PetscMalloc1(n, &constrained));
  PetscCall((*a->at->arrays->ReadInts)(n, list, number, constrained));
  PetscCall(Constrained(a, n, list, constrained));
  PetscCall((*memory->PoolFree)((void **)&number));
  PetscCall(PetscFree(constrained));
  PetscCall(PetscFree(list));
  PetscCall(PetscFree(foreign));
  PetscCall(HopsSpaceSetUpEntries(sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}
