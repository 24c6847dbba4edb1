/* All rows of hypre's matrices on one rank or on each, where messages about few rows would take longer than
   the work */
#include <hops/private/hopsdevicematimpl.h>
#include <hops/private/hopsshareimpl.h>

#if HOPS_HAVE_HYPRE_DEVICE
  #include <_hypre_parcsr_mv.h>
  #include <petscdevice_cuda.h>
  #include <petscmathypre.h>

  #define TOOLARGE \
    "A rank is to have more than 2^31 rows or entries of others: lower -pc_lor_cycle_redundant and -pc_lor_cycle_gather"

/* Where the parts of all ranks begin, from their lengths */
PetscErrorCode HopsGatherPlaces(MPI_Comm comm, PetscMPIInt n, PetscMPIInt count[], PetscMPIInt first[], PetscMPIInt *total)
{
  PetscMPIInt size;
  PetscInt64  sum = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Allgather(&n, 1, MPI_INT, count, 1, MPI_INT, comm));
  for (PetscMPIInt r = 0; r < size; r++) {
    first[r] = (PetscMPIInt)sum;
    sum += count[r];
    PetscCheck(sum <= INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE, TOOLARGE);
  }
  *total = (PetscMPIInt)sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* hypre keeps them on the device, on the host, or on both */
const void *HopsHypreColumnsOfOthers(void *parcsr)
{
  hypre_ParCSRMatrix *A = (hypre_ParCSRMatrix *)parcsr;

  if (!hypre_ParCSRMatrixColMapOffd(A) && hypre_CSRMatrixNumCols(hypre_ParCSRMatrixOffd(A)))
    hypre_ParCSRMatrixCopyColMapOffdToHost(A);
  return hypre_ParCSRMatrixColMapOffd(A);
}

/* The rows of a rank in the process's memory: where they end among its entries, columns, values */
typedef struct {
  PetscMPIInt m, nnz;
  int        *end, *j;
  double     *v;
} Part;

/* The bytes of a part, a multiple of a double's, and its arrays in them */
static size_t PartPlace(PetscMPIInt m, PetscMPIInt nnz, char *bytes, Part *p)
{
  const size_t rows = (m * sizeof(int) + HOPS_SHARE_ALIGN - 1) / HOPS_SHARE_ALIGN * HOPS_SHARE_ALIGN;

  if (p) *p = (Part){m, nnz, (int *)bytes, (int *)(bytes + rows + nnz * sizeof(double)), (double *)(bytes + rows)};
  return rows + nnz * sizeof(double) + (nnz + nnz % 2) * sizeof(int);
}

/* Global columns; of each row those of the diagonal block first */
static PetscErrorCode PartFill(hypre_CSRMatrix *rows, const Part *p)
{
  HYPRE_BigInt *large = NULL;

  PetscFunctionBegin;
  if (hypre_CSRMatrixBigJ(rows) && sizeof(*large) > sizeof(*p->j)) {
    PetscCall(PetscMalloc1(p->nnz, &large));
    PetscCallCUDA(cudaMemcpyAsync(large, hypre_CSRMatrixBigJ(rows), p->nnz * sizeof(*large), cudaMemcpyDeviceToHost, 0));
  } else {
    const void *j = hypre_CSRMatrixBigJ(rows) ? (const void *)hypre_CSRMatrixBigJ(rows) : (const void *)hypre_CSRMatrixJ(rows);

    PetscCallCUDA(cudaMemcpyAsync(p->j, j, p->nnz * sizeof(*p->j), cudaMemcpyDeviceToHost, 0));
  }
  PetscCallCUDA(cudaMemcpyAsync(p->end, hypre_CSRMatrixI(rows) + 1, p->m * sizeof(int), cudaMemcpyDeviceToHost, 0));
  PetscCallCUDA(cudaMemcpyAsync(p->v, hypre_CSRMatrixData(rows), p->nnz * sizeof(double), cudaMemcpyDeviceToHost, 0));
  PetscCallCUDA(cudaDeviceSynchronize());
  for (PetscMPIInt k = 0; large && k < p->nnz; k++) p->j[k] = (int)large[k]; /* below the sum of all rows, an int */
  PetscCall(PetscFree(large));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One after the other, on the device */
static PetscErrorCode JoinParts(PetscMPIInt size, const Part part[], HYPRE_Int ncols, void **all)
{
  PetscMPIInt      N = 0, NNZ = 0;
  int             *begin;
  hypre_CSRMatrix *H;

  PetscFunctionBegin;
  for (PetscMPIInt r = 0; r < size; r++) {
    N += part[r].m;
    NNZ += part[r].nnz;
  }
  H = hypre_CSRMatrixCreate(N, ncols, NNZ);
  PetscCallExternal(hypre_CSRMatrixInitialize_v2, H, 0, HYPRE_MEMORY_DEVICE);
  PetscCall(PetscMalloc1(N + 1, &begin));
  begin[0] = N = NNZ = 0;
  for (PetscMPIInt r = 0; r < size; r++) {
    PetscCallCUDA(cudaMemcpyAsync(hypre_CSRMatrixJ(H) + NNZ, part[r].j, part[r].nnz * sizeof(int), cudaMemcpyHostToDevice, 0));
    PetscCallCUDA(
      cudaMemcpyAsync(hypre_CSRMatrixData(H) + NNZ, part[r].v, part[r].nnz * sizeof(double), cudaMemcpyHostToDevice, 0));
    for (PetscMPIInt k = 0; k < part[r].m; k++) begin[N + k + 1] = NNZ + part[r].end[k];
    N += part[r].m;
    NNZ += part[r].nnz;
  }
  PetscCallCUDA(cudaMemcpyAsync(hypre_CSRMatrixI(H), begin, (N + 1) * sizeof(int), cudaMemcpyHostToDevice, 0));
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCall(PetscFree(begin));
  *all = H;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Through memory that ranks of a host share, or by messages */
PetscErrorCode HopsHypreGather(MPI_Comm comm, void *parcsr, PetscMPIInt root, void **all)
{
  hypre_ParCSRMatrix *A    = (hypre_ParCSRMatrix *)parcsr;
  hypre_CSRMatrix    *rows = hypre_MergeDiagAndOffdDevice(A);
  HopsShare           share;
  HopsSharePiece      piece = {NULL};
  PetscMPIInt         size, rank, total, *count, *length, *first;
  char               *own = NULL, *others = NULL;
  Part               *part;
  PetscInt64          sum[2] = {0, 0};
  PetscBool           mine;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  mine = root < 0 || root == rank ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscMalloc4(2 * size, &count, size, &length, size, &first, size, &part));
  count[2 * rank]     = (PetscMPIInt)hypre_CSRMatrixNumRows(rows);
  count[2 * rank + 1] = (PetscMPIInt)hypre_CSRMatrixNumNonzeros(rows);
  PetscCallMPI(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, count, 2, MPI_INT, comm));
  for (PetscMPIInt r = 0; r < size; r++) {
    sum[0] += count[2 * r + 1];
    sum[1] += (PetscInt64)(PartPlace(count[2 * r], count[2 * r + 1], NULL, NULL) / sizeof(double));
  }
  PetscCall(HopsShareGet(comm, HopsBackendCUDA.memory, &share));
  if (share) PetscCall(HopsShareAlloc(share, PartPlace(count[2 * rank], count[2 * rank + 1], NULL, NULL), &piece));
  PetscCheck(PetscMax(sum[0], piece.share ? 0 : sum[1]) <= INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE, TOOLARGE);
  if (piece.share) {
    for (PetscMPIInt r = 0; r < size; r++) (void)PartPlace(count[2 * r], count[2 * r + 1], piece.host + piece.first[r], &part[r]);
    PetscCall(PartFill(rows, &part[rank]));
    PetscCallMPI(MPI_Barrier(comm));
  } else { /* in units of doubles, so that more than 2^31 bytes pass */
    const size_t bytes = PartPlace(count[2 * rank], count[2 * rank + 1], NULL, NULL), unit = sizeof(double);
    Part         send;

    PetscCall(HopsGatherPlaces(comm, (PetscMPIInt)(bytes / unit), length, first, &total));
    PetscCall(PetscMalloc2(bytes, &own, mine ? total * unit : 0, &others));
    (void)PartPlace(count[2 * rank], count[2 * rank + 1], own, &send);
    PetscCall(PartFill(rows, &send));
    if (root < 0) PetscCallMPI(MPI_Allgatherv(own, length[rank], MPI_DOUBLE, others, length, first, MPI_DOUBLE, comm));
    else PetscCallMPI(MPI_Gatherv(own, length[rank], MPI_DOUBLE, others, length, first, MPI_DOUBLE, root, comm));
    for (PetscMPIInt r = 0; r < size && mine; r++)
      (void)PartPlace(count[2 * r], count[2 * r + 1], others + first[r] * unit, &part[r]);
  }
  PetscCallExternal(hypre_CSRMatrixDestroy, rows);
  *all = NULL;
  if (mine) PetscCall(JoinParts(size, part, (HYPRE_Int)hypre_ParCSRMatrixGlobalNumCols(A), all));
  PetscCall(HopsShareFree(&piece));
  PetscCall(PetscFree2(own, others));
  PetscCall(PetscFree4(count, length, first, part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHypreGatherMat(Mat mat, PetscMPIInt root, Mat *whole)
{
  hypre_ParCSRMatrix *A, *W;
  hypre_CSRMatrix    *all;
  HYPRE_BigInt        range[2] = {0, 0};

  PetscFunctionBegin;
  *whole = NULL;
  PetscCall(MatHYPREGetParCSR(mat, &A));
  PetscCallCUDA(cudaDeviceSynchronize()); /* hypre's stream is not ours */
  PetscCall(HopsHypreGather(PetscObjectComm((PetscObject)mat), A, root, (void **)&all));
  if (!all) PetscFunctionReturn(PETSC_SUCCESS);
  range[1] = hypre_CSRMatrixNumRows(all);
  W        = hypre_ParCSRMatrixCreate(PETSC_COMM_SELF, range[1], range[1], range, range, 0, 0, 0);
  PetscCallExternal(hypre_CSRMatrixDestroy, hypre_ParCSRMatrixDiag(W));
  hypre_ParCSRMatrixDiag(W) = all;
  PetscCall(HopsHypreFinish(W, whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
