/* What several tests share: structured boxes as arrays, curved DMPlex boxes, coefficient functions, a solver,
   dense matrices. */
#pragma once
#include <hops.h>
#include <hops/private/petscshim.h>
#include <petscblaslapack.h>
#include <petscdt.h>

/* The worse of two errors. Not-a-number is the worst of all: PetscMax() would leave it out */
static inline PetscReal TestWorse(PetscReal worst, PetscReal e)
{
  if (PetscIsNanReal(e)) return PETSC_MAX_REAL;
  return PetscMax(worst, e);
}

/* GLL nodes on [-1,1] by PETSc, independent of hops */
static inline PetscErrorCode TestGLL(PetscInt n, PetscReal x[])
{
  PetscReal *w;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &w));
  if (n == 2) {
    x[0] = -1.0;
    x[1] = 1.0;
  } else PetscCall(PetscDTGaussLobattoLegendreQuadrature(n, PETSCGAUSSLOBATTOLEGENDRE_VIA_NEWTON, x, w));
  PetscCall(PetscFree(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Over the ranks, by the partitioner of the options: the default one of Debian's PETSc of 64-bit indices
   crashes */
static inline PetscErrorCode TestDistribute(DM *dm, PetscInt overlap)
{
  PetscPartitioner partitioner;
  DM               parallel;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetPartitioner(*dm, &partitioner));
  PetscCall(PetscPartitionerSetFromOptions(partitioner));
  PetscCall(DMPlexDistribute(*dm, overlap, NULL, &parallel));
  if (!parallel) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDestroy(dm));
  *dm = parallel;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  A structured box of n[d] cells of graded lengths (ratio r between neighbours), as arrays on one rank; node
  spacing inside a cell from z[p+1]. Essential: the whole boundary, if asked for. map (may be NULL) moves the
  nodes.
*/
static inline PetscErrorCode TestBox(PetscInt dim, const PetscInt n[], PetscInt p, PetscReal r, const PetscReal z[],
                                     PetscBool dirichlet, void (*map)(PetscInt, PetscReal[]), HopsSpace *sp)
{
  PetscInt   N[3] = {1, 1, 1}, nc = 1, ntot = 1, np, *nodes, *ess, ness = 0;
  PetscReal *coords, *x[3];

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < dim; ++d) {
    PetscReal h = 1.0, s = 0.0;

    N[d] = n[d] * p + 1;
    nc *= n[d];
    ntot *= N[d];
    PetscCall(PetscMalloc1(N[d], &x[d]));
    for (PetscInt c = 0; c < n[d]; ++c, h *= r) {
      for (PetscInt i = 0; i <= p; ++i) x[d][c * p + i] = s + 0.5 * h * (z[i] + 1.0);
      s += h;
    }
  }
  np = PetscPowInt(p + 1, dim);
  PetscCall(PetscMalloc3(nc * np, &nodes, nc * np * dim, &coords, ntot, &ess));
  for (PetscInt c = 0; c < nc; ++c) {
    const PetscInt ci[3] = {c % n[0], (c / n[0]) % n[1], dim == 3 ? c / (n[0] * n[1]) : 0};

    for (PetscInt i = 0; i < np; ++i) {
      const PetscInt ii[3] = {i % (p + 1), (i / (p + 1)) % (p + 1), i / ((p + 1) * (p + 1))};
      PetscInt       g     = 0;

      for (PetscInt d = dim - 1; d >= 0; --d) {
        g                              = g * N[d] + ci[d] * p + ii[d];
        coords[(c * np + i) * dim + d] = x[d][ci[d] * p + ii[d]];
      }
      nodes[c * np + i] = g;
      if (map) map(dim, coords + (c * np + i) * dim);
    }
  }
  for (PetscInt g = 0; g < ntot && dirichlet; ++g) {
    PetscBool b = PETSC_FALSE;

    for (PetscInt d = 0, k = g; d < dim; ++d, k /= N[d - 1])
      b = b || k % N[d] == 0 || k % N[d] == N[d] - 1 ? PETSC_TRUE : PETSC_FALSE;
    if (b) ess[ness++] = g;
  }
  PetscCall(HopsSpaceCreateFromArrays(PETSC_COMM_SELF, dim, p, nc, ntot, nodes, coords, ness, ess, sp));
  PetscCall(PetscFree3(nodes, coords, ess));
  for (PetscInt d = 0; d < dim; ++d) PetscCall(PetscFree(x[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a smooth invertible map of the unit box */
static inline void TestCurve(PetscInt dim, PetscReal x[])
{
  const PetscReal a = x[0], b = x[1], c = dim > 2 ? x[2] : 0.3;

  x[0] = a + 0.08 * PetscSinReal(2.0 * b + 0.5) * PetscCosReal(1.5 * c) + 0.03 * a * b;
  x[1] = b + 0.07 * PetscSinReal(1.7 * a) * PetscCosReal(c) - 0.04 * a * a;
  if (dim > 2) x[2] = c + 0.06 * PetscSinReal(2.0 * a + b) + 0.05 * b * c;
}

/* a DMPlex from options (quads or hexes), its coordinate nodes moved by map (may be NULL) */
static inline PetscErrorCode TestMeshMapped(MPI_Comm comm, void (*map)(PetscInt, PetscReal[]), DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, "-dm_plex_simplex 0"));
  PetscCall(DMCreate(comm, dm));
  PetscCall(DMSetType(*dm, DMPLEX));
  PetscCall(DMSetFromOptions(*dm));
  if (map) {
    Vec          x;
    PetscScalar *a;
    PetscInt     dim, n;

    PetscCall(DMGetDimension(*dm, &dim));
    PetscCall(DMGetCoordinatesLocal(*dm, &x));
    PetscCall(VecGetLocalSize(x, &n));
    PetscCall(VecGetArray(x, &a));
    for (PetscInt i = 0; i < n / dim; ++i) {
      PetscReal y[3] = {0.0, 0.0, 0.0};

      for (PetscInt d = 0; d < dim; ++d) y[d] = PetscRealPart(a[i * dim + d]);
      map(dim, y);
      for (PetscInt d = 0; d < dim; ++d) a[i * dim + d] = y[d];
    }
    PetscCall(VecRestoreArray(x, &a));
    PetscCall(DMSetCoordinatesLocal(*dm, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TestMesh(MPI_Comm comm, PetscBool curved, DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(TestMeshMapped(comm, curved ? TestCurve : NULL, dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n^dim cells on the unit box, mapped; -dm_coord_petscspace_degree has effect, which it has not after
   DMPlexCreateBoxMesh() */
static inline PetscErrorCode TestCube(PetscInt dim, PetscInt n, void (*map)(PetscInt, PetscReal[]), DM *dm)
{
  char text[128];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(text, sizeof(text),
                          "-dm_plex_dim %" PetscInt_FMT " -dm_plex_box_faces %" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT,
                          dim, n, n, n));
  PetscCall(PetscOptionsInsertString(NULL, text));
  PetscCall(TestMeshMapped(PETSC_COMM_WORLD, map, dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* positive definite coefficient of any number of components */
static inline PetscErrorCode TestKappa(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar k[], void *ctx)
{
  const PetscReal s = 1.0 + 0.5 * PetscSinReal(x[0] + 2.0 * x[1]) + (dim > 2 ? 0.2 * x[2] : 0.0);

  if (nc == 1) k[0] = s;
  else if (nc == dim)
    for (PetscInt d = 0; d < dim; ++d) k[d] = s + d;
  else
    for (PetscInt i = 0, n = 0; i < dim; ++i)
      for (PetscInt j = i; j < dim; ++j) k[n++] = i == j ? s + i : 0.3 * PetscCosReal(x[0] - x[1] + i + j);
  return PETSC_SUCCESS;
}

static inline PetscErrorCode TestMass(PetscInt dim, const PetscReal x[], PetscInt nc, PetscScalar c[], void *ctx)
{
  c[0] = 2.0 + PetscCosReal(3.0 * x[0] * x[1]);
  return PETSC_SUCCESS;
}

/* A x = b by CG and PCLOR to a relative rtol in the norm, in at most `most` iterations; its may be NULL */
static inline PetscErrorCode TestSolve(Mat A, Vec b, Vec x, KSPNormType norm, PetscReal rtol, PetscInt most, PetscInt *its)
{
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, norm));
  PetscCall(KSPSetTolerances(ksp, rtol, PETSC_DEFAULT, PETSC_DEFAULT, most));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLOR));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  if (its) PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* largest difference over the largest entry of y */
static inline PetscErrorCode TestVecDiffer(Vec x, Vec y, PetscReal *e)
{
  Vec       d;
  PetscReal n;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &d));
  PetscCall(VecWAXPY(d, -1.0, x, y));
  PetscCall(VecNorm(d, NORM_INFINITY, e));
  PetscCall(VecNorm(y, NORM_INFINITY, &n));
  *e = TestWorse(0.0, *e / n);
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A level of multigrid: how it comes from the one below it, and the operators of both */
static inline PetscErrorCode TestLevel(PC pc, PetscInt l, Mat *P, Mat *fine, Mat *coarse)
{
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetInterpolation(pc, l, P));
  PetscCall(PCMGGetSmoother(pc, l, &ksp));
  PetscCall(KSPGetOperators(ksp, fine, NULL));
  PetscCall(PCMGGetSmoother(pc, l - 1, &ksp));
  PetscCall(KSPGetOperators(ksp, coarse, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* row-major dense copy of the rows and columns in keep[n] */
static inline PetscErrorCode TestDense(Mat A, PetscInt n, const PetscInt keep[], PetscScalar D[])
{
  PetscInt N, *where;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(PetscMalloc1(N, &where));
  for (PetscInt i = 0; i < N; ++i) where[i] = -1;
  for (PetscInt i = 0; i < n; ++i) where[keep[i]] = i;
  PetscCall(PetscArrayzero(D, n * n));
  for (PetscInt i = 0; i < n; ++i) {
    PetscInt           nz;
    const PetscInt    *cols;
    const PetscScalar *vals;

    PetscCall(MatGetRow(A, keep[i], &nz, &cols, &vals));
    for (PetscInt k = 0; k < nz; ++k)
      if (where[cols[k]] >= 0) D[i * n + where[cols[k]]] = vals[k];
    PetscCall(MatRestoreRow(A, keep[i], &nz, &cols, &vals));
  }
  PetscCall(PetscFree(where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if !defined(PETSC_USE_COMPLEX)
/* ascending eigenvalues of A x = lambda B x; A and B are destroyed */
static inline PetscErrorCode TestEigenvalues(PetscInt n, PetscScalar A[], PetscScalar B[], PetscReal lambda[])
{
  PetscBLASInt one = 1, bn, lwork, info;
  PetscScalar *work;

  PetscFunctionBeginUser;
  PetscCall(PetscBLASIntCast(n, &bn));
  PetscCall(PetscBLASIntCast(40 * n, &lwork));
  PetscCall(PetscMalloc1(lwork, &work));
  PetscCallBLAS("LAPACKsygv", LAPACKsygv_(&one, "N", "U", &bn, A, &bn, B, &bn, lambda, work, &lwork, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK sygv failed: %d", (int)info);
  PetscCall(PetscFree(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
