/* Kokkos back end: set-up of patches (lanespatchsetup.h), and their kernels' table. */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/patch/lanespatchsetup.h>
#include "kokkospatch.h"

const HopsPatchSetUpOps HopsPatchSetUpKokkos = HOPS_LANES_PATCH_SETUP(HopsKokkosBack);

static HopsLanesPatchKernels Kernels()
{
  HopsLanesPatchKernels k = {};

  k.backend = &HopsBackendKokkos;
  k.Most    = HopsKokkosBack::Most; /* Kokkos does not run yet when this is filled */
  k.Solve   = HopsPatchSolve_Kokkos;
  k.Sweep   = HopsPatchSweep_Kokkos;
  return k;
}

const HopsLanesPatchKernels HopsPatchKernelsKokkos = Kernels();
