/*
  Double-precision tensor cores for products of a patch's lines by a 1D matrix B[K][n]: a warp multiplies 16
  lines at a time, as rows of the left operand, by tiles of eight columns of B, which lies in registers.

  Lane 4 g + t holds, of the left operand, entries 4 s + t of lines g and g + 8 (step s); of B, row 4 s + t of
  the column that it stands for as column g of a tile; of the result, columns 2 t and 2 t + 1 of both lines.
  Columns 2 t and 2 t + 1 of tile j are made columns t and t + 4 of B's columns 8 j, ..., 8 j + 7: so a result
  lies as a left operand does (its steps 2 j and 2 j + 1), goes into a second product along the same direction
  from registers, and is written to shared memory in the pattern in which it was read.

  Entries of a line are 4 or 12 modulo 16 numbers apart in shared memory and neighbouring lines 1, or the
  reverse: so neither reading nor writing has bank conflicts, but where lines begin a new row.
*/
#pragma once
#include <backend/lanes/runtime/lanes.h>
#include "lanespatchpack.h"

/* K entries of a line to n results */
template <int K, int n> struct HopsTensorProduct {
  static constexpr int steps = (K + 3) / 4, tiles = (n + 7) / 8, size = HOPS_LANES_TENSOR_SIZE(K, n);
  double               b[(steps * tiles + 1) / 2 * 2];

  /* what HopsLanesTensorPack() wrote */
  HOPS_LANES void Get(const double *packed, int lane)
  {
#pragma unroll
    for (int e = 0; e < (steps * tiles + 1) / 2; e++) {
      const HopsPair<double> v = HopsLoadPair(packed + 2 * (lane + 32 * e));

      b[2 * e]     = v.a;
      b[2 * e + 1] = v.b;
    }
  }

  /* c[tile] = left operand times B's tile */
  HOPS_LANES void Apply(const double a[][2], double c[][4]) const
  {
#pragma unroll
    for (int j = 0; j < tiles; j++) {
#pragma unroll
      for (int i = 0; i < 4; i++) c[j][i] = 0;
    }
#pragma unroll
    for (int s = 0; s < steps; s += steps - s >= 4 ? 4 : (steps - s >= 2 ? 2 : 1)) {
#pragma unroll
      for (int j = 0; j < tiles; j++) {
        if (steps - s >= 4) Multiply16(a + s, b + j * steps + s, c[j]);
        else if (steps - s >= 2) Multiply8(a + s, b + j * steps + s, c[j]);
        else Multiply4(a + s, b + j * steps + s, c[j]);
      }
    }
  }

private:
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  HOPS_LANES static void Multiply16(const double a[][2], const double b[], double c[4])
  {
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, "
        "{%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0][0]), "d"(a[0][1]), "d"(a[1][0]), "d"(a[1][1]), "d"(a[2][0]), "d"(a[2][1]), "d"(a[3][0]), "d"(a[3][1]), "d"(b[0]),
          "d"(b[1]), "d"(b[2]), "d"(b[3]));
  }
  HOPS_LANES static void Multiply8(const double a[][2], const double b[], double c[4])
  {
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0][0]), "d"(a[0][1]), "d"(a[1][0]), "d"(a[1][1]), "d"(b[0]), "d"(b[1]));
  }
  HOPS_LANES static void Multiply4(const double a[][2], const double b[], double c[4])
  {
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0][0]), "d"(a[0][1]), "d"(b[0]));
  }
#else /* never run: HopsLanesPatchKernels' HasTensor() */
  HOPS_LANES static void Multiply16(const double[][2], const double[], double[4])
  {
    HopsLanesStop();
  }
  HOPS_LANES static void Multiply8(const double[][2], const double[], double[4])
  {
    HopsLanesStop();
  }
  HOPS_LANES static void Multiply4(const double[][2], const double[], double[4])
  {
    HopsLanesStop();
  }
#endif
};

/* Entries of a line at `line` and at distance `stride` in shared memory; those from K on are zero */
template <int K> HOPS_LANES void HopsTensorGet(const double *line0, const double *line1, int stride, int t, double a[][2])
{
#pragma unroll
  for (int s = 0; s < (K + 3) / 4; s++) {
    const int  k  = 4 * s + t;
    const bool in = 4 * s + 3 < K || k < K;

    a[s][0] = in ? line0[k * stride] : 0.0;
    a[s][1] = in ? line1[k * stride] : 0.0;
  }
}

/* By the whole warp, after a product: lanes without a line have read another's, in vain, before the product;
   racecheck does not know that all lanes meet in one */
template <int n>
HOPS_LANES void HopsTensorPut(const double c[][4], bool in0, bool in1, double *line0, double *line1, int stride, int t)
{
  HopsLanesRowSync();
#pragma unroll
  for (int s = 0; s < (n + 3) / 4; s++) {
    const int  k  = 4 * s + t;
    const bool in = 4 * s + 3 < n || k < n;

    if (in && in0) line0[k * stride] = c[s / 2][s % 2];
    if (in && in1) line1[k * stride] = c[s / 2][2 + s % 2];
  }
}

/* n results as the first entries of left operands with K entries, the others zero */
template <int K, int n> HOPS_LANES void HopsTensorTurn(const double c[][4], double a[][2])
{
#pragma unroll
  for (int s = 0; s < (K + 3) / 4; s++) {
#pragma unroll
    for (int h = 0; h < 2; h++) a[s][h] = s < 2 * ((n + 7) / 8) ? c[s / 2][2 * h + s % 2] : 0.0;
  }
}
