/* Fused smoothing sweeps of a uniform box, order 5 */
#include "cudapatchlaunch.cuh"

HOPS_CUDA_PATCH_DEFINE(5)
