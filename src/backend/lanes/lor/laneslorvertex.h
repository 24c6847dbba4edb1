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

/* What lies `stride` apart in memory */
template <class V> HOPS_LANES V Gather(const double *p, size_t stride)
{
  if constexpr (CellsOf<V>() == 1) return *p;
  else {
    V x;

    for (int l = 0; l < CellsOf<V>(); l++) x[l] = p[l * stride];
    return x;
  }
}

/* A bit of integers where a > b */
template <class V> HOPS_LANES auto Greater(const V &a, const V &b, int bit)
{
  if constexpr (CellsOf<V>() == 1) return a > b ? 1u << bit : 0;
  else return (a > b) & (1ll << bit);
}

/* T = A kappa; kappa scalar, diagonal or symmetric (upper triangle by rows) as nc is 1, DIM or more */
template <int DIM, class V>
HOPS_LANES_CALLED void TimesKappa(int nc, const double *__restrict__ K, size_t stride, const V A[], V T[])
{
  V k[DIM * DIM];

  if (nc <= DIM) {
#pragma unroll
    for (int i = 0; i < DIM * DIM; i++) T[i] = A[i] * Gather<V>(K + (nc == 1 ? 0 : i % DIM), stride);
    return;
  }
#pragma unroll
  for (int i = 0, e = 0; i < DIM; i++)
#pragma unroll
    for (int j = i; j < DIM; j++, e++) k[i * DIM + j] = k[j * DIM + i] = Gather<V>(K + e, stride);
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

/* Vertex data of node v of cell c of the run, or of a value's cells from c on, with Jacobian J[i][a] =
   dx_i/dxi_a */
template <int DIM, class Team, class V>
HOPS_LANES_CALLED void Factors(const HopsLanesLORRun &s, int c, int v, const int ijk[], const V J[])
{
  constexpr int W = CellsOf<V>();
  /* R: the node's weight over its share of the sub-cells' volumes */
  double  m[DIM], mm = 1, R = 1;
  V       A[DIM * DIM], T[DIM * DIM], G[DIM * DIM], x[4] = {}, q[4] = {};
  const V det = Adjugate(DIM, J, A);

#pragma unroll
  for (int l = 0; l < W; l++)
    if (!(At(det, l) > 0)) Team::Least(s.bad, c + l);
#pragma unroll
  for (int a = 0; a < DIM; a++) {
    m[a] = HopsLoad(s.m + ijk[a]);
    mm *= m[a];
    R *= HopsLoad(s.r + ijk[a]);
  }
  /* the mass first: with it at the end the trilinear kernel's 64 registers were two numbers too few */
  if (s.mnc) x[3] = R * mm * det * Gather<V>(s.mass + (size_t)c * s.mcstride + (size_t)v * s.mpstride, s.mcstride);
  if (s.knc) {
    const V                    f  = R / det;
    decltype(Greater(f, f, 0)) on = {};

    TimesKappa<DIM>(s.knc, s.kappa + (size_t)c * s.kcstride + (size_t)v * s.kpstride, s.kcstride, A, T);
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
#pragma unroll
    for (int l = 0; l < W; l++) Team::OrByte(s.mask + c + l, c + l, (unsigned int)At(on, l));
  }
  if (DIM == 2 && s.mixed) x[2] = q[0];
#pragma unroll
  for (int l = 0; l < W; l++) {
    const size_t at = ((size_t)(c + l) * s.nn + v) * 4;

    HopsStorePair(s.out + at, At(x[0], l), At(x[1], l));
    HopsStorePair(s.out + at + 2, At(x[2], l), At(x[3], l));
    if (DIM == 3 && s.mixed) {
      HopsStorePair(s.pairs + at, At(q[0], l), At(q[1], l));
      HopsStorePair(s.pairs + at + 2, At(q[2], l), At(q[3], l));
    }
  }
}

/* The same of families other than H1: tensors J^-1 kappa J^-T det J of H(curl), J^T kappa J / det J of
   H(div), kappa / det J of L2 */
template <int DIM, class Team> HOPS_LANES_CALLED void Tensors(const HopsLanesLORRun &s, int c, int v, const double J[])
{
  const size_t  nn    = (size_t)s.nn;
  const int     nc[2] = {s.knc, s.mnc};
  const double *K[2]  = {s.kappa + (size_t)c * s.kcstride + (size_t)v * s.kpstride,
                         s.mass + (size_t)c * s.mcstride + (size_t)v * s.mpstride};
  double        A[9], R[DIM * DIM], T[DIM * DIM], G[DIM * DIM];
  const double  det = Adjugate(DIM, J, A);
  double       *out = s.out + (size_t)c * s.ncomp * nn + v, *mixed = out;
  unsigned int  on = 0;

  if (!(det > 0)) Team::Least(s.bad, c);
#pragma unroll
  for (int t = 0; t < 2; t++)
    if (nc[t]) mixed += nn * (s.family[t] == HOPS_L2 ? 1 : DIM);
#pragma unroll
  for (int t = 0; t < 2; t++) {
    if (!nc[t]) continue;
    if (s.family[t] == HOPS_L2) {
      *out = K[t][0] / det;
      out += nn;
      continue;
    }
#pragma unroll
    for (int a = 0; a < DIM; a++)
#pragma unroll
      for (int i = 0; i < DIM; i++) R[a * DIM + i] = s.family[t] == HOPS_HCURL ? A[a * DIM + i] : J[i * DIM + a];
    TimesKappa<DIM>(nc[t], K[t], 0, R, T);
#pragma unroll
    for (int a = 0; a < DIM; a++)
#pragma unroll
      for (int b = a; b < DIM; b++) {
        double g = 0;

#pragma unroll
        for (int i = 0; i < DIM; i++) g += T[a * DIM + i] * R[b * DIM + i];
        G[a * DIM + b] = g / det;
      }
#pragma unroll
    for (int a = 0; a < DIM; a++) {
      *out = G[a * DIM + a];
      out += nn;
    }
#pragma unroll
    for (int a = 0, bit = 0; a < DIM; a++)
#pragma unroll
      for (int b = a + 1; b < DIM; b++, bit++) {
        const double g = G[a * DIM + b];

        if (!(g * g <= s.tol * s.tol * G[a * DIM + a] * G[b * DIM + b]) && g != 0) on |= 1u << bit;
        if (s.mixed) {
          *mixed = g;
          mixed += nn;
        }
      }
  }
  Team::OrByte(s.mask + c, c, on);
}

/* Vertex data of either kind */
template <int DIM, bool LUMP, class Team, class V>
HOPS_LANES void Node(const HopsLanesLORRun &s, int c, int v, const int ijk[], const V J[])
{
  if constexpr (!LUMP) Factors<DIM, Team>(s, c, v, ijk, J);
  else if constexpr (CellsOf<V>() == 1) Tensors<DIM, Team>(s, c, v, J);
  else
    for (int l = 0; l < CellsOf<V>(); l++) {
      double one[DIM * DIM];

      for (int i = 0; i < DIM * DIM; i++) one[i] = At(J[i], l);
      Tensors<DIM, Team>(s, c + l, v, one);
    }
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
    Node<DIM, LUMP, Team>(s, c, v, ijk, J);
  }
};

/* Of n cells in values of W, the first one of value i: the last value takes cells of the one before, too, and
   both write the same */
HOPS_LANES int FirstCell(int i, int W, int n)
{
  return HopsMin(i * W, n - W);
}

/* The same for all nodes of a value's cells, where the map has two nodes in each direction */
template <int DIM, bool LUMP, class Team> struct HopsLORVertexCells {
  typedef typename Team::Value V;
  HopsLanesLORRun              s;

  HOPS_LANES void operator()(size_t g) const
  {
    const int     c = FirstCell((int)g, Team::group, (int)s.n);
    const double *X = s.X + (size_t)c * (DIM << DIM);
    V             x[DIM << DIM], J[DIM * DIM];

    for (int i = 0; i < DIM << DIM; i++) x[i] = Gather<V>(X + i, DIM << DIM);
    for (int v = 0; v < s.nn; v++) {
      const int at = HopsLoad(s.ijk + v), ijk[3] = {at & 255, at >> 8 & 255, at >> 16};

      MultilinearAt<DIM>(s, x, ijk, J);
      Node<DIM, LUMP, Team>(s, c, v, ijk, J);
    }
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
      const int cell = t / (DIM * ng), c = FirstCell(i0 + cell, W, (int)s.n), i = t % (DIM * ng);

      a[cell * S + i] = Gather<V>(s.X + (size_t)c * DIM * ng + i, DIM * ng);
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
      Node<DIM, LUMP, Team>(s, FirstCell(i0 + cell, W, (int)s.n), v, ijk, J);
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

  /* nb: values of cells of a team */
  template <int DIM, bool LUMP> static PetscErrorCode RunNodal(const HopsLanesLORRun *s, size_t one)
  {
    const int nb    = HopsLanesOf((int)PetscMax(1, PetscMin((size_t)192 / s->nn, 24576 / one)));
    const int teams = (int)((s->n + nb * Team::group - 1) / (nb * Team::group));

    if (nb * s->nn > 256) return Back::Teams("HopsLORVertex", teams, nb * one, HopsLORVertexNodal<DIM, LUMP, 256>{*s, nb});
    return Back::Teams("HopsLORVertex", teams, nb * one, HopsLORVertexNodal<DIM, LUMP, 128>{*s, nb});
  }

  template <int DIM, bool LUMP> static PetscErrorCode Run(const HopsLanesLORRun *s)
  {
    const size_t points = (size_t)s->n * s->nn, one = 2 * (size_t)DIM * s->nn * sizeof(typename Team::Value);
    size_t       most;

    PetscFunctionBegin;
    PetscCall(Back::GetOwn(&most));
    if (s->n < Team::group || s->Pg > s->P || one > most) {
      if (s->Pg == 2) PetscCall(Back::Each("HopsLORVertex", points, HopsLORVertexDirect<DIM, true, LUMP, Team>{*s}));
      else PetscCall(Back::Each("HopsLORVertex", points, HopsLORVertexDirect<DIM, false, LUMP, Team>{*s}));
    } else if (s->Pg > 2) PetscCall((RunNodal<DIM, LUMP>(s, one)));
    else if constexpr (Team::group > 1)
      PetscCall(Back::Each("HopsLORVertex", (s->n + Team::group - 1) / Team::group, HopsLORVertexCells<DIM, LUMP, Team>{*s}));
    else PetscCall(Back::Each("HopsLORVertex", points, HopsLORVertexDirect<DIM, true, LUMP, Team>{*s}));
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
