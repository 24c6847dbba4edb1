/* Operator and transfers of a uniform box, order 1 */
#include "cudaboxlaunch.cuh"

HOPS_CUDA_BOX_DEFINE(1)
