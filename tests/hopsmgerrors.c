static char help[] = "What PCHOPSMG and MATHOPSINTERP refuse, by errors that name the remedy.\n\n";

#include "hopsexpect.h"
#include <petscfe.h>
#include <petscds.h>

/* n x n quadrilaterals, or two triangles */
static PetscErrorCode Box(PetscInt n, PetscBool simplex, DM *dm)
{
  const PetscInt  faces[3] = {n, n, n}, cells[6] = {0, 1, 2, 1, 3, 2};
  const PetscReal x[8] = {0, 0, 1, 0, 0, 1, 1, 1};

  PetscFunctionBeginUser;
  if (simplex) PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_WORLD, 2, 2, 4, 3, PETSC_TRUE, cells, 2, x, dm));
  else PetscCall(HopsDMPlexCreateBox(PETSC_COMM_WORLD, 2, PETSC_FALSE, faces, dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Operator(HopsSpace sp, Mat *A)
{
  HopsCoefficient one;
  PetscScalar     v = 1.0;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &v, &one));
  PetscCall(MatCreatePA(sp, A));
  PetscCall(MatPASetDiffusion(*A, one));
  PetscCall(MatPASetMass(*A, one));
  PetscCall(HopsCoefficientDestroy(&one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(Mat A, const char options[], PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetType(*pc, PCHOPSMG));
  PetscCall(PCSetOperators(*pc, A, A));
  if (options) {
    PetscCall(PetscOptionsInsertString(NULL, options));
    PetscCall(PCSetFromOptions(*pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Hierarchies(void)
{
  const PetscInt  nodes[4] = {0, 1, 2, 3}, orders[2] = {2, 2};
  const PetscReal x[8] = {0, 0, 1, 0, 0, 1, 1, 1};
  DM              dm, coarse;
  HopsSpace       sp, other, small;
  Mat             A, B, P;
  PC              pc;

  PetscFunctionBeginUser;
  PetscCall(Box(4, PETSC_FALSE, &dm));
  PetscCall(HopsSpaceCreateH1(dm, 3, NULL, 0, NULL, &sp));
  PetscCall(Operator(sp, &A));
  PetscCall(Create(A, NULL, &pc));
  EXPECT("no hierarchy", PCSetUp(pc), "-dm_refine_hierarchy|DMSetCoarseDM|-pc_hopsmg_coarsen");
  EXPECT("one level", PCHopsMGSetLevels(pc, 1), "two levels");
  EXPECT("orders that do not fall", PCHopsMGSetOrders(pc, 2, orders), "fall");
  PetscCall(Box(3, PETSC_FALSE, &coarse));
  PetscCall(DMSetCoarseDM(dm, coarse));
  PetscCall(PCSetDM(pc, dm));
  EXPECT("a mesh that is not nested", PCSetUp(pc), "uniform refinement|DMRefine");
  PetscCall(HopsSpaceCreateH1(coarse, 3, NULL, 0, NULL, &other));
  EXPECT("transfer between meshes that are not nested", MatCreateHopsInterp(other, sp, &P), "uniform refinement");
  PetscCall(Box(2, PETSC_TRUE, &coarse));
  PetscCall(DMSetCoarseDM(dm, coarse));
  PetscCall(Create(A, NULL, &pc));
  PetscCall(PCSetDM(pc, dm));
  EXPECT("a coarse mesh of triangles", PCSetUp(pc), "quadrilateral|-dm_plex_simplex");
  PetscCall(Box(1, PETSC_FALSE, &coarse));
  PetscCall(DMSetCoarseDM(dm, coarse));
  PetscCall(Create(A, NULL, &pc));
  PetscCall(PCSetDM(pc, dm));
  EXPECT("a mesh that was refined twice", PCSetUp(pc), "uniform refinement");
  EXPECT("a coarse space of higher order", HopsSpaceCreateCoarse(sp, NULL, 4, &other), "at most 3");
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_SELF, 2, 1, 1, 4, nodes, x, 0, NULL, &small));
  EXPECT("a DM below a space made from arrays", HopsSpaceCreateCoarse(small, dm, 1, &other), "HopsSpaceSetCoarse()");
  PetscCall(Operator(small, &B));
  PetscCall(Create(B, NULL, &pc));
  EXPECT("arrays", PCSetUp(pc), "HopsSpaceSetCoarse()|-pc_hopsmg_coarsen p, ph or hp|-pc_type lor");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one cell between essential boundaries: order 1 has no unknowns, order 2 has one */
static PetscErrorCode Orders(void)
{
  const PetscInt sides[4] = {1, 2, 3, 4}, one[1] = {1};

  PetscFunctionBeginUser;
  for (PetscInt p = 3; p >= 2; --p) {
    DM        dm;
    DMLabel   label;
    HopsSpace sp;
    Mat       A;
    PC        pc;

    PetscCall(Box(1, PETSC_FALSE, &dm));
    PetscCall(DMGetLabel(dm, "Face Sets", &label));
    PetscCall(HopsSpaceCreateH1(dm, p, label, 4, sides, &sp));
    PetscCall(Operator(sp, &A));
    PetscCall(Create(A, NULL, &pc));
    PetscCall(PCHopsMGSetCoarsening(pc, PC_HOPSMG_P));
    if (p == 3) {
      PetscCall(PCSetUp(pc));
      PetscCall(PCHopsMGGetSpace(pc, 0, &sp));
      PetscCall(HopsSpaceView(sp, PETSC_VIEWER_STDOUT_WORLD));
      PetscCall(PCHopsMGSetOrders(pc, 1, one));
      EXPECT("an order without unknowns", PCSetUp(pc), "Order 1|-pc_hopsmg_orders");
      PetscCall(PCHopsMGSetCoarsening(pc, PC_HOPSMG_H));
      EXPECT("orders where meshes alone are coarsened", PCSetUp(pc), "-pc_hopsmg_orders|-pc_hopsmg_coarsen p, ph or hp");
    } else EXPECT("no order with unknowns", PCSetUp(pc), "no lower order has unknowns|-pc_hopsmg_coarsen|-pc_type lor");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the other families have no hierarchies, and no patches */
static PetscErrorCode Families(void)
{
  DM              dm, fine;
  HopsSpace       sp, nodes, other;
  HopsCoefficient one;
  PetscScalar     v = 1.0;
  Mat             A, P;
  PC              pc;

  PetscFunctionBeginUser;
  PetscCall(Box(2, PETSC_FALSE, &dm));
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &fine));
  PetscCall(DMSetCoarseDM(fine, dm));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &v, &one));
  PetscCall(HopsSpaceCreateH1(fine, 3, NULL, 0, NULL, &nodes));
  for (PetscInt f = 0; f < 3; ++f) {
    if (f == 0) PetscCall(HopsSpaceCreateHCurl(fine, 3, NULL, 0, NULL, &sp));
    if (f == 1) PetscCall(HopsSpaceCreateHDiv(fine, 3, NULL, 0, NULL, &sp));
    if (f == 2) PetscCall(HopsSpaceCreateL2(fine, 3, &sp));
    PetscCall(MatCreatePA(sp, &A));
    if (f == 0) PetscCall(MatPASetCurlCurl(A, one));
    if (f == 1) PetscCall(MatPASetDivDiv(A, one));
    PetscCall(MatPASetMass(A, one));
    PetscCall(Create(A, NULL, &pc));
    EXPECT("multigrid in another family", PCSetUp(pc), "in H1|PCLOR");
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCPATCHFD));
    PetscCall(PCSetOperators(pc, A, A));
    EXPECT("patches in another family", PCSetUp(pc), "in H1|PCLOR");
    EXPECT("a coarse space of another family", HopsSpaceCreateCoarse(sp, dm, 3, &other), "HopsSpaceCreateH1");
    EXPECT("a map between families", MatCreateHopsInterp(nodes, sp, &P), "HopsSpaceCreateH1");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Operators(void)
{
  DM        dm, fine;
  HopsSpace sp;
  Mat       A, B;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(Box(2, PETSC_FALSE, &dm));
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &fine));
  PetscCall(DMSetCoarseDM(fine, dm));
  PetscCall(HopsSpaceCreateH1(fine, 3, NULL, 0, NULL, &sp));
  PetscCall(Operator(sp, &A));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(Create(B, NULL, &pc));
  EXPECT("assembled matrix", PCSetUp(pc), "seqaij|MatCreatePA|-dm_mat_type pa");
  PetscCall(Create(A, "-pc_hopsmg_levels 2", &pc));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_hopsmg_levels"));
  PetscCall(PCSetUp(pc));
  EXPECT("level that is not there", PCHopsMGGetSpace(pc, 2, &sp), "no level 2|there are 2");
  EXPECT("-pc_mg_levels", Create(A, "-pc_mg_levels 3", &pc), "-pc_hopsmg_levels");
  PetscCall(PetscOptionsClearValue(NULL, "-pc_mg_levels"));
  PetscCall(Create(A, "-pc_mg_galerkin both", &pc));
  EXPECT("-pc_mg_galerkin", PCSetUp(pc), "matrix-free|-pc_mg_galerkin");
  PetscCall(PetscOptionsClearValue(NULL, "-pc_mg_galerkin"));
  PetscCall(Create(A, "-pc_hopsmg_precision single -mg_levels_pc_type sor", &pc));
  EXPECT("another smoother in single precision", PCSetUp(pc), "sor|-mg_levels_pc_type|-pc_hopsmg_precision double");
  PetscCall(PetscOptionsClearValue(NULL, "-mg_levels_pc_type"));
  PetscCall(Create(A, "-mg_levels_ksp_chebyshev_esteig 0,0.2,0,1.1", &pc));
  EXPECT("another interval in single precision", PCSetUp(pc), "-mg_levels_ksp_chebyshev_esteig|-pc_hopsmg_precision double");
  PetscCall(PetscOptionsClearValue(NULL, "-mg_levels_ksp_chebyshev_esteig"));
  PetscCall(Create(A, "-pc_mg_cycle_type w", &pc));
  EXPECT("W-cycle in single precision", PCSetUp(pc), "V-cycles|-pc_hopsmg_precision double");
  PetscCall(PetscOptionsClearValue(NULL, "-pc_mg_cycle_type"));
  PetscCall(Create(A, "-pc_mg_distinct_smoothup -mg_levels_up_pc_type sor", &pc));
  EXPECT("another up smoother in single precision", PCSetUp(pc), "sor|-pc_hopsmg_precision double");
  PetscCall(PetscOptionsClearValue(NULL, "-pc_mg_distinct_smoothup"));
  PetscCall(PetscOptionsClearValue(NULL, "-mg_levels_up_pc_type"));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_hopsmg_precision"));
  PetscCall(Create(A, "-pc_hopsmg_reverse", &pc));
  EXPECT("the reverse of Jacobi", PCSetUp(pc), "-mg_levels_pc_type patchfd|-pc_hopsmg_reverse");
  PetscCall(Create(A, "-mg_levels_ksp_type richardson -mg_levels_pc_type patchfd -mg_levels_pc_patchfd_direction symmetric", &pc));
  EXPECT("the reverse of the symmetric order", PCSetUp(pc), "-mg_levels_pc_patchfd_direction|-pc_hopsmg_reverse");
  PetscCall(PetscOptionsClearValue(NULL, "-mg_levels_pc_patchfd_direction"));
  PetscCall(Create(A, "-mg_levels_pc_patchfd_type additive", &pc));
  EXPECT("the reverse of additive patches", PCSetUp(pc), "multiplicative|-pc_hopsmg_reverse");
  PetscCall(PetscOptionsClearValue(NULL, "-mg_levels_pc_patchfd_type"));
  PetscCall(Create(A, "-pc_mg_type additive", &pc));
  EXPECT("the reverse in an additive cycle", PCSetUp(pc), "-pc_mg_type|-pc_hopsmg_reverse");
  PetscCall(PetscOptionsClearValue(NULL, "-pc_mg_type"));
  PetscCall(Create(A, "-pc_mg_distinct_smoothup", &pc));
  EXPECT("the reverse and another smoother", PCSetUp(pc), "-mg_levels_up_pc_patchfd_direction|-pc_hopsmg_reverse");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* kappa is 1, but in the cells left of x = 1/4, which one rank may have alone */
static PetscErrorCode Left(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  const PetscScalar *kappa = (const PetscScalar *)ctx;

  for (PetscInt i = 0; i < nc; ++i) f[i] = x[0] < 0.25 ? kappa[i] : (i == 1 && nc == 3 ? 0.0 : 1.0);
  return PETSC_SUCCESS;
}

/* Where a smoother that takes them would not converge; what is definite, or not known to be wrong, is
   accepted */
static PetscErrorCode Coefficients(void)
{
  PetscScalar v[4] = {-1.0, 0.0, 1.0, 2.0}, indefinite[3] = {1.0, 2.0, 1.0}, semi[3] = {1.0, 2.0, 4.0}, axis[2] = {1.0, 0.0},
              mixed[2]     = {1.0, -1e-3};
  const PetscInt  sides[4] = {1, 2, 3, 4};
  DM              dm, fine;
  DMLabel         label;
  HopsSpace       sp;
  HopsCoefficient c[4], cells, left[2], tensor[2], diagonal[2], varying;
  PetscInt        start, end;
  PetscScalar    *values;
  Mat             A;
  PC              pc;

  PetscFunctionBeginUser;
  PetscCall(Box(4, PETSC_FALSE, &dm));
  PetscCall(TestDistribute(&dm, 0));
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &fine));
  PetscCall(DMSetCoarseDM(fine, dm));
  PetscCall(DMGetLabel(fine, "Face Sets", &label));
  PetscCall(HopsSpaceCreateH1(fine, 3, label, 4, sides, &sp));
  for (PetscInt k = 0; k < 4; ++k) PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, v + k, &c[k]));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, Left, v, &left[0]));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, Left, v + 1, &left[1]));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 3, Left, indefinite, &varying));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 3, indefinite, &tensor[0]));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 3, semi, &tensor[1]));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 2, mixed, &diagonal[0]));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 2, axis, &diagonal[1]));
  PetscCall(DMPlexGetHeightStratum(fine, 0, &start, &end));
  PetscCall(PetscMalloc1(end - start, &values));
  for (PetscInt k = start; k < end; ++k) {
    PetscReal x[3];

    PetscCall(DMPlexComputeCellGeometryFVM(fine, k, NULL, x, NULL));
    values[k - start] = x[0] < 0.125 && x[1] < 0.125 ? -1.0 : 1.0;
  }
  PetscCall(HopsCoefficientCreateCell(sp, 1, values, &cells));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, c[0]));
  PetscCall(MatPASetMass(A, c[2]));
  PetscCall(Create(A, NULL, &pc));
  EXPECT("negative diffusion", PCSetUp(pc), "negative or indefinite in 64 cells|KSPSetOperators|-pc_type lor");
  PetscCall(MatPASetDiffusion(A, cells));
  EXPECT("diffusion negative in a cell", PCSetUp(pc), "negative or indefinite in 1 cells");
  PetscCall(MatPASetDiffusion(A, left[0]));
  EXPECT("diffusion negative on the left", PCSetUp(pc), "negative or indefinite in 16 cells");
  PetscCall(MatPASetDiffusion(A, tensor[0]));
  EXPECT("an indefinite tensor", PCSetUp(pc), "negative or indefinite in 64 cells");
  PetscCall(MatPASetDiffusion(A, varying));
  EXPECT("a tensor that is indefinite on the left", PCSetUp(pc), "negative or indefinite in 16 cells");
  PetscCall(MatPASetDiffusion(A, diagonal[0]));
  EXPECT("negative diffusion in a direction", PCSetUp(pc), "negative or indefinite in 64 cells");
  PetscCall(MatPASetMass(A, NULL));
  PetscCall(MatPASetDiffusion(A, c[1]));
  EXPECT("zero diffusion", PCSetUp(pc), "zero, negative or indefinite in 64 cells");
  PetscCall(MatPASetDiffusion(A, left[1]));
  EXPECT("diffusion zero on the left", PCSetUp(pc), "zero, negative or indefinite in 16 cells");
  PetscCall(MatPASetMass(A, c[2]));
  PetscCall(PCSetUp(pc));
  PetscCall(MatPASetDiffusion(A, c[1]));
  PetscCall(PCSetUp(pc));
  PetscCall(MatPASetMass(A, c[0]));
  EXPECT("zero diffusion and a negative reaction", PCSetUp(pc), "zero, negative or indefinite in 64 cells");
  PetscCall(MatPASetDiffusion(A, c[3]));
  PetscCall(PCSetUp(pc));
  PetscCall(MatPASetMass(A, c[1]));
  PetscCall(PCSetUp(pc));
  PetscCall(MatPASetMass(A, c[2]));
  PetscCall(MatPASetDiffusion(A, tensor[1]));
  PetscCall(PCSetUp(pc));
  PetscCall(MatPASetDiffusion(A, diagonal[1]));
  PetscCall(PCSetUp(pc));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "accepted: zero diffusion with a reaction, a negative or zero reaction, tensors with a zero direction\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* objects that a raised error left half made are not freed: this test runs without -malloc_dump */
int main(int argc, char **argv)
{
  PetscBool coefficients = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump"));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-coefficients", &coefficients, NULL));
  if (coefficients) PetscCall(Coefficients());
  else {
    PetscCall(Hierarchies());
    PetscCall(Orders());
    PetscCall(Families());
    PetscCall(Operators());
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  test:
    args: -malloc_dump 0
    filter: sed -e "s,back end [a-z]*,back end host,"

  test:
    suffix: coefficients
    nsize: {{1 3}}
    args: -malloc_dump 0 -coefficients

TEST*/
