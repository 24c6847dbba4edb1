/* Fused smoothing sweeps of a uniform box, order 6 */
#include "cudapatchlaunch.cuh"

HOPS_CUDA_PATCH_DEFINE(6)
