/* Geometry at a point: Jacobians of cells that their corners describe, adjugates, tensors in reference
   coordinates. */
#pragma once
#include <backend/lanes/runtime/lanes.h>
#include "lanesargs.h"
#include <hops/private/hopsadjugate.h>

HOPS_ADJUGATE(template <class V> HOPS_LANES_CALLED, V) /* double, or a vector of them */

/* component of the symmetric tensor; nc is 1 (scalar), dim (diagonal) or dim(dim+1)/2 (upper triangle by
   rows) */
template <class V> HOPS_LANES_CALLED V Kappa(int dim, int nc, const V *k, int i, int j)
{
  const int r = i < j ? i : j, c = i < j ? j : i;

  if (nc <= dim) return i == j ? k[nc == 1 ? 0 : i] : V{};
  return k[r * dim - r * (r + 1) / 2 + c];
}

/* (A kappa A^T)_rl */
template <class V> HOPS_LANES_CALLED V Congruence(int dim, const V A[9], int nc, const V *k, int r, int l)
{
  V v = {};

  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) v += A[r * dim + i] * Kappa(dim, nc, k, i, j) * A[l * dim + j];
  return v;
}

/* out[t * stride] = w times entry t of the upper triangle of A kappa A^T, by rows; returns where the next
   values go */
template <int DIM>
HOPS_LANES_CALLED double *WeightedCongruence(const double A[9], int nc, const double *k, double w, size_t stride, double *out)
{
  double K[9];

#pragma unroll
  for (int i = 0; i < DIM; i++)
#pragma unroll
    for (int j = 0; j < DIM; j++) K[i * DIM + j] = Kappa(DIM, nc, k, i, j);
#pragma unroll
  for (int r = 0; r < DIM; r++)
#pragma unroll
    for (int l = r; l < DIM; l++, out += stride) {
      double v = 0;

#pragma unroll
      for (int i = 0; i < DIM; i++)
#pragma unroll
        for (int j = 0; j < DIM; j++) v += A[r * DIM + i] * K[i * DIM + j] * A[l * DIM + j];
      *out = w * v;
    }
  return out;
}

/* J[i][j] = dx_i/dxi_j at point q of a cell: full sums over the map's nodes */
HOPS_LANES_CALLED void Jacobian(int dim, const HopsSetUpArgs &s, const double *X, int q, double J[9])
{
  const int n = s.Pg, nn = HopsLanesPower(n, dim), qx = q % s.Q, qy = q / s.Q % s.Q, qz = dim == 3 ? q / (s.Q * s.Q) : 0;

  for (int i = 0; i < 9; i++) J[i] = 0;
  for (int z = 0; z < (dim == 3 ? n : 1); z++) {
    const double bz = dim == 3 ? s.B[qz * n + z] : 1, dz = dim == 3 ? s.D[qz * n + z] : 0;

    for (int y = 0; y < n; y++) {
      const double by = s.B[qy * n + y], dy = s.D[qy * n + y];

      for (int x = 0; x < n; x++) {
        const double b = s.B[qx * n + x], d = s.D[qx * n + x], w0 = d * by * bz, w1 = b * dy * bz, w2 = b * by * dz;

        for (int i = 0; i < dim; i++) {
          const double xi = X[i * nn + (z * n + y) * n + x];

          J[i * dim] += w0 * xi;
          J[i * dim + 1] += w1 * xi;
          if (dim == 3) J[i * dim + 2] += w2 * xi;
        }
      }
    }
  }
}

/* J[i][j] = dx_i/dxi_j of the multilinear map through the corners X[dim][2^dim] at point q, z: points of
   [0,1] */
HOPS_LANES_CALLED void CornerJacobian(int dim, int Q, const double *z, const double *X, int q, double J[9])
{
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) {
      double v = 0;

      for (int k = 0; k < 1 << dim; k++) {
        double f = 0.5;

        for (int d = 0, p = q; d < dim; d++, p /= Q) {
          const int upper = k >> d & 1;

          f *= d == j ? (upper ? 1 : -1) : (upper ? z[p % Q] : 1 - z[p % Q]);
        }
        v += f * X[(i << dim) + k];
      }
      J[i * dim + j] = v;
    }
}

/* The map's coefficients (lanesargs.h) from the corners */
HOPS_LANES_CALLED void MapCoefficients(int dim, const double *X, double *m)
{
  for (int d = 0; d < dim; d++, X += 1 << dim) {
    if (dim == 2) {
      *m++ = 0.5 * (X[1] - X[0]);
      *m++ = 0.5 * (X[2] - X[0]);
      *m++ = 0.5 * ((X[3] - X[2]) - (X[1] - X[0]));
    } else {
      const double rs = (X[3] - X[2]) - (X[1] - X[0]), rt = (X[5] - X[4]) - (X[1] - X[0]), st = (X[6] - X[4]) - (X[2] - X[0]);

      *m++ = 0.5 * (X[1] - X[0]);
      *m++ = 0.5 * (X[2] - X[0]);
      *m++ = 0.5 * (X[4] - X[0]);
      *m++ = 0.5 * rs;
      *m++ = 0.5 * rt;
      *m++ = 0.5 * st;
      *m++ = 0.5 * ((X[7] - X[6]) - (X[5] - X[4]) - rs);
    }
  }
}

/* The Jacobian at point q from these coefficients */
template <class V> HOPS_LANES_CALLED void MapJacobian(int dim, int Q, const double *z, const V *m, int q, V J[9])
{
  const double r = z[q % Q], s = z[q / Q % Q], t = dim == 3 ? z[q / (Q * Q)] : 0;

  for (int d = 0; d < dim; d++, m += (1 << dim) - 1) {
    if (dim == 2) {
      J[d * 2]     = m[0] + s * m[2];
      J[d * 2 + 1] = m[1] + r * m[2];
    } else {
      J[d * 3]     = m[0] + s * m[3] + t * (m[4] + s * m[6]);
      J[d * 3 + 1] = m[1] + r * m[3] + t * (m[5] + r * m[6]);
      J[d * 3 + 2] = m[2] + r * m[4] + s * (m[5] + r * m[6]);
    }
  }
}

/* Quadrature data t of a cell, or of the cells of its group, entry (r,c) of the tensor or (r < 0) the mass,
   at point q */
template <class Team> HOPS_LANES_CALLED typename Team::Value QData(const HopsH1Args &k, PetscInt cell, int r, int c, int t, int q)
{
  typedef typename Team::Value V;
  const int                    dim = k.dim, nd = dim * (dim + 1) / 2, nq = HopsLanesPower(k.Q, dim);
  const int                    ng = HopsGeometrySize(k.geometry, dim), nc = (k.diffusion ? nd : 0) + (k.mass ? 1 : 0);
  V                            J[9], A[9], det;
  double                       w;
  const V                     *g = (const V *)k.geom + (size_t)(cell / Team::group) * ng;

  if (k.geometry == HOPS_GEOMETRY_STORED) return ((const V *)k.qdata)[(size_t)(cell / Team::group) * nc * nq + t * nq + q];
  w = HopsLanesWeight(dim, k.Q, k.w, q);
  if (k.geometry == HOPS_GEOMETRY_AFFINE) return w * g[r < 0 ? nd : t];
  MapJacobian(dim, k.Q, k.z, g, q, J);
  det = Adjugate(dim, J, A);
  g += dim * ((1 << dim) - 1);
  return r < 0 ? w * det * g[nd] : w / det * Congruence(dim, A, nd, g, r, c);
}

/* All n of them at point q, `step` apart: one Jacobian for all */
template <class Team>
HOPS_LANES_CALLED void QDataAll(const HopsH1Args &k, PetscInt cell, int n, int q, size_t step, typename Team::Value *out)
{
  typedef typename Team::Value V;
  const int                    dim = k.dim, nd = dim * (dim + 1) / 2, first = k.diffusion ? 0 : nd;
  const V                     *g = (const V *)k.geom + (size_t)(cell / Team::group) * HopsGeometrySize(k.geometry, dim);
  V                            J[9], A[9], det, f;

  if (k.geometry == HOPS_GEOMETRY_STORED) {
    for (int t = 0; t < n; t++) out[t * step] = QData<Team>(k, cell, 0, 0, t, q);
    return;
  }
  const double w = HopsLanesWeight(dim, k.Q, k.w, q);

  if (k.geometry == HOPS_GEOMETRY_AFFINE) {
    for (int t = 0; t < n; t++) out[t * step] = w * g[first + t];
    return;
  }
  MapJacobian(dim, k.Q, k.z, g, q, J);
  det = Adjugate(dim, J, A);
  f   = w / det;
  g += dim * ((1 << dim) - 1);
  for (int t = 0, r = 0, c = 0; t < nd && k.diffusion; t++) {
    out[t * step] = f * Congruence(dim, A, nd, g, r, c);
    if (++c == dim) c = ++r;
  }
  if (k.mass) out[(n - 1) * step] = w * det * g[nd];
}
