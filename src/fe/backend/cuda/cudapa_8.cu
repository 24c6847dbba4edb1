/* Fused operators with 8 points per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(8)
