/* Order 1: a patch is one unknown, and the smoother relaxes the points of a colour. */
#pragma once
#include "cudapatchtable.cuh"

template <class T> struct HopsPatchStencil {
  T w[27], inverse; /* of the neighbours, x fastest; of the unknown itself */
};

template <int DIM, class T>
__global__ void __launch_bounds__(256)
  HopsPatchPoint(const __grid_constant__ HopsPatchStencil<T> st, const __grid_constant__ HopsPatchBox<T> a)
{
  const int i = blockIdx.x * 256 + threadIdx.x;

  if (i < a.nx) {
    const long long off =
      2 * i + a.c[0] + (long long)(2 * blockIdx.y + a.c[1]) * a.sy + (DIM == 3 ? (2 * blockIdx.z + a.c[2]) * a.sz : 0);
    const long long mid = off + 1 + a.sy + (DIM == 3 ? a.sz : 0);
    T               r   = __ldg(a.b + mid);

#pragma unroll
    for (int z = 0; z < (DIM == 3 ? 3 : 1); z++)
#pragma unroll
      for (int y = 0; y < 3; y++)
#pragma unroll
        for (int x = 0; x < 3; x++)
          if (x != 1 || y != 1 || (DIM == 3 && z != 1)) r -= st.w[(z * 3 + y) * 3 + x] * a.x[off + x + y * a.sy + z * a.sz];
    a.x[mid] = r * st.inverse;
  }
}
