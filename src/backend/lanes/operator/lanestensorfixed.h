/*
  The kernels of lanestensorkernels.h for as many points as nodes, or one more, where the compiler knows all
  sizes: a lane makes a line of entries at a time, and the one-dimensional matrices are immediate operands of
  its instructions (kernel arguments, which the constant cache holds).
*/
#pragma once
#include "lanestensorlaunch.h"

/* a line of M entries from one of N; T: A is [N][M], transposed */
template <int M, int N, bool T, class V>
HOPS_LANES void HopsTensorLine(const double *A, const V *in, int sn, V *out, int rm, bool add)
{
  V x[N];

#pragma unroll
  for (int n = 0; n < N; n++) x[n] = in[n * sn];
#pragma unroll
  for (int m = 0; m < M; m++) {
    V v = add ? out[m * rm] : V{};

#pragma unroll
    for (int n = 0; n < N; n++) v += A[T ? n * M + m : m * N + n] * x[n];
    out[m * rm] = v;
  }
}

/* direction D of items whose directions before have M entries and whose directions after have N; the lines of
   others are lm doubles apart */
template <int DIM, int D, int M, int N, bool T, class Team, class V>
HOPS_LANES void HopsTensorLines(const Team &team, const double *__restrict__ A, int items, int S, const V *in, V *out, bool add)
{
  constexpr int ln = N | 1, lm = M | 1, inner = D == 0 ? 1 : M,
                outer = DIM == 2 ? (D == 0 ? N : 1) : (D == 0 ? N * N : (D == 1 ? N : M)), lines = inner * outer;
  constexpr int so = D == 0 ? ln : (D == 1 ? N * lm : lm), sn = D == 0 ? 1 : (D == 1 ? lm : M * lm),
                ro = D == 0 ? lm : (D == 1 ? M * lm : lm), rm = D == 0 ? 1 : (D == 1 ? lm : M * lm);

  if constexpr (Team::lanes == 1) { /* finding its way would cost a lane as much as a short line */
    for (int item = 0; item < items; item++)
      for (int o = 0; o < outer; o++)
        for (int i = 0; i < inner; i++)
          HopsTensorLine<M, N, T>(A, in + item * S + o * so + i, sn, out + item * S + o * ro + i, rm, add);
  } else
    for (int t = team.lane(); t < items * lines; t += team.size()) {
      const int item = t / lines, l = t - item * lines, o = l / inner, i = l - o * inner;

      HopsTensorLine<M, N, T>(A, in + item * S + o * so + i, sn, out + item * S + o * ro + i, rm, add);
    }
}

template <int DIM, int M, int N, bool T, class Team, class V>
HOPS_LANES void HopsTensorFixedProduct(const Team &team, const double *A, int items, int S, const V *in, V *t1, V *t2, V *out)
{
  HopsTensorLines<DIM, 0, M, N, T>(team, A, items, S, in, t1, false);
  team.Sync();
  HopsTensorLines<DIM, 1, M, N, T>(team, A, items, S, t1, DIM == 3 ? t2 : out, false);
  team.Sync();
  if constexpr (DIM == 3) {
    HopsTensorLines<DIM, 2, M, N, T>(team, A, items, S, t2, out, false);
    team.Sync();
  }
}

template <int DIM, int Q, int P, class Team, class V>
HOPS_LANES void HopsTensorFixedUp(const Team &team, const HopsLanesTensorArgs &k, const double *B, const HopsLanesTensorSide &s,
                                  PetscInt cell, int n, V *w)
{
  const int items = s.nc * k.W;
  V        *u = w + s.off, *e = u + s.R;

  HopsTensorGather<DIM>(team, s, P, k.W, k.S, cell, n, e);
  HopsTensorFixedProduct<DIM, Q, P, false>(team, B, items, k.S, e, u + 2 * s.R, e, u);
  if (s.gradient) {
    HopsTensorLines<DIM, 0, Q, Q, false>(team, k.fixedC, items, k.S, u, u + s.R, false);
    HopsTensorLines<DIM, 1, Q, Q, false>(team, k.fixedC, items, k.S, u, u + 2 * s.R, false);
    if constexpr (DIM == 3) HopsTensorLines<DIM, 2, Q, Q, false>(team, k.fixedC, items, k.S, u, u + 3 * s.R, false);
    team.Sync();
  }
}

template <int DIM, int Q, int P, class Team, class V>
HOPS_LANES void HopsTensorFixedDown(const Team &team, const HopsLanesTensorArgs &k, const double *B, const HopsLanesTensorSide &s,
                                    PetscInt cell, int n, V *w)
{
  const int items = s.nc * k.W;
  V        *u = w + s.off, *e = u + s.R;

  if (s.gradient) {
    HopsTensorLines<DIM, 0, Q, Q, true>(team, k.fixedC, items, k.S, u + s.R, u, true);
    team.Sync();
    HopsTensorLines<DIM, 1, Q, Q, true>(team, k.fixedC, items, k.S, u + 2 * s.R, u, true);
    team.Sync();
    if constexpr (DIM == 3) {
      HopsTensorLines<DIM, 2, Q, Q, true>(team, k.fixedC, items, k.S, u + 3 * s.R, u, true);
      team.Sync();
    }
  }
  HopsTensorFixedProduct<DIM, P, Q, true>(team, B, items, k.S, u, u + 2 * s.R, DIM == 3 ? u + 3 * s.R : (V *)NULL, e);
  HopsTensorScatter<DIM>(team, s, P, k.W, k.S, cell, n, e);
}

template <int DIM, int NC, int Q> struct HopsTensorFixed {
  static constexpr int  lanes = HOPS_TENSOR_LANES, blocks = 3;
  static constexpr bool indexed = true;
  HopsLanesTensorArgs   k;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    typename Team::Value *w = (typename Team::Value *)scratch;

    for (PetscInt b = k.first + team.index(); b < k.first + k.n; b += team.count()) {
      const PetscInt cell = k.cell[b];
      const int      n    = (int)(k.cell[b + 1] - cell);

      for (int i = 0; i < k.nside[0]; i++) {
        const HopsLanesTensorSide &s = k.side[0][i];

        if (!s.value && !s.gradient) continue;
        if (s.table.P == Q) HopsTensorFixedUp<DIM, Q, Q>(team, k, k.fixedB, s, cell, n, w);
        else HopsTensorFixedUp<DIM, Q, Q - 1>(team, k, k.fixedA, s, cell, n, w);
      }
      HopsTensorPoints<DIM, NC>(team, k, Q, DIM == 3 ? Q * Q * Q : Q * Q, b, n, w);
      team.Sync();
      for (int i = 0; i < k.nside[1]; i++) {
        const HopsLanesTensorSide &s = k.side[1][i];

        if (!s.value && !s.gradient) continue;
        if (s.table.P == Q) HopsTensorFixedDown<DIM, Q, Q>(team, k, k.fixedB, s, cell, n, w);
        else HopsTensorFixedDown<DIM, Q, Q - 1>(team, k, k.fixedA, s, cell, n, w);
      }
      team.Sync();
    }
  }
};

/* Scalars, vectors, vectors with a scalar */
template <class Back, int Q> PetscErrorCode HopsTensorFixedLaunch(const HopsLanesTensorArgs *k, int lanes, int teams, int *busy)
{
  const size_t bytes = HopsLanesTensorBytes(k, true, Back::Team::group);
  const int    n     = k->ncout;
  const auto   run   = [=](const auto &f) { return HopsTensorRun<Back>(f, bytes, lanes, teams, busy); };

  if (k->dim == 3) {
    if (n == 1) return run(HopsTensorFixed<3, 1, Q>{*k});
    if (n == 3) return run(HopsTensorFixed<3, 3, Q>{*k});
    if (n == 4) return run(HopsTensorFixed<3, 4, Q>{*k});
  } else {
    if (n == 1) return run(HopsTensorFixed<2, 1, Q>{*k});
    if (n == 2) return run(HopsTensorFixed<2, 2, Q>{*k});
    if (n == 3) return run(HopsTensorFixed<2, 3, Q>{*k});
  }
  PetscFunctionBegin;
  PetscCheck(busy, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No kernel of full tensors knows the sizes of %d components", n);
  *busy = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
