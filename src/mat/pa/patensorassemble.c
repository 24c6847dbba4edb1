/* An operator with full tensors to AIJ, slowly: element matrices column by column. */
#include <hops/private/hopspatensor.h>

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

/* Unknowns of a cell, field by field, component by component, as in the E-vectors of a batch */
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

/* The element matrices of a batch, E[lane][row][column] */
static PetscErrorCode HopsPATensorElements(HopsPATensor t, PetscInt batch, PetscInt W, PetscInt nr, PetscInt nc, PetscScalar x[], PetscScalar y[], PetscScalar E[])
{
  PetscFunctionBegin;
  for (PetscInt j = 0; j < nc; ++j) {
    PetscCall(PetscArrayzero(x, nc * W));
    for (PetscInt l = 0; l < W; ++l) x[j * W + l] = 1.0;
    PetscCall((*t->space->backend->TensorApplyBatch)(t->kernel, batch, t->form->nblocks, t->view, x, y));
    for (PetscInt l = 0; l < W; ++l)
      for (PetscInt i = 0; i < nr; ++i) E[(l * nr + i) * nc + j] = y[i * W + l];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPATensorAssemble(HopsPATensor t, Mat A, MatReuse reuse, Mat *newmat)
{
  MPI_Comm        comm = PetscObjectComm((PetscObject)A);
  HopsCellIndices row, col;
  const PetscInt *first;
  PetscInt        rstart, cstart, m, n, M, N, W, nb;
  PetscScalar    *E, *x, *y;
  Mat             B = NULL, pre;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &rstart, NULL));
  PetscCall(MatGetOwnershipRangeColumn(A, &cstart, NULL));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall((*t->space->backend->TensorGetLayout)(t->kernel, &W, &nb, &first));
  PetscCall(HopsCellIndicesCreate(t, HOPS_TEST, rstart, &row));
  PetscCall(HopsCellIndicesCreate(t, HOPS_TRIAL, cstart, &col));
  PetscCall(PetscCalloc3(W * row.n * col.n, &E, col.n * W, &x, row.n * W, &y));
  if (reuse == MAT_REUSE_MATRIX) {
    B = *newmat;
    PetscCall(MatZeroEntries(B));
  }
  PetscCall(MatCreate(comm, &pre));
  PetscCall(MatSetSizes(pre, m, n, M, N));
  PetscCall(MatSetType(pre, MATPREALLOCATOR));
  PetscCall(MatSetUp(pre));
  for (PetscInt pass = B ? 1 : 0; pass < 2; ++pass) {
    Mat to = pass ? B : pre;

    for (PetscInt b = 0; b < nb; ++b) {
      if (pass) PetscCall(HopsPATensorElements(t, b, W, row.n, col.n, x, y, E));
      for (PetscInt l = 0; l < first[b + 1] - first[b]; ++l) {
        HopsCellIndicesGet(t, HOPS_TEST, first[b] + l, &row);
        HopsCellIndicesGet(t, HOPS_TRIAL, first[b] + l, &col);
        PetscCall(MatSetValues(to, row.n, row.idx, col.n, col.idx, E + (size_t)l * row.n * col.n, ADD_VALUES));
      }
    }
    PetscCall(MatAssemblyBegin(to, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(to, MAT_FINAL_ASSEMBLY));
    if (!pass) {
      PetscCall(MatCreate(comm, &B));
      PetscCall(MatSetSizes(B, m, n, M, N));
      PetscCall(MatSetType(B, MATAIJ));
      PetscCall(MatPreallocatorPreallocate(pre, PETSC_TRUE, B));
    }
  }
  PetscCall(MatDestroy(&pre));
  PetscCall(HopsCellIndicesDestroy(t, HOPS_TEST, &row));
  PetscCall(HopsCellIndicesDestroy(t, HOPS_TRIAL, &col));
  PetscCall(PetscFree3(E, x, y));
  *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}
