static char help[] = "Bad input raises a PETSc error that names the remedy.\n\n";

#include "hopsexpect.h"
#include <petscfe.h>
#include <petscds.h>
#include <math.h>

/* quadrilaterals or hexahedra; or two triangles or a tetrahedron */
static PetscErrorCode BoxMesh(PetscInt dim, PetscBool simplex, DM *dm)
{
  const PetscInt  faces[3] = {2, 2, 2}, cells[6] = {0, 1, 2, 1, 3, 2}, cell[4] = {0, 1, 2, 3};
  const PetscReal x2[8] = {0, 0, 1, 0, 0, 1, 1, 1}, x3[12] = {0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1};

  PetscFunctionBeginUser;
  if (!simplex) PetscCall(HopsDMPlexCreateBox(PETSC_COMM_WORLD, dim, simplex, faces, dm));
  else if (dim == 2) PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_WORLD, 2, 2, 4, 3, PETSC_TRUE, cells, 2, x2, dm));
  else PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_WORLD, 3, 1, 4, 4, PETSC_TRUE, cell, 3, x3, dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddFE(DM dm, PetscInt nc, PetscInt order, PetscBool simplex)
{
  PetscFE  fe;
  PetscInt dim;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscFECreateLagrange(PETSC_COMM_SELF, dim, nc, simplex, order, PETSC_DETERMINE, &fe));
  PetscCall(DMAddField(dm, NULL, (PetscObject)fe));
  PetscCall(DMCreateDS(dm));
  PetscCall(PetscFEDestroy(&fe));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NaNValue(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar k[], void *ctx)
{
  k[0] = x[0] > 0.6 ? NAN : 1.0;
  return PETSC_SUCCESS;
}

static PetscErrorCode Meshes(void)
{
  DM              dm;
  HopsSpace       sp          = NULL;
  const PetscReal quad[12]    = {0, 0, 1, 0, 2, 0, 0, 1, 1, 1, 2, 1};
  const PetscInt  inverted[8] = {0, 1, 4, 3, 1, 4, 5, 2}, square[4] = {0, 1, 3, 2};

  PetscFunctionBeginUser;
  PetscCall(BoxMesh(2, PETSC_TRUE, &dm));
  EXPECT("triangles", HopsSpaceCreateH1(dm, 2, NULL, 0, NULL, &sp), "not a quadrilateral|-dm_plex_simplex 0");
  PetscCall(AddFE(dm, 1, 2, PETSC_TRUE));
  EXPECT("triangles with a PetscFE", HopsSpaceCreateFromDM(dm, &sp), "not a quadrilateral|-dm_plex_simplex 0");
  PetscCall(DMDestroy(&dm));
  PetscCall(BoxMesh(3, PETSC_TRUE, &dm));
  EXPECT("tetrahedra", HopsSpaceCreateH1(dm, 2, NULL, 0, NULL, &sp), "not a hexahedron");
  PetscCall(DMDestroy(&dm));
  PetscCall(BoxMesh(2, PETSC_FALSE, &dm));
  EXPECT("order 0", HopsSpaceCreateH1(dm, 0, NULL, 0, NULL, &sp), "at least 1");
  EXPECT("order 100", HopsSpaceCreateH1(dm, 100, NULL, 0, NULL, &sp), "above 64");
  EXPECT("no field", HopsSpaceCreateFromDM(dm, &sp), "0 fields");
  PetscCall(AddFE(dm, 1, 0, PETSC_FALSE));
  EXPECT("PetscFE of order 0", HopsSpaceCreateFromDM(dm, &sp), "order 0|-petscspace_degree");
  PetscCall(AddFE(dm, 1, 1, PETSC_FALSE));
  EXPECT("two fields", HopsSpaceCreateFromDM(dm, &sp), "2 fields|PCFIELDSPLIT");
  PetscCall(DMDestroy(&dm));
  PetscCall(BoxMesh(2, PETSC_FALSE, &dm));
  PetscCall(AddFE(dm, 2, 2, PETSC_FALSE));
  EXPECT("two components", HopsSpaceCreateFromDM(dm, &sp), "2 components|PCFIELDSPLIT");
  PetscCall(DMDestroy(&dm));
  PetscCall(BoxMesh(2, PETSC_FALSE, &dm));
  {
    PetscFE fe;

    PetscCall(PetscOptionsSetValue(NULL, "-e_petscspace_degree", "3"));
    PetscCall(PetscOptionsSetValue(NULL, "-e_petscdualspace_lagrange_node_type", "equispaced"));
    PetscCall(PetscOptionsSetValue(NULL, "-e_petscdualspace_lagrange_node_endpoints", "1"));
    PetscCall(PetscFECreateDefault(PETSC_COMM_SELF, 2, 1, PETSC_FALSE, "e_", PETSC_DETERMINE, &fe));
    PetscCall(DMAddField(dm, NULL, (PetscObject)fe));
    PetscCall(DMCreateDS(dm));
    PetscCall(PetscFEDestroy(&fe));
    EXPECT("equispaced nodes", HopsSpaceCreateFromDM(dm, &sp), "Gauss-Lobatto-Legendre|node_type");
  }
  PetscCall(DMDestroy(&dm));
  PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_SELF, 2, 1, 4, 4, PETSC_TRUE, square, 2, quad, &dm));
  PetscCall(DMSetCoordinates(dm, NULL));
  PetscCall(DMSetCoordinatesLocal(dm, NULL));
  EXPECT("no coordinates", HopsSpaceCreateH1(dm, 2, NULL, 0, NULL, &sp), "no coordinates|DMSetCoordinatesLocal()");
  EXPECT("no coordinates, H(curl)", HopsSpaceCreateHCurl(dm, 2, NULL, 0, NULL, &sp), "no coordinates|DMSetCoordinatesLocal()");
  PetscCall(DMDestroy(&dm));
  EXPECT("missing mesh file", DMPlexCreateFromFile(PETSC_COMM_WORLD, "no-such-mesh.msh", "mesh", PETSC_TRUE, &dm), "no-such-mesh");
  PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_SELF, 2, 2, 6, 4, PETSC_TRUE, inverted, 2, quad, &dm));
  {
    Mat             A;
    Vec             x, y;
    PC              pc;
    PetscScalar     one = 1.0;
    HopsCoefficient c;

    PetscCall(HopsSpaceCreateH1(dm, 2, NULL, 0, NULL, &sp));
    PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &one, &c));
    PetscCall(MatCreatePA(sp, &A));
    PetscCall(MatPASetDiffusion(A, c));
    PetscCall(MatCreateVecs(A, &x, &y));
    EXPECT("inverted cell, operator", MatMult(A, x, y), "cell 1|inverted|repair");
    PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
    PetscCall(PCSetType(pc, PCLOR));
    PetscCall(PCSetOperators(pc, A, A));
    EXPECT("inverted cell, preconditioner", PCSetUp(pc), "cell 1|inverted|repair");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Identity(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[],
                     const PetscScalar u[], const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[],
                     const PetscInt aOff_x[], const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t,
                     PetscReal shift, const PetscReal x[], PetscInt nc, const PetscScalar c[], PetscScalar g[])
{
  for (PetscInt d = 0; d < dim; ++d) g[d * dim + d] = 1.0;
}

/* What changes PETSc's assembly of a PetscDS beside its functions */
static PetscErrorCode Assembly(void)
{
  for (PetscInt k = 0; k < 4; ++k) {
    DM           dm;
    PetscDS      ds;
    HopsSpace    sp;
    Mat          A;
    Vec          x, y;
    PetscObject  fe;
    PetscSection anchors;
    IS           to;
    PetscInt     vStart, vEnd, last;

    PetscFunctionBeginUser;
    PetscCall(BoxMesh(2, PETSC_FALSE, &dm));
    PetscCall(AddFE(dm, 1, 2, PETSC_FALSE));
    PetscCall(DMGetDS(dm, &ds));
    PetscCall(PetscDSSetJacobian(ds, 0, 0, NULL, NULL, NULL, Identity));
    if (k == 0) {
      PetscQuadrature conical;

      PetscCall(DMGetField(dm, 0, NULL, &fe));
      PetscCall(PetscDTStroudConicalQuadrature(2, 1, 3, -1.0, 1.0, &conical));
      PetscCall(PetscFESetQuadrature((PetscFE)fe, conical));
      PetscCall(PetscQuadratureDestroy(&conical));
    }
    if (k == 1) PetscCall(PetscDSSetJetDegree(ds, 0, 2));
    if (k == 2) PetscCall(DMPlexSetClosurePermutationTensor(dm, PETSC_DETERMINE, NULL));
    PetscCall(HopsSpaceCreateFromDM(dm, &sp));
    PetscCall(MatCreatePA(sp, &A));
    if (k == 3) { /* on a mesh whose first vertex hangs on the last */
      PetscCall(DMPlexGetDepthStratum(dm, 0, &vStart, &vEnd));
      last = vEnd - 1;
      PetscCall(PetscSectionCreate(PETSC_COMM_WORLD, &anchors));
      PetscCall(PetscSectionSetChart(anchors, vStart, vStart + 1));
      PetscCall(PetscSectionSetDof(anchors, vStart, 1));
      PetscCall(PetscSectionSetUp(anchors));
      PetscCall(ISCreateGeneral(PETSC_COMM_SELF, 1, &last, PETSC_COPY_VALUES, &to));
      PetscCall(DMPlexSetAnchors(dm, anchors, to));
    }
    if (k == 0) {
      PetscCall(MatPASetFromDS(A, dm));
      PetscCall(MatCreateVecs(A, &x, &y));
      EXPECT("conical quadrature", MatMult(A, x, y), "no tensor product|9 points|PetscFESetQuadrature()|-mat_pa_q_1d");
    }
    if (k == 1) EXPECT("second derivatives", MatPASetFromDS(A, dm), "PetscDSSetJetDegree()|-dm_mat_type pa");
    if (k == 2) EXPECT("permuted closures", MatPASetFromDS(A, dm), "DMPlexSetClosurePermutationTensor()|clone");
    if (k == 3) EXPECT("anchors", MatPASetFromDS(A, dm), "DMPlexSetAnchors()|conforming");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Operators(void)
{
  DM                dm;
  HopsSpace         sp, small;
  HopsCoefficient   c, bad;
  Mat               A, B;
  Vec               x, y;
  PC                pc;
  KSP               ksp;
  const PetscScalar v[4] = {1.0, 1.0, 1.0, 1.0}, nan = NAN;
  PetscInt          zero = 0;

  PetscFunctionBeginUser;
  PetscCall(BoxMesh(2, PETSC_FALSE, &dm));
  PetscCall(HopsSpaceCreateH1(dm, 3, NULL, 0, NULL, &sp));
  PetscCall(HopsSpaceCreateH1(dm, 2, NULL, 0, NULL, &small));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, v, &c));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  EXPECT("no terms", MatMult(A, x, y), "no terms|MatPASetDiffusion");
  EXPECT("constant NaN", HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &nan, &bad), "not-a-number");
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, NaNValue, NULL, &bad));
  PetscCall(MatPASetDiffusion(A, bad));
  EXPECT("NaN at quadrature points", MatMult(A, x, y), "not-a-number|cell");
  PetscCall(MatPASetDiffusion(A, c));
  EXPECT("components", HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 5, v, &bad), "not 5");
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 4, v, &bad));
  EXPECT("components of a diffusion", MatPASetDiffusion(A, bad), "2D|not 4");
  EXPECT("components of a mass", MatPASetMass(A, bad), "scalar");
  EXPECT("no such face", MatPAAddRobin(A, 1, &zero, &(PetscInt){7}, c), "no face 7");
  EXPECT("quadrature points", MatPASetQuadrature(A, -1, PETSC_FALSE), "negative");
  PetscCall(MatPASetQuadrature(A, 7, PETSC_TRUE));
  EXPECT("quadrature of the wrong size", MatMult(A, x, y), "-mat_pa_quadrature gauss");
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, c));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCLORSetSpace(pc, small));
  EXPECT("space and matrix of different size", PCSetUp(pc), "49 rows|25 unknowns");
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, B, B));
  EXPECT("no space", PCSetUp(pc), "no finite element space|KSPSetDM|PCLORSetSpace");
  PetscCall(PCLORSetSpace(pc, sp));
  EXPECT("no form", PCSetUp(pc), "no form|PCLORSetCoefficients");
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(AddFE(dm, 1, 2, PETSC_FALSE));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(HopsKSPSetDMInactive(ksp));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCLORSetCoefficients(pc, c, NULL));
  EXPECT("DM and matrix of different size", PCSetUp(pc), "49 rows|25 unknowns|KSPSetDM");
  PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", "abacus"));
  EXPECT("back end", HopsSpaceCreateH1(dm, 2, NULL, 0, NULL, &small), "abacus|host");
  PetscCall(PetscOptionsClearValue(NULL, "-hops_backend"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Arrays(void)
{
  const PetscInt  nodes[4] = {0, 1, 2, 9}, ess[1] = {12}, good[4] = {0, 1, 2, 3};
  const PetscReal x[8] = {0, 0, 1, 0, 0, 1, 1, 1};
  HopsSpace       sp;

  PetscFunctionBeginUser;
  EXPECT("dimension", HopsSpaceCreateFromArrays(PETSC_COMM_SELF, 4, 1, 1, 4, good, x, 0, NULL, &sp), "2 or 3");
  EXPECT("node out of range", HopsSpaceCreateFromArrays(PETSC_COMM_SELF, 2, 1, 1, 4, nodes, x, 0, NULL, &sp), "index 9");
  EXPECT("essential unknown out of range", HopsSpaceCreateFromArrays(PETSC_COMM_SELF, 2, 1, 1, 4, good, x, 1, ess, &sp), "12");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a build without CUDA says how to get it */
static PetscErrorCode NoCUDA(void)
{
  const PetscInt  nodes[4] = {0, 1, 2, 3};
  const PetscReal x[8]     = {0, 0, 1, 0, 0, 1, 1, 1};
  HopsSpace       sp;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-hops_backend", "cuda"));
  EXPECT("back end of another build", HopsSpaceCreateFromArrays(PETSC_COMM_SELF, 2, 1, 1, 4, nodes, x, 0, NULL, &sp), "--with-cuda|-hops_backend host");
  PetscCall(PetscOptionsClearValue(NULL, "-hops_backend"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* objects that a raised error left half made are not freed: this test runs without -malloc_dump */
int main(int argc, char **argv)
{
  PetscBool nocuda = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump"));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-no_cuda", &nocuda, NULL));
  if (nocuda) {
    PetscCall(NoCUDA());
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(Meshes());
  PetscCall(Assembly());
  PetscCall(Operators());
  PetscCall(Arrays());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    args: -malloc_dump 0

  test:
    suffix: no_cuda
    requires: !defined(PETSC_HAVE_CUDA)
    args: -no_cuda -malloc_dump 0

TEST*/
