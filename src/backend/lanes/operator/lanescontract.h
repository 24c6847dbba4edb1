/* Tensor contractions of any size by the lanes of a team. */
#pragma once
#include <backend/lanes/runtime/lanes.h>

#define HOPS_LANES_GROUP 4

/* out[o][m][i] (+)= sum_n A[m*sm + n*sn] in[o][n][i], a few m at a time for each lane */
template <class Team>
HOPS_LANES_CALLED void Contract(const Team &team, int M, int N, const double *__restrict__ A, int sm, int sn, int outer, int inner,
                                const double *in, double *out, bool add)
{
  const int groups = (M + HOPS_LANES_GROUP - 1) / HOPS_LANES_GROUP;

  for (int t = team.lane(); t < outer * groups * inner; t += team.size()) {
    const int     i = t % inner, g = t / inner % groups, o = t / (inner * groups);
    const double *s = in + o * N * inner + i;
    const double *a[HOPS_LANES_GROUP];
    double        v[HOPS_LANES_GROUP];

#pragma unroll
    for (int j = 0; j < HOPS_LANES_GROUP; j++) {
      a[j] = A + (g * HOPS_LANES_GROUP + j < M ? g * HOPS_LANES_GROUP + j : M - 1) * sm;
      v[j] = 0;
    }
    for (int n = 0; n < N; n++) {
      const double x = s[n * inner];

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
template <class Team>
HOPS_LANES_CALLED void Tensor(const Team &team, int dim, int M, int N, const double *const A[3], int sm, int sn, const double *in,
                              double *f, double *g, double *out, bool add)
{
  if (dim == 3) {
    Contract(team, M, N, A[0], sm, sn, N * N, 1, in, f, false);
    Contract(team, M, N, A[1], sm, sn, N, M, f, g, false);
    Contract(team, M, N, A[2], sm, sn, 1, M * M, g, out, add);
  } else {
    Contract(team, M, N, A[0], sm, sn, N, 1, in, f, false);
    Contract(team, M, N, A[1], sm, sn, 1, M, f, out, add);
  }
}
