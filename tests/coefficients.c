static char help[] =
  "Coefficients per cell, at nodes or at quadrature points are those of the same field given as a function; rules of few points.\n\
  -order <p>\n\n";

#include "hopstest.h"

static PetscReal worst = 0.0;

/* relative difference of A x and B x for a random x */
static PetscErrorCode Compare(Mat A, Mat B)
{
  Vec         x, y, z;
  PetscRandom r;
  PetscReal   e, n;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(PetscRandomCreate(PetscObjectComm((PetscObject)A), &r));
  PetscCall(VecSetRandom(x, r));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(B, x, z));
  PetscCall(VecNorm(z, NORM_2, &n));
  PetscCall(VecAXPY(y, -1.0, z));
  PetscCall(VecNorm(y, NORM_2, &e));
  worst = TestWorse(worst, n > 0.0 ? e / n : 1.0);
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Say(const char name[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", name, worst <= 1e-13 ? "agree to 1e-13" : "DIFFER"));
  PetscCall(PetscInfo(NULL, "%s: %g\n", name, (double)worst));
  worst = 0.0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareForms(HopsSpace sp, PetscInt q, HopsCoefficient k[2], HopsCoefficient m[2])
{
  Mat A[2];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(MatCreatePA(sp, &A[i]));
    PetscCall(MatPASetQuadrature(A[i], q, PETSC_FALSE));
    PetscCall(MatPASetDiffusion(A[i], k[i]));
    PetscCall(MatPASetMass(A[i], m[i]));
  }
  PetscCall(Compare(A[0], A[1]));
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(MatDestroy(&A[i]));
    PetscCall(HopsCoefficientDestroy(&k[i]));
    PetscCall(HopsCoefficientDestroy(&m[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* at the Gauss points of graded boxes; essential unknowns make hops reorder the cells */
static PetscErrorCode Quadrature(PetscInt dim, PetscInt p)
{
  const PetscInt n[3] = {4, 3, 3}, q = p + 2, nq = PetscPowInt(q, dim), nt = dim * (dim + 1) / 2;
  PetscInt       ncells;
  PetscReal      z[65], *x, *w;
  HopsSpace      sp;

  PetscFunctionBeginUser;
  PetscCall(TestGLL(p + 1, z));
  PetscCall(TestBox(dim, n, p, 1.3, z, PETSC_TRUE, NULL, &sp));
  PetscCall(HopsSpaceGetNumCells(sp, &ncells));
  PetscCall(PetscMalloc2(q, &x, q, &w));
  PetscCall(PetscDTGaussQuadrature(q, -1.0, 1.0, x, w));
  for (PetscInt nc = 1; nc <= nt; nc = nc == 1 ? dim : (nc == dim ? nt : nt + 1)) {
    HopsCoefficient k[2], m[2];
    PetscScalar    *kv, *mv;

    PetscCall(PetscMalloc2(ncells * nq * nc, &kv, ncells * nq, &mv));
    for (PetscInt i = 0; i < ncells * nq; ++i) {
      PetscReal y[3] = {0.0, 0.0, 0.0};

      for (PetscInt d = 0, c = i / nq, j = i % nq; d < dim; c /= n[d], j /= q, ++d) {
        PetscReal s = 0.0, h = 1.0;

        for (PetscInt e = 0; e < c % n[d]; ++e, h *= 1.3) s += h;
        y[d] = s + 0.5 * h * (x[j % q] + 1.0);
      }
      PetscCall(TestKappa(dim, y, nc, kv + i * nc, NULL));
      PetscCall(TestMass(dim, y, 1, mv + i, NULL));
    }
    PetscCall(HopsCoefficientCreateQuadrature(sp, nc, q, kv, &k[0]));
    PetscCall(HopsCoefficientCreateQuadrature(sp, 1, q, mv, &m[0]));
    PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_SELF, nc, TestKappa, NULL, &k[1]));
    PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_SELF, 1, TestMass, NULL, &m[1]));
    PetscCall(CompareForms(sp, q, k, m));
    PetscCall(PetscFree2(kv, mv));
  }
  PetscCall(PetscFree2(x, w));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* that polynomials of all orders are exact for, on boxes */
static PetscErrorCode Linear(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar k[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) k[i] = 1.0 + i + x[0] + 0.5 * x[1];
  return PETSC_SUCCESS;
}

/* at the nodes of graded boxes; Gauss points and the nodes themselves */
static PetscErrorCode Nodal(PetscInt dim, PetscInt p, PetscBool gll)
{
  const PetscInt n[3] = {4, 3, 3}, P = p + 1, np = PetscPowInt(P, dim);
  PetscInt       ncells;
  PetscReal      z[65];
  HopsSpace      sp;
  Mat            A[2];

  PetscFunctionBeginUser;
  PetscCall(TestGLL(P, z));
  PetscCall(TestBox(dim, n, p, 1.3, z, PETSC_TRUE, NULL, &sp));
  PetscCall(HopsSpaceGetNumCells(sp, &ncells));
  for (PetscInt nc = 1; nc <= dim; nc += dim - 1) {
    HopsCoefficient k[2];
    PetscScalar    *kv;

    PetscCall(PetscMalloc1(ncells * np * nc, &kv));
    for (PetscInt i = 0; i < ncells * np; ++i) {
      PetscReal y[3] = {0.0, 0.0, 0.0};

      for (PetscInt d = 0, c = i / np, j = i % np; d < dim; c /= n[d], j /= P, ++d) {
        PetscReal s = 0.0, h = 1.0;

        for (PetscInt e = 0; e < c % n[d]; ++e, h *= 1.3) s += h;
        y[d] = s + 0.5 * h * (z[j % P] + 1.0);
      }
      PetscCall(Linear(dim, y, nc, kv + i * nc, NULL));
    }
    PetscCall(HopsCoefficientCreateNodal(sp, nc, kv, &k[0]));
    PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_SELF, nc, Linear, NULL, &k[1]));
    for (PetscInt i = 0; i < 2; ++i) {
      PetscCall(MatCreatePA(sp, &A[i]));
      PetscCall(MatPASetQuadrature(A[i], 0, gll));
      PetscCall(MatPASetDiffusion(A[i], k[i]));
      if (nc == 1) PetscCall(MatPASetMass(A[i], k[i]));
    }
    PetscCall(Compare(A[0], A[1]));
    for (PetscInt i = 0; i < 2; ++i) {
      PetscCall(MatDestroy(&A[i]));
      PetscCall(HopsCoefficientDestroy(&k[i]));
    }
    PetscCall(PetscFree(kv));
  }
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a function that is constant on the 4 x 3 (x 3) cells of the unit box, away from their faces */
static PetscErrorCode Piecewise(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar k[], void *ctx)
{
  PetscReal c[3] = {0.0, 0.0, 0.0};

  for (PetscInt d = 0; d < dim; ++d) {
    const PetscReal n = d ? 3.0 : 4.0;

    c[d] = (PetscFloorReal(n * x[d]) + 0.5) / n;
  }
  PetscCall(TestKappa(dim, c, nc, k, ctx));
  return PETSC_SUCCESS;
}

/* per cell of a DMPlex, in its numbering, overlap cells included */
static PetscErrorCode Cells(DM dm, PetscInt dim, PetscInt p)
{
  const PetscInt one = 1, nt = dim * (dim + 1) / 2;
  PetscInt       cStart, cEnd;
  DMLabel        label;
  HopsSpace      sp;

  PetscFunctionBeginUser;
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(HopsSpaceCreateH1(dm, p, label, 1, &one, &sp));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  for (PetscInt nc = 1; nc <= nt; nc = nc == 1 ? dim : (nc == dim ? nt : nt + 1)) {
    HopsCoefficient k[2], m[2];
    PetscScalar    *kv, *mv;

    PetscCall(PetscMalloc2((cEnd - cStart) * nc, &kv, cEnd - cStart, &mv));
    for (PetscInt c = cStart; c < cEnd; ++c) {
      PetscReal x[3];

      PetscCall(DMPlexComputeCellGeometryFVM(dm, c, NULL, x, NULL));
      PetscCall(Piecewise(dim, x, nc, kv + (c - cStart) * nc, NULL));
      PetscCall(Piecewise(dim, x, 1, mv + c - cStart, NULL));
    }
    PetscCall(HopsCoefficientCreateCell(sp, nc, kv, &k[0]));
    PetscCall(HopsCoefficientCreateCell(sp, 1, mv, &m[0]));
    PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, nc, Piecewise, NULL, &k[1]));
    PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, Piecewise, NULL, &m[1]));
    PetscCall(CompareForms(sp, 0, k, m));
    PetscCall(PetscFree2(kv, mv));
  }
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* fewer points than nodes: the operator against its assembly, on the mesh curved */
static PetscErrorCode FewPoints(PetscInt dim, PetscInt p)
{
  const PetscInt n[3] = {3, 2, 2};
  PetscReal      z[65];
  HopsSpace      sp;

  PetscFunctionBeginUser;
  PetscCall(TestGLL(p + 1, z));
  PetscCall(TestBox(dim, n, p, 1.0, z, PETSC_TRUE, TestCurve, &sp));
  for (PetscInt q = 1; q <= p; ++q)
    for (PetscInt form = 1; form <= 3; ++form) {
      HopsCoefficient k, m;
      Mat             A, B;
      Vec             d, e;
      PetscReal       diff, norm;

      PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_SELF, dim * (dim + 1) / 2, TestKappa, NULL, &k));
      PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_SELF, 1, TestMass, NULL, &m));
      PetscCall(MatCreatePA(sp, &A));
      PetscCall(MatPASetQuadrature(A, q, PETSC_FALSE));
      if (form & 1) PetscCall(MatPASetDiffusion(A, k));
      if (form & 2) PetscCall(MatPASetMass(A, m));
      PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
      PetscCall(Compare(A, B));
      PetscCall(MatCreateVecs(A, &d, &e));
      PetscCall(MatGetDiagonal(A, d));
      PetscCall(MatGetDiagonal(B, e));
      PetscCall(VecNorm(e, NORM_2, &norm));
      PetscCall(VecAXPY(e, -1.0, d));
      PetscCall(VecNorm(e, NORM_2, &diff));
      worst = TestWorse(worst, diff / norm);
      PetscCall(MatConvert(A, MATAIJ, MAT_REUSE_MATRIX, &B));
      PetscCall(Compare(A, B));
      PetscCall(VecDestroy(&d));
      PetscCall(VecDestroy(&e));
      PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&B));
      PetscCall(HopsCoefficientDestroy(&k));
      PetscCall(HopsCoefficientDestroy(&m));
    }
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM       dm;
  PetscInt dim, p = 3;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_FALSE, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(Quadrature(dim, p));
  PetscCall(Say("at quadrature points and as functions"));
  PetscCall(Nodal(dim, p, PETSC_FALSE));
  PetscCall(Nodal(dim, p, PETSC_TRUE));
  PetscCall(Say("at nodes and as functions"));
  PetscCall(Cells(dm, dim, p));
  PetscCall(Say("per cell and as functions"));
  PetscCall(FewPoints(dim, p));
  PetscCall(Say("operators of few points and their assembly"));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    output_file: output/coefficients.out

    test:
      suffix: 2d
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -order {{1 3 6}}
      nsize: {{1 3}}
    test:
      suffix: 2d_isa
      requires: host avx2
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -order 5 -hops_host_isa {{base avx2}}
    test:
      suffix: overlap
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -dm_distribute_overlap 1
      nsize: 3
    test:
      suffix: 3d
      args: -dm_plex_dim 3 -dm_plex_box_faces 4,3,3 -order {{2 4}}
    test:
      suffix: 3d_overlap
      args: -dm_plex_dim 3 -dm_plex_box_faces 4,3,3 -order 2 -dm_distribute_overlap 1
      nsize: 4

TEST*/
