/* CUDA back end: launches of the kernels in H1 for any order, and of set-up (lanesh1kernels.h). */
#include <backend/cuda/runtime/cudalaunch.cuh>
#include <backend/lanes/operator/lanesh1kernels.h>
#include "cudah1.h"

static HopsH1Kernels Kernels()
{
  HopsH1Kernels k = HopsH1Launches<HopsCudaBack>::Table(1);

#define ENTRY(Q)        k.launch[Q] = HopsCudaH1Launch_##Q;
#define SINGLE_ENTRY(Q) k.single[Q] = HopsCudaSingleLaunch_##Q;
  HOPS_H1_POINTS(ENTRY)
  HOPS_H1_SINGLE_POINTS(SINGLE_ENTRY)
  return k;
}

const HopsH1Kernels HopsH1KernelsCUDA = Kernels();

PetscErrorCode HopsCudaFindBad(const HopsSetUpArgs *s, PetscInt cell)
{
  return HopsH1Launches<HopsCudaBack>::FindBad(s, cell);
}
