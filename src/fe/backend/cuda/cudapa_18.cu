/* Fused operators with 18 points per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(18)
