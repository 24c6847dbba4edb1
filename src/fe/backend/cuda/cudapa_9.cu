/* Fused operators with 9 points per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(9)
