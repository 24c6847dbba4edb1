static char help[] =
  "A mass coefficient that is zero in a part of the cells, in H(curl) and H(div): AMS's interior nodes, and -pc_lor_zero_mass.\n\
  -order <p>, -family <HCURL,HDIV>\n\n";

#include "hopstest.h"

static HopsFamily family = HOPS_HCURL;

/* nc components: positive definite, but zero in the cells with their centre at x < 1/2 (in = 2), or in every
   third; at q_1d points in each direction, or 0 for one value */
static PetscErrorCode CreateMass(DM dm, HopsSpace sp, PetscInt in, PetscInt nc, PetscInt q_1d, HopsCoefficient *cf)
{
  PetscInt     cStart, cEnd, dim, nq;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  nq = q_1d ? PetscPowInt(q_1d, dim) : 1;
  PetscCall(PetscMalloc1((cEnd - cStart) * nq * nc, &a));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    PetscReal x[3], volume;

    PetscCall(DMPlexComputeCellGeometryFVM(dm, c, &volume, x, NULL));
    for (PetscInt q = 0; q < nq; ++q) {
      PetscScalar *v = a + ((c - cStart) * nq + q) * nc;

      PetscCall(TestKappa(dim, x, nc, v, NULL));
      for (PetscInt k = 0; k < nc; ++k)
        if (in == 2 ? x[0] < 0.5 : c % in == 0) v[k] = 0.0;
    }
  }
  if (q_1d) PetscCall(HopsCoefficientCreateQuadrature(sp, nc, q_1d, a, cf));
  else PetscCall(HopsCoefficientCreateCell(sp, nc, a, cf));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Field(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) u[i] = 1.0 + PetscSinReal(3.0 * x[(i + 1) % dim] + i);
  return PETSC_SUCCESS;
}

/* CG for A x = A u: x is u up to the kernel, so that it has the energy of u. The coefficients go from one
   form to the next in one preconditioner */
static PetscErrorCode Solve(const char name[], Mat A, KSP ksp, HopsCoefficient mass, Vec u)
{
  Vec                x, f, r;
  PetscScalar        is, should;
  PetscReal          rnorm, fnorm;
  PetscInt           its;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(MatPASetMass(A, mass));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(VecDuplicate(u, &x));
  PetscCall(VecDuplicate(u, &f));
  PetscCall(VecDuplicate(u, &r));
  PetscCall(MatMult(A, u, f));
  PetscCall(KSPSolve(ksp, f, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(VecDot(x, f, &is));
  PetscCall(VecDot(u, f, &should));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1.0, f));
  PetscCall(VecNorm(r, NORM_2, &rnorm));
  PetscCall(VecNorm(f, NORM_2, &fnorm));
  PetscCall(PetscInfo(ksp, "%s: %" PetscInt_FMT " iterations, reason %d, residual %g, energy off by %g\n", name, its, (int)reason,
                      (double)(rnorm / fnorm), (double)PetscAbsScalar(is / should - 1.0)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s, %s, %s\n", name, reason > 0 ? "converged" : "DIVERGED",
                        rnorm <= 1e-6 * fnorm ? "solved" : "NOT SOLVED",
                        PetscAbsScalar(is - should) <= 1e-9 * PetscAbsScalar(should) ? "the energy" : "ANOTHER ENERGY"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&f));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt    values[2] = {1, 2};
  const PetscScalar unit = 1.0, nought = 0.0;
  PetscInt          order = 2, dim;
  DM                dm;
  DMLabel           label;
  HopsSpace         sp;
  HopsCoefficient   mu, one, none, scalar, points, full, third;
  Mat               A;
  Vec               u;
  KSP               ksp;
  PC                pc;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-family",
                                (const char *const[]){"H1", "HCURL", "HDIV", "L2", "HopsFamily", "HOPS_", NULL},
                                (PetscEnum *)&family, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_TRUE, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  if (family == HOPS_HCURL) PetscCall(HopsSpaceCreateHCurl(dm, order, label, 2, values, &sp));
  else PetscCall(HopsSpaceCreateHDiv(dm, order, label, 2, values, &sp));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &unit, &one));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &nought, &none));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, family == HOPS_HCURL && dim == 3 ? 6 : 1, TestKappa, NULL, &mu));
  PetscCall(CreateMass(dm, sp, 2, 1, 0, &scalar));
  PetscCall(CreateMass(dm, sp, 2, dim, order + 2, &points));
  PetscCall(CreateMass(dm, sp, 2, dim * (dim + 1) / 2, 0, &full));
  PetscCall(CreateMass(dm, sp, 3, 1, order + 2, &third));
  PetscCall(MatCreatePA(sp, &A));
  if (family == HOPS_HCURL) PetscCall(MatPASetCurlCurl(A, mu));
  else PetscCall(MatPASetDivDiv(A, mu));
  PetscCall(HopsSpaceCreateVec(sp, &u));
  PetscCall(HopsSpaceInterpolate(sp, Field, NULL, u));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NATURAL));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 80));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(Solve("by cell, zero in one half", A, ksp, scalar, u));
  PetscCall(Solve("nowhere zero", A, ksp, one, u));
  PetscCall(Solve("at points, zero in every third cell", A, ksp, third, u));
  PetscCall(Solve("diagonal tensor at points, zero in one half", A, ksp, points, u));
  PetscCall(Solve("full tensor by cell, zero in one half", A, ksp, full, u));
  PetscCall(Solve("zero everywhere", A, ksp, none, u));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&u));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&mu));
  PetscCall(HopsCoefficientDestroy(&one));
  PetscCall(HopsCoefficientDestroy(&none));
  PetscCall(HopsCoefficientDestroy(&scalar));
  PetscCall(HopsCoefficientDestroy(&points));
  PetscCall(HopsCoefficientDestroy(&full));
  PetscCall(HopsCoefficientDestroy(&third));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: hypre

  testset:
    output_file: output/zeromass.out
    test:
      suffix: 2d
      nsize: {{1 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 6,5 -order {{2 4}} -family {{HCURL HDIV}}

    test:
      suffix: 2d_fill
      nsize: {{1 2}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 6,5 -order 3 -family {{HCURL HDIV}} -pc_lor_zero_mass {{1e-6 1e-3 1e-1}}

    test:
      suffix: 3d
      nsize: {{1 2}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 4,3,3 -order {{1 2}} -family {{HCURL HDIV}}

    test:
      suffix: 3d_fill
      nsize: {{1 2}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 4,3,3 -order 2 -family {{HCURL HDIV}} -pc_lor_zero_mass {{1e-3 1e-1}}

  test:
    suffix: view
    args: -dm_plex_dim 3 -dm_plex_box_faces 4,3,3 -order 1 -pc_lor_zero_mass 1e-2 -ksp_view
    filter: grep -o "mass coefficient zero in .*"
    diff_args: -j

  test:
    suffix: refused
    args: -dm_plex_dim 3 -dm_plex_box_faces 4,3,3 -order 1 -family HDIV -pc_lor_zero_mass 0 -petsc_ci_portable_error_output
    filter: grep -o -m 1 "refined matrix of H(div) is singular: use -pc_lor_zero_mass"

TEST*/
