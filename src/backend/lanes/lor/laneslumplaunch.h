/* Launches of the kernels of H(curl), H(div) and L2 (laneslump.h) by a back end's class (lanes.h). */
#pragma once
#include "laneslorhung.h"
#include "laneslumpcells.h"
#include "laneslumprows.h"

template <class Back> struct HopsLumpLaunches {
  /* a team for each block of rows, of which a team has one a lane */
  template <class F> static PetscErrorCode Blocks(const char name[], const HopsLORRows *rows, size_t bytes, const F &f)
  {
    constexpr int T = HopsLanesOf(F::lanes);

    return Back::Teams(name, (int)((rows->n + T - 1) / T), bytes, f);
  }

  static constexpr int G = Back::Team::group;

  static PetscErrorCode Numbers(const HopsLumpMesh *m, PetscInt ncells, int ncomp, const HopsLumpNumber *number,
                                const double data[], double numbers[])
  {
    const size_t total = (size_t)ncells * m->n;

    PetscFunctionBegin;
    PetscCheck(total < UINT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The cells of a rank have more than 2^32 edges and faces of their lattices: use more ranks");
    if (m->dim == 3)
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
    if (!m->stencil) return HOPS_LUMP_LIST;
    return m->faces ? HOPS_DIV_MAX : HOPS_CURL_MAX(rows->coupled);
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

  /* do(cell) with what a mesh's cells add to rows: faces are there on hosts alone */
  template <class Do> static auto ByStencil(const HopsLumpMesh *m, const HopsLORRows *rows, const Do &Launch)
  {
    if constexpr (G > 1) {
      if (m->faces)
        return rows->coupled ? Launch(HopsLumpOneCell<HopsDivOn<true>>{{}, *m}) : Launch(HopsLumpOneCell<HopsDivOn<false>>{{}, *m});
    }
    return rows->coupled ? Launch(HopsLumpOneCell<HopsCurlOn<true>>{{}, *m}) : Launch(HopsLumpOneCell<HopsCurlOn<false>>{{}, *m});
  }

  /* Blocks of rows are a device's */
  static PetscErrorCode StencilEmpty(const HopsLumpMesh *m, int *empty)
  {
    if constexpr (G > 1) return PETSC_SUCCESS;
    else return Back::Each("HopsCurlFindEmpty", m->nfree, HopsCurlFindEmpty{m->begin, empty});
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

  static size_t StencilPlaceSize(const HopsLumpMesh *m, HopsLORRows *rows)
  {
    const int    R     = RowsOfBlock(rows);
    const size_t words = ByStencil(m, rows, [](auto cell) { return (size_t) decltype(cell)::Words::WORDS; });

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

  static PetscErrorCode StencilCount(const HopsLumpMesh *m, const HopsLORRows *rows, unsigned long long *work)
  {
    return ByStencil(m, rows, [&](auto cell) {
      typedef decltype(cell) Cell;

      if constexpr (G > 1) {
        typedef HopsOneCount<Cell, typename Back::Team> F;

        return Back::Each("HopsStencilCount", F::Pieces(rows), F{cell, *rows, work});
      } else return CurlCountBlocks<Cell::COUPLED>(m, rows, work);
    });
  }

  static PetscErrorCode StencilColumns(const HopsLumpMesh *m, const HopsLORRows *rows, unsigned char used[])
  {
    return ByStencil(m, rows, [&](auto cell) {
      typedef decltype(cell) Cell;

      if constexpr (G > 1) return Back::Each("HopsStencilFill", rows->n, HopsOneFill<Cell>{cell, *rows, used});
      else return Run("HopsCurlFill", rows, HopsCurlFill<Cell::COUPLED>{*m, *rows, HopsCurlStarts<Cell::COUPLED>(*rows), used});
    });
  }

  template <class Cell> static PetscErrorCode Pieces(const Cell &cell, const HopsLORRows *rows, HopsLORPieces *p)
  {
    return HopsLORGetPieces<Back>(cell.m.ncells, rows->nplace, rows, rows->place + (size_t)rows->nplace * Cell::Words::WORDS, p);
  }

  template <class Cell> static PetscErrorCode PlacesOfHost(const Cell &cell, const HopsLORRows *rows)
  {
    const HopsLumpMesh &m = cell.m;
    HopsLORPieces       p;

    PetscFunctionBegin;
    if (rows->i[1]) PetscCall(Back::Each("HopsStencilPlaces", rows->n, HopsOnePlaces<Cell>{cell, *rows, Cell::MAX}));
    if (!PlaceByEntry(*rows)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Pieces(cell, rows, &p));
    PetscCall((HopsLORSetPieces<Back, typename Cell::Words>(m.begin, m.entry, rows, m.ne, Cell::MAX, &p)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode StencilPlaces(const HopsLumpMesh *m, const HopsLORRows *rows)
  {
    return ByStencil(m, rows, [&](auto cell) {
      constexpr bool COUPLED = decltype(cell)::COUPLED;

      if constexpr (G > 1) return PlacesOfHost(cell, rows);
      else if (rows->sorted || rows->i[1])
        return Run("HopsCurlPlaces", rows, HopsCurlPlaces<COUPLED>{*m, *rows, HopsCurlStarts<COUPLED>(*rows)});
      return PETSC_SUCCESS;
    });
  }

  template <class Cell> static PetscErrorCode ValuesOfHost(const Cell &cell, const HopsLORRows *rows, int *zero)
  {
    HopsLORPieces pieces;

    PetscFunctionBegin;
    PetscCall(Pieces(cell, rows, &pieces));
    PetscCall(HopsLORByPieces<Back>(
      rows, pieces, zero,
      [&](const HopsLORPieces &p) {
        return Back::Each("HopsLumpCellValues", p.n, HopsLumpCellValues<Cell, typename Back::Team>{cell, *rows, p});
      },
      [&](const HopsLORPieces &p) {
        return Back::Each("HopsLumpRestValues", HopsLORBlocks(rows), HopsLumpRestValues<Cell, G>{cell, *rows, p});
      }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode StencilValues(const HopsLumpMesh *m, const HopsLORRows *rows, int *zero)
  {
    return ByStencil(m, rows, [&](auto cell) {
      constexpr bool COUPLED = decltype(cell)::COUPLED;

      if constexpr (G > 1) return ValuesOfHost(cell, rows, zero);
      else return Run("HopsCurlValues", rows, HopsCurlValues<COUPLED>{*m, *rows, HopsCurlStarts<COUPLED>(*rows)});
    });
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

    if constexpr (G == 1) k.Numbers = Numbers;
    k.Compare          = Compare;
    k.Count            = Count;
    k.Columns          = Columns;
    k.Values           = Values;
    k.CountLong        = CountLong;
    k.ColumnsLong      = ColumnsLong;
    k.ValuesLong       = ValuesLong;
    k.StencilEmpty     = StencilEmpty;
    k.StencilPlaceSize = StencilPlaceSize;
    k.StencilCount     = StencilCount;
    k.StencilColumns   = StencilColumns;
    k.StencilPlaces    = StencilPlaces;
    k.StencilValues    = StencilValues;
    k.HungTeams        = HungTeams;
    k.HungLists        = HungLists;
    return k;
  }
};
