/*
  r = b - A x on a uniform box in one launch, A = X (x) M (x) M + M (x) Y (x) M + M (x) M (x) Z with 1D
  matrices of the whole box, which are recomputed from those of the reference cell; the boundary's rows are
  zero.

  A block owns a tile of columns of nodes and marches along them, a layer of cells after the other. Each node
  has one owner, which needs the cells before its own one too: products in the first directions are repeated
  for these, those in the last one are handed on from layer to layer. So r is written once, without atomics,
  and the same bit by bit. The last direction of a layer goes with the first one of the next layer, which is
  copied meanwhile: two barriers a layer. In single precision a thread takes two cells where their number is
  even: it loads each entry of a matrix once for both.

  With `restricted`, what is written is the transposed interpolation of r in the last direction, half as many
  numbers.
*/
#pragma once
#include <type_traits>
#include "cudaboxcopy.cuh"
#include "cudaboxtable.cuh"
#include <backend/cuda/patch/cudapatchpair.cuh>

/*
  y = K v for the sums e and differences o of mirrored nodes of a cell: rows 0..ROWS-1 of K, of which 1..ODD-1
  have mirrored ones, LAST - i; `before` are the nodes of the cell before, whose last row (BEFORE entries of
  it) belongs to node 0
*/
template <int P, int ROWS, int ODD, int LAST, int BEFORE, class T, class V>
__device__ __forceinline__ void HopsBoxMirroredRows(const T *Ke, const T *Ko, const T *Kl, const V *e, const V *o, const V *before,
                                                    V *y)
{
  constexpr int N = P + 1, O = N / 2, E = N - O;

#pragma unroll
  for (int i = 0; i < ROWS; i++) {
    V s = Ke[i * E] * e[0], d = {};

#pragma unroll
    for (int k = 1; k < E; k++) s += Ke[i * E + k] * e[k];
    if (i < ODD) {
#pragma unroll
      for (int k = 0; k < O; k++) d += Ko[i * O + k] * o[k];
    }
    y[i] = s + d;
    if (i < ODD && i > 0) y[LAST - i] = s - d;
  }
#pragma unroll
  for (int k = 0; k < BEFORE; k++) y[0] += Kl[k] * before[k];
}

/* Rows 0..P-1 of a cell's matrix; the last node of the cell before is `first` */
template <int P, class T, class V>
__device__ __forceinline__ void HopsBoxRows(const T *Ke, const T *Ko, const T *Kl, const V *e, const V *o, const V *before, V first,
                                            V *y)
{
  HopsBoxMirroredRows<P, P + 1 - (P + 1) / 2, (P + 1) / 2, P, P>(Ke, Ko, Kl, e, o, before, y);
  y[0] += Kl[P] * first;
}

template <int P, class V> __device__ __forceinline__ void HopsBoxMirror(const V *v, V *e, V *o)
{
  constexpr int N = P + 1, O = N / 2;

#pragma unroll
  for (int i = 0; i < O; i++) {
    e[i] = v[i] + v[P - i];
    o[i] = v[i] - v[P - i];
  }
  if (N % 2) e[N - O - 1] = v[O];
}

/* v[i] = p[i STEP], i < COUNT; of a pair also those D further */
template <int COUNT, int STEP, int D, class T, class V> __device__ __forceinline__ void HopsBoxGet(const T *p, V *v)
{
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    if constexpr (std::is_same<T, V>::value) v[i] = p[i * STEP];
    else v[i] = {p[i * STEP], p[i * STEP + D]};
  }
}

template <int COUNT, int STEP, int D, class T, class V> __device__ __forceinline__ void HopsBoxPut(const V *v, T *p)
{
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    if constexpr (std::is_same<T, V>::value) p[i * STEP] = v[i];
    else {
      p[i * STEP]     = v[i].a;
      p[i * STEP + D] = v[i].b;
    }
  }
}

/* The columns of nodes around a tile, LX x LY from node (gx,gy) on, that thread t of NT loads; -1 outside of
   a box of mx x my nodes */
template <int LX, int LY, int NT>
__device__ __forceinline__ void HopsBoxColumns(int t, int gx, int gy, int mx, int my, int from[(LX * LY + NT - 1) / NT])
{
#pragma unroll
  for (int c = 0; c < (LX * LY + NT - 1) / NT; c++) {
    const int e = t + c * NT, vx = gx + e % LX, vy = gy + e / LX;

    from[c] = vx >= 0 && vx < mx && vy >= 0 && vy < my ? vx + vy * mx : -1;
  }
}

/* V <- planes 1..P above x, rows HX apart, without waiting for them; of a `last` alone, the last one */
template <int P, int LX, int LY, int HX, int NT, class T>
__device__ __forceinline__ void HopsBoxLoad(int t, const int from[(LX * LY + NT - 1) / NT], const T *x, long long plane, bool last,
                                            T *V)
{
#pragma unroll
  for (int c = 0; c < (LX * LY + NT - 1) / NT; c++) {
    const int e = t + c * NT, xx = e % LX, yy = e / LX;

    if ((c + 1) * NT <= LX * LY || e < LX * LY) {
#pragma unroll
      for (int zz = 0; zz < P; zz++)
        HopsBoxCopy(V + (zz * LY + yy) * HX + xx, x + from[c] + (zz + 1) * plane, from[c] >= 0 && (!last || zz == P - 1));
    }
  }
}

/* *out <- the sum over the block's NT threads; s: shared memory that nobody uses */
template <int NT> __device__ __forceinline__ void HopsBoxSum(int t, double sum, double *s, double *out)
{
#pragma unroll
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffffu, sum, o);
  if (t % 32 == 0) s[t / 32] = sum;
  __syncthreads();
  if (t == 0) {
    for (int w = 1; w < NT / 32; w++) sum += s[w];
    *out = sum;
  }
}

/* What a thread multiplies in a direction: lines of one cell, or of two */
template <class T, int CELLS> struct HopsBoxLines {
  static constexpr bool pairs = sizeof(T) == 4 && CELLS % 2 == 0;
  static constexpr int  cells = pairs ? 2 : 1;
  using V                     = typename std::conditional<pairs, HopsPatchPair, T>::type;
};

/* U = M V, W = X V along the first direction of the tile S */
template <int P, class S, class T>
__device__ __forceinline__ void HopsBoxAlongX(const HopsBoxTable<P, T> &tab, int t, const T *V, T *U, T *W)
{
  using L         = HopsBoxLines<T, S::TX>;
  constexpr int N = P + 1;

  for (int it = t; it < P * S::LY * S::TX / L::cells; it += S::threads) {
    const int line = it % (P * S::LY), cell = it / (P * S::LY) * L::cells,
              to = line / S::LY * S::PU + line % S::LY * S::UX + cell * P;
    typename L::V w[2 * P + 1], e[N], o[N], r[P];

    HopsBoxGet<2 * P + 1, 1, P>(V + line * S::HX + cell * P, w);
    HopsBoxMirror<P>(w + P, e, o);
    HopsBoxRows<P>(tab.Me, tab.Mo, tab.Ml, e, o, w, w[P], r);
    HopsBoxPut<P, 1, P>(r, U + to);
    HopsBoxRows<P>(tab.Xe, tab.Xo, tab.Xl, e, o, w, w[P], r);
    HopsBoxPut<P, 1, P>(r, W + to);
  }
}

/* C = M U, A = M W + Y U along the second one, in 3D */
template <int P, class S, class T>
__device__ __forceinline__ void HopsBoxAlongY(const HopsBoxTable<P, T> &tab, int t, const T *U, const T *W, T *A, T *C)
{
  using L         = HopsBoxLines<T, S::TY>;
  constexpr int N = P + 1, OX = S::OX, UX = S::UX;

  for (int it = t; it < P * OX * S::TY / L::cells; it += S::threads) {
    const int xx = it % OX, zz = it / OX % P, cell = it / (OX * P) * L::cells, at = zz * S::PU + cell * P * UX + xx,
              to = zz * S::PA + cell * P * OX + xx;
    typename L::V w[2 * P + 1], e[N], o[N], r[P], s[P];

    HopsBoxGet<2 * P + 1, UX, P * UX>(U + at, w);
    HopsBoxMirror<P>(w + P, e, o);
    HopsBoxRows<P>(tab.Me, tab.Mo, tab.Ml, e, o, w, w[P], r);
    HopsBoxPut<P, OX, P * OX>(r, C + to);
    HopsBoxRows<P>(tab.Ye, tab.Yo, tab.Yl, e, o, w, w[P], s);
    HopsBoxGet<2 * P + 1, UX, P * UX>(W + at, w);
    HopsBoxMirror<P>(w + P, e, o);
    HopsBoxRows<P>(tab.Me, tab.Mo, tab.Ml, e, o, w, w[P], r);
#pragma unroll
    for (int i = 0; i < P; i++) s[i] += r[i];
    HopsBoxPut<P, OX, P * OX>(s, A + to);
  }
}

/*
  The last direction: M A + Z C for lines of a layer of cells, whose first numbers a0 and c0 are of the layer
  before and the others at pa and pc. Rows 0..ROWS-1 from the sums of mirrored numbers, s, and 0..ODD-1 from
  their differences, d
*/
template <int P, int ROWS, int ODD, int STEP, class TABLE, class T>
__device__ __forceinline__ void HopsBoxLastRows(const TABLE &tab, const T *pa, const T *pc, T a0, T c0, T *s, T *d)
{
  constexpr int N = P + 1, O = N / 2, E = N - O;
  const T       aP = pa[(P - 1) * STEP], cP = pc[(P - 1) * STEP];

#pragma unroll
  for (int i = 0; i < ROWS; i++) s[i] = 0;
#pragma unroll
  for (int i = 0; i < ODD; i++) d[i] = 0;
#pragma unroll
  for (int j = 0; j < E; j++) {
    const T la = j ? pa[(j - 1) * STEP] : a0, lc = j ? pc[(j - 1) * STEP] : c0, ha = j ? pa[(P - j - 1) * STEP] : aP,
            hc = j ? pc[(P - j - 1) * STEP] : cP;
    const T ea = j < O ? la + ha : la, ec = j < O ? lc + hc : lc, oa = la - ha, oc = lc - hc;

#pragma unroll
    for (int i = 0; i < ROWS; i++) { /* two multiply-adds: a sum of products would be three operations */
      s[i] += tab.Me[i * E + j] * ea;
      s[i] += tab.Ze[i * E + j] * ec;
    }
    if (j < O) {
#pragma unroll
      for (int i = 0; i < ODD; i++) {
        d[i] += tab.Mo[i * O + j] * oa;
        d[i] += tab.Zo[i * O + j] * oc;
      }
    }
  }
}

template <int DIM, int P, class T, class TO, bool RESTRICTED>
__global__ void __launch_bounds__(HopsBoxSizes<DIM, P, T>::threads, HopsBoxTile<DIM, P, T>::blocks)
  HopsBoxResidual(const __grid_constant__ HopsBoxTable<P, T> tab, const __grid_constant__ HopsBoxArgs<T, TO> a)
{
  using S         = HopsBoxSizes<DIM, P, T>;
  constexpr int N = P + 1, O = N / 2, E = N - O, OX = S::OX, OY = S::OY, LX = S::LX, LY = S::LY, HX = S::HX, PU = S::PU, PA = S::PA,
                NT = S::threads;
  extern __shared__ __align__(16) unsigned char raw[];
  T *const V = (T *)raw, *const U = V + S::nV, *const W = U + S::nU, *const A = DIM == 3 ? W + S::nU : W,
           *const C = DIM == 3 ? A + S::nA : U;
  const int       t = threadIdx.x, x = t % OX, y = t / OX, x0 = blockIdx.x * OX, y0 = DIM == 3 ? blockIdx.y * OY : 0, gx = x0 + x,
            gy      = y0 + y;
  const bool active = t < OX * OY && gx < a.n[0] * P && (DIM == 2 || gy < a.n[1] * P),
             inside = active && gx > 0 && (DIM == 2 || gy > 0);
  const int block   = (DIM == 3 ? blockIdx.z : blockIdx.y) * a.chunk; /* first cell, or pair of cells, of the output */
  const int first = RESTRICTED ? 2 * block : block, end = min(a.nm, first + (RESTRICTED ? 2 : 1) * a.chunk),
            start     = max(RESTRICTED ? first - 3 : first - 2, -1);
  const long long col = gx + (DIM == 3 ? (long long)gy * a.sy : 0);
  /* A and C on the last plane of the layer before; what that one adds to row 0 */
  T      coarse[N], bz[P], a0 = 0, c0 = 0, carry = 0;
  int    from[S::columns]; /* columns that this thread loads; -1 outside of the box */
  double sum = 0;

#pragma unroll
  for (int i = 0; i < N; i++) coarse[i] = 0;
  HopsBoxColumns<LX, LY, NT>(t, x0 - P, DIM == 3 ? y0 - P : 0, a.n[0] * P + 1, DIM == 3 ? a.n[1] * P + 1 : 1, from);
  HopsBoxLoad<P, LX, LY, HX, NT>(t, from, a.x + (long long)start * P * a.sm, a.sm, true, V);
#pragma unroll 1
  for (int k = start;; k++) { /* layer of cells; of the first one only the last plane is needed */
    HopsBoxCopyWait();
    __syncthreads();
    if (active && k > start) { /* the last direction of layer l */
      const int       l    = k - 1;
      const long long z0   = (long long)l * P;
      constexpr int   step = DIM == 3 ? PA : PU;
      const T        *pa = A + (DIM == 3 ? y * OX : 0) + x, *pc = C + (DIM == 3 ? y * OX : 0) + x;
      const T         aP = pa[(P - 1) * step], cP = pc[(P - 1) * step];

      if (l > start) {
        T s[E], d[O], r[P];

        HopsBoxLastRows<P, E, O, step>(tab, pa, pc, a0, c0, s, d);
#pragma unroll
        for (int i = 0; i < P; i++) {
          T v = s[i < E ? i : P - i];

          if (i < O) v += d[i];
          else if (P - i < O) v -= d[P - i];
          if (i == 0) v += carry;
          r[i] = inside && (i || l) ? bz[i] - v : (T)0;
        }
        carry = s[0] - d[0];
        if constexpr (RESTRICTED) {
          if ((l & 1) == 0) {             /* lower half of a pair */
            if (l == start + 1) r[0] = 0; /* it lacks the layer before, and is not needed */
#pragma unroll
            for (int j = 0; j < N; j++)
#pragma unroll
              for (int i = 0; i < P; i++) coarse[j] += tab.J[i * N + j] * r[i];
          } else {
#pragma unroll
            for (int j = 0; j < N; j++)
#pragma unroll
              for (int i = 0; i < P; i++) coarse[j] += tab.J[(P + i) * N + j] * r[i];
            if (l >= first) {
#pragma unroll
              for (int j = 0; j < P; j++) a.r[col + ((long long)(l / 2) * P + j) * a.sm] = (TO)(j || l > 1 ? coarse[j] : (T)0);
            }
            coarse[0] = coarse[P];
#pragma unroll
            for (int j = 1; j < N; j++) coarse[j] = 0;
          }
        } else if (l >= first) {
          T squares = 0; /* of a cell: conversions to double precision are slow */

#pragma unroll
          for (int i = 0; i < P; i++) {
            if (a.r) a.r[col + (z0 + i) * a.sm] = (TO)(a.scale * r[i]);
            squares += r[i] * r[i];
          }
          sum += (double)squares;
        }
      }
      a0 = aP;
      c0 = cP;
    }
    if (k == end) break;
    if (DIM == 2) __syncthreads(); /* A and C are W and U */
    HopsBoxAlongX<P, S>(tab, t, V, U, W);
    __syncthreads();
    if (k + 1 < end) HopsBoxLoad<P, LX, LY, HX, NT>(t, from, a.x + (long long)(k + 1) * P * a.sm, a.sm, false, V);
#pragma unroll
    for (int i = 0; i < P; i++) bz[i] = k > start && inside && a.b ? __ldg(a.b + col + ((long long)k * P + i) * a.sm) : (T)0;
    if constexpr (DIM == 3) HopsBoxAlongY<P, S>(tab, t, U, W, A, C);
  }
  __syncthreads();
  if (!RESTRICTED && a.partial)
    HopsBoxSum<NT>(t, sum, (double *)raw, a.partial + (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x);
}
