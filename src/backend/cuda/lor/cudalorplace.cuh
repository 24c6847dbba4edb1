/* Blocks of rows in H1, in which a thread works on one cell of a row, and places: where what a cell adds goes
   in the row, six bits for each neighbour. */
#pragma once
#include <backend/cuda/runtime/cudateam.cuh>
#include <backend/lanes/lor/laneslorrow.h>
#include "cudalor.h"

#define HOPS_PLACE_BITS  6
#define HOPS_PLACE_WORD  10                 /* places of a word */
#define HOPS_PLACE_NONE  HOPS_LANES_LOR_MAX /* all bits: no such neighbour, or a constrained one */
#define HOPS_LOR_THREADS 128

/* Rows of a block: as many as have a cell for each thread on average, or few less, since what is too much
   takes another round */
static int RowsOfBlock(const HopsLORRows *rows)
{
  return (int)PetscMax(1, PetscMin(HOPS_LOR_THREADS, 0.94 * HOPS_LOR_THREADS * (double)rows->n / PetscMax(rows->nplace, 1)));
}

/* Of the entries k0, k0 + 1, ... of a block's rows, as many as there are threads: whose row each is. begin,
   end: those of this thread's row */
__device__ __forceinline__ static void FindRows(int begin, int end, int k0, int row[])
{
  for (int k = max(begin, k0); k < min(end, k0 + HOPS_LOR_THREADS); k++) row[k - k0] = threadIdx.x;
}

__device__ __forceinline__ static int PlaceOf(const unsigned long long word[], int s)
{
  return (int)(word[s / HOPS_PLACE_WORD] >> (HOPS_PLACE_BITS * (s % HOPS_PLACE_WORD))) & HOPS_PLACE_NONE;
}

/* The places of a cell; all bits of a place that is set are set before */
template <int DIM, bool MIXED> struct PlaceWords {
  enum {
    N = (Star<DIM, MIXED>::N + HOPS_PLACE_WORD - 1) / HOPS_PLACE_WORD
  };
  unsigned long long w[N];

  __device__ __forceinline__ void Clear()
  {
#pragma unroll
    for (int i = 0; i < N; i++) w[i] = ~0ull;
  }
  __device__ __forceinline__ void Set(int s, int p)
  {
#pragma unroll
    for (int i = 0; i < N; i++)
      w[i] ^= s / HOPS_PLACE_WORD == i ? (unsigned long long)(p ^ HOPS_PLACE_NONE) << (HOPS_PLACE_BITS * (s % HOPS_PLACE_WORD)) : 0;
  }
  __device__ __forceinline__ int Get(int s) const
  {
    return PlaceOf(w, s);
  }
  __device__ __forceinline__ void Store(const HopsLORRows &rows, int k) const
  {
#pragma unroll
    for (int i = 0; i < N; i++) rows.place[(size_t)i * rows.nplace + (k - rows.place0)] = w[i];
  }
  __device__ __forceinline__ void Load(const HopsLORRows &rows, int k)
  {
#pragma unroll
    for (int i = 0; i < N; i++) w[i] = __ldg(rows.place + (size_t)i * rows.nplace + (k - rows.place0));
  }
};

/* ---- Neighbours ---- */

/* Steps of neighbour s along direction a, see Star */
template <int DIM> __host__ __device__ constexpr static int Step(int s, int a)
{
  const int pair = (s - 1 - 2 * DIM) >> 2, first = pair < 2 ? 0 : 1, second = pair == 0 ? 1 : 2, turn = (s - 1 - 2 * DIM) & 3;

  return s == 0 ? 0
                : (s < 1 + 2 * DIM ? ((s - 1) >> 1 != a ? 0 : (s & 1 ? 1 : -1))
                                   : (a == first ? (turn < 2 ? 1 : -1) : (a == second ? (turn & 1 ? -1 : 1) : 0)));
}

/* Those of the N neighbours, as bits, that lie so many steps along direction a */
template <int DIM> __host__ __device__ constexpr static unsigned int Along(int N, int a, int step)
{
  unsigned int bits = 0;

  for (int s = 1; s < N; s++)
    if (Step<DIM>(s, a) == step) bits |= 1u << s;
  return bits;
}

/* The same for all directions, as constants: left to the compiler, the loops over the neighbours run on the
   device, in hundreds of instructions */
#define HOPS_ALONG(name, DIM, N, step) \
  constexpr unsigned int name[3] = {Along<DIM>(N, 0, step), Along<DIM>(N, 1, step), DIM == 3 ? Along<DIM>(N, 2, step) : 0}

template <int DIM> __device__ __forceinline__ static int Offset(int P, int s)
{
  return Step<DIM>(s, 0) + P * (Step<DIM>(s, 1) + (DIM == 3 ? P * Step<DIM>(s, 2) : 0));
}

/* The neighbours that node `at` has in cell c, as bits */
template <int DIM, bool MIXED> __device__ __forceinline__ static unsigned int There(const HopsLanesLORMesh &m, int c, int at)
{
  constexpr int          N    = Star<DIM, MIXED>::N;
  constexpr unsigned int axes = (1u << (1 + 2 * DIM)) - 2, all = (1u << N) - 2;
  unsigned int           there = all;

  HOPS_ALONG(back, DIM, N, -1);
  HOPS_ALONG(ahead, DIM, N, 1);
  if (MIXED) { /* three bits or one, each four times */
    const unsigned int pairs = m.mask[c];

    there = axes | (pairs & 1 ? 15u << (1 + 2 * DIM) : 0);
    if (DIM == 3) there |= (pairs & 2 ? 15u << 11 : 0) | (pairs & 4 ? 15u << 15 : 0);
  }
#pragma unroll
  for (int a = 0; a < DIM; a++) {
    const int i = at >> 8 * a & 255;

    if (i == 0) there &= ~back[a];
    if (i == m.P - 1) there &= ~ahead[a];
  }
  return there;
}

/* Bits of a cell that say what cells before it have too: faces 2 * axis + side; edges 4 * pair of axes +
   sides; whether some node is constrained; couplings along the diagonals of faces */
#define HOPS_ONCE_EDGES       6
#define HOPS_ONCE_CONSTRAINED 18
#define HOPS_ONCE_DIAGONALS   19

/* Neighbours of node `at` that cells before this one have too, by the cell's bits */
template <int DIM, bool MIXED> __device__ __forceinline__ static unsigned int Shared(unsigned int own, int at, int last)
{
  constexpr int          N    = Star<DIM, MIXED>::N;
  constexpr unsigned int axes = (1u << (1 + 2 * DIM)) - 2;
  unsigned int           out  = 0;
  int                    side[DIM];

  HOPS_ALONG(level, DIM, N, 0);

#pragma unroll
  for (int a = 0; a < DIM; a++) {
    const int i = at >> 8 * a & 255;

    side[a] = i == 0 ? 0 : (i == last ? 1 : -1);
    if (side[a] < 0) continue;
    if (own >> (2 * a + side[a]) & 1) out |= level[a] & axes;
    if (MIXED && own >> (HOPS_ONCE_DIAGONALS + 2 * a + side[a]) & 1) out |= level[a] & ~axes;
  }
  if (DIM == 3) {
#pragma unroll
    for (int a = 0, pair = 0; a < 2; a++)
#pragma unroll
      for (int b = a + 1; b < DIM; b++, pair++)
        if (side[a] >= 0 && side[b] >= 0 && own >> (HOPS_ONCE_EDGES + 4 * pair + side[a] + 2 * side[b]) & 1)
          out |= level[a] & level[b] & axes;
  }
  return out;
}
