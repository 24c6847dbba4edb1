/*
  Host back end: low-order-refined matrices of cells with hanging nodes, J^T A J of the matrix A of the cell.
  In H1 J may keep only the largest entries of a row, so that a row of the matrix stays short. In H(curl) and
  H(div) it keeps all: else gradients would not be in the kernel of the curl, nor curls in that of the
  divergence.
*/
#include <backend/host/lor/hostlorimpl.h>
#include <hops/private/hopshanging.h>

PetscErrorCode HopsHostLORHangSetUp(HopsLORKernel k)
{
  HopsSpace sp = k->space;
  int       number[HOPS_HANGING_MASKS];

  PetscFunctionBegin;
  k->nhang = 1;
  if (!sp->hanging || sp->family == HOPS_L2) PetscFunctionReturn(PETSC_SUCCESS);
  for (int m = 0; m < HOPS_HANGING_MASKS; m++) number[m] = m ? -1 : 0;
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    if (number[sp->hang[c]] < 0) number[sp->hang[c]] = k->nhang++;
    k->mask[c] = (unsigned short)(8 * number[sp->hang[c]]);
  }
  PetscCall(PetscCalloc1(k->nhang, &k->hang));
  for (int m = 0; m < HOPS_HANGING_MASKS; m++)
    if (number[m] > 0) k->hang[number[m]].mask = (unsigned short)m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostLORHangRows(HopsLORKernel k)
{
  const PetscInt most = k->family == HOPS_H1 ? k->head.constraintentries : 0;
  const int      ne   = (int)k->space->ne;
  HopsHanging    J;

  PetscFunctionBegin;
  if (k->hang[1].start) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsHangingCreate(k->family, k->dim, k->P - 1, &J));
  for (int m = 1; m < k->nhang; m++) {
    HopsHostLORHang *h = k->hang + m;
    int              n;

    PetscCall(HopsHangingRows(&J, h->mask, most, &h->start, &h->col, &h->w));
    n = h->start[ne];
    PetscCall(PetscCalloc1(ne + 1, &h->tstart));
    PetscCall(PetscMalloc1(n, &h->tcol));
    PetscCall(PetscMalloc1(n, &h->tw));
    for (int i = 0; i < n; i++) h->tstart[h->col[i] + 1]++;
    for (int r = 0; r < ne; r++) h->tstart[r + 1] += h->tstart[r];
    for (int v = 0; v < ne; v++)
      for (int i = h->start[v]; i < h->start[v + 1]; i++) {
        const int at = h->tstart[h->col[i]]++;

        h->tcol[at] = v;
        h->tw[at]   = h->w[i];
      }
    for (int r = ne; r > 0; r--) h->tstart[r] = h->tstart[r - 1];
    h->tstart[0] = 0;
  }
  PetscCall(HopsHangingDestroy(&J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostLORHangDestroy(HopsLORKernel k)
{
  PetscFunctionBegin;
  for (int m = 1; m < k->nhang; m++) {
    HopsHostLORHang *h = k->hang + m;

    PetscCall(PetscFree(h->start));
    PetscCall(PetscFree(h->col));
    PetscCall(PetscFree(h->w));
    PetscCall(PetscFree(h->tstart));
    PetscCall(PetscFree(h->tcol));
    PetscCall(PetscFree(h->tw));
  }
  PetscCall(PetscFree(k->hang));
  PetscCall(PetscFree(k->hung));
  PetscCall(PetscFree(k->identity));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of a product of sparse matrices: row r has the columns of all rows list[] of the second one. col[]
   may be NULL */
static int Union(int n, const int list[], int shift, const int start[], const int second[], int seen[], int stamp, int col[])
{
  int m = 0;

  for (int i = 0; i < n; i++)
    for (int j = start[list[i] + shift]; j < start[list[i] + shift + 1]; j++) {
      if (seen[second[j]] == stamp) continue;
      seen[second[j]] = stamp;
      if (col) col[m] = second[j];
      m++;
    }
  return m;
}

/* Does J leave an entry as it is? */
static int Own(const HopsHostLORHang *h, int v)
{
  return h->start[v + 1] - h->start[v] == 1 && h->col[h->start[v]] == v && h->w[h->start[v]] == 1.0;
}

PetscErrorCode HopsHostLORHangCell(HopsLORKernel k, HopsHostLORHang *h, const HopsHostLORCell *plain, HopsHostLORCell *p)
{
  const int nn = (int)k->space->ne;
  int      *seen, *len, *col, stamp = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc3(nn, &seen, nn, &len, nn, &col));
  PetscCall(PetscMalloc1(nn + 1, &p->start));
  p->start[0] = 0;
  for (int v = 0; v < nn; v++)
    p->start[v + 1] = p->start[v] + Union(plain->row[v].n, plain->row[v].col, v, h->start, h->col, seen, ++stamp, NULL);
  PetscCall(PetscMalloc1(p->start[nn], &p->col));
  for (int v = 0; v < nn; v++)
    (void)Union(plain->row[v].n, plain->row[v].col, v, h->start, h->col, seen, ++stamp, p->col + p->start[v]);
  for (int r = 0; r < nn; r++)
    len[r] = Union(h->tstart[r + 1] - h->tstart[r], h->tcol + h->tstart[r], 0, p->start, p->col, seen, ++stamp, NULL);
  PetscCall(PetscMalloc1(nn, &p->row));
  PetscCall(HopsHostLORCreateLists(nn, len, p, p->row));
  p->n = 0;
  for (int r = 0; r < nn; r++) {
    const int n = Union(h->tstart[r + 1] - h->tstart[r], h->tcol + h->tstart[r], 0, p->start, p->col, seen, ++stamp, col);

    for (int i = 0; i < n; i++) HopsHostLORAddEntry(&p->row[r], col[i] - r, p->n++);
  }
  PetscCall(PetscFree3(seen, len, col));
  PetscCall(PetscMalloc1(nn, &p->same));
  for (int v = 0; v < nn; v++) {
    const HopsHostLORRow *row = &plain->row[v];

    p->same[v] = h->tstart[v + 1] - h->tstart[v] == 1 && Own(h, v);
    for (int i = 0; i < row->n; i++)
      if (!Own(h, v + row->col[i])) p->same[v] = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of A before J, and the most that A J and J^T A J have of all kinds of cells */
static void Sizes(const struct _HopsLORKernel *k, size_t *nstencil, int *most, int *entries)
{
  *nstencil = (size_t)k->nn * (1 + 2 * k->dim + 4 * (k->dim == 3 ? 3 : 1));
  *most = *entries = 0;
  for (int m = 0; m < 8 && k->family != HOPS_H1; m++) *nstencil = (size_t)PetscMax(m ? (int)*nstencil : 0, k->cell[m].n);
  for (int m = 8; m < k->nkinds; m++) {
    if (!k->cell[m].row) continue;
    *most    = PetscMax(*most, k->cell[m].start[k->space->ne]);
    *entries = PetscMax(*entries, k->cell[m].n);
  }
}

PetscErrorCode HopsHostLORHangScratch(HopsLORKernel k)
{
  int most, entries;

  PetscFunctionBegin;
  PetscCall(PetscFree(k->hung));
  PetscCall(PetscFree(k->identity));
  Sizes(k, &k->nstencil, &most, &entries);
  k->nhung = HopsHostAligned(k->W * k->nstencil + (size_t)k->space->ne + most);
  PetscCall(PetscCalloc1(k->nhung * k->T, &k->hung));
  PetscCall(PetscMalloc1(k->W * k->nstencil, &k->identity));
  for (size_t i = 0; i < k->W * k->nstencil; i++) k->identity[i] = (int)i;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Elsewhere than in H1 an entry may have the opposite sign */
static void AddTo(const struct _HopsLORKernel *k, double vals[], int place, double v)
{
  if (place >= 0) *HopsHostLORTarget(k, vals, place) += v;
  else *HopsHostLORTarget(k, vals, -1 - place) -= v;
}

static inline void Put(const struct _HopsLORKernel *k, int add, const int place[], double out[], int i, double v)
{
  if (add) AddTo(k, out, place[i], v);
  else out[i] = v;
}

/* J^T A J of a cell, by its list of entries, of n numbers each: to out[], or added to the places of out[];
   A = s, by the list of cells without hanging nodes. work: a row, and A J. Inline, so that each use has its
   own */
static inline __attribute__((always_inline)) void Condense(const struct _HopsLORKernel *k, const HopsHostLORCell *p,
                                                           const HopsHostLORCell *plain, const HopsHostLORHang *h, int n,
                                                           const double s[], int add, const int place[], double work[],
                                                           double out[])
{
  const int nn  = (int)k->space->ne;
  double   *acc = work, *T = work + nn * n;

  for (int v = 0; v < nn; v++) { /* T = A J */
    const HopsHostLORRow *row = &plain->row[v];

    if (p->same[v]) continue; /* nobody else needs it */
    for (int j = p->start[v]; j < p->start[v + 1]; j++)
      for (int q = 0; q < n; q++) acc[p->col[j] * n + q] = 0;
    for (int i = 0; i < row->n; i++) {
      const double *a = s + (row->base + row->slot[i]) * n;
      const int     u = v + row->col[i];

      for (int j = h->start[u]; j < h->start[u + 1]; j++)
        for (int q = 0; q < n; q++) acc[h->col[j] * n + q] += a[q] * h->w[j];
    }
    for (int j = p->start[v]; j < p->start[v + 1]; j++)
      for (int q = 0; q < n; q++) T[j * n + q] = acc[p->col[j] * n + q];
  }
  for (int r = 0; r < nn; r++) { /* J^T T */
    const HopsHostLORRow *row = &p->row[r], *old = &plain->row[r];

    if (p->same[r]) {
      for (int i = 0; i < row->n; i++)
        for (int q = 0; q < n; q++) Put(k, add, place, out, row->slot[i] * n + q, s[(old->base + old->slot[i]) * n + q]);
      continue;
    }
    for (int i = 0; i < row->n; i++)
      for (int q = 0; q < n; q++) acc[(r + row->col[i]) * n + q] = 0;
    for (int j = h->tstart[r]; j < h->tstart[r + 1]; j++) {
      const int    v = h->tcol[j];
      const double a = h->tw[j];

      for (int t = p->start[v]; t < p->start[v + 1]; t++)
        for (int q = 0; q < n; q++) acc[p->col[t] * n + q] += a * T[t * n + q];
    }
    for (int i = 0; i < row->n; i++)
      for (int q = 0; q < n; q++) Put(k, add, place, out, row->slot[i] * n + q, acc[(r + row->col[i]) * n + q]);
  }
}

void HopsHostLORHangAdd(const struct _HopsLORKernel *k, PetscInt c, const double s[], double vals[])
{
  const HopsHostLORCell *p = &k->cell[k->mask[c]], *plain = &k->cell[k->mask[c] % 8];
  const int             *place = k->place + k->start[c], nn = (int)k->space->ne;

  if (p == plain) {
    for (int v = 0; v < nn; v++)
      for (int i = 0; i < p->row[v].n; i++) {
        const int at = p->row[v].base + p->row[v].slot[i];

        AddTo(k, vals, place[at], s[at]);
      }
    return;
  }
  Condense(k, p, plain, &k->hang[k->mask[c] / 8], 1, s, 1, place, k->hung + k->W * k->nstencil, vals);
}

PetscErrorCode HopsHostLORCondense(HopsLORAssembler lor, PetscInt c, PetscInt n, const PetscReal A[], HopsLORCondensed *to)
{
  HopsLORKernel          k = (HopsLORKernel)lor;
  const HopsHostLORCell *p = &k->cell[k->mask[c]], *plain = &k->cell[k->mask[c] % 8];
  const int              nn = (int)k->space->ne;
  size_t                 nstencil;
  int                    most, entries;

  PetscFunctionBegin;
  to->n = 0;
  if (p == plain) PetscFunctionReturn(PETSC_SUCCESS);
  if (!to->v) {
    Sizes(k, &nstencil, &most, &entries);
    PetscCall(PetscMalloc4(entries * n, &to->v, entries, &to->row, entries, &to->col, (nn + most) * n, &to->work));
  }
  Condense(k, p, plain, &k->hang[k->mask[c] / 8], (int)n, A, 0, NULL, to->work, to->v);
  for (int r = 0; r < nn; r++)
    for (int i = 0; i < p->row[r].n; i++) {
      to->row[p->row[r].slot[i]] = r;
      to->col[p->row[r].slot[i]] = r + p->row[r].col[i];
    }
  to->n = p->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}
