/* The cells of a DMPlex and the points of their closures, from the mesh's arrays of cones in passes over all
   cells. */
#include <hops/private/hopspleximpl.h>

/*
  All cones of cells have one size if their types say so, or none is larger, and their sum is as if. Faces
  have one if the sum is as if, or cells that have it find edges on which they do not agree.
*/
static PetscErrorCode HopsConesCreate(DM dm, PetscInt depth, PetscInt size, PetscBool cells, HopsCones *c)
{
  PetscSection s;
  DMLabel      types = NULL;
  PetscInt     last, n, max = size;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(c, sizeof(*c)));
  PetscCall(DMPlexGetDepthStratum(dm, depth, &c->start, &c->end));
  c->size = size;
  if (c->start >= c->end) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMPlexGetConeSection(dm, &s));
  if (cells) PetscCall(DMGetLabel(dm, "celltype", &types)); /* what they say is looked at for each cell */
  if (cells && !types) PetscCall(DMPlexGetMaxSizes(dm, &max, NULL));
  PetscCall(PetscSectionGetOffset(s, c->start, &c->base));
  PetscCall(PetscSectionGetOffset(s, c->end - 1, &last));
  PetscCall(PetscSectionGetDof(s, c->end - 1, &n));
  c->stop = last + n;
  if (max == size && c->stop - c->base == (c->end - c->start) * size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(c->end - c->start, &c->off));
  for (PetscInt p = c->start; p < c->end; ++p) {
    PetscInt *off = &c->off[p - c->start];

    PetscCall(PetscSectionGetOffset(s, p, off));
    PetscCall(PetscSectionGetDof(s, p, &n));
    c->stop = PetscMax(c->stop, *off + n);
    if (n != size) *off = -1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- cells ------------------------------------------- */

typedef enum {
  OTHER,
  WANTED,
  GHOST
} HopsCellKind;

/* kind[cEnd - cStart]. A mesh without a label of types has those that the sizes of the cones tell: PETSc
   computes the label from them, which takes longer than all else here */
static PetscErrorCode HopsPlexCellKinds(DM dm, DMPolytopeType want, const HopsCones *cones, unsigned char kind[])
{
  const PetscInt       n     = cones->end - cones->start;
  const DMPolytopeType ct[2] = {want, DM_POLYTOPE_FV_GHOST};
  DMLabel              label;

  PetscFunctionBegin;
  PetscCall(DMGetLabel(dm, "celltype", &label));
  for (PetscInt c = 0; c < n; ++c) kind[c] = !label && HopsConesOffset(cones, cones->start + c) >= 0 ? WANTED : OTHER;
  for (PetscInt k = 0; k < 2 && label; ++k) {
    IS              is;
    PetscInt        m;
    const PetscInt *p;

    PetscCall(DMLabelGetStratumIS(label, ct[k], &is));
    if (!is) continue;
    PetscCall(ISGetLocalSize(is, &m));
    PetscCall(ISGetIndices(is, &p));
    for (PetscInt i = 0; i < m; ++i)
      if (p[i] >= cones->start && p[i] < cones->end) kind[p[i] - cones->start] = k ? GHOST : WANTED;
    PetscCall(ISRestoreIndices(is, &p));
    PetscCall(ISDestroy(&is));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells that this rank computes on: none of the overlap, all of them quadrilaterals or hexahedra */
static PetscErrorCode HopsPlexListCells(DM dm, const HopsCones *cones, HopsPlexCells cells)
{
  MPI_Comm             comm   = PetscObjectComm((PetscObject)dm);
  const DMPolytopeType want   = cells->dim == 2 ? DM_POLYTOPE_QUADRILATERAL : DM_POLYTOPE_HEXAHEDRON;
  const PetscInt       cStart = cones->start, cEnd = cones->end;
  PetscSF              sf;
  const PetscInt      *leaves;
  PetscInt             nleaves, bad = PETSC_INT_MAX, gbad;
  unsigned char       *kind;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(cEnd - cStart, &kind));
  PetscCall(HopsPlexCellKinds(dm, want, cones, kind));
  PetscCall(DMGetPointSF(dm, &sf));
  PetscCall(PetscSFGetGraph(sf, NULL, &nleaves, &leaves, NULL));
  for (PetscInt l = 0; l < nleaves; ++l) {
    const PetscInt p = leaves ? leaves[l] : l;

    if (p >= cStart && p < cEnd) kind[p - cStart] = GHOST;
  }
  cells->cstart  = cStart;
  cells->ncaller = cEnd - cStart;
  PetscCall(PetscMalloc1(cEnd - cStart, &cells->cell));
  PetscCall(PetscMalloc1(cEnd - cStart, &cells->where));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    if (kind[c - cStart] == OTHER) bad = PetscMin(bad, c);
    cells->where[c - cStart] = kind[c - cStart] == GHOST ? -1 : cells->ncells;
    if (kind[c - cStart] != GHOST) cells->cell[cells->ncells++] = c;
  }
  PetscCall(PetscFree(kind));
  PetscCall(MPIU_Allreduce(&bad, &gbad, 1, MPIU_INT, MPI_MIN, comm));
  PetscCheck(gbad == PETSC_INT_MAX, comm, PETSC_ERR_SUP,
             "Cell %" PetscInt_FMT " is not a %s: hops works on meshes of quadrilaterals or hexahedra alone; make one "
             "(-dm_plex_simplex 0, Gmsh's SubdivisionAlgorithm, or DMPlexTransform type refine_tobox)",
             gbad, cells->dim == 2 ? "quadrilateral" : "hexahedron");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ closures ------------------------------------------ */

static PetscErrorCode HopsPlexGetClosures(DM dm, HopsMeshCones *m, HopsPlexCells cells)
{
  const HopsBackendOps *be = cells->backend;
  PetscInt              size, bad, *cone, *ornt;

  PetscFunctionBegin;
  PetscCall(HopsPlexClosureCreate(cells->dim, &cells->ref));
  PetscCall(HopsCount("points of the cells", cells->ncells, cells->ref.n, 1, &size));
  PetscCall(HopsCheckInt("points of the cells", (PetscInt64)size));
  PetscCall(DMPlexGetCones(dm, &cone));
  PetscCall(DMPlexGetConeOrientations(dm, &ornt));
  m->dim    = cells->dim;
  m->cone   = cone;
  m->ornt   = ornt;
  m->ncells = cells->ncells;
  m->first  = cells->cstart;
  m->cell   = cells->ncells == cells->ncaller ? NULL : cells->cell;
  m->tables = cells->ref.tables;
  if (be) {
    PetscCall((*be->memory->Malloc)(size * sizeof(PetscInt), (void **)&cells->bpoint));
    PetscCall((*be->memory->Malloc)(size, (void **)&cells->bornt));
    PetscCall((*be->mesh->Closures)(m, cells->bpoint, cells->bornt, &bad));
  } else {
    PetscCall(PetscMalloc1(size, &cells->point));
    PetscCall(PetscMalloc1(size, &cells->ornt));
    PetscCall((*HopsMeshHost.Closures)(m, cells->point, cells->ornt, &bad));
  }
  PetscCheck(bad < 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "Cell %" PetscInt_FMT " has fewer than %" PetscInt_FMT
             " different points in its closure, or its faces do not agree on them: hops needs conforming meshes without hanging "
             "nodes, of cells that do not touch themselves (a periodic direction of a DMPlex needs three cells)",
             cells->cell[bad], cells->ref.n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexCellsCreate(DM dm, PetscInt dim, const HopsBackendOps *backend, HopsPlexCells *out)
{
  HopsPlexCells cells;
  HopsMeshCones m;
  PetscInt      depth;

  PetscFunctionBegin;
  PetscCall(DMPlexGetDepth(dm, &depth));
  PetscCheck(depth == dim || depth < 0, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE,
             "The mesh is not interpolated (depth %" PetscInt_FMT " in %" PetscInt_FMT
             "D): create it with edges and faces (-dm_plex_interpolate, DMPlexInterpolate())",
             depth, dim);
  PetscCall(PetscMemzero(&m, sizeof(m)));
  PetscCall(PetscNew(&cells));
  cells->refct   = 1;
  cells->dim     = dim;
  cells->backend = HopsMeshApart(backend) ? backend : NULL;
  for (PetscInt d = 1; d <= dim; ++d)
    PetscCall(HopsConesCreate(dm, d, d == 1 ? 2 : 2 * d, d == dim ? PETSC_TRUE : PETSC_FALSE, &m.cones[d]));
  PetscCall(HopsPlexListCells(dm, &m.cones[dim], cells));
  PetscCall(HopsPlexGetClosures(dm, &m, cells));
  for (PetscInt d = 1; d <= dim; ++d) PetscCall(PetscFree(m.cones[d].off));
  PetscCall(HopsPlexCellsSetTree(dm, cells));
  *out = cells;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexCellsBring(HopsPlexCells cells)
{
  const HopsBackendOps *be   = cells->backend;
  const size_t          size = (size_t)cells->ncells * cells->ref.n;

  PetscFunctionBegin;
  if (cells->point) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(size, &cells->point));
  PetscCall(PetscMalloc1(size, &cells->ornt));
  if (!be) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*be->memory->Copy)(NULL, cells->point, cells->bpoint, size * sizeof(PetscInt), HOPS_COPY_OUT));
  PetscCall((*be->memory->Copy)(NULL, cells->ornt, cells->bornt, size, HOPS_COPY_OUT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The back end's copy of the closures */
static PetscErrorCode HopsPlexCellsReset(HopsPlexCells cells)
{
  PetscFunctionBegin;
  if (!cells->backend) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*cells->backend->memory->Free)((void **)&cells->bpoint));
  PetscCall((*cells->backend->memory->Free)((void **)&cells->bornt));
  cells->backend = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexCellsMove(HopsPlexCells cells, const HopsBackendOps *be)
{
  const size_t size = (size_t)cells->ncells * cells->ref.n;

  PetscFunctionBegin;
  if (!HopsMeshApart(be)) {
    PetscCall(HopsPlexCellsBring(cells));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (cells->backend == be) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPlexCellsBring(cells));
  PetscCall(HopsPlexCellsReset(cells));
  cells->backend = be;
  PetscCall((*be->memory->Malloc)(size * sizeof(PetscInt), (void **)&cells->bpoint));
  PetscCall((*be->memory->Malloc)(size, (void **)&cells->bornt));
  PetscCall((*be->memory->Copy)(NULL, cells->bpoint, cells->point, size * sizeof(PetscInt), HOPS_COPY_IN));
  PetscCall((*be->memory->Copy)(NULL, cells->bornt, cells->ornt, size, HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexCellsDestroy(HopsPlexCells *cells)
{
  HopsPlexCells c = *cells;

  PetscFunctionBegin;
  *cells = NULL;
  if (!c || --c->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPlexCellsReset(c));
  PetscCall(PetscFree(c->cell));
  PetscCall(PetscFree(c->where));
  PetscCall(PetscFree(c->point));
  PetscCall(PetscFree(c->ornt));
  PetscCall(PetscFree(c->hang));
  PetscCall(PetscFree(c->upoint));
  PetscCall(PetscFree(c->uornt));
  PetscCall(PetscFree(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceSetCells(HopsSpace sp, DM dm, HopsPlexCells cells)
{
  PetscFunctionBegin;
  if (cells) ++cells->refct;
  else PetscCall(HopsPlexCellsCreate(dm, sp->dim, sp->backend, &cells));
  sp->cells   = cells;
  sp->cstart  = cells->cstart;
  sp->ncaller = cells->ncaller;
  sp->ncells  = cells->ncells;
  PetscCall(PetscMalloc1(sp->ncells, &sp->cell));
  PetscCall(PetscArraycpy(sp->cell, cells->cell, sp->ncells));
  PetscCall(HopsSpaceSetTree(sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}
