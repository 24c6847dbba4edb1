/* Stages of the literature, order 7 */
#include "patchstages.cuh"

HOPS_STAGES_DEFINE(7)
