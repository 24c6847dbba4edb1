/* The halo exchange on pointers of the space's back end: a device's entries travel through the process's own memory. */
#include <hops/private/hopsimpl.h>

/* Lists that the exchange and the identity rows need where the back end works; the host's own arrays serve the host */
PetscErrorCode HopsSpaceSetUpBackend(HopsSpace sp)
{
  const HopsBackendOps *be = sp->backend;

  PetscFunctionBegin;
  if (sp->onbackend) PetscFunctionReturn(PETSC_SUCCESS);
  if (be->host) {
    sp->bshared = sp->shared;
    sp->bessT   = sp->essT;
  } else {
    PetscCall((*be->Malloc)(sp->nshared * sizeof(PetscInt), (void **)&sp->bshared));
    PetscCall((*be->Malloc)(sp->ness * sizeof(PetscInt), (void **)&sp->bessT));
    PetscCall((*be->Malloc)(sp->nshared * sizeof(PetscScalar), (void **)&sp->bhbuf));
    PetscCall((*be->Copy)(sp->bshared, sp->shared, sp->nshared * sizeof(PetscInt), PETSC_TRUE));
    PetscCall((*be->Copy)(sp->bessT, sp->essT, sp->ness * sizeof(PetscInt), PETSC_TRUE));
    PetscCall(PetscMalloc1(sp->nG, &sp->gbuf));
  }
  sp->onbackend = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceResetBackend(HopsSpace sp)
{
  const HopsBackendOps *be = sp->backend;

  PetscFunctionBegin;
  if (sp->onbackend && !be->host) {
    PetscCall((*be->Free)((void **)&sp->bshared));
    PetscCall((*be->Free)((void **)&sp->bessT));
    PetscCall((*be->Free)((void **)&sp->bhbuf));
    PetscCall(PetscFree(sp->gbuf));
  }
  if (!be->host) {
    PetscCall((*be->Free)((void **)&sp->brestr));
    PetscCall((*be->Free)((void **)&sp->bX));
  }
  sp->brestr  = NULL;
  sp->bX      = NULL;
  sp->bshared = sp->bessT = NULL;
  sp->onbackend           = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Element restriction and coordinates where the back end works: one copy for all operators and matrices of the space */
PetscErrorCode HopsSpaceGetBackendMesh(HopsSpace sp, const int **restr, const PetscReal **X)
{
  const HopsBackendOps *be = sp->backend;
  const size_t          nr = (size_t)sp->ncells * PetscPowInt(sp->order + 1, sp->dim) * sizeof(int), nx = (size_t)sp->ncells * sp->dim * PetscPowInt(sp->gorder + 1, sp->dim) * sizeof(PetscReal);

  PetscFunctionBegin;
  if (be->host) {
    sp->brestr = sp->restr;
    sp->bX     = sp->X;
  } else if (!sp->brestr && sp->ncells) {
    PetscCall((*be->Malloc)(nr, (void **)&sp->brestr));
    PetscCall((*be->Malloc)(nx, (void **)&sp->bX));
    PetscCall((*be->Copy)(sp->brestr, sp->restr, nr, PETSC_TRUE));
    PetscCall((*be->Copy)(sp->bX, sp->X, nx, PETSC_TRUE));
  }
  *restr = sp->brestr;
  *X     = sp->bX;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceBackendHaloBegin(HopsSpace sp, const PetscScalar x[], PetscScalar xg[])
{
  const HopsBackendOps *be = sp->backend;

  PetscFunctionBegin;
  if (be->host) PetscCall(HopsSpaceHaloBegin(sp, x, xg));
  else {
    if (sp->nshared) {
      PetscCall((*be->Pack)(sp->nshared, sp->bshared, x, sp->bhbuf));
      PetscCall((*be->Copy)(sp->hbuf, sp->bhbuf, sp->nshared * sizeof(PetscScalar), PETSC_FALSE));
    }
    PetscCall(PetscSFBcastBegin(sp->halo, MPIU_SCALAR, sp->hbuf, sp->gbuf, MPI_REPLACE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceBackendHaloEnd(HopsSpace sp, const PetscScalar x[], PetscScalar xg[])
{
  PetscFunctionBegin;
  if (sp->backend->host) PetscCall(HopsSpaceHaloEnd(sp, x, xg));
  else {
    PetscCall(PetscSFBcastEnd(sp->halo, MPIU_SCALAR, sp->hbuf, sp->gbuf, MPI_REPLACE));
    if (sp->nG) PetscCall((*sp->backend->Copy)(xg, sp->gbuf, sp->nG * sizeof(PetscScalar), PETSC_TRUE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceBackendHaloAddBegin(HopsSpace sp, const PetscScalar yg[])
{
  PetscFunctionBegin;
  if (sp->backend->host) PetscCall(HopsSpaceHaloAddBegin(sp, yg));
  else {
    if (sp->nG) PetscCall((*sp->backend->Copy)(sp->gbuf, yg, sp->nG * sizeof(PetscScalar), PETSC_FALSE));
    PetscCall(HopsSpaceHaloAddBegin(sp, sp->gbuf));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceBackendHaloAddEnd(HopsSpace sp, const PetscScalar yg[], PetscScalar y[])
{
  const HopsBackendOps *be = sp->backend;

  PetscFunctionBegin;
  if (be->host) PetscCall(HopsSpaceHaloAddEnd(sp, yg, y));
  else {
    PetscCall(PetscSFReduceEnd(sp->halo, MPIU_SCALAR, sp->gbuf, sp->hbuf, MPIU_SUM));
    if (sp->nshared) {
      PetscCall((*be->Copy)(sp->bhbuf, sp->hbuf, sp->nshared * sizeof(PetscScalar), PETSC_TRUE));
      PetscCall((*be->UnpackAdd)(sp->nshared, sp->bshared, sp->bhbuf, y));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
