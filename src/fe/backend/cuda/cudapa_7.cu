/* Fused operators with 7 nodes per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(7)
