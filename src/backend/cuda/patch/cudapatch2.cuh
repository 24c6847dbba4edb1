/* The same as cudapatch3.cuh in 2D: n threads work on a patch, each on a column or row of it; a block on NB
   neighbours in x. */
#pragma once
#include "cudapatchtable.cuh"

template <int P, class T, int NB> struct HopsPatchSizes2 {
  static constexpr int    n = 2 * P - 1, N = n + 2, B = 128 / sizeof(T); /* banks */
  static constexpr int    patch   = n * n + ((n - n * n) % B + B) % B;   /* columns of neighbours without bank conflicts */
  static constexpr int    threads = NB * n;
  static constexpr size_t shared  = sizeof(T) * NB * (patch + 4 * n);
};

template <int P, class T, int NB>
__global__ void __launch_bounds__(NB *(2 * P - 1))
  HopsPatchModal2(const __grid_constant__ HopsPatchTable<P, T> tab, const __grid_constant__ HopsPatchBox<T> a)
{
  using L             = HopsPatchSizes2<P, T, NB>;
  constexpr int     n = L::n, N = L::N;
  extern __shared__ __align__(16) unsigned char raw[];
  T *const square = (T *)raw, *const H = square + NB * L::patch;
  const int       sub = threadIdx.x / n, X = threadIdx.x - sub * n, first = blockIdx.x * NB, last = a.nx - 1 - first;
  const long long row = (long long)(2 * blockIdx.y + a.c[1]) * P * a.sy + (long long)(2 * first + a.c[0]) * P;
  const long long off = row + min(sub, last) * 2 * P;
  T               v[n], ys, yd;

  { /* y: thread X */
    const T *b = a.b + off + (X + 1) + a.sy, *f = a.x + off + X + 1;

#pragma unroll
    for (int j = 0; j < n; j++) v[j] = __ldg(b + (long long)j * a.sy);
    ys = f[0] + f[2LL * P * a.sy];
    yd = f[0] - f[2LL * P * a.sy];
  }
  HopsPatchDual<P, T>(tab, v);
#pragma unroll
  for (int j = 0; j < n; j++) square[sub * L::patch + X + n * j] = v[j];
    /* H[face direction][sum, difference][patch][mode] */
#pragma unroll
  for (int i0 = 0; i0 < 4 * NB; i0 += L::threads) {
    const int       it = i0 + threadIdx.x, s = it % NB, dp = it / NB;
    const T        *f = a.x + row + min(s, last) * 2 * P, sg = dp & 1 ? (T)-1 : (T)1;
    const long long stride = dp < 2 ? a.sy : 1, other = dp < 2 ? 2 * P : 2LL * P * a.sy;
    T               w[N], h[n];

    if (it >= 4 * NB) break;
#pragma unroll
    for (int i = 0; i < N; i++) w[i] = f[i * stride] + sg * f[i * stride + other];
    HopsPatchModes<P, T>(tab, w, h);
#pragma unroll
    for (int m = 0; m < n; m++) H[it * n + m] = h[m];
  }
  __syncthreads();
  { /* x, and back: thread j */
    const int j  = X;
    const T   gs = H[sub * n + j], gd = H[(NB + sub) * n + j], cj = __ldg(a.cyz + j), *gy = H + ((2 + (j >= P)) * NB + sub) * n;
    T        *r = square + sub * L::patch + n * j;

#pragma unroll
    for (int i = 0; i < n; i++) v[i] = r[i];
    HopsPatchDual<P, T>(tab, v);
#pragma unroll
    for (int i = 0; i < n; i++) v[i] = (v[i] - tab.c[i] * (i < P ? gs : gd) - cj * gy[i]) * __ldg(a.Dinv + i * n + j);
    HopsPatchValues<P, T>(tab, gs, gd, v);
#pragma unroll
    for (int i = 0; i < n; i++) r[i] = v[i];
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < n; j++) v[j] = square[sub * L::patch + X + n * j];
  HopsPatchValues<P, T>(tab, ys, yd, v);
  if (sub <= last) {
    T *out = a.x + off + (X + 1) + a.sy;

#pragma unroll
    for (int j = 0; j < n; j++) out[(long long)j * a.sy] = v[j];
  }
}
