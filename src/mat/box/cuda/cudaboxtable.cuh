/* 1D matrices of a uniform box for kernels, and the layouts of the blocks that work on its lexicographic
   nodes. */
#pragma once

/*
  Mass M and stiffness K of the reference cell, nodes 0..P, are unchanged when both indices are mirrored; so
  rows i and P - i come from two products of half the size with the sums and the differences of mirrored
  nodes. X = d[0] K + m M, Y = d[1] K, and Z = d[last] K go with the directions.
*/
template <int P, class T> struct HopsBoxTable {
  static constexpr int N = P + 1, O = N / 2, E = N - O;
  /* [node of the lower half][sum, or difference]; the middle node is its own sum */
  T Me[E * E], Mo[O * O], Xe[E * E], Xo[O * O], Ye[E * E], Yo[O * O], Ze[E * E], Zo[O * O];
  T Ml[N], Xl[N], Yl[N]; /* last rows */
  /* values at the nodes of two cells of the functions of the cell that both make up */
  T J[2 * P * N];
};

/*
  Cells of a tile across the direction in which a block marches, and blocks that should fit on a
  multiprocessor, which bounds the registers, in double and in single precision. In 3D those of the orders 3
  and 7 are the best of some on an H100 (docs/performance/boxes.md).
*/
template <int DIM, int P, class T> struct HopsBoxTile;
#define HOPS_BOX_TILE(D, P, XD, YD, MBD, XS, YS, MBS) \
  template <class T> struct HopsBoxTile<D, P, T> { \
    static constexpr int TX = sizeof(T) == 8 ? XD : XS, TY = sizeof(T) == 8 ? YD : YS, blocks = sizeof(T) == 8 ? MBD : MBS; \
  };
HOPS_BOX_TILE(3, 1, 32, 8, 4, 32, 8, 6)
HOPS_BOX_TILE(3, 2, 16, 4, 4, 8, 8, 4)
HOPS_BOX_TILE(3, 3, 8, 4, 3, 8, 4, 4)
HOPS_BOX_TILE(3, 4, 8, 4, 1, 4, 8, 2)
HOPS_BOX_TILE(3, 5, 3, 3, 2, 3, 3, 4)
HOPS_BOX_TILE(3, 6, 3, 2, 2, 3, 2, 4)
HOPS_BOX_TILE(3, 7, 4, 2, 1, 2, 4, 2)
HOPS_BOX_TILE(3, 8, 2, 2, 1, 2, 2, 3)
HOPS_BOX_TILE(2, 1, 256, 1, 4, 256, 1, 4)
HOPS_BOX_TILE(2, 2, 128, 1, 4, 128, 1, 4)
HOPS_BOX_TILE(2, 3, 85, 1, 4, 85, 1, 4)
HOPS_BOX_TILE(2, 4, 64, 1, 4, 64, 1, 4)
HOPS_BOX_TILE(2, 5, 51, 1, 3, 51, 1, 3)
HOPS_BOX_TILE(2, 6, 42, 1, 3, 42, 1, 3)
HOPS_BOX_TILE(2, 7, 36, 1, 3, 36, 1, 3)
HOPS_BOX_TILE(2, 8, 32, 1, 3, 32, 1, 3)

/* Numbers from a plane of n to the next in shared memory, such that lines of w numbers of one plane after the
   other lie in different banks */
template <class T> __host__ __device__ constexpr int HopsBoxPitch(int n, int w)
{
  constexpr int banks = 128 / sizeof(T);

  return n + ((w - n) % banks + banks) % banks;
}

template <int DIM, int P, class T> struct HopsBoxSizes {
  using L = HopsBoxTile<DIM, P, T>;
  /* nodes of a tile that a block owns: the lower ones of its cells */
  static constexpr int TX = L::TX, TY = L::TY, OX = TX * P, OY = DIM == 3 ? TY * P : 1;
  /* nodes that it reads, from the cells before the tile on */
  static constexpr int LX = OX + P + 1, LY = DIM == 3 ? OY + P + 1 : 1;
  /* rows of odd length have no bank conflicts in x */
  static constexpr int HX = LX | 1, UX = OX | 1;
  static constexpr int threads = (OX * OY + 31) / 32 * 32, columns = (LX * LY + threads - 1) / threads,
                       PU = DIM == 3 ? HopsBoxPitch<T>(LY * UX, OX) : UX, PA = DIM == 3 ? HopsBoxPitch<T>(OY * OX, OX) : 0;
  static constexpr int    nV = P * LY * HX, nU = P * PU, nA = P * PA;
  static constexpr size_t shared = sizeof(T) * (nV + 2 * nU + 2 * nA);
};

/* Lexicographic nodes; the last direction, in which blocks march, has its own name. In 2D n[1] is 1. */
template <class T, class TO> struct HopsBoxArgs {
  /* cells across and along the march; cells or, of what is restricted or prolonged, pairs of cells that a
     block marches over */
  int       n[2], nm, chunk;
  int       sy; /* nodes of a row */
  long long sm; /* nodes from a plane (2D: row) of the march to the next */
  const T *__restrict__ b, *__restrict__ x;
  TO           *r;
  T             scale;
  const double *dscale;  /* the same on the device, of b - A P x */
  double       *partial; /* [blocks] sums of squares of b - A x */
};
