/*
  Kernels in H1 for any order: the operator where no fused kernel exists, the diagonal, and set-up. A
  team works on a cell; scratch lies in memory of the team's own where it fits, else in the back end's.
*/
#pragma once
#include "lanescontract.h"
#include "lanesjacobian.h"
#include "lanesmeet.h"

/* doubles of scratch of a team, whose values are of so many cells */
static inline size_t HopsH1GenericScratch(int group, int dim, int P, int Q)
{
  const int terms = group > 1 ? dim * (dim + 1) / 2 + 1 : dim + 1; /* at the points */

  return group *
         ((size_t)HopsLanesPower(P, dim) + 2 * (size_t)HopsLanesPower(P > Q ? P : Q, dim) + (size_t)terms * HopsLanesPower(Q, dim));
}

/* One cell: values of each derivative at the points, the quadrature data, the transposes. Any Q, below P
   too. */
template <class Team>
HOPS_LANES_CALLED void HopsH1ApplyGeneric(const Team &team, const HopsH1Args &k, double *own, const double *__restrict__ x,
                                          const double *__restrict__ xg, double *y, double *yg)
{
  const int dim = k.dim, P = k.P, Q = k.Q, nn = HopsLanesPower(P, dim), nq = HopsLanesPower(Q, dim),
            nm = HopsLanesPower(P > Q ? P : Q, dim);
  const int nd = k.diffusion ? dim * (dim + 1) / 2 : 0, nc = nd + (k.mass ? 1 : 0), first = k.diffusion ? 0 : dim,
            last = dim + (k.mass ? 1 : 0);
  const HopsLanesContraction up(Q, P, Q), down(P, Q, P);
  double                    *e = k.work ? k.work + team.index() * k.nwork : own, *f = e + nn, *g = f + nm, *v = g + nm;

  for (PetscInt cell = k.first + team.index(); cell < k.first + k.n; cell += team.count()) {
    const int    *restr = k.restr + (size_t)cell * nn;
    const double *d     = k.qdata + HopsLanesCell(Team::group, cell, nq * nc);

    for (int i = team.lane(); i < nn; i += team.size()) e[i] = restr[i] < k.nT ? x[restr[i]] : xg[restr[i] - k.nT];
    team.Sync();
    for (int a = first; a < last; a++) {
      const double *const A[3]      = {a == 0 ? k.D : k.B, a == 1 ? k.D : k.B, a == 2 && dim == 3 ? k.D : k.B};
      const int           parity[3] = {a == 0 ? -1 : 1, a == 1 ? -1 : 1, a == 2 && dim == 3 ? -1 : 1};

      Tensor(team, dim, up, A, parity, P, 1, e, f, g, v + (a - first) * nq, false);
    }
    for (int q = team.lane(); q < nq; q += team.size()) {
      if (nd) {
        double gr[3], fl[3];

        for (int a = 0; a < dim; a++) gr[a] = v[a * nq + q];
        for (int a = 0; a < dim; a++) {
          fl[a] = 0;
          for (int b = 0; b < dim; b++) {
            const int r = a < b ? a : b, c = a < b ? b : a;

            fl[a] += d[(size_t)((r * dim - r * (r + 1) / 2 + c) * nq + q) * Team::group] * gr[b];
          }
        }
        for (int a = 0; a < dim; a++) v[a * nq + q] = fl[a];
      }
      if (k.mass) v[(dim - first) * nq + q] *= d[(size_t)(nd * nq + q) * Team::group];
    }
    team.Sync();
    for (int a = first; a < last; a++) {
      const double *const A[3]      = {a == 0 ? k.D : k.B, a == 1 ? k.D : k.B, a == 2 && dim == 3 ? k.D : k.B};
      const int           parity[3] = {a == 0 ? -1 : 1, a == 1 ? -1 : 1, a == 2 && dim == 3 ? -1 : 1};

      Tensor(team, dim, down, A, parity, 1, P, v + (a - first) * nq, f, g, e, a > first);
    }
    for (int i = team.lane(); i < nn; i += team.size()) Team::Add(restr[i] < k.nT ? y + restr[i] : yg + (restr[i] - k.nT), e[i]);
    team.Sync();
  }
}

/* d_n += sum_q sum_ab D_ab(q) (d_a phi_n d_b phi_n)(q) + m(q) phi_n(q)^2, term by term: 1D factors DD, BD,
   BB. A group of cells at a time, on a host with all terms' data; indices have marks where padded is restr */
template <class Team>
HOPS_LANES_CALLED void HopsH1DiagonalGeneric(const Team &team, const HopsH1Args &k, double *own, double *y, double *yg)
{
  typedef typename Team::Value V;
  const int                    dim = k.dim, P = k.P, Q = k.Q, nn = HopsLanesPower(P, dim), nq = HopsLanesPower(Q, dim),
            nm                  = HopsLanesPower(P > Q ? P : Q, dim);
  const int                  nd = k.diffusion ? dim * (dim + 1) / 2 : 0, nc = nd + (k.mass ? 1 : 0);
  const HopsLanesContraction down(P, Q, P);
  constexpr int              G = Team::group;
  V                         *e = (V *)(k.work ? k.work + team.index() * k.nwork : own), *f = e + nn, *g = f + nm, *v = g + nm;

  for (PetscInt cell = HopsMeetFirst(k.first, G) + team.index() * G; cell < k.first + k.n; cell += team.count() * G) {
    const int *restr = k.restr + (size_t)cell * nn;

    for (int q = 0; q < nq && G > 1; q++) QDataAll<Team>(k, cell, nc, q, nq, v + q);
    for (int t = 0, r = 0, c = 0; t < nc; t++) {
      const double *A[3]      = {k.BB, k.BB, k.BB};
      int           parity[3] = {1, 1, 1};
      V            *d         = G > 1 ? v + t * nq : v;

      for (int q = team.lane(); q < nq; q += team.size()) {
        if (G == 1) d[q] = QData<Team>(k, cell, t < nd ? r : -1, c, t, q);
        if (t < nd && r != c) d[q] = 2 * d[q];
      }
      if (t < nd) {
        if (r == c) A[r] = k.DD;
        else {
          A[r] = A[c] = k.BD;
          parity[r] = parity[c] = -1;
        }
        if (++c == dim) c = ++r;
      }
      team.Sync();
      Tensor(team, dim, down, A, parity, 1, P, d, f, g, e, t > 0);
    }
    for (int l = 0; l < G && cell + l < k.first + k.n; l++, restr += nn) {
      if (cell + l < k.first) continue;
      for (int i = team.lane(); i < nn; i += team.size())
        HopsMeetAdd<Team>(k.copies, y, yg, k.nT, restr[i], k.padded == k.restr, ((const double *)(e + i))[l]);
    }
    team.Sync();
  }
}

/* Entry n of the diagonal on an affine cell with tensors G, `step` apart; s: see HopsH1DiagonalAffine() */
HOPS_LANES_CALLED double HopsH1DiagonalEntry(int dim, int P, const double *s, const double *G, int step, int n)
{
  const int     at[3] = {n % P, n / P % P, n / (P * P)};
  const double *bb = s, *dd = s + P, *bd = s + 2 * P;
  const double  b[3] = {bb[at[0]], bb[at[1]], dim == 3 ? bb[at[2]] : 1};
  double        sum  = G[dim * (dim + 1) / 2 * step] * b[0] * b[1] * b[2];

  for (int r = 0; r < dim; r++)
    for (int c = r; c < dim; c++, G += step)
      sum += r == c ? *G * dd[at[r]] * b[(r + 1) % 3] * b[(r + 2) % 3] : 2 * *G * bd[at[r]] * bd[at[c]] * b[3 - r - c];
  return sum;
}

/* The same on affine cells, whose tensors are constant: sums s[3][P] over a direction's points, of BB, DD
   and BD, serve all cells */
template <class Team>
HOPS_LANES_CALLED void HopsH1DiagonalAffine(const Team &team, const HopsH1Args &k, double *own, double *y, double *yg)
{
  const int     dim = k.dim, P = k.P, nn = HopsLanesPower(P, dim);
  const double *table[3] = {k.BB, k.DD, k.BD};
  double       *s        = k.work ? k.work + team.index() * k.nwork : own;
  constexpr int G        = Team::group;

  for (int i = team.lane(); i < 3 * P; i += team.size()) {
    s[i] = 0;
    for (int q = 0; q < k.Q; q++) s[i] += k.w[q] * table[i / P][q * P + i % P];
  }
  team.Sync();
  for (PetscInt group = HopsMeetFirst(k.first, G) + team.index() * G; group < k.first + k.n; group += team.count() * G)
    for (PetscInt cell = HopsMax(group, k.first); cell < HopsMin(group + G, k.first + k.n); cell++) {
      const int    *restr = k.restr + (size_t)cell * nn;
      const double *geom  = k.geom + HopsLanesCell(G, cell, HopsGeometrySize(HOPS_GEOMETRY_AFFINE, dim));

      for (int i = team.lane(); i < nn; i += team.size())
        HopsMeetAdd<Team>(k.copies, y, yg, k.nT, restr[i], k.padded == k.restr, HopsH1DiagonalEntry(dim, P, s, geom, G, i));
    }
  team.Sync();
}

/* w detJ J^-1 kappa J^-T and w detJ c at a point */
template <int DIM, class Team> HOPS_LANES_CALLED void HopsH1PointData(const HopsSetUpArgs &s, int c, int q, const double J[9])
{
  const int    nq = HopsLanesPower(s.Q, DIM);
  double       A[9];
  const double w   = HopsLanesWeight(DIM, s.Q, s.w, q);
  const double det = Adjugate(DIM, J, A);
  double      *out = s.qdata + HopsLanesCell(Team::group, s.first + c, s.ncomp * nq) + (size_t)q * Team::group;

  if (!(det > 0)) Team::Least(s.bad, c);
  if (s.knc)
    out = WeightedCongruence<DIM>(A, s.knc, s.kappa + (size_t)c * s.kcstride + (size_t)q * s.kpstride, w / det,
                                  (size_t)nq * Team::group, out);
  if (s.mnc) *out = w * det * s.mass[(size_t)c * s.mcstride + (size_t)q * s.mpstride];
}

template <int DIM, class Team>
HOPS_LANES_CALLED void HopsH1SetUp(const Team &team, const HopsSetUpArgs &s, int planes, double *scratch)
{
  HopsAllJacobians<DIM>(team, s, planes, scratch, [&](int c, int q, const double J[9]) { HopsH1PointData<DIM, Team>(s, c, q, J); });
}

/* Of a cell: what recomputed geometry needs */
template <class Team> HOPS_LANES_CALLED void HopsH1SetUpCells(const HopsSetUpArgs &s, int c)
{
  const int     dim = s.dim, nx = dim << dim, nq = s.geometry == HOPS_GEOMETRY_AFFINE ? 1 : HopsLanesPower(s.Q, dim);
  const double *k = s.kappa + (size_t)c * s.kcstride;
  double        J[9], A[9], X[24], det = 0;
  const size_t  at = HopsLanesCell(Team::group, s.first + c, HopsGeometrySize(s.geometry, dim));
  double G[Team::group > 1 ? 28 : 1], *const begin = Team::group > 1 ? G : s.geom + at, *out = begin;

  LoadCorners(s, c, X);
  for (int q = 0; q < nq; q++) {
    CornerJacobian(dim, s.Q, s.z, X, q, J);
    det = Adjugate(dim, J, A);
    if (!(det > 0)) Team::Least(s.bad, c);
  }
  if (s.geometry == HOPS_GEOMETRY_MULTILINEAR) {
    MapCoefficients(dim, X, out);
    out += nx - dim;
  }
  for (int r = 0; r < dim; r++)
    for (int l = r; l < dim; l++)
      *out++ =
        !s.knc ? 0 : (s.geometry == HOPS_GEOMETRY_AFFINE ? Congruence(dim, A, s.knc, k, r, l) / det : Kappa(dim, s.knc, k, r, l));
  *out++ = s.mnc ? s.mass[(size_t)c * s.mcstride] * (s.geometry == HOPS_GEOMETRY_AFFINE ? det : 1) : 0;
  if (Team::group > 1)
    for (int i = 0; i < out - begin; i++) s.geom[at + (size_t)i * Team::group] = begin[i];
}

/* Index e of those that HopsH1Kernels' Pad() fills */
HOPS_LANES_CALLED void HopsH1Pad(int dim, int n, int P, const int *restr, int *padded, size_t e)
{
  const int  np = dim == 3 ? P * P * P : P * P, nn = dim == 3 ? n * n * n : n * n, s = (P - n) / 2;
  const int  i = (int)(e % np), x = i % P - s, y = i / P % P - s, z = dim == 3 ? i / (P * P) - s : 0;
  const bool in = x >= 0 && x < n && y >= 0 && y < n && z >= 0 && z < n;

  padded[e] = in ? restr[e / np * nn + (z * n + y) * n + x] : -1;
}
