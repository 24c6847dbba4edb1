/*
  Spaces from arrays: what is done for one entry, cell, edge or face when one is set up, and the passes
  over all of them that a back end has. The functions find out whether all is well; what is not, the
  process looks at again, and says so. The order in which cells are taken makes no difference.
*/
#pragma once
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopsmeshimpl.h>

#define HOPS_ARRAYS_TOL  1e-5  /* of the size of a line, face or cell: coordinates may come from a file with few digits */
#define HOPS_ARRAYS_SAME 1e-10 /* of the size of a cell: coordinates that are the same but for rounding errors */
/* Derivatives at an unknown are sums of six numbers of size 1 at most, with signs: they are the same but for
   rounding errors, or differ as much as these numbers do */
#define HOPS_ARRAYS_BOUNDARY 1e-10

/* Nodes start + i step[0] + j step[1], i < P, j < n, of an edge (n = 1) or face of the lattice */
typedef struct {
  PetscInt start, step[2], n;
} HopsArraysPart;

/* Where an entry of a cell lies on the lattice. Bits: directions in which it extends by an interval, and in
   which the cell's edge or face around it extends, the others being `ends` directions in which the cell ends;
   of H1 the edge or face inside which it is, or -1 */
typedef struct {
  int         node, from; /* the first node of the entry, and of what is around it */
  signed char component, open, whole, ends, part;
} HopsArraysEntry;

/*
  A key stands for an unknown that this rank owns, by its T-vector index, or for another rank's, which follow:
  nT + i for foreign[i]. key[ncells][ne], -1-k where the cell sees it with the opposite sign. touch[k] is the
  least place in key[] where k is, or HOPS_UNTOUCHED, and count[k] how many places have it.
*/
typedef struct {
  HopsFamily             family;
  PetscInt               dim, P, ne, np, ncells; /* P nodes of the lattice in a direction, np of a cell */
  PetscInt               rstart, N, nF, nparts;
  int                    nT;
  const PetscInt        *foreign; /* [nF] ascending */
  const HopsArraysEntry *entry;   /* [ne] */
  HopsArraysPart         part[18];
  int                   *key, *touch, *count;
  const PetscReal       *x;    /* [ncells][dim][np]: the lattices */
  const PetscReal       *size; /* [ncells]: HopsArraysCellSize() */
} HopsArrays;

/* In key[], until foreign[] is known: an unknown of another rank */
#define HOPS_FOREIGN INT_MAX

/* What the first cell of this rank that has an unknown says of it to other ranks */
typedef struct {
  PetscReal  v[7], size, cellsize; /* see HopsArraysDescribe() */
  PetscInt64 part;                 /* see HopsArraysSumPart(); 0: none */
  PetscInt   count;                /* 0: no cell has it, and nothing else is said */
} HopsArraysValue;

/* ------------------------------------------ keys ------------------------------------------ */

/* The key of unknown u of a cell; bad where it has no number */
HOPS_HOST_DEVICE int HopsArraysKey(const HopsArrays *m, PetscInt u, PetscBool *bad)
{
  const int      flip = u < 0 ? -1 : 0; /* x ^ -1 is -1-x */
  const PetscInt g = u ^ (PetscInt)flip, t = g - m->rstart;

  if (t >= 0 && t < m->nT) {
    if (flip && m->family != HOPS_HCURL && m->family != HOPS_HDIV) *bad = PETSC_TRUE;
    return (int)t ^ flip;
  }
  if (g >= m->N || (flip && m->family != HOPS_HCURL && m->family != HOPS_HDIV)) *bad = PETSC_TRUE;
  return HOPS_FOREIGN ^ flip;
}

HOPS_HOST_DEVICE int HopsArraysUnsigned(int key)
{
  return key < 0 ? -1 - key : key;
}

/* The key of an unknown that is in foreign[] */
HOPS_HOST_DEVICE int HopsArraysForeignKey(const HopsArrays *m, PetscInt u)
{
  const PetscInt g  = u < 0 ? -1 - u : u;
  PetscInt       lo = 0, hi = m->nF;

  while (hi - lo > 1) {
    const PetscInt mid = (lo + hi) / 2;

    if (m->foreign[mid] <= g) lo = mid;
    else hi = mid;
  }
  return u < 0 ? -1 - (m->nT + (int)lo) : m->nT + (int)lo;
}

HOPS_HOST_DEVICE PetscInt HopsArraysGlobal(const HopsArrays *m, int k)
{
  return k < m->nT ? m->rstart + k : m->foreign[k - m->nT];
}

/* ------------------------------------------ maps ------------------------------------------ */

/*
  The map's determinant at corner k (bit d: the end in direction d) of a cell with values X[dim][P^dim], their
  places given by `node` or lexicographic; D: derivatives of the 1D basis at its nodes
*/
HOPS_HOST_DEVICE PetscReal HopsArraysCornerDet(PetscInt dim, PetscInt P, const PetscReal X[], const PetscInt node[],
                                               const PetscReal D[], PetscInt k)
{
  const PetscInt stride[3] = {1, P, P * P}, np = dim == 3 ? P * P * P : P * P;
  PetscReal      J[3][3];
  PetscInt       corner = 0;

  for (PetscInt d = 0; d < dim; ++d) corner += ((k >> d) & 1) * (P - 1) * stride[d];
  for (PetscInt j = 0; j < dim; ++j) {
    const PetscInt   end = ((k >> j) & 1) * (P - 1), start = corner - end * stride[j];
    const PetscReal *d = D + end * P;

    for (PetscInt i = 0; i < dim; ++i) {
      PetscReal s = 0.0;

      for (PetscInt m = 0; m < P; ++m) s += d[m] * X[i * np + (node ? node[start + m * stride[j]] : start + m * stride[j])];
      J[i][j] = s;
    }
  }
  if (dim == 2) return J[0][0] * J[1][1] - J[0][1] * J[1][0];
  return J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) - J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
         J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
}

/* Two opposite corners show most that is wrong, and all of them take as long as half the set-up of a space of
   order 1 */
HOPS_HOST_DEVICE PetscBool HopsArraysRightHanded(PetscInt dim, PetscInt P, const PetscReal X[], const PetscReal D[])
{
  return HopsArraysCornerDet(dim, P, X, NULL, D, 0) > 0.0 && HopsArraysCornerDet(dim, P, X, NULL, D, (1 << dim) - 1) > 0.0
           ? PETSC_TRUE
           : PETSC_FALSE;
}

/* Are the nodes inside the cell's edges at equal distances, on straight lines? */
HOPS_HOST_DEVICE PetscBool HopsArraysEquispaced(PetscInt dim, PetscInt P, const PetscReal X[])
{
  const PetscInt np = dim == 3 ? P * P * P : P * P, stride[3] = {1, P, P * P};

  for (PetscInt j = 0; j < dim; ++j)
    for (PetscInt k = 0; k < (1 << dim); ++k) {
      PetscInt  start = 0;
      PetscReal size  = 0.0;

      if ((k >> j) & 1) continue;
      for (PetscInt m = 0; m < dim; ++m) start += ((k >> m) & 1) * (P - 1) * stride[m];
      for (PetscInt i = 0; i < dim; ++i) {
        const PetscReal far = HopsMapAbs(X[i * np + start + (P - 1) * stride[j]] - X[i * np + start]);

        size = far > size ? far : size;
      }
      for (PetscInt m = 1; m < P - 1; ++m)
        for (PetscInt i = 0; i < dim; ++i) {
          const PetscReal *x = X + i * np + start, equal = ((P - 1 - m) * x[0] + m * x[(P - 1) * stride[j]]) / (P - 1);

          if (!(HopsMapAbs(x[m * stride[j]] - equal) <= 1e-3 * size)) return PETSC_FALSE;
        }
    }
  return PETSC_TRUE;
}

/* Half the largest side of the box around a cell's corners, which bounds the distance from their middle.
   Coordinate d of node i is X[d*coordinate + i*node] */
HOPS_HOST_DEVICE PetscReal HopsArraysCellSize(PetscInt dim, PetscInt P, PetscInt coordinate, PetscInt node, const PetscReal X[])
{
  PetscReal size = 0.0;

  for (PetscInt d = 0; d < dim; ++d)
    for (PetscInt k = 1; k < (1 << dim); ++k) {
      const PetscInt  i   = (P - 1) * ((k & 1) + P * ((k >> 1 & 1) + P * (k >> 2 & 1)));
      const PetscReal far = HopsMapAbs(X[d * coordinate + i * node] - X[d * coordinate]);

      size = 0.5 * far > size ? 0.5 * far : size;
    }
  return size;
}

/* One coordinate at node q of a lattice of P nodes a direction, of a map X[G^dim]; B[P][G] */
HOPS_HOST_DEVICE PetscReal HopsArraysNode(PetscInt dim, PetscInt P, PetscInt G, const PetscReal B[], const PetscReal X[],
                                          PetscInt q)
{
  const PetscReal *b[3] = {B + q % P * G, B + q / P % P * G, B + q / (P * P) * G};
  PetscReal        x    = 0.0;

  for (PetscInt k = 0; k < (dim == 3 ? G : 1); ++k) {
    PetscReal y = 0.0;

    for (PetscInt j = 0; j < G; ++j) {
      PetscReal z = 0.0;

      for (PetscInt i = 0; i < G; ++i) z += b[0][i] * X[(k * G + j) * G + i];
      y += b[1][j] * z;
    }
    x += (dim == 3 ? b[2][k] : 1.0) * y;
  }
  return x;
}

/* A number that stands for unknown g in sums, so that two sets of unknowns have the same by a chance of
   1e-18 only */
HOPS_HOST_DEVICE uint64_t HopsArraysMix(PetscInt g)
{
  uint64_t z = ((uint64_t)g + 1) * 0x9E3779B97F4A7C15ULL;

  z = (z ^ (z >> 32)) * 0xBF58476D1CE4E5B9ULL;
  return z ^ (z >> 29);
}

/* The same in (1, 2). Differences of two are without pattern, too: they are not the same where all unknowns
   of a cell are those of another one and a constant */
HOPS_HOST_DEVICE PetscReal HopsArraysHash(PetscInt g)
{
  return 1.0 + (PetscReal)(HopsArraysMix(g) >> 11) / 9007199254740992.0;
}

/* ------------------------------------------ entries ------------------------------------------ */

/* x = the mean of the lattice points that are `by` from node `first` on in some of the directions `bits` */
HOPS_HOST_DEVICE void HopsArraysMean(const HopsArrays *m, const PetscReal X[], PetscInt first, int bits, PetscInt by,
                                     PetscReal x[3])
{
  const PetscInt stride[3] = {by, by * m->P, by * m->P * m->P};
  PetscInt       at[8] = {first}, n = 1;

  for (PetscInt d = 0; d < m->dim; ++d) {
    if (!(bits >> d & 1)) continue;
    for (PetscInt k = 0; k < n; ++k) at[n + k] = at[k] + stride[d];
    n *= 2;
  }
  for (PetscInt d = 0; d < m->dim; ++d) {
    PetscReal s = 0.0;

    for (PetscInt k = 0; k < n; ++k) s += X[d * m->np + at[k]];
    x[d] = s / n;
  }
}

/* The vector v of the line, face or, in 2D, edge behind an entry of H(curl) or H(div), on a lattice
   X[dim][P^dim] */
HOPS_HOST_DEVICE void HopsArraysVector(const HopsArrays *m, const HopsArraysEntry *e, PetscReal sign, const PetscReal X[],
                                       PetscReal v[3])
{
  const PetscInt np = m->np, s[3] = {1, m->P, m->P * m->P};

  if (m->family == HOPS_HCURL || m->dim == 2) {
    const PetscInt a = m->family == HOPS_HCURL ? e->component : 1 - e->component;

    for (PetscInt d = 0; d < m->dim; ++d) v[d] = sign * (X[d * np + e->node + s[a]] - X[d * np + e->node]);
    if (m->family == HOPS_HDIV) { /* along the reference coordinate that crosses the edge */
      const PetscReal along = v[0];

      v[0] = e->component ? -v[1] : v[1];
      v[1] = e->component ? along : -along;
    }
  } else { /* half the product of the diagonals */
    const PetscInt a = s[(e->component + 1) % 3], b = s[(e->component + 2) % 3];
    PetscReal      t[2][3];

    for (PetscInt d = 0; d < 3; ++d) {
      const PetscReal *x = X + d * np + e->node;

      t[0][d] = x[a + b] - x[0];
      t[1][d] = x[b] - x[a];
    }
    for (PetscInt d = 0; d < 3; ++d)
      v[d] = sign * 0.5 * (t[0][(d + 1) % 3] * t[1][(d + 2) % 3] - t[0][(d + 2) % 3] * t[1][(d + 1) % 3]);
  }
}

/*
  What a cell says of entry e of key[], wherever the cell lies. Of a line or face: v[0-2] its vector, with
  the cell's sign, and v[3-5] its middle from the middle of the cell's edge or face that it is part of. Of
  a node of H1 v[3-5] is where it is. v[6] is in how many directions the cell ends there. Returns |v[0-2]|
*/
HOPS_HOST_DEVICE PetscReal HopsArraysDescribe(const HopsArrays *m, PetscInt c, PetscInt i, PetscReal v[7])
{
  const HopsArraysEntry *e       = m->entry + i;
  const PetscReal       *X       = m->x + (size_t)c * m->dim * m->np;
  PetscReal              mean[3] = {0.0, 0.0, 0.0}, centre[3] = {0.0, 0.0, 0.0}, size = 0.0;

  for (PetscInt d = 0; d < 6; ++d) v[d] = 0.0;
  v[6] = e->ends;
  if (m->family == HOPS_H1) {
    for (PetscInt d = 0; d < m->dim; ++d) v[3 + d] = X[d * m->np + e->node];
    return 0.0;
  }
  HopsArraysMean(m, X, e->node, e->open, 1, mean);
  HopsArraysMean(m, X, e->from, e->whole, m->P - 1, centre);
  for (PetscInt d = 0; d < m->dim; ++d) v[3 + d] = mean[d] - centre[d];
  if (m->family == HOPS_L2) return 0.0;
  HopsArraysVector(m, e, m->key[(size_t)c * m->ne + i] < 0 ? -1.0 : 1.0, X, v);
  for (PetscInt d = 0; d < 3; ++d) size += v[d] * v[d];
  return PetscSqrtReal(size);
}

/* Is w what v says, of an entry of this size in a cell of that size? */
HOPS_HOST_DEVICE PetscBool HopsArraysSame(PetscReal tol, const PetscReal v[7], const PetscReal w[7], PetscReal size,
                                          PetscReal cellsize)
{
  PetscBool same = v[6] == w[6] ? PETSC_TRUE : PETSC_FALSE;

  for (PetscInt k = 0; k < 3; ++k)
    if (!(HopsMapAbs(v[k] - w[k]) <= tol * size)) same = PETSC_FALSE;
  for (PetscInt k = 3; k < 6; ++k)
    if (!(HopsMapAbs(v[k] - w[k]) <= tol * cellsize)) same = PETSC_FALSE;
  return same;
}

/* The same of two nodes of H1 */
HOPS_HOST_DEVICE PetscBool HopsArraysSameNode(const HopsArrays *m, PetscInt c, PetscInt i, PetscInt other, PetscInt its)
{
  const HopsArraysEntry *e = m->entry + i, *f = m->entry + its;
  const PetscReal       *x = m->x + (size_t)c * m->dim * m->np + e->node, *y = m->x + (size_t)other * m->dim * m->np + f->node;
  const PetscReal        tol  = HOPS_ARRAYS_SAME * m->size[c];
  PetscBool              same = e->ends == f->ends ? PETSC_TRUE : PETSC_FALSE;

  for (PetscInt d = 0; d < m->dim; ++d)
    if (!(HopsMapAbs(x[d * m->np] - y[d * m->np]) <= tol)) same = PETSC_FALSE;
  return same;
}

/*
  Does entry i of cell c say what the first entry with its unknown says? An unknown inside a cell is that
  cell's, one inside a facet that of two at most. A cell of H1 that has one twice is left to the process.
*/
HOPS_HOST_DEVICE PetscBool HopsArraysEntryAgrees(const HopsArrays *m, PetscInt c, PetscInt i)
{
  const int e = (int)(c * m->ne + i), k = HopsArraysUnsigned(m->key[e]), first = m->touch[k];
  PetscInt  other;
  PetscReal v[7], w[7], size;

  if (first == e) return PETSC_TRUE;
  if (m->entry[i].ends <= 1 && m->count[k] > 1 + m->entry[i].ends) return PETSC_FALSE;
  other = first / m->ne;
  if (m->family == HOPS_H1) return other == c ? PETSC_FALSE : HopsArraysSameNode(m, c, i, other, first - other * m->ne);
  size = HopsArraysDescribe(m, c, i, v);
  (void)HopsArraysDescribe(m, other, first - other * m->ne, w);
  return HopsArraysSame(HOPS_ARRAYS_TOL, v, w, size, m->size[c]);
}

/* ----------------------------------- edges and faces of H1 ----------------------------------- */

/* The sum of these numbers, halved, over edge or face t of cell c */
HOPS_HOST_DEVICE PetscInt64 HopsArraysSumPart(const HopsArrays *m, PetscInt c, PetscInt t)
{
  const HopsArraysPart *p   = m->part + t;
  const int            *own = m->key + (size_t)c * m->ne + p->start;
  uint64_t              sum = 0;

  for (PetscInt j = 0; j < p->n; ++j)
    for (PetscInt i = 0; i < m->P; ++i) sum += HopsArraysMix(HopsArraysGlobal(m, own[i * p->step[0] + j * p->step[1]]));
  return (PetscInt64)(sum >> 1); /* not negative: the largest is taken, and 0 is none */
}

/* Do all cells that have an unknown inside of edge or face t of cell c have all of it? As the first of them
   says, which one edge or face of one cell must be for all unknowns inside */
HOPS_HOST_DEVICE PetscBool HopsArraysPartAgrees(const HopsArrays *m, PetscInt c, PetscInt t)
{
  const HopsArraysPart *p   = m->part + t;
  const int            *own = m->key + (size_t)c * m->ne;
  const PetscInt        lo  = p->n > 1 ? 1 : 0;
  PetscInt              other, its;
  int                   e;

  if (m->P < 3) return PETSC_TRUE;
  e     = m->touch[own[p->start + p->step[0] + lo * p->step[1]]];
  other = e / m->ne;
  its   = m->entry[e - other * m->ne].part;
  if (its < 0 || m->part[its].n != p->n) return PETSC_FALSE;
  for (PetscInt j = lo; j < p->n - lo; ++j)
    for (PetscInt i = 1; i < m->P - 1; ++i) {
      const PetscInt at = p->start + i * p->step[0] + j * p->step[1], first = m->touch[own[at]] - other * m->ne;

      if (other == c ? first != at : (first < 0 || first >= m->ne || m->entry[first].part != its)) return PETSC_FALSE;
    }
  return other == c || HopsArraysSumPart(m, c, t) == HopsArraysSumPart(m, other, its) ? PETSC_TRUE : PETSC_FALSE;
}

/* With this, and what edges and faces say, no cell has a node twice */
HOPS_HOST_DEVICE PetscBool HopsArraysCornersDiffer(const HopsArrays *m, PetscInt c)
{
  const int *own = m->key + (size_t)c * m->ne;
  int        k[8];

  for (PetscInt v = 0; v < (1 << m->dim); ++v) {
    k[v] = own[(m->P - 1) * ((v & 1) + m->P * ((v >> 1 & 1) + m->P * (v >> 2 & 1)))];
    for (PetscInt w = 0; w < v; ++w)
      if (k[v] == k[w]) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* ------------------------------------------ other ranks ------------------------------------------ */

HOPS_HOST_DEVICE void HopsArraysGetValue(const HopsArrays *m, int k, HopsArraysValue *value)
{
  const int      e = m->touch[k];
  const PetscInt c = e / m->ne, i = e - c * m->ne;

  value->count = m->count[k];
  value->part  = 0;
  if (!value->count) return;
  value->size     = HopsArraysDescribe(m, c, i, value->v);
  value->cellsize = m->size[c];
  if (m->family == HOPS_H1 && m->P > 2 && m->entry[i].part >= 0) value->part = HopsArraysSumPart(m, c, m->entry[i].part);
}

/* ----------------------------------------- companions ----------------------------------------- */

/* Two spaces on the same cells, that of cell c of one being cell[c] of the other */
typedef struct {
  PetscInt         dim, ncells, G[2]; /* nodes of maps in a direction */
  const int       *cell;              /* [ncells] */
  const PetscReal *X[2];
  /* A derivative from the second one to the first: rows of incidence for those entries of a cell that others
     may share, list[n], as HopsIncidence has them */
  PetscInt         n, ne[2], rstart;
  int              nT[2];
  const int       *restr[2], *list, *ncol, *col;
  const PetscReal *sgn;
  PetscReal       *y; /* [nT[0]] */
} HopsArraysPair;

/* Corners of cells, roughly */
HOPS_HOST_DEVICE PetscBool HopsArraysSameCorners(const HopsArraysPair *p, PetscInt c)
{
  PetscReal size = 0.0, diff = 0.0;
  PetscBool good = PETSC_TRUE;

  for (PetscInt d = 0; d < p->dim; ++d) {
    const PetscReal *X[2];
    PetscReal        x[2][8];

    for (PetscInt k = 0; k < 2; ++k) {
      const size_t np = p->dim == 3 ? p->G[k] * p->G[k] * p->G[k] : p->G[k] * p->G[k];

      X[k] = p->X[k] + ((size_t)(k ? p->cell[c] : c) * p->dim + d) * np;
      HopsCellCorners((int)p->dim, (int)p->G[k], X[k], x[k]);
    }
    for (PetscInt k = 0; k < (1 << p->dim); ++k) {
      const PetscReal s = HopsMapAbs(x[0][k] - x[0][0]), f = HopsMapAbs(x[0][k] - x[1][k]);

      size = s > size ? s : size;
      diff = f > diff ? f : diff;
      if (!(f >= 0.0)) good = PETSC_FALSE;
    }
  }
  return good && diff <= 1e-5 * size ? PETSC_TRUE : PETSC_FALSE;
}

/* The derivative of a vector of numbers without pattern at entry i of cell c, whose unknown is *l.
   Constrained unknowns, which the derivative has not, are zero */
HOPS_HOST_DEVICE PetscReal HopsArraysBoundary(const HopsArraysPair *p, PetscInt c, PetscInt i, int *l)
{
  const int  at   = p->restr[0][(size_t)c * p->ne[0] + i];
  const int *from = p->restr[1] + (size_t)p->cell[c] * p->ne[1];
  PetscReal  sum  = 0.0;

  *l = HopsArraysUnsigned(at);
  for (int k = 0; k < p->ncol[i]; ++k) {
    const int s = from[p->col[6 * i + k]], u = HopsArraysUnsigned(s);

    if (u < p->nT[1]) sum += (s < 0 ? -1.0 : 1.0) * p->sgn[6 * i + k] * HopsArraysHash(p->rstart + u);
  }
  return at < 0 ? -sum : sum;
}

/*
  mark[nL]: unknowns of a companion in the closure of a space's essential ones, restr[1] and restr[0] of a
  pair. Entry i of the space is the product over the directions of a lattice point or an interval between
  two; the companion's entries in it have, in each direction, that point or one of both.
*/
typedef struct {
  HopsLayout     l[2];
  PetscInt       dim, nfree; /* unknowns of the space from nfree on are essential */
  unsigned char *mark;
} HopsArraysClosure;

/* What entry i of cell c marks. What the cell lists of its parent, on[], of the space and then of the
   companion, is in the closure of the parent's alone; NULL: nothing hangs */
HOPS_HOST_DEVICE void HopsArraysMarkClosure(const HopsArraysPair *p, const HopsArraysClosure *q, PetscInt c, PetscInt i,
                                            const PetscBool on[])
{
  const HopsLayout *l = &q->l[0], *m = &q->l[1];
  const int        *other = p->restr[1] + (size_t)p->cell[c] * p->ne[1];
  PetscInt          b     = 0, ii, at[3];

  if (HopsArraysUnsigned(p->restr[0][(size_t)c * p->ne[0] + i]) < q->nfree) return;
  while (i >= l->off[b + 1]) ++b;
  ii    = i - l->off[b];
  at[0] = ii % l->n[b][0];
  at[1] = ii / l->n[b][0] % l->n[b][1];
  at[2] = ii / (l->n[b][0] * l->n[b][1]);
  for (PetscInt a = 0; a < m->nc; ++a)
    for (PetscInt v = 0; v < (1 << q->dim); ++v) {
      PetscInt  ijk[3] = {0, 0, 0}, j;
      PetscBool in     = PETSC_TRUE;

      for (PetscInt d = 0; d < q->dim; ++d) {
        const PetscInt up = (v >> d) & 1;

        ijk[d] = at[d] + up;
        if (up && (!l->open[b][d] || m->open[a][d])) in = PETSC_FALSE; /* nothing beyond a point; an interval is itself */
        if (m->open[a][d] && !l->open[b][d]) in = PETSC_FALSE;
      }
      if (!in) continue;
      j = m->off[a] + ijk[0] + m->n[a][0] * (ijk[1] + m->n[a][1] * ijk[2]);
      if (!on || on[i] || !on[l->ne + j]) q->mark[HopsArraysUnsigned(other[j])] = 1;
    }
}

/* ------------------------------------- what a back end has ------------------------------------- */

struct _HopsArraysOps {
  /* key[], with HOPS_FOREIGN; unknowns[ncells][ne]. bad: the least place of an unknown without a number, or
     -1; *nforeign: places of others' unknowns */
  PetscErrorCode (*Keys)(const HopsArrays *, const PetscInt unknowns[], PetscInt *bad, PetscInt *nforeign);
  /* list[nforeign], the process's: the unknowns at these places, in any order */
  PetscErrorCode (*ListForeign)(const HopsArrays *, const PetscInt unknowns[], PetscInt nforeign, PetscInt list[]);
  /* key[] where it is HOPS_FOREIGN */
  PetscErrorCode (*KeysForeign)(const HopsArrays *, const PetscInt unknowns[]);
  /* X[ncells][dim][np] from coords[ncells][np][dim]; bad: the least cell with a coordinate that is not
     finite */
  PetscErrorCode (*Nodes)(PetscInt ncells, PetscInt dim, PetscInt np, const PetscReal coords[], PetscReal X[], PetscInt *bad);
  /* touch[] and count[]; *nuntouched: owned unknowns that no cell has */
  PetscErrorCode (*Touch)(const HopsArrays *, PetscInt *nuntouched);
  /* of maps X[ncells][dim][P^dim]: n[0] that may not be right-handed, n[1] with equispaced nodes; D[P][P],
     the process's */
  PetscErrorCode (*Maps)(PetscInt ncells, PetscInt dim, PetscInt P, const PetscReal D[], const PetscReal X[], PetscInt n[2]);
  /* x[] and size[] of maps of G nodes in a direction; x may be NULL. B[P][G] is the process's */
  PetscErrorCode (*Lattices)(const HopsArrays *, PetscInt G, const PetscReal B[], const PetscReal X[], PetscReal x[],
                             PetscReal size[]);
  /* do all entries, edges and faces agree? */
  PetscErrorCode (*Agree)(const HopsArrays *, PetscBool *good);
  /* of the keys list[n]; both are the process's */
  PetscErrorCode (*Values)(const HopsArrays *, PetscInt n, const int list[], HopsArraysValue value[]);
  /* y[i] = x[list[i]]; list[n] and y[n] are the process's */
  PetscErrorCode (*ReadInts)(PetscInt n, const int list[], const int x[], int y[]);
  /* number[]: L-vector indices of keys: foreign[nF], the process's, of other ranks' unknowns; those of
     list[n], the process's, are constrained: from nTG on as cells meet them, else -1. *nC: how many of
     these cells have */
  PetscErrorCode (*Number)(const HopsArrays *, PetscInt n, const int list[], const int foreign[], int nTG, int number[],
                           PetscInt *nC);
  /* perm[ncells], the process's: cells that have unknowns of the T-vector alone come first */
  PetscErrorCode (*Order)(const HopsArrays *, const int number[], int perm[], PetscInt *ninterior);
  /* restr[ncells][ne] and, unless it is NULL, Y[ncells][nx] = X[perm[]][nx] in this order of cells */
  PetscErrorCode (*Restrict)(const HopsArrays *, const int number[], const int perm[], int restr[], PetscInt nx,
                             const PetscReal X[], PetscReal Y[]);
  /* have both spaces the same cells? All but restr[] and X[] are the process's here and in the next one */
  PetscErrorCode (*SameCells)(const HopsArraysPair *, PetscBool *good);
  /* one rank: do all cells that have an unknown find the same boundary of it? */
  PetscErrorCode (*SameBoundaries)(const HopsArraysPair *, PetscBool *good);
  /* mark[n], of which the closure has a place, becomes the process's; nothing hangs */
  PetscErrorCode (*Close)(const HopsArraysPair *, const HopsArraysClosure *, PetscInt n, unsigned char mark[]);
};

EXTERN_C_BEGIN
PETSC_INTERN const HopsArraysOps HopsArraysHost; /* on the process's memory */
EXTERN_C_END

/* A space from arrays while it is set up. What m points to, and X[], are where `at` works */
typedef struct {
  HopsSpace             sp;
  const HopsBackendOps *at;
  PetscBool             process; /* that is the process: restr[] and X[] become the space's own */
  HopsArrays            m;
  PetscReal            *X;
  HopsArraysEntry      *entry; /* the process's m.entry[], and m.foreign[] */
  PetscInt             *foreign, nuntouched;
  PetscSF               sf; /* leaves: foreign[]; roots: owned unknowns */
} HopsArraysWork;

/* src/space/arrays/arraykeys.c. Keys and nodes; what is wrong with them is in why[] */
PETSC_INTERN PetscErrorCode HopsArraysWorkCreate(HopsSpace, const HopsBackendOps *at, const PetscInt unknowns[],
                                                 const PetscReal coords[], HopsArraysWork *, char why[]);
PETSC_INTERN PetscErrorCode HopsArraysWorkDestroy(HopsArraysWork *);
/* keys of other ranks' unknowns, and touch[]; collective */
PETSC_INTERN PetscErrorCode HopsArraysFinishKeys(HopsArraysWork *, const PetscInt unknowns[]);
/* the same of a space that is to have the unknowns of another one, without essential ones, and its cells, in
   the caller's order; collective */
PETSC_INTERN PetscErrorCode HopsArraysWorkCreateOn(HopsSpace, HopsSpace other, const HopsBackendOps *at, HopsArraysWork *);
/* src/space/arrays/spacearrays.c: essential unknowns, checks and numbers; collective */
PETSC_INTERN PetscErrorCode HopsArraysFinish(HopsArraysWork *, PetscInt ness, const PetscInt ess[], PetscBool check);
/* leaves: all keys that cells have, as places in the lists that other functions get; roots: owned unknowns */
PETSC_INTERN PetscErrorCode HopsArraysKeySF(HopsArraysWork *, const PetscInt gidx[], PetscSF *);
/* src/space/arrays/arrayagree.c: entry[], x[] and size[] of m, from HopsArraysDescribing() to
   HopsArraysDescribed(). Do cells agree on what they share, on all ranks? The latter is collective */
PETSC_INTERN PetscErrorCode HopsArraysDescribing(HopsArraysWork *);
PETSC_INTERN PetscErrorCode HopsArraysDescribed(HopsArraysWork *);
PETSC_INTERN PetscErrorCode HopsArraysAgree(HopsArraysWork *, PetscBool *good);
/* src/space/arrays/spacearraycheck.c, by the process, whose memory all of a space is in. Is anything
   wrong? Says what, on all ranks; gidx[] are the global indices of keys. Collective */
PETSC_INTERN PetscErrorCode HopsArraysCheck(HopsArraysWork *, const PetscInt gidx[]);
/* src/space/arrays/hangingcheck.c: the same of a space with masks, whose absent[] it makes, as keys;
   without check nothing else */
PETSC_INTERN PetscErrorCode HopsArraysCheckHanging(HopsArraysWork *, const PetscInt gidx[], PetscBool check);
/* What HopsArraysCheck() has besides. Lattices that are left-handed, out of order or equispaced; the lattice
   x[dim][P^dim] of a cell; is an unknown of a cell given more often than there may be cells? */
PETSC_INTERN PetscErrorCode HopsArraysCheckMaps(HopsSpace, char why[], PetscBool *left);
PETSC_INTERN PetscErrorCode HopsArraysLattice(HopsSpace, const HopsBasis *geom, PetscInt c, PetscReal x[]);
PETSC_INTERN PetscErrorCode HopsArraysCheckCounts(HopsSpace, PetscInt nkeys, const PetscInt gidx[], PetscInt count[],
                                                  const PetscInt cell[], const PetscReal ends[], PetscInt stride, PetscSF keys,
                                                  char why[]);
/* src/space/arrays/arraysapart.c: checks and numbers by a back end with memory of its own, where the space
   is then; mark[]: keys of essential unknowns */
PETSC_INTERN PetscErrorCode HopsArraysNumber_Apart(HopsArraysWork *, const unsigned char mark[], PetscBool check);

/* Has the back end passes in memory of its own? Else the process's serve */
static inline PetscBool HopsArraysAreApart(const HopsBackendOps *be)
{
  return be->arrays && !be->host ? PETSC_TRUE : PETSC_FALSE;
}
