/*
  Fused smoothing of the vertex patches of one colour on a uniform box in 3D: residual and local solve in one
  launch, from the right-hand side inside a patch and the solution on its surface alone (the local solver
  inverts the rest exactly).

  A block takes NB neighbours in x, which have the faces between them in common, and whose rows it reads and
  writes as one.
*/
#pragma once
#include <cuda_pipeline.h>
#include "cudapatchcube.cuh"

/* AHEAD: b goes to shared memory by itself while the faces are loaded and multiplied */
template <class L, class T, int MB, bool AHEAD>
__global__ void __launch_bounds__(L::threads, MB)
  HopsPatchModal3(const __grid_constant__ HopsPatchTable<L::P, T> tab, const __grid_constant__ HopsPatchBox<T> a)
{
  constexpr int     P = L::P, n = L::n, N = L::N, W = L::W, NT = L::threads, nx = (L::NB + 1) * N;
  extern __shared__ __align__(16) unsigned char raw[];
  /* patches of the block */
  const int t = threadIdx.x, xr = t % L::R, Y = t / L::R, sub = xr / n, first = blockIdx.x * L::NB, last = min(a.nx - first, L::NB);
  const long long off =
    (long long)(2 * first + a.c[0]) * P + (long long)(2 * blockIdx.y + a.c[1]) * P * a.sy + (2 * blockIdx.z + a.c[2]) * P * a.sz;
  /* this thread's column */
  const long long at = off + min(sub, last - 1) * 2 * P + xr - sub * n + 1 + (Y + 1) * a.sy;
  const T *const  x  = a.x + off;
  T *const cube = (T *)raw, *const column = cube + xr + L::RS * Y;
  T v[n], zs, zd;

  if constexpr (AHEAD) {
#pragma unroll
    for (int k = 0; k < n; k++) __pipeline_memcpy_async(column + L::PS * k, a.b + at + (k + 1) * a.sz, sizeof(T));
    __pipeline_commit();
  } else {
#pragma unroll
    for (int k = 0; k < n; k++) v[k] = __ldg(a.b + at + (k + 1) * a.sz);
  }
  {
    const T lower = a.x[at], upper = a.x[at + 2 * P * a.sz];

    zs = lower + upper;
    zd = lower - upper;
  }
  if constexpr (!AHEAD) {
    HopsPatchDual<P, T>(tab, v);
#pragma unroll
    for (int k = 0; k < n; k++) column[L::PS * k] = v[k];
  }
  /* faces, first direction */
  constexpr bool apart = L::lines <= NT; /* a thread for the sum and one for the difference of two faces, or one for both */
  constexpr int  items = apart ? L::lines : nx + 2 * W;
#pragma unroll
  for (int i0 = 0; i0 < items; i0 += NT) {
    const int  it = i0 + t, line = it / W, lx = it - line * W, dir = apart ? line / 2 : line;
    const bool yz = it < items - nx;
    const T   *f, sg = apart && line % 2 ? (T)-1 : (T)1;
    T         *out, w[N], h[n];
    long long  stride, other;
    int        os;

    if (it >= items) break;
    if (yz) {
      f      = x + min(lx, last * 2 * P);
      stride = dir ? a.sy : a.sz;
      other  = 2 * P * (dir ? a.sz : (long long)a.sy);
      out    = cube + L::Y + line * (apart ? 1 : 2) * n * W + lx;
      os     = W;
    } else {
      const int plane = (it - (items - nx)) / N, l = it - (items - nx) - plane * N;

      f      = x + min(plane, last) * 2 * P + (long long)l * a.sy;
      stride = a.sz;
      other  = 0;
      out    = cube + L::X + plane * n * N + l;
      os     = N;
    }
#pragma unroll
    for (int i = 0; i < N; i++) w[i] = f[i * stride];
    if constexpr (apart) {
      if (yz) {
#pragma unroll
        for (int i = 0; i < N; i++) w[i] += sg * f[i * stride + other];
      }
      HopsPatchModes<P, T>(tab, w, h);
#pragma unroll
      for (int m = 0; m < n; m++) out[m * os] = h[m];
    } else {
      T u[N];

      if (yz) {
#pragma unroll
        for (int i = 0; i < N; i++) u[i] = f[i * stride + other];
#pragma unroll
        for (int i = 0; i < N; i++) {
          const T s = w[i] + u[i];

          u[i] = w[i] - u[i];
          w[i] = s;
        }
      }
      HopsPatchModes<P, T>(tab, w, h);
#pragma unroll
      for (int m = 0; m < n; m++) out[m * os] = h[m];
      if (yz) {
        HopsPatchModes<P, T>(tab, u, h);
#pragma unroll
        for (int m = 0; m < n; m++) out[(n + m) * os] = h[m];
      }
    }
  }
  if constexpr (AHEAD) {
    __pipeline_wait_prior(0);
#pragma unroll
    for (int k = 0; k < n; k++) v[k] = column[L::PS * k];
    HopsPatchDual<P, T>(tab, v);
#pragma unroll
    for (int k = 0; k < n; k++) column[L::PS * k] = v[k];
  }
  HopsPatchInside<L, T>(tab, a.Dinv, a.cyz, t, cube);
#pragma unroll
  for (int k = 0; k < n; k++) v[k] = column[L::PS * k];
  HopsPatchValues<P, T>(tab, zs, zd, v);
  if (sub < last) {
#pragma unroll
    for (int k = 0; k < n; k++) a.x[at + (k + 1) * a.sz] = v[k];
  }
}
