static char help[] = "Solves -div(kappa grad u) + c u = f at high order: matrix-free operator, low-order-refined preconditioner.\n\
  -dm_plex_filename <file>, or -dm_plex_dim <d> -dm_plex_box_faces <n,...>; -dm_refine <n>: quadrilaterals or hexahedra\n\
  -box <nx,ny[,nz]> in place of a mesh: a box whose cells are given by arrays, as a code without a DM has them\n\
  -order <p>                                             : polynomial order (default 4)\n\
  -coefficient <constant,variable,tensor,checkerboard>   : kappa\n\
  -reaction <c>                                          : c (default 0)\n\
  -boundary <dirichlet,neumann,robin>                    : condition on 'Face Sets' 1 to 16 (default dirichlet)\n\
  -dirichlet_values <v,...>                              : 'Face Sets' with Dirichlet conditions whatever -boundary says\n\
  -exact <bool>                                          : false: f = 1 instead of a known solution (Dirichlet alone has one)\n\
  -vtu <file.vtu>, -show_times                           : write the solution for ParaView, print the time of each part\n\n";

#include "box.h"
#include "tutorial.h"
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
  PetscBool exact;
} Problem;

/* u = sin(a.x + 0.3); kappa = k K where k = 1 or 1 + |x|^2 / 2, and K is the identity or this matrix */
static const PetscReal a[3]    = {3.0, 2.0, 1.0};
static const PetscReal K[3][3] = {{1.0, 0.3, 0.2}, {0.3, 2.0, 0.4}, {0.2, 0.4, 3.0}};

static PetscErrorCode Kappa(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar kappa[], void *ctx)
{
  const PetscReal k =
    ((Problem *)ctx)->kind == CONSTANT ? 1.0 : 1.0 + 0.5 * (x[0] * x[0] + x[1] * x[1] + (dim > 2 ? x[2] * x[2] : 0.0));

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

/* f = 1, or for that u: f = (k a.Ka + c) sin(a.x + 0.3) - grad k.Ka cos(a.x + 0.3), where grad k is x unless
   k is constant */
static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  Problem    *p = (Problem *)ctx;
  PetscScalar k;
  PetscReal   ax = 0.3, aKa = 0.0, xKa = 0.0;

  for (PetscInt i = 0; i < dim; ++i) {
    ax += a[i] * x[i];
    for (PetscInt j = 0; j < dim; ++j) {
      const PetscReal Ka = (p->kind == TENSOR ? K[i][j] : (PetscReal)(i == j)) * a[j];

      aKa += a[i] * Ka;
      xKa += x[i] * Ka;
    }
  }
  PetscCall(Kappa(dim, x, 1, &k, ctx));
  f[0] = p->exact ? (k * aKa + p->reaction) * PetscSinReal(ax) - (p->kind == CONSTANT ? 0.0 : xKa) * PetscCosReal(ax) : 1.0;
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
    for (PetscInt i = 0; i < n; ++i) mean[i % dim] += PetscRealPart(x[i]) * dim / n;
    values[c - cStart] =
      (PetscInt)(PetscFloorReal(2.0 * mean[0]) + PetscFloorReal(2.0 * mean[1]) + PetscFloorReal(2.0 * mean[2])) % 2 ? 1000.0 : 1.0;
    PetscCall(DMPlexRestoreCellCoordinates(dm, c, &isdg, &n, &array, &x));
  }
  PetscCall(HopsCoefficientCreateCell(space, 1, values, kappa));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(0);
}

/* n.kappa grad u + u = 0 on 'Face Sets' 1 to 16 */
static PetscErrorCode AddRobin(HopsSpace space, DMLabel label, Mat A)
{
  const PetscScalar one = 1.0;
  PetscInt          n, *cells, *faces;
  HopsCoefficient   alpha;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &alpha));
  for (PetscInt v = 1; v <= 16; ++v) {
    PetscCall(HopsSpaceGetLabelFaces(space, label, v, &n, &cells, &faces));
    PetscCall(MatPAAddRobin(A, n, cells, faces, alpha));
    PetscCall(PetscFree(cells));
    PetscCall(PetscFree(faces));
  }
  PetscCall(HopsCoefficientDestroy(&alpha));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem         problem  = {CONSTANT, 0.0, PETSC_TRUE};
  Boundary        boundary = DIRICHLET;
  PetscInt        order = 4, dim, nv    = 16, values[16], n, its, sum;
  PetscBool       some, singular, times = PETSC_FALSE;
  PetscReal       error;
  char            vtu[PETSC_MAX_PATH_LEN] = "";
  DM              dm                      = NULL;
  DMLabel         label                   = NULL;
  HopsSpace       space;
  HopsCoefficient kappa, c;
  Mat             A;
  MatNullSpace    constants;
  Vec             x, b;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-coefficient", kinds, (PetscEnum *)&problem.kind, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-reaction", &problem.reaction, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-boundary", boundaries, (PetscEnum *)&boundary, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-dirichlet_values", values, &nv, &some));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-exact", &problem.exact, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-vtu", vtu, sizeof(vtu), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-show_times", &times, NULL));
  if (boundary != DIRICHLET || some || problem.kind == CHECKERBOARD) problem.exact = PETSC_FALSE;
  singular = (boundary == NEUMANN && !some && problem.reaction == 0.0) ? PETSC_TRUE : PETSC_FALSE;
  if (times) PetscCall(PetscLogDefaultBegin());
  for (PetscInt v = 0; v < 16 && boundary == DIRICHLET && !some; ++v) values[nv++] = v + 1;
  PetscCall(CreateBoxSpace(HOPS_H1, order, boundary == DIRICHLET ? PETSC_TRUE : PETSC_FALSE, &space));
  PetscCheck(!space || (boundary != ROBIN && !some && problem.kind != CHECKERBOARD), PETSC_COMM_WORLD, PETSC_ERR_USER,
             "A box of arrays has no labels: leave out -box, or -boundary robin, -dirichlet_values and -coefficient checkerboard");
  if (!space) {
    PetscCall(CreateMesh(&dm));
    PetscCall(DMGetLabel(dm, "Face Sets", &label));
    PetscCheck(label || (!nv && boundary != ROBIN), PETSC_COMM_WORLD, PETSC_ERR_USER,
               "The mesh has no label 'Face Sets': give its boundary physical groups, or use -boundary neumann");
    PetscCall(HopsSpaceCreateH1(dm, order, label, nv, values, &space));
  }
  PetscCall(HopsSpaceGetDimension(space, &dim));
  PetscCall(HopsSpaceSetDeviceContext(space, &problem, sizeof(problem))); /* for -hops_pointwise_source poisson.c */
  if (problem.exact) PetscCall(HopsSpaceSetEssentialFunction(space, Exact, NULL));

  PetscCall(MatCreatePA(space, &A));
  if (problem.kind == CHECKERBOARD) PetscCall(CreateCheckerboard(space, dm, &kappa));
  else {
    PetscCall(
      HopsCoefficientCreateFunction(PETSC_COMM_WORLD, problem.kind == TENSOR ? dim * (dim + 1) / 2 : 1, Kappa, &problem, &kappa));
    PetscCall(HopsCoefficientSetDeviceContext(kappa, sizeof(problem)));
  }
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &(PetscScalar){problem.reaction}, &c));
  if (problem.reaction != 0.0) PetscCall(MatPASetMass(A, c));
  if (boundary == ROBIN) PetscCall(AddRobin(space, label, A));
  PetscCall(HopsSpaceCreateVec(space, &x));
  PetscCall(VecDuplicate(x, &b));
  if (singular) { /* constants are in the null space; b = A u has no part there */
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
    PetscCall(MatSetNullSpace(A, constants));
    PetscCall(MatNullSpaceDestroy(&constants));
    PetscCall(HopsSpaceInterpolate(space, Exact, NULL, x));
    PetscCall(MatMult(A, x, b));
  } else PetscCall(HopsSpaceComputeRHS(space, Source, &problem, b));
  PetscCall(MatPALiftEssential(A, b));

  PetscCall(Solve(A, b, x, &its));
  PetscCall(VecGetSize(x, &n));
  PetscCall(HopsSpaceGetNumCells(space, &sum));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "order %" PetscInt_FMT ", cells %" PetscInt_FMT ", unknowns %" PetscInt_FMT ", iterations %" PetscInt_FMT
                        "\n",
                        order, sum, n, its));
  PetscCall(HopsSpaceComputeL2Error(space, x, Exact, NULL, &error));
  if (problem.exact) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "L2 error %.1e\n", error));
  if (times) PetscCall(PrintTimes("AMG"));
  if (vtu[0]) PetscCall(HopsSpaceViewVTU(space, x, "u", vtu));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&space));
  PetscCall(DMDestroy(&dm));
  return PetscFinalize();
}

/*TEST

  testset:
    filter: sed -e "s/, iterations [0-9]*$//"
    diff_args: -j
    test:
      suffix: plate
      nsize: {{1 3}}
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/plate.msh -order 5 -coefficient variable
    test:
      suffix: plate_element
      nsize: {{1 2}}
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/plate.msh -order 4 -pc_type patchfd -pc_patchfd_patch element -ksp_type cg -ksp_max_it 40
    test:
      suffix: solid
      nsize: 2
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/solid.msh -order 3 -coefficient tensor -reaction 2 -vtu solution.vtu
    test:
      suffix: elbow
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/elbow.msh -order 6 -ksp_max_it 50
    test:
      suffix: mixed
      nsize: 2
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/elbow.msh -boundary robin -dirichlet_values 1,2 -ksp_max_it 50
    test:
      suffix: neumann
      nsize: 2
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/fichera.msh -boundary neumann -ksp_max_it 50
    test:
      suffix: box
      nsize: {{1 2 4}}
      args: -box 3,2,3 -order 3 -coefficient variable -ksp_max_it 50
    test:
      suffix: box_labels
      args: -box 3,2,3 -boundary robin -petsc_ci_portable_error_output -error_output_stdout
      filter: grep -o "A box of arrays.*"
    test:
      suffix: checkerboard
      nsize: 2
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -dm_refine 1 -coefficient checkerboard -ksp_max_it 50
    test:
      suffix: gpu
      requires: cuda
      args: -dm_plex_dim 3 -dm_plex_box_faces 6,6,6 -order 4 -hops_backend cuda -pc_lor_mat_type {{aij hypre aijcusparse}} -use_gpu_aware_mpi 0
    test:
      suffix: gpu_source
      requires: cuda nvrtc
      args: -dm_plex_dim 3 -dm_plex_box_faces 6,6,6 -order 4 -hops_backend cuda -coefficient {{variable tensor}} -use_gpu_aware_mpi 0
        -hops_pointwise_source ${HOPS_SOURCE}/tutorials/poisson.c

TEST*/
