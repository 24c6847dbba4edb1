/*
  Rows of a low-order-refined matrix from the rows of their cells, 8 entries of a cell at a time. Included
  once per instruction set, see hostlor_*.c.

  Members of a row are its columns as its cells, in ascending order, meet them. A cell's entries are
  compared with all members that the cells before brought, in as many lanes; a member's place in the row is
  the number of members below it. There are no searches, and no branches that depend on what is found.

  Two unknowns inside of one edge, face or cell of the mesh have the same rows of the same cells. What cells
  have in common of these rows lies on edges and faces that they share, so entries that met in the one meet
  in the other: who is a member is found once (Follow). Where cells are put together otherwise, two members
  may be equal, which shows in the sum of their places.
*/
#pragma once
#include <backend/host/lor/hostlorimpl.h>

typedef int LORInts __attribute__((vector_size(4 * HOPS_LOR_LANES)));
typedef int LORMemory __attribute__((vector_size(4 * HOPS_LOR_LANES), aligned(4), may_alias)); /* anywhere in an array */

INLINE int LORAny(const LORInts *x)
{
  return (*x)[0] | (*x)[1] | (*x)[2] | (*x)[3] | (*x)[4] | (*x)[5] | (*x)[6] | (*x)[7];
}

INLINE void LORGather(const int R[], const int col[], LORInts *x)
{
  *x = (LORInts){R[col[0]], R[col[1]], R[col[2]], R[col[3]], R[col[4]], R[col[5]], R[col[6]], R[col[7]]};
}

/* The cell of entry e of restr: its row there */
INLINE const HopsHostLORRow *LORCellRow(const struct _HopsLORKernel *k, const PetscBool h1, int e, HopsHostLORRowCell *x)
{
  const int ne = (int)k->space->ne, c = (int)((e + 0.5) * k->perentry); /* exact for e < 2^31 */

  x->e    = e;
  x->v    = e - c * ne;
  x->cell = &k->cell[k->mask[c]];
  x->base = k->start[c] + (h1 ? x->v * x->cell->n : 0);
  x->row  = &x->cell->row[x->v];
  return x->row;
}

/* The place of x among the members, where it is put if it is not there */
static int LORAddOne(HopsHostLORMembers *m, int x)
{
  int j = 0;

  while (j < m->n && m->member[j] != x) j++;
  if (j == m->n) m->member[m->n++] = x;
  return j;
}

/* Members of row l from its cells. Constrained columns are none: they are at w->nowhere. Lists are padded
   with their first entry */
INLINE void LORCollect(const HopsHostLORWalk *w, const PetscBool h1, int l, HopsHostLORMembers *m)
{
  const HopsLORKernel k     = w->k;
  const int          *restr = k->space->restr, b = k->begin[l], K = k->begin[l + 1] - b;
  int                *member = m->member, *at = m->at, *turn = m->turn, n = 0;
  LORInts             outside = {0};

  m->n = 0;
  for (int q = 0; q < K; q++) {
    const int             e = k->entry[b + q], n0 = n, *R = restr + e;
    const HopsHostLORRow *row = LORCellRow(k, h1, e, m->cell + q);

    for (int g = 0; g < row->n; g += HOPS_LOR_LANES, at += HOPS_LOR_LANES, turn += HOPS_LOR_LANES) {
      const int real = row->n - g;
      LORInts   x, found;

      LORGather(R, row->col + g, &x);
      if (!h1) {
        const LORInts sign = x >> 31;

        *(LORMemory *)turn = sign ^ (R[0] >> 31);
        x ^= sign;
      }
      found = (x >= w->nfree) & (w->nowhere + 1);
      outside |= found;
      if (k->twice) { /* a cell's entries may be equal */
        m->n = n;
        for (int i = 0; i < HOPS_LOR_LANES; i++) at[i] = found[i] ? w->nowhere : LORAddOne(m, x[i]);
        n = m->n;
        continue;
      }
      if (!n0 && !LORAny(&found)) { /* of the first cell all are new */
        const LORInts lane = {0, 1, 2, 3, 4, 5, 6, 7};

        *(LORMemory *)(member + n) = x;
        *(LORMemory *)at           = (lane < real) & (lane + n);
        n += PetscMin(real, HOPS_LOR_LANES);
        continue;
      }
      for (int j = 0; j < n0; j++) found |= (x == member[j]) & (j + 1);
      for (int i = 0; i < HOPS_LOR_LANES; i++) {
        const int f = found[i], fresh = !f & (i < real);

        member[n] = x[i];
        at[i]     = f ? f - 1 : (fresh ? n : n0);
        n += fresh;
      }
    }
  }
  m->n        = n;
  m->ncells   = LORAny(&outside) || k->twice || !h1 ? -1 : K; /* what may follow */
  m->prepared = 0;
}

/* Where the members that the first cell has not come from */
static void LORPrepare(HopsHostLORMembers *m)
{
  const int *at = m->at + HopsHostLORPadded(m->cell[0].row->n);

  for (int q = 1; q < m->ncells; q++) {
    const HopsHostLORRow *row = m->cell[q].row;

    for (int i = 0; i < row->n; i++) {
      m->from[at[i]]     = row->col[i];
      m->fromcell[at[i]] = q;
    }
    at += HopsHostLORPadded(row->n);
  }
  m->prepared = 1;
}

/* Members of row l from those of such another row, or PETSC_FALSE */
INLINE PetscBool LORFollow(const HopsHostLORWalk *w, int l, HopsHostLORMembers *m)
{
  const HopsLORKernel k = w->k;
  const int           b = k->begin[l], K = k->begin[l + 1] - b, ne = (int)k->space->ne, *restr = k->space->restr, *R;
  int                 first;
  LORInts             x, top;

  if (!K || K != m->ncells) return PETSC_FALSE;
  for (int q = 0; q < K; q++) {
    HopsHostLORRowCell *c    = m->cell + q;
    const int           step = k->entry[b + q] - c->e, v = c->v + step;

    if (v < 0 || v >= ne || c->cell->row[v].col != c->row->col) return PETSC_FALSE;
    c->step = step;
  }
  if (!m->prepared) LORPrepare(m);
  for (int q = 0; q < K; q++) {
    HopsHostLORRowCell *c = m->cell + q;

    c->e += c->step;
    c->v += c->step;
    c->base += c->step * c->cell->n;
  }
  first = m->cell[0].row->n;
  R     = restr + m->cell[0].e;
  top   = (LORInts){0};
  for (int g = 0; g < first; g += HOPS_LOR_LANES) {
    LORGather(R, m->cell[0].row->col + g, &x);
    top |= x >= w->nfree;
    *(LORMemory *)(m->member + g) = x;
  }
  for (int j = first; j < m->n; j++) {
    m->member[j] = restr[m->cell[m->fromcell[j]].e + m->from[j]];
    top[0] |= m->member[j] >= w->nfree;
  }
  return LORAny(&top) ? PETSC_FALSE : PETSC_TRUE;
}

/* Columns that no cell of this rank brings: the diagonal of an essential unknown, those received */
static void LORCollectOthers(const HopsHostLORWalk *w, PetscBool essential, int l, int s, HopsHostLORMembers *m)
{
  const HopsLORRows *rows = w->rows;

  if (essential) (void)LORAddOne(m, l);
  for (int x = s < 0 ? 0 : rows->xi[s]; x < (s < 0 ? 0 : rows->xi[s + 1]); x++) (void)LORAddOne(m, rows->xj[x]);
  m->ncells = -1; /* no row follows */
}

/* Columns of the row in ascending order, and w->value[] of its members: first + their places; false where
   two are equal */
INLINE PetscBool LORRank(HopsHostLORWalk *w, const HopsHostLORMembers *m, int first, int cols[])
{
  const int n = m->n, *member = m->member;
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
INLINE void LORSetPlaces(const HopsHostLORWalk *w, const PetscBool h1, int ncells, const HopsHostLORMembers *m)
{
  const int *at = m->at, *turn = m->turn, *value = w->value;

  for (int q = 0; q < ncells; q++) {
    const HopsHostLORRow *row   = m->cell[q].row;
    int                  *place = w->k->place + m->cell[q].base;

    for (int g = 0; g < row->n; g += HOPS_LOR_LANES, at += HOPS_LOR_LANES, turn += HOPS_LOR_LANES) {
      const int *slot = row->slot + g;

      for (int i = 0; i < HOPS_LOR_LANES; i++) place[slot[i]] = h1 ? value[at[i]] : value[at[i]] ^ turn[i];
    }
  }
}

/* Places of received entries, by the members */
static void LORSetReceived(const HopsHostLORWalk *w, int s, HopsHostLORMembers *m)
{
  const HopsLORRows *rows = w->rows;

  for (int x = s < 0 ? 0 : rows->xi[s]; x < (s < 0 ? 0 : rows->xi[s + 1]); x++)
    w->k->received[x] = w->value[LORAddOne(m, rows->xj[x])]; /* it is there */
}

/* Rows w->r0 to w->r1, counted from w->nnz; false where there is no room for their columns */
INLINE PetscBool LORRowsOf(HopsHostLORWalk *w, const PetscBool h1)
{
  const HopsLORKernel k    = w->k;
  const HopsLORRows  *rows = w->rows;
  const int           most = w->most, split = (int)rows->split;
  size_t              n[2] = {w->nnz[0], w->nnz[1]};
  const size_t        n0   = n[0] + n[1];

  for (PetscInt r = w->r0; r < w->r1; r++) {
    const int           l = (int)(rows->first + r), s = rows->nslots ? rows->slot[r] : -1, ncells = k->begin[l + 1] - k->begin[l];
    const size_t        need      = n[0] + n[1] - n0 + (size_t)ncells * most + (s < 0 ? 0 : rows->xi[s + 1] - rows->xi[s]) + 1;
    const int           first     = (int)(rows->before + n[0]);
    int                *cols      = w->cols + (n[0] + n[1] - n0), own, all;
    const PetscBool     essential = w->essential && w->essential[l] ? PETSC_TRUE : PETSC_FALSE;
    HopsHostLORRowCell  cell;
    HopsHostLORMembers *m = w->last;

    if (need > w->room) return PETSC_FALSE;
    rows->i[0][r] = (int)n[0];
    if (rows->i[1]) rows->i[1][r] = (int)n[1];
    if (h1 && ncells) m += LORCellRow(k, h1, k->entry[k->begin[l]], &cell)->place;
    if (!h1 || s >= 0 || essential || !LORFollow(w, l, m) || !LORRank(w, m, first, cols)) {
      LORCollect(w, h1, l, m);
      if (s >= 0 || essential) LORCollectOthers(w, essential, l, s, m);
      (void)LORRank(w, m, first, cols);
    }
    own = all = m->n;
    if (rows->i[1])
      while (own && cols[own - 1] >= split) own--;
    if (own == all) {
      LORSetPlaces(w, h1, ncells, m);
      if (s >= 0) LORSetReceived(w, s, m);
    }
    n[0] += own;
    n[1] += all - own;
  }
  w->nnz[0] = n[0];
  w->nnz[1] = n[1];
  return PETSC_TRUE;
}

static PetscBool LORRows(HopsHostLORWalk *w)
{
  return w->k->family == HOPS_H1 ? LORRowsOf(w, PETSC_TRUE) : LORRowsOf(w, PETSC_FALSE);
}

/* A row for who sets w->value[] himself, before and after */
static HopsHostLORMembers *LORRowBegin(HopsHostLORWalk *w, PetscInt r)
{
  const int           l = (int)(w->rows->first + r);
  HopsHostLORMembers *m = w->last;

  if (w->k->family == HOPS_H1) LORCollect(w, PETSC_TRUE, l, m);
  else LORCollect(w, PETSC_FALSE, l, m);
  LORCollectOthers(w, PETSC_FALSE, l, w->rows->nslots ? w->rows->slot[r] : -1, m);
  return m;
}

static void LORRowEnd(HopsHostLORWalk *w, PetscInt r, HopsHostLORMembers *m)
{
  const int l = (int)(w->rows->first + r), ncells = w->k->begin[l + 1] - w->k->begin[l];

  if (w->k->family == HOPS_H1) LORSetPlaces(w, PETSC_TRUE, ncells, m);
  else LORSetPlaces(w, PETSC_FALSE, ncells, m);
  LORSetReceived(w, w->rows->nslots ? w->rows->slot[r] : -1, m);
}
