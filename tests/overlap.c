static char help[] =
  "A mesh whose partitions overlap: residual and Jacobian of a PetscDS code, with boundary terms, against those without overlap,\n\
where -dm_mat_type pa leaves the residual to PETSc.\n\
  -over_dm_mat_type, -over_hops_residual: of the mesh with overlap; -auxiliary: the boundary functions see a field\n\n";

#include "hopstest.h"
#include <petscds.h>
#include <petscsnes.h>

#define POINT \
  PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[], \
    const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[], const PetscScalar a[], \
    const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t

static void f0(POINT, const PetscReal x[], PetscInt nc, const PetscScalar c[], PetscScalar f[])
{
  f[0] = u[0] * u[0] - x[0];
}

static void f1(POINT, const PetscReal x[], PetscInt nc, const PetscScalar c[], PetscScalar f[])
{
  for (PetscInt d = 0; d < dim; ++d) f[d] = (1.0 + x[1]) * u_x[d];
}

static void g0(POINT, PetscReal shift, const PetscReal x[], PetscInt nc, const PetscScalar c[], PetscScalar g[])
{
  g[0] = 2.0 * u[0];
}

static void g3(POINT, PetscReal shift, const PetscReal x[], PetscInt nc, const PetscScalar c[], PetscScalar g[])
{
  for (PetscInt d = 0; d < dim; ++d) g[d * dim + d] = 1.0 + x[1];
}

static void f0bd(POINT, const PetscReal x[], const PetscReal n[], PetscInt nc, const PetscScalar c[], PetscScalar f[])
{
  f[0] = (2.0 + x[0] + (NfAux ? a[0] : 0.0)) * u[0] - x[1];
}

static void g0bd(POINT, PetscReal shift, const PetscReal x[], const PetscReal n[], PetscInt nc, const PetscScalar c[],
                 PetscScalar g[])
{
  g[0] = 2.0 + x[0] + (NfAux ? a[0] : 0.0);
}

static PetscErrorCode State(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(2.0 * x[0] + 0.5) * (1.0 + x[1] * x[1]);
  return PETSC_SUCCESS;
}

static PetscErrorCode (*functions[1])(PetscInt, PetscReal, const PetscReal[], PetscInt, PetscScalar[], void *) = {State};

static PetscErrorCode SetAuxiliary(DM dm, PetscFE fe, DMLabel label, PetscInt value)
{
  DM  da;
  Vec a;

  PetscFunctionBeginUser;
  PetscCall(DMClone(dm, &da));
  PetscCall(DMSetField(da, 0, NULL, (PetscObject)fe));
  PetscCall(DMCreateDS(da));
  PetscCall(DMCreateLocalVector(da, &a));
  PetscCall(DMProjectFunctionLocal(da, 0.0, functions, NULL, INSERT_ALL_VALUES, a));
  PetscCall(DMSetAuxiliaryVec(dm, label, value, 0, a));
  PetscCall(VecDestroy(&a));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Norms of the residual F at a state, and of the Jacobian times F: the state is a function of position, so no
   numbering matters */
static PetscErrorCode Norms(DM dm, PetscReal norm[2])
{
  PetscFE       fe;
  PetscDS       ds;
  PetscWeakForm wf;
  DMLabel       label;
  SNES          snes;
  Mat           J;
  Vec           u, F, y;
  PetscInt      dim, wall = 1, flux[2] = {2, 3}, bd;
  PetscBool     aux = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscFECreateDefault(PETSC_COMM_SELF, dim, 1, PETSC_FALSE, NULL, PETSC_DETERMINE, &fe));
  PetscCall(DMSetField(dm, 0, NULL, (PetscObject)fe));
  PetscCall(DMCreateDS(dm));
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetResidual(ds, 0, f0, f1));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, g0, NULL, NULL, g3));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(DMPlexLabelComplete(dm, label));
  PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "wall", label, 1, &wall, 0, 0, NULL, (HopsVoidFn)State, NULL, NULL, NULL));
  PetscCall(DMAddBoundary(dm, DM_BC_NATURAL, "flux", label, 2, flux, 0, 0, NULL, NULL, NULL, NULL, &bd));
  PetscCall(PetscDSGetBoundary(ds, bd, &wf, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-auxiliary", &aux, NULL));
  for (PetscInt v = 0; v < 2; ++v) {
    PetscCall(PetscWeakFormSetIndexBdResidual(wf, label, flux[v], 0, 0, 0, f0bd, 0, NULL));
    PetscCall(PetscWeakFormSetIndexBdJacobian(wf, label, flux[v], 0, 0, 0, 0, g0bd, 0, NULL, 0, NULL, 0, NULL));
    if (aux) PetscCall(SetAuxiliary(dm, fe, label, flux[v]));
  }
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(HopsDMPlexSetSNESLocalFEM(dm));
  PetscCall(SNESCreate(PetscObjectComm((PetscObject)dm), &snes));
  PetscCall(SNESSetDM(snes, dm));
  PetscCall(DMCreateGlobalVector(dm, &u));
  PetscCall(DMProjectFunction(dm, 0.0, functions, NULL, INSERT_ALL_VALUES, u));
  PetscCall(VecDuplicate(u, &F));
  PetscCall(VecDuplicate(u, &y));
  PetscCall(DMCreateMatrix(dm, &J));
  PetscCall(SNESSetSolution(snes, u));
  PetscCall(SNESSetUp(snes));
  PetscCall(SNESComputeFunction(snes, u, F));
  PetscCall(SNESComputeJacobian(snes, u, J, J));
  PetscCall(MatMult(J, F, y));
  PetscCall(VecNorm(F, NORM_2, &norm[0]));
  PetscCall(VecNorm(y, NORM_2, &norm[1]));
  PetscCall(MatDestroy(&J));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&F));
  PetscCall(VecDestroy(&y));
  PetscCall(SNESDestroy(&snes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM        dm, over;
  PetscReal a[2], b[2];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_FALSE, &dm));
  PetscCall(DMPlexDistributeOverlap(dm, 1, NULL, &over));
  PetscCheck(over, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "This test wants several ranks");
  PetscCall(PetscObjectSetOptionsPrefix((PetscObject)over, "over_"));
  PetscCall(PetscOptionsInsertString(NULL, "-over_dm_distribute 0"));
  PetscCall(DMSetFromOptions(over));
  PetscCall(Norms(dm, a));
  PetscCall(Norms(over, b));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "residual %s, Jacobian %s\n",
                        PetscAbsReal(a[0] - b[0]) < 1e-12 * a[0] ? "agrees" : "DIFFERS",
                        PetscAbsReal(a[1] - b[1]) < 1e-12 * a[1] ? "agrees" : "DIFFERS"));
  PetscCall(DMDestroy(&over));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -dm_mat_type pa -over_dm_mat_type pa -petscspace_degree 2
    output_file: output/overlap.out
    test:
      suffix: 2d
      requires: real
      nsize: {{2 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,4 -over_hops_residual {{0 1}} -auxiliary {{0 1}}
    test:
      suffix: 3d
      requires: real
      nsize: 3
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,3,2 -over_hops_residual {{0 1}}

  # an assembled matrix counts the overlap on each rank
  test:
    suffix: refused
    nsize: 2
    args: -dm_plex_dim 2 -dm_plex_box_faces 4,4 -petscspace_degree 2 -over_hops_residual -petsc_ci_portable_error_output
    filter: grep -oE "use -dm_mat_type pa and -hops_residual together" | sort -u

TEST*/
