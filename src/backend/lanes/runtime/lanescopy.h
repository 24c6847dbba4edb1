/* Small copies of the process's memory in that of a back end, Back being its class: see lanes.h. */
#pragma once
#include <hops/private/hopsimpl.h>

/* *to, a pointer to anything, is a copy of n bytes in new memory of the pool; NULL where there are none */
template <class Back> static PetscErrorCode HopsLanesCopyIn(size_t n, const void *from, void *to)
{
  const HopsMemoryOps *memory = Back::Ops()->memory;

  PetscFunctionBegin;
  *(void **)to = NULL;
  if (!n || !from) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*memory->PoolMalloc)(n, (void **)to));
  PetscCall((*memory->Copy)(NULL, *(void **)to, from, n, HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Back> static PetscErrorCode HopsLanesCopyOut(size_t n, const void *from, void *to)
{
  return (*Back::Ops()->memory->Copy)(NULL, to, from, n, HOPS_COPY_OUT);
}

template <class Back> static PetscErrorCode HopsLanesFree(void *p)
{
  return (*Back::Ops()->memory->PoolFree)((void **)p);
}
