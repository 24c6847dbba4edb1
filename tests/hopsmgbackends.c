static char help[] = "PCHOPSMG of one back end against another: maps and their transposes, one cycle, iteration counts.\n\
  -backends <a,b> -orders <p,...> -curved <bool> -show -brief <bool: no iterations> -single <0: no cycles in single precision>\n\n";

#include "backends.h"

typedef struct {
  const char *name, *options;
  PetscReal   tol;
  PetscBool   symmetric; /* else Richardson iteration */
} Variant;

static const Variant variants[] = {
  {"Chebyshev-Jacobi", "-mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi -mg_levels_ksp_max_it 2", 1e-9, PETSC_TRUE},
  {"patches", "-mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1", 1e-11, PETSC_TRUE},
  {"patches, full cycle",
   "-mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1 -mg_levels_pc_patchfd_direction forward "
   "-pc_mg_type full",
   1e-11, PETSC_FALSE},
  {"additive patches",
   "-mg_levels_ksp_type chebyshev -mg_levels_pc_type patchfd -mg_levels_pc_patchfd_type additive -mg_levels_ksp_max_it 2", 1e-9,
   PETSC_TRUE},
  {"restricted patches",
   "-mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_pc_patchfd_type restricted -mg_levels_ksp_max_it 2 "
   "-mg_levels_ksp_richardson_scale 0.7",
   1e-11, PETSC_FALSE},
  {"single, Chebyshev-Jacobi",
   "-pc_hopsmg_precision single -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi -mg_levels_ksp_max_it 2", 1e-5, PETSC_TRUE},
  {"single, patches",
   "-pc_hopsmg_precision single -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_ksp_max_it 1", 1e-5,
   PETSC_TRUE},
  {"single, additive patches",
   "-pc_hopsmg_precision single -mg_levels_ksp_type richardson -mg_levels_ksp_richardson_scale 0.2 -mg_levels_pc_type patchfd "
   "-mg_levels_pc_patchfd_type additive -mg_levels_ksp_max_it 2",
   1e-5, PETSC_TRUE},
};

static PetscErrorCode ClearVariant(void)
{
  const char *const names[] = {"-mg_levels_ksp_type",        "-mg_levels_pc_type",
                               "-mg_levels_ksp_max_it",      "-mg_levels_pc_patchfd_direction",
                               "-mg_levels_pc_patchfd_type", "-mg_levels_ksp_richardson_scale",
                               "-pc_hopsmg_precision",       "-pc_mg_type"};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(names); ++i) PetscCall(PetscOptionsClearValue(NULL, names[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* numbers without order, the same on both back ends */
static PetscErrorCode Numbers(Vec h, Vec d)
{
  PetscRandom rnd;

  PetscFunctionBeginUser;
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &rnd));
  PetscCall(VecSetRandom(h, rnd));
  PetscCall(VecCopy(h, d));
  PetscCall(PetscRandomDestroy(&rnd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* both ways between two levels, added to something, and transposed, twice with the same bits */
static PetscErrorCode Maps(HopsSpace fine[2], DM coarsedm, PetscInt p, PetscReal *worst)
{
  HopsSpace coarse[2];

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 2; ++k) PetscCall(HopsSpaceCreateCoarse(fine[k], coarsedm, p, &coarse[k]));
  for (PetscInt way = 0; way < 2; ++way) {
    Mat       P[2];
    Vec       x[2], y[2], z;
    PetscReal e;

    for (PetscInt k = 0; k < 2; ++k) {
      PetscCall(MatCreateHopsInterp(way ? fine[k] : coarse[k], way ? coarse[k] : fine[k], &P[k]));
      PetscCall(MatCreateVecs(P[k], &x[k], &y[k]));
    }
    PetscCall(Numbers(x[0], x[1]));
    PetscCall(Numbers(y[0], y[1]));
    for (PetscInt k = 0; k < 2; ++k) PetscCall(MatMultAdd(P[k], x[k], y[k], y[k]));
    PetscCall(Differ(y[0], y[1], &e));
    *worst = TestWorse(*worst, e);
    for (PetscInt k = 0; k < 2; ++k) PetscCall(MatMult(P[k], x[k], y[k]));
    PetscCall(Differ(y[0], y[1], &e));
    *worst = TestWorse(*worst, e);
    PetscCall(Numbers(y[0], y[1]));
    for (PetscInt k = 0; k < 2; ++k) PetscCall(MatMultTransposeAdd(P[k], y[k], x[k], x[k]));
    PetscCall(Differ(x[0], x[1], &e));
    *worst = TestWorse(*worst, e);
    for (PetscInt k = 0; k < 2; ++k) PetscCall(MatMultTranspose(P[k], y[k], x[k]));
    PetscCall(Differ(x[0], x[1], &e));
    *worst = TestWorse(*worst, e);
    PetscCall(VecDuplicate(x[1], &z));
    PetscCall(MatMultTranspose(P[1], y[1], z));
    PetscCall(VecAXPY(z, -1.0, x[1]));
    PetscCall(VecNorm(z, NORM_INFINITY, &e));
    if (e != 0.0) *worst = PETSC_MAX_REAL;
    PetscCall(VecDestroy(&z));
    for (PetscInt k = 0; k < 2; ++k) {
      PetscCall(MatDestroy(&P[k]));
      PetscCall(VecDestroy(&x[k]));
      PetscCall(VecDestroy(&y[k]));
    }
  }
  for (PetscInt k = 0; k < 2; ++k) PetscCall(HopsSpaceDestroy(&coarse[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one cycle on b, and the number of iterations */
static PetscErrorCode Cycle(Mat A, Vec b, PetscBool symmetric, Vec y, PetscInt *its)
{
  KSP       ksp;
  PC        pc;
  Vec       x;
  PetscBool brief = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-brief", &brief, NULL));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, symmetric ? KSPCG : KSPRICHARDSON));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCHOPSMG));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCApply(pc, b, y));
  PetscCall(VecDuplicate(b, &x));
  if (!brief) PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(VecDestroy(&x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a cycle of each kind with the same right-hand side */
static PetscErrorCode CompareCycles(Mat A[2], Vec b[2], Vec y[2], PetscInt p, PetscBool show, PetscBool *ok)
{
  PetscBool single = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-single", &single, NULL));
  for (size_t v = 0; v < PETSC_STATIC_ARRAY_LENGTH(variants); ++v) {
    PetscReal e;
    PetscInt  its[2];
    PetscBool same;

    if (variants[v].tol > 1e-6 && !single) continue;

    PetscCall(ClearVariant());
    PetscCall(PetscOptionsInsertString(NULL, variants[v].options));
    for (PetscInt k = 0; k < 2; ++k) PetscCall(Cycle(A[k], b[k], variants[v].symmetric, y[k], &its[k]));
    PetscCall(Differ(y[0], y[1], &e));
    same = e <= variants[v].tol && PetscAbsInt(its[0] - its[1]) <= (variants[v].tol > 1e-6 ? 1 : 0) ? PETSC_TRUE : PETSC_FALSE;
    if (show || !same)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                            "order %" PetscInt_FMT ", %s: a cycle differs by %g, %" PetscInt_FMT " and %" PetscInt_FMT
                            " iterations\n",
                            p, variants[v].name, (double)e, its[0], its[1]));
    if (!same) *ok = PETSC_FALSE;
  }
  PetscCall(ClearVariant());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareBackends(const char *const backend[])
{
  DM              dm, coarse;
  DMLabel         label;
  PetscInt        np = 16, orders[16], values[16];
  PetscBool       set, show = PETSC_FALSE, curved = PETSC_FALSE;
  PetscScalar     two = 2.0;
  HopsCoefficient kappa, mass;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-show", &show, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-curved", &curved, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &np, &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -orders");
  PetscCall(TestMesh(PETSC_COMM_WORLD, curved, &dm));
  PetscCall(DMGetCoarseDM(dm, &coarse));
  PetscCheck(coarse, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -dm_refine_hierarchy");
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  for (PetscInt v = 0; v < 16; ++v) values[v] = v + 1;
  if (curved) PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestKappa, NULL, &kappa));
  else PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &two, &kappa));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &two, &mass));
  for (PetscInt i = 0; i < np; ++i) {
    HopsSpace space[2];
    Mat       A[2];
    Vec       b[2], y[2];
    PetscReal worst = 0.0;
    PetscBool ok;

    for (PetscInt k = 0; k < 2; ++k) {
      PetscCall(TestSetBackend(backend[k]));
      PetscCall(HopsSpaceCreateH1(dm, orders[i], label, 16, values, &space[k]));
      PetscCall(MatCreatePA(space[k], &A[k]));
      PetscCall(MatPASetDiffusion(A[k], kappa));
      PetscCall(MatPASetMass(A[k], mass));
      PetscCall(HopsSpaceCreateVec(space[k], &b[k]));
      PetscCall(VecDuplicate(b[k], &y[k]));
    }
    PetscCall(Maps(space, coarse, orders[i], &worst));
    if (orders[i] > 1) PetscCall(Maps(space, NULL, orders[i] / 2, &worst));
    ok = worst <= 1e-12 ? PETSC_TRUE : PETSC_FALSE;
    if (show || !ok)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ", maps: differ by %g\n", orders[i], (double)worst));
    PetscCall(Numbers(b[0], b[1]));
    PetscCall(CompareCycles(A, b, y, orders[i], show, &ok));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ": the back ends %s\n", orders[i], ok ? "agree" : "DIFFER"));
    for (PetscInt k = 0; k < 2; ++k) {
      PetscCall(VecDestroy(&b[k]));
      PetscCall(VecDestroy(&y[k]));
      PetscCall(MatDestroy(&A[k]));
      PetscCall(HopsSpaceDestroy(&space[k]));
    }
  }
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&mass));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *backend[2];
  PetscBool   compare;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestGetBackends(backend, &compare));
  PetscCheck(compare, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -backends");
  PetscCall(CompareBackends(backend));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: host

    test:
      suffix: 2d
      requires: real
      nsize: {{1 3}}
      args: -backends host,base -dm_plex_dim 2 -dm_plex_box_faces 2,2 -dm_refine_hierarchy 1 \
            -mg_levels_esteig_ksp_type cg -orders 1,2,4

    test:
      suffix: 3d
      requires: real
      nsize: {{1 2}}
      args: -backends host,base -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -dm_refine_hierarchy 1 -orders 1,2

    test:
      suffix: toy
      nsize: {{1 2}}
      args: -backends host,toy -single 0 -dm_plex_dim {{2 3}} -dm_plex_box_faces 2,2,2 -dm_refine_hierarchy 1 \
            -orders 1,2 -mg_levels_esteig_ksp_type cg

  testset:
    requires: cuda
    args: -backends host,cuda -dm_plex_dim 2 -dm_plex_box_faces 2,2 -dm_refine_hierarchy 2 \
          -mg_levels_esteig_ksp_type cg -use_gpu_aware_mpi 0
    timeoutfactor: 3

    test:
      suffix: cuda_2d
      nsize: {{1 3}}
      args: -orders 1,2,3,4,6,8

    test:
      suffix: cuda_2d_curved
      args: -orders 2,5 -curved

  testset:
    requires: cuda
    args: -backends host,cuda -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -dm_refine_hierarchy 1 -use_gpu_aware_mpi 0
    timeoutfactor: 3

    test:
      suffix: cuda_3d
      nsize: {{1 2}}
      args: -orders 1,2,3,4

  test:
    requires: cuda
    suffix: cuda_plate
    nsize: {{1 2}}
    args: -backends host,cuda -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/plate.msh -dm_refine_hierarchy 1 \
          -orders 2,3 -use_gpu_aware_mpi 0 -pc_hopsmg_coarse_mat aij

TEST*/
