/* PCLOR's public functions, and the Lanczos estimate of the spectrum. */
#include <hops/private/hopslorblockimpl.h>
#include <petsc/private/pcimpl.h>

static PetscErrorCode PCLORGetData(PC pc, PC_LOR **lor)
{
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCLOR, &same));
  PetscCheck(same, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "The PC has type %s where " PCLOR " is needed (PCSetType())",
             ((PetscObject)pc)->type_name ? ((PetscObject)pc)->type_name : "(unset)");
  *lor = (PC_LOR *)pc->data;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLORSetSpace - Sets the finite element space of the operator, where the preconditioner cannot find it by
  itself.

  Collective

  Input Parameters:
+ pc    - the preconditioner
- space - the space

  Level: beginner

  Note:
  Not needed for a `MATPA` operator, nor where the solver has a `DMPLEX` with a `PetscFE`. `MatSetHopsSpace()`
  and `DMSetHopsSpace()` do the same without the solver at hand. Where the operator is no `MATPA`,
  `PCLORSetCoefficients()` makes the preconditioner better, and outside of H1 it is needed.

.seealso: `PCLOR`, `MatSetHopsSpace()`, `DMSetHopsSpace()`, `PCLORSetCoefficients()`,
`HopsSpaceCreateFromArrays()`
@*/
PetscErrorCode PCLORSetSpace(PC pc, HopsSpace space)
{
  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  HopsValidHeader(space, HOPS_SPACE_CLASSID, 2);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCLOR));
  PetscTryMethod(pc, "PCLORSetSpace_C", (PC, HopsSpace), (pc, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLORGetSpace - Gets the finite element space that the preconditioner works on.

  Not Collective

  Input Parameter:
. pc - the preconditioner, after `PCSetUp()`

  Output Parameter:
. space - the space (borrowed), `NULL` before set-up

  Level: intermediate

.seealso: `PCLOR`, `PCLORSetSpace()`
@*/
PetscErrorCode PCLORGetSpace(PC pc, HopsSpace *space)
{
  PC_LOR *lor = NULL;

  PetscFunctionBegin;
  HopsValidPointer(space, 2);
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(PCLORGetData(pc, &lor));
  *space = lor->form->space ? lor->form->space : lor->userspace;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLORSetCoefficients - Sets the coefficients of the form, in place of those of the operator or of the
  `PetscDS`.

  Collective

  Input Parameters:
+ pc        - the preconditioner
. diffusion - coefficient of the diffusion term, or `NULL`
- mass      - coefficient of the mass term, or `NULL`; with both `NULL` the operator's own are used again

  Level: intermediate

  Notes:
  Call it again when the coefficients have changed: the matrix's values are refilled, its pattern is kept.

  `NULL` is a term that the form does not have: a mass alone makes the matrix of a mass. (The option
  -pc_lor_mass alone has a diffusion of 1 beside it and the scale by the operator's diagonal, as where
  nothing is known.)

  A diffusion that is negative somewhere is an error in `PCSetUp()`. A negative mass is allowed, as
  Helmholtz's equation has it, at the caller's risk: the matrix may be indefinite, and so may be the
  preconditioner. The absolute value is the safe choice.

.seealso: `PCLOR`, `PCLORSetSpace()`, `HopsCoefficient`
@*/
PetscErrorCode PCLORSetCoefficients(PC pc, HopsCoefficient diffusion, HopsCoefficient mass)
{
  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCLOR));
  PetscTryMethod(pc, "PCLORSetCoefficients_C", (PC, HopsCoefficient, HopsCoefficient), (pc, diffusion, mass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLORSetMatType - Sets the type of the low-order-refined matrix that the inner solver gets.

  Collective

  Input Parameters:
+ pc   - the preconditioner
- type - `MATAIJ`, `MATHYPRE`, or any type that `MatConvert()` makes from `MATAIJ`; the default is `MATAIJ`,
  and where the space's back end is a device
         `MATHYPRE` under a `PCHYPRE` whose hypre works there, `MATAIJCUSPARSE` under any other inner `PC`,
         `MATAIJ` for several components that couple; where the space's vectors are `VECKOKKOS`,
         `MATAIJKOKKOS` in place of `MATAIJCUSPARSE`, on hosts too

  Options Database Key:
. -pc_lor_mat_type <type> - the type

  Level: intermediate

.seealso: `PCLOR`, `PCLORGetMat()`
@*/
PetscErrorCode PCLORSetMatType(PC pc, MatType type)
{
  PetscFunctionBegin;
  HopsValidPointer(type, 2);
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCLOR));
  PetscTryMethod(pc, "PCLORSetMatType_C", (PC, MatType), (pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLORSetDropTolerance - Sets how large the off-diagonal metric terms of a cell must be for the
  low-order-refined matrix to have them.

  Logically Collective

  Input Parameters:
+ pc  - the preconditioner
- tol - between 0, which drops nothing, and 1, which drops all off-diagonal terms; the default is 0.5

  Options Database Key:
. -pc_lor_drop_tol <tol> - the tolerance

  Level: intermediate

  Notes:
  On a cell whose edges are not orthogonal (or with a full diffusion tensor), the metric tensor G = |J| J^{-1}
  kappa J^{-T} couples the reference directions, and rows of the low-order-refined matrix grow from 5 to 9
  entries in 2D and from 7 to 19 in 3D. A cell with |G_ab| <= tol sqrt(G_aa G_bb) at all its nodes, for all
  pairs of directions, keeps the diagonal of G only. The matrix stays positive definite, and in 2D its
  condition number relative to the complete one is at most (1 + tol)/(1 - tol); in 3D at most (1 + 2 tol)/(1 -
  2 tol) for tol < 0.5. Fewer entries make algebraic multigrid up to twice as fast for a few more iterations.

  The pattern only grows: a cell that has once kept its terms keeps them when coefficients change.

  Forms with several components or first-order terms, and spaces other than H1, keep all entries and refuse a
  tolerance.

.seealso: `PCLOR`, `PCLORGetMat()`, `PCLORSetCoefficients()`
@*/
PetscErrorCode PCLORSetDropTolerance(PC pc, PetscReal tol)
{
  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, tol, 2);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCLOR));
  PetscTryMethod(pc, "PCLORSetDropTolerance_C", (PC, PetscReal), (pc, tol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLORSetConstraintEntries - Sets how many weights the row of a hanging node keeps in the low-order-refined
  matrix.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- n  - the number, 0 for all, or `PETSC_DECIDE`, the default: 4, in 3D 2 below order 3 and 1 below order 7

  Options Database Key:
. -pc_lor_constraint_entries <n> - the number

  Level: intermediate

  Notes:
  A hanging node is a combination of the nodes of its parent's edge (p + 1) or facet ((p + 1)^2). With all of
  these a row of the low-order-refined matrix near hanging nodes has many entries at high orders. With the n
  largest ones, and those that are as large as the n-th, scaled to sum up to 1, it has about as many as
  anywhere else, for a few more iterations. The operator is not affected.

  It says nothing where no nodes hang, nor in H(curl) and H(div), which keep all: else gradients would not be
  in the kernel of the curl.

.seealso: `PCLOR`, `HopsSpaceCreateAdaptiveFromArrays()`, `PCLORSetDropTolerance()`
@*/
PetscErrorCode PCLORSetConstraintEntries(PC pc, PetscInt n)
{
  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, n, 2);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCLOR));
  PetscTryMethod(pc, "PCLORSetConstraintEntries_C", (PC, PetscInt), (pc, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLORSetCouple - Sets whether the low-order-refined matrix of a vector-valued field has the couplings
  between its components.

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- couple - `PETSC_TRUE` (default on the host) to keep them, `PETSC_FALSE` (default on a device) to leave them
  out

  Options Database Key:
. -pc_lor_couple <bool> - keep them or not

  Level: intermediate

  Notes:
  Without couplings each component has the matrix of a scalar field: of the form's tensors its own block, of
  g3 the symmetric part of that, and its boundary values. Devices assemble it, and BoomerAMG, which is for
  scalar fields, works on it as on theirs; -pc_lor_drop_tol holds for it too. By Korn's inequality it is
  spectrally equivalent to elasticity, with a constant that grows as Poisson's ratio nears one half: where the
  Lame constants are equal, iterations grow by half.

  With couplings the matrix has blocks, which are made on the host, also for a space on a device.

  First-order terms and boundary Jacobians with derivatives stay with the couplings: `PETSC_FALSE` is an error
  with them, and the default on a device is to keep them then. A field of one component has no couplings.

  On a mesh with hanging nodes the default is as on a device: rows near them are long, by the number of
  weights that `PCLORSetConstraintEntries()` keeps, and couplings multiply them by the components.

.seealso: `PCLOR`, `PCLORSetDropTolerance()`, `PCLORGetMat()`
@*/
PetscErrorCode PCLORSetCouple(PC pc, PetscBool couple)
{
  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, couple, 2);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCLOR));
  PetscTryMethod(pc, "PCLORSetCouple_C", (PC, PetscBool), (pc, couple));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLORSetCycle - Sets who runs the cycle of BoomerAMG, AMS or ADS on a device, and in which precision.

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- cycle - `PCLOR_CYCLE_SINGLE` (default in H1) or `PCLOR_CYCLE_DOUBLE` (default in H(curl) and H(div)):
  kernels of hops on hypre's hierarchy; `PCLOR_CYCLE_HYPRE`: hypre itself

  Options Database Key:
+ -pc_lor_cycle <hypre,double,single> - the same by a word
. -pc_lor_cycle_gather <n>            - on several ranks, BoomerAMG of a matrix of at most n unknowns is set
  up by the first rank, which runs the cycle for all (default 150000; 0: never)
- -pc_lor_cycle_redundant <n>         - on several ranks, levels of at most n unknowns are worked on by each
  rank (default 60000)

  Level: intermediate

  Notes:
  Single precision is that of the preconditioner alone; the Krylov method around it works in double precision
  as ever. In H(curl) and H(div) it suits mass terms that are not small: gradients and curls, on which the
  form has the mass term alone, are small differences of the other term.

  Where nothing was set, Krylov methods that take the residual's norm from products with the preconditioner,
  as `KSPGMRES` does, get double precision for relative tolerances below 1e-6: their norm would fall while the
  error stays at the rounding of single precision. `KSPCG`, `KSPFGMRES`, `KSPGCR` and `KSPRICHARDSON` keep
  single.

  The kernels take over a V-cycle with l1-scaled Jacobi smoothing, the same number of sweeps before and after,
  on a space whose back end is a device, and may smooth with a polynomial of it instead
  (`PCLORSetCycleSmoother()`), for a regular matrix; of AMS and ADS, on one rank, the cycles 11, 13 and 14
  with such smoothing and such V-cycles in the nodal spaces, with whatever relaxation weights. In ADS, the
  matrix of the curls and what it gives the nodal spaces lack entries of 1e-10 of the diagonal and less:
  rounding errors of terms that cancel. Any other cycle, and any on the host, is left to hypre, whatever was
  set here; `PCView()` says which one runs, and `-info` why.

  On several ranks the first one gets all rows of a small matrix in H1 and sets hypre up for itself, where the
  inner solver is as the options say and the kernels run its cycle: messages about few rows would take longer
  than the work. hypre's coarsening draws random numbers, so that each rank would make another cycle of them.

  Of larger matrices the levels of more than n unknowns are spread over the ranks, with halo exchanges beside
  the products, and so is the finest level, whatever n is. Each rank has all of the others, and in any case
  the coarsest, and runs the rest of the cycle for itself, as messages about few unknowns cost more than the
  unknowns. The cycle is hypre's where a rank has no unknowns of a level that is spread, and where the
  coarsest level has more than 256 unknowns (more than n and than 1000 where it is only smoothed).

.seealso: `PCLOR`, `PCLORSetCycleSmoother()`, `PCLORGetCycle()`, `PCLORGetKSP()`
@*/
PetscErrorCode PCLORSetCycle(PC pc, PCLORCycle cycle)
{
  PetscFunctionBegin;
  HopsValidEnum(cycle, PCLOR_CYCLE_SINGLE, 2);
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, cycle, 2);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCLOR));
  PetscTryMethod(pc, "PCLORSetCycle_C", (PC, PCLORCycle), (pc, cycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLORGetCycle - Gets who runs the cycle of BoomerAMG, AMS or ADS on a device.

  Not Collective

  Input Parameter:
. pc - the preconditioner, set up

  Output Parameters:
+ cycle  - `PCLOR_CYCLE_SINGLE` or `PCLOR_CYCLE_DOUBLE`: kernels of hops; `PCLOR_CYCLE_HYPRE`: the inner
  solver itself, also where kernels were asked for and cannot take the cycle over, and on the host
- spread - on several ranks, how many of the finer levels are spread over them while the others are every
  rank's; 0 on one rank, where the first rank runs the whole cycle, and where the inner solver does; may be
  `NULL`

  Level: intermediate

.seealso: `PCLOR`, `PCLORSetCycle()`
@*/
PetscErrorCode PCLORGetCycle(PC pc, PCLORCycle *cycle, PetscInt *spread)
{
  PetscFunctionBegin;
  HopsValidPointer(cycle, 2);
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCLORGetCycle_C", (PC, PCLORCycle *, PetscInt *), (pc, cycle, spread));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLORSetCycleSmoother - Sets the smoother of BoomerAMG's cycle where kernels of hops run it on a device.

  Logically Collective

  Input Parameters:
+ pc       - the preconditioner
. smoother - `PCLOR_SMOOTHER_CHEBYSHEV` (default) or `PCLOR_SMOOTHER_JACOBI`
- degree   - of the Chebyshev polynomial, 1 to 4 (default 1), or `PETSC_DECIDE`; it takes as many products
  with a level's matrix before and after each coarse correction

  Options Database Keys:
+ -pc_lor_cycle_smoother <chebyshev,jacobi> - the same by a word
- -pc_lor_cycle_degree <n>                  - the degree

  Level: intermediate

  Notes:
  Both smooth with the inverse l1 norms of the matrix's rows, times hypre's relaxation weight, as many times
  as hypre sweeps: two sweeps of Jacobi are `-pc_lor_cycle_smoother jacobi
  -lor_pc_hypre_boomeramg_grid_sweeps_all 2`. The eigenvalues of the scaled matrix lie between 0 and 1, so the
  polynomial needs no estimate of them; with degree 1 it is Jacobi with a weight of 4/3.

  Where hypre runs the cycle, it smooths as its own options say, and it is an error to ask for Chebyshev here.
  The cycles of AMS and ADS have their own smoothers.

  References:
. * - J. Lottes, Optimal polynomial smoothers for multigrid V-cycles, Numerical Linear Algebra with
  Applications 30(6), 2023, section 4

.seealso: `PCLOR`, `PCLORSetCycle()`, `PCLORGetKSP()`
@*/
PetscErrorCode PCLORSetCycleSmoother(PC pc, PCLORSmoother smoother, PetscInt degree)
{
  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCLOR));
  PetscValidLogicalCollectiveEnum(pc, smoother, 2);
  PetscValidLogicalCollectiveInt(pc, degree, 3);
  PetscTryMethod(pc, "PCLORSetCycleSmoother_C", (PC, PCLORSmoother, PetscInt), (pc, smoother, degree));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLORGetMat - Gets the low-order-refined matrix.

  Not Collective

  Input Parameter:
. pc - the preconditioner, after `PCSetUp()`

  Output Parameter:
. mat - the matrix (borrowed), `NULL` before set-up

  Level: intermediate

.seealso: `PCLOR`, `PCLORGetKSP()`, `PCLORSetMatType()`
@*/
PetscErrorCode PCLORGetMat(PC pc, Mat *mat)
{
  PC_LOR *lor = NULL;

  PetscFunctionBegin;
  HopsValidPointer(mat, 2);
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(PCLORGetData(pc, &lor));
  *mat = lor->mat;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLORGetKSP - Gets the inner solver, whose operator is the low-order-refined matrix.

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. ksp - the solver (borrowed), of type `KSPPREONLY` by default and with options prefix `lor_`

  Level: intermediate

.seealso: `PCLOR`, `PCLORGetMat()`
@*/
PetscErrorCode PCLORGetKSP(PC pc, KSP *ksp)
{
  PC_LOR *lor = NULL;

  PetscFunctionBegin;
  HopsValidPointer(ksp, 2);
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(PCLORGetData(pc, &lor));
  *ksp = lor->ksp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------ spectrum ------------------------------------------ */

/* The low-order-refined matrix inverted by a solver, between vectors of the operator */
typedef struct {
  PC_LOR *lor;
  KSP     ksp;
} HopsInner;

static PetscErrorCode PCLORApplySpectrum(PC p, Vec x, Vec y)
{
  HopsInner    *inner;
  HopsLORBlock *block;
  Vec           xs, xi, yi;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(p, &inner));
  block = inner->lor->block;
  PetscCall(PCLORScaleBegin(inner->lor, x, &xs));
  PetscCall(PCLORBetweenBegin(inner->lor, xs, y, &xi, &yi));
  if (block) {
    PetscCall(HopsLORBlockEmbed(block, xs, block->x));
    PetscCall(KSPSolve(inner->ksp, block->x, block->y));
    PetscCall(HopsLORBlockExtract(block, block->y, y));
  } else PetscCall(KSPSolve(inner->ksp, xi, yi));
  PetscCall(PCLORBetweenEnd(inner->lor, xs, y));
  PetscCall(PCLORScaleEnd(inner->lor, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Extreme eigenvalues of B^-1 A by the Lanczos process inside CG: exact selects B = the factored LOR matrix,
   else B = the inner solver */
static PetscErrorCode PCLORLanczos(PC pc, PC_LOR *lor, PetscBool exact, PetscReal *emin, PetscReal *emax)
{
  MPI_Comm     comm  = PetscObjectComm((PetscObject)pc);
  HopsInner    inner = {lor, lor->ksp};
  KSP          ksp;
  PC           p;
  Vec          x, b;
  PetscRandom  r;
  MatNullSpace nsp;
  PetscMPIInt  size;
  Mat          A = NULL;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(KSPCreate(comm, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "pc_lor_spectrum_")); /* monitors of the user's own solver are not meant for this one */
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NATURAL));
  PetscCall(KSPSetTolerances(ksp, 1e-14, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  PetscCall(KSPGetPC(ksp, &p));
  PetscCall(KSPSetOperators(ksp, pc->mat, pc->mat));
  PetscCall(PCSetType(p, PCSHELL));
  PetscCall(PCShellSetContext(p, &inner));
  PetscCall(PCShellSetApply(p, PCLORApplySpectrum));
  if (exact) {
    PetscBool hypre;
    PC        q;

    A = lor->block ? lor->block->mat : (lor->between || lor->sub ? lor->mat : lor->lor.mat);
    PetscCall(PetscObjectTypeCompare((PetscObject)A, MATHYPRE, &hypre)); /* of a device: factored on the host */
    if (hypre) {
      Mat T; /* there is no direct way */

      PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &T));
      PetscCall(MatConvert(T, size > 1 ? MATMPIAIJ : MATSEQAIJ, MAT_INITIAL_MATRIX, &A));
      PetscCall(MatDestroy(&T));
    } else PetscCall(PetscObjectReference((PetscObject)A));

    PetscCall(KSPCreate(comm, &inner.ksp));
    PetscCall(KSPSetOptionsPrefix(inner.ksp, "pc_lor_spectrum_exact_"));
    PetscCall(KSPSetType(inner.ksp, KSPPREONLY));
    PetscCall(KSPSetOperators(inner.ksp, A, A));
    PetscCall(KSPGetPC(inner.ksp, &q));
    if (size > 1) {
      KSP k;

      PetscCall(PCSetType(q, PCREDUNDANT));
      PetscCall(PCRedundantGetKSP(q, &k));
      PetscCall(KSPGetPC(k, &q));
      PetscCall(PCSetType(q, PCLU));
    } else {
      PetscCall(PCSetType(q, PCCHOLESKY));
      PetscCall(PCFactorSetMatOrderingType(q, MATORDERINGND));
    }
    PetscCall(PCFactorSetShiftType(q, MAT_SHIFT_NONZERO));
  }
  PetscCall(MatCreateVecs(pc->mat, &x, &b));
  PetscCall(PetscRandomCreate(comm, &r));
  PetscCall(VecSetRandom(b, r));
  PetscCall(MatGetNullSpace(pc->mat, &nsp));
  if (nsp) PetscCall(MatNullSpaceRemove(nsp, b));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPComputeExtremeSingularValues(ksp, emax, emin));
  PetscCall(PetscRandomDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  if (exact) PetscCall(KSPDestroy(&inner.ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLORViewSpectrum - Prints Lanczos estimates of the extreme eigenvalues of the preconditioned operator and
  their ratio: with the low-order-refined matrix inverted exactly (on problems of at most 100,000 unknowns),
  and as the preconditioner is used.

  Collective

  Input Parameters:
+ pc     - the preconditioner, after `PCSetUp()`
- viewer - an ASCII viewer, or `NULL` for standard output

  Options Database Key:
. -pc_lor_view_spectrum - print the estimates once, at the end of the first set-up

  Level: intermediate

.seealso: `PCLOR`
@*/
PetscErrorCode PCLORViewSpectrum(PC pc, PetscViewer viewer)
{
  PC_LOR   *lor  = NULL;
  PetscReal emin = 0.0, emax = 0.0;
  PetscInt  N;

  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(PCLORGetData(pc, &lor));
  PetscCheck(lor->mat, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE, "Call PCSetUp() first");
  PetscCall(PCLORSumRenew(pc, lor));
  PetscCheck(!lor->block || lor->block->sym, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The form is not symmetric, so its spectrum is complex: use -ksp_view_eigenvalues with -ksp_type gmres");
  if (!viewer) PetscCall(PetscViewerASCIIGetStdout(PetscObjectComm((PetscObject)pc), &viewer));
  PetscCall(MatGetSize(lor->mat, &N, NULL));
  if (N <= 100000) {
    PetscCall(PCLORLanczos(pc, lor, PETSC_TRUE, &emin, &emax));
    PetscCall(PetscViewerASCIIPrintf(viewer, "LOR spectrum, exact inverse: [%.4f, %.4f], ratio %.3f\n", (double)emin, (double)emax,
                                     (double)(emax / emin)));
  } else PetscCall(PetscViewerASCIIPrintf(viewer, "LOR spectrum, exact inverse: left out above 100000 unknowns\n"));
  PetscCall(PCLORLanczos(pc, lor, PETSC_FALSE, &emin, &emax));
  PetscCall(PetscViewerASCIIPrintf(viewer, "LOR spectrum, as used:       [%.4f, %.4f], ratio %.3f\n", (double)emin, (double)emax,
                                   (double)(emax / emin)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
