/* Stages of the literature, order 2 */
#include "patchstages.cuh"

HOPS_STAGES_DEFINE(2)
