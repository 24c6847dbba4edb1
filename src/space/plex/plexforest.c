/*
  The mesh of a DMForest: the DMPLEX into which DMConvert() turns it, which shares the forest's sections, so
  that vectors are the same. PETSc's local functions work on such a one, too, which is the forest's object
  "dm_plex". Hops' takes that place where there is none yet. All goes through PETSc's interface: p4est is not
  linked.
*/
#include <hops/private/hopspleximpl.h>
#include <petscdmforest.h>

static const char Key[] = "HopsForest", PETScKey[] = "dm_plex";

/* Makes it, in place of one that is there */
static PetscErrorCode Convert(DM dm, DM *plex)
{
  DM       petscs;
  const DM before = *plex;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)dm, PETScKey, (PetscObject *)&petscs));
  PetscCall(DMConvert(dm, DMPLEX, plex));
  if (!petscs || petscs == before) PetscCall(PetscObjectCompose((PetscObject)dm, PETScKey, (PetscObject)*plex));
  PetscCall(PetscObjectCompose((PetscObject)dm, Key, (PetscObject)*plex));
  PetscCall(PetscObjectDereference((PetscObject)*plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Auxiliary vectors are those of the forest, which a code may set at any time. DMCopyAuxiliaryVec() of PETSc
   3.18 takes no references. Their own meshes are found later, where only some ranks ask */
static PetscErrorCode SetAuxiliary(DM dm, DM plex)
{
  PetscInt n[2], most, *values, *parts;
  DMLabel *labels;

  PetscFunctionBegin;
  PetscCall(DMGetNumAuxiliaryVec(dm, &n[0]));
  PetscCall(DMGetNumAuxiliaryVec(plex, &n[1]));
  most = PetscMax(n[0], n[1]);
  if (!most) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc3(most, &labels, most, &values, most, &parts));
  for (PetscInt k = 1; k >= 0; --k) { /* first those that the forest has no more */
    PetscCall(DMGetAuxiliaryLabels(k ? plex : dm, labels, values, parts));
    for (PetscInt i = 0; i < n[k]; ++i) {
      Vec v, there;
      DM  own, other;

      PetscCall(DMGetAuxiliaryVec(dm, labels[i], values[i], parts[i], &v));
      PetscCall(DMGetAuxiliaryVec(plex, labels[i], values[i], parts[i], &there));
      if (v != there) PetscCall(DMSetAuxiliaryVec(plex, labels[i], values[i], parts[i], v));
      if (!v || k) continue;
      PetscCall(VecGetDM(v, &own));
      if (own) PetscCall(HopsDMGetPlex(own, &other));
    }
  }
  PetscCall(PetscFree3(labels, values, parts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsDMGetPlex(DM dm, DM *plex)
{
  PetscBool    is;
  PetscSection s, kept = NULL;

  PetscFunctionBegin;
  *plex = NULL;
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMPLEX, &is));
  if (is) *plex = dm;
  if (is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMIsForest(dm, &is));
  if (!is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMSetUp(dm));
  PetscCall(DMGetLocalSection(dm, &s));
  PetscCall(PetscObjectQuery((PetscObject)dm, Key, (PetscObject *)plex));
  if (*plex) PetscCall(DMGetLocalSection(*plex, &kept));
  if (!*plex || s != kept) PetscCall(Convert(dm, plex)); /* fields may have changed since */
  PetscCall(SetAuxiliary(dm, *plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}
