static char help[] = "What is refused of spaces whose cells have orders of their own, by messages that name the remedy.\n\
  options of hp.c\n\n";

#include "hpcase.h"
#include "hopsexpect.h"

static PetscErrorCode RefusedSpaces(HPCase *k)
{
  const PetscInt was = k->orders[0];
  HopsHPSpace    hp;
  HopsSpace      other;
  DM             dm;

  PetscFunctionBeginUser;
  EXPECT("no orders", HopsHPSpaceCreate(k->space, NULL, &hp), "NULL");
  k->orders[0] = 0;
  EXPECT("an order of 0", HopsHPSpaceCreate(k->space, k->orders, &hp), "cell 0|at least 1");
  k->orders[0] = k->p + 1;
  EXPECT("an order above the mesh's", HopsHPSpaceCreate(k->space, k->orders, &hp), "cell 0|at most");
  k->orders[0] = was;
  PetscCall(TestMesh(PETSC_COMM_SELF, PETSC_FALSE, &dm));
  PetscCall(HopsSpaceCreateH1(dm, k->p, NULL, 0, NULL, &other));
  EXPECT("a DMPlex", HopsHPSpaceCreate(other, k->orders, &hp), "HopsSpaceCreateAdaptiveFromArrays");
  PetscCall(HopsSpaceDestroy(&other));
  PetscCall(HopsSpaceCreateL2(dm, k->p, &other));
  EXPECT("L2", HopsHPSpaceCreate(other, k->orders, &hp), "H1");
  PetscCall(HopsSpaceDestroy(&other));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One cell of order 3 whose lower edge is essential in part */
static PetscErrorCode RefusedEdges(void)
{
  const PetscInt some[3][2] = {{1, 1}, {1, 2}, {2, 2}};
  PetscInt       nodes[16], order;
  PetscReal      coords[32], z[4];
  HopsSpace      space;
  HopsHPSpace    hp;

  PetscFunctionBeginUser;
  PetscCall(TestGLL(4, z));
  for (PetscInt i = 0; i < 16; ++i) {
    nodes[i]          = i;
    coords[2 * i]     = z[i % 4];
    coords[2 * i + 1] = z[i / 4];
  }
  for (PetscInt k = 0; k < 3; ++k)
    for (order = 1; order < 4; ++order) {
      PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_SELF, 2, 3, 1, 16, nodes, coords, 2, some[k], &space));
      EXPECT("half an edge", HopsHPSpaceCreate(space, &order, &hp), "Cell 0|whole edges");
      PetscCall(HopsSpaceDestroy(&space));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Parts with fine cells alone: what they hang on is nowhere */
static PetscErrorCode RefusedParts(HPCase *k)
{
  const HopsSpace *part;
  PetscInt         n, q = 1;
  HopsHPSpace      hp;
  Vec              x;

  PetscFunctionBeginUser;
  for (PetscInt c = 0; c < k->a.nc; ++c) k->orders[c] = k->mesh.cell[k->a.first + c].level == k->mesh.finest ? k->p : 1;
  PetscCall(HopsHPSpaceCreate(k->space, k->orders, &hp));
  PetscCall(HopsHPSpaceGetParts(hp, &n, &part, NULL, NULL));
  PetscCall(HopsSpaceCreateVec(part[n - 1], &x));
  EXPECT("a part's interpolation", HopsSpaceInterpolate(part[n - 1], HPPoly, &q, x), "HopsHPSpaceInterpolate");
  PetscCall(VecDestroy(&x));
  PetscCall(HopsHPSpaceDestroy(&hp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RefusedSums(HPCase *k)
{
  HopsHPSpace     hp;
  Mat             M, S;
  const Mat      *A, *P;
  PetscInt        n, bad = -1, *marks, *orders;
  PC              pc;
  Vec             x, y;
  HopsCoefficient kappa;

  const PetscScalar one = 1.0;

  PetscFunctionBeginUser;
  PetscCall(HopsHPSpaceCreate(k->space, k->orders, &hp));
  PetscCall(HPLaplacian(hp, &M));
  PetscCall(MatHopsPtAPGetMats(M, &n, &A, &P));
  EXPECT("no operators", MatCreateHopsPtAP(PETSC_COMM_SELF, 0, A, P, 0, NULL, &S), "one or more");
  EXPECT("another part's P", MatCreateHopsPtAP(PETSC_COMM_SELF, 1, A, P + 1, 0, NULL, &S), "a row for each unknown");
  EXPECT("an essential unknown below 0", MatCreateHopsPtAP(PETSC_COMM_SELF, n, A, P, 1, &bad, &S), "unknown -1|owns");
  PetscCall(HopsHPSpaceCreateVec(hp, &x));
  EXPECT("a diagonal", MatGetDiagonal(M, x), "diagonal");
  EXPECT("entries", MatSetValue(M, 0, 0, 1.0, INSERT_VALUES), "");
  PetscCall(HopsSpaceCreateVec(k->space, &y));
  EXPECT("a vector of the mesh's space", HopsHPSpaceInterpolate(hp, HPPoly, &n, y), "HopsHPSpaceCreateVec");
  PetscCall(VecDestroy(&y));
  PetscCall(HopsSpaceCreateCellVec(k->space, &y));
  PetscCall(MatCreatePA(k->space, &S));
  EXPECT("averages of fluxes", HopsHPSpaceEstimateError(hp, S, x, HOPS_ESTIMATE_ZZ, NULL, NULL, NULL, y), "HOPS_ESTIMATE_KELLY");
  PetscCall(MatDestroy(&S));
  PetscCall(VecDestroy(&y));
  PetscCall(MatCreate(PETSC_COMM_SELF, &S));
  PetscCall(MatSetSizes(S, 3, 3, 3, 3));
  PetscCall(MatSetType(S, MATHOPSPTAP));
  EXPECT("a sum of none", MatHopsPtAPGetMats(S, &n, NULL, NULL), "MatCreateHopsPtAP");
  PetscCall(MatDestroy(&S));
  PetscCall(PetscMalloc2(k->a.nc, &marks, k->a.nc, &orders));
  EXPECT("a highest order of 0", HopsHPSpaceMark(hp, x, PETSC_DEFAULT, 0, marks, orders), "from 1 to 64");
  EXPECT("a negative decay", HopsHPSpaceMark(hp, x, -1.0, 4, marks, orders), "positive");
  PetscCall(PetscFree2(marks, orders));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &one, &kappa));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, M, M));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCLORSetCoefficients(pc, kappa, NULL));
  EXPECT("coefficients", PCSetUp(pc), "leave out PCLORSetSpace|PCLORSetCoefficients");
  PetscCall(PCDestroy(&pc));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, M, M));
  PetscCall(PCSetType(pc, PCPATCHFD));
  EXPECT("patches", PCSetUp(pc), "PCLOR|pc_type lor");
  PetscCall(PCDestroy(&pc));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, M, M));
  PetscCall(PCSetType(pc, PCHOPSMG));
  EXPECT("multigrid", PCSetUp(pc), "PCLOR|pc_type lor");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatScale(A[0], 2.0));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, M, M));
  PetscCall(PCSetType(pc, PCLOR));
  EXPECT("a scaled operator", PCSetUp(pc), "hopsptap|MatScale");
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&M));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsHPSpaceDestroy(&hp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  HPCase k;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HPCaseCreate(&k));
  PetscCall(RefusedSpaces(&k));
  PetscCall(RefusedEdges());
  PetscCall(RefusedSums(&k));
  PetscCall(RefusedParts(&k));
  PetscCall(HPCaseDestroy(&k));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: 1
    args: -order 3

TEST*/
