/*
  Fused operator in H1: gather, interpolation, quadrature data, the transposes and the scatter in one
  kernel.

  A team of Q x Q lanes (Q in 2D) works on a cell. A lane holds a line of nodes or points in registers
  and applies a one-dimensional matrix to all of it, with the matrix's entries as immediate operands
  (kernel arguments, in a constant cache); between directions the lines change places through cubes in
  the team's scratch. So a value is read from scratch once for each direction, not once for each entry of
  the matrix. Both matrices commute with the reflection of the interval (B) or anticommute with it (C,
  derivatives), so even and odd parts of a line are multiplied by half a matrix each.

  On a host one lane does the work of all, line after line, and its values are vectors of Team::group
  cells.

  Contributions of cells that meet in an unknown are summed by Team::Add().

  Fewer nodes than P: a basis of n nodes, P - n even, is one of P nodes whose outer functions on both
  sides are zero, which keeps the symmetry; their unknowns have the index -1. So P = Q and P = Q - 1
  serve every number of nodes up to Q.
*/
#pragma once
#include "lanesargs.h"
#include "laneslines.h"

/* Even and odd parts of B [Q][P] and C [Q][Q], e.g. Be[q][i] = (B[q][i] + B[q][P-1-i])/2; weights and points
   of [0,1] */
template <class real, int P, int Q> struct HopsH1Tables {
  real Be[((Q + 1) / 2) * ((P + 1) / 2)], Bo[(Q / 2) * (P / 2)];
  real Ce[(Q / 2) * ((Q + 1) / 2)], Co[((Q + 1) / 2) * (Q / 2)];
  real w[Q], z[Q];
};

/* Cells first .. first + n - 1; groups are counted from cell 0 */
template <class real> struct HopsH1Cells {
  int  first, n, nT;
  bool diffusion, mass, scalar;  /* scalar: kappa of multilinear cells is a multiple of the identity */
  const int *__restrict__ restr; /* [ncells][P^dim], -1: no unknown */
  const real *__restrict__ qdata, *__restrict__ geom, *__restrict__ x, *__restrict__ xg;
  real           *y, *yg;
  const double   *w, *z; /* of the tables, in memory */
  HopsLanesCopies copies;
};

/* Weight and point i, which the compiler does not know: from the tables where arguments may be indexed */
template <class Team, class real, int P, int Q>
HOPS_LANES real HopsH1Weight(const HopsH1Tables<real, P, Q> &tab, const HopsH1Cells<real> &a, int i)
{
  if constexpr (Team::indexed) return tab.w[i];
  else return (real)HopsLoad(a.w + i);
}

template <class Team, class real, int P, int Q>
HOPS_LANES real HopsH1Point(const HopsH1Tables<real, P, Q> &tab, const HopsH1Cells<real> &a, int i)
{
  if constexpr (Team::indexed) return tab.z[i];
  else return (real)HopsLoad(a.z + i);
}

/* E-vector of a cell from (ADD: into) the nodes' cube, rows of P|1. All indices first, then all values: their
   latencies overlap */
template <int P, int NN, bool ADD, class Team, class real>
HOPS_LANES void HopsH1Nodes(const Team &team, const HopsH1Cells<real> &a, int c, typename Team::Value *s)
{
  constexpr int NT = Team::lanes, N = (NN + NT - 1) / NT;
  const int     t = team.lane(), *r = a.restr + (size_t)c * NN;
  int           k[N];

#pragma unroll
  for (int i = 0; i < N; i++) k[i] = i * NT + t < NN ? HopsLoad(r + i * NT + t) : -1;
  if constexpr (ADD) {
#pragma unroll
    for (int i = 0; i < N; i++) {
      const int j = i * NT + t;

      if (k[i] >= 0) Team::Add(k[i] < a.nT ? a.y + k[i] : a.yg + (k[i] - a.nT), s[(j / P) * (P | 1) + j % P]);
    }
  } else {
    real v[N];

#pragma unroll
    for (int i = 0; i < N; i++) {
      const real *x = k[i] < a.nT ? a.x + k[i] : a.xg + (k[i] - a.nT);

      v[i] = 0;
      if (k[i] >= 0) v[i] = HopsLoad(x);
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
      const int j = i * NT + t;

      if (j < NN) s[(j / P) * (P | 1) + j % P] = v[i];
    }
  }
}

/* The same for the cells of a group, of which some are others' */
template <int P, int NN, bool ADD, class Team, class real>
HOPS_LANES void HopsH1GroupNodes(const HopsH1Cells<real> &a, int c, typename Team::Value *s)
{
  for (int g = 0; g < Team::group; g++) {
    const int *r  = a.restr + (size_t)(c + g) * NN;
    const bool in = c + g >= a.first && c + g < a.first + a.n;

    for (int j = 0; j < NN; j++) {
      const int k = in ? r[j] : -1;
      real     *v = (real *)&s[(j / P) * (P | 1) + j % P] + g;

      if (k < 0) {
        if (!ADD) *v = 0;
      } else if (ADD) {
        *(k & HOPS_LANES_MEET ? (real *)a.copies.buffer + (k & ~HOPS_LANES_MEET) : (k < a.nT ? a.y + k : a.yg + (k - a.nT))) += *v;
      } else {
        const int l = k & HOPS_LANES_MEET ? a.copies.of[k & ~HOPS_LANES_MEET] : k;

        *v = l < a.nT ? a.x[l] : a.xg[l - a.nT];
      }
    }
  }
}

/* Terms known to the compiler, since each costs registers: diffusion (where geometry is recomputed, with a
   scalar coefficient), with mass, and whatever the arguments say */
enum {
  HOPS_H1_DIFFUSION,
  HOPS_H1_BOTH,
  HOPS_H1_ANY
};

/*
  Launch parameters by points per direction, the best of those measured (docs/performance/gpu-operators.md):
  cells of a block; threads that should fit on a multiprocessor, which bounds the registers; whether the loop
  over planes of quadrature data is unrolled; whether a cell's quadrature data are prefetched into L2.
*/
template <int Q, int GEOM, int TERMS> struct HopsH1Launch3 {
  static constexpr bool stored = GEOM == HOPS_GEOMETRY_STORED, affine = GEOM == HOPS_GEOMETRY_AFFINE,
                        one = TERMS == HOPS_H1_DIFFUSION;
  static constexpr bool few =
    Q == 13 || (Q >= 9 && Q <= 12 && (affine || (stored && Q < 12))) || (Q == 6 && one && stored) || (Q >= 11 && Q != 16 && !one);
  static constexpr bool many  = one && (Q == 4 || (Q == 3 && stored) || (Q == 8 && affine));
  static constexpr int  cells = Q * Q > 64 ? 1 : 128 / (Q * Q), threads = few ? 512 : (many ? 1024 : 768);
  static constexpr int  blocks   = threads / (Q * Q * cells) > 0 ? threads / (Q * Q * cells) : 1;
  static constexpr int  unroll   = GEOM == HOPS_GEOMETRY_MULTILINEAR ? 2 : (stored && one && (Q == 12 || Q == 13) ? 1 : Q);
  static constexpr bool prefetch = stored && one && Q == 6;
};

/* The Jacobian of a multilinear cell on a line in z, by columns: A0 + z A1, B0 + z B1, C */
template <class real, class V> struct HopsColumns {
  V A0[3], A1[3], B0[3], B1[3], C[3];

  HOPS_LANES HopsColumns(const V *g, real r, real s)
  {
#pragma unroll
    for (int d = 0; d < 3; d++) {
      const V *m = g + 7 * d;

      A0[d] = m[0] + s * m[3];
      A1[d] = m[4] + s * m[6];
      B0[d] = m[1] + r * m[3];
      B1[d] = m[5] + r * m[6];
      C[d]  = m[2] + r * m[4] + s * B1[d];
    }
  }

  /* rows of the adjugate: b x c, c x a, a x b; the determinant */
  HOPS_LANES V Adjugate(real z, V p[3], V q[3], V r[3]) const
  {
    const V a0 = A0[0] + z * A1[0], a1 = A0[1] + z * A1[1], a2 = A0[2] + z * A1[2];
    const V b0 = B0[0] + z * B1[0], b1 = B0[1] + z * B1[1], b2 = B0[2] + z * B1[2];

    p[0] = b1 * C[2] - b2 * C[1];
    p[1] = b2 * C[0] - b0 * C[2];
    p[2] = b0 * C[1] - b1 * C[0];
    q[0] = C[1] * a2 - C[2] * a1;
    q[1] = C[2] * a0 - C[0] * a2;
    q[2] = C[0] * a1 - C[1] * a0;
    r[0] = a1 * b2 - a2 * b1;
    r[1] = a2 * b0 - a0 * b2;
    r[2] = a0 * b1 - a1 * b0;
    return a0 * p[0] + a1 * p[1] + a2 * p[2];
  }
};

/* On a line of Q points in z: derivatives in x (z0), y (z1) and z (u) become fluxes, and values (z2) are
   multiplied by the mass's weight. Data at the points, of this line and then `plane` apart */
template <int Q, int UNROLL, class V>
HOPS_LANES void HopsH1Stored3(const V *qd, bool diffusion, bool mass, V *z0, V *z1, V *z2, V u[Q])
{
  constexpr int Q2 = Q * Q, Q3 = Q2 * Q, PLANE = Q * (Q | 1);

  if (diffusion) {
#pragma unroll UNROLL
    for (int z = 0; z < Q; z++) {
      const V d0 = HopsLoadOnce(qd + z * Q2), d1 = HopsLoadOnce(qd + Q3 + z * Q2), d2 = HopsLoadOnce(qd + 2 * Q3 + z * Q2);
      const V d3 = HopsLoadOnce(qd + 3 * Q3 + z * Q2), d4 = HopsLoadOnce(qd + 4 * Q3 + z * Q2),
              d5 = HopsLoadOnce(qd + 5 * Q3 + z * Q2);
      const V gx = z0[z * PLANE], gy = z1[z * PLANE], gz = u[z];

      z0[z * PLANE] = d0 * gx + d1 * gy + d2 * gz;
      z1[z * PLANE] = d1 * gx + d3 * gy + d4 * gz;
      u[z]          = d2 * gx + d4 * gy + d5 * gz;
    }
  }
  if (mass) {
    qd += diffusion ? 6 * Q3 : 0;
#pragma unroll UNROLL
    for (int z = 0; z < Q; z++) z2[z * PLANE] *= HopsLoadOnce(qd + z * Q2);
  }
}

/* Of an affine cell */
template <class Team, int P, int Q, class real, class V>
HOPS_LANES void HopsH1Affine3(const HopsH1Tables<real, P, Q> &tab, const HopsH1Cells<real> &a, const V *g, int i0, int i1,
                              bool diffusion, bool mass, V *z0, V *z1, V *z2, V u[Q])
{
  constexpr int PLANE = Q * (Q | 1);
  const real    wxy   = HopsH1Weight<Team>(tab, a, i0) * HopsH1Weight<Team>(tab, a, i1);

  if (diffusion) {
    const V g0 = wxy * g[0], g1 = wxy * g[1], g2 = wxy * g[2], g3 = wxy * g[3], g4 = wxy * g[4], g5 = wxy * g[5];

#pragma unroll
    for (int z = 0; z < Q; z++) {
      const V    gx = z0[z * PLANE], gy = z1[z * PLANE], gz = u[z];
      const real w = tab.w[z];

      z0[z * PLANE] = w * (g0 * gx + g1 * gy + g2 * gz);
      z1[z * PLANE] = w * (g1 * gx + g3 * gy + g4 * gz);
      u[z]          = w * (g2 * gx + g4 * gy + g5 * gz);
    }
  }
  if (mass) {
    const V m = wxy * g[6];

#pragma unroll
    for (int z = 0; z < Q; z++) z2[z * PLANE] *= m * tab.w[z];
  }
}

/* Of a multilinear cell */
template <class Team, int UNROLL, int P, int Q, class real, class V>
HOPS_LANES void HopsH1Multilinear3(const HopsH1Tables<real, P, Q> &tab, const HopsH1Cells<real> &a, const V *g, int i0, int i1,
                                   bool diffusion, bool mass, bool scalar, V *z0, V *z1, V *z2, V u[Q])
{
  constexpr int              PLANE = Q * (Q | 1);
  const V                   *k     = g + 21;
  const real                 wxy   = HopsH1Weight<Team>(tab, a, i0) * HopsH1Weight<Team>(tab, a, i1);
  const V                    kwxy  = scalar ? wxy * k[0] : wxy + 0 * k[0];
  const HopsColumns<real, V> J(g, HopsH1Point<Team>(tab, a, i0), HopsH1Point<Team>(tab, a, i1));

#pragma unroll UNROLL
  for (int z = 0; z < Q; z++) {
    const real w = HopsH1Weight<Team>(tab, a, z);
    V          p[3], q[3], r[3];
    const V    det = J.Adjugate(HopsH1Point<Team>(tab, a, z), p, q, r);

    if (diffusion) {
      const V gx = z0[z * PLANE], gy = z1[z * PLANE], gz = u[z], f = kwxy * w * HopsInverseOf(det);
      V       h0 = f * (p[0] * gx + q[0] * gy + r[0] * gz), h1 = f * (p[1] * gx + q[1] * gy + r[1] * gz),
        h2 = f * (p[2] * gx + q[2] * gy + r[2] * gz);

      if (!scalar) {
        const V f0 = h0, f1 = h1, f2 = h2;

        h0 = k[0] * f0 + k[1] * f1 + k[2] * f2;
        h1 = k[1] * f0 + k[3] * f1 + k[4] * f2;
        h2 = k[2] * f0 + k[4] * f1 + k[5] * f2;
      }
      z0[z * PLANE] = p[0] * h0 + p[1] * h1 + p[2] * h2;
      z1[z * PLANE] = q[0] * h0 + q[1] * h1 + q[2] * h2;
      u[z]          = r[0] * h0 + r[1] * h1 + r[2] * h2;
    }
    if (mass) z2[z * PLANE] *= wxy * w * det * k[6];
  }
}

/* What a cell in 3D, and its group, need of a team's scratch: cubes of values, and geometry */
template <class Team, int Q> HOPS_LANES_CONSTEXPR int HopsH1Cubes3(bool mass)
{
  return ((mass ? 3 : 2) + (Team::lanes == 1 ? 1 : 0)) * Q * Q * (Q | 1);
}

template <int GEOM, int DIM> HOPS_LANES_CONSTEXPR int HopsH1Geometry()
{
  return GEOM == HOPS_GEOMETRY_STORED ? 0 : HopsGeometrySize(GEOM, DIM);
}

/* Values of cell c at its nodes, and its geometry; or of a group's. ADD: the values are added to the
   unknowns */
template <int GEOM, int DIM, int P, bool ADD, class Team, class real>
HOPS_LANES void HopsH1Cell(const Team &team, const HopsH1Cells<real> &a, int c, typename Team::Value *s, typename Team::Value *g)
{
  constexpr int NG = HopsH1Geometry<GEOM, DIM>(), NN = DIM == 3 ? P * P * P : P * P;

  if constexpr (Team::group > 1) HopsH1GroupNodes<P, NN, ADD, Team>(a, c, s);
  else HopsH1Nodes<P, NN, ADD>(team, a, c, s);
  if constexpr (!ADD) {
    const typename Team::Value *from = HopsLanesData<Team>(a.geom, c, NG);

    /* A loop, also of no trip: without it ptxas moves what follows, and some kernels take up to 10% longer */
    for (int i = team.lane(); i < NG; i += Team::lanes) g[i] = HopsLoad(from + i);
  }
}

/* Where the line of lane t in x, y or z begins in a cube of Q^3 values */
template <int Q> HOPS_LANES int HopsLineX(int t)
{
  return t / Q * (Q * (Q | 1)) + t % Q * (Q | 1);
}

template <int Q> HOPS_LANES int HopsLineY(int t)
{
  return t / Q * (Q * (Q | 1)) + t % Q;
}

template <int Q> HOPS_LANES int HopsLineZ(int t)
{
  return t / Q * (Q | 1) + t % Q;
}

/* The same in the cubes at s, one after the other. A device's lane computes them once, at the beginning */
template <class Team, int Q> struct HopsH1Lines3 {
  typedef typename Team::Value V;
  static constexpr int         CUBE = Q * Q * (Q | 1);
  V *const s, *const x, *const y, *const z;

  HOPS_LANES    HopsH1Lines3(V *at, int t) : s(at), x(s + HopsLineX<Q>(t)), y(s + HopsLineY<Q>(t)), z(s + HopsLineZ<Q>(t)) {}
  HOPS_LANES V *X(int t) const
  {
    return Team::lanes == 1 ? s + HopsLineX<Q>(t) : x;
  }
  HOPS_LANES V *Y(int t, int cube) const
  {
    return (Team::lanes == 1 ? s + HopsLineY<Q>(t) : y) + cube * CUBE;
  }
  HOPS_LANES V *Z(int t, int cube) const
  {
    return (Team::lanes == 1 ? s + HopsLineZ<Q>(t) : z) + cube * CUBE;
  }
};

/* mem: cubes of this cell; g: its geometry */
template <int GEOM, int TERMS, int UNROLL, class Team, class real, int P, int Q>
HOPS_LANES void HopsH1Apply3(const Team &team, const HopsH1Tables<real, P, Q> &tab, const HopsH1Cells<real> &a,
                             typename Team::Value *mem, typename Team::Value *g)
{
  typedef typename Team::Value V;
  /* odd rows: lines in x meet no bank conflicts */
  constexpr int Q2 = Q * Q, Q3 = Q2 * Q, ROW = Q | 1, PLANE = Q * ROW, CUBE = Q * PLANE;
  const bool    any = TERMS == HOPS_H1_ANY, diffusion = !any || a.diffusion, mass = any ? a.mass : TERMS == HOPS_H1_BOTH,
             scalar = !any || a.scalar;
  const int cell = team.cell(a.first), c = HopsLanesClip<Team>(a, cell), nc = (diffusion ? 6 : 0) + (mass ? 1 : 0);
  const int t = team.lane(); /* one lane counts itself, below */
  const HopsH1Lines3<Team, Q> at(mem, t);
  V *const s0 = mem, *const s1 = s0 + CUBE;
  /* derivatives in z, and their fluxes; the fluxes' transposed derivatives, which may take their place */
  typename Team::template Lines<Q> u(mem + (mass ? 3 : 2) * CUBE), w(mem + (mass ? 3 : 2) * CUBE);

  HopsH1Cell<GEOM, 3, P, false>(team, a, c, s0, g);
  team.Sync();
  HOPS_EACH_LANE(t, P * P)
  {
    HopsSweep<Q, P, true, false>(tab.Be, tab.Bo, s0 + t * (P | 1), 1, s1 + (t / P) * PLANE + (t % P) * ROW, 1);
  }
  team.Sync();
  HOPS_EACH_LANE(t, P * Q)
  {
    HopsSweep<Q, P, true, false>(tab.Be, tab.Bo, at.Y(t, 1), ROW, at.Y(t, 0), ROW);
  }
  team.Sync();
  HOPS_ALL_LANES(t, Q2)
  {
    V r[P], v[Q];

    HopsGet<P>(at.Z(t, 0), PLANE, r);
    HopsLine<Q, P, true, false>(tab.Be, tab.Bo, r, v);
    if (mass) HopsPut<Q>(v, at.Z(t, 2), PLANE);
    if (diffusion) {
      HopsPut<Q>(v, at.Z(t, 0), PLANE);
      HopsLine<Q, Q, false, false>(tab.Ce, tab.Co, v, u[t]);
    }
  }
  if (diffusion) { /* s1: derivatives in y; s0: in x, in place of the values */
    team.Sync();
    HOPS_ALL_LANES(t, Q2)
    {
      HopsSweep<Q, Q, false, false>(tab.Ce, tab.Co, at.Y(t, 0), ROW, at.Y(t, 1), ROW);
    }
    if constexpr (Team::lanes == 1) {
      HOPS_ALL_LANES(t, Q2)
      {
        HopsSweep<Q, Q, false, false>(tab.Ce, tab.Co, at.X(t), 1, at.X(t), 1);
      }
    } else {
      V r[Q], v[Q];

      HopsGet<Q>(at.X(t), 1, r);
      HopsLine<Q, Q, false, false>(tab.Ce, tab.Co, r, v);
      team.Sync();
      HopsPut<Q>(v, at.X(t), 1);
      team.Sync();
    }
  }
  HOPS_ALL_LANES(t, Q2)
  {
    V *const z0 = at.Z(t, 0), *const z1 = at.Z(t, 1), *const z2 = at.Z(t, 2);

    if constexpr (GEOM == HOPS_GEOMETRY_STORED)
      HopsH1Stored3<Q, UNROLL>(HopsLanesData<Team>(a.qdata, c, nc * Q3) + t, diffusion, mass, z0, z1, z2, u[t]);
    else if constexpr (GEOM == HOPS_GEOMETRY_AFFINE)
      HopsH1Affine3<Team>(tab, a, g, t % Q, t / Q, diffusion, mass, z0, z1, z2, u[t]);
    else HopsH1Multilinear3<Team, UNROLL>(tab, a, g, t % Q, t / Q, diffusion, mass, scalar, z0, z1, z2, u[t]);
  }
  if (diffusion) {
    team.Sync();
    HOPS_ALL_LANES(t, Q2)
    {
      V v[Q];

      HopsSweep<Q, Q, false, true>(tab.Ce, tab.Co, at.X(t), 1, at.X(t), 1);
      HopsSweep<Q, Q, false, true>(tab.Ce, tab.Co, at.Y(t, 1), ROW, at.Y(t, 1), ROW);
      HopsLine<Q, Q, false, true>(tab.Ce, tab.Co, u[t], v);
      HopsPut<Q>(v, w[t], 1);
    }
    team.Sync();
  }
  HOPS_ALL_LANES(t, Q2)
  {
    const V *const z0 = at.Z(t, 0), *const z1 = at.Z(t, 1), *const z2 = at.Z(t, 2);
    V v[Q], r[P];

#pragma unroll
    for (int i = 0; i < Q; i++) {
      if (diffusion) v[i] = w[t][i] + (z0[i * PLANE] + z1[i * PLANE]);
      if (mass) v[i] = diffusion ? v[i] + z2[i * PLANE] : z2[i * PLANE];
    }
    HopsLine<P, Q, true, true>(tab.Be, tab.Bo, v, r);
    HopsPut<P>(r, at.Z(t, 0), PLANE);
  }
  team.Sync();
  HOPS_EACH_LANE(t, P * Q)
  {
    HopsSweep<P, Q, true, true>(tab.Be, tab.Bo, at.Y(t, 0), ROW, at.Y(t, 1), ROW);
  }
  team.Sync();
  HOPS_EACH_LANE(t, P * P)
  {
    HopsSweep<P, Q, true, true>(tab.Be, tab.Bo, s1 + (t / P) * PLANE + (t % P) * ROW, 1, s0 + t * (P | 1), 1);
  }
  team.Sync();
  if (Team::group > 1 || cell < HopsLanesEnd<Team>(a)) HopsH1Cell<GEOM, 3, P, true>(team, a, c, s0, g);
}

/* 2D: Q threads for a cell, each with a line; measured */
template <int Q> struct HopsH1Launch2 {
  static constexpr int cells   = Q == 4 || Q >= 13 ? 128 / Q : 64 / Q;
  static constexpr int threads = Q <= 2 ? 1536 : (Q >= 11 || Q == 3 ? 512 : (Q <= 7 ? 1024 : 768));
  static constexpr int blocks  = threads / (Q * cells);
};

/* On a line of Q points in y of a cell in 2D: derivatives in x (y0) and y (u) become fluxes, and values (y1)
   are multiplied by the mass's weight */
template <class Team, int GEOM, int P, int Q, class real, class V>
HOPS_LANES void HopsH1Points2(const HopsH1Tables<real, P, Q> &tab, const HopsH1Cells<real> &a, const V *qd, const V *g, int t,
                              bool diffusion, bool mass, bool scalar, V *y0, V *y1, V u[Q])
{
  constexpr int Q2 = Q * Q, ROW = Q | 1;

  if constexpr (GEOM == HOPS_GEOMETRY_STORED) {
    if (diffusion) {
#pragma unroll
      for (int y = 0; y < Q; y++) {
        const V d0 = HopsLoadOnce(qd + y * Q), d1 = HopsLoadOnce(qd + Q2 + y * Q), d2 = HopsLoadOnce(qd + 2 * Q2 + y * Q),
                gx = y0[y * ROW], gy = u[y];

        y0[y * ROW] = d0 * gx + d1 * gy;
        u[y]        = d1 * gx + d2 * gy;
      }
    }
    if (mass) {
      qd += diffusion ? 3 * Q2 : 0;
#pragma unroll
      for (int y = 0; y < Q; y++) y1[y * ROW] *= HopsLoadOnce(qd + y * Q);
    }
  } else if constexpr (GEOM == HOPS_GEOMETRY_AFFINE) {
    const real wt = HopsH1Weight<Team>(tab, a, t);

#pragma unroll
    for (int y = 0; y < Q; y++) {
      const real w = wt * tab.w[y];

      if (diffusion) {
        const V gx = w * y0[y * ROW], gy = w * u[y];

        y0[y * ROW] = g[0] * gx + g[1] * gy;
        u[y]        = g[1] * gx + g[2] * gy;
      }
      if (mass) y1[y * ROW] *= w * g[3];
    }
  } else {
    const V   *k = g + 6;
    const real r = HopsH1Point<Team>(tab, a, t), wt = HopsH1Weight<Team>(tab, a, t);
    const V    A0 = g[0], A1 = g[2], B0 = g[3], B1 = g[5], C = g[1] + r * A1, D = g[4] + r * B1;

#pragma unroll
    for (int y = 0; y < Q; y++) { /* Jacobian (A C; B D), adjugate (D -C; -B A) */
      const V    A = A0 + tab.z[y] * A1, B = B0 + tab.z[y] * B1, det = A * D - B * C;
      const real w = wt * tab.w[y];

      if (diffusion) {
        const V gx = y0[y * ROW], gy = u[y], f = w * HopsInverseOf(det), f0 = f * (D * gx - B * gy), f1 = f * (A * gy - C * gx);
        const V h0 = scalar ? k[0] * f0 : k[0] * f0 + k[1] * f1, h1 = scalar ? k[0] * f1 : k[1] * f0 + k[2] * f1;

        y0[y * ROW] = D * h0 - C * h1;
        u[y]        = A * h1 - B * h0;
      }
      if (mass) y1[y * ROW] *= w * det * k[3];
    }
  }
}

/* mem: two squares of this cell, and one more where one lane does all; g: its geometry */
template <int GEOM, class Team, class real, int P, int Q>
HOPS_LANES void HopsH1Apply2(const Team &team, const HopsH1Tables<real, P, Q> &tab, const HopsH1Cells<real> &a,
                             typename Team::Value *mem, typename Team::Value *g)
{
  typedef typename Team::Value V;
  constexpr int                Q2 = Q * Q, ROW = Q | 1, SQUARE = Q * ROW;
  const bool                   diffusion = a.diffusion, mass = a.mass, scalar = a.scalar;
  const int                  cell = team.cell(a.first), c = HopsLanesClip<Team>(a, cell), nc = (diffusion ? 3 : 0) + (mass ? 1 : 0);
  [[maybe_unused]] const int t = team.lane(); /* one lane counts itself */
  V *const s0 = mem, *const s1 = s0 + SQUARE;
  typename Team::template Lines<Q> u(s1 + SQUARE); /* derivatives in y, and their fluxes */

  HopsH1Cell<GEOM, 2, P, false>(team, a, c, s0, g);
  team.Sync();
  HOPS_EACH_LANE(t, P)
  {
    HopsSweep<Q, P, true, false>(tab.Be, tab.Bo, s0 + t * (P | 1), 1, s1 + t * ROW, 1);
  }
  team.Sync();
  HOPS_EACH_LANE(t, Q)
  {
    V r[P], v[Q];

    HopsGet<P>(s1 + t, ROW, r);
    HopsLine<Q, P, true, false>(tab.Be, tab.Bo, r, v);
    if (mass) HopsPut<Q>(v, s1 + t, ROW);
    if (diffusion) {
      HopsPut<Q>(v, s0 + t, ROW);
      HopsLine<Q, Q, false, false>(tab.Ce, tab.Co, v, u[t]);
    }
  }
  if (diffusion) { /* s0: derivatives in x, in place of the values */
    team.Sync();
    HOPS_EACH_LANE(t, Q)
    {
      HopsSweep<Q, Q, false, false>(tab.Ce, tab.Co, s0 + t * ROW, 1, s0 + t * ROW, 1);
    }
    team.Sync();
  }
  HOPS_EACH_LANE(t, Q)
  {
    HopsH1Points2<Team, GEOM>(tab, a, GEOM == HOPS_GEOMETRY_STORED ? HopsLanesData<Team>(a.qdata, c, nc * Q2) + t : g, g, t,
                              diffusion, mass, scalar, s0 + t, s1 + t, u[t]);
  }
  if (diffusion) {
    team.Sync();
    HOPS_EACH_LANE(t, Q)
    {
      V v[Q];

      HopsSweep<Q, Q, false, true>(tab.Ce, tab.Co, s0 + t * ROW, 1, s0 + t * ROW, 1);
      HopsLine<Q, Q, false, true>(tab.Ce, tab.Co, u[t], v);
      HopsPut<Q>(v, u[t], 1);
    }
    team.Sync();
  }
  HOPS_EACH_LANE(t, Q)
  {
    V v[Q], r[P];

#pragma unroll
    for (int y = 0; y < Q; y++) {
      if (diffusion) v[y] = u[t][y] + s0[t + y * ROW];
      if (mass) v[y] = diffusion ? v[y] + s1[t + y * ROW] : s1[t + y * ROW];
    }
    HopsLine<P, Q, true, true>(tab.Be, tab.Bo, v, r);
    HopsPut<P>(r, s0 + t, ROW);
  }
  team.Sync();
  HOPS_EACH_LANE(t, P)
  {
    HopsSweep<P, Q, true, true>(tab.Be, tab.Bo, s0 + t * ROW, 1, s1 + t * (P | 1), 1);
  }
  team.Sync();
  if (Team::group > 1 || cell < HopsLanesEnd<Team>(a)) HopsH1Cell<GEOM, 2, P, true>(team, a, c, s1, g);
}
