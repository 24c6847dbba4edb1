/* Fused forms on H(curl), H(div) and L2 with 6 nodes per direction */
#include "cudaformlaunch.cuh"

HOPS_CUDA_FORM_DEFINE(6)
