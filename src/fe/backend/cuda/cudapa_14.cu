/* Fused operators with 14 points per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(14)
