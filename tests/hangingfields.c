static char help[] =
  "Forms with full tensors on a DMPLEX with a tree: several components, first-order terms, boundary Jacobians, several fields.\n\
  meshes as in hangingplex; -dim <d> -order <p>\n\
  -form laplace : each component is compared with the scalar operator\n\
  -form elasticity : solved by -pc_type lor\n\
  -form general : no symmetry, first-order terms, boundary Jacobians\n\
  -form stokes : two fields\n\
  -form drift : with a first-order term; where that is zero the low-order-refined matrix is that without it\n\
  -wind <w> : else the system is solved, or with -grows refused\n\
  -petsc : PETSc's matrix is compared; else that of MatConvert()\n\
  -lor : the low-order-refined matrix has the operator's values for linear functions\n\
  -incomplete : blocks of incomplete fields are\n\n";

#include "hangingtree.h"
#include "hopsexpect.h"
#include <petscds.h>
#include <petscsnes.h>

typedef enum {
  LAPLACE,
  ELASTICITY,
  GENERAL,
  STOKES,
  DRIFT
} Form;
static const char *const Forms[] = {"laplace", "elasticity", "general", "stokes", "drift", "Form", "", NULL};

#define POINT_JACOBIAN(name) \
  static void name(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], \
                   const PetscScalar u[], const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], \
                   const PetscInt aOff_x[], const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, \
                   PetscReal shift, const PetscReal x[], PetscInt numConstants, const PetscScalar constants[], PetscScalar g[])
#define BOUNDARY_JACOBIAN(name) \
  static void name(PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], \
                   const PetscScalar u[], const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], \
                   const PetscInt aOff_x[], const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, \
                   PetscReal shift, const PetscReal x[], const PetscReal n[], PetscInt numConstants, \
                   const PetscScalar constants[], PetscScalar g[])

/* of components */
POINT_JACOBIAN(Laplace)
{
  const PetscInt nc = uOff[1] - uOff[0];

  for (PetscInt c = 0; c < nc; ++c)
    for (PetscInt d = 0; d < dim; ++d) g[((c * nc + c) * dim + d) * dim + d] = 1.0 + x[0];
}

POINT_JACOBIAN(Elasticity)
{
  for (PetscInt c = 0; c < dim; ++c)
    for (PetscInt d = 0; d < dim; ++d) {
      g[((c * dim + c) * dim + d) * dim + d] += 1.0;
      g[((c * dim + d) * dim + d) * dim + c] += 1.0;
      g[((c * dim + d) * dim + c) * dim + d] += 0.5;
    }
}

static PetscReal Slope = 1.0;

/* no symmetry in anything; number k of a tensor */
static PetscReal Entry(PetscInt k, const PetscReal x[])
{
  return PetscSinReal(1.0 + 1.7 * (PetscReal)k) + Slope * (0.3 * x[0] - 0.2 * x[1] * (k % 3));
}

POINT_JACOBIAN(General0)
{
  const PetscInt n = uOff[1] - uOff[0];

  for (PetscInt k = 0; k < n * n; ++k) g[k] = Entry(k, x) * (1.0 + 0.1 * PetscRealPart(u[0]));
}

POINT_JACOBIAN(General1)
{
  const PetscInt n = uOff[1] - uOff[0];

  for (PetscInt k = 0; k < n * n * dim; ++k) g[k] = Entry(k + 5, x);
}

POINT_JACOBIAN(General2)
{
  const PetscInt n = uOff[1] - uOff[0];

  for (PetscInt k = 0; k < n * n * dim; ++k) g[k] = Entry(k + 9, x);
}

POINT_JACOBIAN(General3)
{
  const PetscInt n = uOff[1] - uOff[0];

  for (PetscInt k = 0; k < n * n * dim * dim; ++k) g[k] = Entry(k + 3, x);
}

/* the same everywhere: on faces that their cells see reversed, PETSc 3.18 takes another point's x */
BOUNDARY_JACOBIAN(Boundary0)
{
  const PetscReal origin[3] = {0.0, 0.0, 0.0};
  const PetscInt  nc        = uOff[1] - uOff[0];

  for (PetscInt k = 0; k < nc * nc; ++k) g[k] = Entry(k + 2, origin);
}

BOUNDARY_JACOBIAN(Boundary1)
{
  const PetscReal origin[3] = {0.0, 0.0, 0.0};
  const PetscInt  nc        = uOff[1] - uOff[0];

  for (PetscInt k = 0; k < nc * nc * dim; ++k) g[k] = Entry(k + 7, origin) * n[k % dim];
}

static PetscReal Wind = 0.0;

POINT_JACOBIAN(Drift)
{
  for (PetscInt d = 0; d < dim; ++d) g[d] = Wind * (PetscReal)(d + 1);
}

POINT_JACOBIAN(Divergence)
{
  for (PetscInt d = 0; d < dim; ++d) g[d * dim + d] = -1.0;
}

static PetscErrorCode Zero(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt c = 0; c < nc; ++c) u[c] = 0.0;
  return PETSC_SUCCESS;
}

/* Facets at the lower end of the first direction are a wall, those at that of the last one a slip, the others
   have boundary Jacobians */
static PetscErrorCode SplitBoundary(DM dm, PetscInt dim)
{
  DMLabel         label, sides;
  IS              points;
  const PetscInt *p;
  PetscReal       lo[3], hi[3];
  PetscInt        n = 0, fStart, fEnd;

  PetscFunctionBeginUser;
  PetscCall(MarkBoundary(dm, dim));
  PetscCall(DMGetLabel(dm, "boundary", &label));
  PetscCall(DMCreateLabel(dm, "sides"));
  PetscCall(DMGetLabel(dm, "sides", &sides));
  PetscCall(DMGetBoundingBox(dm, lo, hi));
  PetscCall(DMPlexGetHeightStratum(dm, 1, &fStart, &fEnd));
  PetscCall(DMLabelGetStratumIS(label, 1, &points));
  if (points) PetscCall(ISGetLocalSize(points, &n));
  if (points) PetscCall(ISGetIndices(points, &p));
  for (PetscInt i = 0; i < n; ++i) {
    PetscReal x[3], normal[3], size;

    if (p[i] < fStart || p[i] >= fEnd) continue;
    PetscCall(DMPlexComputeCellGeometryFVM(dm, p[i], &size, x, normal));
    PetscCall(DMLabelSetValue(sides, p[i], x[0] < lo[0] + 1e-8 ? 1 : (x[dim - 1] < lo[dim - 1] + 1e-8 ? 2 : 3)));
  }
  if (points) PetscCall(ISRestoreIndices(points, &p));
  PetscCall(ISDestroy(&points));
  PetscCall(DMPlexLabelComplete(dm, sides));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddBoundaries(DM dm, PetscInt nc, PetscBool essential, PetscBool flux)
{
  const PetscInt last = nc - 1;
  PetscInt       one = 1, two = 2, three = 3, bd;
  DMLabel        sides;
  PetscDS        ds;
  PetscWeakForm  wf;

  PetscFunctionBeginUser;
  PetscCall(DMGetLabel(dm, "sides", &sides));
  if (essential)
    PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "wall", sides, 1, &one, 0, 0, NULL, (HopsVoidFn)Zero, NULL, NULL, NULL));
  if (essential && nc > 1)
    PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "slip", sides, 1, &two, 0, 1, &last, (HopsVoidFn)Zero, NULL, NULL, NULL));
  if (!flux) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(DMAddBoundary(dm, DM_BC_NATURAL, "flux", sides, 1, &three, 0, 0, NULL, NULL, NULL, NULL, &bd));
  PetscCall(PetscDSGetBoundary(ds, bd, &wf, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(PetscWeakFormSetIndexBdJacobian(wf, sides, three, 0, 0, 0, 0, Boundary0, 0, Boundary1, 0, NULL, 0, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddFields(DM dm, PetscInt dim, PetscInt p, PetscInt nc, Form form)
{
  PetscFE fe, first = NULL;
  PetscDS ds;

  PetscFunctionBeginUser;
  for (PetscInt f = 0; f < (form == STOKES ? 2 : 1); ++f) {
    PetscCall(PetscFECreateLagrange(PETSC_COMM_WORLD, dim, f ? 1 : nc, PETSC_FALSE, f ? p - 1 : p, PETSC_DETERMINE, &fe));
    if (first) PetscCall(PetscFECopyQuadrature(first, fe));
    PetscCall(DMSetField(dm, f, NULL, (PetscObject)fe));
    PetscCall(PetscFEDestroy(&first));
    first = fe;
  }
  PetscCall(PetscFEDestroy(&first));
  PetscCall(DMCreateDS(dm));
  PetscCall(DMGetDS(dm, &ds));
  if (form == LAPLACE || form == DRIFT) PetscCall(PetscDSSetJacobian(ds, 0, 0, NULL, form == DRIFT ? Drift : NULL, NULL, Laplace));
  if (form == ELASTICITY || form == STOKES) PetscCall(PetscDSSetJacobian(ds, 0, 0, NULL, NULL, NULL, Elasticity));
  if (form == GENERAL) PetscCall(PetscDSSetJacobian(ds, 0, 0, General0, General1, General2, General3));
  if (form == STOKES) {
    PetscCall(PetscDSSetJacobian(ds, 0, 1, NULL, NULL, Divergence, NULL));
    PetscCall(PetscDSSetJacobian(ds, 1, 0, NULL, Divergence, NULL, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ comparisons ------------------------------------------ */

static PetscErrorCode Same(const char what[], Vec y, Vec z)
{
  PetscReal e, n;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(z, NORM_INFINITY, &n));
  PetscCall(VecAXPY(y, -1.0, z));
  PetscCall(VecNorm(y, NORM_INFINITY, &e));
  if (!(n > 0.0 && e <= 1e-11 * n))
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s DIFFERS by %g of %g\n", what, (double)e, (double)n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator, and a matrix of which it should be the action */
static PetscErrorCode Compare(Mat A, Mat B, PetscBool diagonal)
{
  Vec x, y, bx, z;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(MatCreateVecs(B, &bx, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecCopy(x, bx));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(B, bx, z));
  PetscCall(Same("product", y, z));
  PetscCall(VecSetRandom(y, NULL));
  PetscCall(VecCopy(y, z));
  PetscCall(MatMultTranspose(A, y, x));
  PetscCall(MatMultTranspose(B, z, bx));
  PetscCall(Same("transposed product", x, bx));
  if (diagonal) {
    PetscCall(MatGetDiagonal(A, y));
    PetscCall(MatGetDiagonal(B, z));
    PetscCall(Same("diagonal", y, z));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&bx));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each component of the operator is the scalar one, whose kernels are others. Without essential unknowns
   components lie side by side */
static PetscErrorCode CompareScalar(DM dm, Mat A, PetscInt dim, PetscInt p, PetscInt nc)
{
  DM        one;
  HopsSpace sp;
  Mat       S;
  Vec       x, y, u, v, w;

  PetscFunctionBeginUser;
  PetscCall(DMClone(dm, &one));
  PetscCall(AddFields(one, dim, p, 1, LAPLACE));
  PetscCall(HopsSpaceCreateFromDM(one, &sp));
  PetscCall(MatCreatePA(sp, &S));
  PetscCall(MatPASetFromDS(S, one));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(MatCreateVecs(S, &u, &v));
  PetscCall(VecDuplicate(u, &w));
  PetscCall(VecSetBlockSize(x, nc));
  PetscCall(VecSetBlockSize(y, nc));
  PetscCall(VecSetRandom(x, NULL));
  for (int pass = 0; pass < 2; ++pass) {
    if (pass) PetscCall(MatGetDiagonal(A, y));
    else PetscCall(MatMult(A, x, y));
    for (PetscInt c = 0; c < nc; ++c) {
      PetscCall(VecStrideGather(x, c, u, INSERT_VALUES));
      PetscCall(VecStrideGather(y, c, v, INSERT_VALUES));
      if (pass) PetscCall(MatGetDiagonal(S, w));
      else PetscCall(MatMult(S, u, w));
      PetscCall(Same(pass ? "diagonal of a component" : "product of a component", v, w));
    }
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscCall(MatDestroy(&S));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The low-order-refined matrix of the components */
static PetscErrorCode Solve(Mat A)
{
  Vec      x, b;
  PetscInt its, bound = 60;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-iterations", &bound, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(TestSolve(A, b, x, KSP_NORM_PRECONDITIONED, 1e-10, 200, &its));
  PetscCall(PetscInfo(A, "%" PetscInt_FMT " iterations\n", its));
  if (its <= bound) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations: few\n"));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations: %" PetscInt_FMT "\n", its));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the entries of a field whose rows are not empty; *some: does any rank have others? */
static PetscErrorCode WithoutEmpty(Mat B, IS field, IS *is, PetscBool *some)
{
  const PetscInt *idx;
  PetscInt        n, start, m = 0, *list;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(B, &start, NULL));
  PetscCall(ISGetLocalSize(field, &n));
  PetscCall(ISGetIndices(field, &idx));
  PetscCall(PetscMalloc1(n, &list));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscScalar *v;
    PetscInt           nz;
    PetscReal          most = 0.0;

    PetscCall(MatGetRow(B, idx[i], &nz, NULL, &v));
    for (PetscInt k = 0; k < nz; ++k) most = PetscMax(most, PetscAbsScalar(v[k]));
    PetscCall(MatRestoreRow(B, idx[i], &nz, NULL, &v));
    if (most > 0.0) list[m++] = idx[i];
  }
  PetscCall(ISRestoreIndices(field, &idx));
  *some = m < n ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, some, 1, HOPS_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)B)));
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)B), m, list, PETSC_OWN_POINTER, is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks of two fields; one that lacks unknowns of no node is refused */
static PetscErrorCode CompareBlocks(DM dm, Mat A, Mat B)
{
  IS        is[2], incomplete;
  Mat       a;
  PetscBool some, refused;

  PetscFunctionBeginUser;
  for (PetscInt f = 0; f < 2; ++f) {
    DM sub;

    PetscCall(DMCreateSubDM(dm, 1, &f, &is[f], &sub));
    PetscCall(DMDestroy(&sub));
  }
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      Mat b;

      if (i && j) continue; /* zero */
      PetscCall(MatCreateSubMatrix(A, is[i], is[j], MAT_INITIAL_MATRIX, &a));
      PetscCall(MatCreateSubMatrix(B, is[i], is[j], MAT_INITIAL_MATRIX, &b));
      PetscCall(Compare(a, b, i == j ? PETSC_TRUE : PETSC_FALSE));
      PetscCall(MatDestroy(&a));
      PetscCall(MatDestroy(&b));
    }
  PetscCall(PetscOptionsHasName(NULL, NULL, "-incomplete", &refused));
  if (refused) {
    PetscCall(WithoutEmpty(B, is[0], &incomplete, &some));
    if (!some) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "no unknowns of no node\n"));
    EXPECT("a field without some unknowns", MatCreateSubMatrix(A, incomplete, is[1], MAT_INITIAL_MATRIX, &a), "whole fields");
    PetscCall(ISDestroy(&incomplete));
  }
  for (int i = 0; i < 2; i++) PetscCall(ISDestroy(&is[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLOR(Mat A, PetscInt entries, PC *pc, Mat *L)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetType(*pc, PCLOR));
  PetscCall(PCLORSetCouple(*pc, PETSC_TRUE));
  if (entries >= 0) PetscCall(PCLORSetConstraintEntries(*pc, entries));
  PetscCall(PetscOptionsSetValue(NULL, "-lor_pc_type", "none"));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCSetUp(*pc));
  PetscCall(PCLORGetMat(*pc, L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 1, or a coordinate */
static PetscErrorCode Linear(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  const PetscInt d = *(PetscInt *)ctx;

  u[0] = d < dim ? x[d] : 1.0;
  return PETSC_SUCCESS;
}

/* Vertex quadrature is exact for linear functions and constant tensors where cells are affine, and hanging
   nodes with all of their weights have the values of linear functions: for these, with no essential unknowns,
   matrix and operator are one. Components lie side by side */
static PetscErrorCode CompareLinear(DM dm, Mat A, PetscInt dim, PetscInt p, PetscInt nc)
{
  const PetscInt n    = nc * (dim + 1);
  PetscReal      most = 0.0, off = 0.0;
  DM             one;
  HopsSpace      sp;
  PC             pc;
  Mat            L, S;
  Vec            u, *x, y, z;

  PetscFunctionBeginUser;
  PetscCall(CreateLOR(A, 0, &pc, &L));
  PetscCall(DMClone(dm, &one));
  PetscCall(AddFields(one, dim, p, 1, LAPLACE));
  PetscCall(HopsSpaceCreateFromDM(one, &sp));
  PetscCall(MatCreatePA(sp, &S));
  PetscCall(MatCreateVecs(S, &u, NULL));
  PetscCall(MatCreateVecs(A, NULL, &y));
  PetscCall(VecDuplicateVecs(y, n, &x));
  PetscCall(VecDuplicate(y, &z));
  for (PetscInt i = 0; i < n; ++i) {
    PetscInt d = i / nc;

    PetscCall(HopsSpaceInterpolate(sp, Linear, &d, u));
    PetscCall(VecSetBlockSize(x[i], nc));
    PetscCall(VecSet(x[i], 0.0));
    PetscCall(VecStrideScatter(u, i % nc, x[i], INSERT_VALUES));
  }
  for (PetscInt i = 0; i < n; ++i) {
    PetscCall(MatMult(A, x[i], y));
    PetscCall(MatMult(L, x[i], z));
    for (PetscInt j = 0; j < n; ++j) {
      PetscScalar a, l;

      PetscCall(VecDot(y, x[j], &a));
      PetscCall(VecDot(z, x[j], &l));
      most = PetscMax(most, PetscAbsScalar(a));
      off  = PetscMax(off, PetscAbsScalar(a - l));
    }
  }
  if (!(most > 0.0 && off <= 1e-10 * most))
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "of linear functions DIFFERS by %g of %g\n", (double)off, (double)most));
  PetscCall(VecDestroyVecs(n, &x));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&S));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix of a form with a first-order term that is zero, and that of the form without it, which other
   code makes */
static PetscErrorCode CompareDrift(DM dm, Mat A, PetscInt dim, PetscInt p)
{
  DM        other;
  HopsSpace sp;
  Mat       S, L, M;
  PC        pc, pcs;

  PetscFunctionBeginUser;
  PetscCall(DMClone(dm, &other));
  PetscCall(AddFields(other, dim, p, 1, LAPLACE));
  PetscCall(AddBoundaries(other, 1, PETSC_TRUE, PETSC_FALSE));
  PetscCall(HopsSpaceCreateFromDM(other, &sp));
  PetscCall(MatCreatePA(sp, &S));
  PetscCall(MatPASetFromDS(S, other));
  for (PetscInt entries = -1; entries < 2; ++entries) {
    PetscCall(CreateLOR(A, entries, &pc, &L));
    PetscCall(CreateLOR(S, entries, &pcs, &M));
    PetscCall(Compare(L, M, PETSC_TRUE));
    PetscCall(PCDestroy(&pc));
    PetscCall(PCDestroy(&pcs));
  }
  PetscCall(MatDestroy(&S));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* BoomerAMG of a matrix whose first-order terms dominate grows vectors: refused by central differences, not
   by one-sided ones */
static PetscErrorCode Growth(Mat A)
{
  PetscFunctionBeginUser;
  for (PetscInt upwind = 0; upwind < 2; ++upwind) {
    PC pc;

    if (upwind) PetscCall(PetscOptionsSetValue(NULL, "-pc_lor_upwind", NULL));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetType(pc, PCLOR));
    PetscCall(PCSetFromOptions(pc));
    if (upwind) PetscCall(PCSetUp(pc));
    else EXPECT("growth", PCSetUp(pc), "first-order terms dominate|times as large|-pc_lor_upwind");
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "upwind: set up\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt  dim = 2, p = 2, n = 3, nc, form = GENERAL;
  PetscBool petsc, lor, grows;
  DM        dm;
  SNES      snes;
  Vec       u, X;
  Mat       A, B;
  PetscErrorCode (*jacobian)(DM, Vec, Mat, Mat, void *);
  void *ctx;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HangSetBackend());
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cells", &n, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-form", Forms, 5, &form, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-petsc", &petsc));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-lor", &lor));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-grows", &grows));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-wind", &Wind, NULL));
  nc = form == GENERAL ? 2 : (form == DRIFT ? 1 : dim);
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-components", &nc, NULL));
  PetscCall(CreateMesh(dim, n, &dm));
  PetscCall(SplitBoundary(dm, dim));
  PetscCall(AddFields(dm, dim, p, nc, (Form)form));
  if (form != LAPLACE) PetscCall(AddBoundaries(dm, nc, lor ? PETSC_FALSE : PETSC_TRUE, form == GENERAL ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(HopsDMPlexSetSNESLocalFEM(dm));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, dm));
  PetscCall(DMCreateGlobalVector(dm, &u));
  PetscCall(DMCreateLocalVector(dm, &X)); /* cells see what they have: PETSc's constraints know its own trees alone */
  if (lor) Slope = 0.0;
  else PetscCall(VecSetRandom(X, NULL));
  PetscCall(VecRealPart(X));
  if (petsc) { /* before hops has the DM */
    PetscCall(DMCreateMatrix(dm, &B));
    PetscCall(DMPlexSNESComputeJacobianFEM(dm, X, B, B, NULL));
  }
  PetscCall(PetscOptionsSetValue(NULL, "-dm_mat_type", "pa"));
  PetscCall(PetscOptionsSetValue(NULL, "-dm_distribute", "0"));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(SNESSetSolution(snes, u));
  PetscCall(SNESSetUp(snes));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(DMSNESGetJacobianLocal(dm, &jacobian, &ctx));
  PetscCall((*jacobian)(dm, X, A, A, ctx));
  if (!petsc) PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(Compare(A, B, PETSC_TRUE));
  if (form == STOKES) PetscCall(CompareBlocks(dm, A, B));
  if (form == LAPLACE) PetscCall(CompareScalar(dm, A, dim, p, nc));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: compared\n", Forms[form]));
  if (lor) PetscCall(CompareLinear(dm, A, dim, p, nc));
  if (form == DRIFT && Wind == 0.0) PetscCall(CompareDrift(dm, A, dim, p));
  if (grows) PetscCall(Growth(A));
  else if ((form == ELASTICITY && !lor) || (form == DRIFT && Wind != 0.0)) PetscCall(Solve(A));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&X));
  PetscCall(VecDestroy(&u));
  PetscCall(SNESDestroy(&snes));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -turn
    output_file: output/hangingfields_laplace.out

    test:
      suffix: laplace_2d
      nsize: {{1 3}}
      args: -form laplace -dim 2 -roots 3,2 -finest 3 -part 0.5 -order {{1 4}} -components 3

    test:
      suffix: laplace_3d
      nsize: {{1 2 4}}
      args: -form laplace -dim 3 -roots 2,2,2 -finest 2 -part 0.3 -order 2 -petsc

  testset:
    args: -turn
    output_file: output/hangingfields_general.out

    test:
      suffix: general_2d
      nsize: {{1 3}}
      args: -form general -dim 2 -roots 3,2 -finest 3 -part 0.5 -order {{1 2}} -components {{1 2}} -petsc

    test:
      suffix: general_2d_high
      nsize: {{1 2}}
      args: -form general -dim 2 -roots 3,2 -finest 3 -part 0.5 -order 5

    test:
      suffix: general_3d
      nsize: {{1 2}}
      args: -form general -dim 3 -roots 2,2,2 -finest 2 -part 0.3 -order 2 -petsc

    test:
      suffix: backends
      nsize: {{1 3}}
      args: -form general -dim {{2 3}} -roots 2,2,2 -finest 2 -part 0.3 -order 2 -backends host,base

    test:
      suffix: general_refined
      nsize: {{1 3}}
      args: -form general -dim 2 -refine 4 -order {{1 3}} -petsc

    test:
      suffix: general_refined_3d
      nsize: {{1 3}}
      args: -form general -dim 3 -refine 13 -order 2 -components 3 -petsc

  testset:
    args: -turn
    output_file: output/hangingfields_stokes.out

    test:
      suffix: stokes
      nsize: {{1 3}}
      args: -form stokes -dim {{2 3}} -roots 2,2,2 -finest 2 -part 0.4 -order 2

    # PETSc 3.22 gives the blocks of velocity and pressure other entries at hanging vertices of a pressure of order 1
    test:
      suffix: stokes_petsc
      nsize: {{1 3}}
      requires: petsc<3.20
      args: -form stokes -dim {{2 3}} -roots 2,2,2 -finest 2 -part 0.4 -order 2 -petsc

    test:
      suffix: stokes_refined
      nsize: {{1 3}}
      args: -form stokes -dim 2 -refine 4 -order 3 -petsc

  testset:
    args: -turn -form elasticity
    requires: hypre
    output_file: output/hangingfields_elasticity.out

    test:
      suffix: elasticity_2d
      nsize: {{1 3}}
      args: -dim 2 -roots 3,2 -finest 3 -part 0.5 -order {{1 4}} -iterations 35

    test:
      suffix: elasticity_3d
      nsize: {{1 2}}
      args: -dim 3 -roots 2,2,2 -finest 2 -part 0.3 -order {{1 2}} -petsc -iterations 40

    test:
      suffix: elasticity_3d_high
      args: -dim 3 -roots 2,2,2 -finest 2 -part 0.3 -order 4 -iterations 45

    test:
      suffix: elasticity_coupled
      nsize: {{1 3}}
      args: -dim 2 -roots 3,2 -finest 3 -part 0.5 -order {{2 4}} -pc_lor_couple 1 -iterations 35

  testset:
    args: -turn -lor -roots 2,2,2 -finest 3
    output_file: output/hangingfields_general.out

    test:
      suffix: lor_2d
      nsize: {{1 3}}
      args: -form general -dim 2 -part 0.5 -order {{2 3 6}} -components {{1 3}}

    test:
      suffix: lor_3d
      nsize: {{1 2}}
      args: -form general -dim 3 -part 0.2 -finest 2 -order {{2 3}}

    test:
      suffix: lor_backends
      nsize: {{1 3}}
      args: -form general -dim {{2 3}} -part 0.2 -finest 2 -order 2 -backends host,base

  testset:
    args: -turn -form drift -roots 2,2,2 -finest 3
    output_file: output/hangingfields_drift.out

    test:
      suffix: drift_2d
      nsize: {{1 3}}
      args: -dim 2 -part 0.5 -order {{1 2 5}}

    test:
      suffix: drift_3d
      nsize: {{1 2}}
      args: -dim 3 -part 0.2 -finest 2 -order {{1 3}}

    test:
      suffix: drift_solved
      nsize: {{1 3}}
      requires: hypre host
      args: -dim 2 -roots 3,2 -part 0.5 -order {{2 4}} -wind 10 -ksp_type gmres -iterations 18
      output_file: output/hangingfields_drift_solved.out

    test:
      suffix: drift_jacobi
      nsize: {{1 3}}
      requires: hypre
      args: -dim 2 -roots 3,2 -part 0.5 -order {{2 4}} -wind 10 -ksp_type gmres -iterations 30 -lor_pc_hypre_boomeramg_relax_type_all l1scaled-Jacobi
      output_file: output/hangingfields_drift_solved.out

    test:
      suffix: drift_grows
      nsize: {{1 3}}
      requires: hypre host
      args: -dim 2 -roots 6,6 -finest 2 -part 0.5 -order 2 -wind 100 -grows -malloc_dump 0
      output_file: output/hangingfields_drift_grows.out

  test:
    suffix: incomplete
    nsize: {{1 3}}
    args: -turn -form stokes -dim 3 -roots 2,2,2 -finest 2 -part 0.4 -order 2 -incomplete -malloc_dump 0

TEST*/
