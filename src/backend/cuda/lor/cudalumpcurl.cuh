/*
  Low-order-refined matrices of H(curl) in 3D: rows by a stencil, since all edges of a lattice along a
  direction have the same neighbours, as far as these lie in the cell. A thread works on one cell of a row. As
  in H1 (cudalorvalues.cu), where the contributions of a cell go in a row is kept: seven bits for each
  neighbour, its sign among them. Rows with more columns than Stencil::MAX take the tables of cudalumprows.cu.
*/
#pragma once
#include <backend/cuda/runtime/cudateam.cuh>
#include <backend/lanes/lor/laneslorrow.h>
#include "cudalump.h"

#define HOPS_CURL_NONE    63 /* place of a neighbour that is not there, or is constrained: all bits */
#define HOPS_CURL_BITS    7
#define HOPS_CURL_WORD    9   /* places of a word */
#define HOPS_CURL_THREADS 128 /* rows of a block, at most */
#define HOPS_CURL_ENTRIES 120 /* cells of its rows, or few more */

/* ---- The stencil ---- */

/*
  Directions a (the row's edge), b and c follow one another cyclically; edge (i, j, k) goes from node (i, j,
  k) to (i + 1, j, k). Neighbours by direction and shift of their indices, those of a straight cell first:
    0 itself; 1-4 A(+,0) A(-,0) A(0,+) A(0,-), parallel ones at (j, k) + these; 13-16 A(+,+) A(+,-) A(-,+)
    A(-,-); 5-8 B(I,h,0), along b at node i + I, behind (h = 0) or before (1) the row's edge, I varies
    slowest; 17-24 B(I,h,K), K = +1, -1; 9-12 C(I,0,h), along c; 25-32 C(I,J,h), J = +1, -1.
*/
struct Neighbour {
  int dir, i, j, k;
};

__host__ __device__ constexpr static Neighbour NeighbourOf(int s)
{
  return s == 0   ? Neighbour{0, 0, 0, 0}
         : s < 3  ? Neighbour{0, 0, s == 1 ? 1 : -1, 0}
         : s < 5  ? Neighbour{0, 0, 0, s == 3 ? 1 : -1}
         : s < 9  ? Neighbour{1, (s - 5) >> 1, -((s - 5) & 1), 0}
         : s < 13 ? Neighbour{2, (s - 9) >> 1, 0, -((s - 9) & 1)}
         : s < 17 ? Neighbour{0, 0, (s - 13) >> 1 ? -1 : 1, (s - 13) & 1 ? -1 : 1}
         : s < 25 ? Neighbour{1, (s - 17) >> 2, -((s - 17) >> 1 & 1), (s - 17) & 1 ? -1 : 1}
                  : Neighbour{2, (s - 25) >> 2, (s - 25) >> 1 & 1 ? -1 : 1, -((s - 25) & 1)};
}

/* COUPLED: does some cell couple directions? */
template <bool COUPLED> struct Stencil {
  enum {
    N     = COUPLED ? 33 : 13,
    WORDS = (N + HOPS_CURL_WORD - 1) / HOPS_CURL_WORD,
    MAX   = HOPS_CUDA_CURL_MAX(COUPLED), /* columns of a row */
    SLOTS = MAX + 1,                     /* of its hash table, */
    BITS  = COUPLED ? 6 : 5,             /* 1 << BITS */
    ROOM  = COUPLED ? 36 : 14            /* columns of a row on the average of a block, for which there is shared memory */
  };
};

/* An edge in its cell */
struct Edge {
  int  P, a, b, c, x[3], i, j, k; /* P nodes a direction; place along x, y, z, and along a, b, c */
  bool jm, jp, km, kp;            /* is there more of the cell behind and before it, along b and c? */
  bool on_ab, on_bc, on_ac;       /* coupled pairs */

  __host__ __device__ __forceinline__ Edge(int P_, int place, int mask)
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
  __host__ __device__ __forceinline__ int Stride(int d, int f, int open) const
  {
    const int n0 = P - ((d == 0) == (open != 0)), n1 = P - ((d == 1) == (open != 0));

    return f == 0 ? 1 : (f == 1 ? n0 : n0 * n1);
  }
  __host__ __device__ __forceinline__ int Index(int d, int open) const
  {
    const int n0 = P - ((d == 0) == (open != 0)), n1 = P - ((d == 1) == (open != 0));

    return x[0] + n0 * (x[1] + n1 * x[2]);
  }
};

/* Is neighbour s in the cell, and does its entry belong to the pattern? */
__host__ __device__ __forceinline__ static bool Exists(const HopsCudaLumpMesh &m, const Edge &e, int s)
{
  const Neighbour n  = NeighbourOf(s);
  bool            ok = true;

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
template <int N> __host__ __device__ __forceinline__ static void Entries(const HopsCudaLumpMesh &m, const Edge &e, int entry[])
{
  const int d[3] = {e.a, e.b, e.c}, size = (e.P - 1) * e.P * e.P;
  int       base[3], st[3][3];

#pragma unroll
  for (int f = 0; f < 3; f++) {
    base[f] = d[f] * size + e.Index(d[f], 1);
#pragma unroll
    for (int g = 0; g < 3; g++) st[f][g] = e.Stride(d[f], d[g], 1);
  }
#pragma unroll
  for (int s = 0; s < N; s++) {
    const Neighbour n = NeighbourOf(s);

    entry[s] = Exists(m, e, s) ? base[n.dir] + n.i * st[n.dir][0] + n.j * st[n.dir][1] + n.k * st[n.dir][2] : -1;
  }
}

/* ---- Blocks of rows, and the cells of these ---- */

/* e / ne, exact for e < 2^31 */
__device__ __forceinline__ static int CellOf(const HopsCudaLumpMesh &m, int e)
{
  return __double2int_rd((e + 0.5) * m.perentry);
}

/* Where the blocks of rows start, behind the places */
template <bool COUPLED> __host__ __device__ __forceinline__ static int *Starts(const HopsLORRows &rows)
{
  return (int *)(rows.place + (size_t)rows.nplace * Stencil<COUPLED>::WORDS);
}

/* Rows of a block: n from r0 on, with the entries k0..k1-1; b0, b1: those of this thread's row */
struct Block {
  int r0, n, k0, k1, b0, b1;

  __device__ __forceinline__ Block(const HopsCudaLumpMesh &m, const HopsLORRows &rows, const int start[])
  {
    r0 = start[blockIdx.x];
    n  = start[blockIdx.x + 1] - r0;

    const int *begin = m.begin + rows.first + r0;

    k0 = begin[0];
    k1 = begin[n];
    b0 = (int)threadIdx.x < n ? begin[threadIdx.x] : 0;
    b1 = (int)threadIdx.x < n ? begin[threadIdx.x + 1] : 0;
  }
  /* of the entries k, k + 1, ..., as many as there are threads: whose row each is */
  __device__ __forceinline__ void FindRows(int k, int row[]) const
  {
    for (int i = max(b0, k); i < min(b1, k + HOPS_CURL_THREADS); i++) row[i - k] = threadIdx.x;
  }
};

/* ---- Places ---- */

typedef unsigned long long Word;

template <bool COUPLED> struct PlaceWords {
  enum {
    WORDS = Stencil<COUPLED>::WORDS
  };
  Word w[WORDS];

  __device__ __forceinline__ void Clear()
  {
#pragma unroll
    for (int i = 0; i < WORDS; i++) w[i] = ~(Word)0;
  }
  /* where nothing was set. negative: the cell sees one of the row's and the neighbour's unknowns with the
     opposite sign */
  __device__ __forceinline__ void Set(int s, int p, bool negative)
  {
    w[s / HOPS_CURL_WORD] ^= (Word)((p | (int)negative << 6) ^ 127) << (HOPS_CURL_BITS * (s % HOPS_CURL_WORD));
  }
  __device__ __forceinline__ int Get(int s) const
  {
    return (int)(w[s / HOPS_CURL_WORD] >> (HOPS_CURL_BITS * (s % HOPS_CURL_WORD))) & HOPS_CURL_NONE;
  }
  /* and x with the sign */
  __device__ __forceinline__ int Get(int s, double *x) const
  {
    const int p = (int)(w[s / HOPS_CURL_WORD] >> (HOPS_CURL_BITS * (s % HOPS_CURL_WORD)));

    *x = __hiloint2double(__double2hiint(*x) ^ (p << 25 & 0x80000000), __double2loint(*x));
    return p & HOPS_CURL_NONE;
  }
  __device__ __forceinline__ void Store(const HopsLORRows &rows, int k) const
  {
#pragma unroll
    for (int i = 0; i < WORDS; i++) rows.place[(size_t)i * rows.nplace + (k - rows.place0)] = w[i];
  }
  __device__ __forceinline__ void Load(const HopsLORRows &rows, int k)
  {
#pragma unroll
    for (int i = 0; i < WORDS; i++) w[i] = rows.place[(size_t)i * rows.nplace + (k - rows.place0)];
  }
};
