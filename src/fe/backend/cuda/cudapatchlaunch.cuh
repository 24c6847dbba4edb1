/* Launches of the kernels of one order: the choice of blocks, all measured on an H100 (bench/patchgpubench). */
#pragma once
#include "cudapatch.h"
#include "cudapatch1.cuh"
#include "cudapatch2.cuh"
#include "cudapatch3.cuh"
#include "cudapatchlist.cuh"

/* 3D, boxes: patches of a block, blocks that should fit on a multiprocessor, which bounds the registers, AHEAD, LEAN, RCP, WHOLE, RS and PS; lists: groups of a block, blocks, RS and PS */
template <int P, class T>
struct HopsPatchChoice;
#define HOPS_PATCH_CHOICE(P, T, NB, MB, AHEAD, LEAN, RCP, WHOLE, RS, PS, GROUPS, MBL, RSL, PSL) \
  template <> \
  struct HopsPatchChoice<P, T> { \
    using Row                    = HopsPatchRow<P, NB, RS, PS, LEAN, RCP, WHOLE>; \
    using List                   = HopsPatchRow<P, 1, RSL, PSL>; \
    static constexpr int  blocks = MB, groups = GROUPS, listblocks = MBL; \
    static constexpr bool ahead = AHEAD; \
  }
HOPS_PATCH_CHOICE(2, double, 10, 8, true, false, false, false, 33, 110, 10, 8, 3, 12);
HOPS_PATCH_CHOICE(3, double, 10, 3, true, false, false, false, 65, 338, 5, 5, 5, 25);
HOPS_PATCH_CHOICE(4, double, 5, 3, false, false, false, false, 49, 355, 5, 3, 7, 55);
HOPS_PATCH_CHOICE(5, double, 3, 3, false, true, false, false, 33, 299, 1, 6, 9, 89);
HOPS_PATCH_CHOICE(6, double, 3, 2, false, false, false, true, 33, 369, 1, 4, 11, 123);
HOPS_PATCH_CHOICE(7, double, 1, 3, false, true, false, false, 13, 173, 1, 3, 13, 173);
HOPS_PATCH_CHOICE(8, double, 1, 2, true, true, false, false, 15, 239, 1, 2, 15, 239);
HOPS_PATCH_CHOICE(2, float, 14, 10, true, false, false, false, 65, 202, 7, 18, 3, 9);
HOPS_PATCH_CHOICE(3, float, 10, 5, true, false, false, false, 65, 338, 5, 10, 5, 26);
HOPS_PATCH_CHOICE(4, float, 5, 4, true, false, false, false, 35, 259, 5, 4, 10, 71);
HOPS_PATCH_CHOICE(5, float, 3, 4, true, false, false, false, 27, 251, 3, 4, 9, 81);
HOPS_PATCH_CHOICE(6, float, 3, 3, true, false, true, false, 33, 385, 2, 4, 14, 171);
HOPS_PATCH_CHOICE(7, float, 3, 2, true, true, true, false, 39, 519, 1, 4, 13, 169);
HOPS_PATCH_CHOICE(8, float, 1, 2, true, false, false, false, 15, 239, 1, 2, 15, 239);

template <int P, class T>
static HopsPatchTable<P, T> HopsPatchTableCreate(HopsCudaPatch k)
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

template <int DIM, class T>
static cudaError_t HopsPatchRunPoint(HopsCudaPatch k, const HopsPatchBox<T> &a, const int n[], cudaStream_t stream)
{
  HopsPatchStencil<T> st;

  for (int z = 0; z < (DIM == 3 ? 3 : 1); z++)
    for (int y = 0; y < 3; y++)
      for (int x = 0; x < 3; x++) {
        const double *A = k->A + 3, *M = k->M + 3, mz = DIM == 3 ? M[z] : 1.0;

        st.w[(z * 3 + y) * 3 + x] = (T)((k->d[0] * A[x] * M[y] + k->d[1] * M[x] * A[y] + k->m * M[x] * M[y]) * mz + (DIM == 3 ? k->d[2] * M[x] * M[y] * A[z] : 0.0));
      }
  st.inverse = 1 / st.w[DIM == 3 ? 13 : 4];
  HopsPatchPoint<DIM, T><<<dim3((n[0] + 255) / 256, n[1], n[2]), 256, 0, stream>>>(st, a);
  return cudaGetLastError();
}

template <int P, class T>
static cudaError_t HopsPatchRun(HopsCudaPatch k, const HopsPatchBox<T> &a, const int n[], cudaStream_t stream)
{
  if constexpr (P == 1) return k->dim == 3 ? HopsPatchRunPoint<3, T>(k, a, n, stream) : HopsPatchRunPoint<2, T>(k, a, n, stream);
  else if (k->dim == 3) {
    using C             = HopsPatchChoice<P, T>;
    using L             = typename C::Row;
    const auto   run    = HopsPatchModal3<L, T, C::blocks, C::ahead>;
    const size_t shared = L::size * sizeof(T);
    cudaError_t  err    = cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);

    if (err) return err;
    run<<<dim3((n[0] + L::NB - 1) / L::NB, n[1], n[2]), L::threads, shared, stream>>>(HopsPatchTableCreate<P, T>(k), a);
  } else {
    constexpr int NB = 128 / (2 * P - 1);
    using L          = HopsPatchSizes2<P, T, NB>;
    cudaError_t err  = cudaFuncSetAttribute(HopsPatchModal2<P, T, NB>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)L::shared);

    if (err) return err;
    HopsPatchModal2<P, T, NB><<<dim3((n[0] + NB - 1) / NB, n[1]), L::threads, L::shared, stream>>>(HopsPatchTableCreate<P, T>(k), a);
  }
  return cudaGetLastError();
}

template <int P, class T>
static cudaError_t HopsPatchLaunch(HopsCudaPatch k, int color, const void *b, void *x, cudaStream_t stream)
{
  HopsPatchBox<T> a = {};
  int             n[3];

  for (int d = 0; d < 3; d++) {
    a.c[d] = d < k->dim ? (color >> d) & 1 : 0;
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
  return HopsPatchRun<P, T>(k, a, n, stream);
}

template <int P, class T, class V>
static cudaError_t HopsPatchLaunchList(HopsCudaPatch k, const HopsCudaPatchList *l, cudaStream_t stream)
{
  if constexpr (P == 1) return cudaErrorInvalidValue;
  else {
    using C                              = HopsPatchChoice<P, T>;
    using L                              = typename C::List;
    const auto                    run    = HopsPatchList3<L, T, V, C::groups, C::listblocks>;
    const size_t                  shared = C::groups * L::size * sizeof(T);
    const HopsPatchListArgs<T, V> a      = {l->start, l->estart, l->idx, l->eidx, l->stride, l->estride, l->n, l->none, (const T *)k->Dinv, (const T *)k->cyz, (const V *)l->b, (V *)l->x};
    cudaError_t                   err    = cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);

    if (err) return err;
    run<<<(l->n + C::groups - 1) / C::groups, C::groups * L::threads, shared, stream>>>(HopsPatchTableCreate<P, T>(k), a);
    return cudaGetLastError();
  }
}

/* Patches of a block that share faces */
template <int P>
static constexpr int HopsPatchRowOf(bool single)
{
  if constexpr (P == 1) return 1;
  else return single ? HopsPatchChoice<P, float>::Row::NB : HopsPatchChoice<P, double>::Row::NB;
}

#define HOPS_CUDA_PATCH_DEFINE(P) \
  int HopsCudaPatchRow_##P(PetscBool single) \
  { \
    return HopsPatchRowOf<P>(single); \
  } \
  PetscErrorCode HopsCudaPatchLaunchList_##P(HopsCudaPatch k, const HopsCudaPatchList *l, cudaStream_t stream) \
  { \
    PetscFunctionBegin; \
    if (!k->single) PetscCallCUDA((HopsPatchLaunchList<P, double, double>(k, l, stream))); \
    else if (l->single) PetscCallCUDA((HopsPatchLaunchList<P, float, float>(k, l, stream))); \
    else PetscCallCUDA((HopsPatchLaunchList<P, float, double>(k, l, stream))); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  } \
  PetscErrorCode HopsCudaPatchLaunch_##P(HopsCudaPatch k, int color, const void *b, void *x, cudaStream_t stream) \
  { \
    PetscFunctionBegin; \
    if (k->single) PetscCallCUDA(HopsPatchLaunch<P, float>(k, color, b, x, stream)); \
    else PetscCallCUDA(HopsPatchLaunch<P, double>(k, color, b, x, stream)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
