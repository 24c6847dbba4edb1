/* Geometry factors of the low-order-refined matrix at the nodes of cells, and masks. Back is a back end's
   class: see lanes.h. */
#pragma once
#include "laneslorrow.h"
#include <backend/lanes/operator/lanesgeom.h>
#include <type_traits>

/* A value is a double, of a node, or a vector of doubles, of the same node in so many cells that follow one
   another (Team::Value) */
template <class V> HOPS_LANES_CONSTEXPR int CellsOf()
{
  return (int)(sizeof(V) / sizeof(double));
}

/* of cell l */
template <class V> HOPS_LANES auto At(const V &x, int l)
{
  if constexpr (std::is_arithmetic<V>::value) return x;
  else return x[l];
}

/* What lies `stride` apart in memory, of the cells up to lane `last`, whose number the others repeat */
template <class V> HOPS_LANES V Gather(const double *p, size_t stride, [[maybe_unused]] int last)
{
  if constexpr (CellsOf<V>() == 1) return *p;
  else {
    V x = V{} + *p;

    if (stride)
      for (int l = 1; l < CellsOf<V>(); l++) x[l] = p[HopsMin(l, last) * stride];
    return x;
  }
}

/* Numbers of a node: of one cell `group` apart in memory, or of a value's cells side by side */
template <int group, class V> HOPS_LANES void PutNumber(double *p, const V &x)
{
  if constexpr (CellsOf<V>() == 1) *p = x;
  else {
    static_assert(CellsOf<V>() == group, "cells of a value are those of a group");
    *(V *)p = x;
  }
}

/* Bits of cells c to c + last, a value's, or of one cell */
template <class Team, class V> HOPS_LANES void PutMask(unsigned char *mask, int c, int last, const V &on)
{
  if constexpr (std::is_arithmetic<V>::value) Team::OrByte(mask + c, c, (unsigned int)on);
  else {
    decltype(At(on, 0)) some = 0;

    for (int l = 0; l < Team::group; l++) some |= on[l];
    for (int l = 0; some && l <= last; l++) Team::OrByte(mask + c + l, c + l, (unsigned int)on[l]);
  }
}

/* A bit of integers where a > b */
template <class V> HOPS_LANES auto Greater(const V &a, const V &b, int bit)
{
  if constexpr (CellsOf<V>() == 1) return a > b ? 1u << bit : 0;
  else return (a > b) & (1ll << bit);
}

/* A bit of integers where not g2 <= least, though g is not 0 */
template <class V> HOPS_LANES auto Couples(const V &g2, const V &least, const V &g, int bit)
{
  if constexpr (CellsOf<V>() == 1) return !(g2 <= least) && g != 0 ? 1u << bit : 0;
  else return ~(g2 <= least) & (g != V{}) & (1ll << bit);
}

/* T = A kappa; kappa scalar, diagonal or symmetric (upper triangle by rows) as nc is 1, DIM or more */
template <int DIM, class V>
HOPS_LANES_CALLED void TimesKappa(int nc, const double *__restrict__ K, size_t stride, int last, const V A[], V T[])
{
  V k[DIM * DIM];

  if (nc <= DIM) {
#pragma unroll
    for (int i = 0; i < DIM * DIM; i++) T[i] = A[i] * Gather<V>(K + (nc == 1 ? 0 : i % DIM), stride, last);
    return;
  }
#pragma unroll
  for (int i = 0, e = 0; i < DIM; i++)
#pragma unroll
    for (int j = i; j < DIM; j++, e++) k[i * DIM + j] = k[j * DIM + i] = Gather<V>(K + e, stride, last);
#pragma unroll
  for (int r = 0; r < DIM; r++)
#pragma unroll
    for (int j = 0; j < DIM; j++) {
      V t = {};

#pragma unroll
      for (int i = 0; i < DIM; i++) t += A[r * DIM + i] * k[i * DIM + j];
      T[r * DIM + j] = t;
    }
}

#define HOPS_MASK_LARGE 3 /* bit: an off-diagonal factor of the cell is too large to drop */

/* Vertex data of node v of cell c of the run, or of a value's cells c to c + last, with Jacobian J[i][a] =
   dx_i/dxi_a */
template <int DIM, class Team, class V>
HOPS_LANES_CALLED void Factors(const HopsLanesLORRun &s, int c, int last, int v, const int ijk[], const V J[])
{
  constexpr int W = CellsOf<V>(), group = Team::group;
  /* R: the node's weight over its share of the sub-cells' volumes */
  double  m[DIM], mm = 1, R = 1;
  V       A[DIM * DIM], T[DIM * DIM], G[DIM * DIM], x[4] = {}, q[4] = {};
  const V det = Adjugate(DIM, J, A);

#pragma unroll
  for (int l = 0; l < W; l++)
    if (!(At(det, l) > 0)) Team::Least(s.bad, c + HopsMin(l, last));
#pragma unroll
  for (int a = 0; a < DIM; a++) {
    m[a] = HopsLoad(s.m + ijk[a]);
    mm *= m[a];
    R *= HopsLoad(s.r + ijk[a]);
  }
  /* the mass first: with it at the end the trilinear kernel's 64 registers were two numbers too few */
  if (s.mnc) x[3] = R * mm * det * Gather<V>(s.mass + (size_t)c * s.mcstride + (size_t)v * s.mpstride, s.mcstride, last);
  if (s.knc) {
    const V                    f  = R / det;
    decltype(Greater(f, f, 0)) on = {};

    TimesKappa<DIM>(s.knc, s.kappa + (size_t)c * s.kcstride + (size_t)v * s.kpstride, s.kcstride, last, A, T);
#pragma unroll
    for (int a = 0; a < DIM; a++)
#pragma unroll
      for (int b = a; b < DIM; b++) {
        V t = {};

#pragma unroll
        for (int i = 0; i < DIM; i++) t += T[a * DIM + i] * A[b * DIM + i];
        G[a * DIM + b] = f * t;
      }
#pragma unroll
    for (int a = 0; a < DIM; a++) {
      double w = 0.5;

#pragma unroll
      for (int b = 0; b < DIM; b++)
        if (b != a) w *= m[b];
      x[a] = G[a * DIM + a] * w;
    }
#pragma unroll
    for (int a = 0, bit = 0; a < DIM; a++)
#pragma unroll
      for (int b = a + 1; b < DIM; b++, bit++) {
        const V g = G[a * DIM + b], g2 = g * g, gg = G[a * DIM + a] * G[b * DIM + b], least = s.tol * s.tol * gg,
                large = s.droptol * s.droptol * gg;

        on |= Greater(g2, least, bit) | Greater(g2, large, HOPS_MASK_LARGE);
        q[bit] = g * (0.25 * (DIM == 3 ? m[3 - a - b] : 1));
      }
    PutMask<Team>(s.mask, c, last, on);
  }
  if (DIM == 2 && s.mixed) x[2] = q[0];
  if constexpr (group == 1) {
    const size_t at = ((size_t)c * s.nn + v) * 4;

    HopsStorePair(s.out + at, x[0], x[1]);
    HopsStorePair(s.out + at + 2, x[2], x[3]);
    if (DIM == 3 && s.mixed) {
      HopsStorePair(s.pairs + at, q[0], q[1]);
      HopsStorePair(s.pairs + at + 2, q[2], q[3]);
    }
  } else {
    const size_t at = HopsLanesCell(group, c, 4 * s.nn) + (size_t)v * 4 * group;

    for (int i = 0; i < 4; i++) PutNumber<group>(s.out + at + i * group, x[i]);
    for (int i = 0; DIM == 3 && s.mixed && i < 3; i++) PutNumber<group>(s.pairs + at + i * group, q[i]);
  }
}

/* The same of families other than H1: tensors J^-1 kappa J^-T det J of H(curl), J^T kappa J / det J of
   H(div), kappa / det J of L2 */
template <int DIM, class Team, class V>
HOPS_LANES_CALLED void Tensors(const HopsLanesLORRun &s, int c, int last, int v, const V J[])
{
  constexpr int W = CellsOf<V>(), group = Team::group;
  const size_t  nn        = (size_t)s.nn * group;
  const int     nc[2]     = {s.knc, s.mnc};
  const size_t  stride[2] = {(size_t)s.kcstride, (size_t)s.mcstride};
  const double *K[2]      = {s.kappa + (size_t)c * s.kcstride + (size_t)v * s.kpstride,
                             s.mass + (size_t)c * s.mcstride + (size_t)v * s.mpstride};
  V             A[DIM * DIM], R[DIM * DIM], T[DIM * DIM], G[DIM * DIM];
  const V       det = Adjugate(DIM, J, A);
  /* on a host `out` is the group's */
  double *out = s.out + (group == 1 ? (size_t)c * s.ncomp * s.nn : c % group) + (size_t)v * group, *mixed = out;

  decltype(Greater(det, det, 0)) on = {};

#pragma unroll
  for (int l = 0; l < W; l++)
    if (!(At(det, l) > 0)) Team::Least(s.bad, c + HopsMin(l, last));
#pragma unroll
  for (int t = 0; t < 2; t++)
    if (nc[t]) mixed += nn * (s.family[t] == HOPS_L2 ? 1 : DIM);
#pragma unroll
  for (int t = 0; t < 2; t++) {
    if (!nc[t]) continue;
    if (s.family[t] == HOPS_L2) {
      PutNumber<group>(out, Gather<V>(K[t], stride[t], last) / det);
      out += nn;
      continue;
    }
#pragma unroll
    for (int a = 0; a < DIM; a++)
#pragma unroll
      for (int i = 0; i < DIM; i++) R[a * DIM + i] = s.family[t] == HOPS_HCURL ? A[a * DIM + i] : J[i * DIM + a];
    TimesKappa<DIM>(nc[t], K[t], stride[t], last, R, T);
#pragma unroll
    for (int a = 0; a < DIM; a++)
#pragma unroll
      for (int b = a; b < DIM; b++) {
        V g = {};

#pragma unroll
        for (int i = 0; i < DIM; i++) g += T[a * DIM + i] * R[b * DIM + i];
        G[a * DIM + b] = g / det;
      }
#pragma unroll
    for (int a = 0; a < DIM; a++) {
      PutNumber<group>(out, G[a * DIM + a]);
      out += nn;
    }
#pragma unroll
    for (int a = 0, bit = 0; a < DIM; a++)
#pragma unroll
      for (int b = a + 1; b < DIM; b++, bit++) {
        const V g = G[a * DIM + b];

        on |= Couples(g * g, s.tol * s.tol * G[a * DIM + a] * G[b * DIM + b], g, bit);
        if (s.mixed) {
          PutNumber<group>(mixed, g);
          mixed += nn;
        }
      }
  }
  PutMask<Team>(s.mask, c, last, on);
}

/* Vertex data of either kind */
template <int DIM, bool LUMP, class Team, class V>
HOPS_LANES void Node(const HopsLanesLORRun &s, int c, int last, int v, const int ijk[], const V J[])
{
  if constexpr (LUMP) Tensors<DIM, Team>(s, c, last, v, J);
  else Factors<DIM, Team>(s, c, last, v, ijk, J);
}

/* J of a bi- or trilinear map, direction by direction; b, d: the two basis functions of each direction and
   their derivatives */
template <int DIM, class V> HOPS_LANES void Multilinear(const V *X, const double b[][2], const double d[][2], V J[])
{
#pragma unroll
  for (int i = 0; i < DIM; i++, X += 1 << DIM) {
    V f[2], fx[2], fy[2];

#pragma unroll
    for (int z = 0; z < DIM - 1; z++) {
      V u[2], w[2];

#pragma unroll
      for (int y = 0; y < 2; y++) {
        const V x0 = HopsLoad(X + 4 * z + 2 * y), x1 = HopsLoad(X + 4 * z + 2 * y + 1);

        u[y] = b[0][0] * x0 + b[0][1] * x1;
        w[y] = d[0][0] * x0 + d[0][1] * x1;
      }
      f[z]  = b[1][0] * u[0] + b[1][1] * u[1];
      fx[z] = b[1][0] * w[0] + b[1][1] * w[1];
      fy[z] = d[1][0] * u[0] + d[1][1] * u[1];
    }
    if (DIM == 2) {
      J[i * DIM]     = fx[0];
      J[i * DIM + 1] = fy[0];
    } else {
      J[i * DIM]     = b[2][0] * fx[0] + b[2][1] * fx[1];
      J[i * DIM + 1] = b[2][0] * fy[0] + b[2][1] * fy[1];
      J[i * DIM + 2] = d[2][0] * f[0] + d[2][1] * f[1];
    }
  }
}

template <int DIM, class V> HOPS_LANES void MultilinearAt(const HopsLanesLORRun &s, const V *X, const int ijk[], V J[])
{
  double b[DIM][2], d[DIM][2];

#pragma unroll
  for (int a = 0; a < DIM; a++)
#pragma unroll
    for (int k = 0; k < 2; k++) {
      b[a][k] = HopsLoad(s.B + ijk[a] * 2 + k);
      d[a][k] = HopsLoad(s.D + ijk[a] * 2 + k);
    }
  Multilinear<DIM>(X, b, d, J);
}

/* J by full sums over the nodes of the element map, which are few */
template <int DIM> HOPS_LANES void FullSums(const HopsLanesLORRun &s, const double *X, const int ijk[], double J[])
{
  const int Pg = s.Pg, ng = Pg * Pg * (DIM == 3 ? Pg : 1);

#pragma unroll
  for (int i = 0; i < DIM * DIM; i++) J[i] = 0;
  for (int z = 0; z < (DIM == 3 ? Pg : 1); z++) {
    const double bz = DIM == 3 ? HopsLoad(s.B + ijk[2] * Pg + z) : 1, dz = DIM == 3 ? HopsLoad(s.D + ijk[2] * Pg + z) : 0;

    for (int y = 0; y < Pg; y++) {
      const double by = HopsLoad(s.B + ijk[1] * Pg + y), dy = HopsLoad(s.D + ijk[1] * Pg + y);

      for (int x = 0; x < Pg; x++) {
        const double b = HopsLoad(s.B + ijk[0] * Pg + x), d = HopsLoad(s.D + ijk[0] * Pg + x);

#pragma unroll
        for (int i = 0; i < DIM; i++) {
          const double xi = HopsLoad(X + i * ng + (z * Pg + y) * Pg + x);

          J[i * DIM] += d * by * bz * xi;
          J[i * DIM + 1] += b * dy * bz * xi;
          if (DIM == 3) J[i * DIM + 2] += b * by * dz * xi;
        }
      }
    }
  }
}

/* A lane for each node, which computes J alone. LINEAR: the element map has two nodes in each direction */
template <int DIM, bool LINEAR, bool LUMP, class Team> struct HopsLORVertexDirect {
  static constexpr int blocks = LINEAR && !LUMP ? 8 : 4;
  HopsLanesLORRun      s;

  HOPS_LANES void operator()(size_t t) const
  {
    const int c = CellOf((int)t, s.perentry), v = (int)t - c * s.nn, at = HopsLoad(s.ijk + v); /* exact for t < 2^31 */
    const int ijk[3] = {at & 255, at >> 8 & 255, at >> 16};
    double    J[DIM * DIM];

    if (LINEAR) MultilinearAt<DIM>(s, s.X + (size_t)c * (DIM << DIM), ijk, J);
    else FullSums<DIM>(s, s.X + (size_t)c * DIM * s.Pg * s.Pg * (DIM == 3 ? s.Pg : 1), ijk, J);
    Node<DIM, LUMP, Team>(s, c, 0, v, ijk, J);
  }
  /* of group g, on a host; of cells that are not there zero */
  template <class Member> HOPS_LANES void Group(const Member &team, double *) const
  {
    const int c = team.index() * Team::group, n = HopsMin(Team::group, (int)s.n - c);

    for (int k = 0; k < s.ncomp * s.nn * Team::group && n < Team::group; k++) s.out[k] = 0;
    for (int t = 0; t < n * s.nn; t++) (*this)((size_t)c * s.nn + t);
  }
};

/*
  The same for all nodes of a value's cells, where the map has two nodes in each direction. Along x it is
  linear: of a row of nodes R has for each coordinate its value, and its derivatives along y and z, at both
  ends of the cell.
*/
template <int DIM, bool LUMP, class Team> struct HopsLORVertexCells {
  typedef typename Team::Value V;
  HopsLanesLORRun              s;

  HOPS_LANES void Row(const V x[], const int ijk[], V R[][DIM][2]) const
  {
    const double *b1 = s.B + 2 * ijk[1], *d1 = s.D + 2 * ijk[1];

    for (int i = 0; i < DIM; i++, x += 1 << DIM)
      for (int e = 0; e < 2; e++) {
        V f[2] = {}, fy[2] = {};

        for (int z = 0; z < DIM - 1; z++) {
          f[z]  = b1[0] * x[4 * z + e] + b1[1] * x[4 * z + 2 + e];
          fy[z] = d1[0] * x[4 * z + e] + d1[1] * x[4 * z + 2 + e];
        }
        if constexpr (DIM == 3) {
          const double *b2 = s.B + 2 * ijk[2], *d2 = s.D + 2 * ijk[2];

          R[i][0][e] = b2[0] * f[0] + b2[1] * f[1];
          R[i][1][e] = b2[0] * fy[0] + b2[1] * fy[1];
          R[i][2][e] = d2[0] * f[0] + d2[1] * f[1];
        } else {
          R[i][0][e] = f[0];
          R[i][1][e] = fy[0];
        }
      }
  }

  HOPS_LANES void operator()(size_t g) const
  {
    constexpr int W = Team::group;
    const int     c = (int)g * W, last = HopsMin(W, (int)s.n - c) - 1;
    const double *X = s.X + (size_t)c * (DIM << DIM);
    V             x[DIM << DIM], R[DIM][DIM][2], J[DIM * DIM];

    for (int i = 0; i < DIM << DIM; i++) x[i] = Gather<V>(X + i, DIM << DIM, last);
    for (int v = 0; v < s.nn; v++) {
      const int     at = s.ijk[v], ijk[3] = {at & 255, at >> 8 & 255, at >> 16};
      const double *b = s.B + 2 * ijk[0], *d = s.D + 2 * ijk[0];

      if (!ijk[0]) Row(x, ijk, R);
      for (int i = 0; i < DIM; i++)
        for (int a = 0; a < DIM; a++) J[i * DIM + a] = (a ? b : d)[0] * R[i][a][0] + (a ? b : d)[1] * R[i][a][1];
      Node<DIM, LUMP, Team>(s, c, last, v, ijk, J);
    }
  }
  template <class Member> HOPS_LANES void Group(const Member &team, double *) const
  {
    (*this)((size_t)team.index());
  }
};

/*
  The element map is interpolated to the nodes of the space, direction by direction, and differentiated there.
  Teams of nb values of cells; two arrays of nb * DIM * nn of them in scratch take turns. The map's order is
  at most the space's.
*/
template <int DIM, bool LUMP, int LANES> struct HopsLORVertexNodal {
  static constexpr int lanes = LANES;
  HopsLanesLORRun      s;
  int                  nb;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    typedef typename Team::Value V;
    constexpr int                T = HopsLanesOf(LANES), W = Team::group;
    const int i0 = team.index() * nb, n = HopsMin(nb, ((int)s.n + W - 1) / W - i0), P = s.P, Pg = s.Pg, nn = s.nn, S = DIM * nn;
    const int ng = Pg * Pg * (DIM == 3 ? Pg : 1);
    V        *a = (V *)scratch, *b = a + nb * S;

    for (int t = team.lane(); t < n * DIM * ng; t += T) {
      const int cell = t / (DIM * ng), c = (i0 + cell) * W, i = t % (DIM * ng);

      a[cell * S + i] = Gather<V>(s.X + (size_t)c * DIM * ng + i, DIM * ng, HopsMin(W, (int)s.n - c) - 1);
    }
    team.Sync();
    if (Pg < P) {
      int inner = 1, outer = DIM * ng / Pg; /* [outer][Pg][inner] -> [outer][P][inner] */

      for (int d = 0; d < DIM; d++) {
        const int len = outer * P * inner;

        for (int t = team.lane(); t < n * len; t += T) {
          const int cell = t / len, r = t - cell * len, i = r % inner, q = r / inner % P, o = r / (inner * P);
          const V  *src = a + cell * S + o * Pg * inner + i;
          V         v   = {};

          for (int k = 0; k < Pg; k++) v += HopsLoad(s.B + q * Pg + k) * src[k * inner];
          b[cell * S + r] = v;
        }
        team.Sync();
        V *w = a;

        a = b;
        b = w;
        inner *= P;
        outer /= Pg;
      }
    }
    for (int t = team.lane(); t < n * nn; t += T) {
      const int cell = t / nn, v = t - cell * nn, at = HopsLoad(s.ijk + v);
      const int ijk[3] = {at & 255, at >> 8 & 255, at >> 16};
      const V  *x      = a + cell * S;
      V         J[DIM * DIM];

#pragma unroll
      for (int i = 0; i < DIM * DIM; i++) J[i] = V{};
#pragma unroll
      for (int e = 0, stride = 1; e < DIM; e++, stride *= P)
        for (int k = 0; k < P; k++) {
          const double d = HopsLoad(s.C + ijk[e] * P + k);

#pragma unroll
          for (int i = 0; i < DIM; i++) J[i * DIM + e] += d * x[i * nn + v + (k - ijk[e]) * stride];
        }
      Node<DIM, LUMP, Team>(s, (i0 + cell) * W, HopsMin(W, (int)s.n - (i0 + cell) * W) - 1, v, ijk, J);
    }
  }
  template <class Team> HOPS_LANES void Group(const Team &team, double *scratch) const
  {
    (*this)(team, scratch);
  }
};

/* The tensors of a host's group of cells, which f finds in scratch, and what numbers they make up: the former
   are several times the latter, and would go to memory and come back */
template <int DIM, class F> struct HopsLumpVertex {
  static constexpr int lanes = 1;
  F                    f;

  static HOPS_LANES_CONSTEXPR size_t Data(const HopsLanesLORRun &s, int group)
  {
    return (size_t)s.ncomp * s.nn * group;
  }
  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    typedef typename Team::Value V;
    constexpr int                G     = Team::group;
    const HopsLanesLORRun       &s     = f.s;
    V                           *o     = (V *)s.numbers + (size_t)team.index() * s.nnumbers;
    const V                     *D     = (const V *)scratch;
    const int                    st[3] = {1, s.P, s.P * s.P};
    F                            mine  = f;

    mine.s.out = scratch;
    mine.Group(team, scratch + Data(s, G));
    for (int t = 0; t < s.nnumbers; t++) {
      const HopsLumpNumber x = s.number[t];
      V                    v = D[x.base];

      for (int k = 1; k < 1 << DIM && x.open; k++)
        if (!(k & ~x.open)) v += D[x.base + (k & 1) * st[0] + (k >> 1 & 1) * st[1] + (k >> 2) * st[2]];
      o[t] = x.w * v;
    }
  }
};

struct HopsLORDrop {
  unsigned char *mask;

  /* A cell drops all of its off-diagonal factors or none */
  HOPS_LANES void operator()(size_t c) const
  {
    mask[c] = mask[c] >> HOPS_MASK_LARGE & 1 ? mask[c] & ~(1 << HOPS_MASK_LARGE) : 0;
  }
};

/* ---- Masks ---- */

struct HopsLORCompare {
  const unsigned char *newmask, *mask;
  int                 *result;

  HOPS_LANES void operator()(size_t c) const
  {
    const int     a = newmask[c];
    volatile int *r = result; /* all write the same, and few need to */

    if (a & ~mask[c] && !r[0]) r[0] = 1;
    if (a && !r[1]) r[1] = 1;
  }
};

struct HopsLORMerge {
  const unsigned char *more;
  unsigned char       *mask;

  HOPS_LANES void operator()(size_t c) const
  {
    mask[c] |= more[c];
  }
};

/* ---- Launches ---- */

template <class Back> struct HopsLORVertexLaunches {
  typedef typename Back::Team Team;
  static constexpr int        G = Team::group;

  /* f of n values of cells, `each` of which a team takes, with so many bytes of scratch a value */
  template <int DIM, bool LUMP, class F> static PetscErrorCode Teams(const HopsLanesLORRun *s, int each, size_t one, const F &f)
  {
    const size_t n = (s->n + G - 1) / G;

    PetscFunctionBegin;
    if constexpr (LUMP && G > 1) {
      const size_t bytes = one + HopsLumpVertex<DIM, F>::Data(*s, G) * sizeof(double);

      PetscCheck(bytes <= Back::MostScratch(), PETSC_COMM_SELF, PETSC_ERR_SUP,
                 "Low-order-refined matrices of order %d take %g MB of scratch of a thread: use -hops_backend host", s->P - 1,
                 bytes / 1e6);
      PetscCall(Back::Teams("HopsLORVertex", (int)n, bytes, HopsLumpVertex<DIM, F>{f}));
    } else PetscCall(Back::Teams("HopsLORVertex", (int)((n + each - 1) / each), each * one, f));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* f(i), i < n; tensors on a host by groups */
  template <int DIM, bool LUMP, class F> static PetscErrorCode Each(const HopsLanesLORRun *s, size_t n, const F &f)
  {
    if constexpr (LUMP && G > 1) return Teams<DIM, LUMP>(s, 1, 0, f);
    else return Back::Each("HopsLORVertex", n, f);
  }

  template <int DIM, bool LUMP> static PetscErrorCode RunNodal(const HopsLanesLORRun *s, size_t one)
  {
    const int nb = HopsLanesOf((int)PetscMax(1, PetscMin((size_t)192 / s->nn, 24576 / one)));

    if (nb * s->nn > 256) return Teams<DIM, LUMP>(s, nb, one, HopsLORVertexNodal<DIM, LUMP, 256>{*s, nb});
    return Teams<DIM, LUMP>(s, nb, one, HopsLORVertexNodal<DIM, LUMP, 128>{*s, nb});
  }

  template <int DIM, bool LUMP> static PetscErrorCode Run(const HopsLanesLORRun *s)
  {
    const size_t points = (size_t)s->n * s->nn, one = 2 * (size_t)DIM * s->nn * sizeof(typename Team::Value);
    size_t       most;

    PetscFunctionBegin;
    PetscCall(Back::GetOwn(&most));
    if (s->Pg > s->P || one > most) {
      if (s->Pg == 2) PetscCall((Each<DIM, LUMP>(s, points, HopsLORVertexDirect<DIM, true, LUMP, Team>{*s})));
      else PetscCall((Each<DIM, LUMP>(s, points, HopsLORVertexDirect<DIM, false, LUMP, Team>{*s})));
    } else if (s->Pg > 2) PetscCall((RunNodal<DIM, LUMP>(s, one)));
    else if constexpr (G > 1) PetscCall((Each<DIM, LUMP>(s, (s->n + G - 1) / G, HopsLORVertexCells<DIM, LUMP, Team>{*s})));
    else PetscCall((Each<DIM, LUMP>(s, points, HopsLORVertexDirect<DIM, true, LUMP, Team>{*s})));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode VertexData(const HopsLanesLORRun *s)
  {
    PetscFunctionBegin;
    if (s->dim == 3 && s->lump) PetscCall((Run<3, true>(s)));
    else if (s->dim == 3) PetscCall((Run<3, false>(s)));
    else if (s->lump) PetscCall((Run<2, true>(s)));
    else PetscCall((Run<2, false>(s)));
    if (s->knc && !s->lump) PetscCall(Back::Each("HopsLORDrop", s->n, HopsLORDrop{s->mask}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Compare(PetscInt n, const unsigned char newmask[], const unsigned char mask[], int result[2])
  {
    return Back::Each("HopsLORCompare", n, HopsLORCompare{newmask, mask, result});
  }

  static PetscErrorCode Merge(PetscInt n, const unsigned char more[], unsigned char mask[])
  {
    return Back::Each("HopsLORMerge", n, HopsLORMerge{more, mask});
  }

  static void Fill(HopsLanesLORKernels *k)
  {
    k->VertexData = VertexData;
    k->Compare    = Compare;
    k->Merge      = Merge;
  }
};
