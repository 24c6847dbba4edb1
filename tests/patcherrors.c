static char help[] = "What one rank finds wrong with its patches is the error of all ranks.\n\
  -dim <d> -empty <rank>: that has no cells, and is told by the others\n\n";

#include "hangingcase.h"
#include "hopsexpect.h"

/* coefficients that some cells cannot have: beyond x = 1 */
static PetscErrorCode Negative(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = x[0] > 1.0 ? -1.0 : 1.0;
  return PETSC_SUCCESS;
}

static PetscErrorCode Positive(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = 1.0 + x[0] * x[1];
  return PETSC_SUCCESS;
}

/* no tensor product has its matrix */
static PetscErrorCode Tensor(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscReal k[2][6] = {{3.0, 0.7, 2.0}, {3.0, 0.7, -0.4, 2.0, 0.3, 1.0}};

  for (PetscInt i = 0; i < nc; ++i) u[i] = k[dim - 2][i];
  return PETSC_SUCCESS;
}

typedef struct {
  const char       *name, *words;
  HopsPointFunction diffusion, mass, robin;
  PetscBool         poor, dense; /* one quadrature point, so that matrices are singular; all patches are dense */
} Case;

static PetscErrorCode Coefficient(PetscInt nc, HopsPointFunction f, HopsCoefficient *c)
{
  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, nc, f, NULL, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is there a message on each rank? */
static PetscErrorCode JudgeAll(void)
{
  PetscBool all = message[0] ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &all, 1, HOPS_MPI_BOOL, MPI_LAND, PETSC_COMM_WORLD));
  if (!all) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "NOT on all ranks\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Try(PetscInt dim, PetscInt empty, const Case *t)
{
  const PetscInt  M[3] = {2, 2, 1}, order = 4;
  HopsCoefficient c;
  HangMesh        m;
  HangArrays      a;
  HopsSpace       space;
  Mat             A;
  PC              pc;

  PetscFunctionBeginUser;
  PetscCall(HangCreate(dim, M, PETSC_FALSE, 1, &m));
  m.seed = 1;
  PetscCall(HangAdapt(&m, 0, 1, 0.4, NULL));
  PetscCall(HangList(&m, PETSC_FALSE));
  PetscCall(HangArraysCreate(&m, order, NULL, NULL, empty, &a));
  PetscCall(HangSpace(&m, order, &a, &space));
  PetscCall(MatCreatePA(space, &A));
  if (t->poor) PetscCall(MatPASetQuadrature(A, 1, PETSC_FALSE));
  PetscCall(Coefficient(t->dense ? dim * (dim + 1) / 2 : 1, t->diffusion, &c));
  PetscCall(MatPASetDiffusion(A, c));
  PetscCall(HopsCoefficientDestroy(&c));
  if (t->mass) {
    PetscCall(Coefficient(1, t->mass, &c));
    PetscCall(MatPASetMass(A, c));
    PetscCall(HopsCoefficientDestroy(&c));
  }
  if (t->robin) {
    PetscCall(Coefficient(1, t->robin, &c));
    PetscCall(HangAddRobin(&m, &a, PETSC_TRUE, A, c));
    PetscCall(HopsCoefficientDestroy(&c));
  }
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCPATCHFD));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_patchfd_dense_ratio", t->dense ? "1" : "50"));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_patchfd_condense_max", t->dense ? "0" : "1000"));
  PetscCall(PCSetFromOptions(pc));
  EXPECT(t->name, PCSetUp(pc), t->words);
  PetscCall(JudgeAll());
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&space));
  PetscCall(HangArraysDestroy(&a));
  PetscCall(HangDestroy(&m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* objects that a raised error left half made are not freed: this test runs without -malloc_dump */
int main(int argc, char **argv)
{
  const Case cases[] = {
    {"diffusion", "diffusion coefficient is zero, negative|in cell|-pc_type lor", Negative, NULL, NULL, PETSC_FALSE, PETSC_FALSE},
    {"reaction", "reaction coefficient is negative in cell|without that term", Positive, Negative, NULL, PETSC_FALSE, PETSC_FALSE},
    {"Robin term", "Robin coefficient is negative on a face of cell", Positive, NULL, Negative, PETSC_FALSE, PETSC_FALSE},
    {"quadrature", "1D mass matrix of a patch singular|order + 1", Positive, NULL, NULL, PETSC_TRUE, PETSC_FALSE},
    {"dense patch", "matrix on the patch of|not positive definite", Tensor, NULL, NULL, PETSC_TRUE, PETSC_TRUE},
  };
  PetscInt dim = 2, empty = -1;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump"));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-empty", &empty, NULL));
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) PetscCall(Try(dim, empty, &cases[i]));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  # one rank finds it, the other has no cells
  test:
    nsize: 2
    args: -dim {{2 3}} -empty {{0 1}} -malloc_dump 0

  test:
    suffix: all
    nsize: {{1 2}}
    args: -dim 2 -malloc_dump 0
    output_file: output/patcherrors_1.out

TEST*/
