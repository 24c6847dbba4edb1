static char help[] =
  "Two adjacent cells in every relative orientation (4x4 in 2D, 24x24 in 3D) give the same operator and LOR matrix.\n\
  -dim <d> -order <p> -fe (the numbering of a PetscFE) -family <HCURL,HDIV>\n\n";

#include "hopstest.h"
#include <petscfe.h>

static PetscBool  usefe  = PETSC_FALSE;
static HopsFamily family = HOPS_H1;

static PetscErrorCode U(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(3.0 * x[0]) + x[1] * x[0] * x[0] + (dim > 2 ? PetscCosReal(2.0 * x[2] + x[1]) : 0.0);
  return PETSC_SUCCESS;
}

/* vector fields, and the derivative of the first: curl or divergence */
static PetscErrorCode UVector(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscReal z = dim > 2 ? x[2] : 0.2;

  u[0] = PetscSinReal(x[1] + z) + x[0];
  u[1] = PetscCosReal(2.0 * x[0] - z) + x[1] * x[1];
  if (dim > 2) u[2] = x[0] * x[1] + PetscExpReal(-x[1]) + 2.0 * z;
  return PETSC_SUCCESS;
}

static PetscErrorCode DUVector(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscReal z = dim > 2 ? x[2] : 0.2, dxv = -2.0 * PetscSinReal(2.0 * x[0] - z), dyu = PetscCosReal(x[1] + z);

  if (family == HOPS_HDIV) u[0] = 1.0 + 2.0 * x[1] + (dim > 2 ? 2.0 : 0.0);
  else if (dim == 2) u[0] = dxv - dyu;
  else {
    u[0] = x[0] - PetscExpReal(-x[1]) - PetscSinReal(2.0 * x[0] - z);
    u[1] = dyu - x[1];
    u[2] = dxv - dyu;
  }
  return PETSC_SUCCESS;
}

static PetscErrorCode VVector(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt i = 0; i < nc; ++i) u[i] = PetscSinReal(1.0 + i + x[i] - 2.0 * x[(i + 1) % dim]);
  return PETSC_SUCCESS;
}

static PetscErrorCode V(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscExpReal(x[0] - x[1]) + (dim > 2 ? x[2] * x[2] * x[1] : 0.0);
  return PETSC_SUCCESS;
}

/* corner of DMPlex's vertex k of a cell, bit d for direction d */
static const PetscInt plexcorner2[4] = {0, 1, 3, 2}, plexcorner3[8] = {0, 2, 3, 1, 4, 5, 7, 6};

/*
  The orientation-preserving symmetries of the reference cell, as maps of corners: a permutation of the axes
  and reflections whose determinant is 1. Returns their number.
*/
static PetscInt Symmetries(PetscInt dim, PetscInt map[24][8])
{
  static const PetscInt perm[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}};
  PetscInt              n          = 0;

  for (PetscInt s = 0; s < 6; ++s) {
    const PetscInt odd = s >= 3;

    if (dim == 2 && perm[s][2] != 2) continue;
    for (PetscInt flip = 0; flip < (1 << dim); ++flip) {
      PetscInt bits = 0;

      for (PetscInt d = 0; d < dim; ++d) bits += (flip >> d) & 1;
      if ((bits + odd) % 2) continue;
      for (PetscInt c = 0; c < (1 << dim); ++c) {
        map[n][c] = 0;
        for (PetscInt d = 0; d < dim; ++d) map[n][c] |= (((c >> perm[s][d]) & 1) ^ ((flip >> d) & 1)) << d;
      }
      ++n;
    }
  }
  return n;
}

/* The forms of H(curl) and H(div), with tensors wherever they may be; the errors of the interpolant and of
   its derivative */
static PetscErrorCode EvaluateVector(DM dm, PetscInt dim, PetscInt p, PetscScalar out[6])
{
  HopsSpace       sp, dsp;
  HopsCoefficient mu, beta;
  Mat             A, L;
  PC              pc;
  Vec             u, v, w, du;
  PetscReal       e;

  PetscFunctionBeginUser;
  if (family == HOPS_HCURL) PetscCall(HopsSpaceCreateHCurl(dm, p, NULL, 0, NULL, &sp));
  else PetscCall(HopsSpaceCreateHDiv(dm, p, NULL, 0, NULL, &sp));
  PetscCall(HopsSpaceCreateCompanion(sp, family == HOPS_HCURL && dim == 3 ? HOPS_HDIV : HOPS_L2, PETSC_FALSE, &dsp));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_SELF, family == HOPS_HCURL && dim == 3 ? 6 : 1, TestKappa, NULL, &mu));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_SELF, dim * (dim + 1) / 2, TestKappa, NULL, &beta));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(family == HOPS_HCURL ? MatPASetCurlCurl(A, mu) : MatPASetDivDiv(A, mu));
  PetscCall(MatPASetMass(A, beta));
  PetscCall(HopsSpaceCreateVec(sp, &u));
  PetscCall(VecDuplicate(u, &v));
  PetscCall(VecDuplicate(u, &w));
  PetscCall(HopsSpaceCreateVec(dsp, &du));
  PetscCall(HopsSpaceInterpolate(sp, UVector, NULL, u));
  PetscCall(HopsSpaceInterpolate(sp, VVector, NULL, v));
  PetscCall(MatMult(A, u, w));
  PetscCall(VecDot(v, w, &out[0]));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PCLORGetMat(pc, &L));
  PetscCall(MatMult(L, u, w));
  PetscCall(VecDot(v, w, &out[1]));
  PetscCall(HopsSpaceComputeRHS(sp, UVector, NULL, w));
  PetscCall(VecDot(v, w, &out[2]));
  PetscCall(HopsSpaceComputeL2Error(sp, u, UVector, NULL, &e));
  out[3] = e;
  PetscCall(HopsSpaceDifferentiate(sp, u, dsp, du));
  PetscCall(HopsSpaceComputeL2Error(dsp, du, DUVector, NULL, &e));
  out[4] = e;
  PetscCall(MatGetDiagonal(A, w));
  PetscCall(VecSum(w, &out[5]));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&du));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&mu));
  PetscCall(HopsCoefficientDestroy(&beta));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(HopsSpaceDestroy(&dsp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Evaluate(DM dm, PetscInt dim, PetscInt p, PetscScalar out[4])
{
  HopsSpace       sp;
  HopsCoefficient kappa, alpha;
  DMLabel         walls;
  PetscInt        n, *cells, *faces;
  Mat             A, L;
  PC              pc;
  Vec             u, v, w;
  PetscReal       e;

  PetscFunctionBeginUser;
  if (usefe) {
    PetscFE fe;

    PetscCall(PetscFECreateLagrange(PETSC_COMM_SELF, dim, 1, PETSC_FALSE, p, PETSC_DETERMINE, &fe));
    PetscCall(DMSetField(dm, 0, NULL, (PetscObject)fe));
    PetscCall(DMCreateDS(dm));
    PetscCall(PetscFEDestroy(&fe));
    PetscCall(HopsSpaceCreateFromDM(dm, &sp));
  } else PetscCall(HopsSpaceCreateH1(dm, p, NULL, 0, NULL, &sp));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_SELF, dim * (dim + 1) / 2, TestKappa, NULL, &kappa));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, kappa));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_SELF, 1, TestMass, NULL, &alpha));
  PetscCall(DMCreateLabel(dm, "walls"));
  PetscCall(DMGetLabel(dm, "walls", &walls));
  PetscCall(DMPlexMarkBoundaryFaces(dm, 1, walls));
  PetscCall(HopsSpaceGetLabelFaces(sp, walls, 1, &n, &cells, &faces));
  PetscCheck(n == (dim == 2 ? 6 : 10), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " boundary faces", n);
  PetscCall(MatPAAddRobin(A, n, cells, faces, alpha));
  PetscCall(PetscFree(cells));
  PetscCall(PetscFree(faces));
  PetscCall(HopsSpaceCreateVec(sp, &u));
  PetscCall(VecDuplicate(u, &v));
  PetscCall(VecDuplicate(u, &w));
  PetscCall(HopsSpaceInterpolate(sp, U, NULL, u));
  PetscCall(HopsSpaceInterpolate(sp, V, NULL, v));
  PetscCall(MatMult(A, u, w));
  PetscCall(VecDot(v, w, &out[0]));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PCLORGetMat(pc, &L));
  PetscCall(MatMult(L, u, w));
  PetscCall(VecDot(v, w, &out[1]));
  PetscCall(HopsSpaceComputeRHS(sp, U, NULL, w));
  PetscCall(VecDot(v, w, &out[2]));
  PetscCall(HopsSpaceComputeL2Error(sp, u, U, NULL, &e)); /* small only if the interpolant is continuous */
  out[3] = e;
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&kappa));
  PetscCall(HopsCoefficientDestroy(&alpha));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt    dim = 2, p = 3, n, nc, map[24][8], bad = 0;
  PetscReal   coords[36];
  PetscScalar ref[6] = {0.0}, out[6] = {0.0};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-fe", &usefe, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-family",
                                (const char *const[]){"H1", "HCURL", "HDIV", "L2", "HopsFamily", "HOPS_", NULL},
                                (PetscEnum *)&family, NULL));
  nc = 1 << dim;
  n  = Symmetries(dim, map);
  /* vertices (i,j,k), i = 0..2, j, k = 0..1, slightly moved so that no symmetry is left */
  for (PetscInt v = 0; v < 3 * nc / 2; ++v) {
    const PetscInt ijk[3] = {v % 3, (v / 3) % 2, v / 6};

    for (PetscInt d = 0; d < dim; ++d) coords[v * dim + d] = ijk[d] + 0.05 * PetscSinReal(1.0 + 3.0 * v + d);
  }
  for (PetscInt a = 0; a < n; ++a)
    for (PetscInt b = 0; b < n; ++b) {
      PetscInt cells[16];
      DM       dm;

      for (PetscInt c = 0; c < 2; ++c)
        for (PetscInt k = 0; k < nc; ++k) {
          const PetscInt corner = map[c ? b : a][dim == 2 ? plexcorner2[k] : plexcorner3[k]];

          cells[c * nc + k] = c + (corner & 1) + 3 * ((corner >> 1) & 1) + 6 * (corner >> 2);
        }
      PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_SELF, dim, 2, 3 * nc / 2, nc, PETSC_TRUE, cells, dim, coords, &dm));
      if (family == HOPS_H1) PetscCall(Evaluate(dm, dim, p, out));
      else PetscCall(EvaluateVector(dm, dim, p, out));
      if (!a && !b) PetscCall(PetscArraycpy(ref, out, 6));
      for (PetscInt k = 0; k < 6; ++k)
        if (!(PetscAbsScalar(out[k] - ref[k]) <= 1e-11 * PetscAbsScalar(ref[k]) + (k == 3 || k == 4 ? 1e-11 : 0.0))) ++bad;
      PetscCall(DMDestroy(&dm));
    }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " x %" PetscInt_FMT " orientations, order %" PetscInt_FMT ": %s\n", n, n,
                        p, bad ? "DIFFER" : "all the same"));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "interpolation error %s\n",
                        PetscRealPart(ref[3]) < PetscPowReal(0.25, p) * (family == HOPS_H1 ? 4.0 : 8.0) ? "small" : "LARGE"));
  if (family != HOPS_H1)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "error of the derivative %s\n",
                          PetscRealPart(ref[4]) < PetscPowReal(0.35, p) * 8.0 ? "small" : "LARGE"));
  PetscCall(PetscInfo(NULL, "errors %g, %g\n", (double)PetscRealPart(ref[3]), (double)PetscRealPart(ref[4])));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -lor_pc_type jacobi
    diff_args: -j
    test:
      suffix: 2d
      args: -dim 2 -order {{1 2 3 4 7}separate output}
    test:
      suffix: 3d
      timeoutfactor: 2
      args: -dim 3 -order {{2 3 4}separate output}
    test:
      suffix: 2d_fe
      args: -dim 2 -fe -order {{2 3 4}separate output}
    test:
      suffix: 3d_fe
      timeoutfactor: 2
      args: -dim 3 -fe -order {{2 3}separate output}
    test:
      suffix: 2d_vector
      args: -dim 2 -family {{HCURL HDIV}separate output} -order {{1 2 4 7}separate output}
    test:
      suffix: 3d_vector
      timeoutfactor: 2
      args: -dim 3 -family {{HCURL HDIV}separate output} -order {{1 2 3}separate output}

TEST*/
