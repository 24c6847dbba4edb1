/* Kokkos back end: launches of full tensors by kernels that know all sizes. */
#pragma once
#include <backend/lanes/operator/lanestensor.h>

EXTERN_C_BEGIN
#define HOPS_KOKKOS_DECLARE(Q) \
  PETSC_INTERN PetscErrorCode HopsKokkosTensorLaunch_##Q(const HopsLanesTensorArgs *, int lanes, int teams, int *busy);
HOPS_TENSOR_POINTS(HOPS_KOKKOS_DECLARE)
#undef HOPS_KOKKOS_DECLARE
PETSC_INTERN const HopsLanesTensorKernels HopsTensorKernelsKokkos;
EXTERN_C_END
