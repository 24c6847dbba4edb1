/* CUDA back end: pattern of low-order-refined matrices. */
#include <backend/cuda/runtime/cudalaunch.cuh>
#include <backend/lanes/lor/laneslorpattern.h>
#include "cudalor.h"

void HopsCudaLORPattern(HopsLanesLORKernels *k)
{
  HopsLORPatternLaunches<HopsCudaBack>::Fill(k);
}
