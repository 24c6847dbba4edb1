/*
  Forms with full tensors between several fields (patensor.c says which), any order: a team works on a batch
  of cells, with values and reference gradients of all components at their points in scratch of its own where
  that holds them, else in the back end's memory. Reading the tensors bounds it. A back end launches them by
  its class Back: see lanes.h.
*/
#pragma once
#include "lanesmeet.h"
#include "lanestensorface.h"
#include "lanestensorlaunch.h"

/* From L-vectors to values and derivatives at the points. Fewer points than nodes: each derivative is
   interpolated by itself */
template <int DIM, class Team, class V>
HOPS_LANES void HopsTensorUp(const Team &team, const HopsLanesTensorArgs &k, const HopsLanesTensorSide &s, const double *tables,
                             PetscInt cell, int n, V *w)
{
  const int     P = s.table.P, Q = k.Q, lq = HopsTensorOdd(Q), items = s.nc * k.W;
  V            *u = w + s.off, *e = k.under ? w + k.scratch : u + s.R;
  const double *B = tables + s.table.Bup;

  HopsTensorGather<DIM>(team, s, P, k.W, k.S, cell, n, e);
  if (k.under) {
    V *t1 = e + k.X, *t2 = t1 + k.X;

    for (int a = 0; a <= (s.gradient ? DIM : 0); a++) {
      const double *D = tables + s.table.Dup;

      HopsTensorProduct(team, DIM, Q, P, a == 1 ? D : B, a == 2 ? D : B, a == 3 ? D : B, items, k.S, e, t1, t2, u + a * s.R, false);
    }
    return;
  }
  HopsTensorProduct(team, DIM, Q, P, B, B, B, items, k.S, e, u + 2 * s.R, e, u, false);
  if (s.gradient) {
    const double *C = tables + k.C;

    HopsTensorContract(team, Q, Q, C, items, k.S, DIM == 3 ? Q * Q : Q, 1, lq, 1, lq, 1, u, u + s.R, false);
    HopsTensorContract(team, Q, Q, C, items, k.S, DIM == 3 ? Q : 1, Q, Q * lq, lq, Q * lq, lq, u, u + 2 * s.R, false);
    if (DIM == 3) HopsTensorContract(team, Q, Q, C, items, k.S, Q, Q, lq, Q * lq, lq, Q * lq, u, u + 3 * s.R, false);
    team.Sync();
  }
}

/* The transpose, whose results are added to L-vectors */
template <int DIM, class Team, class V>
HOPS_LANES void HopsTensorDown(const Team &team, const HopsLanesTensorArgs &k, const HopsLanesTensorSide &s, const double *tables,
                               PetscInt cell, int n, V *w)
{
  const int     P = s.table.P, Q = k.Q, lq = HopsTensorOdd(Q), items = s.nc * k.W;
  V            *u = w + s.off, *e = k.under ? w + k.scratch : u + s.R;
  const double *B = tables + s.table.Bdown;

  if (k.under) {
    V *t1 = e + k.X, *t2 = t1 + k.X;

    for (int a = 0; a <= (s.gradient ? DIM : 0); a++) {
      const double *D = tables + s.table.Ddown;

      HopsTensorProduct(team, DIM, P, Q, a == 1 ? D : B, a == 2 ? D : B, a == 3 ? D : B, items, k.S, u + a * s.R, t1, t2, e, a > 0);
    }
  } else {
    if (s.gradient) {
      const double *CT = tables + k.CT;

      HopsTensorContract(team, Q, Q, CT, items, k.S, DIM == 3 ? Q * Q : Q, 1, lq, 1, lq, 1, u + s.R, u, true);
      team.Sync();
      HopsTensorContract(team, Q, Q, CT, items, k.S, DIM == 3 ? Q : 1, Q, Q * lq, lq, Q * lq, lq, u + 2 * s.R, u, true);
      team.Sync();
      if (DIM == 3) {
        HopsTensorContract(team, Q, Q, CT, items, k.S, Q, Q, lq, Q * lq, lq, Q * lq, u + 3 * s.R, u, true);
        team.Sync();
      }
    }
    HopsTensorProduct(team, DIM, P, Q, B, B, B, items, k.S, u, u + 2 * s.R, DIM == 3 ? u + 3 * s.R : (V *)NULL, e, false);
  }
  HopsTensorScatter<DIM>(team, s, P, k.W, k.S, cell, n, e);
}

/* NC: components that come out, in place of those that go in; 0: any number, beside them */
template <int DIM, int NC, bool OWN> struct HopsTensorGeneric {
  static constexpr int  lanes = HOPS_TENSOR_LANES, blocks = 3;
  static constexpr bool indexed = true;
  HopsLanesTensorArgs   k;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    typedef typename Team::Value V;
    constexpr bool               copy = OWN && Team::lanes != 1; /* the tables, to where many lanes read them at once */
    V                           *w = OWN ? (V *)(scratch + (copy ? k.ntables : 0)) : (V *)k.work + (size_t)team.index() * k.nwork;
    const double                *tables = copy ? scratch : k.tables;

    if (copy) {
      for (int i = team.lane(); i < k.ntables; i += team.size()) scratch[i] = k.tables[i];
      team.Sync();
    }
    for (PetscInt b = k.first + team.index(); b < k.first + k.n; b += team.count()) {
      const PetscInt cell = k.cell[b];
      const int      n    = (int)(k.cell[b + 1] - cell);

      for (int i = 0; i < k.nside[0]; i++)
        if (k.side[0][i].value || k.side[0][i].gradient) HopsTensorUp<DIM>(team, k, k.side[0][i], tables, cell, n, w);
      HopsTensorPoints<DIM, NC>(team, k, k.Q, k.nq, b, n, w);
      team.Sync();
      for (int i = 0; i < k.nside[1]; i++)
        if (k.side[1][i].value || k.side[1][i].gradient) HopsTensorDown<DIM>(team, k, k.side[1][i], tables, cell, n, w);
      team.Sync();
    }
  }
};

/* The tensors of a component with itself meet products of one-dimensional functions with themselves or with
   their derivatives */
template <bool OWN> struct HopsTensorCellsDiagonal {
  static constexpr int        lanes   = HOPS_TENSOR_LANES;
  static constexpr bool       indexed = true;
  HopsLanesTensorDiagonalArgs k;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    typedef typename Team::Value V;
    V           *r0 = (OWN ? (V *)scratch : (V *)k.work + (size_t)team.index() * k.nwork), *e = r0 + k.W * k.S, *t1 = e + k.W * k.S;
    const size_t stride = (size_t)k.W * k.nq;
    const int dim = k.dim, P = k.table.P, nn = dim == 3 ? P * P * P : P * P, na = k.kind & 2 ? dim : 1, nb = k.kind & 1 ? dim : 1;

    for (PetscInt b = team.index(); b < k.n; b += team.count()) {
      const PetscInt cell = k.cell[b];
      const int      n    = (int)(k.cell[b + 1] - cell);

      for (int ab = 0; ab < na * nb; ab++) {
        /* derivatives of test and trial function, -1: the value */
        const int     a = k.kind & 2 ? ab / nb : -1, d = k.kind & 1 ? ab % nb : -1;
        const double *A[3];

#pragma unroll
        for (int m = 0; m < 3; m++)
          A[m] = k.tables + (m == a ? (m == d ? k.table.DD : k.table.BD) : (m == d ? k.table.BD : k.table.BB));
        for (int t = team.lane(); t < k.W * k.nq; t += team.size()) {
          const int slot = t / k.nq;
          size_t    step;

          r0[slot * k.S + HopsTensorPlace(t - slot * k.nq, k.Q)] =
            slot < HopsTensorSlots<Team>(n) ? *HopsTensorEntry<V>(k.q, b, k.nentries, k.entry + ab, stride, t, &step) : V{};
        }
        team.Sync();
        HopsTensorProduct(team, dim, P, k.Q, A[0], A[1], A[2], k.W, k.S, r0, t1, r0, e, ab > 0);
      }
      for (int t = team.lane(); t < HopsTensorSlots<Team>(n) * nn; t += team.size()) {
        const int slot = t / nn;
        const V   v    = e[slot * k.S + HopsTensorPlace(t - slot * nn, P)];

        for (int g = 0; g < Team::group; g++) {
          if (Team::group > 1 && slot * Team::group + g >= n) break;
          Team::Add(k.l + (size_t)k.restr[HopsTensorNode<Team>(cell, nn, slot, t, g)] * k.nc + k.c, HopsLanesNumber<double>(v, g));
        }
      }
      team.Sync();
    }
  }
};

/* ---- Launches ---- */

template <class Back> struct HopsTensorLaunches {
  template <class F> static PetscErrorCode Run(const F &f, int lanes, int teams, int *busy)
  {
    return HopsTensorRun<Back>(f, HopsLanesTensorBytes(&f.k, false, Back::Team::group), lanes, teams, busy);
  }

  template <int DIM, bool OWN> static PetscErrorCode Components(const HopsLanesTensorArgs *k, int lanes, int teams, int *busy)
  {
    switch (k->ncout) {
    case 1:
      return Run(HopsTensorGeneric<DIM, 1, OWN>{*k}, lanes, teams, busy);
    case 2:
      return Run(HopsTensorGeneric<DIM, 2, OWN>{*k}, lanes, teams, busy);
    case 3:
      return Run(HopsTensorGeneric<DIM, 3, OWN>{*k}, lanes, teams, busy);
    case 4:
      return Run(HopsTensorGeneric<DIM, 4, OWN>{*k}, lanes, teams, busy);
    default:
      return Run(HopsTensorGeneric<DIM, 0, OWN>{*k}, lanes, teams, busy);
    }
  }

  static PetscErrorCode Apply(const HopsLanesTensorArgs *k, int lanes, int teams, int *busy)
  {
    if (k->work) return k->dim == 3 ? Components<3, false>(k, lanes, teams, busy) : Components<2, false>(k, lanes, teams, busy);
    return k->dim == 3 ? Components<3, true>(k, lanes, teams, busy) : Components<2, true>(k, lanes, teams, busy);
  }

  static PetscErrorCode Diagonal(const HopsLanesTensorDiagonalArgs *k, int lanes, int teams)
  {
    if (k->work) return Back::Teams("HopsTensorDiagonal", teams, 0, HopsTensorCellsDiagonal<false>{*k}, lanes);
    return Back::Teams("HopsTensorDiagonal", teams, k->nwork * sizeof(typename Back::Team::Value),
                       HopsTensorCellsDiagonal<true>{*k}, lanes);
  }

  static PetscErrorCode GetSizes(size_t bytes, int *teams, PetscBool *own)
  {
    return Back::GetSizes(bytes, teams, own, HOPS_TENSOR_SHARED);
  }

  /* what lies in a table beside the kernels that know all sizes */
  static HopsLanesTensorKernels Table()
  {
    HopsLanesTensorKernels k = {};

    k.backend       = Back::Ops();
    k.group         = Back::Team::group;
    k.lanes         = HopsLanesOf(HOPS_TENSOR_LANES);
    k.facelanes     = HopsLanesOf(HOPS_TENSOR_FACE_LANES);
    k.GetSizes      = GetSizes;
    k.generic       = Apply;
    k.Diagonal      = Diagonal;
    k.FacesApply    = HopsTensorFaceLaunches<Back>::Apply;
    k.FacesDiagonal = HopsTensorFaceLaunches<Back>::Diagonal;
    k.meet          = HopsMeetLaunches<Back>::Ops();
    return k;
  }
};
