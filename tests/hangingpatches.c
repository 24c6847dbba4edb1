static char help[] =
  "Patches where nodes hang, on randomly refined boxes, against PCASM on sets of unknowns that are found by their places.\n\
  -dim -finest -roots -seed -part -turn -corner: the mesh, see hangingmesh.h\n\
  -order <p> -empty <rank>; -natural: no part of the boundary is essential; -jump: the coefficient jumps by 50\n\
  -apart: the rank without cells owns all unknowns; -element: patches are those of cells\n\
  -wrong: the sets reach as far as the cells, which must be noticed\n\n";

#include "backend_team.h"
#include "hangingcase.h"

/* What all ranks know of all unknowns */
typedef struct {
  const HangMesh *m;
  HangLayout      l;
  PetscInt       *all;           /* [cells][ne] what cells list */
  PetscReal      *x;             /* [N][dim] places */
  PetscBool      *free, *vertex; /* [N] */
  PetscInt        N;
} Unknowns;

static PetscErrorCode UnknownsCreate(const HangMesh *m, PetscInt p, const HangArrays *a, HopsSpace space, Unknowns *u)
{
  PetscReal         *z;
  const PetscScalar *v;
  Vec                one, all;
  VecScatter         s;

  PetscFunctionBeginUser;
  u->m = m;
  u->N = a->N;
  HangLayoutCreate(HOPS_H1, m->dim, p, &u->l);
  PetscCall(HangAllNodes(m, a, &u->all));
  PetscCall(PetscMalloc1(p + 1, &z));
  PetscCall(PetscMalloc2(a->N * m->dim, &u->x, a->N, &u->free));
  PetscCall(PetscCalloc1(a->N, &u->vertex));
  PetscCall(TestGLL(p + 1, z));
  for (PetscInt i = 0; i < m->n * u->l.ne; ++i) {
    const HangCell *c = m->cell + i / u->l.ne;
    PetscInt        at[3], ends = 0;
    PetscBool       open[3];
    HangPart        x;

    (void)HangEntry(m, c, &u->l, i % u->l.ne, at, open);
    if (HangHangs(m, c, p, at, open)) continue;
    HangWhere(m, c, &u->l, z, i % u->l.ne, &x);
    PetscCall(PetscArraycpy(u->x + u->all[i] * m->dim, x.lo, m->dim));
    for (PetscInt d = 0; d < m->dim; ++d) ends += at[d] % p == 0;
    if (ends == m->dim) u->vertex[u->all[i]] = PETSC_TRUE;
  }
  PetscCall(PetscFree(z));
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
  PetscCall(PetscFree2(u->x, u->free));
  PetscCall(PetscFree(u->vertex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* in[]: the free unknowns inside the union of the cells at vertex v */
static void Around(const Unknowns *u, PetscInt v, PetscBool wrong, PetscBool in[])
{
  const PetscInt   dim = u->m->dim;
  const PetscReal *V   = u->x + v * dim;

  for (PetscInt g = 0; g < u->N; ++g) in[g] = PETSC_FALSE;
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
      PetscBool inside = u->free[g];

      for (PetscInt d = 0; d < dim; ++d) {
        const PetscReal t = side[d] * (u->x[g * dim + d] - V[d]) / h;

        if (t < -1e-9 || t > (wrong ? 1.0 + 1e-9 : 1.0 - 1e-9)) inside = PETSC_FALSE;
      }
      if (inside) in[g] = PETSC_TRUE;
    }
  }
}

/* What a cell lists, where some of it is in no patch of a vertex */
static PetscBool Whole(const Unknowns *u, PetscInt c, const PetscBool covered[], PetscBool in[])
{
  PetscBool whole = PETSC_FALSE;

  for (PetscInt g = 0; g < u->N; ++g) in[g] = PETSC_FALSE;
  for (PetscInt i = c * u->l.ne; i < (c + 1) * u->l.ne; ++i) {
    const PetscInt g = u->all[i];

    if (!u->free[g]) continue;
    in[g] = PETSC_TRUE;
    whole = whole || !covered[g] ? PETSC_TRUE : PETSC_FALSE;
  }
  return whole;
}

static PetscErrorCode Append(const Unknowns *u, const PetscBool in[], PetscInt *n, IS sets[])
{
  PetscInt m = 0, *list;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(u->N, &list));
  for (PetscInt g = 0; g < u->N; ++g)
    if (in[g]) list[m++] = g;
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, m, list, PETSC_COPY_VALUES, &sets[(*n)++]));
  PetscCall(PetscFree(list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum of solves on all patches by PCASM, whose sets go round the ranks; how many are of cells */
static PetscErrorCode SlowPatches(const Unknowns *u, PetscBool element, PetscBool wrong, Mat A, PetscInt *ncells, PC *pc)
{
  PetscInt    n = 0, k = 0;
  PetscBool  *in, *covered;
  IS         *sets;
  Mat         B;
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscMalloc2(u->N, &in, u->N + u->m->n, &sets));
  PetscCall(PetscCalloc1(u->N, &covered));
  for (PetscInt v = 0; v < u->N && !element; ++v) {
    if (!u->vertex[v] || !u->free[v]) continue;
    Around(u, v, wrong, in);
    for (PetscInt g = 0; g < u->N; ++g) covered[g] = covered[g] || in[g] ? PETSC_TRUE : PETSC_FALSE;
    if (k++ % size == rank) PetscCall(Append(u, in, &n, sets));
  }
  *ncells = 0;
  for (PetscInt c = 0; c < u->m->n; ++c) {
    if (!Whole(u, c, covered, in)) continue;
    ++*ncells;
    if (k++ % size == rank) PetscCall(Append(u, in, &n, sets));
  }
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetType(*pc, PCASM));
  PetscCall(PCSetOperators(*pc, B, B));
  PetscCall(PCASMSetType(*pc, PC_ASM_BASIC));
  PetscCall(PCASMSetOverlap(*pc, 0));
  PetscCall(PCASMSetLocalSubdomains(*pc, n, sets, NULL));
  PetscCall(PCSetOptionsPrefix(*pc, "slow_"));
  PetscCall(PetscOptionsSetValue(NULL, "-slow_sub_pc_type", "lu"));
  PetscCall(PCSetFromOptions(*pc));
  for (PetscInt i = 0; i < n; ++i) PetscCall(ISDestroy(&sets[i]));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscFree2(in, sets));
  PetscCall(PetscFree(covered));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Operator(HopsSpace space, PetscBool jump, Mat *A)
{
  const PetscScalar one = 1.0;
  HopsCoefficient   k, c;

  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(space, A));
  if (jump) PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, HangParity, NULL, &k));
  else PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &k));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &c));
  PetscCall(MatPASetDiffusion(*A, k));
  PetscCall(MatPASetMass(*A, c));
  PetscCall(HopsCoefficientDestroy(&k));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt  order = 2, empty = -1, ncells;
  PetscBool natural = PETSC_FALSE, jump = PETSC_FALSE, wrong = PETSC_FALSE, cells = PETSC_FALSE, apart = PETSC_FALSE,
            element = PETSC_FALSE;
  PetscReal   norm, error;
  HangMesh    m;
  HangArrays  a;
  HopsSpace   space;
  Unknowns    u;
  Mat         A;
  PC          pc[2];
  Vec         r, z[2];
  PetscRandom random;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TeamRegister());
  PetscCall(HangSetBackend());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-empty", &empty, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-natural", &natural, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-jump", &jump, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-wrong", &wrong, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-cells", &cells, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-apart", &apart, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-element", &element, NULL));
  PetscCall(HangCreateFromOptions(&m));
  PetscCall(HangArraysCreate(&m, order, NULL, natural ? NULL : HangEverywhere, empty, &a));
  if (apart) a.owned = a.nc ? 0 : a.N;
  PetscCall(HangSpace(&m, order, &a, &space));
  PetscCall(UnknownsCreate(&m, order, &a, space, &u));
  PetscCall(Operator(space, jump, &A));
  PetscCall(SlowPatches(&u, element, wrong, A, &ncells, &pc[1]));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc[0]));
  PetscCall(PCSetType(pc[0], PCPATCHFD));
  PetscCall(PCSetOperators(pc[0], A, A));
  PetscCall(PCPATCHFDSetType(pc[0], PC_PATCHFD_ADDITIVE));
  PetscCall(PCSetFromOptions(pc[0]));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(HopsSpaceCreateVec(space, &r));
  PetscCall(VecSetRandom(r, random));
  for (PetscInt i = 0; i < a.ness; ++i) PetscCall(VecSetValue(r, a.ess[i], 0.0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(r));
  PetscCall(VecAssemblyEnd(r));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(VecDuplicate(r, &z[k]));
    PetscCall(PCApply(pc[k], r, z[k]));
  }
  PetscCall(VecNorm(z[1], NORM_2, &norm));
  PetscCall(VecAXPY(z[0], -1.0, z[1]));
  PetscCall(VecNorm(z[0], NORM_2, &error));
  if (error <= 1e-10 * norm) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "patches: ok\n"));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "patches: WRONG, %g\n", (double)(error / norm)));
  if (cells) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", ncells ? "some of cells" : "none of cells"));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(VecDestroy(&z[k]));
    PetscCall(PCDestroy(&pc[k]));
  }
  PetscCall(VecDestroy(&r));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(MatDestroy(&A));
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

  test:
    suffix: wrong
    filter: sed 's/WRONG,.*$/noticed/'
    args: -dim {{2 3}} -finest 2 -order 2 -wrong

TEST*/
