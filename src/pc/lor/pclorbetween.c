/*
  Operators whose unknowns are others than the space's.

  A prolongation P takes the operator's unknowns to those of the space, as a code's constraints of hanging
  nodes do: the operator is P^T A P, and the low-order-refined matrix becomes P^T L P.

  A transformation S takes nodal values, the space's unknowns, to the operator's, as the change to a
  hierarchical basis does: the operator is S^-T A S^-1, and the preconditioner becomes S L^-1 S^T.

  Dirichlet rows are the operator's. With P they are decoupled in P^T L P. With S a node is essential
  where its value changes an unknown with a Dirichlet row; these unknowns are preconditioned by
  themselves.
*/
#include <hops/private/hopslorimpl.h>
#include <hopslor.h>
#include <petsc/private/pcimpl.h>

struct _HopsLORBetween {
  PetscInt     n;         /* owned unknowns of the operator */
  PetscBool    tells;     /* on all ranks alike: a rank without unknowns has no arrays */
  HopsRow     *row;       /* [n] what its rows are, where it tells */
  PetscScalar *q;         /* [n] */
  PetscInt     ness;      /* of the nodes, with a transformation */
  PetscInt    *ess;       /* [ness] owned unknowns of the space */
  Mat          mat;       /* P^T L P */
  Vec          x, xs, ys; /* a vector of the operator, two of the space */
};

PetscErrorCode PCLORBetweenDestroy(PC_LOR *lor)
{
  HopsLORBetween *b = lor->between;

  PetscFunctionBegin;
  if (!b) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(b->row));
  PetscCall(PetscFree(b->q));
  PetscCall(PetscFree(b->ess));
  PetscCall(MatDestroy(&b->mat));
  PetscCall(VecDestroy(&b->x));
  PetscCall(VecDestroy(&b->xs));
  PetscCall(VecDestroy(&b->ys));
  PetscCall(PetscFree(lor->between));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- setters ------------------------------------------- */

static PetscErrorCode PCLORSetBetween(PC pc, Mat A, Mat *where)
{
  PC_LOR *lor = (PC_LOR *)pc->data;

  PetscFunctionBegin;
  if (!A && !*where) PetscFunctionReturn(PETSC_SUCCESS); /* what was set up stays */
  if (A) PetscCall(PetscObjectReference((PetscObject)A));
  PetscCall(MatDestroy(where));
  *where = A;
  PetscCall(PCLORBetweenDestroy(lor));
  PetscCall(KSPReset(lor->ksp)); /* the sizes may change */
  PetscCall(MatDestroy(&lor->mat));
  PetscCall(HopsLORDestroy(&lor->lor));
  pc->setupcalled = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLORSetProlongation_LOR(PC pc, Mat P)
{
  PetscFunctionBegin;
  PetscCall(PCLORSetBetween(pc, P, &((PC_LOR *)pc->data)->prolongation));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLORSetTransformation_LOR(PC pc, Mat S)
{
  PetscFunctionBegin;
  PetscCall(PCLORSetBetween(pc, S, &((PC_LOR *)pc->data)->transformation));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORComposeBetween(PC pc, PetscBool add)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLORSetProlongation_C", add ? PCLORSetProlongation_LOR : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLORSetTransformation_C", add ? PCLORSetTransformation_LOR : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLORSetProlongation - Tells how the unknowns of the space follow from those of the operator, where a
  code has constraints, as for hanging nodes.

  Collective

  Input Parameters:
+ pc - the preconditioner
- P  - an assembled matrix (`MATAIJ`): its rows are the unknowns of the space, its columns those of the
operator; `NULL` for none

  Level: intermediate

  Notes:
  The operator is P^T A P with A on the space, on which all cells have their own nodes at hanging faces.
  So is the low-order-refined matrix. Rows of P that are those of the identity are unknowns without
  constraints. What codes call conforming prolongation (MFEM) or constraints (`AffineConstraints` of
  deal.II) is this matrix.

  The space is created without a list of essential unknowns. The operator's Dirichlet rows are found in
  it; unknowns that P does not use must have such rows. On the host, for H1 and one component.

.seealso: `PCLOR`, `PCLORSetTransformation()`, `HopsSpaceCreateFromNodes()`
@*/
PetscErrorCode PCLORSetProlongation(PC pc, Mat P)
{
  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  if (P) HopsValidHeader(P, MAT_CLASSID, 2);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCLOR));
  PetscTryMethod(pc, "PCLORSetProlongation_C", (PC, Mat), (pc, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLORSetTransformation - Tells how the unknowns of the operator follow from nodal values, where a code's
  basis is another one than that of the Gauss-Lobatto-Legendre nodes.

  Collective

  Input Parameters:
+ pc - the preconditioner
- S  - a matrix of any type with `MatMult()` and `MatMultTranspose()`: its rows are the unknowns of the
operator, its columns those of the space; `NULL` for none

  Level: intermediate

  Notes:
  The preconditioner is S L^-1 S^T, L the low-order-refined matrix of nodal values: as good as L is for
  the operator of a nodal basis, where both bases span the same polynomials.

  The operator's Dirichlet rows are found in it. Nodes whose values change unknowns with such rows are
  essential; where the space has a list, it must be of these. Unknowns without Dirichlet rows must follow
  from some node that is free. On the host, for H1 and one component. The operator's
  diagonal is not that of nodal values and does not scale: tell the coefficients where they vary
  (`PCLORSetCoefficients()`).

.seealso: `PCLOR`, `PCLORSetProlongation()`, `PCLORSetCoefficients()`
@*/
PetscErrorCode PCLORSetTransformation(PC pc, Mat S)
{
  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  if (S) HopsValidHeader(S, MAT_CLASSID, 2);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCLOR));
  PetscTryMethod(pc, "PCLORSetTransformation_C", (PC, Mat), (pc, S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- set-up ------------------------------------------- */

static PetscErrorCode PCLORBetweenCheck(PC pc, PC_LOR *lor, HopsSpace sp)
{
  const PetscBool prolong = lor->prolongation ? PETSC_TRUE : PETSC_FALSE;
  Mat             A       = prolong ? lor->prolongation : lor->transformation;
  MPI_Comm        comm    = PetscObjectComm((PetscObject)pc);
  PetscInt        n, m[2], nodes;
  PetscBool       ok;

  PetscFunctionBegin;
  PetscCheck(!lor->prolongation || !lor->transformation, comm, PETSC_ERR_SUP,
             "PCLORSetProlongation() and PCLORSetTransformation() at once are not supported: give one of them NULL");
  PetscCheck(sp->family == HOPS_H1 && PetscMemTypeHost(sp->backend->memtype), comm, PETSC_ERR_SUP,
             "%s is for H1 on the host: use -hops_backend host", prolong ? "PCLORSetProlongation()" : "PCLORSetTransformation()");
  PetscCall(MatGetLocalSize(pc->pmat, &n, NULL));
  PetscCall(MatGetLocalSize(A, &m[0], &m[1]));
  nodes = prolong ? m[0] : m[1];
  ok    = nodes == sp->nT && (prolong ? m[1] : m[0]) == n ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &ok, 1, HOPS_MPI_BOOL, MPI_LAND, comm));
  PetscCheck(ok, comm, PETSC_ERR_ARG_SIZ,
             "The %s must have a %s for each unknown of the space and a %s for each of the operator, "
             "distributed as these are",
             prolong ? "prolongation" : "transformation", prolong ? "row" : "column", prolong ? "column" : "row");
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &ok, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCheck(ok || !prolong, comm, PETSC_ERR_SUP, "The prolongation has type %s: convert it to MATAIJ (MatConvert())",
             ((PetscObject)A)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nodes whose values change unknowns with Dirichlet rows: where S^T e is not zero, e random there and zero
   elsewhere */
static PetscErrorCode PCLORBetweenFindNodes(PC_LOR *lor, HopsSpace sp, PetscBool ess[])
{
  HopsLORBetween *b = lor->between;
  PetscReal       most;
  PetscScalar    *a;

  PetscFunctionBegin;
  PetscCall(PCLORSetRandom(b->x));
  PetscCall(VecGetArray(b->x, &a));
  for (PetscInt i = 0; i < b->n; ++i)
    if (b->row[i] != HOPS_ROW_DIAGONAL) a[i] = 0.0;
  PetscCall(VecRestoreArray(b->x, &a));
  PetscCall(MatMultTranspose(lor->transformation, b->x, b->xs));
  PetscCall(VecNorm(b->xs, NORM_INFINITY, &most));
  PetscCall(VecGetArray(b->xs, &a));
  for (PetscInt i = 0; i < sp->nT; ++i) ess[i] = PetscAbsScalar(a[i]) > 1e-10 * most ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(VecRestoreArray(b->xs, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A list that the user gave has these nodes and no others */
static PetscErrorCode PCLORBetweenCheckList(PC pc, PC_LOR *lor, HopsSpace sp, const PetscBool ess[])
{
  char     why[HOPS_WHY_LENGTH] = "";
  PetscInt next                 = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < sp->nT; ++i) {
    const PetscBool listed = PCLORIsListed(sp, i, &next);

    if (listed != ess[i])
      PetscCall(HopsRefuse(why,
                           "Node %" PetscInt_FMT
                           " is %s the space's list of essential unknowns, and the transformation takes it to "
                           "%s unknown with a Dirichlet row of the operator: list all such nodes, or none, and %s finds them",
                           sp->rstart + i, listed ? "in" : "not in", listed ? "no" : "an", lor->name));
  }
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An unknown that no free node changes would never be corrected: y = S r, r random on free nodes */
static PetscErrorCode PCLORBetweenCheckRows(PC pc, PC_LOR *lor, HopsSpace use)
{
  HopsLORBetween *b                    = lor->between;
  char            why[HOPS_WHY_LENGTH] = "";
  PetscInt        start;
  PetscScalar    *a;

  PetscFunctionBegin;
  PetscCall(PCLORSetRandom(b->xs));
  PetscCall(VecGetArray(b->xs, &a));
  for (PetscInt e = 0; e < use->ness && b->tells; ++e) a[use->essT[e]] = 0.0;
  PetscCall(VecRestoreArray(b->xs, &a));
  PetscCall(MatMult(lor->transformation, b->xs, b->x));
  PetscCall(VecGetOwnershipRange(b->x, &start, NULL));
  PetscCall(VecGetArray(b->x, &a));
  for (PetscInt i = 0; i < b->n; ++i)
    if (a[i] == 0.0 && (!b->tells || b->row[i] != HOPS_ROW_DIAGONAL))
      PetscCall(
        HopsRefuse(why,
                   "The transformation takes no free node to unknown %" PetscInt_FMT
                   " of the operator, whose row is not Dirichlet: its row of the matrix (PCLORSetTransformation()) is zero, or "
                   "all its nodes are essential",
                   start + i));
  PetscCall(VecRestoreArray(b->x, &a));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The space with these nodes, or with those that it has, which must be these */
static PetscErrorCode PCLORBetweenSetNodes(PC pc, PC_LOR *lor, HopsSpace sp, PetscBool listed, HopsSpace *use)
{
  HopsLORBetween *b = lor->between;
  PetscBool      *ess;

  PetscFunctionBegin;
  if (b->tells) {
    PetscCall(PetscMalloc1(sp->nT, &ess));
    PetscCall(PCLORBetweenFindNodes(lor, sp, ess));
    if (listed) PetscCall(PCLORBetweenCheckList(pc, lor, sp, ess));
    else {
      PetscCall(PCLORSetFound(lor, sp, ess));
      *use = lor->found;
    }
    PetscCall(PetscFree(ess));
  }
  PetscCall(PCLORBetweenCheckRows(pc, lor, *use));
  b->ness = (*use)->ness;
  PetscCall(PetscMalloc1(b->ness, &b->ess));
  PetscCall(PetscArraycpy(b->ess, (*use)->essT, b->ness));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORBetweenFind(PC pc, PC_LOR *lor, HopsSpace sp, HopsSpace *use)
{
  HopsLORBetween *b;
  PetscInt64      ness = sp->ness, ndiagonal = 0;
  PetscBool       tell;

  PetscFunctionBegin;
  PetscCall(PCLORBetweenDestroy(lor));
  PetscCall(PCLORBetweenCheck(pc, lor, sp));
  PetscCall(PetscNew(&lor->between));
  b    = lor->between;
  *use = sp;
  PetscCall(MatGetLocalSize(pc->pmat, &b->n, NULL));
  PetscCall(MatCreateVecs(pc->pmat, &b->x, NULL));
  PetscCall(HopsSpaceCreateVec(sp, &b->xs));
  PetscCall(VecDuplicate(b->xs, &b->ys));
  PetscCall(PCLORRowsTell(pc, lor, NULL, sp, 0, &tell));
  b->tells = tell;
  if (tell) {
    PetscCall(PetscMalloc1(b->n, &b->row));
    PetscCall(PetscMalloc1(b->n, &b->q));
    PetscCall(PCLORFindRows(pc->pmat, b->n, b->row, b->q, &ndiagonal));
    PetscCall(PCLORRefuseZeroRows(pc, b->n, b->row));
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &ness, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscCheck(!ness || !lor->prolongation, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The space has a list of essential unknowns, and the operator's are others (PCLORSetProlongation()): create the space "
             "without a list, and %s finds the operator's Dirichlet rows",
             lor->name);
  lor->nfound = (PetscInt)ndiagonal;
  if (tell && lor->prolongation) PetscCall(PCLORSetDirichlet(lor, b->n, b->row, b->q));
  if (lor->transformation) PetscCall(PCLORBetweenSetNodes(pc, lor, sp, ness ? PETSC_TRUE : PETSC_FALSE, use));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P^T L P, whose rows of the operator's Dirichlet unknowns are those of the identity */
static PetscErrorCode PCLORBetweenProduct(PC pc, PC_LOR *lor)
{
  HopsLORBetween *b                    = lor->between;
  char            why[HOPS_WHY_LENGTH] = "";
  Mat             P;
  Vec             one, diagonal;
  PetscScalar    *a;
  PetscInt        start;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&b->mat));
  PetscCall(MatDuplicate(lor->prolongation, MAT_COPY_VALUES, &P));
  PetscCall(VecDuplicate(b->x, &one));
  for (PetscInt k = 0; k < 2; ++k) { /* columns of P; then entries of the diagonal */
    PetscCall(VecGetArrayWrite(one, &a));
    for (PetscInt i = 0; i < b->n; ++i) a[i] = (b->row && b->row[i] == HOPS_ROW_DIAGONAL) == (k == 1) ? 1.0 : 0.0;
    PetscCall(VecRestoreArrayWrite(one, &a));
    if (k) {
      PetscCall(MatSetOption(b->mat, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
      PetscCall(MatDiagonalSet(b->mat, one, ADD_VALUES));
    } else {
      PetscCall(MatDiagonalScale(P, NULL, one));
      PetscCall(MatPtAP(lor->lor.mat, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &b->mat));
    }
  }
  PetscCall(MatDestroy(&P));
  PetscCall(VecDuplicate(b->x, &diagonal));
  PetscCall(MatGetDiagonal(b->mat, diagonal));
  PetscCall(VecGetOwnershipRange(diagonal, &start, NULL));
  PetscCall(VecGetArray(diagonal, &a));
  for (PetscInt i = 0; i < b->n; ++i)
    if (a[i] == 0.0)
      PetscCall(HopsRefuse(why,
                           "Unknown %" PetscInt_FMT
                           " of the operator is used by no row of the prolongation and has no Dirichlet row: leave it out of the "
                           "operator, or give it a row with a diagonal entry alone",
                           start + i));
  PetscCall(VecRestoreArray(diagonal, &a));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP, why));
  PetscCall(VecDestroy(&diagonal));
  PetscCall(VecDestroy(&one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLORBetweenZero(HopsLORBetween *b, Vec v)
{
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(VecGetArray(v, &a));
  for (PetscInt e = 0; e < b->ness; ++e) a[b->ess[e]] = 0.0;
  PetscCall(VecRestoreArray(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As PCLORCheckConstants(): where the matrix takes what is constant on free unknowns to zero, so must the
   operator. Rows of unknowns that P does not use look like Dirichlet rows */
static PetscErrorCode PCLORBetweenCheckConstants(PC pc, PC_LOR *lor)
{
  HopsLORBetween *b = lor->between;
  MatNullSpace    nsp;
  PetscBool       mffd, mult;
  PetscReal       ratio;
  PetscScalar    *a;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(pc->pmat, &nsp));
  if (!nsp) PetscCall(MatGetNullSpace(pc->mat, &nsp));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->pmat, MATMFFD, &mffd));
  PetscCall(MatHasOperation(pc->pmat, MATOP_MULT, &mult));
  if (nsp || mffd || !mult) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecSet(b->xs, 1.0));
  PetscCall(PCLORBetweenZero(b, b->xs));
  PetscCall(VecGetArrayWrite(b->x, &a));
  for (PetscInt i = 0; i < b->n; ++i) a[i] = b->row && b->row[i] == HOPS_ROW_DIAGONAL ? 0.0 : 1.0;
  PetscCall(VecRestoreArrayWrite(b->x, &a));
  PetscCall(PCLORTakes(b->mat ? b->mat : lor->lor.mat, b->mat ? b->x : b->xs, &ratio));
  if (ratio > 1e-10) PetscFunctionReturn(PETSC_SUCCESS);
  if (lor->transformation) PetscCall(MatMult(lor->transformation, b->xs, b->x));
  PetscCall(PCLORTakes(pc->pmat, b->x, &ratio));
  PetscCheck(ratio <= 1e-6, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "The low-order-refined matrix is singular (it takes constants to zero) and the operator is not: it has no Dirichlet "
             "rows, "
             "and the form no mass. Give %sSetCoefficients() (-pc_lor_mass) the mass; where the operator is singular, attach its "
             "null "
             "space (MatSetNullSpace())",
             lor->name);
  SETERRQ(PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
          "The operator takes constants to zero: attach its null space (MatSetNullSpace()), without which the inner solver inverts "
          "rounding errors");
}

/* P with squared entries, times a vector of the space, transposed */
static PetscErrorCode PCLORBetweenSquares(Mat P, Vec x, Vec y)
{
  Mat       Q, part[2] = {NULL, NULL};
  PetscBool seq;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(P, MAT_COPY_VALUES, &Q));
  PetscCall(PetscObjectTypeCompare((PetscObject)Q, MATSEQAIJ, &seq));
  if (seq) part[0] = Q;
  else PetscCall(MatMPIAIJGetSeqAIJ(Q, &part[0], &part[1], NULL));
  for (PetscInt k = 0; k < 2 && part[k]; ++k) {
    PetscScalar *a;
    MatInfo      info;

    PetscCall(MatGetInfo(part[k], MAT_LOCAL, &info));
    PetscCall(MatSeqAIJGetArray(part[k], &a));
    for (PetscInt i = 0; i < (PetscInt)info.nz_used; ++i) a[i] *= a[i];
    PetscCall(MatSeqAIJRestoreArray(part[k], &a));
  }
  PetscCall(MatMultTranspose(Q, x, y));
  PetscCall(MatDestroy(&Q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  r: the diagonal of P^T A P by that of P^T L P, times what the diagonals of A and L are to each other at
  the nodes that an unknown is used by. Where an unknown is one node it is exact; d is the diagonal of A.
*/
PetscErrorCode PCLORBetweenDiagonal(PC_LOR *lor, Vec d, Vec r)
{
  HopsLORBetween    *b = lor->between;
  Vec                s[2];
  PetscScalar       *ra;
  const PetscScalar *sa[2];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < 2; ++k) PetscCall(VecDuplicate(r, &s[k]));
  PetscCall(PCLORBetweenSquares(lor->prolongation, d, s[0]));
  PetscCall(MatGetDiagonal(lor->lor.mat, b->xs));
  PetscCall(PCLORBetweenSquares(lor->prolongation, b->xs, s[1]));
  PetscCall(MatGetDiagonal(b->mat, r));
  for (PetscInt k = 0; k < 2; ++k) PetscCall(VecGetArrayRead(s[k], &sa[k]));
  PetscCall(VecGetArray(r, &ra));
  for (PetscInt i = 0; i < b->n; ++i)
    if (!b->row || b->row[i] != HOPS_ROW_DIAGONAL) ra[i] *= sa[0][i] / sa[1][i];
  PetscCall(VecRestoreArray(r, &ra));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(VecRestoreArrayRead(s[k], &sa[k]));
    PetscCall(VecDestroy(&s[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *mat: what the inner solver gets, borrowed */
PetscErrorCode PCLORBetweenSetUp(PC pc, PC_LOR *lor, Mat *mat)
{
  PetscFunctionBegin;
  if (lor->prolongation) PetscCall(PCLORBetweenProduct(pc, lor));
  PetscCall(PCLORBetweenCheckConstants(pc, lor));
  PetscCall(MatDestroy(&lor->mat)); /* its pattern may be another one */
  *mat = lor->between->mat ? lor->between->mat : lor->lor.mat;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- action ------------------------------------------- */

/* The vectors of the inner solver for these of the operator; the transposed action is the same */
PetscErrorCode PCLORBetweenBegin(PC_LOR *lor, Vec x, Vec y, Vec *xi, Vec *yi)
{
  HopsLORBetween *b = lor->between;
  PetscScalar    *a;

  PetscFunctionBegin;
  *xi = x;
  *yi = y;
  if (!b || !lor->transformation) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCopy(x, b->x));
  PetscCall(VecGetArray(b->x, &a));
  for (PetscInt i = 0; i < b->n && b->row; ++i)
    if (b->row[i] == HOPS_ROW_DIAGONAL) a[i] = 0.0;
  PetscCall(VecRestoreArray(b->x, &a));
  PetscCall(MatMultTranspose(lor->transformation, b->x, b->xs));
  PetscCall(PCLORBetweenZero(b, b->xs));
  *xi = b->xs;
  *yi = b->ys;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORBetweenEnd(PC_LOR *lor, Vec x, Vec y)
{
  HopsLORBetween    *b = lor->between;
  const PetscScalar *xa;
  PetscScalar       *ya;

  PetscFunctionBegin;
  if (!b || !lor->transformation) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCLORBetweenZero(b, b->ys));
  PetscCall(MatMult(lor->transformation, b->ys, y));
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArray(y, &ya));
  for (PetscInt i = 0; i < b->n && b->row; ++i)
    if (b->row[i] == HOPS_ROW_DIAGONAL) ya[i] = xa[i] / b->q[i];
  PetscCall(VecRestoreArray(y, &ya));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORBetweenView(PC_LOR *lor, PetscViewer viewer)
{
  PetscInt rows, columns;

  PetscFunctionBegin;
  if (!lor->between) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(lor->prolongation ? lor->prolongation : lor->transformation, &rows, &columns));
  if (lor->prolongation)
    PetscCall(
      PetscViewerASCIIPrintf(viewer, "with a prolongation from %" PetscInt_FMT " unknowns of the operator: P^T L P\n", columns));
  else
    PetscCall(
      PetscViewerASCIIPrintf(viewer, "with a transformation to %" PetscInt_FMT " unknowns of the operator: S L^-1 S^T\n", rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
