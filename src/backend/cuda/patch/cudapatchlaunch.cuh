/* Launches of the kernels of one order: the choice of blocks, all measured on an H100
   (bench/patchgpubench). */
#pragma once
#include <algorithm>
#include <cmath>
#include "cudapatch.h"
#include "cudapatch1.cuh"
#include "cudapatch2.cuh"
#include "cudapatch3.cuh"
#include "cudapatchlist.cuh"
#include "cudapatchwalk.cuh"

/* 3D, a launch a colour: patches of a block, blocks that should fit on a multiprocessor, which bounds the
   registers, AHEAD, RS and PS */
template <int P, class T> struct HopsPatchChoice {
  static constexpr bool walks = true;
};
#define HOPS_PATCH_CHOICE(P, T, NB, MB, AHEAD, RS, PS) \
  template <> struct HopsPatchChoice<P, T> { \
    using Row                    = HopsPatchRow<P, NB, RS, PS>; \
    static constexpr bool walks  = false; \
    static constexpr int  blocks = MB; \
    static constexpr bool ahead  = AHEAD; \
  }
HOPS_PATCH_CHOICE(2, double, 10, 8, true, 33, 110);
HOPS_PATCH_CHOICE(3, double, 10, 3, true, 65, 338);
HOPS_PATCH_CHOICE(4, double, 5, 3, false, 49, 355);
HOPS_PATCH_CHOICE(2, float, 14, 10, true, 65, 202);
HOPS_PATCH_CHOICE(3, float, 10, 5, true, 65, 338);
HOPS_PATCH_CHOICE(4, float, 5, 4, true, 35, 259);

/* 3D, walks: what a thread holds, blocks, patches of a part of a walk at most, RS and PS */
template <int P, class T> struct HopsPatchWalkChoice;
#define HOPS_PATCH_WALK(P, T, V, MB, MOST, RS, PS) \
  template <> struct HopsPatchWalkChoice<P, T> { \
    using Walk                  = HopsPatchWalk<P, V, RS, PS>; \
    static constexpr int blocks = MB, most = MOST; \
  }
HOPS_PATCH_WALK(5, double, double, 8, 4, 9, 89);
HOPS_PATCH_WALK(6, double, double, 4, 4, 11, 123);
HOPS_PATCH_WALK(7, double, double, 3, 4, 13, 173);
HOPS_PATCH_WALK(8, double, double, 2, 4, 15, 239);
HOPS_PATCH_WALK(5, float, HopsPatchPair, 8, 2, 9, 89);
HOPS_PATCH_WALK(6, float, HopsPatchPair, 5, 2, 11, 123);
HOPS_PATCH_WALK(7, float, HopsPatchPair, 3, 3, 13, 173);
HOPS_PATCH_WALK(8, float, HopsPatchPair, 3, 2, 15, 239);

/* 3D, lists: groups of a block, blocks, RS and PS */
template <int P, class T> struct HopsPatchListChoice;
#define HOPS_PATCH_LIST(P, T, GROUPS, MB, RS, PS) \
  template <> struct HopsPatchListChoice<P, T> { \
    using Row                   = HopsPatchRow<P, 1, RS, PS>; \
    static constexpr int groups = GROUPS, blocks = MB; \
  }
HOPS_PATCH_LIST(2, double, 10, 8, 3, 12);
HOPS_PATCH_LIST(3, double, 5, 5, 5, 25);
HOPS_PATCH_LIST(4, double, 5, 3, 7, 55);
HOPS_PATCH_LIST(5, double, 1, 6, 9, 89);
HOPS_PATCH_LIST(6, double, 1, 4, 11, 123);
HOPS_PATCH_LIST(7, double, 1, 3, 13, 173);
HOPS_PATCH_LIST(8, double, 1, 2, 15, 239);
HOPS_PATCH_LIST(2, float, 7, 18, 3, 9);
HOPS_PATCH_LIST(3, float, 5, 10, 5, 26);
HOPS_PATCH_LIST(4, float, 5, 4, 10, 71);
HOPS_PATCH_LIST(5, float, 3, 4, 9, 81);
HOPS_PATCH_LIST(6, float, 2, 4, 14, 171);
HOPS_PATCH_LIST(7, float, 1, 4, 13, 169);
HOPS_PATCH_LIST(8, float, 1, 2, 15, 239);

template <int P, class T> static HopsPatchTable<P, T> HopsPatchTableCreate(HopsCudaPatch k)
{
  constexpr int        n = 2 * P - 1, O = P - 1;
  HopsPatchTable<P, T> t = {};

  for (int i = 0; i < P; i++)
    for (int m = 0; m < P; m++) {
      t.Se[i * P + m] = (T)k->S[i * n + m];
      t.Ie[m * P + i] = (T)k->Inv[m * n + i];
    }
  for (int i = 0; i < O; i++)
    for (int m = 0; m < O; m++) {
      t.So[i * O + m] = (T)k->S[i * n + P + m];
      t.Io[m * O + i] = (T)k->Inv[(P + m) * n + i];
    }
  for (int m = 0; m < n; m++) {
    t.mu[m] = (T)k->mu[m];
    t.l[m]  = (T)(k->d[0] * k->lambda[m]);
    t.c[m]  = (T)(k->d[0] * k->c[m]);
  }
  for (int i = 0; i < P; i++) t.Ee[i] = (T)(0.5 * (k->E[i] + k->E[n - 1 - i]));
  for (int i = 0; i < O; i++) t.Eo[i] = (T)(0.5 * (k->E[i] - k->E[n - 1 - i]));
  return t;
}

/* The compiler's matrices are those of k, but for rounding: walks of single precision multiply by them */
template <int P> static bool HopsPatchMatricesAgree(HopsCudaPatch k)
{
  static constexpr HopsPatchTable<P, float> g     = HopsPatchGLL<P>();
  const HopsPatchTable<P, float>            t     = HopsPatchTableCreate<P, float>(k);
  const auto                                agree = [](int n, const float *a, const float *b) {
    float largest = 0, difference = 0;

    for (int i = 0; i < n; i++) {
      largest    = std::max(largest, std::abs(b[i]));
      difference = std::max(difference, std::abs(a[i] - b[i]));
    }
    return difference <= 1e-6f * largest; /* some roundings */
  };

  return agree(P * P, t.Se, g.Se) && agree((P - 1) * (P - 1), t.So, g.So) && agree(P * P, t.Ie, g.Ie) &&
         agree((P - 1) * (P - 1), t.Io, g.Io) && agree(2 * P - 1, t.mu, g.mu) && agree(P, t.Ee, g.Ee) && agree(P - 1, t.Eo, g.Eo);
}

template <int DIM, class T>
static cudaError_t HopsPatchRunPoint(HopsCudaPatch k, const HopsPatchBox<T> &a, const int n[], cudaStream_t stream)
{
  HopsPatchStencil<T> st;

  for (int z = 0; z < (DIM == 3 ? 3 : 1); z++)
    for (int y = 0; y < 3; y++)
      for (int x = 0; x < 3; x++) {
        const double *A = k->A + 3, *M = k->M + 3, mz = DIM == 3 ? M[z] : 1.0;

        st.w[(z * 3 + y) * 3 + x] = (T)((k->d[0] * A[x] * M[y] + k->d[1] * M[x] * A[y] + k->m * M[x] * M[y]) * mz +
                                        (DIM == 3 ? k->d[2] * M[x] * M[y] * A[z] : 0.0));
      }
  st.inverse = 1 / st.w[DIM == 3 ? 13 : 4];
  HopsPatchPoint<DIM, T><<<dim3((n[0] + 255) / 256, n[1], n[2]), 256, 0, stream>>>(st, a);
  return cudaGetLastError();
}

/*
  Colours of which one is the other's in z: walks in parts, so that there are enough blocks (1600: three to
  four rounds of what 132 multiprocessors hold, as measured) and their working sets stay in caches. Patches of
  the second colour between parts follow. Patches `inner` of a row and a column of patches are overwritten
  later.
*/
template <int P, class T>
static cudaError_t HopsPatchRunWalk(HopsCudaPatch k, const HopsPatchBox<T> &a, const int n[], bool pair, bool zero,
                                    const int inner[], cudaStream_t stream)
{
  using C                           = HopsPatchWalkChoice<P, T>;
  using L                           = typename C::Walk;
  constexpr int              M      = sizeof(typename L::V) / sizeof(T);
  const auto                 run    = HopsPatchWalk3<L, T, C::blocks>;
  const size_t               shared = L::size * sizeof(typename L::V);
  const dim3                 grid((n[0] + M - 1) / M, n[1], n[2]);
  const HopsPatchTable<P, T> tab = HopsPatchTableCreate<P, T>(k);
  HopsPatchSteps             s   = {a.c[2], 1, k->ncells[2] - 2, true, zero, {inner[0], inner[1], inner[2], inner[3]}};
  cudaError_t                err = cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
  int                        parts;

  if (err) return err;
  if (!pair) {
    run<<<grid, L::threads, shared, stream>>>(tab, a, s);
    return cudaGetLastError();
  }
  s.each  = k->each ? k->each : (int)std::min(std::max((long long)grid.x * n[1] * n[2] / 1600, 1LL), (long long)C::most);
  s.alone = false;
  parts   = (n[2] + s.each - 1) / s.each;
  run<<<dim3(grid.x, n[1], parts), L::threads, shared, stream>>>(tab, a, s);
  if (parts > 1) {
    s.lead += 2 * s.each - 1;
    s.alone = true;
    run<<<dim3(grid.x, n[1], parts - 1), L::threads, shared, stream>>>(tab, a, s);
  }
  return cudaGetLastError();
}

template <int P, class T>
static cudaError_t HopsPatchRun(HopsCudaPatch k, const HopsPatchBox<T> &a, const int n[], bool pair, bool zero, const int inner[],
                                cudaStream_t stream)
{
  if constexpr (P == 1) return k->dim == 3 ? HopsPatchRunPoint<3, T>(k, a, n, stream) : HopsPatchRunPoint<2, T>(k, a, n, stream);
  else if (k->dim == 3) {
    if constexpr (HopsPatchChoice<P, T>::walks) return HopsPatchRunWalk<P, T>(k, a, n, pair, zero, inner, stream);
    else {
      using C             = HopsPatchChoice<P, T>;
      using L             = typename C::Row;
      const auto   run    = HopsPatchModal3<L, T, C::blocks, C::ahead>;
      const size_t shared = L::size * sizeof(T);
      cudaError_t  err    = cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);

      if (err) return err;
      run<<<dim3((n[0] + L::NB - 1) / L::NB, n[1], n[2]), L::threads, shared, stream>>>(HopsPatchTableCreate<P, T>(k), a);
    }
  } else {
    constexpr int NB = 128 / (2 * P - 1);
    using L          = HopsPatchSizes2<P, T, NB>;
    cudaError_t err  = cudaFuncSetAttribute(HopsPatchModal2<P, T, NB>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)L::shared);

    if (err) return err;
    HopsPatchModal2<P, T, NB>
      <<<dim3((n[0] + NB - 1) / NB, n[1]), L::threads, L::shared, stream>>>(HopsPatchTableCreate<P, T>(k), a);
  }
  return cudaGetLastError();
}

template <int P, class T>
static cudaError_t HopsPatchLaunch(HopsCudaPatch k, int color, bool pair, bool zero, const int inner[], const void *b, void *x,
                                   cudaStream_t stream)
{
  HopsPatchBox<T> a = {};
  int             n[3];

  for (int d = 0; d < 3; d++) {
    a.c[d] = d < k->dim ? (color >> (k->dim - 1 - d)) & 1 : 0;
    n[d]   = d < k->dim ? (k->ncells[d] - a.c[d]) / 2 : 1;
  }
  if (!n[0] || !n[1] || !n[2]) return cudaSuccess;
  a.nx   = n[0];
  a.sy   = (int)k->sy;
  a.sz   = k->sz;
  a.b    = (const T *)b;
  a.x    = (T *)x;
  a.Dinv = (const T *)k->Dinv;
  a.cyz  = (const T *)k->cyz;
  return HopsPatchRun<P, T>(k, a, n, pair, zero, inner, stream);
}

template <int P, class T, class V>
static cudaError_t HopsPatchLaunchList(HopsCudaPatch k, const HopsCudaPatchList *l, cudaStream_t stream)
{
  if constexpr (P == 1) return cudaErrorInvalidValue;
  else {
    using C                              = HopsPatchListChoice<P, T>;
    using L                              = typename C::Row;
    const auto                    run    = HopsPatchList3<L, T, V, C::groups, C::blocks>;
    const size_t                  shared = C::groups * L::size * sizeof(T);
    const HopsPatchListArgs<T, V> a =
      {l->start,           l->estart,         l->idx,          l->eidx,  l->stride, l->estride, l->n, l->none,
       (const T *)k->Dinv, (const T *)k->cyz, (const V *)l->b, (V *)l->x};
    cudaError_t err = cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);

    if (err) return err;
    run<<<(l->n + C::groups - 1) / C::groups, C::groups * L::threads, shared, stream>>>(HopsPatchTableCreate<P, T>(k), a);
    return cudaGetLastError();
  }
}

/* x = 0 on the planes between cells across y, of which there are ny, and across z; for walks */
template <int P, class T> __global__ void __launch_bounds__(256) HopsPatchZeroPlanes(int ny, int sy, long long sz, T *x)
{
  const int plane = blockIdx.x / ny, j = blockIdx.x % ny;
  T        *row = x + plane * sz + (long long)j * P * sy;
  const int n   = plane % P == 0 && j < ny - 1 ? P * sy : sy; /* a row, or all up to the next one */

#pragma unroll 4
  for (int i = threadIdx.x; i < n; i += 256) row[i] = 0;
}

template <int P, class T> static cudaError_t HopsPatchZero(HopsCudaPatch k, void *x, cudaStream_t stream)
{
  if constexpr (P == 1) return cudaErrorInvalidValue;
  else if constexpr (!HopsPatchChoice<P, T>::walks) return cudaErrorInvalidValue;
  else {
    const int ny = k->ncells[1] + 1;

    HopsPatchZeroPlanes<P, T>
      <<<(unsigned int)(((long long)k->ncells[2] * P + 1) * ny), 256, 0, stream>>>(ny, (int)k->sy, k->sz, (T *)x);
    return cudaGetLastError();
  }
}

/* Patches of a block that share faces */
template <int P, class T> static constexpr int HopsPatchRowOf()
{
  if constexpr (P == 1) return 1;
  else if constexpr (HopsPatchChoice<P, T>::walks) return 1;
  else return HopsPatchChoice<P, T>::Row::NB;
}

#define HOPS_CUDA_PATCH_DEFINE(P) \
  int HopsCudaPatchRow_##P(PetscBool single) \
  { \
    return single ? HopsPatchRowOf<P, float>() : HopsPatchRowOf<P, double>(); \
  } \
  PetscBool HopsCudaPatchWalks_##P(PetscBool single) \
  { \
    return P > 1 && (single ? HopsPatchChoice<P, float>::walks : HopsPatchChoice<P, double>::walks) ? PETSC_TRUE : PETSC_FALSE; \
  } \
  PetscBool HopsCudaPatchAgrees_##P(HopsCudaPatch k) \
  { \
    if constexpr (P > 1 && HopsPatchChoice<P, float>::walks) return HopsPatchMatricesAgree<P>(k) ? PETSC_TRUE : PETSC_FALSE; \
    return PETSC_TRUE; \
  } \
  PetscErrorCode HopsCudaPatchZero_##P(HopsCudaPatch k, void *x, cudaStream_t stream) \
  { \
    PetscFunctionBegin; \
    if (k->single) PetscCallCUDA((HopsPatchZero<P, float>(k, x, stream))); \
    else PetscCallCUDA((HopsPatchZero<P, double>(k, x, stream))); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  } \
  PetscErrorCode HopsCudaPatchLaunchList_##P(HopsCudaPatch k, const HopsCudaPatchList *l, cudaStream_t stream) \
  { \
    PetscFunctionBegin; \
    if (!k->single) PetscCallCUDA((HopsPatchLaunchList<P, double, double>(k, l, stream))); \
    else if (l->single) PetscCallCUDA((HopsPatchLaunchList<P, float, float>(k, l, stream))); \
    else PetscCallCUDA((HopsPatchLaunchList<P, float, double>(k, l, stream))); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  } \
  PetscErrorCode HopsCudaPatchLaunch_##P(HopsCudaPatch k, int color, PetscBool pair, PetscBool zero, const int inner[], \
                                         const void *b, void *x, cudaStream_t stream) \
  { \
    PetscFunctionBegin; \
    if (k->single) PetscCallCUDA(HopsPatchLaunch<P, float>(k, color, pair, zero, inner, b, x, stream)); \
    else PetscCallCUDA(HopsPatchLaunch<P, double>(k, color, pair, zero, inner, b, x, stream)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
