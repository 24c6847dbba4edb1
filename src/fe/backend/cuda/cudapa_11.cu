/* Fused operators with 11 points per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(11)
