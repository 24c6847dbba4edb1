/*
  Rows of low-order-refined matrices that hanging nodes change, J^T A J of cells: lists of the cells, and what
  they add to rows. Back is a back end's class: see lanes.h.
*/
#pragma once
#include "laneslorrow.h"

#define HOPS_LOR_HUNG_TEAM    128         /* lanes on a device */
#define HOPS_LOR_HUNG_SCRATCH (32 * 1024) /* bytes of a T in a team's own memory */

/* Entries whose rows J changes, and all others; nkeys: nobody's */
struct HopsLORHungKeys {
  int                  percell;
  const int           *kind;
  const unsigned char *changed;
  const int           *restr;
  int                  nkeys, *keys, *hungkeys;

  HOPS_LANES void operator()(size_t i) const
  {
    const int  e = (int)i, c = e / percell, k = kind[c];
    const bool hung = k >= 0 && changed[(size_t)k * percell + e - c * percell];

    keys[e]     = hung ? nkeys : restr[e];
    hungkeys[e] = hung ? restr[e] : nkeys;
  }
};

/* Entry o of J^T T: the rows of T that J takes to it, each with the column if it is there */
HOPS_LANES double HopsLORHungEntry(const HopsLORHung &h, const HopsLORHungWork &w, int base, int o, const double T[])
{
  const int r = base + h.of[o], c = h.col[o];
  double    sum = 0;

  if (w.prod) {
    const double *jt = w.jt + HopsLoad(w.jtrow + base);

    for (int i = HopsLoad(w.prod + o), end = HopsLoad(w.prod + o + 1); i < end; i++) {
      const unsigned int x = HopsLoad(w.pt + i);

      sum += HopsLoad(jt + (x >> 16)) * T[x & 65535];
    }
    return sum;
  }
  for (int i = w.jtrow[r]; i < w.jtrow[r + 1]; i++) {
    const int v  = base + HopsLoad(w.jtcol + i);
    int       lo = w.trow[v], hi = w.trow[v + 1];

    while (lo < hi) {
      const int mid = (lo + hi) / 2;

      if (HopsLoad(w.tcol + mid) < c) lo = mid + 1;
      else hi = mid;
    }
    if (lo < w.trow[v + 1] && HopsLoad(w.tcol + lo) == c) sum += HopsLoad(w.jt + i) * T[lo - w.trow[base]];
  }
  return sum;
}

/* T = A J of cells, then J^T T. Each team has a T. Cell::Row(c, v, do) calls do(u, a) for each entry a =
   A(v, u) of a cell, in the order of the kinds' tables */
template <class Cell> struct HopsLORHungLists {
  static constexpr int lanes = HOPS_LOR_HUNG_TEAM;
  Cell                 cell;
  HopsLORHung          h;
  HopsLORHungWork      w;
  int                  ne;

  HOPS_LANES void Times(int c, int kind, int v, double T[]) const
  {
    const int             base = kind * (ne + 1), lo = w.trow[base + v], n = w.trow[base + v + 1] - lo;
    const unsigned short *place = w.place + w.prow[kind * ne + v];
    double               *row   = T + lo - w.trow[base];

    for (int i = 0; i < n; i++) row[i] = 0;
    cell.Row(c, v, [&](int u, double a) {
      for (int j = w.jrow[base + u]; j < w.jrow[base + u + 1]; j++) row[HopsLoad(place++)] += a * HopsLoad(w.j + j);
    });
  }

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    double *T = w.work ? w.work + (size_t)team.index() * w.most : scratch;

    for (int i = team.index(); i < w.n; i += team.count()) { /* groups are of one cell */
      const int c = w.cell[i], kind = h.kind[c], base = kind * (ne + 1), first = h.row[base], n = h.row[base + ne] - first;

      for (int k = w.nlist[kind] + team.lane(); k < w.nlist[kind + 1]; k += team.size()) Times(c, kind, w.list[k], T);
      team.Sync();
      for (int k = team.lane(); k < n; k += team.size()) w.values[h.first[c] + k] = HopsLORHungEntry(h, w, base, first + k, T);
      team.Sync();
    }
  }
};

/* The same in one step, by sums of entries of A. A team has several cells of a kind: what it reads of the
   kind's tables serves all of them */
template <class Cell> struct HopsLORHungSum {
  static constexpr int lanes = HOPS_LOR_HUNG_TEAM, S = HOPS_LOR_HUNG_SLICE, C = HOPS_LOR_HUNG_CELLS;
  Cell                 cell;
  HopsLORHung          h;
  HopsLORHungWork      w;
  int                  ne;

  /* Row i of cell c; of a cell's couplings the pattern may have more */
  HOPS_LANES void Row(int c, int i, double A[]) const
  {
    int n = 0;

    cell.Row(c, HopsLoad(w.list + i), [&](int, double a) { A[n++] = a; });
    while (n < w.sums.star) A[n++] = 0;
  }

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    double *A = w.work ? w.work + (size_t)team.index() * w.most : scratch;

    for (int i = team.index(); i < w.n; i += team.count()) {
      const int *cells = w.cell + w.group[i], nc = w.group[i + 1] - w.group[i], kind = h.kind[cells[0]];
      const int  list = w.nlist[kind], rows = w.nlist[kind + 1] - list, s0 = w.sums.slice[kind];
      const int *row = h.row + kind * (ne + 1), n = row[ne] - row[0];
      int        each[C], first[C];

#pragma unroll
      for (int g = 0; g < C; g++) {
        const int mine = HopsMin(g, nc - 1);

        each[g]  = mine * rows * w.sums.star;
        first[g] = h.first[cells[mine]];
      }
      for (int k = team.lane(); k < nc * rows; k += team.size()) {
        const int g = k / rows;

        Row(cells[g], list + k - g * rows, A + k * w.sums.star);
      }
      team.Sync();
      for (int o = team.lane(); o < n; o += team.size()) {
        const int *slice = w.sums.begin + s0 + o / S, lo = HopsLoad(slice), hi = HopsLoad(slice + 1);
        double     sum[C] = {};

        for (int k = lo + o % S; k < hi; k += S) {
          const int    at     = HopsLoad(w.sums.at + k);
          const double weight = HopsLoad(w.sums.weight + k);

#pragma unroll
          for (int g = 0; g < C; g++) sum[g] += weight * A[each[g] + at];
        }
#pragma unroll
        for (int g = 0; g < C; g++)
          if (g < nc) w.values[first[g] + o] = sum[g];
      }
      team.Sync();
    }
  }
};

/* ---- Kinds of cells ---- */

template <class Team> struct HopsLORHungCount {
  const unsigned short *hang;
  const unsigned char  *pairs;
  int                  *count;

  HOPS_LANES void operator()(size_t c) const
  {
    if (hang[c]) Team::Add(count + 8 * hang[c] + pairs[c], 1);
  }
};

template <class Team> struct HopsLORHungKinds {
  const unsigned short *hang;
  const unsigned char  *pairs;
  const int            *number, *nvalues;
  int                  *kind, *first, *next, *cell;

  HOPS_LANES void operator()(size_t c) const
  {
    const int k = hang[c] ? number[8 * hang[c] + pairs[c]] : -1;

    kind[c]  = k;
    first[c] = k < 0 ? 0 : nvalues[k];
    if (k >= 0) cell[Team::Take(next + k, 1)] = (int)c;
  }
};

/* ---- Where numbers of lists go ---- */

struct HopsLORHungLengths {
  HopsLORHung h;
  HopsLORRows rows;
  int        *length;

  HOPS_LANES void operator()(size_t r) const
  {
    const int *b = h.begin + rows.first + r;
    int        n = 0;

    for (int i = 0; i < 2 && rows.i[i] && b[0] < b[1]; i++) n += rows.i[i][r + 1] - rows.i[i][r];
    length[r] = n;
  }
};

/* The place of each number, and which it is of those that go there, in any order: to.begin[] counts these.
   All of them write to.to[] the same */
template <class Team> struct HopsLORHungPlaces {
  HopsLORHungNumbers x;
  int                nfree;
  HopsLORRows        rows;
  const int         *offset;
  HopsLORHungTo      to;
  int               *place, *rank;

  HOPS_LANES void operator()(size_t i) const
  {
    const int r = HopsLanesUnsigned(x.at[2 * i]) - (int)rows.first, c = HopsLanesUnsigned(x.at[2 * i + 1]);

    place[i] = to.n;
    if (r < 0 || r >= (int)rows.n || c >= nfree) return;
    const int lo = rows.i[0][r], n = rows.i[0][r + 1] - lo;
    int       next = lo;
    const int p = Find(rows, r, c, &next), k = offset[r] + p;

    to.to[k] = p < n ? lo + p : -1 - (rows.i[1][r] + p - n);
    place[i] = k;
    rank[i]  = Team::Take(to.begin + k, 1);
  }
};

struct HopsLORHungFrom {
  HopsLORHungNumbers x;
  bool               signs;
  HopsLORHungTo      to;
  const int         *place, *rank;

  HOPS_LANES void operator()(size_t i) const
  {
    const int k = place[i], s = x.source[i];

    if (k < to.n) to.from[to.begin[k] + rank[i]] = signs && (x.at[2 * i] < 0) != (x.at[2 * i + 1] < 0) ? -1 - s : s;
  }
};

/* The values of these lists, added to rows: a lane adds up what goes to one place. That place, then a few
   values are read before any is added, so that their latencies overlap */
struct HopsLORHungRows {
  HopsLORHungTo to;
  const double *values;
  HopsLORRows   rows;

  HOPS_LANES void operator()(size_t k) const
  {
    constexpr int B  = 4;
    const int     lo = HopsLoad(to.begin + k), hi = HopsLoad(to.begin + k + 1), at = HopsLoad(to.to + k);

    if (lo == hi) return;
    double *out = at < 0 ? rows.v[1] + (-1 - at) : rows.v[0] + at, sum = *out;

    for (int i = lo; i < hi; i += B) {
      int    from[B];
      double v[B];

#pragma unroll
      for (int b = 0; b < B; b++) from[b] = HopsLoad(to.from + HopsMin(i + b, hi - 1));
#pragma unroll
      for (int b = 0; b < B; b++) v[b] = HopsLoad(values + HopsLanesUnsigned(from[b]));
#pragma unroll
      for (int b = 0; b < B; b++)
        if (i + b < hi) sum += from[b] < 0 ? -v[b] : v[b];
    }
    *out = sum;
  }
};

template <class Back> struct HopsLORHungLaunches {
  typedef typename Back::Team Team;

  static PetscErrorCode Count(PetscInt ncells, const unsigned short hang[], const unsigned char pairs[], int count[])
  {
    return Back::Each("HopsLORHungCount", ncells, HopsLORHungCount<Team>{hang, pairs, count});
  }

  static PetscErrorCode Kinds(PetscInt ncells, const unsigned short hang[], const unsigned char pairs[], const int number[],
                              const int nvalues[], int kind[], int first[], int next[], int cell[])
  {
    return Back::Each("HopsLORHungKinds", ncells, HopsLORHungKinds<Team>{hang, pairs, number, nvalues, kind, first, next, cell});
  }

  static PetscErrorCode Keys(size_t ne, int percell, const int kind[], const unsigned char changed[], const int restr[], int nkeys,
                             int keys[], int hungkeys[])
  {
    return Back::Each("HopsLORHungKeys", ne, HopsLORHungKeys{percell, kind, changed, restr, nkeys, keys, hungkeys});
  }

  /* own: a team's own memory holds a T */
  template <class Cell> static PetscErrorCode Teams(size_t bytes, int *teams, PetscBool *own)
  {
    typedef HopsLORHungLists<Cell> F;

    PetscFunctionBegin;
    *own = bytes <= HOPS_LOR_HUNG_SCRATCH ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(Back::template GetTeams<F>(F::lanes, *own ? bytes : 0, teams));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  template <class Cell> static PetscErrorCode Lists(const Cell &cell, const HopsLORHung *h, const HopsLORHungWork *w, int ne)
  {
    const size_t bytes = w->work ? 0 : w->most * sizeof(double);

    if (w->sums.at) return Back::Teams("HopsLORHungSum", w->teams, bytes, HopsLORHungSum<Cell>{cell, *h, *w, ne});
    return Back::Teams("HopsLORHungLists", w->teams, bytes, HopsLORHungLists<Cell>{cell, *h, *w, ne});
  }

  static PetscErrorCode Lengths(const HopsLORHung *h, const HopsLORRows *rows, int length[])
  {
    return Back::Each("HopsLORHungLengths", rows->n, HopsLORHungLengths{*h, *rows, length});
  }

  static PetscErrorCode Places(const HopsLORHungNumbers *x, bool signs, int nfree, const HopsLORRows *rows, const int offset[],
                               const HopsLORHungTo *to)
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;
    int                 *place, *rank;

    PetscFunctionBegin;
    PetscCall((*memory->PoolMalloc)(x->n * sizeof(int), (void **)&place));
    PetscCall((*memory->PoolMalloc)(x->n * sizeof(int), (void **)&rank));
    PetscCall(Back::Set(to->begin, 0, (to->n + 1) * sizeof(int)));
    PetscCall(Back::Each("HopsLORHungPlaces", x->n, HopsLORHungPlaces<Team>{*x, nfree, *rows, offset, *to, place, rank}));
    PetscCall(Back::Scan(to->n, to->begin));
    PetscCall(Back::Each("HopsLORHungFrom", x->n, HopsLORHungFrom{*x, signs, *to, place, rank}));
    PetscCall(Back::Each("HopsLORHungSort", to->n, HopsListSort{to->begin, to->from}));
    PetscCall((*memory->PoolFree)((void **)&place));
    PetscCall((*memory->PoolFree)((void **)&rank));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Rows(const HopsLORHungTo *to, const double values[], const HopsLORRows *rows)
  {
    return Back::Each("HopsLORHungRows", to->n, HopsLORHungRows{*to, values, *rows});
  }

  static void Fill(HopsLanesLORKernels *k)
  {
    k->HungCount   = Count;
    k->HungKinds   = Kinds;
    k->HungKeys    = Keys;
    k->HungLengths = Lengths;
    k->HungPlaces  = Places;
    k->HungRows    = Rows;
  }
};
