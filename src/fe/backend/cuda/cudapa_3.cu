/* Fused operators with 3 points per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(3)
