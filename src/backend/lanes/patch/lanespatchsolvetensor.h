/*
  Local solves of cubes in 3D on tensor cores, in double precision (lanespatchtensor.h). W warps work on a
  patch, of whose n^2 lines in a direction each takes every W-th 16; a team has G patches. Entry (x,y,z) lies
  at x + RS y + PS z.
*/
#pragma once
#include "lanespatchsolve.h"
#include "lanespatchtensor.h"

template <int n_, int W_, int G_, int registers> struct HopsSolveTensorSizes {
  static constexpr int n = n_, W = W_, G = G_;
  static constexpr int lines = n * n, tiles = (lines + 15) / 16;
  static constexpr int own = (tiles + W - 1) / W, threads = 32 * W * G;
  static constexpr int RS = n <= 11 ? 12 : 20, PS = RS * n, cube = PS * n;
  static constexpr int blocks = 65536 / (registers * threads); /* of a multiprocessor: bounds the registers */
};

template <class L, class V> struct HopsPatchSolveTensor {
  static constexpr int  lanes = 32 * L::W, cells = L::G, blocks = L::blocks;
  HopsPatchSolveArgs<V> a;

  template <class Team> HOPS_LANES_CONSTEXPR static int Numbers()
  {
    return L::cube;
  }

  template <class Team> HOPS_LANES void operator()(const Team &team, double *cube) const
  {
    constexpr int n               = L::n;
    using P                       = HopsTensorProduct<n, n>;
    constexpr int               R = (n + 1) / 2 * 2, RS = L::RS, PS = L::PS, steps = P::steps, tiles = P::tiles, own = L::own;
    const unsigned              me   = team.lane(); /* what divides it has no sign to look for, and a known range */
    const int                   lane = me % 32, g = me % 32 / 4, t = me % 4, w = me / 32 % L::W, q = team.cell(0);
    const bool                  in = q < a.n;
    const HopsLanesPatchRecord &p  = a.patches[in ? q : a.n - 1];
    P                           B, C;
    /* the last direction's unknowns; places of lines: u + n v */
    int    id[own][steps][2], u[own][2], v[own][2];
    bool   ok[own][2];
    double x[own][steps][2], y[tiles][4], lambda[own][2];

    B.Get(a.packed + p.t[2], lane);
#pragma unroll
    for (int j = 0; j < own; j++)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const int line = 16 * (w + L::W * j) + g + 8 * h, l = HopsMin(line, L::lines - 1);

        ok[j][h] = line < L::lines;
        u[j][h]  = l % n;
        v[j][h]  = l / n;
#pragma unroll
        for (int s = 0; s < steps; s++)
          id[j][s][h] = in && ok[j][h] && 4 * s + t < n ? a.idx[p.start + line + L::lines * (4 * s + t)] : a.none;
      }
#pragma unroll
    for (int j = 0; j < own; j++)
#pragma unroll
      for (int s = 0; s < steps; s++)
#pragma unroll
        for (int h = 0; h < 2; h++)
          x[j][s][h] = HopsPatchLoad<double>(a, p.start + 16 * (w + L::W * j) + g + 8 * h + L::lines * (4 * s + t), id[j][s][h]);
    C.Get(a.packed + p.t[1], lane);
    auto sync = [&] {
      if (L::W == 1) HopsLanesRowSync();
      else team.Sync();
    };
    auto at   = [&](int j, int h, int su, int sv) { return cube + u[j][h] * su + v[j][h] * sv; };
    auto none = [&](int j) { return L::W * j + L::W > L::tiles && w + L::W * j >= L::tiles; }; /* of the last round */
    /* all lines, entries as far apart as `stride`; all loads come before the first product */
    auto get = [&](int su, int sv, int stride) {
#pragma unroll
      for (int j = 0; j < own; j++) {
        if (!none(j)) HopsTensorGet<n>(at(j, 0, su, sv), at(j, 1, su, sv), stride, t, x[j]);
      }
    };
    auto product = [&](const P &b, int su, int sv, int stride) {
#pragma unroll
      for (int j = 0; j < own; j++) {
        if (none(j)) break;
        b.Apply(x[j], y);
        HopsTensorPut<n>(y, ok[j][0], ok[j][1], at(j, 0, su, sv), at(j, 1, su, sv), stride, t);
      }
      sync();
    };

    product(B, 1, RS, PS); /* z */
    B.Get(a.packed + p.t[0], lane);
    get(1, PS, RS);
    product(C, 1, PS, RS); /* y */
    {                      /* x, and back */
      const double *value = (const double *)a.values, *lx = value + p.f[0] + n * R, *ly = value + p.f[1] + n * R,
                   *lz = value + p.f[2] + n * R;
      double mx[steps];

      C.Get(a.packed + p.t[0] + P::size, lane);
#pragma unroll
      for (int s = 0; s < steps; s++) mx[s] = p.scale[0] * lx[HopsMin(4 * s + t, n - 1)];
#pragma unroll
      for (int j = 0; j < own; j++)
#pragma unroll
        for (int h = 0; h < 2; h++) lambda[j][h] = p.scale[3] + p.scale[1] * ly[u[j][h]] + p.scale[2] * lz[v[j][h]];
      get(RS, PS, 1);
#pragma unroll
      for (int j = 0; j < own; j++) {
        if (none(j)) break;
        B.Apply(x[j], y);
        HopsTensorTurn<n, n>(y, x[j]);
#pragma unroll
        for (int s = 0; s < steps; s++)
#pragma unroll
          for (int h = 0; h < 2; h++) x[j][s][h] *= p.scale[4] * HopsInverseOf<double>(lambda[j][h] + mx[s]);
      }
    }
    B.Get(a.packed + p.t[1] + P::size, lane);
    product(C, RS, PS, 1);
    C.Get(a.packed + p.t[2] + P::size, lane);
    get(1, PS, RS);
    product(B, 1, PS, RS);
    get(1, RS, PS);
#pragma unroll
    for (int j = 0; j < own; j++) {
      if (none(j)) break;
      C.Apply(x[j], y);
      HopsTensorTurn<n, n>(y, x[j]);
#pragma unroll
      for (int s = 0; s < steps; s++)
#pragma unroll
        for (int h = 0; h < 2; h++)
          HopsPatchAdd<Team>(a, p.start + 16 * (w + L::W * j) + g + 8 * h + L::lines * (4 * s + t), id[j][s][h], x[j][s][h]);
    }
  }
};

/* As HopsLanesPatchSolve asks for it */
template <class Back> struct HopsPatchSolveOnTensor {
  template <class V> static PetscErrorCode Cubes(const HopsPatchSolveArgs<V> &a, const HopsLanesPatchRun *run, bool *done)
  {
    PetscFunctionBegin;
    if (!a.packed || !HopsLanesPatchTensor) PetscFunctionReturn(PETSC_SUCCESS);
      /* as measured to be fastest on an H100 */
#define SOLVE_TENSOR(SIZE, ...) \
  if (run->size == SIZE) { \
    PetscCall(( \
      Back::template Parts<double>("HopsPatchTensor", a.n, HopsPatchSolveTensor<HopsSolveTensorSizes<SIZE, __VA_ARGS__>, V>{a}))); \
    *done = true; \
  }
    SOLVE_TENSOR(5, 1, 4, 80)
    SOLVE_TENSOR(7, 1, 4, 128)
    SOLVE_TENSOR(9, 2, 1, 168)
    SOLVE_TENSOR(11, 4, 1, 128)
    SOLVE_TENSOR(13, 4, 1, 168)
    SOLVE_TENSOR(15, 8, 1, 128)
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
