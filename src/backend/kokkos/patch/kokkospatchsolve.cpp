/* Kokkos back end: local solves of patches (lanespatchsolve.h). */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/patch/lanespatchsolve.h>
#include "kokkospatch.h"

PetscErrorCode HopsPatchSolve_Kokkos(HopsLanesPatchSet s, const HopsLanesPatchRun *run, PetscBool atomic, HopsPatchMode mode,
                                     PetscBool floats, const void *r, void *z)
{
  return HopsLanesPatchSolve<HopsKokkosBack, HopsLanesPatchPlain>::Solve(s, run, atomic, mode, floats, r, z);
}
