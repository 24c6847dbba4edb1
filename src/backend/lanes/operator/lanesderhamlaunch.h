/*
  Launches of the fused forms on H(curl), H(div) and L2 (lanesderham.h): from the arguments to the kernel for
  these nodes, points, family and terms. A back end brings a class with

    Run<P, Q, FAMILY, TERMS, DIM>(tables, cells)   launches HopsDerhamApply3(), in 2D HopsDerhamApply2()
*/
#pragma once
#include "lanesderham.h"

/* even and odd halves of the matrix m[Q][N] */
static void HopsDerhamHalves(int Q, int N, const double m[], double e[], double o[])
{
  for (int q = 0; q < (Q + 1) / 2; q++) {
    const double *b = m + q * N;

    for (int i = 0; i < (N + 1) / 2; i++) e[q * ((N + 1) / 2) + i] = 2 * i == N - 1 ? b[i] : (b[i] + b[N - 1 - i]) / 2;
    for (int i = 0; i < N / 2 && q < Q / 2; i++) o[q * (N / 2) + i] = (b[i] - b[N - 1 - i]) / 2;
  }
}

template <class Run, int P, int Q, int FAMILY, int TERMS>
static PetscErrorCode HopsDerhamLaunchTerms(const HopsDerhamArgs *k, const HopsDerhamTables<P, Q> &tab, const HopsDerhamCells &a)
{
  PetscFunctionBegin;
  if (k->dim == 3) PetscCall((Run::template Run<P, Q, FAMILY, TERMS, 3>(tab, a)));
  else PetscCall((Run::template Run<P, Q, FAMILY, TERMS, 2>(tab, a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Run, int P, int Q, int FAMILY>
static PetscErrorCode HopsDerhamLaunchFamily(const HopsDerhamArgs *k, const HopsDerhamCells &a)
{
  HopsDerhamTables<P, Q> tab;

  PetscFunctionBegin;
  HopsDerhamHalves(Q, P, k->hostB, tab.Be, tab.Bo);
  HopsDerhamHalves(Q, P - 1, k->hostE, tab.Ee, tab.Eo);
  if constexpr (FAMILY == HOPS_DERHAM_L2) PetscCall((HopsDerhamLaunchTerms<Run, P, Q, FAMILY, HOPS_DERHAM_MASS>(k, tab, a)));
  else if (!k->nd) PetscCall((HopsDerhamLaunchTerms<Run, P, Q, FAMILY, HOPS_DERHAM_MASS>(k, tab, a)));
  else if (!k->nm) PetscCall((HopsDerhamLaunchTerms<Run, P, Q, FAMILY, HOPS_DERHAM_DERIV>(k, tab, a)));
  else PetscCall((HopsDerhamLaunchTerms<Run, P, Q, FAMILY, HOPS_DERHAM_DERIV | HOPS_DERHAM_MASS>(k, tab, a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Run, int P, int Q> static PetscErrorCode HopsDerhamLaunchPoints(const HopsDerhamArgs *k, const HopsDerhamCells &a)
{
  PetscFunctionBegin;
  if (k->family == HOPS_DERHAM_HCURL) PetscCall((HopsDerhamLaunchFamily<Run, P, Q, HOPS_DERHAM_HCURL>(k, a)));
  else if (k->family == HOPS_DERHAM_HDIV) PetscCall((HopsDerhamLaunchFamily<Run, P, Q, HOPS_DERHAM_HDIV>(k, a)));
  else PetscCall((HopsDerhamLaunchFamily<Run, P, Q, HOPS_DERHAM_L2>(k, a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y += A x on the cells of the arguments, with P nodes a direction */
template <class Run, int P>
static PetscErrorCode HopsDerhamLaunchNodes(const HopsDerhamArgs *k, const double x[], const double xg[], double y[], double yg[])
{
  const HopsDerhamCells a = {(int)k->first, (int)k->n, k->nT, k->marked, k->qdata, x, xg, y, yg, k->copies};

  PetscFunctionBegin;
  if (k->Q == P) PetscCall((HopsDerhamLaunchPoints<Run, P, P>(k, a)));
  else PetscCall((HopsDerhamLaunchPoints<Run, P, P + 1>(k, a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
