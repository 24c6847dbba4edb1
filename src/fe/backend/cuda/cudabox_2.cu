/* Operator and transfers of a uniform box, order 2 */
#include "cudaboxlaunch.cuh"

HOPS_CUDA_BOX_DEFINE(2)
