/* Low-order-refined matrices of H(curl), H(div), L2. Included once per instruction set, see
   hostlor_*.c. */
#pragma once
#include <backend/host/lor/hostlorimpl.h>
#include <backend/host/operator/hostgeom.h>

/* Values at the nodes of a batch: [node][nd], then [node][nm] */
static void LORFormNodes(const struct _HopsLORKernel *k, const HopsHostRun *run, const struct _HopsLORVertexData *d, Lanes *b,
                         vec out[])
{
  const HopsHostGeometry *g   = &k->map;
  const int               dim = k->dim, P = k->P, Pg = g->Pg, n = 2 * dim * Pg * Pg;
  vec                    *plane = (vec *)g->work + dim * Pg * (dim == 3 ? Pg * Pg : Pg), *J = plane + n, A[9];
  vec                    *dd = out, *dm = dd + (size_t)k->nn * d->nd;
  PetscInt                q = 0;

  for (int z = 0; z < (dim == 3 ? P : 1); z++) {
    GeometryPlane(dim, Pg, g, z, plane);
    for (int y = 0; y < P; y++) {
      GeometryRow(dim, Pg, g, y, plane, J);
      for (int x = 0; x < P; x++, q++, dd += d->nd, dm += d->nm) {
        const vec det = Adjugate(dim, J + x * dim * dim, A);

        b->bad |= ~(det > (vec){0});
        if (d->nd) FormFactor(dim, k->dfamily, run->kappa, b, q, 1, &det, J + x * dim * dim, A, dd);
        if (d->nm) FormFactor(dim, k->family, run->mass, b, q, 1, &det, J + x * dim * dim, A, dm);
      }
    }
  }
}

/* adds the pairs of directions that a tensor couples at some node: |G_ab| > tol sqrt(G_aa G_bb) */
static void LORFormMask(int dim, int nn, int nc, const vec G[], double tol, unsigned char out[W])
{
  static const int pair3[3][3] = {{1, 0, 3}, {2, 0, 5}, {4, 3, 5}};

  if (nc < 3) return;
  for (int p = 0; p < (dim == 3 ? 3 : 1); p++) {
    mask on = {0};

    for (int i = 0; i < nn; i++) {
      const vec o = G[i * nc + (dim == 3 ? pair3[p][0] : 1)], a = G[i * nc + (dim == 3 ? pair3[p][1] : 0)],
                c = G[i * nc + (dim == 3 ? pair3[p][2] : 2)];

      on |= ~(o * o <= tol * tol * a * c) & (o != (vec){0});
    }
    for (int l = 0; l < W; l++)
      if (on[l]) out[l] |= (unsigned char)(1 << p);
  }
}

/* All values are kept, and no pair is dropped: the entries that they make up are not those of pairs alone */
static void LORFormVertex(HopsLORKernel k, HopsHostRun *run, PetscBool mixed, double tol, double droptol, HopsLORVertexData d)
{
  const size_t nd = (size_t)k->nn * d->nd, nm = (size_t)k->nn * d->nm;

  for (PetscInt c = 0; c < run->n; c += W) {
    vec          *G    = (vec *)(d->v + d->size);
    unsigned char m[W] = {0};
    Lanes         lanes;

    LanesSet(&lanes, c, run->n);
    LoadCoordinates(&k->map, run->first, lanes.cell);
    LORFormNodes(k, run, d, &lanes, G);
    if (MaskAny(&lanes.bad)) {
      FindBad(&k->map, &lanes, run);
      return;
    }
    LORFormMask(k->dim, k->nn, d->nd, G, tol, m);
    LORFormMask(k->dim, k->nn, d->nm, G + nd, tol, m);
    for (PetscInt l = 0; l < W && c + l < run->n; l++) d->mask[run->first + c + l] = m[l];
    d->offset[(run->first + c) / W] = d->size;
    d->size += W * (nd + nm);
  }
}

static void LORFormValues(const struct _HopsLORKernel *k, const struct _HopsLORVertexData *d, PetscInt c0, PetscInt c1,
                          double vals[])
{
  const PetscInt ncells = k->space->ncells;
  vec           *loc    = (vec *)k->G;

  for (PetscInt c = c0; c < c1; c += W) {
    const vec *G    = (const vec *)(d->v + d->offset[c / W]);
    unsigned   done = 0;

    for (int l = 0; l < W && c + l < ncells; l++) { /* the cells of a batch have the same mask but for few */
      const unsigned short   m = k->mask[c + l];
      const HopsHostLORCell *p = &k->cell[m % 8]; /* without hanging nodes */

      if (done >> l & 1) continue;
      for (int e = 0; e < p->n; e++) loc[e] = (vec){0};
      for (int t = 0; t < p->nterms; t++) loc[p->term[t].entry] += p->term[t].a * G[p->term[t].value];
      for (int j = l; j < W && c + j < ncells; j++) {
        const int *place = k->place + k->start[c + j];

        if (k->mask[c + j] != m) continue;
        done |= 1u << j;
        if (m >= 8) {
          for (int e = 0; e < p->n; e++) k->hung[e] = k->G[(size_t)e * W + j];
          HopsHostLORHangAdd(k, c + j, k->hung, vals);
          continue;
        }
        for (int e = 0; e < p->n; e++) {
          const double v = k->G[(size_t)e * W + j];

          if (place[e] >= 0) *HopsHostLORTarget(k, vals, place[e]) += v;
          else *HopsHostLORTarget(k, vals, -1 - place[e]) -= v;
        }
      }
    }
  }
}
