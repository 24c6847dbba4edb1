/*
  Fused operators on H(curl), H(div) and L2: gather, derivative on the lattice, interpolation, quadrature
  data, the transposes and the scatter in one launch.

  As in lanesh1.h a lane holds a line and applies even and odd halves of a one-dimensional matrix to it,
  and scratch exchanges lines between directions. A component has P - 1 entries (the edge functions) in
  the directions in which it extends, its open ones, and P in the others. The field is interpolated component
  by component for its own term; its curl or divergence, whose components are sums of entries of the field,
  for the other. All components go through a phase together, so that barriers are few: along x from the
  field's lattice to a buffer of its own, along y in place, along z in registers; there, where a lane has
  all components at its points, they meet the quadrature data, and return the same way. Values at the points
  never see scratch.

  On a device two groups of lanes may share a cell, one for each term. On a host one lane does the work of
  all, line after line, and its values are vectors of Team::group cells.

  Beside what laneslines.h says, a team has

    halves, half()     1, or 2: groups of `lanes` lanes for a cell, and which one of them this lane is in
*/
#pragma once
#include "lanesargs.h"
#include "lanesderhamargs.h"
#include "laneslines.h"

template <int P, int Q> struct HopsDerhamTables {
  static constexpr int O = P - 1;
  double               Be[((Q + 1) / 2) * ((P + 1) / 2)], Bo[(Q / 2) * (P / 2)];
  double               Ee[((Q + 1) / 2) * ((O + 1) / 2)], Eo[O > 1 ? (Q / 2) * (O / 2) : 1];
};

/* Cells first .. first + n - 1; groups are counted from cell 0 */
struct HopsDerhamCells {
  int first, n, nT;
  const int *__restrict__ restr;
  const double *__restrict__ qdata, *__restrict__ x, *__restrict__ xg;
  double         *y, *yg;
  HopsLanesCopies copies;
};

enum {
  HOPS_DERHAM_DERIV = 1,
  HOPS_DERHAM_MASS  = 2
};

/* Directions (bits) in which component c of a family extends */
HOPS_LANES_CONSTEXPR int HopsDerhamOpen(int family, int dim, int c)
{
  return family == HOPS_DERHAM_HCURL ? 1 << c : (family == HOPS_DERHAM_HDIV ? (1 << dim) - 1 - (1 << c) : (1 << dim) - 1);
}

HOPS_LANES_CONSTEXPR int HopsDerhamDerivative(int family, int dim)
{
  return family == HOPS_DERHAM_HCURL && dim == 3 ? HOPS_DERHAM_HDIV : HOPS_DERHAM_L2;
}

HOPS_LANES_CONSTEXPR int HopsDerhamComponents(int family, int dim)
{
  return family == HOPS_DERHAM_L2 ? 1 : dim;
}

/* Entries of a component in direction d */
HOPS_LANES_CONSTEXPR int HopsDerhamSize(int P, int open, int d)
{
  return open >> d & 1 ? P - 1 : P;
}

/* The field's components on a cell: rows in x of odd length, so that lines in x meet no bank conflicts */
HOPS_LANES_CONSTEXPR int HopsDerhamRow(int P, int open)
{
  return HopsDerhamSize(P, open, 0) | 1;
}

HOPS_LANES_CONSTEXPR int HopsDerhamLattice(int P, int family, int dim, int c)
{
  int n = 0;

  for (int b = 0; b < c; b++) {
    const int open = HopsDerhamOpen(family, dim, b);

    n += HopsDerhamRow(P, open) * HopsDerhamSize(P, open, 1) * (dim == 3 ? HopsDerhamSize(P, open, 2) : 1);
  }
  return n;
}

/* Buffers of the components: planes (in 2D: rows) of lines, one for each entry in the last direction */
HOPS_LANES_CONSTEXPR int HopsDerhamLayers(int P, int family, int dim, int c)
{
  int n = 0;

  for (int b = 0; b < c; b++) n += HopsDerhamSize(P, HopsDerhamOpen(family, dim, b), dim - 1);
  return n;
}

HOPS_LANES_CONSTEXPR int HopsDerhamLayers(int P, int family, int dim, int terms, bool all)
{
  const int d = HopsDerhamDerivative(family, dim);

  return (terms & HOPS_DERHAM_MASS ? HopsDerhamLayers(P, family, dim, HopsDerhamComponents(family, dim)) : 0) +
         (all && (terms & HOPS_DERHAM_DERIV) ? HopsDerhamLayers(P, d, dim, HopsDerhamComponents(d, dim)) : 0);
}

/* Scratch of a cell: the lattice of its nodes, and the layers behind it */
HOPS_LANES_CONSTEXPR int HopsDerhamNodes(int P, int family, int dim)
{
  return HopsDerhamLattice(P, family, dim, HopsDerhamComponents(family, dim));
}

HOPS_LANES_CONSTEXPR int HopsDerhamBuffers(int P, int Q, int family, int dim, int terms)
{
  return HopsDerhamLayers(P, family, dim, terms, true) * (dim == 3 ? Q : 1) * (Q | 1);
}

HOPS_LANES_CONSTEXPR int HopsDerhamScratch(int P, int Q, int family, int dim, int terms)
{
  return HopsDerhamNodes(P, family, dim) + HopsDerhamBuffers(P, Q, family, dim, terms);
}

HOPS_LANES_CONSTEXPR int HopsDerhamEntries(int P, int family, int dim)
{
  const int open = HopsDerhamOpen(family, dim, 0); /* components have the same number of entries */

  return HopsDerhamComponents(family, dim) * HopsDerhamSize(P, open, 0) * HopsDerhamSize(P, open, 1) *
         (dim == 3 ? HopsDerhamSize(P, open, 2) : 1);
}

/* A call for each component C < N */
#define HOPS_DERHAM_EACH(N, ...) \
  do { \
    { \
      constexpr int C = 0; \
      __VA_ARGS__; \
    } \
    if constexpr ((N) > 1) { \
      constexpr int C = 1; \
      __VA_ARGS__; \
    } \
    if constexpr ((N) > 2) { \
      constexpr int C = 2; \
      __VA_ARGS__; \
    } \
  } while (0)

/* out[Q] = A in[N], A the polynomials or (OPEN) the edge functions */
template <int P, int Q, bool OPEN, class V> HOPS_LANES void HopsDerhamUp(const HopsDerhamTables<P, Q> &tab, const V *in, V *out)
{
  if constexpr (!OPEN) HopsLine<Q, P, true, false>(tab.Be, tab.Bo, in, out);
  else if constexpr (P > 2) HopsLine<Q, P - 1, true, false>(tab.Ee, tab.Eo, in, out);
  else {
#pragma unroll
    for (int q = 0; q < Q; q++) out[q] = tab.Ee[q < Q - 1 - q ? q : Q - 1 - q] * in[0];
  }
}

/* out[N] = A^T in[Q] */
template <int P, int Q, bool OPEN, class V> HOPS_LANES void HopsDerhamDown(const HopsDerhamTables<P, Q> &tab, const V *in, V *out)
{
  if constexpr (!OPEN) HopsLine<P, Q, true, true>(tab.Be, tab.Bo, in, out);
  else if constexpr (P > 2) HopsLine<P - 1, Q, true, true>(tab.Ee, tab.Eo, in, out);
  else {
    out[0] = V{};
#pragma unroll
    for (int q = 0; q < Q; q++) out[0] += tab.Ee[q < Q - 1 - q ? q : Q - 1 - q] * in[q];
  }
}

/* A line of scratch, n entries `stride` apart, to its values at the points in place, and back */
template <int P, int Q, bool OPEN, bool DOWN, class V>
HOPS_LANES void HopsDerhamSweep(const HopsDerhamTables<P, Q> &tab, V *s, int stride)
{
  constexpr int N = OPEN ? P - 1 : P;
  V             a[N], v[Q];

  if (DOWN) {
    HopsGet<Q>(s, stride, v);
    HopsDerhamDown<P, Q, OPEN>(tab, v, a);
    HopsPut<N>(a, s, stride);
  } else {
    HopsGet<N>(s, stride, a);
    HopsDerhamUp<P, Q, OPEN>(tab, a, v);
    HopsPut<Q>(v, s, stride);
  }
}

/* Component C of a cell's E-vector to its lattice, by NT lanes; all indices first, then all values. Lanes
   that have no entry left repeat the last one: with a branch ptxas moves loads behind it */
template <int P, int FAMILY, int DIM, int C, int NT>
HOPS_LANES void HopsDerhamGather(const HopsDerhamCells &a, const int *restr, int t, double *lattice)
{
  constexpr int OPEN = HopsDerhamOpen(FAMILY, DIM, C), N0 = HopsDerhamSize(P, OPEN, 0),
                NE = HopsDerhamEntries(P, FAMILY, DIM) / HopsDerhamComponents(FAMILY, DIM), N = (NE + NT - 1) / NT;
  double *s = lattice + HopsDerhamLattice(P, FAMILY, DIM, C);
  int     k[N];
  double  v[N];

#pragma unroll
  for (int i = 0; i < N; i++) k[i] = HopsLoad(restr + C * NE + HopsMin(i * NT + t, NE - 1));
#pragma unroll
  for (int i = 0; i < N; i++) {
    const int m = k[i] >> 31, j = k[i] ^ m;

    v[i] = HopsLoad(j < a.nT ? a.x + j : a.xg + (j - a.nT));
    if (m) v[i] = -v[i];
  }
#pragma unroll
  for (int i = 0; i < N; i++) {
    const int j = HopsMin(i * NT + t, NE - 1);

    s[(j / N0) * HopsDerhamRow(P, OPEN) + j % N0] = v[i];
  }
}

/* v, or -v where m is -1 and not 0: a conversion of m, and a product, would take as long as the rest of a
   gather */
HOPS_LANES double HopsDerhamSigned(double v, int m)
{
  union {
    double             v;
    unsigned long long bits;
  } u = {v};

  u.bits ^= (unsigned long long)m << 63;
  return u.v;
}

/* The same for the cells of a group, of which some are others'; ADD: from the lattice to the unknowns. Few
   unknowns are ghosts or constrained */
template <int P, int FAMILY, int DIM, int C, bool ADD, class Team>
HOPS_LANES void HopsDerhamGroup(const HopsDerhamCells &a, int c, typename Team::Value *lattice)
{
  constexpr int OPEN = HopsDerhamOpen(FAMILY, DIM, C), N0 = HopsDerhamSize(P, OPEN, 0), ALL = HopsDerhamEntries(P, FAMILY, DIM),
                NE = ALL / HopsDerhamComponents(FAMILY, DIM);

  for (int g = 0; g < Team::group; g++) {
    const int *r  = a.restr + (size_t)(c + g) * ALL + C * NE;
    double    *s  = (double *)(lattice + HopsDerhamLattice(P, FAMILY, DIM, C)) + g;
    const bool in = c + g >= a.first && c + g < a.first + a.n;

    if (ADD && !in) continue;
    for (int row = 0; row < NE; row += N0, s += HopsDerhamRow(P, OPEN) * Team::group)
      for (int i = 0; i < N0; i++) {
        double *const v = s + i * Team::group;

        if (!in) *v = 0;
        else {
          const int k = r[row + i], m = k >> 31, n = k ^ m, copy = n & ~HOPS_LANES_MEET;

          if (ADD) {
            double *const y =
              copy != n ? (double *)a.copies.buffer + copy : (__builtin_expect(n < a.nT, 1) ? a.y + n : a.yg + (n - a.nT));

            *y += HopsDerhamSigned(*v, m);
          } else {
            const int l = copy != n ? a.copies.of[copy] : n;

            if (__builtin_expect(l < a.nT, 1)) *v = HopsDerhamSigned(a.x[l], m);
            else *v = HopsDerhamSigned(a.xg[l - a.nT], m);
          }
        }
      }
  }
}

/* The line of component C of the derivative that begins at (0, j, k): sums and differences of the field's
   entries */
template <int P, int FAMILY, int DIM, int C, class V> HOPS_LANES void HopsDerhamDifference(const V *lattice, int j, int k, V *w)
{
  constexpr int DF = HopsDerhamDerivative(FAMILY, DIM), N = HopsDerhamSize(P, HopsDerhamOpen(DF, DIM, C), 0);

  if constexpr (FAMILY == HOPS_DERHAM_HCURL) { /* w_c = u_a + u_b(+a) - u_a(+b) - u_b */
    constexpr int A = DIM == 3 ? (C + 1) % 3 : 0, B = DIM == 3 ? (C + 2) % 3 : 1, OA = HopsDerhamOpen(FAMILY, DIM, A),
                  OB = HopsDerhamOpen(FAMILY, DIM, B);
    constexpr int RA = HopsDerhamRow(P, OA), RB = HopsDerhamRow(P, OB), PA = RA * HopsDerhamSize(P, OA, 1),
                  PB = RB * HopsDerhamSize(P, OB, 1);
    constexpr int SA = B == 0 ? 1 : (B == 1 ? RA : PA), SB = A == 0 ? 1 : (A == 1 ? RB : PB);
    const V      *a = lattice + HopsDerhamLattice(P, FAMILY, DIM, A) + k * PA + j * RA,
            *b      = lattice + HopsDerhamLattice(P, FAMILY, DIM, B) + k * PB + j * RB;

#pragma unroll
    for (int i = 0; i < N; i++) w[i] = (a[i] - a[i + SA]) + (b[i + SB] - b[i]);
  } else {
#pragma unroll
    for (int d = 0; d < DIM; d++) {
      const int open = HopsDerhamOpen(FAMILY, DIM, d), row = HopsDerhamRow(P, open), plane = row * HopsDerhamSize(P, open, 1),
                shift = d == 0 ? 1 : (d == 1 ? row : plane);
      const V *a      = lattice + HopsDerhamLattice(P, FAMILY, DIM, d) + k * plane + j * row;

#pragma unroll
      for (int i = 0; i < N; i++) w[i] = (d ? w[i] : V{}) + (a[i + shift] - a[i]);
    }
  }
}

/* Its transpose, for entry (x, y, z) of component C of the field; w: the derivative's components in their
   buffers */
template <int P, int Q, int FAMILY, int DIM, int C, class V>
HOPS_LANES V HopsDerhamDifferenceTranspose(const V *w, int x, int y, int z)
{
  constexpr int O = P - 1, ROW = Q | 1, PLANE = Q * ROW, LAYER = DIM == 3 ? PLANE : ROW, DF = HopsDerhamDerivative(FAMILY, DIM);
  const int     at = z * PLANE + y * ROW + x;
  V             v  = {};

  if constexpr (FAMILY == HOPS_DERHAM_HCURL) {
    /* the components where the field's is a, and where it is b */
    constexpr int C1 = DIM == 3 ? (C + 2) % 3 : 0, C2 = DIM == 3 ? (C + 1) % 3 : 0;
    constexpr int B = DIM == 3 ? (C + 1) % 3 : 1, A = DIM == 3 ? (C + 2) % 3 : 0;
    constexpr int SB = B == 0 ? 1 : (B == 1 ? ROW : PLANE), SA = A == 0 ? 1 : (A == 1 ? ROW : PLANE);
    const int     ib = B == 0 ? x : (B == 1 ? y : z), ia = A == 0 ? x : (A == 1 ? y : z);

    if (DIM == 3 || C == 0) {
      const V *p = w + HopsDerhamLayers(P, DF, DIM, C1) * LAYER + at;

      if (ib < O) v += p[0];
      if (ib > 0) v -= p[-SB];
    }
    if (DIM == 3 || C == 1) {
      const V *p = w + HopsDerhamLayers(P, DF, DIM, C2) * LAYER + at;

      if (ia > 0) v += p[-SA];
      if (ia < O) v -= p[0];
    }
  } else {
    constexpr int S = C == 0 ? 1 : (C == 1 ? ROW : PLANE);
    const int     i = C == 0 ? x : (C == 1 ? y : z);

    if (i > 0) v += w[at - S];
    if (i < O) v -= w[at];
  }
  return v;
}

/* Entry (x, y, z) of component C of the result, from the buffers */
template <int P, int Q, int FAMILY, int DIM, int TERMS, int C, class V>
HOPS_LANES V HopsDerhamResult(const V *buffer, int x, int y, int z)
{
  constexpr int ROW = Q | 1, PLANE = Q * ROW, LAYER = DIM == 3 ? PLANE : ROW;
  V             v = {};

  if (TERMS & HOPS_DERHAM_MASS) v = buffer[HopsDerhamLayers(P, FAMILY, DIM, C) * LAYER + z * PLANE + y * ROW + x];
  if constexpr ((TERMS & HOPS_DERHAM_DERIV) != 0)
    v +=
      HopsDerhamDifferenceTranspose<P, Q, FAMILY, DIM, C>(buffer + HopsDerhamLayers(P, FAMILY, DIM, TERMS, false) * LAYER, x, y, z);
  return v;
}

/* Component C of the result to the unknowns of cell c, by the NT lanes */
template <int P, int Q, int FAMILY, int DIM, int TERMS, int C, int NT, class Team>
HOPS_LANES void HopsDerhamScatter(const HopsDerhamCells &a, const int *restr, int t, const double *buffer)
{
  constexpr int OPEN = HopsDerhamOpen(FAMILY, DIM, C), N0 = HopsDerhamSize(P, OPEN, 0), N1 = HopsDerhamSize(P, OPEN, 1),
                NE = HopsDerhamEntries(P, FAMILY, DIM) / HopsDerhamComponents(FAMILY, DIM), N = (NE + NT - 1) / NT;
  int k[N];

#pragma unroll
  for (int i = 0; i < N; i++) k[i] = i * NT + t < NE ? HopsLoad(restr + C * NE + i * NT + t) : 0;
#pragma unroll
  for (int i = 0; i < N; i++) {
    const int e = i * NT + t, x = e % N0, y = e / N0 % N1, z = e / (N0 * N1), m = k[i] >> 31, j = k[i] ^ m;

    if (e >= NE) continue;
    const double v = HopsDerhamResult<P, Q, FAMILY, DIM, TERMS, C>(buffer, x, y, z);

    Team::Add(j < a.nT ? a.y + j : a.yg + (j - a.nT), m ? -v : v);
  }
}

/* All components of a cell, or of a group's cells, to the lattice */
template <int P, int FAMILY, int DIM, class Team>
HOPS_LANES void HopsDerhamRead(const Team &team, const HopsDerhamCells &a, int c, const int *restr, typename Team::Value *lattice)
{
  constexpr int NC = HopsDerhamComponents(FAMILY, DIM);

  if constexpr (Team::group > 1) HOPS_DERHAM_EACH(NC, HopsDerhamGroup<P, FAMILY, DIM, C, false, Team>(a, c, lattice));
  else
    HOPS_DERHAM_EACH(NC, HopsDerhamGather<P, FAMILY, DIM, C, Team::halves * Team::lanes>(a, restr,
                                                                                         team.half() * Team::lanes + team.lane(),
                                                                                         lattice));
}

/* The result to the lattice: what a group adds from there */
template <int P, int Q, int FAMILY, int DIM, int TERMS, int C, class V>
HOPS_LANES void HopsDerhamCollect(const V *buffer, V *lattice)
{
  constexpr int OPEN = HopsDerhamOpen(FAMILY, DIM, C), N0 = HopsDerhamSize(P, OPEN, 0), N1 = HopsDerhamSize(P, OPEN, 1),
                N2 = DIM == 3 ? HopsDerhamSize(P, OPEN, 2) : 1, ROW = HopsDerhamRow(P, OPEN);
  V *s = lattice + HopsDerhamLattice(P, FAMILY, DIM, C);

  for (int z = 0; z < N2; z++)
    for (int y = 0; y < N1; y++)
      for (int x = 0; x < N0; x++) s[(z * N1 + y) * ROW + x] = HopsDerhamResult<P, Q, FAMILY, DIM, TERMS, C>(buffer, x, y, z);
}

/* The result from the buffers to the unknowns */
template <int P, int Q, int FAMILY, int DIM, int TERMS, class Team>
HOPS_LANES void HopsDerhamWrite(const Team &team, const HopsDerhamCells &a, int c, const int *restr, typename Team::Value *lattice,
                                const typename Team::Value *buffer)
{
  constexpr int NC = HopsDerhamComponents(FAMILY, DIM);

  if constexpr (Team::group > 1) {
    HOPS_DERHAM_EACH(NC, HopsDerhamCollect<P, Q, FAMILY, DIM, TERMS, C>(buffer, lattice));
    HOPS_DERHAM_EACH(NC, HopsDerhamGroup<P, FAMILY, DIM, C, true, Team>(a, c, lattice));
  } else
    HOPS_DERHAM_EACH(NC,
                     HopsDerhamScatter<P, Q, FAMILY, DIM, TERMS, C, Team::halves * Team::lanes, Team>(a, restr,
                                                                                                      team.half() * Team::lanes +
                                                                                                        team.lane(),
                                                                                                      buffer));
}

/* Where number i of the n of a term at point q lies among those of a cell, or of a group of cells. A device
   has [n][Q^dim], which neighbouring lanes read together; one lane alone reads line after line in the last
   direction, [Q^(dim - 1)][Q][n] */
template <class Team> HOPS_LANES size_t HopsDerhamAt(int Q, int nq, int n, int i, int q)
{
  const int lines = nq / Q;

  return Team::group == 1 ? (size_t)i * nq + q : ((size_t)(q % lines * Q + q / lines) * n + i) * Team::group;
}

/* v <- D v at a point, D symmetric with n (n + 1) / 2 values, `stride` apart */
template <int N, class V> HOPS_LANES void HopsDerhamPoint(const V *d, int stride, V &a, V &b, V &c)
{
  if (N == 1) a *= HopsLoadOnce(d);
  else if (N == 2) {
    const V d0 = HopsLoadOnce(d), d1 = HopsLoadOnce(d + stride), d2 = HopsLoadOnce(d + 2 * stride), a0 = a, b0 = b;

    a = d0 * a0 + d1 * b0;
    b = d1 * a0 + d2 * b0;
  } else {
    const V d0 = HopsLoadOnce(d), d1 = HopsLoadOnce(d + stride), d2 = HopsLoadOnce(d + 2 * stride),
            d3 = HopsLoadOnce(d + 3 * stride), d4 = HopsLoadOnce(d + 4 * stride), d5 = HopsLoadOnce(d + 5 * stride);
    const V a0 = a, b0 = b, c0 = c;

    a = d0 * a0 + d1 * b0 + d2 * c0;
    b = d1 * a0 + d3 * b0 + d4 * c0;
    c = d2 * a0 + d4 * b0 + d5 * c0;
  }
}

/* ---- The steps of a term whose components are those of FAMILY ---- */

/* along x: from the field's lattice, or (DERIV) from the differences that make up the derivative of a field
   of family FIELD */
template <int P, int Q, int FIELD, bool DERIV, int DIM, int C, class V>
HOPS_LANES void HopsDerhamFirst(const HopsDerhamTables<P, Q> &tab, [[maybe_unused]] int t, const V *lattice, V *buffer)
{
  constexpr int FAMILY = DERIV ? HopsDerhamDerivative(FIELD, DIM) : FIELD, OPEN = HopsDerhamOpen(FAMILY, DIM, C),
                N0 = HopsDerhamSize(P, OPEN, 0), N1 = HopsDerhamSize(P, OPEN, 1);
  constexpr int ROW = Q | 1, PLANE = Q * ROW;

  HOPS_EACH_LANE(t, N1 * (DIM == 3 ? HopsDerhamSize(P, OPEN, 2) : 1))
  {
    const int j = t % N1, k = t / N1;
    V         in[N0], out[Q];

    if constexpr (DERIV) HopsDerhamDifference<P, FIELD, DIM, C>(lattice, j, k, in);
    else HopsGet<N0>(lattice + HopsDerhamLattice(P, FIELD, DIM, C) + t * HopsDerhamRow(P, OPEN), 1, in);
    HopsDerhamUp<P, Q, (OPEN & 1) != 0>(tab, in, out);
    HopsPut<Q>(out, buffer + (HopsDerhamLayers(P, FAMILY, DIM, C) * (DIM == 3 ? Q : 1)) * ROW + k * PLANE + j * ROW, 1);
  }
}

/* along y in 3D */
template <int P, int Q, int FAMILY, int C, bool DOWN, class V>
HOPS_LANES void HopsDerhamSecond(const HopsDerhamTables<P, Q> &tab, [[maybe_unused]] int t, V *buffer)
{
  constexpr int OPEN = HopsDerhamOpen(FAMILY, 3, C), ROW = Q | 1, PLANE = Q * ROW;

  HOPS_EACH_LANE(t, Q * HopsDerhamSize(P, OPEN, 2))
  {
    HopsDerhamSweep<P, Q, (OPEN & 2) != 0, DOWN>(tab, buffer + (HopsDerhamLayers(P, FAMILY, 3, C) + t / Q) * PLANE + t % Q, ROW);
  }
}

/* back along x */
template <int P, int Q, int FAMILY, int DIM, int C, class V>
HOPS_LANES void HopsDerhamLast(const HopsDerhamTables<P, Q> &tab, [[maybe_unused]] int t, V *buffer)
{
  constexpr int OPEN = HopsDerhamOpen(FAMILY, DIM, C), N1 = HopsDerhamSize(P, OPEN, 1), ROW = Q | 1, PLANE = Q * ROW;

  HOPS_EACH_LANE(t, N1 * (DIM == 3 ? HopsDerhamSize(P, OPEN, 2) : 1))
  {
    HopsDerhamSweep<P, Q, (OPEN & 1) != 0, true>(tab,
                                                 buffer + (HopsDerhamLayers(P, FAMILY, DIM, C) * (DIM == 3 ? Q : 1)) * ROW +
                                                   (t / N1) * PLANE + (t % N1) * ROW,
                                                 1);
  }
}

/* along the last direction, or back */
template <int P, int Q, int FAMILY, int DIM, int C, bool DOWN, class V>
HOPS_LANES void HopsDerhamThird(const HopsDerhamTables<P, Q> &tab, V *line, V *v)
{
  constexpr int  OPEN = HopsDerhamOpen(FAMILY, DIM, C), N = HopsDerhamSize(P, OPEN, DIM - 1), LAYER = (DIM == 3 ? Q : 1) * (Q | 1);
  constexpr bool O = (OPEN >> (DIM - 1) & 1) != 0;
  V             *s = line + HopsDerhamLayers(P, FAMILY, DIM, C) * LAYER, r[N];

  if (DOWN) {
    HopsDerhamDown<P, Q, O>(tab, v, r);
    HopsPut<N>(r, s, LAYER);
  } else {
    HopsGet<N>(s, LAYER, r);
    HopsDerhamUp<P, Q, O>(tab, r, v);
  }
}

/* along the last direction and back, with the quadrature data in between */
template <class Team, int FAMILY, int DIM, int P, int Q, class V>
HOPS_LANES void HopsDerhamPoints(const HopsDerhamTables<P, Q> &tab, [[maybe_unused]] int t, V *buffer, const V *data)
{
  constexpr int NC = HopsDerhamComponents(FAMILY, DIM), LAYER = DIM == 3 ? Q * Q : Q, N = NC * (NC + 1) / 2;
  constexpr int POINT = Team::group == 1 ? LAYER : N, NUMBER = Team::group == 1 ? LAYER * Q : 1; /* see HopsDerhamAt() */

  HOPS_ALL_LANES(t, LAYER)
  {
    V       *line = buffer + (DIM == 3 ? (t / Q) * (Q | 1) + t % Q : t);
    const V *qd   = data + t * (Team::group == 1 ? 1 : Q * N);
    V        v[NC][Q], none = {};

    HOPS_DERHAM_EACH(NC, HopsDerhamThird<P, Q, FAMILY, DIM, C, false>(tab, line, v[C]));
#pragma unroll
    for (int z = 0; z < Q; z++)
      HopsDerhamPoint<NC>(qd + z * POINT, NUMBER, v[0][z], NC > 1 ? v[NC > 1 ? 1 : 0][z] : none,
                          NC > 2 ? v[NC > 2 ? 2 : 0][z] : none);
    HOPS_DERHAM_EACH(NC, HopsDerhamThird<P, Q, FAMILY, DIM, C, true>(tab, line, v[C]));
  }
}

/*
  Launch parameters: halves of a cell's lanes (two where the terms are apart), cells of a block, threads
  that should fit on a multiprocessor (which bounds the registers), whether a cell's quadrature data are
  prefetched into L2. For both terms and Q = P + 1 the best of those measured
  (docs/performance/gpu-operators.md).
*/
template <int P, int Q, int FAMILY, int TERMS> struct HopsDerhamLaunch3 {
  static constexpr bool measured = TERMS == (HOPS_DERHAM_DERIV | HOPS_DERHAM_MASS) && Q == P + 1,
                        curl     = FAMILY == HOPS_DERHAM_HCURL;
  static constexpr int halves = measured && curl && (Q == 6 || Q >= 8) ? 2 : 1, nt = Q * Q * halves;
  static constexpr int most      = measured && ((curl && Q == 6) || Q == 7 || Q >= 9) ? 256 : 128; /* threads of a block */
  static constexpr int cells     = nt > most ? 1 : most / nt,
                       threads   = !measured ? 512 : (curl ? (Q == 4 ? 640 : 512) : (Q == 3 ? 640 : (Q == 4 ? 768 : 512)));
  static constexpr int  blocks   = threads / (nt * cells) > 0 ? threads / (nt * cells) : 1;
  static constexpr bool prefetch = halves == 2;
};

/* Numbers of quadrature data of a cell: of the derivative's term, of all */
HOPS_LANES_CONSTEXPR int HopsDerhamData(int Q, int family, int dim, int terms)
{
  const int n = terms & HOPS_DERHAM_DERIV ? HopsDerhamComponents(HopsDerhamDerivative(family, dim), dim) : 0,
            m = terms & HOPS_DERHAM_MASS ? HopsDerhamComponents(family, dim) : 0;

  return (n * (n + 1) / 2 + m * (m + 1) / 2) * HopsLanesPower(Q, dim);
}

/* A term in 3D by one lane, which needs no barriers: a component goes along x and y before the next one does,
   so that it stays in the cache, which the buffers of all would not fit in */
template <class Team, int FIELD, bool DERIV, int P, int Q, class V>
HOPS_LANES void HopsDerhamOwnTerm(const HopsDerhamTables<P, Q> &tab, const V *lattice, V *buffer, const V *data)
{
  constexpr int FAMILY = DERIV ? HopsDerhamDerivative(FIELD, 3) : FIELD, NC = HopsDerhamComponents(FAMILY, 3);

  HOPS_DERHAM_EACH(NC, HopsDerhamFirst<P, Q, FIELD, DERIV, 3, C>(tab, 0, lattice, buffer);
                   HopsDerhamSecond<P, Q, FAMILY, C, false>(tab, 0, buffer));
  HopsDerhamPoints<Team, FAMILY, 3>(tab, 0, buffer, data);
  HOPS_DERHAM_EACH(NC, HopsDerhamSecond<P, Q, FAMILY, C, true>(tab, 0, buffer); HopsDerhamLast<P, Q, FAMILY, 3, C>(tab, 0, buffer));
}

/* HopsDerhamNodes() and HopsDerhamBuffers() values of this cell */
template <int FAMILY, int TERMS, class Team, int P, int Q>
HOPS_LANES void HopsDerhamApply3(const Team &team, const HopsDerhamTables<P, Q> &tab, const HopsDerhamCells &a,
                                 typename Team::Value *nodes, typename Team::Value *buffer)
{
  typedef typename Team::Value V;
  constexpr bool               DERIV = (TERMS & HOPS_DERHAM_DERIV) != 0, MASS = (TERMS & HOPS_DERHAM_MASS) != 0;
  constexpr int    DF = HopsDerhamDerivative(FAMILY, 3), NC = HopsDerhamComponents(FAMILY, 3), ND = HopsDerhamComponents(DF, 3);
  constexpr int    DATA = HopsDerhamData(Q, FAMILY, 3, TERMS & HOPS_DERHAM_DERIV), ALL = HopsDerhamData(Q, FAMILY, 3, TERMS);
  const int        t = team.lane(), cell = team.cell(a.first), c = HopsLanesClip<Team>(a, cell);
  const int *const restr   = a.restr + (size_t)c * HopsDerhamEntries(P, FAMILY, 3);
  const V *const   qd      = HopsLanesData<Team>(a.qdata, c, ALL);
  V *const         dbuffer = buffer + HopsDerhamLayers(P, FAMILY, 3, TERMS, false) * Q * (Q | 1);
  const bool       first = MASS && team.half() == 0, second = DERIV && team.half() == Team::halves - 1;

  HopsDerhamRead<P, FAMILY, 3>(team, a, c, restr, nodes);
  if constexpr (Team::group > 1) {
    if constexpr (MASS) HopsDerhamOwnTerm<Team, FAMILY, false>(tab, nodes, buffer, qd + DATA);
    if constexpr (DERIV) HopsDerhamOwnTerm<Team, FAMILY, true>(tab, nodes, dbuffer, qd);
    HopsDerhamWrite<P, Q, FAMILY, 3, TERMS>(team, a, c, restr, nodes, buffer);
    return;
  }
  team.Sync();
  if (first) HOPS_DERHAM_EACH(NC, HopsDerhamFirst<P, Q, FAMILY, false, 3, C>(tab, t, nodes, buffer));
  if constexpr (DERIV) {
    if (second) HOPS_DERHAM_EACH(ND, HopsDerhamFirst<P, Q, FAMILY, true, 3, C>(tab, t, nodes, dbuffer));
  }
  team.Sync();
  if (first) HOPS_DERHAM_EACH(NC, HopsDerhamSecond<P, Q, FAMILY, C, false>(tab, t, buffer));
  if (second) HOPS_DERHAM_EACH(ND, HopsDerhamSecond<P, Q, DF, C, false>(tab, t, dbuffer));
  team.Sync();
  if (first) HopsDerhamPoints<Team, FAMILY, 3>(tab, t, buffer, qd + DATA);
  if (second) HopsDerhamPoints<Team, DF, 3>(tab, t, dbuffer, qd);
  team.Sync();
  if (first) HOPS_DERHAM_EACH(NC, HopsDerhamSecond<P, Q, FAMILY, C, true>(tab, t, buffer));
  if (second) HOPS_DERHAM_EACH(ND, HopsDerhamSecond<P, Q, DF, C, true>(tab, t, dbuffer));
  team.Sync();
  if (first) HOPS_DERHAM_EACH(NC, HopsDerhamLast<P, Q, FAMILY, 3, C>(tab, t, buffer));
  if (second) HOPS_DERHAM_EACH(ND, HopsDerhamLast<P, Q, DF, 3, C>(tab, t, dbuffer));
  team.Sync();
  if (Team::group > 1 || cell < HopsLanesEnd<Team>(a)) HopsDerhamWrite<P, Q, FAMILY, 3, TERMS>(team, a, c, restr, nodes, buffer);
}

/* 2D: Q lanes for a cell */
template <int Q> struct HopsDerhamLaunch2 {
  static constexpr int cells = 64 / Q, threads = 768, blocks = threads / (Q * cells);
};

template <int FAMILY, int TERMS, class Team, int P, int Q>
HOPS_LANES void HopsDerhamApply2(const Team &team, const HopsDerhamTables<P, Q> &tab, const HopsDerhamCells &a,
                                 typename Team::Value *nodes, typename Team::Value *buffer)
{
  typedef typename Team::Value V;
  constexpr bool               DERIV = (TERMS & HOPS_DERHAM_DERIV) != 0, MASS = (TERMS & HOPS_DERHAM_MASS) != 0;
  constexpr int                NC = HopsDerhamComponents(FAMILY, 2);
  constexpr int    DATA = HopsDerhamData(Q, FAMILY, 2, TERMS & HOPS_DERHAM_DERIV), ALL = HopsDerhamData(Q, FAMILY, 2, TERMS);
  const int        t = team.lane(), cell = team.cell(a.first), c = HopsLanesClip<Team>(a, cell);
  const int *const restr   = a.restr + (size_t)c * HopsDerhamEntries(P, FAMILY, 2);
  const V *const   qd      = HopsLanesData<Team>(a.qdata, c, ALL);
  V *const         dbuffer = buffer + HopsDerhamLayers(P, FAMILY, 2, TERMS, false) * (Q | 1);

  HopsDerhamRead<P, FAMILY, 2>(team, a, c, restr, nodes);
  team.Sync();
  if (MASS) HOPS_DERHAM_EACH(NC, HopsDerhamFirst<P, Q, FAMILY, false, 2, C>(tab, t, nodes, buffer));
  if constexpr (DERIV) HopsDerhamFirst<P, Q, FAMILY, true, 2, 0>(tab, t, nodes, dbuffer);
  team.Sync();
  if (MASS) HopsDerhamPoints<Team, FAMILY, 2>(tab, t, buffer, qd + DATA);
  if (DERIV) HopsDerhamPoints<Team, HOPS_DERHAM_L2, 2>(tab, t, dbuffer, qd);
  team.Sync();
  if (MASS) HOPS_DERHAM_EACH(NC, HopsDerhamLast<P, Q, FAMILY, 2, C>(tab, t, buffer));
  if (DERIV) HopsDerhamLast<P, Q, HOPS_DERHAM_L2, 2, 0>(tab, t, dbuffer);
  team.Sync();
  if (Team::group > 1 || cell < HopsLanesEnd<Team>(a)) HopsDerhamWrite<P, Q, FAMILY, 2, TERMS>(team, a, c, restr, nodes, buffer);
}
