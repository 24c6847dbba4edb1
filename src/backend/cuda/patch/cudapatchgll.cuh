/*
  The 1D factors of two equal cells whose nodes are the Gauss-Lobatto-Legendre ones, the cell being [0,1],
  computed by the compiler: in single precision their entries become immediate operands of the kernels'
  multiply-adds. For entries from the constant bank it emits a load of two before each pair of multiply-adds,
  an eighth of a walk's instructions, on the architecture 9.0. An immediate operand has 32 bits, so double
  precision has no such gain.

  Sums and products of doubles; the host's factors, of long doubles, are compared with them when they are set
  up.
*/
#pragma once
#include "cudapatchtable.cuh"

/* A square root by Newton's method */
constexpr double HopsGLLRoot(double a)
{
  double x = a > 1 ? a : 1;

  for (int i = 0; i < 100; i++) {
    const double y = 0.5 * (x + a / x);

    if (y >= x) break;
    x = y;
  }
  return x;
}

/* The Legendre polynomial of degree n, or its derivative, at x, |x| < 1 */
constexpr double HopsGLLLegendre(int n, double x, bool derivative)
{
  double p = 1, q = 0;

  for (int k = 1; k <= n; k++) {
    const double r = ((2 * k - 1) * x * p - (k - 1) * q) / k;

    q = p;
    p = r;
  }
  return derivative ? n * (q - x * p) / (1 - x * x) : p;
}

/* The roots of that in (-1,1), ascending: bisection where the sign changes */
template <int N> constexpr void HopsGLLRoots(int n, bool derivative, double x[N])
{
  constexpr int cuts  = 128;
  int           found = 0;

  for (int c = 1 - cuts; c < cuts - 1; c++) {
    double a = (c + 0.3) / cuts, b = (c + 1.3) / cuts; /* no root lies on a cut */
    bool   rising = HopsGLLLegendre(n, a, derivative) < 0;

    if (found == N || rising == HopsGLLLegendre(n, b, derivative) < 0) continue;
    for (int i = 0; i < 60; i++) {
      const double m = 0.5 * (a + b);

      if ((HopsGLLLegendre(n, m, derivative) < 0) == rising) a = m;
      else b = m;
    }
    x[found++] = 0.5 * (a + b);
  }
}

/* S and its inverse for the even (PAR 0) or odd modes, as ModesOfParity() of cudapatch.c has them: the first
   component of a mode is positive */
template <int P, int PAR> constexpr void HopsGLLModes(const double A[], const double M[], double S[])
{
  constexpr int k = PAR ? P - 1 : P, n = 2 * P - 1, N = n + 2;
  double        a[k * k] = {}, L[k * k] = {}, v[k * k] = {};
  bool          done[k] = {};

  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++) {
      const int    i1 = i + 1, j1 = j + 1, i2 = n - i, j2 = n - j;
      const double s = PAR ? -1 : 1, di = i1 == i2 ? 0 : s, dj = j1 == j2 ? 0 : s;

      a[i * k + j] = A[i1 * N + j1] + dj * A[i1 * N + j2] + di * A[i2 * N + j1] + di * dj * A[i2 * N + j2];
      L[i * k + j] = M[i1 * N + j1] + dj * M[i1 * N + j2] + di * M[i2 * N + j1] + di * dj * M[i2 * N + j2];
      v[i * k + j] = i == j;
    }
  for (int j = 0; j < k; j++) { /* Cholesky */
    for (int i = j; i < k; i++) {
      double s = L[i * k + j];

      for (int l = 0; l < j; l++) s -= L[i * k + l] * L[j * k + l];
      L[i * k + j] = i == j ? HopsGLLRoot(s) : s / L[j * k + j];
    }
  }
  for (int side = 0; side < 2; side++) { /* a <- (L^{-1} a)^T twice: L^{-1} a L^{-T} */
    double t[k * k] = {};

    for (int c = 0; c < k; c++)
      for (int i = 0; i < k; i++) {
        double s = a[i * k + c];

        for (int l = 0; l < i; l++) s -= L[i * k + l] * t[c * k + l];
        t[c * k + i] = s / L[i * k + i];
      }
    for (int i = 0; i < k * k; i++) a[i] = t[i];
  }
  for (int sweep = 0; sweep < 10; sweep++) /* Jacobi */
    for (int p = 0; p < k; p++)
      for (int q = p + 1; q < k; q++) {
        if (a[p * k + q] == 0) continue;
        const double theta = (a[q * k + q] - a[p * k + p]) / (2 * a[p * k + q]),
                     t     = (theta < 0 ? -1 : 1) / ((theta < 0 ? -theta : theta) + HopsGLLRoot(theta * theta + 1)),
                     c = 1 / HopsGLLRoot(t * t + 1), s = t * c;

        for (int i = 0; i < k; i++) {
          const double x = a[i * k + p], y = a[i * k + q];

          a[i * k + p] = c * x - s * y;
          a[i * k + q] = s * x + c * y;
        }
        for (int i = 0; i < k; i++) {
          const double x = a[p * k + i], y = a[q * k + i], z = v[i * k + p], w = v[i * k + q];

          a[p * k + i] = c * x - s * y;
          a[q * k + i] = s * x + c * y;
          v[i * k + p] = c * z - s * w;
          v[i * k + q] = s * z + c * w;
        }
      }
  for (int q = 0; q < k; q++) { /* ascending */
    int    m    = -1;
    double x[k] = {};

    for (int i = 0; i < k; i++)
      if (!done[i] && (m < 0 || a[i * k + i] < a[m * k + m])) m = i;
    done[m] = true;
    for (int i = k - 1; i >= 0; i--) { /* L^{-T} */
      x[i] = v[i * k + m];
      for (int l = i + 1; l < k; l++) x[i] -= L[l * k + i] * x[l];
      x[i] /= L[i * k + i];
    }
    for (int i = 0; i < k; i++) {
      const double y = x[0] < 0 ? -x[i] : x[i];

      S[i * n + PAR * P + q] = y;
      if (i != n - 1 - i) S[(n - 1 - i) * n + PAR * P + q] = PAR ? -y : y;
    }
  }
}

/* All of the table but what depends on weights, l and c, which are 0 */
template <int P> constexpr HopsPatchTable<P, float> HopsPatchGLL()
{
  constexpr int            n = 2 * P - 1, N = n + 2, O = P - 1, B = P + 1;
  double                   x[B] = {}, inner[O] = {}, g[B] = {}, A[N * N] = {}, M[N * N] = {}, S[n * n] = {}, mu[n] = {}, E[n] = {};
  HopsPatchTable<P, float> t = {};

  HopsGLLRoots<O>(P, true, inner);
  HopsGLLRoots<B>(B, false, g);
  x[0] = -1;
  x[P] = 1;
  for (int i = 1; i < P; i++) x[i] = 0.5 * (inner[i - 1] - inner[P - 1 - i]);
  for (int q = 0; q < B; q++) { /* Gauss points, of [-1,1]: exact */
    const double y = 0.5 * (g[q] - g[B - 1 - q]), dp = HopsGLLLegendre(B, y, true), w = 2 / ((1 - y * y) * dp * dp);
    double       v[B] = {}, d[B] = {};

    for (int i = 0; i < B; i++) {
      v[i] = 1;
      for (int j = 0; j < B; j++)
        if (j != i) v[i] *= (y - x[j]) / (x[i] - x[j]);
      for (int l = 0; l < B; l++) {
        double s = 1;

        if (l == i) continue;
        for (int j = 0; j < B; j++)
          if (j != i) s *= j == l ? 1 / (x[i] - x[j]) : (y - x[j]) / (x[i] - x[j]);
        d[i] += s;
      }
    }
    for (int c = 0; c < 2; c++)
      for (int i = 0; i < B; i++)
        for (int j = 0; j < B; j++) {
          A[(c * P + i) * N + c * P + j] += 2 * w * d[i] * d[j];
          M[(c * P + i) * N + c * P + j] += 0.5 * w * v[i] * v[j];
        }
  }
  HopsGLLModes<P, 0>(A, M, S);
  HopsGLLModes<P, 1>(A, M, S);
  for (int m = 0; m < n; m++) {
    for (int i = 0; i < n; i++) mu[m] += S[i * n + m] * M[(i + 1) * N];
    for (int i = 0; i < n; i++) E[i] -= S[i * n + m] * mu[m];
    t.mu[m] = (float)mu[m];
    for (int i = 0; i < (m < P ? P : O); i++) {
      double inverse = 0;

      for (int j = 0; j < n; j++) inverse += S[j * n + m] * M[(j + 1) * N + i + 1];
      if (m < P) {
        t.Se[i * P + m] = (float)S[i * n + m];
        t.Ie[m * P + i] = (float)inverse;
      } else {
        t.So[i * O + m - P]   = (float)S[i * n + m];
        t.Io[(m - P) * O + i] = (float)inverse;
      }
    }
  }
  for (int i = 0; i < P; i++) t.Ee[i] = (float)(0.5 * (E[i] + E[n - 1 - i]));
  for (int i = 0; i < O; i++) t.Eo[i] = (float)(0.5 * (E[i] - E[n - 1 - i]));
  return t;
}

template <int P> __device__ constexpr HopsPatchTable<P, float> HopsPatchGLLTable = HopsPatchGLL<P>();

/* The matrices with which to multiply: those, or the table's. Only indices that the compiler knows are
   fast */
template <int P> __device__ __forceinline__ const HopsPatchTable<P, double> &HopsPatchMatrices(const HopsPatchTable<P, double> &t)
{
  return t;
}

template <int P> __device__ __forceinline__ const HopsPatchTable<P, float> &HopsPatchMatrices(const HopsPatchTable<P, float> &)
{
  return HopsPatchGLLTable<P>;
}
