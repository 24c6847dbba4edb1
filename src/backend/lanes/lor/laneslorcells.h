/*
  Values of low-order-refined matrices by cells, on a host: a lane computes what a group of cells adds, by
  vectors of them, and adds it cell by cell. Rows would have each cell's numbers read and its contributions
  computed without vectors, which takes twice the time.

  A piece of cells, side by side, is one thread's. A row all of whose cells are in one piece takes its values
  so, without atomic additions. What pieces add to a row of several goes to a copy of it for each, and the
  copies' sum is the row. Rows with columns in block 1, and long ones, are computed one by one afterwards. So
  values are the same bit by bit whenever there are as many threads.

  A row is zeroed when the group of its first cell comes, and looked at after that of the last: it is in a
  cache until its cells are done.
*/
#pragma once
#include "laneslorrow.h"

/*
  Pieces of `each` groups of cells. By entries of restr: where the row begins among the values, or -2 - where
  its copy begins, or -1: not here; marks[]: how long rows are whose first entry in the piece it is, and
  HOPS_LOR_LAST where it is the last one of a row without copies. By rows: copies[rows + 1], where the first
  one begins; which rows are to come afterwards.
*/
#define HOPS_LOR_LAST   128
#define HOPS_LOR_COPIES 16 /* of a row, at most: so that 31 bits count those of all rows */

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
template <class Do> HOPS_LANES void HopsLORForPieces(const int entry[], int lo, int hi, double perentry, int cells, const Do &Put)
{
  for (int k = lo; k < hi;) {
    const int piece = CellOf(entry[k], perentry) / cells, first = k;

    while (k < hi && CellOf(entry[k], perentry) / cells == piece) k++;
    Put(first, k);
  }
}

/* Once for a pattern: how many entries a row's copies have. max: columns of a row that is not a long one; at
   most 127. few: there are not too many entries for copies */
struct HopsLORCountCopies {
  const int    *begin, *entry;
  HopsLORRows   rows;
  double        perentry;
  int           max, cells; /* cells of a piece */
  bool          few;
  HopsLORPieces p;

  HOPS_LANES void operator()(size_t i) const
  {
    const int r = (int)i, *b = begin + rows.first + r;
    int       pieces = 0;

    HopsLORForPieces(entry, b[0], b[1], perentry, cells, [&](int, int) { pieces++; });
    p.later[r]  = !pieces || IsLong(rows, r, max) || HasTwo(rows, r) || (pieces > 1 && (!few || pieces > HOPS_LOR_COPIES));
    p.copies[r] = pieces > 1 && !p.later[r] ? pieces * (rows.i[0][r + 1] - rows.i[0][r]) : 0;
  }
};

/* Then the rest; the entries' rows are nowhere before, and their marks are zero */
struct HopsLORFindPieces {
  HopsLORCountCopies c;

  HOPS_LANES void operator()(size_t i) const
  {
    const HopsLORPieces &p = c.p;
    const int            r = (int)i, *b = c.begin + c.rows.first + r, length = c.rows.i[0][r + 1] - c.rows.i[0][r];
    int                  at    = p.copies[r];
    const bool           apart = p.copies[r + 1] > at;

    if (p.later[r]) return;
    HopsLORForPieces(c.entry, b[0], b[1], c.perentry, c.cells, [&](int lo, int hi) {
      for (int k = lo; k < hi; k++) p.begin[c.entry[k]] = apart ? -2 - at : c.rows.i[0][r];
      p.marks[c.entry[lo]] = (unsigned char)length;
      at += length;
    });
    if (!apart) p.marks[c.entry[b[1] - 1]] |= HOPS_LOR_LAST;
  }
};

template <class Back>
PetscErrorCode HopsLORSetPieces(const int begin[], const int entry[], const HopsLORRows *rows, double perentry, int max,
                                const HopsLORPieces *p)
{
  const bool               few = rows->nnz[0] < INT_MAX / HOPS_LOR_COPIES;
  const HopsLORCountCopies c   = {begin, entry, *rows, perentry, max, p->each * Back::Team::group, few, *p};

  PetscFunctionBegin;
  PetscCheck(max < HOPS_LOR_LAST, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Marks do not count %d columns", max);
  PetscCall(Back::Set(p->begin, 0xff, rows->nplace * sizeof(*p->begin)));
  PetscCall(Back::Set(p->marks, 0, rows->nplace));
  PetscCall(Back::Each("HopsLORCountCopies", rows->n, c));
  PetscCall(Back::Scan(rows->n, p->copies));
  PetscCall(Back::Each("HopsLORFindPieces", rows->n, HopsLORFindPieces{c}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Data of the next group are asked for while this one is worked on: cells' nodes are read with strides that a
   processor does not foresee */
static HOPS_LANES void HopsLORPrefetch(const void *p, size_t bytes)
{
#if defined(HOPS_LANES_ONE)
  for (size_t b = 0; b < bytes; b += 64) __builtin_prefetch((const char *)p + b, 0, 2);
#endif
}

/* The same for what the next group's entries v of `each` a cell need, first being its first entry */
static HOPS_LANES void HopsLORPrefetchEntries(const HopsLORPieces &p, const HopsLORRows &rows, int first, int each, int group,
                                              int words, int v)
{
  for (int l = 0; l < group && v % 8 == 0; l++) {
    const int e = first + l * each + v;

    for (int w = 0; w < words; w++) HopsLORPrefetch(rows.place + (size_t)w * rows.nplace + (e - rows.place0), 1);
    if (v % 16 == 0) HopsLORPrefetch(p.begin + e, 1);
  }
}

/* Rows that begin in entries [lo, hi) become zero */
static HOPS_LANES void HopsLORZeroFirst(const HopsLORPieces &p, const HopsLORRows &rows, int lo, int hi)
{
  for (int e = lo; e < hi; e++) {
    const int n = p.marks[e] & (HOPS_LOR_LAST - 1);

    if (!n) continue;
    double *v = p.Row(rows, e);

#if defined(HOPS_LANES_ONE) /* without a call for each row */
    typedef double Four __attribute__((vector_size(32), aligned(8)));

    if (n >= 4 && n <= 8) {
      *(Four *)v           = Four{};
      *(Four *)(v + n - 4) = Four{};
      continue;
    }
#endif
    for (int k = 0; k < n; k++) v[k] = 0;
  }
}

/* Of those that end there: is a diagonal entry zero? */
template <class Words> HOPS_LANES void HopsLORLookAtLast(const HopsLORPieces &p, const HopsLORRows &rows, int lo, int hi)
{
  bool zero = false;

  for (int e = lo; e < hi && p.zero; e++) {
    Words word;

    if (!(p.marks[e] & HOPS_LOR_LAST)) continue;
    word.Load(rows, e);
    zero = zero || p.Row(rows, e)[word.Get(0)] == 0;
  }
  if (zero) *p.zero = 1; /* all write the same */
}

static HOPS_LANES void HopsLORZeroRow(const HopsLORRows &rows, size_t r)
{
  for (int b = 0; b < 2 && rows.i[b]; b++)
    for (int k = rows.i[b][r]; k < rows.i[b][r + 1]; k++) rows.v[b][k] = 0;
}

/* Row r is the sum of its copies, if it has some */
static HOPS_LANES bool HopsLORSumCopies(const HopsLORPieces &p, const HopsLORRows &rows, size_t r)
{
  const int lo = p.copies[r], hi = p.copies[r + 1], n = rows.i[0][r + 1] - rows.i[0][r];
  double   *v = rows.v[0] + rows.i[0][r];

  if (lo == hi) return false;
  for (int k = 0; k < n; k++) v[k] = p.copy[lo + k];
  for (int c = lo + n; c < hi; c += n)
    for (int k = 0; k < n; k++) v[k] += p.copy[c + k];
  return true;
}

/*
  The rows that pieces do not do, with Row(r): computes one, which is zero before. All rows where places are
  not by entries, as those of ghosts are. Mesh m has the cells of an unknown.
*/
template <class Words, class Mesh, class Rest>
HOPS_LANES void HopsLORFinishRow(const HopsLORPieces &p, const HopsLORRows &rows, const Mesh &m, size_t r, const Rest &Row)
{
  const int *b = m.begin + rows.first + r;

  if (!p.later || !HopsLORSumCopies(p, rows, r)) {
    if (p.later && !p.later[r]) return;
    HopsLORZeroRow(rows, r);
    Row(b[0], b[1]);
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
