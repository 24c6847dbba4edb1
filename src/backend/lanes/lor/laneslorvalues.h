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
#include "laneslorcells.h"
#include "laneslorhung.h"
#include "laneslorpattern.h"

/* ---- Places ---- */

/* placed: only rows that the pattern's passes have left without, and long ones, which have none */
template <int DIM, bool MIXED> struct HopsLORPlaces {
  static constexpr int lanes = HOPS_LOR_TEAM;
  HopsLanesLORMesh     m;
  HopsLORRows          rows;
  int                  R;
  bool                 placed;

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

      if (placed) {
        word.Load(rows, kc + t);
        if (word.Get(0) != HOPS_PLACE_NONE && !IsLong(rows, r, HOPS_LANES_LOR_MAX)) continue;
      }
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

/* of one cell, or of a value's */
template <class V> HOPS_LANES V Number(const double *p)
{
  if constexpr (sizeof(V) == sizeof(double)) return HopsLoad(p);
  else return *(const V *)p;
}

/*
  Contributions of a cell to the row of its node v, by neighbours, with s_a = +1 at the first node of a line,
  -1 at the last, 0 inside:
    (v,v+e_a) = -(S_a(v) + S_a(v+e_a)) / h_a + sum_b s_b (q_ab(v+e_a) - q_ab(v)), and (v,v-e_a) by symmetry,
    (v,v) = mass - sum of the first terms of its edges + 2 sum_ab s_a s_b q_ab(v),
    (v,v+e_a+e_b) = -q_ab(v+e_a) - q_ab(v+e_b), (v,v+e_a-e_b) = q_ab(v+e_a) + q_ab(v-e_b).
  at: the node's place (ijk); D, Q: its numbers, which lie G apart, as those of a group's cells do.
*/
template <int DIM, bool MIXED, int G, class V>
HOPS_LANES void Contributions(const HopsLanesLORMesh &m, int at, int mask, const double *D, const double *Q, V x[])
{
  typedef typename std::conditional<(G > 1), double, int>::type Sign; /* an integer is a register of a device */
  const int P = m.P, ijk[3] = {at & 255, at >> 8 & 255, at >> 16}, st[3] = {4 * G, 4 * G * P, 4 * G * P * P};
  V         S[3];
  bool      up[DIM], down[DIM];

  if constexpr (G == 1) {
    const HopsPair<double> d0 = HopsLoadPair(D), d1 = HopsLoadPair(D + 2);

    S[0] = d0.a;
    S[1] = d0.b;
    S[2] = d1.a;
    x[0] = d1.b;
  } else {
    for (int a = 0; a < DIM; a++) S[a] = Number<V>(D + a * G);
    x[0] = Number<V>(D + 3 * G);
  }
#pragma unroll
  for (int a = 0; a < DIM; a++) {
    up[a]        = ijk[a] < P - 1;
    down[a]      = ijk[a] > 0;
    x[1 + 2 * a] = up[a] ? -(S[a] + Number<V>(D + st[a] + a * G)) * HopsLoad(m.hinv + ijk[a]) : V{};
    x[2 + 2 * a] = down[a] ? -(Number<V>(D - st[a] + a * G) + S[a]) * HopsLoad(m.hinv + ijk[a] - 1) : V{};
    x[0] -= x[1 + 2 * a] + x[2 + 2 * a];
  }
  if constexpr (MIXED) {
#pragma unroll
    for (int a = 0, s = 1 + 2 * DIM; a < DIM - 1; a++)
#pragma unroll
      for (int b = a + 1; b < DIM; b++, s += 4) {
        const Sign    sa = !down[a] - !up[a], sb = !down[b] - !up[b];
        const bool    on = mask >> (a + b - 1) & 1;
        const double *q  = Q + (a + b - 1) * G;
        const V       ap = on && up[a] ? Number<V>(q + st[a]) : V{}, am = on && down[a] ? Number<V>(q - st[a]) : V{};
        const V       bp = on && up[b] ? Number<V>(q + st[b]) : V{}, bm = on && down[b] ? Number<V>(q - st[b]) : V{};

        if (on && (sa || sb)) {
          const V q0 = Number<V>(q);

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

/* Of one cell, by its entry of restr */
template <int DIM, bool MIXED, int G>
HOPS_LANES void Contributions(const HopsLanesLORMesh &m, const HopsLanesLORData &data, int e, double x[])
{
  const int    c = CellOf(m, e), v = e - c * m.nn;
  const size_t at = G == 1 ? 4 * (size_t)e : HopsLanesCell(G, c, 4 * m.nn) + (size_t)v * 4 * G;

  Contributions<DIM, MIXED, G, double>(m, HopsLoad(m.ijk + v), MIXED ? m.mask[c] : 0, data.v + at,
                                       DIM == 3 ? data.pairs + at : data.v + at + 2 * G, x);
}

/* The same for HopsLORHungLists */
template <int DIM, bool MIXED, int G> struct HopsLORCell {
  HopsLanesLORMesh m;
  HopsLanesLORData data;

  template <class Do> HOPS_LANES void Row(int c, int v, const Do &Put) const
  {
    constexpr int      N     = Star<DIM, MIXED>::N;
    const unsigned int there = There<DIM, MIXED>(m, c, HopsLoad(m.ijk + v)) | 1;
    double             x[N];

    Contributions<DIM, MIXED, G>(m, data, c * m.nn + v, x);
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
  end's memory.
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
    return (LIST + room + T) * sizeof(double);
  }

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    const int      t = team.lane();
    const RowBlock b(team, m, rows, R);
    const int     *i0 = rows.i[0] + b.r0, base = i0[0], len = i0[b.n] - base;
    const bool     fits = len <= room, two = rows.i[1] != NULL, apart = fits && !two && !m.twice;
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
        Contributions<DIM, MIXED, Team::group>(m, data, m.entry[kc + t], x);
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

/* Which rows have no places: sum[r] is whether r is one; by sums of these before each, their list */
struct HopsLORLongRows {
  HopsLORRows rows;
  int        *sum, *list;

  HOPS_LANES void operator()(size_t i) const
  {
    const int r = (int)i;

    if (!list) sum[r] = IsLong(rows, r, HOPS_LANES_LOR_MAX);
    else if (sum[r] < sum[r + 1]) list[sum[r]] = r;
  }
};

/*
  Those rows, a row of lanes for each; they are zero before. The contributions of a few of its cells, and
  their columns, go to scratch. Then each lane looks there for columns of its own: to find a contribution's
  place in the row would be one step after the other.
*/
template <int DIM, bool MIXED, int G> struct HopsLORLongValues {
  static constexpr int lanes = HOPS_LOR_TEAM, N = Star<DIM, MIXED>::N, C = 8;
  HopsLanesLORMesh     m;
  HopsLanesLORData     data;
  HopsLORRows          rows;

  enum {
    ROWS  = HopsLanesOf(lanes) / HOPS_LANES_ROW,
    BYTES = C * N * (sizeof(double) + sizeof(int)) /* of a row */
  };

  HOPS_LANES void Cell(int e, double x[], int col[]) const
  {
    const int c = CellOf(m, e), at = m.ijk[e - c * m.nn], ijk[3] = {at & 255, at >> 8 & 255, at >> 16}, *R = m.restr + e;
    double    y[N];

    Contributions<DIM, MIXED, G>(m, data, e, y);
#pragma unroll
    for (int s = 0; s < N; s++) {
      x[s]   = y[s];
      col[s] = HOPS_LOR_NOWHERE;
    }
    ForNeighbours<DIM, MIXED>(ijk, m.P, MIXED ? m.mask[c] : 0, [&](int s, int offset) {
      const int u = R[offset];

      if (u < m.nfree) col[s] = u < (int)rows.split ? u : -1 - rows.map[u - rows.split];
    });
  }

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    const int i = team.index() * ROWS + team.lane() / HOPS_LANES_ROW, rank = team.lane() % HOPS_LANES_ROW;

    if (i >= rows.nlong) return;
    const int r = rows.longrow[i], lo = rows.i[0][r], n0 = rows.i[0][r + 1] - lo;
    const int lo1 = rows.i[1] ? rows.i[1][r] : 0, n1 = rows.i[1] ? rows.i[1][r + 1] - lo1 : 0;
    const int begin = m.begin[rows.first + r], end = m.begin[rows.first + r + 1];
    double   *x   = scratch + team.lane() / HOPS_LANES_ROW * (BYTES / sizeof(double));
    int      *col = (int *)(x + C * N);

    for (int k = begin; k < end; k += C) {
      const int n = HopsMin(C, end - k);

      for (int g = rank; g < n; g += HOPS_LANES_ROW) Cell(m.entry[k + g], x + g * N, col + g * N);
      HopsLanesRowSync();
      for (int p = rank; p < n0 + n1; p += HOPS_LANES_ROW) {
        const int c = p < n0 ? rows.j[0][lo + p] : -1 - rows.j[1][lo1 + p - n0];
        double   *v = p < n0 ? rows.v[0] + lo + p : rows.v[1] + lo1 + p - n0, sum = *v;

        for (int a = 0; a < n * N; a++)
          if (col[a] == c) sum += x[a];
        *v = sum;
      }
      HopsLanesRowSync();
    }
  }
};

/* ---- Values by cells, see laneslorcells.h ---- */

template <int DIM, bool MIXED, class Team> struct HopsLORCellValues {
  typedef typename Team::Value V;
  HopsLanesLORMesh             m;
  HopsLanesLORData             data;
  HopsLORRows                  rows;
  HopsLORPieces                p;

  static constexpr int N = Star<DIM, MIXED>::N;

  enum {
    G = Team::group
  };

  /* Cells c + l of the group for each bit l of `on`; these have the same mask */
  HOPS_LANES bool Cells(int c, int mask, unsigned int on, bool inturn) const
  {
    const size_t  first = (size_t)c * 4 * m.nn;
    const double *D = data.v + first, *Q = DIM == 3 ? data.pairs + first : D + 2 * G;
    bool          zero = false;

    for (int v = 0; v < m.nn; v++, D += 4 * G, Q += 4 * G) {
      V x[N];

      HopsLanesPrefetch(D + (size_t)4 * G * m.nn, 4 * G * sizeof(*D));
      if (MIXED && DIM == 3) HopsLanesPrefetch(Q + (size_t)4 * G * m.nn, 4 * G * sizeof(*Q));
      HopsLORPrefetchEntries(p, rows, c * m.nn, m.nn, G, PlaceWords<DIM, MIXED>::N, N * 8, v);
      Contributions<DIM, MIXED, G>(m, m.ijk[v], mask, D, Q, x);
      for (unsigned int left = on; left; left &= left - 1) {
        const int     l = HopsLowestBit(left);
        const double *y = (const double *)x + l;

        zero |= HopsLORTake<PlaceWords<DIM, MIXED>>(p, rows, (c + l) * m.nn + v, MIXED || !rows.coupled, inturn,
                                                    [&](const PlaceWords<DIM, MIXED> &word, double *out, auto fresh) {
                                                      HOPS_LOR_UNROLL
                                                      for (int s = 0; s < N; s++) {
                                                        const int to = word.Get(s);

                                                        if (to == HOPS_PLACE_NONE) continue;
                                                        out[to] = fresh ? y[s * G] : out[to] + y[s * G];
                                                      }
                                                    });
      }
    }
    return zero;
  }
  HOPS_LANES void operator()(size_t piece) const
  {
    HopsLORForGroups<PlaceWords<DIM, MIXED>>(p, rows, piece, G, m.ncells, m.nn, MIXED ? m.mask : NULL,
                                             [&](int c, int mask, unsigned int on, bool inturn) {
                                               return Cells(c, mask, on, inturn);
                                             });
  }
};

/* The other rows; long ones become zero */
template <int DIM, bool MIXED, int G> struct HopsLORRowValues {
  HopsLanesLORMesh m;
  HopsLanesLORData data;
  HopsLORRows      rows;
  HopsLORPieces    p;

  HOPS_LANES void operator()(size_t block) const
  {
    HopsLORFinishRows<PlaceWords<DIM, MIXED>>(p, rows, m, block, [&](size_t r, int lo, int hi) {
      for (int k = lo; k < hi; k++) {
        const int              at = rows.i[0][r];
        double                 x[Star<DIM, MIXED>::N];
        PlaceWords<DIM, MIXED> word;

        word.Load(rows, PlaceKey(m, rows, k));
        Contributions<DIM, MIXED, G>(m, data, m.entry[k], x);
        AddBlocks<Star<DIM, MIXED>::N>(word.w, x, rows.v[0] + at, rows.i[0][r + 1] - at,
                                       rows.i[1] ? rows.v[1] + rows.i[1][r] : NULL);
      }
    });
  }
};

/* ---- Launches ---- */

template <class Back> struct HopsLORValueLaunches {
  static constexpr int G = Back::Team::group;

  /* Bytes of places, of which there are rows->nplace from entry rows->place0 on: on a host all entries of
     restr have some, and pieces of cells */
  static size_t PlaceSize(const HopsLanesLORMesh *m, HopsLORRows *rows)
  {
    const size_t each = HOPS_LANES_LOR_WORDS(m->dim, rows->coupled) * sizeof(*rows->place);

    if (!PlaceByEntry(*rows)) return rows->nplace * each;
    rows->place0 = 0;
    rows->nplace = m->ncells * m->nn;
    return rows->nplace * each + HopsLORPiecesSize(rows->nplace, rows->n);
  }

  static PetscErrorCode Pieces(const HopsLanesLORMesh *m, const HopsLORRows *rows, HopsLORPieces *p)
  {
    return HopsLORGetPieces<Back>(m->ncells, rows->nplace, rows,
                                  rows->place + (size_t)rows->nplace * HOPS_LANES_LOR_WORDS(m->dim, rows->coupled), p);
  }

  template <int DIM, bool MIXED> static PetscErrorCode PlacesOf(const HopsLanesLORMesh *m, const HopsLORRows *rows)
  {
    if constexpr (G > 1)
      return Back::Each("HopsLORPlaces", rows->n, HopsOnePlaces<HopsLOROneCell<DIM, MIXED>>{{*m}, *rows, HOPS_LANES_LOR_MAX});
    else {
      const HopsLORPlaces<DIM, MIXED> f = {*m, *rows, RowsOfTeam(rows), !rows->sorted && !rows->i[1]};

      return Back::Teams("HopsLORPlaces", (int)((rows->n + f.R - 1) / f.R), f.Scratch(), f);
    }
  }

  template <int DIM, bool MIXED>
  static PetscErrorCode ValuesOf(const HopsLanesLORMesh *m, const HopsLanesLORData *data, const HopsLORRows *rows, int *zero)
  {
    PetscFunctionBegin;
    if constexpr (G == 1) {
      /* where nodes hang rows are longer, and those of a face of hanging nodes lie together */
      const int                       R = RowsOfTeam(rows), room = R * Star<DIM, MIXED>::ROOM * (m->hung.begin ? 2 : 1);
      const HopsLORValues<DIM, MIXED> f = {*m, *data, *rows, R, room};

      PetscCall(Back::Teams("HopsLORValues", (int)((rows->n + R - 1) / R), f.Scratch(room), f));
    } else {
      HopsLORPieces pieces;

      PetscCall(Pieces(m, rows, &pieces));
      PetscCall(HopsLORByPieces<Back>(
        rows, pieces, zero,
        [&](const HopsLORPieces &p) {
          return Back::Each("HopsLORCellValues", p.n, HopsLORCellValues<DIM, MIXED, typename Back::Team>{*m, *data, *rows, p});
        },
        [&](const HopsLORPieces &p) {
          return Back::Each("HopsLORRowValues", HopsLORBlocks(rows), HopsLORRowValues<DIM, MIXED, G>{*m, *data, *rows, p});
        }));
    }
    if (rows->nlong) {
      typedef HopsLORLongValues<DIM, MIXED, G> F;

      PetscCall(Back::Teams("HopsLORLongValues", (rows->nlong + F::ROWS - 1) / F::ROWS, F::ROWS * F::BYTES, F{*m, *data, *rows}));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* Where the first pass over the rows had another order; then pieces of cells */
  template <int DIM, bool MIXED> static PetscErrorCode PlacesAnd(const HopsLanesLORMesh *m, const HopsLORRows *rows)
  {
    PetscFunctionBegin;
    if ((rows->sorted && G == 1) || rows->i[1] || rows->anylong) PetscCall((PlacesOf<DIM, MIXED>(m, rows)));
    if constexpr (G > 1) {
      HopsLORPieces p;

      if (!PlaceByEntry(*rows)) PetscFunctionReturn(PETSC_SUCCESS);
      PetscCall(Pieces(m, rows, &p));
      PetscCall((HopsLORSetPieces<Back, PlaceWords<DIM, MIXED>>(m->begin, m->entry, rows, m->nn, HOPS_LANES_LOR_MAX, &p)));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Places(const HopsLanesLORMesh *m, const HopsLORRows *rows)
  {
    if (m->dim == 3) return rows->coupled ? PlacesAnd<3, true>(m, rows) : PlacesAnd<3, false>(m, rows);
    return rows->coupled ? PlacesAnd<2, true>(m, rows) : PlacesAnd<2, false>(m, rows);
  }

  static PetscErrorCode LongRows(const HopsLORRows *rows, int sum[], int list[])
  {
    return Back::Each("HopsLORLongRows", rows->n, HopsLORLongRows{*rows, sum, list});
  }

  static PetscErrorCode Values(const HopsLanesLORMesh *m, const HopsLanesLORData *data, const HopsLORRows *rows, int *zero)
  {
    const bool mixed = data->mixed && rows->coupled;

    if (m->dim == 3) return mixed ? ValuesOf<3, true>(m, data, rows, zero) : ValuesOf<3, false>(m, data, rows, zero);
    return mixed ? ValuesOf<2, true>(m, data, rows, zero) : ValuesOf<2, false>(m, data, rows, zero);
  }

  template <class Do> static PetscErrorCode Hung(int dim, bool mixed, const Do &Run)
  {
    if (dim == 3) return mixed ? Run(HopsLORCell<3, true, G>()) : Run(HopsLORCell<3, false, G>());
    return mixed ? Run(HopsLORCell<2, true, G>()) : Run(HopsLORCell<2, false, G>());
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
    k->PlaceSize = PlaceSize;
    k->Places    = Places;
    k->LongRows  = LongRows;
    k->Values    = Values;
    k->HungTeams = HungTeams;
    k->HungLists = HungLists;
    HopsLORHungLaunches<Back>::Fill(k);
  }
};
