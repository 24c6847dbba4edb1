/*
  Transposed lists: the entries e of key[] that name each number l < nkeys, as l or as -1 - l, in ascending
  order. Back is a back end's class: see lanes.h.
*/
#pragma once
#include <limits.h>
#include <hops/private/hopsbackendimpl.h>
#include "lanes.h"

HOPS_LANES_CALLED void HopsSortInts(int n, int *x)
{
  for (int i = 1; i < n; i++) {
    const int v = x[i];
    int       k = i;

    for (; k > 0 && x[k - 1] > v; k--) x[k] = x[k - 1];
    x[k] = v;
  }
}

/* the L index that an entry of restr stands for */
HOPS_LANES int HopsLanesUnsigned(int l)
{
  return l < 0 ? -1 - l : l;
}

/* rank: how many of the unknown's entries came before, in any order */
template <class Team> struct HopsListCount {
  const int *key;
  int        nkeys, *count, *rank;

  HOPS_LANES void operator()(size_t e) const
  {
    const int l = HopsLanesUnsigned(key[e]);

    if (l < nkeys) rank[e] = Team::Take(count + l, 1);
  }
};

struct HopsListPlace {
  const int *key;
  int        nkeys;
  const int *begin, *rank;
  int       *entry;

  HOPS_LANES void operator()(size_t e) const
  {
    const int l = HopsLanesUnsigned(key[e]);

    if (l < nkeys) entry[begin[l] + rank[e]] = (int)e;
  }
};

#define HOPS_LIST 8 /* entries of a list that is sorted in registers */

/* The lists were filled in any order */
struct HopsListSort {
  const int *begin;
  int       *entry;

  HOPS_LANES void operator()(size_t i) const
  {
    const int lo = begin[i], n = begin[i + 1] - lo;
    int      *x = entry + lo, v[HOPS_LIST];

    if (n < 2) return;
    if (HopsLanesOf(2) == 1 || n > HOPS_LIST) {
      HopsSortInts(n, x);
      return;
    }
#pragma unroll
    for (int k = 0; k < HOPS_LIST; k++) v[k] = k < n ? x[k] : INT_MAX;
#pragma unroll
    for (int k = 1; k < HOPS_LIST; k++) {
      if (k >= n) break;
#pragma unroll
      for (int h = k; h > 0; h--) {
        const int a = v[h - 1], b = v[h];

        v[h - 1] = HopsMin(a, b);
        v[h]     = HopsMax(a, b);
      }
    }
#pragma unroll
    for (int k = 0; k < HOPS_LIST; k++)
      if (k < n) x[k] = v[k];
  }
};

template <class Back> struct HopsLanesLists {
  /* Those of l are entry[begin[l]] .. entry[begin[l + 1] - 1] */
  static PetscErrorCode Transpose(size_t n, const int key[], int nkeys, int begin[], int entry[])
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;
    int                 *rank;

    PetscFunctionBegin;
    PetscCall(Back::Set(begin, 0, (nkeys + 1) * sizeof(int)));
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall((*memory->PoolMalloc)(n * sizeof(int), (void **)&rank));
    PetscCall(Back::Each("HopsListCount", n, HopsListCount<typename Back::Team>{key, nkeys, begin, rank}));
    PetscCall(Back::Scan(nkeys, begin));
    PetscCall(Back::Each("HopsListPlace", n, HopsListPlace{key, nkeys, begin, rank, entry}));
    PetscCall(Back::Each("HopsListSort", nkeys, HopsListSort{begin, entry}));
    PetscCall((*memory->PoolFree)((void **)&rank));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
