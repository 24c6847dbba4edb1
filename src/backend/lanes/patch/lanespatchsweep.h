/*
  Fused sweeps of exact patches given by lists of unknowns, by teams of lanes: each patch takes its right-hand
  side and the values around it, and is solved.

  Where the window of a patch is all nodes of its cells but the first and the last of each direction, its own
  values are not read: they are replaced. A function on the cells is written in tensor products of the modes S
  (S^T M S = 1, S^T A S = lambda) and of two functions that are 1 at an end and M-orthogonal to the modes. In
  that basis the inside couples to the six faces, by a vector alpha for each end, and to no edge or corner:

    (s_0 l_i + s_1 l_j + s_2 l_k + s_3) u_ijk = (S^T b)_ijk / s_5 - s_0 (alpha_i u_(x end)jk + ...) - s_1
    (...) - s_2 (...)

  The coefficients of a face are T = S^T M applied in its two directions. Three products by S and the ends'
  functions lead back to nodes. Other patches run a plain kernel: the residual by S^T M and S^T A on all
  nodes.
*/
#pragma once
#include "lanespatchsolve.h"

template <class V> struct HopsSweepArgs {
  const HopsLanesPatchRecord *__restrict__ patches;
  const HopsLanesSweepRecord *__restrict__ sweep;
  const int *__restrict__ idx, *__restrict__ eidx;
  const void *__restrict__ values;
  const double *__restrict__ packed;
  const V *__restrict__ b;
  V     *z; /* read too: values of other patches' unknowns, which no patch of this launch writes */
  void  *work;
  size_t nwork;
  int    n, none;
};

template <class T, class V> HOPS_LANES T HopsSweepAt(const HopsSweepArgs<V> &a, const V *x, int i)
{
  return i == a.none ? (T)0 : (T)x[i];
}

/* ---- Cubes whose window is all nodes but the first and the last ---- */

/* v <- S^T v; rows of S have R entries */
template <int n, int R, class W> HOPS_LANES void HopsSweepToModes(const W *S, W v[n])
{
  W w[n];

#pragma unroll
  for (int m = 0; m < n; m++) w[m] = W{};
#pragma unroll
  for (int i = 0; i < n; i++)
#pragma unroll
    for (int m = 0; m < n; m++) w[m] += S[i * R + m] * v[i];
#pragma unroll
  for (int m = 0; m < n; m++) v[m] = w[m];
}

/* v <- S v + E_0 e0 + E_1 e1 */
template <int n, int R, class W> HOPS_LANES void HopsSweepToNodes(const W *S, const W *E, W e0, W e1, W v[n])
{
  W w[n];

#pragma unroll
  for (int i = 0; i < n; i++) {
    w[i] = E[i] * e0 + E[n + i] * e1;
#pragma unroll
    for (int m = 0; m < n; m++) w[i] += S[i * R + m] * v[m];
  }
#pragma unroll
  for (int m = 0; m < n; m++) v[m] = w[m];
}

/* A line of N nodes to n modes between its ends, in place */
template <int n, class W> HOPS_LANES void HopsSweepLine(const W *M, W *line, int stride)
{
  constexpr int N = n + 2;
  W             v[N];

#pragma unroll
  for (int i = 0; i < N; i++) v[i] = line[i * stride];
#pragma unroll
  for (int m = 0; m < n; m++) {
    W s = {};

#pragma unroll
    for (int i = 0; i < N; i++) s += M[m * N + i] * v[i];
    line[(m + 1) * stride] = s;
  }
}

/*
  Scratch of a patch: of each direction a factor S[n][R], lambda[n], alpha[2][n], E[2][n]; the pairs of
  faces across y, z and at first x; the cube of what lies inside. The faces across x and T[n][N] of each
  direction lie where the cube comes: they are read before.
*/
template <int DIM, int n> struct HopsSweepSizes {
  static constexpr int N = n + 2, R = (n + 1) / 2 * 2;
  static constexpr int lambda = n * R, alpha = lambda + n, E = alpha + 2 * n, F = E + 2 * n;
  static constexpr int T = alpha, skip = 2 * n * N; /* in memory T, and Ta, come between lambda and alpha */
  static constexpr int FS      = (F + 1) / 2 * 2;
  static constexpr int threads = DIM == 3 ? N * N : N;
  static constexpr int face    = DIM == 3 ? N * N : N;
  static constexpr int inside  = DIM == 3 ? n * n * n : n * n;
  static constexpr int early   = 2 * face + DIM * n * N;
  static constexpr int cube    = DIM * FS + (2 * DIM - 2) * face; /* where it begins */
  static constexpr int patch   = (cube + (inside > early ? inside : early) + 1) / 2 * 2;
};

/* The direction across which face f of scratch lies: y, z, x */
template <int DIM> HOPS_LANES int HopsSweepAcross(int f)
{
  return (f / 2 + 1) % DIM;
}

/* Node (X,Y) of that face: the directions in it are in ascending order */
template <int DIM, int N> HOPS_LANES int HopsSweepFaceNode(int f, int X, int Y)
{
  const int end = f % 2 ? N - 1 : 0, d = HopsSweepAcross<DIM>(f);

  if (DIM == 2) return d == 0 ? end + N * X : X + N * end;
  return d == 0 ? end + N * (X + N * Y) : (d == 1 ? X + N * (end + N * Y) : X + N * (Y + N * end));
}

/* Where node t of face f lies in faces before it, -1: nowhere. Faces across y come first, then z, then x */
template <int DIM, int N> HOPS_LANES int HopsSweepEdge(int f, int t)
{
  const int X = t % N, Y = t / N, end = f % 2 ? N - 1 : 0, face = DIM == 3 ? N * N : N;

  if (f < 2) return -1;
  if (DIM == 2) return X == 0 || X == N - 1 ? (X == 0 ? 0 : face) + end : -1;
  if (f < 4) return Y == 0 || Y == N - 1 ? (Y == 0 ? 0 : face) + X + N * end : -1;
  if (X == 0 || X == N - 1) return (X == 0 ? 0 : face) + end + N * Y;
  return Y == 0 || Y == N - 1 ? (Y == 0 ? 2 : 3) * face + end + N * X : -1;
}

/* Faces of a patch, F, to modes in both of their directions, by T of each; barriers within, but not at the
   end */
template <int DIM, int n, class Team, class W> HOPS_LANES void HopsSweepFaces(const Team &team, const W *T, W *F)
{
  using L         = HopsSweepSizes<DIM, n>;
  constexpr int N = L::N;

  if (DIM == 3) {
    for (int l = team.lane(); l < 6 * N; l += Team::lanes) {
      const int f = l / N;

      HopsSweepLine<n>(T + (HopsSweepAcross<DIM>(f) == 0 ? n * N : 0), F + f * L::face + N * (l % N), 1);
    }
    team.Sync();
    for (int l = team.lane(); l < 6 * N; l += Team::lanes) {
      const int f = l / N;

      HopsSweepLine<n>(T + (HopsSweepAcross<DIM>(f) == 2 ? 1 : 2) * n * N, F + f * L::face + l % N, N);
    }
  } else {
    for (int f = team.lane(); f < 4; f += Team::lanes)
      HopsSweepLine<n>(T + (HopsSweepAcross<DIM>(f) == 0 ? n * N : 0), F + f * L::face, 1);
  }
}

template <int DIM, int n, class T, class V> struct HopsSweepCubes {
  using L                    = HopsSweepSizes<DIM, n>;
  static constexpr int lanes = L::threads, cells = lanes >= 96 ? 1 : 128 / lanes; /* patches of a team */
  static constexpr int warps = (lanes * cells + 31) / 32, most = 65536 / (HopsPatchRegisters<n, T>::value * 32 * warps);
  static constexpr int blocks = most > 0 ? most : 1;
  static constexpr int N = L::N, R = L::R, FS = L::FS, face = L::face;

  HopsSweepArgs<V> a;

  template <class Team> HOPS_LANES_CONSTEXPR static int Numbers()
  {
    return L::patch + (Team::lanes == 1 ? lanes * (n + 2) : 0);
  }

  /* Unknown i of a lane's column, by its place on the N nodes across */
  HOPS_LANES static int Entry(int t, int i)
  {
    return DIM == 3 ? (i * n + t / N) * n + t % N : i * n + t % N;
  }
  HOPS_LANES static bool Inside(int t)
  {
    return t % N < n && (DIM == 2 || t / N < n);
  }

  /* The patches of a team. A host's lanes are patches, and what these have each is put into vectors once, a
     device reads it where it is needed */
  template <class Team> struct Patches {
    typedef typename Team::Value W;
    static constexpr int         G = Team::group;
    const HopsSweepArgs<V>      &a;
    int                          q;
    W                            scale[G > 1 ? 4 : 1], inverse;
    int                          own[G], all[G]; /* where indices of its unknowns, and of all nodes, begin */

    HOPS_LANES Patches(const HopsSweepArgs<V> &a, int q) : a(a), q(q)
    {
      if constexpr (G > 1) {
        for (int k = 0; k < 4; k++) scale[k] = Put(k);
        inverse = PutInverse();
        for (int g = 0; g < G; g++) {
          own[g] = a.patches[Of(g)].start;
          all[g] = a.sweep[Of(g)].estart;
        }
      }
    }
    HOPS_LANES int Of(int g) const
    {
      return q + g < a.n ? q + g : a.n - 1;
    }
    HOPS_LANES W Put(int k) const
    {
      return HopsLanesEach<W, G>([&](int g) { return (T)a.patches[Of(g)].scale[k]; });
    }
    HOPS_LANES W PutInverse() const
    {
      return HopsLanesEach<W, G>([&](int g) { return (T)(1 / a.sweep[Of(g)].s5); });
    }
    /* the right-hand side at unknown e; the value at node e */
    HOPS_LANES W Own(int e) const
    {
      return HopsLanesEach<W, G>(
        [&](int g) { return HopsSweepAt<T>(a, a.b, a.idx[(G > 1 ? own[g] : a.patches[Of(g)].start) + e]); });
    }
    HOPS_LANES W At(int e) const
    {
      return HopsLanesEach<W, G>(
        [&](int g) { return HopsSweepAt<T>(a, (const V *)a.z, a.eidx[(G > 1 ? all[g] : a.sweep[Of(g)].estart) + e]); });
    }
    HOPS_LANES W Scale(int k) const
    {
      if constexpr (G > 1) return scale[k];
      else return Put(k);
    }
    HOPS_LANES W Inverse() const
    {
      if constexpr (G > 1) return inverse;
      else return PutInverse();
    }
    /* entry i of the factors in direction d, which are mostly those of all patches */
    HOPS_LANES bool Same(int d) const
    {
      bool same = true;

      for (int g = 1; g < G; g++) same = same && a.sweep[Of(g)].f[d] == a.sweep[Of(0)].f[d];
      return same;
    }
    HOPS_LANES W Factor(int d, bool same, int i) const
    {
      if constexpr (G > 1)
        if (same) return W{} + ((const T *)a.values + a.sweep[Of(0)].f[d])[i];
      return HopsLanesEach<W, G>([&](int g) { return ((const T *)a.values + a.sweep[Of(g)].f[d])[i]; });
    }
  };

  /* A row in x, lane (j,k) or j: of the cube, or where that is an end of a face */
  template <class W> HOPS_LANES static W *Row(int t, W *F, W *cube)
  {
    const int X = t % N, Y = t / N;

    if (DIM == 3 && (Y == 0 || Y == N - 1)) return F + (Y == 0 ? 2 : 3) * face + N * X + 1;
    if (X == 0 || X == N - 1) return F + (X == 0 ? 0 : 1) * face + N * Y + 1;
    return cube + n * (X - 1 + (DIM == 3 ? n * (Y - 1) : 0));
  }

  /* v: such a row, to modes in x where it is not a face's already, solved, and back. x: values of the faces
     across x */
  template <class Team, class W>
  HOPS_LANES static void AlongX(const Patches<Team> &p, int t, const W *S, const W *F, const W *row, const W x[2], W v[n])
  {
    const int      X = t % N, Y = t / N;
    const W *const y0 = F + (DIM == 3 ? N * Y : 0) + 1, *const y1 = y0 + face; /* along x */

#pragma unroll
    for (int i = 0; i < n; i++) v[i] = row[i];
    if (X > 0 && X < N - 1 && (DIM == 2 || (Y > 0 && Y < N - 1))) {
      const W  s0 = p.Scale(0), s1 = p.Scale(1), s2 = DIM == 3 ? p.Scale(2) : W{}, inv5 = p.Inverse();
      const W *Sy = S + FS, *Sz = S + (DIM - 1) * FS;
      const W  ay0 = s1 * Sy[L::alpha + X - 1], ay1 = s1 * Sy[L::alpha + n + X - 1];
      const W  ax0 = s0 * x[0], ax1 = s0 * x[1];
      W        lambda = p.Scale(3) + s1 * Sy[L::lambda + X - 1], az0 = {}, az1 = {};
      const W *z0 = F + (DIM == 3 ? 2 * face + N * X + 1 : 0), *z1 = z0 + face;

      if (DIM == 3) {
        lambda += s2 * Sz[L::lambda + Y - 1];
        az0 = s2 * Sz[L::alpha + Y - 1];
        az1 = s2 * Sz[L::alpha + n + Y - 1];
      }
      HopsSweepToModes<n, R>(S, v);
#pragma unroll
      for (int i = 0; i < n; i++) {
        W r = v[i] * inv5 - S[L::alpha + i] * ax0 - S[L::alpha + n + i] * ax1 - ay0 * y0[i] - ay1 * y1[i];

        if (DIM == 3) r -= az0 * z0[i] + az1 * z1[i];
        v[i] = r / (lambda + s0 * S[L::lambda + i]);
      }
    }
    HopsLanesForget(); /* of the matrix, which is read again */
    HopsSweepToNodes<n, R>(S, S + L::E, x[0], x[1], v);
  }

  /* The solution on a column, to the unknowns of patch g */
  HOPS_LANES void Store(int patch, int t, const T v[n]) const
  {
    const V   w     = (V)a.sweep[patch].omega;
    const int start = a.patches[patch].start;

#pragma unroll
    for (int i = 0; i < n; i++) {
      const int to = a.idx[start + Entry(t, i)];

      if (to != a.none) a.z[to] = w == 1 ? (V)v[i] : a.z[to] + w * ((V)v[i] - a.z[to]);
    }
  }

  /* The patches' factors, to S and T of scratch */
  template <class Team, class W> HOPS_LANES void Factors(const Team &team, const Patches<Team> &p, W *S, W *to) const
  {
#pragma unroll
    for (int d = 0; d < DIM; d++) {
      const bool same = p.Same(d);

      for (int i = team.lane(); i < L::F; i += Team::lanes) S[d * FS + i] = p.Factor(d, same, i < L::T ? i : i + L::skip);
      for (int i = team.lane(); i < n * N; i += Team::lanes) to[d * n * N + i] = p.Factor(d, same, L::T + i);
    }
  }

  HOPS_LANES void Prefetch(int q, int group) const
  {
    for (int g = q; g < q + group && g < a.n; g++) {
      HopsLanesPrefetch(a.eidx + a.sweep[g].estart, HopsLanesPower(N, DIM) * sizeof(int));
      HopsLanesPrefetch(a.idx + a.patches[g].start, HopsLanesPower(n, DIM) * sizeof(int));
    }
  }

  template <class Team> HOPS_LANES void operator()(const Team &team, typename Team::Value *S) const
  {
    typedef typename Team::Value W;
    constexpr int                G = Team::group;
    [[maybe_unused]] const int   t = team.lane(); /* a host's loops have their own */
    const int                    q = team.cell(0);
    const Patches<Team>          p(a, q);
    W *const F = S + DIM * FS, *const cube = S + L::cube, *const to = cube + 2 * face;
    typename Team::template Lines<n> v(S + L::patch);
    typename Team::template Lines<2> x(S + L::patch + lanes * n);

    if (G > 1) Prefetch(q + G, G);
    Factors(team, p, S, to);
    if constexpr (G > 1) {
      for (int e = 0; e < 2 * DIM * face; e++) {
        const int before = HopsSweepEdge<DIM, N>(e / face, e % face);

        F[e] = before < 0 ? p.At(HopsSweepFaceNode<DIM, N>(e / face, e % face % N, e % face / N)) : F[before];
      }
    }
    HOPS_ALL_LANES(t, lanes)
    {
      W *u = v[t];

      if constexpr (G == 1) {
#pragma unroll
        for (int f = 0; f < 2 * DIM; f++) F[f * face + t] = p.At(HopsSweepFaceNode<DIM, N>(f, t % N, t / N));
      }
      if (Inside(t)) {
#pragma unroll
        for (int i = 0; i < n; i++) u[i] = p.Own(Entry(t, i));
      }
    }
    team.Sync();
    HopsSweepFaces<DIM, n>(team, to, F);
    team.Sync();
    HOPS_ALL_LANES(t, lanes)
    {
      W *ends = x[t];

      ends[0] = cube[t];
      ends[1] = cube[face + t];
    }
    team.Sync();
    /* to modes in the last direction: lane (x,y) */
    HOPS_ALL_LANES(t, lanes)
    {
      if (Inside(t)) {
        W *u = v[t];

        HopsSweepToModes<n, R>(S + (DIM - 1) * FS, u);
#pragma unroll
        for (int i = 0; i < n; i++) cube[DIM == 3 ? t % N + n * (t / N + n * i) : t % N + n * i] = u[i];
      }
    }
    team.Sync();
    if (DIM == 3) { /* y: lane (x,k) */
      HOPS_ALL_LANES(t, lanes)
      {
        if (Inside(t)) {
          W *u = v[t], *line = cube + t % N + n * n * (t / N);

#pragma unroll
          for (int j = 0; j < n; j++) u[j] = line[n * j];
          HopsSweepToModes<n, R>(S + FS, u);
#pragma unroll
          for (int j = 0; j < n; j++) line[n * j] = u[j];
        }
      }
      team.Sync();
    }
    HOPS_ALL_LANES(t, lanes) AlongX(p, t, S, F, Row(t, F, cube), x[t], v[t]);
    team.Sync(); /* all have read the faces */
    HOPS_ALL_LANES(t, lanes)
    {
      W *u = v[t], *row = Row(t, F, cube);

#pragma unroll
      for (int i = 0; i < n; i++) row[i] = u[i];
    }
    team.Sync();
    if (DIM == 3) { /* y: lane (x,k), k with its ends, where lines lie in faces */
      HOPS_ALL_LANES(t, lanes)
      {
        if (t % N < n) {
          const int  X = t % N, Z = t / N;
          const bool end = Z == 0 || Z == N - 1;
          W *const first = end ? F + (Z == 0 ? 2 : 3) * face + X + 1 : F + X + 1 + N * Z, *const last =
                                                                                            first + (end ? N * (N - 1) : face);
          W *const  line = end ? first + N : cube + X + n * n * (Z - 1), *u = v[t];
          const int step = end ? N : n;

#pragma unroll
          for (int j = 0; j < n; j++) u[j] = line[step * j];
          HopsSweepToNodes<n, R>(S + FS, S + FS + L::E, *first, *last, u);
#pragma unroll
          for (int j = 0; j < n; j++) line[step * j] = u[j];
        }
      }
      team.Sync();
    }
    HOPS_ALL_LANES(t, lanes)
    {
      if (Inside(t)) {
        const W  *Sz    = S + (DIM - 1) * FS;
        const int step  = DIM == 3 ? n * n : n;
        const W  *line  = cube + t % N + (DIM == 3 ? n * (t / N) : 0);
        const W  *first = F + (DIM == 3 ? 2 * face + N * (t / N + 1) : 0) + t % N + 1;
        W        *u     = v[t];

#pragma unroll
        for (int i = 0; i < n; i++) u[i] = line[step * i];
        HopsSweepToNodes<n, R>(Sz, Sz + L::E, first[0], first[face], u);
        if constexpr (G == 1) {
          if (q < a.n) Store(q, t, u);
        } else
          for (int g = 0; g < G && q + g < a.n; g++) {
            T w[n];

            for (int i = 0; i < n; i++) w[i] = u[i][g];
            Store(q + g, t, w);
          }
      }
    }
  }
};

/* ---- Any window: teams take patches, or on a host groups of equal windows, in turn where their scratch lies
   in the back end's memory ---- */

/* out[o][m][i] (+)= s sum_c M[m][c] in[o][c][i], M with rows of `row` entries (transposed: M[c][m]) */
template <class Team, class W>
HOPS_LANES_CALLED void HopsSweepProduct(const Team &team, const W *__restrict__ M, int row, bool transposed, int m, int c,
                                        int outer, int inner, const W *in, W s, bool add, W *out)
{
  HopsPatchBrick(inner, m, outer).Each(team, [&](int e, int i, int r, int o) {
    W v = {};

    for (int j = 0; j < c; j++) v += M[transposed ? j * row + r : r * row + j] * in[(o * c + j) * inner + i];
    out[e] = add ? out[e] + s * v : s * v;
  });
  team.Sync();
}

template <class T, class V> struct HopsSweepBricks {
  static constexpr int lanes = 128, blocks = sizeof(T) == 8 ? 10 : 9; /* without spills */
  HopsSweepArgs<V>     a;
  int                  factor, dim; /* numbers of the largest factor */

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    constexpr int G = Team::group;

    for (int q = team.index() * G; q < a.n; q += team.count() * G)
      HopsPatchGroups<Team>(
        a.n, q,
        [&](int first, int other) {
          return HopsPatchSameSize(a.patches[first].size, a.patches[other].size) &&
                 HopsPatchSameSize(a.sweep[first].esize, a.sweep[other].esize);
        },
        [&](int first, int of) { Patches(team, first, of, scratch); });
  }

  template <class Team> HOPS_LANES void Patches(const Team &team, int q, int of, double *scratch) const
  {
    typedef typename Team::template Of<T> W;
    constexpr int                         G     = Team::group;
    const HopsLanesPatchRecord           &p     = a.patches[q];
    const HopsLanesSweepRecord           &w     = a.sweep[q];
    auto                                  patch = [&](int g) { return q + (g < of ? g : of - 1); };
    auto      scale = [&](int k) { return HopsLanesEach<W, G>([&](int g) { return (T)a.patches[patch(g)].scale[k]; }); };
    const W   one   = HopsLanesEach<W, G>([&](int) { return (T)1; });
    const int n0 = p.size[0], n1 = p.size[1], n2 = dim == 3 ? p.size[2] : 1, N0 = w.esize[0], N1 = w.esize[1],
              N2    = dim == 3 ? w.esize[2] : 1;
    const int total = n0 * n1 * n2;
    const W  *S[3], *l[3], *M[3], *A[3];
    W        *u = a.work ? (W *)((unsigned char *)a.work + team.index() * a.nwork) : (W *)scratch, *um = u + N0 * N1 * N2,
      *ua = um + n0 * N1 * N2, *P = ua + n0 * N1 * N2, *Q = P + n0 * n1 * N2, *r = Q + n0 * n1 * N2, *copies = r + total;

    for (int d = 0; d < dim; d++) {
      const int n = p.size[d];

      S[d] = HopsPatchFactorOf<Team>((const T *)a.values, n * ((n + 1) / 2 * 2 + 1 + 2 * w.esize[d]),
                                     [&](int g) { return a.sweep[patch(g)].f[d]; }, copies + d * factor);
      l[d] = S[d] + n * ((n + 1) / 2 * 2);
      M[d] = l[d] + n;
      A[d] = M[d] + n * w.esize[d];
    }
    for (int e = team.lane(); e < N0 * N1 * N2; e += team.size())
      u[e] = HopsLanesEach<W, G>([&](int g) { return HopsSweepAt<T>(a, (const V *)a.z, a.eidx[a.sweep[patch(g)].estart + e]); });
    team.Sync();
    /* the operator on all nodes, in modes: r = s_0 A M M + s_1 M A M + s_2 M M A + s_3 M M M */
    HopsSweepProduct(team, M[0], N0, false, n0, N0, N1 * N2, 1, u, one, false, um);
    HopsSweepProduct(team, A[0], N0, false, n0, N0, N1 * N2, 1, u, scale(0), false, ua);
    HopsSweepProduct(team, M[1], N1, false, n1, N1, N2, n0, um, one, false, P);
    HopsSweepProduct(team, M[1], N1, false, n1, N1, N2, n0, ua, one, false, Q);
    HopsSweepProduct(team, A[1], N1, false, n1, N1, N2, n0, um, scale(1), true, Q);
    for (int e = team.lane(); e < n0 * n1 * N2; e += team.size()) Q[e] += scale(3) * P[e];
    team.Sync();
    if (dim == 3) {
      HopsSweepProduct(team, M[2], N2, false, n2, N2, 1, n0 * n1, Q, one, false, r);
      HopsSweepProduct(team, A[2], N2, false, n2, N2, 1, n0 * n1, P, scale(2), true, r);
    } else r = Q;
    /* the right-hand side in modes */
    for (int e = team.lane(); e < total; e += team.size())
      um[e] = HopsLanesEach<W, G>([&](int g) { return HopsSweepAt<T>(a, a.b, a.idx[a.patches[patch(g)].start + e]); });
    team.Sync();
    HopsSweepProduct(team, S[0], (n0 + 1) / 2 * 2, true, n0, n0, n1 * n2, 1, um, one, false, ua);
    HopsSweepProduct(team, S[1], (n1 + 1) / 2 * 2, true, n1, n1, n2, n0, ua, one, false, um);
    if (dim == 3) HopsSweepProduct(team, S[2], (n2 + 1) / 2 * 2, true, n2, n2, 1, n0 * n1, um, one, false, ua);
    {
      const W *rhs = dim == 3 ? ua : um, s5 = HopsLanesEach<W, G>([&](int g) { return (T)a.sweep[patch(g)].s5; });

      HopsPatchBrick(n0, n1, n2).Each(team, [&](int e, int x, int y, int z) {
        const int i[3]   = {x, y, z};
        W         lambda = scale(3);

        for (int d = 0; d < dim; d++) lambda += scale(d) * l[d][i[d]];
        u[e] = scale(4) * (rhs[e] - s5 * r[e]) / lambda;
      });
    }
    team.Sync();
    HopsSweepProduct(team, S[0], (n0 + 1) / 2 * 2, false, n0, n0, n1 * n2, 1, u, one, false, ua);
    HopsSweepProduct(team, S[1], (n1 + 1) / 2 * 2, false, n1, n1, n2, n0, ua, one, false, u);
    if (dim == 3) HopsSweepProduct(team, S[2], (n2 + 1) / 2 * 2, false, n2, n2, 1, n0 * n1, u, one, false, ua);
    {
      const W *out = dim == 3 ? ua : u;

      for (int e = team.lane(); e < total; e += team.size())
        for (int g = 0; g < G && g < of; g++) {
          const int to = a.idx[a.patches[patch(g)].start + e];

          if (to != a.none) a.z[to] += (V)HopsLanesNumber<T>(out[e], g);
        }
    }
    team.Sync();
  }
};

/* ---- Launches ---- */

/* Fast::Cubes(a, run, &done) may do what a back end has a better kernel for */
template <class Back, class Fast> struct HopsLanesPatchSweep {
  template <class T, class V>
  static PetscErrorCode Run(HopsSweepArgs<V> a, const HopsLanesSweepData *d, const HopsLanesPatchRun *run, int dim)
  {
    bool done = false;

    PetscFunctionBegin;
    if (run->kind == HOPS_LANES_PATCH_CUBE && run->group) {
      if constexpr (sizeof(T) == 8) PetscCall(Fast::Cubes(a, run, &done));
#define SWEEP_CUBES(SIZE) \
  if (!done && run->size == SIZE) { \
    if (dim == 3) PetscCall((Back::template Parts<T>("HopsSweepCubes", a.n, HopsSweepCubes<3, SIZE, T, V>{a}))); \
    else PetscCall((Back::template Parts<T>("HopsSweepCubes", a.n, HopsSweepCubes<2, SIZE, T, V>{a}))); \
  }
      HOPS_LANES_PATCH_CUBES(SWEEP_CUBES)
    } else {
      constexpr int G     = Back::Team::group;
      const int     teams = (a.n + G - 1) / G;

      a.work = d->work;
      PetscCall(Back::Teams("HopsSweepBricks", d->work ? PetscMin(teams, d->nteams) : teams, d->work ? 0 : d->nwork,
                            HopsSweepBricks<T, V>{a, d->nfactor, dim}));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  template <class V>
  static HopsSweepArgs<V> Args(HopsLanesPatchSet s, const HopsLanesSweepData *d, const HopsLanesPatchRun *run, const void *b,
                               void *z)
  {
    return {s->patches + run->first,
            d->patches + run->first,
            s->idx,
            d->eidx,
            d->values,
            d->packed,
            (const V *)b,
            (V *)z,
            NULL,
            d->nwork,
            (int)run->n,
            (int)s->nP - 1};
  }

  static PetscErrorCode Sweep(HopsLanesPatchSet s, const HopsLanesSweepData *d, const HopsLanesPatchRun *run, PetscBool floats,
                              const void *b, void *z)
  {
    PetscFunctionBegin;
    PetscCheck(run->kind < HOPS_LANES_PATCH_DENSE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A dense patch in a fused sweep");
    if (floats) PetscCall((Run<float>(Args<float>(s, d, run, b, z), d, run, s->dim)));
    else if (s->single) PetscCall((Run<float>(Args<double>(s, d, run, b, z), d, run, s->dim)));
    else PetscCall((Run<double>(Args<double>(s, d, run, b, z), d, run, s->dim)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
