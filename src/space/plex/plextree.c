/*
  Hanging nodes of a DMPlex with a tree: where facets or edges of a cell have parents, its unknowns are those
  of the parents. How the cell sees these follows from the vertex that a child shares with its parent and
  from the parents of the others, so no coordinates are asked.
*/
#include <hops/private/hopspleximpl.h>
#include <hops/private/hopshanging.h>

typedef struct {
  DM             dm;
  HopsPlexCells  cells;
  PetscInt       vertex[8], edge[8][8]; /* entries of the closure by reference corners (bit d: direction d) */
  PetscInt       c, position;           /* the cell at hand, and its place in the parent, or -1 */
  unsigned short mask;
  char          *why;
} Tree;

/* reference corner of vertex v of entry i */
static PetscInt Corner(const HopsPlexClosure *ref, PetscInt i, PetscInt v)
{
  PetscInt bits = 0;

  for (PetscInt d = 0; d < ref->dim; ++d) bits |= ref->corner[i][v][d] << d;
  return bits;
}

static PetscErrorCode Entries(Tree *t)
{
  const HopsPlexClosure *ref = &t->cells->ref;

  PetscFunctionBegin;
  for (PetscInt i = 1; i < ref->n; ++i) {
    const PetscInt a = Corner(ref, i, 0), b = Corner(ref, i, 1);

    if (ref->depth[i] == 0) t->vertex[a] = i;
    else if (ref->depth[i] == 1) t->edge[a][b] = t->edge[b][a] = i;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The own vertices of an edge or a quadrilateral */
static PetscErrorCode OwnVertices(DM dm, PetscInt depth, PetscInt p, PetscInt own[])
{
  const PetscInt *cone, *ornt, *ends;

  PetscFunctionBegin;
  PetscCall(DMPlexGetCone(dm, p, &cone));
  PetscCall(DMPlexGetConeOrientation(dm, p, &ornt));
  for (PetscInt k = 0; k < (depth == 1 ? 2 : 4); ++k) {
    own[k] = cone[k];
    if (depth == 1) continue;
    PetscCall(DMPlexGetCone(dm, cone[k], &ends));
    own[k] = ends[ornt[k] < 0 ? 1 : 0];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The edge of a quadrilateral that joins two vertices, or -1 */
static PetscErrorCode EdgeOf(DM dm, PetscInt face, PetscInt a, PetscInt b, PetscInt *edge)
{
  const PetscInt *cone, *ends;

  PetscFunctionBegin;
  *edge = -1;
  PetscCall(DMPlexGetCone(dm, face, &cone));
  for (PetscInt k = 0; k < 4; ++k) {
    PetscCall(DMPlexGetCone(dm, cone[k], &ends));
    if ((ends[0] == a && ends[1] == b) || (ends[0] == b && ends[1] == a)) *edge = cone[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entry i becomes the point p, whose vertices the cell sees as v[n]; a point that hangs itself is not one */
static PetscErrorCode Take(Tree *t, PetscInt i, PetscInt p, PetscInt n, const PetscInt v[])
{
  const PetscInt at = t->c * t->cells->ref.n + i;
  PetscInt       own[4], parent, o = n == 1 ? 0 : PETSC_MIN_INT;

  PetscFunctionBegin;
  PetscCall(DMPlexGetTreeParent(t->dm, p, &parent, NULL));
  if (parent != p)
    PetscCall(HopsRefuse(t->why,
                         "Cell %" PetscInt_FMT " has hanging nodes whose parent, point %" PetscInt_FMT
                         ", hangs itself: refine until neighbours across facets and edges differ by one level (in p4est, full "
                         "balance)",
                         t->cells->cell[t->c], p));
  if (n > 1) {
    PetscCall(OwnVertices(t->dm, n == 2 ? 1 : 2, p, own));
    for (PetscInt k = n == 2 ? -1 : -4; k < (n == 2 ? 1 : 4); ++k) {
      PetscBool same = PETSC_TRUE;

      for (PetscInt m = 0; m < n; ++m)
        if (own[n == 2 ? (k < 0 ? 1 - m : m) : HopsQuadVertex(k, m)] != v[m]) same = PETSC_FALSE;
      if (same) o = k;
    }
    if (o == PETSC_MIN_INT) {
      PetscCall(HopsRefuse(t->why,
                           "Cell %" PetscInt_FMT " sees its parent's point %" PetscInt_FMT
                           " in no way that hops knows: the mesh's tree is odd",
                           t->cells->cell[t->c], p));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  t->cells->upoint[at] = p;
  t->cells->uornt[at]  = (signed char)o;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The corner of entry i whose vertex the parent has, too, and so the cell's position; own[n]: the parent's
   vertices */
static PetscErrorCode Position(Tree *t, PetscInt i, PetscInt n, const PetscInt own[], PetscInt *shared)
{
  const HopsPlexClosure *ref   = &t->cells->ref;
  const PetscInt        *point = t->cells->point + t->c * ref->n;
  PetscInt               found = 0;

  PetscFunctionBegin;
  for (PetscInt v = 0; v < n; ++v)
    for (PetscInt k = 0; k < n; ++k)
      if (point[t->vertex[Corner(ref, i, v)]] == own[k]) {
        *shared = v;
        ++found;
      }
  if (found != 1)
    PetscCall(HopsRefuse(t->why,
                         "Cell %" PetscInt_FMT " shares %" PetscInt_FMT
                         " vertices with the parent of a facet or edge, not one: hops knows "
                         "trees of halved quadrilaterals and hexahedra, whose "
                         "cells do not touch themselves",
                         t->cells->cell[t->c], found));
  if (t->position >= 0 && t->position != Corner(ref, i, *shared))
    PetscCall(HopsRefuse(t->why, "Cell %" PetscInt_FMT " has two positions in its parent: the mesh's tree contradicts itself",
                         t->cells->cell[t->c]));
  t->position = Corner(ref, i, *shared);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An edge, entry i, with the parent p */
static PetscErrorCode TakeEdge(Tree *t, PetscInt i, PetscInt p)
{
  const HopsPlexClosure *ref = &t->cells->ref;
  PetscInt               own[2], v[2], shared = 0;

  PetscFunctionBegin;
  PetscCall(OwnVertices(t->dm, 1, p, own));
  PetscCall(Position(t, i, 2, own, &shared));
  if (t->why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  v[shared]     = t->cells->point[t->c * ref->n + t->vertex[Corner(ref, i, shared)]];
  v[1 - shared] = own[0] == v[shared] ? own[1] : own[0];
  PetscCall(Take(t, i, p, 2, v));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(Take(t, t->vertex[Corner(ref, i, k)], v[k], 1, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A face, entry i, with the parent p: neighbours of the shared vertex are on edges of p, whose other ends
   take their places */
static PetscErrorCode TakeFace(Tree *t, PetscInt i, PetscInt p)
{
  const HopsPlexClosure *ref   = &t->cells->ref;
  const PetscInt        *point = t->cells->point + t->c * ref->n, *ends;
  PetscInt               own[4], v[4], shared = 0, e, sum = 0;

  PetscFunctionBegin;
  PetscCall(OwnVertices(t->dm, 2, p, own));
  PetscCall(Position(t, i, 4, own, &shared));
  if (t->why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  v[shared] = point[t->vertex[Corner(ref, i, shared)]];
  for (PetscInt k = 1; k < 4; k += 2) {
    const PetscInt n = (shared + k) % 4;

    PetscCall(DMPlexGetTreeParent(t->dm, point[t->vertex[Corner(ref, i, n)]], &e, NULL));
    PetscCall(DMPlexGetCone(t->dm, e, &ends));
    v[n] = ends && ends[0] == v[shared] ? ends[1] : (ends ? ends[0] : -1);
  }
  for (PetscInt k = 0; k < 4; ++k) sum += own[k];
  v[(shared + 2) % 4] = sum - v[shared] - v[(shared + 1) % 4] - v[(shared + 3) % 4];
  PetscCall(Take(t, i, p, 4, v));
  if (t->why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < 4; ++k) {
    const PetscInt a = Corner(ref, i, k), b = Corner(ref, i, (k + 1) % 4), entry = t->edge[a][b];
    const PetscInt w[2] = {v[k], v[(k + 1) % 4]}, back[2] = {w[1], w[0]};

    PetscCall(EdgeOf(t->dm, p, w[0], w[1], &e));
    if (e < 0) {
      PetscCall(HopsRefuse(t->why, "The parent of a face, point %" PetscInt_FMT ", lacks an edge", p));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(Take(t, entry, e, 2, Corner(ref, entry, 0) == a ? w : back));
    PetscCall(Take(t, t->vertex[a], v[k], 1, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cell t->c: its facets, then the edges that are on none of those that hang */
static PetscErrorCode TakeCell(Tree *t)
{
  const HopsPlexClosure *ref   = &t->cells->ref;
  const PetscInt        *point = t->cells->point + t->c * ref->n, *now = t->cells->upoint + t->c * ref->n;
  const PetscInt         dim = ref->dim;
  PetscInt               p;

  PetscFunctionBegin;
  t->position = -1;
  t->mask     = 0;
  for (PetscInt depth = dim - 1; depth > 0; --depth)
    for (PetscInt i = 1; i < ref->n; ++i) {
      PetscInt d = 0;

      if (ref->depth[i] != depth || now[i] != point[i]) continue;
      PetscCall(DMPlexGetTreeParent(t->dm, point[i], &p, NULL));
      if (p == point[i]) continue;
      if (depth == 2) PetscCall(TakeFace(t, i, p));
      else PetscCall(TakeEdge(t, i, p));
      if (t->why[0]) PetscFunctionReturn(PETSC_SUCCESS); /* what was found is no point to go on from */
      if (depth == dim - 1) {                            /* the direction across the facet */
        const PetscInt nv  = depth == 2 ? 4 : 2;
        PetscInt       all = Corner(ref, i, 0), any = all;

        for (PetscInt v = 1; v < nv; ++v) {
          all &= Corner(ref, i, v);
          any |= Corner(ref, i, v);
        }
        while (((all ^ any) >> d & 1)) ++d;
        t->mask |= (unsigned short)(1u << (dim + d));
      } else {
        const PetscInt along = Corner(ref, i, 0) ^ Corner(ref, i, 1);

        while (!(along >> d & 1)) ++d;
        t->mask |= (unsigned short)(1u << (6 + d));
      }
    }
  if (t->mask) t->mask |= (unsigned short)t->position;
  for (PetscInt d = 0; d < 3 && dim == 3; ++d)
    if (t->mask >> (3 + d) & 1) t->mask |= (unsigned short)((7 & ~(1u << d)) << 6);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexCellsSetTree(DM dm, HopsPlexCells cells)
{
  char         why[HOPS_WHY_LENGTH] = "";
  Tree         t                    = {.dm = dm, .cells = cells, .why = why};
  MPI_Comm     comm                 = PetscObjectComm((PetscObject)dm);
  PetscSection parents;
  PetscInt     size = 0;
  PetscBool    some = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(DMPlexGetTree(dm, &parents, NULL, NULL, NULL, NULL));
  if (!parents) PetscFunctionReturn(PETSC_SUCCESS); /* on all ranks alike */
  PetscCall(PetscSectionGetStorageSize(parents, &size));
  if (size) PetscCall(HopsPlexCellsBring(cells));
  PetscCall(PetscMalloc1(cells->ncells * cells->ref.n, &cells->upoint));
  PetscCall(PetscMalloc1(cells->ncells * cells->ref.n, &cells->uornt));
  PetscCall(PetscCalloc1(cells->ncells, &cells->hang));
  if (size) {
    PetscCall(PetscArraycpy(cells->upoint, cells->point, cells->ncells * cells->ref.n));
    PetscCall(PetscArraycpy(cells->uornt, cells->ornt, cells->ncells * cells->ref.n));
    PetscCall(Entries(&t));
    for (t.c = 0; t.c < cells->ncells && !why[0]; ++t.c) {
      PetscCall(TakeCell(&t));
      cells->hang[t.c] = t.mask;
      if (t.mask) some = PETSC_TRUE;
    }
  }
  PetscCall(HopsRaise(comm, PETSC_ERR_SUP, why));
  PetscCall(MPIU_Allreduce(&some, &cells->hanging, 1, HOPS_MPI_BOOL, MPI_LOR, comm));
  if (cells->hanging && (size || !cells->ncells)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(cells->upoint));
  PetscCall(PetscFree(cells->uornt));
  if (!cells->hanging) PetscCall(PetscFree(cells->hang));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------------- the space ---------------------------------------- */

PetscErrorCode HopsSpaceSetTree(HopsSpace sp)
{
  HopsPlexCells cells = sp->cells;

  PetscFunctionBegin;
  if (!cells->hanging) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(sp->backend->hanging || sp->backend->HungCreate, PetscObjectComm((PetscObject)sp), PETSC_ERR_SUP,
             "The back end %s does not know hanging nodes: run with -hops_backend host", sp->backend->name);
  sp->hanging = PETSC_TRUE;
  PetscCall(PetscMalloc1(sp->ncells, &sp->hang));
  PetscCall(PetscArraycpy(sp->hang, cells->hang, sp->ncells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bits: 1 essential, 2 it hangs or no cell has it, which a coarse facet is whose cell was refined */
PetscErrorCode HopsSpaceFixTree(HopsSpace sp)
{
  const HopsPlexCells cells                = sp->cells;
  char                why[HOPS_WHY_LENGTH] = "";
  PetscInt            pStart, pEnd, n = 0, *fixed;
  signed char        *mark;

  PetscFunctionBegin;
  if (!sp->hanging) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMPlexGetChart(sp->dm, &pStart, &pEnd));
  PetscCall(PetscCalloc1(pEnd - pStart, &mark));
  for (PetscInt i = 0; i < sp->nfixed; ++i) mark[sp->fixed[i] - pStart] = 1;
  for (PetscInt i = 0; i < cells->ncells * cells->ref.n; ++i) mark[(cells->upoint ? cells->upoint : cells->point)[i] - pStart] |= 4;
  for (PetscInt p = pStart; p < pEnd; ++p) {
    PetscInt parent;

    PetscCall(DMPlexGetTreeParent(sp->dm, p, &parent, NULL));
    if (parent != p && (mark[p - pStart] & 1) && !(mark[parent - pStart] & 1))
      PetscCall(HopsRefuse(why,
                           "Point %" PetscInt_FMT " is on the essential boundary and hangs on point %" PetscInt_FMT
                           ", which is not: refine both sides of where the boundary conditions change, or label the parent, too",
                           p, parent));
    if (parent != p || !(mark[p - pStart] & 4)) mark[p - pStart] |= 2;
    n += mark[p - pStart] & 3 ? 1 : 0;
  }
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)sp), PETSC_ERR_SUP, why));
  PetscCall(PetscMalloc1(n + 1, &fixed));
  n = 0;
  for (PetscInt p = pStart; p < pEnd; ++p)
    if (mark[p - pStart] & 3) fixed[n++] = p;
  PetscCall(PetscFree(mark));
  PetscCall(PetscFree(sp->fixed));
  sp->fixed  = fixed;
  sp->nfixed = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* perm[n]: cells with hanging nodes come last, by their masks, within [0, ninterior) and after it */
PetscErrorCode HopsSpaceSortTree(HopsSpace sp, int perm[])
{
  int *old, *next;

  PetscFunctionBegin;
  if (!sp->hanging) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(sp->ncells, &old));
  PetscCall(PetscArraycpy(old, perm, sp->ncells));
  PetscCall(PetscCalloc1(2 * HOPS_HANGING_MASKS + 1, &next));
  for (int pass = 0; pass < 2; ++pass) {
    for (PetscInt c = 0; c < sp->ncells; ++c) {
      const PetscInt k = (c < sp->ninterior ? 0 : HOPS_HANGING_MASKS) + sp->cells->hang[old[c]];

      if (pass) perm[next[k]++] = old[c];
      else ++next[k + 1];
    }
    for (PetscInt k = 0; k < 2 * HOPS_HANGING_MASKS && !pass; ++k) next[k + 1] += next[k];
  }
  for (PetscInt c = 0; c < sp->ncells; ++c) sp->hang[c] = sp->cells->hang[perm[c]];
  PetscCall(PetscFree(next));
  PetscCall(PetscFree(old));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* gap: how far a vertex of hanging facets and edges of cell c is from where its parent has it, up[], in parts
   of the cell; it is put there where that is asked for. x: of all vertices */
static PetscErrorCode Gap(HopsSpace sp, const HopsHanging *h, const Tree *t, PetscSection s, const PetscReal x[], PetscInt c,
                          PetscReal *gap)
{
  const PetscInt dim = sp->dim, n = HopsPower(2, dim),
                 *up = sp->cells->upoint ? sp->cells->upoint + sp->cells->where[sp->cell[c] - sp->cstart] * sp->cells->ref.n : NULL;
  PetscReal far = 0.0, size = 0.0, u[3][8];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < dim; ++d) {
    const PetscReal *X = sp->X + (c * dim + d) * n;

    for (PetscInt k = 0; k < n; ++k) {
      PetscInt off;

      PetscCall(PetscSectionGetOffset(s, up[t->vertex[k]], &off));
      u[d][k] = x[off + d];
      size    = PetscMax(size, PetscAbsReal(X[k] - X[0]));
    }
    HopsHangingApply(h, sp->hang[c], PETSC_FALSE, u[d]);
    for (PetscInt k = 0; k < n; ++k) far = PetscMax(far, PetscAbsReal(u[d][k] - X[k]));
  }
  *gap = far / size;
  if (sp->repair && *gap <= HOPS_HANGING_REPAIR)
    for (PetscInt d = 0; d < dim; ++d) PetscCall(PetscArraycpy(sp->X + (c * dim + d) * n, u[d], n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckGaps(HopsSpace sp)
{
  HopsHanging  h;
  char         why[HOPS_WHY_LENGTH] = "";
  PetscSection s;
  Vec          v;
  Tree         t        = {.cells = sp->cells};
  PetscInt     moved    = 0;
  PetscReal    furthest = 0.0;

  PetscFunctionBegin;
  PetscCall(HopsHangingCreate(HOPS_H1, sp->dim, 1, &h));
  PetscCall(DMGetCoordinateSection(sp->dm, &s));
  PetscCall(DMGetCoordinatesLocalNoncollective(sp->dm, &v));
  if (sp->repair) PetscCall(HopsSpaceTakeMesh(sp));
  if (sp->ncells) {
    const PetscReal *x;

    PetscCall(Entries(&t));
    PetscCall(HopsHostVecGetPartRead(v, 0, &x));
    for (PetscInt c = 0; c < sp->ncells; ++c) {
      PetscReal gap = 0.0;

      if (!sp->hang[c]) continue;
      PetscCall(Gap(sp, &h, &t, s, x, c, &gap));
      if (gap <= 1e-10) continue;
      if (sp->repair && gap <= HOPS_HANGING_REPAIR) {
        furthest = PetscMax(furthest, gap);
        ++moved;
      } else
        PetscCall(HopsRefuse(why,
                             "A hanging vertex of cell %" PetscInt_FMT " is %g of the cell's size away from the middle of its "
                             "parent's, so that the mesh has gaps, or is periodic there: map the vertices of coarse cells alone%s",
                             sp->cell[c], (double)gap, gap > HOPS_HANGING_REPAIR ? "" : ", or use -hops_repair_geometry"));
    }
    PetscCall(HopsHostVecRestorePartRead(v, 0, &x));
  }
  if (moved)
    PetscCall(PetscInfo(sp, "moved hanging vertices of %" PetscInt_FMT " cells, by %g of the cell's size at most\n", moved,
                        (double)furthest));
  PetscCall(HopsHangingDestroy(&h));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)sp), PETSC_ERR_SUP, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Places of unknowns that cells of this rank list as parents' alone: on a parent's line a multilinear map
   goes on */
static PetscErrorCode FindApart(HopsSpace sp)
{
  const PetscInt dim = sp->dim, P = sp->order + 1, np = HopsPower(P, dim);
  HopsBasis      gll;
  HopsHanging    h;
  PetscBool     *on, *seen;
  PetscInt      *where, *node;

  PetscFunctionBegin;
  PetscCall(HopsBasisCreate(P, P, PETSC_TRUE, &gll));
  PetscCall(HopsHangingCreate(sp->family, dim, sp->order, &h));
  PetscCall(PetscMalloc2(np, &on, np, &node));
  PetscCall(PetscCalloc1(sp->nL, &seen));
  PetscCall(PetscMalloc1(sp->nL, &where));
  for (PetscInt l = 0; l < sp->nL; ++l) where[l] = -1;
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    (void)HopsHangingNodes(&h, sp->hang[c], on);
    for (PetscInt i = 0; i < np; ++i) {
      const PetscInt l = sp->restr[c * np + i];

      if (!on[i]) seen[l] = PETSC_TRUE;
      else where[l] = c * np + i;
    }
  }
  sp->nabsent = 0;
  for (PetscInt l = 0; l < sp->nL; ++l) sp->nabsent += !seen[l] && where[l] >= 0;
  PetscCall(PetscMalloc2(sp->nabsent, &sp->absent, sp->nabsent * dim, &sp->xabsent));
  sp->nabsent = 0;
  for (PetscInt l = 0; l < sp->nL; ++l) {
    const PetscInt c = where[l] / np;
    PetscReal      xi[3];

    if (seen[l] || where[l] < 0) continue;
    for (PetscInt d = 0, i = where[l] % np; d < dim; ++d, i /= P) {
      const PetscInt end = sp->hang[c] >> d & 1 ? P - 1 : 0;

      /* across a hanging facet, and where only the end is shared, the place is the cell's own */
      xi[d] = i % P == end ? gll.nodes[i % P] : 2.0 * gll.nodes[i % P] + (end ? -1.0 : 1.0);
    }
    for (PetscInt e = 0; e < dim; ++e) {
      PetscReal x = 0.0;

      for (PetscInt k = 0; k < HopsPower(2, dim); ++k) {
        PetscReal w = sp->X[(c * dim + e) * HopsPower(2, dim) + k];

        for (PetscInt d = 0; d < dim; ++d) w *= 0.5 * (1.0 + (k >> d & 1 ? xi[d] : -xi[d]));
        x += w;
      }
      sp->xabsent[sp->nabsent * dim + e] = x;
    }
    sp->absent[sp->nabsent++] = l;
  }
  PetscCall(PetscFree(seen));
  PetscCall(PetscFree(where));
  PetscCall(PetscFree2(on, node));
  PetscCall(HopsBasisDestroy(&gll));
  PetscCall(HopsHangingDestroy(&h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceFinishTree(HopsSpace sp)
{
  PetscFunctionBegin;
  if (!sp->hanging) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(sp->gorder == 1, PetscObjectComm((PetscObject)sp), PETSC_ERR_SUP,
             "The DMPLEX has hanging nodes and coordinates of order %" PetscInt_FMT
             ": give it those of its vertices, or give arrays (HopsSpaceCreateAdaptiveFromArrays())",
             sp->gorder);
  PetscCall(HopsSpaceBringMesh(sp));
  PetscCall(CheckGaps(sp));
  if (sp->family == HOPS_H1) PetscCall(FindApart(sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}
