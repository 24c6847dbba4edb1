static char help[] =
  "-pc_lor_upwind on boxes of unequal cells, natural boundary: the low-order-refined matrix of b . grad u + c u is that of\n\
  differences along the\n\
  grid lines, written down here. At order 1 they are one-sided, without -pc_lor_upwind central.\n\
  -upwind <bool>: what the differences are expected to be (default true)\n\n";

#include "hopstest.h"
#include <petscds.h>

static const PetscReal wind[3] = {1.0, -2.0, 0.7}, reaction = 40.0; /* with natural inflow, central differences need it */

static void g0(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[],
               const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[],
               const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, PetscReal shift,
               const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  g[0] = reaction;
}

static void g1(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[],
               const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[],
               const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, PetscReal shift,
               const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  for (PetscInt d = 0; d < dim; ++d) g[d] = wind[d];
}

static void Grade(PetscInt dim, PetscReal x[])
{
  for (PetscInt d = 0; d < dim; ++d) x[d] = x[d] * (0.6 + 0.4 * x[d]) + 0.2 * d * x[d];
}

static PetscErrorCode Coordinate(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = x[*(PetscInt *)ctx];
  return 0;
}

/* A grid line: its N nodes, their Gauss-Lobatto weights, and the ratio of the weight to the mean of the
   widths beside it within a cell */
typedef struct {
  PetscInt   N;
  PetscReal *x, *w, *r;
} Line;

/* all ranks get all entries */
static PetscErrorCode Everywhere(Vec u, Vec *all)
{
  VecScatter scatter;

  PetscFunctionBeginUser;
  PetscCall(VecScatterCreateToAll(u, &scatter, all));
  PetscCall(VecScatterBegin(scatter, u, *all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, u, *all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscFunctionReturn(0);
}

static PetscErrorCode LineCreate(PetscInt p, Vec x, Line *l)
{
  PetscReal          gll[32], gw[32], *sorted;
  const PetscScalar *a;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(PetscDTGaussLobattoLegendreQuadrature(p + 1, PETSCGAUSSLOBATTOLEGENDRE_VIA_NEWTON, gll, gw));
  PetscCall(VecGetSize(x, &n));
  PetscCall(VecGetArrayRead(x, &a));
  PetscCall(PetscMalloc1(n, &sorted));
  PetscCall(PetscMalloc3(n, &l->x, n, &l->w, n, &l->r));
  for (PetscInt i = 0; i < n; ++i) sorted[i] = PetscRealPart(a[i]);
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(PetscSortReal(n, sorted));
  l->N = 0;
  for (PetscInt i = 0; i < n; ++i)
    if (!i || sorted[i] > l->x[l->N - 1] + 1e-9) l->x[l->N++] = sorted[i];
  for (PetscInt i = 0; i < l->N; ++i) {
    const PetscInt  k = i % p;
    const PetscReal m = 0.5 * ((k ? gll[k] - gll[k - 1] : 0.0) + gll[k + 1] - gll[k]);

    l->r[i] = gw[k] / m;
    l->w[i] = 0.0;
  }
  for (PetscInt c = 0; c < (l->N - 1) / p; ++c)
    for (PetscInt k = 0; k <= p; ++k) l->w[c * p + k] += 0.5 * (l->x[(c + 1) * p] - l->x[c * p]) * gw[k];
  PetscCall(PetscFree(sorted));
  PetscFunctionReturn(0);
}

static PetscInt LineFind(const Line *l, PetscReal x)
{
  PetscInt i = 0;

  while (i < l->N - 1 && PetscAbsReal(l->x[i] - x) > 1e-9) ++i;
  return i;
}

/* The grid: its lines, the unknown at each point, and the point of each unknown, x fastest */
typedef struct {
  PetscInt dim, n, *node, *at;
  Line     line[3];
} Grid;

static PetscErrorCode GridCreate(HopsSpace sp, PetscInt dim, Grid *g)
{
  const PetscScalar *a;
  PetscInt           p;
  Vec                u, coord[3];

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetOrder(sp, &p));
  PetscCall(HopsSpaceCreateVec(sp, &u));
  g->dim = dim;
  for (PetscInt d = 0; d < dim; ++d) {
    PetscCall(HopsSpaceInterpolate(sp, Coordinate, &d, u));
    PetscCall(Everywhere(u, &coord[d]));
    PetscCall(LineCreate(p, coord[d], &g->line[d]));
  }
  PetscCall(VecGetSize(u, &g->n));
  PetscCall(PetscMalloc2(g->n, &g->node, g->n, &g->at));
  for (PetscInt i = 0; i < g->n; ++i) g->at[i] = 0;
  for (PetscInt d = dim - 1; d >= 0; --d) {
    PetscCall(VecGetArrayRead(coord[d], &a));
    for (PetscInt i = 0; i < g->n; ++i) g->at[i] = g->at[i] * g->line[d].N + LineFind(&g->line[d], PetscRealPart(a[i]));
    PetscCall(VecRestoreArrayRead(coord[d], &a));
    PetscCall(VecDestroy(&coord[d]));
  }
  for (PetscInt i = 0; i < g->n; ++i) g->node[g->at[i]] = i;
  PetscCall(VecDestroy(&u));
  PetscFunctionReturn(0);
}

static PetscErrorCode GridDestroy(Grid *g)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree2(g->node, g->at));
  for (PetscInt d = 0; d < g->dim; ++d) PetscCall(PetscFree3(g->line[d].x, g->line[d].w, g->line[d].r));
  PetscFunctionReturn(0);
}

/* b . grad u + c u by differences */
static PetscErrorCode Differences(const Grid *g, PetscBool upwind, Vec u, Vec b)
{
  const Line        *line = g->line;
  const PetscScalar *ua;
  PetscScalar       *rhs;
  PetscInt           rstart, rend;
  Vec                all;

  PetscFunctionBeginUser;
  PetscCall(Everywhere(u, &all));
  PetscCall(VecGetArrayRead(all, &ua));
  PetscCall(VecGetOwnershipRange(b, &rstart, &rend));
  PetscCall(VecGetArray(b, &rhs));
  for (PetscInt i = rstart; i < rend; ++i) {
    PetscInt  ijk[3] = {0, 0, 0}, stride = 1;
    PetscReal w = 1.0;

    for (PetscInt d = 0, k = g->at[i]; d < g->dim; k /= line[d].N, ++d) {
      ijk[d] = k % line[d].N;
      w *= line[d].w[ijk[d]];
    }
    rhs[i - rstart] = reaction * w * ua[i];
    for (PetscInt d = 0; d < g->dim; stride *= line[d].N, ++d)
      for (PetscInt s = -1; s < 2; s += 2) {
        const PetscInt  k = ijk[d] + s;
        const PetscReal f = w / line[d].w[ijk[d]];

        if (k < 0 || k >= line[d].N) continue;
        rhs[i - rstart] += 0.5 * f * s * wind[d] * line[d].r[ijk[d]] * (ua[g->node[g->at[i] + s * stride]] - ua[i]);
        if (upwind)
          rhs[i - rstart] -= 0.5 * f * PetscAbsReal(wind[d]) * 0.5 * (line[d].r[ijk[d]] + line[d].r[k]) *
                             (ua[g->node[g->at[i] + s * stride]] - ua[i]);
      }
  }
  PetscCall(VecRestoreArray(b, &rhs));
  PetscCall(VecRestoreArrayRead(all, &ua));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  DM          dm;
  PetscFE     fe;
  PetscDS     ds;
  HopsSpace   sp;
  Mat         A;
  KSP         ksp;
  Vec         u, b, x;
  PetscRandom rnd;
  Grid        grid;
  PetscInt    dim;
  PetscReal   e, norm;
  PetscBool   upwind = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-upwind", &upwind, NULL));
  PetscCall(TestMeshMapped(PETSC_COMM_WORLD, Grade, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscFECreateDefault(PETSC_COMM_WORLD, dim, 1, PETSC_FALSE, NULL, PETSC_DETERMINE, &fe));
  PetscCall(DMSetField(dm, 0, NULL, (PetscObject)fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMCreateDS(dm));
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, g0, g1, NULL, NULL));
  PetscCall(HopsSpaceCreateFromDM(dm, &sp));
  PetscCall(DMCreateGlobalVector(dm, &u));
  PetscCall(VecDuplicate(u, &b));
  PetscCall(VecDuplicate(u, &x));
  PetscCall(GridCreate(sp, dim, &grid));
  /* the right-hand side of a random solution */
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &rnd));
  PetscCall(VecSetRandom(u, rnd));
  PetscCall(Differences(&grid, upwind, u, b));
  /* an exact inner solver gives it back */
  PetscCall(DMSetMatType(dm, MATAIJ));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(HopsKSPSetDMInactive(ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecAXPY(x, -1.0, u));
  PetscCall(VecNorm(x, NORM_INFINITY, &e));
  PetscCall(VecNorm(u, NORM_INFINITY, &norm));
  PetscCall(PetscInfo(NULL, "relative difference %g\n", (double)(e / norm)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "differences: %s\n", e < 1e-10 * norm ? "as written down" : "OTHERS"));
  PetscCall(PetscRandomDestroy(&rnd));
  PetscCall(GridDestroy(&grid));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -pc_type lor -lor_pc_type redundant -dm_plex_box_faces 3,2,2
    output_file: output/upwind.out
    test:
      suffix: one_sided
      nsize: {{1 2}}
      args: -pc_lor_upwind -dm_plex_dim {{2 3}} -petscspace_degree {{1 2 4}}
    test:
      suffix: central
      args: -upwind 0 -dm_plex_dim {{2 3}} -petscspace_degree {{1 3}}
  test:
    suffix: differ
    args: -pc_type lor -lor_pc_type redundant -dm_plex_box_faces 3,2,2 -petscspace_degree 2 -dm_plex_dim 2

TEST*/
