/* The arrays of a spectral-element code: a box of cells, cut into pieces along the numbers of its cells. */
#pragma once
#include "hopstest.h"

typedef struct {
  PetscInt  dim, p, cells[3], nc, N[3], ntot;
  PetscReal z[65];
  PetscBool straight;
} Box;

static inline PetscErrorCode BoxSetUp(Box *b)
{
  PetscFunctionBeginUser;
  b->nc = b->ntot = 1;
  for (PetscInt d = 0; d < b->dim; ++d) {
    b->N[d] = b->cells[d] * b->p + 1;
    b->nc *= b->cells[d];
    b->ntot *= b->N[d];
  }
  PetscCall(TestGLL(b->p + 1, b->z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* lexicographic node i of cell c, and its coordinates */
static inline PetscInt BoxNode(const Box *b, PetscInt c, PetscInt i, PetscReal x[])
{
  PetscInt g = 0, stride = 1;

  for (PetscInt d = 0; d < b->dim; ++d) {
    const PetscInt k = c % b->cells[d], j = i % (b->p + 1);

    x[d] = (k + 0.5 * (b->z[j] + 1.0)) / b->cells[d];
    g += (k * b->p + j) * stride;
    stride *= b->N[d];
    c /= b->cells[d];
    i /= b->p + 1;
  }
  if (!b->straight) TestCurve(b->dim, x);
  return g;
}

/* number[g]: global index; unknowns belong to the first rank with a cell that touches them, or are dealt out
   evenly */
static inline PetscErrorCode BoxNumber(const Box *b, PetscMPIInt size, PetscBool spread, PetscInt number[], PetscInt owned[])
{
  const PetscInt np = PetscPowInt(b->p + 1, b->dim);
  PetscInt      *owner, n = 0;
  PetscReal      x[3];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(b->ntot, &owner));
  for (PetscInt g = 0; g < b->ntot; ++g) owner[g] = spread ? (g * 7 / 5) % size : size;
  for (PetscInt c = 0; c < b->nc && !spread; ++c)
    for (PetscInt i = 0; i < np; ++i) {
      const PetscInt g = BoxNode(b, c, i, x);

      owner[g] = PetscMin(owner[g], c * size / b->nc);
    }
  for (PetscInt r = 0; r < size; ++r) {
    owned[r] = 0;
    for (PetscInt g = b->ntot - 1; g >= 0; --g) /* backwards: no numbering is taken for granted */
      if (owner[g] == r) {
        number[g] = n++;
        ++owned[r];
      }
  }
  PetscCall(PetscFree(owner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of this rank, with room for one cell more */
typedef struct {
  PetscInt   np, nc, owned, ness; /* nodes of a cell; cells, owned unknowns, essential unknowns that are listed */
  PetscInt  *nodes, *ess;         /* [nc][np], [ness] */
  PetscReal *coords;              /* [nc][np][dim] */
} BoxArrays;

static inline PetscErrorCode BoxArraysCreate(const Box *b, PetscBool spread, PetscBool essential, BoxArrays *a)
{
  const PetscInt np = PetscPowInt(b->p + 1, b->dim);
  PetscInt      *number, *owned;
  PetscMPIInt    rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  a->np = np;
  a->nc = a->ness = 0;
  PetscCall(PetscMalloc2(b->ntot, &number, size, &owned));
  PetscCall(PetscMalloc3((b->nc + 1) * np, &a->nodes, (b->nc + 1) * np * b->dim, &a->coords, b->ntot, &a->ess));
  PetscCall(BoxNumber(b, size, spread, number, owned));
  a->owned = owned[rank];
  for (PetscInt c = 0; c < b->nc; ++c) {
    if (c * size / b->nc != rank) continue;
    for (PetscInt i = 0; i < np; ++i) a->nodes[a->nc * np + i] = number[BoxNode(b, c, i, a->coords + (a->nc * np + i) * b->dim)];
    ++a->nc;
  }
  for (PetscInt g = 0; g < b->ntot && essential; ++g) { /* each is listed by one rank, which need not own or touch it */
    PetscInt k = g, wall = 0;

    for (PetscInt d = 0; d < b->dim; ++d) {
      wall |= k % b->N[d] == 0 || k % b->N[d] == b->N[d] - 1;
      k /= b->N[d];
    }
    if (wall && g % size == rank) a->ess[a->ness++] = number[g];
  }
  PetscCall(PetscFree2(number, owned));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode BoxArraysDestroy(BoxArrays *a)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree3(a->nodes, a->coords, a->ess));
  PetscFunctionReturn(PETSC_SUCCESS);
}
