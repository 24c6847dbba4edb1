/* Launches of the kernels of one order */
#pragma once
#include "cudabox.h"
#include <math.h>
#include "cudaboxresidual.cuh"
#include "cudaboxprolonged.cuh"
#include "cudaboxtransfer.cuh"
#include "cudaboxcoarse.cuh"

template <int P, class T> static void HopsBoxHalves(const double K[], T Ke[], T Ko[])
{
  constexpr int N = P + 1, O = N / 2, E = N - O;

  for (int i = 0; i < E; i++)
    for (int k = 0; k < E; k++) {
      const double a = K[i * N + k], b = K[i * N + P - k];

      Ke[i * E + k] = (T)(k < O ? 0.5 * (a + b) : a);
      if (i < O && k < O) Ko[i * O + k] = (T)(0.5 * (a - b));
    }
}

/*
  K = d A + m M with entries rounded to multiples of a power of two, such that all sums in halves and rows are
  exact, and each row has the sum that m M has. Plain rounding leaves a sum of order eps |A|, which acts as a
  reaction of order eps |A| / h^2: at order 7 on 128 cells 0.2% of the smallest eigenvalue in single
  precision, and an error of 2.4e-12 in place of 4.7e-14 in one dimension in double.
*/
template <int P, class T> static void HopsBoxStiffness(const double A[], const double M[], double d, double m, double K[])
{
  constexpr int N       = P + 1;
  double        largest = 0, unit;

  for (int i = 0; i < N * N; i++) largest = fmax(largest, fabs(d * A[i]) + fabs(m * M[i]));
  unit = ldexp(1.0, ilogb(largest) + 2 - (sizeof(T) == 8 ? 52 : 23));
  for (int i = 0; i < N; i++)
    for (int j = 0; j < i; j++) {
      const int    a = P - j, b = P - i; /* symmetric, also where both indices are mirrored */
      const double s = 0.5 * (d * (A[i * N + j] + A[a * N + b]) + m * (M[i * N + j] + M[a * N + b]));

      K[i * N + j] = K[j * N + i] = K[a * N + b] = K[b * N + a] = rint(s / unit) * unit;
    }
  for (int i = 0; i < N; i++) {
    double sum = 0;

    for (int j = 0; j < N; j++) sum += m * M[i * N + j];
    sum = rint(sum / unit) * unit;
    for (int j = 0; j < N; j++)
      if (j != i) sum -= K[i * N + j];
    K[i * N + i] = sum;
  }
}

template <int P, class T> static HopsBoxTable<P, T> HopsBoxTableCreate(HopsCudaBox k)
{
  constexpr int      N = P + 1;
  HopsBoxTable<P, T> t = {};
  double             X[N * N], Y[N * N], Z[N * N];

  HopsBoxStiffness<P, T>(k->A1, k->M1, k->d[0], k->m, X);
  HopsBoxStiffness<P, T>(k->A1, k->M1, k->d[1], 0.0, Y);
  HopsBoxStiffness<P, T>(k->A1, k->M1, k->d[k->dim - 1], 0.0, Z);
  HopsBoxHalves<P, T>(k->M1, t.Me, t.Mo);
  HopsBoxHalves<P, T>(X, t.Xe, t.Xo);
  HopsBoxHalves<P, T>(Y, t.Ye, t.Yo);
  HopsBoxHalves<P, T>(Z, t.Ze, t.Zo);
  for (int i = 0; i < N; i++) {
    t.Ml[i] = (T)k->M1[P * N + i];
    t.Xl[i] = (T)X[P * N + i];
    t.Yl[i] = (T)Y[P * N + i];
  }
  for (int i = 0; i < 2 * P * N; i++) t.J[i] = (T)k->J[i];
  return t;
}

/* Layers, or pairs of layers, that a block marches over: long enough to hide the layers before, short enough
   to keep the device busy */
template <int DIM, int P, class T> static dim3 HopsBoxGrid(HopsCudaBox k, bool pairs, int *chunk)
{
  using L     = HopsBoxTile<DIM, P, T>;
  const int n = k->ncells[DIM - 1] / (pairs ? 2 : 1), tx = (k->ncells[0] + L::TX - 1) / L::TX,
            ty           = DIM == 3 ? (k->ncells[1] + L::TY - 1) / L::TY : 1;
  const long long enough = 3LL * L::blocks * k->multiprocessors;

  *chunk = pairs ? 64 : 128;
  while (*chunk > 1 && (long long)tx * ty * ((n + *chunk - 1) / *chunk) < enough) *chunk /= 2;
  return DIM == 3 ? dim3(tx, ty, (n + *chunk - 1) / *chunk) : dim3(tx, (n + *chunk - 1) / *chunk);
}

template <int DIM, int P, class T, class TO, bool RESTRICTED>
static cudaError_t HopsBoxRunResidual(HopsCudaBox k, const void *b, const void *x, double scale, void *r, double *partial,
                                      cudaStream_t stream)
{
  using S              = HopsBoxSizes<DIM, P, T>;
  HopsBoxArgs<T, TO> a = {};
  cudaError_t        err =
    cudaFuncSetAttribute(HopsBoxResidual<DIM, P, T, TO, RESTRICTED>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)S::shared);
  const dim3 grid = HopsBoxGrid<DIM, P, T>(k, RESTRICTED, &a.chunk);

  if (err) return err;
  a.n[0]    = k->ncells[0];
  a.n[1]    = DIM == 3 ? k->ncells[1] : 1;
  a.nm      = k->ncells[DIM - 1];
  a.sy      = (int)k->sy;
  a.sm      = DIM == 3 ? k->sz : k->sy;
  a.b       = (const T *)b;
  a.x       = (const T *)x;
  a.r       = (TO *)r;
  a.scale   = (T)scale;
  a.partial = partial;
  HopsBoxResidual<DIM, P, T, TO, RESTRICTED><<<grid, S::threads, S::shared, stream>>>(HopsBoxTableCreate<P, T>(k), a);
  return cudaGetLastError();
}

template <int P>
static PetscErrorCode HopsBoxResidual_(HopsCudaBox k, const void *b, const void *x, PetscBool rsingle, double scale, void *r,
                                       double *partial, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (k->dim == 3) {
    if (k->single) PetscCallCUDA((HopsBoxRunResidual<3, P, float, float, false>(k, b, x, scale, r, partial, stream)));
    else if (rsingle) PetscCallCUDA((HopsBoxRunResidual<3, P, double, float, false>(k, b, x, scale, r, partial, stream)));
    else PetscCallCUDA((HopsBoxRunResidual<3, P, double, double, false>(k, b, x, scale, r, partial, stream)));
  } else {
    if (k->single) PetscCallCUDA((HopsBoxRunResidual<2, P, float, float, false>(k, b, x, scale, r, partial, stream)));
    else if (rsingle) PetscCallCUDA((HopsBoxRunResidual<2, P, double, float, false>(k, b, x, scale, r, partial, stream)));
    else PetscCallCUDA((HopsBoxRunResidual<2, P, double, double, false>(k, b, x, scale, r, partial, stream)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* K J for the stiffness or mass K of a pair of cells: rows of the stiffness are rounded as those of
   HopsBoxStiffness() are, and add up to those of `m` M */
template <int P, class T>
static void HopsBoxPairHalves(HopsCudaBox k, const double K[], bool round, double m, T Ke[], T Ko[], T Kl[])
{
  constexpr int N = P + 1, O = N / 2, E = N - O, R = 2 * P + 1;
  double        B[R * N] = {}, sums[R] = {}, largest = 0, unit;

  for (int c = 0; c < 2; c++)
    for (int i = 0; i < N; i++)
      for (int l = 0; l < N; l++) {
        const int f = c * P + l;

        sums[c * P + i] += m * k->M1[i * N + l];
        for (int j = 0; j < N; j++) B[(c * P + i) * N + j] += K[i * N + l] * (f < 2 * P ? k->J[f * N + j] : (j == P ? 1.0 : 0.0));
      }
  for (int i = 0; i < R * N; i++) largest = fmax(largest, fabs(B[i]));
  for (int i = 0; i < R; i++) largest = fmax(largest, fabs(sums[i]));
  unit = ldexp(1.0, ilogb(largest) + 3 - (sizeof(T) == 8 ? 52 : 23));
  for (int i = 0; i <= P; i++) { /* the other rows are mirrored */
    double row[N], sum = rint(0.5 * (sums[i] + sums[2 * P - i]) / unit) * unit;

    for (int j = 0; j < N; j++) {
      row[j] = 0.5 * (B[i * N + j] + B[(2 * P - i) * N + P - j]);
      if (round) row[j] = rint(row[j] / unit) * unit;
    }
    if (round) {
      const int j0 = i < P ? i / 2 : (N - 1) / 2, j1 = i < P ? j0 : N - 1 - j0; /* the entries that take what is left */

      for (int j = 0; j < N; j++) sum -= row[j];
      row[j0] += 0.5 * sum;
      row[j1] += 0.5 * sum;
    }
    for (int j = 0; j < E; j++) {
      const double a = row[j], b = row[P - j];

      Ke[i * E + j] = (T)(j < O ? 0.5 * (a + b) : a);
      if (i < P && j < O) Ko[i * O + j] = (T)(0.5 * (a - b));
    }
    if (!i && Kl)
      for (int j = 0; j < N; j++) Kl[j] = (T)row[P - j];
  }
}

template <int P, class T> static HopsBoxPairTable<P, T> HopsBoxPairTableCreate(HopsCudaBox k)
{
  constexpr int          N = P + 1;
  HopsBoxPairTable<P, T> t = {};
  double                 K[N * N];

  HopsBoxPairHalves<P, T>(k, k->M1, false, 1.0, t.Me, t.Mo, t.Ml);
  HopsBoxStiffness<P, T>(k->A1, k->M1, k->d[0], k->m, K);
  HopsBoxPairHalves<P, T>(k, K, true, k->m, t.Xe, t.Xo, t.Xl);
  HopsBoxStiffness<P, T>(k->A1, k->M1, k->d[1], 0.0, K);
  HopsBoxPairHalves<P, T>(k, K, true, 0.0, t.Ye, t.Yo, t.Yl);
  HopsBoxStiffness<P, T>(k->A1, k->M1, k->d[k->dim - 1], 0.0, K);
  HopsBoxPairHalves<P, T>(k, K, true, 0.0, t.Ze, t.Zo, NULL);
  return t;
}

template <int DIM, int P> static dim3 HopsBoxPairGrid(HopsCudaBox k, int *chunk)
{
  using S     = HopsBoxPairSizes<DIM, P, double>;
  const int n = k->ncells[DIM - 1] / 2, tx = (k->ncells[0] / 2 + S::TX - 1) / S::TX,
            ty           = DIM == 3 ? (k->ncells[1] / 2 + S::TY - 1) / S::TY : 1;
  const long long enough = 3LL * S::blocks * k->multiprocessors;

  *chunk = P > 5 ? 64 : 16; /* as measured in 3D: long marches have less that is done twice, short ones more blocks */
  while (*chunk > 1 && (long long)tx * ty * ((n + *chunk - 1) / *chunk) < enough) *chunk /= 2;
  return DIM == 3 ? dim3(tx, ty, (n + *chunk - 1) / *chunk) : dim3(tx, (n + *chunk - 1) / *chunk);
}

template <int DIM, int P, class TO, bool AHEAD>
static cudaError_t HopsBoxRunProlongedAs(HopsCudaBox k, const void *b, const void *xc, const double *scale, void *r,
                                         double *partial, cudaStream_t stream)
{
  using S                        = HopsBoxPairSizes<DIM, P, double>;
  HopsBoxArgs<double, TO> a      = {};
  constexpr size_t        shared = AHEAD ? S::two : S::one;
  cudaError_t             err =
    cudaFuncSetAttribute(HopsBoxProlonged<DIM, P, double, TO, AHEAD>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
  const dim3 grid = HopsBoxPairGrid<DIM, P>(k, &a.chunk);

  if (err) return err;
  a.n[0]    = k->ncells[0] / 2;
  a.n[1]    = DIM == 3 ? k->ncells[1] / 2 : 1;
  a.nm      = k->ncells[DIM - 1] / 2;
  a.sy      = (int)k->sy;
  a.sm      = DIM == 3 ? k->sz : k->sy;
  a.b       = (const double *)b;
  a.x       = (const double *)xc;
  a.r       = (TO *)r;
  a.dscale  = scale;
  a.partial = partial;
  HopsBoxProlonged<DIM, P, double, TO, AHEAD><<<grid, S::threads, shared, stream>>>(HopsBoxPairTableCreate<P, double>(k), a);
  return cudaGetLastError();
}

template <int DIM, int P, class TO>
static cudaError_t HopsBoxRunProlonged(HopsCudaBox k, const void *b, const void *xc, const double *scale, void *r, double *partial,
                                       cudaStream_t stream)
{
  using S = HopsBoxPairSizes<DIM, P, double>;

  if constexpr (S::AHEAD) {
    if ((size_t)k->shared >= S::two) return HopsBoxRunProlongedAs<DIM, P, TO, true>(k, b, xc, scale, r, partial, stream);
  }
  return HopsBoxRunProlongedAs<DIM, P, TO, false>(k, b, xc, scale, r, partial, stream);
}

template <int P>
static PetscErrorCode HopsBoxResidualProlonged_(HopsCudaBox k, const void *b, const void *xc, const double *scale, void *r,
                                                double *partial, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCheck(!k->single, PETSC_COMM_SELF, PETSC_ERR_SUP, "Residuals of prolonged functions are taken in double precision");
  if (k->dim == 3) PetscCallCUDA((HopsBoxRunProlonged<3, P, float>(k, b, xc, scale, r, partial, stream)));
  else PetscCallCUDA((HopsBoxRunProlonged<2, P, float>(k, b, xc, scale, r, partial, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int P> static int HopsBoxProlongedBlocks_(HopsCudaBox k)
{
  int        chunk;
  const dim3 g = k->dim == 3 ? HopsBoxPairGrid<3, P>(k, &chunk) : HopsBoxPairGrid<2, P>(k, &chunk);

  return (int)(g.x * g.y * g.z);
}

template <int P>
static PetscErrorCode HopsBoxResidualRestrict_(HopsCudaBox k, const void *b, const void *x, void *out, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCheck(k->dim == 2 || !k->single, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "Residuals of single precision in 3D are restricted in all directions at once");
  if (k->dim == 3) PetscCallCUDA((HopsBoxRunResidual<3, P, double, double, true>(k, b, x, 1.0, out, NULL, stream)));
  else {
    if (k->single) PetscCallCUDA((HopsBoxRunResidual<2, P, float, float, true>(k, b, x, 1.0, out, NULL, stream)));
    else PetscCallCUDA((HopsBoxRunResidual<2, P, double, double, true>(k, b, x, 1.0, out, NULL, stream)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  J^T K for the stiffness or mass K of a pair of cells; K NULL: J^T with halves in place of ones at the ends.

  What multiplies the sums of mirrored nodes in the stiffness is rounded such that rows and columns have the
  sums that those of m J^T M have, exactly for m = 0, else to some units. Columns, since a residual's smooth
  part is small beside its rough one: on 256 cells of order 3 sums that plain rounding leaves cost an error of
  1.3e-12 in single precision, where that of the discretisation is 4.6e-12. Columns of J^T add up to one for
  the same reason.
*/
template <int P, class T> static void HopsBoxCoarseHalves(HopsCudaBox k, const double K[], bool round, double m, T Ke[], T Ko[])
{
  constexpr int N = P + 1, O = N / 2, E = N - O, F = 2 * P + 1;
  double        B[N * F] = {}, S[N * F] = {}, e[E * N], rows[E] = {}, columns[N] = {}, largest = 0, unit;
  const auto    weight = [](int j) { return j < O ? 2.0 : 1.0; }; /* of a sum's row or column: what is mirrored counts twice */
  const auto    even   = [](const double *v, int j, int f) {
    return 0.25 * (v[j * F + f] + v[j * F + 2 * P - f] + v[(P - j) * F + f] + v[(P - j) * F + 2 * P - f]);
  };

  for (int j = 0; j < N; j++) {
    const auto J = [&](int f) { return f < 2 * P ? k->J[f * N + j] : (j == P ? 1.0 : 0.0); };

    if (!K)
      for (int f = 0; f < F; f++) B[j * F + f] = (f % (2 * P) ? 1.0 : 0.5) * J(f);
    for (int c = 0; K && c < 2; c++)
      for (int i = 0; i < N; i++)
        for (int l = 0; l < N; l++) {
          B[j * F + c * P + l] += J(c * P + i) * K[i * N + l];
          S[j * F + c * P + l] += m * J(c * P + i) * k->M1[i * N + l];
        }
  }
  for (int i = 0; i < N * F; i++) largest = fmax(largest, fmax(fabs(B[i]), fabs(S[i])));
  unit = ldexp(1.0, ilogb(largest) + 1 - (sizeof(T) == 8 ? 52 : 23)); /* T has halves of it, too */
  for (int j = 0; j < E; j++)                                         /* the other rows are mirrored */
    for (int f = 0; f <= P; f++) {
      const double s = K ? even(S, j, f) : (f ? 1.0 : 0.5) / N;

      rows[j] += (f < P ? 2 : 1) * s;
      columns[f] += weight(j) * s;
      e[j * N + f] = even(B, j, f);
      if (round) e[j * N + f] = rint(e[j * N + f] / unit) * unit;
      if (j < O && f < P)
        Ko[j * P + f] = (T)(0.25 * (B[j * F + f] - B[j * F + 2 * P - f] - B[(P - j) * F + f] + B[(P - j) * F + 2 * P - f]));
    }
  for (int j = 0; K && round && j < E - 1; j++) { /* the middle column takes what is left of rows, */
    double sum = rint(rows[j] / unit) * unit;

    for (int f = 0; f < P; f++) sum -= 2 * e[j * N + f];
    e[j * N + P] = sum;
  }
  for (int f = 0; round && f <= P; f++) { /* and the last row what is left of columns */
    double sum = rint(columns[f] / unit) * unit;

    for (int j = 0; j < E - 1; j++) sum -= weight(j) * e[j * N + f];
    e[(E - 1) * N + f] = sum / weight(E - 1);
  }
  for (int i = 0; i < E * N; i++) Ke[i] = (T)e[i];
}

template <int P, class T> static HopsBoxCoarseTable<P, T> HopsBoxCoarseTableCreate(HopsCudaBox k)
{
  constexpr int            N = P + 1;
  HopsBoxCoarseTable<P, T> t = {};
  double                   K[N * N];

  HopsBoxCoarseHalves<P, T>(k, k->M1, false, 1.0, t.Me, t.Mo);
  HopsBoxStiffness<P, T>(k->A1, k->M1, k->d[0], k->m, K);
  HopsBoxCoarseHalves<P, T>(k, K, true, k->m, t.Xe, t.Xo);
  HopsBoxStiffness<P, T>(k->A1, k->M1, k->d[1], 0.0, K);
  HopsBoxCoarseHalves<P, T>(k, K, true, 0.0, t.Ye, t.Yo);
  HopsBoxStiffness<P, T>(k->A1, k->M1, k->d[2], 0.0, K);
  HopsBoxCoarseHalves<P, T>(k, K, true, 0.0, t.Ze, t.Zo);
  HopsBoxCoarseHalves<P, T>(k, NULL, true, 0.0, t.Je, t.Jo);
  return t;
}

template <int P, class T> static dim3 HopsBoxCoarseGrid(HopsCudaBox k, int *chunk)
{
  using L           = HopsBoxCoarseTile<P, T>;
  const int       n = k->ncells[2] / 2, tx = (k->ncells[0] / 2 + L::TX - 1) / L::TX, ty = (k->ncells[1] / 2 + L::TY - 1) / L::TY;
  const long long enough = 3LL * L::blocks * k->multiprocessors;

  *chunk = 16;
  while (*chunk > 1 && (long long)tx * ty * ((n + *chunk - 1) / *chunk) < enough) *chunk /= 2;
  return dim3(tx, ty, (n + *chunk - 1) / *chunk);
}

template <int P, class T, bool HASX>
static cudaError_t HopsBoxRunCoarse(HopsCudaBox k, const void *b, const void *x, void *sums, void *out, double *partial,
                                    cudaStream_t stream)
{
  using S                  = HopsBoxCoarseSizes<P, T, HASX>;
  HopsBoxCoarseArgs<T>   a = {};
  HopsBoxAssembleArgs<T> c = {};
  cudaError_t err  = cudaFuncSetAttribute(HopsBoxCoarse<P, T, HASX>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)S::shared);
  const dim3  grid = HopsBoxCoarseGrid<P, T>(k, &a.chunk);

  if (err) return err;
  for (int i = 0; i < 3; i++) {
    a.n[i] = k->ncells[i] / 2;
    c.n[i] = a.n[i] * P + 1;
  }
  a.sy      = (int)k->sy;
  a.sz      = k->sz;
  a.ty      = (int)grid.x * S::CX;
  a.tz      = (long long)a.ty * grid.y * S::CY;
  a.b       = (const T *)b;
  a.x       = (const T *)x;
  a.out     = (T *)sums;
  a.partial = partial;
  HopsBoxCoarse<P, T, HASX><<<grid, S::threads, S::shared, stream>>>(HopsBoxCoarseTableCreate<P, T>(k), a);
  err = cudaGetLastError();
  if (err) return err;
  c.w[0] = S::TX * P;
  c.w[1] = S::TY * P;
  c.w[2] = a.chunk * P;
  c.ty   = a.ty;
  c.tz   = a.tz;
  c.sign = HASX ? -1 : 1;
  c.in   = (const T *)sums;
  c.out  = (T *)out;
  HopsBoxAssemble<T><<<dim3((c.n[0] + 127) / 128, c.n[1], (c.n[2] + 3) / 4), 128, 0, stream>>>(c);
  return cudaGetLastError();
}

template <int P>
static PetscErrorCode HopsBoxCoarse_(HopsCudaBox k, const void *b, const void *x, void *sums, void *out, double *partial,
                                     cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCheck(k->dim == 3 && k->single == (x ? PETSC_TRUE : PETSC_FALSE), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "In 3D residuals of single precision, or vectors of double precision, are restricted at once");
  if (x) PetscCallCUDA((HopsBoxRunCoarse<P, float, true>(k, b, x, sums, out, NULL, stream)));
  else PetscCallCUDA((HopsBoxRunCoarse<P, double, false>(k, b, NULL, sums, out, partial, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int P, class T> static size_t HopsBoxCountSums(HopsCudaBox k, int *blocks)
{
  using L = HopsBoxCoarseTile<P, T>;
  int        chunk;
  const dim3 g = HopsBoxCoarseGrid<P, T>(k, &chunk);

  *blocks = (int)(g.x * g.y * g.z);
  return sizeof(T) * *blocks * (size_t)(L::TX * P + 1) * (L::TY * P + 1) * (chunk * P + 1);
}

template <int P> static size_t HopsBoxCoarseSums_(HopsCudaBox k, int *blocks)
{
  *blocks = 0;
  if (k->dim == 2) return 0;
  return k->single ? HopsBoxCountSums<P, float>(k, blocks) : HopsBoxCountSums<P, double>(k, blocks);
}

template <int P, class T> static HopsBoxProlongTable<P, T> HopsBoxProlongTableCreate(HopsCudaBox k)
{
  constexpr int             N = P + 1, O = N / 2, E = N - O;
  HopsBoxProlongTable<P, T> t = {};

  for (int i = 0; i <= P; i++) { /* rows add up to one exactly: what is off would be repeated in all cells */
    const double unit = sizeof(T) == 8 ? 0x1p-52 : 0x1p-23;
    double       sum  = 1, e[E];

    for (int j = 0; j < E; j++) {
      const double a = k->J[i * N + j], b = k->J[i * N + P - j];

      e[j] = rint((j < O ? 0.5 * (a + b) : a) / unit) * unit;
      sum -= j < O ? 2 * e[j] : e[j];
      if (i < P && j < O) t.Jo[i * O + j] = (T)(0.5 * (a - b));
    }
    e[E - 1] += E > O ? sum : 0.5 * sum;
    for (int j = 0; j < E; j++) t.Je[i * E + j] = (T)e[j];
  }
  return t;
}

template <int DIM, int P, class T, class TC>
static cudaError_t HopsBoxRunProlong(HopsCudaBox k, double s, const double *ds, const void *add, const void *xc, void *x,
                                     cudaStream_t stream)
{
  using S                         = HopsBoxProlongSizes<DIM, P, T>;
  const int                 nc[3] = {k->ncells[0] / 2, k->ncells[1] / 2, k->ncells[2] / 2};
  HopsBoxProlongArgs<T, TC> a     = {};
  cudaError_t               err =
    cudaFuncSetAttribute(HopsBoxProlong<DIM, P, T, TC>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)S::shared);
  const unsigned int tx = (nc[0] + S::CX - 1) / S::CX;

  if (err) return err;
  for (int i = 0; i < DIM; i++) a.n[i] = nc[i];
  a.sy  = (int)k->sy;
  a.sz  = k->sz;
  a.cy  = nc[0] * P + 1;
  a.cz  = (long long)a.cy * (nc[1] * P + 1);
  a.s   = (T)s;
  a.ds  = ds;
  a.add = (const TC *)add;
  a.xc  = (const T *)xc;
  a.x   = (T *)x;
  HopsBoxProlong<DIM, P, T, TC><<<DIM == 3 ? dim3(tx, (nc[1] + S::CY - 1) / S::CY, nc[2]) : dim3(tx, nc[1]), S::threads, S::shared,
                                  stream>>>(HopsBoxProlongTableCreate<P, T>(k), a);
  return cudaGetLastError();
}

template <int P>
static PetscErrorCode HopsBoxProlong_(HopsCudaBox k, const void *xc, PetscBool csingle, double s, const double *ds, const void *c,
                                      void *x, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (k->dim == 3) {
    if (k->single) PetscCallCUDA((HopsBoxRunProlong<3, P, float, float>(k, s, ds, c, xc, x, stream)));
    else if (csingle) PetscCallCUDA((HopsBoxRunProlong<3, P, double, float>(k, s, ds, c, xc, x, stream)));
    else PetscCallCUDA((HopsBoxRunProlong<3, P, double, double>(k, s, ds, c, xc, x, stream)));
  } else {
    if (k->single) PetscCallCUDA((HopsBoxRunProlong<2, P, float, float>(k, s, ds, c, xc, x, stream)));
    else if (csingle) PetscCallCUDA((HopsBoxRunProlong<2, P, double, float>(k, s, ds, c, xc, x, stream)));
    else PetscCallCUDA((HopsBoxRunProlong<2, P, double, double>(k, s, ds, c, xc, x, stream)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Directions above dir have coarse nodes in `in`, those below it fine ones in both */
template <int P, class T>
static cudaError_t HopsBoxRunRestrict(HopsCudaBox k, int dir, const void *in, void *out, cudaStream_t stream)
{
  const int              nc[3] = {k->ncells[0] / 2, k->ncells[1] / 2, k->ncells[2] / 2};
  HopsBoxRestrictArgs<T> a     = {};

  a.n   = nc[dir];
  a.in  = (const T *)in;
  a.out = (T *)out;
  if (dir == 0) {
    constexpr int CX  = P < 8 ? 128 / P : 16;
    const int     row = nc[0] * P + 1;

    a.inplane  = k->sy * (nc[1] * P + 1);
    a.outplane = (long long)row * (nc[1] * P + 1);
    HopsBoxRestrictRows<P, T>
      <<<dim3((nc[0] + CX - 1) / CX, nc[1] * P, k->dim == 3 ? nc[2] * P : 1), 128, 0, stream>>>(HopsBoxTableCreate<P, T>(k), a,
                                                                                                (int)k->sy, row);
  } else {
    /* the last direction of 3D: lines of all planes lie side by side */
    const bool last = dir == 2;

    a.step     = last ? k->sz : k->sy;
    a.inner    = (int)(last ? k->sz : k->sy);
    a.inplane  = k->sz;
    a.outplane = k->sy * (nc[1] * P + 1);
    HopsBoxRestrict<P, T>
      <<<dim3((a.inner + 127) / 128, nc[dir], !last && k->dim == 3 ? nc[2] * P : 1), 128, 0, stream>>>(HopsBoxTableCreate<P, T>(k),
                                                                                                       a);
  }
  return cudaGetLastError();
}

template <int P> static PetscErrorCode HopsBoxRestrict_(HopsCudaBox k, int dir, const void *in, void *out, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (k->single) PetscCallCUDA((HopsBoxRunRestrict<P, float>(k, dir, in, out, stream)));
  else PetscCallCUDA((HopsBoxRunRestrict<P, double>(k, dir, in, out, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int P, class T> static int HopsBoxCountBlocks(HopsCudaBox k)
{
  int        chunk;
  const dim3 g = k->dim == 3 ? HopsBoxGrid<3, P, T>(k, false, &chunk) : HopsBoxGrid<2, P, T>(k, false, &chunk);

  return (int)(g.x * g.y * g.z);
}

template <int P> static int HopsBoxBlocks_(HopsCudaBox k)
{
  return k->single ? HopsBoxCountBlocks<P, float>(k) : HopsBoxCountBlocks<P, double>(k);
}

#define HOPS_CUDA_BOX_DEFINE(P) \
  const HopsCudaBoxKernels HopsCudaBoxKernels_##P = {HopsBoxResidual_<P>,        HopsBoxResidualRestrict_<P>, \
                                                     HopsBoxProlong_<P>,         HopsBoxRestrict_<P>, \
                                                     HopsBoxBlocks_<P>,          HopsBoxResidualProlonged_<P>, \
                                                     HopsBoxProlongedBlocks_<P>, HopsBoxCoarse_<P>, \
                                                     HopsBoxCoarseSums_<P>};
