/*
  Fused smoothing of two colours on a uniform box in 3D, those whose patches alternate in z: blocks walk along z, and take a patch of the second colour as soon as those of the first one below and above it are done.

  Of a patch of the first colour, which those of the second overwrite, only the middle plane stays, and only what is even in z reaches it: half of the modes in z. What the second
  colour needs of b and x has just been read. So nearly half of the traffic with memory goes, and a quarter of the flops.

  A block has whole warps of threads, of which those without a column pass by each phase, and forgets what it knows of its number between phases: otherwise the compiler mixes phases, moves what they have in
  common out of the loop, and spills.
*/
#pragma once
#include <cuda_pipeline.h>
#include "cudapatchcube.cuh"

/* NB neighbours in x; RS and PS as for HopsPatchRow; F1, F2: threads from which on the faces' lines are multiplied in the first and second direction */
template <int P_, int NB_, int RS_, int PS_, bool RCP_, int F1_, int F2_>
struct HopsPatchWalk {
  static constexpr bool RCP = RCP_;
  static constexpr int  P = P_, NB = NB_, RS = RS_, PS = PS_, F1 = F1_, F2 = F2_, n = 2 * P - 1, N = n + 2, n2 = n * n, R = NB * n, W = 2 * P * NB + 1;
  static constexpr int  columns = NB * n2, threads = (columns + 31) / 32 * 32;
  static constexpr bool HALF = NB == 1 && N <= 16; /* half a warp copies a row of a face */
  static constexpr int  Q = HALF ? 16 : W, QX = HALF ? 16 : N;
  /* the cube; faces in modes: across x [NB + 1][mode of z][node, then mode, of y], y [sum, difference][mode of z][node of the row], z [sum, difference][mode of y][node of the row, then mode of x of a patch] */
  static constexpr int X = n * PS, Y = X + (NB + 1) * n * N, Z = Y + 2 * n * W;
  /* faces as they are: across z [2][y][row], y [2][z][row], x [NB + 1][z][y]; over the latter two, then: faces of y in modes [NB][sum, difference][mode of z][mode of x] */
  static constexpr int FZ = Z + 2 * n * W, FY = FZ + 2 * N * Q, FX = FY + 2 * N * Q, end = FX + (NB + 1) * N * QX, G = FY, size = end > G + 2 * NB *n2 ? end : G + 2 * NB *n2;
};

/* To shared memory: the surfaces of a block's patches from node x on, of which `last` are inside of the box; without waiting */
template <class L, class T>
__device__ __forceinline__ void HopsPatchWalkFaces(int t, int last, const T *x, int sy, long long sz, T *faces)
{
  constexpr int P = L::P, N = L::N, W = L::W, NT = L::threads;

  if constexpr (L::HALF) { /* z planes 2 N rows of y, y planes and x planes 2 N of z */
    constexpr int   rows = NT / 16;
    const int       lane = t & 15, row = t >> 4;
    const T        *z = x + lane + (long long)row * sy, *y = x + lane + row * sz, *X = x + (long long)lane * sy + row * sz;
    const long long dz = 2 * P * sz - (long long)N * sy, dy = 2 * P * (long long)sy - N * sz, dx = 2 * P - N * sz;

    if (lane < N) {
#pragma unroll
      for (int i = 0; i * rows < 6 * N; i++) {
        const int q0 = i * rows, q = q0 + row;
        const T  *fz = z + q0 * (long long)sy + (q >= N ? dz : 0), *fy = y + (q0 - 2 * N) * sz + (q >= 3 * N ? dy : 0), *fx = X + (q0 - 4 * N) * sz + (q >= 5 * N ? dx : 0);
        const T  *from = q0 + rows <= 2 * N ? fz : q0 < 2 * N         ? (q < 2 * N ? fz : fy)
                                                 : q0 + rows <= 4 * N ? fy
                                                 : q0 < 4 * N         ? (q < 4 * N ? fy : fx)
                                                                      : fx;

        if (q0 + rows <= 6 * N || q < 6 * N) __pipeline_memcpy_async(faces + i * NT + t, from, sizeof(T));
      }
    }
  } else {
    constexpr int all = 4 * N * W + (L::NB + 1) * N * N;

#pragma unroll
    for (int e0 = 0; e0 < all; e0 += NT) {
      const int e = e0 + t;

      if (e0 + NT <= all || e < all) {
        long long from;

        if (e < 4 * N * W) {
          const int plane = e / (N * W), r = e - plane * (N * W), line = r / W, lx = min(r - line * W, last * 2 * P);

          from = lx + (plane < 2 ? line * (long long)sy + plane * 2 * P * sz : line * sz + (plane - 2) * 2 * P * (long long)sy);
        } else {
          const int r0 = e - 4 * N * W, plane = r0 / (N * N), r = r0 - plane * (N * N), lz = r / N;

          from = min(plane, last) * 2 * P + (r - lz * N) * (long long)sy + lz * sz;
        }
        __pipeline_memcpy_async(faces + e, x + from, sizeof(T));
      }
    }
  }
}

template <class L, class T, int MB>
__global__ void __launch_bounds__(L::threads, MB) HopsPatchWalk3(const __grid_constant__ HopsPatchTable<L::P, T> tab, const __grid_constant__ HopsPatchBox<T> a, const __grid_constant__ HopsPatchSteps steps)
{
  constexpr int     P = L::P, n = L::n, N = L::N, W = L::W, NT = L::threads, NB = L::NB, R = L::R, RS = L::RS;
  extern __shared__ __align__(16) unsigned char raw[];
  T *const cube = (T *)raw, *const HX = cube + L::X, *const HY = cube + L::Y, *const HZ = cube + L::Z, *const G = cube + L::G;
  const int first = steps.lead + 2 * steps.each * (int)blockIdx.z, count = steps.alone ? 0 : min(steps.each, (steps.last - first) / 2 + 1), after = first + 2 * count - 1; /* patches of the first colour; the one after these */
  int       t = threadIdx.x;

  /* the first one, the one before it, the next one, the one before it, ..., the one after the last; parts of the walk leave those between them out */
#pragma unroll 1
  for (int i = 0; i <= 2 * count; i++) {
    const int  w    = steps.alone ? first : i == 2 * count ? after
                                          : i & 1          ? first + i - 2
                                                           : first + i;
    const bool lead = !steps.alone && !((i & 1) || w == after);

    if (w < 0 || w > steps.last || (!lead && !steps.alone && (w < first ? blockIdx.z > 0 : w == after && w < steps.last))) continue;

    const bool      lower = !lead || w == 0, upper = !lead || w == steps.last, full = lower || upper;
    const int       nk = full ? n : P, b0 = blockIdx.x * NB, last = NB == 1 ? 1 : min(a.nx - b0, NB);
    const bool      here = t < L::columns, some = t < R * nk;
    const long long off = (long long)(2 * b0 + a.c[0]) * P + (long long)(2 * blockIdx.y + a.c[1]) * P * a.sy + (long long)w * P * a.sz;
    T               v[n];

    __syncthreads();
    { /* z: thread (x of the row, y) */
      const int       xr = t % R, Y = t / R, sub = NB == 1 ? 0 : xr / n;
      const long long at     = off + min(sub, last - 1) * 2 * P + xr - sub * n + 1 + (Y + 1) * a.sy;
      T *const        column = cube + xr + RS * Y;

      if (here) {
#pragma unroll
        for (int k = 0; k < n; k++) v[k] = __ldg(a.b + at + (k + 1) * a.sz);
      }
      HopsPatchWalkFaces<L, T>(t, last, a.x + off, a.sy, a.sz, cube + L::FZ);
      __pipeline_commit();
      if (here) {
        HopsPatchDual<P, T>(tab, v, full);
#pragma unroll
        for (int k = 0; k < P; k++) column[L::PS * k] = v[k];
        if (full) {
#pragma unroll
          for (int k = P; k < n; k++) column[L::PS * k] = v[k];
        }
      }
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    asm volatile(""
                 : "+r"(t));
    /* faces, first direction: sum and difference of y, those across x: modes of z; sum and difference of z: modes of y */
    constexpr int all = 4 * W + (NB + 1) * N;
#pragma unroll
    for (int i0 = 0; i0 < all; i0 += NT) {
      const int it = i0 + (all <= NT ? (t >= L::F1 ? t - L::F1 : t + NT - L::F1) : t), line = it < 2 * W ? it / W : it < all - 2 * W ? (it - 2 * W) / N
                                                                                                                                     : (it - (all - 2 * W)) / W;

      if (it < (full ? all : all - W)) {
        const bool y = it < 2 * W, x = !y && it < all - 2 * W;
        const int  l    = y ? it - line * W : x ? it - 2 * W - line * N
                                                : it - (all - 2 * W) - line * W,
                  pitch = x ? L::QX : L::Q;
        const T *f      = cube + (y ? L::FY : x ? L::FX + line * N * L::QX
                                                : L::FZ) +
                     l;
        T *out = cube + (x ? L::X + line * n * N : (y ? L::Y : L::Z) + line * n * W) + l, u[N];

#pragma unroll
        for (int k = 0; k < N; k++) u[k] = f[k * pitch];
        if (!x) {
          const T sg = line ? (T)-1 : (T)1;

#pragma unroll
          for (int k = 0; k < N; k++) u[k] += sg * f[(k + N) * L::Q];
        }
        HopsPatchModes<P, T>(tab, u, out, x ? N : W, full || !(x || y));
      }
    }
    asm volatile(""
                 : "+r"(t));
    if (some) { /* y: thread (x of the row, mode of z) */
      T *const col = cube + t % R + L::PS * (t / R);

#pragma unroll
      for (int j = 0; j < n; j++) v[j] = col[RS * j];
      HopsPatchDual<P, T>(tab, v);
#pragma unroll
      for (int j = 0; j < n; j++) col[RS * j] = v[j];
    }
    __syncthreads();
    asm volatile(""
                 : "+r"(t));
    /* faces, second direction, to modes: in place, but for those of y, whose first result is needed below; the ends of z's lines stay for the neighbour */
    constexpr int most = (NB + 1) * n + 4 * n * NB;
#pragma unroll
    for (int i0 = 0; i0 < most; i0 += NT) {
      const int it = i0 + (most <= NT ? (t >= L::F2 ? t - L::F2 : t + NT - L::F2) : t), ny = 2 * nk * NB, nx = (NB + 1) * nk;

      if (it < ny + nx + (full ? 2 * n : n) * NB) {
        const T *in;
        T       *out, u[N];

        if (it < ny) {
          const int patch = NB == 1 ? 0 : it / (2 * nk), q = it - patch * 2 * nk, r = q < nk ? q : q - nk + n;

          in  = HY + r * W + patch * 2 * P;
          out = G + (patch * 2 * n + r) * n;
        } else if (it < ny + nx) {
          const int q = it - ny, plane = q / nk;

          in = out = HX + (plane * n + q - plane * nk) * N;
        } else {
          const int q = it - ny - nx, patch = NB == 1 ? 0 : q / (full ? 2 * n : n);

          in  = HZ + (q - patch * (full ? 2 * n : n)) * W + patch * 2 * P;
          out = (T *)in + 1;
        }
#pragma unroll
        for (int k = 0; k < N; k++) u[k] = in[k];
        HopsPatchModes<P, T>(tab, u, out);
      }
    }
    asm volatile(""
                 : "+r"(t));
    if (some) {
      const T *row = cube + (NB == 1 ? 0 : t / n % NB * n) + RS * (t % n) + L::PS * (t / R);

#pragma unroll
      for (int k = 0; k < n; k++) v[k] = row[k];
      HopsPatchDual<P, T>(tab, v);
    }
    __syncthreads();
    if (some) { /* x, and back: thread (j, patch, k) */
      const int j = t % n, patch = NB == 1 ? 0 : t / n % NB, k = t / R;
      const T   h0 = HX[(patch * n + k) * N + j], h1 = HX[((patch + 1) * n + k) * N + j], gs = h0 + h1, gd = h0 - h1, cj = __ldg(a.cyz + j), ck = __ldg(a.cyz + n + k), l = __ldg(a.cyz + 2 * n + j) + __ldg(a.cyz + 3 * n + k);
      const T  *gy = G + ((patch * 2 + (j >= P)) * n + k) * n, *gz = HZ + ((k >= P) * n + j) * W + patch * 2 * P + 1;
      T        *row = cube + patch * n + RS * j + L::PS * k;

#pragma unroll
      for (int m = 0; m < n; m++) v[m] = HopsPatchQuotient<L::RCP>(v[m] - tab.c[m] * (m < P ? gs : gd) - cj * gy[m] - ck * gz[m], tab.l[m] + l);
      HopsPatchValues<P, T>(tab, gs, gd, v);
#pragma unroll
      for (int m = 0; m < n; m++) row[m] = v[m];
    }
    __syncthreads();
    asm volatile(""
                 : "+r"(t));
    if (some) { /* y: thread (x of the row, mode of z) */
      T *const back = cube + t % R + L::PS * (t / R);
      const T *g    = HY + t / R * W + (NB == 1 ? t % R : t % R / n * 2 * P + t % R % n) + 1;

#pragma unroll
      for (int j = 0; j < n; j++) v[j] = back[RS * j];
      HopsPatchValues<P, T>(tab, g[0], g[n * W], v);
#pragma unroll
      for (int j = 0; j < n; j++) back[RS * j] = v[j];
    }
    __syncthreads();
    asm volatile(""
                 : "+r"(t));
    if (here) { /* z: thread (x of the row, y) */
      const int      xr = t % R, Y = t / R, sub = NB == 1 ? 0 : xr / n;
      const T *const z = cube + L::FZ + (Y + 1) * L::Q + sub * 2 * P + xr - sub * n + 1, *const column = cube + xr + RS * Y;
      const T  zs = z[0] + z[N * L::Q];
      T *const to = a.x + off + sub * 2 * P + xr - sub * n + 1 + (Y + 1) * a.sy;

      if (!full) {
        T sum = tab.Ee[P - 1] * zs;

#pragma unroll
        for (int k = 0; k < P; k++) sum += tab.Se[(P - 1) * P + k] * column[L::PS * k];
        if (sub < last) to[P * a.sz] = sum;
      } else {
#pragma unroll
        for (int k = 0; k < n; k++) v[k] = column[L::PS * k];
        HopsPatchValues<P, T>(tab, zs, z[0] - z[N * L::Q], v);
        if (sub < last) {
          to[P * a.sz] = v[P - 1];
          if (lower) {
#pragma unroll
            for (int k = 0; k < P - 1; k++) to[(k + 1) * a.sz] = v[k];
          }
          if (upper) {
#pragma unroll
            for (int k = P; k < n; k++) to[(k + 1) * a.sz] = v[k];
          }
        }
      }
    }
    asm volatile(""
                 : "+r"(t));
  }
}
