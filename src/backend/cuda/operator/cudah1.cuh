/*
  Fused operator: gather, interpolation, quadrature data, the transposes and the scatter in one launch.

  Q x Q threads (Q in 2D) work on a cell. A thread holds a line of nodes or points in registers and applies a
  one-dimensional matrix to all of it, with the matrix's entries as immediate operands (kernel arguments, in
  the constant cache); between directions the lines change places through cubes in shared memory. So a value
  is read from shared memory once for each direction, not once for each entry of the matrix. Both matrices
  commute with the reflection of the interval (B) or anticommute with it (C, derivatives), so even and odd
  parts of a line are multiplied by half a matrix each.

  Contributions of cells that meet in an unknown are summed by atomic additions.

  Fewer nodes than P: a basis of n nodes, P - n even, is one of P nodes whose outer functions on both sides
  are zero, which keeps the symmetry; their unknowns have the index -1. So P = Q and P = Q - 1 serve every
  number of nodes up to Q.
*/
#pragma once
#include <stdint.h>
#include <cuda_runtime.h>
#include <backend/cuda/runtime/cudageom.h>

/* The scalars of kernels and of their data: float in the files that define HOPS_CUDA_SINGLE */
#if defined(HOPS_CUDA_SINGLE)
namespace HopsCudaSingle {
typedef float real;
#else
typedef double real;
#endif

/* Even and odd parts of B [Q][P] and C [Q][Q], e.g. Be[q][i] = (B[q][i] + B[q][P-1-i])/2; weights and points
   of [0,1] */
template <int P, int Q> struct HopsCudaTables {
  real Be[((Q + 1) / 2) * ((P + 1) / 2)], Bo[(Q / 2) * (P / 2)];
  real Ce[(Q / 2) * ((Q + 1) / 2)], Co[((Q + 1) / 2) * (Q / 2)];
  real w[Q], z[Q];
};

struct HopsCudaCells {
  int  n, nT;
  bool diffusion, mass, scalar;  /* scalar: kappa of multilinear cells is a multiple of the identity */
  const int *__restrict__ restr; /* [n][P^dim], -1: no unknown */
  const real *__restrict__ qdata, *__restrict__ geom, *__restrict__ x, *__restrict__ xg;
  real *y, *yg;
};

/* out[M] = A in[N]: A is B (SYM) or C of the tables e, o; T: its transpose */
template <int M, int N, bool SYM, bool T>
__device__ __forceinline__ void HopsCudaLine(const real *te, const real *to, const real in[N], real out[M])
{
  constexpr int NU = (N + 1) / 2, ND = N / 2, MU = (M + 1) / 2, MD = M / 2;
  real          e[NU], o[ND];

#pragma unroll
  for (int n = 0; n < ND; n++) {
    e[n] = in[n] + in[N - 1 - n];
    o[n] = in[n] - in[N - 1 - n];
  }
  if (N % 2) e[ND] = in[ND];
#pragma unroll
  for (int m = 0; m < MU; m++) {
    real E = 0, O = 0;

    /* the reflection of C changes its sign, so its transpose takes even parts to even parts by the odd part
       of the matrix */
    if (SYM || m < MD) {
#pragma unroll
      for (int n = 0; n < NU; n++)
        E += (SYM ? (T ? te[n * MU + m] : te[m * NU + n]) : (T ? to[n * MD + m] : te[m * NU + n])) * e[n];
    }
    if (!SYM || m < MD) {
#pragma unroll
      for (int n = 0; n < ND; n++)
        O += (SYM ? (T ? to[n * MD + m] : to[m * ND + n]) : (T ? te[n * MU + m] : to[m * ND + n])) * o[n];
    }
    if (m < MD) {
      out[m]         = E + O;
      out[M - 1 - m] = SYM ? E - O : O - E;
    } else out[m] = SYM ? E : O;
  }
}

/* in[i] = s[i*stride], and the reverse */
template <int N> __device__ __forceinline__ void HopsCudaGet(const real *s, int stride, real in[N])
{
#pragma unroll
  for (int i = 0; i < N; i++) in[i] = s[i * stride];
}

template <int N> __device__ __forceinline__ void HopsCudaPut(const real out[N], real *s, int stride)
{
#pragma unroll
  for (int i = 0; i < N; i++) s[i * stride] = out[i];
}

/* A line from shared memory, times a matrix, to a line of shared memory. The arrays are this function's own:
   one that lives on in the caller, where a rolled loop indexes it, would take all of its uses to local memory
   */
template <int M, int N, bool SYM, bool T>
__device__ __forceinline__ void HopsCudaSweep(const real *te, const real *to, const real *s, int sstride, real *d, int dstride)
{
  real in[N], out[M];

  HopsCudaGet<N>(s, sstride, in);
  HopsCudaLine<M, N, SYM, T>(te, to, in, out);
  HopsCudaPut<M>(out, d, dstride);
}

/* 1/x to rounding, for normal x */
__device__ __forceinline__ real HopsCudaInverse(real x)
{
#if defined(HOPS_CUDA_SINGLE)
  return __frcp_rn(x);
#else
  double r;

  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  r *= 2 - x * r;
  return r * (2 - x * r);
#endif
}

/* E-vector of a cell from (ADD: into) the nodes' cube, rows of P|1. All indices first, then all values: their
   latencies overlap */
template <int P, int NN, int NT, bool ADD>
__device__ __forceinline__ void HopsCudaNodes(const HopsCudaCells &a, int c, int t, real *s)
{
  constexpr int N = (NN + NT - 1) / NT;
  const int    *r = a.restr + (size_t)c * NN;
  int           k[N];

#pragma unroll
  for (int i = 0; i < N; i++) k[i] = i * NT + t < NN ? __ldg(r + i * NT + t) : -1;
  if (ADD) {
#pragma unroll
    for (int i = 0; i < N; i++) {
      const int j = i * NT + t;

      if (k[i] >= 0) atomicAdd(k[i] < a.nT ? a.y + k[i] : a.yg + (k[i] - a.nT), s[(j / P) * (P | 1) + j % P]);
    }
  } else {
    real v[N];

#pragma unroll
    for (int i = 0; i < N; i++) {
      const real *x = k[i] < a.nT ? a.x + k[i] : a.xg + (k[i] - a.nT);

      v[i] = 0;
      if (k[i] >= 0) v[i] = __ldg(x);
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
      const int j = i * NT + t;

      if (j < NN) s[(j / P) * (P | 1) + j % P] = v[i];
    }
  }
}

/* Terms known to the compiler, since each costs registers: diffusion (where geometry is recomputed, with a
   scalar coefficient), with mass, and whatever the arguments say */
enum {
  HOPS_CUDA_DIFFUSION,
  HOPS_CUDA_BOTH,
  HOPS_CUDA_ANY
};

/*
  Launch parameters by points per direction, the best of those measured (docs/performance/gpu-operators.md):
  cells of a block; threads that should fit on a multiprocessor, which bounds the registers; whether the loop
  over planes of quadrature data is unrolled; whether a cell's quadrature data are prefetched into L2.
*/
template <int Q, int GEOM, int TERMS> struct HopsCudaLaunch3 {
  static constexpr bool stored = GEOM == HOPS_CUDA_STORED, affine = GEOM == HOPS_CUDA_AFFINE, one = TERMS == HOPS_CUDA_DIFFUSION;
  static constexpr bool few =
    Q == 13 || (Q >= 9 && Q <= 12 && (affine || (stored && Q < 12))) || (Q == 6 && one && stored) || (Q >= 11 && Q != 16 && !one);
  static constexpr bool many  = one && (Q == 4 || (Q == 3 && stored) || (Q == 8 && affine));
  static constexpr int  cells = Q * Q > 64 ? 1 : 128 / (Q * Q), threads = few ? 512 : (many ? 1024 : 768);
  static constexpr int  blocks   = threads / (Q * Q * cells) > 0 ? threads / (Q * Q * cells) : 1;
  static constexpr int  unroll   = GEOM == HOPS_CUDA_MULTILINEAR ? 2 : (stored && one && (Q == 12 || Q == 13) ? 1 : Q);
  static constexpr bool prefetch = stored && one && Q == 6;
};

/* The Jacobian of a multilinear cell on a line in z, by columns: A0 + z A1, B0 + z B1, C */
struct HopsCudaColumns {
  real A0[3], A1[3], B0[3], B1[3], C[3];

  __device__ __forceinline__ HopsCudaColumns(const real *g, real r, real s)
  {
#pragma unroll
    for (int d = 0; d < 3; d++) {
      const real *m = g + 7 * d;

      A0[d] = m[0] + s * m[3];
      A1[d] = m[4] + s * m[6];
      B0[d] = m[1] + r * m[3];
      B1[d] = m[5] + r * m[6];
      C[d]  = m[2] + r * m[4] + s * B1[d];
    }
  }

  /* rows of the adjugate: b x c, c x a, a x b; the determinant */
  __device__ __forceinline__ real Adjugate(real z, real p[3], real q[3], real r[3]) const
  {
    const real a0 = A0[0] + z * A1[0], a1 = A0[1] + z * A1[1], a2 = A0[2] + z * A1[2];
    const real b0 = B0[0] + z * B1[0], b1 = B0[1] + z * B1[1], b2 = B0[2] + z * B1[2];

    p[0] = b1 * C[2] - b2 * C[1];
    p[1] = b2 * C[0] - b0 * C[2];
    p[2] = b0 * C[1] - b1 * C[0];
    q[0] = C[1] * a2 - C[2] * a1;
    q[1] = C[2] * a0 - C[0] * a2;
    q[2] = C[0] * a1 - C[1] * a0;
    r[0] = a1 * b2 - a2 * b1;
    r[1] = a2 * b0 - a0 * b2;
    r[2] = a0 * b1 - a1 * b0;
    return a0 * p[0] + a1 * p[1] + a2 * p[2];
  }
};

/* On a line of Q points in z of a multilinear cell: derivatives in x (z0), y (z1) and z (u) become fluxes,
   and values (z2) are multiplied by the mass's weight. What other cells need stays in the kernel: with terms
   as a function's arguments some kernels for any terms took a fifth more registers */
template <int P, int Q, int UNROLL>
__device__ __forceinline__ void HopsCudaMultilinear3(const HopsCudaTables<P, Q> &tab, const real *g, int i0, int i1, bool diffusion,
                                                     bool mass, bool scalar, real *z0, real *z1, real *z2, real u[Q])
{
  constexpr int         PLANE = Q * (Q | 1);
  const real           *k     = g + 21;
  const real            wxy = tab.w[i0] * tab.w[i1], kwxy = scalar ? wxy * k[0] : wxy;
  const HopsCudaColumns J(g, tab.z[i0], tab.z[i1]);

#pragma unroll UNROLL
  for (int z = 0; z < Q; z++) {
    real       p[3], q[3], r[3];
    const real det = J.Adjugate(tab.z[z], p, q, r);

    if (diffusion) {
      const real gx = z0[z * PLANE], gy = z1[z * PLANE], gz = u[z], f = kwxy * tab.w[z] * HopsCudaInverse(det);
      real       h0 = f * (p[0] * gx + q[0] * gy + r[0] * gz), h1 = f * (p[1] * gx + q[1] * gy + r[1] * gz),
           h2 = f * (p[2] * gx + q[2] * gy + r[2] * gz);

      if (!scalar) {
        const real f0 = h0, f1 = h1, f2 = h2;

        h0 = k[0] * f0 + k[1] * f1 + k[2] * f2;
        h1 = k[1] * f0 + k[3] * f1 + k[4] * f2;
        h2 = k[2] * f0 + k[4] * f1 + k[5] * f2;
      }
      z0[z * PLANE] = p[0] * h0 + p[1] * h1 + p[2] * h2;
      z1[z * PLANE] = q[0] * h0 + q[1] * h1 + q[2] * h2;
      u[z]          = r[0] * h0 + r[1] * h1 + r[2] * h2;
    }
    if (mass) z2[z * PLANE] *= wxy * tab.w[z] * det * k[6];
  }
}

template <int P, int Q, int GEOM, int TERMS>
__global__ void __launch_bounds__(Q *Q *HopsCudaLaunch3<Q, GEOM, TERMS>::cells, HopsCudaLaunch3<Q, GEOM, TERMS>::blocks)
  HopsCudaApply3(const __grid_constant__ HopsCudaTables<P, Q> tab, const HopsCudaCells a)
{
  constexpr int NB = HopsCudaLaunch3<Q, GEOM, TERMS>::cells, UNROLL = HopsCudaLaunch3<Q, GEOM, TERMS>::unroll;
  /* odd rows: lines in x meet no bank conflicts */
  constexpr int Q2 = Q * Q, Q3 = Q2 * Q, ROW = Q | 1, PLANE = Q * ROW, CUBE = Q * PLANE;
  const bool    any = TERMS == HOPS_CUDA_ANY, diffusion = !any || a.diffusion, mass = any ? a.mass : TERMS == HOPS_CUDA_BOTH,
             scalar = !any || a.scalar;
  extern __shared__ real mem[];
  const int              t = threadIdx.x, i0 = t % Q, i1 = t / Q, cell = blockIdx.x * NB + threadIdx.y, c = min(cell, a.n - 1);
  real                  *s0 = mem + threadIdx.y * (mass ? 3 : 2) * CUBE, *s1 = s0 + CUBE;
  /* this thread's lines */
  real *const x0 = s0 + i1 * PLANE + i0 * ROW, *const y0 = s0 + i1 * PLANE + i0, *const z0 = s0 + i1 * ROW + i0;
  real *const y1 = y0 + CUBE, *const z1 = z0 + CUBE, *const z2 = z1 + CUBE;
  const int     nd = diffusion ? 6 : 0, nc = nd + (mass ? 1 : 0);
  constexpr int NG = GEOM == HOPS_CUDA_STORED ? 0 : HopsCudaGeomSize(GEOM, 3);
  real         *g  = mem + NB * (mass ? 3 : 2) * CUBE + threadIdx.y * NG; /* geometry of the cell */
  real          u[Q];                                                     /* derivatives in z, and their fluxes */

#if __CUDA_ARCH__ >= 900
  if (HopsCudaLaunch3<Q, GEOM, TERMS>::prefetch && !t)
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(a.qdata + (size_t)c * nc * Q3), "r"(nc * Q3 * (int)sizeof(real))
                 : "memory");
#endif
  HopsCudaNodes<P, P * P * P, Q2, false>(a, c, t, s0);
  for (int i = t; i < NG; i += Q2) g[i] = __ldg(a.geom + (size_t)c * NG + i);
  __syncthreads();
  if (t < P * P) HopsCudaSweep<Q, P, true, false>(tab.Be, tab.Bo, s0 + t * (P | 1), 1, s1 + (t / P) * PLANE + (t % P) * ROW, 1);
  __syncthreads();
  if (t < P * Q) HopsCudaSweep<Q, P, true, false>(tab.Be, tab.Bo, y1, ROW, y0, ROW);
  __syncthreads();
  {
    real r[P], v[Q];

    HopsCudaGet<P>(z0, PLANE, r);
    HopsCudaLine<Q, P, true, false>(tab.Be, tab.Bo, r, v);
    if (mass) HopsCudaPut<Q>(v, z2, PLANE);
    if (diffusion) {
      HopsCudaPut<Q>(v, z0, PLANE);
      HopsCudaLine<Q, Q, false, false>(tab.Ce, tab.Co, v, u);
    }
  }
  if (diffusion) { /* s1: derivatives in y; s0: in x, in place of the values */
    real r[Q], v[Q];

    __syncthreads();
    HopsCudaSweep<Q, Q, false, false>(tab.Ce, tab.Co, y0, ROW, y1, ROW);
    HopsCudaGet<Q>(x0, 1, r);
    HopsCudaLine<Q, Q, false, false>(tab.Ce, tab.Co, r, v);
    __syncthreads();
    HopsCudaPut<Q>(v, x0, 1);
    __syncthreads();
  }
  if (GEOM == HOPS_CUDA_STORED) {
    const real *qd = a.qdata + (size_t)c * nc * Q3 + t;

    if (diffusion) {
#pragma unroll UNROLL
      for (int z = 0; z < Q; z++) {
        const real d0 = __ldcs(qd + z * Q2), d1 = __ldcs(qd + Q3 + z * Q2), d2 = __ldcs(qd + 2 * Q3 + z * Q2);
        const real d3 = __ldcs(qd + 3 * Q3 + z * Q2), d4 = __ldcs(qd + 4 * Q3 + z * Q2), d5 = __ldcs(qd + 5 * Q3 + z * Q2);
        const real gx = z0[z * PLANE], gy = z1[z * PLANE], gz = u[z];

        z0[z * PLANE] = d0 * gx + d1 * gy + d2 * gz;
        z1[z * PLANE] = d1 * gx + d3 * gy + d4 * gz;
        u[z]          = d2 * gx + d4 * gy + d5 * gz;
      }
    }
    if (mass) {
#pragma unroll UNROLL
      for (int z = 0; z < Q; z++) z2[z * PLANE] *= __ldcs(qd + nd * Q3 + z * Q2);
    }
  } else if (GEOM == HOPS_CUDA_AFFINE) {
    const real wxy = tab.w[i0] * tab.w[i1];

    if (diffusion) {
      const real g0 = wxy * g[0], g1 = wxy * g[1], g2 = wxy * g[2], g3 = wxy * g[3], g4 = wxy * g[4], g5 = wxy * g[5];

#pragma unroll
      for (int z = 0; z < Q; z++) {
        const real gx = z0[z * PLANE], gy = z1[z * PLANE], gz = u[z], w = tab.w[z];

        z0[z * PLANE] = w * (g0 * gx + g1 * gy + g2 * gz);
        z1[z * PLANE] = w * (g1 * gx + g3 * gy + g4 * gz);
        u[z]          = w * (g2 * gx + g4 * gy + g5 * gz);
      }
    }
    if (mass) {
      const real m = wxy * g[6];

#pragma unroll
      for (int z = 0; z < Q; z++) z2[z * PLANE] *= m * tab.w[z];
    }
  } else HopsCudaMultilinear3<P, Q, UNROLL>(tab, g, i0, i1, diffusion, mass, scalar, z0, z1, z2, u);
  {
    real v[Q], r[P];

    if (diffusion) {
      __syncthreads();
      HopsCudaSweep<Q, Q, false, true>(tab.Ce, tab.Co, x0, 1, x0, 1);
      HopsCudaSweep<Q, Q, false, true>(tab.Ce, tab.Co, y1, ROW, y1, ROW);
      HopsCudaLine<Q, Q, false, true>(tab.Ce, tab.Co, u, v);
      __syncthreads();
#pragma unroll
      for (int z = 0; z < Q; z++) v[z] += z0[z * PLANE] + z1[z * PLANE];
    }
    if (mass) {
#pragma unroll
      for (int z = 0; z < Q; z++) v[z] = (diffusion ? v[z] : 0) + z2[z * PLANE];
    }
    HopsCudaLine<P, Q, true, true>(tab.Be, tab.Bo, v, r);
    HopsCudaPut<P>(r, z0, PLANE);
  }
  __syncthreads();
  if (t < P * Q) HopsCudaSweep<P, Q, true, true>(tab.Be, tab.Bo, y0, ROW, y1, ROW);
  __syncthreads();
  if (t < P * P) HopsCudaSweep<P, Q, true, true>(tab.Be, tab.Bo, s1 + (t / P) * PLANE + (t % P) * ROW, 1, s0 + t * (P | 1), 1);
  __syncthreads();
  if (cell < a.n) HopsCudaNodes<P, P * P * P, Q2, true>(a, c, t, s0);
}

/* 2D: Q threads for a cell, each with a line; measured */
template <int Q> struct HopsCudaLaunch2 {
  static constexpr int cells   = Q == 4 || Q >= 13 ? 128 / Q : 64 / Q;
  static constexpr int threads = Q <= 2 ? 1536 : (Q >= 11 || Q == 3 ? 512 : (Q <= 7 ? 1024 : 768));
  static constexpr int blocks  = threads / (Q * cells);
};

template <int P, int Q, int GEOM>
__global__ void __launch_bounds__(Q *HopsCudaLaunch2<Q>::cells, HopsCudaLaunch2<Q>::blocks)
  HopsCudaApply2(const __grid_constant__ HopsCudaTables<P, Q> tab, const HopsCudaCells a)
{
  constexpr int          NB = HopsCudaLaunch2<Q>::cells, Q2 = Q * Q, ROW = Q | 1, SQUARE = Q * ROW;
  const bool             diffusion = a.diffusion, mass = a.mass, scalar = a.scalar;
  extern __shared__ real mem[];
  const int              t = threadIdx.x, cell = blockIdx.x * NB + threadIdx.y, c = min(cell, a.n - 1);
  real                  *s0 = mem + threadIdx.y * 2 * SQUARE, *s1 = s0 + SQUARE;
  real *const x0 = s0 + t * ROW, *const y0 = s0 + t, *const y1 = s1 + t;
  const int     nd = diffusion ? 3 : 0, nc = nd + (mass ? 1 : 0);
  constexpr int NG = GEOM == HOPS_CUDA_STORED ? 0 : HopsCudaGeomSize(GEOM, 2);
  real         *g  = mem + NB * 2 * SQUARE + threadIdx.y * NG;
  real          u[Q], v[Q];

  HopsCudaNodes<P, P * P, Q, false>(a, c, t, s0);
  for (int i = t; i < NG; i += Q) g[i] = __ldg(a.geom + (size_t)c * NG + i);
  __syncthreads();
  if (t < P) {
    HopsCudaGet<P>(s0 + t * (P | 1), 1, v);
    HopsCudaLine<Q, P, true, false>(tab.Be, tab.Bo, v, u);
    HopsCudaPut<Q>(u, s1 + t * ROW, 1);
  }
  __syncthreads();
  HopsCudaGet<P>(y1, ROW, u);
  HopsCudaLine<Q, P, true, false>(tab.Be, tab.Bo, u, v);
  if (mass) HopsCudaPut<Q>(v, y1, ROW);
  if (diffusion) { /* u: derivatives in y; s0: in x, in place of the values */
    HopsCudaPut<Q>(v, y0, ROW);
    HopsCudaLine<Q, Q, false, false>(tab.Ce, tab.Co, v, u);
    __syncthreads();
    {
      real r[Q];

      HopsCudaGet<Q>(x0, 1, r);
      HopsCudaLine<Q, Q, false, false>(tab.Ce, tab.Co, r, v);
    }
    HopsCudaPut<Q>(v, x0, 1);
    __syncthreads();
  }
  if (GEOM == HOPS_CUDA_STORED) {
    const real *qd = a.qdata + (size_t)c * nc * Q2 + t;

#pragma unroll
    for (int y = 0; y < Q; y++) {
      if (diffusion) {
        const real d0 = __ldcs(qd + y * Q), d1 = __ldcs(qd + Q2 + y * Q), d2 = __ldcs(qd + 2 * Q2 + y * Q), gx = y0[y * ROW],
                   gy = u[y];

        y0[y * ROW] = d0 * gx + d1 * gy;
        u[y]        = d1 * gx + d2 * gy;
      }
      if (mass) y1[y * ROW] *= __ldcs(qd + nd * Q2 + y * Q);
    }
  } else if (GEOM == HOPS_CUDA_AFFINE) {
#pragma unroll
    for (int y = 0; y < Q; y++) {
      const real w = tab.w[t] * tab.w[y];

      if (diffusion) {
        const real gx = w * y0[y * ROW], gy = w * u[y];

        y0[y * ROW] = g[0] * gx + g[1] * gy;
        u[y]        = g[1] * gx + g[2] * gy;
      }
      if (mass) y1[y * ROW] *= w * g[3];
    }
  } else {
    const real *k = g + 6;
    const real  r = tab.z[t], A0 = g[0], A1 = g[2], B0 = g[3], B1 = g[5], C = g[1] + r * A1, D = g[4] + r * B1;

#pragma unroll
    for (int y = 0; y < Q; y++) { /* Jacobian (A C; B D), adjugate (D -C; -B A) */
      const real A = A0 + tab.z[y] * A1, B = B0 + tab.z[y] * B1, det = A * D - B * C, w = tab.w[t] * tab.w[y];

      if (diffusion) {
        const real gx = y0[y * ROW], gy = u[y], f = w * HopsCudaInverse(det), f0 = f * (D * gx - B * gy),
                   f1 = f * (A * gy - C * gx);
        const real h0 = scalar ? k[0] * f0 : k[0] * f0 + k[1] * f1, h1 = scalar ? k[0] * f1 : k[1] * f0 + k[2] * f1;

        y0[y * ROW] = D * h0 - C * h1;
        u[y]        = A * h1 - B * h0;
      }
      if (mass) y1[y * ROW] *= w * det * k[3];
    }
  }
  if (diffusion) {
    real r[Q];

    __syncthreads();
    HopsCudaGet<Q>(x0, 1, r);
    HopsCudaLine<Q, Q, false, true>(tab.Ce, tab.Co, r, v);
    HopsCudaPut<Q>(v, x0, 1);
    HopsCudaLine<Q, Q, false, true>(tab.Ce, tab.Co, u, v);
    __syncthreads();
#pragma unroll
    for (int y = 0; y < Q; y++) v[y] += y0[y * ROW];
  }
  if (mass) {
#pragma unroll
    for (int y = 0; y < Q; y++) v[y] = (diffusion ? v[y] : 0) + y1[y * ROW];
  }
  HopsCudaLine<P, Q, true, true>(tab.Be, tab.Bo, v, u);
  HopsCudaPut<P>(u, y0, ROW);
  __syncthreads();
  if (t < P) {
    HopsCudaGet<Q>(x0, 1, v);
    HopsCudaLine<P, Q, true, true>(tab.Be, tab.Bo, v, u);
    HopsCudaPut<P>(u, s1 + t * (P | 1), 1);
  }
  __syncthreads();
  if (cell < a.n) HopsCudaNodes<P, P * P, Q, true>(a, c, t, s1);
}
#if defined(HOPS_CUDA_SINGLE)
}
#endif
