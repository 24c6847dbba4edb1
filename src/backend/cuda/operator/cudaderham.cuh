/*
  Fused operators on H(curl), H(div) and L2: gather, derivative on the lattice, interpolation, quadrature
  data, the transposes and the scatter in one launch.

  As in lanesh1.h a thread holds a line and applies even and odd halves of a one-dimensional matrix to it,
  and shared memory exchanges lines between directions. A component has P - 1 entries (the edge functions) in
  the directions in which it extends, its open ones, and P in the others. The field is interpolated component
  by component for its own term; its curl or divergence, whose components are sums of entries of the field,
  for the other. All components go through a phase together, so that barriers are few: along x from the
  field's lattice to a buffer of its own, along y in place, along z in registers; there, where a thread has
  all components at its points, they meet the quadrature data, and return the same way. Values at the points
  never see shared memory.

  Two groups of threads may share a cell, one for each term.
*/
#pragma once
#include "cudaderhamargs.h"
#include "cudah1.cuh"

template <int P, int Q> struct HopsDerhamTables {
  static constexpr int O = P - 1;
  double               Be[((Q + 1) / 2) * ((P + 1) / 2)], Bo[(Q / 2) * (P / 2)];
  double               Ee[((Q + 1) / 2) * ((O + 1) / 2)], Eo[O > 1 ? (Q / 2) * (O / 2) : 1];
};

struct HopsDerhamCells {
  int n, nT;
  const int *__restrict__ restr;
  const double *__restrict__ qdata, *__restrict__ x, *__restrict__ xg;
  double *y, *yg;
};

enum {
  HOPS_CUDA_DERIV = 1,
  HOPS_CUDA_MASS  = 2
};

/* Directions (bits) in which component c of a family extends */
__host__ __device__ constexpr int HopsDerhamOpen(int family, int dim, int c)
{
  return family == HOPS_CUDA_HCURL ? 1 << c : (family == HOPS_CUDA_HDIV ? (1 << dim) - 1 - (1 << c) : (1 << dim) - 1);
}

__host__ __device__ constexpr int HopsFormDerivative(int family, int dim)
{
  return family == HOPS_CUDA_HCURL && dim == 3 ? HOPS_CUDA_HDIV : HOPS_CUDA_L2;
}

__host__ __device__ constexpr int HopsDerhamComponents(int family, int dim)
{
  return family == HOPS_CUDA_L2 ? 1 : dim;
}

/* Entries of a component in direction d */
__host__ __device__ constexpr int HopsDerhamSize(int P, int open, int d)
{
  return open >> d & 1 ? P - 1 : P;
}

/* The field's components on a cell: rows in x of odd length, so that lines in x meet no bank conflicts */
__host__ __device__ constexpr int HopsDerhamRow(int P, int open)
{
  return HopsDerhamSize(P, open, 0) | 1;
}

__host__ __device__ constexpr int HopsDerhamLattice(int P, int family, int dim, int c)
{
  int n = 0;

  for (int b = 0; b < c; b++) {
    const int open = HopsDerhamOpen(family, dim, b);

    n += HopsDerhamRow(P, open) * HopsDerhamSize(P, open, 1) * (dim == 3 ? HopsDerhamSize(P, open, 2) : 1);
  }
  return n;
}

/* Buffers of the components: planes (in 2D: rows) of lines, one for each entry in the last direction */
__host__ __device__ constexpr int HopsDerhamLayers(int P, int family, int dim, int c)
{
  int n = 0;

  for (int b = 0; b < c; b++) n += HopsDerhamSize(P, HopsDerhamOpen(family, dim, b), dim - 1);
  return n;
}

__host__ __device__ constexpr int HopsDerhamLayers(int P, int family, int dim, int terms, bool all)
{
  const int d = HopsFormDerivative(family, dim);

  return (terms & HOPS_CUDA_MASS ? HopsDerhamLayers(P, family, dim, HopsDerhamComponents(family, dim)) : 0) +
         (all && (terms & HOPS_CUDA_DERIV) ? HopsDerhamLayers(P, d, dim, HopsDerhamComponents(d, dim)) : 0);
}

__host__ __device__ constexpr int HopsDerhamShared(int P, int Q, int family, int dim, int terms)
{
  return HopsDerhamLattice(P, family, dim, HopsDerhamComponents(family, dim)) +
         HopsDerhamLayers(P, family, dim, terms, true) * (dim == 3 ? Q : 1) * (Q | 1);
}

__host__ __device__ constexpr int HopsDerhamEntries(int P, int family, int dim)
{
  const int open = HopsDerhamOpen(family, dim, 0); /* components have the same number of entries */

  return HopsDerhamComponents(family, dim) * HopsDerhamSize(P, open, 0) * HopsDerhamSize(P, open, 1) *
         (dim == 3 ? HopsDerhamSize(P, open, 2) : 1);
}

/* A call for each component C < N */
#define HOPS_FORM_EACH(N, ...) \
  do { \
    { \
      constexpr int C = 0; \
      __VA_ARGS__; \
    } \
    if constexpr ((N) > 1) { \
      constexpr int C = 1; \
      __VA_ARGS__; \
    } \
    if constexpr ((N) > 2) { \
      constexpr int C = 2; \
      __VA_ARGS__; \
    } \
  } while (0)

/* out[Q] = A in[N], A the polynomials or (OPEN) the edge functions */
template <int P, int Q, bool OPEN>
__device__ __forceinline__ void HopsDerhamUp(const HopsDerhamTables<P, Q> &tab, const double *in, double *out)
{
  if constexpr (!OPEN) HopsLine<Q, P, true, false>(tab.Be, tab.Bo, in, out);
  else if constexpr (P > 2) HopsLine<Q, P - 1, true, false>(tab.Ee, tab.Eo, in, out);
  else {
#pragma unroll
    for (int q = 0; q < Q; q++) out[q] = tab.Ee[q < Q - 1 - q ? q : Q - 1 - q] * in[0];
  }
}

/* out[N] = A^T in[Q] */
template <int P, int Q, bool OPEN>
__device__ __forceinline__ void HopsDerhamDown(const HopsDerhamTables<P, Q> &tab, const double *in, double *out)
{
  if constexpr (!OPEN) HopsLine<P, Q, true, true>(tab.Be, tab.Bo, in, out);
  else if constexpr (P > 2) HopsLine<P - 1, Q, true, true>(tab.Ee, tab.Eo, in, out);
  else {
    out[0] = 0;
#pragma unroll
    for (int q = 0; q < Q; q++) out[0] += tab.Ee[q < Q - 1 - q ? q : Q - 1 - q] * in[q];
  }
}

/* A line of shared memory, n entries `stride` apart, to its values at the points in place, and back */
template <int P, int Q, bool OPEN, bool DOWN>
__device__ __forceinline__ void HopsDerhamSweep(const HopsDerhamTables<P, Q> &tab, double *s, int stride)
{
  constexpr int N = OPEN ? P - 1 : P;
  double        a[N], v[Q];

  if (DOWN) {
    HopsGet<Q>(s, stride, v);
    HopsDerhamDown<P, Q, OPEN>(tab, v, a);
    HopsPut<N>(a, s, stride);
  } else {
    HopsGet<N>(s, stride, a);
    HopsDerhamUp<P, Q, OPEN>(tab, a, v);
    HopsPut<Q>(v, s, stride);
  }
}

/* Component C of a cell's E-vector to its lattice; all indices first, then all values */
template <int P, int FAMILY, int DIM, int C, int NT>
__device__ __forceinline__ void HopsDerhamGather(const HopsDerhamCells &a, const int *restr, int t, double *lattice)
{
  constexpr int OPEN = HopsDerhamOpen(FAMILY, DIM, C), N0 = HopsDerhamSize(P, OPEN, 0),
                NE = N0 * HopsDerhamSize(P, OPEN, 1) * (DIM == 3 ? HopsDerhamSize(P, OPEN, 2) : 1), N = (NE + NT - 1) / NT;
  double *s = lattice + HopsDerhamLattice(P, FAMILY, DIM, C);
  int     k[N];
  double  v[N];

#pragma unroll
  /* components have the same number of entries */
  for (int i = 0; i < N; i++) k[i] = i * NT + t < NE ? __ldg(restr + C * NE + i * NT + t) : 0;
#pragma unroll
  for (int i = 0; i < N; i++) {
    const int m = k[i] >> 31, j = k[i] ^ m;

    v[i] = __ldg(j < a.nT ? a.x + j : a.xg + (j - a.nT));
    if (m) v[i] = -v[i];
  }
#pragma unroll
  for (int i = 0; i < N; i++) {
    const int j = i * NT + t;

    if (j < NE) s[(j / N0) * HopsDerhamRow(P, OPEN) + j % N0] = v[i];
  }
}

/* The line of component C of the derivative that begins at (0, j, k): sums and differences of the field's
   entries */
template <int P, int FAMILY, int DIM, int C>
__device__ __forceinline__ void HopsDerhamDifference(const double *lattice, int j, int k, double *w)
{
  constexpr int DF = HopsFormDerivative(FAMILY, DIM), N = HopsDerhamSize(P, HopsDerhamOpen(DF, DIM, C), 0);

  if constexpr (FAMILY == HOPS_CUDA_HCURL) { /* w_c = u_a + u_b(+a) - u_a(+b) - u_b */
    constexpr int A = DIM == 3 ? (C + 1) % 3 : 0, B = DIM == 3 ? (C + 2) % 3 : 1, OA = HopsDerhamOpen(FAMILY, DIM, A),
                  OB = HopsDerhamOpen(FAMILY, DIM, B);
    constexpr int RA = HopsDerhamRow(P, OA), RB = HopsDerhamRow(P, OB), PA = RA * HopsDerhamSize(P, OA, 1),
                  PB = RB * HopsDerhamSize(P, OB, 1);
    constexpr int SA = B == 0 ? 1 : (B == 1 ? RA : PA), SB = A == 0 ? 1 : (A == 1 ? RB : PB);
    const double *a = lattice + HopsDerhamLattice(P, FAMILY, DIM, A) + k * PA + j * RA,
                 *b = lattice + HopsDerhamLattice(P, FAMILY, DIM, B) + k * PB + j * RB;

#pragma unroll
    for (int i = 0; i < N; i++) w[i] = (a[i] - a[i + SA]) + (b[i + SB] - b[i]);
  } else {
#pragma unroll
    for (int d = 0; d < DIM; d++) {
      const int open = HopsDerhamOpen(FAMILY, DIM, d), row = HopsDerhamRow(P, open), plane = row * HopsDerhamSize(P, open, 1),
                shift = d == 0 ? 1 : (d == 1 ? row : plane);
      const double *a = lattice + HopsDerhamLattice(P, FAMILY, DIM, d) + k * plane + j * row;

#pragma unroll
      for (int i = 0; i < N; i++) w[i] = (d ? w[i] : 0) + (a[i + shift] - a[i]);
    }
  }
}

/* Its transpose, for entry (x, y, z) of component C of the field; w: the derivative's components in their
   buffers */
template <int P, int Q, int FAMILY, int DIM, int C>
__device__ __forceinline__ double HopsDerhamDifferenceTranspose(const double *w, int x, int y, int z)
{
  constexpr int O = P - 1, ROW = Q | 1, PLANE = Q * ROW, LAYER = DIM == 3 ? PLANE : ROW, DF = HopsFormDerivative(FAMILY, DIM);
  const int     at = z * PLANE + y * ROW + x;
  double        v  = 0;

  if constexpr (FAMILY == HOPS_CUDA_HCURL) {
    /* the components where the field's is a, and where it is b */
    constexpr int C1 = DIM == 3 ? (C + 2) % 3 : 0, C2 = DIM == 3 ? (C + 1) % 3 : 0;
    constexpr int B = DIM == 3 ? (C + 1) % 3 : 1, A = DIM == 3 ? (C + 2) % 3 : 0;
    constexpr int SB = B == 0 ? 1 : (B == 1 ? ROW : PLANE), SA = A == 0 ? 1 : (A == 1 ? ROW : PLANE);
    const int     ib = B == 0 ? x : (B == 1 ? y : z), ia = A == 0 ? x : (A == 1 ? y : z);

    if (DIM == 3 || C == 0) {
      const double *p = w + HopsDerhamLayers(P, DF, DIM, C1) * LAYER + at;

      if (ib < O) v += p[0];
      if (ib > 0) v -= p[-SB];
    }
    if (DIM == 3 || C == 1) {
      const double *p = w + HopsDerhamLayers(P, DF, DIM, C2) * LAYER + at;

      if (ia > 0) v += p[-SA];
      if (ia < O) v -= p[0];
    }
  } else {
    constexpr int S = C == 0 ? 1 : (C == 1 ? ROW : PLANE);
    const int     i = C == 0 ? x : (C == 1 ? y : z);

    if (i > 0) v += w[at - S];
    if (i < O) v -= w[at];
  }
  return v;
}

/* Component C of the result from the buffers to the unknowns */
template <int P, int Q, int FAMILY, int DIM, int TERMS, int C, int NT>
__device__ __forceinline__ void HopsDerhamScatter(const HopsDerhamCells &a, const int *restr, int t, const double *buffer)
{
  constexpr int OPEN = HopsDerhamOpen(FAMILY, DIM, C), N0 = HopsDerhamSize(P, OPEN, 0), N1 = HopsDerhamSize(P, OPEN, 1),
                NE = N0 * N1 * (DIM == 3 ? HopsDerhamSize(P, OPEN, 2) : 1), N = (NE + NT - 1) / NT;
  constexpr int ROW = Q | 1, PLANE = Q * ROW, LAYER = DIM == 3 ? PLANE : ROW;
  int           k[N];

#pragma unroll
  for (int i = 0; i < N; i++) k[i] = i * NT + t < NE ? __ldg(restr + C * NE + i * NT + t) : 0;
#pragma unroll
  for (int i = 0; i < N; i++) {
    const int e = i * NT + t, x = e % N0, y = e / N0 % N1, z = e / (N0 * N1), m = k[i] >> 31, j = k[i] ^ m;
    double    v = 0;

    if (e >= NE) continue;
    if (TERMS & HOPS_CUDA_MASS) v = buffer[HopsDerhamLayers(P, FAMILY, DIM, C) * LAYER + z * PLANE + y * ROW + x];
    if constexpr ((TERMS & HOPS_CUDA_DERIV) != 0)
      v += HopsDerhamDifferenceTranspose<P, Q, FAMILY, DIM, C>(buffer + HopsDerhamLayers(P, FAMILY, DIM, TERMS, false) * LAYER, x,
                                                               y, z);
    atomicAdd(j < a.nT ? a.y + j : a.yg + (j - a.nT), m ? -v : v);
  }
}

/* v <- D v at a point, D symmetric with n (n + 1) / 2 values, `stride` apart */
template <int N> __device__ __forceinline__ void HopsDerhamPoint(const double *d, int stride, double &a, double &b, double &c)
{
  if (N == 1) a *= __ldcs(d);
  else if (N == 2) {
    const double d0 = __ldcs(d), d1 = __ldcs(d + stride), d2 = __ldcs(d + 2 * stride), a0 = a, b0 = b;

    a = d0 * a0 + d1 * b0;
    b = d1 * a0 + d2 * b0;
  } else {
    const double d0 = __ldcs(d), d1 = __ldcs(d + stride), d2 = __ldcs(d + 2 * stride), d3 = __ldcs(d + 3 * stride),
                 d4 = __ldcs(d + 4 * stride), d5 = __ldcs(d + 5 * stride);
    const double a0 = a, b0 = b, c0 = c;

    a = d0 * a0 + d1 * b0 + d2 * c0;
    b = d1 * a0 + d3 * b0 + d4 * c0;
    c = d2 * a0 + d4 * b0 + d5 * c0;
  }
}

/* ---- The steps of a term whose components are those of FAMILY ---- */

/* along x: from the field's lattice, or (DERIV) from the differences that make up the derivative of a field
   of family FIELD */
template <int P, int Q, int FIELD, bool DERIV, int DIM, int C>
__device__ __forceinline__ void HopsDerhamFirst(const HopsDerhamTables<P, Q> &tab, int t, const double *lattice, double *buffer)
{
  constexpr int FAMILY = DERIV ? HopsFormDerivative(FIELD, DIM) : FIELD, OPEN = HopsDerhamOpen(FAMILY, DIM, C),
                N0 = HopsDerhamSize(P, OPEN, 0), N1 = HopsDerhamSize(P, OPEN, 1);
  constexpr int ROW = Q | 1, PLANE = Q * ROW;

  if (t < N1 * (DIM == 3 ? HopsDerhamSize(P, OPEN, 2) : 1)) {
    const int j = t % N1, k = t / N1;
    double    in[N0], out[Q];

    if constexpr (DERIV) HopsDerhamDifference<P, FIELD, DIM, C>(lattice, j, k, in);
    else HopsGet<N0>(lattice + HopsDerhamLattice(P, FIELD, DIM, C) + t * HopsDerhamRow(P, OPEN), 1, in);
    HopsDerhamUp<P, Q, (OPEN & 1) != 0>(tab, in, out);
    HopsPut<Q>(out, buffer + (HopsDerhamLayers(P, FAMILY, DIM, C) * (DIM == 3 ? Q : 1)) * ROW + k * PLANE + j * ROW, 1);
  }
}

/* along y in 3D */
template <int P, int Q, int FAMILY, int C, bool DOWN>
__device__ __forceinline__ void HopsDerhamSecond(const HopsDerhamTables<P, Q> &tab, int t, double *buffer)
{
  constexpr int OPEN = HopsDerhamOpen(FAMILY, 3, C), ROW = Q | 1, PLANE = Q * ROW;

  if (t < Q * HopsDerhamSize(P, OPEN, 2))
    HopsDerhamSweep<P, Q, (OPEN & 2) != 0, DOWN>(tab, buffer + (HopsDerhamLayers(P, FAMILY, 3, C) + t / Q) * PLANE + t % Q, ROW);
}

/* back along x */
template <int P, int Q, int FAMILY, int DIM, int C>
__device__ __forceinline__ void HopsDerhamLast(const HopsDerhamTables<P, Q> &tab, int t, double *buffer)
{
  constexpr int OPEN = HopsDerhamOpen(FAMILY, DIM, C), N1 = HopsDerhamSize(P, OPEN, 1), ROW = Q | 1, PLANE = Q * ROW;

  if (t < N1 * (DIM == 3 ? HopsDerhamSize(P, OPEN, 2) : 1))
    HopsDerhamSweep<P, Q, (OPEN & 1) != 0, true>(tab,
                                                 buffer + (HopsDerhamLayers(P, FAMILY, DIM, C) * (DIM == 3 ? Q : 1)) * ROW +
                                                   (t / N1) * PLANE + (t % N1) * ROW,
                                                 1);
}

/* along the last direction, or back */
template <int P, int Q, int FAMILY, int DIM, int C, bool DOWN>
__device__ __forceinline__ void HopsDerhamThird(const HopsDerhamTables<P, Q> &tab, double *line, double *v)
{
  constexpr int  OPEN = HopsDerhamOpen(FAMILY, DIM, C), N = HopsDerhamSize(P, OPEN, DIM - 1), LAYER = (DIM == 3 ? Q : 1) * (Q | 1);
  constexpr bool O = (OPEN >> (DIM - 1) & 1) != 0;
  double        *s = line + HopsDerhamLayers(P, FAMILY, DIM, C) * LAYER, r[N];

  if (DOWN) {
    HopsDerhamDown<P, Q, O>(tab, v, r);
    HopsPut<N>(r, s, LAYER);
  } else {
    HopsGet<N>(s, LAYER, r);
    HopsDerhamUp<P, Q, O>(tab, r, v);
  }
}

/* along the last direction and back, with the quadrature data in between */
template <int P, int Q, int FAMILY, int DIM>
__device__ __forceinline__ void HopsDerhamPoints(const HopsDerhamTables<P, Q> &tab, double *line, const double *qd)
{
  constexpr int NC = HopsDerhamComponents(FAMILY, DIM), LAYER = DIM == 3 ? Q * Q : Q;
  double        v[NC][Q], none                                = 0;

  HOPS_FORM_EACH(NC, HopsDerhamThird<P, Q, FAMILY, DIM, C, false>(tab, line, v[C]));
#pragma unroll
  for (int z = 0; z < Q; z++)
    HopsDerhamPoint<NC>(qd + z * LAYER, LAYER * Q, v[0][z], NC > 1 ? v[NC > 1 ? 1 : 0][z] : none,
                        NC > 2 ? v[NC > 2 ? 2 : 0][z] : none);
  HOPS_FORM_EACH(NC, HopsDerhamThird<P, Q, FAMILY, DIM, C, true>(tab, line, v[C]));
}

/*
  Launch parameters: groups of threads for a cell (two where the terms are apart), cells of a block, threads
  that should fit on a multiprocessor (which bounds the registers), whether a cell's quadrature data are
  prefetched into L2. For both terms and Q = P + 1 the best of those measured
  (docs/performance/gpu-operators.md).
*/
template <int P, int Q, int FAMILY, int TERMS> struct HopsDerhamLaunch3 {
  static constexpr bool measured = TERMS == (HOPS_CUDA_DERIV | HOPS_CUDA_MASS) && Q == P + 1, curl = FAMILY == HOPS_CUDA_HCURL;
  static constexpr int  groups = measured && curl && (Q == 6 || Q >= 8) ? 2 : 1, nt = Q * Q * groups;
  static constexpr int  most     = measured && ((curl && Q == 6) || Q == 7 || Q >= 9) ? 256 : 128; /* threads of a block */
  static constexpr int  cells    = nt > most ? 1 : most / nt,
                       threads   = !measured ? 512 : (curl ? (Q == 4 ? 640 : 512) : (Q == 3 ? 640 : (Q == 4 ? 768 : 512)));
  static constexpr int  blocks   = threads / (nt * cells) > 0 ? threads / (nt * cells) : 1;
  static constexpr bool prefetch = groups == 2;
};

template <int P, int Q, int FAMILY, int TERMS>
__global__ void __launch_bounds__(HopsDerhamLaunch3<P, Q, FAMILY, TERMS>::nt *HopsDerhamLaunch3<P, Q, FAMILY, TERMS>::cells,
                                  HopsDerhamLaunch3<P, Q, FAMILY, TERMS>::blocks)
  HopsDerhamApply3(const __grid_constant__ HopsDerhamTables<P, Q> tab, const HopsDerhamCells a)
{
  using L              = HopsDerhamLaunch3<P, Q, FAMILY, TERMS>;
  constexpr bool DERIV = (TERMS & HOPS_CUDA_DERIV) != 0, MASS = (TERMS & HOPS_CUDA_MASS) != 0;
  constexpr int  DF = HopsFormDerivative(FAMILY, 3), NC = HopsDerhamComponents(FAMILY, 3), ND = HopsDerhamComponents(DF, 3),
                NT = L::nt;
  constexpr int QD = DERIV ? (ND == 3 ? 6 : 1) : 0, QM = MASS ? (NC == 3 ? 6 : 1) : 0, SIZE = (QD + QM) * Q * Q * Q,
                NE = HopsDerhamEntries(P, FAMILY, 3);
  extern __shared__ double mem[];
  const int t = threadIdx.x, g = L::groups > 1 ? threadIdx.z : 0, te = g * Q * Q + t, cell = blockIdx.x * L::cells + threadIdx.y,
            c           = min(cell, a.n - 1);
  const int    *restr   = a.restr + (size_t)c * NE;
  const double *qd      = a.qdata + (size_t)c * SIZE;
  double       *lattice = mem + threadIdx.y * HopsDerhamShared(P, Q, FAMILY, 3, TERMS),
         *buffer        = lattice + HopsDerhamLattice(P, FAMILY, 3, NC),
         *dbuffer       = buffer + HopsDerhamLayers(P, FAMILY, 3, TERMS, false) * Q * (Q | 1);
  const bool first = MASS && g == 0, second = DERIV && g == L::groups - 1;

#if __CUDA_ARCH__ >= 900
  if (L::prefetch && !te)
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"((unsigned long long)qd & ~15ull), "r"(SIZE * 8 & ~15)
                 : "memory");
#endif
  HOPS_FORM_EACH(NC, HopsDerhamGather<P, FAMILY, 3, C, NT>(a, restr, te, lattice));
  __syncthreads();
  if (first) HOPS_FORM_EACH(NC, HopsDerhamFirst<P, Q, FAMILY, false, 3, C>(tab, t, lattice, buffer));
  if constexpr (DERIV) {
    if (second) HOPS_FORM_EACH(ND, HopsDerhamFirst<P, Q, FAMILY, true, 3, C>(tab, t, lattice, dbuffer));
  }
  __syncthreads();
  if (first) HOPS_FORM_EACH(NC, HopsDerhamSecond<P, Q, FAMILY, C, false>(tab, t, buffer));
  if (second) HOPS_FORM_EACH(ND, HopsDerhamSecond<P, Q, DF, C, false>(tab, t, dbuffer));
  __syncthreads();
  if (first) HopsDerhamPoints<P, Q, FAMILY, 3>(tab, buffer + (t / Q) * (Q | 1) + t % Q, qd + QD * Q * Q * Q + t);
  if (second) HopsDerhamPoints<P, Q, DF, 3>(tab, dbuffer + (t / Q) * (Q | 1) + t % Q, qd + t);
  __syncthreads();
  if (first) HOPS_FORM_EACH(NC, HopsDerhamSecond<P, Q, FAMILY, C, true>(tab, t, buffer));
  if (second) HOPS_FORM_EACH(ND, HopsDerhamSecond<P, Q, DF, C, true>(tab, t, dbuffer));
  __syncthreads();
  if (first) HOPS_FORM_EACH(NC, HopsDerhamLast<P, Q, FAMILY, 3, C>(tab, t, buffer));
  if (second) HOPS_FORM_EACH(ND, HopsDerhamLast<P, Q, DF, 3, C>(tab, t, dbuffer));
  __syncthreads();
  if (cell < a.n) HOPS_FORM_EACH(NC, HopsDerhamScatter<P, Q, FAMILY, 3, TERMS, C, NT>(a, restr, te, buffer));
}

/* 2D: Q threads for a cell */
template <int Q> struct HopsDerhamLaunch2 {
  static constexpr int cells = 64 / Q, threads = 768, blocks = threads / (Q * cells);
};

template <int P, int Q, int FAMILY, int TERMS>
__global__ void __launch_bounds__(Q *HopsDerhamLaunch2<Q>::cells, HopsDerhamLaunch2<Q>::blocks)
  HopsDerhamApply2(const __grid_constant__ HopsDerhamTables<P, Q> tab, const HopsDerhamCells a)
{
  constexpr bool           DERIV = (TERMS & HOPS_CUDA_DERIV) != 0, MASS = (TERMS & HOPS_CUDA_MASS) != 0;
  constexpr int            NC = HopsDerhamComponents(FAMILY, 2), QD = DERIV ? 1 : 0, QM = MASS ? (NC == 2 ? 3 : 1) : 0;
  constexpr int            NE = HopsDerhamEntries(P, FAMILY, 2);
  extern __shared__ double mem[];
  const int                t = threadIdx.x, cell = blockIdx.x * HopsDerhamLaunch2<Q>::cells + threadIdx.y, c = min(cell, a.n - 1);
  const int               *restr   = a.restr + (size_t)c * NE;
  const double            *qd      = a.qdata + (size_t)c * (QD + QM) * Q * Q;
  double                  *lattice = mem + threadIdx.y * HopsDerhamShared(P, Q, FAMILY, 2, TERMS),
         *buffer                   = lattice + HopsDerhamLattice(P, FAMILY, 2, NC),
         *dbuffer                  = buffer + HopsDerhamLayers(P, FAMILY, 2, TERMS, false) * (Q | 1);

  HOPS_FORM_EACH(NC, HopsDerhamGather<P, FAMILY, 2, C, Q>(a, restr, t, lattice));
  __syncthreads();
  if (MASS) HOPS_FORM_EACH(NC, HopsDerhamFirst<P, Q, FAMILY, false, 2, C>(tab, t, lattice, buffer));
  if constexpr (DERIV) HopsDerhamFirst<P, Q, FAMILY, true, 2, 0>(tab, t, lattice, dbuffer);
  __syncthreads();
  if (MASS) HopsDerhamPoints<P, Q, FAMILY, 2>(tab, buffer + t, qd + QD * Q * Q + t);
  if (DERIV) HopsDerhamPoints<P, Q, HOPS_CUDA_L2, 2>(tab, dbuffer + t, qd + t);
  __syncthreads();
  if (MASS) HOPS_FORM_EACH(NC, HopsDerhamLast<P, Q, FAMILY, 2, C>(tab, t, buffer));
  if (DERIV) HopsDerhamLast<P, Q, HOPS_CUDA_L2, 2, 0>(tab, t, dbuffer);
  __syncthreads();
  if (cell < a.n) HOPS_FORM_EACH(NC, HopsDerhamScatter<P, Q, FAMILY, 2, TERMS, C, Q>(a, restr, t, buffer));
}
