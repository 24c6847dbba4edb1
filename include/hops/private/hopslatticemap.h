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
/* such a matrix becomes one of this type; MATHYPRE in a device's memory has explicit zeros in own columns
   extra[nextra] */
PETSC_INTERN PetscErrorCode HopsLatticeMatBring(HopsSpace from, HopsSpace to, PetscInt nextra, const int extra[], MatType, Mat *);

/* An entry that is a parent's is bounded by the parent's, which the cell lists, too */
static inline void HopsLatticeMapRow(HopsLatticeMap *m, PetscInt i)
{
  const PetscInt   n = m->inc.n[i], *from = m->inc.col + 6 * i;
  const PetscReal  sign = m->mean ? 1.0 : HopsSign(m->rto[i]), *sgn = m->inc.sgn + 6 * i;
  const int       *restr = m->rfrom;
  PetscInt *const  col   = m->col;
  PetscReal *const value = m->value;

  if (m->mask && !m->on[i]) {
    HopsLatticeMapOwnRow(m, i);
    return;
  }
  m->n = n;
  for (PetscInt k = 0; k < n; ++k) {
    const int s = restr[from[k]];

    col[k]   = HopsUnsigned(s);
    value[k] = sgn[k] * sign * HopsSign(s);
  }
}
