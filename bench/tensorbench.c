static char help[] =
  "One application of the matrix-free operator of a PetscDS with full tensors, from a DMPlex box: vector Laplacian, elasticity\n\
  or Stokes.\n\
  -form <laplace,elasticity,stokes>: Stokes has velocities of -u_petscspace_degree and pressures of -p_petscspace_degree, with\n\
                                     the velocities' points\n\
  -repeat <n>: applications timed at a time\n\
Prints unknowns, milliseconds an application (the fastest of five series) and 10^9 unknowns a second. Needs -dm_mat_type pa and\n\
  hops (-dll_append).\n\n";

#include <petscdmplex.h>
#include <petscds.h>
#include <petscsnes.h>
#include <hops/private/petscshim.h>

#define JAC \
  PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[], \
    const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[], const PetscScalar a[], \
    const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, PetscReal shift, const PetscReal x[], PetscInt nc, \
    const PetscScalar constants[], PetscScalar g[]

static void Laplace(JAC)
{
  for (PetscInt c = 0; c < dim; ++c)
    for (PetscInt d = 0; d < dim; ++d) g[((c * dim + c) * dim + d) * dim + d] = 1.0;
}

/* lambda div u div v + 2 mu eps(u) : eps(v) */
static void Elasticity(JAC)
{
  const PetscReal lambda = 1.5, mu = 1.0;

  for (PetscInt c = 0; c < dim; ++c)
    for (PetscInt d = 0; d < dim; ++d) {
      g[((c * dim + d) * dim + c) * dim + d] += lambda;
      g[((c * dim + c) * dim + d) * dim + d] += mu;
      g[((c * dim + d) * dim + d) * dim + c] += mu;
    }
}

/* - p div v and - q div u */
static void Pressure(JAC)
{
  for (PetscInt d = 0; d < dim; ++d) g[d * dim + d] = -1.0;
}

static PetscErrorCode SetUp(DM dm, const char form[])
{
  PetscQuadrature quad;
  PetscFE         fe[2];
  PetscDS         ds;
  PetscInt        dim;
  PetscBool       stokes, elasticity;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(form, "stokes", &stokes));
  PetscCall(PetscStrcmp(form, "elasticity", &elasticity));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscFECreateDefault(PETSC_COMM_WORLD, dim, dim, PETSC_FALSE, "u_", PETSC_DETERMINE, &fe[0]));
  PetscCall(DMSetField(dm, 0, NULL, (PetscObject)fe[0]));
  if (stokes) {
    PetscCall(PetscFECreateDefault(PETSC_COMM_WORLD, dim, 1, PETSC_FALSE, "p_", PETSC_DETERMINE, &fe[1]));
    PetscCall(PetscFEGetQuadrature(fe[0], &quad));
    PetscCall(PetscFESetQuadrature(fe[1], quad));
    PetscCall(DMSetField(dm, 1, NULL, (PetscObject)fe[1]));
    PetscCall(PetscFEDestroy(&fe[1]));
  }
  PetscCall(PetscFEDestroy(&fe[0]));
  PetscCall(DMCreateDS(dm));
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, NULL, NULL, NULL, elasticity ? Elasticity : Laplace));
  if (stokes) {
    PetscCall(PetscDSSetJacobian(ds, 0, 1, NULL, NULL, Pressure, NULL));
    PetscCall(PetscDSSetJacobian(ds, 1, 0, NULL, Pressure, NULL, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One number of y on the host: the device is done */
static PetscErrorCode Wait(Vec y, PetscReal *s)
{
  PetscScalar v;

  PetscFunctionBeginUser;
  PetscCall(VecDot(y, y, &v));
  *s = PetscSqrtReal(PetscRealPart(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM        dm;
  SNES      snes;
  Mat       A;
  Vec       u, x, y;
  char      form[32] = "elasticity";
  PetscInt  n, repeat = 20;
  PetscReal norm = 0.0;
  double    best = 1e30, t0, setup;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-form", form, sizeof(form), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &repeat, NULL));
  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  PetscCall(DMSetType(dm, DMPLEX));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(SetUp(dm, form));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, dm));
  PetscCall(HopsDMPlexSetSNESLocalFEM(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(SNESSetJacobian(snes, A, A, NULL, NULL));
  PetscCall(DMCreateGlobalVector(dm, &u));
  PetscCall(VecSet(u, 0.0));
  PetscCall(SNESComputeJacobian(snes, u, A, A));
  PetscCall(VecDuplicate(u, &x));
  PetscCall(VecDuplicate(u, &y));
  PetscCall(VecSetRandom(x, NULL));
  t0 = MPI_Wtime();
  PetscCall(MatMult(A, x, y));
  PetscCall(Wait(y, &norm));
  setup = MPI_Wtime() - t0;
  for (PetscInt s = 0; s < 5; ++s) {
    t0 = MPI_Wtime();
    for (PetscInt i = 0; i < repeat; ++i) PetscCall(MatMult(A, x, y));
    PetscCall(Wait(y, &norm));
    best = PetscMin(best, (MPI_Wtime() - t0) / repeat);
  }
  PetscCall(VecGetSize(x, &n));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %" PetscInt_FMT " unknowns %.3f ms %.2f GDoF/s, set-up %.2f s, norm %.12e\n", form, n,
                        1e3 * best, n / best * 1e-9, setup, (double)norm));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(SNESDestroy(&snes));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}
