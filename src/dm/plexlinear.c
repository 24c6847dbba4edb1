/*
  Linear forms: -hops_linear. A residual F of a PetscDS calls the point functions of a code at all points, and
  so do the tensors of its Jacobian. Where F is affine in u, one Jacobian A serves all states, and within a
  solve F(v) = F(u) + A (v - u), with u the state that the solve began with.

  Data flow. SNES types newtonls and ksponly are registered anew, as DMPLEX is in plexpa.c, with constructors
  that call PETSc's and wrap the operation `solve`. For the time of a solve its DM's function,
  sdm->ops->computefunction, is HopsLinearFunction(). It sees global vectors before essential values are
  inserted into local ones, and before a TS makes u_t of u; what it replaces is what it calls in full:

    SNESSolve()
      HopsLinearSolve()                   takes the function's place
        PETSc's solve
          SNESComputeFunction(u)          in full: F(u) with the values of now of all that F depends on
          SNESComputeJacobian(u)          the local Jacobians of plexpa.c ask HopsLinearJacobian() first
          KSPSolve()                      nothing is set up where the Jacobian was left as it is
          SNESComputeFunction(v), ...     F(u) + A (v - u)
        HopsLinearCheck()                 F(v) in full against F(u) + A (v - u) at the final v
        PETSc's solve                     where these differ: once more from u, everything in full
      the function's place is given back

  A is the Jacobian matrix of the SNES, which owns it, whatever its type but for matrix-free differences. It
  stays while its state, the shift of a time step, constants, auxiliary vectors and coordinates are those of
  its last evaluation. Its object state does not change, so neither does the preconditioner. Time is not among
  these: each solve begins with F in full, at its time and essential values, and A(t) is what the check sees.

  Nothing is believed for good. Functions that are no derivatives (Picard), coefficients that depend on time
  or on variables of the program, thresholds that a state crosses: all of them make the check fail. It holds F
  to the rounding of its terms, so that a tolerance which the one residual meets is met by the other.

  Is the form linear? The user says so, or it is found: in two solves the full residual at the end was
  F(u) + A (v - u), and then it is at states of the solution's range and beyond, of both signs. These tests
  only decide when to begin: the check is made in each solve, whoever said that the form is linear.
*/
#include <hops/private/hopsdmimpl.h>
#include <petsc/private/snesimpl.h>
#include <petscdmplex.h>

/* Relative to the size of the terms, which cancel: 20 times and more what rounding was found to do */
#define HOPS_LINEAR_TOLERANCE 1e-13
#define HOPS_LINEAR_SOLVES    2

typedef enum {
  HOPS_LINEAR_UNKNOWN,
  HOPS_LINEAR_KNOWN,
  HOPS_LINEAR_WRONG
} HopsLinearStatus;

/* Of a SNES, which has it composed */
typedef struct _HopsLinear *HopsLinear;
struct _HopsLinear {
  HopsLinear       outer; /* of the solve around this one */
  SNES             snes;
  DM               dm;
  PetscObjectId    dmid;
  PetscInt         n; /* local unknowns */
  DMSNES           sdm;
  HopsLinearStatus status;
  PetscInt         nsolves, agreed; /* solves, and those that ended well while it was unknown */
  PetscInt         nkept, nmodel;   /* Jacobians and residuals left out */
  PetscReal        worst;           /* of the checks */
  PetscErrorCode (*function)(SNES, Vec, Vec, void *);
  /* of this solve */
  PetscBool begun, full;       /* F(u) is there; nothing is left out */
  PetscBool evaluated, relied; /* A was asked for; its tolerance rests on what was left out */
  Vec       u, f, d, y, diagonal;
  /* of the last evaluation of the Jacobian */
  PetscBool        marked; /* the states are known: PETSc assembles after the functions of the DM */
  PetscObjectId    id[2];
  PetscObjectState state[2];
  Mat              A;
  PetscReal        shift;
  HopsDSData       data;
  HopsVecKey       coordinates;
};

/* the solves that run, the innermost first */
static HopsLinear HopsLinearRunning = NULL;

/* Vectors hold the DM, so they belong to the SNES, which the DM does not hold */
static PetscErrorCode HopsLinearDestroyVecs(HopsLinear l)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&l->u));
  PetscCall(VecDestroy(&l->f));
  PetscCall(VecDestroy(&l->d));
  PetscCall(VecDestroy(&l->y));
  PetscCall(VecDestroy(&l->diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLinearReset(HopsLinear l)
{
  PetscFunctionBegin;
  PetscCall(HopsLinearDestroyVecs(l));
  PetscCall(HopsDSDataDestroy(&l->data));
  PetscCall(PetscMemzero(l, sizeof(*l)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLinearFree(HopsContainerCtx ctx)
{
  HopsLinear l = (HopsLinear)HopsContainerData(ctx);

  PetscFunctionBegin;
  PetscCall(HopsLinearReset(l));
  PetscCall(PetscFree(l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLinearQuery(SNES snes, HopsLinear *l)
{
  PetscContainer c;

  PetscFunctionBegin;
  *l = NULL;
  PetscCall(PetscObjectQuery((PetscObject)snes, "HopsLinear", (PetscObject *)&c));
  if (c) PetscCall(PetscContainerGetPointer(c, (void **)l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For this DM and its unknowns of now */
static PetscErrorCode HopsLinearGet(SNES snes, DM dm, HopsLinear *l)
{
  PetscObjectId id;
  PetscInt      n;

  PetscFunctionBegin;
  PetscCall(HopsLinearQuery(snes, l));
  PetscCall(PetscObjectGetId((PetscObject)dm, &id));
  PetscCall(VecGetLocalSize(snes->vec_sol, &n));
  if (!*l) {
    PetscContainer c;

    PetscCall(PetscNew(l));
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &c));
    PetscCall(PetscContainerSetPointer(c, *l));
    PetscCall(HopsContainerSetDestroy(c, HopsLinearFree));
    PetscCall(PetscObjectCompose((PetscObject)snes, "HopsLinear", (PetscObject)c));
    PetscCall(PetscContainerDestroy(&c));
  } else if ((*l)->dmid != id || (*l)->n != n) PetscCall(HopsLinearReset(*l));
  (*l)->snes = snes;
  (*l)->dm   = dm;
  (*l)->dmid = id;
  (*l)->n    = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------------- the Jacobian ---------------------------------------- */

static PetscErrorCode HopsLinearStates(Mat J, Mat P, PetscObjectId id[2], PetscObjectState state[2])
{
  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)J, &id[0]));
  PetscCall(PetscObjectGetId((PetscObject)P, &id[1]));
  PetscCall(PetscObjectStateGet((PetscObject)J, &state[0]));
  PetscCall(PetscObjectStateGet((PetscObject)P, &state[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Notes the states after an evaluation; else, is A still what was evaluated? */
static PetscErrorCode HopsLinearMark(HopsLinear l, PetscBool *same)
{
  PetscObjectId    id[2];
  PetscObjectState state[2];

  PetscFunctionBegin;
  *same = l->evaluated;
  if (!l->evaluated) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsLinearStates(l->snes->jacobian, l->snes->jacobian_pre, id, state));
  if (!l->marked && id[0] == l->id[0] && id[1] == l->id[1]) {
    PetscCall(PetscArraycpy(l->state, state, 2));
    l->marked = PETSC_TRUE;
  }
  for (PetscInt i = 0; i < 2; ++i)
    if (id[i] != l->id[i] || state[i] != l->state[i]) *same = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLinearJacobian(DM dm, PetscReal shift, Mat J, Mat P, PetscBool *keep)
{
  HopsLinear       l = HopsLinearRunning;
  PetscObjectId    id[2];
  PetscObjectState state[2];
  PetscBool        shell, moved, changed;

  PetscFunctionBegin;
  *keep = PETSC_FALSE;
  while (l && l->dm != dm) l = l->outer;
  if (!l || J != l->snes->jacobian || P != l->snes->jacobian_pre) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompareAny((PetscObject)J, &shell, MATMFFD, MATSHELL, ""));
  if (shell) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsLinearStates(J, P, id, state));
  PetscCall(HopsPlexCoordinatesChanged(dm, &l->coordinates, &moved));
  PetscCall(HopsDSDataChanged(dm, &l->data, &changed));
  if (shift != l->shift) changed = PETSC_TRUE;
  l->shift = shift;
  if (moved || !l->marked || l->status != HOPS_LINEAR_KNOWN || l->full) changed = PETSC_TRUE;
  for (PetscInt i = 0; i < 2; ++i)
    if (id[i] != l->id[i] || state[i] != l->state[i]) changed = PETSC_TRUE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &changed, 1, HOPS_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)dm)));
  l->evaluated = PETSC_TRUE;
  if (changed) {
    PetscCall(PetscArraycpy(l->id, id, 2));
    l->marked = PETSC_FALSE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscInfo(l->snes, "the form is linear: its Jacobian and the preconditioner stay as they are\n"));
  ++l->nkept;
  *keep = l->relied = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---------------------------------------- the residual ---------------------------------------- */

/* y = F(u) + A (v - u) */
static PetscErrorCode HopsLinearModel(HopsLinear l, Vec v, Vec y)
{
  PetscFunctionBegin;
  PetscCall(VecWAXPY(l->d, -1.0, l->u, v));
  PetscCall(MatMult(l->snes->jacobian, l->d, y));
  PetscCall(VecAXPY(y, 1.0, l->f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the place of the DM's function while a solve runs */
static PetscErrorCode HopsLinearFunction(SNES snes, Vec v, Vec F, void *ctx)
{
  HopsLinear l = HopsLinearRunning;
  DM         dm;
  DMSNES     sdm;
  PetscBool  same;

  PetscFunctionBegin;
  PetscCall(SNESGetDM(snes, &dm));
  PetscCall(DMGetDMSNES(dm, &sdm));
  while (l && l->sdm != sdm) l = l->outer;
  PetscCheck(l, PetscObjectComm((PetscObject)snes), PETSC_ERR_PLIB, "The function of a solve that does not run");
  PetscCall(HopsLinearMark(l, &same));
  if (snes == l->snes && l->begun && !l->full && same && l->status == HOPS_LINEAR_KNOWN) {
    PetscCall(HopsLinearModel(l, v, F));
    ++l->nmodel;
    l->relied = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*l->function)(snes, v, F, ctx));
  if (snes != l->snes || l->begun) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCopy(v, l->u));
  PetscCall(VecCopy(F, l->f));
  l->begun = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* F(v) in full, as SNESComputeFunction() has it: with the right-hand side of SNESSolve() */
static PetscErrorCode HopsLinearFull(HopsLinear l, Vec v, Vec F)
{
  const PetscBool full = l->full;

  PetscFunctionBegin;
  l->full = PETSC_TRUE;
  PetscCall(SNESComputeFunction(l->snes, v, F));
  l->full = full;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The difference of F, in full, and the model at v, relative to the size of the terms: of the diagonal's
   products with the states, which cancel, and of the residuals. l->y becomes that of the model */
static PetscErrorCode HopsLinearCompare(HopsLinear l, Vec v, Vec F, PetscReal *difference)
{
  PetscReal norm, scale = 0.0;
  Vec       part[4] = {v, l->u, NULL, NULL};

  PetscFunctionBegin;
  if (!l->diagonal) {
    PetscCall(VecDuplicate(v, &l->diagonal));
    PetscCall(MatGetDiagonal(l->snes->jacobian, l->diagonal));
  }
  part[2] = l->f;
  part[3] = F;
  for (PetscInt i = 0; i < 4; ++i) {
    if (i < 2) PetscCall(VecPointwiseMult(l->d, l->diagonal, part[i]));
    PetscCall(VecNorm(i < 2 ? l->d : part[i], NORM_2, &norm));
    scale = PetscMax(scale, norm);
  }
  PetscCall(HopsLinearModel(l, v, l->y));
  if (l->snes->vec_rhs) PetscCall(VecAXPY(l->y, -1.0, l->snes->vec_rhs));
  PetscCall(VecAXPY(l->y, -1.0, F));
  PetscCall(VecNorm(l->y, NORM_2, &norm));
  *difference = norm == 0.0 ? 0.0 : norm / scale; /* not-a-number where F is */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* States of the solution's range and beyond, of both signs, in all of the domain */
static PetscErrorCode HopsLinearProbe(HopsLinear l, Vec v, Vec F, PetscBool *linear)
{
  const PetscReal times[] = {0.0, 100.0, -100.0};
  PetscReal       most, difference;
  Vec             w;

  PetscFunctionBegin;
  PetscCall(VecNorm(v, NORM_INFINITY, &most));
  *linear = most > 0.0 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(VecDuplicate(v, &w));
  for (PetscInt i = 0; i < 3 && *linear; ++i) {
    if (times[i] != 0.0) {
      PetscCall(VecCopy(v, w));
      PetscCall(VecScale(w, times[i]));
    } else { /* random ones from -most to most */
      PetscCall(VecSetRandom(w, NULL));
      PetscCall(VecShift(w, -0.5));
      PetscCall(VecScale(w, 2.0 * most));
    }
    PetscCall(HopsLinearFull(l, w, F));
    PetscCall(HopsLinearCompare(l, w, F, &difference));
    if (!(difference <= HOPS_LINEAR_TOLERANCE)) *linear = PETSC_FALSE;
  }
  PetscCall(VecDestroy(&w));
  PetscCall(HopsLinearFull(l, v, F)); /* a TS has what belongs to the last state that was evaluated */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a solve with a form of which nothing is known */
static PetscErrorCode HopsLinearLearn(HopsLinear l, Vec v, Vec F)
{
  PetscReal difference, step, norm;
  PetscBool linear = PETSC_TRUE;

  PetscFunctionBegin;
  if (l->snes->reason <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  /* a residual more: not where there is one solve alone */
  if (!l->snes->alwayscomputesfinalresidual && l->nsolves < 2) PetscFunctionReturn(PETSC_SUCCESS);
  if (!l->snes->alwayscomputesfinalresidual) PetscCall(HopsLinearFull(l, v, F));
  PetscCall(HopsLinearCompare(l, v, F, &difference));
  PetscCall(VecWAXPY(l->d, -1.0, l->u, v));
  PetscCall(VecNorm(l->d, NORM_2, &step));
  PetscCall(VecNorm(v, NORM_2, &norm));
  if (!(difference <= HOPS_LINEAR_TOLERANCE)) linear = PETSC_FALSE;
  else if (step > 1e-6 * norm) ++l->agreed; /* a smaller step tells nothing */
  if (linear && l->agreed >= HOPS_LINEAR_SOLVES) {
    PetscCall(HopsLinearProbe(l, v, F, &linear));
    if (linear) l->status = HOPS_LINEAR_KNOWN;
    PetscCall(PetscInfo(l->snes, "the form is %s\n", linear ? "found to be linear" : "not linear at all states"));
  }
  if (!linear) l->status = HOPS_LINEAR_WRONG;
  PetscCall(
    PetscInfo(l->snes, "linear forms: the residual differs from that of a linear form by %g, relative\n", (double)difference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* At the end of a solve; again: it was not a solve of this form */
static PetscErrorCode HopsLinearCheck(HopsLinear l, const HopsPlex *plex, PetscBool *again)
{
  SNES            snes     = l->snes;
  const PetscBool declared = plex->linear == HOPS_LINEAR_YES ? PETSC_TRUE : PETSC_FALSE;
  PetscReal       difference;
  PetscBool       same, needless;
  PetscMPIInt     rank;

  PetscFunctionBegin;
  *again = PETSC_FALSE;
  /* a TS has more that belongs to the last state which was evaluated, and its Jacobian may depend on time */
  needless = !plex->check && HopsPlexIsLocalSNES(l->function) ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(HopsLinearMark(l, &same));
  if (!l->begun || (!same && !l->relied)) PetscFunctionReturn(PETSC_SUCCESS);
  if (l->status == HOPS_LINEAR_UNKNOWN) {
    PetscCall(HopsLinearLearn(l, snes->vec_sol, snes->vec_func));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!l->relied || needless) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsLinearFull(l, snes->vec_sol, snes->vec_func));
  PetscCall(HopsLinearCompare(l, snes->vec_sol, snes->vec_func, &difference));
  PetscCall(PetscInfo(snes, "linear form: the full residual differs by %g, relative\n", (double)difference));
  if (same && difference <= HOPS_LINEAR_TOLERANCE) {
    l->worst = PetscMax(l->worst, difference);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  l->status = HOPS_LINEAR_WRONG;
  *again    = PETSC_TRUE;
  PetscCall(PetscInfo(snes, "the form is not linear: this solve is done again, with full residuals and new Jacobians\n"));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)snes), &rank));
  if (!rank && declared)
    PetscCall((*PetscErrorPrintf)("Warning: -hops_linear yes: the form is not linear, or its operator depends on time, or its "
                                  "Jacobian functions are not its derivative: the full residual differs by %g, relative. This "
                                  "solve is done again, and all others from now on, as with -hops_linear no\n",
                                  (double)difference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ solves ------------------------------------------- */

static PetscErrorCode HopsLinearRun(HopsLinear l, const HopsPlex *plex, PetscErrorCode (*solve)(SNES))
{
  PetscBool again;

  PetscFunctionBegin;
  PetscCall((*solve)(l->snes));
  PetscCall(HopsLinearCheck(l, plex, &again));
  if (!again) PetscFunctionReturn(PETSC_SUCCESS);
  l->full = PETSC_TRUE;
  PetscCall(VecCopy(l->u, l->snes->vec_sol));
  PetscCall((*solve)(l->snes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLinearWanted(DM dm, const HopsPlex *plex, PetscBool *wanted)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)dm);

  PetscFunctionBegin;
  *wanted =
    plex->linear == HOPS_LINEAR_YES || plex->linear == HOPS_LINEAR_AUTO || (plex->linear == HOPS_LINEAR_DEFAULT && plex->residual)
      ? PETSC_TRUE
      : PETSC_FALSE;
  PetscCheck(plex->check || !*wanted || plex->linear == HOPS_LINEAR_YES, comm, PETSC_ERR_USER_INPUT,
             "-hops_residual_check 0 leaves out the check of a form that nobody has said to be linear: add -hops_linear yes, or "
             "-hops_linear no, or leave the check on");
  PetscCheck(plex->pa || plex->residual || plex->linear != HOPS_LINEAR_YES, comm, PETSC_ERR_USER_INPUT,
             "-hops_linear yes is of use where hops evaluates: add -hops_residual or -dm_mat_type " MATPA);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLinearBegin(HopsLinear l, const HopsPlex *plex)
{
  PetscFunctionBegin;
  if (!l->u) {
    PetscCall(VecDuplicate(l->snes->vec_sol, &l->u));
    PetscCall(VecDuplicate(l->u, &l->f));
    PetscCall(VecDuplicate(l->u, &l->d));
    PetscCall(VecDuplicate(l->u, &l->y));
  }
  if (plex->linear == HOPS_LINEAR_YES && l->status == HOPS_LINEAR_UNKNOWN) l->status = HOPS_LINEAR_KNOWN;
  l->begun = l->full = l->evaluated = l->relied = PETSC_FALSE;
  ++l->nsolves;
  l->outer                     = HopsLinearRunning;
  l->function                  = l->sdm->ops->computefunction;
  l->sdm->ops->computefunction = HopsLinearFunction;
  HopsLinearRunning            = l;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsLinearSolve(SNES snes, PetscErrorCode (*solve)(SNES))
{
  DM             dm;
  DMSNES         sdm;
  HopsPlex      *plex;
  HopsLinear     l;
  PetscErrorCode ierr;
  PetscBool      wanted;

  PetscFunctionBegin;
  PetscCall(SNESGetDM(snes, &dm));
  PetscCall(HopsPlexGet(dm, &plex));
  if (!plex) goto plain;
  PetscCall(HopsPlexSwap(dm, plex)); /* which looks for PETSc's function, and must not find this file's */
  PetscCall(HopsLinearWanted(dm, plex, &wanted));
  if (!wanted || snes->npc || snes->vec_func_init_set) goto plain;
  for (l = HopsLinearRunning; l; l = l->outer)
    if (l->dm == dm) goto plain;
  PetscCall(HopsLinearGet(snes, dm, &l));
  PetscCall(DMGetDMSNESWrite(dm, &sdm));
  if (l->status == HOPS_LINEAR_WRONG || !sdm->ops->computefunction) goto plain;
  l->sdm = sdm;
  PetscCall(HopsLinearBegin(l, plex));
  ierr = HopsLinearRun(l, plex, solve);
  if (sdm->ops->computefunction == HopsLinearFunction) sdm->ops->computefunction = l->function;
  HopsLinearRunning = l->outer;
  PetscCall(ierr);
  if (l->status == HOPS_LINEAR_WRONG) PetscCall(HopsLinearDestroyVecs(l));
  PetscFunctionReturn(PETSC_SUCCESS);
plain:
  PetscCall((*solve)(snes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static struct {
  const char *type;
  PetscErrorCode (*create)(SNES), (*solve)(SNES), (*view)(SNES, PetscViewer);
} HopsSNES[2] = {{SNESNEWTONLS, NULL, NULL, NULL}, {SNESKSPONLY, NULL, NULL, NULL}};

static PetscErrorCode HopsLinearView(SNES snes, PetscViewer viewer, PetscErrorCode (*view)(SNES, PetscViewer))
{
  HopsLinear l;
  PetscBool  ascii;

  PetscFunctionBegin;
  if (view) PetscCall((*view)(snes, viewer));
  PetscCall(HopsLinearQuery(snes, &l));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!l || !ascii || l->status != HOPS_LINEAR_KNOWN) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  hops: the form is linear, %" PetscInt_FMT " residuals and %" PetscInt_FMT
                                   " Jacobians left out, full residuals differ by %g at most\n",
                                   l->nmodel, l->nkept, (double)l->worst));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSolveNewtonLS(SNES snes)
{
  PetscFunctionBegin;
  PetscCall(HopsLinearSolve(snes, HopsSNES[0].solve));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsSolveKSPOnly(SNES snes)
{
  PetscFunctionBegin;
  PetscCall(HopsLinearSolve(snes, HopsSNES[1].solve));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsViewNewtonLS(SNES snes, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(HopsLinearView(snes, viewer, HopsSNES[0].view));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsViewKSPOnly(SNES snes, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(HopsLinearView(snes, viewer, HopsSNES[1].view));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsCreateNewtonLS(SNES snes)
{
  PetscFunctionBegin;
  PetscCall((*HopsSNES[0].create)(snes));
  HopsSNES[0].solve = snes->ops->solve;
  HopsSNES[0].view  = snes->ops->view;
  snes->ops->solve  = HopsSolveNewtonLS;
  snes->ops->view   = HopsViewNewtonLS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HopsCreateKSPOnly(SNES snes)
{
  PetscFunctionBegin;
  PetscCall((*HopsSNES[1].create)(snes));
  HopsSNES[1].solve = snes->ops->solve;
  HopsSNES[1].view  = snes->ops->view;
  snes->ops->solve  = HopsSolveKSPOnly;
  snes->ops->view   = HopsViewKSPOnly;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsLinearRegister(void)
{
  PetscErrorCode (*const wrapped[2])(SNES) = {HopsCreateNewtonLS, HopsCreateKSPOnly};

  PetscFunctionBegin;
  PetscCall(SNESInitializePackage());
  PetscCall(SNESRegisterAll());
  for (PetscInt i = 0; i < 2; ++i) {
    PetscErrorCode (*create)(SNES);

    PetscCall(PetscFunctionListFind(SNESList, HopsSNES[i].type, &create));
    if (create == wrapped[i]) continue;
    HopsSNES[i].create = create;
    PetscCall(SNESRegister(HopsSNES[i].type, wrapped[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
