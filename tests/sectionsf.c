static char help[] =
  "DMGlobalToLocal() and DMLocalToGlobal() of a DM with -hops_residual against those of one without: both modes, operations that\n\
begin before others end, other units, reductions and questions, which are PETSc's.\n\n";

#include "hopstest.h"
#include <petscds.h>
#include <petscsf.h>

static PetscErrorCode Value(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) u[i] = i + x[0];
  return PETSC_SUCCESS;
}

static PetscErrorCode CreateDM(DM *dm)
{
  PetscInt dim, one = 1;
  PetscFE  fe;
  PetscDS  ds;
  DMLabel  label;

  PetscFunctionBeginUser;
  PetscCall(DMCreate(PETSC_COMM_WORLD, dm));
  PetscCall(DMSetType(*dm, DMPLEX));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMGetDimension(*dm, &dim));
  PetscCall(PetscFECreateDefault(PETSC_COMM_WORLD, dim, 2, PETSC_FALSE, NULL, PETSC_DETERMINE, &fe));
  PetscCall(DMSetField(*dm, 0, NULL, (PetscObject)fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMCreateDS(*dm));
  PetscCall(DMGetDS(*dm, &ds));
  PetscCall(DMGetLabel(*dm, "marker", &label));
  PetscCall(PetscDSAddBoundary(ds, DM_BC_ESSENTIAL, "wall", label, 1, &one, 0, 1, &one, (void (*)(void))Value, NULL, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Fill(Vec x, PetscScalar start)
{
  PetscScalar *a;
  PetscInt     n, first;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetOwnershipRange(x, &first, NULL));
  PetscCall(VecGetArray(x, &a));
  for (PetscInt i = 0; i < n; ++i) a[i] = start + first + i;
  PetscCall(VecRestoreArray(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two vectors there and back, interleaved: l[2], g[2] */
static PetscErrorCode Move(DM dm, Vec l[], Vec g[])
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(DMCreateGlobalVector(dm, &g[i]));
    PetscCall(DMCreateLocalVector(dm, &l[i]));
    PetscCall(Fill(g[i], 100.0 * (i + 1)));
    PetscCall(VecSet(l[i], 7.0));
  }
  PetscCall(DMGlobalToLocalBegin(dm, g[0], INSERT_VALUES, l[0]));
  PetscCall(DMGlobalToLocalBegin(dm, g[1], INSERT_VALUES, l[1]));
  PetscCall(DMGlobalToLocalEnd(dm, g[0], INSERT_VALUES, l[0]));
  PetscCall(DMGlobalToLocalEnd(dm, g[1], INSERT_VALUES, l[1]));
  PetscCall(DMLocalToGlobal(dm, l[0], ADD_VALUES, g[0]));
  PetscCall(VecScale(l[1], 3.0));
  PetscCall(DMLocalToGlobal(dm, l[1], INSERT_VALUES, g[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums over leaves of integers; over scalars while those begin: PETSc's from then on */
static PetscErrorCode Ask(DM dm, Vec l, Vec g, PetscInt *sum, PetscInt *degrees)
{
  PetscSF            sf;
  PetscInt           nroots, nleaves, *root, *leaf;
  const PetscInt    *mine, *degree;
  const PetscSFNode *remote;

  PetscFunctionBeginUser;
  PetscCall(DMGetSectionSF(dm, &sf));
  PetscCall(PetscSFGetGraph(sf, &nroots, &nleaves, &mine, &remote));
  PetscCall(PetscMalloc2(nroots, &root, mine ? mine[nleaves - 1] + 1 : nleaves, &leaf));
  for (PetscInt i = 0; i < nroots; ++i) root[i] = i % 17;
  PetscCall(DMGlobalToLocalBegin(dm, g, INSERT_VALUES, l));
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, root, leaf, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, root, leaf, MPI_REPLACE));
  PetscCall(DMGlobalToLocalEnd(dm, g, INSERT_VALUES, l));
  *sum = *degrees = 0;
  for (PetscInt i = 0; i < nleaves; ++i) *sum += leaf[mine ? mine[i] : i];
  PetscCall(PetscFree2(root, leaf));
  PetscCall(PetscSFComputeDegreeBegin(sf, &degree));
  PetscCall(PetscSFComputeDegreeEnd(sf, &degree));
  for (PetscInt i = 0; i < nroots; ++i) *degrees += degree[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM        dm[2];
  Vec       l[4], g[4];
  PetscSF   sf;
  PetscBool ours;
  PetscInt  sum[4];
  PetscReal error, norm;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  for (PetscInt i = 0; i < 2; ++i) {
    PetscObject graph;

    if (i) PetscCall(PetscOptionsSetValue(NULL, "-hops_residual", NULL));
    PetscCall(CreateDM(&dm[i]));
    PetscCall(Move(dm[i], l + 2 * i, g + 2 * i));
    PetscCall(DMGetSectionSF(dm[i], &sf));
    PetscCall(PetscObjectQuery((PetscObject)sf, "HopsSectionGraph", &graph));
    ours = graph ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the graph is %s\n", ours ? "hops'" : "PETSc's"));
    PetscCall(Ask(dm[i], l[2 * i], g[2 * i], &sum[2 * i], &sum[2 * i + 1]));
    PetscCall(PetscSFGetRootRanks(sf, &(HopsSFRank){0}, NULL, NULL, NULL, NULL));
    PetscCall(DMLocalToGlobal(dm[i], l[2 * i], ADD_VALUES, g[2 * i]));
  }
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(VecNorm(l[i], NORM_INFINITY, &norm));
    PetscCall(VecAXPY(l[2 + i], -1.0, l[i]));
    PetscCall(VecAXPY(g[2 + i], -1.0, g[i]));
    PetscCall(VecNorm(l[2 + i], NORM_INFINITY, &error));
    PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &error, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "local vectors: %s\n", norm > 100.0 && error == 0.0 ? "equal" : "DIFFER"));
    PetscCall(VecNorm(g[2 + i], NORM_INFINITY, &error));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "global vectors: %s\n", error == 0.0 ? "equal" : "DIFFER"));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "integers and degrees: %s\n", sum[0] == sum[2] && sum[1] == sum[3] ? "equal" : "DIFFER"));
  for (PetscInt i = 0; i < 4; ++i) {
    PetscCall(VecDestroy(&l[i]));
    PetscCall(VecDestroy(&g[i]));
  }
  for (PetscInt i = 0; i < 2; ++i) PetscCall(DMDestroy(&dm[i]));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -dm_plex_simplex 0 -petscpartitioner_type simple -petscspace_degree {{1 3}} -dm_vec_type standard
    test:
      suffix: one
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,2,2
      output_file: output/sectionsf_one.out
    test:
      suffix: more
      nsize: {{2 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,2
      output_file: output/sectionsf_more.out
    test:
      suffix: cuda
      requires: cuda
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -dm_vec_type cuda
      output_file: output/sectionsf_one.out

TEST*/
