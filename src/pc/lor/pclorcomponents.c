/*
  Operators with a block of nc components for each unknown of an H1 space: elasticity of a code whose mesh is
  known by arrays. The low-order-refined matrix has the components apart (lorapart.c), each with its own
  Dirichlet rows, which products with the operator find.
*/
#include <hops/private/hopslorblockimpl.h>
#include <hopslor.h>
#include <petsc/private/pcimpl.h>

/* ------------------------------------------ elasticity ------------------------------------------ */

static PetscErrorCode PCLORSetElasticity_LOR(PC pc, HopsCoefficient lambda, HopsCoefficient mu)
{
  PC_LOR         *lor   = (PC_LOR *)pc->data;
  HopsCoefficient cf[2] = {lambda, mu};

  PetscFunctionBegin;
  for (PetscInt i = 0; i < 2; ++i) {
    if (cf[i]) PetscCall(HopsCoefficientReference(cf[i]));
    PetscCall(HopsCoefficientDestroy(&lor->lame[i]));
    lor->lame[i] = cf[i];
  }
  pc->setupcalled = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORComposeComponents(PC pc, PetscBool add)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLORSetElasticity_C", add ? PCLORSetElasticity_LOR : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLORSetElasticity - Sets Lame's coefficients of isotropic elasticity, of an operator with a block of a
  component for each direction on a space from arrays.

  Collective

  Input Parameters:
+ pc     - the preconditioner
. lambda - Lame's first coefficient, a scalar; `NULL` with the next one: not told
- mu     - the shear modulus, a scalar

  Options Database Key:
. -pc_lor_elasticity <lambda,mu> - constants

  Level: intermediate

  Notes:
  Components stay apart in the low-order-refined matrix. Each has a diffusion of mu, and of lambda + 2 mu in
  its own direction. Without the call all components have 1, and the scale by the operator's diagonal.

  mu must be positive and lambda + mu not negative, else `PCSetUp()` raises an error.

  Where only Poisson's ratio nu is known: lambda = 2 nu / (1 - 2 nu), mu = 1 and -pc_lor_scale diagonal.

.seealso: `PCLOR`, `PCLORSetCoefficients()`, `MatSetHopsSpace()`
@*/
PetscErrorCode PCLORSetElasticity(PC pc, HopsCoefficient lambda, HopsCoefficient mu)
{
  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  if (lambda) HopsValidHeader(lambda, HOPS_COEFFICIENT_CLASSID, 2);
  if (mu) HopsValidHeader(mu, HOPS_COEFFICIENT_CLASSID, 3);
  PetscCheck(!lambda == !mu, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "Give lambda and mu, or NULL for both");
  PetscCheck(!mu || (lambda->nc == 1 && mu->nc == 1), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "Lame's coefficients are scalars: create them with nc = 1");
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCLOR));
  PetscTryMethod(pc, "PCLORSetElasticity_C", (PC, HopsCoefficient, HopsCoefficient), (pc, lambda, mu));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORSetFromOptionsElasticity(PC pc, HopsOptionItems PetscOptionsObject)
{
  PetscReal       value[2] = {0.0, 0.0};
  HopsCoefficient cf[2];
  PetscInt        n = 2;
  PetscBool       set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsRealArray("-pc_lor_elasticity",
                                  "Lame's coefficients lambda,mu of an operator with a component for each direction",
                                  "PCLORSetElasticity", value, &n, &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(n == 2 && value[1] > 0.0 && value[0] + value[1] >= 0.0 && !PetscIsInfReal(value[0]) && !PetscIsInfReal(value[1]),
             PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_lor_elasticity takes lambda,mu: finite, mu positive, lambda + mu not negative");
  for (PetscInt i = 0; i < 2; ++i) {
    const PetscScalar constant = value[i];

    PetscCall(HopsCoefficientCreateConstant(PetscObjectComm((PetscObject)pc), 1, &constant, &cf[i]));
  }
  PetscCall(PCLORSetElasticity(pc, cf[0], cf[1]));
  for (PetscInt i = 0; i < 2; ++i) PetscCall(HopsCoefficientDestroy(&cf[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Elasticity that is told is not forgotten */
PetscErrorCode PCLORCheckElasticity(PC pc, PC_LOR *lor)
{
  PetscFunctionBegin;
  if (!lor->lame[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(lor->block && !lor->block->jacobian && lor->block->nc == lor->form->space->dim, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_SUP,
             "PCLORSetElasticity() (-pc_lor_elasticity) is for operators with a block of a component for each direction on a space "
             "from arrays: set the block size (MatSetBlockSize()), or leave the call out");
  PetscCheck(!lor->userdiffusion || lor->assumed, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "PCLORSetElasticity() and the diffusion of %sSetCoefficients() contradict each other: leave one of them out",
             lor->name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ components ------------------------------------------ */

/* *nc: entries of the operator's vectors for each unknown of the space, 1 where that is no number of
   components */
PetscErrorCode PCLORCountComponents(PC pc, HopsSpace sp, PetscInt *nc)
{
  PetscInt  n, N, bs;
  PetscBool fits;

  PetscFunctionBegin;
  *nc = 1;
  PetscCall(MatGetSize(pc->pmat, &N, NULL));
  PetscCall(MatGetLocalSize(pc->pmat, &n, NULL));
  if (sp->family != HOPS_H1 || !sp->N || N == sp->N || N % sp->N) PetscFunctionReturn(PETSC_SUCCESS);
  fits = n == N / sp->N * sp->nT ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &fits, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)pc)));
  if (!fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetBlockSize(pc->pmat, &bs));
  PetscCheck(bs == N / sp->N, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "The matrix has %" PetscInt_FMT " rows for each unknown of the space, and its block size is %" PetscInt_FMT
             ": where these rows follow each other, say so by MatSetBlockSize(A, %" PetscInt_FMT
             "); else give each component its own split (PCFIELDSPLIT) and space",
             N / sp->N, bs, N / sp->N);
  PetscCheck(bs <= 6, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "hops takes at most 6 components, not %" PetscInt_FMT ": split it by PCFIELDSPLIT", bs);
  *nc = bs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* isfree[nL][nc] of the cells' unknowns, from that of the owned ones, free[nT][nc] */
static PetscErrorCode PCLORMarkFree(HopsSpace sp, PetscInt nc, const PetscBool free[], unsigned char isfree[])
{
  HopsProlong P;
  PetscReal  *x, *xg;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(sp->nT * nc, &x, sp->nG * nc, &xg));
  for (PetscInt i = 0; i < sp->nT * nc; ++i) x[i] = free[i] ? 1.0 : 0.0;
  PetscCall(HopsProlongCreate(sp, &HopsBackendHost, &sp->halo, nc, PETSC_DOUBLE, NULL, &P));
  PetscCall(HopsProlongBegin(P, x, xg));
  PetscCall(HopsProlongEnd(P, x, xg));
  PetscCall(HopsProlongDestroy(&P));
  for (PetscInt i = 0; i < (sp->nT + sp->nG) * nc; ++i) {
    const PetscReal v = i < sp->nT * nc ? x[i] : xg[i - sp->nT * nc];

    isfree[i] = v > 0.5 ? 1 : 0;
  }
  PetscCall(PetscFree2(x, xg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The components' nodes: all of them are in the operator's vectors, in blocks */
static PetscErrorCode PCLORCreateNodes(HopsSpace sp, PetscInt nc, const PetscBool free[], HopsNodes *nodes)
{
  HopsNodes n;

  PetscFunctionBegin;
  PetscCall(PetscNew(&n));
  n->refct = 1;
  n->nc    = nc;
  n->nfree = sp->nT * nc;
  PetscCall(HopsSpaceReference(sp));
  n->space = sp;
  PetscCall(PetscMalloc1(sp->nT * nc, &n->map));
  PetscCall(PetscMalloc1(sp->nL * nc, &n->isfree));
  for (PetscInt i = 0; i < sp->nT * nc; ++i) n->map[i] = i;
  PetscCall(PCLORMarkFree(sp, nc, free, n->isfree));
  *nodes = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* free[nT][nc] of the operator, and the number of its Dirichlet rows */
static PetscErrorCode PCLORFindFree(PC pc, PC_LOR *lor, HopsSpace sp, PetscInt nc, PetscBool free[])
{
  const PetscInt n = sp->nT * nc;
  PetscInt64     count;
  PetscInt       ness;
  PetscBool      tell;
  HopsRow       *row;
  PetscScalar   *q;

  PetscFunctionBegin;
  PetscCall(MPIU_Allreduce(&sp->ness, &ness, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscCheck(!ness, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The space has a list of essential unknowns, and the operator %" PetscInt_FMT
             " components for each: create the space without a list, and %s finds the operator's Dirichlet rows, component by "
             "component",
             nc, lor->name);
  for (PetscInt i = 0; i < n; ++i) free[i] = PETSC_TRUE;
  PetscCall(PCLORRowsTell(pc, lor, NULL, sp, nc, &tell));
  if (!tell) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(n, &row, n, &q));
  PetscCall(PCLORFindRows(pc->pmat, n, row, q, &count));
  PetscCall(PCLORRefuseZeroRows(pc, n, row));
  if (count < (PetscInt64)sp->N * nc) {
    for (PetscInt i = 0; i < n; ++i) free[i] = row[i] == HOPS_ROW_DIAGONAL ? PETSC_FALSE : PETSC_TRUE;
    PetscCall(PCLORSetDirichlet(lor, n, row, q));
    lor->nfound = (PetscInt)count;
  }
  PetscCall(PetscFree2(row, q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the matrix that there is one of these components? */
static PetscErrorCode PCLORKeepsComponents(PC_LOR *lor, HopsSpace sp, PetscInt nc, const PetscBool free[], PetscBool *keeps)
{
  const HopsLORBlock *b = lor->block;

  PetscFunctionBegin;
  *keeps = b && !b->jacobian && b->nodes->space == sp && b->nc == nc && b->lor.droptol == lor->droptol ? PETSC_TRUE : PETSC_FALSE;
  if (*keeps && b->lor.constraintentries != PCLORConstraintEntries(lor, sp)) *keeps = PETSC_FALSE;
  for (PetscInt i = 0; i < sp->nT * nc && *keeps; ++i)
    if (b->nodes->isfree[i] != (free[i] ? 1 : 0)) *keeps = PETSC_FALSE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, keeps, 1, HOPS_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)sp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Components have their parts of elasticity, or all the user's coefficients, or a diffusion of 1 */
static PetscErrorCode PCLORSetComponentForms(PC_LOR *lor, HopsLORBlock *b)
{
  const PetscScalar one = 1.0;
  HopsCoefficient   unit;

  PetscFunctionBegin;
  lor->unknown = !lor->lame[0] && (lor->assumed || (!lor->userdiffusion && !lor->usermass)) ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(HopsCoefficientCreateConstant(PetscObjectComm((PetscObject)lor->ksp), 1, &one, &unit));
  for (PetscInt c = 0; c < b->nc; ++c) {
    PetscCall(HopsFormReset(b->part[c]));
    if (lor->lame[0] && b->nc == b->nodes->space->dim) {
      HopsCoefficient own;

      PetscCall(HopsCoefficientCreateElastic_Private(b->nc, lor->lame[0], lor->lame[1], c, &own));
      PetscCall(HopsFormSetCells(b->part[c], HOPS_GRADIENT, own));
      PetscCall(HopsCoefficientDestroy(&own));
    } else PetscCall(HopsFormSetCells(b->part[c], HOPS_GRADIENT, lor->unknown ? unit : lor->userdiffusion));
    PetscCall(HopsFormSetCells(b->part[c], HOPS_VALUE, lor->usermass));
  }
  b->lor.told = lor->unknown ? PETSC_FALSE : PETSC_TRUE;
  HopsFormGetFunctions(b->part[0], HOPS_CELLS, b->has);
  PetscCall(HopsCoefficientDestroy(&unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORGetFormComponents(PC pc, PC_LOR *lor, HopsSpace sp, PetscInt nc)
{
  PetscBool *free, keeps;
  HopsNodes  nodes;

  PetscFunctionBegin;
  PetscCheck(!lor->coupleset || !lor->couple, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The low-order-refined matrix of several components couples them (-pc_lor_couple) where the form is known, from a "
             "PetscDS; for an operator of %" PetscInt_FMT " components on a space from arrays leave the option out",
             nc);
  PetscCall(PetscMalloc1(sp->nT * nc, &free));
  PetscCall(PCLORFindFree(pc, lor, sp, nc, free));
  PetscCall(PCLORKeepsComponents(lor, sp, nc, free, &keeps));
  if (!keeps) {
    PetscCall(HopsLORBlockDestroy(&lor->block));
    PetscCall(PCLORCreateNodes(sp, nc, free, &nodes));
    PetscCall(HopsLORBlockCreateComponents(nodes, lor->droptol, PCLORConstraintEntries(lor, nodes->space), &lor->block));
    PetscCall(HopsNodesDestroy(&nodes));
    PetscCall(KSPReset(lor->ksp));
    PetscCall(MatDestroy(&lor->mat));
  }
  PetscCall(PetscFree(free));
  PetscCall(PCLORSetComponentForms(lor, lor->block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |A e| / |A r|, e the constant of a component */
static PetscErrorCode PCLORTakesConstant(Mat A, PetscInt nc, PetscInt c, PetscReal *ratio)
{
  Vec          x;
  PetscScalar *a;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayWrite(x, &a));
  for (PetscInt i = 0; i < n; ++i) a[i] = i % nc == c ? 1.0 : 0.0;
  PetscCall(VecRestoreArrayWrite(x, &a));
  PetscCall(PCLORTakes(A, x, ratio));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As PCLORCheckConstants(): a component without Dirichlet rows and mass has a singular matrix, so the
   operator must take its constant to zero, too */
PetscErrorCode PCLORCheckComponents(PC pc, PC_LOR *lor)
{
  HopsLORBlock *b = lor->block;
  MatNullSpace  nsp;
  PetscBool     mffd, mult;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(b->mat, &nsp));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->pmat, MATMFFD, &mffd));
  PetscCall(MatHasOperation(pc->pmat, MATOP_MULT, &mult));
  if (nsp || mffd || !mult || lor->usermass) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt c = 0; c < b->nc; ++c) {
    PetscInt  ness = 0;
    PetscReal ratio;

    for (PetscInt i = 0; i < b->nodes->space->nT; ++i) ness += !b->nodes->isfree[i * b->nc + c];
    PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &ness, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)pc)));
    if (ness) continue;
    PetscCall(PCLORTakesConstant(pc->pmat, b->nc, c, &ratio));
    PetscCheck(ratio <= 1e-6, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
               "Component %" PetscInt_FMT " has no Dirichlet rows and its form no mass, so that the low-order-refined matrix is "
               "singular (it takes constants to "
               "zero), and the operator is not: give %sSetCoefficients() (-pc_lor_mass) the mass; where the operator is singular, "
               "attach its null space (MatSetNullSpace())",
               c, lor->name);
    SETERRQ(PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
            "The operator takes what is constant in component %" PetscInt_FMT
            " to zero: attach its null space (MatSetNullSpace()), "
            "without which the inner solver inverts rounding errors",
            c);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
