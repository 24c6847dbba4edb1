/* Kokkos back end: values of low-order-refined matrices. */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/lor/laneslorvalues.h>
#include "kokkoslor.h"

void HopsKokkosLORValues(HopsLanesLORKernels *k)
{
  HopsLORValueLaunches<HopsKokkosBack>::Fill(k);
}
