/* Kernels of the set-up of patches for teams of lanes (hopspatchkernel.h, hopshangteam.h, hopspatchstar.h):
   models of cells, element matrices, stars, lists and inverses of patches; arguments: lanespatchargs.h. */
#pragma once
#include <backend/lanes/runtime/lanes.h>
#include "lanespatchargs.h"

/* Rows of lanes work on a cell or patch each; which one */
template <class Team> HOPS_LANES int HopsPatchOfRow(const Team &team)
{
  return team.index() * (team.size() / HOPS_LANES_ROW) + team.lane() / HOPS_LANES_ROW;
}

/* q[ncomp][nq] of a cell: where they are, or, of a cell in a group, copied by the team's only lane */
template <class Team> HOPS_LANES const double *HopsPatchCellData(const HopsLanesPatchData &a, size_t c, double *scratch)
{
  const int n = a.ncomp * a.points.nq;

  if constexpr (Team::group == 1) return a.q + c * n;
  else {
    const double *q = a.q + c / Team::group * n * Team::group + c % Team::group;

    for (int i = 0; i < n; i++) scratch[i] = q[i * Team::group];
    return scratch;
  }
}

struct HopsPatchModelsOf {
  static constexpr int lanes = 128;
  HopsLanesPatchData   a;
  int                  n;
  HopsPatchCell       *models;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    const int     c = HopsPatchOfRow(team), rank = team.lane() % HOPS_LANES_ROW;
    const double *q;
    double        sum[5] = {0, 0, 0, 0, 0};
    HopsPatchCell cell;

    if (c >= n) return;
    q = HopsPatchCellData<Team>(a, c, scratch);
    HopsPatchModelSums(&a.points, q, rank, HOPS_LANES_ROW, sum);
    for (int k = 0; k < 5; k++) sum[k] = HopsLanesSum(sum[k]);
    HopsPatchModelMeans(&a.points, sum, &cell);
    HopsPatchModelExtremes(&a.points, q, rank, HOPS_LANES_ROW, &cell);
    cell.lo  = -HopsLanesMost(-cell.lo);
    cell.hi  = HopsLanesMost(cell.hi);
    cell.mlo = -HopsLanesMost(-cell.mlo);
    cell.mhi = HopsLanesMost(cell.mhi);
    if (rank == 0) models[c] = cell;
  }
};

/* A team for each cell; scratch: of `chunk` pairs, then the cell's data */
struct HopsPatchElementsOf {
  static constexpr int lanes = 128;
  HopsLanesPatchData   a;
  int                  P;
  const double        *T;
  const PetscInt      *cells;
  int                  chunk;
  size_t               n2, nwork;
  double              *E;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    const double *q = HopsPatchCellData<Team>(a, cells[team.index()], scratch + nwork);

    HopsPatchElementMatrix(&a.points, P, q, T, chunk, scratch, E + team.index() * n2, team.lane(), HopsLanesOf(lanes));
  }
};

/* A team for each cell with hanging nodes */
struct HopsPatchHangOf {
  static constexpr int  lanes = 128;
  HopsHanging           h; /* of H1, with J[0] on the device */
  const PetscInt       *at;
  const unsigned short *mask;
  size_t                n2;
  double               *E;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *) const
  {
    const int k = team.index();

    HopsHangingElementTeam(&h, mask[k], E + at[k] * n2, team.lane(), HopsLanesOf(lanes));
  }
};

/* ---- Stars: a thread for each cell or vertex, but for faults ---- */

struct HopsPatchCornersOf {
  HopsPatchNodes m;
  int            nv, corner[8], *number;

  HOPS_LANES void operator()(size_t i) const
  {
    number[i] = m.own[i / nv * m.nn + corner[i % nv]];
  }
};

struct HopsPatchLacksOf {
  HopsPatchNodes m;
  int            last, other;
  unsigned char *lacks;

  HOPS_LANES void operator()(size_t c) const
  {
    const int own = c < (size_t)m.nown, *in = own ? m.own + c * m.nn : m.other + (c - m.nown) * m.nn;
    const int end  = own ? last : other;
    int       most = 0;

    for (int i = 0; i < m.nn; i++) most = HopsMax(most, in[i]);
    lacks[c] = most >= end;
  }
};

struct HopsPatchStarsOf {
  HopsPatchCorners m;
  const PetscInt  *start, *list;
  HopsPatchStar   *star;

  HOPS_LANES void operator()(size_t v) const
  {
    HopsPatchStarMake(&m, (int)(start[v + 1] - start[v]), list + start[v], star + v);
  }
};

/* What may be wrong with a star, by a row of lanes */
struct HopsPatchFaultsOf {
  static constexpr int lanes = 128, blocks = 10;
  HopsPatchNodes       m;
  int                  all, n;
  const HopsPatchStar *star;
  unsigned char       *faults;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *) const
  {
    const int k = HopsPatchOfRow(team), rank = team.lane() % HOPS_LANES_ROW;
    int       wrong = 0;

    if (k >= n) return;
    if (star[k].side[0]) wrong = HopsPatchStarFaults(&m, star + k, all, rank, HOPS_LANES_ROW);
    wrong = HopsLanesAny(wrong);
    if (rank == 0) faults[k] = (unsigned char)wrong;
  }
};

struct HopsPatchLogsOf {
  int                  dim, derivative;
  const HopsPatchCell *data;
  double              *logs;

  HOPS_LANES void operator()(size_t c) const
  {
    HopsPatchCellLogs(dim, derivative, data + c, logs + 4 * c);
  }
};

struct HopsPatchFitsOf {
  int                  dim, derivative;
  const HopsPatchCell *data;
  const double        *logs;
  const HopsPatchStar *star;
  HopsPatchFit        *fit;

  HOPS_LANES void operator()(size_t v) const
  {
    if (star[v].side[0]) HopsPatchStarFit(dim, derivative, data, logs, star + v, fit + v);
  }
};

struct HopsPatchUncoveredOf {
  HopsPatchNodes m;
  int            last;
  unsigned char *covered;

  HOPS_LANES void operator()(size_t c) const
  {
    covered[c] = (unsigned char)HopsPatchCellUncovered(&m, last, (int)c, covered[c]);
  }
};

struct HopsPatchExtentsOf {
  HopsPatchMaps m;
  double       *extent;

  HOPS_LANES void operator()(size_t c) const
  {
    HopsPatchExtent(&m, c, extent + 3 * c);
  }
};

struct HopsPatchPositionsOf {
  HopsPatchMaps   m;
  const PetscInt *cells;
  double         *x;

  HOPS_LANES void operator()(size_t i) const
  {
    const int nx = m.nv * m.dim;

    x[i] = HopsPatchCorner(&m, cells[i / nx], (int)(i % nx) / m.dim, (int)(i % nx) % m.dim);
  }
};

/* A team for each patch; scratch: the longest list that is sorted */
struct HopsPatchListsOf {
  static constexpr int lanes = 64;
  HopsLanesPatchLists  l;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    constexpr int        size = HopsLanesOf(lanes);
    const int            k = team.index(), n = (int)(l.start[k + 1] - l.start[k]), rank = team.lane();
    const HopsPatchStar *s       = l.star + k;
    int                 *to      = l.idx + l.start[k];
    int                 *sorting = (int *)scratch;

    if (!s->side[0])
      for (int i = rank; i < n; i += size) to[i] = l.given[s->cell[0] + i];
    else if (s->sorted) {
      HopsPatchStarList(&l.nodes, s, 0, sorting, NULL, rank, size);
      team.Sync();
      HopsPatchListSort(n, sorting, NULL, to, NULL, rank, size);
    } else HopsPatchStarList(&l.nodes, s, 0, to, NULL, rank, size);
    if (l.estart[k] < l.estart[k + 1]) HopsPatchStarList(&l.nodes, s, 1, l.eidx + l.estart[k], NULL, rank, size);
  }
};

/* A team for each patch, whose vectors begin at first[]; scratch: of a cell's nodes, numbers and places */
struct HopsPatchProductsOf {
  static constexpr int   lanes = 128;
  HopsLanesPatchMatrices m;
  const PetscInt        *first;
  const double          *w;
  double                *t;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    const int k = team.index();

    HopsPatchProduct(&m.nodes, (int)m.size[k], m.list + m.start[k], (int)(m.cstart[k + 1] - m.cstart[k]), m.cell + m.cstart[k],
                     m.cells, m.E, w + first[k], (int *)(scratch + m.nodes.nn), scratch, t + first[k], team.lane(),
                     HopsLanesOf(lanes));
  }
};

/* A team for each patch; scratch: panels of b pivots, and places of a cell's nodes */
struct HopsPatchInvertOf {
  static constexpr int   lanes = 256;
  HopsLanesPatchMatrices m;
  int                    b;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *work) const
  {
    constexpr int size = HopsLanesOf(lanes);
    const int     k = team.index(), n = (int)m.size[k], rank = team.lane();
    double       *A   = m.inv + m.offset[k];
    int          *row = (int *)(work + HopsPatchInvertScratch(m.nmax, b));

    HopsPatchAssemble(&m.nodes, n, m.list + m.start[k], (int)(m.cstart[k + 1] - m.cstart[k]), m.cell + m.cstart[k], m.cells, m.E,
                      row, A, rank, size);
    if (!HopsPatchInvert(n, b, A, work, rank, size) && rank == 0) Team::Least(m.bad, k);
  }
};

/* The same of the Schur complement of a condensed patch */
struct HopsPatchCondenseOf {
  static constexpr int      lanes = 256, blocks = 3;
  HopsPatchModes            m;
  const HopsPatchCondensed *cond;
  double                   *schur;
  int                       b, *bad;

  template <class Team> HOPS_LANES void operator()(const Team &team, double *work) const
  {
    constexpr int             size = HopsLanesOf(lanes);
    const HopsPatchCondensed &c    = cond[team.index()];

    HopsPatchSchur(&m, &c, schur + c.offset, team.lane(), size);
    if (!HopsPatchInvert(c.n, b, schur + c.offset, work, team.lane(), size) && team.lane() == 0) Team::Least(bad, team.index());
  }
};
