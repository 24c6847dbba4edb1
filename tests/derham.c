static char help[] = "The spaces of the de Rham complex: unknowns, derivatives, commuting interpolation, values.\n\
  -dim <d> -order <p>\n\n";

#include "hopstest.h"

/* F (H(curl)), its curl (3D; in 2D only the first entry counts), G (H(div)), its divergence, phi and its
   gradient */
static PetscErrorCode Phi(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscReal z = dim > 2 ? x[2] : 0.0;

  u[0] = PetscSinReal(x[0] + 2.0 * x[1]) + x[0] * z * z;
  return PETSC_SUCCESS;
}

static PetscErrorCode GradPhi(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscReal z = dim > 2 ? x[2] : 0.0, c = PetscCosReal(x[0] + 2.0 * x[1]);

  u[0] = c + z * z;
  u[1] = 2.0 * c;
  if (dim > 2) u[2] = 2.0 * x[0] * z;
  return PETSC_SUCCESS;
}

static PetscErrorCode TurnedGradPhi(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  PetscScalar g[3];

  PetscCall(GradPhi(dim, x, nc, g, ctx));
  u[0] = g[1];
  u[1] = -g[0];
  return PETSC_SUCCESS;
}

static PetscErrorCode F(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscReal z = dim > 2 ? x[2] : 0.3;

  u[0] = PetscSinReal(x[1] + z);
  u[1] = PetscCosReal(2.0 * x[0] - z);
  if (dim > 2) u[2] = x[0] * x[1] + PetscExpReal(-x[1]);
  return PETSC_SUCCESS;
}

static PetscErrorCode CurlF(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscReal z = dim > 2 ? x[2] : 0.3, dxv = -2.0 * PetscSinReal(2.0 * x[0] - z), dyu = PetscCosReal(x[1] + z);

  if (dim == 2) u[0] = dxv - dyu;
  else {
    u[0] = x[0] - PetscExpReal(-x[1]) - PetscSinReal(2.0 * x[0] - z);
    u[1] = dyu - x[1];
    u[2] = dxv - dyu;
  }
  return PETSC_SUCCESS;
}

static PetscErrorCode G(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscReal z = dim > 2 ? x[2] : 0.3;

  u[0] = PetscSinReal(x[0] * x[1]) + z;
  u[1] = PetscCosReal(x[0] + x[1]);
  if (dim > 2) u[2] = PetscExpReal(z) * x[0];
  return PETSC_SUCCESS;
}

static PetscErrorCode DivG(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = x[1] * PetscCosReal(x[0] * x[1]) - PetscSinReal(x[0] + x[1]) + (dim > 2 ? PetscExpReal(x[2]) * x[0] : 0.0);
  return PETSC_SUCCESS;
}

/* D interpolate(u) = interpolate(du), up to the quadrature of the integrals; the same with
   HopsSpaceDifferentiate() */
static PetscErrorCode Commutes(const char name[], HopsSpace from, HopsSpace to, HopsPointFunction u, HopsPointFunction du)
{
  Mat       D;
  Vec       x, y, z, w;
  PetscReal a, b, c, e;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateDerivative(from, to, &D));
  PetscCall(HopsSpaceCreateVec(from, &x));
  PetscCall(HopsSpaceCreateVec(to, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecDuplicate(y, &w));
  PetscCall(HopsSpaceInterpolate(from, u, NULL, x));
  PetscCall(HopsSpaceInterpolate(to, du, NULL, y));
  PetscCall(MatMult(D, x, z));
  PetscCall(HopsSpaceDifferentiate(from, x, to, w));
  PetscCall(VecAXPY(w, -1.0, z));
  PetscCall(VecNorm(w, NORM_2, &c));
  PetscCall(VecAXPY(z, -1.0, y));
  PetscCall(VecNorm(y, NORM_2, &a));
  PetscCall(VecNorm(z, NORM_2, &b));
  PetscCall(HopsSpaceComputeL2Error(to, y, du, NULL, &e));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s, %s\n", name, b < 1e-7 * a ? "commutes" : "DOES NOT COMMUTE",
                        c < 1e-13 * a ? "matrix and action agree" : "matrix and action DIFFER"));
  if (b >= 1e-7 * a) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%g of %g\n", (double)b, (double)a));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&w));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the product of two derivatives has no entries but zeros */
static PetscErrorCode Zero(const char name[], HopsSpace a, HopsSpace b, HopsSpace c)
{
  Mat       D, E, P;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateDerivative(a, b, &D));
  PetscCall(HopsSpaceCreateDerivative(b, c, &E));
  PetscCall(MatMatMult(E, D, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &P));
  PetscCall(MatNorm(P, NORM_FROBENIUS, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", name, norm == 0.0 ? "zero" : "NOT ZERO"));
  PetscCall(MatDestroy(&D));
  PetscCall(MatDestroy(&E));
  PetscCall(MatDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* values at points against the function; and the error norm, which falls as h^p: both small at once only if
   unknowns and basis fit */
static PetscErrorCode Values(const char name[], HopsSpace sp, DM dm, HopsPointFunction f, PetscInt nc)
{
  Vec          x;
  PetscInt     dim, cStart, cEnd, *cells;
  PetscReal   *xi, e, worst = 0.0;
  PetscScalar *u;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(HopsSpaceInterpolate(sp, f, NULL, x));
  PetscCall(HopsSpaceComputeL2Error(sp, x, f, NULL, &e));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  PetscCall(PetscMalloc3(cEnd - cStart, &cells, (cEnd - cStart) * dim, &xi, (cEnd - cStart) * nc, &u));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    cells[c - cStart] = c;
    for (PetscInt d = 0; d < dim; ++d) xi[(c - cStart) * dim + d] = 0.0;
  }
  PetscCall(HopsSpaceEvaluate(sp, x, cEnd - cStart, cells, xi, u));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    const PetscScalar *array;
    PetscScalar       *coords, v[3];
    PetscReal          m[3] = {0.0, 0.0, 0.0};
    PetscBool          isdg;
    PetscInt           n;

    /* straight cells: the centre is the mean of the corners */
    PetscCall(DMPlexGetCellCoordinates(dm, c, &isdg, &n, &array, &coords));
    for (PetscInt i = 0; i < n; ++i) m[i % dim] += coords[i] * dim / n;
    PetscCall(DMPlexRestoreCellCoordinates(dm, c, &isdg, &n, &array, &coords));
    PetscCall((*f)(dim, m, nc, v, NULL));
    for (PetscInt i = 0; i < nc; ++i) worst = TestWorse(worst, PetscAbsScalar(v[i] - u[(c - cStart) * nc + i]));
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &worst, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: error %s, at the centres %s\n", name, e < 1e-3 ? "small" : "LARGE",
                        worst < 1e-3 ? "small" : "LARGE"));
  PetscCall(PetscFree3(cells, xi, u));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt  dim = 2, p = 3, values[6] = {1, 2, 3, 4, 5, 6};
  DM        dm;
  DMLabel   label;
  HopsSpace h1, curl, div, l2, h10, curl0, div0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_TRUE, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(HopsSpaceCreateH1(dm, p, NULL, 0, NULL, &h1));
  PetscCall(HopsSpaceCreateHCurl(dm, p, NULL, 0, NULL, &curl));
  PetscCall(HopsSpaceCreateHDiv(dm, p, NULL, 0, NULL, &div));
  PetscCall(HopsSpaceCreateL2(dm, p, &l2));
  PetscCall(HopsSpaceView(curl, NULL));
  PetscCall(HopsSpaceView(div, NULL));
  PetscCall(HopsSpaceView(l2, NULL));
  PetscCall(Commutes("gradient", h1, curl, Phi, GradPhi));
  if (dim == 3) PetscCall(Commutes("curl", curl, div, F, CurlF));
  else {
    PetscCall(Commutes("curl", curl, l2, F, CurlF));
    PetscCall(Commutes("turned gradient", h1, div, Phi, TurnedGradPhi));
  }
  PetscCall(Commutes("divergence", div, l2, G, DivG));
  if (dim == 3) {
    PetscCall(Zero("curl grad", h1, curl, div));
    PetscCall(Zero("div curl", curl, div, l2));
  } else {
    PetscCall(Zero("curl grad", h1, curl, l2));
    PetscCall(Zero("div turned grad", h1, div, l2));
  }
  /* with essential boundaries the complex is one of subspaces */
  PetscCall(HopsSpaceCreateH1(dm, p, label, 6, values, &h10));
  PetscCall(HopsSpaceCreateHCurl(dm, p, label, 6, values, &curl0));
  PetscCall(HopsSpaceCreateCompanion(curl0, HOPS_HDIV, PETSC_TRUE, &div0));
  PetscCall(HopsSpaceView(h10, NULL));
  PetscCall(HopsSpaceView(curl0, NULL));
  PetscCall(HopsSpaceView(div0, NULL));
  PetscCall(Zero("curl grad with essential unknowns", h10, curl0, dim == 3 ? div0 : l2));
  PetscCall(Zero("div of curl or turned gradient with essential unknowns", dim == 3 ? curl0 : h10, div0, l2));
  if (p >= 4) {
    PetscCall(Values("H(curl)", curl, dm, F, dim));
    PetscCall(Values("H(div)", div, dm, G, dim));
    PetscCall(Values("L2", l2, dm, DivG, 1));
  }
  PetscCall(HopsSpaceDestroy(&h1));
  PetscCall(HopsSpaceDestroy(&curl));
  PetscCall(HopsSpaceDestroy(&div));
  PetscCall(HopsSpaceDestroy(&l2));
  PetscCall(HopsSpaceDestroy(&h10));
  PetscCall(HopsSpaceDestroy(&curl0));
  PetscCall(HopsSpaceDestroy(&div0));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 3}}
    filter: sed -e 's,back end [a-z]*,back end host,'
    test:
      suffix: 2d
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,4 -order {{1 2 3 5}separate output}
    test:
      suffix: 3d
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -order {{1 2 3 5}separate output}

TEST*/
