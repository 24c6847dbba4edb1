/* HopsHPSpace: life cycle, orders of entities, numbers of unknowns, parts of one order. */
#include <hops/private/hopshpimpl.h>

/* ------------------------------------------- numbering ------------------------------------------- */

/* least[]: an entity has the least order of the cells that list it, parents' with them */
static PetscErrorCode Least(HopsHPSpace hp)
{
  HopsSpace mesh = hp->mesh;
  PetscSF   sf;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(mesh->nL, &hp->least));
  for (PetscInt l = 0; l < mesh->nL; ++l) hp->least[l] = PETSC_INT_MAX;
  for (PetscInt c = 0; c < mesh->ncells; ++c)
    for (PetscInt i = 0; i < mesh->ne; ++i) {
      PetscInt *least = hp->least + mesh->restr[c * mesh->ne + i];

      *least = PetscMin(*least, hp->order[c]);
    }
  PetscCall(HopsSpaceGetElementSF(mesh, &sf));
  PetscCall(PetscSFReduceBegin(sf, MPIU_INT, hp->least + mesh->nT, hp->least, MPI_MIN));
  PetscCall(PetscSFReduceEnd(sf, MPIU_INT, hp->least + mesh->nT, hp->least, MPI_MIN));
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, hp->least, hp->least + mesh->nT, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, hp->least, hp->least + mesh->nT, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of the mesh that the nodes of all entities, at their own orders, stand for */
static PetscErrorCode Number(HopsHPSpace hp)
{
  HopsSpace  mesh = hp->mesh;
  PetscInt  *number;
  HopsHPCell k;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(mesh->nL, &number));
  for (PetscInt l = 0; l < mesh->nL; ++l) number[l] = -1;
  PetscCall(HopsHPCellCreate(hp, 1, &k));
  for (PetscInt c = 0; c < mesh->ncells; ++c) {
    PetscCall(HopsHPCellSet(&k, c));
    for (PetscInt i = 0; i < k.first[HopsPower(3, mesh->dim)]; ++i) number[k.entry[i]] = 0;
  }
  PetscCall(HopsHPCellDestroy(&k));
  hp->number = number;
  PetscCall(HopsSpaceNumberMarked(mesh, hp->number, &hp->nT));
  PetscCall(MPIU_Allreduce(&hp->nT, &hp->N, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)hp)));
  PetscCallMPI(MPI_Scan(&hp->nT, &hp->rstart, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)hp)));
  hp->rstart -= hp->nT;
  PetscCall(PetscMalloc1(mesh->ness, &hp->ess));
  for (PetscInt i = 0; i < mesh->ness; ++i)
    if (hp->number[mesh->essT[i]] >= 0) hp->ess[hp->ness++] = hp->number[mesh->essT[i]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --------------------------------------------- parts --------------------------------------------- */

/* place[]: of the mesh's cells of an order, in the caller's order, else -1 */
static PetscErrorCode Place(HopsHPSpace hp, PetscInt order, PetscInt place[], PetscInt *n, PetscInt *cells[])
{
  HopsSpace mesh = hp->mesh;
  PetscInt *at;

  PetscFunctionBegin;
  *n = 0;
  PetscCall(PetscMalloc1(mesh->ncells, &at));
  for (PetscInt c = 0; c < mesh->ncells; ++c) at[mesh->cell[c]] = c;
  for (PetscInt c = 0; c < mesh->ncells; ++c) *n += hp->order[c] == order;
  PetscCall(PetscMalloc1(*n, cells));
  *n = 0;
  for (PetscInt i = 0; i < mesh->ncells; ++i) {
    const PetscInt c = at[i];

    place[c] = hp->order[c] == order ? *n : -1;
    if (place[c] >= 0) (*cells)[(*n)++] = i;
  }
  PetscCall(PetscFree(at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Parts(HopsHPSpace hp)
{
  HopsSpace mesh = hp->mesh;
  PetscInt *place, *number;
  int       has[65] = {0};

  PetscFunctionBegin;
  for (PetscInt c = 0; c < mesh->ncells; ++c) has[hp->order[c]] = 1;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, has, 65, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)hp)));
  for (PetscInt q = 1; q < 65; ++q) hp->nparts += has[q];
  PetscCall(PetscCalloc4(hp->nparts, &hp->part, hp->nparts, &hp->ncells, hp->nparts, &hp->cells, hp->nparts, &hp->P));
  PetscCall(PetscMalloc2(mesh->ncells, &place, mesh->nL, &number));
  for (PetscInt q = 1, k = 0; q < 65; ++q) {
    if (!has[q]) continue;
    PetscCall(Place(hp, q, place, &hp->ncells[k], &hp->cells[k]));
    PetscCall(HopsSpaceCreateLowerPart(mesh, q, hp->ncells[k], place, PETSC_FALSE, number, &hp->part[k]));
    PetscCall(HopsHPCreateP(hp, hp->part[k], place, number, &hp->P[k]));
    ++k;
  }
  PetscCall(PetscFree2(place, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------- life cycle ------------------------------------------- */

static PetscErrorCode CheckOrders(HopsSpace mesh, const PetscInt orders[])
{
  MPI_Comm comm                 = PetscObjectComm((PetscObject)mesh);
  char     why[HOPS_WHY_LENGTH] = "";

  PetscFunctionBegin;
  PetscCheck(mesh->family == HOPS_H1, comm, PETSC_ERR_SUP, "Orders of cells are for H1, and this space is in %s",
             HopsFamilies[mesh->family]);
  PetscCheck(!mesh->dm, comm, PETSC_ERR_SUP,
             "Orders of cells are for spaces from arrays, and this one is of a DM: give its cells as arrays "
             "(HopsSpaceCreateAdaptiveFromArrays())");
  PetscCheck(!mesh->turned, comm, PETSC_ERR_SUP,
             "Orders of cells are for right-handed lattices: exchange the first two directions of the cells' arrays");
  if (mesh->ncells && !orders)
    PetscCall(HopsRefuse(why, "A rank has %" PetscInt_FMT " cells, and the array of their orders is NULL", mesh->ncells));
  for (PetscInt c = 0; orders && c < mesh->ncells; ++c)
    if (orders[c] < 1 || orders[c] > mesh->order)
      PetscCall(HopsRefuse(why,
                           "The order of cell %" PetscInt_FMT " is %" PetscInt_FMT " and that of the mesh's space %" PetscInt_FMT
                           ": a cell has at least 1 and at most that of the space, whose nodes give unknowns their numbers",
                           c, orders[c], mesh->order));
  PetscCall(HopsRaise(comm, PETSC_ERR_ARG_OUTOFRANGE, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is an entity of a cell essential at all nodes inside, of the mesh's order, and with what bounds it, or
   nowhere inside? */
static PetscBool EntityAgrees(HopsSpace mesh, PetscInt c, PetscInt e)
{
  const PetscInt p = mesh->order, first = mesh->nT + mesh->nG;
  PetscInt       in[2] = {0, 0}, around = 0;

  for (PetscInt i = 0; i < mesh->ne; ++i) {
    PetscBool inside = PETSC_TRUE, on = PETSC_TRUE;

    for (PetscInt d = 0, j = i; d < mesh->dim; ++d, j /= p + 1) {
      const PetscInt digit = HopsEntityDigit(e, d), at = j % (p + 1);

      if (digit < 2 && at != digit * p) on = PETSC_FALSE;
      if (digit == 2 && (at == 0 || at == p)) inside = PETSC_FALSE;
    }
    if (!on) continue;
    if (inside) ++in[mesh->restr[c * mesh->ne + i] >= first];
    else around += mesh->restr[c * mesh->ne + i] < first;
  }
  return !in[1] || (!in[0] && !around) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode CheckEssential(HopsSpace mesh)
{
  char why[HOPS_WHY_LENGTH] = "";

  PetscFunctionBegin;
  for (PetscInt c = mesh->ninterior; c < mesh->ncells; ++c) /* the others have no essential entries */
    for (PetscInt e = 0; e < HopsPower(3, mesh->dim); ++e)
      if (!EntityAgrees(mesh, c, e))
        PetscCall(HopsRefuse(why,
                             "Cell %" PetscInt_FMT " has an edge or a face inside of which some nodes are essential, and others, "
                             "or those around it, are not: with orders of cells whole edges and faces are essential",
                             mesh->cell[c]));
  PetscCall(HopsRaise(PetscObjectComm((PetscObject)mesh), PETSC_ERR_SUP, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsHPSpaceCreate - Creates a space whose cells have orders of their own, on the cells of a space of one
  order.

  Collective

  Input Parameters:
+ mesh   - an H1 space from arrays, with or without hanging nodes, of the highest order that a cell has, or a
  higher one
- orders - [cells of this rank, in the caller's order] the order of each cell, from 1 to that of `mesh`

  Output Parameter:
. hp - the space

  Level: intermediate

  Notes:
  Its functions are those of `mesh` that are polynomials of the cell's order in each cell. So they are
  continuous, and an edge or a face has the least order of all cells on it, those with hanging nodes there
  among them (minimum rule). `HopsHPSpaceGetProlongation()` has them as functions of `mesh`.

  Unknowns are values at the Gauss-Lobatto-Legendre nodes that an edge, a face or a cell has at its order,
  those of vertices among them. Each rank owns those that stand for entries of `mesh` that it owns, in their
  order. Essential ones are on edges and faces whose nodes are essential in `mesh`.

  Cells of one order are a part, with a `HopsSpace` and kernels of its own; a matrix goes from the unknowns to
  those of the part. It is the identity but at cells that have neighbours of lower order. Operators and the
  low-order-refined matrix are sums over the parts (`HopsHPSpaceCreateMat()`).

  `mesh` is kept, and must not change.

  References:
+ * - L. Demkowicz, Computing with hp-adaptive finite elements, volume 1, 2006: the minimum rule
- * - W. Pazner, T. Kolev and J.-S. Camier, End-to-end GPU acceleration of low-order-refined preconditioning
  for high-order finite element discretizations, International Journal of High Performance Computing
  Applications, 2023, section 2.4: low-order-refined matrices of constrained spaces

.seealso: `HopsHPSpace`, `HopsHPSpaceCreateMat()`, `HopsHPSpaceProlong()`,
`HopsSpaceCreateAdaptiveFromArrays()`
@*/
PetscErrorCode HopsHPSpaceCreate(HopsSpace mesh, const PetscInt orders[], HopsHPSpace *hp)
{
  HopsHPSpace h;

  PetscFunctionBegin;
  HopsValidHeader(mesh, HOPS_SPACE_CLASSID, 1);
  HopsValidPointer(hp, 3);
  PetscCall(CheckOrders(mesh, orders));
  PetscCall(HopsSpaceBringMesh(mesh));
  PetscCall(CheckEssential(mesh));
  PetscCall(PetscHeaderCreate(h, HOPS_HPSPACE_CLASSID, "HopsHPSpace", "Space whose cells have orders of their own", "HopsHPSpace",
                              PetscObjectComm((PetscObject)mesh), HopsHPSpaceDestroy, HopsHPSpaceView));
  PetscCall(PetscLogEventBegin(HopsEvent.space, h, 0, 0, 0));
  h->mesh = mesh;
  PetscCall(HopsSpaceReference(mesh));
  PetscCall(PetscMalloc1(mesh->ncells, &h->order));
  for (PetscInt c = 0; c < mesh->ncells; ++c) h->order[c] = orders[mesh->cell[c]];
  PetscCall(Least(h));
  PetscCall(Number(h));
  PetscCall(Parts(h));
  PetscCall(
    PetscInfo(h, "%" PetscInt_FMT " unknowns on cells of %" PetscInt_FMT " orders: operators go through a sparse matrix for each\n",
              h->N, h->nparts));
  PetscCall(PetscLogEventEnd(HopsEvent.space, h, 0, 0, 0));
  *hp = h;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsHPSpaceReference - Adds a reference to a `HopsHPSpace`.

  Logically Collective

  Input Parameter:
. hp - the space

  Level: intermediate

.seealso: `HopsHPSpace`, `HopsHPSpaceDestroy()`
@*/
PetscErrorCode HopsHPSpaceReference(HopsHPSpace hp)
{
  PetscFunctionBegin;
  HopsValidHeader(hp, HOPS_HPSPACE_CLASSID, 1);
  PetscCall(PetscObjectReference((PetscObject)hp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsHPSpaceDestroy - Destroys a `HopsHPSpace` when its last reference is dropped.

  Collective

  Input Parameter:
. hp - the space, set to `NULL`

  Level: intermediate

.seealso: `HopsHPSpace`, `HopsHPSpaceCreate()`
@*/
PetscErrorCode HopsHPSpaceDestroy(HopsHPSpace *hp)
{
  HopsHPSpace h;

  PetscFunctionBegin;
  HopsValidPointer(hp, 1);
  h = *hp;
  if (!h) PetscFunctionReturn(PETSC_SUCCESS);
  HopsValidHeader(h, HOPS_HPSPACE_CLASSID, 1);
  *hp = NULL;
  if (--((PetscObject)h)->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < h->nparts; ++k) {
    PetscCall(HopsSpaceDestroy(&h->part[k]));
    PetscCall(MatDestroy(&h->P[k]));
    PetscCall(PetscFree(h->cells[k]));
  }
  PetscCall(PetscFree4(h->part, h->ncells, h->cells, h->P));
  PetscCall(MatDestroy(&h->toMesh));
  PetscCall(PetscFree(h->order));
  PetscCall(PetscFree(h->least));
  PetscCall(PetscFree(h->number));
  PetscCall(PetscFree(h->ess));
  PetscCall(HopsSpaceDestroy(&h->mesh));
  PetscCall(PetscHeaderDestroy(&h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  HopsHPSpaceView - Prints a `HopsHPSpace`: orders and how many cells have them, unknowns.

  Collective

  Input Parameters:
+ hp     - the space
- viewer - an ASCII viewer, or `NULL` for standard output

  Level: intermediate

.seealso: `HopsHPSpace`
@*/
PetscErrorCode HopsHPSpaceView(HopsHPSpace hp, PetscViewer viewer)
{
  MPI_Comm  comm;
  PetscBool ascii;

  PetscFunctionBegin;
  HopsValidHeader(hp, HOPS_HPSPACE_CLASSID, 1);
  comm = PetscObjectComm((PetscObject)hp);
  if (!viewer) PetscCall(PetscViewerASCIIGetStdout(comm, &viewer));
  HopsValidHeader(viewer, PETSC_VIEWER_CLASSID, 2);
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "H1 space in %" PetscInt_FMT "D whose cells have orders of their own: unknowns %" PetscInt_FMT
                                   ", on the cells of\n",
                                   hp->mesh->dim, hp->N));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(HopsSpaceView(hp->mesh, viewer));
  for (PetscInt k = 0; k < hp->nparts; ++k) {
    PetscInt n;

    PetscCall(MPIU_Allreduce(&hp->ncells[k], &n, 1, MPIU_INT, MPI_SUM, comm));
    PetscCall(PetscViewerASCIIPrintf(viewer, "cells of order %" PetscInt_FMT ": %" PetscInt_FMT "\n", hp->part[k]->order, n));
  }
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
