/* Kokkos back end: vertex data and masks of low-order-refined matrices. */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/lor/laneslorvertex.h>
#include "kokkoslor.h"

void HopsKokkosLORVertex(HopsLanesLORKernels *k)
{
  HopsLORVertexLaunches<HopsKokkosBack>::Fill(k);
}
