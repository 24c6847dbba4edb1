/*
  Do the operator and the low-order-refined matrix have the same essential unknowns? Only constants can tell,
  and they are what matters: where they are in the kernel of the matrix and not in the operator's, the
  preconditioner loses them, residuals look small, and a Krylov method ends with a wrong solution.
*/
#include <hops/private/hopslorblockimpl.h>
#include <petsc/private/pcimpl.h>

/*
  r = A 1 by rows: the largest |r_i| / |d_i|, d the diagonal of A or, where A has none, the given one; and the
  sums of r and |r|. The sum is the energy of the constant, which convection through a boundary leaves alone
  where it is free of sources, while Dirichlet rows, mass and Robin terms add to it. Vectors are the space's,
  or where it is NULL the matrix's.
*/
static PetscErrorCode PCLORConstants(Mat A, HopsSpace sp, Vec other, PetscReal *worst, PetscReal sum[2])
{
  Vec                x, r, d = NULL;
  const PetscScalar *ra, *da;
  PetscInt           n;
  PetscBool          has;
  PetscReal          local[2] = {0.0, 0.0}, big = 0.0;

  PetscFunctionBegin;
  if (sp) {
    PetscCall(HopsSpaceCreateVec(sp, &x));
    PetscCall(VecDuplicate(x, &r));
  } else PetscCall(MatCreateVecs(A, &x, &r));
  PetscCall(VecSet(x, 1.0));
  PetscCall(MatMult(A, x, r));
  PetscCall(MatHasOperation(A, MATOP_GET_DIAGONAL, &has));
  if (has || !other) {
    d = x;
    PetscCall(MatGetDiagonal(A, d));
  } else d = other;
  PetscCall(VecGetLocalSize(r, &n));
  PetscCall(VecGetArrayRead(r, &ra));
  PetscCall(VecGetArrayRead(d, &da));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscReal a = PetscAbsScalar(ra[i]), b = PetscAbsScalar(da[i]);

    if (a > 0.0) big = PetscMax(big, b > 0.0 ? a / b : PETSC_MAX_REAL);
    local[0] += PetscRealPart(ra[i]);
    local[1] += a;
  }
  PetscCall(VecRestoreArrayRead(r, &ra));
  PetscCall(VecRestoreArrayRead(d, &da));
  PetscCall(MPIU_Allreduce(&big, worst, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)A)));
  PetscCall(MPIU_Allreduce(local, sum, 2, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)A)));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator to compare with, or NULL: none of the form's own, nor one whose products have the errors of
   finite differences. *look: can the matrix be singular, and nobody said so? Not where the form leaves
   terms out */
static PetscErrorCode PCLORComparable(PC pc, PC_LOR *lor, PetscBool *look, Mat *with)
{
  MatNullSpace nsp;
  PetscBool    own, mffd, mult;

  PetscFunctionBegin;
  *with = NULL;
  PetscCall(MatGetNullSpace(lor->mat, &nsp)); /* the operator's */
  *look = !nsp && lor->form->space->family == HOPS_H1 && !lor->ignoreconvection && !lor->ignoreboundary ? PETSC_TRUE : PETSC_FALSE;
  if (!*look) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->pmat, MATPA, &own));
  if (lor->userdiffusion || lor->usermass) own = PETSC_FALSE;
  if (own && pc->mat == pc->pmat) PetscFunctionReturn(PETSC_SUCCESS);
  *with = own ? pc->mat : pc->pmat;
  PetscCall(PetscObjectTypeCompare((PetscObject)*with, MATMFFD, &mffd));
  PetscCall(MatHasOperation(*with, MATOP_MULT, &mult));
  if (mffd || !mult) *with = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator is singular and nobody said so: the inner solver must know, or it inverts rounding errors and
   a Krylov method ends with a wrong solution */
static PetscErrorCode PCLORSetConstants(PC pc, PC_LOR *lor)
{
  MatNullSpace nsp;

  PetscFunctionBegin;
  PetscCall(PetscInfo(pc, "operator and low-order-refined matrix take constants to zero: it gets the null space of constants\n"));
  PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)pc), PETSC_TRUE, 0, NULL, &nsp));
  PetscCall(MatSetNullSpace(lor->mat, nsp));
  PetscCall(MatNullSpaceDestroy(&nsp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORCheckConstants(PC pc, PC_LOR *lor)
{
  const PetscReal zero = 1e-10, some = 1e-6; /* rounding errors stay below the one; Dirichlet rows have 1 */
  MPI_Comm        comm = PetscObjectComm((PetscObject)pc);
  PetscInt        ness;
  PetscReal       worst, sum[2];
  PetscBool       look = PETSC_FALSE, singular;
  Vec             d    = NULL;
  Mat             with;

  PetscFunctionBegin;
  PetscCall(PCLORComparable(pc, lor, &look, &with));
  if (!look) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MPIU_Allreduce(&lor->form->space->ness, &ness, 1, MPIU_INT, MPI_SUM, comm));
  if (!with && (ness || HopsFormValue(lor->form) || HopsFormHas(lor->form, HOPS_BOUNDARY))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCLORConstants(lor->lor.mat, lor->form->space, NULL, &worst, sum));
  singular = worst <= zero ? PETSC_TRUE : PETSC_FALSE;
  if (!with && singular) PetscCall(PCLORSetConstants(pc, lor));
  if (!with || (!singular && !ness)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsSpaceCreateVec(lor->form->space, &d));
  PetscCall(MatGetDiagonal(lor->lor.mat, d));
  PetscCall(PCLORConstants(with, NULL, d, &worst, sum));
  PetscCall(VecDestroy(&d));
  PetscCheck(!singular || worst <= some || PetscAbsReal(sum[0]) < 0.01 * sum[1], comm, PETSC_ERR_ARG_INCOMP,
             "The low-order-refined matrix is singular (it takes constants to zero) and the operator is not: the space has no "
             "essential unknowns, the form no mass and no Robin term. Give the space the essential unknowns (the last arguments of "
             "HopsSpaceCreateFromArrays(); of a DM, DMAddBoundary() and its section), or %sSetCoefficients() (-pc_lor_mass) the "
             "mass; "
             "where the operator is singular, attach its null space (MatSetNullSpace())",
             lor->name);
  PetscCheck(singular || worst > zero, comm, PETSC_ERR_ARG_INCOMP,
             "The operator is singular (it takes constants to zero), and the low-order-refined matrix is not: the space has "
             "%" PetscInt_FMT " essential unknowns, whose rows of the operator are not those of the identity. Make the operator's "
             "rows and the space agree, "
             "or attach the operator's null space (MatSetNullSpace())",
             ness);
  if (singular && worst <= some) PetscCall(PCLORSetConstants(pc, lor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same of a sum over operators with the matrix `sum`; can it be singular by what its forms say? */
PetscErrorCode PCLORCheckConstantsSum(PC pc, PC_LOR *lor, Mat sum, PetscBool look)
{
  MatNullSpace nsp;
  PetscReal    worst, sums[2];
  PetscBool    mult;
  Vec          d;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(lor->mat, &nsp));
  if (nsp || !look) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCLORConstants(sum, NULL, NULL, &worst, sums));
  if (worst > 1e-10) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHasOperation(pc->mat, MATOP_MULT, &mult));
  if (pc->mat != pc->pmat && mult) {
    PetscCall(MatCreateVecs(sum, &d, NULL));
    PetscCall(MatGetDiagonal(sum, d));
    PetscCall(PCLORConstants(pc->mat, NULL, d, &worst, sums));
    PetscCall(VecDestroy(&d));
    PetscCheck(worst <= 1e-6, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
               "The preconditioning matrix takes constants to zero and the operator does not: give the preconditioning matrix's "
               "operators a mass term, or the sum essential unknowns; where the operator is singular, attach its null space "
               "(MatSetNullSpace())");
  }
  PetscCall(PCLORSetConstants(pc, lor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Does the inner solver grow what it should leave alone? Where convection dominates, coarse matrices of
  multigrid may, by many powers of ten. Then preconditioned residuals are those of what grows, and a Krylov
  method that stops by their norm ends after an iteration, with any solution. y = B A x for a random x tells.
*/
PetscErrorCode PCLORCheckGrowth(PC pc, PC_LOR *lor)
{
  const PetscReal most = 1e4; /* solvers that work have one or so */
  PetscReal       size[2], growth;
  PetscBool       bad;
  Vec             x, b;

  PetscFunctionBegin;
  if (!lor->block || lor->block->sym) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(lor->mat, &x, &b));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecNorm(x, NORM_2, &size[0]));
  PetscCall(MatMult(lor->mat, x, b));
  PetscCall(KSPSolve(lor->ksp, b, x));
  PetscCall(VecNorm(x, NORM_2, &size[1]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  growth = size[0] > 0.0 ? size[1] / size[0] : 0.0;
  PetscCall(PetscInfo(pc, "the inner solver makes %g of a random vector's size 1\n", (double)growth));
  bad = growth <= most ? PETSC_FALSE : PETSC_TRUE; /* not-a-numbers, too */
  PetscCheck(!bad, PetscObjectComm((PetscObject)pc), PETSC_ERR_CONV_FAILED,
             "The inner solver cannot solve the low-order-refined matrix, whose first-order terms dominate: it makes vectors "
             "%g times as large as the solution. Use %s-pc_lor_ignore convection, or a direct solver (-lor_pc_type lu)",
             (double)growth, lor->upwind ? "" : "-pc_lor_upwind, ");
  PetscFunctionReturn(PETSC_SUCCESS);
}
