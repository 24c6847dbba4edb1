static char help[] =
  "A DMPlex, PetscFE and PetscDS code whose matrix is made matrix-free by -dm_mat_type pa: its action, transposed action,\n\
diagonal and assembled form against PETSc's own assembly of the same PetscDS at the same state, and the residual against PETSc's.\n\
  -components <n>; -terms <0123>: which of g0, g1, g2, g3; -boundary <0123>: which of the boundary Jacobians, on faces of value\n\
  -flux <v>, of a curved mesh on one face a rank; -auxiliary: they see a field; -shift <s>: as of an implicit time step\n\
  -alike <z>: pairs of components have equal tensors where the last coordinate is less\n\
  -rule, -face_rule <gauss|gll|lobatto|shrunk> -permute: the PetscFE's own quadratures, their points in another order\n\n";

#include "hopstest.h"
#include <petscds.h>
#include <petscsnes.h>
#include <petscts.h>

#define POINT \
  PetscInt dim, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscInt uOff_x[], const PetscScalar u[], \
    const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aOff[], const PetscInt aOff_x[], const PetscScalar a[], \
    const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t
#define JAC POINT, PetscReal shift, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar g[]
#define FUN POINT, const PetscReal x[], PetscInt nc, const PetscScalar constants[], PetscScalar f[]

/* tensors without any symmetry that depend on position, solution and gradient */
static PetscReal Entry(PetscInt i, const PetscReal x[], const PetscScalar u[], const PetscScalar u_x[])
{
  return PetscSinReal(1.7 * (i + 1) + x[0] * (i % 3) - 0.5 * x[1]) * (1.0 + 0.3 * u[0] * u[0]) + 0.1 * u_x[i % 2];
}

static double alike = -1e9;

/* entry i of the tensors of all pairs, of len entries each */
static PetscInt Number(PetscInt i, PetscInt len, PetscInt dim, const PetscReal x[])
{
  return x[dim - 1] < alike ? i % len : i;
}

static void g0(JAC)
{
  for (PetscInt i = 0; i < uOff[1] * uOff[1]; ++i) g[i] = Entry(Number(i, 1, dim, x), x, u, u_x);
}

static void g1(JAC)
{
  for (PetscInt i = 0; i < uOff[1] * uOff[1] * dim; ++i) g[i] = Entry(Number(i, dim, dim, x) + 11, x, u, u_x);
}

static void g2(JAC)
{
  for (PetscInt i = 0; i < uOff[1] * uOff[1] * dim; ++i) g[i] = Entry(Number(i, dim, dim, x) + 23, x, u, u_x);
}

static void g3(JAC)
{
  for (PetscInt i = 0; i < uOff[1] * uOff[1] * dim * dim; ++i) g[i] = Entry(Number(i, dim * dim, dim, x) + 5, x, u, u_x);
}

/* symmetric, for the fast kernels */
static void g3symmetric(JAC)
{
  for (PetscInt i = 0; i < dim; ++i)
    for (PetscInt j = 0; j < dim; ++j) g[i * dim + j] = (i == j ? 2.0 + u[0] * u[0] : 0.3) + u_x[i] * u_x[j];
}

static void f0(FUN)
{
  for (PetscInt i = 0; i < uOff[1]; ++i) f[i] = Entry(i, x, u, u_x);
}

static void f1(FUN)
{
  for (PetscInt i = 0; i < uOff[1] * dim; ++i) f[i] = u_x[i] * (1.0 + u[0] * u[0]) + Entry(i, x, u, u_x);
}

#define BDFUN POINT, const PetscReal x[], const PetscReal n[], PetscInt nc, const PetscScalar constants[], PetscScalar f[]
#define BDJAC \
  POINT, PetscReal shift, const PetscReal x[], const PetscReal n[], PetscInt nc, const PetscScalar constants[], PetscScalar g[]

static void f0bd(BDFUN)
{
  for (PetscInt i = 0; i < uOff[1]; ++i) f[i] = n[0] + u[i] * x[1] + u_x[i];
}

static void f1bd(BDFUN)
{
  for (PetscInt i = 0; i < uOff[1] * dim; ++i) f[i] = n[i % dim] * u[0] + 0.2 * u_x[i];
}

/* no symmetry: position, solution, gradient, normal, auxiliary field and its gradient, time derivative, shift
   and constants */
static PetscReal BdEntry(PetscInt i, PetscInt dim, PetscInt NfAux, const PetscScalar u[], const PetscScalar u_t[],
                         const PetscScalar u_x[], const PetscScalar a[], const PetscScalar a_x[], PetscReal t, PetscReal shift,
                         const PetscReal x[], const PetscReal n[], const PetscScalar constants[])
{
  return Entry(i, x, u, u_x) + n[i % dim] * x[1] - 0.5 * n[1] + (NfAux ? a[0] * a[0] + a_x[i % dim] : 0.0) +
         (u_t ? 0.3 * u_t[0] : 0.0) + 0.1 * t * shift + constants[0];
}

#define BDENTRY(i) BdEntry(i, dim, NfAux, u, u_t, u_x, a, a_x, t, shift, x, n, constants)

static void g0bd(BDJAC)
{
  for (PetscInt i = 0; i < uOff[1] * uOff[1]; ++i) g[i] = BDENTRY(i);
}

static void g1bd(BDJAC)
{
  for (PetscInt i = 0; i < uOff[1] * uOff[1] * dim; ++i) g[i] = BDENTRY(i + 3);
}

static void g2bd(BDJAC)
{
  for (PetscInt i = 0; i < uOff[1] * uOff[1] * dim; ++i) g[i] = BDENTRY(i + 17);
}

static void g3bd(BDJAC)
{
  for (PetscInt i = 0; i < uOff[1] * uOff[1] * dim * dim; ++i) g[i] = BDENTRY(i + 29);
}

static PetscErrorCode Auxiliary(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = 1.0 + x[0] * x[1] - x[dim - 1] * x[dim - 1];
  return PETSC_SUCCESS;
}

/* a quadratic field on the mesh, for the condition's label and value alone */
static PetscErrorCode SetAuxiliary(DM dm, DMLabel label, PetscInt value)
{
  DM      da;
  PetscFE fe;
  Vec     a;
  PetscErrorCode (*f[1])(PetscInt, PetscReal, const PetscReal[], PetscInt, PetscScalar[], void *) = {Auxiliary};
  PetscInt dim, q;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-petscspace_degree", &q, NULL));
  PetscCall(DMClone(dm, &da));
  PetscCall(PetscFECreateLagrange(PETSC_COMM_WORLD, dim, 1, PETSC_FALSE, 2, q, &fe)); /* with the quadrature of the field */
  PetscCall(DMSetField(da, 0, NULL, (PetscObject)fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMCreateDS(da));
  PetscCall(DMCreateLocalVector(da, &a));
  PetscCall(DMProjectFunctionLocal(da, 0.0, f, NULL, INSERT_ALL_VALUES, a));
  PetscCall(DMSetAuxiliaryVec(dm, label, value, 0, a));
  PetscCall(VecDestroy(&a));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PETSc's own assembly on faces: where a rank has several it takes the geometry of a face to be that of one of
  its points, which an affine map does not mind; and where a cell sees a face mirrored it pairs the points
  with the basis functions in the wrong order.
*/
static void Shear(PetscInt dim, PetscReal x[])
{
  const PetscReal a = x[0], b = x[1];

  x[0] = a + 0.3 * b;
  x[1] = b - 0.2 * a;
  if (dim > 2) x[2] = 0.8 * x[2] + 0.1 * a;
}

/* of the faces with a value, the first of this rank gets value 1 of a label of its own */
static PetscErrorCode OneFace(DM dm, DMLabel faces, PetscInt value, DMLabel *one)
{
  IS              is;
  PetscInt        n, dim;
  const PetscInt *pts;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMCreateLabel(dm, "one"));
  PetscCall(DMGetLabel(dm, "one", one));
  PetscCall(DMLabelGetStratumIS(faces, value, &is));
  if (is) {
    PetscBool found = PETSC_FALSE;

    PetscCall(ISGetLocalSize(is, &n));
    PetscCall(ISGetIndices(is, &pts));
    for (PetscInt i = 0; i < n && !found; ++i) {
      PetscInt depth;

      PetscCall(DMPlexGetPointDepth(dm, pts[i], &depth));
      found = depth == dim - 1 ? PETSC_TRUE : PETSC_FALSE;
      if (found) PetscCall(DMLabelSetValue(*one, pts[i], 1));
    }
    PetscCall(ISRestoreIndices(is, &pts));
    PetscCall(ISDestroy(&is));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -rule: n Gauss points, order + 1 or + 2 Gauss-Lobatto points, or points that belong to no Gauss rule, in
   each direction */
static PetscErrorCode Rule(const char option[], PetscInt dim, PetscInt order, PetscBool permute, PetscQuadrature *quad)
{
  char       name[16];
  PetscBool  set, gauss, lobatto, shrunk;
  PetscInt   m, n;
  PetscReal *x1, *w1, *x, *w;

  PetscFunctionBeginUser;
  *quad = NULL;
  PetscCall(PetscOptionsGetString(NULL, NULL, option, name, sizeof(name), &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(name, "gauss", &gauss));
  PetscCall(PetscStrcmp(name, "lobatto", &lobatto));
  PetscCall(PetscStrcmp(name, "shrunk", &shrunk));
  m = order + (lobatto || gauss ? 2 : 1);
  n = PetscPowInt(m, dim);
  PetscCall(PetscMalloc2(m, &x1, m, &w1));
  PetscCall(PetscMalloc1(n * dim, &x));
  PetscCall(PetscMalloc1(n, &w));
  if (gauss || shrunk) PetscCall(PetscDTGaussQuadrature(m, -1.0, 1.0, x1, w1));
  else PetscCall(PetscDTGaussLobattoLegendreQuadrature(m, PETSCGAUSSLOBATTOLEGENDRE_VIA_LINEAR_ALGEBRA, x1, w1));
  for (PetscInt i = 0; i < n; ++i) {
    PetscInt k = permute ? (i % 2 ? i / 2 : n - 1 - i / 2) : i;

    w[i] = 1.0;
    for (PetscInt d = 0; d < dim; ++d, k /= m) {
      x[i * dim + d] = (shrunk ? 0.9 : 1.0) * x1[k % m];
      w[i] *= w1[k % m];
    }
  }
  PetscCall(PetscFree2(x1, w1));
  PetscCall(PetscQuadratureCreate(PETSC_COMM_SELF, quad));
  PetscCall(PetscQuadratureSetData(*quad, dim, 1, n, x, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetRules(PetscFE fe, PetscInt dim)
{
  PetscQuadrature quad;
  PetscBool       permute = PETSC_FALSE;
  PetscInt        order;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-petscspace_degree", &order, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-permute", &permute, NULL));
  PetscCall(Rule("-rule", dim, order, permute, &quad));
  if (quad) PetscCall(PetscFESetQuadrature(fe, quad));
  PetscCall(PetscQuadratureDestroy(&quad));
  PetscCall(Rule("-face_rule", dim - 1, order, permute, &quad));
  if (quad) PetscCall(PetscFESetFaceQuadrature(fe, quad));
  PetscCall(PetscQuadratureDestroy(&quad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Wall(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt c = 0; c < nc; ++c) u[c] = x[0] + 0.3;
  return PETSC_SUCCESS;
}

static PetscErrorCode Compare(const char name[], Vec y, Vec z)
{
  PetscReal e, n;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(z, NORM_2, &n));
  PetscCall(VecAXPY(y, -1.0, z));
  PetscCall(VecNorm(y, NORM_2, &e));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s PETSc's\n", name, e <= 1e-12 * n && n > 0.0 ? "agrees with" : "DIFFERS from"));
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

/* The field, its residual and its Jacobian in the cells */
static PetscErrorCode AddField(DM dm, PetscInt nc)
{
  const PetscScalar constants[] = {0.7};
  PetscFE           fe;
  PetscDS           ds;
  PetscInt          dim;
  PetscBool         has[4], pre = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(GetTerms("-terms", "0123", has, NULL));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscFECreateDefault(PETSC_COMM_WORLD, dim, nc, PETSC_FALSE, NULL, PETSC_DETERMINE, &fe));
  PetscCall(SetRules(fe, dim));
  PetscCall(DMSetField(dm, 0, NULL, (PetscObject)fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMCreateDS(dm));
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, has[0] ? g0 : NULL, has[1] ? g1 : NULL, has[2] ? g2 : NULL,
                               has[3] ? (nc == 1 && !has[1] ? g3symmetric : g3) : NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-preconditioner", &pre, NULL)); /* PETSc ignores it where one matrix is both */
  if (pre) PetscCall(PetscDSSetJacobianPreconditioner(ds, 0, 0, g0, NULL, NULL, NULL));
  PetscCall(PetscDSSetResidual(ds, 0, f0, f1));
  PetscCall(PetscDSSetConstants(ds, 1, (PetscScalar *)constants));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A wall, a face that the last component does not leave, and one with a boundary residual and, unless bd is
   NULL, boundary Jacobians */
static PetscErrorCode AddBoundaries(DM dm, PetscInt nc, PetscBool curved, const PetscBool bd[4])
{
  const PetscInt last = nc - 1;
  PetscDS        ds;
  DMLabel        faces;
  PetscWeakForm  wf;
  PetscInt       wall = 1, slip = 2, flux = 3, index;
  PetscBool      aux = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(DMGetLabel(dm, "Face Sets", &faces));
  PetscCall(DMPlexLabelComplete(dm, faces));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-wall", &wall, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-flux", &flux, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-auxiliary", &aux, NULL));
  PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "wall", faces, 1, &wall, 0, 0, NULL, (HopsVoidFn)Wall, NULL, NULL, NULL));
  if (nc > 1)
    PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "slip", faces, 1, &slip, 0, 1, &last, (HopsVoidFn)Wall, NULL, NULL, NULL));
  if (bd && curved) {
    PetscCall(OneFace(dm, faces, flux, &faces));
    flux = 1;
  }
  PetscCall(DMAddBoundary(dm, DM_BC_NATURAL, "flux", faces, 1, &flux, 0, 0, NULL, NULL, NULL, NULL, &index));
  PetscCall(PetscDSGetBoundary(ds, index, &wf, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(PetscWeakFormSetIndexBdResidual(wf, faces, flux, 0, 0, 0, f0bd, 0, bd ? f1bd : NULL));
  if (bd)
    PetscCall(PetscWeakFormSetIndexBdJacobian(wf, faces, flux, 0, 0, 0, 0, bd[0] ? g0bd : NULL, 0, bd[1] ? g1bd : NULL, 0,
                                              bd[2] ? g2bd : NULL, 0, bd[3] ? g3bd : NULL));
  if (aux) PetscCall(SetAuxiliary(dm, faces, flux));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's own, called directly */
static PetscErrorCode Reference(DM dm, PetscReal shift, Vec u, Vec ut, Mat J, Vec f)
{
  Vec loc, loct, locf;

  PetscFunctionBeginUser;
  PetscCall(DMGetLocalVector(dm, &loc));
  PetscCall(DMGetLocalVector(dm, &loct));
  PetscCall(DMGetLocalVector(dm, &locf));
  PetscCall(VecSet(loc, 0.0));
  PetscCall(VecSet(loct, 0.0));
  PetscCall(VecSet(locf, 0.0));
  PetscCall(DMPlexInsertBoundaryValues(dm, PETSC_TRUE, loc, 0.0, NULL, NULL, NULL));
  PetscCall(DMGlobalToLocal(dm, u, INSERT_VALUES, loc));
  PetscCall(DMGlobalToLocal(dm, ut, INSERT_VALUES, loct));
  if (shift != 0.0) PetscCall(DMPlexTSComputeIJacobianFEM(dm, 0.6, loc, loct, shift, J, J, NULL));
  else PetscCall(DMPlexSNESComputeJacobianFEM(dm, loc, J, J, NULL));
  PetscCall(DMPlexSNESComputeResidualFEM(dm, loc, locf, NULL));
  PetscCall(VecSet(f, 0.0));
  PetscCall(DMLocalToGlobal(dm, locf, ADD_VALUES, f));
  PetscCall(DMRestoreLocalVector(dm, &loc));
  PetscCall(DMRestoreLocalVector(dm, &loct));
  PetscCall(DMRestoreLocalVector(dm, &locf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Evaluate(SNES snes, TS ts, PetscReal shift, Vec u, Vec ut, Mat A)
{
  PetscFunctionBeginUser;
  if (shift != 0.0) PetscCall(TSComputeIJacobian(ts, 0.6, u, ut, shift, A, A, PETSC_FALSE));
  else PetscCall(SNESComputeJacobian(snes, u, A, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both applied to x; J x is left in z */
static PetscErrorCode CompareMats(Mat A, Mat J, Vec x, Vec y, Vec z)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(J, x, z));
  PetscCall(Compare("action", y, z));
  PetscCall(MatMultTranspose(A, x, y));
  PetscCall(MatMultTranspose(J, x, z));
  PetscCall(Compare("transposed action", y, z));
  PetscCall(MatGetDiagonal(A, y));
  PetscCall(MatGetDiagonal(J, z));
  PetscCall(Compare("diagonal", y, z));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatMult(B, x, y));
  PetscCall(MatMult(J, x, z));
  PetscCall(Compare("assembled", y, z));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolvers(DM dm, SNES *snes, TS *ts)
{
  PetscFunctionBeginUser;
  PetscCall(HopsDMPlexSetSNESLocalFEM(dm));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, snes));
  PetscCall(SNESSetDM(*snes, dm));
  PetscCall(TSCreate(PETSC_COMM_WORLD, ts));
  PetscCall(TSSetDM(*ts, dm));
  PetscCall(DMTSSetBoundaryLocal(dm, DMPlexTSComputeBoundary, NULL));
  PetscCall(DMTSSetIFunctionLocal(dm, DMPlexTSComputeIFunctionFEM, NULL));
  PetscCall(DMTSSetIJacobianLocal(dm, DMPlexTSComputeIJacobianFEM, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM          dm;
  SNES        snes;
  TS          ts;
  Mat         J, A, B;
  Vec         u, ut, x, y, z;
  PetscRandom rnd;
  PetscInt    nc = 2;
  PetscBool   boundary, curved = PETSC_TRUE, bd[4];
  PetscReal   shift = 0.0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-components", &nc, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-alike", &alike, NULL));
  PetscCall(GetTerms("-boundary", "", bd, &boundary));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-shift", &shift, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-curved", &curved, NULL));
  PetscCall(TestMeshMapped(PETSC_COMM_WORLD, curved ? TestCurve : Shear, &dm));
  PetscCall(AddField(dm, nc));
  PetscCall(AddBoundaries(dm, nc, curved, boundary ? bd : NULL));
  PetscCall(CreateSolvers(dm, &snes, &ts));
  PetscCall(DMCreateGlobalVector(dm, &u));
  PetscCall(VecDuplicate(u, &x));
  PetscCall(VecDuplicate(u, &ut));
  PetscCall(VecDuplicate(u, &y));
  PetscCall(VecDuplicate(u, &z));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &rnd));
  PetscCall(VecSetRandom(u, rnd));
  PetscCall(VecSetRandom(ut, rnd));
  PetscCall(VecSetRandom(x, rnd));
  PetscCall(VecRealPart(u)); /* at which Jacobians are real */
  PetscCall(VecRealPart(ut));
  PetscCall(DMCreateMatrix(dm, &J));
  PetscCall(Reference(dm, shift, u, ut, J, z));

  /* hops', as a code gets it from its options */
  PetscCall(PetscOptionsSetValue(NULL, "-dm_mat_type", "pa"));
  PetscCall(PetscOptionsSetValue(NULL, "-hops_residual", "1"));
  PetscCall(PetscOptionsSetValue(NULL, "-dm_distribute", "0"));
  PetscCall(PetscOptionsClearValue(NULL, "-dm_refine"));
  PetscCall(PetscOptionsClearValue(NULL, "-dm_coord_petscspace_degree"));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(SNESSetSolution(snes, u));
  PetscCall(SNESSetUp(snes));
  PetscCall(SNESComputeFunction(snes, u, y));
  PetscCall(Compare("residual", y, z));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(Evaluate(snes, ts, shift, u, ut, A));
  PetscCall(CompareMats(A, J, x, y, z));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(VecScale(u, 0.5)); /* the copy stays at the state it was made at */
  PetscCall(Evaluate(snes, ts, shift, u, ut, A));
  PetscCall(MatMult(B, x, y));
  PetscCall(Compare("duplicate", y, z));
  PetscCall(MatDestroy(&B));
  PetscCall(DMCreateMassMatrix(dm, dm, &B)); /* assembled, on a clone */
  PetscCall(MatDestroy(&B));
  PetscCall(PetscRandomDestroy(&rnd));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&ut));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&J));
  PetscCall(MatDestroy(&A));
  PetscCall(SNESDestroy(&snes));
  PetscCall(TSDestroy(&ts));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    args: -dm_coord_petscspace_degree 2
    output_file: output/plexpa.out
    test:
      suffix: 2d
      nsize: {{1 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,3 -petscspace_degree {{1 4}} -components {{1 2}} -terms {{0123 3 013}}
    test:
      suffix: 3d
      nsize: {{1 2}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -petscspace_degree {{2 3}} -components 3
    test:
      suffix: scalar
      nsize: {{1 4}}
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,2,2 -petscspace_degree 3 -components 1 -terms 03 -mat_pa_general {{0 1}}
    test:
      suffix: preconditioner
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,3 -petscspace_degree 3 -components {{1 2}} -terms 03 -preconditioner
    test:
      suffix: first_order
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,3 -petscspace_degree 3 -components 3 -terms {{0 12}}
    test:
      suffix: robin
      nsize: {{1 3}}
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,3,2 -petscspace_degree {{2 4}} -components 1 -terms 03 -boundary 0 -wall 1 -flux 2 -curved {{0 1}}
    test:
      suffix: boundary_2d
      nsize: {{1 4}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,3 -petscspace_degree 3 -components {{1 2}} -boundary {{0 1 2 3 0123}} -wall 4 -flux {{1 2}} -curved {{0 1}}
    test:
      suffix: boundary_3d
      nsize: {{1 3}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -petscspace_degree 2 -components {{1 3}} -terms 03 -boundary 0123 -wall 1 -flux {{2 3 5}} -curved {{0 1}}
    test:
      suffix: boundary_auxiliary
      nsize: {{1 2}}
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 2,3,2 -petscspace_degree 2 -components {{1 2}} -terms 03 -boundary {{0 0123}} -wall 1 -flux 2 -auxiliary
    test:
      suffix: rule
      nsize: {{1 3}}
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,2,2 -petscspace_degree {{1 3}} -components 1 -terms 03 -rule {{gll lobatto shrunk}} -permute
    test:
      suffix: rule_tensor
      nsize: 2
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 2,2,2 -petscspace_degree 2 -components 2 -rule {{gll shrunk}} -permute
    test:
      suffix: rule_faces
      requires: host
      nsize: 2
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 2,3,2 -petscspace_degree 2 -components {{1 2}} -terms 03 -boundary {{0 0123}} -wall 1 -flux 2 -rule gll -face_rule {{gll lobatto shrunk}}
    # tensors that are equal everywhere, in a part of the first cells, in all but the last cells
    test:
      suffix: alike
      nsize: {{1 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 9,60 -petscspace_degree 2 -components 3 -terms {{0123 3}} -alike {{100 0.3 0.7}}
    test:
      suffix: alike_3d
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,20 -petscspace_degree 2 -components 2 -terms 03 -alike {{100 1.06}}
    test:
      suffix: boundary_shift
      nsize: 2
      args: -dm_plex_dim 2 -dm_plex_box_faces 2,3 -petscspace_degree 3 -components {{1 2}} -terms 03 -boundary {{0 0123}} -wall 4 -flux 2 -shift 1.7

  test:
    suffix: alike_said
    requires: host
    args: -dm_coord_petscspace_degree 2 -dm_plex_dim 2 -dm_plex_box_faces 9,60 -petscspace_degree 2 -components 2 -terms 03 \
          -alike {{100 0.3 0.7}separate output} -info
    filter: grep -oE "[0-9]+ pairs of components have.*"

  testset:
    requires: cuda
    args: -dm_coord_petscspace_degree 2 -dm_vec_type cuda -use_gpu_aware_mpi 0
    output_file: output/plexpa.out
    test:
      suffix: 2d_gpu
      nsize: {{1 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,3 -petscspace_degree {{1 4}} -components {{1 2}} -terms {{0123 3 013}}
    test:
      suffix: 3d_gpu
      nsize: {{1 2}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -petscspace_degree {{2 3}} -components {{2 3}} \
            -hops_halo {{staged shared direct}}
    test:
      suffix: scalar_gpu
      nsize: {{1 4}}
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,2,2 -petscspace_degree 3 -components 1 -terms 03 -mat_pa_general {{0 1}}
    test:
      suffix: first_order_gpu
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,3 -petscspace_degree 3 -components 3 -terms {{0 12}}


TEST*/
