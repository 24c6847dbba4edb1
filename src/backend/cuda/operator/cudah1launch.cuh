/* Launches of the fused operator for Q points per direction and up to Q nodes. */
#pragma once
#include "cudaargs.h"
#include "cudah1.cuh"
#include "cudah1first.cuh"

#if defined(HOPS_CUDA_SINGLE)
using namespace HopsCudaSingle;
#endif

/* Halves of the matrices; nodes beyond the basis have zero functions */
template <int P, int Q> static void HopsCudaFillTables(const HopsCudaArgs *k, HopsCudaTables<P, Q> *tab)
{
  const int n = k->P, shift = (P - n) / 2;

  for (int q = 0; q < (Q + 1) / 2; q++) {
    real b[P] = {0};

    for (int i = 0; i < n; i++) b[i + shift] = k->hostB[q * n + i];
    for (int i = 0; i < (P + 1) / 2; i++) tab->Be[q * ((P + 1) / 2) + i] = 2 * i == P - 1 ? b[i] : (b[i] + b[P - 1 - i]) / 2;
    for (int i = 0; i < P / 2 && q < Q / 2; i++) tab->Bo[q * (P / 2) + i] = (b[i] - b[P - 1 - i]) / 2;
  }
  for (int q = 0; q < (Q + 1) / 2; q++) {
    const double *c = k->hostC + q * Q;

    for (int i = 0; i < (Q + 1) / 2 && q < Q / 2; i++)
      tab->Ce[q * ((Q + 1) / 2) + i] = 2 * i == Q - 1 ? c[i] : (c[i] + c[Q - 1 - i]) / 2;
    for (int i = 0; i < Q / 2; i++) tab->Co[q * (Q / 2) + i] = (c[i] - c[Q - 1 - i]) / 2;
  }
  for (int q = 0; q < Q; q++) {
    tab->w[q] = k->hostw[q];
    tab->z[q] = k->hostz[q];
  }
}

template <typename Kernel, int P, int Q>
static PetscErrorCode HopsCudaRun(Kernel kernel, const HopsCudaTables<P, Q> &tab, int threads, int cells, size_t shared,
                                  const HopsCudaCells &a, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (shared > 48 * 1024) PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  kernel<<<(a.n + cells - 1) / cells, dim3(threads, cells), shared, stream>>>(tab, a);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Order 1 in 3D */
template <int Q, int GEOM, int TERMS>
static PetscErrorCode HopsCudaRunFirst(const HopsCudaArgs *k, const HopsCudaTables<2, Q> &tab, const HopsCudaCells &a)
{
  PetscFunctionBegin;
  if constexpr (GEOM == HOPS_CUDA_STORED) {
    constexpr int N = 2, T = 256;

    HopsCudaApplyNodes1<TERMS, N, T><<<(unsigned int)(((size_t)a.n * 8 + N * T - 1) / (N * T)), T, 0, k->stream>>>(tab, a);
  } else {
    typedef HopsCudaLaunchCells1<Q, GEOM> Launch;

    HopsCudaApplyCells1<Q, GEOM, TERMS, Launch::threads, Launch::blocks, Launch::unroll>
      <<<(a.n + Launch::threads - 1) / Launch::threads, Launch::threads, 0, k->stream>>>(tab, a);
  }
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int P, int Q, int GEOM, int TERMS>
static PetscErrorCode HopsCudaRun3(const HopsCudaArgs *k, const HopsCudaTables<P, Q> &tab, const HopsCudaCells &a)
{
  PetscFunctionBegin;
  if constexpr (P == 2 && TERMS != HOPS_CUDA_ANY && (Q == 2 || GEOM != HOPS_CUDA_STORED))
    PetscCall((HopsCudaRunFirst<Q, GEOM, TERMS>(k, tab, a)));
  else {
    constexpr int cells = HopsCudaLaunch3<Q, GEOM, TERMS>::cells, ng = GEOM == HOPS_CUDA_STORED ? 0 : HopsCudaGeomSize(GEOM, 3);

    PetscCall(HopsCudaRun(HopsCudaApply3<P, Q, GEOM, TERMS>, tab, Q * Q, cells,
                          cells * ((size_t)(k->mass ? 3 : 2) * Q * Q * (Q | 1) + ng) * sizeof(real), a, k->stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int P, int Q, int GEOM> static PetscErrorCode HopsCudaPALaunch(const HopsCudaArgs *k, const HopsCudaCells &a)
{
  HopsCudaTables<P, Q> tab;

  PetscFunctionBegin;
  HopsCudaFillTables(k, &tab);
  if (k->dim == 2) {
    constexpr int cells = HopsCudaLaunch2<Q>::cells, ng = GEOM == HOPS_CUDA_STORED ? 0 : HopsCudaGeomSize(GEOM, 2);

    PetscCall(
      HopsCudaRun(HopsCudaApply2<P, Q, GEOM>, tab, Q, cells, cells * ((size_t)2 * Q * (Q | 1) + ng) * sizeof(real), a, k->stream));
  } else if (!k->diffusion || (GEOM == HOPS_CUDA_MULTILINEAR && !k->scalar))
    PetscCall((HopsCudaRun3<P, Q, GEOM, HOPS_CUDA_ANY>(k, tab, a)));
  else if (k->mass) PetscCall((HopsCudaRun3<P, Q, GEOM, HOPS_CUDA_BOTH>(k, tab, a)));
  else PetscCall((HopsCudaRun3<P, Q, GEOM, HOPS_CUDA_DIFFUSION>(k, tab, a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int P, int Q> static PetscErrorCode HopsCudaPALaunch(const HopsCudaArgs *k, const HopsCudaCells &a)
{
  PetscFunctionBegin;
  if (k->geometry == HOPS_CUDA_AFFINE) {
    if constexpr (P == Q) PetscCall(HopsCudaPALaunch<P, Q, HOPS_CUDA_AFFINE>(k, a));
    else SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "Affine cells need as many points as the basis has nodes");
  } else if (k->geometry == HOPS_CUDA_MULTILINEAR) PetscCall(HopsCudaPALaunch<P, Q, HOPS_CUDA_MULTILINEAR>(k, a));
  else PetscCall(HopsCudaPALaunch<P, Q, HOPS_CUDA_STORED>(k, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int Q> static PetscErrorCode HopsCudaPALaunch(const HopsCudaArgs *k, const real x[], const real xg[], real y[], real yg[])
{
  const int     dim = k->dim, P = (Q - k->P) % 2 ? Q - 1 : Q, nc = (k->diffusion ? dim * (dim + 1) / 2 : 0) + (k->mass ? 1 : 0);
  const size_t  nn = (size_t)P * P * (dim == 3 ? P : 1), nq = (size_t)Q * Q * (dim == 3 ? Q : 1);
  HopsCudaCells a = {(int)k->n, k->nT, k->diffusion, k->mass, k->scalar, k->padded + k->first * nn, NULL, NULL, x, xg, y, yg};

  PetscFunctionBegin;
  if (k->geometry == HOPS_CUDA_STORED) a.qdata = (const real *)k->qdata + k->first * nq * nc;
  else a.geom = (const real *)k->geom + k->first * HopsCudaGeomSize(k->geometry, k->dim);
  if (P == Q) PetscCall(HopsCudaPALaunch<Q, Q>(k, a));
  else if constexpr (Q > 2) PetscCall(HopsCudaPALaunch<Q - 1, Q>(k, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define HOPS_CUDA_PA_DEFINE(Q) \
  PetscErrorCode HopsCudaPALaunch_##Q(const HopsCudaArgs *k, const double x[], const double xg[], double y[], double yg[]) \
  { \
    return HopsCudaPALaunch<Q>(k, x, xg, y, yg); \
  }

/* the same in single precision: quadrature data and geometry are floats behind the arguments' pointers */
#define HOPS_CUDA_SINGLE_DEFINE(Q) \
  PetscErrorCode HopsCudaSingleLaunch_##Q(const HopsCudaArgs *k, const float x[], const float xg[], float y[], float yg[]) \
  { \
    return HopsCudaPALaunch<Q>(k, x, xg, y, yg); \
  }
