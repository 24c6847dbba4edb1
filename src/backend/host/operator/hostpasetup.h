/* Quadrature data of H1 operators. Included once per instruction set, see hostkernels_*.c. */
#pragma once
#include "hostgeom.h"
#include <hops/private/hopsmapkind.h>

/* Values of a point in lanes l[0] <= l < l[1]. Those of all lanes are computed where they belong: a copy
   takes longer */
INLINE void StoreLanes(int nc, const int l[2], const vec v[], vec d[])
{
  for (int c = 0; c < nc; c++)
    for (int i = l[0]; i < l[1]; i++) ((double *)d)[c * W + i] = v[c][i];
}

/* Are the cells of all lanes parallelograms or parallelepipeds, to within the rounding of their
   coordinates? */
static PetscBool Affine(const HopsHostGeometry *g, PetscInt first, const PetscInt cell[])
{
  const int n = g->dim == 3 ? 8 : 4;

  for (int l = 0; l < W; l++)
    for (int i = 0; i < g->dim; i++)
      if (HopsCellMapKind(g->dim, 2, NULL, g->X + ((size_t)(first + cell[l]) * g->dim + i) * n)) return PETSC_FALSE;
  return PETSC_TRUE;
}

/* Quadrature data of a batch of such cells and a scalar coefficient: one tensor, times weights */
INLINE void SetUpAffine(const int dim, const int mass, const struct _HopsPAKernel *k, const HopsHostRun *run, Lanes *b,
                        const int l[2], vec d[])
{
  const PetscReal  one  = 1;
  const HopsValues unit = {.nc = run->kappa->nc, .v = &one};
  const int        Q = k->Q, nd = run->kappa->nc ? dim * (dim + 1) / 2 : 0;
  const PetscBool  full  = l[1] - l[0] == W ? PETSC_TRUE : PETSC_FALSE;
  vec             *plane = (vec *)k->map.work + dim * (dim == 3 ? 8 : 4), *J = plane + 8 * dim, G[6] = {{0}}, v[7], det;
  const double    *w = k->weights;
  PetscInt         q = 0;

  GeometryPlane(dim, 2, &k->map, 0, plane);
  GeometryRow(dim, 2, &k->map, 0, plane, J);
  det = GeometryFactor(dim, &unit, b, 0, 1., J, G);
  b->bad |= ~(det > (vec){0});
  for (int z = 0; z < (dim == 3 ? Q : 1); z++) {
    for (int y = 0; y < Q; y++) {
      for (int x = 0; x < Q; x++, q++, d += nd + mass) {
        const double wq = (dim == 3 ? w[z] : 1) * w[y] * w[x];
        vec         *to = full ? d : v;

        if (nd) {
          const vec s = wq * LoadValues(run->kappa, b->cell, q, 0);

          UNROLL
          for (int c = 0; c < dim * (dim + 1) / 2; c++) to[c] = s * G[c];
        }
        if (mass) to[nd] = wq * det * LoadValues(run->mass, b->cell, q, 0);
        if (!full) StoreLanes(nd + mass, l, v, d);
      }
    }
  }
}

/* Quadrature data of a batch: w detJ J^-1 kappa J^-T, w detJ c; lanes l0 <= l < l1 are stored */
INLINE void SetUpBatch(const int dim, const int Pg, const struct _HopsPAKernel *k, const HopsHostRun *run, Lanes *b, const int l[2],
                       vec d[])
{
  const HopsHostGeometry *g = &k->map;
  const int               Q = k->Q, nc = k->ncomp, n = 2 * dim * Pg * Pg;
  const PetscBool         full  = l[1] - l[0] == W ? PETSC_TRUE : PETSC_FALSE;
  vec                    *plane = (vec *)g->work + dim * Pg * (dim == 3 ? Pg * Pg : Pg), *J = plane + n, v[7];
  const double           *w = k->weights;
  PetscInt                q = 0;

  for (int z = 0; z < (dim == 3 ? Q : 1); z++) {
    GeometryPlane(dim, Pg, g, z, plane);
    for (int y = 0; y < Q; y++) {
      GeometryRow(dim, Pg, g, y, plane, J);
      for (int x = 0; x < Q; x++, q++, d += nc) {
        vec         *to  = full ? d : v;
        const double wq  = (dim == 3 ? w[z] : 1) * w[y] * w[x];
        const vec    det = GeometryFactor(dim, run->kappa, b, q, wq, J + x * dim * dim, to);

        b->bad |= ~(det > (vec){0});
        if (k->mass) to[nc - 1] = wq * det * LoadValues(run->mass, b->cell, q, 0);
        if (!full) StoreLanes(nc, l, v, d);
      }
    }
  }
}

static void PASetUp(HopsPAKernel k, HopsHostRun *run)
{
  const PetscInt c0 = run->first < k->ninterior ? 0 : k->ninterior, b0 = run->first < k->ninterior ? 0 : k->nbi;
  const size_t   nq = (size_t)(k->dim == 3 ? k->Q : 1) * k->Q * k->Q * k->ncomp * W;
  const PetscInt f = run->first - c0, end = f + run->n;

  for (PetscInt b = f / W; b * W < end; b++) {
    const int l[2] = {(int)PetscMax(0, f - b * W), (int)PetscMin(W, end - b * W)};
    vec      *d    = (vec *)(k->qdata + (size_t)(b0 + b) * nq);
    Lanes     lanes;

    LanesSet(&lanes, b * W - f, run->n);
    LoadCoordinates(&k->map, run->first, lanes.cell);
    if (k->map.Pg == 2 && run->kappa->nc <= 1 && Affine(&k->map, run->first, lanes.cell)) {
      if (k->dim == 3 && k->mass) SetUpAffine(3, 1, k, run, &lanes, l, d);
      else if (k->dim == 3) SetUpAffine(3, 0, k, run, &lanes, l, d);
      else SetUpAffine(2, k->mass, k, run, &lanes, l, d);
    } else if (k->dim == 3 && k->map.Pg == 2) SetUpBatch(3, 2, k, run, &lanes, l, d);
    else if (k->dim == 3) SetUpBatch(3, k->map.Pg, k, run, &lanes, l, d);
    else SetUpBatch(2, k->map.Pg, k, run, &lanes, l, d);
    if (MaskAny(&lanes.bad)) {
      FindBad(&k->map, &lanes, run);
      return;
    }
  }
}
