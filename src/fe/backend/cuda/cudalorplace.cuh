/* Blocks of rows in H1, in which a thread works on one cell of a row, and places: where what a cell adds goes in the row, six bits for each neighbour. */
#pragma once
#include "cudalorrow.cuh"

#define HOPS_PLACE_BITS  6
#define HOPS_PLACE_WORD  10                /* places of a word */
#define HOPS_PLACE_NONE  HOPS_CUDA_LOR_MAX /* all bits: no such neighbour, or a constrained one */
#define HOPS_LOR_THREADS 128

/* Rows of a block: as many as have a cell for each thread on average, or few less, since what is too much takes another round */
static int RowsOfBlock(const HopsLORRows *rows)
{
  return (int)PetscMax(1, PetscMin(HOPS_LOR_THREADS, 0.94 * HOPS_LOR_THREADS * (double)rows->n / PetscMax(rows->nplace, 1)));
}

/* Of the entries k0, k0 + 1, ... of a block's rows, as many as there are threads: whose row each is. begin, end: those of this thread's row */
__device__ __forceinline__ static void FindRows(int begin, int end, int k0, int row[])
{
  for (int k = max(begin, k0); k < min(end, k0 + HOPS_LOR_THREADS); k++) row[k - k0] = threadIdx.x;
}

__device__ __forceinline__ static int PlaceOf(const unsigned long long word[], int s)
{
  return (int)(word[s / HOPS_PLACE_WORD] >> (HOPS_PLACE_BITS * (s % HOPS_PLACE_WORD))) & HOPS_PLACE_NONE;
}

/* The places of a cell; all bits of a place that is set are set before */
template <int DIM, bool MIXED>
struct PlaceWords {
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
    for (int i = 0; i < N; i++) w[i] ^= s / HOPS_PLACE_WORD == i ? (unsigned long long)(p ^ HOPS_PLACE_NONE) << (HOPS_PLACE_BITS * (s % HOPS_PLACE_WORD)) : 0;
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
