/* Fused operators with 15 points per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(15)
