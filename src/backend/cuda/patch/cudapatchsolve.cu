/* CUDA: local solves of patches, of which some cubes are solved on tensor cores. */
#include <backend/cuda/runtime/cudalaunch.cuh>
#include <backend/lanes/patch/lanespatchsolvetensor.h>
#include "cudapatchlanes.h"

PetscErrorCode HopsPatchSolve_CUDA(HopsLanesPatchSet s, const HopsLanesPatchRun *run, PetscBool atomic, HopsPatchMode mode,
                                   PetscBool floats, const void *r, void *z)
{
  return HopsLanesPatchSolve<HopsCudaBack, HopsPatchSolveOnTensor<HopsCudaBack>>::Solve(s, run, atomic, mode, floats, r, z);
}
