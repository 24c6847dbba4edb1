/* PCBOXMG: multigrid on a uniform box, whose vectors and kernels the back end owns. */
#include <hops/private/hopsboximpl.h>
#include <petsc/private/pcimpl.h>

typedef struct {
  HopsBoxMGChoice   choice;
  PetscBool         full, ignore; /* ignore: guesses of Richardson iterations */
  const HopsBoxOps *ops;
  HopsBoxMG         mg;
} PC_BoxMG;

static const char *const Precisions[] = {"double", "single", "PCBoxMGPrecision", "", NULL};
static const char *const Directions[] = {"forward", "symmetric", "PCBoxMGDirection", "", NULL};

static PetscErrorCode PCReset_BoxMG(PC pc)
{
  PC_BoxMG *box = (PC_BoxMG *)pc->data;

  PetscFunctionBegin;
  if (box->mg) PetscCall((*box->ops->MGDestroy)(&box->mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyRichardson_BoxMG(PC, Vec, Vec, Vec, PetscReal, PetscReal, PetscReal, PetscInt, PetscBool, PetscInt *,
                                              PCRichardsonConvergedReason *);

static PetscErrorCode PCSetUp_BoxMG(PC pc)
{
  PC_BoxMG          *box = (PC_BoxMG *)pc->data;
  const HopsBoxForm *form;
  PetscInt           levels, n[3];
  PetscLogDouble     bytes;

  PetscFunctionBegin;
  PetscCall(PCReset_BoxMG(pc));
  PetscCall(MatHopsBoxGetForm(pc->pmat, &form, &box->ops));
  PetscCheck(form, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "PCBOXMG works on a " MATHOPSBOX
             " operator, and this one has type %s: make it by MatCreateHopsBox(), or use -pc_type hopsmg for a MATPA on a mesh",
             ((PetscObject)pc->pmat)->type_name);
  PetscCall(PetscLogEventBegin(HopsEvent.boxsetup, pc, 0, 0, 0));
  PetscCall((*box->ops->MGCreate)(form, &box->choice, &box->mg));
  PetscCall(PetscLogEventEnd(HopsEvent.boxsetup, pc, 0, 0, 0));
  /* its residuals are pmat's, and Richardson's method is to solve with pc->mat */
  pc->ops->applyrichardson = pc->mat == pc->pmat ? PCApplyRichardson_BoxMG : NULL;
  PetscCall((*box->ops->MGGetInfo)(box->mg, &levels, n, &bytes));
  PetscCall(PetscInfo(pc,
                      "%" PetscInt_FMT " levels, the coarsest with %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT
                      " cells; %g MB\n",
                      levels, n[0], n[1], n[2], bytes * 1e-6));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetArrays(PC pc, Vec b, Vec x, const PetscScalar **ba, PetscScalar **xa)
{
  PetscMemType bm, xm;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(b, ba, &bm));
  PetscCall(VecGetArrayAndMemType(x, xa, &xm));
  PetscCheck(PetscMemTypeDevice(bm) && PetscMemTypeDevice(xm), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "A vector of type %s lies in the host's memory, and the preconditioner on the device: make vectors by MatCreateVecs()",
             ((PetscObject)b)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_BoxMG(PC pc, Vec b, Vec x)
{
  PC_BoxMG          *box = (PC_BoxMG *)pc->data;
  const PetscScalar *ba;
  PetscScalar       *xa;

  PetscFunctionBegin;
  PetscCall(GetArrays(pc, b, x, &ba, &xa));
  PetscCall(PetscLogEventBegin(HopsEvent.boxcycle, pc, b, x, 0));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall((*box->ops->MGApply)(box->mg, PETSC_FALSE, (const PetscReal *)ba, (PetscReal *)xa));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogEventEnd(HopsEvent.boxcycle, pc, b, x, 0));
  PetscCall(VecRestoreArrayReadAndMemType(b, &ba));
  PetscCall(VecRestoreArrayAndMemType(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyRichardson_BoxMG(PC pc, Vec b, Vec x, Vec w, PetscReal rtol, PetscReal abstol, PetscReal dtol,
                                              PetscInt its, PetscBool zero, PetscInt *outits, PCRichardsonConvergedReason *reason)
{
  PC_BoxMG          *box  = (PC_BoxMG *)pc->data;
  const HopsBoxStop  stop = {rtol, abstol, dtol, its, zero || box->ignore ? PETSC_TRUE : PETSC_FALSE, box->full};
  const PetscScalar *ba;
  PetscScalar       *xa;
  PetscReal          norm[2];
  PetscBool          converged;

  PetscFunctionBegin;
  PetscCall(GetArrays(pc, b, x, &ba, &xa));
  PetscCall(PetscLogEventBegin(HopsEvent.boxcycle, pc, b, x, 0));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall((*box->ops->MGSolve)(box->mg, &stop, (const PetscReal *)ba, (PetscReal *)xa, outits, &converged, norm));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogEventEnd(HopsEvent.boxcycle, pc, b, x, 0));
  PetscCall(PetscInfo(pc, "|b| = %g, |b - A x| = %g after %" PetscInt_FMT " cycles on the finest level\n", (double)norm[0],
                      (double)norm[1], *outits));
  *reason = PCRICHARDSON_CONVERGED_ITS;
  if (converged) *reason = norm[0] > 0.0 && norm[1] > rtol * norm[0] ? PCRICHARDSON_CONVERGED_ATOL : PCRICHARDSON_CONVERGED_RTOL;
  else if (dtol > 0.0 && !(norm[1] <= dtol * norm[0])) *reason = PCRICHARDSON_DIVERGED_DTOL;
  PetscCall(VecRestoreArrayReadAndMemType(b, &ba));
  PetscCall(VecRestoreArrayAndMemType(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCBoxMGSetPrecision_BoxMG(PC pc, PetscBool single)
{
  PC_BoxMG *box = (PC_BoxMG *)pc->data;

  PetscFunctionBegin;
  if (box->choice.single != single) {
    PetscCall(PCReset_BoxMG(pc));
    pc->setupcalled = 0;
  }
  box->choice.single = single;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For bench/boxmgbench.c, which finds it by its name: on starts from zero, or stops, where seconds is NULL;
   else seconds[levels][HOPS_BOX_NKINDS] since the start, coarsest level first, which the caller frees. While
   it is on every kernel is waited for, and there are no graphs: the sum is more than a solve takes */
static PetscErrorCode PCBoxMGProfile_BoxMG(PC pc, PetscBool on, PetscInt *levels, PetscReal *seconds[])
{
  PC_BoxMG *box = (PC_BoxMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCSetUp(pc));
  if (seconds) {
    PetscCall((*box->ops->MGGetInfo)(box->mg, levels, NULL, NULL));
    PetscCall(PetscMalloc1(*levels * HOPS_BOX_NKINDS, seconds));
    PetscCall((*box->ops->MGProfile)(box->mg, on, *seconds));
  } else PetscCall((*box->ops->MGProfile)(box->mg, on, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_BoxMG(PC pc, HopsOptionItems PetscOptionsObject)
{
  PC_BoxMG *box = (PC_BoxMG *)pc->data, old = *box;
  PetscInt  single = old.choice.single, symmetric = old.choice.symmetric;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Multigrid on a uniform box");
  PetscCall(PetscOptionsEList("-pc_boxmg_precision", "Precision of the cycle", "PCBoxMGSetPrecision", Precisions, 2,
                              Precisions[single], &single, NULL));
  PetscCall(PetscOptionsEList("-pc_boxmg_direction", "Order of the colours after the coarse correction", "PCBOXMG", Directions, 2,
                              Directions[symmetric], &symmetric, NULL));
  PetscCall(PetscOptionsBool("-pc_boxmg_full", "Start a Richardson iteration from zero with nested iteration", "PCBOXMG", box->full,
                             &box->full, NULL));
  PetscCall(PetscOptionsBool("-pc_boxmg_ignore_guess",
                             "Start a Richardson iteration from zero, whatever the vector of the solution holds", "PCBOXMG",
                             box->ignore, &box->ignore, NULL));
  PetscCall(
    PetscOptionsInt("-pc_boxmg_levels", "Levels at most (0: no limit)", "PCBOXMG", box->choice.levels, &box->choice.levels, NULL));
  PetscCall(PetscOptionsInt("-pc_boxmg_coarse_nodes", "Coarsen while there are more nodes inside in some direction", "PCBOXMG",
                            box->choice.coarse, &box->choice.coarse, NULL));
  PetscCall(PetscOptionsBool("-pc_boxmg_graph", "Levels below the finest one as CUDA graphs", "PCBOXMG", box->choice.graph,
                             &box->choice.graph, NULL));
  PetscOptionsHeadEnd();
  PetscCheck(box->choice.coarse >= 0 && box->choice.coarse <= HOPS_BOX_COARSE, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "-pc_boxmg_coarse_nodes %" PetscInt_FMT " is not between 0 and %d", box->choice.coarse,
             HOPS_BOX_COARSE);
  PetscCheck(box->choice.levels >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_boxmg_levels %" PetscInt_FMT " is negative", box->choice.levels);
  box->choice.single    = single ? PETSC_TRUE : PETSC_FALSE;
  box->choice.symmetric = symmetric ? PETSC_TRUE : PETSC_FALSE;
  if (box->mg && (box->choice.single != old.choice.single || box->choice.symmetric != old.choice.symmetric ||
                  box->choice.levels != old.choice.levels || box->choice.coarse != old.choice.coarse ||
                  box->choice.graph != old.choice.graph)) {
    PetscCall(PCReset_BoxMG(pc));
    pc->setupcalled = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_BoxMG(PC pc, PetscViewer viewer)
{
  PC_BoxMG *box = (PC_BoxMG *)pc->data;
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsViewVersion(viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  V-cycles in %s precision, one sweep of vertex patches before and after the coarse "
                                   "correction, order of colours %s\n",
                                   Precisions[box->choice.single], Directions[box->choice.symmetric]));
  PetscCall(
    PetscViewerASCIIPrintf(viewer, "  a Richardson iteration from zero starts with %s\n", box->full ? "nested iteration" : "zero"));
  if (box->ignore) PetscCall(PetscViewerASCIIPrintf(viewer, "  initial guesses are ignored\n"));
  if (box->mg) {
    PetscInt       levels, n[3];
    PetscLogDouble bytes;

    PetscCall((*box->ops->MGGetInfo)(box->mg, &levels, n, &bytes));
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "  %" PetscInt_FMT " levels, the coarsest of %" PetscInt_FMT " x %" PetscInt_FMT
                                     " x %" PetscInt_FMT " cells solved by fast diagonalisation; %s\n",
                                     levels, n[0], n[1], n[2],
                                     box->choice.graph ? "levels below the finest one as CUDA graphs" : "no CUDA graph"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_BoxMG(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_BoxMG(pc));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCBoxMGSetPrecision_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCBoxMGProfile_C", NULL));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_BoxMG(PC pc)
{
  PC_BoxMG *box;

  PetscFunctionBegin;
  PetscCall(PetscNew(&box));
  box->full                = PETSC_TRUE;
  box->choice.graph        = PETSC_TRUE;
  box->choice.coarse       = 63;
  pc->data                 = box;
  pc->ops->setup           = PCSetUp_BoxMG;
  pc->ops->apply           = PCApply_BoxMG;
  pc->ops->applyrichardson = PCApplyRichardson_BoxMG;
  pc->ops->reset           = PCReset_BoxMG;
  pc->ops->destroy         = PCDestroy_BoxMG;
  pc->ops->setfromoptions  = PCSetFromOptions_BoxMG;
  pc->ops->view            = PCView_BoxMG;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCBoxMGSetPrecision_C", PCBoxMGSetPrecision_BoxMG));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCBoxMGProfile_C", PCBoxMGProfile_BoxMG));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCBoxMGSetPrecision - Sets the precision of the cycle of a `PCBOXMG`.

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- single - true for single precision, false for double

  Options Database Key:
. -pc_boxmg_precision <double|single> - the same

  Level: intermediate

  Note:
  In single precision the cycle corrects for a residual that is taken in double precision, also on every level
  of the nested iteration; so the solution and the number of cycles are those of double precision.

.seealso: `PCBOXMG`
@*/
PetscErrorCode PCBoxMGSetPrecision(PC pc, PetscBool single)
{
  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCBOXMG));
  PetscTryMethod(pc, "PCBoxMGSetPrecision_C", (PC, PetscBool), (pc, single));
  PetscFunctionReturn(PETSC_SUCCESS);
}
