static char help[] =
  "Patches where nodes hang, on randomly refined boxes, against PCASM on sets of unknowns that are found by their places.\n\
  -dim -finest -roots -seed -part -turn -corner: the mesh, see hangingmesh.h\n\
  -order <p> -empty <rank>; -natural: no part of the boundary is essential; -jump: the coefficient jumps by 50\n\
  -contrast <c>: or by this; -tensor: it is that times a full tensor\n\
  -apart: the rank without cells owns all unknowns; -element: patches are those of cells\n\
  -restricted: each unknown takes the corrections of the patches whose centre is nearest; -robin: a Robin term on a wall\n\
  -wrong: the sets reach as far as the cells, which must be noticed\n\n";

#include "backend_team.h"
#include "hangingcase.h"

/* What all ranks know of all unknowns */
typedef struct {
  const HangMesh *m;
  HangLayout      l;
  PetscInt       *all;           /* [cells][ne] what cells list */
  PetscReal      *x, *z;         /* [N][dim] places; [p+1] nodes of a line */
  PetscBool      *free, *vertex; /* [N] */
  PetscInt        N;
} Unknowns;

static PetscErrorCode UnknownsCreate(const HangMesh *m, PetscInt p, const HangArrays *a, HopsSpace space, Unknowns *u)
{
  const PetscScalar *v;
  Vec                one, all;
  VecScatter         s;

  PetscFunctionBeginUser;
  u->m = m;
  u->N = a->N;
  HangLayoutCreate(HOPS_H1, m->dim, p, &u->l);
  PetscCall(HangAllNodes(m, a, &u->all));
  PetscCall(PetscMalloc1(p + 1, &u->z));
  PetscCall(PetscMalloc2(a->N * m->dim, &u->x, a->N, &u->free));
  PetscCall(PetscCalloc1(a->N, &u->vertex));
  PetscCall(TestGLL(p + 1, u->z));
  for (PetscInt i = 0; i < m->n * u->l.ne; ++i) {
    const HangCell *c = m->cell + i / u->l.ne;
    PetscInt        at[3], ends = 0;
    PetscBool       open[3];
    HangPart        x;

    (void)HangEntry(m, c, &u->l, i % u->l.ne, at, open);
    if (HangHangs(m, c, p, at, open)) continue;
    HangWhere(m, c, &u->l, u->z, i % u->l.ne, &x);
    PetscCall(PetscArraycpy(u->x + u->all[i] * m->dim, x.lo, m->dim));
    for (PetscInt d = 0; d < m->dim; ++d) ends += at[d] % p == 0;
    if (ends == m->dim) u->vertex[u->all[i]] = PETSC_TRUE;
  }
  PetscCall(HopsSpaceCreateVec(space, &one));
  PetscCall(VecSet(one, 1.0));
  for (PetscInt i = 0; i < a->ness; ++i) PetscCall(VecSetValue(one, a->ess[i], 0.0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(one));
  PetscCall(VecAssemblyEnd(one));
  PetscCall(VecScatterCreateToAll(one, &s, &all));
  PetscCall(VecScatterBegin(s, one, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(s, one, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(all, &v));
  for (PetscInt g = 0; g < a->N; ++g) u->free[g] = PetscRealPart(v[g]) > 0.5 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(VecRestoreArrayRead(all, &v));
  PetscCall(VecScatterDestroy(&s));
  PetscCall(VecDestroy(&all));
  PetscCall(VecDestroy(&one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UnknownsDestroy(Unknowns *u)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(u->all));
  PetscCall(PetscFree(u->z));
  PetscCall(PetscFree2(u->x, u->free));
  PetscCall(PetscFree(u->vertex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The node of a line at t in [0, 1], or -1 */
static PetscInt NodeAt(const Unknowns *u, PetscReal t)
{
  for (PetscInt i = 0; i <= u->l.p; ++i)
    if (PetscAbsReal(0.5 * (u->z[i] + 1.0) - t) < 1e-9) return i;
  return -1;
}

#define FAR 1000 /* in no patch */

/* dist[]: of the free unknowns inside the union of the cells at vertex v the way to v, in nodes along the
   lines of a cell whose nodes they are; of the others FAR */
static void Around(const Unknowns *u, PetscInt v, PetscBool wrong, PetscInt dist[])
{
  const PetscInt   dim = u->m->dim;
  const PetscReal *V   = u->x + v * dim;

  for (PetscInt g = 0; g < u->N; ++g) dist[g] = FAR;
  for (PetscInt c = 0; c < u->m->n; ++c) {
    const HangCell *K = u->m->cell + c;
    const PetscReal h = 1.0 / (1 << K->level);
    PetscInt        side[3];
    PetscBool       at = PETSC_TRUE;

    for (PetscInt d = 0; d < dim; ++d) {
      const PetscReal y = V[d] / h - K->a[d];

      side[d] = y > 0.5 ? -1 : 1; /* from v into the cell */
      if (PetscAbsReal(y) > 1e-9 && PetscAbsReal(y - 1.0) > 1e-9) at = PETSC_FALSE;
    }
    for (PetscInt g = 0; g < u->N && at; ++g) {
      PetscBool inside = u->free[g], node = PETSC_TRUE;
      PetscInt  way = 0;

      for (PetscInt d = 0; d < dim; ++d) {
        const PetscReal t = side[d] * (u->x[g * dim + d] - V[d]) / h;
        const PetscInt  i = NodeAt(u, t);

        if (t < -1e-9 || t > (wrong ? 1.0 + 1e-9 : 1.0 - 1e-9)) inside = PETSC_FALSE;
        if (i < 0) node = PETSC_FALSE;
        way += i;
      }
      if (inside) dist[g] = PetscMin(dist[g], node ? way : FAR - 1);
    }
  }
}

/* dist[]: 0 of what a cell lists, where some of it is in no patch of a vertex */
static PetscBool Whole(const Unknowns *u, PetscInt c, const PetscBool covered[], PetscInt dist[])
{
  PetscBool whole = PETSC_FALSE;

  for (PetscInt g = 0; g < u->N; ++g) dist[g] = FAR;
  for (PetscInt i = c * u->l.ne; i < (c + 1) * u->l.ne; ++i) {
    const PetscInt g = u->all[i];

    if (!u->free[g]) continue;
    dist[g] = 0;
    whole   = whole || !covered[g] ? PETSC_TRUE : PETSC_FALSE;
  }
  return whole;
}

static PetscErrorCode Append(const Unknowns *u, const PetscInt dist[], const PetscInt most[], IS *set)
{
  PetscInt m = 0, *list;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(u->N, &list));
  for (PetscInt g = 0; g < u->N; ++g)
    if (dist[g] < FAR && (!most || dist[g] == most[g])) list[m++] = g;
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, m, list, PETSC_COPY_VALUES, set));
  PetscCall(PetscFree(list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Distances in all patches, [n][N], those of vertices before those of cells */
static PetscErrorCode Sets(const Unknowns *u, PetscBool element, PetscBool wrong, PetscInt *n, PetscInt *ncells, PetscInt **dist)
{
  PetscBool *covered;

  PetscFunctionBeginUser;
  *n = *ncells = 0;
  PetscCall(PetscCalloc1(u->N, &covered));
  PetscCall(PetscMalloc1((u->N + u->m->n) * u->N, dist));
  for (PetscInt v = 0; v < u->N && !element; ++v) {
    if (!u->vertex[v] || !u->free[v]) continue;
    Around(u, v, wrong, *dist + *n * u->N);
    for (PetscInt g = 0; g < u->N; ++g) covered[g] = covered[g] || (*dist)[*n * u->N + g] < FAR ? PETSC_TRUE : PETSC_FALSE;
    ++*n;
  }
  for (PetscInt c = 0; c < u->m->n; ++c) {
    if (!Whole(u, c, covered, *dist + *n * u->N)) continue;
    ++*n;
    ++*ncells;
  }
  PetscCall(PetscFree(covered));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum of solves on all patches by PCASM, on each rank by itself; how many are of cells. keep: an unknown
   keeps what patches give that it is nearest to, and share[] is one by their number */
static PetscErrorCode SlowPatches(const Unknowns *u, PetscBool element, PetscBool wrong, PetscBool keep, Mat A, PetscInt *ncells,
                                  PC *pc, PetscReal share[])
{
  PetscInt n, *dist, *most, *count;
  IS      *sets, *kept, all;
  Mat      B, *mine;

  PetscFunctionBeginUser;
  PetscCall(Sets(u, element, wrong, &n, ncells, &dist));
  PetscCall(PetscMalloc4(n, &sets, n, &kept, u->N, &most, u->N, &count));
  for (PetscInt g = 0; g < u->N; ++g) {
    most[g]  = FAR;
    count[g] = 0;
    for (PetscInt k = 0; k < n; ++k) most[g] = PetscMin(most[g], dist[k * u->N + g]);
    for (PetscInt k = 0; k < n; ++k) count[g] += dist[k * u->N + g] == most[g];
    share[g] = keep ? 1.0 / count[g] : 1.0;
  }
  for (PetscInt k = 0; k < n; ++k) {
    PetscCall(Append(u, dist + k * u->N, NULL, &sets[k]));
    PetscCall(Append(u, dist + k * u->N, most, &kept[k]));
  }
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, u->N, 0, 1, &all));
  PetscCall(MatCreateSubMatrices(B, 1, &all, &all, MAT_INITIAL_MATRIX, &mine));
  PetscCall(PCCreate(PETSC_COMM_SELF, pc));
  PetscCall(PCSetType(*pc, PCASM));
  PetscCall(PCSetOperators(*pc, mine[0], mine[0]));
  PetscCall(PCASMSetType(*pc, keep ? PC_ASM_RESTRICT : PC_ASM_BASIC));
  PetscCall(PCASMSetOverlap(*pc, 0));
  PetscCall(PCASMSetLocalSubdomains(*pc, n, sets, keep ? kept : NULL));
  PetscCall(PCSetOptionsPrefix(*pc, "slow_"));
  PetscCall(PetscOptionsSetValue(NULL, "-slow_sub_pc_type", "lu"));
  PetscCall(PCSetFromOptions(*pc));
  for (PetscInt i = 0; i < n; ++i) {
    PetscCall(ISDestroy(&sets[i]));
    PetscCall(ISDestroy(&kept[i]));
  }
  PetscCall(ISDestroy(&all));
  PetscCall(MatDestroySubMatrices(1, &mine));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscFree4(sets, kept, most, count));
  PetscCall(PetscFree(dist));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z, by the slow one */
static PetscErrorCode SlowApply(PC pc, const PetscReal share[], Vec r, Vec z)
{
  const PetscScalar *v;
  PetscScalar       *a;
  PetscInt           first, last;
  Vec                all, out;
  VecScatter         s;

  PetscFunctionBeginUser;
  PetscCall(VecScatterCreateToAll(r, &s, &all));
  PetscCall(VecScatterBegin(s, r, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(s, r, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecDuplicate(all, &out));
  PetscCall(PCApply(pc, all, out));
  PetscCall(VecGetOwnershipRange(z, &first, &last));
  PetscCall(VecGetArrayRead(out, &v));
  PetscCall(VecGetArray(z, &a));
  for (PetscInt i = first; i < last; ++i) a[i - first] = share[i] * v[i];
  PetscCall(VecRestoreArray(z, &a));
  PetscCall(VecRestoreArrayRead(out, &v));
  PetscCall(VecDestroy(&out));
  PetscCall(VecDestroy(&all));
  PetscCall(VecScatterDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* no symmetry of a cell is one of it, but for -1 */
static PetscErrorCode Tensor(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscReal k[2][6] = {{3.0, 0.7, 2.0}, {3.0, 0.7, -0.4, 2.0, 0.3, 1.0}};
  PetscScalar     s;

  PetscCall(HangParity(dim, x, 1, &s, ctx));
  for (PetscInt i = 0; i < nc; ++i) u[i] = s * k[dim - 2][i];
  return PETSC_SUCCESS;
}

static PetscErrorCode Operator(const HangMesh *m, const HangArrays *a, HopsSpace space, PetscReal *contrast, PetscBool tensor,
                               PetscBool robin, Mat *A)
{
  const PetscScalar one = 1.0;
  HopsCoefficient   k, c;

  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(space, A));
  if (tensor) PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, m->dim == 2 ? 3 : 6, Tensor, contrast, &k));
  else if (*contrast > 1.0) PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, HangParity, contrast, &k));
  else PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &k));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &c));
  PetscCall(MatPASetDiffusion(*A, k));
  PetscCall(MatPASetMass(*A, c));
  if (robin) PetscCall(HangAddRobin(m, a, PETSC_FALSE, *A, k));
  PetscCall(HopsCoefficientDestroy(&k));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The slow and the fast one on a random vector, and whether the fast one's transpose is one */
static PetscErrorCode Compare(HopsSpace space, const HangArrays *a, PC pc[2], const PetscReal share[])
{
  PetscReal   norm, error;
  PetscScalar t[2];
  Vec         r, w, z[3];
  PetscRandom random;

  PetscFunctionBeginUser;
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(HopsSpaceCreateVec(space, &r));
  PetscCall(VecDuplicate(r, &w));
  for (PetscInt k = 0; k < 3; ++k) PetscCall(VecDuplicate(r, &z[k]));
  PetscCall(VecSetRandom(r, random));
  PetscCall(VecSetRandom(w, random));
  PetscCall(PetscRandomDestroy(&random));
  for (PetscInt i = 0; i < a->ness; ++i) PetscCall(VecSetValue(r, a->ess[i], 0.0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(r));
  PetscCall(VecAssemblyEnd(r));
  PetscCall(PCApply(pc[0], r, z[0]));
  PetscCall(SlowApply(pc[1], share, r, z[1]));
  PetscCall(PCApplyTranspose(pc[0], w, z[2]));
  PetscCall(VecTDot(z[0], w, &t[0]));
  PetscCall(VecTDot(z[2], r, &t[1]));
  PetscCall(VecNorm(z[1], NORM_2, &norm));
  PetscCall(VecAXPY(z[0], -1.0, z[1]));
  PetscCall(VecNorm(z[0], NORM_2, &error));
  if (error <= 1e-10 * norm && PetscAbsScalar(t[0] - t[1]) <= 1e-10 * PetscAbsScalar(t[0]))
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "patches: ok\n"));
  else
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "patches: WRONG, %g, transpose %g\n", (double)(error / norm),
                          (double)PetscAbsScalar((t[0] - t[1]) / t[0])));
  for (PetscInt k = 0; k < 3; ++k) PetscCall(VecDestroy(&z[k]));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt  order = 2, empty = -1, ncells;
  PetscBool natural = PETSC_FALSE, jump = PETSC_FALSE, wrong = PETSC_FALSE, cells = PETSC_FALSE, apart = PETSC_FALSE,
            element = PETSC_FALSE, restricted = PETSC_FALSE, robin = PETSC_FALSE, tensor = PETSC_FALSE;
  PetscReal *share, contrast;
  HangMesh   m;
  HangArrays a;
  HopsSpace  space;
  Unknowns   u;
  Mat        A;
  PC         pc[2];

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TeamRegister());
  PetscCall(HangSetBackend());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-empty", &empty, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-natural", &natural, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-jump", &jump, NULL));
  contrast = jump ? 50.0 : 1.0;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-contrast", &contrast, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-tensor", &tensor, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-wrong", &wrong, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-cells", &cells, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-apart", &apart, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-element", &element, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-restricted", &restricted, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-robin", &robin, NULL));
  PetscCall(HangCreateFromOptions(&m));
  PetscCall(HangArraysCreate(&m, order, NULL, natural ? NULL : HangEverywhere, empty, &a));
  if (apart) a.owned = a.nc ? 0 : a.N;
  PetscCall(HangSpace(&m, order, &a, &space));
  PetscCall(UnknownsCreate(&m, order, &a, space, &u));
  PetscCall(Operator(&m, &a, space, &contrast, tensor, robin, &A));
  PetscCall(PetscMalloc1(a.N, &share));
  PetscCall(SlowPatches(&u, element, wrong, restricted, A, &ncells, &pc[1], share));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc[0]));
  PetscCall(PCSetType(pc[0], PCPATCHFD));
  PetscCall(PCSetOperators(pc[0], A, A));
  PetscCall(PCPATCHFDSetType(pc[0], restricted ? PC_PATCHFD_RESTRICTED : PC_PATCHFD_ADDITIVE));
  PetscCall(PCSetFromOptions(pc[0]));
  PetscCall(Compare(space, &a, pc, share));
  if (cells) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", ncells ? "some of cells" : "none of cells"));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(PCDestroy(&pc[k]));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFree(share));
  PetscCall(UnknownsDestroy(&u));
  PetscCall(HopsSpaceDestroy(&space));
  PetscCall(HangArraysDestroy(&a));
  PetscCall(HangDestroy(&m));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    output_file: output/hangingpatches_ok.out

    test:
      suffix: 2d
      nsize: {{1 2 4}}
      args: -dim 2 -order {{1 2 5}} -turn

    test:
      suffix: 2d_natural
      nsize: {{1 3}}
      args: -dim 2 -finest 4 -order 3 -turn -natural -seed {{2 3}}

    test:
      suffix: 2d_jump
      nsize: {{1 3}}
      args: -dim 2 -order {{2 4}} -turn -natural -jump

    test:
      suffix: 3d
      nsize: {{1 2 4}}
      args: -dim 3 -finest 2 -roots 2,1,1 -order {{1 2 3}} -turn -natural

    test:
      suffix: 3d_corner
      nsize: {{1 3}}
      args: -dim 3 -finest 1 -roots 2,2,2 -corner -order 2 -turn -seed 4

    test:
      suffix: empty
      nsize: 3
      args: -dim {{2 3}} -finest 2 -roots 2,1,1 -order 2 -turn -natural -empty {{0 1}}

    test:
      suffix: apart
      nsize: 2
      args: -dim {{2 3}} -finest 2 -roots 2,1,1 -order 2 -turn -natural -apart -empty {{0 1}}

    test:
      suffix: element
      nsize: {{1 3}}
      args: -dim {{2 3}} -finest 2 -roots 2,1,1 -order {{1 3}} -turn -element -pc_patchfd_patch element -pc_patchfd_weight 0

    test:
      suffix: restricted
      nsize: {{1 2 4}}
      args: -dim 2 -order {{1 2 5}} -turn -natural -restricted

    test:
      suffix: restricted_3d
      nsize: {{1 3}}
      args: -dim 3 -finest 2 -roots 2,1,1 -order {{2 3}} -turn -natural -restricted

    # patches of cells, too
    test:
      suffix: restricted_cells
      nsize: {{1 3}}
      args: -dim 3 -finest 2 -roots 2,1,1 -order 2 -turn -restricted

    test:
      suffix: restricted_element
      nsize: {{1 2}}
      args: -dim {{2 3}} -finest 2 -roots 2,1,1 -order {{1 3}} -turn -restricted -element -pc_patchfd_patch element

    test:
      suffix: robin
      nsize: {{1 3}}
      args: -dim {{2 3}} -finest 2 -roots 2,1,1 -order {{1 3}} -turn -natural -jump -robin -restricted {{0 1}}

    # which patches share an inverse must not depend on how much larger a neighbour's coefficient is
    test:
      suffix: contrast
      nsize: {{1 3}}
      args: -dim {{2 3}} -finest 2 -roots 3,2,1 -order {{1 2}} -turn -natural -contrast {{1e3 1e6}}

    test:
      suffix: tensor
      nsize: {{1 2 3}}
      args: -dim {{2 3}} -finest 2 -roots 2,1,1 -order {{1 3}} -turn -natural -tensor -contrast {{1 200}} \
            -pc_patchfd_dense_ratio 1 -pc_patchfd_condense_max 0

    # few cells at a time, so that patches of several rounds share, and cells are in several
    test:
      suffix: rounds
      nsize: {{1 2 3}}
      args: -dim {{2 3}} -finest 2 -roots 2,1,1 -order 2 -natural -tensor -pc_patchfd_dense_cells {{1 9}} \
            -pc_patchfd_dense_ratio 1 -pc_patchfd_condense_max 0

    test:
      suffix: rounds_element
      nsize: {{1 2}}
      args: -dim 2 -order 3 -element -pc_patchfd_patch element -pc_patchfd_weight 0 -pc_patchfd_dense_cells 10

    # set up as on a device
    test:
      suffix: backends
      requires: real
      nsize: {{1 2 3}}
      args: -dim 2 -order {{2 5}} -turn -backends host,team

    test:
      suffix: backends_3d
      requires: real
      nsize: {{1 3 4}}
      args: -dim 3 -finest 2 -roots 2,1,1 -order {{1 2 3}} -turn -natural -jump -backends host,team

    test:
      suffix: backends_element
      requires: real
      nsize: {{1 2}}
      args: -dim {{2 3}} -finest 2 -roots 2,1,1 -order {{1 3}} -turn -element -pc_patchfd_patch element -pc_patchfd_weight 0 \
            -backends host,team

    test:
      suffix: backends_restricted
      requires: real
      nsize: {{1 3}}
      args: -dim {{2 3}} -finest 2 -roots 2,1,1 -order 2 -turn -natural -robin -restricted -backends host,team

    test:
      suffix: backends_rounds
      requires: real
      nsize: {{1 3}}
      args: -dim {{2 3}} -finest 2 -roots 2,1,1 -order 2 -turn -natural -tensor -contrast 200 -pc_patchfd_dense_cells {{1 9}} \
            -pc_patchfd_dense_ratio 1 -pc_patchfd_condense_max 0 -backends host,team

    test:
      suffix: backends_empty
      requires: real
      nsize: 3
      args: -dim 3 -finest 2 -roots 2,1,1 -order 2 -turn -natural -empty {{0 1}} -backends host,team

    test:
      suffix: 3d_high
      requires: long
      nsize: {{1 3}}
      args: -dim 3 -finest 2 -roots 2,1,1 -order 4 -turn -natural -jump

  # unknowns all of whose cells' vertices are essential: the cells are patches
  test:
    suffix: cells
    nsize: {{1 3}}
    args: -dim 3 -finest 2 -roots 2,1,1 -order {{2 4}} -turn -cells

  # less than half of the patches have inverses of their own, also where they come in several rounds
  testset:
    nsize: {{1 2}}
    args: -dim 2 -finest 2 -roots 6,6,1 -part 0.1 -order {{1 3}} -tensor -info :hops -pc_patchfd_dense_cells {{0 20}} \
          -pc_patchfd_dense_ratio 1 -pc_patchfd_condense_max 0
    filter: awk '/^patches/; / distinct inverses for / {own += $4; all += $8} END {print 2 * own < all ? "shared" : "NOT shared"}'
    output_file: output/hangingpatches_shared.out

    test:
      suffix: shared

    test:
      suffix: backends_shared
      requires: real
      args: -backends host,team

  test:
    suffix: wrong
    filter: sed 's/WRONG,.*$/noticed/'
    args: -dim {{2 3}} -finest 2 -order 2 -wrong

TEST*/
