/* Fused operators with 8 nodes per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(8)
