/* CUDA back end: low-order-refined matrices (laneslor.h), and matrices of the lattice's topology
   (lanesincidence.h). */
#include <backend/cuda/runtime/cudalaunch.cuh>
#include <backend/lanes/lor/lanesincidence.h>
#include <backend/lanes/lor/laneslorwide.h>
#include "cudalor.h"

static HopsLanesLORKernels Kernels()
{
  HopsLanesLORKernels k = {};

  HopsLORRowLaunches<HopsCudaBack>::Fill(&k);
  HopsLORWideLaunches<HopsCudaBack>::Fill(&k);
  HopsCudaLORVertex(&k);
  HopsCudaLORPattern(&k);
  HopsCudaLOROnce(&k);
  HopsCudaLORValues(&k);
  k.lump = &HopsLumpKernelsCUDA;
  return k;
}

PetscErrorCode HopsLORCreate_CUDA(HopsSpace space, const HopsBasis *gll, HopsLORAssembler *lor)
{
  static const HopsLanesLORKernels kernels = Kernels();

  return HopsLanesLORCreate(&kernels, space, gll, lor);
}

const HopsRowsOps HopsRowsCUDA = HopsIncidenceLaunches<HopsCudaBack>::Table();
