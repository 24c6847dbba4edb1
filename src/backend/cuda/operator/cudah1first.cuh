/*
  The fused operator of order 1 in 3D, where a cell has 8 nodes and threads for lines would mostly wait for
  each other.

  Stored data, 2 points per direction: a lane for each node, and then for the point beside it, so that a warp
  has four cells at a time. A 1D matrix of two nodes and two points is symmetric under reflection, and a
  product with it is an exchange with the lane whose number differs in one bit: no shared memory, no barriers,
  and a warp's loads are consecutive.

  Recomputed geometry: a thread for each cell, with all of it in registers, bound by arithmetic.

  Cells that follow one another often share a face in x: what neighbouring lanes add to one unknown is added
  before it goes to memory.
*/
#pragma once
#include "cudah1.cuh"

#if defined(HOPS_CUDA_SINGLE)
namespace HopsCudaSingle {
#endif

__device__ __forceinline__ real HopsCudaGather(const HopsCudaCells &a, int k)
{
  return k < 0 ? 0 : __ldg(k < a.nT ? a.x + k : a.xg + (k - a.nT));
}

__device__ __forceinline__ void HopsCudaAdd(const HopsCudaCells &a, int k, real r)
{
  if (k >= 0) atomicAdd(k < a.nT ? a.y + k : a.yg + (k - a.nT), r);
}

/* N cells of each lane, eight lanes a cell: bits of a lane's number are the node's, and the point's, position
   in x, y, z */
template <int TERMS, int N, int T>
__global__ void __launch_bounds__(T)
  HopsCudaApplyNodes1(const __grid_constant__ HopsCudaTables<2, 2> tab, const __grid_constant__ HopsCudaCells a)
{
  constexpr bool MASS = TERMS == HOPS_H1_BOTH;
  constexpr int  NC   = MASS ? 7 : 6;
  const int      t = threadIdx.x & 7, lane = threadIdx.x & 31, stride = gridDim.x * (T / 8);
  const bool     bx = t & 1, by = t & 2, bz = t & 4;
  const real     near = 1 - tab.z[0], far = tab.z[0], quarter = 0.25; /* of the derivatives with respect to [-1,1] */
  int            k[N];
  real           u[N], d[N][NC];

#pragma unroll
  for (int i = 0; i < N; i++) {
    const int c = (blockIdx.x * T + threadIdx.x) / 8 + i * stride;

    k[i] = c < a.n ? __ldg(a.restr + (size_t)c * 8 + t) : -1;
  }
#pragma unroll
  for (int i = 0; i < N; i++) {
    const int c = min((int)(blockIdx.x * T + threadIdx.x) / 8 + i * stride, a.n - 1);

#pragma unroll
    for (int j = 0; j < NC; j++) d[i][j] = __ldcs(a.qdata + (size_t)c * (8 * NC) + j * 8 + t);
    u[i] = HopsCudaGather(a, k[i]);
  }
#pragma unroll
  for (int i = 0; i < N; i++) {
    const real o = __shfl_xor_sync(~0u, u[i], 1), v = near * u[i] + far * o, dx = bx ? u[i] - o : o - u[i];
    const real ov = __shfl_xor_sync(~0u, v, 2), ox = __shfl_xor_sync(~0u, dx, 2);
    const real w = near * v + far * ov, wx = near * dx + far * ox, wy = by ? v - ov : ov - v;
    const real ow = __shfl_xor_sync(~0u, w, 4), owx = __shfl_xor_sync(~0u, wx, 4), owy = __shfl_xor_sync(~0u, wy, 4);
    const real gx = quarter * (near * wx + far * owx), gy = quarter * (near * wy + far * owy),
               gz = quarter * (bz ? w - ow : ow - w);
    const real fx = d[i][0] * gx + d[i][1] * gy + d[i][2] * gz, fy = d[i][1] * gx + d[i][3] * gy + d[i][4] * gz,
               fz = d[i][2] * gx + d[i][4] * gy + d[i][5] * gz;
    const real m  = MASS ? d[i][NC - 1] * (near * w + far * ow) : 0;
    /* transposes: what a lane sends is what its partner adds */
    const real X = near * fx + far * __shfl_xor_sync(~0u, fx, 4), Y = near * fy + far * __shfl_xor_sync(~0u, fy, 4);
    const real Z      = (MASS ? near * m : 0) + (bz ? fz : -fz) + __shfl_xor_sync(~0u, (MASS ? far * m : 0) + (bz ? -fz : fz), 4);
    const real XX     = near * X + far * __shfl_xor_sync(~0u, X, 2),
               YZ     = near * Z + (by ? Y : -Y) + __shfl_xor_sync(~0u, far * Z + (by ? -Y : Y), 2);
    real       r      = near * YZ + (bx ? XX : -XX) + __shfl_xor_sync(~0u, far * YZ + (bx ? -XX : XX), 1);
    const int  before = __shfl_up_sync(~0u, k[i], 7), after = __shfl_down_sync(~0u, k[i], 7);
    const real there = __shfl_down_sync(~0u, r, 7);

    if (bx && lane < 25 && after == k[i]) r += there;
    HopsCudaAdd(a, !bx && lane >= 7 && before == k[i] ? -1 : k[i], r);
  }
}

/* Launch parameters of the kernel below, by points: threads of a block, blocks of a multiprocessor, whether
   loops over the points are unrolled */
template <int Q, int GEOM> struct HopsCudaLaunchCells1 {
  static constexpr bool affine  = GEOM == HOPS_GEOMETRY_AFFINE;
  static constexpr int  threads = affine || Q > 2 ? 128 : 64, blocks = affine ? 6 : (Q > 2 ? 3 : 6), unroll = Q > 2 ? 1 : Q;
};

/* A thread for each cell: affine, or multilinear with kappa a multiple of the identity */
template <int Q, int GEOM, int TERMS, int T, int BLOCKS, int UNROLL>
__global__ void __launch_bounds__(T, BLOCKS)
  HopsCudaApplyCells1(const __grid_constant__ HopsCudaTables<2, Q> tab, const __grid_constant__ HopsCudaCells a)
{
  constexpr bool MASS = TERMS == HOPS_H1_BOTH, AFFINE = GEOM == HOPS_GEOMETRY_AFFINE;
  constexpr int  NG   = HopsGeometrySize(GEOM, 3);
  const int      lane = threadIdx.x & 31, cell = blockIdx.x * T + threadIdx.x, c = min(cell, a.n - 1);
  const real     quarter = 0.25; /* of the derivatives with respect to [-1,1] */
  real           u[8], y[8], g[22], beta = 0;
  int            k[8];

  {
    const int4 *s = (const int4 *)(a.restr + (size_t)c * 8), s0 = __ldg(s), s1 = __ldg(s + 1);

    k[0] = s0.x, k[1] = s0.y, k[2] = s0.z, k[3] = s0.w, k[4] = s1.x, k[5] = s1.y, k[6] = s1.z, k[7] = s1.w;
  }
#pragma unroll
  for (int i = 0; i < 8; i++) {
    u[i] = HopsCudaGather(a, k[i]);
    y[i] = 0;
  }
#pragma unroll
  for (int i = 0; i < (AFFINE ? 6 : 22); i++) g[i] = __ldg(a.geom + (size_t)c * NG + i);
  if (MASS) beta = __ldg(a.geom + (size_t)c * NG + NG - 1);
#pragma unroll UNROLL
  for (int qz = 0; qz < Q; qz++) {
    const real t     = tab.z[qz];
    real       yz[4] = {0}, zz[4] = {0}; /* of the edges along z: what their values and their differences meet */

#pragma unroll UNROLL
    for (int qy = 0; qy < Q; qy++) {
      const real s = tab.z[qy], wyz = quarter * tab.w[qy] * tab.w[qz];
      /* at both ends of a line in x: values, derivatives */
      real v[2], vy[2], vz[2], Y[2] = {0}, Z[2] = {0}, M[2] = {0}, X = 0;

#pragma unroll
      for (int i = 0; i < 2; i++) {
        const real d0 = u[i + 4] - u[i], d1 = u[i + 6] - u[i + 2], v0 = u[i] + t * d0, v1 = u[i + 2] + t * d1;

        vy[i] = v1 - v0;
        v[i]  = v0 + s * vy[i];
        vz[i] = d0 + s * (d1 - d0);
      }
#pragma unroll
      for (int qx = 0; qx < Q; qx++) {
        const real r = tab.z[qx], gx = v[1] - v[0], gy = vy[0] + r * (vy[1] - vy[0]), gz = vz[0] + r * (vz[1] - vz[0]),
                   w = wyz * tab.w[qx];
        real fx, fy, fz, det = 1;

        if (AFFINE) {
          fx = w * (g[0] * gx + g[1] * gy + g[2] * gz);
          fy = w * (g[1] * gx + g[3] * gy + g[4] * gz);
          fz = w * (g[2] * gx + g[4] * gy + g[5] * gz);
        } else {
          real A[3], B[3], C[3]; /* columns of the Jacobian */

#pragma unroll
          for (int d = 0; d < 3; d++) {
            const real *m = g + 7 * d;

            A[d] = m[0] + s * m[3] + t * (m[4] + s * m[6]);
            B[d] = m[1] + t * m[5] + r * (m[3] + t * m[6]);
            C[d] = m[2] + s * m[5] + r * (m[4] + s * m[6]);
          }
          /* rows of the adjugate: B x C, C x A, A x B */
          const real p0 = B[1] * C[2] - B[2] * C[1], p1 = B[2] * C[0] - B[0] * C[2], p2 = B[0] * C[1] - B[1] * C[0];
          const real q0 = C[1] * A[2] - C[2] * A[1], q1 = C[2] * A[0] - C[0] * A[2], q2 = C[0] * A[1] - C[1] * A[0];
          const real r0 = A[1] * B[2] - A[2] * B[1], r1 = A[2] * B[0] - A[0] * B[2], r2 = A[0] * B[1] - A[1] * B[0];

          det           = A[0] * p0 + A[1] * p1 + A[2] * p2;
          const real f  = w * g[21] * HopsInverseOf(det);
          const real h0 = f * (p0 * gx + q0 * gy + r0 * gz), h1 = f * (p1 * gx + q1 * gy + r1 * gz),
                     h2 = f * (p2 * gx + q2 * gy + r2 * gz);

          fx = p0 * h0 + p1 * h1 + p2 * h2;
          fy = q0 * h0 + q1 * h1 + q2 * h2;
          fz = r0 * h0 + r1 * h1 + r2 * h2;
        }
        X += fx;
        Y[0] += fy;
        Y[1] += r * fy;
        Z[0] += fz;
        Z[1] += r * fz;
        if (MASS) {
          const real m = 4 * w * beta * det * (v[0] + r * gx);

          M[0] += m;
          M[1] += r * m;
        }
      }
      Y[0] -= Y[1];
      Z[0] -= Z[1];
      M[0] -= M[1];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const real f = (i ? X : -X) + M[i], h = s * f + Y[i];

        yz[i + 2] += h;
        yz[i] += f - h;
        zz[i + 2] += s * Z[i];
        zz[i] += Z[i] - s * Z[i];
      }
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const real h = t * yz[i] + zz[i];

      y[i + 4] += h;
      y[i] += yz[i] - h;
    }
  }
#pragma unroll
  for (int i = 0; i < 8; i += 2) {
    if (cell >= a.n) k[i] = k[i + 1] = -1;
    const int  before = __shfl_up_sync(~0u, k[i + 1], 1), after = __shfl_down_sync(~0u, k[i], 1);
    const real there = __shfl_down_sync(~0u, y[i], 1);

    if (lane < 31 && after == k[i + 1]) y[i + 1] += there;
    HopsCudaAdd(a, lane && before == k[i] ? -1 : k[i], y[i]);
    HopsCudaAdd(a, k[i + 1], y[i + 1]);
  }
}

#if defined(HOPS_CUDA_SINGLE)
}
#endif
