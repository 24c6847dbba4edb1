/*
  What rows of the low-order-refined matrix are made from: the cells that hold an unknown, in ascending order;
  the columns of other ranks' unknowns; and what other ranks and faces add to single rows. Back is a back
  end's class: see lanes.h.
*/
#pragma once
#include "laneslorrow.h"

/* ---- The transposed element restriction ---- */

/* Has a cell an unknown twice, or is one of several cells in the middle of one? */
struct HopsLORFindTwice {
  HopsLanesLORMesh m;
  int              percell;
  double           perentry;
  bool             nodes;
  int             *twice;

  HOPS_LANES void operator()(size_t i) const
  {
    const int lo = m.begin[i], n = m.begin[i + 1] - lo, *x = m.entry + lo;
    const int sides = m.dim == 3 ? 0x808080 : 0x8080, top = 0x808080 + (m.P - 2) * 0x010101;
    int       before = -1;
    bool      again  = false;

    if (n < 2) return;
    for (int k = 0; k < n; k++) {
      const int  e = x[k], c = CellOf(e, perentry), at = nodes ? m.ijk[e - c * percell] : 0;
      const bool inside = nodes && ((at + 0x7f7f7f) & (top - at) & sides) == sides; /* 0 < i < P - 1 in each byte */

      again  = again || inside || c == before;
      before = c;
    }
    if (again) *twice = 1; /* all write the same */
  }
};

/* ---- Columns of block 1 ---- */

struct HopsLORMap {
  HopsLORRows rows;

  HOPS_LANES void operator()(size_t r) const
  {
    const int lo = rows.i[1][r], hi = rows.i[1][r + 1];

    for (int k = lo; k < hi; k++) rows.j[1][k] = rows.map[rows.j[1][k]];
    if (rows.sorted) HopsSortInts(hi - lo, rows.j[1] + lo);
  }
};

struct HopsLORSlots {
  HopsLORRows rows;

  HOPS_LANES void operator()(size_t s) const
  {
    rows.slot[rows.slotrow[s]] = (int)s;
  }
};

/* ---- What is added to single rows ---- */

/* What was received is added in the order of the message */
struct HopsLORReceived {
  HopsLORRows   rows;
  const double *x;

  HOPS_LANES void operator()(size_t s) const
  {
    Row out = GlobalRow(rows, rows.slotrow[s]);

    for (int k = rows.xi[s]; k < rows.xi[s + 1]; k++) out.Add(rows.xj[k], x[k]);
  }
};

struct HopsLORDiagonal {
  HopsLORRows     rows;
  const PetscInt *idx;
  const double   *x;

  HOPS_LANES void operator()(size_t i) const
  {
    if (idx[i] < rows.first || idx[i] >= rows.first + rows.n) return;
    Row out = GlobalRow(rows, (int)(idx[i] - rows.first));

    for (out.next = out.lo; out.J[out.next] != idx[i];) out.next++;
    if (x) out.V[out.next] += x[i];
    else out.V[out.next] = 1;
  }
};

struct HopsLORFindZero {
  HopsLORRows rows;
  int        *zero;

  HOPS_LANES void operator()(size_t r) const
  {
    const int hi = rows.i[0][r + 1];
    int       k  = rows.i[0][r];

    while (k < hi && rows.j[0][k] != (int)r) k++;
    if (k < hi && rows.v[0][k] == 0) *zero = 1; /* all write the same */
  }
};

template <class Back> struct HopsLORRowLaunches {
  static PetscErrorCode FindTwice(const HopsLanesLORMesh *m, int nl, int percell, PetscBool nodes, int *twice)
  {
    return Back::Each("HopsLORFindTwice", nl, HopsLORFindTwice{*m, percell, 1.0 / percell, nodes == PETSC_TRUE, twice});
  }

  static PetscErrorCode Slots(const HopsLORRows *rows)
  {
    return Back::Each("HopsLORSlots", rows->nslots, HopsLORSlots{*rows});
  }

  static PetscErrorCode Map(const HopsLORRows *rows)
  {
    return Back::Each("HopsLORMap", rows->n, HopsLORMap{*rows});
  }

  static PetscErrorCode Received(const HopsLORRows *rows, const double x[])
  {
    return Back::Each("HopsLORReceived", rows->nslots, HopsLORReceived{*rows, x});
  }

  static PetscErrorCode Diagonal(const HopsLORRows *rows, PetscInt n, const PetscInt idx[], const double x[])
  {
    return Back::Each("HopsLORDiagonal", n, HopsLORDiagonal{*rows, idx, x});
  }

  static PetscErrorCode FindZero(const HopsLORRows *rows, int *zero)
  {
    return Back::Each("HopsLORFindZero", rows->n, HopsLORFindZero{*rows, zero});
  }

  static void Fill(HopsLanesLORKernels *k)
  {
    k->backend   = Back::Ops();
    k->group     = Back::Team::group;
    k->Set       = Back::Set;
    k->Scan      = Back::Scan;
    k->Transpose = HopsLanesLists<Back>::Transpose;
    k->FindTwice = FindTwice;
    k->Slots     = Slots;
    k->Map       = Map;
    k->Received  = Received;
    k->Diagonal  = Diagonal;
    k->FindZero  = FindZero;
  }
};
