/*
  Spaces on a mesh: what is done for one cell or one point when a space is set up, and the passes over all of
  them that a back end has. The host calls the functions here cell after cell, a back end in any order: the
  result is the same.
*/
#pragma once
#include <hops/private/hopsbackendimpl.h>
#include <hops/private/hopsmapkind.h>

/* ----------------------------------------- closures ----------------------------------------- */

/* How a cell sees the closures of its faces and edges */
typedef struct {
  PetscInt slot[8][4];    /* HopsQuadEdge() by orientation + 4 */
  PetscInt edge[6][4];    /* 3D: the entry of edge k of face 1 + i, as the cell sees the face */
  PetscInt vertex[12][2]; /* the entries of the ends of edge i, as the cell sees it */
} HopsClosureTables;

/* The cones of the points [start,end) of one depth, `size` points each, in the mesh's arrays */
typedef struct {
  PetscInt  start, end, size;
  PetscInt  base; /* where the first begins, the others following without gaps; else */
  PetscInt *off;  /* [end-start] where each begins, or -1 where it has another size */
  PetscInt  stop; /* behind the last entry */
} HopsCones;

/* What closures are made from; the process's memory */
typedef struct {
  PetscInt          dim;
  HopsCones         cones[4];      /* by depth, from 1 on */
  const PetscInt   *cone, *ornt;   /* DMPlexGetCones(), DMPlexGetConeOrientations() */
  PetscInt          ncells, first; /* the cells are first, first + 1, ..., or */
  const PetscInt   *cell;          /* [ncells] where it is not NULL */
  HopsClosureTables tables;
} HopsMeshCones;

/* points in the closure of a cell */
HOPS_HOST_DEVICE PetscInt HopsClosureSize(PetscInt dim)
{
  return dim == 3 ? 27 : 9;
}

/* -1 also where p is no point of this depth */
HOPS_HOST_DEVICE PetscInt HopsConesOffset(const HopsCones *c, PetscInt p)
{
  if (p < c->start || p >= c->end) return -1;
  return c->off ? c->off[p - c->start] : c->base + (p - c->start) * c->size;
}

/*
  Points and orientations of the closure of cell c, the edges as the faces on which they are met first see
  them. False where the faces do not agree on their edges, or these on their vertices, or where a cell has a
  vertex twice.
*/
HOPS_HOST_DEVICE PetscBool HopsCellClosure(const PetscInt dim, const HopsMeshCones *m, PetscInt c, PetscInt *PETSC_RESTRICT P,
                                           signed char *PETSC_RESTRICT O)
{
  const PetscInt  n = HopsClosureSize(dim), nf = 2 * dim, e0 = dim == 3 ? 7 : 1, v0 = dim == 3 ? 19 : 5;
  const PetscInt *cone = m->cone, *ornt = m->ornt;
  PetscInt        differ = 0, off;

  P[0] = m->cell ? m->cell[c] : m->first + c;
  O[0] = 0;
  off  = HopsConesOffset(&m->cones[dim], P[0]);
  if (off < 0) return PETSC_FALSE;
  for (PetscInt f = 1; f <= nf; ++f, ++off) {
    if (ornt[off] < -4 || ornt[off] > 3) return PETSC_FALSE;
    P[f] = cone[off];
    O[f] = (signed char)ornt[off];
  }
  for (PetscInt i = nf + 1; i < n; ++i) P[i] = -1;
  for (PetscInt i = v0; i < n; ++i) O[i] = 0;
  for (PetscInt f = 1; f <= nf && dim == 3; ++f) {
    const PetscInt *slot = m->tables.slot[O[f] + 4], *edge = m->tables.edge[f - 1], back = O[f] < 0 ? -1 : 0;

    off = HopsConesOffset(&m->cones[2], P[f]);
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
    const PetscInt *vertex = m->tables.vertex[e - e0], back = O[e] < 0 ? 1 : 0;

    off = HopsConesOffset(&m->cones[1], P[e]);
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

/* ------------------------------------------ numbers ------------------------------------------ */

/*
  Points are numbered in the order in which the closures of the cells first reach them, then those that no
  cell reaches. A point that this rank owns gets T-vector indices, an essential one constrained entries.
*/
typedef struct {
  PetscInt           dim, ncells, np, pStart;  /* points pStart, ..., pStart + np - 1 */
  PetscInt           nlist, list[27];          /* entries of a closure with unknowns */
  PetscInt           dof[4], start[4], end[4]; /* unknowns on a point of depth d; these points are [start,end) */
  const PetscInt    *point;                    /* [ncells][HopsClosureSize()], with `ornt` */
  const signed char *ornt;
  const int         *given; /* [np] T-vector index of the first unknown of a point that this rank owns; NULL: as they are reached */
  unsigned char     *kind;  /* [np] bits */
  int               *touch; /* [np] least place in point[] where it is, or HOPS_UNTOUCHED */
  /* [np] L-vector index of its first unknown; -1-i of the constrained entry i; HOPS_REACHED where another
     rank numbers it and a cell has it; else HOPS_NO_NUMBER */
  int *first;
} HopsNumbering;

/* bits */
#define HOPS_POINT_ESSENTIAL 1
#define HOPS_POINT_FOREIGN   2 /* another rank's, or identified with another point */
/* bytes of one value */
#define HOPS_UNTOUCHED 0x7f7f7f7f
#define HOPS_NO_NUMBER ((int)0x80808080)
#define HOPS_REACHED   (HOPS_NO_NUMBER + 1)

/* How a cell sees the unknowns of its points. Entry i of its E-vector is unknown t of list[k] with
   orientation o: slot[i] = k, seen[(o+4)*ne + i] = t, or -1-t where the sign is the opposite one */
typedef struct {
  PetscInt   ne;
  const int *slot; /* [ne] */
  const int *seen; /* [8][ne] */
} HopsCellView;

HOPS_HOST_DEVICE PetscInt HopsMeshDepth(PetscInt dim, PetscInt i)
{
  const PetscInt e0 = dim == 3 ? 7 : 1, v0 = dim == 3 ? 19 : 5;

  return !i ? dim : (i < e0 ? 2 : (i < v0 ? 1 : 0));
}

/* where point[] has entry list[k] of the cell */
HOPS_HOST_DEVICE int HopsTouchPlace(const HopsNumbering *b, PetscInt c, PetscInt k)
{
  return (int)(c * HopsClosureSize(b->dim) + b->list[k]);
}

/* of the process, one cell after the other */
static inline void HopsTouchCell(const HopsNumbering *b, PetscInt c)
{
  for (PetscInt k = 0; k < b->nlist; ++k) {
    const int at = HopsTouchPlace(b, c, k);
    int      *t  = b->touch + b->point[at] - b->pStart;

    if (at < *t) *t = at;
  }
}

/* Unknowns in T- (n[0]) and among constrained entries (n[1]) of the points that this cell is the first to
   reach. With `place` they are numbered, from n[] on */
HOPS_HOST_DEVICE void HopsReachCell(const HopsNumbering *b, PetscInt c, PetscBool place, int n[2])
{
  for (PetscInt k = 0; k < b->nlist; ++k) {
    const int      at  = (int)(c * HopsClosureSize(b->dim) + b->list[k]);
    const PetscInt p   = b->point[at] - b->pStart;
    const int      dof = (int)b->dof[HopsMeshDepth(b->dim, b->list[k])];

    if (b->touch[p] != at) continue;
    if (b->kind[p] & HOPS_POINT_ESSENTIAL) {
      if (place) b->first[p] = -1 - n[1];
      n[1] += dof;
    } else if (b->kind[p] & HOPS_POINT_FOREIGN) {
      if (place) b->first[p] = HOPS_REACHED;
    } else {
      if (place) b->first[p] = b->given ? b->given[p] : n[0];
      n[0] += dof;
    }
  }
}

/* unknowns in the T-vector of point p, as p - pStart, that no cell has and that are to be numbered */
HOPS_HOST_DEVICE int HopsCountUntouched(const HopsNumbering *b, PetscInt p)
{
  PetscInt d = b->dim;

  if (b->given || b->touch[p] != HOPS_UNTOUCHED || b->kind[p]) return 0;
  while (d > 0 && (p + b->pStart < b->start[d] || p + b->pStart >= b->end[d])) --d;
  return (int)b->dof[d];
}

/* has the cell unknowns of the T-vector alone? */
HOPS_HOST_DEVICE int HopsIsInnerCell(const HopsNumbering *b, int nT, PetscInt c)
{
  const PetscInt *point = b->point + c * HopsClosureSize(b->dim);

  for (PetscInt k = 0; k < b->nlist; ++k) {
    const int l = b->first[point[b->list[k]] - b->pStart];

    if (l < 0 || l >= nT) return 0;
  }
  return 1;
}

/* L-vector index of the first unknown of list[k] in cell c; nTG: owned entries and ghosts */
HOPS_HOST_DEVICE int HopsCellFirst(const HopsNumbering *b, int nTG, PetscInt c, PetscInt k)
{
  const int l = b->first[b->point[c * HopsClosureSize(b->dim) + b->list[k]] - b->pStart];

  return l < 0 ? nTG - 1 - l : l;
}

/* entry of the element restriction where the cell sees t */
HOPS_HOST_DEVICE int HopsCellEntry(int first, int t)
{
  const int flip = t < 0 ? -1 : 0; /* x ^ -1 is -1-x */

  return (first + (t ^ flip)) ^ flip;
}

/* ------------------------------------------- lists ------------------------------------------- */

/* Of entries 0, 1, ... without n gaps, gap[] ascending: list[] has those that are left, inverse[] their
   places there, or -1. This is what entry i adds to both */
HOPS_HOST_DEVICE void HopsComplementEntry(PetscInt n, const PetscInt gap[], PetscInt i, PetscInt list[], PetscInt inverse[])
{
  PetscInt lo = 0, hi = n; /* gaps before i */

  while (lo < hi) {
    const PetscInt mid = (lo + hi) / 2;

    if (gap[mid] < i) lo = mid + 1;
    else hi = mid;
  }
  if (lo < n && gap[lo] == i) inverse[i] = -1;
  else {
    inverse[i]   = i - lo;
    list[i - lo] = i;
  }
}

/* ------------------------------------------ coordinates ------------------------------------------ */

/*
  Multilinear maps: X[c][place[k*dim + d]] = x[base + (v - vStart)*dim + d], v vertex k of the closure of
  cell[c]. Of cells that have their own coordinates, as those of a periodic mesh: X[c][placeown[i]] =
  xown[own[c] + i]. Where x is NULL the other cells' maps stay as they are.
*/
typedef struct {
  PetscInt         dim, n; /* n coordinates of a cell */
  PetscInt         place[24];
  PetscInt         vStart, base, nown; /* nown: entries of xown */
  const PetscReal *x, *xown;
  const int       *own; /* [cells], -1 where a cell has none; NULL: none has */
  const PetscInt  *placeown;
} HopsCorners;

/* coordinate i of cell c, whose closure is that of `cell` */
HOPS_HOST_DEVICE void HopsCellCorner(const HopsCorners *m, const PetscInt point[], PetscInt c, PetscInt cell, PetscInt i,
                                     PetscReal X[])
{
  const size_t to = (size_t)c * m->n;

  if (m->own && m->own[c] >= 0) X[to + m->placeown[i]] = m->xown[m->own[c] + i];
  else if (m->x) {
    const PetscInt *p = point + (size_t)cell * HopsClosureSize(m->dim);
    const PetscInt  v = p[HopsClosureSize(m->dim) - (1 << m->dim) + i / m->dim];

    X[to + m->place[i]] = m->x[m->base + (v - m->vStart) * m->dim + i % m->dim];
  }
}

/* ------------------------------------ maps of coarse cells ------------------------------------ */

/*
  Maps of cells from those of their children, of P nodes in a direction. l[P][2][P]: values of the 1D
  functions at a node of the coarse map, in the child in whose half[P] it lies, and mirrored. end[2][2][P]: at
  the middle, as either half sees it.
*/
typedef struct {
  PetscInt             dim, P, nhalf, ncoarse, nfine; /* nhalf: children in a direction */
  const PetscInt      *child;                         /* [ncoarse][nhalf^dim] */
  const unsigned char *axis;                          /* [nfine][dim] as HopsNested has them */
  const PetscReal     *l, *end;
  const int           *half;
} HopsChildMaps;

/* The map of child f at a point of its parent: in the parent's direction d, l[d] = values and mirrored values
   of the 1D functions */
HOPS_HOST_DEVICE void HopsChildMap(const HopsChildMaps *m, const PetscReal fine[], PetscInt f, const PetscReal *const l[3],
                                   PetscReal x[3])
{
  const PetscInt   dim = m->dim, P = m->P, np = dim == 3 ? P * P * P : P * P;
  const PetscReal *b[3] = {l[0], l[0], l[0]};

  for (PetscInt d = 0; d < dim; ++d) {
    const PetscInt a = m->axis[f * dim + d];

    b[a & 3] = l[d] + (a & 4 ? P : 0);
  }
  for (PetscInt d = 0; d < dim; ++d) {
    const PetscReal *X = fine + ((size_t)f * dim + d) * np;

    x[d] = 0.0;
    for (PetscInt i = 0; i < np; ++i) x[d] += X[i] * b[0][i % P] * b[1][(i / P) % P] * (dim == 3 ? b[2][i / (P * P)] : 1.0);
  }
}

/* The middle of coarse cell c as its child k sees it */
HOPS_HOST_DEVICE void HopsChildMiddle(const HopsChildMaps *m, const PetscReal fine[], PetscInt c, PetscInt k, PetscReal x[3])
{
  const PetscInt   nchild = m->nhalf == 2 ? 1 << m->dim : 1;
  const PetscReal *at[3];

  for (PetscInt d = 0; d < 3; ++d) at[d] = m->end + 2 * m->P * ((k >> d) & 1);
  HopsChildMap(m, fine, m->child[c * nchild + k], at, x);
}

/* Node i of coarse cell c, X[c][dim][P^dim]. Children are brought to meet in the middle: those of a periodic
   mesh may be a period apart */
HOPS_HOST_DEVICE void HopsCoarseNode(const HopsChildMaps *m, const PetscReal fine[], PetscInt c, PetscInt i, PetscReal X[])
{
  const PetscInt   dim = m->dim, P = m->P, np = dim == 3 ? P * P * P : P * P, nchild = m->nhalf == 2 ? 1 << dim : 1;
  const PetscInt   ijk[3] = {i % P, (i / P) % P, i / (P * P)};
  const PetscReal *at[3]  = {m->l, m->l, m->l};
  PetscReal        x[3], middle[3], own[3];
  PetscInt         k = 0;

  for (PetscInt d = 0; d < dim; ++d) {
    at[d] = m->l + 2 * P * ijk[d];
    k |= m->half[ijk[d]] << d;
  }
  HopsChildMap(m, fine, m->child[c * nchild + k], at, x);
  HopsChildMiddle(m, fine, c, 0, middle);
  HopsChildMiddle(m, fine, c, k, own);
  for (PetscInt d = 0; d < dim; ++d) X[((size_t)c * dim + d) * np + i] = x[d] + (middle[d] - own[d]);
}

/* ------------------------------------- what a back end has ------------------------------------- */

struct _HopsMeshOps {
  /* point[ncells][n] and ornt[ncells][n], n = HopsClosureSize(); bad: the least cell, from 0 on, that has no
     closure */
  PetscErrorCode (*Closures)(const HopsMeshCones *, PetscInt point[], signed char ornt[], PetscInt *bad);
  /* touch[], first[] and kind[] of a numbering; the points of the lists, the process's, are essential and
     foreign. nT unknowns in the T-vector, nC constrained ones */
  PetscErrorCode (*Number)(const HopsNumbering *, PetscInt ness, const PetscInt ess[], PetscInt nforeign, const PetscInt foreign[],
                           int *nT, int *nC);
  /* the new order of the cells: perm[ncells], the process's, has their old places */
  PetscErrorCode (*Order)(const HopsNumbering *, int nT, int perm[], PetscInt *ninterior);
  /* restr[n][ne] of the cells perm[n], NULL: of all in their own order; rows are zero where perm[] is
     negative. View and perm[] are the process's */
  PetscErrorCode (*Restrict)(const HopsNumbering *, const HopsCellView *, int nTG, PetscInt n, const int perm[], int restr[]);
  /* entry[n]: where key[n] is 0, where it is 1, ..., nkeys - 1, each list ascending and from start[key] on;
     start[nkeys + 1] */
  PetscErrorCode (*Transpose)(size_t n, const int key[], int nkeys, int start[], int entry[]);
  /* list[size - n] and inverse[size] by HopsComplementEntry(); gap[n] is the process's */
  PetscErrorCode (*Complement)(PetscInt size, PetscInt n, const PetscInt gap[], PetscInt list[], PetscInt inverse[]);
  /* X[ncells][n]; perm[] and x[nx] are the process's */
  PetscErrorCode (*Corners)(const HopsCorners *, PetscInt nx, PetscInt ncells, const PetscInt point[], const int perm[],
                            PetscReal X[]);
  /* X[ncoarse][dim][P^dim] from fine[nfine][dim][P^dim], both the back end's; all else is the process's */
  PetscErrorCode (*Coarsen)(const HopsChildMaps *, const PetscReal fine[], PetscReal X[]);
};

EXTERN_C_BEGIN
PETSC_INTERN const HopsMeshOps HopsMeshHost; /* on the process's memory */
EXTERN_C_END

/* Has the back end passes in memory of its own? Else the host's serve */
static inline PetscBool HopsMeshApart(const HopsBackendOps *be)
{
  return be && be->mesh && !be->host ? PETSC_TRUE : PETSC_FALSE;
}
