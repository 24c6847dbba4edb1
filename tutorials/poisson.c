static char help[] = "Solves -div(kappa grad u) + c u = f at high order: matrix-free operator, low-order-refined preconditioner.\n\
  -dm_plex_filename <file>, or -dm_plex_dim <d> -dm_plex_box_faces <n,...>; -dm_refine <n>: quadrilaterals or hexahedra\n\
  -order <p>                                             : polynomial order (default 4)\n\
  -coefficient <constant,variable,tensor,checkerboard>   : kappa\n\
  -reaction <c>                                          : c (default 0)\n\
  -boundary <dirichlet,neumann,robin>                    : condition on the boundary (default dirichlet)\n\
  -dirichlet_values <v,...>                              : Dirichlet there (label 'Face Sets'), -boundary elsewhere\n\
  -exact <bool>                                          : u is known, instead of f = 1 (default if u is given on all the boundary)\n\
  -vtu <file.vtu>                                        : write the solution for ParaView\n\
  -show_times                                            : print the time of each part\n\n";

#include <hops.h>

typedef enum {
  CONSTANT,
  VARIABLE,
  TENSOR,
  CHECKERBOARD
} Kind;
typedef enum {
  DIRICHLET,
  NEUMANN,
  ROBIN
} Boundary;
static const char *const kinds[]      = {"constant", "variable", "tensor", "checkerboard", "Kind", "", NULL};
static const char *const boundaries[] = {"dirichlet", "neumann", "robin", "Boundary", "", NULL};

typedef struct {
  Kind      kind;
  PetscReal reaction;
} Problem;

/* u = sin(a.x + 0.3); kappa = k K where k = 1 or 1 + |x|^2 / 2, and K is the identity or this matrix */
static const PetscReal a[3]    = {3.0, 2.0, 1.0};
static const PetscReal K[3][3] = {{1.0, 0.3, 0.2}, {0.3, 2.0, 0.4}, {0.2, 0.4, 3.0}};

static PetscErrorCode Kappa(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar kappa[], void *ctx)
{
  const PetscReal k = ((Problem *)ctx)->kind == CONSTANT ? 1.0 : 1.0 + 0.5 * (x[0] * x[0] + x[1] * x[1] + (dim > 2 ? x[2] * x[2] : 0.0));

  kappa[0] = k;
  for (PetscInt i = 0, n = 0; i < dim && nc > 1; ++i)
    for (PetscInt j = i; j < dim; ++j) kappa[n++] = k * K[i][j];
  return 0;
}

static PetscErrorCode Exact(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(a[0] * x[0] + a[1] * x[1] + (dim > 2 ? a[2] * x[2] : 0.0) + 0.3);
  return 0;
}

/* f = (k a.Ka + c) sin(a.x + 0.3) - grad k.Ka cos(a.x + 0.3), and grad k = x where k varies */
static PetscErrorCode ExactSource(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  Problem  *p = (Problem *)ctx;
  PetscReal k, ax = 0.3, aKa = 0.0, xKa = 0.0;

  for (PetscInt i = 0; i < dim; ++i) {
    ax += a[i] * x[i];
    for (PetscInt j = 0; j < dim; ++j) {
      const PetscReal Ka = (p->kind == TENSOR ? K[i][j] : (PetscReal)(i == j)) * a[j];

      aKa += a[i] * Ka;
      xKa += x[i] * Ka;
    }
  }
  PetscCall(Kappa(dim, x, 1, &k, ctx));
  f[0] = (k * aKa + p->reaction) * PetscSinReal(ax) - (p->kind == CONSTANT ? 0.0 : xKa) * PetscCosReal(ax);
  return 0;
}

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  f[0] = 1.0;
  return 0;
}

/* 1 or 1000 on each cell, by the parity of the cube of side 1/2 that holds the mean of the cell's nodes */
static PetscErrorCode CreateCheckerboard(HopsSpace space, DM dm, HopsCoefficient *kappa)
{
  PetscInt     dim, cStart, cEnd, n;
  PetscScalar *values, *x;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  PetscCall(PetscMalloc1(cEnd - cStart, &values));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    const PetscScalar *array;
    PetscReal          mean[3] = {0.0, 0.0, 0.0};
    PetscBool          isdg;

    PetscCall(DMPlexGetCellCoordinates(dm, c, &isdg, &n, &array, &x));
    for (PetscInt i = 0; i < n; ++i) mean[i % dim] += x[i] * dim / n;
    values[c - cStart] = (PetscInt)(PetscFloorReal(2.0 * mean[0]) + PetscFloorReal(2.0 * mean[1]) + PetscFloorReal(2.0 * mean[2])) % 2 ? 1000.0 : 1.0;
    PetscCall(DMPlexRestoreCellCoordinates(dm, c, &isdg, &n, &array, &x));
  }
  PetscCall(HopsCoefficientCreateCell(space, 1, values, kappa));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintTimes(void)
{
  const char *const parts[] = {"HopsSpaceSetUp", "space", "MatPASetUp", "operator set-up", "PCLORSymbolic", "LOR pattern", "PCLORNumeric", "LOR assembly", "PCLORSolverSetUp", "AMG set-up", "KSPSolve", "solve", "MatPAMult", "operator apply", "PCApply", "V-cycle"};

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 16; i += 2) {
    PetscLogEvent      event;
    PetscEventPerfInfo info;

    PetscCall(PetscLogEventGetId(parts[i], &event));
    PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-15s %9.4f s, calls: %d\n", parts[i + 1], info.time, info.count));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem         problem  = {CONSTANT, 0.0};
  Boundary        boundary = DIRICHLET;
  PetscInt        order = 4, dim, nv = 16, values[16] = {1}, n, its, *cells, *faces;
  PetscBool       some, exact, singular, times        = PETSC_FALSE;
  PetscReal       error;
  PetscScalar     one                     = 1.0;
  char            vtu[PETSC_MAX_PATH_LEN] = "";
  DM              dm;
  DMLabel         label;
  HopsSpace       space;
  HopsCoefficient kappa, c, r;
  Mat             A;
  Vec             x, b;
  KSP             ksp;
  PC              pc;
  MatNullSpace    constants;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-coefficient", kinds, (PetscEnum *)&problem.kind, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-reaction", &problem.reaction, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-boundary", boundaries, (PetscEnum *)&boundary, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-dirichlet_values", values, &nv, &some));
  exact    = (boundary == DIRICHLET && !some && problem.kind != CHECKERBOARD) ? PETSC_TRUE : PETSC_FALSE;
  singular = (boundary == NEUMANN && !some && problem.reaction == 0.0) ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-exact", &exact, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-vtu", vtu, sizeof(vtu), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-show_times", &times, NULL));
  if (times) PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscOptionsInsertString(NULL, "-dm_plex_simplex 0 -dm_plex_boundary_label boundary")); /* marked before the mesh is distributed */
  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  PetscCall(DMSetType(dm, DMPLEX));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetLabel(dm, some ? "Face Sets" : "boundary", &label));
  PetscCall(HopsSpaceCreateH1(dm, order, label, some ? nv : boundary == DIRICHLET, values, &space));
  if (exact) PetscCall(HopsSpaceSetEssentialFunction(space, Exact, NULL));

  PetscCall(MatCreatePA(space, &A));
  if (problem.kind == CHECKERBOARD) PetscCall(CreateCheckerboard(space, dm, &kappa));
  else PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, problem.kind == TENSOR ? dim * (dim + 1) / 2 : 1, Kappa, &problem, &kappa));
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &problem.reaction, &c));
  if (problem.reaction != 0.0) PetscCall(MatPASetMass(A, c));
  if (boundary == ROBIN) {
    PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &r));
    PetscCall(DMGetLabel(dm, "boundary", &label));
    PetscCall(HopsSpaceGetLabelFaces(space, label, 1, &n, &cells, &faces));
    PetscCall(MatPAAddRobin(A, n, cells, faces, r));
    PetscCall(HopsCoefficientDestroy(&r));
    PetscCall(PetscFree(cells));
    PetscCall(PetscFree(faces));
  }

  PetscCall(HopsSpaceCreateVec(space, &x));
  PetscCall(VecDuplicate(x, &b));
  if (singular) { /* constants are in the null space; b = A u has no part there */
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
    PetscCall(MatSetNullSpace(A, constants));
    PetscCall(MatNullSpaceDestroy(&constants));
    PetscCall(HopsSpaceInterpolate(space, Exact, NULL, x));
    PetscCall(MatMult(A, x, b));
  } else {
    PetscCall(HopsSpaceComputeRHS(space, exact ? ExactSource : One, &problem, b));
    PetscCall(MatPALiftEssential(A, b));
  }
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NATURAL));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));

  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(VecGetSize(x, &n));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ", unknowns %" PetscInt_FMT ", iterations %" PetscInt_FMT "\n", order, n, its));
  PetscCall(HopsSpaceComputeL2Error(space, x, Exact, NULL, &error));
  if (exact) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "L2 error %.1e\n", (double)error));
  if (times) PetscCall(PrintTimes());
  if (vtu[0]) PetscCall(HopsSpaceViewVTU(space, x, "u", vtu));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(HopsSpaceDestroy(&space));
  PetscCall(DMDestroy(&dm));
  return PetscFinalize();
}
