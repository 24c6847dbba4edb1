/* Forms with full tensors at 7 points per direction */
#include "cudatensorfixed.cuh"

HOPS_CUDA_TENSOR_DEFINE(7)
