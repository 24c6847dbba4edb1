/*
  Pattern of the low-order-refined matrix in H1: lengths of rows and places in them, then columns. A row lists
  its columns as the cells that hold its unknown, in ascending order, meet them. A lane works on one cell of
  a row. Where a back end has CountOnce() and FillOnce() most rows are theirs; here are rows of order 1, in
  two blocks, or with received columns, and those of meshes whose faces and edges do not say it all.

  Which cell meets a column first is found without turns. The columns of a cell that can be another cell's
  too, those on its surface, go into a hash table of the row in scratch, all cells at a time, and the
  least (cell, neighbour) of each column wins; its place is the number of such winners, and of columns inside
  a cell, that come before. Where a column lies in the table depends on the order in which lanes come, what is
  read from it does not. Back is a back end's class: see lanes.h.
*/
#pragma once
#include "laneslorhungcolumns.h"
#include "laneslorone.h"
#include "laneslorplace.h"

#define HOPS_LOR_BITS  5
#define HOPS_LOR_SLOTS (1 << HOPS_LOR_BITS) /* columns of a row that is not a long one */
#define HOPS_LOR_NEW   64                   /* more than any place: least value of a column in a table that has no place yet */

/* ---- Cells of a row ---- */

/* Neighbours of the row's node in a cell, as bits: free unknowns, those of block 1 among them, and nodes on
   the cell's surface */
struct Neighbours {
  unsigned int have, high, surface;
};

/* Those neighbours of node `at` that are on the cell's surface; last: m.P - 1 */
template <int DIM, bool MIXED> HOPS_LANES unsigned int Surface(int at, int last)
{
  constexpr int N       = Star<DIM, MIXED>::N;
  unsigned int  surface = 0;

  HOPS_ALONG(back, DIM, N, -1);
  HOPS_ALONG(level, DIM, N, 0);
  HOPS_ALONG(ahead, DIM, N, 1);
#pragma unroll
  for (int a = 0; a < DIM; a++) {
    const int i = at >> 8 * a & 255;

    if (i == 0 || i == last) surface |= level[a];
    if (i == 1) surface |= back[a];
    if (i == last - 1) surface |= ahead[a];
  }
  return surface;
}

template <int DIM, bool MIXED> HOPS_LANES Neighbours FindNeighbours(const HopsLanesLORMesh &m, int e, int split)
{
  constexpr int      N = Star<DIM, MIXED>::N;
  const int          c = CellOf(m, e), at = HopsLoad(m.ijk + e - c * m.nn), last = m.P - 1, *R = m.restr + e;
  const unsigned int there = There<DIM, MIXED>(m, c, at);
  int                col[N];
  Neighbours         out = {0, 0, Surface<DIM, MIXED>(at, last)};

#pragma unroll
  for (int s = 1; s < N; s++) col[s] = HopsLoad(R + (there >> s & 1 ? Offset<DIM>(m.P, s) : 0));
#pragma unroll
  for (int s = 1; s < N; s++) {
    if (col[s] < m.nfree) out.have |= 1u << s;
    if (col[s] >= split) out.high |= 1u << s;
  }
  out.have &= there;
  return out;
}

/* The slot of column u in a table, into which it is put if it is not there; -1: there is no room */
template <class Team> HOPS_LANES int FindSlot(int *table, int u)
{
  int h = (int)((unsigned int)u * 2654435761u >> (32 - HOPS_LOR_BITS));

#pragma unroll 1
  for (int i = 0; i < HOPS_LOR_SLOTS; i++, h = (h + 1) % HOPS_LOR_SLOTS) {
    const int old = Team::Own::Swap(table + h, -1, u);

    if (old == -1 || old == u) return h;
  }
  return -1;
}

/* What laneslorone.h asks for */
template <int DIM, bool MIXED> struct HopsLOROneCell {
  typedef PlaceWords<DIM, MIXED> Words;
  HopsLanesLORMesh               m;

  static constexpr int  N     = Star<DIM, MIXED>::N;
  static constexpr bool PAIRS = false;

  enum {
    MAX   = HOPS_LOR_SLOTS,
    SLOTS = 2 * HOPS_LOR_SLOTS
  };

  HOPS_LANES int Entries() const
  {
    return m.nn;
  }
  HOPS_LANES int Mask(int c) const
  {
    return MIXED ? m.mask[c] : 0;
  }
  HOPS_LANES void Neighbours(int c, int v, int entry[]) const
  {
    const unsigned int there = There<DIM, MIXED>(m, c, m.ijk[v]);

    for (int s = 1; s < N; s++) entry[s] = there >> s & 1 ? v + Offset<DIM>(m.P, s) : -1;
  }
  HOPS_LANES unsigned long long Columns(int e, int col[], unsigned long long *) const
  {
    const int          c = CellOf(m, e), at = m.ijk[e - c * m.nn], *R = m.restr + e;
    const unsigned int there = There<DIM, MIXED>(m, c, at);
    unsigned int       free  = 0;

    HOPS_LOR_UNROLL
    for (int s = 1; s < N; s++) {
      col[s] = R[there >> s & 1 ? Offset<DIM>(m.P, s) : 0];
      free |= (unsigned int)(col[s] < m.nfree) << s;
    }
    return there & free;
  }
};

/* ---- Lengths and places ---- */

/* Rows whose cells have more columns than a table holds get no places, and an upper bound in the place of
   their length. `work` is not zero if there are some, or rows with more columns than places count */
template <int DIM, bool MIXED> struct HopsLORCount {
  static constexpr int lanes = HOPS_LOR_TEAM, blocks = 16;
  HopsLanesLORMesh     m;
  HopsLORRows          rows;
  int                  R;
  unsigned long long  *work;

  static constexpr int N = Star<DIM, MIXED>::N;

  enum {
    T    = HopsLanesOf(lanes),
    INTS = 5 * T + N + ((N + 2) * T + 3) / 4 /* before the tables */
  };

  static size_t Scratch(int R)
  {
    return (INTS + 2 * R * HOPS_LOR_SLOTS) * sizeof(int);
  }

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    int *rowof = (int *)scratch, *first = rowof + T, *count = first + T, *low = count + T, *fresh = low + T, *offset = fresh + T;
    /* columns that are looked up: none, those on the surface, all */
    signed char   *lookup = (signed char *)(offset + N), *crowded = lookup + T, *slots = crowded + T; /* slots[N][T] */
    int           *tables = (int *)scratch + INTS, *places = tables + R * HOPS_LOR_SLOTS; /* [R][HOPS_LOR_SLOTS] columns, places */
    const RowBlock b(team, m, rows, R);
    const int      t = team.lane(), r = b.r0 + t, row = (int)rows.first + r, split = (int)rows.split;
    const bool     received = t < b.n && rows.slot && rows.slot[r] >= 0;

    PlaceWords<DIM, MIXED> word;

    for (int s = t; s < N; s += T) offset[s] = Offset<DIM>(m.P, s);
    if (t < b.n) {
      first[t]   = b.b0;
      count[t]   = 1;
      low[t]     = row < split;
      crowded[t] = 0;
      lookup[t]  = m.twice || received ? 2 : b.b1 - b.b0 > 1; /* received ones can be any */
    }
    team.Sync();
    for (int k = t; k < b.n * HOPS_LOR_SLOTS; k += T)
      if (lookup[k / HOPS_LOR_SLOTS]) {
        tables[k] = -1;
        places[k] = INT_MAX;
      }
    team.Sync();
    if (t < b.n && lookup[t] == 2) places[t * HOPS_LOR_SLOTS + FindSlot<Team>(tables + t * HOPS_LOR_SLOTS, row)] = 0;
    for (int kc = b.k0; kc < b.k1; kc += T) {
      const bool   on = kc + t < b.k1;
      int          i = 0, end = 0;
      unsigned int look = 0, isnew = 0;
      Neighbours   x = {0, 0, 0};

      b.FindRows(team, kc, rowof);
      team.Sync();
      if (on) {
        const int e = m.entry[kc + t], *C = m.restr + e;

        i    = rowof[t];
        x    = FindNeighbours<DIM, MIXED>(m, e, split);
        look = lookup[i] == 0 ? 0 : (lookup[i] == 1 ? x.have & x.surface : x.have);
        for (unsigned int left = look; left; left &= left - 1) {
          const int s = HopsLowestBit(left), h = FindSlot<Team>(tables + i * HOPS_LOR_SLOTS, HopsLoad(C + offset[s]));

          slots[s * T + t] = (char)h;
          if (h < 0) crowded[i] = 1; /* all write the same */
          else Team::Own::Least(places + i * HOPS_LOR_SLOTS + h, HOPS_LOR_NEW + 32 * t + s);
        }
      }
      team.Sync();
      if (on) {
        if (crowded[i]) look = 0;
        isnew = x.have & ~look;
        for (unsigned int left = look; left; left &= left - 1) {
          const int s = HopsLowestBit(left);

          if (places[i * HOPS_LOR_SLOTS + slots[s * T + t]] == HOPS_LOR_NEW + 32 * t + s) isnew |= 1u << s;
        }
        fresh[t] = HopsBits(isnew);
      }
      team.Sync();
      if (on) {
        int p = count[i];

        for (int u = HopsMax(first[i] - kc, 0); u < t; u++) p += fresh[u];
        for (unsigned int left = look & isnew; left; left &= left - 1) {
          const int s = HopsLowestBit(left);

          places[i * HOPS_LOR_SLOTS + slots[s * T + t]] = HopsMin(p + HopsBits(isnew & ((1u << s) - 1)), HOPS_LOR_NEW - 1);
        }
        if (rows.i[1]) Team::Own::Add(low + i, HopsBits(isnew & ~x.high));
        word.Clear();
        word.Set(0, 0);
#pragma unroll
        for (int s = 1; s < N; s++)
          if (isnew >> s & 1) word.Set(s, p++);
        end = p;
      }
      team.Sync();
      if (on) {
        if (kc + t == b.k1 - 1 || t == T - 1 || rowof[t + 1] != i) count[i] = end;
        for (unsigned int left = look & ~isnew; left; left &= left - 1) {
          const int s = HopsLowestBit(left);

          word.Set(s, places[i * HOPS_LOR_SLOTS + slots[s * T + t]]);
        }
        word.Store(rows, kc + t);
      }
      team.Sync();
    }
    if (t >= b.n) return;
    int  len  = count[t];
    bool full = crowded[t];

    const HopsLORExtra extra(m.hung, rows, r);

    full |= len > HOPS_LOR_SLOTS;
    len += extra.hi - extra.lo;
    for (int k = extra.lo; k < extra.hi && rows.i[1]; k++) low[t] += m.hung.extracol[k] < split;
    ForReceived(rows, r, [&](int u) {
      if (extra.Has(m.hung, u)) return;
      const int h = full ? -1 : FindSlot<Team>(tables + t * HOPS_LOR_SLOTS, u);

      if (h < 0) full = true;
      else if (places[t * HOPS_LOR_SLOTS + h] != INT_MAX) return;
      else places[t * HOPS_LOR_SLOTS + h] = 0;
      low[t] += u < split;
      len++;
    });
    if (full) {
      word.Clear();
      for (int k = b.b0; k < b.b1; k++) word.Store(rows, k);
      CountLater<Team>(rows, r, len, work);
      return;
    }
    if (len > HOPS_LANES_LOR_MAX) Team::Add(work, 1ull);
    rows.i[0][r] = rows.i[1] ? low[t] : len;
    if (rows.i[1]) rows.i[1][r] = len - low[t];
  }
};

/* ---- Long rows: the same columns in the same order, a lane for each ---- */

/* Did a row that has been counted get no places? */
template <int DIM, bool MIXED> HOPS_LANES bool IsUnplaced(const HopsLanesLORMesh &m, const HopsLORRows &rows, int r)
{
  const int *b = m.begin + rows.first + r;

  if (HopsLanesOf(2) == 1 || !IsLong(rows, r, HOPS_LOR_SLOTS)) return IsLong(rows, r, HOPS_LOR_SLOTS);
  if (b[0] == b[1]) return false;
  PlaceWords<DIM, MIXED> word;

  word.Load(rows, b[0]);
  return word.Get(0) == HOPS_PLACE_NONE;
}

template <int DIM, bool MIXED>
HOPS_LANES_CALLED void BuildRow(const HopsLanesLORMesh &m, const HopsLORRows &rows, int r, LongRow *list)
{
  const int row = (int)rows.first + r;

  list->Add(row);
  for (int k = m.begin[row]; k < m.begin[row + 1]; k++) {
    const int e = m.entry[k], c = CellOf(m, e), at = m.ijk[e - c * m.nn];
    const int ijk[3] = {at & 255, at >> 8 & 255, at >> 16};

    ForNeighbours<DIM, MIXED>(ijk, m.P, MIXED ? m.mask[c] : 0, [&](int, int offset) { list->AddFree(m.restr[e + offset]); });
  }
  const HopsLORExtra extra(m.hung, rows, r);

  for (int k = extra.lo; k < extra.hi; k++) list->Append(m.hung.extracol[k]);
  ForReceived(rows, r, [&](int u) { list->Add(u); });
}

/* by way of a buffer */
template <int DIM, bool MIXED, class Team> struct HopsLORCountLong {
  HopsLanesLORMesh    m;
  HopsLORRows         rows;
  int                *buffer;
  unsigned long long *next;

  HOPS_LANES void operator()(size_t i) const
  {
    const int r = (int)i;

    if (rows.i[0][r] >= 0) return;
    LongRow list = TakeRow<Team>(rows, r, m.nfree, buffer, next);

    BuildRow<DIM, MIXED>(m, rows, r, &list);
    rows.i[0][r] = list.n[0];
    if (rows.i[1]) rows.i[1][r] = list.n[1];
  }
};

/* straight to their place */
template <int DIM, bool MIXED> struct HopsLORFillLong {
  HopsLanesLORMesh m;
  HopsLORRows      rows;
  unsigned char   *used;

  HOPS_LANES void operator()(size_t i) const
  {
    const int r = (int)i;

    if (!IsUnplaced<DIM, MIXED>(m, rows, r)) return;
    LongRow list = {m.nfree, (int)rows.split, {0, 0}, {rows.j[0] + rows.i[0][r], rows.i[1] ? rows.j[1] + rows.i[1][r] : NULL}};

    BuildRow<DIM, MIXED>(m, rows, r, &list);
    for (int b = 0; b < 2 && rows.sorted; b++) HopsSortInts(list.n[b], list.col[b]);
    for (int k = 0; k < list.n[1]; k++) used[list.col[1][k]] = 1;
  }
};

/* ---- Columns that rows with lists have from their cells, before those of lists ---- */

template <int DIM, bool MIXED, class Team> struct HopsLORHungCells {
  HopsLanesLORMesh m;
  HopsLORHungTable table;

  HOPS_LANES void operator()(size_t k) const
  {
    const int e = m.entry[k], r = m.restr[e];

    if (r >= m.nfree || !table.Has(r)) return;
    const Neighbours x = FindNeighbours<DIM, MIXED>(m, e, m.nfree);

    for (unsigned int left = x.have; left; left &= left - 1)
      table.Add<Team>(r, m.restr[e + Offset<DIM>(m.P, HopsLowestBit(left))], -1);
  }
};

/* ---- Columns ---- */

/* Columns go to their places in scratch, side by side as in block 0 unless some row of the team is a long
   one, or they are too many */
template <int DIM, bool MIXED> struct HopsLORFill {
  static constexpr int lanes = HOPS_LOR_TEAM;
  HopsLanesLORMesh     m;
  HopsLORRows          rows;
  int                  R;
  unsigned char       *used;

  static constexpr int N = Star<DIM, MIXED>::N;

  enum {
    T = HopsLanesOf(lanes)
  };

  static size_t Scratch(int R)
  {
    return (3 * T + R * HOPS_LOR_SLOTS) * sizeof(int);
  }

  template <class Team> HOPS_LANES void operator()(const Team &team, double *scratch) const
  {
    int           *rowof = (int *)scratch, *at = rowof + T, *met = at + T, *list = met + T; /* [R][HOPS_LOR_SLOTS] */
    const RowBlock b(team, m, rows, R);
    const int      t = team.lane(), r = b.r0 + t, *i0 = rows.i[0] + b.r0, *i1 = rows.i[1] ? rows.i[1] + b.r0 : NULL;
    const bool     on = t < b.n && !IsUnplaced<DIM, MIXED>(m, rows, r), apart = team.Any(t < b.n && !on);
    const bool     sidebyside = !apart && i0[b.n] - i0[0] + (i1 ? i1[b.n] - i1[0] : 0) <= R * HOPS_LOR_SLOTS;
    const bool     some       = rows.slot || m.hung.begin; /* rows have columns that no cell brings */
    int           *mine       = list;

    if (on) {
      at[t]   = sidebyside ? i0[t] - i0[0] + (i1 ? i1[t] - i1[0] : 0) : t * HOPS_LOR_SLOTS;
      met[t]  = 1;
      mine    = list + at[t];
      mine[0] = (int)rows.first + r;
    }
    for (int kc = b.k0; kc < b.k1; kc += T) {
      PlaceWords<DIM, MIXED> word;

      team.Sync();
      b.FindRows(team, kc, rowof);
      team.Sync();
      if (kc + t >= b.k1) continue;
      word.Load(rows, kc + t);
      if (word.Get(0) == HOPS_PLACE_NONE) continue; /* a long row */
      const int *C   = m.restr + m.entry[kc + t];
      int       *out = list + at[rowof[t]], most = 0, col[N];

#pragma unroll
      for (int s = 1; s < N; s++) col[s] = HopsLoad(C + (word.Get(s) != HOPS_PLACE_NONE ? Offset<DIM>(m.P, s) : 0));
#pragma unroll
      for (int s = 1; s < N; s++) {
        const int p = word.Get(s);

        if (p == HOPS_PLACE_NONE) continue;
        out[p] = col[s]; /* cells that share a column write the same */
        most   = HopsMax(most, p);
      }
      if (some) Team::Own::Most(met + rowof[t], most + 1);
    }
    team.Sync();
    const int len = on ? i0[t + 1] - i0[t] + (i1 ? i1[t + 1] - i1[t] : 0) : 0, n = on ? (some ? met[t] : len) : 0;

    if (sidebyside) {
      if (on) Finish(r, mine, n);
      if (!i1) {
        team.Sync();
        for (int k = t; k < i0[b.n] - i0[0]; k += T) rows.j[0][i0[0] + k] = list[k];
        return;
      }
    }
    if (on) Put(r, mine, sidebyside ? len : n, !sidebyside);
  }

  /* All columns in mine[], which has room for them, after the n that are there */
  HOPS_LANES void Finish(int r, int mine[], int n) const
  {
    const HopsLORExtra x(m.hung, rows, r);

    for (int k = x.lo; k < x.hi; k++) mine[n++] = m.hung.extracol[k];
    ForReceived(rows, r, [&](int u) {
      int k = 0;

      while (k < n && mine[k] != u) k++;
      if (k == n) mine[n++] = u;
    });
    if (rows.sorted) HopsSortInts(n, mine);
  }

  /* The n columns of mine[] to their blocks, where `further` with all others, which it has no room for */
  HOPS_LANES void Put(int r, const int mine[], int n, bool further) const
  {
    int *j0 = rows.j[0] + rows.i[0][r], *j1 = rows.i[1] ? rows.j[1] + rows.i[1][r] : NULL;

    const auto One = [&](int u) {
      if (u < rows.split) *j0++ = u;
      else {
        *j1++                = u - (int)rows.split;
        used[u - rows.split] = 1;
      }
    };

    for (int k = 0; k < n; k++) One(mine[k]);
    if (!further) return;
    const HopsLORExtra x(m.hung, rows, r);

    for (int k = x.lo; k < x.hi; k++) One(m.hung.extracol[k]);
    for (int s = rows.slot ? rows.slot[r] : -1, i = s < 0 ? 0 : rows.xi[s]; s >= 0 && i < rows.xi[s + 1]; i++) {
      const int u = rows.xj[i];
      int       k = 0, first = rows.xi[s];

      while (k < n && mine[k] != u) k++;
      while (rows.xj[first] != u) first++;
      if (k == n && first == i && !x.Has(m.hung, u)) One(u);
    }
    for (int b = 0; b < 2 && rows.sorted; b++)
      if (rows.i[b]) HopsSortInts(rows.i[b][r + 1] - rows.i[b][r], rows.j[b] + rows.i[b][r]);
  }
};

/* ---- Launches ---- */

template <class Back> struct HopsLORPatternLaunches {
  template <int DIM, bool MIXED>
  static PetscErrorCode CountOf(const HopsLanesLORMesh *m, const HopsLORRows *rows, unsigned long long *work)
  {
    if constexpr (Back::Team::group > 1) {
      typedef HopsOneCount<HopsLOROneCell<DIM, MIXED>, typename Back::Team> F;

      return Back::Each("HopsLORCount", F::Pieces(rows), F{{*m}, *rows, work});
    } else {
      const HopsLORCount<DIM, MIXED> f = {*m, *rows, RowsOfTeam(rows), work};

      return Back::Teams("HopsLORCount", (int)((rows->n + f.R - 1) / f.R), f.Scratch(f.R), f);
    }
  }

  template <int DIM, bool MIXED>
  static PetscErrorCode CountLongOf(const HopsLanesLORMesh *m, const HopsLORRows *rows, int *buffer, unsigned long long *work)
  {
    return Back::Each("HopsLORCountLong", rows->n, HopsLORCountLong<DIM, MIXED, typename Back::Team>{*m, *rows, buffer, work});
  }

  template <int DIM, bool MIXED>
  static PetscErrorCode ColumnsOf(const HopsLanesLORMesh *m, const HopsLORRows *rows, unsigned char used[])
  {
    PetscFunctionBegin;
    if constexpr (Back::Team::group > 1)
      PetscCall(Back::Each("HopsLORFill", rows->n, HopsOneFill<HopsLOROneCell<DIM, MIXED>>{{*m}, *rows, used}));
    else {
      const HopsLORFill<DIM, MIXED> f = {*m, *rows, RowsOfTeam(rows), used};

      PetscCall(Back::Teams("HopsLORFill", (int)((rows->n + f.R - 1) / f.R), f.Scratch(f.R), f));
    }
    if (rows->anylong) PetscCall(Back::Each("HopsLORFillLong", rows->n, HopsLORFillLong<DIM, MIXED>{*m, *rows, used}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Count(const HopsLanesLORMesh *m, const HopsLORRows *rows, unsigned long long *work)
  {
    if (m->dim == 3) return rows->coupled ? CountOf<3, true>(m, rows, work) : CountOf<3, false>(m, rows, work);
    return rows->coupled ? CountOf<2, true>(m, rows, work) : CountOf<2, false>(m, rows, work);
  }

  static PetscErrorCode CountLong(const HopsLanesLORMesh *m, const HopsLORRows *rows, int *buffer, unsigned long long *work)
  {
    if (m->dim == 3)
      return rows->coupled ? CountLongOf<3, true>(m, rows, buffer, work) : CountLongOf<3, false>(m, rows, buffer, work);
    return rows->coupled ? CountLongOf<2, true>(m, rows, buffer, work) : CountLongOf<2, false>(m, rows, buffer, work);
  }

  static PetscErrorCode Columns(const HopsLanesLORMesh *m, const HopsLORRows *rows, unsigned char used[])
  {
    if (m->dim == 3) return rows->coupled ? ColumnsOf<3, true>(m, rows, used) : ColumnsOf<3, false>(m, rows, used);
    return rows->coupled ? ColumnsOf<2, true>(m, rows, used) : ColumnsOf<2, false>(m, rows, used);
  }

  /* ---- Hanging nodes ---- */

  static PetscErrorCode CellsOf(const HopsLanesLORMesh *m, bool coupled, size_t n, const HopsLORHungTable &t)
  {
    typedef typename Back::Team Team;

    if (m->dim == 3 && coupled) return Back::Each("HopsLORHungCells", n, HopsLORHungCells<3, true, Team>{*m, t});
    if (m->dim == 3) return Back::Each("HopsLORHungCells", n, HopsLORHungCells<3, false, Team>{*m, t});
    if (coupled) return Back::Each("HopsLORHungCells", n, HopsLORHungCells<2, true, Team>{*m, t});
    return Back::Each("HopsLORHungCells", n, HopsLORHungCells<2, false, Team>{*m, t});
  }

  static PetscErrorCode HungColumns(const HopsLanesLORMesh *m, bool cells, bool coupled, size_t n, const HopsLORHungNumbers *x,
                                    HopsLORHung *h)
  {
    const int most = cells ? 2 * m->dim + (coupled ? 2 * m->dim * (m->dim - 1) : 0) : 0;

    return HopsLORHungOrders<Back>::Columns(
      m, cells, most, n, x, [&](size_t ncells, const HopsLORHungTable &t) { return CellsOf(m, coupled, ncells, t); }, h);
  }

  static void Fill(HopsLanesLORKernels *k)
  {
    k->Count       = Count;
    k->CountLong   = CountLong;
    k->Columns     = Columns;
    k->HungNumbers = HopsLORHungOrders<Back>::Numbers;
    k->HungColumns = HungColumns;
  }
};
