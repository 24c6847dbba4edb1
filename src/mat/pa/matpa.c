/* MATPA: the matrix-free operator B^T D B of a diffusion-reaction form on a HopsSpace, a shell Mat. */
#include <hops/private/hopspatensorimpl.h>
#include <petsc/private/matimpl.h>

PetscErrorCode MatPAGetData(Mat A, Mat_PA **pa)
{
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATPA, &same));
  PetscCheck(same, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "The Mat has type %s where " MATPA " is needed (MatCreatePA())",
             ((PetscObject)A)->type_name ? ((PetscObject)A)->type_name : "(unset)");
  PetscCall(MatShellGetContext(A, pa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- set-up ------------------------------------------- */

/*
  The quadrature rules of cells and of boundary faces: those that the user sets; else the PetscFE's own where
  the form is a PetscDS's, and order + 2 Gauss points per direction (MFEM's rule) elsewhere
*/
static PetscErrorCode MatPASetUpBasis(Mat A, Mat_PA *pa)
{
  HopsSpace sp = pa->tensor ? pa->tensor->space : pa->form->space;
  PetscInt  q  = pa->q_1d;

  PetscFunctionBegin;
  if (pa->fromds && sp->nquad[0] && !q && !pa->gll && !pa->gauss) {
    PetscCall(HopsSpaceCheckRule(sp, 0));
    PetscCall(HopsBasisCreateLike(sp->order + 1, &sp->rule[0], &pa->basis));
    PetscCall(HopsBasisCreateLike(sp->order + 1, &sp->rule[sp->rule[1].P ? 1 : 0], &pa->facebasis));
    pa->ferule = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (pa->gll) {
    PetscCheck(!q || q == sp->order + 1, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
               "Collocated quadrature at the %" PetscInt_FMT " GLL nodes has no %" PetscInt_FMT
               " points: leave out -mat_pa_q_1d, or use -mat_pa_quadrature gauss",
               sp->order + 1, q);
    q = sp->order + 1;
  }
  if (!q) q = pa->fromds && sp->rule[0].P && sp->rule[0].rule == HOPS_RULE_GAUSS ? sp->rule[0].Q : sp->order + 2;
  if (pa->fromds && sp->nquad[0])
    PetscCall(PetscInfo(A,
                        "the option for the quadrature, %" PetscInt_FMT " %s points per direction, overrides that of the PetscFE\n",
                        q, pa->gll ? "Gauss-Lobatto" : "Gauss"));
  PetscCheck(q >= 1 && q <= HOPS_MAX_Q_1D, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "The number of quadrature points per direction (-mat_pa_q_1d) must be from 1 to %d, not %" PetscInt_FMT, HOPS_MAX_Q_1D,
             q);
  PetscCall(HopsBasisCreate(sp->order + 1, q, pa->gll, &pa->basis));
  PetscCall(HopsBasisCreateLike(sp->order + 1, &pa->basis, &pa->facebasis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc takes the face quadrature of the test field; the tabulations of all fields at their own are of use at
   one rule alone */
static PetscErrorCode MatPACheckFaceRule(Mat_PA *pa)
{
  PetscFunctionBegin;
  if (!pa->ferule || (pa->tensor ? !pa->tensor->faces : !HopsFormHas(pa->form, HOPS_BOUNDARY))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsSpaceCheckRule(pa->tensor ? pa->tensor->space : pa->form->space, 1));
  for (PetscInt k = 0; pa->tensor && k < 2; ++k)
    for (PetscInt i = 0; i < pa->tensor->n[k]; ++i) {
      HopsSpace sp = pa->tensor->side[k][i].nodes->space;

      PetscCall(HopsSpaceCheckRule(sp, 1));
      PetscCheck(!sp->rule[1].P || HopsBasisSameRule(&sp->rule[1], &pa->facebasis), PetscObjectComm((PetscObject)sp), PETSC_ERR_SUP,
                 "The face quadratures of the fields differ, in a form with boundary terms: give all fields one rule "
                 "(PetscFECopyQuadrature(), PetscFESetFaceQuadrature())");
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatPASetUpRules(Mat A, Mat_PA *pa)
{
  PetscFunctionBegin;
  if (!pa->basis.P) PetscCall(MatPASetUpBasis(A, pa));
  PetscCall(MatPACheckFaceRule(pa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coefficients are evaluated a run of cells at a time, so that their values never take much memory. Those
   of one value, or of one a cell, are there already */
static PetscErrorCode MatPASetUpRun(Mat_PA *pa, PetscInt begin, PetscInt end)
{
  HopsSpace       sp    = pa->form->space;
  HopsCoefficient cf[2] = {HopsFormDerivative(pa->form), HopsFormValue(pa->form)};
  const PetscBool few   = !(cf[0] && cf[0]->evaluate) && !(cf[1] && cf[1]->evaluate) ? PETSC_TRUE : PETSC_FALSE;
  const PetscInt  chunk = few ? PetscMax(end - begin, 1) : PetscMax(64, sp->backend->runpoints / HopsPower(pa->basis.Q, sp->dim));
  HopsValuesWork  w[2]  = {{0}, {0}};

  PetscFunctionBegin;
  for (PetscInt c = begin; c < end; c += chunk) {
    const PetscInt n = PetscMin(chunk, end - c);
    HopsValues     k, m;
    PetscInt       bad, count = 0;
    PetscReal      det;

    PetscCall(HopsCoefficientEvaluateOn(cf[0], sp, sp->backend, &pa->basis, c, n, &w[0], &k));
    PetscCall(HopsCoefficientEvaluateOn(cf[1], sp, sp->backend, &pa->basis, c, n, &w[1], &m));
    if (sp->family == HOPS_H1)
      PetscCall(HopsValuesCount(sp->backend, HOPS_INDEFINITE, sp->dim, n, HopsPower(pa->basis.Q, sp->dim), &k, &m, &count));
    pa->nindefinite += count;
    PetscCall((*pa->kernel->ops->SetUp)(pa->kernel, c, n, &k, &m, &bad, &det));
    if (bad >= 0) PetscCall(HopsSpaceErrorCell(sp, bad, det));
  }
  for (PetscInt i = 0; i < 2; ++i) PetscCall(HopsValuesWorkFree(&w[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatPACreateKernel(Mat A, Mat_PA *pa)
{
  const HopsBackendOps *be = pa->form->space->backend;
  const HopsKernelInfo *info;

  PetscFunctionBegin;
  if (pa->kernel) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(be->OperatorCreate, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "The back end %s has no operators: use -hops_backend host", be->name);
  PetscCall((*be->OperatorCreate)(pa->form, &pa->basis, &pa->kernel));
  info = &pa->kernel->info;
  PetscCall(PetscInfo(A, "kernel %s (%s), %g bytes, %g flops per application\n", info->name,
                      info->specialised ? "specialised" : "generic", (double)info->bytes, (double)info->flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatPASetUpWork(Mat_PA *pa)
{
  const HopsBackendOps *be = pa->form->space->backend;
  const PetscInt        n  = MatPANumOthers(pa);

  PetscFunctionBegin;
  PetscCall(MatPAFindFacetHung(pa));
  if (n != MatPANumOthers(pa)) PetscCall(MatPAFreeWork(pa));
  if (pa->xg) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*be->memory->Malloc)(MatPANumOthers(pa) * sizeof(PetscReal), (void **)&pa->xg));
  PetscCall((*be->memory->Malloc)(MatPANumOthers(pa) * sizeof(PetscReal), (void **)&pa->yg));
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, MatPANumOthers(pa), pa->xg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatPASetUp_Private(Mat A, Mat_PA *pa)
{
  HopsSpace   sp = pa->form->space;
  PetscBool   done;
  const char *was;

  PetscFunctionBegin;
  if (!pa->needsetup) PetscFunctionReturn(PETSC_SUCCESS);
  was = HopsMake("the operator");
  if (pa->tensor) {
    PetscCall(PetscLogEventBegin(HopsEvent.pasetup, A, 0, 0, 0));
    PetscCall(MatPASetUpRules(A, pa));
    PetscCall(HopsPATensorSetUp(pa->tensor, &pa->basis, &pa->facebasis));
    pa->needsetup = PETSC_FALSE;
    PetscCall(PetscLogEventEnd(HopsEvent.pasetup, A, 0, 0, 0));
    (void)HopsMake(was);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(sp, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The operator has no space: call MatPASetSpace(), or make it by MatCreatePA()");
  PetscCheck(pa->form->n, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The operator has no terms: call MatPASetDiffusion(), MatPASetMass() or MatPAAddRobin()");
  PetscCall(HopsFormCheck(pa->form));
  PetscCall(PetscLogEventBegin(HopsEvent.pasetup, A, 0, 0, 0));
  PetscCall(MatPASetUpRules(A, pa));
  PetscCall(HopsSpaceSetUpBackend(sp));
  PetscCall(MatPASetUpWork(pa));
  pa->nindefinite = 0;
  if (HopsFormHas(pa->form, HOPS_CELLS)) {
    PetscCall(MatPACreateKernel(A, pa));
    PetscCall(MatPASetUpGeometry(A, pa, &done));
    if (!done) {
      PetscCall(MatPASetUpRun(pa, 0, sp->ninterior));
      PetscCall(MatPASetUpRun(pa, sp->ninterior, sp->ncells));
    }
  }
  PetscCall(MatPASetUpFacets(pa));
  pa->needsetup = PETSC_FALSE;
  PetscCall(PetscLogEventEnd(HopsEvent.pasetup, A, 0, 0, 0));
  (void)HopsMake(was);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatPADestroyKernel(Mat_PA *pa)
{
  PetscFunctionBegin;
  if (pa->kernel) PetscCall((*pa->kernel->ops->Destroy)(&pa->kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatPAReset(Mat_PA *pa)
{
  PetscFunctionBegin;
  PetscCall(MatPADestroyKernel(pa));
  PetscCall(MatPADestroyFacets(pa));
  if (pa->basis.P) PetscCall(HopsBasisDestroy(&pa->basis));
  if (pa->facebasis.P) PetscCall(HopsBasisDestroy(&pa->facebasis));
  pa->basis.P = pa->facebasis.P = 0;
  pa->facethung                 = NULL; /* the space, whose it is, may go */
  pa->ferule                    = PETSC_FALSE;
  pa->needsetup                 = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatPAFreeWork(Mat_PA *pa)
{
  PetscFunctionBegin;
  if (pa->xg) PetscCall((*pa->form->space->backend->memory->Free)((void **)&pa->xg));
  if (pa->yg) PetscCall((*pa->form->space->backend->memory->Free)((void **)&pa->yg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New coefficients: quadrature data are refilled at the next use; a term that comes or goes changes their
   layout */
PetscErrorCode MatPAChanged(Mat A, Mat_PA *pa, PetscBool layout)
{
  PetscFunctionBegin;
  if (pa->sum)
    PetscCall(PetscInfo(A, "the operator is that of its new form, without the changes by MatScale() and the like before\n"));
  PetscCall(MatPASumDestroy(pa));
  if (layout) PetscCall(MatPADestroyKernel(pa));
  pa->needsetup = PETSC_TRUE;
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- action ------------------------------------------- */

static PetscErrorCode MatPAApplyPart(Mat_PA *pa, HopsPart part, const PetscReal x[], PetscReal y[])
{
  PetscFunctionBegin;
  if (pa->kernel) PetscCall((*pa->kernel->ops->Apply)(pa->kernel, part, x, pa->xg, y, pa->yg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  y = A x. Interior cells are worked on while messages travel: one half while the ghosts come in, the other
  while their contributions go out. The constrained entries of xg are what the caller left there (zero, but
  for lifting).
*/
static PetscErrorCode MatPAApply(Mat A, Mat_PA *pa, const PetscReal x[], PetscReal y[])
{
  HopsSpace             sp = pa->form->space;
  const HopsBackendOps *be = sp->backend;
  PetscReal            *xg = pa->xg, *yg = pa->yg;

  PetscFunctionBegin;
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, sp->nT, y));
  PetscCall((*be->vector->Zero)(PETSC_DOUBLE, MatPANumOthers(pa), yg));
  PetscCall(HopsProlongBegin(sp->P, x, xg));
  PetscCall(MatPAApplyPart(pa, HOPS_PART_INTERIOR_A, x, y));
  PetscCall(HopsProlongEnd(sp->P, x, xg));
  PetscCall(MatPAApplyPart(pa, HOPS_PART_SHARED, x, y));
  PetscCall(MatPAApplyFacets(pa, x, xg, y, yg));
  PetscCall(HopsProlongTransposeBegin(sp->P, yg, y));
  PetscCall(MatPAApplyPart(pa, HOPS_PART_INTERIOR_B, x, y));
  PetscCall(HopsProlongTransposeEnd(sp->P, yg, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Arrays of a part of vectors where the back end of the space works; x may be NULL */
PetscErrorCode MatPAGetArrays(HopsSpace sp, PetscInt part, Vec x, Vec y, const PetscReal **xa, PetscReal **ya)
{
  PetscFunctionBegin;
  if (x) PetscCall(HopsVecGetPartRead(sp, x, part, xa));
  PetscCall(HopsVecGetPart(sp, y, part, HOPS_VEC_WRITE, ya));
  PetscCall(PetscLogGpuTimeBegin());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatPARestoreArrays(HopsSpace sp, PetscInt part, Vec x, Vec y, const PetscReal **xa, PetscReal **ya)
{
  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeEnd());
  if (x) PetscCall(HopsVecRestorePartRead(sp, x, part, xa));
  PetscCall(HopsVecRestorePart(sp, y, part, HOPS_VEC_WRITE, ya));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The form alone; with coefficients it is symmetric */
static PetscErrorCode MatPAMultForm(Mat A, PetscBool transpose, Vec x, Vec y)
{
  Mat_PA          *pa;
  const PetscReal *xa;
  PetscReal       *ya;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &pa));
  PetscCall(MatPASetUp_Private(A, pa));
  PetscCall(PetscLogEventBegin(HopsEvent.pamult, A, x, y, 0));
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) {
    if (pa->tensor) {
      PetscCall(HopsPATensorMult(pa->tensor, transpose, k, x, y));
      continue;
    }
    PetscCall(MatPAGetArrays(pa->form->space, k, x, y, &xa, &ya));
    PetscCall(MatPAApply(A, pa, xa, ya));
    PetscCall((*pa->form->space->backend->vector->SetEntries)(pa->form->space->ness, pa->form->space->bessT, xa, ya));
    PetscCall(MatPARestoreArrays(pa->form->space, k, x, y, &xa, &ya));
  }
  PetscCall(PetscLogEventEnd(HopsEvent.pamult, A, x, y, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_PA(Mat A, Vec x, Vec y)
{
  Mat_PA *pa;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &pa));
  if (pa->sum) PetscCall(MatPASumMult(A, pa->sum, PETSC_FALSE, MatPAMultForm, x, y));
  else PetscCall(MatPAMultForm(A, PETSC_FALSE, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_PA(Mat A, Vec x, Vec y)
{
  Mat_PA *pa;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &pa));
  if (pa->sum) PetscCall(MatPASumMult(A, pa->sum, PETSC_TRUE, MatPAMultForm, x, y));
  else PetscCall(MatPAMultForm(A, PETSC_TRUE, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What assembles element matrices finds no entries to add to */
static PetscErrorCode MatSetValues_PA(Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], const PetscScalar v[],
                                      InsertMode mode)
{
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
          "A matrix-free operator of type " MATPA " takes no entries: with -dm_mat_type " MATPA
          " the Jacobian must be PETSc's own (DMPlexSetSNESLocalFEM(), DMTSSetIJacobianLocal(DMPlexTSComputeIJacobianFEM)); a code "
          "that inserts values itself needs an assembled type");
}

static PetscErrorCode MatPADiagonalForm(Mat A, Vec d)
{
  Mat_PA    *pa;
  HopsSpace  sp;
  PetscReal *a;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &pa));
  PetscCall(MatPASetUp_Private(A, pa));
  sp = pa->form->space;
  PetscCall(PetscLogEventBegin(HopsEvent.padiag, A, d, 0, 0));
  if (pa->tensor) {
    PetscCall(HopsPATensorDiagonal(pa->tensor, d));
    PetscCall(PetscLogEventEnd(HopsEvent.padiag, A, d, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (HOPS_PARTS > 1) PetscCall(VecSet(d, 0.0));
  PetscCall(MatPAGetArrays(sp, 0, NULL, d, NULL, &a));
  PetscCall((*sp->backend->vector->Zero)(PETSC_DOUBLE, sp->nT, a));
  PetscCall((*sp->backend->vector->Zero)(PETSC_DOUBLE, MatPANumOthers(pa), pa->yg));
  if (pa->kernel) PetscCall((*pa->kernel->ops->Diagonal)(pa->kernel, a, pa->yg));
  for (PetscInt i = 0; i < pa->nfacets; ++i) PetscCall((*pa->facets[i].kernel->ops->Diagonal)(pa->facets[i].kernel, a, pa->yg));
  PetscCall(MatPADiagonalHung(pa, a, pa->yg));
  PetscCall(HopsProlongTransposeBegin(sp->P, pa->yg, a));
  PetscCall(HopsProlongTransposeEnd(sp->P, pa->yg, a));
  PetscCall((*sp->backend->vector->SetEntries)(sp->ness, sp->bessT, NULL, a));
  PetscCall(MatPARestoreArrays(sp, 0, NULL, d, NULL, &a));
  PetscCall(PetscLogEventEnd(HopsEvent.padiag, A, d, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetDiagonal_PA(Mat A, Vec d)
{
  Mat_PA *pa;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &pa));
  PetscCall(MatPADiagonalForm(A, d));
  if (pa->sum) PetscCall(MatPASumDiagonal(A, pa->sum, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatPALiftEssential - Moves the essential values of the space to the right-hand side: b = b - A_c g, and b =
  g in the rows of essential unknowns that the vector holds.

  Collective

  Input Parameters:
+ A - the `MATPA` operator
- b - the right-hand side, changed in place

  Level: beginner

  Note:
  An operator that was changed as a matrix (`MatScale()`, `MatShift()`, `MatZeroRows()` and the like) raises
  `PETSC_ERR_SUP`: lift
before.

.seealso: `MATPA`, `HopsSpaceSetEssentialFunction()`, `HopsSpaceComputeRHS()`
@*/
PetscErrorCode MatPALiftEssential(Mat A, Vec b)
{
  Mat_PA          *pa;
  HopsSpace        sp;
  Vec              t, zero;
  const PetscReal *x;
  PetscReal       *y, *ba;

  PetscFunctionBegin;
  HopsValidHeader(A, MAT_CLASSID, 1);
  HopsValidHeader(b, VEC_CLASSID, 2);
  PetscCall(MatPAGetData(A, &pa));
  PetscCall(MatPACheckForm(A, PETSC_FALSE, "MatPALiftEssential()"));
  PetscCall(MatPASetUp_Private(A, pa));
  sp = pa->form->space;
  PetscCheck(sp, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "The operator has the form of a PetscDS, whose essential values the DM inserts (DMPlexInsertBoundaryValues()): "
             "lifting is for operators on a HopsSpace (MatCreatePA())");
  PetscCall(HopsSpaceCheckVec(sp, b, "of the right-hand side"));
  PetscCall(VecDuplicate(b, &t));
  PetscCall(VecDuplicate(b, &zero));
  PetscCall(VecSet(zero, 0.0));
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) {
    const PetscReal *cvals = sp->cvals + k * sp->nC;

    PetscCall(MatPAGetArrays(sp, k, zero, t, &x, &y));
    PetscCall((*sp->backend->memory->Copy)(NULL, pa->xg + sp->nG, cvals, sp->nC * sizeof(PetscReal), HOPS_COPY_IN));
    PetscCall(MatPAApply(A, pa, x, y));
    PetscCall((*sp->backend->vector->Zero)(PETSC_DOUBLE, sp->nC, pa->xg + sp->nG));
    PetscCall(MatPARestoreArrays(sp, k, zero, t, &x, &y));
  }
  PetscCall(VecAXPY(b, -1.0, t));
  for (PetscInt k = 0; k < HOPS_PARTS; ++k) {
    PetscCall(HopsHostVecGetPart(b, k, HOPS_VEC_READ_WRITE, &ba));
    for (PetscInt e = 0; e < sp->ness; ++e) ba[sp->essT[e]] = sp->cvals[k * sp->nC + sp->essC[e] - sp->nT - sp->nG];
    PetscCall(HopsHostVecRestorePart(b, k, HOPS_VEC_READ_WRITE, &ba));
  }
  PetscCall(VecDestroy(&t));
  PetscCall(VecDestroy(&zero));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -------------------------------------- other operations -------------------------------------- */

static PetscErrorCode MatView_PA(Mat A, PetscViewer viewer)
{
  Mat_PA   *pa;
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &pa));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (ascii && pa->tensor) {
    PetscCall(PetscViewerASCIIPushTab(viewer));
    PetscCall(HopsPATensorView(pa->tensor, viewer));
    if (pa->basis.P)
      PetscCall(PetscViewerASCIIPrintf(viewer, "quadrature: %" PetscInt_FMT " %s points per direction\n", pa->basis.Q,
                                       HopsBasisRuleName(&pa->basis)));
    PetscCall(MatPASumView(pa, viewer));
    PetscCall(PetscViewerASCIIPopTab(viewer));
  }
  if (!ascii || !pa->form->space) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(HopsSpaceView(pa->form->space, viewer));
  if (pa->basis.P)
    PetscCall(PetscViewerASCIIPrintf(viewer, "quadrature: %" PetscInt_FMT " %s points per direction\n", pa->basis.Q,
                                     HopsBasisRuleName(&pa->basis)));
  if (pa->kernel) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "kernel: %s, %s\n", pa->kernel->info.name,
                                     pa->kernel->info.specialised ? "specialised" : "generic"));
    if (!pa->needsetup && pa->kernel->ops->SetUpCells) PetscCall(PetscViewerASCIIPrintf(viewer, "%s\n", pa->geometrynote));
  }
  PetscCall(HopsFormView(pa->form, viewer));
  PetscCall(MatPASumView(pa, viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_PA(Mat A)
{
  Mat_PA *pa;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &pa));
  PetscCall(MatPAReset(pa));
  PetscCall(MatPASumDestroy(pa));
  PetscCall(HopsPATensorDestroy(&pa->tensor));
  PetscCall(MatPAFreeWork(pa));
  PetscCall(HopsFormDestroy(&pa->form));
  PetscCall(PetscFree(pa));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_" MATPA "_aij_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_" MATPA "_seqaij_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_" MATPA "_mpiaij_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_" MATPA "_" MATPA "_C", NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* B gets A's form, at its state of now: it shares the space and the coefficients, and has quadrature data of
   its own */
static PetscErrorCode MatPACopyForm(Mat A, Mat B)
{
  Mat_PA *pa, *pb;

  PetscFunctionBegin;
  PetscCall(MatPAGetData(A, &pa));
  PetscCall(MatPAGetData(B, &pb));
  PetscCall(MatPAReset(pb));
  PetscCall(HopsPATensorDestroy(&pb->tensor));
  PetscCall(MatPAFreeWork(pb));
  PetscCall(HopsFormDestroy(&pb->form));
  pb->q_1d     = pa->q_1d;
  pb->gll      = pa->gll;
  pb->gauss    = pa->gauss;
  pb->fromds   = pa->fromds;
  pb->general  = pa->general;
  pb->geometry = pa->geometry;
  if (pa->tensor) {
    PetscCall(HopsPATensorDuplicate(pa->tensor, &pb->tensor));
    PetscCall(MatShellSetVecType(B, HopsSpaceVecType(pb->tensor->space)));
    pb->form = pb->tensor->form;
    ++pb->form->refct;
  } else {
    PetscCall(HopsFormCreate(&pb->form));
    if (pa->form->space) PetscCall(MatPASetSpace(B, pa->form->space));
    PetscCall(HopsFormCopyAll(pa->form, pb->form));
  }
  PetscCall(MatPAChanged(B, pb, PETSC_TRUE));
  if (pa->form->space || pa->tensor) {
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCopy_PA(Mat A, Mat B, MatStructure str)
{
  Mat_PA   *pa, *pb;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)B, MATPA, &same));
  if (!same) {
    Mat C;

    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &C));
    PetscCall(MatCopy(C, B, str));
    PetscCall(MatDestroy(&C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatPAGetData(A, &pa));
  PetscCall(MatPAGetData(B, &pb));
  if (pa->tensor && pb->tensor) PetscCall(HopsPATensorSameSpaces(pa->tensor, pb->tensor, &same));
  else same = pa->form->space == pb->form->space && !pb->tensor ? PETSC_TRUE : PETSC_FALSE;
  if (!pb->form->space && !pb->tensor) same = PETSC_TRUE; /* nothing was set yet */
  PetscCheck(same, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
             "MatCopy() copies between operators of type " MATPA
             " on the same space, and these have spaces of their own: use MatDuplicate(), or assemble them (MatConvert() to aij)");
  PetscCall(MatPACopyForm(A, B));
  PetscCall(MatPASumCopy(A, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without values the copy is zero until its form is set or evaluated */
static PetscErrorCode MatDuplicate_PA(Mat A, MatDuplicateOption op, Mat *B)
{
  PetscInt m, n, M, N;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), B));
  PetscCall(MatSetSizes(*B, m, n, M, N));
  PetscCall(MatSetType(*B, MATPA));
  PetscCall(MatSetUp(*B));
  PetscCall(MatPACopyForm(A, *B));
  if (op == MAT_COPY_VALUES) PetscCall(MatPASumCopy(A, *B));
  else PetscCall(MatZeroEntries(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatConvertFrom_PA(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
          "A matrix of type %s has no form, so it is not converted to " MATPA
          ": make the operator by MatCreatePA(), or in a DMPLEX code by -dm_mat_type " MATPA,
          ((PetscObject)A)->type_name);
}

PetscErrorCode MatCreate_PA(Mat A)
{
  Mat_PA     *pa;
  const char *rules[] = {"gauss", "gll"};
  PetscInt    rule    = 0;
  PetscInt    q       = 0;
  PetscBool   set;

  PetscFunctionBegin;
  PetscCall(PetscNew(&pa));
  PetscCall(HopsFormCreate(&pa->form));
  pa->needsetup = PETSC_TRUE;
  PetscCall(MatSetType(A, MATSHELL));
  PetscCall(MatShellSetContext(A, pa));
  if (((PetscObject)A)->options) PetscCall(PetscOptionsPush(((PetscObject)A)->options));
  /* -help prints those of a Mat once, for the first one */
  PetscOptionsBegin(PetscObjectComm((PetscObject)A), ((PetscObject)A)->prefix, "Matrix-free operator (MATPA) options", "MATPA");
  PetscCall(PetscOptionsInt("-mat_pa_q_1d", "Quadrature points per direction (0: order + 2)", "MatPASetQuadrature", q, &q, NULL));
  PetscCall(PetscOptionsEList("-mat_pa_quadrature", "Quadrature rule", "MatPASetQuadrature", rules, 2, rules[0], &rule, &set));
  PetscCall(PetscOptionsBool("-mat_pa_general", "Full tensors for every form of a PetscDS, scalar symmetric ones included", "MATPA",
                             pa->general, &pa->general, NULL));
  PetscCall(PetscOptionsEnum("-mat_pa_geometry", "Recompute affine and multilinear geometry", "MatPASetGeometryType",
                             MatPAGeometryTypes, (PetscEnum)pa->geometry, (PetscEnum *)&pa->geometry, NULL));
  PetscOptionsEnd();
  if (((PetscObject)A)->options) PetscCall(PetscOptionsPop());
  PetscCheck(q >= 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "-mat_pa_q_1d must be positive, not %" PetscInt_FMT,
             q);
  pa->q_1d  = q;
  pa->gll   = rule == 1 ? PETSC_TRUE : PETSC_FALSE;
  pa->gauss = set && !pa->gll ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(MatPASetAlgebra(A));
  PetscCall(MatShellSetOperation(A, MATOP_MULT, (HopsVoidFn)MatMult_PA));
  PetscCall(MatShellSetOperation(A, MATOP_MULT_TRANSPOSE, (HopsVoidFn)MatMultTranspose_PA));
  PetscCall(MatShellSetOperation(A, MATOP_SET_VALUES, (HopsVoidFn)MatSetValues_PA));
  PetscCall(MatShellSetOperation(A, MATOP_GET_DIAGONAL, (HopsVoidFn)MatGetDiagonal_PA));
  PetscCall(MatShellSetOperation(A, MATOP_CREATE_VECS, (HopsVoidFn)HopsMatCreateVecs));
  PetscCall(MatShellSetOperation(A, MATOP_DESTROY, (HopsVoidFn)MatDestroy_PA));
  PetscCall(MatShellSetOperation(A, MATOP_VIEW, (HopsVoidFn)MatView_PA));
  PetscCall(MatShellSetOperation(A, MATOP_DUPLICATE, (HopsVoidFn)MatDuplicate_PA));
  PetscCall(MatShellSetOperation(A, MATOP_CREATE_SUBMATRIX, (HopsVoidFn)MatCreateSubMatrix_PA));
  A->ops->copy        = MatCopy_PA; /* MATSHELL's calls what MatShellSetOperation() gives it, and copies the tables of operations */
  A->ops->convertfrom = MatConvertFrom_PA;
  PetscCall(HopsMatRefuseRows(A));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_" MATPA "_aij_C", MatConvert_PA_AIJ));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_" MATPA "_seqaij_C", MatConvert_PA_AIJ));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_" MATPA "_mpiaij_C", MatConvert_PA_AIJ));
  PetscCall(
    PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_" MATPA "_" MATPA "_C", MatProductSetFromOptions_PA));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATPA));
  PetscFunctionReturn(PETSC_SUCCESS);
}
