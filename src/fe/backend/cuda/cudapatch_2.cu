/* Fused smoothing sweeps of a uniform box, order 2 */
#include "cudapatchlaunch.cuh"

HOPS_CUDA_PATCH_DEFINE(2)
