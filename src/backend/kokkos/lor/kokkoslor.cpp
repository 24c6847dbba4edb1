/* Kokkos back end: low-order-refined matrices (laneslor.h), and matrices of the lattice's topology
   (lanesincidence.h). */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/lor/lanesincidence.h>
#include <backend/lanes/lor/laneslorwide.h>
#include "kokkoslor.h"

static HopsLanesLORKernels Kernels()
{
  HopsLanesLORKernels k = {};

  HopsLORRowLaunches<HopsKokkosBack>::Fill(&k);
  HopsLORWideLaunches<HopsKokkosBack>::Fill(&k);
  HopsKokkosLORVertex(&k);
  HopsKokkosLORPattern(&k);
  HopsKokkosLORValues(&k);
  k.lump = &HopsLumpKernelsKokkos;
  return k;
}

PetscErrorCode HopsLORCreate_Kokkos(HopsSpace space, const HopsBasis *gll, HopsLORAssembler *lor)
{
  static const HopsLanesLORKernels kernels = Kernels();

  return HopsLanesLORCreate(&kernels, space, gll, lor);
}

const HopsRowsOps HopsRowsKokkos = HopsIncidenceLaunches<HopsKokkosBack>::Table();
