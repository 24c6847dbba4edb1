/*
  Cells around vertices, and the separable models of their forms: what set-up computes for a vertex or a cell,
  for the process and for devices, a function call (a thread) each.
*/
#pragma once
#include <hops/private/hopspatchkernel.h>

/* ----------------------------------------- corners ----------------------------------------- */

/* In place of the index of a corner that hangs, which has no unknown of its own */
#define HOPS_PATCH_HANGS (-1)

/* Corners of cells. Where one rank has all cells, and no nodes hang, home and x are NULL */
typedef struct {
  int             dim, nv, nown; /* nv = 2^dim; own cells */
  const PetscInt *vid;           /* [cells][nv] global index, or -2 - (L index on the cell's rank) where constrained */
  const PetscInt *home;          /* [cells][2] the cell's rank, and its number there */
  const double   *x;             /* [cells][nv][dim] coordinates */
} HopsPatchCorners;

/*
  Are two corners of cells c the same vertex of the mesh? Free corners have global indices. A constrained one
  has a number on its rank alone, and one that hangs has none. There its position relative to a corner that
  both cells have, the origin, decides (relative, since a periodic mesh has two positions for one vertex).
*/
HOPS_TEAM int HopsPatchSameCorner(const HopsPatchCorners *m, const PetscInt c[2], const PetscInt corner[2],
                                  const PetscInt origin[2])
{
  const PetscInt a = m->vid[c[0] * m->nv + corner[0]], b = m->vid[c[1] * m->nv + corner[1]];
  double         e = 0.0, n = 0.0;

  if (a != HOPS_PATCH_HANGS && b != HOPS_PATCH_HANGS && (a >= 0 || b >= 0 || !m->home || m->home[2 * c[0]] == m->home[2 * c[1]]))
    return a == b;
  for (int d = 0; d < m->dim; ++d) {
    const double x = m->x[(c[0] * m->nv + corner[0]) * m->dim + d] - m->x[(c[0] * m->nv + origin[0]) * m->dim + d];
    const double y = m->x[(c[1] * m->nv + corner[1]) * m->dim + d] - m->x[(c[1] * m->nv + origin[1]) * m->dim + d];

    e += (x - y) * (x - y);
    n += x * x + y * y;
  }
  return e <= 1e-16 * n;
}

/* ------------------------------------------ stars ------------------------------------------ */

HOPS_TEAM unsigned char HopsPatchSeen(int corner, int first, int second)
{
  return (unsigned char)(corner | first << 3 | second << 5);
}

/*
  Most stars: 2^dim cells whose directions are the first one's, as those of boxes in order are. list[n] has
  nv (cell) + corner, and ascends. Found by the far ends of the edges: in each direction one for the cells on
  either side, and all of them different. Of constrained ends the numbers are those of one rank.
*/
HOPS_TEAM int HopsPatchStarRegular(const HopsPatchCorners *m, int n, const PetscInt list[], HopsPatchStar *star)
{
  const int dim = m->dim, nv = m->nv;
  PetscInt  far[3][2] = {{0}};
  int       found = 0, own = 1;

  if (n != nv) return 0;
  for (int k = 0; k < n; ++k) own = own && list[k] / nv < m->nown;
  star->side[0] = star->side[1] = 2;
  star->side[2]                 = (unsigned char)(dim == 3 ? 2 : 1);
  star->sorted                  = 0;
  for (int k = 0; k < n; ++k) {
    const PetscInt c = list[k] / nv;
    const int      v = (int)(list[k] % nv), pos = v ^ (int)(list[0] % nv);

    if (k && c == list[k - 1] / nv) return 0; /* periodic, of one cell */
    found |= 1 << pos;
    for (int d = 0; d < dim; ++d) {
      const PetscInt e = m->vid[c * nv + (v ^ (1 << d))];

      if (e == HOPS_PATCH_HANGS || (e < 0 && !own)) return 0;
      if (!(pos & ((1 << d) - 1)) && !(pos >> (d + 1))) far[d][(pos >> d) & 1] = e; /* the cells 0 and 1 << d */
    }
    star->cell[pos] = (int)c;
    star->seen[pos] = HopsPatchSeen(v, 0, 1);
  }
  if (found != (1 << nv) - 1) return 0;
  for (int k = 0; k < n; ++k)
    for (int d = 0; d < dim; ++d) {
      const int      v = (int)(list[k] % nv);
      const PetscInt e = m->vid[list[k] ^ (1 << d)];

      if (e != far[d][((v ^ (int)(list[0] % nv)) >> d) & 1]) return 0;
    }
  for (int i = 0; i < 2 * dim; ++i)
    for (int j = 0; j < i; ++j)
      if (far[i / 2][i % 2] == far[j / 2][j % 2]) return 0;
  return 1;
}

/* edge[k][d]: the number of cell k's edge at the vertex in its direction d, by first appearance; that cell
   and direction are first[] / 3 and % 3. Edges of all cells, or -1: more than a tensor product has */
HOPS_TEAM int HopsPatchStarEdges(const HopsPatchCorners *m, int n, const PetscInt list[], int edge[8][3], int first[6])
{
  int nedge = 0;

  for (int k = 0; k < n; ++k)
    for (int d = 0; d < m->dim; ++d) {
      int e = 0;

      for (; e < nedge; ++e) {
        const int      f = first[e] / 3, g = first[e] % 3;
        const PetscInt c[2] = {list[f] / m->nv, list[k] / m->nv}, v[2] = {list[f] % m->nv, list[k] % m->nv};
        const PetscInt w[2] = {v[0] ^ (1 << g), v[1] ^ (1 << d)};

        if (HopsPatchSameCorner(m, c, w, v)) break;
      }
      if (e == nedge) {
        if (nedge == 2 * m->dim) return -1;
        first[nedge++] = 3 * k + d;
      }
      edge[k][d] = e;
    }
  return nedge;
}

/* Is an edge in a cell with edge `of`? */
HOPS_TEAM int HopsPatchEdgesMeet(int dim, int n, int edge[8][3], int e, int of)
{
  for (int k = 0; k < n; ++k) {
    int one = 0, two = 0;

    for (int d = 0; d < dim; ++d) {
      one = one || edge[k][d] == e;
      two = two || edge[k][d] == of;
    }
    if (one && two) return 1;
  }
  return 0;
}

/*
  The star of the cells around a vertex, list[n] as above; without sides where it is no tensor product: its
  edges at the vertex must fall into dim axes (those of the first cell's directions) of one or two edges, with
  a cell for each combination.
*/
HOPS_TEAM void HopsPatchStarMake(const HopsPatchCorners *m, int n, const PetscInt list[], HopsPatchStar *star)
{
  const int dim = m->dim;
  int       edge[8][3], first[6], axis[6], side[3] = {1, 1, 1}, nedge, ncells = 1, used = 0; /* axis[]: 2 axis + side */

  for (int k = 0; k < 8; ++k) {
    star->cell[k] = 0;
    star->seen[k] = 0;
  }
  if (HopsPatchStarRegular(m, n, list, star)) return;
  star->side[0] = star->side[1] = star->side[2] = star->sorted = 0;
  if (n > m->nv || (nedge = HopsPatchStarEdges(m, n, list, edge, first)) < 0) return;
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < k; ++j)
      if (list[j] / m->nv == list[k] / m->nv) return; /* periodic, of one cell */
  for (int e = 0; e < nedge; ++e) {
    int found = 0;

    axis[e] = -1;
    for (int a = 0; a < dim; ++a)
      if (edge[0][a] == e) axis[e] = 2 * a;
    if (axis[e] >= 0) continue;
    for (int a = 0; a < dim; ++a)
      if (!HopsPatchEdgesMeet(dim, n, edge, e, edge[0][a])) {
        axis[e] = 2 * a + 1;
        ++found;
      }
    if (found != 1 || ++side[axis[e] / 2] > 2) return;
  }
  for (int k = 0; k < n; ++k) {
    int seen = 0, pos = 0;

    for (int d = 0; d < dim; ++d) {
      seen |= 1 << (axis[edge[k][d]] / 2);
      pos |= (axis[edge[k][d]] % 2) << (axis[edge[k][d]] / 2);
    }
    if (seen != (1 << dim) - 1 || (used >> pos) & 1) return;
    used |= 1 << pos;
    star->cell[pos] = (int)(list[k] / m->nv);
    star->seen[pos] = HopsPatchSeen((int)(list[k] % m->nv), axis[edge[k][0]] / 2, axis[edge[k][1]] / 2);
  }
  for (int a = 0; a < dim; ++a) ncells *= side[a];
  for (int a = 0; a < 3 && ncells == n; ++a) star->side[a] = (unsigned char)side[a];
}

/* ------------------------------------------- fits ------------------------------------------- */

/* What fits need of a cell's model: logarithms of d and, without a derivative, of m */
HOPS_TEAM void HopsPatchCellLogs(int dim, int derivative, const HopsPatchCell *cell, double logs[4])
{
  for (int t = 0; t < 3; ++t) logs[t] = derivative && t < dim ? log(cell->d[t]) : 0.0;
  logs[3] = derivative ? 0.0 : log(cell->m);
}

/* The nearest of a coarse set of ratios, which lets surrogates share factors */
HOPS_TEAM double HopsPatchRoundRatio(double r)
{
  return pow(2.0, floor(16.0 * log2(r) + 0.5) / 16.0);
}

/*
  The tensor product that stands for a star of cells:
    w (scale[3] M x M x M + sum_a scale[a] A_a x (M_b, b != a))
  A and M of an axis have the weights 1 on its first cell and a, m on its second one; robin is on its only
  cell's end. bound[2] of the spectrum of the form relative to it.
*/
typedef struct {
  double a[3], m[3], robin[3], scale[4], w, bound[2];
  int    exact, unused; /* it is the form */
} HopsPatchFit;

/* What the fit reads of a cell of the star, its directions being the star's axes */
typedef struct {
  int                  pos, axis[3]; /* of its directions */
  const HopsPatchCell *d;
  const double        *l; /* logarithms */
  double               w; /* product of the fitted weights m */
} HopsPatchMember;

HOPS_TEAM int HopsPatchMembers(const HopsPatchCell data[], const double logs[], const HopsPatchStar *s, HopsPatchMember member[8])
{
  int n = 0;

  for (int pos = 0; pos < 8; ++pos) {
    HopsPatchMember *k = member + n;

    if (!HopsPatchStarHas(s, pos)) continue;
    k->pos     = pos;
    k->axis[0] = (s->seen[pos] >> 3) & 3;
    k->axis[1] = (s->seen[pos] >> 5) & 3;
    k->axis[2] = 3 - k->axis[0] - k->axis[1];
    k->d       = data + s->cell[pos];
    k->l       = logs + 4 * (size_t)s->cell[pos];
    k->w       = 1.0;
    ++n;
  }
  return n;
}

/* The Robin term on a cell's face of direction t at the vertex */
HOPS_TEAM double HopsPatchMemberRobin(const HopsPatchMember *k, const HopsPatchStar *s, int t)
{
  return k->d->robin[2 * t + ((s->seen[k->pos] >> t) & 1)];
}

/* Weights a and m of the cells along each axis, from main effects, by logarithms: effect[a][b] of side 1
   against side 0 of axis b on term a */
HOPS_TEAM void HopsPatchWeights(int dim, int derivative, const HopsPatchStar *s, int n, const HopsPatchMember member[],
                                double a[3][2], double m[3][2])
{
  double mean[3] = {0.0}, effect[3][3] = {{0.0}}, meffect[3] = {0.0};

  for (int k = 0; k < n; ++k)
    for (int b = 0; b < dim; ++b) {
      const double sign = s->side[b] == 1 ? 0.0 : ((member[k].pos >> b) & 1 ? 2.0 : -2.0) / n;

      for (int t = 0; t < dim; ++t) effect[member[k].axis[t]][b] += sign * member[k].l[t];
      mean[member[k].axis[b]] += member[k].l[b] / n;
      meffect[b] += sign * member[k].l[3];
    }
  for (int b = 0; b < dim; ++b) {
    double me = meffect[b];

    for (int t = 0; t < dim && derivative; ++t)
      if (t != b) me += effect[t][b] / (dim - 1);
    for (int i = 0; i < 2; ++i) {
      const double h = s->side[b] == 2 ? i - 0.5 : 0.0;

      m[b][i] = exp(h * me);
      a[b][i] = derivative ? exp(mean[b] + h * effect[b][b]) : 0.0;
    }
  }
}

/* bound[2] of the form on all points relative to the weights */
HOPS_TEAM void HopsPatchBounds(int dim, int derivative, const HopsPatchStar *s, int n, const HopsPatchMember member[],
                               double a[3][2], double m[3][2], const double robin[3], double sigma, double bound[2])
{
  bound[0] = HOPS_PATCH_BIG;
  bound[1] = 0.0;
  for (int k = 0; k < n; ++k) {
    const HopsPatchMember *c  = member + k;
    double                 lo = HOPS_PATCH_BIG, hi = 0.0;

    for (int t = 0; t < dim && derivative; ++t) {
      const int    b = c->axis[t], i = (c->pos >> b) & 1;
      const double others = c->w / m[b][i], r = c->d->d[t] / (others * a[b][i]);

      lo = lo < r ? lo : r;
      hi = hi < r ? r : hi;
      if (s->side[b] == 1 && robin[b] > 0.0) {
        const double e = HopsPatchMemberRobin(c, s, t) / (others * robin[b]);

        lo = lo < e ? lo : e;
      }
    }
    if (derivative) {
      bound[0] = bound[0] < lo * c->d->lo ? bound[0] : lo * c->d->lo;
      bound[1] = bound[1] < hi * c->d->hi ? hi * c->d->hi : bound[1];
    }
    if (sigma > 0.0) {
      const double r = c->d->m / (c->w * sigma), e = c->d->m > 0.0 ? r * c->d->mlo : 0.0;

      bound[0] = bound[0] < e ? bound[0] : e;
      bound[1] = bound[1] < r * c->d->mhi ? r * c->d->mhi : bound[1];
    }
  }
}

/* Rounds the ratio of two sides about their geometric mean, so that their order does not matter */
HOPS_TEAM void HopsPatchRoundSides(double x[2])
{
  const double mean = sqrt(x[0] * x[1]), ratio = sqrt(HopsPatchRoundRatio(x[1] / x[0]));

  x[0] = mean / ratio;
  x[1] = mean * ratio;
}

/* Axis b by its weights; those of surrogates are rounded */
HOPS_TEAM void HopsPatchFitAxis(const HopsPatchStar *s, int b, double a[2], double m[2], double robin, HopsPatchFit *f)
{
  f->a[b] = f->m[b] = f->robin[b] = 0.0;
  if (s->side[b] == 2) {
    if (!f->exact) {
      HopsPatchRoundSides(m);
      if (a[0] > 0.0) HopsPatchRoundSides(a);
    }
    f->a[b] = a[0] > 0.0 ? a[1] / a[0] : 0.0;
    f->m[b] = m[1] / m[0];
    if (!f->exact) { /* the rounded ratios, to the last bit */
      if (f->a[b] > 0.0) f->a[b] = HopsPatchRoundRatio(f->a[b]);
      f->m[b] = HopsPatchRoundRatio(f->m[b]);
    } else { /* rounding errors would keep equal halves from being seen as such */
      if (fabs(f->a[b] - 1.0) < 1e-13) f->a[b] = 1.0;
      if (fabs(f->m[b] - 1.0) < 1e-13) f->m[b] = 1.0;
    }
  } else if (robin > 0.0) f->robin[b] = a[0] > 0.0 ? HopsPatchRoundRatio(robin / a[0]) : 0.0;
  f->scale[b] = a[0] / m[0];
  f->w *= m[0];
}

/*
  The separable model of a star: weights a and m of the cells along each axis with
    d_x ~ a_x m_y m_z,  d_y ~ m_x a_y m_z,  d_z ~ m_x m_y a_z,  reaction ~ sigma m_x m_y m_z.
  The logarithms are fitted by least squares, in closed form: main effects of a full factorial design. Where
  the cells are axis-parallel boxes and the coefficients a product, the fit is exact.
*/
HOPS_TEAM void HopsPatchStarFit(int dim, int derivative, const HopsPatchCell data[], const double logs[], const HopsPatchStar *s,
                                HopsPatchFit *f)
{
  HopsPatchMember member[8];
  const int       n = HopsPatchMembers(data, logs, s, member);
  double          a[3][2], m[3][2], robin[3] = {0.0, 0.0, 0.0}, sigma = 0.0;

  HopsPatchWeights(dim, derivative, s, n, member, a, m);
  for (int k = 0; k < n; ++k) {
    HopsPatchMember *c = member + k;

    for (int b = 0; b < dim; ++b) c->w *= m[b][(c->pos >> b) & 1];
    sigma = sigma < c->d->m / c->w ? c->d->m / c->w : sigma;
    for (int t = 0; t < dim; ++t)
      if (s->side[c->axis[t]] == 1) {
        const double r = HopsPatchMemberRobin(c, s, t) / (c->w / m[c->axis[t]][0]);

        robin[c->axis[t]] = robin[c->axis[t]] < r ? r : robin[c->axis[t]];
      }
  }
  HopsPatchBounds(dim, derivative, s, n, member, a, m, robin, sigma, f->bound);
  f->exact  = f->bound[0] > 1.0 - 1e-10 && f->bound[1] < 1.0 + 1e-10 && robin[0] + robin[1] + robin[2] == 0.0;
  f->unused = 0;
  f->w      = 1.0;
  for (int b = 0; b < dim; ++b) HopsPatchFitAxis(s, b, a[b], m[b], robin[b], f);
  for (int b = dim; b < 3; ++b) f->a[b] = f->m[b] = f->robin[b] = f->scale[b] = 0.0;
  f->scale[3] = sigma;
}

/* ---------------------------------- cells without patches ---------------------------------- */

/* Has a cell a free node (a number below `last`) that no vertex patch has? Those of a face (edge, ...) no
   vertex of which has one; bits of `covered`: corners that have */
HOPS_TEAM int HopsPatchCellUncovered(const HopsPatchNodes *m, int last, int c, unsigned covered)
{
  const int nv = 1 << m->dim, p = m->P - 1, *number = m->own + (size_t)c * m->nn;

  if (covered == (1u << nv) - 1) return 0;
  for (int i = 0; i < m->nn; ++i) {
    unsigned at = (1u << nv) - 1; /* corners of the face in whose inside the node lies */

    if (number[i] >= last) continue;
    for (int d = 0, r = i; d < m->dim; ++d, r /= m->P)
      for (int v = 0; v < nv; ++v)
        if (r % m->P == ((v >> d) & 1 ? 0 : p)) at &= ~(1u << v);
    if (!(at & covered)) return 1;
  }
  return 0;
}

/* ------------------------------------- positions of cells ------------------------------------- */

/* Maps X[cells][dim][nx] of own cells, and the corners' nodes among those */
typedef struct {
  int           dim, nv, nx, corner[8];
  const double *X;
} HopsPatchMaps;

HOPS_TEAM double HopsPatchCorner(const HopsPatchMaps *m, size_t c, int v, int d)
{
  return m->X[(c * m->dim + d) * m->nx + m->corner[v]];
}

/* The least first coordinate of a cell's corners, the least coordinate and the greatest one */
HOPS_TEAM void HopsPatchExtent(const HopsPatchMaps *m, size_t c, double extent[3])
{
  extent[0] = extent[1] = extent[2] = HopsPatchCorner(m, c, 0, 0);
  for (int d = 0; d < m->dim; ++d)
    for (int v = 0; v < m->nv; ++v) {
      const double x = HopsPatchCorner(m, c, v, d);

      if (!d && x < extent[0]) extent[0] = x;
      if (x < extent[1]) extent[1] = x;
      if (x > extent[2]) extent[2] = x;
    }
}
