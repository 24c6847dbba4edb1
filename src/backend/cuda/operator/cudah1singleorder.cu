/* Fused operators with HOPS_ORDER points per direction in single precision; the makefile compiles this file
   once for each */
#define HOPS_CUDA_SINGLE
#include "cudah1.h"
#include "cudah1launch.cuh"

#define NAME(order)   HopsCudaSingleLaunch_##order
#define DEFINE(order) NAME(order)
PetscErrorCode DEFINE(HOPS_ORDER)(const HopsH1Args *k, const float x[], const float xg[], float y[], float yg[])
{
  return HopsH1LaunchPoints<HopsCudaH1Run, HOPS_ORDER>(k, x, xg, y, yg);
}
