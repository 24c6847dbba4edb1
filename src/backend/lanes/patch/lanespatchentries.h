/* Local solves of patches on back ends that launch kernels for teams of lanes: arguments of the kernels, and
   how patches read and add to vectors. */
#pragma once
#include <backend/lanes/runtime/lanes.h>
#include <backend/lanes/operator/lanesargs.h>
#include "lanespatch.h"

/* V: entries of the vectors; marked: with HOPS_LANES_MEET those of idx that others add to meanwhile, and no
   others */
template <class V> struct HopsPatchSolveArgs {
  const HopsLanesPatchRecord *__restrict__ patches;
  const int *__restrict__ idx, *__restrict__ level;
  const unsigned char *__restrict__ dist;
  const void *__restrict__ values;
  const double *__restrict__ inv, *__restrict__ packed;
  const V *__restrict__ r;
  V   *z;
  int  n, none, mode; /* none: the entry that stands for nothing */
  bool atomic, marked;

  /* without the mark */
  HOPS_LANES int Index(int i) const
  {
    return HopsLanesOf(2) == 1 && marked ? i & ~HOPS_LANES_MEET : i;
  }
};

/* Entry e of the patches, which is unknown i */
template <class T, class V> HOPS_LANES T HopsPatchLoad(const HopsPatchSolveArgs<V> &a, int e, int i)
{
  return i == a.none || (a.mode == HOPS_PATCH_RESTRICT_IN && a.level[i] != a.dist[e]) ? (T)0 : (T)a.r[i];
}

template <class Team, class T, class V> HOPS_LANES void HopsPatchAdd(const HopsPatchSolveArgs<V> &a, int e, int i, T v, bool meets)
{
  if (i == a.none || (a.mode == HOPS_PATCH_RESTRICT_OUT && a.level[i] != a.dist[e])) return;
  if (meets) Team::Add(a.z + i, (V)v);
  else a.z[i] += (V)v;
}

template <class Team, class T, class V> HOPS_LANES void HopsPatchAdd(const HopsPatchSolveArgs<V> &a, int e, int i, T v)
{
  HopsPatchAdd<Team>(a, e, i, v, a.atomic);
}

template <class T, class V> HOPS_LANES T HopsPatchLoad(const HopsPatchSolveArgs<V> &a, int e)
{
  return HopsPatchLoad<T>(a, e, a.Index(a.idx[e]));
}

template <class Team, class T, class V> HOPS_LANES void HopsPatchAdd(const HopsPatchSolveArgs<V> &a, int e, T v)
{
  const int k = a.idx[e], i = a.Index(k);

  HopsPatchAdd<Team>(a, e, i, v, HopsLanesOf(2) == 1 ? a.atomic && (!a.marked || i != k) : a.atomic);
}
