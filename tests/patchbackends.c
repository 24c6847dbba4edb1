static char help[] =
  "PCPATCHFD on one back end against another: all types and directions, transposes, sweeps on an iterate, iteration counts;\n\
  no copies between memories.\n\
  -backends <a,b>\n\
  -orders <p,...> -curved <bool> -contrast <k> -show -brief <bool: no powers, no iterations> -tensor <0: no tensor cores>\n\n";

#include "backends.h"
#if defined(PETSC_HAVE_CUDA) || defined(HOPS_HAVE_KOKKOS)
  #include <backend/lanes/patch/lanespatch.h>
#endif

typedef struct {
  const char *name, *options;
  PetscReal   tol;
  PetscBool   symmetric; /* else BiCGStab counts iterations, which rounding moves more */
} Variant;

static const Variant variants[] = {
  {"additive", "-pc_patchfd_type additive", 1e-12, PETSC_TRUE},
  {"additive, weighted", "-pc_patchfd_type additive -pc_patchfd_weight", 1e-12, PETSC_TRUE},
  {"additive, element", "-pc_patchfd_type additive -pc_patchfd_patch element", 1e-12, PETSC_TRUE},
  {"restricted", "-pc_patchfd_type restricted", 1e-12, PETSC_FALSE},
  {"symmetric", "-pc_patchfd_direction symmetric", 1e-12, PETSC_TRUE},
  {"forward", "-pc_patchfd_direction forward -pc_patchfd_omega 0.9", 1e-12, PETSC_FALSE},
  {"backward, not fused", "-pc_patchfd_direction backward -pc_patchfd_fuse 0", 1e-12, PETSC_FALSE},
  {"element", "-pc_patchfd_patch element", 1e-12, PETSC_TRUE},
  {"additive, single", "-pc_patchfd_type additive -pc_patchfd_precision single", 1e-5, PETSC_TRUE},
  {"symmetric, single", "-pc_patchfd_precision single", 1e-5, PETSC_TRUE},
};

static PetscErrorCode ClearVariant(void)
{
  const char *const names[] = {"type", "weight", "patch", "direction", "fuse", "omega", "precision"};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(names); ++i) {
    char name[64];

    PetscCall(PetscSNPrintf(name, sizeof(name), "-pc_patchfd_%s", names[i]));
    PetscCall(PetscOptionsClearValue(NULL, name));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 1, or the contrast in a checkerboard */
static PetscErrorCode Board(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  PetscInt s = 0;

  for (PetscInt d = 0; d < dim; ++d) s += (PetscInt)PetscFloorReal(2.0 * x[d]);
  u[0] = s % 2 ? *(PetscReal *)ctx : 1.0;
  return PETSC_SUCCESS;
}

/* copies between the process's memory and the device's so far */
static PetscLogDouble Copies(void)
{
#if defined(PETSC_HAVE_DEVICE) && defined(PETSC_USE_LOG)
  return petsc_ctog_ct + petsc_gtoc_ct;
#else
  return 0.0;
#endif
}

/* what one preconditioner does with the same right-hand side on each back end; 6 results */
static PetscErrorCode Results(Mat A, Vec b, PetscBool symmetric, Vec y[6], PetscInt *its)
{
  PC                          pc;
  KSP                         ksp;
  Vec                         w, x0;
  PetscInt                    n;
  PetscMPIInt                 size;
  PetscLogDouble              copies;
  PCRichardsonConvergedReason reason;
  PetscBool                   additive, brief = PETSC_FALSE;
  char                        type[32] = "multiplicative";

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCPATCHFD));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-pc_patchfd_type", type, sizeof(type), NULL));
  PetscCall(PetscStrcmp(type, "additive", &additive));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-brief", &brief, NULL));
  for (PetscInt k = 0; k < 6; ++k) PetscCall(VecDuplicate(b, &y[k]));
  PetscCall(VecDuplicate(b, &w));
  PetscCall(PCApply(pc, b, y[0]));
  PetscCall(PCApplyTranspose(pc, b, y[1]));
  PetscCall(VecPointwiseMult(y[2], b, b)); /* a sweep, then three, on an iterate; one from zero */
  PetscCall(PCApplyRichardson(pc, b, y[2], w, 0.0, 0.0, 1e5, 1, PETSC_FALSE, &n, &reason));
  PetscCall(VecCopy(b, y[3]));
  PetscCall(PCApplyRichardson(pc, b, y[3], w, 0.0, 0.0, 1e5, additive ? 1 : 3, PETSC_FALSE, &n, &reason));
  PetscCall(VecSet(y[4], 7.0));
  PetscCall(PCApplyRichardson(pc, b, y[4], w, 0.0, 0.0, 1e5, 1, PETSC_TRUE, &n, &reason));
  PetscCall(PCApply(pc, b, y[0])); /* nothing is left over */
  PetscCall(VecCopy(b, y[5]));     /* (B A)^20 b, one after the other without a look at the result */
  copies = Copies();
  for (PetscInt k = 0; k < (brief ? 1 : 20); ++k) {
    PetscCall(MatMult(A, y[5], w));
    PetscCall(PCApply(pc, w, y[5]));
  }
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size == 1 && Copies() != copies)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%g copies between process and device\n", (double)(Copies() - copies)));
  *its = 0;
  if (!brief) {
    PetscCall(VecDuplicate(b, &x0));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetType(ksp, symmetric ? KSPCG : KSPBCGS));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetPC(ksp, pc));
    PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 200));
    PetscCall(KSPSolve(ksp, b, x0));
    PetscCall(KSPGetIterationNumber(ksp, its));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x0));
  }
  PetscCall(VecDestroy(&w));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one variant on both back ends */
static PetscErrorCode CompareVariant(const Variant *v, Mat A[2], Vec b[2], PetscInt p, PetscBool show, PetscBool *ok)
{
  const char *const what[] = {"apply", "transpose", "one sweep", "three sweeps", "from zero", "powers"};
  Vec               y[2][6];
  PetscInt          its[2], slack;

  PetscFunctionBeginUser;
  PetscCall(ClearVariant());
  PetscCall(PetscOptionsInsertString(NULL, v->options));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(Results(A[k], b[k], v->symmetric, y[k], &its[k]));
  for (PetscInt r = 0; r < 6; ++r) {
    PetscReal e;

    PetscCall(Differ(y[0][r], y[1][r], &e));
    if (r == 5) e *= 0.05; /* of twenty applications */
    if (show || !(e <= v->tol))
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ", %s, %s: differ by %g\n", p, v->name, what[r], (double)e));
    if (!(e <= v->tol)) *ok = PETSC_FALSE;
  }
  /* rounding moves counts of single precision and long ones a little: on the host, 1e-15 in the right-hand
     side makes 33 of element patches 32 */
  slack = v->symmetric ? its[0] / 10 + (v->tol > 1e-6 ? 1 : 0) : its[0] / 5 + 2;
  if (show || PetscAbsInt(its[0] - its[1]) > slack)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ", %s: %" PetscInt_FMT " and %" PetscInt_FMT " iterations\n", p,
                          v->name, its[0], its[1]));
  if (PetscAbsInt(its[0] - its[1]) > slack) *ok = PETSC_FALSE;
  for (PetscInt k = 0; k < 2; ++k)
    for (PetscInt r = 0; r < 6; ++r) PetscCall(VecDestroy(&y[k][r]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareOrder(DM dm, HopsSpace space[2], PetscInt p, PetscBool mass, PetscReal contrast, PetscBool show,
                                   PetscBool *ok)
{
  HopsCoefficient kappa, one;
  Mat             A[2];
  Vec             b[2];
  PetscRandom     rnd;
  PetscBool       robin = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-robin", &robin, NULL));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, Board, &contrast, &kappa));
  {
    PetscScalar v = 1.3;

    PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &v, &one));
  }
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(MatCreatePA(space[k], &A[k]));
    PetscCall(MatPASetDiffusion(A[k], contrast == 1.0 ? one : kappa));
    if (mass) PetscCall(MatPASetMass(A[k], one));
    if (robin) PetscCall(AddFaces(dm, space[k], A[k], one));
    PetscCall(HopsSpaceCreateVec(space[k], &b[k]));
  }
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &rnd));
  PetscCall(VecSetRandom(b[0], rnd));
  PetscCall(VecCopy(b[0], b[1]));
  PetscCall(PetscRandomDestroy(&rnd));
  for (size_t v = 0; v < PETSC_STATIC_ARRAY_LENGTH(variants); ++v) PetscCall(CompareVariant(&variants[v], A, b, p, show, ok));
  PetscCall(ClearVariant());
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(MatDestroy(&A[k]));
    PetscCall(VecDestroy(&b[k]));
  }
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareBackends(const char *const backend[])
{
  DM          dm;
  DMLabel     label;
  PetscInt    dim, np = 16, orders[16], values[16], nbox[3] = {3, 3, 2};
  PetscMPIInt size;
  PetscReal   contrast = 1.0;
  PetscBool   set, curved = PETSC_FALSE, show = PETSC_FALSE, brief = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-curved", &curved, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-show", &show, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-contrast", &contrast, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-brief", &brief, NULL));
#if defined(PETSC_HAVE_CUDA) || defined(HOPS_HAVE_KOKKOS)
  {
    PetscInt tensor = -1;

    PetscCall(PetscOptionsGetInt(NULL, NULL, "-tensor", &tensor, NULL));
    HopsLanesPatchTensor = (int)tensor;
  }
#endif
  if (brief) nbox[0] = nbox[1] = 2;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &np, &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER, "Give -orders");
  PetscCall(TestMesh(PETSC_COMM_WORLD, curved, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  for (PetscInt v = 0; v < 16; ++v) values[v] = v + 1;
  for (PetscInt i = 0; i < np; ++i) {
    HopsSpace space[2];
    PetscBool ok = PETSC_TRUE;

    for (PetscInt natural = 0; natural < 2; ++natural) { /* essential on the whole boundary, or on one part */
      for (PetscInt b = 0; b < 2; ++b) {
        PetscCall(TestSetBackend(backend[b]));
        PetscCall(HopsSpaceCreateH1(dm, orders[i], label, natural ? 1 : 16, values, &space[b]));
      }
      PetscCall(CompareOrder(dm, space, orders[i], natural ? PETSC_TRUE : PETSC_FALSE, contrast, show, &ok));
      for (PetscInt b = 0; b < 2; ++b) PetscCall(HopsSpaceDestroy(&space[b]));
    }
    if (size == 1) { /* identity rows: a space from arrays, of unequal cells */
      PetscReal *z;

      PetscCall(PetscMalloc1(orders[i] + 1, &z));
      PetscCall(TestGLL(orders[i] + 1, z));
      for (PetscInt b = 0; b < 2; ++b) {
        PetscCall(TestSetBackend(backend[b]));
        PetscCall(TestBox(dim, nbox, orders[i], 1.3, z, PETSC_TRUE, NULL, &space[b]));
      }
      PetscCall(CompareOrder(NULL, space, orders[i], PETSC_TRUE, contrast, show, &ok));
      for (PetscInt b = 0; b < 2; ++b) PetscCall(HopsSpaceDestroy(&space[b]));
      PetscCall(PetscFree(z));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ": the back ends %s\n", orders[i], ok ? "agree" : "DIFFER"));
  }
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

  build:
    requires: real

  testset:
    requires: host
    args: -backends host,{{toy base team}}
    test:
      suffix: 2d
      nsize: {{1 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -orders 1,2,4
    test:
      suffix: 3d
      nsize: {{1 2}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -orders 1,2,3 -brief

  # patches that are inverted: models, element matrices and inverses of the back end
  testset:
    requires: host
    args: -backends host,team -pc_patchfd_condense_max 0 -pc_patchfd_dense_ratio 1
    test:
      suffix: dense_2d
      nsize: {{1 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -orders 1,3 -contrast 100 -curved {{0 1}} -robin {{0 1}}
    test:
      suffix: dense_3d
      nsize: {{1 2}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -orders 1,2 -contrast 100 -curved {{0 1}} -brief
    test:
      suffix: dense_plate
      nsize: {{1 2}}
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/plate.msh -orders 2 -brief

  # patches that are condensed: Schur complements, inverses and solves of the back end
  testset:
    requires: host
    args: -backends host,team -contrast 100 -pc_patchfd_dense_max 0
    test:
      suffix: condensed_2d
      nsize: {{1 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -orders 2,3,5,8
    test:
      suffix: condensed_3d
      nsize: {{1 2}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -orders 2,3,4 -brief
    test:
      suffix: condensed_3d_high
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -orders 6 -brief

  testset:
    requires: cuda
    args: -backends host,cuda -contrast 100 -pc_patchfd_dense_max 0 -use_gpu_aware_mpi 0
    timeoutfactor: 3
    test:
      suffix: cuda_condensed_2d
      nsize: {{1 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -orders 2,3,5,8
    test:
      suffix: cuda_condensed_3d
      nsize: {{1 2}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -orders 2,3,4,5 -brief
    test:
      suffix: cuda_condensed_3d_high
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -orders 6,7,8,9 -brief

  testset:
    requires: cuda
    args: -backends host,cuda -pc_patchfd_condense_max 0 -pc_patchfd_dense_ratio 1 -use_gpu_aware_mpi 0
    timeoutfactor: 3
    test:
      suffix: cuda_dense_2d
      nsize: {{1 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -orders 1,3,7 -contrast 100 -curved {{0 1}} -robin {{0 1}}
    test:
      suffix: cuda_dense_3d
      nsize: {{1 2}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -orders 1,2,3 -contrast 100 -curved {{0 1}} -brief
    test:
      suffix: cuda_dense_3d_large
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -orders 4 -contrast 100 -brief

  testset:
    requires: cuda
    args: -backends host,cuda -dm_plex_dim 2 -dm_plex_box_faces 4,3 -use_gpu_aware_mpi 0
    timeoutfactor: 3
    test:
      suffix: cuda_2d
      args: -orders 1,2,3,4,5,6,7,8,10
    test:
      suffix: cuda_2d_ranks
      nsize: {{2 3}}
      args: -orders 1,2,4
    test:
      suffix: cuda_2d_curved
      nsize: {{1 2}}
      args: -orders 2,5 -curved
    test:
      suffix: cuda_2d_contrast
      nsize: {{1 3}}
      args: -orders 2,4 -contrast 100 -pc_patchfd_condense_max 0

  testset:
    requires: cuda
    args: -backends host,cuda -dm_plex_dim 3 -dm_plex_box_faces 3,3,2 -use_gpu_aware_mpi 0
    timeoutfactor: 3
    test:
      suffix: cuda_3d
      args: -orders 1,2,3,4
    test:
      suffix: cuda_3d_high
      args: -dm_plex_box_faces 2,2,2 -orders 5,6,7,8
    test:
      suffix: cuda_3d_vector_units
      args: -dm_plex_box_faces 2,2,2 -orders 3,4,5,6,7,8 -brief -tensor 0
    test:
      suffix: cuda_3d_ranks
      nsize: {{2 3}}
      args: -orders 1,2,3

  test:
    requires: cuda
    suffix: cuda_plate
    nsize: {{1 2}}
    args: -backends host,cuda -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/plate.msh -orders 2,4 -use_gpu_aware_mpi 0

TEST*/
