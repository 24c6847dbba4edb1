/*
  Host back end: the rows of a low-order-refined matrix. A row is the union of the rows that its cells have of
  it (hostlorrows.h); the places of the cells' entries come in the same pass.
*/
#include <backend/host/lor/hostlorimpl.h>

/* Scratch for rows of any length */
static PetscErrorCode WalkCreate(HopsLORKernel k, HopsLORRows *rows, HopsHostLORWalk *w)
{
  HopsSpace           sp       = k->space;
  const int           nlast    = PETSC_STATIC_ARRAY_LENGTH(w->last);
  int                 received = 0, entries, members, *p;
  HopsHostLORRowCell *cell;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(w, sizeof(*w)));
  w->k     = k;
  w->rows  = rows;
  w->nfree = (int)(sp->nT + sp->nG);
  for (int m = 0; m < 8; m++) w->most = PetscMax(w->most, k->cell[m].most);
  for (PetscInt s = 0; s < rows->nslots; s++) received = PetscMax(received, rows->xi[s + 1] - rows->xi[s]);
  entries    = k->mostcells * HopsHostLORPadded(w->most);
  members    = HopsHostLORPadded(k->mostcells * w->most + received + 1) + HOPS_LOR_LANES;
  w->nowhere = members;
  PetscCall(PetscMalloc1(nlast * (3 * members + 2 * entries) + members + 1, &p));
  PetscCall(PetscMalloc1(nlast * k->mostcells, &cell));
  w->mem[0] = p;
  w->mem[1] = cell;
  for (int i = 0; i < nlast; i++, cell += k->mostcells) {
    HopsHostLORMembers *m = w->last + i;

    m->ncells   = -1; /* no row yet */
    m->cell     = cell;
    m->member   = p;
    m->from     = m->member + members;
    m->fromcell = m->from + members;
    m->at       = m->fromcell + members;
    m->turn     = m->at + entries;
    p           = m->turn + entries;
  }
  w->value             = p;
  w->value[w->nowhere] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WalkDestroy(HopsHostLORWalk *w)
{
  PetscFunctionBegin;
  for (int i = 0; i < 2; i++) PetscCall(PetscFree(w->mem[i]));
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

/* Entries of restr by unknown: a piece has unknowns side by side, and looks at the cells that may have them
   */
static PetscErrorCode Transpose(HopsLORKernel k)
{
  HopsSpace      sp = k->space;
  const int      T = k->T, ne = (int)sp->ne, *restr = sp->restr;
  const PetscInt nr = sp->ncells * ne, nL = sp->nL, nb = (sp->ncells + BLOCK - 1) / BLOCK;
  int           *lo, *hi, *most, *twice;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(nL + 2, &k->begin));
  PetscCall(PetscMalloc1(nr, &k->entry));
  HopsHostAdvise(k->entry, nr * sizeof(*k->entry));
  PetscCall(PetscMalloc4(nb, &lo, nb, &hi, T, &most, T, &twice));
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
  for (int pass = 0; pass < 2; pass++) {
    HOPS_EACH_PIECE
    for (int t = 0; t < T; t++) {
      const int l0 = (int)HopsHostPiece(nL, 16, t, T), l1 = (int)HopsHostPiece(nL, 16, t + 1, T);
      int      *begin = k->begin, *entry = k->entry;

      for (PetscInt b = 0; b < nb; b++) {
        if (lo[b] >= l1 || hi[b] < l0) continue;
        for (PetscInt e = b * BLOCK * ne; e < PetscMin(nr, (b + 1) * BLOCK * ne); e++) {
          const int l = (int)HopsUnsigned(restr[e]);

          if (l < l0 || l >= l1) continue;
          if (pass) entry[begin[l + 1]++] = (int)e;
          else begin[l + 2]++;
        }
      }
    }
    if (!pass)
      for (PetscInt l = 0; l < nL; l++) k->begin[l + 2] += k->begin[l + 1];
  }
  HOPS_EACH_PIECE
  for (int t = 0; t < T; t++) {
    most[t]  = 1;
    twice[t] = 0;
    for (PetscInt l = HopsHostPiece(nL, 16, t, T); l < HopsHostPiece(nL, 16, t + 1, T); l++) {
      most[t] = PetscMax(most[t], k->begin[l + 1] - k->begin[l]);
      for (int q = k->begin[l] + 1; q < k->begin[l + 1]; q++) /* less than a cell apart: perhaps in one */
        if (k->entry[q] - k->entry[q - 1] < ne && k->entry[q] / ne == k->entry[q - 1] / ne) twice[t] = 1;
    }
  }
  k->perentry  = 1.0 / ne;
  k->mostcells = 1;
  k->twice     = PETSC_FALSE;
  for (int t = 0; t < T; t++) {
    k->mostcells = PetscMax(k->mostcells, most[t]);
    if (twice[t]) k->twice = PETSC_TRUE;
  }
  PetscCall(PetscFree4(lo, hi, most, twice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What all rows of a pattern share: cells' matrices, places of their entries (nowhere, for constrained rows),
   and which entries of restr an unknown has */
static PetscErrorCode SetUp(HopsLORKernel k)
{
  HopsSpace  sp = k->space;
  PetscInt64 n  = sp->ness;

  PetscFunctionBegin;
  if (k->begin) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsHostLORRowsReset(k));
  PetscCall(HopsHostLORCellsCreate(k));
  PetscCall(PetscMalloc1(sp->ncells + 1, &k->start));
  for (PetscInt c = 0; c <= sp->ncells; c++) {
    k->start[c] = (int)(n - sp->ness);
    if (c == sp->ncells) break;
    n += (PetscInt64)k->cell[k->mask[c]].n * (k->family == HOPS_H1 ? k->nn : 1);
    PetscCall(HopsHostLORCheckEntries(n));
  }
  PetscCall(PetscMalloc1(n - sp->ness, &k->place));
  HopsHostAdvise(k->place, (n - sp->ness) * sizeof(*k->place));
  if (k->T > 1) { /* who puts places of their own behind all others looks at those that nobody uses, too */
    HOPS_EACH_PIECE
    for (int t = 0; t < k->T; t++) {
      const PetscInt first = HopsHostPiece(n - sp->ness, 1024, t, k->T), last = HopsHostPiece(n - sp->ness, 1024, t + 1, k->T);

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
  HopsSpace sp = k->space;

  for (int q = k->begin[sp->nT + sp->nG]; q < k->begin[sp->nL]; q++) {
    const int              c = k->entry[q] / (int)sp->ne, v = k->entry[q] % (int)sp->ne;
    const HopsHostLORCell *p = &k->cell[k->mask[c]];

    for (int i = 0; i < p->row[v].n; i++) k->place[k->start[c] + (k->family == HOPS_H1 ? v * p->n : 0) + p->row[v].slot[i]] = 0;
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
      const int              c = (int)((k->entry[q] + 0.5) * k->perentry), v = k->entry[q] - c * ne;
      const HopsHostLORCell *p     = &k->cell[k->mask[c]];
      int                   *place = k->place + k->start[c] + (k->family == HOPS_H1 ? v * p->n : 0);

      for (int i = 0; i < p->row[v].n; i++) {
        int *x = place + p->row[v].slot[i];

        if (*x > 0) *x += d;
        else if (*x < -1) *x -= d;
      }
    }
    for (int x = s < 0 || !placed ? 0 : rows->xi[s]; x < (s < 0 || !placed ? 0 : rows->xi[s + 1]); x++) k->received[x] += d;
  }
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
    w[t].room      = (size_t)(w[t].r1 - w[t].r0) * (w[t].most + 1) + 1;
    PetscCall(PetscMalloc1(w[t].room, &w[t].cols));
    HopsHostAdvise(w[t].cols, w[t].room * sizeof(int));
  }
  HOPS_EACH_PIECE
  for (int t = 0; t < T; t++) fits[t] = k->ops->lor->rows(w + t);
  for (int t = 0; t < T; t++) {
    if (!fits[t]) { /* no row has more columns than its cells' rows and what it receives */
      PetscCall(PetscFree(w[t].cols));
      w[t].room = (size_t)(k->begin[rows->first + w[t].r1] - k->begin[rows->first + w[t].r0]) * w[t].most + w[t].r1 - w[t].r0 + 1;
      if (rows->nslots) w[t].room += rows->xi[rows->nslots];
      PetscCall(PetscMalloc1(w[t].room, &w[t].cols));
      PetscCheck(k->ops->lor->rows(w + t), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Rows are longer than their cells' rows");
    }
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
    PetscCall(PetscMalloc1(rows->nnz[0] + rows->nnz[1], &k->cols));
    HopsHostAdvise(k->cols, (rows->nnz[0] + rows->nnz[1]) * sizeof(int));
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

    HopsHostLORMembers *m;

    if (!others) continue;
    for (int c = 0; c < others; c++) j[c] = rows->map[j[c]];
    Sort(others, j);
    m = k->ops->lor->rowbegin(&w, r);
    for (int x = 0; x < m->n; x++) {
      int p = 0;

      if (m->member[x] < rows->split) {
        while (own[p] != m->member[x]) p++;
        w.value[x] = (int)rows->before + p0 + p;
      } else {
        while (j[p] != rows->map[m->member[x] - rows->split]) p++;
        w.value[x] = at + p1 + p;
      }
    }
    k->ops->lor->rowend(&w, r, m);
  }
  PetscCall(WalkDestroy(&w));
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
