static char help[] = "MATPA against its slow, independent assembly: action, diagonal, shell operations, coefficient updates.\n\
  -dim <d> -orders <p,...>\n\n";

#include "hopstest.h"

static PetscReal worst = 0.0;

/* relative difference of A x and B x for a random x, and of the diagonals */
static PetscErrorCode Compare(Mat A, Mat B, const char name[])
{
  Vec         x, y, z, d;
  PetscReal   e, n;
  PetscRandom r;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecDuplicate(y, &d));
  PetscCall(PetscRandomCreate(PetscObjectComm((PetscObject)A), &r));
  PetscCall(PetscRandomSetInterval(r, -1.0, 1.0));
  PetscCall(VecSetRandom(x, r));
  for (PetscInt k = 0; k < 4; ++k) {
    if (k == 0) { /* action */
      PetscCall(MatMult(A, x, y));
      PetscCall(MatMult(B, x, z));
    } else if (k == 1) { /* transpose */
      PetscCall(MatMultTranspose(A, x, y));
      PetscCall(MatMultTranspose(B, x, z));
    } else if (k == 2) { /* added to another vector */
      PetscCall(VecSetRandom(d, r));
      PetscCall(MatMultAdd(A, x, d, y));
      PetscCall(MatMultAdd(B, x, d, z));
    } else {
      PetscCall(MatGetDiagonal(A, y));
      PetscCall(MatGetDiagonal(B, z));
    }
    PetscCall(VecNorm(z, NORM_2, &n));
    PetscCall(VecAXPY(y, -1.0, z));
    PetscCall(VecNorm(y, NORM_2, &e));
    worst = TestWorse(worst, e / n);
    if (!(e <= 1e-13 * n))
      PetscCall(
        PetscPrintf(PETSC_COMM_WORLD, "%s, operation %" PetscInt_FMT ": relative difference %g\n", name, k, (double)(e / n)));
  }
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(Mat A, const char name[])
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(Compare(A, B, name));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the coefficient as a function, per cell, or at Gauss points, with nc components */
static PetscErrorCode Coefficient(HopsSpace sp, PetscInt kind, PetscInt nc, PetscInt q, HopsCoefficient *cf)
{
  PetscInt     dim, n, np;
  PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetDimension(sp, &dim));
  PetscCall(HopsSpaceGetNumCells(sp, &n));
  if (kind == 0) PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, nc, TestKappa, NULL, cf));
  else {
    np = kind == 1 ? 1 : PetscPowInt(q, dim);
    if (kind == 3) n = np = 1;
    PetscCall(PetscMalloc1(n * np * nc, &v));
    for (PetscInt i = 0; i < n * np; ++i) {
      const PetscReal x[3] = {0.37 * i, 0.11 * i * i, 0.05 * i};

      PetscCall(TestKappa(dim, x, nc, v + i * nc, NULL));
    }
    if (kind == 1) PetscCall(HopsCoefficientCreateCell(sp, nc, v, cf));
    else if (kind == 2) PetscCall(HopsCoefficientCreateQuadrature(sp, nc, q, v, cf));
    else PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, nc, v, cf));
    PetscCall(PetscFree(v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddRobin(DM dm, HopsSpace sp, Mat A)
{
  HopsCoefficient alpha;
  DMLabel         label;
  PetscInt        n, total, *cells, *faces;

  PetscFunctionBeginUser;
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, &alpha));
  for (PetscInt v = 2; v <= 4; v += 2) {
    PetscCall(HopsSpaceGetLabelFaces(sp, label, v, &n, &cells, &faces));
    PetscCall(MPIU_Allreduce(&n, &total, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    PetscCheck(total > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "No faces with value %" PetscInt_FMT, v);
    PetscCall(MatPAAddRobin(A, n, cells, faces, alpha));
    PetscCall(PetscFree(cells));
    PetscCall(PetscFree(faces));
  }
  PetscCall(HopsCoefficientDestroy(&alpha));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* shifts and scalings of the shell, duplicates, and new coefficients in place */
static PetscErrorCode ShellOperations(Mat A, HopsSpace sp, PetscInt dim)
{
  Mat             B, C, D;
  HopsCoefficient other;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
  PetscCall(MatScale(C, 2.5));
  PetscCall(MatShift(C, 0.7));
  PetscCall(MatScale(B, 2.5));
  PetscCall(MatShift(B, 0.7));
  PetscCall(Compare(C, B, "scaled and shifted duplicate"));
  PetscCall(MatDuplicate(C, MAT_COPY_VALUES, &D));
  PetscCall(Compare(D, B, "duplicate of it"));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscCall(Coefficient(sp, 0, 1, 0, &other));
  PetscCall(MatPASetDiffusion(A, other));
  PetscCall(MatPASetMass(A, NULL));
  PetscCall(Check(A, "new diffusion, no mass"));
  PetscCall(MatPASetMass(A, other));
  PetscCall(MatPASetDiffusion(A, NULL));
  PetscCall(Check(A, "mass only"));
  PetscCall(HopsCoefficientDestroy(&other));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const kinds[] = {"function", "cell", "quadrature", "constant"};
  DM                       dm;
  DMLabel                  label;
  PetscInt                 dim, np = 12, orders[12], one = 1;
  PetscBool                set;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_TRUE, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &np, &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -orders");
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  for (PetscInt i = 0; i < np; ++i) {
    const PetscInt p = orders[i];
    HopsSpace      sp;

    PetscCall(HopsSpaceCreateH1(dm, p, label, 1, &one, &sp));
    worst = 0.0;
    for (PetscInt q = p + 1; q <= p + 4; ++q) { /* p + 4 stands for the collocated rule */
      const PetscInt  nk  = p > 6 ? 1 : 4;
      const PetscBool gll = q == p + 4 ? PETSC_TRUE : PETSC_FALSE;

      for (PetscInt kind = 0; kind < nk; ++kind)
        for (PetscInt t = 0; t < 3; ++t) {
          const PetscInt  nc = t == 0 ? 1 : (t == 1 ? dim : dim * (dim + 1) / 2);
          HopsCoefficient kappa, mass;
          Mat             A;
          char            name[128];

          if (p > 6 && t != 2) continue;
          PetscCall(Coefficient(sp, kind, nc, q, &kappa));
          PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, &mass));
          PetscCall(MatCreatePA(sp, &A));
          PetscCall(MatPASetQuadrature(A, gll ? 0 : q, gll));
          PetscCall(MatPASetDiffusion(A, kappa));
          if (t != 1) PetscCall(MatPASetMass(A, mass));
          if (t == 2) PetscCall(AddRobin(dm, sp, A));
          PetscCall(PetscSNPrintf(name, sizeof(name),
                                  "order %" PetscInt_FMT " Q %" PetscInt_FMT "%s %s coefficient of %" PetscInt_FMT " components", p,
                                  gll ? p + 1 : q, gll ? " (GLL)" : "", kinds[kind], nc));
          PetscCall(Check(A, name));
          if (t == 2 && kind == 0 && q == p + 2) PetscCall(ShellOperations(A, sp, dim));
          PetscCall(MatDestroy(&A));
          PetscCall(HopsCoefficientDestroy(&kappa));
          PetscCall(HopsCoefficientDestroy(&mass));
        }
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ": %s\n", p, worst <= 1e-13 ? "agrees to 1e-13" : "DIFFERS"));
    PetscCall(HopsSpaceDestroy(&sp));
  }
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -dm_coord_petscspace_degree 3 -orders 1,2,3,4,5,6,7,8,9,10,12

    test:
      suffix: 2d
      nsize: {{1 3}}

    test:
      suffix: 2d_base
      requires: host
      args: -hops_host_isa base
      output_file: output/matpa_2d.out

    test:
      suffix: 2d_avx2
      requires: host avx2
      args: -hops_host_isa avx2
      output_file: output/matpa_2d.out

    test:
      suffix: 2d_avx512
      requires: host avx512f
      args: -hops_host_isa avx512
      output_file: output/matpa_2d.out

  testset:
    args: -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -dm_coord_petscspace_degree 2
    timeoutfactor: 3

    test:
      suffix: 3d_low
      args: -orders 1,2,3
      nsize: {{1 4}}

    test:
      suffix: 3d_low_base
      requires: host
      args: -orders 1,2,3 -hops_host_isa base
      output_file: output/matpa_3d_low.out

    test:
      suffix: 3d_low_avx2
      requires: host avx2
      args: -orders 1,2,3 -hops_host_isa avx2
      output_file: output/matpa_3d_low.out

    test:
      suffix: 3d_low_avx512
      requires: host avx512f
      args: -orders 1,2,3 -hops_host_isa avx512
      output_file: output/matpa_3d_low.out

    test:
      suffix: 3d_mid
      args: -dm_plex_box_faces 2,1,1 -orders 4,5

    test:
      suffix: 3d_high
      args: -dm_plex_box_faces 1,1,1 -orders {{6 7 8 9 10}separate output}

TEST*/
