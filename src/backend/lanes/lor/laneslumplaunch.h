/* Launches of the kernels of H(curl), H(div) and L2 (laneslump.h) by a back end's class (lanes.h). */
#pragma once
#include "laneslorhung.h"
#include "laneslumpcurlrows.h"
#include "laneslumpcurlvalues.h"
#include "laneslumprows.h"

template <class Back> struct HopsLumpLaunches {
  /* a team for each block of rows, of which a team has one a lane */
  template <class F> static PetscErrorCode Blocks(const char name[], const HopsLORRows *rows, size_t bytes, const F &f)
  {
    constexpr int T = HopsLanesOf(F::lanes);

    return Back::Teams(name, (int)((rows->n + T - 1) / T), bytes, f);
  }

  static constexpr int G = Back::Team::group;

  template <int DIM>
  static PetscErrorCode NumbersOf(const HopsLumpMesh *m, PetscInt ncells, int ncomp, const HopsLumpNumber *number,
                                  const double data[], double numbers[])
  {
    return Back::Each("HopsLumpNumbers", (ncells + G - 1) / G,
                      HopsLumpGroupNumbers<DIM, typename Back::Team>{m->n, m->P, m->nn, ncomp, number, data, numbers});
  }

  static PetscErrorCode Numbers(const HopsLumpMesh *m, PetscInt ncells, int ncomp, const HopsLumpNumber *number,
                                const double data[], double numbers[])
  {
    const size_t total = (size_t)ncells * m->n;

    PetscFunctionBegin;
    PetscCheck(total < UINT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The cells of a rank have more than 2^32 edges and faces of their lattices: use more ranks");
    if constexpr (G > 1) {
      if (m->dim == 3) PetscCall(NumbersOf<3>(m, ncells, ncomp, number, data, numbers));
      else PetscCall(NumbersOf<2>(m, ncells, ncomp, number, data, numbers));
    } else if (m->dim == 3)
      PetscCall(Back::Each("HopsLumpNumbers", total, HopsLumpNumbers<3>{m->n, m->P, m->nn, ncomp, number, data, numbers}));
    else PetscCall(Back::Each("HopsLumpNumbers", total, HopsLumpNumbers<2>{m->n, m->P, m->nn, ncomp, number, data, numbers}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Compare(PetscInt n, const unsigned char newmask[], const unsigned char mask[], int result[3])
  {
    return Back::Teams("HopsLumpCompare", (int)((n + HopsLumpCompare::lanes - 1) / HopsLumpCompare::lanes), sizeof(int),
                       HopsLumpCompare{(int)n, newmask, mask, result});
  }

  /* ---- Rows by tables ---- */

  static PetscErrorCode Count(const HopsLumpMesh *m, const HopsLORRows *rows, unsigned long long *work)
  {
    return Blocks("HopsLumpCount", rows, HopsLumpList::Bytes(), HopsLumpCount{*m, *rows, work});
  }

  static PetscErrorCode Columns(const HopsLumpMesh *m, const HopsLORRows *rows, unsigned char used[])
  {
    return Blocks("HopsLumpFill", rows, HopsLumpList::Bytes(), HopsLumpFill{*m, *rows, used});
  }

  static PetscErrorCode Values(const HopsLumpMesh *m, const HopsLORRows *rows)
  {
    const int room = HopsLanesOf(HopsLumpRowValues::lanes) * (m->dim == 3 ? (rows->coupled ? 36 : 14) : 12);

    return Blocks("HopsLumpValues", rows, room * (sizeof(double) + sizeof(int)), HopsLumpRowValues{*m, *rows, room});
  }

  /* columns of a row that is not a long one */
  static int Most(const HopsLumpMesh *m, const HopsLORRows *rows)
  {
    return m->stencil ? HOPS_CURL_MAX(rows->coupled) : HOPS_LUMP_LIST;
  }

  static PetscErrorCode CountLong(const HopsLumpMesh *m, const HopsLORRows *rows, int *buffer, unsigned long long *work)
  {
    return Back::Each("HopsLumpCountLong", rows->n, HopsLumpCountLong<typename Back::Team>{*m, *rows, buffer, work});
  }

  static PetscErrorCode ColumnsLong(const HopsLumpMesh *m, const HopsLORRows *rows, unsigned char used[])
  {
    return Back::Each("HopsLumpFillLong", rows->n, HopsLumpFillLong{*m, *rows, Most(m, rows), used});
  }

  static PetscErrorCode ValuesLong(const HopsLumpMesh *m, const HopsLORRows *rows)
  {
    return Back::Each("HopsLumpValuesLong", rows->n, HopsLumpLongValues<G>{*m, *rows, Most(m, rows)});
  }

  /* ---- Rows by a stencil ---- */

  static PetscErrorCode CurlEmpty(const HopsLumpMesh *m, int *empty)
  {
    return Back::Each("HopsCurlFindEmpty", m->nfree, HopsCurlFindEmpty{m->begin, empty});
  }

  /* Have all blocks the same number of rows? Rows without a cell would make blocks of too many rows: so many
     then give a cell to each lane on average, or fewer */
  static bool Equal(const HopsLumpMesh *m)
  {
    return m->empty;
  }

  static int RowsOfBlock(const HopsLORRows *rows)
  {
    constexpr int T = HopsLanesOf(HOPS_CURL_LANES);

    return (int)PetscMax(1, PetscMin(T, 0.94 * T * (double)rows->n / PetscMax(rows->nplace, 1)));
  }

  static size_t CurlPlaceSize(const HopsLumpMesh *m, HopsLORRows *rows)
  {
    const int    R     = RowsOfBlock(rows);
    const size_t words = rows->coupled ? (size_t)HopsCurlStencil<true>::WORDS : (size_t)HopsCurlStencil<false>::WORDS;

    if (G > 1) rows->nblocks = 0; /* a host has none */
    else rows->nblocks = Equal(m) ? (int)((rows->n + R - 1) / R) : (rows->nplace + HOPS_CURL_ENTRIES - 1) / HOPS_CURL_ENTRIES;
    size_t n;

    if (PlaceByEntry(*rows)) {
      rows->place0 = 0;
      rows->nplace = m->ncells * m->ne;
    }
    n = rows->nplace * words * sizeof(*rows->place) + (rows->nblocks + 1) * sizeof(int);
    return n + (PlaceByEntry(*rows) ? HopsLORPiecesSize(rows->nplace, rows->n) : 0);
  }

  template <class F> static PetscErrorCode Run(const char name[], const HopsLORRows *rows, const F &f)
  {
    return Back::Teams(name, rows->nblocks, F::Bytes(), f);
  }

  template <bool COUPLED>
  static PetscErrorCode CurlCountOf(const HopsLumpMesh *m, const HopsLORRows *rows, unsigned long long *work)
  {
    PetscFunctionBegin;
    if constexpr (G > 1)
      PetscCall(
        Back::Each("HopsCurlCount", rows->n, HopsOneCount<HopsCurlOneCell<COUPLED>, typename Back::Team>{{*m}, *rows, work}));
    else PetscCall(CurlCountBlocks<COUPLED>(m, rows, work));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  template <bool COUPLED>
  static PetscErrorCode CurlCountBlocks(const HopsLumpMesh *m, const HopsLORRows *rows, unsigned long long *work)
  {
    int *start = HopsCurlStarts<COUPLED>(*rows);

    PetscFunctionBegin;
    if (Equal(m))
      PetscCall(Back::Each("HopsCurlEqualStarts", rows->nblocks + 1, HopsCurlEqualStarts{(int)rows->n, RowsOfBlock(rows), start}));
    else
      PetscCall(Back::Each("HopsCurlFindStarts", rows->n,
                           HopsCurlFindStarts{m->begin + rows->first, (int)rows->n, rows->place0, rows->nblocks, start}));
    PetscCall(Run("HopsCurlCount", rows, HopsCurlCount<COUPLED>{*m, *rows, start, work}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode CurlCount(const HopsLumpMesh *m, const HopsLORRows *rows, unsigned long long *work)
  {
    return rows->coupled ? CurlCountOf<true>(m, rows, work) : CurlCountOf<false>(m, rows, work);
  }

  template <bool COUPLED> static PetscErrorCode CurlColumnsOf(const HopsLumpMesh *m, const HopsLORRows *rows, unsigned char used[])
  {
    if constexpr (G > 1) return Back::Each("HopsCurlFill", rows->n, HopsOneFill<HopsCurlOneCell<COUPLED>>{{*m}, *rows, used});
    else return Run("HopsCurlFill", rows, HopsCurlFill<COUPLED>{*m, *rows, HopsCurlStarts<COUPLED>(*rows), used});
  }

  static PetscErrorCode CurlColumns(const HopsLumpMesh *m, const HopsLORRows *rows, unsigned char used[])
  {
    return rows->coupled ? CurlColumnsOf<true>(m, rows, used) : CurlColumnsOf<false>(m, rows, used);
  }

  template <bool COUPLED> static PetscErrorCode CurlPieces(const HopsLumpMesh *m, const HopsLORRows *rows, HopsLORPieces *p)
  {
    return HopsLORGetPieces<Back>(m->ncells, rows->nplace, rows, HopsCurlStarts<COUPLED>(*rows) + rows->nblocks + 1, p);
  }

  template <bool COUPLED> static PetscErrorCode CurlPlacesOf(const HopsLumpMesh *m, const HopsLORRows *rows)
  {
    PetscFunctionBegin;
    if constexpr (G > 1) {
      HopsLORPieces p;

      if (rows->i[1])
        PetscCall(
          Back::Each("HopsCurlPlaces", rows->n, HopsOnePlaces<HopsCurlOneCell<COUPLED>>{{*m}, *rows, HOPS_CURL_MAX(COUPLED)}));
      if (!PlaceByEntry(*rows)) PetscFunctionReturn(PETSC_SUCCESS);
      PetscCall(CurlPieces<COUPLED>(m, rows, &p));
      PetscCall((HopsLORSetPieces<Back, HopsCurlWords<COUPLED>>(m->begin, m->entry, rows, m->ne, HOPS_CURL_MAX(COUPLED), &p)));
    } else if (rows->sorted || rows->i[1])
      PetscCall(Run("HopsCurlPlaces", rows, HopsCurlPlaces<COUPLED>{*m, *rows, HopsCurlStarts<COUPLED>(*rows)}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode CurlPlaces(const HopsLumpMesh *m, const HopsLORRows *rows)
  {
    return rows->coupled ? CurlPlacesOf<true>(m, rows) : CurlPlacesOf<false>(m, rows);
  }

  template <bool COUPLED> static PetscErrorCode CurlValuesOf(const HopsLumpMesh *m, const HopsLORRows *rows, int *zero)
  {
    PetscFunctionBegin;
    if constexpr (G > 1) {
      HopsLORPieces pieces;

      PetscCall(CurlPieces<COUPLED>(m, rows, &pieces));
      PetscCall(HopsLORByPieces<Back>(
        rows, pieces, zero,
        [&](const HopsLORPieces &p) {
          return Back::Each("HopsCurlCellValues", p.n, HopsCurlCellValues<COUPLED, typename Back::Team>{*m, *rows, p});
        },
        [&](const HopsLORPieces &p) {
          return Back::Each("HopsCurlRowValues", HopsLORBlocks(rows), HopsCurlRowValues<COUPLED, G>{*m, *rows, p});
        }));
    } else PetscCall(Run("HopsCurlValues", rows, HopsCurlValues<COUPLED>{*m, *rows, HopsCurlStarts<COUPLED>(*rows)}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode CurlValues(const HopsLumpMesh *m, const HopsLORRows *rows, int *zero)
  {
    return rows->coupled ? CurlValuesOf<true>(m, rows, zero) : CurlValuesOf<false>(m, rows, zero);
  }

  /* ---- Hanging nodes ---- */

  static PetscErrorCode HungTeams(size_t bytes, int *teams, PetscBool *own)
  {
    return HopsLORHungLaunches<Back>::template Teams<HopsLumpCell<G>>(bytes, teams, own);
  }

  static PetscErrorCode HungLists(const HopsLumpMesh *m, const HopsLORHungWork *w)
  {
    return HopsLORHungLaunches<Back>::Lists(HopsLumpCell<G>{*m}, &m->hung, w, m->ne);
  }

  static HopsLumpKernels Table()
  {
    HopsLumpKernels k = {};

    k.Numbers       = Numbers;
    k.Compare       = Compare;
    k.Count         = Count;
    k.Columns       = Columns;
    k.Values        = Values;
    k.CountLong     = CountLong;
    k.ColumnsLong   = ColumnsLong;
    k.ValuesLong    = ValuesLong;
    k.CurlEmpty     = CurlEmpty;
    k.CurlPlaceSize = CurlPlaceSize;
    k.CurlCount     = CurlCount;
    k.CurlColumns   = CurlColumns;
    k.CurlPlaces    = CurlPlaces;
    k.CurlValues    = CurlValues;
    k.HungTeams     = HungTeams;
    k.HungLists     = HungLists;
    return k;
  }
};
