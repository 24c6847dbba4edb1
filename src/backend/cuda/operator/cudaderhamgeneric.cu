/* CUDA back end: launches of the forms on H(curl), H(div) and L2 for any order, and of set-up
   (lanesderhamkernels.h). */
#include <backend/cuda/runtime/cudalaunch.cuh>
#include <backend/lanes/operator/lanesderhamkernels.h>
#include "cudaderham.h"

static HopsDerhamKernels Kernels()
{
  HopsDerhamKernels k = HopsDerhamLaunches<HopsCudaBack>::Table(1);

#define ENTRY(P) k.launch[P] = HopsCudaDerhamLaunch_##P;
  HOPS_DERHAM_NODES(ENTRY)
  return k;
}

const HopsDerhamKernels HopsDerhamKernelsCUDA = Kernels();
