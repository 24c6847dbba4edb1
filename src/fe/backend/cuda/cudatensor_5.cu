/* Forms with full tensors at 5 points per direction */
#include "cudatensorfixed.cuh"

HOPS_CUDA_TENSOR_DEFINE(5)
