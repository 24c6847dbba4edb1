/* The adaptive meshes of the tutorial, for tests, with an independent constraint matrix */
#pragma once
#include "hopstest.h"
#include "../tutorials/octree.h"

/* Spaces have the second back end of -backends <a,b>: what they are compared with knows none. base: the
   host's kernels for any processor */
static inline PetscErrorCode HangSetBackend(void)
{
  char      text[128], *comma;
  PetscBool set, base;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-backends", text, sizeof(text), &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrchr(text, ',', &comma));
  PetscCheck(comma, PETSC_COMM_WORLD, PETSC_ERR_USER, "-backends %s: give two, as in -backends host,base", text);
  PetscCall(PetscStrcmp(comma + 1, "base", &base));
  PetscCall(PetscOptionsSetValue(NULL, base ? "-hops_host_isa" : "-hops_backend", comma + 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is made wrong, which must be noticed: halves are mixed up, edges do not hang, signs are forgotten */
typedef struct {
  PetscBool half, edge, sign;
} HangMutation;

/* the coarsest cell that contains a point; returns its place in the list */
static inline PetscInt HangLocate(const HangMesh *m, PetscInt *const place[], const PetscReal x[])
{
  for (PetscInt g = 0; g <= m->finest; ++g)
    for (PetscInt v = 0; v < (1 << m->dim); ++v) {
      PetscInt a[3] = {0, 0, 0};

      for (PetscInt d = 0; d < m->dim; ++d) a[d] = (PetscInt)PetscFloorReal(x[d] * (1 << g) + (v >> d & 1 ? 1e-9 : -1e-9));
      if (HangState(m, g, a) == 1) return place[g][HangIndex(m, g, a)];
    }
  return -1;
}

static inline PetscReal HangLagrange(PetscInt n, const PetscReal z[], PetscInt j, PetscReal x)
{
  PetscReal l = 1.0;

  for (PetscInt k = 0; k < n; ++k)
    if (k != j) l *= (x - z[k]) / (z[j] - z[k]);
  return PetscAbsReal(l) < 1e-13 ? 0.0 : l;
}

/* The integral over [x, y] of the polynomial whose integral between nodes j and j + 1 is 1, and 0 between
   others: its antiderivative is 1 at all nodes behind j, and 0 at those before */
static inline PetscReal HangIntegral(PetscInt n, const PetscReal z[], PetscInt j, PetscReal x, PetscReal y)
{
  PetscReal s = 0.0;

  for (PetscInt k = j + 1; k < n; ++k) s += HangLagrange(n, z, k, y) - HangLagrange(n, z, k, x);
  return PetscAbsReal(s) < 1e-13 ? 0.0 : s;
}

/* the largest `most` of w[n] and those as large as the last of them, scaled to the same sum */
static inline void HangKeep(PetscInt n, PetscInt most, PetscReal w[])
{
  PetscReal limit = 0.0, sum = 0.0, kept = 0.0;

  for (PetscInt i = 0; i < n; ++i) {
    PetscInt larger = 0;

    for (PetscInt j = 0; j < n; ++j) larger += PetscAbsReal(w[j]) > PetscAbsReal(w[i]) * (1.0 + 1e-9);
    if (larger < most) continue;
    limit = PetscMax(limit, PetscAbsReal(w[i]));
  }
  for (PetscInt i = 0; i < n; ++i) {
    sum += w[i];
    if (PetscAbsReal(w[i]) > limit * (1.0 + 1e-9)) kept += w[i];
    else w[i] = 0.0;
  }
  for (PetscInt i = 0; i < n; ++i) w[i] *= sum / kept;
}

/* Where an entry of a cell is in the domain: in direction d the point lo[d], or from lo[d] to hi[d] */
typedef struct {
  PetscReal lo[3], hi[3];
  PetscBool open[3];
  PetscInt  sign;
} HangPart;

static inline void HangWhere(const HangMesh *m, const HangCell *c, const HangLayout *l, const PetscReal z[], PetscInt i,
                             HangPart *x)
{
  PetscInt at[3];

  x->sign = HangEntry(m, c, l, i, at, x->open);
  for (PetscInt d = 0; d < m->dim; ++d) {
    x->lo[d] = (c->a[d] + 0.5 * (z[at[d]] + 1.0)) / (1 << c->level);
    x->hi[d] = x->open[d] ? (c->a[d] + 0.5 * (z[at[d] + 1] + 1.0)) / (1 << c->level) : x->lo[d];
  }
}

/* The part's unknown, in the directions of the domain, of the function of entry j of cell K */
static inline PetscReal HangWeight(const HangMesh *m, const HangCell *K, const HangLayout *l, const PetscReal z[], PetscInt j,
                                   const HangPart *x, PetscBool mutatehalf)
{
  PetscReal v = 1.0;
  PetscInt  at[3];
  PetscBool open[3];
  PetscInt  sign = HangEntry(m, K, l, j, at, open);

  for (PetscInt d = 0; d < m->dim; ++d) {
    PetscReal y = 2.0 * (x->lo[d] * (1 << K->level) - K->a[d]) - 1.0, w = 2.0 * (x->hi[d] * (1 << K->level) - K->a[d]) - 1.0;

    if (open[d] != x->open[d]) return 0.0;
    if (mutatehalf && PetscAbsReal(PetscAbsReal(y) - 1.0) > 1e-9) {
      const PetscReal t = y;

      y = -w;
      w = -t;
    }
    v *= open[d] ? HangIntegral(l->p + 1, z, at[d], y, w) : HangLagrange(l->p + 1, z, at[d], y);
  }
  return sign * v;
}

/* all[]: entries of all cells; rows: the entries of this rank's cells, each a row of its own. most: weights
   kept, 0: all. slaves: hanging ones have rows */
static inline PetscErrorCode HangConstraints(const HangMesh *m, PetscInt p, const HangArrays *a, const PetscInt all[],
                                             PetscInt most, PetscBool slaves, HangMutation wrong, Mat *L)
{
  const PetscInt dim = m->dim, ne = a->ne;
  PetscInt      *place[HANG_LEVELS + 1], *cols;
  PetscReal     *z, *w;
  HangLayout     l;

  PetscFunctionBeginUser;
  HangLayoutCreate(a->family, dim, p, &l);
  PetscCall(PetscMalloc3(p + 1, &z, ne, &w, ne, &cols));
  PetscCall(TestGLL(p + 1, z));
  for (PetscInt g = 0; g <= m->finest; ++g) PetscCall(PetscCalloc1(HangCount(m, g), &place[g]));
  for (PetscInt c = 0; c < m->n; ++c) place[m->cell[c].level][HangIndex(m, m->cell[c].level, m->cell[c].a)] = c;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, a->nc * ne, a->owned, PETSC_DETERMINE, PETSC_DETERMINE, ne, NULL, ne, NULL, L));
  for (PetscInt r = 0; r < a->nc * ne; ++r) {
    const HangCell *c = m->cell + a->first + r / ne, *K;
    HangPart        x;
    PetscReal       mid[3];
    PetscInt        k, n = 0, row = a->first * ne + r, free = 0;

    HangWhere(m, c, &l, z, r % ne, &x);
    for (PetscInt d = 0; d < dim; ++d) mid[d] = 0.5 * (x.lo[d] + x.hi[d]);
    k = HangLocate(m, place, mid);
    PetscCheck(k >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A point is in no cell");
    K = m->cell + k;
    if (K->level == c->level) {
      const PetscInt g = all[(a->first + r / ne) * ne + r % ne];

      PetscCall(MatSetValue(*L, row, g < 0 ? -1 - g : g, g < 0 ? -1.0 : 1.0, INSERT_VALUES));
      continue;
    }
    if (!slaves) continue;
    for (PetscInt j = 0; j < ne; ++j) {
      const PetscReal v = HangWeight(m, K, &l, z, j, &x, wrong.half);
      const PetscInt  g = all[k * ne + j];

      if (v == 0.0) continue;
      cols[n] = g < 0 ? -1 - g : g;
      w[n++]  = (g < 0 && !wrong.sign ? -1.0 : 1.0) * x.sign * v;
    }
    for (PetscInt d = 0; d < dim; ++d) {
      const PetscReal y = mid[d] * (1 << K->level) - K->a[d];

      free += PetscAbsReal(y) > 1e-9 && PetscAbsReal(y - 1.0) > 1e-9;
    }
    if (wrong.edge && free == 1 && n > 1) {
      w[0] = 1.0;
      n    = 1;
    }
    if (most) HangKeep(n, most, w);
    for (PetscInt k = 0; k < n; ++k) PetscCall(MatSetValue(*L, row, cols[k], w[k], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*L, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*L, MAT_FINAL_ASSEMBLY));
  for (PetscInt g = 0; g <= m->finest; ++g) PetscCall(PetscFree(place[g]));
  PetscCall(PetscFree3(z, w, cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode HangAllNodes(const HangMesh *m, const HangArrays *a, PetscInt **all)
{
  PetscMPIInt size, n = (PetscMPIInt)(a->nc * a->ne), *count, *disp;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscMalloc1(m->n * a->ne, all));
  PetscCall(PetscMalloc2(size, &count, size + 1, &disp));
  PetscCallMPI(MPI_Allgather(&n, 1, MPI_INT, count, 1, MPI_INT, PETSC_COMM_WORLD));
  disp[0] = 0;
  for (PetscMPIInt r = 0; r < size; ++r) disp[r + 1] = disp[r] + count[r];
  PetscCallMPI(MPI_Allgatherv(a->nodes, n, MPIU_INT, *all, count, disp, MPIU_INT, PETSC_COMM_WORLD));
  PetscCall(PetscFree2(count, disp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* every cell has unknowns of its own */
static inline PetscErrorCode HangBroken(const HangMesh *m, PetscInt p, const HangArrays *a, HopsSpace *sp)
{
  PetscInt *nodes;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(a->nc * a->ne, &nodes));
  for (PetscInt i = 0; i < a->nc * a->ne; ++i) nodes[i] = a->first * a->ne + i;
  PetscCall(HopsSpaceCreateFamilyFromArrays(PETSC_COMM_WORLD, a->family, m->dim, p, a->nc, a->nc * a->ne, nodes, p, a->coords, 0,
                                            NULL, sp));
  PetscCall(PetscFree(nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline void HangBilinear(PetscInt dim, PetscReal x[])
{
  const PetscReal a = x[0], b = x[1], c = dim > 2 ? x[2] : 0.0;

  x[0] = a + 0.08 * a * b - 0.05 * b * c;
  x[1] = b - 0.06 * a * b + 0.04 * a;
  if (dim > 2) x[2] = c + 0.05 * a * b * c + 0.03 * a;
}

static inline void HangQuadratic(PetscInt dim, PetscReal x[])
{
  const PetscReal a = x[0], b = x[1], c = dim > 2 ? x[2] : 0.0;

  x[0] = a + 0.04 * b * b - 0.03 * c * c;
  x[1] = b - 0.05 * a * a;
  if (dim > 2) x[2] = c + 0.03 * a * b;
}

static inline PetscBool HangWall(PetscInt dim, const PetscReal x[])
{
  return x[0] < 1e-10 || x[dim - 1] < 1e-10 ? PETSC_TRUE : PETSC_FALSE;
}

/* -dim -finest -roots -seed -part -turn -corner: a randomly refined box */
static inline PetscErrorCode HangCreateFromOptions(HangMesh *m)
{
  PetscInt  dim = 2, finest = 3, M[3] = {3, 2, 2}, nM = 3, seed = 1;
  PetscReal part = 0.4;
  PetscBool turn = PETSC_FALSE, corner = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-finest", &finest, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-roots", M, &nM, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seed", &seed, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-part", &part, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-turn", &turn, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-corner", &corner, NULL));
  PetscCall(HangCreate(dim, M, corner, finest, m));
  m->seed = (unsigned)seed;
  PetscCall(HangAdapt(m, 0, finest, part, NULL));
  PetscCall(HangList(m, turn));
  PetscFunctionReturn(PETSC_SUCCESS);
}
