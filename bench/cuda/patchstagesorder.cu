/* Stages of the literature, order HOPS_ORDER; the makefile compiles this file once for each */
#include "patchstages.cuh"

#define DEFINE(order) HOPS_STAGES_DEFINE(order)
DEFINE(HOPS_ORDER)
