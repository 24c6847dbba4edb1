/* What every back end takes of a space: the basis of its element maps, element restriction and
   coordinates. */
#include <hops/private/hopsimpl.h>

PetscErrorCode HopsSpaceCreateGeometryBasis(HopsSpace sp, const HopsBasis *basis, HopsBasis *geom)
{
  PetscFunctionBegin;
  PetscCall(HopsBasisCreateAtPoints(sp->gorder + 1, basis->Q, basis->points, geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSpaceMeshSizes(HopsSpace sp, size_t *nr, size_t *nx)
{
  PetscFunctionBegin;
  *nr = (size_t)sp->ncells * sp->ne * sizeof(int);
  *nx = (size_t)sp->ncells * sp->dim * HopsPower(sp->gorder + 1, sp->dim) * sizeof(PetscReal);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Element restriction and coordinates where the back end works: one copy for all operators and matrices of
   the space, which may have been made there */
PetscErrorCode HopsSpaceGetBackendMesh(HopsSpace sp, const int **restr, const PetscReal **X)
{
  const HopsBackendOps *be = sp->backend;
  size_t                nr, nx;

  PetscFunctionBegin;
  PetscCall(HopsSpaceMeshSizes(sp, &nr, &nx));
  if (be->host) {
    sp->brestr = sp->restr;
    sp->bX     = sp->X;
  } else if (sp->ncells) {
    if (!sp->brestr) {
      PetscCall((*be->memory->Malloc)(nr, (void **)&sp->brestr));
      PetscCall((*be->memory->Copy)(NULL, sp->brestr, sp->restr, nr, HOPS_COPY_IN));
    }
    if (!sp->bX) {
      PetscCall((*be->memory->Malloc)(nx, (void **)&sp->bX));
      PetscCall((*be->memory->Copy)(NULL, sp->bX, sp->X, nx, HOPS_COPY_IN));
    }
  }
  *restr = sp->brestr;
  *X     = sp->bX;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceBringMesh(HopsSpace sp)
{
  const HopsBackendOps *be = sp->backend;
  size_t                nr, nx;

  PetscFunctionBegin;
  PetscCall(HopsSpaceMeshSizes(sp, &nr, &nx));
  if (!sp->restr && sp->brestr) {
    PetscCall(PetscMalloc(nr, &sp->restr));
    PetscCall((*be->memory->Copy)(NULL, sp->restr, sp->brestr, nr, HOPS_COPY_OUT));
  }
  if (!sp->X && sp->bX) {
    PetscCall(PetscMalloc(nx, &sp->X));
    PetscCall((*be->memory->Copy)(NULL, sp->X, sp->bX, nx, HOPS_COPY_OUT));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceReplaceCoordinates(HopsSpace sp, PetscInt gorder, PetscReal X[])
{
  PetscFunctionBegin;
  if (!sp->backend->host) PetscCall((*sp->backend->memory->Free)((void **)&sp->bX));
  sp->bX = NULL;
  PetscCall(PetscFree(sp->X));
  sp->X       = X;
  sp->gorder  = gorder;
  sp->mapkind = (HopsMapKind)0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
