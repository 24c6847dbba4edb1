/*
  Columns of rows that cells' lists add to, where nodes hang (laneslorhung.h). Numbers of lists are put in
  the order of rows. The columns of a row go into a hash table of its own, all at a time, and the first
  number that brings a column has it. Back is a back end's class: see lanes.h.
*/
#pragma once
#include "laneslorplace.h"

#define HOPS_HUNG_SLOTS 32  /* of a table: a multiple of that */
#define HOPS_HUNG_TEAM  128 /* lanes on a device */

/* ---- Numbers in the order of rows ---- */

struct HopsLORHungLengthOf {
  HopsLORHung h;
  const int  *restr;
  int         percell, nfree, *length;

  HOPS_LANES void operator()(size_t q) const
  {
    const int e = h.entry[q], c = e / percell, *row = h.row + h.kind[c] * (percell + 1) + e - c * percell;

    length[q] = HopsLanesUnsigned(restr[e]) < nfree ? row[1] - row[0] : 0;
  }
};

struct HopsLORHungWhere {
  const int *entry, *first;
  int       *where;

  HOPS_LANES void operator()(size_t q) const
  {
    where[entry[q]] = first[q];
  }
};

/* A team has a cell, a lane numbers of its list */
struct HopsLORHungOrder {
  static constexpr int lanes = HOPS_HUNG_TEAM;
  HopsLORHung          h;
  const int           *restr;
  int                  percell, nfree, ncells, last; /* last: nodes in a direction less one */
  const int           *cell, *where, *ijk;           /* [ncells] those with lists; ijk: NULL where nothing is inside */
  HopsLORHungNumbers   out;

  HOPS_LANES bool IsInside(int v) const
  {
    const int at = HopsLoad(ijk + v), i = at & 255, j = at >> 8 & 255, k = at >> 16;

    return i > 0 && i < last && j > 0 && j < last && (percell == (last + 1) * (last + 1) || (k > 0 && k < last));
  }

  template <class Team> HOPS_LANES void operator()(const Team &team, double *) const
  {
    for (int i = team.index(); i < ncells; i += team.count()) {
      const int  c = cell[i], *row = h.row + h.kind[c] * (percell + 1), end = row[percell], first = h.first[c];
      const int *R = restr + (size_t)c * percell, *W = where + (size_t)c * percell;

      for (int k = row[0] + team.lane(); k < end; k += team.size()) {
        const int v = HopsLoad(h.of + k), l = R[v];

        if (HopsLanesUnsigned(l) >= nfree) continue;
        const int w = HopsLoad(h.col + k), n = W[v] + k - HopsLoad(row + v);

        HopsStorePair(out.at + 2 * (size_t)n, l, ijk && (IsInside(v) || IsInside(w)) ? -1 - R[w] : R[w]);
        out.source[n] = first + HopsLoad(h.slot + k);
      }
    }
  }
};

/* ---- Tables of rows ---- */

/* Slots of row r begin at HOPS_HUNG_SLOTS * base[r]: a column, -1 where there is none, and the complement of
   its least number. A row that is one entry's has no table */
struct HopsLORHungTable {
  const int *base;
  int       *slot;

  HOPS_LANES bool Has(int r) const
  {
    return base[r] < base[r + 1];
  }
  HOPS_LANES int *Begin(int r, int u, unsigned int *n, unsigned int *at) const
  {
    *n  = HOPS_HUNG_SLOTS * (unsigned int)(base[r + 1] - base[r]);
    *at = (unsigned int)((unsigned long long)((unsigned int)u * 2654435761u) * *n >> 32);
    return slot + 2 * (size_t)HOPS_HUNG_SLOTS * base[r];
  }
  /* both halves of a slot, which may change meanwhile; at once by a device */
  HOPS_LANES static int Read(const int *slot, int *least)
  {
    if (HopsLanesOf(2) == 1) {
      const volatile int *s      = slot;
      const int           column = s[0];

      *least = s[1];
      return column;
    }
    const unsigned long long x = *(const volatile unsigned long long *)slot;

    *least = (int)(x >> 32);
    return (int)(x & 0xffffffffu);
  }
  /* number -1: the column is not the lists'. What is read first saves atomic operations */
  template <class Team> HOPS_LANES void Add(int r, int u, int number) const
  {
    unsigned int n, at;
    int         *begin = Begin(r, u, &n, &at), least;

    for (;; at = at + 1 == n ? 0 : at + 1) {
      int old = Read(begin + 2 * at, &least);

      if (old == -1) old = Team::Swap(begin + 2 * at, -1, u);
      if (old == -1 || old == u) break;
    }
    if (least < INT_MAX - 1 - number) Team::Most(begin + 2 * at + 1, INT_MAX - 1 - number);
  }
  HOPS_LANES bool Is(int r, int u, int number) const
  {
    unsigned int     n, at;
    int              least;
    const int *const begin = Begin(r, u, &n, &at);

    while (Read(begin + 2 * at, &least) != u) at = at + 1 == n ? 0 : at + 1;
    return least == INT_MAX - 1 - number;
  }
};

/* most: columns that a cell brings without J. Columns that several cells have leave room in a table, and
   small tables fit into a cache */
struct HopsLORHungSizes {
  const int *hungbegin, *first, *begin; /* entries without J, NULL where their columns do not matter */
  int        most, *size;

  HOPS_LANES void operator()(size_t r) const
  {
    const int lo = hungbegin[r], hi = hungbegin[r + 1];
    const int other = begin ? begin[r + 1] - begin[r] : 1, n = first[hi] - first[lo] + 1 + most * other;

    size[r] = hi > lo + (other == 0) ? (n + n / 4 + HOPS_HUNG_SLOTS - 1) / HOPS_HUNG_SLOTS : 0;
  }
};

/* cells: numbers say what is met once, and a row's own column is its cells' */
template <class Team> struct HopsLORHungMeet {
  HopsLORHungNumbers x;
  HopsLORHungTable   table;
  int                nfree;
  bool               cells;

  HOPS_LANES void operator()(size_t i) const
  {
    const int r = HopsLanesUnsigned(x.at[2 * i]), u = x.at[2 * i + 1], c = HopsLanesUnsigned(u);

    if (c >= nfree || (cells && u < 0) || !table.Has(r)) return;
    table.Add<Team>(r, c, cells && c == r ? -1 : (int)i);
  }
};

/* 1 for a number that has its column */
struct HopsLORHungWins {
  HopsLORHungNumbers x;
  HopsLORHungTable   table;
  int                nfree;
  bool               cells;
  int               *win;

  HOPS_LANES void operator()(size_t i) const
  {
    const int  r = HopsLanesUnsigned(x.at[2 * i]), u = x.at[2 * i + 1], c = HopsLanesUnsigned(u);
    const bool once = (cells && u < 0) || !table.Has(r);

    win[i] = c < nfree && (once ? c != r || !cells : table.Is(r, c, (int)i));
  }
};

/* win[]: how many such numbers come before */
struct HopsLORHungColumns {
  const int *at, *win;
  int       *col;

  HOPS_LANES void operator()(size_t i) const
  {
    if (win[i] < win[i + 1]) col[win[i]] = HopsLanesUnsigned(at[2 * i + 1]);
  }
};

struct HopsLORHungExtra {
  const int *first, *win;
  int       *extra;

  HOPS_LANES void operator()(size_t q) const
  {
    extra[q] = win[first[q]];
  }
};

/* ---- Launches. Put(n, table) puts the columns that n entries bring without J into the tables ---- */

template <class Back> struct HopsLORHungOrders {
  typedef typename Back::Team Team;

  static PetscErrorCode Numbers(const HopsLanesLORMesh *m, int percell, bool inside, size_t n, int nhung, const int cell[],
                                HopsLORHungNumbers *x)
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;
    int                 *where;

    PetscFunctionBegin;
    PetscCall((*memory->PoolMalloc)((n + 1) * sizeof(int), (void **)&x->first));
    PetscCall((*memory->PoolMalloc)((size_t)m->ncells * percell * sizeof(int), (void **)&where));
    PetscCall(Back::Each("HopsLORHungLengthOf", n, HopsLORHungLengthOf{m->hung, m->restr, percell, m->nfree, x->first}));
    PetscCall(Back::Scan(n, x->first));
    PetscCall(Back::Each("HopsLORHungWhere", n, HopsLORHungWhere{m->hung.entry, x->first, where}));
    PetscCall((*memory->Copy)(NULL, &x->n, x->first + n, sizeof(int), HOPS_COPY_OUT));
    PetscCall((*memory->PoolMalloc)(2 * (size_t)x->n * sizeof(int), (void **)&x->at));
    PetscCall((*memory->PoolMalloc)(x->n * sizeof(int), (void **)&x->source));
    if (nhung)
      PetscCall(Back::Teams("HopsLORHungOrder", nhung, 0,
                            HopsLORHungOrder{m->hung, m->restr, percell, m->nfree, nhung, m->P - 1, cell, where,
                                             inside ? m->ijk : NULL, *x}));
    PetscCall((*memory->PoolFree)((void **)&where));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  template <class Cells>
  static PetscErrorCode Columns(const HopsLanesLORMesh *m, bool cells, int most, size_t n, const HopsLORHungNumbers *x,
                                const Cells &Put, HopsLORHung *h)
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;
    int                 *base, *slots, *win, *extra, *col, sizes[2] = {0, 0};

    PetscFunctionBegin;
    PetscCall((*memory->PoolMalloc)((m->nfree + 1) * sizeof(int), (void **)&base));
    PetscCall(Back::Each("HopsLORHungSizes", m->nfree, HopsLORHungSizes{h->begin, x->first, cells ? m->begin : NULL, most, base}));
    PetscCall(Back::Scan(m->nfree, base));
    PetscCall((*memory->Copy)(NULL, sizes, base + m->nfree, sizeof(int), HOPS_COPY_OUT));
    if (cells) PetscCall((*memory->Copy)(NULL, sizes + 1, m->begin + m->nfree, sizeof(int), HOPS_COPY_OUT));
    PetscCall((*memory->PoolMalloc)(2 * (size_t)HOPS_HUNG_SLOTS * sizes[0] * sizeof(int), (void **)&slots));
    PetscCall(Back::Set(slots, 0xff, 2 * (size_t)HOPS_HUNG_SLOTS * sizes[0] * sizeof(int)));
    PetscCall((*memory->PoolMalloc)((x->n + 1) * sizeof(int), (void **)&win));
    const HopsLORHungTable t = {base, slots};

    if (cells) PetscCall(Put((size_t)sizes[1], t));
    PetscCall(Back::Each("HopsLORHungMeet", x->n, HopsLORHungMeet<Team>{*x, t, m->nfree, cells}));
    PetscCall(Back::Each("HopsLORHungWins", x->n, HopsLORHungWins{*x, t, m->nfree, cells, win}));
    PetscCall(Back::Scan(x->n, win));
    PetscCall((*memory->Copy)(NULL, sizes, win + x->n, sizeof(int), HOPS_COPY_OUT));
    PetscCall((*memory->PoolMalloc)((n + 1) * sizeof(int), (void **)&extra));
    PetscCall((*memory->PoolMalloc)(PetscMax(sizes[0], 1) * sizeof(int), (void **)&col));
    PetscCall(Back::Each("HopsLORHungExtra", n + 1, HopsLORHungExtra{x->first, win, extra}));
    PetscCall(Back::Each("HopsLORHungColumns", x->n, HopsLORHungColumns{x->at, win, col}));
    h->extra    = extra;
    h->extracol = col;
    PetscCall((*memory->PoolFree)((void **)&win));
    PetscCall((*memory->PoolFree)((void **)&slots));
    PetscCall((*memory->PoolFree)((void **)&base));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
