/*
  Transfers between the lexicographic nodes of a uniform box and those of the box with half as many cells, by
  the 1D matrix J of a pair of cells in each direction. Functions vanish on the boundary. A fine or coarse
  node belongs to the pair or coarse cell of which it is not the last one in any direction, and is written
  once.
*/
#pragma once
#include "cudaboxresidual.cuh"

template <class T, class TC> struct HopsBoxProlongArgs {
  int           n[3];   /* coarse cells */
  int           sy, cy; /* nodes of a row, fine and coarse; of a plane: */
  long long     sz, cz;
  T             s;
  const double *ds; /* a factor of s on the device, or NULL */
  const T *__restrict__ xc;
  const TC *add; /* may be x */
  T        *x;
};

/* J, rows i and 2P - i from the sums and differences of mirrored coarse nodes */
template <int P, class T> struct HopsBoxProlongTable {
  static constexpr int N = P + 1, O = N / 2, E = N - O;
  T                    Je[N * E], Jo[P * O];
};

/* Coarse cells of a block: wide ones, as rows of nodes begin anywhere in a sector */
template <int DIM, int P, class T> struct HopsBoxProlongSizes {
  static constexpr int N  = P + 1,
                       CX = DIM == 3 ? (P == 1           ? 32
                                        : P < 4          ? 16
                                        : P == 4         ? 8
                                        : P == 5         ? (sizeof(T) == 8 ? 4 : 6)
                                        : sizeof(T) == 8 ? (P < 8 ? 3 : 2)
                                                         : (P < 8 ? 4 : 3))
                                     : 128 / P,
                       CY = DIM == 3 && P == 1 ? 2 : 1;
  static constexpr int RX = CX * P + 1, RY = DIM == 3 ? CY * P + 1 : 1, HX = RX | 1, FX = 2 * P * CX,
                       FY = DIM == 3 ? 2 * P * CY : 1, UX = FX | 1;
  static constexpr int threads = (FX * FY + 31) / 32 * 32, room = sizeof(T) == 8 ? (P < 5 ? 1152 : 832) : (P < 5 ? 1728 : 1216),
                       blocks = threads < room ? room / threads : 1;
  /* W lies where V was */
  static constexpr int PU = HopsBoxPitch<T>(RY * UX, FX), PW = HopsBoxPitch<T>(FY * FX, FX), nV = N * RY * HX, nU = N * PU,
                       nW        = DIM == 3 ? N * PW : 0;
  static constexpr size_t shared = sizeof(T) * (nU + (nV > nW ? nV : nW));
};

/* y = J v on the nodes 0..2P-1 of a pair of cells */
template <int P, class T> __device__ __forceinline__ void HopsBoxProlongRow(const HopsBoxProlongTable<P, T> &tab, const T *v, T *y)
{
  constexpr int N = P + 1, O = N / 2, E = N - O;
  T             e[N], o[N];

  HopsBoxMirror<P>(v, e, o);
  y[0] = v[0];
#pragma unroll
  for (int i = 1; i <= P; i++) {
    T s = tab.Je[i * E] * e[0], d = 0;

#pragma unroll
    for (int k = 1; k < E; k++) s += tab.Je[i * E + k] * e[k];
    if (i < P) {
#pragma unroll
      for (int k = 0; k < O; k++) d += tab.Jo[i * O + k] * o[k];
      y[2 * P - i] = s - d;
    }
    y[i] = s + d;
  }
}

/* x = J (x) J (x) J xc + s add; a block takes CX times CY coarse cells */
template <int DIM, int P, class T, class TC>
__global__ void __launch_bounds__(HopsBoxProlongSizes<DIM, P, T>::threads, HopsBoxProlongSizes<DIM, P, T>::blocks)
  HopsBoxProlong(const __grid_constant__ HopsBoxProlongTable<P, T> tab, const __grid_constant__ HopsBoxProlongArgs<T, TC> a)
{
  using S         = HopsBoxProlongSizes<DIM, P, T>;
  constexpr int N = P + 1, RX = S::RX, RY = S::RY, HX = S::HX, FX = S::FX, FY = S::FY, UX = S::UX, PU = S::PU, PW = S::PW,
                NT = S::threads;
  extern __shared__ __align__(16) unsigned char raw[];
  T *const U = (T *)raw, *const V = U + S::nU, *const W = DIM == 3 ? V : U; /* [z][y][x] */
  const int t = threadIdx.x, cx0 = blockIdx.x * S::CX * P, cy0 = DIM == 3 ? blockIdx.y * S::CY * P : 0,
            slow     = DIM == 3 ? blockIdx.z : blockIdx.y;
  const long long cs = DIM == 3 ? a.cz : a.cy, fs = DIM == 3 ? a.sz : a.sy;
  const int       x = t % FX, y = t / FX, gx = 2 * cx0 + x, gy = 2 * cy0 + y;
  const bool      inside = t < FX * FY && gx > 0 && gx < 2 * P * a.n[0] && (DIM == 2 || (gy > 0 && gy < 2 * P * a.n[1]));
  const long long to     = gx + (DIM == 3 ? (long long)gy * a.sy : 0) + (long long)slow * 2 * P * fs;
  TC              old[2 * P];

#pragma unroll
  for (int c = 0; c < (RX * RY + NT - 1) / NT; c++) {
    const int e = t + c * NT, xx = e % RX, yy = e / RX, gx = cx0 + xx, gy = cy0 + yy;

    if (e < RX * RY) {
      const bool ok = gx <= a.n[0] * P && (DIM == 2 || gy <= a.n[1] * P);
      const T   *xc = a.xc + gx + (DIM == 3 ? (long long)gy * a.cy : 0) + slow * P * cs;

#pragma unroll
      for (int zz = 0; zz < N; zz++) HopsBoxCopy(V + (zz * RY + yy) * HX + xx, xc + zz * cs, ok);
    }
  }
#pragma unroll
  /* early: they come while the products are made */
  for (int i = 0; i < 2 * P; i++) old[i] = inside && a.add && (i || slow) ? a.add[to + i * fs] : (TC)0;
  HopsBoxCopyWait();
  __syncthreads();
  for (int it = t; it < N * RY * S::CX; it += NT) {
    const int line = it % (N * RY), cell = it / (N * RY), at = line / RY * PU + line % RY * UX + cell * 2 * P;
    T         r[2 * P];

    HopsBoxProlongRow<P, T>(tab, V + line * HX + cell * P, r);
#pragma unroll
    for (int i = 0; i < 2 * P; i++) U[at + i] = r[i];
  }
  __syncthreads();
  if constexpr (DIM == 3) {
    for (int it = t; it < N * FX * S::CY; it += NT) {
      const int xx = it % FX, zz = it / FX % N, cell = it / (FX * N), at = zz * PU + cell * P * UX + xx,
                to = zz * PW + cell * 2 * P * FX + xx;
      T v[N], r[2 * P];

#pragma unroll
      for (int j = 0; j < N; j++) v[j] = U[at + j * UX];
      HopsBoxProlongRow<P, T>(tab, v, r);
#pragma unroll
      for (int i = 0; i < 2 * P; i++) W[to + i * FX] = r[i];
    }
    __syncthreads();
  }
  if (inside) {
    const T s = a.ds ? a.s * (T)__ldg(a.ds) : a.s;
    T       v[N], r[2 * P];

#pragma unroll
    for (int j = 0; j < N; j++) v[j] = W[DIM == 3 ? j * PW + y * FX + x : j * PU + x];
    HopsBoxProlongRow<P, T>(tab, v, r);
#pragma unroll
    for (int i = 0; i < 2 * P; i++)
      if (i || slow) a.x[to + i * fs] = s * (T)old[i] + r[i];
  }
}

/* out = J^T in along the direction of `step`, for lines that begin at i + k * inplane, i < inner, k <
   gridDim.z */
template <class T> struct HopsBoxRestrictArgs {
  int       n, inner; /* coarse cells; lines side by side */
  long long step, inplane, outplane;
  const T *__restrict__ in;
  T *out;
};

/* a thread takes a coarse cell of a line */
template <int P, class T>
__global__ void __launch_bounds__(128)
  HopsBoxRestrict(const __grid_constant__ HopsBoxTable<P, T> tab, const __grid_constant__ HopsBoxRestrictArgs<T> a)
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
__global__ void __launch_bounds__(128) HopsBoxRestrictRows(const __grid_constant__ HopsBoxTable<P, T> tab,
                                                           const __grid_constant__ HopsBoxRestrictArgs<T> a, int inrow, int outrow)
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
