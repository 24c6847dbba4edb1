/* Fused operators with 6 nodes per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(6)
