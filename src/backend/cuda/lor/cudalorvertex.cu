/* CUDA back end: vertex data and masks of low-order-refined matrices. */
#include <backend/cuda/runtime/cudalaunch.cuh>
#include <backend/lanes/lor/laneslorvertex.h>
#include "cudalor.h"

void HopsCudaLORVertex(HopsLanesLORKernels *k)
{
  HopsLORVertexLaunches<HopsCudaBack>::Fill(k);
}
