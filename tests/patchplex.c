static char help[] = "PCPATCHFD on meshes: orientation of cells, surrogates, ranks, irregular vertices, and what it refuses.\n\
  -test <orientation,surrogate,partial,ranks,refuse> -order <p>\n\n";

#include "hopsexpect.h"
#include <petscfe.h>
#include <petscds.h>

static PetscErrorCode U(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscSinReal(3.0 * x[0]) + x[1] * x[0] + (dim > 2 ? PetscCosReal(2.0 * x[2]) : 0.0);
  return PETSC_SUCCESS;
}

static PetscErrorCode V(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar u[], void *ctx)
{
  u[0] = PetscExpReal(x[0] - x[1]) + (dim > 2 ? x[2] * x[2] : 0.0);
  return PETSC_SUCCESS;
}

/* ctx: contrast; by the squares or cubes of side 1/4 */
static PetscErrorCode Board(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar k[], void *ctx)
{
  PetscInt parity = 0;

  for (PetscInt d = 0; d < dim; ++d) parity += (PetscInt)PetscFloorReal(4.0 * x[d]);
  k[0] = parity % 2 ? *(PetscReal *)ctx : 1.0;
  return PETSC_SUCCESS;
}

static PetscErrorCode Operator(HopsSpace sp, PetscInt nc, PetscBool mass, Mat *A)
{
  HopsCoefficient c;

  PetscFunctionBeginUser;
  PetscCall(MatCreatePA(sp, A));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, nc, TestKappa, NULL, &c));
  PetscCall(MatPASetDiffusion(*A, c));
  PetscCall(HopsCoefficientDestroy(&c));
  if (mass) {
    PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, TestMass, NULL, &c));
    PetscCall(MatPASetMass(*A, c));
    PetscCall(HopsCoefficientDestroy(&c));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Smoother(Mat A, const char options[], PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetType(*pc, PCPATCHFD));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v.B u for two functions */
static PetscErrorCode Form(HopsSpace sp, Mat A, const char options[], PetscScalar *a)
{
  PC  pc;
  Vec u, v, w;

  PetscFunctionBeginUser;
  PetscCall(Smoother(A, options, &pc));
  PetscCall(PCSetUp(pc));
  PetscCall(HopsSpaceCreateVec(sp, &u));
  PetscCall(VecDuplicate(u, &v));
  PetscCall(VecDuplicate(u, &w));
  PetscCall(HopsSpaceInterpolate(sp, U, NULL, u));
  PetscCall(HopsSpaceInterpolate(sp, V, NULL, v));
  PetscCall(PCApply(pc, u, w));
  PetscCall(VecDot(v, w, a));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const variants[] = {"-pc_patchfd_type additive -pc_patchfd_patch vertex",
                                       "-pc_patchfd_type restricted -pc_patchfd_patch vertex",
                                       "-pc_patchfd_type additive -pc_patchfd_patch element",
                                       "-pc_patchfd_type restricted -pc_patchfd_patch element",
                                       "-pc_patchfd_type multiplicative -pc_patchfd_patch vertex -pc_patchfd_direction symmetric",
                                       "-pc_patchfd_type multiplicative -pc_patchfd_direction forward"};

/* Cells of 2 x 2 (x 2), which may be turned at random: quarter turns, in 3D cyclic axes and an even number of
   flips */
static PetscErrorCode Turn(PetscInt dim, PetscRandom r, PetscBool random, PetscInt cells[])
{
  static const PetscInt plexcorner2[4] = {0, 1, 3, 2}, plexcorner3[8] = {0, 2, 3, 1, 4, 5, 7, 6},
                        perm[3][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}};
  const PetscInt nc                = 1 << dim;

  PetscFunctionBeginUser;
  for (PetscInt c = 0; c < nc; ++c) {
    PetscReal      x;
    PetscInt       s, flip;
    const PetscInt at[3] = {c & 1, (c >> 1) & 1, c >> 2};

    PetscCall(PetscRandomGetValueReal(r, &x));
    s = random ? (PetscInt)(11.99 * x) : 0;
    for (PetscInt k = 0; k < nc; ++k) {
      PetscInt corner = dim == 2 ? plexcorner2[k] : plexcorner3[k], to = 0, g = 0;

      if (dim == 2) {
        for (PetscInt t = 0; t < s % 4; ++t) corner = (((corner >> 1) & 1) ^ 1) | ((corner & 1) << 1);
        to = corner;
      } else {
        flip = (PetscInt[]){0, 3, 5, 6}[s / 3];
        for (PetscInt d = 0; d < 3; ++d) to |= (((corner >> perm[s % 3][d]) & 1) ^ ((flip >> d) & 1)) << d;
      }
      for (PetscInt d = dim - 1; d >= 0; --d) g = 3 * g + at[d] + ((to >> d) & 1);
      cells[c * nc + k] = g;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The boundary to the left of 0.3 in x is essential */
static PetscErrorCode MarkLeft(DM dm, DMLabel label)
{
  IS              faces;
  DMLabel         all;
  const PetscInt *f;
  PetscInt        n;

  PetscFunctionBeginUser;
  PetscCall(DMCreateLabel(dm, "all"));
  PetscCall(DMGetLabel(dm, "all", &all));
  PetscCall(DMPlexMarkBoundaryFaces(dm, 1, all));
  PetscCall(DMLabelGetStratumIS(all, 1, &faces));
  PetscCall(ISGetLocalSize(faces, &n));
  PetscCall(ISGetIndices(faces, &f));
  for (PetscInt i = 0; i < n; ++i) {
    PetscReal c[3];

    PetscCall(DMPlexComputeCellGeometryFVM(dm, f[i], NULL, c, NULL));
    if (c[0] < 0.3) PetscCall(DMLabelSetValue(label, f[i], 1));
  }
  PetscCall(ISRestoreIndices(faces, &f));
  PetscCall(ISDestroy(&faces));
  PetscCall(DMPlexLabelComplete(dm, label));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 2^dim cells around a vertex, each turned at random: every variant whose result does not depend on the order
   of patches stays the same */
static PetscErrorCode Orientation(PetscInt dim, PetscInt p)
{
  const PetscInt nc = 1 << dim, nv = dim == 2 ? 9 : 27;
  PetscReal      coords[81];
  PetscScalar    ref[4] = {0.0};
  PetscInt       bad    = 0;
  PetscRandom    r;

  PetscFunctionBeginUser;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &r));
  for (PetscInt v = 0; v < nv; ++v) {
    const PetscInt ijk[3] = {v % 3, (v / 3) % 3, v / 9};

    for (PetscInt d = 0; d < dim; ++d)
      coords[v * dim + d] = ijk[d] * (1.0 + 0.2 * d * ijk[d]) + 0.06 * PetscSinReal(1.0 + 3.0 * v + d);
  }
  for (PetscInt trial = 0; trial < 12; ++trial) {
    PetscInt  cells[64], one = 1;
    DM        dm;
    DMLabel   label;
    HopsSpace sp;
    Mat       A;

    PetscCall(Turn(dim, r, trial ? PETSC_TRUE : PETSC_FALSE, cells));
    PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_SELF, dim, nc, nv, nc, PETSC_TRUE, cells, dim, coords, &dm));
    PetscCall(DMCreateLabel(dm, "wall"));
    PetscCall(DMGetLabel(dm, "wall", &label));
    PetscCall(MarkLeft(dm, label));
    PetscCall(HopsSpaceCreateH1(dm, p, label, 1, &one, &sp));
    PetscCall(Operator(sp, dim * (dim + 1) / 2, PETSC_TRUE, &A));
    for (PetscInt k = 0; k < 4; ++k) {
      PetscScalar a;

      PetscCall(Form(sp, A, variants[k], &a));
      if (!trial) ref[k] = a;
      if (!(PetscAbsScalar(a - ref[k]) <= 1e-10 * PetscAbsScalar(ref[k]))) {
        ++bad;
        PetscCall(PetscPrintf(PETSC_COMM_SELF, "trial %" PetscInt_FMT ", %s: %.12g, not %.12g\n", trial, variants[k], (double)a,
                              (double)ref[k]));
      }
    }
    PetscCall(MatDestroy(&A));
    PetscCall(HopsSpaceDestroy(&sp));
    PetscCall(DMDestroy(&dm));
  }
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "orientations in %" PetscInt_FMT "D, order %" PetscInt_FMT ": %s\n", dim, p,
                        bad ? "DIFFER" : "all the same"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* extreme eigenvalues of B A, both dense and symmetric in the sense of A */
static PetscErrorCode Spectrum(Mat A, PC pc, PetscReal *lo, PetscReal *hi)
{
  PetscInt     n, *all;
  PetscScalar *D, *F, *G;
  PetscReal   *lambda;
  Vec          x, y;
  Mat          B;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(PetscMalloc5(n * n, &D, n * n, &F, n * n, &G, n, &all, n, &lambda));
  for (PetscInt i = 0; i < n; ++i) all[i] = i;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(TestDense(B, n, all, D));
  PetscCall(MatCreateVecs(A, &x, &y));
  for (PetscInt i = 0; i < n; ++i) { /* F = A B A, symmetric; F v = lambda A v */
    const PetscScalar *a;

    PetscCall(VecSet(x, 0.0));
    PetscCall(VecSetValue(x, i, 1.0, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(x));
    PetscCall(VecAssemblyEnd(x));
    PetscCall(MatMult(B, x, y));
    PetscCall(PCApply(pc, y, x));
    PetscCall(MatMult(B, x, y));
    PetscCall(VecGetArrayRead(y, &a));
    for (PetscInt j = 0; j < n; ++j) F[i * n + j] = a[j];
    PetscCall(VecRestoreArrayRead(y, &a));
  }
  PetscCall(TestEigenvalues(n, F, D, lambda));
  *lo = lambda[0];
  *hi = lambda[n - 1];
  PetscCall(PetscFree5(D, F, G, all, lambda));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Checkers(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar k[], void *ctx)
{
  PetscInt parity = 0;

  for (PetscInt d = 0; d < dim; ++d) parity += x[d] > 0.5;
  k[0] = parity % 2 ? 100.0 : 1.0;
  return PETSC_SUCCESS;
}

static void Skew(PetscInt dim, PetscReal x[])
{
  x[0] += 0.5 * x[1];
}

static void Move(PetscInt dim, PetscReal x[])
{
  TestCurve(dim, x);
}

/* one patch of 2^dim cells: the spectrum of its solver is below the bound that damping promises, and the
   dense solver is exact */
static PetscErrorCode Surrogate(PetscInt dim, PetscInt p)
{
  static const char *const names[] = {"skewed", "curved, smooth tensor", "checkerboard"};
  PetscBool                show    = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-show", &show, NULL));
  for (PetscInt k = 0; k < 3; ++k) {
    DM              dm;
    DMLabel         label;
    HopsSpace       sp;
    Mat             A;
    HopsCoefficient c;
    PetscInt        one = 1;

    PetscCall(TestCube(dim, 2, k == 0 ? Skew : (k == 1 ? Move : NULL), &dm));
    PetscCall(DMCreateLabel(dm, "all"));
    PetscCall(DMGetLabel(dm, "all", &label));
    PetscCall(DMPlexMarkBoundaryFaces(dm, 1, label));
    PetscCall(DMPlexLabelComplete(dm, label));
    PetscCall(HopsSpaceCreateH1(dm, p, label, 1, &one, &sp));
    PetscCall(Operator(sp, k == 1 ? dim * (dim + 1) / 2 : 1, PETSC_FALSE, &A));
    if (k != 1) {
      const PetscScalar unit = 1.0;

      if (k == 0) PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &unit, &c));
      else PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_SELF, 1, Checkers, NULL, &c));
      PetscCall(MatPASetDiffusion(A, c));
      PetscCall(HopsCoefficientDestroy(&c));
    }
    for (PetscInt dense = 0; dense < (k == 2 && p > 1 ? 3 : 2); ++dense) {
      static const char *const        solver[]     = {"-pc_patchfd_dense_max 0 -pc_patchfd_condense_max 0",
                                                      "-pc_patchfd_dense_max 5000 -pc_patchfd_dense_ratio 1 "
                                                                 "-pc_patchfd_condense_max 0",
                                                      "-pc_patchfd_dense_max 0 -pc_patchfd_condense_max 1000"},
                               *const solvername[] = {"tensor product", "dense", "condensed"};
      PC                              pc;
      PetscReal                       lo = 0.0, hi = 0.0;
      PetscBool                       ok;

      PetscCall(PetscOptionsInsertString(NULL, "-pc_patchfd_type additive -pc_patchfd_weight 0"));
      PetscCall(Smoother(A, solver[dense], &pc));
      PetscCall(PCSetUp(pc));
      PetscCall(Spectrum(A, pc, &lo, &hi));
      ok = dense ? (PetscBool)(lo > 1.0 - 1e-10 && hi < 1.0 + 1e-10) : (PetscBool)(lo > (k == 2 ? 1e-4 : 0.1) && hi <= 1.7 + 1e-10);
      if (show) PetscCall(PetscPrintf(PETSC_COMM_SELF, "  [%.4f, %.4f]\n", (double)lo, (double)hi));
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, order %" PetscInt_FMT ", %s: %s\n", names[k], p, solvername[dense],
                            ok ? "within bounds" : "OUT OF BOUNDS"));
      PetscCall(PCDestroy(&pc));
    }
    PetscCall(MatDestroy(&A));
    PetscCall(HopsSpaceDestroy(&sp));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Thin(PetscInt dim, PetscReal x[])
{
  x[0] *= 0.01;
}

/* Largest difference of additive corrections without weights and those by inverses of the patches' parts of
   the matrix */
static PetscErrorCode Exact(Mat A, PC pc, PetscReal *error)
{
  Mat             B;
  Vec             x, y;
  PetscScalar    *D, *M, *r, *z, *w;
  const PetscInt *start;
  const int      *idx, *color;
  PetscInt        n, np, nc, *all, *u;

  PetscFunctionBeginUser;
  PetscCall(PCPATCHFDGetPatches(pc, &np, &start, &idx, &color, &nc));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(PetscMalloc7(n * n, &D, n * n, &M, n, &r, n, &z, n, &w, n, &all, n, &u));
  for (PetscInt i = 0; i < n; ++i) all[i] = i;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(TestDense(B, n, all, D));
  PetscCall(MatDestroy(&B));
  PetscCall(MatCreateVecs(A, &x, &y));
  for (PetscInt i = 0; i < n; ++i) {
    r[i] = PetscSinReal(1.0 + i);
    z[i] = 0.0;
    PetscCall(VecSetValue(x, i, r[i], INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  for (PetscInt k = 0; k < np; ++k) {
    PetscBLASInt m = 0, one = 1, info;

    for (PetscInt i = start[k]; i < start[k + 1]; ++i)
      if (idx[i] < n) u[m++] = idx[i];
    if (!m) continue;
    for (PetscInt i = 0; i < m; ++i) {
      w[i] = r[u[i]];
      for (PetscInt j = 0; j < m; ++j) M[i * m + j] = D[u[i] * n + u[j]];
    }
    PetscCallBLAS("LAPACKpotrf", LAPACKpotrf_("U", &m, M, &m, &info));
    PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "potrf %d", (int)info);
    PetscCallBLAS("LAPACKpotrs", LAPACKpotrs_("U", &m, &one, M, &m, w, &m, &info));
    for (PetscInt i = 0; i < m; ++i) z[u[i]] += w[i];
  }
  PetscCall(PCApply(pc, x, y));
  *error = 0.0;
  for (PetscInt i = 0; i < n; ++i) {
    PetscScalar v;

    PetscCall(VecGetValues(y, 1, &i, &v));
    *error = TestWorse(*error, PetscAbsScalar(v - z[i]) / (1.0 + PetscAbsScalar(z[i])));
  }
  PetscCall(PetscFree7(D, M, r, z, w, all, u));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Essential are the vertices of the boundary, its edges (in 3D), or one vertex inside: they lie in faces that
   have other unknowns */
static PetscErrorCode MarkPartial(DM dm, PetscInt kind, DMLabel *label)
{
  DMLabel  all;
  PetscInt pStart, pEnd;

  PetscFunctionBeginUser;
  PetscCall(DMCreateLabel(dm, "all"));
  PetscCall(DMGetLabel(dm, "all", &all));
  PetscCall(DMCreateLabel(dm, "part"));
  PetscCall(DMGetLabel(dm, "part", label));
  PetscCall(DMPlexMarkBoundaryFaces(dm, 1, all));
  PetscCall(DMPlexLabelComplete(dm, all));
  PetscCall(DMPlexGetDepthStratum(dm, kind == 1 ? 1 : 0, &pStart, &pEnd));
  for (PetscInt q = pStart; q < pEnd; ++q) {
    PetscInt v;

    PetscCall(DMLabelGetValue(all, q, &v));
    if ((v == 1) == (kind < 2)) PetscCall(DMLabelSetValue(*label, q, 1));
    if (v != 1 && kind == 2) break;
  }
  PetscCall(DMRemoveLabel(dm, "all", NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The preconditioners are definite, and the spectrum of a symmetric sweep lies below 2; where all cut patches
  are inverted, and the others exact, corrections are those of the matrix
*/
static PetscErrorCode Partial(PetscInt dim, PetscInt p)
{
  static const char *const kinds[]     = {"vertices", "edges", "a vertex inside"};
  const char *const        symmetric[] = {variants[0], variants[2], variants[4],
                                          "-pc_patchfd_type multiplicative -pc_patchfd_patch element "
                                                 "-pc_patchfd_direction symmetric"};

  PetscFunctionBeginUser;
  for (PetscInt kind = 0; kind < 3; ++kind)
    for (PetscInt thin = 0; thin < 2; ++thin) {
      const PetscScalar unit = 1.0;
      DM                dm;
      DMLabel           label;
      HopsSpace         sp;
      Mat               A;
      HopsCoefficient   c;
      PetscInt          one = 1;
      PetscReal         lo = 0.0, hi = 0.0, e = 0.0;
      PC                pc;

      if (dim == 2 && kind == 1) continue;
      PetscCall(TestCube(dim, 3, thin ? Thin : NULL, &dm));
      PetscCall(MarkPartial(dm, kind, &label));
      PetscCall(HopsSpaceCreateH1(dm, p, label, 1, &one, &sp));
      PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &unit, &c));
      PetscCall(MatCreatePA(sp, &A));
      PetscCall(MatPASetDiffusion(A, c));
      PetscCall(HopsCoefficientDestroy(&c));
      for (PetscInt k = 0; k < 4; ++k) {
        PetscCall(Smoother(A, symmetric[k], &pc));
        PetscCall(PCSetUp(pc));
        PetscCall(Spectrum(A, pc, &lo, &hi));
        if (!(lo > 0.0) || (k > 1 && hi >= 2.0))
          PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s%s, %s: spectrum [%g, %g]\n", kinds[kind], thin ? ", thin cells" : "",
                                symmetric[k], (double)lo, (double)hi));
        PetscCall(PCDestroy(&pc));
      }
      PetscCall(Smoother(A,
                         "-pc_patchfd_type additive -pc_patchfd_patch vertex -pc_patchfd_weight 0 -pc_patchfd_condense_ratio 1 "
                         "-pc_patchfd_dense_max 5000",
                         &pc));
      PetscCall(PCSetUp(pc));
      PetscCall(Exact(A, pc, &e));
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s%s: inverted patches %s\n", kinds[kind], thin ? ", thin cells" : "",
                            e < 1e-8 ? "are exact" : "ARE NOT EXACT"));
      PetscCall(PCDestroy(&pc));
      for (PetscInt i = 0; i < 4; ++i)
        PetscCall(PetscOptionsClearValue(NULL, (const char *[]){"-pc_patchfd_weight", "-pc_patchfd_condense_ratio",
                                                                "-pc_patchfd_dense_max", "-pc_patchfd_direction"}[i]));
      PetscCall(MatDestroy(&A));
      PetscCall(HopsSpaceDestroy(&sp));
      PetscCall(DMDestroy(&dm));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* forms and iterations on any number of ranks; colors of irregular meshes depend on the partition */
static PetscErrorCode Ranks(PetscInt p)
{
  DM        dm;
  DMLabel   label;
  HopsSpace sp;
  Mat       A;
  PetscInt  one = 1, dim, nvar = 6;
  PetscBool curved = PETSC_FALSE, mass = PETSC_FALSE;
  PetscReal jump = 0.0;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-curved", &curved, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-mass", &mass, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-variants", &nvar, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-jump", &jump, NULL));
  PetscCall(TestMesh(PETSC_COMM_WORLD, curved, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(HopsSpaceCreateH1(dm, p, label, label ? 1 : 0, &one, &sp));
  PetscCall(Operator(sp, 1, mass, &A));
  if (jump > 0.0) {
    HopsCoefficient c;

    PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_WORLD, 1, Board, &jump, &c));
    PetscCall(MatPASetDiffusion(A, c));
    PetscCall(HopsCoefficientDestroy(&c));
  }
  for (PetscInt k = 0; k < nvar; ++k) {
    KSP                ksp;
    PC                 pc;
    Vec                x, b;
    PetscScalar        a;
    PetscInt           its;
    KSPConvergedReason reason;

    if (jump > 0.0 && (k == 2 || k == 3)) continue; /* nothing to do with vertices */
    PetscCall(Form(sp, A, variants[k], &a));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, k == 1 || k == 3 || k == 5 ? KSPGMRES : KSPCG));
    PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 200));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCPATCHFD));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(HopsSpaceCreateVec(sp, &x));
    PetscCall(VecDuplicate(x, &b));
    PetscCall(HopsSpaceComputeRHS(sp, U, NULL, b));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: form %.9g, iterations %" PetscInt_FMT "%s\n", variants[k] + 12, (double)a, its,
                          reason > 0 ? "" : ", NOT CONVERGED"));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SignChange(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar k[], void *ctx)
{
  k[0] = x[0] - 0.25;
  return PETSC_SUCCESS;
}

/* a scaled shell is not the operator of its coefficients, whose copy makes the patches: residuals must be its
   own, so that Richardson's method solves its system */
static PetscErrorCode Scaled(HopsSpace sp)
{
  Mat             A, P;
  KSP             ksp;
  PC              pc;
  Vec             x, b, r;
  PetscReal       e, n;
  HopsCoefficient one;
  PetscScalar     v1 = 1.0;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &v1, &one));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, one));
  PetscCall(MatPASetMass(A, one));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &P));
  PetscCall(MatScale(A, 0.7));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetType(ksp, KSPRICHARDSON));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCPATCHFD));
  PetscCall(KSPSetOperators(ksp, A, P));
  PetscCall(HopsSpaceCreateVec(sp, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(x, &r));
  PetscCall(HopsSpaceInterpolate(sp, U, NULL, b));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, &e));
  PetscCall(VecNorm(b, NORM_2, &n));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "scaled operator: %s\n", e <= 1e-9 * n ? "solved" : "NOT SOLVED"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&P));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(HopsCoefficientDestroy(&one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RefuseForms(DM dm, HopsSpace sp, HopsCoefficient one)
{
  const PetscScalar v0 = 0.0, vm = -1.0;
  DMLabel           label;
  PetscInt          n, *cells, *faces;
  Mat               A;
  PC                pc;
  HopsCoefficient   zero, negative, change, alpha;

  PetscFunctionBeginUser;
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &v0, &zero));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &vm, &negative));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_SELF, 1, SignChange, NULL, &change));
  PetscCall(HopsCoefficientCreateFunction(PETSC_COMM_SELF, 1, SignChange, NULL, &alpha));
  PetscCall(MatCreatePA(sp, &A));
  PetscCall(MatPASetDiffusion(A, zero));
  PetscCall(Smoother(A, "", &pc));
  EXPECT("zero diffusion", PCSetUp(pc), "zero, negative or indefinite in cell");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatPASetDiffusion(A, change));
  PetscCall(Smoother(A, "", &pc));
  EXPECT("diffusion that changes sign", PCSetUp(pc), "zero, negative or indefinite in cell");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatPASetDiffusion(A, one));
  PetscCall(MatPASetMass(A, negative));
  PetscCall(Smoother(A, "", &pc));
  EXPECT("negative reaction", PCSetUp(pc), "reaction coefficient is negative");
  PetscCall(PCPATCHFDSetCoefficients(pc, one, NULL)); /* the remedy that the message names */
  PetscCall(PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatPASetMass(A, NULL));
  PetscCall(MatPASetQuadrature(A, 2, PETSC_FALSE));
  PetscCall(Smoother(A, "", &pc));
  EXPECT("too few quadrature points", PCSetUp(pc), "at least order + 1 points");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatPASetQuadrature(A, 0, PETSC_FALSE));
  PetscCall(DMGetLabel(dm, "Face Sets", &label));
  PetscCall(HopsSpaceGetLabelFaces(sp, label, 1, &n, &cells, &faces));
  PetscCall(MatPAAddRobin(A, n, cells, faces, alpha));
  PetscCall(PetscFree(cells));
  PetscCall(PetscFree(faces));
  PetscCall(Smoother(A, "", &pc));
  EXPECT("negative Robin coefficient", PCSetUp(pc), "Robin coefficient is negative");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(HopsCoefficientDestroy(&zero));
  PetscCall(HopsCoefficientDestroy(&negative));
  PetscCall(HopsCoefficientDestroy(&change));
  PetscCall(HopsCoefficientDestroy(&alpha));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RefuseMatrices(DM dm, HopsSpace sp, HopsCoefficient one)
{
  Mat     B;
  PC      pc;
  PetscFE fe;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_SELF, 7, 7, 7, 7, 1, NULL, 0, NULL, &B));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatShift(B, 1.0));
  PetscCall(Smoother(B, "", &pc));
  EXPECT("no space", PCSetUp(pc), "PCPATCHFD finds no finite element space");
  PetscCall(PCPATCHFDSetSpace(pc, sp));
  EXPECT("no form", PCSetUp(pc), "PCPATCHFDSetCoefficients()");
  PetscCall(PCPATCHFDSetCoefficients(pc, one, one));
  EXPECT("matrix of another size", PCSetUp(pc), "7 rows");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&B));
  /* several components */
  PetscCall(PetscFECreateLagrange(PETSC_COMM_SELF, 2, 2, PETSC_FALSE, 2, PETSC_DETERMINE, &fe));
  PetscCall(DMSetField(dm, 0, NULL, (PetscObject)fe));
  PetscCall(DMCreateDS(dm));
  PetscCall(DMCreateMatrix(dm, &B));
  PetscCall(Smoother(B, "", &pc));
  PetscCall(PCSetDM(pc, dm));
  EXPECT("several components", PCSetUp(pc), "takes scalar forms");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscFEDestroy(&fe));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Refuse(void)
{
  const PetscScalar v1 = 1.0;
  DM                dm;
  HopsSpace         sp;
  HopsCoefficient   one;

  PetscFunctionBeginUser;
  PetscCall(TestCube(2, 2, NULL, &dm));
  PetscCall(HopsSpaceCreateH1(dm, 3, NULL, 0, NULL, &sp));
  PetscCall(Scaled(sp));
  PetscCall(HopsCoefficientCreateConstant(PETSC_COMM_SELF, 1, &v1, &one));
  PetscCall(RefuseForms(dm, sp, one));
  PetscCall(RefuseMatrices(dm, sp, one));
  PetscCall(HopsCoefficientDestroy(&one));
  PetscCall(HopsSpaceDestroy(&sp));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      test[32] = "ranks";
  PetscBool same;
  PetscInt  p = 3, dim = 2;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HopsInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &p, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-test", test, sizeof(test), NULL));
  PetscCall(PetscStrcmp(test, "ranks", &same));
  if (same) PetscCall(Ranks(p));
  PetscCall(PetscStrcmp(test, "orientation", &same));
  if (same) PetscCall(Orientation(dim, p));
  PetscCall(PetscStrcmp(test, "surrogate", &same));
  if (same) PetscCall(Surrogate(dim, p));
  PetscCall(PetscStrcmp(test, "partial", &same));
  if (same) PetscCall(Partial(dim, p));
  PetscCall(PetscStrcmp(test, "refuse", &same));
  if (same) PetscCall(Refuse());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build:
    requires: real

  test:
    suffix: orientation
    args: -test orientation -dim 2 -order {{1 2 3 5}separate output}
  test:
    suffix: orientation_3d
    args: -test orientation -dim 3 -order {{1 2 3}separate output}
    timeoutfactor: 2
  test:
    suffix: surrogate
    requires: host
    args: -test surrogate -dim 2 -order {{1 3 6}separate output}
  test:
    suffix: surrogate_3d
    requires: host
    args: -test surrogate -dim 3 -order {{2 3}separate output}
    timeoutfactor: 2
  testset:
    requires: host
    args: -test partial
    test:
      suffix: partial
      args: -dim 2 -order {{1 2 3 4 7}}
    test:
      suffix: partial_3d
      args: -dim 3 -order 2
  test:
    suffix: refuse
    args: -test refuse -malloc_dump 0

  testset:
    args: -dm_plex_dim 2 -dm_plex_box_faces 6,5 -order 4
    output_file: output/patchplex_ranks_2d.out
    diff_args: -j
    test:
      suffix: ranks_2d
      nsize: {{1 2 3 4}}
  testset:
    args: -dm_plex_dim 3 -dm_plex_box_faces 3,4,3 -order 3 -curved -mass
    output_file: output/patchplex_ranks_3d.out
    diff_args: -j
    timeoutfactor: 2
    test:
      suffix: ranks_3d
      nsize: {{1 2 4}}
  testset:
    requires: host
    args: -dm_plex_dim 2 -dm_plex_box_faces 8,8 -order 5 -jump 30 -pc_patchfd_dense_max 0
    output_file: output/patchplex_condensed_2d.out
    diff_args: -j
    test:
      suffix: condensed_2d
      nsize: {{1 2 3}}
  testset:
    requires: host
    args: -dm_plex_dim 3 -dm_plex_box_faces 4,4,4 -order 3 -jump 30 -pc_patchfd_dense_max 0
    output_file: output/patchplex_condensed_3d.out
    diff_args: -j
    timeoutfactor: 2
    test:
      suffix: condensed_3d
      nsize: {{1 3}}
  test:
    suffix: ranks_plate
    diff_args: -j
    args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/plate.msh -order 4
    nsize: {{1 2 3 4}}
    filter: sed -e "/multiplicative/s/form [^,]*, //" -e "/symmetric/s/3[34]$/33 or 34/" -e "/forward/s/5[12]$/51 or 52/"
  test:
    suffix: ranks_solid
    diff_args: -j
    args: -dm_plex_filename ${HOPS_SOURCE}/tutorials/meshes/solid.msh -order 2
    nsize: {{1 2 3 4}}
    filter: sed -e "/multiplicative/s/form [^,]*, //" -e "/symmetric/s/1[67]$/16 or 17/" -e "/forward/s/2[12]$/21 or 22/"
    timeoutfactor: 2

TEST*/
