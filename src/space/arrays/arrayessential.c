/* A space from arrays, with essential unknowns that were found after it was made. */
#include <hops/private/hopsderhamimpl.h>

/* ess[nT]: whether an owned unknown is essential; sp has no essential unknowns. Collective */
PetscErrorCode HopsSpaceCreateEssential_Private(HopsSpace sp, const PetscBool ess[], HopsSpace *space)
{
  HopsSpace      s;
  PetscInt      *gidx;
  unsigned char *isess;
  PetscBool     *seen;
  PetscReal     *x, *xg;
  char           why[HOPS_WHY_LENGTH] = "";

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(sp));
  PetscCall(PetscCalloc3(sp->nT, &x, sp->nL - sp->nT, &xg, sp->nL, &seen));
  PetscCall(PetscMalloc2(sp->nL, &gidx, sp->nL, &isess));
  for (PetscInt i = 0; i < sp->ncells * sp->ne; ++i) seen[HopsUnsigned(sp->restr[i])] = PETSC_TRUE;
  for (PetscInt i = 0; i < sp->nT; ++i) {
    x[i] = ess[i] ? 1.0 : 0.0;
    if (ess[i] && !seen[i])
      PetscCall(HopsRefuse(why,
                           "Unknown %" PetscInt_FMT
                           " has a Dirichlet row and is owned by a rank none of whose cells touch it: let it "
                           "be owned by a rank with such a cell",
                           sp->rstart + i));
  }
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)sp), PETSC_ERR_SUP, why));
  PetscCall(HopsSpaceGlobalToLocal(sp, 0, x, xg));
  for (PetscInt i = 0; i < sp->nL; ++i) {
    gidx[i]  = i < sp->nT ? sp->rstart + i : sp->ghost[i - sp->nT];
    isess[i] = PetscRealPart(i < sp->nT ? x[i] : xg[i - sp->nT]) > 0.5 ? 1 : 0;
  }
  PetscCall(HopsSpaceCopyCells_Private(sp, sp->nT, &s));
  PetscCall(HopsSpaceSetUpNumbering(s, sp->nL, gidx, isess, sp->restr));
  PetscCall(PetscFree2(gidx, isess));
  PetscCall(PetscFree3(x, xg, seen));
  *space = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}
