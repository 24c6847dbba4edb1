/*
  Pattern of low-order-refined matrices where a lane has no others beside it, on a host: a row at a time, and
  places in it that are final as soon as its columns are known. Branches that depend on where a node lies in
  its cell would be foreseen wrongly, so there are few.

  A class Cell says what a cell adds to a row (laneslorpattern.h has that of H1, laneslumpcurlrows.h that of
  H(curl)):

    Mesh m                   HopsLanesLORMesh or HopsLumpMesh
    N, MAX, SLOTS            neighbours; columns of a row that is not long; slots of a hash table, more
    Words                    places of a cell in a row
    PAIRS                    do a row's two cells as a rule share no other column than the row's own?
    Entries()                of a cell
    Mask(c)                  what the neighbours of cell c depend on
    Neighbours(c, i, entry)  numbers in the cell of the neighbours of its entry i, from 1 on, or negative
    Columns(e, col, &bits)   L indices of the neighbours of entry e, from 1 on, as far as these are there and
                             free, which the result says by bits; bits: which the cell sees with another sign
*/
#pragma once
#include "laneslorrow.h"

/* The row's columns while they are found, as its cells meet them */
template <class Cell> struct HopsOneColumns {
  enum {
    ROOM = Cell::MAX + 16 /* read by vectors */
  };
  int n, col[ROOM];

  /* rank[i]: how many are less than column i; the places that are none stay so */
  HOPS_LANES void Rank(unsigned char rank[64]) const
  {
#if defined(HOPS_LANES_ONE) /* compilers for devices know no vectors, which these tables are not for */
    typedef int           Ints __attribute__((vector_size(64), aligned(4)));
    typedef unsigned char Bytes __attribute__((vector_size(16), aligned(1)));

    for (int h = 0; h < n; h += 16) {
      const Ints x     = *(const Ints *)(col + h);
      Ints       below = {};

      for (int j = 0; j < n; j++) below -= x > col[j];
      *(Bytes *)(rank + h) = __builtin_convertvector(below, Bytes);
    }
#endif
    rank[Cell::Words::NONE] = Cell::Words::NONE;
  }
  HOPS_LANES bool Ascending() const
  {
    bool other = false;

    for (int i = 1; i < n; i++) other |= col[i] < col[i - 1];
    return !other;
  }
};

/* The same where columns are looked up. Beyond the room they are counted alone, some twice */
template <class Cell> struct HopsOneList : HopsOneColumns<Cell> {
  enum {
    NONE = 255
  };
  unsigned char slot[Cell::SLOTS];

  HOPS_LANES HopsOneList()
  {
    this->n = 0;
    for (int i = 0; i < Cell::SLOTS; i++) slot[i] = NONE;
  }
  /* The place of u, MAX or more where it has none */
  HOPS_LANES int Add(int u)
  {
    unsigned int h = (unsigned int)u * 2654435761u >> 16 & (Cell::SLOTS - 1);

    while (slot[h] != NONE && this->col[slot[h]] != u) h = (h + 1) & (Cell::SLOTS - 1);
    const bool fresh = slot[h] == NONE;
    const int  p     = fresh ? this->n : slot[h];

    if (p >= Cell::MAX) return this->n++;
    slot[h]      = (unsigned char)p;
    this->col[p] = u;
    this->n += fresh;
    return p;
  }
};

/*
  A row of several cells is mostly like one before it, as meshes are numbered: entries with the same numbers
  in their cells; of these' neighbours the same ones are free, the same ones are one column, and columns
  ascend in the same order. Then so are its places, and nothing depends on where a node lies in its cell. What
  a kind of rows has; its candidates are the row itself, and then the neighbours in cell after cell.
*/
template <class Cell> struct HopsOneKind {
  typedef typename Cell::Words Words;

  enum {
    KINDS   = 128, /* that are remembered */
    CELLS   = 8,
    COLUMNS = 32,
    MOST    = 64 /* candidates */
  };
  int           cells, length;                      /* 0 cells: no row yet */
  int           at[CELLS], mask[CELLS], end[CELLS]; /* the entry's number in its cell; candidates of the first cells */
  int           entry[MOST];                        /* a candidate's number in its cell */
  unsigned char turned[MOST], place[MOST];          /* sign; Words::NONE: constrained */
  unsigned char from[COLUMNS];                      /* a candidate with this place */
  Words         word[CELLS];
};

template <class Cell> struct HopsOneRow {
  typedef HopsOneKind<Cell> Kind;
  int                       row, cells, kind, cell[Kind::CELLS], at[Kind::CELLS], mask[Kind::CELLS];

  static HOPS_LANES bool Fits(int cells)
  {
    return cells > 1 && cells <= Kind::CELLS && 1 + cells * (Cell::N - 1) <= Kind::MOST;
  }
  HOPS_LANES HopsOneRow(const Cell &of, int r, int k0, int k1) : row(r), cells(k1 - k0)
  {
    unsigned int hash = 0;

    for (int k = 0; k < cells; k++) {
      const int e = of.m.entry[k0 + k];

      cell[k] = CellOf(e, of.m.perentry);
      at[k]   = e - cell[k] * of.Entries();
      mask[k] = of.Mask(cell[k]);
      hash    = (hash + at[k] + (mask[k] << 16)) * 2654435761u;
    }
    kind = (int)(hash >> 16) % Kind::KINDS;
  }
  HOPS_LANES bool Is(const Cell &of, const Kind &x) const
  {
    int  list[Kind::COLUMNS], col[Kind::MOST], n = 1;
    bool other = x.cells != cells;

    for (int k = 0; k < cells && !other; k++) other = at[k] != x.at[k] || mask[k] != x.mask[k];
    if (other) return false;
    col[0] = row;
    for (int k = 0; k < cells; k++) {
      const int *R = of.m.restr + (size_t)cell[k] * of.Entries(), own = R[at[k]];

      for (; n < x.end[k]; n++) {
        const int l = R[x.entry[n]];

        other |= ((l ^ own) < 0) != x.turned[n];
        col[n] = HopsLanesUnsigned(l);
      }
    }
    for (int p = 0; p < x.length; p++) list[p] = col[x.from[p]];
    for (int p = 1; p < x.length; p++) other |= list[p] <= list[p - 1];
    if (list[x.length - 1] >= of.m.nfree) return false;
    for (int i = 1; i < n; i++) {
      const int p = x.place[i];

      other |= p == Cell::Words::NONE ? col[i] < of.m.nfree : col[i] != list[p];
    }
    return !other;
  }
  /* The places of cell k are x.word[k] */
  HOPS_LANES void Keep(const Cell &of, int length, Kind &x) const
  {
    int n = 1;

    x.cells                  = cells;
    x.length                 = length;
    x.from[x.word[0].Get(0)] = 0;
    for (int k = 0; k < cells; k++) {
      const int *R = of.m.restr + (size_t)cell[k] * of.Entries();
      int        entry[Cell::N];

      of.Neighbours(cell[k], at[k], entry);
      x.at[k]   = at[k];
      x.mask[k] = mask[k];
      for (int s = 1; s < Cell::N; s++) {
        const int p = x.word[k].Get(s);

        if (entry[s] < 0) continue;
        x.entry[n]  = entry[s];
        x.turned[n] = (R[entry[s]] ^ R[at[k]]) < 0;
        x.place[n]  = (unsigned char)(p < Cell::MAX ? p : Cell::Words::NONE);
        if (p < Cell::MAX) x.from[p] = (unsigned char)n;
        n++;
      }
      x.end[k] = n;
    }
  }
};

#define HOPS_ONE_ROWS 1024 /* of a piece */

/* Lengths of rows, and places: final ones but in long rows and in those that have columns in block 1; of
   pieces of rows */
template <class Cell, class Team> struct HopsOneCount {
  static size_t Pieces(const HopsLORRows *rows)
  {
    return ((size_t)rows->n + HOPS_ONE_ROWS - 1) / HOPS_ONE_ROWS;
  }
  Cell                cell;
  HopsLORRows         rows;
  unsigned long long *work;

  HOPS_LANES void SetLength(int r, const HopsOneColumns<Cell> &list, int *high) const
  {
    *high = 0;
    for (int k = 0; k < list.n && rows.i[1]; k++) *high += list.col[k] >= (int)rows.split;
    rows.i[0][r] = list.n - *high;
    if (rows.i[1]) rows.i[1][r] = *high;
  }
  /* The same of a row whose cells, one or two, are taken to share no columns: false where they do. Nothing is
     looked up, and no branch depends on which columns are there */
  HOPS_LANES bool Distinct(int r, int k0, int k1) const
  {
    typedef typename Cell::Words Words;
    const auto                  &m = cell.m;
    HopsOneColumns<Cell>         list;
    unsigned char                at[2][Cell::N], rank[64];
    unsigned long long           negative[2] = {0, 0};
    int                          high, sum = 0;

    list.n      = 1;
    list.col[0] = (int)rows.first + r;
    for (int k = k0; k < k1; k++) {
      int                      col[Cell::N];
      const unsigned long long have = cell.Columns(m.entry[k], col, &negative[k - k0]);

      at[k - k0][0] = 0;
      if (list.n + Cell::N > list.ROOM) return false;
      HOPS_LOR_UNROLL
      for (int s = 1; s < Cell::N; s++) {
        const int on = (int)(have >> s & 1);

        list.col[list.n] = col[s];
        at[k - k0][s]    = (unsigned char)(on ? list.n : Words::NONE);
        list.n += on;
      }
    }
    if (list.n > Cell::MAX) return false;
    list.Rank(rank);
    for (int i = 0; i < list.n && k1 - k0 > 1; i++) sum += rank[i]; /* of one rank are equal columns */
    if (k1 - k0 > 1 && sum != list.n * (list.n - 1) / 2) return false;
    SetLength(r, list, &high);
    for (int k = k0; k < k1; k++) {
      Words word;

      word.Clear();
      HOPS_LOR_UNROLL
      for (int s = 0; s < Cell::N; s++) {
        const int p = at[k - k0][s], to = rows.sorted && !high ? rank[p] : p;

        word.Set(s, to, p != Words::NONE && (negative[k - k0] >> s & 1));
      }
      word.Store(rows, PlaceKey(m, rows, k));
    }
    return true;
  }
  HOPS_LANES void operator()(size_t piece) const
  {
    typedef HopsOneKind<Cell> Kind;
    const int                 first = (int)piece * HOPS_ONE_ROWS, last = HopsMin(first + HOPS_ONE_ROWS, (int)rows.n);
    Kind                      kinds[Kind::KINDS];

    for (int i = 0; i < Kind::KINDS; i++) kinds[i].cells = 0;
    for (int r = first; r < last; r++) {
      const int *b = cell.m.begin + rows.first + r;

      if (rows.sorted && !rows.i[1] && HopsOneRow<Cell>::Fits(b[1] - b[0]) && !HasMore(cell.m.hung, rows, r))
        RowAsBefore(r, b[0], b[1], kinds);
      else Row(r);
    }
  }
  HOPS_LANES void RowAsBefore(int r, int k0, int k1, HopsOneKind<Cell> kinds[]) const
  {
    const HopsOneRow<Cell> x(cell, (int)rows.first + r, k0, k1);
    HopsOneKind<Cell>     &kind = kinds[x.kind];

    if (x.Is(cell, kind)) {
      rows.i[0][r] = kind.length;
      for (int k = k0; k < k1; k++) kind.word[k - k0].Store(rows, PlaceKey(cell.m, rows, k));
      return;
    }
    Row(r);
    if (rows.i[0][r] < 0 || rows.i[0][r] > HopsOneKind<Cell>::COLUMNS) return;
    for (int k = k0; k < k1; k++) kind.word[k - k0].Load(rows, PlaceKey(cell.m, rows, k));
    x.Keep(cell, rows.i[0][r], kind);
  }
  HOPS_LANES void Row(int r) const
  {
    typedef typename Cell::Words Words;
    const auto                  &m   = cell.m;
    const int                    row = (int)rows.first + r, k0 = m.begin[row], k1 = m.begin[row + 1];
    const bool                   more = HasMore(m.hung, rows, r);
    unsigned char                rank[64];
    Words                        word;
    int                          high;

    if (!m.twice && !more && k1 > k0 && k1 - k0 <= (Cell::PAIRS ? 2 : 1) && Distinct(r, k0, k1)) return;
    HopsOneList<Cell> list;

    list.Add(row);
    for (int k = k0; k < k1; k++) {
      int                col[Cell::N];
      unsigned long long negative = 0;

      word.Clear();
      word.Set(0, 0, false);
      for (unsigned long long left = cell.Columns(m.entry[k], col, &negative); left; left &= left - 1) {
        const int s = __builtin_ctzll(left), p = list.Add(col[s]);

        if (p < Cell::MAX) word.Set(s, p, negative >> s & 1);
      }
      word.Store(rows, PlaceKey(m, rows, k));
    }
    if (more) ForMore(m.hung, rows, r, [&](int u) { (void)list.Add(u); });
    if (list.n > Cell::MAX) {
      word.Clear();
      for (int k = k0; k < k1; k++) word.Store(rows, PlaceKey(m, rows, k));
      CountLater<Team>(rows, r, list.n, work);
      return;
    }
    SetLength(r, list, &high);
    if (high || !rows.sorted || list.Ascending()) return;
    list.Rank(rank);
    for (int k = k0; k < k1; k++) {
      word.Load(rows, PlaceKey(m, rows, k));
      word.Move(rank);
      word.Store(rows, PlaceKey(m, rows, k));
    }
  }
};

/* Columns to their places */
template <class Cell> struct HopsOneFill {
  Cell           cell;
  HopsLORRows    rows;
  unsigned char *used;

  HOPS_LANES void operator()(size_t i) const
  {
    const auto          &m = cell.m;
    const int            r = (int)i, row = (int)rows.first + r, lo = rows.i[0][r];
    const bool           two = HasTwo(rows, r);
    const int            n   = rows.i[0][r + 1] - lo + (two ? rows.i[1][r + 1] - rows.i[1][r] : 0);
    int                  apart[Cell::MAX], *list = two ? apart : rows.j[0] + lo;
    typename Cell::Words word;

    if (n > Cell::MAX) return;
    const bool more = HasMore(m.hung, rows, r);

    for (int k = 0; k < n && more; k++) list[k] = -1;
    if (m.begin[row] == m.begin[row + 1]) list[0] = row;
    for (int k = m.begin[row]; k < m.begin[row + 1]; k++) {
      int                col[Cell::N];
      unsigned long long negative;

      word.Load(rows, PlaceKey(m, rows, k));
      (void)cell.Columns(m.entry[k], col, &negative);
      col[0] = row;
      HOPS_LOR_UNROLL
      for (int s = 0; s < Cell::N; s++)
        if (word.Get(s) < Cell::MAX) list[word.Get(s)] = col[s]; /* cells that share a column write the same */
    }
    if (more) {
      ForMore(m.hung, rows, r, [&](int u) {
        int k = 0;

        while (list[k] >= 0 && list[k] != u) k++; /* a gap is there for what is new */
        for (int l = k; l < n; l++)
          if (list[l] == u) return;
        list[k] = u;
      });
      if (rows.sorted) HopsSortInts(n, list);
    }
    if (!two) return;
    if (rows.sorted) HopsSortInts(n, list);
    for (int k = 0, a = lo, b = rows.i[1][r]; k < n; k++) {
      if (list[k] < rows.split) rows.j[0][a++] = list[k];
      else {
        rows.j[1][b++]             = list[k] - (int)rows.split;
        used[list[k] - rows.split] = 1;
      }
    }
  }
};

/* Places of the rows that HopsOneCount left out, `most` columns at most */
template <class Cell> struct HopsOnePlaces {
  Cell        cell;
  HopsLORRows rows;
  int         most;

  HOPS_LANES void operator()(size_t i) const
  {
    const auto          &m = cell.m;
    const int            r = (int)i, row = (int)rows.first + r;
    int                  next = rows.i[0][r];
    typename Cell::Words word;

    if ((!HasTwo(rows, r) && !IsLong(rows, r, Cell::MAX)) || IsLong(rows, r, most)) return;
    for (int k = m.begin[row]; k < m.begin[row + 1]; k++) {
      int                col[Cell::N];
      unsigned long long negative = 0;

      word.Clear();
      word.Set(0, Find(rows, r, row, &next), false);
      for (unsigned long long left = cell.Columns(m.entry[k], col, &negative); left; left &= left - 1) {
        const int s = __builtin_ctzll(left);

        word.Set(s, Find(rows, r, col[s], &next), negative >> s & 1);
      }
      word.Store(rows, PlaceKey(m, rows, k));
    }
  }
};
