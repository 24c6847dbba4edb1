static char help[] =
  "Solutions in H(curl) and H(div), and their curl or divergence, converge with order p in L2 on curved and unstructured meshes.\n\
  -family <HCURL,HDIV> -dim <d> -order <p> -cells <n> (a curved box), or -dm_plex_filename <file>, refined -levels <l> times\n\n";

#include "hopstest.h"

static HopsFamily family = HOPS_HCURL;

/* E = (sin k y, sin k z, sin k x), in 2D (sin k y, sin k x): curl curl E = k^2 E; u_i = sin k x_i for the
   divergence */
static const PetscReal k = 2.0;

static PetscErrorCode Exact(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < dim; ++i)
    u[i] = family == HOPS_HCURL ? PetscSinReal(k * x[(i + 1) % dim]) : PetscSinReal(k * x[i]) * (1.0 + x[(i + 1) % dim]);
  return PETSC_SUCCESS;
}

static PetscErrorCode Derivative(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  if (family == HOPS_HDIV) {
    u[0] = 0.0;
    for (PetscInt i = 0; i < dim; ++i) u[0] += k * PetscCosReal(k * x[i]) * (1.0 + x[(i + 1) % dim]);
  } else if (dim == 2) u[0] = k * (PetscCosReal(k * x[0]) - PetscCosReal(k * x[1]));
  else
    for (PetscInt i = 0; i < 3; ++i) u[i] = -k * PetscCosReal(k * x[(i + 2) % 3]);
  return PETSC_SUCCESS;
}

/* curl curl E + E, or u - grad div u */
static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  PetscCall(Exact(dim, x, nc, f, ctx));
  for (PetscInt i = 0; i < dim; ++i) {
    const PetscInt last = (i + dim - 1) % dim;

    if (family == HOPS_HCURL) f[i] *= k * k + 1.0;
    else f[i] += k * k * PetscSinReal(k * x[i]) * (1.0 + x[(i + 1) % dim]) - k * PetscCosReal(k * x[last]);
  }
  return PETSC_SUCCESS;
}

static PetscErrorCode Solve(DM dm, PetscInt dim, PetscInt p, PetscReal error[2], PetscInt *its)
{
  const PetscInt  values[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  PetscScalar     one        = 1.0;
  DMLabel         label;
  HopsSpace       sp, dsp;
  HopsCoefficient cf;
  Mat             A;
  Vec             x, b, d;
  KSP             ksp;
  PC              pc;

  PetscFunctionBeginUser;
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  if (family == HOPS_HCURL) PetscCall(HopsSpaceCreateHCurl(dm, p, label, 16, values, &sp));
  else PetscCall(HopsSpaceCreateHDiv(dm, p, label, 16, values, &sp));
  PetscCall(HopsSpaceSetEssentialFunction(sp, Exact, NULL));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &cf));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(family == HOPS_HCURL ? MatPASetCurlCurl(A, cf) : MatPASetDivDiv(A, cf));
  PetscCall(MatPASetMass(A, cf));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(HopsSpaceComputeRHS(sp, Source, NULL, b));
  PetscCall(MatPALiftEssential(A, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(HopsSpaceComputeL2Error(sp, x, Exact, NULL, &error[0]));
  PetscCall(HopsSpaceCreateCompanion(sp, family == HOPS_HCURL && dim == 3 ? HOPS_HDIV : HOPS_L2, PETSC_FALSE, &dsp));
  PetscCall(HopsSpaceCreateVec(dsp, &d));
  PetscCall(HopsSpaceDifferentiate(sp, x, dsp, d));
  PetscCall(HopsSpaceComputeL2Error(dsp, d, Derivative, NULL, &error[1]));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&d));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&cf));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(HopsSpaceDestroy(&dsp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt  dim = 2, p = 2, n = 2, levels = 1, its;
  PetscBool file;
  PetscReal e[2], last[2] = {0.0, 0.0}, rate[2] = {0.0, 0.0}, tol = 0.25;
  DM        dm;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-family",
                                (const char *const[]){"H1", "HCURL", "HDIV", "L2", "HopsFamily", "HOPS_", NULL},
                                (PetscEnum *)&family, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cells", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-levels", &levels, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-tol", &tol, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-dm_plex_filename", &file));
  for (PetscInt l = 0; l <= levels; ++l, n *= 2) {
    if (file) {
      char text[64];

      PetscCall(PetscSNPrintf(text, sizeof(text), "-dm_refine %" PetscInt_FMT, l));
      PetscCall(PetscOptionsInsertString(NULL, text));
      PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_TRUE, &dm));
      PetscCall(DMGetDimension(dm, &dim));
    } else PetscCall(TestCube(dim, n, TestCurve, &dm));
    PetscCall(Solve(dm, dim, p, e, &its));
    PetscCall(PetscInfo(NULL, "level %" PetscInt_FMT ": errors %g, %g, iterations %" PetscInt_FMT "\n", l, (double)e[0],
                        (double)e[1], its));
    for (PetscInt i = 0; i < 2; ++i) {
      if (l) rate[i] = PetscLogReal(last[i] / e[i]) / PetscLogReal(2.0);
      last[i] = e[i];
    }
    PetscCall(DMDestroy(&dm));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ": the field %s, its derivative %s\n", p,
                        rate[0] > p - tol ? "converges" : "DOES NOT CONVERGE",
                        rate[1] > p - tol ? "converges" : "DOES NOT CONVERGE"));
  if (rate[0] <= p - tol || rate[1] <= p - tol)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "rates %g %g\n", (double)rate[0], (double)rate[1]));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: hypre
    args: -family {{HCURL HDIV}}
    test:
      suffix: 2d
      nsize: {{1 2}}
      args: -dim 2 -cells 4 -dm_coord_petscspace_degree 2 -order {{1 2 3 4 6}separate output}
    test:
      suffix: 3d
      nsize: 2
      timeoutfactor: 2
      args: -dim 3 -cells 2 -dm_coord_petscspace_degree 2 -order {{1 2 3 4}separate output}
    test:
      suffix: plate
      args: -dm_plex_gmsh_highorder 0 -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/plate.msh -order {{1 2 3}separate output}
    test:
      suffix: elbow
      nsize: 2
      timeoutfactor: 2
      args: -dm_plex_gmsh_highorder 0 -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/elbow.msh -order {{2 3}separate output}

TEST*/
