/* Fused operators with 6 points per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(6)
