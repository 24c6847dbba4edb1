/* The coarse spaces of a multigrid hierarchy: essential boundary, element maps and coefficients are those of
   the fine space. */
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopsnestedimpl.h>
#include <hops/private/hopspleximpl.h>

/* -------------------------------------- essential points -------------------------------------- */

/* A point of the coarse mesh is essential where the fine vertex in its middle is; on the same mesh, where its
   own unknowns are. Points of other ranks' cells (an overlap) take what their owners know, which points of
   hops' own numbering have done */
static PetscErrorCode HopsCoarseEssential(HopsSpace fine, DM dm, HopsPlexCells cells, PetscBool same, PetscInt *n,
                                          PetscInt *points[])
{
  PetscInt     pStart, pEnd, m, *on, vStart, vEnd, *source;
  signed char *mark;
  PetscBool    ok;

  PetscFunctionBegin;
  PetscCall(DMPlexGetChart(dm, &pStart, &pEnd));
  PetscCall(HopsSpaceGetEssentialPoints(fine, &m, &on));
  if (same && fine->fixed && !fine->hanging) {
    *n      = m;
    *points = on;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscCalloc1(pEnd - pStart, &mark));
  if (same) {
    for (PetscInt i = 0; i < m; ++i) mark[on[i] - pStart] = 1;
  } else {
    PetscCall(HopsNestedVertices(dm, cells, fine, &vStart, &vEnd, &source, &ok));
    PetscCheck(ok, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_INCOMP,
               "The fine mesh is no uniform refinement of the coarse one with the children on their parents' ranks: refine by "
               "DMRefine() or -dm_refine_hierarchy after the mesh was distributed");
    for (PetscInt i = 0; i < m; ++i)
      if (on[i] >= vStart && on[i] < vEnd && source[on[i] - vStart] >= 0) mark[source[on[i] - vStart] - pStart] = 1;
    PetscCall(PetscFree(source));
  }
  PetscCall(PetscFree(on));
  PetscCall(HopsPlexSharePoints(dm, mark, n, points));
  PetscCall(PetscFree(mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------------- element maps ---------------------------------------- */

/* l[2][P]: the P Lagrange functions on GLL nodes at y and at -y */
static PetscErrorCode HopsLagrangePair(PetscInt P, PetscReal y, PetscReal l[])
{
  PetscFunctionBegin;
  for (PetscInt s = 0; s < 2; ++s) {
    const PetscReal at = s ? -y : y;
    HopsBasis       b;

    PetscCall(HopsBasisCreateAtPoints(P, 1, &at, &b));
    PetscCall(PetscArraycpy(l + s * P, b.B, P));
    PetscCall(HopsBasisDestroy(&b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The maps of the same cells in the same order, where they are: done is false where that is not so on all
   ranks. Collective */
static PetscErrorCode HopsCoarseTakeMaps(HopsSpace coarse, HopsSpace fine, PetscBool *done)
{
  const HopsBackendOps *be    = fine->backend;
  const size_t          bytes = (size_t)fine->ncells * fine->dim * HopsPower(fine->gorder + 1, fine->dim) * sizeof(PetscReal);

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (!HopsMeshApart(be) || coarse->backend != be) PetscFunctionReturn(PETSC_SUCCESS);
  *done = (fine->bX || !fine->ncells) && coarse->ncells == fine->ncells ? PETSC_TRUE : PETSC_FALSE;
  if (*done && coarse->cell != fine->cell) PetscCall(PetscArraycmp(coarse->cell, fine->cell, fine->ncells, done));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, done, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)fine)));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsSpaceReplaceCoordinates(coarse, fine->gorder, NULL));
  PetscCall((*be->memory->Malloc)(bytes, (void **)&coarse->bX));
  PetscCall((*be->memory->Copy)(NULL, coarse->bX, fine->bX, bytes, HOPS_COPY_WITHIN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Coordinates of the coarse cells' map nodes from the maps of their children, so that a fine mesh that was
  moved after its refinement has coarse meshes that follow. Where the back end works if it has the passes over
  meshes.
*/
static PetscErrorCode HopsCoarseGeometry(const HopsNested *n, HopsSpace coarse, HopsSpace fine)
{
  const HopsBackendOps *be  = fine->backend;
  const PetscInt        dim = n->dim, P = fine->gorder + 1, np = HopsPower(P, dim), size = coarse->ncells * np * dim;
  const PetscBool       apart = HopsMeshApart(be) && coarse->backend == be ? PETSC_TRUE : PETSC_FALSE;
  const int            *restr;
  const PetscReal      *fX;
  PetscReal            *gll, *w, *l, *end, *X;
  int                  *h;
  HopsChildMaps         maps;

  PetscFunctionBegin;
  if (n->same) {
    PetscCall(HopsSpaceBringCoordinates(fine));
    PetscCall(PetscMalloc1(size, &X));
    PetscCall(HopsSpaceReplaceCoordinates(coarse, fine->gorder, X));
    for (PetscInt c = 0; c < n->ncoarse; ++c)
      PetscCall(PetscArraycpy(coarse->X + c * np * dim, fine->X + n->child[c] * np * dim, np * dim));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc5(P, &gll, P, &w, 2 * P * P, &l, 4 * P, &end, P, &h));
  PetscCall(HopsGLL(P, gll, w));
  for (PetscInt i = 0; i < P; ++i) {
    PetscReal y;

    h[i] = (int)HopsNestedHalf(n->nhalf, gll[i], &y);
    PetscCall(HopsLagrangePair(P, y, l + 2 * P * i));
  }
  /* the middle, as each half sees it */
  for (PetscInt s = 0; s < 2; ++s) PetscCall(HopsLagrangePair(P, s ? -1.0 : 1.0, end + 2 * P * s));
  maps = (HopsChildMaps){dim, P, n->nhalf, n->ncoarse, n->nfine, n->child, n->axis, l, end, h};
  if (apart) {
    PetscCall(HopsSpaceGetBackendMesh(fine, &restr, &fX));
    PetscCall(HopsSpaceReplaceCoordinates(coarse, fine->gorder, NULL));
    PetscCall((*be->memory->Malloc)((size_t)size * sizeof(PetscReal), (void **)&coarse->bX));
    PetscCall((*be->mesh->Coarsen)(&maps, fX, coarse->bX));
  } else {
    PetscCall(HopsSpaceBringCoordinates(fine));
    PetscCall(PetscMalloc1(size, &X));
    PetscCall(HopsSpaceReplaceCoordinates(coarse, fine->gorder, X));
    PetscCall((*HopsMeshHost.Coarsen)(&maps, fine->X, X));
  }
  PetscCall(PetscFree5(gll, w, l, end, h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cells are the fine space's, by their numbers: what was told of them holds of the coarse space's, too */
static PetscErrorCode HopsSpaceSetMesh(HopsSpace coarse, HopsSpace fine)
{
  PetscFunctionBegin;
  PetscCall(HopsSpaceReference(HopsSpaceMesh(fine)));
  coarse->mesh = HopsSpaceMesh(fine);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceCreateCoarse - Creates the space of lower order, or on the mesh of which the space's own mesh is
  the uniform refinement.

  Collective

  Input Parameters:
+ fine  - the space
. dm    - the coarse mesh, of a space on a `DMPLEX`, or `NULL` for the space's own
- order - the order of the coarse space, at most that of the fine one

  Output Parameter:
. coarse - the coarse space, with hops' own numbering, a subspace of the fine one

  Level: intermediate

  Notes:
  A point of the coarse mesh is essential where the fine space's unknowns there are; labels are not needed.
  The element maps are those of the fine mesh, interpolated at the coarse cells' nodes, so that coarse meshes
  follow a fine one that was moved after its refinement.

  The coarse mesh is one step of `DMRefine()` below, as in the chain of `DMGetCoarseDM()` that
  `-dm_refine_hierarchy` makes, or was made separately with its cells where the fine cells' parents are. Each
  child must be on the rank of its parent.

  A space of lower order on the same mesh keeps the finer one.

  A space from arrays has coarse spaces of lower order on its own cells, also where nodes hang. Coarser meshes
  are told by `HopsSpaceSetCoarse()`, on a `DMPLEX` whose cells were refined here and there, too.

.seealso: `HopsSpace`, `HopsSpaceSetCoarse()`, `HopsSpaceCreateH1()`, `MatCreateHopsInterp()`, `PCHOPSMG`
@*/
PetscErrorCode HopsSpaceCreateCoarse(HopsSpace fine, DM dm, PetscInt order, HopsSpace *coarse)
{
  HopsNested    n;
  HopsPlexCells cells;
  PetscInt      npoints, *points, dim;
  PetscBool     same, done = PETSC_FALSE;

  PetscFunctionBegin;
  HopsValidHeader(fine, HOPS_SPACE_CLASSID, 1);
  if (dm) HopsValidHeader(dm, DM_CLASSID, 2);
  HopsValidPointer(coarse, 4);
  PetscCheck(fine->dm || !dm, PetscObjectComm((PetscObject)fine), PETSC_ERR_SUP,
             "A space made from arrays has no DM below it: make the coarse space from arrays, too, and tell how its cells lie by "
             "HopsSpaceSetCoarse()");
  PetscCheck(fine->family == HOPS_H1, PetscObjectComm((PetscObject)fine), PETSC_ERR_SUP,
             "Coarse spaces are those of H1, and this space is in %s: make one in H1 (HopsSpaceCreateH1())",
             HopsFamilies[fine->family]);
  PetscCheck(order >= 1 && order <= fine->order, PetscObjectComm((PetscObject)fine), PETSC_ERR_ARG_OUTOFRANGE,
             "The order of the coarse space must be at least 1 and at most %" PetscInt_FMT
             ", that of the fine one, not %" PetscInt_FMT,
             fine->order, order);
  if (!fine->dm) {
    PetscCall(HopsSpaceCreateLowerOrder(fine, order, coarse));
    PetscCall(HopsSpaceSetMesh(*coarse, fine));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!dm) dm = fine->dm;
  PetscCall(HopsPlexSameMesh(dm, fine->dm, &same));
  cells = fine->cells;
  if (!same) {
    PetscCall(HopsSpaceCheckConforming(fine, "HopsSpaceCreateCoarse() on another mesh",
                                       "have spaces on coarser meshes that HopsSpaceSetCoarse() tells of; lower orders on the same "
                                       "mesh (-pc_hopsmg_coarsen p) need none"));
    PetscCall(HopsCheckPlex(dm, &dm, &dim));
    PetscCheck(dim == fine->dim, PetscObjectComm((PetscObject)fine), PETSC_ERR_ARG_INCOMP,
               "The coarse mesh has dimension %" PetscInt_FMT " and the fine one %" PetscInt_FMT
               ": coarse meshes are those of the fine one's hierarchy (DMRefine())",
               dim, fine->dim);
    PetscCall(HopsPlexCellsCreate(dm, dim, fine->backend, &cells));
  }
  PetscCall(HopsCoarseEssential(fine, dm, cells, same, &npoints, &points));
  PetscCall(HopsSpaceCreatePlex_Private(dm, cells, HOPS_H1, order, NULL, npoints, NULL, points, coarse));
  PetscCall(PetscFree(points));
  if (!same) PetscCall(HopsPlexCellsDestroy(&cells));
  PetscCall(HopsSpaceSetBackend(*coarse, fine));
  if (same) PetscCall(HopsSpaceSetMesh(*coarse, fine));
  if (same) PetscCall(HopsCoarseTakeMaps(*coarse, fine, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsNestedCreate(*coarse, fine, &n));
  PetscCall(HopsCoarseGeometry(&n, *coarse, fine));
  PetscCall(HopsNestedDestroy(&n));
  PetscFunctionReturn(PETSC_SUCCESS);
}
