/* Rows while their pattern is found, and while they take values. */
#pragma once
#include "cudalor.h"

__device__ static void Sort(int n, int *x)
{
  for (int i = 1; i < n; i++) {
    const int v = x[i];
    int       k = i;

    for (; k > 0 && x[k - 1] > v; k--) x[k] = x[k - 1];
    x[k] = v;
  }
}

/* the L index that an entry of restr stands for */
__device__ __forceinline__ static int Unsigned(int l)
{
  return l < 0 ? -1 - l : l;
}

/* A row's columns while it is built */
template <int MAX>
struct ColumnList {
  int n, nfree;
  int col[MAX];

  __device__ void Add(int c)
  {
    for (int k = 0; k < n && k < MAX; k++)
      if (col[k] == c) return;
    if (n < MAX) col[n] = c;
    n++; /* beyond the room: found by the caller */
  }
  __device__ void AddFree(int c)
  {
    if (c < nfree) Add(c);
  }
};

/*
  A row that takes contributions: block 0 in J, V (shared or global memory), block 1 in global memory. Columns mostly come as the row
  lists them. `direct`: the row has one cell and all its neighbours there, so that they come so for certain.
*/
struct Row {
  const int *J, *J1, *map;
  double    *V, *V1;
  int        next, lo, hi, lo1, hi1, split;
  bool       direct;

  __device__ void Add(int c, double v)
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
