/* Hierarchies of adaptive meshes by global coarsening, for tests of multigrid. */
#pragma once
#include "hangingcase.h"
#include "../tutorials/octreeadapt.h"

#define HANG_MESHES 16

/* A hierarchy, coarsest first: meshes by global coarsening, spaces on them */
typedef struct {
  PetscInt   n;
  HangMesh   mesh[HANG_MESHES];
  HangArrays a[HANG_MESHES];
  HopsSpace  space[HANG_MESHES];
} HangHierarchy;

/* Children have their parents' directions, so these are those of the roots */
static inline void HangTurnRoots(HangMesh *m)
{
  for (PetscInt c = 0; c < m->n; ++c) {
    HangCell      *x       = m->cell + c;
    const PetscInt root[3] = {x->a[0] >> x->level, x->a[1] >> x->level, x->a[2] >> x->level};

    HangTurn(m, x, 7 + 31 * (PetscInt)HangIndex(m, 0, root));
  }
}

static inline PetscErrorCode HangTell(HangHierarchy *h, PetscInt l)
{
  PetscInt n = 0, *relations;

  PetscFunctionBeginUser;
  PetscCall(HangRelations(&h->mesh[l - 1], &h->mesh[l], h->a[l].first, h->a[l].nc, &n, &relations));
  PetscCall(HopsSpaceSetCoarse(h->space[l], h->space[l - 1], n, relations));
  PetscCall(PetscFree(relations));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* At most so many meshes, from the finest one down until nothing is left to coarsen, or twice the same one;
   orders[2]: of the finest space and of those below */
static inline PetscErrorCode HangHierarchyCreate(HangMesh *finest, PetscInt most, PetscBool same, const PetscInt orders[2],
                                                 PetscBool (*essential)(PetscInt, const PetscReal[]), PetscInt empty,
                                                 HangHierarchy *h)
{
  PetscBool turned = PETSC_FALSE, curved = PETSC_FALSE;
  HangMesh  meshes[HANG_MESHES];

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-turned", &turned, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-curved", &curved, NULL));
  *h        = (HangHierarchy){.n = 1};
  meshes[0] = *finest;
  while (h->n < PetscMin(most, HANG_MESHES)) {
    if (same) {
      PetscCall(HangCopy(finest, &meshes[h->n]));
      PetscCall(HangList(&meshes[h->n], PETSC_FALSE));
    } else PetscCall(HangCoarsen(&meshes[h->n - 1], &meshes[h->n]));
    if (!same && meshes[h->n].n == meshes[h->n - 1].n) {
      PetscCall(HangDestroy(&meshes[h->n]));
      break;
    }
    ++h->n;
  }
  for (PetscInt l = 0; l < h->n; ++l) {
    h->mesh[l] = meshes[h->n - 1 - l];
    if (turned) HangTurnRoots(&h->mesh[l]);
    PetscCall(HangArraysCreate(&h->mesh[l], orders[l < h->n - 1], curved ? HangQuadratic : NULL, essential, empty, &h->a[l]));
    PetscCall(HangSpace(&h->mesh[l], orders[l < h->n - 1], &h->a[l], &h->space[l]));
    if (l) PetscCall(HangTell(h, l));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode HangHierarchyDestroy(HangHierarchy *h)
{
  PetscFunctionBeginUser;
  for (PetscInt l = 0; l < h->n; ++l) {
    PetscCall(HopsSpaceDestroy(&h->space[l]));
    PetscCall(HangArraysDestroy(&h->a[l]));
    PetscCall(HangDestroy(&h->mesh[l]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
