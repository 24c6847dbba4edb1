/* Tensor contractions of any size by the lanes of a team. */
#pragma once
#include <backend/lanes/runtime/lanes.h>

#define HOPS_LANES_GROUP 4

/* M numbers of N in a direction; the directions before have `base` numbers each */
struct HopsLanesContraction {
  int               M, N, base, groups;
  HopsLanesQuotient bybase, bygroups;

  HOPS_LANES_CONSTEXPR HopsLanesContraction(int m, int n, int base)
      : M(m), N(n), base(base), groups((m + HOPS_LANES_GROUP - 1) / HOPS_LANES_GROUP), bybase(base), bygroups(groups)
  {
  }
};

/* The same on a host, whose loops divide nothing: `outer` times `inner` lines */
template <class V>
HOPS_LANES_CALLED void ContractAlone(int M, int N, const double *__restrict__ A, int sm, int sn, int outer, int inner, const V *in,
                                     V *out, bool add)
{
  for (int o = 0; o < outer; o++)
    for (int first = 0; first < M; first += HOPS_LANES_GROUP) {
      const double *a[HOPS_LANES_GROUP];
      V            *to   = out + (o * M + first) * inner;
      const int     rows = HopsMin(HOPS_LANES_GROUP, M - first);

      for (int j = 0; j < HOPS_LANES_GROUP; j++) a[j] = A + HopsMin(first + j, M - 1) * sm;
      for (int i = 0; i < inner; i++) {
        const V *s                   = in + o * N * inner + i;
        V        v[HOPS_LANES_GROUP] = {};

        for (int n = 0; n < N; n++)
          for (int j = 0; j < HOPS_LANES_GROUP; j++) v[j] += a[j][n * sn] * s[n * inner];
        for (int j = 0; j < rows; j++) to[j * inner + i] = add ? to[j * inner + i] + v[j] : v[j];
      }
    }
}

/* Of doubles, or of vectors of them: out[o][m][i] (+)= sum_n A[m*sm + n*sn] in[o][n][i], i < base^before, a
   few m at a time for each lane */
template <class Team, class V>
HOPS_LANES_CALLED void Contract(const Team &team, const HopsLanesContraction &c, const double *__restrict__ A, int sm, int sn,
                                int outer, int before, const V *in, V *out, bool add)
{
  const int M = c.M, N = c.N, inner = before == 0 ? 1 : HopsLanesPower(c.base, before);

  if constexpr (Team::group > 1) {
    ContractAlone(M, N, A, sm, sn, outer, inner, in, out, add);
    return;
  }
  for (int t = team.lane(); t < outer * c.groups * inner; t += team.size()) {
    int i = 0, j = 0, g, o = t;

    if (before > 0) o = c.bybase(o, &i);
    if (before > 1) o = c.bybase(o, &j);
    i += j * c.base;
    o = c.bygroups(o, &g);

    const V      *s = in + o * N * inner + i;
    const double *a[HOPS_LANES_GROUP];
    V             v[HOPS_LANES_GROUP];

#pragma unroll
    for (int j = 0; j < HOPS_LANES_GROUP; j++) {
      a[j] = A + (g * HOPS_LANES_GROUP + j < M ? g * HOPS_LANES_GROUP + j : M - 1) * sm;
      v[j] = V{};
    }
    for (int n = 0; n < N; n++) {
      const V x = s[n * inner];

#pragma unroll
      for (int j = 0; j < HOPS_LANES_GROUP; j++) v[j] += a[j][n * sn] * x;
    }
#pragma unroll
    for (int j = 0; j < HOPS_LANES_GROUP; j++) {
      const int m = g * HOPS_LANES_GROUP + j;

      if (m < M) out[(o * M + m) * inner + i] = add ? out[(o * M + m) * inner + i] + v[j] : v[j];
    }
  }
  team.Sync();
}

/* out (+)= (A_z x) A_y x A_x in, A[d] is M x N or, read by columns, its transpose; f, g are scratch */
template <class Team, class V>
HOPS_LANES_CALLED void Tensor(const Team &team, int dim, const HopsLanesContraction &c, const double *const A[3], int sm, int sn,
                              const V *in, V *f, V *g, V *out, bool add)
{
  if (dim == 3) {
    Contract(team, c, A[0], sm, sn, c.N * c.N, 0, in, f, false);
    Contract(team, c, A[1], sm, sn, c.N, 1, f, g, false);
    Contract(team, c, A[2], sm, sn, 1, 2, g, out, add);
  } else {
    Contract(team, c, A[0], sm, sn, c.N, 0, in, f, false);
    Contract(team, c, A[1], sm, sn, 1, 1, f, out, add);
  }
}
