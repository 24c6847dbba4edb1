static char help[] =
  "H(curl), H(div) and L2 on a device against the host: low-order-refined matrices entry by entry, derivatives, AMS and ADS.\n\
  -what <matrix,derivative,solve,cycle,vectors> -orders <p,...> -sides <essential ones: 2>\n\n";

#include "gpucompare.h"

static const char *const families[] = {"H1", "ND", "RT", "L2"};

static PetscErrorCode CreateSpace(DM dm, PetscInt family, PetscInt p, PetscBool essential, const char backend[], HopsSpace *sp)
{
  const PetscInt values[] = {1, 2, 3, 4, 5, 6};
  PetscInt       sides    = 2;
  DMLabel        label    = NULL;

  PetscFunctionBeginUser;
  if (backend) PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", backend));
  else PetscCall(PetscOptionsClearValue(NULL, "-hops_backend"));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sides", &sides, NULL));
  if (essential) PetscCall(DMGetLabel(dm, "Face Sets", &label));
  if (family == 0) PetscCall(HopsSpaceCreateH1(dm, p, label, sides, values, sp));
  if (family == 1) PetscCall(HopsSpaceCreateHCurl(dm, p, label, sides, values, sp));
  if (family == 2) PetscCall(HopsSpaceCreateHDiv(dm, p, label, sides, values, sp));
  if (family == 3) PetscCall(HopsSpaceCreateL2(dm, p, sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetTerms(Mat A, PetscInt family, HopsCoefficient mu, HopsCoefficient beta)
{
  PetscFunctionBeginUser;
  if (family == 1) PetscCall(MatPASetCurlCurl(A, mu));
  if (family == 2) PetscCall(MatPASetDivDiv(A, mu));
  PetscCall(MatPASetMass(A, beta));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLOR(HopsSpace sp, PetscInt family, HopsCoefficient mu, HopsCoefficient beta, const char type[], Mat *A,
                                PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(sp, A));
  PetscCall(SetTerms(*A, family, mu, beta));
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetOptionsPrefix(*pc, "inner_"));
  PetscCall(PCSetType(*pc, PCLOR));
  if (type) PetscCall(PCLORSetMatType(*pc, type));
  PetscCall(PCSetOperators(*pc, *A, *A));
  PetscCall(PetscOptionsSetValue(NULL, "-inner_lor_pc_type", "none")); /* the matrix alone matters */
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the device's matrix twice from nothing: the same bits */
static PetscErrorCode Repeat(HopsSpace sp, PetscInt family, HopsCoefficient mu, HopsCoefficient beta, const char type[],
                             PetscBool *same)
{
  Mat       A[2], L, B[2];
  PC        pc[2];
  PetscBool eq;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(CreateLOR(sp, family, mu, beta, type, &A[i], &pc[i]));
    PetscCall(PCSetUp(pc[i]));
    PetscCall(PCLORGetMat(pc[i], &L));
    PetscCall(Plain(L, &B[i]));
  }
  PetscCall(MatEqual(B[0], B[1], &eq));
  if (!eq) *same = PETSC_FALSE;
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(MatDestroy(&A[i]));
    PetscCall(MatDestroy(&B[i]));
    PetscCall(PCDestroy(&pc[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* space[0] on the host, space[1] on the device: one term, tensors, diagonal ones, the other term, values by
   cell, in turn */
static PetscErrorCode Order(PetscInt dim, PetscInt family, HopsSpace space[])
{
#if defined(PETSC_HAVE_HYPRE)
  static const char *const types[] = {MATHYPRE, MATAIJ, MATAIJCUSPARSE};
#else
  static const char *const types[] = {NULL, MATAIJ, MATAIJCUSPARSE};
#endif
  /* components where directions have their own */
  const PetscInt  nmu = family == 1 && dim == 3 ? dim : 1, nbeta = family == 3 ? 1 : dim;
  PetscReal       worst   = 0.0;
  PetscBool       pattern = PETSC_TRUE, same = PETSC_TRUE;
  PetscInt        p, nc;
  HopsCoefficient mu[3], beta[3], constant, cell;
  PetscScalar     c = 1.7, *values;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetOrder(space[0], &p));
  PetscCall(HopsSpaceGetNumCells(space[0], &nc));
  PetscCall(PetscMalloc1(2 * nc + 1, &values)); /* cells of the overlap, if any, included */
  for (PetscInt i = 0; i < nc; ++i) values[i] = 1.0 + 0.1 * (i % 7);
  for (PetscInt k = 0; k < 3; ++k) { /* scalar, diagonal, full */
    const PetscInt n[2] = {nmu, nbeta};

    for (PetscInt t = 0; t < 2; ++t)
      PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, k == 0 ? 1 : (k == 1 || n[t] == 1 ? n[t] : n[t] * (n[t] + 1) / 2),
                                              TestKappa, NULL, t ? &beta[k] : &mu[k]));
  }
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &c, &constant));
  PetscCall(HopsCoefficientCreateCell(space[0], 1, values, &cell));
  for (PetscInt t = 0; t < 3; ++t) {
    HopsCoefficient mus[] = {mu[0], mu[2], mu[1], NULL, cell, constant}, betas[] = {NULL, beta[2], constant, beta[0], NULL, cell};
    Mat             A[2], L[2];
    PC              pc[2];

    if (family == 3)
      for (PetscInt k = 0; k < 6; ++k) {
        mus[k] = NULL;
        if (!betas[k]) betas[k] = beta[0];
      }
    PetscCall(CreateLOR(space[0], family, mus[0], betas[0], MATAIJ, &A[0], &pc[0]));
    PetscCall(CreateLOR(space[1], family, mus[0], betas[0], types[t], &A[1], &pc[1]));
    for (PetscInt k = 0; k < 6; ++k) {
      for (PetscInt b = 0; b < 2; ++b) {
        PetscCall(SetTerms(A[b], family, mus[k], betas[k]));
        PetscCall(PCSetOperators(pc[b], A[b], A[b]));
        PetscCall(PCSetUp(pc[b]));
        PetscCall(PCLORGetMat(pc[b], &L[b]));
      }
      PetscCall(Compare(L[0], L[1], &worst, &pattern));
      PetscCall(PetscInfo(L[1], "order %" PetscInt_FMT " type %" PetscInt_FMT " coefficients %" PetscInt_FMT ": %g\n", p, t, k,
                          (double)worst));
    }
    for (PetscInt b = 0; b < 2; ++b) {
      PetscCall(PCDestroy(&pc[b]));
      PetscCall(MatDestroy(&A[b]));
    }
    PetscCall(Repeat(space[1], family, mus[1], betas[1], types[t], &same));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &pattern, 1, HOPS_MPI_BOOL, MPI_LAND, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s order %" PetscInt_FMT ": %s, %s, %s\n", families[family], p,
                        worst <= 1e-12 ? "entries agree to 1e-12" : "entries DIFFER", pattern ? "same pattern" : "pattern DIFFERS",
                        same ? "repeatable" : "NOT repeatable"));
  for (PetscInt k = 0; k < 3; ++k) {
    PetscCall(HopsCoefficientDestroy(&mu[k]));
    PetscCall(HopsCoefficientDestroy(&beta[k]));
  }
  PetscCall(HopsCoefficientDestroy(&constant));
  PetscCall(HopsCoefficientDestroy(&cell));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* all derivatives of the dimension, of both matrix types, with essential boundaries of either space, both or
   none */
static PetscErrorCode Derivatives(DM dm, PetscInt dim, PetscInt p)
{
  static const PetscInt    pairs[2][4][2] = {{{0, 1}, {0, 2}, {1, 3}, {2, 3}}, {{0, 1}, {1, 2}, {2, 3}, {2, 3}}};
  static const char *const types[]        = {MATAIJCUSPARSE, MATHYPRE, MATAIJ};
  PetscReal                worst          = 0.0;
  PetscBool                pattern        = PETSC_TRUE;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < (dim == 2 ? 4 : 3); ++k)
    for (PetscInt e = 0; e < 4; ++e) {
      HopsSpace from[2], to[2];
      Mat       H, D;

      for (PetscInt b = 0; b < 2; ++b) {
        PetscCall(CreateSpace(dm, pairs[dim - 2][k][0], p, e & 1, b ? "cuda" : "host", &from[b]));
        PetscCall(CreateSpace(dm, pairs[dim - 2][k][1], p, e & 2, b ? "cuda" : "host", &to[b]));
      }
      PetscCall(HopsSpaceCreateDerivative(from[0], to[0], &H));
      for (PetscInt t = 0; t < 3; ++t) {
        PetscCall(PetscOptionsSetValue(NULL, "-hops_derivative_mat_type", types[t]));
        PetscCall(HopsSpaceCreateDerivative(from[1], to[1], &D));
        PetscCall(Compare(H, D, &worst, &pattern));
        PetscCall(PetscInfo(D, "order %" PetscInt_FMT " pair %" PetscInt_FMT " essential %" PetscInt_FMT " type %s: %g %d\n", p, k,
                            e, types[t], (double)worst, pattern));
        PetscCall(MatDestroy(&D));
      }
      PetscCall(MatDestroy(&H));
      for (PetscInt b = 0; b < 2; ++b) {
        PetscCall(HopsSpaceDestroy(&from[b]));
        PetscCall(HopsSpaceDestroy(&to[b]));
      }
    }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &pattern, 1, HOPS_MPI_BOOL, MPI_LAND, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "derivatives of order %" PetscInt_FMT ": %s, %s\n", p,
                        worst == 0.0 ? "same entries" : "entries DIFFER", pattern ? "same pattern" : "pattern DIFFERS"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* CG on the matrix itself with its AMS or ADS, with a mass term or without. The right-hand side is A x.
   Twice: refilled */
static PetscErrorCode Solve(DM dm, PetscInt dim, PetscInt family, PetscInt p, PetscBool zero)
{
  HopsSpace          sp;
  HopsCoefficient    one;
  const PetscScalar  unit = 1.0;
  Mat                A, L;
  KSP                ksp;
  PC                 pc;
  Vec                x, b, r;
  PetscInt           its[2];
  PetscReal          rnorm, bnorm;
  KSPConvergedReason reason[2];

  PetscFunctionBeginUser;
  PetscCall(CreateSpace(dm, family, p, PETSC_TRUE, "cuda", &sp));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &unit, &one));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(SetTerms(A, family, one, zero ? NULL : one));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(x, &r));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(SetTerms(A, family, one, zero ? NULL : one));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetUp(pc));
    PetscCall(PCLORGetMat(pc, &L));
    PetscCall(KSPSetOperators(ksp, L, A)); /* the form is still A's */
    PetscCall(VecSetRandom(r, NULL));
    PetscCall(MatMult(L, r, b));
    PetscCall(VecNorm(b, NORM_2, &bnorm));
    PetscCall(VecSet(x, 0.0));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its[k]));
    PetscCall(KSPGetConvergedReason(ksp, &reason[k]));
    PetscCall(PCLORGetMat(pc, &L));
    PetscCall(MatMult(L, x, r));
    PetscCall(VecAXPY(r, -1.0, b));
    PetscCall(VecNorm(r, NORM_2, &rnorm));
  }
  PetscCall(PetscInfo(ksp, "%s order %" PetscInt_FMT " %s: %" PetscInt_FMT ", %" PetscInt_FMT " iterations, residual %g\n",
                      families[family], p, zero ? "without mass" : "with mass", its[0], its[1], (double)(rnorm / bnorm)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s order %" PetscInt_FMT "%s: %s, %s\n", families[family], p,
                        zero ? " without mass" : "",
                        reason[0] > 0 && reason[1] > 0 && PetscMax(its[0], its[1]) <= 60 ? "converged" : "SLOW",
                        rnorm <= 1e-8 * bnorm ? "solved" : "WRONG"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&one));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The type of the DM's vectors chooses the back end where -hops_backend does not */
static PetscErrorCode VectorType(DM dm, PetscInt p)
{
  DM clone;

  PetscFunctionBeginUser;
  PetscCall(DMClone(dm, &clone));
  for (PetscInt b = 0; b < 2; ++b) {
    PetscCall(DMSetVecType(clone, b ? VECCUDA : VECSTANDARD));
    for (PetscInt family = 0; family < 4; ++family) {
      HopsSpace sp, other;
      Vec       x[2];
      PetscBool cuda[2];

      PetscCall(CreateSpace(clone, family, p, PETSC_FALSE, NULL, &sp));
      PetscCall(HopsSpaceCreateCompanion(sp, family == 3 ? HOPS_H1 : HOPS_L2, PETSC_FALSE, &other));
      PetscCall(HopsSpaceCreateVec(sp, &x[0]));
      PetscCall(HopsSpaceCreateVec(other, &x[1]));
      for (PetscInt k = 0; k < 2; ++k) {
        PetscCall(PetscObjectTypeCompareAny((PetscObject)x[k], &cuda[k], VECSEQCUDA, VECMPICUDA, ""));
        PetscCall(VecDestroy(&x[k]));
      }
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s vectors: %s, companion %s\n", families[family], b ? "CUDA's" : "the host's",
                            cuda[0] ? "device" : "host", cuda[1] ? "device" : "host"));
      PetscCall(HopsSpaceDestroy(&other));
      PetscCall(HopsSpaceDestroy(&sp));
    }
  }
  PetscCall(DMDestroy(&clone));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* AMS or ADS by kernels of hops in both precisions, against hypre's own on the same hierarchies */
static PetscErrorCode Cycle(DM dm, PetscInt family, PetscInt p, const char options[])
{
  const PCLORCycle  cycle[] = {PCLOR_CYCLE_HYPRE, PCLOR_CYCLE_DOUBLE, PCLOR_CYCLE_SINGLE};
  const PetscScalar unit    = 1.0;
  HopsSpace         sp;
  HopsCoefficient   one;
  Mat               A;
  PC                pc;
  Vec               x, y[3];
  PetscReal         norm, d[3];

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(CreateSpace(dm, family, p, PETSC_TRUE, "cuda", &sp));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &unit, &one));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(SetTerms(A, family, one, one));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecSetRandom(x, NULL));
  for (PetscInt k = 0; k < 3; ++k) {
    PetscCall(VecDuplicate(x, &y[k]));
    PetscCall(PCLORSetCycle(pc, cycle[k]));
    PetscCall(PCApply(pc, x, y[k]));
  }
  PetscCall(VecNorm(y[0], NORM_2, &norm));
  for (PetscInt k = 1; k < 3; ++k) {
    PetscCall(VecAXPY(y[k], -1.0, y[0]));
    PetscCall(VecNorm(y[k], NORM_2, &d[k]));
    d[k] /= norm;
  }
  PetscCall(PetscInfo(pc, "%s order %" PetscInt_FMT " %s: %g, %g\n", families[family], p, options, (double)d[1], (double)d[2]));
  /* a cycle that was left to hypre shows in equal results */
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s order %" PetscInt_FMT " %s: %s, %s\n", families[family], p, options,
                        d[1] <= 1e-9 ? "double agrees" : "double DIFFERS",
                        d[2] > 1e-9 && d[2] <= 1e-3 ? "single agrees" : "single DIFFERS, or is hypre's"));
  for (PetscInt k = 0; k < 3; ++k) PetscCall(VecDestroy(&y[k]));
  PetscCall(VecDestroy(&x));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&one));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM        dm;
  PetscInt  dim, np       = 16, orders[16];
  PetscBool set, straight = PETSC_FALSE, matrix, derivative, solve, cycle, vectors;
  char      what[64] = "matrix";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-straight", &straight, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-what", what, sizeof(what), NULL));
  PetscCall(PetscStrcmp(what, "matrix", &matrix));
  PetscCall(PetscStrcmp(what, "derivative", &derivative));
  PetscCall(PetscStrcmp(what, "solve", &solve));
  PetscCall(PetscStrcmp(what, "cycle", &cycle));
  PetscCall(PetscStrcmp(what, "vectors", &vectors));
  PetscCall(FanMesh(PETSC_COMM_WORLD, straight ? PETSC_FALSE : PETSC_TRUE, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &np, &set));
  PetscCheck(set && (matrix || derivative || solve || cycle || vectors), PETSC_COMM_WORLD, PETSC_ERR_USER,
             "Give -orders, and -what matrix, derivative, solve, cycle or vectors");
  for (PetscInt i = 0; i < np; ++i) {
    if (derivative) PetscCall(Derivatives(dm, dim, orders[i]));
    if (vectors) PetscCall(VectorType(dm, orders[i]));
    for (PetscInt family = 1; family < 4 && !derivative && !vectors; ++family) {
      HopsSpace space[2];

      if (cycle) {
        static const char *const ams[] = {"-lor_pc_hypre_ams_cycle_type 11", "-lor_pc_hypre_ams_cycle_type 13",
                                          "-lor_pc_hypre_ams_cycle_type 14"};
        static const char *const ads[] = {"-lor_pc_hypre_ads_cycle_type 11", "-lor_pc_hypre_ads_cycle_type 13",
                                          "-lor_pc_hypre_ads_cycle_type 14"};

        for (PetscInt k = 0; k < (family < 3 ? 3 : 0); ++k)
          PetscCall(Cycle(dm, family, orders[i], family == 2 && dim == 3 ? ads[k] : ams[k]));
        continue;
      }
      if (solve) {
        for (PetscInt k = 0; k < (family == 1 ? 2 : 1); ++k)
          PetscCall(Solve(dm, dim, family, orders[i], k ? PETSC_TRUE : PETSC_FALSE));
        continue;
      }
      for (PetscInt b = 0; b < 2; ++b) PetscCall(CreateSpace(dm, family, orders[i], PETSC_TRUE, b ? "cuda" : "host", &space[b]));
      PetscCall(Order(dim, family, space));
      for (PetscInt b = 0; b < 2; ++b) PetscCall(HopsSpaceDestroy(&space[b]));
    }
  }
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: cuda

  testset:
    args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -use_gpu_aware_mpi 0

    test:
      suffix: 2d
      args: -dm_coord_petscspace_degree 3 -orders 1,2,3,4,5,6,7,8,12

    test:
      suffix: 2d_straight
      args: -straight -orders 1,2,3,5

    test:
      suffix: 2d_ranks
      nsize: {{2 3}}
      args: -dm_coord_petscspace_degree 3 -orders 1,2,3,4

    test:
      suffix: 2d_derivative
      nsize: {{1 2 3}}
      args: -what derivative -orders 1,2,5

    test:
      suffix: 2d_solve
      requires: hypre
      args: -what solve -orders 2,3 -dm_plex_box_faces 8,6

    test:
      suffix: 2d_solve_ranks
      nsize: 2
      requires: hypre
      timeoutfactor: 3
      args: -what solve -orders 2 -dm_plex_box_faces 8,6

    test:
      suffix: 2d_solve_closed
      requires: hypre
      args: -what solve -orders 1,3 -dm_plex_box_faces 8,6 -sides 4

    test:
      suffix: 2d_cycle
      requires: hypre
      args: -what cycle -orders 4 -dm_plex_box_faces 12,10

  testset:
    args: -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -use_gpu_aware_mpi 0
    timeoutfactor: 3

    test:
      suffix: 3d
      args: -dm_coord_petscspace_degree 2 -orders 1,2,3,4

    test:
      suffix: 3d_straight
      args: -straight -orders 1,2,3,6

    test:
      suffix: 3d_periodic
      args: -straight -dm_plex_box_bd periodic,none,none -orders 1,2

    test:
      suffix: 3d_high
      args: -dm_coord_petscspace_degree 2 -dm_plex_box_faces 2,1,1 -orders 5,6,7,8

    test:
      suffix: 3d_ranks
      nsize: {{2 3}}
      args: -dm_coord_petscspace_degree 2 -orders 1,2,3

    test:
      suffix: 3d_ranks_high
      nsize: {{2 3}}
      args: -dm_coord_petscspace_degree 2 -dm_plex_box_faces 3,1,1 -orders 4,6

    test:
      suffix: 3d_ranks_straight
      nsize: {{2 3}}
      args: -straight -orders 1,3

    test:
      suffix: 3d_derivative
      nsize: {{1 2 3}}
      args: -what derivative -orders 1,2,4

    test:
      suffix: 3d_solve
      requires: hypre
      args: -what solve -orders 2,3 -dm_plex_box_faces 4,3,3

    test:
      suffix: 3d_solve_straight
      nsize: {{1 2}}
      requires: hypre
      args: -what solve -orders 2 -dm_plex_box_faces 4,3,3 -straight

    # where essential sides meet, edges and nodes have no free row
    test:
      suffix: 3d_solve_closed
      nsize: {{1 2}}
      requires: hypre
      args: -what solve -orders 1,3 -dm_plex_box_faces 4,3,3 -sides 6

    # rows longer than the kernels' lists
    test:
      suffix: 3d_fan
      nsize: {{1 2}}
      args: -fan 30 -orders 1,2,3

    test:
      suffix: vectors
      args: -what vectors -orders 2

    test:
      suffix: 3d_cycle
      requires: hypre
      args: -what cycle -orders 3 -dm_plex_box_faces 4,4,4

TEST*/
