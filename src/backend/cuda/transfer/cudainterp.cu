/* CUDA back end: maps between nested spaces (lanesinterp.h). */
#include <backend/cuda/runtime/cudalaunch.cuh>
#include <backend/lanes/transfer/lanesinterp.h>

PetscErrorCode HopsInterpCreate_CUDA(HopsSpace from, PetscInt nmacro, PetscInt ninterior, PetscInt N, const int source[],
                                     PetscInt M, const int target[], const PetscReal A[], HopsInterpolation *P)
{
  return HopsLanesInterp<HopsCudaBack>::Create(from, nmacro, ninterior, N, source, M, target, A, P);
}
