static char help[] = "Functions of the public interface that codes without options call: spaces set and found again, references, "
                     "inner solvers, factors, views.\n\
  -vectors <type,...>: instead, what spaces on a DM with vectors of these types give\n\n";

#include "lorcompare.h"

static PetscErrorCode Say(const char name[], PetscBool ok)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", name, ok ? "ok" : "WRONG"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |a x - y| is rounding */
static PetscErrorCode Same(const char name[], PetscScalar a, Vec x, Vec y)
{
  Vec       z;
  PetscReal e, n;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecCopy(y, z));
  PetscCall(VecAXPY(z, -a, x));
  PetscCall(VecNorm(z, NORM_2, &e));
  PetscCall(VecNorm(y, NORM_2, &n));
  PetscCall(Say(name, n > 0.0 && e <= 1e-13 * n ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Preconditioner(Mat A, PCType type, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetType(*pc, type));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A shell made by MatSetType(), and the references that it and its coefficients hold */
static PetscErrorCode Operators(HopsSpace sp, Mat *A)
{
  const PetscScalar two = 2.0;
  HopsSpace         found;
  HopsCoefficient   kappa, mass, held;
  Mat               B;
  Vec               x, y, z;
  PetscInt          n, N;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 3, TestKappa, NULL, &kappa));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &two, &mass));
  PetscCall(HopsCoefficientView(kappa, NULL));
  PetscCall(HopsCoefficientView(mass, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(MatCreatePA(sp, A));
  PetscCall(HopsSpaceGetSizes(sp, &n, &N));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &B));
  PetscCall(MatSetSizes(B, n, n, N, N));
  PetscCall(MatSetType(B, MATPA));
  PetscCall(MatPAGetSpace(B, &found));
  PetscCall(Say("no space at first", found ? PETSC_FALSE : PETSC_TRUE));
  PetscCall(MatPASetSpace(B, sp));
  PetscCall(MatPAGetSpace(B, &found));
  PetscCall(Say("the operator's space", found == sp ? PETSC_TRUE : PETSC_FALSE));
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(MatPASetDiffusion(i ? B : *A, kappa));
    PetscCall(MatPASetMass(i ? B : *A, mass));
  }
  held = kappa;
  PetscCall(HopsCoefficientReference(held));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&mass));
  PetscCall(HopsCoefficientView(held, NULL));
  PetscCall(HopsCoefficientDestroy(&held));
  PetscCall(MatCreateVecs(*A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(*A, x, y));
  PetscCall(MatMult(B, x, z));
  PetscCall(Same("its action", 1.0, y, z));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCLOR: the space it found, an inner solver chosen through its KSP, estimates of the spectrum */
static PetscErrorCode LOR(HopsSpace sp, Mat A)
{
  HopsSpace found;
  Mat       L;
  KSP       ksp;
  PC        pc, inner;
  Vec       x, b, y;

  PetscFunctionBeginUser;
  PetscCall(Preconditioner(A, PCLOR, &pc));
  PetscCall(PCLORGetSpace(pc, &found));
  PetscCall(Say("lor: no space before set-up", found ? PETSC_FALSE : PETSC_TRUE));
  PetscCall(PCLORGetKSP(pc, &ksp));
  PetscCall(KSPGetPC(ksp, &inner));
  PetscCall(PCSetType(inner, PCREDUNDANT));
  PetscCall(PCSetUp(pc));
  PetscCall(PCLORGetSpace(pc, &found));
  PetscCall(Say("lor: space", found == sp ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(PCLORGetMat(pc, &L));
  PetscCall(MatCreateVecs(L, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(L, x, b));
  PetscCall(PCApply(pc, b, y)); /* an exact inverse, unlike the default */
  PetscCall(VecAXPY(y, -1.0, x));
  {
    PetscReal e, n;

    PetscCall(VecNorm(y, NORM_2, &e));
    PetscCall(VecNorm(x, NORM_2, &n));
    PetscCall(Say("lor: the inner solver", e <= 1e-10 * n ? PETSC_TRUE : PETSC_FALSE));
  }
  PetscCall(PCLORViewSpectrum(pc, NULL));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&y));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCPATCHFD: its space, and its factor, which additive corrections are multiplied by */
static PetscErrorCode Patches(HopsSpace sp, Mat A)
{
  HopsSpace found;
  PC        pc;
  Vec       b, x[2];

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &b, &x[0]));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(Preconditioner(A, PCPATCHFD, &pc));
  PetscCall(PCPATCHFDSetType(pc, PC_PATCHFD_ADDITIVE));
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(PCPATCHFDSetOmega(pc, i ? 0.25 : 1.0));
    PetscCall(PCSetUp(pc));
    PetscCall(PCApply(pc, b, x[i]));
  }
  PetscCall(PCPATCHFDGetSpace(pc, &found));
  PetscCall(Say("patchfd: space", found == sp ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(Same("patchfd: a factor of 1/4", 0.25, x[0], x[1]));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x[0]));
  PetscCall(VecDestroy(&x[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -pc_patchfd_damp below 1: all surrogates are scaled so that their bound is that number, so additive
   corrections are proportional to it */
static PetscErrorCode Damping(Mat A)
{
  Vec b, x[2];

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &b, &x[0]));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(VecSetRandom(b, NULL));
  for (PetscInt i = 0; i < 2; ++i) {
    PC pc;

    PetscCall(Preconditioner(A, PCPATCHFD, &pc));
    PetscCall(PetscOptionsSetValue(NULL, "-pc_patchfd_damp", i ? "0.25" : "0.75"));
    PetscCall(PetscOptionsSetValue(NULL, "-pc_patchfd_type", "additive"));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PCApply(pc, b, x[i]));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(Same("patchfd: damping", 1.0 / 3.0, x[0], x[1]));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x[0]));
  PetscCall(VecDestroy(&x[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCHOPSMG: orders 4, 2, 1, of which the last is not assembled */
static PetscErrorCode Multigrid(Mat A)
{
  PetscBool same = PETSC_TRUE, pa;
  PetscInt  levels;
  KSP       ksp;
  PC        pc;
  Mat       coarse;

  PetscFunctionBeginUser;
  PetscCall(Preconditioner(A, PCHOPSMG, &pc));
  PetscCall(PCHopsMGSetCoarsening(pc, PC_HOPSMG_P));
  PetscCall(PCHopsMGSetCoarseMatType(pc, MATPA));
  PetscCall(PCSetUp(pc));
  PetscCall(PCMGGetLevels(pc, &levels));
  for (PetscInt l = 0; l < levels; ++l) {
    HopsSpace sp;
    PetscInt  p;

    PetscCall(PCHopsMGGetSpace(pc, l, &sp));
    PetscCall(HopsSpaceGetOrder(sp, &p));
    if (p != 1 << l) same = PETSC_FALSE;
  }
  PetscCall(PCMGGetCoarseSolve(pc, &ksp));
  PetscCall(KSPGetOperators(ksp, NULL, &coarse));
  PetscCall(PetscObjectTypeCompare((PetscObject)coarse, MATPA, &pa));
  PetscCall(Say("hopsmg: orders 1, 2, 4", levels == 3 && same ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(Say("hopsmg: coarsest operator matrix-free", pa));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With natural boundaries and no mass the constants are the null space; the coarsest matrix has it too */
static PetscErrorCode Singular(DM dm)
{
  const PetscScalar one = 1.0;
  HopsSpace         sp;
  HopsCoefficient   kappa;
  MatNullSpace      constants;
  Mat               A, coarse;
  PetscBool         has = PETSC_FALSE;
  KSP               ksp;
  PC                pc;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateH1(dm, 2, NULL, 0, NULL, &sp));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &kappa));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
  PetscCall(MatSetNullSpace(A, constants));
  PetscCall(MatNullSpaceDestroy(&constants));
  PetscCall(Preconditioner(A, PCHOPSMG, &pc));
  PetscCall(PCHopsMGSetCoarsening(pc, PC_HOPSMG_P));
  PetscCall(PCSetUp(pc));
  PetscCall(PCMGGetCoarseSolve(pc, &ksp));
  PetscCall(KSPGetOperators(ksp, NULL, &coarse));
  PetscCall(MatGetNullSpace(coarse, &constants));
  if (constants) PetscCall(MatNullSpaceTest(constants, coarse, &has));
  PetscCall(Say("hopsmg: null space of the coarsest matrix", has));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The type of the DM's vectors chooses the back end where -hops_backend does not */
static PetscErrorCode VectorTypes(DM dm, PetscInt p, PetscInt n, char *const types[])
{
  DM clone;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsClearValue(NULL, "-hops_backend"));
  PetscCall(DMClone(dm, &clone));
  for (PetscInt b = 0; b < n; ++b) {
    PetscCall(DMSetVecType(clone, types[b]));
    for (PetscInt family = 0; family < 4; ++family) {
      HopsSpace sp, other;
      Vec       x[2];
      VecType   found[2];

      PetscCall(CreateSpace(clone, family, p, PETSC_FALSE, &sp));
      PetscCall(HopsSpaceCreateCompanion(sp, family == 3 ? HOPS_H1 : HOPS_L2, PETSC_FALSE, &other));
      PetscCall(HopsSpaceCreateVec(sp, &x[0]));
      PetscCall(HopsSpaceCreateVec(other, &x[1]));
      for (PetscInt k = 0; k < 2; ++k) PetscCall(VecGetType(x[k], &found[k]));
      PetscCall(
        PetscPrintf(PETSC_COMM_WORLD, "%s, %s vectors: %s, companion %s\n", families[family], types[b], found[0], found[1]));
      for (PetscInt k = 0; k < 2; ++k) PetscCall(VecDestroy(&x[k]));
      PetscCall(HopsSpaceDestroy(&other));
      PetscCall(HopsSpaceDestroy(&sp));
    }
  }
  PetscCall(DMDestroy(&clone));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Interface(DM dm)
{
  const PetscInt wall = 1;
  DMLabel        label;
  HopsSpace      sp, held;
  Mat            A;
  PetscInt       n, N;

  PetscFunctionBeginUser;
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(HopsSpaceCreateH1(dm, 4, label, 1, &wall, &held));
  sp = held;
  PetscCall(HopsSpaceReference(sp));
  PetscCall(HopsSpaceDestroy(&held));
  PetscCall(HopsSpaceGetSizes(sp, &n, &N));
  PetscCall(Say("the space is held", N == 204 ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(Operators(sp, &A));
  PetscCall(LOR(sp, A));
  PetscCall(Patches(sp, A));
  PetscCall(Damping(A));
  PetscCall(Multigrid(A));
  PetscCall(Singular(dm));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM        dm;
  char     *types[4];
  PetscInt  n = 4;
  PetscBool vectors;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-vectors", types, &n, &vectors));
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_TRUE, &dm));
  PetscCall(vectors ? VectorTypes(dm, 2, n, types) : Interface(dm));
  for (PetscInt i = 0; i < n && vectors; ++i) PetscCall(PetscFree(types[i]));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    requires: host
    nsize: {{1 2}}
    args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -dm_plex_separate_marker -dm_coord_petscspace_degree 2

  test:
    suffix: vectors
    requires: host
    args: -vectors standard -dm_plex_dim 3 -dm_plex_box_faces 3,2,2

  test:
    suffix: cuda_vectors
    requires: cuda
    args: -vectors standard,cuda -dm_plex_dim 3 -dm_plex_box_faces 3,2,2 -use_gpu_aware_mpi 0

TEST*/
