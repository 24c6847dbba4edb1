/*
  An operator with full tensors to AIJ, slowly and independently of its kernels: dense element matrices from the point tensors and
  tabulations of all basis functions at all points, N[q][a][i] with a = 0 for the value and 1 + d for the physical derivative d.
*/
#include <hops/private/hopspatensor.h>
#include <petscblaslapack.h>

/* gidx[side][L-vector entry] = row or column of the matrix, or -1 */
static PetscErrorCode HopsPASideIndices(const HopsPASide *s, PetscInt start, PetscInt *gidx[])
{
  HopsSpace      sp = s->nodes->space;
  const PetscInt nc = s->nodes->nc;
  MPI_Datatype   unit;
  PetscInt      *buf, *g;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(sp->nL * nc, &g));
  for (PetscInt i = 0; i < sp->nL * nc; ++i) g[i] = i < sp->nT * nc && s->nodes->map[i] >= 0 ? start + s->nodes->map[i] : -1;
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)nc, MPIU_INT, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCall(PetscMalloc1(sp->nshared * nc, &buf));
  for (PetscInt i = 0; i < sp->nshared; ++i)
    for (PetscInt c = 0; c < nc; ++c) buf[i * nc + c] = g[sp->shared[i] * nc + c];
  PetscCall(PetscSFBcastBegin(sp->halo, unit, buf, g + sp->nT * nc, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sp->halo, unit, buf, g + sp->nT * nc, MPI_REPLACE));
  PetscCall(PetscFree(buf));
  PetscCallMPI(MPI_Type_free(&unit));
  *gidx = g;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Unknowns of a cell, field by field, component by component */
typedef struct {
  PetscInt   n; /* of one cell */
  PetscInt **gidx;
  PetscInt  *idx; /* [n] */
} HopsCellIndices;

static PetscErrorCode HopsCellIndicesCreate(HopsPATensor t, PetscInt side, PetscInt start, HopsCellIndices *ci)
{
  PetscFunctionBegin;
  ci->n = 0;
  PetscCall(PetscMalloc1(t->n[side], &ci->gidx));
  for (PetscInt i = 0; i < t->n[side]; ++i) {
    PetscCall(HopsPASideIndices(&t->side[side][i], start, &ci->gidx[i]));
    ci->n += t->side[side][i].nodes->nc * PetscPowInt(t->side[side][i].nodes->space->order + 1, t->space->dim);
  }
  PetscCall(PetscMalloc1(ci->n, &ci->idx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsCellIndicesDestroy(HopsPATensor t, PetscInt side, HopsCellIndices *ci)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < t->n[side]; ++i) PetscCall(PetscFree(ci->gidx[i]));
  PetscCall(PetscFree(ci->gidx));
  PetscCall(PetscFree(ci->idx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void HopsCellIndicesGet(HopsPATensor t, PetscInt side, PetscInt cell, HopsCellIndices *ci)
{
  PetscInt k = 0;

  for (PetscInt i = 0; i < t->n[side]; ++i) {
    HopsSpace      sp = t->side[side][i].nodes->space;
    const PetscInt np = PetscPowInt(sp->order + 1, sp->dim), nc = t->side[side][i].nodes->nc;

    for (PetscInt c = 0; c < nc; ++c)
      for (PetscInt j = 0; j < np; ++j) ci->idx[k++] = ci->gidx[i][(size_t)sp->restr[(size_t)cell * np + j] * nc + c];
  }
}

/* The tabulations of a field at the points of a cell or a face; of both sides, since test and trial functions may have different fields */
typedef struct {
  PetscInt   np, nc;
  PetscReal *N; /* [nq][dim + 1][np] */
} HopsDense;

/* N at the points with one-dimensional tabulations b[d] at index k[d] of direction d */
static void HopsDensePoint(PetscInt dim, PetscInt np, const HopsBasis *const b[], const PetscInt k[], const PetscReal Ji[], PetscReal N[])
{
  for (PetscInt i = 0; i < np; ++i) {
    PetscReal g[4] = {0.0, 0.0, 0.0, 0.0};

    for (PetscInt a = 0; a <= dim; ++a) { /* the value, then reference derivatives */
      g[a] = 1.0;
      for (PetscInt d = 0, ii = i; d < dim; ++d, ii /= b[0]->P) g[a] *= (a == d + 1 ? b[d]->D : b[d]->B)[k[d] * b[0]->P + ii % b[0]->P];
    }
    N[i] = g[0];
    for (PetscInt d = 0; d < dim; ++d) {
      N[(1 + d) * np + i] = 0.0;
      for (PetscInt a = 0; a < dim; ++a) N[(1 + d) * np + i] += g[1 + a] * Ji[a * dim + d];
    }
  }
}

/* E[test component][i][trial component][j] = sum_q w[q] of the tensors g[k][q] of a pair of fields */
static PetscErrorCode HopsDenseElement(PetscInt dim, PetscInt nq, const HopsDense *u, const HopsDense *v, const PetscReal w[], PetscScalar *const g[4], PetscReal T[], PetscScalar E[])
{
  const PetscInt na = dim + 1, nc = u->nc * v->nc;
  PetscBLASInt   bu, bv, bk, bl;
  PetscScalar    one = 1.0, zero = 0.0;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(u->np, &bu));
  PetscCall(PetscBLASIntCast(v->np, &bv));
  PetscCall(PetscBLASIntCast(u->np * u->nc, &bl));
  PetscCall(PetscBLASIntCast(nq * na, &bk));
  for (PetscInt k = 0; k < nc; ++k) {
    for (PetscInt q = 0; q < nq; ++q)
      for (PetscInt a = 0; a < na; ++a)
        for (PetscInt j = 0; j < u->np; ++j) {
          const PetscReal *N = u->N + q * na * u->np + j;
          PetscReal        s = 0.0;

          if (!a) {
            if (g[0]) s += g[0][q * nc + k] * N[0];
            for (PetscInt e = 0; g[1] && e < dim; ++e) s += g[1][(q * nc + k) * dim + e] * N[(1 + e) * u->np];
          } else {
            if (g[2]) s += g[2][(q * nc + k) * dim + a - 1] * N[0];
            for (PetscInt e = 0; g[3] && e < dim; ++e) s += g[3][((q * nc + k) * dim + a - 1) * dim + e] * N[(1 + e) * u->np];
          }
          T[(q * na + a) * u->np + j] = w[q] * s;
        }
    PetscCallBLAS("BLASgemm", BLASgemm_("N", "T", &bu, &bv, &bk, &one, T, &bu, v->N, &bv, &zero, E + (size_t)(k / u->nc) * v->np * u->nc * u->np + (k % u->nc) * u->np, &bl));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Everything that the loops over cells and faces need */
typedef struct {
  HopsCellIndices idx[2];
  PetscInt       *first[2]; /* [n + 1] where a field begins in the unknowns of a cell */
  HopsDense      *tab[2];   /* [n] */
  PetscReal      *T;
  PetscScalar    *E;
  Mat             B;
} HopsAssembly;

static PetscErrorCode HopsAssemblyCreate(HopsPATensor t, PetscInt rstart, PetscInt cstart, HopsAssembly *as)
{
  const PetscInt dim = t->space->dim, nq = PetscPowInt(t->Q, dim), start[2] = {rstart, cstart};
  PetscInt       most = 0, np = 0;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < 2; ++s) {
    PetscCall(HopsCellIndicesCreate(t, s, start[s], &as->idx[s]));
    PetscCall(PetscCalloc1(t->n[s] + 1, &as->first[s]));
    PetscCall(PetscMalloc1(t->n[s], &as->tab[s]));
    for (PetscInt i = 0; i < t->n[s]; ++i) {
      HopsDense *d = &as->tab[s][i];

      d->np               = PetscPowInt(t->side[s][i].basis.P, dim);
      d->nc               = t->side[s][i].nodes->nc;
      as->first[s][i + 1] = as->first[s][i] + d->np * d->nc;
      np                  = PetscMax(np, d->np);
      most                = PetscMax(most, d->np * d->nc);
      PetscCall(PetscMalloc1(nq * (dim + 1) * d->np, &d->N));
    }
  }
  PetscCall(PetscMalloc2(nq * (dim + 1) * np, &as->T, (size_t)most * most, &as->E));
  PetscCall(PetscArrayzero(as->E, (size_t)most * most));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsAssemblyDestroy(HopsPATensor t, HopsAssembly *as)
{
  PetscFunctionBegin;
  for (PetscInt s = 0; s < 2; ++s) {
    PetscCall(HopsCellIndicesDestroy(t, s, &as->idx[s]));
    for (PetscInt i = 0; i < t->n[s]; ++i) PetscCall(PetscFree(as->tab[s][i].N));
    PetscCall(PetscFree(as->tab[s]));
    PetscCall(PetscFree(as->first[s]));
  }
  PetscCall(PetscFree2(as->T, as->E));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds as->E, the block of a test and a trial side, for the cell whose indices were got */
static PetscErrorCode HopsAssemblyAdd(HopsAssembly *as, PetscInt test, PetscInt trial)
{
  const PetscInt *r = as->first[HOPS_TEST] + test, *c = as->first[HOPS_TRIAL] + trial;

  PetscFunctionBegin;
  PetscCall(MatSetValues(as->B, r[1] - r[0], as->idx[HOPS_TEST].idx + r[0], c[1] - c[0], as->idx[HOPS_TRIAL].idx + c[0], as->E, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsAssemblyGetCell(HopsPATensor t, PetscInt cell, HopsAssembly *as)
{
  PetscFunctionBegin;
  HopsCellIndicesGet(t, HOPS_TEST, cell, &as->idx[HOPS_TEST]);
  HopsCellIndicesGet(t, HOPS_TRIAL, cell, &as->idx[HOPS_TRIAL]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsAssembleCells(HopsPATensor t, HopsAssembly *as)
{
  HopsSpace        sp   = t->space;
  const HopsBasis *rule = &t->side[HOPS_TEST][0].basis;
  const PetscInt   dim = sp->dim, Q = t->Q, nq = PetscPowInt(Q, dim), nb = t->form->nblocks;
  HopsBasis        geom;
  PetscReal       *x, *J, *w;
  PetscScalar *(*g)[4];

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(nq * dim, &x, nq * dim * dim, &J, nq, &w));
  PetscCall(PetscCalloc1(nb, &g));
  for (PetscInt b = 0; b < nb; ++b)
    for (PetscInt k = 0; k < 4; ++k)
      if (t->form->blocks[b].has[k]) PetscCall(PetscMalloc1(nq * as->tab[HOPS_TEST][t->block[b].test].nc * as->tab[HOPS_TRIAL][t->block[b].trial].nc * HopsTensorEntries(dim, k), &g[b][k]));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, rule, &geom));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscCall(HopsSpaceGetPoints(sp, &geom, c, 1, x, J));
    PetscCall(HopsTensorFormEvaluateBlocks(t->form, sp, c, 1, rule, x, J, g));
    PetscCall(HopsAssemblyGetCell(t, c, as));
    for (PetscInt q = 0; q < nq; ++q) {
      const PetscInt k[3] = {q % Q, (q / Q) % Q, q / (Q * Q)};
      PetscReal      Ji[9];

      w[q] = HopsInverse(dim, J + q * dim * dim, Ji);
      for (PetscInt d = 0; d < dim; ++d) w[q] *= rule->weights[k[d]];
      for (PetscInt s = 0; s < 2; ++s)
        for (PetscInt i = 0; i < t->n[s]; ++i) {
          const HopsBasis *f    = &t->side[s][i].basis;
          const HopsBasis *b[3] = {f, f, f};

          HopsDensePoint(dim, as->tab[s][i].np, b, k, Ji, as->tab[s][i].N + q * (dim + 1) * as->tab[s][i].np);
        }
    }
    for (PetscInt b = 0; b < nb; ++b) {
      PetscCall(HopsDenseElement(dim, nq, &as->tab[HOPS_TRIAL][t->block[b].trial], &as->tab[HOPS_TEST][t->block[b].test], w, g[b], as->T, as->E));
      PetscCall(HopsAssemblyAdd(as, t->block[b].test, t->block[b].trial));
    }
  }
  PetscCall(HopsBasisDestroy(&geom));
  for (PetscInt b = 0; b < nb; ++b)
    for (PetscInt k = 0; k < 4; ++k) PetscCall(PetscFree(g[b][k]));
  PetscCall(PetscFree(g));
  PetscCall(PetscFree3(x, J, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Boundary Jacobians, of an operator of one field */
static PetscErrorCode HopsAssembleFaces(HopsPATensor t, HopsAssembly *as)
{
  HopsSpace        sp      = t->space;
  const HopsBasis *rule    = &t->side[HOPS_TEST][0].basis;
  const PetscReal  ends[2] = {-1.0, 1.0};
  const PetscInt   dim = sp->dim, Q = t->Q, nq = PetscPowInt(Q, dim - 1);
  HopsDense       *m = &as->tab[HOPS_TEST][0];
  HopsFaceBasis    fb, geom;
  HopsBasis        end;
  PetscReal       *x, *normal, *J, *w;
  PetscScalar     *g[4];

  PetscFunctionBegin;
  PetscCall(HopsFaceBasisCreate(dim, sp->order + 1, rule, &fb));
  PetscCall(HopsFaceBasisCreate(dim, sp->gorder + 1, rule, &geom));
  PetscCall(HopsBasisCreateAtPoints(sp->order + 1, 2, ends, &end));
  PetscCall(PetscMalloc4(nq * dim, &x, nq * dim, &normal, nq * dim * dim, &J, nq, &w));
  for (HopsFaceTerm f = t->faces->terms; f; f = f->next) {
    for (PetscInt k = 0; k < 4; ++k) {
      g[k] = NULL;
      if (f->nf[k]) PetscCall(PetscMalloc1(nq * m->nc * m->nc * HopsTensorEntries(dim, k), &g[k]));
    }
    for (PetscInt i = 0; i < f->n; ++i) {
      const PetscInt   face = f->faces[i];
      const HopsBasis *b[3] = {rule, rule, rule};

      b[face / 2] = &end;
      PetscCall(HopsFaceGeometry(sp, &geom, f->cells[i], face, x, normal, J, w));
      PetscCall(HopsFaceTermEvaluate(t->form, f, sp, f->cells[i], face, &fb, x, normal, J, g));
      PetscCall(HopsAssemblyGetCell(t, f->cells[i], as));
      for (PetscInt q = 0; q < nq; ++q) {
        PetscInt  k[3] = {0, 0, 0}, r = q;
        PetscReal Ji[9];

        for (PetscInt d = 0; d < dim; ++d) {
          if (d == face / 2) k[d] = face % 2;
          else {
            k[d] = r % Q;
            r /= Q;
            w[q] *= rule->weights[k[d]];
          }
        }
        HopsInverse(dim, J + q * dim * dim, Ji);
        HopsDensePoint(dim, m->np, b, k, Ji, m->N + q * (dim + 1) * m->np);
      }
      PetscCall(HopsDenseElement(dim, nq, m, m, w, g, as->T, as->E));
      PetscCall(HopsAssemblyAdd(as, 0, 0));
    }
    for (PetscInt k = 0; k < 4; ++k) PetscCall(PetscFree(g[k]));
  }
  PetscCall(PetscFree4(x, normal, J, w));
  PetscCall(HopsBasisDestroy(&end));
  PetscCall(HopsFaceBasisDestroy(&geom));
  PetscCall(HopsFaceBasisDestroy(&fb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An empty AIJ matrix with room for all blocks of the form */
static PetscErrorCode HopsAssemblePattern(HopsPATensor t, Mat A, HopsAssembly *as, Mat *B)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PetscInt m, n, M, N;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatCreate(comm, &as->B));
  PetscCall(MatSetSizes(as->B, m, n, M, N));
  PetscCall(MatSetType(as->B, MATPREALLOCATOR));
  PetscCall(MatSetUp(as->B));
  for (PetscInt c = 0; c < t->space->ncells; ++c) {
    PetscCall(HopsAssemblyGetCell(t, c, as));
    for (PetscInt b = 0; b < t->form->nblocks; ++b) PetscCall(HopsAssemblyAdd(as, t->block[b].test, t->block[b].trial));
    if (t->faces && !t->form->nblocks) PetscCall(HopsAssemblyAdd(as, 0, 0));
  }
  PetscCall(MatAssemblyBegin(as->B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(as->B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreate(comm, B));
  PetscCall(MatSetSizes(*B, m, n, M, N));
  PetscCall(MatSetType(*B, MATAIJ));
  PetscCall(MatPreallocatorPreallocate(as->B, PETSC_TRUE, *B));
  PetscCall(MatDestroy(&as->B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorAssemble(HopsPATensor t, Mat A, MatReuse reuse, Mat *newmat)
{
  HopsAssembly as;
  PetscInt     rstart, cstart;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&as, sizeof(as)));
  PetscCall(MatGetOwnershipRange(A, &rstart, NULL));
  PetscCall(MatGetOwnershipRangeColumn(A, &cstart, NULL));
  PetscCall(HopsAssemblyCreate(t, rstart, cstart, &as));
  if (reuse == MAT_REUSE_MATRIX) PetscCall(MatZeroEntries(*newmat));
  else PetscCall(HopsAssemblePattern(t, A, &as, newmat));
  as.B = *newmat;
  PetscCall(HopsAssembleCells(t, &as));
  if (t->faces) PetscCall(HopsAssembleFaces(t, &as));
  PetscCall(MatAssemblyBegin(as.B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(as.B, MAT_FINAL_ASSEMBLY));
  PetscCall(HopsAssemblyDestroy(t, &as));
  PetscFunctionReturn(PETSC_SUCCESS);
}
