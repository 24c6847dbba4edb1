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
  if (a->at->host) {
    PetscCall(PetscMalloc(size, &a->X));
    HopsHostAdvise(a->X, size);
  } else PetscCall((*a->at->memory->Malloc)(size, (void **)&a->X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsArraysWorkCreate(HopsSpace sp, const HopsBackendOps *at, const PetscInt unknowns[], const PetscReal coords[],
                                    HopsArraysWork *a, char why[])
{
  const HopsMemoryOps *memory = at->memory;
  const PetscInt       ng     = HopsPower(sp->gorder + 1, sp->dim);
  HopsArrays          *m      = &a->m;
  HopsLayout           l;
  PetscInt             bad[2], nforeign;

  PetscFunctionBegin;
  *a = (HopsArraysWork){.sp = sp, .at = at};
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
  PetscCall(HopsCheckInt("unknowns", sp->nT));
  PetscCall(HopsCheckInt("unknowns of the cells", (PetscInt64)sp->ncells * sp->ne));
  PetscCall(PetscMalloc1(sp->ne, &a->entry));
  PetscCall(Entries(&l, m, a->entry));
  PetscCall((*memory->PoolMalloc)((size_t)m->ncells * m->ne * sizeof(int), (void **)&m->key));
  PetscCall(CreateNodes(a, (size_t)m->ncells * ng * m->dim * sizeof(PetscReal)));
  PetscCall((*at->arrays->Keys)(m, unknowns, &bad[0], &nforeign));
  PetscCall((*at->arrays->Nodes)(m->ncells, m->dim, ng, coords, a->X, &bad[1]));
  if (bad[0] >= 0) {
    PetscInt u;

    PetscCall((*memory->Copy)(NULL, &u, unknowns + bad[0], sizeof(PetscInt), HOPS_COPY_OUT));
    if (u < 0 && (sp->family == HOPS_HCURL || sp->family == HOPS_HDIV)) u = -1 - u;
    PetscCall(HopsRefuse(why,
                         "A node of cell %" PetscInt_FMT " has global index %" PetscInt_FMT ", outside [0,%" PetscInt_FMT ")%s",
                         bad[0] / sp->ne, u, sp->N, u < 0 ? ": signs are for H(curl) and H(div)" : ""));
  }
  if (bad[1] >= 0) PetscCall(HopsRefuse(why, "A coordinate of cell %" PetscInt_FMT " is infinite or not-a-number", bad[1]));
  m->nF = nforeign; /* places, until the numbers are known */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsArraysFinishKeys(HopsArraysWork *a, const PetscInt unknowns[])
{
  const HopsMemoryOps *memory = a->at->memory;
  MPI_Comm             comm   = PetscObjectComm((PetscObject)a->sp);
  HopsArrays          *m      = &a->m;
  PetscInt             n      = m->nF;
  PetscMPIInt          nranks;
  PetscLayout          layout;
  size_t               size;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &a->foreign));
  if (n) PetscCall((*a->at->arrays->ListForeign)(m, unknowns, n, a->foreign));
  PetscCall(PetscSortRemoveDupsInt(&n, a->foreign));
  m->nF = n;
  PetscCall(HopsCheckInt("unknowns", (PetscInt64)m->nT + n));
  if (n) {
    PetscCall((*memory->PoolMalloc)(n * sizeof(PetscInt), (void **)&m->foreign));
    PetscCall((*memory->Copy)(NULL, (void *)m->foreign, a->foreign, n * sizeof(PetscInt), HOPS_COPY_IN));
    PetscCall((*a->at->arrays->KeysForeign)(m, unknowns));
  }
  size = ((size_t)m->nT + n) * sizeof(int);
  PetscCall((*memory->PoolMalloc)(size, (void **)&m->touch));
  PetscCall((*memory->PoolMalloc)(size, (void **)&m->count));
  PetscCall((*a->at->arrays->Touch)(m, &a->nuntouched));
  PetscCallMPI(MPI_Comm_size(comm, &nranks));
  if (nranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLayoutCreateFromSizes(comm, m->nT, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscSFCreate(comm, &a->sf));
  PetscCall(PetscSFSetGraphLayout(a->sf, layout, n, NULL, PETSC_OWN_POINTER, a->foreign));
  PetscCall(PetscLayoutDestroy(&layout));
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
