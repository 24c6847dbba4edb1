/*
  Where patches of several threads add to an unknown, on a host: the patches of a launch are in pieces, each
  of them one thread's, in the order in which they lie in the mesh. An unknown is the first piece's that has
  it, which adds to the vector; others add to copies of their own, of pages of the vector in which they need
  one. A launch afterwards adds the copies to the vector, in the order of pieces, and leaves zeros for the
  next one. So one launch serves all patches, and an unknown's line stays in a cache until they are done: by
  colours all unknowns would pass through the caches for each. Nothing is added to atomically, which takes
  several times as long, and for so many threads sums have an order that does not change from run to run.
  Back is a back end's class: see lanes.h.
*/
#pragma once
#include <backend/lanes/runtime/lanes.h>
#include "lanespatch.h"

/* Unknowns of a page. What several pieces have mostly lies side by side: from 16 to 512 of them make about as
   many copies of unknowns */
#define HOPS_PATCH_PAGE 256

/* A launch: teams have `each` patches, and pieces teams side by side, as many in each */
template <class Team> struct HopsPatchMeet {
  const HopsLanesPatchRecord *patches;
  const int                  *idx;
  int                         n, each, pieces, none, dim, npages;
  int                        *who;   /* [unknowns] the first piece that has it */
  int                        *copy;  /* [pieces][npages] 0: the piece has no copy of the page; then 1 + its number */
  int                        *count; /* [pieces + 1] copies of each piece; then the sums before each */
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
  HOPS_LANES bool Own(int piece, int l) const
  {
    return l == none || who[l] == piece;
  }
  HOPS_LANES int *Copies(int piece) const
  {
    return copy + (size_t)piece * npages;
  }
};

/* Whose an unknown is: before, who[] has numbers above those of all pieces */
template <class Team> struct HopsPatchMeetFind {
  HopsPatchMeet<Team> a;

  HOPS_LANES void operator()(size_t t) const
  {
    a.Entries((int)t, [&](int e, int) {
      const int l = a.idx[e];

      if (l != a.none && *(volatile int *)(a.who + l) > (int)t) Team::Least(a.who + l, (int)t);
    });
  }
};

/* Which pages a piece has copies of, and how many */
template <class Team> struct HopsPatchMeetPages {
  HopsPatchMeet<Team> a;

  HOPS_LANES void operator()(size_t t) const
  {
    int *const copies = a.Copies((int)t), n = 0;

    a.Entries((int)t, [&](int e, int) {
      const int l = a.idx[e];

      if (a.Own((int)t, l) || copies[l / HOPS_PATCH_PAGE]) return;
      copies[l / HOPS_PATCH_PAGE] = 1;
      n++;
    });
    a.count[t] = n;
  }
};

/* Their numbers, piece after piece, and where entries are added */
template <class Team> struct HopsPatchMeetMark {
  HopsPatchMeet<Team> a;

  HOPS_LANES void operator()(size_t t) const
  {
    int *const copies = a.Copies((int)t), n = a.count[t];

    for (int page = 0; page < a.npages; page++)
      if (copies[page]) copies[page] = ++n;
    a.Entries((int)t, [&](int e, int k) {
      const int  l = a.idx[e], page = l / HOPS_PATCH_PAGE;
      const bool own = a.Own((int)t, l);

      a.to[e] = own ? l : -1 - ((copies[page] - 1) * HOPS_PATCH_PAGE + l % HOPS_PATCH_PAGE);
      if (!own) a.meets[k] = 1;
    });
  }
};

/* The copies of each page that has some, by one thread: there are few pages. *n: so many pages */
template <class Team> struct HopsPatchMeetList {
  HopsPatchMeet<Team> a;
  HopsLanesPatchPage *pages;
  int                *copies, *n;

  HOPS_LANES void operator()(size_t) const
  {
    int np = 0, nc = 0;

    for (int page = 0; page < a.npages; page++) {
      const int first = nc;

      for (int t = 0; t < a.pieces; t++)
        if (a.Copies(t)[page]) copies[nc++] = a.Copies(t)[page] - 1;
      if (nc > first) pages[np++] = {page, first};
    }
    pages[np] = {a.npages, nc};
    *n        = np;
  }
};

/* z += the copies of a page. n: unknowns */
template <class V> struct HopsPatchMeetSum {
  const HopsLanesPatchPage *pages;
  const int                *copies;
  int                       n;
  V                        *buffer, *z;

  HOPS_LANES void operator()(size_t i) const
  {
    const int first = pages[i].page * HOPS_PATCH_PAGE, size = HopsMin(HOPS_PATCH_PAGE, n - first);
    V *const __restrict__ to = z + first;

    for (int c = pages[i].first; c < pages[i + 1].first; c++) {
      V *const __restrict__ from = buffer + (size_t)copies[c] * HOPS_PATCH_PAGE;

      for (int j = 0; j < size; j++) {
        to[j] += from[j];
        from[j] = 0;
      }
    }
  }
};

template <class Back> struct HopsPatchMeetLaunches {
  typedef typename Back::Team Team;

  /* Those of a run, of which *ncopies are copies */
  static PetscErrorCode MarkRun(const HopsPatchMeet<Team> &a, HopsLanesPatchRun *run, int *ncopies)
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;

    PetscFunctionBegin;
    PetscCall(Back::Set(a.who, 0x7f, (a.none + (size_t)1) * sizeof(int)));
    PetscCall(Back::Set(a.copy, 0, (size_t)a.pieces * a.npages * sizeof(int)));
    PetscCall(Back::Each("HopsPatchMeetFind", a.pieces, HopsPatchMeetFind<Team>{a}));
    PetscCall(Back::Each("HopsPatchMeetPages", a.pieces, HopsPatchMeetPages<Team>{a}));
    PetscCall(Back::Scan(a.pieces, a.count));
    PetscCall((*memory->Copy)(NULL, ncopies, a.count + a.pieces, sizeof(int), HOPS_COPY_OUT));
    PetscCheck(*ncopies < PETSC_MPI_INT_MAX / HOPS_PATCH_PAGE, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The threads' patches share %d pages of unknowns: use more ranks", *ncopies);
    PetscCall(Back::Each("HopsPatchMeetMark", a.pieces, HopsPatchMeetMark<Team>{a}));
    if (!*ncopies) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall((*memory->Malloc)((PetscMin(*ncopies, a.npages) + 1) * sizeof(HopsLanesPatchPage), (void **)&run->pages));
    PetscCall((*memory->Malloc)(*ncopies * sizeof(int), (void **)&run->copies));
    PetscCall(Back::Each("HopsPatchMeetList", 1, HopsPatchMeetList<Team>{a, run->pages, run->copies, a.count}));
    PetscCall((*memory->Copy)(NULL, &run->npages, a.count, sizeof(int), HOPS_COPY_OUT));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* s->to, where there are several threads, and what launches afterwards need */
  static PetscErrorCode Mark(HopsLanesPatchSet s, PetscInt n, PetscInt nent)
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;
    const int            npages = (int)((s->nP + HOPS_PATCH_PAGE - 1) / HOPS_PATCH_PAGE);
    int                  threads, most = 0, *who, *copy, *count;
    size_t               bytes;

    PetscFunctionBegin;
    PetscCall(Back::GetThreads(&threads));
    if (threads == 1 || !nent) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall((*memory->Malloc)(nent * sizeof(int), (void **)&s->to));
    PetscCall((*memory->Malloc)(n, (void **)&s->meets));
    PetscCall(Back::Set(s->meets, 0, n));
    PetscCall((*memory->PoolMalloc)(s->nP * sizeof(int), (void **)&who));
    PetscCall((*memory->PoolMalloc)((size_t)threads * npages * sizeof(int), (void **)&copy));
    PetscCall((*memory->PoolMalloc)((threads + 1) * sizeof(int), (void **)&count));
    for (int r = 0; r < s->nruns; r++) {
      HopsLanesPatchRun        *run  = s->runs + r;
      const int                 nrun = (int)run->n, each = run->kind < HOPS_LANES_PATCH_DENSE ? Team::group : 1;
      const int                 pieces = PetscMin(threads, (nrun + each - 1) / each), none = (int)s->nP - 1;
      const HopsPatchMeet<Team> a =
        {s->patches + run->first, s->idx, nrun, each, pieces, none, s->dim, npages, who, copy, count, s->to, s->meets + run->first};
      int ncopies;

      PetscCall(MarkRun(a, run, &ncopies));
      most = PetscMax(most, ncopies);
    }
    PetscCall((*memory->PoolFree)((void **)&count));
    PetscCall((*memory->PoolFree)((void **)&copy));
    PetscCall((*memory->PoolFree)((void **)&who));
    bytes = (size_t)most * HOPS_PATCH_PAGE * sizeof(double); /* zero bits are a zero of either precision */
    if (bytes) PetscCall((*memory->Malloc)(bytes, &s->buffer));
    PetscCall(Back::Set(s->buffer, 0, bytes));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* After a launch that added where s->to says */
  template <class V> static PetscErrorCode Sum(HopsLanesPatchSet s, const HopsLanesPatchRun *run, V *z)
  {
    return Back::Each("HopsPatchMeetSum", run->npages,
                      HopsPatchMeetSum<V>{run->pages, run->copies, (int)s->nP - 1, (V *)s->buffer, z});
  }
};
