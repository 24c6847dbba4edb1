/* Geometry factors of a batch of cells. Included once per instruction set, see
   hostkernels_*.c. */
#pragma once
#include <backend/host/runtime/hostvec.h>
#include <hops/private/hopsadjugate.h>

/* Lanes of a batch: cell[l] is the number of lane l's cell in the run (clamped to the run: a copy where l is
   outside) */
typedef struct {
  PetscInt cell[W];
  mask     bad;
} Lanes;

INLINE void LanesSet(Lanes *b, PetscInt first, PetscInt n)
{
  for (int l = 0; l < W; l++) b->cell[l] = PetscMax(0, PetscMin(first + l, n - 1));
  b->bad = (mask){0};
}

INLINE PetscBool MaskAny(const mask *m)
{
  long long any = 0;

  for (int l = 0; l < W; l++) any |= (*m)[l];
  return any ? PETSC_TRUE : PETSC_FALSE;
}

/* Coordinates of the batch, X[dim][Pg^dim], to the front of the scratch */
static void LoadCoordinates(const HopsHostGeometry *g, PetscInt first, const PetscInt cell[])
{
  const int n = g->dim * (g->dim == 3 ? g->Pg * g->Pg * g->Pg : g->Pg * g->Pg);

  for (int l = 0; l < W; l++) {
    const PetscReal *X = g->X + (size_t)(first + cell[l]) * n;

    for (int i = 0; i < n; i++) g->work[i * W + l] = X[i];
  }
}

/* plane[i][0|1][y][x]: coordinate i and its z-derivative at plane z of the points, still at the map's nodes
   in x and y */
INLINE void GeometryPlane(const int dim, const int Pg, const HopsHostGeometry *g, int z, vec plane[])
{
  const vec *X = (const vec *)g->work;
  const int  n = Pg * Pg;

  for (int i = 0; i < dim; i++) {
    vec *p = plane + 2 * n * i;

    for (int k = 0; k < n; k++) {
      vec b = X[i * (dim == 3 ? Pg * n : n) + k], d = {0};

      if (dim == 3) {
        d = g->D[z * Pg] * b;
        b = g->B[z * Pg] * b;
        for (int j = 1; j < Pg; j++) {
          const vec x = X[(i * Pg + j) * n + k];

          b += g->B[z * Pg + j] * x;
          d += g->D[z * Pg + j] * x;
        }
      }
      p[k]     = b;
      p[n + k] = d;
    }
  }
}

/* J[x][i][j] = dx_i/dxi_j at the row y of the points of a plane. Where the map is linear along the row the
   first derivative is the same at all points, and the others take one product each */
INLINE void GeometryRow(const int dim, const int Pg, const HopsHostGeometry *g, int y, const vec plane[], vec J[])
{
  const int        n = Pg * Pg, M = g->M;
  const PetscReal *By = g->B + y * Pg, *Dy = g->D + y * Pg;

  for (int i = 0; i < dim; i++) {
    vec r[3][HOPS_HOST_MAXLINE];

    for (int k = 0; k < Pg; k++) {
      vec b = {0}, dy = {0}, dz = {0};

      for (int j = 0; j < Pg; j++) {
        const vec x = plane[2 * n * i + j * Pg + k];

        b += By[j] * x;
        dy += Dy[j] * x;
        if (dim == 3) dz += By[j] * plane[2 * n * i + n + j * Pg + k];
      }
      r[0][k] = b;
      r[1][k] = dy;
      r[2][k] = dz;
    }
    if (Pg == 2) {
      const vec a = g->D[0] * r[0][0] + g->D[1] * r[0][1], b = r[1][1] - r[1][0], c = r[2][1] - r[2][0];

      for (int x = 0; x < M; x++) {
        J[(x * dim + i) * dim + 0] = a;
        J[(x * dim + i) * dim + 1] = r[1][0] + g->B[2 * x + 1] * b;
        if (dim == 3) J[(x * dim + i) * dim + 2] = r[2][0] + g->B[2 * x + 1] * c;
      }
      continue;
    }
    for (int x = 0; x < M; x++) {
      const PetscReal *Bx = g->B + x * Pg, *Dx = g->D + x * Pg;
      vec              a = {0}, b = {0}, c = {0};

      for (int k = 0; k < Pg; k++) {
        a += Dx[k] * r[0][k];
        b += Bx[k] * r[1][k];
        if (dim == 3) c += Bx[k] * r[2][k];
      }
      J[(x * dim + i) * dim + 0] = a;
      J[(x * dim + i) * dim + 1] = b;
      if (dim == 3) J[(x * dim + i) * dim + 2] = c;
    }
  }
}

HOPS_ADJUGATE(INLINE, vec)

/* T = A kappa; kappa scalar, diagonal or symmetric (upper triangle by rows) as nc is 1, dim or more */
INLINE void TimesKappa(const int dim, int nc, const vec K[], const vec A[], vec T[])
{
  UNROLL
  for (int a = 0; a < dim; a++) {
    const vec *r = A + a * dim;
    vec       *t = T + a * dim;

    if (nc <= dim) {
      UNROLL
      for (int i = 0; i < dim; i++) t[i] = r[i] * K[nc == 1 ? 0 : i];
    } else if (dim == 2) {
      t[0] = r[0] * K[0] + r[1] * K[1];
      t[1] = r[0] * K[1] + r[1] * K[2];
    } else {
      t[0] = r[0] * K[0] + r[1] * K[1] + r[2] * K[2];
      t[1] = r[0] * K[1] + r[1] * K[3] + r[2] * K[4];
      t[2] = r[0] * K[2] + r[1] * K[4] + r[2] * K[5];
    }
  }
}

/* G = w detJ J^-1 kappa J^-T (upper triangle by rows) at a point; returns det J. No kappa: determinant
   only */
INLINE vec GeometryFactor(const int dim, const HopsValues *kappa, const Lanes *b, PetscInt q, double w, const vec J[], vec G[])
{
  vec       A[9], T[9], K[6] = {{0}}, s;
  const int nc  = (int)kappa->nc;
  const vec det = Adjugate(dim, J, A);

  if (!nc) return det;
  for (int k = 0; k < nc; k++) K[k] = LoadValues(kappa, b->cell, q, k);
  TimesKappa(dim, nc, K, A, T);
  s = w / det;
  UNROLL
  for (int r = 0; r < dim; r++) {
    UNROLL
    for (int c = r; c < dim; c++) {
      vec t = T[r * dim] * A[c * dim] + T[r * dim + 1] * A[c * dim + 1];

      if (dim == 3) t += T[r * dim + 2] * A[c * dim + 2];
      *G++ = s * t;
    }
  }
  return det;
}

/* Values of a term at a point: family's tensor of the coefficient, weight w; A = det J^-1. No coefficient:
   nothing */
INLINE void FormFactor(int dim, HopsFamily family, const HopsValues *cf, const Lanes *b, PetscInt q, double w, const vec *det,
                       const vec J[], const vec A[], vec G[])
{
  const int nc   = (int)cf->nc;
  vec       K[6] = {{0}}, T[9], R[9], s = w / *det;

  if (!nc) return;
  for (int k = 0; k < nc; k++) K[k] = LoadValues(cf, b->cell, q, k);
  if (family == HOPS_L2) {
    G[0] = s * K[0];
    return;
  }
  for (int r = 0; r < dim; r++)
    for (int c = 0; c < dim; c++) R[r * dim + c] = family == HOPS_HCURL ? A[r * dim + c] : J[c * dim + r];
  TimesKappa(dim, nc, K, R, T);
  for (int r = 0; r < dim; r++)
    for (int c = r; c < dim; c++) {
      vec t = T[r * dim] * R[c * dim] + T[r * dim + 1] * R[c * dim + 1];

      if (dim == 3) t += T[r * dim + 2] * R[c * dim + 2];
      *G++ = s * t;
    }
}

/* Finds the first bad cell of a batch again, one lane at a time: the fast path keeps no determinants */
static void FindBad(const HopsHostGeometry *g, const Lanes *b, HopsHostRun *run)
{
  const int dim = g->dim, M = g->M, n = 2 * dim * g->Pg * g->Pg;
  vec      *plane = (vec *)g->work + dim * g->Pg * (dim == 3 ? g->Pg * g->Pg : g->Pg), *J = plane + n, A[9];

  for (int l = 0; l < W && run->bad < 0; l++) {
    if (!b->bad[l]) continue;
    for (int z = 0; z < (dim == 3 ? M : 1) && run->bad < 0; z++) {
      GeometryPlane(dim, g->Pg, g, z, plane);
      for (int i = 0; i < M * M && run->bad < 0; i++) {
        if (i % M == 0) GeometryRow(dim, g->Pg, g, i / M, plane, J);
        const vec det = Adjugate(dim, J + (i % M) * dim * dim, A);

        if (!(det[l] > 0)) {
          run->bad = run->first + b->cell[l];
          run->det = det[l];
        }
      }
    }
  }
}
