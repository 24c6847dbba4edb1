/* Keys of a space from arrays: numbers of this rank that stand for the global indices of unknowns. */
#include <hops/private/hopsarraysimpl.h>

/* The edges and faces of a cell; returns how many. which[fixed][side]: the one that has these directions
   fixed, at these ends */
static PetscInt Parts(PetscInt dim, PetscInt P, HopsArraysPart part[18], PetscInt which[8][8])
{
  const PetscInt stride[3] = {1, P, P * P};
  PetscInt       n         = 0;

  for (PetscInt fixed = 1; fixed < (1 << dim) - 1; ++fixed)
    for (PetscInt side = 0; side < (1 << dim); ++side) {
      HopsArraysPart t    = {0, {0, 0}, 1};
      PetscInt       free = 0;

      if (side & ~fixed) continue;
      for (PetscInt d = 0; d < dim; ++d) {
        if ((side >> d) & 1) t.start += (P - 1) * stride[d];
        if (!((fixed >> d) & 1)) t.step[free++] = stride[d];
      }
      if (free == 2) t.n = P;
      which[fixed][side] = n;
      part[n++]          = t;
    }
  return n;
}

/* entry[ne]; in H1 alone something is asked of edges and faces */
static PetscErrorCode Entries(const HopsLayout *l, HopsArrays *m, HopsArraysEntry entry[])
{
  const PetscInt P = m->P, stride[3] = {1, P, P * P};
  PetscInt       which[8][8];

  PetscFunctionBegin;
  m->nparts = Parts(m->dim, P, m->part, which);
  for (PetscInt c = 0; c < l->nc; ++c)
    for (PetscInt i = l->off[c]; i < l->off[c + 1]; ++i) {
      HopsArraysEntry e     = {.component = (signed char)c, .part = -1};
      PetscInt        fixed = 0, side = 0;

      for (PetscInt d = 0, j = i - l->off[c]; d < m->dim; j /= l->n[c][d++]) {
        const PetscInt at = j % l->n[c][d];

        e.node += (int)(at * stride[d]);
        if (l->open[c][d]) e.open |= (signed char)(1 << d);
        if (l->open[c][d] || (at && at < P - 1)) e.whole |= (signed char)(1 << d);
        else {
          e.from += (int)(at * stride[d]);
          fixed |= 1 << d;
          side |= at ? 1 << d : 0;
          ++e.ends;
        }
      }
      if (m->family == HOPS_H1 && e.ends && e.ends < m->dim) e.part = (signed char)which[fixed][side];
      entry[i] = e;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* X[] is to be the space's */
static PetscErrorCode CreateNodes(HopsArraysWork *a, size_t size)
{
  PetscFunctionBegin;
  if (a->process) {
    PetscCall(PetscMalloc(size, &a->X));
    HopsHostAdvise(a->X, size);
  } else PetscCall((*a->at->memory->Malloc)(size, (void **)&a->X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes, which are not too large for an int, and memory for key[] and X[] */
static PetscErrorCode Begin(HopsSpace sp, const HopsBackendOps *at, HopsArraysWork *a)
{
  HopsArrays *m = &a->m;
  HopsLayout  l;

  PetscFunctionBegin;
  *a = (HopsArraysWork){.sp = sp, .at = at, .process = at->host};
  *m = (HopsArrays){.family = sp->family,
                    .dim    = sp->dim,
                    .P      = sp->order + 1,
                    .ne     = sp->ne,
                    .np     = HopsPower(sp->order + 1, sp->dim),
                    .ncells = sp->ncells,
                    .rstart = sp->rstart,
                    .N      = sp->N,
                    .nT     = (int)sp->nT};
  HopsLayoutCreate(sp->family, sp->dim, sp->order, &l);
  PetscCall(PetscMalloc1(sp->ne, &a->entry));
  PetscCall(Entries(&l, m, a->entry));
  PetscCall((*at->memory->PoolMalloc)((size_t)m->ncells * m->ne * sizeof(int), (void **)&m->key));
  PetscCall(CreateNodes(a, (size_t)m->ncells * HopsPower(sp->gorder + 1, sp->dim) * m->dim * sizeof(PetscReal)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsArraysWorkCreate(HopsSpace sp, const HopsBackendOps *at, const PetscInt unknowns[], const PetscReal coords[],
                                    HopsArraysWork *a, char why[])
{
  HopsArrays *m = &a->m;
  PetscInt    bad[2], nforeign;

  PetscFunctionBegin;
  PetscCall(Begin(sp, at, a));
  PetscCall((*at->arrays->Keys)(m, unknowns, &bad[0], &nforeign));
  PetscCall((*at->arrays->Nodes)(m->ncells, m->dim, HopsPower(sp->gorder + 1, sp->dim), coords, a->X, &bad[1]));
  if (bad[0] >= 0) {
    PetscInt u;

    PetscCall((*at->memory->Copy)(NULL, &u, unknowns + bad[0], sizeof(PetscInt), HOPS_COPY_OUT));
    if (u < 0 && (sp->family == HOPS_HCURL || sp->family == HOPS_HDIV)) u = -1 - u;
    PetscCall(HopsRefuse(why,
                         "A node of cell %" PetscInt_FMT " has global index %" PetscInt_FMT ", outside [0,%" PetscInt_FMT ")%s",
                         bad[0] / sp->ne, u, sp->N, u < 0 ? ": signs are for H(curl) and H(div)" : ""));
  }
  if (bad[1] >= 0) PetscCall(HopsRefuse(why, "A coordinate of cell %" PetscInt_FMT " is infinite or not-a-number", bad[1]));
  m->nF = nforeign; /* places, until the numbers are known */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the first cells with unknowns are, foreign[nF] being known */
static PetscErrorCode Touch(HopsArraysWork *a)
{
  const HopsMemoryOps *memory = a->at->memory;
  HopsArrays          *m      = &a->m;
  const size_t         size   = ((size_t)m->nT + m->nF) * sizeof(int);
  MPI_Comm             comm   = PetscObjectComm((PetscObject)a->sp);
  PetscMPIInt          nranks;
  PetscLayout          layout;

  PetscFunctionBegin;
  PetscCall((*memory->PoolMalloc)(size, (void **)&m->touch));
  PetscCall((*memory->PoolMalloc)(size, (void **)&m->count));
  PetscCall((*a->at->arrays->Touch)(m, &a->nuntouched));
  PetscCallMPI(MPI_Comm_size(comm, &nranks));
  if (nranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLayoutCreateFromSizes(comm, m->nT, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscSFCreate(comm, &a->sf));
  PetscCall(PetscSFSetGraphLayout(a->sf, layout, m->nF, NULL, PETSC_OWN_POINTER, a->foreign));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective: too many on one rank are the error of all */
static PetscErrorCode SetForeign(HopsArraysWork *a)
{
  HopsArrays  *m                    = &a->m;
  const size_t size                 = m->nF * sizeof(PetscInt);
  char         why[HOPS_WHY_LENGTH] = "";

  PetscFunctionBegin;
  if ((PetscInt64)m->nT + m->nF >= INT_MAX)
    PetscCall(
      HopsRefuse(why, "A rank owns %d unknowns, and its cells have %" PetscInt_FMT " others: use more ranks", m->nT, m->nF));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)a->sp), PETSC_ERR_SUP, why));
  if (!size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*a->at->memory->PoolMalloc)(size, (void **)&m->foreign));
  PetscCall((*a->at->memory->Copy)(NULL, (void *)m->foreign, a->foreign, size, HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsArraysFinishKeys(HopsArraysWork *a, const PetscInt unknowns[])
{
  HopsArrays *m = &a->m;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m->nF, &a->foreign));
  if (m->nF) PetscCall((*a->at->arrays->ListForeign)(m, unknowns, m->nF, a->foreign));
  PetscCall(PetscSortRemoveDupsInt(&m->nF, a->foreign));
  PetscCall(SetForeign(a));
  if (m->nF) PetscCall((*a->at->arrays->KeysForeign)(m, unknowns));
  PetscCall(Touch(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsArraysWorkCreateOn(HopsSpace sp, HopsSpace other, const HopsBackendOps *at, HopsArraysWork *a)
{
  const PetscInt   nx = sp->dim * HopsPower(sp->gorder + 1, sp->dim);
  HopsArrays      *m  = &a->m, from;
  const int       *restr;
  const PetscReal *X;
  PetscInt         none;
  int             *index, *number, *where;

  PetscFunctionBegin;
  PetscCall(Begin(sp, at, a));
  m->nF = other->nG;
  PetscCall(PetscMalloc1(m->nF, &a->foreign));
  PetscCall(PetscArraycpy(a->foreign, other->ghost, m->nF));
  PetscCall(SetForeign(a));
  if (a->process) {
    PetscCall(HopsSpaceBringMesh(other));
    restr = other->restr;
    X     = other->X;
  } else PetscCall(HopsSpaceGetBackendMesh(other, &restr, &X));
  /* keys are the other's L-vector indices, in the caller's order of cells */
  PetscCall(PetscMalloc2(m->nF, &index, m->ncells, &where));
  for (PetscInt i = 0; i < m->nF; ++i) index[i] = m->nT + (int)i;
  for (PetscInt c = 0; c < m->ncells; ++c) where[other->cell[c] - other->cstart] = (int)c;
  PetscCall((*at->memory->PoolMalloc)(((size_t)m->nT + m->nF) * sizeof(int), (void **)&number));
  from     = *m;
  from.key = (int *)restr;
  PetscCall((*at->arrays->Number)(&from, 0, NULL, index, 0, number, &none));
  PetscCall((*at->arrays->Restrict)(&from, number, where, m->key, nx, X, a->X));
  PetscCall((*at->memory->PoolFree)((void **)&number));
  PetscCall(PetscFree2(index, where));
  PetscCall(Touch(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsArraysWorkDestroy(HopsArraysWork *a)
{
  const HopsMemoryOps *memory = a->at->memory;

  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&a->sf));
  PetscCall(PetscFree(a->entry));
  PetscCall(PetscFree(a->foreign));
  PetscCall((*memory->PoolFree)((void **)&a->m.key));
  PetscCall((*memory->PoolFree)((void **)&a->m.touch));
  PetscCall((*memory->PoolFree)((void **)&a->m.count));
  PetscCall((*memory->PoolFree)((void **)&a->m.foreign));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsArraysKeySF(HopsArraysWork *a, const PetscInt gidx[], PetscSF *sf)
{
  const PetscInt nkeys = a->m.nT + a->m.nF;
  PetscLayout    layout;
  PetscInt      *leaf, *index, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nkeys, &leaf));
  PetscCall(PetscMalloc1(nkeys, &index));
  for (PetscInt k = 0; k < nkeys; ++k) {
    if (!a->m.count[k]) continue;
    leaf[n]    = k;
    index[n++] = gidx[k];
  }
  PetscCall(PetscLayoutCreateFromSizes(PetscObjectComm((PetscObject)a->sp), a->m.nT, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)a->sp), sf));
  PetscCall(PetscSFSetGraphLayout(*sf, layout, n, leaf, PETSC_OWN_POINTER, index));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscCall(PetscFree(index));
  PetscFunctionReturn(PETSC_SUCCESS);
}
