/* Fused operators with HOPS_ORDER points per direction in single precision; the makefile compiles this file
   once for each */
#define HOPS_CUDA_SINGLE
#include "cudah1launch.cuh"

#define DEFINE(order) HOPS_CUDA_SINGLE_DEFINE(order)
DEFINE(HOPS_ORDER)
