static char help[] =
  "Robin conditions on all sides and a variable full tensor: convergence of order p+1, and the measure of curved faces.\n\
  -orders <p,...> -faces <n>\n\n";

#include "hopstest.h"

/* the box [0,1]^dim goes to M [0,1]^dim, curved inside: its faces stay plane */
static const PetscReal M[3][3] = {{1.0, 0.3, 0.1}, {0.2, 1.1, 0.0}, {0.0, 0.2, 0.9}};
static const PetscReal K[3][3] = {{1.0, 0.3, 0.2}, {0.3, 2.0, 0.4}, {0.2, 0.4, 3.0}};

static void Map(PetscInt dim, PetscReal x[])
{
  PetscReal bump = 0.06, y[3];

  for (PetscInt d = 0; d < dim; ++d) bump *= PetscSinReal(PETSC_PI * x[d]);
  for (PetscInt i = 0; i < dim; ++i) {
    y[i] = (i + 1) * bump;
    for (PetscInt j = 0; j < dim; ++j) y[i] += M[i][j] * x[j];
  }
  for (PetscInt i = 0; i < dim; ++i) x[i] = y[i];
}

static PetscErrorCode U(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(2.0 * x[0] + 0.3) * PetscExpReal(0.5 * x[1]) * (dim > 2 ? PetscCosReal(x[2]) : 1.0);
  return PETSC_SUCCESS;
}

/* derivatives of u: in direction i, and in directions i and j */
static PetscReal Derivative(PetscInt dim, const PetscReal x[], PetscInt i, PetscInt j)
{
  const PetscReal s = PetscSinReal(2.0 * x[0] + 0.3), c = PetscCosReal(2.0 * x[0] + 0.3), e = PetscExpReal(0.5 * x[1]);
  const PetscReal g[3][3] = {{s, 2.0 * c, -4.0 * s},
                             {e, 0.5 * e, 0.25 * e},
                             {dim > 2 ? PetscCosReal(x[2]) : 1.0, dim > 2 ? -PetscSinReal(x[2]) : 0.0,
                              dim > 2 ? -PetscCosReal(x[2]) : 0.0}};
  PetscReal       t       = 1.0;

  for (PetscInt d = 0; d < 3; ++d) t *= g[d][(d == i) + (d == j)];
  return t;
}

/* the tensor is s K, s = 1 + |x|^2 / 2 */
static PetscReal Scale(PetscInt dim, const PetscReal x[])
{
  return 1.0 + 0.5 * (x[0] * x[0] + x[1] * x[1] + (dim > 2 ? x[2] * x[2] : 0.0));
}

static PetscErrorCode Kappa(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar k[], void *ctx)
{
  for (PetscInt i = 0, n = 0; i < dim; ++i)
    for (PetscInt j = i; j < dim; ++j) k[n++] = Scale(dim, x) * K[i][j];
  return PETSC_SUCCESS;
}

static PetscErrorCode F(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  PetscCall(U(dim, x, 1, f, NULL));
  for (PetscInt i = 0; i < dim; ++i)
    for (PetscInt j = 0; j < dim; ++j)
      f[0] -= K[i][j] * (Scale(dim, x) * Derivative(dim, x, i, j) + x[i] * Derivative(dim, x, j, -1));
  return PETSC_SUCCESS;
}

static PetscErrorCode Alpha(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar a[], void *ctx)
{
  a[0] = 2.0 + x[0] * x[1];
  return PETSC_SUCCESS;
}

/* n.sK grad u + alpha u on a plane face; ctx is n */
static PetscErrorCode G(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar g[], void *ctx)
{
  const PetscReal *n = (const PetscReal *)ctx;
  PetscScalar      a, u;

  PetscCall(U(dim, x, 1, &u, NULL));
  PetscCall(Alpha(dim, x, 1, &a, NULL));
  g[0] = a * u;
  for (PetscInt i = 0; i < dim; ++i)
    for (PetscInt j = 0; j < dim; ++j) g[0] += Scale(dim, x) * n[i] * K[i][j] * Derivative(dim, x, j, -1);
  return PETSC_SUCCESS;
}

/* outward normal of the face of the mapped box with value v in "Face Sets": orthogonal to the other columns
   of M */
static void Normal(PetscInt dim, PetscInt v, PetscReal n[])
{
  static const PetscInt dir2[4] = {1, 0, 1, 0}, up2[4] = {0, 1, 1, 0}, dir3[6] = {2, 2, 1, 1, 0, 0}, up3[6] = {0, 1, 0, 1, 1, 0};
  const PetscInt        d = dim == 2 ? dir2[v - 1] : dir3[v - 1], up = dim == 2 ? up2[v - 1] : up3[v - 1];
  PetscReal             norm = 0.0, sign = 0.0;

  if (dim == 2) {
    n[0] = M[1][1 - d];
    n[1] = -M[0][1 - d];
  } else {
    const PetscInt a = (d + 1) % 3, b = (d + 2) % 3;

    for (PetscInt i = 0; i < 3; ++i) n[i] = M[(i + 1) % 3][a] * M[(i + 2) % 3][b] - M[(i + 2) % 3][a] * M[(i + 1) % 3][b];
  }
  for (PetscInt i = 0; i < dim; ++i) {
    norm += n[i] * n[i];
    sign += n[i] * M[i][d];
  }
  norm = (sign > 0.0 ? 1.0 : -1.0) * (up ? 1.0 : -1.0) / PetscSqrtReal(norm);
  for (PetscInt i = 0; i < dim; ++i) n[i] *= norm;
}

static PetscErrorCode AddFaces(DM dm, HopsSpace sp, PetscInt value, HopsCoefficient c, Mat A)
{
  DMLabel  label;
  PetscInt n, *cells, *faces;

  PetscFunctionBeginUser;
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(HopsSpaceGetLabelFaces(sp, label, value, &n, &cells, &faces));
  PetscCall(MatPAAddRobin(A, n, cells, faces, c));
  PetscCall(PetscFree(cells));
  PetscCall(PetscFree(faces));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(PetscInt dim, PetscInt p, PetscInt n, PetscReal *error)
{
  DM              dm;
  HopsSpace       sp;
  HopsCoefficient kappa, mass, alpha;
  PetscScalar     one = 1.0;
  PetscReal       normal[3];
  Mat             A, R;
  Vec             x, b, ones;

  PetscFunctionBeginUser;
  PetscCall(TestCube(dim, n, Map, &dm));
  PetscCall(HopsSpaceCreateH1(dm, p, NULL, 0, NULL, &sp));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, dim * (dim + 1) / 2, Kappa, NULL, &kappa));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &mass));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, Alpha, NULL, &alpha));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(MatPASetMass(A, mass));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(x, &ones));
  PetscCall(VecSet(ones, 1.0));
  PetscCall(HopsSpaceComputeRHS(sp, F, NULL, b));
  for (PetscInt v = 1; v <= 2 * dim; ++v) { /* a Robin term with coefficient g, applied to 1, is the linear form of g */
    HopsCoefficient g;

    Normal(dim, v, normal);
    PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, G, normal, &g));
    PetscCall(MatCreatePA(sp, &R));
    PetscCall(AddFaces(dm, sp, v, g, R));
    PetscCall(MatMultAdd(R, ones, b, b));
    PetscCall(AddFaces(dm, sp, v, alpha, A));
    PetscCall(HopsCoefficientDestroy(&g));
    PetscCall(MatDestroy(&R));
  }
  PetscCall(TestSolve(A, b, x, KSP_NORM_PRECONDITIONED, 1e-13, 80, NULL));
  PetscCall(HopsSpaceComputeL2Error(sp, x, U, NULL, error));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&ones));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&mass));
  PetscCall(HopsCoefficientDestroy(&alpha));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* cylinders (2D: circles) about the axes, radius and angle in place of x and y: faces of known measure */
static void Ring(PetscInt dim, PetscReal x[])
{
  const PetscReal r = 1.0 + x[0], t = x[1];

  x[0] = r * PetscCosReal(t);
  x[1] = r * PetscSinReal(t);
}

static PetscErrorCode Measure(PetscInt dim)
{
  DM                dm;
  HopsSpace         sp;
  HopsCoefficient   unit;
  Mat               R;
  Vec               x, y;
  const PetscScalar one = 1.0;
  PetscScalar       sum;

  PetscFunctionBeginUser;
  PetscCall(TestCube(dim, 4, Ring, &dm));
  PetscCall(HopsSpaceCreateH1(dm, 2, NULL, 0, NULL, &sp));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &unit));
  for (PetscInt v = 1; v <= 2 * dim; ++v) { /* two arcs of length 1 and 2, and straight sides */
    const PetscReal exact = dim == 2 ? (v == 2 ? 2.0 : 1.0) : (v <= 2 ? 1.5 : (v == 5 ? 2.0 : 1.0));

    PetscCall(MatCreatePA(sp, &R));
    PetscCall(AddFaces(dm, sp, v, unit, R));
    PetscCall(MatCreateVecs(R, &x, &y));
    PetscCall(VecSet(x, 1.0));
    PetscCall(MatMult(R, x, y));
    PetscCall(VecSum(y, &sum));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "measure of face %" PetscInt_FMT ": %s\n", v,
                          PetscAbsScalar(sum - exact) < 1e-6 ? "right" : "WRONG"));
    PetscCall(PetscInfo(NULL, "measure %.8f, exact %g\n", (double)PetscRealPart(sum), (double)exact));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&R));
  }
  PetscCall(HopsCoefficientDestroy(&unit));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt dim = 2, n = 4, orders[8], np = 8;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-faces", &n, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &np, NULL));
  PetscCall(Measure(dim));
  for (PetscInt i = 0; i < np; ++i) {
    PetscReal coarse, fine, rate;

    PetscCall(Solve(dim, orders[i], n, &coarse));
    PetscCall(Solve(dim, orders[i], 2 * n, &fine));
    rate = PetscLog2Real(coarse / fine);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ": %s\n", orders[i],
                          rate >= orders[i] + 0.8 ? "converges with p+1" : "TOO SLOW"));
    PetscCall(
      PetscInfo(NULL, "order %" PetscInt_FMT ": errors %g %g, rate %.2f\n", orders[i], (double)coarse, (double)fine, (double)rate));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: 2d
    nsize: {{1 3}}
    args: -dim 2 -faces 4 -orders 1,2,3,4,5 -dm_coord_petscspace_degree 3

  test:
    suffix: 3d
    nsize: {{1 4}}
    args: -dim 3 -faces 3 -orders 2,3 -dm_coord_petscspace_degree 3

TEST*/
