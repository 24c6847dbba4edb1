/* Spaces whose cells have orders of their own. */
#pragma once
#include <hops/private/hopsnestedimpl.h>
#include <hops/private/hopshanging.h>
#include <hopshp.h>

/*
  An entity of a cell (a vertex, an edge, a face, the cell itself) has a digit for each direction: 0 and 1 for
  the lower and the upper end, 2 for what is between. Entity e has digit e / 3^d % 3 in direction d.
*/
#define HOPS_ENTITIES 27

static inline PetscInt HopsEntityDigit(PetscInt e, PetscInt d)
{
  return e / HopsPower(3, d) % 3;
}

struct _p_HopsHPSpace {
  PETSCHEADER(int);
  HopsSpace  mesh;  /* whose cells these are; its order is not below theirs */
  PetscInt  *order; /* [mesh->ncells] of the cells, in the mesh's order */
  PetscInt  *least; /* [mesh->nL] the least order of all cells that list an entry */
  PetscInt   nT, N, rstart;
  PetscInt  *number;          /* [mesh->nL] the unknown that an entry of the mesh stands for, or -1 */
  PetscInt   ness, *ess;      /* global numbers of essential ones that this rank owns */
  PetscInt   nparts;          /* orders that some rank's cells have, ascending */
  HopsSpace *part;            /* [nparts] on these cells */
  PetscInt  *ncells, **cells; /* of each: the caller's numbers of its cells in the mesh, ascending */
  Mat       *P;               /* [nparts] unknowns of the part from ours */
  Mat        toMesh;          /* unknowns of the mesh from ours */
};

/*
  The functions of a cell, as values at the lattice of an order q that is not below its own. `in` are values
  of the unknowns that it lists, entity by entity; u[nq] becomes what a space of order q on the cell lists,
  where nodes hang the parents' entries.
*/
typedef struct {
  HopsHPSpace hp;
  PetscInt    q, dim, nq;
  HopsHanging hang;    /* of order q */
  PetscBool  *on;      /* [nq] work */
  PetscReal **between; /* between[a * 65 + b]: values at b + 1 nodes from those at a + 1, once they are asked for */
  PetscInt    cell;    /* at hand, in the mesh's order */
  PetscInt    order[HOPS_ENTITIES], first[HOPS_ENTITIES + 1]; /* its entities, their unknowns in `col` */
  PetscBool   hangs[HOPS_ENTITIES];
  PetscInt   *entry, *col; /* the mesh's entries that the unknowns stand for, and their numbers */
  PetscReal  *own, *s, *t, *work;
} HopsHPCell;

/* How many directions an entity extends in, their strides in a lattice of p + 1 nodes a direction, and the
   entry where it begins */
PETSC_INTERN PetscInt       HopsEntityDirections(PetscInt dim, PetscInt e, PetscInt p, PetscInt stride[3], PetscInt *start);
PETSC_INTERN PetscErrorCode HopsHPCellCreate(HopsHPSpace, PetscInt q, HopsHPCell *);
PETSC_INTERN PetscErrorCode HopsHPCellDestroy(HopsHPCell *);
PETSC_INTERN PetscErrorCode HopsHPCellSet(HopsHPCell *, PetscInt c);
PETSC_INTERN PetscErrorCode HopsHPCellList(HopsHPCell *, const PetscReal in[], PetscReal u[]);
/* the error of a vector of another size; collective */
PETSC_INTERN PetscErrorCode HopsHPCheckVec(HopsHPSpace, Vec, const char name[]);
/* the matrix from our unknowns to those of a space of order q, which are number[mesh->nL] at entries of the
   mesh: of cells with place[c] >= 0. Collective */
PETSC_INTERN PetscErrorCode HopsHPCreateP(HopsHPSpace, HopsSpace to, const PetscInt place[], const PetscInt number[], Mat *P);
