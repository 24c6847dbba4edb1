/* CUDA back end: low-order-refined matrices of H(curl), H(div) and L2 (laneslump.h). */
#include <backend/cuda/runtime/cudalaunch.cuh>
#include <backend/lanes/lor/laneslumplaunch.h>
#include "cudalor.h"

const HopsLumpKernels HopsLumpKernelsCUDA = HopsLumpLaunches<HopsCudaBack>::Table();
