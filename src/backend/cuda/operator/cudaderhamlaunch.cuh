/* Launches of the fused forms for P nodes per direction. */
#pragma once
#include "cudaderham.cuh"

/* even and odd halves of the matrix m[Q][N] */
static void HopsDerhamHalves(int Q, int N, const double m[], double e[], double o[])
{
  for (int q = 0; q < (Q + 1) / 2; q++) {
    const double *b = m + q * N;

    for (int i = 0; i < (N + 1) / 2; i++) e[q * ((N + 1) / 2) + i] = 2 * i == N - 1 ? b[i] : (b[i] + b[N - 1 - i]) / 2;
    for (int i = 0; i < N / 2 && q < Q / 2; i++) o[q * (N / 2) + i] = (b[i] - b[N - 1 - i]) / 2;
  }
}

template <int P, int Q> static void HopsDerhamFillTables(const HopsCudaDerhamArgs *k, HopsDerhamTables<P, Q> *tab)
{
  HopsDerhamHalves(Q, P, k->hostB, tab->Be, tab->Bo);
  HopsDerhamHalves(Q, P - 1, k->hostE, tab->Ee, tab->Eo);
}

template <int P, int Q, int FAMILY, int TERMS>
static PetscErrorCode HopsDerhamRun(const HopsCudaDerhamArgs *k, const HopsDerhamTables<P, Q> &tab, const HopsDerhamCells &a)
{
  using L = HopsDerhamLaunch3<P, Q, FAMILY, TERMS>;

  PetscFunctionBegin;
  if (k->dim == 3) {
    constexpr size_t shared = L::cells * HopsDerhamShared(P, Q, FAMILY, 3, TERMS) * sizeof(double);

    if (shared > 48 * 1024)
      PetscCallCUDA(
        cudaFuncSetAttribute(HopsDerhamApply3<P, Q, FAMILY, TERMS>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    HopsDerhamApply3<P, Q, FAMILY, TERMS>
      <<<(a.n + L::cells - 1) / L::cells, dim3(Q * Q, L::cells, L::groups), shared, k->stream>>>(tab, a);
  } else {
    constexpr int    cells  = HopsDerhamLaunch2<Q>::cells;
    constexpr size_t shared = cells * HopsDerhamShared(P, Q, FAMILY, 2, TERMS) * sizeof(double);

    HopsDerhamApply2<P, Q, FAMILY, TERMS><<<(a.n + cells - 1) / cells, dim3(Q, cells), shared, k->stream>>>(tab, a);
  }
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int P, int Q, int FAMILY> static PetscErrorCode HopsDerhamRun(const HopsCudaDerhamArgs *k, const HopsDerhamCells &a)
{
  HopsDerhamTables<P, Q> tab;

  PetscFunctionBegin;
  HopsDerhamFillTables(k, &tab);
  if constexpr (FAMILY == HOPS_CUDA_L2) PetscCall((HopsDerhamRun<P, Q, FAMILY, HOPS_CUDA_MASS>(k, tab, a)));
  else if (!k->nd) PetscCall((HopsDerhamRun<P, Q, FAMILY, HOPS_CUDA_MASS>(k, tab, a)));
  else if (!k->nm) PetscCall((HopsDerhamRun<P, Q, FAMILY, HOPS_CUDA_DERIV>(k, tab, a)));
  else PetscCall((HopsDerhamRun<P, Q, FAMILY, HOPS_CUDA_DERIV | HOPS_CUDA_MASS>(k, tab, a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int P, int Q>
static PetscErrorCode HopsDerhamRun(const HopsCudaDerhamArgs *k, const double x[], const double xg[], double y[], double yg[])
{
  const size_t          ne = HopsDerhamEntries(P, k->family, k->dim), nq = (size_t)(k->nd + k->nm) * Q * Q * (k->dim == 3 ? Q : 1);
  const HopsDerhamCells a = {(int)k->n, k->nT, k->restr + k->first * ne, k->qdata + k->first * nq, x, xg, y, yg};

  PetscFunctionBegin;
  if (k->family == HOPS_CUDA_HCURL) PetscCall((HopsDerhamRun<P, Q, HOPS_CUDA_HCURL>(k, a)));
  else if (k->family == HOPS_CUDA_HDIV) PetscCall((HopsDerhamRun<P, Q, HOPS_CUDA_HDIV>(k, a)));
  else PetscCall((HopsDerhamRun<P, Q, HOPS_CUDA_L2>(k, a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define HOPS_CUDA_FORM_DEFINE(P) \
  PetscErrorCode HopsCudaDerhamLaunch_##P(const HopsCudaDerhamArgs *k, const double x[], const double xg[], double y[], \
                                          double yg[]) \
  { \
    return k->Q == P ? HopsDerhamRun<P, P>(k, x, xg, y, yg) : HopsDerhamRun<P, P + 1>(k, x, xg, y, yg); \
  }
