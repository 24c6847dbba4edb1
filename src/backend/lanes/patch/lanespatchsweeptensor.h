/*
  Fused sweeps of 3D cubes on tensor cores, in double precision (lanespatchtensor.h). W warps work on a patch
  and take every W-th 16 lines; a team has G patches. In each direction the modes, or
  the nodes inside, come first, then the two ends; S^T is a product of n entries, [S E] and T are of n + 2.
*/
#pragma once
#include "lanespatchsweep.h"
#include "lanespatchtensor.h"

template <int n_, int W_, int G_, int registers> struct HopsSweepTensorSizes {
  static constexpr int n = n_, N = n + 2, W = W_, G = G_, threads = 32 * W * G;
  /* lines: inside, of ends in y or z, in x and ends in z, of two faces */
  static constexpr int inner = n * n, ends = N * N - n * n, mixed = n * N, pair = 2 * N;
  static constexpr int RS = n <= 11 ? 12 : 20, PS = RS * N, FR = N <= 12 ? 12 : 20, FS = FR * N;
  static constexpr int blocks = 65536 / (registers * threads); /* of a multiprocessor: bounds the registers */
};

/* node of a place: inside first, then the ends */
template <int N> HOPS_LANES int HopsSweepNode(int place)
{
  return place < N - 2 ? place + 1 : (place == N - 2 ? 0 : N - 1);
}

/* A warp of those of a patch, and where it is. Between its steps those of a patch meet */
template <class L, class Team> struct HopsSweepWarp {
  using Dual             = HopsTensorProduct<L::n, L::n>;
  using Full             = HopsTensorProduct<L::N, L::n>;
  static constexpr int n = L::n, N = L::N, R = (n + 1) / 2 * 2, RS = L::RS, PS = L::PS, FR = L::FR, FS = L::FS, W = L::W;
  static constexpr int ns = Dual::steps, Ns = Full::steps, nt = Full::tiles, oT = n * R + n,
                       oalpha = oT + 2 * n * N; /* in values */
  static constexpr int own = (L::inner + 16 * W - 1) / (16 * W), ptiles = (L::pair + 15) / 16, faces = (3 * ptiles + W - 1) / W,
                       mixed = (L::mixed + 16 * W - 1) / (16 * W), ends = (L::ends + 16 * W - 1) / (16 * W);
  const HopsSweepArgs<double> &a;
  const HopsLanesPatchRecord  &p;
  const HopsLanesSweepRecord  &sw;
  double                      *cube, *F;
  const Team                  &team;
  int                          lane, g, t, w;
  bool                         in; /* there is such a patch */

  /* divisions without a sign leave the ranges known, and half of the branches unmade */
  HOPS_LANES HopsSweepWarp(const Team &team_, const HopsSweepArgs<double> &args, int patch, double *cube_, double *F_)
      : a(args), p(args.patches[HopsMin(patch, args.n - 1)]), sw(args.sweep[HopsMin(patch, args.n - 1)]), cube(cube_), F(F_),
        team(team_), lane((unsigned)team_.lane() % 32), g((unsigned)lane / 4), t((unsigned)lane % 4),
        w((unsigned)team_.lane() / 32 % W), in(patch < args.n)
  {
  }

  /* those of the patch alone where they are one warp */
  HOPS_LANES void Sync() const
  {
    if (W == 1) HopsLanesRowSync();
    else team.Sync();
  }

  /* in round j, if that is the last one of `lines` lines, this warp has none of them */
  HOPS_LANES bool None(int j, int lines) const
  {
    return 16 * W * (j + 1) > lines && 16 * (w + W * j) >= lines;
  }

  HOPS_LANES int Line(int j, int h) const
  {
    return 16 * (w + W * j) + g + 8 * h;
  }

  /* of this thread's entries in lines of z */
  HOPS_LANES void Unknowns(int id[own][ns][2]) const
  {
#pragma unroll
    for (int j = 0; j < own; j++)
#pragma unroll
      for (int s = 0; s < ns; s++)
#pragma unroll
        for (int h = 0; h < 2; h++)
          id[j][s][h] =
            in && Line(j, h) < L::inner && 4 * s + t < n ? a.idx[p.start + Line(j, h) + L::inner * (4 * s + t)] : a.none;
  }

  HOPS_LANES void Read(int id[own][ns][2]) const;
  HOPS_LANES void AlongY() const;
  HOPS_LANES void AlongX() const;
  HOPS_LANES void BackInY() const;
  HOPS_LANES void BackInZ(const int id[own][ns][2]) const;
};

/* What is read; to modes in z; and faces to modes in the first of their directions: 2d and 2d+1 lie across
   direction d, and have the others in ascending order */
template <class L, class Team> HOPS_LANES void HopsSweepWarp<L, Team>::Read(int id[own][ns][2]) const
{
  int    fid[faces][Ns][2];
  double x[own][ns][2], f[faces][Ns][2], y[nt][4];
  Dual   B;

  Unknowns(id);
#pragma unroll
  for (int j = 0; j < faces; j++) {
    const int tile = w + W * j, d = tile / ptiles, first = 16 * (tile - d * ptiles);

#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int l = HopsMin(first + g + 8 * h, L::pair - 1), e = l / N, other = HopsSweepNode<N>(l - e * N), end = e ? N - 1 : 0;
      const int node = sw.estart + (d == 0 ? end + N * N * other : (d == 1 ? N * (end + N * other) : N * (other + N * end)));

#pragma unroll
      for (int s = 0; s < Ns; s++)
        fid[j][s][h] = d < 3 && 4 * s + t < N ? a.eidx[node + HopsSweepNode<N>(4 * s + t) * (d == 0 ? N : 1)] : a.none;
    }
  }
  B.Get(a.packed + sw.t[2], lane);
#pragma unroll
  for (int j = 0; j < own; j++)
#pragma unroll
    for (int s = 0; s < ns; s++)
#pragma unroll
      for (int h = 0; h < 2; h++) x[j][s][h] = HopsSweepAt<double>(a, a.b, id[j][s][h]);
#pragma unroll
  for (int j = 0; j < faces; j++)
#pragma unroll
    for (int s = 0; s < Ns; s++)
#pragma unroll
      for (int h = 0; h < 2; h++) f[j][s][h] = HopsSweepAt<double>(a, (const double *)a.z, fid[j][s][h]);
#pragma unroll
  for (int j = 0; j < own; j++) {
    const int l0 = Line(j, 0), l1 = Line(j, 1);

    if (None(j, L::inner)) break;
    B.Apply(x[j], y);
    HopsTensorPut<n>(y, l0 < L::inner, l1 < L::inner, cube + l0 % n + RS * (l0 / n), cube + l1 % n + RS * (l1 / n), PS, t);
  }
#pragma unroll
  for (int j = 0; j < faces; j++) {
    const int tile = w + W * j, d = tile / ptiles, first = 16 * (tile - d * ptiles);
    Full      C;

    if (tile >= 3 * ptiles) break;
    C.Get(a.packed + sw.t[d == 0 ? 1 : 0] + Dual::size + Full::size, lane);
    C.Apply(f[j], y);
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int l   = first + g + 8 * h;
      double   *out = F + 2 * d * FS + FR * l; /* FS = FR N */

      if (l < L::pair) {
#pragma unroll
        for (int s = 0; s < Ns; s++) {
          const int i = 4 * s + t;

          if (s < ns && i < n) out[i] = y[s / 2][2 * h + s % 2];
          if (i >= n && i < N) out[i] = f[j][s][h];
        }
      }
    }
  }
}

/* To modes in y, and faces in their second direction */
template <class L, class Team> HOPS_LANES void HopsSweepWarp<L, Team>::AlongY() const
{
  double x[own][ns][2], f[faces][Ns][2], y[nt][4];
  Dual   B;
  auto   at = [&](int j, int h) {
    return cube + HopsMin(Line(j, h), L::inner - 1) % n + PS * (HopsMin(Line(j, h), L::inner - 1) / n);
  };
  auto face = [&](int j, int h) {
    const int tile = w + W * j, d = tile / ptiles, l = HopsMin(16 * (tile - d * ptiles) + g + 8 * h, L::pair - 1);

    return F + 2 * d * FS + FS * (l / N) + l % N;
  };

  B.Get(a.packed + sw.t[1], lane);
#pragma unroll
  for (int j = 0; j < own; j++) {
    if (!None(j, L::inner)) HopsTensorGet<n>(at(j, 0), at(j, 1), RS, t, x[j]);
  }
#pragma unroll
  for (int j = 0; j < faces; j++) {
    if (w + W * j < 3 * ptiles) HopsTensorGet<N>(face(j, 0), face(j, 1), FR, t, f[j]);
  }
#pragma unroll
  for (int j = 0; j < own; j++) {
    if (None(j, L::inner)) break;
    B.Apply(x[j], y);
    HopsTensorPut<n>(y, Line(j, 0) < L::inner, Line(j, 1) < L::inner, at(j, 0), at(j, 1), RS, t);
  }
#pragma unroll
  for (int j = 0; j < faces; j++) {
    const int tile = w + W * j, d = tile / ptiles, l = 16 * (tile - d * ptiles) + g;
    Full      C;

    if (tile >= 3 * ptiles) break;
    C.Get(a.packed + sw.t[d == 2 ? 1 : 2] + Dual::size + Full::size, lane);
    C.Apply(f[j], y);
    HopsTensorPut<n>(y, l < L::pair, l + 8 < L::pair, face(j, 0), face(j, 1), FR, t);
  }
}

/* To modes in x, the solution there, and back to nodes in x */
template <class L, class Team> HOPS_LANES void HopsSweepWarp<L, Team>::AlongX() const
{
  const double *value = (const double *)a.values, *vx = value + sw.f[0], *vy = value + sw.f[1], *vz = value + sw.f[2];
  const double  s0 = p.scale[0], s1 = p.scale[1], s2 = p.scale[2], inv5 = HopsInverseOf<double>(sw.s5);
  double        lx[ns], ax[ns][2], x[Ns][2], y[nt][4];
  Dual          B;
  Full          C;

  B.Get(a.packed + sw.t[0], lane);
  C.Get(a.packed + sw.t[0] + Dual::size, lane);
#pragma unroll
  for (int s = 0; s < ns; s++) {
    const int i = HopsMin(4 * s + t, n - 1);

    lx[s]    = s0 * vx[n * R + i];
    ax[s][0] = s0 * vx[oalpha + i];
    ax[s][1] = s0 * vx[oalpha + n + i];
  }
#pragma unroll
  for (int j = 0; j < own; j++) {
    double *at[2];

    if (None(j, L::inner)) break;
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int l = HopsMin(Line(j, h), L::inner - 1);

      at[h] = cube + RS * (l % n) + PS * (l / n);
    }
    HopsTensorGet<n>(at[0], at[1], 1, t, x);
    B.Apply(x, y);
    HopsTensorTurn<N, n>(y, x);
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int    l = HopsMin(Line(j, h), L::inner - 1), Y = l % n, Z = l / n;
      const double lambda = p.scale[3] + s1 * vy[n * R + Y] + s2 * vz[n * R + Z], x0 = F[Y + FR * Z], x1 = F[FS + Y + FR * Z];
      const double ay0 = s1 * vy[oalpha + Y], ay1 = s1 * vy[oalpha + n + Y], az0 = s2 * vz[oalpha + Z],
                   az1 = s2 * vz[oalpha + n + Z];
      const double *y0 = F + 2 * FS + FR * Z, *y1 = y0 + FS, *z0 = F + 4 * FS + FR * Y, *z1 = z0 + FS;

#pragma unroll
      for (int s = 0; s < Ns; s++) {
        const int i = 4 * s + t;

        if (s < ns) {
          /* from i = n on: not used */
          const double r = x[s][h] * inv5 - ax[s][0] * x0 - ax[s][1] * x1 - ay0 * y0[i] - ay1 * y1[i] - az0 * z0[i] - az1 * z1[i];

          x[s][h] = r * HopsInverseOf<double>(lambda + lx[s]);
        }
        if (4 * s + 3 >= n) x[s][h] = i < n ? x[s][h] : (i == n ? x0 : (i == n + 1 ? x1 : 0.0));
      }
    }
    C.Apply(x, y);
    HopsTensorPut<n>(y, Line(j, 0) < L::inner, Line(j, 1) < L::inner, at[0], at[1], 1, t);
  }
  /* ends of z, then of y: coefficients of faces */
#pragma unroll
  for (int j = 0; j < ends; j++) {
    double *at[2];

    if (None(j, L::ends)) break;
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int     l = HopsMin(Line(j, h), L::ends - 1), r = l - 2 * N;
      const int     Y = r < 0 ? l % N : n + r / n, Z = r < 0 ? n + l / N : r % n;
      const double *from = r < 0 ? F + (4 + Z - n) * FS + FR * Y : F + (2 + Y - n) * FS + FR * Z;

      at[h] = cube + RS * Y + PS * Z;
#pragma unroll
      for (int s = 0; s < Ns; s++) {
        const int i = 4 * s + t;

        x[s][h] = i < n ? from[i] : (i < N ? F[(i - n) * FS + Y + FR * Z] : 0.0);
      }
    }
    C.Apply(x, y);
    HopsTensorPut<n>(y, Line(j, 0) < L::ends, Line(j, 1) < L::ends, at[0], at[1], 1, t);
  }
}

/* Back to nodes in y, also on the ends of z */
template <class L, class Team> HOPS_LANES void HopsSweepWarp<L, Team>::BackInY() const
{
  double x[mixed][Ns][2], y[nt][4];
  Full   B;
  auto   at = [&](int j, int h) {
    return cube + HopsMin(Line(j, h), L::mixed - 1) % n + PS * (HopsMin(Line(j, h), L::mixed - 1) / n);
  };

  B.Get(a.packed + sw.t[1] + Dual::size, lane);
#pragma unroll
  for (int j = 0; j < mixed; j++) {
    if (!None(j, L::mixed)) HopsTensorGet<N>(at(j, 0), at(j, 1), RS, t, x[j]);
  }
#pragma unroll
  for (int j = 0; j < mixed; j++) {
    if (None(j, L::mixed)) break;
    B.Apply(x[j], y);
    HopsTensorPut<n>(y, Line(j, 0) < L::mixed, Line(j, 1) < L::mixed, at(j, 0), at(j, 1), RS, t);
  }
}

/* Back to nodes in z, which are those that `id` names */
template <class L, class Team> HOPS_LANES void HopsSweepWarp<L, Team>::BackInZ(const int id[own][ns][2]) const
{
  const double omega = sw.omega;
  double       x[own][Ns][2], y[nt][4];
  Full         B;
  auto         at = [&](int j, int h) {
    return cube + HopsMin(Line(j, h), L::inner - 1) % n + RS * (HopsMin(Line(j, h), L::inner - 1) / n);
  };

  B.Get(a.packed + sw.t[2] + Dual::size, lane);
#pragma unroll
  for (int j = 0; j < own; j++) {
    if (!None(j, L::inner)) HopsTensorGet<N>(at(j, 0), at(j, 1), PS, t, x[j]);
  }
#pragma unroll
  for (int j = 0; j < own; j++) {
    if (None(j, L::inner)) break;
    B.Apply(x[j], y);
#pragma unroll
    for (int s = 0; s < ns; s++)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const int    to = id[j][s][h];
        const double u  = y[s / 2][2 * h + s % 2];

        if (to != a.none) a.z[to] = omega == 1 ? u : a.z[to] + omega * (u - a.z[to]);
      }
  }
}

template <class L> struct HopsSweepTensor {
  static constexpr int  lanes = 32 * L::W, cells = L::G, blocks = L::blocks;
  HopsSweepArgs<double> a;

  template <class Team> HOPS_LANES_CONSTEXPR static int Numbers()
  {
    return L::PS * L::N;
  }

  template <class Team> HOPS_LANES_CONSTEXPR static int Apart()
  {
    return 6 * L::FS;
  }

  template <class Team> HOPS_LANES void operator()(const Team &team, double *cube, double *F) const
  {
    using Warp = HopsSweepWarp<L, Team>;
    const Warp warp(team, a, team.cell(0), cube, F);
    int        id[Warp::own][Warp::ns][2];

    warp.Read(id);
    warp.Sync();
    warp.AlongY();
    warp.Sync();
    warp.AlongX();
    warp.Sync();
    warp.BackInY();
    warp.Unknowns(id);
    warp.Sync();
    warp.BackInZ(id);
  }
};

/* As HopsLanesPatchSweep asks for it */
template <class Back> struct HopsSweepOnTensor {
  template <class Args> static PetscErrorCode Cubes(const Args &a, const HopsLanesPatchRun *run, bool *done)
  {
    PetscFunctionBegin;
    if (!a.packed || !HopsLanesPatchTensor) PetscFunctionReturn(PETSC_SUCCESS);
      /* as measured to be fastest on an H100 */
#define SWEEP_TENSOR(SIZE, ...) \
  if (run->size == SIZE) { \
    PetscCall( \
      (Back::template Parts<double>("HopsSweepTensor", a.n, HopsSweepTensor<HopsSweepTensorSizes<SIZE, __VA_ARGS__>>{a}))); \
    *done = true; \
  }
    SWEEP_TENSOR(5, 1, 4, 128)
    SWEEP_TENSOR(7, 2, 2, 128)
    SWEEP_TENSOR(9, 6, 1, 80)
    SWEEP_TENSOR(11, 4, 1, 168)
    SWEEP_TENSOR(13, 6, 1, 168)
    SWEEP_TENSOR(15, 8, 1, 128)
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
