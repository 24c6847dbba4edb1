/*
  Where several threads of a host add to a vector: the work of a launch is in pieces, each of them one
  thread's. An unknown is the first piece's that has it, which adds to the vector; others add to copies of
  their own. A launch afterwards adds the copies to the vector, in the order of pieces, and leaves zeros for
  the next one. Nothing is added to atomically, which takes several times as long, and for so many threads
  sums have an order that does not change from run to run. Back is a back end's class: see lanes.h.
*/
#pragma once
#include "lanes.h"
#include "lanescopies.h"

/* Unknowns of a page. Which of its pages a piece has copies in is found first, so that memory for their
   numbers is needed for these alone */
#define HOPS_LANES_PAGE 256

/* The pieces of a launch. A class of these also has Each(piece, Do), which calls Do(l) for unknowns l of a
   piece; negative: none */
struct HopsPieces {
  int  pieces, npages;
  int *who;    /* [unknowns] the first piece that has it */
  int *page;   /* [pieces][npages] 0: the piece has no copies in the page; then 1 + the number of its own page */
  int *count;  /* [pieces + 1] own pages of each piece; then the sums before each */
  int *number; /* [own pages][HOPS_LANES_PAGE] is there a copy? Then the sums before each, which are their numbers */

  HOPS_LANES bool Own(int piece, int l) const
  {
    return l < 0 || who[l] == piece;
  }
  HOPS_LANES int *Pages(int piece) const
  {
    return page + (size_t)piece * npages;
  }
  /* of what is not the piece's own */
  HOPS_LANES size_t Place(int piece, int l) const
  {
    return (size_t)(Pages(piece)[l / HOPS_LANES_PAGE] - 1) * HOPS_LANES_PAGE + l % HOPS_LANES_PAGE;
  }
  HOPS_LANES int Number(int piece, int l) const
  {
    return number[Place(piece, l)];
  }
};

/* Whose an unknown is: before, who[] has numbers above those of all pieces */
template <class Team, class Pieces> struct HopsSharedFind {
  Pieces a;

  HOPS_LANES void operator()(size_t t) const
  {
    a.Each((int)t, [&](int l) {
      if (l >= 0 && *(volatile int *)(a.who + l) > (int)t) Team::Least(a.who + l, (int)t);
    });
  }
};

/* In which pages a piece has copies, and in how many */
template <class Pieces> struct HopsSharedPages {
  Pieces a;

  HOPS_LANES void operator()(size_t t) const
  {
    int *const pages = a.Pages((int)t), n = 0;

    a.Each((int)t, [&](int l) {
      if (a.Own((int)t, l) || pages[l / HOPS_LANES_PAGE]) return;
      pages[l / HOPS_LANES_PAGE] = 1;
      n++;
    });
    a.count[t] = n;
  }
};

/* Its own pages' numbers, and which unknowns it has copies of */
template <class Pieces> struct HopsSharedMark {
  Pieces a;

  HOPS_LANES void operator()(size_t t) const
  {
    int *const pages = a.Pages((int)t), n = a.count[t];

    for (int i = 0; i < a.npages; i++)
      if (pages[i]) pages[i] = ++n;
    a.Each((int)t, [&](int l) {
      if (!a.Own((int)t, l)) a.number[a.Place((int)t, l)] = 1;
    });
  }
};

/* Of a page, unknowns with copies and copies: how many, and where out.unknown is not NULL, which */
struct HopsSharedList {
  HopsPieces      a;
  int             n; /* unknowns */
  int            *unknowns, *copies;
  HopsLanesShared out;

  HOPS_LANES void operator()(size_t i) const
  {
    int u = out.unknown ? unknowns[i] : 0, c = out.unknown ? copies[i] : 0;

    for (int l = (int)i * HOPS_LANES_PAGE; l < HopsMin(n, (int)(i + 1) * HOPS_LANES_PAGE); l++) {
      const int first = c;

      for (int t = 0; t < a.pieces; t++) {
        if (!a.Pages(t)[i]) continue;
        const int *at = a.number + a.Place(t, l);

        if (at[1] == at[0]) continue;
        if (out.unknown) {
          out.copy[c]   = at[0];
          out.of[at[0]] = l;
        }
        c++;
      }
      if (c == first) continue;
      if (out.unknown) {
        out.unknown[u] = l;
        out.start[u]   = first;
      }
      u++;
    }
    if (!out.unknown) {
      unknowns[i] = u;
      copies[i]   = c;
    } else if ((int)i == a.npages - 1) out.start[u] = c;
  }
};

/* The vector += the copies of an unknown; those from `split` on lie at zg. nc: components */
template <class V> struct HopsSharedSum {
  HopsLanesShared s;
  int             split, nc;
  V              *buffer, *z, *zg;

  HOPS_LANES void operator()(size_t i) const
  {
    const int l  = s.unknown[i];
    V *const  to = l < split ? z + (size_t)l * nc : zg + (size_t)(l - split) * nc;

    for (int k = s.start[i]; k < s.start[i + 1]; k++) {
      V *const from = buffer + (size_t)s.copy[k] * nc;

      for (int c = 0; c < nc; c++) {
        to[c] += from[c];
        from[c] = 0;
      }
    }
  }
};

template <class Back> struct HopsSharedLaunches {
  /* s: zeros; a.number is allocated here. n: unknowns of the vector */
  template <class Pieces> static PetscErrorCode Make(Pieces *a, int n, HopsLanesShared *s)
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;
    int                  pages, *count;
    size_t               places;

    PetscFunctionBegin;
    PetscCall(Back::Set(a->who, 0x7f, n * sizeof(int)));
    PetscCall(Back::Set(a->page, 0, (size_t)a->pieces * a->npages * sizeof(int)));
    PetscCall(Back::Each("HopsSharedFind", a->pieces, HopsSharedFind<typename Back::Team, Pieces>{*a}));
    PetscCall(Back::Each("HopsSharedPages", a->pieces, HopsSharedPages<Pieces>{*a}));
    PetscCall(Back::Scan(a->pieces, a->count));
    PetscCall((*memory->Copy)(NULL, &pages, a->count + a->pieces, sizeof(int), HOPS_COPY_OUT));
    places = (size_t)pages * HOPS_LANES_PAGE;
    PetscCheck(places < HOPS_LANES_MEET, PETSC_COMM_SELF, PETSC_ERR_SUP, "Threads share %d pages of unknowns: use more ranks",
               pages);
    PetscCall((*memory->PoolMalloc)((places + 1) * sizeof(int), (void **)&a->number));
    PetscCall(Back::Set(a->number, 0, places * sizeof(int)));
    PetscCall(Back::Each("HopsSharedMark", a->pieces, HopsSharedMark<Pieces>{*a}));
    PetscCall(Back::Scan(places, a->number));
    PetscCall((*memory->Copy)(NULL, &s->ncopies, a->number + places, sizeof(int), HOPS_COPY_OUT));
    if (!s->ncopies) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall((*memory->PoolMalloc)(2 * (a->npages + (size_t)1) * sizeof(int), (void **)&count));
    HopsSharedList list = {*a, n, count, count + a->npages + 1, {}};

    PetscCall(Back::Each("HopsSharedCount", a->npages, list));
    PetscCall(Back::Scan(a->npages, list.unknowns));
    PetscCall(Back::Scan(a->npages, list.copies));
    PetscCall((*memory->Copy)(NULL, &s->n, list.unknowns + a->npages, sizeof(int), HOPS_COPY_OUT));
    PetscCall((*memory->Malloc)(s->n * sizeof(int), (void **)&s->unknown));
    PetscCall((*memory->Malloc)((s->n + (size_t)1) * sizeof(int), (void **)&s->start));
    PetscCall((*memory->Malloc)(s->ncopies * sizeof(int), (void **)&s->copy));
    PetscCall((*memory->Malloc)(s->ncopies * sizeof(int), (void **)&s->of));
    list.out = *s;
    PetscCall(Back::Each("HopsSharedList", a->npages, list));
    PetscCall((*memory->PoolFree)((void **)&count));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* After a launch. Unknowns of nc components, of which those from `split` on lie at zg */
  template <class V> static PetscErrorCode Sum(const HopsLanesShared *s, int nc, PetscInt split, void *buffer, V *z, V *zg)
  {
    return Back::Each("HopsSharedSum", s->n, HopsSharedSum<V>{*s, (int)split, nc, (V *)buffer, z, zg});
  }
};
