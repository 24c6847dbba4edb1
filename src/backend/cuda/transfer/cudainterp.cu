/* CUDA back end: maps between nested spaces (lanesinterp.h). */
#include <backend/cuda/runtime/cudalaunch.cuh>
#include <backend/lanes/transfer/lanesinterp.h>

PetscErrorCode HopsInterpCreate_CUDA(HopsSpace from, HopsSpace to, const HopsInterpData *d, HopsInterpolation *P)
{
  return HopsLanesInterp<HopsCudaBack>::Create(from, to, d, P);
}
