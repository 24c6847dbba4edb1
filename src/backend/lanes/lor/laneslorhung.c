/* Rows of low-order-refined matrices that hanging nodes change: the lists of cells, and where they go in
   rows, see laneslor.h. */
#include "laneslorhungkinds.h"

#define HOPS_HUNG_GROUP (32 * 1024)       /* bytes of the rows of A of a group of cells, about */
#define HOPS_HUNG_WORK  ((size_t)1 << 28) /* bytes of all teams' T, where a team's own memory does not hold one */

struct _HopsLanesLORHang {
  HopsLORHung     hung;
  HopsLORHungWork work;
  HopsLORHungTo   to[2]; /* in rows of owned unknowns, and of ghosts */
  PetscBool       ready, placed[2];
  int             nvalues; /* of all lists */
  int             nmem;
  void           *mem[24]; /* the back end's */
};

/* ---- In the back end's memory ---- */

/* *d becomes n bytes there, a copy of h where that is not NULL */
static PetscErrorCode Bring(HopsLanesLOR k, size_t n, const void *h, void *d)
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;
  void               **p      = &k->hang->mem[k->hang->nmem++];

  PetscFunctionBegin;
  PetscCall((*memory->PoolMalloc)(n, p));
  if (h && n) PetscCall((*memory->Copy)(NULL, *p, h, n, HOPS_COPY_IN));
  *(void **)d = *p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BringShorts(HopsLanesLOR k, const HopsHungList *l, void *d)
{
  unsigned short *x;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(l->n, &x));
  for (int i = 0; i < l->n; i++) {
    PetscCheck(l->x[i] < 65536, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "Order too high for hanging nodes on a device: use -hops_backend host");
    x[i] = (unsigned short)l->x[i];
  }
  PetscCall(Bring(k, l->n * sizeof(*x), x, d));
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a kernel needs to make the lists by T */
static PetscErrorCode BringT(HopsLanesLOR k, const HopsHungKinds *t)
{
  HopsLORHungWork *w  = &k->hang->work;
  const size_t     nr = (size_t)t->nkinds * (t->ne + 1) * sizeof(int);

  PetscFunctionBegin;
  PetscCall(Bring(k, nr, t->trow, &w->trow));
  PetscCall(Bring(k, t->tcol.n * sizeof(int), t->tcol.x, &w->tcol));
  PetscCall(Bring(k, (size_t)t->nkinds * t->ne * sizeof(int), t->prow, &w->prow));
  PetscCall(BringShorts(k, &t->place, &w->place));
  PetscCall(BringShorts(k, &t->rowof, &w->of));
  PetscCall(Bring(k, nr, t->jrow, &w->jrow));
  PetscCall(Bring(k, t->j.n * sizeof(double), t->j.w, &w->j));
  PetscCall(Bring(k, nr, t->jtrow, &w->jtrow));
  PetscCall(Bring(k, t->jt.n * sizeof(int), t->jt.x, &w->jtcol));
  PetscCall(Bring(k, t->jt.n * sizeof(double), t->jt.w, &w->jt));
  if (t->products) {
    PetscCall(Bring(k, t->prod.n * sizeof(int), t->prod.x, &w->prod));
    PetscCall(Bring(k, t->pt.n * sizeof(int), t->pt.x, &w->pt));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BringKinds(HopsLanesLOR k, const HopsHungKinds *t)
{
  HopsLORHung     *h = &k->hang->hung;
  HopsLORHungWork *w = &k->hang->work;

  PetscFunctionBegin;
  PetscCall(Bring(k, (size_t)t->nkinds * (t->ne + 1) * sizeof(int), t->row, &h->row));
  PetscCall(Bring(k, t->col.n * sizeof(int), t->col.x, &h->col));
  PetscCall(Bring(k, t->slot.n * sizeof(int), t->slot.x, &h->slot));
  PetscCall(Bring(k, (t->nkinds + 1) * sizeof(int), t->nlist, &w->nlist));
  PetscCall(Bring(k, t->list.n * sizeof(int), t->list.x, &w->list));
  w->most = t->most;
  if (!t->sums) {
    PetscCall(BringT(k, t));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  w->sums.star = t->star;
  PetscCall(Bring(k, (t->nkinds + 1) * sizeof(int), t->slice, &w->sums.slice));
  PetscCall(Bring(k, t->begin.n * sizeof(int), t->begin.x, &w->sums.begin));
  PetscCall(BringShorts(k, &t->term, &w->sums.at));
  PetscCall(Bring(k, t->term.n * sizeof(double), t->term.w, &w->sums.weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells by their kinds, and groups of these; most: entries of A of a group, or places of T */
static PetscErrorCode BringGroups(HopsLanesLOR k, const HopsHungKinds *t, const int kind[])
{
  HopsSpace        sp = k->space;
  HopsLORHungWork *w  = &k->hang->work;
  int             *next, *cell, *group;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(t->nkinds + 2, &next));
  PetscCall(PetscMalloc2(sp->ncells, &cell, sp->ncells + 1, &group));
  for (PetscInt c = 0; c < sp->ncells; ++c)
    if (kind[c] >= 0) next[kind[c] + 2]++;
  for (int i = 0; i < t->nkinds; i++) next[i + 2] += next[i + 1];
  for (PetscInt c = 0; c < sp->ncells; ++c)
    if (kind[c] >= 0) cell[next[kind[c] + 1]++] = (int)c;
  w->n = 0;
  for (int i = 0; i < t->nkinds; i++) { /* now those of kind i are next[i] to next[i + 1] - 1 */
    const int each = (t->nlist[i + 1] - t->nlist[i]) * t->star, fit = (int)(HOPS_HUNG_GROUP / (each * sizeof(PetscReal)));
    const int most = t->sums ? PetscMax(1, PetscMin(HOPS_LOR_HUNG_CELLS, fit)) : 1;

    for (int c = next[i]; c < next[i + 1]; c += most) group[w->n++] = c;
    if (t->sums) w->most = PetscMax(w->most, each * most);
  }
  group[w->n] = next[t->nkinds];
  PetscCall(Bring(k, next[t->nkinds] * sizeof(int), cell, &w->cell));
  PetscCall(Bring(k, (w->n + 1) * sizeof(int), group, &w->group));
  PetscCall(PetscFree2(cell, group));
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cells, where their lists begin, and memory for these */
static PetscErrorCode BringCells(HopsLanesLOR k, const HopsHungKinds *t, const int kind[])
{
  HopsSpace  sp  = k->space;
  PetscInt64 all = 0;
  int       *first;

  PetscFunctionBegin;
  PetscCall(BringGroups(k, t, kind));
  PetscCall(PetscMalloc1(sp->ncells, &first));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    first[c] = (int)all;
    if (kind[c] < 0) continue;
    all += t->row[kind[c] * (t->ne + 1) + t->ne] - t->row[kind[c] * (t->ne + 1)];
    PetscCheck(all < INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The cells with hanging nodes of a rank have more than 2^31 entries of the low-order-refined matrix: use more "
               "ranks");
  }
  PetscCall(Bring(k, sp->ncells * sizeof(int), first, &k->hang->hung.first));
  PetscCall(Bring(k, sp->ncells * sizeof(int), kind, &k->hang->hung.kind));
  PetscCall(Bring(k, (size_t)all * sizeof(double), NULL, &k->hang->work.values));
  k->hang->nvalues = (int)all;
  PetscCall(PetscFree(first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries whose rows J changes leave the mesh's list for one of their own */
static PetscErrorCode SplitEntries(HopsLanesLOR k, const HopsHungKinds *t)
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;
  HopsSpace            sp     = k->space;
  const size_t         ne     = (size_t)sp->ncells * sp->ne;
  const int            nl     = k->lump ? (int)(sp->nT + sp->nG) : (int)sp->nL;
  unsigned char       *changed;
  int                 *keys[2], *begin, *entry;

  PetscFunctionBegin;
  PetscCall(Bring(k, (nl + 1) * sizeof(int), NULL, &begin));
  PetscCall(Bring(k, ne * sizeof(int), NULL, &entry));
  k->hang->hung.begin = begin;
  k->hang->hung.entry = entry;
  PetscCall((*memory->PoolMalloc)((size_t)t->nkinds * t->ne, (void **)&changed));
  if (t->nkinds) PetscCall((*memory->Copy)(NULL, changed, t->changed, (size_t)t->nkinds * t->ne, HOPS_COPY_IN));
  for (int i = 0; i < 2; i++) PetscCall((*memory->PoolMalloc)(ne * sizeof(int), (void **)&keys[i]));
  if (ne) PetscCall((*k->kernels->HungKeys)(ne, (int)sp->ne, k->hang->hung.kind, changed, k->mesh.restr, nl, keys[0], keys[1]));
  PetscCall((*k->kernels->Transpose)(ne, keys[0], nl, k->begin, k->entry));
  PetscCall((*k->kernels->Transpose)(ne, keys[1], nl, begin, entry));
  for (int i = 0; i < 2; i++) PetscCall((*memory->PoolFree)((void **)&keys[i]));
  PetscCall((*memory->PoolFree)((void **)&changed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Where numbers of lists go in rows ---- */

static PetscErrorCode FreeTo(HopsLanesLOR k, HopsLORHungTo *to)
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;

  PetscFunctionBegin;
  PetscCall((*memory->PoolFree)((void **)&to->to));
  PetscCall((*memory->PoolFree)((void **)&to->end));
  PetscCall((*memory->PoolFree)((void **)&to->from));
  to->n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A number of a list takes part in one row */
static PetscErrorCode FindTo(HopsLanesLOR k, const HopsLORRows *rows, HopsLORHungTo *to)
{
  const HopsLanesLORKernels *kernels = k->kernels;
  const HopsMemoryOps       *memory  = kernels->backend->memory;
  const HopsLORHung         *h       = &k->hang->hung;
  const int                  ne      = (int)k->space->ne;
  int                       *offset, *place, n;

  PetscFunctionBegin;
  PetscCall(FreeTo(k, to));
  PetscCall((*memory->PoolMalloc)((rows->n + 1) * sizeof(int), (void **)&offset));
  PetscCall((*memory->PoolMalloc)(k->hang->nvalues * sizeof(int), (void **)&place));
  PetscCall((*kernels->HungLengths)(h, rows, offset));
  PetscCall((*kernels->Scan)(rows->n, offset));
  PetscCall((*memory->Copy)(NULL, &to->n, offset + rows->n, sizeof(int), HOPS_COPY_OUT));
  PetscCall((*memory->PoolMalloc)(to->n * sizeof(int), (void **)&to->to));
  PetscCall((*memory->PoolMalloc)((to->n + 1) * sizeof(int), (void **)&to->end));
  PetscCall((*kernels->Set)(to->end, 0, (to->n + 1) * sizeof(int)));
  PetscCall((*kernels->HungPlaces)(h, k->mesh.restr, ne, k->mesh.nfree, rows, offset, to, place));
  PetscCall((*kernels->Scan)(to->n, to->end));
  PetscCall((*memory->Copy)(NULL, &n, to->end + to->n, sizeof(int), HOPS_COPY_OUT));
  PetscCall((*memory->PoolMalloc)(n * sizeof(int), (void **)&to->from));
  PetscCall((*kernels->HungFrom)(h, ne, rows, offset, place, to));
  PetscCall((*memory->PoolFree)((void **)&offset));
  PetscCall((*memory->PoolFree)((void **)&place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- What the matrix calls ---- */

PetscErrorCode HopsLORHangCreate(HopsLanesLOR k)
{
  PetscFunctionBegin;
  if (!k->space->hanging || k->space->family == HOPS_L2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&k->hang));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORHangReset(HopsLanesLOR k)
{
  struct _HopsLanesLORHang *h = k->hang;

  PetscFunctionBegin;
  if (!h) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < h->nmem; i++) PetscCall((*k->kernels->backend->memory->PoolFree)(&h->mem[i]));
  for (int b = 0; b < 2; b++) PetscCall(FreeTo(k, h->to + b));
  PetscCall(PetscMemzero(h, sizeof(*h)));
  k->mesh.hung = h->hung;
  if (k->lump) k->lump->mesh.hung = h->hung;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORHangDestroy(HopsLanesLOR k)
{
  PetscFunctionBegin;
  PetscCall(HopsLORHangReset(k));
  PetscCall(PetscFree(k->hang));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORHangSetUp(HopsLanesLOR k, const HopsLORRows *rows)
{
  HopsSpace                 sp = k->space;
  struct _HopsLanesLORHang *h  = k->hang;
  unsigned char            *pairs;
  int                      *kind;
  HopsHanging               J;
  HopsHungKinds             t;

  PetscFunctionBegin;
  if (h) h->placed[rows->first ? 1 : 0] = PETSC_FALSE;
  if (!h || h->ready) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(sp->ncells, &pairs, sp->ncells, &kind));
  PetscCall((*k->kernels->backend->memory->Copy)(NULL, pairs, k->mask, sp->ncells, HOPS_COPY_OUT));
  PetscCall(HopsHangingCreate(sp->family, sp->dim, sp->order, &J));
  PetscCall(HopsHungKindsCreate(k, &J, pairs, kind, &t));
  PetscCall(HopsHangingDestroy(&J));
  PetscCall(BringKinds(k, &t));
  PetscCall(BringCells(k, &t, kind));
  PetscCall(SplitEntries(k, &t));
  PetscCall(PetscInfo(sp, "cells with hanging nodes are of %d kinds; their rows come %s, %d numbers of a team\n", t.nkinds,
                      t.sums ? "by sums" : "in two steps", h->work.most));
  PetscCall(HopsHungKindsDestroy(&t));
  PetscCall(PetscFree2(pairs, kind));
  k->mesh.hung = h->hung;
  if (k->lump) k->lump->mesh.hung = h->hung;
  h->ready = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORHangLists(HopsLanesLOR k, HopsLORVertexData d, PetscBool coupled)
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;
  const bool           mixed  = d && d->v.mixed && coupled;
  HopsLORHungWork     *w;
  PetscBool            own;

  PetscFunctionBegin;
  if (!k->hang || !k->hang->work.n) PetscFunctionReturn(PETSC_SUCCESS);
  w        = &k->hang->work;
  w->teams = w->n;
  own      = PETSC_TRUE;
  if (!w->sums.at) {
    int teams;

    if (k->lump) PetscCall((*k->kernels->lump->HungTeams)(w->most * sizeof(double), &teams, &own));
    else PetscCall((*k->kernels->HungTeams)(&k->mesh, mixed, w->most * sizeof(double), &teams, &own));
    w->teams = PetscMin(teams, w->n);
  }
  if (!own) {
    const size_t bytes = w->most * sizeof(double);

    w->teams = (int)PetscMin((size_t)w->teams, PetscMax(HOPS_HUNG_WORK / bytes, 1));
    PetscCall((*memory->PoolMalloc)(w->teams * bytes, (void **)&w->work));
  }
  if (k->lump) PetscCall((*k->kernels->lump->HungLists)(&k->lump->mesh, w));
  else PetscCall((*k->kernels->HungLists)(&k->mesh, &d->v, mixed, w));
  PetscCall((*memory->PoolFree)((void **)&w->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORHangRows(HopsLanesLOR k, HopsLORRows *rows)
{
  struct _HopsLanesLORHang *h = k->hang;
  const int                 b = rows->first ? 1 : 0;

  PetscFunctionBegin;
  if (!h || !h->work.n || !rows->n) PetscFunctionReturn(PETSC_SUCCESS);
  if (!h->placed[b]) PetscCall(FindTo(k, rows, h->to + b));
  h->placed[b] = PETSC_TRUE;
  if (h->to[b].n) PetscCall((*k->kernels->HungRows)(h->to + b, h->work.values, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
