/* Kokkos back end: low-order-refined matrices of H(curl), H(div) and L2 (laneslump.h). */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/lor/laneslumplaunch.h>
#include "kokkoslor.h"

const HopsLumpKernels HopsLumpKernelsKokkos = HopsLumpLaunches<HopsKokkosBack>::Table();
