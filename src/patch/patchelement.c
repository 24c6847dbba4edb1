/*
  Element patches: the nodes of a cell and one layer of its neighbours across faces, as in the Schwarz
  smoothers of spectral-element codes. Each direction is a row of up to three cells, of which the patch sees a
  window of nodes; combinations of layers of two directions (which only edge neighbours have) are zero
  entries.

     .   +   +   +   .      order 2: + unknowns, . zero entries, [ ] the cell
     +  [+   +   +]  +
     +  [+   +   +]  +
     +  [+   +   +]  +
     .   +   +   +   .
*/
#include <hops/private/hopspatchimpl.h>

typedef enum {
  END_NATURAL,     /* the boundary: its nodes are unknowns */
  END_CONSTRAINED, /* its nodes are essential */
  END_NEIGHBOR
} End;

static PetscErrorCode FaceKey(const HopsPatchCells *pc, PetscInt c, PetscInt face, const PetscInt node[], PetscInt *key)
{
  const PetscInt dim = pc->space->dim, P = pc->space->order + 1, nf = HopsPower(P, dim - 1);

  PetscFunctionBegin;
  *key = -1;
  for (PetscInt i = 0; i < nf; ++i) {
    const PetscInt g      = pc->gid[c * pc->nn + node[i]];
    PetscBool      inside = PETSC_TRUE;

    for (PetscInt d = 0, k = i; d < dim - 1; ++d, k /= P)
      if (P > 2 && (k % P == 0 || k % P == P - 1)) inside = PETSC_FALSE;
    if (inside && g >= 0 && (*key < 0 || g < *key)) *key = g;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Corner of a cell with a given global index, or -1 */
static PetscInt FindCorner(const HopsPatchCells *pc, PetscInt c, PetscInt g)
{
  for (PetscInt v = 0; v < pc->nv; ++v)
    if (pc->vid[c * pc->nv + v] == g) return v;
  return -1;
}

/* Do faces of two cells of order 1, which share the vertex `key`, have the same corners? */
static PetscBool SameFace(const HopsPatchCells *pc, PetscInt key, PetscInt a, PetscInt f, PetscInt b, PetscInt g)
{
  const PetscInt         origin[2] = {FindCorner(pc, a, key), FindCorner(pc, b, key)}, c[2] = {a, b};
  const HopsPatchCorners m = HopsPatchCellsCorners(pc);

  for (PetscInt v = 0; v < pc->nv; ++v) {
    PetscBool found = PETSC_FALSE;

    if (((v >> (f / 2)) & 1) != f % 2) continue;
    for (PetscInt w = 0; w < pc->nv && !found; ++w) {
      const PetscInt corner[2] = {v, w};

      if (((w >> (g / 2)) & 1) == g % 2) found = HopsPatchSameCorner(&m, c, corner, origin) ? PETSC_TRUE : PETSC_FALSE;
    }
    if (!found) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* nb[c][face]: 2 dim * neighbour + its face, -1 where there is none; of all cells */
static PetscErrorCode FaceNeighbors(const HopsPatchCells *pc, const PetscInt *const node[], PetscInt nb[])
{
  const PetscInt nf = 2 * pc->space->dim;
  PetscInt      *key, *cf, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(pc->n * nf, &key, pc->n * nf, &cf));
  for (PetscInt c = 0; c < pc->n; ++c)
    for (PetscInt f = 0; f < nf; ++f) {
      PetscCall(FaceKey(pc, c, f, node[f], &key[n]));
      nb[c * nf + f] = -1;
      if (key[n] >= 0) cf[n++] = c * nf + f;
    }
  PetscCall(PetscSortIntWithArray(n, key, cf));
  for (PetscInt s = 0, e; s < n; s = e) {
    for (e = s; e < n && key[e] == key[s]; ++e) {}
    for (PetscInt i = s; i < e; ++i)
      for (PetscInt j = s; j < i; ++j)
        if (cf[i] / nf != cf[j] / nf &&
            (pc->space->order > 1 || SameFace(pc, key[s], cf[i] / nf, cf[i] % nf, cf[j] / nf, cf[j] % nf))) {
          nb[cf[i]] = cf[j];
          nb[cf[j]] = cf[i];
        }
  }
  PetscCall(PetscFree2(key, cf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The line of a direction, and the patch's bounds */
static void ElementLine(const HopsPatchCells *pc, PetscInt c, PetscInt d, const End end[2], const PetscInt nb[], PetscInt overlap,
                        HopsPatchLine *l, PetscReal bound[2])
{
  const PetscInt       dim = pc->space->dim, p = pc->space->order;
  const PetscBool      diff = HopsFormDerivative(pc->form) ? PETSC_TRUE : PETSC_FALSE;
  const HopsPatchCell *me   = pc->data + c;
  PetscInt             k    = 0, mid;

  *l = (HopsPatchLine){.ncells = 1};
  if (end[0] == END_NEIGHBOR) k = 1;
  mid       = k;
  l->ncells = 1 + k + (end[1] == END_NEIGHBOR ? 1 : 0);
  l->a[mid] = diff ? 1.0 : 0.0;
  l->m[mid] = 1.0;
  for (PetscInt s = 0; s < 2; ++s) {
    const PetscInt f = 2 * d + s;

    if (end[s] == END_NEIGHBOR) {
      const HopsPatchCell *d2 = pc->data + nb[f] / (2 * dim);
      const PetscInt       e = nb[f] % (2 * dim) / 2, j = mid + (s ? 1 : -1);
      PetscReal            m = 0.0;

      if (diff) {
        for (PetscInt b = 0; b < dim; ++b) {
          if (b != e) m += PetscLogReal(d2->d[b]) / (dim - 1);
          if (b != d) m -= PetscLogReal(me->d[b]) / (dim - 1);
        }
        l->a[j]  = HopsPatchRoundRatio(d2->d[e] / me->d[d]);
        bound[0] = PetscMin(bound[0], d2->lo);
        bound[1] = PetscMax(bound[1], d2->hi);
      } else m = PetscLogReal(d2->m / me->m);
      l->m[j] = HopsPatchRoundRatio(PetscExpReal(m));
    } else if (end[s] == END_NATURAL && me->robin[f] > 0.0 && diff) l->robin[s] = HopsPatchRoundRatio(me->robin[f] / me->d[d]);
  }
  l->first = mid * p + (end[0] == END_NATURAL ? 0 : (end[0] == END_CONSTRAINED ? 1 : -overlap));
  l->last  = (mid + 1) * p - (end[1] == END_NATURAL ? 0 : (end[1] == END_CONSTRAINED ? 1 : -overlap));
}

/*
  Where three cells meet, a node on the face between two neighbours is in the layers of both. A patch has an
  unknown once: its two corrections would add up to more than the damping allows for, and a device adds a
  patch's corrections all at the same time. The first entry stays (zero entries in its place in both layers
  cost iterations in 3D), the others become zero entries.
*/
static PetscErrorCode DropRepeated(PetscInt n, const unsigned char dist[], PetscInt gid[], PetscInt work[])
{
  PetscInt *g = work, *at = work + n, m = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i)
    if (dist[i] == 1 && gid[i] >= 0) {
      g[m]    = gid[i];
      at[m++] = i;
    }
  PetscCall(PetscSortIntWithArray(m, g, at));
  for (PetscInt s = 0, e; s < m; s = e) {
    PetscInt first = at[s];

    for (e = s + 1; e < m && g[e] == g[s]; ++e) first = PetscMin(first, at[e]);
    for (PetscInt i = s; i < e; ++i)
      if (at[i] != first) gid[at[i]] = -1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The last patch becomes one of its unknowns alone, in ascending order, where they are not too many */
static PetscErrorCode MakeDense(HopsPatches pt, PetscInt k, PetscInt max)
{
  PetscInt *gid = pt->gid + pt->star[k].cell[0], *dist, n = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < pt->start[k + 1] - pt->start[k]; ++i) n += gid[i] >= 0;
  if (n > max) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(n, &dist));
  n = 0;
  for (PetscInt i = 0; i < pt->start[k + 1] - pt->start[k]; ++i)
    if (gid[i] >= 0) {
      dist[n]  = pt->gdist[pt->star[k].cell[0] + i];
      gid[n++] = gid[i];
    }
  PetscCall(PetscSortIntWithArray(n, gid, dist));
  for (PetscInt i = 0; i < n; ++i) pt->gdist[pt->star[k].cell[0] + i] = (unsigned char)dist[i];
  PetscCall(PetscFree(dist));
  pt->ngiven       = pt->star[k].cell[0] + n;
  pt->start[k + 1] = pt->nent = pt->start[k] + n;
  pt->solver[k]               = HOPS_PATCH_DENSE;
  for (PetscInt d = 0; d < 3; ++d) {
    pt->size[k][d]   = d ? 1 : (int)n;
    pt->factor[k][d] = -1;
  }
  for (PetscInt i = 0; i < 6; ++i) pt->scale[k][i] = 0.0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  How much the last patch is scaled down. gid is not NULL where essential points lie in faces that have other
  unknowns: the product takes them for unknowns too, which makes its inverse too large on the rest; where that
  is too much, the operator's matrix on the rest is inverted instead. The greater of the two bounds counts: on
  distorted cells nothing attains their product.
*/
static PetscErrorCode BoundElement(HopsPatches pt, const HopsPatchOptions *opt, const HopsPatchLine line[], const PetscInt gid[],
                                   PetscReal bound[2])
{
  const PetscInt k = pt->n - 1;

  PetscFunctionBegin;
  if (gid) {
    PetscReal lambda;

    PetscCall(HopsPatchRestrictedBound(pt, line, pt->factor[k], pt->scale[k], gid, &lambda));
    bound[1]      = PetscMax(bound[1], lambda);
    pt->solver[k] = HOPS_PATCH_SURROGATE;
    if (lambda > opt->condenseratio) PetscCall(MakeDense(pt, k, opt->densemax));
    if (pt->solver[k] == HOPS_PATCH_DENSE) PetscFunctionReturn(PETSC_SUCCESS);
  }
  pt->bound[k][0] = bound[0];
  pt->bound[k][1] = bound[1];
  pt->scale[k][4] = PetscMin(1.0, opt->damp / bound[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddElement(HopsPatches pt, const HopsPatchCells *pc, const HopsPatchOptions *opt, PetscInt c,
                                 const PetscInt *const node[], const PetscInt nb[], PetscInt gid[], unsigned char dist[],
                                 PetscInt work[])
{
  const PetscInt dim = pc->space->dim, P = pc->space->order + 1, p = P - 1, nf = HopsPower(P, dim - 1), overlap = p > 1 ? 1 : 0;
  const PetscInt stride[3]     = {1, P, P * P};
  const HopsPatchCell *me      = pc->data + c;
  PetscInt             size[3] = {1, 1, 1}, lo[3] = {0, 0, 0}, n = 1, k;
  PetscReal            bound[2] = {HopsFormDerivative(pc->form) ? me->lo : 1.0, HopsFormDerivative(pc->form) ? me->hi : 1.0};
  HopsPatchLine        line[3];
  PetscBool            alone = PETSC_TRUE, cut = PETSC_FALSE, loose = me->m == 0.0 ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  if (me->m > 0.0) {
    bound[0] = PetscMin(bound[0], me->mlo);
    bound[1] = PetscMax(bound[1], me->mhi);
  }
  for (PetscInt d = 0; d < dim; ++d) {
    End end[2];

    for (PetscInt s = 0; s < 2; ++s) {
      const PetscInt f    = 2 * d + s;
      PetscBool      free = PETSC_FALSE;

      for (PetscInt i = 0; i < nf; ++i) free = free || pc->gid[c * pc->nn + node[f][i]] >= 0 ? PETSC_TRUE : PETSC_FALSE;
      end[s] = !free ? END_CONSTRAINED : (nb[f] >= 0 ? END_NEIGHBOR : END_NATURAL);
      if (end[s] == END_NEIGHBOR) alone = PETSC_FALSE;
      if (end[s] != END_NATURAL || me->robin[f] > 0.0) loose = PETSC_FALSE;
    }
    ElementLine(pc, c, d, end, nb, overlap, &line[d], bound);
    lo[d]   = end[0] == END_NATURAL ? 0 : (end[0] == END_CONSTRAINED ? 1 : -overlap);
    size[d] = line[d].last - line[d].first + 1;
    n *= size[d];
  }
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < n; ++i) {
    PetscInt r = i, e = 0, out = 0, face = -1;

    for (PetscInt d = 0; d < dim; ++d, r /= size[d - 1]) {
      const PetscInt x = lo[d] + r % size[d];

      if (x < 0 || x > p) {
        ++out;
        face = 2 * d + (x > p ? 1 : 0);
      }
      e += PetscMax(0, PetscMin(p, x)) * stride[d];
    }
    gid[i]  = pc->gid[c * pc->nn + e];
    dist[i] = (unsigned char)out;
    if (out == 1 && gid[i] >= 0) { /* behind the face's node, in the neighbour */
      const PetscInt o = nb[face] / (2 * dim), g = nb[face] % (2 * dim);
      PetscInt       j = 0;

      while (j < nf && pc->gid[o * pc->nn + node[g][j]] != gid[i]) ++j;
      PetscCheck(j < nf, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Neighbouring cells do not share the unknown %" PetscInt_FMT " of their face", gid[i]);
      gid[i] = pc->gid[o * pc->nn + node[g][j] + (g % 2 ? -stride[g / 2] : stride[g / 2])];
    } else if (out > 1) gid[i] = -1;
    if (out < 2 && gid[i] < 0) cut = PETSC_TRUE;
  }
  PetscCall(DropRepeated(n, dist, gid, work));
  PetscCall(HopsPatchesAppend(pt, n, NULL, gid, dist, 0, NULL));
  k              = pt->n - 1;
  pt->element[k] = 1;
  pt->center[k]  = c;
  pt->solver[k]  = alone && bound[0] > 1.0 - 1e-10 && bound[1] < 1.0 + 1e-10 ? HOPS_PATCH_EXACT : HOPS_PATCH_SURROGATE;
  for (PetscInt d = 0; d < dim; ++d) {
    PetscCall(HopsPatchFactorGet(pt, &line[d], &pt->factor[k][d]));
    pt->size[k][d]  = (int)size[d];
    pt->scale[k][d] = HopsFormDerivative(pc->form) ? me->d[d] : 0.0;
  }
  pt->scale[k][3] = me->m;
  if (loose) { /* a cell without any neighbour or condition: its constants must not become infinite */
    pt->scale[k][3] = PetscMin(me->d[0], me->d[1]);
    pt->solver[k]   = HOPS_PATCH_SURROGATE;
  }
  PetscCall(BoundElement(pt, opt, line, cut ? gid : NULL, bound));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells that contain unknowns of each element patch, from sorted pairs (unknown, cell) */
static PetscErrorCode ElementTouch(HopsPatches pt, const HopsPatchCells *pc)
{
  PetscInt *g, *cell, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(pc->n * pc->nn, &g, pc->n * pc->nn, &cell));
  for (PetscInt i = 0; i < pc->n * pc->nn; ++i)
    if (pc->gid[i] >= 0) {
      g[n]      = pc->gid[i];
      cell[n++] = i / pc->nn;
    }
  PetscCall(PetscSortIntWithArray(n, g, cell));
  for (PetscInt k = 0; k < pt->n; ++k) {
    PetscInt m = 0, begin, *t;

    if (!pt->element[k]) continue;
    for (PetscInt pass = 0; pass < 2; ++pass) {
      if (pass) PetscCall(PetscMalloc1(m, &t));
      m = 0;
      for (PetscInt i = pt->star[k].cell[0]; i < pt->star[k].cell[0] + pt->start[k + 1] - pt->start[k]; ++i) {
        PetscInt where;

        if (pt->gid[i] < 0) continue;
        PetscCall(PetscFindInt(pt->gid[i], n, g, &where));
        if (where < 0) continue;
        while (where && g[where - 1] == pt->gid[i]) --where;
        for (; where < n && g[where] == pt->gid[i]; ++where, ++m)
          if (pass) t[m] = cell[where];
      }
    }
    PetscCall(PetscSortRemoveDupsInt(&m, t));
    /* element patches come last, in order: what follows this patch has nothing yet */
    begin = pt->touchstart[k];
    if (begin + m > pt->tmax) {
      pt->tmax = PetscMax(begin + m, pt->tmax + pt->tmax / 2);
      PetscCall(PetscRealloc(pt->tmax * sizeof(PetscInt), &pt->touch));
    }
    PetscCall(PetscArraycpy(pt->touch + begin, t, m));
    pt->touchstart[k + 1] = pt->ntouch = begin + m;
    PetscCall(PetscFree(t));
  }
  PetscCall(PetscFree2(g, cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPatchesAddElements(HopsPatches pt, HopsPatchCells *pc, const HopsPatchOptions *opt, const PetscBool want[])
{
  const PetscInt  dim = pc->space->dim, P = pc->space->order + 1, nf = HopsPower(P, dim - 1), nmax = HopsPower(P + 2, dim);
  PetscInt       *nb, *faces, *gid, *work;
  const PetscInt *node[6];
  unsigned char  *dist;
  PetscInt        nd                   = 0;
  char            why[HOPS_WHY_LENGTH] = "";

  PetscFunctionBegin;
  PetscCall(HopsPatchCellsIndex(pc));
  PetscCall(PetscMalloc5(pc->n * 2 * dim, &nb, 2 * dim * nf, &faces, nmax, &gid, nmax, &dist, 2 * nmax, &work));
  for (PetscInt f = 0; f < 2 * dim; ++f) {
    PetscCall(HopsFaceNodes(dim, P, f, faces + f * nf));
    node[f] = faces + f * nf;
  }
  if (!pc->space->hanging) PetscCall(FaceNeighbors(pc, node, nb));
  for (PetscInt c = 0; c < pc->nown; ++c)
    if (want[c] && pc->space->hanging) PetscCall(HopsPatchesAddCell(pt, pc, opt, c, why));
    else if (want[c]) PetscCall(AddElement(pt, pc, opt, c, node, nb + 2 * dim * c, gid, dist, work));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)pc->space), PETSC_ERR_SUP, why));
  for (PetscInt k = 0; k < pt->n; ++k) nd += pt->element[k] && pt->solver[k] == HOPS_PATCH_DENSE;
  if (opt->colors || nd) PetscCall(ElementTouch(pt, pc));
  PetscCall(PetscFree5(nb, faces, gid, dist, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}
