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
  PetscInt             *at;                /* [3][order+1] scratch */
  PetscInt              dsize[3];          /* the tensor patch whose distances the scratch array has, 0 of none */
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

/* Finds the axis (of the first cell's directions) and side of each edge, then of each cell: pos[k] has bit a,
   axis[k][d] is d's axis */
static PetscErrorCode StarTensor(Star *s, PetscInt axis[][3], PetscInt pos[], PetscBool *tensor)
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

    pos[k] = 0;
    for (PetscInt d = 0; d < dim; ++d) {
      axis[k][d] = ea[s->edge[k][d]] / 2;
      seen |= 1 << axis[k][d];
      pos[k] |= (ea[s->edge[k][d]] % 2) << axis[k][d];
    }
    if (seen != (1 << dim) - 1 || used[pos[k]]) PetscFunctionReturn(PETSC_SUCCESS);
    used[pos[k]] = PETSC_TRUE;
  }
  for (PetscInt a = 0; a < dim; ++a) ncells *= s->side[a];
  *tensor = ncells == s->n ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Unknowns of a tensor star, lexicographic along the axes; false where cells disagree about one or lack it.
   all: all nodes of its cells, -1 constrained */
static PetscBool StarUnknowns(const Star *s, PetscInt axis[][3], const PetscInt pos[], PetscBool all, const PetscInt size[3],
                              PetscInt gid[])
{
  const HopsPatchCells *pc  = s->pc;
  const PetscInt        dim = pc->space->dim, p = pc->space->order, P = p + 1, n = size[0] * size[1] * size[2];
  const PetscInt        stride[3] = {1, size[0], size[0] * size[1]};
  /* first node that does not count, from the vertex */
  const PetscInt end   = all ? P : p;
  PetscBool      agree = PETSC_TRUE;

  for (PetscInt i = 0; i < n; ++i) gid[i] = -2;
  for (PetscInt k = 0; k < s->n && agree; ++k) {
    const PetscInt *in = pc->gid + s->cell[k][0] * pc->nn;
    /* of each direction of the cell: nodes first..last-1 count; node r is at[r] farther in the list */
    PetscInt first[3] = {0, 0, 0}, last[3] = {1, 1, 1}, *const at[3] = {s->at, s->at + P, s->at + 2 * P};

    at[2][0] = 0;
    for (PetscInt d = 0; d < dim; ++d) {
      const PetscInt a = axis[k][d], flip = (s->cell[k][1] >> d) & 1;

      first[d] = flip ? P - end : 0;
      last[d]  = first[d] + end;
      for (PetscInt r = first[d]; r < last[d]; ++r) {
        const PetscInt t = flip ? p - r : r;

        at[d][r] = stride[a] * (s->side[a] == 1 ? t : ((pos[k] >> a) & 1 ? end - 1 + t : end - 1 - t));
      }
    }
    for (PetscInt z = first[2]; z < last[2]; ++z)
      for (PetscInt y = first[1]; y < last[1]; ++y)
        for (PetscInt x = first[0]; x < last[0]; ++x) {
          const PetscInt g = in[(z * P + y) * P + x], to = at[2][z] + at[1][y] + at[0][x];

          agree   = agree && (gid[to] == -2 || gid[to] == g) ? PETSC_TRUE : PETSC_FALSE;
          gid[to] = g;
        }
  }
  for (PetscInt i = 0; i < n; ++i) agree = agree && gid[i] >= (all ? -1 : 0) ? PETSC_TRUE : PETSC_FALSE;
  return agree;
}

/* Distances of a tensor star's unknowns from the vertex, in nodes along the axes. Neighbours have the same,
   mostly */
static void StarDistances(Star *s, const PetscInt size[3], unsigned char dist[])
{
  const PetscInt dim = s->pc->space->dim, p = s->pc->space->order;

  if (size[0] == s->dsize[0] && size[1] == s->dsize[1] && size[2] == s->dsize[2]) return;
  for (PetscInt z = 0, i = 0; z < size[2]; ++z)
    for (PetscInt y = 0; y < size[1]; ++y)
      for (PetscInt x = 0; x < size[0]; ++x, ++i) {
        const PetscInt c[3] = {x, y, z};
        PetscInt       l1   = 0;

        for (PetscInt a = 0; a < dim; ++a) l1 += PetscAbsInt(c[a] - (s->side[a] == 2 ? p - 1 : 0));
        dist[i] = (unsigned char)l1;
      }
  for (PetscInt a = 0; a < 3; ++a) s->dsize[a] = size[a];
}

/*
  The separable model of a star: weights a and m of the cells along each axis with
    d_x ~ a_x m_y m_z,  d_y ~ m_x a_y m_z,  d_z ~ m_x m_y a_z,  reaction ~ scale[3] m_x m_y m_z.
  The logarithms are fitted by least squares, in closed form: main effects of a full factorial design. Where
  the cells are axis-parallel boxes and the coefficients a product, the fit is exact.
*/
static void StarFit(const Star *s, PetscInt axis[][3], const PetscInt pos[], PetscReal a[3][2], PetscReal m[3][2], PetscReal *sigma,
                    PetscReal robin[3], PetscReal bound[2])
{
  const HopsPatchCells *pc   = s->pc;
  const PetscInt        dim  = pc->space->dim;
  const PetscBool       diff = HopsFormDerivative(pc->form) ? PETSC_TRUE : PETSC_FALSE;
  /* effect[t][a]: of side 1 against side 0 of axis a on term t */
  PetscReal mean[3] = {0.0}, effect[3][3] = {{0.0}}, meffect[3] = {0.0};

  bound[0] = PETSC_MAX_REAL;
  bound[1] = 0.0;
  for (PetscInt k = 0; k < s->n; ++k) {
    const HopsPatchCell *d = pc->data + s->cell[k][0];

    for (PetscInt t = 0; t < dim && diff; ++t) {
      const PetscReal l = PetscLogReal(d->d[t]) / s->n;

      mean[axis[k][t]] += l;
      for (PetscInt b = 0; b < dim; ++b)
        if (s->side[b] == 2) effect[axis[k][t]][b] += (pos[k] >> b) & 1 ? 2.0 * l : -2.0 * l;
    }
    for (PetscInt b = 0; b < dim && !diff; ++b)
      if (s->side[b] == 2) meffect[b] += ((pos[k] >> b) & 1 ? 2.0 : -2.0) * PetscLogReal(d->m) / s->n;
  }
  for (PetscInt b = 0; b < dim; ++b) {
    PetscReal me = meffect[b];

    if (diff) {
      for (PetscInt t = 0; t < dim; ++t)
        if (t != b) me += effect[t][b] / (dim - 1);
    }
    for (PetscInt i = 0; i < 2; ++i) {
      const PetscReal h = s->side[b] == 2 ? i - 0.5 : 0.0;

      m[b][i] = PetscExpReal(h * me);
      a[b][i] = diff ? PetscExpReal(mean[b] + h * effect[b][b]) : 0.0;
    }
    robin[b] = 0.0;
  }
  *sigma = 0.0;
  for (PetscInt k = 0; k < s->n; ++k) {
    const HopsPatchCell *d = pc->data + s->cell[k][0];
    PetscReal            w = 1.0;

    for (PetscInt b = 0; b < dim; ++b) w *= m[b][(pos[k] >> b) & 1];
    *sigma = PetscMax(*sigma, d->m / w);
    for (PetscInt t = 0; t < dim; ++t)
      if (s->side[axis[k][t]] == 1)
        robin[axis[k][t]] = PetscMax(robin[axis[k][t]], d->robin[2 * t + ((s->cell[k][1] >> t) & 1)] / (w / m[axis[k][t]][0]));
  }
  for (PetscInt k = 0; k < s->n; ++k) {
    const HopsPatchCell *d = pc->data + s->cell[k][0];
    PetscReal            w = 1.0, lo = PETSC_MAX_REAL, hi = 0.0;

    for (PetscInt b = 0; b < dim; ++b) w *= m[b][(pos[k] >> b) & 1];
    for (PetscInt t = 0; t < dim && diff; ++t) {
      const PetscInt  b = axis[k][t], i = (pos[k] >> b) & 1;
      const PetscReal r = d->d[t] / (w / m[b][i] * a[b][i]);

      lo = PetscMin(lo, r);
      hi = PetscMax(hi, r);
      if (s->side[b] == 1 && robin[b] > 0.0)
        lo = PetscMin(lo, d->robin[2 * t + ((s->cell[k][1] >> t) & 1)] / (w / m[b][i] * robin[b]));
    }
    if (diff) {
      bound[0] = PetscMin(bound[0], lo * d->lo);
      bound[1] = PetscMax(bound[1], hi * d->hi);
    }
    if (*sigma > 0.0) {
      bound[0] = PetscMin(bound[0], d->m > 0.0 ? d->m / (w * *sigma) * d->mlo : 0.0);
      bound[1] = PetscMax(bound[1], d->m / (w * *sigma) * d->mhi);
    }
  }
}

/* All nodes of an exact patch's cells: what its residual takes */
static PetscErrorCode AddNodes(HopsPatches pt, const Star *s, PetscInt axis[][3], const PetscInt pos[])
{
  const PetscInt dim = s->pc->space->dim, p = s->pc->space->order, k = pt->n - 1;
  PetscInt       size[3] = {1, 1, 1}, n = 1;

  PetscFunctionBegin;
  for (PetscInt b = 0; b < dim; ++b) n *= size[b] = s->side[b] * p + 1;
  if (pt->next + n > pt->xmax) {
    pt->xmax = PetscMax(pt->next + n, pt->xmax + pt->xmax / 2);
    PetscCall(PetscRealloc(pt->xmax * sizeof(PetscInt), &pt->egid));
  }
  if (!StarUnknowns(s, axis, pos, PETSC_TRUE, size, pt->egid + pt->next)) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt b = 0; b < 3; ++b) pt->esize[k][b] = (int)size[b];
  pt->estart[k + 1] = pt->next += n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factors of the cells along the star's axes; false where a cell's form is no tensor product, or more is on
   its faces */
static PetscBool StarFactors(const Star *s, PetscInt axis[][3], const PetscInt pos[], PetscReal d[8][4])
{
  const PetscInt dim = s->pc->space->dim;

  for (PetscInt k = 0; k < s->n; ++k) {
    const HopsPatchCell *cell = s->pc->data + s->cell[k][0];

    if (HopsFormDerivative(s->pc->form) && (cell->lo < 1.0 - 1e-10 || cell->hi > 1.0 + 1e-10)) return PETSC_FALSE;
    if (cell->m > 0.0 && (cell->mlo < 1.0 - 1e-10 || cell->mhi > 1.0 + 1e-10)) return PETSC_FALSE;
    for (PetscInt t = 0; t < dim; ++t) {
      const PetscInt a = axis[k][t];

      d[pos[k]][a] = HopsFormDerivative(s->pc->form) ? cell->d[t] : 0.0;
      if (s->side[a] == 1 && cell->robin[2 * t + ((s->cell[k][1] >> t) & 1)] > 0.0) return PETSC_FALSE;
    }
    d[pos[k]][3] = cell->m;
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

/* A tensor star; where it must be a dense patch it is not done, and `unknowns` of it are listed (0: not) */
static PetscErrorCode AddTensor(HopsPatches pt, Star *s, PetscInt axis[][3], const PetscInt pos[], const HopsPatchOptions *opt,
                                const PetscInt touch[], PetscInt *unknowns, PetscInt gid[], unsigned char dist[], PetscBool *done)
{
  const PetscInt dim = s->pc->space->dim, p = s->pc->space->order;
  PetscInt       size[3] = {1, 1, 1}, n = 1, k;
  PetscReal      a[3][2], m[3][2], sigma, robin[3], bound[2], w = 1.0;
  PetscBool      exact;

  PetscFunctionBegin;
  *done     = PETSC_FALSE;
  *unknowns = 0;
  for (PetscInt b = 0; b < dim; ++b) n *= size[b] = s->side[b] == 2 ? 2 * p - 1 : p;
  if (!StarUnknowns(s, axis, pos, PETSC_FALSE, size, gid)) PetscFunctionReturn(PETSC_SUCCESS);
  StarDistances(s, size, dist);
  *unknowns = n;
  StarFit(s, axis, pos, a, m, &sigma, robin, bound);
  exact =
    bound[0] > 1.0 - 1e-10 && bound[1] < 1.0 + 1e-10 && robin[0] + robin[1] + robin[2 % dim] == 0.0 ? PETSC_TRUE : PETSC_FALSE;
  if (!exact && p > 1 && bound[1] > opt->condenseratio * bound[0]) {
    const int side[3] = {(int)s->side[0], (int)s->side[1], dim == 3 ? (int)s->side[2] : 1};
    PetscReal d[8][4] = {{0.0}};
    PetscInt  skeleton;

    PetscCall(HopsPatchSkeleton(dim, p, side, &skeleton, NULL));
    if (skeleton <= opt->condensemax && StarFactors(s, axis, pos, d)) {
      PetscCall(HopsPatchesAppend(pt, n, gid, dist, s->n, touch));
      for (PetscInt b = 0; b < dim; ++b) pt->size[pt->n - 1][b] = (int)size[b];
      PetscCall(HopsPatchesAddCondensed(pt, side, d));
      *done = PETSC_TRUE;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  if (!exact && bound[1] > opt->denseratio * bound[0] && n <= opt->densemax) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPatchesAppend(pt, n, gid, dist, s->n, touch));
  k             = pt->n - 1;
  pt->solver[k] = exact ? HOPS_PATCH_EXACT : HOPS_PATCH_SURROGATE;
  for (PetscInt b = 0; b < dim; ++b) {
    HopsPatchLine l = {.ncells = s->side[b]};

    if (s->side[b] == 2 && !exact) {
      RoundSides(m[b]);
      if (a[b][0] > 0.0) RoundSides(a[b]);
    }
    l.first = s->side[b] == 2 ? 1 : 0;
    l.last  = s->side[b] == 2 ? 2 * p - 1 : p - 1;
    l.a[0]  = a[b][0] > 0.0 ? 1.0 : 0.0;
    l.m[0]  = 1.0;
    if (s->side[b] == 2) {
      l.a[1] = a[b][0] > 0.0 ? a[b][1] / a[b][0] : 0.0;
      l.m[1] = m[b][1] / m[b][0];
      if (!exact) { /* the rounded ratios, to the last bit */
        if (l.a[1] > 0.0) l.a[1] = HopsPatchRoundRatio(l.a[1]);
        l.m[1] = HopsPatchRoundRatio(l.m[1]);
      } else { /* rounding errors would keep equal halves from being seen as such */
        if (PetscAbsReal(l.a[1] - 1.0) < 1e-13) l.a[1] = 1.0;
        if (PetscAbsReal(l.m[1] - 1.0) < 1e-13) l.m[1] = 1.0;
      }
    } else if (robin[b] > 0.0) {
      l.robin[0] = a[b][0] > 0.0 ? HopsPatchRoundRatio(robin[b] / a[b][0]) : 0.0;
    }
    PetscCall(HopsPatchFactorGet(pt, &l, &pt->factor[k][b]));
    pt->size[k][b]  = (int)size[b];
    pt->scale[k][b] = a[b][0] / m[b][0];
    w *= m[b][0];
  }
  pt->scale[k][3] = sigma;
  pt->scale[k][5] = w;
  if (opt->fuse && exact) PetscCall(AddNodes(pt, s, axis, pos));
  pt->bound[k][0] = bound[0];
  pt->bound[k][1] = bound[1];
  pt->scale[k][4] = PetscMin(1.0, opt->damp / bound[1]) / w;
  *done           = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The distinct unknowns of a star, which ascend. Where *n is not 0 they are in gid already */
static PetscErrorCode StarList(Star *s, PetscInt *n, PetscInt gid[], unsigned char dist[], PetscInt l[])
{
  const HopsPatchCells *pc  = s->pc;
  const PetscInt        dim = pc->space->dim, p = pc->space->order;
  PetscInt              m = *n;

  PetscFunctionBegin;
  s->dsize[0] = 0; /* the distances get the list's order */
  for (PetscInt i = 0; i < m; ++i) l[i] = dist[i];
  for (PetscInt k = 0; k < s->n && !*n; ++k)
    for (PetscInt i = 0; i < pc->nn; ++i) {
      PetscInt  r = i, l1 = 0;
      PetscBool inside = PETSC_TRUE;

      for (PetscInt d = 0; d < dim; ++d, r /= p + 1) {
        const PetscInt t = (s->cell[k][1] >> d) & 1 ? p - r % (p + 1) : r % (p + 1);

        inside = inside && t < p ? PETSC_TRUE : PETSC_FALSE;
        l1 += t;
      }
      if (!inside || pc->gid[s->cell[k][0] * pc->nn + i] < 0) continue;
      gid[m] = pc->gid[s->cell[k][0] * pc->nn + i];
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

/* Cells around each owned, free vertex, in the order in which cells meet them */
static PetscErrorCode Stars(const HopsPatchCells *pc, PetscInt *nv, PetscInt *vertex[], PetscInt *start[], PetscInt *list[])
{
  HopsSpace sp = pc->space;
  PetscInt *number, n = 0, m = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(sp->nT, &number));
  for (PetscInt i = 0; i < sp->nT; ++i) number[i] = -1;
  for (PetscInt k = 0; k < pc->n * pc->nv; ++k) {
    const PetscInt t = pc->vid[k] - sp->rstart;

    if (pc->vid[k] < 0 || t < 0 || t >= sp->nT) continue;
    if (number[t] < 0) number[t] = n++;
    ++m;
  }
  PetscCall(PetscMalloc1(n, vertex));
  PetscCall(PetscCalloc1(n + 2, start));
  PetscCall(PetscMalloc1(m, list));
  for (PetscInt pass = 0; pass < 2; ++pass) {
    for (PetscInt k = 0; k < pc->n * pc->nv; ++k) {
      const PetscInt t = pc->vid[k] - sp->rstart;

      if (pc->vid[k] < 0 || t < 0 || t >= sp->nT) continue;
      (*vertex)[number[t]] = pc->vid[k];
      if (pass) (*list)[(*start)[number[t] + 1]++] = k;
      else ++(*start)[number[t] + 2];
    }
    for (PetscInt i = 0; i < n && !pass; ++i) (*start)[i + 2] += (*start)[i + 1];
  }
  *nv = n;
  PetscCall(PetscFree(number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchesAddVertices(HopsPatches pt, HopsPatchCells *pc, const HopsPatchOptions *opt, PetscBool want[])
{
  PetscInt        nv = 0, *vertex, *start, *list, nmax = 1, nd = 0, *gid, *l1, (*axis)[3], *pos, *touch;
  unsigned char  *dist;
  Star            s     = {.pc = pc};
  HopsPatchDense *dense = NULL;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(HopsPatchEvent.star, 0, 0, 0, 0));
  PetscCall(Stars(pc, &nv, &vertex, &start, &list));
  for (PetscInt v = 0; v < nv; ++v) nmax = PetscMax(nmax, start[v + 1] - start[v]);
  PetscCall(PetscMalloc5(nmax, &s.cell, nmax, &s.edge, nmax, &axis, nmax, &pos, 3 * (pt->space->order + 1), &s.at));
  PetscCall(PetscMalloc5(3 * nmax, &s.first, PetscMax(nmax, pc->nv) * pc->nn, &gid, PetscMax(nmax, pc->nv) * pc->nn, &dist,
                         PetscMax(nmax, pc->nv) * pc->nn, &l1, nmax, &touch));
  for (PetscInt v = 0; v < nv; ++v) {
    PetscBool tensor, done = PETSC_FALSE;
    PetscInt  n = 0, nt;

    s.n = start[v + 1] - start[v];
    for (PetscInt k = 0; k < s.n; ++k) {
      s.cell[k][0] = touch[k] = list[start[v] + k] / pc->nv;
      s.cell[k][1]            = list[start[v] + k] % pc->nv;
    }
    PetscCall(StarEdges(&s));
    PetscCall(StarTensor(&s, axis, pos, &tensor));
    if (tensor) PetscCall(AddTensor(pt, &s, axis, pos, opt, touch, &n, gid, dist, &done));
    nt = s.n;
    PetscCall(PetscSortRemoveDupsInt(&nt, touch));
    if (!done) {
      PetscCall(StarList(&s, &n, gid, dist, l1));
      if (n <= opt->densemax) {
        if (!(nd & (nd + 1))) PetscCall(PetscRealloc((2 * nd + 2) * sizeof(HopsPatchDense), &dense));
        PetscCall(HopsPatchesAppend(pt, n, gid, dist, nt, touch));
        dense[nd].patch  = pt->n - 1;
        dense[nd].ncells = nt;
        PetscCall(PetscMalloc1(nt, &dense[nd].cells));
        PetscCall(PetscArraycpy(dense[nd++].cells, touch, nt));
        done = PETSC_TRUE;
      }
    }
    if (done) pt->center[pt->n - 1] = vertex[v];
    else
      for (PetscInt k = 0; k < nt; ++k) want[touch[k]] = PETSC_TRUE;
  }
  PetscCall(PetscLogEventEnd(HopsPatchEvent.star, 0, 0, 0, 0));
  PetscCall(HopsPatchesInvert(pt, pc, nd, dense));
  PetscCall(HopsPatchesCondense(pt));
  for (PetscInt k = 0; k < nd; ++k) PetscCall(PetscFree(dense[k].cells));
  PetscCall(PetscFree(dense));
  PetscCall(PetscFree5(s.cell, s.edge, axis, pos, s.at));
  PetscCall(PetscFree5(s.first, gid, dist, l1, touch));
  PetscCall(PetscFree(vertex));
  PetscCall(PetscFree(start));
  PetscCall(PetscFree(list));
  PetscFunctionReturn(PETSC_SUCCESS);
}
