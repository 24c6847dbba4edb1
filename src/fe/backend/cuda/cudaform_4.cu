/* Fused forms on H(curl), H(div) and L2 with 4 nodes per direction */
#include "cudaformlaunch.cuh"

HOPS_CUDA_FORM_DEFINE(4)
