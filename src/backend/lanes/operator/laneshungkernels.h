/*
  Entries of cells on lines of hanging nodes, from those of their parents, and back (hopshanging.h). A team
  works on several cells, whose entries lie side by side. Back is a back end's class: see lanes.h.
*/
#pragma once
#include <backend/lanes/runtime/lanes.h>
#include "laneshung.h"

/* u, the entries of a team's cells, is in its scratch, and room for products. Cells' entries are read from
   xg behind the L-vector's in the transpose, and written to yg there else */
template <bool TRANSPOSE> struct HopsHungLines {
  static constexpr int lanes = 128;
  HopsHungArgs         k;
  const double        *x, *xg;
  double              *y, *yg;

  static size_t Scratch(const HopsHungArgs &k)
  {
    return (size_t)k.group * (k.most + k.pairs) * sizeof(double);
  }

  /* u = A u along direction a; every pair of a line and a place on it is one lane's */
  template <class Team> HOPS_LANES void Direction(const Team &team, int c0, int nc, int a, double u[], double v[]) const
  {
    const double perpair = 1.0 / k.pairs, perplace = 1.0 / k.P;

    for (int put = 0; put < 2; put++) {
      for (int i = team.lane(); i < nc * k.pairs; i += team.size()) {
        const int g = (int)((i + 0.5) * perpair), j = i - g * k.pairs, c = c0 + g, l = (int)((j + 0.5) * perplace), m = j - l * k.P;
        const int first = HopsLoad(k.line + 3 * HopsLoad(k.mask + c) + a);

        if (first + l >= HopsLoad(k.line + 3 * HopsLoad(k.mask + c) + a + 1)) continue;
        const int             open = HopsLoad(k.open + first + l), P = k.P - open;
        const unsigned short *at = k.at + (size_t)(first + l) * k.P;
        double               *w  = u + HopsLoad(k.start + c) - HopsLoad(k.start + c0);

        if (m >= P) continue;
        if (put) w[HopsLoad(at + m)] = v[i];
        else {
          const double *J = k.J[open] + (TRANSPOSE ? m : m * P);
          double        s = 0;

          for (int n = 0; n < P; n++) s += HopsLoad(J + (TRANSPOSE ? n * P : n)) * w[HopsLoad(at + n)];
          v[i] = s;
        }
      }
      team.Sync();
    }
  }

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    const int c0 = k.first + team.index() * k.group, end = k.first + k.n, nc = k.group < end - c0 ? k.group : end - c0;
    const int s0 = HopsLoad(k.start + c0), n = HopsLoad(k.start + c0 + nc) - s0;
    double   *u = scratch, *v = u + (size_t)k.group * k.most;

    for (int i = team.lane(); i < n; i += team.size()) {
      const int l = k.list[s0 + i], at = l < 0 ? -1 - l : l;

      if (TRANSPOSE) u[i] = xg[k.nL - k.nT + s0 + i];
      else if (k.unit >= 0) u[i] = 0;
      else u[i] = (l < 0 ? -1 : 1) * (at < k.nT ? x[at] : xg[at - k.nT]);
    }
    team.Sync();
    if (!TRANSPOSE && k.unit >= 0) {
      for (int g = team.lane(); g < nc; g += team.size())
        if (k.start[c0 + g] + k.unit < k.start[c0 + g + 1]) u[k.start[c0 + g] + k.unit - s0] = 1;
      team.Sync();
    }
    for (int a = 0; a < k.dim; a++) Direction(team, c0, nc, TRANSPOSE ? k.dim - 1 - a : a, u, v);
    if (TRANSPOSE && k.unit >= 0) { /* a diagonal has no signs */
      for (int g = team.lane(); g < nc; g += team.size()) {
        const int e = k.start[c0 + g] + k.unit;

        if (e >= k.start[c0 + g + 1]) continue;
        const int l = k.list[e], at = l < 0 ? -1 - l : l;

        Team::Add(at < k.nT ? y + at : yg + (at - k.nT), u[e - s0]);
      }
      return;
    }
    for (int i = team.lane(); i < n; i += team.size()) {
      if (!TRANSPOSE) yg[k.nL - k.nT + s0 + i] = u[i];
      else {
        const int l = k.list[s0 + i], at = l < 0 ? -1 - l : l;

        Team::Add(at < k.nT ? y + at : yg + (at - k.nT), l < 0 ? -u[i] : u[i]);
      }
    }
  }
};

/* Each cell's entries get numbers behind the L-vector's */
struct HopsHungNumber {
  HopsHungArgs k;
  const int   *mstart, *entry;
  int         *list, *restr;

  HOPS_LANES void operator()(size_t i) const
  {
    const int *e = entry + mstart[k.mask[i]], lo = k.start[i], n = k.start[i + 1] - lo;
    int       *r = restr + (size_t)k.cell[i] * k.ne;

    for (int j = 0; j < n; j++) {
      list[lo + j] = r[e[j]];
      r[e[j]]      = k.nL + lo + j;
    }
  }
};

template <class Back> struct HopsHungLaunches {
  template <bool TRANSPOSE> static PetscErrorCode Run(const HopsHungArgs *k, const double x[], const double xg[], double y[], double yg[])
  {
    const HopsHungLines<TRANSPOSE> f = {*k, x, xg, y, yg};

    return Back::Teams("HopsHung", (k->n + k->group - 1) / k->group, f.Scratch(*k), f);
  }

  static PetscErrorCode Apply(const HopsHungArgs *k, const double x[], double xg[])
  {
    return Run<false>(k, x, xg, NULL, xg);
  }

  static PetscErrorCode ApplyTranspose(const HopsHungArgs *k, const double from[], double y[], double yg[])
  {
    return Run<true>(k, NULL, from, y, yg);
  }

  static PetscErrorCode Number(const HopsHungArgs *k, const int mstart[], const int entry[], int list[], int restr[])
  {
    return Back::Each("HopsHungNumber", k->n, HopsHungNumber{*k, mstart, entry, list, restr});
  }

  static HopsHungKernels Table()
  {
    return {Back::Ops(), Apply, ApplyTranspose, Number};
  }
};
