/*
  Forms on H(curl), H(div) and L2 of any order: the operator where no fused kernel exists, the diagonal, and
  set-up. A team works on a cell; scratch lies in memory of the team's own where it fits, else in the back
  end's.
*/
#pragma once
#include "lanescontract.h"
#include "lanesderham.h"
#include "lanesjacobian.h"
#include "lanesmeet.h"
#include <hops/private/hopsderhamimpl.h>

/* The layouts of the field and of its derivative beside the arguments of the launch */
struct HopsDerhamCell {
  HopsDerhamArgs k;
  HopsLayout     l, w;
};

/* Component c at the points, and back: f, g are scratch */
template <class Team>
HOPS_LANES_CALLED void HopsDerhamEvaluate(const Team &team, const HopsDerhamArgs &k, const HopsLayout &l, int c, const double *u,
                                          double *f, double *g, double *out)
{
  const int     n[3] = {(int)l.n[c][0], (int)l.n[c][1], (int)l.n[c][2]}, Q = k.Q;
  const double *A[3] = {l.open[c][0] ? k.E : k.B, l.open[c][1] ? k.E : k.B, l.open[c][2] ? k.E : k.B};

  Contract(team, HopsLanesContraction(Q, n[0], Q), A[0], n[0], 1, n[1] * n[2], 0, u, f, false);
  if (k.dim == 2) {
    Contract(team, HopsLanesContraction(Q, n[1], Q), A[1], n[1], 1, 1, 1, f, out, false);
    return;
  }
  Contract(team, HopsLanesContraction(Q, n[1], Q), A[1], n[1], 1, n[2], 1, f, g, false);
  Contract(team, HopsLanesContraction(Q, n[2], Q), A[2], n[2], 1, 1, 2, g, out, false);
}

/* out (+)= the transposed contractions by the matrices A[d][Q][n[d]] */
template <class Team, class V>
HOPS_LANES_CALLED void HopsDerhamTranspose(const Team &team, int dim, int Q, const int n[3], const double *const A[3], const V *in,
                                           V *f, V *g, V *out, bool add)
{
  if (dim == 2) {
    Contract(team, HopsLanesContraction(n[1], Q, Q), A[1], 1, n[1], 1, 1, in, f, false);
    Contract(team, HopsLanesContraction(n[0], Q, Q), A[0], 1, n[0], n[1], 0, f, out, add);
    return;
  }
  Contract(team, HopsLanesContraction(n[2], Q, Q), A[2], 1, n[2], 1, 2, in, g, false);
  Contract(team, HopsLanesContraction(n[1], Q, Q), A[1], 1, n[1], n[2], 1, g, f, false);
  Contract(team, HopsLanesContraction(n[0], Q, Q), A[0], 1, n[0], n[1] * n[2], 0, f, out, add);
}

/* u <- sum_ab B_a^T D_ab B_b u with the tensor data d[nc][Q^dim] */
template <class Team>
HOPS_LANES_CALLED void HopsDerhamTerm(const Team &team, const HopsDerhamArgs &k, const HopsLayout &l, int nc, const double *d,
                                      double *u, double *f, double *g, double *v)
{
  const int nq = HopsLanesPower(k.Q, k.dim), m = (int)l.nc;

  for (int c = 0; c < m; c++) HopsDerhamEvaluate(team, k, l, c, u + l.off[c], f, g, v + c * nq);
  for (int q = team.lane(); q < nq; q += team.size()) {
    double in[3];

    for (int a = 0; a < m; a++) in[a] = v[a * nq + q];
    for (int a = 0; a < m; a++) {
      double s = 0;

      for (int b = 0; b < m; b++) {
        const int r = a < b ? a : b, c = a < b ? b : a;

        s += d[HopsDerhamAt<Team>(k.Q, nq, nc, r * m - r * (r + 1) / 2 + c, q)] * in[b];
      }
      v[a * nq + q] = s;
    }
  }
  team.Sync();
  for (int c = 0; c < m; c++) {
    const int           n[3] = {(int)l.n[c][0], (int)l.n[c][1], (int)l.n[c][2]};
    const double *const A[3] = {l.open[c][0] ? k.E : k.B, l.open[c][1] ? k.E : k.B, l.open[c][2] ? k.E : k.B};

    HopsDerhamTranspose(team, k.dim, k.Q, n, A, v + c * nq, f, g, u + l.off[c], false);
  }
}

/* The entry of component c at i + e_d (d < 0: at i) of a layout's array, 0 outside */
HOPS_LANES_CALLED double HopsDerhamEntry(const HopsLayout &l, const double *u, int c, const int i[3], int d, int shift)
{
  int at[3] = {i[0], i[1], i[2]};

  if (d >= 0) at[d] += shift;
  for (int x = 0; x < 3; x++)
    if (at[x] < 0 || at[x] >= (int)l.n[c][x]) return 0;
  return u[l.off[c] + at[0] + (int)l.n[c][0] * (at[1] + (int)l.n[c][1] * at[2])];
}

HOPS_LANES_CALLED int HopsDerhamPlace(const HopsLayout &l, int e, int i[3])
{
  int c = 0;

  while (e >= (int)l.off[c + 1]) c++;
  e -= (int)l.off[c];
  i[0] = e % (int)l.n[c][0];
  i[1] = e / (int)l.n[c][0] % (int)l.n[c][1];
  i[2] = e / (int)(l.n[c][0] * l.n[c][1]);
  return c;
}

/* w = C u on the lattice: (dw)_c = u_a + u_b(+a) - u_a(+b) - u_b, or the sum over directions d of u_d(+d) -
   u_d */
template <class Team>
HOPS_LANES_CALLED void HopsDerhamApplyDerivative(const Team &team, const HopsDerhamCell &s, const double *u, double *w)
{
  for (int e = team.lane(); e < (int)s.w.ne; e += team.size()) {
    int       i[3];
    const int c = HopsDerhamPlace(s.w, e, i), dim = s.k.dim;
    double    v = 0;

    if (s.k.family == HOPS_DERHAM_HCURL) {
      const int a = dim == 3 ? (c + 1) % 3 : 0, b = dim == 3 ? (c + 2) % 3 : 1;

      v = HopsDerhamEntry(s.l, u, a, i, -1, 0) + HopsDerhamEntry(s.l, u, b, i, a, 1) - HopsDerhamEntry(s.l, u, a, i, b, 1) -
          HopsDerhamEntry(s.l, u, b, i, -1, 0);
    } else {
      for (int d = 0; d < dim; d++) v += HopsDerhamEntry(s.l, u, d, i, d, 1) - HopsDerhamEntry(s.l, u, d, i, -1, 0);
    }
    w[e] = v;
  }
  team.Sync();
}

/* u (+)= C^T w */
template <class Team>
HOPS_LANES_CALLED void HopsDerhamApplyDerivativeTranspose(const Team &team, const HopsDerhamCell &s, const double *w, double *u,
                                                          bool add)
{
  for (int e = team.lane(); e < (int)s.l.ne; e += team.size()) {
    int       i[3];
    const int c = HopsDerhamPlace(s.l, e, i), dim = s.k.dim;
    double    v = add ? u[e] : 0;

    if (s.k.family != HOPS_DERHAM_HCURL) v += HopsDerhamEntry(s.w, w, 0, i, c, -1) - HopsDerhamEntry(s.w, w, 0, i, -1, 0);
    else {
      if (dim == 3 || c == 0)
        v += HopsDerhamEntry(s.w, w, dim == 3 ? (c + 2) % 3 : 0, i, -1, 0) -
             HopsDerhamEntry(s.w, w, dim == 3 ? (c + 2) % 3 : 0, i, dim == 3 ? (c + 1) % 3 : 1, -1);
      if (dim == 3 || c == 1)
        v += HopsDerhamEntry(s.w, w, dim == 3 ? (c + 1) % 3 : 0, i, dim == 3 ? (c + 2) % 3 : 0, -1) -
             HopsDerhamEntry(s.w, w, dim == 3 ? (c + 1) % 3 : 0, i, -1, 0);
    }
    u[e] = v;
  }
  team.Sync();
}

template <class Team>
HOPS_LANES_CALLED void HopsDerhamApplyGeneric(const Team &team, const HopsDerhamCell &s, double *own, const double *__restrict__ x,
                                              const double *__restrict__ xg, double *y, double *yg)
{
  const HopsDerhamArgs &k  = s.k;
  const int             ne = (int)s.l.ne, nq = HopsLanesPower(k.Q, k.dim), nm = HopsLanesPower(k.P > k.Q ? k.P : k.Q, k.dim);
  double               *e = k.work ? k.work + team.index() * k.nwork : own, *w = e + ne, *f = w + s.w.ne, *g = f + nm, *v = g + nm;

  for (PetscInt cell = k.first + team.index(); cell < k.first + k.n; cell += team.count()) {
    const int    *restr = k.restr + (size_t)cell * ne;
    const double *d     = k.qdata + HopsLanesCell(Team::group, cell, nq * (k.nd + k.nm));

    for (int i = team.lane(); i < ne; i += team.size()) {
      const int l = restr[i] < 0 ? -1 - restr[i] : restr[i];

      e[i] = (restr[i] < 0 ? -1 : 1) * (l < k.nT ? x[l] : xg[l - k.nT]);
    }
    team.Sync();
    if (k.nd) {
      HopsDerhamApplyDerivative(team, s, e, w);
      HopsDerhamTerm(team, k, s.w, k.nd, d, w, f, g, v);
    }
    if (k.nm) HopsDerhamTerm(team, k, s.l, k.nm, d + (size_t)k.nd * nq * Team::group, e, f, g, v);
    if (k.nd) HopsDerhamApplyDerivativeTranspose(team, s, w, e, k.nm > 0);
    for (int i = team.lane(); i < ne; i += team.size()) {
      const int l = restr[i] < 0 ? -1 - restr[i] : restr[i];

      Team::Add(l < k.nT ? y + l : yg + (l - k.nT), (restr[i] < 0 ? -1 : 1) * e[i]);
    }
    team.Sync();
  }
}

/* What is the same for all cells' diagonals. The directions of component c, outermost first, are turn[c]:
   that in which the terms differ most is the outermost, and contracted first. points, nodes: how many
   numbers from one to the next in each direction, in that order of them */
struct HopsDerhamSquares {
  HopsDerhamCell       s;
  HopsLanesContraction down[2]; /* to the nodes of closed and of open directions */
  HopsLanesQuotient    byQ, by[2];
  int                  turn[3][3], points[3][3], nodes[3][3];

  explicit HopsDerhamSquares(const HopsDerhamCell &cell)
      : s(cell), down{HopsLanesContraction(cell.k.P, cell.k.Q, cell.k.Q), HopsLanesContraction(cell.k.P - 1, cell.k.Q, cell.k.Q)},
        byQ(cell.k.Q), by{HopsLanesQuotient(cell.k.P), HopsLanesQuotient(cell.k.P - 1)}, turn{}, points{}, nodes{}
  {
    for (int c = 0; c < (int)s.l.nc; c++)
      for (int i = 0, m = 1, n = 1; i < s.k.dim; i++) {
        const int x = (i + c + (s.k.family == HOPS_DERHAM_HDIV ? 1 : 0)) % s.k.dim;

        turn[c][s.k.dim - 1 - i] = x;
        points[c][x]             = m;
        nodes[c][x]              = n;
        m *= s.k.Q;
        n *= (int)s.l.n[c][x];
      }
  }
};

/* Number i of a lattice, whose first two directions have by0 and by1 numbers, in another order of directions:
   `to` has how many numbers lie from one to the next */
HOPS_LANES int HopsDerhamTurned(const int to[], const HopsLanesQuotient &by0, const HopsLanesQuotient &by1, int i)
{
  int x, y, z;

  if (to[0] == 1) return i; /* orders are cyclic: the same one */
  z = by1(by0(i, &x), &y);
  return x * to[0] + y * to[1] + z * to[2];
}

/* f(i, turned) for the lanes' numbers i < n of a lattice */
template <class Team, class F>
HOPS_LANES void HopsDerhamEachTurned(const Team &team, const int to[], const HopsLanesQuotient &by0, const HopsLanesQuotient &by1,
                                     int n, const F &f)
{
  if constexpr (Team::group > 1) {
    for (int z = 0, i = 0; i < n; z++)
      for (int y = 0; y < (int)by1.n && i < n; y++)
        for (int x = 0; x < (int)by0.n; x++, i++) f(i, x * to[0] + y * to[1] + z * to[2]);
  } else
    for (int i = team.lane(); i < n; i += team.size()) f(i, HopsDerhamTurned(to, by0, by1, i));
}

/*
  A term of component c's entries: e_i (+)= a sum_q d_q prod_x f_x(q). f, by two bits of `kinds` for each
  direction: the square of the function (0), of its derivative (1), or their product (2). d: one of the nd
  numbers of a point. With the terms before and after it has the functions of so many innermost directions in
  common, or of none: what is contracted in the others is added up, and goes on once.
*/
template <class Team>
HOPS_LANES_CALLED void HopsDerhamDiagonalTerm(const Team &team, const HopsDerhamSquares &t, int c, int kinds, int before, int after,
                                              double a, const double *d, int nd, typename Team::Value *e, typename Team::Value *f,
                                              typename Team::Value *g, typename Team::Value *v)
{
  typedef typename Team::Value V;
  const HopsDerhamArgs        &k   = t.s.k;
  const int                    dim = k.dim, nq = HopsLanesPower(k.Q, dim);
  int                          outer = 1;

  HopsDerhamEachTurned(team, t.points[c], t.byQ, t.byQ, nq,
                       [&](int q, int turned) { v[turned] = a * *(const V *)(d + HopsDerhamAt<Team>(k.Q, nq, nd, 0, q)); });
  team.Sync();
  for (int j = 0; j < dim - after; j++) {
    const int     x = t.turn[c][j], open = t.s.l.open[c][x] ? 1 : 0, kind = kinds >> 2 * x & 3;
    const double *A   = kind == 1 ? k.DD : (kind == 2 ? k.BD : (open ? k.EE : k.BB));
    V            *out = j == dim - 1 ? e + t.s.l.off[c] : (j == 0 ? f : g);

    Contract(team, t.down[open], A, 1, t.down[open].M, outer, dim - 1 - j, j == 0 ? v : (j == 1 ? f : g), out,
             before > 0 && j == dim - 1 - before, kind == 2 ? -1 : 1);
    outer *= t.down[open].M;
  }
}

/* The entries of component c, in the order of its directions. Of the field D_cc phi^2; of a divergence D (d_c
   phi)^2; of a curl, with component c alone, (0, d_z, -d_y) phi and cyclic: the tensor's two diagonal entries
   and the one between them */
template <class Team>
HOPS_LANES_CALLED void HopsDerhamDiagonalComponent(const Team &team, const HopsDerhamSquares &t, int c, const double *dd,
                                                   const double *dm, typename Team::Value *e, typename Team::Value *f,
                                                   typename Team::Value *g, typename Team::Value *v)
{
  const HopsDerhamArgs &k   = t.s.k;
  const int             dim = k.dim, y = (c + 1) % 3, z = (c + 2) % 3, both = k.nm ? dim - 1 : 0;
  const size_t          number = HopsDerhamAt<Team>(k.Q, HopsLanesPower(k.Q, dim), 1, 1, 0); /* to the next one of a point */
  const auto            diag   = [&](int i) { return i * (2 * dim + 1 - i) / 2 * number; };

  if (k.nm) HopsDerhamDiagonalTerm(team, t, c, 0, 0, k.nd ? dim - 1 : 0, 1, dm + diag(c), k.nm, e, f, g, v);
  if (!k.nd) return;
  if (k.family == HOPS_DERHAM_HDIV || dim == 2) {
    const int x = k.family == HOPS_DERHAM_HDIV ? c : 1 - c;

    HopsDerhamDiagonalTerm(team, t, c, 1 << 2 * x, both, 0, 1, dd, k.nd, e, f, g, v);
  } else {
    HopsDerhamDiagonalTerm(team, t, c, 1 << 2 * z, both, 1, 1, dd + diag(y), k.nd, e, f, g, v);
    HopsDerhamDiagonalTerm(team, t, c, 1 << 2 * y, 1, 1, 1, dd + diag(z), k.nd, e, f, g, v);
    HopsDerhamDiagonalTerm(team, t, c, 2 << 2 * y | 2 << 2 * z, 1, 0, -2, dd + (c == 0 ? 4 : 3 - c) * number, k.nd, e, f, g, v);
  }
}

/* A group of cells at a time; indices have marks where these are asked for */
template <class Team>
HOPS_LANES_CALLED void HopsDerhamDiagonalGeneric(const Team &team, const HopsDerhamSquares &t, double *own, double *y, double *yg)
{
  typedef typename Team::Value V;
  const HopsDerhamArgs        &k = t.s.k;
  const int     ne = (int)t.s.l.ne, nq = HopsLanesPower(k.Q, k.dim), nm = HopsLanesPower(k.P > k.Q ? k.P : k.Q, k.dim);
  constexpr int G = Team::group;
  V            *e = (V *)(k.work ? k.work + team.index() * k.nwork : own), *f = e + ne, *g = f + nm, *v = g + nm;

  for (PetscInt cell = HopsMeetFirst(k.first, G) + team.index() * G; cell < k.first + k.n; cell += team.count() * G) {
    const int    *restr = (k.marked ? k.marked : k.restr) + (size_t)cell * ne;
    const double *dd = k.qdata + HopsLanesCell(G, cell, nq * (k.nd + k.nm)), *dm = dd + (size_t)k.nd * nq * Team::group;

    for (int c = 0; c < (int)t.s.l.nc; c++) HopsDerhamDiagonalComponent(team, t, c, dd, dm, e, f, g, v);
    for (int c = 0; c < (int)t.s.l.nc; c++) {
      const int                off = (int)t.s.l.off[c];
      const HopsLanesQuotient &by0 = t.by[t.s.l.open[c][0] ? 1 : 0], &by1 = t.by[t.s.l.open[c][1] ? 1 : 0];

      for (int j = HopsMax((int)(k.first - cell), 0); j < G && cell + j < k.first + k.n; j++) {
        const int *to = restr + j * ne + off;

        HopsDerhamEachTurned(team, t.nodes[c], by0, by1, (int)t.s.l.off[c + 1] - off, [&](int i, int turned) {
          HopsMeetAdd<Team>(k.copies, y, yg, k.nT, to[i] < 0 ? -1 - to[i] : to[i], k.marked != NULL, /* squares have no sign */
                            ((const double *)(e + off + turned))[j]);
        });
      }
    }
    team.Sync();
  }
}

/* ---- Quadrature data ---- */

/* A term's values at a point in a family, A = det J^-1, `stride` apart: nc values of the coefficient k */
template <int DIM>
HOPS_LANES_CALLED void HopsDerhamFactor(int family, int nc, const double *k, double w, double det, const double J[9],
                                        const double A[9], size_t stride, double *out)
{
  double R[9];

  if (!nc) return;
  if (family == HOPS_DERHAM_L2) {
    *out = w / det * k[0];
    return;
  }
#pragma unroll
  for (int r = 0; r < DIM; r++)
#pragma unroll
    for (int c = 0; c < DIM; c++) R[r * DIM + c] = family == HOPS_DERHAM_HCURL ? A[r * DIM + c] : J[c * DIM + r];
  (void)WeightedCongruence<DIM>(R, nc, k, w / det, stride, out);
}

template <int DIM, class Team>
HOPS_LANES_CALLED void HopsDerhamPointData(int family, int derivative, const HopsSetUpArgs &s, int c, int q, const double J[9])
{
  const int    nq = HopsLanesPower(s.Q, DIM), nd = !s.knc ? 0 : (derivative == HOPS_DERHAM_L2 ? 1 : DIM * (DIM + 1) / 2);
  const size_t stride = Team::group == 1 ? nq : Team::group;
  double       A[9];
  const double w    = HopsLanesWeight(DIM, s.Q, s.w, q);
  const double det  = Adjugate(DIM, J, A);
  double      *cell = s.qdata + HopsLanesCell(Team::group, s.first + c, s.ncomp * nq);

  if (!(det > 0)) Team::Least(s.bad, c);
  HopsDerhamFactor<DIM>(derivative, s.knc, s.kappa + (size_t)c * s.kcstride + (size_t)q * s.kpstride, w, det, J, A, stride,
                        cell + HopsDerhamAt<Team>(s.Q, nq, nd, 0, q));
  HopsDerhamFactor<DIM>(family, s.mnc, s.mass + (size_t)c * s.mcstride + (size_t)q * s.mpstride, w, det, J, A, stride,
                        cell + (size_t)nd * nq * Team::group + HopsDerhamAt<Team>(s.Q, nq, s.ncomp - nd, 0, q));
}

template <int DIM, class Team>
HOPS_LANES_CALLED void HopsDerhamSetUpPoints(const Team &team, int family, int derivative, const HopsSetUpArgs &s, int planes,
                                             double *scratch)
{
  HopsAllJacobians<DIM>(team, s, planes, scratch,
                        [&](int c, int q, const double J[9]) { HopsDerhamPointData<DIM, Team>(family, derivative, s, c, q, J); });
}
