/*
  Local solves of sets of patches by teams of lanes. Patches of equal odd sizes (the stars of 2^d cells) have
  kernels for the size: a lane multiplies a column, which it holds in registers, by the patch's own matrices,
  which lie in scratch; on a host lanespatchgroup.h. Other sizes run a plain kernel.
*/
#pragma once
#include "lanespatchgroup.h"
#include "lanespatchmeet.h"

/* ---- Cubes ---- */

/* v <- S^T v or S v; rows of S have R entries */
template <int n, int R, class W> HOPS_LANES void HopsPatchTransform(const W *S, bool transpose, W v[n])
{
  W w[R];

  if (transpose) {
#pragma unroll
    for (int m = 0; m < R; m++) w[m] = W{};
#pragma unroll
    for (int i = 0; i < n; i++)
#pragma unroll
      for (int m = 0; m < R; m++) w[m] += S[i * R + m] * v[i];
  } else {
#pragma unroll
    for (int i = 0; i < n; i++) {
      w[i] = W{};
#pragma unroll
      for (int m = 0; m < n; m++) w[i] += S[i * R + m] * v[m];
    }
  }
#pragma unroll
  for (int m = 0; m < n; m++) v[m] = w[m];
}

/* Registers of a lane of kernels whose lanes hold lines of n, as measured to be fastest */
template <int n, class T> struct HopsPatchRegisters {
  static constexpr int value =
    sizeof(T) == 8 ? (n <= 3 ? 64 : (n <= 5 ? 80 : (n <= 7 ? 96 : (n <= 9 ? 112 : 128)))) : (n <= 5 ? 64 : (n <= 9 ? 80 : 96));
};

template <int DIM, int n, class T, class V> struct HopsPatchSolveCubes {
  static constexpr int R = (n + 1) / 2 * 2, F = n * R + n, FS = (F + 3) / 4 * 4; /* a factor */
  static constexpr int lanes = DIM == 3 ? n * n : n, entries = (lanes * n + 3) / 4 * 4;
  static constexpr int cells = lanes >= 96 ? 1 : 128 / lanes; /* patches of a team */
  static constexpr int warps = (lanes * cells + 31) / 32, most = 65536 / (HopsPatchRegisters<n, T>::value * 32 * warps);
  static constexpr int blocks = most > 0 ? most : 1;

  HopsPatchSolveArgs<V> a;

  template <class Team> HOPS_LANES_CONSTEXPR static int Numbers()
  {
    return DIM * FS + entries;
  }

  template <class Team> HOPS_LANES void operator()(const Team &team, T *S) const
  {
    constexpr int               C = lanes, n2 = n * n;
    const int                   t = team.lane(), q = team.cell(0);
    T *const                    cube = S + DIM * FS;
    const HopsLanesPatchRecord &p    = a.patches[q < a.n ? q : a.n - 1];
    const T                     s3   = (T)p.scale[3];
    T                           u[n];

#pragma unroll
    for (int d = 0; d < DIM; d++)
      for (int i = t; i < F; i += Team::lanes) S[d * FS + i] = ((const T *)a.values)[p.f[d] + i];
        /* the last direction: lane (X,Y) or X */
#pragma unroll
    for (int k = 0; k < n; k++) u[k] = HopsPatchLoad<T>(a, p.start + t + C * k);
    team.Sync();
    HopsPatchTransform<n, R>(S + (DIM - 1) * FS, true, u);
#pragma unroll
    for (int k = 0; k < n; k++) cube[t + C * k] = u[k];
    team.Sync();
    if (DIM == 3) { /* y: lane (X,k) */
      HopsPatchLine(S + FS, true, cube + t % n + n2 * (t / n), n);
      team.Sync();
    }
    { /* x, and back: lane (j,k) or j */
      const T s0 = (T)p.scale[0], s1 = (T)p.scale[1], s2 = DIM == 3 ? (T)p.scale[2] : 0, s4 = (T)p.scale[4];
      T      *row = cube + n * t, lambda = s3 + s1 * S[FS + n * R + t % n];

      if (DIM == 3) lambda += s2 * S[(DIM - 1) * FS + n * R + t / n];
#pragma unroll
      for (int i = 0; i < n; i++) u[i] = row[i];
      HopsPatchTransform<n, R>(S, true, u);
#pragma unroll
      for (int i = 0; i < n; i++) u[i] *= s4 / (lambda + s0 * S[n * R + i]);
      HopsLanesForget(); /* of the matrix, which is read again */
      HopsPatchTransform<n, R>(S, false, u);
#pragma unroll
      for (int i = 0; i < n; i++) row[i] = u[i];
    }
    team.Sync();
    if (DIM == 3) {
      HopsPatchLine(S + FS, false, cube + t % n + n2 * (t / n), n);
      team.Sync();
    }
#pragma unroll
    for (int k = 0; k < n; k++) u[k] = cube[t + C * k];
    HopsPatchTransform<n, R>(S + (DIM - 1) * FS, false, u);
    if (q < a.n)
#pragma unroll
      for (int k = 0; k < n; k++) HopsPatchAdd<Team>(a, p.start + t + C * k, u[k]);
  }

  /* A line in scratch */
  template <class W> HOPS_LANES static void HopsPatchLine(const W *S, bool transpose, W *line, int stride)
  {
    W v[n];

#pragma unroll
    for (int j = 0; j < n; j++) v[j] = line[stride * j];
    HopsPatchTransform<n, R>(S, transpose, v);
#pragma unroll
    for (int j = 0; j < n; j++) line[stride * j] = v[j];
  }
};

/* ---- Other sizes: a team works on a patch, or on a host on a group of equal sizes ---- */

/* Entries e = i + n0 (j + n1 k) of a brick */
struct HopsPatchBrick {
  int               n[3], total;
  HopsLanesQuotient by0, by1;

  HOPS_LANES HopsPatchBrick(int n0, int n1, int n2) : n{n0, n1, n2}, total(n0 * n1 * n2), by0(n0), by1(n1) {}

  /* f(e, i, j, k), shared among the lanes; one lane divides by nothing */
  template <class Team, class F> HOPS_LANES void Each(const Team &team, const F &f) const
  {
    if constexpr (Team::group > 1) {
      for (int k = 0, e = 0; k < n[2]; k++)
        for (int j = 0; j < n[1]; j++)
          for (int i = 0; i < n[0]; i++, e++) f(e, i, j, k);
    } else {
      for (int e = team.lane(); e < total; e += team.size()) {
        int       i, j;
        const int k = by1(by0(e, &i), &j);

        f(e, i, j, k);
      }
    }
  }
};

/* One product of a brick: out = S^T in or S in along direction d, whose entries have distance `stride` */
template <class Team, class W>
HOPS_LANES_CALLED void HopsPatchMultiply(const Team &team, const HopsPatchBrick &brick, int d, int stride, const W *__restrict__ S,
                                         bool transpose, const W *in, W *out)
{
  const int n = brick.n[d], R = (n + 1) / 2 * 2;

  brick.Each(team, [&](int e, int x, int y, int z) {
    const int i    = d == 0 ? x : d == 1 ? y : z;
    const W  *line = in + (e - i * stride);
    W         s    = {};

    for (int k = 0; k < n; k++) s += S[transpose ? k * R + i : i * R + k] * line[k * stride];
    out[e] = s;
  });
  team.Sync();
}

/* f(q, of) for all patches of a launch from `first` on that a team takes: of patches from q on at a time, of
   which same(q, other) is true */
template <class Team, class Same, class F> HOPS_LANES void HopsPatchGroups(int n, int first, const Same &same, const F &f)
{
  if constexpr (Team::group == 1) f(first, 1);
  else {
    const int end = first + Team::group < n ? first + Team::group : n;

    for (int q = first, of; q < end; q += of) {
      for (of = 1; q + of < end && same(q, q + of); of++) {}
      f(q, of);
    }
  }
}

HOPS_LANES bool HopsPatchSameSize(const int a[3], const int b[3])
{
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* n numbers of each patch's factor, which begin at values[at(g)]: where they are, or copied to scratch */
template <class Team, class T, class F>
HOPS_LANES const typename Team::template Of<T> *HopsPatchFactorOf(const T *values, int n, const F &at,
                                                                  typename Team::template Of<T> *scratch)
{
  typedef typename Team::template Of<T> W;

  if constexpr (Team::group == 1) return values + at(0);
  else {
    for (int i = 0; i < n; i++) scratch[i] = HopsLanesEach<W, Team::group>([&](int g) { return values[at(g) + i]; });
    return scratch;
  }
}

/* Any sizes: the patch lies in scratch twice, of `entries` values; a group's factors, of `factor` numbers at
   most, behind that */
template <class T, class V> struct HopsPatchSolveBricks {
  static constexpr int  lanes = 128;
  HopsPatchSolveArgs<V> a;
  int                   entries, factor, dim;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    HopsPatchGroups<Team>(
      a.n, team.index() * Team::group,
      [&](int q, int other) { return HopsPatchSameSize(a.patches[q].size, a.patches[other].size); },
      [&](int q, int of) { Patches(team, q, of, scratch); });
  }

  template <class Team> HOPS_LANES void Patches(const Team &team, int q, int of, double *scratch) const
  {
    typedef typename Team::template Of<T> W;
    constexpr int                         G = Team::group;
    const HopsLanesPatchRecord           &p = a.patches[q];
    auto patch = [&](int g) -> const HopsLanesPatchRecord & { return G == 1 ? p : a.patches[q + (g < of ? g : of - 1)]; };
    auto scale = [&](int k) { return HopsLanesEach<W, G>([&](int g) { return (T)patch(g).scale[k]; }); };
    const HopsPatchBrick brick(p.size[0], p.size[1], dim == 3 ? p.size[2] : 1);
    const int            total = brick.total;
    const W             *S[3];
    W                   *u = (W *)scratch, *w = u + entries, *swap;

    for (int d = 0; d < (G == 1 ? 3 : dim); d++)
      S[d] = HopsPatchFactorOf<Team>((const T *)a.values, p.size[d] * ((p.size[d] + 1) / 2 * 2 + 1),
                                     [&](int g) { return patch(g).f[d]; }, u + 2 * entries + d * factor);
    for (int e = team.lane(); e < total; e += team.size())
      u[e] = HopsLanesEach<W, G>([&](int g) { return HopsPatchLoad<T>(a, patch(g).start + e); });
    team.Sync();
    for (int d = 0, stride = 1; d < dim; stride *= brick.n[d++], swap = u, u = w, w = swap)
      HopsPatchMultiply(team, brick, d, stride, S[d], true, u, w);
    brick.Each(team, [&](int e, int x, int y, int z) {
      const int i[3]   = {x, y, z};
      W         lambda = scale(3);

      for (int d = 0; d < dim; d++) lambda += scale(d) * S[d][brick.n[d] * ((brick.n[d] + 1) / 2 * 2) + i[d]];
      u[e] *= scale(4) / lambda;
    });
    team.Sync();
    for (int d = 0, stride = 1; d < dim; stride *= brick.n[d++], swap = u, u = w, w = swap)
      HopsPatchMultiply(team, brick, d, stride, S[d], false, u, w);
    for (int e = team.lane(); e < total; e += team.size())
      for (int g = 0; g < G && g < of; g++) HopsPatchAdd<Team>(a, patch(g).start + e, HopsLanesNumber<T>(u[e], g));
  }
};

/* Dense inverses, in double precision: a row of lanes takes a row; on a host sums are of a group */
template <class V> struct HopsPatchSolveDense {
  static constexpr int  lanes = 128, blocks = 16;
  HopsPatchSolveArgs<V> a;
  int                   dim;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *x) const
  {
    const HopsLanesPatchRecord &p   = a.patches[team.index()];
    const int                   n   = p.size[0] * p.size[1] * (dim == 3 ? p.size[2] : 1);
    const double               *inv = a.inv + p.dense;

    for (int e = team.lane(); e < n; e += team.size()) x[e] = HopsPatchLoad<double>(a, p.start + e);
    team.Sync();
    for (int i = team.lane() / HOPS_LANES_ROW; i < n; i += HopsLanesOf(lanes) / HOPS_LANES_ROW) {
      double s = 0;

      if constexpr (Team::group > 1) s = Product<Team>(n, inv + (size_t)i * n, x);
      else
        for (int j = team.lane() % HOPS_LANES_ROW; j < n; j += HOPS_LANES_ROW) s += inv[(size_t)i * n + j] * x[j];
      s = HopsLanesSum(s);
      if (team.lane() % HOPS_LANES_ROW == 0) HopsPatchAdd<Team>(a, p.start + i, s);
    }
  }

  template <class Team> HOPS_LANES static double Product(int n, const double *row, const double *x)
  {
    typedef typename Team::template Of<double> W;
    constexpr int                              G    = Team::group;
    W                                          sums = {};
    double                                     s    = 0;
    int                                        j    = 0;

    for (; j + G <= n; j += G)
      sums += HopsLanesEach<W, G>([&](int g) { return row[j + g]; }) * HopsLanesEach<W, G>([&](int g) { return x[j + g]; });
    for (int g = 0; g < G; g++) s += sums[g];
    for (; j < n; j++) s += row[j] * x[j];
    return s;
  }
};

/* Condensed patches, in double precision: the nodes lie in scratch twice, and the skeleton once */
template <class V> struct HopsPatchSolveCondensed {
  static constexpr int      lanes = 256;
  HopsPatchSolveArgs<V>     a;
  HopsPatchModes            modes;
  const HopsPatchCondensed *cond;
  const double             *schur;
  int                       entries;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *x) const
  {
    const HopsLanesPatchRecord &p = a.patches[team.index()];
    const HopsPatchCondensed   &c = cond[p.dense];
    const int                   n = p.size[0] * p.size[1] * (modes.dim == 3 ? p.size[2] : 1);

    for (int e = team.lane(); e < n; e += team.size()) x[e] = HopsPatchLoad<double>(a, p.start + e);
    team.Sync();
    HopsPatchCondensedSolve(&modes, &c, schur + c.offset, x, x + entries, x + 2 * entries, team.lane(), team.size());
    for (int e = team.lane(); e < n; e += team.size()) HopsPatchAdd<Team>(a, p.start + e, p.scale[4] * x[e]);
  }
};

/* ---- Launches ---- */

#define HOPS_LANES_PATCH_CUBES(X) X(1) X(3) X(5) X(7) X(9) X(11) X(13) X(15) /* sizes with kernels */

/* Fast::Cubes(a, run, &done) may do what a back end has a better kernel for */
template <class Back, class Fast> struct HopsLanesPatchSolve {
  template <int DIM, int n, class T, class V> static PetscErrorCode Cubes(const HopsPatchSolveArgs<V> &a)
  {
    constexpr int G = Back::Team::group;

    if constexpr (G > 1) {
      typedef HopsPatchSolveGroup<DIM, n, T, V> Group;

      return Back::Teams("HopsPatchGroup", (a.n + G - 1) / G, Group::template Bytes<typename Back::Team>(), Group{a});
    } else return Back::template Parts<T>("HopsPatchCubes", a.n, HopsPatchSolveCubes<DIM, n, T, V>{a});
  }

  template <class T, class V>
  static PetscErrorCode Run(const HopsPatchSolveArgs<V> &a, const HopsLanesPatchRun *run, HopsLanesPatchSet s)
  {
    constexpr int G     = Back::Team::group;
    const int     dim   = s->dim;
    const bool    cubes = run->kind == HOPS_LANES_PATCH_CUBE;
    bool          done  = false;

    PetscFunctionBegin;
    if (run->kind == HOPS_LANES_PATCH_CONDENSED)
      PetscCall(Back::Teams("HopsPatchCondensed", a.n, HOPS_LANES_CONDENSED_BYTES(run->entries, s->nskeleton),
                            HopsPatchSolveCondensed<V>{a, s->modes, s->cond, s->schur, run->entries}));
    else if (run->kind == HOPS_LANES_PATCH_DENSE)
      PetscCall(
        Back::Teams("HopsPatchDense", a.n, HOPS_LANES_PATCH_BYTES(run->entries * sizeof(double)), HopsPatchSolveDense<V>{a, dim}));
    else if (cubes) {
      if constexpr (sizeof(T) == 8) PetscCall(Fast::Cubes(a, run, &done));
#define SOLVE_CUBES(SIZE) \
  if (!done && run->size == SIZE) { \
    if (dim == 3) PetscCall((Cubes<3, SIZE, T>(a))); \
    else PetscCall((Cubes<2, SIZE, T>(a))); \
  }
      HOPS_LANES_PATCH_CUBES(SOLVE_CUBES)
    } else
      PetscCall(Back::Teams("HopsPatchBricks", (a.n + G - 1) / G,
                            HOPS_LANES_PATCH_BYTES(sizeof(T) * G * (2 * run->entries + (G > 1 ? 3 * s->nfactor : 0))),
                            HopsPatchSolveBricks<T, V>{a, run->entries, s->nfactor, dim}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  template <class V>
  static HopsPatchSolveArgs<V> Args(HopsLanesPatchSet s, const HopsLanesPatchRun *run, PetscBool atomic, HopsPatchMode mode,
                                    const void *r, void *z)
  {
    const bool apart = atomic && s->to;

    return {s->patches + run->first,
            s->idx,
            s->level,
            apart ? s->to : NULL,
            s->dist,
            apart ? s->meets + run->first : NULL,
            s->values,
            s->inv,
            s->packed,
            (const V *)r,
            (V *)z,
            (V *)s->buffer,
            (int)run->n,
            (int)s->nP - 1,
            (int)mode,
            atomic && !apart};
  }

  static PetscErrorCode Solve(HopsLanesPatchSet s, const HopsLanesPatchRun *run, PetscBool atomic, HopsPatchMode mode,
                              PetscBool floats, const void *r, void *z)
  {
    PetscFunctionBegin;
    if (floats) PetscCall((Run<float>(Args<float>(s, run, atomic, mode, r, z), run, s)));
    else if (s->single) PetscCall((Run<float>(Args<double>(s, run, atomic, mode, r, z), run, s)));
    else PetscCall((Run<double>(Args<double>(s, run, atomic, mode, r, z), run, s)));
    if constexpr (Back::Team::group > 1) {
      if (!atomic || !s->to) PetscFunctionReturn(PETSC_SUCCESS);
      if (floats) PetscCall(HopsSharedLaunches<Back>::Sum(&run->shared, 1, s->nP, s->buffer, (float *)z, (float *)NULL));
      else PetscCall(HopsSharedLaunches<Back>::Sum(&run->shared, 1, s->nP, s->buffer, (double *)z, (double *)NULL));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/* A back end without better kernels */
struct HopsLanesPatchPlain {
  template <class Args> static PetscErrorCode Cubes(const Args &, const HopsLanesPatchRun *, bool *)
  {
    return PETSC_SUCCESS;
  }
};
