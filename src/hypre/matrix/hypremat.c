/* hypre's matrices on arrays that a device assembled. */
#include <hops/private/hopsdevicematimpl.h>
#include <hops/private/hopsmatimpl.h>

#if HOPS_HAVE_HYPRE_DEVICE
  #include <petscmathypre.h>

/* never NULL: see hyprememory.c */
PetscErrorCode HopsHypreAlloc(size_t n, void **p)
{
  PetscFunctionBegin;
  *p = n ? (void *)hypre_TAlloc(char, n, HYPRE_MEMORY_DEVICE) : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHypreFree(void **p)
{
  PetscFunctionBegin;
  if (*p) hypre_TFree(*p, HYPRE_MEMORY_DEVICE);
  *p = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc initialises hypre when the first matrix gets its type */
static PetscErrorCode HopsHypreInitialize(MPI_Comm comm)
{
  Mat A;

  PetscFunctionBegin;
  if (HYPRE_Initialized()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreate(comm, &A));
  PetscCall(MatSetSizes(A, 0, 0, 0, 0));
  PetscCall(MatSetType(A, MATHYPRE));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsHypreGetInfo(Mat A, MatInfoType flag, MatInfo *info)
{
  hypre_ParCSRMatrix *parcsr;
  PetscLogDouble      local[1];
  MPI_Op              op = flag == MAT_GLOBAL_MAX ? MPI_MAX : MPI_SUM;

  PetscFunctionBegin;
  PetscCall(MatHYPREGetParCSR(A, &parcsr));
  PetscCall(PetscMemzero(info, sizeof(*info)));
  local[0] = (PetscLogDouble)hypre_CSRMatrixNumNonzeros(hypre_ParCSRMatrixDiag(parcsr)) +
             (PetscLogDouble)hypre_CSRMatrixNumNonzeros(hypre_ParCSRMatrixOffd(parcsr));
  if (flag != MAT_LOCAL) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, local, 1, MPI_DOUBLE, op, PetscObjectComm((PetscObject)A)));
  info->block_size   = 1.0;
  info->nz_allocated = info->nz_used = local[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  In this process hypre multiplies with kernels of its own from now on. cuSPARSE's (12.6.3, CUDA 13.0) reads
  shared memory that nobody wrote where 32 rows meet in a chunk of entries, as on a rank with 32 rows: wrong
  at random (docs/developer/decisions.md, 55)
*/
PetscErrorCode HopsHypreConfigure(void)
{
  PetscFunctionBegin;
  #if PETSC_PKG_HYPRE_VERSION_GE(2, 25, 0)
  if (HYPRE_Initialized()) (void)HYPRE_SetSpMVUseVendor(0); /* returns what hypre did before */
  #endif
  PetscCall(HopsHypreSetMemory());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatCreateFromParCSR() gives a rank without rows or columns one */
PetscErrorCode HopsHypreCanWrap(HopsSpace rows, HopsSpace cols, PetscBool *can)
{
  PetscInt some = rows->nT && cols->nT ? 1 : 0;

  PetscFunctionBegin;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &some, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)rows)));
  *can = some ? PETSC_TRUE : PETSC_FALSE;
  if (some) {
    PetscCall(HopsHypreInitialize(PetscObjectComm((PetscObject)rows)));
    PetscCall(HopsHypreConfigure());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What PETSc makes of hypre's matrix on the device; the offd block may be empty yet */
PetscErrorCode HopsHypreFinish(void *parcsr, Mat *mat)
{
  hypre_ParCSRMatrix *A = (hypre_ParCSRMatrix *)parcsr;
  hypre_CSRMatrix    *b[2];

  PetscFunctionBegin;
  b[0] = hypre_ParCSRMatrixDiag(A);
  b[1] = hypre_ParCSRMatrixOffd(A);
  for (int k = 0; k < 2; ++k) {
    hypre_CSRMatrixMemoryLocation(b[k]) = HYPRE_MEMORY_DEVICE;
    if (!hypre_CSRMatrixI(b[k])) PetscCallExternal(hypre_CSRMatrixInitialize_v2, b[k], 0, HYPRE_MEMORY_DEVICE);
  }
  PetscCallExternal(hypre_ParCSRMatrixSetNumNonzeros, A);
  PetscCallExternal(hypre_ParCSRMatrixSetDNumNonzeros, A);
  /* PETSc 3.25 moves the arrays to hypre's default memory, which is the host's after a solve there */
  PetscCallExternal(HYPRE_SetMemoryLocation, HYPRE_MEMORY_DEVICE);
  PetscCall(MatCreateFromParCSR(A, MATHYPRE, PETSC_OWN_POINTER, mat));
  PetscCall(MatSetOperation(*mat, MATOP_GETINFO, (HopsVoidFn)HopsHypreGetInfo));
  PetscCall(HopsMatRefuseRows(*mat)); /* PETSc's own getrow reads the device's arrays in the process and crashes */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsHypreWrap(HopsSpace rows, HopsSpace columns, PetscInt nc, HopsLORRows *r, PetscInt ncols, const PetscInt cols[],
                             Mat *mat)
{
  HYPRE_BigInt rrange[] = {(HYPRE_BigInt)rows->rstart * nc, (HYPRE_BigInt)(rows->rstart + rows->nT) * nc},
               crange[] = {(HYPRE_BigInt)columns->rstart * nc, (HYPRE_BigInt)(columns->rstart + columns->nT) * nc}, *map;
  hypre_ParCSRMatrix *A;
  hypre_CSRMatrix    *b[2];

  PetscFunctionBegin;
  A    = hypre_ParCSRMatrixCreate(PetscObjectComm((PetscObject)rows), (HYPRE_BigInt)rows->N * nc, (HYPRE_BigInt)columns->N * nc,
                                  rrange, crange, (HYPRE_Int)ncols, (HYPRE_Int)r->nnz[0], (HYPRE_Int)r->nnz[1]);
  b[0] = hypre_ParCSRMatrixDiag(A);
  b[1] = hypre_ParCSRMatrixOffd(A);
  for (PetscInt k = 0; k < 2; ++k) {
    if (!r->i[k]) continue;
    hypre_CSRMatrixI(b[k])    = r->i[k];
    hypre_CSRMatrixJ(b[k])    = r->j[k];
    hypre_CSRMatrixData(b[k]) = r->v[k];
  }
  if (ncols) {
    map = hypre_TAlloc(HYPRE_BigInt, ncols, HYPRE_MEMORY_HOST);
    for (PetscInt k = 0; k < ncols; ++k) map[k] = (HYPRE_BigInt)cols[k];
    hypre_ParCSRMatrixColMapOffd(A) = map;
    hypre_ParCSRMatrixCopyColMapOffdToDevice(A);
  }
  PetscCall(HopsHypreFinish(A, mat));
  PetscCall(HopsHypreCheckMemory(PetscObjectComm((PetscObject)rows)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
