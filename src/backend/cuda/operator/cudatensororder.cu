/* Forms with full tensors at HOPS_ORDER points per direction; the makefile compiles this file once for
   each */
#include <backend/cuda/runtime/cudalaunch.cuh>
#include <backend/lanes/operator/lanestensorfixed.h>
#include "cudatensor.h"

#define NAME(order)   HopsCudaTensorLaunch_##order
#define DEFINE(order) NAME(order)
PetscErrorCode DEFINE(HOPS_ORDER)(const HopsLanesTensorArgs *k, int lanes, int teams, int *busy)
{
  return HopsTensorFixedLaunch<HopsCudaBack, HOPS_ORDER>(k, lanes, teams, busy);
}
