/* Fused operators with 8 points per direction in single precision */
#define HOPS_CUDA_SINGLE
#include "cudapa.cuh"

HOPS_CUDA_SINGLE_DEFINE(8)
