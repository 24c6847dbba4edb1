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

    for (int i = team.index(); i < w.n; i += team.count()) {
      const int c = w.cell[i], kind = h.kind[c], base = kind * (ne + 1), first = h.row[base], n = h.row[base + ne] - first;

      for (int k = w.nlist[kind] + team.lane(); k < w.nlist[kind + 1]; k += team.size()) Times(c, kind, w.list[k], T);
      team.Sync();
      for (int k = team.lane(); k < n; k += team.size()) w.values[h.first[c] + k] = HopsLORHungEntry(w, base, first + k, h.col, T);
      team.Sync();
    }
  }
};

/* The entry q of h.entry: its cell c and place v there; what the cell's list has of its row is list[0] ...
   list[n - 1], of the columns col[] */
struct HopsLORHungItem {
  int        c, v, list, n;
  const int *col;

  HOPS_LANES HopsLORHungItem(const HopsLORHung &h, int percell, int q)
  {
    c = h.entry[q] / percell;
    v = h.entry[q] - c * percell;

    const int *row = h.row + h.kind[c] * (percell + 1);

    list = h.first[c] + row[v] - row[0];
    n    = row[v + 1] - row[v];
    col  = h.col + row[v];
  }
};

/* Columns and the entry itself may be seen with opposite signs */
struct HopsLORHungPlaces {
  HopsLORHung h;
  const int  *restr;
  int         percell, nfree;
  HopsLORRows rows;
  int        *place;

  HOPS_LANES void operator()(size_t i) const
  {
    const int r = (int)i, row = (int)rows.first + r;
    int       next = rows.i[0][r];

    for (int q = h.begin[row]; q < h.begin[row + 1]; q++) {
      const HopsLORHungItem x(h, percell, q);
      const int            *R = restr + (size_t)x.c * percell;

      for (int k = 0; k < x.n; k++) {
        const int l = R[x.col[k]], u = HopsLanesUnsigned(l), p = u < nfree ? Find(rows, r, u, &next) : HOPS_LOR_NOWHERE;

        place[x.list + k] = p == HOPS_LOR_NOWHERE || (l < 0) == (R[x.v] < 0) ? p : -1 - p;
      }
    }
  }
};

/* The values of these lists, added to rows. A few are read before any is added, so that their latencies
   overlap */
struct HopsLORHungRows {
  HopsLORHung   h;
  int           percell;
  const double *values;
  const int    *place;
  HopsLORRows   rows;

  HOPS_LANES void operator()(size_t i) const
  {
    constexpr int B = 4;
    const int     r = (int)i, row = (int)rows.first + r, q0 = h.begin[row], q1 = h.begin[row + 1];

    if (q0 == q1) return;
    const int lo = rows.i[0][r], n = rows.i[0][r + 1] - lo;
    double   *V = rows.v[0] + lo, *V1 = rows.i[1] ? rows.v[1] + rows.i[1][r] - n : NULL;

    for (int q = q0; q < q1; q++) {
      const HopsLORHungItem x(h, percell, q);

      for (int k = 0; k < x.n; k += B) {
        int    at[B];
        double v[B];

#pragma unroll
        for (int b = 0; b < B; b++) at[b] = k + b < x.n ? HopsLoad(place + x.list + k + b) : HOPS_LOR_NOWHERE;
#pragma unroll
        for (int b = 0; b < B; b++) v[b] = k + b < x.n ? HopsLoad(values + x.list + k + b) : 0;
#pragma unroll
        for (int b = 0; b < B; b++) {
          const int p = at[b] < 0 ? -1 - at[b] : at[b];

          if (at[b] != HOPS_LOR_NOWHERE) (p < n ? V : V1)[p] += at[b] < 0 ? -v[b] : v[b];
        }
      }
    }
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
    return Back::Teams("HopsLORHungLists", w->teams, w->work ? 0 : w->most * sizeof(double),
                       HopsLORHungLists<Cell>{cell, *h, *w, ne});
  }

  static PetscErrorCode Places(const HopsLORHung *h, const int restr[], int percell, int nfree, const HopsLORRows *rows,
                               int place[])
  {
    return Back::Each("HopsLORHungPlaces", rows->n, HopsLORHungPlaces{*h, restr, percell, nfree, *rows, place});
  }

  static PetscErrorCode Rows(const HopsLORHung *h, int percell, const double values[], const int place[], const HopsLORRows *rows)
  {
    return Back::Each("HopsLORHungRows", rows->n, HopsLORHungRows{*h, percell, values, place, *rows});
  }

  static void Fill(HopsLanesLORKernels *k)
  {
    k->HungKeys   = Keys;
    k->HungPlaces = Places;
    k->HungRows   = Rows;
  }
};
