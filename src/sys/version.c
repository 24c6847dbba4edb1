#include <hops/private/hopsimpl.h>

/* What -ksp_view says first of a preconditioner of hops, so that a log tells which hops made it */
PetscErrorCode HopsViewVersion(PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  hops %d.%d.%d\n", HOPS_VERSION_MAJOR, HOPS_VERSION_MINOR, HOPS_VERSION_PATCH));
  PetscFunctionReturn(PETSC_SUCCESS);
}
