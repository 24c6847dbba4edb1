/*
  Rows of several components that do not couple, from those of one: what is row r of a node is rows r nc to
  r nc + nc - 1, which lie side by side, and each has the node's columns. Eight lanes of a device work on a
  node's row, which has 5 to 19 entries as a rule. Back is a back end's class: see lanes.h.
*/
#pragma once
#include <backend/lanes/runtime/lanes.h>
#include "laneslor.h"

#define HOPS_WIDE_LANES 8

/* Where the entries of row r of a node begin, and how many there are */
HOPS_LANES int WideBegin(const HopsLORRows &rows, int b, int r, int *n)
{
  const int lo = rows.i[b][r];

  *n = rows.i[b][r + 1] - lo;
  return lo;
}

struct HopsLORWidenRows {
  HopsLORRows rows;
  int         nc;
  HopsLORRows wide;

  HOPS_LANES void operator()(size_t i) const
  {
    const int L = HopsLanesOf(HOPS_WIDE_LANES), r = (int)(i / L), lane = (int)(i % L);

    for (int b = 0; b < 2 && rows.i[b]; b++) {
      int       n;
      const int lo = WideBegin(rows, b, r, &n);

      for (int c = lane; c < nc; c += L) wide.i[b][r * nc + c] = nc * lo + c * n;
      if (lane == 0 && r == rows.n - 1) wide.i[b][rows.n * nc] = nc * (lo + n);
      for (int c = 0; c < nc; c++)
        for (int e = lane; e < n; e += L) wide.j[b][nc * lo + c * n + e] = rows.j[b][lo + e] * nc + c;
    }
  }
};

struct HopsLORWidenValues {
  HopsLORRows          rows;
  int                  nc, c;
  const unsigned char *fixed0, *fixed1;
  HopsLORRows          wide;

  HOPS_LANES void operator()(size_t i) const
  {
    const int  L = HopsLanesOf(HOPS_WIDE_LANES), r = (int)(i / L), lane = (int)(i % L);
    const bool row = fixed0 && fixed0[r] >> c & 1;

    for (int b = 0; b < 2 && rows.i[b]; b++) {
      const unsigned char *fixed = b ? fixed1 : fixed0;
      int                  n;
      const int            lo = WideBegin(rows, b, r, &n);

      for (int e = lane; e < n; e += L) {
        const int j = rows.j[b][lo + e];
        double    v = rows.v[b][lo + e];

        if (row) v = b == 0 && j == r;
        else if (fixed && fixed[j] >> c & 1) v = 0;
        wide.v[b][nc * lo + c * n + e] = v;
      }
    }
  }
};

template <class Back> struct HopsLORWideLaunches {
  static PetscErrorCode Rows(const HopsLORRows *rows, int nc, const HopsLORRows *wide)
  {
    return Back::Each("HopsLORWidenRows", (size_t)rows->n * HopsLanesOf(HOPS_WIDE_LANES), HopsLORWidenRows{*rows, nc, *wide});
  }

  static PetscErrorCode Values(const HopsLORRows *rows, int nc, int c, const unsigned char fixed0[], const unsigned char fixed1[],
                               const HopsLORRows *wide)
  {
    return Back::Each("HopsLORWidenValues", (size_t)rows->n * HopsLanesOf(HOPS_WIDE_LANES),
                      HopsLORWidenValues{*rows, nc, c, fixed0, fixed1, *wide});
  }

  static void Fill(HopsLanesLORKernels *k)
  {
    k->WidenRows   = Rows;
    k->WidenValues = Values;
  }
};
