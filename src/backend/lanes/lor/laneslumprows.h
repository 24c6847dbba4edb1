/* Low-order-refined matrices of H(curl), H(div) and L2: numbers of the masses, then rows, a lane for each;
   see laneslump.h. */
#pragma once
#include "laneslump.h"
#include "laneslorrow.h"

#define HOPS_LUMP_LANES 128 /* of a team, pattern */
#define HOPS_LUMP_ROWS  32  /* of a team, values */
#define HOPS_LUMP_BATCH 6   /* columns of a cell that go into a row at a time */

/* ---- Numbers ---- */

/* out[c][n]: of cell c by number[n], from data[c][ncomp][nn]. (A host has them with the data) */
template <int DIM> struct HopsLumpNumbers {
  int                   n, P, nn, ncomp;
  const HopsLumpNumber *number;
  const double         *data;
  double               *out;

  HOPS_LANES void operator()(size_t i) const
  {
    const unsigned int   t = (unsigned int)i, c = t / (unsigned int)n;
    const HopsLumpNumber x     = number[t - c * n];
    const double        *D     = data + (size_t)c * ncomp * nn + x.base;
    const int            st[3] = {1, P, P * P};
    double               v     = 0;

#pragma unroll
    for (int s = 0; s < 1 << DIM; s++) {
      int o = 0;

      if (s & ~x.open) continue;
#pragma unroll
      for (int d = 0; d < DIM; d++) o += (s >> d & 1) * st[d];
      v += HopsLoad(D + o);
    }
    out[t] = x.w * v;
  }
};

/* ---- Masks ---- */

/* result[0]: bits of the new masks that occur; [1], [2]: some new mask has a bit that the old one lacks; is
   not zero. A team looks at as many cells as a device's has lanes */
struct HopsLumpCompare {
  static constexpr int lanes = 256;
  int                  n;
  const unsigned char *newmask, *mask;
  int                 *result;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    int      *used = (int *)scratch, lacks = 0, some = 0;
    const int first = team.index() * lanes, end = HopsMin(n, first + lanes);

    if (!team.lane()) *used = 0;
    team.Sync();
    for (int c = first + team.lane(); c < end; c += team.size()) {
      const int a = newmask[c];

      lacks |= a & ~mask[c];
      some |= a;
      if (!(*(volatile int *)used >> a & 1)) Team::Own::Or(used, 1 << a);
    }
    lacks = team.Any(lacks);
    some  = team.Any(some);
    if (team.lane()) return;
    if (*used & ~*(volatile int *)result) Team::Or(result, *used);
    if (lacks) result[1] = 1; /* all write the same */
    if (some) result[2] = 1;
  }
};

/* ---- Pattern ---- */

/* A row's columns while it is built, in a column of the team's scratch, where each lane has a list; n = 0 at
   first. In local memory the lists of all threads of a device would not fit in L1 */
struct HopsLumpList {
  enum {
    MAX    = HOPS_LUMP_LIST, /* of longer rows see HopsLORLongRow */
    STRIDE = HopsLanesOf(HOPS_LUMP_LANES) == 1 ? 1 : HOPS_LUMP_LANES + 1
  };
  int n, nfree, *col;

  static size_t Bytes() /* of a team's lists, and of two numbers of each lane behind them */
  {
    return (MAX + 2) * STRIDE * sizeof(int);
  }
  HOPS_LANES void Add(int c)
  {
    for (int k = 0; k < n && k < MAX; k++)
      if (col[k * STRIDE] == c) return;
    if (n < MAX) col[n * STRIDE] = c;
    n++; /* beyond the room: found by the caller, who then has an upper bound */
  }
  /* Columns c[0..N-1] of a cell, those that are not there being >= nfree. They stay in registers, and each
     old column is read once */
  template <int N> HOPS_LANES void AddCell(const int c[], bool twice)
  {
    const int    end = HopsMin(n, (int)MAX);
    unsigned int old = 0;

#pragma unroll 2
    for (int k = 0; k < end; k++) {
      const int v = col[k * STRIDE];

#pragma unroll
      for (int s = 0; s < N; s++) old |= (unsigned int)(c[s] == v) << s;
    }
    if (twice) {
#pragma unroll
      for (int s = 1; s < N; s++)
#pragma unroll
        for (int t = 0; t < s; t++) old |= (unsigned int)(c[s] == c[t]) << s;
    }
#pragma unroll
    for (int s = 0; s < N; s++) {
      if (c[s] >= nfree || (old >> s & 1)) continue;
      if (n < MAX) col[n * STRIDE] = c[s];
      n++;
    }
  }
  HOPS_LANES void SortColumns()
  {
    for (int i = 1; i < n; i++) {
      const int v = col[i * STRIDE];
      int       k = i;

      for (; k > 0 && col[(k - 1) * STRIDE] > v; k--) col[k * STRIDE] = col[(k - 1) * STRIDE];
      col[k * STRIDE] = v;
    }
  }
  HOPS_LANES void WriteColumns(const HopsLORRows &rows, int r, unsigned char *used)
  {
    int *j0, *j1;

    if (!n) return; /* behind the last row, or a long one */
    j0 = rows.j[0] + rows.i[0][r];
    j1 = rows.j[1] + rows.i[1][r];
    for (int k = 0; k < n; k++) {
      const int c = col[k * STRIDE];

      if (c < rows.split) *j0++ = c;
      else {
        *j1++                = c - (int)rows.split;
        used[c - rows.split] = 1;
      }
    }
  }
  /* the row's length */
  template <class Team> HOPS_LANES void SetLength(const HopsLORRows &rows, int r, unsigned long long *work)
  {
    int low = 0;

    if (n > MAX) {
      CountLater<Team>(rows, r, n, work);
      return;
    }
    if (!rows.i[1]) low = n;
    else
      for (int k = 0; k < n; k++) low += col[k * STRIDE] < rows.split;
    rows.i[0][r] = low;
    if (rows.i[1]) rows.i[1][r] = n - low;
  }
};

/* Columns of a row as its cells, in ascending order, meet them */
template <class List> HOPS_LANES void HopsLumpBuild(const HopsLumpMesh &m, const HopsLORRows &rows, int r, List *list)
{
  const int row = (int)rows.first + r, e0 = m.begin[row], e1 = m.begin[row + 1];

  list->Add(row);
  for (int k = e0; k < e1; k++) {
    const int           e = m.entry[k], c = CellOf(e, m.perentry), i = e - c * m.ne;
    const HopsLumpTable table = m.table[m.mask[c]];
    const int           n = HopsLoad(table.count + i) >> 16, *R = m.restr + (size_t)c * m.ne, *C = table.col + i;

    for (int s = 1; s < n; s += HOPS_LUMP_BATCH) { /* the first is the diagonal's */
      int col[HOPS_LUMP_BATCH];

#pragma unroll
      for (int t = 0; t < HOPS_LUMP_BATCH; t++)
        col[t] = s + t < n ? HopsLanesUnsigned(R[HopsLoad(C + (size_t)(s + t) * m.ne)]) : INT_MAX;
      list->template AddCell<HOPS_LUMP_BATCH>(col, m.twice);
    }
  }
  ForMore(m.hung, rows, r, [&](int u) { list->Add(u); });
}

/* Lengths of rows */
struct HopsLumpCount {
  static constexpr int lanes = HOPS_LUMP_LANES;
  HopsLumpMesh         m;
  HopsLORRows          rows;
  unsigned long long  *work;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    const int    r    = team.index() * HopsLanesOf(lanes) + team.lane();
    HopsLumpList list = {0, m.nfree, (int *)scratch + team.lane()};

    if (r >= rows.n) return;
    HopsLumpBuild(m, rows, r, &list);
    list.template SetLength<Team>(rows, r, work);
  }
};

/* Columns */
struct HopsLumpFill {
  static constexpr int lanes = HOPS_LUMP_LANES;
  HopsLumpMesh         m;
  HopsLORRows          rows;
  unsigned char       *used;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    constexpr int T = HopsLanesOf(lanes), W = HopsLanesOf(16);
    const int     r0 = team.index() * T, t = team.lane(), r = r0 + t;
    int          *lists = (int *)scratch;
    HopsLumpList  list  = {0, m.nfree, lists + t};

    if (r < rows.n && !IsLong(rows, r, HopsLumpList::MAX)) HopsLumpBuild(m, rows, r, &list);
    if (rows.sorted) list.SortColumns();
    if (rows.i[1]) {
      list.WriteColumns(rows, r, used);
      return;
    }
    int *begin = lists + HopsLumpList::MAX * HopsLumpList::STRIDE, *len = begin + HopsLumpList::STRIDE;

    begin[t] = r < rows.n ? rows.i[0][r] : 0;
    len[t]   = list.n; /* 0 of a long row */
    team.Sync();
    for (int i = t / W; i < T; i += T / W) { /* half a warp takes a row: of H(div) and L2 most have up to 11 columns */
      for (int k = t % W, n = len[i]; k < n; k += W) rows.j[0][begin[i] + k] = lists[k * HopsLumpList::STRIDE + i];
    }
  }
};

/* Long rows: the same columns in the same order, by way of a buffer; then straight to their place */
template <class Team> struct HopsLumpCountLong {
  HopsLumpMesh        m;
  HopsLORRows         rows;
  int                *buffer;
  unsigned long long *next;

  HOPS_LANES void operator()(size_t i) const
  {
    const int r = (int)i;

    if (rows.i[0][r] >= 0) return;
    LongRow list = TakeRow<Team>(rows, r, m.nfree, buffer, next);

    HopsLumpBuild(m, rows, r, &list);
    rows.i[0][r] = list.n[0];
    if (rows.i[1]) rows.i[1][r] = list.n[1];
  }
};

/* max: columns of a row that is not a long one */
struct HopsLumpFillLong {
  HopsLumpMesh   m;
  HopsLORRows    rows;
  int            max;
  unsigned char *used;

  HOPS_LANES void operator()(size_t i) const
  {
    const int r = (int)i;

    if (!IsLong(rows, r, max)) return;
    LongRow list = {m.nfree, (int)rows.split, {0, 0}, {rows.j[0] + rows.i[0][r], rows.i[1] ? rows.j[1] + rows.i[1][r] : NULL}};

    HopsLumpBuild(m, rows, r, &list);
    for (int b = 0; b < 2 && rows.sorted; b++) HopsSortInts(list.n[b], list.col[b]);
    for (int k = 0; k < list.n[1]; k++) used[list.col[1][k]] = 1;
  }
};

/* ---- Values ---- */

/* A cell's entries in the row that is its entry e. G: cells whose numbers lie side by side */
template <int G> HOPS_LANES void HopsLumpAddCell(const HopsLumpMesh &m, int e, Row *out)
{
  const int           c = CellOf(e, m.perentry), i = e - c * m.ne, *R = m.restr + (size_t)c * m.ne;
  const HopsLumpTable table  = m.table[m.mask[c]];
  const int           n      = HopsLoad(table.count + i) & 65535;
  const HopsLumpTerm *T      = table.term + i;
  const bool          turned = R[i] < 0;
  const double       *x      = m.numbers + HopsLanesCell(G, c, m.n);
  double              v      = 0;

  for (int t = 0; t < n; t++, T += m.ne) {
    const HopsLumpTerm term = HopsLoad(T);
    const int          col = (int)term, value = (int)(term >> 32);
    const double       a = HopsLoad(x + (value >> 1) * G);

    v += value & 1 ? -a : a;
    if (col & HOPS_LUMP_LAST) {
      const int l = R[col & ~HOPS_LUMP_LAST], u = HopsLanesUnsigned(l);

      if ((l < 0) != turned) v = -v;
      if (out->direct) out->V[out->next++] = v;
      else if (u < m.nfree) out->Add(u, v);
      v = 0;
    }
  }
}

/* The cell's matrix for HopsLORHungLists: signs are the cell's own */
template <int G> struct HopsLumpCell {
  HopsLumpMesh m;

  template <class Do> HOPS_LANES void Row(int c, int v, const Do &Put) const
  {
    const HopsLumpTable table = m.table[m.mask[c]];
    const int           n     = HopsLoad(table.count + v) & 65535;
    const HopsLumpTerm *T     = table.term + v;
    const double       *x     = m.numbers + HopsLanesCell(G, c, m.n);
    double              a     = 0;

    for (int t = 0; t < n; t++, T += m.ne) {
      const HopsLumpTerm term = HopsLoad(T);
      const int          col = (int)term, value = (int)(term >> 32);

      a += value & 1 ? -HopsLoad(x + (value >> 1) * G) : HopsLoad(x + (value >> 1) * G);
      if (!(col & HOPS_LUMP_LAST)) continue;
      Put(col & ~HOPS_LUMP_LAST, a);
      a = 0;
    }
  }
};

/* As the rows of H1: those of a team lie side by side in block 0, and are put together in its scratch, which
   has `room` entries */
struct HopsLumpRowValues {
  static constexpr int lanes = HOPS_LUMP_ROWS;
  HopsLumpMesh         m;
  HopsLORRows          rows;
  int                  room;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *shared) const
  {
    const int T = team.size(), t = team.lane(), r0 = team.index() * T, r1 = HopsMin(r0 + T, (int)rows.n), r = r0 + t,
              row   = (int)rows.first + r;
    const int  base = rows.i[0][r0], len = rows.i[0][r1] - base;
    const bool fits = len <= room;
    double    *V    = fits ? shared : rows.v[0] + base;
    const int *J    = rows.j[0] + base;
    Row        out  = {J, rows.j[1], rows.map, V, rows.v[1], 0, 0, 0, 0, 0, (int)rows.split, false};
    int        e0 = 0, e1 = 0;

    if (r < r1) {
      e0      = m.begin[row];
      e1      = m.begin[row + 1];
      out.lo  = rows.i[0][r] - base;
      out.hi  = rows.i[0][r + 1] - base;
      out.lo1 = rows.i[1] ? rows.i[1][r] : 0;
      out.hi1 = rows.i[1] ? rows.i[1][r + 1] : 0;
      if (e1 - e0 == 1 && !rows.sorted && !HasMore(m.hung, rows, r)) {
        const int e = m.entry[e0], c = CellOf(e, m.perentry);

        out.direct = out.hi - out.lo == HopsLoad(m.table[m.mask[c]].count + e - c * m.ne) >> 16 && out.lo1 == out.hi1;
      }
      out.next = out.lo;
    }
    for (int k = t; k < len; k += T) V[k] = 0;
    if (team.Any(r < r1 && !out.direct) && fits) {
      int *s = (int *)(shared + room);

      for (int k = t; k < len; k += T) s[k] = J[k];
      out.J = s;
    }
    team.Sync();
    if (r < r1) {
      for (int k = out.lo1; k < out.hi1; k++) out.V1[k] = 0;
      for (int k = e0; k < e1; k++) HopsLumpAddCell<Team::group>(m, m.entry[k], &out);
    }
    if (!fits) return;
    team.Sync();
    for (int k = t; k < len; k += T) rows.v[0][base + k] = V[k];
  }
};

/* Long rows, which are zero: a lane for each, where they are to be */
template <int G> struct HopsLumpLongValues {
  HopsLumpMesh m;
  HopsLORRows  rows;
  int          max;

  HOPS_LANES void operator()(size_t i) const
  {
    const int r = (int)i, row = (int)rows.first + r;

    if (!IsLong(rows, r, max)) return;
    Row out = GlobalRow(rows, r);

    for (int k = m.begin[row]; k < m.begin[row + 1]; k++) HopsLumpAddCell<G>(m, m.entry[k], &out);
  }
};
