/* CUDA back end: values of low-order-refined matrices. */
#include <backend/cuda/runtime/cudalaunch.cuh>
#include <backend/lanes/lor/laneslorvalues.h>
#include "cudalor.h"

void HopsCudaLORValues(HopsLanesLORKernels *k)
{
  HopsLORValueLaunches<HopsCudaBack>::Fill(k);
}
