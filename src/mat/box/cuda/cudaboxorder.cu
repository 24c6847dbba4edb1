/* Operator and transfers of a uniform box, order HOPS_ORDER; the makefile compiles this file once for each */
#include "cudaboxlaunch.cuh"

#define DEFINE(order) HOPS_CUDA_BOX_DEFINE(order)
DEFINE(HOPS_ORDER)
