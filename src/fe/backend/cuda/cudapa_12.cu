/* Fused operators with 12 points per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(12)
