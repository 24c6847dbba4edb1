/* Kokkos back end: launches of the kernels in H1 for any order, of set-up (lanesh1kernels.h), and of
   faces. */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/operator/lanesface.h>
#include <backend/lanes/operator/lanesh1kernels.h>
#include "kokkosh1.h"

static HopsH1Kernels Kernels()
{
  HopsH1Kernels k = HopsH1Launches<HopsKokkosBack>::Table(HOPS_KOKKOS_GROUP);

#define ENTRY(Q)        k.launch[Q] = HopsKokkosH1Launch_##Q;
#define SINGLE_ENTRY(Q) k.single[Q] = HopsKokkosSingleLaunch_##Q;
  HOPS_H1_POINTS(ENTRY)
  HOPS_H1_SINGLE_POINTS(SINGLE_ENTRY)
  return k;
}

const HopsH1Kernels HopsH1KernelsKokkos = Kernels();

PetscErrorCode HopsFacesCreate_Kokkos(HopsSpace space, const HopsBasis *basis, PetscInt n, const int restr[],
                                      const PetscReal qdata[], HopsOperator *A)
{
  return HopsLanesFaces<HopsKokkosBack>::Create(space, basis, n, restr, qdata, A);
}
