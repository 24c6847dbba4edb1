/* Rows of low-order-refined matrices that hanging nodes change: the lists of cells, and where they go in
   rows, see laneslor.h. */
#include "laneslorhungkinds.h"

#define HOPS_HUNG_GROUP (32 * 1024)       /* bytes of the rows of A of a group of cells, about */
#define HOPS_HUNG_WORK  ((size_t)1 << 28) /* bytes of all teams' T, where a team's own memory does not hold one */

struct _HopsLanesLORHang {
  HopsHungTables     tables;
  HopsLORHung        hung;
  HopsLORHungWork    work;
  HopsLORHungNumbers numbers;  /* until all rows have their places */
  HopsLORHungTo      to[2];    /* in rows of owned unknowns, and of ghosts */
  int                nentries; /* whose rows J changes */
  PetscBool          ready, placed[2];
  int                nmem;
  void              *mem[8]; /* the back end's */
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

/* next[kind], where cells of a kind begin, and groups of these; most: entries of A of a group, or places of
   T */
static void GroupCells(HopsLanesLOR k, const int count[], int next[], int group[])
{
  const HopsHungTables t = k->hang->tables;
  HopsLORHungWork     *w = &k->hang->work;

  w->n = w->ncells = 0;
  for (int i = 0; i < t->nkinds; i++) {
    const int each = t->nrows[i] * w->sums.star, fit = (int)(HOPS_HUNG_GROUP / PetscMax(each * sizeof(PetscReal), 1));
    const int most = w->sums.at ? PetscMax(1, PetscMin(HOPS_LOR_HUNG_CELLS, fit)) : 1, n = count[t->of[i]];

    next[i] = w->ncells;
    for (int c = 0; c < n; c += most) group[w->n++] = w->ncells + c;
    if (w->sums.at && n) w->most = PetscMax(w->most, each * most);
    w->ncells += n;
  }
  group[w->n] = w->ncells;
}

/* The cells by their kinds, where their lists begin, and memory for these */
static PetscErrorCode BringCells(HopsLanesLOR k, const unsigned short hang[], const int count[])
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;
  const PetscInt       n      = k->space->ncells;
  const HopsHungTables t      = k->hang->tables;
  HopsLORHungWork     *w      = &k->hang->work;
  PetscInt64           all    = 0;
  int                 *next, *there, *group, *first, *kind, *cell, hanging = 0;

  PetscFunctionBegin;
  for (int i = 0; i < t->nkinds; i++) {
    all += (PetscInt64)count[t->of[i]] * t->nvalues[i];
    hanging += count[t->of[i]];
  }
  PetscCheck(all < INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The cells with hanging nodes of a rank have more than 2^31 entries of the low-order-refined matrix: use more ranks");
  PetscCall(PetscMalloc1(t->nkinds + hanging + 1, &next)); /* then groups: one copy */
  GroupCells(k, count, next, next + t->nkinds);
  PetscCall(Bring(k, (t->nkinds + w->n + 1) * sizeof(int), next, &there));
  group = there + t->nkinds;
  PetscCall(Bring(k, (2 * n + 1 + hanging) * sizeof(int), NULL, &first));
  kind = first + n + 1;
  cell = kind + n;
  if (n) PetscCall((*k->kernels->HungKinds)(n, hang, k->mask, t->there[0], t->there[1], kind, first, there, cell));
  PetscCall((*k->kernels->Scan)(n, first));
  k->hang->hung.first = first;
  k->hang->hung.kind  = kind;
  w->cell             = cell;
  w->group            = group;
  PetscCall((*memory->PoolMalloc)((size_t)all * sizeof(double), (void **)&w->values));
  k->hang->mem[k->hang->nmem++] = w->values;
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries whose rows J changes leave the mesh's list for one of their own */
static PetscErrorCode SplitEntries(HopsLanesLOR k)
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;
  HopsSpace            sp     = k->space;
  const size_t         ne     = (size_t)sp->ncells * sp->ne;
  const int            nl     = k->lump ? (int)(sp->nT + sp->nG) : (int)sp->nL;
  int                 *keys[2], *begin, *entry;

  PetscFunctionBegin;
  PetscCall(Bring(k, (nl + 1) * sizeof(int), NULL, &begin));
  PetscCall(Bring(k, ne * sizeof(int), NULL, &entry));
  k->hang->hung.begin = begin;
  k->hang->hung.entry = entry;
  for (int i = 0; i < 2; i++) PetscCall((*memory->PoolMalloc)(ne * sizeof(int), (void **)&keys[i]));
  if (ne)
    PetscCall(
      (*k->kernels->HungKeys)(ne, (int)sp->ne, k->hang->hung.kind, k->hang->tables->changed, k->mesh.restr, nl, keys[0], keys[1]));
  PetscCall((*k->kernels->Transpose)(ne, keys[0], nl, k->begin, k->entry));
  PetscCall((*k->kernels->Transpose)(ne, keys[1], nl, begin, entry));
  for (int i = 0; i < 2; i++) PetscCall((*memory->PoolFree)((void **)&keys[i]));
  k->mesh.hung = k->hang->hung;
  PetscCall((*memory->Copy)(NULL, &k->hang->nentries, begin + nl, sizeof(int), HOPS_COPY_OUT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Where numbers of lists go in rows ---- */

static PetscErrorCode FreeTo(HopsLanesLOR k, HopsLORHungTo *to)
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;

  PetscFunctionBegin;
  PetscCall((*memory->PoolFree)((void **)&to->to));
  PetscCall((*memory->PoolFree)((void **)&to->begin));
  PetscCall((*memory->PoolFree)((void **)&to->from));
  to->n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FreeNumbers(HopsLanesLOR k)
{
  const HopsMemoryOps *memory = k->kernels->backend->memory;
  HopsLORHungNumbers  *x      = &k->hang->numbers;

  PetscFunctionBegin;
  PetscCall((*memory->PoolFree)((void **)&x->first));
  PetscCall((*memory->PoolFree)((void **)&x->at));
  PetscCall((*memory->PoolFree)((void **)&x->source));
  x->n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FindNumbers(HopsLanesLOR k)
{
  const HopsLORHungWork *w = &k->hang->work;

  PetscFunctionBegin;
  if (k->hang->numbers.first) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
    (*k->kernels->HungNumbers)(&k->mesh, (int)k->space->ne, !k->lump, k->hang->nentries, w->ncells, w->cell, &k->hang->numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A number of a list takes part in one row */
static PetscErrorCode FindTo(HopsLanesLOR k, const HopsLORRows *rows, HopsLORHungTo *to)
{
  const HopsLanesLORKernels *kernels = k->kernels;
  const HopsMemoryOps       *memory  = kernels->backend->memory;
  const HopsLORHungNumbers  *x       = &k->hang->numbers;
  int                       *offset;

  PetscFunctionBegin;
  PetscCall(FreeTo(k, to));
  PetscCall(FindNumbers(k));
  PetscCall((*memory->PoolMalloc)((rows->n + 1) * sizeof(int), (void **)&offset));
  PetscCall((*memory->PoolMalloc)(x->n * sizeof(int), (void **)&to->from));
  PetscCall((*kernels->HungLengths)(&k->hang->hung, rows, offset));
  PetscCall((*kernels->Scan)(rows->n, offset));
  PetscCall((*memory->Copy)(NULL, &to->n, offset + rows->n, sizeof(int), HOPS_COPY_OUT));
  PetscCall((*memory->PoolMalloc)(to->n * sizeof(int), (void **)&to->to));
  PetscCall((*memory->PoolMalloc)((to->n + 1) * sizeof(int), (void **)&to->begin));
  PetscCall((*kernels->HungPlaces)(x, k->lump != NULL, k->mesh.nfree, rows, offset, to));
  PetscCall((*memory->PoolFree)((void **)&offset));
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
  PetscCall(FreeNumbers(k));
  PetscCall(HopsHungTablesRelease(&h->tables));
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

/* What depends on the kinds of cells */
static PetscErrorCode SetUpKinds(HopsLanesLOR k)
{
  HopsSpace                 sp     = k->space;
  const HopsMemoryOps      *memory = k->kernels->backend->memory;
  struct _HopsLanesLORHang *h      = k->hang;
  int                      *count, *there;
  unsigned short           *hang;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(HOPS_HUNG_KINDS, &count));
  PetscCall((*memory->PoolMalloc)(HOPS_HUNG_KINDS * sizeof(int), (void **)&there));
  PetscCall((*memory->PoolMalloc)(sp->ncells * sizeof(*hang), (void **)&hang));
  PetscCall((*memory->Copy)(NULL, hang, sp->hang, sp->ncells * sizeof(*hang), HOPS_COPY_IN));
  PetscCall((*k->kernels->Set)(there, 0, HOPS_HUNG_KINDS * sizeof(int)));
  if (sp->ncells) PetscCall((*k->kernels->HungCount)(sp->ncells, hang, k->mask, there));
  PetscCall((*memory->Copy)(NULL, count, there, HOPS_HUNG_KINDS * sizeof(int), HOPS_COPY_OUT));
  PetscCall(HopsHungTablesGet(k, count, &h->tables));
  h->hung = h->tables->hung;
  h->work = h->tables->work;
  PetscCall(BringCells(k, hang, count));
  PetscCall((*memory->PoolFree)((void **)&hang));
  PetscCall((*memory->PoolFree)((void **)&there));
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORHangSetUp(HopsLanesLOR k, const HopsLORRows *rows)
{
  struct _HopsLanesLORHang *h = k->hang;

  PetscFunctionBegin;
  if (h) h->placed[rows->first ? 1 : 0] = PETSC_FALSE;
  if (!h || h->ready) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SetUpKinds(k));
  PetscCall(SplitEntries(k));
  k->mesh.hung = h->hung;
  PetscCall(FindNumbers(k));
  PetscCall((*k->kernels->HungColumns)(&k->mesh, !k->lump, rows->coupled, h->nentries, &h->numbers, &h->hung));
  h->mem[h->nmem++] = (void *)h->hung.extra;
  h->mem[h->nmem++] = (void *)h->hung.extracol;
  k->mesh.hung      = h->hung;
  if (k->lump) k->lump->mesh.hung = h->hung;
  h->ready = PETSC_TRUE;
  PetscCall(PetscInfo(k->space, "%d cells with hanging nodes of %d kinds, %d numbers of a team\n", h->work.ncells,
                      h->tables->nkinds, h->work.most));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORHangDone(HopsLanesLOR k)
{
  PetscFunctionBegin;
  if (k->hang) PetscCall(FreeNumbers(k));
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
