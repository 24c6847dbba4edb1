/* Fused operators with 17 points per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(17)
