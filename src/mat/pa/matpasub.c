/* Operators of the blocks of fields, as PCFIELDSPLIT asks for them: MatCreateSubMatrix() of an operator of
   several fields. */
#include <hops/private/hopspatensorimpl.h>
#include <petsc/private/matimpl.h>

/* The fields of one side of an operator that an index set selects */
typedef struct {
  PetscInt   n, *side; /* sides of the whole */
  PetscInt  *field;
  HopsNodes *nodes;
} HopsPASelection;

static PetscErrorCode HopsPASelectionDestroy(HopsPASelection *sel)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < sel->n; ++i) PetscCall(HopsNodesDestroy(&sel->nodes[i]));
  PetscCall(PetscFree3(sel->side, sel->field, sel->nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* position[local entry of the whole's vector] = local entry of the block's, or -1; bad: not within this
   rank's entries, each at most once */
static PetscErrorCode HopsPAPositions(IS is, PetscInt start, PetscInt size, PetscInt position[], PetscBool *bad)
{
  const PetscInt *idx;
  PetscInt        n;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < size; ++i) position[i] = -1;
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetIndices(is, &idx));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt k = idx[i] - start;

    if (k < 0 || k >= size || position[k] >= 0) *bad = PETSC_TRUE;
    else position[k] = i;
  }
  PetscCall(ISRestoreIndices(is, &idx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective: the index set holds all or none of each field's unknowns, each rank its own */
static PetscErrorCode HopsPASelect(Mat A, HopsPATensor t, PetscInt side, IS is, HopsPASelection *sel)
{
  MPI_Comm  comm = PetscObjectComm((PetscObject)A);
  PetscInt  start, n, *position, *flags; /* flags: any field's unknown is in, is out, and whether the index set is bad */
  PetscBool bad = PETSC_FALSE;

  PetscFunctionBegin;
  if (side == HOPS_TEST) PetscCall(MatGetOwnershipRange(A, &start, NULL));
  else PetscCall(MatGetOwnershipRangeColumn(A, &start, NULL));
  PetscCall(PetscMalloc1(t->size[side], &position));
  PetscCall(PetscCalloc1(2 * t->n[side] + 1, &flags));
  PetscCall(HopsPAPositions(is, start, t->size[side], position, &bad));
  flags[2 * t->n[side]] = bad ? 1 : 0;
  for (PetscInt f = 0; f < t->n[side]; ++f) {
    HopsNodes nodes = t->side[side][f].nodes;

    for (PetscInt i = 0; i < nodes->space->nT * nodes->nc; ++i)
      if (nodes->map[i] >= 0) flags[2 * f + (position[nodes->map[i]] >= 0 ? 0 : 1)] = 1;
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, flags, 2 * t->n[side] + 1, MPIU_INT, MPI_MAX, comm));
  bad = flags[2 * t->n[side]] ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscMalloc3(t->n[side], &sel->side, t->n[side], &sel->field, t->n[side], &sel->nodes));
  sel->n = 0;
  for (PetscInt f = 0; f < t->n[side]; ++f) {
    if (flags[2 * f] && flags[2 * f + 1]) bad = PETSC_TRUE;
    if (flags[2 * f]) sel->side[sel->n++] = f;
  }
  PetscCall(ISGetLocalSize(is, &n));
  for (PetscInt i = 0; i < sel->n; ++i) n -= t->side[side][sel->side[i]].nodes->nfree; /* those of no node, too */
  if (n) bad = PETSC_TRUE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &bad, 1, HOPS_MPI_BOOL, MPI_LOR, comm));
  PetscCheck(!bad, comm, PETSC_ERR_SUP,
             "A matrix-free operator of several fields gives the blocks of whole fields alone, in the layout of their unknowns: "
             "split it by its fields (-pc_type fieldsplit with the solver's DM, DMCreateFieldIS()), or assemble it (MatConvert() "
             "to aij, or leave out -dm_mat_type " MATPA ")");
  for (PetscInt i = 0; i < sel->n; ++i) {
    sel->field[i] = t->side[side][sel->side[i]].field;
    PetscCall(HopsNodesCreateSub(t->side[side][sel->side[i]].nodes, position, &sel->nodes[i]));
  }
  PetscCall(PetscFree(position));
  PetscCall(PetscFree(flags));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The whole's blocks between the selected fields, [whole->jacobian->nblocks] at most */
static void HopsPASelectBlocks(HopsPATensor whole, PetscInt ntest, const PetscInt test[], PetscInt ntrial, const PetscInt trial[],
                               PetscInt *n, PetscInt blocks[])
{
  *n = 0;
  for (PetscInt b = 0; b < whole->jacobian->nblocks; ++b) {
    PetscBool in[2] = {PETSC_FALSE, PETSC_FALSE};

    for (PetscInt i = 0; i < ntest; ++i)
      if (test[i] == whole->jacobian->blocks[b].test) in[0] = PETSC_TRUE;
    for (PetscInt i = 0; i < ntrial; ++i)
      if (trial[i] == whole->jacobian->blocks[b].trial) in[1] = PETSC_TRUE;
    if (in[0] && in[1]) blocks[(*n)++] = b;
  }
}

static PetscErrorCode MatCreateBlock_PA(Mat A, Mat_PA *pa, IS isrow, IS iscol, Mat *B)
{
  HopsPATensor    t = pa->tensor;
  HopsPASelection row, col;
  HopsJacobian    jac;
  PetscInt       *blocks, nblocks, m, n;
  PetscBool       same;
  Mat_PA         *pb;

  PetscFunctionBegin;
  PetscCall(HopsPASelect(A, t, HOPS_TEST, isrow, &row));
  PetscCall(HopsPASelect(A, t, HOPS_TRIAL, iscol, &col));
  PetscCall(ISEqual(isrow, iscol, &same));
  for (PetscInt i = 0; same && i < row.n; ++i) { /* test and trial functions are the same: PCLOR wants to know */
    PetscCall(HopsNodesDestroy(&col.nodes[i]));
    col.nodes[i] = row.nodes[i];
    ++row.nodes[i]->refct;
  }
  PetscCall(PetscMalloc1(t->jacobian->nblocks, &blocks));
  HopsPASelectBlocks(t, row.n, row.field, col.n, col.field, &nblocks, blocks);
  PetscCall(HopsJacobianCreateSub(t->jacobian, nblocks, blocks, &jac));
  PetscCall(PetscFree(blocks));
  PetscCall(ISGetLocalSize(isrow, &m));
  PetscCall(ISGetLocalSize(iscol, &n));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), B));
  PetscCall(MatSetSizes(*B, m, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*B, MATPA));
  PetscCall(MatSetUp(*B));
  PetscCall(MatPAGetData(*B, &pb));
  pb->q_1d    = pa->q_1d || pa->gll || pa->gauss ? pa->basis.Q : 0;
  pb->gll     = pa->gll;
  pb->fromds  = pa->fromds;
  pb->general = pa->general;
  PetscCall(HopsFormDestroy(&pb->form));
  PetscCall(HopsFormSelect(t->form, jac, PETSC_TRUE, PETSC_TRUE, &pb->form));
  PetscCall(HopsJacobianDestroy(&jac));
  PetscCall(HopsPATensorCreate(pb->form, row.n, row.field, row.nodes, col.n, col.field, col.nodes, &pb->tensor));
  PetscCall(MatShellSetVecType(*B, HopsSpaceVecType(pb->tensor->space)));
  PetscCall(HopsBasisCreateLike(pa->basis.P, &pa->basis, &pb->basis));
  PetscCall(HopsBasisCreateLike(pa->basis.P, &pa->facebasis, &pb->facebasis));
  PetscCall(HopsPASelectionDestroy(&row));
  PetscCall(HopsPASelectionDestroy(&col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The block gets the whole's state, and where it shares them the whole's tensors */
static PetscErrorCode MatRefreshBlock_PA(Mat A, Mat_PA *pa, PetscBool share, Mat B)
{
  Mat_PA      *pb;
  HopsPATensor whole = pa->tensor, t;
  PetscInt    *blocks, *field[2], n;

  PetscFunctionBegin;
  PetscCall(MatPAGetData(B, &pb));
  t = pb->tensor;
  PetscCheck(t && t->jacobian->dm == whole->jacobian->dm, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "The matrix to reuse is no block of this operator: call MatCreateSubMatrix() with MAT_INITIAL_MATRIX");
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(PetscMalloc1(t->n[k], &field[k]));
    for (PetscInt i = 0; i < t->n[k]; ++i) field[k][i] = t->side[k][i].field;
  }
  PetscCall(PetscMalloc1(whole->jacobian->nblocks, &blocks));
  HopsPASelectBlocks(whole, t->n[0], field[0], t->n[1], field[1], &n, blocks);
  PetscCheck(n == t->jacobian->nblocks, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "The matrix to reuse is no block of this operator: call MatCreateSubMatrix() with MAT_INITIAL_MATRIX");
  PetscCall(HopsJacobianShareState(whole->jacobian, t->jacobian));
  if (share) PetscCall(HopsPATensorShare(whole, &pa->facebasis, blocks, t));
  PetscCall(PetscFree(blocks));
  PetscCall(PetscFree(field[0]));
  PetscCall(PetscFree(field[1]));
  PetscCall(MatPAChanged(B, pb, PETSC_FALSE));
  pb->needsetup = share ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks of fields; of an operator of one field, PETSc's virtual submatrices. They share the tensors of the
   whole, but for those of a preconditioning matrix that was not set up: beside a Jacobian nothing applies it,
   and of its blocks perhaps some, so that each is set up where it is applied */
PetscErrorCode MatCreateSubMatrix_PA(Mat A, IS isrow, IS iscol, MatReuse reuse, Mat *B)
{
  Mat_PA   *pa;
  PetscBool share;

  PetscFunctionBegin;
  PetscCall(MatPAGetData(A, &pa));
  if (!pa->tensor || (pa->tensor->n[0] == 1 && pa->tensor->n[1] == 1)) {
    if (reuse == MAT_REUSE_MATRIX) PetscCall(MatSubMatrixVirtualUpdate(*B, A, isrow, iscol));
    else {
      PetscCall(MatCreateSubMatrixVirtual(A, isrow, iscol, B));
      PetscCall(HopsMatRefuseRows(*B));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  share = pa->tensor->jacobian->preconditioner && pa->needsetup ? PETSC_FALSE : PETSC_TRUE;
  if (share) PetscCall(MatPASetUp_Private(A, pa));
  else PetscCall(MatPASetUpRules(A, pa));
  PetscCall(MatPACheckForm(A, PETSC_FALSE, "A block of fields (MatCreateSubMatrix())"));
  if (reuse != MAT_REUSE_MATRIX) PetscCall(MatCreateBlock_PA(A, pa, isrow, iscol, B));
  PetscCall(MatRefreshBlock_PA(A, pa, share, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Asked for by -pc_fieldsplit_schur_precondition selfp, say */
PetscErrorCode MatProductSetFromOptions_PA(Mat C)
{
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm((PetscObject)C), PETSC_ERR_SUP,
          "Matrix-free operators of type " MATPA
          " are not multiplied: where a Schur complement is preconditioned (-pc_fieldsplit_schur_precondition selfp), use a11 with "
          "a Jacobian function for the preconditioner (PetscDSSetJacobianPreconditioner()), user or self, or leave out "
          "-dm_mat_type " MATPA);
}
