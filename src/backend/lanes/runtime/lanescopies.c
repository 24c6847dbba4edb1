#include <hops/private/hopsbackendimpl.h>
#include "lanescopies.h"

PetscErrorCode HopsLanesSharedFree(const HopsBackendOps *be, HopsLanesShared *s)
{
  PetscFunctionBegin;
  PetscCall((*be->memory->Free)((void **)&s->unknown));
  PetscCall((*be->memory->Free)((void **)&s->start));
  PetscCall((*be->memory->Free)((void **)&s->copy));
  PetscCall((*be->memory->Free)((void **)&s->of));
  PetscFunctionReturn(PETSC_SUCCESS);
}
