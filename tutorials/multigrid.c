static char help[] =
  "Geometric multigrid for -div(kappa grad u) = 1, u = 0 on the boundary: tables of iterations by level and order.\n\
  -orders <p,...>, -levels <l,...> : columns and rows (default 1,2,3,4 and 2,3,4); level l is the coarsest mesh refined l times\n\
  -dm_plex_dim <d>, -dm_plex_box_faces <n,...>, -dm_plex_filename <file> : the coarsest mesh (default: one cell)\n\
  -move <none,graded,skewed>       : cells of different lengths, or of different shapes\n\
  -coefficient <constant,cells,smooth> : kappa; cells: 1 or -contrast <k> (default 100) by the squares or cubes of side 1/4\n\
  -solve <full,krylov>             : one pass of full multigrid, then V-cycles are counted; or iterations of a KSP (default CG),\n\
                                     `fail` where they do not converge\n\
  -rtol <r>                        : until |b - A x| <= r |b| (default 1e-9)\n\
Smoothers are chosen by -mg_levels_...; all other options of PCHOPSMG and KSP apply.\n\n";

#include <hops.h>

typedef enum {
  NONE,
  GRADED,
  SKEWED
} Move;
typedef enum {
  CONSTANT,
  CELLS,
  SMOOTH
} Kind;
static const char *const moves[] = {"none", "graded", "skewed", "Move", "", NULL};
static const char *const kinds[] = {"constant", "cells", "smooth", "Kind", "", NULL};

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  f[0] = 1.0;
  return 0;
}

static PetscErrorCode Smooth(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  f[0] = 1.0 + 0.9 * PetscSinReal(2.0 * PETSC_PI * x[0]) * PetscCosReal(PETSC_PI * x[1]);
  return 0;
}

/* The vertices of the finest mesh alone are moved: the coarse meshes of PCHOPSMG follow */
static PetscErrorCode MoveVertices(DM dm, Move move)
{
  PetscInt     dim, n;
  Vec          coords;
  PetscScalar *x;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetCoordinatesLocal(dm, &coords));
  PetscCall(VecGetLocalSize(coords, &n));
  PetscCall(VecGetArray(coords, &x));
  for (PetscInt i = 0; i < n / dim; ++i) {
    PetscScalar *y = x + i * dim;

    if (move == GRADED)
      for (PetscInt d = 0; d < dim; ++d) y[d] = y[d] * (0.4 + 0.6 * y[d]) + 0.1 * d * y[d];
    else {
      const PetscReal a = y[0], b = y[1];

      y[0] = a + 0.3 * b + 0.05 * PetscSinReal(2.0 * PETSC_PI * b);
      y[1] = b + 0.05 * PetscSinReal(2.0 * PETSC_PI * a);
    }
  }
  PetscCall(VecRestoreArray(coords, &x));
  PetscCall(DMSetCoordinatesLocal(dm, coords));
  PetscFunctionReturn(0);
}

/* level meshes, each the coarse DM of the next */
static PetscErrorCode CreateMesh(PetscInt levels, Move move, DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(DMCreate(PETSC_COMM_WORLD, dm));
  PetscCall(DMSetType(*dm, DMPLEX));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMPlexSetRefinementUniform(*dm, PETSC_TRUE));
  for (PetscInt l = 0; l < levels; ++l) {
    DM fine;

    PetscCall(DMRefine(*dm, PETSC_COMM_WORLD, &fine));
    PetscCall(DMPlexSetRefinementUniform(fine, PETSC_TRUE));
    PetscCall(DMSetCoarseDM(fine, *dm));
    PetscCall(DMDestroy(dm));
    *dm = fine;
  }
  if (move != NONE) PetscCall(MoveVertices(*dm, move));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateKappa(HopsSpace space, DM dm, Kind kind, PetscReal contrast, HopsCoefficient *kappa)
{
  PetscInt     dim, cStart, cEnd;
  PetscScalar *values, one = 1.0;

  PetscFunctionBeginUser;
  if (kind == CONSTANT) PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, kappa));
  if (kind == SMOOTH) PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, Smooth, NULL, kappa));
  if (kind != CELLS) PetscFunctionReturn(0);
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  PetscCall(PetscMalloc1(cEnd - cStart, &values));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    PetscReal centroid[3] = {0.0, 0.0, 0.0};
    PetscInt  sum         = 0;

    PetscCall(DMPlexComputeCellGeometryFVM(dm, c, NULL, centroid, NULL));
    for (PetscInt d = 0; d < dim; ++d) sum += (PetscInt)PetscFloorReal(4.0 * centroid[d]);
    values[c - cStart] = sum % 2 ? contrast : 1.0;
  }
  PetscCall(HopsCoefficientCreateCell(space, 1, values, kappa));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(0);
}

/* nested iteration, then V-cycles on the finest level: their number, -1 where they fail */
static PetscErrorCode SolveFull(PC pc, Mat A, Vec b, Vec x, PetscReal rtol, PetscInt *cycles)
{
  Vec       r, e;
  PetscReal norm, norm0;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecDuplicate(b, &e));
  PetscCall(VecNorm(b, NORM_2, &norm0));
  PetscCall(PCMGSetType(pc, PC_MG_FULL));
  PetscCall(PCApply(pc, b, x));
  PetscCall(PCMGSetType(pc, PC_MG_MULTIPLICATIVE));
  for (*cycles = 0; *cycles < 999; ++*cycles) {
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1.0, b));
    PetscCall(VecNorm(r, NORM_2, &norm));
    if (norm <= rtol * norm0 || PetscIsInfOrNanReal(norm)) break;
    PetscCall(PCApply(pc, r, e));
    PetscCall(VecAXPY(x, 1.0, e));
  }
  if (!(norm <= rtol * norm0)) *cycles = -1;
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&e));
  PetscFunctionReturn(0);
}

static PetscErrorCode Count(DM dm, PetscInt order, Kind kind, PetscReal contrast, PetscBool full, PetscReal rtol, PetscInt *its)
{
  PetscInt        values[16];
  DMLabel         label;
  HopsSpace       space;
  HopsCoefficient kappa;
  Mat             A;
  Vec             x, b;
  KSP             ksp;
  PC              pc;

  PetscFunctionBeginUser;
  for (PetscInt v = 0; v < 16; ++v) values[v] = v + 1;
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(HopsSpaceCreateH1(dm, order, label, 16, values, &space));
  PetscCall(CreateKappa(space, dm, kind, contrast, &kappa));
  PetscCall(MatCreatePA(space, &A));
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(HopsSpaceCreateVec(space, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(HopsSpaceComputeRHS(space, One, NULL, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, rtol, PETSC_DEFAULT, PETSC_DEFAULT, 999));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCHOPSMG));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  if (full) PetscCall(SolveFull(pc, A, b, x, rtol, its));
  else {
    KSPConvergedReason reason;

    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, its));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    if (reason < 0) *its = -1;
  }
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(HopsSpaceDestroy(&space));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt  orders[32] = {1, 2, 3, 4}, levels[32] = {2, 3, 4}, norders = 32, nlevels = 32, its;
  Move      move = NONE;
  Kind      kind = CONSTANT;
  PetscReal rtol = 1e-9, contrast = 100.0;
  char      solve[16] = "full";
  PetscBool set, file, full;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsInsertString(NULL, "-dm_plex_simplex 0"));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-dm_plex_box_faces", &set));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-dm_plex_filename", &file));
  if (!set && !file) PetscCall(PetscOptionsInsertString(NULL, "-dm_plex_box_faces 1,1,1"));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &norders, &set));
  if (!set) norders = 4;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-levels", levels, &nlevels, &set));
  if (!set) nlevels = 3;
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-move", moves, (PetscEnum *)&move, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-coefficient", kinds, (PetscEnum *)&kind, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-contrast", &contrast, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-rtol", &rtol, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-solve", solve, sizeof(solve), NULL));
  PetscCall(PetscStrcmp(solve, "full", &full));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "level"));
  for (PetscInt i = 0; i < norders; ++i) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%4s%-2" PetscInt_FMT, "Q", orders[i]));
  for (PetscInt l = 0; l < nlevels; ++l) {
    DM dm;

    PetscCall(CreateMesh(levels[l], move, &dm));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%5" PetscInt_FMT, levels[l]));
    for (PetscInt i = 0; i < norders; ++i) {
      PetscCall(Count(dm, orders[i], kind, contrast, full, rtol, &its));
      if (its < 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " fail "));
      else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%5" PetscInt_FMT " ", its));
    }
    PetscCall(DMDestroy(&dm));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    diff_args: -j
    test:
      suffix: full
      args: -orders 1,2,3,4,6,8,10 -levels 2,3,4 -mg_levels_ksp_max_it 1
    test:
      suffix: square
      nsize: {{1 2 3 4}}
      args: -orders 1,2,4,6 -levels 2,3,4 -dm_plex_box_faces 4,4 -solve krylov
    test:
      suffix: cube
      nsize: {{1 2 4}}
      args: -dm_plex_dim 3 -orders 1,2,3 -levels 1,2 -dm_plex_box_faces 2,2,2 -solve krylov
    test:
      suffix: graded
      args: -move graded -orders 1,2,4 -levels 3,4,5 -solve krylov
    test:
      suffix: skewed
      args: -move skewed -orders 1,2,4 -levels 3,4,5 -solve krylov
    test:
      suffix: cells
      args: -coefficient cells -orders 1,2,4 -levels 3,4,5 -solve krylov
    test:
      suffix: fails
      args: -orders 1,2 -levels 2 -solve {{full krylov}} -ksp_max_it 1 -mg_levels_ksp_type richardson -mg_levels_ksp_richardson_scale 9
    test:
      suffix: patches
      args: -orders 1,2,3,4,5,6,7,8 -levels 3,4 -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1 -mg_levels_pc_patchfd_direction forward
    test:
      suffix: patches_cube
      args: -dm_plex_dim 3 -orders 1,2,3,4,5,6,7,8 -levels 2,3 -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1 -mg_levels_pc_patchfd_direction forward
    test:
      suffix: patches_reverse
      nsize: {{1 3}}
      args: -orders 1,2,3,4,5,6,7,8 -levels 3,4 -solve {{full krylov}separate output} -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1
    test:
      suffix: patches_reverse_set
      args: -orders 1,2,3,4,5,6,7,8 -levels 3,4 -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1 -mg_levels_pc_patchfd_direction forward -pc_hopsmg_reverse
      output_file: output/multigrid_patches_reverse_solve-full.out
    test:
      suffix: patches_reverse_up
      args: -orders 1,2,3,4,5,6,7,8 -levels 3,4 -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1 -mg_levels_pc_patchfd_direction forward -pc_mg_distinct_smoothup -mg_levels_up_ksp_type richardson -mg_levels_up_pc_type patchfd -mg_levels_up_ksp_max_it 1 -mg_levels_up_pc_patchfd_direction backward
      output_file: output/multigrid_patches_reverse_solve-full.out
    test:
      suffix: patches_reverse_cube
      args: -dm_plex_dim 3 -orders 1,2,3,4,5,6,7,8 -levels 2,3 -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1
    test:
      suffix: patches_symmetric
      args: -orders 1,2,3,4,5,6,7,8 -levels 3,4 -solve {{full krylov}separate output} -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1 -pc_hopsmg_reverse 0
    test:
      suffix: patches_graded
      args: -move graded -orders 1,2,4 -levels 3,4 -solve krylov -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1 -pc_hopsmg_reverse {{0 1}separate output}
    test:
      suffix: patches_skewed
      args: -move skewed -orders 1,2,4 -levels 3,4 -solve krylov -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1 -pc_hopsmg_reverse {{0 1}separate output}
    test:
      suffix: patches_cells
      args: -coefficient cells -orders 2,4 -levels 3,4 -solve krylov -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1
    test:
      suffix: patches_cells_steep
      requires: host
      args: -coefficient cells -contrast {{1e14 1e-14}} -orders 2,4,7 -levels 3 -solve krylov -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1
    test:
      suffix: patches_cells_cube
      requires: host
      nsize: {{1 3}}
      args: -dm_plex_dim 3 -coefficient cells -contrast {{100 1e6}separate output} -orders 2,3,5,6 -levels 2,3 -solve krylov -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1 -mg_levels_pc_patchfd_dense_max 0
    test:
      suffix: patches_cells_cube_view
      requires: host
      args: -dm_plex_dim 3 -coefficient cells -orders 5 -levels 2 -solve krylov -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1 -ksp_view
      filter: grep condensed | sort -u
    test:
      suffix: patches_cells_cube_single
      requires: host real
      args: -dm_plex_dim 3 -coefficient cells -orders 2,3,5,6 -levels 2 -solve krylov -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1 -pc_hopsmg_precision single
    test:
      suffix: patches_single
      requires: real
      nsize: {{1 3}}
      args: -orders 1,2,4 -levels 2,3 -dm_plex_box_faces 4,4 -solve krylov -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1 -pc_hopsmg_precision {{single double}}
    test:
      suffix: orders
      args: -orders 2,4,8 -levels 0,1,2 -dm_plex_box_faces 4,4 -pc_hopsmg_coarsen p -solve krylov
    test:
      suffix: plate
      nsize: 2
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/plate.msh -levels 1,2 -orders 1,3 -solve krylov
    test:
      suffix: patches_plate
      nsize: {{1 2 3 4}}
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/plate.msh -levels 1,2 -orders 2,4,6 -solve krylov -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1 -pc_hopsmg_reverse 0 -pc_hopsmg_coarse_mat aij -mg_coarse_pc_type redundant
    test:
      suffix: patches_plate_reverse
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/plate.msh -levels 1,2 -orders 2,4,6 -solve krylov -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1 -pc_hopsmg_coarse_mat aij -mg_coarse_pc_type redundant
    test:
      suffix: patches_fichera
      nsize: {{1 2}}
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/fichera.msh -levels 1,2 -orders 2,3 -coefficient smooth -solve krylov -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1 -pc_hopsmg_reverse {{0 1}separate output}
    test:
      suffix: fichera
      nsize: 2
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/fichera.msh -levels 1,2 -orders 1,2 -coefficient smooth -solve krylov

TEST*/
