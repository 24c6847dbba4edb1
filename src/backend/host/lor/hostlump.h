/* Low-order-refined matrices of H(curl), H(div), L2. Included once per instruction set, see
   hostkernels_*.c. */
#pragma once
#include <backend/host/operator/hostderham.h>

/* Values at the nodes of a batch: [node][nd], then [node][nm] */
static void LumpValues(const struct _HopsLumpKernel *k, const HopsHostRun *run, Lanes *b)
{
  const HopsHostGeometry *g   = &k->map;
  const int               dim = k->dim, P = k->P, Pg = g->Pg, n = 2 * dim * Pg * Pg, nn = dim == 3 ? P * P * P : P * P;
  vec                    *plane = (vec *)g->work + dim * Pg * (dim == 3 ? Pg * Pg : Pg), *J = plane + n, A[9];
  vec                    *dd = (vec *)k->G, *dm = dd + nn * k->nd;
  PetscInt                q = 0;

  for (int z = 0; z < (dim == 3 ? P : 1); z++) {
    GeometryPlane(dim, Pg, g, z, plane);
    for (int y = 0; y < P; y++) {
      GeometryRow(dim, Pg, g, y, plane, J);
      for (int x = 0; x < P; x++, q++, dd += k->nd, dm += k->nm) {
        const vec det = Adjugate(dim, J + x * dim * dim, A);

        b->bad |= ~(det > (vec){0});
        if (k->nd) FormFactor(dim, k->dfamily, run->kappa, b, q, 1, &det, J + x * dim * dim, A, dd);
        if (k->nm) FormFactor(dim, k->family, run->mass, b, q, 1, &det, J + x * dim * dim, A, dm);
      }
    }
  }
}

/* adds the pairs of directions that a tensor couples at some node: |G_ab| > tol sqrt(G_aa G_bb) */
static void LumpMask(int dim, int nn, int nc, const vec G[], double tol, unsigned char mask[W])
{
  static const int pair3[3][3] = {{1, 0, 3}, {2, 0, 5}, {4, 3, 5}};

  if (nc < 3) return;
  for (int p = 0; p < (dim == 3 ? 3 : 1); p++)
    for (int i = 0; i < nn; i++) {
      const vec o = G[i * nc + (dim == 3 ? pair3[p][0] : 1)], a = G[i * nc + (dim == 3 ? pair3[p][1] : 0)],
                c = G[i * nc + (dim == 3 ? pair3[p][2] : 2)];

      for (int l = 0; l < W; l++)
        if (!(o[l] * o[l] <= tol * tol * a[l] * c[l]) && o[l] != 0) mask[l] |= (unsigned char)(1 << p);
    }
}

static void LumpCouplings(struct _HopsLumpKernel *k, HopsHostRun *run, double tol, unsigned char mask[])
{
  const int nn = k->dim == 3 ? k->P * k->P * k->P : k->P * k->P;

  for (PetscInt c = 0; c < run->n; c += W) {
    Lanes         lanes;
    unsigned char m[W] = {0};

    LanesSet(&lanes, c, run->n);
    LoadCoordinates(&k->map, run->first, lanes.cell);
    LumpValues(k, run, &lanes);
    if (MaskAny(&lanes.bad)) {
      FindBad(&k->map, &lanes, run);
      return;
    }
    LumpMask(k->dim, nn, k->nd, (const vec *)k->G, tol, m);
    LumpMask(k->dim, nn, k->nm, (const vec *)k->G + nn * k->nd, tol, m);
    for (PetscInt l = 0; l < W && c + l < run->n; l++) mask[c + l] = m[l];
  }
}

static void LumpFill(struct _HopsLumpKernel *k, HopsHostRun *run, double vals[])
{
  vec       *loc = (vec *)k->loc;
  const vec *G   = (const vec *)k->G;

  for (PetscInt c = 0; c < run->n; c += W) {
    Lanes    lanes;
    unsigned done = 0;

    LanesSet(&lanes, c, run->n);
    LoadCoordinates(&k->map, run->first, lanes.cell);
    LumpValues(k, run, &lanes);
    if (MaskAny(&lanes.bad)) {
      FindBad(&k->map, &lanes, run);
      return;
    }
    for (int l = 0; l < W && c + l < run->n; l++) { /* the cells of a batch have the same mask but for few */
      const unsigned char    m = k->mask[run->first + c + l];
      const HopsLumpPattern *p = &k->pattern[m];

      if (done >> l & 1) continue;
      for (PetscInt e = 0; e < p->n; e++) loc[e] = (vec){0};
      for (PetscInt t = 0; t < p->nterms; t++) loc[p->term[t].entry] += p->term[t].a * G[p->term[t].value];
      for (int j = l; j < W && c + j < run->n; j++) {
        const PetscInt cell = run->first + c + j;
        const int     *pos  = k->pos + k->start[cell];

        if (k->mask[cell] != m) continue;
        done |= 1u << j;
        for (PetscInt e = 0; e < p->n; e++) {
          const double v = k->loc[e * W + j];

          if (pos[e] >= 0) vals[pos[e]] += v;
          else vals[-1 - pos[e]] -= v;
        }
      }
    }
  }
}
