static char help[] =
  "When an operator of a PetscDS is set up again: only where what its Jacobian functions read has changed, which their sources\n\
tell. Each product is compared with that of a new operator.\n\
  -only <name>: one of the functions\n\n";

#include "hopstest.h"
#include <hops/private/hopspatensorimpl.h>
#include <petscds.h>
#include <petscdmplex.h>

#define ARGS \
  PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[], \
    const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[], const PetscScalar a[], \
    const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, PetscReal u_tShift, const PetscReal x[], PetscInt nc, \
    const PetscScalar constants[], PetscScalar g[]

static PetscReal Factor = 1.5; /* a variable of the program */

#define SQUARE_OF_STATE (u[0] * u[0])

static PetscReal Square(const PetscScalar v[])
{
  return v[0] * v[0];
}

static void g3_none(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[],
                    const PetscScalar u[], const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[],
                    const PetscInt aOff_x[], const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t,
                    PetscReal u_tShift, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  for (PetscInt d = 0; d < dim; ++d) g[d * dim + d] = 2.0 + x[0] + constants[0];
}

static void g0_rate(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[],
                    const PetscScalar u[], const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[],
                    const PetscInt aOff_x[], const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t,
                    PetscReal u_tShift, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  g[0] = 1.0 + x[0];
}

static void g3_other(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[],
                     const PetscScalar u[], const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[],
                     const PetscInt aOff_x[], const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t,
                     PetscReal u_tShift, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  for (PetscInt d = 0; d < dim; ++d) g[d * dim + d] = 3.0 - x[1];
}

static void g3_state(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[],
                     const PetscScalar u[], const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[],
                     const PetscInt aOff_x[], const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t,
                     PetscReal u_tShift, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  for (PetscInt d = 0; d < dim; ++d) g[d * dim + d] = 1.0 + Square(u);
}

static void g3_macro(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[],
                     const PetscScalar u[], const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[],
                     const PetscInt aOff_x[], const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t,
                     PetscReal u_tShift, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  for (PetscInt d = 0; d < dim; ++d) g[d * dim + d] = 1.0 + SQUARE_OF_STATE;
}

static void g3_slope(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[],
                     const PetscScalar u[], const PetscScalar u_t[], const PetscScalar slope[], const PetscInt aOff[],
                     const PetscInt aOff_x[], const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t,
                     PetscReal u_tShift, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  for (PetscInt d = 0; d < dim; ++d) g[d * dim + d] = 1.0 + slope[0] * slope[0];
}

static void g3_rate(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[],
                    const PetscScalar u[], const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[],
                    const PetscInt aOff_x[], const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t,
                    PetscReal u_tShift, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  for (PetscInt d = 0; d < dim; ++d) g[d * dim + d] = 1.0 + u_t[0] * u_t[0];
}

static void g3_time(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[],
                    const PetscScalar u[], const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[],
                    const PetscInt aOff_x[], const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t,
                    PetscReal u_tShift, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  for (PetscInt d = 0; d < dim; ++d) g[d * dim + d] = 1.0 + t;
}

static void g3_shift(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[],
                     const PetscScalar u[], const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[],
                     const PetscInt aOff_x[], const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t,
                     PetscReal u_tShift, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  for (PetscInt d = 0; d < dim; ++d) g[d * dim + d] = 1.0 + u_tShift;
}

static void g3_variable(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[],
                        const PetscScalar u[], const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[],
                        const PetscInt aOff_x[], const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[],
                        PetscReal t, PetscReal u_tShift, const PetscReal x[], PetscInt nc, const PetscScalar constants[],
                        PetscScalar g[])
{
  for (PetscInt d = 0; d < dim; ++d) g[d * dim + d] = Factor;
}

static void g3_aux(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[],
                   const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[],
                   const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, PetscReal u_tShift,
                   const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  for (PetscInt d = 0; d < dim; ++d) g[d * dim + d] = 1.0 + a[aOff[0]];
}

typedef void (*Jacobian)(ARGS);

static PetscErrorCode Bump(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt c = 0; c < nc; ++c) u[c] = t + PetscSinReal(x[0] + 2.0 * x[1] + c);
  return PETSC_SUCCESS;
}

static PetscErrorCode Project(DM dm, PetscReal t, Vec v)
{
  PetscErrorCode (*f[1])(PetscInt, PetscReal, const PetscReal[], PetscInt, PetscScalar *, void *) = {Bump};

  PetscFunctionBeginUser;
  PetscCall(DMProjectFunctionLocal(dm, t, f, NULL, INSERT_ALL_VALUES, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetField(DM dm, PetscInt nc, PetscInt order)
{
  PetscFE  fe;
  PetscInt dim;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscFECreateLagrange(PETSC_COMM_WORLD, dim, nc, PETSC_FALSE, order, PETSC_DETERMINE, &fe));
  PetscCall(DMSetField(dm, 0, NULL, (PetscObject)fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMCreateDS(dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetConstant(DM dm, PetscScalar c)
{
  PetscDS ds;

  PetscFunctionBeginUser;
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetConstants(ds, 1, &c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateDM(PetscBool aux, DM *dm, Vec *v)
{
  DM other;

  PetscFunctionBeginUser;
  PetscCall(DMCreate(PETSC_COMM_WORLD, dm));
  PetscCall(DMSetType(*dm, DMPLEX));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(SetField(*dm, 1, 3));
  PetscCall(SetConstant(*dm, 0.3));
  *v = NULL;
  if (!aux) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMClone(*dm, &other));
  PetscCall(SetField(other, 1, 1));
  PetscCall(DMCreateLocalVector(other, v));
  PetscCall(Project(other, 1.0, *v));
  PetscCall(DMSetAuxiliaryVec(*dm, NULL, 0, 0, *v));
  PetscCall(DMDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Product(DM dm, Mat A, Vec *y)
{
  Vec x;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, y));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, *y));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator at a state: was it set up, and is its product that of a new one? */
static PetscErrorCode Step(DM dm, Mat A, Vec X, Vec Xt, PetscReal t, PetscReal shift)
{
  PetscEventPerfInfo before, after;
  PetscReal          norm, error;
  Mat                B;
  Vec                y, z;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, HopsEvent.pasetup, &before));
  PetscCall(MatPASetState(A, dm, PETSC_FALSE, X, Xt, t, shift));
  PetscCall(Product(dm, A, &y));
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, HopsEvent.pasetup, &after));
  PetscCall(DMCreateMatrix(dm, &B));
  PetscCall(MatPASetState(B, dm, PETSC_FALSE, X, Xt, t, shift));
  PetscCall(Product(dm, B, &z));
  PetscCall(VecNorm(z, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(y, -1.0, z));
  PetscCall(VecNorm(y, NORM_INFINITY, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %d%s", after.count - before.count, error <= 1e-13 * norm ? "" : " (WRONG)"));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(const char name[], Jacobian g3, Jacobian dynamic, PetscBool withaux)
{
  DM        dm;
  Vec       X, Xt, aux;
  Mat       A;
  PetscDS   ds;
  char      only[64];
  PetscBool some;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-only", only, sizeof(only), &some));
  if (some && strcmp(only, name)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CreateDM(withaux, &dm, &aux));
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, NULL, NULL, NULL, g3));
  if (dynamic) PetscCall(PetscDSSetDynamicJacobian(ds, 0, 0, dynamic, NULL, NULL, NULL));
  PetscCall(DMCreateLocalVector(dm, &X));
  PetscCall(VecDuplicate(X, &Xt));
  PetscCall(Project(dm, 0.5, X));
  PetscCall(Project(dm, 0.1, Xt));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: new", name));
  PetscCall(Step(dm, A, X, Xt, 0.0, 2.0));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", the same"));
  PetscCall(Step(dm, A, X, Xt, 0.0, 2.0));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", u"));
  PetscCall(Project(dm, 0.7, X));
  PetscCall(Step(dm, A, X, Xt, 0.0, 2.0));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", u_t"));
  PetscCall(Project(dm, 0.9, Xt));
  PetscCall(Step(dm, A, X, Xt, 0.0, 2.0));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", t"));
  PetscCall(Step(dm, A, X, Xt, 0.1, 2.0));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", shift"));
  PetscCall(Step(dm, A, X, Xt, 0.1, 3.0));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", zeroed"));
  PetscCall(MatZeroEntries(A));
  PetscCall(Step(dm, A, X, Xt, 0.1, 3.0));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", variable"));
  Factor += 0.25;
  PetscCall(Step(dm, A, X, Xt, 0.1, 3.0));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", constants"));
  PetscCall(SetConstant(dm, 0.8));
  PetscCall(Step(dm, A, X, Xt, 0.1, 3.0));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", auxiliary"));
  if (aux) PetscCall(VecShift(aux, 0.5));
  PetscCall(Step(dm, A, X, Xt, 0.1, 3.0));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", function"));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, NULL, NULL, NULL, g3_other));
  PetscCall(Step(dm, A, X, Xt, 0.1, 3.0));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", the same"));
  PetscCall(Step(dm, A, X, Xt, 0.1, 3.0));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&X));
  PetscCall(VecDestroy(&Xt));
  PetscCall(VecDestroy(&aux));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(HopsInitialize());
  PetscCall(Run("nothing", g3_none, NULL, PETSC_FALSE));
  PetscCall(Run("state", g3_state, NULL, PETSC_FALSE));
  PetscCall(Run("state by a macro", g3_macro, NULL, PETSC_FALSE));
  PetscCall(Run("slope", g3_slope, NULL, PETSC_FALSE));
  PetscCall(Run("rate", g3_rate, NULL, PETSC_FALSE));
  PetscCall(Run("time", g3_time, NULL, PETSC_FALSE));
  PetscCall(Run("shift", g3_shift, NULL, PETSC_FALSE));
  PetscCall(Run("variable", g3_variable, NULL, PETSC_FALSE));
  PetscCall(Run("time derivative", g3_none, g0_rate, PETSC_FALSE));
  PetscCall(Run("auxiliary", g3_aux, NULL, PETSC_TRUE));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  testset:
    args: -dm_plex_simplex 0 -dm_plex_dim 2 -dm_plex_box_faces 3,2 -dm_mat_type pa -petscpartitioner_type simple
    test:
      suffix: known
      nsize: {{1 2}}
      args: -hops_pointwise_source ${HOPS_SOURCE}/tests/pointreads.c
    test:
      suffix: tensors
      args: -hops_pointwise_source ${HOPS_SOURCE}/tests/pointreads.c -mat_pa_general
      output_file: output/pointreads_known.out
    # without sources a function may read anything
    test:
      suffix: unknown
    # a source that is not the program's: it names no state. On a device this is found, and said at each set-up
    test:
      suffix: wrong
      filter: sed -z 's/.0.PETSC ERROR: Warning: -hops_pointwise_source: [^\n]*they differ[^\n]*\n//g'
      args: -hops_pointwise_source ${HOPS_SOURCE}/tests/pointreadsother.h -only state

TEST*/
