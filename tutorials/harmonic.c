static char help[] =
  "Time-harmonic Maxwell equations with complex scalars: curl curl E - omega^2 E + i omega sigma E = f in H(curl).\n\
  The operator is the sum of two real ones, the second times i; the preconditioner that of a real, positive one.\n\
  -dm_plex_filename <file>, or -dm_plex_dim <d> -dm_plex_box_faces <n,...>; -dm_refine <n>: quadrilaterals or hexahedra\n\
  -orders <p,...> : orders (default 2,4,6)\n\
  -omega <w>      : frequency (default 1)\n\
  -sigma <s>      : conductivity (default 1)\n\n";

#include "tutorial.h"

typedef struct {
  PetscReal omega, sigma;
} Problem;

/* E = (exp(i k y), exp(i k z), exp(i k x)) in 3D, (exp(i k y), exp(i k x)) in 2D, k = pi; free of
   divergence */
static PetscErrorCode Exact(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar E[], void *ctx)
{
  for (PetscInt i = 0; i < dim; ++i) E[i] = PetscExpScalar(PETSC_i * PETSC_PI * x[(i + 1) % dim]);
  return 0;
}

/* curl curl E = k^2 E */
static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  const Problem *p = (Problem *)ctx;

  PetscCall(Exact(dim, x, nc, f, NULL));
  for (PetscInt i = 0; i < dim; ++i) f[i] *= PETSC_PI * PETSC_PI - p->omega * p->omega + PETSC_i * p->omega * p->sigma;
  return 0;
}

/* mu curl curl E + beta E; mu = 0 leaves the first term out */
static PetscErrorCode CreateOperator(HopsSpace space, PetscScalar mu, PetscScalar beta, Mat *A)
{
  HopsCoefficient c;

  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(space, A));
  if (mu != 0.0) {
    PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &mu, &c));
    PetscCall(MatPASetCurlCurl(*A, c));
    PetscCall(HopsCoefficientDestroy(&c));
  }
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &beta, &c));
  PetscCall(MatPASetMass(*A, c));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolveOrder(DM dm, PetscInt order, Problem *p)
{
  const PetscReal w = p->omega, s = p->sigma;
  PetscInt        values[16], n, its;
  PetscReal       error;
  DMLabel         label;
  HopsSpace       space;
  Mat             A, B, P; /* real part, imaginary part; preconditioning operator */
  Vec             x, b, c;
  KSP             ksp;
  PC              pc;

  PetscFunctionBeginUser;
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  for (PetscInt v = 0; v < 16; ++v) values[v] = v + 1;
  PetscCall(HopsSpaceCreateHCurl(dm, order, label, 16, values, &space));
  PetscCall(HopsSpaceSetEssentialFunction(space, Exact, NULL));
  PetscCall(CreateOperator(space, 1.0, -w * w, &A));
  PetscCall(CreateOperator(space, 0.0, w * s, &B));
  PetscCall(CreateOperator(space, 1.0, w * w + w * s, &P));

  /* essential values are lifted by both parts, before these are added */
  PetscCall(HopsSpaceCreateVec(space, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(x, &c));
  PetscCall(HopsSpaceComputeRHS(space, Source, p, b));
  PetscCall(MatPALiftEssential(A, b));
  PetscCall(VecSet(c, 0.0));
  PetscCall(MatPALiftEssential(B, c));
  PetscCall(VecAXPY(b, PETSC_i, c));
  PetscCall(MatAXPY(A, PETSC_i, B, SAME_NONZERO_PATTERN));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, P));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPGMRESSetRestart(ksp, 100));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(HopsSpaceComputeL2Error(space, x, Exact, NULL, &error));
  PetscCall(VecGetSize(x, &n));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "order %" PetscInt_FMT ", unknowns %" PetscInt_FMT ", L2 error %.1e, iterations %" PetscInt_FMT "\n", order,
                        n, (double)error, its));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&P));
  PetscCall(HopsSpaceDestroy(&space));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem   problem   = {1.0, 1.0};
  PetscInt  orders[8] = {2, 4, 6}, n = 8;
  PetscBool given;
  DM        dm;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-orders", orders, &n, &given));
  if (!given) n = 3;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-omega", &problem.omega, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-sigma", &problem.sigma, NULL));
  PetscCall(CreateMesh(&dm));
  for (PetscInt i = 0; i < n; ++i) PetscCall(SolveOrder(dm, orders[i], &problem));
  PetscCall(DMDestroy(&dm));
  return PetscFinalize();
}

/*TEST

  build:
    requires: complex

  testset:
    requires: hypre
    filter: sed -e "s/, iterations [0-9]*$//"
    args: -ksp_max_it 100
    test:
      suffix: 2d
      nsize: {{1 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,4
    test:
      suffix: 3d
      nsize: 2
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -orders 2,4
    test:
      suffix: conductor
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,4 -sigma 100

TEST*/
