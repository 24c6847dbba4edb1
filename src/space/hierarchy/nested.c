/* How the cells of a uniformly refined DMPlex lie in those of the coarse one, whatever the orientation of
   either. */
#include <hops/private/hopsnestedimpl.h>
#include <hops/private/hopspleximpl.h>
#include <petscdmplextransform.h>

/* Clones of a DMPlex share its arrays of cones */
PetscErrorCode HopsPlexSameMesh(DM a, DM b, PetscBool *same)
{
  PetscInt *ca, *cb;

  PetscFunctionBegin;
  PetscCall(DMPlexGetCones(a, &ca));
  PetscCall(DMPlexGetCones(b, &cb));
  *same = a == b || ca == cb ? PETSC_TRUE : PETSC_FALSE; /* both NULL on a rank without points */
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, same, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -------------------------------- where the vertices come from -------------------------------- */

/* The numbering that DMRefine() gives: one vertex for each vertex, edge, quadrilateral and hexahedron */
static PetscErrorCode HopsNestedByTransform(DM coarse, DM fine, PetscInt vStart, PetscInt vEnd, PetscInt source[])
{
  DMPlexTransform tr;
  PetscInt        pStart, pEnd;

  PetscFunctionBegin;
  PetscCall(DMPlexTransformCreate(PetscObjectComm((PetscObject)coarse), &tr));
  PetscCall(DMPlexTransformSetDM(tr, coarse));
  PetscCall(DMPlexTransformSetType(tr, DMPLEXREFINEREGULAR));
  PetscCall(DMPlexTransformSetUp(tr));
  PetscCall(DMPlexGetChart(coarse, &pStart, &pEnd));
  for (PetscInt v = vStart; v < vEnd; ++v) source[v - vStart] = -1;
  for (PetscInt p = pStart; p < pEnd; ++p) {
    DMPolytopeType ct;
    PetscInt       v;

    PetscCall(DMPlexGetCellType(coarse, p, &ct));
    if (ct != DM_POLYTOPE_POINT && ct != DM_POLYTOPE_SEGMENT && ct != DM_POLYTOPE_QUADRILATERAL && ct != DM_POLYTOPE_HEXAHEDRON)
      continue;
    PetscCall(DMPlexTransformGetTargetPoint(tr, ct, DM_POLYTOPE_POINT, p, 0, &v));
    if (v >= vStart && v < vEnd) source[v - vStart] = p;
  }
  PetscCall(DMPlexTransformDestroy(&tr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* coordinates of the points of a mesh of order-1 cells: the means of the vertices in their closures; x[p -
   pStart][dim] */
static PetscErrorCode HopsPointMeans(DM dm, PetscInt pStart, PetscInt pEnd, PetscReal x[])
{
  Vec              coords;
  PetscSection     cs;
  const PetscReal *a;
  PetscInt         dim, vStart, vEnd;

  PetscFunctionBegin;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMPlexGetDepthStratum(dm, 0, &vStart, &vEnd));
  PetscCall(DMGetCoordinatesLocal(dm, &coords));
  PetscCall(DMGetCoordinateSection(dm, &cs));
  if (pStart == pEnd) PetscFunctionReturn(PETSC_SUCCESS); /* a rank without points may have no vector */
  PetscCall(HopsHostVecGetPartRead(coords, 0, &a));
  for (PetscInt p = pStart; p < pEnd; ++p) {
    PetscInt ncl, *cl = NULL, nv = 0;

    for (PetscInt d = 0; d < dim; ++d) x[(p - pStart) * dim + d] = 0.0;
    PetscCall(DMPlexGetTransitiveClosure(dm, p, PETSC_TRUE, &ncl, &cl));
    for (PetscInt i = 0; i < ncl; ++i) {
      PetscInt off;

      if (cl[2 * i] < vStart || cl[2 * i] >= vEnd) continue;
      PetscCall(PetscSectionGetOffset(cs, cl[2 * i], &off));
      for (PetscInt d = 0; d < dim; ++d) x[(p - pStart) * dim + d] += PetscRealPart(a[off + d]);
      ++nv;
    }
    for (PetscInt d = 0; d < dim && nv; ++d) x[(p - pStart) * dim + d] /= nv;
    PetscCall(DMPlexRestoreTransitiveClosure(dm, p, PETSC_TRUE, &ncl, &cl));
  }
  PetscCall(HopsHostVecRestorePartRead(coords, 0, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Meshes that were made separately: a fine vertex lies where the mean of a coarse point's vertices is */
static PetscErrorCode HopsNestedByCoordinates(DM coarse, DM fine, PetscInt vStart, PetscInt vEnd, PetscInt source[])
{
  PetscInt   dim, pStart, pEnd, np, *perm;
  PetscReal *x, *y, *key, size = 0.0, tol;

  PetscFunctionBegin;
  PetscCall(DMGetDimension(coarse, &dim));
  PetscCall(DMPlexGetChart(coarse, &pStart, &pEnd));
  np = pEnd - pStart;
  PetscCall(PetscMalloc4(np * dim, &x, (vEnd - vStart) * dim, &y, np, &key, np, &perm));
  PetscCall(HopsPointMeans(coarse, pStart, pEnd, x));
  PetscCall(HopsPointMeans(fine, vStart, vEnd, y));
  for (PetscInt i = 0; i < np * dim; ++i) size = PetscMax(size, PetscAbsReal(x[i] - x[i % dim]));
  tol = 1e-9 * size;
  for (PetscInt p = 0; p < np; ++p) { /* sorted along a direction in which few points have equal coordinates */
    key[p]  = x[p * dim] + 0.6180339887 * x[p * dim + 1] + (dim > 2 ? 0.3819660113 * x[p * dim + 2] : 0.0);
    perm[p] = p;
  }
  PetscCall(PetscSortRealWithArrayInt(np, key, perm));
  for (PetscInt v = 0; v < vEnd - vStart; ++v) {
    const PetscReal *yv = y + v * dim, k = yv[0] + 0.6180339887 * yv[1] + (dim > 2 ? 0.3819660113 * yv[2] : 0.0);
    PetscInt         lo = 0, hi = np;

    source[v] = -1;
    while (lo < hi) {
      const PetscInt mid = (lo + hi) / 2;

      if (key[mid] < k - 3.0 * tol) lo = mid + 1;
      else hi = mid;
    }
    for (; lo < np && key[lo] <= k + 3.0 * tol && source[v] < 0; ++lo) {
      PetscReal e = 0.0;

      for (PetscInt d = 0; d < dim; ++d) e = PetscMax(e, PetscAbsReal(x[perm[lo] * dim + d] - yv[d]));
      if (e <= tol) source[v] = perm[lo] + pStart;
    }
  }
  PetscCall(PetscFree4(x, y, key, perm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------ where the cells lie ------------------------------------ */

/*
  One fine cell: source[] of its corners are points of one coarse cell's closure (the corner that comes from a
  cell says which), and their places on that cell's lattice of 3^dim points are the corners of one of its
  halves; false where they are not.
*/
static PetscBool HopsNestedCell(const HopsPlexCells coarse, const PetscInt corner[], PetscInt *parent, unsigned char *half,
                                unsigned char axis[])
{
  const HopsPlexClosure *ref = &coarse->ref;
  const PetscInt         dim = ref->dim, nv = HopsPower(2, dim), *cl;
  PetscInt               pos[8][3], found = 0, seen = 0;

  *parent = -1;
  for (PetscInt k = 0; k < nv; ++k)
    if (corner[k] >= coarse->cstart && corner[k] < coarse->cstart + coarse->ncaller) {
      if (*parent >= 0) return PETSC_FALSE;
      *parent = corner[k];
    }
  if (*parent < 0 || coarse->where[*parent - coarse->cstart] < 0) return PETSC_FALSE;
  cl = coarse->point + coarse->where[*parent - coarse->cstart] * ref->n;
  for (PetscInt k = 0; k < nv; ++k)
    for (PetscInt i = 0; i < ref->n; ++i) {
      const PetscInt n = HopsPower(2, ref->depth[i]);

      if (cl[i] != corner[k]) continue;
      ++found;
      seen |= 1 << k;
      for (PetscInt d = 0; d < dim; ++d) {
        PetscInt sum = 0;

        for (PetscInt v = 0; v < n && i; ++v) sum += ref->corner[i][v][d];
        pos[k][d] = i ? 2 * sum / n : 1;
      }
    }
  if (found != nv || seen != (1 << nv) - 1) return PETSC_FALSE;
  *half = 0;
  for (PetscInt d = 0; d < dim; ++d) {
    PetscInt low = 2, along = -1;

    for (PetscInt k = 0; k < nv; ++k) low = PetscMin(low, pos[k][d]);
    if (low > 1) return PETSC_FALSE;
    for (PetscInt e = 0; e < dim; ++e)
      if (pos[1 << e][d] != pos[0][d]) {
        if (along >= 0) return PETSC_FALSE;
        along = e;
      }
    if (along < 0) return PETSC_FALSE;
    axis[d] = (unsigned char)(along + (pos[0][d] > low ? 4 : 0));
    for (PetscInt k = 0; k < nv; ++k) {
      const PetscInt up = ((k >> along) & 1) ^ (pos[0][d] > low);

      if (pos[k][d] != low + up) return PETSC_FALSE;
    }
    *half |= (unsigned char)(low << d);
  }
  return PETSC_TRUE;
}

/* Places all the fine cells; ok is false on all ranks where one finds no place, or a half of a coarse cell
   stays empty or is taken twice */
static PetscErrorCode HopsNestedPlace(const HopsPlexCells coarse, DM dm, const HopsPlexCells fine, const PetscInt cell[],
                                      PetscInt vStart, const PetscInt source[], PetscInt parent[], unsigned char half[],
                                      unsigned char axis[], PetscBool *ok)
{
  const HopsPlexClosure *ref = &fine->ref;
  const PetscInt         dim = ref->dim, nchild = HopsPower(2, dim), nfine = fine->ncells;
  PetscInt              *count;

  PetscFunctionBegin;
  *ok = PETSC_TRUE;
  PetscCall(PetscCalloc1(coarse->ncaller * nchild, &count));
  for (PetscInt f = 0; f < nfine && *ok; ++f) {
    const PetscInt *cl = fine->point + fine->where[cell[f] - fine->cstart] * ref->n;
    PetscInt        v[8];

    for (PetscInt i = ref->n - nchild; i < ref->n; ++i) { /* in the order of its own reference corners: bit d for direction d */
      PetscInt k = 0;

      for (PetscInt d = 0; d < dim; ++d) k |= ref->corner[i][0][d] << d;
      v[k] = source[cl[i] - vStart];
    }
    *ok = HopsNestedCell(coarse, v, &parent[f], &half[f], axis + f * dim);
    if (*ok && count[(parent[f] - coarse->cstart) * nchild + half[f]]++) *ok = PETSC_FALSE;
  }
  for (PetscInt f = 0; f < nfine && *ok; ++f)
    for (PetscInt k = 0; k < nchild; ++k)
      if (!count[(parent[f] - coarse->cstart) * nchild + k]) *ok = PETSC_FALSE;
  PetscCall(PetscFree(count));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, ok, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)dm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Looks for the coarse points of the fine vertices: first in the order in which DMRefine() numbers them, then
   by coordinates */
static PetscErrorCode HopsNestedSearch(DM coarse, const HopsPlexCells ccells, DM fine, const HopsPlexCells fcells,
                                       const PetscInt cell[], PetscInt vStart, PetscInt vEnd, PetscInt source[], PetscInt parent[],
                                       unsigned char half[], unsigned char axis[], PetscBool *ok)
{
  const PetscInt n = fcells->ref.n, nv = HopsPower(2, fcells->dim);

  PetscFunctionBegin;
  PetscCall(HopsPlexCellsBring(ccells));
  PetscCall(HopsPlexCellsBring(fcells));
  *ok = PETSC_FALSE;
  for (PetscInt attempt = 0; attempt < 2 && !*ok; ++attempt) {
    PetscBool whole = PETSC_TRUE;

    if (attempt == 0) PetscCall(HopsNestedByTransform(coarse, fine, vStart, vEnd, source));
    else PetscCall(HopsNestedByCoordinates(coarse, fine, vStart, vEnd, source));
    for (PetscInt f = 0; f < fcells->ncells && whole; ++f) /* vertices of cells that other ranks work on may have no source */
      for (PetscInt i = n - nv; i < n; ++i)
        if (source[fcells->point[f * n + i] - vStart] < 0) whole = PETSC_FALSE;
    PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &whole, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)fine)));
    if (whole) PetscCall(HopsNestedPlace(ccells, fine, fcells, cell, vStart, source, parent, half, axis, ok));
    if (*ok)
      PetscCall(
        PetscInfo(fine, "the mesh is the refinement of the coarse one, found by %s\n", attempt ? "coordinates" : "numbering"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsNestedVertices(DM coarse, HopsPlexCells ccells, HopsSpace fine, PetscInt *vStart, PetscInt *vEnd,
                                  PetscInt *source[], PetscBool *ok)
{
  const PetscInt n = fine->ncells;
  PetscInt      *parent;
  unsigned char *half, *axis;

  PetscFunctionBegin;
  PetscCall(DMPlexGetDepthStratum(fine->dm, 0, vStart, vEnd));
  PetscCall(PetscMalloc1(*vEnd - *vStart, source));
  PetscCall(PetscMalloc3(n, &parent, n, &half, n * fine->dim, &axis));
  PetscCall(HopsNestedSearch(coarse, ccells, fine->dm, fine->cells, fine->cell, *vStart, *vEnd, *source, parent, half, axis, ok));
  PetscCall(PetscFree3(parent, half, axis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------------- the relation ---------------------------------------- */

/* Given by HopsSpaceSetCoarse(): children have their parents' directions */
static PetscErrorCode HopsNestedGiven(HopsSpace coarse, HopsSpace fine, HopsNested *n)
{
  const HopsSpace mesh = HopsSpaceMesh(fine);
  PetscInt        first;
  PetscSF         sf;

  PetscFunctionBegin;
  n->nhalf = 2;
  n->given = PETSC_TRUE;
  PetscCall(HopsSpaceCreateCellSF(coarse, 0, NULL, &first, &sf));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscMalloc1(n->nfine, &n->kept));
  PetscCall(PetscMalloc1(n->nfine, &n->number));
  for (PetscInt f = 0; f < n->nfine; ++f) {
    const PetscInt at = fine->cell[f] - fine->cstart, child = mesh->coarsechild[at];

    n->number[f] = mesh->coarsecell[at];
    n->kept[f]   = child < 0 ? PETSC_TRUE : PETSC_FALSE;
    n->half[f]   = (unsigned char)(child < 0 ? 0 : child);
    n->parent[f] = n->number[f] - first; /* by the caller's numbers */
    if (n->parent[f] < 0 || n->parent[f] >= coarse->ncaller) n->apart = PETSC_TRUE;
    n->parent[f] += coarse->cstart;
    for (PetscInt d = 0; d < n->dim; ++d) n->axis[f * n->dim + d] = (unsigned char)d;
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &n->apart, 1, HOPS_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)fine)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By the points of a uniformly refined DMPLEX */
static PetscErrorCode HopsNestedFound(HopsSpace coarse, HopsSpace fine, HopsNested *n)
{
  PetscInt  vStart, vEnd, *source;
  PetscBool ok;

  PetscFunctionBegin;
  PetscCheck(coarse->dm && fine->dm, PetscObjectComm((PetscObject)fine), PETSC_ERR_ARG_INCOMP,
             "The spaces are from arrays, and how their cells lie is not known: tell it by HopsSpaceSetCoarse()");
  for (PetscInt i = 0; i < 2; ++i)
    PetscCall(HopsSpaceCheckConforming(i ? coarse : fine, "The refinement of a DMPLEX",
                                       "is not looked for: tell how cells lie by HopsSpaceSetCoarse()"));
  n->nhalf = 2;
  PetscCall(DMPlexGetDepthStratum(fine->dm, 0, &vStart, &vEnd));
  PetscCall(PetscMalloc1(vEnd - vStart, &source));
  PetscCall(HopsNestedSearch(coarse->dm, coarse->cells, fine->dm, fine->cells, fine->cell, vStart, vEnd, source, n->parent, n->half,
                             n->axis, &ok));
  PetscCall(PetscFree(source));
  PetscCheck(ok, PetscObjectComm((PetscObject)fine), PETSC_ERR_ARG_INCOMP,
             "The fine mesh is no uniform refinement of the coarse one with the children on their parents' ranks: refine by "
             "DMRefine() or -dm_refine_hierarchy after the mesh was distributed");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* child[ncoarse][nhalf^dim], all of them on the rank of their parent */
static PetscErrorCode HopsNestedChildren(HopsSpace fine, HopsNested *n)
{
  const PetscInt nchild = HopsPower(n->nhalf, n->dim);
  PetscBool      ok     = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n->ncoarse * nchild, &n->child));
  for (PetscInt i = 0; i < n->ncoarse * nchild; ++i) n->child[i] = -1;
  for (PetscInt f = 0; f < n->nfine && ok; ++f) {
    if (n->parent[f] < 0) ok = PETSC_FALSE;
    else n->child[n->parent[f] * nchild + n->half[f]] = f;
  }
  for (PetscInt i = 0; i < n->ncoarse * nchild; ++i)
    if (n->child[i] < 0) ok = PETSC_FALSE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &ok, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)fine)));
  PetscCheck(ok, PetscObjectComm((PetscObject)fine), PETSC_ERR_ARG_INCOMP,
             "Some cells of the coarse mesh have their children on other ranks: refine the mesh after it was distributed");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* parent[] from the caller's numbers to the space's, -1 where another rank has it */
static PetscErrorCode HopsNestedParents(HopsSpace coarse, HopsNested *n)
{
  PetscInt *where;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(coarse->ncaller, &where));
  for (PetscInt c = 0; c < coarse->ncaller; ++c) where[c] = -1;
  for (PetscInt c = 0; c < coarse->ncells; ++c) where[coarse->cell[c] - coarse->cstart] = c;
  for (PetscInt f = 0; f < n->nfine; ++f) {
    const PetscInt at = n->parent[f] - coarse->cstart;

    n->parent[f] = at < 0 || at >= coarse->ncaller ? -1 : where[at];
  }
  PetscCall(PetscFree(where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsNestedCreate(HopsSpace coarse, HopsSpace fine, HopsNested *n)
{
  const HopsSpace mesh = HopsSpaceMesh(fine);

  PetscFunctionBegin;
  PetscCheck(coarse->dim == fine->dim, PetscObjectComm((PetscObject)fine), PETSC_ERR_ARG_INCOMP,
             "The spaces have dimensions %" PetscInt_FMT " and %" PetscInt_FMT
             ": nested ones are on meshes of one hierarchy (DMRefine())",
             coarse->dim, fine->dim);
  PetscCall(PetscMemzero(n, sizeof(*n)));
  n->dim     = fine->dim;
  n->ncoarse = coarse->ncells;
  n->nfine   = fine->ncells;
  n->same    = HopsSpaceMesh(coarse) == mesh ? PETSC_TRUE : PETSC_FALSE;
  if (!n->same && coarse->dm && fine->dm) PetscCall(HopsPlexSameMesh(coarse->dm, fine->dm, &n->same));
  PetscCall(PetscMalloc3(n->nfine, &n->parent, n->nfine, &n->half, n->nfine * n->dim, &n->axis));
  if (n->same) {
    n->nhalf = 1;
    for (PetscInt f = 0; f < n->nfine; ++f) {
      n->parent[f] = fine->cell[f];
      n->half[f]   = 0;
      for (PetscInt d = 0; d < n->dim; ++d) n->axis[f * n->dim + d] = (unsigned char)d;
    }
  } else if (mesh->coarse && HopsSpaceMesh(mesh->coarse) == HopsSpaceMesh(coarse)) PetscCall(HopsNestedGiven(coarse, fine, n));
  else PetscCall(HopsNestedFound(coarse, fine, n));
  PetscCall(HopsNestedParents(coarse, n));
  if (!n->given) PetscCall(HopsNestedChildren(fine, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsNestedDestroy(HopsNested *n)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(n->parent, n->half, n->axis));
  PetscCall(PetscFree(n->child));
  PetscCall(PetscFree(n->kept));
  PetscCall(PetscFree(n->number));
  PetscFunctionReturn(PETSC_SUCCESS);
}
