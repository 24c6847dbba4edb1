static char help[] =
  "A space from arrays spread over the ranks: operator, low-order-refined matrix and solution do not depend on the ranks.\n\
  -dim <d> -order <p> -cells <n,n,n>\n\
  -spread    : unknowns are owned by ranks whose cells need not touch them\n\
  -essential : the boundary is essential; its unknowns stay in the vectors\n\
  -errors    : arrays that contradict themselves are refused on all ranks\n\
  -forgotten : the user's matrix and the space differ in essential unknowns\n\n";

#include "boxarrays.h"
#include "hopsexpect.h"
#include <math.h>

static PetscErrorCode U(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(2.0 * x[0]) + x[1] * x[0] + (dim > 2 ? PetscCosReal(x[2]) : 0.0);
  return PETSC_SUCCESS;
}

/* -Laplace u + u */
static PetscErrorCode F(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  f[0] = 5.0 * PetscSinReal(2.0 * x[0]) + x[1] * x[0] + (dim > 2 ? 2.0 * PetscCosReal(x[2]) : 0.0);
  return PETSC_SUCCESS;
}

static PetscErrorCode V(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscExpReal(x[0] - x[1]) + (dim > 2 ? x[2] * x[2] : 0.0);
  return PETSC_SUCCESS;
}

/* what is wrong with the arrays: of the first cell, but for those that say otherwise */
typedef enum {
  FAULT_NONE,
  FAULT_FACE,   /* nodes of a face in another order */
  FAULT_CORNER, /* two corners exchanged */
  FAULT_TWICE,  /* a node at two places */
  FAULT_UNUSED, /* an unknown of no cell */
  FAULT_CELL,   /* the cell listed again */
  FAULT_NAN,    /* a coordinate */
  FAULT_MIRROR, /* the lattice runs backwards in x */
  FAULT_ORDER,  /* nodes out of order */
  FAULT_LEFT    /* all cells: x and y of space exchanged */
} Fault;

static Fault fault = FAULT_NONE;

static void Exchange(PetscInt nodes[], PetscInt i, PetscInt j)
{
  const PetscInt t = nodes[i];

  nodes[i] = nodes[j];
  nodes[j] = t;
}

/* Node i takes number and place of node from(i) */
static PetscErrorCode Permute(const Box *b, PetscInt np, PetscBool mirror, PetscInt nodes[], PetscReal x[])
{
  PetscInt  *g, P = b->p + 1;
  PetscReal *y;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(np, &g, np * b->dim, &y));
  PetscCall(PetscArraycpy(g, nodes, np));
  PetscCall(PetscArraycpy(y, x, np * b->dim));
  for (PetscInt i = 0; i < np; ++i) {
    const PetscInt from = mirror ? i - i % P + P - 1 - i % P : (i * 5 + 3) % np;

    nodes[i] = g[from];
    for (PetscInt d = 0; d < b->dim; ++d) x[i * b->dim + d] = y[from * b->dim + d];
  }
  PetscCall(PetscFree2(g, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first cell is that of rank 0 */
static PetscErrorCode Spoil(const Box *b, PetscMPIInt rank, PetscInt np, PetscInt *nc, PetscInt *owned, PetscInt nodes[],
                            PetscReal x[])
{
  const PetscInt P = b->p + 1, plane = b->dim == 3 ? P * P : P;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < *nc * np && fault == FAULT_LEFT; ++i) {
    const PetscReal t = x[i * b->dim];

    x[i * b->dim]     = x[i * b->dim + 1];
    x[i * b->dim + 1] = t;
  }
  if (rank) PetscFunctionReturn(PETSC_SUCCESS);
  if (fault == FAULT_FACE) Exchange(nodes, P - 1 + P + (b->dim == 3 ? 2 * plane : 0), P - 1 + 2 * P + (b->dim == 3 ? plane : 0));
  if (fault == FAULT_CORNER) Exchange(nodes, P - 1, np - 1);
  if (fault == FAULT_TWICE) nodes[1] = nodes[2];
  if (fault == FAULT_UNUSED) ++*owned; /* the numbers of the other ranks' unknowns are off by one, too */
  if (fault == FAULT_NAN) x[5] = NAN;
  if (fault == FAULT_MIRROR || fault == FAULT_ORDER)
    PetscCall(Permute(b, np, fault == FAULT_MIRROR ? PETSC_TRUE : PETSC_FALSE, nodes, x));
  if (fault == FAULT_CELL) {
    PetscCall(PetscArraycpy(nodes + *nc * np, nodes, np));
    PetscCall(PetscArraycpy(x + *nc * np * b->dim, x, np * b->dim));
    ++*nc;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(const Box *b, PetscBool spread, PetscBool essential, HopsSpace *sp)
{
  BoxArrays   a;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(BoxArraysCreate(b, spread, essential, &a));
  PetscCall(Spoil(b, rank, a.np, &a.nc, &a.owned, a.nodes, a.coords));
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, b->dim, b->p, a.nc, a.owned, a.nodes, a.coords, a.ness, a.ess, sp));
  PetscCall(BoxArraysDestroy(&a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v.Au, v.diag(A)u, and the relative difference from its transpose's */
static PetscErrorCode Forms(Mat A, Vec u, Vec v, Vec w, const char name[])
{
  PetscScalar a, t, d;

  PetscFunctionBeginUser;
  PetscCall(MatMult(A, u, w));
  PetscCall(VecDot(v, w, &a));
  PetscCall(MatMult(A, v, w));
  PetscCall(VecDot(u, w, &t));
  PetscCall(MatGetDiagonal(A, w));
  PetscCall(VecPointwiseMult(w, w, u));
  PetscCall(VecDot(v, w, &d));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: form %.10g, diagonal %.10g, %s\n", name, (double)a, (double)d,
                        PetscAbsScalar(a - t) <= 1e-12 * PetscAbsScalar(a) ? "symmetric" : "NOT SYMMETRIC"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Straight cells; what a refused space leaves half made is not freed */
static PetscErrorCode Errors(Box *b)
{
  const PetscInt  node = 0;
  const PetscReal x    = 0.0;
  PetscMPIInt     rank, size;
  HopsSpace       sp;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump"));
  b->straight = PETSC_TRUE;
  PetscCall(Create(b, PETSC_FALSE, PETSC_FALSE, &sp));
  PetscCall(HopsSpaceDestroy(&sp));
  fault = FAULT_FACE;
  EXPECT("a face in another order", Create(b, PETSC_FALSE, PETSC_FALSE, &sp), "different places");
  fault = FAULT_CORNER;
  EXPECT("corners exchanged", Create(b, PETSC_FALSE, PETSC_FALSE, &sp), "corner|x fastest");
  fault = FAULT_TWICE;
  EXPECT("a node twice", Create(b, PETSC_FALSE, PETSC_FALSE, &sp), "belongs to no cell");
  fault = FAULT_UNUSED;
  EXPECT("an unknown of no cell", Create(b, PETSC_FALSE, PETSC_FALSE, &sp), "belongs to no cell|without gaps");
  fault = FAULT_CELL;
  EXPECT("a cell twice", Create(b, PETSC_FALSE, PETSC_FALSE, &sp), "a cell is listed once");
  fault = FAULT_NAN;
  EXPECT("not-a-number", Create(b, PETSC_FALSE, PETSC_FALSE, &sp), "coordinate of cell 0|not-a-number");
  fault = FAULT_MIRROR;
  EXPECT("a mirrored lattice", Create(b, PETSC_FALSE, PETSC_FALSE, &sp), "lattice of cell 0 is left-handed|are not");
  fault = FAULT_ORDER;
  EXPECT("nodes out of order", Create(b, PETSC_FALSE, PETSC_FALSE, &sp), "not in the order of its lattice|x fastest");
  fault = FAULT_LEFT;
  PetscCall(Create(b, PETSC_FALSE, PETSC_FALSE, &sp)); /* tests/nodes.c has what becomes of it */
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "left-handed lattices: taken\n"));
  PetscCall(HopsSpaceDestroy(&sp));
  fault = FAULT_NONE;
  for (PetscInt i = 0; i <= b->p; ++i) b->z[i] = -1.0 + 2.0 * i / b->p;
  EXPECT("equispaced nodes", Create(b, PETSC_FALSE, PETSC_FALSE, &sp), "equispaced|Gauss-Lobatto-Legendre points");
  /* below 2^31 unknowns of cells; the arrays are not read */
  EXPECT("too many cells on one rank",
         HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, 2, 4, rank == size - 1 ? 85562490 : 0, 0, &node, &x, 0, NULL, &sp),
         "85562490 cells of 25 unknowns|use more ranks");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellMult(Mat S, Vec x, Vec y)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a preconditioner for the user's matrix, whose form is told */
static PetscErrorCode UserPC(Mat A, HopsSpace sp, HopsCoefficient diffusion, HopsCoefficient mass, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetType(*pc, PCLOR));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCLORSetSpace(*pc, sp));
  PetscCall(PCLORSetCoefficients(*pc, diffusion, mass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the user's matrices: of the space with essential unknowns, assembled or a shell without a diagonal; of the
   one without; and combinations that must pass */
static PetscErrorCode Forgotten(const Box *b)
{
  const char     *forgotten = "low-order-refined matrix is singular|HopsSpaceCreateFromArrays()|MatSetNullSpace()";
  HopsSpace       with, without;
  HopsCoefficient kappa, mass;
  Mat             PA[2], A[2], M, S;
  MatNullSpace    constants;
  PC              pc;
  PetscInt        n, N;

  PetscFunctionBeginUser;
  PetscCall(Create(b, PETSC_FALSE, PETSC_TRUE, &with));
  PetscCall(Create(b, PETSC_FALSE, PETSC_FALSE, &without));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestKappa, NULL, &kappa));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, &mass));
  for (PetscInt i = 0; i < 2; ++i) {
    PetscCall(MatCreatePA(i ? without : with, &PA[i]));
    PetscCall(MatPASetDiffusion(PA[i], kappa));
    PetscCall(MatConvert(PA[i], MATAIJ, MAT_INITIAL_MATRIX, &A[i]));
  }
  PetscCall(MatGetLocalSize(A[0], &n, NULL));
  PetscCall(MatGetSize(A[0], &N, NULL));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, n, n, N, N, A[0], &S));
  PetscCall(MatShellSetOperation(S, MATOP_MULT, (HopsVoidFn)ShellMult));
  PetscCall(UserPC(A[0], without, kappa, NULL, &pc));
  PetscCall(PCSetUp(pc)); /* Dirichlet rows are found */
  PetscCall(UserPC(S, without, kappa, NULL, &pc));
  PetscCall(PCSetUp(pc));
  PetscCall(MatDuplicate(A[1], MAT_COPY_VALUES, &M));
  PetscCall(MatShift(M, 1e-3));
  PetscCall(UserPC(M, without, kappa, NULL, &pc));
  EXPECT("a matrix with mass, a form without", PCSetUp(pc), forgotten);
  PetscCall(UserPC(A[1], with, kappa, NULL, &pc));
  EXPECT("a matrix without Dirichlet rows, a space with", PCSetUp(pc),
         "couples it to others|leave it out of the list|MatZeroRowsColumns()");
  PetscCall(UserPC(A[0], with, kappa, NULL, &pc));
  PetscCall(PCSetUp(pc));
  PetscCall(UserPC(S, with, kappa, NULL, &pc));
  PetscCall(PCSetUp(pc));
  PetscCall(UserPC(A[1], without, kappa, NULL, &pc)); /* singular both */
  PetscCall(PCSetUp(pc));
  PetscCall(UserPC(M, without, kappa, mass, &pc));
  PetscCall(PCSetUp(pc));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
  PetscCall(MatSetNullSpace(A[1], constants));
  PetscCall(UserPC(A[1], without, kappa, NULL, &pc));
  PetscCall(PCSetUp(pc));
  PetscCall(UserPC(A[1], with, kappa, NULL, &pc)); /* meant, since the null space is attached */
  PetscCall(PCSetUp(pc));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, PA[1], PA[1]));
  PetscCall(PCSetUp(pc));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "those that agree are set up\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolver(Mat A, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetTolerances(*ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 60));
  PetscCall(KSPSetErrorIfNotConverged(*ksp, PETSC_TRUE));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCLORSetDropTolerance(pc, 0.0));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetUp(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -Laplace u + u = f with u given on the boundary; without, right-hand side and solution are only compared
   among ranks */
static PetscErrorCode Solve(HopsSpace sp, Mat A, KSP ksp, Vec u, PetscBool essential)
{
  PetscInt    its;
  PetscScalar a;
  PetscReal   e;
  Vec         v, w;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(u, &v));
  PetscCall(VecDuplicate(u, &w));
  PetscCall(HopsSpaceSetEssentialFunction(sp, U, NULL));
  PetscCall(HopsSpaceComputeRHS(sp, F, NULL, w));
  PetscCall(MatPALiftEssential(A, w));
  PetscCall(KSPSolve(ksp, w, v));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(VecDot(w, v, &a));
  PetscCall(HopsSpaceComputeL2Error(sp, v, U, NULL, &e));
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD, "u.b %.10g, %s\n", (double)a, its > 2 && its < 50 ? "at most 50 iterations" : "MANY ITERATIONS"));
  if (essential) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "error %s\n", e < 1e-4 ? "small" : "LARGE"));
  PetscCall(VecAXPY(v, -1.0, u));
  PetscCall(VecNorm(v, NORM_INFINITY, &e));
  if (essential) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "nodal error %s\n", e < 1e-4 ? "small" : "LARGE"));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Box             box    = {.dim = 2, .p = 4, .cells = {4, 3, 2}};
  PetscInt        nn     = 3;
  PetscBool       spread = PETSC_FALSE, essential = PETSC_FALSE, errors = PETSC_FALSE, forgotten = PETSC_FALSE;
  PetscScalar     a;
  HopsSpace       sp;
  HopsCoefficient kappa, mass;
  Mat             A, B, L;
  Vec             u, v, w;
  KSP             ksp;
  PC              pc;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &box.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &box.p, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-cells", box.cells, &nn, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-spread", &spread, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-essential", &essential, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-forgotten", &forgotten, NULL));
  PetscCall(BoxSetUp(&box));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-errors", &errors, NULL));
  if (errors) {
    PetscCall(Errors(&box));
    PetscCall(PetscFinalize());
    return 0;
  }
  if (forgotten) {
    PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump")); /* what a raised error left half made is not freed */
    PetscCall(Forgotten(&box));
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(Create(&box, spread, essential, &sp));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, box.dim * (box.dim + 1) / 2, TestKappa, NULL, &kappa));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, &mass));
  PetscCall(HopsSpaceCreateVec(sp, &u));
  PetscCall(VecDuplicate(u, &v));
  PetscCall(VecDuplicate(u, &w));
  PetscCall(HopsSpaceInterpolate(sp, U, NULL, u));
  PetscCall(HopsSpaceInterpolate(sp, V, NULL, v));
  PetscCall(VecDot(u, v, &a));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "u.v %.10g\n", (double)a));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(MatPASetMass(A, mass));
  PetscCall(CreateSolver(A, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCLORGetMat(pc, &L));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(Forms(A, u, v, w, "MATPA"));
  PetscCall(Forms(B, u, v, w, "AIJ"));
  PetscCall(Forms(L, u, v, w, "LOR"));
  PetscCall(MatPASetConstants(A, 1.0, 1.0));
  PetscCall(Solve(sp, A, ksp, u, essential));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&mass));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    diff_args: -j

    testset:
      args: -dim 2 -order 6
      output_file: output/arrays_2d.out
      test:
        suffix: 2d
        nsize: {{1 2 4}}
      test:
        suffix: 2d_spread
        nsize: 3
        args: -spread

    test:
      suffix: 2d_essential
      args: -dim 2 -order 6 -essential
      nsize: {{1 2 3 4}}

    testset:
      args: -dim 3 -order 3 -cells 3,2,2
      output_file: output/arrays_3d.out
      test:
        suffix: 3d
        nsize: {{1 4}}
      test:
        suffix: 3d_spread
        nsize: 3
        args: -spread

    test:
      suffix: 3d_essential
      args: -dim 3 -order 5 -cells 3,2,2 -essential
      nsize: {{1 3}}

    test:
      suffix: empty
      args: -dim 3 -order 5 -cells 2,1,1 -essential
      nsize: {{1 3}}

    test:
      suffix: errors
      args: -errors -dim {{2 3}} -order 3 -cells 2,1,1 -malloc_dump 0
      nsize: {{1 2 3}}

    test:
      suffix: forgotten
      args: -forgotten -dim 2 -order 4 -cells 2,1 -malloc_dump 0
      nsize: {{1 3}}

    test:
      suffix: orphan
      args: -dim 2 -order 2 -essential -spread -petsc_ci_portable_error_output
      nsize: 2
      filter: grep -o -m 1 "owned by a rank none of whose cells touch it"

TEST*/
