/* Operator and transfers of a uniform box, order 7 */
#include "cudaboxlaunch.cuh"

HOPS_CUDA_BOX_DEFINE(7)
