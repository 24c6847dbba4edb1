/*
  Low-order-refined matrices of H(curl) in 3D: pattern and places of rows by a stencil, see laneslumpcurl.h.
  A team puts the columns of its block of rows together in its scratch: once to count them and to find the
  places, once more to write them.
*/
#pragma once
#include "laneslumpcurl.h"

/* ---- Blocks of rows ---- */

/* Is there an unknown without a cell? */
struct HopsCurlFindEmpty {
  const int *begin;
  int       *empty;

  HOPS_LANES void operator()(size_t l) const
  {
    if (begin[l] == begin[l + 1]) *empty = 1; /* all write the same */
  }
};

/* The rows whose first cell is among the b-th HOPS_CURL_ENTRIES ones are block b; begin: of the rows */
struct HopsCurlFindStarts {
  const int *begin;
  int        n, place0, nblocks, *start;

  HOPS_LANES void operator()(size_t i) const
  {
    const int r = (int)i, last = r ? (begin[r - 1] - place0) / HOPS_CURL_ENTRIES : -1, b = (begin[r] - place0) / HOPS_CURL_ENTRIES;

    for (int k = last + 1; k <= b; k++) start[k] = r;
    if (r == n - 1)
      for (int k = b + 1; k <= nblocks; k++) start[k] = n;
  }
};

/* R rows each */
struct HopsCurlEqualStarts {
  int n, R, *start;

  HOPS_LANES void operator()(size_t b) const
  {
    start[b] = HopsMin((int)b * R, n);
  }
};

/* ---- Pattern ---- */

/* See HopsLumpColumns() */
template <int N> HOPS_LANES unsigned int HopsCurlColumns(const HopsLumpMesh &m, int c, int i, const HopsLumpPlace &edge, int col[])
{
  HopsCurlEntries<N>(m, edge, col);
  return HopsLumpColumns<N>(m, c, i, col);
}

/* bits of those neighbours that lie on the cell's surface */
template <int N> HOPS_LANES unsigned int HopsCurlSurface(const HopsLumpPlace &e)
{
  const int    last    = e.P - 1;
  unsigned int surface = 0;

  HOPS_LOR_UNROLL
  for (int s = 1; s < N; s++) {
    const HopsCurlNeighbour n  = HopsCurlNeighbourOf(s);
    const bool              on = (n.dir != 0 && (e.i + n.i == 0 || e.i + n.i == last)) ||
                    (n.dir != 1 && (e.j + n.j == 0 || e.j + n.j == last)) || (n.dir != 2 && (e.k + n.k == 0 || e.k + n.k == last));

    if (on) surface |= 1u << (s - 1);
  }
  return surface;
}

/*
  Lengths of rows, and places in them in the order in which cells meet their columns, the diagonal entry
  first. The first cell of a row meets columns for the first time; of the next ones' those on the surface of
  the cell alone can be there already, which a hash table for each row tells. Columns beyond a list's room are
  counted, and make a long row.
*/
template <bool COUPLED> struct HopsCurlCount {
  static constexpr int lanes = HOPS_CURL_LANES, N = HopsCurlStencil<COUPLED>::N, MAX = HopsCurlStencil<COUPLED>::MAX,
                       SLOTS = HopsCurlStencil<COUPLED>::SLOTS;
  HopsLumpMesh        m;
  HopsLORRows         rows;
  const int          *start;
  unsigned long long *work;

  static size_t Bytes()
  {
    return HopsLanesOf(lanes) * ((MAX + 3) * sizeof(int) + SLOTS + sizeof(bool));
  }
  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    constexpr int T = HopsLanesOf(lanes);
    /* [T][MAX] columns; [T] which row an entry is of, its first entry, length; [T][SLOTS] the tables; [T] has
       the row several cells? */
    int                      *lists = (int *)scratch, *rowof = lists + T * MAX, *first = rowof + T, *count = first + T;
    unsigned char            *tables  = (unsigned char *)(count + T);
    bool                     *several = (bool *)(tables + T * SLOTS);
    const HopsCurlBlock<Team> b(team, m, rows, start);
    const int                 t = team.lane(), r = b.r0 + t;
    int                      *mine = lists + t * MAX;
    HopsCurlWords<COUPLED>    word;

    for (int k = t; k < b.n * SLOTS / 4; k += T) ((int *)tables)[k] = -1;
    if (t < b.n) {
      first[t]   = b.b0;
      several[t] = m.twice || b.b1 - b.b0 > 1;
      count[t]   = 1;
      mine[0]    = (int)rows.first + r;
    }
    for (int kc = b.k0; kc < b.k1; kc += T) {
      int          col[N], turn = -1, i = 0;
      unsigned int negative = 0, surface = 0;

      b.FindRows(kc, rowof);
      team.Sync();
      if (kc + t < b.k1) {
        i    = rowof[t];
        turn = kc + t - HopsMax(first[i], kc);

        const int           e = m.entry[kc + t], c = CellOf(e, m.perentry);
        const HopsLumpPlace edge(m.P, m.at[e - c * m.ne], COUPLED ? m.mask[c] : 0);

        negative = HopsCurlColumns<N>(m, c, e - c * m.ne, edge, col);
        if (several[i]) surface = m.twice ? ~0u : HopsCurlSurface<N>(edge); /* two entries of a cell can meet what is inside */
      }
      for (int j = 0;; j++) {
        if (turn == j) {
          int           *list = lists + i * MAX, len = count[i];
          unsigned char *slot = tables + i * SLOTS;
          const auto     Find = [&](int u) { /* the slot that has u, or will have it */
                                         unsigned int h = (unsigned int)u * 2654435761u >> (32 - HopsCurlStencil<COUPLED>::BITS);

                                         while (slot[h] != 255 && list[slot[h]] != u) h = (h + 1) % SLOTS;
                                         return h;
          };

          word.Clear();
          word.Set(0, 0, false);
          if (several[i] && kc + t == first[i]) slot[Find(list[0])] = 0;
          HOPS_LOR_UNROLL
          for (int s = 1; s < N; s++) {
            int p = len;

            if (col[s] >= m.nfree) continue;
            if (surface >> (s - 1) & 1) {
              const unsigned int h = Find(col[s]);

              if (slot[h] != 255) p = slot[h];
              else if (p < MAX) slot[h] = (unsigned char)p;
            }
            if (p < MAX) word.Set(s, p, negative >> (s - 1) & 1);
            if (p == len) {
              if (p < MAX) list[p] = col[s];
              len++;
            }
          }
          count[i] = len;
          word.Store(rows, kc + t);
        }
        if (!team.Any(turn > j)) break;
      }
    }
    if (t >= b.n) return;
    int len = count[t], low = 0;

    ForMore(m.hung, rows, r, [&](int u) {
      int k = 0;

      while (k < HopsMin(len, MAX) && mine[k] != u) k++;
      if (k < HopsMin(len, MAX)) return;
      if (len < MAX) mine[len] = u;
      len++;
    });
    if (len > MAX) {
      word.Clear();
      for (int k = b.b0; k < b.b1; k++) word.Store(rows, k);
      CountLater<Team>(rows, r, len, work);
      return;
    }
    for (int k = 0; k < len && rows.i[1]; k++) low += mine[k] < rows.split;
    rows.i[0][r] = rows.i[1] ? low : len;
    if (rows.i[1]) rows.i[1][r] = len - low;
  }
};

/* Columns to their places; these are final where the rows are neither sorted nor in two blocks */
template <bool COUPLED> struct HopsCurlFill {
  static constexpr int lanes = HOPS_CURL_LANES, N = HopsCurlStencil<COUPLED>::N, MAX = HopsCurlStencil<COUPLED>::MAX;
  HopsLumpMesh         m;
  HopsLORRows          rows;
  const int           *start;
  unsigned char       *used;

  static size_t Bytes()
  {
    return HopsLanesOf(lanes) * (MAX + 2) * sizeof(int);
  }
  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    constexpr int             T = HopsLanesOf(lanes), W = HopsLanesOf(32);
    int                      *lists = (int *)scratch, *rowof = lists + T * MAX, *count = rowof + T; /* as above */
    const HopsCurlBlock<Team> b(team, m, rows, start);
    const int                 t = team.lane(), r = b.r0 + t;
    int                      *mine = lists + t * MAX;

    if (t < b.n) {
      count[t] = 1;
      mine[0]  = (int)rows.first + r;
    }
    for (int kc = b.k0; kc < b.k1; kc += T) {
      team.Sync();
      b.FindRows(kc, rowof);
      team.Sync();
      if (kc + t >= b.k1) continue;
      int                    col[N], *list = lists + rowof[t] * MAX, len = 1;
      const int              e = m.entry[kc + t], c = CellOf(e, m.perentry);
      HopsCurlWords<COUPLED> word;

      word.Load(rows, kc + t);
      (void)HopsCurlColumns<N>(m, c, e - c * m.ne, HopsLumpPlace(m.P, m.at[e - c * m.ne], COUPLED ? m.mask[c] : 0), col);
      HOPS_LOR_UNROLL
      for (int s = 1; s < N; s++) {
        const int p = word.Get(s);

        if (p == HopsCurlWords<COUPLED>::NONE) continue;
        list[p] = col[s]; /* cells that share a column write the same */
        len     = HopsMax(len, p + 1);
      }
      Team::Own::Most(count + rowof[t], len); /* in any order */
    }
    team.Sync();
    const bool on  = t < b.n && !IsLong(rows, r, MAX);
    int        len = on ? count[t] : 0;

    if (on)
      ForMore(m.hung, rows, r, [&](int u) {
        int k = 0;

        while (k < len && mine[k] != u) k++;
        if (k == len) mine[len++] = u;
      });
    if (rows.sorted) HopsSortInts(len, mine);
    if (rows.i[1]) {
      if (!on) return;
      int *j0 = rows.j[0] + rows.i[0][r], *j1 = rows.j[1] + rows.i[1][r];

      for (int k = 0; k < len; k++) {
        if (mine[k] < rows.split) *j0++ = mine[k];
        else {
          *j1++                      = mine[k] - (int)rows.split;
          used[mine[k] - rows.split] = 1;
        }
      }
      return;
    }
    team.Sync();
    if (t < b.n) count[t] = len;
    team.Sync();
    for (int i = t / W; i < b.n; i += T / W) {
      int *J = rows.j[0] + rows.i[0][b.r0 + i];

      for (int k = t % W; k < count[i]; k += W) J[k] = lists[i * MAX + k];
    }
  }
};

/* Places in rows that are sorted or in two blocks */
template <bool COUPLED> struct HopsCurlPlaces {
  static constexpr int lanes = HOPS_CURL_LANES, N = HopsCurlStencil<COUPLED>::N;
  HopsLumpMesh         m;
  HopsLORRows          rows;
  const int           *start;

  static size_t Bytes()
  {
    return HopsLanesOf(lanes) * sizeof(int);
  }
  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    constexpr int             T     = HopsLanesOf(lanes);
    int                      *rowof = (int *)scratch;
    const HopsCurlBlock<Team> b(team, m, rows, start);
    const int                 t = team.lane();

    for (int kc = b.k0; kc < b.k1; kc += T) {
      team.Sync();
      b.FindRows(kc, rowof);
      team.Sync();
      if (kc + t >= b.k1) continue;
      const int              r = b.r0 + rowof[t], row = (int)rows.first + r;
      int                    col[N], next             = rows.i[0][r];
      const int              e = m.entry[kc + t], c = CellOf(e, m.perentry);
      HopsCurlWords<COUPLED> word;

      if (IsLong(rows, r, HopsCurlStencil<COUPLED>::MAX)) continue;
      const unsigned int negative =
        HopsCurlColumns<N>(m, c, e - c * m.ne, HopsLumpPlace(m.P, m.at[e - c * m.ne], COUPLED ? m.mask[c] : 0), col);

      word.Clear();
      word.Set(0, Find(rows, r, row, &next), false);
      HOPS_LOR_UNROLL
      for (int s = 1; s < N; s++)
        if (col[s] < m.nfree) word.Set(s, Find(rows, r, col[s], &next), negative >> (s - 1) & 1);
      word.Store(rows, kc + t);
    }
  }
};
