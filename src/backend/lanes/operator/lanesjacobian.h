/*
  Jacobians of element maps at all quadrature points of cells, for set-up: J[i][j] = dx_i/dxi_j. A team works
  on a cell, on planes of points of the last direction at a time, and sums over the map's nodes in one
  direction after the other; maps of few nodes are summed in full by a lane for each point.
*/
#pragma once
#include "lanesgeom.h"
#include <hops/private/hopsmapkind.h>

#define HOPS_JACOBIAN_LANES 128

/* Teams of a launch, planes of points of a cell that a team takes at a time, and its bytes of scratch;
   both are 0 where full sums are as good, or scratch is short */
static inline unsigned int HopsJacobianTeams(const HopsSetUpArgs *s, int *planes, size_t *bytes)
{
  const int    n = s->Pg, Q = s->Q, T = HOPS_JACOBIAN_LANES;
  const size_t one = sizeof(double) * (s->dim == 3 ? 6 * n * n + 9 * Q * n : 4 * Q * n), most = 48 * 1024;

  *planes = s->dim == 3 ? PetscClipInterval(T / (Q * Q), 1, Q) : 1;
  if (*planes * one > most) *planes = 1;
  if (n < 4 || one > most) *planes = 0;
  *bytes = *planes * one;
  return *planes ? (unsigned int)s->n : (unsigned int)(((size_t)s->n * HopsLanesPower(Q, s->dim) + T - 1) / T);
}

/* rows[plane][i][j][y][x]: the sums for dx_i/dxi_j of all directions but the first, at planes first, first +
   1, ... of n points; in[plane][i][2][y][x] is scratch in 3D */
template <int DIM, class Team>
HOPS_LANES_CALLED void JacobianRows(const Team &team, const HopsSetUpArgs &s, const double *X, int first, int planes, double *in,
                                    double *rows)
{
  const int n = s.Pg, n2 = n * n, Q = s.Q;

  if (DIM == 3) {
    for (int t = team.lane(); t < planes * 3 * n2; t += team.size()) {
      const int     xy = t % n2, i = t / n2 % 3, g = t / (3 * n2);
      const double *B = s.B + (first + g) * n, *D = s.D + (first + g) * n, *x = X + i * n2 * n + xy;
      double        b = 0, d = 0;

      for (int k = 0; k < n; k++) {
        b += B[k] * x[k * n2];
        d += D[k] * x[k * n2];
      }
      in[(t / n2 * 2) * n2 + xy]     = b;
      in[(t / n2 * 2 + 1) * n2 + xy] = d;
    }
    team.Sync();
  }
  for (int t = team.lane(); t < planes * DIM * Q * n; t += team.size()) {
    const int     x = t % n, y = t / n % Q, gi = t / (n * Q);
    const double *B = s.B + y * n, *D = s.D + y * n, *p = DIM == 3 ? in + gi * 2 * n2 + x : X + gi * n2 + x;
    double        b = 0, d = 0, e = 0;

    for (int k = 0; k < n; k++) {
      b += B[k] * p[k * n];
      d += D[k] * p[k * n];
      if (DIM == 3) e += B[k] * p[n2 + k * n];
    }
    rows[((gi * DIM) * Q + y) * n + x]     = b;
    rows[((gi * DIM + 1) * Q + y) * n + x] = d;
    if (DIM == 3) rows[((gi * DIM + 2) * Q + y) * n + x] = e;
  }
  team.Sync();
}

/* at(c, q, J) for all points q of cell c = team.index(), by the team's lanes */
template <int DIM, class Team, class At>
HOPS_LANES_CALLED void ForJacobians(const Team &team, const HopsSetUpArgs &s, int planes, double *scratch, const At &at)
{
  const int n = s.Pg, Q = s.Q, c = team.index();
  double   *rows = scratch + (DIM == 3 ? planes * 6 * n * n : 0);

  for (int first = 0; first < (DIM == 3 ? Q : 1); first += planes) {
    const int some = DIM == 3 ? (planes < Q - first ? planes : Q - first) : 1;

    JacobianRows<DIM>(team, s, s.X + (size_t)c * DIM * HopsLanesPower(n, DIM), first, some, scratch, rows);
    for (int t = team.lane(); t < some * Q * Q; t += team.size()) {
      const int     x = t % Q, y = t / Q % Q, g = t / (Q * Q);
      const double *B = s.B + x * n, *D = s.D + x * n;
      double        J[9];

#pragma unroll
      for (int i = 0; i < DIM; i++) {
#pragma unroll
        for (int j = 0; j < DIM; j++) {
          const double *r = rows + (((g * DIM + i) * DIM + j) * Q + y) * n, *b = j ? B : D;
          double        v = 0;

          for (int k = 0; k < n; k++) v += b[k] * r[k];
          J[i * DIM + j] = v;
        }
      }
      at(c, first * Q * Q + t, J);
    }
    team.Sync();
  }
}

/* at(c, q, J) for point t of all, by full sums */
template <int DIM, class At> HOPS_LANES_CALLED void AtJacobian(const HopsSetUpArgs &s, size_t t, const At &at)
{
  const int nq = HopsLanesPower(s.Q, DIM);
  const int c = (int)(t / nq), q = (int)(t % nq);
  double    J[9];

  if (c >= s.n) return;
  Jacobian(DIM, s, s.X + (size_t)c * DIM * HopsLanesPower(s.Pg, DIM), q, J);
  at(c, q, J);
}

/* at(c, q, J) for all points of the cells of a launch: a team for each cell, or (planes is 0) lane t of all
   for point t of all */
template <int DIM, class Team, class At>
HOPS_LANES_CALLED void HopsAllJacobians(const Team &team, const HopsSetUpArgs &s, int planes, double *scratch, const At &at)
{
  if (planes) ForJacobians<DIM>(team, s, planes, scratch, at);
  else
    for (int t = team.lane(); t < HOPS_JACOBIAN_LANES; t += team.size())
      AtJacobian<DIM>(s, (size_t)team.index() * HOPS_JACOBIAN_LANES + t, at);
}

/* X[dim][2^dim]: the corners of a cell */
HOPS_LANES_CALLED void LoadCorners(const HopsSetUpArgs &s, PetscInt c, double X[24])
{
  const int nn = HopsLanesPower(s.Pg, s.dim);

  for (int d = 0; d < s.dim; d++) HopsCellCorners(s.dim, s.Pg, s.X + ((size_t)c * s.dim + d) * nn, X + (d << s.dim));
}

/* The first determinant of a cell that is not positive */
HOPS_LANES_CALLED void HopsFindBad(const HopsSetUpArgs &s, PetscInt cell)
{
  const int nq = HopsLanesPower(s.Q, s.dim), nx = s.dim * HopsLanesPower(s.Pg, s.dim);
  double    X[24];

  if (s.geometry != HOPS_GEOMETRY_STORED) LoadCorners(s, cell, X);
  for (int q = 0; q < nq; q++) {
    double J[9], A[9], det;

    if (s.geometry != HOPS_GEOMETRY_STORED) CornerJacobian(s.dim, s.Q, s.z, X, q, J);
    else Jacobian(s.dim, s, s.X + (size_t)cell * nx, q, J);
    det = Adjugate(s.dim, J, A);
    if (!(det > 0)) {
      *s.det = det;
      return;
    }
  }
}

struct HopsFindBadPoint {
  HopsSetUpArgs s;
  PetscInt      cell;

  HOPS_LANES void operator()(size_t) const
  {
    HopsFindBad(s, cell);
  }
};
