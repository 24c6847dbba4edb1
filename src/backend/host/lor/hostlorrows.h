/*
  Rows of a low-order-refined matrix from the rows of their cells. Included once per instruction set, see
  hostlor_*.c.

  Members of a row are its columns as its cells, in ascending order, meet them. A table says which columns the
  row has met, so that a cell's entry is looked up once, however long the row is. A member's place in the row
  is the number of members below it.

  Most rows look like another one that has the same rows of as many cells (HopsHostLORGuess): the order of its
  columns, and which entries of the cells are one column, are tried first. They hold if the columns ascend and
  all entries of each of them agree, which is a third of the work of finding them. Where some columns are
  constrained the order is another one, but the entries still agree.
*/
#pragma once
#include <backend/host/lor/hostlorimpl.h>

typedef int LORInts __attribute__((vector_size(4 * HOPS_LOR_LANES)));
typedef int LORMemory __attribute__((vector_size(4 * HOPS_LOR_LANES), aligned(4), may_alias)); /* anywhere in an array */

/* The ncells cells of row l; returns their rows' ids, or 0 where these are not known or too many */
INLINE uint64_t LORCells(const HopsHostLORWalk *w, const PetscBool h1, int l, int ncells)
{
  const HopsLORKernel    k     = w->k;
  const int             *entry = k->entry + k->begin[l], ne = (int)k->space->ne, *restr = k->space->restr, *start = k->start;
  const unsigned short  *mask     = k->mask;
  const double           perentry = k->perentry;
  const int            **R        = w->R;
  int                  **place = w->place, *first = k->place;
  const HopsHostLORRow **row   = w->row;
  uint64_t               shape = 0;
  int                    known = 0; /* negative where an id is not */

  for (int q = 0; q < ncells; q++) {
    const int             e = entry[q], c = (int)((e + 0.5) * perentry), v = e - c * ne; /* exact for entries < 2^31 */
    const HopsHostLORRow *x = k->cell[mask[c]].row + v;

    R[q]     = restr + e;
    place[q] = first + start[c] + x->base;
    row[q]   = x;
    shape    = (shape << (h1 ? 8 : 16)) + (uint64_t)x->id;
    known |= x->id - 1;
  }
  return ncells <= (h1 ? 8 : 4) && known >= 0 ? shape : 0;
}

/* The place of x among the members, where it is put if it is not there */
static int LORAddOne(HopsHostLORWalk *w, int x)
{
  int j = 0;

  while (j < w->n && w->member[j] != x) j++;
  if (j == w->n) w->member[w->n++] = x;
  return j;
}

/* Members of a row from its cells. Constrained columns are none: they are at w->nowhere. What fills up a list
   is there already */
INLINE void LORCollect(HopsHostLORWalk *w, const PetscBool h1, int ncells)
{
  const unsigned int shift = w->shift, last = (1u << (64 - shift)) - 1;
  HopsHostLORMet    *met   = w->met;
  unsigned int       count = w->count, n = 0;
  int               *at = w->at, *turn = w->turn, *member = w->member;

  if (count > UINT_MAX / 2) {
    memset(met, 0, (last + 1) * sizeof(*met));
    count = 0;
  }
  count++; /* of members before this row, less than that of what is not in the table */
  for (int q = 0; q < ncells; q++) {
    const int *R = w->R[q], *col = w->row[q]->col, padded = HopsHostLORPadded(w->row[q]->n), turned = R[0] >> 31;

    for (int i = 0; i < padded; i++) {
      const int    r = R[col[i]], sign = h1 ? 0 : r >> 31, x = r ^ sign;
      unsigned int h = (unsigned int)((uint64_t)x * HOPS_LOR_HASH >> shift), m, fresh;

      if (!h1) turn[i] = sign ^ turned;
      if (x >= w->nfree) {
        at[i] = w->nowhere;
        continue;
      }
      while (met[h].m >= count && met[h].x != x) h = (h + 1) & last;
      m         = met[h].m;
      fresh     = m < count;
      m         = fresh ? count + n : m;
      met[h]    = (HopsHostLORMet){x, m};
      at[i]     = (int)(m - count);
      member[n] = x;
      n += fresh;
    }
    at += padded;
    turn += padded;
  }
  w->n     = (int)n;
  w->count = count + n;
}

/* Columns that no cell of this rank brings: the diagonal of an essential unknown, those received */
static void LORCollectOthers(HopsHostLORWalk *w, PetscBool essential, int l, int s)
{
  const HopsLORRows *rows = w->rows;

  if (essential) (void)LORAddOne(w, l);
  for (int x = s < 0 ? 0 : rows->xi[s]; x < (s < 0 ? 0 : rows->xi[s + 1]); x++) (void)LORAddOne(w, rows->xj[x]);
}

/* Columns of the row in ascending order, and w->value[] of its members: first + their places; false where two
   are equal */
INLINE PetscBool LORRank(HopsHostLORWalk *w, int first, int cols[])
{
  const int n = w->n, *member = w->member;
  int       sum = 0;

  for (int g = 0; g < n; g += HOPS_LOR_LANES) {
    const LORInts x     = *(const LORMemory *)(member + g);
    LORInts       below = {0};

    for (int j = 0; j < n; j++) below -= x > member[j];
    *(LORMemory *)(w->value + g) = below + first;
    for (int i = 0; i < HOPS_LOR_LANES && g + i < n; i++) {
      cols[below[i]] = x[i];
      sum += below[i];
    }
  }
  return sum == n * (n - 1) / 2 ? PETSC_TRUE : PETSC_FALSE;
}

/* Where the entries of a row go, by w->value[] */
INLINE void LORSetPlaces(const HopsHostLORWalk *w, const PetscBool h1, int ncells)
{
  const int *at = w->at, *turn = w->turn, *value = w->value;

  for (int q = 0; q < ncells; q++) {
    const int *slot = w->row[q]->slot, padded = HopsHostLORPadded(w->row[q]->n);
    int       *place = w->place[q];

    for (int i = 0; i < padded; i++) place[slot[i]] = h1 ? value[at[i]] : value[at[i]] ^ turn[i];
    at += padded;
    turn += padded;
  }
}

/* The guess from a row of its shape, members and places of which are there. Constrained columns come last */
static void LORLearn(const HopsHostLORWalk *w, int ncells, int first, HopsHostLORGuess *g)
{
  int *entry = g->entry, *fixed = w->member + w->n, nfixed = 0, n = 0, groups = 0;

  for (int q = 0; q < ncells; q++) {
    const HopsHostLORRow *row = w->row[q];

    for (int i = 0; i < HopsHostLORPadded(row->n); i += HOPS_LOR_PAD, entry += 3 * HOPS_LOR_PAD, groups++) {
      g->group[groups] = q;
      for (int u = 0; u < HOPS_LOR_PAD; u++) {
        int at = w->at[groups * HOPS_LOR_PAD + u], j = 0;

        if (at != w->nowhere) j = w->value[at] - first;
        else {
          fixed[nfixed] = (int)HopsUnsigned(w->R[q][row->col[i + u]]);
          while (fixed[j] != fixed[nfixed]) j++;
          nfixed += j == nfixed;
          j += w->n;
        }
        entry[u]                    = row->col[i + u];
        entry[HOPS_LOR_PAD + u]     = row->slot[i + u];
        entry[2 * HOPS_LOR_PAD + u] = j;
        g->cell[j]                  = q;
        g->from[j]                  = row->col[i + u];
      }
    }
    n += row->n;
  }
  g->n      = w->n + nfixed;
  g->groups = groups;
  g->shared = n > g->n ? PETSC_TRUE : PETSC_FALSE;
}

/* Where the entries of a row go if the guess is right, at w->value[] of the members or, where these are its
   columns in order, from `first` on; false where the guess is wrong */
INLINE PetscBool LORFollowPlaces(const HopsHostLORWalk *w, const HopsHostLORGuess *g, const PetscBool h1, const PetscBool ordered,
                                 const PetscBool shared, int first, const int member[])
{
  const int        *entry = g->entry, *value = w->value, *group = g->group, *end = group + g->groups;
  const int *const *R     = w->R;
  int *const       *place = w->place, bad = 0;

  for (; group < end; group++, entry += 3 * HOPS_LOR_PAD) {
    const int *r = R[*group];
    int       *p = place[*group];

    UNROLL
    for (int u = 0; u < HOPS_LOR_PAD; u++) {
      const int j = entry[2 * HOPS_LOR_PAD + u], x = h1 && !shared ? 0 : r[entry[u]], sign = h1 ? 0 : x >> 31;

      if (shared) bad |= x ^ sign ^ member[j];
      p[entry[HOPS_LOR_PAD + u]] = (ordered ? first + j : value[j]) ^ (h1 ? 0 : sign ^ r[0] >> 31);
    }
  }
  return bad ? PETSC_FALSE : PETSC_TRUE;
}

/* A row of the guess's shape that may have constrained columns, of members cols[]: the others in order, and
   w->value[] of all; returns how many, or none where the guess does not help */
static int LOROrder(HopsHostLORWalk *w, int n, int first, int split, int cols[])
{
  int fixed = 0;

  for (int j = 0; j < n; j++) {
    w->member[j] = cols[j];
    fixed += cols[j] >= w->nfree;
  }
  w->n = n;
  if (!fixed || !LORRank(w, first, cols)) return 0;
  for (int j = 0; j < n; j++)
    if (w->member[j] >= w->nfree) w->value[j] = 0;
  n -= fixed;
  return n && cols[n - 1] < split ? n : 0;
}

/* A row of the guess's shape: its columns, all below `split`, and where its entries go; returns how many, or
   none where the guess is wrong */
INLINE int LORFollow(HopsHostLORWalk *w, const HopsHostLORGuess *g, const PetscBool h1, int first, int split, int cols[])
{
  const int         n = g->n, *cell = g->cell, *from = g->from;
  const int *const *R    = w->R;
  int               last = -1, bad = 0, own;

  for (int j = 0; j < n; j++) {
    const int r = R[cell[j]][from[j]], x = h1 ? r : r ^ r >> 31;

    cols[j] = x;
    bad |= x - last - 1; /* negative where they do not ascend */
    last = x;
  }
  if (bad >= 0 && last < PetscMin(w->nfree, split)) {
    const PetscBool right = g->shared ? LORFollowPlaces(w, g, h1, PETSC_TRUE, PETSC_TRUE, first, cols)
                                      : LORFollowPlaces(w, g, h1, PETSC_TRUE, PETSC_FALSE, first, cols);

    return right ? n : 0;
  }
  own = LOROrder(w, n, first, split, cols);
  return own && LORFollowPlaces(w, g, h1, PETSC_FALSE, PETSC_TRUE, first, w->member) ? own : 0;
}

/* Places of received entries, by the members */
static void LORSetReceived(HopsHostLORWalk *w, int s)
{
  const HopsLORRows *rows = w->rows;

  for (int x = s < 0 ? 0 : rows->xi[s]; x < (s < 0 ? 0 : rows->xi[s + 1]); x++)
    w->k->received[x] = w->value[LORAddOne(w, rows->xj[x])]; /* it is there */
}

/* Rows from w->r on to w->r1, counted from w->nnz; false where there is no room for their columns */
INLINE PetscBool LORRowsOf(HopsHostLORWalk *w, const PetscBool h1)
{
  const HopsLORKernel k    = w->k;
  const HopsLORRows  *rows = w->rows;
  const int           most = w->most, split = rows->i[1] ? (int)rows->split : INT_MAX;

  for (; w->r < w->r1; w->r++) {
    const PetscInt    r = w->r;
    const int         l = (int)(rows->first + r), s = rows->nslots ? rows->slot[r] : -1, ncells = k->begin[l + 1] - k->begin[l];
    const size_t      used      = w->nnz[0] + w->nnz[1];
    const int         first     = (int)(rows->before + w->nnz[0]);
    int              *cols      = w->cols + used, own, all;
    const PetscBool   essential = w->essential && w->essential[l] ? PETSC_TRUE : PETSC_FALSE;
    PetscBool         learn     = PETSC_FALSE;
    HopsHostLORGuess *g         = NULL;
    uint64_t          shape;

    if (used + (size_t)ncells * most + (s < 0 ? 0 : rows->xi[s + 1] - rows->xi[s]) + 1 > w->room) return PETSC_FALSE;
    rows->i[0][r] = (int)w->nnz[0];
    if (rows->i[1]) rows->i[1][r] = (int)w->nnz[1];
    shape = LORCells(w, h1, l, ncells);
    if (shape && s < 0 && !essential) {
      g     = w->guess + ((shape + (uint64_t)w->row[0]->place) * HOPS_LOR_HASH >> (64 - HOPS_LOR_GUESSES));
      learn = g->shape == shape ? PETSC_TRUE : PETSC_FALSE;
      own   = learn && g->n ? LORFollow(w, g, h1, first, split, cols) : 0;
      w->nnz[0] += own;
      if (own) continue;
      if (!learn) *g = (HopsHostLORGuess){.shape = shape, .cell = g->cell, .from = g->from, .group = g->group, .entry = g->entry};
    }
    LORCollect(w, h1, ncells);
    if (s >= 0 || essential) LORCollectOthers(w, essential, l, s);
    (void)LORRank(w, first, cols);
    own = all = w->n;
    while (own && cols[own - 1] >= split) own--;
    if (own == all) {
      LORSetPlaces(w, h1, ncells);
      if (s >= 0) LORSetReceived(w, s);
      if (learn) LORLearn(w, ncells, first, g);
    }
    w->nnz[0] += own;
    w->nnz[1] += all - own;
  }
  return PETSC_TRUE;
}

static PetscBool LORRows(HopsHostLORWalk *w)
{
  return w->k->family == HOPS_H1 ? LORRowsOf(w, PETSC_TRUE) : LORRowsOf(w, PETSC_FALSE);
}

/* A row for who sets w->value[] himself, by its members, before and after */
static void LORRowBegin(HopsHostLORWalk *w, PetscInt r)
{
  const int l = (int)(w->rows->first + r), ncells = w->k->begin[l + 1] - w->k->begin[l];

  if (w->k->family == HOPS_H1) {
    (void)LORCells(w, PETSC_TRUE, l, ncells);
    LORCollect(w, PETSC_TRUE, ncells);
  } else {
    (void)LORCells(w, PETSC_FALSE, l, ncells);
    LORCollect(w, PETSC_FALSE, ncells);
  }
  LORCollectOthers(w, PETSC_FALSE, l, w->rows->nslots ? w->rows->slot[r] : -1);
}

static void LORRowEnd(HopsHostLORWalk *w, PetscInt r)
{
  const int l = (int)(w->rows->first + r), ncells = w->k->begin[l + 1] - w->k->begin[l];

  if (w->k->family == HOPS_H1) LORSetPlaces(w, PETSC_TRUE, ncells);
  else LORSetPlaces(w, PETSC_FALSE, ncells);
  LORSetReceived(w, w->rows->nslots ? w->rows->slot[r] : -1);
}
