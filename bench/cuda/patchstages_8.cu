/* Stages of the literature, order 8 */
#include "patchstages.cuh"

HOPS_STAGES_DEFINE(8)
