static char help[] =
  "Linear elasticity by DMPlex, PetscFE and PetscDS, without a word of hops: what an existing code looks like. Run it as it is,\n\
with -dll_append libhops.so -pc_type lor, or matrix-free with -dm_mat_type pa -pc_type lor -hops_residual besides.\n\
  -dm_plex_dim <d> -dm_plex_box_faces <n,...>, or -dm_plex_filename <file>; -displacement_petscspace_degree <p>\n\
  -mu <mu>, -lambda <lambda>: Lame parameters (default 1, 1)\n\
  -clamped <v,...>: values of 'Face Sets' where the displacement is zero (default 1); gravity acts in the last direction\n\n";

#include <petscdmplex.h>
#include <petscds.h>
#include <petscsnes.h>

/* sigma = lambda div(u) I + mu (grad u + grad u^T) */
static void f1(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[],
               const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[],
               const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, const PetscReal x[],
               PetscInt nc, const PetscScalar constants[], PetscScalar f[])
{
  const PetscScalar mu = constants[0], lambda = constants[1];
  PetscScalar       div = 0.0;

  for (PetscInt d = 0; d < dim; ++d) div += u_x[d * dim + d];
  for (PetscInt c = 0; c < dim; ++c)
    for (PetscInt d = 0; d < dim; ++d) f[c * dim + d] = mu * (u_x[c * dim + d] + u_x[d * dim + c]) + (c == d ? lambda * div : 0.0);
}

static void f0(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[],
               const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[],
               const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, const PetscReal x[],
               PetscInt nc, const PetscScalar constants[], PetscScalar f[])
{
  for (PetscInt c = 0; c < dim; ++c) f[c] = c == dim - 1 ? 1.0 : 0.0;
}

static void g3(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[],
               const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[],
               const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, PetscReal shift,
               const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[])
{
  const PetscScalar mu = constants[0], lambda = constants[1];

  for (PetscInt c = 0; c < dim; ++c)
    for (PetscInt d = 0; d < dim; ++d) {
      g[((c * dim + c) * dim + d) * dim + d] += mu;
      g[((c * dim + d) * dim + d) * dim + c] += mu;
      g[((c * dim + d) * dim + c) * dim + d] += lambda;
    }
}

static PetscErrorCode Zero(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt c = 0; c < nc; ++c) u[c] = 0.0;
  return 0;
}

int main(int argc, char **argv)
{
  DM             dm;
  PetscFE        fe;
  PetscDS        ds;
  DMLabel        faces;
  DMPolytopeType cell;
  SNES           snes;
  Vec            u;
  PetscScalar    constants[2] = {1.0, 1.0}; /* mu, lambda */
  PetscReal      value, max;
  PetscInt       dim, cStart, its, N, clamped[16] = {1}, n = 16;
  PetscBool      set;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-mu", &value, &set));
  if (set) constants[0] = value;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-lambda", &value, &set));
  if (set) constants[1] = value;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-clamped", clamped, &n, &set));
  if (!set) n = 1;

  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  PetscCall(DMSetType(dm, DMPLEX));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, NULL));
  PetscCall(DMPlexGetCellType(dm, cStart, &cell));
  PetscCall(PetscFECreateByCell(PETSC_COMM_WORLD, dim, dim, cell, "displacement_", PETSC_DETERMINE, &fe));
  PetscCall(DMSetField(dm, 0, NULL, (PetscObject)fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMCreateDS(dm));
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetConstants(ds, 2, constants));
  PetscCall(PetscDSSetResidual(ds, 0, f0, f1));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, NULL, NULL, NULL, g3));
  PetscCall(DMGetLabel(dm, "Face Sets", &faces));
  PetscCheck(faces, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG,
             "The mesh has no label \"Face Sets\": use -dm_plex_separate_marker for a box");
  PetscCall(DMPlexLabelComplete(dm, faces));
  PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "clamped", faces, n, clamped, 0, 0, NULL, (void (*)(void))Zero, NULL, NULL, NULL));
#if PETSC_VERSION_GE(3, 21, 0)
  PetscCall(DMPlexSetSNESLocalFEM(dm, PETSC_FALSE, NULL));
#else
  PetscCall(DMPlexSetSNESLocalFEM(dm, NULL, NULL, NULL));
#endif

  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, dm));
  PetscCall(SNESSetType(snes, SNESKSPONLY));
  PetscCall(SNESSetFromOptions(snes));
  PetscCall(DMCreateGlobalVector(dm, &u));
  PetscCall(VecSet(u, 0.0));
  PetscCall(SNESSolve(snes, NULL, u));
  PetscCall(SNESGetLinearSolveIterations(snes, &its));
  PetscCall(VecGetSize(u, &N));
  PetscCall(VecNorm(u, NORM_INFINITY, &max));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "unknowns %" PetscInt_FMT ", largest displacement %.5f, iterations %" PetscInt_FMT "\n",
                        N, (double)max, its));
  PetscCall(VecDestroy(&u));
  PetscCall(SNESDestroy(&snes));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    filter: sed -e "s/, iterations [0-9]*$//"
    diff_args: -j
    args: -dll_append ${HOPS_LIB} -pc_type lor -ksp_type cg -ksp_rtol 1e-10 -ksp_max_it 60 -ksp_error_if_not_converged -dm_plex_simplex 0
    test:
      suffix: box
      nsize: {{1 2}}
      args: -dm_plex_separate_marker -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -displacement_petscspace_degree 3 -dm_mat_type {{aij pa}}
    test:
      suffix: lambda
      args: -dm_plex_separate_marker -dm_plex_dim 2 -dm_plex_box_faces 4,4 -displacement_petscspace_degree 4 -lambda 10 -dm_mat_type pa -hops_residual
    test:
      suffix: elbow
      nsize: 2
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/elbow.msh -clamped 1,2 -displacement_petscspace_degree 2 -dm_mat_type pa -hops_residual -lor_pc_type gamg

TEST*/
