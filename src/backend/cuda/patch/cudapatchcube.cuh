/*
  Residual and local solve of NB patches of a row, which a group of NB n^2 threads holds in shared memory: a
  thread takes a column of a patch into registers and multiplies it by matrices that lie in the constant
  cache; columns change direction through shared memory.

  What is inside lies at x + RS y + PS z, x = 0..NB n - 1 along the row. RS and PS are such that columns of
  all three directions have few bank conflicts; no formula gives them: they were found by counting those of
  all paddings below a row of banks.

  No loop may contain a product: the compiler would load the matrices into registers before the loop, and
  spill. (cudapatchwalk.cuh has one, whose threads forget their places between phases.)
*/
#pragma once
#include "cudapatchtable.cuh"

template <int P_, int NB_, int RS_, int PS_> struct HopsPatchRow {
  /* nodes of a row inside patches; all of them */
  static constexpr int P = P_, NB = NB_, RS = RS_, PS = PS_, n = 2 * P - 1, N = n + 2, n2 = n * n, R = NB * n, W = 2 * P * NB + 1;
  static constexpr int threads = NB * n2;
  /* faces across x: [NB + 1][mode of z][node, then mode, of y]; of y, then z: [sum, difference][mode of z (of
     y)][node of the row, then mode of x of a patch]; of y in modes: [NB][sum, difference][mode of z][mode of
     x] */
  static constexpr int X = n * PS, Y = X + (NB + 1) * n * N, Z = Y + 2 * n * W, G = Z + 2 * n * W, size = G + 2 * NB * n2;
  static constexpr int lines = (NB + 1) * N + 4 * W; /* of the faces: in z, on those across z in y */
};

/* From the columns in z multiplied by S^T, and the faces' lines in modes, to the solution in modes of z;
   threads of the whole block call it, t counts those of the group */
template <class L, class T>
__device__ __forceinline__ void HopsPatchInside(const HopsPatchTable<L::P, T> &tab, const T *Dinv, const T *cyz, int t, T *cube)
{
  constexpr int P = L::P, n = L::n, N = L::N, n2 = L::n2, NB = L::NB, R = L::R, RS = L::RS, W = L::W;
  T *const HX = cube + L::X, *const HY = cube + L::Y, *const HZ = cube + L::Z, *const G = cube + L::G;
  T v[n];

  __syncthreads();
  { /* y: thread (x of the row, k) */
    T *const col = cube + t % R + L::PS * (t / R);

#pragma unroll
    for (int j = 0; j < n; j++) v[j] = col[RS * j];
    HopsPatchDual<P, T>(tab, v);
#pragma unroll
    for (int j = 0; j < n; j++) col[RS * j] = v[j];
  }
  /* faces, second direction: in place, but for those of y, whose first result is needed below; the ends of
     z's lines stay for the neighbour */
  constexpr int items = (NB + 1) * n + 4 * n * NB;
#pragma unroll
  for (int i0 = 0; i0 < items; i0 += L::threads) {
    const int it = i0 + t;
    T        *in, *out, w[N], h[n];

    if (it >= items) break;
    if (it < 4 * n * NB) {
      const int patch = it / (4 * n), r = it - patch * 4 * n;

      in  = HY + r * W + patch * 2 * P;
      out = r < 2 * n ? G + (patch * 2 * n + r) * n : in + 1;
    } else out = in = HX + (it - 4 * n * NB) * N;
#pragma unroll
    for (int i = 0; i < N; i++) w[i] = in[i];
    HopsPatchModes<P, T>(tab, w, h);
#pragma unroll
    for (int m = 0; m < n; m++) out[m] = h[m];
  }
  __syncthreads();
  { /* x, and back: thread (j, patch, k) */
    const int j = t % n, patch = t / n % NB, k = t / R;
    const T   h0 = HX[(patch * n + k) * N + j], h1 = HX[((patch + 1) * n + k) * N + j], gs = h0 + h1, gd = h0 - h1,
            cj = __ldg(cyz + j), ck = __ldg(cyz + n + k);
    const T *gy = G + ((patch * 2 + (j >= P)) * n + k) * n, *gz = HZ + ((k >= P) * n + j) * W + patch * 2 * P + 1;
    T       *row = cube + patch * n + RS * j + L::PS * k;

#pragma unroll
    for (int i = 0; i < n; i++) v[i] = row[i];
    HopsPatchDual<P, T>(tab, v);
    if constexpr (sizeof(T) == 4) { /* a reciprocal costs less than a load */
      const T l = __ldg(cyz + 2 * n + j) + __ldg(cyz + 3 * n + k);

#pragma unroll
      for (int i = 0; i < n; i++) v[i] = __fdividef(v[i] - tab.c[i] * (i < P ? gs : gd) - cj * gy[i] - ck * gz[i], tab.l[i] + l);
    } else {
#pragma unroll
      for (int i = 0; i < n; i++)
        v[i] = (v[i] - tab.c[i] * (i < P ? gs : gd) - cj * gy[i] - ck * gz[i]) * __ldg(Dinv + i * n2 + k * n + j);
    }
    HopsPatchValues<P, T>(tab, gs, gd, v);
#pragma unroll
    for (int i = 0; i < n; i++) row[i] = v[i];
  }
  __syncthreads();
  { /* y: thread (x of the row, k) */
    T *const back = cube + t % R + L::PS * (t / R);
    const T *g    = HY + t / R * W + t % R / n * 2 * P + t % R % n + 1;

#pragma unroll
    for (int j = 0; j < n; j++) v[j] = back[RS * j];
    HopsPatchValues<P, T>(tab, g[0], g[n * W], v);
#pragma unroll
    for (int j = 0; j < n; j++) back[RS * j] = v[j];
  }
  __syncthreads();
}
