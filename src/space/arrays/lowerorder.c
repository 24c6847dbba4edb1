/* The space of a lower order on all or some of the cells of a space from arrays, whose caller numbered the
   nodes of the higher one alone. */
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

PetscInt HopsSpaceLowerNode(HopsSpace fine, PetscInt q, PetscInt c, PetscInt j)
{
  const PetscInt p = fine->order, dim = fine->dim;
  const int     *restr    = fine->restr + c * fine->ne;
  PetscInt       at[3][2] = {{0, 0}, {0, 0}, {0, 0}}, least = PETSC_INT_MAX, node = 0;

  for (PetscInt d = 0, k = j; d < dim; ++d, k /= q + 1) Places(p, q, k % (q + 1), at[d]);
  for (PetscInt v = 0; v < (1 << dim); ++v) {
    const PetscInt i = at[0][v & 1] + (p + 1) * (at[1][v >> 1 & 1] + (p + 1) * at[2][v >> 2]);
    const PetscInt g = HopsSpaceGlobalIndex(fine, restr[i]);

    if (g >= least) continue;
    least = g;
    node  = i;
  }
  return node;
}

PetscErrorCode HopsSpaceNumberMarked(HopsSpace fine, PetscInt number[], PetscInt *n)
{
  PetscInt first = 0;
  PetscSF  sf;

  PetscFunctionBegin;
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

/* The arrays of the lower space from place[] on. Maps and masks are the fine one's. Curved maps may be of a
   higher order than the space then */
PetscErrorCode HopsSpaceCreateLowerPart(HopsSpace fine, PetscInt order, PetscInt n, const PetscInt place[], PetscBool essential,
                                        PetscInt number[], HopsSpace *lower)
{
  const PetscInt  dim = fine->dim, nq = HopsPower(order + 1, dim), ng = HopsPower(fine->gorder + 1, dim);
  PetscInt       *unknowns, *ess, owned, ness = 0;
  PetscReal      *coords;
  unsigned short *masks = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(n * nq, &unknowns, essential ? n * nq : 0, &ess, n * ng * dim, &coords));
  if (fine->hanging) PetscCall(PetscMalloc1(n + 1, &masks)); /* not NULL without cells */
  for (PetscInt l = 0; l < fine->nL; ++l) number[l] = -1;
  for (PetscInt c = 0; c < fine->ncells; ++c) {
    const PetscInt at = place[c];

    if (at < 0) continue;
    if (masks) masks[at] = fine->hang[c];
    for (PetscInt i = 0; i < ng; ++i)
      for (PetscInt d = 0; d < dim; ++d) coords[(at * ng + i) * dim + d] = fine->X[(c * dim + d) * ng + i];
    for (PetscInt j = 0; j < nq; ++j) {
      const int l = fine->restr[c * fine->ne + HopsSpaceLowerNode(fine, order, c, j)];

      unknowns[at * nq + j] = l;
      number[l]             = 0;
    }
  }
  PetscCall(HopsSpaceNumberMarked(fine, number, &owned));
  for (PetscInt i = 0; i < n * nq; ++i) {
    const PetscInt l = unknowns[i];

    unknowns[i] = number[l];
    if (essential && l >= fine->nT + fine->nG) ess[ness++] = number[l];
  }
  PetscCall(PetscSortRemoveDupsInt(&ness, ess));
  PetscCall(HopsSpaceCreateArrays_Private(PetscObjectComm((PetscObject)fine), HOPS_H1, dim, order, n, owned, unknowns, fine->gorder,
                                          coords, masks, ness, ess, PETSC_FALSE, lower));
  PetscCall(HopsSpaceSetBackend(*lower, fine));
  PetscCall(PetscFree(masks));
  PetscCall(PetscFree3(unknowns, ess, coords));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsSpaceCreateLowerOrder(HopsSpace fine, PetscInt order, HopsSpace *lower)
{
  PetscInt *number;

  PetscFunctionBegin;
  PetscCall(HopsSpaceBringMesh(fine));
  PetscCall(PetscMalloc1(fine->nL, &number));
  PetscCall(HopsSpaceCreateLowerPart(fine, order, fine->ncells, fine->cell, PETSC_TRUE, number, lower));
  PetscCall(Turn(fine, *lower));
  PetscCall(PetscFree(number));
  PetscFunctionReturn(PETSC_SUCCESS);
}
