/* Rows of low-order-refined matrices that hanging nodes change: the tables of each kind of cell, see
   laneslor.h. */
#include "laneslorhungkinds.h"

#define HOPS_HUNG_PRODUCTS 4000000     /* of all kinds, that are listed */
#define HOPS_HUNG_STAR     128         /* columns of a row of the cell's matrix, at most */
#define HOPS_HUNG_MOST     (64 * 1024) /* bytes of the rows of A of a cell, at most */

/* ---- One kind ---- */

static PetscErrorCode Push(HopsHungList *l, int x, PetscReal w)
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

/* J and its transpose */
static PetscErrorCode AddJ(const HopsHanging *h, PetscInt most, int kind, HopsHungKinds *t)
{
  const unsigned mask = (unsigned)t->of[kind] / 8;
  const int      ne   = t->ne;
  int           *jrow = t->jrow + kind * (ne + 1), *jtrow = t->jtrow + kind * (ne + 1), *start, *col, *count;
  PetscReal     *w;

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
static int Own(const HopsHungKinds *t, int base, int v)
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
static PetscErrorCode PushMarked(int m, int list[], int mark[], HopsHungList *l)
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

/* Which rows J changes, and of which entries these are made */
static PetscErrorCode AddChanged(HopsLanesLOR k, int kind, HopsHungKinds *t)
{
  const int      ne = t->ne, base = kind * (ne + 1);
  unsigned char *changed = t->changed + (size_t)kind * ne, *needed;
  int            col[HOPS_HUNG_STAR];

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(ne, &needed));
  for (int v = 0; v < ne; v++) {
    const int n = PlainRow(k, t->of[kind] % 8, v, col);

    changed[v] = 0;
    for (int s = 0; s < n; s++) changed[v] |= !Own(t, base, col[s]);
    for (int i = t->jtrow[base + v]; changed[v] && i < t->jtrow[base + v + 1]; i++) needed[t->jt.x[i]] = 1;
    t->star = PetscMax(t->star, n);
  }
  for (int v = 0; v < ne; v++)
    if (needed[v]) PetscCall(Push(&t->list, v, 0.0));
  t->nlist[kind + 1] = t->list.n;
  PetscCall(PetscFree(needed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of T = A J of these entries, and places of products there */
static PetscErrorCode AddT(HopsLanesLOR k, int kind, HopsHungKinds *t, int mark[], int list[])
{
  const int  ne = t->ne, base = kind * (ne + 1), first = t->tcol.n;
  const int *next = t->list.x + t->nlist[kind], *end = t->list.x + t->nlist[kind + 1];
  int        col[HOPS_HUNG_STAR];

  PetscFunctionBegin;
  for (int v = 0; v < ne; v++) {
    int n, m = 0;

    t->trow[base + v]      = t->tcol.n;
    t->prow[kind * ne + v] = t->place.n;
    if (next == end || *next != v) continue;
    next++;
    n = PlainRow(k, t->of[kind] % 8, v, col);
    for (int s = 0; s < n; s++)
      for (int j = t->jrow[base + col[s]]; j < t->jrow[base + col[s] + 1]; j++) Mark(t->j.x[j], mark, list, &m);
    PetscCall(PushMarked(m, list, mark, &t->tcol));
    for (int s = 0; s < n; s++)
      for (int j = t->jrow[base + col[s]]; j < t->jrow[base + col[s] + 1]; j++) PetscCall(Push(&t->place, mark[t->j.x[j]], 0.0));
    while (m > 0) mark[list[--m]] = -1;
  }
  t->trow[base + ne] = t->tcol.n;
  t->most            = PetscMax(t->most, t->tcol.n - first);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of J^T T */
static PetscErrorCode AddRows(int kind, HopsHungKinds *t, int mark[], int list[])
{
  const int            ne = t->ne, base = kind * (ne + 1), first = t->col.n;
  const unsigned char *changed = t->changed + (size_t)kind * ne;

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
    for (int i = n; i < t->col.n; i++) {
      PetscCall(Push(&t->rowof, r, 0.0));
      PetscCall(Push(&t->slot, i - first, 0.0));
    }
  }
  t->row[base + ne] = t->col.n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which products of T each column of J^T T sums, if these are not too many */
static PetscErrorCode AddProducts(int kind, HopsHungKinds *t, int mark[])
{
  const int ne = t->ne, base = kind * (ne + 1), first = t->trow[base];

  PetscFunctionBegin;
  if (t->tcol.n - first > 65536 || t->jtrow[base + ne] - t->jtrow[base] > 65536) t->products = PETSC_FALSE;
  for (int r = 0; r < ne && t->products; r++) {
    const int     n = t->row[base + r + 1] - t->row[base + r], *col = t->col.x + t->row[base + r];
    HopsHungList *sum = t->sum;

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

/* ---- One kind, in one step ---- */

/* Products of an entry of A and two weights */
typedef struct {
  int        n, *col, *at;
  PetscReal *w;
} Products;

/* Of row r of J^T A J, by entries of A; order[v]: which row of A is that of entry v */
static void RowProducts(HopsLanesLOR k, int kind, const HopsHungKinds *t, const int order[], int r, Products *x)
{
  const int base = kind * (t->ne + 1);
  int       col[HOPS_HUNG_STAR];

  x->n = 0;
  for (int i = t->jtrow[base + r]; i < t->jtrow[base + r + 1]; i++) {
    const int v = t->jt.x[i], n = PlainRow(k, t->of[kind] % 8, v, col);

    for (int s = 0; s < n; s++)
      for (int j = t->jrow[base + col[s]]; j < t->jrow[base + col[s] + 1]; j++) {
        x->col[x->n] = t->j.x[j];
        x->at[x->n]  = order[v] * t->star + s;
        x->w[x->n++] = t->jt.w[i] * t->j.w[j];
      }
  }
}

/* Slices of the n numbers of a kind, whose products are x[start[o]] and on, by how many these are */
static PetscErrorCode AddSlices(int kind, HopsHungKinds *t, int n, const int start[], const Products *x)
{
  const int S    = HOPS_LOR_HUNG_SLICE;
  int       most = 0, *first, *order;

  PetscFunctionBegin;
  for (int o = 0; o < n; o++) most = PetscMax(most, start[o + 1] - start[o]);
  PetscCall(PetscMalloc1(n, &order));
  PetscCall(PetscCalloc1(most + 2, &first));
  for (int o = 0; o < n; o++) first[start[o + 1] - start[o] + 1]++;
  for (int l = 0; l <= most; l++) first[l + 1] += first[l];
  for (int o = 0; o < n; o++) {
    const int i = first[start[o + 1] - start[o]]++;

    order[i]                     = o;
    t->slot.x[t->slot.n - n + o] = i;
  }
  t->slice[kind] = t->begin.n;
  for (int s = 0; s < n; s += S) {
    const int end = PetscMin(s + S, n), last = order[end - 1], length = start[last + 1] - start[last];

    PetscCall(Push(&t->begin, t->term.n, 0.0));
    for (int j = 0; j < length; j++)
      for (int i = s; i < s + S; i++) {
        const int p = i < end && start[order[i]] + j < start[order[i] + 1] ? start[order[i]] + j : -1;

        PetscCall(Push(&t->term, p < 0 ? 0 : x->at[p], p < 0 ? 0.0 : x->w[p]));
      }
  }
  t->slice[kind + 1] = t->begin.n;
  PetscCall(PetscFree(order));
  PetscCall(PetscFree(first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of J^T A J, and products of each of their entries, of which the kind has nproducts */
static PetscErrorCode AddSums(HopsLanesLOR k, int kind, int nproducts, HopsHungKinds *t, int mark[], int list[])
{
  const int            ne = t->ne, base = kind * (ne + 1), first = t->col.n, nlist = t->nlist[kind + 1] - t->nlist[kind];
  const unsigned char *changed = t->changed + (size_t)kind * ne;
  int                 *order, *next;
  Products             row, all = {.n = 0};
  HopsHungList         start = {0, 0, NULL, NULL};

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(ne, &order, ne + 1, &next));
  PetscCall(PetscMalloc3(nproducts, &row.col, nproducts, &row.at, nproducts, &row.w));
  PetscCall(PetscMalloc2(nproducts, &all.at, nproducts, &all.w));
  for (int i = 0; i < nlist; i++) order[t->list.x[t->nlist[kind] + i]] = i;
  for (int r = 0; r < ne; r++) {
    int m = 0, n = all.n;

    t->row[base + r] = t->col.n;
    if (!changed[r]) continue;
    RowProducts(k, kind, t, order, r, &row);
    for (int i = 0; i < row.n; i++) Mark(row.col[i], mark, list, &m);
    PetscCall(PushMarked(m, list, mark, &t->col));
    for (int c = 0; c <= m; c++) next[c] = 0;
    for (int i = 0; i < row.n; i++) next[mark[row.col[i]] + 1]++;
    for (int c = 0; c < m; c++) {
      PetscCall(Push(&start, n, 0.0));
      PetscCall(Push(&t->slot, 0, 0.0));
      PetscCall(Push(&t->rowof, r, 0.0));
      n += next[c + 1];
      next[c + 1] += next[c];
    }
    for (int i = 0; i < row.n; i++) {
      const int p = all.n + next[mark[row.col[i]]]++;

      all.at[p] = row.at[i];
      all.w[p]  = row.w[i];
    }
    all.n = n;
    while (m > 0) mark[list[--m]] = -1;
  }
  t->row[base + ne] = t->col.n;
  PetscCall(Push(&start, all.n, 0.0));
  PetscCall(AddSlices(kind, t, t->col.n - first, start.x, &all));
  PetscCall(PetscFree2(order, next));
  PetscCall(PetscFree3(row.col, row.at, row.w));
  PetscCall(PetscFree2(all.at, all.w));
  PetscCall(PetscFree(start.x));
  PetscCall(PetscFree(start.w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How many products of all kinds that takes, and of each; are these few, and entries of A, too? */
static PetscErrorCode CountSums(HopsLanesLOR k, int nkinds, HopsHungKinds *t, int nproducts[])
{
  const int  ne  = t->ne;
  PetscInt64 all = 0;
  int       *n, col[HOPS_HUNG_STAR];

  PetscFunctionBegin;
  t->sums = PETSC_TRUE;
  PetscCall(PetscMalloc1(ne, &n));
  for (int kind = 0; kind < nkinds; kind++) {
    const int  base = kind * (ne + 1), *list = t->list.x + t->nlist[kind], nlist = t->nlist[kind + 1] - t->nlist[kind];
    PetscInt64 each = 0;

    if (nlist * t->star > 65535 || nlist * t->star * sizeof(PetscReal) > HOPS_HUNG_MOST) t->sums = PETSC_FALSE;
    for (int i = 0; i < nlist; i++) {
      const int v = list[i], m = PlainRow(k, t->of[kind] % 8, v, col);

      n[v] = 0;
      for (int s = 0; s < m; s++) n[v] += t->jrow[base + col[s] + 1] - t->jrow[base + col[s]];
    }
    for (int r = 0; r < ne; r++)
      for (int i = t->jtrow[base + r]; t->changed[(size_t)kind * ne + r] && i < t->jtrow[base + r + 1]; i++) each += n[t->jt.x[i]];
    all += each;
    if (all > HOPS_HUNG_PRODUCTS) t->sums = PETSC_FALSE;
    nproducts[kind] = (int)PetscMin(each, HOPS_HUNG_PRODUCTS);
  }
  PetscCall(PetscFree(n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- All kinds ---- */

PetscErrorCode HopsHungKindsCreate(HopsLanesLOR k, const HopsHanging *h, int n, const int of[], HopsHungKinds *t)
{
  const int ne = (int)k->space->ne;
  int      *mark, *list, *nproducts;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(t, sizeof(*t)));
  t->ne     = ne;
  t->nkinds = n;
  t->of     = of;
  PetscCall(PetscMalloc7(n * (ne + 1), &t->row, n + 1, &t->nlist, n * (ne + 1), &t->trow, n * ne, &t->prow, n * (ne + 1), &t->jrow,
                         n * (ne + 1), &t->jtrow, n + 1, &t->slice));
  PetscCall(PetscMalloc1((size_t)n * ne, &t->changed));
  PetscCall(PetscMalloc3(ne, &mark, ne, &list, n, &nproducts));
  for (int c = 0; c < ne; c++) mark[c] = -1;
  PetscCall(PetscCalloc1(ne, &t->sum));
  t->nlist[0] = t->slice[0] = 0;
  for (int i = 0; i < n; i++) {
    PetscCall(AddJ(h, k->lump ? 0 : k->head.constraintentries, i, t));
    PetscCall(AddChanged(k, i, t));
  }
  PetscCall(CountSums(k, n, t, nproducts));
  t->products = t->sums ? PETSC_FALSE : PETSC_TRUE;
  for (int i = 0; i < n && t->sums; i++) PetscCall(AddSums(k, i, nproducts[i], t, mark, list));
  for (int i = 0; i < n && !t->sums; i++) {
    PetscCall(AddT(k, i, t, mark, list));
    PetscCall(AddRows(i, t, mark, list));
    PetscCall(AddProducts(i, t, mark));
  }
  PetscCall(Push(&t->prod, t->pt.n, 0.0));
  PetscCall(Push(&t->begin, t->term.n, 0.0));
  PetscCall(PetscFree3(mark, list, nproducts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHungKindsDestroy(HopsHungKinds *t)
{
  HopsHungList *const lists[] = {&t->col, &t->slot, &t->rowof, &t->list, &t->tcol,  &t->place,
                                 &t->j,   &t->jt,   &t->prod,  &t->pt,   &t->begin, &t->term};

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
  PetscCall(PetscFree7(t->row, t->nlist, t->trow, t->prow, t->jrow, t->jtrow, t->slice));
  PetscCall(PetscFree(t->changed));
  PetscFunctionReturn(PETSC_SUCCESS);
}
