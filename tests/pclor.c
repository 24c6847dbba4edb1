static char help[] =
  "The life of PCLOR: new coefficients, patterns that grow, resets, null spaces, transposes, matrix types, user's coefficients.\n\
  -order <p> -curved -another_type <mat>\n\
  -reset 0 : no KSPReset(), after which PETSc's GAMG fails (3.18)\n\n";

#include "hopstest.h"

static PetscBool reset = PETSC_TRUE;

static PetscErrorCode Say(const char name[], PetscBool ok)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", name, ok ? "ok" : "WRONG"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Operator(HopsSpace sp, PetscInt nc, PetscBool mass, Mat *A)
{
  HopsCoefficient c;

  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(sp, A));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, nc, TestKappa, NULL, &c));
  PetscCall(MatPASetDiffusion(*A, c));
  PetscCall(HopsCoefficientDestroy(&c));
  if (mass) {
    PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, &c));
    PetscCall(MatPASetMass(*A, c));
    PetscCall(HopsCoefficientDestroy(&c));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(Mat A, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetTolerances(*ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* solve A x = A u for a random u; the constants are left out of the error where they are in the null space */
static PetscErrorCode Solve(KSP ksp, const char name[])
{
  Mat                A;
  Vec                u, x, b;
  PetscRandom        r;
  MatNullSpace       nsp;
  PetscReal          e, n;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatGetNullSpace(A, &nsp));
  PetscCall(MatCreateVecs(A, &u, &b));
  PetscCall(VecDuplicate(u, &x));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(VecSetRandom(u, r));
  PetscCall(PetscRandomDestroy(&r));
  if (nsp) PetscCall(MatNullSpaceRemove(nsp, u));
  PetscCall(MatMult(A, u, b));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  if (nsp) PetscCall(MatNullSpaceRemove(nsp, x));
  PetscCall(VecNorm(u, NORM_2, &n));
  PetscCall(VecAXPY(x, -1.0, u));
  PetscCall(VecNorm(x, NORM_2, &e));
  PetscCall(Say(name, reason > 0 && e <= 1e-6 * n ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the solver's LOR matrix acts as that of a new PCLOR on the same operator, and is symmetric */
static PetscErrorCode SameAsNew(KSP ksp, const char name[])
{
  KSP         fresh;
  PC          pc;
  Mat         A, L, M;
  Vec         x, y, z;
  PetscRandom r;
  PetscReal   e, n;
  PetscScalar s, t;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(Create(A, &fresh));
  PetscCall(KSPSetUp(fresh));
  PetscCall(KSPGetPC(fresh, &pc));
  PetscCall(PCLORGetMat(pc, &M));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PCLORGetMat(pc, &L));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(VecSetRandom(x, r));
  PetscCall(MatMult(L, x, y));
  PetscCall(MatMult(M, x, z));
  PetscCall(VecNorm(z, NORM_2, &n));
  PetscCall(VecAXPY(z, -1.0, y));
  PetscCall(VecNorm(z, NORM_2, &e));
  PetscCall(VecSetRandom(z, r));
  PetscCall(VecTDot(z, y, &s));
  PetscCall(MatMult(L, z, y));
  PetscCall(VecTDot(x, y, &t));
  PetscCall(Say(name, e <= 1e-14 * n && PetscAbsScalar(s - t) <= 1e-12 * PetscAbsScalar(s) ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(KSPDestroy(&fresh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x.(B y) = y.(B^T x) */
static PetscErrorCode Transpose(KSP ksp, const char name[])
{
  PC          pc;
  Mat         A;
  Vec         x, y, z;
  PetscRandom r;
  PetscScalar s, t;
  PCLORCycle  cycle;
  PetscInt    spread;
  PetscBool   device;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCLORSetCycle(pc, PCLOR_CYCLE_DOUBLE)); /* on a device; in single precision the two differ by rounding */
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &device, VECSEQCUDA, VECMPICUDA, ""));
  PetscCall(PCLORGetCycle(pc, &cycle, &spread));
  if (!device && (cycle != PCLOR_CYCLE_HYPRE || spread))
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: on the host the cycle is the inner solver's\n", name));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
  PetscCall(VecSetRandom(x, r));
  PetscCall(VecSetRandom(y, r));
  PetscCall(PCApply(pc, y, z));
  PetscCall(VecTDot(x, z, &s));
  PetscCall(PCApplyTranspose(pc, x, z));
  PetscCall(VecTDot(y, z, &t));
  PetscCall(Say(name, PetscAbsScalar(s - t) <= 1e-10 * PetscAbsScalar(s) ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* coefficients change by size, then from scalar to tensor (new couplings, where the pattern must grow), then
   back */
static PetscErrorCode Changes(HopsSpace sp, PetscInt dim)
{
  const PetscInt    nc[3]   = {1, dim * (dim + 1) / 2, dim};
  const char *const text[3] = {"scalar coefficient", "then a tensor", "then a diagonal"};
  Mat               A;
  KSP               ksp;

  PetscFunctionBeginUser;
  PetscCall(Operator(sp, 1, PETSC_TRUE, &A));
  PetscCall(Create(A, &ksp));
  for (PetscInt k = 0; k < 3; ++k) {
    HopsCoefficient c;

    PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, nc[k], TestKappa, NULL, &c));
    PetscCall(MatPASetDiffusion(A, c));
    PetscCall(HopsCoefficientDestroy(&c));
    PetscCall(Solve(ksp, text[k]));
    PetscCall(SameAsNew(ksp, "  its LOR matrix"));
  }
  PetscCall(Transpose(ksp, "transpose"));
  if (reset) PetscCall(KSPReset(ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(Solve(ksp, "after a reset"));
  PetscCall(MatDestroy(&A));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* another space under the same solver; an assembled operator with the user's space and coefficients; another
   matrix type */
static PetscErrorCode Spaces(DM dm, HopsSpace sp, PetscInt dim, PetscInt p)
{
  HopsSpace       other;
  HopsCoefficient kappa, mass;
  Mat             A, B, C, L;
  KSP             ksp;
  PC              pc;
  PetscReal       before, after;
  char            type[64] = "hypre";

  PetscFunctionBeginUser;
  PetscCall(Operator(sp, 1, PETSC_TRUE, &A));
  PetscCall(Create(A, &ksp));
  PetscCall(Solve(ksp, "order p"));
  PetscCall(HopsSpaceCreateH1(dm, p + 1, NULL, 0, NULL, &other));
  PetscCall(Operator(other, dim, PETSC_TRUE, &B));
  if (reset) PetscCall(KSPReset(ksp));
  else {
    PetscCall(KSPDestroy(&ksp));
    PetscCall(Create(B, &ksp));
  }
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(Solve(ksp, "order p+1, same solver"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(Create(C, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCLORSetSpace(pc, sp));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestKappa, NULL, &kappa));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, &mass));
  PetscCall(PCLORSetCoefficients(pc, kappa, mass));
  PetscCall(Solve(ksp, "assembled operator, user's space and coefficients"));
  PetscCall(PCLORSetCoefficients(pc, mass, mass)); /* refilled */
  PetscCall(Solve(ksp, "user's new coefficients"));
  if (PetscDefined(USE_COMPLEX)) PetscCall(PetscStrncpy(type, MATAIJPERM, sizeof(type))); /* PETSc has no hypre */
  PetscCall(PetscOptionsGetString(NULL, NULL, "-another_type", type, sizeof(type), NULL));
  PetscCall(PCLORSetMatType(pc, type));
  PetscCall(Solve(ksp, "another matrix type"));
  PetscCall(PCLORSetCoefficients(pc, kappa, mass));
  PetscCall(Solve(ksp, "refilled in that type"));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&mass));
  PetscCall(PCLORSetMatType(pc, MATAIJ));
  PetscCall(PCSetUp(pc));
  PetscCall(PCLORGetMat(pc, &L));
  PetscCall(PetscObjectReference((PetscObject)L));
  PetscCall(MatNorm(L, NORM_FROBENIUS, &before));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatNorm(L, NORM_FROBENIUS, &after));
  PetscCall(Say("matrix kept longer than its preconditioner", before > 0.0 && after == before ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(MatDestroy(&L));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscCall(HopsSpaceDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM           dm;
  HopsSpace    sp;
  Mat          A;
  KSP          ksp;
  MatNullSpace constants;
  PetscInt     dim, p = 4;
  PetscBool    curved = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-curved", &curved, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-reset", &reset, NULL));
  PetscCall(TestMesh(PETSC_COMM_WORLD, curved, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(HopsSpaceCreateH1(dm, p, NULL, 0, NULL, &sp));
  PetscCall(Changes(sp, dim));
  PetscCall(Spaces(dm, sp, dim, p));
  PetscCall(Operator(sp, dim * (dim + 1) / 2, PETSC_FALSE, &A));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
  PetscCall(MatSetNullSpace(A, constants));
  PetscCall(MatNullSpaceDestroy(&constants));
  PetscCall(Create(A, &ksp));
  PetscCall(Solve(ksp, "natural boundary, constants in the null space"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: help
    args: -help
    filter: grep -o -E "pc_lor_(zero_mass|nodal_relax_weight):? <[^:>]*" | sed -e "s/now //" -e "s/: </ </" | sort -u

  test:
    suffix: citations
    args: -dm_plex_dim 2 -dm_plex_box_faces 2,2 -citations
    filter: grep "pazner"

  testset:
    output_file: output/pclor.out
    args: -dm_plex_dim 2 -dm_plex_box_faces 4,3

    test:
      requires: hypre
      suffix: hypre
      nsize: {{1 3}}
    test:
      requires: hypre real
      suffix: hypre_matrix
      args: -pc_lor_mat_type hypre -curved -dm_coord_petscspace_degree 2
      nsize: {{1 2}}
    # on a device, PETSc's coarse solver keeps the type it had
    test:
      requires: host
      suffix: gamg
      args: -lor_pc_type gamg -reset 0 -another_type aijperm
      nsize: {{1 2}}
    test:
      requires: cuda
      suffix: gamg_gpu
      args: -lor_pc_type gamg -reset 0 -another_type aijcusparse -vec_type cuda -dm_vec_type cuda -use_gpu_aware_mpi 0 -options_left 0
      nsize: {{1 2}}
    test:
      suffix: lu
      args: -another_type aijperm -lor_pc_type lu -lor_pc_factor_shift_type nonzero -pc_lor_mat_type {{aij aijperm}}

  test:
    requires: hypre
    suffix: 3d
    output_file: output/pclor.out
    args: -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -order 3 -curved
    nsize: {{1 4}}

TEST*/
