/*
  Unchanged DMPlex codes with a matrix-free Jacobian: -dm_mat_type pa.

  PETSc makes DMs by the name of their type, so hops registers "plex" anew with a constructor that calls PETSc's and wraps two
  operations: creatematrix and clone. DMClone() and the replacement of a DM by a refined, distributed or read one set the operations
  back to PETSc's; the options handler of the object, which survives both and runs last in DMSetFromOptions(), wraps them again.

  The wrapped creatematrix makes a matrix of type MATPA, without a preallocation that a high order makes expensive, and adds a hook
  to DMGlobalToLocal(), which runs before any local function is evaluated. The hook replaces PETSc's own local Jacobian,
  DMPlexSNESComputeJacobianFEM() or DMPlexTSComputeIJacobianFEM(), wherever it is set, by one that hands the state to the matrix, and
  calls PETSc's where the matrix has another type. So it does not matter whether the code makes the matrix or sets the Jacobian first.
*/
#include <hops/private/hopsdm.h>
#include <hops/private/hopspatensor.h>
#include <petsc/private/dmimpl.h> /* dm->ops, dm->mattype */
#include <petscts.h>
#include <petscdmplex.h>

static PetscErrorCode (*PlexCreate)(DM)              = NULL;
static PetscErrorCode (*PlexCreateMatrix)(DM, Mat *) = NULL;
static PetscErrorCode (*PlexClone)(DM, DM *)         = NULL;

static PetscErrorCode HopsPlexWrap(DM);

PetscErrorCode HopsPlexGet(DM dm, HopsPlex **plex)
{
  PetscContainer c;

  PetscFunctionBegin;
  *plex = NULL;
  PetscCall(PetscObjectQuery((PetscObject)dm, "HopsPlex", (PetscObject *)&c));
  if (c) PetscCall(PetscContainerGetPointer(c, (void **)plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPlexFree(HopsContainerCtx ctx)
{
  HopsPlex *plex = (HopsPlex *)HopsContainerData(ctx);

  PetscFunctionBegin;
  PetscCall(HopsPlexResidualReset(plex));
  PetscCall(PetscFree(plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --------------------------------------------------------- Jacobians and residuals --------------------------------------------------------- */

static PetscErrorCode HopsIsPA(Mat A, PetscBool *pa)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATPA, pa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As PETSc fills them: one matrix for both with the Jacobian's functions; of two, P with the preconditioner's where the PetscDS has any */
static PetscErrorCode HopsPlexJacobian(DM dm, PetscReal t, Vec X, Vec Xt, PetscReal shift, Mat J, Mat P, PetscBool *todo)
{
  PetscBool jpa, ppa, pre;

  PetscFunctionBegin;
  PetscCall(HopsIsPA(J, &jpa));
  PetscCall(HopsIsPA(P, &ppa));
  PetscCall(HopsDSUsesPreconditioner(dm, J == P ? PETSC_TRUE : PETSC_FALSE, &pre));
  if (J != P && jpa != ppa) {
    PetscBool mffd, own;
    PetscDS   ds;

    PetscCall(DMGetDS(dm, &ds));
    PetscCall(PetscDSHasJacobianPreconditioner(ds, &own));
    PetscCall(PetscObjectTypeCompareAny((PetscObject)J, &mffd, MATMFFD, MATSHELL, ""));
    PetscCheck(!own || mffd, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP, "The PetscDS has Jacobian functions for the preconditioning matrix alone, and one of Jacobian and preconditioning matrix has type " MATPA ", the other %s: make both or neither of type " MATPA, ((PetscObject)(jpa ? P : J))->type_name);
  }
  *todo = J == P ? (ppa ? PETSC_FALSE : PETSC_TRUE) : (jpa && ppa ? PETSC_FALSE : PETSC_TRUE);
  if (ppa) PetscCall(MatPASetState(P, dm, pre, X, Xt, t, shift));
  if (J != P && jpa) PetscCall(MatPASetState(J, dm, PETSC_FALSE, X, Xt, t, shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSNESJacobianLocal(DM dm, Vec X, Mat J, Mat P, void *ctx)
{
  PetscBool todo = PETSC_FALSE, jpa, ppa;

  PetscFunctionBegin;
  PetscCall(HopsIsPA(J, &jpa));
  PetscCall(HopsIsPA(P, &ppa));
  PetscCall(HopsPlexJacobian(dm, 0.0, X, NULL, 0.0, J, P, &todo));
  if (!jpa && !ppa) PetscCall(DMPlexSNESComputeJacobianFEM(dm, X, J, P, ctx));
  else if (todo && !ppa) PetscCall(DMPlexSNESComputeJacobianFEM(dm, X, P, P, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsTSJacobianLocal(DM dm, PetscReal t, Vec X, Vec Xt, PetscReal shift, Mat J, Mat P, void *ctx)
{
  PetscBool todo = PETSC_FALSE, jpa, ppa;

  PetscFunctionBegin;
  PetscCall(HopsIsPA(J, &jpa));
  PetscCall(HopsIsPA(P, &ppa));
  PetscCall(HopsPlexJacobian(dm, t, X, Xt, shift, J, P, &todo));
  if (!jpa && !ppa) PetscCall(DMPlexTSComputeIJacobianFEM(dm, t, X, Xt, shift, J, P, ctx));
  else if (todo && !ppa) PetscCall(DMPlexTSComputeIJacobianFEM(dm, t, X, Xt, shift, P, P, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSNESResidualLocal(DM dm, Vec X, Vec F, void *ctx)
{
  HopsPlex *plex;
  PetscBool done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(HopsPlexGet(dm, &plex));
  if (plex) PetscCall(HopsPlexResidual(dm, plex, 0.0, X, NULL, F, &done));
  if (!done) PetscCall(DMPlexSNESComputeResidualFEM(dm, X, F, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsTSResidualLocal(DM dm, PetscReal t, Vec X, Vec Xt, Vec F, void *ctx)
{
  HopsPlex *plex;
  PetscBool done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(HopsPlexGet(dm, &plex));
  if (plex) PetscCall(HopsPlexResidual(dm, plex, t, X, Xt, F, &done));
  if (!done) PetscCall(DMPlexTSComputeIFunctionFEM(dm, t, X, Xt, F, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Swaps PETSc's local functions; what the user wrote stays */
static PetscErrorCode HopsPlexSwap(DM dm, HopsPlex *plex)
{
  PetscErrorCode (*jac)(DM, Vec, Mat, Mat, void *)                             = NULL;
  PetscErrorCode (*fun)(DM, Vec, Vec, void *)                                  = NULL;
  PetscErrorCode (*ijac)(DM, PetscReal, Vec, Vec, PetscReal, Mat, Mat, void *) = NULL;
  PetscErrorCode (*ifun)(DM, PetscReal, Vec, Vec, Vec, void *)                 = NULL;
  void     *ctx;
  PetscBool snes, ts;

  PetscFunctionBegin;
  snes = dm->dmsnes ? PETSC_TRUE : PETSC_FALSE;
  ts   = dm->dmts ? PETSC_TRUE : PETSC_FALSE;
  if (snes && plex->pa) {
    PetscCall(DMSNESGetJacobianLocal(dm, &jac, &ctx));
    if (jac == DMPlexSNESComputeJacobianFEM) PetscCall(DMSNESSetJacobianLocal(dm, HopsSNESJacobianLocal, ctx));
  }
  if (snes && plex->residual) {
    PetscCall(DMSNESGetFunctionLocal(dm, &fun, &ctx));
    if (fun == DMPlexSNESComputeResidualFEM) PetscCall(DMSNESSetFunctionLocal(dm, HopsSNESResidualLocal, ctx));
  }
  if (ts && plex->pa) {
    PetscCall(DMTSGetIJacobianLocal(dm, &ijac, &ctx));
    if (ijac == DMPlexTSComputeIJacobianFEM) PetscCall(DMTSSetIJacobianLocal(dm, HopsTSJacobianLocal, ctx));
  }
  if (ts && plex->residual) {
    PetscCall(DMTSGetIFunctionLocal(dm, &ifun, &ctx));
    if (ifun == DMPlexTSComputeIFunctionFEM) PetscCall(DMTSSetIFunctionLocal(dm, HopsTSResidualLocal, ctx));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPlexHook(DM dm, Vec g, InsertMode mode, Vec l, void *ctx)
{
  HopsPlex *plex;

  PetscFunctionBegin;
  PetscCall(HopsPlexGet(dm, &plex));
  if (plex) PetscCall(HopsPlexSwap(dm, plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPlexAddHook(DM dm, HopsPlex *plex)
{
  PetscFunctionBegin;
  if (plex->hooked) PetscFunctionReturn(PETSC_SUCCESS);
  plex->hooked = PETSC_TRUE;
  PetscCall(DMGlobalToLocalHookAdd(dm, HopsPlexHook, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ wrapped operations ------------------------------------------------------------ */

static PetscErrorCode HopsPlexCreateMatrix(DM dm, Mat *A)
{
  HopsPlex *plex;
  char      type[64];
  PetscBool skip = dm->prealloc_skip;

  PetscFunctionBegin;
  PetscCall(HopsPlexGet(dm, &plex));
  if (plex && dm->mattype) { /* the code itself may have called DMSetMatType() */
    PetscBool pa;

    PetscCall(PetscStrcmp(dm->mattype, MATPA, &pa));
    if (pa) {
      plex->pa = PETSC_TRUE;
      PetscCall(DMSetMatType(dm, MATAIJ));
    }
  }
  if (!plex || !plex->pa) {
    PetscCall((*PlexCreateMatrix)(dm, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscStrncpy(type, dm->mattype ? dm->mattype : MATAIJ, sizeof(type)));
  PetscCall(DMSetMatType(dm, MATPA));
  PetscCall(DMSetMatrixPreallocateSkip(dm, PETSC_TRUE));
  PetscCall((*PlexCreateMatrix)(dm, A));
  PetscCall(DMSetMatrixPreallocateSkip(dm, skip));
  PetscCall(DMSetMatType(dm, type));
  PetscCall(HopsPlexAddHook(dm, plex));
  PetscCall(HopsPlexSwap(dm, plex));
  PetscCall(PetscInfo(dm, "matrix-free operator in place of an assembled matrix of type %s\n", type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPlexClone(DM dm, DM *clone)
{
  PetscFunctionBegin;
  PetscCall((*PlexClone)(dm, clone));
  PetscCall(HopsPlexWrap(*clone)); /* without the request: PETSc assembles mass matrices on clones */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs last in DMSetFromOptions(). The DM's own matrix type stays an assembled one, for mass matrices and interpolation */
static PetscErrorCode HopsPlexOptions(PetscObject obj, HopsOptionItems PetscOptionsObject, void *ctx)
{
  DM        dm = (DM)obj;
  HopsPlex *plex;
  PetscBool pa;

  PetscFunctionBegin;
  PetscCall(HopsPlexWrap(dm));
  PetscCall(HopsPlexGet(dm, &plex));
  if (!plex) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsBool("-hops_residual", "Evaluate PetscDS residuals by sum factorisation", "MATPA", plex->residual, &plex->residual, NULL));
  PetscCall(PetscStrcmp(dm->mattype, MATPA, &pa));
  if (pa) {
    plex->pa = PETSC_TRUE;
    PetscCall(DMSetMatType(dm, MATAIJ));
  }
  if (plex->residual) PetscCall(HopsPlexAddHook(dm, plex));
  for (DM c = dm; c;) { /* the levels that -dm_refine_hierarchy made */
    HopsPlex *coarse;

    PetscCall(DMGetCoarseDM(c, &c));
    if (!c) break;
    PetscCall(HopsPlexWrap(c));
    PetscCall(HopsPlexGet(c, &coarse));
    if (!coarse) continue;
    coarse->pa       = plex->pa;
    coarse->residual = plex->residual;
    if (coarse->residual) PetscCall(HopsPlexAddHook(c, coarse));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPlexWrap(DM dm)
{
  HopsPlex *plex;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMPLEX, &same));
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  if (dm->ops->creatematrix != HopsPlexCreateMatrix) {
    PlexCreateMatrix      = dm->ops->creatematrix;
    dm->ops->creatematrix = HopsPlexCreateMatrix;
  }
  if (dm->ops->clone != HopsPlexClone) {
    PlexClone      = dm->ops->clone;
    dm->ops->clone = HopsPlexClone;
  }
  PetscCall(HopsPlexGet(dm, &plex));
  if (!plex) {
    PetscContainer c;

    PetscCall(PetscNew(&plex));
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &c));
    PetscCall(PetscContainerSetPointer(c, plex));
    PetscCall(HopsContainerSetDestroy(c, HopsPlexFree));
    PetscCall(PetscObjectCompose((PetscObject)dm, "HopsPlex", (PetscObject)c));
    PetscCall(PetscContainerDestroy(&c));
    PetscCall(PetscObjectAddOptionsHandler((PetscObject)dm, HopsPlexOptions, NULL, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPlexCreate(DM dm)
{
  PetscFunctionBegin;
  PetscCall((*PlexCreate)(dm));
  PetscCall(HopsPlexWrap(dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexRegister(void)
{
  PetscErrorCode (*create)(DM);

  PetscFunctionBegin;
  PetscCall(DMInitializePackage());
  PetscCall(DMRegisterAll());
  PetscCall(PetscFunctionListFind(DMList, DMPLEX, &create));
  if (create == HopsPlexCreate) PetscFunctionReturn(PETSC_SUCCESS);
  PlexCreate = create;
  PetscCall(DMRegister(DMPLEX, HopsPlexCreate));
  PetscFunctionReturn(PETSC_SUCCESS);
}
