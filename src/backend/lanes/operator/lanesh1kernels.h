/*
  Launches of the kernels in H1 for any order, and of set-up (lanesh1generic.h), by a back end's class Back:
  see lanes.h.
*/
#pragma once
#include "lanesh1generic.h"
#include "lanesh1impl.h"

struct HopsH1GenericApply {
  static constexpr int lanes = 128, blocks = 8;
  HopsH1Args           k;
  const double        *x, *xg;
  double              *y, *yg;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    HopsH1ApplyGeneric(team, k, scratch, x, xg, y, yg);
  }
};

template <bool AFFINE> struct HopsH1Diagonal {
  static constexpr int lanes = 128;
  HopsH1Args           k;
  double              *d, *dg;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    if constexpr (AFFINE) HopsH1DiagonalAffine(team, k, scratch, d, dg);
    else HopsH1DiagonalGeneric(team, k, scratch, d, dg);
  }
};

template <int DIM> struct HopsH1SetUpPoints {
  static constexpr int lanes = HOPS_JACOBIAN_LANES;
  HopsSetUpArgs        s;
  int                  planes;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    HopsH1SetUp<DIM>(team, s, planes, scratch);
  }
};

template <class Team> struct HopsH1SetUpCorners {
  HopsSetUpArgs s;

  HOPS_LANES void operator()(size_t c) const
  {
    HopsH1SetUpCells<Team>(s, (int)c);
  }
};

struct HopsH1PadNodes {
  int        dim, n, P;
  const int *restr;
  int       *padded;

  HOPS_LANES void operator()(size_t e) const
  {
    HopsH1Pad(dim, n, P, restr, padded, e);
  }
};

template <class Back> struct HopsH1Launches {
  /* n: cells, or groups of them */
  template <class F> static PetscErrorCode Run(const HopsH1Args *k, PetscInt n, const F &f)
  {
    const int teams = (int)PetscMin((PetscInt)k->nteams, n);

    return Back::Teams("HopsH1Generic", teams, k->work ? 0 : k->nwork * sizeof(double), f);
  }

  static PetscErrorCode Apply(const HopsH1Args *k, const double x[], const double xg[], double y[], double yg[])
  {
    return Run(k, k->n, HopsH1GenericApply{*k, x, xg, y, yg});
  }

  static PetscErrorCode Diagonal(const HopsH1Args *k, double d[], double dg[])
  {
    const PetscInt n = HopsMeetGroups(*k, Back::Team::group);

    if (k->geometry != HOPS_GEOMETRY_AFFINE) return Run(k, n, HopsH1Diagonal<false>{*k, d, dg});
    return Back::Teams("HopsH1Diagonal", (int)PetscMin((PetscInt)k->nteams, n), k->work ? 0 : 3 * k->P * sizeof(double),
                       HopsH1Diagonal<true>{*k, d, dg});
  }

  static PetscErrorCode GenericSetUp(int dim, int P, int Q, size_t *nwork, int *nteams, PetscBool *own)
  {
    PetscFunctionBegin;
    *nwork = HopsH1GenericScratch(Back::Team::group, dim, P, Q);
    PetscCall(Back::GetSizes(*nwork * sizeof(double), nteams, own));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Pad(int dim, int n, int P, PetscInt ncells, const int restr[], int padded[])
  {
    return Back::Each("HopsH1Pad", (size_t)ncells * HopsLanesPower(P, dim), HopsH1PadNodes{dim, n, P, restr, padded});
  }

  template <int DIM> static PetscErrorCode SetUpIn(const HopsSetUpArgs *s)
  {
    HopsH1SetUpPoints<DIM> f = {*s, 0};
    size_t                 bytes;
    const int              teams = (int)HopsJacobianTeams(s, &f.planes, &bytes);

    return Back::Teams("HopsH1SetUp", teams, bytes, f);
  }

  static PetscErrorCode SetUp(const HopsSetUpArgs *s)
  {
    return s->dim == 3 ? SetUpIn<3>(s) : SetUpIn<2>(s);
  }

  static PetscErrorCode SetUpCells(const HopsSetUpArgs *s)
  {
    return Back::Each("HopsH1SetUpCells", s->n, HopsH1SetUpCorners<typename Back::Team>{*s});
  }

  static PetscErrorCode FindBad(const HopsSetUpArgs *s, PetscInt cell)
  {
    return Back::Each("HopsFindBad", 1, HopsFindBadPoint{*s, cell});
  }

  /* what lies in a table beside the fused kernels */
  static HopsH1Kernels Table(int group)
  {
    HopsH1Kernels k = {};

    k.backend      = Back::Ops();
    k.group        = group;
    k.generic      = Apply;
    k.GenericSetUp = GenericSetUp;
    k.Diagonal     = Diagonal;
    k.Pad          = Pad;
    k.SetUp        = SetUp;
    k.SetUpCells   = SetUpCells;
    k.FindBad      = FindBad;
    k.meet         = HopsMeetLaunches<Back>::Ops();
    return k;
  }
};
