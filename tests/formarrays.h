/* Arrays of a space of any family: global index and sign of each entry in the caller's order of cells */
#pragma once
#include <hops/private/hopsimpl.h>

typedef struct {
  PetscInt   dim, order, gorder, nc, ne, n, ness;
  PetscInt  *unknowns, *ess, rstart;
  PetscReal *coords;
} Arrays;

static PetscErrorCode ArraysDestroy(Arrays *a)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(a->unknowns));
  PetscCall(PetscFree(a->coords));
  PetscCall(PetscFree(a->ess));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the arrays as they are, or copies in the memory of the back end that -device names */
static PetscErrorCode ArraysPlace(const Arrays *a, Arrays *there, const HopsBackendOps **be)
{
  const size_t size[] = {a->nc * a->ne * sizeof(PetscInt), a->nc * HopsPower(a->gorder + 1, a->dim) * a->dim * sizeof(PetscReal),
                         a->ness * sizeof(PetscInt)};
  const void  *from[] = {a->unknowns, a->coords, a->ess};
  void       **to[]   = {(void **)&there->unknowns, (void **)&there->coords, (void **)&there->ess};
  char         name[32];
  PetscBool    set;

  PetscFunctionBeginUser;
  *there = *a;
  *be    = NULL;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-device", name, sizeof(name), &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsInitialize());
  PetscCall(HopsBackendGet(name, be));
  for (int i = 0; i < 3; ++i) {
    PetscCall((*(*be)->memory->Malloc)(size[i], to[i]));
    if (size[i]) PetscCall((*(*be)->memory->Copy)(NULL, *to[i], from[i], size[i], HOPS_COPY_IN));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ArraysCreateSpace(HopsFamily f, const Arrays *arrays, PetscBool essential, HopsSpace *sp)
{
  const HopsBackendOps *be;
  Arrays                there, *a = &there;

  PetscFunctionBeginUser;
  PetscCall(ArraysPlace(arrays, a, &be));
  if (f == HOPS_H1 && a->gorder == a->order)
    PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, a->dim, a->order, a->nc, a->n, a->unknowns, a->coords,
                                        essential ? a->ness : 0, a->ess, sp));
  else
    PetscCall(HopsSpaceCreateFamilyFromArrays(PETSC_COMM_WORLD, f, a->dim, a->order, a->nc, a->n, a->unknowns, a->gorder, a->coords,
                                              essential ? a->ness : 0, a->ess, sp));
  if (be) {
    PetscCall((*be->memory->Free)((void **)&a->unknowns));
    PetscCall((*be->memory->Free)((void **)&a->coords));
    PetscCall((*be->memory->Free)((void **)&a->ess));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
