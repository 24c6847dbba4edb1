static char help[] = "A DMForest of p4est in a code of PETSc's alone: solutions beside those of PETSc's assembled matrix.\n\
  -dim <d> -order <p> -levels <l> : refined l times, some cells each time\n\
  -skew : cells are no boxes, and the solution is linear; the mesh beside is converted, with projection height 0\n\
  -aux : the coefficient is an auxiliary field\n\
  -options : those of the forest are set before it is refined; else of each\n\
  -transient : steps of a TS\n\
  -periodic : trees of a periodic box, as -base_dm_plex_* say; each cell is refined\n\
  -twice : levels by order, then by mesh, on one space: the second as if there was no first\n\n";

#include "hopstest.h"
#include <petscdmforest.h>
#include <petscds.h>
#include <petscsnes.h>
#include <petscts.h>

static PetscBool skew = PETSC_FALSE, aux = PETSC_FALSE, transient = PETSC_FALSE, periodic = PETSC_FALSE;

static PetscErrorCode U(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscReal z = dim > 2 ? x[2] : 0.5;

  if (periodic) u[0] = PetscSinReal(2.0 * PETSC_PI * (x[0] + x[1])) + PetscCosReal(2.0 * PETSC_PI * z);
  else u[0] = skew ? 1.0 - 2.0 * x[0] + 3.0 * x[1] + z : PetscSinReal(2.0 * x[0] + x[1]) * PetscExpReal(z);
  return PETSC_SUCCESS;
}

static PetscErrorCode Kappa(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = 1.0 + x[0] + 2.0 * x[1] * x[1];
  return PETSC_SUCCESS;
}

static void F0(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[],
               const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[],
               const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, const PetscReal x[],
               PetscInt numConstants, const PetscScalar constants[], PetscScalar f0[])
{
  f0[0] = (u_t ? u_t[0] : 0.0) - constants[0] * x[0] * x[1];
}

static void F1(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[],
               const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[],
               const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, const PetscReal x[],
               PetscInt numConstants, const PetscScalar constants[], PetscScalar f1[])
{
  for (PetscInt d = 0; d < dim; ++d) f1[d] = (NfAux ? a[0] : 1.0) * u_x[d];
}

static void G0(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[],
               const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[],
               const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, PetscReal shift,
               const PetscReal x[], PetscInt numConstants, const PetscScalar constants[], PetscScalar g0[])
{
  g0[0] = shift;
}

static void G3(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[],
               const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[],
               const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, PetscReal shift,
               const PetscReal x[], PetscInt numConstants, const PetscScalar constants[], PetscScalar g3[])
{
  for (PetscInt d = 0; d < dim; ++d) g3[d * dim + d] = NfAux ? a[0] : 1.0;
}

/* a box of 2 x 2 (x 2) trees; with -skew its vertices are moved */
static PetscErrorCode CreateBase(PetscInt dim, DM *base)
{
  const PetscInt faces[3] = {2, 2, 2};
  Vec            v;
  PetscScalar   *x;
  PetscInt       n;

  PetscFunctionBeginUser;
  if (periodic) {
    PetscCall(DMCreate(PETSC_COMM_WORLD, base));
    PetscCall(DMSetType(*base, DMPLEX));
    PetscCall(DMSetOptionsPrefix(*base, "base_"));
    PetscCall(DMSetFromOptions(*base));
  } else PetscCall(HopsDMPlexCreateBox(PETSC_COMM_WORLD, dim, PETSC_FALSE, faces, base));
  if (!skew) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetCoordinatesLocal(*base, &v));
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArray(v, &x));
  for (PetscInt i = 0; i < n; i += dim) {
    const PetscReal a = PetscRealPart(x[i]), b = PetscRealPart(x[i + 1]), c = dim > 2 ? PetscRealPart(x[i + 2]) : 0.0;

    x[i] += 0.2 * a * b + 0.1 * b * c;
    x[i + 1] += 0.15 * a * a - 0.1 * c * b;
    if (dim > 2) x[i + 2] += 0.2 * a * b - 0.1 * c * a;
  }
  PetscCall(VecRestoreArray(v, &x));
  PetscCall(DMSetCoordinatesLocal(*base, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* refines cells by what a function of their centroid says, the same on any number of ranks */
static PetscErrorCode Refine(DM *forest, PetscInt level)
{
  DM       fine, plex;
  DMLabel  label;
  PetscInt cStart, cEnd, dim;

  PetscFunctionBeginUser;
  PetscCall(DMConvert(*forest, DMPLEX, &plex));
  PetscCall(DMGetDimension(plex, &dim));
  PetscCall(DMPlexGetHeightStratum(plex, 0, &cStart, &cEnd));
  PetscCall(DMLabelCreate(PETSC_COMM_SELF, "adapt", &label));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    PetscReal x[3] = {0, 0, 0}, s;

    PetscCall(DMPlexComputeCellGeometryFVM(plex, c, NULL, x, NULL));
    s = PetscSinReal(37.0 * x[0] + 51.0 * x[1] + 23.0 * x[2] + level);
    if (s > 0.5) PetscCall(DMLabelSetValue(label, c, DM_ADAPT_REFINE));
  }
  PetscCall(DMDestroy(&plex));
  PetscCall(DMForestTemplate(*forest, PETSC_COMM_WORLD, &fine));
  PetscCall(DMForestSetAdaptivityLabel(fine, label));
  PetscCall(DMLabelDestroy(&label));
  PetscCall(DMSetUp(fine));
  PetscCall(DMForestSetAdaptivityForest(fine, NULL));
  PetscCall(DMDestroy(forest));
  *forest = fine;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's integrals on a periodic forest are wrong: the same cells as a refined box */
static PetscErrorCode CreateRefinedBox(PetscInt dim, PetscInt levels, DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(CreateBase(dim, dm));
  for (PetscInt l = 0; l < levels; ++l) {
    DM fine;

    PetscCall(DMPlexSetRefinementUniform(*dm, PETSC_TRUE));
    PetscCall(DMRefine(*dm, PETSC_COMM_WORLD, &fine));
    PetscCall(DMDestroy(dm));
    *dm = fine;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateForest(PetscInt dim, PetscInt levels, const char prefix[], PetscBool early, DM *forest)
{
  DM base;

  PetscFunctionBeginUser;
  PetscCall(CreateBase(dim, &base));
  PetscCall(DMConvert(base, dim == 2 ? DMP4EST : DMP8EST, forest));
  PetscCall(DMDestroy(&base));
  PetscCall(DMSetOptionsPrefix(*forest, prefix));
  if (early) PetscCall(DMSetFromOptions(*forest));
  PetscCall(DMForestSetInitialRefinement(*forest, periodic ? levels : (dim == 2 ? 1 : 0)));
  PetscCall(DMSetUp(*forest));
  for (PetscInt l = 0; l < levels && !periodic; ++l) PetscCall(Refine(forest, l));
  PetscCall(DMSetOptionsPrefix(*forest, prefix));
  if (!early) PetscCall(DMSetFromOptions(*forest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetFields(DM dm, PetscInt dim, PetscInt p, PetscInt nc)
{
  const PetscInt    one                                                                               = 1;
  const PetscScalar source                                                                            = skew ? 0.0 : 3.0;
  PetscErrorCode (*kappa[1])(PetscInt, PetscReal, const PetscReal[], PetscInt, PetscScalar[], void *) = {Kappa};
  PetscFE fe;
  PetscDS ds;
  DMLabel label;
  DM      adm;
  Vec     a;

  PetscFunctionBeginUser;
  PetscCall(PetscFECreateLagrange(PETSC_COMM_WORLD, dim, nc, PETSC_FALSE, p, PETSC_DETERMINE, &fe));
  PetscCall(DMSetField(dm, 0, NULL, (PetscObject)fe));
  PetscCall(DMCreateDS(dm));
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetResidual(ds, 0, F0, F1));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, transient ? G0 : NULL, NULL, NULL, G3));
  PetscCall(PetscDSSetConstants(ds, 1, (PetscScalar *)&source));
  PetscCall(DMGetLabel(dm, "marker", &label));
  PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "wall", label, 1, &one, 0, 0, NULL, (HopsVoidFn)U, NULL, NULL, NULL));
  if (aux) {
    PetscFE one_fe;

    PetscCall(DMClone(dm, &adm));
    PetscCall(PetscFECreateLagrange(PETSC_COMM_WORLD, dim, 1, PETSC_FALSE, 1, PETSC_DETERMINE, &one_fe));
    PetscCall(PetscFECopyQuadrature(fe, one_fe));
    PetscCall(DMSetField(adm, 0, NULL, (PetscObject)one_fe));
    PetscCall(DMCreateDS(adm));
    PetscCall(PetscFEDestroy(&one_fe));
    PetscCall(DMCreateLocalVector(adm, &a));
    PetscCall(DMProjectFunctionLocal(adm, 0.0, kappa, NULL, INSERT_ALL_VALUES, a));
    PetscCall(DMSetAuxiliaryVec(dm, NULL, 0, 0, a));
    PetscCall(VecDestroy(&a));
    PetscCall(DMDestroy(&adm));
  }
  PetscCall(PetscFEDestroy(&fe));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(DM dm, const char prefix[], PetscBool pa, Vec *u, PetscInt *its, PetscReal *error)
{
  PetscErrorCode (*exact[1])(PetscInt, PetscReal, const PetscReal[], PetscInt, PetscScalar[], void *) = {U};
  SNES      snes;
  TS        ts = NULL;
  KSP       ksp;
  Mat       J;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(dm, u));
  if (transient) {
    PetscCall(DMTSSetBoundaryLocal(dm, DMPlexTSComputeBoundary, NULL));
    PetscCall(DMTSSetIFunctionLocal(dm, DMPlexTSComputeIFunctionFEM, NULL));
    PetscCall(DMTSSetIJacobianLocal(dm, DMPlexTSComputeIJacobianFEM, NULL));
    PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
    PetscCall(TSSetDM(ts, dm));
    PetscCall(TSSetType(ts, TSBEULER));
    PetscCall(TSSetTimeStep(ts, 0.01));
    PetscCall(TSSetMaxSteps(ts, 3));
    PetscCall(TSSetMaxTime(ts, 1.0));
    PetscCall(TSGetSNES(ts, &snes));
  } else {
    PetscCall(HopsDMPlexSetSNESLocalFEM(dm));
    PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
    PetscCall(SNESSetDM(snes, dm));
  }
  PetscCall(SNESSetType(snes, SNESKSPONLY));
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-14, 0.0, PETSC_DEFAULT, 5000));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(SNESSetOptionsPrefix(snes, prefix));
  PetscCall(SNESSetFromOptions(snes));
  if (ts) {
    PetscCall(DMProjectFunction(dm, 0.0, exact, NULL, INSERT_VALUES, *u));
    PetscCall(TSSetOptionsPrefix(ts, prefix));
    PetscCall(TSSetFromOptions(ts));
    PetscCall(TSSolve(ts, *u));
  } else PetscCall(SNESSolve(snes, NULL, *u));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(SNESGetJacobian(snes, &J, NULL, NULL, NULL));
  PetscCall(PetscObjectTypeCompare((PetscObject)J, MATPA, &same));
  if (same != pa) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the matrix is %s\n", same ? "matrix-free" : "ASSEMBLED"));
  PetscCall(DMComputeL2Diff(dm, 0.0, exact, NULL, *u, error));
  if (ts) PetscCall(TSDestroy(&ts));
  else PetscCall(SNESDestroy(&snes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Exact(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  return U(dim, 0.0, x, nc, u, ctx);
}

/* PETSc's has wrong essential values on several processes, too */
static PetscErrorCode ComputeError(DM dm, Vec u, PetscReal *error)
{
  HopsSpace sp;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateFromDM(dm, &sp));
  PetscCall(HopsSpaceSetEssentialFunction(sp, Exact, NULL));
  PetscCall(HopsSpaceComputeL2Error(sp, u, Exact, NULL, error));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* prefix, and what it is */
static const char *const Runs[4][2] = {{"pa_", "matrix-free forest"},
                                       {"aij_", "assembled forest"},
                                       {"plex_", "converted forest"},
                                       {"mg_", "multigrid on the forest"}};

/* Of the vectors, or of their norms where unknowns have other numbers: relative to u */
static PetscErrorCode Difference(Vec u, Vec v, PetscReal *difference)
{
  PetscReal norm, other;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(u, periodic ? NORM_2 : NORM_INFINITY, &norm));
  PetscCall(VecNorm(v, NORM_2, &other));
  *difference = PetscAbsReal(norm - other) / norm;
  if (periodic) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecAXPY(v, -1.0, u));
  PetscCall(VecNorm(v, NORM_INFINITY, &other));
  *difference = other / norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations that conjugate gradients take at the most where the preconditioned operator has this condition
   number, by their bound 2 q^k for the tolerance 1e-14. The LOR matrix has at most 9.3, and hanging nodes and
   BoomerAMG in its place must not matter; a cycle that leaves 0.4 of an error has 1 / (1 - 0.4) */
static PetscInt MostIterations(PetscBool cycle)
{
  const PetscReal root = PetscSqrtReal(cycle ? 1.0 / 0.6 : 9.3);

  return (PetscInt)PetscCeilReal(PetscLogReal(2e14) / PetscLogReal((root + 1.0) / (root - 1.0)));
}

static PetscErrorCode Compare(PetscInt dim, PetscInt p, PetscInt levels, PetscBool early)
{
  DM          dm;
  Vec         u, v;
  PetscReal   error, e = 0.0, exact;
  PetscInt    its;
  PetscBool   numbers, mg;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-numbers", &numbers));
  if (periodic) PetscCall(CreateRefinedBox(dim, levels, &dm));
  else PetscCall(CreateForest(dim, levels, "petsc_", early, &dm));
  if (skew || aux) {
    DM plex;

    PetscCall(DMConvert(dm, DMPLEX, &plex));
    if (skew) PetscCall(DMPlexSetMaxProjectionHeight(plex, 0));
    PetscCall(DMDestroy(&dm));
    dm = plex;
  }
  PetscCall(SetFields(dm, dim, p, 1));
  PetscCall(Solve(dm, "petsc_", PETSC_FALSE, &u, &its, &exact));
  if (numbers) {
    PetscInt n;

    PetscCall(VecGetSize(u, &n));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "PETSc: %" PetscInt_FMT " unknowns, %" PetscInt_FMT " iterations, error %g\n", n, its,
                          (double)exact));
  }
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscOptionsHasName(NULL, "mg_", "-pc_type", &mg));
  for (PetscInt i = 0; i < (mg ? 4 : 3); ++i) {
    PetscCall(CreateForest(dim, levels, Runs[i][0], early, &dm));
    if (i == 2) {
      DM plex;

      PetscCall(DMConvert(dm, DMPLEX, &plex));
      PetscCall(DMPlexSetMaxProjectionHeight(plex, 0));
      PetscCall(DMSetOptionsPrefix(plex, Runs[i][0]));
      PetscCall(DMSetFromOptions(plex));
      PetscCall(DMDestroy(&dm));
      dm = plex;
    } else if (i == 1 && (skew || aux || periodic)) { /* PETSc's is wrong; 3.18's frees auxiliary vectors too often */
      PetscCall(DMDestroy(&dm));
      continue;
    }
    PetscCall(SetFields(dm, dim, p, 1));
    PetscCall(Solve(dm, Runs[i][0], i == 1 ? PETSC_FALSE : PETSC_TRUE, &v, &its, &error));
    if (skew) PetscCall(ComputeError(dm, v, &error));
    if (skew && error > 1e-10) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ERROR %g\n", (double)error));
    if (skew && size > 1) PetscCall(VecCopy(v, u)); /* PETSc's has wrong values on edges of parents */
    PetscCall(Difference(u, v, &e));
    if (numbers)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " iterations, difference %g\n", Runs[i][1], its, (double)e));
    else if (e > 1e-10) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: DIFFERENT by %g\n", Runs[i][1], (double)e));
    else if (its > MostIterations(i == 3 ? PETSC_TRUE : PETSC_FALSE) && !transient)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: MANY iterations, %" PetscInt_FMT "\n", Runs[i][1], its));
    else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: the same\n", Runs[i][1]));
    PetscCall(VecDestroy(&v));
    PetscCall(DMDestroy(&dm));
  }
  PetscCall(VecDestroy(&u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multigrid with these levels, on A of a space on the forest; z: it applied to r */
static PetscErrorCode CreateCycle(DM forest, Mat A, PCHopsMGCoarsenType type, Vec r, Vec z, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetType(*pc, PCHOPSMG));
  PetscCall(PCSetDM(*pc, forest));
  PetscCall(PCHopsMGSetCoarsening(*pc, type));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetUp(*pc));
  PetscCall(PCApply(*pc, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SayWhether(const char what[], Vec a, Vec b)
{
  PetscReal norm, error;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(a, NORM_2, &norm));
  PetscCall(VecAXPY(b, -1.0, a));
  PetscCall(VecNorm(b, NORM_2, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", what, norm > 0.0 && error <= 1e-12 * norm ? "the same" : "DIFFERENT"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareLevels(PC a, PC b)
{
  PetscInt n[2];

  PetscFunctionBeginUser;
  PetscCall(PCMGGetLevels(a, &n[0]));
  PetscCall(PCMGGetLevels(b, &n[1]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s levels\n", n[0] != n[1] ? "OTHER" : (n[0] > 2 ? "as many" : "TOO FEW")));
  for (PetscInt l = 0; l < PetscMin(n[0], n[1]); ++l) {
    HopsSpace sp[2];
    PetscInt  order[2], size[2];
    Vec       v;

    PetscCall(PCHopsMGGetSpace(a, l, &sp[0]));
    PetscCall(PCHopsMGGetSpace(b, l, &sp[1]));
    for (PetscInt k = 0; k < 2; ++k) {
      PetscCall(HopsSpaceGetOrder(sp[k], &order[k]));
      PetscCall(HopsSpaceCreateVec(sp[k], &v));
      PetscCall(VecGetSize(v, &size[k]));
      PetscCall(VecDestroy(&v));
    }
    if (order[0] != order[1] || size[0] != size[1])
      PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                            "level %" PetscInt_FMT ": ORDER %" PetscInt_FMT " or %" PetscInt_FMT ", %" PetscInt_FMT
                            " or %" PetscInt_FMT " unknowns\n",
                            l, order[0], order[1], size[0], size[1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A space knows the levels of meshes that a preconditioner made below it. k = 0: of one alone, by mesh; 1: of
   one by order and then by mesh, and of one by mesh after it */
static PetscErrorCode Twice(PetscInt dim, PetscInt p, PetscInt levels)
{
  const PetscScalar one = 1.0;
  HopsCoefficient   c;
  PC                pc[2], first = NULL;
  Vec               r, z[2], y[2];
  DM                dm[2];
  HopsSpace         sp;
  Mat               A;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &c));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(CreateForest(dim, levels, NULL, PETSC_FALSE, &dm[k]));
    PetscCall(SetFields(dm[k], dim, p, 1));
    PetscCall(HopsSpaceCreateFromDM(dm[k], &sp));
    PetscCall(MatCreatePA(sp, &A));
    PetscCall(MatPASetDiffusion(A, c));
    PetscCall(HopsSpaceDestroy(&sp));
    PetscCall(MatCreateVecs(A, &r, &z[k]));
    PetscCall(VecSet(r, 1.0));
    if (k) {
      for (PetscInt i = 0; i < 2; ++i) PetscCall(VecDuplicate(r, &y[i]));
      PetscCall(CreateCycle(dm[k], A, PC_HOPSMG_PH, r, y[0], &first));
    }
    PetscCall(CreateCycle(dm[k], A, PC_HOPSMG_H, r, z[k], &pc[k]));
    PetscCall(MatDestroy(&A));
    if (!k) PetscCall(VecDestroy(&r));
  }
  PetscCall(CompareLevels(pc[0], pc[1]));
  PetscCall(SayWhether("the second by mesh", z[0], z[1]));
  PetscCall(PCApply(first, r, y[1]));
  PetscCall(SayWhether("the first by order", y[0], y[1]));
  PetscCall(PCDestroy(&first));
  PetscCall(PCApply(pc[1], r, z[1]));
  PetscCall(SayWhether("the second without the first", z[0], z[1]));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(PCDestroy(&pc[k]));
    PetscCall(VecDestroy(&z[k]));
    PetscCall(VecDestroy(&y[k]));
    PetscCall(DMDestroy(&dm[k]));
  }
  PetscCall(VecDestroy(&r));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt  dim = 2, p = 2, levels = 2;
  PetscBool early = PETSC_FALSE, twice;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-levels", &levels, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-skew", &skew));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-aux", &aux));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-options", &early));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-transient", &transient));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-periodic", &periodic));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-twice", &twice));
  if (twice) PetscCall(Twice(dim, p, levels));
  else PetscCall(Compare(dim, p, levels, early));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: p4est

  testset:
    args: -pa_dm_mat_type pa -pa_pc_type lor -aij_pc_type lor -plex_dm_mat_type pa -plex_pc_type lor -plex_dm_distribute 0 \
          -petsc_pc_type jacobi

    test:
      suffix: 2d
      nsize: {{1 3}}
      args: -dim 2 -levels 3 -order {{1 2 3 4}}
      output_file: output/forest.out

    test:
      suffix: 3d
      nsize: {{1 2 3}}
      args: -dim 3 -levels 1 -order {{1 2 3 4}}
      output_file: output/forest.out

    test:
      suffix: mg_2d
      nsize: {{1 2 3 4}}
      args: -dim 2 -levels 3 -order {{1 3}} -mg_dm_mat_type pa -mg_pc_type hopsmg
      output_file: output/forest_mg.out

    test:
      suffix: mg_3d
      nsize: {{1 2 4}}
      args: -dim 3 -levels 2 -order {{1 2}} -mg_dm_mat_type pa -mg_pc_type hopsmg
      output_file: output/forest_mg.out

    test:
      suffix: mg_kinds
      nsize: {{1 3}}
      args: -dim {{2 3}} -levels 1 -order 3 -mg_dm_mat_type pa -mg_pc_type hopsmg -mg_pc_hopsmg_coarsen {{h ph hp}}
      output_file: output/forest_mg.out

    test:
      suffix: mg_patches
      nsize: {{1 3}}
      args: -dim 2 -levels 3 -order 2 -mg_dm_mat_type pa -mg_pc_type hopsmg -mg_pc_hopsmg_precision {{double single}} \
            -mg_mg_levels_ksp_type richardson -mg_mg_levels_ksp_max_it 1 -mg_mg_levels_pc_type patchfd
      output_file: output/forest_mg.out

    # the finest forest was not partitioned for coarsening
    test:
      suffix: mg_options
      nsize: {{1 3}}
      args: -dim 2 -levels 3 -order 2 -options -mg_dm_mat_type pa -mg_pc_type hopsmg -mg_dm_p4est_partition_for_coarsening 0
      output_file: output/forest_mg.out

    test:
      suffix: uniform
      args: -dim {{2 3}} -levels 0 -order 2
      output_file: output/forest.out

    test:
      suffix: options
      args: -dim 2 -order 2 -options
      output_file: output/forest.out

    test:
      suffix: aux
      nsize: {{1 2}}
      args: -dim {{2 3}} -levels 1 -order 2 -aux
      output_file: output/forest_skew.out

    test:
      suffix: mg_aux
      nsize: {{1 2}}
      args: -dim {{2 3}} -levels 1 -order 2 -aux -mg_dm_mat_type pa -mg_pc_type hopsmg
      output_file: output/forest_mg_skew.out

    test:
      suffix: mg_skew
      nsize: {{1 2}}
      args: -dim {{2 3}} -levels 1 -order 2 -skew -mg_dm_mat_type pa -mg_pc_type hopsmg
      output_file: output/forest_mg_skew.out

    # cells have coordinates of their own
    test:
      suffix: mg_periodic
      nsize: {{1 2 4}}
      args: -dim 2 -levels 2 -order {{1 3}} -periodic -mg_dm_mat_type pa -mg_pc_type hopsmg -base_dm_distribute 0 \
            -base_dm_plex_simplex 0 -base_dm_plex_dim 2 -base_dm_plex_box_faces 3,2 -base_dm_plex_box_bd periodic,none
      output_file: output/forest_mg_skew.out

    test:
      suffix: mg_periodic_3d
      nsize: {{1 3}}
      args: -dim 3 -levels 1 -order 2 -periodic -mg_dm_mat_type pa -mg_pc_type hopsmg -base_dm_distribute 0 \
            -base_dm_plex_simplex 0 -base_dm_plex_dim 3 -base_dm_plex_box_faces 3,2,3 \
            -base_dm_plex_box_bd periodic,none,periodic
      output_file: output/forest_mg_skew.out

    test:
      suffix: transient
      nsize: {{1 2}}
      args: -dim 2 -order 3 -transient -aij_pc_type jacobi
      output_file: output/forest.out

    test:
      suffix: skew
      nsize: {{1 3}}
      args: -dim {{2 3}} -levels 2 -order {{1 2 3}} -skew

    test:
      suffix: transient_skew
      nsize: 3
      args: -dim {{2 3}} -levels 2 -order 2 -skew -transient
      output_file: output/forest_skew.out

    test:
      suffix: info
      args: -dim 3 -levels 0 -order 2 -skew -info :dm
      filter: grep -o "functions are projected.*" | sort -u

  test:
    suffix: twice
    nsize: {{1 3}}
    args: -twice -dim {{2 3}} -levels 2 -order 4

TEST*/
