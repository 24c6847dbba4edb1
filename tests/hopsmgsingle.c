static char help[] =
  "Multigrid in single precision where nodes hang: one application of the cycle against that in double precision.\n\
  -dim <d> -order <p> -finest <n> -empty <rank> -natural: no part of the boundary is essential\n\
  -turned, -curved: see hanginghierarchy.h; -numbers\n\n";

#include "hanginghierarchy.h"

static PetscErrorCode Operator(HopsSpace space, Mat *A)
{
  const PetscScalar one = 1.0;
  HopsCoefficient   c, kappa;

  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(space, A));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, HangParity, NULL, &kappa));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &c));
  PetscCall(MatPASetDiffusion(*A, kappa));
  PetscCall(MatPASetMass(*A, c));
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

int main(int argc, char **argv)
{
  const PetscInt M[3] = {2, 2, 2};
  PetscInt       dim = 2, order = 2, finest = 3, empty = -1;
  PetscBool      natural = PETSC_FALSE, numbers = PETSC_FALSE;
  PetscReal      norm, error;
  HangMesh       mesh;
  HangHierarchy  h;
  Mat            A;
  Vec            b, z[2];
  PetscRandom    random;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HangSetBackend());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-finest", &finest, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-empty", &empty, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-natural", &natural, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-numbers", &numbers, NULL));
  {
    const PetscInt orders[2] = {order, order};

    PetscCall(HangCreate(dim, M, PETSC_TRUE, finest, &mesh));
    PetscCall(HangAdapt(&mesh, 0, finest, 0.0, HangLayer));
    PetscCall(HangList(&mesh, PETSC_FALSE));
    PetscCall(HangHierarchyCreate(&mesh, HANG_MESHES, PETSC_FALSE, orders, natural ? NULL : HangWall, empty, &h));
  }
  PetscCall(Operator(h.space[h.n - 1], &A));
  PetscCall(HopsSpaceCreateVec(h.space[h.n - 1], &b));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(VecSetRandom(b, random));
  PetscCall(PetscRandomDestroy(&random));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(VecDuplicate(b, &z[k]));
    PetscCall(Apply(A, k ? PETSC_TRUE : PETSC_FALSE, b, z[k]));
  }
  PetscCall(VecNorm(z[0], NORM_2, &norm));
  PetscCall(VecAXPY(z[1], -1.0, z[0]));
  PetscCall(VecNorm(z[1], NORM_2, &error));
  if (numbers) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "relative difference %g\n", (double)(error / norm)));
  if (error <= 1e-5 * norm && error > 1e-12 * norm) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "single precision: ok\n"));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "single precision: WRONG, %g\n", (double)(error / norm)));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(VecDestroy(&z[k]));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(HangHierarchyDestroy(&h));
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

    test:
      suffix: backends
      nsize: {{1 3}}
      args: -dim {{2 3}} -finest 2 -order 3 -turned -mg_levels_pc_type {{jacobi patchfd}} -mg_levels_ksp_richardson_scale 0.3 \
            -backends host,base

TEST*/
