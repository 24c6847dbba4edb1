/* What coefficients' values in a back end's memory say of a form. Back is its class: see lanes.h. */
#pragma once
#include <backend/lanes/runtime/lanes.h>
#include <backend/lanes/runtime/lanescopy.h>
#include <hops/private/hopsvalues.h>

/* *count += cells that a test finds. A part of a team takes a cell, and a lane some of its points */
struct HopsValuesCountCells {
  static constexpr int lanes = 128, part = 32;
  HopsValuesTest       test;
  int                  dim, n, nq;
  HopsValues           k, m;
  int                 *count;

  static size_t Bytes()
  {
    return HopsLanesOf(lanes) * (2 * sizeof(double) + sizeof(int));
  }

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    constexpr int T = HopsLanesOf(lanes), W = HopsLanesOf(part);
    const int     first = team.lane() / W * W, lane = team.lane() % W, c = team.index() * (T / W) + team.lane() / W;
    const int     kq = c < n ? (k.pstride ? nq : 1) : 0, mq = c < n && m.nc ? (m.pstride ? nq : 1) : 0;
    const double *kv = k.v + (size_t)c * k.cstride, *mv = m.v + (size_t)c * m.cstride;
    double       *least = scratch, *most = scratch + T, lo = PETSC_MAX_REAL, hi = test == HOPS_INDEFINITE ? 0 : PETSC_MIN_REAL;
    int          *flag = (int *)(most + T) + first, found;

    for (int q = lane; q < kq; q += W) {
      if (test == HOPS_INDEFINITE) hi = HopsPointSize((int)k.nc, kv + (size_t)q * k.pstride, hi);
      else HopsPointRange(dim, (int)k.nc, kv + (size_t)q * k.pstride, &lo, &hi);
    }
    least[team.lane()] = lo;
    most[team.lane()]  = hi;
    *flag              = 0; /* all write the same */
    team.Sync();
    for (int i = first; i < first + W; i++) {
      lo = least[i] < lo ? least[i] : lo;
      hi = most[i] > hi ? most[i] : hi;
    }
    if (test == HOPS_INDEFINITE) { /* flag: a point is not positive; or where the derivative's values are zero, a mass is */
      int on = 0;

      for (int q = lane; hi > 0 && q < kq && !on; q += W)
        on = !HopsPointIsPositive(dim, (int)k.nc, kv + (size_t)q * k.pstride, 1e-12 * hi);
      for (int q = lane; !(hi > 0) && q < mq && !on; q += W) on = mv[(size_t)q * m.pstride] > 0;
      if (on) *flag = 1;
      team.Sync();
      found = (hi > 0) == (*flag != 0);
    } else found = HopsCellIsNegative(test, lo, hi);
    if (c < n && !lane && found) Team::Add(count, 1);
  }
};

template <class Back> struct HopsLanesValues {
  /* v, if it is in the back end's memory, or a copy there, whose memory is the caller's */
  static PetscErrorCode Bring(PetscInt n, PetscInt nq, const HopsValues *v, HopsValues *out, void **copy)
  {
    const size_t size = v->cstride ? (size_t)n * v->cstride : (v->pstride ? (size_t)nq * v->pstride : (size_t)v->nc);

    PetscFunctionBegin;
    *out  = *v;
    *copy = NULL;
    if (!v->nc || !PetscMemTypeHost(v->memtype) || Back::Ops()->host) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsLanesCopyIn<Back>(size * sizeof(double), v->v, copy));
    out->v = (const double *)*copy;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode CountCells(HopsValuesTest test, PetscInt dim, PetscInt n, PetscInt nq, const HopsValues *k,
                                   const HopsValues *m, PetscInt *count)
  {
    typedef HopsValuesCountCells F;
    constexpr int                C    = HopsLanesOf(F::lanes) / HopsLanesOf(F::part); /* cells of a team */
    HopsValues                   none = {}, on[2];
    void                        *copy[2];
    int                         *sum, found = 0;

    PetscFunctionBegin;
    *count = 0;
    if (!n || !k->nc) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Bring(n, nq, k, &on[0], &copy[0]));
    PetscCall(Bring(n, nq, m ? m : &none, &on[1], &copy[1]));
    PetscCall(HopsLanesCopyIn<Back>(sizeof(int), &found, &sum));
    PetscCall(
      Back::Teams("HopsCountCells", (int)((n + C - 1) / C), F::Bytes(), F{test, (int)dim, (int)n, (int)nq, on[0], on[1], sum}));
    PetscCall(HopsLanesCopyOut<Back>(sizeof(int), sum, &found));
    PetscCall(HopsLanesFree<Back>(&sum));
    for (int i = 0; i < 2; i++) PetscCall(HopsLanesFree<Back>(&copy[i]));
    *count = found;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
