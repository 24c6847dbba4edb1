/* The cells of a DMPlex and the points of their closures, from the mesh's arrays of cones in passes over all
   cells. */
#include <hops/private/hopspleximpl.h>

/* The cones of the points [start,end) of one depth, `size` points each, in the mesh's arrays */
typedef struct {
  PetscInt  start, end, size;
  PetscInt  base; /* where the first begins, the others following without gaps; else */
  PetscInt *off;  /* [end-start] where each begins, or -1 where it has another size */
} HopsCones;

/* -1 also where p is no point of this depth */
static inline PetscInt HopsConesOffset(const HopsCones *c, PetscInt p)
{
  if (p < c->start || p >= c->end) return -1;
  return c->off ? c->off[p - c->start] : c->base + (p - c->start) * c->size;
}

/*
  All cones of cells have one size if none is larger and their sum is as if. Faces have one if the sum is as
  if, or cells that have it find edges on which they do not agree.
*/
static PetscErrorCode HopsConesCreate(DM dm, PetscInt depth, PetscInt size, PetscBool cells, HopsCones *c)
{
  PetscSection s;
  PetscInt     last, n, max;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(c, sizeof(*c)));
  PetscCall(DMPlexGetDepthStratum(dm, depth, &c->start, &c->end));
  c->size = size;
  if (c->start >= c->end) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMPlexGetConeSection(dm, &s));
  PetscCall(DMPlexGetMaxSizes(dm, &max, NULL));
  PetscCall(PetscSectionGetOffset(s, c->start, &c->base));
  PetscCall(PetscSectionGetOffset(s, c->end - 1, &last));
  PetscCall(PetscSectionGetDof(s, c->end - 1, &n));
  if ((!cells || max == size) && last + n - c->base == (c->end - c->start) * size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(c->end - c->start, &c->off));
  for (PetscInt p = c->start; p < c->end; ++p) {
    PetscCall(PetscSectionGetOffset(s, p, &c->off[p - c->start]));
    PetscCall(PetscSectionGetDof(s, p, &n));
    if (n != size) c->off[p - c->start] = -1;
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

/*
  Points and orientations of one closure, the edges as the faces on which they are met first see them. False
  where the faces do not agree on their edges, or these on their vertices, or where a cell has a vertex twice.
*/
static inline PetscBool HopsCellClosure(const PetscInt dim, const HopsPlexClosure *ref, const HopsCones cones[],
                                        const PetscInt cone[], const PetscInt ornt[], PetscInt cell, PetscInt *PETSC_RESTRICT P,
                                        signed char *PETSC_RESTRICT O)
{
  const PetscInt n = dim == 3 ? 27 : 9, nf = 2 * dim, e0 = dim == 3 ? 7 : 1, v0 = dim == 3 ? 19 : 5;
  PetscInt       differ = 0, off = HopsConesOffset(&cones[dim], cell);

  if (off < 0) return PETSC_FALSE;
  P[0] = cell;
  O[0] = 0;
  for (PetscInt f = 1; f <= nf; ++f, ++off) {
    if (ornt[off] < -4 || ornt[off] > 3) return PETSC_FALSE;
    P[f] = cone[off];
    O[f] = (signed char)ornt[off];
  }
  for (PetscInt i = nf + 1; i < n; ++i) P[i] = -1;
  for (PetscInt i = v0; i < n; ++i) O[i] = 0;
  for (PetscInt f = 1; f <= nf && dim == 3; ++f) {
    const PetscInt *slot = ref->slot[O[f] + 4], *edge = ref->edge[f - 1], back = O[f] < 0 ? -1 : 0;

    off = HopsConesOffset(&cones[2], P[f]);
    if (off < 0) return PETSC_FALSE;
    for (PetscInt k = 0; k < 4; ++k) {
      const PetscInt at = off + slot[k], e = edge[k];

      if (P[e] >= 0) differ |= P[e] ^ cone[at];
      else {
        P[e] = cone[at];
        O[e] = (signed char)(ornt[at] ^ back);
      }
    }
  }
  for (PetscInt e = e0; e < v0; ++e) {
    const PetscInt *vertex = ref->vertex[e - e0], back = O[e] < 0 ? 1 : 0;

    off = HopsConesOffset(&cones[1], P[e]);
    if (off < 0) return PETSC_FALSE;
    for (PetscInt k = 0; k < 2; ++k) {
      const PetscInt p = cone[off + (k ^ back)], v = vertex[k];

      if (P[v] >= 0) differ |= P[v] ^ p;
      else P[v] = p;
    }
  }
  for (PetscInt i = v0; i < n; ++i)
    for (PetscInt k = i + 1; k < n; ++k) differ |= P[i] == P[k];
  return differ ? PETSC_FALSE : PETSC_TRUE;
}

static PetscErrorCode HopsPlexGetClosures(DM dm, const HopsCones cones[], HopsPlexCells cells)
{
  PetscInt size, *cone, *ornt;

  PetscFunctionBegin;
  PetscCall(HopsPlexClosureCreate(cells->dim, &cells->ref));
  PetscCall(HopsCount("points of the cells", cells->ncells, cells->ref.n, 1, &size));
  PetscCall(PetscMalloc1(size, &cells->point));
  PetscCall(PetscMalloc1(size, &cells->ornt));
  PetscCall(DMPlexGetCones(dm, &cone));
  PetscCall(DMPlexGetConeOrientations(dm, &ornt));
  for (PetscInt c = 0; c < cells->ncells; ++c) {
    const PetscInt cell = cells->cell[c];
    PetscInt      *P    = cells->point + c * cells->ref.n;
    signed char   *O    = cells->ornt + c * cells->ref.n;
    PetscBool      good;

    if (cells->dim == 3) good = HopsCellClosure(3, &cells->ref, cones, cone, ornt, cell, P, O);
    else good = HopsCellClosure(2, &cells->ref, cones, cone, ornt, cell, P, O);
    PetscCheck(good, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "Cell %" PetscInt_FMT " has fewer than %" PetscInt_FMT
               " different points in its closure, or its faces do not agree on them: hops needs conforming meshes without hanging "
               "nodes, of cells that do not touch themselves (a periodic direction of a DMPlex needs three cells)",
               cell, cells->ref.n);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexCellsCreate(DM dm, PetscInt dim, HopsPlexCells *out)
{
  HopsPlexCells cells;
  HopsCones     cones[4];
  PetscInt      depth;

  PetscFunctionBegin;
  PetscCall(DMPlexGetDepth(dm, &depth));
  PetscCheck(depth == dim || depth < 0, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE,
             "The mesh is not interpolated (depth %" PetscInt_FMT " in %" PetscInt_FMT
             "D): create it with edges and faces (-dm_plex_interpolate, DMPlexInterpolate())",
             depth, dim);
  PetscCall(PetscNew(&cells));
  cells->refct = 1;
  cells->dim   = dim;
  for (PetscInt d = 1; d <= dim; ++d)
    PetscCall(HopsConesCreate(dm, d, d == 1 ? 2 : 2 * d, d == dim ? PETSC_TRUE : PETSC_FALSE, &cones[d]));
  PetscCall(HopsPlexListCells(dm, &cones[dim], cells));
  PetscCall(HopsPlexGetClosures(dm, cones, cells));
  for (PetscInt d = 1; d <= dim; ++d) PetscCall(PetscFree(cones[d].off));
  *out = cells;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexCellsDestroy(HopsPlexCells *cells)
{
  HopsPlexCells c = *cells;

  PetscFunctionBegin;
  *cells = NULL;
  if (!c || --c->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(c->cell));
  PetscCall(PetscFree(c->where));
  PetscCall(PetscFree(c->point));
  PetscCall(PetscFree(c->ornt));
  PetscCall(PetscFree(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceSetCells(HopsSpace sp, DM dm, HopsPlexCells cells)
{
  PetscFunctionBegin;
  if (cells) ++cells->refct;
  else PetscCall(HopsPlexCellsCreate(dm, sp->dim, &cells));
  sp->cells   = cells;
  sp->cstart  = cells->cstart;
  sp->ncaller = cells->ncaller;
  sp->ncells  = cells->ncells;
  PetscCall(PetscMalloc1(sp->ncells, &sp->cell));
  PetscCall(PetscArraycpy(sp->cell, cells->cell, sp->ncells));
  PetscFunctionReturn(PETSC_SUCCESS);
}
