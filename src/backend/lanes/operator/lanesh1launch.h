/*
  Launches of the fused operator in H1 (lanesh1.h): from the arguments to the kernel for these nodes, points,
  geometry and terms. A back end brings a class with

    Run3<P, Q, GEOM, TERMS>(tables, cells)   launches HopsH1Apply3()
    Run2<P, Q, GEOM>(tables, cells)          launches HopsH1Apply2()
*/
#pragma once
#include "lanesh1.h"

/* Halves of the matrices; nodes beyond the basis have zero functions */
template <class real, int P, int Q> static void HopsH1FillTables(const HopsH1Args *k, HopsH1Tables<real, P, Q> *tab)
{
  const int n = k->P, shift = (P - n) / 2;

  for (int q = 0; q < (Q + 1) / 2; q++) {
    real b[P] = {0};

    for (int i = 0; i < n; i++) b[i + shift] = (real)k->hostB[q * n + i];
    for (int i = 0; i < (P + 1) / 2; i++) tab->Be[q * ((P + 1) / 2) + i] = 2 * i == P - 1 ? b[i] : (b[i] + b[P - 1 - i]) / 2;
    for (int i = 0; i < P / 2 && q < Q / 2; i++) tab->Bo[q * (P / 2) + i] = (b[i] - b[P - 1 - i]) / 2;
  }
  for (int q = 0; q < (Q + 1) / 2; q++) {
    const double *c = k->hostC + q * Q;

    for (int i = 0; i < (Q + 1) / 2 && q < Q / 2; i++)
      tab->Ce[q * ((Q + 1) / 2) + i] = (real)(2 * i == Q - 1 ? c[i] : (c[i] + c[Q - 1 - i]) / 2);
    for (int i = 0; i < Q / 2; i++) tab->Co[q * (Q / 2) + i] = (real)((c[i] - c[Q - 1 - i]) / 2);
  }
  for (int q = 0; q < Q; q++) {
    tab->w[q] = (real)k->hostw[q];
    tab->z[q] = (real)k->hostz[q];
  }
}

template <class Run, int GEOM, class real, int P, int Q>
static PetscErrorCode HopsH1LaunchTerms(const HopsH1Args *k, const HopsH1Tables<real, P, Q> &tab, const HopsH1Cells<real> &a)
{
  PetscFunctionBegin;
  if (k->dim == 2) PetscCall((Run::template Run2<P, Q, GEOM>(tab, a)));
  else if (!k->diffusion || (GEOM == HOPS_GEOMETRY_MULTILINEAR && !k->scalar))
    PetscCall((Run::template Run3<P, Q, GEOM, HOPS_H1_ANY>(tab, a)));
  else if (k->mass) PetscCall((Run::template Run3<P, Q, GEOM, HOPS_H1_BOTH>(tab, a)));
  else PetscCall((Run::template Run3<P, Q, GEOM, HOPS_H1_DIFFUSION>(tab, a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Run, int P, int Q, class real>
static PetscErrorCode HopsH1LaunchGeometry(const HopsH1Args *k, const HopsH1Cells<real> &a)
{
  HopsH1Tables<real, P, Q> tab;

  PetscFunctionBegin;
  HopsH1FillTables(k, &tab);
  if (k->geometry == HOPS_GEOMETRY_AFFINE) {
    if constexpr (P == Q) PetscCall((HopsH1LaunchTerms<Run, HOPS_GEOMETRY_AFFINE>(k, tab, a)));
    else SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "Affine cells need as many points as the basis has nodes");
  } else if (k->geometry == HOPS_GEOMETRY_MULTILINEAR) PetscCall((HopsH1LaunchTerms<Run, HOPS_GEOMETRY_MULTILINEAR>(k, tab, a)));
  else PetscCall((HopsH1LaunchTerms<Run, HOPS_GEOMETRY_STORED>(k, tab, a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y += A x on the cells of the arguments, with Q points and up to Q nodes a direction. In single precision
   quadrature data and geometry are floats behind the arguments' pointers */
template <class Run, int Q, class real>
static PetscErrorCode HopsH1LaunchPoints(const HopsH1Args *k, const real x[], const real xg[], real y[], real yg[])
{
  const int         P      = (Q - k->P) % 2 ? Q - 1 : Q;
  const bool        stored = k->geometry == HOPS_GEOMETRY_STORED;
  HopsH1Cells<real> a      = {(int)k->first,
                              (int)k->n,
                              k->nT,
                              k->diffusion,
                              k->mass,
                              k->scalar,
                              k->padded,
                         stored ? (const real *)k->qdata : NULL,
                         stored ? NULL : (const real *)k->geom,
                              x,
                              xg,
                              y,
                              yg,
                              k->w,
                              k->z,
                              k->copies};

  PetscFunctionBegin;
  if (P == Q) PetscCall((HopsH1LaunchGeometry<Run, Q, Q>(k, a)));
  else if constexpr (Q > 2) PetscCall((HopsH1LaunchGeometry<Run, Q - 1, Q>(k, a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
