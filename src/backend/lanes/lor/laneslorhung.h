/*
  Rows of low-order-refined matrices that hanging nodes change, J^T A J of cells: lists of the cells, and what
  they add to rows. Back is a back end's class: see lanes.h.
*/
#pragma once
#include "laneslorvalues.h"

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

/* T = A J of cells in H1, then J^T T. Each team has a T */
template <int DIM, bool MIXED> struct HopsLORHungLists {
  static constexpr int lanes = HOPS_LOR_TEAM, blocks = MIXED ? 4 : 8;
  HopsLanesLORMesh     m;
  HopsLanesLORData     data;
  HopsLORHungWork      w;

  HOPS_LANES void Times(int c, int kind, int v, double T[]) const
  {
    constexpr int          N = Star<DIM, MIXED>::N;
    const int              base = kind * (m.nn + 1), e = c * m.nn + v, lo = w.trow[base + v], hi = w.trow[base + v + 1];
    const unsigned int     there = There<DIM, MIXED>(m, c, HopsLoad(m.ijk + v)) | 1;
    const unsigned short  *place = w.place + w.prow[kind * m.nn + v];
    double                 x[N], *row = T + lo - w.trow[base];

    Contributions<DIM, MIXED>(m, data, e, x);
    for (int i = lo; i < hi; i++) row[i - lo] = 0;
#pragma unroll
    for (int s = 0; s < N; s++) {
      if (!(there >> s & 1)) continue;
      const int u = base + v + Offset<DIM>(m.P, s);

      for (int j = w.jrow[u]; j < w.jrow[u + 1]; j++) row[*place++] += x[s] * HopsLoad(w.j + j);
    }
  }

  template <class Team> HOPS_LANES void operator()(const Team &team, double *) const
  {
    double *T = w.work + (size_t)team.index() * w.most;

    for (int h = team.index(); h < w.n; h += team.count()) {
      const int c = w.cell[h], kind = m.hung.kind[c], base = kind * (m.nn + 1), first = m.hung.row[base],
                n = m.hung.row[base + m.nn] - first;

      for (int i = w.nlist[kind] + team.lane(); i < w.nlist[kind + 1]; i += team.size()) Times(c, kind, w.list[i], T);
      team.Sync();
      for (int o = team.lane(); o < n; o += team.size()) w.values[m.hung.first[c] + o] = HopsLORHungEntry(w, base, first + o, m.hung.col, T);
      team.Sync();
    }
  }
};

/* The values of these lists, added to rows */
struct HopsLORHungRows {
  HopsLORHung   h;
  const int    *restr;
  int           percell, nfree;
  const double *values;
  HopsLORRows   rows;

  HOPS_LANES void operator()(size_t i) const
  {
    const int r = (int)i, row = (int)rows.first + r, q0 = h.begin[row], q1 = h.begin[row + 1];

    if (q0 == q1) return;
    Row out = GlobalRow(rows, r);

    for (int q = q0; q < q1; q++) {
      const int     c = h.entry[q] / percell, v = h.entry[q] - c * percell, base = h.kind[c] * (percell + 1);
      const int    *R = restr + (size_t)c * percell;
      const bool    turned = R[v] < 0;
      const double *x      = values + h.first[c] - h.row[base];

      for (int k = h.row[base + v]; k < h.row[base + v + 1]; k++) {
        const int l = R[h.col[k]], u = HopsLanesUnsigned(l);

        if (u < nfree) out.Add(u, (l < 0) == turned ? x[k] : -x[k]);
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

  template <int DIM, bool MIXED> static PetscErrorCode TeamsOf(int *teams)
  {
    typedef HopsLORHungLists<DIM, MIXED> F;

    return Back::template GetTeams<F>(F::lanes, 0, teams);
  }

  static PetscErrorCode Teams(int dim, PetscBool coupled, int *teams)
  {
    if (dim == 3) return coupled ? TeamsOf<3, true>(teams) : TeamsOf<3, false>(teams);
    return coupled ? TeamsOf<2, true>(teams) : TeamsOf<2, false>(teams);
  }

  template <int DIM, bool MIXED>
  static PetscErrorCode ListsOf(const HopsLanesLORMesh *m, const HopsLanesLORData *data, const HopsLORHungWork *w)
  {
    return Back::Teams("HopsLORHungLists", (int)PetscMin(w->n, w->teams), 0, HopsLORHungLists<DIM, MIXED>{*m, *data, *w});
  }

  static PetscErrorCode Lists(const HopsLanesLORMesh *m, const HopsLanesLORData *data, const HopsLORHungWork *w, PetscBool coupled)
  {
    const bool mixed = data->mixed && coupled;

    if (m->dim == 3) return mixed ? ListsOf<3, true>(m, data, w) : ListsOf<3, false>(m, data, w);
    return mixed ? ListsOf<2, true>(m, data, w) : ListsOf<2, false>(m, data, w);
  }

  static PetscErrorCode Rows(const HopsLORHung *h, const int restr[], int percell, int nfree, const double values[],
                             const HopsLORRows *rows)
  {
    return Back::Each("HopsLORHungRows", rows->n, HopsLORHungRows{*h, restr, percell, nfree, values, *rows});
  }

  static void Fill(HopsLanesLORKernels *k)
  {
    k->HungKeys  = Keys;
    k->HungTeams = Teams;
    k->HungLists = Lists;
    k->HungRows  = Rows;
  }
};
