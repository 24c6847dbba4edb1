/*
  BoomerAMG of a small matrix on several ranks of a device. There its set-up is messages about few rows, which
  take several times as long as the same work on one rank. So rank 0 gets all rows, sets BoomerAMG up for
  itself, and runs the cycle for all. Not each rank for itself: hypre's coarsening draws random numbers, of
  which each would have others.
*/
#include <hops/private/hopslorimpl.h>
#include <hops/private/hopsdevicematimpl.h>
#include <petsc/private/pcimpl.h>

/* Rank 0's BoomerAMG reads the inner solver's options, while defaults are among them */
PetscErrorCode PCLORGatherSetOptions(PC pc, PC_LOR *lor)
{
  PC          inner;
  const char *prefix;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  lor->gatherable = lor->form->space->family == HOPS_H1 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PCDestroy(&lor->first)); /* with the options of an earlier time */
  if (rank || !lor->gatherable) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetPC(lor->ksp, &inner));
  PetscCall(PCGetOptionsPrefix(inner, &prefix));
  PetscCall(PCCreate(PETSC_COMM_SELF, &lor->first));
  PetscCall(PCSetOptionsPrefix(lor->first, prefix));
  PetscCall(PCSetFromOptions(lor->first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if HOPS_HAVE_HYPRE_DEVICE
/* Is the matrix so small, and will kernels of hops run the cycle of its BoomerAMG? */
static PetscErrorCode PCLORGatherFits(PC pc, PC_LOR *lor, PetscBool *fits)
{
  PC           inner;
  const char  *type;
  MatNullSpace nsp;
  PetscInt     N;
  PetscMPIInt  size;
  PetscBool    same;

  PetscFunctionBegin;
  *fits = PETSC_FALSE;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  if (!lor->gatherable || size == 1 || !lor->ondevice || lor->block) PetscFunctionReturn(PETSC_SUCCESS);
  if (lor->cycletype == PCLOR_CYCLE_HYPRE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(lor->mat, &N, NULL));
  PetscCall(MatGetNullSpace(lor->mat, &nsp));
  if (N > lor->gather || nsp) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)lor->mat, MATHYPRE, &same));
  if (same) PetscCall(PetscObjectTypeCompare((PetscObject)lor->ksp, KSPPREONLY, &same));
  PetscCall(KSPGetPC(lor->ksp, &inner));
  if (same) PetscCall(PetscObjectTypeCompare((PetscObject)inner, PCHYPRE, &same));
  if (!same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCHYPREGetType(inner, &type));
  PetscCall(PetscStrcmp(type, "boomeramg", fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of all ranks, and their hierarchy, on rank 0 */
PetscErrorCode PCLORGatherSetUp(PC pc, PC_LOR *lor)
{
  MPI_Comm       comm = PetscObjectComm((PetscObject)pc);
  Mat            whole;
  PetscErrorCode err = PETSC_SUCCESS;
  PetscMPIInt    bad;
  PetscBool      fits;

  PetscFunctionBegin;
  lor->gathered = PETSC_FALSE;
  PetscCall(PCLORGatherFits(pc, lor, &fits));
  if (!fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsHypreGatherMat(lor->mat, 0, &whole));
  if (whole) {
    PetscCall(PCReset(lor->first)); /* the sizes may change */
    PetscCall(PCSetOperators(lor->first, whole, whole));
    PetscCall(MatDestroy(&whole));
    err = PCSetUp(lor->first);
  }
  bad = err ? 1 : 0; /* the others are to hear of it, not to wait */
  PetscCallMPI(MPI_Bcast(&bad, 1, MPI_INT, 0, comm));
  PetscCall(err);
  PetscCheck(!bad, comm, PETSC_ERR_LIB,
             "The first rank could not set up BoomerAMG of the low-order-refined matrix, which it has for all: what it prints says "
             "why; -pc_lor_cycle_gather 0 leaves the set-up to all ranks");
  lor->gathered = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
