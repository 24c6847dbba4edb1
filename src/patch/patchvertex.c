/*
  Vertex patches: the unknowns of all mesh entities that have the vertex, on the star of cells around it.

  A star is a tensor product where its edges at the vertex fall into dim axes of one or two edges, with a cell
  for each combination: 2^dim cells around an interior vertex, fewer at a boundary with natural conditions.
  Others (three or five quads around a vertex, ...) get the inverse of the operator's matrix where that is
  small, and else the element patches of their cells. So do vertices of facets and edges with hanging nodes.
  There cells that have the vertex as their parent's list it too. The patch has the unknowns of the cells at
  the vertex, and its matrix is of all cells that list them.
*/
#include <hops/private/hopspatchimpl.h>

/* Factors of the cells along the star's axes; false where a cell's form is no tensor product, or more is on
   its faces */
static PetscBool StarFactors(const HopsPatchCells *pc, const HopsPatchStar *s, PetscReal d[8][4])
{
  const PetscInt dim = pc->space->dim;

  for (PetscInt pos = 0; pos < 8; ++pos) {
    const HopsPatchCell *cell    = pc->data + s->cell[pos];
    const PetscInt       axis[2] = {(s->seen[pos] >> 3) & 3, (s->seen[pos] >> 5) & 3};

    if (!HopsPatchStarHas(s, (int)pos)) continue;
    if (HopsFormDerivative(pc->form) && (cell->lo < 1.0 - 1e-10 || cell->hi > 1.0 + 1e-10)) return PETSC_FALSE;
    if (cell->m > 0.0 && (cell->mlo < 1.0 - 1e-10 || cell->mhi > 1.0 + 1e-10)) return PETSC_FALSE;
    for (PetscInt t = 0; t < dim; ++t) {
      const PetscInt a = t < 2 ? axis[t] : 3 - axis[0] - axis[1];

      d[pos][a] = HopsFormDerivative(pc->form) ? cell->d[t] : 0.0;
      if (s->side[a] == 1 && cell->robin[2 * t + ((s->seen[pos] >> t) & 1)] > 0.0) return PETSC_FALSE;
    }
    d[pos][3] = cell->m;
  }
  return PETSC_TRUE;
}

/* The lines of the last tensor products, and their factors: most patches have those of the one before; and
   sizes of skeletons, by bits: two cells along an axis */
typedef struct {
  HopsPatchLine line[3];
  int           factor[3];   /* -1: none yet */
  PetscInt      skeleton[8]; /* 0: not known yet */
} Lines;

static PetscErrorCode GetFactor(HopsPatches pt, const HopsPatchFit *f, PetscInt b, PetscInt ncells, Lines *lines)
{
  const PetscInt p = pt->space->order;
  HopsPatchLine  l = {.ncells = ncells,
                      .first  = ncells == 2 ? 1 : 0,
                      .last   = ncells == 2 ? 2 * p - 1 : p - 1,
                      .a      = {f->scale[b] > 0.0 ? 1.0 : 0.0, f->a[b]},
                      .m      = {1.0, f->m[b]},
                      .robin  = {f->robin[b]}};

  const HopsPatchLine *o = lines->line + b;

  PetscFunctionBegin;
  if (lines->factor[b] >= 0 && l.ncells == o->ncells && l.a[0] == o->a[0] && l.a[1] == o->a[1] && l.m[1] == o->m[1] &&
      l.robin[0] == o->robin[0])
    PetscFunctionReturn(PETSC_SUCCESS);
  lines->line[b] = l;
  PetscCall(HopsPatchFactorGet(pt, &l, &lines->factor[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The last patch becomes a tensor product, which is the operator's or near it; nodes: with all nodes of its
   cells */
static PetscErrorCode MakeProduct(HopsPatches pt, const HopsPatchCells *pc, const int size[3], const HopsPatchOptions *opt,
                                  PetscBool nodes, const HopsPatchFit *f, Lines *lines)
{
  const PetscInt       dim = pc->space->dim, p = pc->space->order, k = pt->n - 1;
  const HopsPatchStar *s = pt->star + k;

  PetscFunctionBegin;
  pt->solver[k] = f->exact ? HOPS_PATCH_EXACT : HOPS_PATCH_SURROGATE;
  for (PetscInt b = 0; b < dim; ++b) {
    PetscCall(GetFactor(pt, f, b, s->side[b], lines));
    pt->factor[k][b] = lines->factor[b];
    pt->size[k][b]   = size[b];
    pt->scale[k][b]  = f->scale[b];
  }
  pt->scale[k][3] = f->scale[3];
  pt->scale[k][5] = f->w;
  if (nodes) {
    PetscCheck((PetscInt64)pt->next + HopsPower(2 * p + 1, dim) < PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The cells of the patches have more than 2^31 nodes on one rank: use more ranks, or -pc_patchfd_fuse 0");
    pt->estart[k + 1] = pt->next += HopsPatchStarSize(&pc->nodes, s, 1, pt->esize[k]);
  }
  pt->bound[k][0] = f->bound[0];
  pt->bound[k][1] = f->bound[1];
  pt->scale[k][4] = PetscMin(1.0, opt->damp / f->bound[1]) / f->w;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A tensor star: exact, condensed, dense or a surrogate; of cells list[] as Stars() has it */
static PetscErrorCode AddTensor(HopsPatches pt, const HopsPatchCells *pc, HopsPatchStar *s, unsigned char faults,
                                const HopsPatchFit *f, const HopsPatchOptions *opt, PetscInt ncells, const PetscInt list[],
                                Lines *lines)
{
  const PetscInt  dim = pc->space->dim, p = pc->space->order;
  const PetscBool nodes = opt->fuse && f->exact && !(faults & HOPS_PATCH_DIFFERS) ? PETSC_TRUE : PETSC_FALSE;
  PetscInt        touch[8];
  int             size[3], n;

  PetscFunctionBegin;
  n = HopsPatchStarSize(&pc->nodes, s, 0, size);
  for (PetscInt k = 0; k < ncells; ++k) touch[k] = list[k] >> dim;
  if (!f->exact && p > 1 && f->bound[1] > opt->condenseratio * f->bound[0] && opt->condensemax > 0) {
    const int side[3]  = {s->side[0], s->side[1], s->side[2]};
    PetscInt *skeleton = lines->skeleton + (side[0] - 1 + 2 * (side[1] - 1) + 4 * (side[2] - 1));
    PetscReal d[8][4]  = {{0.0}};

    if (!*skeleton) PetscCall(HopsPatchSkeleton(dim, p, side, skeleton, NULL));
    if (*skeleton <= opt->condensemax && StarFactors(pc, s, d)) {
      PetscCall(HopsPatchesAppend(pt, n, s, NULL, NULL, opt->colors ? ncells : 0, touch));
      for (PetscInt b = 0; b < dim; ++b) pt->size[pt->n - 1][b] = size[b];
      PetscCall(HopsPatchesAddCondensed(pt, side, d));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  s->sorted = !f->exact && f->bound[1] > opt->denseratio * f->bound[0] && n <= opt->densemax;
  PetscCall(HopsPatchesAppend(pt, n, s, NULL, NULL, opt->colors || s->sorted ? ncells : 0, touch));
  if (!s->sorted) PetscCall(MakeProduct(pt, pc, size, opt, nodes, f, lines));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The distinct unknowns of cells around a vertex, list[] as Stars() has it: they ascend */
static PetscErrorCode StarList(const HopsPatchCells *pc, PetscInt ncells, const PetscInt list[], PetscInt *n, PetscInt gid[],
                               unsigned char dist[], PetscInt l[])
{
  const PetscInt dim = pc->space->dim, p = pc->space->order;
  PetscInt       m = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < ncells; ++k)
    for (PetscInt i = 0; i < pc->nn && HopsPatchCornerIsOwn(pc, list[k]); ++i) {
      const PetscInt g = pc->gid[list[k] / pc->nv * pc->nn + i];
      PetscInt       r = i, l1 = 0;
      PetscBool      inside = PETSC_TRUE;

      for (PetscInt d = 0; d < dim; ++d, r /= p + 1) {
        const PetscInt t = (list[k] % pc->nv >> d) & 1 ? p - r % (p + 1) : r % (p + 1);

        inside = inside && t < p ? PETSC_TRUE : PETSC_FALSE;
        l1 += t;
      }
      if (!inside || g < 0) continue;
      gid[m] = g;
      l[m++] = l1;
    }
  PetscCall(PetscSortIntWithArray(m, gid, l));
  *n = 0;
  for (PetscInt i = 0; i < m; ++i) {
    if (i && gid[i] == gid[*n - 1]) {
      dist[*n - 1] = (unsigned char)PetscMin(dist[*n - 1], l[i]);
      continue;
    }
    dist[*n]    = (unsigned char)l[i];
    gid[(*n)++] = gid[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vertex whose cells are no tensor star: a dense patch, or element patches of its cells */
static PetscErrorCode AddIrregular(HopsPatches pt, HopsPatchCells *pc, const HopsPatchOptions *opt, PetscInt ncells,
                                   const PetscInt list[], PetscBool want[], PetscBool *done)
{
  PetscInt       n = 0, nt = ncells, *gid, *l, *touch;
  unsigned char *dist;

  PetscFunctionBegin;
  PetscCall(HopsPatchCellsIndex(pc));
  PetscCall(PetscMalloc4(ncells * pc->nn, &gid, ncells * pc->nn, &dist, ncells * pc->nn, &l, ncells, &touch));
  for (PetscInt k = 0; k < ncells; ++k) touch[k] = list[k] / pc->nv;
  PetscCall(PetscSortRemoveDupsInt(&nt, touch));
  PetscCall(StarList(pc, ncells, list, &n, gid, dist, l));
  *done = n <= opt->densemax ? PETSC_TRUE : PETSC_FALSE;
  if (*done) PetscCall(HopsPatchesAppend(pt, n, NULL, gid, dist, nt, touch));
  for (PetscInt k = 0; k < nt && !*done; ++k) want[touch[k]] = PETSC_TRUE;
  PetscCall(PetscFree4(gid, dist, l, touch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells around each owned, free vertex, in the order in which cells meet them */
static PetscErrorCode Lists(HopsPatchCells *pc, PetscInt *nv, PetscInt *vertex[], PetscInt *start[], PetscInt *list[])
{
  HopsSpace      sp = pc->space;
  const PetscInt m  = pc->n * pc->nv;
  PetscInt       n  = 0, *begin;
  int           *star; /* of a vertex, from 1 on */

  PetscFunctionBegin;
  for (PetscInt k = pc->nown * pc->nv; k < m; ++k) { /* vertices of other ranks' cells */
    const PetscInt t = pc->vid[k] - sp->rstart;

    if (t < 0 || t >= sp->nT) continue;
    if (!pc->vertex[t]) pc->vertex[t] = (int)++pc->nvertex;
    pc->number[k] = pc->vertex[t] - 1;
  }
  PetscCall(PetscCalloc1(pc->nvertex, &star));
  PetscCall(PetscMalloc1(pc->nvertex, vertex));
  PetscCall(PetscCalloc1(pc->nvertex + 2, start));
  begin = *start;
  for (PetscInt k = 0; k < m; ++k) {
    const PetscInt t = pc->vid[k] - sp->rstart;
    int           *s;

    if (t < 0 || t >= sp->nT) continue;
    s = star + pc->number[k];
    if (!*s) {
      (*vertex)[n] = pc->vid[k];
      *s           = (int)++n;
    }
    ++begin[*s + 1];
  }
  for (PetscInt i = 0; i < n; ++i) begin[i + 2] += begin[i + 1];
  PetscCall(PetscMalloc1(begin[n + 1], list));
  for (PetscInt k = 0; k < m; ++k) {
    const PetscInt t = pc->vid[k] - sp->rstart;

    if (t >= 0 && t < sp->nT) (*list)[begin[star[pc->number[k]]]++] = k;
  }
  *nv = n;
  PetscCall(PetscFree(star));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchesAddVertices(HopsPatches pt, HopsPatchCells *pc, const HopsPatchOptions *opt, PetscBool want[])
{
  PetscInt          nv = 0, *vertex, *start, *list;
  HopsPatchVertices m;
  HopsPatchStar    *star;
  HopsPatchFit     *fit;
  unsigned char    *faults;
  Lines             lines = {.factor = {-1, -1, -1}};

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsPatchEvent.star, 0, 0, 0, 0));
  PetscCall(HopsPatchCellsNodes(pc));
  PetscCall(Lists(pc, &nv, &vertex, &start, &list));
  PetscCall(PetscMalloc2(nv, &faults, nv, &fit));
  PetscCall(HopsPatchesReserve(pt, nv, 0));
  star = pt->star + pt->n; /* a patch's place is not behind its vertex's */
  m    = (HopsPatchVertices){.n          = nv,
                             .ncells     = pc->n,
                             .start      = start,
                             .list       = list,
                             .nodes      = pc->bnodes,
                             .corners    = HopsPatchCellsCorners(pc),
                             .data       = pc->data,
                             .derivative = HopsFormDerivative(pc->form) ? PETSC_TRUE : PETSC_FALSE,
                             .all        = opt->fuse};
  PetscCall((*HopsPatchSetUpOf(pc->space)->Stars)(&m, star, faults, fit));
  for (PetscInt v = 0; v < nv; ++v) {
    const PetscInt ncells = start[v + 1] - start[v];
    PetscBool      done = PETSC_TRUE, all = PETSC_TRUE;

    for (PetscInt k = start[v]; k < start[v + 1] && all; ++k) all = HopsPatchCornerIsOwn(pc, list[k]);
    if (star[v].side[0] && all && !(faults[v] & HOPS_PATCH_LACKS)) {
      PetscCall(AddTensor(pt, pc, star + v, faults[v], fit + v, opt, ncells, list + start[v], &lines));
    } else PetscCall(AddIrregular(pt, pc, opt, ncells, list + start[v], want, &done));
    if (done) pt->center[pt->n - 1] = vertex[v];
  }
  PetscCall(PetscFree2(faults, fit));
  PetscCall(PetscFree(vertex));
  PetscCall(PetscFree(start));
  PetscCall(PetscFree(list));
  PetscCall(PetscLogEventEnd(HopsPatchEvent.star, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
