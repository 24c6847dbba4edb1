/*
  The lists of a map between nested spaces, made where the back end works: sources and targets on the macro
  cells, interior ones first, and for each unknown its places among the sources. Back is a back end's class:
  see lanes.h.
*/
#pragma once
#include <backend/lanes/runtime/laneslists.h>
#include <hops/private/hopsinterpimpl.h>

/* Cells, and where macro cells go */
struct HopsInterpMacro {
  int                  dim, nhalf, pf, nc, nf, nm; /* nodes of a coarse cell, a fine one, a macro cell */
  const PetscInt      *parent;
  const unsigned char *half, *axis;
  const int           *shared; /* [ncoarse + 1] macro cells before this one that are not interior; NULL: all are */
  int                  ninterior;

  HOPS_LANES int Place(int c) const
  {
    if (!shared) return c;
    return shared[c + 1] > shared[c] ? ninterior + shared[c] : c - shared[c];
  }
};

/* n nodes of cell i of the sources' space: is one not owned? */
struct HopsInterpShared {
  HopsInterpMacro m;
  bool            prolong;
  const int      *restr;
  int             n, nT, *shared;

  HOPS_LANES void operator()(size_t i) const
  {
    const int *r = restr + i * n;

    for (int k = 0; k < n; k++)
      if (r[k] >= nT) {
        shared[prolong ? (PetscInt)i : m.parent[i]] = 1; /* all write the same */
        return;
      }
  }
};

struct HopsInterpCoarse {
  HopsInterpMacro m;
  const int      *restr;
  int            *to;

  HOPS_LANES void operator()(size_t i) const
  {
    const int c = (int)(i / m.nc), k = (int)(i - (size_t)c * m.nc);

    to[(size_t)m.Place(c) * m.nc + k] = restr[i];
  }
};

/* Nodes between children are written by each of them, with the same number */
struct HopsInterpFine {
  HopsInterpMacro m;
  const int      *restr;
  int            *to;

  HOPS_LANES void operator()(size_t i) const
  {
    const int      f = (int)(i / m.nf), k = (int)(i - (size_t)f * m.nf), P = m.pf + 1;
    const PetscInt ijk[3] = {k % P, k / P % P, k / (P * P)};

    to[(size_t)m.Place((int)m.parent[f]) * m.nm + HopsMacroNode(m.dim, m.nhalf, m.pf, m.half[f], m.axis + (size_t)f * m.dim, ijk)] =
      restr[i];
  }
};

#define HOPS_INTERP_NONE 0x7f7f7f7f /* no place: its bytes are alike */

/* An owned unknown is written by the first place that is its target */
template <class Team> struct HopsInterpFirst {
  const int *target;
  int        nT, *first;

  HOPS_LANES void operator()(size_t i) const
  {
    if (target[i] < nT) Team::Least(first + target[i], (int)i);
  }
};

struct HopsInterpWriter {
  int       *target;
  int        nT;
  const int *first;

  HOPS_LANES void operator()(size_t i) const
  {
    const int t = target[i];

    if (t >= nT || first[t] != (int)i) target[i] = -1;
  }
};

template <class Team> struct HopsInterpMissing {
  const int *first;
  int       *count;

  HOPS_LANES void operator()(size_t t) const
  {
    if (first[t] == HOPS_INTERP_NONE) Team::Take(count, 1);
  }
};

/* Unknowns with places: row i is the unknown row[i] of the L-vector, and has the places pos[start[i]] ..
   pos[start[i+1]-1], ascending */
struct HopsInterpRows {
  int n, *row, *start, *pos;
};

struct HopsInterpIsRow {
  const int *begin;
  int       *at;

  HOPS_LANES void operator()(size_t l) const
  {
    at[l] = begin[l + 1] > begin[l];
  }
};

struct HopsInterpSetRow {
  const int     *begin, *at;
  HopsInterpRows r;

  HOPS_LANES void operator()(size_t l) const
  {
    if (l == 0) r.start[0] = 0;
    if (begin[l + 1] == begin[l]) return;
    r.row[at[l]]       = (int)l;
    r.start[at[l] + 1] = begin[l + 1];
  }
};

template <class Back> struct HopsInterpLists {
  typedef typename Back::Team Team;
  int                        *source, *target; /* [ncoarse][ns], [ncoarse][nt]; -1: another macro cell's */
  int                         ninterior;
  HopsInterpRows              rows[2]; /* of the interior macro cells, of the others: places from the first of them on */

  static PetscErrorCode Bring(const int *from, int *to)
  {
    return (*Back::Ops()->memory->Copy)(NULL, to, from, sizeof(int), HOPS_COPY_OUT);
  }

  /* How many macro cells are interior, and which */
  static PetscErrorCode Order(HopsSpace from, const HopsInterpData *d, HopsInterpMacro *m, int **shared)
  {
    PetscFunctionBegin;
    *shared      = NULL;
    m->ninterior = (int)d->ncoarse;
    if (!HopsSpaceNumOthers(from) || !d->ncoarse) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall((*Back::Ops()->memory->PoolMalloc)((d->ncoarse + 1) * sizeof(int), (void **)shared));
    PetscCall(Back::Set(*shared, 0, (d->ncoarse + 1) * sizeof(int)));
    PetscCall(Back::Each("HopsInterpShared", d->prolong ? d->ncoarse : d->nfine,
                         HopsInterpShared{*m, d->prolong == PETSC_TRUE, d->prolong ? d->crestr : d->frestr,
                                          d->prolong ? m->nc : m->nf, (int)from->nT, *shared}));
    PetscCall(Back::Scan(d->ncoarse, *shared));
    m->shared = *shared;
    PetscCall(Bring(*shared + d->ncoarse, &m->ninterior));
    m->ninterior = (int)d->ncoarse - m->ninterior;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* Each owned unknown of `to` stays the target of one place; where there are more maps some have none */
  static PetscErrorCode Writers(HopsSpace to, PetscBool partial, size_t n, int target[])
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;
    int                 *first, count = 0;

    PetscFunctionBegin;
    if (!to->nT && !n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall((*memory->PoolMalloc)((to->nT + 1) * sizeof(int), (void **)&first));
    PetscCall(Back::Set(first, 0x7f, to->nT * sizeof(int)));
    PetscCall(Back::Set(first + to->nT, 0, sizeof(int)));
    PetscCall(Back::Each("HopsInterpFirst", n, HopsInterpFirst<Team>{target, (int)to->nT, first}));
    PetscCall(Back::Each("HopsInterpWriter", n, HopsInterpWriter{target, (int)to->nT, first}));
    PetscCall(Back::Each("HopsInterpMissing", to->nT, HopsInterpMissing<Team>{first, first + to->nT}));
    PetscCall(Bring(first + to->nT, &count));
    PetscCall((*memory->PoolFree)((void **)&first));
    PetscCheck(!count || partial, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "%d unknowns are owned by a rank none of whose cells touch them: let the owner of a point have one of its cells",
               count);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Rows(PetscInt nL, size_t n, const int source[], HopsInterpRows *r)
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;
    int                 *begin, *at;

    PetscFunctionBegin;
    *r = HopsInterpRows{0, NULL, NULL, NULL};
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall((*memory->Malloc)(n * sizeof(int), (void **)&r->pos));
    PetscCall((*memory->PoolMalloc)((nL + 1) * sizeof(int), (void **)&begin));
    PetscCall((*memory->PoolMalloc)((nL + 1) * sizeof(int), (void **)&at));
    PetscCall(HopsLanesLists<Back>::Transpose(n, source, (int)nL, begin, r->pos));
    PetscCall(Back::Each("HopsInterpIsRow", nL, HopsInterpIsRow{begin, at}));
    PetscCall(Back::Scan(nL, at));
    PetscCall(Bring(at + nL, &r->n));
    PetscCall((*memory->Malloc)(r->n * sizeof(int), (void **)&r->row));
    PetscCall((*memory->Malloc)((r->n + 1) * sizeof(int), (void **)&r->start));
    PetscCall(Back::Each("HopsInterpSetRow", nL, HopsInterpSetRow{begin, at, *r}));
    PetscCall((*memory->PoolFree)((void **)&begin));
    PetscCall((*memory->PoolFree)((void **)&at));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Upload(size_t n, const void *h, void *d)
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;

    PetscFunctionBegin;
    PetscCall((*memory->PoolMalloc)(n, (void **)d));
    if (n) PetscCall((*memory->Copy)(NULL, *(void **)d, h, n, HOPS_COPY_IN));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode Create(HopsSpace from, HopsSpace to, const HopsInterpData *d)
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;
    const int nc = HopsLanesPower((int)HopsInterpCoarseNodes(d), (int)d->dim), nf = HopsLanesPower((int)d->pf + 1, (int)d->dim),
              nm = HopsLanesPower((int)HopsInterpMacroNodes(d), (int)d->dim), ns = d->prolong ? nc : nm, nt = d->prolong ? nm : nc;
    PetscInt       *parent;
    unsigned char  *half, *axis;
    int            *shared;
    HopsInterpMacro m;

    PetscFunctionBegin;
    PetscCheck((PetscInt64)d->ncoarse * PetscMax(nc, nm) < HOPS_INTERP_NONE, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "More than 2^31 nodes of macro cells on one rank: use more ranks");
    PetscCall(Upload(d->nfine * sizeof(PetscInt), d->parent, &parent));
    PetscCall(Upload(d->nfine, d->half, &half));
    PetscCall(Upload(d->nfine * d->dim, d->axis, &axis));
    PetscCall((*memory->Malloc)((size_t)d->ncoarse * ns * sizeof(int), (void **)&source));
    PetscCall((*memory->Malloc)((size_t)d->ncoarse * nt * sizeof(int), (void **)&target));
    m = HopsInterpMacro{(int)d->dim, (int)d->nhalf, (int)d->pf, nc, nf, nm, parent, half, axis, NULL, 0};
    if (d->partial) PetscCall(Back::Set(target, 0x7f, (size_t)d->ncoarse * nt * sizeof(int))); /* not all have children here */
    PetscCall(Order(from, d, &m, &shared));
    ninterior = m.ninterior;
    PetscCall(
      Back::Each("HopsInterpCoarse", (size_t)d->ncoarse * nc, HopsInterpCoarse{m, d->crestr, d->prolong ? source : target}));
    PetscCall(Back::Each("HopsInterpFine", (size_t)d->nfine * nf, HopsInterpFine{m, d->frestr, d->prolong ? target : source}));
    PetscCall(Writers(to, d->partial, (size_t)d->ncoarse * nt, target));
    PetscCall(Rows(from->nT + HopsSpaceNumOthers(from), (size_t)ninterior * ns, source, &rows[0]));
    PetscCall(
      Rows(from->nT + HopsSpaceNumOthers(from), (size_t)(d->ncoarse - ninterior) * ns, source + (size_t)ninterior * ns, &rows[1]));
    PetscCall((*memory->PoolFree)((void **)&parent));
    PetscCall((*memory->PoolFree)((void **)&half));
    PetscCall((*memory->PoolFree)((void **)&axis));
    PetscCall((*memory->PoolFree)((void **)&shared));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
