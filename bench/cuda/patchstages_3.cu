/* Stages of the literature, order 3 */
#include "patchstages.cuh"

HOPS_STAGES_DEFINE(3)
