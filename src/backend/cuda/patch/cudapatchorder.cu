/* Fused smoothing sweeps of a uniform box, order HOPS_ORDER; the makefile compiles this file once for each */
#include "cudapatchlaunch.cuh"

#define DEFINE(order) HOPS_CUDA_PATCH_DEFINE(order)
DEFINE(HOPS_ORDER)
