/*
  The operator with full tensors as AIJ: dense element matrices of the point tensors and full (not sum-factorised) tabulations with
  physical gradients. Slow, and independent of the kernels.
*/
#include <hops/private/hopspatensor.h>
#include <petscblaslapack.h>

/* what an element matrix is made of: N[q][0][i] the basis functions at the points, N[q][1+d][i] their physical derivatives */
typedef struct {
  PetscInt     dim, nc, np;
  PetscReal   *N, *T; /* [nq][dim+1][np] */
  PetscScalar *E;     /* [nc][np][nc][np] */
} HopsDense;

/* N at the points with one-dimensional tabulations b[d] at index k[d] of direction d */
static void HopsDensePoint(const HopsDense *m, const HopsBasis *const b[], const PetscInt k[], const PetscReal Ji[], PetscReal N[])
{
  for (PetscInt i = 0; i < m->np; ++i) {
    PetscReal g[4] = {0.0, 0.0, 0.0, 0.0};

    for (PetscInt a = 0; a <= m->dim; ++a) { /* the value, then reference derivatives */
      g[a] = 1.0;
      for (PetscInt d = 0, ii = i; d < m->dim; ++d, ii /= b[0]->P) g[a] *= (a == d + 1 ? b[d]->D : b[d]->B)[k[d] * b[0]->P + ii % b[0]->P];
    }
    N[i] = g[0];
    for (PetscInt d = 0; d < m->dim; ++d) {
      N[(1 + d) * m->np + i] = 0.0;
      for (PetscInt a = 0; a < m->dim; ++a) N[(1 + d) * m->np + i] += g[1 + a] * Ji[a * m->dim + d];
    }
  }
}

/* E = sum_q w[q] of the tensors g[k][q] between all pairs of components */
static PetscErrorCode HopsDenseElement(HopsDense *m, PetscInt nq, const PetscReal w[], const PetscScalar *const g[4])
{
  const PetscInt dim = m->dim, na = dim + 1, nc = m->nc, nc2 = nc * nc;
  PetscBLASInt   bn, bk, bl;
  PetscScalar    one = 1.0, zero = 0.0;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(m->np, &bn));
  PetscCall(PetscBLASIntCast(m->np * nc, &bl));
  PetscCall(PetscBLASIntCast(nq * na, &bk));
  for (PetscInt k = 0; k < nc2; ++k) {
    for (PetscInt q = 0; q < nq; ++q)
      for (PetscInt a = 0; a < na; ++a)
        for (PetscInt j = 0; j < m->np; ++j) {
          const PetscReal *N = m->N + q * na * m->np + j;
          PetscReal        s = 0.0;

          if (!a) {
            if (g[0]) s += g[0][q * nc2 + k] * N[0];
            for (PetscInt e = 0; g[1] && e < dim; ++e) s += g[1][(q * nc2 + k) * dim + e] * N[(1 + e) * m->np];
          } else {
            if (g[2]) s += g[2][(q * nc2 + k) * dim + a - 1] * N[0];
            for (PetscInt e = 0; g[3] && e < dim; ++e) s += g[3][((q * nc2 + k) * dim + a - 1) * dim + e] * N[(1 + e) * m->np];
          }
          m->T[(q * na + a) * m->np + j] = w[q] * s;
        }
    PetscCallBLAS("BLASgemm", BLASgemm_("N", "T", &bn, &bn, &bk, &one, m->T, &bn, m->N, &bn, &zero, m->E + (size_t)(k / nc) * m->np * nc * m->np + (k % nc) * m->np, &bl));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsDenseAdd(HopsPATensor t, HopsDense *m, PetscInt cell, const PetscInt gidx[], PetscInt row[], Mat B)
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < m->nc; ++c)
    for (PetscInt i = 0; i < m->np; ++i) row[c * m->np + i] = gidx[(size_t)t->nodes->space->restr[(size_t)cell * m->np + i] * m->nc + c];
  PetscCall(MatSetValues(B, m->nc * m->np, row, m->nc * m->np, row, m->E, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsDenseCells(HopsPATensor t, HopsDense *m, const PetscInt gidx[], PetscInt row[], Mat B)
{
  HopsSpace        sp  = t->nodes->space;
  const PetscInt   dim = sp->dim, nc2 = m->nc * m->nc, Q = t->basis->Q, nq = PetscPowInt(Q, dim);
  const PetscInt   size[4] = {nc2, nc2 * dim, nc2 * dim, nc2 * dim * dim};
  const HopsBasis *b[3]    = {t->basis, t->basis, t->basis};
  HopsBasis        geom;
  PetscReal       *x, *J, *w;
  PetscScalar     *g[4];

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(nq * dim, &x, nq * dim * dim, &J, nq, &w));
  for (PetscInt k = 0; k < 4; ++k) {
    g[k] = NULL;
    if (t->form->has[k]) PetscCall(PetscMalloc1(nq * size[k], &g[k]));
  }
  PetscCall(HopsSpaceCreateGeometryBasis(sp, t->basis, &geom));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscCall(HopsSpaceGetPoints(sp, &geom, c, 1, x, J));
    PetscCall(HopsTensorFormEvaluate(t->form, sp, c, 1, t->basis, x, J, g));
    for (PetscInt q = 0; q < nq; ++q) {
      const PetscInt k[3] = {q % Q, (q / Q) % Q, q / (Q * Q)};
      PetscReal      Ji[9];

      w[q] = HopsInverse(dim, J + q * dim * dim, Ji);
      for (PetscInt d = 0; d < dim; ++d) w[q] *= t->basis->weights[k[d]];
      HopsDensePoint(m, b, k, Ji, m->N + q * (dim + 1) * m->np);
    }
    PetscCall(HopsDenseElement(m, nq, w, (const PetscScalar *const *)g));
    PetscCall(HopsDenseAdd(t, m, c, gidx, row, B));
  }
  PetscCall(HopsBasisDestroy(&geom));
  for (PetscInt k = 0; k < 4; ++k) PetscCall(PetscFree(g[k]));
  PetscCall(PetscFree3(x, J, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsDenseFaces(HopsPATensor t, HopsDense *m, const PetscInt gidx[], PetscInt row[], Mat B)
{
  HopsSpace       sp      = t->nodes->space;
  const PetscReal ends[2] = {-1.0, 1.0};
  const PetscInt  dim = sp->dim, nc2 = m->nc * m->nc, Q = t->basis->Q, nq = PetscPowInt(Q, dim - 1);
  const PetscInt  size[4] = {nc2, nc2 * dim, nc2 * dim, nc2 * dim * dim};
  HopsFaceBasis   fb, geom;
  HopsBasis       end;
  PetscReal      *x, *normal, *J, *w;
  PetscScalar    *g[4];

  PetscFunctionBegin;
  if (!t->faces) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsFaceBasisCreate(dim, sp->order + 1, t->basis, &fb));
  PetscCall(HopsFaceBasisCreate(dim, sp->gorder + 1, t->basis, &geom));
  PetscCall(HopsBasisCreateAtPoints(sp->order + 1, 2, ends, &end));
  PetscCall(PetscMalloc4(nq * dim, &x, nq * dim, &normal, nq * dim * dim, &J, nq, &w));
  for (HopsFaceTerm f = t->faces->terms; f; f = f->next) {
    for (PetscInt k = 0; k < 4; ++k) {
      g[k] = NULL;
      if (f->nf[k]) PetscCall(PetscMalloc1(nq * size[k], &g[k]));
    }
    for (PetscInt i = 0; i < f->n; ++i) {
      const PetscInt   face = f->faces[i];
      const HopsBasis *b[3] = {t->basis, t->basis, t->basis};

      b[face / 2] = &end;
      PetscCall(HopsFaceGeometry(sp, &geom, f->cells[i], face, x, normal, J, w));
      PetscCall(HopsFaceTermEvaluate(t->form, f, sp, f->cells[i], face, &fb, x, normal, J, g));
      for (PetscInt q = 0; q < nq; ++q) {
        PetscInt  k[3] = {0, 0, 0}, r = q;
        PetscReal Ji[9];

        for (PetscInt d = 0; d < dim; ++d) {
          if (d == face / 2) k[d] = face % 2;
          else {
            k[d] = r % Q;
            r /= Q;
            w[q] *= t->basis->weights[k[d]];
          }
        }
        HopsInverse(dim, J + q * dim * dim, Ji);
        HopsDensePoint(m, b, k, Ji, m->N + q * (dim + 1) * m->np);
      }
      PetscCall(HopsDenseElement(m, nq, w, (const PetscScalar *const *)g));
      PetscCall(HopsDenseAdd(t, m, f->cells[i], gidx, row, B));
    }
    for (PetscInt k = 0; k < 4; ++k) PetscCall(PetscFree(g[k]));
  }
  PetscCall(PetscFree4(x, normal, J, w));
  PetscCall(HopsBasisDestroy(&end));
  PetscCall(HopsFaceBasisDestroy(&geom));
  PetscCall(HopsFaceBasisDestroy(&fb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* global index of each component of each local node, or -1 where it is essential */
static PetscErrorCode HopsPATensorIndices(HopsPATensor t, PetscInt rstart, PetscInt gidx[])
{
  HopsSpace      sp = t->nodes->space;
  const PetscInt nc = t->form->nc;
  MPI_Datatype   unit;
  PetscInt      *buf;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < sp->nL * nc; ++i) gidx[i] = i < sp->nT * nc && t->nodes->map[i] >= 0 ? rstart + t->nodes->map[i] : -1;
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)nc, MPIU_INT, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCall(PetscMalloc1(sp->nshared * nc, &buf));
  for (PetscInt i = 0; i < sp->nshared; ++i)
    for (PetscInt c = 0; c < nc; ++c) buf[i * nc + c] = gidx[sp->shared[i] * nc + c];
  PetscCall(PetscSFBcastBegin(sp->halo, unit, buf, gidx + sp->nT * nc, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sp->halo, unit, buf, gidx + sp->nT * nc, MPI_REPLACE));
  PetscCall(PetscFree(buf));
  PetscCallMPI(MPI_Type_free(&unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorAssemble(HopsPATensor t, Mat A, MatReuse reuse, Mat *newmat)
{
  HopsSpace      sp  = t->nodes->space;
  const PetscInt dim = sp->dim, np = PetscPowInt(t->basis->P, dim), ne = t->form->nc * np, nt = PetscPowInt(t->basis->Q, dim) * (dim + 1) * np;
  PetscInt       rstart, n, N, *gidx, *row;
  HopsDense      m = {.dim = dim, .nc = t->form->nc, .np = np};
  Mat            B = NULL;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &rstart, NULL));
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(PetscMalloc5(sp->nL * m.nc, &gidx, ne, &row, nt, &m.N, nt, &m.T, (size_t)ne * ne, &m.E));
  PetscCall(HopsPATensorIndices(t, rstart, gidx));
  if (reuse == MAT_REUSE_MATRIX) {
    B = *newmat;
    PetscCall(MatZeroEntries(B));
  } else {
    Mat pre;

    PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &pre));
    PetscCall(MatSetSizes(pre, n, n, N, N));
    PetscCall(MatSetType(pre, MATPREALLOCATOR));
    PetscCall(MatSetUp(pre));
    PetscCall(PetscArrayzero(m.E, (size_t)ne * ne));
    for (PetscInt c = 0; c < sp->ncells; ++c) PetscCall(HopsDenseAdd(t, &m, c, gidx, row, pre));
    PetscCall(MatAssemblyBegin(pre, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(pre, MAT_FINAL_ASSEMBLY));
    PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &B));
    PetscCall(MatSetSizes(B, n, n, N, N));
    PetscCall(MatSetType(B, MATAIJ));
    PetscCall(MatPreallocatorPreallocate(pre, PETSC_TRUE, B));
    PetscCall(MatDestroy(&pre));
  }
  PetscCall(HopsDenseCells(t, &m, gidx, row, B));
  PetscCall(HopsDenseFaces(t, &m, gidx, row, B));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree5(gidx, row, m.N, m.T, m.E));
  *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}
