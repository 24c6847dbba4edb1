/*
  Values of the low-order-refined matrix. A team has consecutive rows, and a lane works on one cell of one of
  them, so that rows of one cell and rows of eight keep lanes equally busy. A row's cells add in turns, in
  ascending order: values come out the same bit by bit.

  Where the contributions of a cell go in a row is known once for a pattern: from its first pass over the
  cells (laneslorpattern.h), or looked up where rows are sorted, in two blocks, or long. Rows with more
  columns than six bits count have no places, and a kernel of their own that looks them up each time. Back is
  a back end's class: see lanes.h.
*/
#pragma once
#include "laneslorhung.h"
#include "laneslorplace.h"

/* ---- Places ---- */

template <int DIM, bool MIXED> struct HopsLORPlaces {
  static constexpr int lanes = HOPS_LOR_TEAM;
  HopsLanesLORMesh     m;
  HopsLORRows          rows;
  int                  R;

  static constexpr size_t Scratch()
  {
    return HopsLanesOf(lanes) * sizeof(int);
  }

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    constexpr int  T = HopsLanesOf(lanes);
    const int      t = team.lane();
    const RowBlock b(team, m, rows, R);
    int           *rowof = (int *)scratch;

    PlaceWords<DIM, MIXED> word;

    for (int kc = b.k0; kc < b.k1; kc += T) {
      team.Sync();
      b.FindRows(team, kc, rowof);
      team.Sync();
      if (kc + t >= b.k1) continue;
      const int r = b.r0 + rowof[t], e = m.entry[kc + t], c = CellOf(m, e), at = m.ijk[e - c * m.nn], mask = MIXED ? m.mask[c] : 0;
      const int ijk[3] = {at & 255, at >> 8 & 255, at >> 16}, *N = m.restr + e;
      int       next = rows.i[0][r];

      word.Clear();
      if (!IsLong(rows, r, HOPS_LANES_LOR_MAX))
        ForNeighbours<DIM, MIXED>(ijk, m.P, mask, [&](int s, int offset) {
          if (N[offset] < m.nfree) word.Set(s, Find(rows, r, N[offset], &next));
        });
      word.Store(rows, kc + t);
    }
  }
};

/* ---- Values ---- */

/*
  Contributions of a cell to the row of its node v, by neighbours, with s_a = +1 at the first node of a line,
  -1 at the last, 0 inside:
    (v,v+e_a) = -(S_a(v) + S_a(v+e_a)) / h_a + sum_b s_b (q_ab(v+e_a) - q_ab(v)), and (v,v-e_a) by symmetry,
    (v,v) = mass - sum of the first terms of its edges + 2 sum_ab s_a s_b q_ab(v),
    (v,v+e_a+e_b) = -q_ab(v+e_a) - q_ab(v+e_b), (v,v+e_a-e_b) = q_ab(v+e_a) + q_ab(v-e_b).
*/
template <int DIM, bool MIXED>
HOPS_LANES void Contributions(const HopsLanesLORMesh &m, const HopsLanesLORData &data, int e, double x[])
{
  const int              P = m.P, c = CellOf(m, e), at = HopsLoad(m.ijk + e - c * m.nn), mask = MIXED ? m.mask[c] : 0;
  const int              ijk[3] = {at & 255, at >> 8 & 255, at >> 16}, st[3] = {1, P, P * P};
  const double          *D = data.v + 4 * (size_t)e, *Q = DIM == 3 ? data.pairs + 4 * (size_t)e : D + 2;
  const HopsPair<double> d0 = HopsLoadPair(D), d1 = HopsLoadPair(D + 2);
  const double           S[3] = {d0.a, d0.b, d1.a};
  bool                   up[DIM], down[DIM];

  x[0] = d1.b;
#pragma unroll
  for (int a = 0; a < DIM; a++) {
    up[a]        = ijk[a] < P - 1;
    down[a]      = ijk[a] > 0;
    x[1 + 2 * a] = up[a] ? -(S[a] + HopsLoad(D + 4 * st[a] + a)) * HopsLoad(m.hinv + ijk[a]) : 0;
    x[2 + 2 * a] = down[a] ? -(HopsLoad(D - 4 * st[a] + a) + S[a]) * HopsLoad(m.hinv + ijk[a] - 1) : 0;
    x[0] -= x[1 + 2 * a] + x[2 + 2 * a];
  }
  if constexpr (MIXED) {
#pragma unroll
    for (int a = 0, s = 1 + 2 * DIM; a < DIM - 1; a++)
#pragma unroll
      for (int b = a + 1; b < DIM; b++, s += 4) {
        const int     sa = !down[a] - !up[a], sb = !down[b] - !up[b];
        const bool    on = mask >> (a + b - 1) & 1;
        const double *q  = Q + a + b - 1;
        const double  ap = on && up[a] ? HopsLoad(q + 4 * st[a]) : 0, am = on && down[a] ? HopsLoad(q - 4 * st[a]) : 0;
        const double  bp = on && up[b] ? HopsLoad(q + 4 * st[b]) : 0, bm = on && down[b] ? HopsLoad(q - 4 * st[b]) : 0;

        if (on && (sa || sb)) {
          const double q0 = HopsLoad(q);

          if (up[a]) x[1 + 2 * a] += sb * (ap - q0);
          if (down[a]) x[2 + 2 * a] += sb * (q0 - am);
          if (up[b]) x[1 + 2 * b] += sa * (bp - q0);
          if (down[b]) x[2 + 2 * b] += sa * (q0 - bm);
          x[0] += 2 * sa * sb * q0;
        }
        x[s]     = -ap - bp;
        x[s + 1] = ap + bm;
        x[s + 2] = am + bp;
        x[s + 3] = -am - bm;
      }
  }
}

/* The same for HopsLORHungLists */
template <int DIM, bool MIXED> struct HopsLORCell {
  HopsLanesLORMesh m;
  HopsLanesLORData data;

  template <class Do> HOPS_LANES void Row(int c, int v, const Do &Put) const
  {
    constexpr int      N     = Star<DIM, MIXED>::N;
    const unsigned int there = There<DIM, MIXED>(m, c, HopsLoad(m.ijk + v)) | 1;
    double             x[N];

    Contributions<DIM, MIXED>(m, data, c * m.nn + v, x);
#pragma unroll
    for (int s = 0; s < N; s++)
      if (there >> s & 1) Put(v + Offset<DIM>(m.P, s), x[s]);
  }
};

/* Adds to a row that begins at s[lo]; what has no place goes to s[none]. As no two places are the same, all
   are read before any is written, and none waits for another */
template <int N> HOPS_LANES void AddShared(const unsigned long long word[], const double x[], double s[], int lo, int none)
{
#pragma unroll
  for (int w = 0; w < N; w += HOPS_PLACE_WORD) {
    int    to[HOPS_PLACE_WORD];
    double v[HOPS_PLACE_WORD];

#pragma unroll
    for (int i = 0; i < HOPS_PLACE_WORD; i++) {
      if (w + i >= N) continue;
      to[i] = PlaceOf(word, w + i);
      to[i] = to[i] == HOPS_PLACE_NONE ? none : lo + to[i];
      v[i]  = s[to[i]];
    }
#pragma unroll
    for (int i = 0; i < HOPS_PLACE_WORD; i++)
      if (w + i < N) s[to[i]] = v[i] + x[w + i];
  }
}

/* The same with V and V1 where the row's entries of block 0, n0 of them, and of block 1 lie */
template <int N> HOPS_LANES void AddBlocks(const unsigned long long word[], const double x[], double *V, int n0, double *V1)
{
#pragma unroll
  for (int i = 0; i < N; i++) {
    const int p = PlaceOf(word, i);

    if (p == HOPS_PLACE_NONE) continue;
    if (p < n0) V[p] += x[i];
    else V1[p - n0] += x[i];
  }
}

/*
  A team's rows lie side by side in block 0: their values are put together in scratch, `room` entries and one
  a lane for what has no place, and written as one piece. Rows that do not fit take their values in the back
  end's memory, and so do those of a team of one lane.
*/
template <int DIM, bool MIXED> struct HopsLORValues {
  static constexpr int lanes = HOPS_LOR_TEAM, blocks = MIXED ? 6 : 10;
  HopsLanesLORMesh     m;
  HopsLanesLORData     data;
  HopsLORRows          rows;
  int                  R, room;

  enum {
    T    = HopsLanesOf(lanes),
    LIST = (3 * T + 2) / 2 /* doubles before the values */
  };

  static size_t Scratch(int room)
  {
    return (LIST + (T > 1 ? room + T : 0)) * sizeof(double);
  }

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    const int      t = team.lane();
    const RowBlock b(team, m, rows, R);
    const int     *i0 = rows.i[0] + b.r0, base = i0[0], len = i0[b.n] - base;
    const bool     fits = T > 1 && len <= room, two = rows.i[1] != NULL, apart = fits && !two && !m.twice;
    double        *shared = scratch + LIST;
    int           *rowof = (int *)scratch, *first = rowof + T, *lo = first + T; /* lo[T + 1] */

    if (t < b.n) {
      lo[t]    = i0[t] - base;
      first[t] = b.b0;
      if (t == b.n - 1) lo[b.n] = len;
      if (two)
        for (int k = rows.i[1][b.r0 + t]; k < rows.i[1][b.r0 + t + 1]; k++) rows.v[1][k] = 0;
    }
    for (int k = t; k < len; k += T) {
      if (fits) shared[k] = 0;
      else rows.v[0][base + k] = 0;
    }
    for (int kc = b.k0; kc < b.k1; kc += T) {
      double                 x[Star<DIM, MIXED>::N];
      PlaceWords<DIM, MIXED> word;
      int                    turn = -1, r = 0;

      b.FindRows(team, kc, rowof);
      team.Sync();
      if (kc + t < b.k1) {
        r    = rowof[t];
        turn = kc + t - HopsMax(first[r], kc);
        word.Load(rows, kc + t);
        Contributions<DIM, MIXED>(m, data, m.entry[kc + t], x);
      }
      for (int j = 0;; j++) {
        if (turn == j) {
          if (apart) AddShared<Star<DIM, MIXED>::N>(word.w, x, shared, lo[r], room + t);
          else
            AddBlocks<Star<DIM, MIXED>::N>(word.w, x, (fits ? shared : rows.v[0] + base) + lo[r], lo[r + 1] - lo[r],
                                           two ? rows.v[1] + rows.i[1][b.r0 + r] : NULL);
        }
        if (!team.Any(turn > j)) break;
      }
    }
    if (!fits) return;
    for (int k = t; k < len; k += T) rows.v[0][base + k] = shared[k];
  }
};

/* The rows that have no places, a lane for each; HopsLORValues made them zero */
template <int DIM, bool MIXED> struct HopsLORLongValues {
  HopsLanesLORMesh m;
  HopsLanesLORData data;
  HopsLORRows      rows;

  HOPS_LANES void operator()(size_t i) const
  {
    const int r = (int)i;

    if (!IsLong(rows, r, HOPS_LANES_LOR_MAX)) return;
    const int lo = rows.i[0][r], n0 = rows.i[0][r + 1] - lo, row = (int)rows.first + r;
    int       next = lo;

    for (int k = m.begin[row]; k < m.begin[row + 1]; k++) {
      const int e = m.entry[k], c = CellOf(m, e), at = m.ijk[e - c * m.nn], mask = MIXED ? m.mask[c] : 0, *N = m.restr + e;
      const int ijk[3] = {at & 255, at >> 8 & 255, at >> 16};
      double    x[Star<DIM, MIXED>::N];

      Contributions<DIM, MIXED>(m, data, e, x);
      ForNeighbours<DIM, MIXED>(ijk, m.P, mask, [&](int s, int offset) {
        if (N[offset] >= m.nfree) return;
        const int p = (int)Find(rows, r, N[offset], &next);

        if (p < n0) rows.v[0][lo + p] += x[s];
        else rows.v[1][rows.i[1][r] + p - n0] += x[s];
      });
    }
  }
};

/* ---- Launches ---- */

template <class Back> struct HopsLORValueLaunches {
  template <int DIM, bool MIXED> static PetscErrorCode PlacesOf(const HopsLanesLORMesh *m, const HopsLORRows *rows)
  {
    const HopsLORPlaces<DIM, MIXED> f = {*m, *rows, RowsOfTeam(rows)};

    return Back::Teams("HopsLORPlaces", (int)((rows->n + f.R - 1) / f.R), f.Scratch(), f);
  }

  template <int DIM, bool MIXED>
  static PetscErrorCode ValuesOf(const HopsLanesLORMesh *m, const HopsLanesLORData *data, const HopsLORRows *rows)
  {
    const int                       R = RowsOfTeam(rows), room = R * Star<DIM, MIXED>::ROOM;
    const HopsLORValues<DIM, MIXED> f = {*m, *data, *rows, R, room};

    PetscFunctionBegin;
    PetscCall(Back::Teams("HopsLORValues", (int)((rows->n + R - 1) / R), f.Scratch(room), f));
    if (rows->anylong) PetscCall(Back::Each("HopsLORLongValues", rows->n, HopsLORLongValues<DIM, MIXED>{*m, *data, *rows}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Places(const HopsLanesLORMesh *m, const HopsLORRows *rows)
  {
    if (m->dim == 3) return rows->coupled ? PlacesOf<3, true>(m, rows) : PlacesOf<3, false>(m, rows);
    return rows->coupled ? PlacesOf<2, true>(m, rows) : PlacesOf<2, false>(m, rows);
  }

  static PetscErrorCode Values(const HopsLanesLORMesh *m, const HopsLanesLORData *data, const HopsLORRows *rows)
  {
    const bool mixed = data->mixed && rows->coupled;

    if (m->dim == 3) return mixed ? ValuesOf<3, true>(m, data, rows) : ValuesOf<3, false>(m, data, rows);
    return mixed ? ValuesOf<2, true>(m, data, rows) : ValuesOf<2, false>(m, data, rows);
  }

  template <class Do> static PetscErrorCode Hung(int dim, bool mixed, const Do &Run)
  {
    if (dim == 3) return mixed ? Run(HopsLORCell<3, true>()) : Run(HopsLORCell<3, false>());
    return mixed ? Run(HopsLORCell<2, true>()) : Run(HopsLORCell<2, false>());
  }

  static PetscErrorCode HungTeams(const HopsLanesLORMesh *m, bool mixed, size_t bytes, int *teams, PetscBool *own)
  {
    return Hung(m->dim, mixed,
                [&](auto cell) { return HopsLORHungLaunches<Back>::template Teams<decltype(cell)>(bytes, teams, own); });
  }

  static PetscErrorCode HungLists(const HopsLanesLORMesh *m, const HopsLanesLORData *data, bool mixed, const HopsLORHungWork *w)
  {
    return Hung(m->dim, mixed, [&](auto cell) {
      cell = {*m, *data};
      return HopsLORHungLaunches<Back>::Lists(cell, &m->hung, w, m->nn);
    });
  }

  static void Fill(HopsLanesLORKernels *k)
  {
    k->Places    = Places;
    k->Values    = Values;
    k->HungTeams = HungTeams;
    k->HungLists = HungLists;
    HopsLORHungLaunches<Back>::Fill(k);
  }
};
