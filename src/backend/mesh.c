/* What every back end takes of a space: the basis of its element maps, element restriction and
   coordinates. */
#include <hops/private/hopsimpl.h>

PetscErrorCode HopsSpaceCreateGeometryBasis(HopsSpace sp, const HopsBasis *basis, HopsBasis *geom)
{
  PetscFunctionBegin;
  PetscCall(HopsBasisCreateAtPoints(sp->gorder + 1, basis->Q, basis->points, geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Element restriction and coordinates where the back end works: one copy for all operators and matrices of
   the space */
PetscErrorCode HopsSpaceGetBackendMesh(HopsSpace sp, const int **restr, const PetscReal **X)
{
  const HopsBackendOps *be = sp->backend;
  const size_t          nr = (size_t)sp->ncells * sp->ne * sizeof(int);
  const size_t          nx = (size_t)sp->ncells * sp->dim * HopsPower(sp->gorder + 1, sp->dim) * sizeof(PetscReal);

  PetscFunctionBegin;
  if (be->host) {
    sp->brestr = sp->restr;
    sp->bX     = sp->X;
  } else if (!sp->brestr && sp->ncells) {
    PetscCall((*be->memory->Malloc)(nr, (void **)&sp->brestr));
    PetscCall((*be->memory->Malloc)(nx, (void **)&sp->bX));
    PetscCall((*be->memory->Copy)(NULL, sp->brestr, sp->restr, nr, HOPS_COPY_IN));
    PetscCall((*be->memory->Copy)(NULL, sp->bX, sp->X, nx, HOPS_COPY_IN));
  }
  *restr = sp->brestr;
  *X     = sp->bX;
  PetscFunctionReturn(PETSC_SUCCESS);
}
