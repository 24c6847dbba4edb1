/* Fused operators with 5 points per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(5)
