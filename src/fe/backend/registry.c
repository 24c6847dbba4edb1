/* The back ends by name. Accelerator conditionals live in this file alone. */
#include <hops/private/hopsimpl.h>

static const HopsBackendOps *const HopsBackends[] = {&HopsBackendHost};

PetscErrorCode HopsBackendGet(const char name[], const HopsBackendOps **ops)
{
  PetscFunctionBegin;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(HopsBackends); ++i) {
    PetscBool same;

    PetscCall(PetscStrcmp(name, HopsBackends[i]->name, &same));
    if (same) {
      *ops = HopsBackends[i];
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE, "Unknown back end \"%s\" (-hops_backend): this build has \"host\"", name);
}
