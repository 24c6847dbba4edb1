/* Matrices of the lattice's topology near hanging nodes, for a device: their rows have more than a few
   columns, so the process makes them, once for a space, and they are copied. */
#include <hops/private/hopsdevicematimpl.h>
#include <hops/private/hopslatticemap.h>

#if HOPS_HAVE_HYPRE_DEVICE
static PetscErrorCode CopyIn(const HopsMemoryOps *memory, size_t n, const void *h, void **d)
{
  PetscFunctionBegin;
  PetscCall(HopsHypreAlloc(n, d));
  if (n) PetscCall((*memory->Copy)(NULL, *d, h, n, HOPS_COPY_IN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One block to hypre's memory, with explicit zeros in columns extra[nextra], spread over the rows */
static PetscErrorCode CopyBlock(const HopsMemoryOps *memory, Mat B, PetscInt nextra, const int extra[], HopsLORRows *r, PetscInt b)
{
  const PetscInt    *ia, *ja;
  PetscInt           n, m = 0;
  const PetscScalar *a;
  PetscBool          done;
  int               *i, *j;
  PetscScalar       *v;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(B, 0, PETSC_FALSE, PETSC_FALSE, &n, &ia, &ja, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A block of an AIJ matrix has no rows");
  PetscCall(MatSeqAIJGetArrayRead(B, &a));
  PetscCheck((PetscInt64)ia[n] + nextra < PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A derivative has more than 2^31 entries on one rank: use more ranks");
  PetscCall(PetscMalloc3(n + 1, &i, ia[n] + nextra, &j, ia[n] + nextra, &v));
  for (PetscInt l = 0, e = 0; l < n; ++l) {
    i[l] = (int)m;
    for (PetscInt k = ia[l]; k < ia[l + 1]; ++k) {
      j[m]   = (int)ja[k];
      v[m++] = a[k];
    }
    for (; e < nextra && (PetscInt64)e * n < (PetscInt64)(l + 1) * nextra; ++e) {
      j[m]   = extra[e];
      v[m++] = 0.0;
    }
  }
  i[n] = (int)m;
  PetscCall(CopyIn(memory, (n + 1) * sizeof(*i), i, (void **)&r->i[b]));
  PetscCall(CopyIn(memory, m * sizeof(*j), j, (void **)&r->j[b]));
  PetscCall(CopyIn(memory, m * sizeof(*v), v, (void **)&r->v[b]));
  r->nnz[b] = (size_t)m;
  PetscCall(MatSeqAIJRestoreArrayRead(B, &a));
  PetscCall(MatRestoreRowIJ(B, 0, PETSC_FALSE, PETSC_FALSE, &n, &ia, &ja, &done)); /* n becomes 0 */
  PetscCall(PetscFree3(i, j, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ToHypre(HopsSpace from, HopsSpace to, Mat D, PetscInt nextra, const int extra[], Mat *A)
{
  const HopsMemoryOps *memory = to->backend->memory;
  const PetscInt      *cols   = NULL;
  PetscInt             ncols  = 0;
  HopsLORRows          r;
  Mat                  block[2] = {D, NULL};
  PetscMPIInt          size;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&r, sizeof(r)));
  r.n = to->nT;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)D), &size));
  if (size > 1) {
    PetscCall(MatMPIAIJGetSeqAIJ(D, &block[0], &block[1], &cols));
    PetscCall(MatGetSize(block[1], NULL, &ncols));
  }
  for (PetscInt b = 0; b < (size > 1 ? 2 : 1); ++b) PetscCall(CopyBlock(memory, block[b], b ? 0 : nextra, extra, &r, b));
  PetscCall((*memory->QueueFinish)(NULL));
  PetscCall(HopsHypreWrap(to, from, 1, &r, ncols, cols, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode HopsLatticeMatBring(HopsSpace from, HopsSpace to, PetscInt nextra, const int extra[], MatType type, Mat *D)
{
  PetscBool same;

  PetscFunctionBegin;
#if HOPS_HAVE_HYPRE_DEVICE
  {
    PetscBool hypre;
    Mat       A;

    PetscCall(PetscStrcmp(type, MATHYPRE, &hypre));
    if (hypre) PetscCall(HopsHypreCanWrap(to, from, &hypre));
    if (hypre) {
      PetscCall(ToHypre(from, to, *D, nextra, extra, &A));
      PetscCall(MatDestroy(D));
      *D = A;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
#endif
  PetscCall(PetscStrcmp(type, MATAIJ, &same));
  if (!same) PetscCall(MatConvert(*D, type, MAT_INPLACE_MATRIX, D));
  PetscFunctionReturn(PETSC_SUCCESS);
}
