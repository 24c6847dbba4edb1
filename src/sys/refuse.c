/*
  What hops' matrices and preconditioners refuse alike. The matrices have no entries at hand, and PETSc calls
  two operations without asking whether a type has them: getrow (MatGetRow(), and so MatAXPY() of such a
  matrix to an assembled one, MatChop(), MatGetColumnVector(), PCKACZMARZ, PCREDISTRIBUTE) and
  creatempimatconcatenateseqmat (PCTELESCOPE). Here they raise an error.
*/
#include <hops/private/hopsmatimpl.h>
#include <petsc/private/matimpl.h>

static PetscErrorCode MatGetRow_Refused(Mat A, PetscInt row, PetscInt *n, PetscInt **cols, PetscScalar **vals)
{
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP,
          "A matrix of type %s has no rows at hand: MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B) assembles one that has",
          ((PetscObject)A)->type_name);
}

static PetscErrorCode MatConcatenate_Refused(MPI_Comm comm, Mat A, PetscInt n, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  SETERRQ(comm, PETSC_ERR_SUP,
          "Matrices of type %s are not stacked into one: MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B) assembles one that can be",
          ((PetscObject)A)->type_name);
}

/* Column by column. PETSc's own way, without getrow, is no longer taken where there is one that refuses */
static PetscErrorCode MatConvert_Products(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  Mat C;

  PetscFunctionBegin;
  PetscCall(MatComputeOperator(A, type, &C));
  if (reuse == MAT_INITIAL_MATRIX) *B = C;
  else if (reuse == MAT_INPLACE_MATRIX) PetscCall(MatHeaderReplace(A, &C));
  else {
    PetscCall(MatCopy(C, *B, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(&C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An operation that only raises an error is none */
static PetscErrorCode MatHasOperation_Refused(Mat A, MatOperation op, PetscBool *has)
{
  void      **ops = (void **)A->ops;
  PetscMPIInt size;

  PetscFunctionBegin;
  *has = ops[op] ? PETSC_TRUE : PETSC_FALSE;
  if (op == MATOP_GET_ROW && A->ops->getrow == MatGetRow_Refused) *has = PETSC_FALSE;
  if (op != MATOP_CREATE_SUBMATRIX || *has) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size)); /* as MatHasOperation() itself */
  if (size == 1) *has = A->ops->createsubmatrices ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsMatRefuseRows(Mat A)
{
  PetscFunctionBegin;
  A->ops->getrow                        = MatGetRow_Refused;
  A->ops->restorerow                    = NULL;
  A->ops->creatempimatconcatenateseqmat = MatConcatenate_Refused;
  if (!A->ops->convert) A->ops->convert = MatConvert_Products;
  if (!A->ops->hasoperation) A->ops->hasoperation = MatHasOperation_Refused;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A setter of a preconditioner that has no type yet */
PetscErrorCode HopsPCCheckSetter(PC pc, const char setter[], PCType type)
{
  const char *name;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetType((PetscObject)pc, &name));
  PetscCheck(name, PetscObjectComm((PetscObject)pc), PETSC_ERR_ORDER,
             "%s() on a PC without a type would be forgotten: call PCSetType(pc, \"%s\") first, or PCSetFromOptions() with "
             "-pc_type %s",
             setter, type, type);
  PetscFunctionReturn(PETSC_SUCCESS);
}
