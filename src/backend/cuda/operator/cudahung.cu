/* CUDA back end: hanging nodes for kernels that do not know them (laneshungkernels.h). */
#include <backend/cuda/runtime/cudalaunch.cuh>
#include <backend/lanes/operator/laneshungkernels.h>

static const HopsHungKernels HopsHungKernelsCUDA = HopsHungLaunches<HopsCudaBack>::Table();

PetscErrorCode HopsHungCreate_CUDA(HopsSpace sp, HopsHung *hung)
{
  return HopsLanesHungCreate(&HopsHungKernelsCUDA, sp, hung);
}
