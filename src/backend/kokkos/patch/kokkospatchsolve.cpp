/* Kokkos back end: local solves of patches (lanespatchsolve.h). */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/patch/lanespatchsolvetensor.h>
#include "kokkospatch.h"

PetscErrorCode HopsPatchSolve_Kokkos(HopsLanesPatchSet s, const HopsLanesPatchRun *run, PetscBool atomic, HopsPatchMode mode,
                                     PetscBool floats, const void *r, void *z)
{
  typedef std::conditional<HopsKokkosTensor, HopsPatchSolveOnTensor<HopsKokkosBack>, HopsLanesPatchPlain>::type Fast;

  int threads;

  PetscFunctionBegin;
  PetscCall(HopsKokkosBack::GetThreads(&threads)); /* one adds alone */
  PetscCall((HopsLanesPatchSolve<HopsKokkosBack, Fast>::Solve(s, run, atomic && threads > 1 ? PETSC_TRUE : PETSC_FALSE, mode,
                                                              floats, r, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
