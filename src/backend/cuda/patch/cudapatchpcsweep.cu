/*
  Fused sweeps of exact patches given by lists of unknowns: each patch takes its right-hand side and the
  values around it, and is solved.

  Where the window of a patch is all nodes of its cells but the first and the last of each direction, its own
  values are not read: they are replaced. A function on the cells is written in tensor products of the modes S
  (S^T M S = 1, S^T A S = lambda) and of two functions that are 1 at an end and M-orthogonal to the modes. In
  that basis the inside couples to the six faces, by a vector alpha for each end, and to no edge or corner:

    (s_0 l_i + s_1 l_j + s_2 l_k + s_3) u_ijk = (S^T b)_ijk / s_5 - s_0 (alpha_i u_(x end)jk + ...) - s_1
    (...) - s_2 (...)

  The coefficients of a face are T = S^T M applied in its two directions. Three products by S and the ends'
  functions lead back to nodes. Other patches run a plain kernel: the residual by S^T M and S^T A on all
  nodes.
*/
#include "cudapatchsweeptensor.cuh"

/* Matrices are read again: the compiler would keep them in registers from one product to the next, and spill
   them */
__device__ __forceinline__ void Forget(void)
{
  asm volatile("" ::: "memory");
}

/* v <- S^T v; rows of S have R entries */
template <int n, int R, class T> __device__ __forceinline__ void ToModes(const T *S, T v[n])
{
  T w[n];

#pragma unroll
  for (int m = 0; m < n; m++) w[m] = 0;
#pragma unroll
  for (int i = 0; i < n; i++)
#pragma unroll
    for (int m = 0; m < n; m++) w[m] += S[i * R + m] * v[i];
#pragma unroll
  for (int m = 0; m < n; m++) v[m] = w[m];
}

/* v <- S v + E_0 e0 + E_1 e1 */
template <int n, int R, class T> __device__ __forceinline__ void ToNodes(const T *S, const T *E, T e0, T e1, T v[n])
{
  T w[n];

#pragma unroll
  for (int i = 0; i < n; i++) {
    w[i] = E[i] * e0 + E[n + i] * e1;
#pragma unroll
    for (int m = 0; m < n; m++) w[i] += S[i * R + m] * v[m];
  }
#pragma unroll
  for (int m = 0; m < n; m++) v[m] = w[m];
}

/* A line of N nodes to n modes between its ends, in place */
template <int n, class T> __device__ __forceinline__ void LineToModes(const T *M, T *line, int stride)
{
  constexpr int N = n + 2;
  T             v[N];

#pragma unroll
  for (int i = 0; i < N; i++) v[i] = line[i * stride];
#pragma unroll
  for (int m = 0; m < n; m++) {
    T s = 0;

#pragma unroll
    for (int i = 0; i < N; i++) s += M[m * N + i] * v[i];
    line[(m + 1) * stride] = s;
  }
}

/* A factor in shared memory: S[n][R], lambda[n], T[n][N], alpha[2][n], E[2][n]; Ta is left out */
template <int DIM, int n> struct SweepSizes {
  static constexpr int N = n + 2, R = (n + 1) / 2 * 2;
  static constexpr int lambda = n * R, T = lambda + n, alpha = T + n * N, E = alpha + 2 * n, F = E + 2 * n;
  static constexpr int head = T + n * N, skip = n * N; /* entries before Ta, and Ta's */
  static constexpr int FS      = (F + 1) / 2 * 2;
  static constexpr int threads = DIM == 3 ? N * N : N;
  static constexpr int face    = DIM == 3 ? N * N : N;
  static constexpr int cube    = DIM == 3 ? n * N * N : n * N;
  static constexpr int NB      = threads >= 96 ? 1 : 128 / threads; /* patches of a block */
  static constexpr int patch   = DIM * FS + 2 * DIM * face + (cube + 1) / 2 * 2;
};

/* Blocks of a multiprocessor, which bound the registers */
template <int DIM, int n, class T> struct SweepBounds {
  static constexpr int threads = SweepSizes<DIM, n>::threads * SweepSizes<DIM, n>::NB, warps = (threads + 31) / 32;
  static constexpr int registers =
    sizeof(T) == 8 ? (n <= 3 ? 64 : (n <= 5 ? 80 : (n <= 7 ? 96 : (n <= 9 ? 112 : 128)))) : (n <= 5 ? 64 : (n <= 9 ? 80 : 96));
  static constexpr int blocks = 65536 / (registers * 32 * warps) > 0 ? 65536 / (registers * 32 * warps) : 1;
};

/* Node (X,Y) of face f: 2d and 2d+1 lie across direction d, the others are in ascending order */
template <int DIM, int N> __device__ __forceinline__ int FaceNode(int f, int X, int Y)
{
  const int end = f % 2 ? N - 1 : 0, d = f / 2;

  if (DIM == 2) return d == 0 ? end + N * X : X + N * end;
  return d == 0 ? end + N * (X + N * Y) : (d == 1 ? X + N * (end + N * Y) : X + N * (Y + N * end));
}

/* Faces of a patch, F, to modes in both of their directions; barriers within, but not at the end */
template <int DIM, int n, class T> __device__ __forceinline__ void FacesToModes(int t, const T *S, T *F)
{
  using L         = SweepSizes<DIM, n>;
  constexpr int N = L::N, NT = L::threads;

  if (DIM == 3) {
    for (int l = t; l < 6 * N; l += NT) {
      const int f = l / N;

      LineToModes<n>(S + (f / 2 == 0 ? 1 : 0) * L::FS + L::T, F + f * L::face + N * (l % N), 1);
    }
    __syncthreads();
    for (int l = t; l < 6 * N; l += NT) {
      const int f = l / N;

      LineToModes<n>(S + (f / 2 == 2 ? 1 : 2) * L::FS + L::T, F + f * L::face + l % N, N);
    }
  } else {
    for (int f = t; f < 4; f += NT) LineToModes<n>(S + (f / 2 == 0 ? 1 : 0) * L::FS + L::T, F + f * L::face, 1);
  }
}

template <int DIM, int n, class T, class V>
__global__ void __launch_bounds__(SweepBounds<DIM, n, T>::threads, SweepBounds<DIM, n, T>::blocks)
  SweepCubes(const HopsSweepArgs<V> a)
{
  using L             = SweepSizes<DIM, n>;
  constexpr int     N = L::N, R = L::R, NT = L::threads;
  extern __shared__ __align__(16) unsigned char raw[];
  const int                                     t = threadIdx.x, X = t % N, Y = t / N, q = blockIdx.x * L::NB + threadIdx.y;
  const bool                                    in = q < a.n, inside = X < n && (DIM == 2 || Y < n);
  const int                                     k = in ? q : a.n - 1, start = a.patches[k].start, estart = a.sweep[k].estart;
  T *S = (T *)raw + threadIdx.y * L::patch, *F = S + DIM * L::FS, *cube = F + 2 * DIM * L::face;
  T  v[n];

#pragma unroll
  for (int d = 0; d < DIM; d++) {
    const T *g = (const T *)a.values + a.sweep[k].f[d];

    for (int i = t; i < L::F; i += NT) S[d * L::FS + i] = g[i < L::head ? i : i + L::skip];
  }
#pragma unroll
  for (int f = 0; f < 2 * DIM; f++)
    F[f * L::face + t] = HopsSweepAt<T>(a, (const V *)a.z, a.eidx[estart + FaceNode<DIM, N>(f, X, Y)]);
  if (inside) {
#pragma unroll
    for (int i = 0; i < n; i++) v[i] = HopsSweepAt<T>(a, a.b, a.idx[start + (DIM == 3 ? (i * n + Y) * n + X : i * n + X)]);
  }
  __syncthreads();
  FacesToModes<DIM, n>(t, S, F);
  /* to modes in the last direction: thread (x,y) */
  if (inside) {
    ToModes<n, R>(S + (DIM - 1) * L::FS, v);
#pragma unroll
    for (int i = 0; i < n; i++) cube[DIM == 3 ? X + n * (Y + 1 + N * (i + 1)) : X + n * (i + 1)] = v[i];
  }
  __syncthreads();
  if (DIM == 3) { /* y: thread (x,k) */
    if (inside) {
#pragma unroll
      for (int j = 0; j < n; j++) v[j] = cube[X + n * (j + 1 + N * (Y + 1))];
      ToModes<n, R>(S + L::FS, v);
#pragma unroll
      for (int j = 0; j < n; j++) cube[X + n * (j + 1 + N * (Y + 1))] = v[j];
    }
    __syncthreads();
  }
  { /* x, and back: thread (j,k) or j, the ends among them, whose coefficients are those of faces */
    T             *row = cube + n * t;
    const T       *x0 = F + t, *x1 = x0 + L::face;
    const T *const y0 = F + 2 * L::face + (DIM == 3 ? N * Y : 0) + 1, *const y1 = y0 + L::face; /* along x */
    const bool yend = X == 0 || X == N - 1, zend = DIM == 3 && (Y == 0 || Y == N - 1);

    if (yend || zend) {
      const T *from = DIM == 3 && zend ? F + (Y == 0 ? 4 : 5) * L::face + N * X + 1 : (X == 0 ? y0 : y1);

#pragma unroll
      for (int i = 0; i < n; i++) v[i] = from[i];
    } else {
      const HopsCudaPatchRecord &p = a.patches[k];
      const T  s0 = (T)p.scale[0], s1 = (T)p.scale[1], s2 = DIM == 3 ? (T)p.scale[2] : (T)0, inv5 = (T)(1 / a.sweep[k].s5);
      const T *Sy = S + L::FS, *Sz = S + (DIM - 1) * L::FS;
      const T  ay0 = s1 * Sy[L::alpha + X - 1], ay1 = s1 * Sy[L::alpha + n + X - 1];
      const T  ax0 = s0 * *x0, ax1 = s0 * *x1;
      T        lambda = (T)p.scale[3] + s1 * Sy[L::lambda + X - 1], az0 = 0, az1 = 0;
      const T *z0 = F + (DIM == 3 ? 4 : 0) * L::face + (DIM == 3 ? N * X : 0) + 1, *z1 = z0 + L::face;

      if (DIM == 3) {
        lambda += s2 * Sz[L::lambda + Y - 1];
        az0 = s2 * Sz[L::alpha + Y - 1];
        az1 = s2 * Sz[L::alpha + n + Y - 1];
      }
#pragma unroll
      for (int i = 0; i < n; i++) v[i] = row[i];
      ToModes<n, R>(S, v);
#pragma unroll
      for (int i = 0; i < n; i++) {
        T r = v[i] * inv5 - S[L::alpha + i] * ax0 - S[L::alpha + n + i] * ax1 - ay0 * y0[i] - ay1 * y1[i];

        if (DIM == 3) r -= az0 * z0[i] + az1 * z1[i];
        v[i] = r / (lambda + s0 * S[L::lambda + i]);
      }
    }
    Forget();
    ToNodes<n, R>(S, S + L::E, *x0, *x1, v);
#pragma unroll
    for (int i = 0; i < n; i++) row[i] = v[i];
  }
  __syncthreads();
  if (DIM == 3) { /* y: thread (x,k), k with its ends */
    if (X < n) {
      T *line = cube + X + n * N * Y;

#pragma unroll
      for (int j = 0; j < n; j++) v[j] = line[n * (j + 1)];
      ToNodes<n, R>(S + L::FS, S + L::FS + L::E, line[0], line[n * (N - 1)], v);
#pragma unroll
      for (int j = 0; j < n; j++) line[n * (j + 1)] = v[j];
    }
    __syncthreads();
  }
  if (inside) {
    const T  *Sz   = S + (DIM - 1) * L::FS;
    const int step = DIM == 3 ? n * N : n;
    const T  *line = DIM == 3 ? cube + X + n * (Y + 1) : cube + X;
    const V   w    = (V)a.sweep[k].omega;

#pragma unroll
    for (int i = 0; i < n; i++) v[i] = line[step * (i + 1)];
    ToNodes<n, R>(Sz, Sz + L::E, line[0], line[step * (N - 1)], v);
    if (in) {
#pragma unroll
      for (int i = 0; i < n; i++) {
        const int to = a.idx[start + (DIM == 3 ? (i * n + Y) * n + X : i * n + X)];

        if (to != a.none) a.z[to] = w == 1 ? (V)v[i] : a.z[to] + w * ((V)v[i] - a.z[to]);
      }
    }
  }
}

/* out[o][m][i] (+)= s sum_c M[m][c] in[o][c][i], M with rows of `row` entries (transposed: M[c][m]) */
template <class T>
__device__ void Product(const T *__restrict__ M, int row, bool transposed, int m, int c, int outer, int inner, const T *in, T s,
                        bool add, T *out)
{
  for (int e = threadIdx.x; e < outer * m * inner; e += blockDim.x) {
    const int i = e % inner, r = e / inner % m, o = e / (inner * m);
    T         v = 0;

    for (int j = 0; j < c; j++) v += M[transposed ? j * row + r : r * row + j] * in[(o * c + j) * inner + i];
    out[e] = add ? out[e] + s * v : s * v;
  }
  __syncthreads();
}

/* Any window: blocks take patches in turn where their scratch lies in the device's memory */
template <class T, class V> __global__ void __launch_bounds__(128) SweepBricks(const HopsSweepArgs<V> a, int dim)
{
  extern __shared__ __align__(16) unsigned char raw[];

  for (int q = blockIdx.x; q < a.n; q += gridDim.x) {
    const HopsCudaPatchRecord &p  = a.patches[q];
    const HopsCudaSweepRecord &w  = a.sweep[q];
    const int                  n0 = p.size[0], n1 = p.size[1], n2 = dim == 3 ? p.size[2] : 1, N0 = w.esize[0], N1 = w.esize[1],
              N2    = dim == 3 ? w.esize[2] : 1;
    const int total = n0 * n1 * n2;
    const T  *S[3], *l[3], *M[3], *A[3];
    T        *u = a.work ? (T *)((unsigned char *)a.work + blockIdx.x * a.nwork) : (T *)raw, *um = u + N0 * N1 * N2,
      *ua = um + n0 * N1 * N2, *P = ua + n0 * N1 * N2, *Q = P + n0 * n1 * N2, *r = Q + n0 * n1 * N2;

    for (int d = 0; d < dim; d++) {
      S[d] = (const T *)a.values + w.f[d];
      l[d] = S[d] + p.size[d] * ((p.size[d] + 1) / 2 * 2);
      M[d] = l[d] + p.size[d];
      A[d] = M[d] + p.size[d] * w.esize[d];
    }
    for (int e = threadIdx.x; e < N0 * N1 * N2; e += blockDim.x) u[e] = HopsSweepAt<T>(a, (const V *)a.z, a.eidx[w.estart + e]);
    __syncthreads();
    /* the operator on all nodes, in modes: r = s_0 A M M + s_1 M A M + s_2 M M A + s_3 M M M */
    Product(M[0], N0, false, n0, N0, N1 * N2, 1, u, (T)1, false, um);
    Product(A[0], N0, false, n0, N0, N1 * N2, 1, u, (T)p.scale[0], false, ua);
    Product(M[1], N1, false, n1, N1, N2, n0, um, (T)1, false, P);
    Product(M[1], N1, false, n1, N1, N2, n0, ua, (T)1, false, Q);
    Product(A[1], N1, false, n1, N1, N2, n0, um, (T)p.scale[1], true, Q);
    for (int e = threadIdx.x; e < n0 * n1 * N2; e += blockDim.x) Q[e] += (T)p.scale[3] * P[e];
    __syncthreads();
    if (dim == 3) {
      Product(M[2], N2, false, n2, N2, 1, n0 * n1, Q, (T)1, false, r);
      Product(A[2], N2, false, n2, N2, 1, n0 * n1, P, (T)p.scale[2], true, r);
    } else r = Q;
    /* the right-hand side in modes */
    for (int e = threadIdx.x; e < total; e += blockDim.x) um[e] = HopsSweepAt<T>(a, a.b, a.idx[p.start + e]);
    __syncthreads();
    Product(S[0], (n0 + 1) / 2 * 2, true, n0, n0, n1 * n2, 1, um, (T)1, false, ua);
    Product(S[1], (n1 + 1) / 2 * 2, true, n1, n1, n2, n0, ua, (T)1, false, um);
    if (dim == 3) Product(S[2], (n2 + 1) / 2 * 2, true, n2, n2, 1, n0 * n1, um, (T)1, false, ua);
    {
      const T *rhs = dim == 3 ? ua : um, s5 = (T)w.s5;

      for (int e = threadIdx.x; e < total; e += blockDim.x) {
        const int i[3]   = {e % n0, e / n0 % n1, e / (n0 * n1)};
        T         lambda = (T)p.scale[3];

        for (int d = 0; d < dim; d++) lambda += (T)p.scale[d] * l[d][i[d]];
        u[e] = (T)p.scale[4] * (rhs[e] - s5 * r[e]) / lambda;
      }
    }
    __syncthreads();
    Product(S[0], (n0 + 1) / 2 * 2, false, n0, n0, n1 * n2, 1, u, (T)1, false, ua);
    Product(S[1], (n1 + 1) / 2 * 2, false, n1, n1, n2, n0, ua, (T)1, false, u);
    if (dim == 3) Product(S[2], (n2 + 1) / 2 * 2, false, n2, n2, 1, n0 * n1, u, (T)1, false, ua);
    {
      const T *out = dim == 3 ? ua : u;

      for (int e = threadIdx.x; e < total; e += blockDim.x) {
        const int to = a.idx[p.start + e];

        if (to != a.none) a.z[to] += (V)out[e];
      }
    }
    __syncthreads();
  }
}

size_t HopsCudaSweepShared(int dim, const int n[3], const int N[3], PetscBool single)
{
  const size_t N2 = dim == 3 ? N[2] : 1, n2 = dim == 3 ? n[2] : 1;

  return ((size_t)N[0] * N[1] * N2 + 2 * (size_t)n[0] * N[1] * N2 + 2 * (size_t)n[0] * n[1] * N2 +
          (dim == 3 ? (size_t)n[0] * n[1] * n2 : 0)) *
         (single ? sizeof(float) : sizeof(double));
}

template <int DIM, int n, class T, class V> static cudaError_t RunCubes(const HopsSweepArgs<V> &a, cudaStream_t stream)
{
  using L          = SweepSizes<DIM, n>;
  const size_t mem = sizeof(T) * L::patch * L::NB;
  cudaError_t  err = mem > 48 * 1024
                       ? cudaFuncSetAttribute(SweepCubes<DIM, n, T, V>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)mem)
                       : cudaSuccess;

  if (err) return err;
  SweepCubes<DIM, n, T, V><<<(a.n + L::NB - 1) / L::NB, dim3(L::threads, L::NB), mem, stream>>>(a);
  return cudaGetLastError();
}

template <class L> static cudaError_t RunTensor(const HopsSweepArgs<double> &a, cudaStream_t stream)
{
  const size_t mem = sizeof(double) * L::patch * L::G;
  cudaError_t  err = cudaFuncSetAttribute(HopsSweepTensor<L>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)mem);

  if (err) return err;
  HopsSweepTensor<L><<<(a.n + L::G - 1) / L::G, L::threads, mem, stream>>>(a);
  return cudaGetLastError();
}

template <class T, class V>
static cudaError_t Run(HopsSweepArgs<V> a, const HopsCudaSweepData *d, const HopsCudaPatchRun *run, int dim, cudaStream_t stream)
{
  if (run->kind == HOPS_CUDA_PATCH_CUBE && run->group) {
/* as measured to be fastest */
#define SWEEP_TENSOR(n, ...) \
  if (run->size == n && a.packed && HopsCudaPatchTensor) return RunTensor<HopsSweepTensorSizes<n, __VA_ARGS__>>(a, stream);
    if constexpr (sizeof(T) == 8) {
      SWEEP_TENSOR(5, 1, 4, 128)
      SWEEP_TENSOR(7, 2, 2, 128)
      SWEEP_TENSOR(9, 6, 1, 80)
      SWEEP_TENSOR(11, 4, 1, 168)
      SWEEP_TENSOR(13, 6, 1, 168)
      SWEEP_TENSOR(15, 8, 1, 128)
    }
#define SWEEP_CUBES(n) \
  if (run->size == n) return dim == 3 ? RunCubes<3, n, T>(a, stream) : RunCubes<2, n, T>(a, stream);
    SWEEP_CUBES(1)
    SWEEP_CUBES(3)
    SWEEP_CUBES(5)
    SWEEP_CUBES(7)
    SWEEP_CUBES(9)
    SWEEP_CUBES(11)
    SWEEP_CUBES(13)
    SWEEP_CUBES(15)
  }
  {
    const bool  shared = !d->work;
    const int   blocks = shared ? a.n : PetscMin(a.n, d->nblocks);
    cudaError_t err =
      shared ? cudaFuncSetAttribute(SweepBricks<T, V>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)d->nwork) : cudaSuccess;

    if (err) return err;
    a.work = d->work;
    SweepBricks<T, V><<<blocks, 128, shared ? d->nwork : 0, stream>>>(a, dim);
    return cudaGetLastError();
  }
}

PetscErrorCode HopsCudaSweepLaunch(HopsCudaPatchSet s, const HopsCudaSweepData *d, const HopsCudaPatchRun *run, PetscBool floats,
                                   const void *b, void *z, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCheck(run->kind != HOPS_CUDA_PATCH_DENSE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A dense patch in a fused sweep");
  PetscCheck(!floats || s->single, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "Vectors in single precision need patches in single precision");
  if (run->group > 1) {
    const HopsCudaPatchRecord *p = s->patches + run->first;
    const HopsCudaSweepRecord *w = d->patches + run->first;
    const HopsCudaPatchList    list =
      {&p->start,      &w->estart, s->idx, d->eidx, sizeof(*p) / sizeof(int), sizeof(*w) / sizeof(int), (int)run->n,
       (int)s->nP - 1, floats,     b,      z};

    PetscCall(HopsCudaPatchSweepList(d->classes[run->group - 2], &list, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (floats) {
    const HopsSweepArgs<float> a = {s->patches + run->first,
                                    d->patches + run->first,
                                    s->idx,
                                    d->eidx,
                                    d->values,
                                    d->packed,
                                    (const float *)b,
                                    (float *)z,
                                    NULL,
                                    d->nwork,
                                    (int)run->n,
                                    (int)s->nP - 1};

    PetscCallCUDA((Run<float, float>(a, d, run, s->dim, stream)));
  } else {
    const HopsSweepArgs<double> a = {s->patches + run->first,
                                     d->patches + run->first,
                                     s->idx,
                                     d->eidx,
                                     d->values,
                                     d->packed,
                                     (const double *)b,
                                     (double *)z,
                                     NULL,
                                     d->nwork,
                                     (int)run->n,
                                     (int)s->nP - 1};

    if (s->single) PetscCallCUDA((Run<float, double>(a, d, run, s->dim, stream)));
    else PetscCallCUDA((Run<double, double>(a, d, run, s->dim, stream)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
