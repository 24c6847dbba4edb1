/*
  Vertex-patch smoothing in the stages of the literature, to compare with the kernels of the library: N x N
  threads (N = 2p + 1) work on a patch, each on a column of it in the third direction; patches and 1D matrices
  lie in shared memory, from which every product reads both factors.

    global      residual b - A x of the whole domain before each colour, then the local solver
    separate    residual of a colour's patches in a kernel of its own
    fused       both in one kernel; threads of the patch's surface idle in the local solver
    linear      as fused; interior nodes are numbered through, so that whole warps idle
    free        as linear; interior values lie one behind the other, and threads read and write without bank
    conflicts
    boundary    as free; the residual takes x on the patch's boundary alone, b_I - A_IB x_B, and the local
    solver's result replaces x inside

  In 2D a thread works on one node.
*/
#pragma once
#include <cuda_runtime.h>
#include "patchstages.h"

template <class T> struct StageArgs {
  int       n[3], c[3], ncells[3], sy;
  long long sz;
  const T  *tables; /* A0 (with the mass term), A1, A2, M: [N][N]; S: [n][n]; Dinv[z mode][y mode][x mode] */
  const T  *b;
  T        *x, *r;
};

/*
  A product along one direction: out = (or += or -=) K in on the L x L columns; the thread (row, col) of its
  plane. STRIDE is that of rows in shared memory, LK that of the matrix; with TR the matrix is transposed.
*/
template <int L, int LK, int STRIDE, int PLANE, int NZ, int DIR, bool FREE, bool TR, int OP, class T>
__device__ __forceinline__ void Apply(const T *K, const T *in, T *out, int row, int col, bool active)
{
  T v[NZ];

  if (active) {
#pragma unroll
    for (int z = 0; z < NZ; z++) v[z] = 0;
#pragma unroll
    for (int z = 0; z < NZ; z++) {
#pragma unroll
      for (int k = 0; k < L; k++) {
        const int i = DIR == 0 ? (FREE ? col : row) : (DIR == 1 ? row : z);
        const int s = DIR == 0 ? (FREE ? row : col) * STRIDE + k + z * PLANE
                               : (DIR == 1 ? k * STRIDE + col + z * PLANE : row * STRIDE + col + k * PLANE);

        v[z] += K[TR ? k * LK + i : i * LK + k] * in[s];
      }
    }
  }
  if (in == out) __syncthreads();
  if (active) {
#pragma unroll
    for (int z = 0; z < NZ; z++) {
      const int d = (DIR == 0 && !FREE ? col * STRIDE + row : row * STRIDE + col) + z * PLANE;

      if (OP > 0) out[d] += v[z];
      else if (OP < 0) out[d] -= v[z];
      else out[d] = v[z];
    }
  }
  __syncthreads();
}

template <int DIM, int P> struct StageSizes {
  static constexpr int n = 2 * P - 1, N = n + 2, N2 = N * N, NZ = DIM == 3 ? N : 1, nz = DIM == 3 ? n : 1;
  static constexpr int NB     = N2 >= 96 ? 1 : 96 / N2 + 1; /* patches of a block */
  static constexpr int tables = 4 * N2 + n * n, nodes = N2 * NZ;
  /* Boundary: numbers of x_B, of u or w (after a product along the faces), of f or g (after two); for a
     patch, those inside included */
  static constexpr int in = n * n * nz, face = DIM == 3 ? 2 * (N2 + n * N + n * n) : 2 * (N + n),
                       once = DIM == 3 ? 2 * (N * n + 2 * n * n) : 4 * n, twice = DIM == 3 ? 6 * n * n : 0;
  static constexpr int work = 2 * once + (face > 2 * twice ? face : 2 * twice), boundary = in + (work > in ? work : in);
};

/* The first node of patch q of the colour */
template <int P, class T> __device__ __forceinline__ long long StageFirst(const StageArgs<T> &a, int q)
{
  return (long long)(2 * (q % a.n[0]) + a.c[0]) * P + (long long)(2 * (q / a.n[0] % a.n[1]) + a.c[1]) * P * a.sy +
         (2 * (q / (a.n[0] * a.n[1])) + a.c[2]) * P * a.sz;
}

/* The local solver: s <- A_II^{-1} s by fast diagonalization; o is as large */
template <int DIM, int P, class T, int RS, int PS, bool FREE>
__device__ __forceinline__ void Solve(const T *S, const T *Dinv, T *s, T *o, int ir, int ic, bool inner)
{
  using L         = StageSizes<DIM, P>;
  constexpr int n = L::n, nz = L::nz, n2 = n * n;

  Apply<n, n, RS, PS, nz, 0, FREE, true, 0, T>(S, s, o, ir, ic, inner);
  Apply<n, n, RS, PS, nz, 1, FREE, true, 0, T>(S, o, s, ir, ic, inner);
  if (DIM == 3) Apply<n, n, RS, PS, nz, 2, FREE, true, 0, T>(S, s, s, ir, ic, inner);
  if (inner)
#pragma unroll
    for (int z = 0; z < nz; z++) s[ir * RS + ic + z * PS] *= __ldg(Dinv + z * n2 + ir * n + ic);
  __syncthreads();
  if (DIM == 3) Apply<n, n, RS, PS, nz, 2, FREE, false, 0, T>(S, s, s, ir, ic, inner);
  Apply<n, n, RS, PS, nz, 1, FREE, false, 0, T>(S, s, o, ir, ic, inner);
  Apply<n, n, RS, PS, nz, 0, FREE, false, 0, T>(S, o, s, ir, ic, inner);
}

/* LAYOUT: 0 threads of the surface idle, 1 linear, 2 without bank conflicts */
template <int DIM, int P, class T, int LAYOUT, bool RESIDUAL, bool SOLVE>
__global__ void __launch_bounds__(StageSizes<DIM, P>::N2 *StageSizes<DIM, P>::NB) StageKernel(const StageArgs<T> a)
{
  using L             = StageSizes<DIM, P>;
  constexpr int     n = L::n, N = L::N, N2 = L::N2, NZ = L::NZ, nz = L::nz, n2 = n * n, e = DIM == 3 ? 1 : 0;
  constexpr bool    FREE = LAYOUT == 2;
  constexpr int     RS = FREE ? n : N, PS = FREE ? n2 : N2, O = FREE ? 0 : N + 1 + e * N2; /* of the interior values r */
  extern __shared__ __align__(16) unsigned char raw[];
  T *const tab = (T *)raw, *const A0 = tab, *const A1 = tab + N2, *const A2 = tab + 2 * N2, *const M = tab + 3 * N2,
           *const S = tab + 4 * N2;
  const int       t = threadIdx.x, col = t % N, row = t / N, q = blockIdx.x * L::NB + threadIdx.y;
  const bool      in   = q < a.n[0] * a.n[1] * a.n[2];
  const long long base = StageFirst<P>(a, in ? q : 0);
  T              *x = tab + L::tables + threadIdx.y * 4 * L::nodes, *u = x + L::nodes, *w = u + L::nodes, *r = w + L::nodes;
  /* the interior node of a thread: those of the surface idle, or the last ones */
  const bool inner = LAYOUT ? t < n2 : (col > 0 && col < N - 1 && row > 0 && row < N - 1);
  const int  ic = LAYOUT ? t % n : col - 1, ir = LAYOUT ? t / n : row - 1;

  for (int i = t + N2 * threadIdx.y; i < L::tables; i += N2 * L::NB) tab[i] = a.tables[i];
  if (RESIDUAL)
#pragma unroll
    for (int z = 0; z < NZ; z++) x[t + z * N2] = a.x[base + col + row * a.sy + z * a.sz];
  if (inner)
#pragma unroll
    for (int z = 0; z < nz; z++)
      r[O + ir * RS + ic + z * PS] = (RESIDUAL ? a.b : a.r)[base + ic + 1 + (ir + 1) * a.sy + (z + e) * a.sz];
  __syncthreads();
  if (RESIDUAL) {
    Apply<N, N, N, N2, NZ, 0, FREE, false, 0, T>(M, x, u, row, col, true);
    Apply<N, N, N, N2, NZ, 0, FREE, false, 0, T>(A0, x, w, row, col, true);
    Apply<N, N, N, N2, NZ, 1, FREE, false, 0, T>(M, w, w, row, col, true);
    Apply<N, N, N, N2, NZ, 1, FREE, false, 1, T>(A1, u, w, row, col, true);
    if (DIM == 3) {
      Apply<N, N, N, N2, NZ, 1, FREE, false, 0, T>(M, u, u, row, col, true);
      /* z: to the interior alone */
      if (row > 0 && row < N - 1 && col > 0 && col < N - 1) {
        T v[nz];

#pragma unroll
        for (int z = 0; z < nz; z++) v[z] = 0;
#pragma unroll
        for (int z = 0; z < nz; z++)
#pragma unroll
          for (int k = 0; k < NZ; k++) v[z] += A2[(z + 1) * N + k] * u[t + k * N2] + M[(z + 1) * N + k] * w[t + k * N2];
#pragma unroll
        for (int z = 0; z < nz; z++) r[O + (row - 1) * RS + col - 1 + z * PS] -= v[z];
      }
    } else if (row > 0 && row < N - 1 && col > 0 && col < N - 1) r[O + (row - 1) * RS + col - 1] -= w[t];
    __syncthreads();
  }
  if (SOLVE) Solve<DIM, P, T, RS, PS, FREE>(S, a.tables + L::tables, r + O, (RESIDUAL ? u : x) + O, ir, ic, inner);
  if (inner && in) {
#pragma unroll
    for (int z = 0; z < nz; z++) {
      const long long g = base + ic + 1 + (ir + 1) * a.sy + (z + e) * a.sz;
      const T         v = r[O + ir * RS + ic + z * PS];

      if (SOLVE) a.x[g] += v;
      else a.r[g] = v;
    }
  }
}

/* Two opposite faces [2][ROWS][K] of a patch, K = N nodes of a row or the n interior ones: [2][ROWS][n] u = M
   x and w = A x along the rows */
template <int N, int K, int ROWS, class T>
__device__ __forceinline__ void FaceRows(const T *M, const T *A, const T *x, T *u, T *w, int row, int col)
{
  constexpr int n = N - 2, first = (N - K) / 2;

  if (row < ROWS) {
    T v[2] = {0, 0}, y[2] = {0, 0};

#pragma unroll
    for (int s = 0; s < 2; s++) {
#pragma unroll
      for (int k = 0; k < K; k++) {
        v[s] += M[(col + 1) * N + first + k] * x[(s * ROWS + row) * K + k];
        y[s] += A[(col + 1) * N + first + k] * x[(s * ROWS + row) * K + k];
      }
    }
#pragma unroll
    for (int s = 0; s < 2; s++) {
      u[(s * ROWS + row) * n + col] = v[s];
      w[(s * ROWS + row) * n + col] = y[s];
    }
  }
}

/* Then across the K rows: [2][n][n] f = M w + A u and g = M u */
template <int N, int K, class T>
__device__ __forceinline__ void FaceColumns(const T *M, const T *A, const T *u, const T *w, T *f, T *g, int row, int col)
{
  constexpr int n = N - 2, first = (N - K) / 2;

  if (row < n) {
    T v[2] = {0, 0}, y[2] = {0, 0};

#pragma unroll
    for (int s = 0; s < 2; s++) {
#pragma unroll
      for (int k = 0; k < K; k++) {
        v[s] += M[(row + 1) * N + first + k] * w[(s * K + k) * n + col] + A[(row + 1) * N + first + k] * u[(s * K + k) * n + col];
        y[s] += M[(row + 1) * N + first + k] * u[(s * K + k) * n + col];
      }
    }
#pragma unroll
    for (int s = 0; s < 2; s++) {
      f[(s * n + row) * n + col] = v[s];
      g[(s * n + row) * n + col] = y[s];
    }
  }
}

/*
  x_I = A_II^{-1} (b_I - A_IB x_B). Nodes of the boundary belong to the faces of z, else to those of y, else
  to those of x, so that A_IB has a block for each pair of faces. In a block the terms have two factors in the
  normal direction, the columns M_IB and A_IB: what they multiply, f and g, is summed on the faces.
*/
template <int DIM, int P, class T>
__global__ void __launch_bounds__(StageSizes<DIM, P>::N2 *StageSizes<DIM, P>::NB) StageBoundary(const StageArgs<T> a)
{
  using L             = StageSizes<DIM, P>;
  constexpr int     n = L::n, N = L::N, N2 = L::N2, nz = L::nz, n2 = n * n, e = DIM == 3 ? 1 : 0;
  extern __shared__ __align__(16) unsigned char raw[];
  T *const tab = (T *)raw, *const A0 = tab, *const A1 = tab + N2, *const A2 = tab + 2 * N2, *const M = tab + 3 * N2,
           *const S = tab + 4 * N2;
  const int       t = threadIdx.x, col = t % N, row = t / N, ic = t % n, ir = t / n, q = blockIdx.x * L::NB + threadIdx.y;
  const bool      in = q < a.n[0] * a.n[1] * a.n[2], inner = t < n2;
  const long long base = StageFirst<P>(a, in ? q : 0);
  /* faces of x [2][z][y], of y [2][z][x], of z [2][y][x]; f and g overwrite x in 3D and are w and u in 2D,
     and the local solver overwrites all of them */
  T *r = tab + L::tables + threadIdx.y * L::boundary, *u = r + L::in, *w = u + L::once, *x = w + L::once;
  T *xx = x, *xy = xx + 2 * nz * n, *xz = xy + 2 * nz * N, *ux = u, *uy = ux + 2 * nz * n, *uz = uy + 2 * nz * n, *wx = w,
    *wy = wx + 2 * nz * n, *wz = wy + 2 * nz * n;
  T *fx = DIM == 3 ? x : wx, *fy = DIM == 3 ? x + 2 * n2 : wy, *fz = x + 4 * n2, *gx = DIM == 3 ? x + L::twice : ux,
    *gy = DIM == 3 ? gx + 2 * n2 : uy, *gz = gx + 4 * n2;

  for (int i = t + N2 * threadIdx.y; i < L::tables; i += N2 * L::NB) tab[i] = a.tables[i];
#pragma unroll
  for (int s = 0; s < 2; s++) {
    if (ir < nz) xx[(s * nz + ir) * n + ic] = a.x[base + s * (N - 1) + (ic + 1) * a.sy + (ir + e) * a.sz];
    if (row < nz) xy[(s * nz + row) * N + col] = a.x[base + col + s * (N - 1) * a.sy + (row + e) * a.sz];
    if (DIM == 3) xz[s * N2 + t] = a.x[base + col + row * a.sy + s * (N - 1) * a.sz];
  }
  if (inner)
#pragma unroll
    for (int z = 0; z < nz; z++) r[t + z * n2] = a.b[base + ic + 1 + (ir + 1) * a.sy + (z + e) * a.sz];
  __syncthreads();
  FaceRows<N, n, nz, T>(M, A1, xx, ux, wx, ir, ic);
  FaceRows<N, N, nz, T>(M, A0, xy, uy, wy, ir, ic);
  if (DIM == 3) FaceRows<N, N, N, T>(M, A0, xz, uz, wz, ir, ic);
  __syncthreads();
  if (DIM == 3) {
    FaceColumns<N, n, T>(M, A2, ux, wx, fx, gx, ir, ic);
    FaceColumns<N, n, T>(M, A2, uy, wy, fy, gy, ir, ic);
    FaceColumns<N, N, T>(M, A1, uz, wz, fz, gz, ir, ic);
    __syncthreads();
  }
  if (inner) {
    T v[nz];

#pragma unroll
    for (int z = 0; z < nz; z++) v[z] = 0;
#pragma unroll
    for (int z = 0; z < nz; z++)
#pragma unroll
      for (int s = 0; s < 2; s++) {
        const int k = s * (N - 1);

        v[z] += M[(ic + 1) * N + k] * fx[(s * nz + z) * n + ir] + A0[(ic + 1) * N + k] * gx[(s * nz + z) * n + ir];
        v[z] += M[(ir + 1) * N + k] * fy[(s * nz + z) * n + ic] + A1[(ir + 1) * N + k] * gy[(s * nz + z) * n + ic];
        if (DIM == 3) v[z] += M[(z + 1) * N + k] * fz[s * n2 + t] + A2[(z + 1) * N + k] * gz[s * n2 + t];
      }
#pragma unroll
    for (int z = 0; z < nz; z++) r[t + z * n2] -= v[z];
  }
  __syncthreads();
  Solve<DIM, P, T, n, n2, true>(S, a.tables + L::tables, r, u, ir, ic, inner);
  if (inner && in)
#pragma unroll
    for (int z = 0; z < nz; z++) a.x[base + ic + 1 + (ir + 1) * a.sy + (z + e) * a.sz] = r[t + z * n2];
}

/* r -= A x cell by cell, boundary nodes included (their r is not used) */
template <int DIM, int P, class T> __global__ void __launch_bounds__((P + 1) * (P + 1)) StageCells(const StageArgs<T> a)
{
  constexpr int Q = P + 1, Q2 = Q * Q, NZ = DIM == 3 ? Q : 1,
                C = 4 * StageSizes<DIM, P>::N2 + (2 * P - 1) * (2 * P - 1) +
                    (DIM == 3 ? (2 * P - 1) * (2 * P - 1) * (2 * P - 1) : (2 * P - 1) * (2 * P - 1));
  __shared__ T A[4 * Q2], x[Q2 * NZ], u[Q2 * NZ], w[Q2 * NZ];
  const int t = threadIdx.x, col = t % Q, row = t / Q, c0 = blockIdx.x % a.ncells[0], c1 = blockIdx.x / a.ncells[0] % a.ncells[1],
            c2         = blockIdx.x / a.ncells[0] / a.ncells[1];
  const long long base = ((long long)c0 + (long long)c1 * a.sy + c2 * a.sz) * P + col + row * a.sy;

  for (int i = 0; i < 4; i++) A[i * Q2 + t] = a.tables[C + i * Q2 + t];
#pragma unroll
  for (int z = 0; z < NZ; z++) x[t + z * Q2] = a.x[base + z * a.sz];
  __syncthreads();
  Apply<Q, Q, Q, Q2, NZ, 0, true, false, 0, T>(A + 3 * Q2, x, u, row, col, true);
  Apply<Q, Q, Q, Q2, NZ, 0, true, false, 0, T>(A, x, w, row, col, true);
  Apply<Q, Q, Q, Q2, NZ, 1, true, false, 0, T>(A + 3 * Q2, w, w, row, col, true);
  Apply<Q, Q, Q, Q2, NZ, 1, true, false, 1, T>(A + Q2, u, w, row, col, true);
  if (DIM == 3) {
    Apply<Q, Q, Q, Q2, NZ, 1, true, false, 0, T>(A + 3 * Q2, u, u, row, col, true);
    Apply<Q, Q, Q, Q2, NZ, 2, true, false, 0, T>(A + 3 * Q2, w, w, row, col, true);
    Apply<Q, Q, Q, Q2, NZ, 2, true, false, 1, T>(A + 2 * Q2, u, w, row, col, true);
  }
#pragma unroll
  for (int z = 0; z < NZ; z++) atomicAdd(a.r + base + z * a.sz, -w[t + z * Q2]);
}

/* `each`: numbers of a patch in shared memory */
template <int DIM, int P, class T>
static cudaError_t StageLaunch(void (*kernel)(const StageArgs<T>), int each, const StageArgs<T> &a)
{
  using L          = StageSizes<DIM, P>;
  const int    np  = a.n[0] * a.n[1] * a.n[2];
  const size_t mem = sizeof(T) * (L::tables + (size_t)each * L::NB);
  cudaError_t  err;

  if (!np) return cudaSuccess;
  err = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)mem);
  if (err) return err;
  kernel<<<(np + L::NB - 1) / L::NB, dim3(L::N2, L::NB), mem>>>(a);
  return cudaGetLastError();
}

template <int DIM, int P, class T, int LAYOUT, bool RESIDUAL, bool SOLVE> static cudaError_t StageLaunch(const StageArgs<T> &a)
{
  return StageLaunch<DIM, P, T>(StageKernel<DIM, P, T, LAYOUT, RESIDUAL, SOLVE>, 4 * StageSizes<DIM, P>::nodes, a);
}

template <int DIM, int P, class T> static cudaError_t StageSweep(HopsPatchStage stage, const HopsStageBox *box)
{
  StageArgs<T> a;
  cudaError_t  err = cudaSuccess;

  for (int d = 0; d < 3; d++) a.ncells[d] = d < DIM ? box->ncells[d] : 1;
  a.sy     = (int)box->sy;
  a.sz     = box->sz;
  a.tables = (const T *)box->tables;
  a.b      = (const T *)box->b;
  a.x      = (T *)box->x;
  a.r      = (T *)box->r;
  for (int color = box->first; color < box->last && !err; color++) {
    for (int d = 0; d < 3; d++) {
      a.c[d] = d < DIM ? (color >> (DIM - 1 - d)) & 1 : 0;
      a.n[d] = d < DIM ? (a.ncells[d] - a.c[d]) / 2 : 1;
    }
    switch (stage) {
    case HOPS_STAGE_GLOBAL:
      err = cudaMemcpyAsync(a.r, a.b, sizeof(T) * (size_t)box->nnodes, cudaMemcpyDeviceToDevice);
      if (err) return err;
      StageCells<DIM, P, T><<<a.ncells[0] * a.ncells[1] * a.ncells[2], (P + 1) * (P + 1)>>>(a);
      err = cudaGetLastError();
      if (!err) err = StageLaunch<DIM, P, T, 0, false, true>(a);
      break;
    case HOPS_STAGE_SEPARATE:
      err = StageLaunch<DIM, P, T, 0, true, false>(a);
      if (!err) err = StageLaunch<DIM, P, T, 0, false, true>(a);
      break;
    case HOPS_STAGE_FUSED:
      err = StageLaunch<DIM, P, T, 0, true, true>(a);
      break;
    case HOPS_STAGE_LINEAR:
      err = StageLaunch<DIM, P, T, 1, true, true>(a);
      break;
    case HOPS_STAGE_FREE:
      err = StageLaunch<DIM, P, T, 2, true, true>(a);
      break;
    case HOPS_STAGE_SEPARATEFREE:
      err = StageLaunch<DIM, P, T, 2, true, false>(a);
      if (!err) err = StageLaunch<DIM, P, T, 2, false, true>(a);
      break;
    case HOPS_STAGE_BOUNDARY:
      err = StageLaunch<DIM, P, T>(StageBoundary<DIM, P, T>, StageSizes<DIM, P>::boundary, a);
      break;
    }
  }
  return err;
}

#define HOPS_STAGES_DEFINE(P) \
  extern "C" int HopsStageSweep_##P(HopsPatchStage stage, const HopsStageBox *b) \
  { \
    if (b->single) return b->dim == 3 ? StageSweep<3, P, float>(stage, b) : StageSweep<2, P, float>(stage, b); \
    return b->dim == 3 ? StageSweep<3, P, double>(stage, b) : StageSweep<2, P, double>(stage, b); \
  }
