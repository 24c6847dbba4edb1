/*
  Entries of cells on lines of hanging nodes, from those of their parents, and back (hopshanging.h). A team
  works on several cells, whose entries lie side by side. Back is a back end's class: see lanes.h.
*/
#pragma once
#include <backend/lanes/runtime/lanes.h>
#include "laneshung.h"

/* The entry i of a line */
HOPS_LANES int HopsHungAt(const unsigned long long at[], int i)
{
  return (int)(at[i / 4] >> (16 * (i % 4))) & 65535;
}

/* A u on n entries of u, in place; A[n][n], or its transpose, where n is not known before */
template <int N, class T> HOPS_LANES void HopsHungLine(const T A[], const unsigned long long at[], T u[])
{
  T r[N], v[N];

#pragma unroll
  for (int i = 0; i < N; i++) r[i] = u[HopsHungAt(at, i)];
#pragma unroll
  for (int m = 0; m < N; m++) {
    v[m] = 0;
#pragma unroll
    for (int i = 0; i < N; i++) v[m] += A[m * N + i] * r[i];
  }
#pragma unroll
  for (int i = 0; i < N; i++) u[HopsHungAt(at, i)] = v[i];
}

template <class T> HOPS_LANES void HopsHungLineOf(int n, const double A[], bool transpose, const unsigned long long at[], T u[])
{
  T r[HOPS_HANGING_MOST];

  for (int i = 0; i < n; i++) r[i] = u[HopsHungAt(at, i)];
  for (int m = 0; m < n; m++) {
    T s = 0;

    for (int i = 0; i < n; i++) s += (T)HopsLoad(A + (transpose ? i * n + m : m * n + i)) * r[i];
    u[HopsHungAt(at, m)] = s;
  }
}

/* A line as a lane of a device keeps it; none: of nobody */
template <int P> struct HopsHungWords {
  unsigned long long at[HOPS_HUNG_WORDS(P)];
  bool               none, open;

  HOPS_LANES void Load(const HopsHungArgs &k, int line)
  {
    none = false;
    open = HopsLoad(k.open + line);
#pragma unroll
    for (int w = 0; w < HOPS_HUNG_WORDS(P); w++) at[w] = HopsLoad(k.at + (size_t)line * HOPS_HUNG_WORDS(P) + w);
  }
};

/*
  A team's cells lie one after the other, and a lane takes one of their lines at a time. Their entries u are
  in scratch, and behind them where each cell's begin and its lines along each direction. Cells' entries are
  read from xg behind the L-vector's in the transpose, and written to yg there else. P nodes a direction, 0:
  as the arguments say

  At low orders nothing but latencies takes time. A lane of a device then asks for its lines of all directions
  (AHEAD), and in the transpose for the places of what it adds, before it needs the first of them.
*/
template <int P, bool TRANSPOSE, class T> struct HopsHungLines {
  static constexpr bool indexed = false, AHEAD = P && P <= 4 && HopsLanesOf(2) == 2;
  static constexpr int  lanes = 64, blocks = AHEAD ? 32 : 16;
  enum {
    N = P ? P : 1,
    M = P > 1 ? P - 1 : 1
  };
  HopsHungArgs k;
  const T     *x, *xg;
  T           *y, *yg;
  T            A[N * N], B[M * M]; /* for nodes and for integrals, transposed where the kernel is */

  static size_t Scratch(const HopsHungArgs &k)
  {
    const size_t each = sizeof(T) + (AHEAD && TRANSPOSE ? sizeof(int) : 0);

    return ((size_t)k.group * (k.most * each + 5 * sizeof(int)) + 7) / 8 * 8;
  }

  HOPS_LANES void Line(const HopsHungWords<N> &l, T u[]) const
  {
    if (l.open) HopsHungLine<M>(B, l.at, u);
    else HopsHungLine<N>(A, l.at, u);
  }

  /* from lane `first` on */
  template <class Team> HOPS_LANES void Direction(const Team &team, int nc, int a, int first, T u[], const int begin[]) const
  {
    const double perline = 1.0 / k.lines;

    for (int i = first; i < nc * k.lines; i += team.size()) {
      const int g = (int)((i + 0.5) * perline), *b = begin + 5 * g, line = b[1 + a] + i - g * k.lines;

      if (line >= b[2 + a]) continue;
      if constexpr (P) {
        HopsHungWords<N> l;

        l.Load(k, line);
        Line(l, u + b[0]);
      } else {
        const int open = k.open[line];

        HopsHungLineOf(k.P - open, k.J[open], TRANSPOSE, k.at + (size_t)line * HOPS_HUNG_WORDS(k.P), u + b[0]);
      }
    }
    team.Sync();
  }

  /* A lane's first line of each direction */
  HOPS_LANES void Ask(int lane, int nc, int c0, HopsHungWords<N> l[]) const
  {
    const int g = (int)((lane + 0.5) * (1.0 / k.lines)), *line = k.line + 4 * (size_t)(c0 + (g < nc ? g : 0));

#pragma unroll
    for (int a = 0; a < 3; a++) {
      const int i = HopsLoad(line + a) + lane - g * k.lines;

      l[a].none = g >= nc || i >= HopsLoad(line + a + 1);
      if (!l[a].none) l[a].Load(k, i);
    }
  }

  HOPS_LANES size_t Entry(int at) const
  {
    return (size_t)at * k.nc + k.c;
  }

  template <class Team> HOPS_LANES void Put(int l, T v) const
  {
    const int at = l < 0 ? -1 - l : l;

    Team::Add(at < k.nT ? y + Entry(at) : yg + Entry(at - k.nT), l < 0 && k.unit < 0 ? -v : v); /* a diagonal has no signs */
  }

  HOPS_LANES T Get(int e) const
  {
    const int l = HopsLoad(k.list + e), at = l < 0 ? -1 - l : l;
    const T   v = at < k.nT ? x[Entry(at)] : xg[Entry(at - k.nT)];

    return l < 0 ? -v : v;
  }

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    T        *u  = (T *)scratch;
    const int c0 = k.first + team.index() * k.group, end = k.first + k.n, nc = k.group < end - c0 ? k.group : end - c0;
    const int s0 = HopsLoad(k.start + c0), n = HopsLoad(k.start + c0 + nc) - s0, behind = k.nL - k.nT + s0;
    int      *begin = (int *)(u + (size_t)k.group * k.most), *list = begin + 5 * k.group;

    HopsHungWords<N> line[3];

    if constexpr (AHEAD) Ask(team.lane(), nc, c0, line);

    for (int i = team.lane(); i < 5 * nc; i += team.size()) {
      const int g = i / 5, j = i % 5;

      begin[i] = j ? HopsLoad(k.line + 4 * (size_t)(c0 + g) + j - 1) : HopsLoad(k.start + c0 + g) - s0;
    }
#pragma unroll 4
    for (int i = team.lane(); i < n; i += team.size()) {
      u[i] = TRANSPOSE ? xg[Entry(behind + i)] : (k.unit >= 0 ? 0 : Get(s0 + i));
      if constexpr (AHEAD && TRANSPOSE) list[i] = HopsLoad(k.list + s0 + i);
    }
    team.Sync();
    if (!TRANSPOSE && k.unit >= 0) {
      for (int g = team.lane(); g < nc; g += team.size())
        if (begin[5 * g] + k.unit < (g + 1 < nc ? begin[5 * g + 5] : n)) u[begin[5 * g] + k.unit] = 1;
      team.Sync();
    }
    if constexpr (AHEAD) {
      const int mine = begin[5 * HopsMin(team.lane() / k.lines, nc - 1)];

#pragma unroll
      for (int i = 0; i < 3; i++) {
        const int a = TRANSPOSE ? 2 - i : i;

        if (a >= k.dim) continue;
        if (!line[a].none) Line(line[a], u + mine);
        Direction(team, nc, a, team.lane() + team.size(), u, begin);
      }
    } else
      for (int a = 0; a < k.dim; a++) Direction(team, nc, TRANSPOSE ? k.dim - 1 - a : a, team.lane(), u, begin);
    if (TRANSPOSE && k.unit >= 0) {
      for (int g = team.lane(); g < nc; g += team.size()) {
        const int i = begin[5 * g] + k.unit;

        if (i < (g + 1 < nc ? begin[5 * g + 5] : n)) Put<Team>(HopsLoad(k.list + s0 + i), u[i]);
      }
      return;
    }
#pragma unroll 4
    for (int i = team.lane(); i < n; i += team.size()) {
      if constexpr (!TRANSPOSE) yg[Entry(behind + i)] = u[i];
      else if constexpr (AHEAD) Put<Team>(list[i], u[i]);
      else Put<Team>(HopsLoad(k.list + s0 + i), u[i]);
    }
  }
};

/* Each cell's entries get numbers behind the L-vector's */
struct HopsHungNumber {
  HopsHungArgs k;
  const int   *mask, *mstart, *entry;
  int         *list, *restr;

  HOPS_LANES void operator()(size_t i) const
  {
    const int *e = entry + mstart[mask[i]], lo = k.start[i], n = k.start[i + 1] - lo;
    int       *r = restr + (size_t)k.cell[i] * k.ne;

    for (int j = 0; j < n; j++) {
      list[lo + j] = r[e[j]];
      r[e[j]]      = k.nL + lo + j;
    }
  }
};

template <class Back> struct HopsHungLaunches {
  template <int P, bool TRANSPOSE, class T>
  static PetscErrorCode RunOf(const HopsHungArgs *k, const T x[], const T xg[], T y[], T yg[])
  {
    HopsHungLines<P, TRANSPOSE, T> f = {*k, x, xg, y, yg, {}, {}};

    for (int b = 0; b < 2 && P; b++) {
      const int n = P - b;

      for (int i = 0; i < n * n; i++) (b ? f.B : f.A)[i] = (T)k->hostJ[b][TRANSPOSE ? i % n * n + i / n : i];
    }
    return Back::Teams("HopsHung", (k->n + k->group - 1) / k->group, f.Scratch(*k), f);
  }

  template <bool TRANSPOSE, class T> static PetscErrorCode Run(const HopsHungArgs *k, const T x[], const T xg[], T y[], T yg[])
  {
    switch (k->P) {
    case 2:
      return RunOf<2, TRANSPOSE>(k, x, xg, y, yg);
    case 3:
      return RunOf<3, TRANSPOSE>(k, x, xg, y, yg);
    case 4:
      return RunOf<4, TRANSPOSE>(k, x, xg, y, yg);
    case 5:
      return RunOf<5, TRANSPOSE>(k, x, xg, y, yg);
    case 6:
      return RunOf<6, TRANSPOSE>(k, x, xg, y, yg);
    case 7:
      return RunOf<7, TRANSPOSE>(k, x, xg, y, yg);
    case 8:
      return RunOf<8, TRANSPOSE>(k, x, xg, y, yg);
    case 9:
      return RunOf<9, TRANSPOSE>(k, x, xg, y, yg);
    default:
      return RunOf<0, TRANSPOSE>(k, x, xg, y, yg);
    }
  }

  template <class T> static PetscErrorCode ApplyOf(const HopsHungArgs *k, const void *x, void *xg)
  {
    return Run<false>(k, (const T *)x, (const T *)xg, (T *)NULL, (T *)xg);
  }

  template <class T> static PetscErrorCode TransposeOf(const HopsHungArgs *k, const void *from, void *y, void *yg)
  {
    return Run<true>(k, (const T *)NULL, (const T *)from, (T *)y, (T *)yg);
  }

  static PetscErrorCode Apply(const HopsHungArgs *k, PetscDataType type, const void *x, void *xg)
  {
    return type == PETSC_FLOAT ? ApplyOf<float>(k, x, xg) : ApplyOf<double>(k, x, xg);
  }

  static PetscErrorCode ApplyTranspose(const HopsHungArgs *k, PetscDataType type, const void *from, void *y, void *yg)
  {
    return type == PETSC_FLOAT ? TransposeOf<float>(k, from, y, yg) : TransposeOf<double>(k, from, y, yg);
  }

  static PetscErrorCode Number(const HopsHungArgs *k, const int mask[], const int mstart[], const int entry[], int list[],
                               int restr[])
  {
    return Back::Each("HopsHungNumber", k->n, HopsHungNumber{*k, mask, mstart, entry, list, restr});
  }

  static HopsHungKernels Table()
  {
    return {Back::Ops(), Apply, ApplyTranspose, Number};
  }
};
