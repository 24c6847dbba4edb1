/*
  Kernels of the V-cycle, for vectors that start from zero. A smoothing step is x + a D (f - A x), with D the
  inverse l1 norms of the rows times the first step's weight and a the step's weight over that. With one step:
    down: u = D f, w = f - A u, f_c = R w;   up: u = u + P u_c, w = u + D (f - A u), which is the level's
    result.
  L threads share a row; their partial sums are added in a fixed order.
*/
#pragma once
#include "cycle.h"

template <typename T> struct Csr {
  int m;
  const int *__restrict__ i, *__restrict__ j;
  const T *__restrict__ v;
};

template <int L, typename T> __device__ static T RowTimes(const Csr<T> &A, int row, int lane, const T *__restrict__ x)
{
  T s = 0;

  if (row < A.m)
    for (int k = A.i[row] + lane; k < A.i[row + 1]; k += L) s += A.v[k] * __ldg(x + A.j[k]);
#pragma unroll
  for (int o = L / 2; o > 0; o /= 2) s += __shfl_xor_sync(0xffffffffu, s, o);
  return s;
}

#define ROW(L) const int t = (int)(blockIdx.x * blockDim.x + threadIdx.x), row = t / L, lane = t % L

/* f = x, u = d x */
template <typename T>
__global__ static void First(int n, const double *__restrict__ x, const T *__restrict__ d, T *__restrict__ f, T *__restrict__ u)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (i >= n) return;
  f[i] = (T)x[i];
  u[i] = d[i] * (T)x[i];
}

/* w = f - A u */
template <int L, typename T>
__global__ static void Residual(const Csr<T> A, const T *__restrict__ f, const T *__restrict__ u, T *__restrict__ w)
{
  ROW(L);
  const T s = RowTimes<L>(A, row, lane, u);

  if (lane == 0 && row < A.m) w[row] = f[row] - s;
}

/* f = R w, u = d f (d may be NULL) */
template <int L, typename T>
__global__ static void Restrict(const Csr<T> R, const T *__restrict__ w, const T *__restrict__ d, T *__restrict__ f,
                                T *__restrict__ u)
{
  ROW(L);
  const T s = RowTimes<L>(R, row, lane, w);

  if (lane == 0 && row < R.m) {
    f[row] = s;
    if (d) u[row] = d[row] * s;
  }
}

/* u += P e */
template <int L, typename T> __global__ static void Prolong(const Csr<T> P, const T *__restrict__ e, T *__restrict__ u)
{
  ROW(L);
  const T s = RowTimes<L>(P, row, lane, e);

  if (lane == 0 && row < P.m) u[row] += s;
}

/* out = u + a d (f - A u) */
template <int L, typename T, typename S>
__global__ static void Smooth(const Csr<T> A, T a, const T *__restrict__ d, const T *__restrict__ f, const T *__restrict__ u,
                              S *__restrict__ out)
{
  ROW(L);
  const T s = RowTimes<L>(A, row, lane, u);

  if (lane == 0 && row < A.m) out[row] = (S)(u[row] + a * d[row] * (f[row] - s));
}

/* u = M f, a warp for each row of a small dense matrix */
template <typename T> __global__ static void Dense(int n, const T *__restrict__ M, const T *__restrict__ f, T *__restrict__ u)
{
  const int row = (int)(blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  T         s = 0;

  if (row >= n) return;
  for (int k = lane; k < n; k += 32) s += M[row * n + k] * f[k];
#pragma unroll
  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(0xffffffffu, s, o);
  if (lane == 0) u[row] = s;
}

/* Threads of a row by the mean number of its entries: about six entries a thread, by measurement */
#define LAUNCH(M, kernel, stream, ...) \
  do { \
    if (!(M).m) break; /* a rank may have no rows */ \
    const double mean_ = (M).m ? (double)(M).nnz / (M).m : 0; \
    if (mean_ <= 12) kernel<2><<<Blocks((M).m, 2), 256, 0, stream>>>(__VA_ARGS__); \
    else if (mean_ <= 24) kernel<4><<<Blocks((M).m, 4), 256, 0, stream>>>(__VA_ARGS__); \
    else if (mean_ <= 64) kernel<8><<<Blocks((M).m, 8), 256, 0, stream>>>(__VA_ARGS__); \
    else if (mean_ <= 128) kernel<16><<<Blocks((M).m, 16), 256, 0, stream>>>(__VA_ARGS__); \
    else kernel<32><<<Blocks((M).m, 32), 256, 0, stream>>>(__VA_ARGS__); \
    PetscCallCUDA(cudaGetLastError()); \
  } while (0)

static unsigned int Blocks(int m, int lanes)
{
  return (unsigned int)(((size_t)m * lanes + 255) / 256);
}

template <typename T> static Csr<T> View(const HopsCycleMatrix &M)
{
  const Csr<T> A = {M.m, M.i, M.j, (const T *)M.v};

  return A;
}

/* Where a level's vector is after the steps before the coarse correction, and the other of the two: the last
   step after it goes from u to w, or out */
template <typename T> static T *Smoothed(const HopsCycle c, const HopsCycleLevel *l)
{
  return (T *)(c->nsteps % 2 ? l->u : l->w);
}

template <typename T> static T *Other(const HopsCycle c, const HopsCycleLevel *l)
{
  return (T *)(c->nsteps % 2 ? l->w : l->u);
}

template <typename T> static T LastWeight(const HopsCycle c)
{
  return (T)c->step[c->nsteps - 1];
}

/*
  The program of AMS or ADS: corrections from the nodal spaces, one after the other or in sums. Where the last
  space of a sum is absent, as in 2D, the next correction sees the sum's residual, as in hypre (2.32).
  `does` has TakeResidual(), w = f - A u; SmoothOnce(), of u; Fork() at a sum's begin; Correct(k, in a sum?),
  what space k makes of w; and Add(k, in a sum?), which adds that to u.
*/
template <typename Does> static PetscErrorCode HopsCycleProgram(HopsCycle c, const Does &does)
{
  const auto space = [c](char op) { return op >= '1' && op < '1' + HOPS_CYCLE_SPACES && c->sub[op - '1']; };
  bool       known = false; /* the residual is there already */

  PetscFunctionBegin;
  for (const char *op = c->program + 1, *sum = NULL; op[1]; op++) {
    if (*op == '+') known = true;
    else if (*op == '(') {
      PetscCall(does.TakeResidual());
      PetscCall(does.Fork());
      sum = op;
    } else if (*op == ')') {
      for (; sum < op; sum++)
        if (space(*sum)) PetscCall(does.Add(*sum - '1', true));
      sum = NULL;
    } else if (*op == '0') PetscCall(does.SmoothOnce());
    else if (space(*op)) {
      if (!sum && !known) PetscCall(does.TakeResidual());
      PetscCall(does.Correct(*op - '1', sum != NULL));
      if (!sum) PetscCall(does.Add(*op - '1', false));
      known = false;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
