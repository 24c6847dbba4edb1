static char help[] =
  "Spectra of LOR^-1 A on boxes without essential boundary: natural, Robin and periodic boundaries, diffusion with mass.\n\
  -order <p> -periodic -wrong (a Robin term that the low-order-refined matrix does not have, which must escape)\n\n";

#include "hopstest.h"

/* m0, k0, k1 of orders 1 to 6, rounded outwards: mass by Gauss-Lobatto weights in [m0,1], stiffness by that
   of the sub-edges in [k0,k1] */
static const PetscReal table[6][3] = {{0.3332, 1.0000, 1.0000}, {0.3999, 1.0000, 1.3334}, {0.4285, 0.9681, 1.5795},
                                      {0.4443, 0.9661, 1.7156}, {0.4544, 0.9721, 1.8083}, {0.4614, 0.9776, 1.8790}};

/*
  Extreme eigenvalues of the pencil (A, LOR). With `singular`, both have the constants in their null space: a
  multiple of the constants' projector is added to both, which adds the eigenvalue 1, inside every interval,
  and leaves the others.
*/
static PetscErrorCode Extreme(Mat A, Mat P, PetscBool singular, PetscReal range[2])
{
  Mat          B, L;
  PC           pc;
  PetscInt     n, *all;
  PetscScalar *a, *b, worst = 0.0;
  PetscReal   *lambda;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCLORSetMatType(pc, MATAIJ)); /* its rows are read */
  PetscCall(PCSetOperators(pc, P, P));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PCLORGetMat(pc, &L));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatGetSize(B, &n, NULL));
  PetscCall(PetscMalloc4(n, &all, n * n, &a, n * n, &b, n, &lambda));
  for (PetscInt i = 0; i < n; ++i) all[i] = i;
  PetscCall(TestDense(B, n, all, a));
  PetscCall(TestDense(L, n, all, b));
  for (PetscInt i = 0; i < n && singular; ++i) {
    PetscScalar sa = 0.0, sb = 0.0;

    for (PetscInt j = 0; j < n; ++j) {
      sa += a[i * n + j];
      sb += b[i * n + j];
    }
    worst = TestWorse(TestWorse(worst, PetscAbsScalar(sa) / a[i * n + i]), PetscAbsScalar(sb) / b[i * n + i]);
    for (PetscInt j = 0; j < n; ++j) {
      a[i * n + j] += 1.0 / n;
      b[i * n + j] += 1.0 / n;
    }
  }
  if (worst > 1e-12) PetscCall(PetscPrintf(PETSC_COMM_SELF, "ROW SUMS ARE NOT ZERO: %g\n", (double)worst));
  PetscCall(TestEigenvalues(n, a, b, lambda));
  range[0] = lambda[0];
  range[1] = lambda[n - 1];
  PetscCall(PetscFree4(all, a, b, lambda));
  PetscCall(MatDestroy(&B));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Report(const char name[], const PetscReal range[2], PetscReal lo, PetscReal hi)
{
  const PetscBool inside = (range[0] >= lo - 1e-9 && range[1] <= hi + 1e-9) ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s\n", name, inside ? "inside" : "OUTSIDE"));
  PetscCall(
    PetscInfo(NULL, "eigenvalues [%g, %g], interval [%g, %g]\n", (double)range[0], (double)range[1], (double)lo, (double)hi));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Robin terms of different size on all faces of value 1 and 2 */
static PetscErrorCode AddRobin(DM dm, HopsSpace sp, Mat A)
{
  DMLabel label;

  PetscFunctionBeginUser;
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  for (PetscInt v = 1; v <= 2; ++v) {
    const PetscScalar a = v == 1 ? 100.0 : 3.0;
    PetscInt          n, *cells, *faces;
    HopsCoefficient   alpha;

    PetscCall(HopsSpaceGetLabelFaces(sp, label, v, &n, &cells, &faces));
    PetscCheck(n > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "There are no faces of value %" PetscInt_FMT, v);
    PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &a, &alpha));
    PetscCall(MatPAAddRobin(A, n, cells, faces, alpha));
    PetscCall(HopsCoefficientDestroy(&alpha));
    PetscCall(PetscFree(cells));
    PetscCall(PetscFree(faces));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt          dim, p = 3;
  PetscBool         periodic = PETSC_FALSE, wrong = PETSC_FALSE;
  const PetscScalar kd[3] = {1.0, 5.0, 0.5}, one = 1.0;
  PetscReal         range[2], lo, hi;
  DM                dm;
  HopsSpace         sp;
  HopsCoefficient   kappa, mass;
  Mat               A, P;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-periodic", &periodic, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-wrong", &wrong, NULL));
  PetscCall(TestMesh(PETSC_COMM_SELF, PETSC_FALSE, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(HopsSpaceCreateH1(dm, p, NULL, 0, NULL, &sp));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, dim, kd, &kappa));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &one, &mass));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, kappa));
  lo = table[p - 1][1] * PetscPowRealInt(table[p - 1][0], dim - 1);
  hi = table[p - 1][2];
  if (wrong) {
    PetscCall(MatCreatePA(sp, &P));
    PetscCall(MatPASetDiffusion(P, kappa));
    PetscCall(MatPASetMass(P, mass));
    PetscCall(MatPASetMass(A, mass));
    PetscCall(AddRobin(dm, sp, A));
    PetscCall(Extreme(A, P, PETSC_FALSE, range));
    PetscCall(Report("Robin term left out", range, PetscMin(lo, PetscPowRealInt(table[p - 1][0], dim)), hi));
    PetscCall(MatDestroy(&P));
  } else {
    PetscCall(Extreme(A, A, PETSC_TRUE, range));
    PetscCall(Report("diffusion", range, lo, hi));
    if (!periodic) { /* the mass of a face has the spectrum of dim-1 dimensions */
      PetscCall(AddRobin(dm, sp, A));
      PetscCall(Extreme(A, A, PETSC_FALSE, range));
      PetscCall(Report("diffusion, Robin", range, lo, hi));
    }
    lo = PetscMin(lo, PetscPowRealInt(table[p - 1][0], dim));
    PetscCall(MatPASetMass(A, mass));
    PetscCall(Extreme(A, A, PETSC_FALSE, range));
    PetscCall(Report(periodic ? "diffusion, mass" : "diffusion, mass, Robin", range, lo, hi));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&mass));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  testset:
    args: -lor_pc_type jacobi

    testset:
      output_file: output/boundary_robin.out
      test:
        suffix: 2d
        args: -dm_plex_dim 2 -dm_plex_box_faces 3,2 -dm_plex_box_upper 2,1 -order {{1 2 4 6}}
      test:
        suffix: 3d
        args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,1 -dm_plex_box_upper 2,1,3 -order {{1 2 3 5}}

    testset:
      output_file: output/boundary_periodic.out
      args: -periodic
      test:
        suffix: periodic_2d
        args: -dm_plex_dim 2 -dm_plex_box_faces 3,3 -dm_plex_box_bd periodic,none -order {{1 3 6}}
      test:
        suffix: periodic_both
        args: -dm_plex_dim 2 -dm_plex_box_faces 3,4 -dm_plex_box_bd periodic,periodic -order 4
      test:
        suffix: periodic_3d
        args: -dm_plex_dim 3 -dm_plex_box_faces 3,1,3 -dm_plex_box_bd periodic,none,periodic -order {{1 3}}

    test:
      suffix: wrong
      args: -wrong -dm_plex_dim 2 -dm_plex_box_faces 3,2 -order 4

TEST*/
