/* Fused operators with 5 nodes per direction */
#include "cudapa.cuh"

HOPS_CUDA_PA_DEFINE(5)
