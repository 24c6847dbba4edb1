/* A launch of a kernel of full tensors on cells by a back end's class Back (see lanes.h); with `busy` it only
   says how many teams keep the machine busy. */
#pragma once
#include "lanestensorwork.h"

template <class Back, class F> PetscErrorCode HopsTensorRun(const F &f, size_t bytes, int lanes, int teams, int *busy)
{
  if (busy) return Back::template GetTeams<F>(lanes, bytes, busy);
  return Back::Teams("HopsTensorApply", teams, bytes, f, lanes);
}
