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

/* All lines of a mask, in the lanes where on[] is 1 and not 0; on is NULL where these are all */
INLINE void HangLines(const int P, const struct _HopsPAKernel *k, unsigned hanging, int transpose, const vec *on, vec e[])
{
  const real *A = k->J + (transpose ? P * P : 0);
  int         start[2 * HOPS_HOST_MAXLINE], step;
  vec         u[HOPS_HOST_MAXLINE], v[HOPS_HOST_MAXLINE];

  for (int i = 0; i < k->dim; i++) {
    const int a = transpose ? k->dim - 1 - i : i, n = HopsHangingLines(k->dim, P, hanging, a, start);

    for (int l = 0; l < n; l++) {
      vec *x = e + HopsHangingLine(P, hanging, a, start[l], &step);

      LoadLine(P, x, step, u);
      HangProduct(P, A, u, v);
      if (on)
        for (int m = 0; m < P; m++) v[m] = *on * v[m] + (1 - *on) * u[m];
      StoreLine(P, v, step, x);
    }
  }
}

/* With the orders that tests and users have most, lines stay in registers */
static void HangMask(const struct _HopsPAKernel *k, unsigned hanging, int transpose, const vec *on, vec e[])
{
  switch (k->P) {
  case 2:
    HangLines(2, k, hanging, transpose, on, e);
    break;
  case 3:
    HangLines(3, k, hanging, transpose, on, e);
    break;
  case 4:
    HangLines(4, k, hanging, transpose, on, e);
    break;
  case 5:
    HangLines(5, k, hanging, transpose, on, e);
    break;
  case 6:
    HangLines(6, k, hanging, transpose, on, e);
    break;
  case 7:
    HangLines(7, k, hanging, transpose, on, e);
    break;
  case 8:
    HangLines(8, k, hanging, transpose, on, e);
    break;
  case 9:
    HangLines(9, k, hanging, transpose, on, e);
    break;
  default:
    HangLines(k->P, k, hanging, transpose, on, e);
  }
}

/* e = J e, or J^T e. The lanes of most batches have one mask */
static void Hang(const struct _HopsPAKernel *k, PetscInt b, int transpose, vec e[])
{
  const unsigned short *hang = k->hang + b * W;
  unsigned int          done = 0;

  if (k->hangs[b] == 1) {
    HangMask(k, hang[0], transpose, NULL, e);
    return;
  }
  for (int l = 0; l < W; l++) {
    vec on   = {0};
    int many = 0;

    if (done >> l & 1) continue;
    for (int i = l; i < W; i++) {
      if (hang[i] != hang[l]) continue;
      done |= 1u << i;
      on[i] = 1;
      many++;
    }
    if (hang[l]) HangMask(k, hang[l], transpose, many == W ? NULL : &on, e);
  }
}

#if !defined(HOPS_HOST_SINGLE)
/* Nodes that are on a line of some lane */
static int HangList(const struct _HopsPAKernel *k, PetscInt b, int list[])
{
  const int P = k->P, nn = HopsHostPower(P, k->dim);
  int       n = 0, start[2 * HOPS_HOST_MAXLINE], step;

  for (int i = 0; i < nn; i++) list[i] = 0;
  for (int l = 0; l < W; l++)
    for (int a = 0; a < k->dim && (!l || k->hang[b * W + l] != k->hang[b * W + l - 1]); a++)
      for (int j = HopsHangingLines(k->dim, P, k->hang[b * W + l], a, start); j--;) {
        const int x = HopsHangingLine(P, k->hang[b * W + l], a, start[j], &step);

        for (int m = 0; m < P; m++) list[x + m * step] = 1;
      }
  for (int i = 0; i < nn; i++)
    if (list[i]) list[n++] = i; /* n <= i */
  return n;
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
  int      *list = (int *)(void *)(d + nn), n = HangList(k, b, list);

  for (int i = 0; i < n; i++) {
    for (int j = 0; j < nn; j++) e[j] = (vec){0};
    e[list[i]] = (vec){0} + 1;
    Hang(k, b, 0, e);
    k->cell(k, qdata);
    Hang(k, b, 1, e);
    d[i] = e[list[i]];
  }
  return n;
}

/* They replace what the other way of computing the diagonal found */
static void HangDiagonalPut(const struct _HopsPAKernel *k, int n, vec e[])
{
  const vec *d    = (const vec *)k->hung;
  const int *list = (const int *)(const void *)(d + HopsHostPower(k->P, k->dim));

  for (int i = 0; i < n; i++) e[list[i]] = d[i];
}
#endif
