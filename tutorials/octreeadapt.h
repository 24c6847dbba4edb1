/* The next mesh of an adaptive loop from marks, and how its cells lie in the old ones, for
   HopsSpaceTransfer() */
#pragma once
#include "octree.h"
#include <petscdm.h>

/* marks[old->n]: DM_ADAPT_REFINE; cells are coarsened where all of a family are DM_ADAPT_COARSEN. Balance
   refines more, so that a cell is refined or coarsened by one level at most */
static inline PetscErrorCode HangNext(const HangMesh *old, const PetscInt marks[], HangMesh *m)
{
  PetscFunctionBeginUser;
  PetscCall(HangCopy(old, m));
  for (PetscInt c = 0; c < old->n; ++c) {
    const HangCell *x         = old->cell + c;
    const PetscInt  parent[3] = {x->a[0] >> 1, x->a[1] >> 1, x->a[2] >> 1};
    PetscInt        family    = 0;

    if (marks[c] == DM_ADAPT_REFINE && x->level < m->finest) PetscCall(HangRefine(m, x->level, x->a));
    if (marks[c] != DM_ADAPT_COARSEN || !x->level) continue;
    for (PetscInt v = 0; v < (1 << m->dim); ++v) {
      const PetscInt  b[3] = {2 * parent[0] + (v & 1), 2 * parent[1] + (v >> 1 & 1), 2 * parent[2] + (v >> 2)};
      const HangNode *e    = HangFind(old, x->level, HangIndex(old, x->level, b));

      family += e->state == 1 && marks[e->cell] == DM_ADAPT_COARSEN;
    }
    if (family < 1 << m->dim) continue;
    PetscCall(HangSet(m, x->level, HangIndex(m, x->level, x->a), 0));
    PetscCall(HangSet(m, x->level - 1, HangIndex(m, x->level - 1, parent), 1));
  }
  PetscCall(HangList(m, PETSC_FALSE));
  PetscFunctionReturn(0);
}

/* The next level of multigrid by global coarsening: all families become their parents, as far as neighbours
   allow. A mesh of as many cells is the coarsest */
static inline PetscErrorCode HangCoarsen(const HangMesh *fine, HangMesh *coarse)
{
  PetscInt *marks;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(fine->n, &marks));
  for (PetscInt c = 0; c < fine->n; ++c) marks[c] = DM_ADAPT_COARSEN;
  PetscCall(HangNext(fine, marks, coarse));
  PetscCall(PetscFree(marks));
  PetscFunctionReturn(0);
}

/* all[m->n] from the marks of each rank's cells */
static inline PetscErrorCode HangAllMarks(const HangMesh *m, PetscInt nc, const PetscInt marks[], PetscInt all[])
{
  PetscMPIInt size, n = (PetscMPIInt)nc, *count, *start;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscMalloc2(size, &count, size + 1, &start));
  PetscCallMPI(MPI_Allgather(&n, 1, MPI_INT, count, 1, MPI_INT, PETSC_COMM_WORLD));
  start[0] = 0;
  for (PetscMPIInt r = 0; r < size; ++r) start[r + 1] = start[r] + count[r];
  PetscCallMPI(MPI_Allgatherv(marks, n, MPIU_INT, all, count, start, MPIU_INT, PETSC_COMM_WORLD));
  PetscCall(PetscFree2(count, start));
  PetscFunctionReturn(0);
}

/* which child of its parent, by the bits of its directions */
static inline PetscInt HangChild(const HangMesh *m, const HangCell *c)
{
  PetscInt k = 0;

  for (PetscInt d = 0; d < m->dim; ++d) k |= ((c->a[c->perm[d]] & 1) ^ c->flip[d]) << d;
  return k;
}

/* Of cells first.. of the new mesh, nc of them: relations[n][3], to be freed. Old cells have the numbers of
   their list */
static inline PetscErrorCode HangRelations(const HangMesh *old, const HangMesh *m, PetscInt first, PetscInt nc, PetscInt *n,
                                           PetscInt *relations[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(3 * (nc << m->dim), relations));
  *n = 0;
  for (PetscInt c = 0; c < nc; ++c) {
    const HangCell *x     = m->cell + first + c;
    const PetscInt  up[3] = {x->a[0] >> 1, x->a[1] >> 1, x->a[2] >> 1};
    const HangNode *same  = HangFind(old, x->level, HangIndex(old, x->level, x->a));
    PetscInt       *r     = *relations + 3 * *n;

    for (PetscInt v = 0; v < (1 << m->dim); ++v) {
      const PetscInt  b[3] = {2 * x->a[0] + (v & 1), 2 * x->a[1] + (v >> 1 & 1), 2 * x->a[2] + (v >> 2)};
      const HangNode *e    = same && same->state == 2 ? HangFind(old, x->level + 1, HangIndex(old, x->level + 1, b)) : same;

      if (!e || e->state == 0) e = HangFind(old, x->level - 1, HangIndex(old, x->level - 1, up));
      r[0] = c;
      r[1] = e->cell;
      r[2] = e->level == x->level ? -1 : (e->level < x->level ? HangChild(m, x) : -2 - HangChild(old, old->cell + e->cell));
      r += 3;
      ++*n;
      if (r[-1] > -2) break;
    }
  }
  PetscFunctionReturn(0);
}
