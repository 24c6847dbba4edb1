/*
  Local solves of sets of patches. Patches of equal odd sizes (the stars of 2^d cells) have kernels for the
  size: a thread multiplies a column, which it holds in registers, by the patch's own matrices, which lie in
  shared memory; or tensor cores do so. Other sizes run a plain kernel.
*/
#include "cudapatchset.h"
#include <backend/cuda/operator/cudah1.cuh>
#include "cudapatchtensor.cuh"

/* V: entries of the vectors */
template <class V> struct PatchData {
  const HopsCudaPatchRecord *__restrict__ patches;
  const int *__restrict__ idx, *__restrict__ level;
  const unsigned char *__restrict__ dist;
  const void *__restrict__ values;
  const double *__restrict__ inv, *__restrict__ packed;
  const V *__restrict__ r;
  V   *z;
  int  n, none, mode; /* none: the entry that stands for nothing */
  bool atomic;
};

/* Entry e of the patches, which is unknown i */
template <class T, class V> __device__ __forceinline__ T Load(const PatchData<V> &a, int e, int i)
{
  return i == a.none || (a.mode == HOPS_CUDA_PATCH_RESTRICT_IN && a.level[i] != a.dist[e]) ? (T)0 : (T)a.r[i];
}

template <class T, class V> __device__ __forceinline__ void Add(const PatchData<V> &a, int e, int i, T v)
{
  if (i == a.none || (a.mode == HOPS_CUDA_PATCH_RESTRICT_OUT && a.level[i] != a.dist[e])) return;
  if (a.atomic) atomicAdd(a.z + i, (V)v);
  else a.z[i] += (V)v;
}

template <class T, class V> __device__ __forceinline__ T Load(const PatchData<V> &a, int e)
{
  return Load<T>(a, e, a.idx[e]);
}

template <class T, class V> __device__ __forceinline__ void Add(const PatchData<V> &a, int e, T v)
{
  Add(a, e, a.idx[e], v);
}

/* v <- S^T v or S v; rows of S have R entries */
template <int n, int R, class T> __device__ __forceinline__ void Transform(const T *S, bool transpose, T v[n])
{
  T w[R];

  if (transpose) {
#pragma unroll
    for (int m = 0; m < R; m++) w[m] = 0;
#pragma unroll
    for (int i = 0; i < n; i++)
#pragma unroll
      for (int m = 0; m < R; m++) w[m] += S[i * R + m] * v[i];
  } else {
#pragma unroll
    for (int i = 0; i < n; i++) {
      w[i] = 0;
#pragma unroll
      for (int m = 0; m < n; m++) w[i] += S[i * R + m] * v[m];
    }
  }
#pragma unroll
  for (int m = 0; m < n; m++) v[m] = w[m];
}

template <int DIM, int n> struct CubeSizes {
  static constexpr int R = (n + 1) / 2 * 2, F = n * R + n, FS = (F + 3) / 4 * 4; /* a factor */
  static constexpr int columns = DIM == 3 ? n * n : n, entries = columns * n;
  static constexpr int NB    = columns >= 96 ? 1 : 128 / columns; /* patches of a block */
  static constexpr int patch = DIM * FS + (entries + 3) / 4 * 4;
};

/* Blocks of a multiprocessor, which bound the registers */
template <int DIM, int n, class T> struct CubeBounds {
  static constexpr int threads = CubeSizes<DIM, n>::columns * CubeSizes<DIM, n>::NB, warps = (threads + 31) / 32;
  static constexpr int registers =
    sizeof(T) == 8 ? (n <= 3 ? 64 : (n <= 5 ? 80 : (n <= 7 ? 96 : (n <= 9 ? 112 : 128)))) : (n <= 5 ? 64 : (n <= 9 ? 80 : 96));
  static constexpr int blocks = 65536 / (registers * 32 * warps) > 0 ? 65536 / (registers * 32 * warps) : 1;
};

template <int DIM, int n, class T, class V>
__global__ void __launch_bounds__(CubeBounds<DIM, n, T>::threads, CubeBounds<DIM, n, T>::blocks) SolveCubes(const PatchData<V> a)
{
  using L             = CubeSizes<DIM, n>;
  constexpr int     R = L::R, C = L::columns, n2 = n * n;
  extern __shared__ __align__(16) unsigned char raw[];
  const int                                     t = threadIdx.x, X = t % n, Y = t / n, q = blockIdx.x * L::NB + threadIdx.y;
  const bool                                    in = q < a.n;
  const HopsCudaPatchRecord                    &p  = a.patches[in ? q : a.n - 1];
  T                                            *S = (T *)raw + threadIdx.y * L::patch, *cube = S + DIM * L::FS, v[n];
  T                                             lambda = (T)p.scale[3];

#pragma unroll
  for (int d = 0; d < DIM; d++)
    for (int i = t; i < L::F; i += C) S[d * L::FS + i] = ((const T *)a.values)[p.f[d] + i];
      /* the last direction: thread (X,Y) or X */
#pragma unroll
  for (int k = 0; k < n; k++) v[k] = Load<T>(a, p.start + t + C * k);
  __syncthreads();
  Transform<n, R, T>(S + (DIM - 1) * L::FS, true, v);
#pragma unroll
  for (int k = 0; k < n; k++) cube[t + C * k] = v[k];
  __syncthreads();
  if (DIM == 3) { /* y: thread (X,k) */
#pragma unroll
    for (int j = 0; j < n; j++) v[j] = cube[X + n * j + n2 * Y];
    Transform<n, R, T>(S + L::FS, true, v);
#pragma unroll
    for (int j = 0; j < n; j++) cube[X + n * j + n2 * Y] = v[j];
    __syncthreads();
  }
  { /* x, and back: thread (j,k) or j */
    T *row = cube + n * t;

    if (DIM == 3) lambda += (T)p.scale[1] * S[L::FS + n * R + X] + (T)p.scale[2] * S[(DIM - 1) * L::FS + n * R + Y];
    else lambda += (T)p.scale[1] * S[L::FS + n * R + X];
#pragma unroll
    for (int i = 0; i < n; i++) v[i] = row[i];
    Transform<n, R, T>(S, true, v);
#pragma unroll
    for (int i = 0; i < n; i++) v[i] *= (T)p.scale[4] / (lambda + (T)p.scale[0] * S[n * R + i]);
    asm volatile("" ::: "memory"); /* the matrix is read again: kept in registers, it would spill */
    Transform<n, R, T>(S, false, v);
#pragma unroll
    for (int i = 0; i < n; i++) row[i] = v[i];
  }
  __syncthreads();
  if (DIM == 3) {
#pragma unroll
    for (int j = 0; j < n; j++) v[j] = cube[X + n * j + n2 * Y];
    Transform<n, R, T>(S + L::FS, false, v);
#pragma unroll
    for (int j = 0; j < n; j++) cube[X + n * j + n2 * Y] = v[j];
    __syncthreads();
  }
#pragma unroll
  for (int k = 0; k < n; k++) v[k] = cube[t + C * k];
  Transform<n, R, T>(S + (DIM - 1) * L::FS, false, v);
  if (in)
#pragma unroll
    for (int k = 0; k < n; k++) Add(a, p.start + t + C * k, v[k]);
}

/*
  Cubes in 3D on tensor cores, in double precision. W warps work on a patch, of whose n^2 lines in a direction
  each takes every W-th 16; a block has G patches. Entry (x,y,z) lies at x + RS y + PS z
  (cudapatchtensor.cuh).
*/
template <int n_, int W_, int G_, int registers> struct TensorSizes {
  static constexpr int n = n_, W = W_, G = G_;
  static constexpr int lines = n * n, tiles = (lines + 15) / 16;
  static constexpr int own = (tiles + W - 1) / W, threads = 32 * W * G;
  static constexpr int RS = n <= 11 ? 12 : 20, PS = RS * n, cube = PS * n;
  static constexpr int blocks = 65536 / (registers * threads); /* of a multiprocessor: bounds the registers */
};

template <class L, class V> __global__ void __launch_bounds__(L::threads, L::blocks) SolveTensor(const PatchData<V> a)
{
  constexpr int n     = L::n;
  using P             = HopsTensorProduct<n, n>;
  constexpr int     R = (n + 1) / 2 * 2, RS = L::RS, PS = L::PS, steps = P::steps, tiles = P::tiles, own = L::own;
  extern __shared__ __align__(16) unsigned char raw[];
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, slot = threadIdx.x / (32 * L::W), w = threadIdx.x / 32 % L::W,
            q                     = blockIdx.x * L::G + slot;
  const bool                 in   = q < a.n;
  const HopsCudaPatchRecord &p    = a.patches[in ? q : a.n - 1];
  double *const              cube = (double *)raw + slot * L::cube;
  P                          B, C;
  /* the last direction's unknowns; places of lines: u + n v */
  int    id[own][steps][2], u[own][2], v[own][2];
  bool   ok[own][2];
  double x[own][steps][2], y[tiles][4], lambda[own][2];

  B.Get(a.packed + p.t[2]);
#pragma unroll
  for (int j = 0; j < own; j++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int line = 16 * (w + L::W * j) + g + 8 * h, l = min(line, L::lines - 1);

      ok[j][h] = line < L::lines;
      u[j][h]  = l % n;
      v[j][h]  = l / n;
#pragma unroll
      for (int s = 0; s < steps; s++)
        id[j][s][h] = in && ok[j][h] && 4 * s + t < n ? a.idx[p.start + line + L::lines * (4 * s + t)] : a.none;
    }
#pragma unroll
  for (int j = 0; j < own; j++)
#pragma unroll
    for (int s = 0; s < steps; s++)
#pragma unroll
      for (int h = 0; h < 2; h++)
        x[j][s][h] = Load<double>(a, p.start + 16 * (w + L::W * j) + g + 8 * h + L::lines * (4 * s + t), id[j][s][h]);
  C.Get(a.packed + p.t[1]);
  auto sync = [] {
    if (L::W == 1) __syncwarp();
    else __syncthreads();
  };
  auto at   = [&](int j, int h, int su, int sv) { return cube + u[j][h] * su + v[j][h] * sv; };
  auto none = [&](int j) { return L::W * j + L::W > L::tiles && w + L::W * j >= L::tiles; }; /* of the last round */
  /* all lines, entries as far apart as `stride`; all loads come before the first product */
  auto get = [&](int su, int sv, int stride) {
#pragma unroll
    for (int j = 0; j < own; j++) {
      if (!none(j)) HopsTensorGet<n>(at(j, 0, su, sv), at(j, 1, su, sv), stride, t, x[j]);
    }
  };
  auto product = [&](const P &b, int su, int sv, int stride) {
#pragma unroll
    for (int j = 0; j < own; j++) {
      if (none(j)) break;
      b.Apply(x[j], y);
      HopsTensorPut<n>(y, ok[j][0], ok[j][1], at(j, 0, su, sv), at(j, 1, su, sv), stride, t);
    }
    sync();
  };

  product(B, 1, RS, PS); /* z */
  B.Get(a.packed + p.t[0]);
  get(1, PS, RS);
  product(C, 1, PS, RS); /* y */
  {                      /* x, and back */
    const double *value = (const double *)a.values, *lx = value + p.f[0] + n * R, *ly = value + p.f[1] + n * R,
                 *lz = value + p.f[2] + n * R;
    double mx[steps];

    C.Get(a.packed + p.t[0] + P::size);
#pragma unroll
    for (int s = 0; s < steps; s++) mx[s] = p.scale[0] * lx[min(4 * s + t, n - 1)];
#pragma unroll
    for (int j = 0; j < own; j++)
#pragma unroll
      for (int h = 0; h < 2; h++) lambda[j][h] = p.scale[3] + p.scale[1] * ly[u[j][h]] + p.scale[2] * lz[v[j][h]];
    get(RS, PS, 1);
#pragma unroll
    for (int j = 0; j < own; j++) {
      if (none(j)) break;
      B.Apply(x[j], y);
      HopsTensorTurn<n, n>(y, x[j]);
#pragma unroll
      for (int s = 0; s < steps; s++)
#pragma unroll
        for (int h = 0; h < 2; h++) x[j][s][h] *= p.scale[4] * HopsInverseOf<double>(lambda[j][h] + mx[s]);
    }
  }
  B.Get(a.packed + p.t[1] + P::size);
  product(C, RS, PS, 1);
  C.Get(a.packed + p.t[2] + P::size);
  get(1, PS, RS);
  product(B, 1, PS, RS);
  get(1, RS, PS);
#pragma unroll
  for (int j = 0; j < own; j++) {
    if (none(j)) break;
    C.Apply(x[j], y);
    HopsTensorTurn<n, n>(y, x[j]);
#pragma unroll
    for (int s = 0; s < steps; s++)
#pragma unroll
      for (int h = 0; h < 2; h++)
        Add(a, p.start + 16 * (w + L::W * j) + g + 8 * h + L::lines * (4 * s + t), id[j][s][h], x[j][s][h]);
  }
}

/* One product of a brick: out = S^T in or S in along a direction with n entries at distance `stride` */
template <class T>
__device__ void Multiply(const T *__restrict__ S, bool transpose, int n, int stride, int total, const T *in, T *out)
{
  const int R = (n + 1) / 2 * 2;

  for (int e = threadIdx.x; e < total; e += blockDim.x) {
    const int i    = e / stride % n;
    const T  *line = in + (e - i * stride);
    T         s    = 0;

    for (int k = 0; k < n; k++) s += S[transpose ? k * R + i : i * R + k] * line[k * stride];
    out[e] = s;
  }
  __syncthreads();
}

/* Any sizes: a block works on a patch, which lies in shared memory twice */
template <class T, class V> __global__ void __launch_bounds__(128) SolveBricks(const PatchData<V> a, int entries, int dim)
{
  extern __shared__ __align__(16) unsigned char raw[];
  const HopsCudaPatchRecord                    &p  = a.patches[blockIdx.x];
  const int                                     n0 = p.size[0], n1 = p.size[1], n2 = dim == 3 ? p.size[2] : 1, total = n0 * n1 * n2;
  const T                                      *S[3];
  T                                            *u = (T *)raw, *w = u + entries, *swap;

  for (int d = 0; d < 3; d++) S[d] = (const T *)a.values + p.f[d];
  for (int e = threadIdx.x; e < total; e += blockDim.x) u[e] = Load<T>(a, p.start + e);
  __syncthreads();
  for (int d = 0, stride = 1; d < dim; stride *= p.size[d++], swap = u, u = w, w = swap)
    Multiply(S[d], true, p.size[d], stride, total, u, w);
  for (int e = threadIdx.x; e < total; e += blockDim.x) {
    const int i[3]   = {e % n0, e / n0 % n1, e / (n0 * n1)};
    T         lambda = (T)p.scale[3];

    for (int d = 0; d < dim; d++) lambda += (T)p.scale[d] * S[d][p.size[d] * ((p.size[d] + 1) / 2 * 2) + i[d]];
    u[e] *= (T)p.scale[4] / lambda;
  }
  __syncthreads();
  for (int d = 0, stride = 1; d < dim; stride *= p.size[d++], swap = u, u = w, w = swap)
    Multiply(S[d], false, p.size[d], stride, total, u, w);
  for (int e = threadIdx.x; e < total; e += blockDim.x) Add(a, p.start + e, u[e]);
}

/* Dense inverses, in double precision: a warp takes a row */
template <class V> __global__ void __launch_bounds__(128) SolveDense(const PatchData<V> a, int dim)
{
  extern __shared__ __align__(16) unsigned char raw[];
  const HopsCudaPatchRecord                    &p   = a.patches[blockIdx.x];
  const int                                     n   = p.size[0] * p.size[1] * (dim == 3 ? p.size[2] : 1);
  const double                                 *inv = a.inv + p.dense;
  double                                       *x   = (double *)raw;

  for (int e = threadIdx.x; e < n; e += blockDim.x) x[e] = Load<double>(a, p.start + e);
  __syncthreads();
  for (int i = threadIdx.x / 32; i < n; i += 4) {
    double s = 0;

    for (int j = threadIdx.x % 32; j < n; j += 32) s += inv[(size_t)i * n + j] * x[j];
    for (int o = 16; o; o /= 2) s += __shfl_down_sync(0xffffffffu, s, o);
    if (threadIdx.x % 32 == 0) Add(a, p.start + i, s);
  }
}

/* Condensed patches, in double precision: a block works on a patch, whose nodes lie in shared memory twice,
   and whose skeleton once */
template <class V>
__global__ void __launch_bounds__(256)
  SolveCondensed(const PatchData<V> a, const HopsPatchModes modes, const HopsPatchCondensed *cond, const double *schur, int entries)
{
  extern __shared__ __align__(16) unsigned char raw[];
  const HopsCudaPatchRecord                    &p = a.patches[blockIdx.x];
  const HopsPatchCondensed                     &c = cond[p.dense];
  const int                                     n = p.size[0] * p.size[1] * (modes.dim == 3 ? p.size[2] : 1);
  double                                       *x = (double *)raw;

  for (int e = threadIdx.x; e < n; e += blockDim.x) x[e] = Load<double>(a, p.start + e);
  __syncthreads();
  HopsPatchCondensedSolve(&modes, &c, schur + c.offset, x, x + entries, x + 2 * entries, threadIdx.x, blockDim.x);
  for (int e = threadIdx.x; e < n; e += blockDim.x) Add(a, p.start + e, p.scale[4] * x[e]);
}

template <int DIM, int n, class T, class V> static cudaError_t RunCubes(const PatchData<V> &a, cudaStream_t stream)
{
  using L          = CubeSizes<DIM, n>;
  const size_t mem = sizeof(T) * L::patch * L::NB;
  cudaError_t  err = cudaFuncSetAttribute(SolveCubes<DIM, n, T, V>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)mem);

  if (err) return err;
  SolveCubes<DIM, n, T, V><<<(a.n + L::NB - 1) / L::NB, dim3(L::columns, L::NB), mem, stream>>>(a);
  return cudaGetLastError();
}

template <class L, class V> static cudaError_t RunTensor(const PatchData<V> &a, cudaStream_t stream)
{
  const size_t mem = sizeof(double) * L::cube * L::G;
  cudaError_t  err = cudaFuncSetAttribute(SolveTensor<L, V>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)mem);

  if (err) return err;
  SolveTensor<L, V><<<(a.n + L::G - 1) / L::G, L::threads, mem, stream>>>(a);
  return cudaGetLastError();
}

template <class V>
static cudaError_t RunCondensed(const PatchData<V> &a, const HopsCudaPatchRun *run, HopsCudaPatchSet s, cudaStream_t stream)
{
  const size_t mem = HOPS_CUDA_CONDENSED_SHARED(run->entries, s->nskeleton);
  cudaError_t  err = cudaFuncSetAttribute(SolveCondensed<V>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)mem);

  if (err) return err;
  SolveCondensed<V><<<a.n, 256, mem, stream>>>(a, s->modes, s->cond, s->schur, run->entries);
  return cudaGetLastError();
}

template <class T, class V>
static cudaError_t Run(const PatchData<V> &a, const HopsCudaPatchRun *run, HopsCudaPatchSet s, cudaStream_t stream)
{
  const int   dim = s->dim;
  cudaError_t err;

  if (run->kind == HOPS_CUDA_PATCH_CONDENSED) return RunCondensed(a, run, s, stream);

  if (run->kind == HOPS_CUDA_PATCH_DENSE) {
    const size_t mem = HOPS_CUDA_SHARED(run->entries * sizeof(double));

    err = cudaFuncSetAttribute(SolveDense<V>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)mem);
    if (err) return err;
    SolveDense<V><<<a.n, 128, mem, stream>>>(a, dim);
    return cudaGetLastError();
  }
  if (run->kind == HOPS_CUDA_PATCH_CUBE) {
    /* as measured to be fastest */
#define SOLVE_TENSOR(n, ...) \
  if (run->size == n && a.packed && HopsCudaPatchTensor) return RunTensor<TensorSizes<n, __VA_ARGS__>>(a, stream);
    if constexpr (sizeof(T) == 8) {
      SOLVE_TENSOR(5, 1, 4, 80)
      SOLVE_TENSOR(7, 1, 4, 128)
      SOLVE_TENSOR(9, 2, 1, 168)
      SOLVE_TENSOR(11, 4, 1, 128)
      SOLVE_TENSOR(13, 4, 1, 168)
      SOLVE_TENSOR(15, 8, 1, 128)
    }
#define SOLVE_CUBES(n) \
  if (run->size == n) return dim == 3 ? RunCubes<3, n, T, V>(a, stream) : RunCubes<2, n, T, V>(a, stream);
    SOLVE_CUBES(1)
    SOLVE_CUBES(3)
    SOLVE_CUBES(5)
    SOLVE_CUBES(7)
    SOLVE_CUBES(9)
    SOLVE_CUBES(11)
    SOLVE_CUBES(13)
    SOLVE_CUBES(15)
  }
  {
    const size_t mem = HOPS_CUDA_SHARED(2 * sizeof(T) * run->entries);

    err = cudaFuncSetAttribute(SolveBricks<T, V>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)mem);
    if (err) return err;
    SolveBricks<T, V><<<a.n, 128, mem, stream>>>(a, run->entries, dim);
    return cudaGetLastError();
  }
}

PetscErrorCode HopsCudaPatchSetLaunch(HopsCudaPatchSet s, const HopsCudaPatchRun *run, PetscBool atomic, HopsCudaPatchMode mode,
                                      const double r[], double z[], cudaStream_t stream)
{
  const PatchData<double> a =
    {s->patches + run->first, s->idx, s->level, s->dist, s->values, s->inv, s->packed, r, z, (int)run->n, (int)s->nP - 1, mode,
     atomic == PETSC_TRUE};

  PetscFunctionBegin;
  if (s->single) PetscCallCUDA((Run<float, double>(a, run, s, stream)));
  else PetscCallCUDA((Run<double, double>(a, run, s, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsCudaPatchSetLaunchSingle(HopsCudaPatchSet s, const HopsCudaPatchRun *run, PetscBool atomic,
                                            HopsCudaPatchMode mode, const float r[], float z[], cudaStream_t stream)
{
  const PatchData<float> a =
    {s->patches + run->first, s->idx, s->level, s->dist, s->values, s->inv, s->packed, r, z, (int)run->n, (int)s->nP - 1, mode,
     atomic == PETSC_TRUE};

  PetscFunctionBegin;
  PetscCheck(s->single, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "Vectors in single precision need patches in single precision");
  PetscCallCUDA((Run<float, float>(a, run, s, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
