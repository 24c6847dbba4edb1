/*
  Transfers between the lexicographic nodes of a uniform box and those of the box with half as many cells, by the 1D matrix J of a
  pair of cells in each direction. Functions vanish on the boundary. A fine or coarse node belongs to the pair or coarse cell of which it
  is not the last one in any direction, and is written once.
*/
#pragma once
#include "cudaboxtable.cuh"

template <class T, class TC>
struct HopsBoxProlongArgs {
  int       n[3];   /* coarse cells */
  int       sy, cy; /* nodes of a row, fine and coarse; of a plane: */
  long long sz, cz;
  T         s;
  const T *__restrict__ xc;
  const TC *add; /* may be x */
  T        *x;
};

/* x = J (x) J (x) J xc + s add; a block takes CX times CY coarse cells */
template <int DIM, int P, class T, class TC>
__global__ void __launch_bounds__(HopsBoxSizes<DIM, P, T>::pthreads, HopsBoxSizes<DIM, P, T>::pblocks) HopsBoxProlong(const __grid_constant__ HopsBoxTable<P, T> tab, const __grid_constant__ HopsBoxProlongArgs<T, TC> a)
{
  using S             = HopsBoxSizes<DIM, P, T>;
  constexpr int     N = P + 1, RX = S::RX, RY = S::RY, FX = S::FX, FY = S::FY, NT = S::pthreads;
  extern __shared__ __align__(16) unsigned char raw[];
  T *const V = (T *)raw, *const U = V + N * RY * RX, *const W = DIM == 3 ? U + N * RY * FX : U; /* [z][y][x] */
  const int       t = threadIdx.x, cx0 = blockIdx.x * S::CX * P, cy0 = DIM == 3 ? blockIdx.y * S::CY * P : 0, slow = DIM == 3 ? blockIdx.z : blockIdx.y;
  const long long cs = DIM == 3 ? a.cz : a.cy, fs = DIM == 3 ? a.sz : a.sy;
  const int       x = t % FX, y = t / FX, gx = 2 * cx0 + x, gy = 2 * cy0 + y;
  const bool      inside = t < FX * FY && gx > 0 && gx < 2 * P * a.n[0] && (DIM == 2 || (gy > 0 && gy < 2 * P * a.n[1]));
  const long long to     = gx + (DIM == 3 ? (long long)gy * a.sy : 0) + (long long)slow * 2 * P * fs;
  TC              old[2 * P];

#pragma unroll
  for (int i = 0; i < 2 * P; i++) old[i] = inside && a.add && (i || slow) ? a.add[to + i * fs] : (TC)0; /* early: they come while the products are made */
  for (int e = t; e < N * RY * RX; e += NT) {
    const int xx = e % RX, yy = e / RX % RY, zz = e / (RX * RY), gx = cx0 + xx, gy = cy0 + yy;

    V[e] = gx <= a.n[0] * P && (DIM == 2 || gy <= a.n[1] * P) ? a.xc[gx + (DIM == 3 ? (long long)gy * a.cy : 0) + (slow * P + zz) * cs] : (T)0;
  }
  __syncthreads();
  for (int it = t; it < N * RY * S::CX; it += NT) {
    const int line = it % (N * RY), cell = it / (N * RY);
    T         v[N];

#pragma unroll
    for (int j = 0; j < N; j++) v[j] = V[line * RX + cell * P + j];
#pragma unroll
    for (int i = 0; i < 2 * P; i++) {
      T s = 0;

#pragma unroll
      for (int j = 0; j < N; j++) s += tab.J[i * N + j] * v[j];
      U[line * FX + cell * 2 * P + i] = s;
    }
  }
  __syncthreads();
  if constexpr (DIM == 3) {
    for (int it = t; it < N * FX * S::CY; it += NT) {
      const int xx = it % FX, zz = it / FX % N, cell = it / (FX * N);
      T         v[N];

#pragma unroll
      for (int j = 0; j < N; j++) v[j] = U[(zz * RY + cell * P + j) * FX + xx];
#pragma unroll
      for (int i = 0; i < 2 * P; i++) {
        T s = 0;

#pragma unroll
        for (int j = 0; j < N; j++) s += tab.J[i * N + j] * v[j];
        W[(zz * FY + cell * 2 * P + i) * FX + xx] = s;
      }
    }
    __syncthreads();
  }
  {
    T v[N];

    if (!inside) return;
#pragma unroll
    for (int j = 0; j < N; j++) v[j] = W[(j * FY + y) * FX + x];
#pragma unroll
    for (int i = 0; i < 2 * P; i++) {
      T s = a.s * (T)old[i];

      if (i == 0 && slow == 0) continue;
#pragma unroll
      for (int j = 0; j < N; j++) s += tab.J[i * N + j] * v[j];
      a.x[to + i * fs] = s;
    }
  }
}

/* out = J^T in along the direction of `step`, for lines that begin at i + k * inplane, i < inner, k < gridDim.z */
template <class T>
struct HopsBoxRestrictArgs {
  int       n, inner; /* coarse cells; lines side by side */
  long long step, inplane, outplane;
  const T *__restrict__ in;
  T *out;
};

/* a thread takes a coarse cell of a line */
template <int P, class T>
__global__ void __launch_bounds__(128) HopsBoxRestrict(const __grid_constant__ HopsBoxTable<P, T> tab, const __grid_constant__ HopsBoxRestrictArgs<T> a)
{
  constexpr int N = P + 1;
  const int     i = blockIdx.x * 128 + threadIdx.x, cell = blockIdx.y;
  T             s[N], v[2 * P];

  if (i >= a.inner) return;
  const T *in  = a.in + i + blockIdx.z * a.inplane + (long long)cell * 2 * P * a.step;
  T       *out = a.out + i + blockIdx.z * a.outplane + (long long)cell * P * a.step;

#pragma unroll
  for (int k = 0; k < 2 * P; k++) v[k] = in[k * a.step];
#pragma unroll
  for (int j = 0; j < N; j++) {
    s[j] = 0;
#pragma unroll
    for (int k = 0; k < 2 * P; k++) s[j] += tab.J[k * N + j] * v[k];
  }
  if (cell) {
#pragma unroll
    for (int k = 1; k < 2 * P; k++) s[0] += tab.J[k * N + P] * in[(k - 2 * P) * a.step];
  } else s[0] = 0;
#pragma unroll
  for (int j = 0; j < P; j++) out[j * a.step] = s[j];
}

/* the same along rows, of which gridDim.y lie in a plane; a thread takes a coarse node */
template <int P, class T>
__global__ void __launch_bounds__(128) HopsBoxRestrictRows(const __grid_constant__ HopsBoxTable<P, T> tab, const __grid_constant__ HopsBoxRestrictArgs<T> a, int inrow, int outrow)
{
  constexpr int N = P + 1, CX = P < 8 ? 128 / P : 16, FX = 2 * P * (CX + 1);
  __shared__ T  v[FX], J[2 * P * N];
  const int     t = threadIdx.x, c0 = blockIdx.x * CX, cell = t / P, j = t % P;
  const T      *in = a.in + (long long)blockIdx.y * inrow + blockIdx.z * a.inplane;
  T             s  = 0;

  for (int e = t; e < FX; e += 128) {
    const int g = (c0 - 1) * 2 * P + e;

    v[e] = g >= 0 && g < 2 * P * a.n ? __ldg(in + g) : (T)0;
  }
#pragma unroll
  for (int e = 0; e < 2 * P * N; e += 128)
    if (e + t < 2 * P * N) J[e + t] = tab.J[e + t];
  __syncthreads();
  if (cell >= CX || c0 + cell >= a.n) return;
#pragma unroll
  for (int k = 0; k < 2 * P; k++) s += J[k * N + j] * v[(cell + 1) * 2 * P + k];
  if (!j) {
#pragma unroll
    for (int k = 1; k < 2 * P; k++) s += J[k * N + P] * v[cell * 2 * P + k];
  }
  a.out[(long long)blockIdx.y * outrow + blockIdx.z * a.outplane + (c0 + cell) * P + j] = j || c0 + cell ? s : (T)0;
}
