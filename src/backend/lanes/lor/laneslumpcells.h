/* Low-order-refined matrices of H(curl) and H(div) in 3D on hosts: what laneslorone.h asks for, and values by
   cells (laneslorcells.h), both by stencils. */
#pragma once
#include "laneslorcells.h"
#include "laneslorone.h"
#include "laneslumpcurlrows.h"
#include "laneslumpcurlvalues.h"
#include "laneslumpdiv.h"

/* ---- Stencils ---- */

template <bool COUPLED_> struct HopsCurlOn {
  typedef HopsCurlWords<COUPLED_> Words;
  static constexpr bool           COUPLED = COUPLED_, PAIRS = false;

  enum {
    MAX   = HopsCurlStencil<COUPLED>::MAX,
    SLOTS = 2 * HopsCurlStencil<COUPLED>::SLOTS
  };

  static HOPS_LANES void Entries(const HopsLumpMesh &m, const HopsLumpPlace &e, int entry[])
  {
    HopsCurlEntries<Words::PLACES>(m, e, entry);
  }
  template <int G, class V>
  static HOPS_LANES void Contributions(const HopsLumpMesh &m, const HopsLumpPlace &e, const double *X, V x[])
  {
    HopsCurlContributions<COUPLED, G>(m, e, X, x);
  }
};

template <bool COUPLED_> struct HopsDivOn {
  typedef HopsLumpWords<HOPS_DIV_N, HOPS_DIV_BITS> Words;
  static constexpr bool                            COUPLED = COUPLED_, PAIRS = true;

  enum {
    MAX   = HOPS_DIV_MAX,
    SLOTS = 2 * (HOPS_DIV_MAX + 1)
  };

  static HOPS_LANES void Entries(const HopsLumpMesh &m, const HopsLumpPlace &f, int entry[])
  {
    HopsDivEntries(m, f, entry);
  }
  template <int G, class V>
  static HOPS_LANES void Contributions(const HopsLumpMesh &m, const HopsLumpPlace &f, const double *X, V x[])
  {
    HopsDivContributions<COUPLED, G>(m, f, X, x);
  }
};

/* Of a stencil what laneslorone.h asks for, and values */
template <class Stencil> struct HopsLumpOneCell : Stencil {
  typedef typename Stencil::Words Words;
  HopsLumpMesh                    m;

  enum {
    N = Words::PLACES
  };

  HOPS_LANES int Entries() const
  {
    return m.ne;
  }
  HOPS_LANES int Mask(int c) const
  {
    return Stencil::COUPLED ? m.mask[c] : 0;
  }
  HOPS_LANES void Neighbours(int c, int i, int entry[]) const
  {
    Stencil::Entries(m, HopsLumpPlace(m.P, m.at[i], Mask(c)), entry);
  }
  HOPS_LANES unsigned long long Columns(int e, int col[], unsigned long long *negative) const
  {
    const int          c = CellOf(e, m.perentry), i = e - c * m.ne;
    unsigned long long free = 0;

    Stencil::Entries(m, HopsLumpPlace(m.P, m.at[i], Mask(c)), col);
    *negative = (unsigned long long)HopsLumpColumns<N>(m, c, i, col) << 1;
    HOPS_LOR_UNROLL
    for (int s = 1; s < N; s++) free |= (unsigned long long)(col[s] < m.nfree) << s;
    return free;
  }
  /* Entries of cells with this mask in the row that is their entry i */
  template <int G, class V> HOPS_LANES void Contributions(int i, int mask, const double *X, V x[]) const
  {
    Stencil::template Contributions<G>(m, HopsLumpPlace(m.P, m.at[i], mask), X, x);
  }
};

/* ---- Values ---- */

template <class Cell, class Team> struct HopsLumpCellValues {
  typedef typename Team::Value V;
  typedef typename Cell::Words Words;
  Cell                         cell;
  HopsLORRows                  rows;
  HopsLORPieces                p;

  enum {
    G = Team::group,
    N = Cell::N
  };

  /* Cells c + l of the group for each bit l of `on`; these have the same mask */
  HOPS_LANES bool Cells(int c, int mask, unsigned int on, bool inturn) const
  {
    const HopsLumpMesh &m    = cell.m;
    bool                zero = false;

    for (int i = 0; i < m.ne; i++) {
      const size_t part = (m.n + m.ne - 1) / m.ne * G; /* of the numbers */
      V            x[N];

      HopsLanesPrefetch(m.numbers + (size_t)(c + G) * m.n + i * part, part * sizeof(*m.numbers));
      HopsLORPrefetchEntries(p, rows, c * m.ne, m.ne, G, Words::WORDS, N * 8, i);
      cell.template Contributions<G>(i, mask, m.numbers + (size_t)c * m.n, x);
      for (unsigned int left = on; left; left &= left - 1) {
        const int     l = HopsLowestBit(left);
        const double *z = (const double *)x + l;

        zero |= HopsLORTake<Words>(p, rows, (c + l) * m.ne + i, true, inturn, [&](const Words &word, double *out, auto fresh) {
          HOPS_LOR_UNROLL
          for (int s = 0; s < N; s++) {
            double    y  = z[s * G];
            const int to = word.Get(s, &y);

            if (to != Words::NONE) out[to] = fresh ? y : out[to] + y;
          }
        });
      }
    }
    return zero;
  }
  HOPS_LANES void operator()(size_t piece) const
  {
    const HopsLumpMesh &m = cell.m;

    HopsLORForGroups<Words>(p, rows, piece, G, m.ncells, m.ne, Cell::COUPLED ? m.mask : NULL,
                            [&](int c, int mask, unsigned int on, bool inturn) { return Cells(c, mask, on, inturn); });
  }
};

/* The other rows; long ones become zero */
template <class Cell, int G> struct HopsLumpRestValues {
  typedef typename Cell::Words Words;
  Cell                         cell;
  HopsLORRows                  rows;
  HopsLORPieces                p;

  HOPS_LANES void operator()(size_t block) const
  {
    const HopsLumpMesh &m = cell.m;

    HopsLORFinishRows<Words>(p, rows, m, block, [&](size_t r, int lo, int hi) {
      if (IsLong(rows, (int)r, Cell::MAX)) return;
      for (int k = lo; k < hi; k++) {
        const int at = rows.i[0][r], e = m.entry[k], c = CellOf(e, m.perentry);
        double    x[Cell::N];
        Words     word;

        word.Load(rows, PlaceKey(m, rows, k));
        cell.template Contributions<G>(e - c * m.ne, cell.Mask(c), m.numbers + HopsLanesCell(G, c, m.n), x);
        HopsLumpAddBlocks(word, x, rows.v[0] + at, rows.i[0][r + 1] - at, rows.i[1] ? rows.v[1] + rows.i[1][r] : NULL);
      }
    });
  }
};
