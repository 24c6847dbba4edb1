/*
  Unchanged DMPlex codes with a matrix-free Jacobian: -dm_mat_type pa. Those with a DMForest: forestpa.c.

  PETSc makes DMs by the name of their type, so hops registers "plex" anew with a constructor that calls
  PETSc's and wraps operations: creatematrix, clone, createsubdm, setfromoptions, createcoordinatedm and
  projectfunctionlocal. DMClone() and the replacement of a DM by a refined, distributed or read one set the
  operations back to PETSc's; the options handler of the object, which survives both and runs last in
  DMSetFromOptions(), wraps them again.

  The wrapped creatematrix makes a matrix of type MATPA, without a preallocation that a high order makes
  expensive, and adds a hook to DMGlobalToLocal(), which runs before any local function is evaluated. The hook
  replaces PETSc's own local Jacobian, DMPlexSNESComputeJacobianFEM() or DMPlexTSComputeIJacobianFEM(),
  wherever it is set, by one that hands the state to the matrix, and calls PETSc's where the matrix has
  another type. So it does not matter whether the code makes the matrix or sets the Jacobian first. A Jacobian
  or function of the SNES or TS itself (SNESSetJacobian(), -snes_mf) is called in place of local ones, and
  stays.

  Cells of an overlap belong to several ranks. PETSc's residual and assembly count them on each, hops' on
  their owner: so on meshes with overlap a matrix-free operator has hops' residual, and an assembled matrix is
  refused beside it.
*/
#include <hops/private/hopsdmimpl.h>
#include <hops/private/hopspatensorimpl.h>
#include <petsc/private/dmimpl.h> /* dm->ops, dm->mattype */
#include <petscts.h>
#include <petscdmplex.h>
#include <petscdmshell.h>

static PetscErrorCode (*PlexCreate)(DM)              = NULL;
static PetscErrorCode (*PlexCreateMatrix)(DM, Mat *) = NULL;
static PetscErrorCode (*PlexClone)(DM, DM *)         = NULL;
static PetscErrorCode (*PlexCreateCoordinateDM)(DM, DM *);
static PetscErrorCode (*PlexCreateSubDM)(DM, PetscInt, const PetscInt[], IS *, DM *);
static PetscErrorCode (*PlexSetFromOptions)(DM, HopsOptionItems);

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
  PetscCall(HopsPlexParentsDestroy(&plex->parents));
  PetscCall(PetscFree(plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------- Jacobians and residuals ---------------------------------- */

static PetscErrorCode HopsIsPA(Mat A, PetscBool *pa)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATPA, pa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As PETSc fills them: one matrix for both with the Jacobian's functions; of two, P with the preconditioner's
   where the PetscDS has any */
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
    PetscCheck(!own || mffd, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
               "The PetscDS has Jacobian functions for the preconditioning matrix alone, and one of Jacobian and preconditioning "
               "matrix has type " MATPA ", the other %s: make both or neither of type " MATPA,
               ((PetscObject)(jpa ? P : J))->type_name);
  }
  *todo = J == P ? (ppa ? PETSC_FALSE : PETSC_TRUE) : (jpa && ppa ? PETSC_FALSE : PETSC_TRUE);
  if (ppa) PetscCall(MatPASetState(P, dm, pre, X, Xt, t, shift));
  if (J != P && jpa) PetscCall(MatPASetState(J, dm, PETSC_FALSE, X, Xt, t, shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective: does any rank have cells of another one? */
static PetscErrorCode HopsPlexHasOverlap(DM dm, HopsPlex *plex, PetscBool *overlap)
{
  PetscSF         sf;
  PetscObjectId   id;
  PetscInt        cStart, cEnd, nleaves;
  const PetscInt *leaves;

  PetscFunctionBegin;
  PetscCall(HopsDMGetPlex(dm, &dm));
  PetscCall(DMGetPointSF(dm, &sf));
  PetscCall(PetscObjectGetId((PetscObject)sf, &id));
  if (id != plex->sfid) {
    plex->overlap = PETSC_FALSE;
    PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
    PetscCall(PetscSFGetGraph(sf, NULL, &nleaves, &leaves, NULL));
    for (PetscInt l = 0; l < nleaves; ++l) {
      const PetscInt p = leaves ? leaves[l] : l;

      if (p >= cStart && p < cEnd) plex->overlap = PETSC_TRUE;
    }
    PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &plex->overlap, 1, HOPS_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)dm)));
    plex->sfid = id;
  }
  *overlap = plex->overlap;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define HOPS_OVERLAP_REMEDY \
  "use -dm_mat_type " MATPA \
  " and -hops_residual together, on continuous Lagrange fields, or distribute the mesh without overlap (-dm_distribute_overlap " \
  "0; of a DMForest -dm_forest_partition_overlap 0)"

/* Refuses PETSc's assembly where the residual is hops' */
static PetscErrorCode HopsPlexCheckAssembly(DM dm)
{
  HopsPlex *plex;
  PetscBool overlap;

  PetscFunctionBegin;
  PetscCall(HopsPlexGet(dm, &plex));
  if (!plex) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPlexHasOverlap(dm, plex, &overlap));
  PetscCheck(!overlap, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "The mesh has overlapping partitions, whose cells PETSc's assembled Jacobian counts on every rank, and hops' residual "
             "once: " HOPS_OVERLAP_REMEDY);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The residual by hops, if it was asked for or must go with the operator; else, or where hops cannot, done is
   false */
static PetscErrorCode HopsPlexTryResidual(DM dm, PetscReal t, Vec X, Vec Xt, Vec F, PetscBool *done)
{
  HopsPlex *plex;
  PetscBool overlap, mesh;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(HopsPlexGet(dm, &plex));
  if (!plex) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPlexHasOverlap(dm, plex, &overlap));
  if (!plex->residual && !overlap) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMPLEX, &mesh));
  if (!mesh) PetscCall(PetscInfo(dm, "residuals on a DMForest are left to PETSc\n"));
  if (mesh && !plex->residual)
    PetscCall(
      PetscInfo(dm, "residual by sum factorisation, as by -hops_residual: PETSc's counts cells of the overlap on every rank\n"));
  if (mesh) PetscCall(HopsPlexResidual(dm, plex, t, X, Xt, F, done));
  PetscCheck(*done || !overlap, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "The mesh has overlapping partitions, whose cells PETSc's residual counts on every rank, and hops cannot evaluate "
             "this one (-info says why): " HOPS_OVERLAP_REMEDY);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSNESJacobianLocal(DM dm, Vec X, Mat J, Mat P, void *ctx)
{
  PetscBool todo = PETSC_FALSE, keep, jpa, ppa;

  PetscFunctionBegin;
  PetscCall(HopsLinearJacobian(dm, 0.0, J, P, &keep));
  if (keep) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsIsPA(J, &jpa));
  PetscCall(HopsIsPA(P, &ppa));
  PetscCall(HopsPlexJacobian(dm, 0.0, X, NULL, 0.0, J, P, &todo));
  if (!ppa) PetscCall(HopsPlexCheckAssembly(dm));
  if (!jpa && !ppa) PetscCall(DMPlexSNESComputeJacobianFEM(dm, X, J, P, ctx));
  else if (todo && !ppa) PetscCall(DMPlexSNESComputeJacobianFEM(dm, X, P, P, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsTSJacobianLocal(DM dm, PetscReal t, Vec X, Vec Xt, PetscReal shift, Mat J, Mat P, void *ctx)
{
  PetscBool todo = PETSC_FALSE, keep, jpa, ppa;

  PetscFunctionBegin;
  PetscCall(HopsLinearJacobian(dm, shift, J, P, &keep));
  if (keep) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsIsPA(J, &jpa));
  PetscCall(HopsIsPA(P, &ppa));
  PetscCall(HopsPlexJacobian(dm, t, X, Xt, shift, J, P, &todo));
  if (!ppa) PetscCall(HopsPlexCheckAssembly(dm));
  if (!jpa && !ppa) PetscCall(DMPlexTSComputeIJacobianFEM(dm, t, X, Xt, shift, J, P, ctx));
  else if (todo && !ppa) PetscCall(DMPlexTSComputeIJacobianFEM(dm, t, X, Xt, shift, P, P, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSNESResidualLocal(DM dm, Vec X, Vec F, void *ctx)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(HopsPlexTryResidual(dm, 0.0, X, NULL, F, &done));
  if (!done) PetscCall(DMPlexSNESComputeResidualFEM(dm, X, F, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsTSResidualLocal(DM dm, PetscReal t, Vec X, Vec Xt, Vec F, void *ctx)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(HopsPlexTryResidual(dm, t, X, Xt, F, &done));
  if (!done) PetscCall(DMPlexTSComputeIFunctionFEM(dm, t, X, Xt, F, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What PETSc calls for local functions: static functions of its own, read off a scratch DM */
static struct {
  PetscErrorCode (*function)(SNES, Vec, Vec, void *);
  PetscErrorCode (*jacobian)(SNES, Vec, Mat, Mat, void *);
  PetscErrorCode (*ifunction)(TS, PetscReal, Vec, Vec, Vec, void *);
  PetscErrorCode (*ijacobian)(TS, PetscReal, Vec, Vec, PetscReal, Mat, Mat, void *);
} HopsLocal;

static PetscErrorCode HopsLocalSetUp(void)
{
  DM dm;

  PetscFunctionBegin;
  if (HopsLocal.function) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMShellCreate(PETSC_COMM_SELF, &dm));
  PetscCall(DMSNESSetFunctionLocal(dm, HopsSNESResidualLocal, NULL));
  PetscCall(DMSNESSetJacobianLocal(dm, HopsSNESJacobianLocal, NULL));
  PetscCall(DMTSSetIFunctionLocal(dm, HopsTSResidualLocal, NULL));
  PetscCall(DMTSSetIJacobianLocal(dm, HopsTSJacobianLocal, NULL));
  PetscCall(DMSNESGetFunction(dm, &HopsLocal.function, NULL));
  PetscCall(DMSNESGetJacobian(dm, &HopsLocal.jacobian, NULL));
  PetscCall(DMTSGetIFunction(dm, &HopsLocal.ifunction, NULL));
  PetscCall(DMTSGetIJacobian(dm, &HopsLocal.ijacobian, NULL));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool HopsPlexIsLocalSNES(PetscErrorCode (*function)(SNES, Vec, Vec, void *))
{
  return function == HopsLocal.function ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode HopsPlexSwapSNES(DM dm, HopsPlex *plex)
{
  PetscErrorCode (*jaclocal)(DM, Vec, Mat, Mat, void *) = NULL;
  PetscErrorCode (*funlocal)(DM, Vec, Vec, void *)      = NULL;
  PetscErrorCode (*jac)(SNES, Vec, Mat, Mat, void *)    = NULL;
  PetscErrorCode (*fun)(SNES, Vec, Vec, void *)         = NULL;
  void *jacctx, *functx;

  PetscFunctionBegin;
  PetscCall(DMSNESGetFunction(dm, &fun, NULL));
  PetscCall(DMSNESGetJacobian(dm, &jac, NULL));
  PetscCheck(!plex->pa || (jac != SNESComputeJacobianDefault && jac != SNESComputeJacobianDefaultColor),
             PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "Finite differences (-snes_fd, -snes_fd_color) fill an assembled matrix, and -dm_mat_type " MATPA
             " makes none: leave it out, or use -snes_mf or -snes_mf_operator");
  PetscCall(DMSNESGetJacobianLocal(dm, &jaclocal, &jacctx));
  PetscCall(DMSNESGetFunctionLocal(dm, &funlocal, &functx));
  if (jac == HopsLocal.jacobian && jaclocal == DMPlexSNESComputeJacobianFEM)
    PetscCall(DMSNESSetJacobianLocal(dm, HopsSNESJacobianLocal, jacctx));
  if (fun == HopsLocal.function && funlocal == DMPlexSNESComputeResidualFEM)
    PetscCall(DMSNESSetFunctionLocal(dm, HopsSNESResidualLocal, functx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPlexSwapTS(DM dm)
{
  PetscErrorCode (*jaclocal)(DM, PetscReal, Vec, Vec, PetscReal, Mat, Mat, void *) = NULL;
  PetscErrorCode (*funlocal)(DM, PetscReal, Vec, Vec, Vec, void *)                 = NULL;
  PetscErrorCode (*jac)(TS, PetscReal, Vec, Vec, PetscReal, Mat, Mat, void *)      = NULL;
  PetscErrorCode (*fun)(TS, PetscReal, Vec, Vec, Vec, void *)                      = NULL;
  void *jacctx, *functx;

  PetscFunctionBegin;
  PetscCall(DMTSGetIFunction(dm, &fun, NULL));
  PetscCall(DMTSGetIJacobian(dm, &jac, NULL));
  PetscCall(DMTSGetIJacobianLocal(dm, &jaclocal, &jacctx));
  PetscCall(DMTSGetIFunctionLocal(dm, &funlocal, &functx));
  if (jac == HopsLocal.ijacobian && jaclocal == DMPlexTSComputeIJacobianFEM)
    PetscCall(DMTSSetIJacobianLocal(dm, HopsTSJacobianLocal, jacctx));
  if (fun == HopsLocal.ifunction && funlocal == DMPlexTSComputeIFunctionFEM)
    PetscCall(DMTSSetIFunctionLocal(dm, HopsTSResidualLocal, functx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Swaps PETSc's local functions where they are what the solver calls; what the user wrote stays */
PetscErrorCode HopsPlexSwap(DM dm, HopsPlex *plex)
{
  PetscFunctionBegin;
  if (!plex->pa && !plex->residual) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsLocalSetUp());
  if (dm->dmsnes) PetscCall(HopsPlexSwapSNES(dm, plex));
  if (dm->dmts) PetscCall(HopsPlexSwapTS(dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPlexHook(DM dm, Vec g, InsertMode mode, Vec l, void *ctx)
{
  HopsPlex *plex;
  PetscBool mesh;

  PetscFunctionBegin;
  PetscCall(HopsPlexGet(dm, &plex));
  if (plex) PetscCall(HopsPlexSwap(dm, plex));
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMPLEX, &mesh));
  if (mesh) PetscCall(HopsPlexSetSectionSF(dm));
  else if (plex && plex->pa) PetscCall(HopsForestPrepare(dm, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPlexLocalHook(DM dm, Vec l, InsertMode mode, Vec g, void *ctx)
{
  PetscBool mesh;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMPLEX, &mesh));
  if (mesh) PetscCall(HopsPlexSetSectionSF(dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexAddHook(DM dm, HopsPlex *plex)
{
  PetscBool mesh;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMPLEX, &mesh));
  if (mesh) PetscCall(HopsPlexWrapBoundary(dm));
  if (plex->hooked) PetscFunctionReturn(PETSC_SUCCESS);
  plex->hooked = PETSC_TRUE;
  PetscCall(DMGlobalToLocalHookAdd(dm, HopsPlexHook, NULL, NULL));
  PetscCall(DMLocalToGlobalHookAdd(dm, HopsPlexLocalHook, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------- wrapped operations ------------------------------------- */

/* The request moves from the DM's matrix type to hops' own mark: the DM keeps an assembled type, for mass
   matrices and interpolation. Of a forest, which has none, it stays, too: adapted forests get it */
PetscErrorCode HopsPlexTakeRequest(DM dm, HopsPlex *plex)
{
  PetscBool pa, mesh;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(dm->mattype, MATPA, &pa));
  if (!pa) PetscFunctionReturn(PETSC_SUCCESS);
  plex->pa = PETSC_TRUE;
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMPLEX, &mesh));
  if (mesh) PetscCall(DMSetMatType(dm, MATAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexCreateMatrixPA(DM dm, Mat *A)
{
  char      type[64];
  PetscBool skip = dm->prealloc_skip;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(type, dm->mattype ? dm->mattype : MATAIJ, sizeof(type)));
  PetscCall(DMSetMatType(dm, MATPA));
  PetscCall(DMSetMatrixPreallocateSkip(dm, PETSC_TRUE));
  PetscCall((*PlexCreateMatrix)(dm, A));
  PetscCall(DMSetMatrixPreallocateSkip(dm, skip));
  PetscCall(DMSetMatType(dm, type));
  PetscCall(PetscInfo(dm, "matrix-free operator in place of an assembled matrix of type %s\n", type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPlexCreateMatrix(DM dm, Mat *A)
{
  HopsPlex *plex;

  PetscFunctionBegin;
  PetscCall(HopsPlexGet(dm, &plex));
  if (plex) PetscCall(HopsPlexTakeRequest(dm, plex)); /* the code itself may have called DMSetMatType() */
  if (!plex || !plex->pa) {
    PetscCall((*PlexCreateMatrix)(dm, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HopsPlexCreateMatrixPA(dm, A));
  PetscCall(HopsPlexAddHook(dm, plex));
  PetscCall(HopsPlexSwap(dm, plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static DM HopsPlexDivided = NULL; /* whose fields become a DM */

static PetscErrorCode HopsPlexClone(DM dm, DM *clone)
{
  HopsPlex *plex;

  PetscFunctionBegin;
  PetscCall((*PlexClone)(dm, clone));
  PetscCall(HopsPlexWrap(*clone)); /* without the request: PETSc assembles mass matrices on clones */
  PetscCall(HopsPlexGet(*clone, &plex));
  if (plex && dm == HopsPlexDivided) plex->projects = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc calls a code's constructors of null spaces with the new DM, which project functions onto it */
static PetscErrorCode HopsPlexCreateSubDM(DM dm, PetscInt n, const PetscInt fields[], IS *is, DM *sub)
{
  const DM       outer = HopsPlexDivided;
  HopsPlex      *plex;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(HopsPlexGet(dm, &plex));
  HopsPlexDivided = plex && (plex->residual || plex->projects) ? dm : NULL;
  ierr            = (*PlexCreateSubDM)(dm, n, fields, is, sub);
  HopsPlexDivided = outer;
  PetscCall(ierr);
  if (!sub || !*sub) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsPlexGet(*sub, &plex));
  if (!plex || !plex->projects) PetscFunctionReturn(PETSC_SUCCESS);
  plex->projects = PETSC_FALSE;
  PetscCall(HopsPlexResidualReset(plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coordinates' matrices are projections and interpolations */
static PetscErrorCode HopsPlexCreateCoordinateDM(DM dm, DM *cdm)
{
  PetscBool pa;

  PetscFunctionBegin;
  PetscCall((*PlexCreateCoordinateDM)(dm, cdm));
  PetscCall(PetscStrcmp((*cdm)->mattype, MATPA, &pa));
  if (pa) PetscCall(DMSetMatType(*cdm, MATAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's own may make coordinate DMs, which take over the matrix type */
static PetscErrorCode HopsPlexSetFromOptions(DM dm, HopsOptionItems PetscOptionsObject)
{
  HopsPlex *plex;

  PetscFunctionBegin;
  PetscCall(HopsPlexGet(dm, &plex));
  if (plex) PetscCall(HopsPlexTakeRequest(dm, plex));
  PetscCall((*PlexSetFromOptions)(dm, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -hops_linear without a value is that it is */
static PetscErrorCode HopsPlexLinearOption(DM dm, HopsPlex *plex, HopsOptionItems PetscOptionsObject)
{
  const char *const names[] = {"", "yes", "true", "1", "no", "false", "0", "auto"};
  char              value[16];
  PetscBool         set, same = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsString("-hops_linear", "Is the form linear: yes, no, or auto, to find out", "MATPA",
                               plex->linear == HOPS_LINEAR_YES  ? "yes"
                               : plex->linear == HOPS_LINEAR_NO ? "no"
                                                                : "auto",
                               value, sizeof(value), &set));
  for (PetscInt i = 0; i < 8 && set && !same; ++i) {
    PetscCall(PetscStrcasecmp(value, names[i], &same));
    if (same) plex->linear = i < 4 ? HOPS_LINEAR_YES : i < 7 ? HOPS_LINEAR_NO : HOPS_LINEAR_AUTO;
  }
  PetscCheck(same || !set, PetscObjectComm((PetscObject)dm), PETSC_ERR_USER_INPUT, "-hops_linear is yes, no or auto, not %s",
             value);
  PetscCall(PetscOptionsBool("-hops_residual_check", "At the end of each solve with a linear form, evaluate its residual in full",
                             "MATPA", plex->check, &plex->check, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs last in DMSetFromOptions() */
static PetscErrorCode HopsPlexOptions(PetscObject obj, HopsOptionItems PetscOptionsObject, void *ctx)
{
  DM        dm = (DM)obj;
  HopsPlex *plex;
  char      files[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  PetscCall(HopsPlexWrap(dm));
  PetscCall(HopsPlexGet(dm, &plex));
  if (!plex) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsBool("-hops_residual", "Evaluate PetscDS residuals by sum factorisation", "MATPA", plex->residual,
                             &plex->residual, NULL));
  PetscCall(HopsPlexLinearOption(dm, plex, PetscOptionsObject));
  PetscCall(PetscOptionsString("-hops_pointwise_source", "Sources of the point functions, to compile them for a device", "MATPA",
                               "", files, sizeof(files), NULL)); /* read where they are needed */
  PetscCall(HopsPlexTakeRequest(dm, plex));
  if (plex->pa || plex->residual) PetscCall(HopsPlexAddHook(dm, plex));
  for (DM c = dm; c;) { /* the levels that -dm_refine_hierarchy made */
    HopsPlex *coarse;

    PetscCall(DMGetCoarseDM(c, &c));
    if (!c) break;
    PetscCall(HopsPlexWrap(c));
    PetscCall(HopsPlexGet(c, &coarse));
    if (!coarse) continue;
    coarse->pa       = plex->pa;
    coarse->residual = plex->residual;
    coarse->linear   = plex->linear;
    coarse->check    = plex->check;
    if (coarse->pa || coarse->residual) PetscCall(HopsPlexAddHook(c, coarse));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPlexAddState(DM dm)
{
  HopsPlex      *plex;
  PetscContainer c;

  PetscFunctionBegin;
  PetscCall(HopsPlexGet(dm, &plex));
  if (plex) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&plex));
  plex->check = PETSC_TRUE;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &c));
  PetscCall(PetscContainerSetPointer(c, plex));
  PetscCall(HopsContainerSetDestroy(c, HopsPlexFree));
  PetscCall(PetscObjectCompose((PetscObject)dm, "HopsPlex", (PetscObject)c));
  PetscCall(PetscContainerDestroy(&c));
  PetscCall(PetscObjectAddOptionsHandler((PetscObject)dm, HopsPlexOptions, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsPlexWrap(DM dm)
{
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
  if (dm->ops->createsubdm != HopsPlexCreateSubDM) {
    PlexCreateSubDM      = dm->ops->createsubdm;
    dm->ops->createsubdm = HopsPlexCreateSubDM;
  }
  if (dm->ops->setfromoptions != HopsPlexSetFromOptions) {
    PlexSetFromOptions      = dm->ops->setfromoptions;
    dm->ops->setfromoptions = HopsPlexSetFromOptions;
  }
  if (dm->ops->createcoordinatedm != HopsPlexCreateCoordinateDM) {
    PlexCreateCoordinateDM      = dm->ops->createcoordinatedm;
    dm->ops->createcoordinatedm = HopsPlexCreateCoordinateDM;
  }
  PetscCall(HopsPlexWrapProject(dm));
  PetscCall(HopsPlexAddState(dm));
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
  PetscCall(HopsForestRegister());
  PetscFunctionReturn(PETSC_SUCCESS);
}
