/* Condensed patches, one to a lane: elimination of the cells' interiors in their modes. Included by each
   instruction set. */
#pragma once
#include <backend/host/runtime/hostvec.h>

/* The lines of a direction, outer x inner, each a vertex's node with n modes or nodes on one side or both;
   center: distance of it from the line's begin */
INLINE void CondensedLines(const HopsHostModes *k, const int sides, const int outer, const int inner, const PetscBool to, vec x[])
{
  const int     n = k->n, size = sides * n + 1;
  const double *A = to ? k->to : k->back;

  for (int o = 0; o < outer; o++)
    for (int i = 0; i < inner; i++) {
      vec *line = x + o * size * inner + i, *center = line + (sides - 1) * n * inner;

      for (int s = 0; s < sides; s++) {
        const int step = s == sides - 1 ? inner : -inner;
        vec       u[HOPS_HOST_MAXLINE], v[HOPS_HOST_MAXLINE];

        for (int t = 0; t < n; t++) u[t] = center[(t + 1) * step];
        if (!to)
          for (int t = 0; t < n; t++) u[t] -= k->mu[t] * *center;
        if (!k->symmetric) TimesDouble(n, A, u, v);
        else if (to) ToModesDouble(n, A, u, v);
        else ToNodesDouble(n, A, u, v);
        for (int t = 0; t < n; t++) center[(t + 1) * step] = v[t];
        if (to)
          for (int t = 0; t < n; t++) *center -= k->mu[t] * v[t];
      }
    }
}

/* One way the right-hand side of the skeleton, the other way the interiors: w / D, and what faces take from
   or give to them */
INLINE void CondensedCells(const HopsHostModes *k, const HopsHostCondensed *c, const PetscBool to, const int dim, vec x[], vec e[])
{
  const int n = k->n, stride[3] = {1, c->size[0], c->size[0] * c->size[1]};

  for (int pos = 0; pos < 1 << dim; pos++) {
    const vec *d       = (const vec *)c->factor + 4 * pos;
    int        step[3] = {0, 0, 0}, center = 0, exists = 1;

    for (int a = 0; a < dim; a++) {
      if (c->side[a] == 1 && (pos >> a) & 1) exists = 0;
      step[a] = c->side[a] == 2 && !((pos >> a) & 1) ? -stride[a] : stride[a];
      center += (c->side[a] - 1) * n * stride[a];
    }
    if (!exists) continue;
    for (int z = dim == 3; z <= (dim == 3 ? n : 0); z++) {
      const vec dz = dim == 3 ? d[2] * k->lambda[z - 1] + d[3] : d[3], cz = dim == 3 ? d[2] * k->alpha[z - 1] : d[3];

      for (int y = 1; y <= n; y++) {
        const int o  = center + y * step[1] + z * step[2];
        const vec dy = dz + d[1] * k->lambda[y - 1], cy = d[1] * k->alpha[y - 1], face = d[0] * x[o];
        vec      *xy = x + o - y * step[1], *xz = x + o - z * step[2], sum = {0};

        for (int i = 1; i <= n; i++) {
          const int j = i * step[0];

          if (to) {
            const vec D = dy + d[0] * k->lambda[i - 1], r = ReciprocalDouble(&D), w = r * x[o + j];

            e[o + j] = r;
            x[o + j] = w;
            sum += k->alpha[i - 1] * w;
            xy[j] -= cy * w;
            if (dim == 3) xz[j] -= cz * w;
          } else {
            vec w = k->alpha[i - 1] * face + cy * xy[j];

            if (dim == 3) w += cz * xz[j];
            x[o + j] -= e[o + j] * w;
          }
        }
        if (to) x[o] -= d[0] * sum;
      }
    }
  }
}

static void Condense(const HopsHostModes *k, const HopsHostCondensed *c, double x[], double e[], double b[])
{
  vec *X = (vec *)x;

  CondensedLines(k, c->side[0], c->size[1] * c->size[2], 1, PETSC_TRUE, X);
  CondensedLines(k, c->side[1], c->size[2], c->size[0], PETSC_TRUE, X);
  if (k->dim == 3) CondensedLines(k, c->side[2], 1, c->size[0] * c->size[1], PETSC_TRUE, X);
  if (k->dim == 3) CondensedCells(k, c, PETSC_TRUE, 3, X, (vec *)e);
  else CondensedCells(k, c, PETSC_TRUE, 2, X, (vec *)e);
  for (int i = 0; i < c->nskel; i++) ((vec *)b)[i] = X[c->skel[i]];
}

static void Expand(const HopsHostModes *k, const HopsHostCondensed *c, double x[], const double e[], const double y[])
{
  vec *X = (vec *)x;

  for (int i = 0; i < c->nskel; i++) X[c->skel[i]] = ((const vec *)y)[i];
  if (k->dim == 3) CondensedCells(k, c, PETSC_FALSE, 3, X, (vec *)e);
  else CondensedCells(k, c, PETSC_FALSE, 2, X, (vec *)e);
  if (k->dim == 3) CondensedLines(k, c->side[2], 1, c->size[0] * c->size[1], PETSC_FALSE, X);
  CondensedLines(k, c->side[1], c->size[2], c->size[0], PETSC_FALSE, X);
  CondensedLines(k, c->side[0], c->size[1] * c->size[2], 1, PETSC_FALSE, X);
}

/* Rows by eight, to have as many chains of multiply-adds */
static void Skeleton(int n, const double A[], const double b[], double y[])
{
  const vec *u = (const vec *)b;
  vec       *v = (vec *)y;
  int        i = 0;

  for (; i + 7 < n; i += 8) {
    const double *a    = A + (size_t)i * n;
    vec           s[8] = {{0}};

    for (int j = 0; j < n; j++) {
      UNROLL
      for (int r = 0; r < 8; r++) s[r] += a[(size_t)r * n + j] * u[j];
    }
    UNROLL
    for (int r = 0; r < 8; r++) v[i + r] = s[r];
  }
  for (; i < n; i++) {
    vec s = {0};

    for (int j = 0; j < n; j++) s += A[(size_t)i * n + j] * u[j];
    v[i] = s;
  }
}
