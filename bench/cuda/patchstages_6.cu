/* Stages of the literature, order 6 */
#include "patchstages.cuh"

HOPS_STAGES_DEFINE(6)
