/* PCHOPSMG's hierarchy: which spaces, and the operator on each. */
#include "hopsmgimpl.h"
#include <hops/private/hopspleximpl.h>
#include <petscdmforest.h>
#include <petsc/private/matimpl.h>

/* ------------------------------------------- spaces ------------------------------------------- */

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

/* The mesh below that of a space: its DM's coarse DM, or that of the solver's DM if the space is on the same
   mesh */
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

/* The forest whose mesh a space has: of a level below another one its own, else the solver's DM, or the
   matrix's; or NULL */
static PetscErrorCode PCHopsMGGetForest(PC pc, HopsSpace sp, DM *forest)
{
  DM        dm[2] = {pc->dm, NULL}, plex;
  PetscBool is;

  PetscFunctionBegin;
  PetscCall(HopsSpaceGetForest(sp, forest));
  if (!sp->dm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetDM(pc->pmat, &dm[1]));
  for (PetscInt i = 0; i < 2 && !*forest; ++i) {
    if (!dm[i]) continue;
    PetscCall(DMIsForest(dm[i], &is));
    if (!is) continue;
    PetscCall(HopsDMGetPlex(dm[i], &plex));
    PetscCall(HopsPlexSameMesh(plex, sp->dm, &is));
    if (is) *forest = dm[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The space of the next lower order, or NULL: the next of the user's list, else half the order, or the least
   above with unknowns */
static PetscErrorCode PCHopsMGCreateLowerOrder(PC pc, const PC_HopsMG *mg, HopsSpace fine, HopsSpace *coarse)
{
  PetscFunctionBegin;
  *coarse = NULL;
  for (PetscInt i = 0; i < mg->norders; ++i) {
    if (mg->orders[i] >= fine->order) continue;
    PetscCall(HopsSpaceCreateCoarse(fine, NULL, mg->orders[i], coarse));
    PetscCheck((*coarse)->N, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
               "Order %" PetscInt_FMT " has no unknowns on this mesh, which is all essential boundary at that order: leave it out "
               "of -pc_hopsmg_orders (PCHopsMGSetOrders()), or leave the choice to PCHOPSMG",
               mg->orders[i]);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt p = PetscMax(1, fine->order / 2); !mg->norders && p < fine->order; ++p) {
    PetscCall(HopsSpaceCreateCoarse(fine, NULL, p, coarse));
    if ((*coarse)->N) break;
    PetscCall(HopsSpaceDestroy(coarse)); /* one cell of order 1 between essential boundaries, say */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The space on the next coarser mesh, or NULL where there is none, or one without unknowns. Where the user
   told it (HopsSpaceSetCoarse()), that one, at no higher order than the levels above have come down to */
static PetscErrorCode PCHopsMGCreateCoarserMesh(PC pc, HopsSpace fine, HopsSpace *coarse)
{
  HopsSpace told = HopsSpaceMesh(fine)->coarse, made = NULL;
  DM        dm = NULL;

  PetscFunctionBegin;
  *coarse = NULL;
  if (!told) PetscCall(PCHopsMGNextMesh(pc, fine, &dm));
  if (dm) PetscCall(HopsSpaceCreateCoarse(fine, dm, fine->order, coarse));
  else if (!told) {
    /* of the mesh's own order, for all that come after, whose levels may have another one */
    PetscCall(PCHopsMGGetForest(pc, fine, &dm));
    if (dm) PetscCall(HopsSpaceCreateCoarseForest(HopsSpaceMesh(fine), dm, &made));
    told = made;
  }
  if (told && told->order <= fine->order) {
    PetscCall(HopsSpaceReference(told));
    *coarse = told;
    if (told->backend == fine->backend) told->kokkosvecs = fine->kokkosvecs; /* which go with no others */
  } else if (told) PetscCall(HopsSpaceCreateCoarse(told, NULL, fine->order, coarse));
  PetscCall(HopsSpaceDestroy(&made));
  if (*coarse && !(*coarse)->N) PetscCall(HopsSpaceDestroy(coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One more level below the last of list[], by mesh or by order */
static PetscErrorCode PCHopsMGAddLevel(PC pc, PC_HopsMG *mg, PetscBool mesh, PetscInt *n, HopsSpace list[], PetscBool *added)
{
  HopsSpace coarse = NULL;

  PetscFunctionBegin;
  *added = PETSC_FALSE;
  if (*n == HOPS_MG_MAXORDERS || (mg->maxlevels && *n >= mg->maxlevels)) PetscFunctionReturn(PETSC_SUCCESS);
  if (mesh) PetscCall(PCHopsMGCreateCoarserMesh(pc, list[*n - 1], &coarse));
  else PetscCall(PCHopsMGCreateLowerOrder(pc, mg, list[*n - 1], &coarse));
  if (!coarse) PetscFunctionReturn(PETSC_SUCCESS);
  list[(*n)++] = coarse;
  *added       = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCHopsMGBuildLevels(PC pc, PC_HopsMG *mg, HopsSpace fine)
{
  const PetscBool first = mg->coarsen == PC_HOPSMG_H || mg->coarsen == PC_HOPSMG_HP ? PETSC_TRUE : PETSC_FALSE;
  const PetscBool both  = mg->coarsen == PC_HOPSMG_PH || mg->coarsen == PC_HOPSMG_HP ? PETSC_TRUE : PETSC_FALSE;
  const PetscBool mesh = first || both ? PETSC_TRUE : PETSC_FALSE, order = !first || both ? PETSC_TRUE : PETSC_FALSE;
  HopsSpace       list[HOPS_MG_MAXORDERS];
  PetscInt        n = 1;
  PetscBool       added;

  PetscFunctionBegin;
  PetscCall(PCHopsMGFreeLevels(mg));
  PetscCheck(order || !mg->norders, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "-pc_hopsmg_orders (PCHopsMGSetOrders()) names orders of levels, and -pc_hopsmg_coarsen h makes levels of coarser "
             "meshes "
             "alone: use -pc_hopsmg_coarsen p, ph or hp, or leave the orders out");
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
    SETERRQ(PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
            "PCHOPSMG finds no coarser level: %s%s; use -pc_type lor where neither is possible",
            mesh ? (fine->dm ? "the mesh has no coarse DM with unknowns (-dm_refine_hierarchy <n>, or DMSetCoarseDM())"
                             : "the space was told of none with unknowns on a coarser mesh (HopsSpaceSetCoarse())")
                 : "meshes are not coarsened unless asked for (-pc_hopsmg_coarsen h, ph or hp)",
            order ? ", and no lower order has unknowns"
                  : ", and orders are not coarsened unless asked for (-pc_hopsmg_coarsen p, ph or hp)");
  }
  mg->nlevels = n;
  for (PetscInt l = 0; l < n; ++l) mg->space[l] = list[n - 1 - l];
  for (PetscInt l = 1; l < n; ++l) PetscCall(HopsNestedCreate(mg->space[l - 1], mg->space[l], &mg->nested[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ----------------------------------------- operators ----------------------------------------- */

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
  PetscCall(HopsCoefficientCoarsen(HopsFormDerivative(pf->form), nested, sc, sf, q, &cf));
  PetscCall(MatPASetDiffusion(mg->A[l - 1], cf));
  PetscCall(HopsCoefficientDestroy(&cf));
  PetscCall(HopsCoefficientCoarsen(HopsFormValue(pf->form), nested, sc, sf, q, &cf));
  PetscCall(MatPASetMass(mg->A[l - 1], cf));
  PetscCall(HopsCoefficientDestroy(&cf));
  PetscCall(MatPAGetData(mg->A[l - 1], &pc));
  PetscCall(HopsFormClear(pc->form, HOPS_BOUNDARY));
  PetscCall(HopsFormCoarsenBoundary(pf->form, nested, sc, sf, &pf->facebasis, mg->A[l - 1]));
  PetscCall(PCHopsMGCopyNullSpace(fine, mg->A[l - 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCHopsMGUpdateOperators(PC pc, PC_HopsMG *mg, Mat A)
{
  PetscFunctionBegin;
  for (PetscInt l = mg->nlevels - 1; l > 0; --l) PetscCall(PCHopsMGCoarsenOperator(mg, l, l == mg->nlevels - 1 ? A : mg->A[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
