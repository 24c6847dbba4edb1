/*
  Fused operator: gather, interpolation, quadrature data, the transposes and the scatter in one launch. Q x Q threads work on
  a cell, each on a column of nodes or points in z, which it holds in registers; contractions in z take their matrices from the
  kernel's arguments (constant cache), those in x and y go through two or three cubes of shared memory.
  Contributions of cells that meet in an unknown are summed by atomic additions.
*/
#pragma once
#include "cudaimpl.h"

/* Matrices of the basis as kernel arguments */
template <int P, int Q>
struct HopsCudaTables {
  double B[Q * P], C[Q * Q];
};

struct HopsCudaCells {
  int n, nT;
  const int *__restrict__ restr;
  const double *__restrict__ qdata, *__restrict__ B, *__restrict__ C, *__restrict__ x, *__restrict__ xg;
  double *y, *yg;
};

__device__ __forceinline__ double HopsCudaLoad(const HopsCudaCells &a, int i)
{
  return i < a.nT ? a.x[i] : a.xg[i - a.nT];
}

__device__ __forceinline__ void HopsCudaAdd(const HopsCudaCells &a, int i, double v)
{
  atomicAdd(i < a.nT ? a.y + i : a.yg + (i - a.nT), v);
}

/* Row or column of a matrix in registers: r[i] = A[i*stride] */
template <int N>
__device__ __forceinline__ void HopsCudaRow(const double *__restrict__ A, int stride, double r[N])
{
#pragma unroll
  for (int i = 0; i < N; i++) r[i] = __ldg(A + i * stride);
}

/* sum_i r[i] s[i*stride] */
template <int N>
__device__ __forceinline__ double HopsCudaDot(const double r[N], const double *s, int stride)
{
  double v = r[0] * s[0];

#pragma unroll
  for (int i = 1; i < N; i++) v += r[i] * s[i * stride];
  return v;
}

/*
  Launch parameters by the points per direction, all measured (bench/gpubench): cells of a block; blocks that should fit on a
  multiprocessor, which bounds the registers (with few registers columns spill, with many too few threads hide latency); and
  whether the loop over planes is unrolled, which above 3 points costs more registers than it saves instructions.
*/
template <int Q>
struct HopsCudaLaunch {
  static constexpr int cells   = Q == 8 ? 1 : (Q == 4 ? 4 : (Q * Q >= 128 ? 1 : 128 / (Q * Q)));
  static constexpr int threads = Q <= 3 ? 256 : (Q <= 5 ? 768 : (Q == 6 ? 640 : (Q <= 8 ? 512 : 420))); /* on a multiprocessor */
  static constexpr int blocks  = threads / (Q * Q * cells);
  static constexpr int unroll  = Q <= 3 ? Q : 1;
};

template <int P, int Q, bool DIFF, bool MASS, int NB>
__global__ void __launch_bounds__(Q *Q *NB, HopsCudaLaunch<Q>::blocks) HopsCudaApply3(const __grid_constant__ HopsCudaTables<P, Q> tab, const HopsCudaCells a)
{
  constexpr int     UNROLL = HopsCudaLaunch<Q>::unroll;
  constexpr int     NC = (DIFF ? 6 : 0) + (MASS ? 1 : 0), P3 = P * P * P, Q2 = Q * Q, Q3 = Q2 * Q, S = Q3 | 1;
  __shared__ double mem[(DIFF ? 3 : 2) * NB * S];
  const int         t = threadIdx.x, X = t % Q, Y = t / Q, cell = blockIdx.x * NB + threadIdx.y, c = min(cell, a.n - 1);
  double           *s0 = mem + (DIFF ? 3 : 2) * threadIdx.y * S, *s1 = s0 + S, *s2 = s1 + S;
  const int        *restr = a.restr + (size_t)c * P3;
  const double     *qd    = a.qdata + (size_t)c * (NC * Q3) + t;
  double            u[Q], r[Q], v[P], m[Q];

#pragma unroll
  for (int i = 0; i < P3; i += Q2)
    if (i + t < P3) s0[i + t] = HopsCudaLoad(a, restr[i + t]);
  __syncthreads();
  if (Y < P) { /* x: [z][y][x] -> [z][y][X] */
    HopsCudaRow<P>(a.B + X * P, 1, v);
#pragma unroll
    for (int k = 0; k < P; k++) s1[(k * P + Y) * Q + X] = HopsCudaDot<P>(v, s0 + (k * P + Y) * P, 1);
  }
  __syncthreads();
  HopsCudaRow<P>(a.B + Y * P, 1, m);
#pragma unroll
  for (int k = 0; k < P; k++) v[k] = HopsCudaDot<P>(m, s1 + k * P * Q + X, Q);
#pragma unroll
  for (int z = 0; z < Q; z++) {
    u[z] = 0;
#pragma unroll
    for (int k = 0; k < P; k++) u[z] += tab.B[z * P + k] * v[k];
  }
  if (DIFF) {
    double fz[Q];

#pragma unroll
    for (int z = 0; z < Q; z++) s0[z * Q2 + t] = u[z];
    __syncthreads();
    HopsCudaRow<Q>(a.C + X * Q, 1, m);
    HopsCudaRow<Q>(a.C + Y * Q, 1, r);
#pragma unroll
    for (int z = 0; z < Q; z++) fz[z] = 0;
#pragma unroll UNROLL
    for (int z = 0; z < Q; z++) {
      const double d0 = __ldg(qd + z * Q2), d1 = __ldg(qd + Q3 + z * Q2), d2 = __ldg(qd + 2 * Q3 + z * Q2);
      const double d3 = __ldg(qd + 3 * Q3 + z * Q2), d4 = __ldg(qd + 4 * Q3 + z * Q2), d5 = __ldg(qd + 5 * Q3 + z * Q2);
      const double gx = HopsCudaDot<Q>(m, s0 + z * Q2 + Y * Q, 1), gy = HopsCudaDot<Q>(r, s0 + z * Q2 + X, Q);
      double       gz = 0, f;

#pragma unroll
      for (int k = 0; k < Q; k++) gz += tab.C[z * Q + k] * u[k];
      s1[z * Q2 + t] = d0 * gx + d1 * gy + d2 * gz;
      s2[z * Q2 + t] = d1 * gx + d3 * gy + d4 * gz;
      f              = d2 * gx + d4 * gy + d5 * gz;
#pragma unroll
      for (int k = 0; k < Q; k++) fz[k] += tab.C[z * Q + k] * f;
    }
    __syncthreads();
    HopsCudaRow<Q>(a.C + X, Q, m);
    HopsCudaRow<Q>(a.C + Y, Q, r);
#pragma unroll
    for (int z = 0; z < Q; z++) {
      const double s = fz[z] + HopsCudaDot<Q>(m, s1 + z * Q2 + Y * Q, 1) + HopsCudaDot<Q>(r, s2 + z * Q2 + X, Q);

      u[z] = MASS ? s + __ldg(qd + 6 * Q3 + z * Q2) * u[z] : s;
    }
  } else {
#pragma unroll
    for (int z = 0; z < Q; z++) u[z] *= __ldg(qd + z * Q2);
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < P; k++) {
    double s = 0;

#pragma unroll
    for (int z = 0; z < Q; z++) s += tab.B[z * P + k] * u[z];
    s1[k * Q2 + t] = s;
  }
  __syncthreads();
  if (Y < P) { /* y: [z][Y][X] -> [z][y][X] */
    HopsCudaRow<Q>(a.B + Y, P, m);
#pragma unroll
    for (int k = 0; k < P; k++) s0[(k * P + Y) * Q + X] = HopsCudaDot<Q>(m, s1 + k * Q2 + X, Q);
  }
  __syncthreads();
  if (X < P && Y < P && cell < a.n) {
    HopsCudaRow<Q>(a.B + X, P, m);
#pragma unroll
    for (int k = 0; k < P; k++) HopsCudaAdd(a, restr[(k * P + Y) * P + X], HopsCudaDot<Q>(m, s0 + (k * P + Y) * Q, 1));
  }
}

template <int P, int Q, bool DIFF, bool MASS, int NB>
__global__ void __launch_bounds__(Q *Q *NB) HopsCudaApply2(const HopsCudaCells a)
{
  constexpr int     NC = (DIFF ? 3 : 0) + (MASS ? 1 : 0), P2 = P * P, Q2 = Q * Q, S = Q2 | 1;
  __shared__ double mem[2 * NB * S];
  const int         t = threadIdx.x, X = t % Q, Y = t / Q, cell = blockIdx.x * NB + threadIdx.y, c = min(cell, a.n - 1);
  double           *s0 = mem + 2 * threadIdx.y * S, *s1 = s0 + S;
  const int        *restr = a.restr + (size_t)c * P2;
  const double     *qd    = a.qdata + (size_t)c * (NC * Q2) + t;
  double            m[Q], u;

  if (t < P2) s0[t] = HopsCudaLoad(a, restr[t]);
  __syncthreads();
  if (Y < P) {
    HopsCudaRow<P>(a.B + X * P, 1, m);
    s1[Y * Q + X] = HopsCudaDot<P>(m, s0 + Y * P, 1);
  }
  __syncthreads();
  HopsCudaRow<P>(a.B + Y * P, 1, m);
  u = HopsCudaDot<P>(m, s1 + X, Q);
  if (DIFF) {
    double gx, gy, s;

    s0[t] = u;
    __syncthreads();
    HopsCudaRow<Q>(a.C + X * Q, 1, m);
    gx = HopsCudaDot<Q>(m, s0 + Y * Q, 1);
    HopsCudaRow<Q>(a.C + Y * Q, 1, m);
    gy = HopsCudaDot<Q>(m, s0 + X, Q);
    __syncthreads();
    s1[t] = __ldg(qd) * gx + __ldg(qd + Q2) * gy;
    s0[t] = __ldg(qd + Q2) * gx + __ldg(qd + 2 * Q2) * gy;
    __syncthreads();
    HopsCudaRow<Q>(a.C + X, Q, m);
    s = HopsCudaDot<Q>(m, s1 + Y * Q, 1);
    HopsCudaRow<Q>(a.C + Y, Q, m);
    s += HopsCudaDot<Q>(m, s0 + X, Q);
    u = MASS ? s + __ldg(qd + 3 * Q2) * u : s;
  } else u *= __ldg(qd);
  __syncthreads();
  s1[t] = u;
  __syncthreads();
  if (Y < P) {
    HopsCudaRow<Q>(a.B + Y, P, m);
    s0[Y * Q + X] = HopsCudaDot<Q>(m, s1 + X, Q);
  }
  __syncthreads();
  if (X < P && Y < P && cell < a.n) {
    HopsCudaRow<Q>(a.B + X, P, m);
    HopsCudaAdd(a, restr[Y * P + X], HopsCudaDot<Q>(m, s0 + Y * Q, 1));
  }
}

template <int P, int Q, bool DIFF, bool MASS>
static void HopsCudaRun(const HopsCudaArgs *k, const HopsCudaCells &a)
{
  constexpr int NB      = HopsCudaLaunch<Q>::cells;
  const int     nblocks = (a.n + NB - 1) / NB;

  if (k->dim == 3) {
    HopsCudaTables<P, Q> tab;

    for (int i = 0; i < Q * P; i++) tab.B[i] = k->hostB[i];
    for (int i = 0; i < Q * Q; i++) tab.C[i] = k->hostC[i];
    HopsCudaApply3<P, Q, DIFF, MASS, NB><<<nblocks, dim3(Q * Q, NB), 0, k->stream>>>(tab, a);
  } else HopsCudaApply2<P, Q, DIFF, MASS, NB><<<nblocks, dim3(Q * Q, NB), 0, k->stream>>>(a);
}

template <int P, int Q>
static void HopsCudaRun(const HopsCudaArgs *k, const HopsCudaCells &a)
{
  if (k->diffusion && k->mass) HopsCudaRun<P, Q, true, true>(k, a);
  else if (k->diffusion) HopsCudaRun<P, Q, true, false>(k, a);
  else HopsCudaRun<P, Q, false, true>(k, a);
}

template <int P>
static PetscErrorCode HopsCudaPALaunch(const HopsCudaArgs *k, const double x[], const double xg[], double y[], double yg[])
{
  const size_t        nn = (size_t)k->P * k->P * (k->dim == 3 ? k->P : 1), nq = (size_t)k->Q * k->Q * (k->dim == 3 ? k->Q : 1);
  const int           nc = (k->diffusion ? k->dim * (k->dim + 1) / 2 : 0) + (k->mass ? 1 : 0);
  const HopsCudaCells a  = {(int)k->n, k->nT, k->restr + k->first * nn, k->qdata + k->first * nq * nc, k->B, k->C, x, xg, y, yg};

  PetscFunctionBegin;
  if (k->Q == P) HopsCudaRun<P, P>(k, a);
  else HopsCudaRun<P, P + 1>(k, a);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define HOPS_CUDA_PA_DEFINE(P) \
  PetscErrorCode HopsCudaPALaunch_##P(const HopsCudaArgs *k, const double x[], const double xg[], double y[], double yg[]) \
  { \
    return HopsCudaPALaunch<P>(k, x, xg, y, yg); \
  }
