/* Operator and transfers of a uniform box, order 8 */
#include "cudaboxlaunch.cuh"

HOPS_CUDA_BOX_DEFINE(8)
