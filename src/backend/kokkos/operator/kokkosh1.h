/* Kokkos back end: launches of operators in H1. */
#pragma once
#include <backend/lanes/operator/lanesh1impl.h>

EXTERN_C_BEGIN
#define HOPS_KOKKOS_DECLARE(Q) \
  PETSC_INTERN PetscErrorCode HopsKokkosH1Launch_##Q(const HopsH1Args *, const double x[], const double xg[], double y[], \
                                                     double yg[]);
HOPS_H1_POINTS(HOPS_KOKKOS_DECLARE)
#undef HOPS_KOKKOS_DECLARE
#define HOPS_KOKKOS_DECLARE(Q) \
  PETSC_INTERN PetscErrorCode HopsKokkosSingleLaunch_##Q(const HopsH1Args *, const float x[], const float xg[], float y[], \
                                                         float yg[]);
HOPS_H1_SINGLE_POINTS(HOPS_KOKKOS_DECLARE)
#undef HOPS_KOKKOS_DECLARE
PETSC_INTERN const HopsH1Kernels HopsH1KernelsKokkos;
EXTERN_C_END
