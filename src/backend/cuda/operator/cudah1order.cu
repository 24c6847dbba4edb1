/* Fused operators with HOPS_ORDER points per direction; the makefile compiles this file once for each */
#include "cudah1launch.cuh"

#define DEFINE(order) HOPS_CUDA_PA_DEFINE(order)
DEFINE(HOPS_ORDER)
