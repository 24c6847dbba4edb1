/*
  Host back end: the rows of a low-order-refined matrix. A row is the union of the rows that its cells have of
  it (hostlorrows.h); the places of the cells' entries come in the same pass.
*/
#include <backend/host/lor/hostlorimpl.h>

/* Scratch for rows of any length */
static PetscErrorCode WalkCreate(HopsLORKernel k, HopsLORRows *rows, HopsHostLORWalk *w)
{
  HopsSpace sp       = k->space;
  const int nguess   = 1 << HOPS_LOR_GUESSES;
  int       received = 0, usual = 0, entries, members, gentries, gmembers, *p;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(w, sizeof(*w)));
  w->k     = k;
  w->rows  = rows;
  w->nfree = (int)(sp->nT + sp->nG);
  for (int m = 0; m < k->nkinds; m++) {
    w->most = PetscMax(w->most, k->cell[m].most);
    if (m < 8) usual = w->most; /* rows of cells with hanging nodes are not guessed at */
  }
  for (PetscInt s = 0; s < rows->nslots; s++) received = PetscMax(received, rows->xi[s + 1] - rows->xi[s]);
  entries    = k->mostcells * HopsHostLORPadded(w->most);
  members    = k->mostcells * w->most + received + 1 + HOPS_LOR_LANES;
  gentries   = k->mostcells * HopsHostLORPadded(usual);
  gmembers   = k->mostcells * usual;
  w->nowhere = members;
  for (w->shift = 64; 1 << (64 - w->shift) < 2 * members;) w->shift--;
  PetscCall(PetscMalloc1(2 * (members + entries) + 1 + (size_t)nguess * (2 * gmembers + 4 * gentries), &w->ints));
  PetscCall(PetscMalloc4(k->mostcells, &w->R, k->mostcells, &w->place, k->mostcells, &w->row, nguess, &w->guess));
  PetscCall(PetscCalloc1((size_t)1 << (64 - w->shift), &w->met));
  w->member = w->ints;
  w->at     = w->member + members;
  w->turn   = w->at + entries;
  w->value  = w->turn + entries;
  p         = w->value + members + 1;
  for (int i = 0; i < nguess; i++, p += 2 * gmembers + 4 * gentries)
    w->guess[i] =
      (HopsHostLORGuess){.cell = p, .from = p + gmembers, .group = p + 2 * gmembers, .entry = p + 2 * gmembers + gentries};
  w->value[w->nowhere] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WalkDestroy(HopsHostLORWalk *w)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(w->ints));
  PetscCall(PetscFree4(w->R, w->place, w->row, w->guess));
  PetscCall(PetscFree(w->met));
  PetscFunctionReturn(PETSC_SUCCESS);
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
  PetscCall(PetscFree(k->meet));
  PetscCall(PetscFree(k->sums));
  k->limit = INT_MAX; /* no places beyond */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* They are numbered by `int` */
PetscErrorCode HopsHostLORCheckEntries(PetscInt64 n)
{
  PetscFunctionBegin;
  PetscCheck(n < INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The low-order-refined matrix has more than 2^31 entries on one rank, or its cells have: use more ranks");
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define BLOCK 8 /* cells whose indices are looked at together */

static PetscErrorCode MallocInts(size_t n, int **p)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, p));
  HopsHostAdvise(*p, n * sizeof(**p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which indices each block of cells has */
static void Ranges(HopsLORKernel k, PetscInt nb, int lo[], int hi[])
{
  const int      T = k->T, ne = (int)k->space->ne, *restr = k->space->restr;
  const PetscInt nr = k->space->ncells * ne;

  HOPS_EACH_PIECE
  for (int t = 0; t < T; t++) {
    for (PetscInt b = HopsHostPiece(nb, 1, t, T); b < HopsHostPiece(nb, 1, t + 1, T); b++) {
      lo[b] = INT_MAX;
      hi[b] = -1;
      for (PetscInt e = b * BLOCK * ne; e < PetscMin(nr, (b + 1) * BLOCK * ne); e++) {
        lo[b] = PetscMin(lo[b], (int)HopsUnsigned(restr[e]));
        hi[b] = PetscMax(hi[b], (int)HopsUnsigned(restr[e]));
      }
    }
  }
}

/* Do unknowns l0 to l1 have entries of cells b BLOCK and on? Then these are e0 to e1 */
static inline PetscBool BlockEntries(const struct _HopsLORKernel *k, PetscInt b, const int lo[], const int hi[], int l0, int l1,
                                     int *e0, int *e1)
{
  const int ne = (int)k->space->ne;

  *e0 = (int)b * BLOCK * ne;
  *e1 = (int)PetscMin((PetscInt64)k->space->ncells * ne, (PetscInt64)(b + 1) * BLOCK * ne);
  return k->T == 1 || (lo[b] < l1 && hi[b] >= l0) ? PETSC_TRUE : PETSC_FALSE;
}

/* Where the entries of unknowns l0 to l1 end, counted from zero; returns the most of one, and all in *sum */
static int CountEntries(HopsLORKernel k, PetscInt nb, const int lo[], const int hi[], int l0, int l1, int *sum)
{
  const int *restr = k->space->restr;
  const int  all   = k->T == 1;
  int       *begin = k->begin, most = 1, n = 0, e0, e1;

  memset(begin + l0, 0, (size_t)(l1 - l0) * sizeof(*begin));
  for (PetscInt b = 0; b < nb; b++) {
    if (!BlockEntries(k, b, lo, hi, l0, l1, &e0, &e1)) continue;
    for (int e = e0; e < e1; e++) {
      const int l = (int)HopsUnsigned(restr[e]);

      if (all || (l >= l0 && l < l1)) begin[l]++;
    }
  }
  for (int l = l0; l < l1; l++) {
    most     = PetscMax(most, begin[l]);
    begin[l] = n += begin[l];
  }
  *sum = n;
  return most;
}

/* The entries from the last one on, each before those of its unknown that are there; all lie behind `before`
   of other pieces */
static void FillEntries(HopsLORKernel k, PetscInt nb, const int lo[], const int hi[], int l0, int l1, int before)
{
  const int *restr = k->space->restr;
  const int  all   = k->T == 1;
  int       *begin = k->begin, *entry = k->entry + before, e0, e1;

  for (PetscInt b = nb - 1; b >= 0; b--) {
    if (!BlockEntries(k, b, lo, hi, l0, l1, &e0, &e1)) continue;
    for (int e = e1 - 1; e >= e0; e--) {
      const int l = (int)HopsUnsigned(restr[e]);

      if (all || (l >= l0 && l < l1)) entry[--begin[l]] = e;
    }
  }
  for (int l = l0; before && l < l1; l++) begin[l] += before;
}

/* Entries of restr by unknown: a piece has unknowns side by side, and looks at cells that may have them */
static PetscErrorCode Transpose(HopsLORKernel k)
{
  HopsSpace      sp = k->space;
  const int      T  = k->T;
  const PetscInt nr = sp->ncells * sp->ne, nL = sp->nL, nb = (sp->ncells + BLOCK - 1) / BLOCK;
  int           *lo, *hi, *most, *sum;

  PetscFunctionBegin;
  PetscCall(MallocInts(nL + 1, &k->begin));
  PetscCall(MallocInts(nr, &k->entry));
  PetscCall(PetscMalloc4(nb, &lo, nb, &hi, T, &most, T, &sum));
  if (T > 1) Ranges(k, nb, lo, hi);
  HOPS_EACH_PIECE
  for (int t = 0; t < T; t++)
    most[t] = CountEntries(k, nb, lo, hi, (int)HopsHostPiece(nL, 16, t, T), (int)HopsHostPiece(nL, 16, t + 1, T), sum + t);
  k->mostcells = 1;
  for (int t = 0, before = 0; t < T; t++) {
    const int n = sum[t];

    k->mostcells = PetscMax(k->mostcells, most[t]);
    sum[t]       = before;
    before += n;
  }
  HOPS_EACH_PIECE
  for (int t = 0; t < T; t++)
    FillEntries(k, nb, lo, hi, (int)HopsHostPiece(nL, 16, t, T), (int)HopsHostPiece(nL, 16, t + 1, T), sum[t]);
  k->begin[nL] = (int)nr;
  k->perentry  = 1.0 / (double)sp->ne;
  PetscCall(PetscFree4(lo, hi, most, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the places of cells begin */
static PetscErrorCode StartCells(HopsLORKernel k, PetscInt64 *all)
{
  HopsSpace   sp = k->space;
  const int   T  = k->T;
  PetscInt64 *n, sum = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(T, &n));
  PetscCall(PetscMalloc1(sp->ncells + 1, &k->start));
  HOPS_EACH_PIECE
  for (int t = 0; t < T; t++) {
    n[t] = 0;
    for (PetscInt c = HopsHostPiece(sp->ncells, 16, t, T); c < HopsHostPiece(sp->ncells, 16, t + 1, T); c++)
      n[t] += HopsHostLOREntries(k, k->mask[c]);
  }
  for (int t = 0; t < T; t++) {
    sum += n[t];
    n[t] = sum - n[t];
  }
  PetscCall(HopsHostLORCheckEntries(sum + sp->ness));
  HOPS_EACH_PIECE
  for (int t = 0; t < T; t++) {
    int start = (int)n[t];

    for (PetscInt c = HopsHostPiece(sp->ncells, 16, t, T); c < HopsHostPiece(sp->ncells, 16, t + 1, T); c++) {
      k->start[c] = start;
      start += HopsHostLOREntries(k, k->mask[c]);
    }
  }
  k->start[sp->ncells] = (int)sum;
  *all                 = sum;
  PetscCall(PetscFree(n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What all rows of a pattern share: cells' matrices, places of their entries (nowhere, for constrained rows),
   and which entries of restr an unknown has */
static PetscErrorCode SetUp(HopsLORKernel k)
{
  PetscInt64 n = 0;

  PetscFunctionBegin;
  if (k->begin) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsHostLORRowsReset(k));
  PetscCall(HopsHostLORCellsCreate(k));
  PetscCall(StartCells(k, &n));
  PetscCall(MallocInts(n, &k->place));
  if (k->T > 1) { /* who puts places of their own behind all others looks at those that nobody uses, too */
    HOPS_EACH_PIECE
    for (int t = 0; t < k->T; t++) {
      const PetscInt first = HopsHostPiece(n, 1024, t, k->T), last = HopsHostPiece(n, 1024, t + 1, k->T);

      memset(k->place + first, 0, (last - first) * sizeof(*k->place));
    }
  }
  PetscCall(Transpose(k));
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

/* No rows have the entries of constrained unknowns' rows */
static void SetNowhere(HopsLORKernel k)
{
  HopsSpace sp    = k->space;
  const int first = k->begin[sp->nT + sp->nG], n = k->begin[sp->nL] - first;

  HOPS_EACH_PIECE
  for (int t = 0; t < k->T; t++) {
    for (PetscInt q = HopsHostPiece(n, 1, t, k->T); q < HopsHostPiece(n, 1, t + 1, k->T); q++) {
      const int             e = k->entry[first + q], c = (int)((e + 0.5) * k->perentry), v = e - c * (int)sp->ne;
      const HopsHostLORRow *row   = &k->cell[k->mask[c]].row[v];
      int                  *place = k->place + k->start[c] + row->base;

      for (int i = 0; i < row->n; i++) place[row->slot[i]] = 0;
    }
  }
}

/* Row pointers and places of a piece, which counted from zero, behind nnz[] entries of the pieces before */
static void ShiftRows(const HopsHostLORWalk *w, const size_t nnz[2])
{
  const HopsLORKernel k    = w->k;
  HopsLORRows        *rows = w->rows;
  const int           ne = (int)k->space->ne, d = (int)nnz[0];

  for (PetscInt r = w->r0; r < w->r1; r++) {
    const int l = (int)(rows->first + r), s = rows->nslots ? rows->slot[r] : -1;
    PetscBool placed = PETSC_TRUE;

    rows->i[0][r] += d;
    if (rows->i[1]) {
      if (rows->i[1][r] != (r + 1 < w->r1 ? rows->i[1][r + 1] : (int)w->nnz[1])) placed = PETSC_FALSE;
      rows->i[1][r] += (int)nnz[1];
    }
    for (int q = k->begin[l]; placed && q < k->begin[l + 1]; q++) {
      const int             c = (int)((k->entry[q] + 0.5) * k->perentry), v = k->entry[q] - c * ne;
      const HopsHostLORRow *row   = &k->cell[k->mask[c]].row[v];
      int                  *place = k->place + k->start[c] + row->base;

      for (int i = 0; i < row->n; i++) {
        int *x = place + row->slot[i];

        if (*x > 0) *x += d;
        else if (*x < -1) *x -= d;
      }
    }
    for (int x = s < 0 || !placed ? 0 : rows->xi[s]; x < (s < 0 || !placed ? 0 : rows->xi[s + 1]); x++) k->received[x] += d;
  }
}

/* The rows of a walk that are not there yet, for whose columns there was no room */
static PetscErrorCode RowsLeft(HopsHostLORWalk *w)
{
  const HopsLORKernel k    = w->k;
  const size_t        used = w->nnz[0] + w->nnz[1];
  int                *cols;

  PetscFunctionBegin;
  /* no row has more columns than its cells' rows and what it receives */
  w->room = used + (size_t)(k->begin[w->rows->first + w->r1] - k->begin[w->rows->first + w->r]) * w->most + w->r1 - w->r + 1;
  if (w->rows->nslots) w->room += w->rows->xi[w->rows->nslots];
  PetscCall(MallocInts(w->room, &cols));
  PetscCall(PetscArraycpy(cols, w->cols, used));
  PetscCall(PetscFree(w->cols));
  w->cols = cols;
  PetscCheck(k->ops->lor->rows(w), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Rows are longer than their cells' rows");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All rows, a piece each thread */
static PetscErrorCode RowPieces(HopsLORKernel k, HopsLORRows *rows, const unsigned char essential[], HopsHostLORWalk w[])
{
  const int  T = k->T;
  PetscBool *fits;
  size_t     nnz[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(T, &fits));
  for (int t = 0; t < T; t++) {
    PetscCall(WalkCreate(k, rows, w + t));
    w[t].essential = essential;
    w[t].r0        = HopsHostPiece(rows->n, 1, t, T);
    w[t].r1        = HopsHostPiece(rows->n, 1, t + 1, T);
    w[t].r         = w[t].r0;
    w[t].room      = (size_t)(w[t].r1 - w[t].r0) * (2 * w[t].most + 1) + 1; /* memory that is not used costs nothing */
    PetscCall(MallocInts(w[t].room, &w[t].cols));
  }
  HOPS_EACH_PIECE
  for (int t = 0; t < T; t++) fits[t] = k->ops->lor->rows(w + t);
  for (int t = 0; t < T; t++) {
    if (!fits[t]) PetscCall(RowsLeft(w + t));
    for (int b = 0; b < 2; b++) {
      w[t].before[b] = nnz[b];
      nnz[b] += w[t].nnz[b];
    }
  }
  for (int b = 0; b < 2; b++) {
    rows->nnz[b] = nnz[b];
    if (rows->i[b]) rows->i[b][rows->n] = (int)nnz[b];
  }
  PetscCall(HopsHostLORCheckEntries((PetscInt64)rows->before + (PetscInt64)nnz[0] + (PetscInt64)nnz[1]));
  HOPS_EACH_PIECE
  for (int t = 1; t < T; t++) ShiftRows(w + t, w[t].before);
  PetscCall(PetscFree(fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostLORCountRows(HopsLORAssembler lor, HopsLORRows *rows)
{
  HopsLORKernel    k = (HopsLORKernel)lor;
  HopsHostLORWalk *w;
  unsigned char   *essential;

  PetscFunctionBegin;
  PetscCall(SetUp(k));
  PetscCall(RowsBegin(k, rows, &essential));
  SetNowhere(k);
  PetscCall(PetscMalloc1(k->T, &w));
  PetscCall(RowPieces(k, rows, essential, w));
  if (k->T == 1) k->cols = w[0].cols;
  else {
    PetscCall(MallocInts(rows->nnz[0] + rows->nnz[1], &k->cols));
    HOPS_EACH_PIECE
    for (int t = 0; t < k->T; t++)
      memcpy(k->cols + w[t].before[0] + w[t].before[1], w[t].cols, (w[t].nnz[0] + w[t].nnz[1]) * sizeof(int));
    for (int t = 0; t < k->T; t++) PetscCall(PetscFree(w[t].cols));
  }
  for (int t = 0; t < k->T; t++) PetscCall(WalkDestroy(w + t));
  PetscCall(PetscFree(w));
  PetscCall(PetscFree(essential));
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
    HOPS_EACH_PIECE
    for (int t = 0; t < k->T; t++) {
      const size_t first = rows->nnz[0] * t / k->T, last = rows->nnz[0] * (t + 1) / k->T;

      memcpy(rows->j[0] + first, c + first, (last - first) * sizeof(*c));
    }
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

static void Sort(int n, int x[])
{
  for (int i = 1; i < n; i++) {
    const int v = x[i];
    int       j = i;

    for (; j > 0 && x[j - 1] > v; j--) x[j] = x[j - 1];
    x[j] = v;
  }
}

/* Block 1 by the numbers of its columns, which may have another order; places in rows that reach it */
PetscErrorCode HopsHostLORMapColumns(HopsLORAssembler lor, HopsLORRows *rows)
{
  HopsLORKernel   k  = (HopsLORKernel)lor;
  const int       at = (int)(rows->before + rows->nnz[0]);
  HopsHostLORWalk w;

  PetscFunctionBegin;
  PetscCall(WalkCreate(k, rows, &w));
  for (PetscInt r = 0; r < rows->n; r++) {
    const int p0 = rows->i[0][r], p1 = rows->i[1][r], others = rows->i[1][r + 1] - p1, *own = k->cols + p0 + p1;
    int      *j = rows->j[1] + p1;

    if (!others) continue;
    for (int c = 0; c < others; c++) j[c] = rows->map[j[c]];
    Sort(others, j);
    k->ops->lor->rowbegin(&w, r);
    for (int x = 0; x < w.n; x++) {
      int p = 0;

      if (w.member[x] < rows->split) {
        while (own[p] != w.member[x]) p++;
        w.value[x] = (int)rows->before + p0 + p;
      } else {
        while (j[p] != rows->map[w.member[x] - rows->split]) p++;
        w.value[x] = at + p1 + p;
      }
    }
    k->ops->lor->rowend(&w, r);
  }
  PetscCall(WalkDestroy(&w));
  PetscCall(PetscFree(k->cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostLORAddReceived(HopsLORAssembler lor, HopsLORRows *rows, const PetscReal x[])
{
  const HopsLORKernel k    = (HopsLORKernel)lor;
  PetscReal          *vals = rows->v[0] - rows->before;

  PetscFunctionBegin;
  for (int i = 0; i < (rows->nslots ? rows->xi[rows->nslots] : 0); i++) vals[k->received[i]] += x[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHostLORSetDiagonal(HopsLORAssembler lor, HopsLORRows *rows, PetscInt n, const PetscInt idx[],
                                      const PetscReal x[])
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

PetscErrorCode HopsHostLORFindZero(HopsLORAssembler lor, const HopsLORRows *rows, PetscBool *zero)
{
  PetscFunctionBegin;
  *zero = PETSC_FALSE;
  for (PetscInt r = 0; r < rows->n && !*zero; r++) {
    PetscInt k = rows->i[0][r];

    while (k < rows->i[0][r + 1] && rows->j[0][k] != r) k++;
    if (k < rows->i[0][r + 1] && rows->v[0][k] == 0.0) *zero = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
