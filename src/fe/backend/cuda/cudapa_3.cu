/* Fused operators with 3 nodes per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(3)
