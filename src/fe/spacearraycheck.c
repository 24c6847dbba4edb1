/* Do the cells of a space from arrays agree on what their common unknowns are? */
#include <hops/private/hopsderham.h>

#define HOPS_ARRAYS_TOL 1e-5 /* of the size of a line, face or cell: coordinates may come from a file with few digits */

/*
  What a cell says of one of its entries, free of where the cell lies: the vector of the line or face, with the cell's sign; its middle, from
  the middle of the cell's edge or face that it is part of; in how many directions the cell ends there.
*/
typedef struct {
  PetscReal v[7], size, cellsize;
} HopsArraysEntity;

/* mean of the lattice points from `at` on in the directions `span`, by as much as `step` */
static void HopsLatticeMean(PetscInt dim, PetscInt P, const PetscReal x[], const PetscInt at[], const PetscInt step[], PetscReal mean[])
{
  for (PetscInt d = 0; d < dim; ++d) mean[d] = 0.0;
  for (PetscInt k = 0; k < (1 << dim); ++k) {
    PetscInt q = 0;

    for (PetscInt d = dim - 1; d >= 0; --d) q = q * P + at[d] + ((k >> d) & 1) * step[d];
    for (PetscInt d = 0; d < dim; ++d) mean[d] += x[q * dim + d] / (1 << dim);
  }
}

static void HopsLatticePoint(PetscInt dim, PetscInt P, const PetscReal x[], const PetscInt at[], PetscInt a, PetscInt b, PetscReal p[])
{
  PetscInt q = 0;

  for (PetscInt d = dim - 1; d >= 0; --d) q = q * P + at[d] + (d == a || d == b);
  for (PetscInt d = 0; d < dim; ++d) p[d] = x[q * dim + d];
}

/* x[P^dim][dim]: the lattice of the cell; entry i of component c */
static void HopsArraysDescribe(HopsFamily family, PetscInt dim, PetscInt P, const HopsLayout *l, PetscInt c, PetscInt i, PetscReal sign, const PetscReal x[], HopsArraysEntity *e)
{
  const PetscInt at[3]   = {i % l->n[c][0], i / l->n[c][0] % l->n[c][1], i / (l->n[c][0] * l->n[c][1])};
  PetscInt       step[3] = {0, 0, 0}, from[3] = {0, 0, 0}, whole[3] = {0, 0, 0}, zero[3] = {0, 0, 0}, all[3] = {P - 1, P - 1, P - 1}, fixed = 0;
  PetscReal      mean[3], centre[3], p[4][3], s = 0.0;

  for (PetscInt d = 0; d < dim; ++d) {
    const PetscBool end = !l->open[c][d] && (at[d] == 0 || at[d] == P - 1) ? PETSC_TRUE : PETSC_FALSE;

    step[d]  = l->open[c][d] ? 1 : 0;
    from[d]  = end ? at[d] : 0;
    whole[d] = end ? 0 : P - 1;
    fixed += end;
  }
  HopsLatticeMean(dim, P, x, at, step, mean);
  HopsLatticeMean(dim, P, x, from, whole, centre);
  for (PetscInt k = 0; k < 7; ++k) e->v[k] = 0.0;
  for (PetscInt d = 0; d < dim; ++d) e->v[3 + d] = mean[d] - centre[d];
  e->v[6] = fixed;
  if (family == HOPS_HCURL || (family == HOPS_HDIV && dim == 2)) {
    const PetscInt a = family == HOPS_HCURL ? c : 1 - c;
    PetscReal      t[3];

    HopsLatticePoint(dim, P, x, at, -1, -1, p[0]);
    HopsLatticePoint(dim, P, x, at, a, -1, p[1]);
    for (PetscInt d = 0; d < dim; ++d) t[d] = p[1][d] - p[0][d];
    if (family == HOPS_HCURL)
      for (PetscInt d = 0; d < dim; ++d) e->v[d] = sign * t[d];
    else { /* along the reference coordinate that crosses the edge */
      e->v[0] = sign * (c ? -t[1] : t[1]);
      e->v[1] = sign * (c ? t[0] : -t[0]);
    }
  } else if (family == HOPS_HDIV) { /* half the product of the diagonals */
    const PetscInt a = (c + 1) % 3, b = (c + 2) % 3;

    HopsLatticePoint(dim, P, x, at, -1, -1, p[0]);
    HopsLatticePoint(dim, P, x, at, a, -1, p[1]);
    HopsLatticePoint(dim, P, x, at, a, b, p[2]);
    HopsLatticePoint(dim, P, x, at, -1, b, p[3]);
    for (PetscInt d = 0; d < 3; ++d) {
      const PetscInt j = (d + 1) % 3, k = (d + 2) % 3;

      e->v[d] = sign * 0.5 * ((p[2][j] - p[0][j]) * (p[3][k] - p[1][k]) - (p[2][k] - p[0][k]) * (p[3][j] - p[1][j]));
    }
  }
  e->size = PetscSqrtReal(PetscSqr(e->v[0]) + PetscSqr(e->v[1]) + PetscSqr(e->v[2]));
  HopsLatticeMean(dim, P, x, zero, all, centre);
  for (PetscInt d = 0; d < dim; ++d) s = PetscMax(s, PetscAbsReal(x[d] - centre[d]));
  e->cellsize = s;
}

/* 0: w is what e says; 1: the same, but the other way round; 2: something else */
static PetscInt HopsArraysCompare(const HopsArraysEntity *e, const PetscReal w[7], PetscBool absolute)
{
  PetscBool same = PETSC_TRUE, turned = PETSC_TRUE;

  if (e->v[6] != w[6]) return 2;
  for (PetscInt k = 3; k < 6; ++k)
    if (!(PetscAbsReal(e->v[k] - w[k]) <= HOPS_ARRAYS_TOL * e->cellsize)) return 2;
  for (PetscInt k = 0; k < 3; ++k) {
    if (!(PetscAbsReal(e->v[k] - w[k]) <= HOPS_ARRAYS_TOL * e->size)) same = PETSC_FALSE;
    if (!(PetscAbsReal((absolute ? PetscAbsReal(e->v[k]) : -e->v[k]) - w[k]) <= HOPS_ARRAYS_TOL * e->size)) turned = PETSC_FALSE;
  }
  return same ? 0 : (turned ? 1 : 2);
}

static PetscErrorCode HopsArraysRefuse(HopsSpace sp, PetscInt how, PetscInt cell, PetscInt other, PetscInt g)
{
  char        with[64] = "a cell of another rank";
  const char *what     = sp->family == HOPS_HCURL ? "line" : (sp->family == HOPS_HDIV && sp->dim == 3 ? "face" : (sp->family == HOPS_HDIV ? "edge" : "node or box"));

  PetscFunctionBegin;
  if (other >= 0) PetscCall(PetscSNPrintf(with, sizeof(with), "cell %" PetscInt_FMT " of this rank", other));
  PetscCheck(how != 1, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP, "Cell %" PetscInt_FMT " and %s give unknown %" PetscInt_FMT " to the same %s with opposite directions: in one of them its entry must be %" PetscInt_FMT ", for the opposite sign", cell, with, g, what, -1 - g);
  PetscCheck(!how, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP, "Cell %" PetscInt_FMT " and %s give unknown %" PetscInt_FMT " to a different %s each, or to one at different places of their common edge or face: the numbers of what two cells share must follow the lattice of both (see HopsSpaceCreateFamilyFromArrays())", cell, with, g, what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cells are still in the caller's order; `keys` has a root for each unknown and a leaf for each of gidx[nkeys]; elist as in HopsSpaceSetUpNumbering() */
PetscErrorCode HopsArraysCheckOrientation(HopsSpace sp, PetscInt nkeys, const PetscInt gidx[], const PetscInt elist[], PetscSF keys)
{
  const PetscInt    dim = sp->dim, P = sp->order + 1;
  HopsLayout        l;
  HopsBasis         gll, geom;
  HopsArraysEntity *seen;
  PetscInt         *cell, *count, *sum;
  PetscReal        *x, *leaf, *root, *most;

  PetscFunctionBegin;
  HopsLayoutCreate(sp->family, dim, sp->order, &l);
  PetscCall(HopsBasisCreate(P, P, PETSC_TRUE, &gll));
  PetscCall(HopsSpaceCreateGeometryBasis(sp, &gll, &geom));
  PetscCall(PetscMalloc4(nkeys, &seen, nkeys, &cell, PetscPowInt(P, dim) * dim, &x, nkeys * 7, &most));
  PetscCall(PetscCalloc4(nkeys, &count, sp->nT, &sum, nkeys, &leaf, sp->nT, &root));
  for (PetscInt c = 0; c < sp->ncells; ++c) {
    PetscCall(HopsSpaceGetPoints(sp, &geom, c, 1, x, NULL));
    for (PetscInt m = 0; m < l.nc; ++m)
      for (PetscInt i = 0; i < l.off[m + 1] - l.off[m]; ++i) {
        const PetscInt   e = elist[c * l.ne + l.off[m] + i], k = e < 0 ? -1 - e : e;
        HopsArraysEntity now;

        HopsArraysDescribe(sp->family, dim, P, &l, m, i, e < 0 ? -1.0 : 1.0, x, &now);
        if (!count[k]++) {
          seen[k] = now;
          cell[k] = c;
        } else PetscCall(HopsArraysRefuse(sp, HopsArraysCompare(&now, seen[k].v, PETSC_FALSE), c, cell[k], gidx[k]));
      }
  }
  /* other ranks: each is told the largest of each number, which all must have given */
  for (PetscInt d = 0; d < 7; ++d) {
    for (PetscInt i = 0; i < sp->nT; ++i) root[i] = PETSC_MIN_REAL;
    for (PetscInt k = 0; k < nkeys; ++k) leaf[k] = seen[k].v[d];
    PetscCall(PetscSFReduceBegin(keys, MPIU_REAL, leaf, root, MPIU_MAX));
    PetscCall(PetscSFReduceEnd(keys, MPIU_REAL, leaf, root, MPIU_MAX));
    PetscCall(PetscSFBcastBegin(keys, MPIU_REAL, root, leaf, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(keys, MPIU_REAL, root, leaf, MPI_REPLACE));
    for (PetscInt k = 0; k < nkeys; ++k) most[k * 7 + d] = leaf[k];
  }
  for (PetscInt k = 0; k < nkeys; ++k) PetscCall(HopsArraysRefuse(sp, HopsArraysCompare(&seen[k], most + k * 7, PETSC_TRUE), cell[k], -1, gidx[k]));
  /* an unknown inside a cell is that cell's, one inside a facet that of two at most */
  PetscCall(PetscSFReduceBegin(keys, MPIU_INT, count, sum, MPI_SUM));
  PetscCall(PetscSFReduceEnd(keys, MPIU_INT, count, sum, MPI_SUM));
  PetscCall(PetscSFBcastBegin(keys, MPIU_INT, sum, count, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(keys, MPIU_INT, sum, count, MPI_REPLACE));
  for (PetscInt k = 0; k < nkeys; ++k) PetscCheck(seen[k].v[6] > 1.0 || count[k] <= 1 + (PetscInt)seen[k].v[6], PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP, "Unknown %" PetscInt_FMT " lies %s of cell %" PetscInt_FMT ", but is given %" PetscInt_FMT " times", gidx[k], seen[k].v[6] > 0.0 ? "inside a facet" : "inside", cell[k], count[k]);
  PetscCall(PetscFree4(seen, cell, x, most));
  PetscCall(PetscFree4(count, sum, leaf, root));
  PetscCall(HopsBasisDestroy(&gll));
  PetscCall(HopsBasisDestroy(&geom));
  PetscFunctionReturn(PETSC_SUCCESS);
}
