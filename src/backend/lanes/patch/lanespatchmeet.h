/*
  Where patches of several threads add to an unknown, on a host (lanesshared.h): the patches of a launch are
  in pieces, in the order in which they lie in the mesh. So one launch serves all patches, and an unknown's
  line stays in a cache until they are done: by colours all unknowns would pass through the caches for each.
  Back is a back end's class: see lanes.h.
*/
#pragma once
#include <backend/lanes/runtime/lanesshared.h>
#include "lanespatch.h"

/* A launch: teams have `each` patches, and pieces teams side by side, as many in each */
struct HopsPatchMeet : HopsPieces {
  const HopsLanesPatchRecord *patches;
  const int                  *idx;
  int                         n, each, none, dim;
  int                        *to;
  unsigned char              *meets;

  HOPS_LANES int Begin(int piece) const
  {
    const long long teams = (n + each - 1) / each;

    return HopsMin(n, (int)(teams * piece / pieces) * each);
  }
  /* Put(e, k) for entries e of patches k */
  template <class Do> HOPS_LANES void Entries(int piece, const Do &Put) const
  {
    for (int k = Begin(piece); k < Begin(piece + 1); k++) {
      const HopsLanesPatchRecord &p   = patches[k];
      const int                   end = p.start + p.size[0] * p.size[1] * (dim == 3 ? p.size[2] : 1);

      for (int e = p.start; e < end; e++) Put(e, k);
    }
  }
  template <class Do> HOPS_LANES void Each(int piece, const Do &f) const
  {
    Entries(piece, [&](int e, int) { f(idx[e] == none ? -1 : idx[e]); });
  }
};

/* Where entries are added */
struct HopsPatchMeetMark {
  HopsPatchMeet a;

  HOPS_LANES void operator()(size_t t) const
  {
    a.Entries((int)t, [&](int e, int k) {
      const int  l   = a.idx[e];
      const bool own = l == a.none || a.Own((int)t, l);

      a.to[e] = own ? l : -1 - a.Number((int)t, l);
      if (!own) a.meets[k] = 1;
    });
  }
};

template <class Back> struct HopsPatchMeetLaunches {
  /* s->to, where there are several threads, and what launches afterwards need */
  static PetscErrorCode Mark(HopsLanesPatchSet s, PetscInt n, PetscInt nent)
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;
    const int            npages = (int)((s->nP + HOPS_LANES_PAGE - 1) / HOPS_LANES_PAGE);
    HopsPieces           all    = {};
    int                  threads, most = 0;
    size_t               bytes;

    PetscFunctionBegin;
    PetscCall(Back::GetThreads(&threads));
    if (threads == 1 || !nent) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall((*memory->Malloc)(nent * sizeof(int), (void **)&s->to));
    PetscCall((*memory->Malloc)(n, (void **)&s->meets));
    PetscCall(Back::Set(s->meets, 0, n));
    all.npages = npages;
    PetscCall((*memory->PoolMalloc)(s->nP * sizeof(int), (void **)&all.who));
    PetscCall((*memory->PoolMalloc)((size_t)threads * npages * sizeof(int), (void **)&all.page));
    PetscCall((*memory->PoolMalloc)((threads + 1) * sizeof(int), (void **)&all.count));
    for (int r = 0; r < s->nruns; r++) {
      HopsLanesPatchRun *run  = s->runs + r;
      const int          nrun = (int)run->n, each = run->kind < HOPS_LANES_PATCH_DENSE ? Back::Team::group : 1;
      HopsPatchMeet      a;

      all.pieces = PetscMin(threads, (nrun + each - 1) / each);
      a          = {all, s->patches + run->first, s->idx, nrun, each, (int)s->nP - 1, s->dim, s->to, s->meets + run->first};
      PetscCall(HopsSharedLaunches<Back>::Make(&a, (int)s->nP, &run->shared));
      PetscCall(Back::Each("HopsPatchMeetMark", a.pieces, HopsPatchMeetMark{a}));
      PetscCall((*memory->PoolFree)((void **)&a.number));
      most = PetscMax(most, run->shared.ncopies);
    }
    PetscCall((*memory->PoolFree)((void **)&all.count));
    PetscCall((*memory->PoolFree)((void **)&all.page));
    PetscCall((*memory->PoolFree)((void **)&all.who));
    bytes = (size_t)most * sizeof(double); /* zero bits are a zero of either precision */
    if (bytes) PetscCall((*memory->Malloc)(bytes, &s->buffer));
    PetscCall(Back::Set(s->buffer, 0, bytes));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
