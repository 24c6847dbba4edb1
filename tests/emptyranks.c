static char help[] = "Preconditioners on meshes with fewer cells than ranks: ranks without cells take the others' branches.\n\
  -dm_plex_box_faces <n,n,n> -order <p>\n\n";

#include "hopstest.h"

static PetscErrorCode U(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) u[i] = PetscSinReal(1.0 + 2.0 * x[0] + i) * (1.0 + x[1]);
  return PETSC_SUCCESS;
}

typedef enum {
  CONSTANT,
  CELL,
  FUNCTION,
  QUADRATURE
} Kind;

/* a positive coefficient of one value */
static PetscErrorCode Coefficient(HopsSpace sp, Kind kind, HopsCoefficient *c)
{
  const PetscInt q = 4;
  DM             dm;
  PetscInt       start, end, n, dim;
  PetscScalar   *v, two = 2.0;

  PetscFunctionBeginUser;
  PetscCall(HopsSpaceGetDM(sp, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &start, &end));
  n = (end - start) * (kind == QUADRATURE ? PetscPowInt(q, dim) : 1);
  PetscCall(PetscMalloc1(n, &v));
  for (PetscInt i = 0; i < n; ++i) v[i] = 2.0;
  if (kind == CONSTANT) PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &two, c));
  else if (kind == CELL) PetscCall(HopsCoefficientCreateCell(sp, 1, v, c));
  else if (kind == FUNCTION) PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, c));
  else PetscCall(HopsCoefficientCreateQuadrature(sp, 1, q, v, c));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A x = b for a right-hand side that is a function's; the norm of x */
static PetscErrorCode Solve(const char name[], HopsSpace sp, Mat A, const char options[])
{
  KSP                ksp;
  Vec                x, b;
  PetscReal          norm;
  KSPConvergedReason reason;
  PetscOptions       db;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(&db));
  PetscCall(PetscOptionsInsertString(db, options));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(PetscObjectSetOptions((PetscObject)ksp, db));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(HopsSpaceCreateVec(sp, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(HopsSpaceComputeRHS(sp, U, NULL, b));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %s: %.6g%s\n", name, options, (double)norm, reason > 0 ? "" : " NOT CONVERGED"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(PetscOptionsDestroy(&db));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Robin terms on the faces with value 1 */
static PetscErrorCode AddRobin(DM dm, HopsSpace sp, Mat A, Kind kind)
{
  DMLabel         label;
  PetscInt        n, *cells, *faces;
  HopsCoefficient c;

  PetscFunctionBeginUser;
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(HopsSpaceGetLabelFaces(sp, label, 1, &n, &cells, &faces));
  PetscCall(Coefficient(sp, kind, &c));
  PetscCall(MatPAAddRobin(A, n, cells, faces, c));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscCall(PetscFree(cells));
  PetscCall(PetscFree(faces));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Scalar(DM dm, PetscInt p)
{
  static const char *const kinds[] = {"constant", "cell", "function", "quadrature"};
  static const char *const pcs[]   = {
      "-pc_type lor",
      "-pc_type patchfd -pc_patchfd_type multiplicative",
      "-pc_type patchfd -pc_patchfd_type additive -pc_patchfd_patch element",
      "-pc_type patchfd -pc_patchfd_type restricted",
      "-pc_type hopsmg -pc_hopsmg_coarsen h",
      "-pc_type hopsmg -pc_hopsmg_coarsen p",
      "-pc_type hopsmg -pc_hopsmg_coarsen ph -mg_levels_pc_type patchfd",
      "-pc_type hopsmg -pc_hopsmg_coarsen hp -pc_hopsmg_precision single",
  };

  PetscFunctionBeginUser;
  for (PetscInt kind = CONSTANT; kind <= QUADRATURE; ++kind)
    for (PetscInt robin = 0; robin < (kind < QUADRATURE ? 2 : 1); ++robin) {
      HopsSpace       sp;
      HopsCoefficient c;
      Mat             A;

      PetscCall(HopsSpaceCreateH1(dm, p, NULL, 0, NULL, &sp));
      PetscCall(MatCreatePA(sp, &A));
      PetscCall(Coefficient(sp, (Kind)kind, &c));
      PetscCall(MatPASetDiffusion(A, c));
      PetscCall(MatPASetMass(A, c));
      PetscCall(HopsCoefficientDestroy(&c));
      if (robin) PetscCall(AddRobin(dm, sp, A, (Kind)kind));
      for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(pcs); ++k) {
        char name[64];

        if (robin && k == 7) continue; /* single precision has none */
        PetscCall(PetscSNPrintf(name, sizeof(name), "%s%s", kinds[kind], robin ? ", Robin" : ""));
        PetscCall(Solve(name, sp, A, pcs[k]));
      }
      PetscCall(MatDestroy(&A));
      PetscCall(HopsSpaceDestroy(&sp));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Families(DM dm, PetscInt p)
{
  PetscFunctionBeginUser;
  for (PetscInt family = 1; family < 4; ++family)
    for (PetscInt kind = CONSTANT; kind <= QUADRATURE; ++kind) {
      HopsSpace       sp;
      HopsCoefficient c;
      Mat             A;

      if (family == HOPS_HCURL) PetscCall(HopsSpaceCreateHCurl(dm, p, NULL, 0, NULL, &sp));
      else if (family == HOPS_HDIV) PetscCall(HopsSpaceCreateHDiv(dm, p, NULL, 0, NULL, &sp));
      else PetscCall(HopsSpaceCreateL2(dm, p, &sp));
      PetscCall(MatCreatePA(sp, &A));
      PetscCall(Coefficient(sp, (Kind)kind, &c));
      if (family == HOPS_HCURL) PetscCall(MatPASetCurlCurl(A, c));
      if (family == HOPS_HDIV) PetscCall(MatPASetDivDiv(A, c));
      PetscCall(MatPASetMass(A, c));
      PetscCall(Solve(HopsFamilies[family], sp, A, "-pc_type lor"));
      PetscCall(HopsCoefficientDestroy(&c));
      PetscCall(MatDestroy(&A));
      PetscCall(HopsSpaceDestroy(&sp));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One square of the first rank */
static PetscErrorCode Arrays(PetscInt p)
{
  const PetscInt  np = (p + 1) * (p + 1);
  PetscReal       z[32], *x;
  PetscInt       *nodes, ncells, ness;
  PetscMPIInt     rank;
  HopsSpace       sp;
  HopsCoefficient c;
  PetscScalar     one = 1.0;
  Mat             A;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  ncells = rank ? 0 : 1;
  ness   = rank ? 0 : p + 1;
  PetscCall(TestGLL(p + 1, z));
  PetscCall(PetscMalloc2(np, &nodes, 2 * np, &x));
  for (PetscInt i = 0; i < np; ++i) {
    nodes[i]     = i;
    x[2 * i]     = z[i % (p + 1)];
    x[2 * i + 1] = z[i / (p + 1)];
  }
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_WORLD, 2, p, ncells, ncells * np, nodes, x, ness, nodes, &sp));
  PetscCall(PetscFree2(nodes, x));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_WORLD, 1, &one, &c));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, c));
  PetscCall(Solve("arrays", sp, A, "-pc_type lor"));
  PetscCall(Solve("arrays", sp, A, "-pc_type patchfd -pc_patchfd_type multiplicative"));
  PetscCall(Solve("arrays", sp, A, "-pc_type patchfd -pc_patchfd_type additive -pc_patchfd_patch element"));
  PetscCall(HopsCoefficientDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt p = 4;
  DM       dm;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_FALSE, &dm));
  PetscCall(Scalar(dm, p));
  PetscCall(Families(dm, p));
  PetscCall(Arrays(p));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: host
    args: -dm_refine_hierarchy 1
    diff_args: -j
    test:
      suffix: 2d
      requires: real
      nsize: {{1 2 5}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 2,1 -order 4
    test:
      suffix: 3d
      requires: real
      nsize: {{1 3}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 1,1,1 -order 2

TEST*/
