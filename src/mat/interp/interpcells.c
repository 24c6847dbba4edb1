/*
  Which cells a rank works on in a map to a space on an adaptive mesh. A rank writes the unknowns that it
  owns, so it needs for each a cell that has it as a node of its own. Where nodes hang an owner's cells may
  list an unknown as a parent's alone: a cell of another rank is taken besides then. And of all these cells
  the parents, which may be on other ranks after a new partition.
*/
#include "interpimpl.h"

void HopsInterpOwnNodes(HopsSpace sp, const HopsHanging *h, unsigned mask, PetscBool own[])
{
  if (!sp->hanging || !mask) {
    for (PetscInt i = 0; i < sp->ne; ++i) own[i] = PETSC_TRUE;
    return;
  }
  (void)HopsHangingNodes(h, mask, own);
  for (PetscInt i = 0; i < sp->ne; ++i) own[i] = !own[i] || HopsHangingIsOwn(h, mask, (int)i) ? PETSC_TRUE : PETSC_FALSE;
}

/* cells[n]: of all ranks, those that this rank needs besides its own; each unknown takes the last that has it
   */
static PetscErrorCode FindCells(HopsSpace fine, PetscInt first, PetscInt *n, PetscInt *cells[])
{
  char        why[HOPS_WHY_LENGTH] = "";
  PetscInt   *who; /* [nL] a cell that has the entry as its own node, or -1 */
  PetscBool  *own, *mine;
  HopsHanging h = {0};
  PetscSF     sf;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(fine->nL, &who, fine->ne, &own, fine->nT, &mine));
  if (fine->hanging) PetscCall(HopsHangingCreate(HOPS_H1, fine->dim, fine->order, &h));
  for (PetscInt l = 0; l < fine->nL; ++l) who[l] = -1;
  for (PetscInt c = 0; c < fine->ncells; ++c) {
    HopsInterpOwnNodes(fine, &h, fine->hanging ? fine->hang[c] : 0, own);
    for (PetscInt i = 0; i < fine->ne; ++i)
      if (own[i]) who[fine->restr[c * fine->ne + i]] = first + fine->cell[c] - fine->cstart;
  }
  for (PetscInt t = 0; t < fine->nT; ++t) mine[t] = who[t] >= 0 ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt e = 0; e < fine->ness; ++e) mine[fine->essT[e]] = PETSC_TRUE; /* nothing is written there */
  PetscCall(HopsSpaceGetElementSF(fine, &sf));
  PetscCall(PetscSFReduceBegin(sf, MPIU_INT, who + fine->nT, who, MPI_MAX));
  PetscCall(PetscSFReduceEnd(sf, MPIU_INT, who + fine->nT, who, MPI_MAX));
  PetscCall(PetscMalloc1(fine->nT, cells));
  *n = 0;
  for (PetscInt t = 0; t < fine->nT; ++t) {
    if (mine[t]) continue;
    if (who[t] < 0)
      PetscCall(HopsRefuse(why,
                           "Unknown %" PetscInt_FMT
                           " is a node of no cell of any rank, but of parents of cells with hanging nodes, as on a "
                           "boundary where DMPlexTreeRefineCell() refined: use -pc_type lor",
                           fine->rstart + t));
    else (*cells)[(*n)++] = who[t];
  }
  PetscCall(PetscSortRemoveDupsInt(n, *cells));
  PetscCall(HopsHangingDestroy(&h));
  PetscCall(PetscFree3(who, own, mine));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)fine), PETSC_ERR_SUP, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define HOPS_PLACE 3 /* numbers of a cell that travel: the parent, the half, the axes */

/* What is known of the fine cells, in the caller's order: the parent among those of all ranks, how they lie
   */
static void Pack(const HopsNested *n, HopsSpace coarse, HopsSpace fine, PetscInt first, PetscInt place[])
{
  for (PetscInt f = 0; f < n->nfine; ++f) {
    PetscInt            *p    = place + (fine->cell[f] - fine->cstart) * HOPS_PLACE;
    const unsigned char *axis = n->axis + f * n->dim;

    p[0] = n->given ? n->number[f] : first + coarse->cell[n->parent[f]] - coarse->cstart;
    p[1] = n->half[f] + (HopsNestedHalves(n, f) == 1 ? 8 : 0);
    p[2] = axis[0] + 8 * axis[1] + (n->dim == 3 ? 64 * axis[2] : 0);
  }
}

/* Of cell c of x->fine */
static void Unpack(HopsInterpCells *x, PetscInt c, const PetscInt place[])
{
  const PetscInt dim = x->fine->dim;

  x->parent[c] = place[0];
  x->half[c]   = (unsigned char)(place[1] & 7);
  x->kept[c]   = place[1] & 8 ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt d = 0; d < dim; ++d) x->axis[c * dim + d] = (unsigned char)(place[2] >> (3 * d) & 7);
}

/* The fine cells and how they lie; parent[] among the cells of all ranks */
static PetscErrorCode FineCells(const HopsNested *n, HopsSpace coarse, HopsSpace fine, PetscInt cfirst, HopsInterpCells *x)
{
  PetscInt     ncells = fine->ncaller, nmore, *cells, *more, *mine, *have, first, any;
  MPI_Datatype unit;
  PetscSF      sf;

  PetscFunctionBegin;
  PetscCall(HopsSpaceCreateCellSF(fine, 0, NULL, &first, &sf));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(FindCells(fine, first, &nmore, &more));
  PetscCall(MPIU_Allreduce(&nmore, &any, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)fine)));
  PetscCall(PetscCalloc1(ncells * HOPS_PLACE, &mine));
  Pack(n, coarse, fine, cfirst, mine);
  PetscCall(PetscMalloc2(fine->ncells + nmore, &cells, (fine->ncells + nmore) * HOPS_PLACE, &have));
  for (PetscInt c = 0; c < fine->ncells; ++c) cells[c] = first + fine->cell[c] - fine->cstart;
  PetscCall(PetscArraycpy(cells + fine->ncells, more, nmore));
  PetscCall(HopsSpaceCreateCellSF(fine, fine->ncells + nmore, cells, NULL, &sf));
  PetscCallMPI(MPI_Type_contiguous(HOPS_PLACE, MPIU_INT, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCall(PetscSFBcastBegin(sf, unit, mine, have, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, unit, mine, have, MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&unit));
  PetscCall(PetscSFDestroy(&sf));
  if (any) PetscCall(HopsSpaceCreateCellView(fine, fine->ncells + nmore, cells, &x->fine));
  else {
    PetscCall(HopsSpaceReference(fine));
    x->fine = fine;
  }
  x->n = fine->ncells + nmore;
  PetscCall(PetscMalloc4(x->n, &x->parent, x->n, &x->half, x->n * fine->dim, &x->axis, x->n, &x->kept));
  for (PetscInt c = 0; c < x->n; ++c) Unpack(x, c, have + (any ? x->fine->cell[c] : c) * HOPS_PLACE);
  PetscCall(PetscFree(more));
  PetscCall(PetscFree(mine));
  PetscCall(PetscFree2(cells, have));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Their parents; parent[] becomes that of x->coarse */
static PetscErrorCode CoarseCells(HopsSpace coarse, PetscInt first, HopsInterpCells *x)
{
  PetscInt  n     = x->n, *cells, *where;
  PetscBool apart = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &cells));
  PetscCall(PetscArraycpy(cells, x->parent, n));
  PetscCall(PetscSortRemoveDupsInt(&n, cells));
  for (PetscInt i = 0; i < n; ++i)
    if (cells[i] < first || cells[i] >= first + coarse->ncaller) apart = PETSC_TRUE;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, &apart, 1, HOPS_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)coarse)));
  if (apart) PetscCall(HopsSpaceCreateCellView(coarse, n, cells, &x->coarse));
  else {
    PetscCall(HopsSpaceReference(coarse));
    x->coarse = coarse;
  }
  PetscCall(PetscMalloc1(x->coarse->ncaller, &where));
  for (PetscInt c = 0; c < x->coarse->ncells; ++c) where[x->coarse->cell[c] - x->coarse->cstart] = c;
  for (PetscInt c = 0; c < x->n; ++c) {
    PetscInt at = x->parent[c] - first;

    if (apart) PetscCall(PetscFindInt(x->parent[c], n, cells, &at));
    x->parent[c] = where[at];
  }
  PetscCall(PetscFree(cells));
  PetscCall(PetscFree(where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsInterpCellsCreate(const HopsNested *n, HopsSpace coarse, HopsSpace fine, HopsInterpCells *x)
{
  PetscInt first;
  PetscSF  sf;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(coarse));
  PetscCall(HopsSpaceBringMesh(fine));
  PetscCall(HopsSpaceCreateCellSF(coarse, 0, NULL, &first, &sf));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(FineCells(n, coarse, fine, first, x));
  PetscCall(CoarseCells(coarse, first, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsInterpCellsDestroy(HopsInterpCells *x)
{
  PetscFunctionBegin;
  PetscCall(PetscFree4(x->parent, x->half, x->axis, x->kept));
  PetscCall(HopsSpaceDestroy(&x->coarse));
  PetscCall(HopsSpaceDestroy(&x->fine));
  PetscFunctionReturn(PETSC_SUCCESS);
}
