/* Hanging nodes of a batch of cells: E = J u, J^T E, and the diagonal. Included once per instruction set and
   precision. */
#pragma once
#include <backend/host/runtime/hostvec.h>
#include <hops/private/hopshanging.h>

/* v = A u, A[P][P], four rows at a time */
INLINE void HangProduct(const int P, const real A[], const vec u[], vec v[])
{
  int m = 0;

  for (; m + 4 <= P; m += 4) {
    const real *a = A + m * P, *b = a + P, *c = b + P, *d = c + P;
    vec         s = a[0] * u[0], t = b[0] * u[0], w = c[0] * u[0], x = d[0] * u[0];

    for (int n = 1; n < P; n++) {
      s += a[n] * u[n];
      t += b[n] * u[n];
      w += c[n] * u[n];
      x += d[n] * u[n];
    }
    v[m]     = s;
    v[m + 1] = t;
    v[m + 2] = w;
    v[m + 3] = x;
  }
  for (; m < P; m++) {
    vec s = A[m * P] * u[0];

    for (int n = 1; n < P; n++) s += A[m * P + n] * u[n];
    v[m] = s;
  }
}

/* n lines of m entries along direction a, in the lanes where on[] is 1 and not 0; on is NULL where these are
   all */
INLINE void HangDirection(const int m, const real A[], int n, const int start[], const HopsHangingBox *box, unsigned hanging, int a,
                          const vec *on, vec e[])
{
  int step;
  vec u[HOPS_HOST_MAXLINE], v[HOPS_HOST_MAXLINE];

  for (int l = 0; l < n; l++) {
    vec *x = e + HopsHangingLine(box, hanging, a, start[l], &step);

    LoadLine(m, x, step, u);
    HangProduct(m, A, u, v);
    if (on)
      for (int i = 0; i < m; i++) v[i] = *on * v[i] + (1 - *on) * u[i];
    StoreLine(m, v, step, x);
  }
}

/* All lines of a mask in a component */
INLINE void HangLines(const int P, const HopsHostHang *h, const HopsHangingBox *box, unsigned hanging, int transpose, const vec *on,
                      vec e[])
{
  int start[2 * HOPS_HOST_MAXLINE];

  for (int i = 0; i < h->dim; i++) {
    const int a = transpose ? h->dim - 1 - i : i, n = HopsHangingLines(h->dim, box, hanging, a, start), p = P - 1;

    if (box->open >> a & 1) HangDirection(p, h->J[1] + (transpose ? p * p : 0), n, start, box, hanging, a, on, e);
    else HangDirection(P, h->J[0] + (transpose ? P * P : 0), n, start, box, hanging, a, on, e);
  }
}

/* In H1 there is one component, closed in all directions */
INLINE void HangComponents(const int P, const HopsHostHang *h, unsigned hanging, int transpose, const vec *on, vec e[])
{
  const HopsHangingBox nodes = {{P, P, P}, 0};

  if (h->nc == 1) HangLines(P, h, &nodes, hanging, transpose, on, e);
  else
    for (int c = 0; c < h->nc; c++) HangLines(P, h, h->box + c, hanging, transpose, on, e + h->off[c]);
}

/* With the orders that tests and users have most, lines stay in registers */
static void HangMask(const HopsHostHang *h, unsigned hanging, int transpose, const vec *on, vec e[])
{
#define HANG_LINES(order) \
  case order: \
    HangComponents(order, h, hanging, transpose, on, e); \
    break;
  switch (h->P) {
    HANG_LINES(2)
    HANG_LINES(3)
    HANG_LINES(4)
    HANG_LINES(5)
    HANG_LINES(6)
    HANG_LINES(7)
    HANG_LINES(8)
    HANG_LINES(9)
  default:
    HangComponents(h->P, h, hanging, transpose, on, e);
  }
#undef HANG_LINES
}

/* e = J e, or J^T e. The lanes of most batches have one mask */
static void Hang(const HopsHostHang *h, PetscInt b, int transpose, vec e[])
{
  const unsigned short *mask = h->mask + b * W;
  unsigned int          done = 0;

  if (h->some[b] == 1) {
    HangMask(h, mask[0], transpose, NULL, e);
    return;
  }
  for (int l = 0; l < W; l++) {
    vec on   = {0};
    int many = 0;

    if (done >> l & 1) continue;
    for (int i = l; i < W; i++) {
      if (mask[i] != mask[l]) continue;
      done |= 1u << i;
      on[i] = 1;
      many++;
    }
    if (mask[l]) HangMask(h, mask[l], transpose, many == W ? NULL : &on, e);
  }
}

#if !defined(HOPS_HOST_SINGLE)
/* Entries that are on a line of some lane */
static int HangList(const HopsHostHang *h, PetscInt b, int list[])
{
  const unsigned short *mask = h->mask + b * W;
  int                   n    = 0, start[2 * HOPS_HOST_MAXLINE], step;

  for (int i = 0; i < h->ne; i++) list[i] = 0;
  for (int l = 0; l < W; l++)
    for (int k = 0; k < h->dim * h->nc && (!l || mask[l] != mask[l - 1]); k++) {
      const int             a = k % h->dim, c = k / h->dim;
      const HopsHangingBox *x = h->box + c;

      for (int j = HopsHangingLines(h->dim, x, mask[l], a, start); j--;) {
        const int at = h->off[c] + HopsHangingLine(x, mask[l], a, start[j], &step);

        for (int m = 0; m < x->n[a]; m++) list[at + m * step] = 1;
      }
    }
  for (int i = 0; i < h->ne; i++)
    if (list[i]) list[n++] = i; /* n <= i */
  return n;
}

/*
  out += the diagonal of the form, of functions that are tensor products: in direction x that of node end[x],
  or of all P nodes where free[x], after J of the cell's half. a and b are scratch
*/
static void HangTensor(const struct _HopsPAKernel *k, unsigned hanging, const int free[3], const int end[3], const vec d[], vec a[],
                       vec b[], vec out[])
{
  const int dim = k->dim, P = k->P, Q = k->Q, nc = k->ncomp, nd = k->diffusion ? dim * (dim + 1) / 2 : 0,
            nq = HopsHostPower(Q, dim);

  for (int t = 0, r = 0, c = 0; t < nc; t++) {
    int kind[3] = {0, 0, 0}, inner = 1, outer = nq;

    for (int q = 0; q < nq; q++) a[q] = d[q * nc + t] * (t < nd && r != c ? 2. : 1.);
    if (t < nd) {
      kind[r] = kind[c] = r == c ? 2 : 1;
      if (++c == dim) c = ++r;
    }
    for (int x = 0; x < dim; x++) {
      const int     n    = free[x] ? P : 1;
      const double *A    = k->square + ((3 * (free[x] ? (int)(hanging >> x & 1) : 2) + kind[x]) * P + (free[x] ? 0 : end[x])) * Q;
      vec          *swap = a;

      outer /= Q;
      for (int o = 0; o < outer; o++)
        for (int m = 0; m < n; m++)
          for (int i = 0; i < inner; i++) {
            vec s = {0};

            for (int q = 0; q < Q; q++) s += A[m * Q + q] * a[(o * Q + q) * inner + i];
            b[(o * n + m) * inner + i] = s;
          }
      inner *= n;
      a = b;
      b = swap;
    }
    for (int i = 0; i < inner; i++) out[i] += a[i];
  }
}

/* along[node]: the directions, as bits, in which what J makes of a node's function is more than one node's,
   if that is a tensor product: the node is on one hanging facet, or edge, alone; else 0 */
static void HangAlong(const struct _HopsPAKernel *k, unsigned hanging, int along[])
{
  const int P = k->P, nn = HopsHostPower(P, k->dim);
  int       start[2 * HOPS_HOST_MAXLINE], step;

  for (int n = 0; n < nn; n++) along[n] = 0;
  for (int a = 0; a < k->dim; a++)
    for (int j = HopsHangingLines(k->dim, k->hang.box, hanging, a, start); j--;) {
      const int x = HopsHangingLine(k->hang.box, hanging, a, start[j], &step);

      for (int m = 0; m < P; m++) along[x + m * step] |= 1 << a;
    }
  for (int n = 0; n < nn; n++) {
    unsigned facets = 0;

    for (int d = 0, i = n; d < k->dim; d++, i /= P)
      if (HopsHangingFacets(k->dim, hanging) >> d & 1 && i % P == (hanging >> d & 1 ? P - 1 : 0)) facets |= 1u << d;
    if (facets ? facets & (facets - 1) || (unsigned)along[n] & facets : along[n] & (along[n] - 1)) along[n] = 0;
  }
}

/* The entries of all such nodes, in d[node]; done[node] = 1. All lanes have one mask */
static void HangTensors(const struct _HopsPAKernel *k, unsigned hanging, const vec qdata[], vec d[], const int along[], int done[])
{
  const int dim = k->dim, P = k->P, nn = HopsHostPower(P, dim), st[3] = {1, P, P * P};
  vec      *out = (vec *)k->e;

  for (int n = 0; n < nn; n++) {
    int free[3] = {0, 0, 0}, end[3] = {0, 0, 0}, base = 0, size = 1, index[3] = {1, 1, 1};

    if (done[n] || !along[n]) continue;
    for (int x = 0; x < dim; x++) {
      free[x]  = along[n] >> x & 1;
      end[x]   = n / st[x] % P;
      index[x] = free[x] ? P : 1;
      size *= index[x];
      if (!free[x]) base += end[x] * st[x];
    }
    for (int i = 0; i < size; i++) out[i] = (vec){0};
    HangTensor(k, hanging, free, end, qdata, (vec *)k->g, (vec *)k->g + HopsHostPower(PetscMax(P, k->Q), dim), out);
    for (int i = 0; i < size; i++) { /* of others on the facet this is no entry */
      const int v =
        base + (free[0] ? i % P : 0) + (free[1] ? i / index[0] % P * P : 0) + (free[2] ? i / (index[0] * index[1]) * P * P : 0);

      if (along[v] != along[n]) continue;
      d[v]    = out[i];
      done[v] = 1;
    }
  }
}

/*
  The diagonal entries of nodes on lines, d_i = e_i^T J^T A J e_i: where facets meet J e_i is no tensor
  product. They are left in the scratch vectors of hanging nodes, behind which the list of these nodes is;
  returns their number
*/
static int HangDiagonal(const struct _HopsPAKernel *k, PetscInt b, const real qdata[])
{
  const int nn = HopsHostPower(k->P, k->dim);
  vec      *e = (vec *)k->e, *d = (vec *)k->hung;
  int      *list = (int *)(void *)(d + nn), *along = list + nn, *done = along + nn, n = HangList(&k->hang, b, list);

  for (int i = 0; i < nn; i++) done[i] = 0;
  if (k->hang.some[b] == 1) {
    HangAlong(k, k->hang.mask[b * W], along);
    HangTensors(k, k->hang.mask[b * W], (const vec *)qdata, d, along, done);
  }
  for (int i = 0; i < n; i++) {
    if (done[list[i]]) continue;
    for (int j = 0; j < nn; j++) e[j] = (vec){0};
    e[list[i]] = (vec){0} + 1;
    Hang(&k->hang, b, 0, e);
    k->cell(k, qdata);
    Hang(&k->hang, b, 1, e);
    d[list[i]] = e[list[i]];
  }
  return n;
}

/* They replace what the other way of computing the diagonal found */
static void HangDiagonalPut(const real hung[], int ne, int n, vec e[])
{
  const vec *d    = (const vec *)hung;
  const int *list = n ? (const int *)(const void *)(d + ne) : NULL;

  for (int i = 0; i < n; i++) e[list[i]] = d[list[i]];
}
#endif
