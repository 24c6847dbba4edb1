/* Fused operators with 2 points per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(2)
