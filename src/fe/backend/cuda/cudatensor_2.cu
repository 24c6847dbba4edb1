/* Forms with full tensors at 2 points per direction */
#include "cudatensorfixed.cuh"

HOPS_CUDA_TENSOR_DEFINE(2)
