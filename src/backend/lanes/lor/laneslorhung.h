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
HOPS_LANES double HopsLORHungEntry(const HopsLORHungWork &w, int base, int o, const int col[], const double T[])
{
  const int r = base + w.of[o], c = col[o];
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
      for (int k = team.lane(); k < n; k += team.size()) w.values[h.first[c] + k] = HopsLORHungEntry(w, base, first + k, h.col, T);
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

/* The entry q of h.entry: its cell c and place v there; of its row the cell's list has number slot[k] from
   `list` on, of column col[k], k < n */
struct HopsLORHungItem {
  int        c, v, list, n;
  const int *col, *slot;

  HOPS_LANES HopsLORHungItem(const HopsLORHung &h, int percell, int q)
  {
    c = h.entry[q] / percell;
    v = h.entry[q] - c * percell;

    const int *row = h.row + h.kind[c] * (percell + 1);

    list = h.first[c];
    n    = row[v + 1] - row[v];
    col  = h.col + row[v];
    slot = h.slot + row[v];
  }
};

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

/* Columns and the entry itself may be seen with opposite signs */
struct HopsLORHungPlaces {
  HopsLORHung   h;
  const int    *restr;
  int           percell, nfree;
  HopsLORRows   rows;
  const int    *offset;
  HopsLORHungTo to;
  int          *place;

  HOPS_LANES void operator()(size_t i) const
  {
    const int r = (int)i, row = (int)rows.first + r, first = offset[r], n0 = rows.i[0][r + 1] - rows.i[0][r];
    int       next = rows.i[0][r];

    for (int k = 0; k < offset[r + 1] - first; k++) to.to[first + k] = k < n0 ? rows.i[0][r] + k : -1 - (rows.i[1][r] + k - n0);
    for (int q = h.begin[row]; q < h.begin[row + 1]; q++) {
      const HopsLORHungItem x(h, percell, q);
      const int            *R = restr + (size_t)x.c * percell;

      for (int k = 0; k < x.n; k++) {
        const int l = R[x.col[k]], u = HopsLanesUnsigned(l), p = u < nfree ? Find(rows, r, u, &next) : HOPS_LOR_NOWHERE;

        place[x.list + x.slot[k]] = p == HOPS_LOR_NOWHERE || (l < 0) == (R[x.v] < 0) ? p : -1 - p;
        if (p != HOPS_LOR_NOWHERE) to.end[first + p]++;
      }
    }
  }
};

struct HopsLORHungFrom {
  HopsLORHung   h;
  int           percell;
  HopsLORRows   rows;
  const int    *offset, *place;
  HopsLORHungTo to;

  HOPS_LANES void operator()(size_t r) const
  {
    const int row = (int)(rows.first + r);

    for (int q = h.begin[row]; q < h.begin[row + 1]; q++) {
      const HopsLORHungItem x(h, percell, q);

      for (int k = 0; k < x.n; k++) {
        const int from = x.list + x.slot[k], p = place[from];

        if (p != HOPS_LOR_NOWHERE) to.from[to.end[offset[r] + HopsLanesUnsigned(p)]++] = p < 0 ? -1 - from : from;
      }
    }
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
    const int     lo = k ? HopsLoad(to.end + k - 1) : 0, hi = HopsLoad(to.end + k), at = HopsLoad(to.to + k);

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

  static PetscErrorCode Places(const HopsLORHung *h, const int restr[], int percell, int nfree, const HopsLORRows *rows,
                               const int offset[], const HopsLORHungTo *to, int place[])
  {
    return Back::Each("HopsLORHungPlaces", rows->n, HopsLORHungPlaces{*h, restr, percell, nfree, *rows, offset, *to, place});
  }

  static PetscErrorCode From(const HopsLORHung *h, int percell, const HopsLORRows *rows, const int offset[], const int place[],
                             const HopsLORHungTo *to)
  {
    return Back::Each("HopsLORHungFrom", rows->n, HopsLORHungFrom{*h, percell, *rows, offset, place, *to});
  }

  static PetscErrorCode Rows(const HopsLORHungTo *to, const double values[], const HopsLORRows *rows)
  {
    return Back::Each("HopsLORHungRows", to->n, HopsLORHungRows{*to, values, *rows});
  }

  static void Fill(HopsLanesLORKernels *k)
  {
    k->HungKeys    = Keys;
    k->HungLengths = Lengths;
    k->HungPlaces  = Places;
    k->HungFrom    = From;
    k->HungRows    = Rows;
  }
};
