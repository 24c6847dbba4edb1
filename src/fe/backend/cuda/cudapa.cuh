/* Launches of the fused operator for Q points per direction and up to Q nodes. */
#pragma once
#include "cudaargs.h"
#include "cudaline.cuh"

/* Halves of the matrices; nodes beyond the basis have zero functions */
template <int P, int Q>
static void HopsCudaFillTables(const HopsCudaArgs *k, HopsCudaTables<P, Q> *tab)
{
  const int n = k->P, shift = (P - n) / 2;

  for (int q = 0; q < (Q + 1) / 2; q++) {
    double b[P] = {0};

    for (int i = 0; i < n; i++) b[i + shift] = k->hostB[q * n + i];
    for (int i = 0; i < (P + 1) / 2; i++) tab->Be[q * ((P + 1) / 2) + i] = 2 * i == P - 1 ? b[i] : (b[i] + b[P - 1 - i]) / 2;
    for (int i = 0; i < P / 2 && q < Q / 2; i++) tab->Bo[q * (P / 2) + i] = (b[i] - b[P - 1 - i]) / 2;
  }
  for (int q = 0; q < (Q + 1) / 2; q++) {
    const double *c = k->hostC + q * Q;

    for (int i = 0; i < (Q + 1) / 2 && q < Q / 2; i++) tab->Ce[q * ((Q + 1) / 2) + i] = 2 * i == Q - 1 ? c[i] : (c[i] + c[Q - 1 - i]) / 2;
    for (int i = 0; i < Q / 2; i++) tab->Co[q * (Q / 2) + i] = (c[i] - c[Q - 1 - i]) / 2;
  }
  for (int q = 0; q < Q; q++) {
    tab->w[q] = k->hostw[q];
    tab->z[q] = k->hostz[q];
  }
}

template <typename Kernel, int P, int Q>
static PetscErrorCode HopsCudaRun(Kernel kernel, const HopsCudaTables<P, Q> &tab, int threads, int cells, size_t shared, const HopsCudaCells &a, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (shared > 48 * 1024) PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
  kernel<<<(a.n + cells - 1) / cells, dim3(threads, cells), shared, stream>>>(tab, a);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int P, int Q, int GEOM>
static PetscErrorCode HopsCudaPALaunch(const HopsCudaArgs *k, HopsCudaCells &a)
{
  HopsCudaTables<P, Q> tab;

  PetscFunctionBegin;
  a.shift = (P - k->P) / 2;
  HopsCudaFillTables(k, &tab);
  if (k->dim == 3) {
    constexpr int cells = HopsCudaLaunch3<Q, GEOM>::cells;

    PetscCall(HopsCudaRun(HopsCudaApply3<P, Q, GEOM>, tab, Q * Q, cells, (size_t)cells * (k->mass ? 3 : 2) * Q * Q * (Q | 1) * sizeof(double), a, k->stream));
  } else {
    constexpr int cells = HopsCudaLaunch2<Q>::cells;

    PetscCall(HopsCudaRun(HopsCudaApply2<P, Q, GEOM>, tab, Q, cells, (size_t)cells * 2 * Q * (Q | 1) * sizeof(double), a, k->stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int P, int Q>
static PetscErrorCode HopsCudaPALaunch(const HopsCudaArgs *k, HopsCudaCells &a)
{
  PetscFunctionBegin;
  if (k->geometry == HOPS_CUDA_AFFINE) PetscCall(HopsCudaPALaunch<P, Q, HOPS_CUDA_AFFINE>(k, a));
  else if (k->geometry == HOPS_CUDA_MULTILINEAR) PetscCall(HopsCudaPALaunch<P, Q, HOPS_CUDA_MULTILINEAR>(k, a));
  else PetscCall(HopsCudaPALaunch<P, Q, HOPS_CUDA_STORED>(k, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int Q>
static PetscErrorCode HopsCudaPALaunch(const HopsCudaArgs *k, const double x[], const double xg[], double y[], double yg[])
{
  const size_t  nn = (size_t)k->P * k->P * (k->dim == 3 ? k->P : 1), nq = (size_t)k->Q * k->Q * (k->dim == 3 ? k->Q : 1);
  const int     nc = (k->diffusion ? k->dim * (k->dim + 1) / 2 : 0) + (k->mass ? 1 : 0);
  HopsCudaCells a  = {(int)k->n, k->nT, k->P, 0, k->diffusion, k->mass, k->scalar, k->restr + k->first * nn, NULL, NULL, x, xg, y, yg};

  PetscFunctionBegin;
  if (k->geometry == HOPS_CUDA_STORED) a.qdata = k->qdata + k->first * nq * nc;
  else a.geom = k->geom + k->first * HopsCudaGeomSize(k->geometry, k->dim);
  if ((Q - k->P) % 2 == 0) PetscCall(HopsCudaPALaunch<Q, Q>(k, a));
  else if constexpr (Q > 2) PetscCall(HopsCudaPALaunch<Q - 1, Q>(k, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define HOPS_CUDA_PA_DEFINE(Q) \
  PetscErrorCode HopsCudaPALaunch_##Q(const HopsCudaArgs *k, const double x[], const double xg[], double y[], double yg[]) \
  { \
    return HopsCudaPALaunch<Q>(k, x, xg, y, yg); \
  }
