/* Forms with full tensors at HOPS_ORDER points per direction; the makefile compiles this file once for
   each */
#include <backend/kokkos/runtime/kokkosteam.h>
#include <backend/lanes/operator/lanestensorfixed.h>
#include "kokkostensor.h"

#define NAME(order)   HopsKokkosTensorLaunch_##order
#define DEFINE(order) NAME(order)
PetscErrorCode DEFINE(HOPS_ORDER)(const HopsLanesTensorArgs *k, int lanes, int teams, int *busy)
{
  return HopsTensorFixedLaunch<HopsKokkosBack, HOPS_ORDER>(k, lanes, teams, busy);
}
