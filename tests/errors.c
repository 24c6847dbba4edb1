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
  HopsSpace         sp, small, twin;
  HopsCoefficient   c, bad;
  Mat               A, B, C;
  Vec               x, y;
  PC                pc;
  KSP               ksp;
  const PetscScalar v[4] = {1.0, 1.0, 1.0, 1.0}, nan = NAN, none = 0.0;
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
  PetscCall(MatPAAddRobin(A, 1, &zero, &zero, c));
  PetscCall(HopsSpaceCreateH1(dm, 3, NULL, 0, NULL, &twin));
  EXPECT("Robin terms on cells of another space", MatPASetSpace(A, twin), "Robin terms|MatCreatePA()");
  PetscCall(HopsSpaceDestroy(&twin));
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
  EXPECT("no space", PCSetUp(pc), "no finite element space|KSPSetDM|PCLORSetSpace|PCSetType");
  PetscCall(PCLORSetSpace(pc, sp));
  PetscCall(MatCreatePA(sp, &C));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, C, C));
  EXPECT("no terms, preconditioner", PCSetUp(pc), "nothing to precondition|MatPASetDiffusion()|PCLORSetCoefficients()");
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &none, &bad));
  PetscCall(MatPASetDiffusion(C, bad));
  EXPECT("zero diffusion", PCSetUp(pc), "zero in all cells around|mass term");
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  EXPECT("setter of PCLOR before the type", PCLORSetSpace(pc, sp), "PCLORSetSpace()|PCSetType(pc, \"lor\")");
  EXPECT("setter of PCPATCHFD before the type", PCPATCHFDSetOmega(pc, 0.5), "PCPATCHFDSetOmega()|PCSetType(pc, \"patchfd\")");
  EXPECT("setter of PCHOPSMG before the type", PCHopsMGSetLevels(pc, 2), "PCHopsMGSetLevels()|PCSetType(pc, \"hopsmg\")");
  PetscCall(PCSetType(pc, PCJACOBI)); /* a choice that overrules the code's */
  PetscCall(PCLORSetSpace(pc, sp));
  PetscCall(PCPATCHFDSetOmega(pc, 0.5));
  PetscCall(PCHopsMGSetLevels(pc, 2));
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

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt c = 0; c < nc; ++c) u[c] = 1.0;
  return PETSC_SUCCESS;
}

/* Vectors that do not belong to the space: of another size, and of another communicator */
static PetscErrorCode Vectors(HopsSpace sp, HopsSpace curl, Mat A)
{
  const char *const words = "HopsSpaceCreateVec()|MatCreateVecs()";
  const PetscInt    cell  = 0;
  const PetscReal   xi[2] = {0.1, 0.2}, nan[2] = {0.1, NAN}, far[2] = {0.1, 3.0};
  PetscScalar       u[2];
  PetscReal         e;
  Vec               x, g, w;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(HopsSpaceCreateVec(curl, &g));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, 3, PETSC_DETERMINE, &w));
  EXPECT("interpolation into a short vector", HopsSpaceInterpolate(sp, One, NULL, w), words);
  EXPECT("interpolation into H1's vector", HopsSpaceInterpolate(curl, One, NULL, x), words);
  EXPECT("short right-hand side", HopsSpaceComputeRHS(sp, One, NULL, w), words);
  EXPECT("right-hand side of another space", HopsSpaceComputeRHS(curl, One, NULL, x), words);
  EXPECT("error of a short vector", HopsSpaceComputeL2Error(sp, w, One, NULL, &e), words);
  EXPECT("error of another space", HopsSpaceComputeL2Error(curl, x, One, NULL, &e), words);
  EXPECT("file of a short vector", HopsSpaceViewVTU(sp, w, "u", "errors.vtu"), words);
  EXPECT("derivative of a short vector", HopsSpaceDifferentiate(sp, w, curl, g), words);
  EXPECT("derivative into a short vector", HopsSpaceDifferentiate(sp, x, curl, w), words);
  EXPECT("evaluation of a short vector", HopsSpaceEvaluate(sp, w, 1, &cell, xi, u), words);
  EXPECT("lifting into a short vector", MatPALiftEssential(A, w), words);
  EXPECT("point at not-a-number", HopsSpaceEvaluate(sp, x, 1, &cell, nan, u), "outside");
  EXPECT("point outside", HopsSpaceEvaluate(sp, x, 1, &cell, far, u), "outside");
  EXPECT("points without cells", HopsSpaceEvaluate(sp, x, 1, NULL, xi, u), "cells|NULL");
  EXPECT("negative number of points", HopsSpaceEvaluate(sp, x, -1, &cell, xi, u), "negative");
  EXPECT("no function", HopsSpaceInterpolate(sp, NULL, NULL, x), "Parameter 2");
  EXPECT("no vector", HopsSpaceComputeRHS(sp, One, NULL, NULL), "Parameter 4");
  EXPECT("no space", HopsSpaceComputeRHS(NULL, One, NULL, x), "Parameter 1");
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&g));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts, pointers and enumerations */
static PetscErrorCode Arguments(void)
{
  const PetscInt    one = 1, zero = 0;
  const PetscScalar v = 1.0;
  DM                dm;
  DMLabel           label;
  HopsSpace         sp, curl, other;
  HopsCoefficient   c, bad;
  PetscInt          n, *cells, *faces;
  Mat               A, B;
  PC                pc;

  PetscFunctionBeginUser;
  PetscCall(BoxMesh(2, PETSC_FALSE, &dm));
  PetscCall(DMGetLabel(dm, "marker", &label));
  PetscCall(HopsSpaceCreateH1(dm, 2, label, 1, &one, &sp));
  PetscCall(HopsSpaceCreateHCurl(dm, 2, NULL, 0, NULL, &curl));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &v, &c));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, c));
  PetscCall(Vectors(sp, curl, A));
  EXPECT("negative number of label values", HopsSpaceCreateH1(dm, 2, label, -3, &one, &other), "negative");
  EXPECT("no label values", HopsSpaceCreateHCurl(dm, 2, label, 1, NULL, &other), "NULL|1 entries");
  EXPECT("no such family", HopsSpaceCreateCompanion(sp, (HopsFamily)9, PETSC_TRUE, &other), "is 9");
  EXPECT("no label", HopsSpaceGetLabelFaces(sp, NULL, 1, &n, &cells, &faces), "label");
  EXPECT("negative number of faces", MatPAAddRobin(A, -1, &zero, &zero, c), "negative");
  EXPECT("no faces", MatPAAddRobin(A, 1, &zero, NULL, c), "faces|NULL");
  EXPECT("a space for a coefficient", MatPASetDiffusion(A, (HopsCoefficient)sp), "arameter");
  EXPECT("no such geometry", MatPASetGeometryType(A, (MatPAGeometryType)7), "is 7");
  EXPECT("too many quadrature points", MatPASetQuadrature(A, 1000000000, PETSC_FALSE), "at most 256");
  EXPECT("no values", HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, NULL, &bad), "values|NULL");
  EXPECT("no values of cells", HopsCoefficientCreateCell(sp, 1, NULL, &bad), "values|NULL|4 entries");
  EXPECT("no coefficient function", HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, NULL, NULL, &bad), "Parameter 3");
  EXPECT("too many points of a coefficient", HopsCoefficientCreateQuadrature(sp, 1, 16384, &v, &bad), "1 to 256");
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 9, 9, 1, NULL, &B));
  EXPECT("not a MATPA", MatPASetMass(B, c), "MatCreatePA()");
  EXPECT("no matrix", MatPASetMass(NULL, c), "Parameter 1");
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCPATCHFD));
  EXPECT("no such type of patches", PCPATCHFDSetType(pc, (PCPATCHFDType)9), "is 9");
  PetscCall(PCSetType(pc, PCLOR));
  EXPECT("no space for the preconditioner", PCLORSetSpace(pc, NULL), "space|NULL");
  EXPECT("nowhere to put the space", PCLORGetSpace(pc, NULL), "space|NULL");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts that are larger than 32-bit indices reach; nothing is read, since the sizes are refused first */
static PetscErrorCode Overflow(void)
{
  const PetscScalar v     = 1.0;
  const PetscInt    nodes = 0;
  const PetscReal   x     = 0.0;
  DM                dm, fine;
  HopsSpace         sp;
  HopsCoefficient   c;

  PetscFunctionBeginUser;
  PetscCall(BoxMesh(3, PETSC_FALSE, &dm));
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &fine));
  PetscCall(DMDestroy(&dm));
  PetscCall(DMRefine(fine, PETSC_COMM_WORLD, &dm));
  PetscCall(HopsSpaceCreateH1(dm, 1, NULL, 0, NULL, &sp));
  EXPECT("values of a coefficient", HopsCoefficientCreateQuadrature(sp, 1, 256, &v, &c), "512 x 16777216|64-bit indices");
  EXPECT("entries of arrays", HopsSpaceCreateFromArrays(PETSC_COMM_SELF, 3, 60, 1000000000, 4, &nodes, &x, 0, NULL, &sp),
         "more ranks|64-bit indices");
  PetscCall(DMDestroy(&fine));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Arrays(void)
{
  const PetscInt nodes[4] = {0, 1, 2, 9}, ess[1] = {12}, good[4] = {0, 1, 2, 3}, edge[4] = {0, 1, 2, 2}, point[4] = {0, 0, 0, 0},
                 ring[9] = {0, 1, 0, 2, 3, 2, 4, 5, 4};
  const PetscReal x[8] = {0, 0, 1, 0, 0, 1, 1, 1}, around[8] = {0, 0, 1, 0, 1, 1, 0, 1},
                  x2[18] = {0, 0, 1, 0, 2, 0, 0, 1, 1, 1, 2, 1, 0, 2, 1, 2, 2, 2};
  HopsSpace sp;

  PetscFunctionBeginUser;
  EXPECT("nodes around a cell", HopsSpaceCreateFromArrays(PETSC_COMM_SELF, 2, 1, 1, 4, good, around, 0, NULL, &sp),
         "run around it|x fastest");
  EXPECT("a node twice in a cell", HopsSpaceCreateFromArrays(PETSC_COMM_SELF, 2, 1, 1, 3, edge, x, 0, NULL, &sp),
         "unknown 2 at two of its nodes");
  EXPECT("one unknown for all nodes", HopsSpaceCreateFromArrays(PETSC_COMM_SELF, 2, 1, 1, 1, point, x, 0, NULL, &sp),
         "at all of its nodes");
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_SELF, 2, 2, 1, 6, ring, x2, 0, NULL, &sp)); /* a ring of one cell */
  PetscCall(HopsSpaceDestroy(&sp));
  EXPECT("more unknowns than nodes", HopsSpaceCreateFromArrays(PETSC_COMM_SELF, 2, 1, 1, 2000000000, good, x, 0, NULL, &sp),
         "without gaps");
  EXPECT("no nodes", HopsSpaceCreateFromArrays(PETSC_COMM_SELF, 2, 1, 1, 4, NULL, x, 0, NULL, &sp), "unknowns is NULL");
  EXPECT("negative number of cells", HopsSpaceCreateFromArrays(PETSC_COMM_SELF, 2, 1, -1, 4, good, x, 0, NULL, &sp),
         "Negative sizes");
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
  EXPECT("back end of another build", HopsSpaceCreateFromArrays(PETSC_COMM_SELF, 2, 1, 1, 4, nodes, x, 0, NULL, &sp),
         "--with-cuda|-hops_backend host");
  PetscCall(PetscOptionsClearValue(NULL, "-hops_backend"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* objects that a raised error left half made are not freed: this test runs without -malloc_dump */
int main(int argc, char **argv)
{
  PetscBool nocuda = PETSC_FALSE, overflow = PETSC_FALSE;

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
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-overflow", &overflow, NULL));
  if (overflow) {
    PetscCall(Overflow());
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(Meshes());
  PetscCall(Assembly());
  PetscCall(Operators());
  PetscCall(Arguments());
  PetscCall(Arrays());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    requires: host
    args: -malloc_dump 0

  test:
    suffix: overflow
    requires: !defined(PETSC_USE_64BIT_INDICES)
    args: -overflow -malloc_dump 0

  test:
    suffix: no_cuda
    requires: !defined(PETSC_HAVE_CUDA)
    args: -no_cuda -malloc_dump 0

TEST*/
