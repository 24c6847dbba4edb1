/* Operator and transfers of a uniform box, order 6 */
#include "cudaboxlaunch.cuh"

HOPS_CUDA_BOX_DEFINE(6)
