static char help[] =
  "Several fields of different orders in one matrix-free operator, from a DMPlex, PetscFE and PetscDS code by -dm_mat_type pa:\n\
its action, transposed action, diagonal, assembled form, the operators of its blocks and the residual against PETSc's own.\n\
  -layout <0,1,2>: velocity and pressure; three fields; two scalars; -dynamic: a time derivative, through TS; -aux: a field;\n\
  -robin: boundary Jacobians; -prec: functions of a preconditioning matrix; -regions: two, with a PetscDS each;\n\
  -key: a residual function that PETSc does not evaluate; -flux: a boundary residual, which PETSc adds up once a region\n\n";

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

#define MAX_FIELDS 3

/* tensors without any symmetry that depend on position, time, every field and its gradient, constants and
   auxiliary fields */
static PetscReal Entry(PetscInt i, PetscInt Nf, PetscInt NfAux, const PetscInt uOff[], const PetscScalar u[],
                       const PetscScalar u_x[], const PetscScalar a[], const PetscScalar a_x[], PetscReal t, const PetscReal x[],
                       const PetscScalar constants[])
{
  PetscReal v = PetscSinReal(1.7 * (i + 1) + x[0] * (i % 3) - 0.5 * x[1] + t) + constants[0] * PetscCosReal((PetscReal)i);

  for (PetscInt f = 0; f < Nf; ++f) v += (0.3 + 0.1 * f) * u[uOff[f]] * u[uOff[f + 1] - 1] + 0.05 * u_x[2 * uOff[f] + i % 2];
  if (NfAux) v *= 1.0 + 0.2 * a[0] + 0.1 * a_x[i % 2];
  return v;
}

/* the number of entries follows from the pair of fields, which a point function does not know: one function
   for each shape */
#define TENSOR(name, rows, cols, first) \
  static void name(JAC) \
  { \
    for (PetscInt i = 0; i < (rows) * (cols); ++i) g[i] = Entry(i + first, Nf, NfAux, uOff, u, u_x, a, a_x, t, x, constants); \
  }
#define BLOCK(name, n, m, first) \
  TENSOR(name##0, n, m, first) \
  TENSOR(name##1, n, m *dim, first + 11) \
  TENSOR(name##2, n, m *dim, first + 23) \
  TENSOR(name##3, n, m *dim *dim, first + 5)
BLOCK(guu, dim, dim, 0)
BLOCK(gup, dim, 1, 3)
BLOCK(gpu, 1, dim, 7)
BLOCK(gpp, 1, 1, 13)

/* of a preconditioning matrix in a time step: they see the shift and the time derivative */
#define PRECONDITIONER(name, n) \
  static void name(JAC) \
  { \
    for (PetscInt i = 0; i < (n) * (n); ++i) \
      g[i] = (i % ((n) + 1) ? 0.2 : 3.0) * (1.0 + shift * u[0] * u[0]) + (u_t ? 0.4 * u_t[uOff[1]] : 0.0); \
  }
PRECONDITIONER(pre_u, dim)
PRECONDITIONER(pre_p, 1)

static void mass(JAC)
{
  g[0] = shift * (1.0 + u[0] * u[0]) + 0.3;
}

/* of a time derivative: PETSc adds it times the shift */
static void dyn_uu(JAC)
{
  for (PetscInt i = 0; i < dim * dim; ++i) g[i] = (i % (dim + 1) ? 0.1 : 2.0) + 0.2 * u[0] + 0.1 * u_t[0];
}

#define FIELD(name, n, first) \
  static void f0##name(FUN) \
  { \
    for (PetscInt i = 0; i < (n); ++i) \
      f[i] = Entry(i + first, Nf, NfAux, uOff, u, u_x, a, a_x, t, x, constants) + (u_t ? 0.1 * u_t[uOff[1]] : 0.0); \
  } \
  static void f1##name(FUN) \
  { \
    for (PetscInt i = 0; i < (n)*dim; ++i) f[i] = Entry(i + first + 4, Nf, NfAux, uOff, u, u_x, a, a_x, t, x, constants); \
  }
FIELD(u, dim, 0)
FIELD(p, 1, 9)

static void f0bd(POINT, const PetscReal x[], const PetscReal n[], PetscInt nc, const PetscScalar constants[], PetscScalar f[])
{
  for (PetscInt i = 0; i < uOff[1]; ++i) f[i] = n[0] + u[i] * x[1] + u[uOff[1]];
}

static PetscReal BdScale = 1.0; /* 0: without boundary Jacobians */

/* PETSc 3.18 gives the points of a 2D face in the order of the mesh's edge and the state in that of the cell:
   no function of x[0] here */
#define BDJAC \
  POINT, PetscReal shift, const PetscReal x[], const PetscReal n[], PetscInt nc, const PetscScalar constants[], PetscScalar g[]
#define BDTENSOR(name, cols, first) \
  static void name(BDJAC) \
  { \
    const PetscReal z[3] = {0.1, x[1], 0.3}; \
\
    for (PetscInt i = 0; i < (uOff[1]) * (cols); ++i) \
      g[i] = BdScale * (n[i % dim] + Entry(i + first, Nf, NfAux, uOff, u, u_x, a, a_x, t, z, constants)); \
  }
BDTENSOR(bd00_0, uOff[1], 2)
BDTENSOR(bd00_3, uOff[1] * dim * dim, 6)
BDTENSOR(bd01_0, uOff[2] - uOff[1], 1)
BDTENSOR(bd01_1, (uOff[2] - uOff[1]) * dim, 8)
BDTENSOR(bd01_2, (uOff[2] - uOff[1]) * dim, 10)

static PetscErrorCode Wall(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  for (PetscInt c = 0; c < nc; ++c) u[c] = x[0] + 0.3 + (t > 0.0 ? t : 0.0); /* SNES has no time */
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

/* functions of every kind for most pairs of fields, each pair another set of kinds, for a label's value 1 or
   for no label */
static PetscErrorCode SetForms(PetscDS ds, DMLabel label, PetscInt nf, const PetscInt nc[], PetscBool second, PetscBool prec,
                               PetscBool dynamic)
{
  HopsPointJac   gs[2][2][4] = {{{gpp0, gpp1, gpp2, gpp3}, {gpu0, gpu1, gpu2, gpu3}},
                                {{gup0, gup1, gup2, gup3}, {guu0, guu1, guu2, guu3}}};
  const PetscInt val         = label ? 1 : 0;
  PetscWeakForm  wf;

  PetscFunctionBeginUser;
  PetscCall(PetscDSGetWeakForm(ds, &wf));
  for (PetscInt i = 0; i < nf; ++i) {
    for (PetscInt j = 0; j < nf; ++j) {
      HopsPointJac *g = gs[nc[i] > 1][nc[j] > 1];

      if (i == 2 && j == 0) continue;
      if (i == nf - 1 && j == nf - 1 && !prec && !second) continue; /* the last block is the second region's alone */
      if (second && i == 0 && j == 1) continue;                     /* this one the first's */
      PetscCall(PetscWeakFormSetIndexJacobian(wf, label, val, i, j, 0, 0, g[0], 0, i == j || i < j ? g[1] : NULL, 0,
                                              i >= j ? g[2] : NULL, 0, (i + j) % 2 && nf < 3 ? NULL : g[3]));
      if (prec && i == j)
        PetscCall(PetscWeakFormSetIndexJacobianPreconditioner(wf, label, val, i, i, 0, 0,
                                                              dynamic ? (nc[i] > 1 ? pre_u : pre_p) : g[0], 0, NULL, 0, NULL, 0,
                                                              g[3]));
    }
    if (nc[i] > 1) PetscCall(PetscWeakFormSetIndexResidual(wf, label, val, i, 0, 0, f0u, 0, i == 0 ? f1u : NULL));
    else PetscCall(PetscWeakFormSetIndexResidual(wf, label, val, i, 0, 0, i == 1 && !second ? NULL : f0p, 0, f1p));
  }
  if (dynamic)
    PetscCall(
      PetscWeakFormSetIndexDynamicJacobian(wf, label, val, 0, 0, 0, 0, nc[0] > 1 ? dyn_uu : mass, 0, NULL, 0, NULL, 0, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* two regions, with a PetscDS each, whose functions and constants differ */
static PetscErrorCode AddRegions(DM dm, PetscInt nf, const PetscInt nc[], PetscBool prec, PetscBool dynamic)
{
  DMLabel     label[2];
  PetscInt    cStart, cEnd, dim;
  PetscDS     ds;
  IS          fields; /* without it PETSc looks for the fields of a region in vain */
  PetscScalar constants[1] = {1.9};

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMCreateLabel(dm, "outer"));
  PetscCall(DMGetLabel(dm, "outer", &label[0]));
  PetscCall(DMCreateLabel(dm, "inner"));
  PetscCall(DMGetLabel(dm, "inner", &label[1]));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    PetscReal x[3];

    PetscCall(DMPlexComputeCellGeometryFVM(dm, c, NULL, x, NULL));
    PetscCall(DMLabelSetValue(label[(x[0] < 0.5) == (x[1] < 0.5) ? 1 : 0], c, 1));
  }
  PetscCall(ISCreateStride(PETSC_COMM_SELF, nf, 0, 1, &fields));
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(HopsDMSetRegionNumDS(dm, 0, label[0], fields, ds));
  PetscCall(SetForms(ds, label[0], nf, nc, PETSC_FALSE, prec, dynamic));
  PetscCall(PetscDSCreate(PETSC_COMM_SELF, &ds));
  PetscCall(PetscDSSetCoordinateDimension(ds, dim));
  for (PetscInt f = 0; f < nf; ++f) {
    PetscObject disc;

    PetscCall(DMGetField(dm, f, NULL, &disc));
    PetscCall(PetscDSSetDiscretization(ds, f, disc));
  }
  PetscCall(SetForms(ds, label[1], nf, nc, PETSC_TRUE, prec, dynamic));
  PetscCall(PetscDSSetConstants(ds, 1, constants));
  PetscCall(PetscDSSetUp(ds));
  PetscCall(HopsDMSetRegionDS(dm, label[1], fields, ds));
  PetscCall(ISDestroy(&fields));
  PetscCall(PetscDSDestroy(&ds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddFields(DM dm, PetscInt layout, PetscInt *nf, PetscInt nc[])
{
  PetscQuadrature quad, fquad;
  PetscInt        dim;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  *nf = layout == 1 ? 3 : 2;
  for (PetscInt f = 0; f < *nf; ++f) {
    PetscFE fe;
    char    prefix[8];

    nc[f] = layout == 0 ? (f == 0 ? dim : 1) : (layout == 1 ? (f == 1 ? dim : 1) : 1);
    PetscCall(PetscSNPrintf(prefix, sizeof(prefix), "f%d_", (int)f));
    PetscCall(PetscFECreateDefault(PETSC_COMM_WORLD, dim, nc[f], PETSC_FALSE, prefix, PETSC_DETERMINE, &fe));
    if (!f) {
      PetscCall(PetscFEGetQuadrature(fe, &quad));
      PetscCall(PetscFEGetFaceQuadrature(fe, &fquad));
    } else {
      PetscCall(PetscFESetQuadrature(fe, quad));
      PetscCall(PetscFESetFaceQuadrature(fe, fquad));
    }
    PetscCall(DMSetField(dm, f, NULL, (PetscObject)fe));
    PetscCall(PetscFEDestroy(&fe));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Dirichlet values for the first field, some components of a second wall, and a boundary residual */
static PetscErrorCode AddBoundaries(DM dm, PetscDS ds, PetscInt nf, const PetscInt nc[], PetscBool flux, PetscBool robin)
{
  DMLabel       faces;
  PetscWeakForm wf;
  PetscInt      one = 1, two = 2, three = 3, last = nc[0] - 1, bd;

  PetscFunctionBeginUser;
  PetscCall(DMGetLabel(dm, "Face Sets", &faces));
  PetscCall(DMPlexLabelComplete(dm, faces));
  PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "wall", faces, 1, &one, 0, 0, NULL, (HopsVoidFn)Wall, NULL, NULL, NULL));
  if (nc[0] > 1)
    PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "slip", faces, 1, &two, 0, 1, &last, (HopsVoidFn)Wall, NULL, NULL, NULL));
  if (nf == 3)
    PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "third", faces, 1, &three, 2, 0, NULL, (HopsVoidFn)Wall, NULL, NULL, NULL));
  if (!flux) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMAddBoundary(dm, DM_BC_NATURAL, "flux", faces, 1, &three, 0, 0, NULL, NULL, NULL, NULL, &bd));
  PetscCall(PetscDSGetBoundary(ds, bd, &wf, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(PetscWeakFormSetIndexBdResidual(wf, faces, 3, 0, 0, 0, f0bd, 0, NULL));
  if (!robin) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscWeakFormSetIndexBdJacobian(wf, faces, 3, 0, 0, 0, 0, bd00_0, 0, NULL, 0, NULL, 0, bd00_3));
  PetscCall(PetscWeakFormSetIndexBdJacobian(wf, faces, 3, 0, 1, 0, 0, bd01_0, 0, bd01_1, 0, bd01_2, 0, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A field of position as auxiliary field */
static PetscErrorCode AuxFunction(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(x[0]) + x[1];
  return PETSC_SUCCESS;
}

static PetscErrorCode AddAux(DM dm)
{
  PetscErrorCode (*func[1])(PetscInt, PetscReal, const PetscReal[], PetscInt, PetscScalar[], void *) = {AuxFunction};
  DM              dmaux;
  PetscFE         fe, fe0;
  PetscQuadrature quad;
  PetscInt        dim;
  Vec             v;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscFECreateDefault(PETSC_COMM_WORLD, dim, 1, PETSC_FALSE, "aux_", PETSC_DETERMINE, &fe));
  PetscCall(DMGetField(dm, 0, NULL, (PetscObject *)&fe0));
  PetscCall(PetscFEGetQuadrature(fe0, &quad));
  PetscCall(PetscFESetQuadrature(fe, quad));
  PetscCall(PetscFEGetFaceQuadrature(fe0, &quad));
  PetscCall(PetscFESetFaceQuadrature(fe, quad));
  PetscCall(DMClone(dm, &dmaux));
  PetscCall(DMSetField(dmaux, 0, NULL, (PetscObject)fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMCreateDS(dmaux));
  PetscCall(DMCreateLocalVector(dmaux, &v));
  PetscCall(DMProjectFunctionLocal(dmaux, 0.0, func, NULL, INSERT_ALL_VALUES, v));
  PetscCall(DMSetAuxiliaryVec(dm, NULL, 0, 0, v));
  PetscCall(VecDestroy(&v));
  PetscCall(DMDestroy(&dmaux));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks of every pair of fields, and of the first two together, against those of PETSc's matrix */
static PetscErrorCode CompareBlocks(DM dm, Mat A, Mat J, PetscInt nf, MatReuse reuse, Mat blocks[])
{
  IS          is[MAX_FIELDS + 1], pair[2];
  PetscRandom rnd;
  PetscInt    n = nf, k = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &rnd));
  for (PetscInt f = 0; f < nf; ++f) PetscCall(DMCreateSubDM(dm, 1, &f, &is[f], NULL));
  if (nf > 2) { /* a union */
    pair[0] = is[0];
    pair[1] = is[1];
    PetscCall(ISConcatenate(PETSC_COMM_WORLD, 2, pair, &is[n++]));
  }
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt j = 0; j < n; ++j, ++k) {
      Mat       C;
      Vec       x, y, z, w;
      PetscReal norm;
      char      name[64];

      PetscCall(MatCreateSubMatrix(A, is[i], is[j], reuse, &blocks[k]));
      PetscCall(MatCreateSubMatrix(J, is[i], is[j], MAT_INITIAL_MATRIX, &C));
      PetscCall(MatCreateVecs(blocks[k], &x, &y));
      PetscCall(VecDuplicate(x, &w));
      PetscCall(VecDuplicate(y, &z));
      PetscCall(VecSetRandom(x, rnd));
      PetscCall(MatMult(blocks[k], x, y));
      PetscCall(MatMult(C, x, z));
      PetscCall(VecNorm(z, NORM_2, &norm));
      PetscCall(PetscSNPrintf(name, sizeof(name), "block (%d,%d)", (int)i, (int)j));
      if (norm == 0.0) {
        PetscCall(VecNorm(y, NORM_2, &norm));
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", name, norm == 0.0 ? "zero" : "NOT ZERO"));
      } else {
        PetscCall(Compare(name, y, z));
        PetscCall(VecSetRandom(y, rnd));
        PetscCall(MatMultTranspose(blocks[k], y, w));
        PetscCall(MatMultTranspose(C, y, x));
        PetscCall(Compare("  transposed", w, x));
        if (i == j) {
          PetscCall(MatGetDiagonal(blocks[k], y));
          PetscCall(MatGetDiagonal(C, z));
          PetscCall(Compare("  diagonal", y, z));
        }
        if (reuse == MAT_INITIAL_MATRIX) {
          Mat B;

          PetscCall(MatConvert(blocks[k], MATAIJ, MAT_INITIAL_MATRIX, &B));
          PetscCall(VecSetRandom(x, rnd));
          PetscCall(MatMult(B, x, y));
          PetscCall(MatMult(C, x, z));
          PetscCall(Compare("  assembled", y, z));
          PetscCall(MatDestroy(&B));
        }
      }
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&y));
      PetscCall(VecDestroy(&z));
      PetscCall(VecDestroy(&w));
      PetscCall(MatDestroy(&C));
    }
  for (PetscInt f = 0; f < n; ++f) PetscCall(ISDestroy(&is[f]));
  PetscCall(PetscRandomDestroy(&rnd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  DM        dm;
  SNES      snes;
  TS        ts;
  PetscInt  layout, nf, nc[MAX_FIELDS];
  PetscBool dynamic, aux, prec, foreign, scattered, scaled, regions, flux, key, robin;
  PetscReal t, shift;
} App;

/* PETSc's matrices and hops', a Jacobian and its preconditioning matrix each; the state; a vector, images */
typedef struct {
  Mat         J, JP, A, AP;
  Vec         u, ut, x, y, z;
  PetscRandom rnd;
} Data;

static PetscErrorCode ReferenceJacobian(App *app, Vec loc, Vec loct, Mat J, Mat P)
{
  PetscFunctionBeginUser;
  if (app->ts) PetscCall(DMPlexTSComputeIJacobianFEM(app->dm, app->t, loc, loct, app->shift, J, P, NULL));
  else PetscCall(DMPlexSNESComputeJacobianFEM(app->dm, loc, J, P, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  With two matrices PETSc adds boundary Jacobians to one of them: to P before version 3.21, to J since. They
  belong to both: J + P less the J without them has them once.
*/
static PetscErrorCode ReferencePair(App *app, Vec loc, Vec loct, Mat J, Mat P)
{
  Mat without;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(J, MAT_DO_NOT_COPY_VALUES, &without));
  BdScale = 0.0;
  PetscCall(ReferenceJacobian(app, loc, loct, without, without));
  BdScale = 1.0;
  PetscCall(ReferenceJacobian(app, loc, loct, J, P));
  PetscCall(MatAXPY(P, 1.0, J, SAME_NONZERO_PATTERN));
  PetscCall(MatAXPY(P, -1.0, without, SAME_NONZERO_PATTERN));
  PetscCall(MatDestroy(&without));
  PetscCall(ReferenceJacobian(app, loc, loct, J, J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's own, called directly */
static PetscErrorCode Reference(App *app, Vec u, Vec ut, Mat J, Mat P, Vec f)
{
  DM  dm = app->dm;
  Vec loc, loct, locf;

  PetscFunctionBeginUser;
  PetscCall(DMGetLocalVector(dm, &loc));
  PetscCall(DMGetLocalVector(dm, &loct));
  PetscCall(DMGetLocalVector(dm, &locf));
  PetscCall(VecSet(loc, 0.0));
  PetscCall(VecSet(loct, 0.0));
  PetscCall(VecSet(locf, 0.0));
  PetscCall(DMPlexInsertBoundaryValues(dm, PETSC_TRUE, loc, app->t, NULL, NULL, NULL));
  PetscCall(DMGlobalToLocal(dm, u, INSERT_VALUES, loc));
  if (app->ts) {
    PetscCall(DMPlexInsertTimeDerivativeBoundaryValues(dm, PETSC_TRUE, loct, app->t, NULL, NULL, NULL));
    PetscCall(DMGlobalToLocal(dm, ut, INSERT_VALUES, loct));
    PetscCall(DMPlexTSComputeIFunctionFEM(dm, app->t, loc, loct, locf, NULL));
  } else PetscCall(DMPlexSNESComputeResidualFEM(dm, loc, locf, NULL));
  if (app->robin && J != P) PetscCall(ReferencePair(app, loc, loct, J, P));
  else PetscCall(ReferenceJacobian(app, loc, loct, J, P));
  PetscCall(VecSet(f, 0.0));
  PetscCall(DMLocalToGlobal(dm, locf, ADD_VALUES, f));
  PetscCall(DMRestoreLocalVector(dm, &loc));
  PetscCall(DMRestoreLocalVector(dm, &loct));
  PetscCall(DMRestoreLocalVector(dm, &locf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Evaluate(App *app, Vec u, Vec ut, Mat A, Mat P)
{
  PetscFunctionBeginUser;
  if (app->ts) PetscCall(TSComputeIJacobian(app->ts, app->t, u, ut, app->shift, A, P, PETSC_FALSE));
  else PetscCall(SNESComputeJacobian(app->snes, u, A, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

static PetscErrorCode GetOptions(App *app)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-layout", &app->layout, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-dynamic", &app->dynamic, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-aux", &app->aux, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-prec", &app->prec, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-foreign", &app->foreign, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-scattered", &app->scattered, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-scaled", &app->scaled, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-regions", &app->regions, NULL));
  app->flux = app->regions ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-flux", &app->flux, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-key", &app->key, NULL));
  /* on curved faces PETSc takes the surface element from their midpoint */
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-robin", &app->robin, NULL));
  if (app->dynamic) {
    app->t     = 0.4;
    app->shift = 3.7;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateProblem(App *app)
{
  PetscScalar constants[1] = {0.7};
  PetscInt    dim;
  PetscDS     ds;

  PetscFunctionBeginUser;
  PetscCall(TestMesh(PETSC_COMM_WORLD, app->robin ? PETSC_FALSE : PETSC_TRUE, &app->dm));
  PetscCall(DMGetDimension(app->dm, &dim));
  PetscCall(AddFields(app->dm, app->layout, &app->nf, app->nc));
  PetscCall(DMCreateDS(app->dm));
  PetscCall(DMGetDS(app->dm, &ds));
  if (!app->regions) PetscCall(SetForms(ds, NULL, app->nf, app->nc, PETSC_FALSE, app->prec, app->dynamic));
  PetscCall(PetscDSSetConstants(ds, 1, constants));
  PetscCall(AddBoundaries(app->dm, ds, app->nf, app->nc, app->flux, app->robin));
  if (app->regions) PetscCall(AddRegions(app->dm, app->nf, app->nc, app->prec, app->dynamic));
  if (app->key) { /* of a value that no cell has: PETSc ignores it */
    DMLabel       faces;
    PetscWeakForm wf;

    PetscCall(DMGetLabel(app->dm, "Face Sets", &faces));
    PetscCall(PetscDSGetWeakForm(ds, &wf));
    PetscCall(PetscWeakFormSetIndexResidual(wf, faces, 7, 1, 0, 0, f0p, 0, f1p));
  }
  if (app->aux) PetscCall(AddAux(app->dm));
  if (app->dynamic) {
    PetscCall(DMTSSetBoundaryLocal(app->dm, DMPlexTSComputeBoundary, NULL));
    PetscCall(DMTSSetIFunctionLocal(app->dm, DMPlexTSComputeIFunctionFEM, NULL));
    PetscCall(DMTSSetIJacobianLocal(app->dm, DMPlexTSComputeIJacobianFEM, NULL));
    PetscCall(TSCreate(PETSC_COMM_WORLD, &app->ts));
    PetscCall(TSSetDM(app->ts, app->dm));
  } else {
    PetscCall(HopsDMPlexSetSNESLocalFEM(app->dm));
    PetscCall(SNESCreate(PETSC_COMM_WORLD, &app->snes));
    PetscCall(SNESSetDM(app->snes, app->dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's own at a random state, the residual in z */
static PetscErrorCode CreateReference(App *app, Data *d)
{
  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(app->dm, &d->u));
  PetscCall(VecDuplicate(d->u, &d->ut));
  PetscCall(VecDuplicate(d->u, &d->x));
  PetscCall(VecDuplicate(d->u, &d->y));
  PetscCall(VecDuplicate(d->u, &d->z));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &d->rnd));
  PetscCall(VecSetRandom(d->u, d->rnd));
  PetscCall(VecSetRandom(d->ut, d->rnd));
  PetscCall(VecSetRandom(d->x, d->rnd));
  PetscCall(VecRealPart(d->u)); /* at which Jacobians are real */
  PetscCall(VecRealPart(d->ut));
  PetscCall(DMCreateMatrix(app->dm, &d->J));
  if (app->prec) PetscCall(DMCreateMatrix(app->dm, &d->JP));
  else d->JP = d->J;
  PetscCall(Reference(app, d->u, d->ut, d->J, d->JP, d->z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* hops', as a code gets it from its options */
static PetscErrorCode CompareOperators(App *app, Data *d)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-dm_mat_type", "pa"));
  PetscCall(PetscOptionsSetValue(NULL, "-hops_residual", "1"));
  PetscCall(PetscOptionsSetValue(NULL, "-dm_distribute", "0"));
  PetscCall(PetscOptionsClearValue(NULL, "-dm_refine"));
  PetscCall(PetscOptionsClearValue(NULL, "-dm_coord_petscspace_degree"));
  PetscCall(DMSetFromOptions(app->dm));
  if (app->dynamic) {
    PetscCall(TSSetSolution(app->ts, d->u));
    PetscCall(TSComputeIFunction(app->ts, app->t, d->u, d->ut, d->y, PETSC_FALSE));
  } else {
    PetscCall(SNESSetSolution(app->snes, d->u));
    PetscCall(SNESSetUp(app->snes));
    PetscCall(SNESComputeFunction(app->snes, d->u, d->y));
  }
  PetscCall(Compare("residual", d->y, d->z));
  PetscCall(DMCreateMatrix(app->dm, &d->A));
  if (app->prec) PetscCall(DMCreateMatrix(app->dm, &d->AP));
  else d->AP = d->A;
  PetscCall(Evaluate(app, d->u, d->ut, d->A, d->AP));
  PetscCall(CompareMats(d->A, d->J, d->x, d->y, d->z));
  if (app->prec) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the preconditioner's\n"));
    PetscCall(CompareMats(d->AP, d->JP, d->x, d->y, d->z));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What MATPA refuses: entries that are set, factors, blocks that are no fields */
static PetscErrorCode Misuse(App *app, Data *d)
{
  PetscFunctionBeginUser;
  if (app->foreign) PetscCall(MatSetValue(d->A, 0, 0, 1.0, INSERT_VALUES));
  if (app->scaled) PetscCall(MatScale(d->A, 2.0));
  if (app->scattered) { /* every other unknown is no field */
    IS  is;
    Mat B;

    PetscCall(ISCreateStride(PETSC_COMM_SELF, 3, 0, 2, &is));
    PetscCall(MatCreateSubMatrix(d->A, is, is, MAT_INITIAL_MATRIX, &B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks and copies stay at their state until they are told */
static PetscErrorCode CompareStates(App *app, Data *d)
{
  Mat B, blocks[(MAX_FIELDS + 1) * (MAX_FIELDS + 1)] = {NULL};
  Vec xb, yb, zb;

  PetscFunctionBeginUser;
  PetscCall(CompareBlocks(app->dm, d->A, d->J, app->nf, MAT_INITIAL_MATRIX, blocks));
  PetscCall(MatDuplicate(d->A, MAT_COPY_VALUES, &B));
  PetscCall(MatCreateVecs(blocks[0], &xb, &yb));
  PetscCall(VecDuplicate(yb, &zb));
  PetscCall(VecSetRandom(xb, d->rnd));
  PetscCall(MatMult(blocks[0], xb, zb));
  PetscCall(MatMult(d->A, d->x, d->z));
  PetscCall(VecScale(d->u, 0.5));
  PetscCall(Evaluate(app, d->u, d->ut, d->A, d->AP));
  PetscCall(MatMult(blocks[0], xb, yb));
  PetscCall(Compare("block before it is refreshed", yb, zb));
  PetscCall(MatMult(B, d->x, d->y));
  PetscCall(Compare("duplicate", d->y, d->z));
  PetscCall(Reference(app, d->u, d->ut, d->J, d->JP, d->z));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "at the next state\n"));
  PetscCall(CompareBlocks(app->dm, d->A, d->J, app->nf, MAT_REUSE_MATRIX, blocks));
  PetscCall(VecDestroy(&xb));
  PetscCall(VecDestroy(&yb));
  PetscCall(VecDestroy(&zb));
  for (PetscInt k = 0; k < (MAX_FIELDS + 1) * (MAX_FIELDS + 1); ++k) PetscCall(MatDestroy(&blocks[k]));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  App  app = {0};
  Data d;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(GetOptions(&app));
  PetscCall(CreateProblem(&app));
  PetscCall(CreateReference(&app, &d));
  PetscCall(CompareOperators(&app, &d));
  PetscCall(Misuse(&app, &d));
  PetscCall(CompareStates(&app, &d));
  PetscCall(PetscRandomDestroy(&d.rnd));
  PetscCall(VecDestroy(&d.u));
  PetscCall(VecDestroy(&d.ut));
  PetscCall(VecDestroy(&d.x));
  PetscCall(VecDestroy(&d.y));
  PetscCall(VecDestroy(&d.z));
  PetscCall(MatDestroy(&d.J));
  PetscCall(MatDestroy(&d.A));
  if (app.prec) {
    PetscCall(MatDestroy(&d.JP));
    PetscCall(MatDestroy(&d.AP));
  }
  PetscCall(SNESDestroy(&app.snes));
  PetscCall(TSDestroy(&app.ts));
  PetscCall(DMDestroy(&app.dm));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  testset:
    args: -dm_coord_petscspace_degree 2
    test:
      suffix: 2d
      nsize: {{1 3}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,3 -f0_petscspace_degree {{2 3}} -f1_petscspace_degree {{1 2}}
      output_file: output/plexfields_two.out
    test:
      suffix: 3d
      nsize: {{1 2 4}}
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,2,2 -f0_petscspace_degree 2 -f1_petscspace_degree 1
      output_file: output/plexfields_two.out
    test:
      suffix: 3d_32
      args: -dm_plex_dim 3 -dm_plex_box_faces 2,1,1 -f0_petscspace_degree 3 -f1_petscspace_degree 2
      output_file: output/plexfields_two.out
    test:
      suffix: aux
      nsize: {{1 2}}
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,2 -f0_petscspace_degree 3 -f1_petscspace_degree 2 -aux -aux_petscspace_degree 1
      output_file: output/plexfields_two.out
    test:
      suffix: dynamic
      nsize: {{1 2}}
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,2,1 -f0_petscspace_degree 2 -f1_petscspace_degree 1 -dynamic
      output_file: output/plexfields_two.out
    test:
      suffix: under
      args: -dm_plex_dim {{2 3}} -dm_plex_box_faces 2,2,1 -f0_petscspace_degree 2 -f0_petscfe_default_quadrature_order {{1 2}} -f1_petscspace_degree 4
      output_file: output/plexfields_two.out
    test:
      suffix: scalars
      args: -layout 2 -dm_plex_dim 2 -dm_plex_box_faces 3,3 -f0_petscspace_degree 2 -f1_petscspace_degree 2
      output_file: output/plexfields_two.out
    test:
      suffix: isa
      requires: avx2
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,3 -f0_petscspace_degree 3 -f1_petscspace_degree 2 -hops_host_isa {{base avx2}}
      output_file: output/plexfields_two.out
    test:
      suffix: three
      nsize: {{1 3}}
      args: -layout 1 -dm_plex_dim 2 -dm_plex_box_faces 3,3 -f0_petscspace_degree 1 -f1_petscspace_degree 3 -f2_petscspace_degree 2
    test:
      suffix: prec
      nsize: {{1 2}}
      args: -prec -dynamic {{0 1}} -dm_plex_dim 2 -dm_plex_box_faces 3,3 -f0_petscspace_degree 3 -f1_petscspace_degree 2
      output_file: output/plexfields_prec.out
    test:
      suffix: prec_3d
      args: -prec -dynamic -aux -aux_petscspace_degree 1 -dm_plex_dim 3 -dm_plex_box_faces 2,2,1 -f0_petscspace_degree 2 -f1_petscspace_degree 2
      output_file: output/plexfields_prec.out
    test:
      suffix: regions
      nsize: {{1 3}}
      args: -regions -dynamic {{0 1}} -dm_plex_dim {{2}} -dm_plex_box_faces 4,2,1 -f0_petscspace_degree 3 -f1_petscspace_degree 2
    test:
      suffix: regions
      nsize: {{1 3}}
      args: -regions -dynamic {{0}} -dm_plex_dim {{3}} -dm_plex_box_faces 4,2,1 -f0_petscspace_degree 3 -f1_petscspace_degree 2
    test:
      suffix: regions
      requires: long
      nsize: {{1 3}}
      args: -regions -dynamic {{1}} -dm_plex_dim {{3}} -dm_plex_box_faces 4,2,1 -f0_petscspace_degree 3 -f1_petscspace_degree 2
    test:
      suffix: regions_prec
      nsize: {{1 2}}
      args: -regions -prec -dynamic {{0 1}} -aux -aux_petscspace_degree 1 -dm_plex_dim 2 -dm_plex_box_faces 4,2 -f0_petscspace_degree 3 -f1_petscspace_degree 2
      output_file: output/plexfields_prec.out
    test:
      suffix: regions_three
      nsize: {{1 3}}
      args: -regions -layout 1 -dm_plex_dim 2 -dm_plex_box_faces 3,3 -f0_petscspace_degree 1 -f1_petscspace_degree 3 -f2_petscspace_degree 2
    # residuals that are left to PETSc: a key that it does not evaluate, and boundary residuals, which it adds up once a region
    test:
      suffix: residual_key
      args: -key -info :dm -dynamic {{0 1}} -dm_plex_dim 2 -dm_plex_box_faces 4,2 -f0_petscspace_degree 3 -f1_petscspace_degree 2
      filter: grep -oE "residual left to PETSc|residual. .*" | sort -u
      output_file: output/plexfields_residual.out
    test:
      suffix: residual_regions
      nsize: {{1 2}}
      args: -regions -flux -info :dm -dynamic {{0 1}} -dm_plex_dim 2 -dm_plex_box_faces 4,2 -f0_petscspace_degree 3 -f1_petscspace_degree 2
      filter: grep -oE "residual left to PETSc|residual. .*" | sort -u
      output_file: output/plexfields_residual.out

  testset:
    args: -robin -dm_coord_petscspace_degree 1
    test:
      suffix: robin
      nsize: {{1 3}}
      args: -dm_plex_dim {{2}} -dm_plex_box_faces 3,2,2 -f0_petscspace_degree {{2 3}} -f1_petscspace_degree 2
      output_file: output/plexfields_two.out
    test:
      suffix: robin
      nsize: {{1 3}}
      args: -dm_plex_dim {{3}} -dm_plex_box_faces 3,2,2 -f0_petscspace_degree {{2}} -f1_petscspace_degree 2
      output_file: output/plexfields_two.out
    test:
      suffix: robin
      requires: long
      nsize: {{1 3}}
      args: -dm_plex_dim {{3}} -dm_plex_box_faces 3,2,2 -f0_petscspace_degree {{3}} -f1_petscspace_degree 2
      output_file: output/plexfields_two.out
    test:
      suffix: robin_prec
      nsize: {{1 2}}
      args: -prec -dynamic {{0 1}} -dm_plex_dim {{2 3}} -dm_plex_box_faces 3,2,1 -f0_petscspace_degree 2 -f1_petscspace_degree 2
      output_file: output/plexfields_prec.out
    test:
      suffix: robin_dynamic
      args: -dm_plex_dim 2 -dm_plex_box_faces 3,2 -f0_petscspace_degree 3 -f1_petscspace_degree 2 -dynamic -aux -aux_petscspace_degree 1
      output_file: output/plexfields_two.out

  test:
    suffix: foreign
    args: -foreign -dm_plex_dim 2 -dm_plex_box_faces 2,2 -f0_petscspace_degree 2 -f1_petscspace_degree 1 -petsc_ci_portable_error_output
    filter: grep -oE "takes no entries" | sort -u

  test:
    suffix: scattered
    args: -scattered -dm_plex_dim 2 -dm_plex_box_faces 2,2 -f0_petscspace_degree 2 -f1_petscspace_degree 1 -petsc_ci_portable_error_output
    filter: grep -oE "gives the blocks of whole fields alone|MatConvert\(\) to aij" | sort -u

  test:
    suffix: scaled
    args: -scaled -dm_plex_dim 2 -dm_plex_box_faces 2,2 -f0_petscspace_degree 2 -f1_petscspace_degree 1 -petsc_ci_portable_error_output
    filter: grep -oE "A block of fields|was changed since its form was set|assemble it" | sort -u

  test:
    suffix: discontinuous
    args: -dm_plex_dim 2 -dm_plex_box_faces 2,2 -f0_petscspace_degree 2 -f1_petscspace_degree 1 -f1_petscdualspace_lagrange_continuity 0 -petsc_ci_portable_error_output
    filter: grep -oE "Field 1 of the DM is discontinuous|leave out -dm_mat_type pa" | sort -u

TEST*/
