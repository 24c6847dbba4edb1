/* Fused operators with HOPS_ORDER points per direction; the makefile compiles this file once for each */
#include "cudah1.h"
#include "cudah1launch.cuh"

#define NAME(order)   HopsCudaH1Launch_##order
#define DEFINE(order) NAME(order)
PetscErrorCode DEFINE(HOPS_ORDER)(const HopsH1Args *k, const double x[], const double xg[], double y[], double yg[])
{
  return HopsH1LaunchPoints<HopsCudaH1Run, HOPS_ORDER>(k, x, xg, y, yg);
}
