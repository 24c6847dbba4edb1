/* Kokkos back end: maps between nested spaces (lanesinterp.h). */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/transfer/lanesinterp.h>

PetscErrorCode HopsInterpCreate_Kokkos(HopsSpace from, PetscInt nmacro, PetscInt ninterior, PetscInt N, const int source[],
                                       PetscInt M, const int target[], const PetscReal A[], HopsInterpolation *P)
{
  return HopsLanesInterp<HopsKokkosBack>::Create(from, nmacro, ninterior, N, source, M, target, A, P);
}
