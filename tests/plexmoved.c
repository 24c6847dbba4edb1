static char help[] =
  "A mesh that moves under an operator of -dm_mat_type pa: refused. Coordinates that were looked at alone are not.\n\n";

#include "hopstest.h"
#include <petscds.h>
#include <petscsnes.h>

static void g3(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[],
               const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[],
               const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, PetscReal shift,
               const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  for (PetscInt d = 0; d < dim; ++d) g[d * dim + d] = 1.0;
}

/* The operator of the mesh as it is */
static PetscErrorCode SetUp(SNES snes, Mat J, const char name[])
{
  DM        dm;
  Vec       X, Y;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(SNESGetDM(snes, &dm));
  PetscCall(DMCreateGlobalVector(dm, &X));
  PetscCall(VecDuplicate(X, &Y));
  PetscCall(VecSet(X, 1.0));
  PetscCall(SNESComputeJacobian(snes, X, J, J));
  PetscCall(MatMult(J, X, Y));
  PetscCall(VecNorm(Y, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", name, norm > 0.0 ? "an operator" : "NOTHING"));
  PetscCall(VecDestroy(&X));
  PetscCall(VecDestroy(&Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM           dm;
  PetscFE      fe;
  PetscDS      ds;
  DMLabel      label;
  PetscInt     dim, one = 1;
  SNES         snes;
  Mat          J;
  Vec          x;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsInsertString(NULL, "-dm_mat_type pa"));
  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  PetscCall(DMSetType(dm, DMPLEX));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscFECreateDefault(PETSC_COMM_WORLD, dim, 1, PETSC_FALSE, NULL, PETSC_DETERMINE, &fe));
  PetscCall(DMSetField(dm, 0, NULL, (PetscObject)fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMCreateDS(dm));
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, NULL, NULL, NULL, g3));
  PetscCall(DMGetLabel(dm, "marker", &label));
  PetscCall(PetscDSAddBoundary(ds, DM_BC_ESSENTIAL, "wall", label, 1, &one, 0, 0, NULL, NULL, NULL, NULL, NULL));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, dm));
  PetscCall(HopsDMPlexSetSNESLocalFEM(dm));
  PetscCall(SNESSetUp(snes));
  PetscCall(DMCreateMatrix(dm, &J));
  PetscCall(SetUp(snes, J, "at first"));
  PetscCall(DMGetCoordinatesLocal(dm, &x));
  PetscCall(VecGetArray(x, &a)); /* counts as a change, and is none */
  PetscCall(VecRestoreArray(x, &a));
  PetscCall(SetUp(snes, J, "coordinates looked at"));
  PetscCall(VecScale(x, 2.0));
  PetscCall(SetUp(snes, J, "MOVED"));
  PetscCall(MatDestroy(&J));
  PetscCall(SNESDestroy(&snes));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    nsize: {{1 2}}
    args: -dm_plex_simplex 0 -dm_plex_dim 2 -dm_plex_box_faces 3,2 -petscspace_degree {{2 3}} -petsc_ci_portable_error_output
    filter: grep -oE "^at first.*|^coordinates.*|^MOVED.*|coordinates of the mesh have changed|SNESReset" | sort -u

TEST*/
