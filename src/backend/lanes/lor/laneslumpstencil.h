/*
  Low-order-refined matrices of H(curl) and H(div) in 3D: what stencils share. All edges of a lattice along a
  direction have the same neighbours, and so have all faces across one. For each of them is kept where in a
  row goes what a cell adds, and with which sign.
*/
#pragma once
#include "laneslorrow.h"
#include "laneslump.h"

/* ---- Where an entity lies ---- */

/* An edge in its cell, along a, or a face across a; directions a, b and c follow one another cyclically */
struct HopsLumpPlace {
  int  P, a, b, c, x[3], i, j, k; /* P nodes a direction; place along x, y, z, and along a, b, c */
  bool im, ip, jm, jp, km, kp;    /* is there more of the cell behind and before it, along a, b and c? */
  bool on_ab, on_bc, on_ac;       /* coupled pairs */

  HOPS_LANES HopsLumpPlace(int P_, int place, int mask)
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
    im    = i > 0;
    ip    = i < P - 1;
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

/* ---- Places ---- */

/* x, with the opposite sign where bit 31 of `flip` is set */
HOPS_LANES double HopsLumpFlip(double x, int flip)
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

/* Places of N neighbours, of so many bits, the sign's among them */
template <int N, int BITS> struct HopsLumpWords {
  enum {
    PLACES = N,
    EACH   = 64 / BITS, /* places of a word */
    WORDS  = (N + EACH - 1) / EACH,
    NONE   = (1 << (BITS - 1)) - 1 /* of a neighbour that is not there, or is constrained */
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
    w[s / EACH] ^= (unsigned long long)((p | (int)negative << (BITS - 1)) ^ ((1 << BITS) - 1)) << (BITS * (s % EACH));
  }
  HOPS_LANES int Get(int s) const
  {
    return (int)(w[s / EACH] >> (BITS * (s % EACH))) & NONE;
  }
  /* and x with the sign */
  HOPS_LANES int Get(int s, double *x) const
  {
    const int p = (int)(w[s / EACH] >> (BITS * (s % EACH)));

    *x = HopsLumpFlip(*x, (int)((unsigned int)p << (32 - BITS)));
    return p & NONE;
  }
  /* p becomes rank[p], NONE itself; signs stay */
  HOPS_LANES void Move(const unsigned char rank[])
  {
    unsigned long long moved[WORDS] = {};

    HOPS_LOR_UNROLL
    for (int s = 0; s < N; s++) {
      const int shift = BITS * (s % EACH);

      moved[s / EACH] |= ((unsigned long long)rank[Get(s)] << shift) | (w[s / EACH] & 1ull << (BITS - 1) << shift);
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

/* Adds to a row with V and V1 where its entries of block 0, n0 of them, and of block 1 lie */
template <int N, int BITS>
HOPS_LANES void HopsLumpAddBlocks(const HopsLumpWords<N, BITS> &word, double x[], double *V, int n0, double *V1)
{
  HOPS_LOR_UNROLL
  for (int i = 0; i < N; i++) {
    const int p = word.Get(i, &x[i]);

    if (p == HopsLumpWords<N, BITS>::NONE) continue;
    if (p < n0) V[p] += x[i];
    else V1[p - n0] += x[i];
  }
}

/* Columns of the neighbours 1, 2, ... of a cell's entry i: col[] has entries, or -1, and becomes L indices,
   m.nfree where there is none. Bits of those that the cell sees with another sign */
template <int N> HOPS_LANES unsigned int HopsLumpColumns(const HopsLumpMesh &m, int c, int i, int col[])
{
  const int   *C        = m.restr + (size_t)c * m.ne;
  const bool   turned   = C[i] < 0;
  unsigned int negative = 0;

  HOPS_LOR_UNROLL
  for (int s = 0; s < N; s++) col[s] = col[s] >= 0 ? C[col[s]] : m.nfree;
  HOPS_LOR_UNROLL
  for (int s = 1; s < N; s++) {
    if ((col[s] < 0) != turned) negative |= 1u << (s - 1);
    col[s] = HopsLanesUnsigned(col[s]);
  }
  return negative;
}
