/* Kokkos back end: launches of the forms on H(curl), H(div) and L2 for any order, and of set-up
   (lanesderhamkernels.h). */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/operator/lanesderhamkernels.h>
#include "kokkosderham.h"

static HopsDerhamKernels Kernels()
{
  HopsDerhamKernels k = HopsDerhamLaunches<HopsKokkosBack>::Table(HOPS_KOKKOS_GROUP);

#define ENTRY(P) k.launch[P] = HopsKokkosDerhamLaunch_##P;
  HOPS_DERHAM_NODES(ENTRY)
  return k;
}

const HopsDerhamKernels HopsDerhamKernelsKokkos = Kernels();
