/*
  The sweep of cudapatch3.cuh for patches given by lists of unknowns, where the patches of a launch have one factor in all directions and the same coefficients: what
  is read and written goes through indices, and nothing else changes.
*/
#pragma once
#include "cudapatch3.cuh"

/* V: of the vectors */
template <class T, class V>
struct HopsPatchListArgs {
  const int *__restrict__ start, *__restrict__ estart, *__restrict__ idx, *__restrict__ eidx;
  int stride, estride, n, none;
  const T *__restrict__ Dinv, *__restrict__ cyz;
  const V *__restrict__ b;
  V *x;
};

template <class T, class V>
__device__ __forceinline__ T HopsPatchAt(const V *x, int i, int none)
{
  return i == none ? (T)0 : (T)x[i];
}

/* Line l of the faces of a direction among the nodes of the cells, as HopsPatchEnds() */
template <int N>
__device__ __forceinline__ void HopsPatchListEnds(int dir, int l, int &first, int &stride, int &other)
{
  first  = dir ? l : l * N;
  stride = dir == 2 ? N : N * N;
  other  = dir == 0 ? N - 1 : dir == 1 ? N * (N - 1)
                                       : N * N * (N - 1);
}

template <int P, class T, class V, int NB, int MB>
__global__ void __launch_bounds__(NB *(2 * P - 1) * (2 * P - 1), MB) HopsPatchList3(const __grid_constant__ HopsPatchTable<P, T> tab, const __grid_constant__ HopsPatchListArgs<T, V> a)
{
  using L             = HopsPatchSizes3<P, T, NB>;
  constexpr int     n = L::n, N = L::N, n2 = n * n, PS = L::plane;
  extern __shared__ __align__(16) unsigned char raw[];
  const int                                     sub = threadIdx.x / n2, t = threadIdx.x - sub * n2, X = t % n, Y = t / n, q = blockIdx.x * NB + sub, patch = min(q, a.n - 1);
  const int                                    *id = a.idx + a.start[(long long)patch * a.stride] + t, *eid = a.eidx + a.estart[(long long)patch * a.estride];
  T *const cube = (T *)raw + sub * L::patch, *const H = cube + n * PS, *const G = H + L::nH;
  T v[n], zs, zd;

  { /* z: thread (X,Y) */
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
  for (int k = 0; k < n; k++) cube[t + PS * k] = v[k];
    /* faces, first direction: H[face direction][sum, difference][mode][line] */
#pragma unroll
  for (int i0 = 0; i0 < 6 * N; i0 += n2) {
    const int it = i0 + t, par = it >= 3 * N, r = it - par * 3 * N, dir = r / N, l = r - dir * N;
    const T   sg = par ? (T)-1 : (T)1;
    int       first, stride, other;
    T         w[N], h[n];

    if (it >= 6 * N) break;
    HopsPatchListEnds<N>(dir, l, first, stride, other);
#pragma unroll
    for (int i = 0; i < N; i++) w[i] = HopsPatchAt<T>(a.x, __ldg(eid + first + i * stride), a.none) + sg * HopsPatchAt<T>(a.x, __ldg(eid + first + i * stride + other), a.none);
    HopsPatchModes<P, T>(tab, w, h);
#pragma unroll
    for (int m = 0; m < n; m++) H[((dir * 2 + par) * n + m) * N + l] = h[m];
  }
  __syncthreads();
  { /* y: thread (X,k) */
    T *col = cube + X + PS * Y;

#pragma unroll
    for (int j = 0; j < n; j++) v[j] = col[n * j];
    HopsPatchDual<P, T>(tab, v);
#pragma unroll
    for (int j = 0; j < n; j++) col[n * j] = v[j];
  }
  /* faces, second direction */
#pragma unroll
  for (int i0 = 0; i0 < 6 * n; i0 += n2) {
    const int it  = i0 + t;
    T        *col = H + it * N, *out = it < 2 * n || it >= 4 * n ? col : G + (it - 2 * n) * n, w[N], h[n];

    if (it >= 6 * n) break;
#pragma unroll
    for (int i = 0; i < N; i++) w[i] = col[i];
    HopsPatchModes<P, T>(tab, w, h);
#pragma unroll
    for (int m = 0; m < n; m++) out[m] = h[m];
  }
  __syncthreads();
  { /* x, and back: thread (j,k) */
    const int j = X, k = Y;
    const T   gs = H[k * N + j], gd = H[(n + k) * N + j], cj = __ldg(a.cyz + j), ck = __ldg(a.cyz + n + k);
    const T  *gy = G + ((j >= P) * n + k) * n, *gz = H + ((4 + (k >= P)) * n + j) * N;
    T        *col = cube + n * j + PS * k;

#pragma unroll
    for (int i = 0; i < n; i++) v[i] = col[i];
    HopsPatchDual<P, T>(tab, v);
#pragma unroll
    for (int i = 0; i < n; i++) v[i] = (v[i] - tab.c[i] * (i < P ? gs : gd) - cj * gy[i] - ck * gz[i]) * __ldg(a.Dinv + i * n2 + t);
    HopsPatchValues<P, T>(tab, gs, gd, v);
#pragma unroll
    for (int i = 0; i < n; i++) col[i] = v[i];
  }
  __syncthreads();
  { /* y: thread (X,k) */
    T *col = cube + X + PS * Y;

#pragma unroll
    for (int j = 0; j < n; j++) v[j] = col[n * j];
    HopsPatchValues<P, T>(tab, H[(2 * n + Y) * N + X + 1], H[(3 * n + Y) * N + X + 1], v);
#pragma unroll
    for (int j = 0; j < n; j++) col[n * j] = v[j];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < n; k++) v[k] = cube[t + PS * k];
  HopsPatchValues<P, T>(tab, zs, zd, v);
  if (q < a.n) {
#pragma unroll
    for (int k = 0; k < n; k++) {
      const int to = __ldg(id + k * n2);

      if (to != a.none) a.x[to] = (V)v[k];
    }
  }
}
