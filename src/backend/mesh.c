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
    if (!sp->brestr && sp->restr) { /* a space without a numbering has none */
      PetscCall((*be->memory->Malloc)(nr, (void **)&sp->brestr));
      PetscCall((*be->memory->Copy)(NULL, sp->brestr, sp->restr, nr, HOPS_COPY_IN));
    }
    if (!sp->bX && sp->X) { /* a view of cells has none */
      PetscCall((*be->memory->Malloc)(nx, (void **)&sp->bX));
      PetscCall((*be->memory->Copy)(NULL, sp->bX, sp->X, nx, HOPS_COPY_IN));
    }
  }
  *restr = sp->brestr;
  *X     = sp->bX;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceGetBackendCells(HopsSpace sp, const int **restr, const PetscReal **X)
{
  PetscFunctionBegin;
  PetscCall(HopsSpaceGetBackendMesh(sp, restr, X));
  if (sp->hung) *restr = sp->hung->restr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceBringCoordinates(HopsSpace sp)
{
  size_t nr, nx;

  PetscFunctionBegin;
  if (sp->X || !sp->bX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsSpaceMeshSizes(sp, &nr, &nx));
  PetscCall(PetscMalloc(nx, &sp->X));
  PetscCall((*sp->backend->memory->Copy)(NULL, sp->X, sp->bX, nx, HOPS_COPY_OUT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceBringMesh(HopsSpace sp)
{
  size_t nr, nx;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringCoordinates(sp));
  if (sp->restr || !sp->brestr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsSpaceMeshSizes(sp, &nr, &nx));
  PetscCall(PetscMalloc(nr, &sp->restr));
  PetscCall((*sp->backend->memory->Copy)(NULL, sp->restr, sp->brestr, nr, HOPS_COPY_OUT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceTakeMesh(HopsSpace sp)
{
  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(sp));
  if (!sp->backend->host) {
    PetscCall((*sp->backend->memory->Free)((void **)&sp->brestr));
    PetscCall((*sp->backend->memory->Free)((void **)&sp->bX));
  }
  sp->brestr = NULL;
  sp->bX     = NULL;
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
