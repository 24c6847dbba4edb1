/* The space that PCLOR and PCPATCHFD work on: the user's, a MATPA operator's, or one that a matrix or a DM
   carries. */
#include <hops/private/hopslorimpl.h>
#include <hopslor.h>
#include <petsc/private/pcimpl.h>

const char *const HopsSourceNames[] = {"none",
                                       "the MATPA operator",
                                       "the user's SetSpace()",
                                       "the DM's PetscFE and PetscDS",
                                       "the operator (MatSetHopsSpace())",
                                       "the DM (DMSetHopsSpace())"};

/* *sp: borrowed, or NULL where a DMPlex may have one */
PetscErrorCode PCLORFindSpace(PC pc, PC_LOR *lor, const Mat_PA *pa, HopsSpace *sp, HopsSource *source)
{
  Mat mat[2] = {pc->pmat, pc->mat};
  DM  dm[3];

  PetscFunctionBegin;
  *sp     = lor->userspace ? lor->userspace : (pa ? pa->form->space : NULL);
  *source = lor->userspace ? HOPS_SOURCE_USER : HOPS_SOURCE_MATPA;
  if (*sp) PetscFunctionReturn(PETSC_SUCCESS);
  *source = HOPS_SOURCE_MAT;
  for (PetscInt i = 0; i < 2 && !*sp; ++i) PetscCall(MatGetHopsSpace(mat[i], sp));
  if (*sp) PetscFunctionReturn(PETSC_SUCCESS);
  *source = HOPS_SOURCE_DMSPACE;
  PetscCall(PCGetDM(pc, &dm[0]));
  for (PetscInt i = 0; i < 2; ++i) PetscCall(MatGetDM(mat[i], &dm[1 + i]));
  for (PetscInt i = 0; i < 3 && !*sp; ++i)
    if (dm[i]) PetscCall(DMGetHopsSpace(dm[i], sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -pc_lor_diffusion, -pc_lor_mass: what PCLORSetCoefficients() gets, of constants */
PetscErrorCode PCLORSetFromOptionsConstants(PC pc, HopsOptionItems PetscOptionsObject)
{
  PetscReal       value[2] = {1.0, 0.0};
  HopsCoefficient cf[2]    = {NULL, NULL};
  PetscBool       set[2];

  PetscFunctionBegin;
  PetscCall(PetscOptionsReal("-pc_lor_diffusion",
                             "Constant coefficient of the diffusion term, in place of what is known of the form",
                             "PCLORSetCoefficients", value[0], &value[0], &set[0]));
  PetscCall(PetscOptionsReal("-pc_lor_mass", "Constant coefficient of the mass term, in place of what is known of the form",
                             "PCLORSetCoefficients", value[1], &value[1], &set[1]));
  if (!set[0] && !set[1]) PetscFunctionReturn(PETSC_SUCCESS);
  ((PC_LOR *)pc->data)->massless = !set[1];
  for (PetscInt i = 0; i < 2; ++i) {
    const PetscScalar constant = value[i];

    PetscCheck(value[i] >= 0.0 && !PetscIsInfReal(value[i]), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_lor_%s is %g, but must be finite and not negative", i ? "mass" : "diffusion", (double)value[i]);
    if (value[i] > 0.0) PetscCall(HopsCoefficientCreateConstant(PetscObjectComm((PetscObject)pc), 1, &constant, &cf[i]));
  }
  PetscCheck(cf[0] || cf[1], PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_lor_diffusion and -pc_lor_mass are both zero: give one of them a positive value");
  PetscCall(PCLORSetCoefficients(pc, cf[0], cf[1]));
  ((PC_LOR *)pc->data)->assumed = set[0] ? PETSC_FALSE : PETSC_TRUE; /* after the call, which takes it for told */
  for (PetscInt i = 0; i < 2; ++i) PetscCall(HopsCoefficientDestroy(&cf[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------- rows of the operator ------------------------------------- */

PetscErrorCode PCLORSetRandom(Vec v)
{
  PetscRandom random;

  PetscFunctionBegin;
  PetscCall(PetscRandomCreate(PetscObjectComm((PetscObject)v), &random));
  PetscCall(PetscRandomSetInterval(random, 1.0, 2.0));
  PetscCall(VecSetRandom(v, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the rows are: where two vectors of random numbers have the same quotient q of product and entry */
PetscErrorCode PCLORFindRows(Mat A, PetscInt n, HopsRow row[], PetscScalar q[], PetscInt64 *ndiagonal)
{
  const PetscReal    tol = 1e-12; /* above rounding errors; a row that couples passes once in 1e12 */
  Vec                x, y;
  PetscRandom        random;
  const PetscScalar *ax, *ay;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(PetscRandomCreate(PetscObjectComm((PetscObject)A), &random));
  PetscCall(PetscRandomSetType(random, PETSCRAND48)); /* PETSc's other generators may give one number many times */
  PetscCall(PetscRandomSetInterval(random, 1.0, 2.0));
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(VecSetRandom(x, random));
    PetscCall(MatMult(A, x, y));
    PetscCall(VecGetArrayRead(x, &ax));
    PetscCall(VecGetArrayRead(y, &ay));
    for (PetscInt i = 0; i < n; ++i) {
      const PetscScalar p = ay[i] / ax[i];

      if (!k) q[i] = p;
      else if (p == 0.0 && q[i] == 0.0) row[i] = HOPS_ROW_ZERO;
      else row[i] = PetscAbsScalar(p - q[i]) <= tol * PetscAbsScalar(p) ? HOPS_ROW_DIAGONAL : HOPS_ROW_COUPLED;
    }
    PetscCall(VecRestoreArrayRead(x, &ax));
    PetscCall(VecRestoreArrayRead(y, &ay));
  }
  *ndiagonal = 0;
  for (PetscInt i = 0; i < n; ++i) *ndiagonal += row[i] == HOPS_ROW_DIAGONAL;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, ndiagonal, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)A)));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORTakes(Mat A, Vec c, PetscReal *ratio)
{
  Vec       r, y;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &r, &y));
  PetscCall(PCLORSetRandom(r));
  PetscCall(MatMult(A, r, y));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCall(MatMult(A, c, y));
  PetscCall(VecNorm(y, NORM_INFINITY, ratio));
  *ratio = norm > 0.0 ? *ratio / norm : 0.0;
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Can products tell? Not those of finite differences; an attached null space says that the user knows of the
   kernels of both; a MATPA on this space is its own form */
PetscErrorCode PCLORRowsTell(PC pc, PC_LOR *lor, const Mat_PA *pa, HopsSpace sp, PetscInt nc, PetscBool *yes)
{
  MatNullSpace nsp[2];
  PetscBool    mffd, mult, sizes;
  PetscInt     n;

  PetscFunctionBegin;
  *yes = PETSC_FALSE;
  if (sp->family != HOPS_H1 || sp->dm || (pa && pa->form->space == sp)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetNullSpace(pc->pmat, &nsp[0]));
  PetscCall(MatGetNullSpace(pc->mat, &nsp[1]));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->pmat, MATMFFD, &mffd));
  PetscCall(MatHasOperation(pc->pmat, MATOP_MULT, &mult));
  if (nsp[0] || nsp[1] || !mult) PetscFunctionReturn(PETSC_SUCCESS);
  if (mffd) {
    PetscCall(MPIU_Allreduce(&sp->ness, &n, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)pc)));
    PetscCheck(n || lor->usermass, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
               "The space has no list of essential unknowns, and products by finite differences (MATMFFD) do not show Dirichlet "
               "rows: list them (the last arguments of HopsSpaceCreateFromArrays()), or attach the operator's null space "
               "(MatSetNullSpace())");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetLocalSize(pc->pmat, &n, NULL));
  sizes = !nc || n == nc * sp->nT ? PETSC_TRUE : PETSC_FALSE; /* else refused later */
  PetscCall(MPIU_Allreduce(&sizes, yes, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A list that the user gave has all Dirichlet rows of the operator, and no others: rows of zeros do, which
   an operator that masks vectors has */
static PetscErrorCode PCLORCheckList(PC pc, PC_LOR *lor, HopsSpace sp, const HopsRow row[])
{
  char     why[HOPS_WHY_LENGTH] = "";
  PetscInt next                 = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < sp->nT; ++i) {
    const PetscBool listed = PCLORIsListed(sp, i, &next);

    if (row[i] == HOPS_ROW_COUPLED && listed)
      PetscCall(HopsRefuse(why,
                           "Unknown %" PetscInt_FMT
                           " is in the space's list of essential unknowns, and its row of the operator couples it to others: leave "
                           "it out of the list, or make the row Dirichlet (MatZeroRowsColumns()); without a list %s finds the "
                           "Dirichlet rows in the operator",
                           sp->rstart + i, lor->name));
    if (row[i] == HOPS_ROW_DIAGONAL && !listed)
      PetscCall(HopsRefuse(why,
                           "Row %" PetscInt_FMT
                           " of the operator is a Dirichlet row (it has a diagonal entry alone), and the space's "
                           "list of essential unknowns is without it: list all of them, or none, and %s finds them in the operator",
                           sp->rstart + i, lor->name));
  }
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORSetDirichlet(PC_LOR *lor, PetscInt n, const HopsRow row[], const PetscScalar q[])
{
  PetscFunctionBegin;
  PetscCall(PetscFree(lor->dirichlet));
  PetscCall(PetscMalloc1(n, &lor->dirichlet));
  for (PetscInt i = 0; i < n; ++i) lor->dirichlet[i] = row[i] == HOPS_ROW_DIAGONAL ? q[i] : 1.0;
  lor->ndirichlet = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORRefuseZeroRows(PC pc, PetscInt n, const HopsRow row[])
{
  char     why[HOPS_WHY_LENGTH] = "";
  PetscInt start;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(pc->pmat, &start, NULL));
  for (PetscInt i = 0; i < n; ++i)
    if (row[i] == HOPS_ROW_ZERO)
      PetscCall(HopsRefuse(why,
                           "Row %" PetscInt_FMT
                           " of the operator is zero: give it a diagonal entry if its unknown is essential or not "
                           "in use, or attach the operator's null space (MatSetNullSpace())",
                           start + i));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The space with the found unknowns, made anew when they are others than last time */
PetscErrorCode PCLORSetFound(PC_LOR *lor, HopsSpace sp, const PetscBool ess[])
{
  PetscBool same = lor->foundof == sp ? PETSC_TRUE : PETSC_FALSE;
  PetscInt  next = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < sp->nT && same; ++i) {
    const PetscBool was = next < lor->found->ness && lor->found->essT[next] == i ? PETSC_TRUE : PETSC_FALSE;

    if (was != ess[i]) same = PETSC_FALSE;
    next += was ? 1 : 0;
  }
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &same, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)sp)));
  if (!same) {
    PetscCall(PCLORResetFound(lor));
    PetscCall(HopsSpaceCreateEssential_Private(sp, ess, &lor->found));
    PetscCall(HopsSpaceReference(sp));
    lor->foundof = sp;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORResetFound(PC_LOR *lor)
{
  PetscFunctionBegin;
  PetscCall(HopsSpaceDestroy(&lor->found));
  PetscCall(HopsSpaceDestroy(&lor->foundof));
  PetscCall(PetscFree(lor->dirichlet));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The essential unknowns of a space from arrays without a list are the operator's Dirichlet rows: *use is then
  a space with these. All rows may be such: the operator is diagonal, and nothing is known.
*/
PetscErrorCode PCLORFindEssential(PC pc, PC_LOR *lor, const Mat_PA *pa, HopsSpace sp, HopsSpace *use)
{
  PetscInt64   ness = sp->ness, ndiagonal;
  PetscBool    tell, diagonal, *ess;
  PetscScalar *q;
  HopsRow     *row;

  PetscFunctionBegin;
  *use = sp;
  PetscCall(PCLORRowsTell(pc, lor, pa, sp, 1, &tell));
  if (!tell) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc3(sp->nT, &row, sp->nT, &ess, sp->nT, &q));
  PetscCall(PCLORFindRows(pc->pmat, sp->nT, row, q, &ndiagonal));
  for (PetscInt i = 0; i < sp->nT; ++i) ess[i] = row[i] == HOPS_ROW_DIAGONAL ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &ness, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)sp)));
  diagonal = ndiagonal == sp->N ? PETSC_TRUE : PETSC_FALSE;
  if (ness && !diagonal) PetscCall(PCLORCheckList(pc, lor, sp, row));
  if (!ness) {
    PetscCall(PCLORRefuseZeroRows(pc, sp->nT, row));
    if (ndiagonal) {
      PetscCall(PCLORSetFound(lor, sp, ess));
      lor->nfound = (PetscInt)ndiagonal;
      *use        = lor->found;
    }
  }
  if (!ness || !diagonal) PetscCall(PCLORSetDirichlet(lor, sp->nT, row, q));
  PetscCall(PetscFree3(row, ess, q));
  PetscFunctionReturn(PETSC_SUCCESS);
}
