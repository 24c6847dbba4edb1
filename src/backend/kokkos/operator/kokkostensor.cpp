/* Kokkos back end: forms with full tensors (lanestensorkernels.h). */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/operator/lanestensorkernels.h>
#include "kokkostensor.h"

static HopsLanesTensorKernels Kernels()
{
  HopsLanesTensorKernels k = HopsTensorLaunches<HopsKokkosBack>::Table();

  k.MostScratch = HopsKokkosBack::MostScratch; /* Kokkos does not run yet when this is filled */
#define ENTRY(Q) k.fixed[Q] = HopsKokkosTensorLaunch_##Q;
  HOPS_TENSOR_POINTS(ENTRY)
  return k;
}

const HopsLanesTensorKernels HopsTensorKernelsKokkos = Kernels();
