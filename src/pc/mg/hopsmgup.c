/*
  Smoothing after coarse corrections. PCMG's down smoother is also the up smoother, unless another KSP is made
  (-pc_mg_distinct_smoothup). One is made here where patches are to be swept in the opposite order of colors:
  it shares the patches of the down smoother, whose direction is reversed while it works. Forward before and
  backward after is a symmetric cycle at the cost of one sweep each.
*/
#include "hopsmgimpl.h"
#include <hops/private/hopspatchfdimpl.h>
#include <petsc/private/pcmgimpl.h>

PetscErrorCode PCHopsMGGetUp(PC pc, PetscInt l, KSP *up)
{
  PC_MG_Levels *level = ((PC_MG *)pc->data)->levels[l];

  PetscFunctionBegin;
  *up = level->smoothu == level->smoothd ? NULL : level->smoothu;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Reverse(KSP ksp, Vec b, Vec x, void *ctx)
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCPATCHFDReverse_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the up smoother one that was made here? It alone shares its PC */
static PetscErrorCode UpIsShared(PC pc, PetscInt l, PetscBool *shared)
{
  KSP down, up;
  PC  a, b = NULL;

  PetscFunctionBegin;
  PetscCall(PCMGGetSmoother(pc, l, &down));
  PetscCall(PCHopsMGGetUp(pc, l, &up));
  PetscCall(KSPGetPC(down, &a));
  if (up) PetscCall(KSPGetPC(up, &b));
  *shared = a == b ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* It reads the options of the down smoother, and knows nothing else of it but the number of steps */
static PetscErrorCode CreateUp(PC pc, PetscInt l)
{
  KSP         down, up;
  PC          patch;
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(PCMGGetSmoother(pc, l, &down));
  PetscCall(KSPGetPC(down, &patch));
  PetscCall(KSPGetOptionsPrefix(down, &prefix));
  PetscCall(PCMGGetSmootherUp(pc, l, &up));
  PetscCall(KSPSetPC(up, patch));
  PetscCall(KSPSetOptionsPrefix(up, prefix));
  PetscCall(KSPSetFromOptions(up));
  PetscCall(KSPSetInitialGuessNonzero(up, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Level l, whose smoothers are set up */
static PetscErrorCode ReverseLevel(PC pc, PC_HopsMG *mg, PetscInt l, PetscBool cycle)
{
  const PetscBool asked = mg->reverseset && mg->reverse ? PETSC_TRUE : PETSC_FALSE;
  MPI_Comm        comm  = PetscObjectComm((PetscObject)pc);
  KSP             down, up;
  PC              patch;
  PC_PATCHFD     *fd = NULL;
  PetscInt        steps;
  PetscBool       richardson, same, shared = PETSC_FALSE, want;

  PetscFunctionBegin;
  mg->reversed[l] = PETSC_FALSE;
  PetscCall(PCMGGetSmoother(pc, l, &down));
  PetscCall(KSPGetPC(down, &patch));
  PetscCall(PetscObjectTypeCompare((PetscObject)down, KSPRICHARDSON, &richardson));
  PetscCall(PetscObjectTypeCompare((PetscObject)patch, PCPATCHFD, &same));
  if (same) PetscCall(PCPATCHFDGetData(patch, &fd));
  if (fd && fd->type != PC_PATCHFD_MULTIPLICATIVE) fd = NULL;
  PetscCall(PCHopsMGGetUp(pc, l, &up));
  PetscCall(UpIsShared(pc, l, &shared));
  if (asked) {
    PetscCheck(richardson && fd, comm, PETSC_ERR_SUP,
               "Only Richardson iteration with multiplicative patches has an order to reverse, not %s with %s on level "
               "%" PetscInt_FMT ": use -mg_levels_ksp_type richardson -mg_levels_pc_type patchfd, or leave out -pc_hopsmg_reverse",
               ((PetscObject)down)->type_name, ((PetscObject)patch)->type_name, l);
    PetscCheck(!fd->directed || fd->direction != PC_PATCHFD_SYMMETRIC, comm, PETSC_ERR_ARG_INCOMP,
               "The symmetric order of colors is its own reverse: use -mg_levels_pc_patchfd_direction forward or backward, or "
               "leave out -pc_hopsmg_reverse");
    PetscCheck(!up || shared, comm, PETSC_ERR_ARG_INCOMP,
               "-pc_mg_distinct_smoothup makes a smoother of its own after coarse corrections: choose its "
               "-mg_levels_up_pc_patchfd_direction, or leave out -pc_hopsmg_reverse");
    PetscCheck(cycle, comm, PETSC_ERR_ARG_INCOMP,
               "Only -pc_mg_type multiplicative and full smooth after coarse corrections: use one of them, or leave out "
               "-pc_hopsmg_reverse");
  }
  if (up && !shared) PetscFunctionReturn(PETSC_SUCCESS);
  want = cycle && richardson && fd && (mg->reverseset ? mg->reverse : !fd->directed) ? PETSC_TRUE : PETSC_FALSE;
  if (fd && !fd->directed) fd->direction = want ? PC_PATCHFD_FORWARD : PC_PATCHFD_SYMMETRIC;
  if (!want && !shared) PetscFunctionReturn(PETSC_SUCCESS);
  if (!shared) PetscCall(CreateUp(pc, l));
  PetscCall(PCHopsMGGetUp(pc, l, &up));
  PetscCall(KSPGetTolerances(down, NULL, NULL, NULL, &steps));
  PetscCall(KSPSetTolerances(up, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, steps));
  PetscCall(KSPSetPreSolve(up, want ? Reverse : NULL, NULL));
  PetscCall(KSPSetPostSolve(up, want ? Reverse : NULL, NULL));
  PetscCall(KSPSetUp(up));
  mg->reversed[l] = want;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  After PCMG's set-up. PCMG lets a down smoother start from zero where there is an up smoother and the cycle
  is not full; a full cycle that is chosen afterwards needs its iterate.
*/
PetscErrorCode PCHopsMGReverse(PC pc, PC_HopsMG *mg)
{
  PCMGType type;
  KSP      down;

  PetscFunctionBegin;
  PetscCall(PCMGGetType(pc, &type));
  for (PetscInt l = 1; l < mg->nlevels; ++l) {
    PetscCall(ReverseLevel(pc, mg, l, type == PC_MG_MULTIPLICATIVE || type == PC_MG_FULL ? PETSC_TRUE : PETSC_FALSE));
    PetscCall(PCMGGetSmoother(pc, l, &down));
    PetscCall(KSPSetInitialGuessNonzero(down, PETSC_TRUE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
