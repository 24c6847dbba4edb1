static char help[] =
  "A DMPLEX with a tree: spaces of hops' own numbering and of a PetscFE; polynomials are exact, PETSc's matrix is the same.\n\
  -dim <d> -order <p>\n\
  -cells <n> -refine <c> : the cell of a box that PETSc refines; else a mesh is refined at random:\n\
  -roots <n,n,n> -finest <l> -part <s> -seed <n> -turn\n\
  -own : hops' own numbering, else the section of a PetscFE; -petsc : PETSc's matrix is compared\n\
  -snes : a code of PETSc's alone\n\
  -gap : a hanging vertex is moved, which is refused; -refused: what else is\n\
  -families : H(curl) and H(div), solved with AMS and ADS\n\n";

#include "hangingtree.h"
#include "hopsexpect.h"
#include <petscds.h>
#include <petscsnes.h>

static PetscInt power = 2;

static PetscErrorCode U(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = 1.0 - 2.0 * x[0] + 3.0 * x[1] + (dim > 2 ? x[2] : 0.0) + (power > 1 ? x[0] * x[0] - 3.0 * x[1] * x[1] + x[0] * x[1] : 0.0);
  return PETSC_SUCCESS;
}

static PetscErrorCode F(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  f[0] = power > 1 ? 4.0 : 0.0;
  return PETSC_SUCCESS;
}

/* of the exact solution, which has continuous fluxes: zero; of one that hardly is one: not */
static PetscErrorCode CompareEstimates(HopsSpace sp, Mat A, Vec x)
{
  PetscReal n[2];
  Vec       eta;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateCellVec(sp, &eta));
  for (PetscInt k = 0; k < 2; ++k) {
    for (PetscInt type = 0; type <= (PetscInt)HOPS_ESTIMATE_RESIDUAL; ++type) {
      PetscCall(HopsSpaceEstimateError(sp, A, x, (HopsEstimateType)type, F, NULL, NULL, eta));
      PetscCall(VecNorm(eta, NORM_2, &n[k]));
      if (!(k ? n[k] >= 0.1 : n[k] <= 1e-8))
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %g\n", HopsEstimateTypes[type], (double)n[k]));
    }
    if (!k) PetscCall(VecScale(x, 2.0)); /* essential values are kept */
  }
  PetscCall(VecDestroy(&eta));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(HopsSpace sp, PetscReal *error)
{
  const PetscScalar one = 1.0;
  HopsCoefficient   k;
  Mat               A;
  Vec               x, b;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &k));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, k));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(HopsSpaceSetEssentialFunction(sp, U, NULL));
  PetscCall(HopsSpaceComputeRHS(sp, F, NULL, b));
  PetscCall(MatPALiftEssential(A, b));
  PetscCall(TestSolve(A, b, x, KSP_NORM_PRECONDITIONED, 1e-12, 100, NULL));
  PetscCall(HopsSpaceComputeL2Error(sp, x, U, NULL, error));
  if (!PetscDefined(USE_COMPLEX)) PetscCall(CompareEstimates(sp, A, x)); /* estimates are of real functions */
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void G3(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[],
               const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[],
               const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, PetscReal shift,
               const PetscReal x[], PetscInt numConstants, const PetscScalar constants[], PetscScalar g3[])
{
  for (PetscInt d = 0; d < dim; ++d) g3[d * dim + d] = 1.0;
}

/* A takes its diffusion from a coefficient, another operator from the PetscDS: the estimates are the same */
static PetscErrorCode CompareForms(DM dm, HopsSpace sp, Mat A)
{
  Mat B;
  Vec x, eta[2];

  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(sp, &B));
  PetscCall(MatPASetFromDS(B, dm));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecSetRandom(x, NULL));
  for (int k = 0; k < 2; ++k) PetscCall(HopsSpaceCreateCellVec(sp, &eta[k]));
  for (PetscInt type = 0; type <= (PetscInt)HOPS_ESTIMATE_RESIDUAL; ++type) {
    PetscReal e, n;

    PetscCall(HopsSpaceEstimateError(sp, A, x, (HopsEstimateType)type, F, NULL, NULL, eta[0]));
    PetscCall(HopsSpaceEstimateError(sp, B, x, (HopsEstimateType)type, F, NULL, NULL, eta[1]));
    PetscCall(VecAXPY(eta[1], -1.0, eta[0]));
    PetscCall(VecNorm(eta[0], NORM_INFINITY, &n));
    PetscCall(VecNorm(eta[1], NORM_INFINITY, &e));
    if (!(e <= 1e-11 * n))
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "PETSc's functions: %s DIFFERS by %g of %g\n", HopsEstimateTypes[type], (double)e,
                            (double)n));
  }
  for (int k = 0; k < 2; ++k) PetscCall(VecDestroy(&eta[k]));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the matrix that PETSc assembles, entry by entry; PCLOR on it, which is given the space */
static PetscErrorCode ComparePETSc(DM dm, HopsSpace sp)
{
  const PetscScalar one = 1.0;
  HopsCoefficient   k;
  PetscDS           ds;
  Mat               J, A, B;
  Vec               X, x, b;
  KSP               ksp;
  PC                pc;
  PetscReal         e, n;
  PetscInt          its, n2;

  PetscFunctionBeginUser;
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, NULL, NULL, NULL, G3));
  PetscCall(DMCreateMatrix(dm, &J));
  PetscCall(DMGetLocalVector(dm, &X));
  PetscCall(VecSet(X, 0.0));
  PetscCall(DMPlexSNESComputeJacobianFEM(dm, X, J, J, NULL));
  PetscCall(DMRestoreLocalVector(dm, &X));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &k));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, k));
  if (!PetscDefined(USE_COMPLEX)) PetscCall(CompareForms(dm, sp, A));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatNorm(B, NORM_INFINITY, &n));
  PetscCall(MatAXPY(B, -1.0, J, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(B, NORM_INFINITY, &e));
  if (e <= 1e-12 * n) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "PETSc's matrix: the same\n"));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "PETSc's matrix DIFFERS by %g\n", (double)(e / n)));
  PetscCall(MatCreateVecs(J, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, J, J));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCLORSetSpace(pc, sp));
  PetscCall(PCLORSetCoefficients(pc, k, NULL));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations with PETSc's matrix: %s\n", its < 15 ? "few" : "MANY"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp)); /* the form is the PetscDS's */
  PetscCall(KSPSetOperators(ksp, J, J));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &n2));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "with PETSc's matrix alone: %s\n", its == n2 ? "the same" : "OTHERS"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&J));
  PetscCall(HopsCoefficientDestroy(&k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void F0(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[],
               const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[],
               const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, const PetscReal x[],
               PetscInt numConstants, const PetscScalar constants[], PetscScalar f0[])
{
  f0[0] = power > 1 ? -4.0 : 0.0;
}

static void F1(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[],
               const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[],
               const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, const PetscReal x[],
               PetscInt numConstants, const PetscScalar constants[], PetscScalar f1[])
{
  for (PetscInt d = 0; d < dim; ++d) f1[d] = u_x[d];
}

static PetscErrorCode Exact(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  return U(dim, x, nc, u, ctx);
}

/* a code of PETSc's alone, whose options say what hops does */
static PetscErrorCode SolvePETSc(DM dm)
{
  PetscErrorCode (*exact[1])(PetscInt, PetscReal, const PetscReal[], PetscInt, PetscScalar[], void *) = {Exact};
  PetscDS   ds;
  SNES      snes;
  Mat       J;
  Vec       u;
  PetscReal error;
  PetscBool pa;

  PetscFunctionBeginUser;
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetResidual(ds, 0, F0, F1));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, NULL, NULL, NULL, G3));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMCreateGlobalVector(dm, &u));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, dm));
  PetscCall(HopsDMPlexSetSNESLocalFEM(dm));
  PetscCall(SNESSetFromOptions(snes));
  PetscCall(SNESSolve(snes, NULL, u));
  PetscCall(SNESGetJacobian(snes, &J, NULL, NULL, NULL));
  PetscCall(PetscObjectTypeCompare((PetscObject)J, MATPA, &pa));
  PetscCall(DMComputeL2Diff(dm, 0.0, exact, NULL, u, &error));
  if (error > 1e-9) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ERROR %g\n", (double)error));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "PETSc's code, %s: exact\n", pa ? "matrix-free" : "assembled"));
  PetscCall(SNESDestroy(&snes));
  PetscCall(VecDestroy(&u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a field of H(curl) or H(div) that is its own source: constant, or linear without curl, or divergence, of
   which the source knew */
static PetscErrorCode Field(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt c = 0; c < nc; ++c) u[c] = 1.0 + 2.0 * c + (power > 1 ? x[c] - 3.0 * x[(c + 1) % dim] : 0.0);
  return PETSC_SUCCESS;
}

/* its curl, or its divergence */
static PetscErrorCode Derivative(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscReal curl = dim == 3 ? 3.0 : 0.0;

  for (PetscInt c = 0; c < nc; ++c) u[c] = power == 1 ? 0.0 : (*(HopsFamily *)ctx == HOPS_HCURL ? curl : (PetscReal)dim);
  return PETSC_SUCCESS;
}

static PetscErrorCode SolveFamily(DM dm, HopsFamily family, PetscInt p, DMLabel label)
{
  const PetscInt    one  = 1;
  const PetscScalar unit = 1.0;
  HopsCoefficient   k;
  HopsSpace         sp, range;
  Mat               A;
  Vec               x, b, d;
  PetscInt          dim;
  PetscReal         error, derror;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  if (family == HOPS_HCURL) PetscCall(HopsSpaceCreateHCurl(dm, p, label, 1, &one, &sp));
  else PetscCall(HopsSpaceCreateHDiv(dm, p, label, 1, &one, &sp));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &unit, &k));
  PetscCall(MatCreatePA(sp, &A));
  if (family == HOPS_HCURL) PetscCall(MatPASetCurlCurl(A, k));
  else PetscCall(MatPASetDivDiv(A, k));
  PetscCall(MatPASetMass(A, k));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(HopsSpaceSetEssentialFunction(sp, Field, NULL));
  PetscCall(HopsSpaceComputeRHS(sp, Field, NULL, b));
  PetscCall(MatPALiftEssential(A, b));
  PetscCall(TestSolve(A, b, x, KSP_NORM_PRECONDITIONED, 1e-12, 100, NULL));
  PetscCall(HopsSpaceComputeL2Error(sp, x, Field, NULL, &error));
  PetscCall(HopsSpaceCreateCompanion(sp, family == HOPS_HCURL && dim == 3 ? HOPS_HDIV : HOPS_L2, PETSC_FALSE, &range));
  PetscCall(HopsSpaceCreateVec(range, &d));
  PetscCall(HopsSpaceDifferentiate(sp, x, range, d));
  PetscCall(HopsSpaceComputeL2Error(range, d, Derivative, &family, &derror));
  error = TestWorse(error, 0.01 * derror);
  PetscCall(VecDestroy(&d));
  PetscCall(HopsSpaceDestroy(&range));
  if (error > 1e-10) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ERROR %g\n", (double)error));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: exact\n", HopsFamilies[family]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(HopsCoefficientDestroy(&k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Refused(DM dm, DMLabel label)
{
  const PetscInt one = 1;
  PetscInt       vStart, vEnd, parent;
  HopsSpace      sp, other;
  DMLabel        slave;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateH1(dm, 2, label, 1, &one, &sp));
  {
    DM box;

    PetscCall(CreateMesh(2, 3, &box));
    EXPECT("coarse spaces on other meshes", HopsSpaceCreateCoarse(sp, box, 1, &other),
           "hanging nodes|HopsSpaceSetCoarse()|-pc_hopsmg_coarsen p");
    PetscCall(DMDestroy(&box));
  }
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMCreateLabel(dm, "slave")); /* a hanging vertex, and not the edge that it hangs on */
  PetscCall(DMGetLabel(dm, "slave", &slave));
  PetscCall(DMPlexGetDepthStratum(dm, 0, &vStart, &vEnd));
  for (PetscInt v = vStart; v < vEnd; ++v) {
    PetscCall(DMPlexGetTreeParent(dm, v, &parent, NULL));
    if (parent != v) PetscCall(DMLabelSetValue(slave, v, 1));
  }
  EXPECT("an essential node that hangs on another one", HopsSpaceCreateH1(dm, 2, slave, 1, &one, &sp),
         "essential|hangs on point|label the parent");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A hanging vertex that is moved is refused, or put back */
static PetscErrorCode Gap(DM dm, PetscInt p, DMLabel label)
{
  const PetscInt one = 1;
  PetscInt       vStart, vEnd, off, parent;
  PetscReal      error;
  PetscSection   s;
  HopsSpace      sp;
  Vec            v;
  PetscScalar   *x;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetDepthStratum(dm, 0, &vStart, &vEnd));
  PetscCall(DMGetCoordinateSection(dm, &s));
  PetscCall(DMGetCoordinatesLocal(dm, &v));
  PetscCall(VecGetArray(v, &x));
  for (PetscInt q = vStart; q < vEnd; ++q) {
    PetscCall(DMPlexGetTreeParent(dm, q, &parent, NULL));
    if (parent == q) continue;
    PetscCall(PetscSectionGetOffset(s, q, &off));
    x[off] += 1e-6;
    break;
  }
  PetscCall(VecRestoreArray(v, &x));
  EXPECT("a hanging vertex that is moved", HopsSpaceCreateH1(dm, p, label, 1, &one, &sp),
         "hanging vertex|gaps|-hops_repair_geometry");
  PetscCall(PetscOptionsSetValue(NULL, "-hops_repair_geometry", NULL));
  PetscCall(HopsSpaceCreateH1(dm, p, label, 1, &one, &sp));
  power = 1; /* cells are no boxes now */
  PetscCall(Solve(sp, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a linear function on the repaired mesh: %s\n", error < 1e-10 ? "ok" : "WRONG"));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt one = 1;
  PetscInt       dim = 2, p = 2, n = 3;
  PetscBool      own = PETSC_FALSE, gap = PETSC_FALSE, families, refused, petsc, snes;
  PetscReal      error;
  DM             dm;
  DMLabel        label;
  HopsSpace      sp;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HangSetBackend());
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cells", &n, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-own", &own, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-gap", &gap, NULL));
  power = PetscMin(p, 2);
  PetscCall(CreateMesh(dim, n, &dm));
  PetscCall(MarkBoundary(dm, dim));
  PetscCall(DMGetLabel(dm, "boundary", &label));
  if (gap) {
    PetscCall(Gap(dm, p, label));
    PetscCall(DMDestroy(&dm));
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(PetscOptionsHasName(NULL, NULL, "-refused", &refused));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-families", &families));
  if (families || refused) {
    if (refused) PetscCall(Refused(dm, label));
    for (PetscInt f = HOPS_HCURL; f <= HOPS_HDIV && families; ++f) PetscCall(SolveFamily(dm, (HopsFamily)f, p, label));
    if (families) PetscCall(DMDestroy(&dm));
    PetscCall(PetscFinalize());
    return 0;
  }
  if (own) PetscCall(HopsSpaceCreateH1(dm, p, label, 1, &one, &sp));
  else {
    PetscFE fe;

    PetscCall(PetscFECreateLagrange(PETSC_COMM_WORLD, dim, 1, PETSC_FALSE, p, PETSC_DETERMINE, &fe));
    PetscCall(DMSetField(dm, 0, NULL, (PetscObject)fe));
    PetscCall(DMCreateDS(dm));
    PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "wall", label, 1, &one, 0, 0, NULL, (HopsVoidFn)Exact, NULL, NULL, NULL));
    PetscCall(PetscFEDestroy(&fe));
    PetscCall(PetscOptionsHasName(NULL, NULL, "-snes", &snes));
    if (snes) {
      PetscCall(SolvePETSc(dm));
      PetscCall(DMDestroy(&dm));
      PetscCall(PetscFinalize());
      return 0;
    }
    PetscCall(HopsSpaceCreateFromDM(dm, &sp));
  }
  PetscCall(HopsSpaceView(sp, NULL));
  PetscCall(Solve(sp, &error));
  if (error > 1e-10) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ERROR %g\n", (double)error));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "exact\n"));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-petsc", &petsc));
  if (petsc) PetscCall(ComparePETSc(dm, sp));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    filter: grep -v "space of order\|cells with"
    output_file: output/hangingplex.out

    test:
      suffix: refined_2d
      args: -dim 2 -refine 4 -order {{1 2 3 5}} -own {{0 1}}

    test:
      suffix: refined_3d
      args: -dim 3 -refine 13 -order {{1 2 3}} -own {{0 1}}

    test:
      suffix: 2d
      nsize: {{1 3}}
      args: -dim 2 -roots 3,3 -finest 3 -part 0.5 -turn -order {{1 2 5}} -own {{0 1}}

    test:
      suffix: 3d
      nsize: {{1 2 4}}
      args: -dim 3 -turn -order {{1 3}} -own {{0 1}} -seed 4 -lor_pc_type bjacobi

    test:
      suffix: backends
      nsize: {{1 3}}
      args: -dim 3 -turn -order 2 -own {{0 1}} -seed 4 -lor_pc_type bjacobi -backends host,base

    test:
      suffix: orders_2d
      nsize: {{1 3}}
      args: -dim 2 -roots 3,3 -finest 3 -part 0.5 -turn -order 4 -own {{0 1}} -pc_type hopsmg -pc_hopsmg_coarsen p

    test:
      suffix: orders_3d
      nsize: {{1 4}}
      args: -dim 3 -turn -order 3 -own {{0 1}} -seed 4 -pc_type hopsmg -pc_hopsmg_coarsen p

  test:
    suffix: gap
    args: -dim 2 -refine 4 -gap -malloc_dump 0
    output_file: output/hangingplex_gap.out

  test:
    suffix: gap_3d
    args: -dim 3 -refine 13 -gap -malloc_dump 0
    output_file: output/hangingplex_gap.out

  test:
    suffix: snes
    args: -dim 2 -refine 4 -order {{1 3}} -snes -dm_mat_type pa -pc_type lor -lor_pc_type lu -ksp_type cg -ksp_rtol 1e-12

  test:
    suffix: snes_jacobi
    args: -dim 2 -refine 4 -order {{1 3}} -snes -dm_mat_type pa -pc_type jacobi -ksp_type cg -ksp_rtol 1e-12
    output_file: output/hangingplex_snes.out

  test:
    suffix: snes_3d
    args: -dim 3 -refine 13 -order 2 -snes -dm_mat_type pa -hops_residual {{0 1}} \
          -pc_type lor -ksp_type cg -ksp_rtol 1e-12 -lor_pc_type lu
    output_file: output/hangingplex_snes.out

  test:
    suffix: snes_orders
    args: -dim 2 -refine 4 -order {{2 4}} -snes -dm_mat_type pa -pc_type hopsmg -pc_hopsmg_coarsen p -ksp_type cg -ksp_rtol 1e-12
    output_file: output/hangingplex_snes.out

  test:
    suffix: snes_assembled
    args: -dim 2 -refine 4 -order 3 -snes -dm_mat_type aij -pc_type lor -ksp_type cg -ksp_rtol 1e-12 -lor_pc_type lu

  test:
    suffix: petsc
    args: -dim 2 -refine 4 -order {{1 2 3}} -petsc -lor_pc_type lu
    filter: grep PETSc

  test:
    suffix: petsc_3d
    args: -dim 3 -refine 13 -order {{1 2}} -petsc -lor_pc_type lu
    filter: grep PETSc
    output_file: output/hangingplex_petsc.out

  test:
    suffix: refused
    args: -dim 2 -refine 4 -refused -malloc_dump 0

  testset:
    requires: hypre
    output_file: output/hangingplex_families.out

    test:
      suffix: families_2d
      nsize: {{1 3}}
      args: -families -dim 2 -roots 3,3 -finest 3 -part 0.5 -turn -order {{1 2 4}}

    test:
      suffix: families_3d
      nsize: {{1 3}}
      args: -families -dim 3 -turn -order {{1 2}} -seed 4

TEST*/
