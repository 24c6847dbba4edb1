/*
  Values of low-order-refined matrices by cells, on a host: a lane computes what a group of cells adds, by
  vectors of them, and adds it cell by cell. Rows would have each cell's numbers read and its contributions
  computed without vectors, which takes twice the time.

  A piece of cells, side by side, is one thread's. A row all of whose cells are in one piece takes its values
  so, without atomic additions. So does one of several pieces from the first; what the others add goes to a
  copy for each, and these are added to the row. Rows with columns in block 1, and long ones, are computed
  one by one afterwards. So values are the same bit by bit whenever there are as many threads.

  A row is zeroed when the first of its entries comes, and looked at after the last: it is in a cache until
  its cells are done. What a row's only cell adds is the row: it is written, and nothing is zeroed or read.
*/
#pragma once
#include "laneslorrow.h"
#include <type_traits>

/*
  Pieces of `each` groups of cells. By entries of restr: where the row begins among the values, or -2 - where
  its copy begins, or -1: not here; marks[]: how long rows are whose first entry in the piece it is, and
  HOPS_LOR_LAST where it is the last one of a row without copies, in the order in which a piece takes entries:
  group by group, node by node, cell by cell. What the first piece adds goes to the row, and those after it
  have copies. By rows: copies[rows + 1], where the first one begins; which rows are to come afterwards.
*/
#define HOPS_LOR_LAST   128
#define HOPS_LOR_ALONE  64 /* a row's only entry, whose places are all of the row's */
#define HOPS_LOR_LENGTH 63
#define HOPS_LOR_COPIES 16 /* of a row, at most: so that 31 bits count those of all rows */
#define HOPS_LOR_BLOCK  64 /* rows */
#define HOPS_LOR_AHEAD  16 /* nodes of a cell */

/* later[]: rows that pieces finish, those that they leave out, those that have copies */
enum {
  HOPS_LOR_DONE,
  HOPS_LOR_LATER,
  HOPS_LOR_SUM
};

struct HopsLORPieces {
  int            n, each;
  int           *begin, *copies;
  unsigned char *marks, *later;
  double        *copy; /* copies[rows] entries, while values are computed */
  int           *zero; /* 1 where a diagonal entry has become zero, or is not known; NULL: nobody asks */

  /* of entry e, which is in the piece */
  HOPS_LANES double *Row(const HopsLORRows &rows, int e) const
  {
    return begin[e] >= 0 ? rows.v[0] + begin[e] : copy - 2 - begin[e];
  }
};

/* Bytes of the arrays */
static inline size_t HopsLORPiecesSize(size_t entries, size_t rows)
{
  return (entries + rows + 1) * sizeof(int) + entries + rows;
}

/* In memory behind a matrix's places */
template <class Back>
PetscErrorCode HopsLORGetPieces(int ncells, size_t entries, const HopsLORRows *rows, void *memory, HopsLORPieces *p)
{
  constexpr int group  = Back::Team::group;
  const int     groups = (ncells + group - 1) / group;

  PetscFunctionBegin;
  *p = HopsLORPieces{};
  PetscCall(Back::GetThreads(&p->n));
  p->each   = (groups + p->n - 1) / p->n;
  p->begin  = (int *)memory;
  p->copies = p->begin + entries;
  p->marks  = (unsigned char *)(p->copies + rows->n + 1);
  p->later  = p->marks + entries;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The row's pieces: do(first entry, end) for each */
template <class Do>
HOPS_LANES void HopsLORForPieces(const int entry[], int lo, int hi, double perentry, double perpiece, const Do &Put)
{
  const auto PieceOf = [=](int k) { return CellOf(CellOf(entry[k], perentry), perpiece); };

  for (int k = lo; k < hi;) {
    const int piece = PieceOf(k), first = k;

    for (k++; k < hi && PieceOf(k) == piece;) k++;
    Put(first, k);
  }
}

/* Once for a pattern: how many entries a row's copies have. max: columns of a row that is not a long one; at
   most 127. few: there are not too many entries for copies */
struct HopsLORCountCopies {
  const int    *begin, *entry;
  HopsLORRows   rows;
  double        perentry, perpiece; /* 1 / cells of a piece */
  int           max;
  bool          few;
  HopsLORPieces p;

  HOPS_LANES void operator()(size_t i) const
  {
    const int r = (int)i, *b = begin + rows.first + r;
    int       pieces = 0;

    HopsLORForPieces(entry, b[0], b[1], perentry, perpiece, [&](int, int) { pieces++; });
    const bool later = !pieces || IsLong(rows, r, max) || HasTwo(rows, r) || (pieces > 1 && (!few || pieces > HOPS_LOR_COPIES));

    p.later[r]  = later ? HOPS_LOR_LATER : (pieces > 1 ? HOPS_LOR_SUM : HOPS_LOR_DONE);
    p.copies[r] = later ? 0 : (pieces - 1) * (rows.i[0][r + 1] - rows.i[0][r]);
  }
};

/* Are a cell's places in a row all of its n, each once? */
template <class Words> HOPS_LANES bool HopsLORFills(const Words &word, int n)
{
  unsigned long long seen  = 0;
  int                count = 0;

  HOPS_LOR_UNROLL
  for (int s = 0; s < Words::PLACES; s++) {
    const int to = word.Get(s);

    seen |= (unsigned long long)(to < n) << to;
    count += to < n;
  }
  return count == n && seen == (1ull << n) - 1;
}

/* Then the rest; the entries' rows are nowhere before, and their marks are zero */
template <class Words, int G> struct HopsLORFindPieces {
  HopsLORCountCopies c;
  int                percell; /* entries */

  /* the order in which a piece takes entries */
  HOPS_LANES unsigned int Turn(int e) const
  {
    const unsigned int cell = CellOf(e, c.perentry), v = e - cell * percell;

    return (cell / G * percell + v) * G + cell % G;
  }
  HOPS_LANES void operator()(size_t i) const
  {
    const HopsLORPieces &p = c.p;
    const int            r = (int)i, *b = c.begin + c.rows.first + r, lo = c.rows.i[0][r], length = c.rows.i[0][r + 1] - lo;
    const int            none = p.copies[r] - length; /* the first piece's copy is not there */
    int                  at   = none;

    if (p.later[r] == HOPS_LOR_LATER) return;
    if (b[1] - b[0] == 1) {
      const int e = c.entry[b[0]];
      Words     word;

      word.Load(c.rows, e);
      p.begin[e] = lo;
      p.marks[e] = (unsigned char)(length | HOPS_LOR_LAST | (HopsLORFills(word, length) ? HOPS_LOR_ALONE : 0));
      return;
    }
    HopsLORForPieces(c.entry, b[0], b[1], c.perentry, c.perpiece, [&](int k, int end) {
      int          first = c.entry[k], last = first;
      unsigned int before = Turn(first), after = before;

      for (p.begin[first] = at == none ? lo : -2 - at, k++; k < end; k++) {
        const int          e = c.entry[k];
        const unsigned int t = Turn(e);

        p.begin[e] = at == none ? lo : -2 - at;
        if (t < before) {
          first  = e;
          before = t;
        }
        if (t > after) {
          last  = e;
          after = t;
        }
      }
      p.marks[first] = (unsigned char)length;
      if (p.later[r] == HOPS_LOR_DONE) p.marks[last] |= HOPS_LOR_LAST;
      at += length;
    });
  }
};

template <class Back, class Words>
PetscErrorCode HopsLORSetPieces(const int begin[], const int entry[], const HopsLORRows *rows, int percell, int max,
                                const HopsLORPieces *p)
{
  constexpr int            G   = Back::Team::group;
  const bool               few = rows->nnz[0] < INT_MAX / HOPS_LOR_COPIES;
  const HopsLORCountCopies c   = {begin, entry, *rows, 1.0 / percell, 1.0 / (p->each * G), max, few, *p};

  PetscFunctionBegin;
  PetscCheck(max <= HOPS_LOR_LENGTH, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Marks do not count %d columns", max);
  PetscCall(Back::Set(p->begin, 0xff, rows->nplace * sizeof(*p->begin)));
  PetscCall(Back::Set(p->marks, 0, rows->nplace));
  PetscCall(Back::Each("HopsLORCountCopies", rows->n, c));
  PetscCall(Back::Scan(rows->n, p->copies));
  PetscCall(Back::Each("HopsLORFindPieces", rows->n, HopsLORFindPieces<Words, G>{c, percell}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For entries v of the group whose first entry is `first`, `each` a cell, HopsLanesPrefetch() of what these
   of the next group need, and rows of so many bytes that the group soon writes */
static HOPS_LANES void HopsLORPrefetchEntries(const HopsLORPieces &p, const HopsLORRows &rows, int first, int each, int group,
                                              int words, int bytes, int v)
{
#if defined(HOPS_LANES_ONE)
  const int next = group * each, soon = v + HOPS_LOR_AHEAD < each ? v + HOPS_LOR_AHEAD : v + HOPS_LOR_AHEAD - each + next;

  for (int l = 0; l < group; l++) {
    const double *row = rows.v[0] + HopsMax(p.begin[HopsMin(first + l * each + soon, rows.nplace - 1)], 0);

    for (int b = 0; b < bytes; b += 64) __builtin_prefetch((const char *)row + b, 1, 3);
  }
  for (int l = 0; l < group && v % 8 == 0; l++) {
    const int e = first + next + l * each + v;

    for (int w = 0; w < words; w++) HopsLanesPrefetch(rows.place + (size_t)w * rows.nplace + (e - rows.place0), 1);
    if (v % 16 == 0) HopsLanesPrefetch(p.begin + e, 1);
    if (v % 64 == 0) HopsLanesPrefetch(p.marks + e, 1);
  }
#endif
}

static HOPS_LANES void HopsLORZero(double *v, int n)
{
#if defined(HOPS_LANES_ONE) /* without a call for each row */
  typedef double Four __attribute__((vector_size(32), aligned(8)));

  if (n >= 4 && n <= 8) {
    *(Four *)v           = Four{};
    *(Four *)(v + n - 4) = Four{};
    return;
  }
#endif
  for (int k = 0; k < n; k++) v[k] = 0;
}

/*
  Entry e of a piece: Put(word, out, fresh) adds what its cell has to the row at `out`, or writes it where
  that is the whole row, as the type of `fresh` says. whole: a cell adds to all places that it has. inturn:
  the piece's entries come in their order; else rows are zeroed before, and looked at afterwards. Has a
  diagonal entry become zero?
*/
template <class Words, class Do>
HOPS_LANES bool HopsLORTake(const HopsLORPieces &p, const HopsLORRows &rows, int e, bool whole, bool inturn, const Do &Put)
{
  Words word;

  if (p.begin[e] == -1) return false;
  const int     mark = p.marks[e], n = mark & HOPS_LOR_LENGTH;
  double *const out = p.Row(rows, e);

  word.Load(rows, e);
  if (whole && mark & HOPS_LOR_ALONE) Put(word, out, std::true_type());
  else {
    if (inturn && n) HopsLORZero(out, n);
    Put(word, out, std::false_type());
  }
  return inturn && mark & HOPS_LOR_LAST && out[word.Get(0)] == 0;
}

/* Rows that begin in entries [lo, hi) become zero */
static HOPS_LANES void HopsLORZeroFirst(const HopsLORPieces &p, const HopsLORRows &rows, int lo, int hi)
{
  for (int e = lo; e < hi; e++)
    if (p.marks[e] & HOPS_LOR_LENGTH) HopsLORZero(p.Row(rows, e), p.marks[e] & HOPS_LOR_LENGTH);
}

/* Of those that end there: is a diagonal entry zero? */
template <class Words> HOPS_LANES bool HopsLORLookAtLast(const HopsLORPieces &p, const HopsLORRows &rows, int lo, int hi)
{
  bool zero = false;

  for (int e = lo; e < hi; e++) {
    Words word;

    if (!(p.marks[e] & HOPS_LOR_LAST)) continue;
    word.Load(rows, e);
    zero = zero || p.Row(rows, e)[word.Get(0)] == 0;
  }
  return zero;
}

static HOPS_LANES void HopsLORZeroRow(const HopsLORRows &rows, size_t r)
{
  for (int b = 0; b < 2 && rows.i[b]; b++)
    for (int k = rows.i[b][r]; k < rows.i[b][r + 1]; k++) rows.v[b][k] = 0;
}

/* What copies have is added to row r */
static HOPS_LANES void HopsLORSumCopies(const HopsLORPieces &p, const HopsLORRows &rows, size_t r)
{
  const int lo = p.copies[r], hi = p.copies[r + 1], n = rows.i[0][r + 1] - rows.i[0][r];
  double   *v = rows.v[0] + rows.i[0][r];

  for (int c = lo; c < hi; c += n)
    for (int k = 0; k < n; k++) v[k] += p.copy[c + k];
}

/* A row that pieces do not finish, see below */
template <class Words, class Mesh, class Rest>
HOPS_LANES void HopsLORFinishRow(const HopsLORPieces &p, const HopsLORRows &rows, const Mesh &m, size_t r, const Rest &Row)
{
  const int *b = m.begin + rows.first + r;

  if (p.later && p.later[r] == HOPS_LOR_SUM) HopsLORSumCopies(p, rows, r);
  else {
    HopsLORZeroRow(rows, r);
    Row(r, b[0], b[1]);
  }
  if (!p.zero) return;
  if (b[0] == b[1]) { /* no cell adds to it here: an essential one, or one of hanging nodes' or other ranks' cells */
    if (HasMore(m.hung, rows, (int)r)) *p.zero = 1;
    return;
  }
  Words word;

  word.Load(rows, PlaceKey(m, rows, b[0]));
  const int d = word.Get(0);

  if (d >= rows.i[0][r + 1] - rows.i[0][r] || rows.v[0][rows.i[0][r] + d] == 0) *p.zero = 1;
}

/*
  The rows of a block that pieces do not finish, with Row(r, first entry, end): computes one, which is zero
  before. All rows where places are not by entries, as those of ghosts are. Mesh m has an unknown's cells.
*/
template <class Words, class Mesh, class Rest>
HOPS_LANES void HopsLORFinishRows(const HopsLORPieces &p, const HopsLORRows &rows, const Mesh &m, size_t block, const Rest &Row)
{
  const size_t lo = block * HOPS_LOR_BLOCK, hi = HopsMin(lo + HOPS_LOR_BLOCK, (size_t)rows.n);
  int          any = !p.later;

  for (size_t r = lo; r < hi && p.later; r++) any |= p.later[r];
  for (size_t r = lo; r < hi && any; r++)
    if (!p.later || p.later[r]) HopsLORFinishRow<Words>(p, rows, m, r, Row);
}

static inline size_t HopsLORBlocks(const HopsLORRows *rows)
{
  return (rows->n + HOPS_LOR_BLOCK - 1) / HOPS_LOR_BLOCK;
}

/* Cells(p), a launch by pieces, where places are by entries; then Rows(p) */
template <class Back, class F, class G>
PetscErrorCode HopsLORByPieces(const HopsLORRows *rows, HopsLORPieces p, int *zero, const F &Cells, const G &Rows)
{
  const HopsMemoryOps *memory = Back::Ops()->memory;

  PetscFunctionBegin;
  if (PlaceByEntry(*rows)) {
    p.zero = zero;
    PetscCall((*memory->PoolMalloc)(p.copies[rows->n] * sizeof(double), (void **)&p.copy));
    PetscCall(Cells(p));
    PetscCall(Rows(p));
    PetscCall((*memory->PoolFree)((void **)&p.copy));
  } else {
    p.later = NULL;
    PetscCall(Rows(p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Put(mask, on) for each mask of the cells c to c + last, `on` being bits of the cells that have it */
template <class Do> HOPS_LANES void HopsLORForMasks(const unsigned char mask[], int c, int last, const Do &Put)
{
  unsigned int left = (2u << last) - 1;

  while (left) {
    const int    m  = mask[c + HopsLowestBit(left)];
    unsigned int on = 0;

    for (int l = 0; l <= last; l++)
      if (mask[c + l] == m) on |= 1u << l;
    Put(m, on);
    left &= ~on;
  }
}

/*
  The groups of a piece: Put(c, mask, on, inturn) for each mask of the cells from c on, `on` being bits of the
  cells that have it; whether a diagonal entry has become zero. Without masks that is once. Only cells of one
  mask are taken in their turns.
*/
template <class Words, class Do>
HOPS_LANES void HopsLORForGroups(const HopsLORPieces &p, const HopsLORRows &rows, size_t piece, int group, int ncells, int percell,
                                 const unsigned char mask[], const Do &Put)
{
  bool zero = false;

  for (int c = (int)piece * p.each * group; c < HopsMin(((int)piece + 1) * p.each * group, ncells); c += group) {
    const int last = HopsMin(group, ncells - c) - 1, all = (2u << last) - 1;
    bool      one = true;

    for (int l = 1; l <= last && mask; l++) one = one && mask[c + l] == mask[c];
    if (one) {
      zero |= Put(c, mask ? mask[c] : 0, all, true);
      continue;
    }
    HopsLORZeroFirst(p, rows, c * percell, (c + last + 1) * percell);
    HopsLORForMasks(mask, c, last, [&](int which, unsigned int on) { (void)Put(c, which, on, false); });
    zero |= HopsLORLookAtLast<Words>(p, rows, c * percell, (c + last + 1) * percell);
  }
  if (zero && p.zero) *p.zero = 1; /* all write the same */
}
