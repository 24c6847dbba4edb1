/* Stages of the literature, order 4 */
#include "patchstages.cuh"

HOPS_STAGES_DEFINE(4)
