/* 1D matrices of a uniform box for kernels, and the layouts of the blocks that work on its lexicographic nodes. */
#pragma once

/*
  Mass M and stiffness K of the reference cell, nodes 0..P, are unchanged when both indices are mirrored; so rows i and P - i come from two products
  of half the size with the sums and the differences of mirrored nodes. X = d[0] K + m M, Y = d[1] K, and Z = d[last] K go with the directions.
*/
template <int P, class T>
struct HopsBoxTable {
  static constexpr int N = P + 1, O = N / 2, E = N - O;
  T                    Me[E * E], Mo[O * O], Xe[E * E], Xo[O * O], Ye[E * E], Yo[O * O]; /* [node of the lower half][sum, or difference]; the middle node is its own sum */
  T                    Ml[N], Xl[N], Yl[N];                                              /* last rows */
  T                    M[N * N], Z[N * N];
  T                    J[2 * P * N]; /* values at the nodes of two cells of the functions of the cell that both make up */
};

/*
  Cells of a tile across the direction in which a block marches; blocks that should fit on a multiprocessor, which bounds the registers. In 3D
  those of the orders 1, 2, 3 and 7 are the best of some on an H100, or within 2% (docs/gpu-multigrid.md).
*/
template <int DIM, int P, class T>
struct HopsBoxTile;
#define HOPS_BOX_TILE(D, P, X, Y, MBD, MBS) \
  template <class T> \
  struct HopsBoxTile<D, P, T> { \
    static constexpr int TX = X, TY = Y, blocks = sizeof(T) == 8 ? MBD : MBS; \
  };
HOPS_BOX_TILE(3, 1, 32, 8, 4, 6)
HOPS_BOX_TILE(3, 2, 16, 4, 4, 4)
HOPS_BOX_TILE(3, 3, 8, 3, 4, 4)
HOPS_BOX_TILE(3, 4, 4, 4, 3, 4)
HOPS_BOX_TILE(3, 5, 3, 3, 3, 4)
HOPS_BOX_TILE(3, 6, 3, 2, 2, 4)
HOPS_BOX_TILE(3, 7, 2, 2, 2, 4)
HOPS_BOX_TILE(3, 8, 2, 2, 2, 3)
HOPS_BOX_TILE(2, 1, 256, 1, 4, 4)
HOPS_BOX_TILE(2, 2, 128, 1, 4, 4)
HOPS_BOX_TILE(2, 3, 85, 1, 4, 4)
HOPS_BOX_TILE(2, 4, 64, 1, 4, 4)
HOPS_BOX_TILE(2, 5, 51, 1, 3, 3)
HOPS_BOX_TILE(2, 6, 42, 1, 3, 3)
HOPS_BOX_TILE(2, 7, 36, 1, 3, 3)
HOPS_BOX_TILE(2, 8, 32, 1, 3, 3)

template <int DIM, int P, class T>
struct HopsBoxSizes {
  using L                    = HopsBoxTile<DIM, P, T>;
  static constexpr int    TX = L::TX, TY = L::TY, OX = TX * P, OY = DIM == 3 ? TY * P : 1; /* nodes of a tile that a block owns: the lower ones of its cells */
  static constexpr int    LX = OX + P + 1, LY = DIM == 3 ? OY + P + 1 : 1;                 /* nodes that it reads, from the cells before the tile on */
  static constexpr int    HX = LX | 1, UX = OX | 1;                                        /* rows of odd length have no bank conflicts in y */
  static constexpr int    threads = (OX * OY + 31) / 32 * 32, columns = (LX * LY + threads - 1) / threads;
  static constexpr int    nV = P * LY * HX, nU = P * LY * UX, nA = DIM == 3 ? P * OY * OX : 0, n0 = nV > 2 * nA ? nV : 2 * nA; /* A and C lie where V was */
  static constexpr size_t shared = sizeof(T) * (n0 + 2 * nU);
  /* prolongation: coarse cells of a block */
  static constexpr int CX    = DIM == 3 ? (P == 1 ? 16 : P == 2 ? 8
                                                       : P == 3 ? 4
                                                       : P == 4 ? 2
                                                                : 1)
                                        : 128 / P,
                       CY    = DIM == 3 ? (P == 1 ? 4 : P == 2 ? 2
                                                               : 1)
                                        : 1;
  static constexpr int    RX = CX * P + 1, RY = DIM == 3 ? CY * P + 1 : 1, FX = 2 * P * CX, FY = DIM == 3 ? 2 * P * CY : 1;
  static constexpr int    pthreads = (FX * FY + 31) / 32 * 32, pblocks = (sizeof(T) == 8 ? 1024 : 1536) / pthreads;
  static constexpr size_t pshared = sizeof(T) * ((P + 1) * RY * (RX + FX) + (DIM == 3 ? (P + 1) * FY * FX : 0));
};

/* Lexicographic nodes; the last direction, in which blocks march, has its own name. In 2D n[1] is 1. */
template <class T, class TO>
struct HopsBoxArgs {
  int       n[2], nm, chunk; /* cells across and along the march; cells (MODE 0) or pairs of cells that a block marches over */
  int       sy;              /* nodes of a row */
  long long sm;              /* nodes from a plane (2D: row) of the march to the next */
  const T *__restrict__ b, *__restrict__ x;
  TO     *r;
  T       scale;
  double *partial; /* [blocks] sums of squares of b - A x */
};
