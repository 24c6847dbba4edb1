/* Fused smoothing sweeps of a uniform box, order 8 */
#include "cudapatchlaunch.cuh"

HOPS_CUDA_PATCH_DEFINE(8)
