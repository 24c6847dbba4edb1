/*
  Low-order-refined matrices of H(curl) in 3D: rows by a stencil, since all edges of a lattice along a
  direction have the same neighbours, as far as these lie in the cell. A lane works on one cell of a row. As
  in H1, where the contributions of a cell go in a row is kept: seven bits for each neighbour, its sign among
  them. Rows with more columns than HopsCurlStencil::MAX take the tables of laneslumprows.h.
*/
#pragma once
#include "laneslorrow.h"
#include "laneslump.h"

#define HOPS_CURL_NONE    63 /* place of a neighbour that is not there, or is constrained: all bits */
#define HOPS_CURL_BITS    7
#define HOPS_CURL_WORD    9   /* places of a word */
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
    WORDS = (N + HOPS_CURL_WORD - 1) / HOPS_CURL_WORD,
    MAX   = HOPS_CURL_MAX(COUPLED), /* columns of a row */
    SLOTS = MAX + 1,                /* of its hash table, */
    BITS  = COUPLED ? 6 : 5,        /* 1 << BITS */
    ROOM  = COUPLED ? 36 : 14       /* columns of a row on the average of a block, for which there is shared memory */
  };
};

/* An edge in its cell */
struct HopsCurlEdge {
  int  P, a, b, c, x[3], i, j, k; /* P nodes a direction; place along x, y, z, and along a, b, c */
  bool jm, jp, km, kp;            /* is there more of the cell behind and before it, along b and c? */
  bool on_ab, on_bc, on_ac;       /* coupled pairs */

  HOPS_LANES HopsCurlEdge(int P_, int place, int mask)
  {
    P    = P_;
    a    = place >> 24;
    b    = a == 2 ? 0 : a + 1;
    c    = a == 0 ? 2 : a - 1;
    x[0] = place & 255;
    x[1] = place >> 8 & 255;
    x[2] = place >> 16 & 255;

    i     = place >> 8 * a & 255;
    j     = place >> 8 * b & 255;
    k     = place >> 8 * c & 255;
    jm    = j > 0;
    jp    = j < P - 1;
    km    = k > 0;
    kp    = k < P - 1;
    on_bc = mask >> (2 - a) & 1;
    on_ac = mask >> (2 - b) & 1;
    on_ab = mask >> (2 - c) & 1;
  }
  /* edges along d, or (open = 0) faces across d: stride of direction f, and index of the one with the same
     indices */
  HOPS_LANES int Stride(int d, int f, int open) const
  {
    const int n0 = P - ((d == 0) == (open != 0)), n1 = P - ((d == 1) == (open != 0));

    return f == 0 ? 1 : (f == 1 ? n0 : n0 * n1);
  }
  HOPS_LANES int Index(int d, int open) const
  {
    const int n0 = P - ((d == 0) == (open != 0)), n1 = P - ((d == 1) == (open != 0));

    return x[0] + n0 * (x[1] + n1 * x[2]);
  }
};

/* Is neighbour s in the cell, and does its entry belong to the pattern? */
HOPS_LANES bool HopsCurlExists(const HopsLumpMesh &m, const HopsCurlEdge &e, int s)
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
template <int N> HOPS_LANES void HopsCurlEntries(const HopsLumpMesh &m, const HopsCurlEdge &e, int entry[])
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
  return (int *)(rows.place + (size_t)rows.nplace * HopsCurlStencil<COUPLED>::WORDS);
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

/* ---- Places ---- */

/* x, with the opposite sign where bit 31 of `flip` is set */
HOPS_LANES double HopsCurlFlip(double x, int flip)
{
#if defined(__CUDA_ARCH__)
  return __hiloint2double(__double2hiint(x) ^ (flip & 0x80000000), __double2loint(x));
#else
  union {
    double             x;
    unsigned long long bits;
  } u = {x};

  u.bits ^= (unsigned long long)(flip & 0x80000000) << 32;
  return u.x;
#endif
}

template <bool COUPLED> struct HopsCurlWords {
  enum {
    PLACES = HopsCurlStencil<COUPLED>::N,
    WORDS  = HopsCurlStencil<COUPLED>::WORDS
  };
  unsigned long long w[WORDS];

  HOPS_LANES void Clear()
  {
    HOPS_LOR_UNROLL
    for (int i = 0; i < WORDS; i++) w[i] = ~(unsigned long long)0;
  }
  /* where nothing was set. negative: the cell sees one of the row's and the neighbour's unknowns with the
     opposite sign */
  HOPS_LANES void Set(int s, int p, bool negative)
  {
    w[s / HOPS_CURL_WORD] ^= (unsigned long long)((p | (int)negative << 6) ^ 127) << (HOPS_CURL_BITS * (s % HOPS_CURL_WORD));
  }
  HOPS_LANES int Get(int s) const
  {
    return (int)(w[s / HOPS_CURL_WORD] >> (HOPS_CURL_BITS * (s % HOPS_CURL_WORD))) & HOPS_CURL_NONE;
  }
  /* and x with the sign */
  HOPS_LANES int Get(int s, double *x) const
  {
    const int p = (int)(w[s / HOPS_CURL_WORD] >> (HOPS_CURL_BITS * (s % HOPS_CURL_WORD)));

    *x = HopsCurlFlip(*x, p << 25);
    return p & HOPS_CURL_NONE;
  }
  /* p becomes rank[p], HOPS_CURL_NONE itself; signs stay */
  HOPS_LANES void Move(const unsigned char rank[])
  {
    unsigned long long moved[WORDS] = {};

    HOPS_LOR_UNROLL
    for (int s = 0; s < HopsCurlStencil<COUPLED>::N; s++) {
      const int shift = HOPS_CURL_BITS * (s % HOPS_CURL_WORD);

      moved[s / HOPS_CURL_WORD] |= ((unsigned long long)rank[Get(s)] << shift) | (w[s / HOPS_CURL_WORD] & 64ull << shift);
    }
    for (int i = 0; i < WORDS; i++) w[i] = moved[i];
  }
  HOPS_LANES void Store(const HopsLORRows &rows, int k) const
  {
    HOPS_LOR_UNROLL
    for (int i = 0; i < WORDS; i++) rows.place[(size_t)i * rows.nplace + (k - rows.place0)] = w[i];
  }
  HOPS_LANES void Load(const HopsLORRows &rows, int k)
  {
    HOPS_LOR_UNROLL
    for (int i = 0; i < WORDS; i++) w[i] = rows.place[(size_t)i * rows.nplace + (k - rows.place0)];
  }
};
