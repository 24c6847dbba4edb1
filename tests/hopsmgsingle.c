static char help[] =
  "Multigrid in single precision where nodes hang: one application of the cycle against that in double precision.\n\
  -dim <d> -order <p> -finest <n> -empty <rank> -natural: no part of the boundary is essential\n\
  -turned, -curved: see hanginghierarchy.h; -numbers\n\
  -backends <a,b>: both cycles on b against that in double precision on a\n\n";

#include "backends.h"
#include "hanginghierarchy.h"

static PetscErrorCode JumpOperator(HopsSpace space, Mat *A)
{
  const PetscScalar one = 1.0;
  HopsCoefficient   c, kappa;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, HangParity, NULL, &kappa));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &c));
  PetscCall(Operator(space, 0, PETSC_FALSE, kappa, c, A));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smoothing is Richardson iteration: the intervals of Chebyshev iteration come about differently */
static PetscErrorCode Apply(Mat A, PetscBool single, Vec b, Vec z)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCHOPSMG));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCHopsMGSetSinglePrecision(pc, single));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(PCApply(pc, b, z)); /* nothing is left over */
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscInt  dim, order, finest, empty;
  PetscBool natural;
} Options;

/* On a back end: the hierarchy and the cycle in double and in single precision, z[2] */
typedef struct {
  HangHierarchy h;
  Mat           A;
  Vec           b, z[2];
} Cycles;

/* b: the right-hand side; NULL: a random one */
static PetscErrorCode CyclesCreate(const Options *o, Vec b, Cycles *c)
{
  const PetscInt M[3] = {2, 2, 2}, orders[2] = {o->order, o->order};
  HangMesh       mesh;
  PetscRandom    random;

  PetscFunctionBeginUser;
  PetscCall(HangCreate(o->dim, M, PETSC_TRUE, o->finest, &mesh));
  PetscCall(HangAdapt(&mesh, 0, o->finest, 0.0, HangLayer));
  PetscCall(HangList(&mesh, PETSC_FALSE));
  PetscCall(HangHierarchyCreate(&mesh, HANG_MESHES, PETSC_FALSE, orders, o->natural ? NULL : HangWall, o->empty, &c->h));
  PetscCall(JumpOperator(c->h.space[c->h.n - 1], &c->A));
  PetscCall(HopsSpaceCreateVec(c->h.space[c->h.n - 1], &c->b));
  if (b) PetscCall(VecCopy(b, c->b));
  else {
    PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
    PetscCall(VecSetRandom(c->b, random));
    PetscCall(PetscRandomDestroy(&random));
  }
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(VecDuplicate(c->b, &c->z[k]));
    PetscCall(Apply(c->A, k ? PETSC_TRUE : PETSC_FALSE, c->b, c->z[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CyclesDestroy(Cycles *c)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 2; ++k) PetscCall(VecDestroy(&c->z[k]));
  PetscCall(VecDestroy(&c->b));
  PetscCall(MatDestroy(&c->A));
  PetscCall(HangHierarchyDestroy(&c->h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a difference in [least, most] is what is expected */
static PetscErrorCode Say(const char what[], Vec h, Vec d, PetscReal least, PetscReal most, PetscBool numbers)
{
  PetscReal e;

  PetscFunctionBeginUser;
  PetscCall(Differ(h, d, &e));
  if (numbers) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: relative difference %g\n", what, (double)e));
  else if (e >= least && e <= most) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: ok\n", what));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: WRONG, %g\n", what, (double)e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Options     o        = {.dim = 2, .order = 2, .finest = 3, .empty = -1};
  PetscBool   numbers  = PETSC_FALSE, compare;
  const char *names[2] = {NULL, NULL};
  Cycles      c[2];

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestGetBackends(names, &compare));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &o.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &o.order, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-finest", &o.finest, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-empty", &o.empty, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-natural", &o.natural, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-numbers", &numbers, NULL));
  if (compare) PetscCall(TestSetBackend(names[0]));
  PetscCall(CyclesCreate(&o, NULL, &c[0]));
  PetscCall(Say("single precision", c[0].z[0], c[0].z[1], 1e-12, 1e-5, numbers));
  if (compare) {
    PetscCall(TestSetBackend(names[1]));
    PetscCall(CyclesCreate(&o, c[0].b, &c[1]));
    PetscCall(Say("double precision of the other", c[0].z[0], c[1].z[0], 0.0, 1e-11, numbers));
    PetscCall(Say("single precision of the other", c[0].z[0], c[1].z[1], 1e-12, 1e-5, numbers));
    PetscCall(CyclesDestroy(&c[1]));
  }
  PetscCall(CyclesDestroy(&c[0]));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  testset:
    output_file: output/hopsmgsingle.out
    args: -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1

    test:
      suffix: jacobi_2d
      nsize: {{1 2 4}}
      args: -dim 2 -order {{1 2 5}} -turned -mg_levels_pc_type jacobi -mg_levels_ksp_richardson_scale 0.3

    test:
      suffix: jacobi_3d
      nsize: {{1 3}}
      args: -dim 3 -finest 2 -order {{2 3}} -turned -natural -mg_levels_pc_type jacobi -mg_levels_ksp_richardson_scale 0.3

    test:
      suffix: patches_2d
      nsize: {{1 2 4}}
      args: -dim 2 -order {{2 4}} -turned -mg_levels_pc_type patchfd

    test:
      suffix: patches_3d
      nsize: {{1 3}}
      args: -dim 3 -finest 2 -order {{2 3}} -turned -natural -curved -mg_levels_pc_type patchfd

    test:
      suffix: patches_kinds
      nsize: {{1 2}}
      args: -dim {{2 3}} -finest 2 -order 2 -mg_levels_pc_type patchfd -mg_levels_pc_patchfd_type {{additive restricted}} \
            -mg_levels_pc_patchfd_precision {{single double}}

    test:
      suffix: types
      nsize: {{1 2}}
      args: -dim 2 -order 4 -mg_levels_pc_type patchfd -pc_hopsmg_coarsen {{h p ph}} -pc_mg_type {{multiplicative full}}

    test:
      suffix: empty
      nsize: 3
      args: -dim {{2 3}} -finest 2 -order 2 -turned -empty {{0 1}} -mg_levels_pc_type patchfd

  testset:
    output_file: output/hopsmgsingle_backends.out
    args: -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1 -mg_levels_ksp_richardson_scale 0.3
    nsize: {{1 3}}

    test:
      suffix: backends
      args: -dim {{2 3}} -finest 2 -order 3 -turned -mg_levels_pc_type {{jacobi patchfd}} -backends host,base

    test:
      suffix: cuda
      requires: cuda
      args: -dim {{2 3}} -finest 2 -order {{2 3}} -turned -mg_levels_pc_type {{jacobi patchfd}} -backends host,cuda \
            -use_gpu_aware_mpi 0

TEST*/
