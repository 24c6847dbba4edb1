/* Fused operators with 10 points per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(10)
