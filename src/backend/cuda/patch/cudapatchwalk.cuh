/*
  Fused smoothing of two colours on a uniform box in 3D, those whose patches alternate in z: blocks walk along
  z, and take a patch of the second colour as soon as those of the first one below and above it are done.

  Of a patch of the first colour, which those of the second overwrite, only the middle plane stays, and only
  what is even in z reaches it: half of the modes in z. What the second colour needs of b and x has just been
  read. So nearly half of the traffic with memory goes, and a quarter of the flops. Where later colours of the
  sweep overwrite the cells of a patch too, nobody reads the inside of cells, and of a patch of the second
  colour its three middle planes are enough.

  In single precision a thread takes the columns of two patches, neighbours in x, which have the same matrices
  and places: what is not arithmetic is done once for both. And matrices are constants that the compiler knows
  (cudapatchgll.cuh).

  A block has whole warps of threads, of which those without a column pass by each phase, and forgets what it
  knows of its number between phases: otherwise the compiler mixes phases, moves what they have in common out
  of the loop, and spills.
*/
#pragma once
#include <cuda_pipeline.h>
#include "cudapatchgll.cuh"
#include "cudapatchpair.cuh"

/* A patch, or two, in shared memory, as numbers of type V. RS and PS as for HopsPatchRow */
template <int P_, class V_, int RS_, int PS_> struct HopsPatchWalk {
  using V                = V_;
  static constexpr int P = P_, RS = RS_, PS = PS_, n = 2 * P - 1, N = n + 2, columns = n * n, threads = (columns + 31) / 32 * 32;
  static constexpr int Q = N <= 16 ? 16 : N; /* numbers from a line of a face to the next: half a warp copies one */
  /* the cube; faces in modes: across x [lower, upper][mode of z][node, then mode, of y], y [sum,
     difference][mode of z][node of x], z [sum, difference][mode of y][node, then mode of x] */
  static constexpr int X = n * PS, Y = X + 2 * n * N, Z = Y + 2 * n * N;
  /* faces as they are, lower and upper: across z [2][y][x], y [2][z][x], x [2][z][y]; over the latter two,
     then: faces of y in modes [sum, difference][mode of z][mode of x] */
  static constexpr int FZ = Z + 2 * n * N, FY = FZ + 2 * N * Q, FX = FY + 2 * N * Q, end = FX + 2 * N * Q, G = FY,
                       size = end > G + 2 * columns ? end : G + 2 * columns;

  static_assert(6 * N <= threads, "Each thread takes at most one line of the faces");
  static_assert(
    threads - columns >= P - 1 && 2 * n - 1 <= 32,
    "Where middle planes are enough, threads without a column take P - 1 of the lines back in y, and a warp all lines back in z");
};

/* a / b, the divisor being a sum of eigenvalues: the hardware's approximate reciprocal; in double precision
   Newton's method from 20 bits, an error of a rounding or two */
__device__ __forceinline__ double HopsPatchQuotient(double a, double b)
{
  double r;

  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b));
  r = fma(fma(-b, r, 1.0), r, r);
  r = fma(fma(-b, r, 1.0), r, r);
  return a * r;
}

__device__ __forceinline__ HopsPatchPair HopsPatchQuotient(HopsPatchPair a, float b)
{
  float r;

  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b));
  return r * a;
}

/* Numbers of a patch, or of two of which the second one is D entries further; where there is no second one,
   it is read, from the next row, and not written */
template <int D> __device__ __forceinline__ void HopsPatchLoad(const double *p, double &v)
{
  v = __ldg(p);
}

template <int D> __device__ __forceinline__ void HopsPatchLoad(const float *p, HopsPatchPair &v)
{
  v.a = __ldg(p);
  v.b = __ldg(p + D);
}

template <int D> __device__ __forceinline__ void HopsPatchStore(double *p, bool, double v)
{
  *p = v;
}

template <int D> __device__ __forceinline__ void HopsPatchStore(float *p, bool two, HopsPatchPair v)
{
  *p = v.a;
  if (two) p[D] = v.b;
}

/* The N rows of a plane and those of another one, the first one `jump` after the row that would follow; rows
   of 16 numbers `to` shared memory, without waiting. p: a number of row `row` of the first plane, this
   thread's first one */
template <int N, int ROWS, int M, class T>
__device__ __forceinline__ void HopsPatchWalkPlanes(int row, const T *p, long long stride, long long jump, T *to)
{
  const long long step = ROWS * stride, cross = step + jump;

  static_assert(ROWS <= N, "Threads begin on the first plane");
#pragma unroll
  for (int q = 0; q < 2 * N; q += ROWS) {
    if (q + ROWS <= 2 * N || q + row < 2 * N) __pipeline_memcpy_async(to + M * 16 * q, p, sizeof(T));
    if (q >= N || q + 2 * ROWS <= N) p += step; /* threads stay on their planes */
    else if (q + ROWS == N) p += cross;
    else p += q + row < N && q + ROWS + row >= N ? cross : step;
    asm volatile("" : "+l"(p)); /* the next place is one addition away: it is not to be computed anew */
  }
}

/* To shared memory: the surface of the patch from node x on, and that of the one d nodes further; without
   waiting */
template <class L, class T, class V>
__device__ __forceinline__ void HopsPatchWalkFaces(int t, const T *x, int d, int sy, long long sz, V *faces)
{
  constexpr int P = L::P, N = L::N, NT = L::threads, M = sizeof(V) / sizeof(T);

  if constexpr (N <= 16) { /* z planes 2 N rows of y, y planes and x planes 2 N of z */
    constexpr int rows = NT / (16 * M);
    const int     lane = t & 15, which = M == 1 ? 0 : t >> 4 & 1, row = t / (16 * M);
    const T      *z = x + which * d + lane + row * (long long)sy, *y = x + which * d + lane + row * sz,
            *X = x + which * d + lane * (long long)sy + row * sz;
    T *to      = (T *)(faces + row * 16 + lane) + which;

    if (lane < N) {
      HopsPatchWalkPlanes<N, rows, M>(row, z, (long long)sy, 2 * P * sz - N * (long long)sy, to);
      HopsPatchWalkPlanes<N, rows, M>(row, y, sz, 2 * P * (long long)sy - N * sz, to + M * 2 * N * 16);
      HopsPatchWalkPlanes<N, rows, M>(row, X, sz, 2 * P - N * sz, to + M * 4 * N * 16);
    }
  } else {
    constexpr int all = 6 * N * N * M;

#pragma unroll
    for (int e0 = 0; e0 < all; e0 += NT) {
      const int e = e0 + t;

      if (e0 + NT <= all || e < all) {
        const int line = e / (N * M), r = e - line * (N * M), which = M == 1 ? 0 : r / N, l = r - which * N, plane = line / N,
                  row = line - plane * N;
        long long from;

        if (plane < 2) from = l + row * (long long)sy + plane * 2 * P * sz;
        else if (plane < 4) from = l + row * sz + (plane - 2) * 2 * P * (long long)sy;
        else from = (plane - 4) * 2 * P + l * (long long)sy + row * sz;
        __pipeline_memcpy_async((T *)(faces + line * N + l) + which, x + which * d + from, sizeof(T));
      }
    }
  }
}

/* Where a walk is: a patch on the cells w and w + 1, of the first colour if it leads */
struct HopsPatchStep {
  int  i, w; /* i < 0: before the first one, or after the last */
  bool lead;
};

/* The first one, the one before it, the next one, the one before it, ..., the one after the last; parts of
   the walk leave those between them out. `count`: patches of the first colour, from `first` on */
__device__ __forceinline__ HopsPatchStep HopsPatchWalkNext(const HopsPatchSteps &s, int first, int count, int i)
{
  if (s.alone) return {i < 0 ? 0 : -1, first, false};
  while (++i <= 2 * count) {
    const bool lead = i < 2 * count && i % 2 == 0;
    const int  w    = first + i - (lead ? 0 : i % 2 ? 2 : 1);

    if (w < 0 || w > s.last) continue;
    if (lead || (i == 1 ? blockIdx.z == 0 : i < 2 * count || w == s.last)) return {i, w, lead};
  }
  return {-1, 0, false};
}

/* The compiler knows nothing of t any more */
__device__ __forceinline__ void HopsPatchForget(int &t)
{
  asm volatile("" : "+r"(t));
}

/* Lines along z back to nodes, to the solution from node x on: thread (x, y). Planes below and above the
   middle one are written where `lower` and `upper` say so; unless `whole`, of these the middle lines alone */
template <class L, class T>
__device__ __forceinline__ void HopsPatchWalkBackZ(int &t, const HopsPatchTable<L::P, T> &mat, const HopsPatchTable<L::P, T> &tab,
                                                   const typename L::V *cube, const HopsPatchBox<T> &a, T *x, bool lower,
                                                   bool upper, bool whole, bool two)
{
  using V          = typename L::V;
  constexpr int  P = L::P, n = L::n, N = L::N, Q = L::Q, NT = L::threads, RS = L::RS, PS = L::PS, columns = L::columns;
  const bool     full = lower || upper;
  const V *const FZ   = cube + L::FZ;

  __syncthreads();
  if (t < columns) {
    const int      X = t % n, Y = t / n;
    const V *const column = cube + X + RS * Y, *const z = FZ + (Y + 1) * Q + X + 1;
    const V  zs = z[0] + z[N * Q];
    T *const to = x + (X + 1) + (Y + 1) * (long long)a.sy;

    if (!full || !whole) {
      V sum = mat.Ee[P - 1] * zs;

#pragma unroll
      for (int k = 0; k < P; k++) sum += mat.Se[(P - 1) * P + k] * column[PS * k];
      HopsPatchStore<2 * P>(to + P * a.sz, two, sum);
    } else {
      V u[n];

#pragma unroll
      for (int k = 0; k < n; k++) u[k] = column[PS * k];
      HopsPatchValues<P, T>(mat, zs, z[0] - z[N * Q], u);
      HopsPatchStore<2 * P>(to + P * a.sz, two, u[P - 1]);
      if (lower) {
#pragma unroll
        for (int k = 0; k < P - 1; k++) HopsPatchStore<2 * P>(to + (k + 1) * a.sz, two, u[k]);
      }
      if (upper) {
#pragma unroll
        for (int k = P; k < n; k++) HopsPatchStore<2 * P>(to + (k + 1) * a.sz, two, u[k]);
      }
    }
  }
  HopsPatchForget(t);
  /* the other lines of the middle planes of x and y: a warp two mirrored nodes of z, a thread a line. The
     shuffle says that i is a warp's, so that matrices come from the constant cache */
  if (full && !whole && (t & 31) < 2 * n - 1) {
    const int      l = t & 31, X = l < n ? l : P - 1, Y = l < n ? P - 1 : l - n < P - 1 ? l - n : l - n + 1;
    const V *const column = cube + X + RS * Y, *const z = FZ + (Y + 1) * Q + X + 1;
    T *const to = x + (X + 1) + (Y + 1) * (long long)a.sy;

#pragma unroll
    for (int i0 = 0; i0 < P - 1; i0 += NT / 32) {
      const int i = i0 + __shfl_sync(0xffffffffu >> (33 - 2 * n), t >> 5, 0);

      if (i0 + NT / 32 <= P - 1 || i < P - 1) {
        V e = tab.Ee[i] * (z[0] + z[N * Q]), o = tab.Eo[i] * (z[0] - z[N * Q]);

#pragma unroll
        for (int m = 0; m < P; m++) e += tab.Se[i * P + m] * column[PS * m];
#pragma unroll
        for (int m = 0; m < P - 1; m++) o += tab.So[i * (P - 1) + m] * column[PS * (P + m)];
        if (lower) HopsPatchStore<2 * P>(to + (i + 1) * a.sz, two, e + o);
        if (upper) HopsPatchStore<2 * P>(to + (n - i) * a.sz, two, e - o);
      }
    }
  }
}

/* Faces to modes of their first direction: sum and difference of those across y, and those across x, of z;
   sum and difference of those across z, of y. From the middle of the block on, since the first threads have
   more of the columns */
template <class L, class T>
__device__ __forceinline__ void HopsPatchWalkFacesFirst(int t, const HopsPatchTable<L::P, T> &mat, typename L::V *cube, bool full,
                                                        bool zero)
{
  using V         = typename L::V;
  constexpr int P = L::P, n = L::n, N = L::N, Q = L::Q, NT = L::threads;
  const int     it = t >= NT / 2 ? t - NT / 2 : t + NT / 2, line = it / N, l = it - line * N;
  const bool    x = line == 2 || line == 3;

  if (it < (full ? 6 * N : 5 * N) && !(x && zero)) {
    const V *const f   = cube + (line < 2 ? L::FY : x ? L::FX + (line - 2) * N * Q : L::FZ) + l;
    V *const       out = cube + (line < 2 ? L::Y + line * n * N : x ? L::X + (line - 2) * n * N : L::Z + (line - 4) * n * N) + l;
    V              u[N];

#pragma unroll
    for (int k = 0; k < N; k++) u[k] = f[k * Q];
    if (!x) {
      const T sign = line & 1 ? (T)-1 : (T)1;

#pragma unroll
      for (int k = 0; k < N; k++) u[k] += sign * f[(k + N) * Q];
    }
    HopsPatchModes<P, T>(mat, u, out, N, full || line >= 4);
  }
}

/* Faces to modes of their second direction: in place, but for those of y, whose first result is needed on the
   way back; the ends of z's lines stay for the neighbour */
template <class L, class T>
__device__ __forceinline__ void HopsPatchWalkFacesSecond(int t, const HopsPatchTable<L::P, T> &mat, typename L::V *cube, int nk,
                                                         bool full, bool zero)
{
  using V         = typename L::V;
  constexpr int P = L::P, n = L::n, N = L::N, NT = L::threads;
  V *const HX = cube + L::X, *const HY = cube + L::Y, *const HZ = cube + L::Z, *const G = cube + L::G;
  const int it = t >= NT / 2 ? t - NT / 2 : t + NT / 2;

  if (it < 4 * nk + (full ? 2 * n : n) && !(zero && it >= 2 * nk && it < 4 * nk)) {
    const int      q = it < 2 * nk ? it : it - 2 * nk, r = q < nk ? q : q - nk + n; /* row of y or x */
    const V *const in  = it < 2 * nk ? HY + r * N : it < 4 * nk ? HX + r * N : HZ + (it - 4 * nk) * N;
    V *const       out = it < 2 * nk ? G + r * n : it < 4 * nk ? HX + r * N : HZ + (it - 4 * nk) * N + 1;
    V              u[N];

#pragma unroll
    for (int k = 0; k < N; k++) u[k] = in[k];
    HopsPatchModes<P, T>(mat, u, out);
  }
}

/* The solution on a line of modes in x, v, and back to nodes */
template <class L, class T>
__device__ __forceinline__ void HopsPatchWalkSolveX(int t, const HopsPatchTable<L::P, T> &mat, const HopsPatchTable<L::P, T> &tab,
                                                    const T *cyz, typename L::V *cube, typename L::V v[L::n])
{
  using V          = typename L::V;
  constexpr int  P = L::P, n = L::n, N = L::N;
  const V *const HX = cube + L::X, *const HZ = cube + L::Z, *const G = cube + L::G;
  const int      j = t % n, k = t / n;
  const V        h0 = HX[k * N + j], h1 = HX[(n + k) * N + j], gs = h0 + h1, gd = h0 - h1;
  const T        cj = __ldg(cyz + j), ck = __ldg(cyz + n + k), l = __ldg(cyz + 2 * n + j) + __ldg(cyz + 3 * n + k);
  const V *const gy = G + ((j >= P) * n + k) * n, *const gz = HZ + ((k >= P) * n + j) * N + 1;
  V *const row = cube + L::RS * j + L::PS * k;

#pragma unroll
  for (int m = 0; m < n; m++) v[m] = HopsPatchQuotient(v[m] - tab.c[m] * (m < P ? gs : gd) - cj * gy[m] - ck * gz[m], tab.l[m] + l);
  HopsPatchValues<P, T>(mat, gs, gd, v);
#pragma unroll
  for (int m = 0; m < n; m++) row[m] = v[m];
}

/* Lines along y back to nodes: thread (x, mode of z); where the middle planes are enough even modes, and odd
   ones on that of x */
template <class L, class T>
__device__ __forceinline__ void HopsPatchWalkBackY(int t, const HopsPatchTable<L::P, T> &mat, typename L::V *cube, int nk,
                                                   bool full, bool whole, typename L::V v[L::n])
{
  using V          = typename L::V;
  constexpr int  P = L::P, n = L::n, N = L::N, RS = L::RS, PS = L::PS, columns = L::columns;
  const V *const HY = cube + L::Y;

  if (whole ? t < n * nk : t < n * P || (full && t >= columns && t < columns + P - 1)) {
    const int      X = t < columns ? t % n : P - 1, k = t < columns ? t / n : P + t - columns;
    V *const       column = cube + X + PS * k;
    const V *const g      = HY + k * N + X + 1;

#pragma unroll
    for (int j = 0; j < n; j++) v[j] = column[RS * j];
    HopsPatchValues<P, T>(mat, g[0], g[n * N], v);
#pragma unroll
    for (int j = 0; j < n; j++) column[RS * j] = v[j];
  } else if (full && t < columns && t % n != P - 1) { /* of the other odd ones the middle plane of y */
    V *const column = cube + t % n + PS * (t / n);
    V        sum    = mat.Ee[P - 1] * HY[t / n * N + t % n + 1];

#pragma unroll
    for (int j = 0; j < P; j++) sum += mat.Se[(P - 1) * P + j] * column[RS * j];
    column[RS * (P - 1)] = sum;
  }
}

template <class L, class T, int MB>
__global__ void __launch_bounds__(L::threads, MB)
  HopsPatchWalk3(const __grid_constant__ HopsPatchTable<L::P, T> tab, const __grid_constant__ HopsPatchBox<T> a,
                 const __grid_constant__ HopsPatchSteps steps)
{
  using V         = typename L::V;
  constexpr int P = L::P, n = L::n, N = L::N, NT = L::threads, RS = L::RS, PS = L::PS, columns = L::columns,
                M = sizeof(V) / sizeof(T);
  extern __shared__ __align__(16) unsigned char raw[];
  const HopsPatchTable<P, T>                   &mat  = HopsPatchMatrices<P>(tab);
  V *const                                      cube = (V *)raw;
  /* of two patches, from the faces of the first to those of the second: a row of an odd number ends with one,
     twice */
  const int  p0 = blockIdx.x * M, q0 = blockIdx.y, dist = p0 + M <= a.nx ? 2 * P : 0;
  const bool two        = dist > 0;
  const int  first      = steps.lead + 2 * steps.each * (int)blockIdx.z,
            count       = steps.alone ? 0 : min(steps.each, (steps.last - first) / 2 + 1);
  const bool      whole = p0 < steps.inner[0] || p0 + M > steps.inner[1] || q0 < steps.inner[2] || q0 >= steps.inner[3];
  const long long at0   = (long long)(2 * p0 + a.c[0]) * P + (2 * q0 + a.c[1]) * P * (long long)a.sy;
  int             t     = threadIdx.x;
  HopsPatchStep   c     = {-1, 0, false};
  V               v[n];

  if (steps.zero) {
    for (int i = t; i < 2 * n * N; i += NT) cube[L::X + i] = V{};
  }
#pragma unroll 1
  for (;;) {
    const HopsPatchStep next = HopsPatchWalkNext(steps, first, count, c.i);

    if (next.i >= 0 && t < columns) { /* z: thread (x, y). Early: it comes while the columns of the patch before are multiplied */
      const T *b = a.b + at0 + (t % n + 1) + (t / n + 1) * (long long)a.sy + (next.w * P + 1) * a.sz;

#pragma unroll
      for (int k = 0; k < n; k++) HopsPatchLoad<2 * P>(b + k * a.sz, v[k]);
    }
    HopsPatchForget(t);
    if (c.i >= 0) { /* z, back: thread (x, y) */
      HopsPatchWalkBackZ<L>(t, mat, tab, cube, a, a.x + at0 + c.w * P * a.sz, !c.lead || c.w == 0, !c.lead || c.w == steps.last,
                            whole, two);
    }
    if (next.i < 0) break;
    c = next;
    HopsPatchForget(t);

    const bool full = !c.lead || c.w == 0 || c.w == steps.last;
    const int  nk   = full ? n : P;

    __syncthreads();
    HopsPatchWalkFaces<L, T, V>(t, a.x + at0 + c.w * P * a.sz, dist, a.sy, a.sz, cube + L::FZ);
    __pipeline_commit();
    if (t < columns) {
      V *const column = cube + t % n + RS * (t / n);

      HopsPatchDual<P, T>(mat, v, full);
#pragma unroll
      for (int k = 0; k < P; k++) column[PS * k] = v[k];
      if (full) {
#pragma unroll
        for (int k = P; k < n; k++) column[PS * k] = v[k];
      }
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    HopsPatchForget(t);
    HopsPatchWalkFacesFirst<L>(t, mat, cube, full, steps.zero);
    HopsPatchForget(t);
    if (t < n * nk) { /* y: thread (x, mode of z) */
      V *const column = cube + t % n + PS * (t / n);

#pragma unroll
      for (int j = 0; j < n; j++) v[j] = column[RS * j];
      HopsPatchDual<P, T>(mat, v);
#pragma unroll
      for (int j = 0; j < n; j++) column[RS * j] = v[j];
    }
    __syncthreads();
    HopsPatchForget(t);
    HopsPatchWalkFacesSecond<L>(t, mat, cube, nk, full, steps.zero);
    HopsPatchForget(t);
    if (t < n * nk) {
      const V *const row = cube + RS * (t % n) + PS * (t / n);

#pragma unroll
      for (int k = 0; k < n; k++) v[k] = row[k];
      HopsPatchDual<P, T>(mat, v);
    }
    __syncthreads();
    if (t < n * nk) HopsPatchWalkSolveX<L>(t, mat, tab, a.cyz, cube, v); /* thread (mode of y, mode of z) */
    __syncthreads();
    HopsPatchForget(t);
    HopsPatchWalkBackY<L>(t, mat, cube, nk, full, whole, v);
    HopsPatchForget(t);
  }
}
