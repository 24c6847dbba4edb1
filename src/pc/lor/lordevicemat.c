/* The Mat around the rows that a device assembled: hypre's matrix on the same arrays, or PETSc's AIJ with copies of them. */
#include <hops/private/hopslordeviceimpl.h>

#if HOPS_HAVE_HYPRE_DEVICE
  #include <petscmathypre.h>

/* hypre frees its matrix's arrays, so they come from its own allocator */
static PetscErrorCode HopsLORHypreAlloc(size_t n, void **p)
{
  PetscFunctionBegin;
  *p = n ? (void *)hypre_TAlloc(char, n, HYPRE_MEMORY_DEVICE) : NULL;
  PetscCheck(*p || !n, PETSC_COMM_SELF, PETSC_ERR_MEM, "hypre has no %g MB of the device's memory for the low-order-refined matrix: use more devices, or -hops_backend host", n / 1e6);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLORHypreFree(void **p)
{
  PetscFunctionBegin;
  if (*p) hypre_TFree(*p, HYPRE_MEMORY_DEVICE);
  *p = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc initialises hypre when the first matrix gets its type */
static PetscErrorCode HopsLORHypreInitialize(MPI_Comm comm)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(MatCreate(comm, &A));
  PetscCall(MatSetSizes(A, 0, 0, 0, 0));
  PetscCall(MatSetType(A, MATHYPRE));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLORHypreGetInfo(Mat A, MatInfoType flag, MatInfo *info)
{
  hypre_ParCSRMatrix *parcsr;
  PetscLogDouble      local[1];
  MPI_Op              op = flag == MAT_GLOBAL_MAX ? MPI_MAX : MPI_SUM;

  PetscFunctionBegin;
  PetscCall(MatHYPREGetParCSR(A, &parcsr));
  PetscCall(PetscMemzero(info, sizeof(*info)));
  local[0] = (PetscLogDouble)hypre_CSRMatrixNumNonzeros(hypre_ParCSRMatrixDiag(parcsr)) + (PetscLogDouble)hypre_CSRMatrixNumNonzeros(hypre_ParCSRMatrixOffd(parcsr));
  if (flag != MAT_LOCAL) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, local, 1, MPI_DOUBLE, op, PetscObjectComm((PetscObject)A)));
  info->block_size   = 1.0;
  info->nz_allocated = info->nz_used = local[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's own reads the device's arrays in the process and crashes */
static PetscErrorCode HopsLORHypreGetRow(Mat A, PetscInt row, PetscInt *n, PetscInt **cols, PetscScalar **vals)
{
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "The rows of a matrix of type hypre lie on the device: convert it with MatConvert(,MATAIJ,), or use -pc_lor_mat_type aij");
}

static PetscErrorCode HopsLORHypreCreate(HopsLOR *lor)
{
  HopsSpace           sp      = lor->space;
  HopsLORDevice       d       = lor->device;
  HopsLORRows        *r       = &d->rows;
  HYPRE_BigInt        range[] = {(HYPRE_BigInt)sp->rstart, (HYPRE_BigInt)(sp->rstart + sp->nT)}, *cols;
  hypre_ParCSRMatrix *A;
  hypre_CSRMatrix    *b[2];

  PetscFunctionBegin;
  A    = hypre_ParCSRMatrixCreate(PetscObjectComm((PetscObject)sp), (HYPRE_BigInt)sp->N, (HYPRE_BigInt)sp->N, range, range, (HYPRE_Int)d->ncols, (HYPRE_Int)r->nnz[0], (HYPRE_Int)r->nnz[1]);
  b[0] = hypre_ParCSRMatrixDiag(A);
  b[1] = hypre_ParCSRMatrixOffd(A);
  for (PetscInt k = 0; k < 2; ++k) {
    hypre_CSRMatrixMemoryLocation(b[k]) = HYPRE_MEMORY_DEVICE;
    if (r->i[k]) {
      hypre_CSRMatrixI(b[k])    = r->i[k];
      hypre_CSRMatrixJ(b[k])    = r->j[k];
      hypre_CSRMatrixData(b[k]) = r->v[k];
    } else PetscCallExternal(hypre_CSRMatrixInitialize_v2, b[k], 0, HYPRE_MEMORY_DEVICE);
  }
  d->given = PETSC_TRUE;
  if (d->ncols) {
    cols = hypre_TAlloc(HYPRE_BigInt, d->ncols, HYPRE_MEMORY_HOST);
    for (PetscInt k = 0; k < d->ncols; ++k) cols[k] = (HYPRE_BigInt)d->cols[k];
    hypre_ParCSRMatrixColMapOffd(A) = cols;
    hypre_ParCSRMatrixCopyColMapOffdToDevice(A);
  }
  PetscCallExternal(hypre_ParCSRMatrixSetNumNonzeros, A);
  PetscCallExternal(hypre_ParCSRMatrixSetDNumNonzeros, A);
  PetscCall(MatCreateFromParCSR(A, MATHYPRE, PETSC_OWN_POINTER, &lor->mat));
  PetscCall(MatSetOperation(lor->mat, MATOP_GETINFO, (HopsVoidFn)HopsLORHypreGetInfo));
  PetscCall(MatSetOperation(lor->mat, MATOP_GET_ROW, (HopsVoidFn)HopsLORHypreGetRow));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif

/* ------------------------------------------------------------------ memory ------------------------------------------------------------------ */

PetscErrorCode HopsLORDeviceSetTarget(HopsLOR *lor, MatType type)
{
  PetscBool hypre, cusparse;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(type, MATHYPRE, &hypre));
  PetscCall(PetscStrcmp(type, MATAIJCUSPARSE, &cusparse));
  lor->device->target = cusparse ? HOPS_LOR_AIJCUSPARSE : HOPS_LOR_AIJ;
#if HOPS_HAVE_HYPRE_DEVICE
  if (hypre) {
    HopsSpace sp   = lor->space;
    PetscInt  some = sp->nT ? 1 : 0;

    /* MatCreateFromParCSR() gives a rank without rows one row: there PETSc converts an AIJ */
    PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &some, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)sp)));
    if (some) {
      lor->device->target = HOPS_LOR_HYPRE;
      PetscCall(HopsLORHypreInitialize(PetscObjectComm((PetscObject)sp)));
    }
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORDeviceAlloc(HopsLOR *lor, size_t n, void **p)
{
  PetscFunctionBegin;
#if HOPS_HAVE_HYPRE_DEVICE
  if (lor->device->target == HOPS_LOR_HYPRE) {
    PetscCall(HopsLORHypreAlloc(n, p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall((*lor->space->backend->lordevice->Malloc)(n, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORDeviceFree(HopsLOR *lor, void **p)
{
  PetscFunctionBegin;
#if HOPS_HAVE_HYPRE_DEVICE
  if (lor->device->target == HOPS_LOR_HYPRE) {
    PetscCall(HopsLORHypreFree(p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall((*lor->space->backend->lordevice->Free)(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------------- AIJ ------------------------------------------------------------------- */

/* Pattern of a block in the process's memory; columns by `cols` where it is not NULL */
static PetscErrorCode HopsLORDeviceGetPattern(HopsLOR *lor, PetscInt b, const PetscInt cols[], PetscInt ia[], PetscInt ja[])
{
  HopsSpace    sp = lor->space;
  HopsLORRows *r  = &lor->device->rows;
  int         *i, *j;

  PetscFunctionBegin;
  if (!r->i[b]) {
    PetscCall(PetscArrayzero(ia, sp->nT + 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc2(sp->nT + 1, &i, r->nnz[b], &j));
  PetscCall((*sp->backend->Copy)(i, r->i[b], (sp->nT + 1) * sizeof(int), PETSC_FALSE));
  PetscCall((*sp->backend->Copy)(j, r->j[b], r->nnz[b] * sizeof(int), PETSC_FALSE));
  for (PetscInt k = 0; k <= sp->nT; ++k) ia[k] = i[k];
  for (size_t k = 0; k < r->nnz[b]; ++k) ja[k] = cols ? cols[j[k]] : j[k];
  PetscCall(PetscFree2(i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLORDeviceCreateAIJ(HopsLOR *lor)
{
  HopsSpace    sp = lor->space;
  HopsLORRows *r  = &lor->device->rows;

  PetscFunctionBegin;
  lor->nd = (PetscInt)r->nnz[0];
  lor->no = (PetscInt)r->nnz[1];
  PetscCall(PetscMalloc2(sp->nT + 1, &lor->di, sp->nT + 1, &lor->oi));
  PetscCall(PetscMalloc1(PetscMax(lor->nd, 1), &lor->dj));
  PetscCall(PetscMalloc1(PetscMax(lor->no, 1), &lor->oj));
  PetscCall(PetscCalloc1(lor->nd + lor->no + 1, &lor->vals));
  PetscCall(HopsLORDeviceGetPattern(lor, 0, NULL, lor->di, lor->dj));
  PetscCall(HopsLORDeviceGetPattern(lor, 1, lor->device->cols, lor->oi, lor->oj));
  PetscCall(HopsLORCreateAIJ(lor));
#if defined(PETSC_HAVE_CUDA)
  if (lor->device->target == HOPS_LOR_AIJCUSPARSE) PetscCall(MatConvert(lor->mat, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &lor->mat));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORDeviceCreateMat(HopsLOR *lor)
{
  PetscFunctionBegin;
#if HOPS_HAVE_HYPRE_DEVICE
  if (lor->device->target == HOPS_LOR_HYPRE) {
    PetscCall(HopsLORHypreCreate(lor));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(HopsLORDeviceCreateAIJ(lor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLORDeviceUpdateMat(HopsLOR *lor)
{
  HopsSpace    sp = lor->space;
  HopsLORRows *r  = &lor->device->rows;

  PetscFunctionBegin;
  if (lor->device->target == HOPS_LOR_HYPRE) {
    PetscCall(PetscObjectStateIncrease((PetscObject)lor->mat));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if defined(PETSC_HAVE_CUDA)
  if (lor->device->target == HOPS_LOR_AIJCUSPARSE) {
    Mat         block[2] = {lor->mat, NULL};
    PetscMPIInt size;

    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)sp), &size));
    if (size > 1) PetscCall(MatMPIAIJGetSeqAIJ(lor->mat, &block[0], &block[1], NULL));
    for (PetscInt b = 0; b < 2; ++b) {
      PetscScalar *a;

      if (!block[b] || !r->nnz[b]) continue;
      PetscCall(MatSeqAIJCUSPARSEGetArray(block[b], &a)); /* puts the pattern there the first time */
      PetscCall((*sp->backend->lordevice->CopyWithin)(a, r->v[b], r->nnz[b] * sizeof(PetscScalar)));
      PetscCall(MatSeqAIJCUSPARSERestoreArray(block[b], &a));
    }
    PetscCall(PetscObjectStateIncrease((PetscObject)lor->mat));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  for (PetscInt b = 0; b < 2; ++b) PetscCall((*sp->backend->Copy)(lor->vals + (b ? lor->nd : 0), r->v[b], r->nnz[b] * sizeof(PetscScalar), PETSC_FALSE));
  PetscCall(HopsLORChangedAIJ(lor->mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}
