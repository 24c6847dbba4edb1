/* Fused operators with 2 nodes per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(2)
