/*
  Patches where nodes hang. A cell lists its parent's nodes on facets and edges that are parts of the
  parent's (hopshanging.h). So it lists vertices of the parent's that it does not touch:

     o-------o---o    Around v: K, and the cells A and C at v. B lists v in A's place, and has the unknowns of
     |       | B |    the long edge too. It is not at v, but the patch's matrix needs it.
     |   K   +---+
     |       | A |
     o-------v---o
     |       | C |
*/
#include <hops/private/hopspatchimpl.h>

PetscBool HopsPatchCornerIsOwn(const HopsPatchCells *pc, PetscInt k)
{
  return !pc->space->hanging || HopsHangingIsOwn(&pc->hanging, pc->hang[k / pc->nv], (int)pc->corner[k % pc->nv]);
}

/* A cell's own node is in the patches of its own corners, one of a parent's in those of the parent's */
PetscBool HopsPatchHangingUncovered(const HopsPatchCells *pc, PetscInt c, const int has[])
{
  const PetscInt dim = pc->space->dim, P = pc->space->order + 1;

  for (PetscInt i = 0; i < pc->nn; ++i) {
    PetscBool in = PETSC_FALSE, own;

    if (pc->gid[c * pc->nn + i] < 0) continue;
    own = HopsHangingIsOwn(&pc->hanging, pc->hang[c], (int)i);
    for (PetscInt v = 0; v < pc->nv && !in; ++v) {
      if (!has[pc->number[c * pc->nv + v]] || (own && !HopsPatchCornerIsOwn(pc, c * pc->nv + v))) continue;
      in = PETSC_TRUE;
      for (PetscInt d = 0, r = i; d < dim; ++d, r /= P)
        if (r % P == ((v >> d) & 1 ? 0 : P - 1)) in = PETSC_FALSE;
    }
    if (!in) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

PetscErrorCode HopsPatchesAddCell(HopsPatches pt, const HopsPatchCells *pc, const HopsPatchOptions *opt, PetscInt c, char why[])
{
  PetscInt       n = 0, *gid;
  unsigned char *dist;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(pc->nn, &gid));
  PetscCall(PetscCalloc1(pc->nn, &dist));
  for (PetscInt i = 0; i < pc->nn; ++i)
    if (pc->gid[c * pc->nn + i] >= 0) gid[n++] = pc->gid[c * pc->nn + i];
  PetscCall(PetscSortRemoveDupsInt(&n, gid));
  if (n > opt->densemax)
    PetscCall(HopsRefuse(why,
                         "Cell %" PetscInt_FMT " of a mesh with hanging nodes has %" PetscInt_FMT
                         " unknowns, more than the largest patch whose matrix is inverted: use -pc_patchfd_dense_max %" PetscInt_FMT
                         " (or (2p-1)^%" PetscInt_FMT " to have patches of vertices), or Jacobi as a smoother (-mg_levels_pc_type "
                         "jacobi)",
                         pc->space->cell[c], n, HopsPower(pc->space->order + 1, pc->space->dim), pc->space->dim));
  else if (n) {
    PetscCall(HopsPatchesAppend(pt, n, NULL, gid, dist, 0, NULL));
    pt->element[pt->n - 1] = 1;
    pt->center[pt->n - 1]  = c;
  }
  PetscCall(PetscFree(gid));
  PetscCall(PetscFree(dist));
  PetscFunctionReturn(PETSC_SUCCESS);
}
