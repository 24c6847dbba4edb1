/* Who runs the cycle of the inner solver's hierarchy on a device, and what it smooths with */
#include <hops/private/hopslorimpl.h>
#include <petsc/private/pcimpl.h>

static const char *const HopsCycles[]    = {"hypre", "double", "single", "PCLORCycle", "PCLOR_CYCLE_", NULL};
static const char *const HopsSmoothers[] = {"jacobi", "chebyshev", "PCLORSmoother", "PCLOR_SMOOTHER_", NULL};

#if HOPS_HAVE_HYPRE_DEVICE
static HopsCycleAuxiliary PCLORGetCycleAuxiliary(const PC_LOR *lor)
{
  const HopsCycleAuxiliary aux = {lor->mat,
                                  lor->G,
                                  lor->C,
                                  {lor->Pi[0][0], lor->Pi[0][1], lor->Pi[0][2]},
                                  {lor->Pi[1][0], lor->Pi[1][1], lor->Pi[1][2]}};

  return aux;
}
#endif

/* The relaxation weight of the nodal solvers of AMS and ADS on a device */
PetscErrorCode PCLORSetUpNodalWeight(PC pc, PC_LOR *lor)
{
  PetscBool done = PETSC_FALSE;

  PetscFunctionBegin;
  lor->nodalused = 0.0;
#if HOPS_HAVE_HYPRE_DEVICE
  if (lor->auxiliary) {
    const HopsCycleAuxiliary aux    = PCLORGetCycleAuxiliary(lor);
    const PetscReal          weight = lor->nodalweight > 0.0 ? lor->nodalweight : HOPS_NODAL_WEIGHT;
    PC                       inner;

    PetscCall(KSPGetPC(lor->ksp, &inner));
    PetscCall(HopsCycleSetNodalWeight(inner, &aux, weight, &done));
    if (done) lor->nodalused = weight;
    else
      PetscCall(PetscInfo(pc, "the nodal solvers' relaxation weight is left alone: their smoother is not l1scaled-Jacobi, or "
                              "hypre's data are not as they were in 2.32\n"));
  }
#endif
  PetscCheck(done || lor->nodalweight == 0.0, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_lor_nodal_relax_weight is for AMS and ADS on a device with l1scaled-Jacobi (18) in their nodal solvers, which "
             "this is not: leave it out");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cycle of BoomerAMG, AMS or ADS on a device, by kernels of our own */
PetscErrorCode PCLORSetUpCycle(PC pc, PC_LOR *lor)
{
  const char *why = "the space is not on a device";
#if HOPS_HAVE_HYPRE_DEVICE
  PC                 inner;
  PetscBool          preonly;
  MatNullSpace       nsp;
  HopsCycleAuxiliary aux = PCLORGetCycleAuxiliary(lor);
  HopsCycleSettings  set;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(HopsCycleDestroy(&lor->cycle));
  /* single precision loses the gradients where the mass term is small (at 1e-3 CG breaks down) */
  lor->cycleused =
    lor->cycleset || (lor->form->space->family == HOPS_H1 && !lor->cycleprecise) ? lor->cycletype : PCLOR_CYCLE_DOUBLE;
  set = (HopsCycleSettings){lor->cycleused, lor->smoother == PCLOR_SMOOTHER_CHEBYSHEV ? lor->degree : 0, lor->redundant};
  PetscCall(MatGetNullSpace(lor->mat, &nsp));
  PetscCall(PetscObjectTypeCompare((PetscObject)lor->ksp, KSPPREONLY, &preonly));
  if (PCLORIsCoupled(lor) || !lor->ondevice) lor->nocycle = "the space is not on a device";
  else if (!preonly) lor->nocycle = "the inner solver iterates";
  else if (nsp) lor->nocycle = "the matrix is singular"; /* the inner KSP removes null spaces */
  else {
    PetscCall(KSPGetPC(lor->ksp, &inner));
    PetscCall(MatGetLocalSize(lor->mat, &n, NULL));
    if (lor->gathered) PetscCall(HopsCycleCreateOnFirst(lor->first, lor->form->space, n, &set, &lor->cycle, &lor->nocycle));
    else PetscCall(HopsCycleCreate(inner, lor->form->space, &set, &aux, &lor->cycle, &lor->nocycle));
    lor->cycledata = inner->data;
  }
  if (!lor->cycle) PetscCall(PetscInfo(pc, "the cycle is the inner solver's own: %s\n", lor->nocycle));
  why = !lor->cycle                           ? lor->nocycle
        : lor->form->space->family != HOPS_H1 ? "the cycles of AMS and ADS have smoothers of their own"
                                              : NULL;
#else
  PetscFunctionBegin;
#endif
  PetscCheck(!why || !lor->smootherset || lor->smoother == PCLOR_SMOOTHER_JACOBI, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_lor_cycle_smoother chebyshev is for BoomerAMG's cycle where kernels of hops run it on a device, which they do "
             "not here (%s): leave the option out, and choose a smoother of hypre's by -lor_pc_hypre_boomeramg_relax_type_all",
             why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The norm of these methods is that of b - A x, whatever the preconditioner does. Others take theirs from
  products with it, as GMRES does: where these are rounded to single precision the error stays at 1e-7 of the
  first one, and the norm goes on to fall.
*/
PetscErrorCode PCPreSolve_LOR(PC pc, KSP ksp, Vec b, Vec x)
{
  PC_LOR   *lor = (PC_LOR *)pc->data;
  PetscReal rtol;
  PetscBool own;

  PetscFunctionBegin;
  PetscCall(PCLORSumRenew(pc, lor));
  if (!lor->cycle || lor->cycleset || lor->cycletype != PCLOR_CYCLE_SINGLE || lor->cycleprecise) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &own, KSPCG, KSPFCG, KSPPIPEFCG, KSPFGMRES, KSPGCR, KSPRICHARDSON,
                                      KSPCHEBYSHEV, KSPPREONLY, ""));
  PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
  if (own || rtol >= 1e-6) PetscFunctionReturn(PETSC_SUCCESS);
  lor->cycleprecise = PETSC_TRUE; /* from now on: tolerances may change from solve to solve */
  PetscCall(PetscInfo(pc, "the cycle is in double precision, for KSP type %s and relative tolerance %g\n",
                      ((PetscObject)ksp)->type_name, (double)rtol));
  PetscCall(PCLORSetUpCycle(pc, lor)); /* on the hierarchy that is there */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLORSetCycle_LOR(PC pc, PCLORCycle cycle)
{
  PC_LOR *lor = (PC_LOR *)pc->data;

  PetscFunctionBegin;
  if (cycle == lor->cycletype && lor->cycleset) PetscFunctionReturn(PETSC_SUCCESS);
  lor->cycletype = cycle;
  lor->cycleset  = PETSC_TRUE;
  if (pc->setupcalled && lor->mat) PetscCall(PCLORSetUpCycle(pc, lor)); /* on the hierarchy that is there */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLORGetCycle_LOR(PC pc, PCLORCycle *cycle, PetscInt *spread)
{
  PC_LOR  *lor = (PC_LOR *)pc->data;
  PetscInt n   = 0;

  PetscFunctionBegin;
  *cycle = PCLOR_CYCLE_HYPRE;
#if HOPS_HAVE_HYPRE_DEVICE
  if (lor->cycle) {
    PetscInt  levels;
    PetscReal complexity;

    *cycle = lor->cycleused;
    PetscCall(HopsCycleGetInfo(lor->cycle, &levels, &n, &complexity));
  }
#else
  (void)lor;
#endif
  if (spread) *spread = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLORSetCycleSmoother_LOR(PC pc, PCLORSmoother smoother, PetscInt degree)
{
  PC_LOR *lor = (PC_LOR *)pc->data;

  PetscFunctionBegin;
  PetscCheck(smoother == PCLOR_SMOOTHER_JACOBI || smoother == PCLOR_SMOOTHER_CHEBYSHEV, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "There is no smoother of number %d: take PCLOR_SMOOTHER_JACOBI or PCLOR_SMOOTHER_CHEBYSHEV",
             (int)smoother);
  if (degree == PETSC_DECIDE || degree == PETSC_DEFAULT) degree = lor->degree;
  PetscCheck(degree >= 1 && degree <= HOPS_CYCLE_DEGREE, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "The degree of the smoothing polynomial is %" PetscInt_FMT ", but must lie between 1 and %d", degree,
             HOPS_CYCLE_DEGREE);
  lor->smoother    = smoother;
  lor->degree      = degree;
  lor->smootherset = PETSC_TRUE;
  if (pc->setupcalled && lor->mat) PetscCall(PCLORSetUpCycle(pc, lor)); /* on the hierarchy that is there */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORSetFromOptionsCycle(PC pc, HopsOptionItems PetscOptionsObject)
{
  PC_LOR       *lor      = (PC_LOR *)pc->data;
  PCLORSmoother smoother = lor->smoother;
  PetscInt      degree   = lor->degree;
  PetscInt      gather   = lor->gather;
  PetscReal     weight;
  PetscBool     set, setdegree;

  PetscFunctionBegin;
  PetscCall(PetscOptionsEnum("-pc_lor_cycle", "Who runs the cycle of BoomerAMG, AMS or ADS on a device, and in which precision",
                             "PCLORSetCycle", HopsCycles, (PetscEnum)lor->cycletype, (PetscEnum *)&lor->cycletype, &set));
  if (set) lor->cycleset = PETSC_TRUE;
  PetscCall(PetscOptionsBoundedInt("-pc_lor_cycle_redundant",
                                   "On several ranks, levels of at most so many unknowns are worked on by each rank",
                                   "PCLORSetCycle", lor->redundant, &lor->redundant, &set, 0));
  if (set && pc->setupcalled && lor->cycle) PetscCall(PCLORSetUpCycle(pc, lor));
  PetscCall(PetscOptionsBoundedInt("-pc_lor_cycle_gather",
                                   "On several ranks, a matrix of at most so many unknowns is set up, and its cycle run, by one",
                                   "PCLORSetCycle", gather, &gather, NULL, 0));
  if (gather != lor->gather) pc->setupcalled = 0;
  lor->gather = gather;
  PetscCall(PetscOptionsEnum("-pc_lor_cycle_smoother", "Smoother of BoomerAMG's cycle where kernels of hops run it",
                             "PCLORSetCycleSmoother", HopsSmoothers, (PetscEnum)smoother, (PetscEnum *)&smoother, &set));
  PetscCall(PetscOptionsInt("-pc_lor_cycle_degree", "Degree of the Chebyshev polynomial", "PCLORSetCycleSmoother", degree, &degree,
                            &setdegree));
  if (set || setdegree) PetscCall(PCLORSetCycleSmoother(pc, smoother, degree));
  weight = lor->nodalweight > 0.0 ? lor->nodalweight : HOPS_NODAL_WEIGHT;
  PetscCall(PetscOptionsReal("-pc_lor_nodal_relax_weight", "Weight of l1-Jacobi in the nodal solvers of AMS and ADS on a device",
                             "PCLOR", weight, &weight, &set));
  if (set) lor->nodalweight = weight;
  PetscCheck(!set || (lor->nodalweight > 0.0 && lor->nodalweight < 2.0), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_lor_nodal_relax_weight %g: l1-Jacobi converges with weights between 0 and 2: use one of them",
             (double)lor->nodalweight);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCLORViewCycle(PC_LOR *lor, PetscViewer viewer)
{
  PetscFunctionBegin;
#if HOPS_HAVE_HYPRE_DEVICE
  if (lor->cycle) {
    PetscInt  levels, spread;
    PetscReal complexity;

    PetscCall(HopsCycleGetInfo(lor->cycle, &levels, &spread, &complexity));
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "%s: kernels of hops on the inner solver's hierarchy, %s precision, %" PetscInt_FMT
                                     " levels, operator complexity %.2f\n",
                                     lor->form->space->family == HOPS_H1 ? "V-cycle" : "cycle of auxiliary spaces",
                                     HopsCycles[lor->cycleused], levels, (double)complexity));
    if (lor->form->space->family == HOPS_H1) {
      if (lor->smoother == PCLOR_SMOOTHER_JACOBI) PetscCall(PetscViewerASCIIPrintf(viewer, "smoother: l1-scaled Jacobi\n"));
      else
        PetscCall(PetscViewerASCIIPrintf(viewer,
                                         "smoother: Chebyshev polynomial of degree %" PetscInt_FMT " with l1-scaled Jacobi\n",
                                         lor->degree));
    }
    if (lor->gathered) PetscCall(PetscViewerASCIIPrintf(viewer, "the first rank sets it up and runs it for all\n"));
    if (spread)
      PetscCall(
        PetscViewerASCIIPrintf(viewer, "levels spread over the ranks: %" PetscInt_FMT ", the others are every rank's\n", spread));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The functions of the public interface; or takes them away */
PetscErrorCode PCLORComposeCycle(PC pc, PetscBool add)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLORSetCycle_C", add ? PCLORSetCycle_LOR : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLORGetCycle_C", add ? PCLORGetCycle_LOR : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCLORSetCycleSmoother_C", add ? PCLORSetCycleSmoother_LOR : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
