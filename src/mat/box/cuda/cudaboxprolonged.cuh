/*
  r = b - A P x for a function x of the box of half as many cells, whose values P x at the fine nodes are
  never formed: A P is a sum of tensor products of the 1D matrices of a pair of cells times J, on the P + 1
  nodes of a coarse cell. Blocks march as those of cudaboxresidual.cuh do, a layer of pairs after the other.
  Where a block may have as much shared memory, what a layer needs of b and x comes during a whole layer
  (AHEAD): few blocks fit on a multiprocessor, and one alone would wait for it.
*/
#pragma once
#include "cudaboxresidual.cuh"

/* (matrix of a pair of cells) J, rows i and 2P - i from the sums and differences of mirrored coarse nodes;
   the last rows */
template <int P, class T> struct HopsBoxPairTable {
  static constexpr int N = P + 1, O = N / 2, E = N - O;
  T                    Me[N * E], Mo[P * O], Xe[N * E], Xo[P * O], Ye[N * E], Yo[P * O], Ze[N * E], Zo[P * O];
  T                    Ml[N], Xl[N], Yl[N];
};

template <int DIM, int P, class T> struct HopsBoxPairSizes {
  static constexpr int TX = DIM == 3 ? (P < 3    ? 16
                                        : P == 3 ? 8
                                        : P == 4 ? 4
                                                 : 2)
                                     : 128 / P,
                       TY = DIM == 3 && P < 3 ? (P == 1 ? 4 : 2) : 1;
  /* fine nodes that a block owns */
  static constexpr int FX = 2 * P * TX, FY = DIM == 3 ? 2 * P * TY : 1;
  /* coarse ones that it reads */
  static constexpr int LX = TX * P + P + 1, LY = DIM == 3 ? TY * P + P + 1 : 1, HX = LX | 1, UX = FX | 1;
  /* threads of a row of fine nodes: a warp that writes to two rows takes longer than one with idle threads */
  static constexpr int lanes   = DIM == 3 && FX > 20 && FX < 32 ? 32 : FX;
  static constexpr int threads = (lanes * FY + 31) / 32 * 32, columns = (LX * LY + threads - 1) / threads,
                       blocks = (P < 4 ? 864 : 512) / threads;
  static constexpr int PU = DIM == 3 ? HopsBoxPitch<T>(LY * UX, FX) : UX, PA = DIM == 3 ? HopsBoxPitch<T>(FY * FX, FX) : 0,
                       nV = P * LY * HX, nU = P * PU, nA = P * PA;
  /* shared memory; two layers of x, and b of one */
  static constexpr size_t one = sizeof(T) * (nV + 2 * nU + 2 * nA), two = one + sizeof(T) * (nV + 2 * P * threads);
  /* pays: such blocks fit on a multiprocessor of compute capability 9.0 */
  static constexpr bool AHEAD = DIM == 3 && two <= (232448 - 1024 * blocks) / blocks;
};

/* Rows 0..2P-1 of the matrix of a pair of cells times J */
template <int P, class T>
__device__ __forceinline__ void HopsBoxPairRows(const T *Ke, const T *Ko, const T *Kl, const T *e, const T *o, const T *before,
                                                T *y)
{
  HopsBoxMirroredRows<P, P + 1, P, 2 * P, P + 1>(Ke, Ko, Kl, e, o, before, y);
}

template <int DIM, int P, class T, class TO, bool AHEAD>
__global__ void __launch_bounds__(HopsBoxPairSizes<DIM, P, T>::threads, HopsBoxPairSizes<DIM, P, T>::blocks)
  HopsBoxProlonged(const __grid_constant__ HopsBoxPairTable<P, T> tab, const __grid_constant__ HopsBoxArgs<T, TO> a)
{
  using S         = HopsBoxPairSizes<DIM, P, T>;
  constexpr int N = P + 1, FX = S::FX, FY = S::FY, LX = S::LX, LY = S::LY, HX = S::HX, UX = S::UX, PU = S::PU, PA = S::PA,
                NT = S::threads, R = 2 * P;
  extern __shared__ __align__(16) unsigned char raw[];
  /* AHEAD: this thread's b */
  T *const V = (T *)raw, *const U = V + (AHEAD ? 2 : 1) * S::nV, *const W = U + S::nU, *const A = DIM == 3 ? W + S::nU : W,
           *const C = DIM == 3 ? A + S::nA : U, *const B = C + S::nA + threadIdx.x;
  const int t = threadIdx.x, x = t % S::lanes, y = t / S::lanes, x0 = blockIdx.x * S::TX * P,
            y0 = DIM == 3 ? blockIdx.y * S::TY * P : 0, gx = 2 * x0 + x, gy = 2 * y0 + y;
  const bool active = x < FX && y < FY && gx < a.n[0] * R && (DIM == 2 || gy < a.n[1] * R),
             inside = active && gx > 0 && (DIM == 2 || gy > 0);
  const int first = (DIM == 3 ? blockIdx.z : blockIdx.y) * a.chunk, end = min(a.nm, first + a.chunk), start = max(first - 2, -1),
            cy        = a.n[0] * P + 1;
  const long long col = gx + (DIM == 3 ? (long long)gy * a.sy : 0), cm = DIM == 3 ? (long long)cy * (a.n[1] * P + 1) : cy;
  T               bz[AHEAD ? 1 : R], carry = 0, a0 = 0, c0 = 0;
  int             from[S::columns];
  double          sum   = 0;
  const T         scale = (T)__ldg(a.dscale);
  const auto      layer = [&](int k) { return V + (AHEAD && k & 1 ? S::nV : 0); };
  const auto load = [&](int k) { HopsBoxLoad<P, LX, LY, HX, NT>(t, from, a.x + (long long)k * P * cm, cm, k == start, layer(k)); };

  HopsBoxColumns<LX, LY, NT>(t, x0 - P, DIM == 3 ? y0 - P : 0, cy, DIM == 3 ? a.n[1] * P + 1 : 1, from);
  load(start);
#pragma unroll 1
  for (int k = start;; k++) { /* layer of pairs; of the first one only the last plane is needed */
    HopsBoxCopyWait();
    __syncthreads();
    if (AHEAD && k + 1 < end) load(k + 1);
    if (active && k > start) { /* the last direction of layer l; its first plane is the last one of the layer before */
      const int       l    = k - 1;
      const long long z0   = (long long)l * R;
      constexpr int   step = DIM == 3 ? PA : PU;
      const T        *pa = A + (DIM == 3 ? y * FX : 0) + x, *pc = C + (DIM == 3 ? y * FX : 0) + x;
      const T         aP = pa[(P - 1) * step], cP = pc[(P - 1) * step];

      if (l > start) {
        T s[N], d[P];

        HopsBoxLastRows<P, N, P, step>(tab, pa, pc, a0, c0, s, d);
        if (l >= first && inside) {
#pragma unroll
          for (int i = 0; i < R; i++) {
            const int m = i <= P ? i : R - i;
            T         v = s[m];

            if (m < P) v += i < P ? d[m] : -d[m];
            if (i == 0) v += carry;
            v                          = i || l ? (AHEAD ? B[i * NT] : bz[AHEAD ? 0 : i]) - v : (T)0;
            a.r[col + (z0 + i) * a.sm] = (TO)(scale * v);
            sum += (double)v * (double)v;
          }
        }
        carry = s[0] - d[0];
      }
      a0 = aP;
      c0 = cP;
    }
    if (k == end) break;
    if (AHEAD && k >= first && inside) {
#pragma unroll
      for (int i = 0; i < R; i++) HopsBoxCopy(B + i * NT, a.b + col + ((long long)k * R + i) * a.sm, true);
    }
    if (DIM == 2) __syncthreads();                    /* A and C are W and U */
    for (int it = t; it < P * LY * S::TX; it += NT) { /* x: a line of a cell */
      const int line = it % (P * LY), cell = it / (P * LY), to = line / LY * PU + line % LY * UX + cell * R;
      T         w[2 * P + 1], e[N], o[N], r[R];

      HopsBoxGet<2 * P + 1, 1, 0>(layer(k) + line * HX + cell * P, w);
      HopsBoxMirror<P>(w + P, e, o);
      HopsBoxPairRows<P>(tab.Me, tab.Mo, tab.Ml, e, o, w, r);
      HopsBoxPut<R, 1, 0>(r, U + to);
      HopsBoxPairRows<P>(tab.Xe, tab.Xo, tab.Xl, e, o, w, r);
      HopsBoxPut<R, 1, 0>(r, W + to);
    }
    __syncthreads();
    if constexpr (!AHEAD) {
      if (k + 1 < end) load(k + 1);
#pragma unroll
      for (int i = 0; i < R; i++) bz[i] = k >= first && inside ? __ldg(a.b + col + ((long long)k * R + i) * a.sm) : (T)0;
    }
    if constexpr (DIM == 3) {
      for (int it = t; it < P * FX * S::TY; it += NT) { /* y: C = M U, A = M W + Y U */
        const int xx = it % FX, zz = it / FX % P, cell = it / (FX * P), at = zz * PU + cell * P * UX + xx,
                  to = zz * PA + cell * R * FX + xx;
        T w[2 * P + 1], e[N], o[N], r[R], s[R];

        HopsBoxGet<2 * P + 1, UX, 0>(U + at, w);
        HopsBoxMirror<P>(w + P, e, o);
        HopsBoxPairRows<P>(tab.Me, tab.Mo, tab.Ml, e, o, w, r);
        HopsBoxPut<R, FX, 0>(r, C + to);
        HopsBoxPairRows<P>(tab.Ye, tab.Yo, tab.Yl, e, o, w, s);
        HopsBoxGet<2 * P + 1, UX, 0>(W + at, w);
        HopsBoxMirror<P>(w + P, e, o);
        HopsBoxPairRows<P>(tab.Me, tab.Mo, tab.Ml, e, o, w, r);
#pragma unroll
        for (int i = 0; i < R; i++) s[i] += r[i];
        HopsBoxPut<R, FX, 0>(s, A + to);
      }
    }
  }
  __syncthreads();
  if (a.partial) HopsBoxSum<NT>(t, sum, (double *)raw, a.partial + (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x);
}
