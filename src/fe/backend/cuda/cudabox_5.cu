/* Operator and transfers of a uniform box, order 5 */
#include "cudaboxlaunch.cuh"

HOPS_CUDA_BOX_DEFINE(5)
