/*
  Which unknowns cells of several threads add to, on a host: the groups of cells of a launch are in pieces,
  each of them one thread's, and only what cells of several pieces have is added to atomically. Atomic
  additions of doubles take five times as long as others, and without marks half of an operator's time.
  Back is a back end's class: see lanes.h.
*/
#pragma once
#include <hops/private/hopsbackendimpl.h>
#include <backend/lanes/runtime/lanes.h>
#include "lanesoperator.h"

enum {
  HOPS_MEET_NONE = -1,
  HOPS_MEET_MANY = -2
};

/* who[l]: the piece whose cells first .. first + n - 1 have unknown l, none, or many */
template <class Team> struct HopsMeetFind {
  int             percell, first, n, pieces;
  const int      *restr;
  const PetscInt *cell; /* of batches, of which first and n count, or NULL */
  int            *who;

  /* where piece t begins */
  HOPS_LANES int begin(int t) const
  {
    const int group = Team::group;

    if (cell) return (int)cell[first + HopsLanesPiece(0, n, 1, pieces, t)];
    return HopsMin(HopsMax(first, (first / group + HopsLanesPiece(first, n, group, pieces, t)) * group), first + n);
  }
  HOPS_LANES void operator()(size_t t) const
  {
    const int c0 = begin((int)t), c1 = begin((int)t + 1);

    for (size_t e = (size_t)c0 * percell; e < (size_t)c1 * percell; e++) {
      const int l = restr[e] < 0 ? -1 - restr[e] : restr[e], seen = *(volatile int *)(who + l);

      if (seen == (int)t || seen == HOPS_MEET_MANY) continue;
      const int before = Team::Swap(who + l, HOPS_MEET_NONE, (int)t);

      if (before != HOPS_MEET_NONE && before != (int)t) *(volatile int *)(who + l) = HOPS_MEET_MANY;
    }
  }
};

/* padded: -1 is no unknown */
struct HopsMeetMark {
  bool       padded;
  const int *who;
  int       *restr;

  HOPS_LANES void operator()(size_t e) const
  {
    const int k = restr[e], l = k < 0 ? -1 - k : k;

    if (padded && k < 0) return;
    if (who[l] == HOPS_MEET_MANY) restr[e] = k ^ HOPS_LANES_MEET;
  }
};

/* Adds v to unknown k of y, or of yg from nT on; marked: k has a mark where others may do so meanwhile */
template <class Team> HOPS_LANES void HopsMeetAdd(double *y, double *yg, int nT, int k, [[maybe_unused]] bool marked, double v)
{
  if constexpr (Team::group > 1) {
    const int     l  = marked ? k & ~HOPS_LANES_MEET : k;
    double *const to = l < nT ? y + l : yg + (l - nT);

    if (marked && l == k) *to += v;
    else Team::Add(to, v);
  } else Team::Add(k < nT ? y + k : yg + (k - nT), v);
}

/* Groups of the launch's cells, whose first one's cells begin at HopsMeetFirst() */
template <class Cells> HOPS_LANES_CONSTEXPR int HopsMeetGroups(const Cells &k, int group)
{
  return HopsLanesPiece((int)k.first, (int)k.n, group, 1, 1);
}

HOPS_LANES int HopsMeetFirst(PetscInt first, int group)
{
  return (int)first / group * group;
}

template <class Back> struct HopsMeetLaunches {
  static PetscErrorCode Mark(const HopsLanesMeet *m, int restr[], PetscBool *needed)
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;
    int                  pieces, *who;

    PetscFunctionBegin;
    PetscCall(Back::GetThreads(&pieces));
    *needed = pieces > 1 ? PETSC_TRUE : PETSC_FALSE;
    if (!*needed || !restr) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall((*memory->PoolMalloc)(m->nl * sizeof(int), (void **)&who));
    for (int p = 0; p < 3; p++) {
      const int      n = (int)m->n[p], first = (int)m->first[p], some = m->cell ? PetscMin(pieces, n) : pieces;
      const PetscInt c0 = m->cell ? m->cell[first] : first, c1 = m->cell ? m->cell[first + n] : first + n;

      if (!n) continue;
      PetscCall(Back::Set(who, 0xff, m->nl * sizeof(int))); /* HOPS_MEET_NONE */
      PetscCall(
        Back::Each("HopsMeetFind", some, HopsMeetFind<typename Back::Team>{m->percell, first, n, some, m->restr, m->cell, who}));
      PetscCall(
        Back::Each("HopsMeetMark", (size_t)(c1 - c0) * m->each, HopsMeetMark{m->padded, who, restr + (size_t)c0 * m->each}));
    }
    PetscCall((*memory->PoolFree)((void **)&who));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
