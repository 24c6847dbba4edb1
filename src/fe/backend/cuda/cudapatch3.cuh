/*
  Fused smoothing of the vertex patches of one colour on a uniform box in 3D: residual and local solve in one launch, from the
  right-hand side inside a patch and the solution on its surface alone (the local solver inverts the rest exactly).
  A thread holds a column of a patch in registers and multiplies it by matrices that lie in the constant cache; columns change
  direction through shared memory.

  No loop may contain a product: the compiler would load the matrices into registers before the loop, and spill.
*/
#pragma once
#include "cudapatchtable.cuh"

template <int P, class T, int NB>
struct HopsPatchSizes3 {
  static constexpr int    n = 2 * P - 1, N = n + 2, B = 128 / sizeof(T); /* banks */
  static constexpr int    plane = n * n + ((n - n * n) % B + B) % B;     /* columns in y without bank conflicts */
  static constexpr int    nH = 6 * n * N, nG = 2 * n * n, patch = n * plane + nH + nG;
  static constexpr int    threads = NB * n * n;
  static constexpr size_t shared  = sizeof(T) * NB * patch;
};

/* Line l of the faces of a direction: its first node, the stride along it, and the way to the opposite face. Lines run along z on the faces of x and y, along y on those of z. */
template <int P, class T>
__device__ __forceinline__ void HopsPatchEnds(const HopsPatchBox<T> &a, const T *x, int dir, int l, const T *&f, long long &stride, long long &other)
{
  f      = x + (dir ? l : (long long)l * a.sy);
  stride = dir == 2 ? a.sy : a.sz;
  other  = dir == 0 ? 2 * P : 2 * P * (dir == 1 ? (long long)a.sy : a.sz);
}

template <int P, class T, int NB, int MB>
__global__ void __launch_bounds__(NB *(2 * P - 1) * (2 * P - 1), MB) HopsPatchModal3(const __grid_constant__ HopsPatchTable<P, T> tab, const __grid_constant__ HopsPatchBox<T> a)
{
  using L             = HopsPatchSizes3<P, T, NB>;
  constexpr int     n = L::n, N = L::N, n2 = n * n, PS = L::plane;
  extern __shared__ __align__(16) unsigned char raw[];
  const int                                     sub = threadIdx.x / n2, t = threadIdx.x - sub * n2, X = t % n, Y = t / n, q = blockIdx.x * NB + sub;
  const long long                               off = (long long)(2 * min(q, a.nx - 1) + a.c[0]) * P + (long long)(2 * blockIdx.y + a.c[1]) * P * a.sy + (2 * blockIdx.z + a.c[2]) * P * a.sz;
  const T *const                                x   = a.x + off;
  T *const cube = (T *)raw + sub * L::patch, *const H = cube + n * PS, *const G = H + L::nH;
  T v[n], zs, zd;

  { /* z: thread (X,Y) */
    const T *b = a.b + off + (X + 1) + (Y + 1) * a.sy + a.sz, *f = x + (X + 1) + (Y + 1) * a.sy;

#pragma unroll
    for (int k = 0; k < n; k++) v[k] = __ldg(b + k * a.sz);
    zs = f[0] + f[2 * P * a.sz];
    zd = f[0] - f[2 * P * a.sz];
  }
  HopsPatchDual<P, T>(tab, v);
#pragma unroll
  for (int k = 0; k < n; k++) cube[t + PS * k] = v[k];
  /* faces, first direction: H[face direction][sum, difference][mode][line] */
  if constexpr (6 * N <= n2) { /* a thread for each sum and each difference */
    if (t < 6 * N) {
      const int par = t >= 3 * N, r = t - par * 3 * N, dir = r / N, l = r - dir * N;
      const T  *f, sg = par ? (T)-1 : (T)1;
      long long stride, other;
      T         w[N], h[n];

      HopsPatchEnds<P, T>(a, x, dir, l, f, stride, other);
#pragma unroll
      for (int i = 0; i < N; i++) w[i] = f[i * stride];
#pragma unroll
      for (int i = 0; i < N; i++) w[i] += sg * f[i * stride + other];
      HopsPatchModes<P, T>(tab, w, h);
#pragma unroll
      for (int m = 0; m < n; m++) H[((dir * 2 + par) * n + m) * N + l] = h[m];
    }
  } else {
#pragma unroll
    for (int i0 = 0; i0 < 3 * N; i0 += n2) {
      const int it = i0 + t, dir = it / N, l = it - dir * N;
      const T  *f;
      long long stride, other;
      T         w[N], u[N], h[n];

      if (it >= 3 * N) break;
      HopsPatchEnds<P, T>(a, x, dir, l, f, stride, other);
#pragma unroll
      for (int i = 0; i < N; i++) {
        w[i] = f[i * stride];
        u[i] = f[i * stride + other];
      }
#pragma unroll
      for (int i = 0; i < N; i++) {
        const T s = w[i] + u[i];

        u[i] = w[i] - u[i];
        w[i] = s;
      }
      HopsPatchModes<P, T>(tab, w, h);
#pragma unroll
      for (int m = 0; m < n; m++) H[(dir * 2 * n + m) * N + l] = h[m];
      HopsPatchModes<P, T>(tab, u, h);
#pragma unroll
      for (int m = 0; m < n; m++) H[((dir * 2 + 1) * n + m) * N + l] = h[m];
    }
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
  /* faces, second direction: in place, but for those of y, whose first result is needed below */
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
  if (q < a.nx) {
    T *out = a.x + off + (X + 1) + (Y + 1) * a.sy + a.sz;

#pragma unroll
    for (int k = 0; k < n; k++) out[k * a.sz] = v[k];
  }
}

/*
  The first colour's patches where x counts as zero: nothing of x is read, and what lies on their lower faces is set to zero, so that patches which fill the box write
  all of it but its upper faces
*/
template <int P, class T, int NB, int MB>
__global__ void __launch_bounds__(NB *(2 * P - 1) * (2 * P - 1), MB) HopsPatchFirst3(const __grid_constant__ HopsPatchTable<P, T> tab, const __grid_constant__ HopsPatchBox<T> a)
{
  using L             = HopsPatchSizes3<P, T, NB>;
  constexpr int     n = L::n, n2 = n * n, PS = L::plane;
  extern __shared__ __align__(16) unsigned char raw[];
  const int                                     sub = threadIdx.x / n2, t = threadIdx.x - sub * n2, X = t % n, Y = t / n, q = blockIdx.x * NB + sub;
  const long long                               off  = (long long)(2 * min(q, a.nx - 1) + a.c[0]) * P + (long long)(2 * blockIdx.y + a.c[1]) * P * a.sy + (2 * blockIdx.z + a.c[2]) * P * a.sz;
  T *const                                      cube = (T *)raw + sub * L::patch;
  T                                             v[n];

  { /* z: thread (X,Y) */
    const T *b = a.b + off + (X + 1) + (Y + 1) * a.sy + a.sz;

#pragma unroll
    for (int k = 0; k < n; k++) v[k] = __ldg(b + k * a.sz);
  }
  HopsPatchDual<P, T>(tab, v);
#pragma unroll
  for (int k = 0; k < n; k++) cube[t + PS * k] = v[k];
  __syncthreads();
  { /* y: thread (X,k) */
    T *col = cube + X + PS * Y;

#pragma unroll
    for (int j = 0; j < n; j++) v[j] = col[n * j];
    HopsPatchDual<P, T>(tab, v);
#pragma unroll
    for (int j = 0; j < n; j++) col[n * j] = v[j];
  }
  __syncthreads();
  { /* x, and back: thread (j,k) */
    T *col = cube + n * X + PS * Y;

#pragma unroll
    for (int i = 0; i < n; i++) v[i] = col[i];
    HopsPatchDual<P, T>(tab, v);
#pragma unroll
    for (int i = 0; i < n; i++) v[i] *= __ldg(a.Dinv + i * n2 + t);
    HopsPatchValues<P, T>(tab, (T)0, (T)0, v);
#pragma unroll
    for (int i = 0; i < n; i++) col[i] = v[i];
  }
  __syncthreads();
  { /* y: thread (X,k) */
    T *col = cube + X + PS * Y;

#pragma unroll
    for (int j = 0; j < n; j++) v[j] = col[n * j];
    HopsPatchValues<P, T>(tab, (T)0, (T)0, v);
#pragma unroll
    for (int j = 0; j < n; j++) col[n * j] = v[j];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < n; k++) v[k] = cube[t + PS * k];
  HopsPatchValues<P, T>(tab, (T)0, (T)0, v);
  if (q < a.nx) {
    T *const out = a.x + off + (X + 1) + (Y + 1) * a.sy;

    out[0] = 0;
#pragma unroll
    for (int k = 0; k < n; k++) out[(k + 1) * a.sz] = v[k];
    if (X == 0) {
#pragma unroll
      for (int k = 0; k <= n; k++) out[k * a.sz - 1] = 0;
    }
    if (Y == 0) {
#pragma unroll
      for (int k = 0; k <= n; k++) out[k * a.sz - a.sy] = 0;
    }
    if (t == 0) {
#pragma unroll
      for (int k = 0; k <= n; k++) out[k * a.sz - a.sy - 1] = 0;
    }
  }
}
