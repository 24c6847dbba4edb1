/*
  Launches of the kernels on H(curl), H(div) and L2 for any order, and of set-up (lanesderhamgeneric.h), by a
  back end's class Back: see lanes.h.
*/
#pragma once
#include "lanesderhamgeneric.h"
#include "lanesderhamimpl.h"

#define HOPS_DERHAM_MOST_SCRATCH (200 * 1024) /* bytes */

struct HopsDerhamGenericApply {
  static constexpr int lanes = 128;
  HopsDerhamCell       s;
  const double        *x, *xg;
  double              *y, *yg;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    HopsDerhamApplyGeneric(team, s, scratch, x, xg, y, yg);
  }
};

struct HopsDerhamGenericDiagonal {
  static constexpr int lanes = 128, blocks = 8;
  HopsDerhamSquares    t;
  double              *d, *dg;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    HopsDerhamDiagonalGeneric(team, t, scratch, d, dg);
  }
};

template <int DIM> struct HopsDerhamSetUpCells {
  static constexpr int lanes = HOPS_JACOBIAN_LANES;
  HopsSetUpArgs        s;
  int                  family, derivative, planes;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    HopsDerhamSetUpPoints<DIM>(team, family, derivative, s, planes, scratch);
  }
};

template <class Back> struct HopsDerhamLaunches {
  static HopsDerhamCell Cell(const HopsDerhamArgs *k)
  {
    const HopsFamily families[] = {HOPS_HCURL, HOPS_HDIV, HOPS_L2};
    HopsDerhamCell   s;

    s.k = *k;
    HopsLayoutCreate(families[k->family], k->dim, k->P - 1, &s.l);
    HopsLayoutCreate(HopsFamilyDerivative(families[k->family], k->dim), k->dim, k->P - 1, &s.w);
    return s;
  }

  /* n: cells, or groups of them */
  template <class F> static PetscErrorCode Run(const HopsDerhamArgs *k, PetscInt n, const F &f)
  {
    return Back::Teams("HopsDerhamGeneric", (int)PetscMin((PetscInt)k->nteams, n), k->work ? 0 : k->nwork * sizeof(double), f);
  }

  static PetscErrorCode Apply(const HopsDerhamArgs *k, const double x[], const double xg[], double y[], double yg[])
  {
    return Run(k, k->n, HopsDerhamGenericApply{Cell(k), x, xg, y, yg});
  }

  /* Cells of few points would leave most lanes of a team idle: their teams are smaller, and more of them */
  static PetscErrorCode Diagonal(const HopsDerhamArgs *k, double d[], double dg[])
  {
    const HopsDerhamGenericDiagonal f     = {HopsDerhamSquares(Cell(k)), d, dg};
    const int                       nq    = HopsLanesPower(k->Q, k->dim);
    const int                       share = k->work || Back::Team::group > 1 || nq > 128 ? 1 : (nq > 64 ? 2 : 4);

    return Back::Teams("HopsDerhamDiagonal", (int)PetscMin((PetscInt)k->nteams * share, HopsMeetGroups(*k, Back::Team::group)),
                       k->work ? 0 : k->nwork * sizeof(double), f, f.lanes / share);
  }

  static PetscErrorCode GenericSetUp(HopsDerhamArgs *k, PetscBool *own)
  {
    const HopsDerhamCell s = Cell(k);

    PetscFunctionBegin;
    k->nwork = (size_t)(s.l.ne + s.w.ne) + 2 * (size_t)HopsLanesPower(PetscMax(k->P, k->Q), k->dim) +
               (size_t)s.l.nc * HopsLanesPower(k->Q, k->dim);
    k->nwork *= Back::Team::group; /* the diagonal's are values of so many cells */
    PetscCall(Back::GetSizes(k->nwork * sizeof(double), &k->nteams, own, HOPS_DERHAM_MOST_SCRATCH));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  template <int DIM> static PetscErrorCode SetUpIn(int family, const HopsSetUpArgs *s)
  {
    const int                 derivative = family == HOPS_DERHAM_HCURL && DIM == 3 ? HOPS_DERHAM_HDIV : HOPS_DERHAM_L2;
    HopsDerhamSetUpCells<DIM> f          = {*s, family, derivative, 0};
    size_t                    bytes;
    const int                 teams = (int)HopsJacobianTeams(s, &f.planes, &bytes);

    return Back::Teams("HopsDerhamSetUp", teams, bytes, f);
  }

  static PetscErrorCode SetUp(int family, const HopsSetUpArgs *s)
  {
    return s->dim == 3 ? SetUpIn<3>(family, s) : SetUpIn<2>(family, s);
  }

  static PetscErrorCode FindBad(const HopsSetUpArgs *s, PetscInt cell)
  {
    return Back::Each("HopsFindBad", 1, HopsFindBadPoint{*s, cell});
  }

  /* what lies in a table beside the fused kernels */
  static HopsDerhamKernels Table(int group)
  {
    HopsDerhamKernels k = {};

    k.backend      = Back::Ops();
    k.group        = group;
    k.generic      = Apply;
    k.GenericSetUp = GenericSetUp;
    k.Diagonal     = Diagonal;
    k.SetUp        = SetUp;
    k.FindBad      = FindBad;
    k.meet         = HopsMeetLaunches<Back>::Ops();
    return k;
  }
};
