/* The space below one, on a mesh some of whose cells were refined: given by the caller, with how the cells
   lie. */
#include <hops/private/hopsnestedimpl.h>

/* Spaces that may be levels of one hierarchy at all */
static PetscErrorCode CheckSpaces(HopsSpace fine, HopsSpace coarse)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)fine);
  PetscMPIInt same;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_compare(comm, PetscObjectComm((PetscObject)coarse), &same));
  PetscCheck((same == MPI_IDENT || same == MPI_CONGRUENT) && coarse->dim == fine->dim, comm, PETSC_ERR_ARG_INCOMP,
             "Levels of a hierarchy are spaces of one dimension on the same processes, not in %" PetscInt_FMT
             "D below one in %" PetscInt_FMT "D, or on other processes",
             coarse->dim, fine->dim);
  PetscCheck(coarse->family == HOPS_H1 && fine->family == HOPS_H1, comm, PETSC_ERR_SUP,
             "Levels of a hierarchy are spaces in H1, not in %s below %s: use -pc_type lor for other families",
             HopsFamilies[coarse->family], HopsFamilies[fine->family]);
  PetscCheck(coarse->order <= fine->order, comm, PETSC_ERR_ARG_INCOMP,
             "The coarse space has the order %" PetscInt_FMT ", above that of the fine one, %" PetscInt_FMT
             ": orders fall from level to level, or stay",
             coarse->order, fine->order);
  for (HopsSpace s = coarse; s; s = HopsSpaceMesh(s)->coarse)
    PetscCheck(HopsSpaceMesh(s) != HopsSpaceMesh(fine), comm, PETSC_ERR_ARG_INCOMP,
               "A space would be below itself: give each level the one coarser than it, down to the coarsest");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Corners of the coarse cells that the relations name, corner[n][2^dim dim] */
static PetscErrorCode BringCorners(HopsSpace coarse, PetscInt n, const PetscInt relations[], PetscSF *sf, PetscReal *corner[])
{
  const PetscInt size = coarse->dim << coarse->dim;
  PetscReal     *mine;
  PetscInt      *cells;
  MPI_Datatype   unit;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(coarse->ncaller * size, &mine));
  PetscCall(PetscMalloc1(n, &cells));
  PetscCall(PetscMalloc1(n * size, corner));
  for (PetscInt c = 0; c < coarse->ncells; ++c)
    PetscCall(HopsSpaceGetCorners(coarse, c, mine + (coarse->cell[c] - coarse->cstart) * size));
  for (PetscInt i = 0; i < n; ++i) cells[i] = relations[i * HOPS_RELATION + 1];
  PetscCall(HopsSpaceCreateCellSF(coarse, n, cells, NULL, sf));
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)size, MPIU_REAL, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCall(PetscSFBcastBegin(*sf, unit, mine, *corner, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(*sf, unit, mine, *corner, MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&unit));
  PetscCall(PetscFree(mine));
  PetscCall(PetscFree(cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each coarse cell is kept once, or has all its children once: sums of 2^child and of 1 tell, since no other
   2^dim powers of two have the sum 2^(2^dim) - 1 */
static PetscErrorCode CheckChildren(HopsSpace coarse, PetscSF sf, PetscInt n, const PetscInt relations[], char why[])
{
  const PetscInt nv = 1 << coarse->dim;
  PetscInt      *mine[2], *sum[2];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(PetscMalloc1(n, &mine[k]));
    PetscCall(PetscCalloc1(coarse->ncaller, &sum[k]));
  }
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt child = relations[i * HOPS_RELATION + 2];

    mine[0][i] = child < 0 ? nv : 1;
    mine[1][i] = child < 0 ? (1 << nv) - 1 : 1 << child;
  }
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(PetscSFReduceBegin(sf, MPIU_INT, mine[k], sum[k], MPI_SUM));
    PetscCall(PetscSFReduceEnd(sf, MPIU_INT, mine[k], sum[k], MPI_SUM));
  }
  for (PetscInt c = 0; c < coarse->ncells; ++c) {
    const PetscInt at = coarse->cell[c] - coarse->cstart;

    if (sum[0][at] != nv || sum[1][at] != (1 << nv) - 1)
      PetscCall(HopsRefuse(why,
                           "Coarse cell %" PetscInt_FMT " of a rank is not covered by its children: the fine mesh has the cell "
                           "itself, or all its %" PetscInt_FMT " children once; if it has a coarser cell there the coarse space is "
                           "no subspace, and a level between the two is to be made",
                           at, nv));
  }
  for (PetscInt k = 0; k < 2; ++k) {
    PetscCall(PetscFree(mine[k]));
    PetscCall(PetscFree(sum[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do the cells lie as the relations say? */
static PetscErrorCode CheckCells(HopsSpace fine, HopsSpace coarse, PetscInt n, const PetscInt relations[])
{
  MPI_Comm       comm                 = PetscObjectComm((PetscObject)fine);
  const PetscInt size                 = fine->dim << fine->dim;
  char           why[HOPS_WHY_LENGTH] = "";
  PetscReal     *ends, corner[24];
  PetscInt      *where;
  PetscSF        sf;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i)
    if (relations[i * HOPS_RELATION + 2] < -1)
      PetscCall(
        HopsRefuse(why,
                   "Relation %" PetscInt_FMT " says that fine cell %" PetscInt_FMT " is the parent of a coarse one: the coarse "
                   "mesh must be coarser everywhere, or the same; after a step that coarsens cells make the levels from the "
                   "new mesh",
                   i, relations[i * HOPS_RELATION]));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_INCOMP, why));
  PetscCall(BringCorners(coarse, n, relations, &sf, &ends));
  PetscCall(PetscMalloc1(fine->ncaller, &where));
  for (PetscInt c = 0; c < fine->ncaller; ++c) where[c] = -1;
  for (PetscInt c = 0; c < fine->ncells; ++c) where[fine->cell[c] - fine->cstart] = c;
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt *r = relations + i * HOPS_RELATION;

    if (where[r[0]] < 0) continue;
    PetscCall(HopsSpaceGetCorners(fine, where[r[0]], corner));
    if (!HopsRelationFits(fine->dim, r[2], HopsRelationChild(coarse, r[2]), corner, ends + i * size))
      PetscCall(HopsRefuse(why,
                           "Fine cell %" PetscInt_FMT " does not lie in coarse cell %" PetscInt_FMT " as child %" PetscInt_FMT
                           " says (-1 the same cell; bit d: the upper half in direction d): number children so, keep the "
                           "directions of cells, and give a level for each refinement",
                           r[0], r[1], r[2]));
  }
  PetscCall(CheckChildren(coarse, sf, n, relations, why));
  PetscCall(PetscFree(where));
  PetscCall(PetscFree(ends));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_INCOMP, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsSpaceSetCoarse - Tells the next coarser level of a space, for `PCHOPSMG`: a space on a mesh of which
  some cells were refined, and others kept.

  Collective

  Input Parameters:
+ fine      - the space, in H1
. coarse    - the space below it, in H1, of the same order or a lower one; `NULL` for none
. n         - number of relations of this rank's cells of the fine mesh
- relations - [n][3] fine cell, coarse cell, child; see the notes

  Level: intermediate

  Notes:
  A relation says how a cell of the fine mesh lies in one of the coarse mesh, as for `HopsSpaceTransfer()`:

.vb
  fine cell    number of the cell on this rank, in the caller's order. One of an overlap is left out
  coarse cell  number of the cell among those of all ranks: an index of a vector that HopsSpaceCreateCellVec()
               of the coarse space makes. It may be on another rank
  child        -1  the fine cell is the coarse one
               k   it is child k of the coarse one, k = 0 .. 2^dim - 1; bit d of k is set in the upper half of
                   direction d
.ve

  Children have the directions of their parent. So each cell of the coarse mesh is a cell of the fine one, or
  has all its children there, and the coarse functions are fine ones. Meshes may have hanging nodes or not,
  and may come from arrays or from a `DMPLEX`. The levels of a hierarchy are a chain: the coarse space may
  have one below it, too. For global coarsening make each mesh from the one above it: families whose cells are
  all there become their parents, as far as neighbours allow.

  The fine space keeps a reference to the coarse one. Tell it before a solver is set up. Essential unknowns of
  the coarse space are its own: list those on the same boundary.

  Corners are compared. Refused are cells that do not lie so, a coarse mesh that is finer somewhere, coarse
  cells with some of their children, higher orders below lower ones, and other families.

.seealso: `PCHOPSMG`, `HopsSpaceCreateCoarse()`, `HopsSpaceTransfer()`, `HopsSpaceCreateAdaptiveFromArrays()`
@*/
PetscErrorCode HopsSpaceSetCoarse(HopsSpace fine, HopsSpace coarse, PetscInt n, const PetscInt relations[])
{
  PetscFunctionBegin;
  HopsValidHeader(fine, HOPS_SPACE_CLASSID, 1);
  if (coarse) HopsValidHeader(coarse, HOPS_SPACE_CLASSID, 2);
  if (coarse) HopsValidArray(n, relations, 4);
  if (coarse) {
    PetscCall(CheckSpaces(fine, coarse));
    PetscCall(HopsSpaceBringMesh(fine));
    PetscCall(HopsSpaceBringMesh(coarse));
    PetscCall(HopsRelationsCheck(coarse, fine, n, relations));
    PetscCall(CheckCells(fine, coarse, n, relations));
    PetscCall(HopsSpaceReference(coarse));
  }
  fine = HopsSpaceMesh(fine);
  PetscCall(HopsSpaceDestroy(&fine->coarse));
  PetscCall(PetscFree2(fine->coarsecell, fine->coarsechild));
  if (!coarse) PetscFunctionReturn(PETSC_SUCCESS);
  fine->coarse = coarse;
  PetscCall(PetscMalloc2(fine->ncaller, &fine->coarsecell, fine->ncaller, &fine->coarsechild));
  for (PetscInt c = 0; c < fine->ncaller; ++c) fine->coarsecell[c] = fine->coarsechild[c] = -1;
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt *r = relations + i * HOPS_RELATION;

    fine->coarsecell[r[0]]  = r[1];
    fine->coarsechild[r[0]] = r[2] < 0 ? -1 : HopsRelationChild(coarse, r[2]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
