/* Fused operators with 13 points per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(13)
