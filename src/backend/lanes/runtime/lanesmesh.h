/*
  Set-up of spaces on a mesh (HopsMeshOps), and what kind of map cells have. A lane takes a cell, a point or
  an entry; numbers are sums of what comes before, so that the result is the host's. Back is a back end's
  class: see lanes.h.
*/
#pragma once
#include <backend/lanes/runtime/laneslists.h>
#include <backend/lanes/runtime/lanes.h>
#include <backend/lanes/runtime/lanescopy.h>
#include <hops/private/hopsmeshimpl.h>

/* ---- Closures ---- */

template <class Team> struct HopsMeshClosures {
  HopsMeshCones m;
  PetscInt     *point;
  signed char  *ornt;
  int          *bad;

  HOPS_LANES void operator()(size_t i) const
  {
    const PetscInt c = (PetscInt)i, n = HopsClosureSize(m.dim);
    PetscBool      good;

    if (m.dim == 3) good = HopsCellClosure(3, &m, c, point + c * n, ornt + c * n);
    else good = HopsCellClosure(2, &m, c, point + c * n, ornt + c * n);
    if (!good) Team::Least(bad, (int)c);
  }
};

/* ---- Numbers ---- */

struct HopsMeshMark {
  const PetscInt *list; /* points of a list are distinct */
  PetscInt        pStart;
  int             bit;
  unsigned char  *kind;

  HOPS_LANES void operator()(size_t i) const
  {
    kind[list[i] - pStart] |= (unsigned char)bit;
  }
};

template <class Team> struct HopsMeshTouch {
  HopsNumbering b;

  HOPS_LANES void operator()(size_t c) const
  {
    for (PetscInt k = 0; k < b.nlist; ++k) {
      const int at = HopsTouchPlace(&b, (PetscInt)c, k);

      Team::Least(b.touch + b.point[at] - b.pStart, at);
    }
  }
};

/* count[c], count[stride + c]: unknowns and constrained entries that cell c reaches first; [ncells] is 0 */
struct HopsMeshCountReached {
  HopsNumbering b;
  PetscInt      stride;
  int          *count;

  HOPS_LANES void operator()(size_t c) const
  {
    int n[2] = {0, 0};

    if ((PetscInt)c < b.ncells) HopsReachCell(&b, (PetscInt)c, PETSC_FALSE, n);
    count[c]          = n[0];
    count[stride + c] = n[1];
  }
};

struct HopsMeshPlaceReached {
  HopsNumbering b;
  PetscInt      stride;
  const int    *count;

  HOPS_LANES void operator()(size_t c) const
  {
    int n[2] = {count[c], count[stride + c]};

    HopsReachCell(&b, (PetscInt)c, PETSC_TRUE, n);
  }
};

/* and of points that no cell reaches */
struct HopsMeshCountUntouched {
  HopsNumbering b;
  int          *count;

  HOPS_LANES void operator()(size_t p) const
  {
    count[p] = (PetscInt)p < b.np ? HopsCountUntouched(&b, (PetscInt)p) : 0;
  }
};

struct HopsMeshPlaceUntouched {
  int       *first;
  const int *count;
  int        nT;

  HOPS_LANES void operator()(size_t p) const
  {
    if (count[p + 1] > count[p]) first[p] = nT + count[p];
  }
};

/* ---- Element restriction ---- */

struct HopsMeshMarkInner {
  HopsNumbering b;
  int           nT, *inner;

  HOPS_LANES void operator()(size_t c) const
  {
    inner[c] = (PetscInt)c < b.ncells ? HopsIsInnerCell(&b, nT, (PetscInt)c) : 0;
  }
};

/* before[]: interior cells before each cell. The others follow all of these; order is kept within both */
struct HopsMeshOrderCells {
  PetscInt   n;
  const int *before;
  int       *perm;

  HOPS_LANES void operator()(size_t i) const
  {
    const PetscInt c = (PetscInt)i;

    if (before[c + 1] > before[c]) perm[before[c]] = (int)c;
    else perm[before[n] + c - before[c]] = (int)c;
  }
};

struct HopsMeshRestrict {
  HopsNumbering b;
  HopsCellView  v;
  int           nTG;
  const int    *perm;
  int          *restr;

  HOPS_LANES void operator()(size_t e) const
  {
    const PetscInt row = (PetscInt)(e / v.ne), i = (PetscInt)(e % v.ne), c = perm ? perm[row] : row, k = v.slot[i];

    if (c < 0) restr[e] = 0;
    else
      restr[e] =
        HopsCellEntry(HopsCellFirst(&b, nTG, c, k), v.seen[(b.ornt[c * HopsClosureSize(b.dim) + b.list[k]] + 4) * v.ne + i]);
  }
};

/* ---- Lists, coordinates ---- */

struct HopsMeshComplement {
  PetscInt        n;
  const PetscInt *gap;
  PetscInt       *list, *inverse;

  HOPS_LANES void operator()(size_t i) const
  {
    HopsComplementEntry(n, gap, (PetscInt)i, list, inverse);
  }
};

struct HopsMeshCorner {
  HopsCorners     m;
  const PetscInt *point;
  const int      *perm;
  PetscReal      *X;

  HOPS_LANES void operator()(size_t e) const
  {
    HopsCellCorner(&m, point, (PetscInt)(e / m.n), perm[e / m.n], (PetscInt)(e % m.n), X);
  }
};

struct HopsMeshCoarseNode {
  HopsChildMaps    m;
  int              np;
  const PetscReal *fine;
  PetscReal       *X;

  HOPS_LANES void operator()(size_t e) const
  {
    HopsCoarseNode(&m, fine, (PetscInt)(e / np), (PetscInt)(e % np), X);
  }
};

/* *kind = max(*kind, what a coordinate of a cell, of g nodes s[] a direction, says of its map) */
template <class Team> struct HopsMeshMapKind {
  int              dim, g;
  const PetscReal *s, *X;
  int             *kind;

  HOPS_LANES void operator()(size_t i) const
  {
    const int k = HopsCellMapKind(dim, g, s, X + i * HopsLanesPower(g, dim));

    if (k > *(volatile int *)kind) Team::Most(kind, k);
  }
};

/* ---- The table ---- */

template <class Back> struct HopsLanesMesh {
  typedef typename Back::Team Team;

  static PetscErrorCode Closures(const HopsMeshCones *mesh, PetscInt point[], signed char ornt[], PetscInt *bad)
  {
    HopsMeshCones m    = *mesh;
    PetscInt      size = 0, *cone, *corn, *cell;
    int          *least, found = PETSC_MPI_INT_MAX;

    PetscFunctionBegin;
    *bad = -1;
    if (!m.ncells) PetscFunctionReturn(PETSC_SUCCESS);
    for (PetscInt d = 1; d <= m.dim; ++d) {
      size = PetscMax(size, m.cones[d].stop);
      PetscCall(HopsLanesCopyIn<Back>((m.cones[d].end - m.cones[d].start) * sizeof(PetscInt), mesh->cones[d].off, &m.cones[d].off));
    }
    PetscCall(HopsLanesCopyIn<Back>(size * sizeof(PetscInt), mesh->cone, &cone));
    PetscCall(HopsLanesCopyIn<Back>(size * sizeof(PetscInt), mesh->ornt, &corn));
    PetscCall(HopsLanesCopyIn<Back>(m.ncells * sizeof(PetscInt), mesh->cell, &cell));
    PetscCall(HopsLanesCopyIn<Back>(sizeof(int), &found, &least));
    m.cone = cone;
    m.ornt = corn;
    m.cell = cell;
    PetscCall(Back::Each("HopsMeshClosures", m.ncells, HopsMeshClosures<Team>{m, point, ornt, least}));
    PetscCall(HopsLanesCopyOut<Back>(sizeof(int), least, &found));
    if (found < m.ncells) *bad = found;
    for (PetscInt d = 1; d <= m.dim; ++d) PetscCall(HopsLanesFree<Back>(&m.cones[d].off));
    PetscCall(HopsLanesFree<Back>(&cone));
    PetscCall(HopsLanesFree<Back>(&corn));
    PetscCall(HopsLanesFree<Back>(&cell));
    PetscCall(HopsLanesFree<Back>(&least));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode MarkList(PetscInt n, const PetscInt list[], int bit, const HopsNumbering *b)
  {
    PetscInt *l;

    PetscFunctionBegin;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsLanesCopyIn<Back>(n * sizeof(PetscInt), list, &l));
    PetscCall(Back::Each("HopsMeshMark", n, HopsMeshMark{l, b->pStart, bit, b->kind}));
    PetscCall(HopsLanesFree<Back>(&l));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Number(const HopsNumbering *b, PetscInt ness, const PetscInt ess[], PetscInt nforeign,
                               const PetscInt foreign[], int *nT, int *nC)
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;
    const PetscInt       stride = b->ncells + 1;
    int                 *count, *rest, sum[3];

    PetscFunctionBegin;
    *nT = *nC = 0;
    if (!b->np) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Back::Set(b->kind, 0, b->np));
    PetscCall(Back::Set(b->touch, HOPS_UNTOUCHED & 0xff, b->np * sizeof(int)));
    PetscCall(Back::Set(b->first, HOPS_NO_NUMBER & 0xff, b->np * sizeof(int)));
    PetscCall(MarkList(ness, ess, HOPS_POINT_ESSENTIAL, b));
    PetscCall(MarkList(nforeign, foreign, HOPS_POINT_FOREIGN, b));
    PetscCall((*memory->PoolMalloc)(2 * stride * sizeof(int), (void **)&count));
    PetscCall((*memory->PoolMalloc)((b->np + 1) * sizeof(int), (void **)&rest));
    PetscCall(Back::Each("HopsMeshTouch", b->ncells, HopsMeshTouch<Team>{*b}));
    PetscCall(Back::Each("HopsMeshCountReached", stride, HopsMeshCountReached{*b, stride, count}));
    PetscCall(Back::Scan(b->ncells, count));
    PetscCall(Back::Scan(b->ncells, count + stride));
    PetscCall(Back::Each("HopsMeshPlaceReached", b->ncells, HopsMeshPlaceReached{*b, stride, count}));
    PetscCall(Back::Each("HopsMeshCountUntouched", b->np + 1, HopsMeshCountUntouched{*b, rest}));
    PetscCall(Back::Scan(b->np, rest));
    PetscCall(HopsLanesCopyOut<Back>(sizeof(int), count + b->ncells, &sum[0]));
    PetscCall(HopsLanesCopyOut<Back>(sizeof(int), count + stride + b->ncells, &sum[1]));
    PetscCall(HopsLanesCopyOut<Back>(sizeof(int), rest + b->np, &sum[2]));
    if (sum[2]) PetscCall(Back::Each("HopsMeshPlaceUntouched", b->np, HopsMeshPlaceUntouched{b->first, rest, sum[0]}));
    PetscCall(HopsLanesFree<Back>(&count));
    PetscCall(HopsLanesFree<Back>(&rest));
    *nT = sum[0] + sum[2];
    *nC = sum[1];
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Order(const HopsNumbering *b, int nT, int perm[], PetscInt *ninterior)
  {
    const HopsMemoryOps *memory = Back::Ops()->memory;
    int                 *inner, *order, n;

    PetscFunctionBegin;
    *ninterior = 0;
    if (!b->ncells) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall((*memory->PoolMalloc)((b->ncells + 1) * sizeof(int), (void **)&inner));
    PetscCall((*memory->PoolMalloc)(b->ncells * sizeof(int), (void **)&order));
    PetscCall(Back::Each("HopsMeshMarkInner", b->ncells + 1, HopsMeshMarkInner{*b, nT, inner}));
    PetscCall(Back::Scan(b->ncells, inner));
    PetscCall(Back::Each("HopsMeshOrderCells", b->ncells, HopsMeshOrderCells{b->ncells, inner, order}));
    PetscCall(HopsLanesCopyOut<Back>(b->ncells * sizeof(int), order, perm));
    PetscCall(HopsLanesCopyOut<Back>(sizeof(int), inner + b->ncells, &n));
    PetscCall(HopsLanesFree<Back>(&inner));
    PetscCall(HopsLanesFree<Back>(&order));
    *ninterior = n;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Restrict(const HopsNumbering *b, const HopsCellView *view, int nTG, PetscInt n, const int perm[],
                                 int restr[])
  {
    HopsCellView v = *view;
    int         *order, *slot, *seen;

    PetscFunctionBegin;
    if (!n || !v.ne) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsLanesCopyIn<Back>(v.ne * sizeof(int), view->slot, &slot));
    PetscCall(HopsLanesCopyIn<Back>(8 * v.ne * sizeof(int), view->seen, &seen));
    PetscCall(HopsLanesCopyIn<Back>(n * sizeof(int), perm, &order));
    v.slot = slot;
    v.seen = seen;
    PetscCall(Back::Each("HopsMeshRestrict", (size_t)n * v.ne, HopsMeshRestrict{*b, v, nTG, order, restr}));
    PetscCall(HopsLanesFree<Back>(&slot));
    PetscCall(HopsLanesFree<Back>(&seen));
    PetscCall(HopsLanesFree<Back>(&order));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Complement(PetscInt size, PetscInt n, const PetscInt gap[], PetscInt list[], PetscInt inverse[])
  {
    PetscInt *gaps;

    PetscFunctionBegin;
    PetscCall(HopsLanesCopyIn<Back>(n * sizeof(PetscInt), gap, &gaps));
    PetscCall(Back::Each("HopsMeshComplement", size, HopsMeshComplement{n, gaps, list, inverse}));
    PetscCall(HopsLanesFree<Back>(&gaps));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Corners(const HopsCorners *corners, PetscInt nx, PetscInt ncells, const PetscInt point[], const int perm[],
                                PetscReal X[])
  {
    HopsCorners m = *corners;
    int        *order;

    PetscFunctionBegin;
    if (!ncells) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsLanesCopyIn<Back>(nx * sizeof(PetscReal), corners->x, &m.x));
    PetscCall(HopsLanesCopyIn<Back>(ncells * sizeof(int), perm, &order));
    PetscCall(HopsLanesCopyIn<Back>(corners->nown * sizeof(PetscReal), corners->xown, &m.xown));
    PetscCall(HopsLanesCopyIn<Back>(ncells * sizeof(int), corners->own, &m.own));
    PetscCall(HopsLanesCopyIn<Back>(m.n * sizeof(PetscInt), corners->placeown, &m.placeown));
    PetscCall(Back::Each("HopsMeshCorners", (size_t)ncells * m.n, HopsMeshCorner{m, point, order, X}));
    PetscCall(HopsLanesFree<Back>(&m.x));
    PetscCall(HopsLanesFree<Back>(&order));
    PetscCall(HopsLanesFree<Back>(&m.xown));
    PetscCall(HopsLanesFree<Back>(&m.own));
    PetscCall(HopsLanesFree<Back>(&m.placeown));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Coarsen(const HopsChildMaps *maps, const PetscReal fine[], PetscReal X[])
  {
    HopsChildMaps m  = *maps;
    const int     np = HopsLanesPower((int)m.P, (int)m.dim), nchild = m.nhalf == 2 ? 1 << m.dim : 1;

    PetscFunctionBegin;
    if (!m.ncoarse) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsLanesCopyIn<Back>((size_t)m.ncoarse * nchild * sizeof(PetscInt), maps->child, &m.child));
    PetscCall(HopsLanesCopyIn<Back>((size_t)m.nfine * m.dim, maps->axis, &m.axis));
    PetscCall(HopsLanesCopyIn<Back>(2 * m.P * m.P * sizeof(PetscReal), maps->l, &m.l));
    PetscCall(HopsLanesCopyIn<Back>(4 * m.P * sizeof(PetscReal), maps->end, &m.end));
    PetscCall(HopsLanesCopyIn<Back>(m.P * sizeof(int), maps->half, &m.half));
    PetscCall(Back::Each("HopsMeshCoarsen", (size_t)m.ncoarse * np, HopsMeshCoarseNode{m, np, fine, X}));
    PetscCall(HopsLanesFree<Back>(&m.child));
    PetscCall(HopsLanesFree<Back>(&m.axis));
    PetscCall(HopsLanesFree<Back>(&m.l));
    PetscCall(HopsLanesFree<Back>(&m.end));
    PetscCall(HopsLanesFree<Back>(&m.half));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode MapKind(PetscInt n, PetscInt dim, PetscInt g, const PetscReal s[], const PetscReal X[], HopsMapKind *kind)
  {
    PetscReal *nodes;
    int       *flag, found = 0;

    PetscFunctionBegin;
    *kind = HOPS_MAP_AFFINE;
    if (!n) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(HopsLanesCopyIn<Back>(g * sizeof(PetscReal), s, &nodes));
    PetscCall(HopsLanesCopyIn<Back>(sizeof(int), &found, &flag));
    PetscCall(Back::Each("HopsMapKind", (size_t)n * dim, HopsMeshMapKind<Team>{(int)dim, (int)g, nodes, X, flag}));
    PetscCall(HopsLanesCopyOut<Back>(sizeof(int), flag, &found));
    PetscCall(HopsLanesFree<Back>(&nodes));
    PetscCall(HopsLanesFree<Back>(&flag));
    *kind = (HopsMapKind)(HOPS_MAP_AFFINE + found);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static constexpr HopsMeshOps Table()
  {
    return {Closures, Number, Order, Restrict, HopsLanesLists<Back>::Transpose, Complement, Corners, Coarsen};
  }
};
