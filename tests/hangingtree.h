/* DMPLEX meshes with a tree: one cell of a box that PETSc refines, or a mesh of hangingmesh.h. CreateMesh()
   has the options. */
#pragma once
#include "hangingmesh.h"
#include "hopstest.h"

/* PETSc's refinement of one cell; labels do not outlive it, and the tree of a cell before neither */
static PetscErrorCode CreateRefined(PetscInt dim, PetscInt n, PetscInt cell, DM *dm)
{
  const PetscInt faces[3] = {n, n, n};
  DM             K, box;

  PetscFunctionBeginUser;
  PetscCall(HopsDMPlexCreateBox(PETSC_COMM_WORLD, dim, PETSC_FALSE, faces, &box));
  PetscCall(DMPlexCreateDefaultReferenceTree(PETSC_COMM_WORLD, dim, PETSC_FALSE, &K));
  PetscCall(DMPlexSetReferenceTree(box, K));
  PetscCall(DMDestroy(&K));
  PetscCall(DMPlexTreeRefineCell(box, cell, dm));
  PetscCall(DMDestroy(&box));
  PetscCall(TestDistribute(dm, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------- a tree on any mesh of hangingmesh.h, by the boxes of points
   ------------------------- */

typedef struct {
  PetscInt64 key;
  PetscInt   point;
} Item;

static int CompareItems(const void *a, const void *b)
{
  const PetscInt64 x = ((const Item *)a)->key, y = ((const Item *)b)->key;

  return x < y ? -1 : x > y;
}

static PetscInt64 Key(const PetscInt lo[], const PetscInt size[])
{
  PetscInt64 k = 0;

  for (PetscInt d = 0; d < 3; ++d) k = (k * 1024 + lo[d]) * 128 + size[d];
  return k;
}

static PetscInt Lookup(PetscInt n, const Item list[], const PetscInt lo[], const PetscInt size[])
{
  const Item want = {Key(lo, size), 0}, *found = (const Item *)bsearch(&want, list, n, sizeof(Item), CompareItems);

  return found ? found->point : -1;
}

/* all points by their boxes, in units of the finest cells halved */
static PetscErrorCode Boxes(DM dm, const HangMesh *m, PetscInt *n, Item *list[], PetscInt *box[])
{
  PetscInt           pStart, pEnd, vStart, vEnd, cStart;
  PetscSection       s;
  Vec                v;
  const PetscScalar *x;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetChart(dm, &pStart, &pEnd));
  PetscCall(DMPlexGetDepthStratum(dm, 0, &vStart, &vEnd));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, NULL));
  PetscCall(DMGetCoordinateSection(dm, &s));
  PetscCall(DMGetCoordinatesLocal(dm, &v));
  PetscCall(PetscMalloc2(pEnd, list, 6 * pEnd, box));
  PetscCall(VecGetArrayRead(v, &x));
  for (PetscInt p = pStart; p < pEnd; ++p) {
    PetscInt *b = *box + 6 * p, *closure = NULL, nc;

    for (PetscInt d = 0; d < 3; ++d) {
      b[d]     = d < m->dim ? 1 << 20 : 0;
      b[3 + d] = 0;
    }
    PetscCall(DMPlexGetTransitiveClosure(dm, p, PETSC_TRUE, &nc, &closure));
    for (PetscInt pass = 0; pass < 2; ++pass)
      for (PetscInt k = 0; k < nc; ++k) {
        PetscInt off;

        if (closure[2 * k] < vStart || closure[2 * k] >= vEnd) continue;
        PetscCall(PetscSectionGetOffset(s, closure[2 * k], &off));
        for (PetscInt d = 0; d < m->dim; ++d) {
          const PetscInt y = (PetscInt)(PetscRealPart(x[off + d]) * (2 << m->finest) + 0.5);

          if (!pass) b[d] = PetscMin(b[d], y);
          else b[3 + d] = PetscMax(b[3 + d], y - b[d]);
        }
      }
    PetscCall(DMPlexRestoreTransitiveClosure(dm, p, PETSC_TRUE, &nc, &closure));
    (*list)[p] = (Item){Key(b, b + 3), p};
  }
  PetscCall(VecRestoreArrayRead(v, &x));
  if (pEnd) qsort(*list, pEnd, sizeof(Item), CompareItems);
  *n = pEnd;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the middle of a child is in its parent, an edge or a quadrilateral: a[d] quarters of the way from the
   parent's first vertex to its second one, and to its last one */
static PetscErrorCode PlaceInParent(DM dm, PetscInt parent, PetscInt child, PetscInt a[2])
{
  const PetscInt     points[2] = {parent, child};
  PetscReal          v[4][3] = {{0}}, x[3] = {0};
  PetscInt           dim, vStart, vEnd, n = 0;
  PetscSection       s;
  Vec                coordinates;
  const PetscScalar *c;

  PetscFunctionBeginUser;
  PetscCall(DMGetCoordinateDim(dm, &dim));
  PetscCall(DMPlexGetDepthStratum(dm, 0, &vStart, &vEnd));
  PetscCall(DMGetCoordinateSection(dm, &s));
  PetscCall(DMGetCoordinatesLocal(dm, &coordinates));
  PetscCall(VecGetArrayRead(coordinates, &c));
  for (int k = 0; k < 2; k++) {
    PetscInt *closure = NULL, size, m = 0, off;

    PetscCall(DMPlexGetTransitiveClosure(dm, points[k], PETSC_TRUE, &size, &closure));
    for (PetscInt i = 0; i < size; ++i) {
      if (closure[2 * i] < vStart || closure[2 * i] >= vEnd) continue;
      PetscCall(PetscSectionGetOffset(s, closure[2 * i], &off));
      for (PetscInt d = 0; d < dim; ++d) {
        if (k) x[d] += PetscRealPart(c[off + d]);
        else v[m][d] = PetscRealPart(c[off + d]);
      }
      ++m;
    }
    PetscCall(DMPlexRestoreTransitiveClosure(dm, points[k], PETSC_TRUE, &size, &closure));
    if (!k) n = m;
    for (PetscInt d = 0; d < dim && k; ++d) x[d] /= m;
  }
  PetscCall(VecRestoreArrayRead(coordinates, &c));
  for (int e = 0; e < 2; e++) {
    const PetscReal *w   = v[e ? n - 1 : 1];
    PetscReal        dot = 0.0, length = 0.0;

    for (PetscInt d = 0; d < dim; ++d) {
      dot += (x[d] - v[0][d]) * (w[d] - v[0][d]);
      length += PetscSqr(w[d] - v[0][d]);
    }
    a[e] = (PetscInt)PetscFloorReal(4.0 * dot / length + 0.5);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The point of the reference tree that a child is like: of the first parent there that is like its own */
static PetscErrorCode ChildID(DM K, DM dm, PetscInt parent, PetscInt child, PetscInt *id)
{
  PetscInt depth[2], place[2], end, first = -1;

  PetscFunctionBeginUser;
  *id = -1;
  PetscCall(DMPlexGetPointDepth(dm, parent, &depth[0]));
  PetscCall(DMPlexGetPointDepth(dm, child, &depth[1]));
  PetscCall(PlaceInParent(dm, parent, child, place));
  PetscCall(DMPlexGetChart(K, NULL, &end));
  for (PetscInt p = 0; p < end && *id < 0; ++p) {
    PetscInt of, d[2], a[2];

    PetscCall(DMPlexGetTreeParent(K, p, &of, NULL));
    if (of == p) continue;
    PetscCall(DMPlexGetPointDepth(K, of, &d[0]));
    PetscCall(DMPlexGetPointDepth(K, p, &d[1]));
    if (d[0] == depth[0] && first < 0) first = of;
    if (of != first || d[1] != depth[1]) continue;
    PetscCall(PlaceInParent(K, of, p, a));
    if (a[0] == place[0] && a[1] == place[1]) *id = p;
  }
  PetscCheck(*id >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The reference tree has no child like point %" PetscInt_FMT, child);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An edge or face with halves of itself has all points in its inside as children */
static PetscErrorCode SetTree(DM dm, const HangMesh *m)
{
  PetscInt     n = 0, *box, *parent, *parents, *ids, size, cStart, cEnd;
  Item        *list;
  PetscSection s;
  DM           K;

  PetscFunctionBeginUser;
  PetscCall(Boxes(dm, m, &n, &list, &box));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  PetscCall(PetscMalloc1(n, &parent));
  for (PetscInt p = 0; p < n; ++p) parent[p] = -1;
  for (PetscInt depth = 1; depth < m->dim; ++depth) { /* edges first: their children are not those of faces */
    PetscInt start, end;

    PetscCall(DMPlexGetDepthStratum(dm, depth, &start, &end));
    for (PetscInt q = start; q < end; ++q) {
      const PetscInt *b = box + 6 * q, half[3] = {b[3] / 2, b[4] / 2, b[5] / 2};

      if (Lookup(n, list, b, half) < 0) continue;
      for (PetscInt k = 0; k < 27; ++k) { /* per direction: lower half, upper half, the middle */
        const PetscInt how[3] = {k % 3, k / 3 % 3, k / 9};
        PetscInt       lo[3], len[3], p;

        for (PetscInt d = 0; d < 3; ++d) {
          lo[d]  = b[d] + (how[d] && half[d] ? half[d] : 0);
          len[d] = how[d] == 2 ? 0 : half[d];
        }
        p = Lookup(n, list, lo, len);
        if (p >= 0 && p != q && parent[p] < 0 && (p < cStart || p >= cEnd)) parent[p] = q;
      }
    }
  }
  PetscCall(PetscSectionCreate(PetscObjectComm((PetscObject)dm), &s));
  PetscCall(PetscSectionSetChart(s, 0, n));
  for (PetscInt p = 0; p < n; ++p)
    if (parent[p] >= 0) PetscCall(PetscSectionSetDof(s, p, 1));
  PetscCall(PetscSectionSetUp(s));
  PetscCall(PetscSectionGetStorageSize(s, &size));
  PetscCall(PetscMalloc1(size, &parents));
  PetscCall(PetscCalloc1(size, &ids));
  PetscCall(DMPlexCreateDefaultReferenceTree(PETSC_COMM_WORLD, m->dim, PETSC_FALSE, &K));
  size = 0;
  for (PetscInt p = 0; p < n; ++p) {
    if (parent[p] < 0) continue;
    PetscCall(ChildID(K, dm, parent[p], p, &ids[size]));
    parents[size++] = parent[p];
  }
  PetscCall(DMPlexSetReferenceTree(dm, K));
  PetscCall(DMDestroy(&K));
  PetscCall(DMPlexSetTree(dm, s, parents, ids));
  PetscCall(PetscSectionDestroy(&s));
  PetscCall(PetscFree(parents));
  PetscCall(PetscFree(ids));
  PetscCall(PetscFree(parent));
  PetscCall(PetscFree2(list, box));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the cells of a mesh, all on the first rank, then distributed with the tree */
static PetscErrorCode CreateForest(HangMesh *m, DM *dm)
{
  const PetscInt dim = m->dim, nv = 1 << dim, plex2[4] = {0, 1, 3, 2}, plex3[8] = {0, 2, 3, 1, 4, 5, 7, 6};
  const PetscInt stride = (m->M[0] << m->finest) + 1;
  PetscInt      *cells, *number, nvert = 0;
  PetscReal     *x;
  PetscMPIInt    rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscMalloc3(m->n * nv, &cells, stride * stride * stride * 2, &number, m->n * nv * dim, &x));
  for (PetscInt i = 0; i < stride * stride * stride * 2; ++i) number[i] = -1;
  for (PetscInt c = 0; c < (rank ? 0 : m->n); ++c)
    for (PetscInt k = 0; k < nv; ++k) {
      PetscInt at[3], a[3] = {0, 0, 0}, g;

      HangPlace(m, m->cell + c, 1, dim == 3 ? plex3[k] : plex2[k], at);
      for (PetscInt d = 0; d < dim; ++d) a[d] = (m->cell[c].a[d] + at[d]) << (m->finest - m->cell[c].level);
      g = a[0] + stride * (a[1] + stride * a[2]);
      if (number[g] < 0) {
        for (PetscInt d = 0; d < dim; ++d) x[nvert * dim + d] = (PetscReal)a[d] / (1 << m->finest);
        number[g] = nvert++;
      }
      cells[c * nv + k] = number[g];
    }
  PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_WORLD, dim, rank ? 0 : m->n, nvert, nv, PETSC_TRUE, cells, dim, x, dm));
  PetscCall(PetscFree3(cells, number, x));
  PetscCall(SetTree(*dm, m));
  PetscCall(TestDistribute(dm, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMesh(PetscInt dim, PetscInt n, DM *dm)
{
  PetscInt  M[3] = {2, 2, 2}, nM = 3, finest = 2, seed = 1, cell = -1;
  PetscReal part = 0.3;
  PetscBool turn = PETSC_FALSE;
  HangMesh  m;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-turn", &turn, NULL)); /* of the other meshes, but no option may be unused */
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-refine", &cell, NULL));
  if (cell >= 0) {
    PetscCall(CreateRefined(dim, n, cell, dm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-roots", M, &nM, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-finest", &finest, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seed", &seed, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-part", &part, NULL));
  PetscCall(HangCreate(dim, M, PETSC_FALSE, finest, &m));
  m.seed = (unsigned)seed;
  PetscCall(HangAdapt(&m, 0, finest, part, NULL));
  PetscCall(HangList(&m, turn));
  PetscCall(CreateForest(&m, dm));
  PetscCall(HangDestroy(&m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* facets on the boundary of the box */
static PetscErrorCode MarkBoundary(DM dm, PetscInt dim)
{
  PetscInt           fStart, fEnd, vStart, vEnd;
  PetscSection       s;
  Vec                v;
  const PetscScalar *x;
  PetscReal          lo[3], hi[3];
  DMLabel            label;

  PetscFunctionBeginUser;
  PetscCall(DMCreateLabel(dm, "boundary"));
  PetscCall(DMGetLabel(dm, "boundary", &label));
  PetscCall(DMPlexGetHeightStratum(dm, 1, &fStart, &fEnd));
  PetscCall(DMPlexGetDepthStratum(dm, 0, &vStart, &vEnd));
  PetscCall(DMGetCoordinateSection(dm, &s));
  PetscCall(DMGetCoordinatesLocal(dm, &v));
  PetscCall(DMGetBoundingBox(dm, lo, hi));
  PetscCall(VecGetArrayRead(v, &x));
  for (PetscInt f = fStart; f < fEnd; ++f) {
    PetscInt *closure = NULL, n;
    PetscBool on[6] = {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE}, any = PETSC_FALSE;

    PetscCall(DMPlexGetTransitiveClosure(dm, f, PETSC_TRUE, &n, &closure));
    for (PetscInt k = 0; k < n; ++k) {
      PetscInt off;

      if (closure[2 * k] < vStart || closure[2 * k] >= vEnd) continue;
      PetscCall(PetscSectionGetOffset(s, closure[2 * k], &off));
      for (PetscInt d = 0; d < 2 * dim; ++d)
        if (PetscAbsReal(PetscRealPart(x[off + d / 2]) - (d % 2 ? hi : lo)[d / 2]) > 1e-10) on[d] = PETSC_FALSE;
    }
    PetscCall(DMPlexRestoreTransitiveClosure(dm, f, PETSC_TRUE, &n, &closure));
    for (PetscInt d = 0; d < 2 * dim; ++d) any = any || on[d] ? PETSC_TRUE : PETSC_FALSE;
    if (any) PetscCall(DMLabelSetValue(label, f, 1));
  }
  PetscCall(VecRestoreArrayRead(v, &x));
  PetscCall(DMPlexLabelComplete(dm, label));
  PetscFunctionReturn(PETSC_SUCCESS);
}
