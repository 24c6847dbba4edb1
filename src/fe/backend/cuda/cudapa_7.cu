/* Fused operators with 7 points per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(7)
