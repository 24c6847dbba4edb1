/* Launches of the fused forms for P nodes per direction. */
#pragma once
#include "cudaform.cuh"

/* even and odd halves of the matrix m[Q][N] */
static void HopsFormHalves(int Q, int N, const double m[], double e[], double o[])
{
  for (int q = 0; q < (Q + 1) / 2; q++) {
    const double *b = m + q * N;

    for (int i = 0; i < (N + 1) / 2; i++) e[q * ((N + 1) / 2) + i] = 2 * i == N - 1 ? b[i] : (b[i] + b[N - 1 - i]) / 2;
    for (int i = 0; i < N / 2 && q < Q / 2; i++) o[q * (N / 2) + i] = (b[i] - b[N - 1 - i]) / 2;
  }
}

template <int P, int Q> static void HopsFormFillTables(const HopsCudaFormArgs *k, HopsFormTables<P, Q> *tab)
{
  HopsFormHalves(Q, P, k->hostB, tab->Be, tab->Bo);
  HopsFormHalves(Q, P - 1, k->hostE, tab->Ee, tab->Eo);
}

template <int P, int Q, int FAMILY, int TERMS>
static PetscErrorCode HopsFormRun(const HopsCudaFormArgs *k, const HopsFormTables<P, Q> &tab, const HopsFormCells &a)
{
  using L = HopsFormLaunch3<P, Q, FAMILY, TERMS>;

  PetscFunctionBegin;
  if (k->dim == 3) {
    constexpr size_t shared = L::cells * HopsFormShared(P, Q, FAMILY, 3, TERMS) * sizeof(double);

    if (shared > 48 * 1024)
      PetscCallCUDA(
        cudaFuncSetAttribute(HopsFormApply3<P, Q, FAMILY, TERMS>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    HopsFormApply3<P, Q, FAMILY, TERMS>
      <<<(a.n + L::cells - 1) / L::cells, dim3(Q * Q, L::cells, L::groups), shared, k->stream>>>(tab, a);
  } else {
    constexpr int    cells  = HopsFormLaunch2<Q>::cells;
    constexpr size_t shared = cells * HopsFormShared(P, Q, FAMILY, 2, TERMS) * sizeof(double);

    HopsFormApply2<P, Q, FAMILY, TERMS><<<(a.n + cells - 1) / cells, dim3(Q, cells), shared, k->stream>>>(tab, a);
  }
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int P, int Q, int FAMILY> static PetscErrorCode HopsFormRun(const HopsCudaFormArgs *k, const HopsFormCells &a)
{
  HopsFormTables<P, Q> tab;

  PetscFunctionBegin;
  HopsFormFillTables(k, &tab);
  if constexpr (FAMILY == HOPS_CUDA_L2) PetscCall((HopsFormRun<P, Q, FAMILY, HOPS_CUDA_MASS>(k, tab, a)));
  else if (!k->nd) PetscCall((HopsFormRun<P, Q, FAMILY, HOPS_CUDA_MASS>(k, tab, a)));
  else if (!k->nm) PetscCall((HopsFormRun<P, Q, FAMILY, HOPS_CUDA_DERIV>(k, tab, a)));
  else PetscCall((HopsFormRun<P, Q, FAMILY, HOPS_CUDA_DERIV | HOPS_CUDA_MASS>(k, tab, a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int P, int Q>
static PetscErrorCode HopsFormRun(const HopsCudaFormArgs *k, const double x[], const double xg[], double y[], double yg[])
{
  const size_t        ne = HopsFormEntries(P, k->family, k->dim), nq = (size_t)(k->nd + k->nm) * Q * Q * (k->dim == 3 ? Q : 1);
  const HopsFormCells a = {(int)k->n, k->nT, k->restr + k->first * ne, k->qdata + k->first * nq, x, xg, y, yg};

  PetscFunctionBegin;
  if (k->family == HOPS_CUDA_HCURL) PetscCall((HopsFormRun<P, Q, HOPS_CUDA_HCURL>(k, a)));
  else if (k->family == HOPS_CUDA_HDIV) PetscCall((HopsFormRun<P, Q, HOPS_CUDA_HDIV>(k, a)));
  else PetscCall((HopsFormRun<P, Q, HOPS_CUDA_L2>(k, a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define HOPS_CUDA_FORM_DEFINE(P) \
  PetscErrorCode HopsCudaFormLaunch_##P(const HopsCudaFormArgs *k, const double x[], const double xg[], double y[], double yg[]) \
  { \
    return k->Q == P ? HopsFormRun<P, P>(k, x, xg, y, yg) : HopsFormRun<P, P + 1>(k, x, xg, y, yg); \
  }
