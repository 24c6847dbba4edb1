/* Low-order-refined matrices of H1 by vertex quadrature at the GLL nodes. Included once per instruction set,
   see hostlor_*.c. */
#pragma once
#include <backend/host/lor/hostlorimpl.h>
#include <backend/host/operator/hostgeom.h>

/* Direction pairs xy, xz, yz: directions, and the place of G_ab in the upper triangle by rows (2D has xy
   alone) */
static const int LORPair[3][2] = {{0, 1}, {0, 2}, {1, 2}};

static inline int LOREntries(int dim, unsigned char m)
{
  return 1 + 2 * dim + 4 * ((m & 1) + (m >> 1 & 1) + (m >> 2 & 1));
}

/* off[bit] = vectors before G_ab of the pair, diag[a] before G_aa, where only the pairs of `pairs` are there;
   returns those before what comes next */
INLINE size_t LOROffsets(int dim, int pairs, size_t nn, size_t diag[3], size_t off[3])
{
  size_t n = 0;

  for (int a = 0; a < dim; a++) {
    for (int b = a; b < dim; b++) {
      if (a == b) diag[a] = n;
      else if (pairs >> (a + b - 1) & 1) off[a + b - 1] = n;
      else continue;
      n += nn;
    }
  }
  return n;
}

/*
  Factors at the nodes of a batch, scaled for the stencil: S_aa = R G_aa m_b m_c / 2, q_ab = R G_ab m_c / 4
  and the mass R m_x m_y m_z detJ c behind them (m: lumped 1D mass; G = detJ J^-1 kappa J^-T). R = r_x r_y r_z
  puts the Gauss-Lobatto weight of the node in place of its share of the sub-cells' volumes
*/
INLINE void LORFactors(const int dim, const int Pg, const struct _HopsLORKernel *k, const HopsHostRun *run, Lanes *b)
{
  const HopsHostGeometry *g = &k->map;
  const int               P = k->P, n = 2 * dim * Pg * Pg, nd = dim * (dim + 1) / 2;
  const size_t            nn    = (size_t)(dim == 3 ? P : 1) * P * P;
  vec                    *plane = (vec *)g->work + dim * Pg * (dim == 3 ? Pg * Pg : Pg), *J = plane + n, G[6] = {{0}};
  vec                    *out = (vec *)k->G;
  const double           *m = k->m, *r = k->r;

  for (int z = 0; z < (dim == 3 ? P : 1); z++) {
    const double mz = dim == 3 ? m[z] : 1, rz = dim == 3 ? r[z] : 1;

    GeometryPlane(dim, Pg, g, z, plane);
    for (int y = 0; y < P; y++) {
      GeometryRow(dim, Pg, g, y, plane, J);
      for (int x = 0; x < P; x++, out++) {
        const PetscInt q   = out - (vec *)k->G;
        const double   R   = r[x] * r[y] * rz;
        const vec      det = GeometryFactor(dim, run->kappa, b, q, R, J + x * dim * dim, G);

        b->bad |= ~(det > (vec){0});
        if (run->mass->nc) out[nd * nn] = R * m[x] * m[y] * mz * det * LoadValues(run->mass, b->cell, q, 0);
        if (!run->kappa->nc) continue;
        out[0]  = G[0] * (0.5 * m[y] * mz);
        out[nn] = G[1] * (0.25 * mz);
        if (dim == 2) out[2 * nn] = G[2] * (0.5 * m[x]);
        else {
          out[2 * nn] = G[2] * (0.25 * m[y]);
          out[3 * nn] = G[3] * (0.5 * m[x] * mz);
          out[4 * nn] = G[4] * (0.25 * m[x]);
          out[5 * nn] = G[5] * (0.5 * m[x] * m[y]);
        }
      }
    }
  }
}

/*
  Edges of one direction, out(v) = -(S_a(v) + S_a(v+e_a)) / h_a, the matrix entry (v,v+e_a) but for the mixed
  terms; 0 at the last node, whose edge is outside. Nodes are [outer][P][inner].
*/
INLINE void LOREdges(int P, int outer, int inner, const double h[], const vec S[], vec out[])
{
  for (int o = 0; o < outer; o++) {
    for (int i = 0; i < P; i++, S += inner, out += inner) {
      if (i == P - 1) {
        for (int j = 0; j < inner; j++) out[j] = (vec){0};
      } else {
        const double s = -1 / h[i];

        for (int j = 0; j < inner; j++) out[j] = s * (S[j] + S[j + inner]);
      }
    }
  }
}

/* Where a batch's values go: pos[l] walks through the places of lane l's cell */
typedef struct {
  int           n;   /* lanes in use */
  int           any; /* union of the masks */
  unsigned char mask[W];
  int           ne[W];
  const int    *pos[W];
} LORTarget;

static void LORTargetSet(LORTarget *t, const struct _HopsLORKernel *k, PetscInt first)
{
  t->n   = (int)PetscMin(W, k->space->ncells - first);
  t->any = 0;
  for (int l = 0; l < t->n; l++) {
    const PetscInt c = first + l;

    t->mask[l] = k->mask[c] & 7;
    t->ne[l]   = LOREntries(k->dim, t->mask[l]);
    t->pos[l]  = k->place + k->start[c];
    t->any |= t->mask[l];
  }
}

/* Diagonal and edges of a node, ds[1 + dim]. Those outside the element (not `in`) are skipped: in the trash
   they would wait for each other */
INLINE void LORScatterEdges(const int dim, const int n, const struct _HopsLORKernel *k, LORTarget *t, const int in[],
                            const vec ds[], double vals[])
{
  for (int l = 0; l < n; l++) {
    const int *p = t->pos[l];

    *HopsHostLORTarget(k, vals, p[0]) += ds[0][l];
    UNROLL
    for (int a = 0; a < dim; a++) {
      if (!in[a]) continue;
      *HopsHostLORTarget(k, vals, p[1 + 2 * a]) += ds[1 + a][l];
      *HopsHostLORTarget(k, vals, p[2 + 2 * a]) += ds[1 + a][l];
    }
    t->pos[l] += t->ne[l];
  }
}

/* Entries of the coupled pairs of a node, r[bit] = anti-diagonal and main diagonal value; after the edges */
INLINE void LORScatterPairs(const int dim, const struct _HopsLORKernel *k, LORTarget *t, const int in[], const vec r[][2],
                            double vals[])
{
  for (int l = 0; l < t->n; l++) {
    const int *p = t->pos[l] - t->ne[l] + 1 + 2 * dim;

    for (int bit = 0; bit < (dim == 3 ? 3 : 1); bit++) {
      if (!(t->mask[l] >> bit & 1)) continue;
      if (in[LORPair[bit][0]] && in[LORPair[bit][1]]) {
        *HopsHostLORTarget(k, vals, p[0]) += r[bit][0][l];
        *HopsHostLORTarget(k, vals, p[1]) += r[bit][0][l];
        *HopsHostLORTarget(k, vals, p[2]) += r[bit][1][l];
        *HopsHostLORTarget(k, vals, p[3]) += r[bit][1][l];
      }
      p += 4;
    }
  }
}

/*
  Mixed terms of pair (a,b) at node v with q = G_ab m_c/4 and s_a = sum of the signs of v's sub-cells in the
  element (+1 at the first node of a line, -1 at the last, 0 inside):
    (v+e_a,v+e_b) = q(v) + q(v+e_a+e_b),  (v,v+e_a+e_b) = -q(v+e_a) - q(v+e_b),
    (v,v+e_a) += s_b (q(v+e_a) - q(v)),   (v,v) += 2 s_a s_b q(v).
  A lane whose mask lacks the pair adds nothing.
*/
INLINE void LORMixed(const struct _HopsLORKernel *k, const LORTarget *t, int bit, const int ijk[], const vec q[], vec *d, vec s[],
                     vec r[])
{
  const int P = k->P, a = LORPair[bit][0], b = LORPair[bit][1], st[3] = {1, P, P * P};
  const int sa = (ijk[a] == 0) - (ijk[a] == P - 1), sb = (ijk[b] == 0) - (ijk[b] == P - 1);
  const int ina = ijk[a] < P - 1, inb = ijk[b] < P - 1;
  vec       on, zero                  = {0};

  r[0] = r[1] = zero;
  if (ina && inb) {
    r[0] = q[0] + q[st[a] + st[b]];
    r[1] = -q[st[a]] - q[st[b]];
  }
  if (!sa && !sb) return;
  for (int l = 0; l < W; l++) on[l] = l < t->n ? t->mask[l] >> bit & 1 : 0;
  if (sb && ina) s[a] += sb * on * (q[st[a]] - q[0]);
  if (sa && inb) s[b] += sa * on * (q[st[b]] - q[0]);
  *d += (2. * sa * sb) * on * q[0];
}

/* Assemble the stencils of a batch, G of vertex data with `pairs`: diagonal = mass - (sum of the edges at v)
   + mixed terms; then scatter lane by lane */
INLINE void LORStencils(const int dim, const int mixed, const struct _HopsLORKernel *k, const struct _HopsLORVertexData *d,
                        const vec *G, int pairs, LORTarget *t, double vals[])
{
  const int    P = k->P, st[3] = {1, P, P * P}, nz = dim == 3 ? P : 1;
  const size_t nn      = (size_t)nz * P * P;
  size_t       diag[3] = {0, 0, 0}, off[3] = {0, 0, 0}, mass = d->nd ? LOROffsets(dim, pairs, nn, diag, off) : 0;

  for (int z = 0, v = 0; z < nz; z++) {
    for (int y = 0; y < P; y++) {
      for (int x = 0; x < P; x++, v++) {
        const int ijk[3] = {x, y, z};
        const int in[3]  = {x < P - 1, y < P - 1, z < P - 1};
        vec       ds[4] = {{0}}, r[3][2], *s = ds + 1;

        if (d->nm) ds[0] = G[mass + v];
        if (d->nd) {
          UNROLL
          for (int a = 0; a < dim; a++) {
            s[a] = G[diag[a] + v];
            ds[0] -= s[a];
            if (ijk[a]) ds[0] -= G[diag[a] + v - st[a]];
          }
        }
        if (mixed) {
          for (int bit = 0; bit < (dim == 3 ? 3 : 1); bit++)
            if (t->any >> bit & 1) LORMixed(k, t, bit, ijk, G + off[bit] + v, ds, s, r[bit]);
        }
        if (t->n == W) LORScatterEdges(dim, W, k, t, in, ds, vals);
        else LORScatterEdges(dim, t->n, k, t, in, ds, vals);
        if (mixed) LORScatterPairs(dim, k, t, in, (const vec(*)[2])r, vals);
      }
    }
  }
}

static void LORBatch(const struct _HopsLORKernel *k, const struct _HopsLORVertexData *d, PetscInt c, LORTarget *t, double vals[])
{
  const int  pairs = d->pairs[c / W];
  const vec *G     = (const vec *)(d->v + d->offset[c / W]);

  if (k->dim == 3) {
    if (t->any && d->nd) LORStencils(3, 1, k, d, G, pairs, t, vals);
    else LORStencils(3, 0, k, d, G, pairs, t, vals);
  } else if (t->any && d->nd) LORStencils(2, 1, k, d, G, pairs, t, vals);
  else LORStencils(2, 0, k, d, G, pairs, t, vals);
}

/* A batch with hanging nodes: its cells' entries are made side by side, then each cell is added */
static void LORHanging(const struct _HopsLORKernel *k, const struct _HopsLORVertexData *d, PetscInt c, LORTarget *t, double vals[])
{
  struct _HopsLORKernel apart = *k;

  apart.limit = INT_MAX;
  for (int l = 0; l < t->n; l++) t->pos[l] = k->identity + l * k->nstencil;
  memset(k->hung, 0, W * k->nstencil * sizeof(*k->hung));
  LORBatch(&apart, d, c, t, k->hung);
  for (int l = 0; l < t->n; l++) HopsHostLORHangAdd(k, c + l, k->hung + l * k->nstencil, vals);
}

static void LORValues(const struct _HopsLORKernel *k, const struct _HopsLORVertexData *d, PetscInt c0, PetscInt c1, double vals[])
{
  for (PetscInt c = c0; c < c1; c += W) {
    LORTarget t;

    LORTargetSet(&t, k, c);
    if (k->nhang > 1 && HopsHostLORHangs(k, c / W)) LORHanging(k, d, c, &t, vals);
    else LORBatch(k, d, c, &t, vals);
  }
}

/*
  Masks of a batch: a bit where |G_ab| > tol sqrt(G_aa G_bb) at some node, none where all are below droptol.
  The scalings of LORFactors() are undone by their product form: S_aa S_bb = G_aa G_bb m_a m_b (m_c / 2)^2 and
  q_ab = G_ab m_c / 4.
*/
INLINE void LORMasks(const int dim, const struct _HopsLORKernel *k, double tol, double droptol, unsigned char out[W])
{
  const int    P = k->P, nz = dim == 3 ? P : 1;
  const size_t nn = (size_t)nz * P * P;
  const vec   *G  = (const vec *)k->G;
  const double t2 = tol * tol, d2 = droptol > tol ? droptol * droptol : t2;
  size_t       diag[3], off[3];
  mask         on[3] = {{0}}, large = {0};

  (void)LOROffsets(dim, 7, nn, diag, off);
  for (int bit = 0; bit < (dim == 3 ? 3 : 1); bit++) {
    const int a = LORPair[bit][0], b = LORPair[bit][1];

    for (int z = 0, v = 0; z < nz; z++) {
      for (int y = 0; y < P; y++) {
        for (int x = 0; x < P; x++, v++) {
          const int ijk[3] = {x, y, z};
          const vec q = 2 * G[off[bit] + v], g = q * q * (k->m[ijk[a]] * k->m[ijk[b]]), s = G[diag[a] + v] * G[diag[b] + v];

          on[bit] |= g > t2 * s;
          large |= g > d2 * s;
        }
      }
    }
  }
  for (int l = 0; l < W; l++) out[l] = large[l] ? (unsigned char)((on[0][l] ? 1 : 0) | (on[1][l] ? 2 : 0) | (on[2][l] ? 4 : 0)) : 0;
}

/* The scratch of a batch to its vertex data: edges of the matrix, pairs that are kept, masses */
INLINE size_t LORStore(const int dim, const struct _HopsLORKernel *k, int nd, int nm, int pairs, vec out[])
{
  const int    P  = k->P;
  const size_t nn = (size_t)(dim == 3 ? P : 1) * P * P;
  const vec   *G  = (const vec *)k->G;
  size_t       from[3], fromoff[3], diag[3], off[3], n = 0;
  const size_t all = LOROffsets(dim, 7, nn, from, fromoff);

  if (nd) {
    n = LOROffsets(dim, pairs, nn, diag, off);
    for (int a = 0, inner = 1; a < dim; a++, inner *= P)
      LOREdges(P, (dim == 3 ? P * P : P) / inner, inner, k->h, G + from[a], out + diag[a]);
    for (int bit = 0; bit < (dim == 3 ? 3 : 1); bit++)
      if (pairs >> bit & 1) memcpy(out + off[bit], G + fromoff[bit], nn * sizeof(vec));
  }
  if (nm) {
    memcpy(out + n, G + all, nn * sizeof(vec));
    n += nn;
  }
  return n;
}

static void LORVertex(HopsLORKernel k, HopsHostRun *run, PetscBool mixed, double tol, double droptol, HopsLORVertexData d)
{
  const int nd = run->kappa->nc > 0, nm = run->mass->nc > 0;

  for (PetscInt c = 0; c < run->n; c += W) {
    const PetscInt first  = run->first + c;
    unsigned char  now[W] = {0};
    int            pairs  = 0;
    Lanes          b;

    LanesSet(&b, c, run->n);
    LoadCoordinates(&k->map, run->first, b.cell);
    if (k->dim == 3 && k->map.Pg == 2) LORFactors(3, 2, k, run, &b);
    else if (k->dim == 3) LORFactors(3, k->map.Pg, k, run, &b);
    else LORFactors(2, k->map.Pg, k, run, &b);
    if (MaskAny(&b.bad)) {
      FindBad(&k->map, &b, run);
      return;
    }
    if (nd && k->dim == 3) LORMasks(3, k, tol, droptol, now);
    else if (nd) LORMasks(2, k, tol, droptol, now);
    for (int l = 0; l < W && c + l < run->n; l++) {
      d->mask[first + l] = now[l];
      if (mixed) pairs |= now[l] | (k->mask[first + l] & 7);
    }
    d->pairs[first / W]  = (unsigned char)pairs;
    d->offset[first / W] = d->size;
    if (k->dim == 3) d->size += W * LORStore(3, k, nd, nm, pairs, (vec *)(d->v + d->size));
    else d->size += W * LORStore(2, k, nd, nm, pairs, (vec *)(d->v + d->size));
  }
}
