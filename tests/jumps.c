static char help[] = "A coefficient that jumps between cells, given as a function of position: CG takes about as many iterations\n\
  as with its values by cell, and finds the solution of LU.\n\
  -family <h1,h(curl),h(div)>, -order <p>; -components <n>: of a PetscDS, by cell as an auxiliary field; elasticity\n\
  where there are dim of them\n\n";

#include "hopstest.h"
#include <petscds.h>
#include <petscsnes.h>

static PetscReal jump = 1.0;

/* a chequerboard of four fields in each direction, with the margin that codes add for their floor() */
static PetscReal Board(PetscInt dim, const PetscReal x[])
{
  PetscInt k = 0;

  for (PetscInt d = 0; d < dim; ++d) k += (PetscInt)PetscFloorReal(4.0 * x[d] + 1e-9);
  return k % 2 ? jump : 1.0;
}

static PetscErrorCode Kappa(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar k[], void *ctx)
{
  k[0] = Board(dim, x);
  return PETSC_SUCCESS;
}

static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar f[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) f[i] = 1.0 + x[0] * x[1] - i * x[dim - 1];
  return PETSC_SUCCESS;
}

/* the energy norm of the error of x against LU, which gets A scaled to a diagonal of ones */
static PetscErrorCode Error(Mat A, Vec b, Vec x, PetscReal *error)
{
  KSP         lu;
  PC          pc;
  Mat         B;
  Vec         y, d, r;
  PetscScalar e, n;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &y));
  PetscCall(VecDuplicate(b, &d));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatGetDiagonal(B, d));
  PetscCall(VecSqrtAbs(d));
  PetscCall(VecReciprocal(d));
  PetscCall(MatDiagonalScale(B, d, d));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &lu));
  PetscCall(KSPSetOperators(lu, B, B));
  PetscCall(KSPSetType(lu, KSPPREONLY));
  PetscCall(KSPGetPC(lu, &pc));
  PetscCall(PCSetType(pc, PCREDUNDANT)); /* LU on every rank */
  PetscCall(VecPointwiseMult(r, b, d));
  PetscCall(KSPSolve(lu, r, y));
  PetscCall(VecPointwiseDivide(d, x, d));
  PetscCall(MatMult(B, y, r));
  PetscCall(VecDot(r, y, &n));
  PetscCall(VecAXPY(d, -1.0, y));
  PetscCall(MatMult(B, d, r));
  PetscCall(VecDot(r, d, &e));
  *error = PetscSqrtReal(PetscAbsScalar(e / n));
  PetscCall(KSPDestroy(&lu));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* iterations of CG, and, where it is asked for, its error */
static PetscErrorCode Solve(Mat A, Vec b, PetscInt *its, PetscReal *error)
{
  KSP ksp;
  Vec x;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 400));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  if (error) PetscCall(Error(A, b, x, error));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------- by HopsCoefficient ------------------------------------- */

static PetscErrorCode Coefficient(HopsSpace sp, DM dm, PetscBool bycell, HopsCoefficient *cf)
{
  PetscScalar *v;
  PetscInt     dim, cStart, cEnd;

  PetscFunctionBeginUser;
  if (!bycell) {
    PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, Kappa, NULL, cf));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  PetscCall(PetscMalloc1(cEnd - cStart, &v));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    PetscReal x[3];

    PetscCall(DMPlexComputeCellGeometryFVM(dm, c, NULL, x, NULL));
    v[c - cStart] = Board(dim, x);
  }
  PetscCall(HopsCoefficientCreateCell(sp, 1, v, cf));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Form(DM dm, HopsFamily family, PetscInt order, PetscBool bycell, PetscInt *its, PetscReal *error)
{
  const PetscInt  ids[6] = {1, 2, 3, 4, 5, 6};
  HopsCoefficient k, m;
  HopsSpace       sp;
  DMLabel         label;
  Mat             A;
  Vec             b;

  PetscFunctionBeginUser;
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  if (family == HOPS_H1) PetscCall(HopsSpaceCreateH1(dm, order, label, 6, ids, &sp));
  else if (family == HOPS_HCURL) PetscCall(HopsSpaceCreateHCurl(dm, order, label, 6, ids, &sp));
  else PetscCall(HopsSpaceCreateHDiv(dm, order, label, 6, ids, &sp));
  PetscCall(Coefficient(sp, dm, bycell, &k));
  PetscCall(Coefficient(sp, dm, bycell, &m));
  PetscCall(MatCreatePA(sp, &A));
  if (family == HOPS_H1) PetscCall(MatPASetDiffusion(A, k));
  else if (family == HOPS_HCURL) PetscCall(MatPASetCurlCurl(A, k));
  else PetscCall(MatPASetDivDiv(A, k));
  if (family != HOPS_H1) PetscCall(MatPASetMass(A, m));
  PetscCall(MatSetFromOptions(A));
  PetscCall(HopsSpaceCreateVec(sp, &b));
  PetscCall(HopsSpaceComputeRHS(sp, Source, NULL, b));
  PetscCall(Solve(A, b, its, error));
  PetscCall(HopsCoefficientDestroy(&k));
  PetscCall(HopsCoefficientDestroy(&m));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------------- by a PetscDS ---------------------------------------- */

#define POINT \
  PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[], \
    const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[], const PetscScalar a[], \
    const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, PetscReal shift, const PetscReal x[], PetscInt nconst, \
    const PetscScalar constants[], PetscScalar g[]

static void g3(POINT)
{
  const PetscScalar k = NfAux ? a[aOff[0]] : Board(dim, x);
  const PetscInt    n = uOff[1];

  for (PetscInt c = 0; c < n; ++c)
    for (PetscInt i = 0; i < dim; ++i) {
      g[((c * n + c) * dim + i) * dim + i] += k;
      if (n != dim) continue;
      g[((c * n + i) * dim + c) * dim + i] += k;
      g[((c * n + i) * dim + i) * dim + c] += k;
    }
}

static PetscErrorCode Zero(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt c = 0; c < nc; ++c) u[c] = 0.0;
  return PETSC_SUCCESS;
}

static PetscErrorCode BoardField(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = Board(dim, x);
  return PETSC_SUCCESS;
}

/* one value a cell */
static PetscErrorCode AddAuxiliary(DM dm, PetscInt dim)
{
  PetscErrorCode (*f[1])(PetscInt, PetscReal, const PetscReal[], PetscInt, PetscScalar[], void *) = {BoardField};
  DM      aux;
  PetscFE fe, of;
  Vec     v;

  PetscFunctionBeginUser;
  PetscCall(DMClone(dm, &aux));
  PetscCall(PetscFECreateLagrange(PETSC_COMM_SELF, dim, 1, PETSC_FALSE, 0, PETSC_DETERMINE, &fe));
  PetscCall(DMGetField(dm, 0, NULL, (PetscObject *)&of));
  PetscCall(PetscFECopyQuadrature(of, fe));
  PetscCall(DMSetField(aux, 0, NULL, (PetscObject)fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMCreateDS(aux));
  PetscCall(DMCreateLocalVector(aux, &v));
  PetscCall(DMProjectFunctionLocal(aux, 0.0, f, NULL, INSERT_ALL_VALUES, v));
  PetscCall(DMSetAuxiliaryVec(dm, NULL, 0, 0, v));
  PetscCall(VecDestroy(&v));
  PetscCall(DMDestroy(&aux));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Code(PetscInt nc, PetscBool bycell, PetscInt *its, PetscReal *error)
{
  const PetscInt ids[6] = {1, 2, 3, 4, 5, 6};
  DM             dm;
  DMLabel        label;
  PetscFE        fe;
  PetscDS        ds;
  SNES           snes;
  Mat            A;
  Vec            x, b;
  PetscInt       dim;

  PetscFunctionBeginUser;
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_FALSE, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscFECreateDefault(PETSC_COMM_WORLD, dim, nc, PETSC_FALSE, NULL, PETSC_DETERMINE, &fe));
  PetscCall(DMSetField(dm, 0, NULL, (PetscObject)fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMCreateDS(dm));
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, NULL, NULL, NULL, g3));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(DMPlexLabelComplete(dm, label));
  PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "wall", label, 2 * dim, ids, 0, 0, NULL, (HopsVoidFn)Zero, NULL, NULL, NULL));
  if (bycell) PetscCall(AddAuxiliary(dm, dim));
  PetscCall(HopsDMPlexSetSNESLocalFEM(dm));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, dm));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(VecSet(x, 0.0));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(SNESSetSolution(snes, x));
  PetscCall(SNESSetUp(snes));
  PetscCall(SNESComputeJacobian(snes, x, A, A));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(Solve(A, b, its, error));
  PetscCall(SNESDestroy(&snes));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscReal jumps[4] = {1e1, 1e3, 1e6, 1e12};
  HopsFamily      family   = HOPS_H1;
  PetscInt        order = 3, nc = 0;
  DM              dm;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-family", HopsFamilies, (PetscEnum *)&family, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-components", &nc, NULL));
  PetscCall(TestMesh(PETSC_COMM_WORLD, PETSC_FALSE, &dm));
  for (PetscInt i = 0; i < 4; ++i) {
    PetscInt    its[2];
    PetscReal   e;
    const char *few, *right;

    jump = jumps[i];
    for (PetscInt k = 0; k < 2; ++k) {
      const PetscBool bycell = k ? PETSC_TRUE : PETSC_FALSE;

      if (nc) PetscCall(Code(nc, bycell, &its[k], bycell ? NULL : &e));
      else PetscCall(Form(dm, family, order, bycell, &its[k], bycell ? NULL : &e));
    }
    few   = its[0] <= 1.2 * its[1] ? "iterations as by cell" : "MORE ITERATIONS than by cell";
    right = e <= 1e-6 ? "solution of LU" : "WRONG SOLUTION";
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "jump %g: %s, %s\n", (double)jump, few, right));
    PetscCall(PetscInfo(NULL, "iterations %" PetscInt_FMT ", by cell %" PetscInt_FMT ", error %g\n", its[0], its[1], (double)e));
  }
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    output_file: output/jumps.out

    test:
      suffix: h1
      nsize: {{1 2}}
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 4,4,4 -pc_type lor
    test:
      suffix: forms
      args: -family {{h(curl) h(div)}} -dm_plex_dim {{2 3}} -dm_plex_box_faces 4,4,4 -order 2 -pc_type lor
    test:
      suffix: gll_patches
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 4,4,4 -order 2 -mat_pa_quadrature gll -pc_type patchfd
    test:
      suffix: patches
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 4,4,4 -pc_type patchfd
    test:
      suffix: ds
      nsize: {{1 2}}
      args: -components {{1 2}} -petscspace_degree 3 -dm_plex_dim 2 -dm_plex_box_faces 4,4 -dm_mat_type {{pa aij}} -pc_type lor
    test:
      suffix: gll
      args: -components {{0 1 2}} -petscspace_degree 3 -dm_plex_dim 2 -dm_plex_box_faces 4,4 -dm_mat_type pa -mat_pa_quadrature gll -pc_type lor
        -options_left 0
    test:
      suffix: ds_3d
      args: -components {{1 2}} -petscspace_degree 2 -dm_plex_dim 3 -dm_plex_box_faces 4,4,4 -dm_mat_type pa -pc_type lor
    test:
      suffix: levels
      args: -dm_plex_dim 2 -dm_plex_box_faces 4,4 -dm_refine_hierarchy 1 -pc_type hopsmg -pc_hopsmg_coarsen {{h p}} -mg_coarse_pc_type lor -pc_hopsmg_coarse_mat pa
    test:
      suffix: levels_between
      args: -dm_plex_dim 2 -dm_plex_box_faces 2,2 -dm_refine_hierarchy 2 -order 4 -mat_pa_q_1d {{5 6}} -pc_type hopsmg

TEST*/
