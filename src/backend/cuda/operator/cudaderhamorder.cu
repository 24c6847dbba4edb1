/* Fused forms on H(curl), H(div) and L2 with HOPS_ORDER nodes per direction; the makefile compiles this file
   once for each */
#include "cudaderhamlaunch.cuh"

#define DEFINE(order) HOPS_CUDA_FORM_DEFINE(order)
DEFINE(HOPS_ORDER)
