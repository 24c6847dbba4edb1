static char help[] =
  "PCHOPSMG on a DMPLEX with a tree: one cell of a box was refined by PETSc, and HopsSpaceSetCoarse() tells how cells lie.\n\
  -dim <d> -order <p> -cells <n> -refine <c>; -refused: which is at the boundary\n\n";

#include "hopsexpect.h"

/* A box, and the same with one cell refined: labels do not outlive that, so boundaries are natural */
static PetscErrorCode Meshes(PetscInt dim, PetscInt n, PetscInt cell, DM *box, DM *tree)
{
  const PetscInt faces[3] = {n, n, n};
  DM             K;

  PetscFunctionBeginUser;
  PetscCall(HopsDMPlexCreateBox(PETSC_COMM_WORLD, dim, PETSC_FALSE, faces, box));
  PetscCall(DMPlexCreateDefaultReferenceTree(PETSC_COMM_WORLD, dim, PETSC_FALSE, &K));
  PetscCall(DMPlexSetReferenceTree(*box, K));
  PetscCall(DMDestroy(&K));
  PetscCall(DMPlexTreeRefineCell(*box, cell, tree));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By the cells' middles: cells of a box run along its directions */
static PetscErrorCode Relations(DM box, DM tree, PetscInt *n, PetscInt *relations[])
{
  PetscInt dim, cStart, cEnd, fStart, fEnd;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(box, &dim));
  PetscCall(DMPlexGetHeightStratum(box, 0, &cStart, &cEnd));
  PetscCall(DMPlexGetHeightStratum(tree, 0, &fStart, &fEnd));
  *n = fEnd - fStart;
  PetscCall(PetscMalloc1(3 * *n, relations));
  for (PetscInt f = fStart; f < fEnd; ++f) {
    PetscInt *r = *relations + 3 * (f - fStart);
    PetscReal x[3], y[3], v, V;

    PetscCall(DMPlexComputeCellGeometryFVM(tree, f, &v, x, NULL));
    r[0] = f - fStart;
    for (PetscInt c = cStart; c < cEnd; ++c) {
      PetscReal far = 0.0;

      PetscCall(DMPlexComputeCellGeometryFVM(box, c, &V, y, NULL));
      for (PetscInt d = 0; d < dim; ++d) far = PetscMax(far, PetscAbsReal(x[d] - y[d]));
      if (far > 0.4 * PetscPowReal(V, 1.0 / dim)) continue;
      r[1] = c - cStart;
      r[2] = -1;
      if (v > 0.9 * V) continue;
      r[2] = 0;
      for (PetscInt d = 0; d < dim; ++d) r[2] |= (x[d] > y[d] ? 1 : 0) << d;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Wave(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(5.0 * x[0] + 7.0 * x[1] + (dim > 2 ? 3.0 * x[2] : 0.0));
  return PETSC_SUCCESS;
}

static PetscErrorCode Solve(HopsSpace sp)
{
  const PetscScalar one = 1.0;
  HopsCoefficient   c;
  PetscInt          its, levels;
  PetscReal         error, norm;
  Mat               A;
  Vec               x, b, u;
  KSP               ksp;
  PC                pc;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &c));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, c));
  PetscCall(MatPASetMass(A, c));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &u));
  PetscCall(HopsSpaceInterpolate(sp, Wave, NULL, u));
  PetscCall(MatMult(A, u, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 50));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCHOPSMG));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(PCMGGetLevels(pc, &levels));
  PetscCall(VecNorm(u, NORM_2, &norm));
  PetscCall(VecAXPY(x, -1.0, u));
  PetscCall(VecNorm(x, NORM_2, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " levels: %s\n", levels,
                        error < 1e-6 * norm ? (its <= 12 ? "solved" : "SLOW") : "WRONG"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&u));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt  dim = 2, order = 3, cells = 3, cell = 4, n = 0, *relations;
  DM        box, tree;
  HopsSpace coarse, fine;
  PetscBool refused;
  Mat       P;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cells", &cells, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-refine", &cell, NULL));
  PetscCall(Meshes(dim, cells, cell, &box, &tree));
  PetscCall(HopsSpaceCreateH1(box, order, NULL, 0, NULL, &coarse));
  PetscCall(HopsSpaceCreateH1(tree, order, NULL, 0, NULL, &fine));
  PetscCall(Relations(box, tree, &n, &relations));
  PetscCall(HopsSpaceSetCoarse(fine, coarse, n, relations));
  PetscCall(PetscFree(relations));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-refused", &refused));
  if (refused) EXPECT("a cell at the boundary", MatCreateHopsInterp(coarse, fine, &P), "node of no cell|-pc_type lor");
  else PetscCall(Solve(fine));
  PetscCall(HopsSpaceDestroy(&fine));
  PetscCall(HopsSpaceDestroy(&coarse));
  PetscCall(DMDestroy(&box));
  PetscCall(DMDestroy(&tree));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: 2d
    args: -dim 2 -order {{1 3 4}}
    output_file: output/hopsmgtree.out

  test:
    suffix: 3d
    args: -dim 3 -refine 13 -order {{1 3}}
    output_file: output/hopsmgtree.out

  test:
    suffix: orders
    args: -cells 3 -refine 4 -dim 2 -order 2 -pc_hopsmg_coarsen {{ph hp}}
    output_file: output/hopsmgtree_orders.out

  test:
    suffix: refused
    args: -dim 3 -refine 4 -order 2 -refused -malloc_dump 0

TEST*/
