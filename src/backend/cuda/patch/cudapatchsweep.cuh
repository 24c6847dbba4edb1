/* What the kernels of fused sweeps share */
#pragma once
#include "cudapatchpc.h"

template <class V> struct HopsSweepArgs {
  const HopsCudaPatchRecord *__restrict__ patches;
  const HopsCudaSweepRecord *__restrict__ sweep;
  const int *__restrict__ idx, *__restrict__ eidx;
  const void *__restrict__ values;
  const double *__restrict__ packed;
  const V *__restrict__ b;
  V     *z; /* read too: values of other patches' unknowns, which no patch of this launch writes */
  void  *work;
  size_t nwork;
  int    n, none;
};

template <class T, class V> __device__ __forceinline__ T HopsSweepAt(const HopsSweepArgs<V> &a, const V *x, int i)
{
  return i == a.none ? (T)0 : (T)x[i];
}
