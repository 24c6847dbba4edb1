/* Fused operators with 4 points per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(4)
