/* Kokkos back end: launches of forms on H(curl), H(div) and L2. */
#pragma once
#include <backend/lanes/operator/lanesderhamimpl.h>

EXTERN_C_BEGIN
#define HOPS_KOKKOS_DECLARE(P) \
  PETSC_INTERN PetscErrorCode HopsKokkosDerhamLaunch_##P(const HopsDerhamArgs *, const double x[], const double xg[], double y[], \
                                                         double yg[]);
HOPS_DERHAM_NODES(HOPS_KOKKOS_DECLARE)
#undef HOPS_KOKKOS_DECLARE
PETSC_INTERN const HopsDerhamKernels HopsDerhamKernelsKokkos;
EXTERN_C_END
