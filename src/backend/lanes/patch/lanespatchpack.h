/* 1D matrices as the lanes of a warp hold them for tensor cores (lanespatchtensor.h). */
#pragma once

/* The sizes of cubes that have such kernels: all that are faster there (docs/performance/patches-gpu.md) */
#define HOPS_LANES_TENSOR_HAS(n) ((n) % 2 && (n) >= 5 && (n) <= 15)

/* Numbers of a matrix B[K][n] */
#define HOPS_LANES_TENSOR_SIZE(K, n) (((((K) + 3) / 4) * (((n) + 7) / 8) + 1) / 2 * 64)

/* B[k][c] = b[k*row + c*column]: for each tile of eight columns and step of four rows, a number of each lane;
   two of these side by side */
static inline void HopsLanesTensorPack(int K, int n, const double *b, int row, int column, double *packed)
{
  const int steps = (K + 3) / 4, tiles = (n + 7) / 8;

  for (int e = 0; e < HOPS_LANES_TENSOR_SIZE(K, n); e++) packed[e] = 0.0;
  for (int e = 0; e < steps * tiles; e++)
    for (int lane = 0; lane < 32; lane++) {
      const int g = lane / 4, k = 4 * (e % steps) + lane % 4, c = 8 * (e / steps) + g / 2 + 4 * (g % 2);

      if (k < K && c < n) packed[(e / 2 * 32 + lane) * 2 + e % 2] = b[k * row + c * column];
    }
}
