static char help[] =
  "Essential values that hops inserts into local vectors against PETSc's own, by DMPlexInsertBoundaryValues(): a vector and a\n\
scalar field, conditions on some components, conditions that overlap, functions of time, contexts, zeros for multigrid;\n\
  time derivatives, of which the slip has none; projections, also by what makes null spaces of a field.\n\
  -field: a condition that sees fields, which is left to PETSc\n\n";

#include "hopstest.h"
#include <hops/private/hopsdsimpl.h>
#include <petscds.h>

typedef struct {
  PetscReal scale;
  PetscInt  calls;
} Ctx;

static PetscErrorCode Value(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  Ctx *c = (Ctx *)ctx;

  for (PetscInt i = 0; i < nc; ++i) u[i] = c->scale * (PetscSinReal(x[0] + 2.0 * i) + x[1] * x[dim - 1] + t);
  ++c->calls;
  return PETSC_SUCCESS;
}

static PetscErrorCode Other(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) u[i] = 3.0 + i - x[0] * t;
  ++((Ctx *)ctx)->calls;
  return PETSC_SUCCESS;
}

static PetscErrorCode Derivative(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) u[i] = ((Ctx *)ctx)->scale * (1.0 + i + x[0] * t);
  ++((Ctx *)ctx)->calls;
  return PETSC_SUCCESS;
}

static void FieldValue(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[],
                       const PetscScalar u[], const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[],
                       const PetscInt aOff_x[], const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[],
                       PetscReal t, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar f[])
{
  f[0] = 2.0 + x[0];
}

/* Conditions for the velocity on the sides 1 and 2, which meet, and for its last component alone on the
   side 3; for the pressure on all sides */
static PetscErrorCode CreateDM(PetscBool field, Ctx ctx[], DM *dm)
{
  const PetscInt all[] = {1, 2, 3, 4, 5, 6};
  PetscInt       dim, last;
  PetscDS        ds;
  DMLabel        label;
  PetscFE        fe[2];

  PetscFunctionBeginUser;
  PetscCall(DMCreate(PETSC_COMM_WORLD, dm));
  PetscCall(DMSetType(*dm, DMPLEX));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMGetDimension(*dm, &dim));
  last = dim - 1;
  for (PetscInt f = 0; f < 2; ++f)
    PetscCall(PetscFECreateDefault(PETSC_COMM_WORLD, dim, f ? 1 : dim, PETSC_FALSE, f ? "f1_" : "f0_", PETSC_DETERMINE, &fe[f]));
  PetscCall(PetscFECopyQuadrature(fe[0], fe[1])); /* which residuals by hops need */
  for (PetscInt f = 0; f < 2; ++f) {
    PetscCall(DMSetField(*dm, f, NULL, (PetscObject)fe[f]));
    PetscCall(PetscFEDestroy(&fe[f]));
  }
  PetscCall(DMCreateDS(*dm));
  PetscCall(DMGetDS(*dm, &ds));
  PetscCall(DMGetLabel(*dm, "Face Sets", &label));
  PetscCall(DMPlexLabelComplete(*dm, label));
  PetscCall(PetscDSAddBoundary(ds, DM_BC_ESSENTIAL, "walls", label, 2, all, 0, 0, NULL, (void (*)(void))Value,
                               (void (*)(void))Derivative, ctx, NULL));
  PetscCall(
    PetscDSAddBoundary(ds, DM_BC_ESSENTIAL, "slip", label, 1, all + 2, 0, 1, &last, (void (*)(void))Other, NULL, ctx + 1, NULL));
  if (field)
    PetscCall(PetscDSAddBoundary(ds, DM_BC_ESSENTIAL_FIELD, "pressure", label, 1, all, 1, 0, NULL, (void (*)(void))FieldValue, NULL,
                                 NULL, NULL));
  else
    PetscCall(PetscDSAddBoundary(ds, DM_BC_ESSENTIAL, "pressure", label, 2 * dim, all, 1, 0, NULL, (void (*)(void))Value,
                                 (void (*)(void))Derivative, ctx, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inserts at time t, or zeros as PETSc's multigrid does, among sevens */
static PetscErrorCode Insert(DM dm, PetscReal t, PetscBool zero, PetscBool derivative, Vec *X)
{
  PetscFunctionBeginUser;
  PetscCall(DMCreateLocalVector(dm, X));
  PetscCall(VecSet(*X, 7.0));
  if (zero) PetscCall(PetscObjectCompose((PetscObject)*X, "__Vec_bc_zero__", (PetscObject)dm));
  if (derivative) PetscCall(DMPlexInsertTimeDerivativeBoundaryValues(dm, PETSC_TRUE, *X, t, NULL, NULL, NULL));
  else PetscCall(DMPlexInsertBoundaryValues(dm, PETSC_TRUE, *X, t, NULL, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* DMProjectFunction()'s values among sevens, with and without the essential ones */
static PetscErrorCode Project(const char name[], DM dm[], Ctx ctx[], InsertMode mode)
{
  PetscErrorCode (*f[2])(PetscInt, PetscReal, const PetscReal[], PetscInt, PetscScalar *, void *) = {Value, Other};
  Vec       X[2];
  PetscReal norm, error;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 2; ++i) {
    void *c[2] = {ctx + 2 * i, ctx + 2 * i + 1};

    PetscCall(DMCreateLocalVector(dm[i], &X[i]));
    PetscCall(VecSet(X[i], 7.0));
    PetscCall(DMProjectFunctionLocal(dm[i], 0.3, f, c, mode, X[i]));
  }
  PetscCall(VecAXPY(X[1], -1.0, X[0]));
  PetscCall(VecShift(X[0], -7.0));
  PetscCall(VecNorm(X[0], NORM_INFINITY, &norm));
  PetscCall(VecNorm(X[1], NORM_INFINITY, &error));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &norm, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &error, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD, "%s: %s PETSc's\n", name, norm > 1.0 && error <= 1e-12 * norm ? "agrees with" : "DIFFERS from"));
  for (PetscInt i = 0; i < 2; ++i) PetscCall(VecDestroy(&X[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Count(const char name[], const Ctx ctx[])
{
  PetscInt calls[2];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 2; ++i) calls[i] = ctx[2 * i].calls + ctx[2 * i + 1].calls;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, calls, 2, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s calls of the functions%s\n", calls[1] < calls[0] ? "fewer" : "as many", name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const char name[], DM dm[], PetscReal t, PetscBool zero, PetscBool derivative)
{
  Vec       X[2];
  PetscReal norm, error;
  PetscInt  n;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 2; ++i) PetscCall(Insert(dm[i], t, zero, derivative, &X[i]));
  PetscCall(VecGetLocalSize(X[0], &n));
  PetscCall(VecAXPY(X[1], -1.0, X[0]));
  PetscCall(VecShift(X[0], -7.0));
  PetscCall(VecNorm(X[0], NORM_INFINITY, &norm));
  PetscCall(VecNorm(X[1], NORM_INFINITY, &error));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &norm, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &error, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD, "%s: %s PETSc's\n", name, norm > 1.0 && error <= 1e-12 * norm ? "agree with" : "DIFFER from"));
  for (PetscInt i = 0; i < 2; ++i) PetscCall(VecDestroy(&X[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another function on the walls, and another shape */
static PetscErrorCode Change(DM dm, Ctx *ctx)
{
  const PetscInt sides[] = {1, 2};
  PetscDS        ds;
  DMLabel        label;
  Vec            x;

  PetscFunctionBeginUser;
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(PetscDSUpdateBoundary(ds, 0, DM_BC_ESSENTIAL, "walls", label, 2, sides, 0, 0, NULL, (void (*)(void))Other, NULL, ctx));
  PetscCall(DMGetCoordinatesLocal(dm, &x));
  PetscCall(VecScale(x, 1.5));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------------- null spaces of fields ---------------------------------------- */

static Ctx     *nullctx;
static PetscInt nnull;

static PetscErrorCode One(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) u[i] = 1.0 + i;
  ++((Ctx *)ctx)->calls;
  return PETSC_SUCCESS;
}

/* a context that is NULL: of a function that is no constant */
static PetscErrorCode NullSpace(DM dm, PetscInt whole, PetscInt field, MatNullSpace *sp)
{
  PetscErrorCode (*f[1])(PetscInt, PetscReal, const PetscReal[], PetscInt, PetscScalar *, void *) = {nullctx ? One : Value};
  Ctx   other                                                                                     = {1.0, 0};
  void *ctx[1]                                                                                    = {nullctx ? nullctx : &other};
  Vec   v;

  PetscFunctionBeginUser;
  ++nnull;
  PetscCall(DMCreateGlobalVector(dm, &v));
  PetscCall(DMProjectFunction(dm, 0.2, f, ctx, INSERT_ALL_VALUES, v));
  PetscCall(VecNormalize(v, NULL));
  PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)dm), PETSC_FALSE, 1, &v, sp));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What DMCreateSubDM() has a code make for the velocity, and hops' own nodes of the fields, which want no
   null spaces */
static PetscErrorCode Parts(const char name[], DM dm[], Ctx ctx[])
{
  const PetscInt velocity = 0;
  Vec            copy[2];
  PetscReal      error;
  HopsNodes      nodes[2];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 2; ++i) {
    DM           part;
    IS           is;
    MatNullSpace sp;
    const Vec   *v;

    nullctx = ctx ? ctx + 2 * i : NULL;
    PetscCall(DMSetNullSpaceConstructor(dm[i], velocity, NullSpace));
    PetscCall(DMCreateSubDM(dm[i], 1, &velocity, &is, &part));
    PetscCall(PetscObjectQuery((PetscObject)is, "nullspace", (PetscObject *)&sp));
    PetscCheck(sp, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "No null space");
    PetscCall(MatNullSpaceGetVecs(sp, NULL, NULL, &v));
    PetscCall(VecDuplicate(v[0], &copy[i]));
    PetscCall(VecCopy(v[0], copy[i]));
    PetscCall(ISDestroy(&is));
    PetscCall(DMDestroy(&part));
  }
  PetscCall(VecAXPY(copy[1], -1.0, copy[0]));
  PetscCall(VecNorm(copy[1], NORM_INFINITY, &error));
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD, "null space of a field%s: %s PETSc's\n", name, error <= 1e-12 ? "agrees with" : "DIFFERS from"));
  for (PetscInt i = 0; i < 2; ++i) PetscCall(VecDestroy(&copy[i]));
  nnull = 0;
  PetscCall(HopsNodesCreateFields(dm[1], 2, nodes));
  for (PetscInt f = 0; f < 2; ++f) PetscCall(HopsNodesDestroy(&nodes[f]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " null spaces for hops' nodes\n", nnull));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM        dm[2];
  PetscBool field  = PETSC_FALSE;
  Ctx       ctx[4] = {{1.0, 0}, {1.0, 0}, {1.0, 0}, {1.0, 0}}; /* PETSc's two, ours */

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-field", &field, NULL));
  for (PetscInt i = 0; i < 2; ++i) {
    if (i) PetscCall(PetscOptionsSetValue(NULL, "-hops_residual", NULL));
    PetscCall(CreateDM(field, ctx + 2 * i, &dm[i]));
  }
  PetscCall(Compare("values", dm, 0.0, PETSC_FALSE, PETSC_FALSE));
  PetscCall(Compare("values once more", dm, 0.0, PETSC_FALSE, PETSC_FALSE));
  PetscCall(Compare("later", dm, 0.7, PETSC_FALSE, PETSC_FALSE));
  PetscCall(Compare("zeros", dm, 0.7, PETSC_TRUE, PETSC_FALSE));
  PetscCall(Compare("time derivatives", dm, 0.7, PETSC_FALSE, PETSC_TRUE));
  PetscCall(Compare("time derivatives once more", dm, 0.7, PETSC_FALSE, PETSC_TRUE));
  PetscCall(Compare("zeros for them", dm, 0.7, PETSC_TRUE, PETSC_TRUE));
  ctx[0].scale = ctx[2].scale = 2.0;
  PetscCall(Compare("with another context", dm, 0.7, PETSC_FALSE, PETSC_FALSE));
  for (PetscInt i = 0; i < 2; ++i) PetscCall(Change(dm[i], ctx + 2 * i));
  PetscCall(Compare("after a change", dm, 0.7, PETSC_FALSE, PETSC_FALSE));
  PetscCall(Compare("time derivatives after it", dm, 0.9, PETSC_FALSE, PETSC_TRUE));
  PetscCall(Count("", ctx));
  for (PetscInt i = 0; i < 4; ++i) ctx[i].calls = 0;
  PetscCall(Project("projection", dm, ctx, INSERT_VALUES));
  PetscCall(Project("projection, essential values too", dm, ctx, INSERT_ALL_VALUES));
  PetscCall(Count(" for it", ctx));
  for (PetscInt i = 0; i < 4; ++i) ctx[i].calls = 0;
  PetscCall(Parts("", dm, ctx));
  PetscCall(Count(" for it", ctx));
  PetscCall(Parts(" with a function", dm, NULL));
  for (PetscInt i = 0; i < 2; ++i) PetscCall(DMDestroy(&dm[i]));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  testset:
    args: -dm_plex_simplex 0 -dm_plex_separate_marker -petscpartitioner_type simple -f0_petscspace_degree {{1 3}} -f1_petscspace_degree 2
    test:
      suffix: 2d
      nsize: {{1 2 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -dm_coord_petscspace_degree {{1 2}}
      output_file: output/plexessential.out
    test:
      suffix: 3d
      nsize: {{1 3}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,3,2
      output_file: output/plexessential.out
    test:
      suffix: empty
      nsize: 4
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,1
      output_file: output/plexessential_empty.out

  testset:
    args: -dm_plex_simplex 0 -dm_plex_separate_marker -dm_plex_dim 2 -dm_plex_box_faces 4,3 -petscpartitioner_type simple -f0_petscspace_degree 2 -f1_petscspace_degree 1
    # values are PETSc's, time derivatives are not: this condition has none
    test:
      suffix: field
      nsize: {{1 2}}
      args: -field
      output_file: output/plexessential.out
    test:
      suffix: overlap
      nsize: 2
      args: -dm_distribute_overlap 1
      output_file: output/plexessential_left.out

TEST*/
