/*
  Adaptive meshes as arrays, which a code has from p4est or the like: squares or cubes of a grid of roots,
  refined here and there until neighbours across facets, edges and vertices differ by one level. Every rank
  makes the whole mesh, and takes its part of the cells. octreeadapt.h makes the next mesh from one.
*/
#pragma once
#include <hops.h>
#include <petscdt.h>

#define HANG_LEVELS 24 /* 14 in 3D */

typedef struct {
  PetscInt level, a[3]; /* cell a of the 2^level times finer grid */
  PetscInt perm[3];     /* its direction d is direction perm[d] of the domain, */
  PetscInt flip[3];     /* backwards */
} HangCell;

/* A place of the octree: 0 part of a coarser cell, 1 a cell, 2 refined */
typedef struct {
  PetscInt64 index;
  PetscInt   level, state, cell; /* cell: its number in the list */
} HangNode;

typedef struct {
  PetscInt  dim, M[3], finest; /* roots per direction */
  PetscBool corner;            /* the last root is missing */
  PetscInt  nentries, size;    /* of a table with `size` places, twice as many as there is room for entries */
  PetscInt *table;
  HangNode *entry;
  PetscInt  n;
  HangCell *cell;
  unsigned  seed;
} HangMesh;

static inline PetscReal HangRandom(HangMesh *m)
{
  m->seed = m->seed * 1103515245u + 12345u;
  return (PetscReal)(m->seed >> 8 & 0xffff) / 65536.0;
}

/* where a cell is among those of its level, or -1 outside */
static inline PetscInt64 HangIndex(const HangMesh *m, PetscInt level, const PetscInt a[])
{
  PetscInt64 k    = 0;
  PetscBool  last = PETSC_TRUE;

  for (PetscInt d = m->dim - 1; d >= 0; --d) {
    if (a[d] < 0 || a[d] >= m->M[d] << level) return -1;
    if (a[d] >> level != m->M[d] - 1) last = PETSC_FALSE;
    k = k * (m->M[d] << level) + a[d];
  }
  return m->corner && last ? -1 : k;
}

/* where the entry of a place is in the table, or would be */
static inline PetscInt HangSlot(const HangMesh *m, PetscInt level, PetscInt64 index)
{
  uint64_t h = ((uint64_t)index * 32 + (uint64_t)level) * 0x9e3779b97f4a7c15u;
  PetscInt at;

  for (at = (PetscInt)((h ^ h >> 29) & (uint64_t)(m->size - 1)); m->table[at] >= 0; at = (at + 1) & (m->size - 1))
    if (m->entry[m->table[at]].index == index && m->entry[m->table[at]].level == level) break;
  return at;
}

static inline HangNode *HangFind(const HangMesh *m, PetscInt level, PetscInt64 index)
{
  const PetscInt at = HangSlot(m, level, index);

  return m->table[at] < 0 ? NULL : m->entry + m->table[at];
}

static inline char HangState(const HangMesh *m, PetscInt level, const PetscInt a[])
{
  const PetscInt64 k = HangIndex(m, level, a);
  const HangNode  *e = k < 0 ? NULL : HangFind(m, level, k);

  return k < 0 ? -1 : (e ? (char)e->state : 0);
}

static inline PetscErrorCode HangSet(HangMesh *m, PetscInt level, PetscInt64 index, PetscInt state)
{
  PetscInt at = HangSlot(m, level, index);

  PetscFunctionBeginUser;
  if (m->table[at] < 0) {
    m->table[at]            = m->nentries;
    m->entry[m->nentries++] = (HangNode){.index = index, .level = level, .state = state, .cell = -1};
  } else m->entry[m->table[at]].state = state;
  if (2 * m->nentries < m->size) PetscFunctionReturn(0);
  m->size *= 2;
  PetscCall(PetscFree(m->table));
  PetscCall(PetscMalloc1(m->size, &m->table));
  PetscCall(PetscRealloc(m->size / 2 * sizeof(*m->entry), &m->entry));
  for (PetscInt i = 0; i < m->size; ++i) m->table[i] = -1;
  for (PetscInt i = 0; i < m->nentries; ++i) m->table[HangSlot(m, m->entry[i].level, m->entry[i].index)] = i;
  PetscFunctionReturn(0);
}

static inline PetscErrorCode HangRefine(HangMesh *m, PetscInt level, const PetscInt a[])
{
  PetscFunctionBeginUser;
  PetscCheck(level < m->finest, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "No cells are finer than level %" PetscInt_FMT,
             m->finest);
  PetscCall(HangSet(m, level, HangIndex(m, level, a), 2));
  for (PetscInt v = 0; v < (1 << m->dim); ++v) {
    const PetscInt b[3] = {2 * a[0] + (v & 1), 2 * a[1] + (v >> 1 & 1), 2 * a[2] + (v >> 2)};

    PetscCall(HangSet(m, level + 1, HangIndex(m, level + 1, b), 1));
  }
  PetscFunctionReturn(0);
}

static inline void HangUnindex(const HangMesh *m, PetscInt level, PetscInt64 k, PetscInt a[])
{
  a[0] = a[1] = a[2] = 0;
  for (PetscInt d = 0; d < m->dim; ++d) {
    a[d] = (PetscInt)(k % (m->M[d] << level));
    k /= m->M[d] << level;
  }
}

static inline PetscInt HangCount(const HangMesh *m, PetscInt level)
{
  PetscInt n = 1;

  for (PetscInt d = 0; d < m->dim; ++d) n *= m->M[d] << level;
  return n;
}

static inline int HangCompare(const void *x, const void *y)
{
  const PetscInt64 a = ((const PetscInt64 *)x)[0], b = ((const PetscInt64 *)y)[0];

  return a < b ? -1 : a > b;
}

/* index[n] of the cells of a level, ascending */
static inline PetscErrorCode HangLevel(const HangMesh *m, PetscInt level, PetscInt *n, PetscInt64 *index[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(m->nentries, index));
  *n = 0;
  for (PetscInt i = 0; i < m->nentries; ++i)
    if (m->entry[i].level == level && m->entry[i].state == 1) (*index)[(*n)++] = m->entry[i].index;
  qsort(*index, (size_t)*n, sizeof(**index), HangCompare);
  PetscFunctionReturn(0);
}

/* Until neighbours differ by one level */
static inline PetscErrorCode HangBalance(HangMesh *m)
{
  PetscFunctionBeginUser;
  for (PetscBool again = PETSC_TRUE; again;) {
    again = PETSC_FALSE;
    for (PetscInt i = 0; i < m->nentries; ++i) {
      const PetscInt l = m->entry[i].level;
      PetscInt       a[3];

      if (m->entry[i].state != 1 || l < 2) continue;
      HangUnindex(m, l, m->entry[i].index, a);
      for (PetscInt v = 0; v < (m->dim == 3 ? 27 : 9); ++v) {
        const PetscInt b[3] = {a[0] + v % 3 - 1, a[1] + v / 3 % 3 - 1, m->dim == 3 ? a[2] + v / 9 - 1 : 0};
        PetscInt       c[3] = {b[0] >> 1, b[1] >> 1, b[2] >> 1}, g = l - 1;

        if (HangIndex(m, l, b) < 0 || HangState(m, g, c) != 0) continue;
        for (; HangState(m, g, c) == 0; --g)
          for (PetscInt d = 0; d < 3; ++d) c[d] >>= 1;
        PetscCall(HangRefine(m, g, c));
        again = PETSC_TRUE;
      }
    }
  }
  PetscFunctionReturn(0);
}

static inline PetscErrorCode HangHalve(HangMesh *m)
{
  PetscFunctionBeginUser;
  for (PetscInt l = m->finest - 1; l >= 0; --l) {
    PetscInt64 *index;
    PetscInt    n, a[3];

    PetscCall(HangLevel(m, l, &n, &index));
    for (PetscInt k = 0; k < n; ++k) {
      HangUnindex(m, l, index[k], a);
      PetscCall(HangRefine(m, l, a));
    }
    PetscCall(PetscFree(index));
  }
  PetscFunctionReturn(0);
}

/* a space-filling order: by the bits of the anchors, at the finest level */
static inline PetscInt64 HangMorton(const HangMesh *m, const HangCell *c)
{
  PetscInt64 z = 0;

  for (PetscInt b = m->dim == 3 ? 20 : 30; b >= 0; --b)
    for (PetscInt d = m->dim - 1; d >= 0; --d) z = 2 * z + ((c->a[d] << (m->finest - c->level)) >> b & 1);
  return z;
}

static inline PetscErrorCode HangCreate(PetscInt dim, const PetscInt M[], PetscBool corner, PetscInt finest, HangMesh *m)
{
  PetscFunctionBeginUser;
  *m = (HangMesh){.dim = dim, .corner = corner, .finest = finest, .seed = 1, .size = 64};
  for (PetscInt d = 0; d < 3; ++d) m->M[d] = d < dim ? M[d] : 1;
  PetscCall(PetscMalloc1(m->size, &m->table));
  PetscCall(PetscMalloc1(m->size / 2, &m->entry));
  for (PetscInt i = 0; i < m->size; ++i) m->table[i] = -1;
  for (PetscInt k = 0; k < HangCount(m, 0) - (corner ? 1 : 0); ++k) PetscCall(HangSet(m, 0, k, 1));
  PetscFunctionReturn(0);
}

/* The same cells, to be refined on */
static inline PetscErrorCode HangCopy(const HangMesh *from, HangMesh *m)
{
  PetscFunctionBeginUser;
  *m      = *from;
  m->n    = 0;
  m->cell = NULL;
  PetscCall(PetscMalloc1(m->size, &m->table));
  PetscCall(PetscMalloc1(m->size / 2, &m->entry));
  PetscCall(PetscArraycpy(m->table, from->table, m->size));
  PetscCall(PetscArraycpy(m->entry, from->entry, m->nentries));
  PetscFunctionReturn(0);
}

/* which(dim, centre, size) says whether a cell is refined; NULL: at random, but one of each level */
static inline PetscErrorCode HangAdapt(HangMesh *m, PetscInt from, PetscInt to, PetscReal part,
                                       PetscBool (*which)(PetscInt, const PetscReal[], PetscReal))
{
  PetscFunctionBeginUser;
  for (PetscInt l = from; l < to; ++l) {
    const PetscReal h = 1.0 / (1 << l);
    PetscInt64     *index;
    PetscInt        n, a[3];
    PetscReal       x[3];

    PetscCall(HangLevel(m, l, &n, &index));
    for (PetscInt k = 0; k < n; ++k) {
      HangUnindex(m, l, index[k], a);
      for (PetscInt d = 0; d < 3; ++d) x[d] = (a[d] + 0.5) * h;
      if (which ? which(m->dim, x, h) : index[k] == 0 || HangRandom(m) < part) PetscCall(HangRefine(m, l, a));
    }
    PetscCall(PetscFree(index));
  }
  PetscFunctionReturn(0);
}

/* Directions of a cell, of many by a number */
static inline void HangTurn(const HangMesh *m, HangCell *x, PetscInt r)
{
  PetscInt odd = 0, perm[3] = {0, 1, 2};

  if (m->dim == 3) {
    for (PetscInt d = 0; d < 3; ++d) perm[d] = (d + r % 3) % 3;
    if (r / 3 % 2) {
      const PetscInt t = perm[0];

      perm[0] = perm[1];
      perm[1] = t;
      odd     = 1;
    }
  } else if (r / 3 % 2) {
    perm[0] = 1;
    perm[1] = 0;
    odd     = 1;
  }
  for (PetscInt d = 0; d < 3; ++d) x->perm[d] = perm[d];
  for (PetscInt d = 0; d < m->dim; ++d) {
    x->flip[d] = d < m->dim - 1 ? r >> (d + 4) & 1 : odd; /* the last one keeps the lattice right-handed */
    odd ^= x->flip[d];
  }
}

/* the list of cells; turn: each sees the domain its own way */
static inline PetscErrorCode HangList(HangMesh *m, PetscBool turn)
{
  PetscInt64 *key;
  HangCell   *c;

  PetscFunctionBeginUser;
  PetscCall(HangBalance(m));
  for (PetscInt i = 0; i < m->nentries; ++i) m->n += m->entry[i].state == 1;
  PetscCall(PetscMalloc1(m->n, &m->cell));
  PetscCall(PetscMalloc2(m->n, &c, 2 * m->n, &key));
  for (PetscInt i = 0, n = 0; i < m->nentries; ++i) {
    if (m->entry[i].state != 1) continue;
    c[n] = (HangCell){.level = m->entry[i].level};
    HangUnindex(m, c[n].level, m->entry[i].index, c[n].a);
    key[2 * n]     = HangMorton(m, &c[n]);
    key[2 * n + 1] = n;
    ++n;
  }
  qsort(key, (size_t)m->n, 2 * sizeof(*key), HangCompare);
  for (PetscInt i = 0; i < m->n; ++i) {
    m->cell[i] = c[key[2 * i + 1]];
    HangTurn(m, m->cell + i, turn ? (PetscInt)(HangRandom(m) * 1000) : 0);
    HangFind(m, m->cell[i].level, HangIndex(m, m->cell[i].level, m->cell[i].a))->cell = i;
  }
  PetscCall(PetscFree2(c, key));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode HangDestroy(HangMesh *m)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(m->table));
  PetscCall(PetscFree(m->entry));
  PetscCall(PetscFree(m->cell));
  PetscFunctionReturn(0);
}

/* is what lies across a cell, by steps in the domain's directions, a coarser cell? */
static inline PetscBool HangCoarser(const HangMesh *m, const HangCell *c, const PetscInt step[])
{
  const PetscInt b[3] = {c->a[0] + step[0], c->a[1] + step[1], c->a[2] + step[2]};

  return HangState(m, c->level, b) == 0 ? PETSC_TRUE : PETSC_FALSE;
}

/* mask in the cell's own directions */
static inline unsigned HangMask(const HangMesh *m, const HangCell *c)
{
  unsigned mask = 0;
  PetscInt side[3];

  for (PetscInt d = 0; d < m->dim; ++d) {
    const PetscInt up = c->a[c->perm[d]] & 1;

    side[c->perm[d]] = up ? 1 : -1;
    mask |= (unsigned)(up ^ c->flip[d]) << d;
  }
  for (PetscInt d = 0; d < m->dim && c->level; ++d) {
    PetscInt step[3] = {0, 0, 0};

    step[c->perm[d]] = side[c->perm[d]];
    if (HangCoarser(m, c, step)) mask |= 1u << (m->dim + d);
    for (PetscInt v = 1; v < 4 && m->dim == 3; ++v) { /* around the edge along d */
      const PetscInt e = c->perm[(d + 1) % 3], f = c->perm[(d + 2) % 3];

      step[c->perm[d]] = 0;
      step[e]          = v & 1 ? side[e] : 0;
      step[f]          = v & 2 ? side[f] : 0;
      if (HangCoarser(m, c, step)) mask |= 1u << (6 + d);
    }
  }
  return mask >> m->dim ? mask : 0;
}

/* lattice place of local node i in the domain's directions */
static inline void HangPlace(const HangMesh *m, const HangCell *c, PetscInt p, PetscInt i, PetscInt at[])
{
  at[2] = 0;
  for (PetscInt d = 0; d < m->dim; ++d, i /= p + 1) at[c->perm[d]] = c->flip[d] ? p - i % (p + 1) : i % (p + 1);
}

/* The entries of a cell, as in HopsSpaceCreateFamilyFromArrays(): components; how many there are in the
   cell's directions, and in which they are integrals, between nodes */
typedef struct {
  HopsFamily family;
  PetscInt   p, nc, ne, off[4], n[3][3];
  PetscBool  open[3][3];
} HangLayout;

static inline void HangLayoutCreate(HopsFamily family, PetscInt dim, PetscInt p, HangLayout *l)
{
  *l = (HangLayout){.family = family, .p = p, .nc = family == HOPS_HCURL || family == HOPS_HDIV ? dim : 1};
  for (PetscInt c = 0; c < l->nc; ++c) {
    PetscInt n = 1;

    for (PetscInt d = 0; d < dim; ++d) {
      l->open[c][d] =
        family == HOPS_L2 || (family == HOPS_HCURL && c == d) || (family == HOPS_HDIV && c != d) ? PETSC_TRUE : PETSC_FALSE;
      l->n[c][d] = l->open[c][d] ? p : p + 1;
      n *= l->n[c][d];
    }
    l->off[c + 1] = l->off[c] + n;
  }
  l->ne = l->off[l->nc];
}

/* place and openness of entry i in the domain's directions; returns its sign there */
static inline PetscInt HangEntry(const HangMesh *m, const HangCell *x, const HangLayout *l, PetscInt i, PetscInt at[],
                                 PetscBool open[])
{
  PetscInt c = 0;

  while (i >= l->off[c + 1]) ++c;
  i -= l->off[c];
  at[2] = open[2] = 0;
  for (PetscInt d = 0; d < m->dim; i /= l->n[c][d], ++d) {
    const PetscInt n = l->n[c][d];

    at[x->perm[d]]   = x->flip[d] ? n - 1 - i % n : i % n;
    open[x->perm[d]] = l->open[c][d];
  }
  return l->nc > 1 && x->flip[c] ? -1 : 1;
}

/* does an entry hang? from the geometry, not from the mask */
static inline PetscBool HangHangs(const HangMesh *m, const HangCell *c, PetscInt p, const PetscInt at[], const PetscBool open[])
{
  PetscBool hangs = PETSC_FALSE;

  for (PetscInt v = 1; v < (1 << m->dim); ++v) { /* cells that touch it across these directions */
    PetscInt  step[3] = {0, 0, 0};
    PetscBool touch   = PETSC_TRUE;

    for (PetscInt d = 0; d < m->dim; ++d) {
      if (!(v >> d & 1)) continue;
      if (!open[d] && at[d] == 0) step[d] = -1;
      else if (!open[d] && at[d] == p) step[d] = 1;
      else touch = PETSC_FALSE;
    }
    if (touch && HangCoarser(m, c, step)) hangs = PETSC_TRUE;
  }
  return hangs;
}

/* a number for the entry `at` of the lattice of cell a at a level */
static inline PetscInt64 HangName(const HangMesh *m, PetscInt p, PetscInt level, const PetscInt a[], const PetscInt at[],
                                  const PetscBool open[])
{
  const PetscInt h   = 2 << (m->finest - level);
  PetscInt64     key = 0;

  for (PetscInt d = 0; d < m->dim; ++d) {
    const PetscBool inside = open[d] || at[d] % p ? PETSC_TRUE : PETSC_FALSE;
    const PetscInt  pos    = inside ? a[d] * h + h / 2 : (a[d] + at[d] / p) * h;

    key = (key * ((m->M[d] << (m->finest + 1)) + 1) + pos) * (2 * p + 1) + (open[d] ? p + 1 + at[d] : (inside ? at[d] : 0));
  }
  return key;
}

typedef struct {
  HopsFamily      family;
  PetscInt        np, ne, nc, first, owned, N, ness; /* nodes and entries of a cell; cells first.. of the mesh are this rank's */
  PetscInt       *nodes, *ess;                       /* nodes: the entries, -1-g where they have the opposite sign */
  PetscReal      *coords;                            /* [nc][np][dim] */
  unsigned short *masks;
} HangArrays;

/* the rank of a cell; `empty` has none, if it is not negative */
static inline PetscInt HangRank(const HangMesh *m, PetscInt c, PetscInt empty, PetscMPIInt size)
{
  const PetscInt s = c * (empty >= 0 && size > 1 ? size - 1 : size) / m->n;

  return empty >= 0 && s >= empty && size > 1 ? s + 1 : s;
}

/* number[cells][ne]: unknowns belong to the first rank that lists them, and so a range to each */
static inline PetscErrorCode HangNumber(const HangMesh *m, const HangLayout *l, PetscInt empty, PetscInt number[], HangArrays *a)
{
  const PetscInt np = l->ne, all = m->n * np, p = l->p;
  PetscInt64    *key;
  PetscInt      *owner, *count;
  PetscMPIInt    rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscMalloc2(2 * all, &key, all, &owner));
  PetscCall(PetscCalloc1(size + 1, &count));
  for (PetscInt i = 0; i < all; ++i) {
    const HangCell *c = m->cell + i / np;
    PetscInt        at[3], b[3] = {c->a[0] >> 1, c->a[1] >> 1, c->a[2] >> 1};
    PetscBool       open[3];

    (void)HangEntry(m, c, l, i % np, at, open);
    /* a hanging node's place is taken by the one at the same place of the parent's lattice */
    key[2 * i] =
      HangHangs(m, c, p, at, open) ? HangName(m, p, c->level - 1, b, at, open) : HangName(m, p, c->level, c->a, at, open);
    key[2 * i + 1] = i;
  }
  qsort(key, all, 2 * sizeof(*key), HangCompare);
  for (PetscInt k = 0; k < all;) { /* runs of equal names */
    PetscInt r = size, end = k;

    for (; end < all && key[2 * end] == key[2 * k]; ++end) r = PetscMin(r, HangRank(m, key[2 * end + 1] / np, empty, size));
    for (; k < end; ++k) owner[key[2 * k + 1]] = r;
    ++count[r + 1];
  }
  for (PetscInt r = 0; r < size; ++r) count[r + 1] += count[r];
  a->owned = count[rank + 1] - count[rank];
  a->N     = count[size];
  for (PetscInt k = 0, g; k < all;) {
    const PetscInt64 name = key[2 * k];

    g = count[owner[key[2 * k + 1]]]++;
    for (; k < all && key[2 * k] == name; ++k) number[key[2 * k + 1]] = g;
  }
  PetscCall(PetscFree2(key, owner));
  PetscCall(PetscFree(count));
  PetscFunctionReturn(0);
}

/* ess[] of the entries of cell c on facets of the boundary that are essential, by their middle */
static inline void HangBoundary(const HangMesh *m, const HangLayout *l, PetscInt c,
                                PetscBool (*essential)(PetscInt, const PetscReal[]), const PetscInt number[], PetscBool ess[])
{
  const HangCell *x = m->cell + c;

  for (PetscInt d = 0; d < 2 * m->dim; ++d) {
    PetscInt  step[3] = {x->a[0], x->a[1], x->a[2]}, at[3];
    PetscReal mid[3];
    PetscBool open[3];

    step[d / 2] += d % 2 ? 1 : -1;
    if (HangIndex(m, x->level, step) >= 0) continue;
    for (PetscInt e = 0; e < m->dim; ++e) mid[e] = (x->a[e] + (e == d / 2 ? d % 2 : 0.5)) / (1 << x->level);
    if (!essential(m->dim, mid)) continue;
    for (PetscInt i = 0; i < l->ne; ++i) {
      (void)HangEntry(m, x, l, i, at, open);
      if (!open[d / 2] && at[d / 2] == (d % 2 ? l->p : 0)) ess[number[c * l->ne + i]] = PETSC_TRUE;
    }
  }
}

/* map(dim, x) moves points; essential(dim, x) says which facets of the boundary are, by their middle; empty:
   a rank without cells, or -1 */
static inline PetscErrorCode HangFamilyCreate(const HangMesh *m, HopsFamily family, PetscInt p, void (*map)(PetscInt, PetscReal[]),
                                              PetscBool (*essential)(PetscInt, const PetscReal[]), PetscInt empty, HangArrays *a)
{
  const PetscInt dim = m->dim, np = PetscPowInt(p + 1, dim);
  HangLayout     l;
  PetscInt      *number, at[3];
  PetscBool     *ess;
  PetscReal     *z, *w;
  PetscMPIInt    rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  HangLayoutCreate(family, dim, p, &l);
  PetscCall(PetscMalloc3(m->n * l.ne, &number, p + 1, &z, p + 1, &w));
  z[0] = -1.0;
  z[p] = 1.0;
  if (p > 1) PetscCall(PetscDTGaussLobattoLegendreQuadrature(p + 1, PETSCGAUSSLOBATTOLEGENDRE_VIA_NEWTON, z, w));
  a->family = family;
  a->np     = np;
  a->ne     = l.ne;
  a->nc = a->ness = a->first = 0;
  PetscCall(HangNumber(m, &l, empty, number, a));
  PetscCall(PetscCalloc1(a->N, &ess));
  PetscCall(PetscMalloc4(m->n * l.ne, &a->nodes, m->n * np * dim, &a->coords, m->n, &a->masks, a->N, &a->ess));
  for (PetscInt c = 0; c < m->n; ++c) {
    const HangCell *x = m->cell + c;

    if (essential) HangBoundary(m, &l, c, essential, number, ess);
    if (HangRank(m, c, empty, size) != rank) continue;
    if (!a->nc) a->first = c;
    for (PetscInt i = 0; i < np; ++i) {
      PetscReal *y = a->coords + (a->nc * np + i) * dim;

      HangPlace(m, x, p, i, at);
      for (PetscInt d = 0; d < dim; ++d) y[d] = (x->a[d] + 0.5 * (z[at[d]] + 1.0)) / (1 << x->level);
      if (map) map(dim, y);
    }
    for (PetscInt i = 0; i < l.ne; ++i) {
      PetscBool      open[3];
      const PetscInt g = number[c * l.ne + i];

      a->nodes[a->nc * l.ne + i] = HangEntry(m, x, &l, i, at, open) < 0 ? -1 - g : g;
    }
    a->masks[a->nc++] = (unsigned short)HangMask(m, x);
  }
  for (PetscInt g = 0; g < a->N; ++g)
    if (ess[g] && g % size == rank) a->ess[a->ness++] = g;
  PetscCall(PetscFree3(number, z, w));
  PetscCall(PetscFree(ess));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode HangArraysCreate(const HangMesh *m, PetscInt p, void (*map)(PetscInt, PetscReal[]),
                                              PetscBool (*essential)(PetscInt, const PetscReal[]), PetscInt empty, HangArrays *a)
{
  PetscFunctionBeginUser;
  PetscCall(HangFamilyCreate(m, HOPS_H1, p, map, essential, empty, a));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode HangArraysDestroy(HangArrays *a)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree4(a->nodes, a->coords, a->masks, a->ess));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode HangSpace(const HangMesh *m, PetscInt p, const HangArrays *a, HopsSpace *sp)
{
  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateAdaptiveFromArrays(PETSC_COMM_WORLD, a->family, m->dim, p, a->nc, a->owned, a->nodes, a->masks, p,
                                              a->coords, a->ness, a->ess, sp));
  PetscFunctionReturn(0);
}
