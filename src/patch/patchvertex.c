/*
  Vertex patches: the unknowns of all mesh entities that have the vertex, on the star of cells around it.

  A star is a tensor product where its edges at the vertex fall into dim axes of one or two edges, with a cell
  for each combination: 2^dim cells around an interior vertex, fewer at a boundary with natural conditions.
  Others (three or five quads around a vertex, ...) get the inverse of the operator's matrix where that is
  small, and else the element patches of their cells.
*/
#include <hops/private/hopspatchimpl.h>

typedef struct {
  const HopsPatchCells *pc;
  PetscInt              n, (*cell)[2];     /* cells of the star, and the vertex's corner in them */
  PetscInt              nedge, (*edge)[3]; /* edges at the vertex of each cell, by its direction */
  PetscInt             *first;             /* [nedge] cell and direction that stand for an edge: first / 3, first % 3 */
  PetscInt              side[3];           /* edges of each axis */
  PetscInt (*axis)[3], *pos;               /* of each cell: the axes of its directions; bits: its sides */
} Star;

static PetscErrorCode StarEdges(Star *s)
{
  const PetscInt dim = s->pc->space->dim;

  PetscFunctionBegin;
  s->nedge = 0;
  for (PetscInt k = 0; k < s->n; ++k)
    for (PetscInt d = 0; d < dim; ++d) {
      PetscInt e = 0;

      for (; e < s->nedge; ++e) {
        const PetscInt f = s->first[e] / 3, g = s->first[e] % 3;
        const PetscInt c[2] = {s->cell[f][0], s->cell[k][0]}, v[2] = {s->cell[f][1], s->cell[k][1]},
                       w[2] = {v[0] ^ (1 << g), v[1] ^ (1 << d)};

        if (HopsPatchSameCorner(s->pc, c, w, v)) break;
      }
      if (e == s->nedge) s->first[s->nedge++] = 3 * k + d;
      s->edge[k][d] = e;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the axis (of the first cell's directions) and side of each edge, then of each cell */
static PetscErrorCode StarTensor(Star *s, PetscBool *tensor)
{
  const PetscInt dim = s->pc->space->dim;
  PetscInt       ea[6], ncells = 1;
  PetscBool      used[8] = {PETSC_FALSE};

  PetscFunctionBegin;
  *tensor = PETSC_FALSE;
  if (s->n > (1 << dim) || s->nedge > 2 * dim) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < s->n; ++k)
    for (PetscInt j = 0; j < k; ++j)
      if (s->cell[j][0] == s->cell[k][0]) PetscFunctionReturn(PETSC_SUCCESS); /* periodic, of one cell */
  for (PetscInt a = 0; a < dim; ++a) s->side[a] = 1;
  for (PetscInt e = 0; e < s->nedge; ++e) {
    PetscInt n = 0;

    ea[e] = -1;
    for (PetscInt a = 0; a < dim; ++a)
      if (s->edge[0][a] == e) ea[e] = 2 * a;
    if (ea[e] >= 0) continue;
    for (PetscInt a = 0; a < dim; ++a) {
      PetscBool together = PETSC_FALSE;

      for (PetscInt k = 0; k < s->n; ++k) {
        PetscBool one = PETSC_FALSE, two = PETSC_FALSE;

        for (PetscInt d = 0; d < dim; ++d) {
          one = one || s->edge[k][d] == e ? PETSC_TRUE : PETSC_FALSE;
          two = two || s->edge[k][d] == s->edge[0][a] ? PETSC_TRUE : PETSC_FALSE;
        }
        together = together || (one && two) ? PETSC_TRUE : PETSC_FALSE;
      }
      if (!together) {
        ea[e] = 2 * a + 1;
        ++n;
      }
    }
    if (n != 1 || ++s->side[ea[e] / 2] > 2) PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = 0; k < s->n; ++k) {
    PetscInt seen = 0;

    s->pos[k] = 0;
    for (PetscInt d = 0; d < dim; ++d) {
      s->axis[k][d] = ea[s->edge[k][d]] / 2;
      seen |= 1 << s->axis[k][d];
      s->pos[k] |= (ea[s->edge[k][d]] % 2) << s->axis[k][d];
    }
    if (seen != (1 << dim) - 1 || used[s->pos[k]]) PetscFunctionReturn(PETSC_SUCCESS);
    used[s->pos[k]] = PETSC_TRUE;
  }
  for (PetscInt a = 0; a < dim; ++a) ncells *= s->side[a];
  *tensor = ncells == s->n ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static unsigned char StarSeen(PetscInt corner, PetscInt first, PetscInt second)
{
  return (unsigned char)(corner | first << 3 | second << 5);
}

static void StarPack(const Star *s, HopsPatchStar *star)
{
  for (PetscInt a = 0; a < 3; ++a) star->side[a] = (unsigned char)(a < s->pc->space->dim ? s->side[a] : 1);
  for (PetscInt k = 0; k < s->n; ++k) {
    star->cell[s->pos[k]] = (int)s->cell[k][0];
    star->seen[s->pos[k]] = StarSeen(s->cell[k][1], s->axis[k][0], s->axis[k][1]);
  }
}

/*
  Most stars: 2^dim cells whose directions are the first one's, as those of boxes in order are. Found by the
  far ends of the edges: in each direction one for the cells on either side, and all of them different. Of
  constrained ends the numbers are those of one rank.
*/
static PetscBool StarRegular(const HopsPatchCells *pc, PetscInt n, const PetscInt list[], HopsPatchStar *star)
{
  const PetscInt dim = pc->space->dim, nv = pc->nv;
  PetscInt       far[3][2], found         = 0;
  PetscBool      own = PETSC_TRUE;

  if (n != nv) return PETSC_FALSE;
  for (PetscInt k = 0; k < n; ++k) own = own && list[k] / nv < pc->nown ? PETSC_TRUE : PETSC_FALSE;
  *star = (HopsPatchStar){.side = {2, 2, (unsigned char)(dim == 3 ? 2 : 1)}};
  for (PetscInt k = 0; k < n; ++k) {
    const PetscInt c = list[k] / nv, v = list[k] % nv, pos = v ^ list[0] % nv;

    if (k && c == list[k - 1] / nv) return PETSC_FALSE; /* periodic, of one cell */
    found |= 1 << pos;
    for (PetscInt d = 0; d < dim; ++d) {
      const PetscInt e = pc->vid[c * nv + (v ^ (1 << d))], side = (pos >> d) & 1;

      if (e < 0 && !own) return PETSC_FALSE;
      if (!(pos & ((1 << d) - 1)) && !(pos >> (d + 1))) far[d][side] = e; /* the cells 0 and 1 << d */
    }
    star->cell[pos] = (int)c;
    star->seen[pos] = StarSeen(v, 0, 1);
  }
  if (found != (1 << nv) - 1) return PETSC_FALSE;
  for (PetscInt k = 0; k < n; ++k)
    for (PetscInt d = 0; d < dim; ++d) {
      const PetscInt v = list[k] % nv, e = pc->vid[list[k] ^ (1 << d)];

      if (e != far[d][((v ^ list[0] % nv) >> d) & 1]) return PETSC_FALSE;
    }
  for (PetscInt i = 0; i < 2 * dim; ++i)
    for (PetscInt j = 0; j < i; ++j)
      if (far[i / 2][i % 2] == far[j / 2][j % 2]) return PETSC_FALSE;
  return PETSC_TRUE;
}

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

/* Rounds the ratio of two sides about their geometric mean, so that their order does not matter */
static void RoundSides(PetscReal x[2])
{
  const PetscReal mean = PetscSqrtReal(x[0] * x[1]), ratio = PetscSqrtReal(HopsPatchRoundRatio(x[1] / x[0]));

  x[0] = mean / ratio;
  x[1] = mean * ratio;
}

/* Weights of the last patch's cells along axis b, by the fit; those of surrogates are rounded */
static void StarLine(const HopsPatchStar *s, PetscInt b, PetscInt p, PetscBool exact, HopsPatchFit *f, HopsPatchLine *l)
{
  PetscReal *const a = f->a[b], *const m = f->m[b];

  *l       = (HopsPatchLine){.ncells = s->side[b]};
  l->first = s->side[b] == 2 ? 1 : 0;
  l->last  = s->side[b] == 2 ? 2 * p - 1 : p - 1;
  if (s->side[b] == 2 && !exact) {
    RoundSides(m);
    if (a[0] > 0.0) RoundSides(a);
  }
  l->a[0] = a[0] > 0.0 ? 1.0 : 0.0;
  l->m[0] = 1.0;
  if (s->side[b] == 2) {
    l->a[1] = a[0] > 0.0 ? a[1] / a[0] : 0.0;
    l->m[1] = m[1] / m[0];
    if (!exact) { /* the rounded ratios, to the last bit */
      if (l->a[1] > 0.0) l->a[1] = HopsPatchRoundRatio(l->a[1]);
      l->m[1] = HopsPatchRoundRatio(l->m[1]);
    } else { /* rounding errors would keep equal halves from being seen as such */
      if (PetscAbsReal(l->a[1] - 1.0) < 1e-13) l->a[1] = 1.0;
      if (PetscAbsReal(l->m[1] - 1.0) < 1e-13) l->m[1] = 1.0;
    }
  } else if (f->robin[b] > 0.0) {
    l->robin[0] = a[0] > 0.0 ? HopsPatchRoundRatio(f->robin[b] / a[0]) : 0.0;
  }
}

/* The last patch becomes a tensor product, which is the operator's or near it; nodes: with all nodes of its
   cells */
static PetscErrorCode MakeProduct(HopsPatches pt, const HopsPatchCells *pc, const int size[3], const HopsPatchOptions *opt,
                                  PetscBool exact, PetscBool nodes, HopsPatchFit *f)
{
  const PetscInt       dim = pc->space->dim, p = pc->space->order, k = pt->n - 1;
  const HopsPatchStar *s = pt->star + k;
  PetscReal            w = 1.0;

  PetscFunctionBegin;
  pt->solver[k] = exact ? HOPS_PATCH_EXACT : HOPS_PATCH_SURROGATE;
  for (PetscInt b = 0; b < dim; ++b) {
    HopsPatchLine l;

    StarLine(s, b, p, exact, f, &l);
    PetscCall(HopsPatchFactorGet(pt, &l, &pt->factor[k][b]));
    pt->size[k][b]  = size[b];
    pt->scale[k][b] = f->a[b][0] / f->m[b][0];
    w *= f->m[b][0];
  }
  pt->scale[k][3] = f->sigma;
  pt->scale[k][5] = w;
  if (nodes) {
    PetscCheck((PetscInt64)pt->next + HopsPower(2 * p + 1, dim) < PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The cells of the patches have more than 2^31 nodes on one rank: use more ranks, or -pc_patchfd_fuse 0");
    pt->estart[k + 1] = pt->next += HopsPatchStarSize(&pc->nodes, s, 1, pt->esize[k]);
  }
  pt->bound[k][0] = f->bound[0];
  pt->bound[k][1] = f->bound[1];
  pt->scale[k][4] = PetscMin(1.0, opt->damp / f->bound[1]) / w;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A tensor star: exact, condensed, dense or a surrogate */
static PetscErrorCode AddTensor(HopsPatches pt, const HopsPatchCells *pc, HopsPatchStar *s, unsigned char faults,
                                const PetscReal logs[], const HopsPatchOptions *opt, PetscInt ntouch, const PetscInt touch[])
{
  const PetscInt dim = pc->space->dim, p = pc->space->order;
  int            size[3], n;
  HopsPatchFit   f;
  PetscBool      exact;

  PetscFunctionBegin;
  n = HopsPatchStarSize(&pc->nodes, s, 0, size);
  HopsPatchStarFit(pc, logs, s, &f);
  exact = f.bound[0] > 1.0 - 1e-10 && f.bound[1] < 1.0 + 1e-10 && f.robin[0] + f.robin[1] + f.robin[2 % dim] == 0.0 ? PETSC_TRUE
                                                                                                                    : PETSC_FALSE;
  if (!exact && p > 1 && f.bound[1] > opt->condenseratio * f.bound[0] && opt->condensemax > 0) {
    const int side[3] = {s->side[0], s->side[1], s->side[2]};
    PetscReal d[8][4] = {{0.0}};
    PetscInt  skeleton;

    PetscCall(HopsPatchSkeleton(dim, p, side, &skeleton, NULL));
    if (skeleton <= opt->condensemax && StarFactors(pc, s, d)) {
      PetscCall(HopsPatchesAppend(pt, n, s, NULL, NULL, ntouch, touch));
      for (PetscInt b = 0; b < dim; ++b) pt->size[pt->n - 1][b] = size[b];
      PetscCall(HopsPatchesAddCondensed(pt, side, d));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  s->sorted = !exact && f.bound[1] > opt->denseratio * f.bound[0] && n <= opt->densemax;
  PetscCall(HopsPatchesAppend(pt, n, s, NULL, NULL, ntouch, touch));
  if (!s->sorted)
    PetscCall(
      MakeProduct(pt, pc, size, opt, exact, opt->fuse && exact && !(faults & HOPS_PATCH_DIFFERS) ? PETSC_TRUE : PETSC_FALSE, &f));
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
    for (PetscInt i = 0; i < pc->nn; ++i) {
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
static PetscErrorCode Stars(HopsPatchCells *pc, PetscInt *nv, PetscInt *vertex[], PetscInt *start[], PetscInt *list[])
{
  HopsSpace sp = pc->space;
  PetscInt *number, *at, n = 0, m = 0;

  PetscFunctionBegin;
  for (PetscInt k = pc->nown * pc->nv; k < pc->n * pc->nv; ++k) { /* vertices of other ranks' cells alone */
    const PetscInt t = pc->vid[k] - sp->rstart;

    if (pc->vid[k] >= 0 && t >= 0 && t < sp->nT && !pc->vertex[t]) pc->vertex[t] = (int)++pc->nvertex;
  }
  PetscCall(PetscCalloc1(pc->nvertex + 1, &number));
  PetscCall(PetscMalloc1(pc->n * pc->nv, &at));
  for (PetscInt k = 0; k < pc->n * pc->nv; ++k) {
    const PetscInt t = pc->vid[k] - sp->rstart;

    at[k] = -1;
    if (pc->vid[k] < 0 || t < 0 || t >= sp->nT) continue;
    if (!number[pc->vertex[t]]) number[pc->vertex[t]] = ++n;
    at[k] = number[pc->vertex[t]] - 1;
    ++m;
  }
  PetscCall(PetscMalloc1(n, vertex));
  PetscCall(PetscCalloc1(n + 2, start));
  PetscCall(PetscMalloc1(m, list));
  for (PetscInt k = 0; k < pc->n * pc->nv; ++k)
    if (at[k] >= 0) ++(*start)[at[k] + 2];
  for (PetscInt i = 0; i < n; ++i) (*start)[i + 2] += (*start)[i + 1];
  for (PetscInt k = 0; k < pc->n * pc->nv; ++k)
    if (at[k] >= 0) {
      (*vertex)[at[k]]               = pc->vid[k];
      (*list)[(*start)[at[k] + 1]++] = k;
    }
  *nv = n;
  PetscCall(PetscFree(number));
  PetscCall(PetscFree(at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The tensor stars among the vertices' cells, and what is wrong with them; the others have no sides */
static PetscErrorCode Classify(HopsPatchCells *pc, PetscBool nodes, PetscInt nv, const PetscInt start[], const PetscInt list[],
                               HopsPatchStar star[], unsigned char faults[])
{
  PetscInt nmax = 1;
  Star     s    = {.pc = pc};

  PetscFunctionBegin;
  for (PetscInt v = 0; v < nv; ++v) nmax = PetscMax(nmax, start[v + 1] - start[v]);
  PetscCall(PetscMalloc5(nmax, &s.cell, nmax, &s.edge, nmax, &s.axis, nmax, &s.pos, 3 * nmax, &s.first));
  for (PetscInt v = 0; v < nv; ++v) {
    PetscBool tensor = StarRegular(pc, start[v + 1] - start[v], list + start[v], star + v);

    if (tensor) continue;
    s.n = start[v + 1] - start[v];
    for (PetscInt k = 0; k < s.n; ++k) {
      s.cell[k][0] = list[start[v] + k] / pc->nv;
      s.cell[k][1] = list[start[v] + k] % pc->nv;
    }
    PetscCall(StarEdges(&s));
    PetscCall(StarTensor(&s, &tensor));
    star[v] = (HopsPatchStar){.side = {0, 0, 0}};
    if (tensor) StarPack(&s, star + v);
  }
  PetscCall(PetscFree5(s.cell, s.edge, s.axis, s.pos, s.first));
  PetscCall(HopsPatchCellsFaults(pc, nodes, nv, star, faults));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchesAddVertices(HopsPatches pt, HopsPatchCells *pc, const HopsPatchOptions *opt, PetscBool want[])
{
  PetscInt       nv = 0, *vertex, *start, *list, touch[8];
  HopsPatchStar *star;
  unsigned char *faults;
  PetscReal     *logs;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsPatchEvent.star, 0, 0, 0, 0));
  PetscCall(HopsPatchCellsNodes(pc));
  PetscCall(Stars(pc, &nv, &vertex, &start, &list));
  PetscCall(PetscMalloc2(nv, &star, nv, &faults));
  PetscCall(Classify(pc, opt->fuse, nv, start, list, star, faults));
  PetscCall(HopsPatchCellsLogs(pc, &logs));
  PetscCall(HopsPatchesReserve(pt, nv, start[nv]));
  for (PetscInt v = 0; v < nv; ++v) {
    const PetscInt ncells = start[v + 1] - start[v];
    PetscBool      done   = PETSC_TRUE;

    if (star[v].side[0] && !(faults[v] & HOPS_PATCH_LACKS)) {
      for (PetscInt k = 0; k < ncells; ++k) touch[k] = list[start[v] + k] / pc->nv;
      PetscCall(AddTensor(pt, pc, star + v, faults[v], logs, opt, ncells, touch));
    } else PetscCall(AddIrregular(pt, pc, opt, ncells, list + start[v], want, &done));
    if (done) pt->center[pt->n - 1] = vertex[v];
  }
  PetscCall(PetscFree(logs));
  PetscCall(PetscFree2(star, faults));
  PetscCall(PetscFree(vertex));
  PetscCall(PetscFree(start));
  PetscCall(PetscFree(list));
  PetscCall(PetscLogEventEnd(HopsPatchEvent.star, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
