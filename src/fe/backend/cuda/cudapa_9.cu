/* Fused operators with 9 nodes per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(9)
