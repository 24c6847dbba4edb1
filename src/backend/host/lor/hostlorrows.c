/*
  Host back end: the rows of a low-order-refined matrix. A row is the union of the rows that its cells have of
  it. Marks say which columns are there and where they are, so that nothing is searched for; the places of the
  cells' entries come in the same pass.
*/
#include <backend/host/lor/hostlorimpl.h>

typedef struct {
  int row, at; /* the last row that has the column, and where */
} Mark;

/* What a pass over rows needs */
typedef struct {
  HopsLORKernel k;
  const int    *restr, *begin, *entry;
  int           ne, nfree;
  double        perentry;
  Mark         *mark;
} Walk;

static PetscErrorCode WalkCreate(HopsLORKernel k, const HopsLORRows *rows, Walk *w)
{
  HopsSpace    sp = k->space;
  const size_t n  = PetscMax(sp->nT + sp->nG, sp->nT + rows->nmap);

  PetscFunctionBegin;
  w->k        = k;
  w->restr    = sp->restr;
  w->begin    = k->begin;
  w->entry    = k->entry;
  w->ne       = (int)sp->ne;
  w->nfree    = (int)(sp->nT + sp->nG);
  w->perentry = 1.0 / sp->ne;
  PetscCall(PetscMalloc1(n, &w->mark));
  memset(w->mark, 0xff, n * sizeof(*w->mark)); /* no row is -1 */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The row of a cell's matrix at entry e of restr, and where its slots begin */
static inline const HopsHostLORRow *CellRow(const Walk *w, const PetscBool h1, int e, int *base)
{
  const int              c = (int)((e + 0.5) * w->perentry), v = e - c * w->ne; /* exact for e < 2^31 */
  const HopsHostLORCell *p = &w->k->cell[w->k->mask[c]];

  *base = w->k->start[c] + (h1 ? v * p->n : 0);
  return p->row + v;
}

/* Columns of row l from its cells; returns how many */
static inline int Collect(const Walk *w, const PetscBool h1, int l, int cols[])
{
  int n = 0, base;

  for (int q = w->begin[l]; q < w->begin[l + 1]; q++) {
    const HopsHostLORRow *row = CellRow(w, h1, w->entry[q], &base);
    const int            *R   = w->restr + w->entry[q];

    for (int i = 0; i < row->n; i++) {
      const int m = h1 ? R[row->col[i]] : (int)HopsUnsigned(R[row->col[i]]);

      if (m >= w->nfree || w->mark[m].row == l) continue;
      w->mark[m].row = l;
      cols[n++]      = m;
    }
  }
  return n;
}

/* Where the entries of row l go, by the marks of its columns */
static inline void SetPlaces(const Walk *w, const PetscBool h1, int l)
{
  for (int q = w->begin[l]; q < w->begin[l + 1]; q++) {
    int                   base;
    const HopsHostLORRow *row   = CellRow(w, h1, w->entry[q], &base);
    const int            *R     = w->restr + w->entry[q];
    int                  *place = w->k->place + base;

    for (int i = 0; i < row->n; i++) {
      const int x = R[row->col[i]], m = h1 ? x : (int)HopsUnsigned(x), at = m < w->nfree ? w->mark[m].at : 0;

      place[row->slot[i]] = h1 || (x < 0) == (R[0] < 0) ? at : -1 - at;
    }
  }
}

static inline void Sort(int n, int x[])
{
  for (int i = 1; i < n; i++) {
    const int v = x[i];
    int       j = i;

    for (; j > 0 && x[j - 1] > v; j--) x[j] = x[j - 1];
    x[j] = v;
  }
}

PetscErrorCode HopsHostLORRowsReset(HopsLORKernel k)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(k->start));
  PetscCall(PetscFree(k->place));
  PetscCall(PetscFree(k->received));
  PetscCall(PetscFree(k->begin));
  PetscCall(PetscFree(k->entry));
  PetscCall(PetscFree(k->cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* They are numbered by `int` */
static PetscErrorCode CheckEntries(PetscInt64 n)
{
  PetscFunctionBegin;
  PetscCheck(n < INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The low-order-refined matrix has more than 2^31 entries on one rank, or its cells have: use more ranks");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What all rows of a pattern share: cells' matrices, places of their entries (nowhere, for constrained rows),
   and which entries of restr an unknown has */
static PetscErrorCode SetUp(HopsLORKernel k)
{
  HopsSpace      sp = k->space;
  const PetscInt nr = sp->ncells * sp->ne;
  PetscInt64     n  = sp->ness;

  PetscFunctionBegin;
  if (k->begin) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsHostLORRowsReset(k));
  PetscCall(HopsHostLORCellsCreate(k));
  PetscCall(PetscMalloc1(sp->ncells, &k->start));
  for (PetscInt c = 0; c < sp->ncells; c++) {
    k->start[c] = (int)(n - sp->ness);
    n += (PetscInt64)k->cell[k->mask[c]].n * (k->family == HOPS_H1 ? k->nn : 1);
    PetscCall(CheckEntries(n));
  }
  PetscCall(PetscMalloc1(n - sp->ness, &k->place));
  PetscCall(PetscCalloc1(sp->nL + 2, &k->begin));
  PetscCall(PetscMalloc1(nr, &k->entry));
  for (PetscInt e = 0; e < nr; e++) k->begin[HopsUnsigned(sp->restr[e]) + 2]++;
  for (PetscInt l = 0; l < sp->nL; l++) k->begin[l + 2] += k->begin[l + 1];
  for (PetscInt e = 0; e < nr; e++) k->entry[k->begin[HopsUnsigned(sp->restr[e]) + 1]++] = (int)e;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is known of rows before their cells are asked: slots of those that receive entries, and which rows are
   essential unknowns' (NULL where there are none) */
static PetscErrorCode RowsBegin(HopsLORKernel k, HopsLORRows *rows, unsigned char **essential)
{
  HopsSpace sp = k->space;

  PetscFunctionBegin;
  *essential = NULL;
  if (rows->nslots) {
    for (PetscInt r = 0; r < rows->n; r++) rows->slot[r] = -1;
    for (PetscInt s = 0; s < rows->nslots; s++) rows->slot[rows->slotrow[s]] = (int)s;
    PetscCall(PetscFree(k->received));
    PetscCall(PetscMalloc1(rows->xi[rows->nslots], &k->received));
  }
  if (sp->ness && rows->first == 0) {
    PetscCall(PetscCalloc1(sp->nT, essential));
    for (PetscInt e = 0; e < sp->ness; e++) (*essential)[sp->essT[e]] = 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns of a row that no cell of this rank brings: the diagonal of an essential unknown, those received */
static int CollectOthers(const Walk *w, const HopsLORRows *rows, PetscBool essential, int l, int n, int cols[])
{
  const int s = rows->nslots ? rows->slot[l - rows->first] : -1;

  if (essential && w->mark[l].row != l) {
    w->mark[l].row = l;
    cols[n++]      = l;
  }
  for (int x = s < 0 ? 0 : rows->xi[s]; x < (s < 0 ? 0 : rows->xi[s + 1]); x++) {
    if (w->mark[rows->xj[x]].row == l) continue;
    w->mark[rows->xj[x]].row = l;
    cols[n++]                = rows->xj[x];
  }
  return n;
}

/* Places of received entries, by the marks */
static void SetReceived(const Walk *w, const HopsLORRows *rows, int l)
{
  const int s = rows->nslots ? rows->slot[l - rows->first] : -1;

  for (int x = s < 0 ? 0 : rows->xi[s]; x < (s < 0 ? 0 : rows->xi[s + 1]); x++) w->k->received[x] = w->mark[rows->xj[x]].at;
}

/* Rows and their columns, sorted; places in rows that lie in one block, where these are known */
static inline PetscErrorCode Rows(const Walk *w, const PetscBool h1, HopsLORRows *rows, const unsigned char essential[])
{
  const HopsLORKernel k    = w->k;
  int                *i[2] = {rows->i[0], rows->i[1]}, most = 0;
  size_t              room, n[2]                            = {0, 0};

  PetscFunctionBegin;
  for (int m = 0; m < 8; m++) most = PetscMax(most, k->cell[m].most);
  room = (size_t)rows->n * (most + 1) + 1;
  PetscCall(PetscMalloc1(room, &k->cols));
  for (PetscInt r = 0; r < rows->n; r++) {
    const int    l = (int)(rows->first + r), s = rows->nslots ? rows->slot[r] : -1;
    const size_t need =
      n[0] + n[1] + (size_t)(w->begin[l + 1] - w->begin[l]) * most + (s < 0 ? 0 : rows->xi[s + 1] - rows->xi[s]) + 1;
    int *cols, own, all;

    if (need > room) {
      room = need + need / 4;
      PetscCall(PetscRealloc(room * sizeof(int), &k->cols));
    }
    i[0][r] = (int)n[0];
    if (i[1]) i[1][r] = (int)n[1];
    cols = k->cols + n[0] + n[1];
    all  = Collect(w, h1, l, cols);
    if (s >= 0 || essential) all = CollectOthers(w, rows, essential && essential[l] ? PETSC_TRUE : PETSC_FALSE, l, all, cols);
    Sort(all, cols);
    own = all;
    if (i[1])
      while (own && cols[own - 1] >= rows->split) own--;
    for (int c = 0; c < own; c++) w->mark[cols[c]].at = (int)(rows->before + n[0]) + c;
    if (own == all) {
      SetPlaces(w, h1, l);
      if (s >= 0) SetReceived(w, rows, l);
    }
    n[0] += own;
    n[1] += all - own;
  }
  for (int b = 0; b < 2; b++) {
    if (i[b]) i[b][rows->n] = (int)n[b];
    rows->nnz[b] = n[b];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostLORCountRows(HopsLORAssembler lor, HopsLORRows *rows)
{
  HopsLORKernel  k  = (HopsLORKernel)lor;
  HopsSpace      sp = k->space;
  Walk           w;
  unsigned char *essential;

  PetscFunctionBegin;
  PetscCall(SetUp(k));
  PetscCall(RowsBegin(k, rows, &essential));
  PetscCall(WalkCreate(k, rows, &w));
  if (sp->nC) { /* no rows have these entries */
    for (int m = 0; m < w.nfree; m++) w.mark[m].at = 0;
    for (PetscInt l = sp->nT + sp->nG; l < sp->nL; l++) {
      if (k->family == HOPS_H1) SetPlaces(&w, PETSC_TRUE, (int)l);
      else SetPlaces(&w, PETSC_FALSE, (int)l);
    }
  }
  if (k->family == HOPS_H1) PetscCall(Rows(&w, PETSC_TRUE, rows, essential));
  else PetscCall(Rows(&w, PETSC_FALSE, rows, essential));
  PetscCall(CheckEntries((PetscInt64)rows->before + (PetscInt64)rows->nnz[0] + (PetscInt64)rows->nnz[1]));
  PetscCall(PetscFree(essential));
  PetscCall(PetscFree(w.mark));
  rows->cellstart = k->start;
  rows->cellplace = k->place;
  rows->received  = k->received;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostLORFillColumns(HopsLORAssembler lor, HopsLORRows *rows, unsigned char used[])
{
  HopsLORKernel k = (HopsLORKernel)lor;
  const int    *c = k->cols;

  PetscFunctionBegin;
  if (!rows->i[1]) {
    PetscCall(PetscArraycpy(rows->j[0], c, rows->nnz[0]));
    PetscCall(PetscFree(k->cols));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscArrayzero(used, rows->nmap));
  for (PetscInt r = 0; r < rows->n; r++) {
    for (int p = rows->i[0][r]; p < rows->i[0][r + 1]; p++) rows->j[0][p] = *c++;
    for (int p = rows->i[1][r]; p < rows->i[1][r + 1]; p++) {
      rows->j[1][p]       = (int)(*c++ - rows->split);
      used[rows->j[1][p]] = 1;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Block 1 by the numbers of its columns, which may have another order; places in rows that reach it */
PetscErrorCode HopsHostLORMapColumns(HopsLORAssembler lor, HopsLORRows *rows)
{
  HopsLORKernel k  = (HopsLORKernel)lor;
  const int     at = (int)(rows->before + rows->nnz[0]);
  Walk          w;

  PetscFunctionBegin;
  PetscCall(WalkCreate(k, rows, &w));
  for (PetscInt r = 0; r < rows->n; r++) {
    const int l = (int)(rows->first + r), p0 = rows->i[0][r], p1 = rows->i[1][r], own = rows->i[0][r + 1] - p0;
    const int others = rows->i[1][r + 1] - p1, *cols = k->cols + p0 + p1;
    int      *j = rows->j[1] + p1;

    if (!others) continue;
    for (int c = 0; c < others; c++) j[c] = rows->map[j[c]];
    Sort(others, j);
    for (int c = 0; c < own; c++) w.mark[cols[c]].at = (int)rows->before + p0 + c;
    for (int c = 0; c < others; c++) {
      int p = 0;

      while (j[p] != rows->map[cols[own + c] - rows->split]) p++;
      w.mark[cols[own + c]].at = at + p1 + p;
    }
    if (k->family == HOPS_H1) SetPlaces(&w, PETSC_TRUE, l);
    else SetPlaces(&w, PETSC_FALSE, l);
    SetReceived(&w, rows, l);
  }
  PetscCall(PetscFree(w.mark));
  PetscCall(PetscFree(k->cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostLORAddReceived(HopsLORAssembler lor, HopsLORRows *rows, const PetscScalar x[])
{
  const HopsLORKernel k    = (HopsLORKernel)lor;
  PetscScalar        *vals = rows->v[0] - rows->before;

  PetscFunctionBegin;
  for (int i = 0; i < (rows->nslots ? rows->xi[rows->nslots] : 0); i++) vals[k->received[i]] += x[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostLORSetDiagonal(HopsLORAssembler lor, HopsLORRows *rows, PetscInt n, const PetscInt idx[],
                                      const PetscScalar x[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt r = idx[i] - rows->first;

    if (r < 0 || r >= rows->n) continue;
    for (int p = rows->i[0][r]; p < rows->i[0][r + 1]; p++)
      if (rows->j[0][p] == idx[i]) rows->v[0][p] = x ? rows->v[0][p] + x[i] : 1.0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
