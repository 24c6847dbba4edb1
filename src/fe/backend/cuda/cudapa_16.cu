/* Fused operators with 16 points per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(16)
