/*
  Values of low-order-refined matrices by cells, on a host: a lane computes what a group of cells adds, by
  vectors of them, and adds it cell by cell. Rows would have each cell's numbers read and its contributions
  computed without vectors, which takes twice the time.

  A piece of cells, side by side, is one thread's. Rows all of whose cells are in one piece take their values
  so, without atomic additions: rows of several pieces, rows with columns in block 1, and long ones are
  computed one by one afterwards. So values are the same bit by bit whenever there are as many threads.
*/
#pragma once
#include "laneslorrow.h"

/* Pieces of `each` groups of cells; where rows begin, by entries of restr (-1: not here); which rows are to
   come afterwards */
struct HopsLORPieces {
  int            n, each;
  int           *begin;
  unsigned char *later;
};

/* Bytes of the last two */
static inline size_t HopsLORPiecesSize(size_t entries, size_t rows)
{
  return entries * sizeof(int) + rows;
}

/* In memory behind a matrix's places */
template <class Back> PetscErrorCode HopsLORGetPieces(int ncells, size_t entries, void *memory, HopsLORPieces *p)
{
  constexpr int group  = Back::Team::group;
  const int     groups = (ncells + group - 1) / group;

  PetscFunctionBegin;
  PetscCall(Back::GetThreads(&p->n));
  p->each  = (groups + p->n - 1) / p->n;
  p->begin = (int *)memory;
  p->later = (unsigned char *)(p->begin + entries);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Once for a pattern; the entries' rows are nowhere before. max: columns of a row that is not a long one */
struct HopsLORFindPieces {
  const int    *begin, *entry;
  HopsLORRows   rows;
  double        perentry;
  int           max, cells; /* cells of a piece */
  HopsLORPieces p;

  HOPS_LANES void operator()(size_t i) const
  {
    const int  r = (int)i, *b = begin + rows.first + r, lo = b[0], hi = b[1];
    const bool apart = hi > lo && CellOf(entry[lo], perentry) / cells != CellOf(entry[hi - 1], perentry) / cells;

    p.later[r] = apart || IsLong(rows, r, max) || HasTwo(rows, r);
    for (int k = lo; k < hi && !p.later[r]; k++) p.begin[entry[k]] = rows.i[0][r];
  }
};

template <class Back>
PetscErrorCode HopsLORSetPieces(const int begin[], const int entry[], const HopsLORRows *rows, double perentry, int max,
                                const HopsLORPieces *p)
{
  PetscFunctionBegin;
  PetscCall(Back::Set(p->begin, 0xff, rows->nplace * sizeof(*p->begin)));
  PetscCall(Back::Each("HopsLORFindPieces", rows->n,
                       HopsLORFindPieces{begin, entry, *rows, perentry, max, p->each * Back::Team::group, *p}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Zeros, by as many as there are pieces */
struct HopsLORZero {
  size_t  n;
  int     pieces;
  double *v;

  HOPS_LANES void operator()(size_t i) const
  {
    for (size_t k = n * i / pieces; k < n * (i + 1) / pieces; k++) v[k] = 0;
  }
};

template <class Back> PetscErrorCode HopsLORSetZero(const HopsLORRows *rows, const HopsLORPieces *p)
{
  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) PetscCall(Back::Each("HopsLORZero", p->n, HopsLORZero{rows->nnz[b], p->n, rows->v[b]}));
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
