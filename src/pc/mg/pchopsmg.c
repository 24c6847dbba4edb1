/*
  PCHOPSMG: geometric multigrid that sets itself up from a MATPA operator and the hierarchy of its mesh.

  The object is a PCMG whose set-up, options and view are preceded by hops' own, as PETSc's GAMG and HMG do
  it, so that all of PCMG's functions and options apply. PCMG would ask the solver's DM for interpolations,
  operators and restricted states: it does not see the DM.
*/
#include "hopsmgimpl.h"
#include <hops/private/hopsptapimpl.h>

const char *const        PCHopsMGCoarsenTypes[] = {"h", "p", "ph", "hp", "PCHopsMGCoarsenType", "PC_HOPSMG_", NULL};
static const char *const PCHopsMGCoarseMats[]   = {"auto", "aij", "pa"};
static const char *const PCHopsMGPrecisions[]   = {"double", "single"};

/* An assembled matrix of so many unknowns is factored in no time. With a device the process factors, and
   solves between copies: 0.2 s and 1.8 ms for 4913 unknowns, where PCLOR takes 0.01 s and 0.2 ms */
#define HOPS_MG_SMALL        5000
#define HOPS_MG_SMALL_DEVICE 1000

PetscErrorCode PCHopsMGGet(PC pc, PC_HopsMG **mg)
{
  PetscContainer c;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)pc, "PCHopsMG", (PetscObject *)&c));
  PetscCheck(c, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "The PC has type %s where " PCHOPSMG " is needed (PCSetType())",
             ((PetscObject)pc)->type_name ? ((PetscObject)pc)->type_name : "(unset)");
  PetscCall(PetscContainerGetPointer(c, (void **)mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- set-up ------------------------------------------- */

static PetscErrorCode PCHopsMGGetOperator(PC pc, Mat_PA **pa)
{
  MPI_Comm  comm = PetscObjectComm((PetscObject)pc);
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->pmat, MATPA, &same));
  PetscCheck(same, comm, PETSC_ERR_ARG_WRONG,
             "PCHOPSMG needs a preconditioning matrix of type " MATPA
             ", not %s: make one by MatCreatePA(), or in a DMPLEX code by -dm_mat_type " MATPA,
             ((PetscObject)pc->pmat)->type_name);
  PetscCall(MatPAGetData(pc->pmat, pa));
  PetscCall(MatPACheckForm(pc->pmat, PETSC_FALSE, "PCHOPSMG"));
  PetscCheck(!(*pa)->tensor, comm, PETSC_ERR_SUP,
             "PCHOPSMG takes scalar diffusion-reaction forms; this one has several components, first-order terms or a nonsymmetric "
             "tensor: use PCLOR");
  PetscCheck((*pa)->form->space, comm, PETSC_ERR_ARG_WRONGSTATE,
             "The operator has no space yet: set its terms, or evaluate the Jacobian, before the preconditioner is set up");
  PetscCheck((*pa)->form->space->family == HOPS_H1, comm, PETSC_ERR_SUP,
             "PCHOPSMG takes spaces in H1, and the operator's is in %s: use PCLOR", HopsFamilies[(*pa)->form->space->family]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Chebyshev and patches need a diffusion that is positive. A negative reaction is left to the user: coarse
  levels may well correct what an indefinite form adds.
*/
static PetscErrorCode PCHopsMGCheckForm(PC pc, Mat_PA *pa)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(MatPASetUp_Private(pc->pmat, pa));
  PetscCall(MPIU_Allreduce(&pa->nindefinite, &n, 1, MPIU_INT, MPI_SUM, comm));
  PetscCheck(!n, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The diffusion coefficient is zero, negative or indefinite in %" PetscInt_FMT
             " cells: the smoothers of PCHOPSMG need a form that is positive; give it a preconditioning matrix of its own with "
             "positive coefficients (KSPSetOperators(ksp, A, P)), or use -pc_type lor",
             n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCMG's own options, after the number of levels is known: they go to the levels */
static PetscErrorCode PCHopsMGSetOptions(PC pc, PC_HopsMG *mg)
{
  PCMGGalerkinType galerkin;

  PetscFunctionBegin;
  PetscObjectOptionsBegin((PetscObject)pc);
  PetscCall((*mg->mg.setfromoptions)(pc, PetscOptionsObject));
  PetscOptionsEnd();
  PetscCall(PCMGGetGalerkin(pc, &galerkin));
  PetscCheck(galerkin == PC_MG_GALERKIN_NONE, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PCHOPSMG has no Galerkin products, since its operators are matrix-free: leave out -pc_mg_galerkin");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  VecMAXPY() of CUDA vectors (PETSc 3.19 to 3.25) adds up to eight vectors at a time with as many threads as a
  process has entries: with fewer than eight entries some factors are not loaded. GMRES then goes wrong, which
  estimates the intervals of Chebyshev iteration by default; conjugate gradients do without.
*/
static PetscErrorCode PCHopsMGAvoidMAXPY(PC pc, HopsSpace sp, KSP smoother)
{
  PetscInt few;
  KSP      estimate = NULL;

  PetscFunctionBegin;
  if (sp->backend->host) PetscFunctionReturn(PETSC_SUCCESS);
  few = sp->nT > 0 && sp->nT < 8 ? 1 : 0;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &few, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  if (!few) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPChebyshevEstEigSet(smoother, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE));
  PetscCall(KSPChebyshevEstEigGetKSP(smoother, &estimate));
  if (estimate) PetscCall(KSPSetType(estimate, KSPCG));
  PetscCall(PetscInfo(pc,
                      "A process has fewer than 8 of %" PetscInt_FMT
                      " unknowns: Chebyshev intervals are estimated by conjugate gradients\n",
                      sp->N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smoothers and transfers of new levels */
static PetscErrorCode PCHopsMGSetUpLevels(PC pc, PC_HopsMG *mg)
{
  PetscFunctionBegin;
  PetscCall((*mg->mg.reset)(pc));
  pc->setupcalled = 0; /* PCMG makes its vectors anew */
  PetscCall(PCMGSetLevels(pc, mg->nlevels, NULL));
  if (mg->options) PetscCall(PCHopsMGSetOptions(pc, mg));
  for (PetscInt l = 1; l < mg->nlevels; ++l) {
    KSP ksp[2];
    Mat P;

    PetscCall(PCMGGetSmoother(pc, l, &ksp[0]));
    PetscCall(PCHopsMGGetUp(pc, l, &ksp[1]));
    for (PetscInt u = 0; u < 2; ++u) {
      PC smoother;

      if (!ksp[u]) continue;
      PetscCall(KSPGetPC(ksp[u], &smoother));
      PetscCall(PCSetType(smoother, PCJACOBI));
      PetscCall(PCHopsMGAvoidMAXPY(pc, mg->space[l], ksp[u]));
    }
    PetscCall(MatCreateHopsInterp_Private(mg->space[l - 1], mg->space[l], &mg->nested[l], &P));
    PetscCall(PCMGSetInterpolation(pc, l, P));
    PetscCall(MatDestroy(&P));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarsest operator: assembled for a direct solver, or as it is */
static PetscErrorCode PCHopsMGSetUpCoarse(PC pc, PC_HopsMG *mg, PetscBool fresh)
{
  const PetscInt  small    = mg->space[0]->backend->host ? HOPS_MG_SMALL : HOPS_MG_SMALL_DEVICE;
  const PetscBool assemble = mg->coarsemat == 1 || (mg->coarsemat == 0 && mg->space[0]->N <= small) ? PETSC_TRUE : PETSC_FALSE;
  KSP             ksp;
  PC              coarse;
  Mat             B = mg->A[0];
  MatNullSpace    constants;

  PetscFunctionBegin;
  PetscCall(PCMGGetCoarseSolve(pc, &ksp));
  if (assemble) {
    PetscCall(MatConvert(mg->A[0], MATAIJ, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatGetNullSpace(mg->A[0], &constants));
    PetscCall(MatSetNullSpace(B, constants));
  } else if (fresh) {
    PetscCall(KSPGetPC(ksp, &coarse));
    PetscCall(PCSetType(coarse, PCLOR));
  }
  PetscCall(KSPSetOperators(ksp, mg->A[0], B));
  if (assemble) PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -------------------------------------- single precision -------------------------------------- */

static PetscErrorCode PCApply_HopsMGSingle(PC pc, Vec b, Vec x)
{
  PC_HopsMG *mg;
  PCMGType   type;

  PetscFunctionBegin;
  PetscCall(PCHopsMGGet(pc, &mg));
  PetscCall(PCMGGetType(pc, &type));
  PetscCheck(type == PC_MG_MULTIPLICATIVE || type == PC_MG_FULL, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "Single precision has the cycles -pc_mg_type multiplicative and full: use one of them, or -pc_hopsmg_precision "
             "double");
  PetscCall(HopsSingleMGApply(mg->cycle, pc, type == PC_MG_FULL ? PETSC_TRUE : PETSC_FALSE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  What single precision smooths with: Chebyshev iteration with the diagonal, whose interval cannot be asked of
  KSPCHEBYSHEV, so it is not to be set either; Richardson iteration with patches or the diagonal, whose factor
  only the option says.
*/
static PetscErrorCode PCHopsMGCheckSmoother(PC pc, PetscInt l, KSP ksp, HopsSmoother *s)
{
  static const char *const fixed[] = {"-ksp_chebyshev_eigenvalues", "-ksp_chebyshev_esteig", "-ksp_chebyshev_kind",
                                      "-ksp_richardson_self_scale"};
  MPI_Comm                 comm    = PetscObjectComm((PetscObject)pc);
  PC                       smoother;
  PetscBool                chebyshev, jacobi, patch, set;
  PCJacobiType             type = PC_JACOBI_DIAGONAL;
  const char              *prefix;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &smoother));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPCHEBYSHEV, &chebyshev));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPRICHARDSON, &s->richardson));
  PetscCall(PetscObjectTypeCompare((PetscObject)smoother, PCJACOBI, &jacobi));
  PetscCall(PetscObjectTypeCompare((PetscObject)smoother, PCPATCHFD, &patch));
  if (jacobi) PetscCall(PCJacobiGetType(smoother, &type));
  PetscCheck((chebyshev && jacobi && type == PC_JACOBI_DIAGONAL) ||
               (s->richardson && (patch || (jacobi && type == PC_JACOBI_DIAGONAL))),
             comm, PETSC_ERR_SUP,
             "Single precision smooths by Chebyshev iteration with the diagonal, or by Richardson iteration with patches "
             "(-mg_levels_ksp_type richardson -mg_levels_pc_type patchfd) or the diagonal, not by %s with %s on level "
             "%" PetscInt_FMT ": choose one of them, or use -pc_hopsmg_precision double",
             ((PetscObject)ksp)->type_name, ((PetscObject)smoother)->type_name, l);
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  for (PetscInt i = 0; i < 4; ++i) {
    PetscCall(PetscOptionsHasName(((PetscObject)ksp)->options, prefix, fixed[i], &set));
    PetscCheck(!set, comm, PETSC_ERR_SUP,
               "Single precision estimates the interval of Chebyshev iteration itself, and has Richardson iteration with a fixed "
               "factor: leave out -mg_levels_%s, or use -pc_hopsmg_precision double",
               fixed[i] + 1);
  }
  s->patch   = patch ? smoother : NULL;
  s->reverse = PETSC_FALSE;
  s->scale   = 1.0;
  PetscCall(PetscOptionsGetReal(((PetscObject)ksp)->options, prefix, "-ksp_richardson_scale", &s->scale, NULL));
  PetscCall(KSPGetTolerances(ksp, NULL, NULL, NULL, &s->steps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Patches that smooth in single precision are to be solved so, unless the user says otherwise: an option for
   the moment in which it is read */
static PetscErrorCode PCHopsMGDefaultPrecision(PC pc, PC_HopsMG *mg, PetscBool set, PetscBool (*mine)[2])
{
  PetscFunctionBegin;
  for (PetscInt i = 2; i < 2 * mg->nlevels; ++i) {
    const PetscInt l = i / 2, u = i % 2;
    KSP            ksp;
    PetscOptions   options;
    const char    *prefix;
    char           name[PETSC_MAX_OPTION_NAME];

    if (u) PetscCall(PCHopsMGGetUp(pc, l, &ksp));
    else PetscCall(PCMGGetSmoother(pc, l, &ksp));
    if (!ksp) continue;
    options = ((PetscObject)ksp)->options;
    PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
    PetscCall(PetscSNPrintf(name, sizeof(name), "-%spc_patchfd_precision", prefix ? prefix : ""));
    if (set) {
      PetscCall(PetscOptionsHasName(options, prefix, "-pc_patchfd_precision", &mine[l][u]));
      mine[l][u] = mine[l][u] ? PETSC_FALSE : PETSC_TRUE;
      if (mine[l][u]) PetscCall(PetscOptionsSetValue(options, name, "single"));
    } else if (mine[l][u]) PetscCall(PetscOptionsClearValue(options, name));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chebyshev's intervals: any before PCMG's set-up, so that KSPCHEBYSHEV estimates none, then those of the
   cycle */
static PetscErrorCode PCHopsMGSetBounds(PC pc, PC_HopsMG *mg, PetscBool found)
{
  PetscFunctionBegin;
  for (PetscInt l = 1; l < mg->nlevels; ++l) {
    KSP ksp[2];

    PetscCall(PCMGGetSmoother(pc, l, &ksp[0]));
    PetscCall(PCHopsMGGetUp(pc, l, &ksp[1]));
    for (PetscInt u = 0; u < 2; ++u) {
      const HopsSmoother *s         = &mg->smoother[l][u];
      PetscBool           chebyshev = PETSC_FALSE;

      if (ksp[u]) PetscCall(PetscObjectTypeCompare((PetscObject)ksp[u], KSPCHEBYSHEV, &chebyshev));
      if (chebyshev) PetscCall(KSPChebyshevSetEigenvalues(ksp[u], found ? s->emax : 1.1, found ? s->emin : 0.1));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before and after coarse corrections */
static PetscErrorCode PCHopsMGSetUpSmoothers(PC pc, PC_HopsMG *mg, PetscInt l)
{
  KSP ksp, up;

  PetscFunctionBegin;
  PetscCall(PCMGGetSmoother(pc, l, &ksp));
  PetscCall(PCHopsMGGetUp(pc, l, &up));
  PetscCall(PCHopsMGCheckSmoother(pc, l, ksp, &mg->smoother[l][0]));
  PetscCall(PCHopsMGCheckSmoother(pc, l, up ? up : ksp, &mg->smoother[l][1]));
  mg->smoother[l][1].reverse = mg->reversed[l];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCHopsMGSetUpSingle(PC pc, PC_HopsMG *mg, Mat_PA *pa)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)pc);
  Mat         A[HOPS_MG_MAXORDERS], P[HOPS_MG_MAXORDERS];
  KSP         coarse;
  const char *prefix;
  char        cycle[16] = "v";
  PetscBool   v;

  PetscFunctionBegin;
  PetscCheck(!HopsFormHas(pa->form, HOPS_BOUNDARY) && pa->kernel, comm, PETSC_ERR_SUP,
             "Single precision has no Robin terms: use -pc_hopsmg_precision double");
  PetscCheck(pa->kernel->ops->CreateSingle, comm, PETSC_ERR_SUP,
             "The back end %s has no such operators in single precision: use -hops_backend host, or -pc_hopsmg_precision double",
             pa->form->space->backend->name);
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscOptionsGetString(((PetscObject)pc)->options, prefix, "-pc_mg_cycle_type", cycle, sizeof(cycle), NULL));
  PetscCall(PetscStrcmp(cycle, "v", &v));
  PetscCheck(v, comm, PETSC_ERR_SUP, "Single precision has V-cycles, not -pc_mg_cycle_type %s: use -pc_hopsmg_precision double",
             cycle);
  for (PetscInt l = 0; l < mg->nlevels; ++l) {
    A[l] = l == mg->nlevels - 1 ? pc->pmat : mg->A[l];
    P[l] = NULL;
    if (l) PetscCall(PCMGGetInterpolation(pc, l, &P[l]));
    if (l) PetscCall(PCHopsMGSetUpSmoothers(pc, mg, l));
  }
  PetscCall(HopsSingleMGDestroy(&mg->cycle));
  PetscCall(PCMGGetCoarseSolve(pc, &coarse));
  PetscCall(HopsSingleMGCreate(mg->nlevels, mg->space, A, P, mg->smoother, coarse, mg->graph, &mg->cycle));
  PetscCall(PCHopsMGSetBounds(pc, mg, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Symmetric operators have symmetric cycles */
static PetscErrorCode PCHopsMGSetOperations(PC pc, PC_HopsMG *mg)
{
  PetscBool symmetric = PETSC_TRUE;

  PetscFunctionBegin;
  if (mg->single) PetscCall(HopsSingleMGIsSymmetric(mg->cycle, &symmetric));
  pc->ops->apply           = mg->single ? PCApply_HopsMGSingle : mg->mg.apply;
  pc->ops->applytranspose  = mg->single ? (symmetric ? PCApply_HopsMGSingle : NULL) : mg->mg.applytranspose;
  pc->ops->applyrichardson = mg->single ? NULL : mg->mg.applyrichardson;
  pc->ops->matapply        = mg->single ? NULL : mg->mg.matapply;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_HopsMG(PC pc)
{
  PC_HopsMG *mg;
  Mat_PA    *pa;
  DM         dm = pc->dm;
  PetscBool  fresh, mine[HOPS_MG_MAXORDERS][2];

  PetscFunctionBegin;
  PetscCall(PCHopsMGGet(pc, &mg));
  PetscCheck(HOPS_PARTS == 1 || !mg->single, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "Single precision works on real vectors, and this PETSc has complex scalars: use -pc_hopsmg_precision double");
  PetscCall(HopsPtAPRefuse(pc->pmat, "PCHOPSMG"));
  PetscCall(PCHopsMGGetOperator(pc, &pa));
  fresh = !mg->nlevels || mg->space[mg->nlevels - 1] != pa->form->space ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscLogEventBegin(HopsEvent.mgsetup, pc, 0, 0, 0));
  PetscCall(PCHopsMGCheckForm(pc, pa));
  if (fresh) PetscCall(PCHopsMGBuildLevels(pc, mg, pa->form->space));
  PetscCall(PCHopsMGUpdateOperators(pc, mg, pc->pmat));
  pc->dm = NULL;
  if (fresh) PetscCall(PCHopsMGSetUpLevels(pc, mg));
  PetscCall(PetscLogEventEnd(HopsEvent.mgsetup, pc, 0, 0, 0));
  PetscCall(PCHopsMGSetUpCoarse(pc, mg, fresh));
  for (PetscInt l = 1; l < mg->nlevels; ++l) {
    const PetscBool finest = l == mg->nlevels - 1 ? PETSC_TRUE : PETSC_FALSE;
    KSP             ksp, up;

    PetscCall(PCMGGetSmoother(pc, l, &ksp));
    PetscCall(PCHopsMGGetUp(pc, l, &up));
    if (!finest) PetscCall(KSPSetOperators(ksp, mg->A[l], mg->A[l]));
    if (up) PetscCall(KSPSetOperators(up, finest ? (pc->useAmat ? pc->mat : pc->pmat) : mg->A[l], finest ? pc->pmat : mg->A[l]));
  }
  if (mg->single) PetscCall(PCHopsMGSetBounds(pc, mg, PETSC_FALSE));
  if (mg->single) PetscCall(PCHopsMGDefaultPrecision(pc, mg, PETSC_TRUE, mine));
  PetscCall((*mg->mg.setup)(pc));
  if (mg->single) PetscCall(PCHopsMGDefaultPrecision(pc, mg, PETSC_FALSE, mine));
  pc->dm = dm;
  PetscCall(PCHopsMGReverse(pc, mg));
  if (mg->single) PetscCall(PCHopsMGSetUpSingle(pc, mg, pa));
  PetscCall(PCHopsMGSetOperations(pc, mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_HopsMG(PC pc, HopsOptionItems PetscOptionsObject)
{
  PC_HopsMG          *mg;
  PCHopsMGCoarsenType type;
  PetscInt            n, orders[HOPS_MG_MAXORDERS] = {0}, norders = HOPS_MG_MAXORDERS, precision, coarsemat;
  PetscBool           set, reverse = PETSC_FALSE, graph = PETSC_TRUE;
  const char         *prefix;

  PetscFunctionBegin;
  PetscCall(PCHopsMGGet(pc, &mg));
  type      = mg->coarsen;
  n         = mg->maxlevels;
  coarsemat = mg->coarsemat;
  PetscOptionsHeadBegin(PetscOptionsObject, "Geometric multigrid options of hops");
  PetscCall(PetscOptionsInt("-pc_hopsmg_levels", "Number of levels at most, 0 for all", "PCHopsMGSetLevels", n, &n, &set));
  if (set) PetscCall(PCHopsMGSetLevels(pc, n));
  PetscCall(PetscOptionsEnum("-pc_hopsmg_coarsen", "What makes the next coarser level", "PCHopsMGSetCoarsening",
                             PCHopsMGCoarsenTypes, (PetscEnum)type, (PetscEnum *)&type, &set));
  if (set) PetscCall(PCHopsMGSetCoarsening(pc, type));
  PetscCall(PetscOptionsIntArray("-pc_hopsmg_orders",
                                 "Falling orders of the levels below the finest (0: each half of the one before)",
                                 "PCHopsMGSetOrders", orders, &norders, &set));
  if (set) PetscCall(PCHopsMGSetOrders(pc, norders, orders));
  PetscCall(PetscOptionsEList("-pc_hopsmg_coarse_mat", "The coarsest operator: assembled, or matrix-free",
                              "PCHopsMGSetCoarseMatType", PCHopsMGCoarseMats, 3, PCHopsMGCoarseMats[coarsemat], &coarsemat, &set));
  if (set) PetscCall(PCHopsMGSetCoarseMatType(pc, coarsemat ? PCHopsMGCoarseMats[coarsemat] : NULL));
  precision = mg->single ? 1 : 0;
  PetscCall(PetscOptionsEList("-pc_hopsmg_precision", "Precision of the cycle", "PCHopsMGSetSinglePrecision", PCHopsMGPrecisions, 2,
                              PCHopsMGPrecisions[precision], &precision, &set));
  if (set) PetscCall(PCHopsMGSetSinglePrecision(pc, precision == 1 ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(PetscOptionsBool("-pc_hopsmg_graph", "Parts of a cycle in single precision as CUDA graphs", "PCHOPSMG", mg->graph,
                             &graph, &set));
  if (set && graph != mg->graph) pc->setupcalled = 0;
  if (set) mg->graph = graph;
  PetscCall(PetscOptionsBool("-pc_hopsmg_reverse",
                             "Patches after coarse corrections in the opposite order of colors (unset: where Richardson iteration "
                             "smooths with multiplicative ones)",
                             "PCHopsMGSetReverse", mg->reverse, &reverse, &set));
  if (set) PetscCall(PCHopsMGSetReverse(pc, reverse));
  PetscOptionsHeadEnd();
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, prefix, "-pc_mg_levels", &set));
  PetscCheck(!set, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "PCHOPSMG counts the levels itself: use -pc_hopsmg_levels in place of -pc_mg_levels");
  mg->options = PETSC_TRUE;
  if (mg->nlevels) {
    DM dm = pc->dm;

    pc->dm = NULL;
    PetscCall(PCHopsMGSetOptions(pc, mg));
    pc->dm = dm;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_HopsMG(PC pc, PetscViewer viewer)
{
  PC_HopsMG *mg;
  PetscBool  ascii;

  PetscFunctionBegin;
  PetscCall(PCHopsMGGet(pc, &mg));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (ascii) PetscCall(HopsViewVersion(viewer));
  if (ascii && !mg->nlevels) PetscCall(PetscViewerASCIIPrintf(viewer, "  not set up yet\n"));
  if (!mg->nlevels) PetscFunctionReturn(PETSC_SUCCESS);
  if (ascii) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  geometric multigrid, coarsening %s, operators discretised on every level\n",
                                     PCHopsMGCoarsenTypes[mg->coarsen]));
    PetscCall(PetscViewerASCIIPushTab(viewer));
    for (PetscInt l = 0; l < mg->nlevels; ++l) {
      PetscCall(PetscViewerASCIIPrintf(viewer, "level %" PetscInt_FMT ": ", l));
      PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
      PetscCall(HopsSpaceView(mg->space[l], viewer));
      PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
    }
    if (mg->cycle && mg->single) PetscCall(HopsSingleMGView(mg->cycle, viewer));
    for (PetscInt l = 1; l < mg->nlevels; ++l) {
      if (mg->reversed[l])
        PetscCall(PetscViewerASCIIPrintf(viewer,
                                         "level %" PetscInt_FMT
                                         ": after coarse corrections the patches' colors are taken in the opposite order\n",
                                         l));
    }
    PetscCall(PetscViewerASCIIPopTab(viewer));
  }
  PetscCall((*mg->mg.view)(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------------- life cycle ----------------------------------------- */

static PetscErrorCode PCReset_HopsMG(PC pc)
{
  PC_HopsMG *mg;

  PetscFunctionBegin;
  PetscCall(PCHopsMGGet(pc, &mg));
  PetscCall(HopsSingleMGDestroy(&mg->cycle));
  PetscCall((*mg->mg.reset)(pc));
  PetscCall(PCHopsMGFreeLevels(mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_HopsMG(PC pc)
{
  PC_HopsMG *mg;

  PetscFunctionBegin;
  PetscCall(PCHopsMGGet(pc, &mg));
  PetscCall(HopsSingleMGDestroy(&mg->cycle));
  PetscCall(PCHopsMGFreeLevels(mg));
  PetscCall((*mg->mg.destroy)(pc));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCHopsMGSetReverse_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCHopsMGSetSinglePrecision_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCHopsMGSetCoarseMatType_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCHopsMGSetLevels_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCHopsMGSetCoarsening_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCHopsMGSetOrders_C", NULL));
  PetscCall(PetscObjectCompose((PetscObject)pc, "PCHopsMG", NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another hierarchy is wanted */
static PetscErrorCode PCHopsMGRebuild(PC pc, PC_HopsMG *mg)
{
  PetscFunctionBegin;
  PetscCall(PCHopsMGFreeLevels(mg));
  pc->setupcalled = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCHopsMGSetLevels_HopsMG(PC pc, PetscInt n)
{
  PC_HopsMG *mg;

  PetscFunctionBegin;
  PetscCall(PCHopsMGGet(pc, &mg));
  PetscCheck(n >= 0 && n != 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "A multigrid method has two levels or more (or 0: all there are), not %" PetscInt_FMT, n);
  if (n != mg->maxlevels) PetscCall(PCHopsMGRebuild(pc, mg));
  mg->maxlevels = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCHopsMGSetCoarsening_HopsMG(PC pc, PCHopsMGCoarsenType type)
{
  PC_HopsMG *mg;

  PetscFunctionBegin;
  PetscCall(PCHopsMGGet(pc, &mg));
  if (type != mg->coarsen) PetscCall(PCHopsMGRebuild(pc, mg));
  mg->coarsen = type;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCHopsMGSetOrders_HopsMG(PC pc, PetscInt n, const PetscInt orders[])
{
  PC_HopsMG *mg;

  PetscFunctionBegin;
  PetscCall(PCHopsMGGet(pc, &mg));
  PetscCheck(n >= 0 && n <= HOPS_MG_MAXORDERS, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "At most %d orders, not %" PetscInt_FMT, HOPS_MG_MAXORDERS, n);
  for (PetscInt i = 0; i < n; ++i)
    PetscCheck(orders[i] >= 1 && (!i || orders[i] < orders[i - 1]), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
               "The orders of multigrid levels must be positive and fall from level to level; order %" PetscInt_FMT " does not",
               orders[i]);
  PetscCall(PCHopsMGRebuild(pc, mg));
  mg->norders = n;
  PetscCall(PetscArraycpy(mg->orders, orders, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCHopsMGSetCoarseMatType_HopsMG(PC pc, MatType type)
{
  PC_HopsMG *mg;
  PetscBool  aij = PETSC_FALSE, pa = PETSC_FALSE;
  PetscInt   choice;

  PetscFunctionBegin;
  PetscCall(PCHopsMGGet(pc, &mg));
  if (type) PetscCall(PetscStrcmp(type, MATAIJ, &aij));
  if (type) PetscCall(PetscStrcmp(type, MATPA, &pa));
  PetscCheck(!type || aij || pa, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "The coarsest operator has the type " MATAIJ " or " MATPA " (or NULL, for either), not %s", type);
  choice = aij ? 1 : (pa ? 2 : 0);
  if (choice != mg->coarsemat) PetscCall(PCHopsMGRebuild(pc, mg));
  mg->coarsemat = choice;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCHopsMGSetSinglePrecision_HopsMG(PC pc, PetscBool single)
{
  PC_HopsMG *mg;

  PetscFunctionBegin;
  PetscCall(PCHopsMGGet(pc, &mg));
  if (single != mg->single) pc->setupcalled = 0;
  mg->single = single;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCHopsMGSetReverse_HopsMG(PC pc, PetscBool reverse)
{
  PC_HopsMG *mg;

  PetscFunctionBegin;
  PetscCall(PCHopsMGGet(pc, &mg));
  if (!mg->reverseset || reverse != mg->reverse) pc->setupcalled = 0;
  mg->reverse    = reverse;
  mg->reverseset = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCHopsMGFree(HopsContainerCtx ctx)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(HopsContainerData(ctx)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_HopsMG(PC pc)
{
  PC_HopsMG     *mg;
  PetscContainer c;

  PetscFunctionBegin;
  PetscCall(PCSetType(pc, PCMG));
  PetscCall(PetscObjectChangeTypeName((PetscObject)pc, PCHOPSMG));
  PetscCall(PetscNew(&mg));
  mg->graph = PETSC_TRUE;
  PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)pc), &c));
  PetscCall(PetscContainerSetPointer(c, mg));
  PetscCall(HopsContainerSetDestroy(c, PCHopsMGFree));
  PetscCall(PetscObjectCompose((PetscObject)pc, "PCHopsMG", (PetscObject)c));
  PetscCall(PetscContainerDestroy(&c));
  mg->mg                  = *pc->ops;
  pc->ops->setup          = PCSetUp_HopsMG;
  pc->ops->setfromoptions = PCSetFromOptions_HopsMG;
  pc->ops->view           = PCView_HopsMG;
  pc->ops->reset          = PCReset_HopsMG;
  pc->ops->destroy        = PCDestroy_HopsMG;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCHopsMGSetLevels_C", PCHopsMGSetLevels_HopsMG));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCHopsMGSetCoarsening_C", PCHopsMGSetCoarsening_HopsMG));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCHopsMGSetOrders_C", PCHopsMGSetOrders_HopsMG));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCHopsMGSetReverse_C", PCHopsMGSetReverse_HopsMG));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCHopsMGSetSinglePrecision_C", PCHopsMGSetSinglePrecision_HopsMG));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCHopsMGSetCoarseMatType_C", PCHopsMGSetCoarseMatType_HopsMG));
  PetscFunctionReturn(PETSC_SUCCESS);
}
