static char help[] =
  "The low-order-refined matrix of a vector-valued field with every kind of term. At order 1 it is what PETSc itself assembles\n\
  with a quadrature rule at the vertices, so with an exact inner solver one application solves the system.\n\
  -components <n>; -terms <0123>: which of g0, g1, g2, g3; -boundary <0123>: which of the boundary Jacobians, on faces of value\n\
  -flux <v>;\n\
  -gauss: with PETSc's own quadrature, at any order, for an iterative solver\n\
  -apart: at any order, the matrix without couplings between components against the symmetric part of the diagonal blocks of\n\
  the one with them, entry by entry; -apart_mat_type <type>: its type\n\n";

#include "hopstest.h"
#include <petscds.h>
#include <petscsnes.h>

#define BASIC \
  PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[], \
    const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[], const PetscScalar a[], \
    const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, PetscReal shift
#define POINT   BASIC, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[]
#define BDPOINT BASIC, const PetscReal x[], const PetscReal n[], PetscInt nc, const PetscScalar constants[], PetscScalar g[]

/* full tensors without any symmetry, dominated by their diagonal */
static PetscReal Entry(PetscInt i, const PetscReal x[])
{
  return PetscSinReal(1.7 * (i + 1) + x[0] * (i % 3) - 0.5 * x[1]);
}

static void g0(POINT)
{
  const PetscInt n = uOff[1];

  for (PetscInt i = 0; i < n * n; ++i) g[i] = 0.3 * Entry(i, x) + (i % (n + 1) ? 0.0 : 5.0);
}

static void g1(POINT)
{
  for (PetscInt i = 0; i < uOff[1] * uOff[1] * dim; ++i) g[i] = Entry(i + 11, x);
}

static void g2(POINT)
{
  for (PetscInt i = 0; i < uOff[1] * uOff[1] * dim; ++i) g[i] = Entry(i + 23, x);
}

static void g3(POINT)
{
  const PetscInt n = uOff[1];

  for (PetscInt c = 0; c < n; ++c)
    for (PetscInt d = 0; d < n; ++d)
      for (PetscInt i = 0; i < dim; ++i)
        for (PetscInt j = 0; j < dim; ++j) {
          const PetscInt k = ((c * n + d) * dim + i) * dim + j;

          g[k] = 0.1 * Entry(k + 5, x) + (c == d && i == j ? 3.0 + c : 0.0);
        }
}

static void g0bd(BDPOINT)
{
  for (PetscInt i = 0; i < uOff[1] * uOff[1]; ++i) g[i] = 0.3 * Entry(i, x) * (1.0 + n[i % dim]) + (i % (uOff[1] + 1) ? 0.0 : 2.0);
}

static void g1bd(BDPOINT)
{
  for (PetscInt i = 0; i < uOff[1] * uOff[1] * dim; ++i) g[i] = 0.1 * Entry(i + 3, x) + 0.2 * n[i % dim];
}

static void g2bd(BDPOINT)
{
  for (PetscInt i = 0; i < uOff[1] * uOff[1] * dim; ++i) g[i] = 0.1 * Entry(i + 17, x) - 0.1 * n[i % dim];
}

static void g3bd(BDPOINT)
{
  for (PetscInt i = 0; i < uOff[1] * uOff[1] * dim * dim; ++i) g[i] = 0.05 * Entry(i + 29, x) * (1.0 + n[i % dim]);
}

/* an affine map: see tests/plexpa.c on PETSc's geometry of faces */
static void Shear(PetscInt dim, PetscReal x[])
{
  const PetscReal a = x[0], b = x[1];

  x[0] = a + 0.3 * b;
  x[1] = b - 0.2 * a;
  if (dim > 2) x[2] = 0.8 * x[2] + 0.1 * a;
}

static PetscErrorCode Zero(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt c = 0; c < nc; ++c) u[c] = 0.0;
  return PETSC_SUCCESS;
}

/* the trapezoidal rule */
static PetscErrorCode VertexQuadrature(PetscInt dim, PetscQuadrature *q)
{
  const PetscInt n = PetscPowInt(2, dim);
  PetscReal     *x, *w;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n * dim, &x));
  PetscCall(PetscMalloc1(n, &w));
  for (PetscInt i = 0; i < n; ++i) {
    w[i] = 1.0;
    for (PetscInt d = 0; d < dim; ++d) x[i * dim + d] = (i >> d) & 1 ? 1.0 : -1.0;
  }
  PetscCall(PetscQuadratureCreate(PETSC_COMM_SELF, q));
  PetscCall(PetscQuadratureSetData(*q, dim, 1, n, x, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which of the digits 0 to 3 an option names */
static PetscErrorCode GetTerms(const char option[], const char preset[], PetscBool has[4], PetscBool *set)
{
  char terms[8], *at;

  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(terms, preset, sizeof(terms)));
  PetscCall(PetscOptionsGetString(NULL, NULL, option, terms, sizeof(terms), set));
  for (PetscInt k = 0; k < 4; ++k) {
    PetscCall(PetscStrchr(terms, (char)('0' + k), &at));
    has[k] = at ? PETSC_TRUE : PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddField(DM dm, PetscInt nc, PetscBool gauss)
{
  PetscFE         fe;
  PetscQuadrature quad;
  PetscInt        dim;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscFECreateDefault(PETSC_COMM_WORLD, dim, nc, PETSC_FALSE, NULL, PETSC_DETERMINE, &fe));
  if (!gauss) {
    PetscCall(VertexQuadrature(dim, &quad));
    PetscCall(PetscFESetQuadrature(fe, quad));
    PetscCall(PetscQuadratureDestroy(&quad));
    PetscCall(VertexQuadrature(dim - 1, &quad));
    PetscCall(PetscFESetFaceQuadrature(fe, quad));
    PetscCall(PetscQuadratureDestroy(&quad));
  }
  PetscCall(DMSetField(dm, 0, NULL, (PetscObject)fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMCreateDS(dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A wall, a face that the last component does not leave, and one with boundary Jacobians unless bd is NULL */
static PetscErrorCode AddBoundaries(DM dm, PetscInt nc, const PetscBool bd[4])
{
  const PetscInt last = nc - 1;
  PetscDS        ds;
  DMLabel        faces;
  PetscWeakForm  wf;
  PetscInt       wall = 1, slip = 2, flux = 3, index;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-wall", &wall, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-slip", &slip, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-flux", &flux, NULL));
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(DMGetLabel(dm, "Face Sets", &faces));
  PetscCall(DMPlexLabelComplete(dm, faces));
  PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "wall", faces, 1, &wall, 0, 0, NULL, (HopsVoidFn)Zero, NULL, NULL, NULL));
  PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "slip", faces, 1, &slip, 0, 1, &last, (HopsVoidFn)Zero, NULL, NULL, NULL));
  if (!bd) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMAddBoundary(dm, DM_BC_NATURAL, "flux", faces, 1, &flux, 0, 0, NULL, NULL, NULL, NULL, &index));
  PetscCall(PetscDSGetBoundary(ds, index, &wf, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(PetscWeakFormSetIndexBdJacobian(wf, faces, flux, 0, 0, 0, 0, bd[0] ? g0bd : NULL, 0, bd[1] ? g1bd : NULL, 0,
                                            bd[2] ? g2bd : NULL, 0, bd[3] ? g3bd : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One application of the preconditioner, and of its transpose, solves */
static PetscErrorCode Solve(DM dm, Mat J, PetscBool gauss)
{
  KSP         ksp;
  Vec         x, b, r;
  PetscRandom rnd;
  PetscReal   e, n;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(x, &r));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &rnd));
  PetscCall(VecSetRandom(b, rnd));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(HopsKSPSetDMInactive(ksp));
  PetscCall(KSPSetOperators(ksp, J, J));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(VecNorm(b, NORM_2, &n));
  for (PetscInt k = 0; k < 2; ++k) {
    if (k) PetscCall(KSPSolveTranspose(ksp, b, x));
    else PetscCall(KSPSolve(ksp, b, x));
    if (k) PetscCall(MatMultTranspose(J, x, r));
    else PetscCall(MatMult(J, x, r));
    PetscCall(VecAXPY(r, -1.0, b));
    PetscCall(VecNorm(r, NORM_2, &e));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", k ? "transpose" : "matrix",
                          gauss           ? (e < 1e-8 * n ? "solved" : "NOT SOLVED")
                          : e < 1e-10 * n ? "PETSc's own with vertex quadrature"
                                          : "DIFFERS from PETSc's own with vertex quadrature"));
  }
  PetscCall(PetscRandomDestroy(&rnd));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLOR(DM dm, Mat J, PetscBool couple, const char type[], PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetDM(*pc, dm));
  PetscCall(PCSetOperators(*pc, J, J));
  PetscCall(PCSetType(*pc, PCLOR));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCLORSetCouple(*pc, couple));
  if (!couple) PetscCall(PCLORSetDropTolerance(*pc, 0.0));
  PetscCall(PCLORSetMatType(*pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Its matrix, set up, with rows that can be read */
static PetscErrorCode GetMatrix(PC pc, Mat *A)
{
  Mat         mat, aij;
  PetscBool   hypre;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCall(PCSetUp(pc));
  PetscCall(PCLORGetMat(pc, &mat));
  PetscCall(PetscObjectTypeCompare((PetscObject)mat, MATHYPRE, &hypre));
  if (hypre) {
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
    PetscCall(MatConvert(mat, MATAIJ, MAT_INITIAL_MATRIX, &aij));
    PetscCall(MatConvert(aij, size > 1 ? MATMPIAIJ : MATSEQAIJ, MAT_INITIAL_MATRIX, A)); /* there is no direct way */
    PetscCall(MatDestroy(&aij));
  } else {
    PetscCall(PetscObjectReference((PetscObject)mat));
    *A = mat;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries within components of D and A differ by error, and those of A between components are other[0], and
   those of D other[1], in size; relative to the largest of D */
static PetscErrorCode CompareBlocks(Mat D, Mat A, PetscInt nc, PetscReal *error, PetscReal other[2])
{
  PetscInt  start, end;
  PetscReal v[4] = {0.0, 0.0, 0.0, 0.0};

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(D, &start, &end));
  for (PetscInt row = start; row < end; ++row) {
    const PetscInt    *dj, *aj;
    const PetscScalar *da, *aa;
    PetscInt           nd, na;

    PetscCall(MatGetRow(D, row, &nd, &dj, &da));
    PetscCall(MatGetRow(A, row, &na, &aj, &aa));
    for (PetscInt k = 0; k < nd; ++k) {
      PetscScalar a = 0.0;

      for (PetscInt l = 0; l < na; ++l)
        if (aj[l] == dj[k]) a = aa[l];
      v[3] = PetscMax(v[3], PetscAbsScalar(da[k]));
      if ((dj[k] - row) % nc) v[2] = PetscMax(v[2], PetscAbsScalar(da[k]));
      else v[0] = PetscMax(v[0], PetscAbsScalar(a - da[k]));
    }
    for (PetscInt l = 0; l < na; ++l) { /* and nothing else */
      PetscBool in = PETSC_FALSE;

      for (PetscInt k = 0; k < nd; ++k)
        if (aj[l] == dj[k]) in = PETSC_TRUE;
      if (!in || (aj[l] - row) % nc) v[1] = PetscMax(v[1], PetscAbsScalar(aa[l]));
    }
    PetscCall(MatRestoreRow(A, row, &na, &aj, &aa));
    PetscCall(MatRestoreRow(D, row, &nd, &dj, &da));
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, v, 4, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  *error   = v[0] / v[3];
  other[0] = v[1] / v[3];
  other[1] = v[2] / v[3];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Twice: its values anew on the pattern that is there. Then the same PC with the couplings after all */
static PetscErrorCode Apart(DM dm, Mat J, PetscInt nc)
{
  PC        pc[2];
  Mat       A, T, coupled;
  PetscBool equal;
  PetscReal error = 0.0, other[2] = {0.0, 0.0};
  char      type[64] = MATAIJ;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-apart_mat_type", type, sizeof(type), NULL));
  PetscCall(CreateLOR(dm, J, PETSC_TRUE, MATAIJ, &pc[0]));
  PetscCall(CreateLOR(dm, J, PETSC_FALSE, type, &pc[1]));
  PetscCall(GetMatrix(pc[0], &A));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatAYPX(T, 1.0, A, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatScale(T, 0.5));
  PetscCall(MatDestroy(&A));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(GetMatrix(pc[1], &A));
    PetscCall(CompareBlocks(T, A, nc, &error, other));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "components apart: %s\n",
                          error > 1e-12     ? "DIFFER from the diagonal blocks"
                          : other[0] > 0.0  ? "MORE than the diagonal blocks"
                          : other[1] < 1e-3 ? "NOTHING between components was left out"
                                            : "the diagonal blocks"));
    PetscCall(MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY)); /* its state is new */
    PetscCall(MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY));
    PetscCall(PCSetOperators(pc[1], J, J));
  }
  PetscCall(PCLORSetCouple(pc[1], PETSC_TRUE));
  PetscCall(PCLORSetMatType(pc[1], MATAIJ));
  PetscCall(GetMatrix(pc[1], &A));
  PetscCall(PCLORGetMat(pc[0], &coupled));
  PetscCall(MatEqual(A, coupled, &equal));
  if (!equal) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "with couplings again: DIFFERS\n"));
  PetscCall(MatDestroy(&A));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(PCDestroy(&pc[k]));
  PetscCall(MatDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM        dm;
  PetscDS   ds;
  SNES      snes;
  Mat       J;
  Vec       x;
  PetscInt  nc = 2;
  PetscBool boundary, gauss = PETSC_FALSE, apart = PETSC_FALSE, has[4], bd[4];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-components", &nc, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-gauss", &gauss, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-apart", &apart, NULL));
  PetscCall(GetTerms("-terms", "0123", has, NULL));
  PetscCall(GetTerms("-boundary", "", bd, &boundary));
  PetscCall(TestMeshMapped(PETSC_COMM_WORLD, boundary ? Shear : TestCurve, &dm));
  PetscCall(AddField(dm, nc, (PetscBool)(gauss || apart)));
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, has[0] ? g0 : NULL, has[1] ? g1 : NULL, has[2] ? g2 : NULL, has[3] ? g3 : NULL));
  PetscCall(AddBoundaries(dm, nc, boundary ? bd : NULL));
  PetscCall(HopsDMPlexSetSNESLocalFEM(dm));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, dm));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(VecSet(x, 0.0));
  PetscCall(DMCreateMatrix(dm, &J));
  PetscCall(SNESSetSolution(snes, x));
  PetscCall(SNESSetUp(snes));
  PetscCall(SNESComputeJacobian(snes, x, J, J));
  if (apart) PetscCall(Apart(dm, J, nc));
  else PetscCall(Solve(dm, J, gauss));
  PetscCall(SNESDestroy(&snes));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&J));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -pc_type lor -pc_lor_couple 1 -petscspace_degree 1 -dm_coord_petscspace_degree 2
    output_file: output/lorblock.out
    test:
      suffix: 2d
      args: -lor_pc_type lu -dm_plex_dim 2 -dm_plex_box_faces 4,3 -components {{2 3}} -terms {{0123 3 02 013}}
    test:
      suffix: scalar
      args: -lor_pc_type lu -dm_plex_dim {{2 3}} -dm_plex_box_faces 4,3,2 -components 1 -terms {{0123 02}}
    test:
      suffix: 3d
      args: -lor_pc_type lu -dm_plex_dim 3 -dm_plex_box_faces 2,3,2 -components 3 -terms {{0123 03}}
    test:
      suffix: parallel
      nsize: {{2 3}}
      args: -lor_pc_type redundant -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,3,3 -components 2
    test:
      suffix: boundary
      args: -lor_pc_type lu -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,4,2 -components {{1 2}} -terms {{0123 012}} -boundary {{0 1 2 3 0123}} -wall 4 -slip 3 -flux 2
    test:
      suffix: boundary_parallel
      nsize: {{2 3}}
      args: -lor_pc_type redundant -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,3,3 -components 2 -boundary 0123 -wall 4 -slip 3 -flux 2

  test:
    suffix: boundary_high
    nsize: {{1 2}}
    args: -gauss -pc_type lor -pc_lor_couple 1 -ksp_type gmres -ksp_rtol 1e-11 -ksp_max_it 40 -ksp_error_if_not_converged
      -lor_pc_type redundant -petscspace_degree {{2 4}} -dm_plex_dim 2 -dm_plex_box_faces 3,3 -components 2 -terms 03 -boundary
      {{0 012}} -wall 4 -slip 3 -flux 2

  testset:
    args: -apart -terms {{03 3}} -dm_coord_petscspace_degree 2 -lor_pc_type jacobi
    output_file: output/lorblock_apart.out
    test:
      suffix: apart
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -components {{2 3}} -petscspace_degree {{1 2 5}}
    test:
      suffix: apart
      requires: long
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,3 -components {{2 3}} -petscspace_degree {{8}}
    test:
      suffix: apart_3d
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,3,2 -components 3 -petscspace_degree {{1 3}}
    test:
      suffix: apart_boundary
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,3,2 -components 2 -petscspace_degree 3 -boundary 0 -wall 4 -slip 3 -flux 2
    test:
      suffix: apart_parallel
      nsize: {{2 3 4}}
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,3,3 -components {{2 3}} -petscspace_degree {{1 2}}
    test:
      suffix: apart_empty
      nsize: 3
      args: -dm_plex_dim 2 -dm_plex_box_faces 2,1 -components 2 -petscspace_degree 3
    test:
      suffix: apart_hypre
      requires: hypre real
      nsize: {{1 2}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -components 3 -petscspace_degree 2 -apart_mat_type hypre
    test:
      suffix: apart_cuda
      requires: cuda
      nsize: {{1 2 3}}
      args: -dm_vec_type cuda -use_gpu_aware_mpi 0 -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,3,2 -components {{2 3}} -petscspace_degree {{1 4}} -apart_mat_type {{aij aijcusparse hypre}}

  test:
    suffix: apart_refused
    args: -pc_type lor -pc_lor_couple 0 -petscspace_degree 2 -dm_plex_dim 2 -dm_plex_box_faces 4,3 -components 2 -terms 013 -petsc_ci_portable_error_output
    filter: grep -o -m 1 "without couplings between components (-pc_lor_couple 0) does not take first-order terms"

  test:
    suffix: dropping
    args: -pc_type lor -petscspace_degree 1 -dm_coord_petscspace_degree 2 -lor_pc_type lu -dm_plex_dim 2 -dm_plex_box_faces 4,3 -components 2 -pc_lor_drop_tol 0.3 -petsc_ci_portable_error_output
    filter: grep -o -m 1 "keeps all its entries: -pc_lor_drop_tol is for scalar symmetric forms"

TEST*/
