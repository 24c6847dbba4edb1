/* Kokkos back end: fused sweeps of patches (lanespatchsweep.h). */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/patch/lanespatchsweeptensor.h>
#include "kokkospatch.h"

PetscErrorCode HopsPatchSweep_Kokkos(HopsLanesPatchSet s, const HopsLanesSweepData *d, const HopsLanesPatchRun *run,
                                     PetscBool floats, const void *b, void *z)
{
  typedef std::conditional<HopsKokkosTensor, HopsSweepOnTensor<HopsKokkosBack>, HopsLanesPatchPlain>::type Fast;

  return HopsLanesPatchSweep<HopsKokkosBack, Fast>::Sweep(s, d, run, floats, b, z);
}
