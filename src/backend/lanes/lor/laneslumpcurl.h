/*
  Low-order-refined matrices of H(curl) in 3D: rows by a stencil, since all edges of a lattice along a
  direction have the same neighbours, as far as these lie in the cell. A lane works on one cell of a row. As
  in H1, where the contributions of a cell go in a row is kept: seven bits for each neighbour, its sign among
  them. Rows with more columns than HopsCurlStencil::MAX take the tables of laneslumprows.h.
*/
#pragma once
#include "laneslumpstencil.h"

#define HOPS_CURL_BITS    7
#define HOPS_CURL_LANES   128 /* of a team, and rows of its block at most */
#define HOPS_CURL_ENTRIES 120 /* cells of its rows, or few more */

/* ---- The stencil ---- */

/*
  Directions a (the row's edge), b and c follow one another cyclically; edge (i, j, k) goes from node (i, j,
  k) to (i + 1, j, k). Neighbours by direction and shift of their indices, those of a straight cell first:
    0 itself; 1-4 A(+,0) A(-,0) A(0,+) A(0,-), parallel ones at (j, k) + these; 13-16 A(+,+) A(+,-) A(-,+)
    A(-,-); 5-8 B(I,h,0), along b at node i + I, behind (h = 0) or before (1) the row's edge, I varies
    slowest; 17-24 B(I,h,K), K = +1, -1; 9-12 C(I,0,h), along c; 25-32 C(I,J,h), J = +1, -1.
*/
struct HopsCurlNeighbour {
  int dir, i, j, k;
};

HOPS_LANES_CONSTEXPR HopsCurlNeighbour HopsCurlNeighbourOf(int s)
{
  return s == 0   ? HopsCurlNeighbour{0, 0, 0, 0}
         : s < 3  ? HopsCurlNeighbour{0, 0, s == 1 ? 1 : -1, 0}
         : s < 5  ? HopsCurlNeighbour{0, 0, 0, s == 3 ? 1 : -1}
         : s < 9  ? HopsCurlNeighbour{1, (s - 5) >> 1, -((s - 5) & 1), 0}
         : s < 13 ? HopsCurlNeighbour{2, (s - 9) >> 1, 0, -((s - 9) & 1)}
         : s < 17 ? HopsCurlNeighbour{0, 0, (s - 13) >> 1 ? -1 : 1, (s - 13) & 1 ? -1 : 1}
         : s < 25 ? HopsCurlNeighbour{1, (s - 17) >> 2, -((s - 17) >> 1 & 1), (s - 17) & 1 ? -1 : 1}
                  : HopsCurlNeighbour{2, (s - 25) >> 2, (s - 25) >> 1 & 1 ? -1 : 1, -((s - 25) & 1)};
}

/* COUPLED: does some cell couple directions? */
template <bool COUPLED> struct HopsCurlStencil {
  enum {
    N     = COUPLED ? 33 : 13,
    MAX   = HOPS_CURL_MAX(COUPLED), /* columns of a row */
    SLOTS = MAX + 1,                /* of its hash table, */
    BITS  = COUPLED ? 6 : 5,        /* 1 << BITS */
    ROOM  = COUPLED ? 36 : 14       /* columns of a row on the average of a block, for which there is shared memory */
  };
};

template <bool COUPLED> using HopsCurlWords = HopsLumpWords<HopsCurlStencil<COUPLED>::N, HOPS_CURL_BITS>;

/* Is neighbour s in the cell, and does its entry belong to the pattern? */
HOPS_LANES bool HopsCurlExists(const HopsLumpMesh &m, const HopsLumpPlace &e, int s)
{
  const HopsCurlNeighbour n  = HopsCurlNeighbourOf(s);
  bool                    ok = true;

  if (n.dir == 1 ? n.j == 0 : n.j > 0) ok = ok && e.jp;
  if (n.j < 0) ok = ok && e.jm;
  if (n.dir == 2 ? n.k == 0 : n.k > 0) ok = ok && e.kp;
  if (n.k < 0) ok = ok && e.km;
  if (s == 0) return true;
  if (s < 5) return ok && m.has[0];
  if (s < 9) return ok && (m.has[0] || e.on_ab);
  if (s < 13) return ok && (m.has[0] || e.on_ac);
  if (s < 17) return ok && m.has[0] && e.on_bc;
  return ok && m.has[0] && (e.on_ab || e.on_bc || e.on_ac);
}

/* The cell's entry of each of N neighbours, or -1 */
template <int N> HOPS_LANES void HopsCurlEntries(const HopsLumpMesh &m, const HopsLumpPlace &e, int entry[])
{
  const int d[3] = {e.a, e.b, e.c}, size = (e.P - 1) * e.P * e.P;
  int       base[3], st[3][3];

  HOPS_LOR_UNROLL
  for (int f = 0; f < 3; f++) {
    base[f] = d[f] * size + e.Index(d[f], 1);
    HOPS_LOR_UNROLL
    for (int g = 0; g < 3; g++) st[f][g] = e.Stride(d[f], d[g], 1);
  }
  HOPS_LOR_UNROLL
  for (int s = 0; s < N; s++) {
    const HopsCurlNeighbour n = HopsCurlNeighbourOf(s);

    entry[s] = HopsCurlExists(m, e, s) ? base[n.dir] + n.i * st[n.dir][0] + n.j * st[n.dir][1] + n.k * st[n.dir][2] : -1;
  }
}

/* ---- Blocks of rows, and the cells of these ---- */

/* Where the blocks of rows start, behind the places */
template <bool COUPLED> static int *HopsCurlStarts(const HopsLORRows &rows)
{
  return (int *)(rows.place + (size_t)rows.nplace * HopsCurlWords<COUPLED>::WORDS);
}

/* Rows of a team's block: n from r0 on, at most as many as there are lanes, with the entries k0..k1-1; b0,
   b1: those of this lane's row */
template <class Team> struct HopsCurlBlock {
  int lane, r0, n, k0, k1, b0, b1;

  HOPS_LANES HopsCurlBlock(const Team &team, const HopsLumpMesh &m, const HopsLORRows &rows, const int start[])
  {
    lane = team.lane();
    r0   = start[team.index()];
    n    = start[team.index() + 1] - r0;

    const int *begin = m.begin + rows.first + r0;

    k0 = begin[0];
    k1 = begin[n];
    b0 = lane < n ? begin[lane] : 0;
    b1 = lane < n ? begin[lane + 1] : 0;
  }
  /* of the entries k, k + 1, ..., as many as there are lanes: whose row each is */
  HOPS_LANES void FindRows(int k, int row[]) const
  {
    for (int i = HopsMax(b0, k); i < HopsMin(b1, k + HopsLanesOf(HOPS_CURL_LANES)); i++) row[i - k] = lane;
  }
};
