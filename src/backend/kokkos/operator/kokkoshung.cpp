/* Kokkos back end: hanging nodes for kernels that do not know them (laneshungkernels.h). */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/operator/laneshungkernels.h>

static const HopsHungKernels HopsHungKernelsKokkos = HopsHungLaunches<HopsKokkosBack>::Table();

PetscErrorCode HopsHungCreate_Kokkos(HopsSpace sp, HopsHung *hung)
{
  return HopsLanesHungCreate(&HopsHungKernelsKokkos, sp, hung);
}
