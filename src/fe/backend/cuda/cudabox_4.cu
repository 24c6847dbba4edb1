/* Operator and transfers of a uniform box, order 4 */
#include "cudaboxlaunch.cuh"

HOPS_CUDA_BOX_DEFINE(4)
