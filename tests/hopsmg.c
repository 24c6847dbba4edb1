static char help[] = "The life of PCHOPSMG: convergence on a mesh of options, new coefficients, resets, transposes, null spaces, coarse matrices, meshes made separately.\n\
  -order <p>\n\n";

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

/* A x = A u; at most `most` iterations, or their number printed where most is 0. Constants do not count where they are in the null space */
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
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s, iterations %" PetscInt_FMT "\n", name, reason > 0 && e <= 1e-7 * n ? "ok" : "WRONG", its));
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
  PetscCall(VecDot(x, z, &s));
  PetscCall(PCApply(pc, x, z));
  PetscCall(VecDot(y, z, &t));
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

/* interpolating coordinates up the levels is exact, in whatever way the cells are turned and the ranks share them */
static PetscErrorCode Levels(KSP ksp, PetscInt dim)
{
  PC        pc;
  PetscInt  n;
  PetscReal worst = 0.0, adjoint = 0.0;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCMGGetLevels(pc, &n));
  for (PetscInt l = 1; l < n; ++l) {
    Mat         P;
    HopsSpace   coarse, fine;
    Vec         x, y, z, w;
    PetscScalar s, t;
    PetscReal   e;
    PetscRandom r;

    PetscCall(PCHopsMGGetSpace(pc, l - 1, &coarse));
    PetscCall(PCHopsMGGetSpace(pc, l, &fine));
    PetscCall(PCMGGetInterpolation(pc, l, &P));
    PetscCall(MatCreateVecs(P, &x, &y));
    PetscCall(VecDuplicate(y, &z));
    PetscCall(VecDuplicate(x, &w));
    PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
    PetscCall(VecSetRandom(x, r));
    PetscCall(VecSetRandom(z, r));
    PetscCall(PetscRandomDestroy(&r));
    PetscCall(MatMult(P, x, y));
    PetscCall(VecDot(z, y, &s));
    PetscCall(MatMultTranspose(P, z, w));
    PetscCall(VecDot(w, x, &t));
    adjoint = PetscMax(adjoint, PetscAbsScalar(s - t) / PetscAbsScalar(s));
    PetscCall(HopsSpaceInterpolate(coarse, Wave, NULL, x));
    PetscCall(MatMult(P, x, y)); /* evaluation is a left inverse of prolongation */
    PetscCall(MatCreateHopsInterp(fine, coarse, &P));
    PetscCall(MatMult(P, y, w));
    PetscCall(MatDestroy(&P));
    PetscCall(VecAXPY(w, -1.0, x));
    PetscCall(VecNorm(w, NORM_INFINITY, &e));
    worst = PetscMax(worst, e);
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&z));
    PetscCall(VecDestroy(&w));
  }
  PetscCall(Say("evaluation of what was prolonged", worst < 1e-12 ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(Say("restriction is the transpose", adjoint < 1e-12 ? PETSC_TRUE : PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM              dm;
  HopsSpace       sp;
  Mat             A;
  KSP             ksp;
  DMLabel         label;
  HopsCoefficient c;
  PetscInt        dim, p = 3, values[16];
  PetscBool       life = PETSC_FALSE, view = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-life", &life, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-view", &view, NULL));
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_FALSE, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  for (PetscInt v = 0; v < 16; ++v) values[v] = v + 1;
  PetscCall(HopsSpaceCreateH1(dm, p, label, 16, values, &sp));
  if (life) {
    PetscCall(Changes(sp, dim, p));
    PetscCall(Natural(dm, dim, p));
  } else {
    PetscCall(MatCreatePA(sp, &A));
    PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestKappa, NULL, &c));
    PetscCall(MatPASetDiffusion(A, c));
    PetscCall(HopsCoefficientDestroy(&c));
    PetscCall(Create(A, &ksp));
    PetscCall(Solve(ksp, sp, "solve", 0));
    PetscCall(Levels(ksp, dim));
    if (view) {
      PC pc;

      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCView(pc, NULL));
    }
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
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

TEST*/
