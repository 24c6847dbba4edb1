/* Kokkos back end: maps between nested spaces (lanesinterp.h). */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/transfer/lanesinterp.h>

PetscErrorCode HopsInterpCreate_Kokkos(HopsSpace from, HopsSpace to, const HopsInterpData *d, HopsInterpolation *P)
{
  return HopsLanesInterp<HopsKokkosBack>::Create(from, to, d, P);
}
