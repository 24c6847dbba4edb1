static char help[] =
  "Solves with -hops_linear against the same with -hops_linear no: solutions, and how often point functions are called.\n\
  -form: the residual, and what is not linear in it\n\
  -change: what changes before each solve but the first\n\
  -solves, -growth: how many, and by what the source grows from one to the next\n\
  -ts: time steps in place of solves\n\
  -mode, -check: -hops_linear and -hops_residual_check of the second\n\n";

#include "hopstest.h"
#include <petscds.h>
#include <petscts.h>

typedef enum {
  LINEAR,    /* u + u_x of a field in the source's range */
  CUBIC,     /* u + u^3 */
  THRESHOLD, /* of a reaction, at a value that a constant has */
  LIMITER,   /* of the gradient */
  PICARD,    /* Jacobian functions that are not the derivative */
  ROBIN,     /* a boundary function that is not linear */
  TIME       /* a diffusion that depends on time */
} Form;
static const char *const forms[] = {"linear", "cubic", "threshold", "limiter", "picard", "robin", "time", "Form", "", NULL};

typedef enum {
  SOURCE,
  CONSTANT,  /* of the operator */
  AUXILIARY, /* a field of the operator */
  VARIABLE,  /* a variable of the program that the functions read */
  BOUNDARY   /* essential values, and no source */
} Change;
static const char *const changes[] = {"source", "constant", "auxiliary", "variable", "boundary", "Change", "", NULL};

enum {
  FORM,
  REACTION,
  LIMIT,
  NCONSTANTS
};

static PetscReal amplitude, variable, wall; /* of the source, of the reaction, of the essential values */
static PetscInt  calls[2];                  /* of f1 and of g3 */

#define POINT \
  PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[], \
    const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[], const PetscScalar a[], \
    const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t
#define FUN   POINT, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar f[]
#define JAC   POINT, PetscReal shift, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[]
#define BDFUN POINT, const PetscReal x[], const PetscReal n[], PetscInt nc, const PetscScalar constants[], PetscScalar f[]
#define BDJAC \
  POINT, PetscReal shift, const PetscReal x[], const PetscReal n[], PetscInt nc, const PetscScalar constants[], PetscScalar g[]

static void f0(FUN)
{
  const Form form = (Form)(int)PetscRealPart(constants[FORM]);

  f[0] += (constants[REACTION] + variable + a[0]) * u[0] - amplitude * (1.0 + x[0] + PetscSinReal(3.0 * t));
  if (u_t) f[0] += u_t[0];
  if (form == CUBIC) f[0] += u[0] * u[0] * u[0];
  if (form == THRESHOLD && u[0] > constants[LIMIT]) f[0] += 3.0 * (u[0] - constants[LIMIT]);
}

static void g0(JAC)
{
  const Form form = (Form)(int)PetscRealPart(constants[FORM]);

  g[0] += constants[REACTION] + variable + a[0];
  if (u_t) g[0] += shift;
  if (form == CUBIC) g[0] += 3.0 * u[0] * u[0];
  if (form == THRESHOLD && u[0] > constants[LIMIT]) g[0] += 3.0;
}

static PetscReal Gradient(PetscInt dim, const PetscScalar u_x[])
{
  PetscReal s = 0.0;

  for (PetscInt d = 0; d < dim; ++d) s += PetscRealPart(u_x[d] * u_x[d]);
  return PetscSqrtReal(s);
}

static void f1(FUN)
{
  const Form form = (Form)(int)PetscRealPart(constants[FORM]);
  PetscReal  k    = 1.0;

  if (form == LIMITER) k = PetscMin(1.0, PetscRealPart(constants[LIMIT]) / (Gradient(dim, u_x) + 1e-30));
  if (form == PICARD) k = 1.0 + PetscSqr(PetscRealPart(u[0])) / (1.0 + PetscSqr(PetscRealPart(u[0])));
  if (form == TIME) k = 1.0 + 5.0 * t;
  for (PetscInt d = 0; d < dim; ++d) f[d] += k * u_x[d];
  ++calls[0];
}

static void g3(JAC)
{
  const Form      form  = (Form)(int)PetscRealPart(constants[FORM]);
  const PetscReal norm  = Gradient(dim, u_x);
  const PetscBool limit = form == LIMITER && norm > PetscRealPart(constants[LIMIT]) ? PETSC_TRUE : PETSC_FALSE;
  PetscReal       k     = 1.0;

  if (limit) k = PetscRealPart(constants[LIMIT]) / norm;
  if (form == PICARD) k = 1.0 + PetscSqr(PetscRealPart(u[0])) / (1.0 + PetscSqr(PetscRealPart(u[0])));
  if (form == TIME) k = 1.0 + 5.0 * t;
  for (PetscInt d = 0; d < dim; ++d) g[d * dim + d] += k;
  for (PetscInt d = 0; limit && d < dim; ++d) /* almost all of the derivative: the operator stays definite */
    for (PetscInt e = 0; e < dim; ++e) g[d * dim + e] -= 0.9 * k * u_x[d] * u_x[e] / PetscSqr(norm);
  ++calls[1];
}

static void f0bd(BDFUN)
{
  const Form form = (Form)(int)PetscRealPart(constants[FORM]);

  f[0] += 2.0 * u[0] - x[0];
  if (form == ROBIN) f[0] += u[0] * PetscAbsScalar(u[0]);
}

static void g0bd(BDJAC)
{
  const Form form = (Form)(int)PetscRealPart(constants[FORM]);

  g[0] += 2.0;
  if (form == ROBIN) g[0] += 2.0 * PetscAbsScalar(u[0]);
}

static PetscErrorCode Wall(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  if (t < 0.0) t = 0.0; /* a SNES has the least number for its time */
  u[0] = wall * (0.2 + x[1] * (1.0 + PetscSinReal(5.0 * t)));
  return PETSC_SUCCESS;
}

static PetscErrorCode WallRate(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = wall * 5.0 * x[1] * PetscCosReal(5.0 * t);
  return PETSC_SUCCESS;
}

/* A field that the reaction has */
static PetscErrorCode AddAuxiliary(DM dm, PetscFE field)
{
  DM       aux;
  PetscFE  fe;
  PetscInt dim;
  Vec      v;

  PetscFunctionBeginUser;
  PetscCall(DMClone(dm, &aux));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscFECreateDefault(PETSC_COMM_WORLD, dim, 1, PETSC_FALSE, "aux_", PETSC_DETERMINE, &fe));
  PetscCall(PetscFECopyQuadrature(field, fe));
  PetscCall(DMSetField(aux, 0, NULL, (PetscObject)fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMCreateDS(aux));
  PetscCall(DMCreateLocalVector(aux, &v));
  PetscCall(VecSet(v, 0.5));
  PetscCall(DMSetAuxiliaryVec(dm, NULL, 0, 0, v));
  PetscCall(VecDestroy(&v));
  PetscCall(DMDestroy(&aux));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateDM(const PetscScalar constants[], DM *dm)
{
  const PetscInt essential = 1, robin = 2;
  PetscInt       dim, index;
  PetscFE        fe;
  PetscDS        ds;
  DMLabel        faces;
  PetscWeakForm  wf;

  PetscFunctionBeginUser;
  PetscCall(DMCreate(PETSC_COMM_WORLD, dm));
  PetscCall(DMSetType(*dm, DMPLEX));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMGetDimension(*dm, &dim));
  PetscCall(PetscFECreateDefault(PETSC_COMM_WORLD, dim, 1, PETSC_FALSE, NULL, PETSC_DETERMINE, &fe));
  PetscCall(DMSetField(*dm, 0, NULL, (PetscObject)fe));
  PetscCall(DMCreateDS(*dm));
  PetscCall(DMGetDS(*dm, &ds));
  PetscCall(PetscDSSetResidual(ds, 0, f0, f1));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, g0, NULL, NULL, g3));
  PetscCall(PetscDSSetConstants(ds, NCONSTANTS, (PetscScalar *)constants));
  PetscCall(DMGetLabel(*dm, "Face Sets", &faces));
  PetscCall(DMPlexLabelComplete(*dm, faces));
  PetscCall(DMAddBoundary(*dm, DM_BC_ESSENTIAL, "wall", faces, 1, &essential, 0, 0, NULL, (HopsVoidFn)Wall, (HopsVoidFn)WallRate,
                          NULL, NULL));
  PetscCall(DMAddBoundary(*dm, DM_BC_NATURAL, "robin", faces, 1, &robin, 0, 0, NULL, NULL, NULL, NULL, &index));
  PetscCall(PetscDSGetBoundary(ds, index, &wf, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(PetscWeakFormSetIndexBdResidual(wf, faces, robin, 0, 0, 0, f0bd, 0, NULL));
  PetscCall(PetscWeakFormSetIndexBdJacobian(wf, faces, robin, 0, 0, 0, 0, g0bd, 0, NULL, 0, NULL, 0, NULL));
  PetscCall(AddAuxiliary(*dm, fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Alter(DM dm, Change change, PetscInt i, PetscReal growth, PetscScalar constants[])
{
  PetscDS ds;
  Vec     v;

  PetscFunctionBeginUser;
  amplitude *= growth;
  if (change == CONSTANT) constants[REACTION] += 1.0;
  if (change == VARIABLE) variable += 1.0;
  if (change == BOUNDARY) wall += 1.0;
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetConstants(ds, NCONSTANTS, constants));
  PetscCall(DMGetAuxiliaryVec(dm, NULL, 0, 0, &v));
  if (change == AUXILIARY) PetscCall(VecSet(v, 0.5 + i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* X[n] after each of n solves */
static PetscErrorCode Solves(DM dm, Change change, PetscReal growth, PetscScalar constants[], PetscInt n, Vec X[])
{
  SNES snes;
  Vec  x;

  PetscFunctionBeginUser;
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, dm));
  PetscCall(HopsDMPlexSetSNESLocalFEM(dm));
  PetscCall(SNESSetFromOptions(snes));
  PetscCall(DMCreateGlobalVector(dm, &x));
  for (PetscInt i = 0; i < n; ++i) {
    if (i) PetscCall(Alter(dm, change, i, growth, constants));
    PetscCall(SNESSolve(snes, NULL, x));
    PetscCall(VecDuplicate(x, &X[i]));
    PetscCall(VecCopy(x, X[i]));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(SNESDestroy(&snes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n time steps; X[0] after the last */
static PetscErrorCode Steps(DM dm, PetscInt n, Vec X[])
{
  TS ts;

  PetscFunctionBeginUser;
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetDM(ts, dm));
  PetscCall(DMTSSetBoundaryLocal(dm, DMPlexTSComputeBoundary, NULL));
  PetscCall(DMTSSetIFunctionLocal(dm, DMPlexTSComputeIFunctionFEM, NULL));
  PetscCall(DMTSSetIJacobianLocal(dm, DMPlexTSComputeIJacobianFEM, NULL));
  PetscCall(TSSetTimeStep(ts, 0.05));
  PetscCall(TSSetMaxSteps(ts, n));
  PetscCall(TSSetMaxTime(ts, 1e6));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(DMCreateGlobalVector(dm, X));
  PetscCall(TSSolve(ts, X[0]));
  PetscCall(TSDestroy(&ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM        dm[2];
  Form      form   = LINEAR;
  Change    change = SOURCE;
  PetscInt  n      = 6, all[2][2];
  PetscReal growth = 1.5, limit = 1.0, error, norm, worst = 0.0;
  PetscBool steps = PETSC_FALSE, check = PETSC_TRUE;
  Vec      *X[2];
  char      mode[16] = "auto";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-form", forms, (PetscEnum *)&form, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-change", changes, (PetscEnum *)&change, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-solves", &n, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-growth", &growth, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-limit", &limit, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-ts", &steps, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-check", &check, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mode", mode, sizeof(mode), NULL));
  for (PetscInt i = 0; i < 2; ++i) {
    PetscScalar constants[NCONSTANTS] = {form, 1.0, limit};

    variable = wall = 1.0;
    amplitude       = change == BOUNDARY ? 0.0 : 1.0;
    calls[0] = calls[1] = 0;
    PetscCall(PetscOptionsSetValue(NULL, "-hops_linear", i ? mode : "no"));
    PetscCall(PetscOptionsSetValue(NULL, "-hops_residual_check", i && !check ? "0" : "1"));
    PetscCall(PetscCalloc1(n, &X[i]));
    PetscCall(CreateDM(constants, &dm[i]));
    if (steps) PetscCall(Steps(dm[i], n, X[i]));
    else PetscCall(Solves(dm[i], change, growth, constants, n, X[i]));
    PetscCall(MPIU_Allreduce(calls, all[i], 2, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  }
  for (PetscInt k = 0; k < n && X[0][k]; ++k) {
    PetscCall(VecNorm(X[0][k], NORM_INFINITY, &norm));
    PetscCall(VecAXPY(X[1][k], -1.0, X[0][k]));
    PetscCall(VecNorm(X[1][k], NORM_INFINITY, &error));
    worst = TestWorse(worst, norm > 0.0 ? error / norm : PETSC_MAX_REAL);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solutions: %s\n", worst <= 1e-10 ? "the same" : "DIFFER"));
  if (worst > 1e-10) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "by %g, relative\n", (double)worst));
  for (PetscInt k = 0; k < 2; ++k)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", k ? "Jacobian functions" : "residual functions",
                          2 * all[1][k] <= all[0][k] ? "at most half the calls"
                          : all[1][k] < all[0][k]    ? "fewer calls"
                          : all[1][k] == all[0][k]   ? "as many calls"
                                                     : "more calls"));
  for (PetscInt i = 0; i < 2; ++i) {
    for (PetscInt k = 0; k < n; ++k) PetscCall(VecDestroy(&X[i][k]));
    PetscCall(PetscFree(X[i]));
    PetscCall(DMDestroy(&dm[i]));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  testset:
    args: -dm_plex_simplex 0 -dm_plex_separate_marker -dm_plex_dim 2 -dm_plex_box_faces 4,3 -petscpartitioner_type simple -petscspace_degree 3 -aux_petscspace_degree 1 -dm_mat_type pa -hops_residual -pc_type lor -lor_pc_type bjacobi -lor_sub_pc_type lu -ksp_type cg -ksp_rtol 1e-12 -snes_error_if_not_converged

    # the Jacobian of the first solves serves all: where it is to be found out, of the first three
    testset:
      filter: grep -v "^residual"
      output_file: output/plexlinear_kept.out
      test:
        suffix: kept
        nsize: {{1 2 3}}
        args: -mode {{auto yes}} -change {{source boundary}}
      test:
        suffix: kept_3d
        args: -mode {{auto yes}} -dm_plex_dim 3 -dm_plex_box_faces 2,3,2 -petscspace_degree 2
      test:
        suffix: kept_assembled
        nsize: {{1 2}}
        args: -mode {{auto yes}} -dm_mat_type aij -pc_type jacobi -options_left 0
      test:
        suffix: kept_ksponly
        nsize: {{1 2}}
        args: -mode {{auto yes}} -snes_type ksponly
      test:
        suffix: kept_overlap
        nsize: 2
        args: -mode {{auto yes}} -dm_distribute_overlap 1
      test:
        suffix: kept_empty
        nsize: 4
        args: -mode {{auto yes}} -dm_plex_box_faces 3,1
      test:
        suffix: kept_ts
        args: -mode {{auto yes}} -ts -ts_type {{beuler cn alpha}} -solves 8
      # PETSc 3.20 and later solve with a sum of two Jacobians first, which PCLOR refuses
      test:
        suffix: kept_ts
        requires: petsc<3.20
        args: -mode {{auto yes}} -ts -ts_type {{arkimex}} -solves 8
      test:
        suffix: kept_ts_ranks
        nsize: 3
        args: -mode {{auto yes}} -ts -ts_type beuler -solves 8
    # several Newton steps a solve, or no check: residuals are left out too
    test:
      suffix: residuals
      nsize: {{1 3}}
      args: -mode yes -ksp_rtol 1e-3 -snes_rtol 1e-12 -check {{0 1}}
      output_file: output/plexlinear_residuals.out
    test:
      suffix: unchecked
      nsize: {{1 2}}
      args: -mode yes -check 0
      output_file: output/plexlinear_residuals.out

    # the operator changes, and what says so is seen
    testset:
      filter: grep -v "^residual"
      output_file: output/plexlinear_anew.out
      test:
        suffix: anew
        args: -mode {{auto yes}} -change {{constant auxiliary}}
      test:
        suffix: anew_ranks
        nsize: 2
        args: -mode yes -change auxiliary
      test:
        suffix: anew_shift
        args: -mode auto -ts -ts_type bdf -ts_adapt_type basic -solves 8
      # found to be not linear before anything is left out, or by the check
      test:
        suffix: found
        args: -mode auto -form {{cubic limiter picard robin}} -limit 0.7
      test:
        suffix: found_ranks
        nsize: 2
        args: -mode auto -form robin
      test:
        suffix: found_beyond
        args: -mode auto -form {{threshold limiter}} -limit 40
      test:
        suffix: found_differences
        args: -mode yes -snes_mf_operator
      test:
        suffix: found_type
        args: -mode yes -snes_type newtontr
    # the operator depends on time, on a variable of the program: nothing but the check sees it
    test:
      suffix: check_time
      args: -mode auto -form time -ts -ts_type {{beuler cn}} -solves 8
      output_file: output/plexlinear_check.out
      filter: grep solutions
    test:
      suffix: check_time
      requires: petsc<3.20
      args: -mode auto -form time -ts -ts_type {{arkimex}} -solves 8
      output_file: output/plexlinear_check.out
      filter: grep solutions
    test:
      suffix: check_variable
      args: -mode auto -change variable -snes_type {{newtonls ksponly}}
      output_file: output/plexlinear_check.out
      filter: grep solutions
    # linear for long, at all that is tried, and then not
    test:
      suffix: check_crossed
      nsize: {{1 2}}
      args: -mode auto -form {{threshold limiter}} -limit 1e4 -solves 9 -growth 10
      filter: grep -v "^residual"
    # declared, and not linear
    testset:
      filter: grep -oE "the form is not linear, or|solutions.*"
      output_file: output/plexlinear_declared.out
      test:
        suffix: declared
        args: -mode yes -form {{cubic threshold limiter picard robin}} -limit 0.7
      test:
        suffix: declared_ranks
        nsize: 3
        args: -mode yes -form threshold -limit 0.7
      test:
        suffix: declared_ksponly
        args: -mode yes -change variable -snes_type {{newtonls ksponly}}
      test:
        suffix: declared_ts
        args: -mode yes -form time -ts -ts_type {{beuler cn}}
    test:
      suffix: view
      args: -mode yes -solves 2 -snes_view
      filter: grep -oE "hops: the form is linear, [0-9]+ residuals and [0-9]+ Jacobians left out" | tail -1

  testset:
    args: -dm_plex_simplex 0 -dm_plex_separate_marker -dm_plex_dim 2 -dm_plex_box_faces 4,3 -petscspace_degree 3 -aux_petscspace_degree 1 -pc_type jacobi -petsc_ci_portable_error_output
    filter: grep -oE "\-hops_[a-z_]+ .*" | head -1
    test:
      suffix: refused_check
      args: -hops_residual -mode auto -check 0
    test:
      suffix: refused_value
      args: -mode maybe
    test:
      suffix: refused_alone
      args: -mode yes

TEST*/
