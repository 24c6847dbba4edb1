/* The space of a lower order on the cells of a space from arrays, whose caller numbered the nodes of the
   higher one alone. */
#include <hops/private/hopsderhamimpl.h>
#include <hops/private/hopsnestedimpl.h>

/*
  Nodes of the lower order take the numbers of nodes of the higher one, p + 1 > q + 1 a direction: ends those
  of ends, the others from both ends on. The middle one of an even q, where an odd p has none, takes the two
  beside it. So a node has up to 2^dim, and whatever way a cell sees an edge or a face, these are the same:
  the least number of them is the node's.

      q = 2    0-----------1-----------2
      p = 3    0------1---------2------3    {0}, {1, 2}, {3}
*/
static void Places(PetscInt p, PetscInt q, PetscInt j, PetscInt at[2])
{
  if (2 * j < q) at[0] = at[1] = j;
  else if (2 * j > q) at[0] = at[1] = p - (q - j);
  else {
    at[0] = p / 2;
    at[1] = p - p / 2;
  }
}

/* which[nq]: entries of cell c of the fine space that give its nodes at order q their numbers */
static void Nodes(HopsSpace fine, PetscInt q, PetscInt c, PetscInt which[])
{
  const PetscInt p = fine->order, dim = fine->dim, nq = HopsPower(q + 1, dim);
  const int     *restr = fine->restr + c * fine->ne;

  for (PetscInt j = 0; j < nq; ++j) {
    PetscInt at[3][2] = {{0, 0}, {0, 0}, {0, 0}}, least = PETSC_INT_MAX;

    for (PetscInt d = 0, k = j; d < dim; ++d, k /= q + 1) Places(p, q, k % (q + 1), at[d]);
    for (PetscInt v = 0; v < (1 << dim); ++v) {
      const PetscInt i = at[0][v & 1] + (p + 1) * (at[1][v >> 1 & 1] + (p + 1) * at[2][v >> 2]);
      const PetscInt g = HopsSpaceGlobalIndex(fine, restr[i]);

      if (g >= least) continue;
      least    = g;
      which[j] = i;
    }
  }
}

/* number[nL]: of entries of an L-vector of the fine space that are nodes of order q their number, else -1;
   n: of those that this rank owns */
static PetscErrorCode Number(HopsSpace fine, PetscInt q, PetscInt number[], PetscInt *n)
{
  const PetscInt nq = HopsPower(q + 1, fine->dim);
  PetscInt      *which, first = 0;
  PetscSF        sf;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nq, &which));
  for (PetscInt l = 0; l < fine->nL; ++l) number[l] = -1;
  for (PetscInt c = 0; c < fine->ncells; ++c) {
    Nodes(fine, q, c, which);
    for (PetscInt j = 0; j < nq; ++j) number[fine->restr[c * fine->ne + which[j]]] = 0;
  }
  PetscCall(HopsSpaceGetElementSF(fine, &sf));
  PetscCall(PetscSFReduceBegin(sf, MPIU_INT, number + fine->nT, number, MPI_MAX));
  PetscCall(PetscSFReduceEnd(sf, MPIU_INT, number + fine->nT, number, MPI_MAX));
  *n = 0;
  for (PetscInt l = 0; l < fine->nT; ++l) *n += number[l] == 0;
  PetscCallMPI(MPI_Scan(n, &first, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)fine)));
  first -= *n;
  for (PetscInt l = 0, k = 0; l < fine->nT; ++l)
    if (number[l] == 0) number[l] = first + k++;
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, number, number + fine->nT, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, number, number + fine->nT, MPI_REPLACE));
  PetscCall(PetscFree(which));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How a caller whose lattices are turned lists a cell at this order, x fastest */
static PetscErrorCode Turn(HopsSpace fine, HopsSpace lower)
{
  const PetscInt P = lower->order + 1;

  PetscFunctionBegin;
  lower->turned = fine->turned;
  if (!fine->turned) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(lower->ne, &lower->place));
  for (PetscInt i = 0; i < lower->ne; ++i) lower->place[i] = i / (P * P) * P * P + i % P * P + i / P % P;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells and their numbers, maps and masks are the same. Curved maps may be of a higher order than the space
   then */
PetscErrorCode HopsSpaceCreateLowerOrder(HopsSpace fine, PetscInt order, HopsSpace *lower)
{
  const PetscInt  dim = fine->dim, nq = HopsPower(order + 1, dim), ng = HopsPower(fine->gorder + 1, dim), nc = fine->ncells;
  PetscInt       *number, *unknowns, *ess, *which, n, ness = 0;
  PetscReal      *coords;
  unsigned short *masks = NULL;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(fine));
  PetscCall(PetscMalloc5(fine->nL, &number, nc * nq, &unknowns, nc * nq, &ess, nq, &which, nc * ng * dim, &coords));
  if (fine->hanging) PetscCall(PetscMalloc1(nc + 1, &masks)); /* not NULL without cells */
  PetscCall(Number(fine, order, number, &n));
  for (PetscInt c = 0; c < nc; ++c) {
    const PetscInt at = fine->cell[c]; /* as the caller numbers the cells */

    if (masks) masks[at] = fine->hang[c];
    for (PetscInt i = 0; i < ng; ++i)
      for (PetscInt d = 0; d < dim; ++d) coords[(at * ng + i) * dim + d] = fine->X[(c * dim + d) * ng + i];
    Nodes(fine, order, c, which);
    for (PetscInt j = 0; j < nq; ++j) {
      const int l = fine->restr[c * fine->ne + which[j]];

      unknowns[at * nq + j] = number[l];
      if (l >= fine->nT + fine->nG) ess[ness++] = number[l];
    }
  }
  PetscCall(PetscSortRemoveDupsInt(&ness, ess));
  PetscCall(HopsSpaceCreateArrays_Private(PetscObjectComm((PetscObject)fine), HOPS_H1, dim, order, nc, n, unknowns, fine->gorder,
                                          coords, masks, ness, ess, PETSC_FALSE, lower));
  PetscCall(HopsSpaceSetBackend(*lower, fine));
  PetscCall(Turn(fine, *lower));
  PetscCall(PetscFree(masks));
  PetscCall(PetscFree5(number, unknowns, ess, which, coords));
  PetscFunctionReturn(PETSC_SUCCESS);
}
