/* A box of cells as a code with arrays of its own has it: numbers of unknowns and coordinates, and no DM */
#pragma once
#include <hops.h>

/* n[] cells of equal size in a direction of the unit box, of which this rank has layers first to last - 1 in
   the last one; an entity of a lattice is a point or an interval in each direction */
typedef struct {
  PetscInt dim, n[3], order, first, last;
  PetscInt components;
  int      interval[3][3]; /* [component][direction] */
} Box;

/* Entities of component c in direction d */
static inline PetscInt BoxLength(const Box *box, PetscInt c, PetscInt d)
{
  return box->n[d] * box->order + (box->interval[c][d] ? 0 : 1);
}

/* Entities of component c in a layer of the last direction */
static inline PetscInt BoxLayer(const Box *box, PetscInt c)
{
  return BoxLength(box, c, 0) * (box->dim == 3 ? BoxLength(box, c, 1) : 1);
}

/* Unknowns of layers before point k of the last direction: an interval and the point behind it are a layer */
static inline PetscInt BoxOffset(const Box *box, PetscInt k)
{
  PetscInt points = 0, intervals = 0;

  for (PetscInt c = 0; c < box->components; ++c) {
    if (box->interval[c][box->dim - 1]) intervals += BoxLayer(box, c);
    else points += BoxLayer(box, c);
  }
  return k ? points * k + intervals * (k - 1) : 0;
}

/* The number of entity i[] of component c */
static inline PetscInt BoxNumber(const Box *box, PetscInt c, const PetscInt i[])
{
  const PetscInt z = box->dim - 1, k = i[z] + box->interval[c][z];
  PetscInt       number = BoxOffset(box, k);

  for (PetscInt o = 0; o < c; ++o)
    if (k || !box->interval[o][z]) number += BoxLayer(box, o);
  return number + i[0] + (box->dim == 3 ? i[1] * BoxLength(box, c, 0) : 0);
}

static inline PetscBool BoxOnBoundary(const Box *box, PetscInt c, const PetscInt i[])
{
  for (PetscInt d = 0; d < box->dim; ++d)
    if (!box->interval[c][d] && (i[d] == 0 || i[d] == box->n[d] * box->order)) return PETSC_TRUE;
  return PETSC_FALSE;
}

/* Unknowns of cell[], as HopsSpaceCreateFamilyFromArrays() wants them; those on the boundary to ess[] */
static inline PetscInt BoxCell(const Box *box, const PetscInt cell[], PetscInt number[], PetscInt *ness, PetscInt ess[])
{
  PetscInt n = 0;

  for (PetscInt c = 0; c < box->components; ++c) {
    PetscInt local[3] = {1, 1, 1}, i[3];

    for (PetscInt d = 0; d < box->dim; ++d) local[d] = box->order + (box->interval[c][d] ? 0 : 1);
    for (PetscInt z = 0; z < local[2]; ++z)
      for (PetscInt y = 0; y < local[1]; ++y)
        for (PetscInt x = 0; x < local[0]; ++x) {
          i[0]      = cell[0] * box->order + x;
          i[1]      = cell[1] * box->order + y;
          i[2]      = cell[2] * box->order + z;
          number[n] = BoxNumber(box, c, i);
          if (ess && BoxOnBoundary(box, c, i)) ess[(*ness)++] = number[n];
          ++n;
        }
  }
  return n;
}

/* The space of a family; essential: on the whole boundary */
static inline PetscErrorCode BoxSpace(const Box *box, HopsFamily family, PetscBool essential, HopsSpace *space)
{
  Box            b = *box;
  const PetscInt z = b.dim - 1, ncells = b.n[0] * (b.dim == 3 ? b.n[1] : 1) * (b.last - b.first), ncorners = b.dim == 3 ? 8 : 4;
  PetscInt       ne = 0, ness = 0, n = 0, c[3] = {0, 0, 0}, *numbers, *ess, most = 3;
  PetscReal     *coords;

  PetscFunctionBeginUser;
  b.components = family == HOPS_HCURL || family == HOPS_HDIV ? b.dim : 1;
  for (PetscInt d = 0; d < b.dim; ++d) most *= b.order + 1;
  for (PetscInt k = 0; k < b.components; ++k)
    for (PetscInt d = 0; d < b.dim; ++d)
      b.interval[k][d] = family == HOPS_L2 || (family == HOPS_HCURL && d == k) || (family == HOPS_HDIV && d != k);
  PetscCall(PetscMalloc3(ncells * most, &numbers, ncells * most, &ess, ncells * ncorners * b.dim, &coords));
  if (b.last > b.first) n = BoxOffset(&b, b.last * b.order + 1) - (b.first ? BoxOffset(&b, b.first * b.order + 1) : 0);
  for (PetscInt e = 0; e < ncells; ++e) {
    c[0] = e % b.n[0];
    c[1] = b.dim == 3 ? e / b.n[0] % b.n[1] : 0;
    c[z] = b.first + e / (b.n[0] * (b.dim == 3 ? b.n[1] : 1));
    ne += BoxCell(&b, c, numbers + ne, &ness, essential ? ess : NULL);
    for (PetscInt k = 0; k < ncorners; ++k)
      for (PetscInt d = 0; d < b.dim; ++d) coords[(e * ncorners + k) * b.dim + d] = (PetscReal)(c[d] + (k >> d & 1)) / b.n[d];
  }
  PetscCall(
    HopsSpaceCreateFamilyFromArrays(PETSC_COMM_WORLD, family, b.dim, b.order, ncells, n, numbers, 1, coords, ness, ess, space));
  PetscCall(PetscFree3(numbers, ess, coords));
  PetscFunctionReturn(0);
}

/* -box <nx,ny,...>: the space on such a box, with the companions that a solver and the result's derivative
   need; without the option *space is NULL */
static inline PetscErrorCode CreateBoxSpace(HopsFamily family, PetscInt order, PetscBool essential, HopsSpace *space)
{
  Box         box = {.dim = 3, .order = order};
  HopsSpace   companion;
  PetscBool   set;
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  *space = NULL;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-box", box.n, &box.dim, &set));
  if (!set) PetscFunctionReturn(0);
  PetscCheck(box.dim >= 2, PETSC_COMM_WORLD, PETSC_ERR_USER, "-box wants cells in 2 or 3 directions, as in -box 4,4,4");
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  box.first = box.n[box.dim - 1] * rank / size;
  box.last  = box.n[box.dim - 1] * (rank + 1) / size;
  PetscCall(BoxSpace(&box, family, essential, space));
  for (int f = HOPS_H1; f <= HOPS_L2 && family != HOPS_H1; ++f) {
    if (f == (int)family || (box.dim == 2 && f == HOPS_HDIV)) continue;
    PetscCall(BoxSpace(&box, (HopsFamily)f, PETSC_FALSE, &companion));
    PetscCall(HopsSpaceSetCompanion(*space, companion));
    PetscCall(HopsSpaceDestroy(&companion));
  }
  PetscFunctionReturn(0);
}
