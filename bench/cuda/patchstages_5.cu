/* Stages of the literature, order 5 */
#include "patchstages.cuh"

HOPS_STAGES_DEFINE(5)
