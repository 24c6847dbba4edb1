/* Rows of low-order-refined matrices that hanging nodes change: the tables of each kind of cell, see
   laneslor.h. */
#include <hops/private/hopshanging.h>
#include "laneslump.h"

#define HOPS_HUNG_KINDS    (8 * HOPS_HANGING_MASKS)
#define HOPS_HUNG_PRODUCTS 4000000           /* of all kinds, that are listed */
#define HOPS_HUNG_STAR     128               /* columns of a row of the cell's matrix, at most */
#define HOPS_HUNG_WORK     ((size_t)1 << 28) /* bytes of all teams' T, where a team's own memory does not hold one */

struct _HopsLanesLORHang {
  HopsLORHung     hung;
  HopsLORHungWork work;
  PetscBool       ready, placed[2]; /* placed: in rows of owned unknowns, and of ghosts */
  int            *place;            /* of the lists' numbers in their rows */
  int             nmem;
  void           *mem[24]; /* the back end's */
};

/* Tables of all kinds in the process's memory, as they grow */
typedef struct {
  int        n, size;
  int       *x;
  PetscReal *w;
} List;

typedef struct {
  int       ne, nkinds, most, number[HOPS_HUNG_KINDS], of[HOPS_HUNG_KINDS]; /* a kind's number; 8 * mask of hanging nodes + pairs */
  int      *row, *nlist, *trow, *prow, *jrow, *jtrow;
  List      col, rowof, list, tcol, place, j, jt, prod, pt; /* jtcol with jt */
  List     *sum;                                            /* [ne] scratch */
  PetscBool products;
  unsigned char *changed;
} Kinds;

/* ---- One kind ---- */

static PetscErrorCode Push(List *l, int x, PetscReal w)
{
  PetscFunctionBegin;
  if (l->n == l->size) {
    PetscCheck(l->size <= INT_MAX / 2, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The order is too high for hanging nodes on this back end: run with -hops_backend host");
    l->size = PetscMax(1024, 2 * l->size);
    PetscCall(PetscRealloc(l->size * sizeof(*l->x), &l->x));
    PetscCall(PetscRealloc(l->size * sizeof(*l->w), &l->w));
  }
  l->x[l->n]   = x;
  l->w[l->n++] = w;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns of row v of a cell's matrix, in the order of Star (laneslorrow.h); of other families as in their
   tables */
static int PlainRow(HopsLanesLOR k, int pairs, int v, int col[])
{
  const int dim = k->mesh.dim, P = k->P, st[3] = {1, P, P * P}, at[3] = {v % P, v / P % P, v / (P * P)}, ne = (int)k->space->ne;
  int       n = 0;

  if (k->lump) {
    for (; n < k->lump->hostcount[pairs][v] >> 16; n++) col[n] = k->lump->hostcol[pairs][(size_t)n * ne + v];
    return n;
  }
  col[n++] = v;
  for (int a = 0; a < dim; a++) {
    if (at[a] < P - 1) col[n++] = v + st[a];
    if (at[a] > 0) col[n++] = v - st[a];
  }
  for (int a = 0; a < dim; a++)
    for (int b = a + 1; b < dim; b++)
      for (int t = 0; t < 4; t++) {
        const int x = t < 2 ? 1 : -1, y = t & 1 ? -1 : 1;

        if (!(pairs >> (a + b - 1) & 1)) continue;
        if (at[a] + x >= 0 && at[a] + x < P && at[b] + y >= 0 && at[b] + y < P) col[n++] = v + x * st[a] + y * st[b];
      }
  return n;
}

/* J and its transpose, as rows of kind t->nkinds */
static PetscErrorCode AddJ(const HopsHanging *h, unsigned mask, PetscInt most, Kinds *t)
{
  const int  ne   = t->ne;
  int       *jrow = t->jrow + t->nkinds * (ne + 1), *jtrow = t->jtrow + t->nkinds * (ne + 1), *start, *col, *count;
  PetscReal *w;

  PetscFunctionBegin;
  PetscCall(HopsHangingRows(h, mask, most, &start, &col, &w));
  PetscCall(PetscCalloc1(ne + 1, &count));
  for (int v = 0; v <= ne; v++) jrow[v] = t->j.n + start[v];
  for (int i = 0; i < start[ne]; i++) {
    PetscCall(Push(&t->j, col[i], w[i]));
    PetscCall(Push(&t->jt, -1, 0.0));
    count[col[i] + 1]++;
  }
  for (int v = 0; v < ne; v++) count[v + 1] += count[v];
  for (int v = 0; v <= ne; v++) jtrow[v] = t->jt.n - start[ne] + count[v];
  for (int v = 0; v < ne; v++)
    for (int i = start[v]; i < start[v + 1]; i++) {
      const int at = t->jt.n - start[ne] + count[col[i]]++;

      t->jt.x[at] = v;
      t->jt.w[at] = w[i];
    }
  PetscCall(PetscFree(count));
  PetscCall(PetscFree(start));
  PetscCall(PetscFree(col));
  PetscCall(PetscFree(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does J leave entry v what it is, and give it to nobody else? */
static int Own(const Kinds *t, int base, int v)
{
  const int j = t->jrow[base + v], jt = t->jtrow[base + v];

  return t->jrow[base + v + 1] - j == 1 && t->j.x[j] == v && t->j.w[j] == 1.0 && t->jtrow[base + v + 1] - jt == 1;
}

/* Column c, in mark[] -1 until now, is one of the m in list[] */
static void Mark(int c, int mark[], int list[], int *m)
{
  if (mark[c] >= 0) return;
  mark[c]      = 0;
  list[(*m)++] = c;
}

/* The m columns of list[] ascending, and their places in mark[] */
static PetscErrorCode PushMarked(int m, int list[], int mark[], List *l)
{
  PetscFunctionBegin;
  for (int i = 1; i < m; i++) {
    const int c = list[i];
    int       k = i;

    for (; k > 0 && list[k - 1] > c; k--) list[k] = list[k - 1];
    list[k] = c;
  }
  for (int i = 0; i < m; i++) {
    mark[list[i]] = i;
    PetscCall(Push(l, list[i], 0.0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which rows J changes; rows of T = A J of the entries that these are made of, and places of products
   there */
static PetscErrorCode AddT(HopsLanesLOR k, int pairs, Kinds *t, int mark[], int list[])
{
  const int      ne = t->ne, base = t->nkinds * (ne + 1), first = t->tcol.n;
  unsigned char *changed = t->changed + (size_t)t->nkinds * ne, *needed;
  int            col[HOPS_HUNG_STAR];

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(ne, &needed));
  for (int v = 0; v < ne; v++) {
    const int n = PlainRow(k, pairs, v, col);

    changed[v] = 0;
    for (int s = 0; s < n; s++) changed[v] |= !Own(t, base, col[s]);
    for (int i = t->jtrow[base + v]; changed[v] && i < t->jtrow[base + v + 1]; i++) needed[t->jt.x[i]] = 1;
  }
  for (int v = 0; v < ne; v++) {
    const int n = PlainRow(k, pairs, v, col);
    int       m = 0;

    t->trow[base + v]           = t->tcol.n;
    t->prow[t->nkinds * ne + v] = t->place.n;
    if (!needed[v]) continue;
    PetscCall(Push(&t->list, v, 0.0));
    for (int s = 0; s < n; s++)
      for (int j = t->jrow[base + col[s]]; j < t->jrow[base + col[s] + 1]; j++) Mark(t->j.x[j], mark, list, &m);
    PetscCall(PushMarked(m, list, mark, &t->tcol));
    for (int s = 0; s < n; s++)
      for (int j = t->jrow[base + col[s]]; j < t->jrow[base + col[s] + 1]; j++) PetscCall(Push(&t->place, mark[t->j.x[j]], 0.0));
    while (m > 0) mark[list[--m]] = -1;
  }
  t->trow[base + ne]      = t->tcol.n;
  t->nlist[t->nkinds + 1] = t->list.n;
  t->most                 = PetscMax(t->most, t->tcol.n - first);
  PetscCall(PetscFree(needed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of J^T T */
static PetscErrorCode AddRows(Kinds *t, int mark[], int list[])
{
  const int            ne = t->ne, base = t->nkinds * (ne + 1);
  const unsigned char *changed = t->changed + (size_t)t->nkinds * ne;

  PetscFunctionBegin;
  for (int r = 0; r < ne; r++) {
    const int n = t->col.n;
    int       m = 0;

    t->row[base + r] = n;
    if (!changed[r]) continue;
    for (int i = t->jtrow[base + r]; i < t->jtrow[base + r + 1]; i++)
      for (int j = t->trow[base + t->jt.x[i]]; j < t->trow[base + t->jt.x[i] + 1]; j++) Mark(t->tcol.x[j], mark, list, &m);
    PetscCall(PushMarked(m, list, mark, &t->col));
    while (m > 0) mark[list[--m]] = -1;
    for (int i = n; i < t->col.n; i++) PetscCall(Push(&t->rowof, r, 0.0));
  }
  t->row[base + ne] = t->col.n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which products of T each column of J^T T sums, if these are not too many */
static PetscErrorCode AddProducts(Kinds *t, int mark[])
{
  const int ne = t->ne, base = t->nkinds * (ne + 1), first = t->trow[base];

  PetscFunctionBegin;
  if (t->tcol.n - first > 65536 || t->jt.n - t->jtrow[base] > 65536) t->products = PETSC_FALSE;
  for (int r = 0; r < ne && t->products; r++) {
    const int n = t->row[base + r + 1] - t->row[base + r], *col = t->col.x + t->row[base + r];
    List     *sum = t->sum;

    for (int k = 0; k < n; k++) sum[k].n = 0;
    for (int k = 0; k < n; k++) mark[col[k]] = k;
    for (int i = t->jtrow[base + r]; n && i < t->jtrow[base + r + 1]; i++)
      for (int j = t->trow[base + t->jt.x[i]]; j < t->trow[base + t->jt.x[i] + 1]; j++)
        PetscCall(Push(&sum[mark[t->tcol.x[j]]], (int)(65536u * (unsigned)(i - t->jtrow[base]) + (unsigned)(j - first)), 0.0));
    for (int k = 0; k < n; k++) {
      mark[col[k]] = -1;
      PetscCall(Push(&t->prod, t->pt.n, 0.0));
      for (int i = 0; i < sum[k].n; i++) PetscCall(Push(&t->pt, sum[k].x[i], 0.0));
    }
    if (t->pt.n > HOPS_HUNG_PRODUCTS) t->products = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- All kinds ---- */

/* kind[ncells], and the kinds' numbers */
static PetscErrorCode FindKinds(HopsSpace sp, const HopsHanging *h, const unsigned char pairs[], int kind[], Kinds *t)
{
  PetscBool *on, some[HOPS_HANGING_MASKS];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(h->ne, &on));
  for (unsigned m = 0; m < HOPS_HANGING_MASKS; m++) some[m] = m && HopsHangingNodes(h, m, on) ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscFree(on));
  for (int i = 0; i < HOPS_HUNG_KINDS; i++) t->number[i] = -1;
  t->nkinds = 0;
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    const int i = 8 * sp->hang[c] + pairs[c];

    kind[c] = -1;
    if (!some[sp->hang[c]]) continue;
    if (t->number[i] < 0) {
      t->of[t->nkinds] = i;
      t->number[i]     = t->nkinds++;
    }
    kind[c] = t->number[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KindsCreate(HopsLanesLOR k, const HopsHanging *h, const unsigned char pairs[], int kind[], Kinds *t)
{
  HopsSpace sp = k->space;
  const int ne = (int)sp->ne;
  int      *mark, *list, n;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(t, sizeof(*t)));
  t->ne = ne;
  PetscCall(FindKinds(sp, h, pairs, kind, t));
  n = t->nkinds;
  PetscCall(PetscMalloc6(n * (ne + 1), &t->row, n + 1, &t->nlist, n * (ne + 1), &t->trow, n * ne, &t->prow, n * (ne + 1), &t->jrow,
                         n * (ne + 1), &t->jtrow));
  PetscCall(PetscMalloc1((size_t)n * ne, &t->changed));
  PetscCall(PetscMalloc2(ne, &mark, ne, &list));
  for (int c = 0; c < ne; c++) mark[c] = -1;
  PetscCall(PetscCalloc1(ne, &t->sum));
  t->products = PETSC_TRUE;
  t->nlist[0] = 0;
  for (t->nkinds = 0; t->nkinds < n; t->nkinds++) {
    PetscCall(AddJ(h, (unsigned)t->of[t->nkinds] / 8, k->lump ? 0 : k->head.constraintentries, t));
    PetscCall(AddT(k, t->of[t->nkinds] % 8, t, mark, list));
    PetscCall(AddRows(t, mark, list));
    PetscCall(AddProducts(t, mark));
  }
  PetscCall(Push(&t->prod, t->pt.n, 0.0));
  PetscCall(PetscFree2(mark, list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KindsDestroy(Kinds *t)
{
  List *const lists[] = {&t->col, &t->rowof, &t->list, &t->tcol, &t->place, &t->j, &t->jt, &t->prod, &t->pt};

  PetscFunctionBegin;
  for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
    PetscCall(PetscFree(lists[i]->x));
    PetscCall(PetscFree(lists[i]->w));
  }
  for (int c = 0; c < t->ne; c++) {
    PetscCall(PetscFree(t->sum[c].x));
    PetscCall(PetscFree(t->sum[c].w));
  }
  PetscCall(PetscFree(t->sum));
  PetscCall(PetscFree6(t->row, t->nlist, t->trow, t->prow, t->jrow, t->jtrow));
  PetscCall(PetscFree(t->changed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

static PetscErrorCode BringShorts(HopsLanesLOR k, const List *l, void *d)
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

static PetscErrorCode BringKinds(HopsLanesLOR k, const Kinds *t)
{
  HopsLORHung     *h  = &k->hang->hung;
  HopsLORHungWork *w  = &k->hang->work;
  const size_t     nr = (size_t)t->nkinds * (t->ne + 1) * sizeof(int);

  PetscFunctionBegin;
  PetscCall(Bring(k, nr, t->row, &h->row));
  PetscCall(Bring(k, t->col.n * sizeof(int), t->col.x, &h->col));
  PetscCall(Bring(k, (t->nkinds + 1) * sizeof(int), t->nlist, &w->nlist));
  PetscCall(Bring(k, t->list.n * sizeof(int), t->list.x, &w->list));
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
  w->most = t->most;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cells, where their lists begin, and memory for these */
static PetscErrorCode BringCells(HopsLanesLOR k, const Kinds *t, const int kind[])
{
  HopsSpace        sp  = k->space;
  HopsLORHungWork *w   = &k->hang->work;
  PetscInt64       all = 0;
  int             *cell, *first;

  PetscFunctionBegin;
  w->n = 0;
  PetscCall(PetscMalloc2(sp->ncells, &cell, sp->ncells, &first));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    first[c] = (int)all;
    if (kind[c] < 0) continue;
    cell[w->n++] = (int)c;
    all += t->row[kind[c] * (t->ne + 1) + t->ne] - t->row[kind[c] * (t->ne + 1)];
    PetscCheck(all < INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The cells with hanging nodes of a rank have more than 2^31 entries of the low-order-refined matrix: use more "
               "ranks");
  }
  PetscCall(Bring(k, w->n * sizeof(int), cell, &w->cell));
  PetscCall(Bring(k, sp->ncells * sizeof(int), first, &k->hang->hung.first));
  PetscCall(Bring(k, sp->ncells * sizeof(int), kind, &k->hang->hung.kind));
  PetscCall(Bring(k, (size_t)all * sizeof(double), NULL, &w->values));
  PetscCall(Bring(k, (size_t)all * sizeof(int), NULL, &k->hang->place));
  PetscCall(PetscFree2(cell, first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries whose rows J changes leave the mesh's list for one of their own */
static PetscErrorCode SplitEntries(HopsLanesLOR k, const Kinds *t)
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
  Kinds                     t;

  PetscFunctionBegin;
  if (h) h->placed[rows->first ? 1 : 0] = PETSC_FALSE;
  if (!h || h->ready) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(sp->ncells, &pairs, sp->ncells, &kind));
  PetscCall((*k->kernels->backend->memory->Copy)(NULL, pairs, k->mask, sp->ncells, HOPS_COPY_OUT));
  PetscCall(HopsHangingCreate(sp->family, sp->dim, sp->order, &J));
  PetscCall(KindsCreate(k, &J, pairs, kind, &t));
  PetscCall(HopsHangingDestroy(&J));
  PetscCall(BringKinds(k, &t));
  PetscCall(BringCells(k, &t, kind));
  PetscCall(SplitEntries(k, &t));
  PetscCall(PetscInfo(sp, "%d cells with hanging nodes are of %d kinds, and have %d products of their own at most\n", h->work.n,
                      t.nkinds, t.most));
  PetscCall(KindsDestroy(&t));
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
  w = &k->hang->work;
  if (k->lump) PetscCall((*k->kernels->lump->HungTeams)(w->most * sizeof(double), &w->teams, &own));
  else PetscCall((*k->kernels->HungTeams)(&k->mesh, mixed, w->most * sizeof(double), &w->teams, &own));
  w->teams = PetscMin(w->teams, w->n);
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
  const int                 b = rows->first ? 1 : 0, ne = (int)k->space->ne;

  PetscFunctionBegin;
  if (!h || !h->work.n || !rows->n) PetscFunctionReturn(PETSC_SUCCESS);
  if (!h->placed[b]) PetscCall((*k->kernels->HungPlaces)(&h->hung, k->mesh.restr, ne, k->mesh.nfree, rows, h->place));
  h->placed[b] = PETSC_TRUE;
  PetscCall((*k->kernels->HungRows)(&h->hung, ne, h->work.values, h->place, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
