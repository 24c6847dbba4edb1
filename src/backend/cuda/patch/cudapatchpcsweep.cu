/*
  Fused sweeps of exact patches given by lists of unknowns: each patch takes its right-hand side and the
  values around it, and is solved.

  Where the window of a patch is all nodes of its cells but the first and the last of each direction, its own
  values are not read: they are replaced. A function on the cells is written in tensor products of the modes S
  (S^T M S = 1, S^T A S = lambda) and of two functions that are 1 at an end and M-orthogonal to the modes. In
  that basis the inside couples to the six faces, by a vector alpha for each end, and to no edge or corner:

    (s_0 l_i + s_1 l_j + s_2 l_k + s_3) u_ijk = (S^T b)_ijk / s_5 - s_0 (alpha_i u_(x end)jk + ...) - s_1
    (...) - s_2 (...)

  The coefficients of a face are T = S^T M applied in its two directions. Three products by S and the ends'
  functions lead back to nodes. Other patches run a plain kernel: the residual by S^T M and S^T A on all
  nodes.
*/
#include "cudapatchpc.h"
#include <backend/cuda/operator/cudah1.cuh>
#include "cudapatchtensor.cuh"

template <class V> struct SweepArgs {
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

template <class T, class V> __device__ __forceinline__ T At(const SweepArgs<V> &a, const V *x, int i)
{
  return i == a.none ? (T)0 : (T)x[i];
}

/* Matrices are read again: the compiler would keep them in registers from one product to the next, and spill
   them */
__device__ __forceinline__ void Forget(void)
{
  asm volatile("" ::: "memory");
}

/* v <- S^T v; rows of S have R entries */
template <int n, int R, class T> __device__ __forceinline__ void ToModes(const T *S, T v[n])
{
  T w[n];

#pragma unroll
  for (int m = 0; m < n; m++) w[m] = 0;
#pragma unroll
  for (int i = 0; i < n; i++)
#pragma unroll
    for (int m = 0; m < n; m++) w[m] += S[i * R + m] * v[i];
#pragma unroll
  for (int m = 0; m < n; m++) v[m] = w[m];
}

/* v <- S v + E_0 e0 + E_1 e1 */
template <int n, int R, class T> __device__ __forceinline__ void ToNodes(const T *S, const T *E, T e0, T e1, T v[n])
{
  T w[n];

#pragma unroll
  for (int i = 0; i < n; i++) {
    w[i] = E[i] * e0 + E[n + i] * e1;
#pragma unroll
    for (int m = 0; m < n; m++) w[i] += S[i * R + m] * v[m];
  }
#pragma unroll
  for (int m = 0; m < n; m++) v[m] = w[m];
}

/* A line of N nodes to n modes between its ends, in place */
template <int n, class T> __device__ __forceinline__ void LineToModes(const T *M, T *line, int stride)
{
  constexpr int N = n + 2;
  T             v[N];

#pragma unroll
  for (int i = 0; i < N; i++) v[i] = line[i * stride];
#pragma unroll
  for (int m = 0; m < n; m++) {
    T s = 0;

#pragma unroll
    for (int i = 0; i < N; i++) s += M[m * N + i] * v[i];
    line[(m + 1) * stride] = s;
  }
}

/* A factor in shared memory: S[n][R], lambda[n], T[n][N], alpha[2][n], E[2][n]; Ta is left out */
template <int DIM, int n> struct SweepSizes {
  static constexpr int N = n + 2, R = (n + 1) / 2 * 2;
  static constexpr int lambda = n * R, T = lambda + n, alpha = T + n * N, E = alpha + 2 * n, F = E + 2 * n;
  static constexpr int head = T + n * N, skip = n * N; /* entries before Ta, and Ta's */
  static constexpr int FS      = (F + 1) / 2 * 2;
  static constexpr int threads = DIM == 3 ? N * N : N;
  static constexpr int face    = DIM == 3 ? N * N : N;
  static constexpr int cube    = DIM == 3 ? n * N * N : n * N;
  static constexpr int NB      = threads >= 96 ? 1 : 128 / threads; /* patches of a block */
  static constexpr int patch   = DIM * FS + 2 * DIM * face + (cube + 1) / 2 * 2;
};

/* Blocks of a multiprocessor, which bound the registers */
template <int DIM, int n, class T> struct SweepBounds {
  static constexpr int threads = SweepSizes<DIM, n>::threads * SweepSizes<DIM, n>::NB, warps = (threads + 31) / 32;
  static constexpr int registers =
    sizeof(T) == 8 ? (n <= 3 ? 64 : (n <= 5 ? 80 : (n <= 7 ? 96 : (n <= 9 ? 112 : 128)))) : (n <= 5 ? 64 : (n <= 9 ? 80 : 96));
  static constexpr int blocks = 65536 / (registers * 32 * warps) > 0 ? 65536 / (registers * 32 * warps) : 1;
};

/* Node (X,Y) of face f: 2d and 2d+1 lie across direction d, the others are in ascending order */
template <int DIM, int N> __device__ __forceinline__ int FaceNode(int f, int X, int Y)
{
  const int end = f % 2 ? N - 1 : 0, d = f / 2;

  if (DIM == 2) return d == 0 ? end + N * X : X + N * end;
  return d == 0 ? end + N * (X + N * Y) : (d == 1 ? X + N * (end + N * Y) : X + N * (Y + N * end));
}

/* Faces of a patch, F, to modes in both of their directions; barriers within, but not at the end */
template <int DIM, int n, class T> __device__ __forceinline__ void FacesToModes(int t, const T *S, T *F)
{
  using L         = SweepSizes<DIM, n>;
  constexpr int N = L::N, NT = L::threads;

  if (DIM == 3) {
    for (int l = t; l < 6 * N; l += NT) {
      const int f = l / N;

      LineToModes<n>(S + (f / 2 == 0 ? 1 : 0) * L::FS + L::T, F + f * L::face + N * (l % N), 1);
    }
    __syncthreads();
    for (int l = t; l < 6 * N; l += NT) {
      const int f = l / N;

      LineToModes<n>(S + (f / 2 == 2 ? 1 : 2) * L::FS + L::T, F + f * L::face + l % N, N);
    }
  } else {
    for (int f = t; f < 4; f += NT) LineToModes<n>(S + (f / 2 == 0 ? 1 : 0) * L::FS + L::T, F + f * L::face, 1);
  }
}

template <int DIM, int n, class T, class V>
__global__ void __launch_bounds__(SweepBounds<DIM, n, T>::threads, SweepBounds<DIM, n, T>::blocks) SweepCubes(const SweepArgs<V> a)
{
  using L             = SweepSizes<DIM, n>;
  constexpr int     N = L::N, R = L::R, NT = L::threads;
  extern __shared__ __align__(16) unsigned char raw[];
  const int                                     t = threadIdx.x, X = t % N, Y = t / N, q = blockIdx.x * L::NB + threadIdx.y;
  const bool                                    in = q < a.n, inside = X < n && (DIM == 2 || Y < n);
  const int                                     k = in ? q : a.n - 1, start = a.patches[k].start, estart = a.sweep[k].estart;
  T *S = (T *)raw + threadIdx.y * L::patch, *F = S + DIM * L::FS, *cube = F + 2 * DIM * L::face;
  T  v[n];

#pragma unroll
  for (int d = 0; d < DIM; d++) {
    const T *g = (const T *)a.values + a.sweep[k].f[d];

    for (int i = t; i < L::F; i += NT) S[d * L::FS + i] = g[i < L::head ? i : i + L::skip];
  }
#pragma unroll
  for (int f = 0; f < 2 * DIM; f++) F[f * L::face + t] = At<T>(a, (const V *)a.z, a.eidx[estart + FaceNode<DIM, N>(f, X, Y)]);
  if (inside) {
#pragma unroll
    for (int i = 0; i < n; i++) v[i] = At<T>(a, a.b, a.idx[start + (DIM == 3 ? (i * n + Y) * n + X : i * n + X)]);
  }
  __syncthreads();
  FacesToModes<DIM, n>(t, S, F);
  /* to modes in the last direction: thread (x,y) */
  if (inside) {
    ToModes<n, R>(S + (DIM - 1) * L::FS, v);
#pragma unroll
    for (int i = 0; i < n; i++) cube[DIM == 3 ? X + n * (Y + 1 + N * (i + 1)) : X + n * (i + 1)] = v[i];
  }
  __syncthreads();
  if (DIM == 3) { /* y: thread (x,k) */
    if (inside) {
#pragma unroll
      for (int j = 0; j < n; j++) v[j] = cube[X + n * (j + 1 + N * (Y + 1))];
      ToModes<n, R>(S + L::FS, v);
#pragma unroll
      for (int j = 0; j < n; j++) cube[X + n * (j + 1 + N * (Y + 1))] = v[j];
    }
    __syncthreads();
  }
  { /* x, and back: thread (j,k) or j, the ends among them, whose coefficients are those of faces */
    T             *row = cube + n * t;
    const T       *x0 = F + t, *x1 = x0 + L::face;
    const T *const y0 = F + 2 * L::face + (DIM == 3 ? N * Y : 0) + 1, *const y1 = y0 + L::face; /* along x */
    const bool yend = X == 0 || X == N - 1, zend = DIM == 3 && (Y == 0 || Y == N - 1);

    if (yend || zend) {
      const T *from = DIM == 3 && zend ? F + (Y == 0 ? 4 : 5) * L::face + N * X + 1 : (X == 0 ? y0 : y1);

#pragma unroll
      for (int i = 0; i < n; i++) v[i] = from[i];
    } else {
      const HopsCudaPatchRecord &p = a.patches[k];
      const T  s0 = (T)p.scale[0], s1 = (T)p.scale[1], s2 = DIM == 3 ? (T)p.scale[2] : (T)0, inv5 = (T)(1 / a.sweep[k].s5);
      const T *Sy = S + L::FS, *Sz = S + (DIM - 1) * L::FS;
      const T  ay0 = s1 * Sy[L::alpha + X - 1], ay1 = s1 * Sy[L::alpha + n + X - 1];
      const T  ax0 = s0 * *x0, ax1 = s0 * *x1;
      T        lambda = (T)p.scale[3] + s1 * Sy[L::lambda + X - 1], az0 = 0, az1 = 0;
      const T *z0 = F + (DIM == 3 ? 4 : 0) * L::face + (DIM == 3 ? N * X : 0) + 1, *z1 = z0 + L::face;

      if (DIM == 3) {
        lambda += s2 * Sz[L::lambda + Y - 1];
        az0 = s2 * Sz[L::alpha + Y - 1];
        az1 = s2 * Sz[L::alpha + n + Y - 1];
      }
#pragma unroll
      for (int i = 0; i < n; i++) v[i] = row[i];
      ToModes<n, R>(S, v);
#pragma unroll
      for (int i = 0; i < n; i++) {
        T r = v[i] * inv5 - S[L::alpha + i] * ax0 - S[L::alpha + n + i] * ax1 - ay0 * y0[i] - ay1 * y1[i];

        if (DIM == 3) r -= az0 * z0[i] + az1 * z1[i];
        v[i] = r / (lambda + s0 * S[L::lambda + i]);
      }
    }
    Forget();
    ToNodes<n, R>(S, S + L::E, *x0, *x1, v);
#pragma unroll
    for (int i = 0; i < n; i++) row[i] = v[i];
  }
  __syncthreads();
  if (DIM == 3) { /* y: thread (x,k), k with its ends */
    if (X < n) {
      T *line = cube + X + n * N * Y;

#pragma unroll
      for (int j = 0; j < n; j++) v[j] = line[n * (j + 1)];
      ToNodes<n, R>(S + L::FS, S + L::FS + L::E, line[0], line[n * (N - 1)], v);
#pragma unroll
      for (int j = 0; j < n; j++) line[n * (j + 1)] = v[j];
    }
    __syncthreads();
  }
  if (inside) {
    const T  *Sz   = S + (DIM - 1) * L::FS;
    const int step = DIM == 3 ? n * N : n;
    const T  *line = DIM == 3 ? cube + X + n * (Y + 1) : cube + X;
    const V   w    = (V)a.sweep[k].omega;

#pragma unroll
    for (int i = 0; i < n; i++) v[i] = line[step * (i + 1)];
    ToNodes<n, R>(Sz, Sz + L::E, line[0], line[step * (N - 1)], v);
    if (in) {
#pragma unroll
      for (int i = 0; i < n; i++) {
        const int to = a.idx[start + (DIM == 3 ? (i * n + Y) * n + X : i * n + X)];

        if (to != a.none) a.z[to] = w == 1 ? (V)v[i] : a.z[to] + w * ((V)v[i] - a.z[to]);
      }
    }
  }
}

/*
  The same in 3D on tensor cores, in double precision (cudapatchtensor.cuh). W warps work on a patch and take
  every W-th 16 lines; a block has G patches. In each direction the modes, or the nodes inside, come first,
  then the two ends; S^T is a product of n entries, [S E] and T are of n + 2.
*/
template <int n_, int W_, int G_, int registers> struct SweepTensorSizes {
  static constexpr int n = n_, N = n + 2, W = W_, G = G_, threads = 32 * W * G;
  /* lines: inside, of ends in y or z, in x and ends in z, of two faces */
  static constexpr int inner = n * n, ends = N * N - n * n, mixed = n * N, pair = 2 * N;
  static constexpr int RS = n <= 11 ? 12 : 20, PS = RS * N, FR = N <= 12 ? 12 : 20, FS = FR * N, patch = PS * N + 6 * FS;
  static constexpr int blocks = 65536 / (registers * threads); /* of a multiprocessor: bounds the registers */
};

/* node of a place: inside first, then the ends */
template <int N> __device__ __forceinline__ int Node(int place)
{
  return place < N - 2 ? place + 1 : (place == N - 2 ? 0 : N - 1);
}

template <class L> __global__ void __launch_bounds__(L::threads, L::blocks) SweepTensor(const SweepArgs<double> a)
{
  constexpr int n = L::n, N = L::N, R = (n + 1) / 2 * 2, RS = L::RS, PS = L::PS, FR = L::FR, FS = L::FS, W = L::W;
  using Dual           = HopsTensorProduct<n, n>;
  using Full           = HopsTensorProduct<N, n>;
  constexpr int     ns = Dual::steps, Ns = Full::steps, nt = Full::tiles, oT = n * R + n, oalpha = oT + 2 * n * N; /* in values */
  extern __shared__ __align__(16) unsigned char raw[];
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, slot = threadIdx.x / (32 * W), w = threadIdx.x / 32 % W,
            q                   = blockIdx.x * L::G + slot;
  const bool                 in = q < a.n;
  const int                  k  = in ? q : a.n - 1;
  const HopsCudaPatchRecord &p  = a.patches[k];
  const HopsCudaSweepRecord &sw = a.sweep[k];
  double *const cube = (double *)raw + slot * L::patch, *const F = cube + PS * N;
  constexpr int own = (L::inner + 16 * W - 1) / (16 * W), ptiles = (L::pair + 15) / 16, faces = (3 * ptiles + W - 1) / W,
                mixed = (L::mixed + 16 * W - 1) / (16 * W);
  double y[nt][4];
  int    id[own][ns][2];
  auto   sync = [] {
    if (W == 1) __syncwarp();
    else __syncthreads();
  };
  auto none     = [&](int j, int lines) { return 16 * W * (j + 1) > lines && 16 * (w + W * j) >= lines; }; /* of the last round */
  auto line     = [&](int j, int h) { return 16 * (w + W * j) + g + 8 * h; };
  auto unknowns = [&] {
#pragma unroll
    for (int j = 0; j < own; j++)
#pragma unroll
      for (int s = 0; s < ns; s++)
#pragma unroll
        for (int h = 0; h < 2; h++)
          id[j][s][h] =
            in && line(j, h) < L::inner && 4 * s + t < n ? a.idx[p.start + line(j, h) + L::inner * (4 * s + t)] : a.none;
  };

  { /* what is read; z; faces 2d, 2d+1, across direction d, to modes of the first of the others, which are in ascending order */
    int    fid[faces][Ns][2];
    double x[own][ns][2], f[faces][Ns][2];
    Dual   B;

    unknowns();
#pragma unroll
    for (int j = 0; j < faces; j++) {
      const int tile = w + W * j, d = tile / ptiles, first = 16 * (tile - d * ptiles);

#pragma unroll
      for (int h = 0; h < 2; h++) {
        const int l = min(first + g + 8 * h, L::pair - 1), e = l / N, other = Node<N>(l - e * N), end = e ? N - 1 : 0;
        const int node = sw.estart + (d == 0 ? end + N * N * other : (d == 1 ? N * (end + N * other) : N * (other + N * end)));

#pragma unroll
        for (int s = 0; s < Ns; s++)
          fid[j][s][h] = d < 3 && 4 * s + t < N ? a.eidx[node + Node<N>(4 * s + t) * (d == 0 ? N : 1)] : a.none;
      }
    }
    B.Get(a.packed + sw.t[2]);
#pragma unroll
    for (int j = 0; j < own; j++)
#pragma unroll
      for (int s = 0; s < ns; s++)
#pragma unroll
        for (int h = 0; h < 2; h++) x[j][s][h] = At<double>(a, a.b, id[j][s][h]);
#pragma unroll
    for (int j = 0; j < faces; j++)
#pragma unroll
      for (int s = 0; s < Ns; s++)
#pragma unroll
        for (int h = 0; h < 2; h++) f[j][s][h] = At<double>(a, (const double *)a.z, fid[j][s][h]);
#pragma unroll
    for (int j = 0; j < own; j++) {
      const int l0 = line(j, 0), l1 = line(j, 1);

      if (none(j, L::inner)) break;
      B.Apply(x[j], y);
      HopsTensorPut<n>(y, l0 < L::inner, l1 < L::inner, cube + l0 % n + RS * (l0 / n), cube + l1 % n + RS * (l1 / n), PS, t);
    }
#pragma unroll
    for (int j = 0; j < faces; j++) {
      const int tile = w + W * j, d = tile / ptiles, first = 16 * (tile - d * ptiles);
      Full      C;

      if (tile >= 3 * ptiles) break;
      C.Get(a.packed + sw.t[d == 0 ? 1 : 0] + Dual::size + Full::size);
      C.Apply(f[j], y);
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const int l   = first + g + 8 * h;
        double   *out = F + 2 * d * FS + FR * l; /* FS = FR N */

        if (l < L::pair) {
#pragma unroll
          for (int s = 0; s < Ns; s++) {
            const int i = 4 * s + t;

            if (s < ns && i < n) out[i] = y[s / 2][2 * h + s % 2];
            if (i >= n && i < N) out[i] = f[j][s][h];
          }
        }
      }
    }
  }
  sync();
  { /* y; faces: to modes of the second direction */
    double x[own][ns][2], f[faces][Ns][2];
    Dual   B;
    auto   at   = [&](int j, int h) { return cube + min(line(j, h), L::inner - 1) % n + PS * (min(line(j, h), L::inner - 1) / n); };
    auto   face = [&](int j, int h) {
      const int tile = w + W * j, d = tile / ptiles, l = min(16 * (tile - d * ptiles) + g + 8 * h, L::pair - 1);

      return F + 2 * d * FS + FS * (l / N) + l % N;
    };

    B.Get(a.packed + sw.t[1]);
#pragma unroll
    for (int j = 0; j < own; j++) {
      if (!none(j, L::inner)) HopsTensorGet<n>(at(j, 0), at(j, 1), RS, t, x[j]);
    }
#pragma unroll
    for (int j = 0; j < faces; j++) {
      if (w + W * j < 3 * ptiles) HopsTensorGet<N>(face(j, 0), face(j, 1), FR, t, f[j]);
    }
#pragma unroll
    for (int j = 0; j < own; j++) {
      if (none(j, L::inner)) break;
      B.Apply(x[j], y);
      HopsTensorPut<n>(y, line(j, 0) < L::inner, line(j, 1) < L::inner, at(j, 0), at(j, 1), RS, t);
    }
#pragma unroll
    for (int j = 0; j < faces; j++) {
      const int tile = w + W * j, d = tile / ptiles, l = 16 * (tile - d * ptiles) + g;
      Full      C;

      if (tile >= 3 * ptiles) break;
      C.Get(a.packed + sw.t[d == 2 ? 1 : 2] + Dual::size + Full::size);
      C.Apply(f[j], y);
      HopsTensorPut<n>(y, l < L::pair, l + 8 < L::pair, face(j, 0), face(j, 1), FR, t);
    }
  }
  sync();
  { /* x, and back */
    constexpr int ends  = (L::ends + 16 * W - 1) / (16 * W);
    const double *value = (const double *)a.values, *vx = value + sw.f[0], *vy = value + sw.f[1], *vz = value + sw.f[2];
    const double  s0 = p.scale[0], s1 = p.scale[1], s2 = p.scale[2], inv5 = HopsCudaInverse(sw.s5);
    double        lx[ns], ax[ns][2], x[Ns][2];
    Dual          B;
    Full          C;

    B.Get(a.packed + sw.t[0]);
    C.Get(a.packed + sw.t[0] + Dual::size);
#pragma unroll
    for (int s = 0; s < ns; s++) {
      const int i = min(4 * s + t, n - 1);

      lx[s]    = s0 * vx[n * R + i];
      ax[s][0] = s0 * vx[oalpha + i];
      ax[s][1] = s0 * vx[oalpha + n + i];
    }
#pragma unroll
    for (int j = 0; j < own; j++) {
      double *at[2];

      if (none(j, L::inner)) break;
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const int l = min(line(j, h), L::inner - 1);

        at[h] = cube + RS * (l % n) + PS * (l / n);
      }
      HopsTensorGet<n>(at[0], at[1], 1, t, x);
      B.Apply(x, y);
      HopsTensorTurn<N, n>(y, x);
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const int    l = min(line(j, h), L::inner - 1), Y = l % n, Z = l / n;
        const double lambda = p.scale[3] + s1 * vy[n * R + Y] + s2 * vz[n * R + Z], x0 = F[Y + FR * Z], x1 = F[FS + Y + FR * Z];
        const double ay0 = s1 * vy[oalpha + Y], ay1 = s1 * vy[oalpha + n + Y], az0 = s2 * vz[oalpha + Z],
                     az1 = s2 * vz[oalpha + n + Z];
        const double *y0 = F + 2 * FS + FR * Z, *y1 = y0 + FS, *z0 = F + 4 * FS + FR * Y, *z1 = z0 + FS;

#pragma unroll
        for (int s = 0; s < Ns; s++) {
          const int i = 4 * s + t;

          if (s < ns) {
            /* from i = n on: not used */
            const double r = x[s][h] * inv5 - ax[s][0] * x0 - ax[s][1] * x1 - ay0 * y0[i] - ay1 * y1[i] - az0 * z0[i] - az1 * z1[i];

            x[s][h] = r * HopsCudaInverse(lambda + lx[s]);
          }
          if (4 * s + 3 >= n) x[s][h] = i < n ? x[s][h] : (i == n ? x0 : (i == n + 1 ? x1 : 0.0));
        }
      }
      C.Apply(x, y);
      HopsTensorPut<n>(y, line(j, 0) < L::inner, line(j, 1) < L::inner, at[0], at[1], 1, t);
    }
    /* ends of z, then of y: coefficients of faces */
#pragma unroll
    for (int j = 0; j < ends; j++) {
      double *at[2];

      if (none(j, L::ends)) break;
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const int     l = min(line(j, h), L::ends - 1), r = l - 2 * N;
        const int     Y = r < 0 ? l % N : n + r / n, Z = r < 0 ? n + l / N : r % n;
        const double *from = r < 0 ? F + (4 + Z - n) * FS + FR * Y : F + (2 + Y - n) * FS + FR * Z;

        at[h] = cube + RS * Y + PS * Z;
#pragma unroll
        for (int s = 0; s < Ns; s++) {
          const int i = 4 * s + t;

          x[s][h] = i < n ? from[i] : (i < N ? F[(i - n) * FS + Y + FR * Z] : 0.0);
        }
      }
      C.Apply(x, y);
      HopsTensorPut<n>(y, line(j, 0) < L::ends, line(j, 1) < L::ends, at[0], at[1], 1, t);
    }
  }
  sync();
  { /* y, and the ends of z */
    double x[mixed][Ns][2];
    Full   B;
    auto   at = [&](int j, int h) { return cube + min(line(j, h), L::mixed - 1) % n + PS * (min(line(j, h), L::mixed - 1) / n); };

    B.Get(a.packed + sw.t[1] + Dual::size);
#pragma unroll
    for (int j = 0; j < mixed; j++) {
      if (!none(j, L::mixed)) HopsTensorGet<N>(at(j, 0), at(j, 1), RS, t, x[j]);
    }
#pragma unroll
    for (int j = 0; j < mixed; j++) {
      if (none(j, L::mixed)) break;
      B.Apply(x[j], y);
      HopsTensorPut<n>(y, line(j, 0) < L::mixed, line(j, 1) < L::mixed, at(j, 0), at(j, 1), RS, t);
    }
  }
  unknowns();
  sync();
  { /* z */
    const double omega = sw.omega;
    double       x[own][Ns][2];
    Full         B;
    auto at = [&](int j, int h) { return cube + min(line(j, h), L::inner - 1) % n + RS * (min(line(j, h), L::inner - 1) / n); };

    B.Get(a.packed + sw.t[2] + Dual::size);
#pragma unroll
    for (int j = 0; j < own; j++) {
      if (!none(j, L::inner)) HopsTensorGet<N>(at(j, 0), at(j, 1), PS, t, x[j]);
    }
#pragma unroll
    for (int j = 0; j < own; j++) {
      if (none(j, L::inner)) break;
      B.Apply(x[j], y);
#pragma unroll
      for (int s = 0; s < ns; s++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
          const int    to = id[j][s][h];
          const double u  = y[s / 2][2 * h + s % 2];

          if (to != a.none) a.z[to] = omega == 1 ? u : a.z[to] + omega * (u - a.z[to]);
        }
    }
  }
}

/* out[o][m][i] (+)= s sum_c M[m][c] in[o][c][i], M with rows of `row` entries (transposed: M[c][m]) */
template <class T>
__device__ void Product(const T *__restrict__ M, int row, bool transposed, int m, int c, int outer, int inner, const T *in, T s,
                        bool add, T *out)
{
  for (int e = threadIdx.x; e < outer * m * inner; e += blockDim.x) {
    const int i = e % inner, r = e / inner % m, o = e / (inner * m);
    T         v = 0;

    for (int j = 0; j < c; j++) v += M[transposed ? j * row + r : r * row + j] * in[(o * c + j) * inner + i];
    out[e] = add ? out[e] + s * v : s * v;
  }
  __syncthreads();
}

/* Any window: blocks take patches in turn where their scratch lies in the device's memory */
template <class T, class V> __global__ void __launch_bounds__(128) SweepBricks(const SweepArgs<V> a, int dim)
{
  extern __shared__ __align__(16) unsigned char raw[];

  for (int q = blockIdx.x; q < a.n; q += gridDim.x) {
    const HopsCudaPatchRecord &p  = a.patches[q];
    const HopsCudaSweepRecord &w  = a.sweep[q];
    const int                  n0 = p.size[0], n1 = p.size[1], n2 = dim == 3 ? p.size[2] : 1, N0 = w.esize[0], N1 = w.esize[1],
              N2    = dim == 3 ? w.esize[2] : 1;
    const int total = n0 * n1 * n2;
    const T  *S[3], *l[3], *M[3], *A[3];
    T        *u = a.work ? (T *)((unsigned char *)a.work + blockIdx.x * a.nwork) : (T *)raw, *um = u + N0 * N1 * N2,
      *ua = um + n0 * N1 * N2, *P = ua + n0 * N1 * N2, *Q = P + n0 * n1 * N2, *r = Q + n0 * n1 * N2;

    for (int d = 0; d < dim; d++) {
      S[d] = (const T *)a.values + w.f[d];
      l[d] = S[d] + p.size[d] * ((p.size[d] + 1) / 2 * 2);
      M[d] = l[d] + p.size[d];
      A[d] = M[d] + p.size[d] * w.esize[d];
    }
    for (int e = threadIdx.x; e < N0 * N1 * N2; e += blockDim.x) u[e] = At<T>(a, (const V *)a.z, a.eidx[w.estart + e]);
    __syncthreads();
    /* the operator on all nodes, in modes: r = s_0 A M M + s_1 M A M + s_2 M M A + s_3 M M M */
    Product(M[0], N0, false, n0, N0, N1 * N2, 1, u, (T)1, false, um);
    Product(A[0], N0, false, n0, N0, N1 * N2, 1, u, (T)p.scale[0], false, ua);
    Product(M[1], N1, false, n1, N1, N2, n0, um, (T)1, false, P);
    Product(M[1], N1, false, n1, N1, N2, n0, ua, (T)1, false, Q);
    Product(A[1], N1, false, n1, N1, N2, n0, um, (T)p.scale[1], true, Q);
    for (int e = threadIdx.x; e < n0 * n1 * N2; e += blockDim.x) Q[e] += (T)p.scale[3] * P[e];
    __syncthreads();
    if (dim == 3) {
      Product(M[2], N2, false, n2, N2, 1, n0 * n1, Q, (T)1, false, r);
      Product(A[2], N2, false, n2, N2, 1, n0 * n1, P, (T)p.scale[2], true, r);
    } else r = Q;
    /* the right-hand side in modes */
    for (int e = threadIdx.x; e < total; e += blockDim.x) um[e] = At<T>(a, a.b, a.idx[p.start + e]);
    __syncthreads();
    Product(S[0], (n0 + 1) / 2 * 2, true, n0, n0, n1 * n2, 1, um, (T)1, false, ua);
    Product(S[1], (n1 + 1) / 2 * 2, true, n1, n1, n2, n0, ua, (T)1, false, um);
    if (dim == 3) Product(S[2], (n2 + 1) / 2 * 2, true, n2, n2, 1, n0 * n1, um, (T)1, false, ua);
    {
      const T *rhs = dim == 3 ? ua : um, s5 = (T)w.s5;

      for (int e = threadIdx.x; e < total; e += blockDim.x) {
        const int i[3]   = {e % n0, e / n0 % n1, e / (n0 * n1)};
        T         lambda = (T)p.scale[3];

        for (int d = 0; d < dim; d++) lambda += (T)p.scale[d] * l[d][i[d]];
        u[e] = (T)p.scale[4] * (rhs[e] - s5 * r[e]) / lambda;
      }
    }
    __syncthreads();
    Product(S[0], (n0 + 1) / 2 * 2, false, n0, n0, n1 * n2, 1, u, (T)1, false, ua);
    Product(S[1], (n1 + 1) / 2 * 2, false, n1, n1, n2, n0, ua, (T)1, false, u);
    if (dim == 3) Product(S[2], (n2 + 1) / 2 * 2, false, n2, n2, 1, n0 * n1, u, (T)1, false, ua);
    {
      const T *out = dim == 3 ? ua : u;

      for (int e = threadIdx.x; e < total; e += blockDim.x) {
        const int to = a.idx[p.start + e];

        if (to != a.none) a.z[to] += (V)out[e];
      }
    }
    __syncthreads();
  }
}

size_t HopsCudaSweepShared(int dim, const int n[3], const int N[3], PetscBool single)
{
  const size_t N2 = dim == 3 ? N[2] : 1, n2 = dim == 3 ? n[2] : 1;

  return ((size_t)N[0] * N[1] * N2 + 2 * (size_t)n[0] * N[1] * N2 + 2 * (size_t)n[0] * n[1] * N2 +
          (dim == 3 ? (size_t)n[0] * n[1] * n2 : 0)) *
         (single ? sizeof(float) : sizeof(double));
}

template <int DIM, int n, class T, class V> static cudaError_t RunCubes(const SweepArgs<V> &a, cudaStream_t stream)
{
  using L          = SweepSizes<DIM, n>;
  const size_t mem = sizeof(T) * L::patch * L::NB;
  cudaError_t  err = mem > 48 * 1024
                       ? cudaFuncSetAttribute(SweepCubes<DIM, n, T, V>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)mem)
                       : cudaSuccess;

  if (err) return err;
  SweepCubes<DIM, n, T, V><<<(a.n + L::NB - 1) / L::NB, dim3(L::threads, L::NB), mem, stream>>>(a);
  return cudaGetLastError();
}

template <class L> static cudaError_t RunTensor(const SweepArgs<double> &a, cudaStream_t stream)
{
  const size_t mem = sizeof(double) * L::patch * L::G;
  cudaError_t  err = cudaFuncSetAttribute(SweepTensor<L>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)mem);

  if (err) return err;
  SweepTensor<L><<<(a.n + L::G - 1) / L::G, L::threads, mem, stream>>>(a);
  return cudaGetLastError();
}

template <class T, class V>
static cudaError_t Run(SweepArgs<V> a, const HopsCudaSweepData *d, const HopsCudaPatchRun *run, int dim, cudaStream_t stream)
{
  if (run->kind == HOPS_CUDA_PATCH_CUBE && run->group) {
/* as measured to be fastest */
#define SWEEP_TENSOR(n, ...) \
  if (run->size == n && a.packed && HopsCudaPatchTensor) return RunTensor<SweepTensorSizes<n, __VA_ARGS__>>(a, stream);
    if constexpr (sizeof(T) == 8) {
      SWEEP_TENSOR(5, 1, 4, 128)
      SWEEP_TENSOR(7, 2, 2, 128)
      SWEEP_TENSOR(9, 6, 1, 80)
      SWEEP_TENSOR(11, 4, 1, 168)
      SWEEP_TENSOR(13, 6, 1, 168)
      SWEEP_TENSOR(15, 8, 1, 128)
    }
#define SWEEP_CUBES(n) \
  if (run->size == n) return dim == 3 ? RunCubes<3, n, T>(a, stream) : RunCubes<2, n, T>(a, stream);
    SWEEP_CUBES(1)
    SWEEP_CUBES(3)
    SWEEP_CUBES(5)
    SWEEP_CUBES(7)
    SWEEP_CUBES(9)
    SWEEP_CUBES(11)
    SWEEP_CUBES(13)
    SWEEP_CUBES(15)
  }
  {
    const bool  shared = !d->work;
    const int   blocks = shared ? a.n : PetscMin(a.n, d->nblocks);
    cudaError_t err =
      shared ? cudaFuncSetAttribute(SweepBricks<T, V>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)d->nwork) : cudaSuccess;

    if (err) return err;
    a.work = d->work;
    SweepBricks<T, V><<<blocks, 128, shared ? d->nwork : 0, stream>>>(a, dim);
    return cudaGetLastError();
  }
}

PetscErrorCode HopsCudaSweepLaunch(HopsCudaPatchSet s, const HopsCudaSweepData *d, const HopsCudaPatchRun *run, PetscBool floats,
                                   const void *b, void *z, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCheck(run->kind != HOPS_CUDA_PATCH_DENSE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A dense patch in a fused sweep");
  PetscCheck(!floats || s->single, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "Vectors in single precision need patches in single precision");
  if (run->group > 1) {
    const HopsCudaPatchRecord *p = s->patches + run->first;
    const HopsCudaSweepRecord *w = d->patches + run->first;
    const HopsCudaPatchList    list =
      {&p->start,      &w->estart, s->idx, d->eidx, sizeof(*p) / sizeof(int), sizeof(*w) / sizeof(int), (int)run->n,
       (int)s->nP - 1, floats,     b,      z};

    PetscCall(HopsCudaPatchSweepList(d->classes[run->group - 2], &list, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (floats) {
    const SweepArgs<float> a = {s->patches + run->first,
                                d->patches + run->first,
                                s->idx,
                                d->eidx,
                                d->values,
                                d->packed,
                                (const float *)b,
                                (float *)z,
                                NULL,
                                d->nwork,
                                (int)run->n,
                                (int)s->nP - 1};

    PetscCallCUDA((Run<float, float>(a, d, run, s->dim, stream)));
  } else {
    const SweepArgs<double> a = {s->patches + run->first,
                                 d->patches + run->first,
                                 s->idx,
                                 d->eidx,
                                 d->values,
                                 d->packed,
                                 (const double *)b,
                                 (double *)z,
                                 NULL,
                                 d->nwork,
                                 (int)run->n,
                                 (int)s->nP - 1};

    if (s->single) PetscCallCUDA((Run<float, double>(a, d, run, s->dim, stream)));
    else PetscCallCUDA((Run<double, double>(a, d, run, s->dim, stream)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
