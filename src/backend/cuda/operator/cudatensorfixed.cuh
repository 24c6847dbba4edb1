/*
  The kernels of cudatensor.cu for as many points as nodes, or one more, where the compiler knows all sizes: a
  thread makes a line of entries at a time, and the one-dimensional matrices are immediate operands of its
  instructions (kernel arguments, which the constant cache holds).
*/
#pragma once
#include "cudatensor.cuh"

/* a line of M entries from one of N; T: A is [N][M], transposed */
template <int M, int N, bool T>
static __device__ __forceinline__ void Line(const double *A, const double *in, int sn, double *out, int rm, bool add)
{
  double x[N];

#pragma unroll
  for (int n = 0; n < N; n++) x[n] = in[n * sn];
#pragma unroll
  for (int m = 0; m < M; m++) {
    double v = add ? out[m * rm] : 0;

#pragma unroll
    for (int n = 0; n < N; n++) v += A[T ? n * M + m : m * N + n] * x[n];
    out[m * rm] = v;
  }
}

/* direction D of items whose directions before have M entries and whose directions after have N; the lines of
   others are lm doubles apart */
template <int DIM, int D, int M, int N, bool T>
static __device__ __forceinline__ void Lines(const double *A, int items, int S, const double *in, double *out, bool add)
{
  constexpr int ln = N | 1, lm = M | 1, inner = D == 0 ? 1 : M,
                outer = DIM == 2 ? (D == 0 ? N : 1) : (D == 0 ? N * N : (D == 1 ? N : M)), lines = inner * outer;
  constexpr int so = D == 0 ? ln : (D == 1 ? N * lm : lm), sn = D == 0 ? 1 : (D == 1 ? lm : M * lm),
                ro = D == 0 ? lm : (D == 1 ? M * lm : lm), rm = D == 0 ? 1 : (D == 1 ? lm : M * lm);

  for (int t = threadIdx.x; t < items * lines; t += blockDim.x) {
    const int item = t / lines, l = t - item * lines, o = l / inner, i = l - o * inner;

    Line<M, N, T>(A, in + item * S + o * so + i, sn, out + item * S + o * ro + i, rm, add);
  }
}

template <int DIM, int M, int N, bool T>
static __device__ __forceinline__ void FixedTensor(const double *A, int items, int S, const double *in, double *t1, double *t2,
                                                   double *out)
{
  Lines<DIM, 0, M, N, T>(A, items, S, in, t1, false);
  __syncthreads();
  Lines<DIM, 1, M, N, T>(A, items, S, t1, DIM == 3 ? t2 : out, false);
  __syncthreads();
  if constexpr (DIM == 3) {
    Lines<DIM, 2, M, N, T>(A, items, S, t2, out, false);
    __syncthreads();
  }
}

template <int DIM, int Q, int P>
static __device__ __forceinline__ void FixedUp(const HopsCudaTensorArgs &k, const double *B, const HopsCudaTensorSide &s,
                                               PetscInt cell, int n, double *w)
{
  const int items = s.nc * k.W;
  double   *u = w + s.off, *e = u + s.R;

  Gather<DIM>(s, P, k.W, k.S, cell, n, e);
  FixedTensor<DIM, Q, P, false>(B, items, k.S, e, u + 2 * s.R, e, u);
  if (s.gradient) {
    Lines<DIM, 0, Q, Q, false>(k.fixedC, items, k.S, u, u + s.R, false);
    Lines<DIM, 1, Q, Q, false>(k.fixedC, items, k.S, u, u + 2 * s.R, false);
    if constexpr (DIM == 3) Lines<DIM, 2, Q, Q, false>(k.fixedC, items, k.S, u, u + 3 * s.R, false);
    __syncthreads();
  }
}

template <int DIM, int Q, int P>
static __device__ __forceinline__ void FixedDown(const HopsCudaTensorArgs &k, const double *B, const HopsCudaTensorSide &s,
                                                 PetscInt cell, int n, double *w)
{
  const int items = s.nc * k.W;
  double   *u = w + s.off, *e = u + s.R;

  if (s.gradient) {
    Lines<DIM, 0, Q, Q, true>(k.fixedC, items, k.S, u + s.R, u, true);
    __syncthreads();
    Lines<DIM, 1, Q, Q, true>(k.fixedC, items, k.S, u + 2 * s.R, u, true);
    __syncthreads();
    if constexpr (DIM == 3) {
      Lines<DIM, 2, Q, Q, true>(k.fixedC, items, k.S, u + 3 * s.R, u, true);
      __syncthreads();
    }
  }
  FixedTensor<DIM, P, Q, true>(B, items, k.S, u, u + 2 * s.R, DIM == 3 ? u + 3 * s.R : NULL, e);
  Scatter<DIM>(s, P, k.W, k.S, cell, n, e);
}

template <int DIM, int NC, int Q>
__global__ static void __launch_bounds__(HOPS_CUDA_TENSOR_THREADS, 3) FixedApply(const __grid_constant__ HopsCudaTensorArgs k)
{
  extern __shared__ double2 shared2[];
  double                   *w = (double *)shared2;

  for (PetscInt b = k.first + blockIdx.x; b < k.first + k.n; b += gridDim.x) {
    const PetscInt cell = k.cell[b];
    const int      n    = (int)(k.cell[b + 1] - cell);

    for (int i = 0; i < k.nside[0]; i++) {
      const HopsCudaTensorSide &s = k.side[0][i];

      if (!s.value && !s.gradient) continue;
      if (s.table.P == Q) FixedUp<DIM, Q, Q>(k, k.fixedB, s, cell, n, w);
      else FixedUp<DIM, Q, Q - 1>(k, k.fixedA, s, cell, n, w);
    }
    Points<DIM, NC>(k, Q, DIM == 3 ? Q * Q * Q : Q * Q, b, n, w);
    __syncthreads();
    for (int i = 0; i < k.nside[1]; i++) {
      const HopsCudaTensorSide &s = k.side[1][i];

      if (!s.value && !s.gradient) continue;
      if (s.table.P == Q) FixedDown<DIM, Q, Q>(k, k.fixedB, s, cell, n, w);
      else FixedDown<DIM, Q, Q - 1>(k, k.fixedA, s, cell, n, w);
    }
    __syncthreads();
  }
}

/* scalars, vectors, vectors with a scalar */
#define HOPS_CUDA_TENSOR_DEFINE(Q) \
  HopsCudaTensorFunction HopsCudaTensorFind_##Q(int dim, int ncout) \
  { \
    if (ncout == 1) return dim == 3 ? FixedApply<3, 1, Q> : FixedApply<2, 1, Q>; \
    if (ncout == dim) return dim == 3 ? FixedApply<3, 3, Q> : FixedApply<2, 2, Q>; \
    if (ncout == dim + 1) return dim == 3 ? FixedApply<3, 4, Q> : FixedApply<2, 3, Q>; \
    return NULL; \
  }
