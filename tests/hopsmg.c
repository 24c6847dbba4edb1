static char help[] =
  "The life of PCHOPSMG: convergence on a mesh of options, new coefficients, resets, transposes, null spaces, coarse matrices,\n\
  meshes made separately.\n\
  -order <p> -life: one solver through all kinds of coefficient and boundary condition\n\
  else one solve, with a constant tensor and a reaction (-mass: the reaction alone), and what must hold on every level\n\
  -most <n>: of at most so many iterations, which are not printed\n\n";

#include "hopstest.h"

static PetscErrorCode Say(const char name[], PetscBool ok)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", name, ok ? "ok" : "WRONG"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Wave(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(7.0 * x[0] + 1.0) * PetscCosReal(5.0 * x[1]) + (dim > 2 ? PetscSinReal(6.0 * x[2]) : 0.0) + x[0] * x[1];
  return PETSC_SUCCESS;
}

static PetscErrorCode Create(Mat A, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(*ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCHOPSMG));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A x = A u; at most `most` iterations, or their number printed where most is 0. Constants do not count where
   they are in the null space */
static PetscErrorCode Solve(KSP ksp, HopsSpace sp, const char name[], PetscInt most)
{
  Mat                A;
  Vec                u, x, b;
  MatNullSpace       nsp;
  PetscReal          e, n;
  PetscInt           its;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatGetNullSpace(A, &nsp));
  PetscCall(MatCreateVecs(A, &u, &b));
  PetscCall(VecDuplicate(u, &x));
  PetscCall(HopsSpaceInterpolate(sp, Wave, NULL, u));
  if (nsp) PetscCall(MatNullSpaceRemove(nsp, u));
  PetscCall(MatMult(A, u, b));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  if (nsp) PetscCall(MatNullSpaceRemove(nsp, x));
  PetscCall(VecNorm(u, NORM_2, &n));
  PetscCall(VecAXPY(x, -1.0, u));
  PetscCall(VecNorm(x, NORM_2, &e));
  if (most) PetscCall(Say(name, reason > 0 && e <= 1e-7 * n && its <= most ? PETSC_TRUE : PETSC_FALSE));
  else
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s, iterations %" PetscInt_FMT "\n", name,
                          reason > 0 && e <= 1e-7 * n ? "ok" : "WRONG", its));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x.(B y) = y.(B^T x), and B is symmetric: one V-cycle with equal smoothing before and after */
static PetscErrorCode Transpose(KSP ksp, HopsSpace sp)
{
  PC          pc;
  Vec         x, y, z;
  PetscRandom r;
  PetscScalar s, t;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(VecSetRandom(x, r));
  PetscCall(VecSetRandom(y, r));
  PetscCall(PCApply(pc, y, z));
  PetscCall(VecTDot(x, z, &s));
  PetscCall(PCApply(pc, x, z));
  PetscCall(VecTDot(y, z, &t));
  PetscCall(Say("symmetric", PetscAbsScalar(s - t) <= 1e-12 * PetscAbsScalar(s) ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* cell: 1 or 50 by the parity of the cell's place; else at the operator's own Gauss points, from TestKappa */
static PetscErrorCode Given(HopsSpace sp, PetscBool cell, PetscInt q, HopsCoefficient *cf)
{
  DM           dm;
  PetscInt     cStart, cEnd, dim, nq;
  PetscScalar *v;
  PetscReal   *x, *w;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetDM(sp, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  nq = cell ? 1 : PetscPowInt(q, dim);
  PetscCall(PetscMalloc1((cEnd - cStart) * nq, &v));
  PetscCall(PetscMalloc2(q, &x, q, &w));
  PetscCall(PetscDTGaussQuadrature(q, -1.0, 1.0, x, w));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    PetscReal m[3] = {0.0, 0.0, 0.0}, J[9], Ji[9], det, xi[3], y[3];

    if (cell) {
      PetscCall(DMPlexComputeCellGeometryFVM(dm, c, NULL, m, NULL));
      v[c - cStart] = ((PetscInt)PetscFloorReal(2.0 * m[0]) + (PetscInt)PetscFloorReal(2.0 * m[1])) % 2 ? 50.0 : 1.0;
      continue;
    }
    PetscCall(DMPlexComputeCellGeometryFEM(dm, c, NULL, m, J, Ji, &det));
    for (PetscInt i = 0; i < nq; ++i) {
      for (PetscInt d = 0, k = i; d < dim; ++d, k /= q) xi[d] = x[k % q];
      for (PetscInt d = 0; d < dim; ++d) {
        y[d] = m[d];
        for (PetscInt e = 0; e < dim; ++e) y[d] += J[d * dim + e] * (xi[e] + 1.0);
      }
      PetscCall(TestKappa(dim, y, 1, v + (c - cStart) * nq + i, NULL));
    }
  }
  if (cell) PetscCall(HopsCoefficientCreateCell(sp, 1, v, cf));
  else PetscCall(HopsCoefficientCreateQuadrature(sp, 1, q, v, cf));
  PetscCall(PetscFree2(x, w));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* all kinds of coefficient under one solver; what a new solver needs is what this one needs */
static PetscErrorCode Changes(HopsSpace sp, PetscInt dim, PetscInt p)
{
  Mat             A;
  KSP             ksp, fresh;
  HopsCoefficient c;
  PetscScalar     three = 3.0;

  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &three, &c));
  PetscCall(MatPASetDiffusion(A, c));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscCall(Create(A, &ksp));
  PetscCall(Solve(ksp, sp, "constant", 0));
  PetscCall(Transpose(ksp, sp));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, dim * (dim + 1) / 2, TestKappa, NULL, &c));
  PetscCall(MatPASetDiffusion(A, c));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscCall(Solve(ksp, sp, "tensor function", 0));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, &c));
  PetscCall(MatPASetMass(A, c));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscCall(Solve(ksp, sp, "and a reaction", 0));
  PetscCall(Given(sp, PETSC_TRUE, 1, &c));
  PetscCall(MatPASetDiffusion(A, c));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscCall(Solve(ksp, sp, "by cells", 0));
  PetscCall(Create(A, &fresh));
  PetscCall(Solve(fresh, sp, "by cells, new solver", 0));
  PetscCall(KSPDestroy(&fresh));
  PetscCall(Given(sp, PETSC_FALSE, p + 2, &c));
  PetscCall(MatPASetDiffusion(A, c));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscCall(Solve(ksp, sp, "at quadrature points", 0));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestKappa, NULL, &c));
  PetscCall(MatPASetDiffusion(A, c));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscCall(Solve(ksp, sp, "the same as a function", 0));
  PetscCall(KSPReset(ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(Solve(ksp, sp, "after a reset", 0));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* natural boundary: constants in the null space; then Robin terms, constant, by cell and by function */
static PetscErrorCode Natural(DM dm, PetscInt dim, PetscInt p)
{
  HopsSpace       sp;
  Mat             A;
  KSP             ksp;
  HopsCoefficient c;
  PetscScalar     one = 1.0;
  MatNullSpace    constants;
  DMLabel         label;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateH1(dm, p, NULL, 0, NULL, &sp));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  for (PetscInt k = 0; k < 4; ++k) {
    const char *const text[4] = {"natural boundary", "Robin, constant", "Robin, by cells", "Robin, function"};

    PetscCall(MatCreatePA(sp, &A));
    PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestKappa, NULL, &c));
    PetscCall(MatPASetDiffusion(A, c));
    PetscCall(HopsCoefficientDestroy(&c));
    if (k == 0) {
      PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
      PetscCall(MatSetNullSpace(A, constants));
      PetscCall(MatNullSpaceDestroy(&constants));
    } else {
      if (k == 1) PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &c));
      if (k == 2) PetscCall(Given(sp, PETSC_TRUE, 1, &c));
      if (k == 3) PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, &c));
      for (PetscInt v = 1; v <= 2 * dim; ++v) {
        PetscInt n, *cells, *faces;

        PetscCall(HopsSpaceGetLabelFaces(sp, label, v, &n, &cells, &faces));
        PetscCall(MatPAAddRobin(A, n, cells, faces, c));
        PetscCall(PetscFree(cells));
        PetscCall(PetscFree(faces));
      }
      PetscCall(HopsCoefficientDestroy(&c));
    }
    PetscCall(Create(A, &ksp));
    PetscCall(Solve(ksp, sp, text[k], 0));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  On every level: restriction is the transpose of prolongation, evaluation is its left inverse, and the
  operator is the Galerkin product, where quadrature is exact on the mesh: whatever way the cells are turned,
  and whatever ranks share them.
*/
static PetscErrorCode Level(PC pc, PetscInt l, PetscReal err[3])
{
  HopsSpace   coarse, fine;
  Mat         P, E, Af, Ac;
  Vec         x, y, z, w;
  PetscScalar s, t;
  PetscReal   e, n;
  PetscRandom r;

  PetscFunctionBeginUser;
  PetscCall(PCHopsMGGetSpace(pc, l - 1, &coarse));
  PetscCall(PCHopsMGGetSpace(pc, l, &fine));
  PetscCall(TestLevel(pc, l, &P, &Af, &Ac));
  PetscCall(MatCreateVecs(P, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecDuplicate(x, &w));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(VecSetRandom(x, r));
  PetscCall(VecSetRandom(z, r));
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(MatMult(P, x, y));
  PetscCall(VecTDot(z, y, &s));
  PetscCall(MatMultTranspose(P, z, w));
  PetscCall(VecTDot(w, x, &t));
  err[0] = TestWorse(err[0], PetscAbsScalar(s - t) / PetscAbsScalar(s));
  PetscCall(MatCreateHopsInterp(fine, coarse, &E));
  PetscCall(MatMult(E, y, w));
  PetscCall(MatDestroy(&E));
  PetscCall(VecAXPY(w, -1.0, x));
  PetscCall(VecNorm(w, NORM_INFINITY, &e));
  err[1] = TestWorse(err[1], e);
  PetscCall(MatMult(Af, y, z));
  PetscCall(MatMult(Ac, x, w));
  PetscCall(VecNorm(w, NORM_2, &n));
  PetscCall(VecScale(w, -1.0));
  PetscCall(MatMultTransposeAdd(P, z, w, w));
  PetscCall(VecNorm(w, NORM_2, &e));
  err[2] = TestWorse(err[2], e / n);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one cycle in single precision and in double precision, with the same smoothing intervals: they differ by
   rounding */
static PetscErrorCode Precisions(Mat A, HopsSpace sp)
{
  KSP       ksp;
  PC        pc;
  Vec       b, x, y;
  PetscReal e, n, scale = 1e-60; /* beyond the range of single precision */

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-scale", &scale, NULL));
  PetscCall(Create(A, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCHopsMGSetSinglePrecision(pc, PETSC_TRUE));
  PetscCall(HopsSpaceCreateVec(sp, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &y));
  PetscCall(HopsSpaceInterpolate(sp, Wave, NULL, b));
  PetscCall(VecScale(b, scale));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCApply(pc, b, x));
  PetscCall(PCHopsMGSetSinglePrecision(pc, PETSC_FALSE));
  PetscCall(PCApply(pc, b, y));
  PetscCall(VecNorm(y, NORM_2, &n));
  PetscCall(VecAXPY(x, -1.0, y));
  PetscCall(VecNorm(x, NORM_2, &e));
  PetscCall(Say("single precision", e < 1e-5 * n && e > 1e-9 * n ? PETSC_TRUE : PETSC_FALSE));
  if (!(e < 1e-5 * n && e > 1e-9 * n)) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%g\n", (double)(e / n)));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Levels(HopsSpace sp, PetscInt dim, PetscBool massonly)
{
  PetscInt          most     = 0;
  const PetscScalar kappa[6] = {2.0, 0.3, dim == 2 ? 1.0 : 0.2, 1.0, 0.1, 3.0}, one = 1.0;
  HopsCoefficient   c;
  Mat               A;
  KSP               ksp;
  PC                pc;
  PetscInt          n;
  PetscReal         err[3]     = {0.0, 0.0, 0.0};
  PetscBool         precisions = PETSC_FALSE, inexact = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(sp, &A));
  if (!massonly) {
    PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, dim * (dim + 1) / 2, kappa, &c));
    PetscCall(MatPASetDiffusion(A, c));
    PetscCall(HopsCoefficientDestroy(&c));
  }
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &c));
  PetscCall(MatPASetMass(A, c));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscCall(Create(A, &ksp));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-most", &most, NULL));
  PetscCall(Solve(ksp, sp, "solve", most));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetLevels(pc, &n));
  for (PetscInt l = 1; l < n; ++l) PetscCall(Level(pc, l, err));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "levels %" PetscInt_FMT "\n", n));
  PetscCall(Say("restriction is the transpose", err[0] < 1e-12 ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(Say("evaluation of what was prolonged", err[1] < 1e-12 ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-inexact", &inexact, NULL)); /* quadrature that is not */
  if (!inexact) PetscCall(Say("operators are Galerkin products", err[2] < 1e-11 ? PETSC_TRUE : PETSC_FALSE));
  if (!inexact && err[2] >= 1e-11) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%g\n", (double)err[2]));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-precisions", &precisions, NULL));
  if (precisions) PetscCall(Precisions(A, sp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM        dm, coarse;
  HopsSpace sp;
  DMLabel   label;
  PetscInt  dim, p = 3, values[16], faces[3] = {4, 4, 4};
  PetscBool life = PETSC_FALSE, separate = PETSC_FALSE, mass = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-life", &life, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-mass", &mass, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-separate", &separate, NULL));
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_FALSE, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  if (separate) { /* a coarse mesh with a numbering of its own */
    PetscCall(HopsDMPlexCreateBox(PETSC_COMM_WORLD, dim, PETSC_FALSE, faces, &coarse));
    PetscCall(DMSetCoarseDM(dm, coarse));
    PetscCall(DMDestroy(&coarse));
  }
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  for (PetscInt v = 0; v < 16; ++v) values[v] = v + 1;
  PetscCall(HopsSpaceCreateH1(dm, p, label, 16, values, &sp));
  if (life) {
    PetscCall(Changes(sp, dim, p));
    PetscCall(Natural(dm, dim, p));
  } else PetscCall(Levels(sp, dim, mass));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    diff_args: -j
    test:
      suffix: life
      nsize: {{1 3}}
      args: -life -dm_plex_dim 2 -dm_plex_box_faces 2,2 -dm_refine_hierarchy 2
    test:
      suffix: life_p
      args: -life -dm_plex_dim 2 -dm_plex_box_faces 2,2 -dm_refine_hierarchy 2 -order 4 -pc_hopsmg_coarsen ph
    test:
      suffix: life_3d
      nsize: 2
      args: -life -dm_plex_dim 3 -dm_plex_box_faces 2,1,2 -dm_refine_hierarchy 1 -order 2
    test:
      suffix: box
      nsize: {{1 2 4}}
      args: -dm_plex_dim {{2 3}separate output} -dm_plex_box_faces 3,2,2 -dm_refine_hierarchy 2 -order 3
    test:
      suffix: coarsen
      nsize: {{1 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,2 -dm_refine_hierarchy 2 -order 6 -pc_hopsmg_coarsen {{p ph hp}separate output}
        -pc_hopsmg_orders 4,3,1
    test:
      suffix: coarsen_h
      nsize: {{1 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,2 -dm_refine_hierarchy 2 -order 6 -pc_hopsmg_coarsen h
    test:
      suffix: periodic
      nsize: {{1 2}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,2 -dm_plex_box_bd periodic,none -dm_refine_hierarchy 2
    test:
      suffix: overlap
      nsize: 3
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,4 -dm_distribute_overlap 1 -dm_refine_hierarchy 2
    test:
      suffix: separate
      args: -separate -dm_plex_dim {{2 3}} -dm_plex_box_faces 8,8,8 -order 2
    test:
      suffix: plate
      nsize: {{1 3}}
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/plate.msh -dm_refine_hierarchy 1 -mass -mat_pa_q_1d 7 -mg_levels_ksp_max_it 3
    test:
      suffix: fichera
      nsize: {{1 2}}
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/fichera.msh -dm_refine_hierarchy 1 -mass -order 2 -mat_pa_q_1d 8 -mg_levels_ksp_max_it 3
    test:
      suffix: cycles
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,2 -dm_refine_hierarchy 2 -ksp_type fgmres -pc_mg_type {{multiplicative full additive kaskade}separate output}
    test:
      suffix: richardson
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,2 -dm_refine_hierarchy 2 -ksp_type richardson -pc_mg_cycle_type {{v w}separate output}
    test:
      suffix: coarse
      nsize: {{1 2}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 8,8 -dm_refine_hierarchy 1 -pc_hopsmg_coarse_mat {{aij pa}separate output}
    test:
      suffix: coarse_types
      args: -dm_plex_dim 2 -dm_plex_box_faces 8,8 -dm_refine_hierarchy 1 -pc_hopsmg_coarse_mat aij -mg_coarse_pc_type {{cholesky lor}separate output}
    test:
      suffix: coarse_types_hypre
      requires: hypre
      args: -dm_plex_dim 2 -dm_plex_box_faces 8,8 -dm_refine_hierarchy 1 -pc_hopsmg_coarse_mat aij -mg_coarse_pc_type hypre
    testset:
      requires: real
      nsize: {{1 3}}
      args: -precisions -dm_refine_hierarchy 2 -pc_hopsmg_precision {{double single}}
      test:
        suffix: single
        args: -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -order {{2 4}separate output}
      test:
        suffix: single_2d
        args: -dm_plex_dim 2 -dm_plex_box_faces 3,2 -order 2
      test:
        suffix: single_2d_most
        args: -dm_plex_dim 2 -dm_plex_box_faces 3,2 -order 4 -most 13
    test:
      suffix: single_full
      requires: host real
      args: -precisions -dm_plex_dim 2 -dm_plex_box_faces 3,2 -dm_refine_hierarchy 2 -order 10 -mat_pa_q_1d 11 -pc_hopsmg_precision single -pc_mg_type full -ksp_type fgmres
    test:
      suffix: single_isa
      args: -precisions -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -dm_refine_hierarchy 1 -order 3 -hops_host_isa {{base avx2}}
      requires: avx2 real
    test:
      suffix: single_under
      requires: host real
      args: -precisions -inexact -dm_plex_dim {{2 3}separate output} -dm_plex_box_faces 3,2,2 -dm_refine_hierarchy 1 -order 5 -pc_hopsmg_coarsen p -mat_pa_q_1d {{5 6}separate output} -mat_pa_quadrature gauss
    test:
      suffix: single_gll
      requires: real
      args: -precisions -inexact -dm_plex_dim 2 -dm_plex_box_faces 3,2 -dm_refine_hierarchy 1 -order 5 -mat_pa_quadrature gll -pc_hopsmg_coarsen p
    test:
      suffix: single_patches
      requires: real
      nsize: {{1 3}}
      args: -precisions -dm_plex_dim {{2 3}separate output} -dm_plex_box_faces 3,2,2 -dm_refine_hierarchy 1 -order 3 -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1 -mg_levels_pc_patchfd_precision {{single double}} -scale 1
    test:
      suffix: single_patches_tiny
      requires: real
      args: -precisions -dm_plex_dim 2 -dm_plex_box_faces 3,2 -dm_refine_hierarchy 1 -order 3 -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1 -mg_levels_pc_patchfd_precision double
    test:
      suffix: single_patches_all
      requires: real
      nsize: {{1 3}}
      args: -precisions -dm_plex_dim 2 -dm_plex_box_faces 3,2 -dm_refine_hierarchy 1 -order 3 -ksp_type fgmres -mg_levels_ksp_type richardson -mg_levels_ksp_richardson_scale 0.2 -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 2 -mg_levels_pc_patchfd_type {{additive restricted}separate output} -scale 1
    test:
      suffix: single_patches_plate
      requires: real
      args: -precisions -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/plate.msh -dm_refine_hierarchy 1 -mass -mat_pa_q_1d 7 -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1 -scale 1
    test:
      suffix: up
      nsize: {{1 3}}
      args: -life -dm_plex_dim 2 -dm_plex_box_faces 2,2 -dm_refine_hierarchy 2 -pc_mg_distinct_smoothup
      output_file: output/hopsmg_life.out
    test:
      suffix: up_single
      requires: real
      nsize: {{1 3}}
      args: -precisions -dm_plex_dim 2 -dm_plex_box_faces 3,2 -dm_refine_hierarchy 2 -order 2 -pc_mg_distinct_smoothup -mg_levels_up_ksp_max_it {{1 9}separate output} -ksp_type fgmres -pc_hopsmg_precision {{double single}}
    test:
      suffix: up_single_patches
      requires: real
      nsize: {{1 3}}
      args: -precisions -dm_plex_dim 2 -dm_plex_box_faces 3,2 -dm_refine_hierarchy 1 -order 3 -pc_mg_distinct_smoothup -mg_levels_up_ksp_type richardson -mg_levels_up_pc_type patchfd -mg_levels_up_ksp_max_it 1 -mg_levels_up_pc_patchfd_precision {{double single}} -ksp_type fgmres -scale 1
    test:
      suffix: reverse
      nsize: {{1 3}}
      args: -life -dm_plex_dim 2 -dm_plex_box_faces 2,2 -dm_refine_hierarchy 2 -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it {{1 2}separate output}
    test:
      suffix: reverse_single
      requires: real
      nsize: {{1 3}}
      args: -precisions -dm_plex_dim {{2 3}separate output} -dm_plex_box_faces 3,2,2 -dm_refine_hierarchy 1 -order 3 -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1 -mg_levels_pc_patchfd_precision {{single double}} -mg_levels_pc_patchfd_direction backward -pc_hopsmg_reverse -pc_hopsmg_precision {{single double}} -scale 1
    test:
      suffix: single_plate
      requires: real
      nsize: 2
      args: -precisions -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/plate.msh -dm_refine_hierarchy 1 -mass -mat_pa_q_1d 7 -mg_levels_ksp_max_it 3

TEST*/
