/*
  The operator with full tensors as AIJ: dense element matrices of the point tensors and full (not
  sum-factorised) tabulations with physical gradients. Slow, and independent of the kernels.
*/
#include <hops/private/hopspatensorimpl.h>
#include <hops/private/hopshanging.h>
#include <hops/private/hopsblas.h>

/* Basis functions of a field at points: N[q][0][i] values, N[q][1+d][i] physical derivatives */
typedef struct {
  PetscInt    nc, np;
  HopsHanging J;    /* of hanging nodes; */
  unsigned    mask; /* where a cell has any */
  PetscReal  *N;    /* [nq][dim+1][np] */
  PetscInt   *gidx; /* [nL][nc] row or column of the matrix, or -1 */
  PetscInt   *idx;  /* [nc][np] those of a cell */
} HopsDenseSide;

typedef struct {
  PetscInt       dim, nq;
  HopsDenseSide *side[2];
  PetscReal     *T; /* [nq][dim+1][max np] */
  PetscReal     *E; /* [nc][np][nc'][np'] of a pair of fields */
  Mat            B;
} HopsDense;

static PetscErrorCode HopsDenseSideCreate(const HopsPASide *s, PetscInt start, PetscInt nq, HopsDenseSide *d)
{
  HopsSpace      sp = s->nodes->space;
  const PetscInt nc = s->nodes->nc;
  MPI_Datatype   unit;
  PetscInt      *buf;

  PetscFunctionBegin;
  d->nc = nc;
  d->np = HopsPower(sp->order + 1, sp->dim);
  d->J  = (HopsHanging){0};
  if (sp->hanging) PetscCall(HopsHangingCreate(sp->family, sp->dim, sp->order, &d->J));
  PetscCall(HopsSpaceBringMesh(sp));
  PetscCall(PetscMalloc3(nq * (sp->dim + 1) * d->np, &d->N, sp->nL * nc, &d->gidx, nc * d->np, &d->idx));
  for (PetscInt i = 0; i < sp->nL * nc; ++i) d->gidx[i] = i < sp->nT * nc && s->nodes->map[i] >= 0 ? start + s->nodes->map[i] : -1;
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)nc, MPIU_INT, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCall(PetscMalloc1(sp->halo.nshared * nc, &buf));
  for (PetscInt i = 0; i < sp->halo.nshared; ++i)
    for (PetscInt c = 0; c < nc; ++c) buf[i * nc + c] = d->gidx[sp->halo.shared[i] * nc + c];
  PetscCall(PetscSFBcastBegin(sp->halo.sf, unit, buf, d->gidx + sp->nT * nc, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sp->halo.sf, unit, buf, d->gidx + sp->nT * nc, MPI_REPLACE));
  PetscCall(PetscFree(buf));
  PetscCallMPI(MPI_Type_free(&unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsDenseCreate(HopsPATensor t, Mat A, HopsDense *m)
{
  PetscInt start[2], np = 0, n[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &start[0], NULL));
  PetscCall(MatGetOwnershipRangeColumn(A, &start[1], NULL));
  m->dim = t->space->dim;
  m->nq  = HopsPower(t->Q, m->dim);
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(PetscMalloc1(t->n[k], &m->side[k]));
    for (PetscInt i = 0; i < t->n[k]; ++i) {
      PetscCall(HopsDenseSideCreate(&t->side[k][i], start[k], m->nq, &m->side[k][i]));
      np   = PetscMax(np, m->side[k][i].np);
      n[k] = PetscMax(n[k], m->side[k][i].np * m->side[k][i].nc);
    }
  }
  PetscCall(PetscMalloc2(m->nq * (m->dim + 1) * np, &m->T, (size_t)n[0] * n[1], &m->E));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsDenseDestroy(HopsPATensor t, HopsDense *m)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < 2; ++k) {
    for (PetscInt i = 0; i < t->n[k]; ++i) {
      PetscCall(HopsHangingDestroy(&m->side[k][i].J));
      PetscCall(PetscFree3(m->side[k][i].N, m->side[k][i].gidx, m->side[k][i].idx));
    }
    PetscCall(PetscFree(m->side[k]));
  }
  PetscCall(PetscFree2(m->T, m->E));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* N at point q with one-dimensional tabulations b[d] at index k[d] of direction d */
static void HopsDensePoint(PetscInt dim, const HopsBasis *const b[], const PetscInt k[], const PetscReal Ji[], PetscInt q,
                           HopsDenseSide *s)
{
  PetscReal *N = s->N + q * (dim + 1) * s->np;

  for (PetscInt i = 0; i < s->np; ++i) {
    PetscReal g[4] = {0.0, 0.0, 0.0, 0.0};

    for (PetscInt a = 0; a <= dim; ++a) { /* the value, then reference derivatives */
      g[a] = 1.0;
      for (PetscInt d = 0, ii = i; d < dim; ++d, ii /= b[0]->P)
        g[a] *= (a == d + 1 ? b[d]->D : b[d]->B)[k[d] * b[0]->P + ii % b[0]->P];
    }
    N[i] = g[0];
    for (PetscInt d = 0; d < dim; ++d) {
      N[(1 + d) * s->np + i] = 0.0;
      for (PetscInt a = 0; a < dim; ++a) N[(1 + d) * s->np + i] += g[1 + a] * Ji[a * dim + d];
    }
  }
}

/* E = J^T E J of each pair of components of two fields in a cell */
static void HopsDenseHang(HopsDense *m, const HopsDenseSide *test, const HopsDenseSide *trial)
{
  const PetscInt n = trial->nc * trial->np;
  PetscReal     *e = m->T; /* of a column */

  for (PetscInt r = 0; r < test->nc * test->np; ++r)
    for (PetscInt c = 0; c < trial->nc; ++c) HopsHangingApply(&trial->J, trial->mask, PETSC_TRUE, m->E + r * n + c * trial->np);
  for (PetscInt col = 0; col < n; ++col)
    for (PetscInt c = 0; c < test->nc; ++c) {
      PetscReal *E = m->E + c * test->np * n + col;

      for (PetscInt i = 0; i < test->np; ++i) e[i] = E[i * n];
      HopsHangingApply(&test->J, test->mask, PETSC_TRUE, e);
      for (PetscInt i = 0; i < test->np; ++i) E[i * n] = e[i];
    }
}

/* Adds sum_q w[q] of the tensors g[k][q] between all pairs of components of two fields, whose idx are those
   of the cell */
static PetscErrorCode HopsDenseAdd(HopsDense *m, const HopsDenseSide *test, const HopsDenseSide *trial, PetscInt nq,
                                   const PetscReal w[], PetscReal *const g[4])
{
  const PetscInt dim = m->dim, na = dim + 1, nct = trial->nc, ncc = test->nc * nct, np = trial->np;
  PetscBLASInt   bn, bm, bk, bl;
  PetscReal      one = 1.0, zero = 0.0;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(trial->np, &bm));
  PetscCall(PetscBLASIntCast(test->np, &bn));
  PetscCall(PetscBLASIntCast(trial->np * nct, &bl));
  PetscCall(PetscBLASIntCast(nq * na, &bk));
  for (PetscInt k = 0; k < ncc; ++k) {
    for (PetscInt q = 0; q < nq; ++q)
      for (PetscInt a = 0; a < na; ++a)
        for (PetscInt j = 0; j < np; ++j) {
          const PetscReal *N = trial->N + q * na * np + j;
          PetscReal        s = 0.0;

          if (!a) {
            if (g[0]) s += g[0][q * ncc + k] * N[0];
            for (PetscInt e = 0; g[1] && e < dim; ++e) s += g[1][(q * ncc + k) * dim + e] * N[(1 + e) * np];
          } else {
            if (g[2]) s += g[2][(q * ncc + k) * dim + a - 1] * N[0];
            for (PetscInt e = 0; g[3] && e < dim; ++e) s += g[3][((q * ncc + k) * dim + a - 1) * dim + e] * N[(1 + e) * np];
          }
          m->T[(q * na + a) * np + j] = w[q] * s;
        }
    PetscCallBLAS("BLASgemm", HopsBLASgemm("N", "T", &bm, &bn, &bk, &one, m->T, &bm, test->N, &bn, &zero,
                                           m->E + (size_t)(k / nct) * test->np * nct * np + (k % nct) * np, &bl));
  }
  if (test->mask) HopsDenseHang(m, test, trial);
  PetscCall(HopsMatSetReal(m->B, test->nc * test->np, test->idx, trial->nc * trial->np, trial->idx, m->E, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows and columns of a cell of all fields */
static void HopsDenseIndices(HopsPATensor t, PetscInt cell, HopsDense *m)
{
  for (PetscInt k = 0; k < 2; ++k)
    for (PetscInt f = 0; f < t->n[k]; ++f) {
      HopsDenseSide  *s  = &m->side[k][f];
      const HopsSpace sp = t->side[k][f].nodes->space;

      s->mask = sp->hanging ? sp->hang[cell] : 0;
      for (PetscInt c = 0; c < s->nc; ++c)
        for (PetscInt i = 0; i < s->np; ++i)
          s->idx[c * s->np + i] = s->gidx[(size_t)sp->restr[(size_t)cell * s->np + i] * s->nc + c];
    }
}

static PetscErrorCode HopsDenseCells(HopsPATensor t, HopsDense *m)
{
  HopsSpace        sp    = t->space;
  const HopsBasis *basis = &t->side[HOPS_TEST][0].basis; /* points and weights are those of all */
  const PetscInt   dim = sp->dim, Q = t->Q, nq = m->nq, nb = t->jacobian->nblocks;
  HopsBasis        geom;
  PetscReal       *x, *J, *w;
  PetscReal *(*g)[4];

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(nq * dim, &x, nq * dim * dim, &J, nq, &w));
  PetscCall(PetscCalloc1(nb, &g));
  for (PetscInt b = 0; b < nb; ++b)
    for (PetscInt k = 0; k < 4; ++k)
      if (t->jacobian->blocks[b].has[k])
        PetscCall(PetscMalloc1(nq * m->side[0][t->block[b].test].nc * m->side[1][t->block[b].trial].nc * HopsTensorEntries(dim, k),
                               &g[b][k]));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, basis, &geom));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscCall(HopsSpaceGetPoints(sp, &geom, c, 1, x, J));
    PetscCall(HopsJacobianEvaluateBlocks(t->jacobian, sp, c, 1, basis, x, J, g));
    for (PetscInt q = 0; q < nq; ++q) {
      const PetscInt k[3] = {q % Q, (q / Q) % Q, q / (Q * Q)};
      PetscReal      Ji[9];

      w[q] = HopsInverse(dim, J + q * dim * dim, Ji);
      for (PetscInt d = 0; d < dim; ++d) w[q] *= basis->weights[k[d]];
      for (PetscInt s = 0; s < 2; ++s)
        for (PetscInt i = 0; i < t->n[s]; ++i) {
          const HopsBasis *b[3] = {&t->side[s][i].basis, &t->side[s][i].basis, &t->side[s][i].basis};

          HopsDensePoint(dim, b, k, Ji, q, &m->side[s][i]);
        }
    }
    HopsDenseIndices(t, c, m);
    for (PetscInt b = 0; b < nb; ++b)
      PetscCall(HopsDenseAdd(m, &m->side[0][t->block[b].test], &m->side[1][t->block[b].trial], nq, w, g[b]));
  }
  PetscCall(HopsBasisDestroy(&geom));
  for (PetscInt b = 0; b < nb; ++b)
    for (PetscInt k = 0; k < 4; ++k) PetscCall(PetscFree(g[b][k]));
  PetscCall(PetscFree(g));
  PetscCall(PetscFree3(x, J, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt HopsDenseFind(HopsPATensor t, PetscInt side, PetscInt field)
{
  PetscInt i = 0;

  while (t->side[side][i].field != field) ++i;
  return i;
}

/* The points of face i of a term, with the ends of the cell as points of the direction across it */
static PetscErrorCode HopsDenseFace(HopsPATensor t, HopsDense *m, HopsFaceTerm f, PetscInt i, const HopsFaceBasis *geom,
                                    const PetscInt s[2], const HopsBasis end[2], PetscReal x[], PetscReal normal[], PetscReal J[],
                                    PetscReal w[])
{
  const PetscInt dim = m->dim, Q = t->faces->rule[0].Q, nq = HopsPower(Q, dim - 1), face = f->faces[i];

  PetscFunctionBegin;
  PetscCall(HopsFaceGeometry(t->space, geom, f->cells[i], face, x, normal, J, w));
  for (PetscInt q = 0; q < nq; ++q) {
    PetscInt  k[3] = {0, 0, 0}, r = q;
    PetscReal Ji[9];

    for (PetscInt d = 0; d < dim; ++d) {
      if (d == face / 2) k[d] = face % 2;
      else {
        k[d] = r % Q;
        r /= Q;
        w[q] *= t->faces->rule[0].weights[k[d]];
      }
    }
    HopsInverse(dim, J + q * dim * dim, Ji);
    for (PetscInt side = 0; side < 2; ++side) {
      const HopsBasis *own = &t->faces->rule[side ? f->trial : f->test], *b[3] = {own, own, own};

      b[face / 2] = &end[side];
      HopsDensePoint(dim, b, k, Ji, q, &m->side[side][s[side]]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsDenseFaces(HopsPATensor t, HopsDense *m)
{
  HopsFields      F       = t->jacobian->fields;
  const PetscReal ends[2] = {-1.0, 1.0};
  const PetscInt  dim     = m->dim;
  HopsFaceBasis   geom;
  PetscInt        nq;
  PetscReal      *x, *normal, *J, *w;

  PetscFunctionBegin;
  if (!t->faces) PetscFunctionReturn(PETSC_SUCCESS);
  nq = HopsPower(t->faces->rule[0].Q, dim - 1);
  PetscCall(HopsFaceBasisCreate(dim, t->space->gorder + 1, &t->faces->rule[0], &geom));
  PetscCall(PetscMalloc4(nq * dim, &x, nq * dim, &normal, nq * dim * dim, &J, nq, &w));
  for (HopsFaceTerm f = t->faces->terms; f; f = f->next) {
    const PetscInt s[2] = {HopsDenseFind(t, 0, f->test), HopsDenseFind(t, 1, f->trial)};
    PetscReal     *g[4] = {NULL, NULL, NULL, NULL};
    HopsBasis      end[2];

    for (PetscInt side = 0; side < 2; ++side)
      PetscCall(HopsBasisCreateAtPoints(t->side[side][s[side]].basis.P, 2, ends, &end[side]));
    for (PetscInt k = 0; k < 4; ++k)
      if (f->nf[k]) PetscCall(PetscMalloc1(nq * F->nc[f->test] * F->nc[f->trial] * HopsTensorEntries(dim, k), &g[k]));
    for (PetscInt i = 0; i < f->n; ++i) {
      PetscCall(HopsDenseFace(t, m, f, i, &geom, s, end, x, normal, J, w));
      PetscCall(
        HopsFaceTermEvaluate(t->jacobian, f, t->space, f->cells[i], f->faces[i], PETSC_FALSE, t->faces->basis, x, normal, J, g));
      HopsDenseIndices(t, f->cells[i], m);
      PetscCall(HopsDenseAdd(m, &m->side[0][s[0]], &m->side[1][s[1]], nq, w, g));
    }
    for (PetscInt k = 0; k < 4; ++k) PetscCall(PetscFree(g[k]));
    for (PetscInt side = 0; side < 2; ++side) PetscCall(HopsBasisDestroy(&end[side]));
  }
  PetscCall(PetscFree4(x, normal, J, w));
  PetscCall(HopsFaceBasisDestroy(&geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for the couplings of all fields within a cell, those of absent blocks too: factorisations want a
   diagonal */
static PetscErrorCode HopsDensePreallocate(HopsPATensor t, HopsDense *m, Mat A)
{
  MPI_Comm   comm = PetscObjectComm((PetscObject)A);
  PetscInt   r, c, R, C, n = 0;
  PetscReal *zero;
  Mat        pre;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &r, &c));
  PetscCall(MatGetSize(A, &R, &C));
  PetscCall(MatCreate(comm, &pre));
  PetscCall(MatSetSizes(pre, r, c, R, C));
  PetscCall(MatSetType(pre, MATPREALLOCATOR));
  PetscCall(MatSetUp(pre));
  for (PetscInt i = 0; i < t->n[0]; ++i)
    for (PetscInt j = 0; j < t->n[1]; ++j)
      n = PetscMax(n, m->side[0][i].nc * m->side[0][i].np * m->side[1][j].nc * m->side[1][j].np);
  PetscCall(PetscCalloc1(n, &zero));
  for (PetscInt cell = 0; cell < t->space->ncells; ++cell) {
    HopsDenseIndices(t, cell, m);
    for (PetscInt i = 0; i < t->n[0]; ++i)
      for (PetscInt j = 0; j < t->n[1]; ++j)
        PetscCall(HopsMatSetReal(pre, m->side[0][i].nc * m->side[0][i].np, m->side[0][i].idx, m->side[1][j].nc * m->side[1][j].np,
                                 m->side[1][j].idx, zero, ADD_VALUES));
  }
  PetscCall(PetscFree(zero));
  PetscCall(MatAssemblyBegin(pre, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(pre, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreate(comm, &m->B));
  PetscCall(MatSetSizes(m->B, r, c, R, C));
  PetscCall(MatSetType(m->B, MATAIJ));
  PetscCall(MatPreallocatorPreallocate(pre, PETSC_TRUE, m->B));
  PetscCall(MatDestroy(&pre));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorAssemble(HopsPATensor t, Mat A, MatReuse reuse, Mat *newmat)
{
  HopsDense m;

  PetscFunctionBegin;
  PetscCall(HopsDenseCreate(t, A, &m));
  if (reuse == MAT_REUSE_MATRIX) {
    m.B = *newmat;
    PetscCall(MatZeroEntries(m.B));
  } else PetscCall(HopsDensePreallocate(t, &m, A));
  PetscCall(HopsDenseCells(t, &m));
  PetscCall(HopsDenseFaces(t, &m));
  PetscCall(MatAssemblyBegin(m.B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(m.B, MAT_FINAL_ASSEMBLY));
  PetscCall(HopsDenseDestroy(t, &m));
  *newmat = m.B;
  PetscFunctionReturn(PETSC_SUCCESS);
}
