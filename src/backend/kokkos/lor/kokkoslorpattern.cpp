/* Kokkos back end: pattern of low-order-refined matrices. */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/lor/laneslorpattern.h>
#include "kokkoslor.h"

void HopsKokkosLORPattern(HopsLanesLORKernels *k)
{
  HopsLORPatternLaunches<HopsKokkosBack>::Fill(k);
}
