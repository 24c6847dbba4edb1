/* The adjugate of a Jacobian on the device. */
#pragma once
#include <hops/private/hopsadjugate.h>

HOPS_ADJUGATE(__device__ static, double)
