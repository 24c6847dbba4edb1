/* Local solves of patches on back ends that launch kernels for teams of lanes: arguments of the kernels, and
   how patches read and add to vectors. */
#pragma once
#include <backend/lanes/runtime/lanes.h>
#include <backend/lanes/operator/lanesargs.h>
#include "lanespatch.h"

/* V: entries of the vectors; to: where entries are added, on a host (lanespatchset.h), or NULL: to z, perhaps
   atomically; meets: with `to`, patches that do not add to z alone */
template <class V> struct HopsPatchSolveArgs {
  const HopsLanesPatchRecord *__restrict__ patches;
  const int *__restrict__ idx, *__restrict__ level, *__restrict__ to;
  const unsigned char *__restrict__ dist, *__restrict__ meets;
  const void *__restrict__ values;
  const double *__restrict__ inv, *__restrict__ packed;
  const V *__restrict__ r;
  V   *z, *buffer;
  int  n, none, mode; /* none: the entry that stands for nothing */
  bool atomic;
};

/* Entry e of the patches, which is unknown i */
template <class T, class V> HOPS_LANES T HopsPatchLoad(const HopsPatchSolveArgs<V> &a, int e, int i)
{
  return i == a.none || (a.mode == HOPS_PATCH_RESTRICT_IN && a.level[i] != a.dist[e]) ? (T)0 : (T)a.r[i];
}

/* By a thread that alone adds to where `to` says */
template <class V> HOPS_LANES void HopsPatchAddOwn(V *z, V *buffer, int to, V v)
{
  (to < 0 ? buffer : z)[to ^ (to >> 31)] += v;
}

template <class Team, class T, class V> HOPS_LANES void HopsPatchAdd(const HopsPatchSolveArgs<V> &a, int e, int i, T v)
{
  if (i == a.none || (a.mode == HOPS_PATCH_RESTRICT_OUT && a.level[i] != a.dist[e])) return;
  if (HopsLanesOf(2) == 1 && a.to) HopsPatchAddOwn(a.z, a.buffer, a.to[e], (V)v);
  else if (a.atomic) Team::Add(a.z + i, (V)v);
  else a.z[i] += (V)v;
}

template <class T, class V> HOPS_LANES T HopsPatchLoad(const HopsPatchSolveArgs<V> &a, int e)
{
  return HopsPatchLoad<T>(a, e, a.idx[e]);
}

template <class Team, class T, class V> HOPS_LANES void HopsPatchAdd(const HopsPatchSolveArgs<V> &a, int e, T v)
{
  HopsPatchAdd<Team>(a, e, a.idx[e], v);
}
