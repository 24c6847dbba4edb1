/*
  Condensed patches, for the process and for devices: their Schur complements, and their solves by a team
  (hopspatchkernel.h). What they are says src/patch/patchcondensed.c.
*/
#pragma once
#include <hops/private/hopspatchkernel.h>

/*
  A condensed patch: a tensor star of cells whose forms are tensor products, each with factors of its own.
  Equal ones share their data. The skeleton are the nodes on the planes through the vertex, in lexicographic
  order of the patch's nodes.
*/
typedef struct {
  int side[3]; /* cells along each axis, 1 for an axis that is not there */
  /* of the cell with bits `pos` of sides: factors of A_a M M along the axes a of the star, and of M M M; the
     greatest of all is 1 */
  double d[8][4];
  int    n;      /* unknowns of the skeleton */
  size_t offset; /* where the inverse of its Schur complement begins in the set's `schur`, row after row */
} HopsPatchCondensed;

/* Modes of a cell's interior in a direction, and the function of the vertex beside them */
typedef struct {
  int           dim, n;       /* n = order - 1 modes */
  int           nodes;        /* of the largest patch */
  double        arrow[2];     /* diagonal entries of A and M: those of the function of the vertex */
  const double *values;       /* S[n][n] node by mode, lambda[n], alpha[n], and nu[n] = S mu */
  const int    *list, *where; /* [8][nodes] by bits of two sides: nodes of the skeleton; a node's number there, or -1 */
} HopsPatchModes;

HOPS_TEAM int HopsPatchShape(const HopsPatchCondensed *c)
{
  return (c->side[0] - 1) | (c->side[1] - 1) << 1 | (c->side[2] - 1) << 2;
}

HOPS_TEAM int HopsPatchCondensedSize(const HopsPatchModes *m, const HopsPatchCondensed *c, int size[3], int stride[3])
{
  int total = 1;

  for (int a = 0; a < 3; ++a) {
    size[a]   = a < m->dim ? c->side[a] * m->n + 1 : 1;
    stride[a] = total;
    total *= size[a];
  }
  return total;
}

/* S[n][n] becomes the Schur complement of a patch on its skeleton */
HOPS_TEAM void HopsPatchSchur(const HopsPatchModes *m, const HopsPatchCondensed *c, double S[], int rank, int size)
{
  const int     dim = m->dim, p = m->n + 1, n = c->n, *where = m->where + (size_t)HopsPatchShape(c) * m->nodes;
  const double *lambda = m->values + m->n * m->n, *alpha = lambda + m->n;
  int           sizes[3], stride[3], center = 0;

  (void)HopsPatchCondensedSize(m, c, sizes, stride);
  for (int a = 0; a < dim; ++a) center += (c->side[a] - 1) * m->n * stride[a];
  HOPS_TEAM_FOR(i, n * n, rank, size) S[i] = 0.0;
  HOPS_TEAM_SYNC();
  for (int pos = 0; pos < 1 << dim; ++pos) {
    const double *d       = c->d[pos];
    int           step[3] = {0, 0, 0}, exists = 1;

    for (int a = 0; a < dim; ++a) {
      if (c->side[a] == 1 && (pos >> a) & 1) exists = 0;
      step[a] = c->side[a] == 2 && !((pos >> a) & 1) ? -stride[a] : stride[a];
    }
    HOPS_TEAM_FOR(i, exists ? (dim == 3 ? p * p * p : p * p) : 0, rank, size)
    {
      const int t[3] = {i % p, i / p % p, i / (p * p)}, node = center + t[0] * step[0] + t[1] * step[1] + t[2] * step[2];
      double    w[3] = {1.0, 1.0, 1.0}, D;

      for (int a = 0; a < dim; ++a) w[a] = t[a] ? 1.0 : m->arrow[1];
      D = d[3] * w[0] * w[1] * w[2];
      for (int a = 0; a < dim; ++a) D += d[a] * (t[a] ? lambda[t[a] - 1] : m->arrow[0]) * w[(a + 1) % 3] * w[(a + 2) % 3];
      if (where[node] >= 0) {
        HOPS_TEAM_ADD(S[(size_t)where[node] * n + where[node]], D);
        /* with the same node but for t[a] = 0, if it is on the skeleton by another direction */
        for (int a = 0; a < dim; ++a) {
          const int    other  = where[node - t[a] * step[a]];
          const double couple = t[a] ? d[a] * alpha[t[a] - 1] * w[(a + 1) % 3] * w[(a + 2) % 3] : 0.0;

          if (!t[a]) continue;
          HOPS_TEAM_ADD(S[(size_t)where[node] * n + other], couple);
          HOPS_TEAM_ADD(S[(size_t)other * n + where[node]], couple);
        }
      } else
        for (int a = 0; a < dim; ++a)
          for (int b = 0; b < dim; ++b)
            HOPS_TEAM_ADD(S[(size_t)where[node - t[a] * step[a]] * n + where[node - t[b] * step[b]]],
                          -d[a] * alpha[t[a] - 1] * d[b] * alpha[t[b] - 1] / D);
    }
  }
  HOPS_TEAM_SYNC();
}

/* out = in with nodes to modes along axis a, or back */
HOPS_TEAM void HopsPatchCondensedLines(const HopsPatchModes *m, const HopsPatchCondensed *c, int a, int to, const double in[],
                                       double out[], int rank, int size)
{
  const int     n = m->n;
  const double *S = m->values, *nu = S + n * n + 2 * n;
  int           sizes[3], stride[3];
  const int     total = HopsPatchCondensedSize(m, c, sizes, stride), center = (c->side[a] - 1) * n;

  HOPS_TEAM_FOR(e, total, rank, size)
  {
    const int     r = e / stride[a] % sizes[a] - center, k = (r < 0 ? -r : r) - 1, way = r < 0 ? -stride[a] : stride[a];
    const double *vertex = in + e - r * stride[a];
    double        s      = r ? 0.0 : vertex[0];

    if (!r && to)
      for (int t = 0; t < n; ++t) s -= nu[t] * (vertex[(t + 1) * way] + (center ? vertex[-(t + 1) * way] : 0.0));
    else if (r && to)
      for (int t = 0; t < n; ++t) s += S[t * n + k] * vertex[(t + 1) * way];
    else if (r) {
      for (int t = 0; t < n; ++t) s += S[k * n + t] * vertex[(t + 1) * way];
      s -= nu[k] * vertex[0];
    }
    out[e] = s;
  }
  HOPS_TEAM_SYNC();
}

/* Places r[a] of node e from the vertex on, and the cell's bits; on how many axes it is at the vertex */
HOPS_TEAM int HopsPatchCondensedPlace(const HopsPatchModes *m, const HopsPatchCondensed *c, const int sizes[3], int e, int r[3],
                                      int *pos)
{
  int zeros = 0;

  *pos = 0;
  for (int a = 0; a < m->dim; e /= sizes[a++]) {
    r[a] = e % sizes[a] - (c->side[a] - 1) * m->n;
    *pos |= (c->side[a] == 2 && r[a] > 0) << a;
    zeros += !r[a];
  }
  return zeros;
}

/* What an interior mode's diagonal entry is */
HOPS_TEAM double HopsPatchCondensedDiagonal(const HopsPatchModes *m, const double d[4], const int r[3])
{
  const double *lambda = m->values + m->n * m->n;
  double        D      = d[3];

  for (int a = 0; a < m->dim; ++a) D += d[a] * lambda[(r[a] < 0 ? -r[a] : r[a]) - 1];
  return D;
}

/* b[n] = the right-hand side of the skeleton; interiors become x / D */
HOPS_TEAM void HopsPatchCondensedDown(const HopsPatchModes *m, const HopsPatchCondensed *c, double x[], double b[], int rank,
                                      int size)
{
  const int    *list  = m->list + (size_t)HopsPatchShape(c) * m->nodes;
  const double *alpha = m->values + m->n * m->n + m->n;
  int           sizes[3], stride[3], r[3], pos;
  const int     total = HopsPatchCondensedSize(m, c, sizes, stride);

  HOPS_TEAM_FOR(e, total, rank, size)
  {
    if (!HopsPatchCondensedPlace(m, c, sizes, e, r, &pos)) x[e] /= HopsPatchCondensedDiagonal(m, c->d[pos], r);
  }
  HOPS_TEAM_SYNC();
  HOPS_TEAM_FOR(i, c->n, rank, size)
  {
    const int e = list[i], zeros = HopsPatchCondensedPlace(m, c, sizes, e, r, &pos);
    double    v = x[e];

    for (int a = 0; a < m->dim && zeros == 1; ++a) /* a face: from the cells on its sides */
      for (int s = 0; s < c->side[a] && !r[a]; ++s) {
        const int way = c->side[a] == 2 && !s ? -stride[a] : stride[a];
        double    sum = 0.0;

        for (int t = 0; t < m->n; ++t) sum += alpha[t] * x[e + (t + 1) * way];
        v -= c->d[pos | s << a][a] * sum;
      }
    b[i] = v;
  }
  HOPS_TEAM_SYNC();
}

/* Interiors from the skeleton's solution, which is the (symmetric) inverse times b */
HOPS_TEAM void HopsPatchCondensedUp(const HopsPatchModes *m, const HopsPatchCondensed *c, const double inverse[], const double b[],
                                    double x[], int rank, int size)
{
  const int    *list  = m->list + (size_t)HopsPatchShape(c) * m->nodes;
  const double *alpha = m->values + m->n * m->n + m->n;
  int           sizes[3], stride[3], r[3], pos;
  const int     total = HopsPatchCondensedSize(m, c, sizes, stride);

  HOPS_TEAM_FOR(i, c->n, rank, size)
  {
    double s = 0.0;

    for (int j = 0; j < c->n; ++j) s += inverse[(size_t)j * c->n + i] * b[j]; /* neighbours of a team side by side */
    x[list[i]] = s;
  }
  HOPS_TEAM_SYNC();
  HOPS_TEAM_FOR(e, total, rank, size)
  {
    double s = 0.0;

    if (HopsPatchCondensedPlace(m, c, sizes, e, r, &pos)) continue;
    for (int a = 0; a < m->dim; ++a) s += c->d[pos][a] * alpha[(r[a] < 0 ? -r[a] : r[a]) - 1] * x[e - r[a] * stride[a]];
    x[e] -= s / HopsPatchCondensedDiagonal(m, c->d[pos], r);
  }
  HOPS_TEAM_SYNC();
}

/* x becomes the patch's inverse times x; w as large, and b[n], are scratch */
HOPS_TEAM void HopsPatchCondensedSolve(const HopsPatchModes *m, const HopsPatchCondensed *c, const double inverse[], double x[],
                                       double w[], double b[], int rank, int size)
{
  double *u = x, *v = w, *swap;

  for (int a = 0; a < m->dim; ++a, swap = u, u = v, v = swap) HopsPatchCondensedLines(m, c, a, 1, u, v, rank, size);
  HopsPatchCondensedDown(m, c, u, b, rank, size);
  HopsPatchCondensedUp(m, c, inverse, b, u, rank, size);
  for (int a = 0; a < m->dim; ++a, swap = u, u = v, v = swap) HopsPatchCondensedLines(m, c, a, 0, u, v, rank, size);
}

/* Operations of a solve */
HOPS_TEAM double HopsPatchCondensedFlops(const HopsPatchModes *m, const HopsPatchCondensed *c)
{
  int          sizes[3], stride[3];
  const double total = HopsPatchCondensedSize(m, c, sizes, stride);

  return total * (m->dim * (4.0 * m->n + 8.0) + 4.0) + 2.0 * c->n * c->n;
}
