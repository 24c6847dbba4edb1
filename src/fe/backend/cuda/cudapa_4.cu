/* Fused operators with 4 nodes per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(4)
