/* Stages of the literature, order 1 */
#include "patchstages.cuh"

HOPS_STAGES_DEFINE(1)
