static char help[] =
  "Solves -grad(mu div u) + beta u = f in H(div): matrix-free operator, low-order-refined preconditioner with ADS (in 2D, AMS).\n\
  -dm_plex_filename <file>, or -dm_plex_dim <d> -dm_plex_box_faces <n,...>; -dm_refine <n>: quadrilaterals or hexahedra\n\
  -box <nx,ny[,nz]> in place of a mesh: a box whose cells are given by arrays, as a code without a DM has them\n\
  -order <p>                        : order, 1 for the lowest Raviart-Thomas element (default 3)\n\
  -coefficient <constant,variable>  : mu = 1, or 1 + |x|^2 / 2\n\
  -beta <b>                         : beta (default 1)\n\
  -boundary <essential,natural>     : the normal component is given on 'Face Sets' 1 to 16, or mu div u = 0 there\n\
  -exact <bool>                     : false: f = (1, 1, 1) instead of a known solution, and essential values of zero\n\
  -vtu <file.vtu>, -show_times      : write the solution for ParaView, print the time of each part\n\n";

#include "box.h"
#include "tutorial.h"
typedef enum {
  CONSTANT,
  VARIABLE
} Kind;
typedef enum {
  ESSENTIAL,
  NATURAL
} Boundary;
static const char *const kinds[]      = {"constant", "variable", "Kind", "", NULL};
static const char *const boundaries[] = {"essential", "natural", "Boundary", "", NULL};

typedef struct {
  Kind      kind;
  PetscReal beta;
  PetscBool exact;
} Problem;

static PetscErrorCode Mu(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar mu[], void *ctx)
{
  mu[0] = ((Problem *)ctx)->kind == CONSTANT ? 1.0 : 1.0 + 0.5 * (x[0] * x[0] + x[1] * x[1] + (dim > 2 ? x[2] * x[2] : 0.0));
  return 0;
}

/* u_i = cos(k x_i) sin(k x_{i+1}) with k = 2; div u = -k sum_i sin(k x_i) sin(k x_{i+1}) */
static const PetscReal k = 2.0;

static PetscErrorCode Exact(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < dim; ++i) u[i] = PetscCosReal(k * x[i]) * PetscSinReal(k * x[(i + 1) % dim]);
  return 0;
}

static PetscErrorCode ExactDiv(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar d[], void *ctx)
{
  d[0] = 0.0;
  for (PetscInt i = 0; i < dim; ++i) d[0] -= k * PetscSinReal(k * x[i]) * PetscSinReal(k * x[(i + 1) % dim]);
  return 0;
}

/* f = -mu grad div u - grad mu div u + beta u, where grad mu is x unless mu is constant */
static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  Problem    *p = (Problem *)ctx;
  PetscScalar mu, u[3], div;

  PetscCall(Mu(dim, x, 1, &mu, ctx));
  PetscCall(Exact(dim, x, dim, u, NULL));
  PetscCall(ExactDiv(dim, x, 1, &div, NULL));
  for (PetscInt i = 0; i < dim; ++i) {
    const PetscInt  next = (i + 1) % dim, last = (i + dim - 1) % dim;
    const PetscReal grad = -k * k * PetscCosReal(k * x[i]) * (PetscSinReal(k * x[next]) + PetscSinReal(k * x[last]));

    f[i] = p->exact ? -mu * grad - (p->kind == CONSTANT ? 0.0 : x[i] * div) + p->beta * u[i] : 1.0;
  }
  return 0;
}

int main(int argc, char **argv)
{
  Problem         problem  = {CONSTANT, 1.0, PETSC_TRUE};
  Boundary        boundary = ESSENTIAL;
  PetscInt        order    = 3, dim, values[16], n, its;
  PetscBool       times    = PETSC_FALSE;
  PetscReal       error, diverror;
  char            vtu[PETSC_MAX_PATH_LEN] = "";
  DM              dm                      = NULL;
  DMLabel         label                   = NULL;
  HopsSpace       space, divs;
  HopsCoefficient mu, beta;
  Mat             A;
  Vec             x, b, d;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-coefficient", kinds, (PetscEnum *)&problem.kind, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-beta", &problem.beta, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-boundary", boundaries, (PetscEnum *)&boundary, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-exact", &problem.exact, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-vtu", vtu, sizeof(vtu), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-show_times", &times, NULL));
  if (boundary == NATURAL) problem.exact = PETSC_FALSE;
  if (times) PetscCall(PetscLogDefaultBegin());
  for (PetscInt v = 0; v < 16; ++v) values[v] = v + 1;
  PetscCall(CreateBoxSpace(HOPS_HDIV, order, boundary == ESSENTIAL ? PETSC_TRUE : PETSC_FALSE, &space));
  if (!space) {
    PetscCall(CreateMesh(&dm));
    PetscCall(DMGetLabel(dm, "Face Sets", &label));
    PetscCheck(label || boundary == NATURAL, PETSC_COMM_WORLD, PETSC_ERR_USER,
               "The mesh has no label 'Face Sets': give its boundary physical groups, or use -boundary natural");
    PetscCall(HopsSpaceCreateHDiv(dm, order, boundary == ESSENTIAL ? label : NULL, 16, values, &space));
  }
  PetscCall(HopsSpaceGetDimension(space, &dim));
  PetscCall(HopsSpaceSetDeviceContext(space, &problem, sizeof(problem))); /* for -hops_pointwise_source graddiv.c */
  if (problem.exact) PetscCall(HopsSpaceSetEssentialFunction(space, Exact, NULL));

  PetscCall(MatCreatePA(space, &A));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, Mu, &problem, &mu));
  PetscCall(HopsCoefficientSetDeviceContext(mu, sizeof(problem)));
  PetscCall(MatPASetDivDiv(A, mu));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &(PetscScalar){problem.beta}, &beta));
  PetscCall(MatPASetMass(A, beta));
  PetscCall(HopsSpaceCreateVec(space, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(HopsSpaceComputeRHS(space, Source, &problem, b));
  PetscCall(MatPALiftEssential(A, b));

  PetscCall(Solve(A, b, x, &its));
  PetscCall(VecGetSize(x, &n));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ", unknowns %" PetscInt_FMT ", iterations %" PetscInt_FMT "\n",
                        order, n, its));
  PetscCall(HopsSpaceCreateCompanion(space, HOPS_L2, PETSC_FALSE, &divs));
  PetscCall(HopsSpaceCreateVec(divs, &d));
  PetscCall(HopsSpaceDifferentiate(space, x, divs, d));
  PetscCall(HopsSpaceComputeL2Error(space, x, Exact, NULL, &error));
  PetscCall(HopsSpaceComputeL2Error(divs, d, ExactDiv, NULL, &diverror));
  if (problem.exact)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "L2 error %.1e, of the divergence %.1e\n", (double)error, (double)diverror));
  if (times) PetscCall(PrintTimes(dim == 3 ? "ADS" : "AMS"));
  if (vtu[0]) PetscCall(HopsSpaceViewVTU(space, x, "u", vtu));
  PetscCall(HopsCoefficientDestroy(&mu));
  PetscCall(HopsCoefficientDestroy(&beta));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&d));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&space));
  PetscCall(HopsSpaceDestroy(&divs));
  PetscCall(DMDestroy(&dm));
  return PetscFinalize();
}

/*TEST

  testset:
    requires: hypre
    args: -ksp_max_it 60
    filter: sed -e "s/, iterations [0-9]*$//"
    diff_args: -j
    test:
      suffix: 2d
      nsize: {{1 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,5 -order 4
    test:
      suffix: box_2d
      nsize: {{1 3}}
      args: -box 4,5 -order 4
    test:
      suffix: box_3d
      nsize: {{1 2 4}}
      args: -box 3,3,3 -order 3 -coefficient variable
    test:
      suffix: plate
      nsize: 2
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/plate.msh -order 4 -coefficient variable
    test:
      suffix: 3d
      nsize: {{1 3}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,3,3 -order 3 -coefficient variable
    test:
      suffix: elbow
      nsize: 2
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/elbow.msh -order 3
    test:
      suffix: solid
      nsize: 2
      args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/solid.msh -order 2
    test:
      suffix: periodic
      nsize: 2
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,3,4 -dm_plex_box_bd periodic,none,periodic -order 2 -exact 0
    test:
      suffix: empty
      nsize: 4
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,1,1 -order 3
    test:
      suffix: natural
      args: -dm_plex_dim 3 -dm_plex_box_faces 3,3,3 -order 3 -boundary natural

TEST*/
