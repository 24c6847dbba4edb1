/* Maps between two families, derivatives and means, on the unknowns that cells list. */
#pragma once
#include <hops/private/hopshanging.h>

/*
  A map given on a cell's lattice by `inc`, which it takes over. Row() of an entry of a cell that was set: the
  L-vector indices col[n] of the source, with values that have the signs of both, or, of a mean, that of the
  source alone
*/
typedef struct {
  HopsSpace     from, to;
  HopsIncidence inc;
  PetscBool     mean;
  PetscInt     *cell;        /* [ncells of `to`] the cells of `from` */
  PetscInt      c, n;        /* the cell at hand; entries of the row */
  const int    *rto, *rfrom; /* its unknowns */
  PetscInt     *col;
  PetscReal    *value;
  HopsHanging   hang[2]; /* of the source, of the target */
  unsigned      mask;    /* of the cell; then its entries on lines, and J of the source by rows */
  PetscBool    *on;
  int          *start, *jcol;
  PetscReal    *w, *sum;
} HopsLatticeMap;

PETSC_INTERN PetscErrorCode HopsLatticeMapCreate(HopsSpace from, HopsSpace to, HopsIncidence inc, PetscBool mean, HopsLatticeMap *);
PETSC_INTERN PetscErrorCode HopsLatticeMapSetCell(HopsLatticeMap *, PetscInt c);
PETSC_INTERN void           HopsLatticeMapOwnRow(HopsLatticeMap *, PetscInt i);
PETSC_INTERN PetscErrorCode HopsLatticeMapDestroy(HopsLatticeMap *);
/* src/space/derham/derivative.c: the matrix of such a map */
PETSC_INTERN PetscErrorCode HopsLatticeMatCreate(HopsSpace from, HopsSpace to, HopsIncidence inc, PetscBool mean, Mat *);

/* An entry that is a parent's is bounded by the parent's, which the cell lists, too */
static inline void HopsLatticeMapRow(HopsLatticeMap *m, PetscInt i)
{
  const PetscReal sign = m->mean ? 1.0 : HopsSign(m->rto[i]);

  if (m->mask && !m->on[i]) {
    HopsLatticeMapOwnRow(m, i);
    return;
  }
  m->n = m->inc.n[i];
  for (PetscInt k = 0; k < m->n; ++k) {
    const int s = m->rfrom[m->inc.col[6 * i + k]];

    m->col[k]   = HopsUnsigned(s);
    m->value[k] = m->inc.sgn[6 * i + k] * sign * HopsSign(s);
  }
}
