/* Blocks of rows in H1, for devices, in which a lane works on one cell of a row, and places: where what a
   cell adds goes in the row, six bits for each neighbour. */
#pragma once
#include "laneslorrow.h"

#define HOPS_PLACE_BITS 6
#define HOPS_PLACE_WORD 10                 /* places of a word */
#define HOPS_PLACE_NONE HOPS_LANES_LOR_MAX /* all bits: no such neighbour, or a constrained one */
#define HOPS_LOR_TEAM   128                /* lanes on a device */

/* Rows of a device's team: as many as have a cell for each lane on average, or few less, since what is too
   much takes another round */
static inline int RowsOfTeam(const HopsLORRows *rows)
{
  const int T = HopsLanesOf(HOPS_LOR_TEAM);

  return (int)PetscMax(1, PetscMin(T, 0.94 * T * (double)rows->n / PetscMax(rows->nplace, 1)));
}

/* The rows of a team, and the entries k0 to k1 - 1 of restr that they have; those of a lane's own row are b0
   to b1 - 1 */
struct RowBlock {
  const int *begin;
  int        r0, n, k0, k1, b0, b1;

  template <class Team> HOPS_LANES RowBlock(const Team &team, const HopsLanesLORMesh &m, const HopsLORRows &rows, int R)
  {
    const int t = team.lane();

    r0    = team.index() * R;
    n     = HopsMin(R, (int)rows.n - r0);
    begin = m.begin + rows.first + r0;
    k0    = begin[0];
    k1    = begin[n];
    b0    = t < n ? begin[t] : 0;
    b1    = t < n ? begin[t + 1] : 0;
  }
  /* Of the entries k, k + 1, ..., as many as there are lanes: whose row each is */
  template <class Team> HOPS_LANES void FindRows(const Team &team, int k, int row[]) const
  {
    for (int e = HopsMax(b0, k); e < HopsMin(b1, k + HopsLanesOf(HOPS_LOR_TEAM)); e++) row[e - k] = team.lane();
  }
};

HOPS_LANES int PlaceOf(const unsigned long long word[], int s)
{
  return (int)(word[s / HOPS_PLACE_WORD] >> (HOPS_PLACE_BITS * (s % HOPS_PLACE_WORD))) & HOPS_PLACE_NONE;
}

/* The places of a cell; all bits of a place that is set are set before */
template <int DIM, bool MIXED> struct PlaceWords {
  enum {
    PLACES = Star < DIM,
    MIXED > ::N,
    N    = (PLACES + HOPS_PLACE_WORD - 1) / HOPS_PLACE_WORD,
    NONE = HOPS_PLACE_NONE
  };
  static_assert(N == HOPS_LANES_LOR_WORDS(DIM, MIXED), "room for places");
  unsigned long long w[N];

  HOPS_LANES void Clear()
  {
#pragma unroll
    for (int i = 0; i < N; i++) w[i] = ~0ull;
  }
  HOPS_LANES void Set(int s, int p, bool = false) /* without a sign */
  {
#pragma unroll
    for (int i = 0; i < N; i++)
      w[i] ^= s / HOPS_PLACE_WORD == i ? (unsigned long long)(p ^ HOPS_PLACE_NONE) << (HOPS_PLACE_BITS * (s % HOPS_PLACE_WORD)) : 0;
  }
  HOPS_LANES int Get(int s) const
  {
    return PlaceOf(w, s);
  }
  /* p becomes rank[p], HOPS_PLACE_NONE itself */
  HOPS_LANES void Move(const unsigned char rank[])
  {
    unsigned long long moved[N] = {};

    HOPS_LOR_UNROLL
    for (int s = 0; s < Star<DIM, MIXED>::N; s++)
      moved[s / HOPS_PLACE_WORD] |= (unsigned long long)rank[Get(s)] << (HOPS_PLACE_BITS * (s % HOPS_PLACE_WORD));
    for (int i = 0; i < N; i++) w[i] = moved[i];
  }
  HOPS_LANES void Store(const HopsLORRows &rows, int k) const
  {
#pragma unroll
    for (int i = 0; i < N; i++) rows.place[(size_t)i * rows.nplace + (k - rows.place0)] = w[i];
  }
  HOPS_LANES void Load(const HopsLORRows &rows, int k)
  {
#pragma unroll
    for (int i = 0; i < N; i++) w[i] = HopsLoad(rows.place + (size_t)i * rows.nplace + (k - rows.place0));
  }
};

/* ---- Neighbours ---- */

/* Steps of neighbour s along direction a, see Star */
template <int DIM> HOPS_LANES_CONSTEXPR int Step(int s, int a)
{
  const int pair = (s - 1 - 2 * DIM) >> 2, first = pair < 2 ? 0 : 1, second = pair == 0 ? 1 : 2, turn = (s - 1 - 2 * DIM) & 3;

  return s == 0 ? 0
                : (s < 1 + 2 * DIM ? ((s - 1) >> 1 != a ? 0 : (s & 1 ? 1 : -1))
                                   : (a == first ? (turn < 2 ? 1 : -1) : (a == second ? (turn & 1 ? -1 : 1) : 0)));
}

/* Those of the N neighbours, as bits, that lie so many steps along direction a */
template <int DIM> HOPS_LANES_CONSTEXPR unsigned int Along(int N, int a, int step)
{
  unsigned int bits = 0;

  for (int s = 1; s < N; s++)
    if (Step<DIM>(s, a) == step) bits |= 1u << s;
  return bits;
}

/* The same for all directions, as constants: left to the compiler, the loops over the neighbours run on the
   device, in hundreds of instructions */
#define HOPS_ALONG(name, DIM, N, step) \
  constexpr unsigned int name[3] = {Along<DIM>(N, 0, step), Along<DIM>(N, 1, step), DIM == 3 ? Along<DIM>(N, 2, step) : 0}

template <int DIM> HOPS_LANES int Offset(int P, int s)
{
  return Step<DIM>(s, 0) + P * (Step<DIM>(s, 1) + (DIM == 3 ? P * Step<DIM>(s, 2) : 0));
}

/* The neighbours that node `at` has in cell c, as bits */
template <int DIM, bool MIXED> HOPS_LANES unsigned int There(const HopsLanesLORMesh &m, int c, int at)
{
  constexpr int          N    = Star<DIM, MIXED>::N;
  constexpr unsigned int axes = (1u << (1 + 2 * DIM)) - 2, all = (1u << N) - 2;
  unsigned int           there = all;

  HOPS_ALONG(back, DIM, N, -1);
  HOPS_ALONG(ahead, DIM, N, 1);
  if (MIXED) { /* three bits or one, each four times */
    const unsigned int pairs = m.mask[c];

    there = axes | (pairs & 1 ? 15u << (1 + 2 * DIM) : 0);
    if (DIM == 3) there |= (pairs & 2 ? 15u << 11 : 0) | (pairs & 4 ? 15u << 15 : 0);
  }
#pragma unroll
  for (int a = 0; a < DIM; a++) {
    const int i = at >> 8 * a & 255;

    if (i == 0) there &= ~back[a];
    if (i == m.P - 1) there &= ~ahead[a];
  }
  return there;
}

/* Bits of a cell that say what cells before it have too: faces 2 * axis + side; edges 4 * pair of axes +
   sides; whether some node is constrained; couplings along the diagonals of faces */
#define HOPS_ONCE_EDGES       6
#define HOPS_ONCE_CONSTRAINED 18
#define HOPS_ONCE_DIAGONALS   19

/* Neighbours of node `at` that cells before this one have too, by the cell's bits */
template <int DIM, bool MIXED> HOPS_LANES unsigned int Shared(unsigned int own, int at, int last)
{
  constexpr int          N    = Star<DIM, MIXED>::N;
  constexpr unsigned int axes = (1u << (1 + 2 * DIM)) - 2;
  unsigned int           out  = 0;
  int                    side[DIM];

  HOPS_ALONG(level, DIM, N, 0);

#pragma unroll
  for (int a = 0; a < DIM; a++) {
    const int i = at >> 8 * a & 255;

    side[a] = i == 0 ? 0 : (i == last ? 1 : -1);
    if (side[a] < 0) continue;
    if (own >> (2 * a + side[a]) & 1) out |= level[a] & axes;
    if (MIXED && own >> (HOPS_ONCE_DIAGONALS + 2 * a + side[a]) & 1) out |= level[a] & ~axes;
  }
  if (DIM == 3) {
#pragma unroll
    for (int a = 0, pair = 0; a < 2; a++)
#pragma unroll
      for (int b = a + 1; b < DIM; b++, pair++)
        if (side[a] >= 0 && side[b] >= 0 && own >> (HOPS_ONCE_EDGES + 4 * pair + side[a] + 2 * side[b]) & 1)
          out |= level[a] & level[b] & axes;
  }
  return out;
}
