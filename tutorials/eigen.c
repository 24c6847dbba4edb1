static char help[] =
  "Eigenvalues of -laplace u = lambda u (u = 0 on the boundary), or of a cavity, curl curl E = lambda E (E x n = 0), by SLEPc:\n\
  matrix-free operators, LOBPCG, the low-order-refined preconditioner.\n\
  -problem <laplace,maxwell>\n\
  -dm_plex_filename <file>, or -dm_plex_dim <d> -dm_plex_box_faces <n,...>: quadrilaterals or hexahedra, 'Face Sets' 1 to 16\n\
  -order <p>    : order (default 4)\n\
  -shift <c>    : Maxwell: where the eigenvalues of gradients go (default 20 pi^2 / L^2, L the shortest side of the mesh's box)\n\
  -exact <bool> : compare with those of the unit cube or square\n\
  SLEPc's options: -eps_nev <n> eigenvalues (default 5), -eps_type <lobpcg,gd,...>, -eps_monitor\n\n";

#include "tutorial.h"
#include <slepceps.h>
typedef enum {
  LAPLACE,
  MAXWELL
} Problem;
static const char *const problems[] = {"laplace", "maxwell", "Problem", "", NULL};

/* K + c M G B G^T M: curl-curl K, mass M, gradient G, and B, a preconditioner of the Laplacian G^T M G.
   Gradients have eigenvalues about c in place of 0; fields without divergence, G^T M x = 0, keep theirs */
typedef struct {
  Mat       K, M, G, L;
  PC        B;
  Vec       m, g, h; /* of the space, and of potentials */
  PetscReal c;
} Cavity;

static PetscErrorCode CavityMult(Mat A, Vec x, Vec y)
{
  Cavity *cavity;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(A, &cavity));
  PetscCall(MatMult(cavity->M, x, y));
  PetscCall(MatMultTranspose(cavity->G, y, cavity->g));
  PetscCall(PCApply(cavity->B, cavity->g, cavity->h));
  PetscCall(MatMult(cavity->G, cavity->h, cavity->m));
  PetscCall(MatMult(cavity->M, cavity->m, y));
  PetscCall(MatMult(cavity->K, x, cavity->m));
  PetscCall(VecAYPX(y, cavity->c, cavity->m));
  PetscFunctionReturn(0);
}

/* The part of x that is a gradient, in the norm of M, up to that B is not exact */
static PetscErrorCode GradientPart(Cavity *cavity, Vec x, PetscReal *part)
{
  PetscScalar square;

  PetscFunctionBeginUser;
  PetscCall(MatMult(cavity->M, x, cavity->m));
  PetscCall(MatMultTranspose(cavity->G, cavity->m, cavity->g));
  PetscCall(PCApply(cavity->B, cavity->g, cavity->h));
  PetscCall(VecDot(cavity->h, cavity->g, &square));
  *part = PetscSqrtReal(PetscAbsScalar(square));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateForm(HopsSpace space, PetscReal derivative, PetscReal mass, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(space, A));
  PetscCall(MatPASetConstants(*A, derivative, mass));
  PetscFunctionReturn(0);
}

static PetscErrorCode CavityCreate(HopsSpace space, Mat M, PetscReal c, Cavity *cavity, Mat *A)
{
  HopsSpace potentials;
  PetscInt  n, N;

  PetscFunctionBeginUser;
  cavity->M = M;
  cavity->c = c;
  PetscCall(HopsSpaceCreateCompanion(space, HOPS_H1, PETSC_TRUE, &potentials)); /* zero where the tangential field is */
  PetscCall(HopsSpaceCreateDerivative(potentials, space, &cavity->G));
  PetscCall(CreateForm(space, 1.0, 0.0, &cavity->K));
  PetscCall(CreateForm(potentials, 1.0, 0.0, &cavity->L));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &cavity->B));
  PetscCall(PCSetOptionsPrefix(cavity->B, "gradients_"));
  PetscCall(PCSetOperators(cavity->B, cavity->L, cavity->L));
  PetscCall(PCSetType(cavity->B, PCLOR));
  PetscCall(PCSetFromOptions(cavity->B));
  PetscCall(HopsSpaceCreateVec(space, &cavity->m));
  PetscCall(HopsSpaceCreateVec(potentials, &cavity->g));
  PetscCall(VecDuplicate(cavity->g, &cavity->h));
  PetscCall(HopsSpaceGetSizes(space, &n, &N));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, n, n, N, N, cavity, A));
  PetscCall(MatShellSetOperation(*A, MATOP_MULT, (void (*)(void))CavityMult));
  PetscCall(HopsSpaceDestroy(&potentials));
  PetscFunctionReturn(0);
}

static PetscErrorCode CavityDestroy(Cavity *cavity)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&cavity->K));
  PetscCall(MatDestroy(&cavity->G));
  PetscCall(MatDestroy(&cavity->L));
  PetscCall(PCDestroy(&cavity->B));
  PetscCall(VecDestroy(&cavity->m));
  PetscCall(VecDestroy(&cavity->g));
  PetscCall(VecDestroy(&cavity->h));
  PetscFunctionReturn(0);
}

/* The n-th eigenvalue of the unit cube or square over pi^2, n = 0, 1, ...: i^2 + j^2 + k^2. The Laplacian has
   one for positive i, j, k. A cavity has two of these, and one where one of them is zero; in 2D one for each
   (i, j) but (0, 0) */
static PetscInt Exact(Problem problem, PetscInt dim, PetscInt n)
{
  for (PetscInt sum = 1;; ++sum)
    for (PetscInt k = 0; k * k <= sum; ++k)
      for (PetscInt j = 0; j * j <= sum; ++j)
        for (PetscInt i = 0; i * i <= sum; ++i) {
          const PetscInt zeros = !i + !j + (dim == 3 && !k);

          if (i * i + j * j + k * k != sum || (dim == 2 && k)) continue;
          n -= problem == LAPLACE ? !zeros : dim == 2 ? 1 : PetscMax(2 - zeros, 0);
          if (n < 0) return sum;
        }
}

static PetscErrorCode Print(EPS eps, Problem problem, PetscInt dim, PetscBool exact, Cavity *cavity)
{
  PetscInt  n, nev, its, N;
  PetscReal part = 0.0, most = 0.0;
  Mat       A;
  Vec       x;

  PetscFunctionBeginUser;
  PetscCall(EPSGetConverged(eps, &n));
  PetscCall(EPSGetDimensions(eps, &nev, NULL, NULL));
  PetscCheck(n >= nev, PETSC_COMM_WORLD, PETSC_ERR_CONV_FAILED, "Only %" PetscInt_FMT " of %" PetscInt_FMT " eigenvalues converged",
             n, nev);
  PetscCall(EPSGetIterationNumber(eps, &its));
  PetscCall(EPSGetOperators(eps, &A, NULL));
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "unknowns %" PetscInt_FMT ", iterations %" PetscInt_FMT "\n", N, its));
  for (PetscInt i = 0; i < nev; ++i) {
    PetscScalar    value;
    const PetscInt sum = Exact(problem, dim, i);

    PetscCall(EPSGetEigenpair(eps, i, &value, NULL, x, NULL));
    if (!exact) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%.8g\n", (double)PetscRealPart(value)));
    else
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%10.6f pi^2, exact %" PetscInt_FMT ", relative error %.0e\n",
                            (double)(PetscRealPart(value) / (PETSC_PI * PETSC_PI)), sum,
                            (double)(PetscRealPart(value) / (PETSC_PI * PETSC_PI * sum) - 1.0)));
    if (problem == LAPLACE) continue;
    PetscCheck(PetscRealPart(value) < 0.25 * cavity->c, PETSC_COMM_WORLD, PETSC_ERR_USER,
               "An eigenvalue of %g may be that of a gradient: give a -shift of four times as much", (double)PetscRealPart(value));
    PetscCall(GradientPart(cavity, x, &part));
    most = PetscMax(most, part);
  }
  if (problem == MAXWELL)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "gradients in the fields: %s\n", most < 1e-5 ? "less than 1e-5" : "MANY"));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem   problem = LAPLACE;
  PetscBool exact   = PETSC_TRUE, other;
  PetscInt  order   = 4, dim, values[16];
  PetscReal lower[3], upper[3], side, c;
  Cavity    cavity = {NULL};
  DM        dm;
  DMLabel   label;
  HopsSpace space;
  Mat       A, M, P = NULL;
  EPS       eps;
  ST        st;
  KSP       ksp;
  PC        pc;

  PetscCall(SlepcInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-problem", problems, (PetscEnum *)&problem, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-exact", &exact, NULL));
  PetscCall(CreateMesh(&dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCheck(label, PETSC_COMM_WORLD, PETSC_ERR_USER, "The mesh has no label 'Face Sets': give its boundary physical groups");
  for (PetscInt v = 0; v < 16; ++v) values[v] = v + 1;
  PetscCall(DMGetBoundingBox(dm, lower, upper));
  side = upper[0] - lower[0];
  for (PetscInt d = 1; d < dim; ++d) side = PetscMin(side, upper[d] - lower[d]);
  c = 20.0 * PETSC_PI * PETSC_PI / (side * side);
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-shift", &c, NULL));

  if (problem == LAPLACE) {
    PetscCall(HopsSpaceCreateH1(dm, order, label, 16, values, &space));
    PetscCall(CreateForm(space, 1.0, 0.0, &A));
    PetscCall(CreateForm(space, 0.0, 1.0, &M));
  } else {
    PetscCall(HopsSpaceCreateHCurl(dm, order, label, 16, values, &space));
    PetscCall(CreateForm(space, 0.0, 1.0, &M));
    PetscCall(CreateForm(space, 1.0, c, &P));
    PetscCall(CavityCreate(space, M, c, &cavity, &A));
  }

  PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
  PetscCall(EPSSetOperators(eps, A, M));
  PetscCall(EPSSetProblemType(eps, EPS_GHEP));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-eps_type", &other));
  if (!other) PetscCall(EPSSetType(eps, EPSLOBPCG)); /* SLEPc 3.18 holds on to what the first type asks of the transformation */
  PetscCall(EPSSetWhichEigenpairs(eps, EPS_SMALLEST_REAL));
  PetscCall(EPSSetDimensions(eps, 5, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(EPSGetST(eps, &st));
  if (P) PetscCall(STSetPreconditionerMat(st, P)); /* as a shell A has no form to precondition */
  PetscCall(STGetKSP(st, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR)); /* what -st_pc_type lor does */
  PetscCall(EPSSetFromOptions(eps));
  PetscCall(EPSSolve(eps));
  PetscCall(Print(eps, problem, dim, exact, &cavity));

  PetscCall(EPSDestroy(&eps));
  PetscCall(CavityDestroy(&cavity));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&M));
  PetscCall(MatDestroy(&P));
  PetscCall(HopsSpaceDestroy(&space));
  PetscCall(DMDestroy(&dm));
  PetscCall(SlepcFinalize());
  return 0;
}

/*TEST

  build:
    requires: slepc hypre

  testset:
    filter: sed -e "s/, iterations [0-9]*$//"
    diff_args: -j
    test:
      suffix: laplace_2d
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,3 -order {{2 3 4}separate}
    test:
      suffix: laplace
      nsize: {{1 3}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -order {{2 3 4}separate}
    test:
      suffix: sinvert
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -problem {{laplace maxwell}separate} -eps_type krylovschur \
        -st_type sinvert -st_ksp_type cg -st_ksp_rtol 1e-10 -eps_target 0 -eps_target_magnitude
    test:
      suffix: maxwell_2d
      args: -problem maxwell -dm_plex_dim 2 -dm_plex_box_faces 3,3 -order {{2 3 4}separate}
    test:
      suffix: maxwell
      args: -problem maxwell -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -order {{2 3 4}separate}
    test:
      suffix: maxwell_ranks
      nsize: {{1 3}}
      timeoutfactor: 3
      args: -problem maxwell -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -order 2 -eps_nev 3 -eps_tol 1e-6
    test:
      suffix: maxwell_more
      args: -problem maxwell -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -order 4 -eps_nev 17 -shift 300

TEST*/
