/* The team of lanes that kernels of backend/lanes know: the threads of a block, or those of a cell. */
#pragma once
#include <backend/lanes/runtime/lanes.h>

/* LANES threads in x for each of the CELLS cells of a block; of any number, all of the block, where
   LANES is 0 */
template <class real, int LANES = 0, int CELLS = 1> struct HopsCudaTeam {
  static constexpr int  lanes = LANES, group = 1;
  static constexpr bool indexed = true; /* __grid_constant__ */
  typedef real          Scalar, Value;
  template <class T> using Of = T; /* values of other numbers */

  template <int N> struct Lines {
    real v[N];

    __device__ __forceinline__       Lines(real *) {}
    __device__ __forceinline__ real *operator[](int)
    {
      return v;
    }
  };

  __device__ __forceinline__ int part() const
  {
    return threadIdx.y;
  }
  __device__ __forceinline__ int lane() const
  {
    return threadIdx.x;
  }
  __device__ __forceinline__ int size() const
  {
    return blockDim.x;
  }
  __device__ __forceinline__ int index() const
  {
    return blockIdx.x;
  }
  __device__ __forceinline__ int count() const
  {
    return gridDim.x;
  }
  __device__ __forceinline__ int cell(int first) const
  {
    return first + blockIdx.x * CELLS + threadIdx.y;
  }
  __device__ __forceinline__ void Sync() const
  {
    __syncthreads();
  }
  template <class T> __device__ __forceinline__ static void Add(T *y, T v)
  {
    atomicAdd(y, v);
  }
  __device__ __forceinline__ static void Least(int *m, int i)
  {
    atomicMin(m, i);
  }
};
