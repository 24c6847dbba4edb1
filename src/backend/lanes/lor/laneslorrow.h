/* Rows while their pattern is found, and while they take values. */
#pragma once
#include <backend/lanes/runtime/laneslists.h>
#include "laneslor.h"

/* Unrolls a loop over neighbours. GCC has a pragma of its own, which halves the time of H(curl)'s pattern */
#if defined(__CUDACC__) || defined(__clang__)
  #define HOPS_LOR_UNROLL _Pragma("unroll")
#else
  #define HOPS_LOR_UNROLL _Pragma("GCC unroll 64")
#endif

/* e / n, exact for e < 2^31; pern = 1 / n */
HOPS_LANES int CellOf(int e, double pern)
{
  return (int)((e + 0.5) * pern);
}

HOPS_LANES int CellOf(const HopsLanesLORMesh &m, int e)
{
  return CellOf(e, m.perentry);
}

/* Do places lie by entries of restr? By cells a host reads all of them, but for those of ghosts' rows */
HOPS_LANES_CONSTEXPR bool PlaceByEntry(const HopsLORRows &rows)
{
  return HopsLanesOf(2) == 1 && rows.first == 0;
}

/* Where those of entry m.entry[k] lie */
template <class Mesh> HOPS_LANES int PlaceKey(const Mesh &m, const HopsLORRows &rows, int k)
{
  return PlaceByEntry(rows) ? m.entry[k] : k;
}

/* Neighbours of a node in its cell: itself; +x, -x, +y, ...; for each pair of directions a, b: +a+b, +a-b,
   -a+b, -a-b */
template <int DIM, bool MIXED> struct Star {
  enum {
    N    = 1 + 2 * DIM + (MIXED ? 2 * DIM * (DIM - 1) : 0),
    ROOM = N + 1 /* columns of a row, on the average of a block, for which kernels have room */
  };
};

/* do(s, offset) for each neighbour s of node ijk in its cell, offset nodes away */
template <int DIM, bool MIXED, class Do> HOPS_LANES void ForNeighbours(const int ijk[], int P, int mask, const Do &Put)
{
  const int st[3] = {1, P, P * P};

  Put(0, 0);
#pragma unroll
  for (int a = 0; a < DIM; a++) {
    if (ijk[a] < P - 1) Put(1 + 2 * a, st[a]);
    if (ijk[a] > 0) Put(2 + 2 * a, -st[a]);
  }
#pragma unroll
  for (int a = 0, s = 1 + 2 * DIM; a < DIM - 1; a++)
#pragma unroll
    for (int b = a + 1; b < DIM; b++, s += 4) {
      if (!MIXED || !(mask >> (a + b - 1) & 1)) continue;
      if (ijk[a] < P - 1 && ijk[b] < P - 1) Put(s, st[a] + st[b]);
      if (ijk[a] < P - 1 && ijk[b] > 0) Put(s + 1, st[a] - st[b]);
      if (ijk[a] > 0 && ijk[b] < P - 1) Put(s + 2, st[b] - st[a]);
      if (ijk[a] > 0 && ijk[b] > 0) Put(s + 3, -st[a] - st[b]);
    }
}

/* Columns that a row has besides those of its cells' own rows: of cells with hanging nodes, and received */
HOPS_LANES bool HasMore(const HopsLORHung &h, const HopsLORRows &rows, int r)
{
  const int row = (int)rows.first + r;

  return (h.begin && h.begin[row] < h.begin[row + 1]) || (rows.slot && rows.slot[r] >= 0);
}

/* Columns of lists of row r are h.extracol[lo] to h.extracol[hi - 1] */
struct HopsLORExtra {
  int lo, hi;

  HOPS_LANES HopsLORExtra(const HopsLORHung &h, const HopsLORRows &rows, int r) : lo(0), hi(0)
  {
    if (!h.begin) return;
    lo = h.extra[h.begin[rows.first + r]];
    hi = h.extra[h.begin[rows.first + r + 1]];
  }
  HOPS_LANES bool Has(const HopsLORHung &h, int c) const
  {
    int k = lo;

    while (k < hi && h.extracol[k] != c) k++;
    return k < hi;
  }
};

/* do(column) for each received one */
template <class Do> HOPS_LANES void ForReceived(const HopsLORRows &rows, int r, const Do &Put)
{
  if (!rows.slot || rows.slot[r] < 0) return;
  for (int k = rows.xi[rows.slot[r]]; k < rows.xi[rows.slot[r] + 1]; k++) Put(rows.xj[k]);
}

/* do(column) for both, which others may have, too */
template <class Do> HOPS_LANES void ForMore(const HopsLORHung &h, const HopsLORRows &rows, int r, const Do &Put)
{
  const HopsLORExtra x(h, rows, r);

  for (int k = x.lo; k < x.hi; k++) Put(h.extracol[k]);
  ForReceived(rows, r, Put);
}

/* Has a row columns in block 1? */
HOPS_LANES bool HasTwo(const HopsLORRows &rows, int r)
{
  return rows.i[1] && rows.i[1][r] < rows.i[1][r + 1];
}

/* The columns of a row that are more than shared memory has room for, each block in memory of its own; n =
   {0, 0} at first. The few rows around edges and points in which dozens of cells meet take this path */
struct LongRow {
  int nfree, split, n[2], *col[2];

  HOPS_LANES void Add(int c)
  {
    const int b = c >= split, x = b ? c - split : c;

    for (int k = 0; k < n[b]; k++)
      if (col[b][k] == x) return;
    col[b][n[b]++] = x;
  }
  HOPS_LANES void Append(int c) /* which is not there */
  {
    const int b = c >= split;

    col[b][n[b]++] = b ? c - split : c;
  }
  HOPS_LANES void AddFree(int c)
  {
    if (c < nfree) Add(c);
  }
  template <int N> HOPS_LANES void AddCell(const int c[], bool)
  {
    for (int s = 0; s < N; s++) AddFree(c[s]);
  }
};

/* Is a row that has been counted a long one? */
HOPS_LANES bool IsLong(const HopsLORRows &rows, int r, int max)
{
  return rows.i[0][r + 1] - rows.i[0][r] + (rows.i[1] ? rows.i[1][r + 1] - rows.i[1][r] : 0) > max;
}

/* A row whose list is full: minus the bound for now; `work` adds up what long rows need */
template <class Team> HOPS_LANES void CountLater(const HopsLORRows &rows, int r, int bound, unsigned long long *work)
{
  rows.i[0][r] = -bound;
  if (rows.i[1]) rows.i[1][r] = 0;
  Team::Add(work, 2 * (unsigned long long)bound); /* a size: the order does not matter */
}

/* Memory for such a row; which part of the buffer it is does not matter */
template <class Team> HOPS_LANES LongRow TakeRow(const HopsLORRows &rows, int r, int nfree, int *buffer, unsigned long long *next)
{
  const int bound = -rows.i[0][r];
  int      *x     = buffer + Team::Take(next, 2 * (unsigned long long)bound);
  LongRow   list  = {nfree, (int)rows.split, {0, 0}, {x, x + bound}};

  return list;
}

/* Place of column c in row r: those of block 1 follow those of block 0. Columns mostly come as the row lists
   them */
HOPS_LANES_CALLED int Find(const HopsLORRows &rows, int r, int c, int *next)
{
  const int lo = rows.i[0][r], hi = rows.i[0][r + 1];

  if (c < (int)rows.split) {
    int k = *next;

    for (;; k++) {
      if (k == hi) k = lo;
      if (rows.j[0][k] == c) break;
    }
    *next = k + 1;
    return k - lo;
  } else {
    const int d = rows.map[c - rows.split], lo1 = rows.i[1][r];
    int       k = lo1;

    while (rows.j[1][k] != d) k++;
    return hi - lo + k - lo1;
  }
}

/*
  A row that takes contributions: block 0 in J, V (shared or global memory), block 1 in global memory. Columns
  mostly come as the row lists them. `direct`: the row has one cell and all its neighbours there, so that they
  come so for certain.
*/
struct Row {
  const int *J, *J1, *map;
  double    *V, *V1;
  int        next, lo, hi, lo1, hi1, split;
  bool       direct;

  HOPS_LANES void Add(int c, double v)
  {
    if (c < split) {
      for (;; next++) {
        if (next == hi) next = lo;
        if (J[next] == c) break;
      }
      V[next++] += v;
    } else {
      const int d = map[c - split];
      int       k = lo1;

      while (J1[k] != d) k++;
      V1[k] += v;
    }
  }
};

/* Row r in global memory */
HOPS_LANES_CALLED Row GlobalRow(const HopsLORRows &rows, int r)
{
  const bool two = rows.i[1] != NULL;
  const Row  out = {rows.j[0],
                    rows.j[1],
                    rows.map,
                    rows.v[0],
                    rows.v[1],
                    rows.i[0][r],
                    rows.i[0][r],
                    rows.i[0][r + 1],
                   two ? rows.i[1][r] : 0,
                   two ? rows.i[1][r + 1] : 0,
                    (int)rows.split,
                    false};

  return out;
}
