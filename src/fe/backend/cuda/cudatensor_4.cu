/* Forms with full tensors at 4 points per direction */
#include "cudatensorfixed.cuh"

HOPS_CUDA_TENSOR_DEFINE(4)
