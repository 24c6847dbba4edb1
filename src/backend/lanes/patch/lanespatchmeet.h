/*
  Which unknowns patches of several threads add to, on a host: the patches of a launch are in pieces, each of
  them one thread's, in the order in which they lie in the mesh. Only what patches of several pieces have is
  added to atomically, so one launch serves all patches, and an unknown's line stays in a cache until they
  are done. By colours, which need nothing atomic, all unknowns would pass through the caches for each. Back
  is a back end's class: see lanes.h.
*/
#pragma once
#include <backend/lanes/operator/lanesmeet.h>
#include "lanespatch.h"

/* A launch: teams have `each` patches, and pieces teams side by side, as many in each */
template <class Team> struct HopsPatchMeet {
  const HopsLanesPatchRecord *patches;
  const int                  *idx;
  int                         n, each, pieces, none, dim, *who, *marked;

  HOPS_LANES int Begin(int piece) const
  {
    const long long teams = (n + each - 1) / each;

    return HopsMin(n, (int)(teams * piece / pieces) * each);
  }
  template <class Do> HOPS_LANES void Entries(int piece, const Do &Put) const
  {
    for (int k = Begin(piece); k < Begin(piece + 1); k++) {
      const HopsLanesPatchRecord &p   = patches[k];
      const int                   end = p.start + p.size[0] * p.size[1] * (dim == 3 ? p.size[2] : 1);

      for (int e = p.start; e < end; e++) Put(e);
    }
  }
};

/* who[l]: the piece whose patches have unknown l, none, or many */
template <class Team> struct HopsPatchMeetFind {
  HopsPatchMeet<Team> a;

  HOPS_LANES void operator()(size_t t) const
  {
    a.Entries((int)t, [&](int e) {
      const int l = a.idx[e], seen = *(volatile int *)(a.who + l);

      if (l == a.none || seen == (int)t || seen == HOPS_MEET_MANY) return;
      const int before = Team::Swap(a.who + l, HOPS_MEET_NONE, (int)t);

      if (before != HOPS_MEET_NONE && before != (int)t) *(volatile int *)(a.who + l) = HOPS_MEET_MANY;
    });
  }
};

template <class Team> struct HopsPatchMeetMark {
  HopsPatchMeet<Team> a;

  HOPS_LANES void operator()(size_t t) const
  {
    a.Entries((int)t, [&](int e) {
      const int l = a.idx[e];

      a.marked[e] = a.who[l] == HOPS_MEET_MANY ? l | HOPS_LANES_MEET : l;
    });
  }
};

template <class Back> struct HopsPatchMeetLaunches {
  typedef typename Back::Team Team;

  /* s->marked, where there are several threads, and marks fit into an index */
  static PetscErrorCode Mark(HopsLanesPatchSet s, PetscInt nent)
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;
    int                  threads, *who;

    PetscFunctionBegin;
    PetscCall(Back::GetThreads(&threads));
    if (threads == 1 || !nent || s->nP > HOPS_LANES_MEET) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall((*memory->Malloc)(nent * sizeof(int), (void **)&s->marked));
    PetscCall((*memory->PoolMalloc)(s->nP * sizeof(int), (void **)&who));
    for (int r = 0; r < s->nruns; r++) {
      const HopsLanesPatchRun  *run = s->runs + r;
      const int                 n = (int)run->n, each = run->kind < HOPS_LANES_PATCH_DENSE ? Team::group : 1;
      const int                 pieces = HopsMin(threads, (n + each - 1) / each);
      const HopsPatchMeet<Team> a      = {s->patches + run->first, s->idx, n, each, pieces, (int)s->nP - 1, s->dim, who, s->marked};

      PetscCall(Back::Set(who, 0xff, s->nP * sizeof(int))); /* HOPS_MEET_NONE */
      PetscCall(Back::Each("HopsPatchMeetFind", pieces, HopsPatchMeetFind<Team>{a}));
      PetscCall(Back::Each("HopsPatchMeetMark", pieces, HopsPatchMeetMark<Team>{a}));
    }
    PetscCall((*memory->PoolFree)((void **)&who));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
