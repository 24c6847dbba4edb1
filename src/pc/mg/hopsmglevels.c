/* PCHOPSMG's hierarchy: which spaces, and the operator on each. */
#include "hopsmgimpl.h"
#include <petsc/private/matimpl.h>

/* ------------------------------------------------------------------ spaces ------------------------------------------------------------------ */

PetscErrorCode PCHopsMGFreeLevels(PC_HopsMG *mg)
{
  PetscFunctionBegin;
  for (PetscInt l = 0; l < mg->nlevels; ++l) {
    PetscCall(MatDestroy(&mg->A[l]));
    if (l) PetscCall(HopsNestedDestroy(&mg->nested[l]));
    PetscCall(HopsSpaceDestroy(&mg->space[l]));
  }
  mg->nlevels = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next order below p, or 0: half of it, or the next of the user's list */
static PetscInt PCHopsMGNextOrder(const PC_HopsMG *mg, PetscInt p)
{
  if (!mg->norders) return p / 2;
  for (PetscInt i = 0; i < mg->norders; ++i)
    if (mg->orders[i] < p) return mg->orders[i];
  return 0;
}

/* The mesh below that of a space: its DM's coarse DM, or that of the solver's DM if the space is on the same mesh */
static PetscErrorCode PCHopsMGNextMesh(PC pc, HopsSpace sp, DM *dm)
{
  PetscBool plex = PETSC_FALSE, same = PETSC_FALSE;

  PetscFunctionBegin;
  *dm = NULL;
  if (!sp->dm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetCoarseDM(sp->dm, dm));
  if (*dm || !pc->dm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->dm, DMPLEX, &plex));
  if (plex) PetscCall(HopsPlexSameMesh(pc->dm, sp->dm, &same));
  if (same) PetscCall(DMGetCoarseDM(pc->dm, dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One more level below the last of list[], by mesh or by order; false where there is none, or one without unknowns */
static PetscErrorCode PCHopsMGAddLevel(PC pc, PC_HopsMG *mg, PetscBool mesh, PetscInt *n, HopsSpace list[], PetscBool *added)
{
  HopsSpace      fine = list[*n - 1], coarse;
  const PetscInt p    = mesh ? fine->order : PCHopsMGNextOrder(mg, fine->order);
  DM             dm   = NULL;

  PetscFunctionBegin;
  *added = PETSC_FALSE;
  if (mesh) PetscCall(PCHopsMGNextMesh(pc, fine, &dm));
  if ((mesh && !dm) || p < 1 || *n == HOPS_MG_MAXORDERS || (mg->maxlevels && *n >= mg->maxlevels)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HopsSpaceCreateCoarse(fine, dm, p, &coarse));
  if (!coarse->N) { /* one cell of order 1 between essential boundaries */
    PetscCall(HopsSpaceDestroy(&coarse));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  list[(*n)++] = coarse;
  *added       = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCHopsMGBuildLevels(PC pc, PC_HopsMG *mg, HopsSpace fine)
{
  const PetscBool first = mg->coarsen == PC_HOPSMG_H || mg->coarsen == PC_HOPSMG_HP ? PETSC_TRUE : PETSC_FALSE;
  const PetscBool both  = mg->coarsen == PC_HOPSMG_PH || mg->coarsen == PC_HOPSMG_HP ? PETSC_TRUE : PETSC_FALSE;
  HopsSpace       list[HOPS_MG_MAXORDERS];
  PetscInt        n = 1;
  PetscBool       added;

  PetscFunctionBegin;
  PetscCall(PCHopsMGFreeLevels(mg));
  PetscCheck(fine->dm, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "PCHOPSMG needs a mesh hierarchy, which a space made from arrays has not: make the space on a DMPLEX (HopsSpaceCreateH1()), or use PCLOR");
  PetscCall(HopsSpaceReference(fine));
  list[0] = fine;
  do {
    PetscCall(PCHopsMGAddLevel(pc, mg, first, &n, list, &added));
  } while (added);
  do {
    if (both) PetscCall(PCHopsMGAddLevel(pc, mg, first ? PETSC_FALSE : PETSC_TRUE, &n, list, &added));
  } while (added);
  if (n == 1) {
    PetscCall(HopsSpaceDestroy(&list[0]));
    SETERRQ(PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE, "PCHOPSMG finds no coarser level: the mesh has no coarse DM with unknowns (-dm_refine_hierarchy <n>, or DMSetCoarseDM()), %s", first ? "and orders are not coarsened unless asked for (-pc_hopsmg_coarsen p, ph or hp)" : "and there is no lower order");
  }
  mg->nlevels = n;
  for (PetscInt l = 0; l < n; ++l) mg->space[l] = list[n - 1 - l];
  for (PetscInt l = 1; l < n; ++l) PetscCall(HopsNestedCreate(mg->space[l - 1], mg->space[l], &mg->nested[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------------------------------------- operators ----------------------------------------------------------------- */

/* The same null space of constants on the coarse level: other vectors have no meaning there */
static PetscErrorCode PCHopsMGCopyNullSpace(Mat from, Mat to)
{
  MatNullSpace sp;
  PetscBool    constant = PETSC_FALSE;
  PetscInt     n        = 0;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(from, &sp));
  if (sp) PetscCall(MatNullSpaceGetVecs(sp, &constant, &n, NULL));
  if (constant && !n) PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)to), PETSC_TRUE, 0, NULL, &sp));
  PetscCall(MatSetNullSpace(to, constant && !n ? sp : NULL));
  if (constant && !n) PetscCall(MatNullSpaceDestroy(&sp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One level down: the operator on level l-1 from that on level l */
static PetscErrorCode PCHopsMGCoarsenOperator(PC_HopsMG *mg, PetscInt l, Mat fine)
{
  HopsSpace         sf = mg->space[l], sc = mg->space[l - 1];
  const HopsNested *nested = &mg->nested[l];
  Mat_PA           *pf, *pc;
  HopsCoefficient   cf;
  PetscInt          q;

  PetscFunctionBegin;
  PetscCall(MatPAGetData(fine, &pf));
  PetscCall(MatPASetUp_Private(fine, pf));
  q = PetscMax(1, pf->basis.Q - sf->order + sc->order); /* as exact as on the fine level */
  if (!mg->A[l - 1]) PetscCall(MatCreatePA(sc, &mg->A[l - 1]));
  PetscCall(MatPASetQuadrature(mg->A[l - 1], pf->basis.collocated ? 0 : q, pf->basis.collocated));
  PetscCall(HopsCoefficientCoarsen(pf->diffusion, nested, sc, sf, q, &cf));
  PetscCall(MatPASetDiffusion(mg->A[l - 1], cf));
  PetscCall(HopsCoefficientDestroy(&cf));
  PetscCall(HopsCoefficientCoarsen(pf->mass, nested, sc, sf, q, &cf));
  PetscCall(MatPASetMass(mg->A[l - 1], cf));
  PetscCall(HopsCoefficientDestroy(&cf));
  PetscCall(MatPAGetData(mg->A[l - 1], &pc));
  PetscCall(HopsRobinDestroy(&pc->robin));
  PetscCall(HopsRobinCoarsen(pf->robin, nested, sc, sf, &pf->facebasis, mg->A[l - 1]));
  PetscCall(PCHopsMGCopyNullSpace(fine, mg->A[l - 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCHopsMGUpdateOperators(PC pc, PC_HopsMG *mg, Mat A)
{
  PetscFunctionBegin;
  for (PetscInt l = mg->nlevels - 1; l > 0; --l) PetscCall(PCHopsMGCoarsenOperator(mg, l, l == mg->nlevels - 1 ? A : mg->A[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
