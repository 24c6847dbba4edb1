/*
  The sweep of cudapatch3.cuh for patches given by lists of unknowns, where the patches of a launch have one
  factor in all directions and the same coefficients: what is read and written goes through indices. A block
  takes GROUPS patches, each of which is a row of its own.
*/
#pragma once
#include "cudapatchcube.cuh"

/* V: of the vectors */
template <class T, class V> struct HopsPatchListArgs {
  const int *__restrict__ start, *__restrict__ estart, *__restrict__ idx, *__restrict__ eidx;
  int stride, estride, n, none;
  const T *__restrict__ Dinv, *__restrict__ cyz;
  const V *__restrict__ b;
  V *x;
};

template <class T, class V> __device__ __forceinline__ T HopsPatchAt(const V *x, int i, int none)
{
  return i == none ? (T)0 : (T)x[i];
}

template <class L, class T, class V, int GROUPS, int MB>
__global__ void __launch_bounds__(GROUPS *L::threads, MB)
  HopsPatchList3(const __grid_constant__ HopsPatchTable<L::P, T> tab, const __grid_constant__ HopsPatchListArgs<T, V> a)
{
  constexpr int     P = L::P, n = L::n, N = L::N, n2 = L::n2;
  extern __shared__ __align__(16) unsigned char raw[];
  const int group = threadIdx.x / n2, t = threadIdx.x - group * n2, X = t % n, Y = t / n, q = blockIdx.x * GROUPS + group,
            patch = min(q, a.n - 1);
  const int *id = a.idx + a.start[(long long)patch * a.stride] + t, *eid = a.eidx + a.estart[(long long)patch * a.estride];
  T *const cube = (T *)raw + group * L::size, *const column = cube + X + L::RS * Y;
  T v[n], zs, zd;

  {
    const int e = X + 1 + N * (Y + 1);
    int       at[n];
    const T   z0 = HopsPatchAt<T>(a.x, eid[e], a.none), z1 = HopsPatchAt<T>(a.x, eid[e + N * N * (N - 1)], a.none);

#pragma unroll
    for (int k = 0; k < n; k++) at[k] = __ldg(id + k * n2);
#pragma unroll
    for (int k = 0; k < n; k++) v[k] = HopsPatchAt<T>(a.b, at[k], a.none);
    zs = z0 + z1;
    zd = z0 - z1;
  }
  HopsPatchDual<P, T>(tab, v);
#pragma unroll
  for (int k = 0; k < n; k++) column[L::PS * k] = v[k];
    /* faces, first direction: the lines of both faces across x, of sums and differences of those of y and
       z */
#pragma unroll
  for (int i0 = 0; i0 < L::lines; i0 += n2) {
    const int it = i0 + t, line = it / N, l = it - line * N, dir = line / 2, par = line % 2; /* of y, of z, of x */
    const T   sg    = dir == 2 ? (T)0 : par ? (T)-1 : (T)1;
    const int first = dir < 2 ? l : l * N + par * (N - 1), stride = dir == 1 ? N : N * N,
              other = dir == 0   ? N * (N - 1)
                      : dir == 1 ? N * N * (N - 1)
                                 : 0;
    T *out          = cube + (dir < 2 ? L::Y + line * n * N : L::X + par * n * N) + l, w[N], h[n];

    if (it >= L::lines) break;
#pragma unroll
    for (int i = 0; i < N; i++) w[i] = HopsPatchAt<T>(a.x, __ldg(eid + first + i * stride), a.none);
    if (dir < 2) {
#pragma unroll
      for (int i = 0; i < N; i++) w[i] += sg * HopsPatchAt<T>(a.x, __ldg(eid + first + i * stride + other), a.none);
    }
    HopsPatchModes<P, T>(tab, w, h);
#pragma unroll
    for (int m = 0; m < n; m++) out[m * N] = h[m];
  }
  HopsPatchInside<L, T>(tab, a.Dinv, a.cyz, t, cube);
#pragma unroll
  for (int k = 0; k < n; k++) v[k] = column[L::PS * k];
  HopsPatchValues<P, T>(tab, zs, zd, v);
  if (q < a.n) {
#pragma unroll
    for (int k = 0; k < n; k++) {
      const int to = __ldg(id + k * n2);

      if (to != a.none) a.x[to] = (V)v[k];
    }
  }
}
