/*
  Host back end: values of a low-order-refined matrix by several threads, each with batches of cells side by
  side. What cells of several threads add to an entry goes to places of its own, and is added up afterwards in
  the order in which one thread would have added it, so the matrix is the same bit by bit.
*/
#include <backend/host/lor/hostlorimpl.h>

/* An entry of a cell in a row where threads meet, and when it is added: batch, then node or first cell of
   the batch with the same matrix, then cell */
typedef struct {
  int        target, *place;
  PetscInt64 when;
} Item;

static inline int Unsigned(int i)
{
  return i < 0 ? -1 - i : i;
}

/* When a cell's entry is added; see LORValues() and LORFormValues() */
static PetscInt64 When(const struct _HopsLORKernel *k, int c, int entry)
{
  const int b = c / k->W, n = k->cell[k->mask[c]].n;
  int       first = b * k->W;

  if (k->family == HOPS_H1 && k->nhang > 1 && HopsHostLORHangs(k, b)) first = 0; /* cell by cell */
  else if (k->family == HOPS_H1) first = entry / n;
  else {
    while (k->mask[first] != k->mask[c]) first++;
    first -= b * k->W;
  }
  return ((PetscInt64)b << 32) + (PetscInt64)first * k->W + c % k->W;
}

/* Entries of row l in order, if it is one where pieces of cells meet; returns how many */
static int RowItems(const struct _HopsLORKernel *k, const int piece[], int l, Item item[])
{
  const int ne = (int)k->space->ne, b = k->begin[l], e = k->begin[l + 1];
  int       n = 0;

  if (e - b < 2 || piece[k->entry[b] / ne / k->W] == piece[k->entry[e - 1] / ne / k->W]) return 0;
  for (int q = b; q < e; q++) {
    const int              c = k->entry[q] / ne, v = k->entry[q] % ne;
    const HopsHostLORCell *p     = &k->cell[k->mask[c]];
    const int              first = p->row[v].base;

    for (int i = 0; i < p->row[v].n; i++) {
      const int entry = first + p->row[v].slot[i];
      Item      x     = {0, k->place + k->start[c] + entry, When(k, c, entry)};
      int       j     = n;

      x.target = Unsigned(*x.place);
      if (!x.target) continue;
      for (; j > 0 && (item[j - 1].target > x.target || (item[j - 1].target == x.target && item[j - 1].when > x.when)); j--)
        item[j] = item[j - 1];
      item[j] = x;
      n++;
    }
  }
  return n;
}

/* Places of their own, behind `limit`, for the entries of rows where threads meet, and for each thread's
   nowhere */
PetscErrorCode HopsHostLORMeet(HopsLORKernel k, int limit)
{
  HopsSpace  sp = k->space;
  const int  T = k->T, nfree = (int)(sp->nT + sp->nG), nb = (int)((sp->ncells + k->W - 1) / k->W);
  int        most = 0, *piece, *sum;
  Item      *item;
  PetscInt64 total;

  PetscFunctionBegin;
  for (int m = 0; m < k->nkinds; m++) most = PetscMax(most, k->cell[m].most);
  most *= k->mostcells;
  PetscCall(PetscMalloc3(nb, &piece, T + 1, &sum, (size_t)T * most, &item));
  for (int t = 0; t < T; t++)
    for (PetscInt c = HopsHostPiece(sp->ncells, k->W, t, T); c < HopsHostPiece(sp->ncells, k->W, t + 1, T); c += k->W)
      piece[c / k->W] = t;
  HOPS_EACH_PIECE
  for (int t = 0; t < T; t++) {
    int n = 0;

    for (int l = (int)HopsHostPiece(nfree, 1, t, T); l < (int)HopsHostPiece(nfree, 1, t + 1, T); l++)
      n += RowItems(k, piece, l, item + (size_t)t * most);
    sum[t + 1] = n;
  }
  sum[0] = 0;
  total  = limit;
  for (int t = 0; t < T; t++) {
    total += sum[t + 1];
    PetscCall(HopsHostLORCheckEntries(total + T));
    sum[t + 1] += sum[t];
  }
  k->nmeet = sum[T];
  k->limit = limit;
  PetscCall(PetscMalloc1(k->nmeet, &k->meet));
  PetscCall(PetscCalloc1(k->nmeet + T, &k->sums));
  HOPS_EACH_PIECE
  for (int t = 0; t < T; t++) {
    int s = sum[t];

    for (int l = (int)HopsHostPiece(nfree, 1, t, T); l < (int)HopsHostPiece(nfree, 1, t + 1, T); l++) {
      Item     *x = item + (size_t)t * most;
      const int n = RowItems(k, piece, l, x);

      for (int i = 0; i < n; i++, s++) {
        k->meet[s]  = x[i].target;
        *x[i].place = *x[i].place < 0 ? -1 - (limit + s) : limit + s;
      }
    }
  }
  HOPS_EACH_PIECE
  for (int t = 0; t < T; t++) {
    const PetscInt c0 = HopsHostPiece(sp->ncells, k->W, t, T), c1 = HopsHostPiece(sp->ncells, k->W, t + 1, T);

    for (PetscInt i = c0 < c1 ? k->start[c0] : 0; i < (c0 < c1 ? k->start[c1] : 0); i++)
      if (!Unsigned(k->place[i])) k->place[i] = limit + k->nmeet + t;
  }
  PetscCall(PetscFree3(piece, sum, item));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After the values of all cells. A thread begins with a new entry */
void HopsHostLORMeetAdd(HopsLORKernel k, double vals[])
{
  HOPS_EACH_PIECE
  for (int t = 0; t < k->T; t++) {
    int s = (int)HopsHostPiece(k->nmeet, 64, t, k->T), end = (int)HopsHostPiece(k->nmeet, 64, t + 1, k->T);

    while (s > 0 && s < k->nmeet && k->meet[s] == k->meet[s - 1]) s++;
    while (end > 0 && end < k->nmeet && k->meet[end] == k->meet[end - 1]) end++;
    for (; s < end; s++) {
      vals[k->meet[s]] += k->sums[s];
      k->sums[s] = 0;
    }
  }
}
