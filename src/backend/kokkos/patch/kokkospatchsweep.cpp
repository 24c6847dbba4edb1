/* Kokkos back end: fused sweeps of patches (lanespatchsweep.h). */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/patch/lanespatchsweep.h>
#include "kokkospatch.h"

PetscErrorCode HopsPatchSweep_Kokkos(HopsLanesPatchSet s, const HopsLanesSweepData *d, const HopsLanesPatchRun *run,
                                     PetscBool floats, const void *b, void *z)
{
  return HopsLanesPatchSweep<HopsKokkosBack, HopsLanesPatchPlain>::Sweep(s, d, run, floats, b, z);
}
