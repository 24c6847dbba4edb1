/* PCHOPSMG's public functions. */
#include "hopsmgimpl.h"

/*@
  PCHopsMGSetLevels - Sets the largest number of levels.

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, of type `PCHOPSMG`
- n  - the number, the finest level included; 0 for all there are

  Options Database Key:
. -pc_hopsmg_levels <n> - the number

  Level: intermediate

.seealso: `PCHOPSMG`, `PCHopsMGSetCoarsening()`
@*/
PetscErrorCode PCHopsMGSetLevels(PC pc, PetscInt n)
{
  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCHOPSMG));
  PetscTryMethod(pc, "PCHopsMGSetLevels_C", (PC, PetscInt), (pc, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHopsMGSetCoarsening - Sets what makes the next coarser level.

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner, of type `PCHOPSMG`
- type - by mesh, by order, or both

  Options Database Key:
. -pc_hopsmg_coarsen <h|p|ph|hp> - the type

  Level: intermediate

.seealso: `PCHOPSMG`, `PCHopsMGCoarsenType`, `PCHopsMGSetOrders()`
@*/
PetscErrorCode PCHopsMGSetCoarsening(PC pc, PCHopsMGCoarsenType type)
{
  PetscFunctionBegin;
  HopsValidEnum(type, PC_HOPSMG_HP, 2);
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCHOPSMG));
  PetscTryMethod(pc, "PCHopsMGSetCoarsening_C", (PC, PCHopsMGCoarsenType), (pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHopsMGSetOrders - Sets the orders that levels of lower order have.

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner, of type `PCHOPSMG`
. n      - the number of orders; 0 for the default: half, a quarter, ... of the finest level's, down to the
  least that has unknowns
- orders - [n] the orders, falling

  Options Database Key:
. -pc_hopsmg_orders <p,...> - the orders

  Level: intermediate

  Note:
  They are used with `PC_HOPSMG_P`, `PC_HOPSMG_PH` and `PC_HOPSMG_HP`; with `PC_HOPSMG_H`, which keeps the
  order, they are an error.

.seealso: `PCHOPSMG`, `PCHopsMGSetCoarsening()`
@*/
PetscErrorCode PCHopsMGSetOrders(PC pc, PetscInt n, const PetscInt orders[])
{
  PetscFunctionBegin;
  HopsValidArray(n, orders, 3);
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCHOPSMG));
  PetscTryMethod(pc, "PCHopsMGSetOrders_C", (PC, PetscInt, const PetscInt[]), (pc, n, orders));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHopsMGSetCoarseMatType - Sets whether the coarsest operator is assembled.

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner, of type `PCHOPSMG`
- type - `MATAIJ`, `MATPA`, or `NULL`: assembled if it has at most 5000 unknowns

  Options Database Key:
. -pc_hopsmg_coarse_mat <auto|aij|pa> - the type

  Level: intermediate

  Note:
  The default coarse solver is LU of an assembled operator, and one application of `PCLOR` for a matrix-free
  one; see -mg_coarse_pc_type.

.seealso: `PCHOPSMG`
@*/
PetscErrorCode PCHopsMGSetCoarseMatType(PC pc, MatType type)
{
  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCHOPSMG));
  PetscTryMethod(pc, "PCHopsMGSetCoarseMatType_C", (PC, MatType), (pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHopsMGSetSinglePrecision - Runs the cycle in single precision, between a residual and a correction of
  double precision.

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner, of type `PCHOPSMG`
- single - single precision

  Options Database Key:
. -pc_hopsmg_precision <double|single> - the precision

  Level: intermediate

  Notes:
  Use it inside a Krylov method in double precision (`KSPCG`, `KSPFGMRES`), which keeps the accuracy.
  Operators, transfers and vectors of all levels but the coarsest are copied to single precision; smoothing is
  Chebyshev iteration with the diagonal, or Richardson iteration with patches (-mg_levels_ksp_type richardson
  -mg_levels_pc_type patchfd), with the number of steps of -mg_levels_ksp_max_it. Other smoothers, cycles
  other than `PC_MG_MULTIPLICATIVE` and `PC_MG_FULL`, and Robin terms raise `PETSC_ERR_SUP`.

.seealso: `PCHOPSMG`
@*/
PetscErrorCode PCHopsMGSetSinglePrecision(PC pc, PetscBool single)
{
  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCHOPSMG));
  PetscTryMethod(pc, "PCHopsMGSetSinglePrecision_C", (PC, PetscBool), (pc, single));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHopsMGSetReverse - Sets whether patches are swept in the opposite order of colors after coarse
  corrections.

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner, of type `PCHOPSMG`
- reverse - the opposite order (forward before, backward after), or the same

  Options Database Key:
. -pc_hopsmg_reverse <bool> - the opposite order

  Level: intermediate

  Notes:
  Forward before and backward after coarse corrections make a symmetric cycle, which `KSPCG` needs, at half
  the work of the symmetric order on both sides. So this is the default where Richardson iteration smooths
  with multiplicative patches (-mg_levels_ksp_type richardson -mg_levels_pc_type patchfd) whose direction was
  not set, and the cycle is `PC_MG_MULTIPLICATIVE` or `PC_MG_FULL`. With `PETSC_FALSE` such patches have the
  symmetric order on both sides. A direction that was set (`PCPATCHFDSetDirection()`) is taken on both sides,
  unless this function asks for its reverse.

  The smoother after coarse corrections is then a `KSP` of its own, `PCMGGetSmootherUp()`, which shares the
  patches and the options of `PCMGGetSmoother()`: what a program changes in the one after `PCSetUp()` it must
  change in the other.

  Other smoothers, the symmetric direction, other cycles and -pc_mg_distinct_smoothup raise an error with
  `PETSC_TRUE`.

.seealso: `PCHOPSMG`, `PCPATCHFDSetDirection()`, `PCMGSetDistinctSmoothUp()`
@*/
PetscErrorCode PCHopsMGSetReverse(PC pc, PetscBool reverse)
{
  PetscFunctionBegin;
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(HopsPCCheckSetter(pc, PETSC_FUNCTION_NAME, PCHOPSMG));
  PetscTryMethod(pc, "PCHopsMGSetReverse_C", (PC, PetscBool), (pc, reverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHopsMGGetSpace - Gets the space of a level, after `PCSetUp()`.

  Not Collective

  Input Parameters:
+ pc    - the preconditioner, of type `PCHOPSMG`
- level - the level, 0 for the coarsest

  Output Parameter:
. space - the space (borrowed)

  Level: intermediate

.seealso: `PCHOPSMG`, `PCMGGetLevels()`
@*/
PetscErrorCode PCHopsMGGetSpace(PC pc, PetscInt level, HopsSpace *space)
{
  PC_HopsMG *mg;

  PetscFunctionBegin;
  HopsValidPointer(space, 3);
  HopsValidHeader(pc, PC_CLASSID, 1);
  PetscCall(PCHopsMGGet(pc, &mg));
  PetscCheck(level >= 0 && level < mg->nlevels, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "There is no level %" PetscInt_FMT ": there are %" PetscInt_FMT " after PCSetUp()", level, mg->nlevels);
  *space = mg->space[level];
  PetscFunctionReturn(PETSC_SUCCESS);
}
