/* All rows of hypre's matrices on one rank or on each, where messages about few rows would take longer than
   the work */
#include <hops/private/hopsdevicematimpl.h>

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

/* What all ranks have, on one (root) or on each (root < 0) */
static PetscErrorCode GatherParts(const void *part, PetscMPIInt n, MPI_Datatype unit, void *all, const PetscMPIInt count[],
                                  const PetscMPIInt first[], PetscMPIInt root, MPI_Comm comm)
{
  PetscFunctionBegin;
  if (root < 0) PetscCallMPI(MPI_Allgatherv(part, n, unit, all, count, first, unit, comm));
  else PetscCallMPI(MPI_Gatherv(part, n, unit, all, count, first, unit, root, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHypreGather(MPI_Comm comm, void *parcsr, PetscMPIInt root, void **all)
{
  hypre_ParCSRMatrix *A        = (hypre_ParCSRMatrix *)parcsr;
  hypre_CSRMatrix    *part[2]  = {hypre_CSRMatrixClone_v2(hypre_ParCSRMatrixDiag(A), 1, HYPRE_MEMORY_HOST),
                                  hypre_CSRMatrixClone_v2(hypre_ParCSRMatrixOffd(A), 1, HYPRE_MEMORY_HOST)};
  const HYPRE_BigInt  begincol = hypre_ParCSRMatrixFirstColDiag(A), *columns = (const HYPRE_BigInt *)HopsHypreColumnsOfOthers(A);
  const PetscMPIInt   m       = (PetscMPIInt)hypre_CSRMatrixNumRows(part[0]);
  const PetscInt64    entries = (PetscInt64)hypre_CSRMatrixNumNonzeros(part[0]) + hypre_CSRMatrixNumNonzeros(part[1]);
  const PetscMPIInt   nnz     = (PetscMPIInt)entries;
  PetscMPIInt         size, rank, N, NNZ, k = 0, *count, *first, *ncount, *nfirst;
  PetscBool           mine;
  int                *length, *j;
  double             *v;
  hypre_CSRMatrix    *H;

  PetscFunctionBegin;
  PetscCheck(entries <= INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, TOOLARGE);
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  mine = root < 0 || root == rank ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscMalloc4(size, &count, size, &first, size, &ncount, size, &nfirst));
  PetscCall(PetscCalloc1(m, &length));
  PetscCall(PetscMalloc2(nnz, &j, nnz, &v));
  for (PetscMPIInt r = 0; r < m; r++)
    for (int p = 0; p < 2; p++) {
      if (!hypre_CSRMatrixNumNonzeros(part[p])) continue;
      for (HYPRE_Int e = hypre_CSRMatrixI(part[p])[r]; e < hypre_CSRMatrixI(part[p])[r + 1]; e++, k++) {
        const HYPRE_Int column = hypre_CSRMatrixJ(part[p])[e];

        j[k] = (int)(p ? columns[column] : begincol + column);
        v[k] = hypre_CSRMatrixData(part[p])[e];
        length[r]++;
      }
    }
  PetscCall(HopsGatherPlaces(comm, m, count, first, &N));
  PetscCall(HopsGatherPlaces(comm, nnz, ncount, nfirst, &NNZ));
  H = hypre_CSRMatrixCreate(mine ? N : 0, (HYPRE_Int)hypre_ParCSRMatrixGlobalNumCols(A), mine ? NNZ : 0);
  PetscCallExternal(hypre_CSRMatrixInitialize_v2, H, 0, HYPRE_MEMORY_HOST);
  PetscCall(GatherParts(length, m, MPI_INT, hypre_CSRMatrixI(H) + 1, count, first, root, comm));
  PetscCall(GatherParts(j, nnz, MPI_INT, hypre_CSRMatrixJ(H), ncount, nfirst, root, comm));
  PetscCall(GatherParts(v, nnz, MPI_DOUBLE, hypre_CSRMatrixData(H), ncount, nfirst, root, comm));
  *all = NULL;
  if (mine) {
    hypre_CSRMatrixI(H)[0] = 0;
    for (PetscMPIInt r = 0; r < N; r++) hypre_CSRMatrixI(H)[r + 1] += hypre_CSRMatrixI(H)[r];
    *all = hypre_CSRMatrixClone_v2(H, 1, HYPRE_MEMORY_DEVICE);
  }
  PetscCallExternal(hypre_CSRMatrixDestroy, H);
  for (int p = 0; p < 2; p++) PetscCallExternal(hypre_CSRMatrixDestroy, part[p]);
  PetscCall(PetscFree2(j, v));
  PetscCall(PetscFree(length));
  PetscCall(PetscFree4(count, first, ncount, nfirst));
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
