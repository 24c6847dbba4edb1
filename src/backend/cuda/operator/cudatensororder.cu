/* Forms with full tensors at HOPS_ORDER points per direction; the makefile compiles this file once for
   each */
#include "cudatensorfixed.cuh"

#define DEFINE(order) HOPS_CUDA_TENSOR_DEFINE(order)
DEFINE(HOPS_ORDER)
