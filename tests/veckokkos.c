static char help[] =
  "Spaces on a DM with vectors of type kokkos against those with standard ones: operators, maps between spaces, low-order-refined\n\
matrices, their new values, and solves.\n\
  -order <p> -families <n> (the first n of H1, H(curl), H(div), L2)\n\n";

#include "lorcompare.h"

typedef struct {
  DM        dm;
  HopsSpace space, coarse; /* of H1 of half the order, on the same mesh */
  Mat       A;
} Side;

static PetscErrorCode Say(const char name[], PetscBool ok)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s: %s\n", name, ok ? "ok" : "WRONG"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool IsKokkos(PetscObject o)
{
  char *found = NULL;

  return PetscStrstr(o->type_name, "kokkos", &found) == PETSC_SUCCESS && found ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode SideCreate(DM dm, VecType type, PetscInt family, PetscInt p, HopsCoefficient mu, HopsCoefficient beta,
                                 Side *s)
{
  const PetscInt wall = 1;
  DMLabel        label;

  PetscFunctionBeginUser;
  PetscCall(DMClone(dm, &s->dm));
  PetscCall(DMSetVecType(s->dm, type));
  PetscCall(CreateSpace(s->dm, family, p, family < 3 ? PETSC_TRUE : PETSC_FALSE, &s->space));
  PetscCall(DMGetLabel(s->dm, "Face Sets", &label));
  s->coarse = NULL;
  if (!family) PetscCall(HopsSpaceCreateH1(s->dm, PetscMax(1, p / 2), label, 1, &wall, &s->coarse));
  PetscCall(MatCreatePA(s->space, &s->A));
  PetscCall(SetTerms(s->A, family, mu, beta));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SideDestroy(Side *s)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&s->A));
  PetscCall(HopsSpaceDestroy(&s->coarse));
  PetscCall(HopsSpaceDestroy(&s->space));
  PetscCall(DMDestroy(&s->dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector with the same entries on both sides, to be destroyed by the caller; r: random ones on the first */
static PetscErrorCode Both(Vec x, Vec y, PetscRandom r)
{
  PetscFunctionBeginUser;
  PetscCall(VecSetRandom(x, r));
  PetscCall(VecCopy(x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both actions of two matrices with the same entries; transposed ones first, since they are kept apart from
   the matrix */
static PetscErrorCode CompareActions(Mat A, Mat B, PetscReal *worst)
{
  PetscRandom rand;
  Vec         r[2], l[2], out[2];
  Mat         M[2] = {A, B};

  PetscFunctionBeginUser;
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &rand));
  for (PetscInt i = 0; i < 2; ++i) PetscCall(MatCreateVecs(M[i], &r[i], &l[i]));
  PetscCall(Both(l[0], l[1], rand));
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(VecDuplicate(r[i], &out[i]));
    PetscCall(MatMultTranspose(M[i], l[i], out[i]));
  }
  PetscCall(Difference(out[0], out[1], worst));
  PetscCall(Both(r[0], r[1], rand));
  for (PetscInt i = 0; i < 2; ++i) PetscCall(MatMult(M[i], r[i], l[i]));
  PetscCall(Difference(l[0], l[1], worst));
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(VecDestroy(&out[i]));
    PetscCall(VecDestroy(&r[i]));
    PetscCall(VecDestroy(&l[i]));
  }
  PetscCall(PetscRandomDestroy(&rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Transfers(Side s[2])
{
  Mat       P[2];
  PetscReal worst = 0.0;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 2; ++i) PetscCall(MatCreateHopsInterp(s[i].coarse, s[i].space, &P[i]));
  PetscCall(CompareActions(P[0], P[1], &worst));
  PetscCall(Say("maps between spaces", worst <= 1e-12 ? PETSC_TRUE : PETSC_FALSE));
  for (PetscInt i = 0; i < 2; ++i) PetscCall(MatDestroy(&P[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* so that old values of a transpose would be seen */
static PetscErrorCode KeepTranspose(Mat A)
{
  Mat         d = A;
  PetscMPIInt size;
  PetscBool   aij;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &aij));
  if (size > 1 && aij) PetscCall(MatMPIAIJGetSeqAIJ(A, &d, NULL, NULL));
  PetscCall(MatSetOption(d, MAT_FORM_EXPLICIT_TRANSPOSE, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix of this type, or of the default (NULL), of a side against aij of the standard one; then with new
   values. Inner solver: one that needs no particular matrix */
static PetscErrorCode Matrices(Side s[2], PetscInt side, PetscInt family, MatType type, HopsCoefficient mu, HopsCoefficient beta,
                               HopsCoefficient other)
{
  PC        pc[2];
  Mat       L[2];
  KSP       inner;
  PC        innerpc;
  Vec       x[2], y[2];
  PetscBool pattern = PETSC_TRUE, kept;
  PetscReal worst   = 0.0;
  char      text[128];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 2; ++i) {
    const Mat A = s[i && side].A;

    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc[i]));
    PetscCall(PCSetType(pc[i], PCLOR));
    PetscCall(PCSetOperators(pc[i], A, A));
    if (!i || type) PetscCall(PCLORSetMatType(pc[i], i ? type : MATAIJ));
    PetscCall(PCLORGetKSP(pc[i], &inner));
    PetscCall(KSPSetType(inner, KSPRICHARDSON)); /* not KSPPREONLY: with vectors of its own */
    PetscCall(KSPSetTolerances(inner, 1e-50, 1e-50, PETSC_DEFAULT, 3));
    PetscCall(KSPSetConvergenceTest(inner, KSPConvergedSkip, NULL, NULL));
    PetscCall(KSPGetPC(inner, &innerpc));
    PetscCall(PCSetType(innerpc, PCJACOBI));
    PetscCall(MatCreateVecs(A, &x[i], &y[i]));
  }
  PetscCall(Both(x[0], x[1], NULL));
  for (PetscInt pass = 0; pass < 3; ++pass) { /* with this coefficient, another one, and this one again */
    for (PetscInt i = 0; i < 2; ++i) {
      PetscCall(SetTerms(s[i && side].A, family, pass == 1 ? other : mu, beta));
      PetscCall(PetscObjectStateIncrease((PetscObject)s[i && side].A));
      PetscCall(PCSetUp(pc[i]));
      PetscCall(PCLORGetMat(pc[i], &L[i]));
      if (i) PetscCall(KeepTranspose(L[i]));
      PetscCall(PCApply(pc[i], x[i], y[i]));
    }
    PetscCall(CompareMatrices(L[0], L[1], &worst, &pattern));
    PetscCall(CompareActions(L[0], L[1], &worst));
    PetscCall(Difference(y[0], y[1], &worst));
  }
  PetscCall(PetscStrcmp(type, MATAIJKOKKOS, &kept));
  kept = (PetscBool)(IsKokkos((PetscObject)L[1]) == (kept || (!type && side)));
  PetscCall(PetscSNPrintf(text, sizeof(text), "LOR matrix %s, vectors %s", type ? type : "of the default type",
                          side ? "kokkos" : "standard"));
  PetscCall(Say(text, worst <= 1e-12 && pattern && kept ? PETSC_TRUE : PETSC_FALSE));
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(VecDestroy(&x[i]));
    PetscCall(VecDestroy(&y[i]));
    PetscCall(PCDestroy(&pc[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* inner: the solver of the LOR matrix, which `name` calls something else */
static PetscErrorCode Solves(Side s[2], PCType type, const char inner[], MatType mat, const char name[])
{
  Vec       b[2], x[2];
  PetscInt  its[2], slack = 1;
  PetscReal e;
  char      text[128];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 2; ++i) PetscCall(MatCreateVecs(s[i].A, &x[i], &b[i]));
  PetscCall(Both(b[0], b[1], NULL));
  for (PetscInt i = 0; i < 2; ++i) {
    KSP ksp;
    PC  pc;

    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
    PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
    PetscCall(KSPSetOperators(ksp, s[i].A, s[i].A));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, type));
    if (inner) PetscCall(PetscOptionsSetValue(NULL, "-lor_pc_type", inner));
    if (mat) PetscCall(PetscOptionsSetValue(NULL, "-pc_lor_mat_type", mat));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, b[i], x[i]));
    PetscCall(KSPGetIterationNumber(ksp, &its[i]));
    PetscCall(KSPDestroy(&ksp));
    if (inner) PetscCall(PetscOptionsClearValue(NULL, "-lor_pc_type"));
    if (mat) PetscCall(PetscOptionsClearValue(NULL, "-pc_lor_mat_type"));
  }
  PetscCall(Differ(x[0], x[1], &e));
  PetscCall(PetscSNPrintf(text, sizeof(text), "solve with %s%s%s%s%s", type, name ? ", " : "", name ? name : "", mat ? ", " : "",
                          mat ? mat : ""));
  if (inner && !name) slack = its[0] / 10; /* hundreds of iterations by Jacobi part by rounding errors */
  PetscCall(Say(text, PetscAbsInt(its[0] - its[1]) <= slack && e <= 1e-8 ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(PetscInfo(s[0].A, "iterations %" PetscInt_FMT ", %" PetscInt_FMT ", difference %g\n", its[0], its[1], (double)e));
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(VecDestroy(&x[i]));
    PetscCall(VecDestroy(&b[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(DM dm, PetscInt family, PetscInt p)
{
  const PetscScalar one = 1.0, four = 4.0;
  const char *const types[] = {NULL, MATAIJ, MATAIJKOKKOS};
  HopsCoefficient   mu, beta, other;
  Side              s[2];
  Vec               v;
  PetscReal         worst = 0.0;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, &mu));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &beta));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &four, &other));
  PetscCall(SideCreate(dm, VECSTANDARD, family, p, mu, beta, &s[0]));
  PetscCall(SideCreate(dm, VECKOKKOS, family, p, mu, beta, &s[1]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", families[family]));
  PetscCall(HopsSpaceCreateVec(s[1].space, &v));
  PetscCall(Say("type of vectors", IsKokkos((PetscObject)v)));
  PetscCall(VecDestroy(&v));
#if defined(HOPS_HAVE_KOKKOS)
  PetscCall(Say("back end", s[1].space->backend == &HopsBackendKokkos ? PETSC_TRUE : PETSC_FALSE));
#else
  PetscCall(Say("back end", s[1].space->backend->memtype == PETSC_MEMTYPE_KOKKOS ? PETSC_TRUE : PETSC_FALSE));
#endif
  PetscCall(CompareOperators(s[0].A, s[1].A, &worst));
  PetscCall(Say("operator", worst <= 1e-12 ? PETSC_TRUE : PETSC_FALSE));
  if (!family) PetscCall(Transfers(s));
  for (PetscInt side = 0; side < 2; ++side)
    for (PetscInt t = 0; t < 3; ++t) PetscCall(Matrices(s, side, family, types[t], mu, beta, other));
  /* AMS and ADS of a hypre for devices do not take the host's vectors */
  PetscCall(Solves(s, PCLOR, family && PetscDefined(HAVE_HYPRE_DEVICE) ? PCJACOBI : NULL, NULL, NULL));
  if (!family) {
    PetscCall(Solves(s, PCLOR, PCJACOBI, NULL, PCJACOBI));
    PetscCall(Solves(s, PCLOR, PCGAMG, NULL, PCGAMG));
    PetscCall(Solves(s, PCLOR, PCGAMG, MATAIJKOKKOS, PCGAMG)); /* of both, so that vectors of the one do not fit */
    PetscCall(Solves(s, PCHOPSMG, NULL, NULL, NULL));
    PetscCall(Solves(s, PCPATCHFD, NULL, NULL, NULL));
  }
  for (PetscInt i = 0; i < 2; ++i) PetscCall(SideDestroy(&s[i]));
  PetscCall(HopsCoefficientDestroy(&mu));
  PetscCall(HopsCoefficientDestroy(&beta));
  PetscCall(HopsCoefficientDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM       dm;
  PetscInt p = 4, n = 4;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-families", &n, NULL));
  PetscCall(PetscOptionsClearValue(NULL, "-hops_backend")); /* the vectors choose */
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_TRUE, &dm));
  for (PetscInt family = 0; family < n; ++family) PetscCall(Compare(dm, family, p));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  testset:
    requires: kokkos_kernels
    args: -dm_plex_box_faces 4,3,2 -dm_plex_separate_marker -dm_coord_petscspace_degree 2 -order 3
    test:
      nsize: {{1 2 3}}
      args: -dm_plex_dim {{2 3}} -pc_hopsmg_coarsen p -use_gpu_aware_mpi 0

TEST*/
