/*
  J^T (b - A x) in 3D, in one launch: b goes through J^T and x through J^T A, a sum of tensor products of 1D
  matrices (P + 1) x (2P + 1) of a pair of cells, so that each direction halves what the next one works on,
  and no residual is formed.

  A block owns a tile of pairs of cells and marches along z, some planes of fine nodes after the other. It
  reads its own nodes alone: sums at coarse nodes that tiles share are partial, and HopsBoxAssemble adds them
  in a fixed order. Values of b on a fine plane that tiles share count one half in each.
*/
#pragma once
#include <type_traits>
#include "cudaboxresidual.cuh"

/* Rows i and P - i from the sums and differences of mirrored fine nodes */
template <int P, class T> struct HopsBoxCoarseTable {
  static constexpr int N = P + 1, O = N / 2, E = N - O;
  T                    Me[E * N], Mo[O * P], Xe[E * N], Xo[O * P], Ye[E * N], Yo[O * P], Ze[E * N], Zo[O * P], Je[E * N], Jo[O * P];
};

/* Pairs of cells of a tile, planes of fine nodes between barriers, which divide 2P, threads, and blocks that
   should fit on a multiprocessor; those of the orders 3 and 7 are the best of some on an H100. In double
   precision b alone is restricted */
template <int P, class T> struct HopsBoxCoarseTile;
#define HOPS_BOX_COARSE_TILE(P, T, X, Y, S, NT, MB) \
  template <> struct HopsBoxCoarseTile<P, T> { \
    static constexpr int TX = X, TY = Y, planes = S, threads = NT, blocks = MB; \
  };
HOPS_BOX_COARSE_TILE(1, float, 8, 8, 2, 96, 8)
HOPS_BOX_COARSE_TILE(2, float, 8, 2, 4, 128, 4)
HOPS_BOX_COARSE_TILE(3, float, 5, 2, 6, 128, 4)
HOPS_BOX_COARSE_TILE(4, float, 4, 1, 8, 96, 5)
HOPS_BOX_COARSE_TILE(5, float, 3, 1, 10, 128, 3)
HOPS_BOX_COARSE_TILE(6, float, 3, 1, 6, 160, 3)
HOPS_BOX_COARSE_TILE(7, float, 2, 1, 7, 256, 3)
HOPS_BOX_COARSE_TILE(8, float, 1, 1, 8, 160, 4)
HOPS_BOX_COARSE_TILE(1, double, 8, 8, 2, 96, 8)
HOPS_BOX_COARSE_TILE(2, double, 4, 4, 4, 128, 4)
HOPS_BOX_COARSE_TILE(3, double, 2, 4, 6, 160, 4)
HOPS_BOX_COARSE_TILE(4, double, 4, 2, 4, 160, 3)
HOPS_BOX_COARSE_TILE(5, double, 2, 2, 5, 128, 3)
HOPS_BOX_COARSE_TILE(6, double, 2, 1, 6, 128, 4)
HOPS_BOX_COARSE_TILE(7, double, 2, 1, 7, 128, 3)
HOPS_BOX_COARSE_TILE(8, double, 1, 1, 8, 160, 4)

template <int P, class T, bool HASX> struct HopsBoxCoarseSizes {
  using L                    = HopsBoxCoarseTile<P, T>;
  static constexpr bool hasx = HASX;
  static constexpr int  TX = L::TX, TY = L::TY, planes = L::planes, steps = 2 * P / planes, threads = L::threads;
  /* fine nodes; coarse ones, in y those of each pair apart until the last direction */
  static constexpr int LX = 2 * P * TX + 1, LY = 2 * P * TY + 1, HX = LX | 1, CX = TX * P + 1, CY = TY * P + 1, UX = CX | 1,
                       AY = TY * (P + 1);
  /* threads that load a row */
  static constexpr int lanes   = LX > 24 && LX < 32 ? 32 : LX;
  static constexpr int columns = (lanes * LY + threads - 1) / threads, PU = HopsBoxPitch<T>(LY * UX, CX),
                       PA    = HopsBoxPitch<T>(AY * CX, CX);
  static constexpr int    nV = planes * LY * HX, nU = planes * PU, nA = planes * PA;
  static constexpr size_t shared = sizeof(T) * ((HASX ? 2 : 1) * nV + (HASX ? 3 : 1) * (nU + nA));
  static_assert(CX * CY <= threads && 2 * P % planes == 0);
};

template <class T> struct HopsBoxCoarseArgs {
  int       n[3], chunk; /* pairs of cells; those that a block marches over */
  int       sy, ty;      /* numbers of a row of fine nodes, of the tiles' sums; of a plane: */
  long long sz, tz;
  const T *__restrict__ b, *__restrict__ x;
  T      *out;     /* J^T (A x - b), or J^T b */
  double *partial; /* [blocks] sums of squares of b */
};

/* y = K v for the sums e and differences o of mirrored fine nodes, or y += */
template <int P, bool ADD, class T>
__device__ __forceinline__ void HopsBoxCoarseRows(const T *Ke, const T *Ko, const T *e, const T *o, T *y)
{
  constexpr int N = P + 1, O = N / 2, E = N - O;

#pragma unroll
  for (int i = 0; i < E; i++) {
    T s = Ke[i * N] * e[0], d = 0;

#pragma unroll
    for (int k = 1; k < N; k++) s += Ke[i * N + k] * e[k];
    if (i < O) {
#pragma unroll
      for (int k = 0; k < P; k++) d += Ko[i * P + k] * o[k];
      y[P - i] = (ADD ? y[P - i] : (T)0) + (s - d);
    }
    y[i] = (ADD ? y[i] : (T)0) + (s + d);
  }
}

/* s and d, whose sums and differences are rows i and P - i, += column K of a matrix times v */
template <int P, int K, class T> __device__ __forceinline__ void HopsBoxCoarseColumn(const T *Ke, const T *Ko, T v, T *s, T *d)
{
  constexpr int N = P + 1, O = N / 2, E = N - O, M = K <= P ? K : 2 * P - K;

#pragma unroll
  for (int i = 0; i < E; i++) s[i] += Ke[i * N + M] * v;
  if constexpr (K != P) {
#pragma unroll
    for (int i = 0; i < O; i++) d[i] += K < P ? Ko[i * P + M] * v : -Ko[i * P + M] * v;
  }
}

/* f(K), ..., f(END - 1) for numbers that the compiler knows */
template <int K, int END, class F> __device__ __forceinline__ void HopsBoxFor(F f)
{
  if constexpr (K < END) {
    f(std::integral_constant<int, K>());
    HopsBoxFor<K + 1, END>(f);
  }
}

/* Shared memory of a block: planes of x and b (V), after the first direction (U, W) and after the second
   (A, C); what belongs to b: *b */
template <class S, class T> struct HopsBoxCoarseShared {
  T *V, *Vb, *U, *W, *Ub, *A, *C, *Ab;

  __device__ __forceinline__ HopsBoxCoarseShared(unsigned char *raw)
  {
    V  = (T *)raw;
    Vb = V + (S::hasx ? S::nV : 0);
    U  = Vb + S::nV;
    W  = U + (S::hasx ? S::nU : 0);
    Ub = W + (S::hasx ? S::nU : 0);
    A  = Ub + S::nU;
    C  = A + (S::hasx ? S::nA : 0);
    Ab = C + (S::hasx ? S::nA : 0);
  }
};

/* Sums and differences of mirrored fine nodes, and the middle one */
template <int P, class T> __device__ __forceinline__ void HopsBoxCoarseMirror(const T *w, T *e, T *o)
{
#pragma unroll
  for (int i = 0; i < P; i++) {
    e[i] = w[i] + w[2 * P - i];
    o[i] = w[i] - w[2 * P - i];
  }
  e[P] = w[P];
}

/* A pair's coarse nodes but the last, which goes on to the next pair */
template <int P, class T> __device__ __forceinline__ void HopsBoxCoarseAppend(T *r, T *carry, T *to)
{
  r[0] += *carry;
  *carry = r[P];
#pragma unroll
  for (int i = 0; i < P; i++) to[i] = r[i];
}

/* Along the first direction: U = M V, W = X V, Ub = J Vb, a row of the tile of x or of b; where asked for,
   *sum += the squares of those values of b that the block owns */
template <int P, class S, class T>
__device__ __forceinline__ void HopsBoxCoarseAlongX(const HopsBoxCoarseTable<P, T> &tab, const HopsBoxCoarseShared<S, T> &m, int t,
                                                    int planes, bool squares, double *sum)
{
  constexpr int R = 2 * P, LY = S::LY;

  for (int it = t; it < (S::hasx ? 2 : 1) * planes * LY; it += S::threads) {
    const bool ofb = !S::hasx || it >= planes * LY;
    const int  row = S::hasx && ofb ? it - planes * LY : it, to = row / LY * S::PU + row % LY * S::UX;
    const T   *v     = (ofb ? m.Vb : m.V) + row * S::HX;
    const bool owned = squares && (row % LY < LY - 1 || blockIdx.y == gridDim.y - 1);
    T          w[R + 1], r0 = 0, r1 = 0;

    w[R] = v[0];
#pragma unroll 1
    for (int c = 0; c < S::TX; c++) {
      T e[P + 1], o[P], r[P + 1];

      w[0] = w[R];
#pragma unroll
      for (int i = 1; i <= R; i++) w[i] = v[c * R + i];
      HopsBoxCoarseMirror<P>(w, e, o);
      if (ofb) {
        HopsBoxCoarseRows<P, false>(tab.Je, tab.Jo, e, o, r);
        HopsBoxCoarseAppend<P>(r, &r0, m.Ub + to + c * P);
        if (owned) {
#pragma unroll
          for (int i = 0; i < R; i++) *sum += (double)w[i] * (double)w[i];
        }
      } else {
        HopsBoxCoarseRows<P, false>(tab.Me, tab.Mo, e, o, r);
        HopsBoxCoarseAppend<P>(r, &r0, m.U + to + c * P);
        HopsBoxCoarseRows<P, false>(tab.Xe, tab.Xo, e, o, r);
        HopsBoxCoarseAppend<P>(r, &r1, m.W + to + c * P);
      }
    }
    (ofb ? m.Ub : m.U)[to + S::TX * P] = r0;
    if (!ofb) m.W[to + S::TX * P] = r1;
    if (owned && blockIdx.x == gridDim.x - 1) *sum += (double)w[R] * (double)w[R];
  }
}

/* Along the second one: C = M U, A = M W + Y U, Ab = J Ub, a column of a pair */
template <int P, class S, class T>
__device__ __forceinline__ void HopsBoxCoarseAlongY(const HopsBoxCoarseTable<P, T> &tab, const HopsBoxCoarseShared<S, T> &m, int t,
                                                    int planes)
{
  constexpr int N = P + 1, R = 2 * P, CX = S::CX, UX = S::UX;

  for (int it = t; it < planes * CX * S::TY; it += S::threads) {
    const int zz = it / (CX * S::TY), xx = it % CX, cell = it / CX % S::TY, at = zz * S::PU + cell * R * UX + xx,
              to = zz * S::PA + cell * N * CX + xx;
    T          w[R + 1], e[N], o[P], r[N];
    const auto line = [&](const T *v) {
#pragma unroll
      for (int i = 0; i <= R; i++) w[i] = v[at + i * UX];
      HopsBoxCoarseMirror<P>(w, e, o);
    };
    const auto store = [&](T *v) {
#pragma unroll
      for (int i = 0; i < N; i++) v[to + i * CX] = r[i];
    };

    if (S::hasx) {
      line(m.U);
      HopsBoxCoarseRows<P, false>(tab.Me, tab.Mo, e, o, r);
      store(m.C);
      HopsBoxCoarseRows<P, false>(tab.Ye, tab.Yo, e, o, r);
      line(m.W);
      HopsBoxCoarseRows<P, true>(tab.Me, tab.Mo, e, o, r);
      store(m.A);
    }
    line(m.Ub);
    HopsBoxCoarseRows<P, false>(tab.Je, tab.Jo, e, o, r);
    store(m.Ab);
  }
}

template <int P, class T, bool HASX>
__global__ void __launch_bounds__(HopsBoxCoarseTile<P, T>::threads, HopsBoxCoarseTile<P, T>::blocks)
  HopsBoxCoarse(const __grid_constant__ HopsBoxCoarseTable<P, T> tab, const __grid_constant__ HopsBoxCoarseArgs<T> a)
{
  using S         = HopsBoxCoarseSizes<P, T, HASX>;
  constexpr int N = P + 1, O = N / 2, E = N - O, R = 2 * P, LX = S::LX, LY = S::LY, HX = S::HX, CX = S::CX, CY = S::CY, PA = S::PA,
                NT = S::threads, NP = S::planes;
  extern __shared__ __align__(16) unsigned char raw[];
  const HopsBoxCoarseShared<S, T>               m(raw);
  /* of the last one a plane is needed */
  const int t = threadIdx.x, x = t % CX, y = t / CX, first = blockIdx.z * a.chunk, end = min(a.n[2], first + a.chunk),
            nsteps = (end - first) * S::steps + 1;
  /* nodes between pairs have two numbers in y */
  const bool active = t<CX * CY, two = S::TY> 1 && y > 0 && y % P == 0 && y < CY - 1;
  const int  at0    = (y == CY - 1 ? S::AY - 1 : y / P * N + y % P) * CX + x;
  T *const   out =
    a.out + (long long)blockIdx.z * (a.chunk * P + 1) * a.tz + (long long)(blockIdx.y * CY + y) * a.ty + blockIdx.x * CX + x;
  T      s[E], d[O];
  int    from[S::columns];
  double sum = 0;

  const auto load = [&](int step) {
    const long long z = (long long)(first * S::steps + step) * NP;

#pragma unroll
    for (int c = 0; c < S::columns; c++) {
      const int  e = t + c * NT, xx = e % S::lanes, yy = e / S::lanes, at = yy * HX + xx;
      const bool ok = from[c] >= 0;

      if ((S::lanes > LX && xx >= LX) || ((c + 1) * NT > S::lanes * LY && yy >= LY)) continue;
#pragma unroll
      for (int zz = 0; zz < NP; zz++) {
        const long long g = from[c] + (z + zz) * a.sz;

        if (zz && step == nsteps - 1) break;
        if (HASX) HopsBoxCopy(m.V + zz * LY * HX + at, a.x + g, ok);
        HopsBoxCopy(m.Vb + zz * LY * HX + at, a.b + g, ok);
      }
    }
  };
  const auto column = [&](const T *p) { return two ? p[0] + p[-CX] : p[0]; };
  const auto plane  = [&](int at, auto k) { /* plane k of a pair */
                                           constexpr int K = decltype(k)::value;

                                           if (HASX) {
                                              HopsBoxCoarseColumn<P, K>(tab.Me, tab.Mo, column(m.A + at), s, d);
                                              HopsBoxCoarseColumn<P, K>(tab.Ze, tab.Zo, column(m.C + at), s, d);
                                           }
                                           HopsBoxCoarseColumn<P, K>(tab.Je, tab.Jo, HASX ? -column(m.Ab + at) : column(m.Ab + at),
                                                                     s, d);
  };

#pragma unroll
  for (int i = 0; i < E; i++) s[i] = 0;
#pragma unroll
  for (int i = 0; i < O; i++) d[i] = 0;
  HopsBoxColumns<S::lanes, LY, NT>(t, blockIdx.x * S::TX * R, blockIdx.y * S::TY * R, a.n[0] * R + 1, a.n[1] * R + 1, from);
  load(0);
#pragma unroll 1
  for (int step = 0;; step++) {
    HopsBoxCopyWait();
    __syncthreads();
    if (active && step > 0) { /* z, of the step before */
      const int q = step - 1;

      if (q % S::steps == 0 && q > 0) { /* its first plane is the last one of a pair */
        T *o = out + (long long)(q / S::steps - 1) * P * a.tz;

        plane(at0, std::integral_constant<int, R>());
#pragma unroll
        for (int i = 0; i < P; i++) o[i * a.tz] = i < O ? s[i] + d[i] : P - i < O ? s[P - i] - d[P - i] : s[i < E ? i : 0];
        if (step == nsteps) o[P * a.tz] = s[0] - d[0];
        s[0] = d[0] = (T)0.5 * (s[0] - d[0]); /* to row 0, and nothing to row P */
#pragma unroll
        for (int i = 1; i < E; i++) s[i] = 0;
#pragma unroll
        for (int i = 1; i < O; i++) d[i] = 0;
      }
      if (step < nsteps)
        HopsBoxFor<0, S::steps>([&](auto h) {
          if (q % S::steps == decltype(h)::value)
            HopsBoxFor<0, NP>([&](auto zz) {
              plane(decltype(zz)::value * PA + at0, std::integral_constant<int, decltype(h)::value * NP + decltype(zz)::value>());
            });
        });
    }
    if (step == nsteps) break;
    const int  np      = step == nsteps - 1 ? 1 : NP;
    const bool squares = !HASX && a.partial && (step < nsteps - 1 || end == a.n[2]); /* planes that count */

    HopsBoxCoarseAlongX<P, S>(tab, m, t, np, squares, &sum);
    __syncthreads();
    if (step + 1 < nsteps) load(step + 1);
    HopsBoxCoarseAlongY<P, S>(tab, m, t, np);
  }
  __syncthreads();
  if (!HASX && a.partial)
    HopsBoxSum<NT>(t, sum, (double *)raw, a.partial + (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x);
}

/* out = sign times the sums of tiles of w[0] w[1] w[2] coarse cells, `in`, at n[0] n[1] n[2] coarse nodes;
   zero on the boundary */
template <class T> struct HopsBoxAssembleArgs {
  int       n[3], w[3], ty;
  long long tz;
  T         sign;
  const T *__restrict__ in;
  T *out;
};

template <class T> __global__ void __launch_bounds__(128) HopsBoxAssemble(const __grid_constant__ HopsBoxAssembleArgs<T> a)
{
  constexpr int K = 4; /* nodes of a thread */
  const int     x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y, z0 = blockIdx.z * K;
  /* between tiles */
  const bool inside = x > 0 && x < a.n[0] - 1 && y > 0 && y < a.n[1] - 1, dx = x % a.w[0] == 0, dy = y % a.w[1] == 0;
  const T   *in  = a.in + (long long)(y + y / a.w[1]) * a.ty + (x + x / a.w[0]);
  const auto get = [&](const T *v) {
    return v[0] + (dx ? v[-1] : (T)0) + (dy ? v[-a.ty] : (T)0) + (dx && dy ? v[-a.ty - 1] : (T)0);
  };
  T s[K];

  if (x >= a.n[0]) return;
#pragma unroll
  for (int k = 0; k < K; k++) {
    const int z = z0 + k;

    s[k] = 0;
    if (inside && z > 0 && z < a.n[2] - 1) {
      const T *v = in + (z + z / a.w[2]) * a.tz;

      s[k] = get(v);
      if (z % a.w[2] == 0) s[k] += get(v - a.tz);
    }
  }
#pragma unroll
  for (int k = 0; k < K; k++)
    if (z0 + k < a.n[2]) a.out[((long long)(z0 + k) * a.n[1] + y) * a.n[0] + x] = a.sign * s[k];
}
