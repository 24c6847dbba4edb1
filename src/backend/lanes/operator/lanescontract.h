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

/* A[M-1-m][N-1-n] = parity A[m][n]: sums of a line's numbers and of their mirror images, and differences,
   take half of the products. A's halves: [n][m] for sums, then for differences */
#define HOPS_LANES_HALF 12

struct HopsLanesHalves {
  int    M, N, h; /* h: half of N, the middle one included */
  double A[2][HOPS_LANES_HALF * HOPS_LANES_HALF];

  HOPS_LANES static bool Fit(int M, int N)
  {
    return M <= 2 * HOPS_LANES_HALF && N <= 2 * HOPS_LANES_HALF;
  }

  HOPS_LANES HopsLanesHalves(int m, int n, const double *from, int sm, int sn) : M(m), N(n), h((n + 1) / 2)
  {
    const int rows = (M + 1) / 2;

    for (int j = 0; j < h; j++) {
      const double *a = from + j * sn, *b = from + (N - 1 - j) * sn, half = 2 * j == N - 1 ? 0.5 : 1; /* both are the middle one */

      for (int i = 0; i < rows; i++) {
        A[0][j * HOPS_LANES_HALF + i] = 0.5 * half * (a[i * sm] + b[i * sm]);
        A[1][j * HOPS_LANES_HALF + i] = 0.5 * half * (a[i * sm] - b[i * sm]);
      }
      for (int i = rows; i % HOPS_LANES_GROUP; i++) A[0][j * HOPS_LANES_HALF + i] = A[1][j * HOPS_LANES_HALF + i] = 0;
    }
  }
};

template <class V>
HOPS_LANES_CALLED void ContractHalves(const HopsLanesHalves &c, int parity, int outer, int inner, const V *in, V *out, bool add)
{
  V sum[HOPS_LANES_HALF], difference[HOPS_LANES_HALF];

  for (int o = 0; o < outer; o++)
    for (int i = 0; i < inner; i++) {
      const V *s  = in + o * c.N * inner + i;
      V       *to = out + o * c.M * inner + i;

      for (int n = 0; n < c.h; n++) {
        const V x = s[n * inner], y = s[(c.N - 1 - n) * inner];

        sum[n]        = x + y;
        difference[n] = x - y;
      }
      for (int first = 0; 2 * first < c.M; first += HOPS_LANES_GROUP) {
        V v[HOPS_LANES_GROUP] = {}, d[HOPS_LANES_GROUP] = {};

        for (int n = 0; n < c.h; n++) {
          const double *a = c.A[0] + n * HOPS_LANES_HALF + first, *b = c.A[1] + n * HOPS_LANES_HALF + first;

          for (int j = 0; j < HOPS_LANES_GROUP; j++) {
            v[j] += a[j] * sum[n];
            d[j] += b[j] * difference[n];
          }
        }
        for (int j = 0; j < HOPS_LANES_GROUP && 2 * (first + j) < c.M; j++) {
          const int m = first + j, mirror = c.M - 1 - m;
          const V   lower = v[j] + d[j], upper = parity * (v[j] - d[j]);

          to[m * inner] = add ? to[m * inner] + lower : lower;
          if (mirror != m) to[mirror * inner] = add ? to[mirror * inner] + upper : upper;
        }
      }
    }
}

/* Of doubles, or of vectors of them: out[o][m][i] (+)= sum_n A[m*sm + n*sn] in[o][n][i], i < base^before, a
   few m at a time for each lane. parity, which a host makes use of: A is even (1) or odd (-1) under
   reflection, or neither (0) */
template <class Team, class V>
HOPS_LANES_CALLED void Contract(const Team &team, const HopsLanesContraction &c, const double *__restrict__ A, int sm, int sn,
                                int outer, int before, const V *in, V *out, bool add, [[maybe_unused]] int parity = 0)
{
  const int M = c.M, N = c.N, inner = before == 0 ? 1 : HopsLanesPower(c.base, before);

  if constexpr (Team::group > 1) {
    if (parity && HopsLanesHalves::Fit(M, N)) ContractHalves(HopsLanesHalves(M, N, A, sm, sn), parity, outer, inner, in, out, add);
    else ContractAlone(M, N, A, sm, sn, outer, inner, in, out, add);
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

/* out (+)= (A_z x) A_y x A_x in, A[d] is M x N or, read by columns, its transpose, of parity[d]; f, g are
   scratch */
template <class Team, class V>
HOPS_LANES_CALLED void Tensor(const Team &team, int dim, const HopsLanesContraction &c, const double *const A[3],
                              const int parity[3], int sm, int sn, const V *in, V *f, V *g, V *out, bool add)
{
  if (dim == 3) {
    Contract(team, c, A[0], sm, sn, c.N * c.N, 0, in, f, false, parity[0]);
    Contract(team, c, A[1], sm, sn, c.N, 1, f, g, false, parity[1]);
    Contract(team, c, A[2], sm, sn, 1, 2, g, out, add, parity[2]);
  } else {
    Contract(team, c, A[0], sm, sn, c.N, 0, in, f, false, parity[0]);
    Contract(team, c, A[1], sm, sn, 1, 1, f, out, add, parity[1]);
  }
}
