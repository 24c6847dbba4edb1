/*
  Local solves of cubes on a host: a lane takes a group of patches, whose values lie side by side in vectors.
  Where the patches have the same factors, these are numbers, and stay where they are; else they are copied,
  to vectors. Symmetric factors, whose modes are even (they come first) or odd, take half of the products.
*/
#pragma once
#include <type_traits>
#include "lanespatchentries.h"

#if defined(HOPS_LANES_ONE)
  #define HOPS_PATCH_UNROLL _Pragma("GCC unroll 16")
#else
  #define HOPS_PATCH_UNROLL
#endif
#if defined(HOPS_LANES_ONE) && defined(__AVX512F__)
  #include <immintrin.h>
#endif

/* 1/x: an estimate of 14 bits and two Newton steps, since divisions take as long as products of low orders */
template <class W> HOPS_LANES W HopsPatchGroupInverse(const W x)
{
#if defined(HOPS_LANES_ONE) && defined(__AVX512F__)
  if constexpr (std::is_same<decltype(x[0] + 0), double>::value && sizeof(W) == 64) {
    W y = (W)_mm512_rcp14_pd((__m512d)x);

    y += y * (1 - x * y);
    return y + y * (1 - x * y);
  }
#endif
  return 1 / x;
}

/* w[M] = A v[N], A's entry (m, i) at S[m rows + i columns] */
template <int M, int N, int rows, int columns, class Number, class W>
HOPS_LANES void HopsPatchGroupProduct(const Number *S, const W v[], W w[])
{
  HOPS_PATCH_UNROLL
  for (int m = 0; m < M; m++) w[m] = S[m * rows] * v[0];
  HOPS_PATCH_UNROLL
  for (int i = 1; i < N; i++) {
    HOPS_PATCH_UNROLL
    for (int m = 0; m < M; m++) w[m] += S[m * rows + i * columns] * v[i];
  }
}

/* w = S^T v, or S v; n is odd */
template <int n, bool symmetric, class Number, class W>
HOPS_LANES void HopsPatchGroupTransform(const Number *S, bool transpose, const W v[n], W w[n])
{
  constexpr int R = n + 1, Ne = (n + 1) / 2, No = n / 2;

  if constexpr (!symmetric || n == 1) {
    if (transpose) HopsPatchGroupProduct<n, n, 1, R>(S, v, w);
    else HopsPatchGroupProduct<n, n, R, 1>(S, v, w);
  } else if (transpose) {
    W even[Ne], odd[No];

    HOPS_PATCH_UNROLL
    for (int i = 0; i < No; i++) {
      even[i] = v[i] + v[n - 1 - i];
      odd[i]  = v[i] - v[n - 1 - i];
    }
    even[No] = v[No];
    HopsPatchGroupProduct<Ne, Ne, 1, R>(S, even, w);
    HopsPatchGroupProduct<No, No, 1, R>(S + Ne, odd, w + Ne);
  } else {
    W even[Ne], odd[No];

    HopsPatchGroupProduct<Ne, Ne, R, 1>(S, v, even);
    HopsPatchGroupProduct<No, No, R, 1>(S + Ne, v + Ne, odd);
    HOPS_PATCH_UNROLL
    for (int i = 0; i < No; i++) {
      w[i]         = even[i] + odd[i];
      w[n - 1 - i] = even[i] - odd[i];
    }
    w[No] = even[No];
  }
}

template <int DIM, int n, class T, class V> struct HopsPatchSolveGroup {
  static constexpr int lanes = 1, lines = DIM == 3 ? n * n : n, entries = lines * n, R = n + 1, F = n * R + n; /* a factor */

  HopsPatchSolveArgs<V> a;

  template <class Team> static constexpr size_t Bytes()
  {
    return (entries + DIM * F) * sizeof(typename Team::template Of<T>);
  }

  /* Lines of n entries `stride` apart of u[], n of them `step` apart, to modes or to nodes */
  template <bool symmetric, class Number, class W>
  HOPS_LANES static void Lines(const Number *S, bool transpose, int stride, int step, W *u)
  {
    for (int j = 0; j < n; j++, u += step) {
      W v[n], w[n];

      HOPS_PATCH_UNROLL
      for (int i = 0; i < n; i++) v[i] = u[stride * i];
      HopsPatchGroupTransform<n, symmetric>(S, transpose, v, w);
      HOPS_PATCH_UNROLL
      for (int i = 0; i < n; i++) u[stride * i] = w[i];
    }
  }

  /* In the last direction, where the modes of the others are: to modes, by eigenvalues, and back */
  template <bool symmetric, class Number, class W> HOPS_LANES static void Last(const Number *const S[DIM], const W s[5], W *u)
  {
    for (int j = 0; j < lines; j++) {
      const W base = s[3] + s[0] * S[0][n * R + j % n] + (DIM == 3 ? s[1] * S[1][n * R + j / n] : W{});
      W       v[n], w[n];

      HOPS_PATCH_UNROLL
      for (int i = 0; i < n; i++) v[i] = u[lines * i + j];
      HopsPatchGroupTransform<n, symmetric>(S[DIM - 1], true, v, w);
      HOPS_PATCH_UNROLL
      for (int i = 0; i < n; i++) w[i] *= s[4] * HopsPatchGroupInverse(base + s[DIM - 1] * S[DIM - 1][n * R + i]);
      HopsPatchGroupTransform<n, symmetric>(S[DIM - 1], false, w, v);
      HOPS_PATCH_UNROLL
      for (int i = 0; i < n; i++) u[lines * i + j] = v[i];
    }
  }

  template <bool symmetric, class Number, class W> HOPS_LANES static void Invert(const Number *const S[DIM], const W s[5], W *u)
  {
    for (int k = 0; k < lines / n; k++) {
      Lines<symmetric>(S[0], true, 1, n, u + n * n * k);
      if (DIM == 3) Lines<symmetric>(S[1], true, n, 1, u + n * n * k);
    }
    Last<symmetric>(S, s, u);
    for (int k = 0; k < lines / n; k++) {
      if (DIM == 3) Lines<symmetric>(S[1], false, n, 1, u + n * n * k);
      Lines<symmetric>(S[0], false, 1, n, u + n * n * k);
    }
  }

  template <class Number, class W> HOPS_LANES static void Solve(const Number *const S[DIM], bool symmetric, const W s[5], W *u)
  {
    if (symmetric) Invert<true>(S, s, u);
    else Invert<false>(S, s, u);
  }

  /* Entries of a full group from r[], and their sum into z[], or where `to` says: what launches mostly do,
     without looking at the mode for each entry. A group that adds to z[] alone does not read `to` */
  template <int G, class W> HOPS_LANES void Load(const HopsLanesPatchRecord *p, W u[]) const
  {
    const int  none = a.none;
    const V   *r    = a.r;
    const int *idx[G];

    for (int g = 0; g < G; g++) idx[g] = a.idx + p[g].start;
    for (int e = 0; e < entries; e++) {
      W x;
      HOPS_PATCH_UNROLL
      for (int g = 0; g < G; g++) {
        const int i = idx[g][e];

        x[g] = i == none ? (T)0 : (T)r[i];
      }
      u[e] = x;
    }
  }

  template <class Team, bool apart, class W> HOPS_LANES void Add(const HopsLanesPatchRecord *p, const W u[]) const
  {
    constexpr int G = Team::group;

    const int  none = a.none;
    V         *z = a.z, *buffer = a.buffer;
    const int *idx[G];

    for (int g = 0; g < G; g++) idx[g] = (apart ? a.to : a.idx) + p[g].start;
    for (int e = 0; e < entries; e++) {
      const W x = u[e];
      HOPS_PATCH_UNROLL
      for (int g = 0; g < G; g++) {
        const int i = idx[g][e];

        if (i == none) continue;
        if (apart) HopsPatchAddOwn(z, buffer, i, (V)x[g]);
        else z[i] += (V)x[g];
      }
    }
  }

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    typedef typename Team::template Of<T> W;
    constexpr int                         G      = Team::group;
    const HopsLanesPatchRecord           *p      = a.patches + team.index() * G;
    const int                             m      = team.index() * G + G <= a.n ? G : a.n - team.index() * G;
    const T                              *values = (const T *)a.values;
    W                                    *u = (W *)scratch, *copy = u + entries, s[5];
    bool                                  same = true, symmetric = true, meets = false;

    for (int g = 0; g < m && a.to; g++) meets = meets || a.meets[team.index() * G + g];
    for (int g = 0; g < m; g++)
      for (int d = 0; d < DIM; d++) {
        same      = same && p[g].f[d] == p[0].f[d];
        symmetric = symmetric && values[p[g].f[d] + F] != 0;
      }
    if (m == G && a.mode != HOPS_PATCH_RESTRICT_IN) Load<G>(p, u);
    else
      for (int e = 0; e < entries; e++)
        u[e] = HopsLanesEach<W, G>([&](int g) { return g < m ? HopsPatchLoad<T>(a, p[g].start + e) : (T)0; });
    for (int i = 0; i < 5; i++) s[i] = HopsLanesEach<W, G>([&](int g) { return (T)p[g < m ? g : 0].scale[i]; });
    if (same) {
      const T *S[DIM];

      for (int d = 0; d < DIM; d++) S[d] = values + p[0].f[d];
      Solve(S, symmetric, s, u);
    } else {
      const W *S[DIM];

      for (int d = 0; d < DIM; d++) {
        for (int g = 0; g < G; g++)
          for (int i = 0; i < F; i++) ((T *)(copy + d * F))[i * G + g] = values[p[g < m ? g : 0].f[d] + i];
        S[d] = copy + d * F;
      }
      Solve(S, symmetric, s, u);
    }
    if (m == G && !a.atomic && a.mode != HOPS_PATCH_RESTRICT_OUT) {
      if (meets) Add<Team, true>(p, u);
      else Add<Team, false>(p, u);
    } else
      for (int g = 0; g < m; g++)
        for (int e = 0; e < entries; e++) HopsPatchAdd<Team>(a, p[g].start + e, ((const T *)u)[e * G + g]);
  }
};
