/*
  Which unknowns cells of several threads add to, on a host (lanesshared.h): the groups of cells of a launch
  are in pieces, each of them one thread's. In the indices that say where to add, copies take the place of
  what is another piece's. Back is a back end's class: see lanes.h.
*/
#pragma once
#include <hops/private/hopsbackendimpl.h>
#include <backend/lanes/runtime/lanesshared.h>
#include "lanesoperator.h"

/* Cells first .. first + n - 1 */
template <class Team> struct HopsMeetCells : HopsPieces {
  int             percell, first, n;
  const int      *restr;
  const PetscInt *cell; /* of batches, of which first and n count, or NULL */

  /* where piece t begins */
  HOPS_LANES int Begin(int t) const
  {
    const int group = Team::group;

    if (cell) return (int)cell[first + HopsLanesPiece(0, n, 1, pieces, t)];
    return HopsMin(HopsMax(first, (first / group + HopsLanesPiece(first, n, group, pieces, t)) * group), first + n);
  }
  template <class Do> HOPS_LANES void Each(int t, const Do &f) const
  {
    const int c0 = Begin(t), c1 = Begin(t + 1);

    for (size_t e = (size_t)c0 * percell; e < (size_t)c1 * percell; e++) f(restr[e] ^ (restr[e] >> 31));
  }
};

/* padded: -1 is no unknown */
template <class Team> struct HopsMeetMark {
  HopsMeetCells<Team> a;
  int                 each;
  bool                padded;
  int                *marked;

  HOPS_LANES void operator()(size_t t) const
  {
    const int c0 = a.Begin((int)t), c1 = a.Begin((int)t + 1);

    for (size_t e = (size_t)c0 * each; e < (size_t)c1 * each; e++) {
      const int sign = marked[e] >> 31, l = marked[e] ^ sign;

      if (!(padded && sign) && !a.Own((int)t, l)) marked[e] = sign ^ (HOPS_LANES_MEET | a.Number((int)t, l));
    }
  }
};

/* Adds v to unknown k of y, or of yg from nT on; marked: k may be a copy */
template <class Team>
HOPS_LANES void HopsMeetAdd([[maybe_unused]] const HopsLanesCopies &copies, double *y, double *yg, int nT, int k,
                            [[maybe_unused]] bool marked, double v)
{
  if constexpr (Team::group > 1) {
    if (marked) {
      *(k & HOPS_LANES_MEET ? (double *)copies.buffer + (k & ~HOPS_LANES_MEET) : (k < nT ? y + k : yg + (k - nT))) += v;
      return;
    }
  }
  Team::Add(k < nT ? y + k : yg + (k - nT), v);
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
  typedef typename Back::Team Team;

  static PetscErrorCode MarkPart(const HopsLanesMeet *m, int p, HopsPieces pieces, int restr[], HopsLanesShared *shared)
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;
    const int            n = (int)m->n[p], first = (int)m->first[p];
    HopsMeetCells<Team>  a;

    PetscFunctionBegin;
    pieces.pieces = PetscMin(pieces.pieces, m->cell ? n : HopsLanesPiece(first, n, Team::group, 1, 1));
    a             = {pieces, m->percell, first, n, m->restr, m->cell};
    PetscCall(HopsSharedLaunches<Back>::Make(&a, (int)m->nl, shared));
    PetscCall(Back::Each("HopsMeetMark", a.pieces, HopsMeetMark<Team>{a, m->each, m->padded, restr}));
    PetscCall((*memory->PoolFree)((void **)&a.number));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Mark(const HopsLanesMeet *m, int restr[], HopsLanesMeets meets, PetscBool *needed)
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;
    HopsPieces           a      = {};

    PetscFunctionBegin;
    PetscCall(Back::GetThreads(&a.pieces));
    *needed = a.pieces > 1 ? PETSC_TRUE : PETSC_FALSE;
    if (!*needed || !restr) PetscFunctionReturn(PETSC_SUCCESS);
    a.npages = (int)((m->nl + HOPS_LANES_PAGE - 1) / HOPS_LANES_PAGE);
    PetscCall((*memory->PoolMalloc)(m->nl * sizeof(int), (void **)&a.who));
    PetscCall((*memory->PoolMalloc)((size_t)a.pieces * a.npages * sizeof(int), (void **)&a.page));
    PetscCall((*memory->PoolMalloc)((a.pieces + 1) * sizeof(int), (void **)&a.count));
    for (int p = 0; p < 3; p++) {
      HopsLanesShared again = {}; /* the same as that of the first indices */
      const bool      known = meets->shared[p].unknown != NULL;

      if (!m->n[p]) continue;
      PetscCall(MarkPart(m, p, a, restr, known ? &again : &meets->shared[p]));
      PetscCall(HopsLanesSharedFree(Back::Ops(), &again));
    }
    PetscCall((*memory->PoolFree)((void **)&a.count));
    PetscCall((*memory->PoolFree)((void **)&a.page));
    PetscCall((*memory->PoolFree)((void **)&a.who));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Reserve(HopsLanesMeets meets, int nc, size_t size, void **buffer)
  {
    int most = 0;

    PetscFunctionBegin;
    for (int p = 0; p < 3; p++) most = PetscMax(most, meets->shared[p].ncopies);
    size *= (size_t)most * nc;
    if (!size) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall((*Back::Ops()->memory->Malloc)(size, buffer));
    PetscCall(Back::Set(*buffer, 0, size));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Sum(HopsLanesMeets meets, HopsPart part, PetscDataType type, int nc, PetscInt nT, void *buffer, void *y,
                            void *yg)
  {
    const HopsLanesShared *s = &meets->shared[part];

    PetscFunctionBegin;
    if (type == PETSC_FLOAT) PetscCall(HopsSharedLaunches<Back>::Sum(s, nc, nT, buffer, (float *)y, (float *)yg));
    else PetscCall(HopsSharedLaunches<Back>::Sum(s, nc, nT, buffer, (double *)y, (double *)yg));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static const HopsLanesMeetOps *Ops()
  {
    if constexpr (Team::group > 1) {
      static const HopsLanesMeetOps ops = {Mark, Reserve, Sum};

      return &ops;
    } else return NULL;
  }
};
